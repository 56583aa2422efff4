package verify

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sallyport/internal/term"
)

// WriteJSON prints the report as one document. exit is the code of the run.
func (r *Report) WriteJSON(w io.Writer, exit int) error {
	doc := struct {
		Schema string `json:"schema"`
		*Report
		Counts map[string]int `json:"counts"`
		Exit   int            `json:"exit"`
	}{"agent-setup-verify/1", r, map[string]int{}, exit}
	for _, s := range []Status{Pass, Fail, Warn, NotApplicable} {
		doc.Counts[s.String()] = r.Count(s)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// WriteText prints the report for a person. quiet leaves out what passed and
// what does not apply; short abbreviates paths.
func (r *Report) WriteText(w io.Writer, color, quiet bool, short func(string) string) {
	sgr := [...]string{"2", "32", "33", "1;31"}
	if !quiet {
		fmt.Fprintf(w, "project  %s\n", short(r.Project))
		client := r.Client
		if client == "" {
			client = "version not known"
		}
		fmt.Fprintf(w, "client   Claude Code, %s\n\n", term.Clean(client, 40))
	}
	for _, res := range r.Results {
		if quiet && res.Status < Warn {
			continue
		}
		fmt.Fprintf(w, "%s %-4s %s\n", term.Style(color, sgr[res.Status], res.Status.Mark()), res.ID, res.Title)
		for _, f := range res.Findings {
			if quiet && f.Status < Warn {
				continue
			}
			fmt.Fprintf(w, "    %s %s\n", term.Style(color, sgr[f.Status], f.Status.Mark()), term.Clean(f.Text, 400))
			if place := f.place(short); place != "" {
				fmt.Fprintf(w, "      %s\n", term.Clean(place, 400))
			}
			if f.Command != "" && f.Status != Pass {
				fmt.Fprintf(w, "      %s\n", term.Clean(f.ran(), 400))
			}
			if f.Fix != "" {
				fmt.Fprintf(w, "      fix: %s\n", term.Clean(f.Fix, 400))
			}
		}
	}
	if r.Stopped != "" {
		fmt.Fprintf(w, "stopped at %s: nothing after it was looked at\n", r.Stopped)
	}
	fmt.Fprintf(w, "%d ✓  %d ✗  %d ⚠  %d –\n", r.Count(Pass), r.Count(Fail), r.Count(Warn), r.Count(NotApplicable))
}

func (f Finding) place(short func(string) string) string {
	if f.File == "" {
		return ""
	}
	place := short(f.File)
	if f.Line > 0 {
		place += fmt.Sprintf(":%d", f.Line)
		if f.Column > 0 {
			place += fmt.Sprintf(":%d", f.Column)
		}
	}
	if f.Pointer != "" {
		place += "  " + f.Pointer
	}
	return place
}

// ran is what a program was and said.
func (f Finding) ran() string {
	text := "ran: " + f.Command
	if f.Exit != nil {
		text += fmt.Sprintf(" → exit %d", *f.Exit)
	}
	if f.Stderr != "" {
		text += ": " + f.Stderr
	}
	return text
}

// Markdown is the page that describes every check.
func Markdown() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# agent-setup verify\n")
	line("`agent-setup verify` looks whether the suite is installed and a project's sandbox configured as they should be.")
	line("It reads and starts programs, and writes nothing. Every check runs, and each says what it looked at: the file with")
	line("line and JSON pointer, or the program with its exit code. A check's mark is that of its weightiest finding.\n")
	line("| mark | meaning | exit code |\n|---|---|---|")
	line("| ✓ | as it should be | 0 |\n| ✗ | broken; the fix stands below it | 1 (4 for V05b) |\n| ⚠ | works in part, or worth a look | 0; 1 with `--warn-as-error` |\n| – | does not apply here | 0 |\n")
	line("Inside the sandbox files and programs are hidden. There a ✗ counts as ⚠, but for the checks that hold there too:")
	var inside []string
	for _, c := range Checks() {
		if c.inside {
			inside = append(inside, c.ID)
		}
	}
	line("%s.\n", strings.Join(inside, ", "))
	line("This page is made from the values that the program runs (`internal/verify`).")
	for _, c := range Checks() {
		line("\n## %s: %s\n", c.ID, c.Title)
		for _, m := range [...]struct{ mark, text string }{{"✓", c.Pass}, {"✗", c.Fail}, {"⚠", c.Warn}, {"–", c.NA}} {
			if m.text != "" {
				line("- %s %s", m.mark, m.text)
			}
		}
	}
	return b.String()
}
