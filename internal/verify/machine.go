package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"sallyport/internal/childproc"
	"sallyport/internal/gitdir"
	"sallyport/internal/lint"
	"sallyport/internal/regularfile"
	"sallyport/internal/setup"
	"sallyport/settings"
)

// Options say what to look at.
type Options struct {
	Environ []string
	Dir     string // working directory
	Home    string // in place of $HOME, empty for that
	Project string // empty for the repository around Dir, else Dir
	Live    bool   // also try what must be refused
	GOOS    string // empty for this system
	Managed string // directory of managed settings, empty for the system's
}

// A Machine is what the checks look at.
type Machine struct {
	*setup.Account
	Project     string // directory that a session would start in
	Repository  bool   // Project is in a git work tree
	Stack       *settings.Stack
	Version     string // of the client, empty if not known
	ClientFound bool
	GOOS        string
	Live        bool

	env    settings.Env
	record *setup.Record
	recErr error
	hooks  []fileHook
	bad    []Finding // settings files whose hooks cannot be read
}

// A fileHook is a hook and the file that wires it.
type fileHook struct {
	setup.HookEntry
	Source settings.Source
}

// NewMachine finds the project, asks the client for its version and reads the
// settings of a session there.
func NewMachine(o Options) (*Machine, error) {
	account, err := setup.Look(o.Environ, o.Home)
	if err != nil {
		return nil, err
	}
	m := &Machine{Account: account, GOOS: o.GOOS, Live: o.Live}
	if m.GOOS == "" {
		m.GOOS = runtime.GOOS
	}
	dir := o.Project
	switch {
	case dir == "":
		dir = o.Dir
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		dir = filepath.Join(m.Home(), dir[1:])
	case !filepath.IsAbs(dir):
		dir = filepath.Join(o.Dir, dir)
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("project: %w", err)
	}
	m.Project = dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		m.Project = real
	}
	if repo, ok := gitdir.Find(m.Project, nil); ok && repo.Root != "" {
		m.Repository = true
		if o.Project == "" {
			m.Project = repo.Root
		}
	}
	m.Version, m.ClientFound = m.Client()
	m.env = settings.OSEnv(m.Getenv)
	m.env.GOOS = m.GOOS
	if o.Managed != "" {
		m.env.ManagedDir = o.Managed
	}
	m.Stack = settings.Load(settings.HookSession(m.env, m.Project, m.Project, m.Version), m.env)
	m.record, m.recErr = m.Record()
	for _, l := range m.Stack.Layers() {
		hooks, err := m.Hooks(l.Path, l.Doc.Root())
		if err != nil {
			m.bad = append(m.bad, Finding{Status: Fail, Text: err.Error(), File: l.Path})
		}
		for _, h := range hooks {
			m.hooks = append(m.hooks, fileHook{h, settings.Source{Scope: l.Scope, Path: l.Path, Line: h.Line, Column: h.Column}})
		}
	}
	return m, nil
}

// Trusted reports that only the person or an administrator writes a source.
func trusted(s settings.Source) bool {
	return s.Scope == settings.User || s.Scope == settings.Managed
}

// projectFile is where the project's shared settings stand.
func (m *Machine) projectFile() string { return filepath.Join(m.Project, ".claude", "settings.json") }

// scope finds the file of a scope that counts, "" without one.
func (m *Machine) layer(s settings.Scope) (settings.Layer, bool) {
	for _, l := range m.Stack.Layers() {
		if l.Scope == s {
			return l, true
		}
	}
	return settings.Layer{}, false
}

func (m *Machine) lint() lint.Config {
	platform := map[string]string{"darwin": "macos"}[m.GOOS]
	if platform == "" {
		platform = "linux"
	}
	return lint.Config{Dir: m.Project, Home: m.Home(), Platform: platform, Getenv: m.Getenv}
}

// document reads a JSON file of at most max bytes.
func document(file string, max int64) (*settings.Document, error) {
	data, err := regularfile.Read(file, max)
	if err != nil {
		return nil, err
	}
	return settings.ParseDocument(data)
}

// maxSettings bounds a settings file, maxState the client's own state, which
// holds every project that it ever saw.
const (
	maxSettings = 16 << 20
	maxState    = 64 << 20
)

// at is where a value stands, for the text of a finding.
func at(f Finding, s settings.Source) Finding {
	f.File, f.Line, f.Column = s.Path, s.Line, s.Column
	return f
}

// A ran is the outcome of a program.
type ran struct {
	command string
	out     string
	stderr  string // first line
	exit    int
	err     error // it did not run or did not end in time
}

func (r ran) ok() bool { return r.err == nil && r.exit == 0 }

// on adds the program to a finding.
func (r ran) on(f Finding) Finding {
	f.Command, f.Stderr = r.command, r.stderr
	if r.err == nil {
		exit := r.exit
		f.Exit = &exit
	} else if f.Stderr == "" {
		f.Stderr = r.err.Error()
	}
	return f
}

// limit is how long a program may take.
const limit = 10 * time.Second

// start runs a program with the account's environment.
func (m *Machine) start(p childproc.Program) ran {
	r := ran{command: strings.Join(append([]string{m.Short(p.Path)}, p.Args...), " ")}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if p.Env == nil {
		p.Env = m.Environ()
	}
	if p.Dir == "" {
		p.Dir = m.Home()
	}
	var stderr head
	p.Stderr = &stderr
	out, err := p.Output(ctx, 1<<16)
	r.out = string(out)
	r.stderr, _, _ = strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	var exit interface{ ExitCode() int }
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		r.err = fmt.Errorf("no answer in %v", limit)
	case errors.As(err, &exit):
		r.exit = exit.ExitCode()
	default:
		r.err = err
	}
	return r
}

// A head keeps the first kilobytes that are written to it.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	if room := 4096 - h.Len(); room > 0 {
		h.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// firstLine is the first line of a program's output.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// programs lists the files of the suite that hooks and status line start.
func (m *Machine) wired() []fileHook {
	var out []fileHook
	add := func(h fileHook) {
		if h.Component == "" || h.Other || h.Within {
			return
		}
		if !slices.ContainsFunc(out, func(o fileHook) bool { return o.Program == h.Program }) {
			out = append(out, h)
		}
	}
	for _, h := range m.hooks {
		add(h)
	}
	if h, ok := m.statusLine(); ok {
		add(h)
	}
	return out
}

// statusLine is the status line that counts.
func (m *Machine) statusLine() (fileHook, bool) {
	for _, v := range m.Stack.All("statusLine") {
		h, ok := m.StatusLine(v.Value)
		h.Line, h.Column = v.Source.Line, v.Source.Column
		return fileHook{h, v.Source}, ok || v.Value.Kind() == settings.Object
	}
	return fileHook{}, false
}
