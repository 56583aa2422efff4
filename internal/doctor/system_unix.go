//go:build !windows

package doctor

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// socketErr makes a socket of a kind and closes it.
func socketErr(local bool) error {
	domain := syscall.AF_INET
	if local {
		domain = syscall.AF_UNIX
	}
	fd, err := syscall.Socket(domain, syscall.SOCK_STREAM, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	return syscall.Close(fd)
}

// executable asks whether this process may run a file.
func executable(path string) error {
	if err := unix.Access(path, unix.X_OK|unix.R_OK); err != nil {
		return &os.PathError{Op: "execute", Path: path, Err: err}
	}
	return nil
}
