// Package bypass announces that a call is about to run outside the sandbox.
//
// [Requested] finds the request in an event, [Answer] words it and chooses how
// it reaches a person. Which channel does was observed with the client: its
// stderr and systemMessage are shown only after the command ran; the reason of
// an "ask" is shown in the dialog, unless the client itself asks about the
// bypass, and then only the call's description is; and a command whose every
// part has an allow rule leaves the sandbox with no dialog at all, unless a
// hook asks.
package bypass

import (
	"bytes"
	"strconv"
	"strings"

	"sallyport/hookio"
	"sallyport/internal/bashrule"
	"sallyport/internal/rawjson"
	"sallyport/internal/term"
	"sallyport/settings"
)

const member = "dangerouslyDisableSandbox"

// Requested reports whether a raw event asks to leave the sandbox: a member of
// the client's name for it is true at any depth, as the client may move it.
// Text inside a string does not count. Input that begins like an object and is
// not valid JSON is searched for the member's bytes; no other input counts.
func Requested(raw []byte) bool {
	text := bytes.TrimLeft(rawjson.TrimBOM(raw), " \t\r\n")
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	// The grammar decides only where the words may stand at all.
	if !bytes.Contains(text, []byte(member)) && !bytes.Contains(text, []byte(`\u`)) {
		return false
	}
	return rawjson.HasTrue(text, member, rawjson.Check(text) != rawjson.Invalid)
}

// A Session is what is known of the session that a call belongs to.
type Session struct {
	Attended      bool            // a person is known to watch it
	Sandbox       settings.Answer // whether it has a sandbox
	BypassAllowed bool            // the client heeds requests to leave it
}

// Bounds of the texts that an agent wrote, in runes. A dialog shows ten lines.
const (
	maxDescription = 400
	maxCommand     = 800
)

// A Notice is what is said about one call.
type Notice struct {
	Lines    []string // the banner, cleaned, without colour
	Decision hookio.Decision
	Exit     int
}

// Answer announces the request of ev to leave the sandbox.
func Answer(ev *hookio.Event, cfg Config, s Session) Notice {
	n := Notice{Exit: hookio.ExitShow}
	n.Lines = banner("!!! SANDBOX BYPASS REQUESTED !!!", ev, last(ev, cfg.Mode, s))
	before := ev.Name == hookio.PreToolUse
	switch {
	case cfg.Mode == Block:
		n.Exit = hookio.ExitBlock
	case before && (cfg.Mode == Ask || cfg.Mode == Auto && s.Attended && s.Sandbox == settings.Yes && s.BypassAllowed):
		n.Decision.Verdict = hookio.Ask
		n.Decision.Reason = strings.Join(n.Lines, "\n")
		// The description would lie about a call that stays inside.
		if cfg.PromptDescription && (s.BypassAllowed || s.Sandbox == settings.No) {
			n.Decision.UpdatedInput = describe(ev)
		}
	default:
		n.Decision.Message = strings.Join(n.Lines, "\n")
	}
	return n
}

// last is the banner's last line: what becomes of the call, as far as that is
// known.
func last(ev *hookio.Event, mode Mode, s Session) string {
	switch {
	case ev.Name == hookio.PostToolUse || ev.Name == hookio.PostToolUseFailure:
		return "This call asked to run OUTSIDE the sandbox."
	case mode == Block:
		return "Refused: this call asked to run OUTSIDE the sandbox."
	case s.Sandbox == settings.No:
		return "This session has no sandbox: every call runs outside."
	case s.Sandbox == settings.Yes && !s.BypassAllowed:
		return "The settings refuse it: the call stays INSIDE the sandbox."
	}
	return "This call will run OUTSIDE the sandbox."
}

func banner(title string, ev *hookio.Event, last string) []string {
	lines := []string{title}
	if s := clean(ev.Description, maxDescription); s != "" {
		lines = append(lines, "Reason : "+s)
	}
	if s := clean(ev.Command, maxCommand); s != "" {
		lines = append(lines, "Command: "+s)
	}
	return append(lines, last)
}

func clean(s string, max int) string { return strings.TrimSpace(term.Clean(s, max)) }

// describe is the tool's input with the warning in its description and every
// other byte kept; nil where there is no description to put it in.
func describe(ev *hookio.Event) []byte {
	if ev.Shell == hookio.NotShell || ev.ToolInput == nil {
		return nil
	}
	text := "SANDBOX BYPASS, runs OUTSIDE the sandbox."
	if old := clean(ev.Description, maxDescription); old != "" {
		text += " " + old
	}
	return rawjson.SetString(ev.ToolInput, "description", text)
}

// Excluded announces a command that leaves the sandbox because a settings file
// excludes it, which no dialog ever shows. version is the client's, empty if it
// is not known. ok is false when the command stays inside, or when that cannot
// be told.
func Excluded(ev *hookio.Event, excluded []settings.Value[string], version string) (n Notice, ok bool) {
	// The sandbox is the Bash tool's; the key says nothing about other tools.
	if ev.Name != hookio.PreToolUse || ev.Shell != hookio.Posix || ev.Tool != "Bash" && ev.Tool != "" {
		return Notice{}, false
	}
	patterns := make([]string, len(excluded))
	for i, v := range excluded {
		patterns[i] = v.Value
	}
	i, ok := bashrule.Excluded(patterns, ev.Command, settings.Session{Version: version}.AtLeast("2.1.301"))
	if !ok {
		return Notice{}, false
	}
	last := "It runs OUTSIDE the sandbox and no prompt says so: sandbox.excludedCommands has " + strconv.Quote(clean(patterns[i], maxDescription))
	if path := clean(excluded[i].Source.Path, maxDescription); path != "" {
		last += " (" + path
		if line := excluded[i].Source.Line; line > 0 {
			last += ":" + strconv.Itoa(line)
		}
		last += ")"
	}
	n = Notice{Exit: hookio.ExitShow, Lines: banner("!!! COMMAND EXCLUDED FROM THE SANDBOX !!!", ev, last+".")}
	n.Decision.Message = strings.Join(n.Lines, "\n")
	return n, true
}

// Colour puts the banner's colour on each of its lines.
func Colour(on bool, lines []string) string {
	coloured := make([]string, len(lines))
	for i, line := range lines {
		coloured[i] = term.Style(on, "1;31", line)
	}
	return strings.Join(coloured, "\n")
}
