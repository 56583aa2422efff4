package guards

import (
	"strings"

	"sallyport/internal/shellcmd"
)

// CommitTrailer refuses commits that name the agent as a co-author.
var CommitTrailer = Guard{
	Name:  "commit-trailer",
	Title: "Co-Authored-By trailer in a commit message",
	Doc: Doc{
		What:    "git commit, merge, am and commit-tree, and gh pr merge, whose message has a Co-Authored-By trailer: in -m (all of them are one message), -F (a file, a here-document, a pipe), --trailer, -C and -c (the other commit's message), a template, --body and --subject, or a field of gh api.",
		Why:     "A co-author is a person who answers for the change. A tool that helped is named by a trailer of its own.",
		Instead: "Name the tool with Generated-by: <agent and version>.",
		Limits:  "A trailer is a line of the last paragraph by git's own rules, or any line of the form Co-Authored-By: Name <address>. The words inside a sentence are no trailer. A message that a program prints at run time is not seen, but for git log -1 and simple filters (sed, grep, tr) of text that is; one that an editor writes is seen only where the line names the editor, or installs the hook, with a trailer that has an address; git commit --amend --no-edit keeps what is there and passes.",
	},
	Default:   Deny,
	Overrides: []string{"MAGPIE_ALLOW_COAUTHOR"},
	Programs:  []string{"git", "gh"},
	Options: []Option{{
		Name: "convention", Default: "generated-by", TrustedOnly: true,
		Text: `which trailer names a tool: "generated-by", or "co-authored-by", with which the guard is silent`,
	}},
	Examples: []Example{
		{Command: "git commit -m 'fix: parse header' -m 'Co-Authored-By: Bot <bot@example.com>'", Verdict: Deny, Why: "every -m is a paragraph of the message"},
		{Command: "git commit -F - <<'EOF'\nfeat: cache\n\nco-authored-by: Bot <bot@example.com>\nEOF", Verdict: Deny, Why: "the message comes on standard input, and case does not count"},
		{Command: "git commit -m \"$(cat <<'EOF'\nfeat: cache\n\nCo-Authored-By: Bot <bot@example.com>\nEOF\n)\"", Verdict: Deny, Why: "the form that agents use most"},
		{Command: "git commit -m tune --trailer 'Co-Authored-By=Bot <bot@example.com>'", Verdict: Deny, Why: "git accepts = for the colon"},
		{Command: "gh pr merge 5 --squash --body 'Co-authored-by: Bot <bot@example.com>'", Verdict: Deny, Why: "the body becomes the message of the squashed commit"},
		{Command: "git commit -m 'fix: typo' -m 'Generated-by: Agent 1.0'", Why: "the trailer to use"},
		{Command: "git commit -m 'docs: why the Co-Authored-By: trailer is banned'", Why: "in the middle of the subject git sees no trailer"},
		{Command: "git log --grep='Co-Authored-By:'", Why: "a search"},
		{Command: "echo 'Co-Authored-By: nobody' >> POLICY.md && git commit -am 'docs: policy'", Why: "file content, not the message"},
		{Command: "git commit -m 'pair work' -m 'Reviewed-by: Ann <ann@example.com>'", Why: "another trailer"},
	},
	Check: checkCommitTrailer,
}

func isCoAuthor(token string) bool { return strings.EqualFold(token, "co-authored-by") }

func checkCommitTrailer(c *Call) []Finding {
	if strings.EqualFold(c.Option("commit-trailer", "convention", "generated-by"), "co-authored-by") {
		return nil
	}
	found := func(line, where string) []Finding {
		return []Finding{{
			Found: "trailer " + Quote(line) + " in the commit message (" + where + ")",
			Why:   "a co-author is a person who answers for the change",
			Fix:   "Use the trailer Generated-by: <agent and version> instead",
			Words: []string{line},
		}}
	}
	for _, m := range c.messages() {
		for _, t := range trailers(m.text) {
			if isCoAuthor(t.token) {
				return found(t.line, m.from)
			}
		}
	}
	if c.Git == nil || c.Git.Help || c.Git.On("dry-run") {
		return nil
	}
	if line, where := c.edited(); line != "" {
		return found(line, where)
	}
	switch c.Git.Name {
	case "commit", "rebase", "interpret-trailers":
	default:
		return nil
	}
	for _, o := range c.Git.All("trailer") {
		if c.Git.Name == "interpret-trailers" && !c.Git.On("in-place") && !feedsGit(c) {
			return nil
		}
		text, _ := c.text(o.Value)
		token := text
		if i := strings.IndexAny(text, "=:"); i >= 0 {
			token = text[:i]
		}
		token = strings.TrimSpace(token)
		if isCoAuthor(token) || isCoAuthor(c.trailerKey(token)) {
			return found("--trailer "+text, "--trailer")
		}
	}
	return nil
}

// feedsGit reports whether another git command of the line reads c's output,
// through a pipe or in one of its words, or uses c as its editor.
func feedsGit(c *Call) bool {
	if len(c.via) > 0 {
		return true
	}
	r := c.run
	if r.feeding == nil {
		r.feeding = map[*shellcmd.Command]bool{}
		for _, other := range r.calls {
			if other.Git == nil {
				continue
			}
			r.feeding[other.Piped] = true
			for _, w := range other.Args {
				for _, from := range w.From() {
					r.feeding[from] = true
				}
			}
		}
	}
	return r.feeding[c.Command]
}

// maxTrailer bounds the line of a trailer that is looked for in other text.
const maxTrailer = 500

// edited finds a trailer with an address in what the line itself makes write
// the message: an editor given as a command line, or a hook that the line
// installs.
func (c *Call) edited() (line, where string) {
	switch c.Git.Name {
	case "commit", "merge", "revert", "cherry-pick", "rebase", "am":
	default:
		return "", ""
	}
	look := func(text, from string) bool {
		low := strings.ToLower(text)
		for at := 0; ; {
			i := strings.Index(low[at:], "co-authored-by")
			if i < 0 {
				return false
			}
			at += i
			words, _, _ := strings.Cut(text[at:min(len(text), at+maxTrailer)], "\n")
			at += len("co-authored-by")
			token, value, ok := cutTrailer(words)
			if !ok {
				token, value, ok = strings.Cut(words, "=")
			}
			// An editor that takes trailers out names no address.
			if ok && isCoAuthor(strings.TrimSpace(token)) && hasAddress(value) {
				line, where = words, from
				return true
			}
		}
	}
	for _, n := range c.Git.Nested() {
		if strings.HasSuffix(n.Via, "EDITOR") || n.Via == "VISUAL" || strings.HasSuffix(n.Via, ".editor") {
			if look(n.Text, n.Via) {
				return line, where
			}
		}
	}
	for _, hook := range [...]string{"prepare-commit-msg", "commit-msg"} {
		if c.Place.Unknown || c.Place.GitDir != "" {
			break
		}
		root, ok := c.run.world.Root(c.Place.Dir)
		if !ok {
			break
		}
		// Only what the line writes: a hook that was there is the project's.
		if t, ok := c.File(shellcmd.NewWord(join(root, ".git/hooks/"+hook))); ok && look(t.Value, "the hook "+hook) {
			return line, where
		}
	}
	return "", ""
}

// trailerKey resolves the short name of a trailer that trailer.<name>.key
// configures.
func (c *Call) trailerKey(token string) string {
	if token == "" {
		return ""
	}
	key, _ := c.setting("trailer." + token + ".key")
	return strings.TrimRight(strings.TrimSpace(key), ":= ")
}
