package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sallyport/guards/plugin/starguard"
	"sallyport/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"agent-guard":          func() { os.Exit(run(cli.OS())) },
		"agent-guard-starlark": func() { os.Exit(starguard.Work(os.Stdin, os.Stdout)) },
	})
}

func TestScripts(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine")
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := env.WorkDir + "/home"
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			env.Setenv("HOME", home)
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			env.Setenv("GIT_AUTHOR_NAME", "Dev")
			env.Setenv("GIT_AUTHOR_EMAIL", "dev@example.com")
			env.Setenv("GIT_COMMITTER_NAME", "Dev")
			env.Setenv("GIT_COMMITTER_EMAIL", "dev@example.com")
			return nil
		},
	})
}
