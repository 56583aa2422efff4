package iso

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// JSON without comments is what it was.
func FuzzStripJSONC(f *testing.F) {
	f.Add(`{"a": "// no", /* c */ "b": [1, 2,], }`)
	f.Add(`"\\\"" // x`)
	f.Fuzz(func(t *testing.T, text string) {
		stripped := stripJSONC(text)
		if json.Valid([]byte(text)) && stripped != text {
			t.Fatalf("stripJSONC(%q) = %q changed JSON", text, stripped)
		}
	})
}

// A rule file whose only rule is dressed up in text still has the rule.
func FuzzHasAllowRule(f *testing.F) {
	f.Add(`prefix_rule(pattern=["a"], decision="forbidden")`)
	f.Add("'''prefix_rule(")
	f.Add(`# "`)
	f.Fuzz(func(t *testing.T, text string) {
		hasAllowRule(text)
		if !strings.ContainsAny(text, "'\"#\\([{}])") && !hasAllowRule(text+"\nprefix_rule(pattern=['x'])\n") {
			t.Fatalf("an allow rule behind %q is not seen", text)
		}
	})
}

// Every word of a command line belongs to at most one option, in order, and
// nothing behind "--" is one.
func FuzzOptions(f *testing.F) {
	f.Add("-p\x00--settings\x00x\x00--add-dir\x00a\x00b\x00--\x00-w")
	f.Add("-cw\x00--allowedTools=Bash")
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		end := slices.Index(args, "--")
		last := 0
		for _, o := range claudeGrammar.options(args) {
			if o.at < last-1 || o.end <= o.at || o.end > len(args) {
				t.Fatalf("options(%q): %+v overlaps", args, o)
			}
			if end >= 0 && o.at >= end && !slices.Contains(args[:o.at], "--") {
				t.Fatalf("options(%q): %+v stands behind --", args, o)
			}
			last = o.end
		}
		_, _, rest := userSettings(args)
		if len(rest) > len(args) {
			t.Fatalf("userSettings(%q) made words up: %q", args, rest)
		}
	})
}
