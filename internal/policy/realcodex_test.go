package policy

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "record the versions of real clients in docs/policy.md")

// TestRealCodex compiles a policy and asks the real CLI what it makes of it. It
// runs where scripts/check-policy-codex has installed one.
func TestRealCodex(t *testing.T) {
	clients := os.Getenv("SALLYPORT_CLIENTS")
	if clients == "" {
		t.Skip("SALLYPORT_CLIENTS is not set; see scripts/check-policy-codex")
	}
	codex := filepath.Join(clients, "node_modules", ".bin", "codex")
	// Codex refuses a home below the temporary directory, where its own helper
	// would not be safe.
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp(cache, "check-policy-codex-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)

	b := newBench(t)
	b.home, b.dir = home, filepath.Join(home, ".config", "sallyport")
	b.config("[targets]\ncodex_rules = \"~/.codex/rules/agent-policy.rules\"\n")
	b.srt(`{"filesystem":{"denyRead":["~/.kube","**/.env","~/sp ace","secret/"],"denyWrite":["~/.zshrc","docs/**","*.lock"],"allowWrite":[]},"network":{"allowedDomains":["*.pkg.example","pkg.example"],"deniedDomains":["ads.pkg.example"],"allowUnixSockets":["~/agent.sock"]}}`)
	b.bash(`{"deny":["git push --force","systemctl","say \"hi there\"","back\\\\slash"]}`)
	for _, f := range []string{".kube/config", "sp ace/f", ".zshrc", "work/.env", "work/sub/.env", "work/secret/s", "work/docs/d", "work/a.lock", "work/free"} {
		b.write(b.path(f), "content\n")
	}
	b.write(b.path(".codex/config.toml"), "# mine\nmodel = \"gpt-x\" # keep\n\n[tui]\nnotifications = false\n")
	b.generate(Codex, write)

	run := func(args ...string) (string, error) {
		cmd := exec.Command(codex, args...)
		cmd.Dir = b.path("work")
		cmd.Env = append(os.Environ(), "HOME="+home, "CODEX_HOME="+b.path(".codex"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run("--version")
	version := regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+`).FindString(out)
	if err != nil || version == "" {
		t.Fatalf("codex --version: %v\n%s", err, out)
	}
	for _, tt := range []struct {
		script string
		ok     bool
	}{
		{"cat free", true}, {"echo x > new", true}, {"cat docs/d", true}, {"cat ../.zshrc", true},
		{"cat ../.kube/config", false}, {"cat .env", false}, {"cat sub/.env", false}, {"cat '../sp ace/f'", false}, {"cat secret/s", false}, {"cat a.lock", false},
		{"echo x > docs/d", false}, {"echo x >> ../.zshrc", false}, {"echo x > ../.kube/new", false},
		{"exec 3<>/dev/tcp/192.0.2.1/80", false},
	} {
		shell := "sh"
		if strings.Contains(tt.script, "/dev/tcp") {
			shell = "bash"
		}
		out, err := run("sandbox", "--", shell, "-c", tt.script)
		if (err == nil) != tt.ok {
			t.Errorf("codex sandbox -- %s -c %q: %v, want success %t\n%s", shell, tt.script, err, tt.ok, out)
		}
	}
	rules := b.path(".codex/rules/agent-policy.rules")
	for _, tt := range []struct {
		words  []string
		denied bool
	}{
		{[]string{"git", "push", "--force", "origin"}, true}, {[]string{"systemctl", "stop", "x"}, true}, {[]string{"say", "hi there"}, true}, {[]string{`back\slash`}, true},
		{[]string{"git", "push"}, false}, {[]string{"git", "push", "origin", "--force"}, false}, {[]string{"say", "hi"}, false},
	} {
		out, err := run(append([]string{"execpolicy", "check", "--rules", rules}, tt.words...)...)
		if err != nil || strings.Contains(out, `"decision":"forbidden"`) != tt.denied {
			t.Errorf("codex execpolicy check %q: %v, want denied %t\n%s", tt.words, err, tt.denied, out)
		}
	}
	if t.Failed() || !*update {
		return
	}
	doc := filepath.Join("..", "..", "docs", "policy.md")
	text := readText(t, doc)
	line := regexp.MustCompile(`(?m)^Checked with codex-cli .*$`)
	if err := os.WriteFile(doc, []byte(line.ReplaceAllString(text, "Checked with codex-cli "+version+" (scripts/check-policy-codex).")), 0o644); err != nil {
		t.Fatal(err)
	}
}
