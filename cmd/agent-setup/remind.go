package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sallyport/internal/cli"
	"sallyport/internal/dirs"
	"sallyport/internal/gitdir"
	"sallyport/internal/pins"
	"sallyport/internal/remind"
	"sallyport/internal/setup"
	"sallyport/internal/term"
	"sallyport/settings"
)

const remindUsage = `agent-setup remind suggests an update check once in a while.

Usage:
  agent-setup remind --hook          what the client runs when a session starts
  agent-setup remind status          what is remembered, and what would be said
  agent-setup remind snooze 30d      nothing for that long
  agent-setup remind off | on        nothing ever, or again
  agent-setup remind record-update   note that you looked

The hook speaks where the suite is used: it was installed, or the project turns
the sandbox on. It says at most two lines, in a message for you and not for the
model: once when this build is not the one of the last update check, and when
the last check is update_interval_days ago (default 7, 0 for never), a number in
.sallyport-local/config.toml or .sallyport/config.toml of the project. It asks
no network, starts nothing, and is silent on any trouble.

State: ~/.local/state/sallyport/remind.json, and .sallyport-local/remind.json of
the project if that directory is there. "enabled": false in either silences it.

Wiring (agent-setup install does it):
  "SessionStart": [{"hooks": [{"type": "command",
    "command": "~/.claude/scripts/agent-setup remind --hook", "timeout": 5}]}]

Also: --home DIR, --project DIR, --json, --quiet, --no-color.

Exit codes: the hook always 0; else 0 done; 2 a state file cannot be used, the
message says where; 3 it cannot be written; 64 usage.
`

func runRemind(p *cli.Process, args []string) error {
	var o setup.Options
	fs := cli.NewFlags("remind")
	globals(fs, &o)
	project := fs.String("project", "", "")
	hook := fs.Bool("hook", false, "")
	operands, err := cli.Parse(fs, args)
	if err != nil {
		return suggest(fs, err)
	}
	if *hook {
		// Nothing that happens here may reach the session.
		p.Guarded(func() int { remindHook(p, *project); return 0 })
		return nil
	}
	what := "status"
	if len(operands) > 0 {
		what, operands = operands[0], operands[1:]
	}
	if p, err = elsewhere(p, o.Home, *project); err != nil {
		return err
	}
	r := newReminder(p)
	if what != "snooze" && len(operands) > 0 {
		return cli.Usagef("unexpected operand %q", operands[0])
	}
	members := map[string]any{}
	done := ""
	switch what {
	case "status":
		return r.status(p, o)
	case "record-update":
		members = r.record()
		done = "noted: looked at today"
	case "off", "on":
		members["enabled"] = what == "on"
		done = "reminders are " + what
	case "snooze":
		if len(operands) != 1 {
			return cli.Usagef("snooze takes one time, such as 30d")
		}
		days, err := snoozeDays(operands[0])
		if err != nil {
			return err
		}
		members["snoozed_until"] = r.now.AddDate(0, 0, days).Format(time.DateOnly)
		done = "quiet until " + members["snoozed_until"].(string)
	default:
		return cli.Usagef("unknown command %q; did you mean %q?", what, setup.Nearest(what, []string{"status", "snooze", "record-update", "on", "off"}))
	}
	if o.DryRun {
		return nil
	}
	if err := r.write(members); err != nil {
		return err
	}
	if !o.Quiet && !o.JSON {
		fmt.Fprintln(p.Stdout, done)
	}
	return nil
}

func snoozeDays(text string) (int, error) {
	number, ok := strings.CutSuffix(text, "d")
	factor := 1
	if !ok {
		if number, ok = strings.CutSuffix(text, "w"); ok {
			factor = 7
		}
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > 3650 {
		return 0, cli.Usagef("%q is not a time; want days or weeks, such as 30d or 2w", text)
	}
	return n * factor, nil
}

// A reminder is the states that count for a directory.
type reminder struct {
	now                  time.Time
	root                 string
	machineFile          string
	projectFile          string // empty if the project keeps none
	installed            bool
	sandboxed            func() bool
	fingerprint          string
	machine, project     remind.State
	machineErr, stateErr error
}

func newReminder(p *cli.Process) *reminder {
	state := dirs.State(p.Getenv)
	r := &reminder{now: clock(p), root: p.Dir(), machineFile: remind.MachineFile(state), fingerprint: fingerprint()}
	if repo, ok := gitdir.Find(p.Dir(), p.Getenv); ok && repo.Root != "" {
		r.root = repo.Root
	}
	// Not through a link: a repository may bring one that leads anywhere.
	if info, err := os.Lstat(filepath.Join(r.root, ".sallyport-local")); err == nil && info.IsDir() {
		r.projectFile = remind.ProjectFile(r.root)
	}
	_, err := os.Lstat(filepath.Join(state, "installed.json"))
	r.installed = err == nil
	r.sandboxed = func() bool {
		env := settings.OSEnv(p.Getenv)
		return settings.Load(settings.Session{Start: p.Dir()}, env).Bool("sandbox.enabled").Value
	}
	r.machine, r.machineErr = remind.Read(r.machineFile)
	if r.projectFile != "" {
		r.project, r.stateErr = remind.Read(r.projectFile)
	}
	return r
}

// clock is the time, or what SALLYPORT_NOW says it is.
func clock(p *cli.Process) time.Time {
	if now, err := time.Parse(time.RFC3339, p.Getenv("SALLYPORT_NOW")); err == nil {
		return now.UTC()
	}
	return time.Now().UTC()
}

// fingerprint names this build.
func fingerprint() string {
	return setup.Fingerprint(cli.Version("agent-setup"), map[string][]byte{"pinned-versions.toml": pins.Embedded()})
}

func (r *reminder) decide() (remind.Reason, int, error) {
	interval, problem := remind.Interval(r.root)
	l := remind.Look{Now: r.now, Fingerprint: r.fingerprint, Machine: r.machine, Project: r.project, Interval: interval}
	l.Used = r.installed || r.machine.UpdatedAt != "" || r.project.UpdatedAt != ""
	l.Used = l.Used || r.sandboxed()
	reason, days := remind.Decide(l)
	return reason, days, problem
}

func (r *reminder) record() map[string]any {
	return map[string]any{"fingerprint": r.fingerprint, "updated_at": r.now.Format(time.DateOnly)}
}

func (r *reminder) write(members map[string]any) error {
	err := remind.Write(r.machineFile, members)
	if err == nil && r.projectFile != "" {
		err = remind.Write(r.projectFile, members)
	}
	return err
}

// remindHook says what there is to say, and remembers that it did. What cannot
// be remembered is not said: it would be said in every session.
func remindHook(p *cli.Process, project string) {
	q := *p
	switch dir := p.Getenv("CLAUDE_PROJECT_DIR"); {
	case project != "":
		q.WorkDir = abs(p.Dir(), project)
	case filepath.IsAbs(dir):
		q.WorkDir = dir
	case !term.IsTerminal(p.Stdin):
		const maxEvent = 32 << 20
		data, _ := io.ReadAll(io.LimitReader(p.Stdin, maxEvent))
		if cwd := gjson.GetBytes(data, "cwd"); cwd.Type == gjson.String && filepath.IsAbs(cwd.String()) {
			q.WorkDir = cwd.String()
		}
	}
	if q.Dir() == "" {
		return
	}
	r := newReminder(&q)
	if err := errors.Join(r.machineErr, r.stateErr); err != nil {
		p.Debugf("remind: %v", err)
		return
	}
	reason, days, problem := r.decide()
	if problem != nil {
		p.Debugf("remind: %v", problem)
	}
	if reason == "" {
		return
	}
	members := map[string]any{"reminded_at": r.now.Format(time.DateOnly)}
	if reason == remind.Changed {
		members["acknowledged"] = r.fingerprint
	}
	if err := remind.Write(r.machineFile, members); err != nil {
		p.Debugf("remind: %v", err)
		return
	}
	enc := json.NewEncoder(p.Stdout)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(map[string]string{"systemMessage": remind.Message(reason, days)})
}

func (r *reminder) status(p *cli.Process, o setup.Options) error {
	if r.machineErr != nil {
		return r.machineErr
	}
	if r.stateErr != nil {
		return r.stateErr
	}
	reason, days, problem := r.decide()
	interval, _ := remind.Interval(r.root)
	if o.JSON {
		doc := struct {
			Fingerprint string       `json:"fingerprint"`
			Interval    int          `json:"update_interval_days"`
			Machine     remind.State `json:"machine"`
			Project     remind.State `json:"project"`
			Reason      string       `json:"reason"`
			Problem     string       `json:"problem,omitempty"`
		}{r.fingerprint, interval, r.machine, r.project, string(reason), ""}
		if problem != nil {
			doc.Problem = problem.Error()
		}
		enc := json.NewEncoder(p.Stdout)
		enc.SetEscapeHTML(false)
		return enc.Encode(doc)
	}
	say := func(name, value string) {
		if value == "" {
			value = "never"
		}
		fmt.Fprintf(p.Stdout, "%-16s %s\n", name, term.Clean(value, 200))
	}
	say("this build", r.fingerprint)
	say("last update", max(r.machine.UpdatedAt, r.project.UpdatedAt))
	say("last reminder", max(r.machine.RemindedAt, r.project.RemindedAt))
	if until := max(r.machine.SnoozedUntil, r.project.SnoozedUntil); until > r.now.Format(time.DateOnly) {
		say("quiet until", until)
	}
	every := fmt.Sprintf("%d days", interval)
	if interval == 0 {
		every = "never, but for another build"
	}
	say("every", every)
	if problem != nil {
		fmt.Fprintf(p.Stdout, "⚠ %v\n", problem)
	}
	off := func(s remind.State) bool { return s.Enabled != nil && !*s.Enabled }
	switch {
	case off(r.machine) || off(r.project):
		say("next session", "nothing, reminders are off")
	case reason == "":
		say("next session", "nothing")
	default:
		fmt.Fprintf(p.Stdout, "%-16s %s\n", "next session", strings.ReplaceAll(remind.Message(reason, days), "\n", "\n                 "))
	}
	return nil
}

// recordInstall notes an installation, unless this very build was noted.
func recordInstall(p *cli.Process, home string) {
	p, err := elsewhere(p, home, string(filepath.Separator))
	if err != nil {
		return
	}
	state := dirs.State(p.Getenv)
	if s, err := remind.Read(remind.MachineFile(state)); err != nil || s.Fingerprint == fingerprint() {
		return // a broken file is named by remind status
	}
	members := map[string]any{"fingerprint": fingerprint(), "updated_at": clock(p).Format(time.DateOnly)}
	if err := remind.Write(remind.MachineFile(state), members); err != nil {
		p.Debugf("remind: %v", err)
	}
}
