package main

import (
	"os"

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
	path, ok := launch.Beside(self, screen)
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
