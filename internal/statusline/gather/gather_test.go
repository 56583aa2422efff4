package gather

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sallyport/internal/gitrepo"
	"sallyport/internal/statusline"
	"sallyport/internal/testenv"
	"sallyport/settings"
)

// Several parts that never end must not hold the line more than one does.
func TestAwaitIsBounded(t *testing.T) {
	never := func() chan struct{} { return make(chan struct{}) }
	done := make(chan struct{})
	go func() {
		awaitFor(time.Millisecond, never(), never(), never())
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("awaitFor waits for ever")
	}
}

func TestGuardKeepsAPanicToItself(t *testing.T) {
	ch := make(chan struct{})
	guard(ch, func() { panic("boom") })
	select {
	case <-ch:
	default:
		t.Error("guard left the channel open")
	}
}

func request(dir string, segments ...string) Request {
	wants := make(map[string]bool)
	for _, s := range segments {
		wants[s] = true
	}
	return Request{
		Payload: Payload{CurrentDir: dir, ProjectDir: dir, Model: "Opus"}, Environ: os.Environ(), Getenv: os.Getenv, Dir: dir,
		Now: time.Now(), Budget: 20 * time.Second, Wants: func(s string) bool { return wants[s] },
		CommandTTL: time.Minute, CommandLimit: time.Second, Debugf: func(string, ...any) {},
	}
}

func TestGather(t *testing.T) {
	home := testenv.Isolate(t)
	repo := testenv.Repo(t, filepath.Join(home, "repo"))
	testenv.Write(t, filepath.Join(repo, "a.txt"), "changed\n")

	s := Gather(context.Background(), request(repo, "folder", "git", "pr"))
	if s.Sandbox != settings.SandboxOff || s.Folder.Source != "repo" || s.Model != "Opus" ||
		!s.Git.Known || !s.Git.Changes.Dirty || s.Git.Stale || s.Git.Head.Branch != "main" {
		t.Errorf("Gather = %+v", s)
	}
	var cached cachedStatus
	names, _ := filepath.Glob(filepath.Join(home, ".cache", "sallyport", "status-line", "git-*"))
	if len(names) != 1 {
		t.Fatalf("cache entries: %q", names)
	}
	if _, ok := Store(os.Getenv).Get(filepath.Base(names[0]), &cached); !ok || !cached.Changes.Dirty {
		t.Errorf("cached = %+v, %v", cached, ok)
	}

	// Nothing is asked for what the layout does not show.
	t.Setenv("PATH", home)
	s = Gather(context.Background(), request(repo, "folder"))
	if s.Folder.Source != "repo" || s.Git != (statusline.Git{}) {
		t.Errorf("Gather without git = %+v", s)
	}
	s = Gather(context.Background(), request(repo, "git"))
	if !s.Git.Stale || !s.Git.Known || !s.Git.Changes.Dirty {
		t.Errorf("Gather with git gone = %+v, want the last known state", s.Git)
	}
}

func TestDraw(t *testing.T) {
	main := gitrepo.Head{Branch: "main"}
	known := cachedStatus{Head: gitrepo.Head{Branch: "main", Hash: "abc"}, Changes: gitrepo.Changes{Dirty: true}}
	other := cachedStatus{Head: gitrepo.Head{Branch: "other"}, Changes: gitrepo.Changes{Dirty: true}}
	for _, tt := range []struct {
		name string
		in   gitResult
		want statusline.Git
		late bool
	}{
		{"no repository", gitResult{}, statusline.Git{}, false},
		{"answered", gitResult{found: true, files: true, asked: true, done: true, status: known, cached: other, inCache: true, head: main},
			statusline.Git{Head: known.Head, Known: true, Changes: known.Changes}, false},
		{"no files", gitResult{found: true, head: main}, statusline.Git{Head: main}, false},
		{"late, known", gitResult{found: true, files: true, asked: true, head: main, cached: known, inCache: true},
			statusline.Git{Head: main, Known: true, Changes: known.Changes, Stale: true}, true},
		{"late, killed", gitResult{found: true, files: true, asked: true, done: true, err: context.DeadlineExceeded, head: main},
			statusline.Git{Head: main, Stale: true}, true},
		{"late, another branch", gitResult{found: true, files: true, asked: true, head: main, cached: other, inCache: true},
			statusline.Git{Head: main, Stale: true}, true},
		{"late, head not understood", gitResult{found: true, files: true, asked: true, headErr: gitrepo.ErrUnknownFormat, cached: other, inCache: true},
			statusline.Git{Head: other.Head, Known: true, Changes: other.Changes, Stale: true}, true},
		{"refused", gitResult{found: true, files: true, asked: true, done: true, err: gitrepo.ErrNoGit, head: main},
			statusline.Git{Head: main, Stale: true}, false},
		{"detached elsewhere", gitResult{found: true, files: true, asked: true, head: gitrepo.Head{Detached: true, Hash: "b"},
			cached: cachedStatus{Head: gitrepo.Head{Detached: true, Hash: "a"}}, inCache: true},
			statusline.Git{Head: gitrepo.Head{Detached: true, Hash: "b"}, Stale: true}, true},
	} {
		if got := tt.in.draw(); got != tt.want || tt.in.late() != tt.late {
			t.Errorf("%s: draw = %+v, late %v; want %+v, %v", tt.name, got, tt.in.late(), tt.want, tt.late)
		}
	}
}
