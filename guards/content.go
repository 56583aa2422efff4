package guards

import (
	"strconv"
	"strings"

	"sallyport/internal/shellcmd"
)

// maxContent bounds how many commands are followed back for one text. Where the
// way parts, the branches share what is left of it.
const maxContent = 400

// text is the text of a word, with what the commands in its substitutions print
// where that is the content of files. known is false where a part stays unknown;
// the known parts are returned all the same.
func (c *Call) text(w shellcmd.Word) (text string, known bool) {
	if w.Static || len(w.Parts) == 0 {
		return w.Value, w.Static
	}
	var b strings.Builder
	known = true
	for _, p := range w.Parts {
		switch p.Kind {
		case shellcmd.Literal, shellcmd.Glob:
			b.WriteString(p.Text)
			known = known && p.Kind == shellcmd.Literal
		case shellcmd.Substitution:
			out, ok := c.printed(p.From, maxContent)
			b.WriteString(strings.TrimRight(out, "\n"))
			known = known && ok
		case shellcmd.Other:
			// Named: the content of that file as it is on disk, as in $(<file).
			out, ok := "", false
			if p.Text != "" {
				out, ok = c.content(shellcmd.NewWord(p.Text), maxContent)
			}
			b.WriteString(strings.TrimRight(out, "\n"))
			known = known && ok
		default:
			known = false
		}
	}
	return b.String(), known
}

// input is what the command reads from standard input.
func (c *Call) input() (string, bool) { return c.inputFrom(maxContent) }

func (c *Call) inputFrom(depth int) (string, bool) {
	if !c.run.readText(len(c.Stdin.Value)) {
		return "", false
	}
	if c.Stdin.Known || depth <= 0 {
		return c.Stdin.Value, c.Stdin.Known
	}
	for i := len(c.Redirs) - 1; i >= 0; i-- {
		if r := c.Redirs[i]; r.Op == "<" && (r.Fd == "" || r.Fd == "0") {
			return c.content(r.Target, depth)
		}
	}
	if len(c.Stdin.From) > 0 {
		return c.whole(c.Stdin, depth, (*Call).prints)
	}
	if c.Piped != nil {
		return c.printed([]*shellcmd.Command{c.Piped}, depth-1)
	}
	return c.Stdin.Value, false
}

// whole is a text with its unknown pieces, as far as output tells them. They
// come before the known ones, wherever they belong.
func (c *Call) whole(t shellcmd.Text, depth int, output func(*Call, int) (string, bool)) (string, bool) {
	if t.Known || len(t.From) == 0 {
		return t.Value, t.Known
	}
	out, ok := c.outputs(t.From, depth-1, output)
	if out != "" && t.Value != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	return out + t.Value, ok
}

// printed is what commands print, if it is the content of files.
func (c *Call) printed(from []*shellcmd.Command, depth int) (string, bool) {
	return c.outputs(from, depth, (*Call).prints)
}

func (c *Call) outputs(from []*shellcmd.Command, depth int, output func(*Call, int) (string, bool)) (string, bool) {
	if len(from) == 0 || depth <= 0 {
		return "", false
	}
	var b strings.Builder
	known := true
	depth /= len(from)
	for _, cmd := range from {
		if cmd == nil {
			known = false
			continue
		}
		other := &Call{Command: cmd, run: c.run, Index: c.Index, name: cmd.Name()}
		other.Place = c.run.place(other)
		out, ok := output(other, depth)
		known = known && ok
		b.WriteString(out)
		if b.Len() > maxText || !c.run.readText(len(out)) {
			return "", false
		}
	}
	return b.String(), known
}

// prints is the output of a command that passes files or its input on.
func (c *Call) prints(depth int) (string, bool) {
	for _, r := range c.Redirs {
		if (r.Op == ">" || r.Op == ">>" || r.Op == ">|" || r.Op == "&>") && (r.Fd == "" || r.Fd == "1") {
			return "", c.name != "tee" // to a file
		}
	}
	return c.passes(depth)
}

// passes is what the command writes, wherever that goes.
func (c *Call) passes(depth int) (string, bool) {
	switch c.name {
	case "tee":
		return c.inputFrom(depth - 1)
	case "cat", "head", "tail":
	default:
		text, _ := c.filtered(depth)
		return text, false
	}
	a := c.parse("nc", "lines", "bytes")
	var b strings.Builder
	known := true
	if len(a.operands) == 0 {
		text, ok := c.inputFrom(depth - 1)
		b.WriteString(text)
		known = ok
	}
	for _, w := range a.operands {
		text, ok := c.content(w, depth/len(a.operands))
		known = known && ok
		b.WriteString(text)
	}
	text := b.String()
	if c.name == "cat" {
		return text, known
	}
	return part(text, c, a), known
}

// content is a file that a command reads, or its standard input for "-".
func (c *Call) content(w shellcmd.Word, depth int) (string, bool) {
	switch w.Value {
	case "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		return c.inputFrom(depth - 1)
	}
	if t, ok := c.File(w); ok && !t.Known && len(t.From) > 0 {
		return c.whole(t, depth, (*Call).passes)
	}
	if len(w.Parts) == 1 && w.Parts[0].Kind == shellcmd.Substitution {
		if t, ok := c.File(w); ok && t.Known {
			return t.Value, true
		}
		return c.printed(w.Parts[0].From, depth-1) // <(…)
	}
	return c.file(w, depth)
}

// part is what head or tail leaves of a text.
func part(text string, c *Call, a *args) string {
	n := 10
	count, ok := a.value("n", "lines")
	if !ok && len(c.Args) > 1 && len(c.Args[1].Value) > 1 && c.Args[1].Value[0] == '-' {
		count.Value = c.Args[1].Value[1:] // head -3
	}
	if a.has("c", "bytes") {
		return text
	}
	if v, err := strconv.Atoi(strings.TrimPrefix(count.Value, "+")); err == nil {
		n = v
	}
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	switch {
	case strings.HasPrefix(count.Value, "+") && c.name == "tail":
		lines = lines[min(max(n-1, 0), len(lines)):]
	case n < 0 && c.name == "head":
		lines = lines[:max(0, len(lines)+n)]
	case c.name == "tail":
		lines = lines[max(0, len(lines)-abs(n)):]
	default:
		lines = lines[:min(n, len(lines))]
	}
	return strings.Join(lines, "")
}

func abs(n int) int { return max(n, -n) }
