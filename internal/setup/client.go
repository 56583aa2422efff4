package setup

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sallyport/internal/atomicfile"
	"sallyport/internal/dirs"
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

// ClientVersion is the version of the client on the environment's PATH, "" if
// there is none or it does not say. The answer of one installed file is kept:
// the client takes long to start, and git hooks ask at every branch switch.
func ClientVersion(environ []string) string {
	w := &world{environ: environ}
	program := w.lookPath("claude")
	if program == "" {
		return ""
	}
	cache := dirs.Cache(w.getenv)
	file := filepath.Join(cache, "client-version")
	key := ""
	if real, err := filepath.EvalSymlinks(program); err == nil && cache != "" {
		if info, err := os.Stat(real); err == nil {
			key = fmt.Sprintf("%q %d %d ", real, info.Size(), info.ModTime().UnixNano())
			// A day at most: a version manager's shim stays the same file.
			if kept, err := os.Stat(file); err == nil && time.Since(kept.ModTime()).Abs() < 24*time.Hour {
				data, _ := os.ReadFile(file)
				if text, ok := strings.CutPrefix(string(data), key); ok {
					if v, ok := parseVersion(text); ok {
						return v.String()
					}
				}
			}
		}
	}
	v, _ := clientVersion(w.lookPath, environ, 5*time.Second)
	if !v.known() {
		return ""
	}
	if key != "" && os.MkdirAll(cache, 0o700) == nil {
		// Without the cache the next call asks again; nothing else is lost.
		_ = atomicfile.Write(file, []byte(key+v.String()+"\n"), 0o600)
	}
	return v.String()
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
