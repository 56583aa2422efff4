package settings

import (
	"bytes"
	"slices"
)

// A cut is a piece of a text, with what takes its place.
type cut struct {
	start, end int
	text       []byte
}

// batch carries out as many of the first changes as one look at the text
// allows, so that a thousand of them do not mean a thousand parses: scalars put
// in the place of scalars, or elements taken out of one array from the back.
// What comes out is what they would make one after the other. n is how many
// were done; none if the first is of another kind, or alone.
func (d *Document) batch(changes []Change) (out []byte, n int) {
	cuts, n := d.scalars(changes)
	if n < 2 {
		cuts, n = d.removals(changes)
	}
	if n < 2 {
		return nil, 0
	}
	slices.SortFunc(cuts, func(a, b cut) int { return a.start - b.start })
	out = make([]byte, 0, len(d.data))
	at := 0
	for _, c := range cuts {
		out = append(out, d.data[at:max(at, c.start)]...)
		out = append(out, c.text...)
		at = max(at, c.end)
	}
	return append(out, d.data[at:]...), n
}

func (d *Document) scalars(changes []Change) (cuts []cut, n int) {
	seen := make(map[int]bool)
	for _, c := range changes {
		at, _, _ := d.find(c.path)
		if c.err != nil || c.delete || at == nil || !scalar(d.data[at.start]) || len(c.value) == 0 || !scalar(c.value[0]) ||
			len(bytes.TrimSpace(c.value)) != len(c.value) || seen[at.start] {
			break
		}
		seen[at.start] = true
		n++
		if !bytes.Equal(d.data[at.start:at.end], c.value) {
			cuts = append(cuts, cut{at.start, at.end, c.value})
		}
	}
	return cuts, n
}

func scalar(first byte) bool { return first != '{' && first != '[' }

func (d *Document) removals(changes []Change) (cuts []cut, n int) {
	var list *node
	left := 0    // elements before all that are gone
	tail := true // nothing is left behind them
	for _, c := range changes {
		at, parent, i := d.find(c.path)
		if !c.delete || at == nil || parent == nil || parent.kind != Array || list != nil && (parent != list || i >= left) {
			break
		}
		if list == nil {
			list, left = parent, len(parent.kids)
		}
		tail = tail && i == left-1
		kids := list.kids
		switch {
		case i == 0 && tail:
			cuts = append(cuts, cut{start: list.start + 1, end: list.end - 1})
		case tail:
			cuts = append(cuts, cut{start: kids[i-1].value.end, end: kids[i].value.end})
		default:
			cuts = append(cuts, cut{start: kids[i].nameAt, end: kids[i+1].nameAt})
		}
		left = i
		n++
	}
	return cuts, n
}

// find is the node at a path, with its parent and its place there.
func (d *Document) find(path []string) (at, parent *node, index int) {
	at = &d.root
	for _, step := range path {
		next := at.child(step)
		if at.kind != Object && at.kind != Array || next < 0 {
			return nil, nil, 0
		}
		parent, index = at, next
		at = &at.kids[next].value
	}
	return at, parent, index
}
