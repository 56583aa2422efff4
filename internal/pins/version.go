package pins

import (
	"cmp"
	"strings"
)

// Compare orders two versions: -1, 0 or 1.
//
// It takes what upstreams, Debian and calendars write: "1.2.3", "v1.2",
// "1.2.3-rc.1", "2:1.0~beta-3ubuntu1", "2026-09-22", "20260922". Dotted parts
// compare as numbers where they are, and one that is missing counts as 0. A
// pre-release stands before its release, a packager's revision decides last,
// and what follows a "+" does not count.
func Compare(a, b string) int {
	x, y := split(a), split(b)
	for _, c := range []int{
		compareDigits(x.epoch, y.epoch),
		compareDotted(x.release, y.release),
		comparePre(x.pre, y.pre),
		compareDebian(x.revision, y.revision),
	} {
		if c != 0 {
			return c
		}
	}
	return 0
}

// Matches reports that an installed version is the pinned one. A packager's
// revision counts only if the pin has one.
func Matches(pin, installed string) bool {
	p, i := split(pin), split(installed)
	if p.revision == "" {
		i.revision = ""
	}
	if p.epoch == "" {
		i.epoch = ""
	}
	return compareDigits(p.epoch, i.epoch) == 0 && compareDotted(p.release, i.release) == 0 && comparePre(p.pre, i.pre) == 0 && compareDebian(p.revision, i.revision) == 0
}

// PreRelease reports an alpha, beta, candidate or the like.
func PreRelease(v string) bool { return split(v).pre != "" }

// valid reports text that could be a version: it has a digit near its start,
// and nothing that a shell or terminal could take for something else.
func valid(v string) bool {
	if v == "" || len(v) > 64 {
		return false
	}
	for _, r := range v {
		if (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune(".-+~:_", r) {
			return false
		}
	}
	first := split(v).release
	return first != "" && digit(first[0])
}

type parts struct{ epoch, release, pre, revision string }

func split(v string) (p parts) {
	v = strings.TrimSpace(v)
	if len(v) > 1 && (v[0] == 'v' || v[0] == 'V') && digit(v[1]) {
		v = v[1:]
	}
	if epoch, rest, ok := strings.Cut(v, ":"); ok && epoch != "" && strings.Trim(epoch, "0123456789") == "" {
		p.epoch, v = epoch, rest
	}
	if date(v) {
		p.release = strings.ReplaceAll(v, "-", ".")
		return p
	}
	plus := ""
	if i := strings.IndexByte(v, '+'); i >= 0 {
		v, plus = v[:i], v[i:]
	}
	release, rest, _ := strings.Cut(v, "-")
	p.release = release
	switch {
	case rest == "":
		// A revision can stand behind the part that does not count: 1.0+dfsg-2.
		if i := strings.LastIndexByte(plus, '-'); i >= 0 && i+1 < len(plus) && digit(plus[i+1]) {
			p.revision = plus[i+1:]
		}
	case digit(rest[0]):
		p.revision = rest
	default:
		p.pre = rest
	}
	if i := strings.IndexByte(p.release, '~'); i >= 0 {
		p.pre, p.release = p.release[i:], p.release[:i]
	}
	// 1.0rc1, and not OpenSSL's 1.1.1b or OpenSSH's 9.6p1.
	if p.pre == "" {
		lower := lowerASCII(p.release)
		for _, word := range []string{"alpha", "beta", "rc", "pre", "dev", "a", "b"} {
			i := strings.LastIndex(lower, word)
			if i <= 0 || (!digit(lower[i-1]) && lower[i-1] != '.') {
				continue
			}
			tail := lower[i+len(word):]
			if strings.Trim(tail, "0123456789.") == "" && (tail != "" || len(word) > 1) {
				p.pre, p.release = p.release[i:], strings.TrimRight(p.release[:i], ".")
				break
			}
		}
	}
	return p
}

// date reports YYYY-MM-DD.
func date(v string) bool {
	return len(v) == 10 && v[4] == '-' && v[7] == '-' && strings.Trim(v[:4]+v[5:7]+v[8:], "0123456789") == ""
}

// lowerASCII keeps every byte in its place, which [strings.ToLower] does not in
// text that is not UTF-8.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func compareDotted(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		p, q := "0", "0"
		if i < len(x) {
			p = x[i]
		}
		if i < len(y) {
			q = y[i]
		}
		if c := compareDebian(p, q); c != 0 {
			return c
		}
	}
	return 0
}

// comparePre orders pre-releases as SemVer does; having none is the highest.
func comparePre(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	}
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		if c := compareDebian(x[i], y[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

// compareDigits orders numbers of any length; empty is 0.
func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// compareDebian is the comparison of deb-version(7): stretches of non-digits by
// letters first and "~" before everything, stretches of digits as numbers.
func compareDebian(a, b string) int {
	order := func(s string, i int) int {
		switch {
		case i >= len(s) || digit(s[i]):
			return 0
		case s[i] == '~':
			return -1
		case s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z':
			return int(s[i])
		}
		return int(s[i]) + 256
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		for i < len(a) && !digit(a[i]) || j < len(b) && !digit(b[j]) {
			if c := cmp.Compare(order(a, i), order(b, j)); c != 0 {
				return c
			}
			if i < len(a) && !digit(a[i]) {
				i++
			}
			if j < len(b) && !digit(b[j]) {
				j++
			}
		}
		si, sj := i, j
		for i < len(a) && digit(a[i]) {
			i++
		}
		for j < len(b) && digit(b[j]) {
			j++
		}
		if c := compareDigits(a[si:i], b[sj:j]); c != 0 {
			return c
		}
	}
	return 0
}
