package settings

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sallyport/internal/atomicfile"
	"sallyport/internal/regularfile"
)

// ErrRefused marks an edit that is not made for safety's sake: the file lies
// outside the allowed directories, belongs to someone else, or is no regular
// file.
var ErrRefused = errors.New("refused")

// ErrBusy marks an edit that gave up because others kept writing the file.
var ErrBusy = errors.New("another process is writing the file")

// An Editor changes settings files on disk. Use one for all the changes of a
// run: its backups then lie together, each file as it was before the run.
type Editor struct {
	// Roots are the directories that a file, with symbolic links resolved, has
	// to lie in; empty allows any.
	Roots []string
	// State is the directory for backups (below "backups") and locks (below
	// "locks"). Two editors keep out of each other's way if they share it.
	State string
	// Mode is that of files which do not exist yet, 0600 if zero. An existing
	// file keeps its own.
	Mode fs.FileMode
	// Wait bounds how long a lock held by another process is waited for, five
	// seconds if zero.
	Wait time.Duration
	// Now is the clock, time.Now if nil.
	Now func() time.Time

	stamp string
}

// An Edited file is the outcome of [Editor.Edit] and [Editor.Preview].
type Edited struct {
	Target   string // the file with links resolved
	Existed  bool
	Old, New []byte
	Backup   string // empty if nothing was written or there was no file
}

// Changed reports that the edit makes a difference.
func (e Edited) Changed() bool { return !bytes.Equal(e.Old, e.New) }

// Preview is [Editor.Edit] without writing: the same checks and the same result.
func (e *Editor) Preview(path string, changes ...Change) (Edited, error) {
	return e.PreviewUpdate(path, always(changes))
}

// PreviewUpdate is [Editor.Update] without writing.
func (e *Editor) PreviewUpdate(path string, decide func(Node) ([]Change, error)) (Edited, error) {
	target, err := e.target(path)
	if err != nil {
		return Edited{}, err
	}
	return e.apply(path, target, decide)
}

// always makes the same changes whatever the text is. It does not look at the
// text, so that Apply alone judges it.
func always(changes []Change) func(Node) ([]Change, error) {
	return func(Node) ([]Change, error) { return changes, nil }
}

func (e *Editor) apply(path, target string, decide func(Node) ([]Change, error)) (Edited, error) {
	out := Edited{Target: target}
	data, err := regularfile.Read(target, maxFile)
	switch {
	case err == nil:
		out.Existed, out.Old = true, data
	case !isMissing(err):
		return Edited{}, fmt.Errorf("read %s: %w", path, err)
	}
	var root Node
	if doc, err := ParseDocument(out.Old); err == nil {
		root = doc.Root()
	} else if _, err := Apply(out.Old); err != nil {
		return Edited{}, fmt.Errorf("%s: %w", path, err)
	}
	changes, err := decide(root)
	if err != nil {
		return Edited{}, fmt.Errorf("%s: %w", path, err)
	}
	if !out.Existed && !slices.ContainsFunc(changes, func(c Change) bool { return !c.delete }) {
		return out, nil // nothing to delete from
	}
	out.New, err = Apply(out.Old, changes...)
	if err != nil {
		return Edited{}, fmt.Errorf("%s: %w", path, err)
	}
	if len(changes) == 0 {
		out.New = out.Old
	}
	return out, nil
}

// Edit changes a file, as [Apply] does, so that no reader sees half of it and
// no other writer's change is lost. A file that does not exist is made, with
// its directory; a symbolic link stays and the file it leads to is replaced.
// Nothing is written if the text stays the same. The first time a run changes
// a file a copy of it is kept.
//
// The error is, or wraps, a *[SyntaxError] or *[PathError] where the text is
// at fault, [ErrRefused], [ErrBusy], or what the system says; the file is then
// as it was.
func (e *Editor) Edit(path string, changes ...Change) (Edited, error) {
	return e.Update(path, always(changes))
}

// Update is [Editor.Edit] with changes that depend on what the file holds, such
// as an entry that is appended only if it is missing. decide gets the text's
// root, absent if there is no text; it is called with the lock held, and again
// if another program wrote the file meanwhile. Its error ends the edit.
func (e *Editor) Update(path string, decide func(Node) ([]Change, error)) (Edited, error) {
	target, err := e.target(path)
	if err != nil {
		return Edited{}, err
	}
	unlock, err := e.lock(target)
	if err != nil {
		return Edited{}, fmt.Errorf("%s: %w", path, err)
	}
	defer unlock()
	// The lock keeps out other editors; the client takes none, so the file is
	// looked at again right before it is replaced.
	const tries = 5
	for range tries {
		out, err := e.apply(path, target, decide)
		if err != nil || !out.Changed() {
			return out, err
		}
		if out.Backup, err = e.backup(out); err != nil {
			return Edited{}, fmt.Errorf("back up %s: %w", path, err)
		}
		if !e.unchanged(out) {
			continue
		}
		if err := e.write(out); err != nil {
			return Edited{}, fmt.Errorf("write %s: %w", path, err)
		}
		return out, nil
	}
	return Edited{}, fmt.Errorf("%s: %w", path, ErrBusy)
}

// ErrChanged is returned by [Editor.Replace] when the file no longer holds what
// the new text was worked out from.
var ErrChanged = errors.New("it changed in the meantime, nothing was written")

// Replace gives a file a text that was worked out, and perhaps shown to a
// person, from old. It is written as [Editor.Edit] writes, and only if the file
// still holds old.
func (e *Editor) Replace(path string, old, text []byte) (Edited, error) {
	target, err := e.target(path)
	if err != nil {
		return Edited{}, err
	}
	unlock, err := e.lock(target)
	if err != nil {
		return Edited{}, fmt.Errorf("%s: %w", path, err)
	}
	defer unlock()
	out := Edited{Target: target, Existed: true, Old: old, New: text}
	if !e.unchanged(out) {
		return Edited{}, fmt.Errorf("%s: %w", path, ErrChanged)
	}
	if !out.Changed() {
		return out, nil
	}
	if out.Backup, err = e.backup(out); err != nil {
		return Edited{}, fmt.Errorf("back up %s: %w", path, err)
	}
	if err := e.write(out); err != nil {
		return Edited{}, fmt.Errorf("write %s: %w", path, err)
	}
	return out, nil
}

func (e *Editor) mode() fs.FileMode {
	if e.Mode == 0 {
		return 0o600
	}
	return e.Mode
}

func (e *Editor) write(out Edited) error {
	dir := filepath.Dir(out.Target)
	dirMode := fs.FileMode(0o700)
	if e.mode()&0o044 != 0 {
		dirMode = 0o755
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	return atomicfile.Write(out.Target, out.New, e.mode())
}

func (e *Editor) unchanged(out Edited) bool {
	data, err := regularfile.Read(out.Target, maxFile)
	if !out.Existed {
		return err != nil && isMissing(err)
	}
	return err == nil && bytes.Equal(data, out.Old)
}

// target resolves links and applies the safety rules.
func (e *Editor) target(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	target, err := atomicfile.Target(abs)
	if err != nil && !isMissing(err) {
		return "", err
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %w", path, ErrRefused, err)
	}
	// What exists of the way there is resolved, the rest is to be made.
	dir, rest := filepath.Dir(target), filepath.Base(target)
	for {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			dir = real
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			return "", err
		}
		if _, err := os.Lstat(dir); err == nil {
			return "", fmt.Errorf("%s: %w: %s is a link that leads nowhere", path, ErrRefused, dir)
		}
		dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest)
	}
	target = filepath.Join(dir, rest)
	if len(e.Roots) > 0 && !slices.ContainsFunc(e.Roots, func(root string) bool { return within(target, realDir(root)) }) {
		return "", fmt.Errorf("%s: %w: %s lies outside %s", path, ErrRefused, target, strings.Join(e.Roots, ", "))
	}
	for _, p := range []string{target, dir} {
		fi, err := os.Stat(p)
		if err != nil {
			continue
		}
		if p == target && !fi.Mode().IsRegular() {
			return "", fmt.Errorf("%s: %w: not a regular file", path, ErrRefused)
		}
		if !owned(p) {
			return "", fmt.Errorf("%s: %w: %s belongs to another user", path, ErrRefused, p)
		}
	}
	return target, nil
}

func (e *Editor) lock(target string) (unlock func(), err error) {
	if e.State == "" {
		return func() {}, nil
	}
	dir := filepath.Join(e.State, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	wait := e.Wait
	if wait == 0 {
		wait = 5 * time.Second
	}
	deadline := time.Now().Add(wait)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		lock, err := atomicfile.TryLock(filepath.Join(dir, flatName(target)+".lock"))
		switch {
		case err == nil:
			return func() { lock.Unlock() }, nil
		case !errors.Is(err, atomicfile.ErrLocked):
			return nil, err
		case time.Now().After(deadline):
			return nil, ErrBusy
		}
		time.Sleep(pause)
	}
}

// flatName makes one file name of a path, readable and its own.
func flatName(path string) string {
	name := strings.NewReplacer("%", "%25", "/", "%2F", `\`, "%5C", ":", "%3A").Replace(path)
	const longest = 200 // file systems take 255 bytes
	if len(name) > longest {
		sum := fnv.New64a()
		sum.Write([]byte(path))
		name = fmt.Sprintf("%016x-%s", sum.Sum64(), strings.ToValidUTF8(name[len(name)-longest+20:], ""))
	}
	return name
}

// keepRuns is how many runs' backups are kept.
const keepRuns = 20

func (e *Editor) backup(out Edited) (string, error) {
	if e.State == "" || !out.Existed {
		return "", nil
	}
	runs := filepath.Join(e.State, "backups")
	if e.stamp == "" {
		now := time.Now
		if e.Now != nil {
			now = e.Now
		}
		if err := os.MkdirAll(runs, 0o700); err != nil {
			return "", err
		}
		// Names sort by time and are a run's own, for two in one instant too.
		base := now().UTC().Format("20060102T150405.000000Z")
		for n := 0; ; n++ {
			stamp := base
			if n > 0 {
				stamp = fmt.Sprintf("%s-%03d", base, n)
			}
			err := os.Mkdir(filepath.Join(runs, stamp), 0o700)
			if err == nil {
				e.stamp = stamp
				break
			}
			if !errors.Is(err, fs.ErrExist) {
				return "", err
			}
		}
		prune(runs)
	}
	// Many runs at once may have pruned this one before its first copy.
	if err := os.MkdirAll(filepath.Join(runs, e.stamp), 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(runs, e.stamp, flatName(out.Target))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return path, nil // from before this run's first change
	}
	if err != nil {
		return "", err
	}
	_, err = f.Write(out.Old)
	return path, errors.Join(err, f.Sync(), f.Close())
}

// prune drops the oldest runs. A failure leaves more behind than needed.
func prune(runs string) {
	entries, err := os.ReadDir(runs) // sorted, and the names sort by time
	if err != nil {
		return
	}
	for _, entry := range entries[:max(0, len(entries)-keepRuns)] {
		os.RemoveAll(filepath.Join(runs, entry.Name()))
	}
}
