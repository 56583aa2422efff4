package guards

import (
	"strings"

	"sallyport/internal/term"
)

// Bounds of quoted text in a reason, in runes.
const (
	maxQuoted  = 80
	maxReason  = 700
	maxCommand = 80
	maxReasons = 6 // lines of one answer
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
	switch {
	case res.Call == nil:
		b.WriteString(" Override: a person sets " + res.Guard.overrideHint() + " in the environment of the session.")
	case inline == InlineIgnore:
		b.WriteString(" Override: a person sets " + res.Guard.overrideHint() + " in the environment of the session; in the command it does not count.")
	default:
		b.WriteString(" Override for one command: " + res.Guard.overrideHint() + " " + res.Call.summary())
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

// summary is the command in short.
func (c *Call) summary() string {
	words := Words(c.Command)
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\|&;<>()*?[]#~`") && c.Args[i].Static {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return term.Clean(strings.Join(words, " "), maxCommand)
}
