package guards

import (
	"path/filepath"
	"strings"

	"sallyport/internal/slashpath"
)

// Paths are handled as text with slashes: a Windows path in an event must not
// confuse a guard on another system, and the other way round.

func isAbs(p string) bool { return slashpath.IsAbs(p) }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func slashed(p string) string {
	if filepath.Separator == '\\' || len(p) > 2 && p[1] == ':' || strings.HasPrefix(p, `\\`) {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

func clean(p string) string { return slashpath.Clean(slashed(p)) }

func join(dir, p string) string {
	switch {
	case isAbs(p):
		return clean(p)
	case dir == "":
		return p
	}
	return slashpath.Join(slashed(dir), slashed(p))
}

func within(p, dir string) bool { return slashpath.Within(p, dir) }

func base(p string) string { return slashpath.Base(p) }

func parent(p string) string { return slashpath.Dir(p) }
