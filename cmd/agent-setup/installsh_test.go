package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A shellRun is install.sh with an account and a PATH of its own.
type shellRun struct {
	shell, home, path string
	env               []string
}

func newShellRun(t *testing.T) *shellRun {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("install.sh needs a POSIX shell")
	}
	shell, err := exec.LookPath("dash")
	if err != nil {
		shell = "/bin/sh"
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &shellRun{shell: shell, home: home, path: withoutClient(os.Getenv("PATH"))}
}

// tools makes a PATH of only these programs.
func (s *shellRun) tools(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is not installed", name)
		}
		if err := os.Symlink(program, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.path = dir
	return dir
}

func (s *shellRun) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	script, err := filepath.Abs("../../install.sh")
	if err != nil {
		t.Fatal(err)
	}
	var out, msg strings.Builder
	cmd := exec.Command(s.shell, append([]string{script}, args...)...)
	cmd.Dir = s.home
	cmd.Env = append([]string{"HOME=" + s.home, "PATH=" + s.path, "SHELL=/bin/bash", "GOTOOLCHAIN=local"}, s.env...)
	cmd.Stdout, cmd.Stderr = &out, &msg
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), msg.String()
}

var posixTools = []string{"sh", "awk", "cat", "dirname", "mkdir", "mktemp", "rm"}

func TestInstallScriptRefusals(t *testing.T) {
	goScript := func(t *testing.T, dir, body string) {
		if err := os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	need := goVersionNeeded(t)
	for _, tt := range []struct {
		why  string
		fake string
		args []string
		code int
		say  string // on stderr
	}{
		{"no Go", "", nil, 1, "Go is not on PATH, and the programs are built from source: install Go " + need},
		{"an old Go", "echo go1.20.3", nil, 1, "Go " + need + " or newer is needed (go.mod), but "},
		{"a Go that cannot tell", "echo 'toolchain not available' >&2; exit 1", nil, 1, "toolchain not available"},
		{"a build that fails", `case $1 in env) echo go99.1;; *) echo 'syntax error' >&2; exit 2;; esac`, nil, 1, "the build failed; nothing was installed"},
		{"a Go of its own make", `case $1 in env) echo 'devel go1.99-abc';; *) exit 2;; esac`, nil, 1, "the build failed"},
		{"no git", `case $1 in env) echo go99.1rc2;; *) exit 2;; esac`, nil, 1, "git is not on PATH"},
		{"help needs nothing", "", []string{"--yes", "--help"}, 0, ""},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := newShellRun(t)
			dir := s.tools(t, posixTools...)
			if tt.fake != "" {
				goScript(t, dir, tt.fake)
			}
			code, stdout, stderr := s.run(t, tt.args...)
			if code != tt.code || !strings.Contains(stderr, tt.say) {
				t.Errorf("exit %d, stderr %q; want %d and %q", code, stderr, tt.code, tt.say)
			}
			if tt.code == 0 && !strings.HasPrefix(stdout, "Usage: ./install.sh") {
				t.Errorf("stdout %q, want the usage", stdout)
			}
			if left, _ := os.ReadDir(s.home); len(left) > 0 {
				t.Errorf("left in the home directory: %v", left)
			}
		})
	}
}

func goVersionNeeded(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "go "); ok {
			return strings.TrimSpace(v)
		}
	}
	t.Fatal("go.mod names no Go version")
	return ""
}

// TestInstallScript builds the real programs and installs them for an account
// that has nothing.
func TestInstallScript(t *testing.T) {
	if testing.Short() {
		t.Skip("builds every program")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
	s := newShellRun(t)
	for _, name := range []string{"GOPATH", "GOMODCACHE", "GOCACHE", "GOFLAGS"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		s.env = append(s.env, name+"="+strings.TrimSpace(string(out)))
	}
	temp := t.TempDir()
	s.env = append(s.env, "GOPROXY=off", "TMPDIR="+temp)
	var programs []string
	for _, name := range []string{"bypass-warn", "error-hint", "status-line", "status-line-configure", "agent-guard", "agent-guard-starlark", "agent-iso"} {
		if _, err := os.Stat("../" + name); err == nil {
			programs = append(programs, name)
		}
	}
	code, stdout, stderr := s.run(t, "--yes")
	if len(programs) == 0 {
		if code != 2 || !strings.Contains(stderr, "holds none of the programs") {
			t.Errorf("exit %d without a program to install, want 2\n%s", code, stderr)
		}
		return
	}
	if code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	for _, name := range append(programs, "agent-setup") {
		if !strings.Contains(stdout, "✓ "+name) {
			t.Errorf("%s is not checked:\n%s", name, stdout)
		}
		if out, err := exec.Command(filepath.Join(s.home, ".claude/scripts", name), "--version").Output(); err != nil || !strings.HasPrefix(string(out), name+" ") {
			t.Errorf("%s --version: %q, %v", name, out, err)
		}
	}
	settings := filepath.Join(s.home, ".claude/settings.json")
	before, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr = s.run(t, "--yes"); code != 0 || !strings.Contains(stdout, "nothing to do") {
		t.Errorf("a second run: exit %d\n%s\n%s", code, stdout, stderr)
	}
	if after, _ := os.ReadFile(settings); string(after) != string(before) {
		t.Errorf("a second run changed the settings:\n%s", after)
	}
	// Flags with blanks in their values arrive whole; exit codes come back.
	if code, _, stderr = s.run(t, "--only", "no such", "--dry-run"); code != 64 || !strings.Contains(stderr, `unknown component "no such"`) {
		t.Errorf("exit %d, want 64\n%s", code, stderr)
	}
	if code, _, _ = s.run(t, "--uninstall"); code != 1 {
		t.Errorf("uninstall without --yes: exit %d, want 1", code)
	}
	if code, stdout, stderr = s.run(t, "--yes", "--uninstall"); code != 0 {
		t.Errorf("uninstall: exit %d\n%s\n%s", code, stdout, stderr)
	}
	for _, gone := range []string{".claude", ".bashrc"} {
		if _, err := os.Lstat(filepath.Join(s.home, gone)); err == nil {
			t.Errorf("%s is left", gone)
		}
	}
	// Without Go an installed agent-setup is enough to get rid of it.
	if code, _, _ = s.run(t, "--yes"); code != 0 {
		t.Fatal("cannot install again")
	}
	s.tools(t, posixTools...)
	if code, stdout, stderr = s.run(t, "--uninstall", "--yes"); code != 0 || !strings.Contains(stdout, "removed") {
		t.Errorf("uninstall without Go: exit %d\n%s\n%s", code, stdout, stderr)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, error %v", left, err)
	}
}

func TestInstallScriptIsClean(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed")
	}
	if out, err := exec.Command(shellcheck, "--shell=sh", "../../install.sh").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
