// Package shellcmd finds the simple commands that a shell would run for a
// command line, as far as its text tells.
//
// [Parse] looks through lists, pipes, subshells, functions, substitutions,
// wrappers such as sudo and xargs, nested shells, and static text that is
// piped, sourced or evaluated. It never runs anything and reads no file but
// through the [FS] it is given. What cannot be known from the text stays marked
// as dynamic: a guard decides what a dynamic word means for it.
package shellcmd

// A Line is a parsed command line.
type Line struct {
	Source   string
	Commands []*Command // in the order the shell would meet them
	// Exact is false when some of the text could not be parsed and was split
	// lexically; the commands found there have Inexact set.
	Exact bool
	// Limited is set when a bound on size, depth or count ended the analysis.
	Limited bool
}

// A Command is one simple command: a program, builtin or function call.
type Command struct {
	Args    []Word   // Args[0] is the program as written
	Assigns []Assign // assignments visible to the command: leading, env, export
	Redirs  []Redirect
	Stdin   Text // what the command reads, if that is known
	Dir     Dir  // where it runs

	Via []Layer // what it was reached through, outermost first

	Inexact   bool     // found lexically in text that does not parse
	Remote    bool     // runs on another host (ssh)
	Container bool     // runs in a container
	Function  string   // name of the shell function whose body it stands in
	Piped     *Command // the command whose output it reads, if a pipe joins them

	// Pos and End bound the command in Line.Source; both are 0 for a command
	// that stands in nested text with no position of its own.
	Pos, End int
}

// Name is the program without its directory, a leading backslash and the
// suffix .exe; empty when it is dynamic. Name of a git-commit form is "git-commit".
func (c *Command) Name() string { return "" }

// A Word is one argument after quote removal.
type Word struct {
	Value    string // text; the known parts only, if Static is false
	Static   bool   // the text is known whole
	Quoted   bool   // some of it was quoted, so it does not split or glob
	Glob     bool   // it holds an unquoted glob character
	Pos, End int    // in Line.Source, both 0 if it has no position there
	// Parts are the pieces of a word that is not static, in order.
	Parts []Part
}

// A Part is a piece of a word: literal text, or something unknown.
type Part struct {
	Text string // literal text, or the name of the variable
	Kind PartKind
}

// A PartKind says what a [Part] is.
type PartKind int

// Part kinds.
const (
	Literal      PartKind = iota
	Variable              // $NAME whose value is not known
	Substitution          // $(…) whose output is not known
	Glob                  // *, ?, […]
	Tilde                 // ~ or ~user
	Other
)

// An Assign is NAME=value.
type Assign struct {
	Name  string
	Value Word
	// Inline is true for an assignment that stands on the command itself or on
	// an env before it, false for one that an earlier export or variable set.
	Inline bool
}

// A Redirect is one redirection of a command.
type Redirect struct {
	Op     string // ">", ">>", "<", "<<", "<<<", "&>", …
	Fd     string // as written, empty for the default
	Target Word
	Body   Text // of a here-document or here-string
}

// A Text is the content of a stream or file, if it is known.
type Text struct {
	Known bool
	Value string
}

// A Dir is a working directory. Unknown means that a cd before the command
// went somewhere that the text does not tell.
type Dir struct {
	Path    string // absolute, or relative to the line's start directory
	Unknown bool
}

// A Layer is one wrapper, shell or construct around a command.
type Layer struct {
	Name string // "sudo", "bash -c", "xargs", "$(…)", "subshell", …
}
