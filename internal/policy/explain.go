package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Query asks which rule covers something.
type Query struct {
	Kind  string `json:"kind"` // path, command or domain
	Value string `json:"value"`
	Op    string `json:"op,omitempty"` // read or write, of a path
}

// An Answer is what one agent does about it.
type Answer struct {
	Agent    string   `json:"agent"`
	Decision string   `json:"decision"` // deny, ask, allow or default
	Layer    string   `json:"layer"`    // kernel, app or none
	Rule     string   `json:"rule,omitempty"`
	Source   string   `json:"source,omitempty"`
	File     string   `json:"file,omitempty"`
	Pointer  string   `json:"pointer,omitempty"`
	Caveats  []string `json:"caveats"`
}

// An Explanation is the answer of every agent.
type Explanation struct {
	Query    Query
	Results  []Answer
	Warnings []Warning
	Problems []Problem
}

// Explain answers a query for the requested agents.
func Explain(r *Request, q Query) *Explanation {
	j := r.load()
	e := &Explanation{Query: q}
	for _, o := range j.compileAll(false) {
		if !o.product.blocked {
			e.Results = append(e.Results, j.answer(o.product, q))
		}
	}
	// Only what is wrong is of interest here.
	e.Problems = j.n.problems
	return e
}

func (j *job) answer(p *product, q Query) Answer {
	a := Answer{Agent: string(p.agent), Decision: "default", Layer: "none", Caveats: []string{}}
	hits := j.hits(p, q)
	for _, decision := range []string{"deny", "ask", "allow"} {
		i := slices.IndexFunc(hits, func(r rule) bool { return r.decision == decision })
		if i < 0 {
			continue
		}
		r := hits[i]
		a.Decision, a.Layer, a.Rule, a.Source, a.Pointer = decision, r.layer, r.text, r.from.Source, r.from.Pointer
		a.File = map[string]string{"srt": j.cfg.SRT, "bash": j.cfg.BashRules}[r.from.Source]
		for _, other := range hits {
			if other.layer != r.layer && other.decision == r.decision {
				a.Caveats = append(a.Caveats, "the "+other.layer+" layer has a rule as well: "+other.text)
				break
			}
		}
		break
	}
	a.Caveats = append(a.Caveats, j.caveats(p.agent, q, a)...)
	if a.Decision == "default" && q.Kind == "domain" && p.agent == Codex {
		// Its allow list is closed: what is not on it is not reached.
		a.Decision, a.Layer, a.Rule, a.Source, a.Pointer, a.File = "deny", "kernel", "not in network.domains", "srt", "/network/allowedDomains", j.cfg.SRT
	}
	return a
}

// hits are the rules that match, the closest first.
func (j *job) hits(p *product, q Query) (hits []rule) {
	switch q.Kind {
	case "path":
		pl := place{Home: j.Env.Home, Root: filepath.ToSlash(j.Env.Dir)}
		at := pl.abs(canonical(entry{Text: q.Value}))
		var loose []rule
		for _, r := range p.match {
			if r.path == nil || q.Op == "write" && !r.write || q.Op != "write" && !r.read {
				continue
			}
			it := pl.abs(*r.path)
			switch {
			case r.suffix:
				name := strings.TrimPrefix(r.path.Canon, "**/")
				if strings.HasSuffix(at, "/"+path.Clean(name)) {
					hits = append(hits, r)
				}
			case r.path.Glob:
				if pl.covers(*r.path, at) {
					hits = append(hits, r)
				}
			case r.below:
				if at != it && within(at, it) {
					hits = append(hits, r)
				}
			case at == it, r.layer == "kernel" && within(at, it):
				hits = append(hits, r)
			case !r.exact && within(at, it):
				loose = append(loose, r)
			}
		}
		return append(hits, loose...)
	case "domain":
		d, why := parseDomain(entry{Text: q.Value}, false)
		host := d.Host
		if why != "" {
			host = strings.ToLower(strings.TrimSuffix(q.Value, "."))
		}
		for _, r := range p.match {
			if r.domain != nil && r.domain.matches(host) && (r.domain.Port == "" || r.domain.Port == d.Port || r.layer == "app" && r.decision == "deny" || p.agent == Codex) {
				hits = append(hits, r)
			}
		}
		return hits
	}
	for _, part := range commandParts(q.Value) {
		var mine []rule
		for _, r := range p.match {
			if r.command != nil && j.matchesCommand(p.agent, r, part) {
				mine = append(mine, r)
			}
		}
		if p.agent == OpenCode && len(mine) > 1 {
			mine = mine[len(mine)-1:] // the last that matches decides
		}
		hits = append(hits, mine...)
	}
	return hits
}

func (j *job) matchesCommand(a Agent, r rule, part string) bool {
	if a == Codex {
		words, err := splitWords(part)
		if err != nil || len(words) < len(r.command) {
			return false
		}
		for i, w := range r.command {
			if words[i].Text != w {
				return false
			}
		}
		return true
	}
	bare := part == r.raw
	longer := strings.HasPrefix(part, r.raw+" ")
	switch {
	case r.exact:
		return bare
	case strings.HasSuffix(r.text, " *)"), strings.HasSuffix(r.text, ":*)'"):
		return bare && !strings.HasSuffix(r.text, " *)") || longer
	case a == Claude:
		return bare
	}
	return bare || longer
}

// commandParts splits a line at the operators that join commands.
func commandParts(line string) (parts []string) {
	var b strings.Builder
	var quote byte
	flush := func() {
		if s := strings.Join(strings.Fields(b.String()), " "); s != "" {
			parts = append(parts, s)
		}
		b.Reset()
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '\\' && i+1 < len(line):
			b.WriteByte(c)
			i++
			c = line[i]
		case strings.IndexByte(";|&\n", c) >= 0:
			flush()
			continue
		}
		b.WriteByte(c)
	}
	flush()
	return parts
}

// caveats say what an agent cannot do about a query at all.
func (j *job) caveats(a Agent, q Query, found Answer) (out []string) {
	say := func(s string) { out = append(out, s) }
	switch {
	case q.Kind == "path" && a == Copilot && q.Op != "write":
		say("Copilot's flags have no control over reading")
	case q.Kind == "path" && a == Copilot && found.Decision == "deny":
		say("write rules do not cover shell redirections")
	case q.Kind == "path" && a == Claude && found.Layer == "app":
		say("permission rules bind Claude's own tools and file commands it recognises; other programs are bound by the sandbox alone")
	case q.Kind == "path" && a == Claude && found.Layer == "kernel":
		say("the sandbox binds commands, not Claude's own file tools")
	case q.Kind == "path" && (a == Gemini || a == OpenCode || a == Kiro) && found.Decision == "deny":
		say("binds the agent's file tools, not what a command reads or writes")
	case q.Kind == "domain" && (a == Gemini || a == Kiro || a == OpenCode || a == Copilot):
		say("binds the agent's fetch tool, not what a command reaches")
	case q.Kind == "command" && a == CopilotSandbox:
		say("copilot-sandbox has no control over commands")
	case q.Kind == "command":
		say("best effort: the agent's own reading of the line; a wrapper such as sh -c or env may hide the command")
	}
	return out
}
