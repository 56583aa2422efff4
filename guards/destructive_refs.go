package guards

import (
	"maps"
	"slices"
	"strings"

	"sallyport/internal/gitcmd"
	"sallyport/internal/shellcmd"
)

func (c *Call) branchLoss() []Finding {
	g := c.Git
	const why = "only the reflog of HEAD may still know them"
	kind, by := c.maker()
	switch {
	case g.On("remotes"), kind == "clone", kind == "init":
		return nil
	case kind == "worktree":
		// It shares the branches of the repository that it is made from.
		at := *c
		at.Place = by.Place
		c = &at
	}
	if n := len(g.Operands); (g.On("M") || g.On("C") || (g.On("move") || g.On("copy")) && g.On("force")) && n > 0 {
		// A branch of the new name is replaced, and its reflog with it.
		w := g.Operands[n-1]
		if n == 1 && g.On("C") || !w.Static {
			return nil
		}
		if current, _ := c.currentBranch(); n == 1 && current == w.Value || n == 2 && g.Operands[0].Value == w.Value {
			return nil
		}
		if gone := c.lostCommits([]shellcmd.Word{w}); len(gone) > 0 {
			return loss("git branch -M", "would replace a branch whose commits are on no other: "+gone[0], why, "Choose another name, or merge or push that branch first")
		}
		return nil
	}
	if !g.On("D") && !(g.On("delete") && g.On("force")) {
		return nil
	}
	var named, unnamed []shellcmd.Word
	for _, w := range g.Operands {
		switch {
		case w.Static:
			named = append(named, w)
		case !c.listsMerged(w):
			unnamed = append(unnamed, w)
		}
	}
	const fix = "Merge the branch or push it first; `git branch -d` refuses where something would be lost"
	if gone := c.lostCommits(named); len(gone) > 0 {
		return loss("git branch -D", "would delete commits that are on no other branch: "+strings.Join(gone[:min(len(gone), 3)], ", "), why, fix)
	}
	if len(unnamed) > 0 && !c.outsideGit() {
		return loss("git branch -D", "deletes branches, and it is not known which: "+unnamed[0].String(), why, fix)
	}
	return nil
}

// lostCommits are those of the named branches that have commits which no ref
// holds once they are gone, and all that the line deleted before.
func (c *Call) lostCommits(words []shellcmd.Word) []string {
	h := c.history()
	without := []string{}
	drop := func(ref string) {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
			without = append(without, "--exclude="+name)
		}
	}
	for _, w := range words {
		drop("refs/heads/" + w.Value)
	}
	for ref := range h.gone {
		drop(ref)
	}
	slices.Sort(without)
	rest := append(slices.Compact(without), "--branches")
	for _, kind := range [...]string{"remotes", "tags"} {
		for _, ref := range slices.Sorted(maps.Keys(h.gone)) {
			if name, ok := strings.CutPrefix(ref, "refs/"+kind+"/"); ok {
				rest = append(rest, "--exclude="+name)
			}
		}
		rest = append(rest, "--"+kind)
	}
	var gone []string
	for _, w := range words {
		switch {
		case h.kept[w.Value]:
			continue
		case h.tips[w.Value] == moved:
			gone = append(gone, w.Value)
			continue
		}
		id, ok := c.commit("refs/heads/" + w.Value)
		if !ok {
			if c.Place.Unknown {
				gone = append(gone, w.Value)
			}
			continue // no such branch
		}
		args := append(append([]string{"rev-list", "--count", id, "--not"}, rest...), "--")
		n, ok := c.git(args...)
		if ok && n == "0" {
			continue
		}
		if !ok {
			n = "?"
		}
		gone = append(gone, w.Value+" ("+n+" "+plural(atoi(n), "commit", "commits")+")")
	}
	return gone
}

// listsMerged reports names that git lists as merged into what stays: HEAD, or
// the default branch.
func (c *Call) listsMerged(w shellcmd.Word) bool {
	from := w.From()
	if len(from) != 1 {
		return false
	}
	for e, n := from[0], 0; e != nil && n < 20; e, n = e.Piped, n+1 {
		if e.Name() != "git" {
			continue
		}
		g := gitcmd.Parse(e.Args, e.Assigns, nil)
		if g.Name != "branch" && g.Name != "for-each-ref" {
			return false
		}
		for i, a := range e.Args {
			into, attached := strings.CutPrefix(a.Value, "--merged=")
			if !attached && a.Value != "--merged" {
				continue
			}
			if !attached {
				into = ""
				if i+1 < len(e.Args) && !strings.HasPrefix(e.Args[i+1].Value, "-") {
					into = e.Args[i+1].Value
				}
			}
			ref, short, known := c.base("")
			into = strings.TrimPrefix(strings.TrimPrefix(into, "refs/heads/"), "refs/remotes/")
			switch into {
			case "", "HEAD", "main", "master", "origin/main", "origin/master", "origin/HEAD":
				return true
			}
			return known && (into == short || "refs/remotes/"+into == ref)
		}
		return false
	}
	return false
}

func (c *Call) pushLoss() []Finding {
	p, ok := c.push()
	if !ok || p.dryRun {
		return nil
	}
	deny := func(f []Finding) []Finding {
		f[0].Verdict = Deny
		return f
	}
	const others = "other people's work hangs on refs of the remote"
	if p.mirror {
		return deny(loss("git push --mirror", "overwrites and deletes every ref of the remote that is not here", others, "Push the branches you mean by name, such as `git push origin HEAD`"))
	}
	_, short, known := c.base(p.remote)
	isDefault := func(dst string) bool {
		name := strings.TrimPrefix(dst, "refs/heads/")
		if known {
			return name == short
		}
		return name == "main" || name == "master"
	}
	if c.Git.On("prune") {
		return deny(loss("git push --prune", "deletes the branches of the remote that are not here", others, "Delete a branch by name, after a look at what it holds"))
	}
	if p.forced && !p.leased && c.history().unsure {
		head := len(c.Git.Operands) < 2
		for _, r := range p.refs {
			head = head || (r.src == "HEAD" || r.src == "@") && r.dst == ""
		}
		if head {
			return loss("git push "+forceWord(&p), "rewrites a branch, and it is not known which", others, "Name it: `git push --force-with-lease origin my-change`")
		}
	}
	for _, r := range c.expandRefs(&p) {
		if r.deletes {
			if f := c.remoteDeletion(&p, r, isDefault); f != nil {
				return deny(f)
			}
			continue
		}
		if !p.forced && !r.force {
			continue
		}
		dst := c.target(r)
		if dst == "" || !isDefault(dst) {
			continue
		}
		name := strings.TrimPrefix(dst, "refs/heads/")
		f := loss("git push "+forceWord(&p), "rewrites "+Quote(name)+", the default branch", others, "Push to a branch of its own and open a pull request: `git push origin HEAD:refs/heads/my-change`")
		if !p.leased || r.force {
			f[0].Verdict = Deny
		}
		return f
	}
	return nil
}

func forceWord(p *push) string {
	if p.option == "" {
		return "with +"
	}
	return p.option
}

// remoteDeletion looks at a deletion of a remote ref: one whose commits are all
// on the default branch loses nothing.
func (c *Call) remoteDeletion(p *push, r refspec, isDefault func(string) bool) []Finding {
	name := strings.TrimPrefix(strings.TrimPrefix(r.dst, "refs/heads/"), "heads/")
	text := "git push --delete"
	if !p.delete {
		text = "git push " + r.text
	}
	if isDefault("refs/heads/" + name) {
		return loss(text, "deletes "+Quote(name)+", the default branch", "other people's work hangs on it", "Delete a branch only when it is merged")
	}
	remote := p.remote
	if remote == "" {
		remote = "origin"
	}
	tracking := "refs/remotes/" + remote + "/" + name
	if !r.dynamic && !strings.HasPrefix(r.dst, "refs/tags/") {
		if base, _, ok := c.base(p.remote); ok {
			if has, known := c.commitsOver(base, tracking); known && !has {
				return nil
			}
		}
	}
	return loss(text, "deletes "+Quote(name)+" on the remote, which is not known to be merged", "other people may work on it", "Merge it first, or let a person delete it")
}

func (c *Call) refLoss() []Finding {
	g := c.Git
	const why = "the commits that only this ref holds cannot be found again"
	const fix = "Delete branches with `git branch -d`, which refuses where something would be lost"
	if g.On("stdin") {
		if c.Stdin.Known && !strings.Contains(c.Stdin.Value, "delete") || !c.Stdin.Known && c.Stdin.Value == "" && c.Piped == nil {
			return nil
		}
		return loss("git update-ref --stdin", "deletes refs", why, fix)
	}
	if !g.On("d") || len(g.Operands) == 0 {
		return nil
	}
	w := g.Operands[0]
	switch {
	case c.ownRepository(), strings.HasPrefix(w.Value, "refs/tags/"), strings.HasPrefix(w.Value, "refs/remotes/"):
		return nil // as git tag -d and git branch -d -r
	case strings.HasPrefix(w.Value, "refs/heads/") && w.Static && !c.Place.Unknown:
		name := shellcmd.NewWord(strings.TrimPrefix(w.Value, "refs/heads/"))
		if len(c.lostCommits([]shellcmd.Word{name})) == 0 {
			return nil
		}
	case w.Static && !c.Place.Unknown:
		if _, exists := c.git("show-ref", "--verify", "--quiet", w.Value); !exists {
			return nil
		}
		return loss("git update-ref -d "+w.String(), "deletes a ref", why, "Make a branch of it first with git branch")
	}
	return loss("git update-ref -d "+w.String(), "deletes a ref", why, fix)
}
