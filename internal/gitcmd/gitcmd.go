// Package gitcmd reads a git command line as git itself would.
//
// [Parse] splits the words of one simple command into git's global options, the
// subcommand, its options under their canonical names, and its operands. Short
// clusters (-anm), attached values (-mtext, --message=text), unambiguous
// abbreviations (--no-verif), negations and options with optional values are
// read by git's rules, from tables that a test compares with the git on the
// machine. Aliases are expanded through a function of the caller's.
//
// Parse runs nothing. A word whose text is not known stands where it stands: it
// counts as an operand, or as the value of the option before it, and
// [Call.Dynamic] says that the shell might turn it into something else.
package gitcmd

import (
	"strconv"
	"strings"

	"sallyport/internal/shellcmd"
)

// A Call is one invocation of git.
type Call struct {
	Global Global

	// Name is the subcommand, empty if there is none or it is not known. Sub is
	// the subcommand's own subcommand, such as "drop" for git stash drop;
	// "push" for a bare git stash.
	Name, Sub string

	Options  []Option
	Operands []shellcmd.Word

	// Dashes is the number of operands before "--", or -1 without one.
	Dashes int

	// Help is set when the command only prints its manual or usage.
	Help bool

	// Unknown holds option words that git would refuse: not in its table, or
	// ambiguous.
	Unknown []string

	// Dynamic is set when an unquoted word of unknown text may stand for any
	// number of further words.
	Dynamic bool

	// Shell is the command line of a "!" alias, with the remaining arguments
	// quoted behind it. Git runs it with sh in the root of the work tree. Name
	// is empty then.
	Shell string

	// Alias is the chain of aliases that were expanded.
	Alias []string

	vars map[string]shellcmd.Word // what env assigns
}

// Global is what stands between git and its subcommand, or in the environment.
type Global struct {
	Dirs     []shellcmd.Word // every -C, in order: each is relative to the one before
	GitDir   *shellcmd.Word
	WorkTree *shellcmd.Word
	Config   []Setting // -c, --config-env and the GIT_CONFIG_* variables, weakest first
}

// A Setting is a configuration value that holds for one invocation.
type Setting struct {
	Key   string // section and name in lower case, the part between as written
	Value shellcmd.Word
	Bare  bool   // no "=": true, for a boolean
	From  string // the words that set it, for messages
}

// An Option is one option of the subcommand.
type Option struct {
	Name  string // canonical: the long name without a leading "no-" that git's table has not, else the letter
	Unset bool   // negated: --no-x, or --x where git's option is "no-x"
	Value shellcmd.Word
	Has   bool   // it has a value
	Text  string // as written, without the value of a following word
}

// Parse reads argv, whose first word is git, git.exe or a git-… form. env holds
// the assignments that the command sees. alias returns the value of alias.NAME
// in the configuration that governs g's directory; nil means none.
func Parse(argv []shellcmd.Word, env []shellcmd.Assign, alias func(g *Global, name string) (string, bool)) *Call {
	c := &Call{Dashes: -1}
	if len(argv) == 0 {
		return c
	}
	c.environment(env)
	rest := argv[1:]
	if base := baseName(argv[0].Value); strings.HasPrefix(base, "git-") {
		name := shellcmd.NewWord(base[len("git-"):])
		rest = append([]shellcmd.Word{name}, rest...)
	} else {
		rest = c.globals(rest)
	}
	seen := map[string]bool{}
	for len(rest) > 0 && !c.Help {
		w := rest[0]
		if !w.Static {
			c.Dynamic = true
			return c
		}
		if isBuiltin(w.Value) || seen[w.Value] || len(seen) > 10 {
			break
		}
		seen[w.Value] = true
		value, ok := c.lineAlias(w.Value)
		if !ok && alias != nil {
			value, ok = alias(&c.Global, w.Value)
		}
		if !ok {
			break
		}
		c.Alias = append(c.Alias, w.Value)
		if shell, isShell := strings.CutPrefix(strings.TrimSpace(value), "!"); isShell {
			c.Shell = shell
			for _, a := range rest[1:] {
				c.Shell += " " + a.Quote()
			}
			return c
		}
		words, ok := splitAlias(value)
		if !ok || len(words) == 0 {
			return c
		}
		for i := range words {
			words[i].Pos, words[i].End = w.Pos, w.End
		}
		rest = c.globals(append(words, rest[1:]...))
	}
	if len(rest) == 0 || c.Help {
		return c
	}
	c.Name = rest[0].Value
	c.command(rest[1:])
	return c
}

// Opt returns the last occurrence of an option by its canonical name.
func (c *Call) Opt(name string) (Option, bool) {
	for i := len(c.Options) - 1; i >= 0; i-- {
		if c.Options[i].Name == name {
			return c.Options[i], true
		}
	}
	return Option{}, false
}

// On reports whether the last occurrence of an option sets it.
func (c *Call) On(name string) bool {
	o, ok := c.Opt(name)
	return ok && !o.Unset
}

// All returns every occurrence of an option that sets it. A negation drops
// those before it, as git does with its lists.
func (c *Call) All(name string) []Option {
	var all []Option
	for _, o := range c.Options {
		if o.Name != name {
			continue
		}
		if o.Unset {
			all = nil
			continue
		}
		all = append(all, o)
	}
	return all
}

// Setting returns the strongest value of a configuration key on the line.
func (g *Global) Setting(key string) (Setting, bool) {
	for i := len(g.Config) - 1; i >= 0; i-- {
		if g.Config[i].Key == key {
			return g.Config[i], true
		}
	}
	return Setting{}, false
}

// IsGit reports whether a program name, as [shellcmd.Command.Name] gives it, is
// git itself or one of its dashed forms.
func IsGit(name string) bool {
	return name == "git" || name == "hub" || strings.HasPrefix(name, "git-") && isBuiltin(name[len("git-"):])
}

func baseName(s string) string {
	if i := strings.LastIndexAny(s, `/\`); i >= 0 {
		s = s[i+1:]
	}
	if len(s) > 4 && strings.EqualFold(s[len(s)-4:], ".exe") {
		s = s[:len(s)-4]
	}
	return s
}

// globals reads git's own options and returns what follows them.
func (c *Call) globals(args []shellcmd.Word) []shellcmd.Word {
	g := &c.Global
	for len(args) > 0 {
		w := args[0]
		head := w.Leading()
		if !strings.HasPrefix(head, "-") {
			return args
		}
		name, value, attached := w.Cut("=")
		next := func() (shellcmd.Word, bool) {
			if attached {
				return value, true
			}
			if len(args) < 2 {
				return shellcmd.Word{}, false
			}
			args = args[1:]
			return args[0], true
		}
		switch name {
		case "-C":
			if v, ok := next(); ok {
				g.Dirs = append(g.Dirs, v)
			}
		case "-c":
			attached = false
			if v, ok := next(); ok {
				g.set(v, "-c "+v.String())
			}
		case "--config-env":
			if v, ok := next(); ok {
				key, name, _ := v.Cut("=")
				g.Config = append(g.Config, Setting{Key: canonicalKey(key), Value: c.vars[name.Value], From: "--config-env=" + v.String()})
			}
		case "--git-dir":
			if v, ok := next(); ok {
				g.GitDir = &v
			}
		case "--work-tree":
			if v, ok := next(); ok {
				g.WorkTree = &v
			}
		case "--namespace", "--super-prefix", "--attr-source", "--shallow-file":
			next()
		case "--exec-path", "--list-cmds":
			if !attached {
				c.Help = true // prints and exits
			}
		case "--version", "-v", "--help", "-h", "--html-path", "--man-path", "--info-path":
			c.Help = true
			return nil
		}
		args = args[1:]
	}
	return args
}

func (g *Global) set(w shellcmd.Word, from string) {
	key, value, ok := w.Cut("=")
	if key == "" {
		return
	}
	if !ok {
		value = shellcmd.NewWord("true")
	}
	g.Config = append(g.Config, Setting{Key: canonicalKey(key), Value: value, Bare: !ok, From: from})
}

// environment reads GIT_DIR, GIT_WORK_TREE and the configuration that git
// takes from variables. Options on the line are stronger and come later.
func (c *Call) environment(env []shellcmd.Assign) {
	if len(env) == 0 {
		return
	}
	vars := make(map[string]shellcmd.Word, len(env))
	for _, a := range env {
		vars[a.Name] = a.Value
	}
	c.vars = vars
	if v, ok := vars["GIT_DIR"]; ok {
		c.Global.GitDir = &v
	}
	if v, ok := vars["GIT_WORK_TREE"]; ok {
		c.Global.WorkTree = &v
	}
	count := 0
	if v, ok := vars["GIT_CONFIG_COUNT"]; ok {
		count, _ = strconv.Atoi(v.Value)
		if !v.Static {
			count = 16
		}
	}
	for i := 0; i < min(count, 256); i++ {
		n := strconv.Itoa(i)
		key, ok := vars["GIT_CONFIG_KEY_"+n]
		if !ok {
			continue
		}
		c.Global.Config = append(c.Global.Config, Setting{
			Key: canonicalKey(key.Value), Value: vars["GIT_CONFIG_VALUE_"+n],
			From: "GIT_CONFIG_KEY_" + n + "=" + key.String(),
		})
	}
	if v, ok := vars["GIT_CONFIG_PARAMETERS"]; ok {
		for _, p := range parameters(v.Value) {
			c.Global.set(shellcmd.NewWord(p), "GIT_CONFIG_PARAMETERS="+p)
		}
	}
}

// parameters splits the value of GIT_CONFIG_PARAMETERS: quoted 'key=value' or
// 'key'='value' items.
func parameters(s string) []string {
	var out []string
	var b strings.Builder
	in, quoted := false, false
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == '\'':
			quoted = !quoted
			in = true
		case ch == '\\' && !quoted && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case !quoted && (ch == ' ' || ch == '\t' || ch == '\n'):
			if in {
				out = append(out, b.String())
				b.Reset()
				in = false
			}
		default:
			in = true
			b.WriteByte(ch)
		}
	}
	if in {
		out = append(out, b.String())
	}
	return out
}

// canonicalKey lowers the section and the variable of a configuration key; the
// subsection between them keeps its case.
func canonicalKey(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// lineAlias looks for alias.name among the settings on the line. Git compares
// the name of an alias without regard to case.
func (c *Call) lineAlias(name string) (string, bool) { return Alias(c.Global.Config, name) }

// Alias is alias.name in settings, the last of which counts.
func Alias(settings []Setting, name string) (string, bool) {
	for i := len(settings) - 1; i >= 0; i-- {
		s := settings[i]
		if strings.EqualFold(s.Key, "alias."+name) && !s.Bare {
			return s.Value.Value, true
		}
	}
	return "", false
}

// ConfigFiles are the files that the line makes git read its configuration
// from: include.path, includeIf.….path, GIT_CONFIG_GLOBAL and GIT_CONFIG_SYSTEM.
// Each is a Setting whose Value is the file.
func (g *Global) ConfigFiles(env []shellcmd.Assign) []Setting {
	var files []Setting
	for _, a := range env {
		if a.Name == "GIT_CONFIG_GLOBAL" || a.Name == "GIT_CONFIG_SYSTEM" {
			files = append(files, Setting{Key: a.Name, Value: a.Value, From: a.Name + "=" + a.Value.String()})
		}
	}
	for _, s := range g.Config {
		if s.Key == "include.path" || strings.HasPrefix(s.Key, "includeif.") && strings.HasSuffix(s.Key, ".path") {
			files = append(files, s)
		}
	}
	return files
}

// ParseConfig reads the settings of a configuration file. Lines that git would
// refuse are passed over. from is put into each Setting.
func ParseConfig(text, from string) []Setting {
	var all []Setting
	section := ""
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, rest, ok := strings.Cut(line[1:], "]")
			if !ok {
				continue
			}
			section = name
			if head, sub, ok := strings.Cut(name, `"`); ok {
				section = strings.TrimSpace(head) + "." + strings.TrimSuffix(strings.TrimSpace(sub), `"`)
			}
			line = strings.TrimSpace(rest)
		}
		if line == "" || section == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, has := strings.Cut(line, "=")
		s := Setting{Key: canonicalKey(section + "." + strings.TrimSpace(key)), Value: shellcmd.NewWord("true"), Bare: !has, From: from}
		if has {
			s.Value = shellcmd.NewWord(configValue(strings.TrimSpace(value)))
		}
		if all = append(all, s); len(all) >= 1000 {
			break
		}
	}
	return all
}

// configValue takes quotes, escapes and a trailing comment off a value.
func configValue(s string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(s[i])
			}
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimRight(b.String(), " \t")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// splitAlias splits an alias as git does: blanks, quotes and backslashes, no
// expansions.
func splitAlias(s string) ([]shellcmd.Word, bool) {
	var words []shellcmd.Word
	var b strings.Builder
	in := false
	var quoted byte
	for i := 0; i < len(s); i++ {
		ch := s[i]
		switch {
		case quoted == 0 && (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r'):
			if in {
				words = append(words, shellcmd.NewWord(b.String()))
				b.Reset()
				in = false
			}
		case quoted == 0 && (ch == '\'' || ch == '"'):
			quoted, in = ch, true
		case ch == quoted && quoted != 0:
			quoted = 0
		case ch == '\\' && quoted != '\'':
			if i++; i >= len(s) {
				return nil, false
			}
			in = true
			b.WriteByte(s[i])
		default:
			in = true
			b.WriteByte(ch)
		}
	}
	if quoted != 0 {
		return nil, false
	}
	if in {
		words = append(words, shellcmd.NewWord(b.String()))
	}
	return words, true
}

// groups are the commands that have subcommands of their own.
var groups = []entry{
	{"stash", "push save list show drop pop apply clear branch create store export import"},
	{"notes", "list add copy append edit show merge remove prune get-ref"},
	{"remote", "add rename remove rm set-head set-branches get-url set-url show prune update"},
	{"worktree", "add list lock move prune remove repair unlock"},
	{"reflog", "show list exists expire delete drop write"},
	{"submodule", "add status init deinit update set-branch set-url summary foreach sync absorbgitdirs"},
	{"bisect", "start bad new good old skip next reset visualize view replay log run terms help"},
	{"sparse-checkout", "init list set add reapply disable check-rules clean"},
	{"bundle", "create verify list-heads unbundle"},
	{"subtree", "add merge split pull push"},
	{"config", "list get set unset rename-section remove-section edit"},
	{"maintenance", "run start stop register unregister"},
	{"bugreport", ""},
}

// stopAtOperand are the commands whose options end at the first operand.
func stopAtOperand(name, sub string) bool {
	switch name {
	case "config", "filter-branch", "commit-graph", "for-each-repo":
		return name != "config" || sub == ""
	case "submodule":
		return sub == "foreach"
	case "bisect":
		return sub == "run"
	}
	return false
}

// command reads the words behind the subcommand.
func (c *Call) command(args []shellcmd.Word) {
	if len(args) > 0 && args[0].Static && (args[0].Value == "--help" || args[0].Value == "-h") {
		c.Help = true
		return
	}
	if c.Name == "help" || c.Name == "version" {
		c.Help = true
		return
	}
	subs, group := find(groups, c.Name)
	if group {
		args = c.subcommand(args, subs)
	}
	t := tableOf(c.Name, c.Sub)
	stop := stopAtOperand(c.Name, c.Sub)
	for i := 0; i < len(args); i++ {
		w := args[i]
		if !w.Static && !w.Quoted {
			c.Dynamic = true
		}
		head := w.Leading()
		switch {
		case w.Static && w.Value == "--":
			c.Dashes = len(c.Operands)
			c.Operands = append(c.Operands, args[i+1:]...)
			for _, rest := range args[i+1:] {
				c.Dynamic = c.Dynamic || !rest.Static && !rest.Quoted
			}
			return
		case len(head) < 2 || head[0] != '-':
			c.Operands = append(c.Operands, w)
			if stop {
				c.Operands = append(c.Operands, args[i+1:]...)
				return
			}
		case strings.HasPrefix(head, "--"):
			i += c.long(t, w, args[i+1:])
		default:
			i += c.cluster(t, w, args[i+1:])
		}
		if c.Help {
			return
		}
	}
}

// subcommand takes the subcommand of a group out of args. Options may stand
// before it.
func (c *Call) subcommand(args []shellcmd.Word, subs string) []shellcmd.Word {
	for i, w := range args {
		if w.Static && strings.HasPrefix(w.Value, "-") && w.Value != "--" {
			if c.Name == "config" || c.Name == "stash" {
				break // old-style git config; git stash -m text
			}
			continue
		}
		if w.Static && contains(subs, w.Value) {
			c.Sub = w.Value
			if c.Name == "remote" && c.Sub == "rm" {
				c.Sub = "remove"
			}
			rest := append([]shellcmd.Word{}, args[:i]...)
			return append(rest, args[i+1:]...)
		}
		break
	}
	if c.Name == "stash" {
		c.Sub = "push"
	}
	return args
}

func contains(list, word string) bool {
	if word == "" || strings.Contains(word, " ") {
		return false
	}
	return strings.Contains(" "+list+" ", " "+word+" ")
}

// long reads --name, --name=value or --name value and returns how many words
// of next it took.
func (c *Call) long(t *table, w shellcmd.Word, next []shellcmd.Word) int {
	name, value, attached := w.Cut("=")
	name = name[2:]
	text := "--" + name
	if name == "help" || name == "help-all" {
		c.Help = true
		return 0
	}
	if t == nil {
		o := Option{Name: name, Value: value, Has: attached, Text: text}
		c.Options = append(c.Options, o)
		return 0
	}
	d, unset, ok := t.find(name)
	if !ok {
		c.Unknown = append(c.Unknown, text)
		return 0
	}
	o := Option{Name: d.name(), Unset: unset, Value: value, Has: attached, Text: text}
	took := 0
	if d.arity == required && !unset && !attached && len(next) > 0 {
		o.Value, o.Has, took = next[0], true, 1
	}
	c.Options = append(c.Options, o)
	return took
}

// cluster reads -abc, -mvalue and -m value.
func (c *Call) cluster(t *table, w shellcmd.Word, next []shellcmd.Word) int {
	head := w.Leading()
	if t == nil {
		for i := 1; i < len(head); i++ {
			c.Options = append(c.Options, Option{Name: head[i : i+1], Text: "-" + head[i:i+1]})
		}
		return 0
	}
	for i := 1; i < len(head); i++ {
		ch := head[i]
		d := t.short(ch)
		if d == nil {
			if ch == 'h' {
				c.Help = true
				return 0
			}
			if ch >= '0' && ch <= '9' && i == 1 {
				return 0 // -3: a number
			}
			c.Unknown = append(c.Unknown, "-"+string(ch))
			return 0
		}
		o := Option{Name: d.name(), Text: head}
		rest := w.Skip(i + 1)
		switch {
		case d.arity != none && (rest.Value != "" || !rest.Static):
			o.Value, o.Has = rest, true
			c.Options = append(c.Options, o)
			return 0
		case d.arity == required:
			took := 0
			if len(next) > 0 {
				o.Value, o.Has, took = next[0], true, 1
			}
			c.Options = append(c.Options, o)
			return took
		}
		c.Options = append(c.Options, o)
	}
	return 0
}
