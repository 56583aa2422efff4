// Package repostate answers the questions of package guards about the machine:
// the state of repositories through git, pull requests through gh, and files.
//
// Nothing it runs changes anything: git takes no optional locks and runs no
// hook, monitor, pager, filter or prompt that a repository's configuration
// names. Every answer is bounded in time and size and remembered for the life
// of a [World]; what cannot be answered in time is unknown.
package repostate

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sallyport/guards"
	"sallyport/internal/gitdir"
	"sallyport/internal/regularfile"
)

// Limits of one run. Together they stay below the shortest time that a client
// gives a hook.
const (
	gitLimit   = 4 * time.Second
	ghLimit    = 8 * time.Second
	totalLimit = 15 * time.Second
	maxOutput  = 4 << 20
	maxMemo    = 4096
	maxRuns    = 64 // programs that one line may have started
)

// A World is the real machine. It is not safe for concurrent use.
type World struct {
	environ []string
	getenv  func(string) string
	until   time.Time
	debugf  func(format string, args ...any)

	runs      int
	exhausted bool

	memo    map[string]answer
	roots   map[string]answer
	real    map[string]string
	dirs    map[string]*listing
	last    *listing // of dirs: most paths of a line lie in one
	filters map[string][]string
	aliases map[string]string // of gh; nil: not read yet
}

type answer struct {
	text string
	ok   bool
}

var _ guards.World = (*World)(nil)

// New returns the machine as a process with this environment sees it. debugf,
// if not nil, is told what was run.
func New(environ []string, debugf func(format string, args ...any)) *World {
	if debugf == nil {
		debugf = func(string, ...any) {}
	}
	w := &World{environ: environ, debugf: debugf, memo: map[string]answer{}, roots: map[string]answer{}, real: map[string]string{}, dirs: map[string]*listing{}}
	w.getenv = func(name string) string {
		for i := len(environ) - 1; i >= 0; i-- {
			if k, v, ok := strings.Cut(environ[i], "="); ok && k == name {
				return v
			}
		}
		return ""
	}
	return w
}

// Git implements [guards.World].
func (w *World) Git(at guards.Place, args ...string) (string, bool) {
	if at.Unknown || at.Dir == "" || len(args) == 0 {
		return "", false
	}
	key := "git\x00" + at.Dir + "\x00" + at.GitDir + "\x00" + at.WorkTree + "\x00" + strings.Join(args, "\x00")
	return w.remember(key, func() (string, bool) {
		full := []string{"--no-optional-locks", "--no-pager",
			"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.untrackedCache=false",
			"-c", "log.showSignature=false", "-c", "color.ui=false", "-c", "column.ui=never",
			"-c", "core.quotePath=false", "-c", "submodule.recurse=false", "-c", "status.relativePaths=true"}
		if readsFiles(args[0]) {
			full = append(full, w.harmlessFilters(at)...)
		}
		full = append(full, args...)
		return w.run("git", at, full, gitLimit)
	})
}

// readsFiles reports the commands that look at files of the work tree and so
// may start the filters that the configuration names for them.
func readsFiles(command string) bool {
	switch command {
	case "status", "diff-files", "diff-index", "diff", "clean":
		return true
	}
	return false
}

// harmlessFilters switches off what the repository's own configuration would
// run on files: a clean filter is a command line. The one of git-lfs, as its
// installer writes it, stays, because without it every large file would seem
// changed.
func (w *World) harmlessFilters(at guards.Place) []string {
	key := at.Dir + "\x00" + at.GitDir
	if f, ok := w.filters[key]; ok {
		return f
	}
	if w.filters == nil {
		w.filters = map[string][]string{}
	}
	w.filters[key] = nil
	out, ok := w.Git(at, "config", "-z", "--get-regexp", `^filter\..*\.(clean|process|smudge)$`)
	if !ok {
		return nil
	}
	var off []string
	for entry := range strings.SplitSeq(out, "\x00") {
		name, value, _ := strings.Cut(entry, "\n")
		if name == "" || strings.HasPrefix(value, "git-lfs ") {
			continue
		}
		if strings.Contains(name, "=") {
			continue
		}
		off = append(off, "-c", name+"=")
		if driver, ok := strings.CutSuffix(name, ".clean"); ok {
			off = append(off, "-c", driver+".required=false")
		}
	}
	w.filters[key] = off
	return off
}

// Exhausted reports that a line asked for more than is looked up for one: some
// answers were refused, and no negative one can be relied on.
func (w *World) Exhausted() bool { return w.exhausted }

// GH implements [guards.World].
func (w *World) GH(at guards.Place, args ...string) (string, bool) {
	key := "gh\x00" + at.Dir + "\x00" + strings.Join(args, "\x00")
	return w.remember(key, func() (string, bool) {
		return w.run("gh", guards.Place{Dir: at.Dir}, args, ghLimit)
	})
}

func (w *World) remember(key string, ask func() (string, bool)) (string, bool) {
	if a, ok := w.memo[key]; ok {
		return a.text, a.ok
	}
	if len(w.memo) >= maxMemo {
		w.exhausted = true
		return "", false
	}
	text, ok := ask()
	w.memo[key] = answer{text, ok}
	return text, ok
}

func (w *World) run(program string, at guards.Place, args []string, limit time.Duration) (string, bool) {
	now := time.Now()
	if w.until.IsZero() {
		w.until = now.Add(totalLimit)
	}
	limit = min(limit, w.until.Sub(now))
	if limit <= 0 || w.runs >= maxRuns {
		w.exhausted = true
		return "", false
	}
	w.runs++
	path, err := w.lookPath(program)
	if err != nil {
		return "", false
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = at.Dir
	cmd.Env = w.childEnv(at)
	cmd.WaitDelay = 200 * time.Millisecond
	ownGroup(cmd)
	stdout := &bounded{max: maxOutput}
	cmd.Stdout = stdout
	err = cmd.Run()
	if ctx.Err() != nil && time.Until(w.until) <= 0 {
		w.exhausted = true
	}
	w.debugf("%s %q in %s: %v, %d bytes, %v", program, args, at.Dir, err, stdout.Len(), time.Since(now))
	return stdout.String(), err == nil && !stdout.over
}

// lookPath finds a program on the PATH of the environment; relative entries do
// not count, because the directory is the agent's.
func (w *World) lookPath(program string) (string, error) {
	for _, dir := range filepath.SplitList(w.getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, ext := range executableSuffixes {
			path := filepath.Join(dir, program+ext)
			if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && (st.Mode()&0o111 != 0 || len(executableSuffixes) > 1) {
				return path, nil
			}
		}
	}
	return "", exec.ErrNotFound
}

// childEnv is the environment of git and gh: the caller's without what would
// make git run programs or trace into files, and with the repository of at.
func (w *World) childEnv(at guards.Place) []string {
	var env []string
	for _, kv := range w.environ {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasPrefix(name, "GIT_TRACE"), name == "GIT_EXTERNAL_DIFF", name == "GIT_PAGER", name == "GIT_ASKPASS", name == "SSH_ASKPASS",
			name == "GH_PAGER", name == "PAGER", name == "GH_FORCE_TTY", name == "GH_DEBUG",
			at.GitDir != "" && (name == "GIT_DIR" || name == "GIT_INDEX_FILE" || name == "GIT_COMMON_DIR"),
			at.WorkTree != "" && name == "GIT_WORK_TREE":
			continue
		}
		env = append(env, kv)
	}
	env = append(env, "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1",
		"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "GH_PAGER=cat", "NO_COLOR=1", "LC_ALL=C.UTF-8")
	if at.GitDir != "" {
		env = append(env, "GIT_DIR="+at.GitDir)
	}
	if at.WorkTree != "" {
		env = append(env, "GIT_WORK_TREE="+at.WorkTree)
	}
	return env
}

// bounded keeps at most max bytes and swallows the rest.
type bounded struct {
	bytes.Buffer
	max  int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.max - b.Len(); len(p) > room {
		b.over = true
		b.Buffer.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

// ReadFile implements [guards.World]. Only regular files are read, so that a
// pipe or a device cannot hold the hook up.
func (w *World) ReadFile(path string, limit int) ([]byte, bool) {
	if w.missing(path) {
		return nil, false
	}
	data, err := regularfile.Read(path, int64(limit))
	return data, err == nil
}

// Stat implements [guards.World].
func (w *World) Stat(path string) guards.File {
	st, err := w.lstat(path)
	if err != nil {
		return guards.File{}
	}
	mode := st.Mode()
	return guards.File{
		Exists: true,
		Dir:    mode.IsDir(),
		Link:   mode&os.ModeSymlink != 0,
		Device: mode&os.ModeDevice != 0 && mode&os.ModeCharDevice == 0,
		Mount:  mode.IsDir() && isMount(path, st),
		Size:   st.Size(),
		Exec:   mode&0o111 != 0,
	}
}

// Resolve implements [guards.World].
func (w *World) Resolve(path string) string {
	if !filepath.IsAbs(path) || len(path) > maxPath {
		return path
	}
	if dir, name := filepath.Split(path); name != "" {
		if bare := w.unlisted(dir); bare != "" && w.missing(bare) {
			if real := w.Resolve(bare); real == bare {
				return path
			} else {
				return filepath.Join(real, name)
			}
		}
		if l := w.listing(dir); l != nil && l.without(name) && w.leadsHere(l) {
			return path
		}
	}
	if real, ok := w.real[path]; ok {
		return real
	}
	// Many paths share a directory: only the last element is looked at anew.
	st, err := w.lstat(path)
	if os.IsNotExist(err) {
		return w.inResolved(path)
	}
	real := ""
	if err == nil && st.Mode()&os.ModeSymlink == 0 && path != filepath.Dir(path) {
		real = w.inResolved(path)
	} else {
		real = resolve(path)
	}
	if len(w.real) < maxMemo {
		w.real[path] = real
	}
	return real
}

// inResolved is path with the links of its directory followed.
func (w *World) inResolved(path string) string {
	return filepath.Join(w.resolveDir(filepath.Dir(path)), filepath.Base(path))
}

func (w *World) resolveDir(dir string) string {
	real, ok := w.real[dir]
	if !ok {
		if _, err := w.lstat(dir); os.IsNotExist(err) && dir != filepath.Dir(dir) {
			real = w.inResolved(dir) // what is not there leads nowhere else
		} else {
			real = resolve(dir)
		}
		if len(w.real) < maxMemo {
			w.real[dir] = real
		}
	}
	return real
}

func resolve(path string) string {
	rest := ""
	for dir := path; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = parent
	}
}

// maxPath is more than any system opens by one name; to look at a longer one
// step by step would cost its length squared.
const maxPath = 4096

// Root implements [guards.World].
func (w *World) Root(dir string) (string, bool) {
	if !filepath.IsAbs(dir) {
		return "", false
	}
	if a, ok := w.roots[dir]; ok {
		return a.text, a.ok
	}
	repo, ok := gitdir.Find(dir, w.getenv)
	a := answer{repo.Root, ok && repo.Root != ""}
	w.roots[dir] = a
	return a.text, a.ok
}

// GHAlias implements [guards.World]: it reads the aliases of gh's config.yml.
func (w *World) GHAlias(name string) (string, bool) {
	if w.aliases == nil {
		w.aliases = w.readAliases()
	}
	v, ok := w.aliases[name]
	return v, ok
}

func (w *World) readAliases() map[string]string {
	aliases := map[string]string{"co": "pr checkout"}
	dir := w.getenv("GH_CONFIG_DIR")
	if dir == "" {
		if x := w.getenv("XDG_CONFIG_HOME"); x != "" {
			dir = filepath.Join(x, "gh")
		} else if home := w.getenv("HOME"); home != "" {
			dir = filepath.Join(home, ".config", "gh")
		}
	}
	if dir == "" {
		return aliases
	}
	data, ok := w.ReadFile(filepath.Join(dir, "config.yml"), 1<<20)
	if !ok {
		return aliases
	}
	parseAliases(string(data), aliases)
	return aliases
}

// parseAliases reads the "aliases:" map of gh's configuration: one name and
// value a line, values plain, quoted, or a block after "|" or ">".
func parseAliases(text string, into map[string]string) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	in := false
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		if line[0] != ' ' && line[0] != '\t' {
			in = trimmed == "aliases:"
			continue
		}
		if !in {
			continue
		}
		name, value, ok := strings.Cut(trimmed, ":")
		if !ok {
			continue
		}
		name, value = unquote(strings.TrimSpace(name)), strings.TrimSpace(value)
		if strings.HasPrefix(value, "|") || strings.HasPrefix(value, ">") {
			indent := len(line) - len(strings.TrimLeft(line, " "))
			var block []string
			for i+1 < len(lines) {
				next := lines[i+1]
				if strings.TrimSpace(next) != "" && len(next)-len(strings.TrimLeft(next, " ")) <= indent {
					break
				}
				block = append(block, strings.TrimSpace(next))
				i++
			}
			value = strings.TrimSpace(strings.Join(block, "\n"))
		}
		into[name] = unquote(value)
	}
}

func unquote(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] {
		return s
	}
	switch s[0] {
	case '\'':
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	case '"':
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n").Replace(s[1 : len(s)-1])
	}
	return s
}
