package program

import (
	"bytes"
	"io"
	"io/fs"
	"os"
)

// maxCopy bounds the files that are read to find a copy of this program. The
// programs that it starts are mostly larger.
const maxCopy = 32 << 20

// Self tells whether a file is a launcher: this program itself through a link
// of any kind, or a copy of it, of whatever version.
type Self struct {
	info fs.FileInfo
	mark []byte
}

// NewSelf returns a Self for the running program. mainPackage is the import
// path of its main package, which the build writes into every binary of it.
func NewSelf(mainPackage string) Self {
	s := Self{mark: []byte("path\t" + mainPackage + "\n")}
	if exe, err := os.Executable(); err == nil {
		s.info, _ = os.Stat(exe)
	}
	return s
}

// Is reports whether the file at path, whose info the caller has, is the launcher.
func (s Self) Is(path string, info fs.FileInfo) bool {
	if s.info != nil && os.SameFile(s.info, info) {
		return true
	}
	if info.Size() > maxCopy || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil || !binaryMagic(magic) {
		return false
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxCopy))
	return err == nil && bytes.Contains(rest, s.mark)
}

// binaryMagic reports the beginnings of ELF, Mach-O and PE files.
func binaryMagic(m [4]byte) bool {
	switch string(m[:]) {
	case "\x7fELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe":
		return true
	}
	return m[0] == 'M' && m[1] == 'Z'
}
