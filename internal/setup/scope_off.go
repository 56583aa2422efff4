package setup

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/internal/cli"
	"sallyport/internal/githooks"
	"sallyport/internal/term"
)

// ScopeOff takes the shared hook directory away, and the hook of the
// repository whose common directory is given, if there are any. What was
// written into local settings stays.
func ScopeOff(o Options, commonDir string) error {
	r, err := newRunner(o)
	if err != nil {
		return err
	}
	r.make = func() (*plan, error) { return r.planScopeOff(commonDir) }
	return r.run()
}

func (r *runner) planScopeOff(commonDir string) (*plan, error) {
	p := &plan{facts: []string{"home: " + term.Clean(r.w.home, 0)}}
	m, err := readManifest(r.w.state)
	if err != nil {
		return nil, cli.Exitf(cli.ExitInput, "%v; without this record it cannot be told what to undo", err)
	}
	switch {
	case m != nil && m.Scope != nil:
		err = r.planForget(p, m)
	default:
		err = r.planUnrecorded(p)
	}
	if err != nil {
		return nil, err
	}
	if commonDir != "" {
		r.planRepoHookOff(p, commonDir)
	}
	p.done = "off; local settings that were written stay, and are harmless"
	return p, nil
}

// planForget undoes what the record says.
func (r *runner) planForget(p *plan, m *manifest) error {
	s := m.Scope
	next := m.clone()
	next.Scope = nil
	delete(next.GitConfig, hooksPathKey)
	files := sortedKeys(s.Texts)
	// First git's configuration: it must not name a directory that is gone.
	slices.SortStableFunc(files, func(a, b string) int {
		return map[bool]int{true: 0, false: 1}[a == s.Config] - map[bool]int{true: 0, false: 1}[b == s.Config]
	})
	for _, file := range files {
		doc, after, gone, err := r.planTextOff(p, s, file)
		if err != nil {
			return err
		}
		below, ok := next.Texts[file]
		if !ok || below.After != sum(doc) || gone {
			continue
		}
		// The installation's layer is intact. Where it came second, what it
		// would put back holds our edit, which goes from there as well.
		if s.Texts[file].After != sum(doc) {
			was, ok := r.original(below)
			if !ok || !below.Existed {
				continue
			}
			undone, gone, err := r.undoScope(s, file, was)
			if err != nil {
				continue
			}
			below.Existed = !gone
			if gone {
				below.Original = ""
			} else {
				r.planOriginal(p, below.Original, undone)
			}
		}
		below.After = sum(after)
		next.Texts[file] = below
	}
	for _, key := range sortedKeys(s.Files) {
		p.changes = append(p.changes, removal(s.Files[key], ""))
	}
	kept := next.originals()
	for _, name := range m.originals() {
		if !slices.Contains(kept, name) {
			r.planDrop(p, filepath.Join(r.w.state, "originals", name))
		}
	}
	if len(next.Binaries) == 0 && len(next.RC) == 0 {
		r.planDrop(p, manifestFile(r.w.state)) // nothing else was installed
	} else {
		r.record(p, m, next)
	}
	p.after = func() {
		os.Remove(filepath.Join(r.w.state, "originals"))
		for _, dir := range slices.Backward(m.Dirs) {
			os.Remove(dir) // only if nothing is in it
		}
	}
	return nil
}

// planOriginal plans new content for a file of old content.
func (r *runner) planOriginal(p *plan, name string, content []byte) {
	path := filepath.Join(r.w.state, "originals", name)
	p.changes = append(p.changes, change{Path: path, Action: "changed", Reason: "record", sum: sum(content), stage: func(t *transaction) error {
		sweep(path)
		return t.write(path, content, 0o600)
	}})
}

// planTextOff takes the scope out of one file.
func (r *runner) planTextOff(p *plan, s *hookScope, file string) (doc, after []byte, gone bool, err error) {
	target, err := r.w.target(file, filepath.Dir(file))
	if err != nil {
		return nil, nil, false, err
	}
	doc, err = readText(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, false, nil
	}
	if err == nil {
		err = writable(target)
	}
	if err != nil {
		return nil, nil, false, err
	}
	after, gone, err = r.undoScope(s, file, doc)
	if err != nil {
		return nil, nil, false, err
	}
	hide := maskJSON
	switch file {
	case s.Config:
		hide = nil // may hold secrets of any form
	case s.RC:
		hide = maskShell
	}
	r.planUndone(p, file, target, doc, after, gone, hide)
	return doc, after, gone, nil
}

// planScopeText is planTextOff for files that an uninstallation does not touch
// otherwise.
func (u *uninstaller) planScopeText(p *plan, m *manifest, file string) error {
	if slices.ContainsFunc(p.changes, func(c change) bool { return c.Path == file }) {
		return nil
	}
	_, _, _, err := u.planTextOff(p, m.Scope, file)
	return err
}

// planDrop plans to remove a file of the suite's own state.
func (r *runner) planDrop(p *plan, path string) {
	if _, err := os.Lstat(path); err != nil {
		return
	}
	p.changes = append(p.changes, change{Path: path, Action: "removed", Reason: "record", stage: func(t *transaction) error {
		t.remove(path)
		return nil
	}})
}

// planUnrecorded takes away what looks like ours when the record is lost: the
// configuration if it names our directory, and there the links to our program.
func (r *runner) planUnrecorded(p *plan) error {
	dir := r.hooksDir()
	current, err := r.hooksPath()
	if err != nil || !current.set || !samePath(current.value, dir) {
		return nil // nothing to say: off is off
	}
	p.notes = append(p.notes, note{true, "there is no record of how this was set up, so no earlier core.hooksPath can be put back"})
	file, root := r.w.configFile()
	doc, existed, target, err := r.readConfig(file, root)
	if err != nil || !existed {
		return err
	}
	if value, set, err := r.configValue(doc); err != nil || !set || value != current.value && !samePath(value, dir) {
		return err
	}
	after, err := r.editConfig(doc, "--unset-all", hooksPathKey)
	if err != nil {
		return err
	}
	r.planUndone(p, file, target, doc, after, false, nil)
	names := slices.Concat(githooks.Names, githooks.FrequentNames, []string{githooks.Recorder, githooks.Program})
	for _, name := range names {
		path := filepath.Join(dir, executable(name))
		target, err := os.Readlink(path)
		script, _ := readText(path)
		switch {
		case err == nil && (target == githooks.Program || name == githooks.Recorder):
			p.changes = append(p.changes, removal(program{Path: path, Link: true, Target: target}, ""))
		case name == githooks.Program && err != nil && regular(path), isHookScript(script):
			p.changes = append(p.changes, removal(program{Path: path, SHA256: sum(script)}, ""))
		}
	}
	return nil
}

func isHookScript(text []byte) bool {
	return bytes.HasPrefix(text, []byte("#!/bin/sh\n"+hookMark+"\n"))
}

// ScopeState is what "scope status" tells.
type ScopeState struct {
	Scope    string `json:"scope"` // whole-user, per-project or off
	Flavour  string `json:"flavour,omitempty"`
	Path     string `json:"hooks_path,omitempty"` // core.hooksPath of the account
	Origin   string `json:"origin,omitempty"`     // global or system
	Ours     bool   `json:"ours"`                 // it is the suite's directory
	Chain    string `json:"chain,omitempty"`
	Repo     string `json:"repository_hooks_path,omitempty"` // of this repository, if it sets one
	RepoHook bool   `json:"repository_hook"`
	// Shadowed are hooks of this repository that git does not run.
	Shadowed []string `json:"shadowed"`
}

// Scope looks at the account, and at the repository with that common
// directory, if one is given.
func Scope(o Options, commonDir string) (ScopeState, error) {
	r, err := newRunner(o)
	if err != nil {
		return ScopeState{}, err
	}
	st := ScopeState{Scope: "off", Shadowed: []string{}}
	current, err := r.hooksPath()
	if err != nil {
		return st, err
	}
	dir := r.hooksDir()
	if current.set {
		st.Path, st.Origin, st.Ours = current.value, current.scope, samePath(current.value, dir)
		switch info, err := os.Lstat(filepath.Join(current.value, executable("post-checkout"))); {
		case err != nil:
		case info.Mode()&fs.ModeSymlink != 0 && st.Ours:
			st.Flavour = FlavourDispatcher
		case info.Mode().IsRegular():
			st.Flavour = FlavourSimple
		}
		if m, err := readManifest(r.w.state); err == nil && m != nil && m.Scope != nil && st.Ours {
			st.Flavour, st.Chain = m.Scope.Flavour, m.Scope.Chain
		}
	}
	if commonDir != "" {
		script, _ := readText(filepath.Join(commonDir, "hooks", "post-checkout"))
		st.RepoHook = isHookScript(script)
		st.Repo = r.repoHooksPath(commonDir)
		if st.Repo != "" || st.Path != "" && st.Flavour != FlavourDispatcher {
			st.Shadowed = append(st.Shadowed, ownHooks(commonDir)...)
		}
	}
	switch {
	case st.Ours:
		st.Scope = "whole-user"
	case st.RepoHook && st.Path == "" && st.Repo == "":
		st.Scope = "per-project"
	}
	return st, nil
}

// ownHooks are the hooks that stand in a repository.
func ownHooks(commonDir string) (names []string) {
	for _, name := range slices.Concat(githooks.Names, githooks.FrequentNames, githooks.TakingOver) {
		path := filepath.Join(commonDir, "hooks", name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			names = append(names, name)
		}
	}
	return names
}

// repoHooksPath is core.hooksPath in a repository's own configuration.
func (r *runner) repoHooksPath(commonDir string) string {
	out, err := r.git("config", "--file", filepath.Join(commonDir, "config"), "-z", "--get", hooksPathKey)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(out), "\x00")
}

// A LocalEdit is a change of a local settings file that somebody else decided.
type LocalEdit struct {
	Path     string // links resolved
	Existed  bool
	Old, New []byte
}

// PerProject writes local settings of one repository and gives it a
// post-checkout hook for worktrees to come. local decides about the settings;
// it is asked again before anything is written.
func PerProject(o Options, commonDir string, hook bool, local func() ([]LocalEdit, []string)) error {
	r, err := newRunner(o)
	if err != nil {
		return err
	}
	r.make = func() (*plan, error) {
		p := &plan{facts: []string{"repository: " + term.Clean(commonDir, 0)}}
		edits, warnings := local()
		for _, w := range warnings {
			p.notes = append(p.notes, note{true, w})
		}
		for _, e := range edits {
			planLocal(p, r, e)
		}
		if hook {
			if err := r.planRepoHook(p, commonDir); err != nil {
				return nil, err
			}
		}
		p.done = "done; \"agent-setup scope off\" in this repository takes the hook away, \"add-project-root --all-worktrees --remove\" the entries"
		return p, nil
	}
	return r.run()
}

// Populate writes local settings of repositories that were found, after one
// question for all of them.
func Populate(o Options, repos []string, local func() ([]LocalEdit, []string)) error {
	r, err := newRunner(o)
	if err != nil {
		return err
	}
	r.make = func() (*plan, error) {
		p := &plan{done: "listed; \"add-project-root --all-worktrees --remove\" in a repository takes its entries out"}
		for _, repo := range repos {
			p.facts = append(p.facts, "repository: "+r.w.short(repo))
		}
		edits, warnings := local()
		for _, w := range warnings {
			p.notes = append(p.notes, note{true, w})
		}
		for _, e := range edits {
			planLocal(p, r, e)
		}
		return p, nil
	}
	return r.run()
}

// Environ is the environment of a run, with --home applied.
func Environ(o Options) []string {
	if w, err := newWorld(o.Environ, o.Home); err == nil {
		return w.environ
	}
	return o.Environ
}

func planLocal(p *plan, r *runner, e LocalEdit) {
	c := change{Path: e.Path, Action: "same"}
	if !bytes.Equal(e.Old, e.New) {
		c.Action, c.backup, c.sum = "changed", e.Existed, sum(e.New)
		if !e.Existed {
			c.Action = "new"
		}
		c.Diff = unified(r.w.short(e.Path), maskJSON(e.Old), maskJSON(e.New))
		c.stage = func(t *transaction) error {
			if err := t.mkdir(filepath.Dir(e.Path), 0o755); err != nil {
				return err
			}
			sweep(e.Path)
			if !e.Existed {
				return t.edit(e.Path, nil, e.New)
			}
			return t.edit(e.Path, nonNil(e.Old), e.New)
		}
	}
	p.changes = append(p.changes, c)
}

// planRepoHook gives a repository a post-checkout hook, or says which line to
// add where it has one.
func (r *runner) planRepoHook(p *plan, commonDir string) error {
	m, _ := readManifest(r.w.state)
	if m == nil {
		m = &manifest{}
	}
	recorderPath, err := r.installedProgram(m, recorder)
	if err != nil {
		return err
	}
	say := func(format string, where string) {
		p.manual = append(p.manual, manualStep{shellWord(recorderPath) + " --quiet || :", strings.ReplaceAll(format, "FILE", r.w.short(where))})
	}
	file := filepath.Join(commonDir, "hooks", "post-checkout")
	if own := r.repoHooksPath(commonDir); own != "" {
		say("this repository sets core.hooksPath itself; to list its new worktrees, add this line to FILE:", filepath.Join(own, "post-checkout"))
		return nil
	}
	if current, err := r.hooksPath(); err != nil {
		return err
	} else if current.set && samePath(current.value, r.hooksDir()) {
		p.notes = append(p.notes, note{false, "the shared hook directory lists new worktrees of every repository; this one needs no hook"})
		return nil
	} else if current.set {
		say("core.hooksPath sends git elsewhere; to list new worktrees, add this line to FILE:", filepath.Join(current.value, "post-checkout"))
		return nil
	}
	dir := filepath.Dir(file)
	if info, err := os.Lstat(dir); err == nil && (!info.IsDir() || foreignOwner(info)) {
		return cli.Exitf(cli.ExitRefused, "%s is not a directory of yours; nothing was changed", r.w.short(dir))
	}
	script := hookScript(recorderPath)
	b := program{Path: file, SHA256: sum(script), Mode: "0755"}
	if _, err := os.Lstat(file); err == nil && !b.holds() {
		if text, _ := readText(file); !isHookScript(text) {
			say("this repository has a post-checkout hook; to list its new worktrees, add this line to FILE:", file)
			return nil
		}
	}
	return r.planFile(p, &manifest{}, program{}, b, script)
}

func (r *runner) planRepoHookOff(p *plan, commonDir string) {
	file := filepath.Join(commonDir, "hooks", "post-checkout")
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if text, err := readText(file); err == nil && isHookScript(text) {
		p.changes = append(p.changes, removal(program{Path: file, SHA256: sum(text)}, ""))
	}
}
