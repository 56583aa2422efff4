package hints

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestClaim(t *testing.T) {
	s := Seen{filepath.Join(t.TempDir(), "cache", "hints")}
	start := time.Now()
	steps := []struct {
		session, id string
		after       time.Duration
		want        bool
	}{
		{"a", "x", 0, true},
		{"a", "x", time.Second, false},
		{"a", "y", time.Second, true},
		{"b", "x", time.Second, true},
		{"a", "x", 9 * time.Minute, false},
		{"a", "x", 11 * time.Minute, true},
		{"a", "x", 12 * time.Minute, false},
		{"a", "x", -time.Hour, true}, // the clock was set back
		{"", "x", 0, true},
		{"", "x", 0, true},
	}
	for i, step := range steps {
		if got := s.Claim(step.session, step.id, start.Add(step.after)); got != step.want {
			t.Errorf("step %d: Claim(%q, %q) after %v = %v, want %v", i, step.session, step.id, step.after, got, step.want)
		}
	}
}

func TestClaimWithoutState(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", file, filepath.Join(file, "below")} {
		for range 2 {
			if !(Seen{dir}).Claim("a", "x", time.Now()) {
				t.Errorf("Claim in %q = false, want true: the state cannot be kept", dir)
			}
		}
	}
}

func TestClaimSurvivesForeignState(t *testing.T) {
	s := Seen{t.TempDir()}
	now := time.Now()
	s.Claim("a", "x", now)
	files, _ := filepath.Glob(filepath.Join(s.Dir, "*"+seenSuffix))
	if len(files) != 1 {
		t.Fatalf("files %q, want one", files)
	}
	for _, content := range []string{"", "\x00\xff", "x", "x y z\n", "x 99999999999999999999\n", strings.Repeat("x 1\n", 1<<16), "x 4102444800\n"} {
		if err := os.WriteFile(files[0], []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if !s.Claim("a", "x", now) {
			t.Errorf("with %.20q in the state: Claim = false, want true", content)
		}
		if s.Claim("a", "x", now) {
			t.Errorf("after %.20q in the state: the second Claim = true, want false", content)
		}
	}
	os.Remove(files[0])
	if err := os.Mkdir(files[0], 0o700); err != nil {
		t.Fatal(err)
	}
	if !s.Claim("a", "x", now) {
		t.Error("with a directory in place of the state: Claim = false, want true")
	}
}

func TestHostileSessionIDs(t *testing.T) {
	root := t.TempDir()
	s := Seen{filepath.Join(root, "a", "hints")}
	ids := []string{"../../x", "/etc/passwd", "..", ".", "lock", "a/b", "a\x00b", strings.Repeat("x", 1<<16), "\x1b[2J", "C:\\x", "con", "a\nb"}
	for _, id := range ids {
		if !s.Claim(id, "x", time.Now()) || s.Claim(id, "x", time.Now()) {
			t.Errorf("session %.20q is not remembered", id)
		}
	}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Dir(path) != s.Dir {
			t.Errorf("%s was written outside %s", path, s.Dir)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(s.Dir); len(files) != len(ids)+1 {
		t.Errorf("%d files for %d sessions and a lock", len(files), len(ids))
	}
}

func TestPrune(t *testing.T) {
	s := Seen{t.TempDir()}
	now := time.Now()
	write := func(name string, age time.Duration) string {
		path := filepath.Join(s.Dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	old := write("old.seen", 72*time.Hour)
	foreign := write("notes.txt", 72*time.Hour)
	for i := range 2 * maxSeenFiles {
		write(fmt.Sprintf("s%04d.seen", i), time.Duration(i)*time.Minute)
	}
	s.Claim("new", "x", now)
	if _, err := os.Stat(old); err == nil {
		t.Error("a file of three days is still there")
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error("a file that is not ours was removed")
	}
	left, _ := filepath.Glob(filepath.Join(s.Dir, "*.seen"))
	if len(left) != maxSeenFiles {
		t.Errorf("%d files left, want %d", len(left), maxSeenFiles)
	}
	if s.Claim("new", "x", now) {
		t.Error("the newest file was removed")
	}
}

func TestParallelCallsGiveOneHint(t *testing.T) {
	s := Seen{t.TempDir()}
	var given atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if s.Claim("a", "x", time.Now()) {
				given.Add(1)
			}
		})
	}
	wg.Wait()
	if n := given.Load(); n != 1 {
		t.Errorf("the hint was given %d times, want once", n)
	}
}
