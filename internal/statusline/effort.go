package statusline

var effortSegment = Segment{
	Name: "effort",
	Doc:  "effort level of the model",
	draw: func(s *Session, _ *Layout, _ string) []span { return label("", RoleText, s.Effort) },
}
