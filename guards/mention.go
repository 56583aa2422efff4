package guards

import (
	"slices"
	"strings"
)

// Mention refuses comments that notify people who did not ask for it.
var Mention = Guard{
	Name:  "mention",
	Title: "@-mention of someone other than the author",
	Doc: Doc{
		What:    "gh pr comment, gh issue comment, gh pr review, --comment of close and reopen, and gh api calls on comments and reviews, whose text mentions anyone but the author of that pull request or issue; a body given to gh pr edit or gh issue edit that mentions anyone at all.",
		Why:     "A mention sends a notification. An agent that pings maintainers takes the time of people who did not ask for it; in an edited body the mention notifies nobody and only looks like one.",
		Instead: "Leave the @ away, or put the name in backquotes: code notifies nobody.",
		Limits:  "Mentions inside code spans, fenced and indented code do not count. On the operator's own pull request everything passes. The author is looked up with gh; where that fails a text with mentions is refused. A body that the line does not tell (an editor, a variable, a program's output) is not seen.",
	},
	Default:   Deny,
	Overrides: []string{"MAGPIE_ALLOW_MENTIONS"},
	Programs:  []string{"gh"},
	Examples: []Example{
		{Command: "gh pr comment 5 --body '@maint-a please look'", Setup: "gh:pr_author=octo-author\ngh:viewer=operator-bot", Verdict: Deny, Why: "pings someone who is not the author"},
		{Command: "gh issue comment 7 -b'@maint-a ping'", Setup: "gh:pr_author=octo-author\ngh:viewer=operator-bot", Verdict: Deny, Why: "the value stands on the short flag"},
		{Command: "gh pr edit 5 --body 'thanks @octo-author'", Setup: "gh:pr_author=octo-author\ngh:viewer=operator-bot", Verdict: Deny, Why: "an edit stays silent, even for the author"},
		{Command: "gh pr comment 5 --body '@maint-a look'", Setup: "gh:fail=1", Verdict: Deny, Why: "the author cannot be looked up"},
		{Command: "gh api repos/example/widgets/issues/5/comments -f body='@maint-a ping'", Setup: "gh:pr_author=octo-author\ngh:viewer=operator-bot", Verdict: Deny, Why: "the same comment through the API"},
		{Command: "gh pr comment 5 --body '@Octo-Author thanks'", Setup: "gh:pr_author=octo-author\ngh:viewer=operator-bot", Why: "the author; logins ignore case"},
		{Command: "gh pr comment 5 --body 'ask `@maint-a` in private'", Setup: "gh:pr_author=octo-author\ngh:viewer=operator-bot", Why: "a code span notifies nobody"},
		{Command: "gh pr comment 5 --body '@maint-a ready again'", Setup: "gh:pr_author=octo-author\ngh:viewer=octo-author", Why: "the operator's own pull request"},
		{Command: "gh issue comment 7 --body 'write to help@example.com'", Setup: "gh:pr_author=octo-author\ngh:viewer=operator-bot", Why: "an address, no mention"},
		{Command: "gh pr view 5 --json comments --jq '.comments[].body' | grep @maint-a", Setup: "gh:pr_author=octo-author\ngh:viewer=operator-bot", Why: "reads only"},
	},
	Check: checkMention,
}

func checkMention(c *Call) []Finding {
	for _, p := range c.posts() {
		if p.kind == "create" {
			continue // the operator's own
		}
		names := mentions(p.body)
		if p.kind == "comment" || p.kind == "review" {
			names = mentions(p.title + "\n" + p.body)
		}
		if len(names) == 0 {
			continue
		}
		author, known := c.author(&p)
		if p.kind != "edit" && known {
			names = slices.DeleteFunc(names, func(n string) bool { return strings.EqualFold(n, author) })
			if len(names) == 0 {
				continue
			}
		}
		if known {
			if viewer, ok := c.viewer(); ok && strings.EqualFold(viewer, author) {
				continue
			}
		}
		list := make([]string, 0, len(names))
		for _, n := range names[:min(len(names), 5)] {
			list = append(list, "@"+n)
		}
		quoted := Quote(strings.Join(list, ", "))
		f := Finding{
			Found: quoted + " in a " + p.kind,
			Why:   "it notifies people other than the author " + Quote(author),
			Fix:   "Leave the @ away or put the name in backquotes, which notifies nobody",
			Words: list,
		}
		switch {
		case p.kind == "edit":
			f.Found, f.Why = quoted+" in an edited body", "an edit notifies nobody, so the mention only looks like one"
		case !known:
			f.Why = "the author could not be looked up, so nobody is known to expect it"
		}
		return []Finding{f}
	}
	return nil
}

// mentions are the logins and teams that a Markdown text notifies.
func mentions(text string) []string {
	text = prose(text)
	for _, entity := range [...]string{"&#64;", "&#x40;", "&#X40;", "&commat;"} {
		text = strings.ReplaceAll(text, entity, "@")
	}
	var names []string
	for i := 0; i < len(text); i++ {
		if text[i] != '@' || i > 0 && !opensMention(text[i-1]) {
			continue
		}
		j := i + 1
		for j < len(text) && j-i <= 40 && (isLoginByte(text[j]) || text[j] == '-' && j > i+1) {
			j++
		}
		if j == i+1 || j < len(text) && text[j] == '_' {
			continue
		}
		name := text[i+1 : j]
		if j < len(text) && text[j] == '/' { // a team
			k := j + 1
			for k < len(text) && (isLoginByte(text[k]) || strings.IndexByte("-_.", text[k]) >= 0) {
				k++
			}
			if k > j+1 {
				name = strings.TrimRight(text[i+1:k], ".-_")
			}
		}
		name = strings.TrimRight(name, "-")
		if !slices.Contains(names, name) && len(names) < 50 {
			names = append(names, name)
		}
	}
	return names
}

func isLoginByte(b byte) bool { return isLetter(b) || b >= '0' && b <= '9' }

// opensMention reports whether a mention can follow b. Letters, digits and what
// joins them make an address or a path of it.
func opensMention(b byte) bool {
	return !isLoginByte(b) && b != '_' && b != '/' && b != '@' && b < 0x80
}

// prose is a Markdown text without its code: fences, indented blocks and spans
// become blanks.
func prose(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	fence := ""
	blank, list := true, false
	for i, line := range lines {
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		// A quotation and a list item can hold a fence too.
		inner := strings.TrimLeft(trimmed, "> ")
		switch {
		case fence != "":
			if rest := strings.TrimRight(inner, " \t"); len(rest) >= len(fence) && strings.Trim(rest, fence[:1]) == "" {
				fence = ""
			}
			lines[i] = ""
			continue
		case strings.HasPrefix(inner, "```") || strings.HasPrefix(inner, "~~~"):
			mark := inner[:1]
			n := len(inner) - len(strings.TrimLeft(inner, mark))
			info := inner[n:]
			if mark == "`" && strings.Contains(info, "`") {
				break // a code span in one line
			}
			fence = strings.Repeat(mark, n)
			lines[i] = ""
			continue
		case (indent >= 4 || strings.HasPrefix(line, "\t")) && blank && !list:
			lines[i] = ""
			continue
		}
		if strings.TrimSpace(line) == "" {
			blank = true
			continue
		}
		if isListItem(trimmed) {
			list = true
		} else if indent == 0 {
			list = false
		}
		blank = false
	}
	return withoutSpans(withoutComments(strings.Join(lines, "\n")))
}

// withoutComments removes HTML comments, which notify nobody. One that readers
// of Markdown and of HTML could see the end of in different places stays, and
// counts as text.
func withoutComments(text string) string {
	const open, end = "<!--", "-->"
	if !strings.Contains(text, open) {
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, open)
		if i < 0 {
			break
		}
		inner, rest, ok := strings.Cut(text[i+len(open):], end)
		if !ok {
			break
		}
		line := text[strings.LastIndexByte(text[:i], '\n')+1 : i]
		inText := strings.TrimLeft(line, " ") != "" || len(line) > 3
		if strings.Contains(inner, "--") || strings.HasPrefix(inner, ">") || strings.HasPrefix(inner, "->") || strings.HasSuffix(inner, "-") ||
			strings.ContainsRune(inner, '`') || strings.HasSuffix(line, `\`) || inText && strings.Contains(inner, "\n") {
			b.WriteString(text[:i+len(open)])
			text = text[i+len(open):]
			continue
		}
		b.WriteString(text[:i])
		b.WriteByte(' ')
		text = rest
	}
	b.WriteString(text)
	return b.String()
}

func isListItem(s string) bool {
	if len(s) > 1 && strings.IndexByte("-*+", s[0]) >= 0 && s[1] == ' ' {
		return true
	}
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i > 0 && i+1 < len(s) && (s[i] == '.' || s[i] == ')') && s[i+1] == ' '
}

// withoutSpans removes code spans: text between runs of backquotes of the same
// length within a paragraph. A backquote after a backslash opens none.
func withoutSpans(text string) string {
	var b strings.Builder
	// last holds for each length of run where the last one stands, so that a
	// run without a partner costs nothing.
	last := map[int]int{}
	for i := 0; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		n := run1(text[i:])
		last[n] = i
		i += n
	}
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			b.WriteString(text[i : i+2])
			i += 2
		case text[i] != '`':
			b.WriteByte(text[i])
			i++
		default:
			n := run1(text[i:])
			end := -1
			if last[n] > i {
				for j := i + n; j < len(text); {
					if text[j] != '`' {
						if text[j] == '\n' && strings.HasPrefix(strings.TrimLeft(text[j+1:min(len(text), j+64)], " \t"), "\n") {
							break // a blank line ends the paragraph, and the span with it
						}
						j++
						continue
					}
					m := run1(text[j:])
					if m == n {
						end = j + m
						break
					}
					j += m
				}
			}
			if end < 0 {
				b.WriteString(text[i : i+n])
				i += n
				continue
			}
			b.WriteByte(' ')
			i = end
		}
	}
	return b.String()
}

func run1(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }
