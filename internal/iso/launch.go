package iso

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/internal/cli"
	"sallyport/internal/program"
	"sallyport/internal/term"
)

// Exit codes of a start that did not happen.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// defaultPath is where execvp looks when PATH is not set.
const defaultPath = "/usr/bin:/bin"

// mainPackage is the launcher's own main package, by which a copy of it under
// another name is known.
const mainPackage = "sallyport/cmd/agent-iso"

// A Request is what to start.
type Request struct {
	Name string   // program on PATH, or a path
	Args []string // its arguments
}

// A Plan is everything decided about a start.
type Plan struct {
	CLI         string // which CLI it is, or the program's own name
	Path        string // the file to run
	Argv        []string
	Environment Environment
	Settings    string   // the --settings argument that was put in, empty if none
	AllowRead   []string // the paths added by it
	Removed     []string // arguments that were taken out

	notes []note
	chain chain
}

// A note is a line for the person who starts the program.
type note struct {
	text string
	warn bool
}

func (p *Plan) say(format string, args ...any) {
	p.notes = append(p.notes, note{text: fmt.Sprintf(format, args...)})
}

func (p *Plan) warn(format string, args ...any) {
	p.notes = append(p.notes, note{fmt.Sprintf(format, args...), true})
}

// Prepare decides how to start a program. Its errors carry exit codes.
func Prepare(w *cli.Process, req Request) (*Plan, error) {
	config, err := LoadConfig(w.Getenv)
	if err != nil {
		return nil, cli.Exitf(cli.ExitUsage, "%w", err)
	}
	plan := &Plan{chain: readChain()}

	if plan.Path, err = plan.find(w, req.Name); err != nil {
		return nil, err
	}
	plan.CLI = identify(req.Name, plan.Path)

	allowed, bad := allowedByEnvironment(w.Environ)
	plan.Environment = filter(w.Environ, append(allowed, config.Pass...), w.Dir)
	for _, b := range bad {
		hint := ""
		if strings.Contains(b.Pattern, "*") {
			hint = "; prefixes stand in the pass list of " + ConfigName
		}
		plan.warn("ignored in %s: %q is not the name of a variable%s", b.Source, b.Pattern, hint)
	}
	if names := plan.Environment.Unset; len(names) > 0 {
		plan.say("allowed but not set: %s", strings.Join(names, ", "))
	}
	if names := plan.Environment.Credentials; len(names) > 0 {
		plan.warn("warning: %s passes what looks like a credential: %s", config.Path, strings.Join(names, ", "))
	}
	if names := plan.Environment.Userinfo; len(names) > 0 {
		plan.warn("warning: %s passes an address with a password in it: %s", config.Path, strings.Join(names, ", "))
	}

	args := req.Args
	if plan.CLI == "claude" {
		childEnv := func(name string) string { return lookup(plan.Environment.Vars, name) }
		injected := injectReadPaths(args, readPaths(w.Dir, childEnv, args), w.Dir)
		args, plan.Settings, plan.AllowRead = injected.args, injected.settings, injected.added
		if injected.problem != "" {
			plan.warn("%s", injected.problem)
		}
		if len(plan.AllowRead) > 0 {
			plan.say("added to sandbox allowRead: %s", quoted(plan.AllowRead))
		}
	} else {
		args, plan.Removed = dropWorktree(args)
		if len(plan.Removed) > 0 {
			plan.say("removed from the arguments: %s", strings.Join(plan.Removed, " "))
		}
	}
	plan.Argv = append([]string{req.Name}, args...)
	plan.say("running in isolated env (%s)", plan.Path)
	return plan, nil
}

// find looks the program up, past the launcher itself and past scripts that
// have led back to it.
func (p *Plan) find(w *cli.Process, name string) (string, error) {
	self := program.NewSelf(mainPackage)
	search := program.Search{Path: defaultPath, PathExt: lookup(w.Environ, "PATHEXT"), Dir: w.Dir, Skip: self.Is}
	if path, ok := lookupSet(w.Environ, "PATH"); ok {
		search.Path = path
	}
	ahead := search
	ahead.Skip = func(path string, info fs.FileInfo) bool {
		return self.Is(path, info) || p.tried(info) || startsLauncher(path)
	}
	found, err := ahead.Find(name)
	if err != nil {
		// Nothing is left but scripts that lead here, or seem to. One of them
		// may well know the way to the program, but is not asked for ever.
		found, err = search.Find(name)
		if err == nil && p.chain.Count >= maxChain {
			return "", cli.Exitf(exitNotFound, "%s: the script %s leads back here, again and again; let it start the program by its full path", name, found)
		}
	}
	var notExecutable *program.NotExecutableError
	switch {
	case err == nil:
		return found, nil
	case errors.As(err, &notExecutable):
		return "", cli.Exitf(exitNotExecutable, "%w", err)
	default:
		return "", cli.Exitf(exitNotFound, "%w", err)
	}
}

// maxWrapper bounds the scripts that are read for a call of the launcher.
const maxWrapper = 64 << 10

// startsLauncher reports whether the file is a script that names the launcher
// or a link to it outside of comments: a wrapper that stands on PATH under the
// program's name in order to start it through the launcher.
func startsLauncher(path string) bool {
	if !mayLeadBack(path) {
		return false
	}
	text, err := readRegular(path, maxWrapper)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for word := range strings.FieldsFuncSeq(line, func(r rune) bool {
			return !(r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
		}) {
			if cli, ok := strings.CutSuffix(word, linkSuffix); word == Launcher || ok && canonical(cli) != "" {
				return true
			}
		}
	}
	return false
}

// tried reports whether the file is a script that has led back here.
func (p *Plan) tried(info fs.FileInfo) bool {
	return slices.ContainsFunc(p.chain.Scripts, func(script string) bool {
		other, err := os.Stat(script)
		return err == nil && os.SameFile(info, other)
	})
}

// Notes prints the lines that tell the person what happens.
func (p *Plan) Notes(w *cli.Process) {
	color := term.ColorAuto.Enabled(w.Stderr, w.Getenv)
	for _, n := range p.notes {
		sgr := "2"
		if n.warn {
			sgr = "33"
		}
		fmt.Fprintln(w.Stderr, term.Style(color, sgr, term.Clean("["+p.CLI+linkSuffix+"] "+n.text, 0)))
	}
}

// Start becomes the program. It returns only where a process cannot be
// replaced, with the program's exit code, and on errors.
func (p *Plan) Start() (int, error) {
	p.chain.leave(p.Path)
	code, err := program.Exec(p.Path, p.Argv, p.Environment.Vars)
	if err != nil {
		return 0, cli.Exitf(exitNotExecutable, "%w", err)
	}
	return code, nil
}

func quoted(paths []string) string {
	q := make([]string, len(paths))
	for i, p := range paths {
		q[i] = `"` + p + `"`
	}
	return strings.Join(q, ", ")
}

// mayLeadBack reports whether the program at path is a script that could start
// the launcher. The JavaScript runtimes pass no open files on.
func mayLeadBack(path string) bool {
	for _, word := range program.Interpreter(path) {
		switch filepath.Base(word) {
		case "node", "bun", "deno":
			return false
		}
		if !strings.HasPrefix(word, "-") && filepath.Base(word) != "env" {
			return true
		}
	}
	return false
}
