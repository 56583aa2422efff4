package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/settings"
)

// codex is one configuration directory of Codex.
type codex struct {
	run    *run
	config *value // of config.toml
	rules  []prefixRule
	// rulesFile is where findings about missing rules belong: the first file of
	// rules, or their directory.
	rulesFile string
}

// maxRuleFiles and maxPrefixRules bound what is read and compared.
const (
	maxRuleFiles   = 200
	maxPrefixRules = 2000
)

// Codex checks a Codex configuration directory: config.toml and the files
// rules/*.rules.
func Codex(cfg Config, dir string) *Report {
	r := newRun(cfg, "codex")
	rules := filepath.Join(dir, "rules")
	c := &codex{run: r, rulesFile: rules}
	usable := false
	if f, ok := r.load(filepath.Join(dir, "config.toml")); ok {
		if c.config, usable = r.toml(f); usable {
			r.shapes(c.config, codexShapes, nil)
		}
	}
	names, err := ruleFiles(r.resolve(rules))
	if err != nil {
		r.in("P001", c.rulesFile, "cannot be read: "+reason(err), "name a directory of *.rules files")
	}
	if len(names) > maxRuleFiles {
		r.in("X718", c.rulesFile, fmt.Sprintf("%d files are too many, the first %d are read", len(names), maxRuleFiles), "", severity(Error))
		names = names[:maxRuleFiles]
	}
	if len(names) > 0 {
		c.rulesFile = filepath.Join(rules, names[0])
	}
	budget := newBudget()
	for _, name := range names {
		if f, ok := r.load(filepath.Join(rules, name)); ok {
			c.rules = append(c.rules, r.starlark(f, budget)...)
		}
	}
	if len(c.rules) > maxPrefixRules {
		r.in("X718", c.rulesFile, fmt.Sprintf("%d rules are too many, the first %d are judged", len(c.rules), maxPrefixRules), "", severity(Error))
		c.rules = c.rules[:maxPrefixRules]
	}
	if !usable {
		c.config = nil
	}
	apply(r, codexRules, c, nil)
	return r.done()
}

// ruleFiles lists rules/*.rules by name. No directory is no rules.
func ruleFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".rules") && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

var codexShapes = []shape{
	{"sandbox_mode", "string"}, {"default_permissions", "string"},
	{"sandbox_workspace_write", "object"}, {"sandbox_workspace_write.network_access", "boolean"},
	{"permissions", "object"}, {"features", "object"}, {"features.network_proxy", "boolean"},
}

// A decision of a rule, weakest first.
type decision int

const (
	undecided decision = iota
	allowed
	prompt
	forbidden
)

func (d decision) String() string { return [...]string{"undecided", "allow", "prompt", "forbidden"}[d] }

// A prefixRule decides commands that begin with its pattern.
type prefixRule struct {
	pattern  [][]string // alternatives by position
	decision decision
	file     *file
	offset   int
	match    [][]string // examples, as tokens
	notMatch [][]string
}

func (p *prefixRule) matches(tokens []string) bool {
	if len(tokens) < len(p.pattern) {
		return false
	}
	for i, alternatives := range p.pattern {
		if !slices.Contains(alternatives, tokens[i]) {
			return false
		}
	}
	return true
}

func (p *prefixRule) last() []string { return p.pattern[len(p.pattern)-1] }

// text is the pattern as Starlark.
func (p *prefixRule) text() string {
	var parts []string
	for _, alternatives := range p.pattern {
		var words []string
		for _, a := range alternatives {
			words = append(words, quote(a))
		}
		if len(words) == 1 {
			parts = append(parts, words[0])
		} else {
			parts = append(parts, "["+strings.Join(words, ", ")+"]")
		}
	}
	return clip("[" + strings.Join(parts, ", ") + "]")
}

func (c *codex) decide(command string) decision { return c.decideTokens(strings.Fields(command)) }

func (c *codex) decideTokens(tokens []string) (d decision) {
	for i := range c.rules {
		if c.rules[i].matches(tokens) {
			d = max(d, c.rules[i].decision)
		}
	}
	return d
}

// rule reports a prefix rule.
func (r reporter) prefix(p *prefixRule, message string, opts ...option) {
	line, column := p.file.position(p.offset)
	f := Finding{ID: r.rule.ID, Severity: r.rule.Severity, File: p.file.name, Line: line, Column: column,
		Path: "prefix_rule", Message: message, Help: r.rule.Fix, value: p.text()}
	for _, o := range opts {
		o(&f)
	}
	r.run.add(f)
}

// missing reports rules that are not there.
func (c *codex) missing(r reporter, message string) {
	r.run.add(Finding{ID: r.rule.ID, Severity: r.rule.Severity, File: c.rulesFile, Line: 1, Column: 1, Path: "prefix_rule", Message: message, Help: r.rule.Fix, value: message})
}

func prefixRelated(p *prefixRule) option {
	return func(f *Finding) {
		line, column := p.file.position(p.offset)
		f.Related = append(f.Related, Related{p.file.name, line, column, ""})
	}
}

func (c *codex) string(path ...string) string {
	if v := c.config.get(path...); v.is(settings.String) {
		return v.text
	}
	return ""
}

// profileForm is set where default_permissions stands without sandbox_mode.
func (c *codex) profileForm() bool {
	return c.config.get("sandbox_mode") == nil && c.config.get("default_permissions").is(settings.String)
}

// chain lists a profile and what it extends, nearest first; the last name is
// that of a built-in, or of a profile that is not there.
func (c *codex) chain() (names []string) {
	name := c.string("default_permissions")
	for name != "" && !slices.Contains(names, name) && len(names) < 50 {
		names = append(names, name)
		name = c.string("permissions", name, "extends")
	}
	return names
}

// confined reports a profile that ends in a sandbox.
func (c *codex) confined() bool {
	chain := c.chain()
	if !c.profileForm() || len(chain) == 0 {
		return false
	}
	last := chain[len(chain)-1]
	return last == ":workspace" || last == ":read-only"
}

// withConfig runs a check only if config.toml could be read.
func withConfig(f func(*codex, reporter)) func(*codex, reporter) {
	return func(c *codex, r reporter) {
		if c.config != nil {
			f(c, r)
		}
	}
}

// withRules runs a check only if there are rules.
func withRules(f func(*codex, reporter)) func(*codex, reporter) {
	return func(c *codex, r reporter) {
		if len(c.rules) > 0 {
			f(c, r)
		}
	}
}

// gated reports the commands that neither prompt nor are forbidden.
func gated(least decision, commands ...string) func(*codex, reporter) {
	return func(c *codex, r reporter) {
		var open []string
		for _, command := range commands {
			if d := c.decide(command); d < least {
				open = append(open, fmt.Sprintf("%s (%s)", command, d))
			}
		}
		if len(open) > 0 {
			want := "prompt or forbidden"
			if least == forbidden {
				want = "forbidden"
			}
			c.missing(r, "must be "+want+": "+strings.Join(open, ", "))
		}
	}
}

func each(prefix string, words string) (out []string) {
	for _, w := range strings.Fields(words) {
		out = append(out, prefix+" "+w)
	}
	return out
}

var mutations = strings.Fields("create edit close reopen merge ready review comment delete develop lock pin transfer push upload download enable disable run refresh")

// mutates reports an alternative of a final element that names a change.
func mutates(alternatives []string) string {
	for _, a := range alternatives {
		if strings.HasPrefix(a, "-") {
			continue
		}
		for _, part := range strings.FieldsFunc(a, func(r rune) bool { return r == '-' || r == '_' || r == ' ' || r == ':' }) {
			if slices.Contains(mutations, part) {
				return a
			}
		}
	}
	return ""
}

var codexRules = []check[*codex]{
	{Rule{ID: "X701", Severity: Error, Hard: true,
		Summary: `sandbox_mode is not "workspace-write", and no profile confines the session`,
		Why:     "commands run with the reach of the person who started the agent",
		Example: `sandbox_mode = "danger-full-access"`,
		Fix:     `write sandbox_mode = "workspace-write", or default_permissions with a profile that extends ":workspace"`},
		withConfig(func(c *codex, r reporter) {
			if c.string("sandbox_mode") == "workspace-write" || c.confined() {
				return
			}
			at, is := []string{"sandbox_mode"}, "it is not set"
			if v := c.config.get("sandbox_mode"); v != nil {
				is = "it is " + clip(v.compact())
			} else if v := c.config.get("default_permissions"); v != nil {
				at, is = []string{"default_permissions"}, "default_permissions is "+clip(v.compact())
			}
			r.under(c.config, at, `sandbox_mode must be "workspace-write": `+is)
		})},
	{Rule{ID: "X702", Severity: Error, Hard: true,
		Summary: `approval_policy is not "on-request"`,
		Why:     "never runs without questions what the rules do not decide, the other values are deprecated or ask for nothing",
		Example: `approval_policy = "never"`,
		Fix:     `write approval_policy = "on-request"`},
		withConfig(func(c *codex, r reporter) {
			if c.string("approval_policy") == "on-request" {
				return
			}
			is := "it is not set"
			if v := c.config.get("approval_policy"); v != nil {
				is = "it is " + clip(v.compact())
			}
			r.under(c.config, []string{"approval_policy"}, `must be "on-request": `+is)
		})},
	{Rule{ID: "X703", Severity: Error, Hard: true,
		Summary: "sandbox_workspace_write.network_access is not false",
		Why:     "with network a command can send away what it can read",
		Example: "[sandbox_workspace_write]\nnetwork_access = true",
		Fix:     "write network_access = false under [sandbox_workspace_write]"},
		withConfig(func(c *codex, r reporter) {
			path := []string{"sandbox_workspace_write", "network_access"}
			if v := c.config.get(path...); !v.isFalse() && !c.confined() {
				is := "it is not set"
				if v != nil {
					is = "it is " + clip(v.compact())
				}
				r.under(c.config, path, "must be false: "+is)
			}
		})},
	{Rule{ID: "X704", Severity: Error, Hard: true,
		Summary: "there is no valid prefix_rule",
		Why:     "nothing stops what publishes or deletes, such as git push",
		Example: "an empty rules directory",
		Fix:     "add rules/*.rules with a prefix_rule for each command that has to prompt"},
		func(c *codex, r reporter) {
			if len(c.rules) == 0 {
				c.missing(r, "no valid prefix_rule was found")
			}
		}},
	{Rule{ID: "X705", Severity: Error, Hard: true,
		Summary: "git push does not prompt",
		Why:     "it publishes, and a rule that allows it runs it outside the sandbox",
		Example: `prefix_rule(pattern = ["git", "push"])`,
		Fix:     `add prefix_rule(pattern = ["git", "push"], decision = "prompt")`},
		withRules(gated(prompt, "git push origin main"))},
	{Rule{ID: "X706", Severity: Error, Hard: true,
		Summary: "a gh pr command that writes does not prompt",
		Why:     "everyone sees what it does",
		Example: `prefix_rule(pattern = ["gh", "pr"], decision = "allow")`,
		Fix:     `add prefix_rule(pattern = ["gh", "pr", ["create", "edit", "close", "reopen", "merge", "ready", "review", "comment"]], decision = "prompt")`},
		withRules(gated(prompt, each("gh pr", "create edit close reopen merge ready review comment")...))},
	{Rule{ID: "X707", Severity: Error, Hard: true,
		Summary: "a gh issue command that writes does not prompt",
		Why:     "everyone sees what it does",
		Example: `prefix_rule(pattern = ["gh", "issue"], decision = "allow")`,
		Fix:     `add prefix_rule(pattern = ["gh", "issue", ["create", "edit", "close", "reopen", "comment", "delete", "transfer"]], decision = "prompt")`},
		withRules(gated(prompt, each("gh issue", "create edit close reopen comment delete transfer")...))},
	{Rule{ID: "X708", Severity: Error, Hard: true,
		Summary: "gh api does not prompt",
		Why:     "it does everything that the other commands do, and more",
		Example: `prefix_rule(pattern = ["gh", "api"], decision = "allow")`,
		Fix:     `add prefix_rule(pattern = ["gh", "api"], decision = "prompt")`},
		withRules(gated(prompt, "gh api x"))},
	{Rule{ID: "X709", Severity: Error, Hard: true,
		Summary: "gh auth token or gh auth refresh is not forbidden",
		Why:     "the first prints a token, the second widens it",
		Example: `prefix_rule(pattern = ["gh", "auth", "token"], decision = "prompt")`,
		Fix:     `add prefix_rule(pattern = ["gh", "auth", ["token", "refresh"]], decision = "forbidden")`},
		withRules(gated(forbidden, "gh auth token", "gh auth refresh"))},
	{Rule{ID: "X710", Severity: Error, Hard: true,
		Summary: "no rule allows reading: an allow rule of two elements or more whose last one changes nothing",
		Why:     "where everything prompts, people stop reading the prompts",
		Example: "rules that only prompt",
		Fix:     `add prefix_rule(pattern = ["gh", ["pr", "issue"], ["view", "list"]], decision = "allow")`},
		withRules(func(c *codex, r reporter) {
			if !slices.ContainsFunc(c.rules, func(p prefixRule) bool {
				return p.decision == allowed && len(p.pattern) >= 2 && mutates(p.last()) == ""
			}) {
				c.missing(r, "no rule allows a command that only reads")
			}
		})},
	{Rule{ID: "X711", Severity: Error, Hard: true,
		Summary: "an allow rule ends in a word that changes something",
		Why:     "the command runs without a question, and outside the sandbox",
		Example: `prefix_rule(pattern = ["gh", "pr", "merge"], decision = "allow")`,
		Fix:     `write decision = "prompt"; a missing decision means allow`},
		withRules(func(c *codex, r reporter) {
			for i := range c.rules {
				if p := &c.rules[i]; p.decision == allowed {
					if word := mutates(p.last()); word != "" {
						r.prefix(p, fmt.Sprintf("%s allows %s", p.text(), quote(word)))
					}
				}
			}
		})},
	{Rule{ID: "X712", Severity: Error, Hard: true,
		Summary: "gh release download is allowed",
		Why:     "it brings programs of others to this machine",
		Example: `prefix_rule(pattern = ["gh"])`,
		Fix:     `add prefix_rule(pattern = ["gh", "release", "download"], decision = "prompt")`},
		func(c *codex, r reporter) {
			tokens := strings.Fields("gh release download x")
			if c.decideTokens(tokens) != allowed {
				return
			}
			for i := range c.rules {
				if p := &c.rules[i]; p.matches(tokens) {
					r.prefix(p, p.text()+" allows gh release download")
					return
				}
			}
		}},
	{Rule{ID: "X713", Severity: Error, Hard: true,
		Summary: "a rule allows a dangerous command",
		Why:     "an allowed command runs without a question, and outside the sandbox",
		Example: `prefix_rule(pattern = ["docker"])`,
		Fix:     `write decision = "prompt", or allow single sub-commands; a missing decision means allow`},
		func(c *codex, r reporter) {
			for i := range c.rules {
				p := &c.rules[i]
				if p.decision != allowed {
					continue
				}
				var labels []string
				for _, probe := range c.run.probes() {
					if tokens := strings.Fields(probe.Command); p.matches(tokens) && c.decideTokens(tokens) == allowed {
						labels = append(labels, probe.Label)
					}
				}
				if len(labels) > 0 {
					r.prefix(p, p.text()+" allows: "+labelList(labels))
				}
			}
		}},
	{Rule{ID: "X714", Severity: Error,
		Summary: "default_permissions stands next to sandbox_mode or sandbox_workspace_write",
		Why:     "within one file the profile wins; in any higher layer sandbox_mode drops it without a word",
		Example: "default_permissions = \":workspace\"\nsandbox_mode = \"workspace-write\"",
		Fix:     "keep one of the two forms"},
		withConfig(func(c *codex, r reporter) {
			profile := c.config.get("default_permissions")
			if profile == nil {
				return
			}
			for _, name := range []string{"sandbox_mode", "sandbox_workspace_write"} {
				if v := c.config.get(name); v != nil {
					r.at(profile, "default_permissions stands next to "+name+": readers and layers take different ones", related(v))
					return
				}
			}
		})},
	{Rule{ID: "X715", Severity: Error, Hard: true,
		Summary: "the selected profile opens the network while features.network_proxy is not true",
		Why:     "without the proxy the profile's domain rules are not enforced",
		Example: "default_permissions = \"p\"\n[permissions.p]\nextends = \":workspace\"\nnetwork.enabled = true",
		Fix:     "write network_proxy = true under [features], or network.enabled = false"},
		withConfig(func(c *codex, r reporter) {
			if c.config.get("features", "network_proxy").isTrue() {
				return
			}
			for _, name := range c.chain() {
				v := c.config.get("permissions", name, "network", "enabled")
				if v.isTrue() {
					r.at(v, "opens the network while features.network_proxy is not true: domain rules are not enforced")
				}
				if v.is(settings.Bool) {
					return
				}
			}
		})},
	{Rule{ID: "X716", Severity: Error,
		Summary: "a profile's file system entry is malformed",
		Why:     "Codex refuses to start with it, or it protects nothing",
		Example: "[permissions.p.filesystem]\n\"src/**\" = \"write\"",
		Fix:     `name an absolute path, ~/… or a :key; globs take deny only, but for a /** at the end; the access is read, write, deny or none`},
		withConfig(func(c *codex, r reporter) {
			for _, profile := range c.config.get("permissions").children() {
				for _, entry := range profile.get("filesystem").children() {
					c.entry(entry, true, r)
				}
			}
		})},
	{Rule{ID: "X717", Severity: Warning,
		Summary: "a rule is weaker than another with the same or a shorter prefix",
		Why:     "the strictest rule decides: this one has no effect",
		Example: "prefix_rule(pattern = [\"git\", \"push\"], decision = \"prompt\")\nprefix_rule(pattern = [\"git\"], decision = \"forbidden\")",
		Fix:     "remove it, or narrow the other one"},
		func(c *codex, r reporter) {
			for i := range c.rules {
				p := &c.rules[i]
				for j := range c.rules {
					if other := &c.rules[j]; other.decision > p.decision && other.covers(p) {
						r.prefix(p, fmt.Sprintf("%s (%s) has no effect: %s is %s", p.text(), p.decision, other.text(), other.decision), prefixRelated(other))
						break
					}
				}
			}
		}},
	{Rule{ID: "X718", Severity: Warning,
		Summary: "a statement is no prefix_rule or host_executable; an error where a rules file cannot be evaluated",
		Why:     "Codex refuses to run with a rules file that it cannot evaluate",
		Example: `load("x.star", "y")`,
		Fix:     "remove the statement, or mend the file"}, nil},
	{Rule{ID: "X719", Severity: Error,
		Summary: "a rule contradicts one of its own match or not_match examples",
		Why:     "Codex refuses to load the file",
		Example: `prefix_rule(pattern = ["git", "push"], match = ["git pull"])`,
		Fix:     "mend the pattern or the example"},
		func(c *codex, r reporter) {
			for i := range c.rules {
				p := &c.rules[i]
				for _, example := range p.match {
					if !p.matches(example) {
						r.prefix(p, fmt.Sprintf("%s does not match its example %s", p.text(), quote(strings.Join(example, " "))), of(strings.Join(example, " ")))
					}
				}
				for _, example := range p.notMatch {
					if p.matches(example) {
						r.prefix(p, fmt.Sprintf("%s matches %s, which not_match excludes", p.text(), quote(strings.Join(example, " "))), of(strings.Join(example, " ")))
					}
				}
			}
		}},
	{Rule{ID: "X720", Severity: Warning,
		Summary: "a prompt or forbidden pattern ends in a flag",
		Why:     "a pattern is a prefix: it does not match when the flag comes later",
		Example: `prefix_rule(pattern = ["git", "push", "--force"], decision = "forbidden")`,
		Fix:     "end the pattern before the flag"},
		func(c *codex, r reporter) {
			for i := range c.rules {
				p := &c.rules[i]
				if p.decision >= prompt && len(p.pattern) > 1 && slices.ContainsFunc(p.last(), func(a string) bool { return len(a) > 1 && a[0] == '-' }) {
					r.prefix(p, p.text()+" does not match when the flag comes later")
				}
			}
		}},
}

// covers reports that whatever other matches, p matches too.
func (p *prefixRule) covers(other *prefixRule) bool {
	if len(p.pattern) > len(other.pattern) {
		return false
	}
	for i, alternatives := range p.pattern {
		for _, word := range other.pattern[i] {
			if !slices.Contains(alternatives, word) {
				return false
			}
		}
	}
	return true
}

// entry checks one entry of a profile's file system table. Below a :key paths
// are relative to it.
func (c *codex) entry(v *value, top bool, r reporter) {
	name := v.name
	if name == "glob_scan_max_depth" && v.is(settings.Number) {
		return
	}
	if v.is(settings.Object) && top && strings.HasPrefix(name, ":") {
		for _, kid := range v.children() {
			c.entry(kid, false, r)
		}
		return
	}
	switch {
	case strings.HasPrefix(name, "/~/"):
		r.at(v, quote(name)+" is not below the home directory: write "+quote(name[1:]))
	case top && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "~/") && !strings.HasPrefix(name, ":") && !windowsAbsolute(name):
		r.at(v, quote(name)+" is neither absolute nor ~/… nor a :key")
	case !v.is(settings.String):
		r.at(v, fmt.Sprintf("the access of %s must be read, write, deny or none, not %s", quote(name), v.kind))
	case v.text != "read" && v.text != "write" && v.text != "deny" && v.text != "none":
		r.at(v, fmt.Sprintf("the access of %s must be read, write, deny or none, not %s", quote(name), clip(quote(v.text))))
	case (v.text == "read" || v.text == "write") && hasWildcard(name):
		r.at(v, fmt.Sprintf("%s is a glob, which takes deny only, not %s", quote(name), v.text))
	}
}

func windowsAbsolute(p string) bool {
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') || strings.HasPrefix(p, `\\`)
}
