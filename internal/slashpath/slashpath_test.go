package slashpath

import (
	"path"
	"testing"
)

var paths = []string{
	"", "/", ".", "..", "a", "a/", "/a", "/a/", "//", "//a", "a//b", "a/./b", "a/../b", "/..", "/../a", "a/..", "a/.", "./a", "../a", "a/b/..",
	"/.a", "a/.b", "/a/.b/c", "a/...", "...", ".a/b", "/a/b/c", "a b/c", "/a/b/../../..", "é/ü", "\x00/\xff", "a/b.c", "a./b", "a../b",
}

func TestAsPath(t *testing.T) {
	for _, p := range paths {
		same(t, p, "x")
		for _, q := range paths {
			same(t, p, q)
		}
	}
}

func FuzzAsPath(f *testing.F) {
	for i, p := range paths {
		f.Add(p, paths[len(paths)-1-i])
	}
	f.Fuzz(same)
}

func same(t *testing.T, p, q string) {
	for _, c := range [...]struct{ name, got, want string }{
		{"Clean", Clean(p), path.Clean(p)},
		{"Dir", Dir(p), path.Dir(p)},
		{"Base", Base(p), path.Base(p)},
		{"Join", Join(p, q), path.Join(p, q)},
	} {
		if c.got != c.want {
			t.Errorf("%s of %q (and %q) is %q, want %q", c.name, p, q, c.got, c.want)
		}
	}
}

func TestIsAbs(t *testing.T) {
	for p, want := range map[string]bool{"/a": true, `\a`: true, `C:\a`: true, "c:/a": true, "C:a": false, "1:/a": false, "a/b": false, "": false, "C:": false} {
		if IsAbs(p) != want {
			t.Errorf("IsAbs(%q) is %v", p, !want)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		p, dir string
		want   bool
	}{
		{"/a", "/a", true}, {"/a/b", "/a", true}, {"/ab", "/a", false}, {"/a", "/a/b", false}, {"/a", "/", true}, {"/", "/", true},
		{"a/b", "a", true}, {"a", "", false}, {"", "", false},
	} {
		if got := Within(c.p, c.dir); got != c.want {
			t.Errorf("Within(%q, %q) is %v", c.p, c.dir, got)
		}
	}
}
