// Package atomicfile replaces files so that no reader ever sees half of one,
// and holds the advisory locks that keep two writers apart.
//
// It promises that after [Write] a reader finds the old content or the new,
// whole; on Unix also after a crash of the machine. It makes no promise on
// network file systems.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces the content of path. An existing file keeps its permissions,
// a new one gets mode. If path is a symbolic link, the link stays and the file
// it points to is replaced; a link that points nowhere is an error. The
// directory must exist. On any error the old file is untouched.
func Write(path string, data []byte, mode fs.FileMode) error {
	target, err := Target(path)
	if err != nil {
		return err
	}
	if fi, err := os.Stat(target); err == nil {
		if !fi.Mode().IsRegular() {
			return fmt.Errorf("write %s: not a regular file", target)
		}
		mode = fi.Mode().Perm()
	}
	return replace(target, data, mode)
}

// Target is the file that [Write] would replace: path itself, or what the
// symbolic link there leads to.
func Target(path string) (string, error) {
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	if fi.Mode()&fs.ModeSymlink == 0 {
		return path, nil
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("follow link %s: %w", path, err)
	}
	return target, nil
}

// ErrLocked is returned by [TryLock] when another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// A Lock is an advisory lock on a file. It is released when the process ends,
// however it ends.
type Lock struct{ f *os.File }

// TryLock takes the lock at path without waiting, creating the file if needed.
// The file stays after Unlock: removing it would let two processes hold a lock
// each on a file of the same name.
func TryLock(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, err
	}
	return &Lock{f}, nil
}

// File is the locked file, for the holder to leave a note in.
func (l *Lock) File() *os.File { return l.f }

// Unlock releases the lock.
func (l *Lock) Unlock() error { return l.f.Close() }
