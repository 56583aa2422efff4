package statusline

var versionSegment = Segment{
	Name: "version",
	Doc:  "version of the client",
	draw: func(s *Session, _ *Layout, _ string) []span {
		if s.Version == "" {
			return nil
		}
		return label("", RoleText, "v"+s.Version)
	},
}
