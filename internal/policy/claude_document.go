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

// objectDocument parses a target that has to hold an object; an empty one does.
func objectDocument(old []byte) (*settings.Document, error) {
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
	return doc, nil
}

// claudeDocument parses a target and refuses one that cannot be merged into
// without a guess.
func claudeDocument(old []byte) (*settings.Document, error) {
	doc, err := objectDocument(old)
	if err != nil {
		return nil, err
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
