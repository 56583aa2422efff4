package guards

import (
	"path"
	"path/filepath"
	"strings"
)

// Paths are handled as text with slashes: a Windows path in an event must not
// confuse a guard on another system, and the other way round.

func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\`) ||
		len(p) > 2 && p[1] == ':' && (p[2] == '/' || p[2] == '\\') && isLetter(p[0])
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func slashed(p string) string {
	if filepath.Separator == '\\' || len(p) > 2 && p[1] == ':' || strings.HasPrefix(p, `\\`) {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

func clean(p string) string { return path.Clean(slashed(p)) }

func join(dir, p string) string {
	switch {
	case isAbs(p):
		return clean(p)
	case dir == "":
		return p
	}
	return path.Join(slashed(dir), slashed(p))
}

// within reports whether p is dir or stands below it. Both are clean.
func within(p, dir string) bool {
	if dir == "" {
		return false
	}
	top := strings.TrimSuffix(dir, "/")
	return p == dir || len(p) > len(top) && p[len(top)] == '/' && p[:len(top)] == top
}

func base(p string) string { return path.Base(p) }
