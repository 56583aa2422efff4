package guards

import (
	"strings"

	"sallyport/internal/shellcmd"
	"sallyport/internal/term"
)

// Bounds of quoted text in a reason, in runes.
const (
	maxQuoted  = 80
	maxReason  = 700
	maxCommand = 200 // a longer command is not repeated
	maxReasons = 6   // lines of one answer
)

// Quote makes text from a command safe and short enough to stand in a reason.
func Quote(s string) string {
	return "`" + strings.ReplaceAll(term.Clean(s, maxQuoted), "`", "'") + "`"
}

// Reason is the sentence that the person and the model read.
func (res *Result) Reason(inline InlineOverride) string {
	f := res.Finding
	var b strings.Builder
	b.WriteString("agent-guard[" + res.Guard.Name + "]: " + term.Clean(f.Found, maxReason))
	if f.Why != "" {
		b.WriteString(" — " + term.Clean(f.Why, maxReason))
	}
	b.WriteString(".")
	if f.Fix != "" {
		b.WriteString(" " + term.Clean(f.Fix, maxReason) + ".")
	}
	hint := res.Guard.overrideHint()
	switch {
	case res.Call == nil:
		b.WriteString(" Override: a person sets " + hint + " in the environment of the session.")
	case inline == InlineIgnore:
		b.WriteString(" Override: a person sets " + hint + " in the environment of the session; in the command it does not count.")
	default:
		b.WriteString(" Override for one command: " + res.Call.override(res.Call.assignment(hint)))
	}
	return b.String()
}

// Reason joins the reasons of all results of verdict v, a line each.
func (rep *Report) Reason(v Verdict) string {
	var lines []string
	more := 0
	for i := range rep.Results {
		res := &rep.Results[i]
		switch {
		case res.Verdict != v:
		case len(lines) == maxReasons:
			more++
		default:
			lines = append(lines, res.Reason(rep.Input.Inline))
		}
	}
	if more > 0 {
		lines = append(lines, "agent-guard: and "+itoa(more)+" more of the kind.")
	}
	return strings.Join(lines, "\n")
}

// override says how the line is written with an override for c. Only a line that
// is c and nothing else is repeated: a part of it, pasted alone, could run in
// another directory or on another machine than in its line, and do more there.
func (c *Call) override(hint string) string {
	if source, ok := c.wholeLine(); ok {
		return hint + " " + source
	}
	outer := c.outermost()
	if outer == nil {
		return "put " + hint + " in front of the command that leads to it"
	}
	text := "put " + hint + " in front of " + Quote(outer.called())
	if outer != c {
		return text + ", which runs " + Quote(c.called())
	}
	return text + " where it stands in this line"
}

// assignment is NAME=value as the command's shell takes it in front of a command.
func (c *Call) assignment(hint string) string {
	name, value, _ := strings.Cut(hint, "=")
	if c.run.in.Dialect == shellcmd.PowerShell {
		return "$env:" + name + "='" + value + "';"
	}
	return hint
}

// wholeLine is the line as written, if c is all of it and it can be pasted.
func (c *Call) wholeLine() (string, bool) {
	source := strings.TrimSpace(c.run.in.Command)
	if len(c.via)+len(c.Via) > 0 || source == "" || source != term.Clean(source, maxCommand) {
		return "", false
	}
	line := c.Line()
	if line == nil || c.End > len(line.Source) || strings.TrimSpace(line.Source[c.Pos:c.End]) != source {
		return "", false
	}
	return source, true
}

// outermost is the command of the line in front of which an assignment reaches
// c: c itself, or what leads to it. It is nil where the line shows none.
func (c *Call) outermost() *Call {
	if c.runsAsWritten() {
		return c
	}
	for i := c.Index - 1; i >= 0 && c.Index-i <= maxEarlier; i-- {
		o := c.run.calls[i]
		if !o.runsAsWritten() || len(c.via) == 0 && !leads(o, c) {
			continue
		}
		if o.name == "env" && emptiesEnvironment(o) {
			if len(c.Via) == len(o.Via)+1 && c.Args[0].End > 0 {
				return c // env takes assignments behind its options
			}
			return nil
		}
		return o
	}
	return nil
}

// runsAsWritten reports a command that stands in the line as the shell reads
// it, with nothing but the shell's own constructs around it.
func (c *Call) runsAsWritten() bool {
	if len(c.via) > 0 || c.Args[0].End == 0 {
		return false
	}
	for _, l := range c.Via {
		switch l.Name {
		case "subshell", "$(…)", "<(…)", ">(…)", "time", "coproc":
		default:
			if !strings.HasSuffix(l.Name, "()") {
				return false
			}
		}
	}
	return true
}

// leads reports whether c was reached through o.
func leads(o, c *Call) bool {
	if len(o.Via) >= len(c.Via) {
		return false
	}
	for i, l := range o.Via {
		if c.Via[i] != l {
			return false
		}
	}
	return true
}

func emptiesEnvironment(c *Call) bool {
	for _, w := range c.Args[1:] {
		switch {
		case w.Value == "-", w.Value == "--ignore-environment", len(w.Value) > 1 && w.Value[0] == '-' && w.Value[1] != '-' && strings.Contains(w.Value, "i"):
			return true
		case w.Value == "" || w.Value[0] != '-':
			return false
		}
	}
	return false
}

// called is what a person calls the command: its program, with the subcommand.
func (c *Call) called() string {
	name := c.Args[0].String()
	if (c.Git != nil || c.GH != nil) && len(c.Args) > 1 && c.Args[1].Static && !strings.HasPrefix(c.Args[1].Value, "-") {
		name += " " + c.Args[1].Value
	}
	return name
}
