package statusline

var clockSegment = Segment{
	Name: "clock",
	Doc:  "time of the day when the line was drawn",
	draw: func(s *Session, _ *Layout, _ string) []span {
		if s.Now.IsZero() {
			return nil
		}
		return []span{{text: s.Now.Format("15:04"), role: RoleText}}
	},
}
