package template

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"sallyport/settings"
)

// An Entry is one value of a settings file, or of the template.
type Entry struct {
	Key   string `json:"key"`   // dotted path
	Value string `json:"value"` // JSON
	Why   string `json:"why,omitempty"`
	Line  int    `json:"line,omitempty"`
}

// A Merge is what has to happen to a settings file, and what is left as it is.
type Merge struct {
	Changes []settings.Change
	Added   []Entry
	// Differs are values of the file that the template has otherwise.
	Differs []Entry
	// Left are entries of the template that would open what the file closes.
	Left []Entry
	// Yours are values that the template does not have.
	Yours []Entry
}

// A ShapeError is a value of a kind that nothing can be merged into.
type ShapeError struct {
	Line, Column int
	Pointer      string
	Want, Found  string
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("%s: want %s, found %s", e.Pointer, e.Want, e.Found)
}

// Plan compares a settings file, absent for none, with rows of the template.
func Plan(root settings.Node, rows []Row) (*Merge, error) {
	m := &Merge{}
	if root.Kind() != settings.Absent && root.Kind() != settings.Object {
		return nil, shape(root, nil, "an object")
	}
	closed := closedBy(root, rows)
	made := map[string]*newList{}
	for _, r := range rows {
		at, err := find(root, r)
		if err != nil {
			return nil, err
		}
		if !r.List {
			m.value(at, r)
			continue
		}
		m.list(root, at, r, closed, made)
	}
	for _, l := range made {
		m.Changes[l.change] = settings.Set(json.RawMessage("["+strings.Join(l.values, ",")+"]"), l.path...)
	}
	m.Yours = yours(root, rows)
	return m, nil
}

// A newList is a list that the file does not have: one change, made when all
// its entries are known.
type newList struct {
	change int // index
	path   []string
	values []string
}

// find is the node of a row's key. It and its parents must be of the right kind.
func find(root settings.Node, r Row) (settings.Node, error) {
	at := root
	keys := r.Path()
	for i, key := range keys {
		at = at.Get(key)
		want, name := settings.Object, "an object"
		if i == len(keys)-1 {
			if !r.List {
				return at, nil
			}
			want, name = settings.Array, "an array"
		}
		if at.Kind() == settings.Absent {
			return at, nil
		}
		if at.Kind() != want {
			return at, shape(at, keys[:i+1], name)
		}
	}
	return at, nil
}

func shape(n settings.Node, keys []string, want string) error {
	line, column := n.Position()
	return &ShapeError{line, column, "/" + strings.Join(keys, "/"), want, n.Kind().String()}
}

func (m *Merge) value(at settings.Node, r Row) {
	want := r.Values[0]
	switch {
	case at.Kind() == settings.Absent || at.Kind() == settings.Null:
		m.Changes = append(m.Changes, settings.Set(json.RawMessage(want), r.Path()...))
		m.Added = append(m.Added, Entry{Key: r.Key, Value: want, Why: r.Why})
	case string(at.Raw()) != want:
		line, _ := at.Position()
		m.Differs = append(m.Differs, Entry{r.Key, string(at.Raw()), "the template has " + want, line})
	}
}

func (m *Merge) list(root, at settings.Node, r Row, closed map[string][]string, made map[string]*newList) {
	if at.Kind() == settings.Absent && made[r.Key] == nil {
		made[r.Key] = &newList{change: len(m.Changes), path: r.Path()}
		m.Changes = append(m.Changes, settings.Change{})
		if len(r.Values) == 0 && r.Asked == "" {
			m.Added = append(m.Added, Entry{Key: r.Key, Value: "[]", Why: r.Why})
		}
	}
	for _, v := range r.Values {
		if holds(at, r, v) || slices.ContainsFunc(m.Added, func(e Entry) bool { return e.Key == r.Key && e.Value == v }) {
			continue
		}
		if why := stands(root, r.Key, textOf(v), closed); why != "" {
			m.Left = append(m.Left, Entry{Key: r.Key, Value: v, Why: why})
			continue
		}
		if l := made[r.Key]; l != nil {
			l.values = append(l.values, v)
		} else {
			m.Changes = append(m.Changes, settings.Append(json.RawMessage(v), r.Path()...))
		}
		m.Added = append(m.Added, Entry{Key: r.Key, Value: v, Why: r.Why})
	}
}

// holds reports that a list has an entry: the same text, paths with or without
// a last slash, or an object of the same name, whatever it says.
func holds(list settings.Node, r Row, value string) (yes bool) {
	d, err := settings.ParseDocument([]byte(value))
	if err != nil {
		return false
	}
	want := mark(r.Key, r.Name, d.Root())
	list.Each(func(_ string, e settings.Node) bool {
		yes = mark(r.Key, r.Name, e) == want
		return !yes
	})
	return yes
}

// closedBy lists the paths that the file closes and the template does not, by
// the list that would open them.
func closedBy(root settings.Node, rows []Row) map[string][]string {
	own := func(key, entry string) bool {
		return slices.ContainsFunc(rows, func(r Row) bool {
			return r.Key == key && slices.ContainsFunc(r.Values, func(v string) bool { return textOf(v) == entry })
		})
	}
	closed := map[string][]string{}
	for _, c := range []struct{ open, list, tool string }{
		{"sandbox.filesystem.allowRead", "sandbox.filesystem.denyRead", "Read"},
		{"sandbox.filesystem.allowWrite", "sandbox.filesystem.denyRead", "Read"},
		{"sandbox.filesystem.allowWrite", "sandbox.filesystem.denyWrite", "Edit"},
	} {
		for _, entry := range texts(root.Get(strings.Split(c.list, ".")...)) {
			if !own(c.list, entry) && plain(entry) != "~" {
				closed[c.open] = append(closed[c.open], entry)
			}
		}
		for _, rule := range texts(root.Get("permissions", "deny")) {
			spec, ok := strings.CutPrefix(rule, c.tool+"(")
			// Only what is anchored the same in both grammars is compared.
			if ok && strings.HasPrefix(spec, "~/") && !own("permissions.deny", rule) {
				closed[c.open] = append(closed[c.open], strings.TrimSuffix(spec, ")"))
			}
		}
	}
	return closed
}

// stands says what in the file speaks against an entry, empty if nothing does.
func stands(root settings.Node, key, entry string, closed map[string][]string) string {
	for _, c := range closed[key] {
		if within(plain(entry), plain(c)) || within(plain(c), plain(entry)) {
			return "the file denies " + c
		}
	}
	switch key {
	case "permissions.allow":
		for _, list := range []string{"deny", "ask"} {
			if slices.Contains(texts(root.Get("permissions", list)), entry) {
				return "the file has it in permissions." + list
			}
		}
	case "sandbox.network.allowedDomains":
		for _, host := range texts(root.Get("sandbox", "network", "deniedDomains")) {
			tail, wild := strings.CutPrefix(host, "*")
			if strings.EqualFold(host, entry) || wild && strings.HasSuffix(entry, tail) {
				return "the file denies " + host
			}
		}
	}
	return ""
}

// plain is a path without what does not change its meaning.
func plain(p string) string {
	p = strings.TrimSuffix(p, "/**")
	if p == "" || p == "/" {
		return "/"
	}
	return path.Clean(p)
}

func within(p, base string) bool {
	return p == base || strings.HasPrefix(p, strings.TrimSuffix(base, "/")+"/")
}

func texts(list settings.Node) (out []string) {
	if list.Kind() != settings.Array {
		return nil
	}
	list.Each(func(_ string, v settings.Node) bool {
		if s, ok := v.Text(); ok {
			out = append(out, s)
		}
		return true
	})
	return out
}

// yours lists what the file has and the rows do not.
func yours(root settings.Node, rows []Row) (out []Entry) {
	lists := map[string]map[string]bool{} // key, then what tells entries apart
	for _, r := range rows {
		if lists[r.Key] == nil {
			lists[r.Key] = map[string]bool{}
		}
		for _, v := range r.Values {
			if d, err := settings.ParseDocument([]byte(v)); err == nil {
				lists[r.Key][mark(r.Key, r.Name, d.Root())] = true
			}
		}
	}
	name := func(key string) string {
		i := slices.IndexFunc(rows, func(r Row) bool { return r.Key == key })
		return rows[i].Name
	}
	add := func(key string, v settings.Node) {
		e := Entry{Key: key, Value: string(v.Raw())}
		if len(out) < 1000 { // finding a line takes longer the later it is
			e.Line, _ = v.Position()
		}
		out = append(out, e)
	}
	var walk func(n settings.Node, prefix string, depth int)
	walk = func(n settings.Node, prefix string, depth int) {
		n.Each(func(step string, v settings.Node) bool {
			key := prefix + step
			inside := slices.ContainsFunc(rows, func(r Row) bool { return strings.HasPrefix(r.Key, key+".") })
			switch entries := lists[key]; {
			case inside && v.Kind() == settings.Object && depth < 4:
				walk(v, key+".", depth+1)
			case entries == nil:
				add(key, v)
			case v.Kind() == settings.Array:
				member := name(key)
				v.Each(func(_ string, e settings.Node) bool {
					if !entries[mark(key, member, e)] {
						add(key, e)
					}
					return true
				})
			}
			return true
		})
	}
	if root.Kind() == settings.Object {
		walk(root, "", 0)
	}
	return out
}

// mark is what tells an entry of a list from others: its text, for paths
// without what means nothing, or the member of that name.
func mark(key, name string, e settings.Node) string {
	if name != "" {
		e = e.Get(name)
	}
	text, ok := e.Text()
	if !ok {
		return string(e.Raw())
	}
	if strings.HasPrefix(key, "sandbox.filesystem.") {
		return plain(text)
	}
	return text
}
