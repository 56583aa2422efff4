package gather

import (
	"context"
	"os"
	"runtime"
	"time"

	"sallyport/internal/cache"
	"sallyport/internal/childproc"
	"sallyport/internal/gitdir"
	"sallyport/internal/gitrepo"
	"sallyport/internal/pr"
)

const (
	// gitRefreshInterval keeps a repository that is always late from being
	// looked at without a pause.
	gitRefreshInterval = 5 * time.Second
	gitRefreshLimit    = 30 * time.Second
	maxOutput          = 4 << 10
	// keepEntries is how long the cache remembers a branch or work tree.
	keepEntries = 30 * 24 * time.Hour
)

// The word behind "refresh" says whether the lock is handed down or has to be
// taken.
const (
	lockHanded = "locked"
	lockOwn    = "lock"
)

// startRefresh starts this program in the background to renew the cache entry
// of that key, unless somebody does so already or has just done it. The lock
// is held from before the start until the background process ends, so that of
// many lines drawn at once one starts one. done is nil if none was started.
func startRefresh(req Request, store cache.Store, key string, fresh func() bool, dir string, args ...string) (done <-chan struct{}) {
	if req.Self == "" {
		return nil
	}
	lock, err := store.TryLock(key)
	if err != nil {
		return nil
	}
	defer lock.Unlock()
	// Whoever held the lock before may have renewed the entry.
	if fresh() {
		return nil
	}
	holder := lockHanded
	keep := lock.File()
	if !childproc.InheritsFiles {
		holder, keep = lockOwn, nil
		lock.Unlock()
	}
	prog := childproc.Program{Path: req.Self, Args: append([]string{"refresh", holder}, args...), Dir: dir, Env: req.Environ}
	done, err = prog.StartDetached(keep)
	if err != nil {
		return nil
	}
	return done
}

// Refresh is the body of the background process: args are those that
// startRefresh gave behind "refresh". It prints nothing and has a time limit.
func Refresh(environ []string, getenv func(string) string, args []string) {
	if len(args) < 2 {
		return
	}
	handed := args[0] == lockHanded
	args = args[1:]
	dir, err := os.Getwd()
	if err != nil {
		return
	}
	store := Store(getenv)
	switch kind, args := args[0], args[1:]; {
	case kind == "git" && len(args) == 0:
		repo, ok := gitdir.Find(dir, getenv)
		if !ok || repo.Root == "" {
			return
		}
		exclusive(store, handed, gitKey(repo), gitRefreshLimit, func(ctx context.Context) {
			head, changes, err := gitrepo.Status(ctx, repo, environ, getenv)
			if err == nil {
				store.Put(gitKey(repo), cachedStatus{head, changes})
			}
		})
	case kind == "pr" && len(args) == 1:
		branch := args[0]
		repo, ok := gitdir.Find(dir, getenv)
		if !ok || repo.Root == "" {
			return
		}
		key := pr.Key(repo.CommonDir, branch)
		exclusive(store, handed, key, pr.AskLimit+time.Second, func(ctx context.Context) {
			// gh answers for what is checked out. If that changes meanwhile,
			// the answer may be another branch's.
			if !checkedOut(ctx, repo, environ, getenv, branch) {
				return
			}
			answer := pr.Ask(ctx, repo.Root, environ, getenv)
			if checkedOut(ctx, repo, environ, getenv, branch) {
				store.Put(key, answer)
			}
		})
	case kind == "exec" && len(args) == 2:
		limit, err := time.ParseDuration(args[0])
		if err != nil || limit <= 0 {
			return
		}
		command := args[1]
		exclusive(store, handed, execKey(command, dir), limit, func(ctx context.Context) {
			text, err := shell(command, environ, dir).Output(ctx, maxOutput)
			if err != nil {
				text = nil
			}
			store.Put(execKey(command, dir), output{string(text)})
		})
	}
}

func shell(command string, environ []string, dir string) childproc.Program {
	if runtime.GOOS == "windows" {
		return childproc.Program{Path: `C:\Windows\System32\cmd.exe`, Args: []string{"/c", command}, Dir: dir, Env: environ}
	}
	return childproc.Program{Path: "/bin/sh", Args: []string{"-c", command}, Dir: dir, Env: environ}
}

func checkedOut(ctx context.Context, repo gitdir.Repo, environ []string, getenv func(string) string, branch string) bool {
	head, err := gitrepo.ReadHead(repo)
	if err != nil {
		head, _, err = gitrepo.Status(ctx, repo, environ, getenv)
	}
	return err == nil && head.Branch == branch
}

// exclusive runs f under the lock that goes with key: the one that the parent
// handed down, or one of our own.
func exclusive(store cache.Store, handed bool, key string, limit time.Duration, f func(ctx context.Context)) {
	if handed {
		lock := childproc.Inherited()
		defer lock.Close()
	} else {
		lock, err := store.TryLock(key)
		if err != nil {
			return
		}
		defer lock.Unlock()
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	// A file system that hangs must not leave us behind for ever.
	watchdog := time.AfterFunc(limit+2*time.Second, func() { os.Exit(0) })
	defer watchdog.Stop()
	f(ctx)
	store.Prune(time.Now(), keepEntries)
}
