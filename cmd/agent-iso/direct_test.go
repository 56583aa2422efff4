//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// build builds a main package of this module.
func build(t *testing.T, name, pkg string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("go", "build", "-o", out, pkg)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, text)
	}
	return out
}

// A start through the launcher is a direct start with fewer variables: same
// exit, arguments, process, open files and signals.
func TestSameAsDirectStart(t *testing.T) {
	launcher := build(t, "agent-iso", ".")
	probe := build(t, "probe", "./testdata/probe")
	dir := t.TempDir()
	environ := []string{"HOME=" + dir, "PATH=" + filepath.Dir(probe) + ":/usr/bin:/bin", "LC_ALL=C.UTF-8", "PWD=" + dir, "USER=\xff\xfe", "LANG=a=\"b'\nc", "LOGNAME= "}
	type result struct {
		out  string
		wait syscall.WaitStatus
	}
	start := func(argv []string, extra ...string) result {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, append(slices.Clone(environ), extra...)
		cmd.Stdin = strings.NewReader("input")
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		_ = cmd.Wait()
		text := strings.ReplaceAll(out.String(), fmt.Sprintf("pid %d\n", pid), "pid is the one started\n")
		return result{text, cmd.ProcessState.Sys().(syscall.WaitStatus)}
	}
	tests := [][]string{
		{"probe"},
		{"probe", "", " ", "\n", "-", "--", "--x=y", "-abc", "ü", "\xff\xfe", `"`, `'`, `\`, "$HOME", "*", "a=b", "\t", strings.Repeat("x", 100000)},
		{"probe", "--explain", "--help", "--version"},
		{"sh", "-c", "exit 0"}, {"sh", "-c", "exit 1"}, {"sh", "-c", "exit 2"}, {"sh", "-c", "exit 64"}, {"sh", "-c", "exit 127"}, {"sh", "-c", "exit 255"},
		{"sh", "-c", "kill -TERM $$"}, {"sh", "-c", "kill -INT $$"}, {"sh", "-c", "kill -KILL $$"}, {"sh", "-c", "kill -HUP $$"}, {"sh", "-c", "kill -SEGV $$"},
		{"cat"},
		{"grep", "-E", "^(SigBlk|SigIgn)", "/proc/self/status"},
	}
	for _, argv := range tests {
		direct := slices.Clone(argv)
		direct[0] = lookPath(t, environ, argv[0])
		want := start(direct)
		got := start(append([]string{launcher}, argv...), "GH_TOKEN=secret", "EDITOR=vi")
		// A direct start by path has the path as its first argument.
		want.out = strings.Replace(want.out, fmt.Sprintf("arg %q", direct[0]), fmt.Sprintf("arg %q", argv[0]), 1)
		if got != want {
			t.Errorf("start of %.200q\n got %.1000q, %v\nwant %.1000q, %v", argv, got.out, got.wait, want.out, want.wait)
		}
		if argv[0] == "probe" && !strings.Contains(got.out, "pid is the one started") {
			t.Errorf("start of %.200q is another process: %.500q", argv, got.out)
		}
	}
}

// No variable that looks like a credential reaches the program, whatever its
// value.
func TestNoCredentialReachesTheProgram(t *testing.T) {
	launcher := build(t, "agent-iso", ".")
	values := []string{"plain", "two\nHOME=x\nlines", `"quoted" 'twice'`, "a=b=c", "\xff\xfe", "$(id)", " ", "-"}
	environ := []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}
	for i, prefix := range []string{"ANTHROPIC", "AWS", "GITHUB", "NPM", "OPENAI", "STRIPE"} {
		for j, suffix := range []string{"TOKEN", "SECRET", "API_KEY", "PASSWORD", "ACCESS_KEY", "CREDENTIALS", "PRIVATE_KEY", "AUTH", "PAT", "DSN"} {
			environ = append(environ, prefix+"_"+suffix+"="+values[(i*10+j)%len(values)])
		}
	}
	for _, wrap := range [][]string{nil, {"--sandbox", "full"}, {"--report", os.DevNull}} {
		cmd := exec.Command(launcher, append(wrap, "env", "-0")...)
		cmd.Dir, cmd.Env = t.TempDir(), environ
		out, err := cmd.Output()
		if want := "PATH=/usr/bin:/bin\x00HOME=/nonexistent\x00"; err != nil || string(out) != want {
			t.Errorf("with %q the program gets %q (%v), want %q", wrap, out, err, want)
		}
	}
}

func lookPath(t *testing.T, environ []string, name string) string {
	t.Helper()
	for _, e := range environ {
		if path, ok := strings.CutPrefix(e, "PATH="); ok {
			for _, d := range filepath.SplitList(path) {
				if _, err := os.Stat(filepath.Join(d, name)); err == nil {
					return filepath.Join(d, name)
				}
			}
		}
	}
	t.Skipf("no %s", name)
	return ""
}

// The program has the terminal: it is in its foreground, may read it, and gets
// what is typed to interrupt it.
func TestTerminal(t *testing.T) {
	launcher := build(t, "agent-iso", ".")
	ptm, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer ptm.Close()
	if err := unix.IoctlSetPointerInt(int(ptm.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	n, err := unix.IoctlGetInt(int(ptm.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	pts, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer pts.Close()

	cmd := exec.Command(launcher, "sh", "-c", `trap 'echo interrupted; exit 42' INT; test -t 0 && test -t 1 && test -t 2 && echo terminal; read x; echo "read $x"; while :; do sleep 1; done`)
	cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=/usr/bin:/bin"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pts, pts, pts
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	var screen strings.Builder
	chunks := make(chan string)
	go func() {
		defer close(chunks)
		buf := make([]byte, 4096)
		for {
			n, err := ptm.Read(buf)
			if n > 0 {
				chunks <- string(buf[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	expect := func(text string) {
		t.Helper()
		timeout := time.After(20 * time.Second)
		for !strings.Contains(screen.String(), text) {
			select {
			case c, ok := <-chunks:
				if !ok {
					t.Fatalf("the terminal closed; it showed %q, want %q", screen.String(), text)
				}
				screen.WriteString(c)
			case <-timeout:
				t.Fatalf("the terminal shows %q, want %q", screen.String(), text)
			}
		}
	}
	expect("terminal\r\n")
	if want := "\x1b[2m[sh-iso] running in isolated env (/"; !strings.Contains(screen.String(), want) {
		t.Errorf("the terminal shows %q, want %q dim", screen.String(), want)
	}
	fmt.Fprint(ptm, "word\n")
	expect("read word\r\n")
	fmt.Fprint(ptm, "\x03")
	expect("interrupted\r\n")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 42 {
		t.Errorf("exit code %d, want the program's 42", code)
	}
}
