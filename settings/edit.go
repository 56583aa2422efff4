package settings

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// A Change is one edit of a JSON text. Its path leads from the root through
// member names and, in arrays, decimal indexes; "-" stands for the place behind
// an array's last element.
type Change struct {
	path   []string
	value  []byte
	delete bool
	err    error
}

// Set puts a value at a path, in place of what is there. Objects on the way
// that do not exist are made, and so is an array for a last step "-". The value
// is anything encoding/json can write; a json.RawMessage keeps its spelling.
func Set(value any, path ...string) Change {
	data, err := marshal(value)
	return Change{path: path, value: data, err: err}
}

// Append adds an element to the array at a path, which is made if it is not
// there.
func Append(value any, path ...string) Change {
	return Set(value, append(path[:len(path):len(path)], "-")...)
}

// Delete takes out the member or element at a path. A path that leads nowhere
// changes nothing.
func Delete(path ...string) Change { return Change{path: path, delete: true} }

// Pointer splits a JSON pointer (RFC 6901) such as "/hooks/PreToolUse/0" into
// a path.
func Pointer(pointer string) []string {
	if pointer == "" {
		return nil
	}
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, step := range steps {
		steps[i] = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
	}
	return steps
}

func marshal(value any) ([]byte, error) {
	if raw, ok := value.(json.RawMessage); ok {
		_, err := ParseDocument(raw)
		return raw, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// A PathError is a change that does not fit the text: a step leads through a
// value that has no members, or to an index that the array does not have.
type PathError struct {
	Pointer string
	Message string
}

func (e *PathError) Error() string { return e.Pointer + ": " + e.Message }

func pointer(path []string) string {
	var b strings.Builder
	for _, step := range path {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// Apply edits a JSON text and leaves every other byte as it is: order, number
// spelling, indentation, line ends, the final newline. What is inserted takes
// over the text's own indentation. An empty text counts as an empty object.
//
// A text that could not be edited without a guess is refused with a
// *[SyntaxError]: anything but strict JSON, a member name that stands twice in
// one object, a byte order mark. A change that does not fit is a *[PathError].
// On an error the text is nil.
func Apply(data []byte, changes ...Change) ([]byte, error) {
	if bytes.HasPrefix(data, byteOrderMark) {
		return nil, &SyntaxError{1, 1, "the file begins with a byte order mark"}
	}
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	// Without a change the text is checked all the same.
	for first := true; first || len(changes) > 0; first = false {
		doc, err := ParseDocument(data)
		if err != nil {
			return nil, err
		}
		if line, column, ok := doc.Repeated(); ok {
			return nil, &SyntaxError{line, column, "a member of this name stands here twice"}
		}
		if len(changes) == 0 {
			break
		}
		if out, n := doc.batch(changes); n > 0 {
			data, changes = out, changes[n:]
			continue
		}
		if changes[0].err != nil {
			return nil, changes[0].err
		}
		if data, err = apply(doc, changes[0]); err != nil {
			return nil, err
		}
		changes = changes[1:]
	}
	return data, nil
}

// Patch is [Apply] for files that are not the client's alone: a byte order mark
// stays, and a member name may stand twice where no change leads through it.
func Patch(data []byte, changes ...Change) ([]byte, error) {
	mark, body := 0, data
	if bytes.HasPrefix(data, byteOrderMark) {
		mark = len(byteOrderMark)
		body = data[mark:]
	}
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}\n")
	}
	for i := -1; i < len(changes); i++ {
		doc, err := ParseDocument(body)
		if err != nil {
			return nil, err
		}
		if i < 0 {
			continue // without a change the text is checked all the same
		}
		c := changes[i]
		if c.err != nil {
			return nil, c.err
		}
		if at, twice := doc.repeatedOn(c.path); twice {
			line, column := position(body, at)
			return nil, &SyntaxError{line, column, "a member of this name stands here twice"}
		}
		if body, err = apply(doc, c); err != nil {
			return nil, err
		}
	}
	return append(bytes.Clone(data[:mark]), body...), nil
}

// repeatedOn is the offset of a member that repeats the name of a step.
func (d *Document) repeatedOn(path []string) (at int, ok bool) {
	n := &d.root
	for _, step := range path {
		first := n.child(step)
		if first < 0 {
			return 0, false
		}
		if n.kids[first].shadowed {
			for i := first + 1; i < len(n.kids); i++ {
				if n.kids[i].name == step {
					return n.kids[i].nameAt, true
				}
			}
		}
		n = &n.kids[first].value
	}
	return 0, false
}

func apply(doc *Document, c Change) ([]byte, error) {
	at := &doc.root
	var parent *node
	index := 0
	for i, step := range c.path {
		switch at.kind {
		case Object:
		case Array:
			if step == "-" || step == strconv.Itoa(len(at.kids)) {
				if c.delete {
					return doc.data, nil
				}
				return doc.insert(at, c.path[i:], c.value), nil
			}
		default:
			if c.delete {
				return doc.data, nil
			}
			return nil, &PathError{pointer(c.path[:i]), "is " + at.kind.String() + " and has no members"}
		}
		next := at.child(step)
		if next < 0 {
			if c.delete {
				return doc.data, nil
			}
			if at.kind == Array {
				return nil, &PathError{pointer(c.path[:i+1]), "no such element"}
			}
			return doc.insert(at, c.path[i:], c.value), nil
		}
		parent, index = at, next
		at = &at.kids[next].value
	}
	if c.delete {
		if parent == nil {
			return nil, &PathError{"", "the whole text cannot be deleted"}
		}
		return doc.remove(parent, index), nil
	}
	if sameJSON(doc.data[at.start:at.end], c.value) {
		return doc.data, nil
	}
	return doc.splice(at.start, at.end, doc.render(c.value, doc.lineIndent(at.start), doc.multiline())), nil
}

// child is the index of the member or element that a step names, -1 without.
func (n *node) child(step string) int {
	if n.kind == Array {
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(n.kids) || strconv.Itoa(i) != step {
			return -1
		}
		return i
	}
	for i := range n.kids {
		if n.kids[i].name == step {
			return i
		}
	}
	return -1
}

func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

func (d *Document) splice(start, end int, text []byte) []byte {
	out := make([]byte, 0, len(d.data)-(end-start)+len(text))
	out = append(out, d.data[:start]...)
	out = append(out, text...)
	return append(out, d.data[end:]...)
}

// insert puts a value behind the last kid of a container. path[0] is the new
// name; what follows are objects (or one array, for "-") to be made around the
// value.
func (d *Document) insert(c *node, path []string, value []byte) []byte {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == "-" {
			value = join("[", value, "]")
		} else {
			value = join("{"+quote(path[i])+":", value, "}")
		}
	}
	name := ""
	if c.kind == Object {
		name = quote(path[0]) + d.colon()
	}
	if len(c.kids) == 0 {
		if !d.multiline() {
			return d.splice(c.start+1, c.end-1, join(name, d.render(value, "", false), ""))
		}
		outer := d.lineIndent(c.start)
		inner := outer + d.unit()
		text := d.newline() + inner + name + string(d.render(value, inner, true)) + d.newline() + outer
		return d.splice(c.start+1, c.end-1, []byte(text))
	}
	last := &c.kids[len(c.kids)-1]
	before := c.start + 1
	if len(c.kids) > 1 {
		before = c.kids[len(c.kids)-2].value.end
	}
	gap := d.data[before:last.nameAt] // blanks, and a comma behind an earlier kid
	if eol := bytes.LastIndexByte(gap, '\n'); eol >= 0 {
		indent := string(gap[eol+1:])
		if comma := strings.IndexByte(indent, ','); comma >= 0 {
			indent = d.lineIndent(last.nameAt)
		}
		text := "," + d.newline() + indent + name + string(d.render(value, indent, true))
		return d.splice(last.value.end, last.value.end, []byte(text))
	}
	text := "," + d.blank() + name + string(d.render(value, "", false))
	return d.splice(last.value.end, last.value.end, []byte(text))
}

// remove takes out one kid with the comma that goes with it.
func (d *Document) remove(c *node, i int) []byte {
	switch {
	case len(c.kids) == 1:
		return d.splice(c.start+1, c.end-1, nil)
	case i == len(c.kids)-1:
		return d.splice(c.kids[i-1].value.end, c.kids[i].value.end, nil)
	}
	return d.splice(c.kids[i].nameAt, c.kids[i+1].nameAt, nil)
}

func join(before string, middle []byte, after string) []byte {
	out := make([]byte, 0, len(before)+len(middle)+len(after))
	out = append(out, before...)
	out = append(out, middle...)
	return append(out, after...)
}

func quote(s string) string {
	data, err := marshal(s)
	if err != nil {
		return strconv.Quote(s) // not reached: a string always marshals
	}
	return string(data)
}

// render writes a value the way the text is written.
func (d *Document) render(value []byte, indent string, multiline bool) []byte {
	var b bytes.Buffer
	if !multiline {
		if err := json.Compact(&b, value); err != nil {
			return value
		}
		if d.blank() == "" {
			return b.Bytes()
		}
		return spaced(b.Bytes())
	}
	if err := json.Indent(&b, value, indent, d.unit()); err != nil {
		return value
	}
	if d.newline() != "\n" {
		return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(d.newline()))
	}
	return b.Bytes()
}

// spaced puts a blank behind every comma and colon of a compact JSON text.
func spaced(compact []byte) []byte {
	var b bytes.Buffer
	quoted := false
	for i := 0; i < len(compact); i++ {
		c := compact[i]
		b.WriteByte(c)
		switch {
		case quoted && c == '\\':
			i++
			b.WriteByte(compact[i])
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ':'):
			b.WriteByte(' ')
		}
	}
	return b.Bytes()
}

// multiline reports that the text has its members on lines of their own. A
// text that says nothing about it counts as such.
func (d *Document) multiline() bool {
	if len(d.root.kids) == 0 {
		return true
	}
	return bytes.IndexByte(d.data[d.root.start:d.root.kids[0].nameAt], '\n') >= 0
}

// unit is one step of the text's indentation, two blanks where it has none.
func (d *Document) unit() string {
	if len(d.root.kids) > 0 {
		gap := d.data[d.root.start:d.root.kids[0].nameAt]
		if eol := bytes.LastIndexByte(gap, '\n'); eol >= 0 {
			outer := d.lineIndent(d.root.start)
			if unit, ok := strings.CutPrefix(string(gap[eol+1:]), outer); ok && unit != "" {
				return unit
			}
		}
	}
	return "  "
}

func (d *Document) newline() string {
	if eol := bytes.IndexByte(d.data, '\n'); eol > 0 && d.data[eol-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// colon is what stands between a name and its value.
func (d *Document) colon() string {
	if len(d.root.kids) > 0 {
		k := &d.root.kids[0]
		if between := d.data[k.nameAt:k.value.start]; bytes.HasSuffix(between, []byte(":")) {
			return ":"
		}
	}
	return ": "
}

// blank is what stands behind a comma in a text on one line.
func (d *Document) blank() string {
	if d.colon() == ":" {
		return ""
	}
	return " "
}

// lineIndent is the blank space that the line of an offset begins with.
func (d *Document) lineIndent(offset int) string {
	start := bytes.LastIndexByte(d.data[:offset], '\n') + 1
	end := start
	for end < len(d.data) && (d.data[end] == ' ' || d.data[end] == '\t') {
		end++
	}
	return string(d.data[start:end])
}
