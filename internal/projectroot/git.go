package projectroot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sallyport/internal/term"
)

// local are the variables that tie git to one repository. A hook inherits
// them, and with them git would judge another worktree by this one's root
// (git rev-parse --local-env-vars).
var local = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT",
	"GIT_CONFIG_PARAMETERS", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE",
	"GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
	"GIT_QUARANTINE_PATH", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
}

// A git runs the git of an environment without its ties to a repository.
type git struct {
	program string // empty if there is none
	environ []string
}

func newGit(environ []string) git {
	g := git{environ: slices.DeleteFunc(slices.Clone(environ), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains(local, name) || name == "LC_ALL" || name == "LANGUAGE"
	})}
	g.environ = append(g.environ, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	for _, dir := range filepath.SplitList(lookup(environ, "PATH")) {
		if filepath.IsAbs(dir) {
			if program, err := exec.LookPath(filepath.Join(dir, "git")); err == nil {
				g.program = program
				break
			}
		}
	}
	return g
}

func lookup(environ []string, name string) string {
	for _, e := range slices.Backward(environ) {
		if k, v, ok := strings.Cut(e, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// A gitError is git's own refusal.
type gitError struct {
	code    int
	message string // git's words, safe to print
}

func (e *gitError) Error() string { return "git says: " + e.message }

// run starts git in a directory. The repository's configuration may come from
// anybody, so what it could make git execute here is switched off.
func (g git) run(dir string, args ...string) ([]byte, error) {
	if g.program == "" {
		return nil, errors.New("git is not on PATH")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.program, append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", dir}, args...)...)
	cmd.Env = g.environ
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err == nil {
		return stdout.Bytes(), nil
	}
	var exit *exec.ExitError
	if ctx.Err() != nil || !errors.As(err, &exit) {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(stderr.String()), "fatal: "), "\nTo add an exception")
	if text == "" {
		text = "exit " + exit.String()
	}
	return nil, &gitError{exit.ExitCode(), term.Clean(text, 400)}
}

// path is the one path that a command prints; it may hold line ends.
func (g git) path(dir string, args ...string) (string, error) {
	out, err := g.run(dir, args...)
	if err != nil {
		return "", err
	}
	path := strings.TrimSuffix(string(out), "\n")
	if path == "" {
		return "", fmt.Errorf("git %s: no answer", strings.Join(args, " "))
	}
	return filepath.FromSlash(path), nil
}

// matches runs a command that answers by its exit code: 0 yes, 1 no.
func (g git) matches(dir string, args ...string) (bool, error) {
	_, err := g.run(dir, args...)
	var said *gitError
	if errors.As(err, &said) && said.code == 1 {
		return false, nil
	}
	return err == nil, err
}

// A record is one worktree of "git worktree list".
type record struct {
	path                   string
	bare, prunable, locked bool
}

func (g git) worktrees(dir string) ([]record, error) {
	out, err := g.run(dir, "worktree", "list", "--porcelain", "-z")
	var said *gitError
	if errors.As(err, &said) && said.code == 129 { // git before 2.36 knows no -z
		out, err = g.run(dir, "worktree", "list", "--porcelain")
		return parseWorktrees(out, '\n'), err
	}
	return parseWorktrees(out, 0), err
}

// parseWorktrees reads the porcelain format: attributes, one a line, and an
// empty line behind each record.
func parseWorktrees(out []byte, end byte) (records []record) {
	inside := false
	for line := range bytes.SplitSeq(out, []byte{end}) {
		name, value, _ := strings.Cut(string(line), " ")
		switch {
		case len(line) == 0:
			inside = false
		case name == "worktree" && !inside && value != "":
			records = append(records, record{path: filepath.FromSlash(value)})
			inside = true
		case !inside:
		case name == "bare":
			records[len(records)-1].bare = true
		case name == "prunable":
			records[len(records)-1].prunable = true
		case name == "locked":
			records[len(records)-1].locked = true
		}
	}
	return records
}
