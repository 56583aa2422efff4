package guards

import (
	"strings"
)

// A post is text that a command publishes on GitHub.
type post struct {
	kind  string // "comment", "review", "edit", "create"
	issue bool   // an issue rather than a pull request
	// selector names the issue or pull request: a number, address or branch;
	// empty for the current branch's. known is false where it is dynamic.
	selector string
	known    bool
	repo     string
	title    string
	body     string
}

// posts are the texts that c would publish.
func (c *Call) posts() []post {
	g := c.GH
	if g == nil || g.Help {
		return nil
	}
	if r, ok := g.API(); ok {
		return c.apiPosts(r)
	}
	p := post{known: true, repo: c.repoName()}
	switch {
	case g.Is("pr", "comment"), g.Is("issue", "comment"):
		p.kind = "comment"
	case g.Is("pr", "review"):
		p.kind = "review"
	case g.Is("pr", "close"), g.Is("pr", "reopen"), g.Is("issue", "close"), g.Is("issue", "reopen"):
		p.kind = "comment"
	case g.Is("pr", "edit"), g.Is("issue", "edit"):
		p.kind = "edit"
	case g.Is("pr", "create"), g.Is("pr", "revert"):
		p.kind = "create"
		if g.On("dry-run") {
			return nil
		}
	default:
		return nil
	}
	p.issue = g.Command[0] == "issue"
	if p.kind != "create" && len(g.Operands) > 0 {
		p.selector, p.known = g.Operands[0].Value, g.Operands[0].Static
	}
	var bodies, titles []string
	for _, f := range g.Flags {
		switch f.Name {
		case "body", "comment":
			if f.Name == "comment" && g.Is("pr", "review") {
				continue // a kind of review, not a text
			}
			text, _ := c.text(f.Value)
			bodies = append(bodies, text)
		case "title":
			text, _ := c.text(f.Value)
			titles = append(titles, text)
		case "body-file":
			text, _ := c.ReadFile(f.Value)
			bodies = append(bodies, text)
		}
	}
	if p.kind == "create" {
		title, body := c.filled(len(titles) == 0, len(bodies) == 0)
		titles, bodies = append(titles, title), append(bodies, body)
	}
	p.title, p.body = strings.Join(titles, "\n"), strings.Join(bodies, "\n")
	return []post{p}
}

// filled is what gh pr create --fill takes from the commits.
func (c *Call) filled(title, body bool) (string, string) {
	g := c.GH
	if !g.On("fill") && !g.On("fill-first") && !g.On("fill-verbose") || !title && !body {
		return "", ""
	}
	base := ""
	if f, ok := g.Flag("base"); ok && f.Value.Static && f.Value.Value != "" {
		base = "refs/remotes/origin/" + f.Value.Value
	} else if ref, _, ok := c.base(""); ok {
		base = ref
	}
	if base == "" {
		return "", ""
	}
	format := "--format=%s"
	lines := c.gitLines("log", format, "--max-count=100", base+"..HEAD", "--")
	if len(lines) == 1 || g.On("fill-verbose") || g.On("fill-first") {
		lines = c.gitLines("log", "--format=%B", "--max-count=100", base+"..HEAD", "--")
	}
	text := strings.Join(lines, "\n")
	if !body {
		return lines1(lines), ""
	}
	return "", text
}

func lines1(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}

// apiPosts reads gh api calls that write comments, reviews, titles and bodies.
func (c *Call) apiPosts(r *apiRequest) []post {
	if !r.Write() {
		return nil
	}
	text := func(key string) string {
		f, ok := r.Field(key)
		if !ok {
			return ""
		}
		s, _ := c.fieldText(f.Value, f.Raw)
		return s
	}
	p := post{known: true, title: text("title"), body: text("body")}
	if r.HasInput {
		// The request is JSON: its text is looked at as it stands, with the
		// line breaks of its strings.
		raw, _ := c.ReadFile(r.Input)
		title, body := jsonTexts(raw)
		p.title, p.body = p.title+title, p.body+body
	}
	if r.GraphQL {
		query := text("query")
		if r.HasInput {
			raw, _ := c.ReadFile(r.Input)
			query += strings.Join(jsonStrings(raw, "query"), "\n")
			p.body += "\n" + strings.Join(jsonValues(raw, "variables"), "\n")
		}
		switch {
		case strings.Contains(query, "createPullRequest"), strings.Contains(query, "updatePullRequest"):
			p.kind = "create"
			if strings.Contains(query, "updatePullRequest") {
				p.kind = "edit"
			}
		case strings.Contains(query, "addComment"), strings.Contains(query, "Comment("), strings.Contains(query, "addPullRequestReview"):
			p.kind = "comment"
		default:
			return nil
		}
		p.known = false
		p.body += "\n" + query
		for _, f := range r.Fields {
			if f.Key != "query" && f.Key != "body" && f.Key != "title" {
				s, _ := c.fieldText(f.Value, f.Raw)
				p.body += "\n" + s
			}
		}
		return []post{p}
	}
	parts := r.Path()
	if len(parts) < 4 || parts[0] != "repos" {
		return nil
	}
	p.repo = parts[1] + "/" + parts[2]
	if strings.Contains(p.repo, "{") || strings.Contains(p.repo, ":") {
		p.repo = c.repoName()
	}
	p.issue = parts[3] == "issues"
	switch rest := parts[3:]; {
	case rest[0] != "issues" && rest[0] != "pulls":
		return nil
	case len(rest) == 1:
		p.kind = "create"
	case len(rest) == 2:
		p.kind, p.selector = "edit", rest[1]
	case rest[1] == "comments":
		p.kind, p.known = "comment", false // of an existing comment: whose thread is not told
	case rest[2] == "comments", rest[2] == "reviews":
		p.kind, p.selector = "comment", rest[1]
	default:
		return nil
	}
	return []post{p}
}

// repoName is the repository that gh would work on, where the line names it.
func (c *Call) repoName() string {
	if r := c.GH.Repo(); r != "" {
		return r
	}
	if v, ok := c.Getenv("GH_REPO"); ok {
		return v
	}
	return ""
}

// gh asks the GitHub CLI where the command runs.
func (c *Call) gh(args ...string) (string, bool) {
	at := c.Place
	if at.Unknown {
		at = Place{Dir: c.run.in.Dir}
	}
	out, ok := c.run.world.GH(at, args...)
	out = strings.TrimSpace(out)
	return out, ok && out != "" && out != "null"
}

func withRepo(args []string, repo string) []string {
	if repo != "" {
		args = append(args, "--repo", repo)
	}
	return args
}

// author is the login of whoever opened the pull request or issue.
func (c *Call) author(p *post) (string, bool) {
	if !p.known || strings.HasPrefix(p.selector, "-") {
		return "", false
	}
	noun := "pr"
	if p.issue {
		noun = "issue"
		if p.selector == "" {
			return "", false
		}
	}
	args := []string{noun, "view"}
	if p.selector != "" {
		args = append(args, p.selector)
	}
	return c.gh(withRepo(append(args, "--json", "author", "--jq", ".author.login"), p.repo)...)
}

// viewer is the login of the person whose token gh uses.
func (c *Call) viewer() (string, bool) { return c.gh("api", "user", "--jq", ".login") }
