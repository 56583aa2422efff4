//go:build unix

package iso

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a command and its children into a process group, so that all
// of them end with it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
