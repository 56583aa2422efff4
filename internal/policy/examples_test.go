package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ana is a bench whose compiled paths are those of a home that does not exist.
func ana(t testing.TB) *bench {
	b := newBench(t)
	b.home = "/h/ana"
	return b
}

const full5 = `"filesystem":{"denyRead":[],"denyWrite":[],"allowWrite":[]},"network":{"allowedDomains":[],"deniedDomains":[]}`

func TestClaudeBasic(t *testing.T) {
	b := ana(t)
	b.srt(`{"filesystem":{"denyRead":["~/.kube"],"denyWrite":["**/*.p12"],"allowWrite":[]},"network":{"allowedDomains":["modules.example.org"],"deniedDomains":["paste.example"]}}`)
	b.bash(`{"deny":["shutdown"],"ask":["terraform apply"]}`)
	got, warned := b.preview(Claude)
	same(t, "claude", got, `{
  "permissions": {
    "deny": [
      "Read(~/.kube)",
      "Read(~/.kube/**)",
      "Edit(~/.kube)",
      "Edit(~/.kube/**)",
      "Edit(**/*.p12)",
      "WebFetch(domain:paste.example)",
      "Bash(shutdown)",
      "Bash(shutdown *)"
    ],
    "ask": [
      "Bash(terraform apply)",
      "Bash(terraform apply *)"
    ],
    "allow": [
      "WebFetch(domain:modules.example.org)"
    ]
  },
  "sandbox": {
    "filesystem": {
      "allowWrite": [],
      "denyWrite": [],
      "denyRead": [
        "~/.kube"
      ]
    },
    "network": {
      "allowedDomains": [
        "modules.example.org"
      ],
      "deniedDomains": [
        "paste.example"
      ]
    }
  }
}
`)
	sameList(t, "warnings", warned, []string{"CLAUDE-LINUX-WRITEGLOB", "CLAUDE-RELATIVE"})
}

// rulesOf is permissions.deny of a compilation.
func rulesOf(t *testing.T, b *bench, change ...func(*Request)) (deny []string, content map[string]any) {
	t.Helper()
	text, _ := b.preview(Claude, change...)
	if err := json.Unmarshal([]byte(text), &content); err != nil {
		t.Fatal(err)
	}
	v, _ := dig(content, "permissions", "deny")
	return toStrings(v), content
}

func TestClaudeAbsolutePath(t *testing.T) {
	b := ana(t)
	b.srt(`{"filesystem":{"denyRead":["/srv/keys/"]}}`)
	deny, content := rulesOf(t, b)
	sameList(t, "deny", deny, []string{"Read(//srv/keys)", "Read(//srv/keys/**)", "Edit(//srv/keys)", "Edit(//srv/keys/**)"})
	v, _ := dig(content, "sandbox", "filesystem", "denyRead")
	sameList(t, "sandbox", toStrings(v), []string{"/srv/keys/"})
}

func TestClaudeFileOnDisk(t *testing.T) {
	b := newBench(t)
	b.write(b.path(".netrc"), "x")
	b.srt(`{"filesystem":{"denyRead":["~/.netrc"]}}`)
	deny, _ := rulesOf(t, b)
	sameList(t, "deny", deny, []string{"Read(~/.netrc)", "Edit(~/.netrc)"})
	deny, _ = rulesOf(t, b, noProbe)
	sameList(t, "deny without probing", deny, []string{"Read(~/.netrc)", "Read(~/.netrc/**)", "Edit(~/.netrc)", "Edit(~/.netrc/**)"})
}

func TestCarveOut(t *testing.T) {
	b := newBench(t)
	b.srt(`{"filesystem":{"denyRead":["~/"],"allowRead":["~/work"]}}`)
	deny, content := rulesOf(t, b)
	sameList(t, "deny", deny, nil)
	read, _ := dig(content, "sandbox", "filesystem", "denyRead")
	open, _ := dig(content, "sandbox", "filesystem", "allowRead")
	sameList(t, "denyRead", toStrings(read), []string{"~/"})
	sameList(t, "allowRead", toStrings(open), []string{"~/work"})
	if _, warned := b.preview(Claude); !slices.Contains(warned, "CLAUDE-CARVEOUT") {
		t.Errorf("warnings %v lack CLAUDE-CARVEOUT", warned)
	}
	res := Generate(b.request("", write))
	if res.Exit != 1 || res.Written || !slices.Equal(problemIDs(res.Problems), []string{"ABORT-CODEX-CARVEOUT"}) {
		t.Errorf("generate all -w: exit %d, written %t, %v", res.Exit, res.Written, res.Problems)
	}
	for _, dir := range []string{".claude", ".codex", ".local"} {
		if _, err := os.Lstat(b.path(dir)); err == nil {
			t.Errorf("%s was made by a run that aborted", dir)
		}
	}
	b.config("[codex]\non_carveout = \"skip\"\n")
	if _, warned := b.preview(Codex); !slices.Contains(warned, "CODEX-CARVEOUT") {
		t.Errorf("skip: warnings %v", warned)
	}
}

func TestDomainWithPort(t *testing.T) {
	b := ana(t)
	b.srt(`{"filesystem":{"denyRead":[],"denyWrite":[],"allowWrite":[]},"network":{"allowedDomains":["api.corp.example:8443"],"deniedDomains":[]}}`)
	text, warned := b.preview(Claude)
	if strings.Contains(text, "WebFetch") || !strings.Contains(text, `"api.corp.example:8443"`) {
		t.Errorf("claude:\n%s", text)
	}
	sameList(t, "claude warnings", warned, []string{"CLAUDE-DOMAIN-PORT"})
	text, warned = b.preview(Codex)
	if !strings.Contains(text, "enabled = false") || strings.Contains(text, "features") {
		t.Errorf("codex:\n%s", text)
	}
	sameList(t, "codex warnings", warned, []string{"CODEX-DOMAIN-PORT", "CODEX-REMINDER"})
	text, warned = b.preview(Copilot)
	same(t, "copilot", text, "")
	sameList(t, "copilot warnings", warned, []string{"COPILOT-DOMAIN-PORT"})
}

const codexFull = `default_permissions = "agent-policy"
approval_policy = "on-request"
approvals_reviewer = "user"
allow_login_shell = false

[features]
network_proxy = true

[permissions.agent-policy]
extends = ":workspace"

[permissions.agent-policy.filesystem]
"~/.kube" = "deny"
"~/.zshrc" = "read"

[permissions.agent-policy.filesystem.":workspace_roots"]
"**/.env" = "deny"
"docs" = "read"

[permissions.agent-policy.network]
enabled = true

[permissions.agent-policy.network.domains]
"*.pkg.example" = "allow"
"pkg.example" = "allow"
"ads.pkg.example" = "deny"

[permissions.agent-policy.network.unix_sockets]
"/h/ana/agent.sock" = "allow"
`

const codexFullSRT = `{"filesystem":{"denyRead":["~/.kube","**/.env"],"denyWrite":["~/.zshrc","docs/**"],"allowWrite":["~/src"]},"network":{"allowedDomains":["*.pkg.example","pkg.example"],"deniedDomains":["ads.pkg.example"],"allowUnixSockets":["~/agent.sock"],"allowLocalBinding":true}}`

func TestCodexFull(t *testing.T) {
	b := ana(t)
	b.srt(codexFullSRT)
	text, warned := b.preview(Codex)
	same(t, "codex", text, codexFull)
	sameList(t, "warnings", warned, []string{"CODEX-ALLOWWRITE", "CODEX-NOT-COMPILED", "CODEX-REMINDER"})
	text, _ = b.preview(Codex, yolo)
	same(t, "codex yolo", text, codexFull)
}

const codexOff = `default_permissions = "agent-policy"
approval_policy = "on-request"
approvals_reviewer = "user"
allow_login_shell = false

[permissions.agent-policy]
extends = ":workspace"

[permissions.agent-policy.network]
enabled = false

[permissions.agent-policy.network.domains]
`

func TestCodexNoDomains(t *testing.T) {
	b := ana(t)
	b.srt("{" + full5 + "}")
	text, warned := b.preview(Codex)
	same(t, "codex", text, codexOff)
	sameList(t, "warnings", warned, []string{"CODEX-REMINDER"})
}

func TestCodexMerge(t *testing.T) {
	b := newBench(t)
	b.srt("{" + full5 + "}")
	b.write(b.path(".codex/config.toml"), `# my codex
model = "gpt-x"   # keep
approval_policy = "never"

[mcp_servers.db]
env = { TOKEN = "s3cret" }
`)
	for _, show := range []string{printed(b.generate(Codex), false, (*Printer).Generate), printed(Diff(b.request(Codex)), true, (*Printer).Diff)} {
		if strings.Contains(show, "s3cret") {
			t.Errorf("shows a secret of the target:\n%s", show)
		}
	}
	b.generate(Codex, write)
	same(t, "merged", b.read(".codex/config.toml"), `# my codex
model = "gpt-x"   # keep
approval_policy = "on-request"
default_permissions = "agent-policy"
approvals_reviewer = "user"
allow_login_shell = false

[mcp_servers.db]
env = { TOKEN = "s3cret" }

[permissions.agent-policy]
extends = ":workspace"

[permissions.agent-policy.network]
enabled = false

[permissions.agent-policy.network.domains]
`)
	if res := b.generate(Codex, write); res.Outcomes[0].action != actUnchanged {
		t.Errorf("the second run: %s", res.Outcomes[0].action)
	}
}

func TestCodexLegacy(t *testing.T) {
	for _, text := range []string{"sandbox_mode = \"workspace-write\"\n", "[profiles.x]\nsandbox_mode = \"read-only\"\n"} {
		b := newBench(t)
		b.write(b.path(".codex/config.toml"), text)
		res := Generate(b.request(Codex, write))
		if res.Exit != 1 || !slices.Equal(problemIDs(res.Problems), []string{"ABORT-CODEX-LEGACY"}) {
			t.Errorf("%q: exit %d, %v", text, res.Exit, res.Problems)
		}
		same(t, "file", b.read(".codex/config.toml"), text)
		if res := Diff(b.request(Codex)); res.Exit != 2 {
			t.Errorf("diff of %q: exit %d", text, res.Exit)
		}
	}
}

func TestCodexRules(t *testing.T) {
	b := ana(t)
	b.config("[targets]\ncodex_rules = \"~/.codex/rules/agent-policy.rules\"\n")
	b.bash(`{"deny":["git push --force","systemctl"]}`)
	res := b.generate(Codex)
	same(t, "rules", res.Outcomes[0].product.rules, `# Generated by agent-policy from bash-rules. Edits are lost.
prefix_rule(
    pattern = ["git", "push", "--force"],
    decision = "forbidden",
    justification = "Denied by policy: git push --force",
    match = [["git", "push", "--force"]],
)
prefix_rule(
    pattern = ["systemctl"],
    decision = "forbidden",
    justification = "Denied by policy: systemctl",
    match = [["systemctl"]],
)
`)
	n := 0
	for _, w := range res.Warnings {
		if w.ID == "CODEX-PREFIX-ONLY" {
			n++
			if w.Pointer != "/deny/0" {
				t.Errorf("CODEX-PREFIX-ONLY at %s", w.Pointer)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d CODEX-PREFIX-ONLY, want 1", n)
	}
	b.config("")
	res = b.generate(Codex)
	if text := printed(res, true, (*Printer).Generate); strings.Contains(text, "rules") && strings.Contains(text, "prefix_rule") || slices.Contains(ids(res.Warnings), "CODEX-PREFIX-ONLY") {
		t.Errorf("rules without a target:\n%s", text)
	}
}

const copilotSRT = `{"filesystem":{"denyRead":["~/.ssh"],"denyWrite":["**/.env"],"allowWrite":["."]},"network":{"allowedDomains":["example.org"],"deniedDomains":["evil.example"]}}`

func TestCopilot(t *testing.T) {
	b := ana(t)
	b.srt(copilotSRT)
	b.bash(`{"deny":["sudo"],"ask":["git push"]}`)
	text, warned := b.preview(Copilot)
	same(t, "full", text, `--allow-tool 'shell' \
--allow-tool 'write' \
--deny-tool 'shell(sudo)' \
--deny-tool 'shell(git push)' \
--deny-tool 'write(/h/ana/.ssh)' \
--deny-tool 'write(.env)' \
--allow-url 'example.org' \
--deny-url 'evil.example' \
--deny-url 'http://evil.example' \
`)
	sameList(t, "warnings", warned, []string{"COPILOT-ALLOW-NEEDS-WRAPPER", "COPILOT-ASK-AS-DENY", "COPILOT-PATH-UNKNOWN", "COPILOT-READ-UNGUARDED"})
	text, warned = b.preview(Copilot, yolo)
	same(t, "yolo", text, `--yolo \
--deny-tool 'shell(sudo)' \
--deny-tool 'write(/h/ana/.ssh)' \
--deny-tool 'write(.env)' \
--deny-url 'evil.example' \
--deny-url 'http://evil.example' \
`)
	sameList(t, "yolo warnings", warned, []string{"COPILOT-PATH-UNKNOWN", "COPILOT-READ-UNGUARDED", "COPILOT-YOLO-NEEDS-WRAPPER"})
	b.config("[copilot]\nflag_style = \"legacy\"\n")
	text, _ = b.preview(Copilot)
	same(t, "legacy", text, `--allow-tool 'shell(*)' \
--allow-tool 'read' \
--allow-tool 'edit' \
--allow-tool 'write' \
--deny-tool 'shell(sudo)' \
--deny-tool 'shell(git push)' \
--allow-url 'example.org' \
--deny-url 'evil.example' \
`)
}

const mergeTarget = `{"permissions":{"allow":["Read","WebFetch(domain:old.example)","Bash(make:*)"],"deny":["Bash(x)"],"defaultMode":"plan"},"hooks":{}}`

func TestClaudeMerge(t *testing.T) {
	b := newBench(t)
	b.srt(`{"filesystem":{"denyRead":["~/.kube"],"denyWrite":["**/*.p12"],"allowWrite":[]},"network":{"allowedDomains":["modules.example.org"],"deniedDomains":["paste.example"]}}`)
	b.bash(`{"deny":["shutdown"],"ask":["terraform apply"]}`)
	b.write(b.path(".claude/settings.full.json"), mergeTarget)
	b.generate(Claude, write)
	got := b.read(".claude/settings.full.json")
	var doc map[string]any
	if err := json.Unmarshal([]byte(got), &doc); err != nil {
		t.Fatal(err)
	}
	allow, _ := dig(doc, "permissions", "allow")
	sameList(t, "allow", toStrings(allow), []string{"Read", "Bash(make:*)", "WebFetch(domain:modules.example.org)"})
	deny, _ := dig(doc, "permissions", "deny")
	sameList(t, "deny", toStrings(deny), []string{"Read(~/.kube)", "Read(~/.kube/**)", "Edit(~/.kube)", "Edit(~/.kube/**)", "Edit(**/*.p12)", "WebFetch(domain:paste.example)", "Bash(shutdown)", "Bash(shutdown *)"})
	ask, _ := dig(doc, "permissions", "ask")
	sameList(t, "ask", toStrings(ask), []string{"Bash(terraform apply)", "Bash(terraform apply *)"})
	for _, part := range []string{`"defaultMode":"plan"`, `"hooks":{}`} {
		if !strings.Contains(got, part) {
			t.Errorf("%s is not as it was in\n%s", part, got)
		}
	}
	link, err := os.Readlink(b.path(".claude/settings.json"))
	if err != nil || link != "settings.full.json" {
		t.Errorf("anchor %q, %v", link, err)
	}

	// The yolo mode.
	withAsk := strings.Replace(mergeTarget, `"deny":`, `"ask":["Bash(y)"],"deny":`, 1)
	b.write(b.path(".claude/settings.yolo.json"), withAsk)
	b.generate(Claude, write, yolo)
	if got := b.read(".claude/settings.yolo.json"); strings.Contains(got, `"ask"`) || !strings.Contains(got, `"hooks":{}`) {
		t.Errorf("yolo:\n%s", got)
	}
	if link, _ := os.Readlink(b.path(".claude/settings.json")); link != "settings.yolo.json" {
		t.Errorf("anchor %q", link)
	}
}

func TestStale(t *testing.T) {
	b := newBench(t)
	b.srt("{" + full5 + "}")
	b.generate(Claude, write)
	before := b.read(".claude/settings.full.json")
	with := strings.Replace(before, "\"network\": {\n", "\"network\": {\n      \"allowLocalBinding\": true,\n", 1)
	b.write(b.path(".claude/settings.full.json"), with)
	res := Diff(b.request(Claude))
	sameList(t, "diff", findings(res), []string{"stale sandbox.network.allowLocalBinding true"})
	if res.Exit != 1 {
		t.Errorf("exit %d", res.Exit)
	}
	b.generate(Claude, write)
	same(t, "without --prune", b.read(".claude/settings.full.json"), with)
	b.generate(Claude, write, prune)
	same(t, "with --prune", b.read(".claude/settings.full.json"), before)
}

func TestMalformedPath(t *testing.T) {
	b := newBench(t)
	b.srt(`{"filesystem":{"denyRead":["/~/.ssh"]}}`)
	for _, a := range append(Agents(), "") {
		res := Generate(b.request(a, write))
		if res.Exit != 1 || len(res.Problems) != 1 || res.Problems[0].ID != "ABORT-MALFORMED-PATH" || !strings.Contains(res.Problems[0].Message, "~/.ssh?") {
			t.Errorf("generate %s: exit %d, %v", a, res.Exit, res.Problems)
		}
		if res := Diff(b.request(a)); res.Exit != 2 {
			t.Errorf("diff %s: exit %d", a, res.Exit)
		}
	}
}

func TestOverride(t *testing.T) {
	b := newBench(t)
	b.srt(`{"enabled":false,` + full5 + `}`)
	b.config("[sandbox_overrides.yolo]\nenabled = true\nallowUnsandboxedCommands = false\n")
	_, content := rulesOf(t, b, yolo)
	on, _ := dig(content, "sandbox", "enabled")
	bypass, _ := dig(content, "sandbox", "allowUnsandboxedCommands")
	if on != true || bypass != false {
		t.Errorf("yolo: enabled %v, allowUnsandboxedCommands %v", on, bypass)
	}
	text, warned := b.preview(Claude)
	if !strings.Contains(text, `"enabled": false`) || strings.Contains(text, "allowUnsandboxed") || !slices.Contains(warned, "SRT-DISABLED") {
		t.Errorf("full: %v\n%s", warned, text)
	}
	res := Generate(b.request(Codex))
	sameList(t, "codex", problemIDs(res.Problems), []string{"ABORT-SRT-DISABLED"})
}

func TestSamePathSpelledTwice(t *testing.T) {
	b := ana(t)
	b.srt(`{"filesystem":{"denyRead":["~/.aws","~/.aws/","/h/ana/.aws/**"]}}`)
	deny, _ := rulesOf(t, b)
	sameList(t, "deny", deny, []string{"Read(~/.aws)", "Read(~/.aws/**)", "Edit(~/.aws)", "Edit(~/.aws/**)"})
	text, _ := b.preview(Codex)
	if n := strings.Count(text, ".aws"); n != 1 {
		t.Errorf("codex names it %d times:\n%s", n, text)
	}
}

func TestYoloName(t *testing.T) {
	for name, want := range map[string]string{
		"settings.full.json": "settings.yolo.json", "settings.json": "settings.yolo.json",
		"flags.txt": "flags.yolo.txt", "config": "config.yolo", ".rc.json": ".rc.yolo.json", ".rc": ".rc.yolo", "a": "a.yolo",
	} {
		if got := yoloName(name); got != want {
			t.Errorf("yoloName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestAnchor(t *testing.T) {
	tests := []struct {
		name    string
		setup   func(b *bench)
		problem string
		after   func(t *testing.T, b *bench)
	}{
		{"absent", func(b *bench) {}, "", nil},
		{"link to elsewhere", func(b *bench) {
			b.write(b.path(".claude/other.json"), `{"hooks":{"Stop":[]}}`)
			os.Symlink("other.json", b.path(".claude/settings.json"))
		}, "", func(t *testing.T, b *bench) {
			if !strings.Contains(b.read(".claude/settings.full.json"), `"hooks":{"Stop":[]}`) {
				t.Errorf("hooks were lost:\n%s", b.read(".claude/settings.full.json"))
			}
			same(t, "other", b.read(".claude/other.json"), `{"hooks":{"Stop":[]}}`)
		}},
		{"dangling", func(b *bench) {
			b.write(b.path(".claude/x"), "")
			os.Symlink("nothing.json", b.path(".claude/settings.json"))
		}, "", nil},
		{"file moves", func(b *bench) { b.write(b.path(".claude/settings.json"), `{"env":{"A":"b"}}`) }, "", func(t *testing.T, b *bench) {
			if !strings.Contains(b.read(".claude/settings.full.json"), `"env":{"A":"b"}`) {
				t.Errorf("env was lost:\n%s", b.read(".claude/settings.full.json"))
			}
			if len(backupsOf(b.path(".claude/settings.json"))) != 1 {
				t.Error("no backup")
			}
		}},
		{"two files", func(b *bench) {
			b.write(b.path(".claude/settings.json"), `{}`)
			b.write(b.path(".claude/settings.full.json"), `{}`)
		}, "ABORT-ANCHOR", func(t *testing.T, b *bench) {
			same(t, "settings.json", b.read(".claude/settings.json"), `{}`)
			same(t, "settings.full.json", b.read(".claude/settings.full.json"), `{}`)
		}},
		{"directory", func(b *bench) { os.MkdirAll(b.path(".claude/settings.json"), 0o700) }, "ABORT-ANCHOR", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			tt.setup(b)
			res := Generate(b.request(Claude, write))
			if tt.problem != "" {
				sameList(t, "problems", problemIDs(res.Problems), []string{tt.problem})
			} else if res.Exit != 0 {
				t.Fatal(res.Problems)
			} else {
				if link, _ := os.Readlink(b.path(".claude/settings.json")); link != "settings.full.json" {
					t.Errorf("anchor leads to %q", link)
				}
				if d := Diff(b.request(Claude)); d.Exit != 0 {
					t.Errorf("diff: exit %d, %v %v", d.Exit, findings(d), d.Problems)
				}
			}
			if tt.after != nil {
				tt.after(t, b)
			}
		})
	}
}

func TestTargetThroughLink(t *testing.T) {
	b := newBench(t)
	b.write(b.path("dotfiles/claude.json"), "{}\n")
	if err := os.MkdirAll(b.path(".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(b.path("dotfiles/claude.json"), b.path(".claude/settings.full.json")); err != nil {
		t.Skip(err)
	}
	b.generate(Claude, write)
	if to, err := os.Readlink(b.path(".claude/settings.full.json")); err != nil || to != b.path("dotfiles/claude.json") {
		t.Errorf("the link is %q, %v", to, err)
	}
	if !strings.Contains(b.read("dotfiles/claude.json"), "allowedDomains") {
		t.Error("the file behind the link was not written")
	}
	entries, _ := os.ReadDir(filepath.Join(b.home, "dotfiles"))
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}
