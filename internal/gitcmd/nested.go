package gitcmd

import (
	"slices"
	"strings"

	"sallyport/internal/shellcmd"
)

// commandKeys are settings, and commandVariables variables, whose value git
// runs by itself, most of them by way of a shell.
var (
	commandKeys = []string{
		"core.editor", "sequence.editor", "core.pager", "core.sshcommand", "core.askpass", "core.fsmonitor", "core.alternaterefscommand",
		"diff.external", "interactive.difffilter", "gpg.program", "uploadpack.packobjectshook",
	}
	commandVariables = []string{
		"GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "VISUAL", "EDITOR", "GIT_PAGER", "PAGER", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_ASKPASS", "SSH_ASKPASS",
		"GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND",
	}
)

// A Nested is a shell command line that a git command runs itself.
type Nested struct {
	Via  string // "git rebase --exec", …
	Text string
}

// Nested returns the command lines that c hands to a shell: the commands of
// rebase --exec, bisect run, submodule foreach, filter-branch and difftool, and
// what settings and variables of the line make git run: editors, pagers, ssh. Text that is
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
	switch c.Name {
	case "difftool", "mergetool":
		// Without a table a value that is not attached stands among the operands.
		for _, o := range c.Options {
			switch {
			case o.Name != "extcmd" && o.Name != "x":
			case o.Has:
				add("git difftool --extcmd", o.Value)
			case len(c.Operands) > 0:
				add("git difftool --extcmd", c.Operands[0])
			}
		}
	}
	for _, o := range c.Options {
		switch o.Name {
		case "upload-pack", "receive-pack", "exec", "open-files-in-pager", "sendmail-cmd":
			if o.Has && c.Name != "rebase" {
				add("git "+c.Name+" --"+o.Name, o.Value)
			}
		case "O":
			if c.Name == "grep" && o.Has {
				add("git grep -O", o.Value)
			}
		}
	}
	for _, w := range c.Operands {
		// The helper "ext" runs what stands behind it as the connection.
		if text, ok := w.After("ext::"); ok {
			add("ext::", text)
		}
	}
	for _, s := range c.Global.Config {
		if strings.HasPrefix(s.Key, "credential") && strings.HasSuffix(s.Key, "helper") {
			if text, ok := s.Value.After("!"); ok {
				add("git -c "+s.Key, text)
			}
			continue
		}
		if s.Bare {
			continue
		}
		switch key := s.Key; {
		case slices.Contains(commandKeys, key), strings.HasPrefix(key, "pager."), strings.HasSuffix(key, ".cmd") && (strings.HasPrefix(key, "difftool.") || strings.HasPrefix(key, "mergetool.")),
			strings.HasPrefix(key, "filter."), strings.HasPrefix(key, "diff.") && (strings.HasSuffix(key, ".textconv") || strings.HasSuffix(key, ".command")):
			add("git -c "+key, s.Value)
		}
	}
	for _, name := range commandVariables {
		if v, ok := c.vars[name]; ok {
			add(name, v)
		}
	}
	return all
}
