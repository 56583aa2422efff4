package statusline

// A Role is what a piece of text is, for the theme to give it a look.
type Role uint8

// Roles.
const (
	RolePlain Role = iota
	RoleSandboxOn
	RoleSandboxAuto
	RoleSandboxOff
	RoleSandboxCannotStart
	RoleSandboxUnknown
	RoleNoPrompts
	RoleFolder
	RoleBranch
	RoleOperation
	RoleDirty
	RoleAhead
	RoleBehind
	RoleStale
	RolePR
	RolePRApproved
	RolePRPending
	RolePRChangesRequested
	RolePRDraft
	RolePRTitle
	RoleModel
	RoleText
	RoleGood
	RoleWarn
	RoleBad
	RoleSeparator
	numRoles
)

var roleNames = [numRoles]string{
	RolePlain:              "plain",
	RoleSandboxOn:          "sandbox-on",
	RoleSandboxAuto:        "sandbox-auto",
	RoleSandboxOff:         "sandbox-off",
	RoleSandboxCannotStart: "sandbox-cannot-start",
	RoleSandboxUnknown:     "sandbox-unknown",
	RoleNoPrompts:          "no-prompts",
	RoleFolder:             "folder",
	RoleBranch:             "branch",
	RoleOperation:          "operation",
	RoleDirty:              "dirty",
	RoleAhead:              "ahead",
	RoleBehind:             "behind",
	RoleStale:              "stale",
	RolePR:                 "pr",
	RolePRApproved:         "pr-approved",
	RolePRPending:          "pr-pending",
	RolePRChangesRequested: "pr-changes-requested",
	RolePRDraft:            "pr-draft",
	RolePRTitle:            "pr-title",
	RoleModel:              "model",
	RoleText:               "text",
	RoleGood:               "good",
	RoleWarn:               "warn",
	RoleBad:                "bad",
	RoleSeparator:          "separator",
}

// RoleNames are the names of all roles as the configuration writes them.
func RoleNames() []string { return roleNames[:] }

// RoleNamed finds a role by its name.
func RoleNamed(name string) (Role, bool) {
	for i, n := range roleNames {
		if n == name {
			return Role(i), true
		}
	}
	return 0, false
}

// A Theme gives every role its look.
type Theme [numRoles]Style

// ThemeNames are the themes there are.
func ThemeNames() []string { return []string{"default", "mono", "high-contrast"} }

// ThemeNamed finds a theme by its name.
func ThemeNamed(name string) (Theme, bool) {
	switch name {
	case "default":
		return themeDefault, true
	case "mono":
		return themeMono, true
	case "high-contrast":
		return themeHighContrast, true
	}
	return Theme{}, false
}

// The sandbox tag's colours are fixed by the product's description: green,
// yellow, and red for everything that is not a working sandbox.
var themeDefault = Theme{
	RoleSandboxOn:          {Bold: true, Color: Color{colorBasic, 2, 0, 0, 0}},
	RoleSandboxAuto:        {Bold: true, Color: Color{colorBasic, 3, 0, 0, 0}},
	RoleSandboxOff:         {Bold: true, Color: Color{colorBasic, 1, 0, 0, 0}},
	RoleSandboxCannotStart: {Bold: true, Color: Color{colorBasic, 1, 0, 0, 0}},
	RoleSandboxUnknown:     {Bold: true, Color: Color{colorBasic, 1, 0, 0, 0}},
	RoleNoPrompts:          {Bold: true, Color: Color{colorBasic, 1, 0, 0, 0}},
	RoleFolder:             {Hash: true},
	RoleBranch:             {Color: Color{colorBasic, 5, 0, 0, 0}},
	RoleOperation:          {Bold: true, Color: Color{colorBasic, 3, 0, 0, 0}},
	RoleDirty:              {Color: Color{colorBasic, 3, 0, 0, 0}},
	RoleAhead:              {Color: Color{colorBasic, 2, 0, 0, 0}},
	RoleBehind:             {Color: Color{colorBasic, 1, 0, 0, 0}},
	RoleStale:              {Dim: true},
	RolePR:                 {Color: Color{colorBasic, 4, 0, 0, 0}},
	RolePRApproved:         {Color: Color{colorBasic, 2, 0, 0, 0}},
	RolePRPending:          {Color: Color{colorBasic, 3, 0, 0, 0}},
	RolePRChangesRequested: {Color: Color{colorBasic, 1, 0, 0, 0}},
	RolePRDraft:            {Dim: true},
	RoleModel:              {Color: Color{colorBasic, 6, 0, 0, 0}},
	RoleGood:               {Color: Color{colorBasic, 2, 0, 0, 0}},
	RoleWarn:               {Color: Color{colorBasic, 3, 0, 0, 0}},
	RoleBad:                {Color: Color{colorBasic, 1, 0, 0, 0}},
	RoleSeparator:          {Dim: true},
}

// themeMono uses no colour: a state that needs attention stands in reverse.
var themeMono = Theme{
	RoleSandboxOn:          {Bold: true},
	RoleSandboxAuto:        {Bold: true, Underline: true},
	RoleSandboxOff:         {Bold: true, Reverse: true},
	RoleSandboxCannotStart: {Bold: true, Reverse: true},
	RoleSandboxUnknown:     {Bold: true, Reverse: true},
	RoleNoPrompts:          {Bold: true, Reverse: true},
	RoleOperation:          {Bold: true},
	RoleDirty:              {Bold: true},
	RoleStale:              {Dim: true},
	RolePRChangesRequested: {Bold: true},
	RolePRDraft:            {Dim: true},
	RoleWarn:               {Bold: true},
	RoleBad:                {Bold: true, Reverse: true},
	RoleSeparator:          {Dim: true},
}

// themeHighContrast keeps to bold, bright colours and dims nothing.
var themeHighContrast = Theme{
	RolePlain:              {Bold: true, Color: Color{colorBasic, 15, 0, 0, 0}},
	RoleSandboxOn:          {Bold: true, Color: Color{colorBasic, 10, 0, 0, 0}},
	RoleSandboxAuto:        {Bold: true, Color: Color{colorBasic, 11, 0, 0, 0}},
	RoleSandboxOff:         {Bold: true, Reverse: true, Color: Color{colorBasic, 9, 0, 0, 0}},
	RoleSandboxCannotStart: {Bold: true, Reverse: true, Color: Color{colorBasic, 9, 0, 0, 0}},
	RoleSandboxUnknown:     {Bold: true, Reverse: true, Color: Color{colorBasic, 9, 0, 0, 0}},
	RoleNoPrompts:          {Bold: true, Reverse: true, Color: Color{colorBasic, 9, 0, 0, 0}},
	RoleFolder:             {Bold: true, Color: Color{colorBasic, 14, 0, 0, 0}},
	RoleBranch:             {Bold: true, Color: Color{colorBasic, 13, 0, 0, 0}},
	RoleOperation:          {Bold: true, Color: Color{colorBasic, 11, 0, 0, 0}},
	RoleDirty:              {Bold: true, Color: Color{colorBasic, 11, 0, 0, 0}},
	RoleAhead:              {Bold: true, Color: Color{colorBasic, 10, 0, 0, 0}},
	RoleBehind:             {Bold: true, Color: Color{colorBasic, 9, 0, 0, 0}},
	RoleStale:              {Bold: true, Color: Color{colorBasic, 11, 0, 0, 0}},
	RolePR:                 {Bold: true, Color: Color{colorBasic, 12, 0, 0, 0}},
	RolePRApproved:         {Bold: true, Color: Color{colorBasic, 10, 0, 0, 0}},
	RolePRPending:          {Bold: true, Color: Color{colorBasic, 11, 0, 0, 0}},
	RolePRChangesRequested: {Bold: true, Color: Color{colorBasic, 9, 0, 0, 0}},
	RolePRDraft:            {Bold: true, Color: Color{colorBasic, 15, 0, 0, 0}},
	RolePRTitle:            {Bold: true, Color: Color{colorBasic, 15, 0, 0, 0}},
	RoleModel:              {Bold: true, Color: Color{colorBasic, 14, 0, 0, 0}},
	RoleText:               {Bold: true, Color: Color{colorBasic, 15, 0, 0, 0}},
	RoleGood:               {Bold: true, Color: Color{colorBasic, 10, 0, 0, 0}},
	RoleWarn:               {Bold: true, Color: Color{colorBasic, 11, 0, 0, 0}},
	RoleBad:                {Bold: true, Color: Color{colorBasic, 9, 0, 0, 0}},
	RoleSeparator:          {Bold: true, Color: Color{colorBasic, 15, 0, 0, 0}},
}
