//go:build !windows

package githooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"sallyport/internal/cli"
	"sallyport/internal/term"
)

// replace makes this process the program. Like git it hands a file that names
// no interpreter to the shell.
func replace(p *cli.Process, path string, args []string) int {
	err := syscall.Exec(path, append([]string{path}, args...), p.Environ)
	if errors.Is(err, syscall.ENOEXEC) {
		err = syscall.Exec("/bin/sh", append([]string{"/bin/sh", path}, args...), p.Environ)
	}
	fmt.Fprintf(p.Stderr, "%s: cannot run %s: %v\n", p.Name, term.Clean(path, 0), err)
	return 1
}

// asStdin makes a file this process's standard input, which replace hands on.
func asStdin(p *cli.Process, f *os.File) error {
	if err := unix.Dup2(int(f.Fd()), 0); err != nil {
		return err
	}
	p.Stdin = os.Stdin
	return f.Close()
}

func command(path string, args []string) []string { return append([]string{path}, args...) }

func noFormat(err error) bool { return errors.Is(err, syscall.ENOEXEC) }

// exitCode is a shell's code for how a process ended.
func exitCode(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}

// mayRun is git's own test.
func mayRun(path string, _ fs.FileInfo) bool { return unix.Access(path, unix.X_OK) == nil }

// spellings are the names under which git looks for a hook.
func spellings(path string) []string { return []string{path} }

// ownGroup lets the limit end what the command started as well.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
