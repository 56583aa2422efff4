// Package projectroot lists the worktrees of a git repository, and the paths
// that tools need, as literal absolute paths in the client's local settings
// file: the one place where a path of this machine belongs.
//
// A sandbox that denies the home directory leaves a project in it writable but
// unreadable on some clients, because "." is resolved too early; a literal path
// is not.
//
// Paths come from git and from nowhere else, and a path counts only if git's
// own files there point back at the repository: a configuration that names
// somebody else's directory as its work tree gets nothing. The file is written
// only where git ignores it.
package projectroot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"sallyport/internal/dirs"
	"sallyport/internal/gitdir"
	"sallyport/settings"
)

// LocalFile says which local settings files are meant.
type LocalFile string

// Values of [Options.LocalFile]; the zero value is Auto.
const (
	Auto     LocalFile = "auto" // the one that the installed client reads
	Main     LocalFile = "main"
	Worktree LocalFile = "worktree"
	Both     LocalFile = "both"
)

// Options are what a person, or a hook, asks for.
type Options struct {
	Dir     string // anywhere in the worktree
	Environ []string
	// ClientVersion asks the installed client for its version, "" if that is
	// not known. It is called only when the answer matters.
	ClientVersion func() string

	AllWorktrees  bool
	LocalFile     LocalFile
	NoToolPaths   bool
	NoWorkingDirs bool
	GitCommonDir  bool // list the shared git directory of linked worktrees
	Prune         bool // also take out roots that are gone
	Remove        bool // take out instead of adding
	Check         bool // only look whether everything is there
	DryRun        bool
	// Ignored is a directory whose local file git is about to ignore: with
	// DryRun it counts as ignored already.
	Ignored string

	// Editor writes the files. Runs that share one share its backups.
	Editor *settings.Editor
	// Managed replaces the directory of managed settings, for tests.
	Managed string
}

// A Report is what a run did, or would do.
type Report struct {
	Files    []File    `json:"files"`
	Problems []Problem `json:"problems"`
	Notes    []string  `json:"notes"`
}

// A File is one local settings file.
type File struct {
	Path      string   `json:"path"`
	Worktrees []string `json:"worktrees"` // roots that it is to list
	Action    Action   `json:"action"`
	Added     []Entry  `json:"added"` // with Check: what is missing
	Removed   []Entry  `json:"removed"`
	Target    string   `json:"-"` // the file with links resolved
	Existed   bool     `json:"-"`
	Old       []byte   `json:"-"`
	New       []byte   `json:"-"`
}

// An Action is what happened to a file.
type Action string

// Actions. With DryRun they say what would happen.
const (
	Same    Action = "same"
	New     Action = "new"
	Changed Action = "changed"
	Removed Action = "removed"
	Missing Action = "missing" // entries are, and Check changes nothing
)

// An Entry is one element of a list in a settings file.
type Entry struct {
	List  string `json:"list"` // dotted path
	Value string `json:"value"`
}

// A Problem is why a worktree was left as it is.
type Problem struct {
	Path    string `json:"path"` // file or directory, empty if there is none
	Message string `json:"message"`
}

func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// A tree is one worktree.
type tree struct {
	root   string // links resolved
	main   string // main checkout of the repository, empty without one
	common string
	linked bool
}

type run struct {
	Options
	report  Report
	git     git
	home    string // empty if not known
	version *string
}

// Run brings the local settings files of a repository's worktrees up to date.
// It never fails as a whole: what cannot be done for one worktree is a problem
// in the report and does not keep the others from being done.
func Run(o Options) Report {
	r := &run{Options: o, report: Report{Files: []File{}, Problems: []Problem{}, Notes: []string{}}}
	if r.LocalFile == "" {
		r.LocalFile = Auto
	}
	if r.Editor == nil {
		r.Editor = NewEditor(r.getenv)
	}
	if home := dirs.Home(r.getenv); filepath.IsAbs(home) {
		r.home = filepath.Clean(home)
	} else if !o.NoToolPaths || !o.NoWorkingDirs {
		r.note("HOME is not set: tool paths and working directories are left out")
	}
	r.git = newGit(o.Environ)
	trees, err := r.trees()
	if err != nil {
		r.problem("", "%v", err)
		return r.report
	}
	for _, f := range r.plan(trees) {
		r.do(f.base, f.trees)
	}
	return r.report
}

// NewEditor returns the editor that keeps its backups and locks where the rest
// of the suite has them.
func NewEditor(getenv func(string) string) *settings.Editor {
	return &settings.Editor{State: dirs.State(getenv)}
}

func (r *run) getenv(name string) string { return lookup(r.Environ, name) }

func (r *run) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(r.report.Notes, text) {
		r.report.Notes = append(r.report.Notes, text)
	}
}

func (r *run) problem(path, format string, args ...any) {
	p := Problem{path, fmt.Sprintf(format, args...)}
	if !slices.Contains(r.report.Problems, p) {
		r.report.Problems = append(r.report.Problems, p)
	}
}

// trees finds the worktrees that were asked for, without those that cannot be
// listed.
func (r *run) trees() ([]tree, error) {
	var paths []string
	if r.AllWorktrees {
		records, err := r.git.worktrees(r.Dir)
		if err != nil {
			return nil, err
		}
		for _, w := range records {
			switch {
			case w.bare:
			case w.prunable:
				r.note("%s: git says it can be pruned, left out", w.path)
			default:
				paths = append(paths, w.path)
			}
		}
	} else {
		top, err := r.git.path(r.Dir, "rev-parse", "--show-toplevel")
		if err != nil {
			return nil, err
		}
		paths = append(paths, top)
	}
	common, err := r.git.path(r.Dir, "rev-parse", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(r.Dir, common)
	}
	if common, err = filepath.EvalSymlinks(common); err != nil {
		return nil, err
	}
	var trees []tree
	for _, path := range paths {
		root, err := filepath.EvalSymlinks(path)
		if errors.Is(err, fs.ErrNotExist) {
			r.note("%s: is gone, left out", path)
			continue
		}
		if err != nil {
			r.problem(path, "%v", err)
			continue
		}
		t := tree{root: root, common: common}
		if slices.ContainsFunc(trees, func(u tree) bool { return u.root == root }) {
			continue
		}
		if why := r.refuse(root, common); why != "" {
			r.problem(root, "%s", why)
			continue
		}
		repo, _ := gitdir.Find(root, nil)
		t.linked = repo.Linked
		switch {
		case !repo.Linked:
			t.main = root
		case filepath.Base(common) == ".git":
			t.main = filepath.Dir(common)
		}
		trees = append(trees, t)
	}
	return trees, nil
}

// refuse says why a root must not be listed, empty if it may.
func (r *run) refuse(root, common string) string {
	switch {
	case !belongs(root, common):
		return "git's configuration names it as a work tree, but its own .git does not lead to this repository; nothing is granted there"
	case root == filepath.Dir(root) || r.home != "" && within(resolved(r.home), root):
		return "it holds the whole home directory, which listing it would open"
	case strings.ContainsAny(root, "*?["):
		return "the client would take a path with *, ? or [ for a pattern that covers more than this directory; move the worktree"
	case !utf8.ValidString(root):
		return "the path is not valid UTF-8, which JSON cannot hold; move the worktree"
	}
	return ""
}

// belongs reports that a directory's own .git leads to the repository: neither
// core.worktree nor a planted entry in .git/worktrees can lend it another
// project's directory.
func belongs(root, common string) bool {
	repo, ok := gitdir.Find(root, nil)
	return ok && repo.Root == root && resolved(repo.CommonDir) == common
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// within reports that path is base or below it.
func within(path, base string) bool {
	rel, err := filepath.Rel(base, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// A target is a directory whose local file is to list some worktrees.
type target struct {
	base  string
	trees []tree
}

// plan groups the worktrees by the files that list them.
func (r *run) plan(trees []tree) []target {
	var plan []target
	for _, t := range trees {
		if !r.Remove && r.closed(t) {
			continue
		}
		for _, base := range r.bases(t) {
			i := slices.IndexFunc(plan, func(p target) bool { return p.base == base })
			if i < 0 {
				plan = append(plan, target{base: base})
				i = len(plan) - 1
			}
			plan[i].trees = append(plan[i].trees, t)
		}
	}
	return plan
}

const localName = ".claude/settings.local.json"

// do brings one file up to date.
func (r *run) do(base string, trees []tree) {
	path := filepath.Join(base, filepath.FromSlash(localName))
	if why := r.unfit(base, trees[0].common); why != "" {
		r.problem(path, "%s", why)
		return
	}
	editor := *r.Editor
	editor.Roots = []string{base}
	file := File{Path: path, Action: Same, Added: []Entry{}, Removed: []Entry{}}
	for _, t := range trees {
		file.Worktrees = append(file.Worktrees, t.root)
	}
	decide := func(root settings.Node) ([]settings.Change, error) {
		changes, added, removed, err := r.changes(root, trees)
		file.Added, file.Removed = added, removed
		return changes, err
	}
	var out settings.Edited
	var err error
	if r.DryRun || r.Check {
		out, err = editor.PreviewUpdate(path, decide)
	} else {
		out, err = r.write(&editor, path, decide)
	}
	*r.Editor = carry(*r.Editor, editor)
	if err != nil {
		r.problem(path, "%s", explain(err))
		return
	}
	file.Old, file.New, file.Target, file.Existed = out.Old, out.New, out.Target, out.Existed
	switch {
	case r.Check:
		if len(file.Added) > 0 {
			file.Action = Missing
		}
	case !out.Changed():
	case !out.Existed:
		file.Action = New
	case r.Remove && empty(out.New) && out.Target == path:
		file.Action = Removed
		if !r.DryRun {
			r.drop(path, out.New)
		}
	default:
		file.Action = Changed
	}
	if len(file.Added) > 0 && !r.Check {
		r.shared(base, trees)
	}
	r.report.Files = append(r.report.Files, file)
}

// carry keeps the run's backup directory from one file to the next.
func carry(shared, used settings.Editor) settings.Editor {
	used.Roots = shared.Roots
	return used
}

// write edits the file, and makes its directory as a person would have.
func (r *run) write(editor *settings.Editor, path string, decide func(settings.Node) ([]settings.Change, error)) (settings.Edited, error) {
	dir := filepath.Dir(path)
	made := false
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		// A look first: a file that needs nothing needs no directory.
		out, err := editor.PreviewUpdate(path, decide)
		if err != nil || !out.Changed() {
			return out, err
		}
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return settings.Edited{}, err
		}
		made = true
	}
	out, err := editor.Update(path, decide)
	if err != nil && made {
		os.Remove(dir) // only if nobody put anything there
	}
	return out, err
}

// drop removes a file that a removal left without content, and its directory
// if that is empty as well.
func (r *run) drop(path string, content []byte) {
	if now, err := os.ReadFile(path); err == nil && string(now) == string(content) {
		os.Remove(path)
		os.Remove(filepath.Dir(path))
	}
}

func empty(doc []byte) bool {
	d, err := settings.ParseDocument(doc)
	return err == nil && d.Root().Kind() == settings.Object && d.Root().Len() == 0
}

// shared tells what a file that several worktrees use means.
func (r *run) shared(base string, trees []tree) {
	if slices.ContainsFunc(trees, func(t tree) bool { return t.linked && t.root != base }) {
		r.note("clients from %s read the main checkout's local file in every worktree: a session in any of them may read and write all worktrees listed there, and no other repository", mainSince)
	}
}

// unfit says why the local file of a directory must not be written.
func (r *run) unfit(base, common string) string {
	if !belongs(base, common) {
		return "the directory does not belong to this repository; nothing is written there"
	}
	path := filepath.Join(base, filepath.FromSlash(localName))
	// What would be written is what must be ignored, wherever links lead.
	names := []string{localName}
	if real, err := follow(path); err != nil {
		return err.Error()
	} else if real != path {
		rel, err := filepath.Rel(base, real)
		if err != nil || !within(real, base) {
			return "a symbolic link leads to " + real + ", outside the worktree"
		}
		if within(real, filepath.Join(base, ".git")) || within(real, common) {
			return "a symbolic link leads into git's own directory"
		}
		names = append(names, filepath.ToSlash(rel))
		if info, err := os.Lstat(filepath.Dir(path)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			names = names[1:] // git looks at nothing beyond a link
		}
	}
	if repo, ok := gitdir.Find(base, nil); ok && repo.Bare && !repo.Linked {
		return "" // there is no work tree here, so nothing can be committed
	}
	for _, name := range names {
		ignored, err := r.git.matches(base, "check-ignore", "-q", "--", name)
		if err != nil {
			return err.Error()
		}
		if ignored {
			continue
		}
		tracked, err := r.git.matches(base, "ls-files", "--error-unmatch", "--", name)
		switch {
		case err != nil:
			return err.Error()
		case tracked:
			return "it is tracked by git, so paths of this machine would be committed: run \"git rm --cached " + name + "\" and ignore it"
		case !r.Remove && !(r.DryRun && r.Ignored == base):
			return "it is not ignored by git: add the line /" + name + " to .gitignore or to .git/info/exclude"
		}
	}
	return ""
}

// follow resolves the links on the way to a file that may not exist.
func follow(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("it is a symbolic link that leads nowhere")
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err == nil {
		return filepath.Join(dir, filepath.Base(path)), nil
	}
	if _, lerr := os.Lstat(filepath.Dir(path)); lerr == nil {
		return "", fmt.Errorf("its directory is a symbolic link that leads nowhere")
	}
	return path, nil
}

// explain says what an error of an edit means here.
func explain(err error) string {
	var syntax *settings.SyntaxError
	var kind *kindError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("line %d, column %d: %s; the file is left as it is, repair it and run this again", syntax.Line, syntax.Column, syntax.Message)
	case errors.As(err, &kind):
		return kind.Error() + "; the file is left as it is"
	case errors.Is(err, fs.ErrPermission), readOnly(err):
		return err.Error() + ": not writable from here; the client's sandbox protects this file, so run this in a terminal of your own"
	}
	return err.Error()
}
