// Package cache keeps small facts that can be asked for again, such as a pull
// request's title, in files of one directory.
//
// A reader sees an entry whole or not at all. Durability is not promised: an
// entry that a crash of the machine tore counts as missing. Nothing is written
// through symbolic links, and the directory is private to the user.
package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sallyport/internal/atomicfile"
)

// A Store is the entries of one directory. The zero Store holds nothing and
// keeps nothing.
type Store struct{ Dir string }

// Key names an entry of a kind by what it depends on.
func Key(kind string, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return kind + "-" + hex.EncodeToString(sum[:12])
}

const maxEntry = 64 << 10

// Get reads an entry into v and tells when it was written. ok is false if it
// is missing or cannot be read.
func (s Store) Get(key string, v any) (written time.Time, ok bool) {
	if s.Dir == "" {
		return time.Time{}, false
	}
	path := filepath.Join(s.Dir, key)
	fi, err := os.Lstat(path)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxEntry {
		return time.Time{}, false
	}
	f, err := os.Open(path)
	if err != nil {
		return time.Time{}, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEntry))
	if err != nil || json.Unmarshal(data, v) != nil {
		return time.Time{}, false
	}
	return fi.ModTime(), true
}

// Put replaces an entry.
func (s Store) Put(key string, v any) error {
	if s.Dir == "" {
		return os.ErrNotExist
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	// No fsync, unlike atomicfile: it would cost the render path milliseconds
	// for a fact that can be asked for again.
	f, err := os.CreateTemp(s.Dir, key+".*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(s.Dir, key))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// TryLock takes the lock that goes with an entry, for the one who renews it.
func (s Store) TryLock(key string) (*atomicfile.Lock, error) {
	if s.Dir == "" {
		return nil, os.ErrNotExist
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	return atomicfile.TryLock(filepath.Join(s.Dir, key+".lock"))
}

// Prune removes entries that were not written for longer than age, with their
// locks, and what a crash left of a write.
func (s Store) Prune(now time.Time, age time.Duration) {
	names, err := os.ReadDir(s.Dir)
	if s.Dir == "" || err != nil {
		return
	}
	for _, entry := range names {
		fi, err := entry.Info()
		if err != nil || !fi.Mode().IsRegular() || now.Sub(fi.ModTime()) < age {
			continue
		}
		path := filepath.Join(s.Dir, entry.Name())
		if key, ok := strings.CutSuffix(path, ".lock"); ok {
			// The time of a lock's file is that of its first use.
			if _, err := os.Lstat(key); err == nil {
				continue
			}
		}
		os.Remove(path)
	}
}
