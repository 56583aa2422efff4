package shellcmd

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxFields    = 4096 // words that one expansion may make
	maxWordDepth = 200  // nesting of ${a:-${b:-…}} that is followed
)

// An expander turns written words into fields.
type expander struct {
	w  *walker
	sh *shell

	split   bool // unquoted expansions split into fields and glob
	globs   bool // unquoted glob characters of the word itself are active
	out     []Word
	cur     strings.Builder
	started bool
	quoted  bool
	always  bool // split even if the shell does not split variables
	depth   int
}

// words expands the words of a command.
func (w *walker) words(sh *shell, list []*syntax.Word) []Word {
	out := w.wordSlice(len(list))
	for _, word := range list {
		// Nearly all words are one plain literal.
		if len(word.Parts) == 1 {
			if lit, ok := word.Parts[0].(*syntax.Lit); ok && plain(lit.Value) {
				pos, end := w.span(lit.ValuePos, lit.ValueEnd)
				v := unescapeRaw(lit.Value)
				out = append(out, Word{Value: v, Static: true, Pos: pos, End: end, raw: lit.Value, src: w.srcOf(lit.Value, lit.ValuePos)})
				continue
			}
		}
		out = append(out, w.fields(sh, word)...)
	}
	return out
}

// wordSlice cuts an empty slice for n words from a larger piece of memory: a
// long line has some hundred thousand of them.
func (w *walker) wordSlice(n int) []Word {
	if n > 16 {
		return make([]Word, 0, n)
	}
	if len(w.wordSlab) < n {
		w.wordSlab = make([]Word, min(16+2*len(w.line.Commands), 512))
	}
	s := w.wordSlab[:0:n]
	w.wordSlab = w.wordSlab[n:]
	return s
}

// plain reports whether an unquoted literal means itself.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\', '*', '?', '[', '{', '~', markLead:
			return false
		}
	}
	return true
}

// srcOf is the offset of a literal in Line.Source if it stands there verbatim.
func (w *walker) srcOf(s string, at syntax.Pos) int {
	o := w.ctx.src
	if o == nil || o.off < 0 || o.shifts != nil {
		return -1
	}
	i := o.at(at.Offset())
	if i < 0 || i+len(s) > len(w.line.Source) || w.line.Source[i:i+len(s)] != s {
		return -1
	}
	return i
}

// fields expands one word into the words that a command gets for it.
func (w *walker) fields(sh *shell, word *syntax.Word) []Word {
	list := []*syntax.Word{word}
	if sh.braces {
		list = w.expandBraces(word)
	}
	pos, end := w.span(word.Pos(), word.End())
	var out []Word
	for _, wd := range list {
		e := &expander{w: w, sh: sh, split: true, globs: true}
		e.word(wd)
		e.flush()
		for i := range e.out {
			e.out[i].Pos, e.out[i].End = pos, end
		}
		if len(e.out) == 1 && len(wd.Parts) == 1 && len(list) == 1 {
			e.out[0].src = w.verbatim(wd.Parts[0], e.out[0].raw)
		}
		out = append(out, e.out...)
		if len(out) > maxFields {
			w.line.Limited = true
			break
		}
	}
	return out
}

// verbatim finds where a quoted word's value stands in the source.
func (w *walker) verbatim(part syntax.WordPart, value string) int {
	switch p := part.(type) {
	case *syntax.SglQuoted:
		if !p.Dollar {
			return w.srcOf(value, offsetBy(p.Left, 1))
		}
	case *syntax.DblQuoted:
		if !p.Dollar && len(p.Parts) == 1 {
			return w.srcOf(value, p.Parts[0].Pos())
		}
	case *syntax.Lit:
		return w.srcOf(value, p.ValuePos)
	}
	return -1
}

func offsetBy(p syntax.Pos, n uint) syntax.Pos {
	return syntax.NewPos(p.Offset()+n, p.Line(), p.Col()+n)
}

// value expands a word without splitting and globbing, as in an assignment.
func (w *walker) value(sh *shell, word *syntax.Word) string {
	if word == nil {
		return ""
	}
	e := &expander{w: w, sh: sh}
	e.assignment(word)
	return e.joined()
}

// pattern expands a word whose unquoted glob characters stay active.
func (w *walker) pattern(sh *shell, word *syntax.Word) string {
	if word == nil {
		return ""
	}
	e := &expander{w: w, sh: sh, globs: true}
	e.word(word)
	return e.joined()
}

// joined is the expansion of a word that stays one word.
func (e *expander) joined() string {
	e.flush()
	switch len(e.out) {
	case 0:
		return ""
	case 1:
		return e.out[0].raw
	}
	var list []string
	for _, f := range e.out {
		list = append(list, f.raw)
	}
	return strings.Join(list, " ")
}

func (e *expander) flush() {
	if !e.started {
		return
	}
	f := e.w.word(e.cur.String())
	f.Quoted = e.quoted
	e.out = append(e.out, f)
	e.w.made -= 64
	e.cur.Reset()
	e.started, e.quoted = false, false
}

// lit adds text as it is.
func (e *expander) lit(s string) {
	if e.w.made -= len(s); e.w.made < 0 || e.cur.Len()+len(s) > maxValue {
		e.w.line.Limited = true
		s = otherMark
	}
	e.cur.WriteString(s)
	e.started = true
}

// expansion adds the result of an expansion.
func (e *expander) expansion(s string, quoted bool) {
	if e.w.made -= len(s); e.w.made < 0 {
		e.lit(otherMark)
		return
	}
	if quoted || !e.split {
		if s != "" || quoted {
			e.lit(s)
		}
		return
	}
	ifs := e.w.ifs(e.sh)
	start := 0
	add := func(end int) {
		if end > start {
			e.lit(e.activeGlobs(s[start:end]))
		}
	}
	for i := 0; i < len(s); i++ {
		if e.sh.noSplit && !e.always || strings.IndexByte(ifs, s[i]) < 0 {
			continue
		}
		add(i)
		start = i + 1
		if strings.IndexByte(" \t\n", s[i]) < 0 {
			e.started = true // a separator that is no blank ends even an empty field
		}
		e.flush()
		if len(e.out) > maxFields || e.w.made < 0 {
			e.w.line.Limited = true
			return
		}
	}
	add(len(s))
}

func (e *expander) activeGlobs(s string) string {
	if e.sh.noSplit || !strings.ContainsAny(s, "*?[") {
		return s
	}
	var b strings.Builder
	last := strings.LastIndexByte(s, ']')
	for i := 0; i < len(s); i++ {
		if isGlobAt(s, i, last) {
			b.WriteString(e.w.globMark(s[i]))
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// isGlobAt reports whether s[i] is active; last is where the last ] of s is.
func isGlobAt(s string, i, last int) bool {
	return s[i] == '*' || s[i] == '?' || s[i] == '[' && i+1 < last
}

// ifs are the field separators.
func (w *walker) ifs(sh *shell) string {
	v := sh.lookup("IFS")
	if v == nil || len(v.vals) == 0 || !isStatic(v.vals[0]) {
		return " \t\n"
	}
	return v.vals[0]
}

// word adds the parts of a word.
func (e *expander) word(word *syntax.Word) {
	if e.depth++; e.depth > maxWordDepth {
		e.w.line.Limited = true
		e.lit(otherMark)
		e.depth--
		return
	}
	for i, p := range word.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			e.unquoted(lit.Value, i == 0, word.Parts[i+1:])
			continue
		}
		e.part(p, false)
	}
	e.depth--
}

// closes reports whether a ] follows in a later part of the word.
func closes(parts []syntax.WordPart) bool {
	for _, p := range parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.IndexByte(lit.Value, ']') >= 0 {
			return true
		}
	}
	return false
}

// assignment adds a word in which ~ is active after = and : too.
func (e *expander) assignment(word *syntax.Word) {
	for i, p := range word.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok {
			e.part(p, false)
			continue
		}
		s := lit.Value
		for first := i == 0; ; first = true {
			j := strings.Index(s, ":~")
			if j < 0 {
				e.unquoted(s, first, nil)
				break
			}
			e.unquoted(s[:j+1], first, nil)
			s = s[j+1:]
		}
	}
}

// unquoted adds an unquoted literal: backslashes quote, ~ and globs are active.
func (e *expander) unquoted(s string, first bool, rest []syntax.WordPart) {
	if first && strings.HasPrefix(s, "~") {
		s = e.tilde(s)
	} else if first && e.split {
		if i := strings.Index(s, "=~"); i > 0 && syntax.ValidName(s[:i]) {
			e.lit(s[:i+1])
			s = e.tilde(s[i+1:])
		}
	}
	if plain(s) || (isStatic(s) && !strings.ContainsAny(s, `\*?[`)) {
		if s != "" {
			e.lit(s)
		}
		return
	}
	last := strings.LastIndexByte(s, ']')
	if e.globs && len(rest) > 0 && strings.IndexByte(s, '[') >= 0 && closes(rest) {
		last = len(s) + 1
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			if i+1 < len(s) {
				i++
				e.quoted = true
				e.lit(s[i : i+1])
			} else {
				e.lit(`\`)
			}
		case e.globs && isGlobAt(s, i, last):
			e.lit(e.w.globMark(s[i]))
		default:
			e.lit(s[i : i+1])
		}
	}
}

// tilde resolves a leading ~ and returns the rest of the text.
func (e *expander) tilde(s string) string {
	end := strings.IndexAny(s, "/:")
	if end < 0 {
		end = len(s)
	}
	name := s[1:end]
	rest := s[end:]
	switch name {
	case "":
		if home, ok := e.w.lookupValue(e.sh, "HOME"); ok && home != "" {
			e.lit(home)
		} else {
			e.lit(e.w.tildeMark("~"))
		}
		return rest
	case "+":
		e.lit(e.w.pwd(e.sh))
		return rest
	case "-":
		e.lit(e.w.oldPwd(e.sh))
		return rest
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; !isWordByte(c) && c != '-' && c != '.' {
			e.lit("~")
			return s[1:]
		}
	}
	e.lit(e.w.tildeMark("~" + name))
	return rest
}

func (w *walker) tildeMark(s string) string {
	m, ok := w.varMarks[s]
	if !ok {
		m = w.mark(Part{Text: s, Kind: Tilde})
		if w.varMarks == nil {
			w.varMarks = map[string]string{}
		}
		w.varMarks[s] = m
	}
	return m
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// part adds one part of a word.
func (e *expander) part(p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			e.lit(unescapeDouble(p.Value))
		} else {
			e.unquoted(p.Value, false, nil)
		}
	case *syntax.SglQuoted:
		e.quoted = true
		if p.Dollar {
			e.lit(ansiC(p.Value))
		} else {
			e.lit(p.Value)
		}
	case *syntax.DblQuoted:
		e.quoted = true
		// An empty "" is a field; a lone "$@" without parameters is none.
		if !(len(p.Parts) == 1 && isAllParams(p.Parts[0])) {
			e.started = true
		}
		for _, q := range p.Parts {
			e.part(q, true)
		}
	case *syntax.ParamExp:
		e.param(p, quoted)
	case *syntax.CmdSubst:
		// zsh splits these, though not variables.
		e.always = true
		e.expansion(e.w.substitution(e.sh, p), quoted)
		e.always = false
	case *syntax.ArithmExp:
		if v, ok := e.w.arithm(e.sh, p.X); ok {
			e.expansion(strconv.FormatInt(v, 10), quoted)
		} else {
			e.expansion(e.w.mark(Part{Kind: Other}), quoted)
		}
	case *syntax.ProcSubst:
		e.lit(e.w.processSubstitution(e.sh, p))
	case *syntax.ExtGlob:
		if e.globs {
			e.lit(e.w.mark(Part{Text: p.Op.String() + p.Pattern.Value + ")", Kind: Glob}))
		} else {
			e.lit(p.Op.String() + p.Pattern.Value + ")")
		}
	case *syntax.BraceExp:
		e.lit(otherMark)
	}
}

func isAllParams(p syntax.WordPart) bool {
	pe, ok := p.(*syntax.ParamExp)
	if !ok {
		return false
	}
	if pe.Param != nil && pe.Param.Value == "@" {
		return true
	}
	word, ok := pe.Index.(*syntax.Word)
	return ok && word.Lit() == "@"
}

// unescapeDouble removes the backslashes that mean something in "…".
func unescapeDouble(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '$', '`', '"', '\\':
				i++
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansiC resolves the escapes of $'…'.
func ansiC(s string) string {
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
		switch c := s[i]; c {
		case 'c':
			if i+1 < len(s) {
				i++
				b.WriteByte(s[i] & 0x1f)
			}
		case '\'', '"', '?':
			b.WriteByte(c)
		default:
			n, text := escape(s[i:], false)
			if n == 0 {
				b.WriteByte('\\')
				b.WriteByte(c)
				continue
			}
			if text == "\x00" {
				// A NUL ends the string in bash.
				return b.String()
			}
			b.WriteString(text)
			i += n - 1
		}
	}
	return b.String()
}

// escape resolves the escape that follows a backslash: how much of s it takes,
// 0 if it is none, and its text. Octal is \nnn, or \0nnn if zero is set.
func escape(s string, zero bool) (int, string) {
	switch s[0] {
	case 'a':
		return 1, "\a"
	case 'b':
		return 1, "\b"
	case 'e', 'E':
		return 1, "\x1b"
	case 'f':
		return 1, "\f"
	case 'n':
		return 1, "\n"
	case 'r':
		return 1, "\r"
	case 't':
		return 1, "\t"
	case 'v':
		return 1, "\v"
	case '\\':
		return 1, `\`
	case 'x':
		n := digits(s[1:], 2, 16)
		if n == 0 {
			return 0, ""
		}
		v, _ := strconv.ParseUint(s[1:1+n], 16, 32)
		return 1 + n, byteText(byte(v))
	case 'u', 'U':
		limit := 4
		if s[0] == 'U' {
			limit = 8
		}
		n := digits(s[1:], limit, 16)
		if n == 0 {
			return 0, ""
		}
		v, _ := strconv.ParseUint(s[1:1+n], 16, 64)
		if v >= markFirst {
			v = 0xFFFD
		}
		return 1 + n, string(rune(v))
	case '0', '1', '2', '3', '4', '5', '6', '7':
		limit := 3
		if zero {
			if s[0] != '0' {
				return 0, ""
			}
			limit = 4
		}
		n := digits(s, limit, 8)
		v, _ := strconv.ParseUint(s[:n], 8, 32)
		return n, byteText(byte(v))
	}
	return 0, ""
}

// byteText is one byte of output in escaped form, if it is not ASCII. UTF-8
// that is spelled out byte by byte stays in that form, which compares equal.
func byteText(b byte) string {
	if b < 0x80 {
		return string(rune(b))
	}
	return string(rune(rawFirst + rune(b)))
}

func digits(s string, limit, base int) int {
	n := 0
	for n < len(s) && n < limit {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	return n
}
