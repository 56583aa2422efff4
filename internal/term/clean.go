// Package term is everything the suite knows of terminals: which text is safe
// to print, when to colour it, and how wide it is.
package term

import (
	"strings"
	"unicode/utf8"
)

// newlineMark stands for a line break in text that must stay on one line.
const newlineMark = "⏎"

// Clean makes text from outside safe to print on one line: escape sequences
// are removed whole, other C0 and C1 controls, bidirectional overrides,
// isolates and marks, and invisible formatting characters are dropped, line
// breaks become "⏎", tabs a blank, and invalid UTF-8 "\uFFFD". At most max
// runes are kept, the last of them "…" if any were cut; max <= 0 means no bound.
func Clean(s string, max int) string {
	if (max <= 0 || len(s) <= max) && printable(s) {
		return s
	}
	var b strings.Builder
	n := 0
	cut := false
	emit := func(part string) {
		if max > 0 && n >= max {
			cut = true
			return
		}
		b.WriteString(part)
		n++
	}
	for i := 0; i < len(s) && !cut; {
		c := s[i]
		switch {
		case c == 0x1b:
			i += escapeLen(s[i:])
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
			i++
		case c == '\n' || c == '\r':
			emit(newlineMark)
			i++
		case c == '\t':
			emit(" ")
			i++
		case c < 0x20 || c == 0x7f:
			i++
		case c < utf8.RuneSelf:
			emit(s[i : i+1])
			i++
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				emit("\uFFFD")
			case r == 0x9b || r == 0x9d || r == 0x90 || r == 0x98 || r == 0x9e || r == 0x9f:
				// C1 introducers start a sequence just as ESC does.
				size += sequenceLen(c1Kind(r), s[i+size:])
			case r == '\u2028' || r == '\u2029' || r == '\u0085':
				emit(newlineMark)
			case hidden(r):
			default:
				emit(s[i : i+size])
			}
			i += size
		}
	}
	if !cut {
		return b.String()
	}
	kept := b.String()
	_, last := utf8.DecodeLastRuneInString(kept)
	return kept[:len(kept)-last] + "…"
}

// printable reports text of nothing but visible ASCII and blanks.
func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// hidden reports runes that reorder or hide what stands around them.
func hidden(r rune) bool {
	switch {
	case r >= 0x80 && r <= 0x9f, // C1
		r >= 0x202a && r <= 0x202e, // bidirectional embeddings and overrides
		r >= 0x2066 && r <= 0x2069, // bidirectional isolates
		r == 0x200e, r == 0x200f,   // direction marks
		r == 0x061c,              // Arabic letter mark
		r == 0x200b, r == 0x2060, // zero width space, word joiner
		r == 0xfeff,                  // byte order mark
		r == 0x00ad,                  // soft hyphen
		r == 0x180e,                  // Mongolian vowel separator
		r >= 0xfff9 && r <= 0xfffb,   // interlinear annotation
		r >= 0xe0000 && r <= 0xe007f: // tags
		return true
	}
	return false
}

// escapeLen is the length of the escape sequence that s starts with.
func escapeLen(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[', ']', 'P', 'X', '^', '_':
		return 2 + sequenceLen(s[1], s[2:])
	}
	// nF sequences have intermediate bytes, then one final byte.
	i := 1
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	if i < len(s) && s[i] >= 0x30 && s[i] <= 0x7e {
		i++
	}
	return i
}

func c1Kind(r rune) byte {
	switch r {
	case 0x9b:
		return '['
	case 0x9d:
		return ']'
	}
	return 'P'
}

// maxSequence bounds what an unterminated control string may swallow, so that
// a stray introducer cannot hide the rest of a text.
const maxSequence = 4096

// sequenceLen is the length of the rest of a control sequence of that kind.
func sequenceLen(kind byte, s string) int {
	if kind == '[' {
		i := 0
		for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
			i++
		}
		if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
			i++
		}
		return i
	}
	for i := 0; i < len(s) && i < maxSequence; i++ {
		switch {
		case s[i] == 0x07:
			return i + 1
		case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case s[i] == 0x1b:
			return i
		case s[i] == '\n':
			return 0
		case s[i] == 0xc2 && i+1 < len(s) && s[i+1] == 0x9c:
			return i + 2
		}
	}
	return 0
}
