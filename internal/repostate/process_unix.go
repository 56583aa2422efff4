//go:build !windows

package repostate

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

var executableSuffixes = []string{""}

// ownGroup makes the child a group of its own, so that the limit ends what it
// started as well.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// isMount reports a directory that stands on another device than its parent.
func isMount(path string, st os.FileInfo) bool {
	parent, err := os.Lstat(filepath.Dir(path))
	if err != nil {
		return false
	}
	a, ok1 := st.Sys().(*syscall.Stat_t)
	b, ok2 := parent.Sys().(*syscall.Stat_t)
	return ok1 && ok2 && a.Dev != b.Dev
}
