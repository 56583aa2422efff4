package shellcmd

// ParseNested adds the commands of a text that c hands to a shell in a way this
// package does not know of, such as an alias of git that begins with an
// exclamation mark. The text runs in c's directory and environment, behind one
// more layer; args become its positional parameters. The new commands are
// appended to l.Commands and returned.
func (l *Line) ParseNested(c *Command, text Word, args []Word, layer string) []*Command {
	w := l.w
	if w == nil || len(c.Args) == 0 {
		return nil
	}
	sh, _, restore := w.resume(c)
	defer restore()
	before := len(l.Commands)
	sh.params = &params{zero: layer, list: raws(w, args)}
	w.inNesting(nesting{layer: layer}, func() {
		w.nestText(sh, w.literal(text.raw), text.src)
	})
	return l.Commands[before:len(l.Commands):len(l.Commands)]
}

// RunNested is ParseNested for a command that is given as words.
func (l *Line) RunNested(c *Command, args []Word, layer string) []*Command {
	w := l.w
	if w == nil || len(c.Args) == 0 || len(args) == 0 {
		return nil
	}
	sh, inv, restore := w.resume(c)
	defer restore()
	before := len(l.Commands)
	w.nest(sh, inv, args, nesting{layer: layer})
	return l.Commands[before:len(l.Commands):len(l.Commands)]
}

// NewWord makes a static word, for [Line.ParseNested] and [Line.RunNested].
func NewWord(s string) Word {
	raw, _ := escapeSource(s)
	return Word{Value: s, Static: true, raw: raw, src: -1}
}

// resume makes a shell in the state in which c ran.
func (w *walker) resume(c *Command) (*shell, *invocation, func()) {
	sh := w.newShell()
	sh.dirs = []string{c.dir}
	for _, a := range c.Assigns {
		sh.put(a.Name, &variable{vals: []string{a.Value.raw}, exported: true})
	}
	ctx := w.ctx
	w.ctx = surroundings{via: c.Via, maybe: c.Maybe, remote: c.Remote, container: c.Container, inexact: c.Inexact, function: c.Function}
	return sh, &invocation{args: c.Args, redirs: c.Redirs, pos: c.Pos, end: c.End}, func() { w.ctx = ctx }
}
