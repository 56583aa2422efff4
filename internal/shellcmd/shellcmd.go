// Package shellcmd finds the simple commands that a shell would run for a
// command line, as far as its text tells.
//
// [Parse] looks through lists, pipes, subshells, functions, substitutions,
// wrappers such as sudo and xargs, nested shells, and static text that is
// piped, sourced or evaluated. It never runs anything and reads no file but
// through the [FS] it is given. What cannot be known from the text stays marked
// as dynamic: a guard decides what a dynamic word means for it.
//
// Where the shell would choose (an if, a case, the right side of && and ||),
// every branch is followed and its commands have Maybe set. A variable or a
// directory that differs between branches makes later commands appear once for
// each value, up to a small bound.
package shellcmd

import "strings"

// A Line is a parsed command line.
type Line struct {
	Source   string
	Commands []*Command // in the order the shell would meet them
	// Exact is false when some of the text could not be parsed and was split
	// lexically; the commands found there have Inexact set.
	Exact bool
	// Limited is set when a bound on size, depth or count ended the analysis
	// early: some commands may be missing, or their words less known.
	Limited bool
	// ForkBomb is set when a function starts itself again in a pipe or in the
	// background.
	ForkBomb bool

	w *walker
}

// A Command is one simple command: a program or a builtin.
//
// A wrapper (sudo, xargs, bash -c) is listed, and then what it runs, with a
// [Layer] for it. A call of a function that the line itself defines is not
// listed: the commands of its body are.
type Command struct {
	Args    []Word   // Args[0] is the program as written; never empty
	Assigns []Assign // assignments visible to the command: earlier exports first, then those that stand on it
	Redirs  []Redirect
	Stdin   Text // what the command reads, if the line tells
	Dir     Dir  // where it runs

	Via []Layer // what it was reached through, outermost first

	Inexact   bool     // found lexically in text that does not parse
	Maybe     bool     // stands in a branch that may not be taken
	Remote    bool     // runs on another host (ssh)
	Container bool     // runs in a container
	Function  string   // name of the shell function whose body it stands in
	Piped     *Command // the last command of the pipe's left side whose output it reads

	// Pos and End bound the command in Line.Source; both are 0 for a command
	// that stands in nested text with no position of its own.
	Pos, End int

	line *Line
	seq  int    // number of file writes known when it runs
	dir  string // working directory as marked text
}

// Name is the program without its directory, the leading = of zsh and the
// suffix .exe; empty when it is dynamic.
func (c *Command) Name() string {
	if len(c.Args) == 0 || !c.Args[0].Static {
		return ""
	}
	return programName(c.Args[0].Value)
}

func programName(s string) string {
	if i := strings.LastIndexAny(s, `/\`); i >= 0 {
		s = s[i+1:]
	}
	if len(s) > 1 && s[0] == '=' {
		s = s[1:]
	}
	if n := len(s) - len(".exe"); n > 0 && strings.EqualFold(s[n:], ".exe") {
		s = s[:n]
	}
	return lowerName(s)
}

// lowerName is a program's name on a file system that ignores case, as those of
// macOS and Windows do: GIT starts git. Verb-Noun names of PowerShell stay.
func lowerName(s string) string {
	upper := false
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b >= 'A' && b <= 'Z':
			upper = true
		case b >= 'a' && b <= 'z', b >= '0' && b <= '9', b == '.', b == '_':
		default:
			return s
		}
	}
	if !upper || s == "Rscript" {
		return s
	}
	return strings.ToLower(s)
}

// Line is the line that the command was found in.
func (c *Command) Line() *Line { return c.line }

// A Word is one argument after quote removal and expansion.
type Word struct {
	// Value is the text. If Static is false it holds the known parts only, with
	// globs and an unresolved ~ as they are written.
	Value    string
	Static   bool // the text is known whole
	Quoted   bool // some of it was quoted
	Glob     bool // it holds an active glob character; never Static
	Pos, End int  // of the written word in Line.Source, both 0 if it has none there
	// Parts are the pieces of a word that is not static, in order.
	Parts []Part

	raw string // the text with marks for its dynamic parts
	src int    // offset of Value in Line.Source when it stands there verbatim, else -1
}

// A Part is a piece of a word: literal text, or something unknown.
type Part struct {
	Text string // literal text, the name of a variable, the glob as written
	Kind PartKind
	// From are the commands whose output a Substitution stands for.
	From []*Command
}

// A PartKind says what a [Part] is.
type PartKind int

// Part kinds.
const (
	Literal      PartKind = iota
	Variable              // $NAME whose value is not known
	Substitution          // $(…), <(…), the output of a pipe that is not known
	Glob                  // *, ?, [
	Tilde                 // ~ or ~user
	Other
)

// After returns the rest of w after a prefix, keeping what is dynamic in it, and
// whether w has the prefix. It serves attached values (--body=…).
func (w Word) After(prefix string) (Word, bool) {
	if !strings.HasPrefix(w.raw, prefix) {
		return Word{}, false
	}
	known := len(prefix)
	if isStatic(prefix) && (len(w.Parts) == 0 || len(w.Parts[0].Text) > known) {
		if len(w.Parts) > 0 {
			w.Parts = append([]Part(nil), w.Parts...)
			w.Parts[0].Text = w.Parts[0].Text[known:]
		}
	} else {
		w.Parts, known = partsAfter(w.Parts, prefix)
		w.Glob, w.Static = false, true
		for _, p := range w.Parts {
			w.Glob = w.Glob || p.Kind == Glob
			w.Static = w.Static && p.Kind == Literal
		}
		if w.Static {
			w.Parts = nil
		}
	}
	w.raw = w.raw[len(prefix):]
	w.Value = w.Value[known:]
	if !w.Static {
		w.src = -1
	} else if w.src >= 0 {
		w.src += known
	}
	return w, true
}

// From are the commands whose unknown output w contains, as in "$(curl …)".
func (w Word) From() []*Command { return partsFrom(w.Parts) }

func partsFrom(parts []Part) []*Command {
	var from []*Command
	for _, p := range parts {
		from = append(from, p.From...)
	}
	return from
}

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
	Target Word   // the file, or the delimiter of a here-document
	Body   Text   // of a here-document or here-string
}

// A Text is the content of a stream or file, if it is known.
type Text struct {
	// Known says that Value is the whole text. If it is false Value holds the
	// known pieces, which may be none.
	Known bool
	Value string
	// From are the commands whose output the unknown pieces are.
	From []*Command
}

// A Dir is a working directory. Unknown means that a cd before the command
// went somewhere that the text does not tell; Path is then empty.
type Dir struct {
	Path    string // absolute, or relative to the line's start directory ("" is that directory)
	Unknown bool
	// Temporary is set when it is unknown, but lies in a directory that mktemp
	// made on the line.
	Temporary bool
}

// A Layer is one wrapper, shell or construct around a command.
type Layer struct {
	Name string // "sudo", "bash -c", "xargs", "$(…)", "subshell", …
}

// A Dialect is the language of a command line.
type Dialect int

// Dialects.
const (
	Bash       Dialect = iota // bash, and zsh where bash does not parse
	POSIX                     // sh
	Zsh                       // zsh, and bash where zsh does not parse
	PowerShell                // split lexically
	Cmd                       // cmd.exe; split lexically
)

// FS reads files for [Parse]: scripts that the line runs.
type FS interface {
	// ReadFile returns the content of a regular file, at most limit bytes of
	// it, and whether it could be read whole. Path is as absolute as the line
	// makes it: relative paths are relative to Options.Dir.
	ReadFile(path string, limit int) ([]byte, bool)
}

// A DirFS is an [FS] that can tell whether a directory exists. With one, a cd
// to a place that is not there is taken to fail too: what follows, other than
// behind &&, is listed for both directories.
type DirFS interface {
	FS
	IsDir(path string) bool
}

// Options are what is known beside the text. The zero value is fine.
type Options struct {
	Dir     string // directory the line starts in; empty if not known
	Dialect Dialect
	// Env returns a variable of the environment that the shell starts with. Nil
	// if nothing is known. A variable that neither it nor the line sets stays
	// unknown, but ${NAME:-default} takes the default.
	Env func(name string) (value string, ok bool)
	// FS serves the scripts that the line runs; nil: no file is read.
	FS FS
}
