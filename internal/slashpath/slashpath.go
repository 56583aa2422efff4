// Package slashpath handles paths as text with slashes, whatever the system: a
// command line may come from another one. It is package path with a short way
// for names that are clean already, which nearly all are; a line can hold some
// hundred thousand of them.
package slashpath

import (
	"path"
	"strings"
)

// Clean is [path.Clean].
func Clean(p string) string {
	if isClean(p) {
		return p
	}
	return path.Clean(p)
}

// Join is [path.Join] of two elements.
func Join(dir, name string) string {
	if isClean(dir) && dir != "/" && isClean(name) && name[0] != '/' {
		return dir + "/" + name
	}
	return path.Join(dir, name)
}

// Dir is [path.Dir].
func Dir(p string) string {
	if i := strings.LastIndexByte(p, '/'); i > 0 {
		return Clean(p[:i])
	}
	return path.Dir(p)
}

// Base is [path.Base].
func Base(p string) string {
	if i := strings.LastIndexByte(p, '/'); i+1 < len(p) {
		return p[i+1:]
	}
	return path.Base(p)
}

// IsAbs reports an absolute path, of Windows too: with a drive letter or a
// backslash at its head.
func IsAbs(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\`) ||
		len(p) > 2 && p[1] == ':' && (p[2] == '/' || p[2] == '\\') && p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z'
}

// Within reports whether p is dir or stands below it. Both are clean; nothing
// is within "".
func Within(p, dir string) bool {
	if dir == "" {
		return false
	}
	top := strings.TrimSuffix(dir, "/")
	return p == dir || len(p) > len(top) && p[len(top)] == '/' && p[:len(top)] == top
}

// isClean reports a path that Clean leaves as it is. It is false for names that
// begin with a dot too, which need a closer look.
func isClean(p string) bool {
	return p != "" && p[0] != '.' && (p[len(p)-1] != '/' || p == "/") &&
		!strings.Contains(p, "//") && !strings.Contains(p, "/.")
}
