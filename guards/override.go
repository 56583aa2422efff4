package guards

import (
	"slices"
	"strings"
)

// Truthy reports whether the value of an override variable switches it on.
func Truthy(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

// override returns the variable that lets c pass g, and whether it stands in
// the command itself. The environment of the hook is a person's word and comes
// first.
func (r *run) override(g *Guard, c *Call, more []string) (name string, inline bool) {
	covers := func(get func(string) (string, bool)) string {
		for _, name := range [...]string{"AGENT_GUARD_OFF", "MAGPIE_GUARD_OFF"} {
			if v, ok := get(name); ok && Truthy(v) {
				return name
			}
		}
		if v, ok := get("AGENT_GUARD_ALLOW"); ok && Truthy(v) {
			for item := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == ',' || r == ' ' }) {
				if item == g.Name {
					return "AGENT_GUARD_ALLOW"
				}
			}
		}
		for _, name := range slices.Concat(g.Overrides, more) {
			if v, ok := get(name); ok && Truthy(v) {
				return name
			}
		}
		return ""
	}
	if name := covers(r.env); name != "" {
		return name, false
	}
	if c == nil {
		return "", false
	}
	name = covers(func(name string) (string, bool) {
		for i := len(c.Assigns) - 1; i >= 0; i-- {
			if c.Assigns[i].Name == name {
				return c.Assigns[i].Value.Value, c.Assigns[i].Value.Static
			}
		}
		return "", false
	})
	return name, name != ""
}

// overrideHint is how a person lets one command pass.
func (g *Guard) overrideHint() string {
	if len(g.Overrides) > 0 {
		return g.Overrides[0] + "=1"
	}
	return "AGENT_GUARD_ALLOW=" + g.Name
}
