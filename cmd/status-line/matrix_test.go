package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sallyport/internal/testenv"
)

// A place is a directory that a session may start in, and the root of the main
// checkout there, if there is one.
type place struct {
	name        string
	start, root string
	folder      string
}

func places(t *testing.T, home string) []place {
	src := filepath.Join(home, "src")
	main := testenv.Repo(t, filepath.Join(src, "magpie"))
	testenv.Git(t, main, "worktree", "add", "-q", "-b", "topic", filepath.Join(src, "magpie-topic"))
	lib := testenv.Repo(t, filepath.Join(src, "lib-origin"))
	testenv.Git(t, main, "submodule", "--quiet", "add", lib, "lib")
	testenv.Git(t, main, "commit", "-q", "-m", "lib")
	inner := testenv.Repo(t, filepath.Join(main, "inner"))
	bare := filepath.Join(src, "widget.git")
	testenv.Git(t, src, "clone", "-q", "--bare", lib, bare)
	testenv.Git(t, bare, "worktree", "add", "-q", "-b", "wt", filepath.Join(src, "wt"))
	for _, dir := range []string{filepath.Join(main, "sub"), filepath.Join(src, "magpie-topic", "sub"), filepath.Join(src, "notes")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return []place{
		{"main checkout", main, main, "magpie"},
		{"subfolder", filepath.Join(main, "sub"), main, "magpie"},
		{"linked worktree", filepath.Join(src, "magpie-topic"), main, "magpie/topic"},
		{"subfolder of a linked worktree", filepath.Join(src, "magpie-topic", "sub"), main, "magpie/topic"},
		{"submodule", filepath.Join(main, "lib"), filepath.Join(main, "lib"), "lib"},
		{"nested repository", inner, inner, "inner"},
		{"worktree of a bare clone", filepath.Join(src, "wt"), "", "widget/wt"},
		{"outside git", filepath.Join(src, "notes"), "", "notes"},
	}
}

func TestTagInEveryLayout(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no sandbox on Windows")
	}
	home := testenv.Isolate(t)
	for _, name := range []string{"bwrap", "socat"} {
		path := filepath.Join(home, "bin", name)
		testenv.Write(t, path, "#!/bin/sh\n")
		os.Chmod(path, 0o755)
	}
	t.Setenv("PATH", filepath.Join(home, "bin")+":"+os.Getenv("PATH"))
	testenv.Write(t, filepath.Join(home, ".config", "sallyport", "status-line.toml"), "budget = \"10s\"\n")
	const (
		on   = `{"sandbox":{"enabled":true}}`
		auto = `{"sandbox":{"enabled":true,"autoAllowBashIfSandboxed":true}}`
		off  = `{"sandbox":{"enabled":false}}`
	)
	user := filepath.Join(home, ".claude", "settings.json")
	type files map[string]string
	for _, p := range places(t, home) {
		project := filepath.Join(p.start, ".claude", "settings.json")
		cases := []struct {
			name  string
			files files
			want  string
		}{
			{"nothing", nil, "[NO SANDBOX]"},
			{"user", files{user: on}, "[sandbox]"},
			{"project", files{project: on}, "[sandbox]"},
			{"project over user", files{project: off, user: on}, "[NO SANDBOX]"},
			{"automatic from the user, on from the project", files{project: on, user: auto}, "[sandbox-auto]"},
			{"the user's local file is not read", files{filepath.Join(home, ".claude", "settings.local.json"): on}, "[NO SANDBOX]"},
			{"text is no answer", files{project: `{"sandbox":{"enabled":"true"}}`}, "[NO SANDBOX]"},
			{"a broken file is dropped", files{project: `{"sandbox":`, user: on}, "[sandbox]"},
		}
		if p.root != "" {
			local := filepath.Join(p.root, ".claude", "settings.local.json")
			cases = append(cases, []struct {
				name  string
				files files
				want  string
			}{
				{"local of the main checkout", files{local: on}, "[sandbox]"},
				{"local over project and user", files{local: off, project: on, user: on}, "[NO SANDBOX]"},
				{"left-over local of the start", files{filepath.Join(p.start, ".claude", "settings.local.json"): on}, "[sandbox]"},
			}...)
			if p.root != p.start {
				cases = append(cases, struct {
					name  string
					files files
					want  string
				}{"project file of the root is not read", files{filepath.Join(p.root, ".claude", "settings.json"): on}, "[NO SANDBOX]"})
			}
		}
		for _, c := range cases {
			for path, text := range c.files {
				testenv.Write(t, path, text)
			}
			out, err := program(t, payloadFor(p.start), "--color=never").Output()
			line := oneLine(t, out, err)
			if !strings.HasPrefix(line, c.want+" "+p.folder+" |") {
				t.Errorf("%s, %s: %q, want %s %s", p.name, c.name, line, c.want, p.folder)
			}
			for path := range c.files {
				os.Remove(path)
			}
		}
	}
}
