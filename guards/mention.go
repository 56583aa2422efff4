package guards

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mention refuses comments that notify people who did not ask for it.
var Mention = Guard{
	Name:  "mention",
	Title: "@-mention of someone other than the author",
	Doc: Doc{
		What:    "gh pr comment, gh issue comment, gh pr review, --comment of close and reopen, and gh api calls on comments and reviews, whose text mentions anyone but the author of that pull request or issue; a body given to gh pr edit or gh issue edit that mentions anyone at all.",
		Why:     "A mention sends a notification. An agent that pings maintainers takes the time of people who did not ask for it; in an edited body the mention notifies nobody and only looks like one.",
		Instead: "Leave the @ away, or put the name in backquotes: code notifies nobody.",
		Limits:  "Mentions inside code spans, fenced and indented code, and the elements code, pre and tt do not count. Of a request that jq makes only simple programs are followed. On the operator's own pull request everything passes. The author is looked up with gh; where that fails a text with mentions is refused. A body that the line does not tell (an editor, a variable, a program's output) is not seen.",
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
			names = slices.DeleteFunc(names, func(n string) bool { return sameLogin(n, author) })
			if len(names) == 0 {
				continue
			}
		}
		if known {
			if viewer, ok := c.viewer(); ok && sameLogin(viewer, author) {
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

// sameLogin compares logins. An app's is spelled app/name by some answers of
// GitHub, name[bot] by others, and name in a mention.
func sameLogin(a, b string) bool {
	plain := func(s string) string {
		s = strings.ToLower(s)
		return strings.TrimSuffix(strings.TrimPrefix(s, "app/"), "[bot]")
	}
	return plain(a) == plain(b)
}

// mentions are the logins and teams that a Markdown text notifies.
func mentions(text string) []string {
	text = prose(text)
	for _, entity := range [...]string{"&#64;", "&#x40;", "&#X40;", "&commat;"} {
		text = strings.ReplaceAll(text, entity, "@")
	}
	var names []string
	for i := 0; i < len(text); i++ {
		if text[i] != '@' {
			continue
		}
		emphasis, opens := opensMention(text[:i])
		if !opens || emphasis > 0 && !strings.Contains(text[i:], strings.Repeat("_", emphasis)) {
			continue
		}
		j := i + 1
		for j < len(text) && j-i <= 40 && (isLoginByte(text[j]) || text[j] == '-' && j > i+1) {
			j++
		}
		if j == i+1 || j < len(text) && text[j] == '_' && !closesEmphasis(text[j:], emphasis) {
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

// opensMention reports whether a mention can follow a text, and how many
// underscores at its end open an emphasis. Letters, digits and what joins them
// make an address or a path of what follows.
func opensMention(before string) (emphasis int, ok bool) {
	rest := strings.TrimRight(before, "_")
	if emphasis = len(before) - len(rest); emphasis > 3 || emphasis > 0 && strings.HasSuffix(rest, `\`) {
		return 0, false
	}
	// A mark belongs to the letter or the emoji before it.
	rest = strings.TrimRightFunc(rest[max(0, len(rest)-64):], unicode.IsMark)
	r, n := utf8.DecodeLastRuneInString(rest)
	return emphasis, n == 0 || r != '/' && r != '@' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// closesEmphasis reports whether a text begins with the end of an emphasis of
// so many underscores.
func closesEmphasis(text string, emphasis int) bool {
	rest := strings.TrimLeft(text, "_")
	if n := len(text) - len(rest); emphasis == 0 || n > emphasis {
		return false
	}
	r, n := utf8.DecodeRuneInString(rest)
	return n == 0 || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// prose is a Markdown text without its code: fences, indented blocks, spans and
// code elements become blanks.
func prose(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	var open fence
	// item is where the text of the list item begins, 0 outside a list.
	blank, item, quotes := true, 0, 0
	for i, line := range lines {
		if open.mark != "" {
			inside, ends := open.holds(line)
			if inside {
				lines[i] = ""
			}
			if ends {
				open = fence{}
			}
			if inside {
				continue
			}
		}
		depth, rest := unquote(line, item, len(line))
		if depth > quotes {
			// A quotation is a block of its own.
			blank = true
			if line[0] == '>' {
				item = 0
			}
		}
		quotes = depth
		trimmed := strings.TrimLeft(rest, " \t")
		indent := width(rest)
		switch {
		case trimmed == "":
			blank = true
			continue
		case blank && indent < item:
			item = 0
		}
		if blank && item == 0 && indent >= 4 {
			lines[i] = ""
			continue
		}
		blank = false
		if indent >= item+4 {
			continue // no block begins so deep
		}
		for n := listMarker(trimmed); n > 0; n = listMarker(trimmed) {
			indent += n
			trimmed = trimmed[n:]
			item = indent
		}
		if open = opensFence(trimmed); open.mark != "" {
			open.quotes, open.indent = depth, min(item, indent)
			lines[i] = ""
		}
	}
	return withoutSpans(withoutElements(withoutComments(strings.Join(lines, "\n"))))
}

// A fence is an open fenced code block.
type fence struct {
	mark   string // what opened it; a closing one is as long or longer
	quotes int    // of the quotation that it stands in
	indent int    // of the list item that it stands in
}

// opensFence reads the line that opens a fence. One of backquotes has none
// behind it: that is a code span.
func opensFence(s string) fence {
	for _, c := range [...]string{"`", "~"} {
		info := strings.TrimLeft(s, c)
		if n := len(s) - len(info); n >= 3 && (c == "~" || !strings.Contains(info, c)) {
			return fence{mark: s[:n]}
		}
	}
	return fence{}
}

// holds reports whether a line belongs to the fence, and whether the fence ends
// there. It ends with the quotation or the list item that it stands in, too.
func (f fence) holds(line string) (inside, ends bool) {
	depth, rest := unquote(line, f.indent, f.quotes)
	trimmed := strings.Trim(rest, " \t")
	indent := width(rest)
	if depth < f.quotes || trimmed != "" && indent < f.indent {
		return false, true
	}
	return true, len(trimmed) >= len(f.mark) && strings.Trim(trimmed, f.mark[:1]) == "" && indent < f.indent+4
}

// unquote takes at most limit marks of a quotation from the beginning of a line
// in a list item whose text begins at item.
func unquote(line string, item, limit int) (depth int, rest string) {
	for depth < limit {
		trimmed := strings.TrimLeft(line, " ")
		if !strings.HasPrefix(trimmed, ">") || len(line)-len(trimmed) >= item+4 {
			break
		}
		line = strings.TrimPrefix(trimmed[1:], " ")
		depth++
		item = 0
	}
	return depth, line
}

// width is the indentation of a line in columns.
func width(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}

// withoutElements removes the HTML elements whose text is code. One with a
// backquote or an empty line in it stays, and counts as text: Markdown may see
// its end elsewhere.
func withoutElements(text string) string {
	for _, name := range [...]string{"code", "pre", "tt"} {
		text = withoutElement(text, "<"+name, "</"+name+">")
	}
	return text
}

func withoutElement(text, open, end string) string {
	low := asciiLower(text)
	if !strings.Contains(low, open) {
		return text
	}
	var b strings.Builder
	done, stop, bad := 0, -1, -1
	for i := 0; ; {
		k := strings.Index(low[i:], open)
		if k < 0 {
			break
		}
		from := i + k
		i = from + len(open)
		if i >= len(low) || strings.IndexByte("> \t\n", low[i]) < 0 || from > 0 && low[from-1] == '\\' {
			continue
		}
		if stop < i {
			n := strings.Index(low[i:], end)
			if n < 0 {
				break
			}
			stop = i + n
			bad = -1
			if n := max(strings.LastIndexByte(low[i:stop], '`'), strings.LastIndex(low[i:stop], "\n\n")); n >= 0 {
				bad = i + n
			}
		}
		if bad >= i {
			continue
		}
		b.WriteString(text[done:from])
		b.WriteByte(' ')
		done = stop + len(end)
		i = done
	}
	return b.String() + text[done:]
}

// asciiLower is s with its ASCII letters in lower case, byte for byte.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
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

// listMarker is the length of the marker that begins a list item, with the
// blanks behind it.
func listMarker(s string) int {
	i := 0
	if s != "" && strings.IndexByte("-*+", s[0]) >= 0 {
		i = 1
	} else {
		for i < len(s) && i < 10 && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		if i == 0 || i == len(s) || s[i] != '.' && s[i] != ')' {
			return 0
		}
		i++
	}
	blanks := len(s[i:]) - len(strings.TrimLeft(s[i:], " "))
	if blanks == 0 {
		return 0
	}
	if blanks > 4 {
		blanks = 1 // indented code in the item
	}
	return i + blanks
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
