package policy

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"sallyport/internal/term"
)

// A Printer shows results to a person or a program.
type Printer struct {
	Out, Err io.Writer
	JSON     bool
	Quiet    bool
	Color    bool
	CI       string // github, plain or empty
}

// line prints a line that may hold text from outside.
func line(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, term.Clean(fmt.Sprintf(format, args...), 0))
}

// Notes prints warnings and problems.
func (p *Printer) Notes(warnings []Warning, problems []Problem) {
	for _, w := range warnings {
		if w.Level == Info && p.Quiet {
			continue
		}
		who := ""
		if w.Agent != "" {
			who = w.Agent + ": "
		}
		line(p.Err, "%s: %s: %s%s", w.Level, w.ID, who, w.Message)
	}
	for _, e := range problems {
		line(p.Err, "error: %s: %s", e.ID, e.Message)
	}
}

// Object prints one JSON object.
func (p *Printer) Object(v any) {
	p.Out.Write(indentJSON(v))
}

// content prints compiled text. Its line ends are ours; what stands in the lines
// comes from the sources.
func (p *Printer) content(text string) {
	for l := range strings.SplitAfterSeq(text, "\n") {
		if body, ok := strings.CutSuffix(l, "\n"); ok {
			fmt.Fprintln(p.Out, term.Clean(body, 0))
		} else if l != "" {
			fmt.Fprint(p.Out, term.Clean(l, 0))
		}
	}
}

func (p *Printer) warnings(list []Warning) []Warning {
	out := []Warning{}
	for _, w := range list {
		if w.Level != Info || !p.Quiet {
			out = append(out, w)
		}
	}
	return out
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// text is what a product prints in a preview.
func (pr *product) preview() string {
	switch {
	case pr.agent == Copilot:
		return pr.text
	case pr.toml != "" && pr.rules != "":
		return pr.toml + "\n" + pr.rules
	case pr.toml != "":
		return pr.toml
	}
	return string(indentJSON(pr.content))
}

// Generate shows the result of a compilation.
func (p *Printer) Generate(r *Result) {
	if p.JSON {
		agents := []any{}
		for _, o := range r.Outcomes {
			if !o.product.blocked {
				agents = append(agents, o.generateJSON())
			}
		}
		p.Object(object{{"schema", "agent-policy/generate/1"}, {"mode", r.Mode}, {"written", r.Written}, {"agents", agents},
			{"warnings", p.warnings(r.Warnings)}, {"errors", orEmpty(r.Problems)}})
		return
	}
	if len(r.Problems) == 0 {
		for _, o := range r.Outcomes {
			p.generated(r, o)
		}
	}
	p.Notes(r.Warnings, r.Problems)
}

func (p *Printer) generated(r *Result, o *Outcome) {
	switch {
	case r.dry:
		fmt.Fprintf(p.Out, "--- Dry run: %s ---\n", o.agent)
	case len(r.Outcomes) > 1:
		fmt.Fprintf(p.Out, "--- %s ---\n", o.agent)
	}
	if r.dry {
		for _, pl := range o.plans {
			line(p.Out, "Would write to: %s", pl.file.path)
			for _, l := range pl.anchor.plans() {
				line(p.Out, "%s", l)
			}
			if pl.existed && pl.changes() && !pl.known {
				line(p.Out, "Backup: %s", pl.from)
			}
		}
		if len(o.plans) == 0 {
			fmt.Fprintln(p.Out, "Would write to: stdout")
		}
	}
	if !r.write || len(o.plans) == 0 {
		p.content(o.product.preview())
		return
	}
	for _, pl := range o.plans {
		if pl.backup != "" {
			line(p.Out, "Backup: %s", pl.backup)
		}
		if pl.anchor != nil && pl.anchor.migrate {
			line(p.Out, "Migrated: %s -> %s", pl.anchor.path, pl.anchor.target)
		}
		switch {
		case pl.wrote && !pl.existed:
			line(p.Out, "Created: %s", pl.file.path)
		case pl.wrote:
			line(p.Out, "Updated: %s", pl.file.path)
		default:
			line(p.Out, "Unchanged: %s", pl.file.path)
		}
		if pl.anchor != nil && !pl.anchor.is && !pl.anchor.copied {
			line(p.Out, "%s", pl.anchor.linked())
		}
	}
}

func (o *Outcome) generateJSON() object {
	out := object{{"agent", string(o.agent)}}
	if t := o.target(); t != "" {
		out.set("target", t)
	} else {
		out.set("target", nil)
	}
	out.set("action", string(o.action))
	for i, pl := range o.plans {
		if pl.backup != "" {
			if i == 0 {
				out.set("backup", pl.backup)
			} else {
				out.set("rules_backup", pl.backup)
			}
		}
	}
	pr := o.product
	switch {
	case o.agent == Copilot:
		out.set("argv", pr.argv)
		out.set("text", pr.text)
	case pr.toml != "":
		out.set("toml", pr.toml)
		if len(pr.files) > 1 {
			out.set("rules_target", pr.files[1].path)
			out.set("rules", pr.rules)
		}
	default:
		out.set("content", pr.content)
	}
	return out
}

// Diff shows the result of a comparison.
func (p *Printer) Diff(r *Result) {
	if p.JSON {
		agents := []any{}
		for _, o := range r.Outcomes {
			of := func(c class) []difference {
				out := []difference{}
				for _, d := range o.diffs {
					if d.class == c {
						out = append(out, d)
					}
				}
				return out
			}
			item := object{{"agent", string(o.agent)}, {"target", nil}, {"status", o.status}, {"missing", of(missing)}, {"extra", of(extra)}, {"changed", of(changed)}, {"stale", of(stale)}}
			if t := o.target(); t != "" {
				item.set("target", t)
			}
			agents = append(agents, item)
		}
		p.Object(object{{"schema", "agent-policy/diff/1"}, {"mode", r.Mode}, {"exit", r.Exit}, {"agents", agents},
			{"warnings", p.warnings(r.Warnings)}, {"errors", orEmpty(r.Problems)}})
		return
	}
	for _, o := range r.Outcomes {
		p.compared(o)
	}
	p.Notes(r.Warnings, r.Problems)
	if p.CI != "github" {
		return
	}
	for _, o := range r.Outcomes {
		for _, d := range o.diffs {
			fmt.Fprintf(p.Out, "::error file=%s,title=agent-policy drift::%s\n", githubProperty(o.target()), githubData(fmt.Sprintf("%s %s %s", d.class, d.section, d.show())))
		}
	}
	for _, w := range r.Warnings {
		if w.Level != Info {
			fmt.Fprintf(p.Out, "::warning title=agent-policy %s::%s\n", w.ID, githubData(w.Message))
		}
	}
	for _, e := range r.Problems {
		fmt.Fprintf(p.Out, "::error title=agent-policy %s::%s\n", e.ID, githubData(e.Message))
	}
}

func (p *Printer) compared(o *Outcome) {
	switch o.status {
	case "clean":
		fmt.Fprintf(p.Out, "%s: no drift\n", o.agent)
		return
	case "skipped":
		fmt.Fprintf(p.Out, "%s: skipped\n", o.agent)
		return
	case "error":
		fmt.Fprintf(p.Out, "%s: could not be compared\n", o.agent)
	case "missing":
		line(p.Out, "%s: %s is missing", o.agent, o.target())
	}
	var parts []string
	for _, c := range []class{missing, extra, changed, stale} {
		n := 0
		for _, d := range o.diffs {
			if d.class == c {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, c))
		}
	}
	if len(parts) > 0 {
		fmt.Fprintf(p.Out, "%s: %s\n", o.agent, strings.Join(parts, ", "))
	}
	for _, d := range o.diffs {
		note := ""
		if d.class == stale {
			note = "  (not in the policy; generate -w --prune removes it)"
		}
		color := map[string]string{"+": "32", "-": "31", "~": "33"}[d.class.sign()]
		fmt.Fprintf(p.Out, "  %s %s  %s%s\n", term.Style(p.Color, color, d.class.sign()), term.Clean(d.section, 0), term.Clean(d.show(), 0), note)
	}
}

// githubData and githubProperty escape for a workflow command.
func githubData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func githubProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// Explain shows what covers a query.
func (p *Printer) Explain(e *Explanation) {
	if p.JSON {
		p.Object(object{{"schema", "agent-policy/explain/1"}, {"query", e.Query}, {"results", orEmpty(e.Results)}, {"warnings", orEmpty(e.Warnings)}, {"errors", orEmpty(e.Problems)}})
		return
	}
	for _, a := range e.Results {
		by := ""
		if a.Rule != "" {
			by = fmt.Sprintf(" by %s (%s)", a.Rule, a.Layer)
		}
		line(p.Out, "%s: %s%s", a.Agent, a.Decision, by)
		if a.Pointer != "" {
			line(p.Out, "  from %s %s", a.File, a.Pointer)
		}
		for _, c := range a.Caveats {
			line(p.Out, "  note: %s", c)
		}
	}
	p.Notes(nil, e.Problems)
}

// Import shows the sources that a file was turned into.
func (p *Printer) Import(im *Import, cfg *Config, written []string) {
	if p.JSON {
		p.Object(object{{"schema", "agent-policy/import/1"}, {"srt", im.SRT}, {"bash_rules", im.Bash}, {"unimported", im.Unimported}, {"written", orEmpty(written)}, {"errors", []Problem{}}})
		return
	}
	if written == nil {
		line(p.Out, "--- %s ---", cfg.SRT)
		p.content(string(indentJSON(im.SRT)))
		line(p.Out, "--- %s ---", cfg.BashRules)
		p.content(string(indentJSON(im.Bash)))
	}
	for _, l := range written {
		line(p.Out, "%s", l)
	}
	for _, u := range im.Unimported {
		line(p.Err, "info: UNIMPORTED: %s: %s", u.Value, u.Reason)
	}
}

// Files are the two sources as text.
func (im *Import) Files() (srt, bash []byte) { return indentJSON(im.SRT), indentJSON(im.Bash) }

// Simple prints the report of a command that makes lines.
func (p *Printer) Simple(name string, fields map[string]any, lines []string, problems []Problem) {
	if p.JSON {
		o := object{{"schema", "agent-policy/" + name + "/1"}}
		for _, key := range sortedNames(fields) {
			o.set(key, fields[key])
		}
		o.set("errors", orEmpty(problems))
		p.Object(o)
		return
	}
	for _, l := range lines {
		line(p.Out, "%s", l)
	}
	p.Notes(nil, problems)
}

// sortDifferences orders findings: by section in the order of a new file, then by value.
func sortDifferences(diffs []difference) {
	rank := map[string]int{}
	for _, d := range diffs {
		if _, ok := rank[d.section]; !ok {
			rank[d.section] = len(rank)
		}
	}
	slices.SortStableFunc(diffs, func(a, b difference) int {
		if r := rank[a.section] - rank[b.section]; r != 0 {
			return r
		}
		return strings.Compare(a.show(), b.show())
	})
}
