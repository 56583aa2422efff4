package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sallyport/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){name: func() { os.Exit(run(cli.OS())) }})
}

func TestScripts(t *testing.T) { testscript.Run(t, testscript.Params{Dir: "testdata/script"}) }
