package selftest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sallyport/settings"
)

// Two definitions and what Codex 0.171.0 (app-server, hooks/list) says of them.
func TestCodexHash(t *testing.T) {
	match := "^(Bash|apply_patch)$"
	for entry, want := range map[string]string{
		`{"type":"command","command":"~/.claude/scripts/agent-guard --harness codex","timeout":30}`:                                                                                                                       "sha256:1e164f4a9cf85f5d80515dcd0056b7d4ccd60bc34ece2069cfde4c9834399cb3",
		`{"timeout":30,"type":"command","command":"~/.claude/scripts/agent-guard --harness codex || { s=$?; [ $s = 2 ] || echo \"agent-guard could not check this call (status $s), so it was not run\" >&2; exit 2; }"}`: "sha256:a52bfeb41fa8979bddb4163f58e217d03940be0adb2542a97c0a9869249e56a5",
	} {
		doc, err := settings.ParseDocument([]byte(entry))
		if err != nil {
			t.Fatal(err)
		}
		if got := codexHash(&match, doc.Root()); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", entry, got, want)
		}
	}
}

// A repository's command is started only if it can do nothing else.
func TestOurs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the rows are for a POSIX shell")
	}
	home := t.TempDir()
	dir := filepath.Join(home, "bin")
	self := filepath.Join(dir, "agent-guard")
	other := filepath.Join(home, "other", "agent-guard")
	for _, f := range []string{self, other} {
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	getenv := func(name string) string { return map[string]string{"PATH": dir, "HOME": home}[name] }
	direct := func(command string, args ...string) Hook { return Hook{Command: command, Args: args, Direct: true} }
	shell := func(command string) Hook { return Hook{Command: command} }
	for _, c := range []struct {
		hook Hook
		want bool
	}{
		{shell("agent-guard"), true},
		{shell("agent-guard --harness codex --unattended"), true},
		{shell("~/bin/agent-guard --kiro"), true},
		{shell("$HOME/bin/agent-guard"), true},
		{shell(self), true},
		{direct(self), true},
		{direct(self, "--harness", "claude"), true},
		{direct("agent-guard"), true},
		{shell(other), false},
		{shell("./agent-guard"), false},
		{shell("bin/agent-guard"), false},
		{shell("agent-guard; true"), false},
		{shell("agent-guard ;true"), false},
		{shell("agent-guard --kiro;true"), false},
		{shell("agent-guard --kiro\ntrue"), false},
		{shell("agent-guard\n--kiro"), false},
		{shell("agent-guard $(true)"), false},
		{shell("agent-guard > x"), false},
		{shell("X=1 agent-guard"), false},
		{shell("agent-guard --exec true"), false},
		{shell("agent-guard --check true"), false},
		{shell("agent-guard selftest"), false},
		{shell("agent-guard --harness"), false},
		{shell("agent-guard --harness none"), false},
		{shell("'agent-guard'"), false},
		{shell("sh -c agent-guard"), false},
		{shell("$HOME/bin/$X/agent-guard"), false},
		{shell(" "), false},
		{direct("~/bin/agent-guard"), false}, // no shell expands it
		{direct(self, "--exec", "true"), false},
		{direct("sh", "-c", self), false},
	} {
		if got := c.hook.ours(self, home, getenv); got != c.want {
			t.Errorf("%q %q: %v, want %v", c.hook.Command, c.hook.Args, got, c.want)
		}
	}
}

// Whatever stands in the files, a look at them ends, and says what it could not read.
func TestFindHostile(t *testing.T) {
	deepJSON := strings.Repeat(`{"hooks":[`, 100_000)
	for name, text := range map[string]string{
		"empty": "", "null": "null", "list": "[]", "text": `"x"`, "deep": deepJSON, "NUL": "\x00",
		"wrong types": `{"hooks":{"PreToolUse":{"a":1},"BeforeTool":[1,null,{"hooks":3},{"hooks":[{"command":{}}]}],"preToolUse":"x","beforeShellExecution":[[]]}}`,
		"wrong hooks": `{"hooks":[1,{"trigger":2},{"trigger":"PreToolUse","action":[]}],"hooksConfig":[],"disableAllHooks":"true"}`,
	} {
		home := t.TempDir()
		for _, place := range []string{
			".claude/settings.json", ".codex/hooks.json", ".codex/config.toml", ".gemini/settings.json", ".qwen/settings.json",
			".copilot/hooks/x.json", ".copilot/settings.json", ".cursor/hooks.json", ".kiro/agents/x.json", ".kiro/hooks/x.json",
		} {
			file := filepath.Join(home, filepath.FromSlash(place))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			content := text
			if place == ".codex/config.toml" && name == "deep" {
				content = "a = " + strings.Repeat("[", 3_000_000)
			}
			if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		getenv := func(n string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[n] }
		for _, harness := range []string{"claude", "codex", "gemini", "qwen", "copilot", "cursor", "kiro"} {
			w := find(harness, filepath.Join(home, "project"), getenv)
			if len(w.hooks) > 0 {
				t.Errorf("%s, %s: hooks %+v", name, harness, w.hooks)
			}
			if broken := name == "deep" || name == "NUL"; broken && len(w.problems) == 0 {
				t.Errorf("%s, %s: no problem named", name, harness)
			}
		}
	}
}
