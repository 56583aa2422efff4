package settings

import "strings"

// A Decision is what the permission rules say about a call.
type Decision int

// Decisions. NoRule leaves the call to the permission mode.
const (
	NoRule Decision = iota
	Deny
	Ask
	Allow
)

func (d Decision) String() string { return [...]string{"no rule", "deny", "ask", "allow"}[d] }

// Permission tells which rule decides about a call of a tool, from the lists of
// every file that counts: deny before ask before allow, whatever the file and
// however specific the rule.
//
// For Bash and PowerShell the argument is one simple command, as the client
// splits a line before it looks at rules; for other tools it is compared as it
// is written, with "*" for any text. Path patterns of Read and Edit rules are
// not resolved, and parameter rules such as Bash(run_in_background:true) are
// not looked at.
func (s *Stack) Permission(tool, argument string) (Decision, Value[string]) {
	for _, list := range []struct {
		decision Decision
		name     string
	}{{Deny, "deny"}, {Ask, "ask"}, {Allow, "allow"}} {
		for _, rule := range s.List("permissions." + list.name) {
			if matchRule(rule.Value, tool, argument) {
				return list.decision, rule
			}
		}
	}
	return NoRule, Value[string]{}
}

func matchRule(rule, tool, argument string) bool {
	name, spec, scoped := strings.Cut(rule, "(")
	if !matchWild(name, tool) {
		return false
	}
	if !scoped {
		return true
	}
	spec = strings.TrimSuffix(spec, ")")
	if tool == "PowerShell" {
		spec, argument = strings.ToLower(spec), strings.ToLower(argument)
	}
	if tool == "Bash" || tool == "PowerShell" {
		return matchCommand(spec, argument)
	}
	return matchWild(spec, argument)
}

// matchCommand matches a command pattern: without "*" the exact command, " *"
// or ":*" at the end the command alone or with arguments, any other "*" any
// text.
func matchCommand(pattern, command string) bool {
	command = strings.TrimSpace(command)
	if head, ok := strings.CutSuffix(pattern, ":*"); ok {
		pattern = head + " *"
	}
	if head, ok := strings.CutSuffix(pattern, " *"); ok && matchWild(head, command) {
		return true
	}
	return matchWild(pattern, command)
}

// matchWild matches text against a pattern in which "*" stands for any text,
// in time linear in the product of both at worst.
func matchWild(pattern, text string) bool {
	p, t := 0, 0
	star, from := -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0:
			from++
			p, t = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
