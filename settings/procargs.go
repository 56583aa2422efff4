package settings

import (
	"bytes"
	"encoding/binary"
	"strings"
)

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
