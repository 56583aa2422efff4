// Package script reads from the text of a Starlark or Python file what can be
// known without running it. Its scanner knows strings, comments and brackets;
// it is linear and never fails.
package script

import "strings"

// Triggers finds the value of a top-level TRIGGERS assignment.
//
// found is false when the file has no TRIGGERS; an example in a doc string is
// none. literal is false when they are not one plain list of plain strings:
// computed, assigned twice, or changed later.
func Triggers(src string) (triggers []string, found, literal bool) {
	if !strings.Contains(src, "TRIGGERS") {
		return nil, false, false
	}
	s := scanner{src: strings.TrimPrefix(src, "\ufeff")}
	literal = true
	for {
		tok, ok := s.next()
		if !ok {
			return triggers, found, found && literal
		}
		if tok.kind != wordToken || tok.text != "TRIGGERS" {
			continue
		}
		if found || !tok.lineStart {
			// A second mention may change the list; reading it does not, but the
			// two cannot be told apart without running the file.
			found, literal = true, false
			continue
		}
		found = true
		triggers, literal = s.list()
	}
}

// Title is the string or comment that a file begins with, "" if it begins with
// something else.
func Title(src string) string {
	s := scanner{src: strings.TrimPrefix(src, "\ufeff")}
	if t, ok := s.next(); ok && t.kind == stringToken {
		return strings.TrimSpace(t.text)
	}
	if comment, ok := strings.CutPrefix(s.src, "#"); ok && !strings.HasPrefix(comment, "!") {
		line, _, _ := strings.Cut(comment, "\n")
		return line
	}
	return ""
}

// Depth is how deep the brackets of a file nest.
func Depth(src string) int {
	s := scanner{src: src}
	deepest := 0
	for {
		if _, ok := s.next(); !ok {
			return deepest
		}
		deepest = max(deepest, s.depth)
	}
}

type tokenKind int

const (
	wordToken tokenKind = iota
	stringToken
	symbolToken
)

type token struct {
	kind      tokenKind
	text      string // of a string: its content
	plain     bool   // a string without prefix, escapes and line breaks
	lineStart bool   // stands in the first column, outside brackets
}

// A scanner splits the common lexical ground of Starlark and Python.
type scanner struct {
	src   string
	i     int
	depth int
	// newline is set when a line break outside brackets was passed on the way
	// to the last token.
	newline bool
}

func isNameByte(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= 0x80
}

func (s *scanner) next() (token, bool) {
	s.newline = s.i == 0
	for s.i < len(s.src) {
		c := s.src[s.i]
		switch {
		case c == '\n' || c == '\r':
			s.newline = s.newline || s.depth == 0
			s.i++
		case c == ' ' || c == '\t' || c == '\f':
			s.i++
		case c == '\\':
			s.i += 2
		case c == '#':
			end := strings.IndexByte(s.src[s.i:], '\n')
			if end < 0 {
				s.i = len(s.src)
				break
			}
			s.i += end
		case c == '"' || c == '\'':
			return s.quoted(""), true
		case isNameByte(c):
			start := s.i
			for s.i < len(s.src) && isNameByte(s.src[s.i]) {
				s.i++
			}
			word := s.src[start:s.i]
			if s.i < len(s.src) && (s.src[s.i] == '"' || s.src[s.i] == '\'') && isStringPrefix(word) {
				return s.quoted(word), true
			}
			first := start == 0 || s.src[start-1] == '\n' || s.src[start-1] == '\r'
			return token{kind: wordToken, text: word, lineStart: first && s.depth == 0}, true
		default:
			switch c {
			case '(', '[', '{':
				s.depth++
			case ')', ']', '}':
				s.depth = max(0, s.depth-1)
			}
			s.i++
			return token{kind: symbolToken, text: string(rune(c))}, true
		}
	}
	s.newline = true
	return token{}, false
}

func isStringPrefix(w string) bool {
	return len(w) <= 2 && strings.Trim(strings.ToLower(w), "rbfut") == ""
}

// quoted reads a string whose opening quote stands at s.i.
func (s *scanner) quoted(prefix string) token {
	t := token{kind: stringToken, plain: prefix == ""}
	quote := s.src[s.i : s.i+1]
	if strings.HasPrefix(s.src[s.i:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
		t.plain = false
	}
	s.i += len(quote)
	start := s.i
	for s.i < len(s.src) {
		c := s.src[s.i]
		switch {
		case c != '\\' && c != quote[0] && c != '\n':
		case c == '\\':
			t.plain = false
			s.i += 2
			continue
		case strings.HasPrefix(s.src[s.i:], quote):
			t.text = s.src[start:s.i]
			s.i += len(quote)
			return t
		case c == '\n' && len(quote) == 1:
			t.plain = false
			return t // unterminated: not valid in either language
		}
		s.i++
	}
	s.i = len(s.src)
	t.plain = false
	return t
}

// list reads what follows the name TRIGGERS: an annotation, "=", and a list,
// tuple or set of strings that ends the statement.
func (s *scanner) list() (items []string, ok bool) {
	tok, more := s.next()
	if more && tok.text == ":" && tok.kind == symbolToken {
		for {
			if tok, more = s.next(); !more || s.newline {
				return nil, false
			}
			if tok.kind == symbolToken && tok.text == "=" {
				break
			}
		}
	}
	if !more || tok.kind != symbolToken || tok.text != "=" || s.newline {
		return nil, false
	}
	if tok, more = s.next(); !more || s.newline || tok.kind != symbolToken || !strings.Contains("([{", tok.text) {
		return nil, false
	}
	wantItem := true
	for {
		tok, more = s.next()
		switch {
		case !more:
			return nil, false
		case tok.kind == stringToken && tok.plain && wantItem:
			items = append(items, tok.text)
			wantItem = false
		case tok.kind == symbolToken && tok.text == "," && !wantItem:
			wantItem = true
		case tok.kind == symbolToken && strings.Contains(")]}", tok.text):
			return items, s.statementEnds()
		default:
			return nil, false
		}
	}
}

// statementEnds reports whether nothing follows on the line, without taking
// the next token.
func (s *scanner) statementEnds() bool {
	at := *s
	tok, more := at.next()
	return !more || at.newline || tok.kind == symbolToken && tok.text == ";"
}
