// Package mode holds the sandbox modes that a person may ask for when starting
// an agent CLI, and the rule by which a request becomes the mode applied.
package mode

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// A Mode is how tightly a CLI is to be held. Modes compare by strictness.
type Mode uint8

// Modes, loosest first. None is no request: the CLI's own default, as Full is,
// but without a word about it.
const (
	None Mode = iota
	Full
	WorkspaceWrite
	Restricted
	ReadOnly
)

var names = [...]string{None: "", Full: "full", WorkspaceWrite: "workspace-write", Restricted: "restricted", ReadOnly: "read-only"}

// All are the modes, tightest first.
var All = []Mode{ReadOnly, Restricted, WorkspaceWrite, Full}

func (m Mode) String() string { return names[m] }

// MarshalText and UnmarshalText write and read a mode's name.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Mode) UnmarshalText(text []byte) error {
	v, err := Parse(string(text))
	*m = v
	return err
}

// Parse returns the mode of that name.
func Parse(s string) (Mode, error) {
	if i := slices.Index(names[:], s); i > 0 {
		return Mode(i), nil
	}
	return None, fmt.Errorf("%q is not a mode: want read-only, restricted, workspace-write or full", s)
}

// Rank is a mode's strictness, 0 for the loosest.
func (m Mode) Rank() int { return max(int(m), int(Full)) - int(Full) }

// A Set is a set of modes.
type Set uint8

// SetOf returns the set of the modes.
func SetOf(modes ...Mode) (s Set) {
	for _, m := range modes {
		s |= 1 << m
	}
	return s
}

// Has reports whether m is in the set.
func (s Set) Has(m Mode) bool { return m != None && s&(1<<m) != 0 }

// Modes lists the set, tightest first.
func (s Set) Modes() []Mode {
	list := []Mode{}
	for _, m := range All {
		if s.Has(m) {
			list = append(list, m)
		}
	}
	return list
}

func (s Set) String() string {
	var words []string
	for _, m := range s.Modes() {
		words = append(words, m.String())
	}
	return strings.Join(words, ", ")
}

// loosestFrom is the loosest member that is at least as strict as m.
func (s Set) loosestFrom(m Mode) (Mode, bool) {
	rest := uint8(s) >> m << m
	return Mode(bits.TrailingZeros8(rest)), rest != 0
}

// StrictestFallback returns the member of s to use when r was asked for: r
// itself; else the loosest member that is stricter, so that nothing is loosened
// and as much as possible of the request is kept; else, every member being
// looser, the tightest. ok is false for an empty set.
func StrictestFallback(r Mode, s Set) (m Mode, ok bool) {
	if m, ok = s.loosestFrom(r); ok {
		return m, true
	}
	if s == 0 {
		return None, false
	}
	return Mode(bits.Len8(uint8(s)) - 1), true
}

// A Fallback says what to do when a CLI does not have the mode asked for.
type Fallback string

// Fallbacks; Fail is the default.
const (
	Fail      Fallback = "fail"
	Strictest Fallback = "strictest"
	Run       Fallback = "run"
)

// ParseFallback returns the fallback of that name.
func ParseFallback(s string) (Fallback, error) {
	switch f := Fallback(s); f {
	case Fail, Strictest, Run:
		return f, nil
	}
	return "", fmt.Errorf("%q is not a fallback: want fail, strictest or run", s)
}

// A Request is what a resolution starts from.
type Request struct {
	CLI       string // for messages
	Requested Mode
	Fallback  Fallback
	Floor     Mode
	Supported Set // always holds Full for a real CLI
}

// A Resolution is the mode to apply.
type Resolution struct {
	Mode Mode // None: nothing was asked for
	// Loosened is set when Mode is looser than what was asked for.
	Loosened bool
	Notice   string // one line for the person, empty if all went as asked
}

// An UnsupportedError says that the CLI does not have the mode.
type UnsupportedError struct{ Request }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s is not available for %s, which supports %s; choose one of these, or what to do instead with --sandbox-fallback strictest or run", e.Requested, e.CLI, e.Supported)
}

// A FloorError says that the mode would be below the floor.
type FloorError struct {
	Request
	Mode Mode
}

func (e *FloorError) Error() string {
	resolved := e.Mode.String()
	if e.Mode == None {
		resolved = "the CLI's own default"
	}
	return fmt.Sprintf("%s would run with %s, below the floor %s; %s supports %s", e.CLI, resolved, e.Floor, e.CLI, e.Supported)
}

// Resolve finds the mode to apply. The floor is the never-loosen rule: nothing
// resolves below it. The error is an [*UnsupportedError] or a [*FloorError].
func Resolve(r Request) (Resolution, error) {
	var out Resolution
	switch {
	case r.Requested == None:
	case r.Supported.Has(r.Requested):
		out.Mode = r.Requested
	case r.Fallback == Strictest:
		m, ok := StrictestFallback(r.Requested, r.Supported)
		if !ok {
			return out, &UnsupportedError{r}
		}
		out.Mode = m
		out.Notice = fmt.Sprintf("%s is not available for %s; using %s", r.Requested, r.CLI, m)
	case r.Fallback == Run:
		out.Mode = Full
		out.Notice = fmt.Sprintf("%s is not available for %s; running with its own default", r.Requested, r.CLI)
	default:
		return out, &UnsupportedError{r}
	}
	if r.Floor != None && out.Mode.Rank() < r.Floor.Rank() {
		m, ok := r.Supported.loosestFrom(r.Floor)
		if r.Requested != None && r.Fallback != Strictest && r.Fallback != Run || !ok {
			return out, &FloorError{r, out.Mode}
		}
		from := "nothing was asked for"
		if r.Requested != None {
			from = r.Requested.String() + " was asked for"
		}
		out.Mode = m
		out.Notice = fmt.Sprintf("raised to floor %s", r.Floor)
		if m != r.Floor {
			out.Notice = fmt.Sprintf("raised to %s, as %s has nothing looser at or above the floor %s", m, r.CLI, r.Floor)
		}
		out.Notice += " (" + from + ")"
	}
	out.Loosened = r.Requested != None && out.Mode.Rank() < r.Requested.Rank()
	if out.Loosened && r.Fallback == Strictest {
		out.Notice = "LOOSER THAN REQUESTED: " + out.Notice
	}
	return out, nil
}
