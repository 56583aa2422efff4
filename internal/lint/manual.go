package lint

import (
	"fmt"
	"strings"
)

// Explain is the manual of one rule.
func (r *Rule) Explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s%s): %s\n\n", r.ID, r.Severity, r.marks(), r.Summary)
	fmt.Fprintf(&b, "Why:     %s\n", r.Why)
	fmt.Fprintf(&b, "Example: %s\n", strings.ReplaceAll(r.Example, "\n", "\n         "))
	fmt.Fprintf(&b, "Fix:     %s\n", r.Fix)
	return b.String()
}

func (r *Rule) marks() string {
	marks := ""
	if r.Hard {
		marks += ", cannot be disabled"
	}
	if r.Mends {
		marks += ", mended by --fix"
	}
	return marks
}

// Manual is docs/lint-rules.md.
func Manual() string {
	var b strings.Builder
	b.WriteString(`# Rules of sandbox-lint

<!-- Generated from the rules in internal/lint by go generate; do not edit. -->

Each rule has an id that stays, a severity, and a reason. ★ marks rules that
--disable does not switch off, 🔧 those whose findings --fix mends: only where the
repair is mechanical and cannot loosen anything, so of R301 and R305 in deny and
ask alone. A warning ends with exit code 1 only under --strict.
` + "`sandbox-lint explain ID`" + ` prints the same text.
`)
	for _, f := range Families() {
		fmt.Fprintf(&b, "\n## %s\n", f.Title)
		for _, r := range f.Rules {
			mark := ""
			if r.Hard {
				mark += " ★"
			}
			if r.Mends {
				mark += " 🔧"
			}
			fmt.Fprintf(&b, "\n### %s%s\n\n", r.ID, mark)
			fmt.Fprintf(&b, "**%s.** %s.\n\n", title(r.Severity.String()), title(md(r.Summary)))
			fmt.Fprintf(&b, "Why: %s.\n\n", md(r.Why))
			fmt.Fprintf(&b, "Example:\n\n```\n%s\n```\n\n", r.Example)
			fmt.Fprintf(&b, "Fix: %s.\n", md(r.Fix))
		}
	}
	return b.String()
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// md keeps characters of the texts from being read as Markdown.
func md(s string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;", "`", "\\`").Replace(s)
}
