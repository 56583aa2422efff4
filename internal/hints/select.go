package hints

import (
	"slices"
	"strings"
)

// A Sandbox is whether the session runs in a sandbox.
type Sandbox int

// Sandbox answers.
const (
	SandboxUnknown Sandbox = iota
	SandboxOn
	SandboxOff
)

func (s Sandbox) String() string {
	switch s {
	case SandboxOn:
		return "on"
	case SandboxOff:
		return "off"
	}
	return "unknown"
}

// Allows reports whether an entry behind g may speak.
func (g Gate) Allows(s Sandbox) bool {
	switch g {
	case GateNone, GateOnOrUnknown:
		return true
	case GateOn:
		return s == SandboxOn
	}
	return false
}

// maxAlso is how many further entries a hint names.
const maxAlso = 2

// A Hint is what is to be said about one call.
type Hint struct {
	Entry *Entry
	Also  []*Entry // further entries that matched, never fall-backs
	// NotTheCause is set when the session has no sandbox, so that the text
	// must have another cause.
	NotTheCause bool
	// Protection is set when what was denied is what the sandbox is there to
	// protect.
	Protection bool
}

// OnPlatform returns the entries that concern an operating system, a GOOS value.
func OnPlatform(entries []*Entry, goos string) []*Entry {
	var on []*Entry
	for _, e := range entries {
		if slices.Contains(e.Platforms, goos) {
			on = append(on, e)
		}
	}
	return on
}

// Select makes a hint of the entries that match text; nil if none of them may
// speak. found is what [Scan] returned for entries in order. sandbox is asked
// only when an answer depends on it.
func Select(text string, found []Match, sandbox func() Sandbox) *Hint {
	state, asked := SandboxUnknown, false
	ask := func() Sandbox {
		if !asked {
			state, asked = sandbox(), true
		}
		return state
	}
	var may []*Entry
	for _, m := range found {
		if m.Entry.Gate == GateNone || m.Entry.Gate.Allows(ask()) {
			may = append(may, m.Entry)
		}
	}
	if len(may) == 0 {
		return nil
	}
	h := &Hint{Entry: may[0]}
	for _, e := range may[1:] {
		if len(h.Also) < maxAlso && !e.Fallback() {
			h.Also = append(h.Also, e)
		}
	}
	h.NotTheCause = h.Entry.Gate == GateOnOrUnknown && ask() == SandboxOff
	h.Protection = !h.NotTheCause && h.Entry.protects(text)
	return h
}

// NotQuoted leaves out of found the entries that match the first n bytes of text
// only where these repeat words of the command, as the output of a commit or an
// echo does: what a command was told to say did not happen to it.
func NotQuoted(found []Match, text string, n int, command string) []Match {
	return slices.DeleteFunc(found, func(m Match) bool {
		quoted := func(m Match) bool {
			return m.Start < n && strings.Contains(command, strings.TrimSpace(text[m.Start:m.End]))
		}
		if !quoted(m) {
			return false
		}
		all := Inspect(text, []*Entry{m.Entry})[0].Matches
		return len(all) < maxLookMatches && !slices.ContainsFunc(all, func(m Match) bool { return !quoted(m) })
	})
}

// protects reports whether one of the lines that the entry matches names
// something that it protects.
func (e *Entry) protects(text string) bool {
	if len(e.Protected) == 0 {
		return false
	}
	guard := &Entry{Signatures: e.protectedSignatures()}
	for _, m := range Inspect(text, []*Entry{e})[0].Matches {
		start, end := window(text, m.Start, m.End, 0)
		if len(Scan(text[start:end], []*Entry{guard})) > 0 {
			return true
		}
	}
	return false
}

func (e *Entry) protectedSignatures() []Signature {
	var sigs []Signature
	for _, expr := range e.Protected {
		sigs = append(sigs, Signature{Expr: expr})
	}
	return sigs
}

// Line returns the 1-based line of text that offset stands in.
func Line(text string, offset int) int {
	return 1 + strings.Count(text[:offset], "\n")
}
