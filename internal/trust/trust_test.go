package trust

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sallyport/internal/gitdir"
	"sallyport/internal/testenv"
)

func TestTrustedOnlyWhileNothingChanged(t *testing.T) {
	s := In(testenv.Dir(t))
	key := Key("/repo/.git\x00.sallyport/guards.d")
	files := []File{{"a.toml", []byte("one")}, {"b.py", []byte("two")}}
	if s.Trusted(key, files) {
		t.Fatal("trusted before anyone said so")
	}
	if err := s.Trust(key, files, time.Now()); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		key   Key
		files []File
		want  bool
	}{
		{"the same", key, files, true},
		{"in another order", key, []File{files[1], files[0]}, true},
		{"a changed file", key, []File{{"a.toml", []byte("one!")}, files[1]}, false},
		{"a renamed file", key, []File{{"c.toml", []byte("one")}, files[1]}, false},
		{"a file more", key, append([]File{{"c.py", nil}}, files...), false},
		{"a file less", key, files[:1], false},
		{"the border between name and content moved", key, []File{{"a.tomlo", []byte("ne")}, files[1]}, false},
		{"two files as one", key, []File{{"a.toml", []byte("one4:b.py3:two")}}, false},
		{"no files", key, nil, false},
		{"another place", "/other/.git\x00.sallyport/guards.d", files, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := s.Trusted(tt.key, tt.files); got != tt.want {
				t.Errorf("Trusted(%q, %q) = %v, want %v", tt.key, tt.files, got, tt.want)
			}
		})
	}
	r, ok := s.Recorded(key)
	if !ok || len(r.Files) != 2 || string(r.Files[0].Data) != "one" {
		t.Errorf("Recorded = %+v, %v", r, ok)
	}
	if fi, err := os.Stat(s.path(key)); err != nil || fi.Mode().Perm()&0o077 != 0 {
		t.Errorf("record %v, %v: readable by others", fi, err)
	}
	if ok, err := s.Revoke(key); !ok || err != nil {
		t.Fatalf("Revoke = %v, %v", ok, err)
	}
	if s.Trusted(key, files) {
		t.Error("still trusted after it was revoked")
	}
	if ok, err := s.Revoke(key); ok || err != nil {
		t.Errorf("second Revoke = %v, %v", ok, err)
	}
}

func TestARecordForAnotherKeyIsNotBelieved(t *testing.T) {
	s := In(testenv.Dir(t))
	files := []File{{"a.toml", []byte("one")}}
	if err := s.Trust("/a", files, time.Now()); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(s.path("/a"))
	if err := os.WriteFile(s.path("/b"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if s.Trusted("/b", files) {
		t.Error("a copied record is believed for another place")
	}
}

func TestZeroStoreTrustsNothing(t *testing.T) {
	s := In("")
	if s.Trusted("/a", []File{{"a", nil}}) {
		t.Error("trusted without a store")
	}
	if err := s.Trust("/a", nil, time.Now()); err == nil {
		t.Error("recorded without a store")
	}
}

func TestKeyIsSharedByLinkedWorktrees(t *testing.T) {
	testenv.Isolate(t)
	dir := testenv.Dir(t)
	main := testenv.Repo(t, filepath.Join(dir, "main"))
	testenv.Git(t, main, "worktree", "add", "-q", "-b", "side", filepath.Join(dir, "side"))
	keys := map[string]Key{}
	for _, name := range []string{"main", "side"} {
		repo, ok := gitdir.Find(filepath.Join(dir, name), nil)
		if !ok {
			t.Fatal("no repository")
		}
		keys[name] = KeyOf(&repo, filepath.Join(dir, name, ".sallyport", "guards.d"))
	}
	if keys["main"] != keys["side"] {
		t.Errorf("keys differ: %q", keys)
	}
	if got, want := keys["side"].Path(), filepath.Join(main, ".sallyport", "guards.d"); got != want {
		t.Errorf("Path() = %s, want %s", got, want)
	}
	other := testenv.Repo(t, filepath.Join(dir, "other"))
	repo, _ := gitdir.Find(other, nil)
	if k := KeyOf(&repo, filepath.Join(other, ".sallyport", "guards.d")); k == keys["main"] {
		t.Errorf("two repositories share the key %q", k)
	}
	if k := KeyOf(&repo, "/elsewhere"); k != "/elsewhere" {
		t.Errorf("KeyOf outside the work tree = %q", k)
	}
}
