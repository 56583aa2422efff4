package policy

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Claude Code: permission rules and the sandbox section of a settings file.
// Facts: Claude Code documentation, August 2026, and docs/settings.md.

const webFetch = "WebFetch(domain:"

// claudeLists and claudeScalars are the members of the sandbox section that this
// compiler manages, in the order of a new file.
var (
	claudeTop        = []string{"enabled", "credentials", "enableWeakerNestedSandbox", "enableWeakerNetworkIsolation", "ignoreViolations"}
	claudeFilesystem = []string{"allowWrite", "denyWrite", "denyRead", "allowRead"}
	claudeNetwork    = []string{"allowedDomains", "deniedDomains", "allowLocalBinding", "allowUnixSockets", "allowAllUnixSockets", "allowMachLookup", "strictAllowlist", "httpProxyPort", "socksProxyPort"}
)

// claudeTarget is the settings file of the mode, and its scope.
func (c *compiler) claudeTarget() (target, scope, root string, err error) {
	target = c.cfg.ClaudeSettings
	if c.yolo {
		if target = c.cfg.ClaudeSettingsYolo; target == "" {
			target = filepath.Join(filepath.Dir(c.cfg.ClaudeSettings), yoloName(filepath.Base(c.cfg.ClaudeSettings)))
		}
		if target == c.cfg.ClaudeSettings {
			return "", "", "", fmt.Errorf("%s: the file of the yolo mode would be claude_settings itself; name targets.claude_settings_yolo", c.cfg.Path)
		}
	}
	dir := filepath.Dir(target)
	scope = c.cfg.Scope
	if scope == "" {
		user := filepath.Join(c.env.Home, ".claude")
		custom := c.env.Getenv("CLAUDE_CONFIG_DIR")
		switch {
		case sameDir(dir, user), custom != "" && sameDir(dir, custom):
			scope = "user"
		case filepath.Base(dir) == ".claude":
			scope = "project"
		default:
			return "", "", "", fmt.Errorf("%s: it cannot be told whether %s is a user's or a project's settings file; set claude.scope", c.cfg.Path, target)
		}
	}
	if scope == "project" {
		root = filepath.ToSlash(filepath.Dir(dir))
	}
	return target, scope, root, nil
}

func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := filepath.EvalSymlinks(a)
	y, errY := filepath.EvalSymlinks(b)
	return errX == nil && errY == nil && x == y
}

// yoloName derives the name of the yolo file: the part before the first dot that
// is not the first character, ".yolo", and the last extension.
func yoloName(name string) string {
	if len(name) < 2 {
		return name + ".yolo"
	}
	dot := strings.IndexByte(name[1:], '.')
	if dot < 0 {
		return name + ".yolo"
	}
	return name[:dot+1] + ".yolo" + name[strings.LastIndexByte(name, '.'):]
}

// claudeRule spells a canonical path for a permission rule; inside is its
// spelling for everything below. Either may be empty.
func (c *compiler) claudeRule(p pathEntry) (itself, inside string) {
	s := p.Canon
	switch {
	case p.Glob && p.relative():
		if c.cfg.GlobAnchor == "root" && strings.HasPrefix(s, "**/") {
			return "//" + s, ""
		}
		return s, ""
	case p.Glob && strings.HasPrefix(s, "/"):
		return "/" + s, ""
	case p.Glob:
		return s, ""
	case s == ".":
		return "", "./**"
	case s == "/":
		return "", "//**"
	case strings.HasPrefix(s, "/"):
		s = "/" + s
	case p.relative():
		s = "./" + s
	}
	return s, s + "/**"
}

func (c *compiler) claude(p *product) {
	target, scope, root, err := c.claudeTarget()
	if err != nil {
		c.n.fail(errConfig, err)
		return
	}
	pl := c.place(root)
	out := &claudeOutput{yolo: c.yolo, prune: c.prune, project: scope == "project"}
	add := func(list *[]string, decision, text string, r rule) {
		if slices.Contains(*list, text) {
			return
		}
		*list = append(*list, text)
		r.text, r.decision, r.layer = text, decision, "app"
		p.match = append(p.match, r)
	}
	pathRules := func(e pathEntry, tools []string, inside bool) {
		at, below := c.claudeRule(e)
		for _, tool := range tools {
			r := rule{from: e.entry, path: &e, read: tool == "Read", write: tool == "Edit"}
			if at != "" {
				add(&out.deny, "deny", tool+"("+at+")", r)
			}
			if below != "" && (inside || at == "") {
				r.below = at != ""
				add(&out.deny, "deny", tool+"("+below+")", r)
			}
		}
	}
	for _, e := range pl.unique(c.srt.DenyRead) {
		if open := c.opened(pl, e); open != "" {
			c.warn("CLAUDE-CARVEOUT", Warn, Claude, e.entry, "no permission rule for %s: a deny would also block %s, which is readable again; the sandbox still denies it to commands", e, open)
			continue
		}
		pathRules(e, []string{"Read", "Edit"}, pl.kind(e) != file)
	}
	for _, e := range pl.unique(c.srt.DenyWrite) {
		pathRules(e, []string{"Edit"}, pl.kind(e) == dir)
	}
	for _, d := range c.srt.Denied {
		if d.Port != "" {
			c.warn("CLAUDE-DOMAIN-PORT", Lossy, Claude, d.entry, "a WebFetch rule has no port: %q is denied on every port", d.Text)
		}
		add(&out.deny, "deny", webFetch+d.Host+")", rule{from: d.entry, domain: &d})
	}
	for _, cmd := range c.bash.Deny {
		r := rule{from: cmd.entry, command: cmd.texts(), raw: cmd.Text}
		add(&out.deny, "deny", "Bash("+cmd.Text+")", r)
		add(&out.deny, "deny", "Bash("+cmd.Text+" *)", r)
	}
	if !c.yolo {
		for _, cmd := range c.bash.Ask {
			r := rule{from: cmd.entry, command: cmd.texts(), raw: cmd.Text}
			add(&out.ask, "ask", "Bash("+cmd.Text+")", r)
			add(&out.ask, "ask", "Bash("+cmd.Text+" *)", r)
		}
	}
	for _, d := range c.srt.Allowed {
		if d.Port != "" {
			c.warn("CLAUDE-DOMAIN-PORT", Lossy, Claude, d.entry, "a WebFetch rule has no port and would allow every one: no rule for %q", d.Text)
			continue
		}
		add(&out.allow, "allow", webFetch+d.Host+")", rule{from: d.entry, domain: &d})
	}
	if len(c.bash.Allow) > 0 {
		c.warn("CLAUDE-BASH-ALLOW", Info, Claude, entry{Source: "bash", Pointer: "/allow"}, "allowed commands are not compiled: what may run unasked stays with the sandbox and with Claude's own rules")
	}
	c.claudeSandbox(p, out, pl)
	p.content = out.content()
	p.files = []*targetFile{{
		path: target, fresh: indentJSON(p.content),
		merge: func(old []byte, _ []ownedEntry) ([]byte, []ownedEntry, error) {
			text, err := out.merge(old)
			return text, nil, err
		},
		seed: func(other []byte) ([]byte, error) {
			fresh := *out
			fresh.prune = true
			leave := c.cfg.OverridesFull
			if !c.yolo {
				leave = c.cfg.OverridesYolo
			}
			other, err := withoutOverrides(other, leave, out.overridden)
			if err != nil {
				return nil, err
			}
			text, err := fresh.merge(other)
			if err == nil {
				err = fresh.check(other, text)
			}
			return text, err
		},
		check: func(old, new []byte, _ []ownedEntry) error { return out.check(old, new) },
		diff:  func(old []byte, _ []ownedEntry) ([]difference, error) { return out.diff(old) },
	}}
}

// opened names what allowRead opens again inside a denied region, or "".
func (c *compiler) opened(pl place, deny pathEntry) string {
	for _, e := range c.srt.AllowRead {
		at := pl.abs(e)
		if e.Glob {
			at = staticBase(at)
		}
		if pl.covers(deny, at) {
			return e.String()
		}
	}
	if pl.Root != "" && pl.covers(deny, pl.Root) {
		return "the project"
	}
	return ""
}

func (c *compiler) claudeSandbox(p *product, out *claudeOutput, pl place) {
	s := c.srt
	user := !out.project
	drops := user && c.cfg.RelativePaths == "drop"
	lists := map[string][]pathEntry{"denyRead": s.DenyRead, "denyWrite": s.DenyWrite, "allowRead": s.AllowRead, "allowWrite": s.AllowWrite}
	var filesystem, network object
	for _, name := range claudeFilesystem {
		if !s.has("filesystem." + name) {
			continue
		}
		values := []string{}
		for _, e := range lists[name] {
			if drops && e.relative() {
				c.warn("CLAUDE-RELATIVE", Warn, Claude, e.entry, "%s is left out of sandbox.filesystem.%s: in a user's settings file it would mean ~/.claude/%s", e, name, e.Text)
				if name == "allowRead" && slices.ContainsFunc(s.DenyRead, func(d pathEntry) bool { return pl.covers(d, c.env.Home) }) {
					c.warn("CLAUDE-ALLOWREAD-CWD", Warn, Claude, e.entry, "denyRead covers the home directory and %s is left out: commands will not read the files of a project there; compile to a project's .claude directory instead", e)
				}
				continue
			}
			values = append(values, e.Text)
		}
		filesystem.set(name, values)
	}
	for _, name := range claudeNetwork {
		full := "network." + name
		switch {
		case !s.has(full):
			if name == "allowedDomains" {
				network.set(name, []string{})
			}
		case name == "strictAllowlist" && out.project:
			c.warn("SRT-NOT-COMPILED", Info, Claude, c.key(full), "strictAllowlist does nothing in a project's settings file and is not compiled")
		default:
			network.set(name, plainJSON(s.values[full]))
		}
	}
	var top object
	for _, name := range claudeTop {
		if s.has(name) {
			top.set(name, plainJSON(s.values[name]))
		}
	}
	over := c.cfg.OverridesFull
	section := "sandbox_overrides.full"
	if c.yolo {
		over, section = c.cfg.OverridesYolo, "sandbox_overrides.yolo"
	}
	c.override(out, section, over, &top, &filesystem, &network)
	if s.Enabled != nil && !*s.Enabled {
		if v, _ := top.get("enabled"); v != true {
			c.warn("SRT-DISABLED", Warn, Claude, c.key("enabled"), "enabled is false: commands will run outside any sandbox")
		}
	}
	for _, list := range []struct {
		name    string
		entries []pathEntry
	}{{"denyWrite", s.DenyWrite}, {"allowWrite", s.AllowWrite}} {
		if i := slices.IndexFunc(list.entries, func(e pathEntry) bool { return e.Glob }); i >= 0 {
			c.warn("CLAUDE-LINUX-WRITEGLOB", Info, Claude, list.entries[i].entry, "on Linux and WSL Claude's sandbox ignores patterns in %s; there only the Edit rule acts", list.name)
		}
	}
	// enabled first, the rest by name.
	slices.SortStableFunc(top, func(a, b member) int {
		if a.name == "enabled" || b.name == "enabled" {
			if a.name == b.name {
				return 0
			} else if a.name == "enabled" {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	if len(filesystem) > 0 {
		top.set("filesystem", filesystem)
	}
	top.set("network", network)
	out.sandbox = top

	kernel := func(list []pathEntry, decision string, read, write bool, name string) {
		for _, e := range list {
			if drops && e.relative() {
				continue
			}
			p.match = append(p.match, rule{text: "sandbox.filesystem." + name + ": " + e.Text, decision: decision, layer: "kernel", from: e.entry, path: &e, read: read, write: write})
		}
	}
	kernel(s.DenyRead, "deny", true, false, "denyRead")
	kernel(s.DenyWrite, "deny", false, true, "denyWrite")
	for _, d := range s.Denied {
		p.match = append(p.match, rule{text: "sandbox.network.deniedDomains: " + d.Text, decision: "deny", layer: "kernel", from: d.entry, domain: &d})
	}
	for _, d := range s.Allowed {
		p.match = append(p.match, rule{text: "sandbox.network.allowedDomains: " + d.Text, decision: "allow", layer: "kernel", from: d.entry, domain: &d})
	}
}

// plainJSON is a value of a source, for the settings file.
func plainJSON(raw json.RawMessage) any {
	v, err := decodeJSON(raw)
	if err != nil {
		return raw // not reached: the source was parsed
	}
	switch x := v.(type) {
	case bool, json.Number:
		return x
	case []any:
		if list, ok := stringList(x); ok {
			return list
		}
	}
	return raw // keeps the order of an object's members
}

func stringList(list []any) ([]string, bool) {
	out := make([]string, 0, len(list))
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// override lays the values of a mode over those of the SRT file.
func (c *compiler) override(out *claudeOutput, section string, over map[string]any, top, filesystem, network *object) {
	loosens := func(key, why string) {
		c.n.add(Warning{ID: "OVERRIDE-LOOSENS", Level: Warn, Agent: string(Claude), Source: "config", Pointer: "/" + strings.ReplaceAll(section, ".", "/") + "/" + key,
			Message: fmt.Sprintf("%s: %s %s", section, strings.ReplaceAll(key, "/", "."), why)})
	}
	put := func(o *object, prefix, name string, v any) {
		if list, ok := v.([]any); ok {
			if s, ok := stringList(list); ok {
				v = s
			}
		}
		if out.project && (prefix == "network" && name == "strictAllowlist" || prefix == "filesystem" && name == "disabled") {
			c.n.add(Warning{ID: "SRT-NOT-COMPILED", Level: Info, Agent: string(Claude), Source: "config", Message: fmt.Sprintf("%s.%s.%s does nothing in a project's settings file and is not compiled", section, prefix, name)})
			return
		}
		if deny := name == "denyRead" || name == "denyWrite" || name == "deniedDomains"; deny {
			before, _ := o.get(name)
			had, _ := before.([]string)
			now, _ := v.([]string)
			if i := slices.IndexFunc(had, func(s string) bool { return !slices.Contains(now, s) }); i >= 0 {
				loosens(prefix+"/"+name, fmt.Sprintf("drops %q, which the policy denies", had[i]))
			}
		}
		o.set(name, v)
		out.overridden = append(out.overridden, strings.TrimPrefix(prefix+"."+name, "."))
	}
	for _, name := range sortedNames(over) {
		v := over[name]
		table, isTable := v.(map[string]any)
		switch {
		case (name == "network" || name == "filesystem") && isTable:
			o := network
			if name == "filesystem" {
				o = filesystem
			}
			for _, inner := range sortedNames(table) {
				put(o, name, inner, table[inner])
				switch {
				case name == "filesystem" && inner == "disabled" && table[inner] == true && !out.project:
					loosens("filesystem/disabled", "= true takes the file sandbox away")
				case name == "network" && inner == "allowAllUnixSockets" && table[inner] == true:
					loosens("network/allowAllUnixSockets", "= true opens every socket, those of daemons too")
				}
			}
		case name == "credentials" && isTable:
			merged := map[string]any{}
			if old, ok := top.get(name); ok {
				if raw, ok := old.(json.RawMessage); ok {
					if v, err := decodeJSON(raw); err == nil {
						merged, _ = v.(map[string]any)
					}
				}
			}
			for inner, value := range table {
				merged[inner] = value
			}
			put(top, "", name, merged)
		case name == "network" || name == "filesystem" || name == "credentials":
			c.n.problem(errConfig, "%s: %s.%s is a table; write [%s.%s]", c.cfg.Path, section, name, section, name)
		default:
			put(top, "", name, v)
			switch {
			case name == "enabled" && v == false, name == "allowUnsandboxedCommands" && v == true,
				strings.HasPrefix(name, "enableWeaker") && v == true:
				loosens(name, fmt.Sprintf("= %v", v))
			case name == "excludedCommands":
				if _, ok := v.([]any); ok {
					loosens(name, "takes commands out of the sandbox")
				}
			}
		}
	}
}

// withoutOverrides takes out what only the other mode sets.
func withoutOverrides(text []byte, other map[string]any, kept []string) ([]byte, error) {
	doc, err := claudeDocument(text)
	if err != nil {
		return nil, err
	}
	e := jsonEdit{root: doc.Root()}
	for _, name := range sortedNames(other) {
		names := []string{name}
		if table, ok := other[name].(map[string]any); ok && (name == "network" || name == "filesystem") {
			names = nil
			for _, inner := range sortedNames(table) {
				names = append(names, name+"."+inner)
			}
		}
		for _, full := range names {
			if !slices.Contains(kept, full) {
				e.remove(append([]string{"sandbox"}, strings.Split(full, ".")...)...)
			}
		}
	}
	return e.apply(text)
}
