package cache

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sallyport/internal/atomicfile"
)

type fact struct{ Text string }

func TestGetAndPut(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "made", "on", "demand")}
	key := Key("fact", "a", "b")
	var f fact
	if _, ok := s.Get(key, &f); ok {
		t.Error("Get of an empty store succeeded")
	}
	if err := s.Put(key, fact{"one"}); err != nil {
		t.Fatal(err)
	}
	written, ok := s.Get(key, &f)
	if !ok || f.Text != "one" || time.Since(written) > time.Minute {
		t.Errorf("Get = %+v, %v, %v", f, written, ok)
	}
	if fi, err := os.Stat(s.Dir); err != nil || fi.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("the directory is open to others: %v, %v", fi.Mode(), err)
	}
	if err := s.Put(key, fact{strings.Repeat("x", 2*maxEntry)}); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Get(key, &f); ok {
		t.Error("Get took an entry beyond the bound")
	}
}

func TestNoDirectory(t *testing.T) {
	var s Store
	if err := s.Put("k", fact{}); err == nil {
		t.Error("Put without a directory succeeded")
	}
	if _, ok := s.Get("k", &fact{}); ok {
		t.Error("Get without a directory succeeded")
	}
	if _, err := s.TryLock("k"); err == nil {
		t.Error("TryLock without a directory succeeded")
	}
	s.Prune(time.Now(), 0)
}

func TestLinkIsReplacedNotFollowed(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	os.WriteFile(victim, []byte("keep"), 0o644)
	s := Store{filepath.Join(dir, "cache")}
	os.Mkdir(s.Dir, 0o700)
	if err := os.Symlink(victim, filepath.Join(s.Dir, "k")); err != nil {
		t.Skip(err)
	}
	if _, ok := s.Get("k", &fact{}); ok {
		t.Error("Get followed a link")
	}
	if err := s.Put("k", fact{"new"}); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(victim); string(data) != "keep" {
		t.Errorf("Put wrote through a link: %q", data)
	}
}

func TestParallelPutIsWhole(t *testing.T) {
	s := Store{t.TempDir()}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 50 {
				s.Put("k", fact{strings.Repeat(string(rune('a'+i)), 1000)})
				var f fact
				if _, ok := s.Get("k", &f); !ok || len(f.Text) != 1000 || strings.Trim(f.Text, f.Text[:1]) != "" {
					t.Errorf("torn entry: %.40q, %v", f.Text, ok)
				}
			}
		}()
	}
	wg.Wait()
	if names, _ := filepath.Glob(filepath.Join(s.Dir, "*.tmp")); len(names) > 0 {
		t.Errorf("left behind: %q", names)
	}
}

func TestTryLock(t *testing.T) {
	s := Store{t.TempDir()}
	lock, err := s.TryLock("k")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.TryLock("k"); !errors.Is(err, atomicfile.ErrLocked) {
		t.Errorf("second TryLock: %v, want ErrLocked", err)
	}
	lock.Unlock()
	if lock, err := s.TryLock("k"); err != nil {
		t.Errorf("TryLock after Unlock: %v", err)
	} else {
		lock.Unlock()
	}
}

func TestPrune(t *testing.T) {
	s := Store{t.TempDir()}
	old := time.Now().Add(-48 * time.Hour)
	for name, isOld := range map[string]bool{
		"old": true, "old.lock": true, "new": false, "new.lock": true, "half.123.tmp": true, "fresh.9.tmp": false,
	} {
		path := filepath.Join(s.Dir, name)
		os.WriteFile(path, []byte("{}"), 0o600)
		if isOld {
			os.Chtimes(path, old, old)
		}
	}
	s.Prune(time.Now(), 24*time.Hour)
	var left []string
	entries, _ := os.ReadDir(s.Dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got := strings.Join(left, " "); got != "fresh.9.tmp new new.lock" {
		t.Errorf("left after Prune: %s", got)
	}
}
