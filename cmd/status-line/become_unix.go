//go:build !windows

package main

import (
	"fmt"
	"syscall"
)

// become replaces this process; it returns only if that fails.
func become(path string, args, environ []string) error {
	return fmt.Errorf("start %s: %w", path, syscall.Exec(path, args, environ))
}
