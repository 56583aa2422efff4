package scriptfiles

import (
	"slices"
	"strconv"
	"strings"
)

// A codeToken is a piece of a program in another language than the shell's.
type codeToken struct {
	kind   tokenKind
	text   string // a name without its sigil, the value of a string, punctuation
	pieces []piece
	line   bool // the first of its line
	indent bool // and blanks stand before it
	open   int  // the bracket that it stands in, -1: none
	match  int  // of a bracket: the other one
	words  bool // a string that is a list of words
}

type tokenKind byte

const (
	nameToken tokenKind = iota
	stringToken
	numberToken
	signToken
)

// A piece is a part of a string that has values in it.
type piece struct {
	text string // literal, or the code whose value stands there
	code bool
}

// A Language says how a program is read, as far as it matters for the files that
// it names.
type Language int

const (
	Python Language = iota
	JavaScript
	Perl
	Ruby
	PHP
	Lua
	Other
)

func LanguageOf(program string) Language {
	switch program {
	case "node", "nodejs", "deno", "bun":
		return JavaScript
	case "perl":
		return Perl
	case "ruby":
		return Ruby
	case "php":
		return PHP
	case "lua":
		return Lua
	case "osascript", "Rscript", "tclsh":
		return Other
	}
	return Python
}

// maxTokens bounds the tokens of one program that are looked at.
const maxTokens = 200_000

// codeTokens splits a program. ok is false where its strings do not end, so that the
// tokens mean little.
func codeTokens(src string, lang Language) (out []codeToken, ok bool) {
	l := &lexer{src: src, lang: lang, ok: true, line: true, looks: 8*len(src) + 10_000}
	l.run()
	return l.out, l.ok
}

type lexer struct {
	src    string
	lang   Language
	i      int
	out    []codeToken
	open   []int
	line   bool
	indent bool
	ok     bool
	looks  int // bytes that may still be looked through for the end of a string
}

func (l *lexer) emit(kind tokenKind, text string) *codeToken {
	t := codeToken{kind: kind, text: text, line: l.line, indent: l.indent && l.line, open: -1, match: -1}
	if len(l.open) > 0 {
		t.open = l.open[len(l.open)-1]
	}
	n := len(l.out)
	if kind == signToken {
		switch text {
		case "(", "[", "{":
			l.open = append(l.open, n)
		case ")", "]", "}":
			if len(l.open) > 0 {
				t.match = t.open
				l.out[t.open].match = n
				t.open = l.out[t.open].open
				l.open = l.open[:len(l.open)-1]
			}
		}
	}
	l.line = false
	l.out = append(l.out, t)
	return &l.out[n]
}

func (l *lexer) at(s string) bool { return strings.HasPrefix(l.src[l.i:], s) }

// comment skips one that begins here.
func (l *lexer) comment() bool {
	line := func() bool {
		if n := strings.IndexByte(l.src[l.i:], '\n'); n >= 0 {
			l.i += n
		} else {
			l.i = len(l.src)
		}
		return true
	}
	switch l.lang {
	case JavaScript, PHP:
		if l.at("/*") {
			if n := strings.Index(l.src[l.i+2:], "*/"); n >= 0 {
				l.i += n + 4
			} else {
				l.i = len(l.src)
			}
			return true
		}
		if l.at("//") || l.lang == PHP && l.at("#") {
			return line()
		}
	case Lua:
		if l.at("--") {
			return line()
		}
	case Other:
		if l.at("# ") || l.at("#\n") {
			return line()
		}
	default:
		// In Perl $#list and s#a#b# are none.
		if l.at("#") && (l.lang != Perl || l.i == 0 || strings.IndexByte(" \t\n;{}", l.src[l.i-1]) >= 0) {
			return line()
		}
	}
	return false
}

func isNameByte(b byte) bool {
	return isLetter(b) || b == '_' || b >= '0' && b <= '9' || b >= 0x80
}

func (l *lexer) run() {
	for l.i < len(l.src) && len(l.out) < maxTokens {
		b := l.src[l.i]
		switch {
		case b == '\n':
			l.line, l.indent = true, false
			l.i++
		case b == ' ' || b == '\t' || b == '\r':
			l.indent = true
			l.i++
		case l.comment():
		case b == '"' || b == '\'' || b == '`':
			l.quoted(false, b == '"' && l.lang != Python && l.lang != JavaScript && l.lang != Lua || b == '`')
		case b >= '0' && b <= '9':
			from := l.i
			for l.i < len(l.src) && (isNameByte(l.src[l.i])) {
				l.i++
			}
			l.emit(numberToken, l.src[from:l.i])
		case isNameByte(b), b == '$', b == '@' && l.lang != Python:
			l.name()
		case l.lang == Ruby && b == '%' && l.percent():
		case b == '/' && l.regexp():
		default:
			l.sign()
		}
	}
}

// name reads an identifier, or the string that one introduces.
func (l *lexer) name() {
	if b := l.src[l.i]; b == '$' || b == '@' {
		l.i++
		if l.i >= len(l.src) || !isNameByte(l.src[l.i]) {
			if l.lang == JavaScript {
				l.emit(nameToken, "$")
			}
			return
		}
	}
	from := l.i
	for l.i < len(l.src) && isNameByte(l.src[l.i]) {
		l.i++
	}
	if l.lang == Ruby && l.i < len(l.src) && (l.src[l.i] == '?' || l.src[l.i] == '!') {
		l.i++
	}
	name := l.src[from:l.i]
	next := byte(0)
	if l.i < len(l.src) {
		next = l.src[l.i]
	}
	if l.lang == Python && (next == '"' || next == '\'') && len(name) <= 2 && strings.Trim(strings.ToLower(name), "rbfu") == "" {
		low := strings.ToLower(name)
		l.quoted(strings.Contains(low, "r"), strings.Contains(low, "f"))
		return
	}
	if l.lang == Perl && from > 0 && (l.src[from-1] == '$' || l.src[from-1] == '@') {
		l.emit(nameToken, name)
		return
	}
	if l.lang == Perl && l.perlQuote(name) {
		return
	}
	l.emit(nameToken, name)
}

// perlQuote reads q(), qq(), qw() and passes over s///, tr///, m// and qr//.
func (l *lexer) perlQuote(name string) bool {
	parts := 0
	switch name {
	case "q", "qq", "qw", "m", "qr":
		parts = 1
	case "s", "tr", "y":
		parts = 2
	default:
		return false
	}
	i := l.i
	for i < len(l.src) && l.src[i] == ' ' {
		i++
	}
	if i >= len(l.src) || isNameByte(l.src[i]) || strings.IndexByte(" \t\n,;=)]}>", l.src[i]) >= 0 || l.src[i] == '#' && i > l.i {
		return false
	}
	text, end := l.delimited(i)
	if end < 0 {
		return false
	}
	if parts == 2 {
		if closing(l.src[i]) != l.src[i] {
			for end < len(l.src) && strings.IndexByte(" \t\n", l.src[end]) >= 0 {
				end++
			}
			_, end = l.delimited(end)
		} else {
			_, end = l.delimited(end - 1)
		}
		if end < 0 {
			return false
		}
	}
	l.i = end
	if name[0] == 'q' && name != "qr" {
		t := l.emit(stringToken, text)
		t.words = name == "qw"
		if name == "qq" {
			t.pieces = pieces(text, Perl)
		}
	}
	return true
}

// percent reads %w[], %q() and their like of Ruby.
func (l *lexer) percent() bool {
	i, words := l.i+1, false
	if i < len(l.src) && strings.IndexByte("qQwWiI", l.src[i]) >= 0 {
		words = strings.IndexByte("wWiI", l.src[i]) >= 0
		i++
	}
	if i >= len(l.src) || strings.IndexByte("([{<|!/", l.src[i]) < 0 {
		return false
	}
	text, end := l.delimited(i)
	if end < 0 {
		return false
	}
	l.i = end
	t := l.emit(stringToken, text)
	t.words, t.pieces = words, pieces(text, Ruby)
	return true
}

func closing(b byte) byte {
	switch b {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	case '<':
		return '>'
	}
	return b
}

// delimited is [delimited] as long as the lexer looks no further than is linear.
func (l *lexer) delimited(i int) (string, int) {
	if l.looks < 0 {
		l.ok = false
		return "", -1
	}
	text, end := delimited(l.src, i)
	if end < 0 {
		l.looks -= len(l.src) - i
	} else {
		l.looks -= end - i
	}
	return text, end
}

// delimited is the text between the delimiter at i and its partner, and the
// offset behind that; -1 if there is none.
func delimited(src string, i int) (string, int) {
	if i >= len(src) {
		return "", -1
	}
	from, to, depth := src[i], closing(src[i]), 0
	for j := i + 1; j < len(src); j++ {
		switch b := src[j]; {
		case b == '\\':
			j++
		case b == to && depth == 0:
			return src[i+1 : j], j + 1
		case b == to:
			depth--
		case b == from:
			depth++
		}
	}
	return "", -1
}

// regexp passes over a regular expression, where one can stand.
func (l *lexer) regexp() bool {
	if l.lang != JavaScript && l.lang != Ruby && l.lang != Perl {
		return false
	}
	if n := len(l.out); n > 0 {
		switch t := l.out[n-1]; t.kind {
		case nameToken:
			if !slices.Contains([]string{"return", "typeof", "in", "case", "if", "unless", "and", "or", "not", "split", "grep", "when"}, t.text) {
				return false
			}
		case signToken:
			if t.text == ")" || t.text == "]" || t.text == "}" {
				return false
			}
		default:
			return false
		}
	}
	class := false
	for j := l.i + 1; j < len(l.src) && l.src[j] != '\n' && l.looks >= 0; j++ {
		l.looks--
		switch b := l.src[j]; {
		case b == '\\':
			j++
		case b == '[':
			class = true
		case b == ']':
			class = false
		case b == '/' && !class:
			l.i = j + 1
			for l.i < len(l.src) && isLetter(l.src[l.i]) {
				l.i++
			}
			l.emit(numberToken, "/")
			return true
		}
	}
	return false
}

// sign reads punctuation: what is told apart by it is a value that is assigned,
// compared or joined.
func (l *lexer) sign() {
	for _, s := range [...]string{"===", "!==", "**=", "...", "||=", "&&=", "??=", "//=", "=>", "==", "!=", ">=", "<=", "+=", ".=", "-=", "*=", "/=", ":=", "->", "::", "?.", "&.", "||", "&&", "??", "..", "=~", "!~", "<<", ">>", "**"} {
		if l.at(s) {
			l.i += len(s)
			l.emit(signToken, s)
			return
		}
	}
	l.i++
	l.emit(signToken, l.src[l.i-1:l.i])
}

// quoted reads a string in quotes.
func (l *lexer) quoted(raw, values bool) {
	quote := l.src[l.i : l.i+1]
	if l.lang == Python && l.at(strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	from := l.i + len(quote)
	for j := from; j < len(l.src) && l.looks >= 0; j++ {
		l.looks--
		switch {
		case l.src[j] == '\\':
			j++
		case l.src[j] == '\n' && l.lang == Python && len(quote) == 1:
			l.broken(from)
			return
		case strings.HasPrefix(l.src[j:], quote):
			text := l.src[from:j]
			l.i = j + len(quote)
			plain := text
			if !raw {
				plain = unescape(text)
			}
			t := l.emit(stringToken, plain)
			if values {
				t.pieces = pieces(plain, l.lang)
			}
			return
		}
	}
	l.broken(from)
}

func (l *lexer) broken(from int) {
	l.ok = false
	l.i = from
}

func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		width := 0
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
			continue
		case 't':
			b.WriteByte('\t')
			continue
		case '\n':
			continue
		case 'x':
			width = 2
		case 'u':
			width = 4
		}
		if n, err := strconv.ParseUint(s[min(len(s), i+1):min(len(s), i+1+width)], 16, 32); width > 0 && err == nil {
			b.WriteRune(rune(n))
			i += width
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// pieces parts a string at the values that stand in it; nil if there are none.
func pieces(s string, lang Language) []piece {
	var out []piece
	last, looks := 0, 8*len(s)
	add := func(from, to int, code string) {
		if from > last {
			out = append(out, piece{text: s[last:from]})
		}
		out = append(out, piece{text: code, code: true})
		last = to
	}
	for i := 0; i < len(s); i++ {
		head := ""
		switch {
		case lang == Python && s[i] == '{':
			if i+1 < len(s) && s[i+1] == '{' {
				i++
				continue
			}
			head = "{"
		case lang == Ruby && strings.HasPrefix(s[i:], "#{"):
			head = "#{"
		case lang == PHP && strings.HasPrefix(s[i:], "{$"):
			head = "{"
		case lang == JavaScript && strings.HasPrefix(s[i:], "${"), (lang == Perl || lang == PHP) && strings.HasPrefix(s[i:], "${"):
			head = "${"
		case (lang == Perl || lang == PHP) && (s[i] == '$' || s[i] == '@') && i+1 < len(s) && isNameByte(s[i+1]):
			j := i + 1
			for j < len(s) && isNameByte(s[j]) {
				j++
			}
			if j < len(s) && (s[j] == '{' || s[j] == '[') {
				if _, end := delimited(s, j); end > 0 {
					j = end
				} else if looks -= len(s) - j; looks < 0 {
					break
				}
			}
			add(i, j, s[i:j])
			i = j - 1
			continue
		default:
			continue
		}
		code, end := delimited(s, i+len(head)-1)
		if end < 0 {
			break
		}
		if lang == Python {
			code, _, _ = strings.Cut(code, "!")
			if !strings.ContainsAny(code, "[(") {
				code, _, _ = strings.Cut(code, ":")
			}
		}
		add(i, end, code)
		i = end - 1
	}
	if out != nil && last < len(s) {
		out = append(out, piece{text: s[last:]})
	}
	return out
}
