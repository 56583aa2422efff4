package lint

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sallyport/internal/testenv"
	"sallyport/settings"
)

// mergeOf lints the merge of the texts, by scope.
func mergeOf(t *testing.T, texts map[settings.Scope]string) *Report {
	t.Helper()
	cfg := testConfig(t)
	var s Scopes
	for scope, text := range texts {
		name := strings.ReplaceAll(scope.String(), " ", "-") + ".json"
		write(t, cfg, name, text)
		switch scope {
		case settings.Managed:
			s.Managed = &name
		case settings.CommandLine:
			s.Flag = &name
		case settings.Local:
			s.Local = &name
		case settings.Project:
			s.Project = &name
		case settings.User:
			s.User = &name
		}
	}
	cfg.Home = filepath.Join(cfg.Dir, "nobody")
	return Merged(cfg, s, true)
}

func with(t *testing.T, id string, r *Report) []Finding {
	t.Helper()
	var out []Finding
	for _, f := range r.Findings {
		if f.ID == id {
			out = append(out, f)
		}
	}
	return out
}

func TestMergeJoinsScopes(t *testing.T) {
	// What one file lacks another has: no SL finding is left.
	half := `{"sandbox":{"enabled":true,"filesystem":{"denyRead":["~/"],"allowWrite":["~/.cache/"]}}}`
	r := mergeOf(t, map[settings.Scope]string{settings.User: half, settings.Project: edit(t, s0(), settings.Delete("sandbox", "filesystem", "denyRead"), settings.Delete("sandbox", "enabled"))})
	if got := only(r, "SL", "P", "R", "M401", "M402"); len(got) != 0 {
		t.Errorf("%q\n%s", got, details(r))
	}
	if m := with(t, "M403", r); len(m) != 1 || !strings.Contains(m[0].Message, `sandbox.filesystem.denyRead += "~/" (user, user.json)`) {
		t.Errorf("M403: %v", m)
	}
	// The whole of a project's file is no difference.
	if r := mergeOf(t, map[settings.Scope]string{settings.Project: s0()}); len(r.Findings) != 0 {
		t.Errorf("%s", details(r))
	}
}

func TestMergeOrigins(t *testing.T) {
	r := mergeOf(t, map[settings.Scope]string{
		settings.Project: s0(),
		settings.User:    `{"sandbox":{"filesystem":{"allowRead":["~/.kube"]},"excludedCommands":["sudo *"]}}`,
		settings.Local:   `{"sandbox":{"network":{"allowAllUnixSockets":true},"excludedCommands":["docker *"]}}`,
	})
	for id, want := range map[string]Origin{
		"SL105": {settings.User, "user.json", "/sandbox/filesystem/allowRead/0"},
		"SL112": {settings.Local, "local.json", "/sandbox/network/allowAllUnixSockets"},
		"SL116": {settings.User, "user.json", "/sandbox/excludedCommands/0"},
	} {
		got := with(t, id, r)
		if len(got) != 1 || got[0].Origin == nil || *got[0].Origin != want || got[0].File != want.File {
			t.Errorf("%s: %+v, want origin %+v", id, got, want)
		}
	}
	if m := with(t, "M404", r); len(m) != 2 || m[0].File != "local.json" || m[1].File != "user.json" {
		t.Errorf("M404: %+v", m)
	}
	if r := mergeOf(t, map[settings.Scope]string{settings.Project: edit(t, s0(), set([]string{"gh *"}, "/sandbox/excludedCommands"))}); len(with(t, "M404", r)) != 0 {
		t.Errorf("the project's own excludedCommands: %s", details(r))
	}
	if got := strings.Join(r.Files, " "); got != "local.json project.json user.json" {
		t.Errorf("files %q, want the strongest scope first", got)
	}
}

func TestMergeLoosening(t *testing.T) {
	tests := []struct {
		scope       settings.Scope
		loose       string
		strictScope settings.Scope
		strict      string
		want        bool
	}{
		{settings.Local, `{"sandbox":{"enabled":false}}`, settings.User, `{"sandbox":{"enabled":true}}`, true},
		{settings.Project, `{"sandbox":{"enabled":false}}`, settings.User, `{"sandbox":{"enabled":true}}`, true},
		{settings.Project, `{"sandbox":{"enabled":false}}`, settings.Managed, `{"sandbox":{"enabled":true}}`, false}, // managed wins
		{settings.Local, `{"permissions":{"defaultMode":"bypassPermissions"}}`, settings.User, `{"permissions":{"defaultMode":"default"}}`, true},
		{settings.Local, `{"sandbox":{"network":{"allowAllUnixSockets":true}}}`, settings.User, `{"sandbox":{"network":{"allowAllUnixSockets":false}}}`, true},
		{settings.Local, `{"sandbox":{"allowUnsandboxedCommands":true}}`, settings.User, `{"sandbox":{"allowUnsandboxedCommands":false}}`, false}, // the client holds to false
		{settings.Local, `{"sandbox":{"filesystem":{"disabled":true}}}`, settings.User, `{"sandbox":{"filesystem":{"disabled":false}}}`, false},   // not honoured there
		{settings.User, `{"sandbox":{"enabled":false}}`, settings.Managed, `{"sandbox":{"enabled":true}}`, false},
		{settings.Local, `{"sandbox":{"enabled":false}}`, settings.User, `{}`, false},
	}
	for _, tt := range tests {
		r := mergeOf(t, map[settings.Scope]string{tt.scope: tt.loose, tt.strictScope: tt.strict})
		if got := len(with(t, "M401", r)) > 0; got != tt.want {
			t.Errorf("%s %s over %s %s: M401 %v, want %v", tt.scope, tt.loose, tt.strictScope, tt.strict, got, tt.want)
		}
	}
}

func TestMergePermissionRules(t *testing.T) {
	r := mergeOf(t, map[settings.Scope]string{
		settings.Project: rulesText("Bash(gh pr view *)|Bash(aws s3 ls)|Bash(make *)", "", ""),
		settings.User:    rulesText("", "Bash(gh *)", "Bash(aws *)"),
	})
	if m := with(t, "M402", r); len(m) != 2 || m[0].File != "project.json" {
		t.Errorf("M402: %+v", m)
	}
	// The user's own allow rule is no business of M402.
	r = mergeOf(t, map[settings.Scope]string{settings.User: rulesText("Bash(gh pr view *)", "", ""), settings.Project: rulesText("", "Bash(gh *)", "")})
	if m := with(t, "M402", r); len(m) != 0 {
		t.Errorf("M402: %+v", m)
	}
	// Locks drop what other scopes say.
	r = mergeOf(t, map[settings.Scope]string{
		settings.Managed: `{"allowManagedPermissionRulesOnly":true,"permissions":{"deny":["Bash(docker *)"]}}`,
		settings.Project: rulesText("Bash(kubectl *)", "", ""),
	})
	if got := only(r, "R309"); len(got) != 0 {
		t.Errorf("a rule that does not count: %q", got)
	}
	r = mergeOf(t, map[settings.Scope]string{
		settings.Managed: `{"sandbox":{"network":{"allowManagedDomainsOnly":true,"allowedDomains":["a.example"]}}}`,
		settings.Project: `{"sandbox":{"enabled":true,"network":{"allowedDomains":["*"]}},"permissions":{"allow":["WebFetch(domain:b.example)"]}}`,
	})
	if got := only(r, "SL115"); len(got) != 0 || strings.Contains(string(r.Effective), "b.example\",\"") {
		t.Errorf("domains under the lock: %q, effective %s", got, r.Effective)
	}
}

// Rules of the file tools join the sandbox's lists.
func TestMergeAddsRulesToTheSandbox(t *testing.T) {
	r := mergeOf(t, map[settings.Scope]string{settings.Project: edit(t, s0(),
		settings.Append("Edit(~/.kube/**)", "permissions", "allow"), settings.Append("Edit(src/**)", "permissions", "allow"),
		settings.Append("WebFetch(domain:docs.example)", "permissions", "allow"))})
	effective := string(r.Effective)
	for _, want := range []string{`"pkg.example","docs.example"`, "/.kube", "/src"} {
		if !strings.Contains(effective, want) {
			t.Errorf("effective %s lacks %s", effective, want)
		}
	}
	if got := with(t, "SL106", r); len(got) != 1 || got[0].Path != "permissions.allow[1]" {
		t.Errorf("SL106: %+v\n%s", got, details(r))
	}
	if got := with(t, "SL107", r); len(got) != 1 {
		t.Errorf("SL107: %+v, want one, for ~/.kube alone", got)
	}
}

// Without named files the client's own search decides.
func TestMergeFindsFiles(t *testing.T) {
	home := testenv.Isolate(t)
	main := testenv.Repo(t, filepath.Join(home, "main"))
	work := filepath.Join(home, "work")
	testenv.Git(t, main, "worktree", "add", "-q", work)
	testenv.Write(t, filepath.Join(home, ".claude", "settings.json"), `{"sandbox":{"enabled":true}}`)
	testenv.Write(t, filepath.Join(main, ".claude", "settings.local.json"), `{"sandbox":{"enabled":false}}`)
	testenv.Write(t, filepath.Join(work, ".claude", "settings.json"), s0())
	cfg := Config{Dir: work, Home: home, Platform: "linux", Getenv: func(name string) string {
		if name == "HOME" || name == "USERPROFILE" {
			return home
		}
		return ""
	}}
	r := Merged(cfg, Scopes{}, true)
	if got := with(t, "SL102", r); len(got) != 1 || got[0].File != filepath.Join(main, ".claude", "settings.local.json") {
		t.Errorf("SL102 %+v\n%s", got, details(r))
	}
	if !slices.ContainsFunc(r.Considered, func(s string) bool { return strings.HasPrefix(s, "user: ") && strings.HasSuffix(s, "(read)") }) {
		t.Errorf("considered %q", r.Considered)
	}
	// A file that the client drops whole is an error, not an absence.
	testenv.Write(t, filepath.Join(main, ".claude", "settings.local.json"), `{"model":3}`)
	if r := Merged(cfg, Scopes{}, false); len(with(t, "P005", r)) != 1 {
		t.Errorf("a dropped file: %q", ids(r))
	}
	testenv.Write(t, filepath.Join(main, ".claude", "settings.local.json"), `{`)
	if r := Merged(cfg, Scopes{}, false); r.Exit(false) != ExitInput {
		t.Errorf("a broken file: exit %d, %q", r.Exit(false), ids(r))
	}
}
