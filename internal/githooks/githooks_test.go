package githooks

import (
	"slices"
	"strings"
	"testing"
)

func TestFirstTime(t *testing.T) {
	null, null256, id := strings.Repeat("0", 40), strings.Repeat("0", 64), strings.Repeat("0a", 20)
	for _, tt := range []struct {
		why  string
		args []string
		want bool
	}{
		{"another branch", []string{id, id, "1"}, true},
		{"files", []string{id, id, "0"}, false},
		{"a clone", []string{null, id, "1"}, true},
		{"a worktree, SHA-256", []string{null256, id, "1"}, true},
		{"the null id decides alone", []string{null, id, "0"}, true},
		{"an empty word is no id", []string{"", id, "0"}, false},
		{"too few", []string{null, id}, false},
		{"none", nil, false},
	} {
		if got := FirstTime(tt.args); got != tt.want {
			t.Errorf("%s: FirstTime(%q) = %v, want %v", tt.why, tt.args, got, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range slices.Concat(Names, FrequentNames, TakingOver) {
		if seen[name] {
			t.Errorf("%s is listed twice", name)
		}
		seen[name] = true
	}
	for _, name := range TakingOver {
		if known(name) {
			t.Errorf("%s would be dispatched, and git would leave its work to it", name)
		}
	}
	for _, name := range fed {
		if !known(name) {
			t.Errorf("%s has input but is not dispatched", name)
		}
	}
}

func TestSetenv(t *testing.T) {
	for _, tt := range []struct{ in, want []string }{
		{nil, []string{"A=x"}},
		{[]string{"B=1", "AA=2"}, []string{"B=1", "AA=2", "A=x"}},
		{[]string{"A=1", "B=1", "A=2"}, []string{"A=x", "B=1"}},
		{[]string{"A=1=2", "odd"}, []string{"A=x", "odd"}},
	} {
		before := slices.Clone(tt.in)
		if got := setenv(tt.in, "A", "x"); !slices.Equal(got, tt.want) || !slices.Equal(tt.in, before) {
			t.Errorf("setenv(%q) = %q, want %q; input is now %q", before, got, tt.want, tt.in)
		}
	}
}

func TestSetHooksPath(t *testing.T) {
	for _, tt := range []struct{ in, want []string }{
		{nil, []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=v"}},
		{[]string{"GIT_CONFIG_COUNT=2"}, []string{"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_2=core.hooksPath", "GIT_CONFIG_VALUE_2=v"}},
		{[]string{"GIT_CONFIG_COUNT=-1"}, []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=v"}},
		{[]string{"GIT_CONFIG_COUNT=many"}, []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=v"}},
	} {
		if got := setHooksPath(tt.in, "v"); !slices.Equal(got, tt.want) {
			t.Errorf("setHooksPath(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
