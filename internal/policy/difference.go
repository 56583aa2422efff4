package policy

import (
	"encoding/json"
	"slices"
)

// A class says how a target differs from a fresh compilation.
type class string

const (
	missing class = "missing" // compiled, not in the target
	extra   class = "extra"   // in an owned list, not compiled
	changed class = "changed" // a value of ours differs
	stale   class = "stale"   // a key of ours that the sources no longer have
)

func (c class) sign() string {
	switch c {
	case missing:
		return "+"
	case changed:
		return "~"
	}
	return "-"
}

// A difference is one finding of a comparison.
type difference struct {
	class      class
	section    string
	value      any // of missing, extra and stale
	want, have any // of changed
}

func (d difference) MarshalJSON() ([]byte, error) {
	o := object{{"section", d.section}}
	if d.class == changed {
		o = append(o, member{"want", d.want}, member{"have", d.have})
	} else {
		o = append(o, member{"value", d.value})
	}
	return o.MarshalJSON()
}

// show is the value as a line of a report has it.
func (d difference) show() string {
	if d.class == changed {
		return showValue(d.have) + " -> " + showValue(d.want)
	}
	return showValue(d.value)
}

func showValue(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case json.Number:
		return x.String()
	}
	return string(compactJSON(v))
}

func sortedSet(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

func set(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, s := range list {
		m[s] = true
	}
	return m
}

// compareSets compares two lists whose order and repetitions mean nothing.
func compareSets(section string, want, have []string) (out []difference) {
	wanted, there := set(want), set(have)
	for _, s := range sortedSet(append(slices.Clone(want), have...)) {
		switch {
		case !there[s]:
			out = append(out, difference{class: missing, section: section, value: s})
		case !wanted[s]:
			out = append(out, difference{class: extra, section: section, value: s})
		}
	}
	return out
}
