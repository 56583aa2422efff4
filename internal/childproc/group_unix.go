//go:build !windows

package childproc

import (
	"os"
	"syscall"
)

// InheritsFiles says whether StartDetached can pass a file on.
const InheritsFiles = true

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func killGroup(p *os.Process) error {
	if p == nil || p.Pid <= 1 {
		return nil
	}
	return syscall.Kill(-p.Pid, syscall.SIGKILL)
}

// Inherited is the file that [Program.StartDetached] passed to this process.
// Programs that this one starts do not inherit it.
func Inherited() *os.File {
	syscall.CloseOnExec(3)
	return os.NewFile(3, "inherited")
}
