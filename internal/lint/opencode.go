package lint

import (
	"fmt"
	"slices"
	"strings"

	"sallyport/settings"
)

// openCode is one OpenCode configuration, as OpenCode 1.18.33 reads it: its
// permissions flattened into rules, of which the last one that matches decides.
type openCode struct {
	run  *run
	root *value
	perm *value // permission, nil without
	// judged is set where the file's own permission can be looked at.
	judged bool
	rules  []openRule
	agents []openAgent
}

// An openRule decides requests of some tools whose input matches a pattern.
type openRule struct {
	tool, pattern string
	action        string // allow, ask or deny
	value         *value
}

// An openAgent is an agent or mode with permissions of its own.
type openAgent struct {
	name  string
	value *value // its permission
	rules []openRule
}

// OpenCode checks an OpenCode configuration file.
func OpenCode(cfg Config, name string) *Report {
	r := newRun(cfg, "opencode")
	f, ok := r.load(name)
	if !ok {
		return r.done()
	}
	root, ok := r.json(f, true)
	if !ok {
		return r.done()
	}
	o := &openCode{run: r, root: root, perm: root.get("permission")}
	invalid := reporter{run: r}.as("O504")
	o.rules = o.flatten(o.perm, invalid)
	o.judged = o.perm.is(settings.Object)
	for _, section := range []string{"agent", "mode"} {
		for _, agent := range root.get(section).children() {
			if perm := agent.get("permission"); perm != nil {
				o.agents = append(o.agents, openAgent{agent.name, perm, o.flatten(perm, invalid)})
			}
		}
	}
	apply(r, openCodeRules, o, nil)
	return r.done()
}

func openAction(v *value) bool {
	return v.is(settings.String) && (v.text == "allow" || v.text == "ask" || v.text == "deny")
}

// flatten turns a permission into rules, in the order it is written in.
func (o *openCode) flatten(perm *value, invalid reporter) (rules []openRule) {
	wrong := func(v *value) {
		invalid.at(v, fmt.Sprintf("the action must be allow, ask or deny, not %s", clip(v.compact())))
	}
	switch {
	case openAction(perm):
		return []openRule{{"*", "*", perm.text, perm}}
	case !perm.is(settings.Object):
		return nil
	}
	for _, tool := range perm.children() {
		switch {
		case openAction(tool):
			rules = append(rules, openRule{tool.name, "*", tool.text, tool})
		case tool.is(settings.Object):
			for _, p := range tool.children() {
				if openAction(p) {
					rules = append(rules, openRule{tool.name, o.expand(p.name), p.text, p})
				} else {
					wrong(p)
				}
			}
		default:
			wrong(tool)
		}
	}
	return rules
}

// expand puts the home directory in the place of a leading ~ or $HOME.
func (o *openCode) expand(pattern string) string {
	home := o.run.cfg.Home
	if home == "" {
		return pattern
	}
	for _, prefix := range []string{"~", "$HOME"} {
		if rest, ok := strings.CutPrefix(pattern, prefix); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
			return strings.TrimRight(home, "/") + rest
		}
	}
	return pattern
}

// openMatch matches a whole text: * is any text, ? one character, and a blank
// and * at the end may be missing.
func openMatch(pattern, text string) bool {
	pattern, text = strings.ReplaceAll(pattern, `\`, "/"), strings.ReplaceAll(text, `\`, "/")
	if prefix, ok := strings.CutSuffix(pattern, " *"); ok && glob(prefix, text) {
		return true
	}
	return glob(pattern, text)
}

// glob matches a whole text with * and ?. A * in the text is absorbed by a * of
// the pattern alone, a ? by either, so that it also tells whether one pattern
// covers another.
func glob(pattern, s string) bool {
	p, i := 0, 0
	star, retry := -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, retry = p, i
			p++
		case p < len(pattern) && (pattern[p] == s[i] || pattern[p] == '?' && s[i] != '*'):
			p++
			i++
		case star >= 0:
			retry++
			p, i = star+1, retry
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

func openCovers(a, b openRule) bool {
	if !glob(a.tool, b.tool) {
		return false
	}
	x, y := strings.ReplaceAll(a.pattern, `\`, "/"), strings.ReplaceAll(b.pattern, `\`, "/")
	covered := func(y string) bool {
		if prefix, ok := strings.CutSuffix(x, " *"); ok && glob(prefix, y) {
			return true
		}
		return glob(x, y)
	}
	if prefix, ok := strings.CutSuffix(y, " *"); ok && !covered(prefix) {
		return false
	}
	return covered(y)
}

// decide is the index of the rule that decides a request, -1 for the built-in
// default, and what it says.
func decide(rules []openRule, tool, input string) (index int, action string) {
	for i := len(rules) - 1; i >= 0; i-- {
		if glob(rules[i].tool, tool) && openMatch(rules[i].pattern, input) {
			return i, rules[i].action
		}
	}
	switch tool {
	case "doom_loop", "external_directory":
		return -1, "ask"
	}
	return -1, "allow"
}

// maxAgentWork bounds the comparisons made for agents.
const maxAgentWork = 3_000_000

const unlisted = "zzz-unlisted --x"

// defaultBash decides a command that no rule names.
func defaultBash(rules []openRule) (index int, allowed bool) {
	i, action := decide(rules, "bash", unlisted)
	return i, action == "allow"
}

// approved lists, by deciding rule, the dangerous commands that are allowed by
// something else than the default.
func (o *openCode) approved(rules []openRule) map[int][]string {
	base, _ := defaultBash(rules)
	out := make(map[int][]string)
	for _, p := range o.run.probes() {
		if i, action := decide(rules, "bash", p.Command); action == "allow" && i != base {
			out[i] = append(out[i], p.Label)
		}
	}
	return out
}

// openTools are asked for by O507.
var openTools = []struct{ tool, input, danger string }{
	{"webfetch", "https://example.com/x", "fetches, and sends to, any site"},
	{"external_directory", "/etc/passwd", "reaches files outside the project"},
}

var openCodeRules = []check[*openCode]{
	{Rule{ID: "O501", Severity: Error, Hard: true,
		Summary: "permission is missing",
		Why:     "without it OpenCode allows nearly everything",
		Example: `{"model": "x"}`,
		Fix:     `add "permission": {"*": "ask"}`},
		func(o *openCode, r reporter) {
			if o.perm == nil {
				r.under(o.root, []string{"permission"}, "is missing: OpenCode then allows nearly everything")
			}
		}},
	{Rule{ID: "O502", Severity: Error, Hard: true,
		Summary: `permission is the string "allow"`,
		Why:     "every tool runs without a question",
		Example: `{"permission": "allow"}`,
		Fix:     `write "ask"`},
		func(o *openCode, r reporter) {
			if o.perm.is(settings.String) && o.perm.text == "allow" {
				r.at(o.perm, "allows every tool without a question")
			}
		}},
	{Rule{ID: "O503", Severity: Error, Hard: true,
		Summary: "permission is neither ask, deny nor an object",
		Why:     "OpenCode does not start with it, or reads something else than is meant",
		Example: `{"permission": true}`,
		Fix:     `write "ask", "deny" or an object`},
		func(o *openCode, r reporter) {
			if o.perm == nil || o.perm.is(settings.Object) || openAction(o.perm) {
				return
			}
			r.at(o.perm, "must be \"ask\", \"deny\" or an object, not "+clip(o.perm.compact()))
		}},
	{Rule{ID: "O504", Severity: Error,
		Summary: "an action is none of allow, ask and deny",
		Why:     "the rule does not count, and what stands before it decides",
		Example: `{"permission": {"bash": {"rm *": "never"}}}`,
		Fix:     "write allow, ask or deny"}, nil},
	{Rule{ID: "O505", Severity: Error, Hard: true,
		Summary: "a command that no rule names is allowed",
		Why:     "the list of allowed commands then allows all of them; * at tool level behind bash counts too",
		Example: `{"permission": {"bash": "allow"}}`,
		Fix:     `put "*": "ask" first in bash, and no "*": "allow" behind it`},
		func(o *openCode, r reporter) {
			if i, allowed := defaultBash(o.rules); o.judged && allowed {
				o.because(r, i, "bash", "a command that no rule names is allowed")
			}
		}},
	{Rule{ID: "O506", Severity: Error, Hard: true,
		Summary: "a dangerous command is allowed",
		Why:     "the last rule that matches decides; a broad allow undoes what stands before it",
		Example: `{"permission": {"bash": {"*": "ask", "git *": "allow"}}}`,
		Fix:     `allow the sub-commands that are needed, such as "git status *"`},
		func(o *openCode, r reporter) {
			if !o.judged {
				return
			}
			byRule := o.approved(o.rules)
			for i := -1; i < len(o.rules); i++ {
				if labels := byRule[i]; len(labels) > 0 {
					o.because(r, i, "bash", "allowed without a question: "+labelList(labels))
				}
			}
		}},
	{Rule{ID: "O507", Severity: Error, Hard: true,
		Summary: "webfetch or external_directory is allowed; webfetch is by default",
		Why:     "a fetch carries data out; the project's directory no longer bounds the file tools",
		Example: `{"permission": {"bash": "ask"}}`,
		Fix:     `write "webfetch": "ask" and leave external_directory at ask or deny`},
		func(o *openCode, r reporter) {
			for _, t := range openTools {
				if i, action := decide(o.rules, t.tool, t.input); o.judged && action == "allow" {
					o.because(r, i, t.tool, fmt.Sprintf("%s is allowed: it %s", t.tool, t.danger))
				}
			}
		}},
	{Rule{ID: "O508", Severity: Error,
		Summary: "a deny or ask rule never acts: a later one covers it with allow; a warning where a deny ends as ask",
		Why:     "the last rule that matches decides, not the most specific",
		Example: `{"permission": {"bash": {"git push *": "deny", "*": "allow"}}}`,
		Fix:     "move the rule behind the one that covers it"},
		func(o *openCode, r reporter) {
			if !o.judged || len(o.rules) > maxRules {
				return
			}
			for i, rule := range o.rules {
				if rule.action == "allow" {
					continue
				}
				// The last rule that covers this one decides for all of it.
				for j := len(o.rules) - 1; j > i; j-- {
					later := o.rules[j]
					if !openCovers(later, rule) {
						continue
					}
					sev := Error
					if later.action == "ask" {
						sev = Warning
					}
					if later.action == "allow" || later.action == "ask" && rule.action == "deny" {
						r.at(rule.value, fmt.Sprintf("%s never acts: the later %s %s is %s", rule.action, later.describe(), quote(later.pattern), later.action),
							severity(sev), related(later.value))
					}
					break
				}
			}
		}},
	{Rule{ID: "O509", Severity: Error, Hard: true,
		Summary: "an agent's or mode's own permission allows what O505 to O507 forbid",
		Why:     "it stands behind the global one, so it decides",
		Example: `{"permission": {"*": "ask"}, "agent": {"ship": {"permission": {"bash": "allow"}}}}`,
		Fix:     "tighten the agent's permission"}, (*openCode).badAgents},
	{Rule{ID: "O510", Severity: Warning,
		Summary: "legacy tools booleans are set",
		Why:     "they are merged into the permissions in ways that are easy to misread",
		Example: `{"permission": {"*": "ask"}, "tools": {"bash": true}}`,
		Fix:     "say it in permission"},
		func(o *openCode, r reporter) {
			legacy := func(tools *value) {
				if slices.ContainsFunc(tools.children(), func(v *value) bool { return v.is(settings.Bool) }) {
					r.at(tools, "tools with booleans are legacy")
				}
			}
			legacy(o.root.get("tools"))
			for _, section := range []string{"agent", "mode"} {
				for _, agent := range o.root.get(section).children() {
					legacy(agent.get("tools"))
				}
			}
		}},
	{Rule{ID: "O511", Severity: Warning,
		Summary: "read rules let .env files be read",
		Why:     "the built-in deny for them stands before the file's rules, and an allow for everything undoes it",
		Example: `{"permission": {"*": "ask", "read": {"*": "allow"}}}`,
		Fix:     `put "*.env": "deny" and "*.env.*": "deny" behind "*": "allow"`},
		func(o *openCode, r reporter) {
			named := slices.ContainsFunc(o.rules, func(rule openRule) bool { return rule.tool == "read" })
			if i, action := decide(o.rules, "read", "config/.env"); o.judged && named && i >= 0 && action == "allow" {
				r.at(o.rules[i].value, "allows reading .env files, which OpenCode denies by default")
			}
		}},
}

func (rule openRule) describe() string { return "rule of " + quote(rule.tool) }

// because reports at the rule that decides or, for the built-in default, at the
// place where the tool's rules would stand.
func (o *openCode) because(r reporter, index int, tool, message string) {
	if index < 0 {
		r.under(o.root, []string{"permission", tool}, message+" (OpenCode's default)")
		return
	}
	r.at(o.rules[index].value, message+fmt.Sprintf(" (the %s %s decides)", o.rules[index].describe(), quote(o.rules[index].pattern)))
}

func (o *openCode) badAgents(r reporter) {
	spent := 0
	for _, agent := range o.agents {
		if spent += 30 * (len(o.rules) + len(agent.rules)); spent > maxAgentWork {
			r.at(agent.value, fmt.Sprintf("agent %s and those behind it are not judged: there are too many rules", quote(agent.name)))
			return
		}
		rules := append(o.rules[:len(o.rules):len(o.rules)], agent.rules...)
		var failed []string
		if _, allowed := defaultBash(rules); allowed {
			failed = append(failed, "a command that no rule names is allowed (O505)")
		}
		byRule := o.approved(rules)
		var labels []string
		for i := -1; i < len(rules); i++ {
			labels = append(labels, byRule[i]...)
		}
		if len(labels) > 0 {
			failed = append(failed, "allowed without a question: "+labelList(labels)+" (O506)")
		}
		for _, t := range openTools {
			if _, action := decide(rules, t.tool, t.input); action == "allow" {
				failed = append(failed, t.tool+" is allowed (O507)")
			}
		}
		if len(failed) > 0 {
			r.at(agent.value, fmt.Sprintf("agent %s: %s", quote(agent.name), strings.Join(failed, "; ")))
		}
	}
}
