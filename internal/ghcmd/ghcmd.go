// Package ghcmd reads a command line of the GitHub CLI as gh itself would.
//
// [Parse] finds the command (pr, comment) wherever flags stand, resolves gh's
// own names (pr new is pr create) and the aliases of its configuration, and
// reads flags under their long names: attached short values (-btext), clusters,
// --flag=value, repeated and comma-separated lists. [Call.API] tells what a
// gh api call would send.
//
// Parse runs nothing. A word whose text is not known stands where it stands.
package ghcmd

import (
	"encoding/csv"
	"strings"

	"sallyport/internal/shellcmd"
)

// A Call is one invocation of gh.
type Call struct {
	Command  []string // "pr", "comment"; canonical names
	Flags    []Flag
	Operands []shellcmd.Word
	Help     bool   // only prints usage
	Shell    string // the command line of a "!" alias, run by sh
	Alias    string // the alias that was expanded
}

// A Flag is one flag under its long name, or its letter if the table does not
// know it.
type Flag struct {
	Name  string
	Value shellcmd.Word // of a boolean without a value: "true"
	Text  string        // as written, without a following word
}

// Is reports whether c is this command: Is("pr", "create").
func (c *Call) Is(command ...string) bool {
	if len(c.Command) != len(command) {
		return false
	}
	for i, name := range command {
		if c.Command[i] != name {
			return false
		}
	}
	return true
}

// Flag returns the last occurrence of a flag.
func (c *Call) Flag(name string) (Flag, bool) {
	for i := len(c.Flags) - 1; i >= 0; i-- {
		if c.Flags[i].Name == name {
			return c.Flags[i], true
		}
	}
	return Flag{}, false
}

// On reports whether a boolean flag is set.
func (c *Call) On(name string) bool {
	f, ok := c.Flag(name)
	if !ok {
		return false
	}
	switch f.Value.Value {
	case "false", "0", "f", "F", "FALSE", "False":
		return !f.Value.Static
	}
	return true
}

// List returns the values of a flag that may be repeated and takes several
// values with commas, read as gh does: as one line of CSV.
func (c *Call) List(name string) []string {
	var all []string
	for _, f := range c.Flags {
		if f.Name != name {
			continue
		}
		items, err := csv.NewReader(strings.NewReader(f.Value.Value)).Read()
		if err != nil {
			items = []string{f.Value.Value}
		}
		all = append(all, items...)
	}
	return all
}

// Repo is the repository that --repo names, as written.
func (c *Call) Repo() string {
	f, ok := c.Flag("repo")
	if !ok || !f.Value.Static {
		return ""
	}
	return f.Value.Value
}

// Parse reads argv, whose first word is gh. alias returns an alias of gh's
// configuration; nil means none.
func Parse(argv []shellcmd.Word, alias func(name string) (string, bool)) *Call {
	c := &Call{}
	if len(argv) == 0 {
		return c
	}
	args := argv[1:]
	if name, rest, ok := nextCommand(args); ok && alias != nil && !isCommand(name) {
		if value, known := alias(name); known {
			c.Alias = name
			if shell, isShell := strings.CutPrefix(value, "!"); isShell {
				c.Shell = "set --"
				for _, a := range rest {
					c.Shell += " " + a.Quote()
				}
				c.Shell += "\n" + shell
				return c
			}
			args = expand(value, rest)
		}
	}
	node := root()
	for {
		name, rest, ok := nextCommand(args)
		if !ok {
			break
		}
		canonical, next := node.child(name)
		if next == nil {
			break
		}
		c.Command = append(c.Command, canonical)
		args, node = rest, next
		if len(node.children) == 0 {
			break
		}
	}
	c.flags(node, args)
	return c
}

// nextCommand finds the first word that is no flag and no value of one, and
// returns args without it. An unknown flag takes the next word, as gh's own
// search for the command has it.
func nextCommand(args []shellcmd.Word) (string, []shellcmd.Word, bool) {
	for i := 0; i < len(args); i++ {
		w := args[i]
		head := w.Leading()
		switch {
		case head == "--" && w.Static:
			return "", nil, false
		case strings.HasPrefix(head, "--") && !strings.Contains(head, "="):
			if head != "--help" && head != "--version" {
				i++
			}
		case strings.HasPrefix(head, "-") && len(head) == 2 && w.Static:
			if head != "-h" {
				i++
			}
		case strings.HasPrefix(head, "-") && len(head) > 1:
		case !w.Static:
			return "", nil, false
		default:
			rest := append([]shellcmd.Word{}, args[:i]...)
			return w.Value, append(rest, args[i+1:]...), true
		}
	}
	return "", nil, false
}

// flags reads flags and operands by pflag's rules.
func (c *Call) flags(n *node, args []shellcmd.Word) {
	for i := 0; i < len(args); i++ {
		w := args[i]
		head := w.Leading()
		switch {
		case w.Static && head == "--":
			c.Operands = append(c.Operands, args[i+1:]...)
			return
		case len(head) < 2 || head[0] != '-':
			c.Operands = append(c.Operands, w)
		case strings.HasPrefix(head, "--"):
			name, value, attached := w.Cut("=")
			name = name[2:]
			f := Flag{Name: name, Value: value, Text: "--" + name}
			if name == "help" {
				c.Help = true
			}
			if !attached {
				if n.isBool(name) {
					f.Value = shellcmd.NewWord("true")
				} else if i+1 < len(args) {
					i++
					f.Value = args[i]
				}
			}
			c.Flags = append(c.Flags, f)
		default:
			i += c.cluster(n, w, args[i+1:])
		}
	}
}

func (c *Call) cluster(n *node, w shellcmd.Word, next []shellcmd.Word) int {
	head := w.Leading()
	for i := 1; i < len(head); i++ {
		letter := head[i]
		name := n.long(letter)
		if name == "" {
			if letter == 'h' {
				c.Help = true
				return 0
			}
			name = string(letter)
		}
		f := Flag{Name: name, Text: head}
		if n.isBool(name) {
			if strings.HasPrefix(head[i+1:], "=") {
				f.Value = w.Skip(i + 2)
				c.Flags = append(c.Flags, f)
				return 0
			}
			f.Value = shellcmd.NewWord("true")
			c.Flags = append(c.Flags, f)
			continue
		}
		rest := w.Skip(i + 1)
		if rest.Value != "" || !rest.Static {
			if strings.HasPrefix(rest.Leading(), "=") {
				rest = rest.Skip(1)
			}
			f.Value = rest
			c.Flags = append(c.Flags, f)
			return 0
		}
		took := 0
		if len(next) > 0 {
			f.Value, took = next[0], 1
		}
		c.Flags = append(c.Flags, f)
		return took
	}
	return 0
}

// expand puts the arguments into an alias: $1, $2, … where they stand, the rest
// at the end.
func expand(value string, args []shellcmd.Word) []shellcmd.Word {
	words := fields(value)
	used := map[int]bool{}
	for i, w := range words {
		for n := len(args); n >= 1; n-- {
			mark := "$" + string(rune('0'+n%10))
			if n > 9 || !strings.Contains(w.Value, mark) {
				continue
			}
			used[n-1] = true
			if w.Value == mark {
				words[i] = args[n-1]
			} else {
				words[i].Value = strings.ReplaceAll(w.Value, mark, args[n-1].Value)
				words[i].Static = words[i].Static && args[n-1].Static
			}
		}
	}
	for i, a := range args {
		if !used[i] {
			words = append(words, a)
		}
	}
	return words
}

// fields splits an alias at blanks, with quotes and backslashes.
func fields(s string) []shellcmd.Word {
	var words []shellcmd.Word
	var b strings.Builder
	in := false
	var quoted byte
	for i := 0; i < len(s); i++ {
		ch := s[i]
		switch {
		case quoted == 0 && (ch == ' ' || ch == '\t' || ch == '\n'):
			if in {
				words = append(words, shellcmd.NewWord(b.String()))
				b.Reset()
				in = false
			}
		case quoted == 0 && (ch == '\'' || ch == '"'):
			quoted, in = ch, true
		case quoted != 0 && ch == quoted:
			quoted = 0
		case ch == '\\' && quoted != '\'' && i+1 < len(s):
			i++
			in = true
			b.WriteByte(s[i])
		default:
			in = true
			b.WriteByte(ch)
		}
	}
	if in {
		words = append(words, shellcmd.NewWord(b.String()))
	}
	return words
}
