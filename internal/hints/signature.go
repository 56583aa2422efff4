package hints

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Signature is one expression of an entry, with what a scan must know of it
// before it pays for compiling it.
type Signature struct {
	Expr string
	// Words are texts of which every match holds at least one, ASCII letters
	// compared without case. Without any, the expression is always tried.
	Words []string
	// With are further texts of which every match holds at least one, compared
	// alike; none if the expression needs no second text.
	With []string
	// Lines is how many lines before and after the line that holds a word an
	// expression must be shown to find every match around that word; -1 is all.
	Lines int
}

const (
	// minWord is the shortest text worth searching for: the scanner looks at
	// four bytes at a time.
	minWord = 4
	// goodWord is the length from which a longer word is not a better one.
	goodWord = 14
	// maxWords bounds the alternatives that are searched for in place of one
	// expression.
	maxWords = 24

	maxExpr = 4096
)

// NewSignature derives a [Signature] from a RE2 expression. An expression that
// matches the empty string would select its entry for every output and is
// refused.
func NewSignature(expr string) (Signature, error) {
	if expr == "" {
		return Signature{}, errors.New("empty expression")
	}
	if len(expr) > maxExpr {
		return Signature{}, fmt.Errorf("expression of more than %d bytes", maxExpr)
	}
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return Signature{}, err
	}
	if nullable(re) {
		return Signature{}, errors.New("expression matches the empty string")
	}
	sig := Signature{Expr: expr, Lines: newlines(re, true)}
	sig.Words, sig.With = required(re)
	if textAnchored(re) {
		sig.Lines = -1
	}
	return sig, nil
}

// nullable reports whether re can match without consuming anything.
func nullable(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpNoMatch, syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpStar, syntax.OpQuest:
		return true
	case syntax.OpRepeat:
		return re.Min == 0 || nullable(re.Sub[0])
	case syntax.OpCapture, syntax.OpPlus:
		return nullable(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !nullable(sub) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if nullable(sub) {
				return true
			}
		}
		return false
	}
	return true // the empty match and the assertions
}

// required returns texts of which every match of re holds at least one, the
// set that is likely the rarest, and another such set from the rest of re; nil
// for what cannot be told.
func required(re *syntax.Regexp) (words, with []string) {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	if set := exact(re); re.Op != syntax.OpConcat || usable(set) {
		return better(nil, requiredSet(re)), nil
	}
	parts := requiredParts(re)
	slices.SortStableFunc(parts, func(a, b []string) int { return rarity(b) - rarity(a) })
	if len(parts) > 0 {
		words = parts[0]
	}
	if len(parts) > 1 {
		with = parts[1]
	}
	return words, with
}

func requiredSet(re *syntax.Regexp) []string {
	if set := exact(re); usable(set) {
		return set
	}
	switch re.Op {
	case syntax.OpLiteral:
		return foldedPiece(re)
	case syntax.OpCapture, syntax.OpPlus:
		return requiredSet(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return requiredSet(re.Sub[0])
		}
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			set := requiredSet(sub)
			if set == nil {
				return nil
			}
			all = union(all, set)
		}
		if len(all) > maxWords {
			return nil
		}
		return all
	case syntax.OpConcat:
		var best []string
		for _, set := range requiredParts(re) {
			best = better(best, set)
		}
		return best
	}
	return nil
}

// requiredParts returns usable sets for parts of a concatenation that do not
// overlap. Neighbours that are exact are one part.
func requiredParts(re *syntax.Regexp) [][]string {
	var parts [][]string
	add := func(set []string) {
		if usable(set) {
			parts = append(parts, set)
		}
	}
	var run []string
	for _, sub := range re.Sub {
		set := exact(sub)
		if joined := cross(run, set); joined != nil {
			run = joined
			continue
		}
		add(run)
		if run = set; run == nil {
			add(requiredSet(sub))
		}
	}
	add(run)
	return parts
}

// exact returns every text that re matches, up to ASCII case, or nil if they
// are many or unknown. An assertion consumes nothing and counts as "".
func exact(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r == utf8.RuneError || re.Flags&syntax.FoldCase != 0 && !foldsInASCII(r) {
				return nil
			}
		}
		return []string{lowerASCII(string(re.Rune))}
	case syntax.OpCharClass:
		var set []string
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if len(set) == 4 || r == utf8.RuneError {
					return nil
				}
				set = union(set, []string{lowerASCII(string(r))})
			}
		}
		return set
	case syntax.OpCapture:
		return exact(re.Sub[0])
	case syntax.OpQuest:
		if set := exact(re.Sub[0]); set != nil {
			return union([]string{""}, set)
		}
	case syntax.OpConcat:
		set := []string{""}
		for _, sub := range re.Sub {
			if set = cross(set, exact(sub)); set == nil {
				return nil
			}
		}
		return set
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			set := exact(sub)
			if set == nil {
				return nil
			}
			all = union(all, set)
		}
		if len(all) <= maxWords {
			return all
		}
	}
	return nil
}

// foldsInASCII reports whether folding the case of r stays within ASCII: k and
// s fold to the Kelvin sign and the long s as well. (The replacement character
// is never exact: it also matches a byte that is not UTF-8.)
func foldsInASCII(r rune) bool {
	return r < utf8.RuneSelf && r|0x20 != 'k' && r|0x20 != 's'
}

// foldedPiece is the longest part of a case-insensitive literal whose matches
// can be told by folding ASCII alone.
func foldedPiece(re *syntax.Regexp) []string {
	best, start := "", 0
	for i := 0; i <= len(re.Rune); i++ {
		if i < len(re.Rune) && foldsInASCII(re.Rune[i]) {
			continue
		}
		if i-start > len(best) {
			best = lowerASCII(string(re.Rune[start:i]))
		}
		start = i + 1
	}
	if best == "" {
		return nil
	}
	return []string{best}
}

func cross(a, b []string) []string {
	if a == nil || b == nil || len(a)*len(b) > maxWords {
		return nil
	}
	var set []string
	for _, x := range a {
		for _, y := range b {
			set = union(set, []string{x + y})
		}
	}
	return set
}

func union(a, b []string) []string {
next:
	for _, y := range b {
		for _, x := range a {
			if x == y {
				continue next
			}
		}
		a = append(a[:len(a):len(a)], y)
	}
	return a
}

func usable(set []string) bool { return len(set) > 0 && shortest(set) >= minWord }

// better returns the set that fewer texts are likely to hold.
func better(a, b []string) []string {
	if !usable(b) {
		if usable(a) {
			return a
		}
		return nil
	}
	if !usable(a) {
		return b
	}
	if rarity(b) > rarity(a) {
		return b
	}
	return a
}

// rarity grows with how few texts are likely to hold one of a set.
func rarity(set []string) int { return 8*min(shortest(set), goodWord) - len(set) }

func shortest(set []string) int {
	n := len(set[0])
	for _, s := range set[1:] {
		n = min(n, len(s))
	}
	return n
}

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 0x20
		}
		return r
	}, s)
}

// newlines is the most line breaks that a match of re can need to hold; -1 if
// there is no bound. whole is set for an expression that is not part of another.
func newlines(re *syntax.Regexp, whole bool) int {
	switch re.Op {
	case syntax.OpLiteral:
		n := 0
		for _, r := range re.Rune {
			if r == '\n' {
				n++
			}
		}
		return n
	case syntax.OpCharClass:
		if classHas(re, '\n') {
			return 1
		}
	case syntax.OpAnyChar:
		return 1
	case syntax.OpCapture, syntax.OpQuest:
		return newlines(re.Sub[0], false)
	case syntax.OpStar, syntax.OpPlus:
		if newlines(re.Sub[0], false) != 0 {
			return -1
		}
	case syntax.OpRepeat:
		n := newlines(re.Sub[0], false)
		if n > 0 {
			n *= re.Max // -1 if there is no maximum
		}
		return max(n, -1)
	case syntax.OpConcat:
		total := 0
		for i, sub := range re.Sub {
			// Where a match may end with a run of any length at the end of a
			// line, it can end before the first line break of that run.
			if whole && sub.Op == syntax.OpStar && sub.Sub[0].Op == syntax.OpCharClass &&
				i == len(re.Sub)-2 && re.Sub[i+1].Op == syntax.OpEndLine {
				continue
			}
			n := newlines(sub, false)
			if n < 0 {
				return -1
			}
			total += n
		}
		return total
	case syntax.OpAlternate:
		most := 0
		for _, sub := range re.Sub {
			n := newlines(sub, false)
			if n < 0 {
				return -1
			}
			most = max(most, n)
		}
		return most
	}
	return 0
}

func classHas(re *syntax.Regexp, want rune) bool {
	for i := 0; i < len(re.Rune); i += 2 {
		if re.Rune[i] <= want && want <= re.Rune[i+1] {
			return true
		}
	}
	return false
}

// textAnchored reports whether re asks for the start or end of the whole text.
func textAnchored(re *syntax.Regexp) bool {
	if re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText {
		return true
	}
	for _, sub := range re.Sub {
		if textAnchored(sub) {
			return true
		}
	}
	return false
}
