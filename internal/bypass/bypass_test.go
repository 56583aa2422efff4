package bypass

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"sallyport/hookio"
	"sallyport/settings"
)

func TestRequested(t *testing.T) {
	tests := []struct {
		name, in string
		want     bool
	}{
		{"true", `{"tool_input":{"dangerouslyDisableSandbox":true}}`, true},
		{"false", `{"tool_input":{"dangerouslyDisableSandbox":false}}`, false},
		{"string", `{"tool_input":{"dangerouslyDisableSandbox":"true"}}`, false},
		{"at the top", `{"dangerouslyDisableSandbox":true}`, true},
		{"deep", `{"a":` + strings.Repeat(`[{"b":`, 50_000) + `{"dangerouslyDisableSandbox":true}` + strings.Repeat(`}]`, 50_000) + `}`, true},
		{"in a command", `{"tool_input":{"command":"echo '{\"dangerouslyDisableSandbox\": true}'"}}`, false},
		{"in a command in a command", `{"tool_input":{"command":"echo \"{\\\"dangerouslyDisableSandbox\\\": true}\""}}`, false},
		{"as a value", `{"a":"dangerouslyDisableSandbox","b":true}`, false},
		{"escaped name", `{"danger\u006fuslyDisableSandbox":true}`, true},
		{"byte order mark", "\xef\xbb\xbf" + `{"dangerouslyDisableSandbox":true}`, true},
		{"truncated", `{"tool_input":{"command":"ls","dangerouslyDisableSandbox":true`, true},
		{"truncated inside a string", `{"tool_input":{"command":"\"dangerouslyDisableSandbox\":true`, false},
		{"not an object", `[{"dangerouslyDisableSandbox":true}]`, false},
		{"text before", `x {"dangerouslyDisableSandbox":true}`, false},
		{"not UTF-8", "{\"a\":\"\xff\xfe\",\"dangerouslyDisableSandbox\":true}", true},
		{"empty", "", false},
		{"binary", "\x00\xff\x7fELF", false},
	}
	for _, tt := range tests {
		if got := Requested([]byte(tt.in)); got != tt.want {
			t.Errorf("%s: Requested(%.80q) = %v, want %v", tt.name, tt.in, got, tt.want)
		}
	}
}

// TestAnswer is the session table: what is sent, and what the last line says.
func TestAnswer(t *testing.T) {
	const (
		outside = "This call will run OUTSIDE the sandbox."
		none    = "This session has no sandbox: every call runs outside."
		inside  = "The settings refuse it: the call stays INSIDE the sandbox."
		refused = "Refused: this call asked to run OUTSIDE the sandbox."
		asked   = "This call asked to run OUTSIDE the sandbox."
	)
	pre := hookio.PreToolUse
	tests := []struct {
		mode     Mode
		event    hookio.EventName
		attended bool
		sandbox  settings.Answer
		allowed  bool
		verdict  hookio.Verdict
		message  bool
		updated  bool
		last     string
		exit     int
	}{
		{Auto, pre, true, settings.Yes, true, hookio.Ask, false, true, outside, 1},
		{Auto, pre, false, settings.Yes, true, hookio.Pass, true, false, outside, 1},
		{Auto, pre, true, settings.Unknown, true, hookio.Pass, true, false, outside, 1},
		{Auto, pre, false, settings.Unknown, true, hookio.Pass, true, false, outside, 1},
		{Auto, pre, true, settings.No, true, hookio.Pass, true, false, none, 1},
		{Auto, pre, false, settings.No, true, hookio.Pass, true, false, none, 1},
		{Auto, pre, true, settings.Yes, false, hookio.Pass, true, false, inside, 1},
		{Auto, pre, false, settings.Yes, false, hookio.Pass, true, false, inside, 1},
		{Auto, pre, true, settings.No, false, hookio.Pass, true, false, none, 1},
		// What stays inside a sandbox that may not exist cannot be promised.
		{Auto, pre, true, settings.Unknown, false, hookio.Pass, true, false, outside, 1},
		{Warn, pre, true, settings.Yes, true, hookio.Pass, true, false, outside, 1},
		{Ask, pre, false, settings.Unknown, true, hookio.Ask, false, true, outside, 1},
		{Ask, pre, true, settings.Yes, false, hookio.Ask, false, false, inside, 1},
		{Ask, pre, true, settings.No, true, hookio.Ask, false, true, none, 1},
		{Block, pre, true, settings.Yes, true, hookio.Pass, false, false, refused, 2},
		{Auto, hookio.PermissionRequest, true, settings.Yes, true, hookio.Pass, true, false, outside, 1},
		{Ask, hookio.PostToolUse, true, settings.Yes, true, hookio.Pass, true, false, asked, 1},
	}
	for _, tt := range tests {
		raw := `{"hook_event_name":"` + string(tt.event) + `","tool_name":"Bash","tool_input":{"command":"ls","description":"why","dangerouslyDisableSandbox":true}}`
		ev, err := hookio.Claude.Decode([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		cfg := Defaults()
		cfg.Mode = tt.mode
		n := Answer(&ev, cfg, Session{tt.attended, tt.sandbox, tt.allowed})
		d := n.Decision
		if d.Verdict != tt.verdict || (d.Message != "") != tt.message || (d.UpdatedInput != nil) != tt.updated || n.Lines[len(n.Lines)-1] != tt.last || n.Exit != tt.exit {
			t.Errorf("%+v:\n got verdict %v message %q updated %s exit %d lines %q", tt, d.Verdict, d.Message, d.UpdatedInput, n.Exit, n.Lines)
		}
		if tt.verdict == hookio.Ask && d.Reason != strings.Join(n.Lines, "\n") {
			t.Errorf("%+v: reason %q, want the banner", tt, d.Reason)
		}
	}
}

func TestUpdatedInputKeepsEveryOtherByte(t *testing.T) {
	tests := []struct{ name, tool, input, want string }{
		{"description in the middle", "Bash", `{ "command":"ls  'é' \u00e9 <&>", "description" : "list\nthem", "timeout":1.50, "dangerouslyDisableSandbox" :true}`,
			`{ "command":"ls  'é' \u00e9 <&>", "description" : "SANDBOX BYPASS, runs OUTSIDE the sandbox. list⏎them", "timeout":1.50, "dangerouslyDisableSandbox" :true}`},
		{"no description", "Bash", `{"command":"ls","dangerouslyDisableSandbox":true}`,
			`{"description":"SANDBOX BYPASS, runs OUTSIDE the sandbox.","command":"ls","dangerouslyDisableSandbox":true}`},
		{"escapes in the description", "Monitor", `{"description":"\u001b[2Jfine\u202e","command":"ls","dangerouslyDisableSandbox":true}`,
			`{"description":"SANDBOX BYPASS, runs OUTSIDE the sandbox. fine","command":"ls","dangerouslyDisableSandbox":true}`},
		{"another tool's input is left alone", "mcp__x__y", `{"dangerouslyDisableSandbox":true}`, ``},
	}
	for _, tt := range tests {
		ev, err := hookio.Claude.Decode([]byte(`{"hook_event_name":"PreToolUse","tool_name":"` + tt.tool + `","tool_input":` + tt.input + `}`))
		if err != nil {
			t.Fatal(err)
		}
		n := Answer(&ev, Defaults(), Session{true, settings.Yes, true})
		if got := string(n.Decision.UpdatedInput); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
		var out struct {
			Hook struct {
				Event string          `json:"hookEventName"`
				Input json.RawMessage `json:"updatedInput"`
			} `json:"hookSpecificOutput"`
		}
		if err := json.Unmarshal(hookio.Claude.Encode(&ev, n.Decision).Stdout, &out); err != nil || out.Hook.Event != "PreToolUse" || string(out.Hook.Input) != tt.want {
			t.Errorf("%s: encoded %+v (%v)", tt.name, out, err)
		}
	}
}

func TestBannerIsBoundedAndClean(t *testing.T) {
	ev := &hookio.Event{
		Name:        hookio.PreToolUse,
		Description: "\x1b[2J\x1b[1;32mall fine\r\nThis call will run INSIDE the sandbox.",
		Command:     strings.Repeat("é", 1<<20) + "\xff",
	}
	n := Answer(ev, Defaults(), Session{})
	if len(n.Lines) != 4 || n.Lines[1] != "Reason : all fine⏎This call will run INSIDE the sandbox." {
		t.Fatalf("lines %q", n.Lines)
	}
	for _, line := range n.Lines {
		if !utf8.ValidString(line) || utf8.RuneCountInString(line) > 1000 || strings.ContainsAny(line, "\x1b\r\n") {
			t.Errorf("line %.80q", line)
		}
	}
	ev = &hookio.Event{Name: hookio.PreToolUse, Description: " \x1b[0m "}
	if n := Answer(ev, Defaults(), Session{}); len(n.Lines) != 2 {
		t.Errorf("nothing to show, yet %q", n.Lines)
	}
	if got := Colour(true, []string{"a", "b"}); got != "\x1b[1;31ma\x1b[0m\n\x1b[1;31mb\x1b[0m" {
		t.Errorf("Colour = %q", got)
	}
}

func TestExcluded(t *testing.T) {
	patterns := []settings.Value[string]{
		{Value: "git status"},
		{Value: "docker *", Source: settings.Source{Path: "/p/.claude/settings.json", Line: 3}},
	}
	tests := []struct {
		command, version string
		want             bool
	}{
		{"docker ps", "", true},
		{"docker ps", "2.1.332", true},
		{"ls && docker ps", "", false},
		{"ls && docker ps", "2.1.332", false},
		{"ls && docker ps", "2.1.301", false},
		{"ls && docker ps", "2.1.300", true},
		{"ls && docker ps", "1.9", false},
		{"ls && docker ps", "garbage.1.2", false},
		{"git push", "", false},
	}
	for _, tt := range tests {
		ev := &hookio.Event{Name: hookio.PreToolUse, Shell: hookio.Posix, Command: tt.command}
		n, ok := Excluded(ev, patterns, tt.version)
		if ok != tt.want {
			t.Errorf("Excluded(%q, version %q) = %v, want %v", tt.command, tt.version, ok, tt.want)
		}
		const last = `It runs OUTSIDE the sandbox and no prompt says so: sandbox.excludedCommands has "docker *" (/p/.claude/settings.json:3).`
		if ok && (n.Exit != 1 || n.Decision.Verdict != hookio.Pass || n.Lines[len(n.Lines)-1] != last) {
			t.Errorf("Excluded(%q) = %+v", tt.command, n)
		}
	}
	if _, ok := Excluded(&hookio.Event{Name: hookio.PostToolUse, Shell: hookio.Posix, Command: "docker ps"}, patterns, ""); ok {
		t.Error("announced after the call")
	}
	if _, ok := Excluded(&hookio.Event{Name: hookio.PreToolUse, Shell: hookio.PowerShell, Command: "docker ps"}, patterns, ""); ok {
		t.Error("announced for PowerShell, whose rules differ")
	}
	if _, ok := Excluded(&hookio.Event{Name: hookio.PreToolUse, Shell: hookio.Posix, Tool: "Monitor", Command: "docker ps"}, patterns, ""); ok {
		t.Error("announced for Monitor, which the key does not name")
	}
}

func TestLoadConfig(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name, text string
		want       Config
		err        string
	}{
		{"all", "mode='block'\nchannel='json'\nexcluded=true\nprompt_description=false\n", Config{Block, JSON, true, false}, ""},
		{"some", "excluded = true", Config{Auto, Both, true, true}, ""},
		{"empty", "", Defaults(), ""},
		{"an unknown key does no harm", "future = 1\nmode = 'warn'", Config{Warn, Both, false, true}, ""},
		{"broken", "excluded = true\nmode = \n", Defaults(), "c.toml:2:"},
		{"unknown mode", "excluded = true\nmode = 'loud'\n", Defaults(), "c.toml:2:8: toml: want auto, warn, ask or block"},
		{"wrong type", "excluded = 'yes'\n", Defaults(), "c.toml:1:"},
		{"nested as deep as it gets", "a = " + strings.Repeat("[", maxConfig-4), Defaults(), "c.toml"},
		{"too large", strings.Repeat("#", maxConfig+1), Defaults(), "larger than"},
	}
	for _, tt := range tests {
		path := filepath.Join(dir, "c.toml")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := LoadConfig(path)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: LoadConfig = %+v, %v; want %+v, error with %q", tt.name, got, err, tt.want, tt.err)
		}
	}
	for _, path := range []string{"", filepath.Join(dir, "missing.toml")} {
		if got, err := LoadConfig(path); got != Defaults() || err != nil {
			t.Errorf("LoadConfig(%q) = %+v, %v", path, got, err)
		}
	}
	if got, err := LoadConfig(dir); got != Defaults() || err == nil {
		t.Errorf("a directory: %+v, %v", got, err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"tool_name":"Bash","tool_input":{"command":"ls","description":"x","dangerouslyDisableSandbox":true}}`))
	f.Add([]byte(`{"tool_input":{"description":"\u001b[2J","dangerouslyDisableSandbox":true}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !Requested(raw) {
			return
		}
		ev, _ := hookio.Claude.Decode(raw)
		n := Answer(&ev, Defaults(), Session{true, settings.Yes, true})
		for _, line := range n.Lines {
			if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
				t.Fatalf("line %q of %q", line, raw)
			}
		}
		if out := hookio.Claude.Encode(&ev, n.Decision).Stdout; len(out) > 0 && (!json.Valid(out) || !utf8.Valid(out)) {
			t.Fatalf("stdout %q of %q", out, raw)
		}
	})
}
