package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"sallyport/hookio"
	"sallyport/internal/cli"
	"sallyport/internal/hints"
	"sallyport/internal/term"
)

// list prints the catalogue in the order in which entries are tried.
func (w *world) list() error {
	c := hints.Load(w.ownDir)
	idWidth := 0
	for _, e := range c.Entries {
		idWidth = max(idWidth, len(e.ID))
	}
	for _, e := range c.Entries {
		origin := ""
		if e.File != "" {
			origin = "  [" + term.Clean(e.File, 200) + "]"
		}
		fmt.Fprintf(w.Stdout, "%4d  %-*s  %-6s  %-21s  %-12s  %s%s\n", e.Order, idWidth, e.ID, e.Confidence, e.Gate,
			strings.Join(e.Platforms, ","), e.Title, origin)
	}
	for _, id := range c.Disabled {
		fmt.Fprintf(w.Stdout, "disabled: %s\n", id)
	}
	problems := append(c.Problems, c.CheckSamples()...)
	for _, p := range problems {
		fmt.Fprintf(w.Stdout, "problem: %s\n", term.Clean(p.Error(), 500))
	}
	if len(problems) > 0 {
		return &cli.ExitError{Code: cli.ExitFindings}
	}
	return nil
}

// show prints one entry whole.
func (w *world) show(id string) error {
	c := hints.Load(w.ownDir)
	e := hints.Find(c.Entries, id)
	if e == nil && slices.Contains(c.Disabled, id) {
		e = hints.Find(hints.Builtin(), id) // switched off, still worth reading
	}
	if e == nil {
		msg := fmt.Sprintf("no entry has the id %q", term.Clean(id, 80))
		if near := hints.Near(c.Entries, id); len(near) > 0 {
			msg += "; near: " + strings.Join(near, ", ")
		}
		return cli.Exitf(cli.ExitUsage, "%s. error-hint --list prints all", msg)
	}
	out := w.Stdout
	fmt.Fprintf(out, "%s: %s\n\n", e.ID, e.Title)
	fmt.Fprintf(out, "Platform:   %s\nConfidence: %s\nGate:       %s\n", strings.Join(e.Platforms, ", "), e.Confidence, e.Gate)
	if e.Severity != "" {
		fmt.Fprintf(out, "Severity:   %s\n", e.Severity)
	}
	if e.File != "" {
		fmt.Fprintf(out, "From:       %s\n", term.Clean(e.File, 200))
	}
	var exprs []string
	for _, sig := range e.Signatures {
		exprs = append(exprs, term.Clean(sig.Expr, 0))
	}
	section(out, "Matches", exprs...)
	paragraph(out, "Cause", e.Cause)
	paragraph(out, "Other causes", e.Lookalikes)
	paragraph(out, "Fix "+e.Fix.Scope.Where(w.userFile), e.Fix.Line)
	section(out, "Steps", e.Fix.Steps...)
	if e.Fix.Settings != "" {
		fmt.Fprintf(out, "\nSettings:\n%s\n", hints.Indented(e.Fix.Settings))
	}
	if e.AlsoSet != "" {
		fmt.Fprintf(out, "\nSet with it:\n%s\n", hints.Indented(e.AlsoSet))
	}
	section(out, "Never", e.Never...)
	if e.Probe != "" && e.Probe != "none" {
		paragraph(out, "Probe", "agent-setup doctor tests it as "+e.Probe)
	}
	section(out, "Sources", e.Sources...)
	return nil
}

// paragraph prints a titled text, or nothing if there is none.
func paragraph(out io.Writer, title, text string) {
	if text != "" {
		fmt.Fprintf(out, "\n%s:\n  %s\n", title, text)
	}
}

// section prints a titled list, or nothing if it is empty.
func section(out io.Writer, title string, lines ...string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s:\n", title)
	for _, line := range lines {
		fmt.Fprintf(out, "  - %s\n", line)
	}
}

// explain prints what the hook would say to an event, or about a text that is
// no event, and how far each entry got.
func (w *world) explain() error {
	raw, err := hookio.ReadInput(w.Stdin)
	if err != nil {
		return cli.Exitf(cli.ExitInput, "stdin: %v", err)
	}
	out := w.Stdout
	var text, dir, command string
	quotable := 0
	if ev, err := hookio.Claude.Decode(raw); err != nil {
		fmt.Fprintf(out, "input: text of %d bytes, not an event\n", len(raw))
		text = hints.Text(string(raw))
	} else {
		var why string
		text, quotable, why = searched(&ev)
		dir, command = ev.Dir, ev.Command
		fmt.Fprintf(out, "input: event %s, tool %s\n", clean(string(ev.Name)), clean(ev.Tool))
		if ev.Command != "" {
			fmt.Fprintf(out, "command: %s\n", clean(ev.Command))
		}
		if why != "" {
			fmt.Fprintf(out, "note: %s\n", clean(why))
		}
		fmt.Fprintf(out, "searched: %d bytes\n", len(text))
	}
	state := w.sandbox(dir)
	fmt.Fprintf(out, "sandbox: %s\n\n", state)

	c := hints.Load(w.ownDir)
	here := hints.OnPlatform(c.Entries, w.goos)
	found := hints.Scan(text, here)
	heard := hints.NotQuoted(slices.Clone(found), text, quotable, command)
	if h := hints.Select(text, heard, func() hints.Sandbox { return state }); h != nil {
		fmt.Fprintf(out, "hint: %s\n%s\n", h.Entry.ID, h.Text(w.userFile, false))
	} else {
		fmt.Fprintf(out, "hint: none\n\n")
	}
	for _, m := range found {
		if !slices.ContainsFunc(heard, func(h hints.Match) bool { return h.Entry == m.Entry }) {
			fmt.Fprintf(out, "%s: matches only what the command was told to print\n", m.Entry.ID)
		}
	}
	silent := 0
	for _, look := range hints.Inspect(text, c.Entries) {
		if len(look.Matches) == 0 && look.Word == "" {
			silent++
			continue
		}
		fmt.Fprintf(out, "%s: %s\n", look.Entry.ID, w.progress(&look, state))
		for _, m := range look.Matches {
			fmt.Fprintf(out, "  line %d: %s\n    by %s\n", hints.Line(text, m.Start), clean(text[m.Start:m.End]), clean(m.Expr))
		}
	}
	if silent > 0 {
		fmt.Fprintf(out, "%d entries: none of their words stands in the text\n", silent)
	}
	for _, id := range c.Disabled {
		fmt.Fprintf(out, "%s: disabled\n", id)
	}
	for _, p := range c.Problems {
		fmt.Fprintf(out, "problem: %s\n", term.Clean(p.Error(), 500))
	}
	return nil
}

// progress says how far an entry got that found something.
func (w *world) progress(look *hints.Look, state hints.Sandbox) string {
	e := look.Entry
	var said []string
	if look.Word != "" {
		said = append(said, fmt.Sprintf("found %q", look.Word))
	}
	if len(look.Matches) == 0 {
		return strings.Join(append(said, "no expression matches"), ", ")
	}
	said = append(said, "matches")
	switch {
	case !slices.Contains(e.Platforms, w.goos):
		said = append(said, "but is for "+strings.Join(e.Platforms, " and ")+" only")
	case !e.Gate.Allows(state):
		said = append(said, fmt.Sprintf("but its gate %s is closed: the sandbox is %s", e.Gate, state))
	default:
		said = append(said, fmt.Sprintf("gate %s is open", e.Gate))
		if e.Fallback() {
			said = append(said, "speaks only when no other entry does")
		}
	}
	return strings.Join(said, ", ")
}

func clean(s string) string { return term.Clean(s, 200) }
