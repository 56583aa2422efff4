package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sallyport/internal/testenv"
)

// What stands in a repository, a home or the environment may be anything. The
// line is drawn, says nothing on stderr, and says of the sandbox only what can
// be known.
func TestHostileSurroundings(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the surroundings are made by a Unix shell")
	}
	tests := []struct {
		name string
		prep string   // run in a fresh repository, with HOME set
		env  []string // added to the environment
		want string   // part of the line, if it matters
	}{
		{name: "HEAD is empty", prep: ": >.git/HEAD"},
		{name: "HEAD is large", prep: "head -c 3000000 /dev/zero >.git/HEAD"},
		{name: "HEAD is a pipe", prep: "rm .git/HEAD; mkfifo .git/HEAD"},
		{name: "git's configuration is a pipe", prep: "rm .git/config; mkfifo .git/config"},
		{name: "git's configuration is broken", prep: "echo '[core' >.git/config", want: " | main ~"},
		{name: "index is a pipe", prep: "rm .git/index; mkfifo .git/index", want: " | main ~"},
		{name: "index is garbage", prep: "echo garbage >.git/index", want: " | main ~"},
		{name: "index is locked", prep: ": >.git/index.lock", want: " | main | "},
		{name: "objects are gone", prep: "rm -rf .git/objects"},
		{name: ".git leads to itself", prep: "rm -rf .git; ln -s .git .git"},
		{name: ".git names its own folder", prep: "rm -rf .git; echo 'gitdir: .' >.git"},
		{name: ".git is a pipe", prep: "rm -rf .git; mkfifo .git"},
		{name: ".git is empty", prep: "rm -rf .git; mkdir .git"},
		{name: "settings are a pipe", prep: "mkdir .claude; mkfifo .claude/settings.json .claude/settings.local.json"},
		{name: "settings are endless", prep: "mkdir .claude; ln -s /dev/zero .claude/settings.json"},
		{name: "settings lead to themselves", prep: "mkdir .claude; ln -s settings.json .claude/settings.json", want: "[sandbox unknown]"},
		{name: "settings are deep", prep: "mkdir .claude; head -c 5000000 /dev/zero | tr '\\0' '[' >.claude/settings.json"},
		{name: "configuration is a pipe", prep: `mkdir -p "$HOME/.config/sallyport"; mkfifo "$HOME/.config/sallyport/status-line.toml"`, want: " | main"},
		{name: "configuration is deep", prep: `mkdir -p "$HOME/.config/sallyport"; (printf 'x='; head -c 64000 /dev/zero | tr '\0' '[') >"$HOME/.config/sallyport/status-line.toml"`, want: " | main"},
		{name: "cache is a file", prep: `: >"$HOME/.cache"`, want: " | main"},
		{name: "nothing can be written", prep: `chmod 500 "$HOME"`, want: " | main"},
		{name: "HOME is a file", env: []string{"HOME=/dev/null"}},
		{name: "HOME is relative", env: []string{"HOME=x"}},
		{name: "PATH is empty", env: []string{"PATH="}, want: " | main ~"},
		{name: "PATH is relative", env: []string{"PATH=.:bin"}, prep: "printf '#!/bin/sh\\ntouch ran' >git; chmod +x git", want: " | main ~"},
		{name: "GIT_DIR leads nowhere", env: []string{"GIT_DIR=/nonexistent"}},
		{name: "GIT_TRACE", env: []string{"GIT_TRACE=1", "GIT_TRACE2=1"}, want: " | main | "},
		{name: "another's GIT_INDEX_FILE", env: []string{"GIT_INDEX_FILE=/nonexistent"}, want: " | main | "},
		{name: "CLAUDE_PID is none", env: []string{"CLAUDE_PID=abc"}},
		{name: "CLAUDE_PID is not ours", env: []string{"CLAUDE_PID=2"}},
		{name: "COLUMNS is 0", env: []string{"COLUMNS=0"}, want: " | main | "},
		{name: "COLUMNS is no number", env: []string{"COLUMNS=80x"}, want: " | main | "},
		{name: "COLUMNS is negative", env: []string{"COLUMNS=-1"}, want: " | main | "},
		{name: "COLUMNS overflows", env: []string{"COLUMNS=99999999999999999999"}, want: " | main | "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := testenv.Isolate(t)
			repo := testenv.Repo(t, filepath.Join(testenv.Dir(t), "repo"))
			// A busy machine must not make git late where git can answer.
			testenv.Write(t, filepath.Join(home, "xdg", "sallyport", "status-line.toml"), "budget = \"2s\"\n")
			sh := exec.Command("/bin/sh", "-c", tt.prep)
			sh.Dir = repo
			if out, err := sh.CombinedOutput(); err != nil {
				t.Fatalf("prepare: %v\n%s", err, out)
			}
			t.Cleanup(func() { os.Chmod(home, 0o700) })
			cmd := program(t, payloadFor(repo), "--color=never")
			cmd.Dir = repo
			if !strings.Contains(tt.prep, "/.config/") {
				cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+filepath.Join(home, "xdg"))
			}
			cmd.Env = append(cmd.Env, tt.env...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			line := oneLine(t, out, err)
			if !strings.HasPrefix(line, "[") || strings.HasPrefix(line, "[sandbox]") || !strings.Contains(line, tt.want) || stderr.Len() > 0 {
				t.Errorf("line %q, stderr %q; want %q in it", line, &stderr, tt.want)
			}
			if _, err := os.Lstat(filepath.Join(repo, "ran")); err == nil {
				t.Error("the repository's own git ran")
			}
		})
	}
}
