package shellcmd

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

const maxIterations = 32 // of one loop over a known list

// layer runs f with one more layer around its commands.
func (w *walker) layer(name string, f func()) {
	old := w.ctx.via
	w.ctx.via = append(old[:len(old):len(old)], Layer{name})
	f()
	w.ctx.via = old
}

// maybe runs f for code that the shell may not run.
func (w *walker) maybe(f func()) {
	old := w.ctx.maybe
	w.ctx.maybe = true
	f()
	w.ctx.maybe = old
}

// again runs f for code that was walked before. It reports false, and does not
// run it, when the bound on such work is reached.
func (w *walker) again(f func()) bool {
	if w.repeats <= 0 {
		w.line.Limited = true
		return false
	}
	w.repeating++
	f()
	w.repeating--
	return true
}

func (w *walker) stmts(sh *shell, list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(sh, s)
	}
}

func (w *walker) stmt(sh *shell, s *syntax.Stmt) {
	if w.repeating > 0 {
		if w.repeats--; w.repeats < 0 {
			w.line.Limited = true
			return
		}
	}
	if s.Background || s.Disown || s.Coprocess {
		c := sh.fork()
		c.out = nil
		w.spawned++
		w.command(c, s)
		w.spawned--
		return
	}
	w.command(sh, s)
}

func (w *walker) command(sh *shell, s *syntax.Stmt) {
	switch c := s.Cmd.(type) {
	case nil:
		w.alternatives(sh, func(sh *shell) { w.bareRedirects(sh, s) })
		return
	case *syntax.CallExpr:
		w.alternatives(sh, func(sh *shell) { w.simple(sh, s, c) })
		return
	case *syntax.DeclClause:
		w.alternatives(sh, func(sh *shell) { w.declare(sh, s, c) })
		return
	case *syntax.FuncDecl:
		w.funcDecl(sh, s, c)
		return
	}
	if len(s.Redirs) == 0 {
		w.compound(sh, s.Cmd)
		return
	}
	in, out := sh.in, sh.out
	r := w.redirects(sh, s.Redirs)
	r.apply(sh)
	w.compound(sh, s.Cmd)
	sh.in, sh.out = in, out
	r.done(w, sh, nil)
	// What "{ …; } > file" writes no command inside shows: guards see it as they
	// see a redirection alone.
	if writesFile(r.list) {
		pos, end := w.span(s.Redirs[0].Pos(), s.Redirs[len(s.Redirs)-1].Word.End())
		w.emit(sh, &invocation{args: []Word{w.word(":")}, redirs: r.list, pos: pos, end: end})
	}
}

// writesFile reports a redirection into a file that is more than a sink.
func writesFile(list []Redirect) bool {
	for _, r := range list {
		switch r.Op {
		case ">", ">>", ">|", "&>", "&>>", "<>":
			if r.Target.Value != "/dev/null" {
				return true
			}
		}
	}
	return false
}

func (w *walker) compound(sh *shell, cmd syntax.Command) {
	switch c := cmd.(type) {
	case *syntax.Block:
		w.stmts(sh, c.Stmts)
	case *syntax.Subshell:
		w.layer("subshell", func() { w.stmts(sh.fork(), c.Stmts) })
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			w.pipeline(sh, c)
		} else {
			w.andOr(sh, c)
		}
	case *syntax.IfClause:
		w.ifClause(sh, c)
	case *syntax.WhileClause:
		w.loop(sh, func(sh *shell) {
			w.stmts(sh, c.Cond)
			w.maybe(func() { w.stmts(sh, c.Do) })
		})
	case *syntax.ForClause:
		w.forClause(sh, c)
	case *syntax.CaseClause:
		w.caseClause(sh, c)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			w.layer("time", func() { w.stmt(sh, c.Stmt) })
		}
	case *syntax.CoprocClause:
		if c.Stmt != nil {
			f := sh.fork()
			f.out = nil
			if call, ok := c.Stmt.Cmd.(*syntax.CallExpr); ok {
				wordsOfCoproc(call)
			}
			w.layer("coproc", func() { w.stmt(f, c.Stmt) })
		}
	case *syntax.TestClause:
		w.testExpr(sh, c.X, 0)
	case *syntax.ArithmCmd:
		w.arithm(sh, c.X)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			w.arithm(sh, x)
		}
	case *syntax.TestDecl:
		w.stmt(sh, c.Body)
	}
}

// pipeline runs the elements of a | b | c, each in a subshell of its own.
func (w *walker) pipeline(sh *shell, c *syntax.BinaryCmd) {
	// The tree leans left and may be as long as the text: no recursion.
	elems := []*syntax.Stmt{c.Y}
	for {
		x := c.X
		if b, ok := x.Cmd.(*syntax.BinaryCmd); ok && len(x.Redirs) == 0 && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) {
			elems = append(elems, b.Y)
			c = b
			continue
		}
		elems = append(elems, x)
		break
	}
	piped := w.ctx.piped
	defer func() { w.ctx.piped = piped }()
	in := sh.in
	for i := len(elems) - 1; i >= 0; i-- {
		f := sh.fork()
		f.in = in
		var s *sink
		if i > 0 {
			s = &sink{w: w}
			f.out = s
		}
		before := len(w.line.Commands)
		w.spawned++
		w.stmt(f, elems[i])
		w.spawned--
		if n := len(w.line.Commands); n > before {
			w.ctx.piped = w.line.Commands[n-1]
		}
		if i > 0 {
			text := s.text()
			in = &text
			continue
		}
		// zsh and bash's lastpipe run the last element in the shell itself.
		if len(f.vars) > 0 {
			vars := sh.fork()
			vars.vars = f.vars
			w.altered = true
			sh.join(true, vars)
		}
	}
}

// andOr runs a && b || c. What stands on the right may not run.
func (w *walker) andOr(sh *shell, c *syntax.BinaryCmd) {
	type elem struct {
		stmt *syntax.Stmt
		op   syntax.BinCmdOperator // before it
	}
	var elems []elem
	for {
		elems = append(elems, elem{c.Y, c.Op})
		x := c.X
		if b, ok := x.Cmd.(*syntax.BinaryCmd); ok && len(x.Redirs) == 0 && (b.Op == syntax.AndStmt || b.Op == syntax.OrStmt) {
			c = b
			continue
		}
		elems = append(elems, elem{stmt: x})
		break
	}
	base, cur := sh, sh // cur is base, or a branch of it after &&
	dirs := sh.dirs     // before the last element: where the right side of || runs if that was a cd
	settle := func() {
		if cur != base {
			w.altered = true
			base.join(true, cur)
			cur = base
		}
	}
	for i := len(elems) - 1; i >= 0; i-- {
		e := elems[i]
		switch {
		case i == len(elems)-1:
			w.stmt(cur, e.stmt)
		case e.op == syntax.AndStmt:
			if cur == base {
				cur = base.fork()
			}
			if isCd(elems[i+1].stmt) {
				cur.dirs = cur.dirs[:1] // it succeeded
			}
			dirs = cur.dirs
			w.maybe(func() { w.stmt(cur, e.stmt) })
		default:
			settle()
			f := base.fork()
			if isCd(elems[i+1].stmt) {
				f.dirs = dirs
			} else if !slices.Equal(dirs, f.dirs) {
				// A cd within it may be what failed.
				for _, d := range dirs {
					f.dirs = addDir(f.dirs, d)
				}
				w.altered = true
			}
			w.maybe(func() { w.stmt(f, e.stmt) })
			// The likelier case is that it did not run.
			w.joinAll(base, false, []*shell{base.fork(), f})
			cur = base
		}
	}
	settle()
}

func isCd(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return false
	}
	name := c.Args[0].Lit()
	return name == "cd" || name == "pushd"
}

func (w *walker) ifClause(sh *shell, c *syntax.IfClause) {
	// An elif runs only if the conditions before it failed; each branch starts
	// from the state that the conditions left.
	var branches []*shell
	orNone := true
	for ; c != nil; c = c.Else {
		before := sh.dirs
		if len(branches) == 0 {
			w.stmts(sh, c.Cond)
		} else {
			w.maybe(func() { w.stmts(sh, c.Cond) })
		}
		if len(c.Cond) == 0 {
			orNone = false // else
		}
		b := sh.fork()
		if n := len(c.Cond); n > 0 && isCd(c.Cond[n-1]) {
			// if cd x: the else part runs where the cd failed.
			if c.Cond[n-1].Negated {
				b.dirs = before
			} else {
				sh.dirs = before
			}
		}
		w.maybe(func() { w.stmts(b, c.Then) })
		branches = append(branches, b)
	}
	w.joinAll(sh, orNone, branches)
}

func addDir(dirs []string, d string) []string {
	if slices.Contains(dirs, d) || len(dirs) >= maxAlternatives {
		return dirs
	}
	return append(dirs[:len(dirs):len(dirs)], d)
}

func (w *walker) joinAll(sh *shell, orNone bool, branches []*shell) {
	if len(branches) == 0 {
		return
	}
	for _, b := range branches {
		if len(b.vars) > 0 || len(b.dirs) != len(sh.dirs) || b.dirs[0] != sh.dirs[0] {
			w.altered = true
		}
	}
	sh.join(orNone, branches...)
}

// loop walks a body twice: what the first round sets, the second one may use.
func (w *walker) loop(sh *shell, body func(*shell)) {
	w.loops++
	defer func() { w.loops-- }()
	f := sh.fork()
	body(f)
	// A body that reads lines of known text runs once for each of them.
	for i := 1; f.in != nil && f.in != sh.in && *f.in != "" && i < maxIterations; i++ {
		if !w.again(func() { body(f) }) {
			break
		}
	}
	if f.in == sh.in && (len(f.vars) > 0 || len(f.funcs) > 0 || len(f.dirs) != len(sh.dirs) || f.dirs[0] != sh.dirs[0]) {
		g := sh.fork()
		w.joinAll(g, true, []*shell{f})
		if w.again(func() { body(g) }) {
			f = g
		}
	}
	w.joinAll(sh, true, []*shell{f})
}

func (w *walker) forClause(sh *shell, c *syntax.ForClause) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		if cs, ok := c.Loop.(*syntax.CStyleLoop); ok {
			w.arithm(sh, cs.Init)
			w.loop(sh, func(sh *shell) {
				// The counter's values are not worth computing.
				w.forgetArithm(sh, cs.Init)
				w.forgetArithm(sh, cs.Post)
				w.arithm(sh, cs.Cond)
				w.maybe(func() { w.stmts(sh, c.Do) })
			})
		}
		return
	}
	var items []Word
	if iter.InPos.IsValid() {
		for _, it := range iter.Items {
			items = append(items, w.fields(sh, it)...)
		}
	} else {
		items = w.positional(sh)
	}
	if c.Select || len(items) == 0 {
		if len(items) == 0 && iter.InPos.IsValid() && !c.Select {
			// An empty list runs nothing; the body is still shown.
			items = []Word{w.word("")}
		}
		w.loop(sh, func(sh *shell) {
			v := &variable{}
			for _, it := range items {
				v.vals = addValue(v.vals, w.literal(it.raw))
			}
			if len(v.vals) == 0 {
				v.vals = []string{otherMark}
			}
			w.altered = w.altered || len(v.vals) > 1
			sh.put(iter.Name.Value, v)
			w.maybe(func() { w.stmts(sh, c.Do) })
		})
		return
	}
	w.loops++
	defer func() { w.loops-- }()
	f := sh.fork()
	for i, it := range items {
		value := it.raw
		if i == maxIterations || (i > 0 && w.repeats <= 0) {
			value = w.mark(Part{Text: iter.Name.Value, Kind: Variable})
			w.line.Limited = w.line.Limited || w.repeats <= 0
		}
		f.put(iter.Name.Value, &variable{vals: []string{value}})
		if i == 0 {
			w.stmts(f, c.Do)
		} else {
			w.again(func() { w.stmts(f, c.Do) })
		}
		if i == maxIterations {
			break
		}
	}
	sh.commit(f)
}

func (w *walker) caseClause(sh *shell, c *syntax.CaseClause) {
	w.value(sh, c.Word)
	var branches []*shell
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			w.pattern(sh, p)
		}
		b := sh.fork()
		w.maybe(func() { w.stmts(b, item.Stmts) })
		branches = append(branches, b)
	}
	w.joinAll(sh, true, branches)
}

func (w *walker) testExpr(sh *shell, x syntax.TestExpr, depth int) {
	if depth > 200 {
		w.line.Limited = true
		return
	}
	switch x := x.(type) {
	case *syntax.BinaryTest:
		w.testExpr(sh, x.X, depth+1)
		w.testExpr(sh, x.Y, depth+1)
	case *syntax.UnaryTest:
		w.testExpr(sh, x.X, depth+1)
	case *syntax.ParenTest:
		w.testExpr(sh, x.X, depth+1)
	case *syntax.Word:
		w.pattern(sh, x)
	}
}

func (w *walker) funcDecl(sh *shell, s *syntax.Stmt, c *syntax.FuncDecl) {
	names := c.Names
	if c.Name != nil {
		names = append(names, c.Name)
	}
	for _, n := range names {
		sh.define(n.Value, &function{body: c.Body, from: w.ctx.src})
	}
	if len(names) == 0 {
		// zsh runs an anonymous function on the spot.
		w.layer("()", func() { w.stmt(sh, c.Body) })
	}
}

// call runs the body of a function that the line defined.
func (w *walker) call(sh *shell, name string, f *function, args []Word) {
	if f.active == 0 {
		f.spawned = w.spawned
	} else if w.spawned > f.spawned {
		w.line.ForkBomb = true
	}
	if w.depth >= maxDepth || f.active >= 3 {
		w.line.Limited = w.line.Limited || w.depth >= maxDepth
		return
	}
	w.depth++
	w.loops++
	f.active++
	f.calls++
	ctx := w.ctx
	old := sh.params
	p := &params{zero: zero(old)}
	for _, a := range args {
		p.list = append(p.list, w.literal(a.raw))
	}
	sh.params = p
	frame, exited := sh.locals, sh.exited
	sh.locals = map[string]*variable{}
	w.ctx.src, w.ctx.function = f.from, name
	run := func() { w.layer(name+"()", func() { w.stmt(sh, f.body) }) }
	if f.calls == 1 {
		run()
	} else {
		w.again(run)
	}
	for n, v := range sh.locals {
		if v == nil {
			v = &variable{}
		}
		sh.put(n, v)
	}
	sh.locals = frame
	sh.exited = exited
	w.ctx = ctx
	sh.params = old
	f.active--
	w.loops--
	w.depth--
}

func zero(p *params) string {
	if p == nil {
		return "bash"
	}
	return p.zero
}

// A choice picks one of the alternatives of each variable that a command
// reads, so that the command can be walked once for each combination.
type choice struct {
	order []string
	index map[string]int
	count map[string]int
}

func (c *choice) of(name string, n int) int {
	if c == nil || n < 2 {
		return 0
	}
	if _, ok := c.count[name]; !ok {
		if c.count == nil {
			c.count, c.index = map[string]int{}, map[string]int{}
		}
		c.count[name] = n
		c.order = append(c.order, name)
	}
	return min(c.index[name], n-1)
}

// next moves on to the next combination.
func (c *choice) next() bool {
	for i := len(c.order) - 1; i >= 0; i-- {
		n := c.order[i]
		if c.index[n]++; c.index[n] < c.count[n] {
			return true
		}
		c.index[n] = 0
	}
	return false
}

// alternatives runs f once for each combination of the values it reads.
func (w *walker) alternatives(sh *shell, f func(*shell)) {
	if !w.altered || w.ctx.pick != nil {
		f(sh)
		return
	}
	pick := &choice{}
	w.ctx.pick = pick
	w.loops++
	defer func() { w.ctx.pick = nil; w.loops-- }()
	first := sh.fork()
	f(first)
	if len(pick.order) == 0 {
		sh.commit(first)
		return
	}
	branches := []*shell{first}
	for n := 1; pick.next(); n++ {
		if n >= 2*maxAlternatives {
			w.line.Limited = true
			break
		}
		b := sh.fork()
		if !w.again(func() { f(b) }) {
			break
		}
		branches = append(branches, b)
	}
	sh.join(false, branches...)
}

// wordsOfCoproc puts right what the parser reads as assignments behind the name
// of a program: coproc dd of=FILE.
func wordsOfCoproc(call *syntax.CallExpr) {
	if len(call.Args) == 0 || len(call.Assigns) == 0 || call.Assigns[0].Pos().Offset() < call.Args[0].Pos().Offset() {
		return
	}
	words := []*syntax.Word{call.Args[0]}
	for _, a := range call.Assigns {
		if a.Name == nil || a.Index != nil || a.Array != nil || a.Naked {
			continue
		}
		op := "="
		if a.Append {
			op = "+="
		}
		word := &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: a.Pos(), ValueEnd: a.Name.End(), Value: a.Name.Value + op}}}
		if a.Value != nil {
			word.Parts = append(word.Parts, a.Value.Parts...)
		}
		words = append(words, word)
	}
	call.Args, call.Assigns = append(words, call.Args[1:]...), nil
}
