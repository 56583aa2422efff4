package gitrepo

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

// A porcelain is what "git status --porcelain=v2 --branch" says.
type porcelain struct {
	Head    Head
	Changes Changes
}

var errPorcelain = errors.New("output of git status not understood")

// parsePorcelain reads the header lines and stops at the first entry, which is
// all there is to know: some tracked file differs. end is true if it read to
// the end. Unknown headers are skipped, as git's documentation asks.
func parsePorcelain(r io.Reader) (p porcelain, end bool, err error) {
	// Longer than any header: a ref name is a path of at most 4096 bytes.
	br := bufio.NewReaderSize(r, 8<<10)
	sawHead := false
	gone := false
	for {
		line, err := br.ReadSlice('\n')
		if len(line) > 0 && line[0] != '#' {
			if !sawHead {
				return p, false, errPorcelain
			}
			p.Changes.Dirty = true
			break
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			return p, false, errPorcelain
		}
		if err != nil {
			// A header without its newline was cut off.
			if !errors.Is(err, io.EOF) || len(line) > 0 || !sawHead {
				return p, true, errPorcelain
			}
			end = true
			break
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(string(line[1:]), "\n"), " ")
		if name == "" {
			name, value, _ = strings.Cut(value, " ")
		}
		switch name {
		case "branch.oid":
			if isHash(value) {
				p.Head.Hash = value
			}
		case "branch.head":
			sawHead = value != ""
			// A branch may be called "(detached)" too; HEAD itself tells them
			// apart, see Status.
			if value == "(detached)" {
				p.Head.Detached = true
			} else {
				p.Head.Branch = value
			}
		case "branch.upstream":
			p.Changes.Upstream = value
			gone = true
		case "branch.ab":
			ahead, behind, ok := strings.Cut(value, " ")
			a, errA := strconv.Atoi(strings.TrimPrefix(ahead, "+"))
			b, errB := strconv.Atoi(strings.TrimPrefix(behind, "-"))
			if !ok || errA != nil || errB != nil || a < 0 || b < 0 {
				continue
			}
			p.Changes.Ahead, p.Changes.Behind = a, b
			gone = false
		}
	}
	p.Changes.Gone = gone
	return p, end, nil
}
