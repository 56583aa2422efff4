package script

import (
	"slices"
	"testing"
)

func TestTriggers(t *testing.T) {
	tests := []struct {
		name           string
		src            string
		want           []string
		found, literal bool
	}{
		{"a list", "TRIGGERS = [\"gh\", \"git:commit\"]\n", []string{"gh", "git:commit"}, true, true},
		{"a tuple over lines with comments and a trailing comma", "x = 1\nTRIGGERS = (\n  'gh',  # all of gh\n  \"git:push\",\n)\n", []string{"gh", "git:push"}, true, true},
		{"a set", "TRIGGERS={'a'}", []string{"a"}, true, true},
		{"an annotation", "TRIGGERS: list[str] = [\"gh\"]\n", []string{"gh"}, true, true},
		{"an empty list", "TRIGGERS = []\n", nil, true, true},
		{"no final line break", "TRIGGERS = ['gh']", []string{"gh"}, true, true},
		{"after a byte order mark", "\ufeffTRIGGERS = ['gh']", []string{"gh"}, true, true},
		{"a statement behind it", "TRIGGERS = ['gh']; x = 1", []string{"gh"}, true, true},
		{"none", "def guard(ctx):\n    return None\n", nil, false, false},
		{"only in a doc string", "\"\"\"Example:\n\nTRIGGERS = ['gh']\n\"\"\"\ndef guard(ctx): pass\n", nil, false, false},
		{"only in a raw doc string", "r'''\nTRIGGERS = ['gh']\n'''\n", nil, false, false},
		{"only in a comment", "# TRIGGERS = ['gh']\n", nil, false, false},
		{"doc string first, then the real one", "'''\nTRIGGERS = ['x']\n'''\nTRIGGERS = ['gh']\n", []string{"gh"}, true, true},
		{"a longer name", "TRIGGERS_OLD = ['x']\nMY_TRIGGERS = ['x']\n", nil, false, false},
		{"computed", "TRIGGERS = ['git:' + s for s in X]\n", nil, true, false},
		{"added to", "TRIGGERS = ['gh'] + MORE\n", []string{"gh"}, true, false},
		{"changed later", "TRIGGERS = ['gh']\nTRIGGERS.append('git')\n", []string{"gh"}, true, false},
		{"assigned twice", "TRIGGERS = ['gh']\nTRIGGERS = ['git']\n", []string{"gh"}, true, false},
		{"in a branch", "if True:\n    TRIGGERS = ['gh']\n", nil, true, false},
		{"a string instead of a list", "TRIGGERS = 'gh'\n", nil, true, false},
		{"an f-string", "TRIGGERS = [f'{x}']\n", nil, true, false},
		{"an escape", "TRIGGERS = ['g\\x68']\n", nil, true, false},
		{"joined strings", "TRIGGERS = ['g' 'h']\n", nil, true, false},
		{"unterminated", "TRIGGERS = ['gh'", nil, true, false},
		{"unterminated string", "TRIGGERS = ['gh\n]", nil, true, false},
		{"a backslash at the end", "x = 1 \\", nil, false, false},
		{"an unterminated doc string hides the rest", "'''\nTRIGGERS = ['gh']\n", nil, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, found, literal := Triggers(tt.src)
			if found != tt.found || literal != tt.literal || literal && !slices.Equal(got, tt.want) {
				t.Errorf("Triggers(%q) = %q found %v literal %v, want %q found %v literal %v", tt.src, got, found, literal, tt.want, tt.found, tt.literal)
			}
		})
	}
}

func FuzzTriggers(f *testing.F) {
	f.Add("TRIGGERS = ['gh']\n")
	f.Add("'''\nTRIGGERS: list = (\"a\",)")
	f.Add("\\")
	f.Fuzz(func(t *testing.T, src string) {
		got, found, literal := Triggers(src)
		if literal && !found || !found && len(got) > 0 {
			t.Errorf("Triggers(%q) = %q found %v literal %v", src, got, found, literal)
		}
	})
}
