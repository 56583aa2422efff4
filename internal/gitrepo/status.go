package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"sallyport/internal/childproc"
	"sallyport/internal/gitdir"
	"sallyport/internal/regularfile"
)

// ErrNoGit is returned by [Status] where there is no git to ask.
var ErrNoGit = errors.New("git is not on PATH")

// Status asks git about the work tree of repo. git and its children are killed
// when ctx ends. environ is the environment of the session.
//
// Untracked files do not count, and neither does what changed inside a
// submodule, only another commit checked out there: looking inside would start
// a git that obeys the submodule's own configuration.
func Status(ctx context.Context, repo gitdir.Repo, environ []string, getenv func(string) string) (Head, Changes, error) {
	git, ok := childproc.LookPath("git", getenv)
	if !ok {
		return Head{}, Changes{}, ErrNoGit
	}
	env := gitEnv(repo, environ)
	overrides, err := hardening(ctx, git, repo, env)
	if err != nil {
		return Head{}, Changes{}, err
	}
	args := append([]string{"--no-optional-locks", "--no-pager"}, overrides...)
	args = append(args, "status", "--porcelain=v2", "--branch", "-uno",
		"--ahead-behind", "--no-renames", "--ignore-submodules=dirty")
	prog := childproc.Program{Path: git, Args: args, Dir: repo.Root, Env: env}
	var p porcelain
	var parseErr error
	err = prog.Read(ctx, func(r io.Reader) bool {
		var end bool
		p, end, parseErr = parsePorcelain(r)
		return end
	})
	if err == nil {
		err = parseErr
	}
	if err != nil {
		return Head{}, Changes{}, err
	}
	if head, err := ReadHead(repo); err == nil {
		if head.Branch == "(detached)" && p.Head.Detached {
			p.Head.Detached, p.Head.Branch = false, head.Branch
		}
	}
	return p.Head, p.Changes, nil
}

// hardening is the options that keep a repository's own configuration from
// running programs. The status line runs outside the sandbox, while an agent
// inside may write .git/config; "git status" obeys these keys:
//
//   - core.fsmonitor starts a program that reports changed files;
//   - filter.<name>.clean and .process start programs for the content of files
//     whose time stamps changed.
//
// Fetching from a promisor remote is stopped by the environment (see gitEnv),
// hooks run only when the index is written, and submodules are not entered.
//
// Filters of the person's own configuration, such as git-lfs, stay on.
func hardening(ctx context.Context, git string, repo gitdir.Repo, env []string) ([]string, error) {
	overrides := []string{"-c", "core.fsmonitor=false"}
	if !mentionsFilter(repo) {
		return overrides, nil
	}
	// Rare enough to let git itself follow quoting and includes.
	prog := childproc.Program{
		Path: git,
		Args: []string{"config", "--includes", "--show-scope", "--null", "--name-only", "--get-regexp", `^filter\.`},
		Dir:  repo.Root, Env: env,
	}
	out, err := prog.Output(ctx, 1<<20)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// git config ends with 1 when no key matches.
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1 && len(out) == 0) {
		return nil, err
	}
	seen := make(map[string]bool)
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		scope, key := fields[i], fields[i+1]
		dot := strings.LastIndexByte(key, '.')
		if scope != "local" && scope != "worktree" || dot < len("filter.") || seen[key[:dot]] {
			continue
		}
		section := key[:dot]
		seen[section] = true
		// "-c name=value" ends the name at the first "=".
		if strings.Contains(section, "=") {
			return nil, ErrUnknownFormat
		}
		overrides = append(overrides,
			"-c", section+".clean=", "-c", section+".process=", "-c", section+".smudge=", "-c", section+".required=false")
	}
	return overrides, nil
}

// HasRemote reports whether the repository may have a remote. It errs on the
// side of yes.
func HasRemote(repo gitdir.Repo) bool { return configContains(repo, "[remote", "[include") }

// mentionsFilter reports whether the repository's own configuration may define
// a filter. It errs on the side of yes, so it needs no parser.
func mentionsFilter(repo gitdir.Repo) bool { return configContains(repo, "[filter", "[include") }

func configContains(repo gitdir.Repo, words ...string) bool {
	for _, path := range []string{
		filepath.Join(repo.CommonDir, "config"),
		filepath.Join(repo.CommonDir, "config.worktree"),
		filepath.Join(repo.GitDir, "config.worktree"),
	} {
		text, err := regularfile.Read(path, maxConfig)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil || len(text) == maxConfig {
			return true
		}
		text = bytes.ToLower(text)
		for _, word := range words {
			if bytes.Contains(text, []byte(word)) {
				return true
			}
		}
	}
	return false
}

const maxConfig = 1 << 20

// gitEnv is environ for a git that may not be steered by what is left over in
// the session: of git's own variables only those stay that say where the
// person's configuration is, and those that gitdir has followed, resolved.
func gitEnv(repo gitdir.Repo, environ []string) []string {
	env := make([]string, 0, len(environ)+6)
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case !strings.HasPrefix(name, "GIT_") || keepGitVariable(name):
			env = append(env, kv)
		case name == "GIT_DIR" && value != "":
			env = append(env, "GIT_DIR="+repo.GitDir, "GIT_WORK_TREE="+repo.Root)
		case name == "GIT_COMMON_DIR" && value != "":
			env = append(env, "GIT_COMMON_DIR="+repo.CommonDir)
		}
	}
	return append(env,
		"GIT_OPTIONAL_LOCKS=0",
		// A partial clone may lack objects: no remote is asked for them. Git
		// before 2.44 does not know the first of the two.
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=",
		"GIT_TERMINAL_PROMPT=0",
	)
}

func keepGitVariable(name string) bool {
	switch name {
	case "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT", "GIT_EXEC_PATH":
		return true
	}
	for _, prefix := range []string{"GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"} {
		if n, ok := strings.CutPrefix(name, prefix); ok {
			_, err := strconv.Atoi(n)
			return err == nil
		}
	}
	return false
}
