package guards

import (
	"fmt"
	"slices"
	"strings"

	"sallyport/internal/ghcmd"
	"sallyport/internal/gitcmd"
	"sallyport/internal/shellcmd"
)

// An Input is one question to the guards.
type Input struct {
	Command string
	Dialect shellcmd.Dialect
	Dir     string // absolute directory in which the command starts
	Project string // root of the session's project; empty: the work tree of Dir
	// Self are paths of the product's own files that self-protect adds to the
	// ones it knows.
	Self []string

	// Writes are files that a tool of the client is about to change.
	Writes []Write

	// Getenv is the environment of the hook, and so, as far as it is known, of
	// the command.
	Getenv func(name string) (string, bool)

	Options map[string]string // "guard.option" → value
	Levels  Levels

	// Unattended makes every ask a deny.
	Unattended bool
	// Inline says what an override inside the command itself is worth.
	Inline InlineOverride
}

// Levels are the verdicts that the configuration sets for guards.
type Levels struct {
	// User replaces a guard's own verdict; Off in it switches a guard off.
	User map[string]Level
	// Repository can only make a verdict stronger, or switch a guard on.
	Repository map[string]Level
}

// A Level is a configured verdict.
type Level int

// Levels. Unset leaves a guard as it is.
const (
	Unset Level = iota
	LevelOff
	LevelWarn
	LevelAsk
	LevelDeny
)

// ParseLevel reads a level as the configuration spells it.
func ParseLevel(s string) (Level, bool) {
	switch s {
	case "off":
		return LevelOff, true
	case "warn":
		return LevelWarn, true
	case "ask":
		return LevelAsk, true
	case "deny":
		return LevelDeny, true
	}
	return Unset, false
}

func (l Level) String() string {
	return [...]string{"default", "off", "warn", "ask", "deny"}[l]
}

func (l Level) verdict() Verdict {
	return [...]Verdict{Pass, Pass, Warn, Ask, Deny}[l]
}

// An InlineOverride is what an override is worth that the agent itself can
// write.
type InlineOverride int

// Inline overrides.
const (
	InlineAllow InlineOverride = iota
	InlineAsk                  // a person confirms it
	InlineIgnore
)

// Enabled reports whether a guard looks at all.
func (l Levels) Enabled(g *Guard) bool {
	if r := l.Repository[g.Name]; r > LevelOff {
		return true
	}
	if u := l.User[g.Name]; u != Unset {
		return u != LevelOff
	}
	return !g.Off
}

// Apply turns a finding's verdict into the one that counts.
func (l Levels) Apply(g *Guard, v Verdict) Verdict {
	if u := l.User[g.Name]; u > LevelOff {
		v = u.verdict()
	}
	return max(v, l.Repository[g.Name].verdict())
}

// A Result is one finding with what became of it.
type Result struct {
	Guard   *Guard
	Call    *Call // nil for a write
	Write   *Write
	Finding Finding
	// Verdict is what counts after configuration, overrides and uncertainty.
	Verdict Verdict
	// Override names the variable that let the command pass, if one did.
	Override string
	Inline   bool // the override stands in the command itself
}

// A Report is what the guards say about a line.
type Report struct {
	Line    *shellcmd.Line
	Calls   []*Call
	Results []Result
	// Verdict is the strongest of the results'.
	Verdict Verdict
	Input   *Input
	Guards  []*Guard // those that were switched on
	// Failures say which guards panicked, and with what.
	Failures []string

	seen map[string]bool
}

type run struct {
	in    *Input
	world World
	calls []*Call
	slab  []Call // for the next ones
	seq   map[string]*history

	texts int // bytes of text that may still be read; below 0: there was more
	steps int // of histories that may still be taken; below 0: there were more
	// unseen is set where something else was too much to be looked at.
	unseen bool

	sequence *sequence // of the line that was asked about last; see happened

	lastPath, lastDir string // most commands of a line run in one directory

	// programs are the names of all commands of the line.
	programs map[string]bool

	// What follows is filled on first use, so that the cost of a long line
	// stays linear.
	home     *string                    // as the environment names it; nil: not asked yet
	homes    []string                   // lower case, links resolved
	realHome []string                   // home, as given and with links resolved
	temps    []string                   // temporary directories
	root     string                     // of the session's project
	realRoot string                     // with links resolved
	places   *protectedPlaces           // see there
	protects map[protectedPath]string   // answers of protected
	far      map[string]bool            // see plainName
	scratch  []string                   // see bindsNobody; nil: not asked yet
	links    []lineLink                 // symbolic links that the line makes
	linked   bool                       // links is filled
	feeding  map[*shellcmd.Command]bool // commands whose output a git command reads
}

type protectedPath struct {
	path string
	tree bool
}

// has reports whether a command of one of these names is in the line.
func (r *run) has(match func(name string) bool) bool {
	if r.programs == nil {
		r.programs = map[string]bool{}
		for _, c := range r.calls {
			r.programs[c.name] = true
		}
	}
	for name := range r.programs {
		if match(name) {
			return true
		}
	}
	return false
}

func (r *run) env(name string) (string, bool) {
	if r.in.Getenv == nil {
		return "", false
	}
	return r.in.Getenv(name)
}

// maxNested bounds how deep git's own nested commands are followed.
const (
	maxNested = 4
	maxCalls  = 200_000
)

// Run judges in with the guards that are switched on.
func Run(in *Input, all []*Guard, world World) *Report {
	r := &run{in: in, world: world, seq: map[string]*history{}, texts: maxTexts + 4*len(in.Command), steps: maxHistories}
	rep := &Report{Input: in}
	for _, g := range all {
		if in.Levels.Enabled(g) {
			rep.Guards = append(rep.Guards, g)
		}
	}
	if in.Command != "" {
		r.contain(rep, "the parser", func() {
			rep.Line = shellcmd.Parse(in.Command, shellcmd.Options{
				Dir: in.Dir, Dialect: in.Dialect, Env: in.Getenv, FS: world,
			})
			r.add(rep.Line.Commands, nil, nil, 0)
		})
		if rep.Line == nil {
			rep.Line = &shellcmd.Line{Source: in.Command, Limited: true}
		}
	}
	rep.Calls = r.calls
	for _, g := range rep.Guards {
		if g.CheckLine == nil || rep.Line == nil {
			continue
		}
		r.contain(rep, g.Name, func() {
			for _, f := range g.CheckLine(rep.Line) {
				rep.add(r.result(g, nil, f))
			}
		})
	}
	for _, c := range r.calls {
		if c.trivial() {
			continue
		}
		for _, g := range rep.Guards {
			if g.Check == nil || !wants(g, c) {
				continue
			}
			r.contain(rep, g.Name, func() {
				for _, f := range g.Check(c) {
					rep.add(r.result(g, c, f))
				}
			})
		}
	}
	for i := range in.Writes {
		w := &in.Writes[i]
		w.run = r
		for _, g := range rep.Guards {
			if g.CheckWrite == nil {
				continue
			}
			r.contain(rep, g.Name, func() {
				for _, f := range g.CheckWrite(w) {
					rep.add(r.result(g, nil, f))
				}
			})
		}
	}
	r.judgeUnseen(rep)
	slices.SortStableFunc(rep.Results, func(a, b Result) int { return int(b.Verdict) - int(a.Verdict) })
	return rep
}

// contain runs a part of the judgement. Where it panics the other parts are no
// less true, and what it did not see is asked about.
func (r *run) contain(rep *Report, part string, f func()) {
	defer func() {
		if v := recover(); v != nil {
			rep.Failures = append(rep.Failures, fmt.Sprintf("%s: %v", part, v))
		}
	}()
	f()
}

// judgeUnseen asks about a line of which a part could not be looked at: what
// stands in that part may lose work, and no guard has said so.
func (r *run) judgeUnseen(rep *Report) {
	f := Finding{Verdict: Ask, Why: "what it does cannot be told for sure", Fix: "Split it into several commands"}
	world, bounded := r.world.(interface{ Exhausted() bool })
	switch {
	case rep.Verdict > Pass:
		return
	case len(rep.Failures) > 0:
		f.Found = "a command that could not be read to its end"
	case r.texts < 0 || r.steps < 0 || r.unseen || bounded && world.Exhausted():
		f.Found = "a line that asks for more of files and repositories than is looked at for one command"
	default:
		return
	}
	for _, g := range rep.Guards {
		if g.Name == Destructive.Name {
			rep.add(r.result(g, nil, f))
			return
		}
	}
	if rep.Line != nil {
		rep.Line.Limited = true
	}
}

// maxTexts bounds what is read of the messages and files that a line names, in
// bytes: thousands of commands can name the same large one. A line may hold a
// few times its own length besides.
const maxTexts = 4 << 20

// readText takes a text into account. It reports false if the line has read
// more than enough.
func (r *run) readText(size int) bool {
	if r.texts >= 0 {
		r.texts -= size
	}
	return r.texts >= 0
}

// maxResults bounds the findings that are kept; of more only those count that
// are stronger than all before.
const maxResults = 200

func (rep *Report) add(res Result) {
	key := res.Guard.Name + "\x00" + res.Finding.Found + "\x00" + res.Override + "\x00" + res.Verdict.String()
	if rep.seen[key] || len(rep.Results) >= maxResults && res.Verdict <= rep.Verdict {
		return
	}
	if rep.seen == nil {
		rep.seen = map[string]bool{}
	}
	rep.seen[key] = true
	rep.Results = append(rep.Results, res)
	rep.Verdict = max(rep.Verdict, res.Verdict)
}

// holdsFile reports a word that holds the content of a file, as in $(<file).
func holdsFile(w shellcmd.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p shellcmd.Part) bool { return p.Kind == shellcmd.Other && p.Text != "" })
}

// trivial reports a command that no guard can object to, whatever its words
// are: it prints or does nothing. Long lines are made of them.
func (c *Call) trivial() bool {
	if len(c.Redirs) > 0 {
		return false
	}
	switch c.name {
	case "echo", "printf":
		return !slices.ContainsFunc(c.Args, holdsFile)
	case "true", "false", ":", "cd", "pwd", "sleep", "exit", "test", "[", "break", "continue", "return", "shift", "wait":
		return true
	}
	return false
}

// add turns commands into calls, and follows what git runs itself.
func (r *run) add(commands []*shellcmd.Command, outer []shellcmd.Assign, via []string, depth int) {
	for _, cmd := range commands {
		if len(r.calls) >= maxCalls {
			return
		}
		if len(outer) > 0 {
			with := *cmd
			with.Assigns = append(slices.Clip(slices.Clone(outer)), cmd.Assigns...)
			cmd = &with
		}
		if len(r.slab) == 0 {
			r.slab = make([]Call, min(4+len(r.calls), 256))
		}
		c := &r.slab[0]
		r.slab = r.slab[1:]
		*c = Call{Command: cmd, run: r, via: via, Index: len(r.calls), name: cmd.Name()}
		c.Place = r.place(c)
		r.calls = append(r.calls, c)
		switch name := c.name; {
		case gitcmd.IsGit(name):
			c.Git = gitcmd.Parse(cmd.Args, cmd.Assigns, func(g *gitcmd.Global, name string) (string, bool) {
				if v, ok := c.aliasOfLine(name); ok {
					return v, true
				}
				c.placeGit(g)
				if v, ok := gitcmd.Alias(c.fileSettings(g), name); ok {
					return v, true
				}
				return r.config(c.Place, "alias."+name)
			})
			c.placeGit(&c.Git.Global)
			if files := c.fileSettings(&c.Git.Global); len(files) > 0 {
				// Weaker than what stands on the line itself.
				c.Git.Global.Config = append(files, c.Git.Global.Config...)
			}
			if depth >= maxNested {
				continue
			}
			for _, n := range c.Git.Nested() {
				dir := c.Place.Dir
				if root, ok := r.world.Root(dir); ok && c.Git.Shell != "" {
					dir = root
				}
				line := shellcmd.Parse(n.Text, shellcmd.Options{Dir: dir, Dialect: shellcmd.POSIX, Env: r.in.Getenv, FS: r.world})
				sub := line.Commands
				for _, s := range sub {
					s.Inexact = s.Inexact || cmd.Inexact
					s.Remote, s.Container = s.Remote || cmd.Remote, s.Container || cmd.Container
					if !isAbs(s.Dir.Path) {
						s.Dir.Path = join(dir, s.Dir.Path)
					}
					s.Dir.Unknown = s.Dir.Unknown || c.Place.Unknown
				}
				r.add(sub, cmd.Assigns, append(slices.Clone(via), n.Via), depth+1)
			}
		case c.readsScript():
			// A script that stood on disk before the line and comes on standard
			// input: the text of the line alone does not show it.
			if text, ok := c.input(); ok && depth < maxNested && text != "" && strings.IndexByte(text[:min(len(text), 512)], 0) < 0 {
				line := shellcmd.Parse(text, shellcmd.Options{Dir: c.baseDir(), Dialect: shellcmd.Bash, Env: r.in.Getenv, FS: r.world})
				for _, s := range line.Commands {
					s.Inexact = s.Inexact || cmd.Inexact
				}
				r.add(line.Commands, cmd.Assigns, append(slices.Clone(via), name+" on standard input"), depth+1)
			}
		case name == "gh":
			c.GH = ghcmd.Parse(cmd.Args, func(name string) (string, bool) {
				if v, ok := c.ghAliasOfLine(name); ok {
					return v, true
				}
				return r.world.GHAlias(name)
			})
			if c.GH.Shell != "" && depth < maxNested {
				line := shellcmd.Parse(c.GH.Shell, shellcmd.Options{Dir: c.baseDir(), Dialect: shellcmd.POSIX, Env: r.in.Getenv, FS: r.world})
				r.add(line.Commands, cmd.Assigns, append(slices.Clone(via), "gh alias "+c.GH.Alias), depth+1)
			}
		}
	}
}

// readsScript reports a shell that runs its standard input, where the line does
// not tell what that is.
func (c *Call) readsScript() bool {
	kind, ok := interpreter(c.name)
	if !ok || kind != "shell" || c.Stdin.Known || c.Remote || c.Container || c.name == "eval" || c.name == "source" || c.name == "." {
		return false
	}
	operands, inline := scriptWords(c, c.name)
	return len(operands)+len(inline) == 0
}

// maxConfigFiles bounds the files that the line makes git read.
const maxConfigFiles = 8

// fileSettings are the settings in files that the line makes git read, as far
// as their content is known.
func (c *Call) fileSettings(g *gitcmd.Global) []gitcmd.Setting {
	var all []gitcmd.Setting
	for i, f := range g.ConfigFiles(c.Assigns) {
		if i >= maxConfigFiles {
			break
		}
		name := f.Value
		if rest, ok := strings.CutPrefix(name.Value, "~/"); ok && c.home() != "" {
			name = shellcmd.NewWord(join(c.home(), rest))
		}
		if text, _ := c.ReadFile(name); text != "" {
			all = append(all, gitcmd.ParseConfig(text, f.From)...)
		}
	}
	return all
}

// ghAliasOfLine is an alias that an earlier gh alias set of the line makes.
func (c *Call) ghAliasOfLine(name string) (string, bool) {
	earlier := c.Earlier()
	for i := len(earlier) - 1; i >= 0; i-- {
		g := earlier[i].GH
		if g == nil || !g.Is("alias", "set") || len(g.Operands) < 2 || g.Operands[0].Value != name {
			continue
		}
		text, _ := earlier[i].text(g.Operands[1])
		if g.Operands[1].Value == "-" {
			text, _ = earlier[i].input()
		}
		if g.On("shell") && !strings.HasPrefix(text, "!") {
			text = "!" + text
		}
		return text, true
	}
	return "", false
}

// aliasOfLine is an alias that an earlier command of the line configures.
func (c *Call) aliasOfLine(name string) (string, bool) {
	earlier := c.Earlier()
	for i := len(earlier) - 1; i >= 0; i-- {
		g := earlier[i].Git
		if g == nil || g.Name != "config" || len(g.Operands) < 2 {
			continue
		}
		if strings.EqualFold(g.Operands[0].Value, "alias."+name) {
			return g.Operands[1].Value, true
		}
	}
	return "", false
}

// place is where a command other than git runs.
func (r *run) place(c *Call) Place {
	if r.lastDir == "" || r.lastPath != c.Dir.Path {
		r.lastPath, r.lastDir = c.Dir.Path, clean(join(r.in.Dir, c.Dir.Path))
	}
	p := Place{Dir: r.lastDir, Unknown: c.Dir.Unknown || c.Remote || c.Container}
	if !isAbs(p.Dir) {
		p.Unknown = true
	}
	return p
}

// placeGit finds out where a git command runs, and the directory that its names
// of files are relative to, as the shell would name it: that of -C, or the work
// tree's root where git is started outside of it.
func (c *Call) placeGit(g *gitcmd.Global) {
	c.Place = c.run.gitPlace(c, g)
	c.own, c.lost = "", false
	for _, d := range g.Dirs {
		if !d.Static {
			c.own, c.lost = "", true
			return
		}
		c.own = join(c.own, d.Value)
	}
	if tree := c.Place.WorkTree; tree != "" && g.WorkTree.Static && !c.Dir.Unknown && !within(c.Place.Dir, tree) {
		c.own = tree
	}
}

// gitPlace adds git's own options and variables.
func (r *run) gitPlace(c *Call, g *gitcmd.Global) Place {
	p := r.place(c)
	for _, d := range g.Dirs {
		if !d.Static {
			p.Unknown = true
			return p
		}
		p.Dir = clean(join(p.Dir, d.Value))
	}
	if g.GitDir != nil {
		p.Unknown = p.Unknown || !g.GitDir.Static
		p.GitDir = clean(join(p.Dir, g.GitDir.Value))
	}
	if g.WorkTree != nil {
		p.Unknown = p.Unknown || !g.WorkTree.Static
		p.WorkTree = clean(join(p.Dir, g.WorkTree.Value))
	}
	return p
}

// config is a value of the configuration that governs a place.
func (r *run) config(at Place, key string) (string, bool) {
	if at.Unknown {
		return "", false
	}
	out, ok := r.world.Git(at, "config", "--get", key)
	return strings.TrimSuffix(out, "\n"), ok
}

func wants(g *Guard, c *Call) bool {
	if len(g.Programs) == 0 {
		return true
	}
	switch {
	case c.Git != nil:
		return slices.Contains(g.Programs, "git")
	case c.GH != nil:
		return slices.Contains(g.Programs, "gh")
	}
	return slices.Contains(g.Programs, c.name)
}

// result settles what a finding is worth.
func (r *run) result(g *Guard, c *Call, f Finding) Result {
	res := Result{Guard: g, Call: c, Finding: f, Verdict: f.Verdict}
	if res.Verdict == Pass {
		res.Verdict = g.Default
	}
	res.Verdict = r.in.Levels.Apply(g, res.Verdict)
	if c != nil && c.Inexact {
		// Text that no parser accepts is split by guesswork: enough to ask,
		// not enough to refuse.
		res.Verdict = min(res.Verdict, Ask)
	}
	res.Override, res.Inline = r.override(g, c, f.Overrides)
	switch {
	case res.Override == "":
	case !res.Inline || r.in.Inline == InlineAllow:
		res.Verdict = Pass
	case r.in.Inline == InlineAsk:
		res.Verdict = min(res.Verdict, Ask)
	}
	if r.in.Unattended && res.Verdict == Ask {
		res.Verdict = Deny
	}
	return res
}
