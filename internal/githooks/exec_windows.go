package githooks

import (
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"sallyport/internal/cli"
)

// replace runs the program as a child: a process cannot become another one
// here.
func replace(p *cli.Process, path string, args []string) int {
	return child(p, path, args, p.Stdin)
}

func asStdin(p *cli.Process, f *os.File) error {
	p.Stdin = f
	return nil
}

// command starts a script through the shell that comes with git, which puts it
// on PATH for hooks.
func command(path string, args []string) []string {
	if strings.HasSuffix(strings.ToLower(path), ".exe") {
		return append([]string{path}, args...)
	}
	return append([]string{"sh", path}, args...)
}

func noFormat(error) bool { return false }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }

// mayRun: files have no executable bit here, and git does not ask for one.
func mayRun(string, fs.FileInfo) bool { return true }

func spellings(path string) []string { return []string{path, path + ".exe"} }

func ownGroup(*exec.Cmd) {}
