package policy

import (
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// An entry is one string of a source and where it stands.
type entry struct {
	Text    string // as written
	Source  string // srt or bash
	Pointer string
	Line    int
}

// A pathEntry is a path of the policy in canonical form.
type pathEntry struct {
	entry
	Canon   string // canonical spelling; of a glob, what is emitted
	Glob    bool
	Subtree bool // spelled as a directory: a trailing slash or /**
}

func isGlob(s string) bool { return strings.ContainsAny(s, "*?[]") }

// malformed says why a path protects nothing, or "" for a sound one; fix is what
// to write instead, if that is known.
func malformed(e entry, deny bool) (why, fix string) {
	s := e.Text
	switch {
	case s == "":
		return "is empty", ""
	case strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return "holds a control character", ""
	case strings.TrimSpace(s) != s:
		return "begins or ends with a blank", strings.TrimSpace(s)
	case strings.HasPrefix(s, "$") || strings.HasPrefix(s, "%"):
		return "begins with a variable, which is not expanded", "~ or the full path"
	}
	c := s
	for strings.HasPrefix(c, "//") {
		c = c[1:]
	}
	c = collapse(c)
	switch {
	case c == "/~" || strings.HasPrefix(c, "/~/"):
		return "looks like the home directory but names a directory called ~", c[1:]
	case strings.HasPrefix(c, "~") && c != "~" && !strings.HasPrefix(c, "~/"):
		return "names another user's home directory, which is not supported", "the full path"
	}
	if rel := trimDot(c); rel != c && (strings.HasPrefix(rel, "~") || strings.HasPrefix(rel, "$") || strings.HasPrefix(rel, "%")) {
		return "names an entry of the working directory that looks like the home directory or a variable", rel
	}
	if deny && isGlob(s) && strings.HasSuffix(s, "/") {
		return "is a pattern that ends in /, which matches nothing", strings.TrimRight(s, "/")
	}
	return "", ""
}

// collapse removes empty and "." components inside a path.
func collapse(s string) string {
	for {
		next := strings.ReplaceAll(strings.ReplaceAll(s, "/./", "/"), "//", "/")
		if next == s {
			return s
		}
		s = next
	}
}

// trimDot removes a leading "./", however often it stands there.
func trimDot(s string) string {
	for strings.HasPrefix(s, "./") && s != "./" {
		s = s[2:]
	}
	return s
}

// canonical brings a well-formed path into the form that is compared, and for a
// path without a pattern also emitted.
func canonical(e entry) pathEntry {
	p := pathEntry{entry: e}
	s := trimDot(collapse(e.Text))
	if strings.HasSuffix(s, "/.") {
		s = strings.TrimSuffix(s, ".")
	}
	written := s
	for {
		switch {
		case strings.HasSuffix(s, "/**"):
			s, p.Subtree = strings.TrimSuffix(s, "/**"), true
			if s == "" {
				s = "/"
			}
			continue
		case len(s) > 1 && strings.HasSuffix(s, "/"):
			s, p.Subtree = strings.TrimRight(s, "/"), true
			if s == "" {
				s = "/"
			}
			continue
		}
		break
	}
	p.Canon = s
	if isGlob(s) {
		p.Canon, p.Glob, p.Subtree = written, true, false
	}
	return p
}

// relative reports a path that depends on the working directory.
func (p pathEntry) relative() bool { return !strings.HasPrefix(p.Canon, "/") && !p.home() }

func (p pathEntry) home() bool { return p.Canon == "~" || strings.HasPrefix(p.Canon, "~/") }

// dotted reports a relative path that leaves the working directory or is it.
func (p pathEntry) dotted() bool {
	if p.Canon == "." {
		return true
	}
	for part := range strings.SplitSeq(p.Canon, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// A place is the file system that paths are looked up in.
type place struct {
	Home  string
	Probe bool
	// Root is where relative paths start, empty if that is not known.
	Root string
}

// nowhere stands for a working directory that is not known: no absolute path of
// a policy, which has no control characters, lies in it.
const nowhere = "/\x00"

// abs is a path counted from the root.
func (pl place) abs(p pathEntry) string {
	switch {
	case p.home():
		return path.Join(pl.Home, strings.TrimPrefix(p.Canon, "~"))
	case strings.HasPrefix(p.Canon, "/"):
		return path.Clean(p.Canon)
	case pl.Root != "":
		return path.Join(pl.Root, p.Canon)
	}
	if rel := path.Clean(p.Canon); rel != ".." && !strings.HasPrefix(rel, "../") {
		return path.Join(nowhere, rel)
	}
	return nowhere + "\x00" + p.Canon
}

// expand replaces the home directory and leaves the rest of the spelling.
func (pl place) expand(p pathEntry) string {
	if p.home() {
		if rest := strings.TrimPrefix(p.Canon, "~"); pl.Home != "/" {
			return pl.Home + rest
		} else if rest != "" {
			return rest
		}
		return "/"
	}
	return p.Canon
}

// A fileKind is what stands at a path.
type fileKind int

const (
	unknown fileKind = iota
	dir
	file
)

// kind tells a file from a directory. Unknown is treated as whatever is
// stricter.
func (pl place) kind(p pathEntry) fileKind {
	switch {
	case p.Glob:
		return unknown
	case p.Subtree:
		return dir
	case !pl.Probe, p.relative() && pl.Root == "":
		return unknown
	}
	fi, err := os.Stat(pl.abs(p))
	switch {
	case err != nil:
		return unknown
	case fi.IsDir():
		return dir
	}
	return file
}

// covers reports that the outer entry is, or stands above, the inner path.
// A pattern covers what it matches and what lies below that.
func (pl place) covers(outer pathEntry, inner string) bool {
	o := pl.abs(outer)
	if !outer.Glob {
		return within(inner, o)
	}
	pattern := o
	anywhere := outer.relative() && pl.Root == ""
	for at := inner; ; at = path.Dir(at) {
		candidate := at
		if anywhere && !strings.HasPrefix(at, nowhere) {
			// The working directory is not known, so any could be it: only
			// what a pattern says behind a leading **/ can be compared.
			if rest, ok := strings.CutPrefix(outer.Canon, "**/"); ok {
				if ok, _ := doublestar.Match("/**/"+rest, at); ok {
					return true
				}
			}
		} else if ok, _ := doublestar.Match(pattern, candidate); ok {
			return true
		}
		if at == "/" || at == "." {
			return false
		}
	}
}

// within reports that a clean path is another or lies below it.
func within(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// staticBase is the part of a pattern before its first wildcard component.
func staticBase(s string) string {
	parts := strings.Split(s, "/")
	for i, part := range parts {
		if isGlob(part) {
			return strings.Join(parts[:i], "/")
		}
	}
	return s
}

// unique drops entries that are the same path as an earlier one. The first
// spelling stays; a directory spelling of any of them counts.
func (pl place) unique(list []pathEntry) []pathEntry {
	var out []pathEntry
	seen := map[string]int{}
	for _, p := range list {
		key := pl.abs(p)
		if p.Glob {
			key = "glob:" + pl.expand(p)
		}
		if i, ok := seen[key]; ok {
			out[i].Subtree = out[i].Subtree || p.Subtree
			continue
		}
		seen[key] = len(out)
		out = append(out, p)
	}
	return out
}

func (p pathEntry) String() string { return fmt.Sprintf("%q", p.Text) }
