package selftest

import (
	"strings"
	"testing"
)

const nested = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"R"}}`

// The models are no weaker than the clients: the rows are what was seen.
func TestClientModels(t *testing.T) {
	for _, c := range []struct {
		client, event string
		r             Result
		want          Outcome
		reason        string
	}{
		{"claude", "PreToolUse", Result{}, Runs, ""},
		{"claude", "PreToolUse", Result{Stdout: nested}, Blocked, "R"},
		{"claude", "PreSkillShellCommand", Result{Stdout: nested}, Runs, ""},
		{"claude", "PreToolUse", Result{Stdout: "note\n" + nested}, Runs, ""},
		{"claude", "PreToolUse", Result{Stderr: "R", Exit: 2}, Blocked, "R"},
		{"claude", "PreToolUse", Result{Stderr: "R", Exit: 1}, Runs, ""},
		{"claude", "PreToolUse", Result{Stdout: nested, Exit: 1}, Blocked, "R"},
		{"codex", "PreToolUse", Result{Stdout: nested}, Blocked, "R"},
		{"codex", "PreToolUse", Result{Stdout: nested, Exit: 1}, Runs, ""},
		{"codex", "PreToolUse", Result{Stdout: nested, Exit: 2}, Runs, ""},
		{"codex", "PreToolUse", Result{Stdout: `{"suppressOutput":true,` + nested[1:]}, Runs, ""},
		{"codex", "PreToolUse", Result{Stdout: strings.Replace(nested, "deny", "ask", 1)}, Runs, ""},
		{"codex", "PreToolUse", Result{Stdout: `{"decision":"deny","reason":"R"}`}, Runs, ""},
		{"codex", "PreToolUse", Result{Stdout: `{"decision":"block","reason":"R"}`}, Blocked, "R"},
		{"codex", "PreToolUse", Result{Stdout: "{}", Stderr: "R", Exit: 2}, Blocked, "R"},
		{"codex", "PreToolUse", Result{Exit: 127, Stderr: "not found"}, Runs, ""},
		{"gemini", "BeforeTool", Result{Stdout: nested, Stderr: "R", Exit: 2}, Runs, ""},
		{"gemini", "BeforeTool", Result{Stderr: nested, Exit: 2}, Runs, ""},
		{"gemini", "BeforeTool", Result{Stderr: "R", Exit: 2}, Blocked, "R"},
		{"gemini", "BeforeTool", Result{Stderr: "R", Exit: 1}, Runs, ""},
		{"gemini", "BeforeTool", Result{Exit: 2}, Runs, ""},
		{"gemini", "BeforeTool", Result{Stderr: "not found", Exit: 127}, Blocked, "not found"},
		{"gemini", "BeforeTool", Result{Stdout: `{"decision":"deny","reason":"R"}`, Exit: 1}, Blocked, "R"},
		{"copilot", "preToolUse", Result{Stdout: nested}, Runs, ""},
		{"copilot", "PreToolUse", Result{Stdout: nested}, Blocked, "R"},
		{"copilot", "preToolUse", Result{Stdout: `{"permissionDecision":"deny","permissionDecisionReason":"R"}`, Exit: 2}, Blocked, "R"},
		{"copilot", "preToolUse", Result{Stdout: `{"permissionDecision":"deny","permissionDecisionReason":"R"}`, Exit: 1}, Blocked, ""},
		{"copilot", "preToolUse", Result{Stdout: `x {"permissionDecision":"deny"}`}, Runs, ""},
		{"copilot", "preToolUse", Result{Exit: 127}, Blocked, ""},
		{"qwen", "PreToolUse", Result{Stdout: nested}, Blocked, "R"},
		{"qwen", "PreToolUse", Result{Stdout: `{"permissionDecision":"deny"}`}, Runs, ""},
		{"qwen", "PreToolUse", Result{Exit: 2}, Runs, ""},
		{"qwen", "PreToolUse", Result{Stdout: nested, Stderr: "S", Exit: 2}, Blocked, "S"},
		{"qwen", "PreToolUse", Result{Exit: 127, Stderr: "not found"}, Runs, ""},
		{"kiro", "preToolUse", Result{Stderr: "R", Exit: 2}, Blocked, "R"},
		{"kiro", "preToolUse", Result{Stdout: nested, Stderr: "R", Exit: 1}, Runs, ""},
		{"cursor", "beforeShellExecution", Result{Stdout: `{"permission":"ask","user_message":"R"}`}, Asks, "R"},
		{"cursor", "preToolUse", Result{Stdout: `{"permission":"ask","user_message":"R"}`}, Runs, ""},
		{"cursor", "beforeShellExecution", Result{Exit: 127}, Blocked, ""},
	} {
		rules, _ := Rules(c.client)
		got, reason := rules.Judge(c.r, c.event)
		if got != c.want || strings.TrimSpace(reason) != c.reason {
			t.Errorf("%s %s %+v: %s %q, want %s %q", c.client, c.event, c.r, got, reason, c.want, c.reason)
		}
	}
}
