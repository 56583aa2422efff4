package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"sallyport/internal/cli"
)

// become runs the program on our terminal and ends as it ended.
func become(path string, args, environ []string) error {
	cmd := exec.Command(path, args[1:]...)
	cmd.Env = environ
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &cli.ExitError{Code: exit.ExitCode()}
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", path, err)
	}
	return nil
}
