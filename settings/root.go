package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sallyport/internal/gitdir"
	"sallyport/internal/regularfile"
)

// localRoot is the directory whose local file a session reads beside the one
// in its start directory: the repository's root, resolved through a linked
// worktree to the main checkout. Without one, why says what keeps the client
// in the start directory; candidate is then the root that it passes over.
//
// The client looks for the nearest entry named .git, whatever is in it, and
// does not ask git: GIT_DIR and GIT_CEILING_DIRECTORIES change nothing, and a
// .git that git refuses still marks a root (seen with 2.1.332).
func localRoot(s Session, env Env, start string) (root, candidate, why string) {
	near := nearestGit(start)
	if near == "" {
		return "", "", "outside a repository"
	}
	root = near
	if repo, ok := linked(near); ok {
		root = repo.Main
		if root == "" {
			return "", near, "the worktree's repository has no main checkout (its git directory is not named .git)"
		}
	}
	switch {
	case !s.AtLeast("2.1.211"):
		return "", root, "clients before 2.1.211 read the local file in the start directory only"
	case env.GOOS == "windows":
		return "", root, "on Windows the client reads the local file in the start directory only"
	case env.Home != "" && sameFile(root, env.Home):
		return "", root, "the repository's root is the home directory"
	}
	for _, path := range []string{root, filepath.Join(root, ".git"), filepath.Join(root, ".claude")} {
		if _, err := os.Stat(path); err == nil && !env.Owned(path) {
			return "", root, path + " belongs to another user"
		}
	}
	return root, root, ""
}

func nearestGit(start string) string {
	for dir := start; ; {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// linked reports a linked worktree that its repository knows: the git
// directory points back at the worktree. A copied or moved .git file does not
// make one, for the client either.
func linked(dir string) (gitdir.Repo, bool) {
	repo, ok := gitdir.Find(dir, nil)
	if !ok || !repo.Linked || !sameFile(repo.Root, dir) {
		return repo, false
	}
	back, err := regularfile.Read(filepath.Join(repo.GitDir, "gitdir"), 1<<16)
	if err != nil {
		return repo, false
	}
	path := strings.TrimRight(string(back), "\r\n")
	if !filepath.IsAbs(path) {
		path = filepath.Join(repo.GitDir, path)
	}
	return repo, sameFile(path, filepath.Join(dir, ".git"))
}

// sameFile compares by identity, and by name for what does not exist.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	fa, errA := os.Stat(a)
	fb, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(fa, fb)
}

// realDir is dir with symbolic links resolved, as a process sees its working
// directory; dir itself when it is gone.
func realDir(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// maxFile bounds a settings file. Real ones have kilobytes.
const maxFile = 16 << 20

func isMissing(err error) bool {
	// A parent that is a file, and a link that leads nowhere, hold no file.
	return errors.Is(err, fs.ErrNotExist) || isNotDir(err)
}
