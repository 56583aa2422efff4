package setup

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sallyport/internal/atomicfile"
	"sallyport/internal/cli"
	"sallyport/internal/term"
)

// Options are common to install and uninstall.
type Options struct {
	Environ []string
	Dir     string // working directory, for relative operands
	Home    string // in place of $HOME, empty for that
	Version string // recorded in the manifest
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Yes     bool // do not ask
	DryRun  bool
	JSON    bool // one document on stdout, text on stderr
	Quiet   bool // only what needs attention
	Color   bool

	managedDir string // of tests, in place of the system's
}

// A change is one line of a plan.
type change struct {
	Path   string `json:"path"`
	Action string `json:"action"` // new, changed, same, removed, kept
	Diff   string `json:"diff"`
	Reason string `json:"reason"`

	sum    string // of the new content
	backup bool   // keep the old content
	stage  func(t *transaction) error
}

// A manualStep is a command that only the person may run.
type manualStep struct {
	Cmd string `json:"cmd"`
	Why string `json:"why"`
}

// A plan is everything a run would do.
type plan struct {
	facts   []string
	changes []change
	notes   []note
	manual  []manualStep
	verify  func() []check
	// preview prints the status line of the finished installation.
	preview func() string
	// after runs once the changes are made, for directories that emptied.
	after func()
	// typed, if not empty, is a question that the whole word yes answers.
	typed string
	// done is the last line of a run that changed something.
	done string
}

func (p *plan) pending() bool {
	return slices.ContainsFunc(p.changes, func(c change) bool { return c.stage != nil })
}

// fingerprint tells whether a plan made later is still the one that was shown.
func (p *plan) fingerprint() string {
	var b strings.Builder
	for _, c := range p.changes {
		fmt.Fprintf(&b, "%q %s %q %s\n", c.Path, c.Action, c.Diff, c.sum)
	}
	return b.String()
}

// A runner takes a plan from the screen to the disk.
type runner struct {
	Options
	w    *world
	text io.Writer // what people read
	make func() (*plan, error)
	// refuse, if set, is why nothing may be written.
	refuse error
}

func newRunner(o Options) (*runner, error) {
	w, err := newWorld(o.Environ, o.Home)
	if err != nil {
		return nil, err
	}
	r := &runner{Options: o, w: w, text: o.Stdout}
	if o.JSON {
		r.text = o.Stderr
	}
	if evidence, inside := insideSandbox(w.getenv, os.ReadFile); inside {
		r.refuse = cli.Exitf(cli.ExitRefused, "this runs inside the agent's sandbox (%s), where the settings must not be written; run it in a terminal of your own", term.Clean(strings.Join(evidence, "; "), 300))
	}
	return r, nil
}

func (r *runner) printf(format string, args ...any) { fmt.Fprintf(r.text, format, args...) }

// run shows the plan, has it approved, and carries it out.
func (r *runner) run() error {
	p, err := r.make()
	if err != nil {
		return refusal(err)
	}
	r.show(p)
	if !p.pending() {
		r.printf("nothing to do\n")
		return r.finish(p, false)
	}
	switch {
	case r.DryRun:
		return r.report(p, nil, false)
	case r.refuse != nil:
		return errors.Join(r.report(p, nil, false), r.refuse)
	case r.Yes:
	case term.IsTerminal(r.Stdin):
		if !r.approve(p) {
			r.printf("nothing was changed\n")
			return errors.Join(r.report(p, nil, false), &cli.ExitError{Code: cli.ExitFindings})
		}
	default:
		err := r.report(p, nil, false)
		return errors.Join(err, cli.Exitf(cli.ExitFindings, "nothing was changed: this is not a terminal, so pass --yes to apply the plan"))
	}
	unlock, err := r.lock()
	if err != nil {
		return err
	}
	defer unlock()
	now, err := r.make()
	if err != nil {
		return refusal(err)
	}
	if now.fingerprint() != p.fingerprint() {
		return cli.Exitf(cli.ExitRefused, "files changed while the plan was shown; nothing was changed, run it again")
	}
	if err := r.apply(now); err != nil {
		return refusal(err)
	}
	return r.finish(now, true)
}

// approve asks whether a plan is to be carried out.
func (r *runner) approve(p *plan) bool {
	if p.typed == "" {
		return r.ask("apply?")
	}
	r.printf("%s Type yes to go on: ", p.typed)
	line, _ := bufio.NewReader(io.LimitReader(r.Stdin, 1024)).ReadString('\n')
	return strings.TrimSpace(line) == "yes"
}

// ask puts a question that only y or yes answers with yes.
func (r *runner) ask(question string) bool {
	r.printf("%s [y/N] ", question)
	line, _ := bufio.NewReader(io.LimitReader(r.Stdin, 1024)).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}

// lock keeps a second run out. The note in the file is for its message.
func (r *runner) lock() (unlock func(), err error) {
	if err := os.MkdirAll(r.w.state, 0o700); err != nil {
		return nil, refusal(err)
	}
	file := filepath.Join(r.w.state, "lock")
	l, err := atomicfile.TryLock(file)
	if errors.Is(err, atomicfile.ErrLocked) {
		holder := "another process"
		if pid, err := os.ReadFile(file); err == nil && len(pid) > 0 && len(pid) < 20 {
			holder = "process " + term.Clean(strings.TrimSpace(string(pid)), 20)
		}
		return nil, cli.Exitf(cli.ExitRefused, "%s is changing the installation; wait for it and run this again", holder)
	}
	if err != nil {
		return nil, refusal(err)
	}
	l.File().Truncate(0)
	l.File().WriteAt([]byte(itoa(os.Getpid())+"\n"), 0)
	return func() {
		l.File().Truncate(0)
		l.Unlock()
	}, nil
}

// backupsKept is the number of runs whose backups stay, and stampLayout how
// their directories are named; package settings keeps its own beside them.
const (
	backupsKept = 20
	stampLayout = "20060102T150405.000000Z"
)

// apply carries a plan out, wholly or not at all.
func (r *runner) apply(p *plan) error {
	t := &transaction{}
	err := func() error {
		dir := filepath.Join(r.w.state, "backups", r.w.now.Format(stampLayout))
		for _, c := range p.changes {
			if c.stage == nil {
				continue
			}
			sweep(c.Path)
			if c.backup {
				if err := backup(t, dir, c.Path); err != nil {
					return fmt.Errorf("backup: %w", err)
				}
			}
			if err := c.stage(t); err != nil {
				return err
			}
		}
		if err := testExec(t); err != nil {
			return err
		}
		return t.commit()
	}()
	if err != nil {
		return errors.Join(err, t.rollback())
	}
	if p.after != nil {
		p.after()
	}
	prune(filepath.Join(r.w.state, "backups"))
	return nil
}

// backup stages a copy of a file, or of the link that stands there.
func backup(t *transaction, dir, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := t.mkdir(dir, 0o700); err != nil {
		return err
	}
	to := filepath.Join(dir, flatName(path))
	for n := 2; ; n++ { // two runs in one second
		if _, err := os.Lstat(to); err != nil {
			break
		}
		to = filepath.Join(dir, flatName(path)+"."+itoa(n))
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return t.link(to, target)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return t.write(to, data, 0o600)
}

// prune removes the oldest backups. Their names sort by time; a directory with
// another name is not ours.
func prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var runs []string
	for _, e := range entries {
		stamp := e.Name()[:min(len(e.Name()), len(stampLayout))]
		if _, err := time.Parse(stampLayout, stamp); err == nil && e.IsDir() {
			runs = append(runs, e.Name())
		}
	}
	for len(runs) > backupsKept {
		os.RemoveAll(filepath.Join(dir, runs[0]))
		runs = runs[1:]
	}
}

// show prints the plan.
func (r *runner) show(p *plan) {
	if r.Quiet && r.Yes {
		return
	}
	if len(p.facts) > 0 {
		r.printf("%s\n", r.bold("environment"))
	}
	for _, f := range p.facts {
		r.printf("  %s\n", f)
	}
	r.printf("%s\n", r.bold("files"))
	for _, c := range p.changes {
		line := fmt.Sprintf("  %-8s %s", c.Action, r.w.short(c.Path))
		if c.sum != "" {
			line += "  sha256 " + c.sum[:8]
		}
		if c.Reason != "" {
			line += "  (" + c.Reason + ")"
		}
		r.printf("%s\n", line)
	}
	for _, c := range p.changes {
		if c.Diff != "" {
			r.printf("%s\n%s", r.bold("diff"), paint(c.Diff, r.Color))
		}
	}
	if len(p.notes) > 0 {
		r.printf("%s\n", r.bold("notes"))
		for _, n := range p.notes {
			r.printf("  %s %s\n", map[bool]string{true: "⚠", false: "·"}[n.Warn], term.Clean(n.Text, 0))
		}
	}
	if len(p.manual) > 0 {
		r.printf("%s\n", r.bold("for you to do by hand"))
		for _, m := range p.manual {
			r.printf("  %s\n", term.Clean(m.Why, 0))
			for line := range strings.Lines(m.Cmd) {
				r.printf("    %s\n", term.Clean(strings.TrimSuffix(line, "\n"), 0))
			}
		}
	}
}

func (r *runner) bold(s string) string { return term.Style(r.Color, "1", s) }

func paint(diff string, color bool) string {
	if !color {
		return diff
	}
	var b strings.Builder
	for line := range strings.Lines(diff) {
		sgr := ""
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			sgr = "1"
		case line[0] == '+':
			sgr = "32"
		case line[0] == '-':
			sgr = "31"
		case line[0] == '@':
			sgr = "36"
		}
		b.WriteString(term.Style(sgr != "", sgr, strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}

// finish checks the result, prints it, and ends with its exit code.
func (r *runner) finish(p *plan, applied bool) error {
	var checks []check
	if p.verify != nil {
		checks = p.verify()
	}
	failed, column := 0, 0
	for _, c := range checks {
		column = max(column, len(c.What))
		if c.Mark == markFail {
			failed++
		}
	}
	if len(checks) > 0 {
		if !r.Quiet {
			r.printf("%s\n", r.bold("check"))
		}
		for _, c := range checks {
			if r.Quiet && c.Mark == markPass {
				continue
			}
			sgr := map[string]string{markPass: "32", markFail: "1;31", markWarn: "33"}[c.Mark]
			r.printf("  %s %-*s %s\n", term.Style(r.Color, sgr, c.Mark), column, c.What, term.Clean(c.Evidence, 0))
		}
	}
	if p.preview != nil && !r.Quiet {
		line := p.preview()
		if line == "" {
			line = "nothing was drawn; the client shows an empty line then"
		}
		r.printf("%s\n  %s\n", r.bold("status line"), line)
	}
	if applied && !r.Quiet {
		r.printf("%s\n", p.done)
	}
	err := r.report(p, checks, applied)
	if failed > 0 {
		return errors.Join(err, &cli.ExitError{Code: cli.ExitFindings})
	}
	return err
}

// report prints the document of --json.
func (r *runner) report(p *plan, checks []check, applied bool) error {
	if !r.JSON {
		return nil
	}
	doc := struct {
		Plan    []change     `json:"plan"`
		Manual  []manualStep `json:"manual"`
		Applied bool         `json:"applied"`
		Notes   []note       `json:"notes,omitempty"`
		Verify  []check      `json:"verify,omitempty"`
	}{p.changes, p.manual, applied, p.notes, checks}
	if doc.Plan == nil {
		doc.Plan = []change{}
	}
	if doc.Manual == nil {
		doc.Manual = []manualStep{}
	}
	enc := json.NewEncoder(r.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}
