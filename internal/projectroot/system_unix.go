//go:build !windows

package projectroot

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

func readOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// tempDir is the directory that the client gives the sandbox for temporary
// files of this account.
func tempDir() string { return "/tmp/claude-" + strconv.Itoa(os.Getuid()) }
