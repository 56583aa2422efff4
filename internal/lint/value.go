package lint

import (
	"bytes"
	"encoding/json"
	"sort"
	"strconv"
	"strings"

	"sallyport/settings"
)

// A file is a text that was read, with what is needed to name places in it.
type file struct {
	name   string
	data   []byte
	lines  []int // offsets of line starts, made on first use
	marks  []int // characters before every markStep-th byte
	chars  int   // in all
	scope  settings.Scope
	scoped bool // scope is known
	layer  int  // of a merge
}

// position turns an offset into line and column, from 1, columns in characters.
// It is asked for every finding, and a hostile file is one line.
func (f *file) position(offset int) (line, column int) {
	if f.lines == nil {
		f.lines = []int{0}
		for i, c := range f.data {
			if i%markStep == 0 {
				f.marks = append(f.marks, f.chars)
			}
			if !continues(c) {
				f.chars++
			}
			if c == '\n' {
				f.lines = append(f.lines, i+1)
			}
		}
	}
	offset = max(0, min(offset, len(f.data)))
	line = sort.SearchInts(f.lines, offset+1)
	column = f.before(offset) - f.before(f.lines[line-1]) + 1
	if line == 1 && offset > 0 && bytes.HasPrefix(f.data, []byte("\xef\xbb\xbf")) {
		column--
	}
	return line, column
}

const markStep = 1024

// before is the number of characters before an offset.
func (f *file) before(offset int) int {
	if offset >= len(f.data) {
		return f.chars
	}
	n := f.marks[offset/markStep]
	for _, c := range f.data[offset/markStep*markStep : offset] {
		if !continues(c) {
			n++
		}
	}
	return n
}

// continues reports a byte inside a UTF-8 sequence.
func continues(c byte) bool { return c&0xc0 == 0x80 }

// A value is a piece of configuration that knows its place, whatever syntax it
// was written in. In a merge its children may come from several files. A nil
// value is absent.
type value struct {
	kind   settings.Kind
	name   string // of a member
	index  int    // of an element
	file   *file
	offset int
	parent *value
	node   settings.Node // of JSON
	text   string        // of a string
	raw    string        // as written, of other scalars of TOML
	kids   []*value
	opened bool // kids are there
	// derived entries of a merge come from a permission rule.
	derived bool
}

func jsonValue(f *file, n settings.Node) *value {
	v := &value{kind: n.Kind(), file: f, offset: n.Offset(), node: n}
	v.text, _ = n.Text()
	return v
}

// children are the members and elements in order. Of several members of one
// name only the last is there.
func (v *value) children() []*value {
	if v == nil {
		return nil
	}
	if !v.opened {
		v.opened = true
		v.node.Each(func(name string, n settings.Node) bool {
			kid := jsonValue(v.file, n)
			kid.name, kid.index, kid.parent = name, len(v.kids), v
			v.kids = append(v.kids, kid)
			return true
		})
	}
	return v.kids
}

func (v *value) get(path ...string) *value {
	for _, name := range path {
		if v == nil || v.kind != settings.Object {
			return nil
		}
		var found *value
		for _, kid := range v.children() {
			if kid.name == name {
				found = kid
			}
		}
		v = found
	}
	return v
}

func (v *value) is(kind settings.Kind) bool { return v != nil && v.kind == kind }

// bool is the value of a boolean; ok is false for anything else.
func (v *value) bool() (value, ok bool) {
	if !v.is(settings.Bool) {
		return false, false
	}
	return strings.HasPrefix(v.source(), "t"), true
}

func (v *value) isTrue() bool {
	b, _ := v.bool()
	return b
}

func (v *value) isFalse() bool {
	b, ok := v.bool()
	return ok && !b
}

// strings are the elements of an array that are strings.
func (v *value) strings() (out []*value) {
	if v.is(settings.Array) {
		for _, kid := range v.children() {
			if kid.kind == settings.String {
				out = append(out, kid)
			}
		}
	}
	return out
}

func (v *value) source() string {
	if v == nil {
		return ""
	}
	if raw := v.node.Raw(); raw != nil {
		return string(raw)
	}
	return v.raw
}

func (v *value) position() (line, column int) { return v.file.position(v.offset) }

// steps lead from the root to the value.
func (v *value) steps() (steps []string) {
	for ; v != nil && v.parent != nil; v = v.parent {
		if v.parent.kind == settings.Array {
			steps = append(steps, strconv.Itoa(v.index))
		} else {
			steps = append(steps, v.name)
		}
	}
	for i, j := 0, len(steps)-1; i < j; i, j = i+1, j-1 {
		steps[i], steps[j] = steps[j], steps[i]
	}
	return steps
}

func (v *value) pointer() string { return pointerOf(v.steps()) }

func pointerOf(steps []string) string {
	var b strings.Builder
	for _, step := range steps {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// path is the dotted form: sandbox.filesystem.denyRead[2].
func (v *value) path() string {
	var chain []*value
	for ; v != nil && v.parent != nil; v = v.parent {
		chain = append(chain, v)
	}
	path := ""
	for i := len(chain) - 1; i >= 0; i-- {
		if v := chain[i]; v.parent.kind == settings.Array {
			path += "[" + strconv.Itoa(v.index) + "]"
		} else {
			path = joinPath(path, []string{v.name})
		}
	}
	return path
}

func joinPath(path string, names []string) string {
	for _, name := range names {
		switch {
		case name == "" || strings.ContainsAny(name, ".[]\"") || strings.IndexFunc(name, isControl) >= 0:
			path += "[" + quote(name) + "]"
		case path == "":
			path = name
		default:
			path += "." + name
		}
	}
	return path
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }

// compact is the value as JSON without blanks, for messages and fingerprints.
func (v *value) compact() string {
	var b strings.Builder
	v.write(&b, nil)
	return b.String()
}

// write renders the value as JSON; hide, if not nil, replaces strings by name.
func (v *value) write(b *strings.Builder, hide func(names []string, text string) string) {
	v.writeIn(b, v.names(), hide)
}

// names are the member names on the way to the value.
func (v *value) names() (names []string) {
	for ; v != nil && v.parent != nil; v = v.parent {
		if v.parent.kind == settings.Object {
			names = append(names, v.name)
		}
	}
	return names
}

func (v *value) writeIn(b *strings.Builder, names []string, hide func([]string, string) string) {
	switch v.kind {
	case settings.String:
		text := v.text
		if hide != nil {
			text = hide(names, text)
		}
		b.WriteString(quote(text))
	case settings.Array:
		b.WriteByte('[')
		for i, kid := range v.children() {
			if i > 0 {
				b.WriteByte(',')
			}
			kid.writeIn(b, names, hide)
		}
		b.WriteByte(']')
	case settings.Object:
		b.WriteByte('{')
		for i, kid := range v.children() {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quote(kid.name))
			b.WriteByte(':')
			in := names
			if hide != nil {
				in = append(names[:len(names):len(names)], kid.name)
			}
			kid.writeIn(b, in, hide)
		}
		b.WriteByte('}')
	default:
		b.WriteString(v.source())
	}
}

// quote is a string as JSON.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

// kindName is the word that messages use.
func kindName(k settings.Kind) string {
	return [...]string{"nothing", "null", "boolean", "number", "string", "list", "object"}[k]
}
