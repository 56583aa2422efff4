//go:build !windows

package repostate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sallyport/guards"
)

// repository makes a repository with one commit and returns its world.
func repository(t *testing.T) (*World, string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com"}
	repo := filepath.Join(dir, "repo")
	sh(t, env, dir, "git init -q repo && cd repo && echo one > a.txt && git add a.txt && git commit -qm first")
	return New(env, t.Logf), repo
}

func sh(t *testing.T, env []string, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}

func TestGitAnswersAndRemembers(t *testing.T) {
	w, repo := repository(t)
	at := guards.Place{Dir: repo}
	if out, ok := w.Git(at, "rev-parse", "--abbrev-ref", "HEAD"); !ok || strings.TrimSpace(out) == "" {
		t.Fatalf("got %q %v, want a branch", out, ok)
	}
	sh(t, w.environ, repo, "git checkout -q -b other")
	first, _ := w.Git(at, "rev-parse", "--abbrev-ref", "HEAD")
	if strings.TrimSpace(first) == "other" {
		t.Error("the answer changed within one run")
	}
	if out, ok := New(w.environ, nil).Git(at, "rev-parse", "--abbrev-ref", "HEAD"); !ok || strings.TrimSpace(out) != "other" {
		t.Errorf("a new world got %q %v, want other", out, ok)
	}
	if _, ok := w.Git(guards.Place{Dir: repo, Unknown: true}, "status"); ok {
		t.Error("an unknown place has an answer")
	}
	if _, ok := w.Git(guards.Place{Dir: `C:\Users\dev\repo`}, "status"); ok {
		t.Error("a directory that does not exist has an answer")
	}
	if out, ok := w.Git(guards.Place{Dir: "/", GitDir: repo + "/.git"}, "rev-parse", "--verify", "other"); !ok {
		t.Errorf("GIT_DIR does not lead to the repository: %q", out)
	}
}

// TestHostileConfiguration puts programs wherever a repository's configuration
// can name one that a query might start.
func TestHostileConfiguration(t *testing.T) {
	w, repo := repository(t)
	mark := filepath.Join(filepath.Dir(repo), "started")
	bad := "touch " + mark + "; false"
	script := filepath.Join(repo, ".git", "bad")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"+bad+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"git config core.fsmonitor " + script, "git config core.pager " + script, "git config diff.external " + script,
		"git config filter.evil.clean " + script, "git config filter.evil.process " + script, "git config filter.evil.required true",
		"git config core.sshCommand " + script, "git config core.askpass " + script, "git config gpg.program " + script,
		"git config log.showSignature true", "git config alias.status '!" + script + "'", "git config diff.evil.textconv " + script,
		"git config core.editor " + script, "git config credential.helper '!" + script + "'", "git config uploadpack.packObjectsHook " + script,
		"echo '* filter=evil diff=evil' > .gitattributes", "echo two >> a.txt",
		"for h in post-index-change reference-transaction post-checkout pre-commit; do cp .git/bad .git/hooks/$h; done",
	} {
		sh(t, w.environ, repo, line)
	}
	os.Remove(mark)
	index := filepath.Join(repo, ".git", "index")
	before, err := os.Stat(index)
	if err != nil {
		t.Fatal(err)
	}
	at := guards.Place{Dir: repo}
	for _, args := range [][]string{
		{"status", "--porcelain", "-z", "--untracked-files=no"}, {"diff-files", "--name-only", "-z"}, {"diff-index", "--name-only", "-z", "HEAD"},
		{"clean", "-n", "-d"}, {"log", "-1", "--format=%B"}, {"stash", "list"}, {"rev-list", "--count", "HEAD"},
		{"for-each-ref", "refs/heads/"}, {"config", "--get", "core.pager"}, {"rev-parse", "--verify", "HEAD^{commit}"}, {"show-ref", "--verify", "refs/heads/x"},
	} {
		w.Git(at, args...)
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("git %v started a program of the repository's configuration", args)
			os.Remove(mark)
		}
	}
	after, err := os.Stat(index)
	if err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Error("the index was rewritten")
	}
	if out, ok := w.Git(at, "diff-files", "--name-only", "-z"); !ok || !strings.Contains(out, "a.txt") {
		t.Errorf("the changed file is not seen: %q %v", out, ok)
	}
}

func TestHangingProgramIsUnknown(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gh"), []byte("#!/bin/sh\nsleep 60 & sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w := New([]string{"PATH=" + dir + ":/usr/bin:/bin"}, nil)
	w.until = time.Now().Add(300 * time.Millisecond)
	done := make(chan bool, 1)
	go func() {
		_, ok := w.GH(guards.Place{Dir: dir}, "api", "user")
		done <- ok
	}()
	select {
	case ok := <-done:
		if ok {
			t.Error("a program that hangs has an answer")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the limit does not end a program that hangs")
	}
	if _, ok := w.GH(guards.Place{Dir: dir}, "api", "other"); ok {
		t.Error("there is time left after the limit")
	}
}

func TestProgramsOfTheDirectoryDoNotRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gh"), []byte("#!/bin/sh\necho mine\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{".", "", "bin:."} {
		if out, ok := New([]string{"PATH=" + path}, nil).GH(guards.Place{Dir: dir}, "api"); ok {
			t.Errorf("PATH=%q ran gh of the working directory: %q", path, out)
		}
	}
}

func TestReadFileTakesOnlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	w := New(nil, nil)
	os.WriteFile(filepath.Join(dir, "f"), []byte("12345"), 0o644)
	if data, ok := w.ReadFile(filepath.Join(dir, "f"), 5); !ok || string(data) != "12345" {
		t.Errorf("got %q %v", data, ok)
	}
	for name, limit := range map[string]int{filepath.Join(dir, "f"): 4, dir: 10, "/dev/zero": 10, filepath.Join(dir, "none"): 10} {
		if data, ok := w.ReadFile(name, limit); ok {
			t.Errorf("%s: got %d bytes, want none", name, len(data))
		}
	}
	if err := exec.Command("mkfifo", filepath.Join(dir, "pipe")).Run(); err == nil {
		if _, ok := w.ReadFile(filepath.Join(dir, "pipe"), 10); ok {
			t.Error("a pipe was read")
		}
	}
}

func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	os.MkdirAll(filepath.Join(dir, "real/sub"), 0o755)
	os.Symlink("real", filepath.Join(dir, "link"))
	os.Symlink("gone", filepath.Join(dir, "dangling"))
	w := New(nil, nil)
	for in, want := range map[string]string{
		"link": "real", "link/sub": "real/sub", "link/none": "real/none", "link/none/x": "real/none/x", "real/sub": "real/sub", "none": "none", "dangling": "dangling",
	} {
		if got := w.Resolve(filepath.Join(dir, in)); got != filepath.Join(dir, want) {
			t.Errorf("Resolve(%s) = %s, want %s", in, got, filepath.Join(dir, want))
		}
	}
	if got := w.Resolve("relative"); got != "relative" {
		t.Errorf("a relative path became %s", got)
	}
}

func TestAliases(t *testing.T) {
	got := map[string]string{}
	parseAliases("# c\nversion: \"1\"\naliases:\n    co: pr checkout\n    'say': \"pr comment $1 --body \\\"$2\\\"\"\n    bugs: 'issue list --label=''bug'''\n    multi: |-\n        !gh pr list \\\n          | cat\n    last: '!echo hi'\nprompt: enabled\n    x: y\n", got)
	for name, want := range map[string]string{
		"co": "pr checkout", "say": `pr comment $1 --body "$2"`, "bugs": "issue list --label='bug'", "multi": "!gh pr list \\\n| cat", "last": "!echo hi",
	} {
		if got[name] != want {
			t.Errorf("alias %s = %q, want %q", name, got[name], want)
		}
	}
	if _, ok := got["x"]; ok {
		t.Error("a key outside of aliases counts")
	}
}

func FuzzAliases(f *testing.F) {
	f.Add("aliases:\n  a: |\n    b\n c: 'd'\n")
	f.Fuzz(func(t *testing.T, text string) { parseAliases(text, map[string]string{}) })
}
