package repostate

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sallyport/internal/testenv"
)

// What the listing of a directory says of many names is what the system says of
// each.
func TestManyNames(t *testing.T) {
	dir := testenv.Dir(t)
	for _, name := range []string{"file", "Other", "dir/in", "é", "a~1"} {
		testenv.Write(t, filepath.Join(dir, name), "x")
	}
	if err := os.Symlink("file", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	w := New(os.Environ(), nil)
	for i := range 3 * listAfter {
		if w.Stat(filepath.Join(dir, fmt.Sprint("missing", i))).Exists {
			t.Fatal("a missing file exists")
		}
	}
	if l := w.dirs[dir+string(filepath.Separator)]; l == nil || l.names == nil {
		t.Fatal("the directory was not listed")
	}
	for _, name := range []string{"file", "Other", "dir", "dir/in", "dir/none", "é", "ê", "a~1", "a~2", "link", "none", "OTHER", ".", "..", "file/"} {
		path := filepath.Join(dir, name)
		_, err := os.Lstat(path)
		if got := w.Stat(path).Exists; got != (err == nil) {
			t.Errorf("Stat(%s) exists %v, Lstat: %v", name, got, err)
		}
		if _, ok := w.ReadFile(path, 10); ok != (err == nil && !w.Stat(path).Dir) {
			t.Errorf("ReadFile(%s) = %v, Lstat: %v", name, ok, err)
		}
	}
	if got, want := w.Resolve(filepath.Join(dir, "link")), w.Resolve(filepath.Join(dir, "file")); got != want {
		t.Errorf("the link leads to %s, want %s", got, want)
	}
	if got := w.Resolve(filepath.Join(dir, "nothing")); filepath.Base(got) != "nothing" {
		t.Errorf("a missing file resolves to %s", got)
	}
}
