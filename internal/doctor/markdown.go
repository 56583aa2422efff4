package doctor

import (
	"fmt"
	"strings"

	"sallyport/internal/hints"
)

// Markdown is docs/doctor.md, made from the probes themselves. usage is the
// manual of the command.
func Markdown(usage string) string {
	var b strings.Builder
	b.WriteString("<!-- Made from the probes by a test of cmd/agent-setup; do not edit. -->\n\n# agent-setup doctor\n\n")
	b.WriteString("```text\n" + usage + "```\n\n")
	b.WriteString("A recorded session stands in [transcripts/doctor.txt](transcripts/doctor.txt).\n\n## Probes\n")
	for _, p := range Probes() {
		fmt.Fprintf(&b, "\n### %s\n\n%s.\n\n", p.Name, upper(p.Title))
		if len(p.Platforms) > 0 {
			fmt.Fprintf(&b, "- Only on: %s.\n", strings.Join(p.Platforms, ", "))
		}
		fmt.Fprintf(&b, "- Does: %s\n", strings.TrimSuffix(p.Does, ".")+".")
		fmt.Fprintf(&b, "- The sandbox is the cause when: %s.\n", p.Sandbox)
		fmt.Fprintf(&b, "- Other causes: %s.\n", p.Other)
		if len(p.Failures) > 0 {
			var ids []string
			for _, id := range p.Failures {
				if _, ok := silent(id); ok {
					ids = append(ids, fmt.Sprintf("[%s](#%s)", id, id))
				} else {
					ids = append(ids, fmt.Sprintf("[%s](sandbox-troubleshooting.md#%s)", id, id))
				}
			}
			fmt.Fprintf(&b, "- Failures: %s.\n", strings.Join(ids, ", "))
		}
	}
	b.WriteString("\n## Failures that print nothing\n\nThe other failures stand, with their texts and fixes, in [sandbox-troubleshooting.md](sandbox-troubleshooting.md).\n")
	for _, s := range Silent() {
		fmt.Fprintf(&b, "\n### %s\n\n%s. %s.\n", s.ID, s.Title, upper(s.Fix))
	}
	b.WriteString("\n## Not probed\n\nThese entries of the catalogue have a text to recognise and nothing that could be tried without doing harm:\n\n")
	probed := map[string]bool{}
	for _, p := range Probes() {
		for _, id := range p.Failures {
			probed[id] = true
		}
	}
	for _, e := range hints.Builtin() {
		if !probed[e.ID] {
			fmt.Fprintf(&b, "- [%s](sandbox-troubleshooting.md#%s): %s.\n", e.ID, e.ID, e.Title)
		}
	}
	return b.String()
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
