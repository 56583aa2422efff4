//go:build !windows

package agentguard

import (
	"os"
	"syscall"

	"sallyport/internal/cli"
)

var suffixes = []string{""}

func executable(_ string, st os.FileInfo) bool { return st.Mode()&0o111 != 0 }

// become replaces the process. It returns only on failure.
func become(_ *cli.Process, path string, argv, env []string) error {
	return syscall.Exec(path, argv, env)
}
