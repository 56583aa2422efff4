// Package bashrule matches shell commands against Claude Code's Bash rules, the
// patterns of permissions.allow and of sandbox.excludedCommands.
//
// It answers what the client would do with a rule, so it splits a command the
// way the client does, by its text, and not the way a shell would run it. Where
// the client's own reading is not known it gives no answer: the caller then
// says nothing. It is no guard.
//
// Source: the client's documentation of permissions and sandboxing, August
// 2026, and its behaviour up to 2.1.332.
package bashrule

import (
	"slices"
	"strings"
)

// maxCommand is the length above which the client matches no rule.
const maxCommand = 10_000

// Match reports whether a rule's pattern covers one simple command. Without a
// "*" the two must be equal; a "*" stands for any text, blanks included; " *" or
// ":*" at the end stand for nothing or for a blank and any text.
func Match(pattern, command string) bool {
	pattern, command = strings.TrimSpace(pattern), strings.TrimSpace(command)
	if prefix, ok := strings.CutSuffix(pattern, ":*"); ok {
		pattern = prefix + " *"
	}
	if prefix, ok := strings.CutSuffix(pattern, " *"); ok && Wildcard(prefix, command) {
		return true
	}
	return Wildcard(pattern, command)
}

// Wildcard reports whether a pattern, in which "*" stands for any text, matches s
// as a whole. A "*" in s is a symbol that only a "*" of the pattern absorbs, so it
// also tells whether one pattern covers another. It takes time
// len(pattern) × len(s) at worst.
func Wildcard(pattern, s string) bool {
	p, i := 0, 0
	star, retry := -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, retry = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			retry++
			p, i = star+1, retry
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// Excluded reports whether sandbox.excludedCommands takes a command out of the
// sandbox, and the index of a pattern that does. everyPart is the rule of
// clients from 2.1.301 on, under which each part of a compound command must
// match and one with cd, a substitution or a redirection stays inside; before,
// one matching part took the whole command out.
func Excluded(patterns []string, command string, everyPart bool) (index int, ok bool) {
	line, ok := Split(command)
	if !ok || len(line.Parts) == 0 || everyPart && (line.Cd || line.Substitution || line.Redirect) {
		return 0, false
	}
	found := -1
	for _, part := range line.Parts {
		forms := Forms(part)
		i := slices.IndexFunc(patterns, func(pattern string) bool {
			return slices.ContainsFunc(forms, func(form string) bool { return Match(pattern, form) })
		})
		switch {
		case i >= 0 && found < 0:
			found = i
		case i < 0 && everyPart:
			return 0, false
		}
	}
	return max(found, 0), found >= 0
}

// A Line is a command line as rules see it.
type Line struct {
	Parts        []string // the simple commands
	Cd           bool     // one of them changes the directory
	Substitution bool     // it holds $(…), `…` or <(…)
	Redirect     bool     // it holds a redirection that is not of one descriptor to another
}

// Split splits a command at "&&", "||", ";", "|", "|&", "&" and line breaks
// outside quotes. ok is false for text that it does not understand: open
// quotes, subshells, groups, here-documents, and more than 10,000 bytes.
func Split(command string) (line Line, ok bool) {
	if len(command) > maxCommand {
		return Line{}, false
	}
	start := 0
	cut := func(end, next int) {
		if part := strings.TrimSpace(command[start:end]); part != "" {
			line.Parts = append(line.Parts, part)
		}
		start = next
	}
	for i := 0; i < len(command); i++ {
		next := byte(0)
		if i+1 < len(command) {
			next = command[i+1]
		}
		switch c := command[i]; c {
		case '\\':
			i++
		case '\'':
			end := strings.IndexByte(command[i+1:], '\'')
			if end < 0 {
				return Line{}, false
			}
			i += end + 1
		case '"':
			if i = doubleQuoted(command, i, &line); i < 0 {
				return Line{}, false
			}
		case '`':
			line.Substitution = true
			end := strings.IndexByte(command[i+1:], '`')
			if end < 0 {
				return Line{}, false
			}
			i += end + 1
		case '$':
			if next == '(' {
				line.Substitution = true
				if i = parenthesis(command, i+1); i < 0 {
					return Line{}, false
				}
			}
		case '#':
			if i == 0 || strings.IndexByte(" \t\n;&|", command[i-1]) >= 0 {
				cut(i, i)
				if end := strings.IndexByte(command[i:], '\n'); end >= 0 {
					i += end
				} else {
					i = len(command)
				}
				start = i
			}
		case '(', ')':
			return Line{}, false
		case '>', '<':
			if next == '(' {
				line.Substitution = true
				if i = parenthesis(command, i+1); i < 0 {
					return Line{}, false
				}
				continue
			}
			if c == '<' && next == '<' && !strings.HasPrefix(command[i:], "<<<") {
				return Line{}, false
			}
			if n := duplication(command[i:]); n > 0 {
				i += n - 1
				continue
			}
			line.Redirect = true
			for i+1 < len(command) && strings.IndexByte("<>&|", command[i+1]) >= 0 {
				i++
			}
		case '&':
			if next == '>' {
				line.Redirect = true
				i++
				for i+1 < len(command) && command[i+1] == '>' {
					i++
				}
				continue
			}
			cut(i, i+1)
			if next == '&' {
				i++
				start++
			}
		case '|':
			cut(i, i+1)
			if next == '|' || next == '&' {
				i++
				start++
			}
		case ';', '\n':
			cut(i, i+1)
		}
	}
	if start < len(command) {
		cut(len(command), len(command))
	}
	for _, part := range line.Parts {
		for _, form := range Forms(part) {
			word, _ := nextWord(form)
			switch word {
			case "{", "}":
				return Line{}, false
			case "cd", "pushd", "popd":
				line.Cd = true
			}
		}
	}
	return line, true
}

// doubleQuoted returns the index of the quote that ends the string at i, -1 if
// none does.
func doubleQuoted(s string, i int, line *Line) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i
		case '\\':
			i++
		case '`':
			line.Substitution = true
		case '$':
			if i+1 < len(s) && s[i+1] == '(' {
				line.Substitution = true
				if i = parenthesis(s, i+1); i < 0 {
					return -1
				}
			}
		}
	}
	return -1
}

// parenthesis returns the index of the one that closes the one at i.
func parenthesis(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return -1
			}
			i += end + 1
		case '"':
			// Not doubleQuoted: quotes and substitutions nest as deep as the
			// text likes, and this stays in one frame.
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// duplication is the length of a redirection of one descriptor to another, such
// as >&2 or <&-, at the start of s; 0 if there is none.
func duplication(s string) int {
	if len(s) < 3 || s[1] != '&' {
		return 0
	}
	i := 2
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i == 2 || i < len(s) && strings.IndexByte(" \t\n;&|)<>", s[i]) < 0 {
		return 0
	}
	return i
}

// Forms are the texts of a simple command that rules are compared with: as
// written, and with leading assignments and the wrappers that the client looks
// through taken off, one after the other.
func Forms(part string) []string {
	forms := []string{part}
	for len(forms) < 32 {
		rest, ok := unwrap(forms[len(forms)-1])
		if !ok {
			break
		}
		forms = append(forms, rest)
	}
	return forms
}

// unwrap takes one assignment or wrapper off.
func unwrap(s string) (rest string, ok bool) {
	word, rest := nextWord(s)
	if rest == "" {
		return "", false
	}
	if isAssignment(word) {
		return rest, true
	}
	next, after := nextWord(rest)
	switch word {
	case "nohup", "builtin", "noglob":
		return rest, true
	case "command":
		return rest, !strings.HasPrefix(next, "-")
	case "xargs":
		return rest, !strings.HasPrefix(next, "-")
	case "time":
		if next == "-p" {
			rest = after
		}
		return rest, rest != ""
	case "nice":
		rest = skipOptions(rest, "n")
		return rest, rest != ""
	case "stdbuf":
		rest = skipOptions(rest, "ioe")
		return rest, rest != ""
	case "timeout":
		rest = skipOptions(rest, "ks")
		_, rest = nextWord(rest) // the duration
		return rest, rest != ""
	}
	return "", false
}

// skipOptions drops leading options; the short ones in withValue take the next
// word when nothing is attached.
func skipOptions(s, withValue string) string {
	for {
		word, rest := nextWord(s)
		if len(word) < 2 || word[0] != '-' {
			return s
		}
		if len(word) == 2 && strings.IndexByte(withValue, word[1]) >= 0 {
			_, rest = nextWord(rest)
		}
		s = rest
		if word == "--" {
			return s
		}
	}
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	name = strings.TrimSuffix(name, "+")
	if !ok || name == "" || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !(c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z') {
			return false
		}
	}
	return true
}

// nextWord splits off the first word, quotes kept.
func nextWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t\n")
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'':
			if end := strings.IndexByte(s[i+1:], '\''); end >= 0 {
				i += end + 1
			}
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case ' ', '\t', '\n':
			return s[:i], strings.TrimLeft(s[i:], " \t\n")
		}
	}
	return s, ""
}
