package gitcmd

import (
	"strings"

	"sallyport/internal/shellcmd"
)

// A Nested is a shell command line that a git command runs itself.
type Nested struct {
	Via  string // "git rebase --exec", …
	Text string
}

// Nested returns the command lines that c hands to a shell: the commands of
// rebase --exec, bisect run, submodule foreach and filter-branch. Text that is
// not known whole keeps its known parts.
func (c *Call) Nested() []Nested {
	var all []Nested
	add := func(via string, words ...shellcmd.Word) {
		var b strings.Builder
		for i, w := range words {
			if i > 0 {
				b.WriteByte(' ')
			}
			if len(words) > 1 {
				b.WriteString(w.Quote())
			} else {
				b.WriteString(w.Value)
			}
		}
		if text := b.String(); strings.TrimSpace(text) != "" {
			all = append(all, Nested{via, text})
		}
	}
	switch {
	case c.Shell != "":
		add("git alias "+strings.Join(c.Alias, ", "), shellcmd.NewWord(c.Shell))
	case c.Name == "rebase":
		for _, o := range c.All("exec") {
			add("git rebase --exec", o.Value)
		}
	case c.Name == "bisect" && c.Sub == "run":
		add("git bisect run", c.Operands...)
	case c.Name == "submodule" && c.Sub == "foreach":
		add("git submodule foreach", c.Operands...)
	case c.Name == "filter-branch":
		for _, o := range c.Options {
			if strings.HasSuffix(o.Name, "-filter") && o.Name != "subdirectory-filter" || o.Name == "setup" {
				add("git filter-branch --"+o.Name, o.Value)
			}
		}
	}
	for _, s := range c.Global.Config {
		// Git runs these by itself; a pager or an ssh command is a command line.
		switch s.Key {
		case "core.editor", "sequence.editor", "core.pager", "core.sshcommand":
			add("git -c "+s.Key, s.Value)
		}
	}
	return all
}
