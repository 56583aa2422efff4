// Package cli is the frame that every command of the suite stands in: what a
// program sees of the world, how its flags are read, what --version prints,
// and how a hook survives its own mistakes.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// Exit codes that mean the same in every command a person starts. The codes of
// hooks are the harness's and stand in package hookio.
const (
	ExitOK       = 0
	ExitFindings = 1  // a check failed, something drifted, or the person said no
	ExitInput    = 2  // unusable input, such as a file that cannot be parsed
	ExitRefused  = 3  // refused for safety
	ExitHardStop = 4  // nothing sensible can be said or done
	ExitUsage    = 64 // unknown flag or wrong operands
)

// A Process is what a program sees of the world. Programs take it in place of
// the os package's globals so that a test can hand them another world.
type Process struct {
	Name    string   // base name the program was started by
	Arg0    string   // the whole word it was started by
	Args    []string // without the name
	Environ []string
	WorkDir string // what Dir returns; empty: the system is asked
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
}

// OS returns the real process.
func OS() *Process {
	return &Process{
		Name:    programName(os.Args[0]),
		Arg0:    os.Args[0],
		Args:    os.Args[1:],
		Environ: os.Environ(),
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
	}
}

func programName(arg0 string) string {
	return strings.TrimSuffix(filepath.Base(arg0), ".exe")
}

// Dir returns the working directory, empty if it cannot be told. A hook rarely
// wants it, since its event names one.
func (p *Process) Dir() string {
	if p.WorkDir != "" {
		return p.WorkDir
	}
	dir, _ := os.Getwd()
	return dir
}

// Getenv returns the value of an environment variable, the last one if the
// environment names it twice, as the C library and Go do not agree on.
func (p *Process) Getenv(name string) string {
	v, _ := p.LookupEnv(name)
	return v
}

// LookupEnv is [Process.Getenv] that tells an empty variable from none.
func (p *Process) LookupEnv(name string) (string, bool) {
	for i := len(p.Environ) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(p.Environ[i], "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// A UsageError is a mistake in how the program was called; it ends with the
// usage on stderr and [ExitUsage].
type UsageError struct{ Msg string }

func (e *UsageError) Error() string { return e.Msg }

// Usagef returns a [UsageError].
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// ErrHelp and ErrVersion are returned by [Parse] when the person asked for the
// manual or the version.
var (
	ErrHelp    = flag.ErrHelp
	ErrVersion = errors.New("version requested")
)

// NewFlags returns a flag set that prints nothing by itself. --help (-h) and
// --version are known to every set.
func NewFlags(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.Bool("version", false, "")
	return fs
}

// Parse reads args, in which flags may stand before, between and after the
// operands and "--" ends them, and returns the operands.
func Parse(fs *flag.FlagSet, args []string) ([]string, error) {
	return parse(fs, args, false)
}

// ParsePrefix reads flags up to the first operand; that operand and all that
// follows belong to another program and are returned untouched.
func ParsePrefix(fs *flag.FlagSet, args []string) ([]string, error) {
	return parse(fs, args, true)
}

func parse(fs *flag.FlagSet, args []string, stopAtOperand bool) ([]string, error) {
	var operands []string
	for len(args) > 0 {
		arg := args[0]
		if arg == "--" {
			operands = append(operands, args[1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			if stopAtOperand {
				return args, checkVersion(fs)
			}
			operands = append(operands, arg)
			args = args[1:]
			continue
		}
		n := 1
		if takesValue(fs, arg) && len(args) > 1 {
			n = 2
		}
		if err := fs.Parse(args[:n]); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, ErrHelp
			}
			return nil, &UsageError{err.Error()}
		}
		args = args[n:]
	}
	return operands, checkVersion(fs)
}

func checkVersion(fs *flag.FlagSet) error {
	if f := fs.Lookup("version"); f != nil && f.Value.String() == "true" {
		return ErrVersion
	}
	return nil
}

// takesValue reports whether arg is a known flag whose value is the next word.
func takesValue(fs *flag.FlagSet, arg string) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-")
	if strings.Contains(name, "=") {
		return false
	}
	f := fs.Lookup(name)
	if f == nil {
		return false
	}
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}

// Version is the line that --version prints: version, commit and Go release as
// the build recorded them.
func Version(name string) string {
	version, commit, goVersion := "(unknown)", "", ""
	if bi, ok := debug.ReadBuildInfo(); ok {
		goVersion = bi.GoVersion
		if bi.Main.Version != "" {
			version = bi.Main.Version
		}
		dirty := false
		for _, s := range bi.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.modified":
				dirty = s.Value == "true"
			}
		}
		if len(commit) > 12 {
			commit = commit[:12]
		}
		if commit != "" && dirty {
			commit += "+dirty"
		}
	}
	line := name + " " + version
	if commit != "" {
		line += " (" + commit + ")"
	}
	if goVersion != "" {
		line += " " + goVersion
	}
	return line
}

// Finish turns the error of a program that a person starts into its exit code,
// and prints what belongs to it: the manual, the version, or one line that
// begins with the program's name.
func (p *Process) Finish(name, usage string, err error) int {
	var usageErr *UsageError
	var exit *ExitError
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrHelp):
		fmt.Fprint(p.Stdout, usage)
		return ExitOK
	case errors.Is(err, ErrVersion):
		fmt.Fprintln(p.Stdout, Version(name))
		return ExitOK
	case errors.As(err, &usageErr):
		fmt.Fprintf(p.Stderr, "%s: %v\n\n%s", name, usageErr, usage)
		return ExitUsage
	case errors.As(err, &exit):
		if exit.Err != nil {
			fmt.Fprintf(p.Stderr, "%s: %v\n", name, exit.Err)
		}
		return exit.Code
	default:
		fmt.Fprintf(p.Stderr, "%s: %v\n", name, err)
		return ExitFindings
	}
}

// An ExitError carries the exit code for an error; without Err the program has
// already said what it had to say.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Exitf returns an [ExitError] with a message.
func Exitf(code int, format string, args ...any) error {
	return &ExitError{code, fmt.Errorf(format, args...)}
}
