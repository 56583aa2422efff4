package statusline

var limitsSegment = Segment{
	Name: "limits",
	Doc:  "use of the 5-hour and the 7-day rate limit",
	draw: func(s *Session, _ *Layout, _ string) []span {
		var spans []span
		for _, lim := range []struct {
			name string
			Limit
		}{{"5h ", s.Limits.FiveHour}, {"7d ", s.Limits.SevenDay}} {
			// After its reset a limit starts anew, and the number is history.
			if !lim.Known || !lim.ResetsAt.IsZero() && s.Now.After(lim.ResetsAt) {
				continue
			}
			name := lim.name
			if len(spans) > 0 {
				name = " " + name
			}
			spans = append(spans, span{text: name, role: RoleText}, span{text: percentText(lim.Percent), role: level(lim.Percent)})
		}
		return spans
	},
}
