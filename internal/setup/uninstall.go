package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/internal/dirs"
	"sallyport/internal/term"
	"sallyport/settings"
)

// UninstallOptions are what a person chose.
type UninstallOptions struct {
	Options
	Prefix string // where to look without a manifest
	Purge  bool   // configuration and state go as well, backups stay
}

// Uninstall takes away what [Install] put in place.
func Uninstall(o UninstallOptions) error {
	r, err := newRunner(o.Options)
	if err != nil {
		return err
	}
	o.Prefix = r.abs(o.Prefix)
	u := &uninstaller{runner: r, o: o, answers: map[string]bool{}}
	r.make = u.plan
	return r.run()
}

type uninstaller struct {
	*runner
	o       UninstallOptions
	scope   *hookScope
	texts   map[string]text
	guessed bool            // there is no usable manifest
	answers map[string]bool // given then
}

func (u *uninstaller) plan() (*plan, error) {
	p := &plan{facts: []string{"home: " + term.Clean(u.w.home, 0)}}
	if u.w.twoHomes {
		p.facts = append(p.facts, "settings: "+u.w.short(u.w.configDir)+" (CLAUDE_CONFIG_DIR)")
	}
	m, err := readManifest(u.w.state)
	if err != nil || m == nil {
		why := "there is no record of an installation"
		if err != nil {
			why = "the record of the installation cannot be used (" + err.Error() + ")"
		}
		p.notes = append(p.notes, note{true, why + ": what looks like this suite is offered for removal one by one"})
		u.guessed = true
		if m, err = u.guess(); err != nil {
			return nil, err
		}
	}
	u.scope, u.texts = m.Scope, m.Texts
	// Git must not look into a directory that is about to go.
	if m.Scope != nil {
		if err := u.planScopeText(p, m, m.Scope.Config); err != nil {
			return nil, err
		}
	}
	for _, file := range u.settingsFiles(m) {
		if err := u.planSettings(p, m, file); err != nil {
			return nil, err
		}
	}
	for _, file := range m.RC {
		if err := u.planRC(p, m, file); err != nil {
			return nil, err
		}
	}
	if m.Scope != nil {
		for _, file := range sortedKeys(m.Scope.Texts) {
			if err := u.planScopeText(p, m, file); err != nil {
				return nil, err
			}
		}
		for _, name := range sortedKeys(m.Scope.Files) {
			p.changes = append(p.changes, removal(m.Scope.Files[name], ""))
		}
	}
	for _, name := range sortedKeys(m.Binaries) {
		p.changes = append(p.changes, removal(m.Binaries[name], ""))
	}
	originals := filepath.Join(u.w.state, "originals")
	for _, name := range m.originals() {
		u.removeState(p, filepath.Join(originals, name))
	}
	if u.o.Purge {
		u.planPurge(p)
	}
	for _, name := range []string{"remind.json", ".remind.lock"} {
		u.removeState(p, filepath.Join(u.w.state, name))
	}
	u.removeState(p, manifestFile(u.w.state))
	p.done = "uninstalled; copies of changed files are in " + u.w.short(filepath.Join(u.w.state, "backups"))
	p.after = func() {
		os.Remove(originals)
		// Innermost first; a directory with anything in it stays.
		for _, dir := range slices.Backward(m.Dirs) {
			os.Remove(dir)
		}
		if u.o.Purge {
			removeEmpty(u.w.config)
		}
		if cache := dirs.Cache(u.w.getenv); cache != "" {
			os.RemoveAll(cache) // nothing in a cache is worth keeping without the programs
		}
	}
	return p, nil
}

// removeState plans to remove a file that only the suite reads.
func (u *uninstaller) removeState(p *plan, path string) {
	if slices.ContainsFunc(p.changes, func(c change) bool { return c.Path == path }) {
		return
	}
	if _, err := os.Lstat(path); err != nil {
		return
	}
	p.changes = append(p.changes, change{Path: path, Action: "removed", Reason: "record of the installation", stage: func(t *transaction) error {
		t.remove(path)
		return nil
	}})
}

// planPurge adds the suite's configuration and state. Configuration was
// written by a person, so copies go to the backups.
func (u *uninstaller) planPurge(p *plan) {
	add := func(root, reason string, backup bool, skip ...string) {
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || slices.Contains(skip, path) {
				if d != nil && d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if !d.IsDir() && (d.Type().IsRegular() || d.Type()&fs.ModeSymlink != 0) {
				p.changes = append(p.changes, change{Path: path, Action: "removed", Reason: reason, backup: backup, stage: func(t *transaction) error {
					t.remove(path)
					return nil
				}})
			}
			return nil
		})
	}
	add(u.w.config, "configuration, a copy goes to the backups", true)
	add(u.w.state, "state", false, filepath.Join(u.w.state, "backups"), filepath.Join(u.w.state, "originals"), filepath.Join(u.w.state, "lock"), manifestFile(u.w.state))
}

// removeEmpty removes a directory tree that holds no files.
func removeEmpty(root string) {
	var dirs []string
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	for _, dir := range slices.Backward(dirs) {
		os.Remove(dir)
	}
}

func (u *uninstaller) settingsFiles(m *manifest) []string {
	files := sortedKeys(m.Wired)
	if len(files) == 0 {
		files = []string{filepath.Join(u.w.configDir, "settings.json")}
	}
	return files
}

// planSettings takes the wiring out of one settings file.
func (u *uninstaller) planSettings(p *plan, m *manifest, file string) error {
	target, err := u.w.target(file, filepath.Dir(file))
	if err != nil {
		return err
	}
	doc, err := readText(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	t, known := m.Texts[file]
	if known && t.After == sum(doc) {
		if after, ok := u.original(t); ok {
			u.planText(p, file, target, doc, after, !t.Existed, maskJSON)
			return nil
		}
	}
	root, err := parseSettings(u.w.short(file), doc)
	if err != nil {
		return err
	}
	un := &unwiring{Ours: u.ours(m), Created: t.Created, StatusLine: t.StatusLine}
	switch {
	case u.guessed:
		un.Ours = u.confirmed(file)
	case un.Created == nil:
		un.Created = []string{}
	}
	edits, err := un.plan(u.w.short(file), root)
	if err != nil {
		return err
	}
	p.notes = append(p.notes, edits.Notes...)
	after, err := editJSON(u.w.short(file), doc, edits.Edits)
	if err != nil {
		return err
	}
	u.planText(p, file, target, doc, after, known && !t.Existed && emptyObject(after), maskJSON)
	return nil
}

func emptyObject(doc []byte) bool {
	d, err := settings.ParseDocument(doc)
	return err == nil && d.Root().Kind() == settings.Object && d.Root().Len() == 0
}

// original is the content before the first edit; ok is false if it is lost.
func (r *runner) original(t text) ([]byte, bool) {
	if !t.Existed {
		return nil, true
	}
	if t.Original == "" {
		return nil, false
	}
	data, err := os.ReadFile(filepath.Join(r.w.state, "originals", t.Original))
	return data, err == nil
}

func (u *uninstaller) planText(p *plan, file, target string, before, after []byte, remove bool, hide func([]byte) []byte) {
	if !remove {
		undone, gone, err := u.undoScope(u.scope, file, after)
		if err != nil {
			p.notes = append(p.notes, note{true, err.Error()})
		} else {
			after, remove = undone, gone
		}
		if t, known := u.texts[file]; known && !t.Existed && emptyObject(after) {
			remove = true
		}
	}
	u.planUndone(p, file, target, before, after, remove, hide)
}

// planUndone plans the state of a file in which nothing of ours is left.
func (r *runner) planUndone(p *plan, file, target string, before, after []byte, remove bool, hide func([]byte) []byte) {
	if bytes.Equal(before, after) && !remove {
		p.changes = append(p.changes, change{Path: file, Action: "same"})
		return
	}
	c := change{Path: file, Action: "changed", backup: true, sum: sum(after)}
	if hide != nil {
		c.Diff = unified(r.w.short(file), hide(before), hide(after))
	}
	c.stage = func(t *transaction) error {
		sweep(target)
		return t.edit(target, nonNil(before), after)
	}
	if remove {
		c.Action, c.Reason, c.sum = "removed", "made by the installation", ""
		c.stage = func(t *transaction) error {
			t.remove(target)
			was := nonNil(before)
			t.staged[len(t.staged)-1].was = &was
			return nil
		}
	}
	p.changes = append(p.changes, c)
}

// planRC takes the block out of a start file.
func (u *uninstaller) planRC(p *plan, m *manifest, file string) error {
	target, err := u.w.target(file, filepath.Dir(file))
	if err != nil {
		return err
	}
	before, err := readText(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	t, known := m.Texts[file]
	if known && t.After == sum(before) {
		if after, ok := u.original(t); ok {
			u.planText(p, file, target, before, after, !t.Existed, maskShell)
			return nil
		}
	}
	after, err := dropBlock(u.w.short(file), string(before))
	if err != nil {
		return err
	}
	u.planText(p, file, target, before, []byte(after), known && !t.Existed && after == "", maskShell)
	return nil
}

// guess builds a manifest from what the disk looks like.
func (u *uninstaller) guess() (*manifest, error) {
	prefix := u.o.Prefix
	if prefix == "" {
		prefix = filepath.Join(u.w.configDir, "scripts")
	}
	m := &manifest{Prefix: prefix, Binaries: map[string]program{}, Wired: map[string][]string{}, Texts: map[string]text{}}
	names := programs(components())
	for _, c := range components() {
		names = append(names, c.Links...)
	}
	for _, name := range names {
		b := program{Path: filepath.Join(prefix, executable(name))}
		info, err := os.Lstat(b.Path)
		switch {
		case err != nil:
			continue
		case info.Mode()&fs.ModeSymlink != 0:
			b.Link = true
			b.Target, _ = os.Readlink(b.Path)
		case info.Mode().IsRegular():
			data, err := os.ReadFile(b.Path)
			if err != nil {
				return nil, err
			}
			b.SHA256 = sum(data)
		default:
			continue
		}
		if u.confirm("remove " + u.w.short(b.Path) + "?") {
			m.Binaries[name] = b
		}
	}
	file, _, ok := startFile(u.w.getenv, u.w.home, func(f string) bool { _, err := os.Lstat(f); return err == nil })
	if ok {
		text, _ := os.ReadFile(file)
		if _, found, err := findBlock(u.w.short(file), string(text)); err == nil && found && u.confirm("take the block out of "+u.w.short(file)+"?") {
			m.RC = append(m.RC, file)
		}
	}
	return m, nil
}

// confirm asks once for each thing that no record vouches for. Without a
// terminal the plan lists it, and --yes approves it.
func (u *uninstaller) confirm(question string) bool {
	if u.Yes || u.DryRun || !term.IsTerminal(u.Stdin) {
		return true
	}
	answer, known := u.answers[question]
	if !known {
		answer = u.ask(question)
		u.answers[question] = answer
	}
	return answer
}

// confirmed counts as ours, without a record, every entry that runs a program
// of the suite, if the person agrees.
func (u *uninstaller) confirmed(file string) func(invocation) bool {
	return func(inv invocation) bool {
		_, other, ok := identify(inv.name())
		if !ok || other {
			return false
		}
		what := strings.Join(append([]string{inv.program}, inv.args...), " ")
		return u.confirm(fmt.Sprintf("take %q out of %s?", term.Clean(what, 120), u.w.short(file)))
	}
}
