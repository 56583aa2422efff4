//go:build unix

package iso

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A wrapper script named claude may start the launcher, which would find the
// wrapper on PATH and start it, and so on. The launcher therefore remembers the
// scripts that it has started. It cannot do so in the environment, which holds
// nothing but the list, so it leaves an unlinked file open for the script; the
// launcher at the script's end reads it there, and no other program sees it.

// chainFD is where the file is left: above what shells and scripts use.
const chainFD = 199

// chainAge is how long a script may take to lead back here. A launcher that is
// started later, within the session, is a new start.
const chainAge = 10 * time.Second

// maxChain bounds how often scripts may lead back to the launcher.
const maxChain = 8

type chain struct {
	Started time.Time `json:"started"`
	Count   int       `json:"count"`
	Scripts []string  `json:"scripts"`
}

// readChain returns the scripts that led here, nothing if none did.
func readChain() chain {
	var st unix.Stat_t
	if unix.Fstat(chainFD, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 0 || st.Size > 1<<16 || int(st.Uid) != os.Geteuid() {
		return chain{}
	}
	data := make([]byte, st.Size)
	n, err := unix.Pread(chainFD, data, 0)
	data, ours := bytes.CutPrefix(data[:max(n, 0)], []byte(chainMagic))
	if err != nil || !ours {
		return chain{}
	}
	// The program at the end of the chain gets nothing of it.
	unix.CloseOnExec(chainFD)
	var c chain
	if json.Unmarshal(data, &c) != nil || time.Since(c.Started).Abs() > chainAge {
		return chain{}
	}
	return c
}

const chainMagic = "agent-iso chain\n"

// leave leaves the chain for the script at path, which is about to be started.
// Where it cannot, the worst is a wrapper that runs in circles.
func (c chain) leave(path string) {
	if !mayLeadBack(path) {
		return
	}
	if unix.Fstat(chainFD, new(unix.Stat_t)) == nil && !closes(chainFD) {
		return // the person's own
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return
	}
	data, err := json.Marshal(chain{time.Now(), c.Count + 1, append(c.Scripts, abs)})
	if err != nil {
		return
	}
	f, err := os.CreateTemp("", "agent-iso-")
	if err != nil {
		return
	}
	defer f.Close()
	if os.Remove(f.Name()) != nil {
		return
	}
	if _, err := f.Write(append([]byte(chainMagic), data...)); err != nil {
		return
	}
	_ = unix.Dup2(int(f.Fd()), chainFD)
}

// closes reports whether fd is closed by exec, as [readChain] leaves it.
func closes(fd uintptr) bool {
	flags, err := unix.FcntlInt(fd, unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC != 0
}
