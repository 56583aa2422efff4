package ghcmd

import "strings"

// Not net/url: its netip costs every start of a hook more than all the rest of
// this package.

// afterHost is what follows scheme and host in an absolute URL.
func afterHost(endpoint string) (rest string, ok bool) {
	scheme, rest, ok := strings.Cut(endpoint, "://")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "/?#") {
		return "", false
	}
	i := strings.IndexAny(rest, "/?#")
	if i < 0 {
		return "", true
	}
	return rest[i:], true
}

// unescape replaces percent escapes; in a query "+" is a space. An escape that
// is none stays as it is.
func unescape(s string, query bool) string {
	if strings.IndexByte(s, '%') < 0 && (!query || strings.IndexByte(s, '+') < 0) {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '%' && i+2 < len(s) && hex(s[i+1]) >= 0 && hex(s[i+2]) >= 0:
			b = append(b, byte(hex(s[i+1])<<4|hex(s[i+2])))
			i += 2
		case c == '+' && query:
			b = append(b, ' ')
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

func hex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
