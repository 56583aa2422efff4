package program

import (
	"os"
	"path/filepath"
	"runtime"
)

// Beside finds a program in the directory of the running program self, or in
// that of the file that self is a link to.
func Beside(self, name string) (string, bool) {
	if self == "" {
		return "", false
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	dirs := []string{filepath.Dir(self)}
	if target, err := filepath.EvalSymlinks(self); err == nil {
		dirs = append(dirs, filepath.Dir(target))
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() {
			return path, true
		}
	}
	return "", false
}
