package statusline

import (
	"slices"
	"strings"

	"sallyport/internal/term"
)

// minCut is the least that is left of a shortened text; less says nothing.
const minCut = 8

// fit shortens a line to at most width columns; 0 means no bound. The order is
// what a person misses least: a pull request's title, segments beyond the
// default ones from the right, the model, then the folder, the branch and what
// is left of the pull request. The sandbox tag is never dropped; where the
// terminal is narrower than the tag, a shorter form of it stands there.
func fit(pieces []piece, s *Session, sepWidth, width int) []piece {
	if width <= 0 {
		return pieces
	}
	over := func() int { return lineWidth(pieces, sepWidth) - width }
	at := func(name string) int {
		return slices.IndexFunc(pieces, func(p piece) bool { return p.name == name })
	}
	shorten := func(name string, least int) {
		for i := range pieces {
			if n := over(); n > 0 && pieces[i].name == name {
				pieces[i].spans = shortenSpans(pieces[i].spans, n, least)
			}
		}
	}
	whole := slices.Clone(pieces)
	restore := func(name string) {
		for i := range pieces {
			if j := slices.IndexFunc(whole, func(p piece) bool { return p.name == name }); pieces[i].name == name {
				pieces[i].spans = whole[j].spans
			}
		}
	}
	drop := func(name string) {
		for over() > 0 {
			i := at(name)
			if i < 0 {
				return
			}
			pieces = slices.Delete(pieces, i, i+1)
		}
	}

	if i := at("pr"); i >= 0 && over() > 0 {
		shorten("pr", minCut)
		if over() > 0 {
			pieces[i].spans = slices.DeleteFunc(pieces[i].spans, func(sp span) bool { return sp.flex })
		}
	}
	for i := len(pieces) - 1; i >= 0 && over() > 0; i-- {
		if !isDefault(pieces[i].name) {
			pieces = slices.Delete(pieces, i, i+1)
		}
	}
	shorten("model", minCut)
	drop("model")
	shorten("folder", minCut)
	shorten("git", minCut)
	drop("pr")
	if at("pr") < 0 {
		// What went made room again.
		restore("git")
		shorten("git", minCut)
	}
	drop("folder")
	restore("git")
	shorten("git", 1)
	drop("git")
	if i := at("sandbox"); i >= 0 && over() > 0 {
		pieces[i].spans = pieces[i].spans[:1]
		forms, _ := tag(s.Sandbox)
		for _, form := range forms {
			pieces[i].spans[0].text = form
			if over() <= 0 {
				break
			}
		}
	}
	return pieces
}

func isDefault(name string) bool {
	return slices.ContainsFunc(DefaultEntries(), func(e Entry) bool { return e.Segment == name })
}

func lineWidth(pieces []piece, sepWidth int) int {
	n := 0
	for i, p := range pieces {
		switch {
		case i == 0:
		case tight(pieces, i):
			n++
		default:
			n += sepWidth
		}
		for _, sp := range p.spans {
			n += term.Width(sp.text)
		}
	}
	return n
}

// shortenSpans takes up to over columns off the flexible spans, the last
// first, and leaves each at least as many columns as least says.
func shortenSpans(spans []span, over, least int) []span {
	spans = slices.Clone(spans)
	for i := len(spans) - 1; i >= 0 && over > 0; i-- {
		if !spans[i].flex {
			continue
		}
		before := term.Width(spans[i].text)
		if before <= least {
			continue
		}
		text := term.Truncate(spans[i].text, max(before-over, least), "…")
		if kept, ok := strings.CutSuffix(text, " …"); ok && kept != "" {
			text = strings.TrimRight(kept, " ") + "…"
		}
		spans[i].text = text
		over -= before - term.Width(spans[i].text)
	}
	return spans
}
