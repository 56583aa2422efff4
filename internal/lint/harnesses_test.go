package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenCode(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{}`, "O501"},
		{`{"permission":"allow"}`, "O502"},
		{`{"permission":"never"}`, "O503"},
		{`{"permission":true}`, "O503"},
		{`{"permission":["ask"]}`, "O503"},
		{`{"permission":null}`, "O503"},
		{`{"permission":"ask"}`, ""},
		{`{"permission":"deny"}`, ""},
		{`{"permission":{}}`, "O505 O507"},
		{`{"permission":{"*":"ask"}}`, ""},
		{`{"permission":{"*":"deny","read":"allow"}}`, "O511:warning"},
		{`{"permission":{"*":"allow"}}`, "O505 O507 O507"},
		{`{"permission":{"bash":"allow","webfetch":"ask"}}`, "O505"},
		{`{"permission":{"*":"ask","bash":{"*":"allow"}}}`, "O505"},
		{`{"permission":{"*":"ask","bash":{"*":"allow","rm *":"deny"}}}`, "O505"},
		{`{"permission":{"*":"ask","bash":{"git push *":"allow"}}}`, "O506"},
		{`{"permission":{"*":"ask","bash":{"git status*":"allow","ls *":"allow"}}}`, ""},
		{`{"permission":{"*":"ask","bash":{"git *":"allow","git push *":"deny"}}}`, ""},
		{`{"permission":{"*":"ask","bash":{"git *":"allow","git push*":"ask"}}}`, ""},
		{`{"permission":{"*":"ask","bash":{"dock?r *":"allow"}}}`, "O506"},
		{`{"permission":{"*":"ask","b*":{"docker *":"allow"}}}`, "O506"},
		{`{"permission":{"*":"ask","bash":{"docker *":"Allow"}}}`, "O504"},
		{`{"permission":{"*":"ask","bash":7,"edit":{"x":true}}}`, "O504 O504"},
		{`{"permission":{"*":"ask","external_directory":"allow"}}`, "O507"},
		{`{"permission":{"*":"ask","external_directory":{"/etc/*":"allow"}}}`, "O507"},
		{`{"permission":{"*":"ask","external_directory":{"~/work/*":"allow"}}}`, ""},
		{`{"permission":{"*":"ask","webfetch":{"https://example.com/*":"allow"}}}`, "O507"},
		{`{"permission":{"*":"ask","webfetch":{"https://docs.test/*":"allow"}}}`, ""},
		// Dead rules.
		{`{"permission":{"bash":{"*":"ask","rm *":"deny"},"webfetch":"ask"}}`, ""},
		{`{"permission":{"bash":{"rm *":"deny","*":"ask"},"webfetch":"ask"}}`, "O508:warning"},
		{`{"permission":{"bash":{"rm -rf *":"ask","*":"ask"},"webfetch":"ask"}}`, ""},
		{`{"permission":{"bash":{"rm *":"ask","*":"deny"},"webfetch":"ask"}}`, ""},
		{`{"permission":{"bash":{"*":"ask","ls -l":"deny","ls *":"allow"},"webfetch":"ask"}}`, "O508"},
		{`{"permission":{"bash":{"*":"ask","ls *":"deny","ls -l":"allow"},"webfetch":"ask"}}`, ""},
		{`{"permission":{"bash":{"*":"ask","ls *":"deny","ls?*":"allow"},"webfetch":"ask"}}`, ""},
		{`{"permission":{"edit":"deny","*":"ask"}}`, "O508:warning"},
		// Agents.
		{`{"permission":{"*":"ask"},"agent":{"a":{"permission":{"webfetch":"allow"}},"b":{"permission":{"edit":"allow"}},"c":{}}}`, "O509"},
		{`{"permission":"ask","mode":{"ship":{"permission":{"bash":{"git *":"allow"}}}}}`, "O509"},
		{`{"permission":"deny","agent":{"a":{"permission":"ask"}}}`, ""},
		{`{"permission":"allow","agent":{"a":{"permission":"ask"}}}`, "O502"},
		{`{"agent":{"a":{"permission":"ask"}}}`, "O501"},
		{`{"agent":{"a":{"permission":{"edit":"ask"}}}}`, "O501 O509"},
		// Legacy tools and .env files.
		{`{"permission":{"*":"ask"},"tools":{"bash":false}}`, "O510:warning"},
		{`{"permission":{"*":"ask"},"agent":{"a":{"tools":{"write":true}}}}`, "O510:warning"},
		{`{"permission":{"*":"ask"},"tools":{}}`, ""},
		{`{"permission":{"*":"ask","read":{"*":"allow"}}}`, "O511:warning"},
		{`{"permission":{"*":"ask","read":{"*.env":"deny","*":"allow"}}}`, "O508 O511:warning"},
		{`{"permission":{"*":"ask","read":{"*":"allow","*.env":"deny","*.env.*":"deny"}}}`, ""},
		{`{"permission":{"*":"ask","read":{"src/*":"allow"}}}`, ""},
		// Comments and trailing commas.
		{"{ // all\n \"permission\": /* safe */ {\"*\": \"ask\",},}", ""},
		{"{\"permission\": \"ask\" /* open }", "P002"},
		{`{"permission":"ask","permission":"allow"}`, "O502 P003"},
		{`["ask"]`, "P004"},
		{``, "P002"},
	}
	for _, tt := range tests {
		if got := strings.Join(ids(lintOpenCode(t, tt.text)), " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestOpenCodeNamesTheAgentAndTheReason(t *testing.T) {
	r := lintOpenCode(t, `{"permission":{"*":"ask"},"agent":{"ship":{"permission":{"bash":{"git *":"allow","npx *":"allow"},"webfetch":"allow"}}}}`)
	if len(r.Findings) != 1 {
		t.Fatalf("%q", ids(r))
	}
	for _, want := range []string{`"ship"`, "publish to a remote; arbitrary package", "webfetch", "O506", "O507"} {
		if !strings.Contains(r.Findings[0].Message, want) {
			t.Errorf("message %q lacks %q", r.Findings[0].Message, want)
		}
	}
}

func TestKiro(t *testing.T) {
	shell := func(allowed, denied string) string {
		list := func(s string) string {
			if s == "" {
				return "[]"
			}
			var out []string
			for _, e := range strings.Split(s, "\n") {
				out = append(out, quote(e))
			}
			return "[" + strings.Join(out, ",") + "]"
		}
		return `{"toolsSettings":{"shell":{"allowedCommands":` + list(allowed) + `,"deniedCommands":` + list(denied) + `}}}`
	}
	tests := []struct{ text, want string }{
		{`{}`, ""},
		{`{"allowedTools":["read","write","@git/*"]}`, ""},
		{`{"allowedTools":["shell"]}`, "K601"},
		{`{"allowedTools":["sh*","execute_cmd"]}`, "K601 K601"},
		{`{"allowedTools":["execute_?ash"]}`, "K601"},
		{`{"allowedTools":["*"]}`, "K601 K603 K604"},
		{`{"allowedTools":["@builtin"]}`, "K601 K603 K604"},
		{`{"allowedTools":["shelly","my_shell"]}`, ""},
		{`{"allowedTools":["use_aws"]}`, "K603"},
		{`{"allowedTools":["aw?"]}`, "K603"},
		{`{"allowedTools":["web*"]}`, "K604"},
		{`{"allowedTools":["webfetch","web_search"]}`, "K604"},
		{`{"allowedTools":["shell"],"toolsSettings":{"shell":{"allowedCommands":["rm .*"]}}}`, "K601 K609:warning"},
		{`{"allowedTools":"shell"}`, "P005"},
		// Commands.
		{shell("rm -rf /tmp/x", ""), "K602"},
		{shell("rm", ""), ""},
		{shell(".*", ""), "K602 K609:warning"},
		{shell(".*", ".*"), ""},
		{shell("git [^;&|<>$`]*", "git push.*"), ""},
		{shell("ls|git .*", "git push.*"), "K609:warning"},
		{shell("git .*", "git push.*\n.*;.*"), ""},
		{shell("docker run alpine( .*)?", ""), "K602 K609:warning"},
		{`{"toolsSettings":{"execute_bash":{"allowedCommands":["npx [a-z ]*"]},"shell":{"deniedCommands":["npx c.*"]}}}`, ""},
		{`{"toolsSettings":{"execute_bash":{"allowedCommands":["npx [a-z ]*"]}}}`, "K602"},
		{shell("a\\\nb", ""), "K606:warning"},
		{shell("a)(b", ""), "K606:warning"},
		{shell("", "*x"), "K606"},
		// Denied literals.
		{shell("", "rm -rf"), "K607:warning"},
		{shell("", "sudo"), "K607:warning"},
		{shell("", "git push"), "K607:warning"},
		{shell("", "^git push$"), "K607:warning"},
		{shell("", "rm -rf( .*)?"), ""},
		{shell("", "rm -rf /"), ""},
		{shell("", "git push origin main"), ""},
		{shell("", "sudo.*"), ""},
		// Look-around and hosts.
		{shell("git (?!push).*", ""), "K606:warning K608:warning"},
		{shell("", "(?<=a)b"), "K606 K608:warning"},
		{shell(`git \(\?!x\)`, ""), ""},
		{shell("ping api.example.com", ""), "K608:warning"},
		{shell("ping api\\.example\\.com", ""), ""},
		{shell("http https://docs.internal/[a-z]+", ""), "K608:warning"},
		{shell("node script.js", ""), ""},
		{shell("make [a-z.]+", ""), ""},
		// Trusted sites.
		{`{"toolsSettings":{"web_fetch":{"trusted":[".*"]}}}`, "K605"},
		{`{"toolsSettings":{"web_fetch":{"trusted":[".+","^.*$","(.*)"]}}}`, "K605 K605 K605"},
		{`{"toolsSettings":{"web_fetch":{"trusted":["https://.*","http://.*"]}}}`, ""},
		{`{"toolsSettings":{"web_fetch":{"trusted":["https://docs\\.example\\.com/.*"]}}}`, ""},
		{`{"toolsSettings":{"web_fetch":{"trusted":["("]}}}`, "K606:warning"},
		{"{ // no\n}", "P002"},
	}
	for _, tt := range tests {
		var got []string
		for _, id := range ids(lintKiro(t, tt.text)) {
			if id != "K610:info" {
				got = append(got, id)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestKiroReadsSeveralFiles(t *testing.T) {
	cfg := testConfig(t)
	write(t, cfg, "a.json", `{"allowedTools":["use_aws"]}`)
	write(t, cfg, "b.json", `{"allowedTools":["shell"]}`)
	expectAll(t, Kiro(cfg, []string{"b.json", "a.json"}), "K601", "K603")
}

func TestCodexConfig(t *testing.T) {
	tests := []struct{ config, want string }{
		{cleanCodex, ""},
		{``, "X701 X702 X703"},
		{"approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n", "X701 X702 X703"},
		{"approval_policy = {granular = {}}\nsandbox_mode = \"workspace-write\"\nsandbox_workspace_write = {network_access = false}\n", "X702"},
		{"approval_policy = \"on-request\"\nsandbox_mode = \"read-only\"\n[sandbox_workspace_write]\nnetwork_access = false\n", "X701"},
		{"approval_policy = \"on-request\"\nsandbox_mode = \"workspace-write\"\n", "X703"},
		{"approval_policy = \"on-request\"\nsandbox_mode = \"workspace-write\"\n[sandbox_workspace_write]\nnetwork_access = true\n", "X703"},
		{"approval_policy = \"on-request\"\nsandbox_mode = \"workspace-write\"\n[sandbox_workspace_write]\nnetwork_access = \"false\"\n", "P005 X703"},
		{"approval_policy = \"on-request\"\nsandbox_mode = 1\nsandbox_workspace_write.network_access = false\n", "P005 X701"},
		// Profiles.
		{"approval_policy = \"on-request\"\ndefault_permissions = \":workspace\"\n", ""},
		{"approval_policy = \"on-request\"\ndefault_permissions = \":read-only\"\n", ""},
		{"approval_policy = \"on-request\"\ndefault_permissions = \":danger-full-access\"\n", "X701 X703"},
		{"approval_policy = \"on-request\"\ndefault_permissions = \"p\"\n[permissions.p]\nextends = \"q\"\n[permissions.q]\nextends = \":read-only\"\n", ""},
		{"approval_policy = \"on-request\"\ndefault_permissions = \"p\"\n[permissions.p]\nextends = \"p\"\n", "X701 X703"},
		{"approval_policy = \"on-request\"\ndefault_permissions = \"p\"\n[permissions.p]\nnetwork.enabled = false\n", "X701 X703"},
		{cleanCodex + "\n[permissions.p]\nextends = \":workspace\"\n", ""},
		{"default_permissions = \":workspace\"\n" + cleanCodex, "X714"},
		{"approval_policy = \"on-request\"\ndefault_permissions = \":workspace\"\nsandbox_workspace_write = {}\n", "X714"},
		{"approval_policy = \"on-request\"\ndefault_permissions = \"p\"\n[features]\nnetwork_proxy = true\n[permissions.p]\nextends = \":workspace\"\nnetwork.enabled = true\n", ""},
		{"approval_policy = \"on-request\"\ndefault_permissions = \"p\"\n[permissions.p]\nextends = \"q\"\n[permissions.q]\nextends = \":workspace\"\nnetwork.enabled = true\n", "X715"},
		{"approval_policy = \"on-request\"\ndefault_permissions = \"p\"\n[permissions.p]\nextends = \"q\"\nnetwork.enabled = false\n[permissions.q]\nextends = \":workspace\"\nnetwork.enabled = true\n", ""},
		{"approval_policy = \"on-request\"\ndefault_permissions = \"p\"\n[permissions.p]\nextends = \":workspace\"\n[permissions.q]\nnetwork.enabled = true\n", ""},
		// Entries of profiles.
		{cleanCodex + "[permissions.p.filesystem]\n\"/etc\" = \"read\"\n\"~/.ssh\" = \"deny\"\n\":tmpdir\" = \"write\"\n\"/x/**/.env\" = \"none\"\n\"~/src/**\" = \"write\"\nglob_scan_max_depth = 3\n", ""},
		{cleanCodex + "[permissions.p.filesystem]\nsrc = \"read\"\n\"/~/x\" = \"deny\"\n\"/x/*.key\" = \"read\"\n\"/y\" = \"rw\"\n\"/z\" = true\n", "X716 X716 X716 X716 X716"},
		{cleanCodex + "[permissions.p.filesystem.\":workspace_roots\"]\n\".\" = \"write\"\n\"**/.env\" = \"deny\"\n", ""},
		{cleanCodex + "[permissions.p.filesystem.\":workspace_roots\"]\n\"*.go\" = \"write\"\n", "X716"},
		// Syntax.
		{"a = 1\na = 2\n", "P002"},
		{"a = \n", "P002"},
		{"[a]\n[a]\n", "P002"},
	}
	for _, tt := range tests {
		if got := strings.Join(ids(lintCodex(t, tt.config, cleanRules)), " "); got != tt.want {
			t.Errorf("%s\n%q, want %q", tt.config, got, tt.want)
		}
	}
}

func TestCodexRules(t *testing.T) {
	without := func(parts ...string) string {
		var out []string
		for _, line := range strings.Split(cleanRules, "\n") {
			keep := true
			for _, p := range parts {
				keep = keep && !strings.Contains(line, p)
			}
			if keep {
				out = append(out, line)
			}
		}
		return strings.Join(out, "\n")
	}
	tests := []struct{ rules, want string }{
		{``, "X704"},
		{"# nothing\n", "X704"},
		{`host_executable(name = "git", paths = ["/usr/bin/git"])`, "X704"},
		{without(`"push", "pull"`), "X705"},
		{without(`"gh", "pr", [`), "X706"},
		{without(`"gh", "issue", [`), "X707"},
		{without(`"api"`), "X708"},
		{without(`"auth"`), "X709"},
		{strings.Replace(cleanRules, "forbidden", "prompt", 1), "X709"},
		{without(`"view"`), "X710"},
		{cleanRules + `prefix_rule(["gh", "label", "create"])`, "X711"},
		{cleanRules + `prefix_rule(["gh", "run", "view"])`, ""},
		{cleanRules + `prefix_rule(["gh", "release", ["view", "delete-asset"]])`, "X711"},
		{cleanRules + `prefix_rule(["git", "log", "--merge"])`, ""},
		{cleanRules + `prefix_rule(["gh", "release", "download"])`, "X711 X712"},
		{cleanRules + `prefix_rule(["docker"])`, "X713"},
		{cleanRules + `prefix_rule(["/usr/bin/docker"])`, ""},
		{cleanRules + `prefix_rule([["curl", "wget"]], "allow")`, "X713"},
		{cleanRules + `prefix_rule(["git", "push", "--dry-run"], decision = "allow")`, "X717:warning"},
		{cleanRules + `prefix_rule(["git"], decision = "forbidden")`, "X717:warning"},
		{cleanRules + `prefix_rule(["git", "push"], decision = "prompt")`, ""},
		{cleanRules + `print("x")`, "X718:warning"},
		{cleanRules + `"""about"""`, ""},
		{cleanRules + `load("x.star", "y")`, "X704 X718"},
		{cleanRules + `frobnicate(1)`, "X704 X718:warning X718"},
		{cleanRules + `prefix_rule(pattern = [])`, "X704 X718"},
		{cleanRules + `prefix_rule(pattern = ["a"], decision = "maybe")`, "X704 X718"},
		{cleanRules + `prefix_rule(pattern = "git push")`, "X704 X718"},
		{cleanRules + `prefix_rule(pattern = [1])`, "X704 X718"},
		{cleanRules + `prefix_rule(pattern = ["a"`, "X704 X718"},
		{cleanRules + `prefix_rule(["ls", "-l"], match = ["ls -l", ["ls", "-l", "x"]], not_match = ["ls", "ls x"])`, ""},
		{cleanRules + `prefix_rule(["ls", "-l"], match = ["ls x"])`, "X719"},
		{cleanRules + `prefix_rule(["ls", "-l"], not_match = ["ls -l 'a b'"])`, "X719"},
		{cleanRules + `prefix_rule(["git", "commit", "--amend"], decision = "prompt")`, "X720:warning"},
		{cleanRules + `prefix_rule(["rm", ["-rf", "-fr"]], decision = "forbidden")`, "X720:warning"},
		{cleanRules + `prefix_rule(["ls", "-l"], decision = "allow")`, ""},
		// Starlark, not text.
		{cleanRules + "words = [\"docker\"]\nprefix_rule(pattern = words + [\"ps\"], decision = \"allow\")\n", ""},
		{cleanRules + "gh = [\"gh\"]\ngh += [\"api\"]\nprefix_rule(pattern = gh, decision = \"prompt\")\n", ""},
		{without(`"push", "pull"`) + "P = \"push\"\n[prefix_rule(pattern = [\"git\", p], decision = \"prompt\") for p in [P, \"pull\"]]\n", ""},
		{without(`"push", "pull"`) + "for p in \"push pull\".split():\n    prefix_rule(pattern = [\"git\", p], decision = \"prompt\", justification = \") # ]\")\n", ""},
		{without(`"push", "pull"`) + "def ask(*words):\n    prefix_rule(pattern = list(words), decision = \"prompt\")\nask(\"git\", \"push\")\n", "X718:warning"},
		{cleanRules + "prefix_rule(pattern = [\"%s\" % \"docker\", \"r\" + \"un\"])\n", "X711 X713"},
	}
	for _, tt := range tests {
		if got := strings.Join(ids(lintCodex(t, cleanCodex, tt.rules)), " "); got != tt.want {
			t.Errorf("%s\n%q, want %q", tt.rules, got, tt.want)
		}
	}
}

func TestCodexReadsEveryRulesFile(t *testing.T) {
	cfg := testConfig(t)
	write(t, cfg, "c/config.toml", cleanCodex)
	half := strings.SplitAfter(cleanRules, "\n")
	write(t, cfg, "c/rules/b.rules", strings.Join(half[:3], ""))
	write(t, cfg, "c/rules/a.rules", strings.Join(half[3:], ""))
	write(t, cfg, "c/rules/notes.md", "prefix_rule(")
	r := Codex(cfg, "c")
	expectAll(t, r)
	if got := strings.Join(r.Files, " "); got != filepath.FromSlash("c/config.toml c/rules/a.rules c/rules/b.rules") {
		t.Errorf("files %q", got)
	}
	// A file that cannot be evaluated is empty; the others count.
	write(t, cfg, "c/rules/c.rules", "prefix_rule(pattern = [\"docker\"])\nnonsense(")
	expectAll(t, Codex(cfg, "c"), "X718")
	if err := os.Remove(filepath.Join(cfg.Dir, "c/config.toml")); err != nil {
		t.Fatal(err)
	}
	r = Codex(cfg, "c")
	expectAll(t, r, "P001", "X718")
	if r.Exit(false) != ExitInput {
		t.Errorf("without config.toml: exit %d", r.Exit(false))
	}
	write(t, cfg, "d/config.toml", cleanCodex)
	expectAll(t, Codex(cfg, "d"), "X704")
}

func TestAnyHarness(t *testing.T) {
	cfg := testConfig(t)
	executable := func(name string) {
		write(t, cfg, name, "x")
		if err := os.Chmod(filepath.Join(cfg.Dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	executable("a/bin/agent-iso")
	expectAll(t, AnyHarness(cfg, "a"), "H802")
	write(t, cfg, "a/bin/agent-guard", "not executable")
	expectAll(t, AnyHarness(cfg, "a"), "H802")
	executable("a/bin/agent-guard")
	if got := strings.Join(ids(AnyHarness(cfg, "a")), " "); got != "H803:info" {
		t.Errorf("%q, want H803", got)
	}
	write(t, cfg, "b/tools/agent-isolation/agent-iso.sh", "x")
	write(t, cfg, "b/tools/agent-guard/src/agent_guard/__init__.py", "")
	if got := strings.Join(ids(AnyHarness(cfg, "b")), " "); got != "H803:info" {
		t.Errorf("%q, want H803", got)
	}
	if err := os.MkdirAll(filepath.Join(cfg.Dir, "c/bin/agent-iso"), 0o755); err != nil {
		t.Fatal(err)
	}
	expectAll(t, AnyHarness(cfg, "c"), "H801", "H802")
	if err := os.Symlink(filepath.Join(cfg.Dir, "a/bin"), filepath.Join(cfg.Dir, "c2")); err == nil {
		if err := os.MkdirAll(filepath.Join(cfg.Dir, "d"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(cfg.Dir, "c2"), filepath.Join(cfg.Dir, "d/bin")); err != nil {
			t.Fatal(err)
		}
		expectAll(t, AnyHarness(cfg, "d"))
	}
	if r := AnyHarness(cfg, "none"); r.Exit(false) != ExitInput {
		t.Errorf("a root that is not there: exit %d", r.Exit(false))
	}
	// The root is looked for upwards.
	write(t, cfg, "e/.sallyport/tools/agent-isolation/agent-iso", "x")
	write(t, cfg, "e/x/y/z", "")
	cfg.Dir = filepath.Join(cfg.Dir, "e/x/y")
	r := AnyHarness(cfg, "")
	if got := r.Files[0]; got != filepath.Join(cfg.Dir, "../../.sallyport") {
		t.Errorf("root %s", got)
	}
	expectAll(t, r, "H802")
}
