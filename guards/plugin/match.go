package plugin

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tidwall/match"

	"sallyport/guards"
	"sallyport/internal/shellcmd"
)

// A condition is one [match] or [unless] table: every key that is given must
// hold, and of a list one item is enough.
type condition struct {
	command    []pattern
	subcommand []pattern
	flags      []flagPattern
	arguments  []pattern
	cwd        []string
	branch     []pattern
}

// A pattern is a wildcard (* and ?) for the whole text, or after "re:" a
// regular expression that may match anywhere in it.
type pattern struct {
	glob string
	re   *regexp.Regexp
}

// A flagPattern is a flag, with a pattern for its value after "=".
type flagPattern struct {
	name  string
	value *pattern
}

const maxPattern = 1000

func newPattern(s string, line int) (pattern, error) {
	expr, ok := strings.CutPrefix(s, "re:")
	if len(s) > maxPattern {
		return pattern{}, lineErrorf(line, "the pattern is longer than %d bytes", maxPattern)
	}
	if !ok {
		return pattern{glob: s}, nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return pattern{}, lineErrorf(line, "%v", err)
	}
	return pattern{re: re}, nil
}

func (p *pattern) matches(s string) bool {
	if p.re != nil {
		return p.re.MatchString(s)
	}
	ok, stopped := match.MatchLimit(s, p.glob, 1_000_000)
	return ok && !stopped
}

func anyOf(list []pattern, s string) bool {
	for i := range list {
		if list[i].matches(s) {
			return true
		}
	}
	return false
}

func (m *condition) set(s setting) error {
	list := texts(s.value)
	if len(list) == 0 {
		return lineErrorf(s.line, "%s must be a string or a list of strings, and not empty", s.key)
	}
	patterns := func(into *[]pattern) error {
		for _, text := range list {
			p, err := newPattern(text, s.line)
			if err != nil {
				return err
			}
			*into = append(*into, p)
		}
		return nil
	}
	switch s.key {
	case "command":
		return patterns(&m.command)
	case "subcommand":
		return patterns(&m.subcommand)
	case "arguments":
		return patterns(&m.arguments)
	case "branch":
		return patterns(&m.branch)
	case "flags":
		for _, text := range list {
			name, value, has := strings.Cut(text, "=")
			if len(name) < 2 || name[0] != '-' {
				return lineErrorf(s.line, "flag %q must begin with -", text)
			}
			f := flagPattern{name: name}
			if has {
				p, err := newPattern(value, s.line)
				if err != nil {
					return err
				}
				f.value = &p
			}
			m.flags = append(m.flags, f)
		}
		return nil
	case "cwd":
		for _, text := range list {
			if !doublestar.ValidatePattern(text) {
				return lineErrorf(s.line, "cwd %q is no valid pattern", text)
			}
		}
		m.cwd = list
		return nil
	}
	return lineErrorf(s.line, "unknown key %s; match and unless have command, subcommand, flags, arguments, cwd and branch", s.key)
}

// holds reports whether c meets every key, with the words that did.
func (m *condition) holds(c *guards.Call) (words []string, ok bool) {
	if len(m.command) > 0 && !anyOf(m.command, c.Name()) {
		return nil, false
	}
	// The reason quotes the program and what it does, then what else matched.
	words = append(words, c.Name())
	sub := ""
	if c.Git != nil || c.GH != nil {
		sub = strings.Join(subcommands(c), " ")
	}
	if len(m.subcommand) > 0 {
		text, ok := subcommandMatch(m.subcommand, subcommands(c))
		if !ok {
			return nil, false
		}
		if sub == "" {
			sub = text
		}
	}
	if sub != "" {
		words = append(words, sub)
	}
	if len(m.flags) > 0 {
		text, ok := flagMatch(m.flags, c)
		if !ok {
			return nil, false
		}
		words = append(words, text)
	}
	if len(m.arguments) > 0 {
		text, ok := argumentMatch(m.arguments, c)
		if !ok {
			return nil, false
		}
		words = append(words, text)
	}
	if len(m.cwd) > 0 && !cwdMatch(m.cwd, c) {
		return nil, false
	}
	if len(m.branch) > 0 {
		branch, ok := c.Branch()
		if !ok || !anyOf(m.branch, branch) {
			return nil, false
		}
	}
	return words, true
}

// subcommands are the words behind the program that may name what it does: for
// git and gh by their grammar and with aliases resolved, for others the words
// that are no flags.
func subcommands(c *guards.Call) []string {
	switch {
	case c.Git != nil:
		if c.Git.Sub != "" {
			return []string{c.Git.Name, c.Git.Sub}
		}
		return []string{c.Git.Name}
	case c.GH != nil:
		return c.GH.Command
	}
	var out []string
	for _, w := range c.Args[1:] {
		if t := word(w); !strings.HasPrefix(t, "-") {
			if out = append(out, t); len(out) == 8 {
				break
			}
		}
	}
	return out
}

// subcommandMatch compares a pattern of n words with the first n words.
func subcommandMatch(list []pattern, words []string) (string, bool) {
	for i := range list {
		if list[i].re != nil {
			if text := strings.Join(words, " "); list[i].matches(text) {
				return text, true
			}
			continue
		}
		n := len(strings.Fields(list[i].glob))
		if n == 0 || n > len(words) {
			continue
		}
		if text := strings.Join(words[:n], " "); list[i].matches(text) {
			return text, true
		}
	}
	return "", false
}

// flagMatch looks for a flag: for git and gh also in its short, combined and
// abbreviated forms, the last of them counting; for other programs as it is
// written and among the letters of one word.
func flagMatch(list []flagPattern, c *guards.Call) (string, bool) {
	for _, f := range list {
		text, on, known := knownFlag(f, c)
		if !known {
			text, on = writtenFlag(f, c.Args[1:])
		}
		if on {
			return text, true
		}
	}
	return "", false
}

// knownFlag looks at the options that git and gh read. known is false when
// they read none of that name.
func knownFlag(f flagPattern, c *guards.Call) (text string, on, known bool) {
	name := strings.TrimLeft(f.name, "-")
	switch {
	case c.Git != nil:
		no, isNo := strings.CutPrefix(name, "no-")
		for _, o := range c.Git.Options {
			switch {
			case o.Name == name:
				on = !o.Unset
			case isNo && o.Name == no:
				on = o.Unset
			default:
				continue
			}
			text, known = o.Text, true
			on = on && (f.value == nil || o.Has && f.value.matches(word(o.Value)))
		}
	case c.GH != nil:
		for _, o := range c.GH.Flags {
			if o.Name == name {
				text, known = o.Text, true
				on = f.value == nil && o.Value.Value != "false" || f.value != nil && f.value.matches(word(o.Value))
			}
		}
	}
	return text, on, known
}

func writtenFlag(f flagPattern, args []shellcmd.Word) (string, bool) {
	letter := len(f.name) == 2
	for i, w := range args {
		t := word(w)
		if t == "--" {
			break
		}
		name, value, attached := strings.Cut(t, "=")
		switch {
		case name == f.name && f.value == nil:
			return t, true
		case name == f.name && attached && f.value.matches(value):
			return t, true
		case name == f.name && !attached && i+1 < len(args) && f.value.matches(word(args[i+1])):
			return t, true
		case letter && f.value == nil && isCluster(t) && strings.Contains(t[1:], f.name[1:]):
			return t, true
		case letter && f.value != nil && strings.HasPrefix(t, f.name) && len(t) > 2 && f.value.matches(t[2:]):
			return t, true
		}
	}
	return "", false
}

// isCluster reports a word such as -rf.
func isCluster(s string) bool {
	if len(s) < 3 || s[0] != '-' {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// argumentMatch looks at every word behind the program, and at the values that
// are attached to flags.
func argumentMatch(list []pattern, c *guards.Call) (string, bool) {
	for _, w := range c.Args[1:] {
		t := word(w)
		if anyOf(list, t) {
			return t, true
		}
		if strings.HasPrefix(t, "-") {
			if _, value, ok := strings.Cut(t, "="); ok && anyOf(list, value) {
				return t, true
			}
		}
	}
	return "", false
}

// cwdMatch compares the directory in which the command runs. A pattern that is
// not absolute is below the project's root; "~/" is the home directory.
func cwdMatch(list []string, c *guards.Call) bool {
	if c.Place.Unknown || c.Place.Dir == "" {
		return false
	}
	dir := filepath.ToSlash(c.Place.Dir)
	for _, p := range list {
		switch {
		case p == "~" || strings.HasPrefix(p, "~/"):
			home, _ := c.HookEnv("HOME")
			if home == "" {
				home, _ = c.HookEnv("USERPROFILE")
			}
			if home == "" {
				continue
			}
			p = escapeGlob(filepath.ToSlash(home)) + p[1:]
		case !path.IsAbs(p) && !filepath.IsAbs(p):
			p = path.Join(escapeGlob(filepath.ToSlash(c.ProjectRoot())), p)
		}
		if ok, err := doublestar.Match(p, dir); err == nil && ok {
			return true
		}
	}
	return false
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(s)
}
