package guards

import (
	"strconv"
	"strings"
)

// MarkReady refuses to put the "ready" label on a pull request whose workflow
// runs still wait for approval.
var MarkReady = Guard{
	Name:  "mark-ready",
	Title: "ready label while workflow runs await approval",
	Doc: Doc{
		What:    "gh pr edit --add-label (or the labels of gh api) with the label that calls maintainers, while the head commit has workflow runs that wait for approval.",
		Why:     "The label says that the checks are green. Runs that wait for approval have checked nothing yet.",
		Instead: "Have the waiting runs approved, wait for their result, then set the label.",
		Limits:  "The label is the option label, or MAGPIE_READY_LABEL, and any that MAGPIE_READY_LABEL names in the command. The head commit and its runs are looked up with gh; where that fails the guard is silent.",
	},
	Default:   Deny,
	Overrides: []string{"MAGPIE_ALLOW_MARK_READY"},
	Programs:  []string{"gh"},
	Options:   []Option{{Name: "label", Default: readyLabel, Join: ",", Text: "the labels that call maintainers, separated by commas"}},
	Examples: []Example{
		{Command: "gh pr edit 5 --repo example/widgets --add-label 'ready for maintainer review'", Setup: "gh:pending_runs=2", Verdict: Deny, Why: "two runs wait"},
		{Command: "gh pr edit 5 -R example/widgets --add-label 'area:ui,Ready for Maintainer Review'", Setup: "gh:pending_runs=2", Verdict: Deny, Why: "a comma list; labels ignore case"},
		{Command: "gh pr edit 5 -R example/widgets --add-label 'ready for maintainer review'", Setup: "gh:pending_runs=0", Why: "nothing waits"},
		{Command: "gh pr edit 5 -R example/widgets --remove-label 'ready for maintainer review'", Setup: "gh:pending_runs=2", Why: "takes the label away"},
		{Command: "gh pr edit 5 -R example/widgets --add-label bug", Setup: "gh:pending_runs=2", Why: "another label"},
		{Command: "gh pr edit 5 --add-label 'ready for maintainer review'", Setup: "gh:fail=1", Why: "the lookup fails"},
	},
	Check: checkMarkReady,
}

const readyLabel = "ready for maintainer review"

func checkMarkReady(c *Call) []Finding {
	g := c.GH
	if g.Help {
		return nil
	}
	label := c.Option("mark-ready", "label", "")
	if label == "" {
		label, _ = c.run.env("MAGPIE_READY_LABEL")
	}
	if label == "" {
		label = readyLabel
	}
	// One on the command itself comes on top: it must not hide the others.
	for _, a := range c.Assigns {
		if a.Name == "MAGPIE_READY_LABEL" && a.Value.Value != "" {
			label += "," + a.Value.Value
		}
	}
	ready := strings.Split(label, ",")
	p := post{known: true, repo: c.repoName()}
	var labels []string
	if r, ok := g.API(); ok {
		parts := r.Path()
		if !r.Write() || r.Method == "DELETE" || len(parts) < 5 || parts[0] != "repos" || parts[3] != "issues" && parts[3] != "pulls" {
			return nil
		}
		if len(parts) > 5 && parts[5] != "labels" {
			return nil
		}
		p.repo, p.selector = parts[1]+"/"+parts[2], parts[4]
		for _, f := range r.Fields {
			if f.Key == "labels[]" || f.Key == "labels" {
				labels = append(labels, f.Value.Value)
			}
		}
		if r.HasInput {
			raw, _ := c.ReadFile(r.Input)
			for _, l := range ready {
				if containsFold(raw, strings.TrimSpace(l)) {
					labels = append(labels, l)
				}
			}
		}
	} else {
		if !g.Is("pr", "edit") && !g.Is("issue", "edit") {
			return nil
		}
		labels = g.List("add-label")
		if len(g.Operands) > 0 {
			p.selector, p.known = g.Operands[0].Value, g.Operands[0].Static
		}
	}
	hit := ""
	for _, l := range labels {
		for _, r := range ready {
			if strings.EqualFold(strings.TrimSpace(l), strings.TrimSpace(r)) {
				hit = l
			}
		}
	}
	if hit == "" || !p.known || strings.HasPrefix(p.selector, "-") {
		return nil
	}
	n, ok := c.pendingRuns(&p)
	if !ok || n == 0 {
		return nil
	}
	return []Finding{{
		Found: "label " + Quote(hit) + " while " + strconv.Itoa(n) + " workflow " + plural(n, "run", "runs") + " of the head commit " + plural(n, "awaits", "await") + " approval",
		Why:   "nothing has checked this commit yet",
		Fix:   "Have the runs approved and wait for their result, then set the label",
		Words: []string{hit},
	}}
}

// pendingRuns counts the runs of the head commit that wait for approval.
func (c *Call) pendingRuns(p *post) (int, bool) {
	args := []string{"pr", "view"}
	if p.selector != "" {
		args = append(args, p.selector)
	}
	sha, ok := c.gh(withRepo(append(args, "--json", "headRefOid", "--jq", ".headRefOid"), p.repo)...)
	if !ok || strings.ContainsAny(sha, " \n/?&") {
		return 0, false
	}
	repo, host := p.repo, ""
	if repo == "" {
		if repo, ok = c.gh("repo", "view", "--json", "nameWithOwner", "--jq", ".nameWithOwner"); !ok {
			return 0, false
		}
	}
	repo = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(repo, "https://"), "http://"), ".git")
	if parts := strings.Split(repo, "/"); len(parts) == 3 {
		host, repo = parts[0], parts[1]+"/"+parts[2]
	}
	args = []string{"api", "repos/" + repo + "/actions/runs?head_sha=" + sha + "&status=action_required", "--jq", ".total_count"}
	if host != "" {
		args = append(args, "--hostname", host)
	}
	out, ok := c.gh(args...)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(out)
	return n, err == nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func containsFold(s, sub string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(sub))
}
