package childproc

import "syscall"

// The parent's death kills the child too: the client kills a status line that
// it has no more use for, and a git that hangs must not stay behind.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
