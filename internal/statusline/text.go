package statusline

var textSegment = Segment{
	Name: "text",
	Arg:  "literal",
	Doc:  "a fixed text",
	draw: func(_ *Session, _ *Layout, arg string) []span { return label("", RoleText, arg) },
}
