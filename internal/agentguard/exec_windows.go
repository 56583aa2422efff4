package agentguard

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sallyport/internal/cli"
)

var suffixes = []string{"", ".exe", ".cmd", ".bat", ".com"}

func executable(path string, _ os.FileInfo) bool {
	ext := strings.ToLower(filepath.Ext(path))
	for _, s := range suffixes {
		if s != "" && s == ext {
			return true
		}
	}
	return false
}

// become runs the program as a child, because Windows cannot replace a process,
// and passes its exit code on.
func become(p *cli.Process, path string, argv, env []string) error {
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, p.Stdin, p.Stdout, p.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &cli.ExitError{Code: exit.ExitCode()}
	}
	return err
}
