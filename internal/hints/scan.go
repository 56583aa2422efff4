package hints

import (
	"regexp"
	"strings"
)

// A Match is an entry whose signature stands in a text.
type Match struct {
	Entry *Entry
	Expr  string // the expression that matched
	// Start and End bound the match in the text.
	Start, End int
}

// Scan returns the entries that match text, each once, in the order given.
//
// One pass looks for the words that expressions need. An expression is compiled
// only when one of its words is there, and is shown only the lines around it,
// so that the cost is linear in the text and an ordinary text costs the pass.
func Scan(text string, entries []*Entry) []Match {
	s := newScanner(entries)
	s.run(text)
	var found []Match
	for i := range entries {
		if m := s.best[i]; m.Entry != nil {
			found = append(found, m)
		}
	}
	return found
}

// A Look says how far a scan got with an entry.
type Look struct {
	Entry *Entry
	Word  string // a word of the entry that the text holds, if any does
	// Matches are the places that match, the first maxLookMatches of them.
	Matches []Match
}

const maxLookMatches = 20

// Inspect is [Scan] that explains itself: it reports on every entry and does not
// stop at an entry's first match.
func Inspect(text string, entries []*Entry) []Look {
	s := newScanner(entries)
	s.looks = make([]Look, len(entries))
	for i, e := range entries {
		s.looks[i].Entry = e
	}
	s.run(text)
	return s.looks
}

// A probe is one expression of one entry, as far as a scan got with it.
type probe struct {
	entry  int // index of its entry
	sig    *Signature
	re     *regexp.Regexp
	broken bool
	shown  int // end of the text that it has been shown
}

// A word is one text to search for.
type word struct {
	text   string // ASCII letters in lower case
	at     int    // where in text its rarest four bytes stand
	key    uint32 // those four bytes, as keyAt reads them
	probes []int
	next   int // next word of the same bucket, -1 at the end
}

const bucketBits = 12

type scanner struct {
	entries []*Entry
	probes  []probe
	words   []word
	buckets [1 << bucketBits]int32 // index of a word + 1
	best    []Match
	looks   []Look // nil in an ordinary scan
}

func newScanner(entries []*Entry) *scanner {
	s := &scanner{entries: entries, best: make([]Match, len(entries))}
	signatures := 0
	for _, e := range entries {
		signatures += len(e.Signatures)
	}
	s.probes = make([]probe, 0, signatures)
	s.words = make([]word, 0, 2*signatures)
	for i, e := range entries {
		for j := range e.Signatures {
			p := len(s.probes)
			s.probes = append(s.probes, probe{entry: i, sig: &e.Signatures[j]})
			for _, text := range e.Signatures[j].Words {
				w := s.word(text)
				w.probes = append(w.probes, p)
			}
		}
	}
	return s
}

// word returns the word to search for text, a new one if need be.
func (s *scanner) word(text string) *word {
	at := rarest(text)
	key := keyAt(text[at:])
	head := &s.buckets[bucket(key)]
	for w := int(*head) - 1; w >= 0; w = s.words[w].next {
		if s.words[w].text == text {
			return &s.words[w]
		}
	}
	s.words = append(s.words, word{text: text, at: at, key: key, next: int(*head) - 1})
	*head = int32(len(s.words))
	return &s.words[len(s.words)-1]
}

// keyAt reads four bytes so that letters of either case read the same. Other
// bytes collide too; a hit is always compared in full.
func keyAt(s string) uint32 {
	return (uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24) | 0x20202020
}

func bucket(key uint32) uint32 { return key * 2654435761 >> (32 - bucketBits) }

// commonness is how often output holds a byte, in rough steps; bytes that are
// not listed are rare.
var commonness = [256]uint8{
	' ': 9, 'e': 9, 'o': 8, 't': 8, 'a': 8, 'i': 8, 'r': 8, 'n': 8, 's': 8, 'l': 7, 'c': 7, 'd': 6, 'p': 6, 'u': 6,
	'/': 6, 'm': 5, '.': 5, 'f': 5, 'g': 4, 'h': 4, ':': 4, 'y': 3, 'b': 3, '-': 3, 'v': 2, 'w': 2, '\'': 2,
}

// rarest is where in text the four bytes stand that the fewest texts hold.
func rarest(text string) int {
	sum := 0
	for j := range minWord {
		sum += int(commonness[text[j]])
	}
	best, at := sum, 0
	for i := minWord; i < len(text); i++ {
		sum += int(commonness[text[i]]) - int(commonness[text[i-minWord]])
		if sum < best {
			best, at = sum, i-minWord+1
		}
	}
	return at
}

func (s *scanner) run(text string) {
	for i := range s.probes {
		if len(s.probes[i].sig.Words) == 0 {
			s.try(i, text, 0, len(text))
		}
	}
	if len(text) < minWord {
		return
	}
	key := keyAt(text) << 8
	for i := minWord - 1; i < len(text); i++ {
		key = key>>8 | uint32(text[i]|0x20)<<24
		for w := int(s.buckets[bucket(key)]) - 1; w >= 0; w = s.words[w].next {
			if s.words[w].key != key {
				continue
			}
			start := i - (minWord - 1) - s.words[w].at
			if start >= 0 && holdsAt(text, start, s.words[w].text) {
				s.hit(w, text, start)
			}
		}
	}
}

// holdsAt reports whether text holds word at start; word is in lower case.
func holdsAt(text string, start int, word string) bool {
	if len(text)-start < len(word) {
		return false
	}
	for i := range len(word) {
		c := text[start+i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// holdsAny reports whether text holds one of words, which are in lower case; it
// does if there are none.
func holdsAny(text string, words []string) bool {
	for _, w := range words {
		first := w[0] | 0x20
		for i := 0; i+len(w) <= len(text); i++ {
			if text[i]|0x20 == first && holdsAt(text, i, w) {
				return true
			}
		}
	}
	return len(words) == 0
}

func (s *scanner) hit(w int, text string, at int) {
	for _, p := range s.words[w].probes {
		pr := &s.probes[p]
		if s.looks != nil {
			if look := &s.looks[pr.entry]; look.Word == "" {
				look.Word = s.words[w].text
			}
		} else if s.best[pr.entry].Entry != nil {
			continue
		}
		if at < pr.shown && pr.sig.Lines <= 0 {
			continue // the lines around it were shown already
		}
		start, end := window(text, at, at+len(s.words[w].text), pr.sig.Lines)
		if end > pr.shown || pr.shown == 0 {
			s.try(p, text, start, end)
		}
	}
}

// window is the part of text that holds the lines of text[from:to] and n lines
// on either side; all of it for n < 0.
func window(text string, from, to, n int) (start, end int) {
	if n < 0 {
		return 0, len(text)
	}
	start, end = from, to
	for k := 0; k <= n && start > 0; k++ {
		if k > 0 {
			start-- // step over the line break found before
		}
		start = strings.LastIndexByte(text[:start], '\n') + 1
	}
	for k := 0; k <= n && end < len(text); k++ {
		if k > 0 {
			end++
		}
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			end = len(text)
			break
		}
		end += i
	}
	return start, end
}

// try shows text[start:end] to an expression.
func (s *scanner) try(p int, text string, start, end int) {
	pr := &s.probes[p]
	pr.shown = max(pr.shown, end, 1)
	if pr.broken || !holdsAny(text[start:end], pr.sig.With) {
		return
	}
	if pr.re == nil {
		var err error
		if pr.re, err = regexp.Compile(pr.sig.Expr); err != nil {
			pr.broken = true
			return
		}
	}
	e := s.entries[pr.entry]
	if s.looks == nil {
		if s.best[pr.entry].Entry != nil {
			return
		}
		if loc := pr.re.FindStringIndex(text[start:end]); loc != nil {
			s.best[pr.entry] = Match{e, pr.sig.Expr, start + loc[0], start + loc[1]}
		}
		return
	}
	look := &s.looks[pr.entry]
	for _, loc := range pr.re.FindAllStringIndex(text[start:end], maxLookMatches) {
		m := Match{e, pr.sig.Expr, start + loc[0], start + loc[1]}
		if len(look.Matches) < maxLookMatches && !contains(look.Matches, m) {
			look.Matches = append(look.Matches, m)
		}
	}
}

func contains(ms []Match, m Match) bool {
	for _, x := range ms {
		if x.Expr == m.Expr && x.Start == m.Start {
			return true
		}
	}
	return false
}
