//go:build unix

package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sallyport/internal/cli"
)

func TestMain(m *testing.M) {
	// The test binary goes by the name it is started by, so links to it must
	// be known here.
	commands := map[string]func(){}
	for _, name := range []string{"agent-iso", "claude-iso", "codex-iso", "kiro-iso", "mine-iso", "claude"} {
		commands[name] = func() { os.Exit(run(cli.OS())) }
	}
	testscript.Main(m, commands)
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := env.WorkDir + "/home"
			env.Setenv("HOME", home)
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			env.Setenv("PATH", env.WorkDir+"/bin:"+env.Getenv("PATH"))
			return os.MkdirAll(home, 0o755)
		},
	})
}
