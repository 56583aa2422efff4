package repostate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A line can name a hundred thousand files of one directory, most of which do
// not exist. From listAfter on its names are read once instead.
const (
	listAfter = 64
	maxNames  = 50_000
)

// A listing is what is known of the names in a directory.
type listing struct {
	dir   string
	asked int
	names map[string]bool // in lower case; nil: not read, or too many

	resolved, here bool // see leadsHere
}

// lstat is [os.Lstat] that does not ask for what is known to be missing.
func (w *World) lstat(path string) (os.FileInfo, error) {
	if w.missing(path) {
		return nil, syscall.ENOENT
	}
	return os.Lstat(path)
}

// missing reports a file that is known not to be there.
func (w *World) missing(path string) bool {
	dir, name := filepath.Split(path)
	if bare := w.unlisted(dir); bare != "" && w.missing(bare) {
		return true // as its directory is
	}
	l := w.listing(dir)
	return l != nil && l.without(name)
}

// unlisted is the name of a directory that was not asked about yet; empty if it
// was.
func (w *World) unlisted(dir string) string {
	if w.last != nil && w.last.dir == dir || w.dirs[dir] != nil || len(dir) < 2 || len(dir) > maxPath {
		return ""
	}
	return strings.TrimSuffix(dir, string(filepath.Separator))
}

// listing is what is known of a directory, whose name ends in a separator; nil
// if there are too many.
func (w *World) listing(dir string) *listing {
	if w.last != nil && w.last.dir == dir {
		return w.last
	}
	l := w.dirs[dir]
	if l == nil {
		if len(w.dirs) >= maxMemo {
			return nil
		}
		l = &listing{dir: dir}
		w.dirs[dir] = l
	}
	w.last = l
	return l
}

// without reports a name that is known not to be in the directory.
func (l *listing) without(name string) bool {
	if l.asked++; l.asked == listAfter {
		l.read(l.dir)
	}
	return l.names != nil && listed(name) && !l.names[strings.ToLower(name)]
}

// leadsHere reports a directory whose name holds no link, and nothing else that
// another name says shorter.
func (w *World) leadsHere(l *listing) bool {
	if !l.resolved {
		l.resolved = true
		bare := strings.TrimSuffix(l.dir, string(filepath.Separator))
		l.here = bare != "" && w.resolveDir(bare) == bare
	}
	return l.here
}

func (l *listing) read(dir string) {
	f, err := os.Open(dir) // ends in a separator, so it is a directory
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		l.names = map[string]bool{}
		return
	}
	if err != nil {
		return
	}
	defer f.Close()
	names, err := f.Readdirnames(maxNames)
	if err != nil || len(names) == maxNames {
		return
	}
	l.names = make(map[string]bool, len(names))
	for _, n := range names {
		l.names[strings.ToLower(n)] = true
	}
}

// listed reports that a file of this name would stand in its directory's
// listing under it, in whatever case: systems for other machines' disks know
// short names, and drop what stands at the end.
func listed(name string) bool {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name[len(name)-1:], ". ") {
		return false
	}
	for i := range len(name) {
		if name[i] >= 0x80 || name[i] == '~' {
			return false
		}
	}
	return true
}
