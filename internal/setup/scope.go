package setup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"sallyport/internal/cli"
	"sallyport/internal/githooks"
	"sallyport/internal/term"
	"sallyport/settings"
)

// Flavours of the shared hook directory.
const (
	FlavourDispatcher = "dispatcher" // every repository's own hooks keep running
	FlavourSimple     = "simple"     // post-checkout alone, all others fall silent
)

// ScopeOptions are what a person chose for the shared hook directory.
type ScopeOptions struct {
	Options
	Flavour       string // empty for the dispatcher
	AllHooks      bool   // those that git starts very often as well
	ChainPrevious bool   // keep running the hooks of another core.hooksPath
	NoRC          bool   // leave the shell's start file alone
}

// A hookScope records the shared hook directory, for the next run and for
// taking it away.
type hookScope struct {
	Flavour   string             `json:"flavour"`
	Dir       string             `json:"dir"`
	AllHooks  bool               `json:"all_hooks,omitempty"`
	Chain     string             `json:"chain,omitempty"`
	Files     map[string]program `json:"files"`
	Config    string             `json:"config"`             // git's configuration file
	Previous  *string            `json:"previous,omitempty"` // its core.hooksPath before
	AllowRead []string           `json:"allow_read"`         // entries added to the user's settings
	RC        string             `json:"rc,omitempty"`       // start file with the shims' directory
	// Texts are the files edited, each as it was before this and after it; a
	// layer of its own beside the manifest's, so that each can be taken away
	// first.
	Texts map[string]text `json:"texts"`
}

const hooksPathKey = "core.hooksPath"

// shims is the directory that the block in a start file puts first on PATH.
func shims(m *manifest) string {
	if m.Scope == nil || m.Scope.RC == "" {
		return ""
	}
	return shimDir(m.Scope.Dir)
}

func shimDir(hooks string) string { return filepath.Join(filepath.Dir(hooks), githooks.ShimDir) }

// WholeUser sets up the shared hook directory for every repository of the
// account.
func WholeUser(o ScopeOptions) error {
	if o.Flavour == "" {
		o.Flavour = FlavourDispatcher
	}
	if o.Flavour != FlavourDispatcher && o.Flavour != FlavourSimple {
		return unknownName("flavour", o.Flavour, []string{FlavourDispatcher, FlavourSimple})
	}
	if o.Flavour == FlavourSimple && (o.ChainPrevious || o.AllHooks) {
		return cli.Usagef("--flavour simple runs post-checkout alone; --chain-previous and --all-hooks need the dispatcher")
	}
	r, err := newRunner(o.Options)
	if err != nil {
		return err
	}
	s := &scoper{runner: r, o: o}
	r.make = s.plan
	return r.run()
}

type scoper struct {
	*runner
	o ScopeOptions
	// source is the dispatcher that an installation is about to put in place.
	source string
}

func (r *runner) hooksDir() string { return filepath.Join(r.w.configDir, "git-hooks") }

func (s *scoper) plan() (*plan, error) {
	p := &plan{facts: []string{"home: " + term.Clean(s.w.home, 0)}}
	old, err := readManifest(s.w.state)
	if err != nil {
		return nil, cli.Exitf(cli.ExitInput, "%v; without this record the change could not be undone: repair or remove it", err)
	}
	next := &manifest{
		Version: s.Version, InstalledAt: s.w.now.Format(time.RFC3339),
		Prefix:   filepath.Join(s.w.configDir, "scripts"),
		Binaries: map[string]program{}, Wired: map[string][]string{}, RC: []string{},
		GitConfig: map[string]*string{}, Texts: map[string]text{}, Dirs: []string{},
	}
	if old != nil {
		next = old.clone()
		next.Version = s.Version
	}
	was := next.Scope
	if was == nil {
		was = &hookScope{Files: map[string]program{}, Texts: map[string]text{}}
	}
	now := &hookScope{
		Flavour: s.o.Flavour, Dir: s.hooksDir(), AllHooks: s.o.AllHooks, Chain: was.Chain,
		Files: map[string]program{}, Config: was.Config, Previous: was.Previous, RC: was.RC,
		AllowRead: nonNilStrings(was.AllowRead), Texts: map[string]text{},
	}
	for file, t := range was.Texts {
		now.Texts[file] = t
	}
	next.Scope = now
	current, err := s.hooksPath()
	if err != nil {
		return nil, err
	}
	if err := s.choosePrevious(now, current); err != nil {
		return nil, err
	}
	if err := s.planHooks(p, next, was, now); err != nil {
		return nil, err
	}
	if err := s.planAllowRead(p, next, now); err != nil {
		return nil, err
	}
	if err := s.planShims(p, next, now); err != nil {
		return nil, err
	}
	// Last, when everything that git would look for is in place.
	if err := s.planConfig(p, next, now); err != nil {
		return nil, err
	}
	s.record(p, old, next)
	s.explain(p, now, current)
	p.verify = func() []check { return s.verify(now) }
	p.done = "git looks for hooks in " + s.w.short(now.Dir) + " from now on; to undo it: agent-setup scope off"
	return p, nil
}

func nonNilStrings(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// A hooksPath is the core.hooksPath that counts outside of any repository.
type hooksPath struct {
	set   bool
	value string // as git expands it
	scope string // global or system
}

// hooksPath asks git for the account's and the machine's configuration alone.
func (r *runner) hooksPath() (hooksPath, error) {
	out, err := r.git("config", "--show-scope", "-z", "--type=path", "--get-all", hooksPathKey)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return hooksPath{}, nil
	}
	if err != nil {
		return hooksPath{}, cli.Exitf(cli.ExitInput, "git config: %v", err)
	}
	var h hooksPath
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 { // the last one counts
		h = hooksPath{true, fields[i+1], fields[i]}
	}
	return h, nil
}

// git runs git apart from any repository.
func (r *runner) git(args ...string) ([]byte, error) {
	program := r.w.lookPath("git")
	if program == "" {
		return nil, cli.Exitf(cli.ExitInput, "git is not on PATH")
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = r.w.home
	cmd.Env = slices.DeleteFunc(slices.Clone(r.w.environ), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return strings.HasPrefix(name, "GIT_") && name != "GIT_CONFIG_GLOBAL" && name != "GIT_CONFIG_SYSTEM" && name != "GIT_CONFIG_NOSYSTEM"
	})
	cmd.Env = append(cmd.Env, "LC_ALL=C", "GIT_DIR="+os.DevNull)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 && exit.ExitCode() != 1 {
		return nil, errors.New(term.Clean(strings.TrimSpace(string(exit.Stderr)), 300))
	}
	return out, err
}

// same reports that two paths lead to the same place.
func samePath(a, b string) bool {
	ra, errA := resolve(a)
	rb, errB := resolve(b)
	return filepath.Clean(a) == filepath.Clean(b) || errA == nil && errB == nil && ra == rb
}

// choosePrevious decides what becomes of a hooks path that somebody else set.
func (s *scoper) choosePrevious(now *hookScope, current hooksPath) error {
	if !current.set || samePath(current.value, now.Dir) {
		if now.Flavour == FlavourSimple && now.Chain != "" {
			return cli.Exitf(cli.ExitRefused, "the hooks in %s run through the dispatcher and would fall silent; run \"agent-setup scope off\" first", s.w.short(now.Chain))
		}
		return nil
	}
	if !s.o.ChainPrevious {
		return cli.Exitf(cli.ExitRefused, "core.hooksPath is %q in git's %s configuration, and its hooks would fall silent; --chain-previous runs them before each repository's own; nothing was changed", current.value, current.scope)
	}
	for _, name := range githooks.TakingOver {
		path := filepath.Join(current.value, name)
		if _, err := os.Stat(path); err == nil {
			return cli.Exitf(cli.ExitRefused, "%s changes what git does by being there and cannot be chained; nothing was changed", s.w.short(path))
		}
	}
	now.Chain = current.value
	return nil
}

// shellWord quotes a path for a POSIX shell.
func shellWord(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// hookMark is the second line of the scripts that are ours.
const hookMark = "# sallyport: lists a new worktree in the local settings of Claude Code."

// hookScript is post-checkout where there is no dispatcher.
func hookScript(recorder string) []byte {
	return []byte("#!/bin/sh\n" + hookMark + `
# "agent-setup scope off" removes this file. Single files that were checked out
# are no new worktree, and a checkout never fails for it.
case $1 in
*[!0]*) [ "$3" = 1 ] || exit 0 ;;
esac
[ -d .claude ] || exit 0
` + shellWord(recorder) + " --quiet </dev/null >/dev/null 2>&1\nexit 0\n")
}

// installedProgram is where install put a program.
func (r *runner) installedProgram(m *manifest, name string) (string, error) {
	paths := []string{}
	if b, ok := m.Binaries[name]; ok {
		paths = append(paths, b.Path)
	}
	if self, err := os.Executable(); err == nil {
		paths = append(paths, filepath.Join(filepath.Dir(self), executable(name)))
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", cli.Exitf(cli.ExitInput, "%s is not installed: run \"agent-setup install --with project-root,git-hooks\" first", name)
}

// planHooks fills the shared directory and the one of shims.
func (s *scoper) planHooks(p *plan, next *manifest, was, now *hookScope) error {
	for _, dir := range []string{now.Dir, shimDir(now.Dir)} {
		root := ""
		if s.w.getenv("CLAUDE_CONFIG_DIR") != "" {
			root = s.w.configDir
		}
		real, err := s.w.inside(dir, root)
		if err != nil {
			return err
		}
		if info, err := os.Stat(real); err == nil && (!info.IsDir() || foreignOwner(info)) {
			return cli.Exitf(cli.ExitRefused, "%s is not a directory of yours; nothing was changed", s.w.short(dir))
		}
	}
	recorderPath := next.Binaries[recorder].Path
	if s.source == "" || recorderPath == "" {
		var err error
		if recorderPath, err = s.installedProgram(next, recorder); err != nil {
			return err
		}
	}
	put := func(name string, b program, data []byte) error {
		b.SHA256 = ""
		if !b.Link {
			b.SHA256 = sum(data)
		}
		key, err := filepath.Rel(filepath.Dir(now.Dir), b.Path)
		if err != nil {
			return err
		}
		key = filepath.ToSlash(key)
		if _, err := os.Lstat(b.Path); err == nil && !b.holds() && !was.Files[key].holds() {
			return cli.Exitf(cli.ExitRefused, "%s is there already and not of this suite; move it away; nothing was changed", s.w.short(b.Path))
		}
		now.Files[key] = b
		return s.planFile(p, next, was.Files[key], b, data)
	}
	if now.Flavour == FlavourSimple {
		path := filepath.Join(now.Dir, "post-checkout")
		if err := put("post-checkout", program{Path: path, Mode: "0755"}, hookScript(recorderPath)); err != nil {
			return err
		}
	} else if err := s.planDispatcher(next, now, recorderPath, put); err != nil {
		return err
	}
	for _, key := range sortedKeys(was.Files) {
		if _, again := now.Files[key]; !again {
			p.changes = append(p.changes, removal(was.Files[key], "not part of this any more"))
		}
	}
	return nil
}

func (s *scoper) planDispatcher(next *manifest, now *hookScope, recorderPath string, put func(string, program, []byte) error) error {
	source := s.source
	if source == "" {
		var err error
		if source, err = s.installedProgram(next, githooks.Program); err != nil {
			return err
		}
	}
	data, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	// A copy and not a link: the sandbox can read this directory, not that one.
	program0 := executable(githooks.Program)
	if err := put(program0, program{Path: filepath.Join(now.Dir, program0), Mode: "0755"}, data); err != nil {
		return err
	}
	link := func(path, target string) error {
		if runtime.GOOS == "windows" { // links need a privilege there
			copied := data
			if base := filepath.Base(target); base != program0 {
				if copied, err = os.ReadFile(recorderPath); err != nil {
					return err
				}
			}
			return put(path, program{Path: path, Mode: "0755"}, copied)
		}
		return put(path, program{Path: path, Link: true, Target: target}, nil)
	}
	target := recorderPath
	if rel, err := filepath.Rel(now.Dir, recorderPath); err == nil && strings.HasPrefix(recorderPath, s.w.configDir+string(filepath.Separator)) {
		target = rel // stays right in a directory that moves between machines
	}
	if err := link(filepath.Join(now.Dir, executable(githooks.Recorder)), target); err != nil {
		return err
	}
	names := slices.Clone(githooks.Names)
	for _, name := range githooks.FrequentNames {
		_, err := os.Stat(filepath.Join(now.Chain, name))
		if now.AllHooks || now.Chain != "" && err == nil {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if err := link(filepath.Join(now.Dir, executable(name)), program0); err != nil {
			return err
		}
	}
	for _, name := range githooks.ShimNames() {
		up, err := filepath.Rel(shimDir(now.Dir), filepath.Join(now.Dir, program0))
		if err != nil {
			return err
		}
		if err := link(filepath.Join(shimDir(now.Dir), executable(name)), up); err != nil {
			return err
		}
	}
	if now.Chain != "" {
		return put(githooks.ChainFile, program{Path: filepath.Join(now.Dir, githooks.ChainFile), Mode: "0644"}, []byte(now.Chain+"\n"))
	}
	return nil
}

// refreshScope brings the shared directory up to date with an installation.
func (i *installer) refreshScope(p *plan, next *manifest) error {
	source := filepath.Join(i.o.Source, executable(githooks.Program))
	if next.Scope == nil || !regular(source) {
		return nil
	}
	was := next.Scope
	now := *was
	now.Files = map[string]program{}
	next.Scope = &now
	s := &scoper{runner: i.runner, o: ScopeOptions{Options: i.Options, Flavour: was.Flavour, AllHooks: was.AllHooks}, source: source}
	return s.planHooks(p, next, was, &now)
}

// planText records an edit in the scope's own layer.
func (s *scoper) planText(p *plan, next *manifest, now *hookScope, file, target string, before, after []byte, existed bool, diff, reason string) {
	if bytes.Equal(before, after) {
		if existed {
			p.changes = append(p.changes, change{Path: file, Action: "same", Reason: reason})
		}
		return
	}
	c := change{Path: file, Action: "changed", Diff: diff, Reason: reason, backup: true, sum: sum(after)}
	if !existed {
		c.Action = "new"
	}
	t := text{After: sum(after), Existed: existed, Created: []string{}}
	known, ok := now.Texts[file]
	original := ""
	switch {
	case ok && known.After == sum(before):
		t.Existed, t.Original = known.Existed, known.Original
	case ok:
		t.Existed = known.Existed
	case existed:
		t.Original = "scope-" + flatName(file)
		original = filepath.Join(s.w.state, "originals", t.Original)
	}
	now.Texts[file] = t
	// The installation's layer lies below this one.
	if below, ok := next.Texts[file]; ok && below.After == sum(before) {
		below.After = sum(after)
		next.Texts[file] = below
	}
	c.stage = s.replaceText(next, target, original, before, after, existed)
	p.changes = append(p.changes, c)
}

// tilde is a path as the client's settings spell it, for files that move
// between machines.
func (w *world) tilde(path string) string {
	if rest, ok := strings.CutPrefix(path, w.home+string(filepath.Separator)); ok {
		return "~/" + filepath.ToSlash(rest)
	}
	return path
}

// planAllowRead opens the shared directory to sandboxed commands. Git finds no
// hook in a directory that it cannot read, and then skips it without a word.
func (s *scoper) planAllowRead(p *plan, next *manifest, now *hookScope) error {
	file := filepath.Join(s.w.configDir, "settings.json")
	doc, existed, target, err := s.readSettings(file)
	if err != nil {
		return err
	}
	root, err := parseSettings(s.w.short(file), doc)
	if err != nil {
		return err
	}
	path := []string{"sandbox", "filesystem", "allowRead"}
	at := root
	for i, step := range path {
		want := settings.Object
		if at = at.Get(step); i == len(path)-1 {
			want = settings.Array
		}
		if at.Kind() == settings.Absent {
			break
		}
		if at.Kind() != want {
			return conflict(s.w.short(file), pointer(path[:i+1]), "is %s, not %s", at.Kind(), want)
		}
	}
	held := map[string]bool{}
	at.Each(func(_ string, n settings.Node) bool {
		text, _ := n.Text()
		held[filepath.Clean(expand(text, s.w.home, s.w.configDir))] = true
		return true
	})
	wanted := []string{now.Dir}
	if real, err := resolve(now.Dir); err == nil && real != now.Dir {
		wanted = append(wanted, real)
	}
	var edits []edit
	for _, dir := range wanted {
		if held[dir] {
			continue
		}
		entry := s.w.tilde(dir) + "/"
		edits = append(edits, edit{opAppend, path, jsonText(entry)})
		if !slices.Contains(now.AllowRead, entry) {
			now.AllowRead = append(now.AllowRead, entry)
		}
	}
	after, err := editJSON(s.w.short(file), doc, edits)
	if err != nil {
		return err
	}
	s.planText(p, next, now, file, target, doc, after, existed, unified(s.w.short(file), maskJSON(doc), maskJSON(after)),
		"sandboxed git must be able to read the hooks, or it skips them")
	return nil
}

// planShims puts the shims' directory first on PATH.
func (s *scoper) planShims(p *plan, next *manifest, now *hookScope) error {
	if now.Flavour == FlavourSimple {
		return nil
	}
	file, kind, ok := startFile(s.w.getenv, s.w.home, func(f string) bool { _, err := os.Lstat(f); return err == nil })
	if len(next.RC) > 0 {
		file, ok = next.RC[0], true
		kind = shellKindOf(file)
	}
	if now.RC != "" {
		file, kind, ok = now.RC, shellKindOf(now.RC), true
	}
	dir := shimDir(now.Dir)
	if !ok || s.o.NoRC && now.RC == "" {
		if kind == "" {
			kind = shellPOSIX
		}
		p.manual = append(p.manual, manualStep{block(kind, "", dir, s.w.home, false),
			"so that \"prek install\" and the like write into the repository, add this to your shell's start file:"})
		return nil
	}
	before, existed, target, err := s.readConfig(file, filepath.Dir(file))
	if err != nil {
		return err
	}
	at, found, err := findBlock(s.w.short(file), string(before))
	if err != nil {
		return err
	}
	prefix, alias := "", false
	if found && slices.Contains(next.RC, file) {
		prefix = next.Prefix
		alias = strings.Contains(string(before[at.start:at.end]), "\nalias claude=")
	}
	after, err := putBlock(s.w.short(file), string(before), block(kind, prefix, dir, s.w.home, alias))
	if err != nil {
		return err
	}
	now.RC = file
	s.planText(p, next, now, file, target, before, []byte(after), existed,
		unified(s.w.short(file), maskShell(before), maskShell([]byte(after))), "")
	return nil
}

// explain says what the change means, before anybody agrees to it.
func (s *scoper) explain(p *plan, now *hookScope, current hooksPath) {
	say := func(warn bool, format string, args ...any) {
		p.notes = append(p.notes, note{warn, fmt.Sprintf(format, args...)})
	}
	if now.Flavour == FlavourSimple {
		say(true, "every repository's own hooks fall silent: pre-commit, commit-msg, pre-push and all others, on the whole account; --flavour dispatcher keeps them running")
	} else {
		say(false, "every repository's own hooks keep running; one that sets core.hooksPath itself is not affected")
	}
	if now.Chain != "" {
		say(false, "the hooks in %s run before each repository's own", s.w.short(now.Chain))
	}
	if runtime.GOOS != "windows" {
		say(false, "a session that is running may have to be restarted before its sandbox can read the hooks")
	}
	if !current.set || !samePath(current.value, now.Dir) {
		p.typed = "Git will look for the hooks of all your repositories in " + s.w.short(now.Dir) + "."
	}
}

// verify looks at the disk and asks git again.
func (s *scoper) verify(now *hookScope) (checks []check) {
	add := func(ok bool, what, format string, args ...any) {
		mark := markPass
		if !ok {
			mark = markFail
		}
		checks = append(checks, check{mark, what, fmt.Sprintf(format, args...)})
	}
	current, err := s.hooksPath()
	switch {
	case err != nil:
		add(false, hooksPathKey, "%v", err)
	case !current.set || !samePath(current.value, now.Dir):
		add(false, hooksPathKey, "git uses %q: another file of its configuration, included behind this one, says so", current.value)
	default:
		add(true, hooksPathKey, "%s", s.w.short(now.Dir))
	}
	var broken []string
	for _, key := range sortedKeys(now.Files) {
		if _, err := os.Stat(now.Files[key].Path); err != nil || !now.Files[key].holds() {
			broken = append(broken, key)
		}
	}
	add(len(broken) == 0, "hooks", "%d files, not as they should be: %s", len(now.Files), listOr(broken, "none"))
	return checks
}

func listOr(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, ", ")
}

// undoScope takes the scope's edit out of a text. gone means that the file was
// made for it and is to be removed.
func (r *runner) undoScope(s *hookScope, file string, doc []byte) (after []byte, gone bool, err error) {
	if s == nil {
		return doc, false, nil
	}
	t, ok := s.Texts[file]
	if !ok {
		return doc, false, nil
	}
	if t.After == sum(doc) {
		if original, ok := r.original(t); ok {
			return original, !t.Existed, nil
		}
	}
	switch file {
	case s.Config:
		value, set, err := r.configValue(doc)
		if err != nil || !set || value != s.Dir {
			return doc, false, err // somebody else's by now
		}
		args := []string{"--unset-all", hooksPathKey}
		if s.Previous != nil {
			args = []string{"--replace-all", hooksPathKey, *s.Previous}
		}
		after, err := r.editConfig(doc, args...)
		return after, err == nil && !t.Existed && len(bytes.TrimSpace(after)) == 0, err
	case s.RC:
		at, found, err := findBlock(r.w.short(file), string(doc))
		if err != nil || !found {
			return doc, false, err
		}
		whole := string(doc[at.start:at.end])
		without := strings.Replace(whole, shimLines(shellKindOf(file), shimDir(s.Dir), r.w.home), "", 1)
		if without == blockBegin+"\n"+blockEnd+"\n" {
			without = ""
		}
		after := string(doc[:at.start]) + without + string(doc[at.end:])
		return []byte(after), !t.Existed && after == "", nil
	}
	after, err = r.dropAllowRead(s, file, doc)
	return after, err == nil && !t.Existed && emptyObject(after), err
}

// shimLines is what the shims add to a block.
func shimLines(kind shellKind, dir, home string) string {
	text := block(kind, "", dir, home, false)
	return strings.TrimSuffix(strings.TrimPrefix(text, blockBegin+"\n"), blockEnd+"\n")
}

// dropAllowRead takes out the entries that were added, and what that leaves
// empty.
func (r *runner) dropAllowRead(s *hookScope, file string, doc []byte) ([]byte, error) {
	root, err := parseSettings(r.w.short(file), doc)
	if err != nil {
		return nil, err
	}
	path := []string{"sandbox", "filesystem", "allowRead"}
	list := root.Get(path...)
	if list.Kind() != settings.Array {
		return doc, nil
	}
	var at []int
	i := 0
	list.Each(func(_ string, n settings.Node) bool {
		if text, ok := n.Text(); ok && slices.Contains(s.AllowRead, text) {
			at = append(at, i)
		}
		i++
		return true
	})
	var edits []edit
	for _, i := range slices.Backward(at) {
		edits = append(edits, edit{Op: opDelete, Path: append(slices.Clone(path), itoa(i))})
	}
	if len(at) > 0 && len(at) == list.Len() {
		edits = append(edits, edit{Op: opDelete, Path: path})
		for depth := 2; depth > 0 && root.Get(path[:depth]...).Len() == 1; depth-- {
			edits = append(edits, edit{Op: opDelete, Path: path[:depth]})
		}
	}
	return editJSON(r.w.short(file), doc, edits)
}

// originals names the files of old content that a manifest refers to.
func (m *manifest) originals() (names []string) {
	maps := []map[string]text{m.Texts}
	if m.Scope != nil {
		maps = append(maps, m.Scope.Texts)
	}
	for _, t := range each(maps) {
		if t.Original != "" && !slices.Contains(names, t.Original) {
			names = append(names, t.Original)
		}
	}
	slices.Sort(names)
	return names
}
