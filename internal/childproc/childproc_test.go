package childproc

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func sh(t *testing.T, script string) Program {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a Unix shell")
	}
	return Program{Path: "/bin/sh", Args: []string{"-c", script}, Env: os.Environ()}
}

func TestLookPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("names of programs differ")
	}
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"good/tool": 0o755, "plain/tool": 0o644, "rel/tool": 0o755} {
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		os.WriteFile(path, nil, mode)
	}
	os.MkdirAll(filepath.Join(dir, "folder", "tool"), 0o755)
	t.Chdir(dir)
	for _, tt := range []struct{ path, want string }{
		{dir + "/plain:" + dir + "/folder:" + dir + "/good", dir + "/good/tool"},
		{"rel:.:" + dir + "/good", dir + "/good/tool"},
		{"rel::.", ""},
		{"", ""},
	} {
		got, ok := LookPath("tool", func(string) string { return tt.path })
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("LookPath with PATH=%s = %q, %v; want %q", tt.path, got, ok, tt.want)
		}
	}
}

func TestOutput(t *testing.T) {
	out, err := sh(t, "echo out; echo err >&2; cat").Output(context.Background(), 100)
	if string(out) != "out\n" || err != nil {
		t.Errorf("Output = %q, %v", out, err)
	}
	if out, err = sh(t, "echo out; exit 3").Output(context.Background(), 100); string(out) != "out\n" || err == nil {
		t.Errorf("Output of a failing program = %q, %v", out, err)
	}
	if out, err = sh(t, "head -c 100000 /dev/zero").Output(context.Background(), 10); len(out) != 10 || err != nil {
		t.Errorf("bounded Output = %d bytes, %v", len(out), err)
	}
}

func TestReadStopsEarly(t *testing.T) {
	var line string
	start := time.Now()
	err := sh(t, "echo first; sleep 60").Read(context.Background(), func(r io.Reader) bool {
		line, _ = bufio.NewReader(r).ReadString('\n')
		return false
	})
	if line != "first\n" || err != nil || time.Since(start) > 30*time.Second {
		t.Errorf("Read = %q, %v after %v", line, err, time.Since(start))
	}
}

// A grandchild that left the group holds the pipe; that must not hold us.
func TestReadDoesNotWaitForStrangers(t *testing.T) {
	if _, err := os.Stat("/usr/bin/setsid"); err != nil {
		t.Skip("no setsid")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := sh(t, "setsid sleep 4 & echo x; wait").Output(ctx, 100)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 10*time.Second {
		t.Errorf("Output = %v after %v, want the deadline", err, time.Since(start))
	}
}

func TestStartDetached(t *testing.T) {
	dir := t.TempDir()
	note, err := os.Create(filepath.Join(dir, "note"))
	if err != nil {
		t.Fatal(err)
	}
	defer note.Close()
	done, err := sh(t, `echo "group $(ps -o sid= -p $$ | tr -d ' ') is $$" >&3`).StartDetached(note)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the detached program did not end")
	}
	data, _ := os.ReadFile(note.Name())
	fields := strings.Fields(string(data))
	if len(fields) != 4 && len(fields) != 3 {
		t.Fatalf("the program wrote %q to the file that it was handed", data)
	}
	if len(fields) == 4 && fields[1] != fields[3] {
		t.Errorf("%q: not a session of its own", data)
	}
}
