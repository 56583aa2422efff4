package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"sallyport/internal/testenv"
)

// built is the directory of release, once it is there.
var built string

// release is a directory with the real agent-setup and git-hook, built once, and
// stubs of others.
var release = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return "", err
	}
	built = dir
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", dir+string(filepath.Separator), ".", "../git-hook")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w\n%s", err, out)
	}
	if err := os.Symlink("agent-setup", filepath.Join(dir, "add-project-root")); err != nil {
		return dir, err
	}
	other, err := stub()
	for _, name := range []string{"bypass-warn", "status-line", "agent-iso"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), other, 0o755))
	}
	return dir, err
})

// A host is an account with the suite installed and real git.
type host struct {
	t    *testing.T
	home string
	bin  string // of the installed programs
}

// newHost installs the programs. Files of the home directory are written first.
func newHost(t *testing.T, files map[string]string, flags ...string) *host {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the hooks of these tests are shell scripts")
	}
	for _, tool := range []string{"go", "git", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	from, err := release()
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, home: testenv.Isolate(t)}
	h.bin = filepath.Join(h.home, ".claude/scripts")
	t.Setenv("PATH", withoutClient(os.Getenv("PATH")))
	t.Setenv("SHELL", "/bin/bash")
	for name, text := range files {
		testenv.Write(t, filepath.Join(h.home, name), text)
	}
	h.must(0, append([]string{filepath.Join(from, "agent-setup"), "install", "--yes"}, flags...)...)
	return h
}

// run starts a program in a directory below home.
func (h *host) run(dir string, args ...string) (code int, stdout, stderr string) {
	h.t.Helper()
	var out, msg bytes.Buffer
	program := args[0]
	if program == "agent-setup" || program == "add-project-root" {
		program = filepath.Join(h.bin, program)
	}
	cmd := exec.Command(program, args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(h.home, dir), &out, &msg
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), msg.String()
}

// must runs a program in the home directory and checks its exit code.
func (h *host) must(want int, args ...string) string {
	h.t.Helper()
	return h.in("", want, args...)
}

func (h *host) in(dir string, want int, args ...string) string {
	h.t.Helper()
	code, stdout, stderr := h.run(dir, args...)
	if code != want {
		h.t.Fatalf("%q in ~/%s: exit %d, want %d\n%s%s", args, dir, code, want, stdout, stderr)
	}
	return stdout + stderr
}

func (h *host) read(name string) string {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.home, name))
	if err != nil {
		return "(" + name + " is not there)"
	}
	return string(data)
}

// state is every file of the home directory but the suite's own records.
func (h *host) state() string {
	var b strings.Builder
	filepath.WalkDir(h.home, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			h.t.Fatal(err)
		}
		rel, _ := filepath.Rel(h.home, path)
		if rel == ".local/state/sallyport" || rel == ".cache" {
			return filepath.SkipDir
		}
		fmt.Fprintf(&b, "%s %v", rel, d.Type())
		if d.Type().IsRegular() && !strings.HasPrefix(rel, ".claude/scripts") {
			fmt.Fprintf(&b, " %q", h.read(rel))
		}
		if target, err := os.Readlink(path); err == nil {
			fmt.Fprintf(&b, " -> %s", target)
		}
		b.WriteByte('\n')
		return nil
	})
	return b.String()
}

func (h *host) same(before, after, what string) {
	h.t.Helper()
	if before != after {
		h.t.Errorf("%s: before\n%s\nafter\n%s", what, before, after)
	}
}

var gitconfigs = map[string]string{
	"as git writes it":      "[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n",
	"without a final line":  "[user]\nname=Dev\nemail=dev@example.com\n[core]\n    editor = vi ; mine\n[init]\ndefaultBranch=main",
	"with a comment inside": "# mine\n[core]\n\t# nothing here\n[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n",
}

func TestWholeUserAndOff(t *testing.T) {
	for name, config := range gitconfigs {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, map[string]string{
				".gitconfig":            config,
				".claude/settings.json": "{\n\t\"sandbox\": {\"filesystem\": {\"allowRead\": [\"~/.cache/\"]}},\n\t\"n\": 1.0\n}",
				".bashrc":               "alias ll='ls -l'",
			})
			before := h.state()
			listed := h.must(0, "git", "config", "--global", "--list")

			// Not without a yes.
			h.must(1, "agent-setup", "scope", "whole-user")
			h.must(0, "agent-setup", "scope", "whole-user", "--dry-run")
			h.same(before, h.state(), "a dry run")

			out := h.must(0, "agent-setup", "scope", "whole-user", "--yes")
			if !strings.Contains(out, "own hooks keep running") {
				t.Errorf("the plan does not say what becomes of other hooks:\n%s", out)
			}
			dir := filepath.Join(h.home, ".claude/git-hooks")
			if got := strings.TrimSpace(h.must(0, "git", "config", "--global", "--get", "core.hooksPath")); got != dir {
				t.Errorf("core.hooksPath %q, want %q", got, dir)
			}
			if got := h.read(".claude/settings.json"); !strings.Contains(got, `"~/.cache/", "~/.claude/git-hooks/"`) {
				t.Errorf("settings\n%s", got)
			}
			for _, never := range []string{"push-to-checkout", "proc-receive", "fsmonitor-watchman", "reference-transaction"} {
				if _, err := os.Lstat(filepath.Join(dir, never)); err == nil {
					t.Errorf("%s is installed", never)
				}
			}
			if path := h.must(0, "bash", "--norc", "-c", ". ~/.bashrc; . ~/.bashrc; printf %s \"$PATH\""); !strings.HasPrefix(path, h.home+"/.claude/bin:") || strings.Count(path, "/.claude/bin:") != 1 {
				t.Errorf("PATH %s", path)
			}
			if out := h.must(0, "agent-setup", "scope", "status"); !strings.Contains(out, "scope: whole-user, flavour dispatcher ("+dir+")") {
				t.Errorf("status: %s", out)
			}
			on := h.state()
			if out := h.must(0, "agent-setup", "scope", "whole-user", "--yes"); !strings.Contains(out, "nothing to do") {
				t.Errorf("a second run:\n%s", out)
			}
			h.same(on, h.state(), "a second run")
			if out := h.must(0, filepath.Join(must(release()), "agent-setup"), "install", "--yes"); !strings.Contains(out, "nothing to do") {
				t.Errorf("an installation over it:\n%s", out)
			}
			h.same(on, h.state(), "an installation over it")

			h.must(1, "agent-setup", "scope", "off")
			h.must(0, "agent-setup", "scope", "off", "--yes")
			h.same(before, h.state(), "on and off")
			h.same(listed, h.must(0, "git", "config", "--global", "--list"), "git config --global --list")
			if out := h.must(0, "agent-setup", "scope", "off", "--yes"); !strings.Contains(out, "nothing to do") {
				t.Errorf("off twice:\n%s", out)
			}
		})
	}
}

func must(dir string, err error) string {
	if err != nil {
		panic(err)
	}
	return dir
}

// However the two are put in and taken out, nothing of them stays.
func TestScopeAndInstallInAnyOrder(t *testing.T) {
	files := map[string]string{
		".gitconfig":            "[user]\n\tname = Dev\n",
		".claude/settings.json": `{"a": 1}`,
		".bashrc":               "alias mine=1",
	}
	for _, edited := range []bool{false, true} {
		for _, steps := range [][]string{
			{"on", "uninstall"},
			{"on", "off", "uninstall"},
			{"on", "install", "uninstall"},
			{"uninstall-keep", "on", "off"},
			{"uninstall-keep", "on", "install", "off", "uninstall"},
			{"uninstall-keep", "on", "install", "uninstall"},
			{"on", "off", "on", "uninstall"},
		} {
			t.Run(fmt.Sprint(steps, " edited=", edited), func(t *testing.T) {
				h := newHost(t, files)
				from := must(release())
				edit := func(file, old, new string) {
					text := h.read(file)
					if edited && strings.Contains(text, old) {
						testenv.Write(t, filepath.Join(h.home, file), strings.Replace(text, old, new, 1))
					}
				}
				for _, step := range steps {
					switch step {
					case "on":
						// After an uninstallation the release itself sets it up.
						program := filepath.Join(h.bin, "agent-setup")
						if _, err := os.Stat(program); err != nil {
							program = filepath.Join(from, "agent-setup")
						}
						h.must(0, program, "scope", "whole-user", "--yes")
						edit(".claude/settings.json", `"a": 1`, `"a": 2`)
						edit(".gitconfig", "name = Dev", "name = Other")
						edit(".bashrc", "mine=1", "mine=2")
					case "install":
						h.must(0, filepath.Join(from, "agent-setup"), "install", "--yes")
					case "off":
						h.must(0, filepath.Join(from, "agent-setup"), "scope", "off", "--yes")
						if _, err := os.Lstat(filepath.Join(h.home, ".claude/git-hooks")); err == nil {
							t.Error("git-hooks is left")
						}
					case "uninstall", "uninstall-keep":
						h.must(0, filepath.Join(from, "agent-setup"), "uninstall", "--yes")
					}
				}
				want := files
				if edited {
					want = map[string]string{".gitconfig": "[user]\n\tname = Other\n", ".claude/settings.json": `{"a": 2}`, ".bashrc": "alias mine=2"}
				}
				for name, text := range want {
					got := h.read(name)
					if edited { // an end of line may have come with the block
						got = strings.TrimSuffix(got, "\n")
						text = strings.TrimSuffix(text, "\n")
					}
					if got != text {
						t.Errorf("%s holds %q, want %q", name, got, text)
					}
				}
				for _, gone := range []string{".claude/git-hooks", ".claude/bin", ".claude/scripts", ".local/state/sallyport/installed.json", ".local/state/sallyport/originals"} {
					if _, err := os.Lstat(filepath.Join(h.home, gone)); err == nil {
						t.Errorf("%s is left", gone)
					}
				}
			})
		}
	}
}

func TestScopeRefusals(t *testing.T) {
	config := "[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n"
	t.Run("another hooks path", func(t *testing.T) {
		h := newHost(t, map[string]string{".gitconfig": config + "[core]\n\thooksPath = ~/mine\n"})
		testenv.Write(t, filepath.Join(h.home, "mine/pre-commit"), "#!/bin/sh\necho mine\nexit 1\n")
		os.Chmod(filepath.Join(h.home, "mine/pre-commit"), 0o755)
		before := h.state()
		if out := h.must(3, "agent-setup", "scope", "whole-user", "--yes"); !strings.Contains(out, h.home+"/mine") || !strings.Contains(out, "--chain-previous") {
			t.Errorf("the refusal names neither value nor remedy:\n%s", out)
		}
		h.same(before, h.state(), "a refusal")
		h.must(0, "agent-setup", "scope", "whole-user", "--yes", "--chain-previous")
		h.must(0, "git", "init", "-q", "repo")
		if out := h.in("repo", 1, "git", "commit", "--allow-empty", "-m", "x"); out != "mine\n" {
			t.Errorf("the chained hook printed %q", out)
		}
	})
	t.Run("a hook that takes over", func(t *testing.T) {
		h := newHost(t, map[string]string{".gitconfig": config + "[core]\n\thooksPath = ~/mine\n", "mine/push-to-checkout": "#!/bin/sh\n"})
		before := h.state()
		h.must(3, "agent-setup", "scope", "whole-user", "--yes", "--chain-previous")
		h.same(before, h.state(), "a refusal")
	})
	t.Run("somebody else's file", func(t *testing.T) {
		h := newHost(t, map[string]string{".gitconfig": config, ".claude/git-hooks/pre-commit": "mine"})
		before := h.state()
		if out := h.must(3, "agent-setup", "scope", "whole-user", "--yes"); !strings.Contains(out, "~/.claude/git-hooks/pre-commit is there already") {
			t.Error(out)
		}
		h.same(before, h.state(), "a refusal")
	})
	for name, tt := range map[string]struct {
		settings string
		code     int
	}{
		"settings with a comment":     {"{\n// no\n}", 2},
		"a list that is none":         {`{"sandbox": {"filesystem": {"allowRead": "x"}}}`, 2},
		"an object that is none":      {`{"sandbox": []}`, 2},
		"a git configuration broken ": {"", 2},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, map[string]string{".gitconfig": config}, "--only", "project-root,git-hooks")
			if tt.settings != "" {
				testenv.Write(t, filepath.Join(h.home, ".claude/settings.json"), tt.settings)
			} else {
				testenv.Write(t, filepath.Join(h.home, ".gitconfig"), "[user\n")
			}
			before := h.state()
			h.must(tt.code, "agent-setup", "scope", "whole-user", "--yes")
			h.same(before, h.state(), "a refusal")
		})
	}
	t.Run("usage", func(t *testing.T) {
		h := newHost(t, map[string]string{".gitconfig": config})
		for _, args := range [][]string{
			{}, {"whole"}, {"status", "more"}, {"off", "--walk", "."}, {"status", "--flavour", "simple"}, {"off", "--no-hook"},
			{"whole-user", "--flavour", "plain"}, {"whole-user", "--flavour", "simple", "--all-hooks"}, {"whole-user", "--wolk", "."},
		} {
			h.must(64, append([]string{"agent-setup", "scope"}, args...)...)
		}
		h.must(2, "agent-setup", "scope", "per-project", "--yes")
	})
}

// An earlier hooks path is put back.
func TestPreviousHooksPath(t *testing.T) {
	config := "[core]\n\thooksPath = ~/mine\n[user]\n\tname = Dev\n\temail = dev@example.com\n"
	h := newHost(t, map[string]string{".gitconfig": config})
	h.must(0, "agent-setup", "scope", "whole-user", "--yes", "--chain-previous")
	if got := h.read(".claude/git-hooks/.chain"); got != h.home+"/mine\n" {
		t.Errorf(".chain holds %q", got)
	}
	h.must(0, "agent-setup", "scope", "whole-user", "--yes") // keeps the chain
	if got := h.read(".claude/git-hooks/.chain"); got != h.home+"/mine\n" {
		t.Errorf("after a second run .chain holds %q", got)
	}
	h.must(0, "git", "config", "--global", "user.name", "Other")
	h.must(0, "agent-setup", "scope", "off", "--yes")
	if got, want := h.read(".gitconfig"), strings.Replace(config, "Dev", "Other", 1); got != want {
		t.Errorf("configuration %q, want %q", got, want)
	}
	// What somebody set meanwhile stays.
	h.must(0, "agent-setup", "scope", "whole-user", "--yes", "--chain-previous")
	h.must(0, "git", "config", "--global", "core.hooksPath", "/elsewhere")
	h.must(0, "agent-setup", "scope", "off", "--yes")
	if got := strings.TrimSpace(h.must(0, "git", "config", "--global", "core.hooksPath")); got != "/elsewhere" {
		t.Errorf("core.hooksPath %q, want the new one", got)
	}
}

func TestScopeOffWithoutRecord(t *testing.T) {
	h := newHost(t, map[string]string{".gitconfig": "[user]\n\tname = Dev\n"})
	before := h.must(0, "git", "config", "--global", "--list")
	h.must(0, "agent-setup", "scope", "whole-user", "--yes")
	os.Remove(filepath.Join(h.home, ".local/state/sallyport/installed.json"))
	h.must(0, "agent-setup", "scope", "off", "--yes")
	h.same(before, h.must(0, "git", "config", "--global", "--list"), "git config --global --list")
	if left, _ := filepath.Glob(filepath.Join(h.home, ".claude/git-hooks/*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// The whole way: a worktree made by git is in the local settings at once.
func TestWorktreeIsListed(t *testing.T) {
	for _, scope := range [][]string{
		{"whole-user"}, {"whole-user", "--flavour", "simple"}, {"per-project"},
	} {
		t.Run(strings.Join(scope, " "), func(t *testing.T) {
			h := newHost(t, map[string]string{
				".gitconfig": "[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n",
				"bin/claude": "#!/bin/sh\necho '2.1.210 (Claude Code)'\n",
			})
			os.Chmod(filepath.Join(h.home, "bin/claude"), 0o755)
			t.Setenv("PATH", filepath.Join(h.home, "bin")+":"+os.Getenv("PATH"))
			repo := testenv.Repo(t, filepath.Join(h.home, "src/a repo"))
			testenv.Write(t, filepath.Join(repo, ".claude/settings.json"), "{}\n")
			testenv.Write(t, filepath.Join(repo, ".gitignore"), "/.claude/settings.local.json\n")
			testenv.Git(t, repo, "add", ".")
			testenv.Git(t, repo, "commit", "-q", "-m", "claude")
			config := h.read(".gitconfig")
			h.in("src/a repo", 0, append([]string{"agent-setup", "scope"}, append(scope, "--yes")...)...)
			local := func(tree string) string { return h.read(filepath.Join("src", tree, ".claude/settings.local.json")) }
			if scope[0] == "per-project" && !strings.Contains(local("a repo"), h.home+"/src/a repo\"") {
				t.Errorf("the repository itself is not listed: %s", local("a repo"))
			}
			testenv.Git(t, filepath.Join(repo, ".claude"), "worktree", "add", "-q", "../../b")
			if got := local("b"); strings.Count(got, `"`+h.home+`/src/b"`) != 2 {
				t.Errorf("the new worktree is not listed in its file:\n%s", got)
			}
			if scope[0] == "per-project" {
				if out := h.in("src/a repo", 0, "agent-setup", "scope", "status"); !strings.Contains(out, "scope: per-project") {
					t.Error(out)
				}
			} else {
				testenv.Git(t, h.home, "clone", "-q", "src/a repo", "src/c")
				if got := local("c"); strings.Count(got, `"`+h.home+`/src/c"`) != 2 {
					t.Errorf("the clone is not listed:\n%s", got)
				}
			}
			// A file alone is no new worktree, and what git must not see is not written.
			os.Remove(filepath.Join(h.home, "src/b/.claude/settings.local.json"))
			testenv.Git(t, filepath.Join(h.home, "src/b"), "checkout", "-q", "--", "a.txt")
			if got := local("b"); !strings.Contains(got, "is not there") {
				t.Errorf("checking out a file listed the worktree:\n%s", got)
			}
			h.in("src/a repo", 0, "agent-setup", "scope", "off", "--yes")
			if h.read(".gitconfig") != config {
				t.Errorf("configuration\n%s", h.read(".gitconfig"))
			}
			if got := h.read("src/a repo/.git/hooks/post-checkout"); !strings.Contains(got, "is not there") {
				t.Errorf("the hook is left:\n%s", got)
			}
		})
	}
}

func TestPerProjectLeavesHooksAlone(t *testing.T) {
	h := newHost(t, map[string]string{".gitconfig": "[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n"})
	repo := testenv.Repo(t, filepath.Join(h.home, "repo"))
	own := filepath.Join(repo, ".git/hooks/post-checkout")
	testenv.Write(t, own, "#!/bin/sh\necho mine\n")
	line := "'" + h.bin + "/add-project-root' --quiet || :"
	if out := h.in("repo", 0, "agent-setup", "scope", "per-project", "--yes"); !strings.Contains(out, line) {
		t.Errorf("the line to add is not printed:\n%s", out)
	}
	if got := h.read("repo/.git/hooks/post-checkout"); got != "#!/bin/sh\necho mine\n" {
		t.Errorf("the hook became %q", got)
	}
	h.in("repo", 0, "agent-setup", "scope", "off", "--yes")
	os.Remove(own)
	testenv.Git(t, repo, "config", "core.hooksPath", ".husky/_")
	if out := h.in("repo", 0, "agent-setup", "scope", "per-project", "--yes"); !strings.Contains(out, line) || !strings.Contains(out, ".husky/_/post-checkout") {
		t.Errorf("with husky:\n%s", out)
	}
	if _, err := os.Lstat(own); err == nil {
		t.Error("a hook that git would not run was written")
	}
	h.in("repo", 0, "agent-setup", "scope", "per-project", "--yes", "--no-hook")
}

func TestWalk(t *testing.T) {
	h := newHost(t, map[string]string{".gitconfig": "[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n"})
	mk := func(dir string, claude bool) {
		repo := testenv.Repo(t, filepath.Join(h.home, dir))
		testenv.Write(t, filepath.Join(repo, ".git/info/exclude"), "settings.local.json\n")
		if claude {
			testenv.Write(t, filepath.Join(repo, ".claude/settings.json"), "{}\n")
		}
	}
	mk("src/one", true)
	mk("src/deep/er/two", true)
	mk("src/a/b/c/d/toodeep", true)
	mk("src/plain", false)
	mk("src/node_modules/three", true)
	mk("src/.cache/four", true)
	mk("src/one/inner", true)
	testenv.Git(t, filepath.Join(h.home, "src/one"), "worktree", "add", "-q", "../one-linked")
	os.Symlink(h.home+"/src/deep", filepath.Join(h.home, "src/link"))
	h.must(0, "agent-setup", "scope", "whole-user", "--yes", "--walk", "src")
	var listed []string
	filepath.WalkDir(filepath.Join(h.home, "src"), func(path string, d os.DirEntry, err error) error {
		if d != nil && d.Name() == "settings.local.json" {
			rel, _ := filepath.Rel(filepath.Join(h.home, "src"), filepath.Dir(filepath.Dir(path)))
			listed = append(listed, rel)
		}
		return nil
	})
	slices.Sort(listed)
	if got, want := strings.Join(listed, " "), "deep/er/two one one-linked one/inner"; got != want {
		t.Errorf("listed %q, want %q", got, want)
	}
	if out := h.must(0, "agent-setup", "scope", "whole-user", "--yes", "--walk", "src"); strings.Count(out, "nothing to do") != 2 {
		t.Errorf("a second run:\n%s", out)
	}
}
