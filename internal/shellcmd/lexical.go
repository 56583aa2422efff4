package shellcmd

import (
	"strings"
)

// A splitter finds commands in text that no parser takes, by quotes and
// separators alone. It keeps its own stack for nested substitutions, so that
// no depth of nesting can overflow, and looks at each byte once.
type splitter struct {
	w  *walker
	sh *shell
	o  *origin

	stack []pending
	pending
}

// A pending is a command of which the end has not been reached.
type pending struct {
	words   []Word
	redirs  []Redirect
	assigns []Assign
	cur     []byte
	started bool
	quoted  bool
	from    int // where the current word starts
	start   int // where the command starts
	redir   string
	close   byte // what ends a nested command: ')' or '`'
	inQuote bool // the substitution stands in a double-quoted string
}

const maxLexicalDepth = 10000

// runLexical splits the rest of a shell text from an offset on.
func (w *walker) runLexical(sh *shell, o *origin, rest int) {
	w.line.Exact = false
	ctx := w.ctx
	w.ctx.inexact = true
	w.ctx.src = o
	s := &splitter{w: w, sh: sh, o: o}
	s.start = rest
	s.shell(o.text, rest)
	w.ctx = ctx
}

func (s *splitter) begin(i int) {
	if !s.started {
		s.started, s.from = true, i
	}
}

// word ends the current word before offset i.
func (s *splitter) word(i int) {
	if !s.started {
		return
	}
	wd := s.w.word(string(s.cur))
	wd.Quoted = s.quoted
	wd.Pos, wd.End = s.span(s.from, i)
	s.cur = s.cur[:0:0]
	s.started, s.quoted = false, false
	switch {
	case s.redir != "":
		s.redirs = append(s.redirs, Redirect{Op: s.redir, Target: wd})
		s.redir = ""
	case len(s.words) == 0 && !wd.Quoted && isKeyword(wd.raw):
	case !wd.Quoted && (wd.raw == "{" || wd.raw == "}" || wd.raw == "]]"):
		s.command(s.from) // zsh: if [[ … ]] { … }
	case len(s.words) == 0 && isAssignment(wd.raw):
		name, _, _ := strings.Cut(wd.raw, "=")
		v, _ := wd.After(name + "=")
		s.assigns = append(s.assigns, Assign{Name: name, Value: v, Inline: true})
	default:
		if len(s.words) == 0 {
			s.start = s.from
		}
		s.words = append(s.words, wd)
	}
}

func (s *splitter) span(from, to int) (int, int) {
	if s.o.off < 0 {
		return 0, 0
	}
	return s.o.at(uint(from)), s.o.at(uint(min(to, len(s.o.text))))
}

func isKeyword(s string) bool {
	switch s {
	case "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "case", "esac", "in", "!", "{", "}", "time", "coproc", "function", "[[", "]]", "((", "))":
		return true
	}
	return false
}

func isAssignment(s string) bool {
	i := strings.IndexByte(s, '=')
	if i <= 0 || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for j := range i {
		if !isWordByte(s[j]) {
			return false
		}
	}
	return true
}

// command ends the current command before offset i.
func (s *splitter) command(i int) {
	s.word(i)
	if len(s.words) > 0 {
		inv := &invocation{args: s.words, inline: s.assigns, redirs: s.redirs}
		inv.pos, inv.end = s.span(s.start, i)
		in, out := s.sh.in, s.sh.out
		s.sh.in, s.sh.out = nil, nil
		s.w.run(s.sh, inv)
		s.sh.in, s.sh.out = in, out
	} else {
		for _, a := range s.assigns {
			s.sh.put(a.Name, &variable{vals: []string{a.Value.raw}})
		}
	}
	s.words, s.redirs, s.assigns, s.redir = nil, nil, nil, ""
}

// open begins a nested command; its output is unknown.
func (s *splitter) open(i int, closer byte, inQuote bool) {
	if len(s.stack) >= maxLexicalDepth {
		s.w.line.Limited = true
		s.command(i)
		return
	}
	s.stack = append(s.stack, s.pending)
	s.pending = pending{close: closer, inQuote: inQuote, start: i}
}

// shut ends a nested command and reports whether the outer one was in quotes.
func (s *splitter) shut(i int) bool {
	s.command(i)
	inQuote := s.inQuote
	s.pending = s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	if s.started {
		s.cur = append(s.cur, s.w.mark(Part{Kind: Substitution})...)
	}
	return inQuote
}

// shell splits text in the syntax of sh.
func (s *splitter) shell(t string, i int) {
	double := false
	var heredocs []string
	var unended map[string]bool // delimiters that do not come any more
	for i < len(t) {
		c := t[i]
		if double {
			switch {
			case c == '"':
				double = false
				i++
			case c == '\\' && i+1 < len(t):
				if strings.IndexByte("$`\"\\", t[i+1]) < 0 {
					s.cur = append(s.cur, '\\')
				}
				if t[i+1] != '\n' {
					s.cur = append(s.cur, t[i+1])
				}
				i += 2
			case c == '$' && i+1 < len(t) && t[i+1] == '(':
				s.open(i+2, ')', true)
				double = false
				i += 2
			case c == '`':
				s.open(i+1, '`', true)
				double = false
				i++
			case c == '$':
				i = s.variable(t, i)
			default:
				s.cur = append(s.cur, c)
				i++
			}
			continue
		}
		if s.close == c && len(s.stack) > 0 {
			double = s.shut(i)
			i++
			continue
		}
		switch c {
		case ' ', '\t', '\r':
			s.word(i)
			i++
		case '\n':
			s.command(i)
			i++
			for _, stop := range heredocs {
				if unended[stop] {
					continue
				}
				next, ok := skipHeredoc(t, i, stop)
				if !ok {
					if unended == nil {
						unended = map[string]bool{}
					}
					unended[stop] = true
				}
				i = next
			}
			heredocs = nil
		case ';', '&', '|':
			if c == '&' && i+1 < len(t) && t[i+1] == '>' {
				s.word(i)
				s.redir = "&>"
				i += 2
				continue
			}
			if c == '&' && s.redir != "" && !s.started {
				s.redir += "&" // >&2
				i++
				continue
			}
			s.command(i)
			i++
		case '(':
			s.command(i)
			i++
		case ')':
			s.command(i)
			i++
		case '<', '>':
			if s.started && isDigits(string(s.cur)) {
				s.cur = nil
				s.started = false
			}
			s.word(i)
			j := i
			for j < len(t) && (t[j] == '<' || t[j] == '>' || t[j] == '|') {
				j++
			}
			s.redir = t[i:j]
			i = j
			if s.redir == "<<" {
				var stop string
				stop, i = heredocStop(t, i)
				if stop != "" {
					heredocs = append(heredocs, stop)
				}
				s.redir = ""
			} else if i < len(t) && t[i] == '(' {
				s.redir = ""
				s.begin(i)
				s.open(i+1, ')', false)
				i++
			}
		case '#':
			if s.started {
				s.cur = append(s.cur, c)
				i++
				continue
			}
			for i < len(t) && t[i] != '\n' {
				i++
			}
		case '\'':
			s.begin(i)
			s.quoted = true
			end := strings.IndexByte(t[i+1:], '\'')
			if end < 0 {
				s.cur = append(s.cur, t[i+1:]...)
				i = len(t)
				continue
			}
			s.cur = append(s.cur, t[i+1:i+1+end]...)
			i += end + 2
		case '"':
			s.begin(i)
			s.quoted = true
			double = true
			i++
		case '\\':
			if i+1 < len(t) && t[i+1] == '\n' {
				i += 2
				continue
			}
			s.begin(i)
			if i+1 < len(t) {
				s.cur = append(s.cur, t[i+1])
			}
			i += 2
		case '`':
			s.begin(i)
			s.open(i+1, '`', false)
			i++
		case '$':
			s.begin(i)
			if i+1 < len(t) && t[i+1] == '(' {
				s.open(i+2, ')', false)
				i += 2
				continue
			}
			if i+1 < len(t) && t[i+1] == '\'' {
				end := ansiEnd(t, i+2)
				s.cur = append(s.cur, ansiC(t[i+2:end])...)
				s.quoted = true
				i = end + 1
				continue
			}
			i = s.variable(t, i)
		default:
			s.begin(i)
			s.cur = append(s.cur, c)
			i++
		}
	}
	s.finish(len(t))
}

// finish ends all that is still open, innermost first.
func (s *splitter) finish(i int) {
	for len(s.stack) > 0 {
		s.shut(i)
	}
	s.command(i)
}

func ansiEnd(t string, i int) int {
	for i < len(t) && t[i] != '\'' {
		if t[i] == '\\' {
			i++
		}
		i++
	}
	return min(i, len(t))
}

// variable adds $NAME or ${NAME} and returns the offset behind it.
func (s *splitter) variable(t string, i int) int {
	s.begin(i)
	j := i + 1
	if j < len(t) && t[j] == '{' {
		end := strings.IndexByte(t[j:min(len(t), j+256)], '}')
		if end < 0 {
			s.cur = append(s.cur, '$')
			return j
		}
		s.value(t[j+1 : j+end])
		return j + end + 1
	}
	for j < len(t) && isWordByte(t[j]) {
		j++
	}
	if j == i+1 {
		s.cur = append(s.cur, '$')
		return j
	}
	s.value(t[i+1 : j])
	return j
}

func (s *splitter) value(name string) {
	if v, ok := s.w.lookupValue(s.sh, name); ok && len(s.cur)+len(v) < maxValue {
		if s.w.made -= len(v); s.w.made > 0 {
			s.cur = append(s.cur, v...)
			return
		}
	}
	s.cur = append(s.cur, s.w.varMark(name)...)
}

func heredocStop(t string, i int) (string, int) {
	if i < len(t) && t[i] == '-' {
		i++
	}
	for i < len(t) && (t[i] == ' ' || t[i] == '\t') {
		i++
	}
	j := i
	for j < len(t) && strings.IndexByte(" \t\n;&|<>()", t[j]) < 0 {
		j++
	}
	return strings.Trim(t[i:j], `'"\`), j
}

// skipHeredoc returns the offset behind the line that ends a here-document, or
// the same offset and false if none does.
func skipHeredoc(t string, i int, stop string) (int, bool) {
	for j := i; j < len(t); {
		end := strings.IndexByte(t[j:], '\n')
		line, next := t[j:], len(t)
		if end >= 0 {
			line, next = t[j:j+end], j+end+1
		}
		if strings.TrimLeft(strings.TrimSuffix(line, "\r"), "\t") == stop {
			return next, true
		}
		j = next
	}
	return i, false
}
