package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWarnings names, for every warning, sources that cause it and the agent it
// is about.
func TestWarnings(t *testing.T) {
	tests := []struct {
		id     string
		level  Level
		agent  Agent
		srt    string
		bash   string
		config string
		yolo   bool
		// pointer is where it points; count how often it is given.
		pointer string
		count   int
	}{
		{id: "SRT-MISSING-REQUIRED", level: Warn, agent: Claude, srt: `{}`, pointer: "/filesystem/denyRead", count: 5},
		{id: "SRT-UNKNOWN-KEY", level: Info, agent: Claude, srt: `{"filesystem":{"x/y":1}}`, pointer: "/filesystem/x~1y", count: 1},
		{id: "SRT-NOT-COMPILED", level: Info, agent: Claude, srt: `{"ripgrep":{"command":"x"}}`, pointer: "/ripgrep", count: 1},
		{id: "SRT-PORT-ZERO", level: Info, agent: Claude, srt: `{"network":{"httpProxyPort":0}}`, pointer: "/network/httpProxyPort", count: 1},
		{id: "SRT-DISABLED", level: Warn, agent: Claude, srt: `{"enabled":false}`, pointer: "/enabled", count: 1},
		{id: "SRT-DISABLED", level: Warn, agent: Copilot, srt: `{"enabled":false}`, pointer: "/enabled", count: 1},
		{id: "BASH-TRAILING-WILDCARD", level: Info, agent: Claude, bash: `{"deny":["rm:*"]}`, pointer: "/deny/0", count: 1},
		{id: "BASH-TIER-CONFLICT", level: Info, agent: Claude, bash: `{"deny":["rm"],"ask":["ls","rm *"]}`, pointer: "/ask/1", count: 1},
		{id: "PATH-DOUBLE-SLASH", level: Info, agent: Claude, srt: `{"filesystem":{"denyWrite":["//etc"]}}`, pointer: "/filesystem/denyWrite/0", count: 1},
		{id: "SOCKET-RAW-DAEMON", level: Warn, agent: Claude, srt: `{"network":{"allowUnixSockets":["/a.sock","/var/run/docker.sock","/x/y-api.sock"]}}`, pointer: "/network/allowUnixSockets/1", count: 2},
		{id: "CLAUDE-CARVEOUT", level: Warn, agent: Claude, srt: `{"filesystem":{"denyRead":["/a","/b"],"allowRead":["/b/c"]}}`, pointer: "/filesystem/denyRead/1", count: 1},
		{id: "CLAUDE-RELATIVE", level: Warn, agent: Claude, srt: `{"filesystem":{"allowWrite":["."]}}`, pointer: "/filesystem/allowWrite/0", count: 1},
		{id: "CLAUDE-ALLOWREAD-CWD", level: Warn, agent: Claude, srt: `{"filesystem":{"denyRead":["~"],"allowRead":["."]}}`, pointer: "/filesystem/allowRead/0", count: 1},
		{id: "CLAUDE-DOMAIN-PORT", level: Lossy, agent: Claude, srt: `{"network":{"deniedDomains":["a.example:1"]}}`, pointer: "/network/deniedDomains/0", count: 1},
		{id: "CLAUDE-BASH-ALLOW", level: Info, agent: Claude, bash: `{"allow":["ls","cat"]}`, pointer: "/allow", count: 1},
		{id: "CLAUDE-LINUX-WRITEGLOB", level: Info, agent: Claude, srt: `{"filesystem":{"denyWrite":["/a/*"]}}`, pointer: "/filesystem/denyWrite/0", count: 1},
		{id: "OVERRIDE-LOOSENS", level: Warn, agent: Claude, config: "[sandbox_overrides.full]\nenabled = false\nexcludedCommands = [\"git\"]\nnetwork = { allowAllUnixSockets = true }\n", pointer: "/sandbox_overrides/full/enabled", count: 3},
		{id: "COPILOT-ASK-AS-DENY", level: Lossy, agent: Copilot, bash: `{"ask":["a","b"]}`, pointer: "/ask/0", count: 2},
		{id: "COPILOT-DOMAIN-PORT", level: Lossy, agent: Copilot, srt: `{"network":{"allowedDomains":["a.example:1"]}}`, pointer: "/network/allowedDomains/0", count: 1},
		{id: "COPILOT-DEEP-COMMAND", level: Lossy, agent: Copilot, bash: `{"deny":["a b c"]}`, pointer: "/deny/0", count: 1},
		{id: "COPILOT-PATH", level: Lossy, agent: Copilot, srt: `{"filesystem":{"denyWrite":["/a/","/b/*.c"]}}`, pointer: "/filesystem/denyWrite/0", count: 1},
		{id: "COPILOT-ALLOW-NEEDS-WRAPPER", level: Warn, agent: Copilot, srt: `{"filesystem":{"allowWrite":["."]}}`, pointer: "/filesystem/allowWrite", count: 1},
		{id: "COPILOT-READ-UNGUARDED", level: Warn, agent: Copilot, srt: `{"filesystem":{"denyRead":["/a"]}}`, pointer: "/filesystem/denyRead", count: 1},
		{id: "COPILOT-YOLO-NEEDS-WRAPPER", level: Warn, agent: Copilot, yolo: true, count: 1},
		{id: "CODEX-WRITEGLOB-AS-DENY", level: Lossy, agent: Codex, srt: `{"filesystem":{"denyWrite":["**/*.p12","/a"]}}`, pointer: "/filesystem/denyWrite/0", count: 1},
		{id: "CODEX-DOTDOT", level: Lossy, agent: Codex, srt: `{"filesystem":{"denyWrite":["../x","a/../../y","."]}}`, pointer: "/filesystem/denyWrite/0", count: 3},
		{id: "CODEX-ALLOWWRITE", level: Lossy, agent: Codex, srt: `{"filesystem":{"allowWrite":["a","b"]}}`, pointer: "/filesystem/allowWrite", count: 1},
		{id: "CODEX-ALLOWREAD", level: Info, agent: Codex, srt: `{"filesystem":{"allowRead":["a","b"]}}`, pointer: "/filesystem/allowRead", count: 1},
		{id: "CODEX-DOMAIN-PORT", level: Lossy, agent: Codex, srt: `{"network":{"allowedDomains":["a.example:1","b.example"]}}`, pointer: "/network/allowedDomains/0", count: 1},
		{id: "CODEX-SOCKET", level: Lossy, agent: Codex, srt: `{"network":{"allowedDomains":["b.example"],"allowUnixSockets":["a.sock","/b/*.sock","/tmp","/ok.sock","/dir/"]}}`, pointer: "/network/allowUnixSockets/0", count: 4},
		{id: "CODEX-SOCKET", level: Lossy, agent: Codex, srt: `{"network":{"allowUnixSockets":["/ok.sock"]}}`, pointer: "/network/allowUnixSockets/0", count: 1},
		{id: "CODEX-NOT-COMPILED", level: Lossy, agent: Codex, srt: `{"ignoreViolations":{"*":["x"]},"enableWeakerNestedSandbox":true,"network":{"allowLocalBinding":false,"allowMachLookup":[],"strictAllowlist":true,"httpProxyPort":1}}`, pointer: "/network/strictAllowlist", count: 4},
		{id: "CODEX-BASH-ALLOW", level: Lossy, agent: Codex, bash: `{"allow":["a","b"]}`, pointer: "/allow", count: 1},
		{id: "CODEX-BASH-ASK", level: Lossy, agent: Codex, bash: `{"ask":["a","b"]}`, pointer: "/ask", count: 1},
		{id: "CODEX-RULE-SHAPE", level: Lossy, agent: Codex, bash: `{"deny":["rm *.c","a | b","a && b","a;b","x > y","echo 'a;b'"]}`, config: "[targets]\ncodex_rules = \"r.rules\"\n", pointer: "/deny/0", count: 5},
		{id: "CODEX-PREFIX-ONLY", level: Info, agent: Codex, bash: `{"deny":["git push -f","git push"]}`, config: "[targets]\ncodex_rules = \"r.rules\"\n", pointer: "/deny/0", count: 1},
		{id: "CODEX-CARVEOUT", level: Warn, agent: Codex, srt: `{"filesystem":{"denyRead":["~","/"]}}`, config: "[codex]\non_carveout = \"skip\"\n", pointer: "/filesystem/denyRead/0", count: 2},
		{id: "CODEX-REMINDER", level: Info, agent: Codex, count: 1},
		{id: "EXT-NOT-COMPILED", level: Lossy, agent: Gemini, srt: `{"filesystem":{"denyRead":["**/x","/a"]}}`, pointer: "/filesystem/denyRead/0", count: 1},
		{id: "EXT-NOT-COMPILED", level: Lossy, agent: CopilotSandbox, bash: `{"deny":["rm"]}`, pointer: "/deny/0", count: 1},
		{id: "EXT-NOT-COMPILED", level: Lossy, agent: Kiro, srt: `{"filesystem":{"allowWrite":["a"]}}`, pointer: "/filesystem/allowWrite", count: 1},
		{id: "OPENCODE-PATH-ALL", level: Lossy, agent: OpenCode, srt: `{"filesystem":{"denyWrite":["/a","b"]}}`, pointer: "/filesystem/denyWrite/0", count: 1},
	}
	for _, tt := range tests {
		t.Run(tt.id+"/"+string(tt.agent), func(t *testing.T) {
			b := newBench(t)
			if tt.srt != "" {
				b.srt(tt.srt)
			}
			if tt.bash != "" {
				b.bash(tt.bash)
			}
			if tt.config != "" {
				b.config(tt.config)
			}
			res := Generate(b.request(tt.agent, func(r *Request) { r.Yolo = tt.yolo }))
			var got []Warning
			for _, w := range res.Warnings {
				if w.ID == tt.id {
					got = append(got, w)
				}
			}
			if len(got) != tt.count || len(got) > 0 && got[0].Level != tt.level {
				t.Errorf("got %d %v, want %d at level %s", len(got), got, tt.count, tt.level)
			}
			if tt.pointer != "" && !slices.ContainsFunc(got, func(w Warning) bool { return w.Pointer == tt.pointer }) {
				t.Errorf("none points to %s: %v", tt.pointer, got)
			}
			if len(res.Problems) > 0 {
				t.Errorf("problems %v", res.Problems)
			}
			if res := Generate(b.request(tt.agent, strict, func(r *Request) { r.Yolo = tt.yolo })); tt.level != Info && res.Exit != 1 {
				t.Errorf("--strict: exit %d", res.Exit)
			}
		})
	}
}

func TestCodexLegacyLayer(t *testing.T) {
	b := newBench(t)
	b.cwd = b.path("proj/sub")
	b.write(b.path("proj/.codex/config.toml"), "sandbox_mode = \"danger-full-access\"\n")
	b.write(b.path(".codex/fast.config.toml"), "sandbox_mode = \"read-only\"\n")
	b.write(b.path(".codex/config.toml"), "")
	res := b.generate(Codex)
	var files []string
	for _, w := range res.Warnings {
		if w.ID == "CODEX-LEGACY-LAYER" {
			name, _, _ := strings.Cut(w.Message, " ")
			rel, _ := filepath.Rel(b.home, name)
			files = append(files, filepath.ToSlash(rel))
		}
	}
	sameList(t, "layers", files, []string{".codex/fast.config.toml", "proj/.codex/config.toml"})
}

func TestCodexKeepsStricter(t *testing.T) {
	b := newBench(t)
	b.write(b.path(".codex/config.toml"), "approval_policy = \"untrusted\" # mine\n")
	res := b.generate(Codex, write)
	if !strings.Contains(b.read(".codex/config.toml"), "approval_policy = \"untrusted\" # mine\n") || !slices.Contains(ids(res.Warnings), "CODEX-KEEP-STRICTER") {
		t.Errorf("%v\n%s", ids(res.Warnings), b.read(".codex/config.toml"))
	}
	if d := Diff(b.request(Codex)); d.Exit != 0 {
		t.Errorf("diff: %v", findings(d))
	}
}

// TestCodexInline lists profiles that are not written as tables of their own.
func TestCodexInline(t *testing.T) {
	for _, text := range []string{
		"permissions.agent-policy.extends = \":workspace\"\n",
		"permissions = { agent-policy = {} }\n",
		"[permissions]\nagent-policy = { extends = \":workspace\" }\n",
		"[permissions]\nagent-policy.extends = \":workspace\"\n",
		"[permissions.agent-policy]\nnetwork.enabled = true\n",
		"[permissions.agent-policy]\nfilesystem = { \"/a\" = \"deny\" }\n",
		"[[permissions.agent-policy]]\n",
	} {
		b := newBench(t)
		b.write(b.path(".codex/config.toml"), text)
		res := Generate(b.request(Codex, write))
		if got := problemIDs(res.Problems); !slices.Equal(got, []string{"ABORT-CODEX-INLINE"}) {
			t.Errorf("%q: %v", text, res.Problems)
		}
		same(t, "file", b.read(".codex/config.toml"), text)
	}
}

func TestMalformedPaths(t *testing.T) {
	for _, p := range []string{"", "/~", "/~/x", "//~/x", "/./~/x", "~bob", "~bob/x", "$HOME/x", "%USERPROFILE%", "a\nb", "**/x/", "*.d/", "./~/x", " ~/x", "foo/**/"} {
		text := string(compactJSON(map[string]any{"filesystem": map[string]any{"denyRead": []string{p}}}))
		var n notes
		if parseSRT("f", []byte(text), &n); !slices.Equal(problemIDs(n.problems), []string{"ABORT-MALFORMED-PATH"}) {
			t.Errorf("%q: %v", p, n.problems)
		}
	}
}

func TestCanonical(t *testing.T) {
	tests := []struct {
		in, want      string
		glob, subtree bool
	}{
		{"~/.aws/**", "~/.aws", false, true}, {"~/", "~", false, true}, {"~/**", "~", false, true}, {"/a//b/./c", "/a/b/c", false, false},
		{"//a", "/a", false, false}, {"./x", "x", false, false}, {".", ".", false, false}, {"/", "/", false, false}, {"/**", "/", false, true},
		{"**/secrets/**", "**/secrets/**", true, false}, {"./**/*.c", "**/*.c", true, false}, {"a/**/**", "a", false, true}, {"a/../b", "a/../b", false, false}, {"x/.", "x", false, true},
	}
	for _, tt := range tests {
		got := canonical(entry{Text: tt.in})
		if got.Canon != tt.want || got.Glob != tt.glob || got.Subtree != tt.subtree {
			t.Errorf("canonical(%q) = %q glob %t subtree %t, want %q %t %t", tt.in, got.Canon, got.Glob, got.Subtree, tt.want, tt.glob, tt.subtree)
		}
	}
}

func TestDomains(t *testing.T) {
	for _, s := range []string{"localhost", "a.b", "*.a.b", "A.B.", "[::1]", "[::1]:443", "a.b:1", "*.a.b:65535"} {
		if _, why := parseDomain(entry{Text: s}, false); why != "" {
			t.Errorf("%q: %s", s, why)
		}
	}
	for _, s := range []string{"", "a", "*", "*.com", "a*.com", "https://a.b", "a.b/c", ".a.b", "a..b", "::1", "a.b:0", "a.b:01", "a.b:65536", "a.b:", "[::1", "[a]", "a b.c", "*:80"} {
		if _, why := parseDomain(entry{Text: s}, false); why == "" {
			t.Errorf("%q is taken", s)
		}
	}
	for _, s := range []string{"*", "*:80"} {
		if _, why := parseDomain(entry{Text: s}, true); why != "" {
			t.Errorf("denied %q: %s", s, why)
		}
	}
}

// TestKindsOfTargets merges into JSON written in every usual way.
func TestKindsOfTargets(t *testing.T) {
	b := newBench(t)
	b.bash(`{"deny":["rm"]}`)
	for _, text := range []string{
		"\ufeff{\r\n\t\"n\": 1.0e3,\r\n\t\"s\": \"\\u00e9\\/\"\r\n}",
		"{\"a\":1,\"permissions\":{\"allow\":[\"Read(\\u007e/x)\"]}}",
		"{\n    \"a.b\": {\"*\": 1, \"?\": 2, \"|\": 3}\n}\n",
		"  {}  ",
		"",
	} {
		b.write(b.path(targetsOf[Claude]), text)
		b.generate(Claude, write)
		got := b.read(targetsOf[Claude])
		for _, part := range []string{"\"n\": 1.0e3", "\"s\": \"\\u00e9\\/\"", "\"a.b\": {\"*\": 1, \"?\": 2, \"|\": 3}", "\"Read(\\u007e/x)\"", "\ufeff"} {
			if strings.Contains(text, part) != strings.Contains(got, part) {
				t.Errorf("%q of %q is lost in %q", part, text, got)
			}
		}
		if strings.Contains(text, "\r\n") && strings.Contains(strings.ReplaceAll(got, "\r\n", ""), "\n") {
			t.Errorf("line ends are mixed: %q", got)
		}
		if d := Diff(b.request(Claude)); d.Exit != 0 {
			t.Errorf("%q: %v %v", text, findings(d), d.Problems)
		}
	}
	for _, text := range []string{"[]", "{", "{} x", `{"permissions":[]}`, `{"permissions":null}`, `{"sandbox":true}`, `{"sandbox":{"network":[]}}`, `{"permissions":{"deny":"x"}}`, `{"permissions":{"allow":[1]}}`, "// x\n{}", `{"a":1,}`} {
		b.write(b.path(targetsOf[Claude]), text)
		res := Generate(b.request(Claude, write))
		sameList(t, text, problemIDs(res.Problems), []string{"ABORT-TARGET-JSON"})
		same(t, "file", b.read(targetsOf[Claude]), text)
		if d := Diff(b.request(Claude)); d.Exit != 2 {
			t.Errorf("diff of %q: exit %d", text, d.Exit)
		}
	}
}

// TestBackups: what somebody wrote is kept, what we wrote never becomes the
// original.
func TestBackups(t *testing.T) {
	b := newBench(t)
	b.config("[options]\nbackups = 2\n")
	file := b.path(targetsOf[Claude])
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	run := func(rule string) {
		t.Helper()
		now = now.Add(time.Minute)
		b.bash(`{"deny":["` + rule + `"]}`)
		b.generate(Claude, write, func(r *Request) { r.Now = func() time.Time { return now } })
	}
	b.write(file, `{"mine":1}`)
	run("a")
	run("b")
	sameList(t, "after two runs", backupsOf(file), []string{file + ".agent-policy.20261130T120100Z.bak"})
	for _, rule := range []string{"c", "d", "e"} {
		b.write(file, strings.Replace(b.read(targetsOf[Claude]), `"mine"`, `"mine`+rule+`"`, 1))
		run(rule)
	}
	if got := backupsOf(file); len(got) != 2 {
		t.Errorf("kept %q, want the newest two", got)
	}
	os.WriteFile(b.path(".local/state/sallyport/policy-state.json"), []byte("{broken"), 0o600)
	run("f")
}

// TestNothingIsHalfWritten makes the second of two targets unwritable: the first
// is put back.
func TestNothingIsHalfWritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("directories cannot be made unwritable this way")
	}
	b := newBench(t)
	b.write(b.path(targetsOf[Claude]), `{"mine":1}`)
	b.write(b.path("blocked"), "a file where a directory has to be")
	b.config("[targets]\ncodex_config = \"~/blocked/config.toml\"\n[claude]\nsymlink = false\n")
	res := Generate(b.request("", write))
	if res.Exit != 1 || res.Written {
		t.Fatalf("exit %d", res.Exit)
	}
	same(t, "claude", b.read(targetsOf[Claude]), `{"mine":1}`)
}

func TestChangedMeanwhile(t *testing.T) {
	b := newBench(t)
	b.write(b.path(targetsOf[Claude]), `{"mine":1}`)
	j := b.request(Claude, write).load()
	plans := j.compileAll(true)[0].plans
	b.write(b.path(targetsOf[Claude]), `{"mine":2}`)
	err := commit(plans, j.state, 5, time.Now())
	if err == nil || !strings.Contains(err.Error(), "ABORT-CONCURRENT") {
		t.Errorf("commit: %v", err)
	}
	same(t, "file", b.read(targetsOf[Claude]), `{"mine":2}`)
}

// TestKindsOfTOML merges into a file with every kind of value in it.
func TestKindsOfTOML(t *testing.T) {
	b := newBench(t)
	b.srt(codexFullSRT)
	text := "# top\r\na = nan\r\nb = +inf # x\r\nc = 1979-05-27T07:32:00Z\r\nd = [ 1,\r\n  # in\r\n  2, ]\r\ne = \"\"\"\r\n[permissions.agent-policy]\r\n\"\"\"\r\n'f g'.h = 0x_F\r\n"
	text = strings.Replace(text, "0x_F", "0xF", 1)
	b.write(b.path(targetsOf[Codex]), text+"\r\n[[x.y]]\r\nz = 'l'\r\n")
	b.generate(Codex, write)
	got := b.read(targetsOf[Codex])
	if !strings.HasPrefix(got, text) || !strings.Contains(got, "\r\n[[x.y]]\r\nz = 'l'\r\n") || strings.Contains(strings.ReplaceAll(got, "\r\n", ""), "\n") {
		t.Errorf("got %q", got)
	}
	if d := Diff(b.request(Codex)); d.Exit != 0 {
		t.Errorf("diff: %v %v", findings(d), d.Problems)
	}
}

func TestTargetsThatMeet(t *testing.T) {
	b := newBench(t)
	b.config("[targets]\nclaude_settings = \"~/.claude/a.json\"\ncodex_config = \"~/.claude/a.json\"\n")
	if res := Generate(b.request("", write)); res.Exit != 1 {
		t.Errorf("one file for two agents: exit %d", res.Exit)
	}
	b.config("[targets]\ncodex_config = \"srt.json\"\n")
	if res := Generate(b.request(Codex, write)); res.Exit != 1 {
		t.Errorf("a source as a target: exit %d", res.Exit)
	}
}

// TestSharedTargets: entries that a person had put there are never ours to
// remove, and ours go when the policy drops them.
func TestSharedTargets(t *testing.T) {
	b := newBench(t)
	b.config("[targets]\nkiro_agent = \"~/.kiro/agents/a.json\"\n")
	b.write(b.path(targetsOf[Kiro]), `{"name":"a","toolsSettings":{"read":{"deniedPaths":["/mine"]}}}`)
	b.srt(`{"filesystem":{"denyRead":["/ours"]},"network":{"allowedDomains":["a.example"]}}`)
	b.generate(Kiro, write)
	b.srt(`{"filesystem":{"denyRead":["/ours","/mine"]},"network":{"allowedDomains":["a.example"]}}`)
	b.generate(Kiro, write)
	b.srt(`{"filesystem":{"denyRead":[]},"network":{"allowedDomains":["a.example"]}}`)
	sameList(t, "diff", findings(Diff(b.request(Kiro))), []string{"extra toolsSettings.read.deniedPaths /ours", "extra toolsSettings.write.deniedPaths /mine", "extra toolsSettings.write.deniedPaths /ours"})
	b.generate(Kiro, write)
	var doc map[string]any
	if err := json.Unmarshal([]byte(b.read(targetsOf[Kiro])), &doc); err != nil {
		t.Fatal(err)
	}
	left, _ := dig(doc, "toolsSettings", "read", "deniedPaths")
	sameList(t, "read.deniedPaths", toStrings(left), []string{"/mine"})
}

func TestExtended(t *testing.T) {
	b := ana(t)
	b.srt(`{"filesystem":{"denyRead":["~/.ssh","secret","**/.env"],"denyWrite":["/etc/app"],"allowWrite":[]},"network":{"allowedDomains":["ok.example"],"deniedDomains":["evil.example"]}}`)
	b.bash(`{"deny":["rm -rf"],"ask":["git push"]}`)
	text, _ := b.preview(OpenCode)
	same(t, "opencode", text, `{
  "permission": {
    "external_directory": {
      "/h/ana/.ssh": "deny",
      "/h/ana/.ssh/*": "deny",
      "/etc/app": "deny",
      "/etc/app/*": "deny"
    },
    "read": {
      "secret": "deny",
      "secret/*": "deny",
      ".env": "deny",
      "*/.env": "deny"
    },
    "edit": {
      "secret": "deny",
      "secret/*": "deny",
      ".env": "deny",
      "*/.env": "deny"
    },
    "webfetch": {
      "*://evil.example/*": "deny",
      "*://evil.example": "deny"
    },
    "bash": {
      "git push": "ask",
      "git push *": "ask",
      "rm -rf": "deny",
      "rm -rf *": "deny"
    }
  }
}
`)
	text, _ = b.preview(Gemini)
	same(t, "gemini", text, `# Generated by agent-policy. Edits are lost.

[[rule]]
toolName = ["read_file", "read_many_files", "list_directory", "glob", "grep_search", "write_file", "replace"]
argsPattern = "/h/ana/\\.ssh(?:[/\"]|$)"
decision = "deny"
priority = 900

[[rule]]
toolName = ["write_file", "replace"]
argsPattern = "/etc/app(?:[/\"]|$)"
decision = "deny"
priority = 900

[[rule]]
toolName = "run_shell_command"
commandPrefix = ["rm -rf"]
decision = "deny"
priority = 900

[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git push"]
decision = "ask_user"
priority = 800
`)
	text, _ = b.preview(Kiro)
	for _, part := range []string{`"(?s)rm -rf(\\s.*)?"`, `"**/.env"`, `"/h/ana/.ssh"`} {
		if !strings.Contains(text, part) {
			t.Errorf("kiro lacks %s:\n%s", part, text)
		}
	}
	text, _ = b.preview(CopilotSandbox)
	for _, part := range []string{`"allowBypass": false`, `"/h/ana/.ssh"`, `"readonlyPaths"`, `"evil.example"`} {
		if !strings.Contains(text, part) {
			t.Errorf("copilot-sandbox lacks %s:\n%s", part, text)
		}
	}
}

// FuzzSources feeds any text to the source parsers: it is refused with a message
// or compiled, for every agent.
func FuzzSources(f *testing.F) {
	f.Add(codexFullSRT, `{"deny":["rm -rf","a 'b c'"],"ask":["x:*"],"allow":[]}`)
	f.Add("{//\n\"filesystem\":{\"denyRead\":[\"~/**\",\"/~\",],},}", `{"deny":["\"",]}`)
	f.Add(`{"network":{"allowedDomains":["*.a.b:1","[::1]:2"]},"credentials":{"files":[]}}`, `{}`)
	f.Fuzz(func(t *testing.T, srt, bash string) {
		var n notes
		s, b := parseSRT("s", []byte(srt), &n), parseBash("b", []byte(bash), &n)
		if s == nil || b == nil {
			if len(n.problems) == 0 {
				t.Fatalf("refused without a word: %q %q", srt, bash)
			}
			return
		}
		env := Env{Home: "/h/ana", Dir: "/h/ana/w", Getenv: func(string) string { return "" }}
		cfg, err := loadConfig(env, "/nowhere/policy.toml", false)
		if err != nil {
			t.Fatal(err)
		}
		cfg.CodexRules, cfg.CopilotSettings, cfg.KiroAgent = "/r", "/c", "/k"
		c := &compiler{cfg: cfg, srt: s, bash: b, env: env, n: &n}
		for _, a := range Agents() {
			p := c.compile(a)
			for _, file := range p.files {
				if err := file.check(nil, file.fresh, nil); err != nil {
					t.Fatalf("%s of %q %q: %v\n%s", a, srt, bash, err, file.fresh)
				}
				diffs, err := file.diff(file.fresh, nil)
				if err != nil || len(diffs) > 0 {
					t.Fatalf("%s of %q %q has drifted from itself: %v %v\n%s", a, srt, bash, diffs, err, file.fresh)
				}
			}
		}
	})
}

// FuzzConfig reads any text as policy.toml.
func FuzzConfig(f *testing.F) {
	f.Add(minimalConfig())
	f.Add("[sandbox_overrides.full]\nnetwork = {x = 1979-05-27}\n")
	f.Fuzz(func(t *testing.T, text string) {
		c := &Config{Path: "p"}
		if err := c.parse([]byte(text), func(p string) string { return "/" + p }); err != nil && !strings.HasPrefix(err.Error(), "p:") {
			t.Fatalf("%q: %v names no file", text, err)
		}
	})
}

// FuzzTarget merges into any text: it is refused, or the result has not drifted.
func FuzzTarget(f *testing.F) {
	f.Add(mergeTarget)
	f.Add(`{"permission":{"bash":{"*":"allow","rm":"deny"}}}`)
	f.Add("a = 1 # c\n[features]\nx = {}\n[permissions.agent-policy]\nextends = ''\n# t\n[z]\n")
	f.Add("features = { }\n")
	f.Fuzz(func(t *testing.T, text string) {
		var n notes
		s := parseSRT("s", []byte(codexFullSRT), &n)
		b := parseBash("b", []byte(`{"deny":["rm -rf"],"ask":["git push"]}`), &n)
		env := Env{Home: "/h/ana", Dir: "/h/ana/w", Getenv: func(string) string { return "" }}
		cfg, err := loadConfig(env, "/nowhere/policy.toml", false)
		if err != nil {
			t.Fatal(err)
		}
		cfg.CopilotSettings, cfg.KiroAgent = "/c", "/k"
		c := &compiler{cfg: cfg, srt: s, bash: b, env: env, n: &n}
		for _, a := range Agents() {
			for _, file := range c.compile(a).files {
				out, record, err := file.merge([]byte(text), nil)
				if err != nil || file.check([]byte(text), out, nil) != nil {
					continue
				}
				if diffs, err := file.diff(out, record); err != nil || len(diffs) > 0 {
					t.Fatalf("%s into %q has drifted: %v %v\n%q", a, text, diffs, err, out)
				}
				if again, _, err := file.merge(out, record); err != nil || string(again) != string(out) {
					t.Fatalf("%s into %q is not settled: %v\n%q\n%q", a, text, err, out, again)
				}
			}
		}
	})
}

// TestProjectScope: relative entries mean the project there, and are looked up
// in it.
func TestProjectScope(t *testing.T) {
	b := newBench(t)
	b.config("[targets]\nclaude_settings = \"~/proj/.claude/settings.full.json\"\n[claude]\nglob_anchor = \"root\"\n")
	b.write(b.path("proj/docs/d"), "")
	b.write(b.path("proj/key"), "")
	b.srt(`{"filesystem":{"denyRead":["key","**/*.pem","~"],"denyWrite":["docs","."],"allowWrite":["."]},"network":{"strictAllowlist":true,"allowedDomains":[],"deniedDomains":[]}}`)
	deny, content := rulesOf(t, b)
	sameList(t, "deny", deny, []string{"Read(./key)", "Edit(./key)", "Read(//**/*.pem)", "Edit(//**/*.pem)", "Edit(./docs)", "Edit(./docs/**)", "Edit(./**)"})
	v, _ := dig(content, "sandbox", "filesystem", "denyRead")
	sameList(t, "denyRead", toStrings(v), []string{"key", "**/*.pem", "~"})
	if _, there := dig(content, "sandbox", "network", "strictAllowlist"); there {
		t.Error("strictAllowlist does nothing in a project's file and is compiled")
	}
	if _, warned := b.preview(Claude); !slices.Contains(warned, "CLAUDE-CARVEOUT") || slices.Contains(warned, "CLAUDE-RELATIVE") {
		t.Errorf("warnings %v", warned)
	}
	b.config("[targets]\nclaude_settings = \"~/elsewhere/settings.full.json\"\n")
	if res := Generate(b.request(Claude)); res.Exit != 1 || !strings.Contains(res.Problems[0].Message, "claude.scope") {
		t.Errorf("a scope that cannot be told: %v", res.Problems)
	}
}

// TestNewYoloFile starts with what the file in force holds besides the policy,
// and with nothing that the other mode alone sets.
func TestNewYoloFile(t *testing.T) {
	b := newBench(t)
	b.bash(`{"ask":["x"]}`)
	b.config("[sandbox_overrides.full]\nfailIfUnavailable = true\nnetwork = { allowLocalBinding = true }\n[sandbox_overrides.yolo]\nenabled = true\n")
	b.write(b.path(".claude/settings.json"), `{"hooks":{"Stop":[1]},"sandbox":{"excludedCommands":["mine"]}}`)
	b.generate(Claude, write)
	b.generate(Claude, write, yolo)
	got := b.read(".claude/settings.yolo.json")
	for part, want := range map[string]bool{`"hooks":{"Stop":[1]}`: true, `"mine"`: true, "failIfUnavailable": false, "allowLocalBinding": false, `"ask"`: false, `"enabled":true`: true} {
		if strings.Contains(got, part) != want {
			t.Errorf("%s there: %t, want %t\n%s", part, !want, want, got)
		}
	}
	if d := Diff(b.request(Claude, yolo)); d.Exit != 0 {
		t.Errorf("diff: %v %v", findings(d), d.Problems)
	}
}
