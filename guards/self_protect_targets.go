package guards

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"sallyport/internal/shellcmd"
)

func tildeless(c *Call, w shellcmd.Word) string {
	text, _, unsure := c.spelled(w)
	if unsure {
		return ""
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok && c.home() != "" {
		return c.home() + "/" + rest
	}
	if text == "~" {
		return c.home()
	}
	return text
}

// targetPath is the absolute path of a target's text.
func (c *Call) targetPath(t target, text string) (string, bool) {
	if t.shell {
		return c.shellPath(text)
	}
	return c.Path(text)
}

// guarded says why a target must not be changed, with its name.
func (c *Call) guarded(t target) (why, name string) {
	w := *t.word
	if len(w.Parts) > 0 {
		if why, name := c.handedOn(w, t); why != "" {
			return why, name
		}
	}
	text := tildeless(c, w)
	if t.path != w.Value {
		// A file below the named directory.
		text = strings.TrimRight(text, "/") + t.path[len(strings.TrimRight(w.Value, "/")):]
	}
	if text == "" {
		return "", ""
	}
	if w.Glob || t.glob {
		return c.guardedPattern(text, t), text
	}
	p, ok := c.targetPath(t, text)
	if !ok {
		p = clean(text) // the directory is not known; the name may tell
	}
	return c.guardedPath(p, t, false), text
}

// guardedPattern says why the files that a pattern matches must not be changed.
func (c *Call) guardedPattern(text string, t target) string {
	text = slashed(text)
	// What stands before the first pattern is a directory like any other.
	first := strings.LastIndexByte(text[:strings.IndexAny(text+"*", "*?[")], '/') + 1
	dir, ok := c.targetPath(t, cmp.Or(text[:first], "."))
	if !ok {
		dir = clean(text[:first])
	}
	for _, p := range expanded(dir, clean(text[first:])) {
		if why := c.guardedPath(p, t, true); why != "" {
			return why
		}
	}
	return ""
}

// guardedPath is guarded for one clean path. matched is set where a pattern
// stands for it: then it is changed only if it is there.
func (c *Call) guardedPath(p string, t target, matched bool) string {
	whole := t.tree || t.effect == moves || t.effect == deletes && t.how == "rm"
	there := func() bool { return c.run.world.Stat(p).Exists }
	// What is copied, moved or linked to a name that is not there yet makes the
	// whole directory.
	whole = whole || !matched && t.effect == writes && t.path == t.word.Value && (c.replacesLink(t) || (t.how == "cp" || t.how == "mv" || t.how == "ln") && !there())
	// "dir/" as a source stands for what is in it.
	whole = whole || t.how == "rsync" && c.namesContents(*t.word)
	if matched && (whole || namesClient(base(p))) && !there() {
		if whole = false; namesClient(base(p)) {
			return ""
		}
	}
	if (t.effect == moves || t.effect == deletes && whole) && !c.run.plainName(p) {
		// What holds the product's own files goes with them.
		low := strings.ToLower(p)
		for _, h := range c.run.protectedPlaces().homes {
			if low != h.dir && within(h.config, low) && within(low, h.dir) {
				return "it holds this product's own configuration"
			}
		}
	}
	if why := c.run.protected(p, whole); why != "" {
		if (t.effect == writes && !t.tree && t.how != ">" && !c.replacesLink(t) && c.run.world.Stat(p).Dir) && base(p) == ".claude" && !hasTail(strings.ToLower(p), ".claude/settings.json") {
			return "" // into the directory: the name of the file decides
		}
		return why
	}
	if why := c.gitHook(p, t); why != "" {
		return why
	}
	if real, ok := c.linkedOnLine(p); ok {
		return c.run.protected(real, t.tree || t.effect == moves || t.effect == deletes)
	}
	return ""
}

// namesContents reports that a word other than w ends with a slash.
func (c *Call) namesContents(w shellcmd.Word) bool {
	if c.contents == nil {
		c.contents = []int{}
		for _, a := range c.Args[1:] {
			if strings.HasSuffix(a.Value, "/") && (len(c.contents) == 0 || c.contents[0] != a.Pos) {
				if c.contents = append(c.contents, a.Pos); len(c.contents) == 2 {
					break
				}
			}
		}
	}
	return slices.ContainsFunc(c.contents, func(pos int) bool { return pos != w.Pos })
}

// maxPipe bounds how far names are followed back through a pipe.
const maxPipe = 20

// handedOn looks at names that another command of the line hands on: in a
// substitution, through xargs, or by find -exec.
func (c *Call) handedOn(w shellcmd.Word, t target) (why, name string) {
	for _, part := range w.Parts {
		if part.Kind != shellcmd.Substitution {
			continue
		}
		if part.Text == "{}" && len(c.Via) > 0 {
			if f := c.findThatRuns(); f != nil {
				if why, name := c.foundBy(f, t); why != "" {
					return why, name
				}
			}
			continue
		}
		for _, from := range part.From {
			for n := 0; from != nil && n < maxPipe; from, n = from.Piped, n+1 {
				other := &Call{Command: from, run: c.run, Index: c.Index, name: from.Name()}
				other.Place = c.run.place(other)
				if len(w.Parts) > 1 {
					if other.lists() && w.Parts[0].Kind == shellcmd.Literal {
						// dir/$name of a listing: any name in that directory.
						text := w.Parts[0].Text + "*"
						return c.guardedPattern(text, t), text
					}
				} else if why, name := c.foundBy(other, t); why != "" {
					return why, name
				}
				if !other.passesNames() {
					break
				}
			}
		}
	}
	return "", ""
}

// findThatRuns is the find whose -exec runs c.
func (c *Call) findThatRuns() *Call {
	for i := c.Index - 1; i >= max(0, c.Index-maxPipe); i-- {
		e := c.run.calls[i]
		if len(e.Via) < len(c.Via) && strings.HasPrefix(c.Via[len(e.Via)].Name, e.name+" ") {
			return e
		}
	}
	return nil
}

// lists reports a command that prints names of files.
func (c *Call) lists() bool {
	switch c.name {
	case "ls", "find", "gfind", "bfs", "fd", "fdfind":
		return true
	}
	return false
}

// passesNames reports a filter that leaves some of the lines it reads.
func (c *Call) passesNames() bool {
	switch c.name {
	case "sort", "uniq", "head", "tail", "grep", "egrep", "fgrep", "rg", "tr", "cat", "tee", "tac", "shuf", "sed", "awk":
		return true
	}
	return false
}

// foundBy says why the files that f lists must not be changed.
func (c *Call) foundBy(f *Call, t target) (why, name string) {
	look := func(roots []shellcmd.Word, names []string, deep bool) (string, string) {
		for _, w := range roots {
			text := tildeless(f, w)
			if text == "" {
				continue
			}
			if w.Glob {
				if why := f.guardedPattern(text, target{word: &w, path: w.Value, effect: t.effect, tree: t.tree, how: t.how}); why != "" {
					return why, w.String()
				}
				continue
			}
			p, ok := f.Path(text)
			if !ok {
				p = clean(text)
			}
			if !deep {
				if why := c.guardedPath(p, t, false); why != "" {
					return why, w.String()
				}
				continue
			}
			for _, below := range protectedBelow(p) {
				if !matchesAny(names, base(below)) {
					continue
				}
				if why := c.guardedPath(below, t, false); why != "" {
					return why, below
				}
			}
			if why := c.run.protected(p, false); why != "" && (len(names) == 0 || !strings.EqualFold(base(p), ".claude")) {
				return why, w.String()
			}
		}
		return "", ""
	}
	switch f.name {
	case "ls", "realpath", "readlink":
		return look(f.parse("IwT").operands, nil, false)
	case "find", "gfind", "bfs":
		if namesProtected(f) {
			return "it binds the agent", "find"
		}
		return look(findStarts(f), foundNames(f), true)
	case "fd", "fdfind":
		if ops := f.parse("edEtjxX", "extension", "max-depth", "exclude", "type", "exec", "exec-batch").operands; len(ops) > 1 {
			return look(ops[1:], nil, true)
		}
	case "grep", "egrep", "fgrep", "ggrep", "rg", "ag", "ack":
		a := f.parse("efmABCdDgtT", "regexp", "file", "include", "exclude", "exclude-dir", "glob", "type")
		if !a.has("l", "L", "files-with-matches", "files-without-match", "files") {
			return "", ""
		}
		ops, names := a.operands, []string{}
		if !a.has("e", "f", "regexp", "file", "files") && len(ops) > 0 {
			ops = ops[1:]
		}
		for _, w := range a.values("include", "g", "glob") {
			names = append(names, w.Value)
		}
		if why, name := look(ops, nil, false); why != "" && len(names) == 0 {
			return why, name
		}
		return look(ops, names, true)
	case "git":
		ops := f.parse("Ce").operands
		for i, w := range ops {
			if w.Value == "ls-files" || w.Value == "grep" && f.parse("Ce").has("l", "files-with-matches", "name-only") {
				return look(ops[i+1:], nil, true)
			}
		}
	}
	return "", ""
}

// foundNames are the names that a find asks for.
func foundNames(c *Call) []string {
	var names []string
	args := c.Args[1:]
	for i, w := range args {
		if (w.Value == "-name" || w.Value == "-iname") && i+1 < len(args) && (i == 0 || args[i-1].Value != "!" && args[i-1].Value != "-not") {
			names = append(names, args[i+1].Value)
		}
	}
	return names
}

// protectedBelow are files that bind an agent and stand below p, where p is the
// directory of a client or of git's hooks.
func protectedBelow(p string) []string {
	var out []string
	low := strings.ToLower(p)
	for _, list := range [...][]string{clientFiles, gitHookFiles} {
		for _, f := range list {
			dir, rest, ok := strings.Cut(f, "/")
			if strings.HasPrefix(f, ".git/hooks/") {
				dir, rest = parent(f), base(f)
			}
			if !ok || rest == "" || !hasTail(low, dir) {
				continue
			}
			if strings.HasSuffix(rest, "/") {
				rest += "unknown"
			}
			out = append(out, p+"/"+rest)
		}
	}
	return out
}

// matchesAny reports a name that one of the patterns matches. Without patterns
// every name does; "unknown" is that of a hook or a rule, which is no prose.
func matchesAny(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
		pattern = strings.ToLower(base(pattern))
		if name == "unknown" {
			return !strings.HasSuffix(pattern, ".md") && !strings.HasSuffix(pattern, ".txt") && !strings.HasSuffix(pattern, ".jsonl")
		}
		ok, err := path.Match(pattern, strings.ToLower(name))
		return ok || err != nil
	})
}

// linkedOnLine is where a path leads by a symbolic link that an earlier command
// of the line makes.
func (c *Call) linkedOnLine(p string) (string, bool) {
	for _, l := range c.run.lineLinks() {
		if l.at < c.Index && within(p, l.link) {
			return clean(l.to + strings.TrimPrefix(p, l.link)), true
		}
	}
	return "", false
}

// A lineLink is a symbolic link that a command of the line makes.
type lineLink struct {
	link, to string // absolute
	at       int    // Index of the command
}

// maxLinks bounds the links of a line that are followed.
const maxLinks = 64

func (r *run) lineLinks() []lineLink {
	if r.linked {
		return r.links
	}
	r.linked = true
	for _, e := range r.calls {
		if e.name != "ln" || len(r.links) >= maxLinks {
			continue
		}
		a := e.parse("tS", "target-directory", "suffix")
		if len(a.operands) != 2 || !a.has("s", "symbolic") {
			continue
		}
		link, ok := e.Path(tildeless(e, a.operands[1]))
		to := tildeless(e, a.operands[0])
		if !ok || to == "" {
			continue
		}
		if !isAbs(to) {
			to = join(parent(link), to)
		}
		r.links = append(r.links, lineLink{link, to, e.Index})
	}
	return r.links
}

// replacesLink reports ln -n and -T, which put a link in the place of a
// directory's name.
func (c *Call) replacesLink(t target) bool {
	return t.how == "ln" && c.parse("tS", "target-directory", "suffix").has("n", "T", "no-dereference", "no-target-directory")
}

// gitHook says why a change to a git hook is one that disables it. A hook that
// is not there yet can be made.
func (c *Call) gitHook(p string, t target) string {
	dir := parent(p)
	hook := base(dir) == "hooks" && (base(parent(dir)) == ".git" || strings.Contains(dir, "/.git/"))
	if !hook && !(base(p) == "hooks" && base(dir) == ".git") {
		return ""
	}
	if t.effect == writes && !c.run.world.Stat(p).Exists {
		return ""
	}
	if t.effect == writes && base(p) == "hooks" {
		return ""
	}
	if strings.HasSuffix(p, ".sample") {
		return ""
	}
	if t.effect == modes {
		// Making a hook executable switches it on.
		for _, w := range c.Args[1:] {
			if strings.Contains(w.Value, "+x") || len(w.Value) >= 3 && strings.Trim(w.Value, "01234567") == "" && strings.ContainsAny(w.Value, "1357") {
				return ""
			}
		}
	}
	return "it is a hook that checks the project's commits"
}

// foundAndDeleted looks at what a find with -delete looks for, and where.
func foundAndDeleted(c *Call, fix string) []Finding {
	t := target{word: &c.Args[0], path: c.Args[0].Value, effect: deletes, how: "-delete"}
	why, name := c.foundBy(c, t)
	if why == "" {
		return nil
	}
	found := Quote("find") + " that deletes the agent's settings by their name"
	if name != "find" {
		found = Quote("find") + " with -delete changes " + Quote(name)
	}
	return []Finding{{Found: found, Why: why, Fix: fix, Words: []string{"-delete"}}}
}

// namesProtected reports a pattern of find that can only mean protected files.
// With -prune it may stand for what is left out.
func namesProtected(c *Call) bool {
	if slices.ContainsFunc(c.Args, func(w shellcmd.Word) bool { return w.Value == "-prune" }) && !deletesFound(c) {
		return false
	}
	for i, w := range c.Args[:len(c.Args)-1] {
		switch w.Value {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex":
			p := strings.ToLower(c.Args[i+1].Value)
			for _, part := range [...]string{".claude", "settings.local.json", "sallyport"} {
				if strings.Contains(p, part) && (i == 0 || c.Args[i-1].Value != "!" && c.Args[i-1].Value != "-not") {
					return true
				}
			}
		}
	}
	return false
}

func deletesFound(c *Call) bool {
	for _, w := range c.Args {
		if w.Value == "-delete" {
			return true
		}
	}
	return false
}
