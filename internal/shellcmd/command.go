package shellcmd

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// An invocation is a command about to be run: what the shell has after it has
// expanded the words.
type invocation struct {
	args   []Word
	inline []Assign // leading assignments and those of env
	redirs []Redirect

	pos, end int
	external bool // started by another program: no functions, no aliases
}

// simple runs a simple command of the tree.
func (w *walker) simple(sh *shell, s *syntax.Stmt, c *syntax.CallExpr) {
	if len(c.Args) > 0 && w.runAlias(sh, s, c) {
		return
	}
	args := w.words(sh, c.Args)
	if len(args) == 0 {
		r := w.redirects(sh, s.Redirs)
		for _, a := range c.Assigns {
			w.assign(sh, a, false)
		}
		r.done(w, sh, nil)
		return
	}
	inv := &invocation{args: args}
	inv.pos, inv.end = w.span(c.Pos(), c.End())
	for _, a := range c.Assigns {
		if a.Name != nil {
			inv.inline = append(inv.inline, w.inlineAssign(sh, a))
		}
	}
	if len(s.Redirs) == 0 {
		w.run(sh, inv)
		return
	}
	r := w.redirects(sh, s.Redirs)
	inv.redirs = r.list
	if inv.end > 0 {
		if _, end := w.span(s.Redirs[len(s.Redirs)-1].Word.Pos(), s.Redirs[len(s.Redirs)-1].Word.End()); end > inv.end {
			inv.end = end
		}
	}
	in, out := sh.in, sh.out
	r.apply(sh)
	cmd := w.run(sh, inv)
	if len(args) == 1 && args[0].raw == "exec" {
		// exec without a command redirects the shell from here on.
		r.done(w, sh, cmd)
		return
	}
	sh.in, sh.out = in, out
	r.done(w, sh, cmd)
}

func (w *walker) bareRedirects(sh *shell, s *syntax.Stmt) {
	r := w.redirects(sh, s.Redirs)
	r.done(w, sh, nil)
	// "> file" truncates: guards see it as a command with no program of its own
	// being ":".
	if len(r.list) > 0 {
		pos, end := w.span(s.Redirs[0].Pos(), s.Redirs[len(s.Redirs)-1].Word.End())
		colon := w.word(":")
		w.emit(sh, &invocation{args: []Word{colon}, redirs: r.list, pos: pos, end: end})
	}
}

func (w *walker) inlineAssign(sh *shell, a *syntax.Assign) Assign {
	value := w.word(w.value(sh, a.Value))
	if a.Value != nil {
		value.Pos, value.End = w.span(a.Value.Pos(), a.Value.End())
	}
	if a.Append {
		if old, ok := w.lookupValue(sh, a.Name.Value); ok {
			value = w.word(old + value.raw)
		}
	}
	return Assign{Name: a.Name.Value, Value: value, Inline: true}
}

// assign sets a variable of the shell.
func (w *walker) assign(sh *shell, a *syntax.Assign, export bool) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	old := sh.lookup(name)
	v := &variable{exported: export || sh.allExport || (old != nil && old.exported), assoc: old != nil && old.assoc}
	switch {
	case a.Array != nil:
		v.isArray = true
		if old != nil {
			w.made -= 16 * len(old.arr)
		}
		if a.Append && old != nil && w.made > 0 {
			v.arr = slices.Clone(old.arr)
		}
		key, pairs := "", 0
		for _, el := range a.Array.Elems {
			if el.Index != nil {
				key := w.elementKey(sh, v, el.Index)
				value := w.value(sh, el.Value)
				w.setElement(sh, v, name, key, value)
				v.arr = append(v.arr, value)
				continue
			}
			for _, f := range w.fields(sh, el.Value) {
				value := w.literal(f.raw)
				if v.assoc {
					// Without [key]= they are keys and values in turn.
					if pairs++; pairs%2 == 1 {
						key = value
						continue
					}
					w.setElement(sh, v, name, key, value)
				}
				v.arr = append(v.arr, value)
			}
		}
	case a.Index != nil:
		v.isArray = true
		key := w.elementKey(sh, v, a.Index)
		n, err := strconv.ParseInt(key, 10, 64)
		ok := err == nil && !v.assoc
		value := w.value(sh, a.Value)
		if old != nil {
			v.arr = slices.Clone(old.arr)
		}
		if a.Append {
			if s, found := w.element(sh, v, name, key); found {
				value = s + value
			}
			if w.made -= len(value); w.made < 0 || len(value) > maxValue {
				value = otherMark
				w.line.Limited = true
			}
		}
		if !ok || n > int64(len(v.arr)) {
			w.setElement(sh, v, name, key, value)
		}
		if !ok || n < 0 || n > int64(len(v.arr)) {
			n = int64(len(v.arr))
		}
		if n == int64(len(v.arr)) && w.spend(len(v.arr)) {
			v.arr = append(v.arr, value)
		} else if n < int64(len(v.arr)) {
			v.arr[n] = value
		}
	default:
		value := w.value(sh, a.Value)
		if a.Append {
			if s, ok := w.lookupValue(sh, name); ok {
				value = s + value
			}
			if w.made -= len(value); w.made < 0 || len(value) > maxValue {
				value = otherMark
				w.line.Limited = true
			}
		}
		v.vals = []string{value}
	}
	sh.put(name, v)
}

// elementKey is the text of an array's index; empty if it is not known.
func (w *walker) elementKey(sh *shell, v *variable, idx syntax.ArithmExpr) string {
	if v.assoc {
		word, _ := idx.(*syntax.Word)
		if word == nil {
			return ""
		}
		if key := w.value(sh, word); isStatic(key) && len(key) < maxPath {
			return key
		}
		return ""
	}
	n, ok := w.arithm(sh, idx)
	if !ok {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// setElement keeps an element that arr cannot find by its position: one of an
// array with names, or one behind a gap. It is a variable of its own.
func (w *walker) setElement(sh *shell, v *variable, name, key, value string) {
	if key == "" || !v.assoc && key[0] == '-' {
		return
	}
	sh.put(name+"["+key+"]", &variable{vals: []string{value}})
}

// element reads what setElement kept.
func (w *walker) element(sh *shell, v *variable, name, key string) (string, bool) {
	if key == "" {
		return "", false
	}
	if e := sh.lookup(name + "[" + key + "]"); e != nil && len(e.vals) > 0 {
		return e.vals[w.ctx.pick.of(name, len(e.vals))], true
	}
	return "", false
}

// emit records a command.
func (w *walker) emit(sh *shell, inv *invocation) *Command {
	if len(w.commandSlab) == 0 {
		w.commandSlab = make([]Command, min(4+len(w.line.Commands), 256))
	}
	c := &w.commandSlab[0]
	w.commandSlab = w.commandSlab[1:]
	*c = Command{
		Args:      inv.args,
		Assigns:   sh.env,
		Redirs:    inv.redirs,
		Via:       w.ctx.via,
		Inexact:   w.ctx.inexact,
		Maybe:     w.ctx.maybe,
		Remote:    w.ctx.remote,
		Container: w.ctx.container,
		Function:  w.ctx.function,
		Pos:       inv.pos,
		End:       inv.end,
		line:      w.line,
		seq:       w.writes,
		dir:       w.dir(sh),
	}
	c.Dir = w.publicDir(c.dir)
	if len(inv.inline) > 0 {
		c.Assigns = append(sh.env[:len(sh.env):len(sh.env)], inv.inline...)
	}
	if sh.in != nil {
		c.Stdin = w.text(*sh.in)
		c.Piped = w.ctx.piped
	}
	if w.loops > 0 && !w.fresh(c) {
		return c
	}
	w.line.Commands = append(w.line.Commands, c)
	return c
}

// fresh reports whether a command in code that is walked again differs from
// those that were recorded.
func (w *walker) fresh(c *Command) bool {
	if w.seen == nil {
		w.seen, w.seed = map[uint64]struct{}{}, maphash.MakeSeed()
	}
	var h maphash.Hash
	h.SetSeed(w.seed)
	num := func(n int) {
		for range 4 {
			h.WriteByte(byte(n))
			n >>= 8
		}
	}
	str := func(s string) {
		num(len(s))
		h.WriteString(s)
	}
	num(c.Pos)
	num(c.End)
	str(c.dir)
	for _, a := range c.Args {
		str(a.raw)
		num(a.Pos)
	}
	for _, a := range c.Assigns {
		str(a.Name)
		str(a.Value.raw)
	}
	for _, r := range c.Redirs {
		str(r.Op)
		str(r.Target.raw)
		str(r.Body.Value)
	}
	str(c.Stdin.Value)
	for _, l := range c.Via {
		str(l.Name)
	}
	// What a file holds may have changed between two rounds.
	if w.files != nil {
		num(c.seq)
	}
	sum := h.Sum64()
	if _, ok := w.seen[sum]; ok && w.repeating > 0 {
		return false
	}
	w.seen[sum] = struct{}{}
	return true
}

// run finds out what a command does. It returns the recorded command, nil for
// a function call.
func (w *walker) run(sh *shell, inv *invocation) *Command {
	first := inv.args[0]
	name := ""
	if first.Static {
		name = first.Value
	}
	if !inv.external && name != "" {
		if f := sh.function(name); f != nil {
			f := f
			restore := w.inlineVars(sh, inv.inline)
			if f.maybe || len(f.others) > 0 {
				w.maybe(func() {
					w.call(sh, name, f, inv.args[1:])
					for _, o := range f.others {
						w.call(sh.fork(), name, o, inv.args[1:])
					}
				})
			} else {
				w.call(sh, name, f, inv.args[1:])
			}
			restore()
			if !f.maybe {
				return nil
			}
		}
	}
	cmd := w.emit(sh, inv)
	if n := len(inv.args); n > 0 {
		sh.last = w.literal(inv.args[n-1].raw)
	}
	w.dispatch(sh, inv, cmd)
	return cmd
}

// inlineVars makes leading assignments visible to a function or eval, and
// returns what takes them back.
func (w *walker) inlineVars(sh *shell, inline []Assign) func() {
	type saved struct {
		name string
		v    *variable
	}
	var old []saved
	for _, a := range inline {
		old = append(old, saved{a.Name, sh.direct(a.Name)})
		sh.put(a.Name, &variable{vals: []string{a.Value.raw}, exported: true})
	}
	return func() {
		for i := len(old) - 1; i >= 0; i-- {
			if v := old[i].v; v != nil {
				sh.put(old[i].name, v)
			} else if sh.vars != nil {
				delete(sh.vars, old[i].name)
				sh.dropEnv(old[i].name)
			}
		}
	}
}

func (s *shell) dropEnv(name string) {
	s.env = slices.DeleteFunc(slices.Clone(s.env), func(a Assign) bool { return a.Name == name })
}

// process is the state of a program that the shell starts: it inherits the
// environment and the streams, and changes nothing here.
func (w *walker) process(sh *shell, inline []Assign) *shell {
	p := w.newShell()
	p.dirs = []string{w.dir(sh)}
	p.in, p.out = sh.in, sh.out
	for _, a := range sh.env {
		if v := sh.lookup(a.Name); v != nil {
			p.put(a.Name, v)
		}
	}
	for _, a := range inline {
		p.put(a.Name, &variable{vals: []string{a.Value.raw}, exported: true})
	}
	if w.exported {
		seen := map[string]bool{}
		for c := sh; c != nil; c = c.parent {
			for n, f := range c.funcs {
				if !seen[n] && f.exported && w.spend(64) {
					p.define(n, f)
				}
				seen[n] = true
			}
		}
	}
	return p
}

// runAlias runs a command through an alias of the line. Whether the shell
// expands aliases is not known (clients switch it on), so the command as it is
// written counts too: false is returned even if there was an alias.
func (w *walker) runAlias(sh *shell, s *syntax.Stmt, c *syntax.CallExpr) bool {
	name := c.Args[0].Lit()
	if name == "" || w.ctx.src == nil {
		return false
	}
	value, ok := sh.alias(name)
	if !ok || !isStatic(value) {
		return false
	}
	for _, l := range w.ctx.via {
		if l.Name == "alias "+name {
			return false
		}
	}
	text := value
	if len(c.Args) > 1 {
		from, to := c.Args[1].Pos().Offset(), c.Args[len(c.Args)-1].End().Offset()
		if from <= to && int(to) <= len(w.ctx.src.text) {
			text += " " + w.ctx.src.text[from:to]
		}
	}
	w.layer("alias "+name, func() { w.nestText(sh, text, -1) })
	return false
}

// nestText parses text that a command hands to a shell. It runs in sh. src is
// where it stands in Line.Source, or -1; then its commands have no position.
func (w *walker) nestText(sh *shell, text string, src int) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return
	}
	if p, n := w.partOf(trimmed); n == len(trimmed) && p.Kind != Literal {
		return // wholly unknown: the command itself shows where it comes from
	}
	// A text costs more than its bytes: a short one still needs a parser.
	cost := len(text) + 256
	if w.depth >= maxDepth || cost > w.nested {
		w.line.Limited = true
		return
	}
	w.nested -= cost
	w.depth++
	ctx := w.ctx
	w.runShell(sh, &origin{text: text, off: src})
	w.ctx = ctx
	w.depth--
}
