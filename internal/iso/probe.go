package iso

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// NoProbeVariable keeps the launcher from running a CLI to ask it something.
const NoProbeVariable = "AGENT_ISO_NO_PROBE"

const (
	versionTimeout = 5 * time.Second
	// rulesTimeout is longer: OpenCode 1.18.33 took up to 6 seconds.
	rulesTimeout = 15 * time.Second
)

// maxProbe bounds what is read of an answer.
const maxProbe = 1 << 20

// probe runs a program for a question and returns its standard output. The
// program sees nothing but env, and gets no input.
func probe(path string, args, env []string, dir string, timeout time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir = env, dir
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	var out limited
	cmd.Stdout = &out
	err := cmd.Run()
	return out.Bytes(), err
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:min(len(p), max(0, maxProbe-l.Len()))])
	return len(p), nil
}

// version asks a CLI for its version, in an environment of its own with an
// empty home. It is empty if the CLI does not say.
func version(path string, env []string) string {
	home, err := os.MkdirTemp("", "agent-iso-home-")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(home)
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := cutEntry(entry)
		return name == "HOME" || name == "USERPROFILE" || name == "PWD" || strings.HasPrefix(name, "XDG_")
	})
	// Some would rather update themselves than answer.
	env = append(env, "HOME="+home, "USERPROFILE="+home, "COPILOT_AUTO_UPDATE=false", "DISABLE_AUTOUPDATER=1", "OPENCODE_DISABLE_AUTOUPDATE=1")
	out, _ := probe(path, []string{"--version"}, env, home, versionTimeout)
	return findVersion(string(out))
}

// findVersion returns the first word that is a version, without a "v".
func findVersion(text string) string {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`"'(),:/`, r) }) {
		word = strings.TrimRight(strings.TrimPrefix(word, "v"), ".")
		first, rest, ok := strings.Cut(word, ".")
		if ok && number(first) && rest != "" && rest[0] >= '0' && rest[0] <= '9' && len(word) <= 64 {
			return word
		}
	}
	return ""
}

func number(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil
}

// older reports whether version a is lower than b. Parts that are no numbers
// count as nothing.
func older(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		x, y := part(as, i), part(bs, i)
		if x != y {
			return x < y
		}
	}
	return false
}

func part(parts []string, i int) uint64 {
	if i >= len(parts) {
		return 0
	}
	digits := parts[i]
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	n, _ := strconv.ParseUint(digits, 10, 32)
	return n
}
