package policy

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"sallyport/settings"
)

// A command is one shell rule.
type command struct {
	entry        // Text is the cleaned command
	Words []word // its shell words
}

// A word is one shell word, without its quotes.
type word struct {
	Text     string
	Operator bool // holds a character that the shell acts on, outside quotes
}

func (c command) texts() []string {
	out := make([]string, len(c.Words))
	for i, w := range c.Words {
		out[i] = w.Text
	}
	return out
}

// A BashRules is what the shell rules say, each command in its strictest tier.
type BashRules struct {
	Path             string
	Deny, Ask, Allow []command
}

func parseBash(file string, data []byte, n *notes) *BashRules {
	before := len(n.problems)
	doc, err := parseSource(file, data)
	if err != nil {
		n.fail(errSource, err)
		return nil
	}
	b := &BashRules{Path: file}
	tiers := map[string][]command{}
	doc.Root().Each(func(name string, v settings.Node) bool {
		line, column := v.Position()
		switch name {
		case "$schema":
		case "deny", "ask", "allow":
			r := srtReader{file, nil, n}
			entries, _ := r.strings(v, "/"+name)
			for _, e := range entries {
				e.Source = "bash"
				if c, ok := parseCommand(file, e, n); ok {
					tiers[name] = append(tiers[name], c)
				}
			}
		default:
			n.problem(errSource, "%s:%d:%d: unknown key %q; there are deny, ask and allow", file, line, column, name)
		}
		return true
	})
	tierOf := map[string]string{}
	for _, tier := range []string{"deny", "ask", "allow"} {
		for _, c := range tiers[tier] {
			other, seen := tierOf[c.Text]
			switch {
			case !seen:
				tierOf[c.Text] = tier
				switch tier {
				case "deny":
					b.Deny = append(b.Deny, c)
				case "ask":
					b.Ask = append(b.Ask, c)
				default:
					b.Allow = append(b.Allow, c)
				}
			case other != tier:
				n.add(Warning{ID: "BASH-TIER-CONFLICT", Level: Info, Source: "bash", Pointer: c.Pointer,
					Message: fmt.Sprintf("%q stands in %s and in %s; %s wins", c.Text, other, tier, other)})
			}
		}
	}
	if len(n.problems) > before {
		return nil
	}
	return b
}

// maxCommand bounds one rule, in characters.
const maxCommand = 500

func parseCommand(file string, e entry, n *notes) (command, bool) {
	bad := func(format string, args ...any) (command, bool) {
		n.problem(errSource, "%s:%d: %s: %q %s", file, e.Line, e.Pointer, e.Text, fmt.Sprintf(format, args...))
		return command{}, false
	}
	text := strings.Join(strings.FieldsFunc(e.Text, func(r rune) bool { return r == ' ' || r == '\t' }), " ")
	for {
		cut := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(text, " *"), ":*"), " ")
		if cut == text {
			break
		}
		text = cut
		n.add(Warning{ID: "BASH-TRAILING-WILDCARD", Level: Info, Source: "bash", Pointer: e.Pointer,
			Message: fmt.Sprintf("the wildcard at the end of %q is dropped: every agent gets its own form", e.Text)})
	}
	switch {
	case text == "":
		return bad("is empty; name a command or remove the entry")
	case strings.ContainsFunc(text, unicode.IsControl):
		return bad("holds a control character; a rule is one line")
	case utf8.RuneCountInString(text) > maxCommand:
		return bad("is longer than %d characters; name the command and its first arguments", maxCommand)
	}
	words, err := splitWords(text)
	if err != nil {
		return bad("is no shell command: %v", err)
	}
	if len(words) == 0 || words[0].Text == "" {
		return bad("names no command")
	}
	e.Text = text
	return command{e, words}, true
}

// splitWords splits a line into POSIX shell words. Nothing is expanded.
func splitWords(s string) (words []word, err error) {
	var b strings.Builder
	started := false
	var w word
	flush := func() {
		if started {
			w.Text = b.String()
			words = append(words, w)
		}
		b.Reset()
		started, w = false, word{}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\n':
			flush()
		case '\\':
			started = true
			if i++; i == len(s) {
				return nil, errors.New("a backslash at the end")
			}
			b.WriteByte(s[i])
		case '\'':
			started = true
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return nil, errors.New("a quote is not closed")
			}
			b.WriteString(s[i+1 : i+1+end])
			i += end + 1
		case '"':
			started = true
			for i++; ; i++ {
				if i >= len(s) {
					return nil, errors.New("a quote is not closed")
				}
				if s[i] == '"' {
					break
				}
				if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
					i++
				}
				b.WriteByte(s[i])
			}
		default:
			started = true
			if strings.IndexByte("|&;<>()", c) >= 0 {
				w.Operator = true
			}
			b.WriteByte(c)
		}
	}
	flush()
	return words, nil
}
