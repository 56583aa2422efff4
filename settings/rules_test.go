package settings

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sallyport/internal/testenv"
)

// load writes files and loads them for a session started in $REPO.
func (p *place) load(files files, args ...string) *Stack {
	p.t.Helper()
	for path, content := range files {
		p.write(path, content)
	}
	return Load(Session{Start: p.path("$REPO"), Args: args, ArgsSeen: args != nil, InClient: true}, p.env)
}

// nest writes {"a":{"b":value}} for "a.b".
func nest(key, value string) string {
	steps := strings.Split(key, ".")
	out := value
	for i := len(steps) - 1; i >= 0; i-- {
		out = `{"` + steps[i] + `":` + out + `}`
	}
	return out
}

func merge(t *testing.T, docs ...string) string {
	t.Helper()
	out := "{}"
	for _, doc := range docs {
		var v any
		if err := json.Unmarshal([]byte(doc), &v); err != nil {
			t.Fatal(err)
		}
		var walk func(path []string, v any)
		walk = func(path []string, v any) {
			if m, ok := v.(map[string]any); ok {
				for k, sub := range m {
					walk(append(path[:len(path):len(path)], k), sub)
				}
				return
			}
			text, err := Apply([]byte(out), Set(v, path...))
			if err != nil {
				t.Fatal(err)
			}
			out = string(text)
		}
		walk(nil, v)
	}
	return out
}

// TestWhoMaySet goes through every key with a rule of its own and every file
// it may stand in.
func TestWhoMaySet(t *testing.T) {
	flagJSON := "--settings"
	all := []string{managedJSON, flagJSON, repoLocal, repoProject, userJSON}
	trusted := []string{managedJSON, flagJSON, userJSON}
	tests := []struct {
		key, value string
		counts     []string // where it counts
	}{
		{"sandbox.bwrapPath", `"/x"`, []string{managedJSON}},
		{"sandbox.socatPath", `"/x"`, []string{managedJSON}},
		{"sandbox.network.allowManagedDomainsOnly", "true", []string{managedJSON}},
		{"sandbox.filesystem.allowManagedReadPathsOnly", "true", []string{managedJSON}},
		{"allowManagedHooksOnly", "true", []string{managedJSON}},
		{"allowManagedPermissionRulesOnly", "true", []string{managedJSON}},
		{"sandbox.allowAppleEvents", "true", trusted},
		{"sandbox.allowAppleEvents", "false", trusted},
		{"sandbox.allowNestedUserNamespaces", "true", trusted},
		{"sandbox.allowNestedUserNamespaces", "false", all},
		{"sandbox.network.strictAllowlist", "true", trusted},
		{"sandbox.filesystem.disabled", "true", trusted},
		{"sandbox.ripgrep.command", `"rg"`, trusted},
		{"sandbox.network.tlsTerminate.caCertPath", `"/x"`, trusted},
		{"sandbox.credentials.allowPlaintextInject", "true", trusted},
		{"permissions.denyInsteadOfPrompting", "true", trusted},
		{"sandbox.enabled", "true", all},
		{"sandbox.failIfUnavailable", "true", all},
		{"sandbox.autoAllowBashIfSandboxed", "true", all},
		{"sandbox.enableWeakerNestedSandbox", "true", all},
		{"model", `"m"`, all},
	}
	for _, tt := range tests {
		for _, file := range all {
			p := newPlace(t, "plain")
			doc := nest(tt.key, tt.value)
			if tt.key == "sandbox.ripgrep.command" {
				doc = nest("sandbox.ripgrep", `{"command":"rg","args":[]}`)
			}
			fs, args := files{file: doc}, []string{}
			if file == flagJSON {
				fs, args = nil, []string{"--settings", doc}
			}
			st := p.load(fs, args...)
			got := st.All(tt.key)
			if want := slices.Contains(tt.counts, file); (len(got) == 1) != want {
				t.Errorf("%s = %s in %s counts: %t, want %t (problems %v)", tt.key, tt.value, file, len(got) == 1, want, st.Problems())
			}
			if ignored := st.Ignored(tt.key); len(ignored) != 1-len(got) {
				t.Errorf("%s = %s in %s: ignored %v, counts %v", tt.key, tt.value, file, ignored, got)
			}
		}
	}
}

// TestGuarded looks at what a project may still say once an administrator or
// the command line forbade unsandboxed commands.
func TestGuarded(t *testing.T) {
	strict := `{"sandbox":{"allowUnsandboxedCommands":false}}`
	tests := []struct {
		name  string
		files files
		args  []string
		key   string
		want  string // JSON of the answer, "" when nothing sets it
	}{
		{"seen: project false under --settings", files{userJSON: on, repoProject: off}, []string{"--settings", strict}, "sandbox.enabled", "true"},
		{"seen: local false under --settings", files{userJSON: on, repoLocal: off}, []string{"--settings", strict}, "sandbox.enabled", "true"},
		{"seen: local false where no trusted file says true", files{repoProject: on, repoLocal: off}, []string{"--settings", strict}, "sandbox.enabled", "false"},
		{"seen: a user file alone does not guard", files{userJSON: merge(t, on, strict), repoProject: off}, nil, "sandbox.enabled", "false"},
		{"managed", files{managedJSON: strict, userJSON: on, repoProject: off}, nil, "sandbox.enabled", "true"},
		{"managed domains", files{managedJSON: nest("sandbox.network.allowManagedDomainsOnly", "true"), userJSON: on, repoLocal: off}, nil, "sandbox.enabled", "true"},
		{"failIfUnavailable", files{managedJSON: strict, userJSON: nest("sandbox.failIfUnavailable", "true"), repoLocal: nest("sandbox.failIfUnavailable", "false")}, nil, "sandbox.failIfUnavailable", "true"},
		{"weaker sandbox", files{managedJSON: strict, repoLocal: nest("sandbox.enableWeakerNestedSandbox", "true")}, nil, "sandbox.enableWeakerNestedSandbox", ""},
		{"weaker sandbox, unguarded", files{repoLocal: nest("sandbox.enableWeakerNestedSandbox", "true")}, nil, "sandbox.enableWeakerNestedSandbox", "true"},
		{"false still applies", files{managedJSON: strict, userJSON: nest("sandbox.network.allowAllUnixSockets", "true"), repoLocal: nest("sandbox.network.allowAllUnixSockets", "false")}, nil, "sandbox.network.allowAllUnixSockets", "false"},
		{"auto-allow is not guarded", files{managedJSON: strict, repoLocal: nest("sandbox.autoAllowBashIfSandboxed", "true")}, nil, "sandbox.autoAllowBashIfSandboxed", "true"},

		{"seen: user strict holds against local", files{userJSON: strict, repoLocal: nest("sandbox.allowUnsandboxedCommands", "true")}, nil, "sandbox.allowUnsandboxedCommands", "false"},
		{"seen: project strict does not hold against local", files{repoProject: strict, repoLocal: nest("sandbox.allowUnsandboxedCommands", "true")}, nil, "sandbox.allowUnsandboxedCommands", "true"},
		{"seen: local strict over user", files{userJSON: nest("sandbox.allowUnsandboxedCommands", "true"), repoLocal: strict}, nil, "sandbox.allowUnsandboxedCommands", "false"},
		{"managed true over user strict", files{managedJSON: nest("sandbox.allowUnsandboxedCommands", "true"), userJSON: strict}, nil, "sandbox.allowUnsandboxedCommands", "true"},

		{"any true: reads", files{userJSON: nest("permissions.blockReadsOutsideWorkingDirectories", "true"), repoLocal: nest("permissions.blockReadsOutsideWorkingDirectories", "false")}, nil, "permissions.blockReadsOutsideWorkingDirectories", "true"},
		{"any true: strict list from the user under managed", files{managedJSON: nest("sandbox.network.strictAllowlist", "false"), userJSON: nest("sandbox.network.strictAllowlist", "true")}, nil, "sandbox.network.strictAllowlist", "true"},
		{"any true: connectors", files{managedJSON: nest("disableClaudeAiConnectors", "false"), userJSON: nest("disableClaudeAiConnectors", "true")}, nil, "disableClaudeAiConnectors", "true"},
		{"any false: plan", files{managedJSON: nest("useAutoModeDuringPlan", "true"), userJSON: nest("useAutoModeDuringPlan", "false")}, nil, "useAutoModeDuringPlan", "false"},
		{"remote control off in a project", files{managedJSON: nest("remoteControlAtStartup", "true"), repoProject: nest("remoteControlAtStartup", "false")}, nil, "remoteControlAtStartup", "false"},
		{"remote control off for the user", files{managedJSON: nest("remoteControlAtStartup", "true"), userJSON: nest("remoteControlAtStartup", "false")}, nil, "remoteControlAtStartup", "true"},

		{"managed wrong type closes: enabled", files{managedJSON: nest("sandbox.enabled", `"yes"`), userJSON: off}, nil, "sandbox.enabled", "true"},
		{"managed null does not", files{managedJSON: nest("sandbox.enabled", "null"), userJSON: off}, nil, "sandbox.enabled", "false"},
		{"managed wrong type closes: bypass", files{managedJSON: nest("sandbox.allowUnsandboxedCommands", "3")}, nil, "sandbox.allowUnsandboxedCommands", "false"},
		{"managed wrong sandbox closes bypass", files{managedJSON: `{"sandbox":3}`}, nil, "sandbox.allowUnsandboxedCommands", "false"},
		{"managed wrong sandbox does not switch it on", files{managedJSON: `{"sandbox":3}`, userJSON: off}, nil, "sandbox.enabled", "false"},
		{"managed wrong network locks the domains", files{managedJSON: nest("sandbox.network", `[]`)}, nil, "sandbox.network.allowManagedDomainsOnly", "true"},
		{"a wrong type guards", files{managedJSON: `{"sandbox":3}`, userJSON: on, repoLocal: off}, nil, "sandbox.enabled", "true"},
		{"file system pinned by managed rules", files{managedJSON: nest("sandbox.filesystem.denyRead", `["/x"]`), userJSON: nest("sandbox.filesystem.disabled", "true")}, nil, "sandbox.filesystem.disabled", ""},
		{"file system pinned by a managed credential", files{managedJSON: nest("sandbox.credentials.files", `[{"path":"/x","mode":"deny"}]`), userJSON: nest("sandbox.filesystem.disabled", "true")}, nil, "sandbox.filesystem.disabled", ""},
		{"file system not pinned by a masked one", files{managedJSON: nest("sandbox.credentials.files", `[{"path":"/x","mode":"mask"}]`), userJSON: nest("sandbox.filesystem.disabled", "true")}, nil, "sandbox.filesystem.disabled", "true"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := newPlace(t, "plain").load(tt.files, tt.args...)
			got := ""
			if v := st.Bool(tt.key); v.Set {
				got = mustJSON(t, v.Value)
			}
			if got != tt.want {
				t.Errorf("%s = %q, want %q\n%s", tt.key, got, tt.want, st.Explain())
			}
		})
	}
}

func values(list []Value[string]) []string {
	out := []string{}
	for _, v := range list {
		out = append(out, v.Value)
	}
	return out
}

func TestList(t *testing.T) {
	allow := func(entries string) string { return nest("sandbox.filesystem.allowRead", entries) }
	write := func(entries string) string { return nest("sandbox.filesystem.allowWrite", entries) }
	domains := func(entries string) string { return nest("sandbox.network.allowedDomains", entries) }
	strict := nest("sandbox.allowUnsandboxedCommands", "false")
	tests := []struct {
		name  string
		files files
		args  []string
		key   string
		want  []string
	}{
		{"weakest first, no duplicates",
			files{managedJSON: allow(`["m","u"]`), repoLocal: allow(`["l","u"]`), repoProject: allow(`["p","p"]`), userJSON: allow(`["u"]`)},
			[]string{"--settings", allow(`["f"]`)}, "sandbox.filesystem.allowRead", []string{"u", "p", "l", "f", "m"}},
		{"one list is taken whole", files{userJSON: `{"fallbackModel":["u"]}`, repoLocal: `{"fallbackModel":["l1","l2"]}`, repoProject: `{"fallbackModel":["p"]}`}, nil, "fallbackModel", []string{"l1", "l2"}},
		{"managed models alone", files{managedJSON: `{"availableModels":["m"]}`, repoLocal: `{"availableModels":["l"]}`}, nil, "availableModels", []string{"m"}},
		{"models without managed ones", files{userJSON: `{"availableModels":["u"]}`, repoLocal: `{"availableModels":["l"]}`}, nil, "availableModels", []string{"u", "l"}},
		{"drop-ins in order", files{managedJSON: domains(`["b"]`), "$MANAGED/managed-settings.d/1.json": domains(`["1"]`), "$MANAGED/managed-settings.d/2.json": domains(`["2","b"]`)},
			nil, "sandbox.network.allowedDomains", []string{"b", "1", "2"}},
		{"one file with a wrong entry is lost whole", files{userJSON: allow(`["a",3]`), repoProject: allow(`["p"]`)}, nil, "sandbox.filesystem.allowRead", []string{"p"}},
		{"guarded: project entries dropped", files{managedJSON: strict, userJSON: nest("sandbox.excludedCommands", `["u *"]`), repoProject: nest("sandbox.excludedCommands", `["p *"]`)},
			nil, "sandbox.excludedCommands", []string{"u *"}},
		{"guarded: denials stay", files{managedJSON: strict, repoProject: nest("sandbox.filesystem.denyRead", `["/p"]`)}, nil, "sandbox.filesystem.denyRead", []string{"/p"}},
		{"managed domains only", files{managedJSON: merge(t, domains(`["m"]`), nest("sandbox.network.allowManagedDomainsOnly", "true")), userJSON: domains(`["u"]`), repoLocal: domains(`["l"]`)},
			[]string{"--settings", domains(`["f"]`)}, "sandbox.network.allowedDomains", []string{"m"}},
		{"managed domains only, denials of all", files{managedJSON: nest("sandbox.network.allowManagedDomainsOnly", "true"), userJSON: nest("sandbox.network.deniedDomains", `["u"]`)},
			nil, "sandbox.network.deniedDomains", []string{"u"}},
		{"strict list: no project domains", files{userJSON: merge(t, domains(`["u"]`), nest("sandbox.network.strictAllowlist", "true")), repoProject: domains(`["p"]`)},
			nil, "sandbox.network.allowedDomains", []string{"u"}},
		{"managed reads only", files{managedJSON: merge(t, allow(`["/m"]`), nest("sandbox.filesystem.allowManagedReadPathsOnly", "true")), userJSON: allow(`["/u"]`)},
			nil, "sandbox.filesystem.allowRead", []string{"/m"}},
		{"user denial does not bind the project", files{userJSON: nest("sandbox.filesystem.denyRead", `["~/"]`), repoProject: allow(`["."]`)}, nil, "sandbox.filesystem.allowRead", []string{"."}},
		{"managed denial binds the project", files{managedJSON: nest("sandbox.filesystem.denyRead", `["/secret"]`), repoProject: allow(`["/secret/x","/","/open","*","//net/x"]`)},
			nil, "sandbox.filesystem.allowRead", []string{"/open"}},
		{"then the user's denial binds it too", files{managedJSON: nest("permissions.deny", `["Read(//other/**)"]`), userJSON: nest("sandbox.filesystem.denyRead", `["~/"]`), repoProject: allow(`["~/x","/open","/other/y"]`)},
			nil, "sandbox.filesystem.allowRead", []string{"/open"}},
		{"the project's own denial does not", files{managedJSON: nest("sandbox.filesystem.denyRead", `["/secret"]`), repoProject: merge(t, nest("sandbox.filesystem.denyRead", `["/mine"]`), allow(`["/mine/x"]`))},
			nil, "sandbox.filesystem.allowRead", []string{"/mine/x"}},
		{"no writing below what may not be read", files{managedJSON: nest("sandbox.credentials.files", `[{"path":"/secret","mode":"mask"}]`), repoLocal: write(`["/secret","/secret/x","/","/open"]`)},
			nil, "sandbox.filesystem.allowWrite", []string{"/", "/open"}},
		{"managed rules only", files{managedJSON: merge(t, nest("permissions.allow", `["Bash(m)"]`), nest("allowManagedPermissionRulesOnly", "true")), userJSON: nest("permissions.allow", `["Bash(u)"]`)},
			nil, "permissions.allow", []string{"Bash(m)"}},
		{"managed deny rules all malformed: its allow rules go too", files{managedJSON: `{"permissions":{"allow":["Bash(m)"],"deny":["Bash("]}}`, userJSON: nest("permissions.allow", `["Bash(u)"]`)},
			nil, "permissions.allow", []string{"Bash(u)"}},
		{"managed deny rules some malformed", files{managedJSON: `{"permissions":{"allow":["Bash(m)"],"deny":["Bash(","Read(//x)"]}}`}, nil, "permissions.allow", []string{"Bash(m)"}},
		{"malformed rules are skipped, the file stays", files{userJSON: `{"permissions":{"allow":["Bash(ls)",3,"Bash(","bash(x)","mcp__*","*"]}}`}, nil, "permissions.allow", []string{"Bash(ls)"}},
		{"an asterisk may deny", files{userJSON: `{"permissions":{"deny":["*","mcp__*"]}}`}, nil, "permissions.deny", []string{"*", "mcp__*"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := newPlace(t, "plain").load(tt.files, tt.args...)
			if got := values(st.List(tt.key)); !slices.Equal(got, tt.want) {
				t.Errorf("%s = %q, want %q\n%s", tt.key, got, tt.want, st.Explain())
			}
		})
	}
}

func TestListNamesTheSourceOfEachEntry(t *testing.T) {
	p := newPlace(t, "plain")
	st := p.load(files{
		userJSON:  "{\n  \"permissions\": {\n    \"deny\": [\n      \"Read(//a)\",\n      \"Read(//b)\"\n    ]\n  }\n}",
		repoLocal: `{"permissions":{"deny":["Read(//b)", "Read(//c)"]}}`,
	})
	want := []Value[string]{
		{"Read(//a)", true, Source{User, p.path(userJSON), 4, 7}},
		{"Read(//b)", true, Source{User, p.path(userJSON), 5, 7}},
		{"Read(//c)", true, Source{Local, p.path(repoLocal), 1, 38}},
	}
	if got := st.List("permissions.deny"); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestScalars(t *testing.T) {
	p := newPlace(t, "plain")
	st := p.load(files{
		userJSON:    "{\n \"model\": \"u\", \"cleanupPeriodDays\": 30,\n \"sandbox\": {\"network\": {\"httpProxyPort\": 8.5e1}}}",
		repoProject: `{"model":"p\u00e9","unknown":{"n":12345678901234567890,"f":1.5,"i":9007199254740993}}`,
	})
	if got, want := st.String("model"), (Value[string]{"pé", true, Source{Project, p.path(repoProject), 1, 2}}); got != want {
		t.Errorf("model = %+v, want %+v", got, want)
	}
	for key, want := range map[string]Value[int64]{
		"cleanupPeriodDays":             {30, true, Source{User, p.path(userJSON), 2, 16}},
		"sandbox.network.httpProxyPort": {85, true, Source{User, p.path(userJSON), 3, 26}},
		"unknown.i":                     {9007199254740993, true, Source{Project, p.path(repoProject), 1, 64}},
		"unknown.n":                     {},
		"unknown.f":                     {},
		"unknown":                       {},
		"model":                         {},
	} {
		if got := st.Int(key); got != want {
			t.Errorf("%s = %+v, want %+v", key, got, want)
		}
	}
}

// The cases that the project keeps for this library, by their ids.
func TestCases(t *testing.T) {
	t.Run("set-01-deny-wins-across-files", func(t *testing.T) {
		p := newPlace(t, "plain")
		st := p.load(files{userJSON: nest("permissions.deny", `["Bash(make deploy)"]`), repoLocal: nest("permissions.allow", `["Bash(make deploy)"]`)})
		if got, rule := st.Permission("Bash", "make deploy"); got != Deny || rule.Source.Path != p.path(userJSON) {
			t.Errorf("Permission = %v by %v, want deny by the user file", got, rule)
		}
	})
	t.Run("set-02-arrays-are-joined", func(t *testing.T) {
		st := newPlace(t, "plain").load(files{userJSON: nest("sandbox.filesystem.allowWrite", `["/a"]`), repoLocal: nest("sandbox.filesystem.allowWrite", `["/b"]`)})
		if got := values(st.List("sandbox.filesystem.allowWrite")); !slices.Equal(got, []string{"/a", "/b"}) {
			t.Errorf("allowWrite = %q, want /a and /b", got)
		}
	})
	t.Run("set-03-add-root-twice", func(t *testing.T) {
		p := newPlace(t, "plain")
		p.write(repoLocal, `{"permissions": {"allow": ["Bash(ls)"]}}`)
		e := &Editor{State: p.path("$WORK/state")}
		for range 2 {
			st := p.load(nil)
			if slices.Contains(values(st.List("sandbox.filesystem.allowRead")), p.path("$REPO")) {
				continue
			}
			if _, err := e.Edit(p.path(repoLocal), Append(p.path("$REPO"), "sandbox", "filesystem", "allowRead")); err != nil {
				t.Fatal(err)
			}
		}
		st := p.load(nil)
		if got := values(st.List("sandbox.filesystem.allowRead")); !slices.Equal(got, []string{p.path("$REPO")}) {
			t.Errorf("allowRead = %q, want the root once", got)
		}
		if got := values(st.List("permissions.allow")); !slices.Equal(got, []string{"Bash(ls)"}) {
			t.Errorf("permissions.allow = %q, want it kept", got)
		}
	})
}

func TestPermission(t *testing.T) {
	st := newPlace(t, "plain").load(files{
		userJSON:    `{"permissions":{"allow":["Bash(git *)","Bash(npm run *)","WebFetch(domain:example.com)","Read","mcp__gh__*"],"ask":["Bash(git push:*)","Bash(ls*)"]}}`,
		repoProject: `{"permissions":{"deny":["Bash(git push --force*)","mcp__evil__*","Bash(* | sh)"],"allow":["Bash(git push origin)"]}}`,
	})
	tests := []struct {
		tool, argument string
		want           Decision
		rule           string
	}{
		{"Bash", "git", Allow, "Bash(git *)"},
		{"Bash", "git status", Allow, "Bash(git *)"},
		{"Bash", "gitk", NoRule, ""},
		{"Bash", "git push origin", Ask, "Bash(git push:*)"},
		{"Bash", "git pushx", Allow, "Bash(git *)"},
		{"Bash", "git push --force origin", Deny, "Bash(git push --force*)"},
		{"Bash", "git push --force-with-lease", Deny, "Bash(git push --force*)"},
		{"Bash", "curl x | sh", Deny, "Bash(* | sh)"},
		{"Bash", "lsof", Ask, "Bash(ls*)"},
		{"Bash", "npm run", Allow, "Bash(npm run *)"},
		{"Bash", "npm install", NoRule, ""},
		{"Read", "/anything", Allow, "Read"},
		{"ReadMore", "/anything", NoRule, ""},
		{"WebFetch", "domain:example.com", Allow, "WebFetch(domain:example.com)"},
		{"WebFetch", "domain:example.org", NoRule, ""},
		{"mcp__gh__list", "", Allow, "mcp__gh__*"},
		{"mcp__evil__x", "", Deny, "mcp__evil__*"},
	}
	for _, tt := range tests {
		if got, rule := st.Permission(tt.tool, tt.argument); got != tt.want || rule.Value != tt.rule {
			t.Errorf("Permission(%s, %q) = %v by %q, want %v by %q", tt.tool, tt.argument, got, rule.Value, tt.want, tt.rule)
		}
	}
}

// TestRuleFault holds what client 2.1.332 was seen to do with each rule.
func TestRuleFault(t *testing.T) {
	taken := []string{"Bash", "Bash(ls)", "Bash (ls)", " Bash(ls)", "Bash(a)(b)", "Bash((a)", "Bash(a))", "Foo", "Read(/x)", "Write(/x)",
		"WebFetch(domain:x)", "WebSearch(x)", "Bash(a:*)", "Bash(a:* b)", "Bash(*)", "Agent(x)", "Cd(/x)", "mcp__a", "mcp__a__*", "_x", "1x", "É",
		"Bash(dangerouslyDisableSandbox:true)"}
	skipped := []string{"", "bash", "bash(x)", "Bash()", "Bash(ls", "Bash)", "Bash(ls) ", "mcp__a__b(x)", "foo", "WebFetch(x)", "WebFetch(http://x)",
		"Bash(:*)", "Glob(a:*)", "Read(a:*)"}
	for _, list := range []string{"allow", "ask", "deny"} {
		for _, rule := range taken {
			if why := ruleFault(rule, list); why != "" {
				t.Errorf("%s rule %q is skipped: %s", list, rule, why)
			}
		}
		for _, rule := range skipped {
			if ruleFault(rule, list) == "" {
				t.Errorf("%s rule %q is taken", list, rule)
			}
		}
		for _, rule := range []string{"*", "B*", "mcp__*"} {
			if got := ruleFault(rule, list) == ""; got != (list != "allow") {
				t.Errorf("%s rule %q is taken: %t", list, rule, got)
			}
		}
	}
}

func TestPaths(t *testing.T) {
	p := newPlace(t, "plain")
	st := p.load(files{})
	tests := []struct {
		sandbox bool
		entry   string
		scope   Scope
		path    string
		want    string // empty: not known
	}{
		{true, "/x", User, "", "/x"},
		{true, "//x", Project, "", "/x"},
		{true, "/", Project, "", "/"},
		{true, "~/x/", User, "", "$HOME/x"},
		{true, "~", Managed, "", "$HOME"},
		{true, "~x", Project, "", "$REPO/~x"},
		{true, ".", Project, "", "$REPO"},
		{true, "./a/../b", Project, "", "$REPO/b"},
		{true, "x/**", Local, "", "$REPO/x"},
		{true, ".", User, "", "$CFG"},
		{true, ".", Managed, "", ""},
		{true, "x", CommandLine, "--settings", ""},
		{true, "", User, "", ""},
		{true, "src/*.go", Project, "", "$REPO/src/*.go"},
		{false, "//x/**", User, "", "/x"},
		{false, "/x", User, "", "$CFG/x"},
		{false, "/x", Project, "", "$REPO/x"},
		{false, "/x", Local, "", "$REPO/x"},
		{false, "/x", CommandLine, "--settings", "$REPO/x"},
		{false, "/x", CommandLine, "$WORK/f.json", "$WORK/x"},
		{false, "/x", Managed, "", ""},
		{false, "~/x", Managed, "", "$HOME/x"},
		{false, "a/b", User, "", "$REPO/a/b"},
		{false, ".env", User, "", ""},
	}
	for _, tt := range tests {
		f := st.RulePath
		if tt.sandbox {
			f = st.SandboxPath
		}
		got, ok := f(tt.entry, Source{Scope: tt.scope, Path: p.path(tt.path)})
		if want := p.path(tt.want); ok != (want != "") || ok && got != want {
			t.Errorf("sandbox %t: %q in the %v file = %q, %t, want %q", tt.sandbox, tt.entry, tt.scope, got, ok, want)
		}
	}
}

func TestSandboxStates(t *testing.T) {
	auto := `{"sandbox":{"enabled":true,"autoAllowBashIfSandboxed":true}}`
	withFail := `{"sandbox":{"enabled":true,"failIfUnavailable":true}}`
	kernel := func(path, text string) func(*place, *Env) {
		return func(_ *place, e *Env) {
			e.KernelFile = func(p string) ([]byte, error) {
				if p == path {
					return []byte(text), nil
				}
				return nil, os.ErrNotExist
			}
		}
	}
	without := func(name string) func(*place, *Env) {
		return func(_ *place, e *Env) { e.HasProgram = func(n string) bool { return n != name } }
	}
	goos := func(name string) func(*place, *Env) { return func(_ *place, e *Env) { e.GOOS = name } }
	tests := []struct {
		name   string
		files  files
		change func(*place, *Env)
		noPID  bool
		want   SandboxState
		answer Answer
		why    string // in Why
	}{
		{"nothing set", nil, nil, false, SandboxOff, No, "its default is false"},
		{"nothing set and no session", nil, nil, true, SandboxOff, Unknown, ""},
		{"off and no session", files{userJSON: off}, nil, true, SandboxOff, No, "settings.json:1:"},
		{"on", files{userJSON: on}, nil, false, SandboxOn, Yes, "is true in"},
		{"auto", files{userJSON: auto}, nil, false, SandboxOnAuto, Yes, "autoAllowBashIfSandboxed is true in"},
		{"auto from another file", files{userJSON: on, repoLocal: nest(autoAllowKey, "true")}, nil, false, SandboxOnAuto, Yes, ""},
		{"auto switched off above", files{userJSON: auto, repoLocal: nest(autoAllowKey, "false")}, nil, false, SandboxOn, Yes, ""},
		{"auto without a sandbox", files{userJSON: nest(autoAllowKey, "true")}, nil, false, SandboxOff, No, ""},
		{"a wrong type elsewhere in the file", files{userJSON: `{"model":3,"sandbox":{"enabled":true}}`}, nil, false, SandboxOff, No, ""},
		{"a malformed hook that guards calls", files{userJSON: `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command"}]}]},"sandbox":{"enabled":true}}`}, nil, false, SandboxOff, No, ""},
		{"a malformed hook of another event", files{userJSON: `{"hooks":{"Stop":[{"hooks":[{"type":"command"}]}]},"sandbox":{"enabled":true}}`}, nil, false, SandboxOn, Yes, ""},
		{"a hook outside hooks", files{userJSON: `{"PreToolUse":[{"hooks":[{"type":"command","command":"x"}]}],"sandbox":{"enabled":true}}`}, nil, false, SandboxOff, No, ""},
		{"no bwrap", files{userJSON: on}, without("bwrap"), false, SandboxCannotStart, No, "bwrap is not installed"},
		{"no socat", files{userJSON: on}, without("socat"), false, SandboxCannotStart, No, "socat is not installed"},
		{"no bwrap and off", files{userJSON: off}, without("bwrap"), false, SandboxOff, No, ""},
		{"no bwrap and it must", files{userJSON: withFail}, without("bwrap"), false, SandboxOn, Yes, "failIfUnavailable"},
		{"bwrap elsewhere, by managed settings", files{userJSON: on, managedJSON: nest("sandbox.bwrapPath", `"$PROGRAM"`)}, without("bwrap"), false, SandboxOn, Yes, ""},
		{"bwrap elsewhere, by the user", files{userJSON: merge(t, on, nest("sandbox.bwrapPath", `"$PROGRAM"`))}, without("bwrap"), false, SandboxCannotStart, No, ""},
		{"managed bwrapPath leads nowhere", files{userJSON: on, managedJSON: nest("sandbox.bwrapPath", `"/nowhere/bwrap"`)}, without("bwrap"), false, SandboxCannotStart, No, ""},
		{"user namespaces: none", files{userJSON: on}, kernel("/proc/sys/user/max_user_namespaces", "0\n"), false, SandboxCannotStart, No, "max_user_namespaces is 0"},
		{"user namespaces: refused", files{userJSON: on}, kernel("/proc/sys/kernel/unprivileged_userns_clone", "0\n"), false, SandboxCannotStart, No, "unprivileged_userns_clone is 0"},
		{"user namespaces: allowed", files{userJSON: on}, kernel("/proc/sys/kernel/unprivileged_userns_clone", "1\n"), false, SandboxOn, Yes, ""},
		{"WSL 1", files{userJSON: on}, kernel("/proc/version", "Linux version 4.4.0-19041-Microsoft (x)"), false, SandboxCannotStart, No, "WSL 1"},
		{"WSL 2", files{userJSON: on}, kernel("/proc/version", "Linux version 5.15.90.1-microsoft-standard-WSL2 (x)"), false, SandboxOn, Yes, ""},
		{"macOS", files{userJSON: on}, goos("darwin"), false, SandboxOn, Yes, ""},
		{"Windows", files{userJSON: on}, goos("windows"), false, SandboxCannotStart, Unknown, "native Windows"},
		{"another system", files{userJSON: on}, goos("freebsd"), false, SandboxCannotStart, No, "freebsd"},
		{"server policy that agrees", files{userJSON: on, "$CFG/remote-settings.json": on}, nil, false, SandboxOn, Yes, ""},
		{"server policy that may decide", files{userJSON: on, "$CFG/remote-settings.json": off}, nil, false, SandboxUnknown, Unknown, "policy kept on a server"},
		{"server policy on something else", files{userJSON: on, "$CFG/remote-settings.json": `{"model":"m"}`}, nil, false, SandboxOn, Yes, ""},
		{"unreadable policy", files{userJSON: on}, policies(Policy{Name: "profile", Err: errors.New("no permission")}), false, SandboxUnknown, Unknown, "profile cannot be read"},
		{"nested too deep", files{userJSON: on, repoLocal: strings.Repeat("[", maxDepth+1)}, nil, false, SandboxUnknown, Unknown, ""},
		{"no home", nil, func(_ *place, e *Env) { e.Home = "" }, false, SandboxUnknown, Unknown, "home directory is not known"},
		{"no home, decided above", files{repoLocal: on}, func(_ *place, e *Env) { e.Home = "" }, false, SandboxOn, Yes, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t, "plain")
			program := p.path("$WORK/program")
			if err := os.WriteFile(program, nil, 0o755); err != nil {
				t.Fatal(err)
			}
			for path, content := range tt.files {
				p.write(path, strings.ReplaceAll(content, "$PROGRAM", program))
			}
			if tt.change != nil {
				tt.change(p, &p.env)
			}
			st := Load(Session{Start: p.path("$REPO"), InClient: !tt.noPID}, p.env)
			box := st.Sandbox()
			if box.State != tt.want || st.Sandboxed() != tt.answer || !strings.Contains(box.Why, tt.why) {
				t.Errorf("state %v (%s), sandboxed %v, want %v (…%s…), %v\n%s", box.State, box.Why, st.Sandboxed(), tt.want, tt.why, tt.answer, st.Explain())
			}
		})
	}
}

// TestUnreadable uses a file that the operating system refuses to open.
func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("every file can be read here")
	}
	for _, tt := range []struct {
		unreadable string
		others     files
		want       SandboxState
	}{
		{userJSON, nil, SandboxUnknown},
		{userJSON, files{repoProject: on}, SandboxOn},
		{repoLocal, files{repoProject: on}, SandboxUnknown},
		{repoProject, files{repoLocal: off}, SandboxOff},
		{managedJSON, files{repoLocal: on}, SandboxUnknown},
	} {
		p := newPlace(t, "plain")
		p.write(tt.unreadable, on)
		if err := os.Chmod(p.path(tt.unreadable), 0); err != nil {
			t.Fatal(err)
		}
		st := p.load(tt.others)
		if got := st.Sandbox(); got.State != tt.want {
			t.Errorf("%s unreadable, others %v: %v (%s), want %v", tt.unreadable, tt.others, got.State, got.Why, tt.want)
		}
		if len(st.Problems()) != 1 {
			t.Errorf("problems = %v, want the unreadable file", st.Problems())
		}
	}
}

func TestBypassAllowed(t *testing.T) {
	for content, want := range map[string]bool{
		on: true,
		`{"sandbox":{"enabled":true,"allowUnsandboxedCommands":false}}`: false,
		`{"sandbox":{"enabled":true,"allowUnsandboxedCommands":true}}`:  true,
	} {
		if got := newPlace(t, "plain").load(files{userJSON: content}).Sandbox().BypassAllowed; got != want {
			t.Errorf("%s: BypassAllowed = %t, want %t", content, got, want)
		}
	}
}

func TestPromptsOff(t *testing.T) {
	bypass := nest("permissions.defaultMode", `"bypassPermissions"`)
	tests := []struct {
		name  string
		files files
		args  []string
		want  string // in the reason; empty: prompts are on
	}{
		{"plain", nil, []string{}, ""},
		{"flag", nil, []string{"--dangerously-skip-permissions"}, "--dangerously-skip-permissions"},
		{"mode", nil, []string{"--permission-mode", "bypassPermissions"}, "--permission-mode"},
		{"mode=", nil, []string{"--permission-mode=bypassPermissions"}, "--permission-mode"},
		{"other mode", nil, []string{"--permission-mode", "plan"}, ""},
		{"only allowed", nil, []string{"--allow-dangerously-skip-permissions"}, ""},
		{"flag as a value", nil, []string{"--append-system-prompt", "--dangerously-skip-permissions"}, ""},
		{"flag in a prompt", nil, []string{"-p", "--", "--dangerously-skip-permissions"}, ""},
		{"user file", files{userJSON: bypass}, nil, "permissions.defaultMode"},
		{"user file, mode on the command line", files{userJSON: bypass}, []string{"--permission-mode", "default"}, ""},
		{"seen: project file", files{repoProject: bypass}, nil, ""},
		{"seen: local file", files{repoLocal: bypass}, nil, ""},
		{"seen: user file, project says otherwise", files{userJSON: bypass, repoProject: nest("permissions.defaultMode", `"default"`)}, nil, ""},
		{"seen: forbidden by the project", files{repoProject: nest("permissions.disableBypassPermissionsMode", `"disable"`)}, []string{"--dangerously-skip-permissions"}, ""},
		{"seen: flag over mode", nil, []string{"--dangerously-skip-permissions", "--permission-mode", "default"}, "--dangerously"},
		{"user file, project says otherwise", files{userJSON: bypass, repoLocal: nest("permissions.defaultMode", `"plan"`)}, nil, ""},
		{"managed mode", files{managedJSON: bypass}, nil, "permissions.defaultMode"},
		{"managed mode and lost rules", files{managedJSON: merge(t, bypass, nest("permissions.deny", `["Bash("]`))}, nil, ""},
		{"managed mode and one lost rule", files{managedJSON: merge(t, bypass, nest("permissions.deny", `["Bash(","Bash(x)"]`))}, nil, "permissions.defaultMode"},
		{"managed mode is wrong", files{managedJSON: nest("permissions.defaultMode", `"anything"`), userJSON: bypass}, nil, ""},
		{"forbidden by a wrong value", files{managedJSON: nest("permissions.disableBypassPermissionsMode", `true`)}, []string{"--dangerously-skip-permissions"}, ""},
		{"forbidden", files{managedJSON: nest("permissions.disableBypassPermissionsMode", `"disable"`)}, []string{"--dangerously-skip-permissions"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := newPlace(t, "plain").load(tt.files, tt.args...)
			off, how := st.PromptsOff()
			if off != (tt.want != "") || !strings.Contains(how, tt.want) {
				t.Errorf("PromptsOff = %t, %q, want %q", off, how, tt.want)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	p := newPlace(t, "plain")
	st := p.load(files{
		managedJSON: "{\n \"model\": 3, \"sandbox\": {\"enabled\": true}}",
		userJSON:    "{\n  \"sandbox\": {\"enabled\": true},\n}\n",
		repoProject: "{\"sandbox\": {\n  \"excludedCommands\": [\"a\",\n    3]}}",
		repoLocal:   "{\"a\": 1,\n \"a\": 2}",
	})
	got := texts(st.Problems())
	want := []string{
		p.path(managedJSON) + `:2:2: "model" must be a string, not a number; the client drops this value or puts the strictest in its place`,
		p.path(repoLocal) + `:2:2: a member of this name stands here twice, the last one counts`,
		p.path(repoProject) + `:3:5: "excludedCommands" must be a string, not a number; the client drops the whole file`,
		p.path(userJSON) + ":2:31: not JSON, the client drops the whole file: trailing comma",
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !st.Bool("sandbox.enabled").Value {
		t.Error("the managed file must count in spite of its wrong value")
	}
}

// TestExplain holds the whole text for a session with something of everything.
func TestExplain(t *testing.T) {
	p := newPlace(t, "worktree")
	for path, content := range map[string]string{
		userJSON: on, repoLocal: `{"sandbox":{"enabled":"yes"}}`, wtProject: on, repoProject: on, wtLocal: off,
		"$CFG/settings.local.json": on, wtSubLocal: "{}\x1b[31m",
	} {
		p.write(path, content)
	}
	s := Session{Start: p.path("$WT/sub"), Version: "2.1.332", InClient: true}
	got := Load(s, p.env).Explain().String()
	for name, value := range p.vars {
		if name != "REPO" && name != "WT" && name != "CFG" && name != "MANAGED" {
			continue
		}
		got = strings.ReplaceAll(got, value, "$"+name)
	}
	want := `Sandbox: on
  sandbox.enabled is true in $CFG/settings.json:1:13.
Session: client 2.1.332, started in $WT/sub
Files, strongest first:
  managed      $MANAGED/managed-settings.json: missing
  local        $REPO/.claude/settings.local.json: invalid
                 dropped whole: line 1, column 13: "enabled" must be true or false, not a string
  local        $WT/sub/.claude/settings.local.json: invalid
                 dropped whole: not JSON: line 1, column 3: unexpected '\x1b', expected the end of the file
  local        $WT/.claude/settings.local.json
                 not read by client 2.1.332: in a linked worktree the client reads the main checkout's local file and the start directory's
  project      $WT/sub/.claude/settings.json: missing
  project      $WT/.claude/settings.json
                 not read by client 2.1.332: project settings are read in the start directory only
  project      $REPO/.claude/settings.json
                 not read by client 2.1.332: project settings are read in the start directory only
  user         $CFG/settings.json: read
  user         $CFG/settings.local.json
                 not read by client 2.1.332: there is no user-level local file; it belongs to sessions started in the home directory
Problems:
  $REPO/.claude/settings.local.json:1:13: "enabled" must be true or false, not a string; the client drops the whole file
  $WT/sub/.claude/settings.local.json:1:3: not JSON, the client drops the whole file: unexpected '\x1b', expected the end of the file
Values that do nothing where they stand:
  $WT/.claude/settings.local.json:1:13: sandbox.enabled is false here, but true counts from $CFG/settings.json:1:13: not read by client 2.1.332: in a linked worktree the client reads the main checkout's local file and the start directory's
Notes:
  The client's command line was not seen: --settings and other flags of the session are not counted.
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestExplainIsSafeToPrint(t *testing.T) {
	p := newPlace(t, "plain")
	if runtime.GOOS == "windows" {
		t.Skip("no such names")
	}
	start := filepath.Join(p.path("$REPO"), "a\x1b]0;x\x07\n\u202eb")
	p.write("$REPO/a\x1b]0;x\x07\n\u202eb/.claude/settings.json", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":3,"\u001b[2J":1}]}]}}`)
	st := Load(Session{Start: start, Args: []string{"--setting-sources", "user\x1b[2J,project"}, ArgsSeen: true}, p.env)
	for _, r := range st.Explain().String() {
		if r != '\n' && (r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e) {
			t.Fatalf("the explanation holds %U:\n%q", r, st.Explain().String())
		}
	}
}

func TestHookSession(t *testing.T) {
	testenv.Isolate(t)
	vars := map[string]string{"CLAUDE_PROJECT_DIR": "/project", "AI_AGENT": "claude-code_2-1-332_agent", "CLAUDE_PID": "999999999"}
	env := Env{Getenv: func(name string) string { return vars[name] }}
	if got := HookSession(env, "", "/cwd", ""); got.Start != "/project" || got.Version != "2.1.332" || !got.InClient || got.ArgsSeen {
		t.Errorf("session = %+v", got)
	}
	if got := HookSession(env, "/start", "/cwd", "2.1.1"); got.Start != "/start" || got.Version != "2.1.1" {
		t.Errorf("session = %+v", got)
	}
	vars = nil
	if got := HookSession(env, "", "/cwd", ""); got.Start != "/cwd" || got.Version != "" || got.InClient || got.ArgsSeen {
		t.Errorf("session = %+v", got)
	}
	for agent, want := range map[string]string{
		"claude-code_2-1-197_agent": "2.1.197", "claude-code": "", "claude-code_x_agent": "", "codex_1-2-3": "", "claude-code_2-1-332": "2.1.332",
	} {
		if got := versionOf(agent); got != want {
			t.Errorf("versionOf(%q) = %q, want %q", agent, got, want)
		}
	}
}
