package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

var projectRoot = Probe{
	Name:     "project-root",
	Title:    "the project can be read and written",
	Does:     "reads the first byte of the repository's HEAD, lists the project's directory, and makes and removes a file there and in the git directory.",
	Sandbox:  "a read is refused where writing works, or either is refused inside",
	Other:    "the project really is read-only",
	Failures: []string{"project-root-unreadable", "git-index-readonly"},
	Run: func(ctx context.Context, w *World) []Result {
		root := w.root()
		o := rootAccess{root: w.short(root), write: tryWrite(root)}
		if _, err := os.ReadDir(root); err != nil {
			o.read = err
		}
		if w.InRepo && o.read == nil {
			o.read = readByte(filepath.Join(w.Repo.GitDir, "HEAD"))
		}
		results := []Result{judgeRoot(w, o)}
		if results[0].Status == Fail {
			results[0].Fix = grant(w, []string{root}, []string{root})
		}
		// A .git of zero bytes or a mask is what the sandbox puts in place of a denied one.
		if info, err := os.Lstat(filepath.Join(root, ".git")); !w.InRepo && err == nil && info.Mode()&fs.ModeCharDevice != 0 {
			results[0] = w.refused(fs.ErrPermission, "project-root-unreadable", ".git in %s is masked", w.short(root))
		}
		if !w.InRepo || w.Repo.Linked {
			return results
		}
		git := w.Repo.GitDir
		index := pass("%s can be written", w.short(git))
		if err := tryWrite(git); err != nil {
			index = w.refused(err, "git-index-readonly", "write in %s: %s", w.short(git), reason(err))
			if index.Status == Fail {
				index.Fix = grant(w, nil, []string{git})
			}
		}
		return append(results, index.of("git"))
	},
}

type rootAccess struct {
	root        string
	read, write error
}

func judgeRoot(w *World, o rootAccess) Result {
	switch {
	case o.read == nil && o.write == nil:
		return pass("%s can be read and written", o.root)
	case o.read != nil && o.write == nil:
		return w.refused(o.read, "project-root-unreadable", "%s can be written and not read: %s", o.root, reason(o.read))
	case o.read != nil:
		return w.refused(o.read, "project-root-unreadable", "%s can be neither read (%s) nor written (%s)", o.root, reason(o.read), reason(o.write))
	}
	return w.refused(o.write, "project-root-unreadable", "%s can be read and not written: %s", o.root, reason(o.write))
}

var gitWorktree = Probe{
	Name:     "git-worktree",
	Title:    "git can record commits of a linked worktree",
	Does:     "makes and removes doctor.lock in the worktree's own directory below the shared git directory, and opens the shared config file for writing without writing.",
	Sandbox:  "the file cannot be made",
	Other:    "none",
	Failures: []string{"git-worktree-gitdir"},
	Run: func(ctx context.Context, w *World) []Result {
		if !w.InRepo {
			return []Result{none("not in a repository")}
		}
		facts := map[string]string{"shared git config": configAccess(filepath.Join(w.Repo.CommonDir, "config"))}
		if !w.Repo.Linked {
			return []Result{none("not a linked worktree").with(facts)}
		}
		err := tryLock(filepath.Join(w.Repo.GitDir, "doctor.lock"))
		if err == nil {
			return []Result{pass("%s can be written", w.short(w.Repo.GitDir)).with(facts)}
		}
		r := w.refused(err, "git-worktree-gitdir", "write in %s: %s", w.short(w.Repo.GitDir), reason(err)).with(facts)
		if r.Status == Fail {
			r.Fix = grant(w, []string{w.Repo.CommonDir}, []string{w.Repo.CommonDir})
		}
		return []Result{r}
	},
}

func tryLock(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(path))
}

func configAccess(file string) string {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return reason(err)
	}
	f.Close()
	return "can be written"
}

var projectScratch = Probe{
	Name:     "project-scratch",
	Title:    "there is a place for temporary files",
	Does:     "makes and removes a file in $TMPDIR, or /tmp without it; where the shell is zsh also at $TMPPREFIX, or /tmp/zsh.",
	Sandbox:  "the write is refused inside",
	Other:    "TMPDIR names what is no directory; the disk is full",
	Failures: []string{"tmp-readonly", "zsh-heredoc-tmpprefix"},
	Run: func(ctx context.Context, w *World) []Result {
		dir := w.Getenv("TMPDIR")
		from := "TMPDIR"
		if dir == "" {
			dir, from = "/tmp", "no TMPDIR, so"
			if !unixTemp() {
				dir = os.TempDir()
			}
		}
		results := []Result{judgeScratch(w, from, dir)}
		if filepath.Base(w.Getenv("SHELL")) == "zsh" {
			prefix := w.Getenv("TMPPREFIX")
			if prefix == "" {
				prefix = "/tmp/zsh"
			}
			r := pass("zsh can write here-documents at %s", prefix)
			if err := tryWrite(filepath.Dir(prefix)); err != nil {
				r = w.refused(err, "zsh-heredoc-tmpprefix", "zsh writes here-documents at %s: %s", prefix, reason(err))
				if r.Status == Fail {
					r.Fix = userFix(w, fmt.Sprintf(`{"env":{"TMPPREFIX":"/tmp/claude-%d/zsh"}}`, os.Getuid()))
				}
			}
			results = append(results, r.of("zsh"))
		}
		return results
	},
}

func judgeScratch(w *World, from, dir string) Result {
	if !filepath.IsAbs(dir) {
		return warn("TMPDIR is %s, which is not an absolute path", dir).advise("unset it or set it to a directory of your own")
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return warn("%s %s: not a directory", from, dir)
	}
	if err == nil {
		err = tryWrite(dir)
	}
	if err == nil {
		return pass("%s %s can be written", from, w.short(dir))
	}
	return w.refused(err, "tmp-readonly", "%s %s: %s", from, w.short(dir), reason(err))
}

var phantomFiles = Probe{
	Name:      "phantom-files",
	Title:     "no leftovers of the sandbox's masks in the project",
	Does:      "lists the project's directory for character devices and for dotfiles of zero bytes with mode 0444, and asks git which of them it tracks.",
	Sandbox:   "present: the sandbox puts them in place of denied files that do not exist",
	Other:     "outside: files of your own, or left over from a session that was killed",
	Failures:  []string{"git-phantom-files"},
	Platforms: []string{"linux"},
	Run: func(ctx context.Context, w *World) []Result {
		names, err := phantoms(w.root())
		if err != nil {
			return []Result{none("%s: %s", w.short(w.root()), reason(err))}
		}
		if git, ok := w.lookPath("git"); ok && w.InRepo && len(names) > 0 {
			// fsmonitor would start a program of the repository's choice.
			o := w.run(ctx, 10*time.Second, "", git, append([]string{"--literal-pathspecs", "-c", "core.fsmonitor=false", "-C", w.root(), "ls-files", "-z", "--"}, names...)...)
			names = untracked(names, o.stdout)
		}
		return []Result{judgePhantoms(w.Inside, names)}
	},
}

// phantoms lists what looks like a mask.
func phantoms(root string) (names []string, err error) {
	const most = 20000
	dir, err := os.Open(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(most)
	if err != nil && len(entries) == 0 && !errors.Is(err, fs.ErrNotExist) && err.Error() != "EOF" {
		return nil, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		zero := info.Mode().IsRegular() && info.Size() == 0 && info.Mode().Perm() == 0o444 && strings.HasPrefix(e.Name(), ".")
		if zero || info.Mode()&fs.ModeCharDevice != 0 {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func untracked(names []string, tracked string) (left []string) {
	known := map[string]bool{}
	for name := range strings.SplitSeq(tracked, "\x00") {
		known[name] = true
	}
	for _, name := range names {
		if !known[name] {
			left = append(left, name)
		}
	}
	return left
}

func judgePhantoms(inside bool, names []string) Result {
	if len(names) == 0 {
		return pass("none")
	}
	list := strings.Join(names[:min(len(names), 8)], ", ")
	if len(names) > 8 {
		list += fmt.Sprintf(" and %d more", len(names)-8)
	}
	if inside {
		return fail("git-phantom-files", Sandbox, "%s", list)
	}
	return warn("%s: empty and read-only, not tracked by git", list).advise("if no session runs and they are not yours, they are left over from a sandbox and can be deleted")
}

var pkgCaches = Probe{
	Name:     "pkg-caches",
	Title:    "package managers can write their caches",
	Does:     "makes and removes a file in the cache directory of each package manager that is installed (npm, uv, cargo, go, pip, gradle). Directories that do not exist are not made.",
	Sandbox:  "the write is refused inside",
	Other:    "the directory belongs to another account",
	Failures: []string{"pkg-cache-denied"},
	Run: func(ctx context.Context, w *World) []Result {
		var results []Result
		for _, c := range caches(w) {
			if _, ok := w.lookPath(c.tool); !ok {
				continue
			}
			if _, err := os.Stat(c.dir); err != nil {
				continue
			}
			r := pass("%s can be written", w.short(c.dir))
			if err := tryWrite(c.dir); err != nil {
				r = w.refused(err, "pkg-cache-denied", "write in %s: %s", w.short(c.dir), reason(err))
				if r.Status == Fail && within(c.dir, w.Home) && c.dir != w.Home {
					r.Fix = grant(w, []string{c.dir}, []string{c.dir})
				}
			}
			results = append(results, r.of(c.tool+" "+filepath.Base(c.dir)))
		}
		if len(results) == 0 {
			return []Result{none("no package manager with a cache")}
		}
		return results
	},
}

type cacheDir struct{ tool, dir string }

func caches(w *World) []cacheDir {
	or := func(value string, fallback ...string) string {
		if filepath.IsAbs(value) {
			return filepath.Clean(value)
		}
		return filepath.Join(append([]string{w.Home}, fallback...)...)
	}
	xdg := or(w.Getenv("XDG_CACHE_HOME"), ".cache")
	gobuild := filepath.Join(xdg, "go-build")
	if !systemIsLinux() {
		gobuild = filepath.Join(w.Home, "Library", "Caches", "go-build")
	}
	gopath := or(w.Getenv("GOPATH"), "go")
	cargo := or(w.Getenv("CARGO_HOME"), ".cargo")
	return []cacheDir{
		{"npm", or(w.Getenv("npm_config_cache"), ".npm")},
		{"uv", or(w.Getenv("UV_CACHE_DIR"), ".cache", "uv")},
		{"cargo", filepath.Join(cargo, "registry")},
		{"go", or(w.Getenv("GOCACHE"), strings.TrimPrefix(gobuild, w.Home))},
		{"go", or(w.Getenv("GOMODCACHE"), strings.TrimPrefix(filepath.Join(gopath, "pkg", "mod"), w.Home))},
		{"pip", or(w.Getenv("PIP_CACHE_DIR"), strings.TrimPrefix(filepath.Join(xdg, "pip"), w.Home))},
		{"gradle", or(w.Getenv("GRADLE_USER_HOME"), ".gradle")},
	}
}

func unixTemp() bool { return filepath.Separator == '/' }
