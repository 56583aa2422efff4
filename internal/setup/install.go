package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"sallyport/internal/cli"
	"sallyport/internal/term"
)

// InstallOptions are what a person chose.
type InstallOptions struct {
	Options
	Selection
	Source    string // directory of the programs; empty for this program's own
	Prefix    string // where they go; empty for the last choice, else <user>/scripts
	Link      *bool  // link to the source instead of copying; nil keeps the last choice
	Portable  *bool  // shell form with ~; nil decides by the settings file
	Matchers  string // "", "default" or "seed"
	TakeOver  bool   // replace what another toolkit installed
	FailClose *bool
	RC        string // start file; empty for the shell's own
	NoRC      bool
	Alias     *bool // alias claude; nil keeps what the block has
	FixJSON   bool  // strip a byte order mark
}

// Install puts the programs in place and wires them.
func Install(o InstallOptions) error {
	if o.Matchers != "" && o.Matchers != "default" && o.Matchers != "seed" {
		return unknownName("matcher set", o.Matchers, []string{"default", "seed"})
	}
	r, err := newRunner(o.Options)
	if err != nil {
		return err
	}
	if o.Source == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		if self, err = filepath.EvalSymlinks(self); err != nil {
			return err
		}
		o.Source = filepath.Dir(self)
	}
	o.Source, o.Prefix, o.RC = r.abs(o.Source), r.abs(o.Prefix), r.abs(o.RC)
	client, found := clientVersion(r.w.lookPath, r.w.environ, 5*time.Second)
	i := &installer{runner: r, o: o, client: client, clientFound: found}
	r.make = i.plan
	return r.run()
}

// abs makes an operand absolute; empty stays empty.
func (r *runner) abs(path string) string {
	switch {
	case path == "":
		return ""
	case path == "~" || strings.HasPrefix(path, "~/"):
		return filepath.Join(r.w.home, path[1:])
	case !filepath.IsAbs(path):
		path = filepath.Join(r.Dir, path)
	}
	return filepath.Clean(path)
}

type installer struct {
	*runner
	o           InstallOptions
	client      version
	clientFound bool
}

func (i *installer) plan() (*plan, error) {
	p := &plan{facts: i.w.facts(i.client, i.clientFound)}
	warn := func(format string, args ...any) { p.notes = append(p.notes, note{true, fmt.Sprintf(format, args...)}) }
	say := func(format string, args ...any) { p.notes = append(p.notes, note{false, fmt.Sprintf(format, args...)}) }
	if i.w.getenv("CLAUDECODE") != "" {
		say("an agent's session runs this: an agent is changing the wiring of its own hooks")
	}
	old, err := readManifest(i.w.state)
	if err != nil {
		warn("the record of the last installation cannot be used and is made anew: %v", err)
	}
	next := &manifest{
		Version:     i.Version,
		InstalledAt: i.w.now.Format(time.RFC3339),
		Binaries:    map[string]program{},
		Wired:       map[string][]string{},
		RC:          []string{},
		GitConfig:   map[string]*string{},
		Texts:       map[string]text{},
		Dirs:        []string{},
	}
	if old != nil {
		next.Choices = old.Choices
		next.Scope = old.Scope
		next.RC = append(next.RC, old.RC...)
		next.Dirs = append(next.Dirs, old.Dirs...)
		for k, v := range old.GitConfig {
			next.GitConfig[k] = v
		}
		for k, v := range old.Texts {
			next.Texts[k] = v
		}
		for k, v := range old.Wired {
			next.Wired[k] = v
		}
	}
	have := available(i.o.Source)
	if len(have) == 0 {
		return nil, cli.Exitf(cli.ExitInput, "%s holds none of the programs; build them there first, or name their directory with --from", i.o.Source)
	}
	chosen, options, err := i.o.choose(have)
	if err != nil {
		return nil, err
	}
	// What was installed before is brought up to date, even where it is off by default.
	if old != nil && len(i.o.Only) == 0 {
		for _, c := range have {
			_, installed := old.Binaries[c.Program]
			has := slices.ContainsFunc(chosen, func(x Component) bool { return x.Name == c.Name })
			switch {
			case !installed || has || c.Program == manager:
			case slices.Contains(i.o.Without, c.Name):
				say("%s stays as it was installed; only uninstall takes it away", c.Name)
			default:
				chosen = append(chosen, c)
			}
		}
		slices.SortFunc(chosen, func(a, b Component) int { return rank(a.Name) - rank(b.Name) })
	}
	prefix := i.o.Prefix
	if prefix == "" && old != nil {
		prefix = old.Prefix
	}
	if prefix == "" {
		prefix = filepath.Join(i.w.configDir, "scripts")
	}
	next.Prefix = prefix
	if err := i.planPrograms(p, next, old, chosen, prefix); err != nil {
		return nil, err
	}
	w := &wiring{
		Components:    chosen,
		Options:       options,
		Dir:           prefix,
		Home:          i.w.home,
		ConfigDir:     i.w.configDir,
		Client:        i.client,
		ReplaceOthers: i.o.TakeOver,
		FailClosed:    i.o.FailClose,
	}
	settingsFile := filepath.Join(i.w.configDir, "settings.json")
	i.choices(w, next, settingsFile)
	if err := i.planSettings(p, next, w, settingsFile); err != nil {
		return nil, err
	}
	rcFile, err := i.planRC(p, next, chosen, prefix, warn, say)
	if err != nil {
		return nil, err
	}
	if err := i.refreshScope(p, next); err != nil {
		return nil, err
	}
	i.planMoved(p, next, old)
	i.manual(p)
	i.record(p, old, next)
	p.done = "installed for new sessions and new shells; to undo it: " + homeWord(filepath.ToSlash(filepath.Join(prefix, executable(manager))), i.w.home) + " uninstall"
	p.verify = func() []check { return i.verify(w, next, settingsFile, rcFile, p.notes) }
	if slices.ContainsFunc(chosen, func(c Component) bool { return c.StatusLine }) {
		p.preview = func() string { return i.preview(next.Binaries["status-line"].Path) }
	}
	return p, nil
}

func rank(component string) int {
	return slices.IndexFunc(components(), func(c Component) bool { return c.Name == component })
}

// choices settles the form of the wiring: what was asked for now, else what
// was asked for last time, else what suits the client and the file.
func (i *installer) choices(w *wiring, next *manifest, settingsFile string) {
	if i.o.Portable != nil {
		next.Choices.Portable = i.o.Portable
	}
	if i.o.Matchers != "" {
		next.Choices.Matchers = i.o.Matchers
		w.SeedAsked = true
	}
	w.Seed = next.Choices.Matchers == "seed"
	switch {
	case i.client.known() && i.client.before(execFormSince):
		w.Shell = true
	case next.Choices.Portable != nil:
		w.Shell = *next.Choices.Portable
	default:
		for _, path := range []string{settingsFile, i.w.configDir} {
			if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				w.Shell = true
			}
		}
	}
}

// planPrograms copies or links the programs and their further names.
func (i *installer) planPrograms(p *plan, next, old *manifest, chosen []Component, prefix string) error {
	root := i.o.Prefix
	if root == "" && i.w.getenv("CLAUDE_CONFIG_DIR") != "" {
		root = i.w.configDir
	}
	if root == "" && old != nil {
		root = old.Prefix // named by the person then
	}
	real, err := i.w.inside(prefix, root)
	if err != nil {
		return err
	}
	if info, err := os.Stat(real); err == nil && !info.IsDir() {
		return cli.Exitf(cli.ExitRefused, "%s is not a directory; nothing was changed", i.w.short(prefix))
	}
	if i.o.Link != nil {
		next.Choices.Link = *i.o.Link
	}
	if source, err := resolve(i.o.Source); err == nil && source == real && next.Choices.Link {
		return cli.Usagef("the programs are in %s already, and cannot be links to themselves; name another directory with --from", i.o.Source)
	}
	for _, name := range programs(chosen) {
		source := filepath.Join(i.o.Source, executable(name))
		data, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		b := program{Path: filepath.Join(prefix, executable(name)), SHA256: sum(data), Mode: "0755"}
		if next.Choices.Link {
			b = program{Path: b.Path, Link: true, Target: source}
		}
		if err := i.planProgram(p, next, old, name, b, data); err != nil {
			return err
		}
	}
	for _, c := range chosen {
		for _, name := range c.Links {
			b := program{Path: filepath.Join(prefix, executable(name)), Link: true, Target: executable(c.Program)}
			var data []byte
			if runtime.GOOS == "windows" { // links need a privilege there
				data, _ = os.ReadFile(filepath.Join(i.o.Source, executable(c.Program)))
				b = program{Path: b.Path, SHA256: sum(data), Mode: "0755"}
			}
			if err := i.planProgram(p, next, old, name, b, data); err != nil {
				return err
			}
		}
	}
	if old == nil {
		return nil
	}
	for name, was := range old.Binaries {
		if _, again := next.Binaries[name]; !again {
			next.Binaries[name] = was // installed earlier, not part of this selection
		}
	}
	return nil
}

// planMoved removes programs that went to another directory. It comes after
// the wiring, so that no hook ever names a program that is gone.
func (i *installer) planMoved(p *plan, next, old *manifest) {
	if old == nil {
		return
	}
	for _, name := range sortedKeys(old.Binaries) {
		if was := old.Binaries[name]; was.Path != next.Binaries[name].Path {
			p.changes = append(p.changes, removal(was, "moved"))
		}
	}
}

func (i *installer) planProgram(p *plan, next, old *manifest, name string, b program, data []byte) error {
	next.Binaries[name] = b
	var was program
	if old != nil {
		was = old.Binaries[name]
	}
	return i.planFile(p, next, was, b, data)
}

// planFile puts a program, link or script in place. was is what the record
// says of it.
func (r *runner) planFile(p *plan, next *manifest, was, b program, data []byte) error {
	c := change{Path: b.Path, sum: b.SHA256, Action: "new"}
	if b.Link {
		c.Reason = "link to " + r.w.short(b.Target)
	}
	info, err := os.Lstat(b.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return cli.Exitf(cli.ExitRefused, "%s is a directory where a program must go; nothing was changed", b.Path)
	case b.holds():
		c.Action = "same"
		p.changes = append(p.changes, c)
		return nil
	case foreignOwner(info):
		return cli.Exitf(cli.ExitRefused, "%s belongs to another account; nothing was changed", b.Path)
	default:
		c.Action = "changed"
		// Keep what somebody else put there; our own old builds can be made again.
		ours := was.Path == b.Path && was.holds()
		c.backup = !ours
	}
	c.stage = func(t *transaction) error {
		if err := r.mkdir(t, next, filepath.Dir(b.Path)); err != nil {
			return err
		}
		if b.Link {
			return t.link(b.Path, b.Target)
		}
		return t.write(b.Path, data, b.mode())
	}
	p.changes = append(p.changes, c)
	return nil
}

// mkdir makes a directory for the transaction and notes what it made.
func (r *runner) mkdir(t *transaction, next *manifest, dir string) error {
	had := len(t.dirs)
	err := t.mkdir(dir, 0o700)
	for _, made := range t.dirs[had:] {
		if !slices.Contains(next.Dirs, made) {
			next.Dirs = append(next.Dirs, made)
		}
	}
	return err
}

// mode is the permissions of a file, those of a program unless recorded
// otherwise.
func (b program) mode() fs.FileMode {
	if b.Mode == "0644" {
		return 0o644
	}
	return 0o755
}

// holds reports whether the file is still what the record says.
func (b program) holds() bool {
	info, err := os.Lstat(b.Path)
	if err != nil {
		return false
	}
	if b.Link {
		target, err := os.Readlink(b.Path)
		return err == nil && target == b.Target
	}
	if !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o111 != b.mode()&0o111 {
		return false
	}
	data, err := os.ReadFile(b.Path)
	return err == nil && sum(data) == b.SHA256
}

// planSettings wires the hooks and the status line.
func (i *installer) planSettings(p *plan, next *manifest, w *wiring, file string) error {
	doc, existed, target, err := i.readSettings(file)
	if err != nil {
		return err
	}
	before := doc
	if i.o.FixJSON {
		doc = bytes.TrimPrefix(doc, byteOrderMark)
	}
	root, err := parseSettings(i.w.short(file), doc)
	if err != nil {
		return err
	}
	m, err := w.plan(i.w.short(file), root)
	if err != nil {
		return err
	}
	p.notes = append(p.notes, m.Notes...)
	if w.FailClosed != nil && *w.FailClosed && w.Client.known() && w.Client.before(onFailureSince) {
		p.notes = append(p.notes, note{true, "Claude Code " + w.Client.String() + " ignores --fail-closed; " + onFailureSince + " is the first that heeds it"})
	}
	after, err := editJSON(i.w.short(file), doc, m.Edits)
	if err != nil {
		return err
	}
	next.Wired[file], err = i.wired(file, after, next)
	if err != nil {
		return err
	}
	i.planText(p, next, file, target, before, after, existed, text{Created: m.Created, StatusLine: m.StatusLine},
		unified(i.w.short(file), maskJSON(before), maskJSON(after)))
	return nil
}

// readSettings reads the user's settings file; a missing one is empty.
func (r *runner) readSettings(file string) (doc []byte, existed bool, target string, err error) {
	root := ""
	if r.w.getenv("CLAUDE_CONFIG_DIR") != "" {
		root = r.w.configDir
	}
	if target, err = r.w.target(file, root); err != nil {
		return nil, false, "", err
	}
	doc, err = readText(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, target, nil
	}
	if err == nil {
		err = writable(target)
	}
	if errors.As(err, new(*cli.ExitError)) {
		return nil, false, "", err
	}
	if err != nil {
		return nil, false, "", cli.Exitf(cli.ExitRefused, "%v; nothing was changed", err)
	}
	return doc, true, target, nil
}

// writable reports a file that its owner made read-only: rename would replace
// it all the same, but somebody meant it to stay.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().Perm()&0o200 == 0 {
		return &fs.PathError{Op: "write", Path: path, Err: fs.ErrPermission}
	}
	return nil
}

// planText adds the edit of a settings or start file and what uninstall needs
// to know of it.
func (i *installer) planText(p *plan, next *manifest, file, target string, before, after []byte, existed bool, t text, diff string) {
	c := change{Path: file, Action: "same", sum: sum(after)}
	old, known := next.Texts[file]
	if bytes.Equal(before, after) && (existed || len(after) == 0) {
		if !existed {
			return
		}
		p.changes = append(p.changes, c)
		return
	}
	c.Action, c.Diff, c.backup = "changed", diff, true
	if !existed {
		c.Action = "new"
	}
	t.After, t.Existed = sum(after), existed
	original := ""
	switch {
	case known && old.After == sum(before):
		t.Existed, t.Original = old.Existed, old.Original
	case known:
		t.Existed = old.Existed
	case existed:
		original = filepath.Join(i.w.state, "originals", flatName(file))
		t.Original = filepath.Base(original)
	}
	if known {
		for _, made := range old.Created {
			if !slices.Contains(t.Created, made) {
				t.Created = append(t.Created, made)
			}
		}
		if old.StatusLine != "" {
			t.StatusLine = old.StatusLine
		}
	}
	if t.Created == nil {
		t.Created = []string{}
	}
	next.Texts[file] = t
	c.stage = i.replaceText(next, target, original, before, after, existed)
	p.changes = append(p.changes, c)
}

// replaceText stages the new text of a file, and a copy of the old one at
// original if that is not empty.
func (r *runner) replaceText(next *manifest, target, original string, before, after []byte, existed bool) func(*transaction) error {
	return func(tx *transaction) error {
		if original != "" {
			if err := tx.mkdir(filepath.Dir(original), 0o700); err != nil {
				return err
			}
			sweep(original)
			if err := tx.write(original, before, 0o600); err != nil {
				return err
			}
		}
		if err := r.mkdir(tx, next, filepath.Dir(target)); err != nil {
			return err
		}
		sweep(target)
		if !existed {
			return tx.edit(target, nil, after)
		}
		return tx.edit(target, nonNil(before), after)
	}
}

func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// maxText bounds a settings or start file.
const maxText = 16 << 20

// readText reads a file that a person edits.
func readText(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxText {
		return nil, cli.Exitf(cli.ExitInput, "%s has more than %d MiB", path, maxText>>20)
	}
	return os.ReadFile(path)
}

// wired lists the entries that start an installed program.
func (i *installer) wired(file string, doc []byte, m *manifest) ([]string, error) {
	root, err := parseSettings(file, doc)
	if err != nil {
		return nil, err
	}
	events, err := readHooks(file, root)
	if err != nil {
		return nil, err
	}
	u := &unwiring{Ours: i.ours(m)}
	pointers := []string{}
	for _, event := range sortedKeys(events) {
		for _, g := range events[event] {
			for _, e := range g.entries {
				if u.ours(e) {
					pointers = append(pointers, pointer(e.path))
				}
			}
		}
	}
	if inv, ok := parseInvocation(root.Get("statusLine")); ok && u.Ours(inv) && !inv.within {
		pointers = append(pointers, "/statusLine")
	}
	return pointers, nil
}

// ours tells whether an invocation starts a program that the manifest lists.
func (r *runner) ours(m *manifest) func(invocation) bool {
	paths := map[string]bool{}
	for name, b := range m.Binaries {
		paths[filepath.ToSlash(b.Path)] = true
		paths[filepath.ToSlash(filepath.Join(m.Prefix, executable(name)))] = true
	}
	return func(inv invocation) bool {
		word := filepath.ToSlash(inv.program)
		if inv.shell {
			word = filepath.ToSlash(expand(word, r.w.home, r.w.configDir))
		}
		return paths[word]
	}
}

// planRC puts the block into the shell's start file and returns that file.
func (i *installer) planRC(p *plan, next *manifest, chosen []Component, prefix string, warn, say func(string, ...any)) (string, error) {
	if !slices.ContainsFunc(chosen, func(c Component) bool { return c.Shell }) {
		return "", nil
	}
	file, kind, ok := startFile(i.w.getenv, i.w.home, func(f string) bool { _, err := os.Lstat(f); return err == nil })
	if i.o.RC != "" {
		file, kind, ok = i.o.RC, shellKindOf(i.o.RC), true
	}
	alias := i.o.Alias != nil && *i.o.Alias
	byHand := func(why string) {
		if kind == "" {
			kind = shellPOSIX
		}
		p.manual = append(p.manual, manualStep{block(kind, prefix, shims(next), i.w.home, alias), why})
	}
	if i.o.NoRC {
		byHand("to call the programs by name, add this to your shell's start file:")
		return "", nil
	}
	if !ok {
		byHand("the start file of your shell is not known; to call the programs by name, add the like of this to it:")
		return "", nil
	}
	root := i.o.RC
	if dir := i.w.getenv("ZDOTDIR"); root == "" && filepath.IsAbs(dir) {
		root = dir
	}
	if dir := i.w.getenv("XDG_CONFIG_HOME"); root == "" && kind == shellFish && filepath.IsAbs(dir) {
		root = dir
	}
	target, err := i.w.target(file, root)
	if err != nil {
		return "", err
	}
	before, err := readText(target)
	existed := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if existed {
		if err := writable(target); err != nil {
			return "", err
		}
	}
	at, found, err := findBlock(i.w.short(file), string(before))
	if err != nil {
		return "", err
	}
	if found && i.o.Alias == nil {
		alias = strings.Contains(string(before[at.start:at.end]), "\nalias claude=")
	}
	after, err := putBlock(i.w.short(file), string(before), block(kind, prefix, shims(next), i.w.home, alias))
	if err != nil {
		return "", err
	}
	if n := otherLauncher(string(before)); n > 0 {
		say("%s:%d reads another toolkit's launcher; that line stays, and its shell functions win over the programs of the same name", i.w.short(file), n)
	}
	if alias {
		say("claude becomes claude-iso in new shells: sessions started in unrelated directories lose environment credentials too; `command claude` is the way around it for once")
	}
	if !slices.Contains(next.RC, file) {
		next.RC = append(next.RC, file)
	}
	i.planText(p, next, file, target, before, []byte(after), existed, text{},
		unified(i.w.short(file), maskShell(before), maskShell([]byte(after))))
	return file, nil
}

// manual lists what only the person may run.
func (i *installer) manual(p *plan) {
	if runtime.GOOS != "linux" {
		return
	}
	var missing []string
	for _, name := range []string{"bwrap", "socat"} {
		if i.w.lookPath(name) == "" {
			missing = append(missing, map[string]string{"bwrap": "bubblewrap", "socat": "socat"}[name])
		}
	}
	if len(missing) == 0 {
		return
	}
	for _, m := range []struct{ program, cmd string }{
		{"apt-get", "sudo apt-get install"},
		{"dnf", "sudo dnf install"},
		{"pacman", "sudo pacman -S"},
		{"zypper", "sudo zypper install"},
		{"apk", "sudo apk add"},
	} {
		if i.w.lookPath(m.program) != "" {
			p.manual = append(p.manual, manualStep{m.cmd + " " + strings.Join(missing, " "), "the agent's sandbox cannot start without them:"})
			return
		}
	}
}

// record plans the manifest itself. Directories are only known once the other
// changes are staged, so it is encoded last.
func (r *runner) record(p *plan, old, next *manifest) {
	if !p.pending() && next.same(old) {
		return
	}
	file := manifestFile(r.w.state)
	c := change{Path: file, Action: "new", Reason: "what uninstall needs to know"}
	if _, err := os.Lstat(file); err == nil {
		c.Action, c.backup = "changed", true
	}
	c.stage = func(t *transaction) error {
		if err := t.mkdir(r.w.state, 0o700); err != nil {
			return err
		}
		return t.write(file, next.encode(), 0o600)
	}
	p.changes = append(p.changes, c)
}

// removal plans to take an installed program away, unless somebody changed it.
func removal(b program, reason string) change {
	c := change{Path: b.Path, Action: "removed", Reason: reason}
	switch _, err := os.Lstat(b.Path); {
	case errors.Is(err, fs.ErrNotExist):
		c.Action, c.Reason = "same", "already gone"
	case !b.holds():
		c.Action, c.Reason = "kept", "changed since it was installed"
	case runtime.GOOS == "windows" && running(b.Path):
		c.Action, c.Reason = "kept", "it is running; delete it afterwards"
	default:
		c.stage = func(t *transaction) error {
			t.remove(b.Path)
			return nil
		}
	}
	return c
}

// testExec starts one staged program, because a file system may forbid it.
func testExec(t *transaction) error {
	for _, s := range t.staged {
		info, err := os.Lstat(s.temp)
		if s.temp == "" || err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 || runtime.GOOS == "windows" {
			continue
		}
		if _, err := startVersion(s.temp, nil); errors.Is(err, fs.ErrPermission) {
			return cli.Exitf(cli.ExitRefused, "programs cannot be started from %s (mounted noexec?): choose another directory with --prefix; nothing was changed", term.Clean(filepath.Dir(s.path), 0))
		}
		return nil
	}
	return nil
}

func running(path string) bool {
	self, err := os.Executable()
	return err == nil && strings.EqualFold(filepath.Clean(self), path)
}
