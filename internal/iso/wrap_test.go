//go:build linux

package iso

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wrapped is the policy for a start of name, as lines "path access".
func wrapped(t *testing.T, w *world, name string, config WrapConfig) (lines []string, pol policy) {
	t.Helper()
	p, err := Prepare(w.Process, Request{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	pol, err = p.policy(w.Process, config)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(w.home)
	for _, r := range pol.rules {
		lines = append(lines, strings.TrimPrefix(r.path, dir+"/")+" "+[]string{"denied", "read", "write"}[r.access])
	}
	return lines, pol
}

func TestPolicy(t *testing.T) {
	old := temporary
	temporary = nil
	t.Cleanup(func() { temporary = old })
	no := false
	tests := []struct {
		about   string
		user    string // ~/.claude/settings.json
		project string
		cli     string
		config  WrapConfig
		want    []string
		network bool
	}{
		{about: "nothing configured", cli: "mystery", network: true, want: []string{"work write"}},
		{about: "the CLI's own state", cli: "claude", network: true, want: []string{"work write", "home/.claude write"}},
		{about: "a path that may be written", user: `{"sandbox":{"filesystem":{"allowWrite":["~/cache"]}}}`, cli: "mystery", network: true, want: []string{"work write", "home/cache write"}},
		{about: "a path that may not be read", user: `{"sandbox":{"filesystem":{"denyRead":["~/secret"]}}}`, cli: "mystery", network: true, want: []string{"work write", "home/secret denied"}},
		{about: "a path that may be read after all", user: `{"sandbox":{"filesystem":{"denyRead":["~/"],"allowRead":["~/cache"]}}}`, cli: "claude", network: true,
			want: []string{"home denied", "work write", "home/.claude write", "home/cache read"}},
		{about: "writing does not open what may not be read", user: `{"sandbox":{"filesystem":{"denyRead":["~/"],"allowWrite":["~/cache"]}}}`, cli: "mystery", network: true, want: []string{"home denied", "work write"}},
		{about: "a path in the project", project: `{"sandbox":{"filesystem":{"denyRead":["sub/.env"],"denyWrite":["sub"]}}}`, cli: "mystery", network: true, want: []string{"work write", "work/sub read", "work/sub/.env denied"}},
		{about: "a pattern", project: `{"sandbox":{"filesystem":{"denyRead":["sub/.e*"]}}}`, cli: "mystery", network: true, want: []string{"work write", "work/sub/.env denied"}},
		{about: "a credential file", user: `{"sandbox":{"credentials":{"files":[{"path":"~/secret","mode":"deny"}]}}}`, cli: "mystery", network: true, want: []string{"work write", "home/secret denied"}},
		{about: "a link is followed", user: `{"sandbox":{"filesystem":{"denyRead":["~/link"]}}}`, cli: "mystery", network: true, want: []string{"work write", "home/secret denied"}},
		{about: "the configuration adds", cli: "mystery", config: WrapConfig{AllowWrite: []string{"~/cache"}, DenyRead: []string{"~/secret"}, Network: &no}, want: []string{"work write", "home/cache write", "home/secret denied"}},
		{about: "a network that nothing may be reached in", user: `{"sandbox":{"network":{"strictAllowlist":true}}}`, cli: "mystery", want: []string{"work write"}},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			w := newWorld(t)
			w.write(t, "~/secret/key", "k")
			w.write(t, "~/cache/x", "")
			w.write(t, "sub/.env", "")
			if err := os.Symlink(w.home+"/secret", w.home+"/link"); err != nil {
				t.Fatal(err)
			}
			w.write(t, "~/.claude/settings.json", tt.user+strings.Repeat("{}", 1-min(1, len(tt.user))))
			if tt.project != "" {
				w.write(t, ".claude/settings.json", tt.project)
			}
			got, pol := wrapped(t, w, tt.cli, tt.config)
			if !slices.Equal(got, tt.want) {
				t.Errorf("rules %q\nwant  %q", got, tt.want)
			}
			if pol.network != tt.network {
				t.Errorf("network %v, want %v", pol.network, tt.network)
			}
		})
	}
}

func TestPolicyOfALinkedWorktree(t *testing.T) {
	old := temporary
	temporary = nil
	t.Cleanup(func() { temporary = old })
	w := newWorld(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = w.work, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "main")
	git("-C", "main", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
	git("-C", "main", "worktree", "add", "-q", "../tree")
	w.WorkDir = w.work + "/tree"
	got, _ := wrapped(t, w, "mystery", WrapConfig{})
	for _, want := range []string{"work/tree write", "work/main/.git write", "work/main/.git/config read", "work/main/.git/hooks read"} {
		if !slices.Contains(got, want) {
			t.Errorf("rules %q lack %q", got, want)
		}
	}
	if slices.Contains(got, "work/main write") {
		t.Errorf("rules %q open the main checkout", got)
	}
}

func TestWrapRefuses(t *testing.T) {
	w := newWorld(t)
	for tool, id := range map[string]string{"bwrap": "E-PREREQ", "srt": "E-PREREQ", "jail": "E-USAGE"} {
		_ = os.Remove(w.bin + "/" + tool)
		_, err := Prepare(w.Process, Request{Name: "claude", Wrap: tool})
		if refusal(err) != id || !strings.Contains(err.Error(), tool) {
			t.Errorf("--wrap %s without it: %v, want %s", tool, err, id)
		}
	}
	w = newWorld(t)
	for _, dir := range []string{w.home, filepath.Dir(w.home), "/"} {
		w.WorkDir = dir
		if _, err := Prepare(w.Process, Request{Name: "claude", Wrap: "bwrap"}); refusal(err) != "E-CONFLICT" || !strings.Contains(err.Error(), dir) {
			t.Errorf("--wrap in %s: %v, want E-CONFLICT", dir, err)
		}
	}
}

// The client's own sandbox has to start inside the outer one.
func TestWrapClaudeNested(t *testing.T) {
	w := newWorld(t)
	p, err := Prepare(w.Process, Request{Name: "claude", Args: []string{"--settings", `{"model":"x"}`}, Wrap: "bwrap"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"--", w.bin + "/claude", "--settings", `{"model":"x","sandbox":{"enableWeakerNestedSandbox":true}}`}; !slices.Equal(p.Argv[len(p.Argv)-4:], want) {
		t.Errorf("arguments end in %q, want %q", p.Argv[len(p.Argv)-4:], want)
	}
}

func TestWrapSRT(t *testing.T) {
	w := newWorld(t)
	w.write(t, "~/.claude/settings.json", `{"sandbox":{"filesystem":{"denyRead":["~/secret"]},"network":{"allowedDomains":["example.com"],"deniedDomains":["bad.example"]}}}`)
	w.write(t, "~/secret", "")
	p, err := Prepare(w.Process, Request{Name: "claude", Args: []string{"a b", ""}, Wrap: "srt"})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Argv) != 7 || p.Argv[0] != "srt" || p.Argv[1] != "--settings" || p.Argv[3] != "--" || p.Argv[4] != w.bin+"/claude" || p.Argv[5] != "a b" || p.Argv[6] != "" {
		t.Fatalf("arguments %q", p.Argv)
	}
	data, err := os.ReadFile(p.Argv[2])
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Network    struct{ AllowedDomains, DeniedDomains []string }
		Filesystem struct{ DenyRead, AllowRead, AllowWrite, DenyWrite []string }
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(file.Network.AllowedDomains, "example.com") || !slices.Contains(file.Network.AllowedDomains, "api.anthropic.com") || !slices.Contains(file.Network.DeniedDomains, "bad.example") ||
		!slices.Contains(file.Filesystem.DenyRead, w.home+"/secret") || !slices.Contains(file.Filesystem.AllowWrite, w.work) || file.Filesystem.DenyWrite == nil {
		t.Errorf("policy %s", data)
	}
}

// The real tool, if it works here.
func TestWrapBubblewrap(t *testing.T) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil || exec.Command(bwrap, "--ro-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "true").Run() != nil {
		t.Skip("bubblewrap does not work here")
	}
	old := temporary
	temporary = nil
	t.Cleanup(func() { temporary = old })
	w := newWorld(t)
	w.Environ[1] = "PATH=" + filepath.Dir(bwrap) + ":/usr/bin:/bin"
	w.write(t, "~/secret/key", "SECRET")
	w.write(t, "~/open/file", "OPEN")
	w.write(t, ".env", "ENV")
	w.write(t, "~/.claude/settings.json", `{"sandbox":{"filesystem":{"denyRead":["~/"],"allowRead":["~/open"]}}}`)
	w.write(t, ".claude/settings.json", `{"sandbox":{"filesystem":{"denyRead":[".env"]}}}`)
	p, err := Prepare(w.Process, Request{Name: "sh", Args: []string{"-c", `
cat ~/secret/key; cat .env; cat ~/open/file
for f in "$PWD/new" ~/open/new ~/new /usr/new; do if echo x 2>/dev/null > "$f"; then echo "wrote $f"; else echo "kept $f"; fi; done
echo "[$1][$2]"; exit 7`, "sh", "", "a  b"}, Wrap: "bwrap"})
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: p.Path, Args: p.Argv, Env: p.Environment.Vars, Dir: w.work}
	out, err := cmd.Output()
	want := "OPEN" + "wrote " + w.work + "/new\nkept " + w.home + "/open/new\nkept " + w.home + "/new\nkept /usr/new\n[][a  b]\n"
	if string(out) != want || cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("exit %d, %v\n got %q\nwant %q", cmd.ProcessState.ExitCode(), err, out, want)
	}
}
