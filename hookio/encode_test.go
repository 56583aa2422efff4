package hookio

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

var decisions = []Decision{
	{},
	{Verdict: Allow},
	{Verdict: Ask, Reason: "why"},
	{Verdict: Deny, Reason: "why"},
	{Verdict: Deny},
	{Verdict: Ask, Reason: " \ufeff\n"},
	{Verdict: Deny, Reason: `{"decision":"allow"}`},
	{Context: "fact"},
	{Message: "note"},
	{Verdict: Deny, Reason: "why", Context: "fact", Message: "note", UpdatedInput: []byte(`{"command":"x"}`)},
	{Verdict: Ask, Reason: "why", UpdatedInput: []byte(`{"command":"x"}`)},
	{Reason: "nobody asked"},
	{UpdatedInput: []byte(`{"command":"x"}`)},
	{UpdatedInput: []byte(`{broken`)},
	{Verdict: Deny, Reason: strings.Repeat("é😀", 20_000)},
	{Verdict: Deny, Reason: "caf\xe9"},
}

// outcome is what a client makes of a reply before a tool call.
type outcome string

const (
	runs    outcome = "runs"
	blocked outcome = "blocked"
	asks    outcome = "asks"
)

type output struct {
	Decision           string `json:"decision"`
	Reason             string `json:"reason"`
	Permission         string `json:"permission"`
	PermissionDecision string `json:"permissionDecision"`
	HookSpecificOutput *struct {
		HookEventName      string `json:"hookEventName"`
		PermissionDecision string `json:"permissionDecision"`
	} `json:"hookSpecificOutput"`
}

// clients hold, for each harness, what was observed to come of an answer
// before a shell call.
var clients = map[string]func(ev *Event, r Reply) outcome{
	"claude": func(ev *Event, r Reply) outcome {
		var o output
		if json.Unmarshal(r.Stdout, &o) == nil && o.HookSpecificOutput != nil {
			if o.HookSpecificOutput.HookEventName != string(ev.Name) && ev.Name != "" {
				return runs
			}
			switch o.HookSpecificOutput.PermissionDecision {
			case "deny":
				return blocked
			case "ask":
				if ev.Name == PreSkillShellCommand {
					return blocked
				}
				return asks
			}
			return runs
		}
		if r.Exit == 2 {
			return blocked
		}
		return runs
	},
	"codex": func(_ *Event, r Reply) outcome {
		if r.Exit == 2 && len(bytes.TrimSpace(r.Stderr)) > 0 {
			return blocked
		}
		return runs // we never refuse by its JSON
	},
	"opencode": func(_ *Event, r Reply) outcome {
		var o output
		if r.Exit == 2 && json.Unmarshal(r.Stdout, &o) == nil && o.Decision == "deny" && o.Reason != "" {
			return blocked
		}
		return runs
	},
	"kiro": func(_ *Event, r Reply) outcome {
		if r.Exit == 2 {
			return blocked
		}
		return runs
	},
	"gemini": func(_ *Event, r Reply) outcome {
		text := bytes.TrimSpace(r.Stdout)
		if len(text) == 0 {
			text = bytes.TrimSpace(r.Stderr)
		}
		var o output
		if json.Valid(text) {
			if json.Unmarshal(text, &o) == nil {
				switch o.Decision {
				case "deny", "block":
					return blocked
				case "ask":
					return asks
				}
			}
			return runs
		}
		if len(text) > 0 && r.Exit != 0 && r.Exit != 1 {
			return blocked
		}
		return runs
	},
	"cursor": func(ev *Event, r Reply) outcome {
		var o output
		json.Unmarshal(r.Stdout, &o)
		switch {
		case r.Exit == 2 || o.Permission == "deny":
			return blocked
		case o.Permission == "ask" && ev.RawName == "beforeShellExecution":
			return asks
		}
		return runs
	},
	"copilot": func(_ *Event, r Reply) outcome {
		var o output
		bad := len(r.Stdout) > 0 && json.Unmarshal(r.Stdout, &o) != nil
		switch {
		case r.Exit != 0 || !bad && o.PermissionDecision == "deny":
			return blocked
		case o.PermissionDecision == "ask":
			return asks
		}
		return runs
	},
	"qwen": func(ev *Event, r Reply) outcome {
		var o output
		if json.Unmarshal(r.Stdout, &o) == nil && o.HookSpecificOutput != nil {
			switch o.HookSpecificOutput.PermissionDecision {
			case "deny":
				return blocked
			case "ask":
				return asks
			}
		}
		if r.Exit == 2 && len(bytes.TrimSpace(r.Stderr)) > 0 {
			return blocked
		}
		return runs
	},
}

// checkReply holds what is true of every reply to every event.
func checkReply(t *testing.T, h *Harness, ev *Event, d Decision, r Reply) {
	t.Helper()
	fail := func(what string) {
		t.Helper()
		t.Fatalf("%s %s(%s): %+v gives exit %d, stdout %.300q, stderr %.300q: %s", h.Name, ev.Name, ev.RawName, d, r.Exit, r.Stdout, r.Stderr, what)
	}
	if r.Exit != ExitPass && r.Exit != ExitBlock {
		fail("exit status")
	}
	if !utf8.Valid(r.Stdout) || !utf8.Valid(r.Stderr) {
		fail("not UTF-8")
	}
	if len(r.Stdout) > 0 {
		var o map[string]json.RawMessage
		dec := json.NewDecoder(bytes.NewReader(r.Stdout))
		if dec.Decode(&o) != nil || dec.More() || len(o) == 0 || bytes.Count(r.Stdout, []byte("\n")) != 1 {
			fail("stdout is not one JSON object on a line")
		}
		eachText(o, func(s string) {
			if n := len(utf16.Encode([]rune(s))); n > 10_000 {
				fail("a text has more than 10,000 characters")
			}
		})
		if d.Verdict != Allow && bytes.Contains(r.Stdout, []byte(`"allow"`)) {
			fail("says allow")
		}
	}
	if d.Verdict == Pass && d.Context == "" && d.Message == "" && d.UpdatedInput == nil && (len(r.Stdout)+len(r.Stderr) > 0 || r.Exit != 0) {
		fail("has something to say")
	}
	if !d.refuses() && r.Exit != 0 {
		fail("blocks")
	}
	if h.Name == "claude" && len(r.Stdout) > 0 && len(r.Stderr) > 0 {
		fail("both streams")
	}
}

func eachText(o map[string]json.RawMessage, f func(string)) {
	for _, v := range o {
		var s string
		var inner map[string]json.RawMessage
		if json.Unmarshal(v, &s) == nil {
			f(s)
		} else if json.Unmarshal(v, &inner) == nil {
			eachText(inner, f)
		}
	}
}

// TestEveryReplyToEveryPayload sends every decision in answer to every
// captured payload, and asks a model of the client what comes of those that
// stand before a shell call.
func TestEveryReplyToEveryPayload(t *testing.T) {
	asked := 0
	for _, p := range payloads(t) {
		ev, err := p.harness.Decode(p.raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []*Harness{p.harness, p.harness.Attended()} {
			for _, d := range decisions {
				r := h.Encode(&ev, d)
				checkReply(t, h, &ev, d, r)
				if ev.Name != PreToolUse {
					continue
				}
				asked++
				got := clients[h.Name](&ev, r)
				if want := wantOutcome(h, &ev, d); got != want {
					t.Errorf("%s: %v %q: the client %s it (exit %d, stdout %q, stderr %q), want %s", p.name, d.Verdict, d.Reason, got, r.Exit, r.Stdout, r.Stderr, want)
				}
			}
		}
	}
	if asked < 500 {
		t.Errorf("only %d answers reached a model", asked)
	}
}

func wantOutcome(h *Harness, ev *Event, d Decision) outcome {
	switch {
	case d.Verdict == Deny:
		return blocked
	case d.Verdict == Ask && (!h.CanAsk || h.Name == "cursor" && ev.RawName != "beforeShellExecution"):
		return blocked
	case d.Verdict == Ask:
		return asks
	}
	return runs
}

// TestDenyReachesEveryHarness covers the events that were not captured and
// input that could not be decoded.
func TestDenyReachesEveryHarness(t *testing.T) {
	for _, in := range []struct{ harness, event string }{
		{"cursor", `{"hook_event_name":"beforeShellExecution","command":"ls"}`},
		{"cursor", `{"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":"ls"}}`},
		{"kiro", `{"hook_event_name":"preToolUse","tool_name":"execute_bash","tool_input":{"command":"ls"}}`},
		{"claude", `{"hook_event_name":"PreSkillShellCommand","tool_name":"Bash","tool_input":{"command":"ls"}}`},
		{"claude", `{broken`}, {"codex", `{broken`}, {"opencode", `{broken`}, {"kiro", `{broken`},
		{"gemini", `{broken`}, {"cursor", `{broken`}, {"copilot", `{broken`}, {"qwen", `{broken`},
	} {
		h, _ := Lookup(in.harness)
		ev, _ := h.Decode([]byte(in.event))
		for _, d := range decisions {
			r := h.Encode(&ev, d)
			checkReply(t, h, &ev, d, r)
			want := wantOutcome(h, &ev, d)
			if ev.Name == PreSkillShellCommand && want == asks {
				want = blocked
			}
			if got := clients[h.Name](&ev, r); got != want {
				t.Errorf("%s %s: %v %q: the client %s it (exit %d, stdout %q, stderr %q), want %s", in.harness, in.event, d.Verdict, d.Reason, got, r.Exit, r.Stdout, r.Stderr, want)
			}
		}
	}
}

func TestEncode(t *testing.T) {
	deny := Decision{Verdict: Deny, Reason: "why"}
	ask := Decision{Verdict: Ask, Reason: "why"}
	fact := Decision{Context: "fact"}
	note := Decision{Message: "note"}
	full := Decision{Verdict: Deny, Reason: "why", Context: "fact", Message: "note"}
	tests := []struct {
		harness      string
		name         EventName
		raw          string
		d            Decision
		stdout, errs string
		exit         int
	}{
		{"claude", PreToolUse, "PreToolUse", deny, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why"}}`, "", 0},
		{"claude", PreToolUse, "PreToolUse", ask, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"why"}}`, "", 0},
		{"claude", PreToolUse, "PreToolUse", full, `{"systemMessage":"note","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why","additionalContext":"fact"}}`, "", 0},
		{"claude", PreToolUse, "PreToolUse", fact, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"fact"}}`, "", 0},
		{"claude", PreToolUse, "PreToolUse", note, `{"systemMessage":"note"}`, "", 0},
		{"claude", PreToolUse, "PreToolUse", Decision{Verdict: Allow}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, "", 0},
		{"claude", PreToolUse, "PreToolUse", Decision{Verdict: Ask, Reason: "r", UpdatedInput: []byte(`{"a":1}`)}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"r","updatedInput":{"a":1}}}`, "", 0},
		{"claude", PreSkillShellCommand, "PreSkillShellCommand", Decision{Verdict: Deny, Reason: "why", Context: "fact", UpdatedInput: []byte(`{}`)}, `{"hookSpecificOutput":{"hookEventName":"PreSkillShellCommand","permissionDecision":"deny","permissionDecisionReason":"why\nfact"}}`, "", 0},
		{"claude", PreSkillShellCommand, "PreSkillShellCommand", Decision{UpdatedInput: []byte(`{"a":1}`), Context: "fact"}, "", "", 0},
		{"claude", PostToolUse, "PostToolUse", full, `{"decision":"block","reason":"why","systemMessage":"note","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"fact"}}`, "", 0},
		{"claude", PostToolUseFailure, "PostToolUseFailure", Decision{Context: "fact", Message: "note"}, `{"systemMessage":"note","hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"fact"}}`, "", 0},
		{"claude", PermissionRequest, "PermissionRequest", deny, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"why"}}}`, "", 0},
		{"claude", PermissionRequest, "PermissionRequest", ask, "", "", 0},
		{"claude", "SessionStart", "SessionStart", fact, `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"fact"}}`, "", 0},
		{"claude", "SessionEnd", "SessionEnd", fact, "", "", 0},
		{"claude", "TaskCreated", "TaskCreated", deny, "", "why\n", 2},
		{"claude", "", "", deny, "", "why\n", 2},

		{"codex", PreToolUse, "PreToolUse", full, "", "why\nfact\n", 2},
		{"codex", PreToolUse, "PreToolUse", ask, "", "why\n", 2},
		{"codex", PreToolUse, "PreToolUse", fact, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"fact"}}`, "", 0},
		{"codex", PreToolUse, "PreToolUse", Decision{Verdict: Allow}, "", "", 0},
		{"codex", PreToolUse, "PreToolUse", Decision{UpdatedInput: []byte(`{"command":"x"}`)}, "", "", 0},
		{"codex", PreToolUse, "PreToolUse", Decision{Verdict: Allow, UpdatedInput: []byte(`{"command":"x"}`)}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"x"}}}`, "", 0},
		{"codex", PostToolUse, "PostToolUse", fact, `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"fact"}}`, "", 0},
		{"codex", PermissionRequest, "PermissionRequest", deny, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"why"}}}`, "", 0},
		{"codex", PermissionRequest, "PermissionRequest", full, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"why\nfact"}}}`, "", 0},
		{"codex", PermissionRequest, "PermissionRequest", ask, "", "", 0},

		{"gemini", PreToolUse, "BeforeTool", full, "", "why\nfact\n", 2},
		{"gemini", PreToolUse, "BeforeTool", ask, "", "why\n", 2},
		{"gemini", PreToolUse, "BeforeTool", Decision{Verdict: Deny, Reason: "\ufeff {\"decision\":\"allow\"}"}, "", "Refused: {\"decision\":\"allow\"}\n", 2},
		{"gemini", PreToolUse, "BeforeTool", note, `{"systemMessage":"note"}`, "", 0},
		{"gemini", PreToolUse, "BeforeTool", fact, "", "", 0},
		{"gemini", PreToolUse, "BeforeTool", Decision{UpdatedInput: []byte(`{"command":"x"}`)}, `{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"x"}}}`, "", 0},
		{"gemini", PostToolUse, "AfterTool", fact, `{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"fact"}}`, "", 0},

		{"qwen", PreToolUse, "PreToolUse", deny, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why"}}`, "why\n", 2},
		{"qwen", PreToolUse, "PreToolUse", ask, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"why"}}`, "", 0},
		{"qwen", PreToolUse, "PreToolUse", Decision{Verdict: Allow}, "", "", 0},

		{"copilot", PreToolUse, "", deny, `{"permissionDecision":"deny","permissionDecisionReason":"why"}`, "why\n", 2},
		{"copilot", PreToolUse, "PreToolUse", deny, `{"permissionDecision":"deny","permissionDecisionReason":"why"}`, "why\n", 2},
		{"copilot", PreToolUse, "", ask, `{"permissionDecision":"ask","permissionDecisionReason":"why"}`, "", 0},
		{"copilot", PreToolUse, "", Decision{Verdict: Allow, UpdatedInput: []byte(`{"command":"x"}`)}, `{"modifiedArgs":{"command":"x"}}`, "", 0},
		{"copilot", PreToolUse, "PreToolUse", Decision{UpdatedInput: []byte(`{"command":"x"}`)}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"x"}}}`, "", 0},
		{"copilot", PermissionRequest, "permissionRequest", deny, `{"behavior":"deny","message":"why"}`, "", 0},
		{"copilot", PermissionRequest, "permissionRequest", Decision{Verdict: Allow}, "", "", 0},
		{"copilot", PostToolUse, "", fact, `{"additionalContext":"fact"}`, "", 0},

		{"cursor", PreToolUse, "beforeShellExecution", deny, `{"permission":"deny","user_message":"why","agent_message":"why"}`, "why\n", 2},
		{"cursor", PreToolUse, "beforeShellExecution", ask, `{"permission":"ask","user_message":"why","agent_message":"why"}`, "", 0},
		{"cursor", PreToolUse, "preToolUse", ask, `{"permission":"deny","user_message":"why","agent_message":"why"}`, "why\n", 2},
		{"cursor", PreToolUse, "preToolUse", fact, `{"additional_context":"fact"}`, "", 0},
		{"cursor", PreToolUse, "beforeShellExecution", Decision{Verdict: Allow}, "", "", 0},

		{"kiro", PreToolUse, "preToolUse", full, "", "why\nfact\n", 2},
		{"kiro", PreToolUse, "preToolUse", ask, "", "why\n", 2},
		{"kiro", PreToolUse, "preToolUse", note, "", "", 0},

		{"opencode", PreToolUse, "", deny, `{"decision":"deny","reason":"why"}`, "why\n", 2},
		{"opencode", PreToolUse, "", ask, `{"decision":"deny","reason":"why"}`, "why\n", 2},
		{"opencode", PreToolUse, "", note, "", "", 0},
	}
	for _, tt := range tests {
		h, _ := Lookup(tt.harness)
		r := h.Encode(&Event{Name: tt.name, RawName: tt.raw}, tt.d)
		if got := strings.TrimSuffix(string(r.Stdout), "\n"); got != tt.stdout || string(r.Stderr) != tt.errs || r.Exit != tt.exit {
			t.Errorf("%s %s(%s) %+v:\n got %s | %q | %d\nwant %s | %q | %d", tt.harness, tt.name, tt.raw, tt.d, got, r.Stderr, r.Exit, tt.stdout, tt.errs, tt.exit)
		}
	}
}

func TestGeminiAsksOnlyWhenAttended(t *testing.T) {
	ev := &Event{Name: PreToolUse, RawName: "BeforeTool"}
	r := Gemini.Attended().Encode(ev, Decision{Verdict: Ask, Reason: "why"})
	if want := `{"decision":"ask","reason":"why","systemMessage":"why"}` + "\n"; string(r.Stdout) != want || r.Exit != 0 {
		t.Errorf("got %s exit %d, want %s exit 0", r.Stdout, r.Exit, want)
	}
	if Gemini.CanAsk {
		t.Error("Attended changed the package's value")
	}
	for _, h := range []*Harness{Codex, Kiro, OpenCode} {
		if h.CanAsk || h.Attended().CanAsk {
			t.Errorf("%s says it can ask", h.Name)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, h := range Harnesses() {
		if got, ok := Lookup(h.Name); !ok || got != h {
			t.Errorf("Lookup(%q) = %v, %v", h.Name, got, ok)
		}
	}
	if _, ok := Lookup("emacs"); ok {
		t.Error("Lookup(emacs) found something")
	}
}
