package guards

import (
	"slices"
	"strconv"
	"strings"

	"sallyport/internal/shellcmd"
)

// A loss is a finding of the destructive guard about a git command.
func loss(words, what, why, fix string) []Finding {
	return []Finding{{Found: Quote(words) + " " + what, Why: why, Fix: fix, Words: strings.Fields(words)}}
}

const stashFirst = "Keep them first with `git stash` or a commit"

// gitLoss looks at git commands that lose work, by the state of the repository
// they will run in.
func gitLoss(c *Call) []Finding {
	g := c.Git
	if g.Help {
		return nil
	}
	switch g.Name {
	case "reset":
		if g.On("hard") || g.On("merge") {
			opt := "--hard"
			if !g.On("hard") {
				opt = "--merge"
			}
			return c.dropsChanges("git reset "+opt, everything, nil)
		}
	case "checkout":
		return c.checkout()
	case "switch":
		if g.On("force") || g.On("discard-changes") {
			return c.dropsChanges("git switch --discard-changes", everything, nil)
		}
	case "restore":
		if g.On("patch") {
			return nil
		}
		if g.On("staged") && !g.On("worktree") {
			return nil
		}
		which := unstaged
		switch {
		case g.On("staged"):
			which = everything
		case g.On("source"):
			which = allChanges
		}
		return c.dropsChanges("git restore", which, pathspecs(c, 0))
	case "read-tree":
		if g.On("reset") && g.On("u") {
			return c.dropsChanges("git read-tree --reset -u", everything, nil)
		}
	case "checkout-index":
		if g.On("force") {
			return c.dropsChanges("git checkout-index -f", unstaged, pathspecs(c, 0))
		}
	case "rm":
		if g.On("force") && !g.On("cached") && !g.On("dry-run") {
			return c.dropsChanges("git rm -f", everything, pathspecs(c, 0))
		}
	case "clean":
		return c.clean()
	case "stash":
		if g.Sub == "drop" || g.Sub == "clear" {
			return c.stashLoss()
		}
	case "branch":
		return c.branchLoss()
	case "push", "send-pack":
		return c.pushLoss()
	case "update-ref":
		return c.refLoss()
	case "reflog":
		if g.Sub != "expire" && g.Sub != "delete" && g.Sub != "drop" || g.On("dry-run") || g.On("n") {
			return nil
		}
		if !c.Place.Unknown {
			if _, ok := c.git("rev-parse", "--git-dir"); !ok {
				return nil
			}
		}
		return loss("git reflog "+g.Sub, "removes the record of where branches were", "commits that only the reflog knows cannot be found again", "Let git expire it by itself; `git reflog` shows what is in it")
	case "gc":
		return c.gcLoss()
	case "prune":
		at, given := g.Opt("expire")
		if g.On("dry-run") || given && !atOnce(at.Value) || c.outsideGit() || c.ownRepository() {
			return nil
		}
		return pruneLoss("git prune")
	case "worktree":
		if g.Sub == "remove" && g.On("force") {
			return c.worktreeLoss()
		}
	case "filter-branch", "filter-repo":
		if g.Name == "filter-repo" && (g.On("analyze") || g.On("dry-run") || g.On("version")) {
			return nil
		}
		return loss("git "+g.Name, "rewrites the history", "every branch and clone that holds the old commits parts from it", "Work on a fresh clone, and let a person decide")
	case "submodule":
		if g.Sub == "deinit" && g.On("force") {
			return c.dropsChanges("git submodule deinit --force", allChanges, nil)
		}
	}
	return nil
}

// A changeSet selects the changes that a command drops.
type changeSet int

const (
	allChanges changeSet = iota // against HEAD, staged or not
	everything                  // and files that only the index knows
	unstaged                    // against the index
)

// gcLoss looks at a git gc that keeps nothing of what was dropped.
func (c *Call) gcLoss() []Finding {
	g := c.Git
	words := "git gc"
	o, given := g.Opt("prune")
	switch {
	case given && o.Unset, c.outsideGit(), c.ownRepository():
		return nil
	case given && o.Has:
		if !atOnce(o.Value) {
			return nil
		}
		words += " --prune=" + o.Value.Value
	default:
		now := false
		for _, key := range [...]string{"gc.pruneexpire", "gc.reflogexpireunreachable"} {
			if v, ok := c.setting(key); ok && atOnce(shellcmd.NewWord(v)) {
				now = true
			}
		}
		if !now {
			return nil
		}
	}
	return pruneLoss(words)
}

func pruneLoss(words string) []Finding {
	return loss(words, "deletes unreachable objects at once", "commits and stashes that were dropped by mistake cannot be recovered", "Run `git gc` alone: it keeps them for two weeks")
}

// atOnce reports an expiry date that spares nothing.
func atOnce(w shellcmd.Word) bool {
	switch w.Value {
	case "now", "all":
		return true
	}
	return !w.Static
}

// dropsChanges reports the changes of tracked files that a command would
// overwrite. paths limits them; nil is everything.
func (c *Call) dropsChanges(command string, which changeSet, paths []string) []Finding {
	const why = "uncommitted changes do not come back"
	h := c.history()
	if h.popped {
		if out, ok := c.git("stash", "list", "--format=%gd"); ok && out != "" && !h.stashed {
			return loss(command, "would drop what the same line takes out of the stash", why, stashFirst)
		}
	}
	var changed, added []string
	if which == everything && len(h.staged) > 0 {
		added = c.stagedByLine(h.staged, paths)
	}
	if !h.stashed {
		var known bool
		changed, known = c.changes(which, paths)
		if !known && len(added) == 0 {
			if c.outsideGit() || c.madeByLine() {
				return nil
			}
			return loss(command, "drops uncommitted changes, and the state of the repository is not known", why, stashFirst)
		}
	}
	switch {
	case len(changed) > 0:
		return loss(command, "would drop "+count(changed, "modified file"), why, stashFirst)
	case len(added) > 0:
		return loss(command, "would delete "+count(added, "file")+", which no commit holds", why, stashFirst)
	}
	return nil
}

// stagedByLine are files that no commit knows and that the line stages: from
// then on git deletes them with the changes.
func (c *Call) stagedByLine(staged, paths []string) []string {
	list := func(specs []string) []string {
		out, _ := c.git(append([]string{"ls-files", "--others", "--exclude-standard", "-z", "--"}, specs...)...)
		return split0(out)
	}
	files := list(staged[:min(len(staged), 500)])
	if len(files) == 0 || len(paths) == 0 {
		return files
	}
	dropped := map[string]bool{}
	for _, f := range list(paths) {
		dropped[f] = true
	}
	return slices.DeleteFunc(files, func(f string) bool { return !dropped[f] })
}

// madeByLine reports a repository or worktree that does not exist before the
// line: what is in it comes from elsewhere.
func (c *Call) madeByLine() bool {
	kind, _ := c.maker()
	return kind != ""
}

// ownRepository is madeByLine for commands that change what the worktrees of a
// repository share.
func (c *Call) ownRepository() bool {
	kind, _ := c.maker()
	return kind == "clone" || kind == "init"
}

// maker says how the line makes the repository that c runs in, and by which
// command.
func (c *Call) maker() (kind string, by *Call) {
	if c.Place.GitDir != "" || c.Place.WorkTree != "" || c.Remote || c.Container {
		return "", nil
	}
	if c.Place.Unknown {
		// A new directory holds what the line puts there.
		switch dirs := c.Git.Global.Dirs; {
		case len(dirs) == 0 && c.Dir.Temporary:
		case len(dirs) == 1 && inNewDir(dirs[0]):
		default:
			return "", nil
		}
	} else if c.Place.Dir == "" || c.run.world.Stat(c.Place.Dir).Exists {
		return "", nil
	}
	earlier := c.Earlier()
	for i := len(earlier) - 1; i >= 0; i-- {
		e := earlier[i]
		kind, dir := e.makes()
		if kind == "" {
			continue
		}
		if c.Place.Unknown {
			if kind == "worktree" && inNewDir(e.Git.Operands[0]) {
				return kind, e
			}
			continue
		}
		if p := join(e.Place.Dir, dir); !e.Place.Unknown && isAbs(p) && within(c.Place.Dir, p) && !c.run.world.Stat(p).Exists {
			return kind, e
		}
	}
	if c.Place.Unknown {
		return "init", nil // a copy, or nothing at all
	}
	return "", nil
}

// inNewDir reports a path in a directory that mktemp made on the line.
func inNewDir(w shellcmd.Word) bool {
	if len(w.Parts) == 0 || strings.Contains(w.Value, "..") {
		return false
	}
	for i, p := range w.Parts {
		switch {
		case i == 0 && (len(p.From) != 1 || p.From[0].Name() != "mktemp"), i > 0 && p.Kind != shellcmd.Literal:
			return false
		}
	}
	return true
}

// makes is the directory of a repository or worktree that a command makes.
func (c *Call) makes() (kind, dir string) {
	operands := []shellcmd.Word(nil)
	switch g := c.Git; {
	case c.GH != nil && c.GH.Is("repo", "clone"):
		kind, operands = "clone", c.GH.Operands
	case g == nil || g.Help:
		return "", ""
	case g.Name == "clone":
		kind, operands = "clone", g.Operands
	case g.Name == "init":
		if len(g.Operands) == 0 {
			return "init", "."
		}
		return "init", g.Operands[0].Value
	case g.Name == "worktree" && g.Sub == "add" && len(g.Operands) > 0:
		return "worktree", g.Operands[0].Value
	}
	switch len(operands) {
	case 0:
		return "", ""
	case 1:
		url := strings.TrimSuffix(strings.TrimRight(operands[0].Value, "/"), "/.git")
		if i := strings.LastIndexAny(url, "/:"); i >= 0 {
			url = url[i+1:]
		}
		return kind, strings.TrimSuffix(url, ".git")
	}
	return kind, operands[1].Value
}

// changes lists the changed tracked files.
func (c *Call) changes(which changeSet, paths []string) ([]string, bool) {
	if c.Place.Unknown {
		return nil, false
	}
	args := []string{"diff-files", "--name-only", "--ignore-submodules=dirty", "-z"}
	if which != unstaged {
		args = []string{"diff-index", "--name-only", "--ignore-submodules=dirty", "-z", "HEAD"}
		if _, ok := c.commit("HEAD"); !ok {
			args = []string{"ls-files", "-z", "--cached"} // nothing committed yet: all of it
		}
	}
	if len(paths) > 0 {
		args = append(append(args, "--"), paths...)
	}
	out, ok := c.git(args...)
	if !ok {
		return nil, false
	}
	return c.reallyChanged(split0(out)), true
}

// reallyChanged leaves out files whose time changed and whose content did not:
// the index is not refreshed, so that no lock is taken.
func (c *Call) reallyChanged(files []string) []string {
	if len(files) == 0 || len(files) > 200 {
		return files
	}
	out, ok := c.git("status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty")
	if !ok {
		return files
	}
	if out == "" {
		return nil
	}
	var kept []string
	for _, f := range files {
		if strings.Contains(out, " "+f+"\x00") || strings.Contains(out, f+"\x00") || strings.HasSuffix(out, " "+f) {
			kept = append(kept, f)
		}
	}
	return kept
}

func split0(s string) []string {
	s = strings.TrimRight(s, "\x00\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// count writes "3 modified files: a.go, b.go, c.go".
func count(files []string, noun string) string {
	n := len(files)
	text := strconv.Itoa(n) + " " + noun
	if n != 1 {
		text += "s"
	}
	shown := files[:min(n, 3)]
	text += ": " + strings.Join(shown, ", ")
	if n > len(shown) {
		text += ", …"
	}
	return text
}

// outsideGit reports a place that is known to be in no repository: git would
// refuse the command there.
func (c *Call) outsideGit() bool {
	if c.Place.Unknown || c.Place.GitDir != "" {
		return false
	}
	if !c.run.world.Stat(c.Place.Dir).Dir {
		return false // a directory that an earlier command makes, or another system's path
	}
	_, ok := c.run.world.Root(c.Place.Dir)
	if ok {
		return false
	}
	_, ok = c.git("rev-parse", "--git-dir")
	return !ok
}

// pathspecs are the operands from the n-th on; nil where one is not known, so
// that everything counts.
func pathspecs(c *Call, from int) []string {
	g := c.Git
	if g.On("pathspec-from-file") {
		return nil
	}
	var out []string
	for i, w := range g.Operands {
		if i < from {
			continue
		}
		if !w.Static && !w.Glob || w.Value == "" {
			return nil
		}
		out = append(out, w.Value)
	}
	return out
}

func (c *Call) checkout() []Finding {
	g := c.Git
	if g.On("patch") {
		return nil
	}
	const cmd = "git checkout"
	creates := g.On("b") || g.On("B") || g.On("orphan") || g.On("detach") || g.On("track")
	switch {
	case g.Dashes >= 0 && g.Dashes < len(g.Operands):
		which := unstaged
		if g.Dashes > 0 || g.On("force") {
			which = allChanges
		}
		if g.Dashes > 0 && g.Operands[0].Value == "HEAD" {
			which = allChanges
		}
		return c.dropsChanges(cmd+" -- "+joinWords(c, g.Dashes), which, pathspecs(c, g.Dashes))
	case g.On("force"):
		return c.dropsChanges(cmd+" --force", everything, nil)
	case g.On("pathspec-from-file"):
		return c.dropsChanges(cmd+" --pathspec-from-file", unstaged, nil)
	case creates || g.On("merge") && len(g.Operands) < 2 || len(g.Operands) == 0:
		return nil
	}
	// Without "--" the first operand is a branch or revision if there is one of
	// that name, else a path.
	from, which := 0, unstaged
	first := g.Operands[0]
	if first.Value == "-" || first.Static && c.isRevision(first.Value) || !first.Static && !first.Glob {
		from, which = 1, allChanges
	}
	if from >= len(g.Operands) {
		return nil // switches the branch: git refuses to overwrite changes
	}
	return c.dropsChanges(cmd+" "+joinWords(c, from), which, pathspecs(c, from))
}

func (c *Call) isRevision(name string) bool {
	_, ok := c.commit(name)
	return ok
}

func joinWords(c *Call, from int) string {
	var out []string
	for _, w := range c.Git.Operands[from:] {
		out = append(out, w.String())
	}
	return strings.Join(out, " ")
}

func (c *Call) clean() []Finding {
	g := c.Git
	if g.On("dry-run") || g.On("interactive") {
		return nil
	}
	if !g.On("force") {
		s, ok := c.setting("clean.requireforce")
		if !ok || Truthy(s) {
			return nil // git refuses
		}
	}
	if c.history().untracked && !g.On("x") && !g.On("X") {
		return nil
	}
	args := []string{"clean", "-n"}
	for _, o := range g.Options {
		switch o.Name {
		case "d", "x", "X":
			args = append(args, "-"+o.Name)
		case "exclude":
			args = append(args, "-e", o.Value.Value)
		}
	}
	if n := len(g.All("force")); n > 1 {
		args = append(args, "-f", "-f")
	}
	args = append(args, "--")
	args = append(args, pathspecs(c, 0)...)
	const why = "files that no commit holds do not come back"
	const fix = "List them with `git clean -nd` and delete the ones you mean by name"
	out, known := c.git(args...)
	if !known {
		if c.outsideGit() || c.madeByLine() {
			return nil
		}
		return loss("git clean", "deletes untracked files, and the state of the repository is not known", why, fix)
	}
	var files []string
	for line := range strings.SplitSeq(out, "\n") {
		if name, ok := strings.CutPrefix(line, "Would remove "); ok {
			files = append(files, name)
		}
	}
	files = c.withFiles(files)
	if len(files) == 0 {
		return nil
	}
	return loss("git clean", "would delete "+count(files, "untracked path"), why, fix)
}

// maxEmpty bounds the directories that are looked into.
const maxEmpty = 200

// withFiles leaves out directories that hold no file.
func (c *Call) withFiles(paths []string) []string {
	var dirs []string
	for _, p := range paths {
		if strings.HasSuffix(p, "/") {
			dirs = append(dirs, p)
		}
	}
	if len(dirs) == 0 || len(dirs) > maxEmpty {
		return paths
	}
	out, ok := c.git(append([]string{"--literal-pathspecs", "ls-files", "--others", "-z", "--"}, dirs...)...)
	if !ok {
		return paths
	}
	full := map[string]bool{}
	for _, f := range split0(out) {
		for i := range len(f) {
			if f[i] == '/' {
				full[f[:i+1]] = true
			}
		}
	}
	return slices.DeleteFunc(paths, func(p string) bool { return strings.HasSuffix(p, "/") && !full[p] })
}

func (c *Call) stashLoss() []Finding {
	g := c.Git
	const why = "a dropped stash is hard to find again"
	const fix = "Look at it with `git stash list`, and apply it or make it a branch first"
	out, known := c.git("stash", "list", "--format=%gd: %s")
	if !known {
		if c.outsideGit() || c.ownRepository() {
			return nil
		}
		return loss("git stash "+g.Sub, "drops stashed work, and the state of the repository is not known", why, fix)
	}
	stashed := c.history().stashed
	if out == "" {
		if !stashed {
			return nil
		}
		return loss("git stash "+g.Sub, "drops what the same line stashes", why, fix)
	}
	lines := strings.Split(out, "\n")
	if g.Sub == "drop" {
		ref := "0"
		if len(g.Operands) > 0 {
			ref = strings.TrimSuffix(strings.TrimPrefix(g.Operands[0].Value, "stash@{"), "}")
		}
		for _, l := range lines {
			if strings.HasPrefix(l, "stash@{"+ref+"}") {
				lines = []string{l}
				break
			}
		}
		if n, err := strconv.Atoi(ref); err == nil && n >= len(strings.Split(out, "\n")) {
			return nil // no such stash
		}
		if len(lines) > 1 {
			lines = lines[:1]
		}
	}
	return loss("git stash "+g.Sub, "would drop "+countStash(lines), why, fix)
}

func countStash(lines []string) string {
	if len(lines) == 1 {
		return "the stash " + lines[0]
	}
	return strconv.Itoa(len(lines)) + " stashes, the newest " + lines[0]
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func (c *Call) worktreeLoss() []Finding {
	g := c.Git
	if len(g.Operands) == 0 {
		return nil
	}
	w := g.Operands[0]
	const why = "changes that no commit holds do not come back"
	const fix = "Commit in that worktree first; `git worktree remove` without --force refuses where something would be lost"
	if w.Static && !c.Place.Unknown {
		dir := join(c.Place.Dir, w.Value)
		out, ok := c.run.world.Git(Place{Dir: dir}, "status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none")
		if ok {
			if strings.TrimSpace(out) == "" {
				return nil
			}
			var files []string
			for line := range strings.SplitSeq(strings.TrimRight(out, "\n"), "\n") {
				if len(line) > 3 {
					files = append(files, line[3:])
				}
			}
			return loss("git worktree remove --force", "would delete "+count(files, "changed file")+" in "+w.Value, why, fix)
		}
		if !c.run.world.Stat(dir).Exists {
			return nil
		}
	}
	return loss("git worktree remove --force", "deletes a worktree whose state is not known", why, fix)
}
