package guards

import (
	"fmt"
	"strings"
)

// Wants reports whether the guard looks at a command.
func (g *Guard) Wants(c *Call) bool { return g.Check != nil && wants(g, c) }

// AllOverrides are the assignments that let one command pass the guard.
func (g *Guard) AllOverrides() []string {
	out := []string{"AGENT_GUARD_ALLOW=" + g.Name}
	for _, name := range g.Overrides {
		out = append(out, name+"=1")
	}
	return out
}

// Through is what the command was reached through, outermost first.
func (c *Call) Through() []string {
	out := append([]string{}, c.via...)
	for _, l := range c.Via {
		out = append(out, l.Name)
	}
	return out
}

func (g *Guard) defaultText() string {
	switch {
	case g.Off:
		return "off (deny when switched on)"
	case g == &Destructive || g.Name == Destructive.Name:
		return "deny or ask, by what would be lost"
	}
	return g.Default.String()
}

// Manual is the documentation of a guard as plain text.
func Manual(g *Guard) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", g.Name, g.Title)
	for _, part := range [...]struct{ head, text string }{
		{"Stops", g.Doc.What}, {"Why", g.Doc.Why}, {"Instead", g.Doc.Instead}, {"Limits", g.Doc.Limits},
		{"Default", g.defaultText()}, {"Override", strings.Join(g.AllOverrides(), " or ")},
	} {
		if part.text != "" {
			fmt.Fprintf(&b, "%s: %s\n", part.head, part.text)
		}
	}
	for _, o := range g.Options {
		fmt.Fprintf(&b, "Option %s: %s", o.Name, o.Text)
		if o.Default != "" {
			fmt.Fprintf(&b, " (default %q)", o.Default)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nExamples:\n")
	for _, e := range g.Examples {
		fmt.Fprintf(&b, "  %-5s %s\n        %s\n", e.Verdict, strings.ReplaceAll(e.Command, "\n", "\n        "), e.Why)
	}
	return b.String()
}

// Markdown is the reference page of the guards.
func Markdown(all []*Guard) string {
	var b strings.Builder
	b.WriteString(`# Guards

This page is written from the guards themselves; ` + "`agent-guard list NAME`" + ` prints the
same in the terminal. In the examples the repository is on branch ` + "`feature`" + `, which
has no commit over ` + "`main`" + ` while its remote branch has one; ` + "`a.txt`" + ` has a staged change.

| guard | default | stops |
|---|---|---|
`)
	for _, g := range all {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", g.Name, g.Name, g.defaultText(), g.Title)
	}
	for _, g := range all {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n", g.Name, upperFirst(g.Title))
		fmt.Fprintf(&b, "**Stops.** %s\n\n**Why.** %s\n\n**Instead.** %s\n\n**Limits.** %s\n\n", g.Doc.What, g.Doc.Why, g.Doc.Instead, g.Doc.Limits)
		b.WriteString("**Override for one command.** ")
		for i, o := range g.AllOverrides() {
			if i > 0 {
				b.WriteString(" or ")
			}
			b.WriteString("`" + o + "`")
		}
		b.WriteString("\n")
		if len(g.Options) > 0 {
			b.WriteString("\n| option | default | meaning |\n|---|---|---|\n")
			for _, o := range g.Options {
				def := ""
				if o.Default != "" {
					def = "`" + o.Default + "`"
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", o.Name, def, o.Text)
			}
		}
		b.WriteString("\n| verdict | command | state | because |\n|---|---|---|---|\n")
		for _, e := range g.Examples {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", e.Verdict, codeCell(e.Command), codeCell(e.Setup), cell(e.Why))
		}
	}
	return b.String()
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

func codeCell(s string) string {
	if s == "" {
		return ""
	}
	s = strings.ReplaceAll(cell(s), "\n", " ⏎ ")
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}
