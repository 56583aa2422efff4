package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var gitHooks = Probe{
	Name:     "git-hooks",
	Title:    "git finds the shared hooks",
	Does:     "asks git for the global core.hooksPath, reads that directory, and one byte of what its hooks lead to.",
	Sandbox:  "the directory is there outside and hidden inside: git then skips every hook without a word",
	Other:    "the directory or a hook is missing everywhere",
	Failures: []string{"git-hooks-skipped"},
	Run: func(ctx context.Context, w *World) []Result {
		value, ok := w.gitConfig(ctx, "--global", "--get", "core.hooksPath")
		if !ok || value == "" {
			return []Result{none("no global core.hooksPath")}
		}
		dir := w.expand(value)
		if !filepath.IsAbs(dir) {
			return []Result{none("core.hooksPath is %s, which each repository resolves for itself", value)}
		}
		return []Result{judgeGitHooks(w, dir)}
	},
}

func judgeGitHooks(w *World, dir string) Result {
	entries, err := os.ReadDir(dir)
	if err != nil {
		r := w.refused(err, "git-hooks-skipped", "%s: %s", w.short(dir), reason(err))
		if r.Status == Fail {
			r.Fix = grant(w, []string{dir}, nil)
		}
		return r
	}
	hooks := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".sample") || e.IsDir() {
			continue
		}
		hooks++
		path := filepath.Join(dir, e.Name())
		if err := readByte(path); err != nil {
			real := path
			if target, lerr := os.Readlink(path); lerr == nil {
				if real = target; !filepath.IsAbs(real) {
					real = filepath.Join(dir, target)
				}
			}
			r := w.refused(err, "git-hooks-skipped", "%s leads to %s: %s", w.short(path), w.short(real), reason(err))
			if r.Status == Fail {
				r.Fix = grant(w, []string{dir, filepath.Dir(real)}, nil)
			}
			return r
		}
	}
	if hooks == 0 {
		if w.Inside && w.InRepo {
			return fail("git-hooks-skipped", Unclear, "%s is empty here", w.short(dir)).
				advise("the sandbox may hide its files; compare with a snapshot from outside to be sure")
		}
		return warn("%s holds no hook", w.short(dir))
	}
	return pass("the hooks in %s can be read (%d)", w.short(dir), hooks)
}

var signingKey = Probe{
	Name:     "signing-key",
	Title:    "git can read the ssh key it signs with",
	Does:     "with gpg.format ssh, reads one byte of the file that user.signingkey names.",
	Sandbox:  "the file is there outside and refused or hidden inside",
	Other:    "user.signingkey names a file that does not exist",
	Failures: []string{"ssh-signing-key-unreadable"},
	Run: func(ctx context.Context, w *World) []Result {
		if format, _ := w.gitConfig(ctx, "--get", "gpg.format"); format != "ssh" {
			return []Result{none("gpg.format is not ssh")}
		}
		key, _ := w.gitConfig(ctx, "--get", "user.signingkey")
		return []Result{judgeSigningKey(w, key)}
	},
}

func judgeSigningKey(w *World, key string) Result {
	switch {
	case key == "":
		return none("user.signingkey is not set")
	case strings.HasPrefix(key, "key::") || strings.HasPrefix(key, "ssh-"):
		return pass("user.signingkey holds the key itself")
	}
	path := w.expand(key)
	if !filepath.IsAbs(path) {
		return warn("user.signingkey is %s, which is not an absolute path", key)
	}
	err := readByte(path)
	if err == nil {
		return pass("%s can be read", w.short(path))
	}
	r := w.refused(err, "ssh-signing-key-unreadable", "%s: %s", w.short(path), reason(err))
	switch {
	case r.Status != Fail:
		r.Advice = "set user.signingkey to the .pub file of a key that exists"
	case strings.HasSuffix(path, ".pub"):
		r.Fix = grant(w, []string{path}, nil)
	default:
		// A private key is never opened to an agent.
		r.Advice = "set user.signingkey to the .pub file; the agent keeps the private key"
	}
	return r
}

var gitWrappers = Probe{
	Name:     "touch-overlay",
	Title:    "the programs that git starts to sign and to connect can run",
	Does:     "asks git for the global gpg.program, gpg.ssh.program and core.sshCommand, and the system whether this process may execute those that are named by a path. None is started.",
	Sandbox:  "the program, or what its link leads to, is hidden or refused inside",
	Other:    "a link that leads nowhere; not executable",
	Failures: []string{"touch-wrapper-cannot-exec"},
	Run: func(ctx context.Context, w *World) []Result {
		var results []Result
		for _, key := range []string{"gpg.program", "gpg.ssh.program", "core.sshCommand"} {
			// Not a repository's own values: a fix would open what they name.
			value, ok := w.gitConfig(ctx, "--global", "--get", key)
			word, _, _ := strings.Cut(strings.TrimSpace(value), " ")
			path := w.expand(strings.Trim(word, `"'`))
			if !ok || !filepath.IsAbs(path) {
				continue
			}
			results = append(results, judgeWrapper(w, path).of(key))
		}
		if len(results) == 0 {
			return []Result{none("git names no program by its path")}
		}
		return results
	},
}

func judgeWrapper(w *World, path string) Result {
	err := executable(path)
	if err == nil {
		return pass("%s can be run", w.short(path))
	}
	paths := []string{path}
	if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 && errors.Is(err, fs.ErrNotExist) {
		target, _ := os.Readlink(path)
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		paths = append(paths, target)
	}
	r := w.refused(err, "touch-wrapper-cannot-exec", "%s: %s", w.short(paths[len(paths)-1]), reason(err))
	if r.Status == Fail {
		r.Fix = grant(w, paths, nil)
	}
	return r
}
