// Package gitdir finds a directory's git repository from git's own files: no
// git process, no guess from directory names.
package gitdir

// A Repo is where a repository's parts are.
type Repo struct {
	Root      string // root of the work tree that holds the directory; empty in a bare repository
	GitDir    string // git dir of that work tree
	CommonDir string // git dir shared by all its work trees
	// Main is the root of the main checkout; empty when there is none, as for
	// a bare clone with worktrees. It equals Root outside linked worktrees.
	Main   string
	Linked bool // Root is a linked worktree
	Bare   bool
}

// Find looks for the repository of dir and its parents. ok is false outside a
// repository and when .git cannot be read or understood. Symbolic links in dir
// are resolved first, as git does. GIT_DIR, GIT_WORK_TREE and
// GIT_CEILING_DIRECTORIES count if getenv is not nil.
func Find(dir string, getenv func(string) string) (r Repo, ok bool) { return Repo{}, false }
