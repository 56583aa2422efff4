// Package rawjson looks into JSON text without decoding it.
//
// Nothing in it recurses, so text of any depth is safe, and nothing is copied
// but the strings that are asked for. It exists because a hook reads events
// that an agent shaped: a stack overflow cannot be recovered in Go, and its
// exit status is the one that blocks the call.
package rawjson

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// A Grade says how well-formed a text is.
type Grade int

// Grades, worst first.
const (
	Invalid Grade = iota
	// Lenient is JSON but for raw control characters inside strings, as a
	// shell's echo makes them.
	Lenient
	Strict
)

// Check grades text as one JSON value with optional white space around it.
// Bytes that are not UTF-8 are accepted inside strings.
func Check(text []byte) Grade {
	grade := Strict
	var nesting bitStack
	i := skipSpace(text, 0)
	for {
		// A value starts at i.
		if i >= len(text) {
			return Invalid
		}
		switch c := text[i]; {
		case c == '{':
			i = skipSpace(text, i+1)
			if i < len(text) && text[i] == '}' {
				i++
				break
			}
			nesting.push(true)
			if i = member(text, i, &grade); i < 0 {
				return Invalid
			}
			continue
		case c == '[':
			i = skipSpace(text, i+1)
			if i < len(text) && text[i] == ']' {
				i++
				break
			}
			nesting.push(false)
			continue
		case c == '"':
			i = checkString(text, i, &grade)
		case c == '-' || '0' <= c && c <= '9':
			i = checkNumber(text, i)
		case c == 't':
			i = literal(text, i, "true")
		case c == 'f':
			i = literal(text, i, "false")
		case c == 'n':
			i = literal(text, i, "null")
		default:
			return Invalid
		}
		if i < 0 {
			return Invalid
		}
		// A value ended before i: close containers until the next one starts.
		for {
			i = skipSpace(text, i)
			if nesting.n == 0 {
				if i == len(text) {
					return grade
				}
				return Invalid
			}
			if i >= len(text) {
				return Invalid
			}
			object := nesting.top()
			if c := text[i]; c == ',' {
				i = skipSpace(text, i+1)
				if object {
					if i = member(text, i, &grade); i < 0 {
						return Invalid
					}
				}
				break
			} else if object && c == '}' || !object && c == ']' {
				nesting.pop()
				i++
				continue
			}
			return Invalid
		}
	}
}

// member checks a member's name and colon and returns where its value starts.
func member(text []byte, i int, grade *Grade) int {
	if i >= len(text) || text[i] != '"' {
		return -1
	}
	if i = checkString(text, i, grade); i < 0 {
		return -1
	}
	i = skipSpace(text, i)
	if i >= len(text) || text[i] != ':' {
		return -1
	}
	return skipSpace(text, i+1)
}

func checkString(text []byte, i int, grade *Grade) int {
	for i++; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			i++
			if i >= len(text) {
				return -1
			}
			switch text[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if i+4 >= len(text) {
					return -1
				}
				for _, h := range text[i+1 : i+5] {
					if !('0' <= h && h <= '9' || 'a' <= h|0x20 && h|0x20 <= 'f') {
						return -1
					}
				}
				i += 4
			default:
				return -1
			}
		case c < 0x20:
			*grade = Lenient
		}
	}
	return -1
}

func checkNumber(text []byte, i int) int {
	digits := func() bool {
		start := i
		for i < len(text) && '0' <= text[i] && text[i] <= '9' {
			i++
		}
		return i > start
	}
	if text[i] == '-' {
		i++
	}
	start := i
	if !digits() || text[start] == '0' && i > start+1 {
		return -1
	}
	if i < len(text) && text[i] == '.' {
		i++
		if !digits() {
			return -1
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			return -1
		}
	}
	return i
}

func literal(text []byte, i int, word string) int {
	if len(text)-i < len(word) || string(text[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// bitStack remembers for each open container whether it is an object, in one
// bit each: 32 MiB of opening brackets cost 4 MiB.
type bitStack struct {
	bits []uint64
	n    int
}

func (s *bitStack) push(object bool) {
	word, bit := s.n/64, uint(s.n%64)
	if word == len(s.bits) {
		s.bits = append(s.bits, 0)
	}
	if object {
		s.bits[word] |= 1 << bit
	} else {
		s.bits[word] &^= 1 << bit
	}
	s.n++
}

func (s *bitStack) top() bool { return s.bits[(s.n-1)/64]>>(uint(s.n-1)%64)&1 == 1 }
func (s *bitStack) pop()      { s.n-- }

// TrimBOM drops the UTF-8 byte order mark that Windows tools put first.
func TrimBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }

// Each calls f for every member of a JSON object in order, duplicates
// included, with the member's name and its value's text, until f returns
// false. The text must have passed [Check]; anything but an object has no
// members. value shares memory with object.
func Each(object []byte, f func(name string, value []byte) bool) {
	each(object, func(name []byte, start, end int) bool {
		return f(decodeString(name), object[start:end:end])
	})
}

// each calls f with each quoted name and where its value stands.
func each(object []byte, f func(name []byte, start, end int) bool) {
	i := skipSpace(object, 0)
	if i >= len(object) || object[i] != '{' {
		return
	}
	for i++; ; i++ {
		i = skipSpace(object, i)
		if i >= len(object) || object[i] != '"' {
			return
		}
		end := skipString(object, i)
		name := object[i:end]
		i = skipSpace(object, end)
		if i >= len(object) || object[i] != ':' {
			return
		}
		i = skipSpace(object, i+1)
		end = skipValue(object, i)
		if !f(name, i, end) {
			return
		}
		i = skipSpace(object, end)
		if i >= len(object) || object[i] != ',' {
			return
		}
	}
}

// SetString returns a copy of an object in which the member of that name, the
// last one if there are several, is the string value. Every other byte is kept;
// a member that is not there is added in front. The text must have passed
// [Check]; for anything but an object the result is nil.
func SetString(object []byte, name, value string) []byte {
	open := skipSpace(object, 0)
	if open >= len(object) || object[open] != '{' {
		return nil
	}
	from, to, members := 0, 0, false
	each(object, func(quoted []byte, start, end int) bool {
		members = true
		if decodeString(quoted) == name {
			from, to = start, end
		}
		return true
	})
	if from > 0 {
		out := AppendString(append([]byte(nil), object[:from]...), value)
		return append(out, object[to:]...)
	}
	out := append([]byte(nil), object[:open+1]...)
	out = append(AppendString(out, name), ':')
	out = AppendString(out, value)
	if members {
		out = append(out, ',')
	}
	return append(out, object[open+1:]...)
}

// EachElement is [Each] for the elements of an array.
func EachElement(array []byte, f func(value []byte) bool) {
	i := skipSpace(array, 0)
	if i >= len(array) || array[i] != '[' {
		return
	}
	for i++; ; i++ {
		i = skipSpace(array, i)
		if i >= len(array) || array[i] == ']' {
			return
		}
		end := skipValue(array, i)
		if end == i || !f(array[i:end:end]) {
			return
		}
		i = skipSpace(array, end)
		if i >= len(array) || array[i] != ',' {
			return
		}
	}
}

// skipString returns the end of the string that starts at i.
func skipString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		j := bytes.IndexByte(text[i:], '"')
		if j < 0 {
			return len(text)
		}
		i += j
		if !escaped(text, i) {
			return i + 1
		}
	}
	return len(text)
}

// escaped reports whether the byte at i stands behind an odd number of
// backslashes.
func escaped(text []byte, i int) bool {
	n := 0
	for i > n && text[i-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// skipValue returns the end of the value that starts at i.
func skipValue(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = skipString(text, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i < len(text) && strings.IndexByte("{}[],:\" \n\r\t", text[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// String decodes a JSON string; ok is false for any other value. Bytes that
// are not UTF-8 stay as they are, and a lone surrogate becomes U+FFFD.
func String(value []byte) (s string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	return decodeString(value), true
}

func decodeString(quoted []byte) string {
	if len(quoted) < 2 {
		return ""
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	return unescape(quoted[1 : len(quoted)-1])
}

// unescape decodes the text of a string in one pass and one allocation: a tool's
// output may be tens of MiB. A raw control character stays as it is.
func unescape(text []byte) string {
	var b strings.Builder
	b.Grow(len(text))
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			break
		}
		b.Write(text[:i])
		c := text[i+1]
		text = text[i+2:]
		switch c {
		case '"', '\\', '/':
			b.WriteByte(c)
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'u':
			r := hexRune(text)
			text = text[min(4, len(text)):]
			if utf16.IsSurrogate(r) && len(text) >= 6 && text[0] == '\\' && text[1] == 'u' {
				if pair := utf16.DecodeRune(r, hexRune(text[2:])); pair != utf8.RuneError {
					r = pair
					text = text[6:]
				}
			}
			b.WriteRune(r) // half a pair is written as U+FFFD
		}
	}
	b.Write(text)
	return b.String()
}

// hexRune is the rune whose four digits text starts with.
func hexRune(text []byte) rune {
	n, _ := strconv.ParseUint(string(text[:min(4, len(text))]), 16, 32)
	return rune(n)
}

// AppendString appends s as a JSON string. What is not UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	return gjson.AppendJSONString(dst, strings.ToValidUTF8(s, "\uFFFD"))
}

// HasTrue reports whether a member of that name has the literal value true at
// any depth. In text that passes [Check] only real members count, however the
// name is spelled; in other text it is a search for the quoted name, a colon
// and true that skips quotes with a backslash before them.
func HasTrue(text []byte, name string, valid bool) bool {
	// A name can hide only behind \u escapes.
	if !bytes.Contains(text, []byte(name)) && (!valid || !bytes.Contains(text, []byte(`\u`))) {
		return false
	}
	if !valid {
		return hasTruePattern(text, name)
	}
	for i := 0; i < len(text); {
		j := bytes.IndexByte(text[i:], '"')
		if j < 0 {
			return false
		}
		i += j
		end := skipString(text, i)
		if isTrue(text, end) {
			if s := text[i:end]; string(s[1:len(s)-1]) == name || bytes.IndexByte(s, '\\') >= 0 && decodeString(s) == name {
				return true
			}
		}
		i = end
	}
	return false
}

func hasTruePattern(text []byte, name string) bool {
	quoted := []byte(`"` + name + `"`)
	for from := 0; ; {
		j := bytes.Index(text[from:], quoted)
		if j < 0 {
			return false
		}
		at := from + j
		from = at + len(quoted)
		if !escaped(text, at) && isTrue(text, from) {
			return true
		}
	}
}

// isTrue reports whether a colon and the literal true follow at i.
func isTrue(text []byte, i int) bool {
	i = skipSpace(text, i)
	if i >= len(text) || text[i] != ':' {
		return false
	}
	i = skipSpace(text, i+1)
	end := literal(text, i, "true")
	if end < 0 {
		return false
	}
	if end == len(text) {
		return true
	}
	c := text[end]
	return !(c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80)
}
