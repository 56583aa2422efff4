package agentguard

import (
	"encoding/json"
	"fmt"
	"strings"

	"sallyport/guards"
	"sallyport/internal/cli"
	"sallyport/internal/term"
)

// A Listed guard is one row of list.
type Listed struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	State     string   `json:"state"` // off, warn, ask, deny, or "deny or ask"
	Source    string   `json:"source"`
	Overrides []string `json:"overrides"`
	Error     string   `json:"error,omitempty"` // why a guard from a file does not work
}

// List prints the guards and their state; for names their documentation.
func List(p *cli.Process, opt *Options, names []string, asJSON bool) error {
	s := newSession(p, opt, p.Dir())
	defer s.close()
	chosen := s.all
	if len(names) > 0 {
		chosen = nil
		for _, name := range names {
			found := false
			for _, g := range s.all {
				if g.Name == name {
					chosen, found = append(chosen, g), true
				}
			}
			if !found {
				return cli.Usagef("no guard is named %q", name)
			}
		}
	}
	broken := s.broken()
	if asJSON {
		rows := []Listed{}
		for _, g := range chosen {
			rows = append(rows, Listed{g.Name, g.Title, s.state(g), s.source(g), g.AllOverrides(), broken[g.Name]})
		}
		enc := json.NewEncoder(p.Stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}
	if len(names) > 0 {
		for i, g := range chosen {
			if i > 0 {
				fmt.Fprintln(p.Stdout)
			}
			fmt.Fprint(p.Stdout, guards.Manual(g))
		}
		return nil
	}
	for _, g := range chosen {
		fmt.Fprintf(p.Stdout, "%-18s %-12s %-52s %s\n", g.Name, s.state(g), g.Title, term.Clean(s.source(g), 200))
	}
	for _, g := range chosen {
		if text := broken[g.Name]; text != "" {
			fmt.Fprintf(p.Stderr, "agent-guard: guard %s is skipped: %s\n", g.Name, cleanLine(text))
		}
	}
	for _, text := range s.pluginProblems() {
		fmt.Fprintf(p.Stderr, "agent-guard: %s\n", cleanLine(text))
	}
	for _, problem := range s.config.Problems {
		fmt.Fprintf(p.Stderr, "agent-guard: %s\n", strings.TrimSpace(term.Clean(problem.Error(), 300)))
	}
	return nil
}
