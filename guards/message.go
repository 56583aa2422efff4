package guards

import (
	"slices"
	"strings"

	"sallyport/internal/shellcmd"
)

// A message is text that a command gives to a commit, with the words that
// carry it.
type message struct {
	text  string
	from  string // "-m", "--trailer", "-F msg.txt"
	whole bool   // all of it is known
}

// messages are the texts that the command would record as a commit message, as
// far as the line and the files it names tell.
func (c *Call) messages() []message {
	switch {
	case c.Git != nil && !c.Git.Help:
		return c.gitMessages()
	case c.GH != nil && !c.GH.Help:
		return c.ghMessages()
	}
	return nil
}

func (c *Call) gitMessages() []message {
	g := c.Git
	var out []message
	// Every -m is a paragraph of one message.
	joined := func(name, label string) {
		var parts []string
		whole := true
		for _, o := range g.All(name) {
			text, known := c.text(o.Value)
			whole = whole && known
			parts = append(parts, text)
		}
		if len(parts) > 0 {
			out = append(out, message{strings.Join(parts, "\n\n"), label, whole})
		}
	}
	file := func(name string) {
		for _, o := range g.All(name) {
			if !o.Has {
				continue
			}
			text, known := c.ReadFile(o.Value)
			if text != "" {
				out = append(out, message{text, "-F " + o.Value.String(), known})
			}
		}
	}
	reuse := func(names ...string) {
		for _, name := range names {
			o, ok := g.Opt(name)
			if !ok || !o.Has || o.Unset || !o.Value.Static || strings.HasPrefix(o.Value.Value, "-") {
				continue
			}
			if text, known := c.git("log", "-1", "--format=%B", "--end-of-options", o.Value.Value, "--"); known {
				out = append(out, message{text, o.Text + " " + o.Value.Value, true})
			}
		}
	}
	switch {
	case g.Name == "commit":
		if g.On("dry-run") {
			return nil
		}
		joined("message", "-m")
		file("file")
		reuse("reuse-message", "reedit-message")
		file("template")
		if _, given := g.Opt("template"); !given && len(g.All("message"))+len(g.All("file")) == 0 {
			if s, ok := g.Global.Setting("commit.template"); ok {
				if text, known := c.ReadFile(s.Value); text != "" {
					out = append(out, message{text, s.From, known})
				}
			}
		}
	case g.Name == "merge", g.Name == "subtree":
		joined("message", "-m")
		file("file")
	case g.Name == "commit-tree":
		joined("m", "-m")
		file("F")
		if text, known := c.input(); len(g.All("m"))+len(g.All("F")) == 0 && text != "" {
			out = append(out, message{text, "standard input", known})
		}
	case g.Name == "am":
		names := g.Operands
		if text, known := c.input(); len(names) == 0 && text != "" {
			out = append(out, message{mailBody(text), "standard input", known})
		}
		for _, w := range names {
			if text, _ := c.ReadFile(w); text != "" {
				for _, mail := range mails(text) {
					out = append(out, message{mailBody(mail), w.String(), true})
				}
			}
		}
	}
	return out
}

// mails splits an mbox at its "From " lines.
func mails(text string) []string {
	var out []string
	for len(out) < 200 {
		i := strings.Index(text[min(1, len(text)):], "\nFrom ")
		if i < 0 {
			break
		}
		out = append(out, text[:i+2])
		text = text[i+2:]
	}
	return append(out, text)
}

// mailBody is the message of a patch: between its headers and the "---".
func mailBody(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if _, body, ok := strings.Cut(text, "\n\n"); ok {
		text = body
	}
	if i := strings.Index(text, "\n---\n"); i >= 0 {
		text = text[:i+1]
	}
	if i := strings.Index(text, "\ndiff --git "); i >= 0 {
		text = text[:i+1]
	}
	return "subject\n\n" + text
}

// ghMessages are the texts from which GitHub makes a commit.
func (c *Call) ghMessages() []message {
	var out []message
	g := c.GH
	if g.Is("pr", "merge") {
		for _, f := range g.Flags {
			switch f.Name {
			case "body":
				text, known := c.text(f.Value)
				out = append(out, message{"subject\n\n" + text, "--body", known})
			case "subject":
				text, known := c.text(f.Value)
				out = append(out, message{text, "--subject", known})
			case "body-file":
				if text, known := c.ReadFile(f.Value); text != "" {
					out = append(out, message{"subject\n\n" + text, "--body-file " + f.Value.String(), known})
				}
			}
		}
		return out
	}
	r, ok := g.API()
	if !ok || !r.Write() {
		return nil
	}
	if r.GraphQL {
		query, values, known := c.graphql(r)
		for name := range identifiers(query) {
			if !slices.Contains(committing, name) {
				continue
			}
			for _, text := range values {
				out = append(out, message{"subject\n\n" + text, name, known})
			}
			return out
		}
	} else if r.HasInput {
		raw, known := c.ReadFile(r.Input)
		for _, text := range jsonStrings(raw, "commit_message", "message", "commit_title") {
			out = append(out, message{"subject\n\n" + text, "--input", known})
		}
	}
	for _, f := range r.Fields {
		switch f.Key {
		case "commit_message", "message", "commitBody", "commit_title", "commitHeadline":
			text, known := c.fieldText(f.Value, f.Raw)
			if f.Key == "commit_message" || f.Key == "commitBody" {
				text = "subject\n\n" + text
			}
			out = append(out, message{text, f.Key, known})
		}
	}
	return out
}

// committing are the mutations of GraphQL that make commits. Every text of a
// request with one of them is taken for its message: which variable ends where
// takes a parser to tell.
var committing = []string{"mergePullRequest", "enablePullRequestAutoMerge", "createCommitOnBranch", "mergeBranch"}

// fieldText is the value of a field of gh api; -F reads @file.
func (c *Call) fieldText(w shellcmd.Word, raw bool) (string, bool) {
	if name, isFile := w.After("@"); isFile && !raw {
		return c.ReadFile(name)
	}
	return c.text(w)
}

// A trailer is one "Token: value" line at the end of a message.
type trailer struct{ token, value, line string }

// trailers are the lines that git or the host would take for trailers: those
// of the message's last paragraph by git's rules, and lines elsewhere that have
// the form "Token: Name <address>", which hosts read as well.
func trailers(text string) []trailer {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	lines := strings.Split(text, "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	start := len(lines)
	for start > 0 && strings.TrimSpace(lines[start-1]) != "" {
		start--
	}
	block := map[int]bool{}
	if start > 0 && isTrailerBlock(lines[start:]) {
		for i := start; i < len(lines); i++ {
			block[i] = true
		}
	}
	var out []trailer
	for i, line := range lines {
		token, value, ok := cutTrailer(line)
		if ok && (block[i] || hasAddress(value)) {
			out = append(out, trailer{token, value, line})
		}
	}
	return out
}

// isTrailerBlock follows find_trailer_block_start of git's trailer.c: all lines
// are trailers, or one is git's own and at least a quarter are trailers.
func isTrailerBlock(lines []string) bool {
	trailers, others := 0, 0
	own := false
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "#"):
		case i > 0 && (line[0] == ' ' || line[0] == '\t') && trailers+others > 0:
			// a continuation belongs to the line before it
		case strings.HasPrefix(line, "Signed-off-by: "), strings.HasPrefix(line, "(cherry picked from commit "):
			own = true
			trailers++
		default:
			if _, _, ok := cutTrailer(line); ok {
				trailers++
			} else {
				others++
			}
		}
	}
	return trailers > 0 && others == 0 || own && trailers*3 >= others
}

// cutTrailer reads "Token: value". A token is letters, digits and hyphens, and
// may be followed by blanks.
func cutTrailer(line string) (token, value string, ok bool) {
	i := 0
	for i < len(line) && (isLetter(line[i]) || line[i] >= '0' && line[i] <= '9' || line[i] == '-') {
		i++
	}
	if i == 0 {
		return "", "", false
	}
	token = line[:i]
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	if i >= len(line) || line[i] != ':' {
		return "", "", false
	}
	return token, strings.TrimSpace(line[i+1:]), true
}

func hasAddress(s string) bool {
	i := strings.IndexByte(s, '<')
	return i >= 0 && strings.IndexByte(s[i:], '@') > 0 && strings.IndexByte(s[i:], '>') > 0
}
