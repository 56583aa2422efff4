package agentguard

import (
	"encoding/json"
	"fmt"
	"strings"

	"sallyport/guards"
	"sallyport/internal/cli"
	"sallyport/internal/shellcmd"
	"sallyport/internal/term"
)

// An Explanation is what explain prints.
type Explanation struct {
	Command  string             `json:"command"`
	Dir      string             `json:"cwd"`
	Exact    bool               `json:"exact"`   // the whole text could be parsed
	Limited  bool               `json:"limited"` // a bound ended the analysis early
	Verdict  string             `json:"verdict"`
	Commands []ExplainedCommand `json:"commands"`
	Guards   []ExplainedGuard   `json:"guards"`
	Problems []string           `json:"problems,omitempty"` // of the configuration
}

// An ExplainedCommand is one simple command.
type ExplainedCommand struct {
	Words    []string  `json:"words"`
	Dynamic  []int     `json:"dynamic,omitempty"` // words whose text is not known
	Env      []string  `json:"env,omitempty"`
	Via      []string  `json:"via,omitempty"` // outermost first
	Dir      string    `json:"cwd,omitempty"`
	Unknown  bool      `json:"cwd_unknown,omitempty"`
	Inexact  bool      `json:"inexact,omitempty"`
	Remote   bool      `json:"remote,omitempty"`
	Findings []Decided `json:"findings,omitempty"`
}

// A Decided finding is one with what became of it.
type Decided struct {
	Guard    string   `json:"guard"`
	Verdict  string   `json:"verdict"`
	Reason   string   `json:"reason"`
	Matched  []string `json:"matched,omitempty"`
	Override string   `json:"override,omitempty"`
	Source   string   `json:"source"` // where the rule comes from
}

// An ExplainedGuard says whether a guard looked.
type ExplainedGuard struct {
	Name   string `json:"name"`
	Looked int    `json:"looked"` // commands it was shown
	State  string `json:"state"`
	Source string `json:"source"`
}

// Explain prints what the guards see in a command line.
func Explain(p *cli.Process, opt *Options, words []string, asJSON bool) error {
	if len(words) == 0 {
		return cli.Usagef("no command line to explain")
	}
	line := words[0]
	if len(words) > 1 {
		line = quoteAll(words)
	}
	s := newSession(p, opt, p.Dir())
	defer s.close()
	if unknown := s.unknownNames(); len(unknown) > 0 {
		return cli.Usagef("no guard is named %s", strings.Join(unknown, ", "))
	}
	rep := guards.Run(s.input(line, shellcmd.Bash), s.all, s.world)
	x := s.explain(rep)
	if asJSON {
		enc := json.NewEncoder(p.Stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(x)
	}
	fmt.Fprint(p.Stdout, x.text())
	return nil
}

func (s *session) source(g *guards.Guard) string {
	if f, ok := s.config.Sources["guards."+g.Name]; ok && s.opt.Guards == nil {
		return f
	}
	if g.Source != "" {
		return g.Source
	}
	return "built in"
}

func (s *session) state(g *guards.Guard) string {
	switch l := s.config.Levels; {
	case !l.Enabled(g):
		return "off"
	case l.Repository[g.Name] > l.User[g.Name]:
		return l.Repository[g.Name].String()
	case l.User[g.Name] > guards.LevelOff:
		return l.User[g.Name].String()
	case g.Name == guards.Destructive.Name:
		return "deny or ask"
	}
	return g.Default.String()
}

func (s *session) explain(rep *guards.Report) *Explanation {
	x := &Explanation{Command: rep.Input.Command, Dir: s.dir, Exact: rep.Line.Exact, Limited: rep.Line.Limited, Verdict: rep.Verdict.String()}
	for _, p := range s.config.Problems {
		x.Problems = append(x.Problems, p.Error())
	}
	for _, c := range rep.Calls {
		e := ExplainedCommand{Words: guards.Words(c.Command), Dir: c.Place.Dir, Unknown: c.Place.Unknown, Inexact: c.Inexact, Remote: c.Remote || c.Container, Via: c.Through()}
		for i, w := range c.Args {
			if !w.Static {
				e.Dynamic = append(e.Dynamic, i)
			}
		}
		for _, a := range c.Assigns {
			if a.Inline {
				e.Env = append(e.Env, a.Name+"="+a.Value.Value)
			}
		}
		for i := range rep.Results {
			res := &rep.Results[i]
			if res.Call != c {
				continue
			}
			e.Findings = append(e.Findings, Decided{
				Guard: res.Guard.Name, Verdict: res.Verdict.String(), Reason: res.Reason(rep.Input.Inline),
				Matched: res.Finding.Words, Override: res.Override, Source: s.source(res.Guard),
			})
		}
		x.Commands = append(x.Commands, e)
	}
	for _, g := range s.all {
		looked := 0
		if s.config.Levels.Enabled(g) {
			for _, c := range rep.Calls {
				if g.Wants(c) {
					looked++
				}
			}
		}
		x.Guards = append(x.Guards, ExplainedGuard{g.Name, looked, s.state(g), s.source(g)})
	}
	return x
}

// maxExplained bounds the commands of the text form; --json has them all.
const maxExplained = 200

func (x *Explanation) text() string {
	var b strings.Builder
	for i, c := range x.Commands {
		if i == maxExplained {
			fmt.Fprintf(&b, "… and %d more\n", len(x.Commands)-i)
			break
		}
		indent := strings.Repeat("  ", len(c.Via))
		matched := map[string]bool{}
		for _, f := range c.Findings {
			for _, m := range f.Matched {
				matched[m] = true
			}
		}
		var words []string
		for _, a := range c.Env {
			words = append(words, term.Clean(a, 60))
		}
		for _, w := range c.Words {
			text := term.Clean(w, 60)
			if strings.ContainsAny(text, " ") || text == "" {
				text = "'" + text + "'"
			}
			if matched[w] {
				text = "»" + text + "«"
			}
			words = append(words, text)
		}
		fmt.Fprintf(&b, "%s%s\n", indent, strings.Join(words, " "))
		var notes []string
		if len(c.Via) > 0 {
			notes = append(notes, "through "+term.Clean(strings.Join(c.Via, " › "), 120))
		}
		switch {
		case c.Remote:
			notes = append(notes, "on another machine or in a container")
		case c.Unknown:
			notes = append(notes, "in a directory that is not known")
		case c.Dir != x.Dir:
			notes = append(notes, "in "+term.Clean(c.Dir, 120))
		}
		if c.Inexact {
			notes = append(notes, "found in text that does not parse")
		}
		if len(notes) > 0 {
			fmt.Fprintf(&b, "%s    %s\n", indent, strings.Join(notes, "; "))
		}
		for _, f := range c.Findings {
			fmt.Fprintf(&b, "%s    %s: %s\n", indent, f.Verdict, f.Reason)
			if f.Override != "" {
				fmt.Fprintf(&b, "%s    overridden by %s\n", indent, f.Override)
			}
		}
	}
	if len(x.Commands) == 0 {
		b.WriteString("no command\n")
	}
	if !x.Exact {
		b.WriteString("\nSome of the text does not parse: what was found in it can ask, not deny.\n")
	}
	if x.Limited {
		b.WriteString("\nThe line is too large or too deep to be followed to its end.\n")
	}
	fmt.Fprintf(&b, "\nverdict: %s\n\nguards:\n", x.Verdict)
	for _, g := range x.Guards {
		looked := "did not look"
		if g.Looked > 0 {
			looked = fmt.Sprintf("looked at %d", g.Looked)
		}
		fmt.Fprintf(&b, "  %-18s %-12s %-14s %s\n", g.Name, g.State, looked, g.Source)
	}
	for _, p := range x.Problems {
		fmt.Fprintf(&b, "\nconfiguration: %s\n", term.Clean(p, 300))
	}
	return b.String()
}
