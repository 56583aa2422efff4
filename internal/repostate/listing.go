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
	asked int
	names map[string]bool // in lower case; nil: not read, or too many
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
	l := w.dirs[dir]
	if l == nil {
		if len(w.dirs) >= maxMemo {
			return false
		}
		l = &listing{}
		w.dirs[dir] = l
	}
	if l.asked++; l.asked == listAfter {
		l.read(dir)
	}
	return l.names != nil && listed(name) && !l.names[strings.ToLower(name)]
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
