package policy

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

// A domainEntry is a host, or "*.host", of the policy, with an optional port.
type domainEntry struct {
	entry
	Host string // lower case, without a port and trailing dot; IPv6 in brackets
	Port string
}

// parseDomain reads a domain entry as the sandbox runtime does; anything that it
// would refuse is an error, since it refuses the whole file then.
func parseDomain(e entry, deny bool) (d domainEntry, why string) {
	d.entry = e
	s := strings.ToLower(e.Text)
	host, port := s, ""
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return d, "the bracket of the IPv6 address is not closed"
		}
		host = s[:end+1]
		switch rest := s[end+1:]; {
		case rest == "":
		case rest[0] == ':':
			port = rest[1:]
			if port == "" {
				return d, "the port is empty"
			}
		default:
			return d, "something stands behind the IPv6 address"
		}
		if addr, err := netip.ParseAddr(host[1:end]); err != nil || !addr.Is6() || addr.Zone() != "" {
			return d, "not an IPv6 address"
		}
	} else if i := strings.IndexByte(s, ':'); i >= 0 {
		host, port = s[:i], s[i+1:]
		if strings.Contains(port, ":") {
			return d, "an IPv6 address stands in brackets, such as [::1]"
		}
		if port == "" {
			return d, "the port is empty"
		}
	}
	if port != "" {
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != port {
			return d, "the port is not a number from 1 to 65535"
		}
	}
	host = strings.TrimSuffix(host, ".")
	d.Host, d.Port = host, port
	switch {
	case strings.HasPrefix(host, "["), host == "localhost":
		return d, ""
	case host == "*":
		if deny {
			return d, ""
		}
		return d, `"*" allows every host; list the hosts`
	case host == "":
		return d, "empty"
	case strings.Contains(host, "/"):
		return d, "a scheme or path does not belong here; write the host alone"
	}
	name := host
	if rest, ok := strings.CutPrefix(host, "*."); ok {
		name = rest
		if !strings.Contains(name, ".") {
			return d, "a wildcard needs at least two labels behind it, such as *.example.org"
		}
	}
	if !strings.Contains(name, ".") {
		return d, "a name needs a dot; only localhost stands alone"
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" {
			return d, "two dots, or a dot at the start or end"
		}
		for _, r := range label {
			if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r > 0x7f && unicode.IsLetter(r)) {
				return d, "a host name has letters, digits, - and dots; a wildcard stands only in front, as *."
			}
		}
	}
	return d, ""
}

// matches reports that a host falls under the entry. "*." stands for subdomains,
// never for the name itself.
func (d domainEntry) matches(host string) bool {
	if d.Host == "*" {
		return true
	}
	if rest, ok := strings.CutPrefix(d.Host, "*."); ok {
		return strings.HasSuffix(host, "."+rest)
	}
	return host == d.Host
}
