package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"sallyport/internal/childproc"
	"sallyport/internal/cli"
	"sallyport/internal/gitdir"
	"sallyport/internal/lint"
	"sallyport/internal/regularfile"
	"sallyport/internal/template"
	"sallyport/internal/term"
	"sallyport/settings"
)

// ProjectOptions are what a person chose.
type ProjectOptions struct {
	Options
	Project   string   // directory of the project; empty for the repository around Dir
	Presets   []string // a level and additions
	Strict    bool
	AutoAllow *bool // sandboxed commands run without a question; nil asks
	WeakerTLS bool
	FixJSON   bool // strip a byte order mark
	Print     bool // print the template, look at no settings
	Diff      bool // print the difference, change nothing
	Check     bool // look only whether the file breaks an invariant
	// Local decides what local settings files are to hold so that sandboxed
	// commands reach the project's worktrees; nil leaves them alone. In project
	// git is about to ignore the file; client is its version, "" if not known.
	// It is asked again before anything is written.
	Local func(project string, client func() string) ([]LocalEdit, []string)
	// LocalOnly leaves the shared file alone.
	LocalOnly bool
}

// Project writes or merges the recommended settings of a repository.
func Project(o ProjectOptions) error {
	choice, err := template.Choose(o.Presets)
	var unknown *template.UnknownError
	if errors.As(err, &unknown) {
		return unknownName("preset", unknown.Name, template.Names())
	}
	if err != nil {
		return cli.Usagef("%v", err)
	}
	if o.Strict {
		if len(o.Presets) > 0 && choice.Level == "minimal" {
			return cli.Usagef("--strict and the level minimal exclude each other")
		}
		choice.Level = "strict"
	}
	r, err := newRunner(o.Options)
	if err != nil {
		return err
	}
	p := &project{runner: r, o: o}
	p.client = sync.OnceValue(func() string {
		// Not the kept answer of ClientVersion: a look writes nothing, no cache either.
		v, _ := clientVersion(r.w.lookPath, r.w.environ, 5*time.Second)
		if !v.known() {
			return ""
		}
		return v.String()
	})
	if err := p.find(); err != nil {
		return err
	}
	if o.Check {
		return p.check()
	}
	p.choice = choice.For(p.root)
	p.rows, p.local = p.ask(p.choice.Rows())
	switch {
	case o.Print:
		return p.print()
	case o.Diff:
		return p.diff()
	}
	if err := p.autoAllow(); err != nil {
		return err
	}
	r.make = p.plan
	return r.run()
}

type project struct {
	*runner
	o      ProjectOptions
	root   string
	repo   bool // root is a work tree of git
	choice template.Choice
	rows   []template.Row
	local  []template.Row
	notes  []note
	client func() string // version, "" if not known; asked once
}

// find settles the directory that sessions start in.
func (p *project) find() error {
	dir := p.abs(p.o.Project)
	if dir == "" {
		dir = p.Dir
	}
	info, err := os.Stat(dir)
	if err != nil {
		return cli.Exitf(cli.ExitInput, "project: %v", err)
	}
	if !info.IsDir() {
		return cli.Exitf(cli.ExitInput, "project: %s is not a directory", p.w.short(dir))
	}
	if p.root, err = filepath.EvalSymlinks(dir); err != nil {
		return cli.Exitf(cli.ExitInput, "project: %v", err)
	}
	if repo, ok := gitdir.Find(p.root, nil); ok && repo.Root != "" {
		p.repo = true
		if p.o.Project == "" {
			p.root = repo.Root
		}
	} else {
		p.note(true, "%s is not in a git repository: nothing is ignored there, and nobody else gets the settings", p.w.short(p.root))
	}
	if home, err := filepath.EvalSymlinks(p.w.home); err == nil && home == p.root {
		return cli.Exitf(cli.ExitRefused, "the project is the home directory, whose .claude/settings.json is the user's own; nothing was changed")
	}
	return nil
}

func (p *project) note(warn bool, format string, args ...any) {
	p.notes = append(p.notes, note{warn, fmt.Sprintf(format, args...)})
}

// tool runs an installed program in the project.
func (p *project) tool(name string, args ...string) (string, error) {
	path, ok := childproc.LookPath(name, p.w.getenv)
	if !ok {
		return "", fmt.Errorf("%s is not on PATH", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	env := slices.DeleteFunc(slices.Clone(p.w.environ), func(e string) bool { return strings.HasPrefix(e, "GIT_") })
	// A question must not download a toolchain or look for updates.
	env = append(env, "GOTOOLCHAIN=local", "GOWORK=off", "npm_config_update_notifier=false", "npm_config_offline=true", "GIT_OPTIONAL_LOCKS=0")
	if name == "git" {
		// Nothing that the repository's configuration names is started.
		args = append([]string{"-c", "core.fsmonitor=false"}, args...)
	}
	prog := childproc.Program{Path: path, Args: args, Dir: p.root, Env: env}
	if name == "go" {
		prog.Dir = p.w.home // a go.mod that asks for another toolchain is an error
	}
	out, err := prog.Output(ctx, 1<<16)
	return string(out), err
}

// ask fills in what the installed tools know, and separates the rows of the
// local file.
func (p *project) ask(rows []template.Row) (shared, local []template.Row) {
	for _, r := range rows {
		switch {
		case r.Local:
			if p.signingKey(&r) {
				local = append(local, r)
			}
			continue
		case r.Asked != "":
			hosts, err := template.Hosts(r.Asked, p.tool)
			switch {
			case err != nil:
				p.note(true, "%s: %v; add the hosts that it needs to %s yourself", r.Asked, err, r.Key)
			case len(hosts) == 0:
				p.note(false, "%s names no host, so none is added to %s", r.Asked, r.Key)
			}
			for _, h := range hosts {
				r.Values = append(r.Values, jsonText(h))
			}
		case r.Key == "sandbox.autoAllowBashIfSandboxed" && p.o.AutoAllow != nil:
			r.Values = []string{fmt.Sprint(*p.o.AutoAllow)}
		}
		shared = append(shared, r)
	}
	if p.o.WeakerTLS {
		shared = append(shared, template.Row{Key: "sandbox.enableWeakerNetworkIsolation", Values: []string{"true"}, Group: template.Base,
			Why: "Asked for with --weaker-tls: it opens the macOS trust service, a documented way out for data."})
	}
	return shared, local
}

// signingKey is the public key file that git signs with, relative to home
// where it is below it.
func (p *project) signingKey(r *template.Row) bool {
	out, err := p.tool("git", "config", "--path", "user.signingkey")
	key := strings.TrimRight(out, "\r\n")
	switch {
	case err != nil || key == "":
		p.note(true, "git config user.signingkey names no key: set it, then run this again")
		return false
	case strings.HasPrefix(key, "key::") || strings.HasPrefix(key, "ssh-"):
		p.note(false, "git config user.signingkey holds the key itself, so no file has to be opened")
		return false
	case !filepath.IsAbs(key):
		p.note(true, "git config user.signingkey is %q, which is not the absolute path of a key file", key)
		return false
	}
	if !strings.HasSuffix(key, ".pub") {
		key += ".pub" // git takes the public half beside a private key
	}
	if info, err := os.Stat(key); err != nil || !info.Mode().IsRegular() {
		p.note(true, "the public key %s cannot be found; only a file that ends in .pub is opened to the sandbox", p.w.short(key))
		return false
	}
	r.Values = []string{jsonText(strings.TrimSuffix(homeEntry(key, p.w.home), "/"))}
	return true
}

func homeEntry(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
		return "~/" + filepath.ToSlash(rest)
	}
	return path
}

func (p *project) file() string { return filepath.Join(p.root, ".claude", "settings.json") }

// autoAllow puts the one question that has no good answer for everybody.
func (p *project) autoAllow() error {
	if p.o.AutoAllow != nil || p.o.LocalOnly || p.Yes || p.DryRun || p.JSON || p.refuse != nil || !term.IsTerminal(p.Stdin) {
		return nil
	}
	i := slices.IndexFunc(p.rows, func(r template.Row) bool { return r.Key == "sandbox.autoAllowBashIfSandboxed" })
	doc, _, _, err := p.read(p.file())
	if err != nil {
		return err
	}
	root, err := parseSettings(p.w.short(p.file()), doc)
	if err != nil {
		return err
	}
	if i < 0 || root.Get(p.rows[i].Path()...).Kind() == settings.Bool {
		return nil
	}
	if p.runner.ask("let sandboxed commands run without asking you (sandbox.autoAllowBashIfSandboxed)?") {
		p.rows[i].Values = []string{"true"}
	}
	return nil
}

// print shows the template by itself.
func (p *project) print() error {
	m, err := template.Plan(settings.Node{}, p.rows)
	if err != nil {
		return err
	}
	doc, err := settings.Apply(nil, m.Changes...)
	if err != nil {
		return err
	}
	for _, n := range p.notes {
		fmt.Fprintf(p.Stderr, "agent-setup: %s\n", term.Clean(n.Text, 0))
	}
	_, err = p.Stdout.Write(doc)
	return err
}

// diff shows what would change; a difference is a finding.
func (p *project) diff() error {
	pl, err := p.plan()
	if err != nil {
		return refusal(err)
	}
	for _, c := range pl.changes {
		if c.Diff != "" {
			p.printf("%s", paint(c.Diff, p.Color))
		}
	}
	if err := p.report(pl, nil, false); err != nil {
		return err
	}
	if pl.pending() {
		return &cli.ExitError{Code: cli.ExitFindings}
	}
	return nil
}

// check looks at the file as it is.
func (p *project) check() error {
	doc, err := regularfile.Read(p.file(), maxText)
	existed := !errors.Is(err, fs.ErrNotExist)
	if err != nil && existed {
		return cli.Exitf(cli.ExitInput, "%v", err)
	}
	if _, err := parseSettings(p.w.short(p.file()), doc); err != nil {
		return err
	}
	out := &plan{verify: func() []check {
		if !existed {
			return []check{{markFail, "settings", p.w.short(p.file()) + " does not exist; run agent-setup project"}}
		}
		return p.invariants()
	}}
	return p.finish(out, false)
}

// invariants is the table of what the file on disk breaks.
func (p *project) invariants() []check {
	var out []check
	for _, b := range p.broken() {
		what := "linter"
		if b.Number > 0 {
			what = fmt.Sprintf("invariant %d", b.Number)
		}
		out = append(out, check{markFail, what, p.describe(b)})
	}
	if len(out) == 0 {
		out = append(out, check{markPass, "invariants", fmt.Sprintf("%s keeps all %d", p.w.short(p.file()), len(template.Invariants()))})
	}
	return out
}

func (p *project) describe(b template.Broken) string {
	text := fmt.Sprintf("%s:%d:%d: %s", p.w.short(b.File), b.Line, b.Column, b.Message)
	if b.Rule != "" {
		text += " (" + b.Rule + ")"
	}
	if b.Fix != "" {
		text += "; " + b.Fix
	}
	return text
}

// broken lists the broken invariants of the file on disk.
func (p *project) broken() []template.Broken {
	platform := "linux"
	if runtime.GOOS == "darwin" {
		platform = "macos"
	}
	if _, err := os.Stat(p.file()); err != nil {
		return nil
	}
	out := template.Check(lint.Config{Dir: p.root, Home: p.w.home, Platform: platform, Getenv: p.w.getenv}, p.file())
	return append(out, template.CheckStack(p.stack())...)
}

// read reads a file of the project, which may be missing.
func (p *project) read(file string) (doc []byte, existed bool, target string, err error) {
	if target, err = p.w.target(file, p.root); err != nil {
		return nil, false, "", err
	}
	doc, err = readText(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, target, nil
	}
	if err == nil {
		err = writable(target)
	}
	if err != nil && !errors.As(err, new(*cli.ExitError)) {
		err = cli.Exitf(cli.ExitRefused, "%v; nothing was changed", err)
	}
	return doc, true, target, err
}

func (p *project) plan() (*plan, error) {
	out := &plan{
		facts: []string{
			"project: " + term.Clean(p.root, 0),
			"preset: " + p.choice.String(),
		},
		notes: slices.Clone(p.notes),
	}
	if !p.o.LocalOnly {
		if err := p.planFile(out, p.file(), p.rows, 0o644, "shared with everybody who uses the repository"); err != nil {
			return nil, err
		}
	}
	if err := p.planLocalFiles(out); err != nil {
		return nil, err
	}
	if p.repo {
		if err := p.planIgnore(out); err != nil {
			return nil, err
		}
	}
	for _, b := range p.broken() {
		// What the merge adds is mended by it; entries are never taken out.
		if b.Entry {
			out.notes = append(out.notes, note{true, fmt.Sprintf("invariant %d: %s; it stays until you remove it", b.Number, p.describe(b))})
		}
	}
	if !p.o.LocalOnly {
		out.verify = p.invariants
	}
	out.done = "the settings hold for sessions that start in " + p.w.short(p.root) + "; commit .claude/settings.json to share them, and run agent-setup verify to see what is in force"
	return out, nil
}

// localFile is the local settings file that the client reads.
func (p *project) localFile() string {
	for _, f := range p.stack().Files() {
		if f.Scope == settings.Local && f.Status != settings.NotRead {
			return f.Path
		}
	}
	return filepath.Join(p.root, ".claude", "settings.local.json")
}

// stack is the settings of a session in the project.
func (p *project) stack() *settings.Stack {
	env := settings.OSEnv(p.w.getenv)
	if p.managedDir != "" {
		env.ManagedDir = p.managedDir
	}
	return settings.Load(settings.Session{Start: p.root, Version: p.client()}, env)
}

// planLocalFiles lists the worktrees, and merges the rows of this machine into
// the file that the client reads.
func (p *project) planLocalFiles(out *plan) error {
	var edits []LocalEdit
	if p.o.Local != nil && p.repo {
		var warnings []string
		edits, warnings = p.o.Local(p.root, p.client)
		for _, w := range warnings {
			out.notes = append(out.notes, note{true, w})
		}
	}
	file, alone := "", false
	if len(p.local) > 0 {
		file = p.localFile()
		target, err := p.w.target(file, filepath.Dir(filepath.Dir(file)))
		if err != nil {
			return err
		}
		i := slices.IndexFunc(edits, func(e LocalEdit) bool { return samePath(e.Path, target) })
		if alone = i < 0; !alone {
			if edits[i].New, err = p.merge(out, file, edits[i].New, p.local); err != nil {
				return err
			}
		}
	}
	for _, e := range edits {
		planLocal(out, p.runner, e)
	}
	if alone {
		return p.planFile(out, file, p.local, 0o600, "this machine only")
	}
	return nil
}

// merge adds rows to the text of a settings file, and notes what is worth it.
func (p *project) merge(out *plan, file string, doc []byte, rows []template.Row) ([]byte, error) {
	name := p.w.short(file)
	root, err := parseSettings(name, doc)
	if err != nil {
		return nil, err
	}
	m, err := template.Plan(root, rows)
	var shape *template.ShapeError
	if errors.As(err, &shape) {
		return nil, conflict(fmt.Sprintf("%s:%d:%d", name, shape.Line, shape.Column), shape.Pointer, "want %s, found %s; repair the file and run this again", shape.Want, shape.Found)
	}
	if err != nil {
		return nil, err
	}
	after, err := settings.Apply(doc, m.Changes...)
	if err != nil {
		return nil, conflict(name, "", "%v", err)
	}
	for _, e := range m.Differs {
		out.notes = append(out.notes, note{true, fmt.Sprintf("%s:%d: %s is %s and stays; %s", name, e.Line, e.Key, shown(e.Key, e.Value), e.Why)})
	}
	for _, e := range m.Left {
		out.notes = append(out.notes, note{false, fmt.Sprintf("%s: %s is left out: %s", e.Key, e.Value, e.Why)})
	}
	if file == p.file() { // the local file is all yours
		const most = 50
		for i, e := range m.Yours {
			if i == most {
				out.notes = append(out.notes, note{false, fmt.Sprintf("yours: %d more", len(m.Yours)-most)})
				break
			}
			out.notes = append(out.notes, note{false, fmt.Sprintf("yours: %s:%d: %s %s", name, e.Line, e.Key, shown(e.Key, e.Value))})
		}
	}
	return after, nil
}

// planFile merges rows into a settings file.
func (p *project) planFile(out *plan, file string, rows []template.Row, mode fs.FileMode, reason string) error {
	before, existed, target, err := p.read(file)
	if err != nil {
		return err
	}
	doc := before
	if p.o.FixJSON {
		doc = bytes.TrimPrefix(doc, byteOrderMark)
	}
	name := p.w.short(file)
	after, err := p.merge(out, file, doc, rows)
	if err != nil {
		return err
	}
	c := change{Path: file, Action: "same", sum: sum(after)}
	if existed && bytes.Equal(before, after) {
		out.changes = append(out.changes, c)
		return nil
	}
	c.Action, c.backup, c.Reason = "changed", true, reason
	if !existed {
		c.Action = "new"
	}
	c.Diff = unified(name, maskJSON(before), maskJSON(after))
	c.stage = stageText(target, before, after, existed, mode)
	out.changes = append(out.changes, c)
	return nil
}

// shown is a value for a note: short, and hidden where its name says so.
func shown(key, value string) string {
	if strings.HasPrefix(key, "env") || secretName(key[strings.LastIndexByte(key, '.')+1:]) {
		return mask
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(value)) == nil {
		value = b.String()
	}
	return term.Clean(value, 100)
}

// stageText stages new content of a file in the project.
func stageText(target string, before, after []byte, existed bool, mode fs.FileMode) func(*transaction) error {
	return func(t *transaction) error {
		if err := t.mkdir(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		sweep(target)
		if existed {
			return t.edit(target, nonNil(before), after)
		}
		if err := t.write(target, after, mode); err != nil {
			return err
		}
		var none []byte
		t.staged[len(t.staged)-1].was = &none
		return nil
	}
}

// planIgnore keeps git from committing what belongs to one machine.
func (p *project) planIgnore(out *plan) error {
	var missing []string
	for _, want := range []struct{ probe, line string }{
		{".claude/settings.local.json", "/.claude/settings.local.json"},
		{".sallyport-local/x", "/.sallyport-local/"},
	} {
		_, err := p.tool("git", "check-ignore", "-q", "--", want.probe)
		var exit interface{ ExitCode() int }
		switch {
		case err == nil:
		case errors.As(err, &exit) && exit.ExitCode() == 1:
			missing = append(missing, want.line)
		default:
			out.notes = append(out.notes, note{true, fmt.Sprintf("whether git ignores %s is not known (%v): make sure that .gitignore has it", want.line, err)})
		}
		if _, err := p.tool("git", "ls-files", "--error-unmatch", "--", want.probe); err == nil {
			out.notes = append(out.notes, note{true, fmt.Sprintf("git tracks %s, so its values are shared and its allow rules wait for trust: run git rm --cached %s", want.probe, want.probe)})
		}
	}
	if len(missing) == 0 {
		return nil
	}
	file := filepath.Join(p.root, ".gitignore")
	before, existed, target, err := p.read(file)
	if err != nil {
		return err
	}
	after := slices.Clone(before)
	eol := "\n"
	if bytes.Contains(before, []byte("\r\n")) {
		eol = "\r\n"
	}
	if len(after) > 0 && after[len(after)-1] != '\n' {
		after = append(after, eol...)
	}
	for _, line := range missing {
		after = append(after, line+eol...)
	}
	c := change{Path: file, Action: "changed", Reason: "what belongs to one machine", sum: sum(after), backup: existed}
	if !existed {
		c.Action = "new"
	}
	c.Diff = unified(p.w.short(file), before, after)
	c.stage = stageText(target, before, after, existed, 0o644)
	out.changes = append(out.changes, c)
	return nil
}
