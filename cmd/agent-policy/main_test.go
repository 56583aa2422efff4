package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sallyport/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"agent-policy": func() { os.Exit(run(cli.OS())) },
	})
}

// TestScripts runs the stories in testdata/script. Each starts with an empty home
// directory.
func TestScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stories are about POSIX paths and links")
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "AGENT_POLICY_CONFIG", "GITHUB_ACTIONS", "VISUAL", "EDITOR"} {
				env.Setenv(name, "")
			}
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o755)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"code": codeCmd, "replace": replaceCmd, "big": bigCmd},
	})
}

// code N PROGRAM ARGS... runs a program that must exit with N.
func codeCmd(ts *testscript.TestScript, _ bool, args []string) {
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

// replace FILE OLD NEW edits a file that must hold OLD.
func replaceCmd(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q:\n%s", args[0], args[1], text)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o600))
}

// big FILE MIB TEXT fills a file with repetitions of TEXT.
func bigCmd(ts *testscript.TestScript, _ bool, args []string) {
	mib, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(args[2], mib<<20/len(args[2]))), 0o600))
}
