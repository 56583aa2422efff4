package projectroot

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sallyport/internal/gitdir"
)

// walkDepth is how far below its start Walk looks.
const walkDepth = 4

// Walk finds the repositories below a directory whose checkout has a .claude
// directory, one checkout for each. It follows no links, stays on one file
// system, and leaves out directories that hold no projects.
func Walk(dir string) ([]string, error) {
	start, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(start)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "walk", Path: dir, Err: fs.ErrInvalid}
	}
	var roots []string
	seen := map[string]bool{} // common directories
	err = filepath.WalkDir(start, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			if d != nil && d.IsDir() {
				return fs.SkipDir // unreadable
			}
			return nil
		}
		rel, err := filepath.Rel(start, path)
		if err != nil {
			return fs.SkipDir
		}
		depth := 0
		if rel != "." {
			depth = 1 + strings.Count(rel, string(filepath.Separator))
		}
		name := d.Name()
		if depth > walkDepth || depth > 0 && (name == "node_modules" || name == ".cache" || name == ".git" || otherDevice(info, path)) {
			return fs.SkipDir
		}
		repo, ok := gitdir.Find(path, nil)
		if !ok || repo.Root != path {
			return nil
		}
		if claude, err := os.Lstat(filepath.Join(path, ".claude")); err == nil && claude.IsDir() && !seen[repo.CommonDir] {
			seen[repo.CommonDir] = true
			roots = append(roots, path)
		}
		return nil // another repository may stand inside
	})
	return roots, err
}
