package statusline

var sessionSegment = Segment{
	Name: "session",
	Doc:  "name of the session",
	draw: func(s *Session, _ *Layout, _ string) []span { return label("", RoleText, s.Name) },
}
