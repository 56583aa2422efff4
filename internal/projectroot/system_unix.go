//go:build !windows

package projectroot

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// readOnly reports a file system, or a file mounted on its own, that the
// client's sandbox keeps from being written.
func readOnly(err error) bool { return errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EBUSY) }

// tempDir is the directory that the client gives the sandbox for temporary
// files of this account.
func tempDir() string { return "/tmp/claude-" + strconv.Itoa(os.Getuid()) }

// otherDevice reports a directory that is a mount of another file system.
func otherDevice(start os.FileInfo, path string) bool {
	a, ok := start.Sys().(*syscall.Stat_t)
	info, err := os.Lstat(path)
	if err != nil || !ok {
		return err != nil
	}
	b, ok := info.Sys().(*syscall.Stat_t)
	return ok && a.Dev != b.Dev
}
