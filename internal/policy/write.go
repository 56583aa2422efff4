package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sallyport/internal/atomicfile"
)

// An action is what happens to a target.
type action string

const (
	actNone        action = "none"
	actCreated     action = "created"
	actUpdated     action = "updated"
	actUnchanged   action = "unchanged"
	actWouldCreate action = "would-create"
	actWouldUpdate action = "would-update"
)

// A plan is what is about to happen to one file.
type plan struct {
	file    *targetFile
	real    string // the file with links resolved
	from    string // the file whose content is merged: real, or one that moves there
	existed bool
	old     []byte
	mode    fs.FileMode
	new     []byte
	record  []ownedEntry
	anchor  *anchor

	seededFrom string // the file whose foreign parts a new one starts with

	known  bool   // the old bytes are what we wrote last: no backup is needed
	backup string // set when it was made
	wrote  bool
}

func (p *plan) changes() bool {
	return !p.existed || !bytes.Equal(p.old, p.new) || p.from != p.real
}

// resolve is the file that a path stands for, and whether it exists.
func resolve(path string) (real string, exists bool, err error) {
	real, err = atomicfile.Target(path)
	if err != nil {
		return "", false, fmt.Errorf("%s: %w; mend or remove the link", path, err)
	}
	// The directory may be reached through links as well.
	if dir, err := filepath.EvalSymlinks(filepath.Dir(real)); err == nil {
		real = filepath.Join(dir, filepath.Base(real))
	}
	fi, err := os.Stat(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return real, false, nil
	case err != nil:
		return "", false, err
	case !fi.Mode().IsRegular():
		return "", false, fmt.Errorf("%s: not a regular file", path)
	}
	return real, true, nil
}

// newPlan reads a target and merges into it.
func newPlan(f *targetFile, a *anchor, state *stateFile) (*plan, error) {
	real, exists, err := resolve(f.path)
	if err != nil {
		return nil, err
	}
	p := &plan{file: f, real: real, from: real, existed: exists, mode: 0o600, anchor: a}
	if !exists && a != nil && a.migrate {
		p.from, p.existed = a.path, true
	}
	if !p.existed {
		p.new, p.record = f.fresh, f.record
		if a == nil || f.seed == nil {
			return p, nil
		}
		// The file that counts now has hooks and more, which a new one would
		// silently take away.
		from, there, err := resolve(a.path)
		if err != nil || !there {
			return p, nil
		}
		data, err := readFile(from)
		if err != nil {
			return nil, err
		}
		if p.new, err = f.seed(data); err != nil {
			return nil, inFile(from, err)
		}
		p.seededFrom = from
		return p, nil
	}
	if p.old, err = readFile(p.from); err != nil {
		return nil, err
	}
	if fi, err := os.Stat(p.from); err == nil {
		p.mode = fi.Mode().Perm()
	}
	p.known = ours(state, p)
	owned := ownedIn(state, real)
	if p.new, p.record, err = f.merge(p.old, owned); err != nil {
		return nil, inFile(f.path, err)
	}
	if err := f.check(p.old, p.new, owned); err != nil {
		return nil, &Problem{"ABORT-SELFCHECK", fmt.Sprintf("%s: the new text would not be right: %v; nothing was written, please report this", f.path, err)}
	}
	return p, nil
}

// ownedIn is the record of a file, nil without one.
func ownedIn(state *stateFile, real string) []ownedEntry {
	f := state.Files[real]
	if f == nil {
		return nil
	}
	if f.Owned == nil {
		return []ownedEntry{}
	}
	return f.Owned
}

func inFile(path string, err error) error {
	var p *Problem
	if errors.As(err, &p) {
		return &Problem{p.ID, path + ": " + p.Message}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// An anchor is the settings.json beside a Claude target, kept as a link to it.
type anchor struct {
	path, target string
	old          string // what the link leads to now, empty without a link
	is           bool   // it leads to the target already
	migrate      bool   // a regular file that becomes the target
	copied       bool
}

func newAnchor(target string) (*anchor, error) {
	a := &anchor{path: filepath.Join(filepath.Dir(target), "settings.json"), target: target}
	fi, err := os.Lstat(a.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return a, nil
	case err != nil:
		return nil, err
	case fi.Mode()&fs.ModeSymlink != 0:
		if a.old, err = os.Readlink(a.path); err != nil {
			return nil, err
		}
		to := a.old
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(a.path), to)
		}
		a.is = filepath.Clean(to) == filepath.Clean(target)
		return a, nil
	case !fi.Mode().IsRegular():
		return nil, &Problem{"ABORT-ANCHOR", fmt.Sprintf("%s is no file and no link; move it away, or set claude.symlink = false", a.path)}
	}
	if _, err := os.Lstat(target); err == nil {
		return nil, &Problem{"ABORT-ANCHOR", fmt.Sprintf("%s and %s are both files; merge what you need into the second and remove the first, or set claude.symlink = false", a.path, target)}
	}
	a.migrate = true
	return a, nil
}

// plans describes the link's part of a dry run.
func (a *anchor) plans() []string {
	switch {
	case a == nil || a.is:
		return nil
	case a.migrate:
		return []string{fmt.Sprintf("Migrated: %s -> %s", a.path, a.target), a.linked()}
	}
	return []string{a.linked()}
}

func (a *anchor) linked() string {
	line := fmt.Sprintf("Linked: %s -> %s", a.path, a.text())
	if a.old != "" {
		line += fmt.Sprintf(" (was %s)", a.old)
	}
	return line
}

// text is what the link holds: the two are in one directory.
func (a *anchor) text() string {
	if filepath.Dir(a.path) == filepath.Dir(a.target) {
		return filepath.Base(a.target)
	}
	return a.target
}

// place makes the link, or where there are none a copy.
func (a *anchor) place(data []byte) error {
	if a.is {
		return nil
	}
	dir := filepath.Dir(a.path)
	for n := 0; ; n++ {
		tmp := filepath.Join(dir, fmt.Sprintf(".settings.json.%d-%d.tmp", os.Getpid(), n))
		err := os.Symlink(a.text(), tmp)
		switch {
		case err == nil:
			if err := os.Rename(tmp, a.path); err != nil {
				os.Remove(tmp)
				return err
			}
			return nil
		case errors.Is(err, fs.ErrExist) && n < 100:
			continue
		case errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission):
			a.copied = true
			return atomicfile.Write(a.path, data, 0o600)
		}
		return err
	}
}

// lockWait bounds how long another run is waited for.
const lockWait = 10 * time.Second

func lockFiles(paths []string) (unlock func(), err error) {
	var locks []*atomicfile.Lock
	unlock = func() {
		for _, l := range locks {
			l.Unlock()
		}
	}
	slices.Sort(paths)
	deadline := time.Now().Add(lockWait)
	for _, path := range slices.Compact(paths) {
		for {
			l, err := atomicfile.TryLock(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".agent-policy.lock"))
			if err == nil {
				locks = append(locks, l)
				break
			}
			if !errors.Is(err, atomicfile.ErrLocked) {
				unlock()
				return nil, err
			}
			if time.Now().After(deadline) {
				unlock()
				return nil, &Problem{"ABORT-CONCURRENT", fmt.Sprintf("%s: another run has been writing it for %s; try again", path, lockWait)}
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return unlock, nil
}

// unchangedSince reports that the file is still the one that was read.
func (p *plan) unchangedSince() error {
	data, err := readFile(p.from)
	switch {
	case !p.existed && errors.Is(err, fs.ErrNotExist):
		return nil
	case p.existed && err == nil && bytes.Equal(data, p.old):
		return nil
	}
	return &Problem{"ABORT-CONCURRENT", fmt.Sprintf("%s changed while this run was at work; run it again", p.from)}
}

// commit writes all plans, or none: what was written before an error is put back.
func commit(plans []*plan, state *stateFile, backups int, now time.Time) (err error) {
	var paths []string
	for _, p := range plans {
		if !p.changes() {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(p.real), 0o700); err != nil {
			return err
		}
		paths = append(paths, p.real)
	}
	unlock, err := lockFiles(paths)
	if err != nil {
		return err
	}
	defer unlock()
	for _, p := range plans {
		if p.changes() {
			if err := p.unchangedSince(); err != nil {
				return err
			}
		}
	}
	var done []*plan
	defer func() {
		if err == nil {
			return
		}
		for _, p := range slices.Backward(done) {
			undo := func() error {
				if !p.existed || p.from != p.real {
					return os.Remove(p.real)
				}
				return replaceFile(p.real, p.old, p.mode)
			}
			if uerr := undo(); uerr != nil {
				err = fmt.Errorf("%w; and %s could not be put back: %w", err, p.real, uerr)
			}
			p.wrote = false
		}
	}()
	for _, p := range plans {
		if !p.changes() {
			continue
		}
		if p.existed && backups > 0 && !ours(state, p) {
			if p.backup, err = makeBackup(p.from, p.old, p.mode, now); err != nil {
				return fmt.Errorf("back up %s: %w", p.from, err)
			}
		}
		if err = p.unchangedSince(); err != nil {
			return err
		}
		if err = replaceFile(p.real, p.new, p.mode); err != nil {
			return fmt.Errorf("write %s: %w", p.real, err)
		}
		p.wrote = true
		done = append(done, p)
	}
	for _, p := range plans {
		if p.anchor == nil {
			continue
		}
		if err = p.anchor.place(p.new); err != nil {
			return fmt.Errorf("link %s: %w", p.anchor.path, err)
		}
	}
	for _, p := range plans {
		if p.backup != "" {
			pruneBackups(p.from, backups)
		}
	}
	return nil
}

// ours reports that a file's bytes are what we wrote last.
func ours(state *stateFile, p *plan) bool {
	f := state.Files[p.from]
	return f != nil && f.SHA256 == hash(p.old)
}

// replaceFile is atomicfile.Write that keeps the owner.
func replaceFile(path string, data []byte, mode fs.FileMode) error {
	before, statErr := os.Stat(path)
	if err := atomicfile.Write(path, data, mode); err != nil {
		return err
	}
	if statErr == nil {
		return keepOwner(path, before)
	}
	return nil
}

const stamp = "20060102T150405Z"

// makeBackup copies a file beside itself. Names sort by time.
func makeBackup(path string, data []byte, mode fs.FileMode, now time.Time) (string, error) {
	for {
		name := path + ".agent-policy." + now.UTC().Format(stamp) + ".bak"
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if errors.Is(err, fs.ErrExist) {
			now = now.Add(time.Second)
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(data)
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			os.Remove(name)
			return "", err
		}
		return name, nil
	}
}

// backupsOf lists a file's backups, oldest first.
func backupsOf(path string) []string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	var out []string
	base := filepath.Base(path)
	for _, e := range entries { // sorted by name
		name := e.Name()
		rest, mine := strings.CutPrefix(name, base+".agent-policy.")
		at, bak := strings.CutSuffix(rest, ".bak")
		if _, err := time.Parse(stamp, at); mine && bak && err == nil && e.Type().IsRegular() {
			out = append(out, filepath.Join(filepath.Dir(path), name))
		}
	}
	return out
}

func pruneBackups(path string, keep int) {
	all := backupsOf(path)
	for _, name := range all[:max(0, len(all)-keep)] {
		os.Remove(name)
	}
}
