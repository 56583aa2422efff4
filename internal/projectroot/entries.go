package projectroot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sallyport/internal/dirs"
	"sallyport/settings"
)

// The lists that hold our entries.
const (
	allowRead   = "sandbox.filesystem.allowRead"
	allowWrite  = "sandbox.filesystem.allowWrite"
	workingDirs = "permissions.additionalDirectories"
)

var lists = []string{allowRead, allowWrite, workingDirs}

// Lists are the dotted paths of the lists that hold our entries, in the order
// in which they are written.
func Lists() []string { return slices.Clone(lists) }

type toolPath struct {
	path  string // below the home directory
	write bool
}

// toolPaths are what build tools and git need. No path with credentials is
// among them.
var toolPaths = []toolPath{
	{".gitconfig", false},
	{".config/git", false},
	{".cache", true},
	{".local/share/uv", true},
	{".local/bin", false},
}

// own are the entries of one worktree alone.
func (r *run) own(t tree) []Entry {
	entries := []Entry{{allowRead, t.root}, {allowWrite, t.root}}
	if r.GitCommonDir && t.linked {
		entries = append(entries, Entry{allowRead, t.common}, Entry{allowWrite, t.common})
	}
	return entries
}

// everywhere are the entries that all worktrees share. With missing, tool
// paths that do not exist are among them.
func (r *run) everywhere(missing bool) (entries []Entry) {
	if r.home == "" {
		return nil
	}
	if !r.NoToolPaths {
		for _, tool := range toolPaths {
			path := filepath.Join(r.home, filepath.FromSlash(tool.path))
			if _, err := os.Stat(path); err != nil && !missing {
				continue
			}
			entries = append(entries, Entry{allowRead, path})
			if tool.write {
				entries = append(entries, Entry{allowWrite, path})
			}
		}
	}
	if !r.NoWorkingDirs {
		for _, dir := range WorkingDirs(r.getenv) {
			entries = append(entries, Entry{workingDirs, dir})
		}
	}
	return entries
}

// WorkingDirs are the directories beside the project that a session needs to
// read without a question: the suite's own and the client's scratch space.
func WorkingDirs(getenv func(string) string) []string {
	var out []string
	for _, dir := range []string{dirs.Config(getenv), tempDir()} {
		if dir != "" {
			out = append(out, dir)
		}
	}
	return out
}

// A kindError is a setting that is no list, or stands in what is no object.
type kindError struct {
	pointer, kind, want string
}

func (e *kindError) Error() string { return e.pointer + " is " + e.kind + ", not " + e.want }

// A listing is what a file's lists hold.
type listing map[string][]string // cleaned; "" for what is no string

// read takes the lists out of a document, if they are lists.
func read(root settings.Node, wanted []string) (listing, error) {
	held := listing{}
	if kind := root.Kind(); kind != settings.Absent && kind != settings.Object {
		return nil, &kindError{"the file", kind.String(), "an object"}
	}
	for _, list := range wanted {
		at, pointer := root, ""
		steps := strings.Split(list, ".")
		for i, step := range steps {
			at = at.Get(step)
			pointer += "/" + step
			want, name := settings.Object, "an object"
			if i == len(steps)-1 {
				want, name = settings.Array, "a list"
			}
			if at.Kind() == settings.Absent {
				break
			}
			if at.Kind() != want {
				return nil, &kindError{pointer, at.Kind().String(), name}
			}
			if i == len(steps)-1 {
				at.Each(func(_ string, n settings.Node) bool {
					text, _ := n.Text()
					held[list] = append(held[list], clean(text))
					return true
				})
			}
		}
	}
	return held, nil
}

// clean makes two spellings of a path equal that differ in a final slash.
func clean(path string) string {
	if trimmed := strings.TrimRight(path, "/"); trimmed != "" {
		return trimmed
	}
	return path
}

func (l listing) has(e Entry) bool { return slices.Contains(l[e.List], clean(e.Value)) }

// changes decides what to do with a file that holds root.
func (r *run) changes(root settings.Node, trees []tree) (changes []settings.Change, added, removed []Entry, err error) {
	added, removed = []Entry{}, []Entry{}
	if r.Remove {
		held, err := read(root, lists)
		if err != nil {
			return nil, added, removed, err
		}
		removed = append(removed, r.removals(held, trees)...)
		return takeOut(root, held, removed), added, removed, nil
	}
	var entries []Entry
	for _, t := range trees {
		entries = append(entries, r.own(t)...)
	}
	entries = append(entries, r.everywhere(false)...)
	wanted := []string{}
	for _, list := range lists {
		if r.Prune || slices.ContainsFunc(entries, func(e Entry) bool { return e.List == list }) {
			wanted = append(wanted, list)
		}
	}
	held, err := read(root, wanted)
	if err != nil {
		return nil, added, removed, err
	}
	for _, value := range held[workingDirs] {
		if strings.HasPrefix(value, "/tmp/claude-") && strings.ContainsAny(value, "*?[") {
			r.note("permissions.additionalDirectories holds %q: the client lists a pattern there but never matches it, so it does nothing", value)
		}
	}
	if r.Prune && !r.Check {
		removed = append(removed, r.gone(held, trees)...)
		changes = takeOut(root, held, removed)
	}
	for _, e := range entries {
		if !held.has(e) {
			held[e.List] = append(held[e.List], clean(e.Value))
			added = append(added, e)
			changes = append(changes, settings.Append(e.Value, strings.Split(e.List, ".")...))
		}
	}
	return changes, added, removed, nil
}

// removals are the entries that these worktrees have in a file. What all
// worktrees share stays while another one is listed.
func (r *run) removals(held listing, trees []tree) (out []Entry) {
	take := func(e Entry) {
		if held.has(e) && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	for _, t := range trees {
		// Whatever the flags were when it was added.
		for _, path := range []string{t.root, t.common} {
			if path == t.root || t.linked {
				take(Entry{allowRead, path})
				take(Entry{allowWrite, path})
			}
		}
	}
	if !r.othersListed(held, trees) {
		for _, e := range r.everywhere(true) {
			take(e)
		}
	}
	return out
}

// othersListed reports that another worktree of the repository is in a file.
func (r *run) othersListed(held listing, trees []tree) bool {
	records, err := r.git.worktrees(r.Dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(records, func(w record) bool {
		root := resolved(w.path)
		return !w.bare && held.has(Entry{allowRead, root}) &&
			!slices.ContainsFunc(trees, func(t tree) bool { return t.root == root })
	})
}

// gone are roots of other worktrees that do not exist any more. Only what
// stands in both lists can be one; a worktree that git has locked may be on a
// drive that is not there now.
func (r *run) gone(held listing, trees []tree) (out []Entry) {
	records, _ := r.git.worktrees(r.Dir)
	for _, path := range held[allowRead] {
		if !filepath.IsAbs(path) || strings.ContainsAny(path, "*?[") || !held.has(Entry{allowWrite, path}) {
			continue
		}
		if slices.ContainsFunc(toolPaths, func(t toolPath) bool { return filepath.Join(r.home, filepath.FromSlash(t.path)) == path }) {
			continue
		}
		if slices.ContainsFunc(records, func(w record) bool { return w.locked && w.path == path }) {
			continue
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && !slices.Contains(out, Entry{allowRead, path}) {
			out = append(out, Entry{allowRead, path}, Entry{allowWrite, path})
		}
	}
	return out
}

// takeOut deletes entries, and the lists and objects that this leaves empty.
func takeOut(root settings.Node, held listing, entries []Entry) (changes []settings.Change) {
	emptied := map[string]bool{} // lists and objects, dotted
	for _, list := range lists {
		steps := strings.Split(list, ".")
		taken := 0
		for i, value := range slices.Backward(held[list]) {
			if slices.ContainsFunc(entries, func(e Entry) bool { return e.List == list && clean(e.Value) == value }) {
				changes = append(changes, settings.Delete(append(slices.Clone(steps), strconv.Itoa(i))...))
				taken++
			}
		}
		if taken == 0 || taken < len(held[list]) {
			continue
		}
		// From the list outwards, as long as nothing else is left.
		for depth := len(steps); depth > 0; depth-- {
			path := steps[:depth]
			if depth < len(steps) {
				left := 0
				root.Get(path...).Each(func(name string, _ settings.Node) bool {
					if !emptied[strings.Join(append(slices.Clone(path), name), ".")] {
						left++
					}
					return true
				})
				if left > 0 {
					break
				}
			}
			emptied[strings.Join(path, ".")] = true
			changes = append(changes, settings.Delete(path...))
		}
	}
	return changes
}
