package guards

import (
	"strings"

	"sallyport/internal/ghcmd"
)

// hostLoss looks at gh commands that delete on the host what others use.
func hostLoss(c *Call) []Finding {
	g := c.GH
	if g.Help {
		return nil
	}
	deny := func(words, what string) []Finding {
		f := loss(words, what, "other people's work hangs on it", "Let a person delete it")
		f[0].Verdict = Deny
		return f
	}
	if g.Is("repo", "delete") {
		return deny("gh repo delete", "deletes a repository with its issues and pull requests")
	}
	r, ok := g.API()
	if !ok {
		return nil
	}
	parts := r.Path()
	switch {
	case r.GraphQL:
		if f, ok := r.Field("query"); ok {
			if text, _ := c.fieldText(f.Value, f.Raw); strings.Contains(text, "deleteRef") || strings.Contains(text, "deleteRepository") {
				return deny("gh api graphql", "deletes a ref or a repository")
			}
		}
	case r.Method == "PATCH" && len(parts) > 6 && parts[0] == "repos" && parts[3] == "git" && parts[4] == "refs" && parts[5] == "heads":
		_, short, _ := c.base("")
		name := strings.Join(parts[6:], "/")
		if (name == short || name == "main" || name == "master") && c.forcesRef(r) {
			f := loss("gh api -X PATCH", "rewrites "+Quote(name)+", the default branch", "other people's work hangs on it", "Push to a branch of its own and open a pull request")
			f[0].Verdict = Deny
			return f
		}
	case r.Method != "DELETE" || len(parts) < 3 || parts[0] != "repos":
	case len(parts) == 3:
		return deny("gh api -X DELETE", "deletes a repository with its issues and pull requests")
	case len(parts) > 5 && parts[3] == "git" && parts[4] == "refs":
		return deny("gh api -X DELETE", "deletes a ref of the remote")
	}
	return nil
}

// forcesRef reports a request that moves a ref to where no fast-forward leads.
func (c *Call) forcesRef(r *ghcmd.Request) bool {
	if f, ok := r.Field("force"); ok {
		return !f.Value.Static || Truthy(f.Value.Value)
	}
	if !r.HasInput {
		return false
	}
	text, known := c.ReadFile(r.Input)
	return !known || strings.Contains(text, `"force"`) && strings.Contains(text, "true")
}
