package statusline

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// A Depth is how many colours may be used.
type Depth uint8

// Depths.
const (
	NoColors Depth = iota
	Colors16
	Colors256
	TrueColor
)

// A Style is how text looks: attributes and a foreground colour.
type Style struct {
	Bold, Dim, Underline, Reverse bool

	// Hash takes the colour from the text's hash in place of Color.
	Hash  bool
	Color Color
}

// A Color is nothing, one of the terminal's 16 or 256 colours, or red, green
// and blue.
type Color struct {
	kind    colorKind
	n       uint8
	r, g, b uint8
}

type colorKind uint8

const (
	colorNone colorKind = iota
	colorBasic
	color256
	colorRGB
)

var basicNames = [...]string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

// ParseStyle reads a style as the configuration writes it: words separated by
// blanks, each "bold", "dim", "underline", "reverse", "hash" (a colour for each
// text of its own), the name of a basic colour, also with "bright-" before it, a
// number from 0 to 255, or "#rrggbb". "none" is no style.
func ParseStyle(text string) (Style, error) {
	var st Style
	for _, word := range strings.Fields(text) {
		switch word {
		case "none":
		case "bold":
			st.Bold = true
		case "dim":
			st.Dim = true
		case "underline":
			st.Underline = true
		case "reverse":
			st.Reverse = true
		case "hash":
			st.Hash = true
		default:
			c, ok := parseColor(word)
			if !ok {
				return Style{}, fmt.Errorf("%q is no colour or attribute", word)
			}
			st.Color = c
		}
	}
	return st, nil
}

// String writes the style as [ParseStyle] reads it.
func (st Style) String() string {
	var words []string
	for _, attr := range []struct {
		on   bool
		word string
	}{{st.Bold, "bold"}, {st.Dim, "dim"}, {st.Underline, "underline"}, {st.Reverse, "reverse"}, {st.Hash, "hash"}} {
		if attr.on {
			words = append(words, attr.word)
		}
	}
	switch c := st.Color; c.kind {
	case colorBasic:
		name := basicNames[c.n%8]
		if c.n >= 8 {
			name = "bright-" + name
		}
		words = append(words, name)
	case color256:
		words = append(words, strconv.Itoa(int(c.n)))
	case colorRGB:
		words = append(words, fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b))
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, " ")
}

func parseColor(word string) (Color, bool) {
	if hex, ok := strings.CutPrefix(word, "#"); ok {
		n, err := strconv.ParseUint(hex, 16, 32)
		if err != nil || len(hex) != 6 {
			return Color{}, false
		}
		return Color{kind: colorRGB, r: uint8(n >> 16), g: uint8(n >> 8), b: uint8(n)}, true
	}
	if n, err := strconv.ParseUint(word, 10, 8); err == nil {
		return Color{kind: color256, n: uint8(n)}, true
	}
	name, bright := strings.CutPrefix(word, "bright-")
	for i, known := range basicNames {
		if name == known {
			n := uint8(i)
			if bright {
				n += 8
			}
			return Color{kind: colorBasic, n: n}, true
		}
	}
	return Color{}, false
}

// sgr is the parameters that switch the style on, for text with that hash.
func (st Style) sgr(depth Depth, hash string) string {
	if depth == NoColors {
		return ""
	}
	var params []string
	for _, attr := range []struct {
		on   bool
		code string
	}{{st.Bold, "1"}, {st.Dim, "2"}, {st.Underline, "4"}, {st.Reverse, "7"}} {
		if attr.on {
			params = append(params, attr.code)
		}
	}
	c := st.Color
	if st.Hash {
		c = hashColor(hash, depth)
	}
	if code := c.sgr(depth); code != "" {
		params = append(params, code)
	}
	return strings.Join(params, ";")
}

func (c Color) sgr(depth Depth) string {
	c = c.reduce(depth)
	switch c.kind {
	case colorBasic:
		if c.n < 8 {
			return strconv.Itoa(30 + int(c.n))
		}
		return strconv.Itoa(90 + int(c.n) - 8)
	case color256:
		return "38;5;" + strconv.Itoa(int(c.n))
	case colorRGB:
		return fmt.Sprintf("38;2;%d;%d;%d", c.r, c.g, c.b)
	}
	return ""
}

// reduce finds the nearest colour that the depth has.
func (c Color) reduce(depth Depth) Color {
	switch {
	case c.kind == colorRGB && depth == Colors256:
		return Color{kind: color256, n: nearest256(c.r, c.g, c.b)}
	case c.kind == color256 && depth == Colors16 && c.n < 16:
		return Color{kind: colorBasic, n: c.n}
	case (c.kind == colorRGB || c.kind == color256) && depth == Colors16:
		r, g, b := c.rgb()
		return Color{kind: colorBasic, n: nearest16(r, g, b)}
	}
	return c
}

// basicRGB are xterm's values of the 16 colours.
var basicRGB = [16][3]uint8{
	{0, 0, 0}, {205, 0, 0}, {0, 205, 0}, {205, 205, 0}, {0, 0, 238}, {205, 0, 205}, {0, 205, 205}, {229, 229, 229},
	{127, 127, 127}, {255, 0, 0}, {0, 255, 0}, {255, 255, 0}, {92, 92, 255}, {255, 0, 255}, {0, 255, 255}, {255, 255, 255},
}

var cubeSteps = [6]uint8{0, 95, 135, 175, 215, 255}

func (c Color) rgb() (r, g, b uint8) {
	switch {
	case c.kind == colorRGB:
		return c.r, c.g, c.b
	case c.n < 16:
		v := basicRGB[c.n]
		return v[0], v[1], v[2]
	case c.n < 232:
		n := c.n - 16
		return cubeSteps[n/36], cubeSteps[n/6%6], cubeSteps[n%6]
	}
	grey := 8 + 10*(c.n-232)
	return grey, grey, grey
}

func nearest256(r, g, b uint8) uint8 {
	best, bestDist := uint8(16), 1<<30
	for n := 16; n < 256; n++ {
		cr, cg, cb := Color{kind: color256, n: uint8(n)}.rgb()
		if d := distance(r, g, b, cr, cg, cb); d < bestDist {
			best, bestDist = uint8(n), d
		}
	}
	return best
}

func nearest16(r, g, b uint8) uint8 {
	best, bestDist := uint8(0), 1<<30
	for n, v := range basicRGB {
		if d := distance(r, g, b, v[0], v[1], v[2]); d < bestDist {
			best, bestDist = uint8(n), d
		}
	}
	return best
}

func distance(r1, g1, b1, r2, g2, b2 uint8) int {
	dr, dg, db := int(r1)-int(r2), int(g1)-int(g2), int(b1)-int(b2)
	return dr*dr + dg*dg + db*db
}

// hashPalette are colours of the 256 that can be read on black and on white
// and are not the sandbox tag's red.
var hashPalette = [...]uint8{30, 31, 32, 33, 35, 37, 62, 63, 65, 67, 68, 69, 70, 71, 72, 96, 97, 98, 99, 101, 103, 107, 108, 130, 132, 133, 134, 135, 136, 137, 139, 166, 170, 172, 173, 174, 176}

// hashColor gives a text the same colour on every machine.
func hashColor(text string, depth Depth) Color {
	h := fnv.New32a()
	h.Write([]byte(text))
	// FNV's low bits of short texts are alike; mix the high ones in.
	n := h.Sum32()
	n ^= n >> 15
	if depth == Colors16 {
		hues := [...]uint8{2, 3, 4, 5, 6, 10, 12, 13, 14}
		return Color{kind: colorBasic, n: hues[n%uint32(len(hues))]}
	}
	return Color{kind: color256, n: hashPalette[n%uint32(len(hashPalette))]}
}
