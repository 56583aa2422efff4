// Package program finds a program on PATH as a shell would, and becomes it.
//
// It is for launchers that may stand on PATH under the name of the program
// they start: entries that are the launcher itself are passed over, so that a
// link named like the program cannot start the launcher for ever.
package program

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A NotFoundError says that no entry of PATH, and no file at a path that was
// given, is the program.
type NotFoundError struct {
	Name string
	// Skipped are the entries that would have been it but were passed over.
	Skipped []string
}

func (e *NotFoundError) Error() string {
	if len(e.Skipped) > 0 {
		return fmt.Sprintf("%s: not found on PATH but for what leads back here (%s)", e.Name, strings.Join(e.Skipped, ", "))
	}
	if isPath(e.Name) {
		return e.Name + ": no such file"
	}
	return e.Name + ": not found on PATH"
}

// A NotExecutableError says that the program is there and cannot be run.
type NotExecutableError struct {
	Path   string
	Reason string
}

func (e *NotExecutableError) Error() string {
	return fmt.Sprintf("%s: cannot be executed: %s", e.Path, e.Reason)
}

// Search says where to look for a program.
type Search struct {
	Path    string // value of PATH
	PathExt string // value of PATHEXT, Windows only
	Dir     string // directory that relative names and entries of PATH start from
	// Skip reports a file to pass over; nil passes over nothing.
	Skip func(path string, info fs.FileInfo) bool
}

// Find returns the file that name stands for. A name with a separator is a
// path. Otherwise the first executable file on PATH is it; an empty entry is
// the working directory. The error is a [*NotFoundError] or a
// [*NotExecutableError].
func (s Search) Find(name string) (string, error) {
	if name == "" {
		return "", &NotFoundError{Name: name}
	}
	if isPath(name) {
		return s.findPath(name)
	}
	var skipped []string
	var notExecutable error
	for _, dir := range filepath.SplitList(s.Path) {
		if dir == "" {
			dir = "."
		}
		// Not filepath.Join: it would resolve ".." by text, past symbolic links.
		prefix := strings.TrimRight(dir, string(filepath.Separator)) + string(filepath.Separator)
		for _, candidate := range s.spellings(prefix + name) {
			info, err := os.Stat(s.abs(candidate))
			if err != nil || info.IsDir() {
				continue
			}
			if err := executable(s.abs(candidate), info); err != nil {
				if notExecutable == nil {
					notExecutable = &NotExecutableError{candidate, err.Error()}
				}
				continue
			}
			if s.Skip != nil && s.Skip(s.abs(candidate), info) {
				skipped = append(skipped, candidate)
				continue
			}
			return candidate, nil
		}
	}
	if notExecutable != nil {
		return "", notExecutable
	}
	return "", &NotFoundError{name, skipped}
}

func (s Search) findPath(name string) (string, error) {
	var firstErr error
	for _, candidate := range s.spellings(name) {
		info, err := os.Stat(s.abs(candidate))
		if err != nil {
			if firstErr == nil && !os.IsNotExist(err) {
				firstErr = &NotExecutableError{candidate, plainReason(err)}
			}
			continue
		}
		if info.IsDir() {
			return "", &NotExecutableError{candidate, "it is a directory"}
		}
		if err := executable(s.abs(candidate), info); err != nil {
			return "", &NotExecutableError{candidate, err.Error()}
		}
		if s.Skip != nil && s.Skip(s.abs(candidate), info) {
			return "", &NotFoundError{name, []string{candidate}}
		}
		return candidate, nil
	}
	if firstErr != nil {
		return "", firstErr
	}
	return "", &NotFoundError{Name: name}
}

func (s Search) abs(path string) string {
	if filepath.IsAbs(path) || s.Dir == "" {
		return path
	}
	return filepath.Join(s.Dir, path)
}

// plainReason is an error's cause without the path, which the caller names.
func plainReason(err error) string {
	if pe, ok := err.(*fs.PathError); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
