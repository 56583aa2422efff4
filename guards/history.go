package guards

import (
	"slices"
	"strings"

	"sallyport/internal/shellcmd"
)

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
