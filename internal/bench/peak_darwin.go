package main

import (
	"os"
	"syscall"
)

// peakMiB is the largest resident size of a finished process, which macOS
// counts in bytes.
func peakMiB(p *os.ProcessState) float64 {
	if ru, ok := p.SysUsage().(*syscall.Rusage); ok {
		return float64(ru.Maxrss) / (1 << 20)
	}
	return 0
}
