package policy

import (
	"fmt"
	"strings"
)

// A compiler holds what every agent's compiler reads.
type compiler struct {
	cfg   *Config
	srt   *SRT
	bash  *BashRules
	env   Env
	yolo  bool
	prune bool
	probe bool
	force bool
	n     *notes
}

// A product is one agent's share of a run.
type product struct {
	agent Agent
	// files are what is written, the first the agent's target; none if the
	// agent prints to stdout alone.
	files []*targetFile
	needs string // the configuration key without which there is no target

	content any // JSON of a new file
	text    string
	argv    []string
	toml    string
	rules   string

	match []rule // for explain
	// blocked is set when the agent could not be compiled.
	blocked bool
}

// A targetFile is one file that we own parts of.
type targetFile struct {
	path string
	// fresh is the content of a new file.
	fresh []byte
	// merge changes our parts of an existing text. The record is what to keep
	// in the state for targets whose containers we share.
	merge func(old []byte, owned []ownedEntry) (new []byte, record []ownedEntry, err error)
	// seed makes a new file out of another mode's, nil if there are no modes.
	seed func(other []byte) ([]byte, error)
	// check says why new is not old with our parts as compiled.
	check func(old, new []byte, owned []ownedEntry) error
	// diff compares an existing text with the compilation.
	diff func(old []byte, owned []ownedEntry) ([]difference, error)
	// record is that of a new file.
	record []ownedEntry
}

// A rule is one statement of an agent's output, for explain.
type rule struct {
	text     string
	decision string // deny, ask or allow
	layer    string // kernel or app
	from     entry

	path        *pathEntry
	below       bool // covers what lies below the path, not the path itself
	read, write bool
	suffix      bool // matches trailing path components anywhere

	command []string // nil: no command rule
	raw     string   // the command as written
	exact   bool     // matches the bare command alone

	domain *domainEntry
}

func (c *compiler) place(root string) place {
	return place{Home: c.env.Home, Probe: c.probe, Root: root}
}

func (c *compiler) warn(id string, level Level, agent Agent, e entry, format string, args ...any) {
	c.n.add(Warning{ID: id, Level: level, Agent: string(agent), Source: e.Source, Pointer: e.Pointer, Message: fmt.Sprintf(format, args...)})
}

// key is a statement about a member of the SRT file as a whole.
func (c *compiler) key(name string) entry { return entry{Source: "srt", Pointer: pointerOf(name)} }

// compile makes the product of one agent.
func (c *compiler) compile(a Agent) *product {
	p := &product{agent: a}
	if c.srt.Enabled != nil && !*c.srt.Enabled && a != Claude && a != Copilot {
		c.n.problem("ABORT-SRT-DISABLED", "%s: enabled is false, and %s has no way to say so; remove it, or compile claude and copilot alone", c.srt.Path, a)
		p.blocked = true
		return p
	}
	if c.srt.has("credentials") && a != Claude {
		c.warn("SRT-NOT-COMPILED", Info, a, c.key("credentials"), "credentials are for Claude alone and not compiled")
	}
	before := len(c.n.problems)
	switch a {
	case Claude:
		c.claude(p)
	case Copilot:
		c.copilot(p)
	case Codex:
		c.codex(p)
	case CopilotSandbox:
		c.copilotSandbox(p)
	case Gemini:
		c.gemini(p)
	case OpenCode:
		c.opencode(p)
	case Kiro:
		c.kiro(p)
	}
	if len(c.n.problems) > before {
		p.blocked = true
	}
	return p
}

// notCompiled warns about every statement of a source that an extended agent has
// no words for and that no entry-wise warning named.
func (c *compiler) extendedAllowances(a Agent) {
	if len(c.srt.AllowWrite) > 0 {
		c.warn("EXT-NOT-COMPILED", Lossy, a, c.key("filesystem.allowWrite"), "%s has no list of writable paths: filesystem.allowWrite is not compiled", a)
	}
	for _, p := range c.srt.AllowRead {
		c.warn("EXT-NOT-COMPILED", Lossy, a, p.entry, "%s cannot open %s again inside a denied region: a deny over it stays whole", a, p)
	}
	if len(c.srt.Allowed) > 0 {
		c.warn("EXT-NOT-COMPILED", Lossy, a, c.key("network.allowedDomains"), "%s gets restrictions only: that no other domain may be reached is not compiled", a)
	}
	for _, cmd := range c.bash.Allow {
		c.warn("EXT-NOT-COMPILED", Lossy, a, cmd.entry, "%s gets restrictions only: allow %q is not compiled", a, cmd.Text)
	}
}

// quoteShell writes one argument in single quotes.
func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
