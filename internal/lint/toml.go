package lint

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"sallyport/internal/tomltext"
	"sallyport/settings"
)

// maxTOMLDepth bounds nesting: the TOML parser recurses without a bound.
const maxTOMLDepth = 100

// maxTOMLKeys bounds the keys and tables: the decoder compares each with all
// before it.
const maxTOMLKeys = 10_000

// toml parses a file; ok is false after a P002.
func (r *run) toml(f *file) (root *value, ok bool) {
	fail := func(line, column int, message string) (*value, bool) {
		r.in("P002", f.name, "not valid TOML: "+message, "", place(line, column))
		return nil, false
	}
	if !utf8.Valid(f.data) {
		return fail(1, 1, "not valid UTF-8")
	}
	if at := tomltext.Deeper(f.data, maxTOMLDepth); at >= 0 {
		line, column := f.position(at)
		return fail(line, column, fmt.Sprintf("nested more than %d levels deep", maxTOMLDepth))
	}
	if tomltext.Keys(f.data) > maxTOMLKeys {
		r.in("P001", f.name, fmt.Sprintf("holds more than %d keys and tables", maxTOMLKeys), "")
		return nil, false
	}
	// The decoder finds what the expression parser lets through, such as keys
	// that stand twice.
	var all map[string]any
	if err := toml.Unmarshal(f.data, &all); err != nil {
		var de *toml.DecodeError
		if errors.As(err, &de) {
			line, column := de.Position()
			return fail(line, column, strings.TrimPrefix(de.Error(), "toml: "))
		}
		return fail(1, 1, err.Error())
	}
	b := tomlBuilder{file: f, root: &value{kind: settings.Object, file: f, opened: true}, members: make(map[*value]map[string]*value)}
	if err := b.build(); err != nil {
		return fail(1, 1, err.Error())
	}
	return b.root, true
}

// A tomlBuilder makes values of the expressions of a file.
type tomlBuilder struct {
	file *file
	root *value
	p    unstable.Parser
	// members finds a table's keys, of which there may be very many.
	members map[*value]map[string]*value
}

func (b *tomlBuilder) build() error {
	b.p.Reset(b.file.data)
	table := b.root
	for b.p.NextExpression() {
		e := b.p.Expression()
		switch e.Kind {
		case unstable.KeyValue:
			b.keyValue(table, e)
		case unstable.Table:
			keys, at := b.key(e.Key())
			table = b.descend(b.root, keys, at)
		case unstable.ArrayTable:
			keys, at := b.key(e.Key())
			parent := b.descend(b.root, keys[:len(keys)-1], at)
			name := keys[len(keys)-1]
			list := b.members[parent][name]
			if list == nil {
				list = b.put(parent, name, &value{kind: settings.Array, offset: at})
			}
			table = b.put(list, "", &value{kind: settings.Object, offset: at})
		}
	}
	return b.p.Error()
}

// key collects the parts of a dotted key and the offset of the first one.
func (b *tomlBuilder) key(it unstable.Iterator) (keys []string, at int) {
	at = -1
	for it.Next() {
		n := it.Node()
		if at < 0 {
			at = int(n.Raw.Offset)
		}
		keys = append(keys, string(n.Data))
	}
	return keys, max(at, 0)
}

// descend finds or makes the table at a dotted key. In an array of tables it is
// the last one.
func (b *tomlBuilder) descend(from *value, keys []string, at int) *value {
	for _, name := range keys {
		next := b.members[from][name]
		if next == nil {
			next = b.put(from, name, &value{kind: settings.Object, offset: at})
		}
		if next.kind == settings.Array && len(next.kids) > 0 {
			next = next.kids[len(next.kids)-1]
		}
		from = next
	}
	return from
}

func (b *tomlBuilder) put(parent *value, name string, v *value) *value {
	v.name, v.index, v.parent, v.file, v.opened = name, len(parent.kids), parent, b.file, true
	parent.kids = append(parent.kids, v)
	if parent.kind == settings.Object {
		if b.members[parent] == nil {
			b.members[parent] = make(map[string]*value)
		}
		b.members[parent][name] = v
	}
	return v
}

func (b *tomlBuilder) keyValue(table *value, e *unstable.Node) {
	keys, at := b.key(e.Key())
	if len(keys) == 0 {
		return
	}
	table = b.descend(table, keys[:len(keys)-1], at)
	b.value(table, keys[len(keys)-1], e.Value(), at)
}

// value adds a value. Nodes without a place of their own get that of what
// stands before them.
func (b *tomlBuilder) value(parent *value, name string, n *unstable.Node, at int) {
	if n.Raw.Length > 0 {
		at = int(n.Raw.Offset)
	}
	v := b.put(parent, name, &value{offset: at})
	switch n.Kind {
	case unstable.String:
		v.kind, v.text = settings.String, string(n.Data)
	case unstable.Bool:
		v.kind, v.raw = settings.Bool, string(n.Data)
	case unstable.Integer, unstable.Float:
		v.kind, v.raw = settings.Number, string(n.Data)
	case unstable.Array:
		v.kind = settings.Array
		for it := n.Children(); it.Next(); {
			b.value(v, "", it.Node(), at)
		}
	case unstable.InlineTable:
		v.kind = settings.Object
		for it := n.Children(); it.Next(); {
			b.keyValue(v, it.Node())
		}
	default: // dates
		v.kind, v.text = settings.String, string(n.Data)
	}
}
