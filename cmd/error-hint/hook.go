package main

import (
	"path/filepath"
	"strings"
	"time"

	"sallyport/hookio"
	"sallyport/internal/cli"
	"sallyport/internal/dirs"
	"sallyport/internal/hints"
	"sallyport/internal/term"
	"sallyport/settings"
)

// A world is the machine and person that a run speaks to.
type world struct {
	*cli.Process
	goos     string
	userFile string // the user settings file as a person writes it
	ownDir   string // of the person's own catalogue files, may be empty
	seen     hints.Seen
}

func newWorld(p *cli.Process, goos string) *world {
	w := &world{Process: p, goos: goos, userFile: "~/.claude/settings.json"}
	if p.Getenv("CLAUDE_CONFIG_DIR") != "" {
		w.userFile = "$CLAUDE_CONFIG_DIR/settings.json"
	}
	if dir := dirs.Config(p.Getenv); dir != "" {
		w.ownDir = filepath.Join(dir, "hints.d")
	}
	if dir := dirs.Cache(p.Getenv); dir != "" {
		w.seen.Dir = filepath.Join(dir, "hints")
	}
	return w
}

// hook answers one event.
func (w *world) hook(colour term.Color) int {
	raw, err := hookio.ReadInput(w.Stdin)
	if err != nil {
		w.Debugf("input: %v", err)
		return hookio.ExitPass
	}
	ev, err := hookio.Claude.Decode(raw)
	if err != nil {
		w.Debugf("input: %v", err)
		return hookio.ExitPass
	}
	text, quotable, why := searched(&ev)
	if text == "" {
		w.Debugf("nothing to search: %s", why)
		return hookio.ExitPass
	}
	catalogue := hints.Load(w.ownDir)
	for _, problem := range catalogue.Problems {
		w.Debugf("%v", problem)
	}
	found := hints.Scan(text, hints.OnPlatform(catalogue.Entries, w.goos))
	found = hints.NotQuoted(found, text, quotable, ev.Command)
	if len(found) == 0 {
		return hookio.ExitPass
	}
	h := hints.Select(text, found, func() hints.Sandbox { return w.sandbox(ev.Dir) })
	if h == nil {
		w.Debugf("%s matches, but its gate is closed", found[0].Entry.ID)
		return hookio.ExitPass
	}
	if !w.seen.Claim(ev.SessionID, h.Entry.ID, time.Now()) {
		w.Debugf("%s was shown a short while ago", h.Entry.ID)
		return hookio.ExitPass
	}
	// The client draws colours in a pipe; a person who tries the hook by hand
	// does not want to read its JSON.
	if !term.IsTerminal(w.Stdout) {
		reply := hookio.Claude.Encode(&ev, hookio.Decision{
			Message: strings.TrimSuffix(h.Text(w.userFile, false), "\n"),
			Context: h.ModelText(w.userFile),
		})
		w.Stdout.Write(reply.Stdout)
	}
	w.Stderr.Write([]byte(h.Text(w.userFile, colour.Enabled(w.Stderr, w.Getenv))))
	return hookio.ExitShow
}

// searched returns the text of an event that may hold a sandbox's doing. Its
// first quotable bytes are what a call that succeeded printed, and may repeat
// the command's own words. Where nothing, or not all that was printed, is
// searched, why says so.
func searched(ev *hookio.Event) (text string, quotable int, why string) {
	switch {
	case ev.Name != hookio.PostToolUse && ev.Name != hookio.PostToolUseFailure:
		return "", 0, "the event is " + string(ev.Name) + ", not the end of a call"
	case ev.Shell == hookio.NotShell:
		return "", 0, "the tool is not a shell"
	case ev.DisableSandbox:
		return "", 0, "the call ran outside the sandbox"
	}
	out := &ev.Output
	switch {
	case ev.Name == hookio.PostToolUseFailure:
		text = hints.Text(out.Stdout, out.Stderr, out.Text, out.Error)
	case showsText(ev):
		text = hints.Text(out.Stderr, out.Error)
		why = "the command shows a text and succeeded: its stdout is not searched"
	default:
		shown := hints.Text(out.Stdout, out.Text)
		text = hints.Text(shown, out.Stderr, out.Error)
		quotable = len(shown)
	}
	return text, quotable, why
}

func showsText(ev *hookio.Event) bool {
	if ev.Shell == hookio.PowerShell {
		return hints.ShowsTextPowerShell(ev.Command)
	}
	return hints.ShowsText(ev.Command)
}

// sandbox asks the settings whether the session is sandboxed.
func (w *world) sandbox(dir string) hints.Sandbox {
	if dir == "" {
		dir = w.Dir()
	}
	env := settings.OSEnv(w.Getenv)
	switch settings.Load(settings.HookSession(env, "", dir, ""), env).Sandboxed() {
	case settings.Yes:
		return hints.SandboxOn
	case settings.No:
		return hints.SandboxOff
	}
	return hints.SandboxUnknown
}
