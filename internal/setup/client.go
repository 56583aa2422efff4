package setup

import (
	"cmp"
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// execFormSince is the first client that starts a hook without a shell.
const execFormSince = "2.1.139"

// onFailureSince is the first client in which a hook can block by failing.
const onFailureSince = "2.1.295"

// A version is the client's, such as 2.1.332; the zero value is unknown.
type version [3]int

func (v version) known() bool { return v != version{} }

func (v version) before(other string) bool {
	o, _ := parseVersion(other)
	for i := range v {
		if c := cmp.Compare(v[i], o[i]); c != 0 {
			return c < 0
		}
	}
	return false
}

func (v version) String() string {
	if !v.known() {
		return "unknown"
	}
	return strconv.Itoa(v[0]) + "." + strconv.Itoa(v[1]) + "." + strconv.Itoa(v[2])
}

// parseVersion reads the first word of text as a dotted version; a suffix
// after - or + does not count.
func parseVersion(text string) (v version, ok bool) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return v, false
	}
	word, _, _ := strings.Cut(strings.TrimPrefix(fields[0], "v"), "-")
	word, _, _ = strings.Cut(word, "+")
	parts := strings.Split(word, ".")
	if len(parts) != 3 {
		return version{}, false
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil {
			return version{}, false
		}
		v[i] = int(n)
	}
	return v, v.known()
}

// clientVersion asks the installed client, found on path. found is false if
// there is none.
func clientVersion(lookPath func(string) string, environ []string, limit time.Duration) (v version, found bool) {
	program := lookPath("claude")
	if program == "" {
		return version{}, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Env = environ
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return version{}, true
	}
	v, _ = parseVersion(string(out))
	return v, true
}
