package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sallyport/settings"
)

// s0 passes every rule.
func s0() string {
	var deny []string
	for _, d := range requiredDeny {
		deny = append(deny, quote(d))
	}
	return `{"sandbox":{"enabled":true,"failIfUnavailable":true,"allowUnsandboxedCommands":false,
  "filesystem":{"denyRead":["~/"],"allowRead":[".","~/.gitconfig","~/.cache/"],"allowWrite":["~/.cache/"]},
  "network":{"allowedDomains":["pkg.example"]},
  "credentials":{"envVars":[{"name":"ANTHROPIC_API_KEY","mode":"deny"},{"name":"GH_TOKEN","mode":"deny"},
    {"name":"GITHUB_TOKEN","mode":"deny"},{"name":"AWS_SECRET_ACCESS_KEY","mode":"deny"}]}},
 "permissions":{"allow":["Bash(go test *)"],"ask":["Bash(git push *)"],"deny":[` + strings.Join(deny, ",") + `]}}`
}

// edit makes the changes to a text.
func edit(t testing.TB, text string, changes ...settings.Change) string {
	t.Helper()
	out, err := settings.Apply([]byte(text), changes...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func set(value any, pointer string) settings.Change {
	return settings.Set(value, settings.Pointer(pointer)...)
}
func add(value any, pointer string) settings.Change {
	return settings.Append(value, settings.Pointer(pointer)...)
}

// testConfig is a machine of its own.
func testConfig(t testing.TB) Config {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return Config{Dir: dir, Home: "/home/ana", Platform: "linux"}
}

func write(t testing.TB, cfg Config, name, text string) {
	t.Helper()
	path := filepath.Join(cfg.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ids lists the findings of a report as "ID" for errors, "ID:warning" and
// "ID:info" for the others, and "ID@baseline" for those of a baseline.
func ids(r *Report) []string {
	out := []string{}
	for _, f := range r.Findings {
		s := f.ID
		if f.Baseline {
			s += "@baseline"
		}
		if f.Severity != Error {
			s += ":" + f.Severity.String()
		}
		out = append(out, s)
	}
	return out
}

func errorsOf(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return strings.Contains(s, ":") })
}

// expectErrors compares the errors, in order, and looks for the warnings among
// the rest. A want of "ID:warning" is a warning.
func expectErrors(t *testing.T, r *Report, want ...string) {
	t.Helper()
	got := ids(r)
	if g, w := errorsOf(got), errorsOf(want); !slices.Equal(g, w) {
		t.Errorf("errors %q, want %q\n%s", g, w, details(r))
	}
	for _, w := range want {
		if strings.Contains(w, ":") && !slices.Contains(got, w) {
			t.Errorf("findings %q lack %q\n%s", got, w, details(r))
		}
	}
}

// expectAll compares all errors and warnings, in order.
func expectAll(t *testing.T, r *Report, want ...string) {
	t.Helper()
	got := slices.DeleteFunc(ids(r), func(s string) bool { return strings.HasSuffix(s, ":info") })
	if !slices.Equal(got, append([]string{}, want...)) {
		t.Errorf("findings %q, want %q\n%s", got, want, details(r))
	}
}

func details(r *Report) string {
	var b strings.Builder
	r.Human(&b, true)
	return b.String()
}

func TestWorkedClaudeCases(t *testing.T) {
	base := s0()
	tests := []struct {
		id       string
		settings string
		baseline string // empty: base; "-": --no-baseline
		want     []string
		all      bool // compare warnings too
	}{
		{id: "S0", settings: base, all: true},
		{id: "1", settings: base, baseline: edit(t, base,
			set([]string{"~/.cache/", ".", "~/.gitconfig", "."}, "/sandbox/filesystem/allowRead"),
			set(append([]string{"Bash(az *)"}, requiredDeny...), "/permissions/deny")), all: true},
		{id: "2", settings: edit(t, base, settings.Delete("sandbox")), want: []string{"BL202", "SL101"}, all: true},
		{id: "3", settings: edit(t, base, set("true", "/sandbox/enabled")), want: []string{"BL204", "P005", "SL102"}, all: true},
		{id: "4", settings: edit(t, base, set([]string{"~"}, "/sandbox/filesystem/denyRead")), want: []string{"BL201", "BL201"}, all: true},
		{id: "5", settings: edit(t, base, add("~/.aws/", "/sandbox/filesystem/allowRead")), baseline: edit(t, base, add("~/.aws/", "/sandbox/filesystem/allowRead")),
			want: []string{"SL105", "SL105@baseline"}, all: true},
		{id: "6", settings: edit(t, base, add("/home/ana", "/sandbox/filesystem/allowRead")), want: []string{"BL201", "SL105"}, all: true},
		{id: "7", settings: edit(t, base, add("~/.local/bin", "/sandbox/filesystem/allowWrite")), want: []string{"BL201", "SL107"}, all: true},
		{id: "8", settings: edit(t, base, add("~/.config/", "/sandbox/filesystem/allowRead"), add("~/.config/", "/sandbox/filesystem/allowWrite")),
			want: []string{"BL201", "BL201", "SL106"}, all: true},
		{id: "9", settings: strings.Replace(base, "Bash(wget *)", "Bash(wget:*)", 1), want: []string{"BL201", "BL201", "SL110:warning"}, all: true},
		{id: "10", settings: strings.Replace(base, `"Bash(wget *)",`, "", 1), want: []string{"BL201", "SL109"}, all: true},
		{id: "11", settings: edit(t, base, set([]string{"/var/run/docker.sock"}, "/sandbox/network/allowUnixSockets")), want: []string{"BL202", "SL111"}, all: true},
		{id: "12", settings: edit(t, base, set([]string{"/p/.sallyport-local/run/docker.sock"}, "/sandbox/network/allowUnixSockets")),
			baseline: edit(t, base, set([]string{"/p/.sallyport-local/run/docker.sock"}, "/sandbox/network/allowUnixSockets")), all: true},
		{id: "13", settings: edit(t, base, set([]string{"/p/x.sallyport-local/run/podman.sock"}, "/sandbox/network/allowUnixSockets")),
			baseline: edit(t, base, set([]string{"/p/x.sallyport-local/run/podman.sock"}, "/sandbox/network/allowUnixSockets")),
			want:     []string{"SL111", "SL111@baseline"}, all: true},
		{id: "14", settings: edit(t, base, set([]string{"/run/*"}, "/sandbox/network/allowUnixSockets")), baseline: "-", want: []string{"SL111"}, all: true},
		{id: "15", settings: edit(t, base, set([]string{"bash *"}, "/sandbox/excludedCommands")), baseline: "-", want: []string{"SL116"}, all: true},
		{id: "16", settings: strings.TrimSuffix(base, "}") + `,"sandbox":{"enabled":false}}`, baseline: "-", want: []string{"P003", "SL102", "SL103"}},
		{id: "17", settings: `[1]`, want: []string{"P004"}, all: true},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) {
			cfg := testConfig(t)
			write(t, cfg, ".claude/settings.json", tt.settings)
			if tt.baseline == "" {
				tt.baseline = base
			}
			write(t, cfg, ".claude/sandbox-baseline.json", tt.baseline)
			r := Claude(cfg, ".claude/settings.json", "", tt.baseline != "-")
			if tt.all {
				expectAll(t, r, tt.want...)
			} else {
				expectErrors(t, r, tt.want...)
			}
			wantExit := ExitClean
			switch {
			case tt.id == "17":
				wantExit = ExitInput
			case len(errorsOf(tt.want)) > 0:
				wantExit = ExitFindings
			}
			if got := r.Exit(false); got != wantExit {
				t.Errorf("exit %d, want %d", got, wantExit)
			}
		})
	}
}

func rulesText(allow, ask, deny string) string {
	list := func(s string) string {
		if s == "" {
			return "[]"
		}
		var out []string
		for _, r := range strings.Split(s, "|") {
			out = append(out, quote(r))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	return fmt.Sprintf(`{"permissions":{"allow":%s,"ask":%s,"deny":%s}}`, list(allow), list(ask), list(deny))
}

func lintRules(t *testing.T, text string) *Report {
	t.Helper()
	cfg := testConfig(t)
	write(t, cfg, "s.json", text)
	return RulesOnly(cfg, []string{"s.json"})
}

func TestWorkedRuleCases(t *testing.T) {
	tests := []struct {
		id, text string
		want     []string
	}{
		{"18", rulesText("Bash(gh pr view *)", "Bash(gh *)", ""), []string{"R302:warning"}},
		{"19", rulesText("Write(docs/**)", "", "Write(secrets/**)"), []string{"R301:warning", "R301"}},
		{"20", rulesText("", "", "Read(/etc/shadow)"), []string{"R305"}},
		{"21", rulesText("Bash(aws s3 ls)", "", "Bash(aws *)"), []string{"R303:warning"}},
		{"22", `{"permissions":{"additionalDirectories":["../libs/*"]}}`, []string{"R306:warning"}},
		{"23", rulesText("Bash(git *)", "Bash(git push *)", ""), nil},
		{"24", rulesText("Bash(docker *)", "", ""), []string{"R309"}},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) {
			r := lintRules(t, tt.text)
			expectAll(t, r, tt.want...)
			if tt.id == "20" && !strings.Contains(r.Findings[0].Help, "Read(//etc/shadow)") {
				t.Errorf("help %q lacks Read(//etc/shadow)", r.Findings[0].Help)
			}
			if tt.id == "24" && !strings.Contains(r.Findings[0].Message, "container escape") {
				t.Errorf("message %q lacks container escape", r.Findings[0].Message)
			}
		})
	}
}

func lintOpenCode(t *testing.T, text string) *Report {
	t.Helper()
	cfg := testConfig(t)
	write(t, cfg, "opencode.json", text)
	return OpenCode(cfg, "opencode.json")
}

func TestWorkedOpenCodeCases(t *testing.T) {
	tests := []struct {
		id, text string
		want     []string
	}{
		{"25", `{"permission":{"bash":{"*":"ask","git *":"allow"}}}`, []string{"O506", "O507"}},
		{"26", `{"permission":{"bash":{"git push *":"deny","*":"ask","git *":"allow"},"webfetch":"ask"}}`, []string{"O506", "O508"}},
		{"27", `{"permission":{"bash":"ask","webfetch":"deny","*":"allow"}}`, []string{"O505", "O507", "O507", "O508", "O508"}},
		{"28", `{"permission":{"edit":"ask","webfetch":"ask"}}`, []string{"O505"}},
		{"29", `{"permission":{"*":"ask"},"agent":{"ship":{"permission":{"bash":"allow"}}}}`, []string{"O509"}},
		{"30", `{"permission":{"*":"ask","bash":{"*":"ask","[gs]udo *":"allow"}}}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) { expectAll(t, lintOpenCode(t, tt.text), tt.want...) })
	}
}

func lintKiro(t *testing.T, text string) *Report {
	t.Helper()
	cfg := testConfig(t)
	write(t, cfg, "agent.json", text)
	return Kiro(cfg, []string{"agent.json"})
}

func TestWorkedKiroCases(t *testing.T) {
	tests := []struct {
		id, text string
		want     []string
	}{
		{"31", `{"allowedTools":["read","exec*"]}`, []string{"K601"}},
		{"32", `{"toolsSettings":{"shell":{"allowedCommands":["git .*"],"deniedCommands":["git push.*"]}}}`, []string{"K609:warning"}},
		{"33", `{"toolsSettings":{"shell":{"allowedCommands":["sudo","rm -rf /tmp/.*"],"deniedCommands":["(bad"]}}}`, []string{"K602", "K606", "K609:warning"}},
		{"34", `{"toolsSettings":{"web_fetch":{"trusted":["https?://.*"]}}}`, []string{"K605"}},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) { expectAll(t, lintKiro(t, tt.text), tt.want...) })
	}
}

const cleanRules = `prefix_rule(pattern = ["git", ["push", "pull"]], decision = "prompt")
prefix_rule(pattern = ["gh", "auth", ["token", "refresh"]], decision = "forbidden")
prefix_rule(pattern = ["gh", ["pr", "issue"], ["view", "list"]], decision = "allow")
prefix_rule(pattern = ["gh", "pr", ["create","edit","close","reopen","merge","ready","review","comment"]], decision = "prompt")
prefix_rule(pattern = ["gh", "issue", ["create","edit","close","reopen","comment","delete","transfer"]], decision = "prompt")
prefix_rule(pattern = ["gh", "api"], decision = "prompt")
`

const cleanCodex = `approval_policy = "on-request"
sandbox_mode = "workspace-write"

[sandbox_workspace_write]
network_access = false
`

func lintCodex(t *testing.T, config, rules string) *Report {
	t.Helper()
	cfg := testConfig(t)
	write(t, cfg, ".codex/config.toml", config)
	write(t, cfg, ".codex/rules/default.rules", rules)
	return Codex(cfg, ".codex")
}

func TestWorkedCodexCases(t *testing.T) {
	noPush := strings.SplitN(cleanRules, "\n", 2)[1]
	tests := []struct {
		id, config, rules string
		want              []string
	}{
		{"clean", cleanCodex, cleanRules, nil},
		{"35", cleanCodex, cleanRules + `prefix_rule(pattern=["gh"])`, []string{"X712"}},
		{"36", cleanCodex, noPush + `prefix_rule(pattern=["git","push"])`, []string{"X705", "X711", "X713"}},
		{"37", "approval_policy = \"on-request\"\ndefault_permissions=\"p\"\n[permissions.p]\nextends=\":workspace\"\nnetwork.enabled=true\n", cleanRules, []string{"X715"}},
		{"38", cleanCodex, noPush + `# prefix_rule(pattern=["git","push"], decision="prompt")`, []string{"X705"}},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) { expectAll(t, lintCodex(t, tt.config, tt.rules), tt.want...) })
	}
}

func TestWorkedHarnessAndMergeCases(t *testing.T) {
	t.Run("39", func(t *testing.T) { expectAll(t, AnyHarness(testConfig(t), ""), "H801", "H802") })
	t.Run("40", func(t *testing.T) {
		cfg := testConfig(t)
		write(t, cfg, "user.json", `{"sandbox":{"enabled":true}}`)
		write(t, cfg, "local.json", `{"sandbox":{"enabled":false}}`)
		user, local := "user.json", "local.json"
		r := Merged(cfg, Scopes{User: &user, Local: &local}, false)
		for _, id := range []string{"SL102", "M401"} {
			i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.ID == id })
			if i < 0 {
				t.Fatalf("no %s\n%s", id, details(r))
			}
			if o := r.Findings[i].Origin; o == nil || o.Scope != settings.Local || o.File != "local.json" || o.Pointer != "/sandbox/enabled" {
				t.Errorf("%s: origin %+v, want the local file", id, o)
			}
			if id == "M401" && (!strings.Contains(r.Findings[i].Message, "user.json") || !strings.Contains(r.Findings[i].Message, "local.json")) {
				t.Errorf("M401 says %q, want both files", r.Findings[i].Message)
			}
		}
	})
}
