package iso

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sallyport/internal/iso/mode"
	"sallyport/internal/term"
)

// Explain prints what a start would do: names of variables, never values.
func (p *Plan) Explain(w io.Writer) {
	list := func(items []string) string {
		if len(items) == 0 {
			return "(none)"
		}
		return strings.Join(items, " ")
	}
	row := func(label, text string) {
		fmt.Fprintf(w, "%-10s %s\n", label, term.Clean(text, 0))
	}
	row("program", p.Path)
	row("cli", p.CLI)
	row("kept", list(p.Environment.Kept))
	row("dropped", list(p.Environment.Dropped))
	if len(p.Environment.Unset) > 0 {
		row("not set", list(p.Environment.Unset))
	}
	if p.mode != mode.None {
		row("mode", p.report.Applied.String())
		if names := slices.Sorted(maps.Keys(p.report.Injected.Set)); len(names) > 0 {
			row("set", list(names))
		}
		if len(p.report.Injected.Unset) > 0 {
			row("unset", list(p.report.Injected.Unset))
		}
	}
	if p.Settings == "" {
		row("settings", "(none injected)")
	} else {
		row("settings", maskEnv(p.Settings))
	}
	if len(p.Removed) > 0 {
		row("removed", list(p.Removed))
	}
	words := make([]string, len(p.Argv))
	for i, a := range p.Argv {
		if p.Settings != "" && a == p.Settings {
			a = maskEnv(a)
		}
		words[i] = shellWord(a)
	}
	row("argv", strings.Join(words, " "))
}

// shellWord quotes a word where a POSIX shell would not take it as it is.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,@%+", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// maskEnv hides the values of a settings object's own environment block.
func maskEnv(settings string) string {
	masked, err := setIn(settings, []string{"env"}, func(old gjson.Result) (string, error) {
		if !old.IsObject() {
			return "", errShape
		}
		var members []string
		old.ForEach(func(k, _ gjson.Result) bool {
			members = append(members, k.Raw+`:"…"`)
			return true
		})
		return "{" + strings.Join(members, ",") + "}", nil
	})
	if err != nil {
		return settings
	}
	return masked
}
