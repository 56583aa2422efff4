package lint

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sallyport/internal/bashrule"
)

// TestPermissionRules lints one entry of one list and compares what is reported.
func TestPermissionRules(t *testing.T) {
	tests := []struct {
		list, rule string
		want       string
	}{
		// R301
		{"allow", "Write(docs/**)", "R301:warning"},
		{"deny", "NotebookEdit(x.ipynb)", "R301"},
		{"ask", "MultiEdit(a)", "R301"},
		{"deny", "Glob(secrets/**)", "R301"},
		{"deny", "Grep(~/.ssh/**)", "R301"},
		{"deny", "LS(/x)", "R301"},
		{"deny", "Write", ""},
		{"allow", "Glob", ""},
		{"deny", "Edit(docs/**)", ""},
		{"deny", "Grep(pattern:pass*)", ""},
		// R305
		{"deny", "Read(/etc/shadow)", "R305"},
		{"deny", "Read(/etc)", "R305"},
		{"deny", "Edit(/usr/**)", "R305"},
		{"allow", "Read(/tmp/**)", "R305:warning"},
		{"ask", "Edit(/var/log/**)", "R305:warning"},
		{"deny", "Read(/home/ana/.ssh/**)", "R305"},
		{"deny", "Read(/etcetera/x)", ""},
		{"deny", "Read(/src/etc/x)", ""},
		{"deny", "Read(//etc/shadow)", ""},
		{"deny", "Read(~/etc)", ""},
		{"deny", "Read(etc/shadow)", ""},
		// R308
		{"allow", "*", "R308:warning"},
		{"allow", "B*", "R308:warning"},
		{"allow", "mcp__*", "R308:warning"},
		{"allow", "mcp__*__read", "R308:warning"},
		{"allow", "mcp__github__*", ""},
		{"allow", "mcp__github__get_*", ""},
		{"allow", "mcp__github", ""},
		{"deny", "mcp__*", ""},
		{"ask", "*", ""},
		// R309
		{"allow", "Bash", "R309"},
		{"allow", "Bash(*)", "R309"},
		{"allow", "Bash()", "R309"},
		{"allow", "Bash(:*)", "R309"},
		{"allow", "PowerShell", "R309"},
		{"allow", "Bash(git:*)", "R309"},
		{"allow", "Bash(git push *)", "R309"},
		{"allow", "Bash(git push)", ""},
		{"allow", "Bash(git push origin main)", "R309"},
		{"allow", "Bash(git status *)", ""},
		{"allow", "Bash(gitk *)", ""},
		{"allow", "Bash(kubectl *)", "R309"},
		{"allow", "Bash(kubectl get *)", "R309"},
		{"allow", "Bash(kubectl describe *)", ""},
		{"allow", "Bash(python *)", "R309"},
		{"allow", "Bash(python -m pytest *)", ""},
		{"allow", "Bash(* origin main)", "R309"},
		{"allow", "bash(*)", "R313:warning"},
		// R310
		{"allow", "Bash(git:* main)", "R310:warning"},
		{"deny", "Bash(npm:*:x)", "R310:warning"},
		{"allow", "Bash(npm run test:*)", ""},
		{"allow", "Bash(npm run test:unit)", ""},
		{"allow", "Bash(open http://localhost:*/x)", ""},
		{"allow", "Bash(make *)", ""},
		// R311
		{"deny", "Bash(command:rm *)", "R311:warning"},
		{"ask", "Read(file_path:x)", "R311:warning"},
		{"deny", "WebFetch(url:https://x)", "R311:warning"},
		{"allow", "Bash(timeout:5)", "R311:warning"},
		{"allow", "Agent(model:opus)", "R311:warning"},
		{"deny", "Agent(model:opus)", ""},
		{"deny", "Bash(dangerouslyDisableSandbox:true)", ""},
		{"allow", "Agent(reviewer)", ""},
		{"allow", "Agent(plugin:reviewer)", ""},
		{"allow", "Skill(pdf:extract)", ""},
		{"allow", "WebSearch(query:x)", "R311:warning"},
		{"allow", "WebFetch(domain:example.com)", ""},
		// R312
		{"allow", "WebFetch(https://example.com/)", "R312:warning"},
		{"allow", "WebFetch(example.com)", "R312:warning"},
		{"deny", "WebFetch(example.com)", "R312:warning"},
		{"allow", "WebFetch", ""},
		{"deny", "WebFetch(domain:*.example.com)", ""},
		// R313
		{"deny", "bash(rm *)", "R313:warning"},
		{"deny", "Reed(x)", "R313:warning"},
		{"allow", "WebFecth", "R313:warning"},
		{"allow", "Frobnicate", "R313:warning"},
		{"allow", "my_tool", ""},
		{"allow", "mcp__x__y", ""},
		{"allow", "NotebookEdit", ""},
		{"allow", "TodoWrite", ""},
		{"allow", "ExitPlanMode", ""},
		// R314
		{"allow", "Bash(npx *)", "R309 R314:warning"},
		{"allow", "Bash(npx -y *)", "R314:warning"},
		{"allow", "Bash(npx prettier *)", ""},
		{"allow", "Bash(npx:*)", "R309 R314:warning"},
		{"allow", "Bash(uvx *)", "R309 R314:warning"},
		{"allow", "Bash(uvx ruff *)", "R309"},
		{"allow", "Bash(docker exec *)", "R314:warning"},
		{"allow", "Bash(docker exec web *)", "R314:warning"},
		{"allow", "Bash(docker exec web ls *)", ""},
		{"allow", "Bash(docker exec -it web ls)", ""},
		{"allow", "Bash(direnv exec . *)", "R314:warning"},
		{"allow", "Bash(direnv exec . make *)", ""},
		{"allow", "Bash(devbox run *)", "R314:warning"},
		{"allow", "Bash(devbox run test)", ""},
		{"allow", "Bash(mise exec *)", "R314:warning"},
		{"allow", "Bash(mise exec -- *)", "R314:warning"},
		{"allow", "Bash(mise exec node@20 -- npm test *)", ""},
		{"allow", "Bash(watch *)", "R314:warning"},
		{"allow", "Bash(setsid *)", "R314:warning"},
		{"allow", "Bash(flock /tmp/l *)", "R314:warning"},
		{"allow", "Bash(find . -exec *)", "R314:warning"},
		{"allow", "Bash(find * -delete)", "R314:warning"},
		{"allow", "Bash(find *)", ""},
		{"allow", "Bash(watchman *)", ""},
		{"deny", "Bash(npx *)", ""},
		{"ask", "Bash(watch *)", ""},
		// R319
		{"deny", "Bash(", "R319"},
		{"deny", "Read()", "R319"},
		{"deny", "Edit(a", "R319"},
		{"deny", "Bash)", "R319"},
		{"deny", "", "R319"},
		{"deny", "Read( )", "R319"},
		{"deny", "Bash(echo (x))", ""},
		{"allow", "Read()", ""},
	}
	for _, tt := range tests {
		text := `{"sandbox":{"enabled":true},"permissions":{"` + tt.list + `":[` + quote(tt.rule) + `]}}`
		r := lintRules(t, text)
		got := slices.DeleteFunc(ids(r), func(s string) bool { return strings.HasSuffix(s, ":info") })
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s %q: %q, want %q\n%s", tt.list, tt.rule, got, tt.want, details(r))
		}
	}
}

func TestPermissionInfo(t *testing.T) {
	tests := []struct {
		list, rule, platform, want string
	}{
		{"allow", "Bash(curl https://api.example.com/ *)", "linux", "R315:info"},
		{"allow", "Bash(wget example.com/x*)", "linux", "R315:info"},
		{"allow", "Bash(curl -s https://x.example *)", "macos", "R315:info"},
		{"deny", "Bash(curl *)", "linux", ""},
		{"deny", "Bash(curl -s *)", "linux", ""},
		{"allow", "Edit(src/*.go)", "linux", "R316:info"},
		{"allow", "Edit(src/*.go)", "wsl", "R316:info"},
		{"allow", "Edit(src/*.go)", "macos", ""},
		{"allow", "Edit(src/**)", "linux", ""},
		{"deny", "Edit(**/x)", "linux", "R316:info"},
		{"allow", "Read(src/*.go)", "linux", ""},
	}
	for _, tt := range tests {
		cfg := testConfig(t)
		cfg.Platform = tt.platform
		write(t, cfg, "s.json", `{"permissions":{"`+tt.list+`":[`+quote(tt.rule)+`]}}`)
		if got := strings.Join(only(RulesOnly(cfg, []string{"s.json"}), "R315", "R316"), " "); got != tt.want {
			t.Errorf("%s %q on %s: %q, want %q", tt.list, tt.rule, tt.platform, got, tt.want)
		}
	}
	cfg := testConfig(t)
	write(t, cfg, "s.json", `{"sandbox":{"filesystem":{"allowWrite":["a/**","a/*","b?"],"denyWrite":["[x]","/c/**"],"denyRead":["*"]}}}`)
	if got := only(RulesOnly(cfg, []string{"s.json"}), "R316"); len(got) != 3 {
		t.Errorf("wildcards in sandbox lists: %q, want three", got)
	}
}

func TestCoveredRules(t *testing.T) {
	tests := []struct {
		allow, ask, deny string
		want             string
	}{
		{"Bash(gh pr view *)", "Bash(gh *)", "", "R302:warning"},
		{"Bash(gh pr view *)", "Bash(gh:*)", "", "R302:warning"},
		{"Bash(gh)", "Bash(gh *)", "", "R302:warning"},
		{"Bash(gh *)", "Bash(gh pr *)", "", "R309"},
		{"Bash(ghq *)", "Bash(gh *)", "", ""},
		{"Bash(ghq *)", "Bash(gh*)", "", "R302:warning"},
		{"Bash(ls)", "Bash", "", "R302:warning"},
		{"Read", "Read(x)", "", ""},
		{"Read(src/x.go)", "Read(src/**)", "", "R302:warning"},
		{"Read(src/*)", "Read(src/**)", "", "R302:warning"},
		{"Read(src/**)", "Read(src/*)", "", ""},
		{"Read(//srv/x/y)", "Read(//srv/**)", "", "R302:warning"},
		{"Read(~/x)", "Read(//home/ana/**)", "", "R302:warning"},
		{"Read(x/.env)", "", "Read(.env)", "R303:warning"},
		{"Read(.env)", "", "Read(//**/.env)", "R303:warning"},
		{"Read(./a)", "", "Read(a)", "R303:warning"},
		{"Read(a)", "", "Read(./a)", ""},
		{"Edit(x/y)", "", "Read(x/**)", "R303:warning"},
		{"Read(x/y)", "", "Edit(x/**)", ""},
		{"Bash(aws s3 ls)", "", "Bash(aws *)", "R303:warning"},
		{"", "Bash(aws s3 *)", "Bash(aws *)", "R303:warning"},
		{"Bash(aws s3 ls)", "Bash(aws *)", "Bash(aws *)", "R303:warning R303:warning"},
		{"mcp__s__t", "", "mcp__s", "R303:warning"},
		{"mcp__s__t", "", "mcp__s__*", "R303:warning"},
		{"mcp__s__t", "", "mcp__*", "R303:warning"},
		{"mcp__server__t", "", "mcp__s", ""},
		{"mcp__s__t", "", "*", "R303:warning"},
		{"WebFetch(domain:a.example.com)", "", "WebFetch(domain:*.example.com)", "R303:warning"},
		{"WebFetch(domain:a.b.example.com)", "", "WebFetch(domain:*.Example.com)", "R303:warning"},
		{"WebFetch(domain:example.com)", "", "WebFetch(domain:*.example.com)", ""},
		{"WebFetch(domain:example.com)", "", "WebFetch", "R303:warning"},
		{"Bash(a *)|Bash(a:*)", "", "", "R304:warning"},
		{"Bash(a b)|Bash(a *)", "", "", "R304:warning"},
		{"Bash(a *)|Bash(a *)|Bash(a *)", "", "", "R304:warning R304:warning"},
		{"Bash(a *)|Bash(ab *)", "", "", ""},
		{"Read(x)|Edit(x)", "", "", ""},
		{"", "", "Read(x)|Edit(x)", ""},
		{"", "", "Bash(wget *)|Bash(wget*)", ""},
		{"", "", "Bash(wget *)|Bash(wget:*)", "R304:warning"},
		{"", "", "Bash(wget:*)|Bash(wget *)", "R304:warning"},
		{"Agent(a)", "", "Agent(a)", "R303:warning"},
		{"Agent(a)", "", "Agent(b)", ""},
		{"PowerShell(Get-Item *)", "", "PowerShell(get-item *)", "R303:warning"},
		{"Bash(LS *)", "", "Bash(ls *)", ""},
		// Malformed rules cover nothing.
		{"Bash(ls)", "", "Bash(", "R319"},
	}
	for _, tt := range tests {
		r := lintRules(t, strings.Replace(rulesText(tt.allow, tt.ask, tt.deny), "{", `{"sandbox":{"enabled":true},`, 1))
		got := slices.DeleteFunc(ids(r), func(s string) bool { return strings.HasSuffix(s, ":info") })
		if strings.Join(got, " ") != tt.want {
			t.Errorf("allow %q, ask %q, deny %q: %q, want %q\n%s", tt.allow, tt.ask, tt.deny, got, tt.want, details(r))
		}
	}
}

func TestRulesOfSeveralFiles(t *testing.T) {
	cfg := testConfig(t)
	write(t, cfg, "a.json", rulesText("", "Bash(gh *)", ""))
	write(t, cfg, "b.json", rulesText("Bash(gh pr view *)|Bash(docker *)", "", ""))
	write(t, cfg, "c.json", rulesText("", "", "Bash(docker *)"))
	r := RulesOnly(cfg, []string{"a.json", "b.json", "c.json"})
	expectAll(t, r, "R302:warning", "R303:warning")
	for _, f := range r.Findings {
		if f.File != "b.json" || len(f.Related) != 1 || f.Related[0].File == "b.json" || !strings.Contains(f.Message, f.Related[0].File) {
			t.Errorf("%s: file %s, related %v, message %q", f.ID, f.File, f.Related, f.Message)
		}
	}
	if r := RulesOnly(cfg, []string{"a.json", "none.json"}); r.Exit(false) != ExitInput {
		t.Errorf("a missing file: exit %d", r.Exit(false))
	}
}

func TestDirectoriesAndReaders(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{"additionalDirectories":["../lib"]}`, "R307:warning"},
		{`{"permissions":{"additionalDirectories":["../lib"]}}`, ""},
		{`{"permissions":{"additionalDirectories":["a?","[b]","../*/c","d"]}}`, "R306:warning R306:warning R306:warning"},
		{`{"sandbox":{"filesystem":{"denyRead":["/~/.ssh","~bob/x","~","~/x"]}}}`, "R318:warning R318:warning"},
		{`{"permissions":{"deny":["Read(.env)","Read(//**/k)"],"allow":["Bash(cat *)"]}}`, "R320:warning R320:warning"},
		{`{"permissions":{"deny":["Read(.env)"],"allow":["Bash(python3 *)"]}}`, "R320:warning"},
		{`{"permissions":{"deny":["Read(.env)","Bash(cat *)"],"allow":["Bash(cat *)"]}}`, "R303:warning"},
		{`{"permissions":{"deny":["Read(.env)"],"allow":["Bash(npm test)"]}}`, ""},
		{`{"permissions":{"deny":["Read(.env)"]}}`, ""},
		{`{"sandbox":{"enabled":true},"permissions":{"deny":["Read(.env)"],"allow":["Bash(cat *)"]}}`, ""},
		{`{"permissions":{"deny":["Read"],"allow":["Bash(cat *)"]}}`, ""},
	}
	for _, tt := range tests {
		if got := strings.Join(ids(lintRules(t, tt.text)), " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestScopesOfKeys(t *testing.T) {
	tests := []struct{ file, text, want string }{
		{".claude/settings.json", `{"sandbox":{"filesystem":{"disabled":true},"network":{"strictAllowlist":true,"tlsTerminate":{}}}}`, "R321:warning R321:warning R321:warning"},
		{".claude/settings.local.json", `{"sandbox":{"network":{"allowManagedDomainsOnly":true}},"allowManagedPermissionRulesOnly":true}`, "R321:warning R321:warning"},
		{"home/.claude/settings.json", `{"sandbox":{"network":{"strictAllowlist":true}}}`, ""},
		{"home/.claude/settings.json", `{"sandbox":{"filesystem":{"allowManagedReadPathsOnly":true}}}`, "R321:warning"},
		{"managed-settings.json", `{"sandbox":{"network":{"allowManagedDomainsOnly":true}},"allowManagedPermissionRulesOnly":true}`, ""},
		{"home/.claude/settings.json", `{"sandbox":{"filesystem":{"allowRead":[".","./x","a","~/b","/c"]}}}`, "R317:warning R317:warning R317:warning"},
		{".claude/settings.json", `{"sandbox":{"filesystem":{"allowRead":["."]}}}`, ""},
		{"home/.claude/settings.json", `{"permissions":{"deny":["Read(.env)","Edit(./x/**)","Read(//**/secret)","Read(~/x)","Read(/x)"]}}`, "R322:warning R322:warning"},
		{".claude/settings.json", `{"permissions":{"deny":["Read(.env)"]}}`, ""},
		{"home/.claude/settings.json", `{"permissions":{"allow":["Read(.env)"]}}`, ""},
	}
	for _, tt := range tests {
		cfg := testConfig(t)
		cfg.Home = filepath.Join(cfg.Dir, "home")
		cfg.Platform = "macos"
		write(t, cfg, tt.file, tt.text)
		if got := strings.Join(ids(RulesOnly(cfg, []string{tt.file})), " "); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.file, tt.text, got, tt.want)
		}
	}
}

// Coverage is never claimed where there is none: whatever command the covered
// pattern stands for, the covering one matches.
func FuzzCovers(f *testing.F) {
	f.Add("git *", "git push *", "origin")
	f.Add("a*b*", "a*b", "xb")
	f.Add("ls*", "ls", "")
	f.Add("x:*", "x y*", "*")
	f.Fuzz(func(t *testing.T, a, b, filler string) {
		if len(a)+len(b) > 200 || len(filler) > 50 || strings.ContainsAny(a+b, "()") {
			return
		}
		p := parsePermission(&value{text: "Bash(" + a + ")"}, "deny", anchors{})
		q := parsePermission(&value{text: "Bash(" + b + ")"}, "deny", anchors{})
		if !p.covers(&q) {
			return
		}
		for _, form := range q.commands {
			command := strings.ReplaceAll(form, "*", filler)
			ok := slices.ContainsFunc(p.commands, func(pattern string) bool { return bashrule.Wildcard(pattern, command) })
			if !ok {
				t.Errorf("%q covers %q, yet does not match %q", a, b, command)
			}
		}
	})
}

// The same for paths: "**" of the covered pattern becomes directories.
func FuzzPathCovers(f *testing.F) {
	f.Add("//a/**", "//a/b/**", "x/y")
	f.Add("//**/.env", "//a/*/.env", "q")
	f.Add("**", "a", "b")
	f.Fuzz(func(t *testing.T, a, b, filler string) {
		if len(a)+len(b) > 100 || len(filler) > 20 || strings.ContainsAny(filler, "*/") || filler == "" || filler == "." || filler == ".." {
			return
		}
		where := anchors{home: "/home/x", source: "/src", start: "/start"}
		for _, x := range where.forms(a, "deny") {
			for _, y := range where.forms(b, "deny") {
				if !x.covers(y) || strings.HasPrefix(y[0], "?") {
					continue
				}
				for _, dirs := range [][]string{{}, {filler}, {filler, filler}} {
					var concrete []string
					for _, part := range y[1:] {
						if part == "**" {
							concrete = append(concrete, dirs...)
						} else {
							concrete = append(concrete, strings.ReplaceAll(part, "*", filler))
						}
					}
					if len(dirs) == 0 && len(y) > 1 && y[len(y)-1] == "**" {
						continue // at the end it needs something to stand for
					}
					if !x.covers(append(pathForm{y[0]}, concrete...)) {
						t.Errorf("%q covers %q, yet not %q", a, b, concrete)
					}
				}
			}
		}
	})
}
