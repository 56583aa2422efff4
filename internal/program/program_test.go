//go:build unix

package program

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree writes files, executable where the name ends in "*", and directories
// where it ends in "/".
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range names {
		path := filepath.Join(root, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(path, "*") {
			path, mode = strings.TrimSuffix(path, "*"), 0o755
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFind(t *testing.T) {
	root := tree(t, "a/cli", "b/cli*", "c/cli*", "d/cli/", "d/plain", "here*", "rel/cli*")
	if err := os.Symlink(filepath.Join(root, "nowhere"), filepath.Join(root, "a/dangling")); err != nil {
		t.Fatal(err)
	}
	path := func(dirs ...string) string {
		for i, d := range dirs {
			if d != "" && d != "rel" && d != "." {
				dirs[i] = filepath.Join(root, d)
			}
		}
		return strings.Join(dirs, ":")
	}
	tests := []struct {
		about, path, name, skip string
		want                    string // below root, or as it is if it begins with "."
		err                     string // part of the error's text
	}{
		{about: "the first entry that has it", path: path("b", "c"), name: "cli", want: "b/cli"},
		{about: "a file that is not executable is passed over", path: path("a", "c"), name: "cli", want: "c/cli"},
		{about: "a directory is passed over", path: path("d", "c"), name: "cli", want: "c/cli"},
		{about: "a dangling link is passed over", path: path("a"), name: "dangling", err: "not found on PATH"},
		{about: "only a file that is not executable", path: path("a", "d"), name: "cli", err: "a/cli: cannot be executed: permission denied"},
		{about: "nothing", path: path("a"), name: "nope", err: "nope: not found on PATH"},
		{about: "no PATH", path: "", name: "cli", err: "not found on PATH"},
		{about: "an empty name", path: path("b"), name: "", err: "not found"},
		{about: "an empty entry is the working directory", path: path("a", ""), name: "here", want: "./here"},
		{about: "a relative entry", path: path("rel"), name: "cli", want: "./rel/cli"},
		{about: "the launcher itself is passed over", path: path("b", "c"), name: "cli", skip: "b/cli", want: "c/cli"},
		{about: "only the launcher itself", path: path("b"), name: "cli", skip: "b/cli", err: "leads back here"},
		{about: "a path is not looked for on PATH", path: path("b"), name: "c/cli", want: "./c/cli"},
		{about: "a path that is a directory", name: "d/cli", err: "it is a directory"},
		{about: "a path that is not executable", name: "d/plain", err: "permission denied"},
		{about: "a path below a file", name: "d/plain/x", err: "not a directory"},
		{about: "a path that does not exist", name: "d/nope", err: "no such file"},
		{about: "a path that is the launcher", name: "b/cli", skip: "b/cli", err: "leads back here"},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			s := Search{Path: tt.path, Dir: root}
			if tt.skip != "" {
				s.Skip = func(path string, _ fs.FileInfo) bool { return path == filepath.Join(root, tt.skip) }
			}
			got, err := s.Find(tt.name)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("Find(%q) on %q = %q, %v; want an error with %q", tt.name, tt.path, got, err, tt.err)
				}
				return
			}
			want := filepath.Join(root, tt.want)
			if strings.HasPrefix(tt.want, "./") {
				want = filepath.Clean(tt.want)
			}
			if err != nil || filepath.Clean(got) != want || !strings.Contains(got, "/") {
				t.Errorf("Find(%q) on %q = %q, %v; want %q", tt.name, tt.path, got, err, want)
			}
		})
	}
}

func TestFindTellsErrorsApart(t *testing.T) {
	root := tree(t, "a/cli")
	var notExecutable *NotExecutableError
	if _, err := (Search{Path: root + "/a"}).Find("cli"); !errors.As(err, &notExecutable) {
		t.Errorf("a file without permission: %T %v, want NotExecutableError", err, err)
	}
	var notFound *NotFoundError
	if _, err := (Search{Path: root}).Find("cli"); !errors.As(err, &notFound) {
		t.Errorf("no file: %T %v, want NotFoundError", err, err)
	}
}

func TestSelf(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	const pkg = "example.com/launcher"
	tests := []struct {
		about, path string
		want        bool
	}{
		{"a symbolic link", link, true},
		{"another version's binary", write("old", "\x7fELF....path\texample.com/launcher\nmod\t"), true},
		{"a Mach-O binary", write("mac", "\xcf\xfa\xed\xfe....path\texample.com/launcher\nmod\t"), true},
		{"another program", write("other", "\x7fELF....path\texample.com/launcher2\n"), false},
		{"a text that mentions the package", write("text", "path\texample.com/launcher\n"), false},
		{"an empty file", write("empty", ""), false},
	}
	if hard := filepath.Join(dir, "hard"); os.Link(exe, hard) == nil { // not across file systems
		tests = append(tests, struct {
			about, path string
			want        bool
		}{"a hard link", hard, true})
	}
	self := NewSelf(pkg)
	for _, tt := range tests {
		info, err := os.Stat(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		if got := self.Is(tt.path, info); got != tt.want {
			t.Errorf("%s: Is(%s) = %v, want %v", tt.about, tt.path, got, tt.want)
		}
	}
}

func TestInterpreter(t *testing.T) {
	for text, want := range map[string][]string{
		"#!/bin/sh\necho":                 {"/bin/sh"},
		"#! /usr/bin/env -S node --x\n":   {"/usr/bin/env", "-S", "node", "--x"},
		"#!/bin/sh":                       {"/bin/sh"},
		"#!\n":                            nil,
		"echo":                            nil,
		"":                                nil,
		"#!/" + strings.Repeat("x", 1000): {"/" + strings.Repeat("x", 253)},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := Interpreter(path); !slices.Equal(got, want) {
			t.Errorf("Interpreter of %.40q = %q, want %q", text, got, want)
		}
	}
}
