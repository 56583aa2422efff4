package guards

import (
	"slices"
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

// settings are all values of a key that can have several.
func (c *Call) settings(key string) []shellcmd.Word {
	var all []shellcmd.Word
	for _, line := range c.gitLines("config", "--get-all", key) {
		all = append(all, shellcmd.NewWord(line))
	}
	for _, e := range c.Earlier() {
		g := e.Git
		if g == nil || g.Name != "config" || len(g.Operands) < 2 || !strings.EqualFold(g.Operands[0].Value, key) {
			continue
		}
		if !g.On("add") && !g.On("append") {
			all = nil
		}
		all = append(all, g.Operands[1])
	}
	for _, s := range c.Git.Global.Config {
		if strings.EqualFold(s.Key, key) {
			all = append(all, s.Value)
		}
	}
	return all
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
	switch h := c.history(); h.head {
	case "":
		return c.git("symbolic-ref", "--quiet", "--short", "HEAD")
	case elsewhere:
		return "", false
	default:
		return h.head, true
	}
}

// A history is what the commands of the line did to a repository before a
// command, as far as a guard needs it.
type history struct {
	dir  string // of the command that asks
	head string // branch that a checkout or switch went to; empty: none did
	last string // the branch before that; empty: not known
	// unsure is set when a switch stands in a branch that need not be taken, or
	// the line does not tell where it leads.
	unsure bool
	// tips are branches that moved ("" is the branch that HEAD was on first): to
	// a revision as seen before the line, or to nowhere that is known.
	tips map[string]string
	// kept are branches whose commits the line put on another branch or on a
	// remote, by the command before, or nothing else of the line runs.
	kept map[string]bool
	gone map[string]bool // full names of refs that were deleted

	added     bool // all changes were staged
	stashed   bool // all changes of tracked files were stashed or committed
	untracked bool // untracked files were stashed or committed too
	popped    bool // a stash of before the line was taken out of the list
	// staged are the pathspecs of files that were staged and not committed.
	staged []string
	index  bool // the index was changed in another way
	others bool // another program ran that may have changed files
}

// maxHistories bounds the commands that are replayed for all histories of a
// line.
const maxHistories = 50_000

const (
	// moved is the tip of a branch that got commits which do not exist yet.
	moved = "\x00"
	// elsewhere is the head that is no branch, or one of unknown name.
	elsewhere = "\x01"
)

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
	h := &history{dir: c.Place.Dir, tips: map[string]string{}, kept: map[string]bool{}, gone: map[string]bool{}}
	memo[mk] = h
	n := 0
	for _, e := range c.Earlier() {
		switch {
		case e.Git == nil && e.GH == nil:
			h.others = h.others || !e.trivial()
			continue
		case !c.sameRepository(e) || e.Git != nil && e.Git.Help:
			continue
		}
		if n++; n > 50 {
			break
		}
		if c.run.steps--; c.run.steps < 0 {
			break
		}
		switch likely := c.happened(e); {
		case e.GH != nil:
			if likely != notDone && e.GH.Is("pr", "checkout") && !e.GH.Help {
				h.checkoutPR(e)
			}
		case likely >= done:
			h.step(e, likely == sure)
		case likely == perhaps && (e.Git.Name == "checkout" || e.Git.Name == "switch"):
			h.unsure = true
		}
	}
	return h
}

// sameRepository reports a command in the same work tree.
func (c *Call) sameRepository(e *Call) bool {
	if e.Place == c.Place {
		return true
	}
	if e.Place.Unknown || c.Place.Unknown || e.Place.GitDir+e.Place.WorkTree+c.Place.GitDir+c.Place.WorkTree != "" {
		return false
	}
	a, okA := c.run.world.Root(e.Place.Dir)
	b, okB := c.run.world.Root(c.Place.Dir)
	return okA && okB && a == b
}

// atRoot reports a command that runs in the root of its work tree, so that "."
// is all of it.
func (c *Call) atRoot() bool {
	root, ok := c.run.world.Root(c.Place.Dir)
	return !ok || clean(c.run.world.Resolve(c.Place.Dir)) == clean(c.run.world.Resolve(root))
}

// switchTo records that HEAD goes to a branch.
func (h *history) switchTo(e *Call, name string) {
	last := h.head
	if last == "" {
		last = elsewhere
		if b, ok := e.git("symbolic-ref", "--quiet", "--short", "HEAD"); ok {
			last = b
			if tip, ok := h.tips[""]; ok {
				h.tips[b] = tip
			}
		}
	}
	h.last, h.head, h.unsure = last, name, false
}

func (h *history) checkoutPR(e *Call) {
	name := elsewhere
	if f, ok := e.GH.Flag("branch"); ok && f.Value.Static {
		name = f.Value.Value
	}
	h.switchTo(e, name)
	h.tips[name] = moved
}

// move records that a branch points to rev, which HEAD in it does not change.
func (h *history) move(branch, rev string) {
	h.tips[branch] = rev
	switch {
	case rev == moved && branch == "":
		clear(h.kept) // the branch has a name too
	case rev == moved:
		delete(h.kept, branch)
	}
}

// revision is a revision of the line as seen before the line.
func (h *history) revision(rev string) string {
	if rev == "@" || strings.HasPrefix(rev, "@{") && h.head == "" {
		rev = "HEAD" + rev[1:]
	}
	rest, ok := strings.CutPrefix(rev, "HEAD")
	if !ok || rest != "" && !strings.Contains("~^@", rest[:1]) {
		if tip, ok := h.tips[rev]; ok && rev != "" {
			return tip
		}
		return rev
	}
	tip := h.tip(h.head)
	if tip == moved {
		return moved
	}
	return tip + rest
}

// step takes one more command into account. joined is set when what is asked
// about runs only if e succeeds.
func (h *history) step(e *Call, joined bool) {
	g := e.Git
	first := func() string {
		if len(g.Operands) > 0 && g.Dashes != 0 {
			return g.Operands[0].Value
		}
		return ""
	}
	switch g.Name {
	case "commit":
		if g.On("dry-run") || !joined && h.commitsNothing(e) {
			return
		}
		h.move(h.head, moved)
		h.stashed = h.stashed || g.On("all") || h.added
		h.untracked = h.untracked || h.added
		if len(g.Operands) == 0 {
			h.staged = nil
		}
	case "add", "stage":
		if g.On("dry-run") {
			return
		}
		everything := g.On("all") && len(g.Operands) == 0
		for _, w := range g.Operands {
			everything = everything || w.Value == ":/" || w.Value == "." && e.atRoot()
		}
		h.added = h.added || everything
		if !g.On("update") {
			if specs := pathspecs(e, 0); everything || specs == nil || e.Place.Dir != h.dir {
				h.staged = append(h.staged, ":/")
			} else {
				h.staged = append(h.staged, specs...)
			}
		}
	case "cherry-pick", "revert", "am":
		h.index = true
		if !g.On("no-commit") && !g.On("abort") && !g.On("quit") {
			h.move(h.head, moved)
		}
	case "reset":
		h.index = true
		if rev := first(); !g.On("soft") && g.Dashes < 0 && (len(g.Operands) == 0 || len(g.Operands) == 1 && e.isRevision(rev)) {
			h.staged = nil
		}
		if rev := first(); rev != "" && len(g.Operands) == 1 {
			h.move(h.head, h.revision(rev))
		}
	case "checkout", "switch":
		h.checkout(e, first())
	case "branch":
		h.branch(e)
	case "tag":
		if g.On("delete") {
			for _, w := range g.Operands {
				h.gone["refs/tags/"+w.Value] = true
			}
		} else if name := first(); name != "" && joined && !g.On("list") {
			h.keep(e, g.Operands[1:])
		}
	case "update-ref":
		if g.On("d") && first() != "" {
			h.gone[first()] = true
		}
	case "merge", "pull", "rebase":
		h.bring(e, joined)
	case "push":
		if joined && !g.On("dry-run") && !g.On("delete") {
			h.pushed(e)
		}
	case "stash":
		h.stash(e)
	case "rm", "restore":
		h.index = true
		if g.On("cached") || g.On("staged") && !g.On("worktree") {
			h.unstage(e)
		}
	case "mv", "apply", "update-index", "read-tree", "checkout-index":
		h.index = true
	}
}

// unstage takes back what the line staged.
func (h *history) unstage(e *Call) {
	for _, w := range e.Git.Operands {
		if w.Value == ":/" || w.Value == "." && e.atRoot() {
			h.staged = nil
		}
		h.staged = slices.DeleteFunc(h.staged, func(s string) bool { return s == w.Value })
	}
}

func (h *history) stash(e *Call) {
	g := e.Git
	switch g.Sub {
	case "push", "save":
		if g.On("staged") || g.On("patch") || g.On("pathspec-from-file") {
			return
		}
		if len(g.Operands) == 0 || g.Sub == "save" {
			h.stashed = true
			h.untracked = g.On("include-untracked") || g.On("all")
			h.staged = nil
		}
	case "pop", "branch":
		if h.stashed {
			h.stashed, h.untracked = false, false
		} else {
			h.popped = true
		}
		h.index = true
		if g.Sub == "branch" && len(g.Operands) > 0 {
			h.create(e, g.Operands[0].Value, "")
		}
	case "apply":
		h.index = true
	}
}

func (h *history) create(e *Call, name, start string) {
	if start == "" {
		start = "HEAD"
	}
	tip := h.revision(start)
	h.switchTo(e, name)
	h.move(name, tip)
}

// checkout follows HEAD to another branch.
func (h *history) checkout(e *Call, to string) {
	g := e.Git
	for _, name := range [...]string{"b", "B", "create", "force-create", "orphan"} {
		if o, ok := g.Opt(name); ok && o.Has {
			h.create(e, o.Value.Value, to)
			return
		}
	}
	if len(g.Operands) != 1 || g.Dashes == 0 {
		h.index = h.index || len(g.Operands) > 0
		return
	}
	if w := g.Operands[0]; !w.Static {
		if g.Name == "switch" || !w.Glob {
			h.switchTo(e, elsewhere)
			h.unsure = true
		}
		return
	}
	if g.On("detach") {
		tip := h.revision(to)
		h.switchTo(e, elsewhere)
		h.move(elsewhere, tip)
		return
	}
	if to == "-" || to == "@{-1}" {
		name := h.last
		if name == "" && h.head == "" {
			if ref, ok := e.git("rev-parse", "--symbolic-full-name", "@{-1}"); ok {
				name = strings.TrimPrefix(ref, "refs/heads/")
			}
		}
		if name == "" {
			name = elsewhere
		}
		h.switchTo(e, name)
		return
	}
	exists := func(ref string) bool {
		_, ok := e.git("show-ref", "--verify", "--quiet", ref)
		return ok
	}
	if g.On("track") {
		remote := strings.TrimPrefix(to, "refs/remotes/")
		if _, name, ok := strings.Cut(remote, "/"); ok {
			h.switchTo(e, name)
			if h.move(name, moved); exists("refs/remotes/" + remote) {
				h.move(name, "refs/remotes/"+remote)
			}
			return
		}
	}
	if _, ok := h.tips[to]; ok || exists("refs/heads/"+to) {
		h.switchTo(e, to)
		return
	}
	// git makes a branch of a remote's only branch of that name.
	for _, remote := range e.gitLines("remote") {
		if ref := "refs/remotes/" + remote + "/" + to; exists(ref) {
			h.switchTo(e, to)
			h.move(to, ref)
			return
		}
	}
	if _, ok := e.commit(to); ok {
		h.switchTo(e, elsewhere)
		h.move(elsewhere, to)
		return
	}
	if p, ok := e.Path(to); ok && g.Name == "checkout" && e.run.world.Stat(p).Exists {
		h.index = true
		return
	}
	// Only the remote knows it.
	h.switchTo(e, to)
	h.move(to, moved)
}

// branch follows what git branch does to refs.
func (h *history) branch(e *Call) {
	g := e.Git
	name := func(i int) string {
		if i < len(g.Operands) {
			return g.Operands[i].Value
		}
		return ""
	}
	switch {
	case g.On("delete") || g.On("D"):
		for _, w := range g.Operands {
			ref := "refs/heads/" + w.Value
			if g.On("remotes") {
				ref = "refs/remotes/" + w.Value
			}
			h.gone[ref] = true
		}
	case g.On("move") || g.On("M"):
		from, to := name(0), name(1)
		if to == "" {
			from, to = "", from
		}
		current := h.head
		if current == "" {
			current, _ = e.git("symbolic-ref", "--quiet", "--short", "HEAD")
		}
		if from == "" {
			from = current
		}
		if from == "" || to == "" {
			return
		}
		h.move(to, h.tip(from))
		h.gone["refs/heads/"+from] = true
		delete(h.gone, "refs/heads/"+to)
		if from == current {
			h.head = to
		}
	case len(g.Operands) > 0 && !g.On("list") && !g.On("merged") && !g.On("contains") && !g.On("set-upstream-to") && !g.On("unset-upstream"):
		start := name(1)
		if start == "" {
			start = "HEAD"
		}
		if _, ok := e.commit("refs/heads/" + name(0)); !ok || g.On("force") {
			h.move(name(0), h.revision(start))
		}
	}
}

// bring follows commits that merge, pull and rebase bring to the branch that
// HEAD is on.
func (h *history) bring(e *Call, joined bool) {
	g := e.Git
	for _, name := range [...]string{"abort", "quit", "continue", "skip", "edit-todo", "show-current-patch", "dry-run"} {
		if g.On(name) {
			return
		}
	}
	operands := g.Operands
	if g.Name == "rebase" && len(operands) > 1 {
		h.switchTo(e, operands[1].Value)
		operands = operands[:1]
	}
	h.index = true
	var from []string
	switch {
	case g.Name == "pull":
		remote := "origin"
		if len(operands) > 0 {
			remote = operands[0].Value
		}
		for _, w := range operands[min(1, len(operands)):] {
			src, _, _ := strings.Cut(strings.TrimPrefix(w.Value, "+"), ":")
			from = append(from, "refs/remotes/"+remote+"/"+strings.TrimPrefix(src, "refs/heads/"))
		}
	case len(operands) > 0:
		for _, w := range operands {
			from = append(from, w.Value)
		}
		if joined && !g.On("squash") && !g.On("no-commit") && !g.On("onto") {
			h.keep(e, operands)
		}
	}
	if o, ok := g.Opt("onto"); ok && g.Name == "rebase" {
		from = []string{o.Value.Value}
	}
	if len(from) == 0 {
		branch := h.head
		if branch == "" {
			branch, _ = e.git("symbolic-ref", "--quiet", "--short", "HEAD")
		}
		if ref, ok := e.git("rev-parse", "--symbolic-full-name", branch+"@{upstream}"); ok && branch != elsewhere {
			from = []string{ref}
		}
	}
	for _, rev := range from {
		// What is on the default branch leaves an empty branch empty.
		rev = h.revision(rev)
		if rev == moved {
			h.move(h.head, moved)
			continue
		}
		if has, known := e.over(rev); has || !known && g.Name == "merge" {
			h.move(h.head, moved)
		}
	}
}

// keep records branches whose commits another ref holds from here on.
func (h *history) keep(e *Call, words []shellcmd.Word) {
	for _, w := range words {
		name := strings.TrimPrefix(w.Value, "refs/heads/")
		if (name == "HEAD" || name == "@") && h.head != elsewhere {
			if name = h.head; name == "" {
				name, _ = e.git("symbolic-ref", "--quiet", "--short", "HEAD")
			}
		}
		if w.Static && name != "" && !strings.ContainsAny(name, "~^@") {
			h.kept[name] = true
		}
	}
}

// pushed records the branches that a push keeps on the remote.
func (h *history) pushed(e *Call) {
	p, ok := e.push()
	if !ok {
		return
	}
	for _, r := range p.refs {
		if !r.deletes && !r.dynamic && r.src != "" {
			h.keep(e, []shellcmd.Word{shellcmd.NewWord(r.src)})
		}
	}
}

// commitsNothing reports a commit that git refuses because nothing is staged.
func (h *history) commitsNothing(e *Call) bool {
	g := e.Git
	for _, name := range [...]string{"amend", "allow-empty", "patch", "interactive"} {
		if g.On(name) {
			return false
		}
	}
	if _, merging := e.commit("MERGE_HEAD"); merging || h.index {
		return false
	}
	all := g.On("all") || len(g.Operands) > 0 || g.On("pathspec-from-file")
	if !all && len(h.staged) == 0 && !h.added {
		out, ok := e.git("diff-index", "--cached", "--name-only", "HEAD")
		return ok && out == ""
	}
	if h.others {
		return false
	}
	out, ok := e.git("status", "--porcelain", "--untracked-files=normal")
	return ok && out == ""
}

// tip is the revision of a branch after the steps so far; "" is HEAD's.
func (h *history) tip(branch string) string {
	if rev, ok := h.tips[branch]; ok {
		return rev
	}
	switch branch {
	case "":
		return "HEAD"
	case elsewhere:
		return moved
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
	if specs := c.settings("remote." + p.remote + ".push"); len(specs) > 0 {
		var refs []refspec
		for _, w := range specs {
			refs = append(refs, parseRefspec(w))
		}
		return refs
	}
	if v, ok := c.setting("remote." + p.remote + ".mirror"); ok && Truthy(v) {
		p.mirror = true
		return nil
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
