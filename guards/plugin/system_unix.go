//go:build !windows

package plugin

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// readRegular reads a file with four system calls: the runtime's poller, which
// os.File would set up for it, costs more than the reading, and every start
// reads every guard. A pipe does not make it wait, and in a repository no link is
// followed that was put there after the look.
func readRegular(path string, foreign bool) (data []byte, problem string) {
	flags := syscall.O_RDONLY | syscall.O_NONBLOCK | syscall.O_CLOEXEC | syscall.O_NOCTTY
	if foreign {
		flags |= syscall.O_NOFOLLOW
	}
	fd, err := retry(func() (int, error) { return syscall.Open(path, flags, 0) })
	if err != nil {
		return nil, "cannot be read"
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, "cannot be read"
	}
	switch {
	case st.Mode&syscall.S_IFMT != syscall.S_IFREG:
		return nil, "is no regular file"
	case st.Mode&0o002 != 0:
		return nil, everyone
	case st.Size > maxFile:
		return nil, tooLarge
	}
	data = make([]byte, st.Size)
	for n := 0; n < len(data); {
		m, err := retry(func() (int, error) { return syscall.Read(fd, data[n:]) })
		if err != nil {
			return nil, "cannot be read"
		}
		if m == 0 {
			return data[:n], "" // it was cut meanwhile
		}
		n += m
	}
	return data, ""
}

func retry(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != syscall.EINTR {
			return n, err
		}
	}
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// writableByAll reports a file that any user of the machine could change, or a
// directory that any user could add a guard to; a sticky bit does not hinder that.
func writableByAll(mode os.FileMode) bool { return mode.Perm()&0o002 != 0 }

// ownGroup makes the child a group of its own, so that killGroup ends what it
// started as well.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Process.Kill()
}

var executableSuffixes = []string{""}

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
