package plugin

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
)

func readRegular(path string, _ bool) (data []byte, problem string) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "cannot be read"
	}
	defer f.Close()
	fi, err := f.Stat()
	switch {
	case err != nil:
		return nil, "cannot be read"
	case !fi.Mode().IsRegular():
		return nil, "is no regular file"
	}
	data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, "cannot be read"
	case len(data) > maxFile:
		return nil, tooLarge
	}
	return data, ""
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// Windows keeps access in lists that os.FileInfo does not show.
func writableByAll(os.FileMode) bool { return false }

func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

var executableSuffixes = []string{".exe"}

func isBrokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ERROR_BROKEN_PIPE)
}
