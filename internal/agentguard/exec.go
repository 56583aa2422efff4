package agentguard

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sallyport/guards"
	"sallyport/internal/cli"
)

// Exit codes of a program that could not be started, as shells have them.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// loopVariable counts how often the program handed over to another without
// coming to an end, and remembers to which: "3:/home/dev/bin/git".
const loopVariable = "AGENT_GUARD_EXEC_CHAIN"

// maxChain bounds the chain; a git hook that calls git again is a few long.
const maxChain = 24

// Exec judges a command and, if nothing stops it, becomes that command. It
// returns only when it does not start it.
func Exec(p *cli.Process, opt *Options, words []string) error {
	if len(words) == 0 {
		return cli.Usagef("no command to run")
	}
	rep, err := judgeWords(p, opt, append([]string{words[0]}, words[1:]...))
	if len(words) == 1 {
		rep, err = judgeWords(p, opt, []string{quoteAll(words)})
	}
	if err != nil {
		return err
	}
	if rep.Verdict >= guards.Ask {
		// A wrapper has nobody to ask.
		fmt.Fprintln(p.Stderr, joinReasons(rep))
		return &cli.ExitError{Code: CheckDeny}
	}
	if rep.Verdict == guards.Warn {
		fmt.Fprintln(p.Stderr, rep.Reason(guards.Warn))
	}
	count, last := chain(p.Getenv(loopVariable))
	if count >= maxChain {
		return cli.Exitf(exitNotExecutable, "%s leads back to agent-guard over and over; take the wrapper off PATH or name the program by its path", words[0])
	}
	path, err := findProgram(p, words[0], last)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return cli.Exitf(exitNotExecutable, "%s: not executable", words[0])
	case err != nil:
		return cli.Exitf(exitNotFound, "%s: not found on PATH", words[0])
	}
	env := setenv(p.Environ, loopVariable, strconv.Itoa(count+1)+":"+path)
	if err := become(p, path, words, env); err != nil {
		var exit *cli.ExitError
		if errors.As(err, &exit) {
			return err
		}
		return cli.Exitf(exitNotExecutable, "%s: %v", path, err)
	}
	return nil
}

func chain(value string) (count int, last string) {
	n, path, ok := strings.Cut(value, ":")
	if !ok {
		return 0, ""
	}
	count, err := strconv.Atoi(n)
	if err != nil || count < 0 {
		return 0, ""
	}
	return count, path
}

func setenv(environ []string, name, value string) []string {
	out := make([]string, 0, len(environ)+1)
	for _, kv := range environ {
		if k, _, _ := strings.Cut(kv, "="); k != name {
			out = append(out, kv)
		}
	}
	return append(out, name+"="+value)
}

// findProgram finds the program that is meant, past wrappers that only lead
// back here: this program itself under another name, a script that calls it,
// and whatever it handed over to last, if that came back.
func findProgram(p *cli.Process, name, last string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir(), name)
		}
		st, err := os.Stat(name)
		switch {
		case err != nil:
			return "", err
		case st.IsDir() || !executable(name, st):
			return "", fs.ErrPermission
		}
		return name, nil
	}
	self := ""
	if path := ownPath(); path != "" {
		self, _ = filepath.EvalSymlinks(path)
	}
	var found []string
	var denied error
	for _, dir := range filepath.SplitList(p.Getenv("PATH")) {
		if dir == "" {
			dir = "."
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.Dir(), dir)
		}
		for _, ext := range suffixes {
			path := filepath.Join(dir, name+ext)
			st, err := os.Stat(path)
			if err != nil || st.IsDir() {
				continue
			}
			if !executable(path, st) {
				denied = fs.ErrPermission
				continue
			}
			if real, err := filepath.EvalSymlinks(path); err == nil && real == self || wraps(path) {
				continue
			}
			found = append(found, path)
		}
	}
	// The last program came back to us: it is a wrapper that could not be told
	// by its text. A program that another one started anew begins at the front.
	for i, path := range found {
		if path == last && i+1 < len(found) {
			return found[i+1], nil
		}
	}
	if len(found) == 0 {
		if denied != nil {
			return "", denied
		}
		return "", fs.ErrNotExist
	}
	return found[0], nil
}

// wraps reports a script that hands over to this program.
func wraps(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 8<<10)
	n, _ := f.Read(head)
	head = head[:n]
	return bytes.HasPrefix(head, []byte("#!")) && bytes.Contains(head, []byte("agent-guard")) && bytes.Contains(head, []byte("--exec"))
}
