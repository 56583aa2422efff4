//go:build unix

package policy

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner it had. Only root can have taken it away.
func keepOwner(path string, before fs.FileInfo) error {
	old, ok := before.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	fi, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && (st.Uid != old.Uid || st.Gid != old.Gid) {
		return os.Chown(path, int(old.Uid), int(old.Gid))
	}
	return nil
}
