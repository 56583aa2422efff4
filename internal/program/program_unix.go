//go:build unix

package program

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func isPath(name string) bool { return strings.Contains(name, "/") }

func (s Search) spellings(path string) []string { return []string{path} }

func executable(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	if unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) != nil {
		return errors.New("permission denied")
	}
	return nil
}

// Exec replaces this process by the program at path: its process id, terminal,
// signals and exit code are then the program's own. It returns only on an
// error, which is a [*NotExecutableError].
//
// A file that the kernel does not know how to run is handed to /bin/sh, as a
// shell and execvp do.
func Exec(path string, argv, env []string) (int, error) {
	err := unix.Exec(path, argv, env)
	if errors.Is(err, unix.ENOEXEC) {
		args := append([]string{"sh", path}, argv[1:]...)
		err = unix.Exec("/bin/sh", args, env)
	}
	reason := plainReason(err)
	switch {
	case errors.Is(err, unix.ENOENT):
		if _, statErr := os.Stat(path); statErr == nil {
			reason = "the interpreter that it names does not exist"
			if words := Interpreter(path); len(words) > 0 {
				reason = "its interpreter " + words[0] + " does not exist"
			}
		}
	case errors.Is(err, unix.E2BIG):
		reason = "arguments and environment are larger than the system takes"
	}
	return 0, &NotExecutableError{path, reason}
}
