package statusline

import "strings"

var execSegment = Segment{
	Name: "exec",
	Arg:  "command",
	Doc:  "first line that a shell command prints",
	draw: func(s *Session, _ *Layout, arg string) []span {
		line, _, _ := strings.Cut(strings.TrimSpace(s.Commands[arg]), "\n")
		return label("", RoleText, strings.TrimSpace(line))
	},
}
