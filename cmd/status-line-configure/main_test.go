package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/rogpeppe/go-internal/testscript"

	"sallyport/internal/ansisvg"
	"sallyport/internal/cli"
	"sallyport/internal/statusline/config"
	"sallyport/internal/statusline/configure"
	"sallyport/internal/testenv"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		name: func() { os.Exit(run(cli.OS())) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("USERPROFILE", home)
			return nil
		},
	})
}

// A tmux is a terminal of its own, driven as a person would.
type tmux struct {
	t   *testing.T
	env []string
}

// startTmux runs a shell command in a terminal of 80 by 24.
func startTmux(t *testing.T, home, command string, environ ...string) *tmux {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs tmux")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	// The socket's path has to be short.
	dir, err := os.MkdirTemp("", "tmux-")
	if err != nil {
		t.Fatal(err)
	}
	tm := &tmux{t, append([]string{"TMUX_TMPDIR=" + dir, "HOME=" + home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TERM=xterm-256color", "SHELL=/bin/sh"}, environ...)}
	t.Cleanup(func() {
		tm.command("kill-server").Run()
		os.RemoveAll(dir)
	})
	if out, err := tm.command("-u", "-f", os.DevNull, "new-session", "-d", "-x", "80", "-y", "24", "-s", "s", command).CombinedOutput(); err != nil {
		t.Skipf("tmux does not start: %v\n%s", err, out)
	}
	return tm
}

func (tm *tmux) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", args...)
	cmd.Env = tm.env
	return cmd
}

func (tm *tmux) run(args ...string) {
	tm.t.Helper()
	if out, err := tm.command(args...).CombinedOutput(); err != nil {
		tm.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
}

func (tm *tmux) keys(keys ...string) {
	tm.t.Helper()
	tm.run(append([]string{"send-keys", "-t", "s"}, keys...)...)
}

func (tm *tmux) screen(more ...string) string {
	out, _ := tm.command(append([]string{"capture-pane", "-p", "-t", "s"}, more...)...).Output()
	return string(out)
}

// await waits until the screen shows all the texts, and returns it.
func (tm *tmux) await(texts ...string) string {
	tm.t.Helper()
	screen := ""
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		screen = tm.screen()
		missing := false
		for _, text := range texts {
			missing = missing || !strings.Contains(screen, text)
		}
		if !missing {
			return screen
		}
	}
	tm.t.Fatalf("screen shows\n%swithout all of %q", screen, texts)
	return ""
}

// buildBoth puts the line and the screen into one directory, as they are
// installed.
func buildBoth(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
	dir := testenv.Dir(t)
	cmd := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "sallyport/cmd/status-line", "sallyport/cmd/"+name)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return dir
}

func TestInATerminal(t *testing.T) {
	bin := buildBoth(t)
	line := filepath.Join(bin, "status-line")
	setup := func(t *testing.T, file string) (home, path string) {
		home = testenv.Dir(t)
		path = filepath.Join(home, ".config", "sallyport", "status-line.toml")
		if file != "" {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return home, path
	}
	read := func(t *testing.T, path string) string {
		data, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(data)
	}
	// The shell says how the program ended, and keeps the terminal.
	run := line + " configure; echo exit=$?; exec cat"
	const before = "# mine\nsegments = [\"sandbox\", \"folder\", \"git\"] # short\n"

	t.Run("write", func(t *testing.T) {
		home, path := setup(t, before)
		tm := startTmux(t, home, run)
		tm.await("[1 Segments]", "[sandbox] magpie | feat/status-line * +2", "> [x] sandbox")
		tm.keys("Down", "Down", "K")
		tm.await("[sandbox] feat/status-line * +2 | magpie")
		tm.keys("2", "Right")
		tm.await("[2 Look]", "< mono")
		tm.keys("w")
		tm.await(`+segments = ["sandbox", "git", "folder"] # short`, `+theme = "mono"`)
		tm.keys("Enter")
		tm.await("wrote "+path, "exit=0")
		want := "# mine\nsegments = [\"sandbox\", \"git\", \"folder\"] # short\ntheme = \"mono\"\n"
		if got := read(t, path); got != want {
			t.Errorf("file is %q, want %q", got, want)
		}
		backups, _ := filepath.Glob(filepath.Join(home, ".local/state/sallyport/status-line/*"))
		if len(backups) != 1 || read(t, backups[0]) != before {
			t.Errorf("backups %q do not hold the file as it was", backups)
		}
	})
	for _, key := range []string{"q", "Escape", "C-c"} {
		t.Run("leave with "+key, func(t *testing.T) {
			home, path := setup(t, before)
			tm := startTmux(t, home, run)
			tm.await("> [x] sandbox")
			tm.keys("Down", "Space", "3")
			tm.await("[3 Write (1 changed)]")
			tm.keys(key)
			tm.await("nothing was written", "status-line config set segments", "exit=0")
			if got := read(t, path); got != before {
				t.Errorf("file is %q, want it untouched", got)
			}
		})
	}
	t.Run("resize", func(t *testing.T) {
		home, _ := setup(t, "")
		tm := startTmux(t, home, run)
		tm.await("[1 Segments]", "#1211 Add the walkthrou… | Opus 5")
		tm.run("resize-window", "-t", "s", "-x", "120", "-y", "30")
		tm.await("#1211 Add the walkthrough step | Opus 5", "exec:<command>")
		tm.run("resize-window", "-t", "s", "-x", "20", "-y", "5")
		tm.await("20 x 5 is too small")
		tm.run("resize-window", "-t", "s", "-x", "60", "-y", "12")
		tm.await("[1 Segments]")
	})
	t.Run("no colour", func(t *testing.T) {
		home, _ := setup(t, "")
		tm := startTmux(t, home, run, "NO_COLOR=1")
		tm.await("> [x] sandbox")
		if screen := tm.screen("-e"); strings.Contains(screen, "\x1b[") {
			t.Errorf("NO_COLOR, and the screen has styles:\n%q", screen)
		}
	})
	t.Run("colour", func(t *testing.T) {
		home, _ := setup(t, "")
		tm := startTmux(t, home, run)
		tm.await("> [x] sandbox")
		if screen := tm.screen("-e"); !strings.Contains(screen, "32m[sandbox]") {
			t.Errorf("the tag of the preview is not green:\n%q", screen)
		}
	})
	t.Run("changed meanwhile", func(t *testing.T) {
		home, path := setup(t, before)
		tm := startTmux(t, home, run)
		tm.await("> [x] sandbox")
		if err := os.WriteFile(path, []byte("width = 70\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		tm.keys("Down", "Space", "w", "Enter")
		tm.await("was changed by somebody else")
		tm.keys("q")
		tm.await("exit=0")
		if got := read(t, path); got != "width = 70\n" {
			t.Errorf("file is %q, want the other's", got)
		}
	})
	t.Run("broken file", func(t *testing.T) {
		home, path := setup(t, "theme = \"mono\"\nsymbols = \"emoji\"\n")
		tm := startTmux(t, home, run)
		tm.await("symbols: \"emoji\" is no set of symbols", "Mend the lines named", "exit=2")
		if screen := strings.ReplaceAll(tm.screen(), "\n", ""); !strings.Contains(screen, path+":2") {
			t.Errorf("screen does not name %s:2:\n%s", path, screen)
		}
	})
	t.Run("program missing", func(t *testing.T) {
		alone := testenv.Dir(t)
		data, err := os.ReadFile(line)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(alone, "status-line"), data, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(filepath.Join(alone, "status-line"), "configure")
		cmd.Env = []string{"HOME=" + alone}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err = cmd.Run()
		if cmd.ProcessState.ExitCode() != cli.ExitInput || !strings.Contains(stderr.String(), name+" is not beside ") {
			t.Errorf("ends with %v: %s", err, &stderr)
		}
	})
	t.Run("through a link", func(t *testing.T) {
		elsewhere := testenv.Dir(t)
		link := filepath.Join(elsewhere, "status-line")
		if err := os.Symlink(line, link); err != nil {
			t.Skip("no symbolic links here")
		}
		cmd := exec.Command(link, "configure")
		cmd.Env = []string{"HOME=" + elsewhere}
		out, _ := cmd.CombinedOutput()
		if !strings.Contains(string(out), "needs a terminal") {
			t.Errorf("through a link: %s", out)
		}
	})
}

// The manual names the files that the screen touches.
func TestUsageNamesTheFiles(t *testing.T) {
	getenv := func(name string) string {
		return map[string]string{"HOME": "/home/me", "USERPROFILE": "/home/me"}[name]
	}
	for _, path := range []string{config.Path(getenv), config.Backups(getenv)} {
		short := "~" + strings.TrimPrefix(filepath.ToSlash(path), "/home/me")
		if !strings.Contains(usage, short) {
			t.Errorf("usage does not name %s", short)
		}
	}
	for i, line := range strings.Split(usage, "\n") {
		if len(line) > 88 {
			t.Errorf("line %d of the usage is %d columns wide", i+1, len(line))
		}
	}
}

var update = flag.Bool("update", false, "rewrite docs/img/configure.svg")

// The picture of the documentation is the screen itself.
func TestDocsPicture(t *testing.T) {
	s, errs := configure.New(configure.Options{
		Path: "~/.config/sallyport/status-line.toml", Color: true,
		Getenv: func(string) string { return "" },
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, key := range []tea.KeyPressMsg{{Code: tea.KeyDown}, {Code: tea.KeyDown}, {Code: tea.KeyDown}, {Code: tea.KeyDown}, {Code: tea.KeyDown}, {Code: tea.KeySpace}} {
		s.Update(key)
	}
	s.Update(tea.WindowSizeMsg{Width: 88, Height: 28})
	got := ansisvg.Draw("status-line configure", []ansisvg.Line{{Text: s.Draw()}})
	picture := filepath.Join("..", "..", "docs", "img", "configure.svg")
	if *update {
		if err := os.WriteFile(picture, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(picture)
	if err != nil || strings.ReplaceAll(string(want), "\r\n", "\n") != string(got) {
		t.Errorf("%s is not what the program draws (%v); run go generate ./cmd/status-line", picture, err)
	}
}
