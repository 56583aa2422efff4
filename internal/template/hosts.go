package template

import (
	"net/url"
	"strings"
)

// A Runner runs one of the installed tools and returns what it prints.
type Runner func(program string, args ...string) (string, error)

// Hosts asks an installed tool which hosts it talks to, by the command of a
// row: nobody else knows about a private mirror.
func Hosts(command string, run Runner) ([]string, error) {
	words := strings.Fields(command)
	out, err := run(words[0], words[1:]...)
	if err != nil {
		return nil, err
	}
	var hosts []string
	for _, line := range strings.Split(out, "\n") {
		// A list of proxies is separated by commas and bars; a checksum database
		// may have its address behind its name and key.
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == '|' || r == ' ' || r == '\t' || r == '\r' }) {
			name, _, _ := strings.Cut(word, "+") // NAME+KEY
			if strings.Contains(word, "://") {
				u, err := url.Parse(word)
				if err != nil {
					continue
				}
				name = u.Host
			}
			if name = strings.ToLower(name); isHost(name) {
				hosts = append(hosts, name)
			}
		}
	}
	return hosts, nil
}

// isHost accepts a full host name with an optional port, and nothing that a
// list of domains could take for a pattern. Words such as off and direct have
// no dot.
func isHost(s string) bool {
	name, port, hasPort := strings.Cut(s, ":")
	if hasPort && (port == "" || strings.Trim(port, "0123456789") != "") {
		return false
	}
	if len(name) > 253 || !strings.Contains(name, ".") {
		return false
	}
	for _, label := range strings.Split(name, ".") {
		if label == "" || label[0] == '-' || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return true
}
