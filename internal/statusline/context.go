package statusline

import (
	"math"
	"strconv"
	"strings"
)

var contextSegment = Segment{
	Name: "context",
	Doc:  "use of the context window as a bar and in percent",
	draw: func(s *Session, l *Layout, _ string) []span {
		if !s.Context.Known {
			return nil
		}
		const cells = 10
		percent := clamp(s.Context.Percent)
		full := int(math.Round(percent / 100 * cells))
		role := level(percent)
		return []span{
			{text: strings.Repeat(l.Symbols.BarFull, full), role: role},
			{text: strings.Repeat(l.Symbols.BarEmpty, cells-full), role: RolePlain},
			{text: " " + percentText(percent), role: role},
		}
	},
}

func clamp(percent float64) float64 {
	if math.IsNaN(percent) {
		return 0
	}
	return min(max(percent, 0), 100)
}

func percentText(percent float64) string {
	return strconv.Itoa(int(math.Floor(clamp(percent)))) + "%"
}

// level colours a share that is better kept low.
func level(percent float64) Role {
	switch {
	case percent >= 90:
		return RoleBad
	case percent >= 70:
		return RoleWarn
	}
	return RoleGood
}
