package statusline

import "sallyport/internal/term"

var modelSegment = Segment{
	Name: "model",
	Doc:  "name of the model",
	draw: func(s *Session, l *Layout, _ string) []span {
		return label(l.Symbols.Model, RoleModel, s.Model)
	},
}

// label is a segment of one text that came from outside.
func label(symbol string, role Role, text string) []span {
	text = term.Clean(text, maxName)
	if text == "" {
		return nil
	}
	spans := []span{{text: text, role: role, flex: true}}
	if symbol != "" {
		spans = append([]span{{text: symbol, role: RolePlain}}, spans...)
	}
	return spans
}
