package guards

import "strings"

// What a guard that is loaded from a file may ask about a call, beside what the
// fields of [Call] tell.

// Message is the text that the command would record as a commit message, every
// source of it joined by a blank line. known is false when some of it cannot be
// told; text is empty for a command that records none.
func (c *Call) Message() (text string, known bool) {
	known = true
	var parts []string
	for _, m := range c.messages() {
		parts = append(parts, m.text)
		known = known && m.whole
	}
	return strings.Join(parts, "\n\n"), known
}

// A Refspec is one source and destination of a git push.
type Refspec struct {
	Source, Destination string // Destination is empty where the source names it
	Force               bool   // by + or by an option of the push
	Delete              bool
	Known               bool // the words tell the names
}

// Refspecs are what a git push sends: those on the line, else those of the
// configuration. It is empty for every other command.
func (c *Call) Refspecs() []Refspec {
	p, ok := c.push()
	if !ok {
		return nil
	}
	var out []Refspec
	for _, r := range p.refs {
		out = append(out, Refspec{r.src, r.dst, r.force || p.forced, r.deletes, !r.dynamic})
	}
	return out
}

// Branch is the branch that is checked out where the command runs, after the
// commands before it on the line.
func (c *Call) Branch() (string, bool) { return c.currentBranch() }

// Mentions are the logins and teams that a Markdown text notifies on GitHub.
func Mentions(text string) []string { return mentions(text) }

// HookEnv is a variable of the hook's own environment: a person's word, which
// the command cannot change.
func (c *Call) HookEnv(name string) (string, bool) { return c.run.env(name) }

// Inline is what an override inside the command is worth.
func (c *Call) Inline() InlineOverride { return c.run.in.Inline }

// ProjectRoot is the root of the session's project, empty if there is none.
func (c *Call) ProjectRoot() string { return c.projectRoot() }
