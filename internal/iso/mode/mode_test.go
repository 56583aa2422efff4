package mode

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

var short = map[string]Mode{"RO": ReadOnly, "RS": Restricted, "WW": WorkspaceWrite, "F": Full}

func set(words string) (s Set) {
	for w := range strings.FieldsSeq(words) {
		s |= SetOf(short[w])
	}
	return s
}

// The two truth tables: what is used when read-only, restricted,
// workspace-write and full are asked for.
func TestStrictestFallback(t *testing.T) {
	tests := []struct{ supported, ro, rs, ww, f string }{
		{"F", "F", "F", "F", "F"},
		{"RO F", "RO", "RO", "RO", "F"},
		{"RS F", "RS", "RS", "RS", "F"},
		{"WW F", "WW", "WW", "WW", "F"},
		{"RO RS F", "RO", "RS", "RS", "F"},
		{"RO WW F", "RO", "RO", "WW", "F"},
		{"RS WW F", "RS", "RS", "WW", "F"},
		{"RO RS WW F", "RO", "RS", "WW", "F"},

		{"RO", "RO", "RO", "RO", "RO"},
		{"RS", "RS", "RS", "RS", "RS"},
		{"WW", "WW", "WW", "WW", "WW"},
		{"RO RS", "RO", "RS", "RS", "RS"},
		{"RO WW", "RO", "RO", "WW", "WW"},
		{"RS WW", "RS", "RS", "WW", "WW"},
		{"RO RS WW", "RO", "RS", "WW", "WW"},
		{"", "", "", "", ""},
	}
	for _, tt := range tests {
		for ask, want := range map[Mode]string{ReadOnly: tt.ro, Restricted: tt.rs, WorkspaceWrite: tt.ww, Full: tt.f} {
			got, ok := StrictestFallback(ask, set(tt.supported))
			if ok != (want != "") || got != short[want] {
				t.Errorf("StrictestFallback(%v, {%v}) = %v, %v; want %q", ask, set(tt.supported), got, ok, want)
			}
		}
	}
}

func TestResolveTypicalCLIs(t *testing.T) {
	sets := map[string]string{"codex": "RO WW F", "opencode": "RO RS F", "agy": "RS F", "copilot": "RO RS WW F", "aider": "F"}
	tests := []struct {
		cli, ask                string
		fail, strictest, run    string // mode; "" is an error
		strictNotice, runNotice string
	}{
		{"codex", "RS", "", "RO", "F", "restricted is not available for codex; using read-only", "restricted is not available for codex; running with its own default"},
		{"opencode", "RO", "RO", "RO", "RO", "", ""},
		{"agy", "RO", "", "RS", "F", "LOOSER THAN REQUESTED: read-only is not available for agy; using restricted", "read-only is not available for agy; running with its own default"},
		{"opencode", "WW", "", "RS", "F", "workspace-write is not available for opencode; using restricted", "workspace-write is not available for opencode; running with its own default"},
		{"copilot", "RO", "RO", "RO", "RO", "", ""},
		{"copilot", "RS", "RS", "RS", "RS", "", ""},
		{"copilot", "WW", "WW", "WW", "WW", "", ""},
		{"aider", "RO", "", "F", "F", "LOOSER THAN REQUESTED: read-only is not available for aider; using full", "read-only is not available for aider; running with its own default"},
	}
	for cli := range sets {
		tests = append(tests, struct {
			cli, ask                string
			fail, strictest, run    string
			strictNotice, runNotice string
		}{cli, "F", "F", "F", "F", "", ""})
	}
	for _, tt := range tests {
		for fallback, want := range map[Fallback][2]string{Fail: {tt.fail}, Strictest: {tt.strictest, tt.strictNotice}, Run: {tt.run, tt.runNotice}} {
			got, err := Resolve(Request{CLI: tt.cli, Requested: short[tt.ask], Fallback: fallback, Supported: set(sets[tt.cli])})
			if want[0] == "" {
				var unsupported *UnsupportedError
				if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), short[tt.ask].String()) || !strings.Contains(err.Error(), tt.cli) ||
					!strings.Contains(err.Error(), set(sets[tt.cli]).String()) || !strings.Contains(err.Error(), "--sandbox-fallback") {
					t.Errorf("%s, %s, %s: %v, want an UnsupportedError that names mode, CLI, modes and option", tt.cli, tt.ask, fallback, err)
				}
				continue
			}
			if err != nil || got.Mode != short[want[0]] || got.Notice != want[1] {
				t.Errorf("%s, %s, %s: %v %q %v, want %s %q", tt.cli, tt.ask, fallback, got.Mode, got.Notice, err, want[0], want[1])
			}
			if loosened := short[tt.ask].Rank() > short[want[0]].Rank(); got.Loosened != loosened {
				t.Errorf("%s, %s, %s: loosened %v, want %v", tt.cli, tt.ask, fallback, got.Loosened, loosened)
			}
		}
	}
}

func TestResolveFloor(t *testing.T) {
	tests := []struct {
		supported, ask string
		fallback       Fallback
		floor          string
		want           string // "" is a FloorError
		notice         string
	}{
		{"RO WW F", "", Fail, "WW", "WW", "raised to floor workspace-write (nothing was asked for)"},
		{"RO F", "", Fail, "WW", "RO", "raised to read-only, as cli has nothing looser at or above the floor workspace-write (nothing was asked for)"},
		{"RS F", "", Fail, "RO", "", ""},
		{"F", "", Fail, "F", "none", ""},
		{"RO WW F", "WW", Fail, "WW", "WW", ""},
		{"RO WW F", "RO", Fail, "WW", "RO", ""},
		{"RO WW F", "WW", Fail, "RO", "", ""},
		{"RO WW F", "F", Fail, "WW", "", ""},
		{"RO WW F", "WW", Strictest, "RO", "RO", "raised to floor read-only (workspace-write was asked for)"},
		{"RS F", "RO", Run, "RS", "RS", "raised to floor restricted (read-only was asked for)"},
		{"RS F", "RO", Strictest, "WW", "RS", "LOOSER THAN REQUESTED: read-only is not available for cli; using restricted"},
		{"WW F", "RO", Strictest, "RS", "", ""},
		{"F", "F", Run, "WW", "", ""},
		{"RO F", "F", Run, "WW", "RO", "raised to read-only, as cli has nothing looser at or above the floor workspace-write (full was asked for)"},
	}
	for _, tt := range tests {
		r := Request{CLI: "cli", Requested: short[tt.ask], Fallback: tt.fallback, Floor: short[tt.floor], Supported: set(tt.supported)}
		got, err := Resolve(r)
		about := fmt.Sprintf("{%s} ask %s, %s, floor %s", tt.supported, tt.ask, tt.fallback, tt.floor)
		if tt.want == "" {
			var floor *FloorError
			if !errors.As(err, &floor) {
				t.Errorf("%s: %v %v, want a FloorError", about, got, err)
			}
			continue
		}
		if err != nil || got.Mode != short[tt.want] || got.Notice != tt.notice {
			t.Errorf("%s: %v %q %v, want %s %q", about, got.Mode, got.Notice, err, tt.want, tt.notice)
		}
	}
}

// Every combination there is.
func TestProperties(t *testing.T) {
	modes := []Mode{None, Full, WorkspaceWrite, Restricted, ReadOnly}
	for bits := range 16 {
		s := Set(bits << 1)
		for _, ask := range modes[1:] {
			m, ok := StrictestFallback(ask, s)
			if ok != (s != 0) || ok && !s.Has(m) {
				t.Errorf("StrictestFallback(%v, {%v}) = %v, not a member", ask, s, m)
			}
			for _, add := range modes[1:] {
				more, _ := StrictestFallback(ask, s|SetOf(add))
				if ok && more.Rank() < m.Rank() && more.Rank() < ask.Rank() {
					t.Errorf("adding %v to {%v} turns %v for %v into the looser %v", add, s, m, ask, more)
				}
			}
			if max, ok := s.loosestFrom(ask); ok && m.Rank() < ask.Rank() {
				t.Errorf("StrictestFallback(%v, {%v}) = %v although there is %v", ask, s, m, max)
			}
		}
		s |= SetOf(Full)
		for _, ask := range modes {
			for _, fallback := range []Fallback{Fail, Strictest, Run} {
				for _, floor := range modes {
					got, err := Resolve(Request{CLI: "x", Requested: ask, Fallback: fallback, Floor: floor, Supported: s})
					if err != nil {
						continue
					}
					if floor != None && got.Mode.Rank() < floor.Rank() {
						t.Errorf("{%v} ask %v %s floor %v = %v, below the floor", s, ask, fallback, floor, got.Mode)
					}
					if floor == None && s.Has(ask) && got.Mode != ask {
						t.Errorf("{%v} ask %v %s = %v, want what was asked for", s, ask, fallback, got.Mode)
					}
					if floor == None && ask != None && !s.Has(ask) && fallback == Run && got.Mode != Full {
						t.Errorf("{%v} ask %v run = %v, want full", s, ask, got.Mode)
					}
					if got.Mode != None && !s.Has(got.Mode) {
						t.Errorf("{%v} ask %v %s floor %v = %v, not supported", s, ask, fallback, floor, got.Mode)
					}
					if (got.Mode == ask || ask == None && floor == None) != (got.Notice == "") {
						t.Errorf("{%v} ask %v %s floor %v = %v, notice %q", s, ask, fallback, floor, got.Mode, got.Notice)
					}
				}
			}
		}
	}
}

func TestParse(t *testing.T) {
	for _, m := range All {
		if got, err := Parse(m.String()); got != m || err != nil {
			t.Errorf("Parse(%q) = %v, %v", m, got, err)
		}
	}
	for _, s := range []string{"", "Full", "readonly", "none", " full"} {
		if got, err := Parse(s); err == nil || !strings.Contains(err.Error(), "workspace-write") {
			t.Errorf("Parse(%q) = %v, %v; want an error that names the modes", s, got, err)
		}
	}
	for _, s := range []string{"", "never", "FAIL"} {
		if _, err := ParseFallback(s); err == nil || !strings.Contains(err.Error(), "strictest") {
			t.Errorf("ParseFallback(%q): %v", s, err)
		}
	}
}
