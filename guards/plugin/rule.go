package plugin

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"sallyport/guards"
)

// A rule is a declarative guard.
type rule struct {
	name, title, doc string
	triggers         []string
	verdict          guards.Verdict
	reason, fix      string
	overrides        []string
	matches, unless  []condition
	cases            []Case
}

// A lineError is a mistake in a declarative guard.
type lineError struct {
	line int
	text string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }

func lineErrorf(line int, format string, args ...any) error {
	return &lineError{line, fmt.Sprintf(format, args...)}
}

// A setting is one key of a TOML file with its value, flattened: a table header
// and an inline table give the same settings.
type setting struct {
	table string // "", "match", "test", …
	item  int    // which [[table]] it stands in
	key   string
	line  int
	// value is a string, bool, []string or map[string]string.
	value any
}

// tomlTables are the tables of a rule, and whether they may be repeated.
var tomlTables = map[string]bool{"match": true, "unless": true, "test": true}

// checkNesting bounds what the recursive parser follows, by counting the
// brackets of each line wherever they stand: in a string they need no partner.
// Brackets that stay open over many lines are bounded by maxFile well enough.
func checkNesting(data []byte) error {
	depth, line := 0, 1
	for _, c := range data {
		switch c {
		case '\n':
			line++
			depth = 0
		case '[', '{':
			if depth++; depth > maxNesting {
				return lineErrorf(line, "brackets are nested too deep")
			}
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return nil
}

// settings reads a TOML file. With head set it stops before the first table.
func settings(data []byte, head bool, each func(setting) error) error {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := checkNesting(data); err != nil {
		return err
	}
	var p unstable.Parser
	p.Reset(data)
	var seen map[string]bool
	var count map[string]int
	var kinds map[string]unstable.Kind
	if !head {
		seen, count, kinds = map[string]bool{}, map[string]int{}, map[string]unstable.Kind{}
	}
	table, sub := "", ""
	line := func(n *unstable.Node) int {
		for it := n.Key(); it.Next(); {
			if k := it.Node(); k.Raw.Length > 0 {
				return p.Shape(k.Raw).Start.Line
			}
		}
		return 0
	}
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			if head {
				return nil
			}
			path := keyPath(e)
			name := path[0]
			if !tomlTables[name] || len(path) > 2 || len(path) == 2 && name != "test" {
				return lineErrorf(line(e), "unknown table [%s]; a guard has match, unless and test", strings.Join(path, "."))
			}
			sub = ""
			if len(path) == 2 { // [test.files] belongs to the test before it
				if e.Kind == unstable.ArrayTable || count[name] == 0 {
					return lineErrorf(line(e), "[%s] stands below no [[test]]", strings.Join(path, "."))
				}
				table, sub = name, path[1]
				continue
			}
			if old, ok := kinds[name]; ok && (old != e.Kind || e.Kind == unstable.Table) {
				return lineErrorf(line(e), "[%s] stands here a second time; write [[%s]] to have more than one", name, name)
			}
			kinds[name] = e.Kind
			table = name
			count[name]++
		case unstable.KeyValue:
			if head {
				if err := headSetting(e, line, each); err != nil {
					return err
				}
				continue
			}
			path := keyPath(e)
			t, item := table, count[table]
			if sub != "" {
				path = append([]string{sub}, path...)
			}
			n := line(e)
			emit := func(t string, item int, path []string, v *unstable.Node) error {
				id := fmt.Sprintf("%s\x00%d\x00%s", t, item, strings.Join(path, "\x00"))
				if seen[id] {
					return lineErrorf(n, "%s is set twice", strings.Join(path, "."))
				}
				seen[id] = true
				value, err := tomlValue(v, n)
				if err != nil {
					return err
				}
				key := path[0]
				if len(path) == 2 {
					s, ok := value.(string)
					if !ok {
						return lineErrorf(n, "%s must be a string", strings.Join(path, "."))
					}
					value = map[string]string{path[1]: s}
				} else if len(path) > 2 {
					return lineErrorf(n, "unknown key %s", strings.Join(path, "."))
				}
				return each(setting{t, item, key, n, value})
			}
			if t == "" && tomlTables[path[0]] {
				// match.command = "git", match = { command = "git" }
				name := path[0]
				if _, ok := kinds[name]; ok && count[name] == 0 {
					count[name]++
				}
				kinds[name] = unstable.Table
				count[name] = max(1, count[name])
				if len(path) > 1 {
					if err := emit(name, 1, path[1:], e.Value()); err != nil {
						return err
					}
					continue
				}
				if e.Value().Kind != unstable.InlineTable {
					return lineErrorf(n, "%s must be a table", name)
				}
				for it := e.Value().Children(); it.Next(); {
					if err := emit(name, 1, keyPath(it.Node()), it.Node().Value()); err != nil {
						return err
					}
				}
				continue
			}
			if err := emit(t, item, path, e.Value()); err != nil {
				return err
			}
		}
	}
	if err := p.Error(); err != nil {
		at := 0
		if pe, ok := err.(*unstable.ParserError); ok && len(pe.Highlight) > 0 {
			at = p.Shape(p.Range(pe.Highlight)).Start.Line
			return lineErrorf(at, "%s", pe.Message)
		}
		return lineErrorf(max(at, 1+bytes.Count(data, []byte("\n"))), "%v", err)
	}
	return nil
}

// headSetting hands over a top-level key that every start needs, and passes
// over the rest without a copy: it is read when a trigger matches.
func headSetting(e *unstable.Node, line func(*unstable.Node) int, each func(setting) error) error {
	it := e.Key()
	it.Next()
	key := it.Node().Data
	if it.Next() {
		return nil
	}
	switch string(key) {
	case "name", "triggers", "override":
	default:
		return nil
	}
	n := line(e)
	value, err := tomlValue(e.Value(), n)
	if err != nil {
		return err
	}
	return each(setting{key: string(key), line: n, value: value})
}

func keyPath(n *unstable.Node) []string {
	var path []string
	for it := n.Key(); it.Next(); {
		path = append(path, string(it.Node().Data))
	}
	return path
}

func tomlValue(v *unstable.Node, line int) (any, error) {
	switch v.Kind {
	case unstable.String:
		return string(v.Data), nil
	case unstable.Bool:
		return string(v.Data) == "true", nil
	case unstable.Array:
		list := []string{}
		for it := v.Children(); it.Next(); {
			n := it.Node()
			if n.Kind == unstable.Comment {
				continue
			}
			if n.Kind != unstable.String {
				return nil, lineErrorf(line, "a list holds strings only")
			}
			list = append(list, string(n.Data))
		}
		return list, nil
	case unstable.InlineTable:
		m := map[string]string{}
		for it := v.Children(); it.Next(); {
			n := it.Node()
			path := keyPath(n)
			if len(path) != 1 || n.Value().Kind != unstable.String {
				return nil, lineErrorf(line, "a table holds strings only")
			}
			m[path[0]] = string(n.Value().Data)
		}
		return m, nil
	}
	return nil, lineErrorf(line, "a value must be a string or a list of strings")
}

// ruleHead reads name, triggers and overrides, and no more of the file than it
// must.
func ruleHead(data []byte) (name string, triggers, overrides []string, err error) {
	err = settings(data, true, func(s setting) error {
		switch s.key {
		case "name":
			name, _ = s.value.(string)
		case "triggers":
			triggers = texts(s.value)
		case "override":
			overrides = texts(s.value)
		}
		return nil
	})
	if err == nil && len(triggers) == 0 {
		err = lineErrorf(1, `triggers is missing: name the programs that the guard looks at, such as triggers = ["git"]`)
	}
	return name, triggers, overrides, err
}

func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []string:
		return v
	}
	return nil
}

// parseRule reads a declarative guard. Every mistake is an error that names the
// line: a key that does nothing would be a hole.
func parseRule(data []byte) (*rule, error) {
	r := &rule{verdict: guards.Deny}
	err := settings(data, false, func(s setting) error { return r.set(s) })
	if err != nil {
		return nil, err
	}
	last := 1 + bytes.Count(data, []byte("\n"))
	switch {
	case len(r.triggers) == 0:
		return nil, lineErrorf(1, `triggers is missing: name the programs that the guard looks at, such as triggers = ["git"]`)
	case r.reason == "":
		return nil, lineErrorf(last, "reason is missing: say why the command is stopped")
	}
	for i := range r.cases {
		c := &r.cases[i]
		if c.Command == "" {
			return nil, lineErrorf(max(c.line, 1), "a test needs a command")
		}
		if !c.expects {
			return nil, lineErrorf(max(c.line, 1), "a test needs expect: deny, ask, warn or pass")
		}
	}
	return r, nil
}

func (r *rule) set(s setting) error {
	text := func(into *string) error {
		v, ok := s.value.(string)
		if !ok {
			return lineErrorf(s.line, "%s must be a string", s.key)
		}
		*into = v
		return nil
	}
	list := func(into *[]string) error {
		v := texts(s.value)
		if len(v) == 0 {
			return lineErrorf(s.line, "%s must be a string or a list of strings, and not empty", s.key)
		}
		*into = v
		return nil
	}
	switch s.table {
	case "match", "unless":
		all := &r.matches
		if s.table == "unless" {
			all = &r.unless
		}
		for len(*all) < s.item {
			*all = append(*all, condition{})
		}
		return (*all)[s.item-1].set(s)
	case "test":
		for len(r.cases) < s.item {
			r.cases = append(r.cases, Case{line: s.line})
		}
		return r.cases[s.item-1].set(s)
	}
	switch s.key {
	case "name":
		if err := text(&r.name); err != nil {
			return err
		}
		if r.name == "" || guardName(r.name) != r.name {
			return lineErrorf(s.line, "name %q must be lower case letters and digits, with single hyphens between them", r.name)
		}
		return nil
	case "title":
		return text(&r.title)
	case "doc":
		return text(&r.doc)
	case "triggers":
		return list(&r.triggers)
	case "decision":
		var d string
		if err := text(&d); err != nil {
			return err
		}
		v, ok := parseDecision(d)
		if !ok || d == "" {
			return lineErrorf(s.line, "decision %q must be deny, ask or warn", d)
		}
		r.verdict = v
		return nil
	case "reason":
		return text(&r.reason)
	case "fix":
		return text(&r.fix)
	case "override":
		if err := list(&r.overrides); err != nil {
			return err
		}
		for _, name := range r.overrides {
			if !isVariable(name) {
				return lineErrorf(s.line, "override %q is no name of a variable", name)
			}
		}
		return nil
	}
	return lineErrorf(s.line, "unknown key %s; a guard has name, title, doc, triggers, decision, reason, fix, override, and the tables match, unless and test", s.key)
}

func isVariable(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// describe fills in what the guard's file says of it.
func (r *rule) describe(g *guards.Guard) {
	if r.title != "" {
		g.Title = r.title
	}
	g.Doc = guards.Doc{What: r.doc, Why: r.reason, Instead: r.fix}
	g.Default = r.verdict
}

func (r *rule) check(c *guards.Call) []guards.Finding {
	var words []string
	hit := len(r.matches) == 0
	for i := range r.matches {
		if w, ok := r.matches[i].holds(c); ok {
			words, hit = w, true
			break
		}
	}
	if !hit {
		return nil
	}
	for i := range r.unless {
		if _, ok := r.unless[i].holds(c); ok {
			return nil
		}
	}
	if len(words) == 0 {
		words = guards.Words(c.Command)
		words = words[:min(len(words), 6)]
	}
	return []guards.Finding{{
		Verdict: r.verdict,
		Found:   guards.Quote(strings.Join(words, " ")),
		Why:     sentence(r.reason),
		Fix:     sentence(r.fix),
		Words:   slices.Clone(words),
	}}
}
