package settings

import (
	"bytes"
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"
)

func argvOf(pid int) ([]string, bool) {
	data, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil, false
	}
	return parseProcargs(data)
}

func parentOf(pid int) (int, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, false
	}
	return int(info.Eproc.Ppid), true
}

// parseProcargs reads KERN_PROCARGS2: the argument count, the program's path,
// padding zeros, then the arguments, each ended by a zero.
func parseProcargs(data []byte) ([]string, bool) {
	if len(data) < 4 {
		return nil, false
	}
	argc := int(int32(binary.LittleEndian.Uint32(data)))
	data = data[4:]
	end := bytes.IndexByte(data, 0)
	if argc < 1 || end < 0 {
		return nil, false
	}
	data = bytes.TrimLeft(data[end:], "\x00")
	words := strings.SplitN(string(data), "\x00", argc+1)
	if len(words) < argc {
		return nil, false
	}
	return words[:argc], true
}
