package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/internal/gitdir"
)

const (
	sha1Name   = "b2ec102d0c5e6c0f4a5f7f0f1f3a8b9c7d6e5f40"
	sha256Name = sha1Name + "b2ec102d0c5e6c0f4a5f7f0f"
)

func TestParseHead(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Head
		ok   bool
	}{
		{"ref: refs/heads/main\n", Head{Branch: "main"}, true},
		{"ref:refs/heads/feat/x\r\n", Head{Branch: "feat/x"}, true},
		{"ref: refs/heads/(detached)\n", Head{Branch: "(detached)"}, true},
		{sha1Name + "\n", Head{Hash: sha1Name, Detached: true}, true},
		{sha256Name + "\n", Head{Hash: sha256Name, Detached: true}, true},
		{"ref: refs/heads/.invalid\n", Head{}, false}, // reftable's stub
		{"ref: refs/remotes/origin/main\n", Head{}, false},
		{"ref: refs/heads/\n", Head{}, false},
		{"ref: refs/heads/a\nb\n", Head{}, false},
		{sha1Name[:39], Head{}, false},
		{strings.ToUpper(sha1Name), Head{}, false},
		{"", Head{}, false},
		{"\x00\x00", Head{}, false},
	} {
		got, err := parseHead(tt.text)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("parseHead(%q) = %+v, %v; want %+v, ok %v", tt.text, got, err, tt.want, tt.ok)
		}
		if err != nil && !errors.Is(err, ErrUnknownFormat) {
			t.Errorf("parseHead(%q) error = %v, want ErrUnknownFormat", tt.text, err)
		}
	}
}

func TestReadHeadSymbolicLink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("refs/heads/old-style", filepath.Join(dir, "HEAD")); err != nil {
		t.Skip(err)
	}
	if got, err := ReadHead(gitdir.Repo{GitDir: dir, CommonDir: dir}); err != nil || got.Branch != "old-style" {
		t.Errorf("ReadHead of a symbolic link = %+v, %v", got, err)
	}
}

func TestReadHeadOfAnotherRefStore(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"HEAD": "ref: refs/heads/stale\n", "config": "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = later\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := ReadHead(gitdir.Repo{GitDir: dir, CommonDir: dir}); !errors.Is(err, ErrUnknownFormat) {
		t.Errorf("ReadHead with refStorage = later: %+v, %v; want no guess", got, err)
	}
}

func FuzzParseHead(f *testing.F) {
	f.Add("ref: refs/heads/main\n")
	f.Add(sha256Name)
	f.Add("ref: refs/heads/.invalid")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parseHead(text)
		if err != nil && h != (Head{}) {
			t.Errorf("parseHead(%q) = %+v with error %v", text, h, err)
		}
		if err == nil && (h.Branch != "") == h.Detached {
			t.Errorf("parseHead(%q) = %+v is neither a branch nor detached", text, h)
		}
		if err == nil && h.Detached && len(h.Short()) != 7 {
			t.Errorf("parseHead(%q): short name %q", text, h.Short())
		}
	})
}
