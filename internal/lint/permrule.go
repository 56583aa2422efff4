package lint

import (
	"slices"
	"strings"

	"sallyport/internal/bashrule"
)

// A permission is one entry of permissions.allow, ask or deny.
type permission struct {
	value *value
	list  string // allow, ask, deny
	tool  string
	spec  string
	// hasSpec is set where parentheses stand, even with nothing between them.
	hasSpec bool
	// broken entries have parentheses that do not match; the client skips them.
	broken bool
	where  anchors

	commands []string   // of a command rule: what it matches, see commandForms
	paths    []pathForm // of a file rule
}

// anchors are the directories that the patterns of a file's rules start at.
type anchors struct {
	home   string // absolute, empty if not known
	source string // what "/" stands for: an absolute directory or a mark of its own
	start  string // what no anchor stands for
}

// A pathForm is a path pattern with its anchor resolved, split at slashes. The
// first part is the anchor, empty for the root of the file system.
type pathForm []string

func parsePermission(v *value, list string, where anchors) permission {
	p := permission{value: v, list: list, where: where}
	text := v.text
	p.tool = text
	if open := strings.IndexByte(text, '('); open >= 0 {
		p.hasSpec = true
		p.tool = text[:open]
		if p.broken = !strings.HasSuffix(text, ")"); !p.broken {
			p.spec = text[open+1 : len(text)-1]
		}
	} else {
		p.broken = strings.Contains(text, ")") || strings.TrimSpace(text) == ""
	}
	p.broken = p.broken || p.tool == ""
	switch {
	case p.broken:
	case p.isCommand():
		p.commands = commandForms(p.spec)
		if p.tool == "PowerShell" {
			for i := range p.commands {
				p.commands[i] = strings.ToLower(p.commands[i])
			}
		}
	case p.isFile() && p.hasSpec:
		p.paths = where.forms(p.spec, list)
	}
	return p
}

func (p *permission) isCommand() bool { return p.tool == "Bash" || p.tool == "PowerShell" }

func (p *permission) isFile() bool { return p.tool == "Read" || p.tool == "Edit" }

// all reports a rule that matches every call of its tool.
func (p *permission) all() bool {
	switch {
	case p.broken:
		return false
	case !p.hasSpec:
		return true
	case p.isCommand():
		return slices.ContainsFunc(p.commands, func(c string) bool { return strings.Trim(c, "*") == "" })
	case p.tool == "WebFetch":
		return p.spec == "*" || p.spec == "" || p.spec == "domain:*"
	}
	return p.spec == "*"
}

// parameter returns the input parameter that a rule of the form
// Tool(parameter:value) names; ok is false where the text is the tool's own
// syntax.
func (p *permission) parameter() (name string, ok bool) {
	name, _, ok = strings.Cut(p.spec, ":")
	if p.broken || !ok || !isIdentifier(name) {
		return "", false
	}
	if known, listed := toolParameters[p.tool]; listed {
		return name, slices.Contains(known, name)
	}
	// Of the others only some have a syntax with a colon in it.
	switch p.tool {
	case "Skill", "SlashCommand", "Cd":
		return "", false
	}
	return name, knownTool(p.tool)
}

func isIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != ""
}

// toolParameters are the scalar inputs of tools whose rules have a syntax of
// their own.
var toolParameters = map[string][]string{
	"Bash":         {"command", "description", "timeout", "run_in_background", "dangerouslyDisableSandbox"},
	"PowerShell":   {"command", "description", "timeout", "run_in_background", "dangerouslyDisableSandbox"},
	"Monitor":      {"command", "description", "timeout"},
	"Read":         {"file_path", "offset", "limit", "pages"},
	"Edit":         {"file_path", "old_string", "new_string", "replace_all"},
	"Write":        {"file_path", "content"},
	"MultiEdit":    {"file_path", "edits"},
	"NotebookEdit": {"notebook_path", "cell_id", "new_source", "cell_type", "edit_mode"},
	"NotebookRead": {"notebook_path", "cell_id"},
	"Glob":         {"pattern", "path"},
	"Grep":         {"pattern", "path", "glob", "type", "output_mode", "multiline", "head_limit"},
	"LS":           {"path", "ignore"},
	"WebFetch":     {"url", "prompt"},
	"WebSearch":    {"query", "allowed_domains", "blocked_domains"},
	"Agent":        {"model", "subagent_type", "prompt", "description", "run_in_background", "isolation", "resume", "name", "mode"},
	"Task":         {"model", "subagent_type", "prompt", "description", "run_in_background", "isolation", "resume", "name", "mode"},
}

// mainParameter names the field that a tool's rules are about: no rule can
// match it as a parameter.
func mainParameter(name string) bool {
	switch name {
	case "command", "file_path", "path", "url", "notebook_path":
		return true
	}
	return false
}

// commandForms are the patterns that a command rule stands for: "*" is any
// text. A blank before a final "*" also matches nothing at all.
func commandForms(spec string) []string {
	spec = strings.TrimSpace(spec)
	if prefix, ok := strings.CutSuffix(spec, ":*"); ok {
		spec = prefix + " *"
	}
	if strings.Trim(spec, "* ") == "" {
		return []string{"*"}
	}
	if prefix, ok := strings.CutSuffix(spec, " *"); ok {
		return []string{strings.TrimRight(prefix, " "), spec}
	}
	return []string{spec}
}

// matches reports whether the rule decides a call of a command tool. It is
// asked for single commands only, in all the forms that rules are compared with.
func (p *permission) matches(tool string, forms []string) bool {
	if p.broken || !toolCovers(p.tool, tool, p.list) {
		return false
	}
	if !p.hasSpec {
		return true
	}
	if p.tool != tool || p.hasParameterSyntax() {
		return false
	}
	return slices.ContainsFunc(forms, func(form string) bool {
		if tool == "PowerShell" {
			form = strings.ToLower(form)
		}
		return slices.ContainsFunc(p.commands, func(pattern string) bool { return bashrule.Wildcard(pattern, form) })
	})
}

// hasParameterSyntax is parameter without a main field: Bash(git:status) has
// the tool's own syntax, Bash(timeout:5) has not.
func (p *permission) hasParameterSyntax() bool {
	_, ok := p.parameter()
	return ok
}

// toolCovers reports whether a rule's tool name stands for a tool. Globs count
// in deny and ask; in allow only behind mcp__<server>__.
func toolCovers(pattern, tool, list string) bool {
	if pattern == tool {
		return true
	}
	if server, ok := mcpServer(pattern); ok && strings.HasPrefix(tool, server+"__") {
		return true
	}
	if !strings.Contains(pattern, "*") {
		return false
	}
	if list == "allow" && !mcpGlob(pattern) {
		return false
	}
	return bashrule.Wildcard(pattern, tool)
}

// mcpServer is "mcp__s" for the patterns mcp__s and mcp__s__*.
func mcpServer(pattern string) (string, bool) {
	rest, ok := strings.CutPrefix(pattern, "mcp__")
	if !ok {
		return "", false
	}
	rest = strings.TrimSuffix(rest, "__*")
	if rest == "" || strings.Contains(rest, "__") || strings.Contains(rest, "*") {
		return "", false
	}
	return "mcp__" + rest, true
}

// mcpGlob reports a glob that the client takes in allow.
func mcpGlob(tool string) bool {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	if !ok {
		return false
	}
	server, _, ok := strings.Cut(rest, "__")
	return ok && server != "" && !strings.Contains(server, "*")
}

// forms resolves the anchor of a path pattern. A pattern that could mean
// something else than is modelled here stays one opaque part, equal only to
// itself.
func (a anchors) forms(spec, list string) []pathForm {
	anchor, rest := "", ""
	switch {
	case spec == "" || strings.ContainsAny(spec, `[\`) || spec[0] == '!':
		return []pathForm{{"?" + a.start, spec}}
	case strings.HasPrefix(spec, "//"):
		rest = spec[2:]
	case spec == "~" || strings.HasPrefix(spec, "~/"):
		anchor, rest = "~", strings.TrimPrefix(spec[1:], "/")
		if a.home != "" {
			anchor, rest = "", strings.Trim(a.home, "/")+"/"+rest
		}
	case spec[0] == '/':
		anchor, rest = "/source:"+a.source, spec[1:]
		if strings.HasPrefix(a.source, "/") {
			anchor, rest = "", strings.Trim(a.source, "/")+"/"+rest
		}
	default:
		rest = strings.TrimPrefix(spec, "./")
		trimmed := strings.TrimSuffix(rest, "/")
		dir, isDir := strings.CutSuffix(rest, "/**")
		switch {
		case !strings.HasPrefix(spec, "./") && !strings.Contains(trimmed, "/"):
			rest = "**/" + rest // a bare name, at any depth
		case isDir && !strings.HasPrefix(spec, "./") && !strings.Contains(dir, "/") && list != "allow":
			rest = "**/" + rest
		}
		anchor = "/start:" + a.start
		if strings.HasPrefix(a.start, "/") {
			anchor, rest = "", strings.Trim(a.start, "/")+"/"+rest
		}
	}
	parts := pathForm{anchor}
	for _, part := range strings.Split(rest, "/") {
		switch part {
		case "", ".":
		case "..":
			if len(parts) == 1 || strings.Contains(parts[len(parts)-1], "*") {
				return []pathForm{{"?" + a.start, spec}}
			}
			parts = parts[:len(parts)-1]
		default:
			parts = append(parts, part)
		}
	}
	if strings.HasSuffix(rest, "/") && len(parts) > 1 {
		parts[len(parts)-1] += "/" // directories only
	}
	return []pathForm{parts}
}

// covers reports that every path of other is one of f. "**" is any number of
// directories; at the end it needs something to stand for.
func (f pathForm) covers(other pathForm) bool {
	if f[0] != other[0] {
		return false
	}
	return coverParts(f[1:], other[1:])
}

func coverParts(a, b []string) bool {
	// match[j]: what of a is behind covers b[:j]
	match := make([]bool, len(b)+1)
	match[0] = true
	for i, part := range a {
		next := make([]bool, len(b)+1)
		if part == "**" {
			open := false
			for j := 0; j <= len(b); j++ {
				if i == len(a)-1 {
					// Needs at least one part.
					next[j] = open
					open = open || match[j]
					continue
				}
				open = open || match[j]
				next[j] = open
			}
		} else {
			for j, other := range b {
				next[j+1] = match[j] && other != "**" && bashrule.Wildcard(part, other)
			}
		}
		match = next
	}
	return match[len(b)]
}

// covers reports that every call that other can match is matched by p, both
// read as rules of their own lists.
func (p *permission) covers(other *permission) bool {
	if p.broken || other.broken || p.value == other.value {
		return false
	}
	readsEdit := p.list == "deny" && p.tool == "Read" && other.tool == "Edit"
	if !toolCovers(p.tool, other.tool, p.list) && !readsEdit {
		return false
	}
	if !p.hasSpec {
		return true
	}
	if p.tool != other.tool && !readsEdit {
		return false
	}
	if p.hasParameterSyntax() || other.hasParameterSyntax() {
		return p.spec == other.spec && p.tool == other.tool
	}
	switch {
	case p.isCommand():
		if !other.hasSpec {
			return p.all()
		}
		for _, c := range other.commands {
			if !slices.ContainsFunc(p.commands, func(pattern string) bool { return bashrule.Wildcard(pattern, c) }) {
				return false
			}
		}
		return true
	case p.isFile():
		if !other.hasSpec {
			return false
		}
		for _, b := range other.paths {
			if !slices.ContainsFunc(p.paths, func(a pathForm) bool { return a.covers(b) }) {
				return false
			}
		}
		return true
	case p.tool == "WebFetch":
		return p.all() || other.hasSpec && domainCovers(p.spec, other.spec)
	}
	return other.hasSpec && p.spec == other.spec
}

// domainCovers compares two "domain:" texts.
func domainCovers(a, b string) bool {
	a, okA := strings.CutPrefix(a, "domain:")
	b, okB := strings.CutPrefix(b, "domain:")
	if !okA || !okB {
		return a == b
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
	if a == b || a == "*" {
		return true
	}
	suffix, ok := strings.CutPrefix(a, "*")
	// "*.x" matches what ends in ".x" with something before it.
	return ok && strings.HasPrefix(suffix, ".") && !strings.Contains(suffix, "*") &&
		strings.HasSuffix(b, suffix) && len(b) > len(suffix)
}
