package settings

import (
	"errors"
	"syscall"
)

func isNotDir(err error) bool {
	const errorDirectory = syscall.Errno(267) // ERROR_DIRECTORY
	return errors.Is(err, errorDirectory) || errors.Is(err, syscall.ERROR_PATH_NOT_FOUND)
}

// owned is not asked on Windows: the client reads no root's file there.
func owned(string) bool { return true }
