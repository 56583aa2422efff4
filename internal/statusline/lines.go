package statusline

import "strconv"

var linesSegment = Segment{
	Name: "lines",
	Doc:  "lines that the session added and removed",
	draw: func(s *Session, _ *Layout, _ string) []span {
		if !s.Cost.Known || s.Cost.Added <= 0 && s.Cost.Removed <= 0 {
			return nil
		}
		return []span{
			{text: "+" + strconv.FormatInt(max(s.Cost.Added, 0), 10), role: RoleGood},
			{text: " -" + strconv.FormatInt(max(s.Cost.Removed, 0), 10), role: RoleBad},
		}
	},
}
