package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"sallyport/internal/gitdir"
	"sallyport/internal/testenv"
)

func status(t *testing.T, dir string) (gitdir.Repo, Head, Changes, error) {
	t.Helper()
	repo, ok := gitdir.Find(dir, os.Getenv)
	if !ok {
		t.Fatalf("no repository at %s", dir)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	head, changes, err := Status(ctx, repo, os.Environ(), os.Getenv)
	return repo, head, changes, err
}

func commit(t *testing.T, dir, file, text, message string) {
	t.Helper()
	testenv.Write(t, filepath.Join(dir, file), text)
	testenv.Git(t, dir, "add", file)
	testenv.Git(t, dir, "commit", "-q", "-m", message)
}

// fails runs git where it is expected to stop, as a merge with conflicts does.
func fails(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("git %q in %s succeeded\n%s", args, dir, out)
	}
}

// conflicting makes branches main and side that change the same line.
func conflicting(t *testing.T, dir string) {
	testenv.Git(t, dir, "checkout", "-q", "-b", "side")
	commit(t, dir, "a.txt", "side\n", "side 1")
	commit(t, dir, "a.txt", "side again\n", "side 2")
	testenv.Git(t, dir, "checkout", "-q", "main")
	commit(t, dir, "a.txt", "main\n", "main 1")
}

// layouts make a work tree each. want is what only the maker knows; the rest
// is compared with git.
var layouts = []struct {
	name string
	make func(t *testing.T, dir string) (workTree string)
	op   Operation
	want func(h Head, c Changes) bool
}{
	{name: "plain", make: plainRepo, want: func(h Head, c Changes) bool { return h.Branch == "main" && !c.Dirty && c.Upstream == "" }},
	{name: "dirty", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		testenv.Write(t, filepath.Join(dir, "a.txt"), "changed\n")
		return dir
	}, want: func(_ Head, c Changes) bool { return c.Dirty }},
	{name: "staged", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		testenv.Write(t, filepath.Join(dir, "b.txt"), "new\n")
		testenv.Git(t, dir, "add", "b.txt")
		return dir
	}, want: func(_ Head, c Changes) bool { return c.Dirty }},
	{name: "untracked only", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		testenv.Write(t, filepath.Join(dir, "b.txt"), "new\n")
		return dir
	}, want: func(_ Head, c Changes) bool { return !c.Dirty }},
	{name: "unborn", make: func(t *testing.T, dir string) string {
		os.MkdirAll(dir, 0o755)
		testenv.Git(t, dir, "init", "-q")
		return dir
	}, want: func(h Head, _ Changes) bool { return h.Branch == "main" && h.Hash == "" }},
	{name: "detached", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		testenv.Git(t, dir, "checkout", "-q", "--detach")
		return dir
	}, want: func(h Head, _ Changes) bool { return h.Detached && h.Branch == "" }},
	{name: "branch named (detached)", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		testenv.Git(t, dir, "checkout", "-q", "-b", "(detached)")
		return dir
	}, want: func(h Head, _ Changes) bool { return !h.Detached && h.Branch == "(detached)" }},
	{name: "linked worktree", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		testenv.Git(t, dir, "worktree", "add", "-q", "-b", "topic", dir+"-wt")
		return dir + "-wt"
	}, want: func(h Head, _ Changes) bool { return h.Branch == "topic" }},
	{name: "linked worktree inside the main checkout", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		testenv.Git(t, dir, "worktree", "add", "-q", "-b", "topic", filepath.Join(dir, "wt"))
		return filepath.Join(dir, "wt")
	}, want: func(h Head, _ Changes) bool { return h.Branch == "topic" }},
	{name: "bare clone with a worktree", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		testenv.Git(t, dir, "clone", "-q", "--bare", dir, dir+".git")
		testenv.Git(t, dir+".git", "worktree", "add", "-q", "-b", "topic", dir+"-wt")
		return dir + "-wt"
	}, want: func(h Head, _ Changes) bool { return h.Branch == "topic" }},
	{name: "submodule", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		testenv.Repo(t, dir+"-lib")
		testenv.Git(t, dir, "submodule", "--quiet", "add", dir+"-lib", "lib")
		testenv.Git(t, filepath.Join(dir, "lib"), "checkout", "-q", "-b", "in-lib")
		return filepath.Join(dir, "lib")
	}, want: func(h Head, _ Changes) bool { return h.Branch == "in-lib" }},
	{name: "nested repository", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		inner := testenv.Repo(t, filepath.Join(dir, "inner"))
		testenv.Git(t, inner, "checkout", "-q", "-b", "inner-branch")
		return inner
	}, want: func(h Head, _ Changes) bool { return h.Branch == "inner-branch" }},
	{name: "ahead and behind", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir+"-origin")
		testenv.Git(t, filepath.Dir(dir), "clone", "-q", dir+"-origin", dir)
		commit(t, dir+"-origin", "b.txt", "b\n", "theirs")
		testenv.Git(t, dir, "fetch", "-q")
		commit(t, dir, "c.txt", "c\n", "ours 1")
		commit(t, dir, "d.txt", "d\n", "ours 2")
		return dir
	}, want: func(_ Head, c Changes) bool {
		return c.Upstream == "origin/main" && c.Ahead == 2 && c.Behind == 1 && !c.Gone
	}},
	{name: "status.aheadBehind off", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir+"-origin")
		testenv.Git(t, filepath.Dir(dir), "clone", "-q", dir+"-origin", dir)
		testenv.Git(t, dir, "config", "status.aheadBehind", "false")
		commit(t, dir, "c.txt", "c\n", "ours")
		return dir
	}, want: func(_ Head, c Changes) bool { return c.Ahead == 1 && c.Behind == 0 }},
	{name: "gone upstream", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir+"-origin")
		testenv.Git(t, filepath.Dir(dir), "clone", "-q", dir+"-origin", dir)
		testenv.Git(t, dir, "update-ref", "-d", "refs/remotes/origin/main")
		return dir
	}, want: func(_ Head, c Changes) bool { return c.Gone && c.Ahead == 0 }},
	{name: "shallow", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir+"-origin")
		commit(t, dir+"-origin", "b.txt", "b\n", "second")
		testenv.Git(t, filepath.Dir(dir), "clone", "-q", "--depth=1", "file://"+dir+"-origin", dir)
		return dir
	}, want: func(h Head, c Changes) bool { return h.Branch == "main" && c.Upstream == "origin/main" }},
	{name: "sparse", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		commit(t, dir, "sub/b.txt", "b\n", "second")
		testenv.Git(t, dir, "sparse-checkout", "set", "--sparse-index", "other")
		return dir
	}, want: func(_ Head, c Changes) bool { return !c.Dirty }},
	{name: "split index", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		testenv.Git(t, dir, "update-index", "--split-index")
		testenv.Write(t, filepath.Join(dir, "a.txt"), "changed\n")
		return dir
	}, want: func(_ Head, c Changes) bool { return c.Dirty }},
	{name: "packed refs", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		testenv.Git(t, dir, "pack-refs", "--all")
		return dir
	}, want: func(h Head, _ Changes) bool { return h.Branch == "main" && h.Hash != "" }},
	{name: "worktreeConfig", make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		testenv.Git(t, dir, "config", "extensions.worktreeConfig", "true")
		testenv.Git(t, dir, "worktree", "add", "-q", "-b", "topic", dir+"-wt")
		testenv.Git(t, dir+"-wt", "config", "--worktree", "core.autocrlf", "false")
		return dir + "-wt"
	}, want: func(h Head, _ Changes) bool { return h.Branch == "topic" }},
	{name: "sha256", make: func(t *testing.T, dir string) string {
		os.MkdirAll(dir, 0o755)
		if out, err := exec.Command("git", "init", "-q", "--object-format=sha256", dir).CombinedOutput(); err != nil {
			t.Skipf("this git has no sha256: %s", out)
		}
		commit(t, dir, "a.txt", "one\n", "first")
		testenv.Git(t, dir, "checkout", "-q", "--detach")
		return dir
	}, want: func(h Head, _ Changes) bool { return h.Detached && len(h.Hash) == 64 }},
	{name: "reftable", make: func(t *testing.T, dir string) string {
		os.MkdirAll(dir, 0o755)
		if out, err := exec.Command("git", "init", "-q", "--ref-format=reftable", dir).CombinedOutput(); err != nil {
			t.Skipf("this git has no reftable: %s", out)
		}
		commit(t, dir, "a.txt", "one\n", "first")
		return dir
	}, want: func(h Head, _ Changes) bool { return h.Branch == "main" && h.Hash != "" }},
	{name: "merge", op: Operation{Name: "merge"}, make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		conflicting(t, dir)
		fails(t, dir, "merge", "-q", "side")
		return dir
	}, want: func(_ Head, c Changes) bool { return c.Dirty }},
	{name: "rebase", op: Operation{Name: "rebase", Branch: "side", Step: 1, Steps: 2}, make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		conflicting(t, dir)
		fails(t, dir, "rebase", "-q", "main", "side")
		return dir
	}, want: func(h Head, c Changes) bool { return h.Detached && c.Dirty }},
	{name: "rebase with the apply backend", op: Operation{Name: "rebase", Branch: "side", Step: 1, Steps: 2}, make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		conflicting(t, dir)
		fails(t, dir, "rebase", "-q", "--apply", "main", "side")
		return dir
	}, want: func(h Head, _ Changes) bool { return h.Detached }},
	{name: "am", op: Operation{Name: "am", Step: 1, Steps: 1}, make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		conflicting(t, dir)
		testenv.Git(t, dir, "format-patch", "-q", "-1", "side~1", "-o", dir+"-patches")
		patches, _ := filepath.Glob(dir + "-patches/*.patch")
		fails(t, dir, "am", "-q", patches[0])
		return dir
	}, want: func(h Head, _ Changes) bool { return h.Branch == "main" }},
	{name: "cherry-pick", op: Operation{Name: "cherry-pick"}, make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		conflicting(t, dir)
		fails(t, dir, "cherry-pick", "side")
		return dir
	}, want: func(_ Head, c Changes) bool { return c.Dirty }},
	{name: "cherry-pick between two picks", op: Operation{Name: "cherry-pick"}, make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		conflicting(t, dir)
		fails(t, dir, "cherry-pick", "side~1", "side")
		testenv.Git(t, dir, "checkout", "-q", "--theirs", "a.txt")
		testenv.Git(t, dir, "commit", "-q", "-am", "picked")
		return dir
	}, want: func(_ Head, c Changes) bool { return !c.Dirty }},
	{name: "revert", op: Operation{Name: "revert"}, make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		commit(t, dir, "a.txt", "two\n", "second")
		commit(t, dir, "a.txt", "three\n", "third")
		fails(t, dir, "revert", "--no-edit", "HEAD~1")
		return dir
	}, want: func(_ Head, c Changes) bool { return c.Dirty }},
	{name: "bisect", op: Operation{Name: "bisect", Branch: "main"}, make: func(t *testing.T, dir string) string {
		testenv.Repo(t, dir)
		for i := range 4 {
			commit(t, dir, "a.txt", strconv.Itoa(i), "change")
		}
		testenv.Git(t, dir, "bisect", "start", "HEAD", "HEAD~4")
		return dir
	}, want: func(h Head, _ Changes) bool { return h.Detached }},
	{name: "awkward names", make: func(t *testing.T, dir string) string {
		dir = filepath.Join(filepath.Dir(dir), "-rf a\nb 日本")
		testenv.Repo(t, dir)
		testenv.Git(t, dir, "checkout", "-q", "-b", "ünïcode/-x{y")
		return dir
	}, want: func(h Head, _ Changes) bool { return strings.HasPrefix(h.Branch, "ünïcode/") }},
}

func plainRepo(t *testing.T, dir string) string { return testenv.Repo(t, dir) }

func TestEveryLayoutAgreesWithGit(t *testing.T) {
	for _, tt := range layouts {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && tt.name == "awkward names" {
				t.Skip("not a file name on Windows")
			}
			home := testenv.Isolate(t)
			dir := tt.make(t, filepath.Join(home, "repo"))
			index := indexOf(t, dir)
			before, _ := os.ReadFile(index)
			repo, head, changes, err := status(t, dir)
			if err != nil {
				t.Fatalf("Status: %v", err)
			}
			after, _ := os.ReadFile(index)
			if !bytes.Equal(before, after) {
				t.Error("the index was rewritten")
			}
			if _, err := os.Lstat(index + ".lock"); err == nil {
				t.Error("an index.lock was left behind")
			}
			if !tt.want(head, changes) {
				t.Errorf("Status = %+v, %+v", head, changes)
			}
			compareWithGit(t, dir, head, changes)
			if op := InProgress(repo); op != tt.op {
				t.Errorf("InProgress = %+v, want %+v", op, tt.op)
			}
			fromFile, err := ReadHead(repo)
			if tt.name == "reftable" {
				if !errors.Is(err, ErrUnknownFormat) {
					t.Errorf("ReadHead = %+v, %v; want no guess", fromFile, err)
				}
				return
			}
			if err != nil || fromFile.Branch != head.Branch || fromFile.Detached != head.Detached || head.Detached && fromFile.Hash != head.Hash {
				t.Errorf("ReadHead = %+v, %v; git says %+v", fromFile, err, head)
			}
		})
	}
}

func indexOf(t *testing.T, dir string) string {
	t.Helper()
	index := testenv.Git(t, dir, "rev-parse", "--git-path", "index")
	if !filepath.IsAbs(index) {
		index = filepath.Join(dir, index)
	}
	return index
}

// compareWithGit asks git the same questions with other commands.
func compareWithGit(t *testing.T, dir string, head Head, changes Changes) {
	t.Helper()
	answer := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"--no-optional-locks"}, args...)...)
		cmd.Dir = dir
		out, _ := cmd.Output()
		return strings.TrimSpace(string(out))
	}
	if want := answer("branch", "--show-current"); head.Branch != want {
		t.Errorf("branch = %q, git says %q", head.Branch, want)
	}
	if want := answer("rev-parse", "-q", "--verify", "HEAD"); head.Hash != want {
		t.Errorf("hash = %q, git says %q", head.Hash, want)
	}
	if want := answer("status", "--porcelain", "-uno") != ""; changes.Dirty != want {
		t.Errorf("dirty = %v, git says %v", changes.Dirty, want)
	}
	if !changes.Gone {
		if want := answer("rev-parse", "--abbrev-ref", "@{upstream}"); want != "@{upstream}" && changes.Upstream != want {
			t.Errorf("upstream = %q, git says %q", changes.Upstream, want)
		}
	}
	if changes.Upstream != "" && !changes.Gone {
		want := answer("rev-list", "--left-right", "--count", "HEAD...@{upstream}")
		if got := fmt.Sprintf("%d\t%d", changes.Ahead, changes.Behind); got != want {
			t.Errorf("ahead and behind = %q, git says %q", got, want)
		}
	}
}

// A repository's configuration, which an agent may write, gets nothing started.
func TestHostileConfigurationRunsNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the canary is a shell script")
	}
	for _, tt := range []struct {
		name string
		set  func(t *testing.T, dir, canary string)
	}{
		{"core.fsmonitor", func(t *testing.T, dir, canary string) {
			testenv.Git(t, dir, "config", "core.fsmonitor", canary)
		}},
		{"filter clean", func(t *testing.T, dir, canary string) {
			testenv.Git(t, dir, "config", "filter.evil.clean", canary)
			testenv.Git(t, dir, "config", "filter.evil.required", "true")
		}},
		{"filter process", func(t *testing.T, dir, canary string) {
			testenv.Git(t, dir, "config", "filter.evil.process", canary)
		}},
		{"filter in an included file", func(t *testing.T, dir, canary string) {
			testenv.Write(t, filepath.Join(dir, ".git", "more"), "[filter \"evil\"]\n\tclean = "+canary+"\n")
			testenv.Git(t, dir, "config", "include.path", "more")
		}},
		{"filter in the configuration of the worktree", func(t *testing.T, dir, canary string) {
			testenv.Git(t, dir, "config", "extensions.worktreeConfig", "true")
			testenv.Git(t, dir, "config", "--worktree", "filter.evil.clean", canary)
		}},
		{"hooks", func(t *testing.T, dir, canary string) {
			testenv.Git(t, dir, "config", "core.hooksPath", filepath.Dir(canary))
			data, _ := os.ReadFile(canary)
			for _, hook := range []string{"post-index-change", "fsmonitor-watchman"} {
				os.WriteFile(filepath.Join(filepath.Dir(canary), hook), data, 0o755)
			}
		}},
		{"pager and alias", func(t *testing.T, dir, canary string) {
			testenv.Git(t, dir, "config", "pager.status", canary)
			testenv.Git(t, dir, "config", "alias.status", "!"+canary)
		}},
		{"submodule with a program", func(t *testing.T, dir, canary string) {
			lib := testenv.Repo(t, dir+"-lib")
			testenv.Git(t, dir, "submodule", "--quiet", "add", lib, "lib")
			testenv.Git(t, dir, "commit", "-q", "-m", "lib")
			testenv.Git(t, filepath.Join(dir, "lib"), "config", "core.fsmonitor", canary)
			testenv.Git(t, filepath.Join(dir, "lib"), "config", "filter.evil.clean", canary)
			testenv.Write(t, filepath.Join(dir, "lib", "a.txt"), "changed\n")
		}},
		{"promisor remote", func(t *testing.T, dir, canary string) {
			testenv.Git(t, dir, "config", "extensions.partialClone", "origin")
			testenv.Git(t, dir, "config", "remote.origin.url", "ssh://evil/x")
			testenv.Git(t, dir, "config", "remote.origin.promisor", "true")
			testenv.Git(t, dir, "config", "remote.origin.uploadpack", canary)
			testenv.Git(t, dir, "config", "core.sshCommand", canary)
			tree := testenv.Git(t, dir, "rev-parse", "HEAD^{tree}")
			if err := os.Remove(filepath.Join(dir, ".git", "objects", tree[:2], tree[2:])); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := testenv.Isolate(t)
			dir := testenv.Repo(t, filepath.Join(home, "repo"))
			commit(t, dir, ".gitattributes", "*.txt filter=evil\n", "attributes")
			witness := filepath.Join(home, "it-ran")
			canary := filepath.Join(home, "bin", "canary")
			testenv.Write(t, canary, "#!/bin/sh\necho ran >> "+witness+"\nexit 1\n")
			os.Chmod(canary, 0o755)
			tt.set(t, dir, canary)
			// The same size and another time: git has to look at the content.
			testenv.Write(t, filepath.Join(dir, "a.txt"), "one\n")
			later := time.Now().Add(2 * time.Hour)
			os.Chtimes(filepath.Join(dir, "a.txt"), later, later)

			status(t, dir)
			if data, err := os.ReadFile(witness); err == nil {
				t.Errorf("a program named in the repository's configuration ran: %s", data)
			}

			// The trap works: a plain git walks into it.
			if tt.name == "hooks" || tt.name == "pager and alias" {
				return
			}
			cmd := exec.Command("git", "status", "--porcelain")
			cmd.Dir = dir
			cmd.Run()
			if _, err := os.Stat(witness); err != nil {
				t.Errorf("plain git status did not start the canary either, so the test proves nothing")
			}
		})
	}
}

// The person's own filters stay on.
func TestOwnFilterStays(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the filter is a shell command")
	}
	home := testenv.Isolate(t)
	testenv.Git(t, home, "config", "--global", "filter.up.clean", "tr a-z A-Z")
	dir := testenv.Repo(t, filepath.Join(home, "repo"))
	testenv.Write(t, filepath.Join(dir, ".gitattributes"), "*.up filter=up\n")
	commit(t, dir, "x.up", "text\n", "filtered")
	testenv.Git(t, dir, "add", ".gitattributes")
	testenv.Git(t, dir, "commit", "-q", "-m", "attributes")
	testenv.Git(t, dir, "config", "filter.other.clean", "false")
	later := time.Now().Add(2 * time.Hour)
	os.Chtimes(filepath.Join(dir, "x.up"), later, later)
	if _, _, changes, err := status(t, dir); err != nil || changes.Dirty {
		t.Errorf("Status = %+v, %v; want clean, as git with the person's filter says", changes, err)
	}
}

func TestHangingGitIsKilledWithItsChildren(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake git is a shell script")
	}
	if _, err := exec.LookPath("ps"); err != nil {
		t.Skip("no ps to look for processes with")
	}
	home := testenv.Isolate(t)
	dir := testenv.Repo(t, filepath.Join(home, "repo"))
	pids := filepath.Join(home, "pids")
	fake := filepath.Join(home, "bin", "git")
	testenv.Write(t, fake, "#!/bin/sh\nsleep 60 &\necho $! $$ > "+pids+"\nwait\n")
	os.Chmod(fake, 0o755)
	t.Setenv("PATH", filepath.Dir(fake)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	repo, _ := gitdir.Find(dir, os.Getenv)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	start := time.Now()
	_, _, err := Status(ctx, repo, os.Environ(), os.Getenv)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Status of a git that hangs: %v, want the deadline", err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("Status took %v with a deadline of 1s", took)
	}
	data, err := os.ReadFile(pids)
	if err != nil {
		t.Skip("the fake git had no time to start")
	}
	for _, word := range strings.Fields(string(data)) {
		pid, _ := strconv.Atoi(word)
		gone := false
		for range 100 {
			if gone = !running(pid); gone {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if !gone {
			t.Errorf("process %d of the hanging git still runs", pid)
		}
	}
}

func running(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	stat := strings.TrimSpace(string(out))
	return err == nil && stat != "" && stat[0] != 'Z'
}

func TestNoGit(t *testing.T) {
	home := testenv.Isolate(t)
	dir := testenv.Repo(t, filepath.Join(home, "repo"))
	t.Setenv("PATH", "relative:"+home)
	if _, _, _, err := status(t, dir); !errors.Is(err, ErrNoGit) {
		t.Errorf("Status without git: %v, want ErrNoGit", err)
	}
}

func TestBrokenRepositoryIsAnError(t *testing.T) {
	home := testenv.Isolate(t)
	dir := testenv.Repo(t, filepath.Join(home, "repo"))
	testenv.Write(t, filepath.Join(dir, ".git", "config"), "[core\n")
	_, head, changes, err := status(t, dir)
	if err == nil || head != (Head{}) || changes != (Changes{}) {
		t.Errorf("Status of a broken repository = %+v, %+v, %v; want an error and nothing", head, changes, err)
	}
}

// Git refuses a repository that belongs to somebody else; its files can be read.
func TestSafeDirectoryRefusal(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a repository away")
	}
	home := testenv.Isolate(t)
	dir := testenv.Repo(t, filepath.Join(home, "repo"))
	for _, path := range []string{dir, filepath.Join(dir, ".git")} {
		if err := os.Chown(path, 4242, 4242); err != nil {
			t.Skip(err)
		}
	}
	repo, head, _, err := status(t, dir)
	if err == nil {
		t.Fatalf("Status of somebody else's repository = %+v, want git's refusal", head)
	}
	if head, err := ReadHead(repo); err != nil || head.Branch != "main" {
		t.Errorf("ReadHead = %+v, %v", head, err)
	}
	testenv.Git(t, home, "config", "--global", "--add", "safe.directory", dir)
	if _, head, _, err := status(t, dir); err != nil || head.Branch != "main" {
		t.Errorf("Status of a directory that the person calls safe = %+v, %v", head, err)
	}
}

func TestEnvironmentDoesNotSteerGit(t *testing.T) {
	home := testenv.Isolate(t)
	dir := testenv.Repo(t, filepath.Join(home, "repo"))
	witness := filepath.Join(home, "trace")
	t.Setenv("GIT_TRACE", witness)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(home, "other-index"))
	t.Setenv("GIT_EXTERNAL_DIFF", "false")
	t.Setenv("GIT_OBJECT_DIRECTORY", home)
	_, head, changes, err := status(t, dir)
	if err != nil || head.Branch != "main" || changes.Dirty {
		t.Errorf("Status = %+v, %+v, %v", head, changes, err)
	}
	if _, err := os.Stat(witness); err == nil {
		t.Error("GIT_TRACE reached git")
	}
}

func TestGitDirInTheEnvironment(t *testing.T) {
	home := testenv.Isolate(t)
	dir := testenv.Repo(t, filepath.Join(home, "repo"))
	os.MkdirAll(filepath.Join(home, "tree", "sub"), 0o755)
	t.Setenv("GIT_DIR", "../repo/.git")
	t.Setenv("GIT_WORK_TREE", ".")
	_ = dir
	repo, head, changes, err := status(t, filepath.Join(home, "tree"))
	if err != nil || head.Branch != "main" || !changes.Dirty {
		t.Errorf("Status with relative GIT_DIR = %+v, %+v, %v (%+v); want main, with the file missing", head, changes, err, repo)
	}
}

func BenchmarkParsePorcelain(b *testing.B) {
	in := "# branch.oid " + sha1Name + "\n# branch.head feature/x\n# branch.upstream origin/feature/x\n# branch.ab +2 -1\n1 .M N... 1 2 3 a b f\n"
	for b.Loop() {
		parsePorcelain(strings.NewReader(in))
	}
}
