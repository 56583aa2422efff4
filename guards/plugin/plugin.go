// Package plugin loads guards from files, so that guards come and go without a
// change of the wiring.
//
// A file is declarative (*.toml), Starlark (*.star) or Python (*.py, with the
// contract of Apache Magpie's contributed guards). [Load] finds the files and
// learns their triggers from their text; nothing is parsed further, and no
// interpreter started, until a command that a trigger names is judged. What is
// judged, trusted and run is the text that was read once.
//
// A guard of this package can warn, ask or deny, never allow. One that does not
// load, crashes, loops or takes longer than its limit has no opinion, unless
// [Options.OnError] says what a failure is worth; it never disturbs the others.
// Starlark and Python run in a process of their own, which is killed with all
// it started. That keeps mistakes away from the hook; it is no sandbox: a
// Python guard can do what the person who installed it can.
package plugin

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sallyport/guards"
	"sallyport/guards/plugin/script"
	"sallyport/internal/gitdir"
	"sallyport/internal/trust"
)

// Limits of plugins. A variable is one that a test makes shorter.
var (
	// guardLimit is the time that one guard may use for all commands of a line,
	// the start of its interpreter included.
	guardLimit = 10 * time.Second
	// totalLimit is the time that all guards of a line may use together. Some
	// clients give a hook 30 seconds and then run the command; half of them belong
	// to what guards ask of git and gh.
	totalLimit = 11 * time.Second
	// Behind guards that used it up the others get a little each, lateLimit in
	// sum, so that a guard in order is asked all the same.
	leastLimit = 250 * time.Millisecond
	lateLimit  = 2 * time.Second
)

const (
	maxFile  = 256 << 10 // bytes of one file
	maxFiles = 200       // files of one directory
	maxDir   = 4 << 20   // bytes of one directory
	maxName  = 64

	maxNesting = 200 // of brackets in a rule
)

// Options are what [Load] has to know.
type Options struct {
	ConfigDir string // the product's configuration directory; may be empty
	StateDir  string // its state directory; may be empty
	Dir       string // directory in which the command starts
	// Executable is the running program: guards.d beside it is searched, and the
	// program that runs Starlark stands there too.
	Executable string
	Environ    []string // of the hook

	// OnError is what a failing guard answers; Pass: nothing.
	OnError guards.Verdict
	// ReadyLabel is what ctx.ready_label gives; empty: the variable
	// MAGPIE_READY_LABEL or its documented default.
	ReadyLabel string

	Debugf func(format string, args ...any)
}

func (o *Options) lookup(name string) (string, bool) {
	for i := len(o.Environ) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(o.Environ[i], "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

func (o *Options) getenv(name string) string {
	v, _ := o.lookup(name)
	return v
}

func (o *Options) debugf(format string, args ...any) {
	if o.Debugf != nil {
		o.Debugf(format, args...)
	}
}

// A Problem is a file or directory that does not count, with the reason.
type Problem struct {
	Path string
	Text string
}

func (p Problem) String() string { return p.Path + ": " + p.Text }

// A Set is the guards that were found for one command line. It is not safe for
// concurrent use.
type Set struct {
	Guards   []*guards.Guard
	Problems []Problem
	// Untrusted are directories inside the project whose guards do not count
	// until a person trusts them.
	Untrusted []string

	files    []*file
	opts     Options
	store    trust.Store
	sessions [2]*session
	started  int
	spent    time.Duration
}

// Load finds the guards that hold for o.Dir. A missing directory is normal and
// costs one look; everything else that does not count stands in Problems.
func Load(o Options, bundled []*guards.Guard) *Set {
	s := &Set{opts: o, store: trust.In(o.StateDir)}
	s.discover()
	s.name(bundled)
	for _, f := range s.files {
		s.Guards = append(s.Guards, f.guard)
	}
	return s
}

// NextLine begins a new line: time is counted anew, and a guard that failed is
// asked again.
func (s *Set) NextLine() {
	s.spent = 0
	for _, f := range s.files {
		f.spent = 0
		if f.kind != declarative {
			f.failed = nil
		}
	}
}

// OnError sets what a failing guard answers; at first it is nothing.
func (s *Set) OnError(v guards.Verdict) { s.opts.OnError = v }

// None reports whether there is no directory that could hold a guard, which is
// quicker to find out than what such directories hold.
func None(o Options) bool {
	for _, variable := range guardDirVariables {
		if o.getenv(variable) != "" {
			return false
		}
	}
	for _, dir := range o.projectDirs() {
		if hasProjectGuards(dir) {
			return false
		}
	}
	for _, dir := range o.ownDirs() {
		if _, err := os.Lstat(dir); err == nil {
			return false
		}
	}
	return true
}

var guardDirVariables = [...]string{"AGENT_GUARD_DIRS", "MAGPIE_GUARD_DIRS"}

// projectDirs are the directories whose repository may bring guards: where the
// command starts, and where the session did, whose guards hold wherever an agent
// has gone since.
func (o *Options) projectDirs() []string {
	dirs := []string{o.Dir}
	if d := o.getenv("CLAUDE_PROJECT_DIR"); d != "" && d != o.Dir {
		dirs = append(dirs, d)
	}
	return dirs
}

// ownDirs are the person's directory and the one beside the program.
func (o *Options) ownDirs() []string {
	var dirs []string
	if o.ConfigDir != "" {
		dirs = append(dirs, filepath.Join(o.ConfigDir, "guards.d"))
	}
	if o.Executable != "" {
		exe := o.Executable
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		dirs = append(dirs, filepath.Join(filepath.Dir(exe), "guards.d"))
	}
	return dirs
}

// Close ends the interpreters. They would start again with the next line.
func (s *Set) Close() {
	for i, ss := range s.sessions {
		if ss != nil {
			ss.kill()
			s.sessions[i] = nil
		}
	}
	s.spent = totalLimit
}

// A kind is a form of guard.
type kind int

const (
	star kind = iota // these two index Set.sessions
	python
	declarative
)

func (k kind) String() string { return [...]string{"star", "py", "toml"}[k] }

func kindOf(name string) (kind, bool) {
	if strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
		return 0, false
	}
	switch filepath.Ext(name) {
	case ".star":
		return star, true
	case ".py":
		return python, true
	case ".toml":
		return declarative, true
	}
	return 0, false
}

// A file is one guard file.
type file struct {
	path string
	kind kind
	data []byte

	guard     *guards.Guard
	name      string // as the file has it
	triggers  []string
	overrides []string // of a declarative file
	// loose is set when the triggers could not be learnt from the text: the
	// guard then looks at git and gh, and the interpreter decides.
	loose bool
	// failed is set once the guard failed; it is not asked again.
	failed error
	rule   *rule // of a declarative file, after the first use
	loaded int   // the session that holds it
	spent  time.Duration
	ran    bool // judged a command without a failure
}

// contractPrograms are the commands that a guard without triggers looks at, as
// the contract of contributed guards has it.
var contractPrograms = []string{"git", "gh"}

// head learns name and triggers from the text.
func (f *file) head() {
	f.name = strings.TrimSuffix(filepath.Base(f.path), "."+f.kind.String())
	if f.kind == declarative {
		name, triggers, overrides, err := ruleHead(f.data)
		if name != "" {
			f.name = name
		}
		f.triggers, f.overrides = triggers, overrides
		if err != nil {
			f.failed = err
		}
		return
	}
	triggers, found, literal := script.Triggers(string(f.data))
	switch {
	case literal && len(triggers) > 0:
		f.triggers = triggers
	case !found || literal:
		f.triggers = contractPrograms
	default:
		f.triggers, f.loose = contractPrograms, true
	}
}

// programs are the commands that a list of triggers wants to see; nil is every
// command.
func programs(triggers []string) []string {
	var out []string
	for _, t := range triggers {
		p, _, _ := strings.Cut(t, ":")
		if p == "*" {
			return nil
		}
		if p != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return contractPrograms
	}
	return out
}

// kinds are the triggers that name a call: its program, and its program and
// subcommand.
func kinds(c *guards.Call) []string {
	switch {
	case c.Git != nil:
		return []string{"*", "git", "git:" + c.Git.Name}
	case c.GH != nil:
		k := []string{"*", "gh"}
		if len(c.GH.Command) > 0 {
			k = append(k, "gh:"+c.GH.Command[0])
		}
		return k
	}
	k := []string{"*", c.Name()}
	for _, w := range c.Args[1:] {
		if !strings.HasPrefix(w.Value, "-") {
			k = append(k, c.Name()+":"+w.Value)
			break
		}
	}
	return k
}

func triggered(triggers []string, c *guards.Call) bool {
	for _, k := range kinds(c) {
		if slices.Contains(triggers, k) {
			return true
		}
	}
	return false
}

// name gives every guard a name of its own. A name that a bundled guard or an
// earlier file has gets a number, so that no file replaces or silences another
// guard, and both are asked.
func (s *Set) name(bundled []*guards.Guard) {
	taken := map[string]bool{"all": true}
	for _, g := range bundled {
		taken[g.Name] = true
	}
	for _, f := range s.files {
		base := guardName(f.name)
		if base == "" {
			base = "guard"
		}
		name := base
		for n := 2; taken[name]; n++ {
			name = base + "-" + strconv.Itoa(n)
		}
		taken[name] = true
		f.guard = &guards.Guard{
			Name:      name,
			Title:     "guard from " + filepath.Base(f.path),
			Default:   guards.Deny,
			Programs:  programs(f.triggers),
			Overrides: f.overrides,
			Source:    f.path,
		}
		if f.failed != nil && len(f.triggers) == 0 {
			f.guard.Programs = nil // nobody knows what it would have looked at
		}
		f.guard.Check = func(c *guards.Call) []guards.Finding { return s.check(f, c) }
	}
}

// guardName makes a name of lower case letters, digits and single hyphens.
func guardName(s string) string {
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < maxName; i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteByte(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimRight(b.String(), "-")
}

// discover reads the directories in their order.
func (s *Set) discover() {
	o := &s.opts
	seen := map[string]bool{}
	add := func(dir string, trusted bool, repo *gitdir.Repo) {
		if !trusted && !s.store.Has(trust.KeyOf(repo, dir)) {
			// Nobody trusts it, so there is nothing to read.
			if fi, err := os.Lstat(dir); err == nil && (fi.IsDir() || fi.Mode()&os.ModeSymlink != 0) && !slices.Contains(s.Untrusted, dir) {
				s.Untrusted = append(s.Untrusted, dir)
			}
			return
		}
		files, problems, ok := readDir(dir, !trusted)
		if !ok {
			return
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || seen[real] {
			return
		}
		seen[real] = true
		if !trusted && (len(files) > 0 || len(problems) > 0) {
			if len(problems) > 0 || !s.store.Trusted(trust.KeyOf(repo, dir), files) {
				s.Problems = append(s.Problems, problems...)
				s.Untrusted = append(s.Untrusted, dir)
				return
			}
		}
		s.Problems = append(s.Problems, problems...)
		for _, tf := range files {
			k, ok := kindOf(tf.Name)
			if !ok {
				continue
			}
			f := &file{path: filepath.Join(dir, tf.Name), kind: k, data: tf.Data}
			f.head()
			s.files = append(s.files, f)
		}
	}
	project := func() {
		for _, dir := range o.projectDirs() {
			if !hasProjectGuards(dir) {
				continue
			}
			if repo, ok := gitdir.Find(dir, nil); ok && repo.Root != "" {
				add(ProjectGuards(repo.Root), false, &repo)
			}
		}
	}
	own := o.ownDirs()
	if o.ConfigDir != "" {
		add(own[0], true, nil)
		own = own[1:]
	}
	project()
	for _, dir := range own {
		add(dir, true, nil)
	}
	for _, variable := range guardDirVariables {
		list := o.getenv(variable)
		if list == "" {
			continue
		}
		repo, inRepo := gitdir.Find(o.Dir, nil)
		for _, dir := range filepath.SplitList(list) {
			if dir == "" {
				continue
			}
			if !filepath.IsAbs(dir) {
				s.Problems = append(s.Problems, Problem{dir, variable + " must name absolute directories: a relative one would be the agent's"})
				continue
			}
			// A project can set variables for the session, so a directory of its
			// own is code that a clone brought.
			if inRepo && repo.Root != "" && inside(dir, repo.Root) {
				add(dir, false, &repo)
			} else {
				add(dir, true, nil)
			}
		}
	}
}

// ProjectGuards is the directory of a repository's own guards.
func ProjectGuards(root string) string { return filepath.Join(root, ".sallyport", "guards.d") }

// hasProjectGuards looks for a project's guards above dir, at the price of one
// look a directory.
func hasProjectGuards(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	if guardsAbove(dir) {
		return true
	}
	// A directory that is reached through a symbolic link has other parents than
	// it seems.
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && real != filepath.Clean(dir) && guardsAbove(real)
}

func guardsAbove(dir string) bool {
	for range 100 {
		if _, err := os.Lstat(ProjectGuards(dir)); err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return false
}

func inside(path, root string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}
