package shellcmd

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// An option is one parsed option of a wrapper.
type option struct {
	name  string // without dashes
	value Word
	has   bool
}

// options splits a wrapper's own options from the operands.
func (wr *wrapper) options(args []Word) (opts []option, rest []Word) {
	i := 0
	for ; i < len(args); i++ {
		a := args[i].raw
		if a == "--" {
			i++
			break
		}
		if len(a) < 2 || a[0] != '-' {
			if a == "-" && (wr.name == "env" || wr.name == "su" || wr.name == "runuser") {
				opts = append(opts, option{name: "-"})
				continue
			}
			if wr.numeric && len(a) > 1 && a[0] == '+' && isDigits(a[1:]) {
				continue
			}
			break
		}
		if wr.numeric && isDigits(strings.TrimLeft(a, "-+")) {
			continue
		}
		if strings.HasPrefix(a, "--") || (wr.oneDash && len(a) > 2) {
			name, _, attached := strings.Cut(strings.TrimLeft(a, "-"), "=")
			name = expandLong(name, wr.long, wr.long2)
			o := option{name: name}
			switch {
			case attached:
				o.value, o.has = args[i].After(a[:strings.IndexByte(a, '=')+1])
			case listed(wr.long2, name):
				i += 2
			case listed(wr.long, name):
				if i+1 < len(args) {
					i++
					o.value, o.has = args[i], true
				}
			}
			opts = append(opts, o)
			if wr.name == "env" && name == "split-string" {
				return opts, args[min(i+1, len(args)):]
			}
			continue
		}
		for j := 1; j < len(a); j++ {
			o := option{name: a[j : j+1]}
			if strings.IndexByte(wr.short, a[j]) >= 0 {
				if j+1 < len(a) {
					o.value, o.has = args[i].After(a[:j+1])
				} else if i+1 < len(args) {
					i++
					o.value, o.has = args[i], true
				}
				opts = append(opts, o)
				if wr.name == "env" && a[j] == 'S' {
					return opts, args[min(i+1, len(args)):] // its words come next
				}
				break
			}
			opts = append(opts, o)
			if a[j] == markLead {
				break
			}
		}
	}
	if i > len(args) {
		i = len(args)
	}
	return opts, args[i:]
}

// unknownWord reports whether a word is one unknown piece without quotes, which
// may stand for any number of options, or for nothing.
func unknownWord(a Word) bool {
	return !a.Quoted && !a.Glob && len(a.Parts) == 1 && (a.Parts[0].Kind == Variable || a.Parts[0].Kind == Substitution)
}

// expandLong completes an abbreviated long option that takes a value.
func expandLong(name string, lists ...string) string {
	if name == "" {
		return name
	}
	found := ""
	for _, list := range lists {
		for item := range strings.SplitSeq(list, " ") {
			if item == name {
				return name
			}
			if strings.HasPrefix(item, name) {
				if found != "" {
					return name // ambiguous: the program refuses it
				}
				found = item
			}
		}
	}
	if found != "" {
		return found
	}
	return name
}

// runWrapper runs what a wrapper of the table runs.
func (w *walker) runWrapper(sh *shell, inv *invocation, cmd *Command, wr *wrapper) {
	args := inv.args[1:]
	opts, rest := wr.options(args)
	if wr.sub != "" {
		if len(rest) > 0 && listed(wr.sub, rest[0].raw) {
			sub := *wr
			sub.sub = ""
			more, r := sub.options(rest[1:])
			opts, rest = append(opts, more...), r
			if wr.dashes {
				rest = afterDashes(args, rest)
			}
		} else if !wr.optSub {
			w.output(sh, inv, cmd, cmd.Name())
			return
		}
	}
	next := nesting{layer: wr.name, contain: wr.contain}
	for _, o := range opts {
		if listed(wr.listOpts, o.name) {
			sh.out.unknown(cmd)
			return
		}
		if o.has && listed(wr.dirOpts, o.name) {
			next.dir, next.hasDir = o.value.raw, true
		}
	}
	switch wr.name {
	case "env":
		if !w.envOptions(opts, &rest, &next) {
			sh.out.unknown(cmd)
			return
		}
	case "su", "runuser":
		w.runSu(sh, inv, opts, rest)
		return
	case "flock":
		w.runFlock(sh, inv, rest)
		return
	case "watch":
		for _, o := range opts {
			if o.name == "x" || o.name == "exec" {
				w.nest(sh, inv, rest, next)
				return
			}
		}
	case "setarch":
		// The architecture may be left out; then the first word is a program.
		if len(rest) > 0 && !isArch(rest[0].raw) {
			_, r := wr.options(rest)
			w.nest(sh, inv, r, next)
			return
		}
	}
	for _, o := range opts {
		if o.has && listed(wr.cmdOpts, o.name) {
			w.nestString(sh, inv, o.value, next)
		}
	}
	if wr.name == "script" {
		// "script file cmd …" is the form of macOS and the BSDs.
		if len(rest) > 1 {
			w.nest(sh, inv, rest[1:], next)
		}
		sh.out.unknown(cmd)
		return
	}
	if wr.name == "sudo" {
		for _, o := range opts {
			if (o.name == "s" || o.name == "i" || o.name == "shell" || o.name == "login") && len(rest) > 0 {
				// sudo quotes each word for the shell, so they stay one command.
				next.layer = "sudo -" + o.name[:1]
			}
		}
	}
	if wr.assigns {
		for len(rest) > 0 {
			name, _, ok := strings.Cut(rest[0].raw, "=")
			if !ok || name == "" || !isStatic(name) {
				break
			}
			v, _ := rest[0].After(name + "=")
			next.assigns = append(next.assigns, Assign{Name: name, Value: v, Inline: true})
			rest = rest[1:]
		}
	}
	if wr.operands > len(rest) {
		sh.out.unknown(cmd)
		return
	}
	if wr.operands > 0 && wr.operands < len(rest)-1 && unknownWord(rest[0]) {
		more := next
		more.maybe = true
		w.nest(sh, inv, rest[wr.operands+1:], more)
	}
	rest = rest[wr.operands:]
	if wr.operands > 0 && len(rest) > 0 && rest[0].raw == "--" {
		rest = rest[1:]
	}
	switch {
	case len(rest) == 0 && wr.shell && sh.in != nil:
		p := w.process(sh, inv.inline)
		w.layer(wr.name, func() { w.nestText(p, *sh.in, -1) })
	case len(rest) == 0:
		sh.out.unknown(cmd)
	case wr.text:
		w.nestString(sh, inv, joinWords(w, rest), next)
		sh.out.unknown(cmd)
	case wr.eachText:
		for _, r := range rest {
			w.nestString(sh, inv, r, next)
		}
		sh.out.unknown(cmd)
	default:
		w.nest(sh, inv, rest, next)
	}
}

func isArch(s string) bool {
	return strings.Contains(s, "86") || strings.HasPrefix(s, "linux") || strings.HasPrefix(s, "arm") || strings.HasPrefix(s, "aarch") || strings.HasPrefix(s, "ppc") || strings.HasPrefix(s, "s390") || s == "uname26"
}

func afterDashes(args, rest []Word) []Word {
	for i, a := range args {
		if a.raw == "--" {
			return args[i+1:]
		}
	}
	return nil
}

// joinWords joins words with blanks, as programs do that hand them to a shell.
func joinWords(w *walker, words []Word) Word {
	if len(words) == 1 {
		return words[0]
	}
	return w.word(strings.Join(raws(w, words), " "))
}

// A nesting says how a nested command differs from its wrapper.
type nesting struct {
	layer   string
	assigns []Assign
	clear   bool // nothing of the environment is passed on
	unset   []string
	dir     string
	hasDir  bool
	remote  bool
	contain bool
	in      *string
	hasIn   bool
	maybe   bool
}

// enter makes the shell in which a nested command runs.
func (w *walker) enter(sh *shell, inv *invocation, n nesting) *shell {
	p := w.process(sh, nil)
	if n.clear {
		p.vars, p.env = nil, nil
	}
	for _, name := range n.unset {
		p.put(name, &variable{})
	}
	if n.remote || n.contain {
		p.dirs = []string{w.mark(Part{Text: n.layer, Kind: Other})}
	}
	if n.hasDir {
		p.dirs = []string{w.resolve(p.dirs[0], n.dir)}
	}
	if n.hasIn {
		p.in = n.in
	}
	return p
}

func (w *walker) inNesting(n nesting, f func()) {
	if w.depth >= maxDepth {
		w.line.Limited = true
		return
	}
	w.depth++
	ctx := w.ctx
	w.ctx.remote = w.ctx.remote || n.remote
	w.ctx.container = w.ctx.container || n.contain
	w.ctx.maybe = w.ctx.maybe || n.maybe
	w.layer(n.layer, f)
	w.ctx = ctx
	w.depth--
}

func (n nesting) inline(inv *invocation) []Assign {
	var list []Assign
	if !n.clear {
		for _, a := range inv.inline {
			if !contains(n.unset, a.Name) {
				list = append(list, a)
			}
		}
	}
	return append(list, n.assigns...)
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// from is the part of inv that begins with a word, all of it if the word does not
// stand there.
func (inv *invocation) from(first Word) (pos, end int) {
	if first.Pos > 0 && first.Pos >= inv.pos && first.End <= inv.end {
		return first.Pos, inv.end
	}
	return inv.pos, inv.end
}

// nest runs words as a command that a program starts.
func (w *walker) nest(sh *shell, inv *invocation, args []Word, n nesting) {
	if len(args) == 0 {
		return
	}
	next := &invocation{args: args, inline: n.inline(inv), redirs: inv.redirs, external: true}
	next.pos, next.end = inv.from(args[0])
	p := w.enter(sh, inv, n)
	w.inNesting(n, func() { w.run(p, next) })
}

// nestString runs text in a shell that a program starts.
func (w *walker) nestString(sh *shell, inv *invocation, text Word, n nesting) {
	p := w.enter(sh, inv, n)
	for _, a := range n.inline(inv) {
		p.put(a.Name, &variable{vals: []string{a.Value.raw}, exported: true})
	}
	w.inNesting(n, func() { w.nestText(p, w.literal(text.raw), text.src) })
}

// envOptions applies the options of env; false if it only prints.
func (w *walker) envOptions(opts []option, rest *[]Word, n *nesting) bool {
	for _, o := range opts {
		switch o.name {
		case "i", "-", "ignore-environment":
			n.clear = true
		case "u", "unset":
			if o.has {
				n.unset = append(n.unset, o.value.raw)
			}
		case "S", "split-string":
			// The value is split into words, which take its place.
			words := append(w.splitEnv(o.value.raw), *rest...)
			more, r := wrapperFor("env").options(words)
			for _, m := range more {
				if m.has && (m.name == "C" || m.name == "chdir") {
					n.dir, n.hasDir = m.value.raw, true
				}
			}
			*rest = r
			if len(words) < maxFields && w.spend(len(words)) {
				w.envOptions(more, rest, n)
			}
		}
	}
	return len(*rest) > 0
}

// splitEnv splits as env -S does: quotes, backslashes, ${NAME}.
func (w *walker) splitEnv(s string) []Word {
	var out []Word
	var b strings.Builder
	started := false
	quote := byte(0)
	flush := func() {
		if started {
			out = append(out, w.word(b.String()))
			b.Reset()
			started = false
		}
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			i++
			started = true
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case '_':
				if quote == '"' {
					b.WriteByte(' ')
				} else {
					started = b.Len() > 0
					flush()
				}
			case 'c':
				flush()
				return out
			default:
				b.WriteByte(s[i])
			}
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
			started = true
		case quote != '\'' && c == '$' && i+1 < len(s) && s[i+1] == '{':
			end := strings.IndexByte(s[i:], '}')
			if end < 0 {
				b.WriteByte(c)
				continue
			}
			name := s[i+2 : i+end]
			if syntax.ValidName(name) {
				b.WriteString(w.varMark(name))
			}
			started = true
			i += end
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'):
			flush()
		case quote == 0 && c == '#' && !started:
			flush()
			return out
		default:
			b.WriteByte(c)
			started = true
		}
	}
	flush()
	return out
}

// runSu is su and runuser: -c text, or operands for the user's shell.
func (w *walker) runSu(sh *shell, inv *invocation, opts []option, rest []Word) {
	// su takes options after the user as well.
	wr := wrapperFor("su")
	user := false
	for _, o := range opts {
		user = user || (o.name == "u" || o.name == "user") && inv.args[0].Static && programName(inv.args[0].Value) == "runuser"
	}
	var operands []Word
	if user {
		operands, rest = rest, nil // a command, not a user
	}
	for len(rest) > 0 {
		if len(rest[0].raw) > 1 && rest[0].raw[0] == '-' {
			more, r := wr.options(rest)
			opts = append(opts, more...)
			if len(r) == len(rest) {
				break
			}
			rest = r
			continue
		}
		operands = append(operands, rest[0])
		rest = rest[1:]
	}
	name := programName(inv.args[0].Value)
	n := nesting{layer: name}
	ran := false
	for _, o := range opts {
		switch o.name {
		case "c", "command", "session-command":
			if o.has {
				n.layer = name + " -c"
				w.nestString(sh, inv, o.value, n)
				ran = true
			}
		}
	}
	switch {
	case ran:
	case user && len(operands) > 0:
		w.nest(sh, inv, operands, n)
	case sh.in != nil:
		p := w.enter(sh, inv, n)
		w.inNesting(n, func() { w.nestText(p, *sh.in, -1) })
	}
}

// runFlock is flock FILE command, flock FILE -c text, flock FD.
func (w *walker) runFlock(sh *shell, inv *invocation, rest []Word) {
	if len(rest) < 2 {
		return
	}
	rest = rest[1:]
	n := nesting{layer: "flock"}
	switch a := rest[0].raw; {
	case (a == "-c" || a == "--command") && len(rest) > 1:
		n.layer = "flock -c"
		w.nestString(sh, inv, rest[1], n)
	case a == "--":
		w.nest(sh, inv, rest[1:], n)
	default:
		w.nest(sh, inv, rest, n)
	}
}
