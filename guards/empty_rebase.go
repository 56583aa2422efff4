package guards

import "strings"

// EmptyRebase refuses a forced push of a branch that has no commits of its own:
// hosts close a pull request whose head becomes equal to its base.
var EmptyRebase = Guard{
	Name:  "empty-rebase",
	Title: "forced push of a branch without commits of its own",
	Doc: Doc{
		What:    "A forced push (--force, -f, --force-with-lease, a refspec with +) whose source has no commit over the default branch.",
		Why:     "The pull request of that branch would become empty, and the host closes it, often for good: it cannot be opened again after the push.",
		Instead: "Look at what the branch holds (git log), restore the lost commits from the reflog or the remote branch, then push again.",
		Limits:  "The default branch is refs/remotes/origin/HEAD, else what init.defaultBranch, main or master name; without one the guard is silent. Commits that an earlier command of the line makes or brings count, unless it cannot have succeeded. A push by another program is not seen.",
	},
	Default:   Deny,
	Overrides: []string{"MAGPIE_ALLOW_EMPTY_PUSH"},
	Programs:  []string{"git"},
	Examples: []Example{
		{Command: "git push --force origin feature", Verdict: Deny, Why: "feature has no commit over origin/main, the remote branch has one"},
		{Command: "git push --force-with-lease", Verdict: Deny, Why: "the current branch goes to its upstream"},
		{Command: "git push origin +HEAD:feature", Verdict: Deny, Why: "+ forces the ref"},
		{Command: "git push --force origin feature", Setup: "git commit -qm own --no-verify", Why: "the branch has a commit of its own"},
		{Command: "git push origin feature", Why: "not forced: the remote refuses what is no fast-forward"},
		{Command: "git push --force --dry-run origin feature", Why: "a dry run sends nothing"},
		{Command: "git push --force-if-includes origin feature", Why: "alone it forces nothing"},
		{Command: "git commit -qm own && git push --force-with-lease origin feature", Why: "the commit is made before the push"},
	},
	Check: checkEmptyRebase,
}

func checkEmptyRebase(c *Call) []Finding {
	p, ok := c.push()
	if !ok || p.dryRun || p.mirror {
		return nil
	}
	forced := p.forced
	for _, r := range p.refs {
		forced = forced || r.force
	}
	if !forced {
		return nil
	}
	base, short, ok := c.base(p.remote)
	if !ok {
		return nil
	}
	var found []Finding
	seen := map[string]bool{}
	for _, r := range c.expandRefs(&p) {
		if r.deletes || !p.forced && !r.force {
			continue
		}
		dst := c.target(r)
		if !strings.HasPrefix(dst, "refs/heads/") || dst == "refs/heads/"+short {
			continue // a tag, or the default branch itself: nobody's pull request
		}
		rev := r.src
		if rev == "" || r.dynamic {
			rev = "HEAD"
		}
		h := c.history()
		switch rev {
		case "HEAD", "@":
			rev = h.tip(h.head)
		default:
			name := strings.TrimPrefix(rev, "refs/heads/")
			if name == h.head || h.head == "" && h.tips[""] != "" && isCurrent(c, name) {
				name = h.head
			}
			if tip, ok := h.tips[name]; ok {
				rev = tip
			}
		}
		if rev == moved {
			continue
		}
		has, known := c.commitsOver(base, rev)
		if !known || has || seen[dst] {
			continue
		}
		seen[dst] = true
		option := p.option
		if option == "" {
			option = "+"
		}
		name := strings.TrimPrefix(dst, "refs/heads/")
		found = append(found, Finding{
			Found: "forced push (" + Quote(option) + ") of " + Quote(r.text) + ", which has no commit over " + Quote(strings.TrimPrefix(base, "refs/remotes/")),
			Why:   "a pull request from " + Quote(name) + " would be closed as empty",
			Fix:   "See what the branch lost with `git reflog` and restore it before you push",
			Words: []string{p.option, r.text},
		})
	}
	return found
}

func isCurrent(c *Call, name string) bool {
	branch, ok := c.git("symbolic-ref", "--quiet", "--short", "HEAD")
	return ok && branch == name
}

// expandRefs replaces ":" and patterns by the branches that they stand for.
func (c *Call) expandRefs(p *push) []refspec {
	var out []refspec
	for _, r := range p.refs {
		switch {
		case r.matching:
			for _, b := range c.allBranches() {
				if _, ok := c.git("show-ref", "--verify", "--quiet", "refs/remotes/"+p.remote+"/"+b.text); ok {
					b.force = r.force
					out = append(out, b)
				}
			}
		case strings.Count(r.src, "*") == 1 && !r.dynamic:
			head, tail, _ := strings.Cut(r.src, "*")
			for _, b := range c.allBranches() {
				mid, ok := strings.CutPrefix(b.src, head)
				if !ok {
					continue
				}
				if mid, ok = strings.CutSuffix(mid, tail); !ok {
					continue
				}
				b.force = r.force
				if r.dst != "" {
					b.dst = strings.Replace(r.dst, "*", mid, 1)
				}
				out = append(out, b)
			}
		default:
			out = append(out, r)
		}
		if len(out) > 500 {
			break
		}
	}
	return out
}
