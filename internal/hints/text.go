package hints

import (
	"strings"
	"unicode/utf8"
)

// maxStream is how much of a stream's start, and of its end, is looked at.
const maxStream = 1 << 20

// Text joins what a call printed to the text that is searched: of each stream
// the first and last MiB, without terminal sequences, with "\n" for every kind
// of line break.
func Text(streams ...string) string {
	var parts []string
	for _, s := range streams {
		if len(s) > 2*maxStream {
			parts = append(parts, plain(s[:maxStream]), plain(s[len(s)-maxStream:]))
		} else if s != "" {
			parts = append(parts, plain(s))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return strings.Join(parts, "\n")
}

// plain removes terminal sequences, which tools put in the middle of messages,
// and makes every line break a "\n". A lone carriage return is one: it begins
// the next state of a progress line.
func plain(s string) string {
	i := strings.IndexAny(s, "\x1b\r\u009b\u009d")
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i >= 0 {
		b.WriteString(s[:i])
		s = s[i:]
		switch {
		case s[0] == '\r':
			b.WriteByte('\n')
			s = strings.TrimPrefix(s[1:], "\n")
		case s[0] == 0x1b:
			s = s[escape(s):]
		default:
			r, size := utf8.DecodeRuneInString(s)
			kind := byte('[')
			if r == 0x9d {
				kind = ']'
			}
			s = s[size+sequence(kind, s[size:]):]
		}
		i = strings.IndexAny(s, "\x1b\r\u009b\u009d")
	}
	b.WriteString(s)
	return b.String()
}

// escape is the length of the sequence that s, which starts with ESC, starts with.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch c := s[1]; {
	case c == '[', c == ']', c == 'P', c == 'X', c == '^', c == '_':
		return 2 + sequence(c, s[2:])
	case 0x20 <= c && c <= 0x2f: // charset and the like: intermediates, one final
		n := 2
		for n < len(s) && 0x20 <= s[n] && s[n] <= 0x2f {
			n++
		}
		if n < len(s) && 0x30 <= s[n] && s[n] <= 0x7e {
			n++
		}
		return n
	case 0x30 <= c && c <= 0x7e:
		return 2
	}
	return 1
}

// maxSequence bounds how far the end of a control string is looked for, so that
// a stray introducer hides nothing and costs little.
const maxSequence = 4096

// sequence is the length of the rest of a control sequence; 0 for a control
// string that does not end on its line.
func sequence(kind byte, s string) int {
	if kind == '[' {
		n := 0
		for n < len(s) && 0x20 <= s[n] && s[n] <= 0x3f {
			n++
		}
		if n < len(s) && 0x40 <= s[n] && s[n] <= 0x7e {
			n++
		}
		return n
	}
	for i := 0; i < len(s) && i < maxSequence; i++ {
		switch {
		case s[i] == '\a':
			return i + 1
		case s[i] == 0x1b && strings.HasPrefix(s[i:], "\x1b\\"):
			return i + 2
		case strings.HasPrefix(s[i:], "\u009c"):
			return i + len("\u009c")
		case s[i] == 0x1b, s[i] == '\n', s[i] == '\r':
			return 0
		}
	}
	return 0
}
