// Package trust remembers which files of a repository a person has read and
// trusts to change what the product does on this machine.
//
// A cloned repository must not add code to a person's hook, nor loosen a guard.
// What it brings counts only while its names and contents are exactly those
// that the person looked at: any change makes it untrusted again. A record is
// bound to the place in the repository, so that the same files elsewhere need a
// word of their own; all linked worktrees of one repository share it.
//
// Callers read the files once, ask [Store.Trusted] about what they read, and
// use that: nothing is read again in between.
package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"sallyport/internal/atomicfile"
	"sallyport/internal/gitdir"
	"sallyport/internal/regularfile"
)

// A Store is the directory that holds the records. The zero value trusts
// nothing.
type Store struct{ dir string }

// In returns the store in the product's state directory, which may be empty.
func In(state string) Store {
	if state == "" {
		return Store{}
	}
	return Store{filepath.Join(state, "trust")}
}

// A File is one file as it was read.
type File struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// A Key names a directory or file of a repository, or outside of one.
type Key string

// KeyOf is the key of a path. repo is the repository whose work tree holds it,
// nil for none. Symbolic links in path are resolved.
func KeyOf(repo *gitdir.Repo, path string) Key {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if repo != nil && repo.Root != "" && repo.CommonDir != "" {
		if rel, err := filepath.Rel(repo.Root, path); err == nil && filepath.IsLocal(rel) {
			return Key(repo.CommonDir + "\x00" + filepath.ToSlash(rel))
		}
	}
	return Key(path)
}

// Path is the key as a person reads it.
func (k Key) Path() string {
	common, rel, ok := strings.Cut(string(k), "\x00")
	if !ok {
		return string(k)
	}
	if filepath.Base(common) == ".git" {
		return filepath.Join(filepath.Dir(common), filepath.FromSlash(rel))
	}
	return common + ": " + rel
}

// Hash covers the key and the names and contents of the files, in any order.
func Hash(key Key, files []File) string {
	sorted := append([]File(nil), files...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].Name < sorted[j].Name })
	h := sha256.New()
	field := func(b []byte) {
		// Lengths keep the border between two fields where it is.
		io.WriteString(h, strconv.Itoa(len(b))+":")
		h.Write(b)
	}
	field([]byte("sallyport trust 1"))
	field([]byte(key))
	for _, f := range sorted {
		field([]byte(f.Name))
		field(f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// A Record is what a person trusted.
type Record struct {
	Key   Key       `json:"key"`
	Time  time.Time `json:"time"`
	Files []File    `json:"files"`
}

func (s Store) path(key Key) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16]))
}

// Has reports whether there is a record of key, whatever it says.
func (s Store) Has(key Key) bool {
	if s.dir == "" {
		return false
	}
	_, err := os.Lstat(s.path(key))
	return err == nil
}

// A record is one line with the hash, which is all that a hook reads, and the
// record itself as JSON.
const magic = "sallyport-trust-1 "

// Trusted reports whether exactly these files are trusted at key.
func (s Store) Trusted(key Key, files []File) bool {
	if s.dir == "" || len(files) == 0 {
		return false
	}
	f, err := os.Open(s.path(key))
	if err != nil {
		return false
	}
	defer f.Close()
	line := make([]byte, len(magic)+2*sha256.Size+1)
	if _, err := io.ReadFull(f, line); err != nil {
		return false
	}
	return string(line) == magic+Hash(key, files)+"\n"
}

// maxRecord bounds a record; the files it holds are bounded by who reads them.
const maxRecord = 16 << 20

// Recorded returns the record of key, if there is one.
func (s Store) Recorded(key Key) (Record, bool) {
	if s.dir == "" {
		return Record{}, false
	}
	data, err := regularfile.Read(s.path(key), maxRecord)
	if err != nil {
		return Record{}, false
	}
	head, body, ok := bytes.Cut(data, []byte("\n"))
	var r Record
	if !ok || !bytes.HasPrefix(head, []byte(magic)) || json.Unmarshal(body, &r) != nil || r.Key != key {
		return Record{}, false
	}
	return r, true
}

// Trust records the files.
func (s Store) Trust(key Key, files []File, now time.Time) error {
	if s.dir == "" {
		return errors.New("no state directory: set HOME or XDG_STATE_HOME")
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	body, err := json.Marshal(Record{key, now.UTC(), files})
	if err != nil {
		return err
	}
	data := append([]byte(magic+Hash(key, files)+"\n"), body...)
	if len(data) > maxRecord {
		return fmt.Errorf("%s: too large to be trusted", key.Path())
	}
	return atomicfile.Write(s.path(key), append(data, '\n'), 0o600)
}

// Revoke forgets key, and reports whether there was something to forget.
func (s Store) Revoke(key Key) (bool, error) {
	if s.dir == "" {
		return false, nil
	}
	err := os.Remove(s.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
