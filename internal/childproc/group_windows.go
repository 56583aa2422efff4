package childproc

import (
	"os"
	"syscall"
)

// InheritsFiles says whether StartDetached can pass a file on.
const InheritsFiles = false

const (
	createNewProcessGroup = 0x00000200
	detachedProcess       = 0x00000008
)

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: createNewProcessGroup, HideWindow: true}
}

func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: createNewProcessGroup | detachedProcess, HideWindow: true}
}

// killGroup reaches the process alone; Windows has no groups to kill.
func killGroup(p *os.Process) error {
	if p == nil {
		return nil
	}
	return p.Kill()
}

// Inherited is nil: nothing is passed on.
func Inherited() *os.File { return nil }
