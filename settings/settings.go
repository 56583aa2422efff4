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
package settings

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

// An Env is the machine and account that a resolution looks at. [OSEnv]
// returns the real one.
type Env struct {
	GOOS       string
	Home       string
	ConfigDir  string // value of CLAUDE_CONFIG_DIR, empty if unset
	ManagedDir string // directory of managed-settings.json and its drop-ins
	Getenv     func(string) string
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

// Load finds and reads every settings file for a session. It never fails: a
// missing file is normal, and one that cannot be read or parsed is listed in
// [Stack.Problems].
func Load(s Session, env Env) *Stack { return &Stack{} }

// A Stack is the settings in force for one session.
type Stack struct{}

// Files lists every file considered, strongest scope first, those that the
// client does not read among them.
func (s *Stack) Files() []File { return nil }

// A File is one place that may hold settings.
type File struct {
	Scope  Scope
	Path   string // or "--settings" for JSON on the command line
	Status Status
	Reason string // why it is not read, or what is wrong with it
}

// A Status says what became of a [File].
type Status int

// File statuses.
const (
	Read Status = iota
	Missing
	Invalid    // not valid JSON, dropped whole
	Unreadable // it exists and could not be read
	NotRead    // the client does not read it; Reason says why
)

// A Source says where a value comes from.
type Source struct {
	Scope  Scope
	Path   string
	Line   int // 1-based, 0 if unknown
	Column int
}

// A Value is the answer to a lookup. Without Set no file gives the key a value
// of the right type, and the value is the client's default.
type Value[T any] struct {
	Value  T
	Set    bool
	Source Source
}

// Bool looks a boolean up by its dotted path, such as "sandbox.enabled".
func (s *Stack) Bool(path string) Value[bool] { return Value[bool]{} }

// String looks a string up.
func (s *Stack) String(path string) Value[string] { return Value[string]{} }

// Int looks an integer up.
func (s *Stack) Int(path string) Value[int64] { return Value[int64]{} }

// List returns an array as the client joins it: all scopes, weakest first,
// without duplicates, each entry with its source. Entries that the client
// ignores in the file they stand in are left out.
func (s *Stack) List(path string) []Value[string] { return nil }

// Problems lists what is wrong with the files that the client reads.
func (s *Stack) Problems() []Problem { return nil }

// A Problem is one thing wrong with a settings file.
type Problem struct {
	Source
	Message string
}

// SandboxState is what the sandbox tag shows.
type SandboxState int

// Sandbox states.
const (
	SandboxUnknown     SandboxState = iota // a file that may decide cannot be read
	SandboxOff                             // no sandbox
	SandboxOn                              // on
	SandboxOnAuto                          // on, sandboxed commands run without asking
	SandboxCannotStart                     // configured, but the OS cannot provide it
)

// Sandbox is the state of a session's sandbox and how it came to be.
type Sandbox struct {
	State SandboxState
	// Enabled is the deciding lookup of sandbox.enabled.
	Enabled Value[bool]
	// AutoAllow is the lookup of sandbox.autoAllowBashIfSandboxed.
	AutoAllow Value[bool]
	// BypassAllowed is false when the client ignores requests to leave the sandbox.
	BypassAllowed bool
	// Why is one sentence for --explain.
	Why string
}

// Sandbox resolves the state for a status line: every state is possible.
func (s *Stack) Sandbox() Sandbox { return Sandbox{} }

// Sandboxed is the answer for a hook: on, off, or unknown. It is unknown when
// nothing sets the key and no client session is there, or when a file that may
// decide cannot be read.
func (s *Stack) Sandboxed() Answer { return Unknown }

// PromptsOff reports that the session was started with permission prompts off,
// and how.
func (s *Stack) PromptsOff() (bool, string) { return false, "" }

// An Answer is a yes, a no, or an honest don't know.
type Answer int

// Answers.
const (
	Unknown Answer = iota
	Yes
	No
)
