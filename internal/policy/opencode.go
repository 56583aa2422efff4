package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sallyport/settings"
)

// OpenCode: permission rules in opencode.json, where the last that matches wins.
// Facts: runs of OpenCode 1.18.33.

// An openRule is one pattern of a tool. The pattern "*" alone stands for the tool
// as a whole.
type openRule struct{ tool, pattern, action string }

type openCodeOutput struct {
	rules []openRule // of a tool: asks, then denies
	warn  func(rule, shadow string)
}

var openTools = []string{"external_directory", "read", "edit", "webfetch", "bash"}

func (c *compiler) opencode(p *product) {
	o := &openCodeOutput{}
	seen := map[openRule]bool{}
	add := func(tool, pattern, action string, r rule) {
		or := openRule{tool, pattern, action}
		if seen[or] {
			return
		}
		seen[or] = true
		o.rules = append(o.rules, or)
		r.text, r.layer, r.decision = fmt.Sprintf("permission.%s: %q = %q", tool, pattern, action), "app", action
		p.match = append(p.match, r)
	}
	pl := c.place("")
	path := func(e pathEntry, read bool) {
		patterns := []string{e.Canon, e.Canon + "/*"}
		switch {
		case e.Glob:
			if rest, ok := strings.CutPrefix(e.Canon, "**/"); ok && !strings.Contains(rest, "**") {
				patterns = []string{rest, "*/" + rest}
			} else {
				patterns = []string{strings.ReplaceAll(pl.expand(e), "**", "*")}
			}
			if strings.ContainsAny(e.Canon, "[]") {
				c.warn("EXT-NOT-COMPILED", Lossy, OpenCode, e.entry, "opencode has no character classes: %s closes any character there", e)
				for i := range patterns {
					patterns[i] = withoutClasses(patterns[i])
				}
			}
		case !e.relative():
			abs := pl.abs(e)
			patterns = []string{abs, strings.TrimSuffix(abs, "/") + "/*"}
		case e.dotted():
			c.warn("EXT-NOT-COMPILED", Lossy, OpenCode, e.entry, "opencode compares paths inside the project: %s is not compiled", e)
			return
		}
		tools := []string{"edit"}
		if !e.relative() {
			tools = []string{"external_directory"}
			c.warn("OPENCODE-PATH-ALL", Lossy, OpenCode, e.entry, "%s is closed for reading and writing alike, and not when OpenCode runs inside it", e)
		} else if read {
			tools = []string{"read", "edit"}
		}
		for _, tool := range tools {
			for _, pattern := range patterns {
				add(tool, pattern, "deny", rule{from: e.entry, path: &e, read: tool != "edit", write: tool != "read"})
			}
		}
	}
	for _, e := range pl.unique(c.srt.DenyRead) {
		path(e, true)
	}
	for _, e := range pl.unique(c.srt.DenyWrite) {
		path(e, false)
	}
	all := len(c.srt.Allowed) == 0
	if all {
		add("webfetch", "*", "deny", rule{from: c.key("network.allowedDomains"), domain: &domainEntry{Host: "*"}})
	}
	for _, d := range c.srt.Denied {
		if d.Host == "*" && !all {
			add("webfetch", "*", "deny", rule{from: d.entry, domain: &d})
		}
		if d.Host == "*" || all {
			continue
		}
		hosts := []string{d.Host}
		if d.Port != "" {
			c.warn("EXT-NOT-COMPILED", Lossy, OpenCode, d.entry, "%q is denied on its port and without one", d.Text)
			hosts = append(hosts, d.Host+":"+d.Port)
		}
		for _, host := range hosts {
			add("webfetch", "*://"+host+"/*", "deny", rule{from: d.entry, domain: &d})
			add("webfetch", "*://"+host, "deny", rule{from: d.entry, domain: &d})
		}
	}
	if !c.yolo {
		for _, cmd := range c.bash.Ask {
			r := rule{from: cmd.entry, command: cmd.texts(), raw: cmd.Text}
			add("bash", cmd.Text, "ask", r)
			add("bash", cmd.Text+" *", "ask", r)
		}
	}
	for _, cmd := range c.bash.Deny {
		r := rule{from: cmd.entry, command: cmd.texts(), raw: cmd.Text}
		add("bash", cmd.Text, "deny", r)
		add("bash", cmd.Text+" *", "deny", r)
	}
	c.extendedAllowances(OpenCode)
	o.warn = func(r, shadow string) {
		c.n.add(Warning{ID: "EXT-NOT-COMPILED", Level: Lossy, Agent: string(OpenCode), Message: fmt.Sprintf("%s: rule %s does not act on what %s, which stands behind it, decides", c.cfg.OpenCodeConfig, r, shadow)})
	}
	p.content = o.fresh()
	p.files = []*targetFile{{
		path: c.cfg.OpenCodeConfig, fresh: indentJSON(p.content), record: o.entries(),
		merge: o.merge, check: o.check, diff: o.diff,
	}}
}

// withoutClasses puts ? in place of every [...]: what it matches is a superset.
func withoutClasses(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '[' && s[i] != ']':
			b.WriteByte(s[i])
			continue
		case s[i] == '[':
			if end := strings.IndexByte(s[min(i+2, len(s)):], ']'); end >= 0 {
				i += 2 + end
			}
		}
		b.WriteByte('?')
	}
	return b.String()
}

func (o *openCodeOutput) of(tool string) (out []openRule) {
	for _, r := range o.rules {
		if r.tool == tool {
			out = append(out, r)
		}
	}
	return out
}

func (o *openCodeOutput) entries() []ownedEntry {
	out := []ownedEntry{}
	for _, r := range o.rules {
		out = append(out, r.entry())
	}
	return out
}

func (r openRule) entry() ownedEntry {
	return ownedEntry{[]string{"permission", r.tool, r.pattern}, r.action, false}
}

func (o *openCodeOutput) fresh() object {
	var permission object
	for _, tool := range openTools {
		rules := o.of(tool)
		switch {
		case len(rules) == 0:
		case len(rules) == 1 && rules[0].pattern == "*":
			permission.set(tool, rules[0].action)
		default:
			var patterns object
			for _, r := range rules {
				patterns.set(r.pattern, r.action)
			}
			permission.set(tool, patterns)
		}
	}
	if permission == nil {
		return object{}
	}
	return object{{"permission", permission}}
}

// A pattern of a target, as it is written.
type openMember struct {
	name string
	raw  json.RawMessage
}

func (m openMember) action() string {
	v, _ := decodeJSON(m.raw)
	s, _ := v.(string)
	return s
}

// members are the patterns of a tool: of a bare action, "*" alone.
func openMembers(n settings.Node) []openMember {
	switch n.Kind() {
	case settings.String:
		return []openMember{{"*", n.Raw()}}
	case settings.Object:
		var out []openMember
		n.Each(func(name string, v settings.Node) bool {
			out = append(out, openMember{name, v.Raw()})
			return true
		})
		return out
	}
	return nil
}

func (o *openCodeOutput) document(old []byte) (*settings.Document, error) {
	doc, err := objectDocument(old)
	if err != nil {
		return nil, err
	}
	nodes := map[string]settings.Node{"permission": doc.Root().Get("permission")}
	if nodes["permission"].Kind() == settings.Object {
		for _, tool := range openTools {
			nodes["permission."+tool] = doc.Root().Get("permission", tool)
		}
	}
	for _, name := range sortedNames(nodes) {
		n := nodes[name]
		if k := n.Kind(); k != settings.Absent && k != settings.Object && k != settings.String {
			line, column := n.Position()
			return nil, targetJSON("line %d, column %d: %s is %s, want an action or an object of actions", line, column, name, k)
		}
	}
	return doc, nil
}

// desired is the list of patterns of a tool after the merge: foreign ones in
// their order, ours behind them. An ask never stands behind a foreign deny that it
// could soften.
func (o *openCodeOutput) desired(tool string, have []openMember, ours []ownedEntry) []openMember {
	gen := o.of(tool)
	var foreign []openMember
	for _, m := range have {
		e := ownedEntry{[]string{"permission", tool, m.name}, m.action(), false}
		mine := slices.ContainsFunc(ours, e.same) || slices.ContainsFunc(gen, func(r openRule) bool { return r.pattern == m.name })
		// A person's deny of the same pattern stays: ours would be an ask.
		if mine && m.action() == "deny" && !slices.ContainsFunc(ours, e.same) &&
			slices.ContainsFunc(gen, func(r openRule) bool { return r.pattern == m.name && r.action == "ask" }) {
			mine = false
		}
		if !mine {
			foreign = append(foreign, m)
		}
	}
	out := foreign
	for _, r := range gen {
		m := openMember{r.pattern, compactJSON(r.action)}
		if slices.ContainsFunc(out, func(f openMember) bool { return f.name == r.pattern }) {
			continue
		}
		at := len(out)
		if r.action == "ask" {
			if i := slices.IndexFunc(out, func(f openMember) bool { return f.action() == "deny" && overlap(f.name, r.pattern) }); i >= 0 {
				at = i
			}
		}
		out = slices.Insert(slices.Clone(out), at, m)
	}
	return out
}

// overlap reports that two wildcard patterns may match one text. It errs on the
// side of yes.
func overlap(a, b string) bool {
	cut := func(s string) string {
		if i := strings.IndexAny(s, "*?"); i >= 0 {
			return strings.TrimRight(s[:i], " ")
		}
		return s
	}
	x, y := cut(a), cut(b)
	return strings.HasPrefix(x, y) || strings.HasPrefix(y, x)
}

func (o *openCodeOutput) merge(old []byte, owned []ownedEntry) ([]byte, []ownedEntry, error) {
	doc, err := o.document(old)
	if err != nil {
		return nil, nil, err
	}
	ours := claim(o.entries(), owned)
	permission := doc.Root().Get("permission")
	edit := jsonEdit{root: doc.Root()}
	if permission.Kind() == settings.String && len(o.rules) > 0 {
		edit.put(object{{"*", json.RawMessage(permission.Raw())}}, "permission")
	}
	record := []ownedEntry{}
	for _, tool := range openTools {
		var n settings.Node
		if permission.Kind() == settings.Object {
			n = permission.Get(tool)
		}
		have := openMembers(n)
		want := o.desired(tool, have, ours)
		for _, r := range o.of(tool) {
			e := r.entry()
			if slices.ContainsFunc(ours, e.same) || !slices.ContainsFunc(have, func(m openMember) bool { return m.name == r.pattern && m.action() == r.action }) {
				record = append(record, e)
			}
		}
		o.placeTool(&edit, tool, n, have, want)
		o.shadows(permission, tool, want)
	}
	out, err := edit.apply(old)
	return out, record, err
}

// placeTool makes the changes that bring a tool's patterns into shape, rewriting
// no member that stays where it is.
func (o *openCodeOutput) placeTool(edit *jsonEdit, tool string, n settings.Node, have, want []openMember) {
	equal := slices.EqualFunc(have, want, func(a, b openMember) bool { return a.name == b.name && sameValue(a.raw, b.raw) })
	switch {
	case equal:
	case len(want) == 0:
		edit.remove("permission", tool)
	case n.Kind() != settings.Object:
		if len(have) == 0 && len(want) == 1 && want[0].name == "*" {
			edit.put(want[0].raw, "permission", tool)
			return
		}
		edit.put(membersObject(want), "permission", tool)
	default:
		keep := 0
		for keep < len(have) && keep < len(want) && have[keep].name == want[keep].name && sameValue(have[keep].raw, want[keep].raw) {
			keep++
		}
		// Everything behind the common part goes or is appended; if a foreign
		// member would move by that, the object is written anew.
		for _, m := range have[keep:] {
			if slices.ContainsFunc(want[keep:], func(w openMember) bool { return w.name == m.name && sameValue(w.raw, m.raw) }) &&
				!slices.ContainsFunc(o.of(tool), func(r openRule) bool { return r.pattern == m.name }) {
				kept := slices.DeleteFunc(slices.Clone(have), func(h openMember) bool {
					return !slices.ContainsFunc(want, func(w openMember) bool { return w.name == h.name && sameValue(w.raw, h.raw) }) ||
						slices.ContainsFunc(o.of(tool), func(r openRule) bool { return r.pattern == h.name })
				})
				if len(kept) <= len(want) && slices.EqualFunc(kept, want[:len(kept)], func(a, b openMember) bool { return a.name == b.name }) {
					o.replaceTail(edit, tool, have, kept, want[len(kept):])
					return
				}
				edit.put(membersObject(want), "permission", tool)
				return
			}
		}
		o.replaceTail(edit, tool, have, want[:keep], want[keep:])
	}
}

func (o *openCodeOutput) replaceTail(edit *jsonEdit, tool string, have, kept, tail []openMember) {
	for _, m := range have {
		if !slices.ContainsFunc(kept, func(k openMember) bool { return k.name == m.name }) {
			edit.remove("permission", tool, m.name)
		}
	}
	for _, m := range tail {
		edit.put(m.raw, "permission", tool, m.name)
	}
}

func membersObject(list []openMember) object {
	var o object
	for _, m := range list {
		o.set(m.name, m.raw)
	}
	return o
}

// shadows warns about our rules that a later foreign one decides over.
func (o *openCodeOutput) shadows(permission settings.Node, tool string, members []openMember) {
	for _, r := range o.of(tool) {
		if s := shadowOf(r, members); s != "" {
			o.warn(fmt.Sprintf("%s %q", r.tool, r.pattern), fmt.Sprintf("%q", s))
		}
	}
	if len(o.of(tool)) == 0 || permission.Kind() != settings.Object {
		return
	}
	behind := false
	permission.Each(func(name string, v settings.Node) bool {
		if name == tool {
			behind = true
		} else if behind && strings.ContainsAny(name, "*?") {
			if s, _ := v.Text(); s != "deny" {
				o.warn(tool, fmt.Sprintf("permission.%q", name))
			}
		}
		return true
	})
}

// shadowOf names a pattern behind a rule that is looser and may match the same.
func shadowOf(r openRule, members []openMember) string {
	i := slices.IndexFunc(members, func(m openMember) bool { return m.name == r.pattern })
	if i < 0 {
		return ""
	}
	for _, m := range members[i+1:] {
		if a := m.action(); a != "deny" && a != r.action && overlap(m.name, r.pattern) {
			return m.name
		}
	}
	return ""
}

func (o *openCodeOutput) check(old, new []byte, owned []ownedEntry) error {
	before, err := decodeObject(old)
	if err != nil {
		return err
	}
	after, err := decodeObject(new)
	if err != nil {
		return err
	}
	doc, err := o.document(new)
	if err != nil {
		return err
	}
	was, err := o.document(old)
	if err != nil {
		return err
	}
	ours := claim(o.entries(), owned)
	for _, tool := range openTools {
		members := openMembers(doc.Root().Get("permission", tool))
		want := o.desired(tool, openMembers(was.Root().Get("permission", tool)), ours)
		if !slices.EqualFunc(members, want, func(a, b openMember) bool { return a.name == b.name && sameValue(a.raw, b.raw) }) {
			return fmt.Errorf("permission.%s is not as compiled", tool)
		}
	}
	for _, v := range []map[string]any{before, after} {
		if s, ok := v["permission"].(string); ok {
			v["permission"] = map[string]any{"*": s}
		}
		for _, tool := range openTools {
			undig(v, "permission", tool)
		}
		if m, ok := v["permission"].(map[string]any); ok && len(m) == 0 {
			delete(v, "permission")
		}
	}
	if !reflect.DeepEqual(before, after) {
		return errors.New("a part that is not ours changed")
	}
	return nil
}

func (o *openCodeOutput) diff(old []byte, owned []ownedEntry) (out []difference, err error) {
	doc, err := o.document(old)
	if err != nil {
		return nil, err
	}
	for _, tool := range openTools {
		section := "permission." + tool
		var n settings.Node
		if doc.Root().Get("permission").Kind() == settings.Object {
			n = doc.Root().Get("permission", tool)
		}
		members := openMembers(n)
		for _, r := range o.of(tool) {
			i := slices.IndexFunc(members, func(m openMember) bool { return m.name == r.pattern })
			switch {
			case i < 0:
				out = append(out, difference{class: missing, section: section, value: r.pattern + " = " + r.action})
			case members[i].action() != r.action && !(r.action == "ask" && members[i].action() == "deny"):
				v, _ := decodeJSON(members[i].raw)
				out = append(out, difference{class: changed, section: section + "." + r.pattern, want: r.action, have: v})
			case r.action == "deny":
				if s := shadowOf(r, members); s != "" {
					out = append(out, difference{class: changed, section: section + "." + r.pattern, want: "deny, last", have: fmt.Sprintf("deny, followed by %q", s)})
				}
			}
		}
		for _, e := range owned {
			if len(e.Path) != 3 || e.Path[1] != tool {
				continue
			}
			compiled := slices.ContainsFunc(o.of(tool), func(r openRule) bool { return r.pattern == e.Path[2] })
			there := slices.ContainsFunc(members, func(m openMember) bool { return m.name == e.Path[2] && m.action() == e.Value })
			if !compiled && there {
				out = append(out, difference{class: extra, section: section, value: e.Path[2] + " = " + fmt.Sprint(e.Value)})
			}
		}
	}
	return out, nil
}
