package hints

import (
	"strings"

	"sallyport/internal/term"
)

const (
	// Tag begins every hint.
	Tag = "[sandbox-hint]"

	// docsPage is where every built-in entry has a section; its anchor is the id.
	docsPage = "docs/sandbox-troubleshooting.md"

	offLine        = "The sandbox is off in this session, so it is not the cause."
	protectionLine = "This is the protection working: the path holds credentials, and no setting should open it to an agent."

	// maxModelText keeps the text for the model well below what the client
	// cuts off.
	maxModelText = 6000
)

const indent = "               " // as wide as Tag and a blank

// Where names the place of a fix. userFile is the user settings file as a person
// would write it.
func (s FixScope) Where(userFile string) string {
	switch s {
	case UserScope:
		return "in " + userFile
	case ProjectScope:
		return "in .claude/settings.json"
	case ProjectLocalScope:
		return "in .claude/settings.local.json"
	case CommandScope:
		return "in the command"
	}
	return "on this machine"
}

func (s FixScope) lead(userFile string) string {
	switch s {
	case CommandScope:
		return "For this command: "
	case HostScope:
		return "On this machine: "
	}
	where := s.Where(userFile)
	return strings.ToUpper(where[:1]) + where[1:] + ": "
}

// Text is the hint for a person: the two lines that every hint has, and below
// them what else may be the cause. colour marks the tag, or dims a hint that
// only explains noise.
func (h *Hint) Text(userFile string, colour bool) string {
	e := h.Entry
	tag, rest := Tag, " "+sentence(e.Title)+" "+h.advice(userFile)+" See "+e.reference()
	lines := []string{"Run agent-setup doctor for a probe of all known failure modes."}
	if e.Lookalikes != "" && !h.Protection && (e.Confidence != High || h.NotTheCause) {
		lines = append(lines, "Other causes: "+sentence(e.Lookalikes))
	}
	if len(h.Also) > 0 {
		var ids []string
		for _, also := range h.Also {
			ids = append(ids, also.ID)
		}
		lines = append(lines, "Also seen: "+strings.Join(ids, ", ")+".")
	}
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	if e.Severity == SeverityInfo {
		all := append([]string{tag + rest}, lines...)
		for i := range all {
			all[i] = term.Style(colour, "2", all[i])
		}
		return strings.Join(all, "\n") + "\n"
	}
	return term.Style(colour, "1;33", tag) + rest + "\n" + strings.Join(lines, "\n") + "\n"
}

func (h *Hint) advice(userFile string) string {
	switch {
	case h.NotTheCause:
		return offLine
	case h.Protection:
		return protectionLine
	}
	f := &h.Entry.Fix
	return f.Scope.lead(userFile) + sentence(f.Line)
}

// ModelText is the hint for the model: the person's text, the cause, the exact
// fix, and the widenings that must not be suggested.
func (h *Hint) ModelText(userFile string) string {
	e := h.Entry
	var b strings.Builder
	b.WriteString(h.Text(userFile, false))
	if h.NotTheCause {
		return strings.TrimSuffix(b.String(), "\n")
	}
	if e.Cause != "" {
		b.WriteString("Cause: " + sentence(e.Cause) + "\n")
	}
	if !h.Protection {
		for _, step := range e.Fix.Steps {
			b.WriteString("- " + step + "\n")
		}
		if e.Fix.Settings != "" {
			b.WriteString("Settings " + e.Fix.Scope.Where(userFile) + ": " + e.Fix.Settings + "\n")
		}
		if e.AlsoSet != "" {
			b.WriteString("Set with it: " + e.AlsoSet + "\n")
		}
	}
	never := "Never suggest: " + sentence(strings.Join(e.Never, "; "))
	if len(e.Never) > 0 && b.Len()+len(never) < maxModelText {
		b.WriteString(never + "\n")
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if len(text) > maxModelText {
		text = strings.ToValidUTF8(text[:maxModelText], "") + "…"
	}
	return text
}

func (e *Entry) reference() string {
	if e.File != "" {
		return "error-hint --show " + e.ID
	}
	return docsPage + "#" + e.ID
}

// sentence ends s with a full stop unless it ends one already.
func sentence(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// Indented lays a compact JSON fragment out over several lines.
func Indented(compact string) string {
	var b strings.Builder
	depth := 0
	breakLine := func() {
		b.WriteByte('\n')
		b.WriteString(strings.Repeat("  ", depth))
	}
	for i := 0; i < len(compact); i++ {
		switch c := compact[i]; c {
		case '"':
			end := i + 1
			for end < len(compact) && compact[end] != '"' {
				if compact[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(compact))
			b.WriteString(compact[i:end])
			i = end - 1
		case '{', '[':
			b.WriteByte(c)
			if i+1 < len(compact) && (compact[i+1] == '}' || compact[i+1] == ']') {
				i++
				b.WriteByte(compact[i])
				continue
			}
			depth++
			breakLine()
		case '}', ']':
			depth--
			breakLine()
			b.WriteByte(c)
		case ',':
			b.WriteByte(c)
			breakLine()
		case ':':
			b.WriteString(": ")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
