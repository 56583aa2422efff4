package shellcmd

import (
	"strings"
	"unicode/utf8"
)

// Text that is not known whole is kept as an ordinary string in which one
// private-use rune of plane 16 stands for each unknown piece. So quoting,
// pipes, printf and a second parse carry unknown pieces along without knowing
// of them. All runes of the plane begin with the byte 0xF4, which makes the
// test for static text a search for one byte.
const (
	markLead  = 0xF4
	markFirst = 0x100000
	markCount = 0xF000   // marks a line can have
	rawFirst  = 0x10FE00 // + b stands for the byte b of invalid UTF-8
	markWidth = 4

	otherMark = "\U0010F000" // markFirst+markCount: a piece of which nothing is known
)

// isStatic reports whether s has no unknown piece.
func isStatic(s string) bool { return strings.IndexByte(s, markLead) < 0 }

// escapeSource makes s fit for the parser, which refuses invalid UTF-8: each
// invalid byte, and each rune of plane 16, which would be taken for a mark,
// becomes a raw rune. The shifts map offsets back; nil if nothing changed.
func escapeSource(s string) (string, []shift) {
	if utf8.ValidString(s) && isStatic(s) {
		return s, nil
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	var shifts []shift
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			b.WriteByte(s[i])
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1, r >= markFirst:
			for _, c := range []byte(s[i : i+n]) {
				b.WriteRune(rawFirst + rune(c))
			}
			i += n
			shifts = append(shifts, shift{b.Len(), b.Len() - i})
		default:
			b.WriteString(s[i : i+n])
			i += n
		}
	}
	return b.String(), shifts
}

// A shift says that from offset at on, the escaped text is by longer.
type shift struct{ at, by int }

// unescapeRaw puts back the bytes that escapeSource replaced.
func unescapeRaw(s string) string {
	if isStatic(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == markLead {
			if r, n := utf8.DecodeRuneInString(s[i:]); r >= rawFirst && r <= rawFirst+0xFF {
				b.WriteByte(byte(r - rawFirst))
				i += n
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// mark makes a mark for an unknown piece. When a line has used up its marks
// the last one stands for all further ones.
func (w *walker) mark(p Part) string {
	if len(w.marks) >= markCount {
		w.line.Limited = true
		return otherMark
	}
	w.marks = append(w.marks, p)
	return string(rune(markFirst + len(w.marks) - 1))
}

// varMark is the mark of a variable that the line does not know. The same name
// gives the same mark, so that a path built from it twice is the same path.
func (w *walker) varMark(name string) string {
	m, ok := w.varMarks[name]
	if !ok {
		m = w.mark(Part{Text: name, Kind: Variable})
		if w.varMarks == nil {
			w.varMarks = map[string]string{}
		}
		w.varMarks[name] = m
	}
	return m
}

// globMark is the mark of an active glob character.
func (w *walker) globMark(c byte) string {
	i := strings.IndexByte("*?[", c)
	if w.globs[i] == "" {
		w.globs[i] = w.mark(Part{Text: string(c), Kind: Glob})
	}
	return w.globs[i]
}

// partOf returns the part that the mark at the start of s stands for, and the
// width of the mark; 0 if there is none.
func (w *walker) partOf(s string) (Part, int) {
	if len(s) < markWidth || s[0] != markLead {
		return Part{}, 0
	}
	r, n := utf8.DecodeRuneInString(s)
	if r >= rawFirst {
		return Part{}, 0
	}
	if i := int(r - markFirst); i >= 0 && i < len(w.marks) {
		return w.marks[i], n
	}
	if r >= markFirst {
		return Part{Kind: Other}, n
	}
	return Part{}, 0
}

// parts splits marked text; value is the text that is known.
func (w *walker) parts(s string) (parts []Part, value string) {
	var lit, val strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			parts = append(parts, Part{Text: unescapeRaw(lit.String())})
			lit.Reset()
		}
	}
	for i := 0; i < len(s); {
		p, n := w.partOf(s[i:])
		if n == 0 {
			lit.WriteByte(s[i])
			val.WriteByte(s[i])
			i++
			continue
		}
		flush()
		p.Text = unescapeRaw(w.written(p.Text))
		parts = append(parts, p)
		if p.Kind == Glob || p.Kind == Tilde {
			val.WriteString(p.Text)
		}
		i += n
	}
	flush()
	return parts, unescapeRaw(val.String())
}

// written is the text of a piece, such as !($NAME), with the unknown pieces in it
// as they are written.
func (w *walker) written(s string) string {
	if isStatic(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		p, n := w.partOf(s[i:])
		switch {
		case n == 0:
			b.WriteByte(s[i])
			i++
			continue
		case w.hasMark(p.Text):
			b.WriteString("…")
		case p.Kind == Variable:
			b.WriteString("$" + p.Text)
		case p.Kind == Substitution:
			b.WriteString("$(…)")
		default:
			b.WriteString(p.Text)
		}
		i += n
	}
	return b.String()
}

// partsAfter takes a prefix of the marked text off its parts. known is how much of
// the prefix the known value holds.
func partsAfter(parts []Part, prefix string) (rest []Part, known int) {
	rest = append([]Part(nil), parts...)
	for i := 0; i < len(prefix); {
		if len(rest) > 0 && rest[0].Kind != Literal {
			if rest[0].Kind == Glob || rest[0].Kind == Tilde {
				known += len(rest[0].Text)
			}
			rest, i = rest[1:], i+markWidth
			continue
		}
		n := 1
		if prefix[i] == markLead {
			n = markWidth // a raw rune, which stands for one byte
		}
		i += n
		known++
		if len(rest) > 0 {
			if rest[0].Text = rest[0].Text[1:]; rest[0].Text == "" {
				rest = rest[1:]
			}
		}
	}
	return rest, known
}

// hasMark reports whether s has an unknown piece; raw bytes are none.
func (w *walker) hasMark(s string) bool {
	for i := strings.IndexByte(s, markLead); i >= 0 && i < len(s); {
		if _, n := w.partOf(s[i:]); n > 0 {
			return true
		}
		j := strings.IndexByte(s[i+1:], markLead)
		if j < 0 {
			return false
		}
		i += 1 + j
	}
	return false
}

// word makes the public form of marked text.
func (w *walker) word(s string) Word {
	if isStatic(s) {
		return Word{Value: s, Static: true, raw: s, src: -1}
	}
	if !w.hasMark(s) {
		return Word{Value: unescapeRaw(s), Static: true, raw: s, src: -1}
	}
	parts, value := w.parts(s)
	word := Word{Value: value, Parts: parts, raw: s, src: -1}
	for _, p := range parts {
		word.Glob = word.Glob || p.Kind == Glob
	}
	return word
}

// text makes the public form of a marked stream.
func (w *walker) text(s string) Text {
	if !w.hasMark(s) {
		return Text{Known: true, Value: unescapeRaw(s)}
	}
	parts, value := w.parts(s)
	return Text{Value: value, From: partsFrom(parts)}
}

// literal gives back the written form of globs in s, for places where the
// shell does not expand them.
func (w *walker) literal(s string) string {
	if isStatic(s) {
		return s
	}
	for i := range w.globs {
		if w.globs[i] != "" {
			s = strings.ReplaceAll(s, w.globs[i], "*?["[i:i+1])
		}
	}
	return s
}
