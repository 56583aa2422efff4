// Package ansisvg draws terminal text as an SVG picture that needs nothing
// from outside: no font, no script, no host.
package ansisvg

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"sallyport/internal/term"
)

// A Line is terminal text, which may have several rows, with a caption above
// it if there is one.
type Line struct {
	Caption string
	Text    string
}

// Sizes in pixels. The cell is what common monospace fonts have at that size;
// textLength makes each run exactly as wide as its cells in any font.
const (
	fontSize   = 14.0
	cellWidth  = 8.4
	rowHeight  = 20.0
	margin     = 16.0
	captionGap = 10.0
)

const (
	background = "#16181d"
	foreground = "#c8ccd4"
	captionInk = "#8b949e"
	edge       = "#3d444d" // parts the picture from a dark page
)

// Draw returns the picture. title is its accessible name.
func Draw(title string, lines []Line) []byte {
	columns := 0
	height := margin
	for _, l := range lines {
		rows := strings.Split(l.Text, "\n")
		for _, row := range rows {
			columns = max(columns, term.Width(row))
		}
		columns = max(columns, term.Width(l.Caption))
		if l.Caption != "" {
			height += rowHeight
		}
		height += rowHeight*float64(len(rows)) + captionGap
	}
	width := 2*margin + float64(columns)*cellWidth
	height += margin - captionGap

	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img">`+"\n", px(width), px(height))
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(term.Clean(title, 0)))
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%s" height="%s" rx="8" fill="%s" stroke="%s"/>`+"\n", px(width-1), px(height-1), background, edge)
	fmt.Fprintf(&b, `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="%s" xml:space="preserve" style="white-space:pre">`+"\n", px(fontSize))
	y := margin
	for _, l := range lines {
		if l.Caption != "" {
			y += rowHeight
			fmt.Fprintf(&b, `<text x="%s" y="%s" fill="%s">%s</text>`+"\n", px(margin), px(y-6), captionInk, escape(term.Clean(l.Caption, 0)))
		}
		for row := range strings.SplitSeq(l.Text, "\n") {
			y += rowHeight
			drawRow(&b, row, y)
		}
		y += captionGap
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

func drawRow(b *bytes.Buffer, row string, y float64) {
	x := margin
	for _, run := range parse(row) {
		w := float64(term.Width(run.text)) * cellWidth
		st := run.style
		ink := foreground
		if st.color != "" {
			ink = st.color
		}
		if st.reverse {
			fmt.Fprintf(b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n", px(x), px(y-rowHeight), px(w), px(rowHeight), ink)
			ink = background
		}
		if strings.TrimSpace(run.text) != "" {
			attrs := ""
			if st.bold {
				attrs += ` font-weight="bold"`
			}
			if st.dim {
				attrs += ` opacity="0.6"`
			}
			if st.underline {
				attrs += ` text-decoration="underline"`
			}
			fmt.Fprintf(b, `<text x="%s" y="%s" fill="%s" textLength="%s" lengthAdjust="spacingAndGlyphs"%s>%s</text>`+"\n",
				px(x), px(y-6), ink, px(w), attrs, escape(run.text))
		}
		x += w
	}
}

type style struct {
	bold, dim, underline, reverse bool
	color                         string // "#rrggbb", empty for the default
}

type run struct {
	text  string
	style style
}

// parse splits text at its SGR sequences; every other control is dropped.
func parse(text string) []run {
	var runs []run
	var st style
	for text != "" {
		start := strings.Index(text, "\x1b[")
		if start < 0 {
			start = len(text)
		}
		if plain := term.Clean(text[:start], 0); plain != "" {
			runs = append(runs, run{plain, st})
		}
		if start == len(text) {
			break
		}
		text = text[start+2:]
		end := strings.IndexFunc(text, func(r rune) bool { return r < 0x20 || r > 0x3f })
		if end < 0 {
			break
		}
		if text[end] == 'm' {
			st.apply(text[:end])
		}
		text = text[min(end+1, len(text)):]
	}
	return runs
}

func (st *style) apply(params string) {
	codes := strings.Split(params, ";")
	for i := 0; i < len(codes); i++ {
		n, err := strconv.Atoi(codes[i])
		if err != nil && codes[i] != "" {
			return
		}
		switch {
		case n == 0:
			*st = style{}
		case n == 1:
			st.bold = true
		case n == 2:
			st.dim = true
		case n == 4:
			st.underline = true
		case n == 7:
			st.reverse = true
		case n >= 30 && n <= 37:
			st.color = palette(n - 30)
		case n >= 90 && n <= 97:
			st.color = palette(n - 90 + 8)
		case n == 39:
			st.color = ""
		case n == 38 && i+2 < len(codes) && codes[i+1] == "5":
			if c, err := strconv.Atoi(codes[i+2]); err == nil && c >= 0 && c < 256 {
				st.color = palette(c)
			}
			i += 2
		case n == 38 && i+4 < len(codes) && codes[i+1] == "2":
			var rgb [3]int
			for k := range rgb {
				rgb[k], _ = strconv.Atoi(codes[i+2+k])
				rgb[k] = min(max(rgb[k], 0), 255)
			}
			st.color = fmt.Sprintf("#%02x%02x%02x", rgb[0], rgb[1], rgb[2])
			i += 4
		}
	}
}

// palette is the colour with that number, in shades that read well on the
// picture's background.
func palette(n int) string {
	basic := [...]string{
		"#3b4048", "#ff6b6b", "#5fd787", "#f2c55c", "#6cb6ff", "#d292ff", "#56d4dd", "#c8ccd4",
		"#7d8590", "#ff8f8f", "#8ce99a", "#ffe08a", "#9ecbff", "#e2b6ff", "#8fe7ee", "#ffffff",
	}
	switch {
	case n < 16:
		return basic[n]
	case n < 232:
		steps := [...]int{0, 95, 135, 175, 215, 255}
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", steps[n/36], steps[n/6%6], steps[n%6])
	}
	grey := 8 + 10*(n-232)
	return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
}

func px(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

// escape writes text as XML, in which some characters cannot stand at all.
// (encoding/xml would cost the status line its tables at every start.)
func escape(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0xfffe || r == 0xffff {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
