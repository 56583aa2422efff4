package main

import (
	"os"
	"path/filepath"
	"runtime"

	"sallyport/internal/cli"
	launch "sallyport/internal/program"
	"sallyport/internal/term"
)

// screen is the program behind the sub-command configure. It links a framework
// that the line must not pay for.
const screen = "status-line-configure"

// configure becomes the program with the screen, which stands beside this one.
func configure(p *cli.Process, color term.Color) error {
	self, err := os.Executable()
	if err != nil {
		return cli.Exitf(cli.ExitHardStop, "%v", err)
	}
	path, ok := beside(self, screen)
	if !ok {
		return cli.Exitf(cli.ExitInput, "%s is not beside %s; install the suite again (agent-setup install), or use \"status-line config set KEY VALUE\"",
			screen, term.Clean(self, 4096))
	}
	argv := []string{path}
	if color != "" {
		argv = append(argv, "--color="+string(color))
	}
	code, err := launch.Exec(path, argv, p.Environ)
	switch {
	case err != nil:
		return cli.Exitf(cli.ExitHardStop, "%s", term.Clean(err.Error(), 4096))
	case code != 0:
		return &cli.ExitError{Code: code}
	}
	return nil
}

// beside finds a program in the directory of self, or in that of the file that
// self is a link to.
func beside(self, name string) (string, bool) {
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
