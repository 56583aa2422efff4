package iso

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"sallyport/internal/cli"
	"sallyport/internal/dirs"
)

// absolute resolves a path against a directory.
func absolute(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// homePath resolves "~/x"; it is empty where no home is known.
func homePath(w *cli.Process, path string) string {
	home := dirs.Home(w.Getenv)
	if home == "" {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(strings.TrimPrefix(path, "~")))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isNotDirectory reports a path that leads through a file.
func isNotDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
