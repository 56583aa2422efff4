package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/internal/cli"
)

// A transaction changes several files or none. Everything that can be refused
// or run out of space is done while staging, beside the old files; commit then
// only renames and removes, and undoes that if it is refused after all.
//
// atomicfile replaces one file at a time and cannot hold its rename back until
// the content of all others is on disk.
type transaction struct {
	staged []staged
	dirs   []string // made by staging, outermost first
	undo   []func() error
}

type staged struct {
	path, temp string // no temp: path is to be removed
	// was is the content that the new one was made from, if that matters:
	// other programs write settings and start files without asking.
	was *[]byte
}

const tempMark = ".tmp-"

// mkdir makes a directory and its parents.
func (t *transaction) mkdir(dir string, mode fs.FileMode) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s: not a directory", dir)
		}
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := t.mkdir(parent, mode); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, mode); err != nil {
		return err
	}
	t.dirs = append(t.dirs, dir)
	return nil
}

// write stages new content for path, which must not be a symbolic link that is
// to stay one. The old file's mode counts where mode is 0.
func (t *transaction) write(path string, data []byte, mode fs.FileMode) error {
	if mode == 0 {
		mode = 0o600
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
	}
	temp := path + tempMark + itoa(os.Getpid())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	t.staged = append(t.staged, staged{path: path, temp: temp})
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode) // the umask does not count
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// edit is write for content that was made from what path held; nil was means
// that there was no file.
func (t *transaction) edit(path string, was, data []byte) error {
	if err := t.write(path, data, 0); err != nil {
		return err
	}
	t.staged[len(t.staged)-1].was = &was
	return nil
}

// stale reports that somebody changed the file since it was read.
func (s staged) stale() bool {
	if s.was == nil {
		return false
	}
	now, err := os.ReadFile(s.path)
	if *s.was == nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return err != nil || !bytes.Equal(now, *s.was)
}

// link stages a symbolic link.
func (t *transaction) link(path, target string) error {
	temp := path + tempMark + itoa(os.Getpid())
	if err := os.Symlink(target, temp); err != nil {
		return err
	}
	t.staged = append(t.staged, staged{path: path, temp: temp})
	return nil
}

// remove stages the removal of a file or link.
func (t *transaction) remove(path string) {
	t.staged = append(t.staged, staged{path: path})
}

// commit makes everything staged visible.
func (t *transaction) commit() error {
	for _, s := range t.staged {
		restore, err := keep(s.path)
		if err == nil && s.stale() {
			err = cli.Exitf(cli.ExitRefused, "%s was changed by another program in this moment; nothing was changed, run this again", s.path)
		}
		if err == nil {
			if s.temp == "" {
				err = os.Remove(s.path)
				if errors.Is(err, fs.ErrNotExist) {
					err = nil
				}
			} else {
				err = os.Rename(s.temp, s.path)
			}
		}
		if err != nil {
			return errors.Join(err, t.rollback())
		}
		t.undo = append(t.undo, restore)
	}
	var dirs []string
	for _, s := range t.staged {
		if dir := filepath.Dir(s.path); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
			syncDir(dir)
		}
	}
	return nil
}

// keep remembers what stands at path and returns how to bring it back.
func keep(path string) (restore func() error, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return func() error { return os.Remove(path) }, nil
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return func() error {
			os.Remove(path)
			return os.Symlink(target, path)
		}, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	data, err := os.ReadFile(path)
	return func() error {
		undo := &transaction{}
		err := undo.write(path, data, info.Mode().Perm())
		if err == nil {
			err = os.Rename(undo.staged[0].temp, path)
		}
		return err
	}, err
}

// rollback undoes what was committed and clears away what was staged. After a
// failure that reported nothing committed, only the latter is left to do.
func (t *transaction) rollback() error {
	var errs []error
	for _, restore := range slices.Backward(t.undo) {
		if err := restore(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("undo: %w", err))
		}
	}
	t.undo = nil
	for _, s := range t.staged {
		if s.temp != "" {
			os.Remove(s.temp)
		}
	}
	for _, dir := range slices.Backward(t.dirs) {
		os.Remove(dir) // only if nothing of anybody else is in it
	}
	return errors.Join(errs...)
}

// sweep removes what a run that was killed left beside path. The caller holds
// the lock, so no other run is at work there.
func sweep(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, e := range entries {
		pid, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+tempMark)
		if ok && pid != "" && strings.Trim(pid, "0123456789") == "" && (e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0) {
			os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// refusal gives an error of the file system the exit code for a place that may
// not be written.
func refusal(err error) error {
	var exit *cli.ExitError
	if err == nil || errors.As(err, &exit) {
		return err
	}
	if errors.Is(err, fs.ErrPermission) || readOnly(err) {
		return &cli.ExitError{Code: cli.ExitRefused, Err: fmt.Errorf("%w; nothing was changed", err)}
	}
	return fmt.Errorf("%w; nothing was changed", err)
}
