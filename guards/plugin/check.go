package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"sallyport/guards"
	"sallyport/guards/plugin/wire"
	"sallyport/internal/term"
)

// maxReasonText bounds what a guard may say, in runes.
const maxReasonText = 600

// check asks one guard about one command.
func (s *Set) check(f *file, c *guards.Call) []guards.Finding {
	if f.failed == nil && !triggered(f.triggers, c) && !f.loose {
		return nil
	}
	if f.failed != nil {
		return s.failure(f, f.failed)
	}
	var found []guards.Finding
	var err error
	if f.kind == declarative {
		found, err = s.checkRule(f, c)
	} else {
		found, err = s.checkScript(f, c)
	}
	if err != nil {
		f.failed = err
		s.opts.debugf("guard %s: %v", f.path, err)
		s.record(f, err)
		return s.failure(f, err)
	}
	if !f.ran {
		f.ran = true
		s.forget(f)
	}
	return found
}

// failure is what a guard that cannot judge answers under on_error.
func (s *Set) failure(f *file, err error) []guards.Finding {
	if s.opts.OnError == guards.Pass {
		return nil
	}
	return []guards.Finding{{
		Verdict: s.opts.OnError,
		Found:   "this guard failed: " + term.Clean(firstLine(err.Error()), 300),
		Why:     "on_error is set, so a guard that cannot judge does not let the command pass",
		Fix:     "Have a person look at `agent-guard list`",
	}}
}

func (s *Set) checkRule(f *file, c *guards.Call) ([]guards.Finding, error) {
	if f.rule == nil {
		r, err := parseRule(f.data)
		if err != nil {
			return nil, located(f, err)
		}
		f.rule = r
	}
	return f.rule.check(c), nil
}

func (s *Set) checkScript(f *file, c *guards.Call) ([]guards.Finding, error) {
	limit := min(guardLimit-f.spent, max(totalLimit-s.spent, leastLimit))
	if limit <= 0 || s.spent > totalLimit+lateLimit {
		return nil, errors.New("the guards of this line used up their time")
	}
	start := time.Now()
	defer func() {
		d := time.Since(start)
		f.spent += d
		s.spent += d
	}()
	x := &context{set: s, file: f, call: c, deadline: start.Add(limit)}
	value, err := s.ask(f, wire.Request{Op: "call", Ctx: x.data()}, x)
	if err != nil {
		return nil, err
	}
	answer, err := parseAnswer(value)
	if err != nil || answer.reason == "" {
		return nil, err
	}
	finding := guards.Finding{Verdict: answer.verdict, Found: withoutTag(answer.reason), Fix: answer.fix}
	if c.Inline() == guards.InlineAsk {
		// The guard was told that its override does not count; a person is asked
		// instead.
		finding.Overrides = x.overrides
	}
	return []guards.Finding{finding}, nil
}

func appendNew(list, more []string) []string {
	for _, m := range more {
		known := false
		for _, l := range list {
			known = known || l == m
		}
		if !known && len(list) < 16 {
			list = append(list, m)
		}
	}
	return list
}

// An answer is what a guard function returned.
type answer struct {
	verdict guards.Verdict
	reason  string
	fix     string
}

// parseAnswer reads None, a reason, or a dictionary with decision, reason and
// fix.
func parseAnswer(raw json.RawMessage) (answer, error) {
	var a answer
	switch text := strings.TrimSpace(string(raw)); {
	case text == "" || text == "null" || text == "false":
		return a, nil
	case text[0] == '"':
		if err := json.Unmarshal(raw, &a.reason); err != nil {
			return a, fmt.Errorf("its answer cannot be read: %w", err)
		}
		a.verdict = guards.Deny
	case text[0] == '{':
		var d struct{ Decision, Reason, Fix string }
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&d); err != nil {
			return a, fmt.Errorf("guard returned a dictionary with something else than decision, reason and fix: %w", err)
		}
		v, ok := parseDecision(d.Decision)
		switch {
		case !ok:
			return a, fmt.Errorf("guard returned the decision %q; it can be deny, ask or warn", term.Clean(d.Decision, 40))
		case strings.TrimSpace(d.Reason) == "":
			return a, errors.New("guard returned a decision without a reason")
		}
		a = answer{v, d.Reason, d.Fix}
	default:
		return a, errors.New("guard returned neither a string nor None")
	}
	a.reason = sentence(a.reason)
	a.fix = sentence(a.fix)
	return a, nil
}

// parseDecision reads deny, ask or warn; empty is deny.
func parseDecision(s string) (guards.Verdict, bool) {
	switch s {
	case "", "deny":
		return guards.Deny, true
	case "ask":
		return guards.Ask, true
	case "warn":
		return guards.Warn, true
	}
	return guards.Pass, false
}

// sentence makes text one bounded line without the full stop that the form of
// reasons adds.
func sentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimRight(term.Clean(s, maxReasonText), ". ")
}

// withoutTag removes the "agent-guard[name]:" that contributed guards put in
// front of their reasons themselves.
func withoutTag(s string) string {
	open := strings.IndexByte(s, '[')
	if open <= 0 || open > 20 || strings.ContainsAny(s[:open], " .,:`'\"") {
		return s
	}
	end := strings.Index(s, "]: ")
	if end < 0 || end > 80 || strings.ContainsAny(s[open:end], " ") {
		return s
	}
	return strings.TrimSpace(s[end+3:])
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
