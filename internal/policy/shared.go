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

// A sharedOutput is what we add to a JSON file whose lists and objects are
// someone else's too: elements of lists, and single values. What is ours is told
// from the record of the last run.
type sharedOutput struct{ entries []ownedEntry }

func (o *sharedOutput) element(s string, path ...string) {
	e := ownedEntry{path, s, true}
	if !slices.ContainsFunc(o.entries, e.same) {
		o.entries = append(o.entries, e)
	}
}

func (o *sharedOutput) value(v any, path ...string) {
	o.entries = append(o.entries, ownedEntry{path, v, false})
}

// fresh is the content of a new file.
func (o *sharedOutput) fresh() object {
	root := object{}
	for _, e := range o.entries {
		root = insertEntry(root, e.Path, e)
	}
	return root
}

func insertEntry(o object, path []string, e ownedEntry) object {
	old, _ := o.get(path[0])
	switch {
	case len(path) > 1:
		inner, _ := old.(object)
		o.set(path[0], insertEntry(inner, path[1:], e))
	case e.Element:
		list, _ := old.([]string)
		o.set(path[0], append(slices.Clone(list), e.Value.(string)))
	default:
		o.set(path[0], e.Value)
	}
	return o
}

func (o *sharedOutput) file(path string) *targetFile {
	return &targetFile{
		path: path, fresh: indentJSON(o.fresh()), record: o.entries,
		merge: o.merge, check: o.check, diff: o.diff,
	}
}

// sharedDocument parses a target and refuses one whose containers on the way to
// ours are not what they should be.
func (o *sharedOutput) document(old []byte, owned []ownedEntry) (*settings.Document, error) {
	doc, err := objectDocument(old)
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Concat(o.entries, owned) {
		for i := 1; i < len(e.Path); i++ {
			n := doc.Root().Get(e.Path[:i]...)
			if k := n.Kind(); k != settings.Object && k != settings.Absent {
				line, column := n.Position()
				return nil, targetJSON("line %d, column %d: %s is %s, want an object", line, column, strings.Join(e.Path[:i], "."), k)
			}
		}
		if e.Element {
			if err := wantStrings(doc.Root().Get(e.Path...), strings.Join(e.Path, ".")); err != nil {
				return nil, err
			}
		}
	}
	return doc, nil
}

// claim is what counts as ours in a file. Without a record, entries equal to
// compiled ones do.
func claim(compiled, owned []ownedEntry) []ownedEntry {
	if owned == nil {
		return compiled
	}
	return owned
}

func holds(doc *settings.Document, e ownedEntry) bool {
	n := doc.Root().Get(e.Path...)
	if !e.Element {
		return n.Kind() != settings.Absent && sameValue(n.Raw(), e.Value)
	}
	text, _ := elements(n)
	s, _ := e.Value.(string)
	return slices.Contains(text, s)
}

func (o *sharedOutput) merge(old []byte, owned []ownedEntry) ([]byte, []ownedEntry, error) {
	doc, err := o.document(old, owned)
	if err != nil {
		return nil, nil, err
	}
	ours := claim(o.entries, owned)
	edit := jsonEdit{root: doc.Root()}
	var done [][]string
	for _, e := range slices.Concat(o.entries, ours) {
		if slices.ContainsFunc(done, func(p []string) bool { return slices.Equal(p, e.Path) }) {
			continue
		}
		done = append(done, e.Path)
		if !e.Element {
			i := slices.IndexFunc(o.entries, func(c ownedEntry) bool { return slices.Equal(c.Path, e.Path) })
			if i >= 0 {
				edit.set(o.entries[i].Value, e.Path...)
			} else if holds(doc, e) {
				edit.remove(e.Path...)
			}
			continue
		}
		text, raw := elements(doc.Root().Get(e.Path...))
		list := []json.RawMessage{}
		for i, s := range text {
			at := ownedEntry{e.Path, s, true}
			if !slices.ContainsFunc(ours, at.same) || slices.ContainsFunc(o.entries, at.same) {
				list = append(list, raw[i])
			}
		}
		for _, c := range o.entries {
			if s, _ := c.Value.(string); c.Element && slices.Equal(c.Path, e.Path) && !slices.Contains(text, s) {
				list = append(list, compactJSON(s))
			}
		}
		if len(list) > 0 || len(text) > 0 {
			edit.set(list, e.Path...)
		}
	}
	out, err := edit.apply(old)
	return out, o.recordAfter(doc, ours), err
}

// recordAfter is what will be ours: compiled entries that a person had not
// already put there.
func (o *sharedOutput) recordAfter(doc *settings.Document, ours []ownedEntry) []ownedEntry {
	record := []ownedEntry{}
	for _, e := range o.entries {
		if slices.ContainsFunc(ours, e.same) || !holds(doc, e) {
			record = append(record, e)
		}
	}
	return record
}

func (o *sharedOutput) check(old, new []byte, owned []ownedEntry) error {
	before, err := decodeObject(old)
	if err != nil {
		return err
	}
	after, err := decodeObject(new)
	if err != nil {
		return err
	}
	doc, err := settings.ParseDocument(new)
	if err != nil {
		return err
	}
	for _, e := range o.entries {
		if !holds(doc, e) {
			return fmt.Errorf("%s is not as compiled", strings.Join(e.Path, "."))
		}
	}
	all := slices.Concat(o.entries, claim(o.entries, owned))
	for _, v := range []map[string]any{before, after} {
		for _, e := range all {
			if !e.Element {
				undig(v, e.Path...)
				continue
			}
			if at, ok := dig(v, e.Path...); ok {
				rest := slices.DeleteFunc(toStrings(at), func(s string) bool { return s == e.Value })
				if len(rest) == 0 {
					undig(v, e.Path...)
				} else {
					list := make([]any, len(rest))
					for i := range rest {
						list[i] = rest[i]
					}
					parent, _ := dig(v, e.Path[:len(e.Path)-1]...)
					parent.(map[string]any)[e.Path[len(e.Path)-1]] = list
				}
			}
		}
		for _, e := range all {
			for i := len(e.Path) - 1; i > 0; i-- {
				if at, ok := dig(v, e.Path[:i]...); ok {
					if m, ok := at.(map[string]any); ok && len(m) == 0 {
						undig(v, e.Path[:i]...)
					}
				}
			}
		}
	}
	if !reflect.DeepEqual(before, after) {
		return errors.New("a part that is not ours changed")
	}
	return nil
}

func (o *sharedOutput) diff(old []byte, owned []ownedEntry) (out []difference, err error) {
	doc, err := o.document(old, owned)
	if err != nil {
		return nil, err
	}
	for _, e := range o.entries {
		section := strings.Join(e.Path, ".")
		n := doc.Root().Get(e.Path...)
		switch {
		case holds(doc, e):
		case e.Element || n.Kind() == settings.Absent:
			out = append(out, difference{class: missing, section: section, value: jsonValue(e.Value)})
		default:
			v, _ := decodeJSON(n.Raw())
			out = append(out, difference{class: changed, section: section, want: jsonValue(e.Value), have: v})
		}
	}
	for _, e := range owned {
		if !slices.ContainsFunc(o.entries, e.same) && holds(doc, e) &&
			!slices.ContainsFunc(o.entries, func(c ownedEntry) bool { return !c.Element && slices.Equal(c.Path, e.Path) }) {
			out = append(out, difference{class: extra, section: strings.Join(e.Path, "."), value: jsonValue(e.Value)})
		}
	}
	return out, nil
}
