package integrations

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An outcome is what a client makes of a hook that ran.
type outcome string

const (
	runs    outcome = "runs"
	asks    outcome = "asks"
	blocked outcome = "blocked"
)

// A result is what a hook's process did.
type result struct {
	stdout, stderr string
	exit           int // 128 and more for a signal
}

// A client is one client's rules, as they were seen in runs of the client or,
// for Kiro and Cursor, as their documents state them: which tools a matcher
// selects, and what an answer before a tool call comes to. The reason is what
// the model reads.
type client struct {
	matches func(matcher *string, tool string) bool
	judge   func(r result, event string) (o outcome, reason string)
}

var clients = map[string]client{
	"claude":  {wholeNames, judgeClaude},
	"codex":   {codexMatcher, judgeCodex},
	"gemini":  {partOfName, judgeGemini},
	"copilot": {copilotMatcher, judgeCopilot},
	"qwen":    {partOfName, judgeQwen},
	"kiro":    {kiroMatcher, judgeKiro},
	"cursor":  {cursorMatcher, judgeCursor},
}

// object decodes exactly one JSON object.
func object(text string) (map[string]any, bool) {
	dec := json.NewDecoder(strings.NewReader(text))
	var o map[string]any
	if dec.Decode(&o) != nil || o == nil {
		return nil, false
	}
	_, err := dec.Token()
	return o, err == io.EOF
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func wholeNames(matcher *string, tool string) bool {
	return matcher == nil || *matcher == "*" || slices.Contains(strings.Split(*matcher, "|"), tool)
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

func codexMatcher(matcher *string, tool string) bool {
	if matcher == nil || *matcher == "" || *matcher == "*" {
		return true
	}
	if plainName.MatchString(*matcher) {
		return *matcher == tool
	}
	re, err := regexp.Compile(*matcher)
	return err == nil && re.MatchString(tool)
}

func partOfName(matcher *string, tool string) bool {
	if matcher == nil || *matcher == "" || *matcher == "*" {
		return true
	}
	re, err := regexp.Compile(*matcher)
	return err == nil && re.MatchString(tool)
}

// copilotMatcher: an empty or broken matcher matches nothing, and so does "*"
// for events in camelCase.
func copilotMatcher(matcher *string, tool string) bool {
	if matcher == nil {
		return true
	}
	re, err := regexp.Compile("^(?:" + *matcher + ")$")
	return err == nil && re.MatchString(tool)
}

func kiroMatcher(matcher *string, tool string) bool {
	if matcher == nil || *matcher == "*" {
		return true
	}
	re, err := regexp.Compile(*matcher) // version 3; in 2.x a name
	return err == nil && re.MatchString(tool)
}

func cursorMatcher(matcher *string, tool string) bool {
	return matcher == nil || slices.Contains(strings.Split(*matcher, "|"), tool)
}

func judgeClaude(r result, event string) (outcome, string) {
	o, ok := object(r.stdout)
	if !ok {
		if r.exit == 2 {
			return blocked, r.stderr
		}
		return runs, ""
	}
	specific, _ := o["hookSpecificOutput"].(map[string]any)
	if text(specific["hookEventName"]) != event {
		return runs, ""
	}
	reason := text(specific["permissionDecisionReason"])
	switch text(specific["permissionDecision"]) {
	case "deny":
		return blocked, reason
	case "ask":
		return asks, reason
	}
	return runs, ""
}

func judgeCodex(r result, event string) (outcome, string) {
	switch {
	case r.exit == 2 && strings.TrimSpace(r.stderr) != "":
		return blocked, r.stderr
	case r.exit != 0:
		return runs, ""
	}
	type known struct {
		Decision           *string `json:"decision"`
		Reason             *string `json:"reason"`
		SystemMessage      *string `json:"systemMessage"`
		HookSpecificOutput *struct {
			HookEventName            *string `json:"hookEventName"`
			PermissionDecision       *string `json:"permissionDecision"`
			PermissionDecisionReason *string `json:"permissionDecisionReason"`
			AdditionalContext        *string `json:"additionalContext"`
			UpdatedInput             any     `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	var k known
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	dec.DisallowUnknownFields()
	if dec.Decode(&k) != nil {
		return runs, "" // failed
	}
	if _, err := dec.Token(); err != io.EOF {
		return runs, ""
	}
	s := k.HookSpecificOutput
	if s != nil && s.HookEventName != nil && s.PermissionDecision != nil && *s.PermissionDecision == "deny" &&
		s.PermissionDecisionReason != nil && strings.TrimSpace(*s.PermissionDecisionReason) != "" {
		return blocked, *s.PermissionDecisionReason
	}
	if k.Decision != nil && *k.Decision == "block" && k.Reason != nil && strings.TrimSpace(*k.Reason) != "" {
		return blocked, *k.Reason
	}
	return runs, ""
}

func judgeGemini(r result, _ string) (outcome, string) {
	said := strings.TrimSpace(r.stdout)
	if said == "" {
		said = strings.TrimSpace(r.stderr)
	}
	switch {
	case said == "", r.exit >= 128: // ended by a signal
		return runs, ""
	case json.Valid([]byte(said)):
		o, _ := object(said)
		switch text(o["decision"]) {
		case "deny", "block":
			return blocked, text(o["reason"])
		case "ask":
			return asks, text(o["systemMessage"])
		}
		return runs, ""
	case r.exit == 0 || r.exit == 1:
		return runs, ""
	}
	return blocked, said
}

func judgeCopilot(r result, event string) (outcome, string) {
	o, ok := object(r.stdout)
	reason := text(o["permissionDecisionReason"])
	decision := text(o["permissionDecision"])
	if event[0] >= 'A' && event[0] <= 'Z' {
		if s, nested := o["hookSpecificOutput"].(map[string]any); nested && decision == "" {
			decision, reason = text(s["permissionDecision"]), text(s["permissionDecisionReason"])
		}
	}
	switch {
	case r.exit == 2:
		return blocked, reason
	case r.exit != 0:
		return blocked, ""
	case !ok:
		return runs, ""
	}
	switch decision {
	case "deny":
		return blocked, reason
	case "ask":
		return asks, reason // in -p mode: blocked with that reason
	}
	return runs, ""
}

func judgeQwen(r result, _ string) (outcome, string) {
	if r.exit == 2 && strings.TrimSpace(r.stderr) != "" {
		return blocked, r.stderr
	}
	o, ok := object(r.stdout)
	if !ok || r.exit > 2 {
		return runs, ""
	}
	if d := text(o["decision"]); d == "deny" || d == "block" {
		return blocked, text(o["reason"])
	}
	s, _ := o["hookSpecificOutput"].(map[string]any)
	reason := text(s["permissionDecisionReason"])
	switch text(s["permissionDecision"]) {
	case "deny":
		return blocked, reason
	case "ask":
		return asks, reason // headless: refused
	}
	return runs, ""
}

func judgeKiro(r result, _ string) (outcome, string) {
	if r.exit == 2 {
		return blocked, r.stderr
	}
	return runs, ""
}

// judgeCursor has failClosed set: another failure blocks as well.
func judgeCursor(r result, event string) (outcome, string) {
	o, ok := object(r.stdout)
	switch {
	case r.exit == 2:
		return blocked, text(o["agent_message"])
	case r.exit != 0, strings.TrimSpace(r.stdout) != "" && !ok:
		return blocked, ""
	}
	switch text(o["permission"]) {
	case "deny":
		return blocked, text(o["agent_message"])
	case "ask":
		if event == "beforeShellExecution" {
			return asks, text(o["user_message"])
		}
	}
	return runs, ""
}

const nested = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"R"}}`

// The models are no weaker than the clients: the rows are what was seen.
func TestClientModels(t *testing.T) {
	for _, c := range []struct {
		client, event string
		r             result
		want          outcome
		reason        string
	}{
		{"claude", "PreToolUse", result{}, runs, ""},
		{"claude", "PreToolUse", result{stdout: nested}, blocked, "R"},
		{"claude", "PreSkillShellCommand", result{stdout: nested}, runs, ""},
		{"claude", "PreToolUse", result{stdout: "note\n" + nested}, runs, ""},
		{"claude", "PreToolUse", result{stderr: "R", exit: 2}, blocked, "R"},
		{"claude", "PreToolUse", result{stderr: "R", exit: 1}, runs, ""},
		{"claude", "PreToolUse", result{stdout: nested, exit: 1}, blocked, "R"},
		{"codex", "PreToolUse", result{stdout: nested}, blocked, "R"},
		{"codex", "PreToolUse", result{stdout: nested, exit: 1}, runs, ""},
		{"codex", "PreToolUse", result{stdout: nested, exit: 2}, runs, ""},
		{"codex", "PreToolUse", result{stdout: `{"suppressOutput":true,` + nested[1:]}, runs, ""},
		{"codex", "PreToolUse", result{stdout: strings.Replace(nested, "deny", "ask", 1)}, runs, ""},
		{"codex", "PreToolUse", result{stdout: `{"decision":"deny","reason":"R"}`}, runs, ""},
		{"codex", "PreToolUse", result{stdout: `{"decision":"block","reason":"R"}`}, blocked, "R"},
		{"codex", "PreToolUse", result{stdout: "{}", stderr: "R", exit: 2}, blocked, "R"},
		{"codex", "PreToolUse", result{exit: 127, stderr: "not found"}, runs, ""},
		{"gemini", "BeforeTool", result{stdout: nested, stderr: "R", exit: 2}, runs, ""},
		{"gemini", "BeforeTool", result{stderr: nested, exit: 2}, runs, ""},
		{"gemini", "BeforeTool", result{stderr: "R", exit: 2}, blocked, "R"},
		{"gemini", "BeforeTool", result{stderr: "R", exit: 1}, runs, ""},
		{"gemini", "BeforeTool", result{exit: 2}, runs, ""},
		{"gemini", "BeforeTool", result{stderr: "not found", exit: 127}, blocked, "not found"},
		{"gemini", "BeforeTool", result{stdout: `{"decision":"deny","reason":"R"}`, exit: 1}, blocked, "R"},
		{"copilot", "preToolUse", result{stdout: nested}, runs, ""},
		{"copilot", "PreToolUse", result{stdout: nested}, blocked, "R"},
		{"copilot", "preToolUse", result{stdout: `{"permissionDecision":"deny","permissionDecisionReason":"R"}`, exit: 2}, blocked, "R"},
		{"copilot", "preToolUse", result{stdout: `{"permissionDecision":"deny","permissionDecisionReason":"R"}`, exit: 1}, blocked, ""},
		{"copilot", "preToolUse", result{stdout: `x {"permissionDecision":"deny"}`}, runs, ""},
		{"copilot", "preToolUse", result{exit: 127}, blocked, ""},
		{"qwen", "PreToolUse", result{stdout: nested}, blocked, "R"},
		{"qwen", "PreToolUse", result{stdout: `{"permissionDecision":"deny"}`}, runs, ""},
		{"qwen", "PreToolUse", result{exit: 2}, runs, ""},
		{"qwen", "PreToolUse", result{stdout: nested, stderr: "S", exit: 2}, blocked, "S"},
		{"qwen", "PreToolUse", result{exit: 127, stderr: "not found"}, runs, ""},
		{"kiro", "preToolUse", result{stderr: "R", exit: 2}, blocked, "R"},
		{"kiro", "preToolUse", result{stdout: nested, stderr: "R", exit: 1}, runs, ""},
		{"cursor", "beforeShellExecution", result{stdout: `{"permission":"ask","user_message":"R"}`}, asks, "R"},
		{"cursor", "preToolUse", result{stdout: `{"permission":"ask","user_message":"R"}`}, runs, ""},
		{"cursor", "beforeShellExecution", result{exit: 127}, blocked, ""},
	} {
		got, reason := clients[c.client].judge(c.r, c.event)
		if got != c.want || strings.TrimSpace(reason) != c.reason {
			t.Errorf("%s %s %+v: %s %q, want %s %q", c.client, c.event, c.r, got, reason, c.want, c.reason)
		}
	}
}

// compact is for failure messages.
func compact(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
