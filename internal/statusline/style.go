package statusline

var styleSegment = Segment{
	Name: "style",
	Doc:  "output style, if it is not the default one",
	draw: func(s *Session, _ *Layout, _ string) []span {
		if s.Style == "default" {
			return nil
		}
		return label("", RoleText, s.Style)
	},
}
