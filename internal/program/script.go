package program

import (
	"bytes"
	"io"
	"os"
	"strings"
)

// Interpreter is the command line on the first line of a script, split at
// blanks; nil if the file at path is not a script.
func Interpreter(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 256) // the length that Linux reads
	n, _ := io.ReadFull(f, head)
	line, ok := bytes.CutPrefix(head[:n], []byte("#!"))
	if !ok {
		return nil
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	return strings.Fields(string(line))
}
