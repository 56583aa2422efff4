// Package tomledit reads where things stand in a TOML document and changes single
// values of it, keeping every other byte: comments, blank lines, order, quoting
// styles and line ends.
//
// go-toml's encoder keeps none of that, so edits are splices of the text. Text
// comes from anywhere: its nesting is bounded before a recursive parser sees it.
package tomledit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"sallyport/internal/tomltext"
)

// maxDepth bounds how deep arrays, inline tables and dotted keys may nest: the
// parser and the decoder recurse.
const maxDepth = 128

// An Error says where a text stops being a TOML document that can be used.
type Error struct {
	Line, Column int // 1-based
	Msg          string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// A Kind tells the items of a document apart.
type Kind uint8

// Kinds of items.
const (
	KeyValue   Kind = iota
	Table           // [a.b]
	ArrayTable      // [[a.b]]
)

// An Item is one header or one key with its value. Offsets are bytes.
type Item struct {
	Kind  Kind
	Table []string // the table in force; of a header, its own
	Key   []string // the parts of a key as written in its table; nil for a header
	Line  int
	Start int // of the line of a header, of the key otherwise
	End   int // behind the header's bracket or the value

	ValueStart, ValueEnd int
	Inline               bool // the value is an inline table
	Inner                []InnerKey
}

// An InnerKey is a key directly inside an inline table.
type InnerKey struct {
	Key  []string
	Line int
}

// Path is the item's place counted from the root.
func (i Item) Path() []string { return slices.Concat(i.Table, i.Key) }

// Unmarshal is go-toml's Unmarshal with the nesting bounded first. The error is
// an *[Error].
func Unmarshal(data []byte, v any) error {
	data = body(data)
	if _, err := Scan(data); err != nil {
		return err
	}
	return decodeError(toml.Unmarshal(data, v))
}

func decodeError(err error) error {
	if err == nil {
		return nil
	}
	var de *toml.DecodeError
	if errors.As(err, &de) {
		line, column := de.Position()
		return &Error{line, column, strings.TrimPrefix(de.Error(), "toml: ")}
	}
	return &Error{1, 1, strings.TrimPrefix(err.Error(), "toml: ")}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// body is the text without a byte order mark.
func body(data []byte) []byte { return bytes.TrimPrefix(data, byteOrderMark) }

// Scan lists the items of a document without a byte order mark, in order. Keys
// inside inline tables are part of the value. The error is an *[Error].
func Scan(data []byte) (items []Item, err error) {
	if !utf8.Valid(data) {
		return nil, &Error{1 + bytes.Count(data[:invalidAt(data)], []byte("\n")), 1, "not UTF-8"}
	}
	if at := tomltext.Deeper(data, maxDepth); at >= 0 {
		line, column := position(data, at)
		return nil, &Error{line, column, fmt.Sprintf("nested more than %d levels deep", maxDepth)}
	}
	// The parser's offsets are made for text it accepts; a bad one never
	// becomes a panic of ours.
	defer func() {
		if r := recover(); r != nil {
			items, err = nil, &Error{1, 1, fmt.Sprint(r)}
		}
	}()
	var p unstable.Parser
	p.Reset(data)
	var table []string
	line, counted := 1, 0
	lineAt := func(at int) int {
		line += bytes.Count(data[counted:at], []byte("\n"))
		counted = at
		return line
	}
	for p.NextExpression() {
		expr := p.Expression()
		switch expr.Kind {
		case unstable.Table, unstable.ArrayTable:
			parts, start, end := keyParts(expr)
			it := Item{Kind: Table, Table: parts, Line: lineAt(start), Start: lineStart(data, start)}
			close := "]"
			if expr.Kind == unstable.ArrayTable {
				it.Kind, close = ArrayTable, "]]"
			}
			at := bytes.Index(data[end:], []byte(close))
			if at < 0 {
				return nil, &Error{it.Line, 1, "table header without " + close}
			}
			it.End = end + at + len(close)
			table = parts
			items = append(items, it)
		case unstable.KeyValue:
			parts, start, keyEnd := keyParts(expr)
			end := int(expr.Raw.Offset) + int(expr.Raw.Length)
			eq := bytes.IndexByte(data[keyEnd:], '=')
			if eq < 0 || keyEnd+eq+1 > end {
				return nil, &Error{lineAt(start), 1, "key without a value"}
			}
			valueStart := keyEnd + eq + 1
			for valueStart < end && (data[valueStart] == ' ' || data[valueStart] == '\t') {
				valueStart++
			}
			valueEnd := valueStart + len(bytes.TrimRight(data[valueStart:end], " \t\r\n"))
			it := Item{
				Kind: KeyValue, Table: table, Key: parts, Line: lineAt(start),
				Start: start, End: valueEnd, ValueStart: valueStart, ValueEnd: valueEnd,
				Inline: expr.Value().Kind == unstable.InlineTable,
			}
			if it.Inline {
				inner := expr.Value().Children()
				for inner.Next() {
					if child := inner.Node(); child.Kind == unstable.KeyValue {
						names, at, _ := keyParts(child)
						it.Inner = append(it.Inner, InnerKey{names, lineAt(at)})
					}
				}
			}
			items = append(items, it)
		}
		if n := len(items); n > 0 && len(items[n-1].Table)+len(items[n-1].Key) > maxDepth {
			return nil, &Error{items[n-1].Line, 1, fmt.Sprintf("nested more than %d levels deep", maxDepth)}
		}
	}
	if p.Error() != nil {
		// Its highlight knows no line; the decoder's error does.
		var v map[string]any
		if err := decodeError(toml.Unmarshal(data, &v)); err != nil {
			return nil, err
		}
		return nil, &Error{1, 1, p.Error().Error()}
	}
	return items, nil
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return len(data)
}

func position(data []byte, at int) (line, column int) {
	return 1 + bytes.Count(data[:at], []byte("\n")), 1 + utf8.RuneCount(data[lineStart(data, at):at])
}

// keyParts are the parts of an expression's key and the range they take.
func keyParts(expr *unstable.Node) (parts []string, start, end int) {
	start = -1
	it := expr.Key()
	for it.Next() {
		n := it.Node()
		parts = append(parts, string(n.Data))
		if start < 0 {
			start = int(n.Raw.Offset)
		}
		end = int(n.Raw.Offset) + int(n.Raw.Length)
	}
	return parts, max(start, 0), end
}

func lineStart(data []byte, at int) int { return 1 + bytes.LastIndexByte(data[:at], '\n') }

// nextLine is the start of the line behind an offset.
func nextLine(data []byte, at int) int {
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(data)
}

// Newline is the line end that a document uses.
func Newline(data []byte) string {
	if eol := bytes.IndexByte(data, '\n'); eol > 0 && data[eol-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// Quote writes a basic string.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Key writes one part of a key: bare where TOML allows it, quoted otherwise.
func Key(s string) string {
	bare := s != ""
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
			bare = false
		}
	}
	if bare {
		return s
	}
	return Quote(s)
}

// Dotted writes a path as a dotted key.
func Dotted(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = Key(p)
	}
	return strings.Join(parts, ".")
}

func splice(data []byte, start, end int, text string) []byte {
	return slices.Concat(data[:start], []byte(text), data[end:])
}

// Set gives a key a value, which is TOML text, and keeps every other byte. A key
// that exists has its value replaced where it stands, in an inline table too. A
// new one goes behind the last key of its table, in the form the table is written
// in; a table that does not exist is added at the end. The error is an *[Error].
func Set(data []byte, path []string, value string) ([]byte, error) {
	if bytes.HasPrefix(data, byteOrderMark) {
		out, err := Set(body(data), path, value)
		return append(bytes.Clone(byteOrderMark), out...), err
	}
	items, err := Scan(data)
	if err != nil {
		return nil, err
	}
	table, name := path[:len(path)-1], path[len(path)-1]
	newline := Newline(data)
	last, header, firstHeader, dotted := -1, -1, -1, -1
	for n, it := range items {
		full := it.Path()
		switch {
		case it.Kind == KeyValue && slices.Equal(full, path):
			return splice(data, it.ValueStart, it.ValueEnd, value), nil
		case it.Kind == KeyValue && len(full) < len(path) && slices.Equal(full, path[:len(full)]):
			if !it.Inline {
				return nil, &Error{it.Line, 1, Dotted(full) + " is not a table"}
			}
			inner, err := setInline(string(data[it.ValueStart:it.ValueEnd]), path[len(full):], value)
			if err != nil {
				return nil, &Error{it.Line, 1, err.Error()}
			}
			return splice(data, it.ValueStart, it.ValueEnd, inner), nil
		case it.Kind != KeyValue && firstHeader < 0:
			firstHeader = n
		}
		switch {
		case it.Kind == KeyValue && slices.Equal(it.Table, table):
			last = n
		case it.Kind == Table && slices.Equal(it.Table, table):
			header = n
		case it.Kind == KeyValue && len(it.Table) < len(table) && len(full) > len(table) && slices.Equal(full[:len(table)], table):
			dotted = n // the table is made of dotted keys of an outer one
		}
	}
	line := Key(name) + " = " + value + newline
	at := 0
	switch {
	case last >= 0:
		at = nextLine(data, items[last].End)
	case header >= 0:
		at = nextLine(data, items[header].End)
	case dotted >= 0:
		line = Dotted(path[len(items[dotted].Table):]) + " = " + value + newline
		at = nextLine(data, items[dotted].End)
	case len(table) == 0:
		at = len(data)
		if firstHeader >= 0 {
			at = Above(data, items[firstHeader].Start)
			line += newline
		}
	default:
		return Append(data, "["+Dotted(table)+"]"+newline+line), nil
	}
	if at > 0 && data[at-1] != '\n' {
		line = newline + line
	}
	return splice(data, at, at, line), nil
}

// Above is the start of the comment that stands directly over a line, or the
// line's own start.
func Above(data []byte, at int) int {
	for at > 0 {
		prev := lineStart(data, at-1)
		if !bytes.HasPrefix(bytes.TrimLeft(data[prev:at], " \t"), []byte("#")) {
			break
		}
		at = prev
	}
	return at
}

// Append adds text at the end, after one blank line.
func Append(data []byte, text string) []byte {
	newline := Newline(data)
	switch {
	case len(bytes.TrimSpace(body(data))) == 0 && len(data) == 0:
	case !bytes.HasSuffix(data, []byte("\n")):
		text = newline + newline + text
	case !bytes.HasSuffix(data, []byte("\n\n")) && !bytes.HasSuffix(data, []byte("\n\r\n")):
		text = newline + text
	}
	return append(bytes.Clone(data), text...)
}

// setInline sets a key of an inline table given as text.
func setInline(text string, path []string, value string) (string, error) {
	type pair struct {
		key        []string
		start, end int // of the value
		inline     bool
	}
	const before = "x = "
	var p unstable.Parser
	doc := []byte(before + text)
	p.Reset(doc)
	if !p.NextExpression() {
		return "", errors.New("the inline table cannot be read")
	}
	var pairs []pair
	it := p.Expression().Value().Children()
	for it.Next() {
		child := it.Node()
		if child.Kind != unstable.KeyValue {
			continue
		}
		key, _, keyEnd := keyParts(child)
		eq := bytes.IndexByte(doc[keyEnd:], '=')
		start := keyEnd + eq + 1
		for start < len(doc) && (doc[start] == ' ' || doc[start] == '\t') {
			start++
		}
		pairs = append(pairs, pair{key, start, valueEnd(doc, start), child.Value().Kind == unstable.InlineTable})
	}
	for _, p := range pairs {
		if slices.Equal(p.key, path) {
			return string(splice(doc, p.start, p.end, value))[len(before):], nil
		}
		if p.inline && len(p.key) < len(path) && slices.Equal(p.key, path[:len(p.key)]) {
			inner, err := setInline(string(doc[p.start:p.end]), path[len(p.key):], value)
			if err != nil {
				return "", err
			}
			return string(splice(doc, p.start, p.end, inner))[len(before):], nil
		}
	}
	add := Dotted(path) + " = " + value
	if len(pairs) == 0 {
		return "{ " + add + " }", nil
	}
	end := pairs[len(pairs)-1].end
	return string(splice(doc, end, end, ", "+add))[len(before):], nil
}

// valueEnd is the end of a value inside an inline table: the comma, brace or
// comment behind it at its own level, without the blanks before.
func valueEnd(data []byte, i int) int {
	depth := 0
	start := i
loop:
	for i < len(data) {
		switch data[i] {
		case '"', '\'':
			i = tomltext.StringEnd(data, i)
			continue
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 {
				break loop
			}
			depth--
		case ',', '#':
			if depth == 0 {
				break loop
			}
			if data[i] == '#' {
				i = nextLine(data, i)
				continue
			}
		}
		i++
	}
	return start + len(bytes.TrimRight(data[start:i], " \t\r\n"))
}

// ReplaceTables removes the tables at and below a path, with their headers, and
// puts text where the first one was, or at the end after one blank line if there
// was none. Comments and blank lines between the last key of a removed table and
// a header that stays are kept: they belong to that header.
func ReplaceTables(data []byte, path []string, text string) ([]byte, error) {
	if bytes.HasPrefix(data, byteOrderMark) {
		out, err := ReplaceTables(body(data), path, text)
		return append(bytes.Clone(byteOrderMark), out...), err
	}
	items, err := Scan(data)
	if err != nil {
		return nil, err
	}
	type span struct{ start, end int }
	var spans []span
	inside := false
	for _, it := range items {
		switch {
		case it.Kind == KeyValue:
		case len(it.Table) >= len(path) && slices.Equal(it.Table[:len(path)], path):
			if !inside {
				spans = append(spans, span{it.Start, it.End})
			}
			inside = true
		default:
			inside = false
		}
		if inside {
			spans[len(spans)-1].end = it.End
		}
	}
	if len(spans) == 0 {
		if text == "" {
			return data, nil
		}
		return Append(data, text), nil
	}
	var out []byte
	at := 0
	for n, s := range spans {
		out = append(out, data[at:s.start]...)
		if n == 0 {
			out = append(out, text...)
		}
		at = nextLine(data, s.end)
	}
	return append(out, data[at:]...), nil
}
