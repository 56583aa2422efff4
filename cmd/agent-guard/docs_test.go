package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var fence = regexp.MustCompile("(?ms)^```[a-z]+ (\\S+)\n(.*?)^```$")

// The guards on the page about guards from files work and pass their own tests.
func TestGuardsOfTheDocumentation(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "pluggable-guards.md"))
	if err != nil {
		t.Fatal(err)
	}
	files := fence.FindAllSubmatch(page, -1)
	if len(files) != 3 {
		t.Fatalf("the page has %d guards with a file name, want one of each form", len(files))
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/docs",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			for _, f := range files {
				if err := os.WriteFile(filepath.Join(env.WorkDir, string(f[1])), f[2], 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	})
}
