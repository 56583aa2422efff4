package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"sallyport/settings"
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

// A claudeOutput is the compiled part of a Claude settings file.
type claudeOutput struct {
	deny, ask, allow []string
	sandbox          object
	overridden       []string // dotted, below sandbox
	yolo             bool
	prune            bool
	project          bool
}

func emptyList(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func (o *claudeOutput) content() object {
	permissions := object{{"deny", emptyList(o.deny)}}
	if !o.yolo {
		permissions.set("ask", emptyList(o.ask))
	}
	permissions.set("allow", emptyList(o.allow))
	return object{{"permissions", permissions}, {"sandbox", o.sandbox}}
}

// A managed is one value of the sandbox section: its path and, if it is
// compiled, its value.
type managed struct {
	path  []string
	value any
	there bool
}

func (m managed) section() string { return strings.Join(m.path, ".") }

// managed lists every value of the sandbox section that is ours, in the order of
// a new file: the compiled ones, and known ones that the policy no longer has.
func (o *claudeOutput) managed() []managed {
	var out []managed
	seen := map[string]bool{}
	add := func(value any, there bool, path ...string) {
		key := strings.Join(path, ".")
		if !seen[key] {
			seen[key] = true
			out = append(out, managed{append([]string{"sandbox"}, path...), value, there})
		}
	}
	var nested []member
	for _, m := range o.sandbox {
		if m.name == "filesystem" || m.name == "network" {
			nested = append(nested, m)
			continue
		}
		add(m.value, true, m.name)
	}
	for _, name := range claudeTop {
		add(nil, false, name)
	}
	for _, section := range []struct {
		name string
		keys []string
	}{{"filesystem", claudeFilesystem}, {"network", claudeNetwork}} {
		for _, m := range nested {
			if m.name == section.name {
				for _, inner := range m.value.(object) {
					add(inner.value, true, section.name, inner.name)
				}
			}
		}
		for _, name := range section.keys {
			if o.project && name == "strictAllowlist" {
				continue
			}
			add(nil, false, section.name, name)
		}
	}
	return out
}

func targetJSON(format string, args ...any) error {
	return &Problem{"ABORT-TARGET-JSON", fmt.Sprintf(format, args...)}
}

// claudeDocument parses a target and refuses one that cannot be merged into
// without a guess.
func claudeDocument(old []byte) (*settings.Document, error) {
	if len(strings.TrimSpace(strings.TrimPrefix(string(old), "\ufeff"))) == 0 {
		old = []byte("{}")
	}
	doc, err := settings.ParseDocument(old)
	if err != nil {
		return nil, targetJSON("%v; mend the file", err)
	}
	if doc.Root().Kind() != settings.Object {
		return nil, targetJSON("the file holds %s, want an object", doc.Root().Kind())
	}
	for _, path := range [][]string{{"permissions"}, {"sandbox"}, {"sandbox", "network"}, {"sandbox", "filesystem"}} {
		n := doc.Root().Get(path...)
		if k := n.Kind(); k != settings.Object && k != settings.Absent {
			line, column := n.Position()
			return nil, targetJSON("line %d, column %d: %s is %s, want an object", line, column, strings.Join(path, "."), k)
		}
	}
	for _, name := range []string{"deny", "ask", "allow"} {
		if err := wantStrings(doc.Root().Get("permissions", name), "permissions."+name); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

func wantStrings(n settings.Node, name string) error {
	if n.Kind() == settings.Absent {
		return nil
	}
	bad := n
	if n.Kind() == settings.Array {
		bad = settings.Node{}
		n.Each(func(_ string, item settings.Node) bool {
			if item.Kind() != settings.String {
				bad = item
			}
			return true
		})
	}
	if bad.Kind() == settings.Absent {
		return nil
	}
	line, column := bad.Position()
	return targetJSON("line %d, column %d: %s is not a list of strings", line, column, name)
}

// elements are the strings of a list, decoded and as written.
func elements(n settings.Node) (text []string, raw []json.RawMessage) {
	n.Each(func(_ string, item settings.Node) bool {
		if s, ok := item.Text(); ok && n.Kind() == settings.Array {
			text = append(text, s)
			raw = append(raw, item.Raw())
		}
		return true
	})
	return text, raw
}

// mergedAllow is the allow list of a target: foreign entries as they are written,
// ours behind them.
func (o *claudeOutput) mergedAllow(n settings.Node) []json.RawMessage {
	text, raw := elements(n)
	out := []json.RawMessage{}
	for i := range text {
		if !strings.HasPrefix(text[i], webFetch) {
			out = append(out, raw[i])
		}
	}
	for _, s := range o.allow {
		out = append(out, compactJSON(s))
	}
	return out
}

func (o *claudeOutput) merge(old []byte) ([]byte, error) {
	doc, err := claudeDocument(old)
	if err != nil {
		return nil, err
	}
	e := jsonEdit{root: doc.Root()}
	e.set(emptyList(o.deny), "permissions", "deny")
	if o.yolo {
		e.remove("permissions", "ask")
	} else {
		e.set(emptyList(o.ask), "permissions", "ask")
	}
	e.set(o.mergedAllow(doc.Root().Get("permissions", "allow")), "permissions", "allow")
	for _, m := range o.managed() {
		switch {
		case m.there:
			e.set(m.value, m.path...)
		case o.prune:
			e.remove(m.path...)
		}
	}
	return e.apply(old)
}

// A jsonEdit collects the changes that a text needs.
type jsonEdit struct {
	root    settings.Node
	changes []settings.Change
}

// set replaces a value that is not already equal. Where the value's place was
// changed before, it has to be asked for unconditionally, with put.
func (e *jsonEdit) set(value any, path ...string) {
	if n := e.root.Get(path...); n.Kind() == settings.Absent || !sameValue(n.Raw(), value) {
		e.put(value, path...)
	}
}

func (e *jsonEdit) put(value any, path ...string) {
	e.changes = append(e.changes, settings.Set(json.RawMessage(compactJSON(value)), path...))
}

func (e *jsonEdit) remove(path ...string) {
	if e.root.Get(path...).Kind() != settings.Absent {
		e.changes = append(e.changes, settings.Delete(path...))
	}
}

func (e *jsonEdit) apply(old []byte) ([]byte, error) {
	if len(e.changes) == 0 {
		return old, nil
	}
	out, err := settings.Patch(old, e.changes...)
	if err != nil {
		return nil, targetJSON("%v; mend the file", err)
	}
	return out, nil
}

// sameValue compares a value as it is written with one of ours.
func sameValue(raw []byte, value any) bool {
	a, errA := decodeJSON(raw)
	b, errB := decodeJSON(compactJSON(value))
	return errA == nil && errB == nil && reflect.DeepEqual(a, b)
}

// check decodes both texts: without our parts they are equal, and our parts are
// as compiled.
func (o *claudeOutput) check(old, new []byte) error {
	before, err := decodeObject(old)
	if err != nil {
		return err
	}
	after, err := decodeObject(new)
	if err != nil {
		return err
	}
	want := map[string]any{"deny": emptyList(o.deny), "ask": emptyList(o.ask)}
	for name, list := range want {
		got, there := dig(after, "permissions", name)
		if name == "ask" && o.yolo {
			if there {
				return errors.New("permissions.ask is still there")
			}
			continue
		}
		if !there || !sameValue(compactJSON(got), list) {
			return fmt.Errorf("permissions.%s is not as compiled", name)
		}
	}
	allow, _ := dig(after, "permissions", "allow")
	var ours []string
	for _, m := range toStrings(allow) {
		if strings.HasPrefix(m, webFetch) {
			ours = append(ours, m)
		}
	}
	if !slices.Equal(ours, o.allow) {
		return errors.New("permissions.allow is not as compiled")
	}
	for _, m := range o.managed() {
		got, there := dig(after, m.path...)
		switch {
		case m.there && (!there || !sameValue(compactJSON(got), m.value)):
			return fmt.Errorf("%s is not as compiled", m.section())
		case !m.there && o.prune && there:
			return fmt.Errorf("%s is still there", m.section())
		case !m.there && !o.prune:
			had, was := dig(before, m.path...)
			if was != there || !reflect.DeepEqual(had, got) {
				return fmt.Errorf("%s changed", m.section())
			}
		}
	}
	for _, doc := range []map[string]any{before, after} {
		undig(doc, "permissions", "deny")
		undig(doc, "permissions", "ask")
		if v, ok := dig(doc, "permissions", "allow"); ok {
			var rest []any
			for _, s := range toStrings(v) {
				if !strings.HasPrefix(s, webFetch) {
					rest = append(rest, s)
				}
			}
			undig(doc, "permissions", "allow")
			if len(rest) > 0 {
				doc["permissions"].(map[string]any)["allow"] = rest
			}
		}
		for _, m := range o.managed() {
			undig(doc, m.path...)
		}
		for _, path := range [][]string{{"sandbox", "network"}, {"sandbox", "filesystem"}, {"sandbox"}, {"permissions"}} {
			if v, ok := dig(doc, path...); ok {
				if m, ok := v.(map[string]any); ok && len(m) == 0 {
					undig(doc, path...)
				}
			}
		}
	}
	if !reflect.DeepEqual(before, after) {
		return errors.New("a part that is not ours changed")
	}
	return nil
}

func decodeObject(data []byte) (map[string]any, error) {
	if len(strings.TrimSpace(strings.TrimPrefix(string(data), "\ufeff"))) == 0 {
		return map[string]any{}, nil
	}
	v, err := decodeJSON(data)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("not an object")
	}
	return m, nil
}

func dig(v any, path ...string) (any, bool) {
	for _, step := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[step]; !ok {
			return nil, false
		}
	}
	return v, true
}

func undig(v map[string]any, path ...string) {
	if parent, ok := dig(v, path[:len(path)-1]...); ok {
		if m, ok := parent.(map[string]any); ok {
			delete(m, path[len(path)-1])
		}
	}
}

func toStrings(v any) []string {
	list, _ := v.([]any)
	out, _ := stringList(list)
	return out
}

func (o *claudeOutput) diff(old []byte) ([]difference, error) {
	doc, err := claudeDocument(old)
	if err != nil {
		return nil, err
	}
	var out []difference
	have := func(name string) []string {
		text, _ := elements(doc.Root().Get("permissions", name))
		return text
	}
	out = append(out, compareSets("permissions.deny", o.deny, have("deny"))...)
	out = append(out, compareSets("permissions.ask", o.ask, have("ask"))...)
	var fetch []string
	for _, s := range have("allow") {
		if strings.HasPrefix(s, webFetch) {
			fetch = append(fetch, s)
		}
	}
	out = append(out, compareSets("permissions.allow", o.allow, fetch)...)
	for _, m := range o.managed() {
		n := doc.Root().Get(m.path...)
		list, isList := m.value.([]string)
		text, _ := elements(n)
		plain := n.Kind() == settings.Array && len(text) == n.Len()
		switch {
		case !m.there && n.Kind() == settings.Absent:
		case !m.there && plain:
			for _, s := range sortedSet(text) {
				out = append(out, difference{class: stale, section: m.section(), value: s})
			}
		case !m.there:
			v, _ := decodeJSON(n.Raw())
			out = append(out, difference{class: stale, section: m.section(), value: v})
		case isList && (plain || n.Kind() == settings.Absent):
			out = append(out, compareSets(m.section(), list, text)...)
		case n.Kind() == settings.Absent:
			out = append(out, difference{class: missing, section: m.section(), value: jsonValue(m.value)})
		case !sameValue(n.Raw(), m.value):
			v, _ := decodeJSON(n.Raw())
			out = append(out, difference{class: changed, section: m.section(), want: jsonValue(m.value), have: v})
		}
	}
	return out, nil
}

func jsonValue(v any) any {
	out, err := decodeJSON(compactJSON(v))
	if err != nil {
		return v
	}
	return out
}
