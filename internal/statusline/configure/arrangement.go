package configure

import (
	"slices"

	"sallyport/internal/statusline"
)

// An item is one row of the list of segments: a segment, on the line or not,
// or a line break.
type item struct {
	entry statusline.Entry
	on    bool
	brk   bool
}

// template reports whether the row stands for segments that are still to get
// their argument.
func (it item) template() bool { return !it.on && !it.brk && takesArgument(it.entry.Segment) }

func takesArgument(name string) bool { return documented(name).Arg != "" }

func documented(name string) statusline.Segment {
	for _, seg := range statusline.Segments() {
		if seg.Name == name {
			return seg
		}
	}
	return statusline.Segment{}
}

// arrange lists what the line shows, in its order, and then everything else.
// The tag is always there: the renderer puts it in front of a layout without it.
func arrange(lines [][]statusline.Entry) []item {
	var items []item
	for i, entries := range lines {
		if i > 0 {
			items = append(items, item{brk: true, on: true})
		}
		for _, e := range entries {
			items = append(items, item{entry: e, on: true})
		}
	}
	if !slices.ContainsFunc(items, func(it item) bool { return it.entry.Segment == "sandbox" }) {
		items = slices.Insert(items, 0, item{entry: statusline.Entry{Segment: "sandbox"}, on: true})
	}
	return withRest(items)
}

// withRest puts behind the rows that are on a row for each segment that is not.
func withRest(items []item) []item {
	items = slices.DeleteFunc(slices.Clone(items), func(it item) bool { return !it.on })
	shown := items[:len(items):len(items)]
	for _, seg := range statusline.Segments() {
		used := slices.ContainsFunc(shown, func(it item) bool { return it.entry.Segment == seg.Name })
		if seg.Arg != "" || !used {
			items = append(items, item{entry: statusline.Entry{Segment: seg.Name}})
		}
	}
	return items
}

// arranged is the layout that the rows stand for. A line that shows nothing is
// none.
func arranged(items []item) [][]statusline.Entry {
	lines := [][]statusline.Entry{nil}
	for _, it := range items {
		switch {
		case !it.on:
		case it.brk:
			lines = append(lines, nil)
		default:
			last := len(lines) - 1
			lines[last] = append(lines[last], it.entry)
		}
	}
	return slices.DeleteFunc(lines, func(l []statusline.Entry) bool { return len(l) == 0 })
}

func sameLines(a, b [][]statusline.Entry) bool {
	return slices.EqualFunc(a, b, slices.Equal)
}

// countOn is the number of rows that are on; they are the first ones.
func countOn(items []item) int {
	n := slices.IndexFunc(items, func(it item) bool { return !it.on })
	if n < 0 {
		return len(items)
	}
	return n
}
