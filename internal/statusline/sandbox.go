package statusline

import "sallyport/settings"

var sandboxSegment = Segment{
	Name: "sandbox",
	Doc:  "state of the sandbox, and [no prompts] if nothing asks for permission",
	draw: func(s *Session, _ *Layout, _ string) []span {
		forms, role := tag(s.Sandbox)
		spans := []span{{text: forms[0], role: role}}
		if s.NoPrompts {
			spans = append(spans, span{text: " ", role: RolePlain}, span{text: "[no prompts]", role: RoleNoPrompts})
		}
		return spans
	},
}

// tag is the sandbox tag from its full form to the shortest, which are for
// terminals narrower than the tag. No two states share a form, so that the tag
// can be told without colour.
func tag(state settings.SandboxState) (forms []string, role Role) {
	switch state {
	case settings.SandboxOn:
		return []string{"[sandbox]", "[sbx]", "s"}, RoleSandboxOn
	case settings.SandboxOnAuto:
		return []string{"[sandbox-auto]", "[sbx-auto]", "[auto]", "a"}, RoleSandboxAuto
	case settings.SandboxCannotStart:
		return []string{"[sandbox?]", "[sbx?]", "x"}, RoleSandboxCannotStart
	case settings.SandboxOff:
		return []string{"[NO SANDBOX]", "[NO SBX]", "[NO]", "!"}, RoleSandboxOff
	}
	return []string{"[sandbox unknown]", "[unknown]", "[??]", "?"}, RoleSandboxUnknown
}
