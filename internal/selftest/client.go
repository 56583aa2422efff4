package selftest

import (
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
)

// An Outcome is what a client makes of a hook that ran.
type Outcome string

// Outcomes: the call goes on, a person is asked, or it does not happen.
const (
	Runs    Outcome = "runs"
	Asks    Outcome = "asks"
	Blocked Outcome = "blocked"
)

// A Result is what a hook's process did.
type Result struct {
	Stdout, Stderr string
	Exit           int // 128 and more for a signal
}

// A Client is one client's rules, as they were seen in runs of the client or,
// for Kiro and Cursor, as their documents state them: which tools a matcher
// selects, and what an answer before a tool call comes to. The reason is what
// the model reads.
type Client struct {
	Matches func(matcher *string, tool string) bool
	Judge   func(r Result, event string) (o Outcome, reason string)
}

// Rules returns the rules of the harness of that name. OpenCode has none: what
// becomes of an answer is our plugin's business.
func Rules(harness string) (c Client, ok bool) {
	c, ok = map[string]Client{
		"claude":  {wholeNames, judgeClaude},
		"codex":   {codexMatcher, judgeCodex},
		"gemini":  {partOfName, judgeGemini},
		"copilot": {copilotMatcher, judgeCopilot},
		"qwen":    {partOfName, judgeQwen},
		"kiro":    {kiroMatcher, judgeKiro},
		"cursor":  {cursorMatcher, judgeCursor},
	}[harness]
	return c, ok
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

func codexMatcher(matcher *string, tool string) bool {
	if matcher == nil || *matcher == "" || *matcher == "*" {
		return true
	}
	if strings.Trim(*matcher, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" {
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

func judgeClaude(r Result, event string) (Outcome, string) {
	o, ok := object(r.Stdout)
	if !ok {
		if r.Exit == 2 {
			return Blocked, r.Stderr
		}
		return Runs, ""
	}
	specific, _ := o["hookSpecificOutput"].(map[string]any)
	if text(specific["hookEventName"]) != event {
		return Runs, ""
	}
	reason := text(specific["permissionDecisionReason"])
	switch text(specific["permissionDecision"]) {
	case "deny":
		return Blocked, reason
	case "ask":
		return Asks, reason
	}
	return Runs, ""
}

func judgeCodex(r Result, event string) (Outcome, string) {
	switch {
	case r.Exit == 2 && strings.TrimSpace(r.Stderr) != "":
		return Blocked, r.Stderr
	case r.Exit != 0:
		return Runs, ""
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
	dec := json.NewDecoder(strings.NewReader(r.Stdout))
	dec.DisallowUnknownFields()
	if dec.Decode(&k) != nil {
		return Runs, "" // failed
	}
	if _, err := dec.Token(); err != io.EOF {
		return Runs, ""
	}
	s := k.HookSpecificOutput
	if s != nil && s.HookEventName != nil && s.PermissionDecision != nil && *s.PermissionDecision == "deny" &&
		s.PermissionDecisionReason != nil && strings.TrimSpace(*s.PermissionDecisionReason) != "" {
		return Blocked, *s.PermissionDecisionReason
	}
	if k.Decision != nil && *k.Decision == "block" && k.Reason != nil && strings.TrimSpace(*k.Reason) != "" {
		return Blocked, *k.Reason
	}
	return Runs, ""
}

func judgeGemini(r Result, _ string) (Outcome, string) {
	said := strings.TrimSpace(r.Stdout)
	if said == "" {
		said = strings.TrimSpace(r.Stderr)
	}
	switch {
	case said == "", r.Exit >= 128: // ended by a signal
		return Runs, ""
	case json.Valid([]byte(said)):
		o, _ := object(said)
		switch text(o["decision"]) {
		case "deny", "block":
			return Blocked, text(o["reason"])
		case "ask":
			return Asks, text(o["systemMessage"])
		}
		return Runs, ""
	case r.Exit == 0 || r.Exit == 1:
		return Runs, ""
	}
	return Blocked, said
}

func judgeCopilot(r Result, event string) (Outcome, string) {
	o, ok := object(r.Stdout)
	reason := text(o["permissionDecisionReason"])
	decision := text(o["permissionDecision"])
	if event[0] >= 'A' && event[0] <= 'Z' {
		if s, nested := o["hookSpecificOutput"].(map[string]any); nested && decision == "" {
			decision, reason = text(s["permissionDecision"]), text(s["permissionDecisionReason"])
		}
	}
	switch {
	case r.Exit == 2:
		return Blocked, reason
	case r.Exit != 0:
		return Blocked, ""
	case !ok:
		return Runs, ""
	}
	switch decision {
	case "deny":
		return Blocked, reason
	case "ask":
		return Asks, reason // in -p mode: blocked with that reason
	}
	return Runs, ""
}

func judgeQwen(r Result, _ string) (Outcome, string) {
	if r.Exit == 2 && strings.TrimSpace(r.Stderr) != "" {
		return Blocked, r.Stderr
	}
	o, ok := object(r.Stdout)
	if !ok || r.Exit > 2 {
		return Runs, ""
	}
	if d := text(o["decision"]); d == "deny" || d == "block" {
		return Blocked, text(o["reason"])
	}
	s, _ := o["hookSpecificOutput"].(map[string]any)
	reason := text(s["permissionDecisionReason"])
	switch text(s["permissionDecision"]) {
	case "deny":
		return Blocked, reason
	case "ask":
		return Asks, reason // headless: refused
	}
	return Runs, ""
}

func judgeKiro(r Result, _ string) (Outcome, string) {
	if r.Exit == 2 {
		return Blocked, r.Stderr
	}
	return Runs, ""
}

// judgeCursor has failClosed set: another failure blocks as well.
func judgeCursor(r Result, event string) (Outcome, string) {
	o, ok := object(r.Stdout)
	switch {
	case r.Exit == 2:
		return Blocked, text(o["agent_message"])
	case r.Exit != 0, strings.TrimSpace(r.Stdout) != "" && !ok:
		return Blocked, ""
	}
	switch text(o["permission"]) {
	case "deny":
		return Blocked, text(o["agent_message"])
	case "ask":
		if event == "beforeShellExecution" {
			return Asks, text(o["user_message"])
		}
	}
	return Runs, ""
}
