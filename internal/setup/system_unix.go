//go:build !windows

package setup

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// foreignOwner reports a file that belongs to another account.
func foreignOwner(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) != os.Geteuid()
}

func rootOwned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0
}

func readOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// syncDir makes renames durable where the file system can.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}
