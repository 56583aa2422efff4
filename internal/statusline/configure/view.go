package configure

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/rivo/uniseg"

	"sallyport/internal/statusline"
	"sallyport/internal/term"
)

const (
	minWidth, minHeight = 32, 10
	maxPreview          = 4 // lines
)

// View implements tea.Model.
func (s *Screen) View() tea.View {
	v := tea.NewView(s.Draw())
	v.AltScreen = true
	return v
}

// Draw is the screen as text of at most its height in lines and its width in
// columns.
func (s *Screen) Draw() string {
	if s.done {
		return ""
	}
	var lines []string
	if s.width < minWidth || s.height < minHeight {
		lines = []string{fmt.Sprintf("%d x %d is too small", s.width, s.height), fmt.Sprintf("needs %d x %d", minWidth, minHeight), "q leaves"}
	} else {
		lines = s.compose()
	}
	lines = lines[:min(len(lines), max(s.height, 1))]
	for i, line := range lines {
		lines[i] = strings.TrimRight(term.Truncate(line, max(s.width, 1), "…"), " ")
	}
	return strings.Join(lines, "\n")
}

func (s *Screen) style(sgr, text string) string { return term.Style(s.o.Color, sgr, text) }

func (s *Screen) bold(text string) string { return s.style("1", text) }
func (s *Screen) dim(text string) string  { return s.style("2", text) }

func (s *Screen) compose() []string {
	lines := []string{s.title(), ""}
	lines = append(lines, s.preview()...)
	lines = append(lines, "", s.tabs())
	foot := append(s.status(), s.help()...)
	room := max(s.height-len(lines)-len(foot), 1)
	body := s.body(room)
	for len(body) < room {
		body = append(body, "")
	}
	lines = append(append(lines, body[:room]...), foot...)
	// A low terminal has no room for air.
	for i := 0; i < len(lines) && len(lines) > s.height; {
		if lines[i] == "" {
			lines = append(lines[:i], lines[i+1:]...)
			continue
		}
		i++
	}
	return lines
}

func (s *Screen) title() string {
	const name = "status-line configure"
	path := term.Clean(s.o.Path, 4096)
	room := s.width - len(name) - 2
	if over := term.Width(path) - room; over > 0 {
		path = cutLeft(path, room)
	}
	gap := max(s.width-len(name)-term.Width(path), 1)
	return s.bold(name) + strings.Repeat(" ", gap) + s.dim(path)
}

// cutLeft keeps the end of a path, which tells most.
func cutLeft(text string, room int) string {
	for text != "" && term.Width(text) > room-1 {
		_, rest, ok := strings.Cut(text[1:], "/")
		if !ok {
			return term.Truncate(text, max(room, 0), "…")
		}
		text = "/" + rest
	}
	return "…" + text
}

// preview is the sample session as the line would show it.
func (s *Screen) preview() []string {
	samples := statusline.Samples()
	sample := samples[s.sample]
	caption := fmt.Sprintf("Preview %d/%d: %s", s.sample+1, len(samples), sample.Title)
	layout := s.conf.Layout
	layout.Links = false
	layout.Depth = statusline.NoColors
	if s.o.Color {
		layout.Depth = s.conf.Depth(s.o.Getenv)
	}
	if sample.Width > 0 {
		layout.Width = sample.Width
	}
	const indent = 2
	if room := s.width - 2*indent; layout.Width == 0 || layout.Width > room {
		layout.Width = room
	}
	session := sample.Session
	session.Commands = make(map[string]string)
	_, commands := s.conf.Segments()
	for _, c := range commands {
		session.Commands[c] = "<" + c + ">"
	}
	lines := []string{s.dim(caption)}
	drawn := strings.Split(statusline.Render(&session, &layout), "\n")
	room := maxPreview
	if s.height < 20 {
		room = 2
	}
	for i, line := range drawn {
		if i == room-1 && len(drawn) > room {
			lines = append(lines, fmt.Sprintf("  … %d more lines", len(drawn)-i))
			break
		}
		lines = append(lines, strings.Repeat(" ", indent)+line)
	}
	return lines
}

func (s *Screen) tabs() string {
	var parts []string
	for i, name := range []string{"1 Segments", "2 Look", "3 Write"} {
		if page(i) == pageWrite {
			if n := len(s.Changes()); n > 0 {
				name += fmt.Sprintf(" (%d changed)", n)
			}
		}
		if page(i) == s.page {
			parts = append(parts, s.style("1;7", "["+name+"]"))
		} else {
			parts = append(parts, " "+name+" ")
		}
	}
	return strings.Join(parts, " ")
}

func (s *Screen) body(room int) []string {
	switch s.page {
	case pageSegments:
		return s.list(room, len(s.items), s.cursor[pageSegments], s.segmentRow)
	case pageLook:
		return s.list(room, len(s.options), s.cursor[pageLook], s.optionRow)
	}
	return s.writeBody(room)
}

// list draws the part of a list around the cursor, and marks where there is
// more.
func (s *Screen) list(room, n, cursor int, row func(i int) string) []string {
	start := 0
	if n > room {
		start = min(max(cursor-room/2, 0), n-room)
	}
	var lines []string
	for i := start; i < min(start+room, n); i++ {
		mark := "  "
		switch {
		case i == cursor:
			mark = "> "
		case i == start && start > 0:
			mark = "^ "
		case i == start+room-1 && i < n-1:
			mark = "v "
		}
		text := mark + row(i)
		if i == cursor {
			text = s.bold(text)
		}
		lines = append(lines, text)
	}
	return lines
}

func (s *Screen) segmentRow(i int) string {
	it := s.items[i]
	if it.brk {
		n := 1
		for _, before := range s.items[:i+1] {
			if before.brk {
				n++
			}
		}
		return fmt.Sprintf("--- line %d ---", n)
	}
	box := "[ ]"
	if it.on {
		box = "[x]"
	}
	seg := documented(it.entry.Segment)
	name := term.Clean(it.entry.String(), 200)
	if it.template() {
		box, name = "[+]", seg.Name+":<"+seg.Arg+">"
	}
	return fmt.Sprintf("%s %s  %s", box, pad(name, 15), seg.Doc)
}

func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-term.Width(text), 0))
}

func (s *Screen) optionRow(i int) string {
	opt := s.options[i]
	now := term.Clean(opt.now, 200)
	if opt.key == "separator" {
		now = `"` + now + `"`
	}
	mark := " "
	if opt.now != opt.was {
		mark = "*"
	}
	return fmt.Sprintf("%s %s < %s > %s", mark, pad(opt.key, 12), pad(now, 14), opt.doc)
}

func (s *Screen) writeBody(room int) []string {
	switch diff := s.difference(); {
	case s.err != nil:
		return []string{s.style("1;31", "This cannot be written: "+term.Clean(s.err.Error(), 4096))}
	case len(diff) == 0:
		return []string{"Nothing is different from the file."}
	default:
		what := "Enter changes the file so, and keeps the old one:"
		if len(s.o.Data) == 0 {
			what = "Enter writes this new file:"
		}
		lines := []string{what, ""}
		start := min(s.scroll, max(len(diff)-(room-len(lines)), 0))
		for _, line := range diff[start:] {
			switch line[:min(1, len(line))] {
			case "+":
				line = s.style("32", line)
			case "-":
				line = s.style("31", line)
			case "@":
				line = s.dim(line)
			}
			lines = append(lines, line)
		}
		return lines
	}
}

// status is what is being typed, or what just happened: a line, or a few for
// an error.
func (s *Screen) status() []string {
	one := func(text string) []string { return []string{text} }
	switch {
	case s.failed:
		var lines []string
		for rest := s.message; rest != "" && len(lines) < 3; {
			line := term.Truncate(rest, s.width, "")
			if at := strings.LastIndexByte(line, ' '); at > 0 && len(line) < len(rest) {
				line = line[:at+1]
			}
			if line == "" {
				break
			}
			rest = rest[len(line):]
			lines = append(lines, s.style("1;31", strings.TrimRight(line, " ")))
		}
		return lines
	case s.input != nil:
		cursor := "_"
		if s.o.Color {
			cursor = s.style("7", " ")
		}
		text := s.input.text
		// The end is where the person types.
		for room := s.width - term.Width(s.input.prompt) - 4; term.Width(text) > max(room, 1); {
			text = text[max(firstCluster(text), 1):]
		}
		return one(s.bold(s.input.prompt) + ": " + text + cursor)
	case s.message != "":
		return one(s.message)
	case s.page == pageSegments:
		// The row may have had no room for it.
		return one(s.dim(documented(s.items[s.cursor[pageSegments]].entry.Segment).Doc))
	case s.page == pageLook:
		return one(s.dim(s.options[s.cursor[pageLook]].doc))
	}
	return one("")
}

func (s *Screen) help() []string {
	if s.input != nil {
		return []string{s.dim("enter take  esc give up  ctrl+u clear"), ""}
	}
	var first string
	switch s.page {
	case pageSegments:
		first = "space on/off  up/down go  J/K move  n new line  e edit text"
	case pageLook:
		first = "left/right choose  up/down go  e type a value"
	case pageWrite:
		first = "enter write  up/down scroll"
	}
	return []string{s.dim(first), s.dim("q/esc leave without writing  tab next page  w write…  p other sample  u undo")}
}

// firstCluster is the length of the first character, as a person sees it.
func firstCluster(text string) int {
	first, _, _, _ := uniseg.FirstGraphemeClusterInString(text, -1)
	return len(first)
}
