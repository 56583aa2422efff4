package template

import (
	"strings"

	"sallyport/internal/lint"
	"sallyport/settings"
)

// An Invariant is something that a project's settings must never lose. The
// rules that look for it are the linter's.
type Invariant struct {
	Number int // as users know it; 0 for what the linter reports beyond the list
	Title  string
	// Entry is set where something stands in the file that must not, so that
	// merging the template does not mend it.
	Entry bool
	rules []string // of the linter, errors as well as warnings
}

// Invariants lists them by number.
func Invariants() []Invariant {
	return []Invariant{
		{1, "sandbox.enabled is true", false, []string{"SL101", "SL102"}},
		{2, "denyRead closes the home directory", false, []string{"SL103", "SL104"}},
		{3, "allowRead opens no home and no directory of credentials", true, []string{"SL105"}},
		{4, "allowWrite opens nothing that holds credentials, configuration or programs", true, []string{"SL106", "SL107"}},
		{5, "no socket of a container daemon is reachable", true, []string{"SL111", "SL112"}},
		{6, "no rule in permissions.ask covers all of gh", true, nil},
		{7, "excludedCommands takes no interpreter, no git and no pattern of a path out of the sandbox", true, []string{"SL116"}},
		{8, "allowedDomains does not allow every host", true, []string{"SL115"}},
		{9, "permissions.deny has the required rules", false, []string{"SL108", "SL109"}},
		{10, "no relative path in the user file's sandbox lists", true, []string{"R317"}},
		{11, "no pattern where Linux ignores it", true, []string{"R316"}},
		{12, "no key in a file that may not set it", true, []string{"R321"}},
		{13, "no path of a Read or Edit rule starts with a single slash by mistake", true, []string{"R305"}},
	}
}

// A Broken invariant, and where.
type Broken struct {
	Invariant
	Rule         string // the linter's id, empty for the template's own
	File         string
	Line, Column int
	Pointer      string
	Message      string
	Fix          string
}

// Check looks at one settings file. What the linter calls an error is broken
// even where no number covers it.
func Check(cfg lint.Config, file string) []Broken {
	cfg.Policy.ForbidAllowWrite = append(cfg.Policy.ForbidAllowWrite,
		"~/.local/bin", "~/bin", "~/.cargo/bin", "~/go/bin", "~/.bashrc", "~/.bash_profile", "~/.profile", "~/.zshrc", "~/.zprofile", ".git/hooks")
	var out []Broken
	for _, f := range lint.Claude(cfg, file, "", false).Findings {
		inv, listed := invariantOf(f.ID)
		if !listed && f.Severity != lint.Error {
			continue
		}
		out = append(out, Broken{inv, f.ID, f.File, f.Line, f.Column, f.Pointer, f.Message, f.Help})
	}
	return out
}

func invariantOf(rule string) (Invariant, bool) {
	for _, inv := range Invariants() {
		for _, id := range inv.rules {
			if id == rule {
				return inv, true
			}
		}
	}
	return Invariant{}, false
}

// catchAll reports a permission rule for gh that covers each of its commands.
func catchAll(rule string) bool {
	switch strings.ReplaceAll(rule, " ", "") {
	case "Bash(gh*)", "Bash(gh:*)":
		return true
	}
	return false
}

// CheckStack looks for what the linter has no rule for, in every file that
// counts for a session.
func CheckStack(stack *settings.Stack) []Broken {
	var out []Broken
	add := func(number int, v settings.Value[string], message, fix string) {
		out = append(out, Broken{
			Invariant: Invariants()[number-1], File: v.Source.Path, Line: v.Source.Line, Column: v.Source.Column,
			Message: message, Fix: fix,
		})
	}
	for _, v := range stack.List("permissions.ask") {
		if catchAll(v.Value) {
			add(6, v, v.Value+" in permissions.ask: ask is looked at before allow, so every read of gh asks too",
				"remove it; the template asks about each writing command instead")
		}
	}
	for _, v := range stack.List("sandbox.excludedCommands") {
		program, _, _ := strings.Cut(v.Value, " ")
		switch {
		case program == "git" || program == "git:*":
			add(7, v, v.Value+" in sandbox.excludedCommands: git runs hooks and programs that the repository names",
				"remove it")
		case strings.ContainsAny(program, "/") && strings.Contains(program, "*"):
			add(7, v, v.Value+" in sandbox.excludedCommands: * also matches blanks, so that other commands fit the path",
				"name the one program by its path")
		}
	}
	return out
}
