package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sallyport/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(cleaner{m}, map[string]func(){
		"agent-setup":      func() { os.Exit(run(cli.OS())) },
		"add-project-root": func() { os.Exit(run(cli.OS())) },
	})
}

// A cleaner removes what the tests built once.
type cleaner struct{ m *testing.M }

func (c cleaner) Run() int {
	code := c.m.Run()
	for _, dir := range []string{built, suiteDir} {
		if dir != "" {
			os.RemoveAll(dir)
		}
	}
	return code
}

// stub is a small real program, built once for all tests.
var stub = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "stub")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "stub")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./testdata/stub")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return os.ReadFile(program)
})

// TestScripts runs the stories in testdata/script. Each starts with an empty
// home directory and a release directory that holds every program as a stub.
func TestScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stories are about POSIX shells and paths")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
	program, err := stub()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("SHELL", "/bin/bash")
			env.Setenv("SALLYPORT_NOW", "2026-10-01T12:00:00Z")
			env.Setenv("PATH", filepath.Join(env.WorkDir, "bin")+string(filepath.ListSeparator)+withoutClient(env.Getenv("PATH")))
			for _, dir := range []string{"home", "bin", "release"} {
				if err := os.MkdirAll(filepath.Join(env.WorkDir, dir), 0o755); err != nil {
					return err
				}
			}
			for _, name := range []string{"agent-setup", "bypass-warn", "error-hint", "status-line", "status-line-configure", "agent-guard", "agent-guard-starlark", "agent-iso", "git-hook"} {
				if err := os.WriteFile(filepath.Join(env.WorkDir, "release", name), program, 0o755); err != nil {
					return err
				}
			}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code":     codeCmd,
			"snapshot": snapshotCmd,
			"limit":    limitCmd,
			"replace":  replaceCmd,
			"mode":     modeCmd,
			"claude":   claudeCmd,
		},
	})
}

// withoutClient drops directories that hold a real client, whose version would
// decide what is wired.
func withoutClient(path string) string {
	var keep []string
	for _, dir := range filepath.SplitList(path) {
		if _, err := os.Stat(filepath.Join(dir, "claude")); err != nil {
			keep = append(keep, dir)
		}
	}
	return strings.Join(keep, string(filepath.ListSeparator))
}

// code N PROGRAM ARGS... runs a program that must exit with N.
func codeCmd(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("%s: exit %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// snapshot FILE DIR lists everything below DIR with mode, time and content, to
// be compared with cmp.
func snapshotCmd(ts *testscript.TestScript, neg bool, args []string) {
	var b strings.Builder
	root := ts.MkAbs(args[1])
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		fmt.Fprintf(&b, "%s %v", rel, info.Mode())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			fmt.Fprintf(&b, " -> %s", target)
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %s %x", info.ModTime(), sha256.Sum256(data))
		}
		b.WriteByte('\n')
		return nil
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// limit N PROGRAM ARGS... must fail when no file may grow beyond N KiB, which
// stands in for a full disk.
func limitCmd(ts *testscript.TestScript, neg bool, args []string) {
	// ulimit -f counts 512-byte blocks in POSIX shells and KiB in bash.
	script := fmt.Sprintf("ulimit -f %s && exec \"$@\"", args[0])
	if err := ts.Exec("/bin/sh", append([]string{"-c", script, "sh"}, args[1:]...)...); err == nil {
		ts.Fatalf("succeeded under a file size limit")
	}
}

// replace FILE OLD NEW edits a file that must hold OLD; \n is a line end.
func replaceCmd(ts *testscript.TestScript, neg bool, args []string) {
	file := ts.MkAbs(args[0])
	text := ts.ReadFile(args[0])
	old, new := strings.ReplaceAll(args[1], `\n`, "\n"), strings.ReplaceAll(args[2], `\n`, "\n")
	if !strings.Contains(text, old) {
		ts.Fatalf("%s does not hold %q", args[0], old)
	}
	info, err := os.Stat(file)
	ts.Check(err)
	ts.Check(os.WriteFile(file, []byte(strings.ReplaceAll(text, old, new)), info.Mode()))
}

// mode OCTAL FILE checks permissions.
func modeCmd(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// claude VERSION puts a client of that version on PATH.
func claudeCmd(ts *testscript.TestScript, neg bool, args []string) {
	text := "#!/bin/sh\necho '" + args[0] + " (Claude Code)'\n"
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "bin", "claude"), []byte(text), 0o755))
}
