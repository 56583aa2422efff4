package term

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width is the number of columns that s takes on a terminal. Escape sequences
// take none; wide runes, emoji and combining marks count as the grapheme
// cluster they belong to.
func Width(s string) int {
	n := 0
	for len(s) > 0 {
		if s[0] == 0x1b {
			s = s[escapeLen(s):]
			continue
		}
		_, rest, w := cluster(s)
		n += w
		s = rest
	}
	return n
}

// cluster takes the first grapheme cluster off s, which does not begin with
// ESC. A control character takes no column.
func cluster(s string) (first, rest string, width int) {
	// A printable ASCII character followed by another one needs no tables.
	if c := s[0]; c >= 0x20 && c < 0x7f && (len(s) == 1 || s[1] < 0x80) {
		return s[:1], s[1:], 1
	}
	first, rest, width, _ = uniseg.FirstGraphemeClusterInString(s, -1)
	if i := strings.IndexByte(first[1:], 0x1b); i >= 0 {
		rest, first = s[i+1:], s[:i+1]
	}
	return first, rest, width
}

// Truncate shortens s to at most max columns, the last of them tail if
// anything was cut. Escape sequences are kept whole wherever they stand, also
// behind the cut, so that a colour that was switched on is switched off and a
// link that was opened is closed. If even tail is too wide it is left out.
func Truncate(s string, max int, tail string) string {
	if Width(s) <= max {
		return s
	}
	room := max - Width(tail)
	if room < 0 {
		room, tail = max, ""
	}
	var b strings.Builder
	cut := false
	for len(s) > 0 {
		if s[0] == 0x1b {
			n := escapeLen(s)
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		first, rest, w := cluster(s)
		s = rest
		switch {
		case cut:
		case w > room:
			cut = true
			b.WriteString(tail)
		default:
			b.WriteString(first)
			room -= w
		}
	}
	return b.String()
}
