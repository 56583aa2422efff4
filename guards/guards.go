// Package guards judges the commands of a shell line before they run.
//
// A [Guard] is a value: its name, documentation, examples and the function that
// looks at one command. [Bundled] lists the guards of the product in order.
// [Run] parses a line, shows every command to every guard that is switched on,
// and gathers what they found into a [Report].
//
// Guards do no input or output of their own. What they need to know about
// repositories, files and pull requests they ask a [World]; a question it cannot
// answer is answered with "unknown", and every guard says in its Doc what that
// means for it.
package guards

import (
	"sallyport/internal/ghcmd"
	"sallyport/internal/gitcmd"
	"sallyport/internal/shellcmd"
)

// A Verdict is how much a guard objects.
type Verdict int

// Verdicts, weakest first.
const (
	Pass Verdict = iota
	Warn         // tell the person, decide nothing
	Ask
	Deny
)

func (v Verdict) String() string {
	switch v {
	case Warn:
		return "warn"
	case Ask:
		return "ask"
	case Deny:
		return "deny"
	}
	return "pass"
}

// A Guard is one rule.
type Guard struct {
	Name  string // stable, lower case with hyphens; users switch guards off by it
	Title string // one line for lists
	Doc   Doc

	// Default is the verdict where a finding names none.
	Default Verdict
	// Off is set for a guard that runs only where the configuration or
	// --guards switches it on.
	Off bool

	// Overrides are the variables that let one command pass, beside
	// AGENT_GUARD_ALLOW=<name>. The first is the one that a reason suggests.
	Overrides []string

	// Programs are the names of the commands that Check wants to see; git and
	// gh stand for all their forms. Empty: every command.
	Programs []string

	Options  []Option
	Examples []Example

	// Check looks at one command. It is quick for commands that it has no
	// opinion on. Nil for a guard that only looks at writes.
	Check func(c *Call) []Finding

	// CheckLine looks at a whole line, for what no single command shows.
	CheckLine func(line *shellcmd.Line) []Finding

	// CheckWrite looks at a file that a client's own tool is about to write.
	CheckWrite func(w *Write) []Finding

	// Source is the file that a guard was loaded from; empty for the product's.
	Source string
}

// Doc explains a guard, in plain sentences.
type Doc struct {
	What    string // what is stopped
	Why     string
	Instead string // what to do instead
	Limits  string // what is not caught, and what an unknown answer means
}

// An Option is a key of the guard's table in the configuration.
type Option struct {
	Name    string
	Default string
	Text    string
	// TrustedOnly marks an option that a repository's file may set only once it
	// is trusted, because it can loosen the guard. Join, if set, puts the value
	// of a repository that is not trusted behind the one in force instead of
	// replacing it.
	TrustedOnly bool
	Join        string
}

// An Example is a command with the answer that is right for it. Examples are
// documentation and tests at once.
type Example struct {
	Command string
	// Setup is shell text that is run in the repository before the command is
	// judged, and lines of the form "gh:key=value" that tell the stand-in for gh
	// what to answer.
	Setup   string
	Verdict Verdict
	Why     string
}

// A Finding is an objection to one command. All texts are one line; the commands
// in backquotes inside Fix are real: they pass the guards themselves.
type Finding struct {
	// Verdict is the finding's own; Pass means the guard's default.
	Verdict Verdict
	Found   string   // what was found, quoting the words that matched
	Why     string   // without a full stop; empty where Found says it
	Fix     string   // without a full stop
	Words   []string // the matched words, to be marked in explain
	// Overrides are variables that let this finding pass, beside the guard's.
	Overrides []string
}

// A Write is a file that a tool of the client is about to change.
type Write struct {
	Path string // as the client gives it
	Tool string
	run  *run
}

// A Call is one command as a guard sees it.
type Call struct {
	*shellcmd.Command

	// Git and GH are set for calls of git and gh.
	Git *gitcmd.Call
	GH  *ghcmd.Call

	// Place is where it runs.
	Place Place

	// Index is the command's position among all commands of the line.
	Index int

	name string
	via  []string // what reached it beside Command.Via: git alias, rebase --exec
	run  *run

	shellDir string // see baseDir; empty: not asked yet
	own      string // see placeGit
	lost     bool   // own is not known

	changed  []target   // see targets; nil: not looked at
	contents []int      // see namesContents
	deep     int8       // see inDeepDir; 0: not asked yet
	inside   *container // see container; nil: not asked yet
}

// Name is [shellcmd.Command.Name].
func (c *Call) Name() string { return c.name }

// A Place is where a command runs: a directory, and for git the repository that
// options or variables point it to.
type Place struct {
	Dir      string // absolute
	GitDir   string // of --git-dir or GIT_DIR
	WorkTree string
	// Unknown is set when the line does not tell where the command runs, or it
	// runs on another host or in a container.
	Unknown bool
}

// World answers questions about the machine. Every answer can be "unknown".
// Implementations bound time and size and remember answers.
type World interface {
	// Git runs a read-only git command and returns its standard output.
	Git(at Place, args ...string) (string, bool)
	// GH runs a read-only gh command and returns its standard output.
	GH(at Place, args ...string) (string, bool)
	// GHAlias returns an alias of gh's configuration.
	GHAlias(name string) (string, bool)
	// ReadFile returns at most limit bytes of a regular file; ok is false when
	// it cannot be read whole.
	ReadFile(path string, limit int) (data []byte, ok bool)
	// Stat describes what stands at path, without following a final symbolic link.
	Stat(path string) File
	// Resolve resolves the symbolic links of the longest part of path that exists.
	Resolve(path string) string
	// Root is the root of the work tree that holds dir.
	Root(dir string) (string, bool)
}

// A File is what stands at a path.
type File struct {
	Exists bool
	Dir    bool
	Link   bool
	Device bool // a block device
	Mount  bool // a directory on another device than its parent
	Size   int64
	Exec   bool
}

// Option returns the value of one of the guard's options.
func (c *Call) Option(guard, name, fallback string) string {
	if v, ok := c.run.in.Options[guard+"."+name]; ok {
		return v
	}
	return fallback
}

// Getenv returns a variable as the command sees it: assigned on the line, else
// from the environment. ok is false when it is unset or its value not known.
func (c *Call) Getenv(name string) (string, bool) {
	for i := len(c.Assigns) - 1; i >= 0; i-- {
		if c.Assigns[i].Name == name {
			return c.Assigns[i].Value.Value, c.Assigns[i].Value.Static
		}
	}
	return c.run.env(name)
}

// World is where a guard asks.
func (c *Call) World() World { return c.run.world }

// maxEarlier bounds how far back a guard looks for what led to a command, so
// that the cost of a long line stays linear.
const maxEarlier = 400

// Earlier are the last commands of the line that run before c.
func (c *Call) Earlier() []*Call { return c.run.calls[max(0, c.Index-maxEarlier):c.Index] }

// Later are the next commands of the line that run after c.
func (c *Call) Later() []*Call {
	return c.run.calls[c.Index+1 : min(len(c.run.calls), c.Index+1+maxEarlier)]
}

// Path makes a path absolute that the command reads as a name of a file, if that
// can be done. For git that is relative to the directory of -C.
func (c *Call) Path(name string) (string, bool) {
	if c.own == "" && !c.lost || isAbs(name) {
		return c.shellPath(name)
	}
	if c.lost {
		return "", false
	}
	return c.shellPath(join(c.own, name))
}

// shellPath is Path for what the shell itself opens: the target of a redirection.
func (c *Call) shellPath(name string) (string, bool) {
	if isAbs(name) {
		return clean(name), true
	}
	if c.Dir.Unknown || c.Place.Dir == "" {
		return "", false
	}
	if dir := c.baseDir(); dir != "" {
		return join(dir, name), true // clean by itself
	}
	return clean(name), true
}

// baseDir is the directory in which the shell starts the command.
func (c *Call) baseDir() string {
	if c.shellDir == "" {
		if c.shellDir = c.Dir.Path; !isAbs(c.shellDir) {
			c.shellDir = join(c.run.in.Dir, c.shellDir)
		}
	}
	return c.shellDir
}

// asShell is a name of the command's as the shell would say it. A name that is
// not known whole stays as it is: mostly it begins with a directory.
func (c *Call) asShell(name shellcmd.Word) shellcmd.Word {
	if c.own == "" || !name.Static || name.Value == "" || name.Value == "-" || isAbs(name.Value) {
		return name
	}
	return shellcmd.NewWord(join(c.own, name.Value))
}

// maxText bounds a message or body that is read from a file.
const maxText = 1 << 20

// ReadFile is the content of a file that the command reads: what an earlier
// command of the line wrote, what comes on standard input for "-", else what is
// on disk. known is false when that cannot be told.
func (c *Call) ReadFile(name shellcmd.Word) (text string, known bool) {
	text, known = c.content(c.asShell(name), maxContent)
	if c.Git == nil || c.Place.Unknown || text != "" || known || !name.Static || name.Value == "" || name.Value == "-" || isAbs(name.Value) {
		return text, known
	}
	// A name in git's configuration is relative to the root of the work tree.
	if root, ok := c.run.world.Root(c.Place.Dir); ok && root != c.Place.Dir {
		return c.content(shellcmd.NewWord(join(root, name.Value)), maxContent)
	}
	return text, known
}

// file is the content of a file, by the name that the shell has for it.
func (c *Call) file(name shellcmd.Word, depth int) (text string, known bool) {
	defer func() {
		if !c.run.readText(len(text)) {
			text, known = "", false
		}
	}()
	if !c.run.readText(0) {
		return "", false
	}
	if t, ok := c.File(name); ok {
		if !t.Known && len(t.From) > 0 {
			if text, ok := c.outputs(t.From, depth-1, (*Call).passes); ok {
				return text, true
			}
		}
		return t.Value, t.Known
	}
	if !name.Static || c.Remote || c.Container {
		return "", false
	}
	path, ok := c.shellPath(name.Value)
	if !ok {
		return "", false
	}
	data, ok := c.run.world.ReadFile(path, maxText)
	return string(data), ok
}

// Words returns the command's words as text, dynamic parts as they are named.
func Words(c *shellcmd.Command) []string {
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		words[i] = w.String()
	}
	return words
}
