package settings

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A Kind is the JSON type of a [Node].
type Kind uint8

// JSON types. The zero Kind belongs to a node that is not there.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"nothing", "null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// A Document is a parsed JSON text that remembers where everything stands.
type Document struct {
	data []byte
	root node
	dup  int // offset of the first repeated member name, -1 without one
}

type node struct {
	kind       Kind
	start, end int
	kids       []kid
}

// A kid is a member of an object or, without a name, an element of an array.
type kid struct {
	name     string
	nameAt   int // offset of the name's opening quote; the value's start in an array
	value    node
	shadowed bool // a later member has the same name
}

// A SyntaxError says where a text stops being JSON.
type SyntaxError struct {
	Line, Column int // 1-based; columns count characters
	Message      string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// maxDepth bounds nesting. The client was seen to accept 3,000 levels; a Go
// stack holds this many with room to spare.
const maxDepth = 10_000

// ParseDocument reads one JSON text as the client does: strictly (RFC 8259, no
// comments, no trailing commas), with a byte order mark passed over and the last
// of several members of one name winning. The error is a *[SyntaxError].
func ParseDocument(data []byte) (*Document, error) {
	return parse(parser{data: data, dup: -1})
}

// ParseJSONC is [ParseDocument] for files of other clients that may hold //
// and /* */ comments and a comma behind the last member or element.
func ParseJSONC(data []byte) (*Document, error) {
	return parse(parser{data: data, dup: -1, relaxed: true})
}

func parse(p parser) (*Document, error) {
	data := p.data
	if bytes.HasPrefix(data, byteOrderMark) {
		p.pos = len(byteOrderMark)
	}
	p.space()
	root, ok := p.value(0)
	if ok {
		p.space()
		if p.pos < len(data) {
			p.fail(p.pos, p.unexpected("the end of the file"))
			ok = false
		}
	}
	if !ok {
		line, column := position(data, p.errAt)
		return nil, &SyntaxError{line, column, p.err}
	}
	return &Document{data: data, root: root, dup: p.dup}, nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// position turns a byte offset into a line and a column, both from 1.
func position(data []byte, offset int) (line, column int) {
	before := data[:min(offset, len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	line = bytes.Count(before, []byte{'\n'}) + 1
	rest := before[start:]
	if line == 1 {
		rest = bytes.TrimPrefix(rest, byteOrderMark)
	}
	return line, utf8.RuneCount(rest) + 1
}

type parser struct {
	data    []byte
	pos     int
	dup     int
	err     string
	errAt   int
	relaxed bool // comments and trailing commas are let through
}

func (p *parser) fail(at int, message string) {
	p.err, p.errAt = message, at
}

func (p *parser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		case '/':
			n := 0
			if p.relaxed {
				n = commentLen(p.data[p.pos:])
			}
			if n == 0 {
				return
			}
			p.pos += n
		default:
			return
		}
	}
}

// commentLen is the length of the comment that s begins with, 0 if there is
// none or it never ends.
func commentLen(s []byte) int {
	switch {
	case bytes.HasPrefix(s, []byte("//")):
		if end := bytes.IndexByte(s, '\n'); end >= 0 {
			return end
		}
		return len(s)
	case bytes.HasPrefix(s, []byte("/*")):
		if end := bytes.Index(s[2:], []byte("*/")); end >= 0 {
			return 2 + end + 2
		}
	}
	return 0
}

// unexpected describes what stands at the current position in place of what
// was wanted.
func (p *parser) unexpected(want string) string {
	if p.pos >= len(p.data) {
		return "the file ends here, expected " + want
	}
	rest := p.data[p.pos:]
	if p.relaxed && bytes.HasPrefix(rest, []byte("/*")) {
		return "this comment never ends"
	}
	if rest[0] == '#' || bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("/*")) {
		return "comments are not allowed in JSON"
	}
	r, _ := utf8.DecodeRune(rest)
	return fmt.Sprintf("unexpected %q, expected %s", r, want)
}

func (p *parser) value(depth int) (n node, ok bool) {
	n.start = p.pos
	if p.pos >= len(p.data) {
		p.fail(p.pos, p.unexpected("a value"))
		return n, false
	}
	switch c := p.data[p.pos]; {
	case c == '{' || c == '[':
		if depth >= maxDepth {
			p.fail(p.pos, fmt.Sprintf("nested more than %d levels deep", maxDepth))
			return n, false
		}
		return p.container(depth)
	case c == '"':
		n.kind, ok = String, p.skipString()
	case c == '-' || c >= '0' && c <= '9':
		n.kind, ok = Number, p.number()
	case c == 't':
		n.kind, ok = Bool, p.literal("true")
	case c == 'f':
		n.kind, ok = Bool, p.literal("false")
	case c == 'n':
		n.kind, ok = Null, p.literal("null")
	default:
		p.fail(p.pos, p.unexpected("a value"))
	}
	n.end = p.pos
	return n, ok
}

func (p *parser) container(depth int) (n node, ok bool) {
	n.start = p.pos
	isObject := p.data[p.pos] == '{'
	n.kind, ok = Array, true
	closer, what := byte(']'), "a comma or ]"
	if isObject {
		n.kind, closer, what = Object, '}', "a comma or }"
	}
	p.pos++
	p.space()
	if p.pos < len(p.data) && p.data[p.pos] == closer {
		p.pos++
		n.end = p.pos
		return n, true
	}
	for {
		k := kid{nameAt: p.pos}
		if isObject {
			if p.pos >= len(p.data) || p.data[p.pos] != '"' {
				p.fail(p.pos, p.unexpected("a member name in double quotes"))
				return n, false
			}
			if !p.skipString() {
				return n, false
			}
			k.name = decodeString(p.data[k.nameAt:p.pos])
			p.space()
			if p.pos >= len(p.data) || p.data[p.pos] != ':' {
				p.fail(p.pos, p.unexpected("a colon"))
				return n, false
			}
			p.pos++
			p.space()
		}
		if k.value, ok = p.value(depth + 1); !ok {
			return n, false
		}
		n.kids = append(n.kids, k)
		p.space()
		if p.pos >= len(p.data) {
			p.fail(p.pos, p.unexpected(what))
			return n, false
		}
		switch p.data[p.pos] {
		case ',':
			comma := p.pos
			p.pos++
			p.space()
			if p.pos < len(p.data) && p.data[p.pos] == closer {
				if !p.relaxed {
					p.fail(comma, "trailing comma")
					return n, false
				}
				p.pos++
				n.end = p.pos
				if isObject {
					p.shadow(n.kids)
				}
				return n, true
			}
		case closer:
			p.pos++
			n.end = p.pos
			if isObject {
				p.shadow(n.kids)
			}
			return n, true
		default:
			p.fail(p.pos, p.unexpected(what))
			return n, false
		}
	}
}

// shadow marks members that a later one of the same name replaces.
func (p *parser) shadow(kids []kid) {
	const few = 16
	if len(kids) <= few {
		for i := range kids {
			for j := i + 1; j < len(kids); j++ {
				if kids[i].name == kids[j].name {
					kids[i].shadowed = true
					p.repeated(kids[j].nameAt)
				}
			}
		}
		return
	}
	last := make(map[string]int, len(kids))
	for i := range kids {
		if j, seen := last[kids[i].name]; seen {
			kids[j].shadowed = true
			p.repeated(kids[i].nameAt)
		}
		last[kids[i].name] = i
	}
}

func (p *parser) repeated(at int) {
	if p.dup < 0 || at < p.dup {
		p.dup = at
	}
}

func (p *parser) literal(word string) bool {
	if bytes.HasPrefix(p.data[p.pos:], []byte(word)) {
		p.pos += len(word)
		return true
	}
	p.fail(p.pos, p.unexpected("a value"))
	return false
}

func (p *parser) digits() bool {
	start := p.pos
	for p.pos < len(p.data) && p.data[p.pos] >= '0' && p.data[p.pos] <= '9' {
		p.pos++
	}
	if p.pos == start {
		p.fail(p.pos, p.unexpected("a digit"))
		return false
	}
	return true
}

func (p *parser) number() bool {
	if p.data[p.pos] == '-' {
		p.pos++
	}
	if p.pos < len(p.data) && p.data[p.pos] == '0' {
		p.pos++
	} else if !p.digits() {
		return false
	}
	if p.pos < len(p.data) && p.data[p.pos] == '.' {
		p.pos++
		if !p.digits() {
			return false
		}
	}
	if p.pos < len(p.data) && (p.data[p.pos] == 'e' || p.data[p.pos] == 'E') {
		p.pos++
		if p.pos < len(p.data) && (p.data[p.pos] == '+' || p.data[p.pos] == '-') {
			p.pos++
		}
		return p.digits()
	}
	return true
}

func (p *parser) skipString() bool {
	open := p.pos
	p.pos++
	for p.pos < len(p.data) {
		switch c := p.data[p.pos]; {
		case c == '"':
			p.pos++
			return true
		case c == '\\':
			if !p.escape() {
				return false
			}
		case c < 0x20:
			p.fail(p.pos, fmt.Sprintf("control character %#02x in a string, write it as an escape", c))
			return false
		default:
			p.pos++
		}
	}
	p.fail(open, "this string never ends")
	return false
}

func (p *parser) escape() bool {
	at := p.pos
	p.pos++
	if p.pos < len(p.data) {
		switch p.data[p.pos] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			p.pos++
			return true
		case 'u':
			p.pos++
			if p.pos+4 <= len(p.data) && isHex(p.data[p.pos:p.pos+4]) {
				p.pos += 4
				return true
			}
		}
	}
	p.fail(at, "not a JSON escape")
	return false
}

func isHex(b []byte) bool {
	for _, c := range b {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

// decodeString is the text of a quoted string that skipString accepted.
// Invalid UTF-8 and lone surrogates become U+FFFD.
func decodeString(quoted []byte) string {
	s := string(quoted[1 : len(quoted)-1])
	if strings.IndexByte(s, '\\') < 0 {
		return validUTF8(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		switch c := s[i+1]; c {
		case 'u':
			r := hexRune(s[i+2:])
			i += 6
			if utf16.IsSurrogate(r) {
				low := utf8.RuneError
				if strings.HasPrefix(s[i:], `\u`) {
					low = hexRune(s[i+2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					i += 6
				}
			}
			b.WriteRune(r)
		default:
			b.WriteByte(unescape(c))
			i += 2
		}
	}
	return validUTF8(b.String())
}

// validUTF8 puts U+FFFD in place of every byte that belongs to no character.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hexRune(s string) (r rune) {
	for i := range 4 {
		c := s[i]
		switch {
		case c <= '9':
			c -= '0'
		case c <= 'F':
			c -= 'A' - 10
		default:
			c -= 'a' - 10
		}
		r = r<<4 | rune(c)
	}
	return r
}

// A Node is one value of a [Document]. The zero Node is absent.
type Node struct {
	doc *Document
	n   *node
	at  int // offset that stands for the node: its name, or its value without one
}

// Root is the whole document.
func (d *Document) Root() Node { return Node{d, &d.root, d.root.start} }

// Bytes is the text that was parsed. The caller must not change it.
func (d *Document) Bytes() []byte { return d.data }

// Repeated is the place of the first member name that its object already had;
// ok is false when there is none.
func (d *Document) Repeated() (line, column int, ok bool) {
	if d.dup < 0 {
		return 0, 0, false
	}
	line, column = position(d.data, d.dup)
	return line, column, true
}

// Kind is the node's type, [Absent] for one that is not there.
func (n Node) Kind() Kind {
	if n.n == nil {
		return Absent
	}
	return n.n.kind
}

// Get follows member names downwards; a step that finds nothing gives an
// absent node.
func (n Node) Get(path ...string) Node {
	for _, name := range path {
		if n.Kind() != Object {
			return Node{}
		}
		found := false
		for i := len(n.n.kids) - 1; i >= 0; i-- {
			if k := &n.n.kids[i]; k.name == name {
				n, found = Node{n.doc, &k.value, k.nameAt}, true
				break
			}
		}
		if !found {
			return Node{}
		}
	}
	return n
}

// Len is the number of members or elements, repeated names included.
func (n Node) Len() int {
	if n.n == nil {
		return 0
	}
	return len(n.n.kids)
}

// Each calls f for every member, in order, or every element, with an empty
// name. Members that a later one of the same name replaces are left out. It
// ends when f returns false.
func (n Node) Each(f func(name string, value Node) bool) {
	if n.n == nil {
		return
	}
	for i := range n.n.kids {
		k := &n.n.kids[i]
		if !k.shadowed && !f(k.name, Node{n.doc, &k.value, k.nameAt}) {
			return
		}
	}
}

// EachRepeated calls f for every member, in order, with those that a later one
// of the same name replaces: repeated says that an earlier member of the object
// has the name. It ends when f returns false.
func (n Node) EachRepeated(f func(name string, value Node, repeated bool) bool) {
	if n.Kind() != Object {
		return
	}
	var seen map[string]bool
	for i := range n.n.kids {
		if n.n.kids[i].shadowed {
			seen = make(map[string]bool)
			break
		}
	}
	for i := range n.n.kids {
		k := &n.n.kids[i]
		repeated := seen[k.name]
		if seen != nil {
			seen[k.name] = true
		}
		if !f(k.name, Node{n.doc, &k.value, k.nameAt}, repeated) {
			return
		}
	}
}

// Bool is the value of a boolean.
func (n Node) Bool() (value, ok bool) {
	if n.Kind() != Bool {
		return false, false
	}
	return n.doc.data[n.n.start] == 't', true
}

// Int is the value of a number without a fraction that fits.
func (n Node) Int() (int64, bool) {
	if n.Kind() != Number {
		return 0, false
	}
	text := string(n.Raw())
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

// Text is the value of a string, decoded.
func (n Node) Text() (string, bool) {
	if n.Kind() != String {
		return "", false
	}
	return decodeString(n.doc.data[n.n.start:n.n.end]), true
}

// Raw is the node as it is written, nil when it is absent. The caller must not
// change it.
func (n Node) Raw() []byte {
	if n.n == nil {
		return nil
	}
	return n.doc.data[n.n.start:n.n.end:n.n.end]
}

// Position is where the node stands: its member name, or the value itself for
// an element of an array. Both are 0 for an absent node.
func (n Node) Position() (line, column int) {
	if n.n == nil {
		return 0, 0
	}
	return position(n.doc.data, n.at)
}

// Offset is where the value begins in [Document.Bytes], -1 for an absent node.
func (n Node) Offset() int {
	if n.n == nil {
		return -1
	}
	return n.n.start
}
