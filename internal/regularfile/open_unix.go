//go:build !windows

package regularfile

import "syscall"

const nonblock = syscall.O_NONBLOCK | syscall.O_NOCTTY
