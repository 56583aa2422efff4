package statusline

import "strings"

// A Segment is one part of the line.
type Segment struct {
	Name string
	Doc  string // one line for the manual
	Arg  string // what its argument is, empty if it takes none
	draw func(s *Session, l *Layout, arg string) []span
}

// A span is text of one look. flex marks text that may be shortened.
type span struct {
	text string
	role Role
	// hash, if not empty, picks the colour of a role that asks for it.
	hash string
	link string
	flex bool
}

// Segments are all segments there are, the default ones first.
func Segments() []Segment {
	return []Segment{
		sandboxSegment, folderSegment, gitSegment, prSegment, modelSegment,
		contextSegment, costSegment, limitsSegment, effortSegment, styleSegment, agentSegment,
		sessionSegment, durationSegment, linesSegment, versionSegment, clockSegment, textSegment, execSegment,
	}
}

// find returns the segment of that name.
func find(name string) (Segment, bool) {
	for _, seg := range Segments() {
		if seg.Name == name {
			return seg, true
		}
	}
	return Segment{}, false
}

// ParseEntry reads the name of a segment as the configuration writes it.
func ParseEntry(text string) (Entry, bool) {
	name, arg, hasArg := strings.Cut(text, ":")
	seg, ok := find(name)
	if !ok || hasArg != (seg.Arg != "") || hasArg && strings.TrimSpace(arg) == "" {
		return Entry{}, false
	}
	return Entry{name, arg}, true
}

func (e Entry) String() string {
	if e.Arg == "" {
		return e.Segment
	}
	return e.Segment + ":" + e.Arg
}
