package shellcmd

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxBraceOpen  = 64   // opening braces in one word that are still expanded
	maxBraceWords = 1024 // words that one brace expansion may make
)

// expandBraces returns the words that {a,b} and {1..3} make of a word.
func (w *walker) expandBraces(word *syntax.Word) []*syntax.Word {
	open := 0
	for _, p := range word.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			open += strings.Count(lit.Value, "{")
		}
	}
	if open == 0 {
		return []*syntax.Word{word}
	}
	if open > maxBraceOpen {
		w.line.Limited = true
		return []*syntax.Word{word}
	}
	cp := &syntax.Word{Parts: word.Parts}
	if !syntax.SplitBraces(cp) {
		return []*syntax.Word{word}
	}
	budget := min(maxBraceWords, max(w.made/256, 1))
	before := budget
	out := braceWords(cp, &budget)
	w.made -= 256 * (before - budget)
	if budget < 0 {
		w.line.Limited = true
		lit := &syntax.Lit{ValuePos: word.Pos(), ValueEnd: word.End(), Value: otherMark}
		return []*syntax.Word{{Parts: []syntax.WordPart{lit}}}
	}
	return out
}

func braceWords(word *syntax.Word, budget *int) []*syntax.Word {
	out := []*syntax.Word{{}}
	for _, p := range word.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			for _, o := range out {
				o.Parts = append(o.Parts, p)
			}
			continue
		}
		var elems []*syntax.Word
		if b.Sequence {
			elems = braceSequence(b, budget)
		} else {
			for _, el := range b.Elems {
				elems = append(elems, braceWords(el, budget)...)
			}
		}
		var next []*syntax.Word
		for _, o := range out {
			for _, el := range elems {
				if *budget--; *budget < 0 {
					break
				}
				parts := make([]syntax.WordPart, 0, len(o.Parts)+len(el.Parts))
				parts = append(append(parts, o.Parts...), el.Parts...)
				next = append(next, &syntax.Word{Parts: parts})
			}
		}
		if len(next) == 0 {
			return out
		}
		out = next
	}
	return out
}

func braceSequence(b *syntax.BraceExp, budget *int) []*syntax.Word {
	from, to := b.Elems[0].Lit(), b.Elems[1].Lit()
	step := int64(1)
	if len(b.Elems) > 2 {
		n, _ := strconv.ParseInt(b.Elems[2].Lit(), 10, 32)
		step = max(n, -n, 1)
	}
	pos := b.Elems[0].Pos()
	lit := func(s string) *syntax.Word {
		return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: pos, ValueEnd: pos, Value: s}}}
	}
	x, errX := strconv.ParseInt(from, 10, 64)
	y, errY := strconv.ParseInt(to, 10, 64)
	chars := errX != nil || errY != nil
	if chars {
		if from == "" || to == "" {
			return []*syntax.Word{lit("{" + from + ".." + to + "}")}
		}
		x, y = int64(from[0]), int64(to[0])
	}
	width := 0
	if !chars && (padded(from) || padded(to)) {
		width = max(len(from), len(to))
	}
	var out []*syntax.Word
	for v := x; (x <= y && v <= y) || (x > y && v >= y); {
		if *budget--; *budget < 0 {
			break
		}
		if chars {
			out = append(out, lit(string(rune(v))))
		} else {
			s := strconv.FormatInt(v, 10)
			for len(s) < width {
				if s[0] == '-' {
					s = "-0" + s[1:]
				} else {
					s = "0" + s
				}
			}
			out = append(out, lit(s))
		}
		if x <= y {
			if v > y-step {
				break
			}
			v += step
		} else {
			if v < y+step {
				break
			}
			v -= step
		}
	}
	if len(out) == 0 {
		out = append(out, lit(from))
	}
	return out
}

func padded(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) > 1 && s[0] == '0'
}
