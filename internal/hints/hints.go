// Package hints recognises failures that an agent's sandbox causes by the text
// they print, and knows what each means and what to do about it.
//
// The built-in catalogue is data: catalog.toml, from which go generate makes
// the Go values of catalog_gen.go and docs/sandbox-troubleshooting.md, so that
// a hook parses nothing when it starts. [Load] adds a person's own entries. A
// [Scan] finds the entries whose signatures stand in a text, and [Select]
// decides which of them may speak in a session.
//
// A match says that the text looks like the sandbox's doing, no more: each entry
// carries how sure that is and which other causes print the same.
package hints

//go:generate go run ./gen

import (
	"slices"
	"strings"

	"sallyport/internal/levenshtein"
)

// fallbackOrder is the order from which entries speak only when no other does.
const fallbackOrder = 90

// A Gate says in which sessions an entry may speak.
type Gate string

// Gates. GateNone is for texts that nothing but a sandbox prints.
const (
	GateNone        Gate = "none"
	GateOnOrUnknown Gate = "sandbox-on-or-unknown"
	GateOn          Gate = "sandbox-on"
)

// A Confidence is how often an entry's text really means the sandbox.
type Confidence string

// Confidences.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// A FixScope is where a fix is made.
type FixScope string

// Scopes of a fix: three settings files, another command line, the machine.
const (
	UserScope         FixScope = "user"
	ProjectScope      FixScope = "project"
	ProjectLocalScope FixScope = "project-local"
	CommandScope      FixScope = "command"
	HostScope         FixScope = "host"
)

// SeverityInfo marks an entry that explains noise: nothing failed.
const SeverityInfo = "info"

// An Entry is one kind of failure.
type Entry struct {
	ID         string // kebab-case; the anchor in the documentation
	Order      int    // lowest is tried first
	Title      string
	Platforms  []string // GOOS values
	Confidence Confidence
	Gate       Gate
	Severity   string // "" or SeverityInfo

	Signatures []Signature // any match selects the entry
	// Protected are expressions for the matched line; one that matches means
	// that the denial is the protection at work and must not be widened.
	Protected []string

	Lookalikes string // other causes of the same text
	Cause      string
	Fix        Fix
	AlsoSet    string   // JSON fragment that hardens, to be set with the fix
	Never      []string // widenings that must not be suggested
	Probe      string   // doctor's probe for it, "none" if there is none
	Sources    []string // public places where the text was seen

	File string // the file that a person's own entry stands in; empty if built in
}

// A Fix says what to do.
type Fix struct {
	Scope    FixScope
	Line     string // the whole advice in one line, without a full stop
	Settings string // JSON merge fragment (arrays append), empty if there is none
	Steps    []string
}

// Fallback reports whether the entry speaks only when no other one does.
func (e *Entry) Fallback() bool { return e.Order >= fallbackOrder }

// Builtin returns the entries of the suite's own catalogue in order. They are
// shared: callers must not change them.
func Builtin() []*Entry {
	all := make([]*Entry, len(builtin))
	for i := range builtin {
		all[i] = &builtin[i]
	}
	return all
}

// Find returns the entry with that id, or nil.
func Find(entries []*Entry, id string) *Entry {
	i := slices.IndexFunc(entries, func(e *Entry) bool { return e.ID == id })
	if i < 0 {
		return nil
	}
	return entries[i]
}

// Near returns up to five ids that look like a mistyped one, best first.
func Near(entries []*Entry, id string) []string {
	type scored struct {
		id    string
		score int
	}
	var found []scored
	id = strings.ToLower(id)
	for _, e := range entries {
		score := 0
		for _, part := range strings.FieldsFunc(id, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }) {
			if len(part) > 1 && strings.Contains(e.ID, part) {
				score += len(part)
			}
		}
		if d := distance(id, e.ID); d <= len(e.ID)/3 {
			score += len(e.ID) - d
		}
		if score > 0 {
			found = append(found, scored{e.ID, score})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return b.score - a.score })
	var ids []string
	for _, f := range found[:min(len(found), 5)] {
		ids = append(ids, f.id)
	}
	return ids
}

// distance of a long word, which no id is, is as far as it is long.
func distance(a, b string) int {
	if len(a) > 100 {
		return len(a)
	}
	return levenshtein.Distance(a, b)
}
