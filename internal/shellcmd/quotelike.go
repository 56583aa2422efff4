package shellcmd

import "strings"

const maxQuoteLike = 1024 // bytes of one piece

// quoteLike is the length of a piece of code that holds text and no calls: a
// comment in /* */, a regular expression, q(…) and its relatives in Perl and
// Ruby. 0 is any other piece, and one that is doubtful: what is taken for text
// is not searched, so a mistake would hide a call. A piece ends on its line, as
// a here-document's text would else reach into the code behind it.
func (s *codeScanner) quoteLike(i int) int {
	code := s.code
	switch s.l.name {
	case "node", "php":
		return s.blockComment(i)
	case "perl", "ruby":
	default:
		return 0
	}
	if c := code[i]; c != '/' && c != '%' && !isNameStart(c) {
		return 0
	}
	line := code[i:min(len(code), i+maxQuoteLike)]
	if isNameStart(line[0]) && (s.l.name != "perl" || strings.IndexByte("smqty", line[0]) < 0) {
		return 0
	}
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	n, interpolates, second := 0, true, false
	switch {
	case line[0] == '/':
		if !operandFollows(code, i) {
			return 0
		}
	case s.l.name == "ruby" && line[0] == '%' && len(line) > 2 && strings.IndexByte("qQwWiIr", line[1]) >= 0 && operandFollows(code, i):
		n, interpolates = 2, strings.IndexByte("QWIr", line[1]) >= 0
	case s.l.name == "perl" && isNameStart(line[0]) && wordStarts(code, i):
		for n < len(line) && isWordByte(line[n]) {
			n++
		}
		switch line[:n] {
		case "s", "tr", "y":
			second = true
		case "m", "qr", "qq":
		case "q", "qw":
			interpolates = false
		default:
			return 0
		}
	default:
		return 0
	}
	if n >= len(line) || strings.IndexByte("/|!#{([", line[n]) < 0 {
		return 0
	}
	open := line[n]
	text, length, ok := delimited(line[n:])
	if !ok {
		return 0
	}
	n += length
	if second {
		rest := line[n:]
		if open == '/' || open == '|' || open == '!' || open == '#' {
			rest = line[n-1:] // the middle delimiter closes and opens
			n--
		}
		replacement, length, ok := delimited(rest)
		if !ok {
			return 0
		}
		text += replacement
		n += length
	}
	for n < len(line) && isWordByte(line[n]) {
		if line[n] == 'e' {
			return 0 // the replacement is code
		}
		n++
	}
	if interpolates && (strings.Contains(text, "@{") || strings.Contains(text, "${") || strings.Contains(text, "#{") || strings.Contains(text, "?{")) {
		return 0
	}
	return n
}

// blockComment is the length of a comment at the start of a line: nothing else
// can stand there. In a line /* can be a part of a regular expression.
func (s *codeScanner) blockComment(i int) int {
	code := s.code
	if s.openComment || !strings.HasPrefix(code[i:], "/*") {
		return 0
	}
	before := strings.TrimRight(code[:i], " \t")
	if before != "" && (before[len(before)-1] != '\n' || s.l.name == "php") {
		return 0 // PHP has here-documents
	}
	end := strings.Index(code[i+2:], "*/")
	if end < 0 {
		s.openComment = true

		return 0
	}
	return end + 4
}

// operandFollows reports that what stands before code[i] asks for an operand,
// so that / begins an expression and does not divide.
func operandFollows(code string, i int) bool {
	before := strings.TrimRight(code[:i], " \t")
	if before == "" {
		return true
	}
	last := before[len(before)-1]
	before2 := byte(' ')
	if len(before) > 1 {
		before2 = before[len(before)-2]
	}
	switch {
	case strings.IndexByte("$@%*&?:", before2) >= 0:
		return false // a variable like $; or Ruby's :(
	case last == '!':
		return !isWordByte(before2) // Ruby's names may end in it
	case strings.IndexByte("(,=~|;{[\n", last) >= 0:
		return true
	case !isWordByte(last):
		return false
	}
	start := len(before)
	for start > 0 && isWordByte(before[start-1]) {
		start--
	}
	switch before[start:] {
	case "if", "unless", "and", "or", "not", "split", "grep", "return", "when", "while", "until", "puts", "print", "raise", "warn":
		return wordStarts(code, start)
	}
	return false
}

// wordStarts reports that the word at code[i] is no variable's, method's or
// subroutine's name.
func wordStarts(code string, i int) bool {
	before := strings.TrimRight(code[:i], " \t")
	if before == "" {
		return true
	}
	last := before[len(before)-1]
	if len(before) == i && isWordByte(last) || strings.IndexByte("$@%&*>-.:'\"", last) >= 0 {
		return false
	}
	return !strings.HasSuffix(before, "sub") && !strings.HasSuffix(before, "def")
}
