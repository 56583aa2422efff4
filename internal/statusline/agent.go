package statusline

var agentSegment = Segment{
	Name: "agent",
	Doc:  "name of the agent that the session runs",
	draw: func(s *Session, _ *Layout, _ string) []span { return label("", RoleText, s.Agent) },
}
