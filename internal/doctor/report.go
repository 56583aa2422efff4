package doctor

import (
	"fmt"
	"io"
	"strings"

	"sallyport/internal/hints"
	"sallyport/internal/term"
)

// A Report prints results for a person.
type Report struct {
	Out   io.Writer
	Color bool
	Quiet bool // only what needs attention
	World *World
}

var sgr = map[Status]string{Pass: "32", Fail: "1;31", Warn: "33", None: "2"}

// Where prints on which side this runs, and why that is believed.
func (p Report) Where() {
	line := "outside the sandbox"
	if p.World.Inside {
		line = "inside the sandbox"
	}
	var why []string
	for _, e := range p.World.Evidence {
		why = append(why, term.Clean(e, 200))
	}
	if len(why) > 0 {
		note := strings.Join(why, "; ")
		if !p.World.Inside {
			note += ", one sign alone is not enough"
		}
		line += " (" + note + ")"
	}
	if p.World.Agent {
		line += ", started by an agent's session"
	}
	fmt.Fprintf(p.Out, "%s: %s\n", line, term.Clean(p.World.short(p.World.Start), 0))
}

// Results prints every result, and a line that counts them.
func (p Report) Results(results []Result) {
	for _, r := range results {
		if p.Quiet && (r.Status == Pass || r.Status == None) {
			continue
		}
		p.line(r, "")
	}
	if !p.Quiet {
		fmt.Fprintln(p.Out, count(results))
	}
}

func (p Report) line(r Result, verdict string) {
	fmt.Fprintf(p.Out, "PROBE %s %s (%s)\n", r.Key(), term.Style(p.Color, sgr[r.Status], string(r.Status)), r.Evidence)
	say := func(format string, args ...any) { fmt.Fprintf(p.Out, "      "+format+"\n", args...) }
	if verdict != "" {
		say("%s", term.Style(p.Color, "1", verdict))
	}
	if r.Stderr != "" && bad(r.Status) && !strings.Contains(r.Evidence, r.Stderr) {
		say("it said: %s", r.Stderr)
	}
	if r.Cause == Unclear {
		say("caused by the sandbox, or not: this alone cannot tell")
	}
	if r.Catalog != "" && bad(r.Status) && !(r.Cause == Other && r.Advice != "") {
		p.advice(r, say)
	}
	if r.Advice != "" && bad(r.Status) {
		say("%s", r.Advice)
	}
}

// advice is the catalogue's text.
func (p Report) advice(r Result, say func(string, ...any)) {
	if s, ok := silent(r.Catalog); ok {
		say("%s [%s]", s.Title, s.ID)
		say("%s", s.Fix)
		return
	}
	e := hints.Find(hints.Builtin(), r.Catalog)
	if e == nil {
		return
	}
	say("%s [%s]", e.Title, e.ID)
	where := e.Fix.Scope.Where(p.World.short(p.World.ConfigDir) + "/settings.json")
	if r.Fix != nil && e.Fix.Scope != hints.HostScope {
		where = "in " + p.World.short(r.Fix.File)
	}
	say("%s: %s", where, e.Fix.Line)
	say("docs/sandbox-troubleshooting.md#%s", e.ID)
}

// Differences prints what a comparison found.
func (p Report) Differences(diffs []Difference, same int, then Snapshot) {
	where := "outside"
	if then.Inside {
		where = "inside"
	}
	fmt.Fprintf(p.Out, "compared with %s the sandbox, %s\n", where, then.Taken.UTC().Format("2006-01-02 15:04 UTC"))
	if then.Inside == p.World.Inside {
		fmt.Fprintf(p.Out, "both are %s the sandbox: differences are changes over time\n", where)
	}
	if then.Dir != p.World.Start {
		fmt.Fprintf(p.Out, "%s the snapshot is of another directory: %s\n", term.Style(p.Color, sgr[Warn], string(Warn)), then.Dir)
	}
	last := ""
	for _, d := range diffs {
		if d.Key() == last { // a further fact of the same probe
			fmt.Fprintf(p.Out, "      %s\n", d.Verdict)
			continue
		}
		last = d.Key()
		p.line(d.Result, d.Verdict)
		if d.Status == Pass && d.Catalog != "" {
			p.advice(d.Result, func(format string, args ...any) { fmt.Fprintf(p.Out, "      "+format+"\n", args...) })
		}
	}
	fmt.Fprintf(p.Out, "%d the same\n", same)
}

func count(results []Result) string {
	n := map[Status]int{}
	for _, r := range results {
		n[r.Status]++
	}
	return fmt.Sprintf("%d work, %d fail, %d to know, %d not applicable", n[Pass], n[Fail], n[Warn], n[None])
}
