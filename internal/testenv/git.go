// Package testenv makes the surroundings that tests need: a home of their own
// and real git repositories. Only tests import it.
package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Isolate gives the test a fresh HOME and an environment without anything
// that points git or the product at the developer's own files. It returns the
// home directory with symbolic links resolved.
func Isolate(t testing.TB) string {
	t.Helper()
	home := Dir(t)
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "XDG_") ||
			strings.HasPrefix(name, "CLAUDE") || strings.HasPrefix(name, "SALLYPORT_") ||
			strings.HasPrefix(name, "AGENT_") || strings.HasPrefix(name, "MAGPIE_") || name == "NO_COLOR" {
			unset(t, name)
		}
	}
	setenv := func(k, v string) {
		if tt, ok := t.(interface{ Setenv(k, v string) }); ok {
			tt.Setenv(k, v)
		}
	}
	setenv("HOME", home)
	setenv("USERPROFILE", home)
	setenv("GIT_CONFIG_NOSYSTEM", "1")
	config := "[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n" +
		"[advice]\n\tdetachedHead = false\n[protocol \"file\"]\n\tallow = always\n[commit]\n\tgpgSign = false\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func unset(t testing.TB, name string) {
	old, ok := os.LookupEnv(name)
	if !ok {
		return
	}
	os.Unsetenv(name)
	t.Cleanup(func() { os.Setenv(name, old) })
}

// Dir is t.TempDir with symbolic links resolved, so that paths compare equal
// to those that git prints. A process that a program left in the background may
// write into it for a moment after the test.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// This runs before TempDir's own clean-up, which tries once.
	t.Cleanup(func() {
		for range 50 {
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	return dir
}

// Git runs git in dir and returns its output without the last newline. It
// skips the test where there is no git.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s in %s: %v\n%s", strings.Join(args, " "), dir, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Repo makes a repository with one commit on branch main.
func Repo(t testing.TB, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	Git(t, dir, "init", "-q")
	Write(t, filepath.Join(dir, "a.txt"), "one\n")
	Git(t, dir, "add", "a.txt")
	Git(t, dir, "commit", "-q", "-m", "first")
	return dir
}

// Write writes a file and the directories above it.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
