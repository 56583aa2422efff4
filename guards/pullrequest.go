package guards

import (
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
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

// publishing are the mutations of GraphQL that publish text, with what each
// makes. A discussion is judged as an issue.
var publishing = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"createPullRequest": "create", "updatePullRequest": "edit", "revertPullRequest": "create",
		"createIssue": "create issue", "updateIssue": "edit issue", "createDiscussion": "create issue", "updateDiscussion": "edit issue",
		"addComment": "comment", "updateIssueComment": "comment", "addDiscussionComment": "comment", "updateDiscussionComment": "comment",
		"addPullRequestReview": "comment", "submitPullRequestReview": "comment", "updatePullRequestReview": "comment", "dismissPullRequestReview": "comment",
		"addPullRequestReviewComment": "comment", "updatePullRequestReviewComment": "comment",
		"addPullRequestReviewThread": "comment", "addPullRequestReviewThreadReply": "comment",
	}
})

// apiPosts reads gh api calls that write comments, reviews, titles and bodies.
func (c *Call) apiPosts(r *apiRequest) []post {
	if !r.Write() {
		return nil
	}
	if r.GraphQL {
		return c.graphqlPosts(r)
	}
	parts := r.Path()
	p := post{known: true}
	switch {
	case len(parts) >= 4 && parts[0] == "repos":
		p.repo = parts[1] + "/" + parts[2]
		if strings.Contains(p.repo, "{") || strings.Contains(p.repo, ":") {
			p.repo = c.repoName()
		}
		parts = parts[3:]
	case len(parts) >= 3 && parts[0] == "repositories": // by its number
		p.known = false
		parts = parts[2:]
	default:
		return nil
	}
	p.issue = parts[0] == "issues"
	switch thread, n := p.issue || parts[0] == "pulls", len(parts); {
	case thread && n == 1:
		p.kind = "create"
	case thread && n == 2:
		p.kind, p.selector = "edit", parts[1]
	case thread && parts[1] == "comments", parts[0] == "comments" && n == 2, parts[0] == "commits" && parts[n-1] == "comments":
		p.kind, p.known = "comment", false // whose thread it is is not told
	case thread && (parts[2] == "comments" || parts[2] == "reviews"):
		p.kind, p.selector = "comment", parts[1]
	default:
		return nil
	}
	var titles, bodies []string
	for _, f := range r.Fields {
		switch {
		case f.Key == "title":
			text, _ := c.fieldText(f.Value, f.Raw)
			titles = append(titles, text)
		case f.Key == "body" || strings.HasSuffix(f.Key, "[body]"):
			text, _ := c.fieldText(f.Value, f.Raw)
			bodies = append(bodies, text)
		}
	}
	if r.HasInput {
		raw, _ := c.ReadFile(r.Input)
		titles = append(titles, jsonStrings(raw, "title")...)
		bodies = append(bodies, jsonBodies(raw)...)
	}
	p.title, p.body = strings.Join(titles, "\n\n"), strings.Join(bodies, "\n\n")
	return []post{p}
}

// graphqlPosts reads the texts of a GraphQL request: those that its query spells
// out, and its variables.
func (c *Call) graphqlPosts(r *apiRequest) []post {
	query, values, _ := c.graphql(r)
	var out []post
	for name := range identifiers(query) {
		kind, issue := strings.CutSuffix(publishing()[name], " issue")
		if kind != "" && !slices.ContainsFunc(out, func(p post) bool { return p.kind == kind && p.issue == issue }) {
			out = append(out, post{kind: kind, issue: issue, body: strings.Join(values, "\n\n")})
		}
	}
	return out
}

// graphql is the query of a request and the texts that it sends: strings in the
// query and values of variables. known is false where a part cannot be told.
func (c *Call) graphql(r *apiRequest) (query string, values []string, known bool) {
	known = true
	for _, f := range r.Fields {
		text, ok := c.fieldText(f.Value, f.Raw)
		known = known && ok
		if f.Key == "query" {
			query += text + "\n"
		} else if text != "" {
			values = append(values, text)
		}
	}
	if r.HasInput {
		raw, ok := c.ReadFile(r.Input)
		known = known && ok
		query += strings.Join(jsonStrings(raw, "query"), "\n")
		values = append(values, jsonValues(raw, "variables")...)
	}
	return query, append(graphqlStrings(query), values...), known
}

// identifiers are the names in a GraphQL query, outside its strings.
func identifiers(query string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for kind, text := range graphqlTokens(query) {
			if kind == 'n' && !yield(text) {
				return
			}
		}
	}
}

// graphqlStrings are the strings in a GraphQL query.
func graphqlStrings(query string) (texts []string) {
	for kind, text := range graphqlTokens(query) {
		if kind == 's' && text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// graphqlTokens are the names ('n') and the strings ('s') of a query, strings
// without their escapes.
func graphqlTokens(query string) iter.Seq2[byte, string] {
	return func(yield func(byte, string) bool) {
		for i := 0; i < len(query); {
			rest := query[i:]
			switch {
			case rest[0] == '#':
				n := strings.IndexByte(rest, '\n')
				if n < 0 {
					return
				}
				i += n
			case strings.HasPrefix(rest, `"""`):
				n := 3
				for n < len(rest) && !strings.HasPrefix(rest[n:], `"""`) {
					if strings.HasPrefix(rest[n:], `\"""`) {
						n += 3
					}
					n++
				}
				n = min(n, len(rest))
				if !yield('s', blockText(strings.ReplaceAll(rest[3:n], `\"""`, `"""`))) {
					return
				}
				i += min(n+3, len(rest))
			case rest[0] == '"':
				n := 1
				for n < len(rest) && rest[n] != '"' {
					if rest[n] == '\\' {
						n++
					}
					n++
				}
				n = min(n, len(rest))
				if !yield('s', gjson.Parse(rest[:n]+`"`).Str) {
					return
				}
				i += min(n+1, len(rest))
			case isLetter(rest[0]) || rest[0] == '_':
				n := 1
				for n < len(rest) && (isLoginByte(rest[n]) || rest[n] == '_') {
					n++
				}
				if !yield('n', rest[:n]) {
					return
				}
				i += n
			default:
				i++
			}
		}
	}
}

// blockText is a block string without the indentation that its lines share.
func blockText(s string) string {
	lines := strings.Split(s, "\n")
	indent := len(s)
	for _, line := range lines[1:] {
		if trimmed := strings.TrimLeft(line, " \t"); trimmed != "" {
			indent = min(indent, len(line)-len(trimmed))
		}
	}
	for i := 1; i < len(lines); i++ {
		lines[i] = lines[i][min(indent, len(lines[i])):]
	}
	return strings.Join(lines, "\n")
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
