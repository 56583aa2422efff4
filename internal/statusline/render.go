package statusline

import (
	"strings"

	"sallyport/internal/term"
)

// A piece is a drawn segment in its place on the line.
type piece struct {
	name  string
	spans []span
}

// tight reports whether a blank takes the place of the separator before piece
// i: behind the sandbox tag.
func tight(pieces []piece, i int) bool { return pieces[i-1].name == "sandbox" }

// Render draws the session. The result has a line for each line of the layout
// that shows something, without a newline at the end; the first begins with
// the sandbox tag wherever the layout has it nowhere.
func Render(s *Session, l *Layout) string {
	var out []string
	for i, entries := range l.Lines {
		if i == 0 && !hasTag(l.Lines) {
			entries = append([]Entry{{Segment: "sandbox"}}, entries...)
		}
		if line := renderLine(s, l, entries); line != "" {
			out = append(out, line)
		}
	}
	if len(out) == 0 {
		out = append(out, renderLine(s, l, []Entry{{Segment: "sandbox"}}))
	}
	return strings.Join(out, "\n")
}

func hasTag(lines [][]Entry) bool {
	for _, entries := range lines {
		for _, e := range entries {
			if e.Segment == "sandbox" {
				return true
			}
		}
	}
	return false
}

func renderLine(s *Session, l *Layout, entries []Entry) string {
	var pieces []piece
	for _, e := range entries {
		seg, ok := find(e.Segment)
		if !ok {
			continue
		}
		if spans := drawn(seg, s, l, e.Arg); len(spans) > 0 {
			pieces = append(pieces, piece{e.Segment, spans})
		}
	}
	separator := term.Clean(l.Separator, maxName)
	pieces = fit(pieces, s, term.Width(separator), l.Width)
	var spans []span
	for i, p := range pieces {
		switch {
		case i == 0:
		case tight(pieces, i):
			spans = append(spans, span{text: " "})
		default:
			spans = append(spans, span{text: separator, role: RoleSeparator})
		}
		spans = append(spans, p.spans...)
	}
	return write(spans, l)
}

// drawn keeps a mistake in one segment from taking the others with it.
func drawn(seg Segment, s *Session, l *Layout, arg string) (spans []span) {
	defer func() {
		if recover() != nil {
			spans = nil
		}
	}()
	return seg.draw(s, l, arg)
}

// write turns spans into text. Neighbours with the same link are one link, and
// blanks stay unstyled, so that an underlined or reversed text does not stick
// to its neighbour.
func write(spans []span, l *Layout) string {
	var b strings.Builder
	links := l.Links && l.Depth != NoColors
	open := ""
	point := func(link string) {
		if link != open {
			b.WriteString("\x1b]8;;" + link + "\x1b\\")
			open = link
		}
	}
	blanks := 0 // held back: none may end the line
	for _, sp := range spans {
		text := strings.Trim(sp.text, " ")
		if text == "" {
			blanks += len(sp.text)
			continue
		}
		lead := strings.Index(sp.text, text)
		gap := strings.Repeat(" ", blanks+lead)
		blanks = len(sp.text) - lead - len(text)
		if links && sp.link == open {
			b.WriteString(gap)
		} else {
			if open != "" {
				point("")
			}
			b.WriteString(gap)
			if links {
				point(sp.link)
			}
		}
		sgr := l.Theme[sp.role].sgr(l.Depth, sp.hash)
		b.WriteString(term.Style(sgr != "", sgr, text))
	}
	if open != "" {
		point("")
	}
	return b.String()
}
