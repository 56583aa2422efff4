// Package settings answers which value of a Claude Code setting governs a
// session, and which file says so.
//
// The rules are the client's own. [Load] finds the files that the client reads
// for a start directory, from the strongest scope to the weakest, and the ones
// that guides mention but the client does not read; those stay in
// [Stack.Files], marked [NotRead], and never colour an answer.
//
// A Stack describes configuration, and the session's own command line where it
// could be read. It cannot see a sandbox that failed to start; [Stack.Sandbox]
// reports what is known to prevent one.
//
// [ParseDocument] and [Edit] read and change one settings file.
//
// Where the rules come from is written in docs/settings.md.
package settings

import (
	"strconv"
	"strings"
)

// A Scope is a rank in the client's precedence. Lower values win.
type Scope int

// Scopes, strongest first.
const (
	Managed Scope = iota
	CommandLine
	Local
	Project
	User
)

func (s Scope) String() string {
	return [...]string{"managed", "command line", "local", "project", "user"}[s]
}

// trusted reports a scope that a repository cannot write to.
func (s Scope) trusted() bool { return s == Managed || s == CommandLine || s == User }

// An Env is the machine and account that a resolution looks at. [OSEnv]
// returns the real one. A field left nil means the real machine.
type Env struct {
	GOOS       string
	Home       string
	ConfigDir  string // value of CLAUDE_CONFIG_DIR, empty if unset
	ManagedDir string // directory of managed-settings.json and its drop-ins
	Getenv     func(string) string

	// HasProgram reports that a program of that name is found on PATH.
	HasProgram func(name string) bool
	// KernelFile reads a file below /proc.
	KernelFile func(path string) ([]byte, error)
	// Owned reports that a path belongs to the account the client runs as.
	Owned func(path string) bool
	// Policies are the managed sources of the operating system that are not
	// files in ManagedDir, strongest first.
	Policies func() []Policy
}

// A Policy is a managed source kept by the operating system: a configuration
// profile on macOS, a registry value on Windows.
type Policy struct {
	Name string // shown as its path
	// Weak sources count only when no stronger source is there at all.
	Weak bool
	JSON []byte
	Err  error // it is there and could not be read
}

// A Session is the client session whose settings are asked for.
type Session struct {
	// Start is the directory the session was started in.
	Start string
	// Version is the client's version, such as "2.1.332"; empty means unknown
	// and counts as the newest rules.
	Version string
	// Args are the client's command-line arguments without the program's name;
	// meaningful only if ArgsSeen.
	Args     []string
	ArgsSeen bool
	// InClient is set when a running client is known to have started us.
	InClient bool
}

// AtLeast reports that the client is of that version or newer. A version that
// is not known counts as the newest.
func (s Session) AtLeast(version string) bool {
	have, ok := parseVersion(s.Version)
	if !ok {
		return true
	}
	want, _ := parseVersion(version)
	for i := range have {
		if have[i] != want[i] {
			return have[i] > want[i]
		}
	}
	return true
}

func parseVersion(s string) (v [3]int, ok bool) {
	for i := range v {
		part, rest, _ := strings.Cut(s, ".")
		if i == len(v)-1 {
			// A pre-release or build suffix does not matter here.
			if end := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' }); end > 0 {
				part = part[:end]
			}
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return v, false
		}
		v[i], s = n, rest
	}
	return v, true
}

// client names the client and its version in messages.
func (s Session) client() string {
	if _, ok := parseVersion(s.Version); ok {
		return "client " + s.Version
	}
	return "client (version unknown, newest rules)"
}

// A File is one place that may hold settings.
type File struct {
	Scope  Scope
	Path   string // or "--settings" for JSON on the command line
	Status Status
	Reason string // why it is not read, or what is wrong with it

	// undecided is set when the client may have read what we could not.
	undecided bool
}

// A Status says what became of a [File].
type Status int

// File statuses.
const (
	Read Status = iota
	Missing
	Invalid    // the client drops it whole: not JSON, or a value its schema rejects
	Unreadable // it exists and could not be read
	NotRead    // the client does not read it; Reason says why
)

func (s Status) String() string {
	return [...]string{"read", "missing", "invalid", "unreadable", "not read"}[s]
}

// A Source says where a value comes from.
type Source struct {
	Scope  Scope
	Path   string
	Line   int // 1-based, 0 if unknown
	Column int
}

// String is "path:line:column", shorter where less is known.
func (s Source) String() string {
	out := s.Path
	if s.Line > 0 {
		out += ":" + strconv.Itoa(s.Line)
		if s.Column > 0 {
			out += ":" + strconv.Itoa(s.Column)
		}
	}
	return out
}

// A Value is the answer to a lookup. Without Set no file gives the key a value
// of the right type, and the value is the client's default.
type Value[T any] struct {
	Value  T
	Set    bool
	Source Source
}

// A Problem is one thing wrong with a settings file.
type Problem struct {
	Source
	Message string
}

func (p Problem) String() string { return p.Source.String() + ": " + p.Message }

// An Answer is a yes, a no, or an honest don't know.
type Answer int

// Answers.
const (
	Unknown Answer = iota
	Yes
	No
)

func (a Answer) String() string { return [...]string{"unknown", "yes", "no"}[a] }
