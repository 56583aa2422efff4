package lint

import (
	"slices"
	"sync"
)

// Rules lists every rule, in the order of the manual.
func Rules() []*Rule {
	var out []*Rule
	for _, f := range Families() {
		out = append(out, f.Rules...)
	}
	return out
}

// A Family is a group of rules that look at the same kind of file.
type Family struct {
	Title string
	Rules []*Rule
}

// Families lists the rules by what they look at.
func Families() []Family {
	return []Family{
		{"Every file", rulesOf(parseRules)},
		{"Claude Code: the sandbox", rulesOf(sandboxRules)},
		{"Claude Code: parity with the baseline", rulesOf(baselineRules)},
		{"Claude Code: permission rules", rulesOf(permissionRules)},
		{"Claude Code: all scopes merged", rulesOf(mergedRules)},
		{"OpenCode", rulesOf(openCodeRules)},
		{"Kiro", rulesOf(kiroRules)},
		{"Codex", rulesOf(codexRules)},
		{"Any harness", rulesOf(harnessRules)},
	}
}

func rulesOf[T any](checks []check[T]) []*Rule {
	out := make([]*Rule, len(checks))
	for i := range checks {
		out[i] = &checks[i].Rule
	}
	return out
}

var byID = sync.OnceValue(func() map[string]*Rule {
	m := make(map[string]*Rule)
	for _, r := range Rules() {
		m[r.ID] = r
	}
	return m
})

// Lookup finds a rule by its id.
func Lookup(id string) (*Rule, bool) {
	r, ok := byID()[id]
	return r, ok
}

// IDs lists the ids of all rules, sorted.
func IDs() []string {
	var ids []string
	for _, r := range Rules() {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	return ids
}
