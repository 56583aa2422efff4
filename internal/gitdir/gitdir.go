// Package gitdir finds a directory's git repository from git's own files: no
// git process, no guess from directory names.
//
// It follows the discovery rules of gitrepository-layout(5) and git(1). It does
// not check ownership (safe.directory), does not stop at file system
// boundaries, and reads no configuration but core.bare and core.worktree.
package gitdir

import (
	"os"
	"path/filepath"
	"sallyport/internal/regularfile"
	"strings"
)

// A Repo is where a repository's parts are. All paths are absolute, with
// symbolic links resolved in what leads to the directory asked for.
type Repo struct {
	Root      string // root of the work tree that holds the directory; empty without one
	GitDir    string // git dir of that work tree
	CommonDir string // git dir shared by all work trees of the repository
	// Main is the root of the main checkout: Root itself outside linked
	// worktrees, else the parent of a common dir named ".git". It is empty when
	// there is none, as for a clone made with --bare.
	Main   string
	Linked bool // Root is a linked worktree
	Bare   bool // core.bare is true: the main checkout has no files
}

// Find looks for the repository of dir, then of its parents. ok is false
// outside a repository, when dir does not exist, and when .git cannot be read
// or points nowhere. GIT_DIR, GIT_WORK_TREE, GIT_COMMON_DIR and
// GIT_CEILING_DIRECTORIES count unless getenv is nil.
func Find(dir string, getenv func(string) string) (r Repo, ok bool) {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Repo{}, false
	}
	dir, err = filepath.EvalSymlinks(abs)
	if err != nil {
		return Repo{}, false
	}
	if gitDir := getenv("GIT_DIR"); gitDir != "" {
		return fromEnv(dir, gitDir, getenv)
	}
	ceilings := ceilings(getenv("GIT_CEILING_DIRECTORIES"))
	for d := dir; ; {
		gitDir, found, broken := dotGit(filepath.Join(d, ".git"))
		if broken {
			return Repo{}, false
		}
		if found {
			return complete(d, gitDir, getenv), true
		}
		if isGitDir(d, getenv) {
			return complete("", d, getenv), true
		}
		parent := filepath.Dir(d)
		if parent == d || ceilings[parent] {
			return Repo{}, false
		}
		d = parent
	}
}

func ceilings(list string) map[string]bool {
	if list == "" {
		return nil
	}
	set := make(map[string]bool)
	for _, p := range filepath.SplitList(list) {
		if !filepath.IsAbs(p) {
			continue
		}
		set[filepath.Clean(p)] = true
		if real, err := filepath.EvalSymlinks(p); err == nil {
			set[real] = true
		}
	}
	return set
}

func fromEnv(dir, gitDir string, getenv func(string) string) (Repo, bool) {
	gitDir = within(dir, gitDir)
	if fi, err := os.Stat(gitDir); err == nil && !fi.IsDir() {
		target, ok := readGitFile(gitDir)
		if !ok {
			return Repo{}, false
		}
		gitDir = target
	}
	if !isGitDir(gitDir, getenv) {
		return Repo{}, false
	}
	r := complete("", gitDir, getenv)
	switch tree := getenv("GIT_WORK_TREE"); {
	case tree != "":
		r.Root = within(dir, tree)
	case r.Bare && !r.Linked:
		return r, true
	default:
		r.Root = dir
		if tree := configValue(config(r.CommonDir), "core", "worktree"); tree != "" && !r.Linked {
			r.Root = within(r.GitDir, tree)
		}
	}
	if !r.Linked {
		r.Main = r.Root
	}
	return r, true
}

// dotGit examines a path named .git. broken means that git would stop there
// with an error instead of looking further up.
func dotGit(path string) (gitDir string, found, broken bool) {
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return "", false, !os.IsNotExist(err) && !isNotDir(err)
	case fi.IsDir():
		return path, isGitDir(path, nil), false
	case !fi.Mode().IsRegular():
		return "", false, true
	}
	target, ok := readGitFile(path)
	if !ok || !isGitDir(target, nil) {
		return "", false, true
	}
	return target, true, false
}

// complete fills in what follows from the git dir.
func complete(root, gitDir string, getenv func(string) string) Repo {
	if real, err := filepath.EvalSymlinks(gitDir); err == nil {
		gitDir = real
	}
	common := commonDir(gitDir, getenv)
	r := Repo{
		Root:      root,
		GitDir:    gitDir,
		CommonDir: common,
		Linked:    common != gitDir,
		Bare:      isTrue(configValue(config(common), "core", "bare")),
	}
	switch {
	case !r.Linked:
		r.Main = root
	case filepath.Base(common) == ".git":
		r.Main = filepath.Dir(common)
	}
	return r
}

func commonDir(gitDir string, getenv func(string) string) string {
	dir := ""
	if getenv != nil {
		dir = getenv("GIT_COMMON_DIR")
	}
	if dir == "" {
		text, ok := readSmall(filepath.Join(gitDir, "commondir"))
		if !ok {
			return gitDir
		}
		dir = strings.TrimRight(text, "\r\n")
	}
	if dir == "" {
		return gitDir
	}
	dir = within(gitDir, dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// isGitDir applies git's own test: HEAD, objects and refs are there.
func isGitDir(dir string, getenv func(string) string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	common := commonDir(dir, getenv)
	for _, name := range []string{"objects", "refs"} {
		if fi, err := os.Stat(filepath.Join(common, name)); err != nil || !fi.IsDir() {
			return false
		}
	}
	return true
}

// readGitFile reads the "gitdir: path" of a .git file.
func readGitFile(path string) (string, bool) {
	text, ok := readSmall(path)
	if !ok {
		return "", false
	}
	target, ok := strings.CutPrefix(text, "gitdir: ")
	target = strings.TrimRight(target, "\r\n")
	if !ok || target == "" {
		return "", false
	}
	return within(filepath.Dir(path), target), true
}

func within(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// maxSmall bounds the one-line files and the configuration that are read here.
const maxSmall = 1 << 20

func readSmall(path string) (string, bool) {
	data, err := regularfile.Read(path, maxSmall)
	return string(data), err == nil
}

func config(commonDir string) string {
	text, _ := readSmall(filepath.Join(commonDir, "config"))
	return text
}

// configValue returns the last value of section.key in the text of a git
// configuration file. Includes are not followed; a key without "=" is "true".
func configValue(text, section, key string) string {
	value, inSection := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "["); ok {
			name, tail, ok := strings.Cut(rest, "]")
			inSection = ok && strings.EqualFold(strings.TrimSpace(name), section)
			line = strings.TrimSpace(tail)
		}
		if !inSection || line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		name, v, hasValue := strings.Cut(line, "=")
		if !strings.EqualFold(strings.TrimSpace(name), key) {
			continue
		}
		if !hasValue {
			v = "true"
		}
		value = unquote(strings.TrimSpace(v))
	}
	return value
}

func unquote(v string) string {
	if !strings.ContainsAny(v, `"\#;`) {
		return v
	}
	var b strings.Builder
	quoted := false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(v):
			i++
			b.WriteByte(v[i])
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimRight(b.String(), " \t")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isTrue(v string) bool {
	switch strings.ToLower(v) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}
