package shellcmd

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A token of a shell pattern: a byte, or one of the active characters.
type patternToken struct {
	kind byte // 0 literal, '*', '?', '['
	c    byte
	set  string // of a bracket, without the brackets
}

// compilePattern reads a pattern in which glob marks are the active characters.
func (w *walker) compilePattern(pat string) ([]patternToken, bool) {
	var toks []patternToken
	for i := 0; i < len(pat); {
		p, n := w.partOf(pat[i:])
		if n == 0 {
			toks = append(toks, patternToken{c: pat[i]})
			i++
			continue
		}
		if p.Kind != Glob {
			return nil, false
		}
		i += n
		switch p.Text {
		case "*", "?":
			toks = append(toks, patternToken{kind: p.Text[0]})
		case "[":
			end := strings.IndexByte(pat[min(i+1, len(pat)):], ']')
			if end < 0 {
				return nil, false
			}
			set := pat[i : i+1+end]
			if !isStatic(set) || strings.Contains(set, "[:") {
				return nil, false
			}
			toks = append(toks, patternToken{kind: '[', set: set})
			i += end + 2
		default:
			return nil, false // extended globs
		}
	}
	return toks, true
}

func (t patternToken) matches(c byte) bool {
	switch t.kind {
	case '?':
		return true
	case '[':
		set := t.set
		not := set != "" && (set[0] == '!' || set[0] == '^')
		if not {
			set = set[1:]
		}
		in := false
		for i := 0; i < len(set); i++ {
			if i+2 < len(set) && set[i+1] == '-' {
				in = in || set[i] <= c && c <= set[i+2]
				i += 2
				continue
			}
			in = in || set[i] == c
		}
		return in != not
	}
	return t.c == c
}

// match reports whether the whole of s matches.
func match(toks []patternToken, s string) bool {
	i, j, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case j < len(toks) && toks[j].kind == '*':
			star, mark = j, i
			j++
		case j < len(toks) && toks[j].kind != '*' && toks[j].matches(s[i]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = mark, star+1
		default:
			return false
		}
	}
	for j < len(toks) && toks[j].kind == '*' {
		j++
	}
	return j == len(toks)
}

// trimPattern is ${s#pat} and its kin; false if it cannot be told.
func (w *walker) trimPattern(s, pat string, op syntax.ParExpOperator) (string, bool) {
	toks, ok := w.compilePattern(pat)
	if !ok || !isStatic(s) || !w.spend(len(s)*len(s)*(len(toks)+1)) {
		return "", false
	}
	switch op {
	case syntax.RemSmallPrefix:
		for i := 0; i <= len(s); i++ {
			if match(toks, s[:i]) {
				return s[i:], true
			}
		}
	case syntax.RemLargePrefix:
		for i := len(s); i >= 0; i-- {
			if match(toks, s[:i]) {
				return s[i:], true
			}
		}
	case syntax.RemSmallSuffix:
		for i := len(s); i >= 0; i-- {
			if match(toks, s[i:]) {
				return s[:i], true
			}
		}
	default:
		for i := 0; i <= len(s); i++ {
			if match(toks, s[i:]) {
				return s[:i], true
			}
		}
	}
	return s, true
}

// replacePattern is ${s/pat/with}.
func (w *walker) replacePattern(s, pat, with string, all bool) (string, bool) {
	anchor := byte(0)
	if !all && pat != "" && (pat[0] == '#' || pat[0] == '%') {
		anchor, pat = pat[0], pat[1:]
	}
	toks, ok := w.compilePattern(pat)
	if !ok || !w.spend(len(s)*len(s)*(len(toks)+1)) {
		return "", false
	}
	if len(toks) == 0 && anchor == 0 {
		return s, true
	}
	var b strings.Builder
	for i := 0; i <= len(s); {
		end := -1
		if anchor != '#' || i == 0 {
			for j := len(s); j >= i; j-- {
				if (anchor != '%' || j == len(s)) && match(toks, s[i:j]) {
					end = j
					break
				}
			}
		}
		if end < 0 || (end == i && anchor == 0) {
			if i < len(s) {
				b.WriteByte(s[i])
			}
			i++
			continue
		}
		b.WriteString(with)
		if !all {
			b.WriteString(s[end:])
			return b.String(), true
		}
		if end == i {
			break
		}
		i = end
	}
	if b.Len() > maxValue {
		return "", false
	}
	return b.String(), true
}

// MayName reports whether the program of c may be one with this name: it is, or
// it is written with globs that match it, as in /usr/bin/g?t. A program that
// comes from an unknown variable or substitution is not matched.
func (c *Command) MayName(name string) bool {
	if c.Args[0].Static {
		return c.Name() == name
	}
	if !c.Args[0].Glob || c.line == nil {
		return false
	}
	raw := c.Args[0].raw
	raw = raw[strings.LastIndexByte(raw, '/')+1:]
	toks, ok := c.line.w.compilePattern(raw)
	return ok && len(toks) < 256 && match(toks, name)
}
