package starguard

import "golang.org/x/sys/unix"

// limitMemory makes the system refuse more than max bytes of data: one large
// allocation is over before a watcher sees it.
func limitMemory(max uint64) {
	max *= memoryFactor
	_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: max, Max: max})
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}
