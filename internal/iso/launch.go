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
	"sallyport/internal/iso/mode"
	"sallyport/internal/program"
	"sallyport/internal/regularfile"
	"sallyport/internal/term"
	"sallyport/settings"
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
	Name    string   // program on PATH, or a path
	Args    []string // its arguments
	Sandbox SandboxRequest
	Wrap    string // OS sandbox to start it in: "srt", "bwrap" or none
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

	notes  []note
	chain  chain
	search program.Search // for programs that the child could start
	entry  *agentCLI
	mode   mode.Mode
	report Report
}

// A note is a line for the person who starts the program.
type note struct {
	text string
	kind noteKind
}

type noteKind int

const (
	noteInfo   noteKind = iota
	noteStart           // said only when the program is started
	noteWarn            // something the person should see to
	noteNotice          // a mode is not what was asked for
)

func (p *Plan) add(kind noteKind, format string, args ...any) {
	p.notes = append(p.notes, note{fmt.Sprintf(format, args...), kind})
}

func (p *Plan) say(format string, args ...any)    { p.add(noteInfo, format, args...) }
func (p *Plan) warn(format string, args ...any)   { p.add(noteWarn, format, args...) }
func (p *Plan) notice(format string, args ...any) { p.add(noteNotice, format, args...) }

// Prepare decides how to start a program. Its errors carry exit codes.
func Prepare(w *cli.Process, req Request) (*Plan, error) {
	config, err := LoadConfig(w.Getenv)
	if err != nil {
		return nil, cli.Exitf(cli.ExitUsage, "%w", err)
	}
	table, err := loadRuntimes(w.Getenv)
	if err != nil {
		return nil, cli.Exitf(cli.ExitUsage, "%w", err)
	}
	p := &Plan{chain: readChain()}
	if p.Path, err = p.find(w, req.Name); err != nil {
		return nil, err
	}
	p.CLI = identify(table, req.Name, p.Path)
	if p.entry = findCLI(table, p.CLI); p.entry == nil {
		p.entry = &agentCLI{Name: p.CLI, Default: pair{"none", "on"}}
	}
	p.environment(w, config)

	args := req.Args
	if p.CLI != "claude" {
		args, p.Removed = dropWorktree(args)
		if len(p.Removed) > 0 {
			p.say("removed from the arguments: %s", strings.Join(p.Removed, " "))
		}
	}
	if err := p.resolve(req.Sandbox, config, w.Environ); err != nil {
		return nil, err
	}
	var h held
	if p.applies() {
		if h, err = p.hold(w, args); err != nil {
			return nil, err
		}
		p.Environment.Vars = h.applyVariables(p.Environment.Vars)
		if name := p.entry.ConfigHome; name != "" && lookup(w.Environ, name) != "" && lookup(p.Environment.Vars, name) == "" {
			p.notice("%s is not passed on to %s; allow it with AGENT_ISO_ALLOW=%s", name, p.CLI, name)
		}
	}
	p.fill(w, h, args)

	args = place(p.entry, args, h.inject)
	if p.CLI == "claude" {
		if args, err = p.claudeSettings(w, args, req.Wrap); err != nil {
			return nil, err
		}
	}
	p.Argv = append([]string{req.Name}, args...)
	if req.Sandbox.Probe && (p.applies() || req.Sandbox.Report) {
		if err := p.ask(w); err != nil {
			return nil, err
		}
	}
	started := p.Path
	if req.Wrap != "" {
		if err := p.wrap(w, req.Wrap, config.Wrap); err != nil {
			return nil, err
		}
	}
	p.add(noteStart, "running in isolated env (%s)", started)
	return p, nil
}

// environment decides which variables the program gets.
func (p *Plan) environment(w *cli.Process, config Config) {
	allowed, bad := allowedByEnvironment(w.Environ)
	p.Environment = filter(w.Environ, append(allowed, config.Pass...), w.Dir())
	for _, b := range bad {
		hint := ""
		if strings.Contains(b.Pattern, "*") {
			hint = "; prefixes stand in the pass list of " + ConfigName
		}
		p.warn("ignored in %s: %q is not the name of a variable%s", b.Source, b.Pattern, hint)
	}
	if names := p.Environment.Unset; len(names) > 0 {
		p.say("allowed but not set: %s", strings.Join(names, ", "))
	}
	if names := p.Environment.Credentials; len(names) > 0 {
		p.warn("warning: %s passes what looks like a credential: %s", config.Path, strings.Join(names, ", "))
	}
	if names := p.Environment.Userinfo; len(names) > 0 {
		p.warn("warning: %s passes an address with a password in it: %s", config.Path, strings.Join(names, ", "))
	}
}

// nestedSettings let Claude Code's own sandbox start inside bubblewrap, where
// it may not mount another /proc (seen with 2.1.332: every command failed). The
// one that it reuses shows the processes of the outer sandbox only.
const nestedSettings = `{"sandbox":{"enableWeakerNestedSandbox":true}}`

// claudeSettings builds the one --settings argument that Claude Code takes.
func (p *Plan) claudeSettings(w *cli.Process, args []string, wrap string) ([]string, error) {
	childEnv := func(name string) string { return lookup(p.Environment.Vars, name) }
	in := settingsInjection{paths: readPaths(w.Dir(), childEnv, args)}
	if p.applies() {
		in.mode = string(p.entry.Modes[p.mode.String()].Settings)
	}
	if wrap == "bwrap" {
		in.wrap = nestedSettings
	}
	out := in.into(args, w.Dir())
	switch {
	case out.failed && in.mode != "":
		return nil, refuse("E-CONFLICT", "--sandbox %s for claude has to be merged with %s; correct it or leave one of them out", p.mode, out.problem)
	case out.failed:
		p.warn("%s; passed on as it is, nothing was added to sandbox allowRead", out.problem)
	case out.problem != "":
		p.warn("%s", out.problem)
	}
	p.Settings, p.AllowRead = out.settings, out.added
	if len(p.AllowRead) > 0 {
		p.say("added to sandbox allowRead: %s", quoted(p.AllowRead))
	}
	if in.mode != "" {
		return out.args, p.claudeHolds(w, out.args)
	}
	return out.args, nil
}

// claudeStack is the settings that Claude Code will find.
func (p *Plan) claudeStack(w *cli.Process, args []string) *settings.Stack {
	env := settings.OSEnv(func(name string) string { return lookup(p.Environment.Vars, name) })
	return settings.Load(settings.Session{Start: w.Dir(), Args: args, ArgsSeen: true}, env)
}

// claudeHolds refuses where the settings in force, with the mode's own among
// them, would not hold the mode.
func (p *Plan) claudeHolds(w *cli.Process, args []string) error {
	stack := p.claudeStack(w, args)
	for _, hold := range []struct {
		key  string
		want bool
	}{{"sandbox.enabled", true}, {"sandbox.allowUnsandboxedCommands", false}, {"sandbox.filesystem.disabled", false}} {
		if v := stack.Bool(hold.key); v.Value != hold.want {
			return refuse("E-CONFLICT", "%s is %v in %s, which contradicts --sandbox %s for claude; change it there", hold.key, v.Value, v.Source, p.mode)
		}
	}
	if off, how := stack.PromptsOff(); off {
		return refuse("E-CONFLICT", "permission prompts are off (%s), which contradicts --sandbox %s for claude; give another --permission-mode", how, p.mode)
	}
	if len(stack.List("sandbox.excludedCommands")) > 0 {
		p.report.Caveats = append(p.report.Caveats, "excluded-commands")
	}
	return nil
}

// ask runs the program for what only it knows.
func (p *Plan) ask(w *cli.Process) error {
	p.report.Version = version(p.Path, p.Environment.Vars)
	if p.applies() && p.entry.Checked != "" && p.report.Version != "" && older(p.report.Version, p.entry.Checked) {
		p.notice("%s: checked with %s, found %s", p.CLI, p.entry.Checked, p.report.Version)
	}
	if p.CLI == "opencode" && p.mode == mode.ReadOnly {
		return p.openCodeResolved(w.Dir())
	}
	return nil
}

// find looks the program up, past the launcher itself and past scripts that
// have led back to it.
func (p *Plan) find(w *cli.Process, name string) (string, error) {
	self := program.NewSelf(mainPackage)
	search := program.Search{Path: defaultPath, PathExt: lookup(w.Environ, "PATHEXT"), Dir: w.Dir(), Skip: self.Is}
	if path, ok := lookupSet(w.Environ, "PATH"); ok {
		search.Path = path
	}
	p.search = search
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
			return "", cli.Exitf(exitNotFound, "E-NOTFOUND: %s: the script %s leads back here, again and again; let it start the program by its full path", name, found)
		}
	}
	var notExecutable *program.NotExecutableError
	switch {
	case err == nil:
		return found, nil
	case errors.As(err, &notExecutable):
		return "", cli.Exitf(exitNotExecutable, "E-NOEXEC: %w", err)
	default:
		return "", cli.Exitf(exitNotFound, "E-NOTFOUND: %w", err)
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
	text, err := regularfile.Read(path, maxWrapper)
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
			if cli, ok := strings.CutSuffix(word, linkSuffix); word == Launcher || ok && canonical(builtin(), cli) != "" {
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

// Notes prints the lines that tell the person what happens; started says
// whether the program will be.
func (p *Plan) Notes(w *cli.Process, started bool) {
	color := term.ColorAuto.Enabled(w.Stderr, w.Getenv)
	for _, n := range p.notes {
		prefix, sgr := "["+p.CLI+linkSuffix+"] ", "2"
		switch n.kind {
		case noteStart:
			if !started {
				continue
			}
		case noteWarn:
			sgr = "33"
		case noteNotice:
			prefix, sgr = Launcher+": notice: ", "33"
		}
		fmt.Fprintln(w.Stderr, term.Style(color, sgr, term.Clean(prefix+n.text, 0)))
	}
}

// Start becomes the program. It returns only where a process cannot be
// replaced, with the program's exit code, and on errors.
func (p *Plan) Start() (int, error) {
	p.chain.leave(p.Path)
	code, err := program.Exec(p.Path, p.Argv, p.Environment.Vars)
	if err != nil {
		return 0, cli.Exitf(exitNotExecutable, "E-NOEXEC: %w", err)
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
