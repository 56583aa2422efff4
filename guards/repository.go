package guards

import (
	"strings"

	"sallyport/internal/shellcmd"
)

// git asks the repository in which c runs. Answers about a place that is not
// known are unknown.
func (c *Call) git(args ...string) (string, bool) {
	if c.Place.Unknown {
		return "", false
	}
	out, ok := c.run.world.Git(c.Place, args...)
	return strings.TrimRight(out, "\n"), ok
}

// gitLines is git's answer in lines, none if it is unknown.
func (c *Call) gitLines(args ...string) []string {
	out, ok := c.git(args...)
	if !ok || out == "" {
		return nil
	}
	return strings.Split(out, "\n")
}

// setting is a configuration value for the command: from its own line, else
// from the repository.
func (c *Call) setting(key string) (string, bool) {
	if s, ok := c.Git.Global.Setting(key); ok {
		return s.Value.Value, s.Value.Static
	}
	earlier := c.Earlier()
	for i := len(earlier) - 1; i >= 0; i-- {
		if g := earlier[i].Git; g != nil && g.Name == "config" && len(g.Operands) == 2 && strings.EqualFold(g.Operands[0].Value, key) {
			return g.Operands[1].Value, g.Operands[1].Static
		}
	}
	return c.git("config", "--get", key)
}

// commit resolves a revision to the name of a commit.
func (c *Call) commit(rev string) (string, bool) {
	if rev == "" || strings.HasPrefix(rev, "-") {
		return "", false
	}
	return c.git("rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
}

// currentBranch is the branch that HEAD is on, as far as the line leaves it
// there.
func (c *Call) currentBranch() (string, bool) {
	if h := c.history(); h.head != "" {
		return h.head, true
	}
	return c.git("symbolic-ref", "--quiet", "--short", "HEAD")
}

// A history is what the commands of the line did to a repository before a
// command, as far as a guard needs it.
type history struct {
	head string // branch that a checkout or switch went to; empty: none did
	// tips are branches that moved ("" is the branch that HEAD was on first): to
	// a revision as seen before the line, or to nowhere that is known.
	tips      map[string]string
	added     bool // all changes were staged
	stashed   bool // all changes of tracked files were stashed or committed
	untracked bool // untracked files were stashed or committed too
}

// moved is the tip of a branch that got commits which do not exist yet.
const moved = "\x00"

// history replays the git commands that run before c in the same repository.
func (c *Call) history() *history {
	key := c.Place.Dir + "\x00" + c.Place.GitDir
	if key == "\x00" {
		key = "?"
	}
	memo := c.run.seq
	// A history is asked for by one command after the other: it is kept per
	// command, because later commands know more.
	mk := key + "\x00" + itoa(c.Index)
	if h, ok := memo[mk]; ok {
		return h
	}
	h := &history{tips: map[string]string{}}
	memo[mk] = h
	n := 0
	for _, e := range c.Earlier() {
		if e.Git == nil || e.Place != c.Place || e.Git.Help {
			continue
		}
		if n++; n > 50 {
			break
		}
		h.step(e)
	}
	return h
}

func (h *history) step(e *Call) {
	g := e.Git
	first := func() string {
		if len(g.Operands) > 0 && g.Dashes != 0 {
			return g.Operands[0].Value
		}
		return ""
	}
	create := func(name, start string) {
		if start == "" || start == "HEAD" {
			start = h.tip(h.head)
		}
		h.tips[name] = start
		h.head = name
	}
	switch g.Name {
	case "commit":
		if g.On("dry-run") {
			return
		}
		if !g.On("amend") {
			h.tips[h.head] = moved
		}
		h.stashed = h.stashed || g.On("all") || h.added
		h.untracked = h.untracked || h.added
	case "add", "stage":
		if g.On("dry-run") {
			return
		}
		everything := g.On("all")
		for _, w := range g.Operands {
			everything = everything || w.Value == "." || w.Value == ":/"
		}
		h.added = h.added || everything
	case "cherry-pick", "revert", "am":
		if !g.On("no-commit") && !g.On("abort") {
			h.tips[h.head] = moved
		}
	case "reset":
		if rev := first(); rev != "" && len(g.Operands) == 1 {
			h.tips[h.head] = rev
		}
	case "checkout", "switch":
		for _, name := range [...]string{"b", "B", "create", "force-create", "orphan"} {
			if o, ok := g.Opt(name); ok && o.Has {
				create(o.Value.Value, first())
				return
			}
		}
		if name := first(); name != "" && g.Dashes < 0 && len(g.Operands) == 1 {
			if _, ok := e.git("show-ref", "--verify", "--quiet", "refs/heads/"+name); ok {
				h.head = name
			}
		}
	case "branch":
		if g.On("force") && len(g.Operands) > 0 {
			start := h.tip(h.head)
			if len(g.Operands) > 1 {
				start = g.Operands[1].Value
			}
			h.tips[first()] = start
		}
	case "merge", "pull":
		// A fast-forward to the base leaves an empty branch empty.
		if name := first(); g.Name == "merge" && name != "" {
			if n, ok := e.over(name); !ok || n {
				h.tips[h.head] = moved
			}
		}
	case "stash":
		if (g.Sub == "push" || g.Sub == "save") && len(g.Operands) == 0 {
			h.stashed = true
			h.untracked = g.On("include-untracked") || g.On("all")
		}
	}
}

// tip is the revision of a branch after the steps so far; "" is HEAD's.
func (h *history) tip(branch string) string {
	if rev, ok := h.tips[branch]; ok {
		return rev
	}
	if branch == "" {
		return "HEAD"
	}
	return "refs/heads/" + branch
}

// baseRefs are the names under which the default branch may be known.
func (c *Call) baseRefs(remote string) []string {
	remotes := []string{"origin"}
	if remote != "" && remote != "origin" && !strings.ContainsAny(remote, ":/ \\") {
		remotes = append(remotes, remote)
	}
	var refs []string
	for _, r := range remotes {
		refs = append(refs, "refs/remotes/"+r+"/HEAD")
	}
	if name, ok := c.git("config", "--get", "init.defaultBranch"); ok && name != "" {
		for _, r := range remotes {
			refs = append(refs, "refs/remotes/"+r+"/"+name)
		}
	}
	for _, name := range [...]string{"main", "master"} {
		for _, r := range remotes {
			refs = append(refs, "refs/remotes/"+r+"/"+name)
		}
	}
	return append(refs, "refs/heads/main", "refs/heads/master")
}

// base is the default branch: the full name of a ref that exists. short is its
// name on the remote.
func (c *Call) base(remote string) (ref, short string, ok bool) {
	for _, r := range c.baseRefs(remote) {
		if _, exists := c.commit(r); !exists {
			continue
		}
		if strings.HasSuffix(r, "/HEAD") {
			if target, known := c.git("symbolic-ref", "--quiet", r); known {
				r = target
			}
		}
		short = strings.TrimPrefix(r, "refs/heads/")
		if rest, isRemote := strings.CutPrefix(r, "refs/remotes/"); isRemote {
			_, short, _ = strings.Cut(rest, "/")
		}
		return r, short, true
	}
	return "", "", false
}

// over reports whether rev has commits over the default branch.
func (c *Call) over(rev string) (bool, bool) {
	ref, _, ok := c.base("")
	if !ok {
		return false, false
	}
	return c.commitsOver(ref, rev)
}

func (c *Call) commitsOver(base, rev string) (has, ok bool) {
	id, ok := c.commit(rev)
	if !ok {
		return false, false
	}
	out, ok := c.git("rev-list", "--count", "--max-count=1", base+".."+id, "--")
	return out != "0", ok
}

func itoa(n int) string {
	if n == 0 {
		return "0"
	}
	var b [20]byte
	i := len(b)
	for ; n > 0; n /= 10 {
		i--
		b[i] = byte('0' + n%10)
	}
	return string(b[i:])
}

// A refspec is one source and destination of a push.
type refspec struct {
	force    bool
	src, dst string // dst is empty where the source names it
	dynamic  bool   // the source is not known
	deletes  bool
	matching bool // ":" alone
	text     string
}

func parseRefspec(w shellcmd.Word) refspec {
	r := refspec{text: w.String(), dynamic: !w.Static}
	s := w.Value
	r.force = strings.HasPrefix(s, "+")
	s = strings.TrimPrefix(s, "+")
	src, dst, colon := strings.Cut(s, ":")
	r.src, r.dst = src, dst
	switch {
	case colon && src == "" && dst == "" && !r.dynamic:
		r.matching = true
	case colon && src == "" && !r.dynamic:
		r.deletes = true
	}
	return r
}

// A push is what a git push sends.
type push struct {
	remote string
	forced bool // by an option
	leased bool // only by --force-with-lease
	refs   []refspec
	delete bool // --delete
	mirror bool
	dryRun bool
	option string // the words that force it
}

// push reads a git push: its options, its refspecs, and where it has none those
// of the configuration.
func (c *Call) push() (p push, ok bool) {
	g := c.Git
	if g == nil || g.Name != "push" && g.Name != "send-pack" || g.Help {
		return p, false
	}
	p.dryRun = g.On("dry-run")
	p.mirror = g.On("mirror")
	p.delete = g.On("delete")
	p.forced = g.On("force")
	if p.forced {
		o, _ := g.Opt("force")
		p.option = o.Text
	}
	if o, has := g.Opt("force-with-lease"); has && !o.Unset && !p.forced {
		p.forced, p.leased, p.option = true, true, o.Text
	}
	operands := g.Operands
	if o, has := g.Opt("repo"); has && len(operands) == 0 {
		p.remote = o.Value.Value
	}
	if len(operands) > 0 {
		p.remote = operands[0].Value
		operands = operands[1:]
	}
	for i := 0; i < len(operands); i++ {
		w := operands[i]
		if w.Value == "tag" && w.Static && i+1 < len(operands) {
			i++
			p.refs = append(p.refs, refspec{src: "refs/tags/" + operands[i].Value, dst: "refs/tags/" + operands[i].Value, text: "tag " + operands[i].Value})
			continue
		}
		r := parseRefspec(w)
		if p.delete {
			r = refspec{dst: strings.TrimPrefix(w.Value, "+"), deletes: true, text: w.String(), dynamic: !w.Static}
		}
		p.refs = append(p.refs, r)
	}
	if g.On("all") || g.On("branches") {
		p.refs = append(p.refs, c.allBranches()...)
		return p, true
	}
	if len(p.refs) > 0 || p.mirror || g.On("tags") || p.delete {
		return p, true
	}
	p.refs = c.defaultRefs(&p)
	return p, true
}

func (c *Call) allBranches() []refspec {
	var refs []refspec
	for _, name := range c.gitLines("for-each-ref", "--format=%(refname)", "refs/heads/") {
		refs = append(refs, refspec{src: name, dst: name, text: strings.TrimPrefix(name, "refs/heads/")})
	}
	return refs
}

// defaultRefs are what a push without refspecs sends: remote.<name>.push, else
// what push.default says.
func (c *Call) defaultRefs(p *push) []refspec {
	branch, onBranch := c.currentBranch()
	if p.remote == "" {
		p.remote = "origin"
		for _, key := range [...]string{"branch." + branch + ".pushremote", "remote.pushdefault", "branch." + branch + ".remote"} {
			if !onBranch && strings.HasPrefix(key, "branch.") {
				continue
			}
			if v, ok := c.setting(key); ok && v != "" {
				p.remote = v
				break
			}
		}
	}
	if lines := c.gitLines("config", "--get-all", "remote."+p.remote+".push"); len(lines) > 0 {
		var refs []refspec
		for _, l := range lines {
			refs = append(refs, parseRefspec(shellcmd.NewWord(l)))
		}
		return refs
	}
	mode, _ := c.setting("push.default")
	switch mode {
	case "nothing":
		return nil
	case "matching":
		return []refspec{{matching: true, text: ":"}}
	}
	if !onBranch {
		return nil // git refuses a detached HEAD
	}
	dst := "refs/heads/" + branch
	if mode == "upstream" || mode == "tracking" {
		if v, ok := c.setting("branch." + branch + ".merge"); ok {
			dst = v
		}
	}
	return []refspec{{src: "refs/heads/" + branch, dst: dst, text: branch}}
}

// target is the full name of the remote ref that r updates.
func (c *Call) target(r refspec) string {
	dst := r.dst
	if dst == "" {
		dst = r.src
		if dst == "HEAD" || dst == "@" || r.dynamic && dst == "" {
			branch, ok := c.currentBranch()
			if !ok {
				return ""
			}
			dst = branch
		}
	}
	if strings.HasPrefix(dst, "refs/") {
		return dst
	}
	if _, ok := c.git("show-ref", "--verify", "--quiet", "refs/tags/"+dst); ok && r.dst == "" {
		if _, ok := c.git("show-ref", "--verify", "--quiet", "refs/heads/"+dst); !ok {
			return "refs/tags/" + dst
		}
	}
	return "refs/heads/" + strings.TrimPrefix(dst, "heads/")
}
