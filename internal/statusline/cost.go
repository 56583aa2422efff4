package statusline

import (
	"math"
	"strconv"
)

var costSegment = Segment{
	Name: "cost",
	Doc:  "the client's estimate of the session's cost in US dollars",
	draw: func(s *Session, _ *Layout, _ string) []span {
		usd := s.Cost.USD
		if !s.Cost.Known || math.IsNaN(usd) || usd < 0 || usd > 1e9 {
			return nil
		}
		return []span{{text: "$" + strconv.FormatFloat(usd, 'f', 2, 64), role: RoleText}}
	},
}
