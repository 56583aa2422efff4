//go:build !linux

package starguard

// limitMemory does nothing where the system has no limit that Go's runtime can
// live with; the watcher ends the process instead.
func limitMemory(uint64) {}

var _ = memoryFactor
