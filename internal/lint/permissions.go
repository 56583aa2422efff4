package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sallyport/settings"
)

// maxRules bounds how many rules are compared pair by pair.
const maxRules = 2000

// maxCompare bounds what a run spends on comparing rules, in units of about a
// nanosecond. A long list of short rules, or a short one of long ones, has no
// reader any more.
const maxCompare = 60_000_000

// covers is [permission.covers] as long as there is work left to spend.
func (c *claude) covers(p, other *permission) bool {
	if p.tool != other.tool && !strings.Contains(p.tool, "*") && p.tool != "Read" && !strings.HasPrefix(p.tool, "mcp__") {
		return false
	}
	if p.isCommand() && len(p.commands) > 0 && len(other.commands) > 0 {
		a, b := p.commands[0], other.commands[0]
		if a != "" && b != "" && a[0] != '*' && a[0] != b[0] {
			return false
		}
	}
	c.run.compared += 20 + len(p.spec)*len(other.spec)/4
	return c.run.compared < maxCompare && p.covers(other)
}

// eachRule runs a check for every entry of the lists named.
func eachRule(lists string, f func(*claude, *permission, reporter)) func(*claude, reporter) {
	return func(c *claude, r reporter) {
		for i := range c.rules {
			if p := &c.rules[i]; slices.Contains(strings.Fields(lists), p.list) {
				f(c, p, r)
			}
		}
	}
}

// coveredBy is the first of the rules that covers p, nil without one.
func (c *claude) coveredBy(p *permission, rules []*permission) *permission {
	for _, other := range rules {
		if c.covers(other, p) {
			return other
		}
	}
	return nil
}

// tooMany reports rules that are not compared, or no further.
func (c *claude) tooMany() bool {
	return len(c.rules)+len(c.others) > 2*maxRules || c.run.compared >= maxCompare
}

var permissionRules = []check[*claude]{
	{Rule{ID: "R301", Severity: Warning, Mends: true,
		Summary: "a path rule for Write, NotebookEdit, MultiEdit, Glob, Grep or LS; an error in deny and ask",
		Why:     "the client accepts it and never consults it: Edit covers the tools that write, Read those that read",
		Example: `{"permissions": {"deny": ["Write(secrets/**)"]}}`,
		Fix:     "write Edit(…) or Read(…)"},
		eachRule("allow ask deny", func(c *claude, p *permission, r reporter) {
			to := consultedTool(p)
			if to == "" {
				return
			}
			sev := Error
			if p.list == "allow" {
				sev = Warning
			}
			better := to + "(" + p.spec + ")"
			r.at(p.value, fmt.Sprintf("%s is never consulted", quote(p.value.text)), severity(sev), help("write "+quote(better)))
		})},
	{Rule{ID: "R302", Severity: Warning,
		Summary: "an allow rule is covered by an ask rule",
		Why:     "ask is looked at before allow: the call always prompts",
		Example: `{"permissions": {"allow": ["Bash(gh pr view *)"], "ask": ["Bash(gh *)"]}}`,
		Fix:     "narrow the ask rule, or drop the allow rule"},
		eachRule("allow", func(c *claude, p *permission, r reporter) {
			if c.tooMany() || c.coveredBy(p, c.ofAllScopes("deny")) != nil {
				return
			}
			if ask := c.coveredBy(p, c.ofAllScopes("ask")); ask != nil {
				r.at(p.value, fmt.Sprintf("%s always prompts: the ask rule %s%s covers it", quote(p.value.text), quote(ask.value.text), elsewhere(p, ask)), related(ask.value))
			}
		})},
	{Rule{ID: "R303", Severity: Warning,
		Summary: "an allow or ask rule is covered by a deny rule",
		Why:     "deny is looked at first: the rule is never reached",
		Example: `{"permissions": {"deny": ["Bash(aws *)"], "allow": ["Bash(aws s3 ls)"]}}`,
		Fix:     "drop the rule, or narrow the deny rule"},
		eachRule("allow ask", func(c *claude, p *permission, r reporter) {
			if c.tooMany() {
				return
			}
			if deny := c.coveredBy(p, c.ofAllScopes("deny")); deny != nil {
				r.at(p.value, fmt.Sprintf("%s is never reached: the deny rule %s%s covers it", quote(p.value.text), quote(deny.value.text), elsewhere(p, deny)), related(deny.value))
			}
		})},
	{Rule{ID: "R304", Severity: Warning, Mends: true,
		Summary: "a rule stands twice, or another rule of the same list covers it",
		Why:     "it does nothing, and who edits one of the two believes to have changed something",
		Example: `{"permissions": {"allow": ["Bash(ls *)", "Bash(ls:*)"]}}`,
		Fix:     "remove it"},
		func(c *claude, r reporter) {
			for _, list := range []string{"deny", "ask", "allow"} {
				c.redundant(list, r)
			}
		}},
	{Rule{ID: "R305", Severity: Warning, Mends: true,
		Summary: "a path that looks absolute begins with one slash; an error in deny",
		Why:     "one slash is the directory of the settings file: the rule protects or opens something else",
		Example: `{"permissions": {"deny": ["Read(/etc/shadow)"]}}`,
		Fix:     "begin absolute paths with two slashes"},
		eachRule("allow ask deny", func(c *claude, p *permission, r reporter) {
			if !c.singleSlash(p) {
				return
			}
			sev := Warning
			if p.list == "deny" {
				sev = Error
			}
			r.at(p.value, fmt.Sprintf("%s starts at the settings file's directory, not at the root", quote(p.value.text)),
				severity(sev), help("write "+quote(p.tool+"(/"+p.spec+")")))
		})},
	{Rule{ID: "R306", Severity: Warning,
		Summary: "a glob in permissions.additionalDirectories",
		Why:     "entries are taken literally: it matches nothing",
		Example: `{"permissions": {"additionalDirectories": ["../libs/*"]}}`,
		Fix:     "name each directory"},
		func(c *claude, r reporter) {
			for _, e := range c.root.get("permissions", "additionalDirectories").strings() {
				if strings.ContainsAny(e.text, "*?[") {
					r.at(e, quote(e.text)+" is taken literally and never matches")
				}
			}
		}},
	{Rule{ID: "R307", Severity: Warning,
		Summary: "additionalDirectories stands at the top level",
		Why:     "the client does not read it there",
		Example: `{"additionalDirectories": ["../lib"]}`,
		Fix:     "move it into permissions"},
		func(c *claude, r reporter) {
			if v := c.root.get("additionalDirectories"); v != nil {
				r.at(v, "is not read here; it belongs under permissions")
			}
		}},
	{Rule{ID: "R308", Severity: Warning,
		Summary: "an allow rule's tool name is a glob outside mcp__<server>__",
		Why:     "the client skips it",
		Example: `{"permissions": {"allow": ["mcp__*"]}}`,
		Fix:     "name the tools, or write mcp__<server>__*"},
		eachRule("allow", func(c *claude, p *permission, r reporter) {
			if !p.broken && strings.Contains(p.tool, "*") && !mcpGlob(p.tool) {
				r.at(p.value, quote(p.value.text)+" is skipped: in allow a * may stand only after mcp__<server>__")
			}
		})},
	{Rule{ID: "R309", Severity: Error,
		Summary: "an allow rule approves a dangerous command without a question",
		Why:     "neither a deny nor an ask rule stops the command, and an agent that was talked into it runs it",
		Example: `{"permissions": {"allow": ["Bash(docker *)"]}}`,
		Fix:     "allow the sub-commands that are needed, or put the dangerous ones under ask or deny"},
		eachRule("allow", func(c *claude, p *permission, r reporter) {
			if labels := c.approves(p); len(labels) > 0 {
				r.at(p.value, quote(p.value.text)+" approves without a question: "+labelList(labels))
			}
		})},
	{Rule{ID: "R310", Severity: Warning,
		Summary: ":* stands inside a command pattern",
		Why:     "only at the end does it mean any arguments; elsewhere the colon is literal and matches no ordinary command",
		Example: `{"permissions": {"allow": ["Bash(git:* main)"]}}`,
		Fix:     "write a blank and *: Bash(git * main)"},
		eachRule("allow ask deny", func(c *claude, p *permission, r reporter) {
			if p.broken || !p.isCommand() || p.hasParameterSyntax() {
				return
			}
			for rest := strings.TrimSpace(p.spec); ; {
				i := strings.Index(rest, ":*")
				if i < 0 || i+2 == len(rest) {
					return
				}
				word := rest[strings.LastIndexByte(rest[:i], ' ')+1 : i]
				if !strings.Contains(word, "://") {
					r.at(p.value, fmt.Sprintf("%s: the colon in \":*\" is literal unless it ends the pattern", quote(p.value.text)))
					return
				}
				rest = rest[i+2:]
			}
		})},
	{Rule{ID: "R311", Severity: Warning,
		Summary: "a rule names an input parameter that the client does not match",
		Why:     "the rule is ignored: allow takes no parameters, and the main field of a tool has the tool's own syntax",
		Example: `{"permissions": {"deny": ["Bash(command:rm *)"]}}`,
		Fix:     "write the tool's own syntax: Bash(rm *), Read(path), WebFetch(domain:host)"},
		eachRule("allow ask deny", func(c *claude, p *permission, r reporter) {
			name, ok := p.parameter()
			if !ok || p.list != "allow" && !mainParameter(name) {
				return
			}
			r.at(p.value, fmt.Sprintf("%s is ignored: the parameter %q cannot be matched here", quote(p.value.text), name))
		})},
	{Rule{ID: "R312", Severity: Warning,
		Summary: "a WebFetch rule without domain:",
		Why:     "the client skips it",
		Example: `{"permissions": {"allow": ["WebFetch(https://example.com/)"]}}`,
		Fix:     "write WebFetch(domain:example.com)"},
		eachRule("allow ask deny", func(c *claude, p *permission, r reporter) {
			if p.broken || p.tool != "WebFetch" || p.spec == "" || p.spec == "*" || strings.HasPrefix(p.spec, "domain:") {
				return
			}
			if _, ok := p.parameter(); ok {
				return
			}
			r.at(p.value, quote(p.value.text)+" is skipped: it names no domain", help("write "+quote("WebFetch(domain:"+hostOf(p.spec)+")")))
		})},
	{Rule{ID: "R313", Severity: Warning,
		Summary: "a rule for a tool that does not exist",
		Why:     "names are case-sensitive; a mistyped deny protects nothing",
		Example: `{"permissions": {"deny": ["bash(rm *)"]}}`,
		Fix:     "write the tool's name"},
		eachRule("allow ask deny", func(c *claude, p *permission, r reporter) {
			if p.broken || strings.ContainsAny(p.tool, "_*") || knownTool(p.tool) {
				return
			}
			advice := "see the client's list of tools"
			if near := c.run.nearestTool(p.tool); near != "" {
				better := near
				if p.hasSpec {
					better += "(" + p.spec + ")"
				}
				advice = "did you mean " + quote(better) + "?"
			}
			r.at(p.value, quote(p.tool)+" is no tool of the client", help(advice))
		})},
	{Rule{ID: "R314", Severity: Warning,
		Summary: "an allow rule for a program that runs what follows it",
		Why:     "the pattern approves whatever is named next; of some wrappers (watch, setsid, ionice, flock, find -exec) the client never approves a prefix rule at all",
		Example: `{"permissions": {"allow": ["Bash(npx *)"]}}`,
		Fix:     "name the program: Bash(npx prettier *)"},
		eachRule("allow", func(c *claude, p *permission, r reporter) {
			if p.broken || !p.isCommand() || !p.hasSpec || p.all() || p.hasParameterSyntax() {
				return
			}
			switch runner, kind := runnerOf(p.commands[len(p.commands)-1]); kind {
			case runsAnything:
				r.at(p.value, fmt.Sprintf("%s approves whatever %s is given to run", quote(p.value.text), runner))
			case neverApproved:
				r.at(p.value, fmt.Sprintf("%s does nothing: %s is never approved by a prefix rule", quote(p.value.text), runner), help("remove it; the call prompts whatever the rule says"))
			}
		})},
	{Rule{ID: "R315", Severity: Info,
		Summary: "a network command is constrained by its arguments",
		Why:     "options before the address, redirects, other schemes and variables all get past the pattern",
		Example: `{"permissions": {"allow": ["Bash(curl https://example.com/ *)"]}}`,
		Fix:     "allow WebFetch(domain:example.com), and leave curl and wget denied"},
		eachRule("allow ask deny", func(c *claude, p *permission, r reporter) {
			if p.broken || !p.isCommand() || p.all() {
				return
			}
			if host := constrainedHost(p.commands[len(p.commands)-1]); host != "" {
				r.at(p.value, quote(p.value.text)+" is easily bypassed", help("use "+quote("WebFetch(domain:"+host+")")))
			}
		})},
	{Rule{ID: "R316", Severity: Info,
		Summary: "a wildcard in sandbox.filesystem.allowWrite or denyWrite, or in an Edit rule (--platform linux or wsl)",
		Why:     "the Linux sandbox ignores such an entry without a word",
		Example: `{"sandbox": {"filesystem": {"denyWrite": ["src/*.gen.go"]}}}`,
		Fix:     "name files and directories"},
		func(c *claude, r reporter) {
			if p := c.run.cfg.Platform; p != "linux" && p != "wsl" {
				return
			}
			for _, list := range []string{"allowWrite", "denyWrite"} {
				for _, e := range c.root.get("sandbox", "filesystem", list).strings() {
					if hasWildcard(e.text) {
						r.at(e, quote(e.text)+" is ignored by the sandbox on Linux")
					}
				}
			}
			for i := range c.rules {
				if p := &c.rules[i]; !p.broken && p.tool == "Edit" && p.list != "ask" && hasWildcard(p.spec) {
					r.at(p.value, quote(p.value.text)+" binds the client's own tools, and is ignored by the sandbox on Linux")
				}
			}
		}},
	{Rule{ID: "R317", Severity: Warning,
		Summary: "a relative path in the sandbox lists of a user settings file",
		Why:     "it starts at ~/.claude there, not at the project",
		Example: `~/.claude/settings.json: {"sandbox": {"filesystem": {"allowRead": ["."]}}}`,
		Fix:     "write ~/… or an absolute path, or move it into the project's file"},
		func(c *claude, r reporter) {
			if c.file.scope != settings.User {
				return
			}
			c.sandboxPaths(func(e *value) {
				if !strings.HasPrefix(e.text, "/") && !strings.HasPrefix(e.text, "~") && !strings.HasPrefix(e.text, "$") {
					r.at(e, quote(e.text)+" means a path below ~/.claude in a user settings file")
				}
			})
		}},
	{Rule{ID: "R318", Severity: Warning,
		Summary: "a sandbox path that begins with /~/ or ~name",
		Why:     "neither is the home directory: the entry names nothing",
		Example: `{"sandbox": {"filesystem": {"denyRead": ["/~/.ssh"]}}}`,
		Fix:     "write ~/…"},
		func(c *claude, r reporter) {
			c.sandboxPaths(func(e *value) {
				text := e.text
				if text == "/~" || strings.HasPrefix(text, "/~/") || len(text) > 1 && text[0] == '~' && text[1] != '/' {
					r.at(e, quote(text)+" is not below the home directory")
				}
			})
		}},
	{Rule{ID: "R319", Severity: Error,
		Summary: "a deny rule with nothing between its parentheses, or without the closing one",
		Why:     "the client skips it: nothing is denied",
		Example: `{"permissions": {"deny": ["Read()"]}}`,
		Fix:     "complete the rule, or write the bare tool name"},
		eachRule("deny", func(c *claude, p *permission, r reporter) {
			switch {
			case p.broken:
				r.at(p.value, quote(p.value.text)+": the parentheses do not match")
			case p.hasSpec && strings.TrimSpace(p.spec) == "":
				r.at(p.value, quote(p.value.text)+": nothing stands between the parentheses")
			}
		})},
	{Rule{ID: "R320", Severity: Warning,
		Summary: "a denied Read that commands get around: the sandbox is off and a program that reads files is allowed",
		Why:     "Read rules do not bind other programs",
		Example: `{"permissions": {"deny": ["Read(.env)"], "allow": ["Bash(python *)"]}}`,
		Fix:     "turn the sandbox on and add the path to sandbox.filesystem.denyRead"},
		func(c *claude, r reporter) {
			if c.sandboxOn {
				return
			}
			reader := c.allowedReader()
			if reader == nil {
				return
			}
			for _, p := range c.list("deny") {
				if p.tool == "Read" && p.hasSpec && !p.broken && p.spec != "" && !p.hasParameterSyntax() {
					r.at(p.value, fmt.Sprintf("%s does not stop %s, and the sandbox is off", quote(p.value.text), quote(reader.value.text)), related(reader.value))
				}
			}
		}},
	{Rule{ID: "R321", Severity: Warning,
		Summary: "a key that the client honours only in files of other scopes",
		Why:     "it does nothing where it stands",
		Example: `.claude/settings.json: {"sandbox": {"network": {"strictAllowlist": true}}}`,
		Fix:     "move it to a user or managed settings file"},
		func(c *claude, r reporter) {
			for _, path := range scopedKeys {
				steps := strings.Split(path, ".")
				v := c.root.get(steps...)
				if v == nil {
					continue
				}
				why := settings.Misplaced(c.file.scope, steps)
				if v.isFalse() && steps[len(steps)-1] == "allowNestedUserNamespaces" {
					why = "" // false counts everywhere
				}
				if why != "" {
					r.at(v, fmt.Sprintf("is ignored in a %s settings file: %s", c.file.scope, why))
				}
			}
		}},
	{Rule{ID: "R322", Severity: Warning,
		Summary: "a deny rule of a user settings file whose path is relative",
		Why:     "it binds only below the directory that a session runs in",
		Example: `~/.claude/settings.json: {"permissions": {"deny": ["Read(.env)"]}}`,
		Fix:     "write Read(//**/.env)"},
		eachRule("deny", func(c *claude, p *permission, r reporter) {
			if c.file.scope != settings.User || p.broken || !p.isFile() || p.spec == "" || strings.ContainsAny(p.spec[:1], "/~") || p.hasParameterSyntax() {
				return
			}
			better := p.tool + "(//**/" + strings.TrimPrefix(strings.TrimPrefix(p.spec, "./"), "**/") + ")"
			r.at(p.value, quote(p.value.text)+" binds only below the working directory", help("write "+quote(better)))
		})},
}

// scopedKeys are looked for by R321.
var scopedKeys = []string{
	"sandbox.filesystem.disabled", "sandbox.network.strictAllowlist", "sandbox.network.tlsTerminate", "sandbox.allowAppleEvents",
	"sandbox.ripgrep", "sandbox.allowNestedUserNamespaces", "sandbox.bwrapPath", "sandbox.socatPath",
	"sandbox.credentials.allowPlaintextInject", "sandbox.credentials.awsPairs", "sandbox.credentials.sigv4",
	"sandbox.network.allowManagedDomainsOnly", "sandbox.filesystem.allowManagedReadPathsOnly",
	"allowManagedPermissionRulesOnly", "allowManagedHooksOnly", "allowManagedMcpServersOnly",
}

// elsewhere names the other rule's file if it is not p's own.
func elsewhere(p, other *permission) string {
	if p.value.file == other.value.file {
		return ""
	}
	return " of " + other.value.file.name
}

// consultedTool is the tool whose path rules the client consults in place of
// p's, empty if p is no such rule.
func consultedTool(p *permission) string {
	if p.broken || p.spec == "" {
		return ""
	}
	if _, ok := p.parameter(); ok {
		return ""
	}
	switch p.tool {
	case "Write", "NotebookEdit", "MultiEdit":
		return "Edit"
	case "Glob", "Grep", "LS":
		return "Read"
	}
	return ""
}

// redundant reports the rules of one list that another one makes useless.
func (c *claude) redundant(list string, r reporter) {
	rules := c.list(list)
	first := make(map[string]*permission, len(rules))
	var kept []*permission
	for _, p := range rules {
		if earlier, ok := first[p.value.text]; ok {
			r.at(p.value, quote(p.value.text)+" stands twice", related(earlier.value))
			continue
		}
		first[p.value.text] = p
		kept = append(kept, p)
	}
	defer func() {
		if c.tooMany() && len(rules) > 0 {
			r.at(c.root.get("permissions", list), "the rules are too many, or too long, to be compared with each other", help("replace them with patterns"), of(list))
		}
	}()
	if c.tooMany() {
		return
	}
	required := func(p *permission) bool { return list == "deny" && slices.Contains(c.requiredDeny(), p.value.text) }
	for i, p := range kept {
		// What SL109 demands word for word is not redundant.
		if required(p) {
			continue
		}
		for j, other := range kept {
			// An Edit deny also closes the path to the sandbox's writes, which
			// a Read deny does not.
			if p.tool != other.tool && other.tool == "Read" || !c.covers(other, p) {
				continue
			}
			// Of two that cover each other the later one goes.
			if j > i && !required(other) && c.covers(p, other) {
				continue
			}
			r.at(p.value, fmt.Sprintf("%s is covered by %s", quote(p.value.text), quote(other.value.text)), related(other.value))
			break
		}
	}
}

var rootDirs = []string{"/etc", "/home", "/Users", "/var", "/usr", "/opt", "/root", "/tmp", "/private", "/mnt", "/srv", "/run",
	"/proc", "/sys", "/dev", "/bin", "/sbin", "/lib"}

// singleSlash reports a path rule that means the root of the file system and
// says the directory of its file.
func (c *claude) singleSlash(p *permission) bool {
	if p.broken || !p.isFile() || !strings.HasPrefix(p.spec, "/") || strings.HasPrefix(p.spec, "//") {
		return false
	}
	dirs := rootDirs
	if home := strings.TrimRight(c.run.cfg.Home, "/"); home != "" {
		dirs = append(dirs[:len(dirs):len(dirs)], home)
	}
	return slices.ContainsFunc(dirs, func(dir string) bool { return p.spec == dir || strings.HasPrefix(p.spec, dir+"/") })
}

// approves lists what of the dangerous commands an allow rule lets through.
func (c *claude) approves(p *permission) (labels []string) {
	for _, probe := range c.run.probes() {
		for _, tool := range []string{"Bash", "PowerShell"} {
			if p.matches(tool, c.run.forms(probe.Command)) && !c.stopped(tool, probe.Command) {
				labels = append(labels, probe.Label)
				break
			}
		}
	}
	return labels
}

// stopped reports that a deny or ask rule decides a command.
func (c *claude) stopped(tool, command string) bool {
	key := tool + " " + command
	answer, known := c.stops[key]
	if known {
		return answer
	}
	for _, list := range []string{"deny", "ask"} {
		answer = answer || slices.ContainsFunc(c.ofAllScopes(list), func(p *permission) bool { return p.matches(tool, c.run.forms(command)) })
	}
	if c.stops == nil {
		c.stops = make(map[string]bool)
	}
	c.stops[key] = answer
	return answer
}

// allowedReader is an allow rule under which a program reads any file.
func (c *claude) allowedReader() *permission {
	for _, p := range c.list("allow") {
		for _, command := range []string{"cat x", "python x", "python3 x", "head x", "tail x", "less x", "grep x x", "sed x x", "awk x x", "node x", "perl x", "ruby x"} {
			if p.matches("Bash", c.run.forms(command)) && !c.stopped("Bash", command) {
				return p
			}
		}
	}
	return nil
}

// sandboxPaths visits every entry of the sandbox's path lists.
func (c *claude) sandboxPaths(f func(*value)) {
	for _, list := range []string{"denyRead", "allowRead", "allowWrite", "denyWrite"} {
		for _, e := range c.root.get("sandbox", "filesystem", list).strings() {
			f(e)
		}
	}
}

func hasWildcard(pattern string) bool {
	return strings.ContainsAny(strings.TrimSuffix(pattern, "/**"), "*?[")
}

// hostOf guesses the host that a WebFetch rule means.
func hostOf(spec string) string {
	if _, rest, ok := strings.Cut(spec, "://"); ok {
		spec = rest
	}
	if i := strings.IndexAny(spec, "/:?#"); i >= 0 {
		spec = spec[:i]
	}
	if spec == "" || spec == "*" {
		return "example.com"
	}
	return spec
}

// constrainedHost is the host in the pattern of a network command, empty for
// other commands and for patterns without one.
func constrainedHost(pattern string) string {
	words := strings.Fields(pattern)
	if len(words) < 2 || words[0] != "curl" && words[0] != "wget" {
		return ""
	}
	for _, w := range words[1:] {
		w = strings.Trim(w, `"'`)
		if w == "" || w[0] == '-' || w[0] == '*' {
			continue
		}
		host := strings.Trim(hostOf(w), ".*")
		if strings.Contains(w, "://") || isHost(host) {
			return cmp.Or(host, "example.com")
		}
	}
	return ""
}

// isHost reports a name with at least two labels.
func isHost(s string) bool {
	labels := strings.Split(strings.Trim(s, "."), ".")
	if len(labels) < 2 {
		return false
	}
	for _, l := range labels {
		if l == "" || strings.Trim(strings.ToLower(l), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return true
}

type runnerKind int

const (
	noRunner runnerKind = iota
	runsAnything
	neverApproved
)

// A runner is a program whose arguments name another program.
type runner struct {
	words    []string
	operands int  // that stand before the program
	dashes   bool // the program stands behind "--"
}

var runners = []runner{
	{words: []string{"npx"}}, {words: []string{"uvx"}}, {words: []string{"bunx"}},
	{words: []string{"pnpm", "dlx"}}, {words: []string{"yarn", "dlx"}}, {words: []string{"pipx", "run"}},
	{words: []string{"docker", "exec"}, operands: 1}, {words: []string{"podman", "exec"}, operands: 1},
	{words: []string{"direnv", "exec"}, operands: 1}, {words: []string{"devbox", "run"}},
	{words: []string{"mise", "exec"}, dashes: true}, {words: []string{"mise", "x"}, dashes: true},
	{words: []string{"uv", "run"}}, {words: []string{"poetry", "run"}},
}

// runnerOf tells whether a command pattern leaves open which program a runner
// starts, or is for a wrapper that no prefix rule approves.
func runnerOf(pattern string) (name string, kind runnerKind) {
	words := strings.Fields(pattern)
	if len(words) == 0 || !strings.Contains(pattern, "*") {
		return "", noRunner
	}
	first := strings.TrimSuffix(words[0], "*")
	switch first {
	case "watch", "setsid", "ionice", "flock":
		return first, neverApproved
	case "find":
		for _, w := range words[1:] {
			switch strings.TrimRight(w, "*") {
			case "-exec", "-execdir", "-ok", "-okdir", "-delete":
				return "find " + strings.TrimRight(w, "*"), neverApproved
			}
		}
		return "", noRunner
	}
	for _, rn := range runners {
		if open := rn.open(words); open {
			return strings.Join(rn.words, " "), runsAnything
		}
	}
	return "", noRunner
}

// open reports that a "*" stands where the runner's program is named.
func (rn *runner) open(words []string) bool {
	for _, w := range rn.words {
		if len(words) == 0 {
			return false
		}
		if words[0] == w+"*" {
			return true
		}
		if words[0] != w {
			return false
		}
		words = words[1:]
	}
	operands := rn.operands
	for _, w := range words {
		switch {
		case strings.HasPrefix(w, "*"):
			return true
		case w == "--":
			operands = 0
			if rn.dashes {
				rn = &runner{}
			}
		case w[0] == '-':
			if strings.HasSuffix(w, "*") {
				return true
			}
		case rn.dashes:
		case operands > 0:
			operands--
		default:
			return false
		}
	}
	return false
}
