package main

import (
	"os"
	"syscall"
)

// peakMiB is the largest resident size of a finished process. Linux counts it
// in KiB, and from the fork on: it is never below what the parent had mapped.
func peakMiB(p *os.ProcessState) float64 {
	if ru, ok := p.SysUsage().(*syscall.Rusage); ok {
		return float64(ru.Maxrss) / 1024
	}
	return 0
}
