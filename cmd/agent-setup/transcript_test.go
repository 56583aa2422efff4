package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"sallyport/internal/testenv"
)

// suiteDir is the directory of suite, once it is there.
var suiteDir string

// suite is a directory with every real program, built once.
var suite = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "suite")
	if err != nil {
		return "", err
	}
	suiteDir = dir
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", dir+string(filepath.Separator), "./cmd/...")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

// A stranger is a made-up account with a repository, the real programs and
// small ones in place of what else a machine has.
type stranger struct {
	t                    *testing.T
	root, home, app, bin string
	environ              []string
	install              string // command line, before the programs are on PATH
}

func newStranger(t *testing.T) *stranger {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the sandbox's programs and paths are those of Linux")
	}
	if testing.Short() {
		t.Skip("builds every program")
	}
	for _, knob := range []string{"/proc/sys/user/max_user_namespaces", "/proc/sys/kernel/unprivileged_userns_clone"} {
		if value, err := os.ReadFile(knob); err == nil && strings.TrimSpace(string(value)) == "0" {
			t.Skip("this kernel has user namespaces switched off (" + knob + "), so no sandbox could start")
		}
	}
	if _, err := os.Stat("/etc/claude-code"); err == nil {
		t.Skip("this machine has managed settings of its own")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
	programs, err := suite()
	if err != nil {
		t.Fatal(err)
	}
	root := testenv.Dir(t)
	s := &stranger{t: t, root: root, home: filepath.Join(root, "home/ana"), bin: filepath.Join(root, "usr/bin")}
	s.app = filepath.Join(s.home, "app")
	for _, dir := range []string{s.app, s.bin} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sh", "bash", "git", "rm", "sed", "cat", "mkdir"} {
		file, err := exec.LookPath(name)
		if err != nil {
			t.Skip(name + " is not installed")
		}
		if err := os.Symlink(file, filepath.Join(s.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, script := range map[string]string{
		"claude": "echo '2.1.332 (Claude Code)'",
		"bwrap":  "echo 'bubblewrap 0.13.0'",
		"socat":  "echo 'socat version 1.8.1.3 on 26 Jun 2026'",
		"gh":     "exit 0",
	} {
		testenv.Write(t, filepath.Join(s.bin, name), "#!/bin/sh\n"+script+"\n")
		if err := os.Chmod(filepath.Join(s.bin, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	testenv.Write(t, filepath.Join(s.home, ".bash_profile"), ". ~/.bashrc\n")
	testenv.Write(t, filepath.Join(s.app, "pyproject.toml"), "")
	s.environ = []string{"HOME=" + s.home, "PATH=" + s.bin + ":" + filepath.Join(s.home, ".claude/scripts"), "SHELL=" + filepath.Join(s.bin, "bash"),
		"GIT_CONFIG_NOSYSTEM=1", "SALLYPORT_NOW=2026-10-01T12:00:00Z", "LC_ALL=C"}
	if err := os.Symlink(filepath.Join(programs, "sandbox-lint"), filepath.Join(s.bin, "sandbox-lint")); err != nil {
		t.Fatal(err)
	}
	s.install = filepath.Join(programs, "agent-setup") + " install --yes"
	s.must("git init -q")
	return s
}

// run runs a command line in the project and returns what a person would see.
func (s *stranger) run(line string) (output string, code int) {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(s.bin, "sh"), "-c", line)
	cmd.Dir, cmd.Env = s.app, s.environ
	out, err := cmd.CombinedOutput()
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else if err != nil {
		s.t.Fatal(err)
	}
	return string(out), code
}

func (s *stranger) must(line string) string {
	s.t.Helper()
	out, code := s.run(line)
	if code != 0 {
		s.t.Fatalf("%s: exit %d\n%s", line, code, out)
	}
	return out
}

// TestFreshAccount is the whole way: install, a project's settings, verify
// without a complaint, the linter without an error, and nothing left.
func TestFreshAccount(t *testing.T) {
	s := newStranger(t)
	before := s.files()
	s.must(s.install)
	s.must("agent-setup project --preset recommended --yes")
	out, code := s.run("agent-setup verify")
	if code != 0 || strings.Contains(out, "✗ V") {
		t.Errorf("verify: exit %d\n%s", code, out)
	}
	if out, code := s.run("sandbox-lint --no-baseline"); code != 0 {
		t.Errorf("sandbox-lint: exit %d\n%s", code, out)
	}
	if out, code := s.run("agent-setup project --diff"); code != 0 {
		t.Errorf("a second project is not empty: exit %d\n%s", code, out)
	}
	s.must("agent-setup uninstall --yes --purge")
	s.must("rm -r .claude .gitignore .git/hooks && git init -q")
	if after := s.files(); after != before {
		t.Errorf("left behind:\n%s\nbefore:\n%s", after, before)
	}
}

// files lists the account without git's own and the backups, which stay.
func (s *stranger) files() string {
	var b strings.Builder
	filepath.WalkDir(s.home, func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(s.home, path)
		switch {
		case err != nil || rel == "app/.git" || strings.HasSuffix(rel, "sallyport/backups"):
			return filepath.SkipDir
		case !d.IsDir() && !strings.HasSuffix(rel, "sallyport/lock"):
			fmt.Fprintln(&b, rel)
		}
		return nil
	})
	return b.String()
}

// A session is a page of docs/transcripts: what is typed, in order. A line that
// begins with # is said to the reader.
type session struct {
	name, title, about string
	before             []string // run unseen, after an installation
	lines              []string
}

func sessions() []session {
	ready := []string{"agent-setup project --preset recommended --yes"}
	return []session{{
		name: "project", title: "agent-setup project",
		about: "The settings of a new Python repository, at the level `minimal` so that the diff fits on a page.",
		lines: []string{
			"agent-setup project --preset minimal,python --yes",
			"# A second run changes nothing.",
			"agent-setup project --preset minimal,python --yes",
			"# Somebody opens the container daemon to the agent. The entry is named, and stays.",
			`sed -i 's/"network": {/"network": {"allowUnixSockets": ["\/var\/run\/docker.sock"],/' .claude/settings.json`,
			"agent-setup project --check",
		},
	}, {
		name: "verify", title: "agent-setup verify",
		about:  "An account on which the suite was installed, in a repository with the recommended settings.",
		before: ready,
		lines: []string{
			"agent-setup verify",
			"# A program disappears, a protection is dropped, and a local file switches the sandbox off.",
			"rm ~/.claude/scripts/bypass-warn",
			`sed -i '/Edit(.claude\/settings.json)/d' .claude/settings.json`,
			`sed -i 's/"sandbox": {/"sandbox": {"enabled": false,/' .claude/settings.local.json`,
			"agent-setup verify --quiet",
		},
	}, {
		name: "explain", title: "agent-setup explain",
		about:  "Which value counts, and what every other file says.",
		before: append(ready, `echo '{"sandbox": {"enabled": false}}' > ~/.claude/settings.local.json`),
		lines: []string{
			"# The second user file looks as if it switched the sandbox off for every project. The client does not read it.",
			"agent-setup explain sandbox.enabled",
			"# The same path means another directory in another file.",
			"agent-setup explain sandbox.filesystem.allowWrite",
		},
	}}
}

// TestTranscripts replays the sessions with the real programs and compares
// them with the pages.
func TestTranscripts(t *testing.T) {
	for _, page := range sessions() {
		t.Run(page.name, func(t *testing.T) {
			s := newStranger(t)
			s.must(s.install)
			for _, line := range page.before {
				s.must(line)
			}
			var b strings.Builder
			fmt.Fprintf(&b, "# %s\n\n%s\n\nRecorded by `scripts/transcripts` from the built programs, with a made-up account.\n", page.title, page.about)
			open := false
			fence := func(want bool) {
				if open != want {
					b.WriteString(map[bool]string{true: "\n```console\n", false: "```\n"}[want])
					open = want
				}
			}
			for _, line := range page.lines {
				if text, ok := strings.CutPrefix(line, "# "); ok {
					fence(false)
					fmt.Fprintf(&b, "\n%s\n", text)
					continue
				}
				fence(true)
				out, code := s.run(line)
				fmt.Fprintf(&b, "$ %s\n%s", line, s.fixed(out))
				if code != 0 {
					fmt.Fprintf(&b, "(exit %d)\n", code)
				}
			}
			fence(false)
			file := filepath.Join("../../docs/transcripts", page.name+".md")
			if *update {
				testenv.Write(t, file, b.String())
			}
			have, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(have) != b.String() {
				t.Errorf("%s is not what the programs print now; run scripts/transcripts. Got:\n%s", file, b.String())
			}
		})
	}
}

// fixed puts the same text where every run and machine has its own.
func (s *stranger) fixed(out string) string {
	out = strings.ReplaceAll(out, s.root, "")
	for _, r := range []struct{ find, put string }{
		{`(?m)((?:agent|bypass|error|status|git|sandbox)-[a-z-]+) (?:v\S+|\(devel\)|\(unknown\))(?: \([^)\n]*\))* go\S+`, "$1 v1.0.0 go1.26"},
		{`/tmp/claude-\d+`, "/tmp/claude-1000"},
		{`sha256 [0-9a-f]{8}`, "sha256 0123abcd"},
		{`\| (?:master|main)\b`, "| main"},
	} {
		out = regexp.MustCompile(r.find).ReplaceAllString(out, r.put)
	}
	return out
}
