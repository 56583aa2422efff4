package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"sallyport/internal/cli"
	"sallyport/internal/dirs"
	"sallyport/internal/doctor"
	"sallyport/internal/pins"
	"sallyport/internal/remind"
	"sallyport/internal/setup"
	"sallyport/internal/term"
)

const updateUsage = `agent-setup update reports what differs from this build, and from what the
suite was tried with.

Usage:
  agent-setup update [flags]

It changes nothing but its own note of the day, for agent-setup remind. Build
the new version first (git pull, ./install.sh --dry-run, or run the new
agent-setup from where it was built); then this compares:

  protection   inside a session: the sandbox and its list of hosts, and what
               they refused before and do not refuse now, which comes first
  toolkit      each installed program: as it was installed, as it is, and as
               this build has it, which tells who changed it
  settings     hooks and status line that this build would wire otherwise, and
               what its template has more for the project
  directories  permissions.additionalDirectories, where reads elsewhere ask
  tools        agent-setup tools check, with the commands that would help
  checkouts    repositories named in pinned-versions.local.toml: git fetch, and
               how many commits behind; nothing is merged

  [checkouts.name]
  path = "~/src/name"
  remote = "https://…"       # if origin is another one, it is said
  branch = "main"

  --apply        then install this build: agent-setup install, with its plan and
                 its question
  --from DIR     where the programs of this build are (default: beside it)
  --offline      ask nobody (SALLYPORT_OFFLINE=1 too)
  --project DIR  the project to look at

Commands for sudo, apt, npm or brew are printed and never run.

Also: --home DIR, --yes, --dry-run, --json, --quiet, --no-color.

Exit codes: 0 nothing differs; 1 something does; 2 a file cannot be used, the
message says where; 3 refused for safety; 4 a program is below its floor; 64
usage.
`

type updateDocument struct {
	Regressions []string             `json:"regressions"`
	Protection  []doctor.Result      `json:"protection"`
	Toolkit     setup.Drift          `json:"toolkit"`
	Template    string               `json:"template"` // what agent-setup project --diff prints
	Directories []doctor.Result      `json:"directories"`
	Tools       []toolRow            `json:"tools"`
	Checkouts   []pins.CheckoutState `json:"checkouts"`
	Recorded    bool                 `json:"recorded"`
}

type toolRow struct {
	Tool      string `json:"tool"`
	Wanted    string `json:"wanted"`
	Installed string `json:"installed"`
	Status    string `json:"status"`
	Note      string `json:"note"`
}

func runUpdate(p *cli.Process, args []string) error {
	var o setup.InstallOptions
	fs := cli.NewFlags("update")
	noColor := globals(fs, &o.Options)
	project := fs.String("project", "", "")
	offline := fs.Bool("offline", false, "")
	apply := fs.Bool("apply", false, "")
	fs.StringVar(&o.Source, "from", "", "")
	if err := parse(fs, args); err != nil {
		return err
	}
	fill(&o.Options, p, *noColor)
	original := p
	p, err := elsewhere(p, o.Home, *project)
	if err != nil {
		return err
	}
	if o.Source != "" {
		o.Source = abs(original.Dir(), o.Source)
	}
	o.Environ = p.Environ
	u := &updater{p: p, o: o, offline: *offline || p.Getenv("SALLYPORT_OFFLINE") == "1", doc: updateDocument{Regressions: []string{}}}
	u.out = p.Stdout
	if o.JSON {
		u.out = p.Stderr
	}
	ctx := context.Background()
	// Everything that cannot be used is found before anything is recorded.
	layers, tools, err := loadManifests(p)
	if err != nil {
		return err
	}
	state, err := remind.Read(remind.MachineFile(dirs.State(p.Getenv)))
	if err != nil {
		return err
	}
	if u.doc.Toolkit, err = setup.CompareInstall(o); err != nil {
		return err
	}
	w, err := doctor.NewWorld(p.Environ, p.Dir(), p.Debugf)
	if err != nil {
		return cli.Exitf(cli.ExitRefused, "%v", err)
	}
	w.Offline = true // the host on the list is doctor's business
	canaries := u.protection(ctx, w, state)
	u.toolkit()
	u.project(w)
	u.directories(ctx, w)
	states := u.tools(ctx, tools)
	if err := u.checkouts(ctx, layers, w.Home); err != nil {
		return err
	}
	verdict := verdict(states)
	if !o.DryRun {
		u.record(canaries)
	}
	if o.JSON {
		enc := json.NewEncoder(p.Stdout)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(u.doc); err != nil {
			return err
		}
	}
	if *apply {
		o.JSON = false
		o.Stdout = u.out
		if err := setup.Install(o); err != nil {
			return err
		}
		if !o.DryRun {
			recordInstall(original, o.Home)
		}
		return verdict
	}
	if verdict == nil && (u.drift || u.doc.Toolkit.Drifted() || len(u.doc.Regressions) > 0) {
		return &cli.ExitError{Code: cli.ExitFindings}
	}
	return verdict
}

type updater struct {
	p       *cli.Process
	o       setup.InstallOptions
	out     io.Writer
	offline bool
	drift   bool
	doc     updateDocument
}

func (u *updater) printf(format string, args ...any) { fmt.Fprintf(u.out, format, args...) }

func (u *updater) head(title string) { u.printf("%s\n", term.Style(u.o.Color, "1", title)) }

// line prints one finding; quiet leaves the good ones out.
func (u *updater) line(mark, format string, args ...any) {
	if u.o.Quiet && (mark == "✓" || mark == "–") {
		return
	}
	sgr := map[string]string{"✓": "32", "✗": "1;31", "⚠": "33", "–": "2"}[mark]
	u.printf("  %s %s\n", term.Style(u.o.Color, sgr, mark), term.Clean(fmt.Sprintf(format, args...), 0))
}

// protection runs the probes that show a refusal, and compares with what was
// refused before.
func (u *updater) protection(ctx context.Context, w *doctor.World, state remind.State) map[string]string {
	probes, err := chooseProbes([]string{"sandbox-active", "egress"})
	if err != nil {
		panic(err) // the names are ours
	}
	u.doc.Protection = doctor.Run(ctx, w, probes)
	now := map[string]string{}
	maps.Copy(now, state.Canaries)
	for _, r := range u.doc.Protection {
		if r.Status == doctor.Pass || r.Status == doctor.Fail {
			if r.Status == doctor.Fail && state.Canaries[r.Key()] == string(doctor.Pass) {
				u.doc.Regressions = append(u.doc.Regressions, r.Key())
			}
			now[r.Key()] = string(r.Status)
		}
	}
	if len(u.doc.Regressions) > 0 {
		u.head("REGRESSION: what was refused before is not any more")
		for _, r := range u.doc.Protection {
			if slices.Contains(u.doc.Regressions, r.Key()) {
				u.line("✗", "%s: %s; agent-setup doctor --probe %s says more", r.Key(), r.Evidence, r.Probe)
			}
		}
	}
	u.head("protection")
	for _, r := range u.doc.Protection {
		u.line(string(r.Status), "%s: %s", r.Key(), r.Evidence)
		u.drift = u.drift || r.Status == doctor.Fail
	}
	return now
}

func (u *updater) toolkit() {
	d := u.doc.Toolkit
	u.head("toolkit")
	if d.Installed != "" {
		mark := "✓"
		if d.Installed != d.Running {
			mark = "⚠"
		}
		u.line(mark, "installed: %s (%s)", d.Installed, d.InstalledAt)
		u.line(mark, "this build: %s", d.Running)
	}
	if d.Installed != "" && d.Source == "" {
		u.line("–", "this is the installed build itself; run the new one to compare with it")
	}
	for _, f := range d.Files {
		text := f.Name + ": " + f.State
		if f.Target != "" {
			text += ", link to " + f.Target
		}
		switch f.State {
		case setup.DriftSame:
			u.line("✓", "%s", text)
		case setup.DriftUpstream, setup.DriftNew:
			u.line("⚠", "%s; agent-setup update --apply installs it", text)
		default:
			u.line("✗", "%s (%s)", text, f.Path)
		}
	}
	for _, n := range d.Notes {
		u.line("⚠", "%s", n)
	}
	u.head("settings")
	if !d.Compared {
		u.line("–", "not compared: nothing is installed, or the programs are not beside this one")
		return
	}
	if d.Wiring == "" {
		u.line("✓", "hooks and status line are as this build wires them")
		return
	}
	u.line("⚠", "this build would wire them otherwise; agent-setup update --apply makes this change:")
	u.printf("%s", d.Wiring)
}

// project shows what the template would add to the project's settings.
func (u *updater) project(w *doctor.World) {
	root := w.Start
	if w.InRepo && w.Repo.Root != "" {
		root = w.Repo.Root
	}
	file := filepath.Join(root, ".claude", "settings.json")
	if _, err := os.Stat(file); err != nil {
		u.line("–", "the project has no settings of its own; agent-setup project writes them")
		return
	}
	var diff strings.Builder
	o := setup.ProjectOptions{Options: u.o.Options, Project: root, Diff: true}
	o.Stdout, o.Stderr, o.Stdin, o.JSON, o.Yes = &diff, io.Discard, strings.NewReader(""), false, false
	err := setup.Project(o)
	u.doc.Template = diff.String()
	switch {
	case err == nil:
		u.line("✓", "the project's settings hold what this build's template has")
	case diff.Len() == 0:
		u.line("⚠", "the project's settings: %v", err)
	default:
		u.drift = true
		u.line("⚠", "this build's template has more for the project: agent-setup project --diff shows it, agent-setup project adds it")
	}
}

func (u *updater) directories(ctx context.Context, w *doctor.World) {
	probes, err := chooseProbes([]string{"working-dirs"})
	if err != nil {
		panic(err)
	}
	u.doc.Directories = doctor.Run(ctx, w, probes)
	u.head("directories")
	for _, r := range u.doc.Directories {
		u.line(string(r.Status), "%s", r.Evidence)
		u.drift = u.drift || r.Status == doctor.Warn
	}
}

func (u *updater) tools(ctx context.Context, tools []pins.Tool) []pins.State {
	states := pins.Check(ctx, tools, runtime.GOOS, u.p.Environ, u.p.Getenv)
	u.head("tools")
	o := u.o.Options
	q := *u.p
	q.Stdout, o.JSON = u.out, false
	c := toolsReport{p: &q, o: o, states: states, offline: u.offline, indent: "  "}
	c.table()
	bad := slices.DeleteFunc(slices.Clone(states), func(s pins.State) bool { return s.Status != pins.Mismatch && s.Status != pins.Below })
	if len(bad) > 0 {
		u.printf("  for you to run:\n")
		(&toolsReport{p: &q, o: o, states: bad, offline: u.offline, indent: "    "}).install()
	}
	for _, s := range states {
		u.doc.Tools = append(u.doc.Tools, toolRow{s.Tool.Name, s.Tool.Wanted(), s.Installed, string(s.Status), s.Note})
	}
	return states
}

func (u *updater) checkouts(ctx context.Context, layers []pins.Layer, home string) error {
	list, err := pins.Checkouts(layers)
	if err != nil {
		return unusable(err)
	}
	u.doc.Checkouts = []pins.CheckoutState{}
	if len(list) > 0 {
		u.head("checkouts")
	}
	for _, c := range list {
		s := c.Look(ctx, home, u.offline, u.p.Environ, u.p.Getenv)
		for i := range s.New {
			s.New[i] = term.Clean(s.New[i], 120)
		}
		s.Note = term.Clean(s.Note, 300)
		u.doc.Checkouts = append(u.doc.Checkouts, s)
		note := s.Note
		if note != "" {
			note = " (" + note + ")"
		}
		switch {
		case s.Behind < 0:
			u.line("⚠", "%s%s", c.Name, note)
		case s.Behind == 0:
			u.line("✓", "%s: up to date with origin/%s%s", c.Name, c.Branch, note)
		default:
			u.drift = true
			u.line("⚠", "%s: %d commits behind origin/%s%s", c.Name, s.Behind, c.Branch, note)
			for _, subject := range s.New {
				u.printf("      %q\n", subject)
			}
			u.printf("      git -C %s merge --ff-only origin/%s\n", quoteWord(c.Path), quoteWord(c.Branch))
		}
	}
	return nil
}

// quoteWord makes a word for a shell; "~/" in front stays what it means.
func quoteWord(s string) string {
	s = term.Clean(s, 0)
	prefix := ""
	if rest, ok := strings.CutPrefix(s, "~/"); ok {
		prefix, s = "~/", rest
	}
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-") == "" {
		return prefix + s
	}
	return prefix + "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// record notes that somebody looked; where it cannot be written, as in the
// sandbox, that is said and nothing else.
func (u *updater) record(canaries map[string]string) {
	r := newReminder(u.p)
	members := r.record()
	if len(canaries) > 0 {
		members["canaries"] = canaries
	}
	err := r.write(members)
	u.doc.Recorded = err == nil
	var exit *cli.ExitError
	if errors.As(err, &exit) {
		u.line("⚠", "this look is not remembered: %v", exit.Err)
	}
}
