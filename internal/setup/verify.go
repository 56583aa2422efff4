package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sallyport/internal/term"
	"sallyport/settings"
)

// A check is one row of the table that ends an installation.
type check struct {
	Mark     string `json:"mark"`
	What     string `json:"what"`
	Evidence string `json:"evidence"`
}

const (
	markPass = "✓"
	markFail = "✗"
	markWarn = "⚠"
)

// verify looks at the disk again, not at the plan.
func (i *installer) verify(w *wiring, m *manifest, settingsFile, rcFile string, notes []note) []check {
	var checks []check
	add := func(mark, what, format string, args ...any) {
		checks = append(checks, check{mark, what, fmt.Sprintf(format, args...)})
	}
	for _, name := range programs(w.Components) {
		b := m.Binaries[name]
		line, err := startVersion(b.Path, i.w.environ)
		switch {
		case err != nil:
			add(markFail, name, "%s does not start: %v", i.w.short(b.Path), err)
		case !b.holds():
			add(markFail, name, "%s is not the file that was installed", i.w.short(b.Path))
		case b.Link:
			add(markPass, name, "%s, link to %s", line, i.w.short(b.Target))
		default:
			add(markPass, name, "%s, sha256 %s", line, b.SHA256[:8])
		}
	}
	for _, c := range w.Components {
		var broken []string
		for _, name := range c.Links {
			if !m.Binaries[name].holds() {
				broken = append(broken, name)
			}
		}
		switch {
		case len(broken) > 0:
			add(markFail, "links", "%s do not lead to %s", strings.Join(broken, ", "), c.Program)
		case len(c.Links) > 0:
			add(markPass, "links", "%s start %s", strings.Join(c.Links, ", "), c.Program)
		}
	}
	doc, _, _, err := i.readSettings(settingsFile)
	var root settings.Node
	if err == nil {
		root, err = parseSettings(settingsFile, doc)
	}
	var events map[string][]hookGroup
	if err == nil {
		events, err = readHooks(settingsFile, root)
	}
	if err != nil {
		add(markFail, "settings", "%v", err)
	} else {
		i.verifyHooks(add, w, events, root)
	}
	off := i.hooksOff()
	for _, source := range off {
		add(markFail, "hooks", "wired but will not run: %s", source)
	}
	if len(off) == 0 {
		add(markPass, "hooks", "nothing in the user's or managed settings keeps them from running")
	}
	if rcFile != "" {
		text, _ := os.ReadFile(rcFile)
		if _, found, err := findBlock(rcFile, string(text)); err != nil || !found {
			add(markFail, "shell", "%s lacks the block", i.w.short(rcFile))
		} else {
			add(markPass, "shell", "%s puts %s on PATH in new shells", i.w.short(rcFile), i.w.short(m.Prefix))
		}
	}
	for _, n := range notes {
		if n.Warn {
			add(markWarn, "note", "%s", n.Text)
		}
	}
	return checks
}

func (i *installer) verifyHooks(add func(mark, what, format string, args ...any), w *wiring, events map[string][]hookGroup, root settings.Node) {
	skip := map[string]bool{}
	if guardPlugin(root) != "" {
		skip["agent-guard"] = true
	}
	for _, r := range w.rows(skip, events) {
		want := r.matcher(w.Seed)
		label := r.Event
		if want != "" {
			label += " " + want
		}
		found := false
		for _, g := range events[r.Event] {
			for _, e := range g.entries {
				if _, ok := e.inv.runs(r.Component, r.Args); !found && e.ok && ok && shareTools(g.matcher, want) {
					found = true
					switch {
					case !coversTools(g.matcher, want):
						add(markWarn, "hook", "%s: %s at %s sees %s only", label, r.Component, pointer(e.path), g.matcher)
					default:
						add(markPass, "hook", "%s: %s at %s", label, r.Component, pointer(e.path))
					}
				}
			}
		}
		if !found {
			add(markFail, "hook", "%s: %s is not in the settings", label, r.Component)
		}
	}
	if !slices.ContainsFunc(w.Components, func(c Component) bool { return c.StatusLine }) {
		return
	}
	inv, ok := parseInvocation(root.Get("statusLine"))
	switch _, ours := inv.runs("status-line", nil); {
	case ok && ours && !inv.within:
		add(markPass, "statusLine", "runs %s", inv.program)
	case root.Get("statusLine").Kind() == settings.Object: // a note says so
	default:
		add(markFail, "statusLine", "is not in the settings")
	}
}

// hooksOff lists what keeps the client from running hooks of the user's file.
func (i *installer) hooksOff() []string {
	env := settings.OSEnv(i.w.getenv)
	if i.managedDir != "" {
		env.ManagedDir = i.managedDir
	}
	// No project is asked about: the home directory has no settings but the user's.
	session := settings.Session{Start: i.w.home}
	if i.client.known() {
		session.Version = i.client.String()
	}
	return hooksOff(settings.Load(session, env))
}

func hooksOff(stack *settings.Stack) (reasons []string) {
	if v := stack.Bool("disableAllHooks"); v.Value {
		reasons = append(reasons, fmt.Sprintf("disableAllHooks is true in %s", v.Source))
	}
	for _, v := range stack.All("allowManagedHooksOnly") {
		// The client takes anything but false for true.
		if on, ok := v.Value.Bool(); v.Source.Scope == settings.Managed && (on || !ok) {
			reasons = append(reasons, fmt.Sprintf("allowManagedHooksOnly is set in %s", v.Source))
		}
	}
	for _, v := range stack.List("strictPluginOnlyCustomization") {
		if v.Value == "hooks" {
			reasons = append(reasons, fmt.Sprintf("strictPluginOnlyCustomization names hooks in %s", v.Source))
		}
	}
	return reasons
}

// startVersion runs a program's --version and returns its first line.
func startVersion(path string, environ []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = environ
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		err = errors.New("no answer in 5 s")
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return term.Clean(first, 120), err
}

// preview draws the status line of a session in the working directory with the
// program that was just installed.
func (i *installer) preview(path string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	payload := `{"model":{"display_name":"Claude"},"workspace":{"current_dir":` + jsonText(i.Dir) + `,"project_dir":` + jsonText(i.Dir) + `}}`
	cmd := exec.CommandContext(ctx, path)
	// Its cache is not wanted from a look: a second install changes nothing.
	cmd.Env = append(slices.Clone(i.w.environ), "XDG_CACHE_HOME="+filepath.Join(os.DevNull, "none"))
	if !i.Color {
		cmd.Env = append(cmd.Env, "NO_COLOR=1")
	}
	if info, err := os.Stat(i.Dir); err == nil && info.IsDir() {
		cmd.Dir = i.Dir
	} else {
		cmd.Dir = filepath.Dir(path)
	}
	cmd.Stdin = strings.NewReader(payload)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(bytes.TrimRight(out, "\n"))
}
