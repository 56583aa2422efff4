package guards

import (
	"sort"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A chance says whether one command of a line has done its work where another
// one runs. A command that runs is taken to succeed, unless the other can only
// run because it failed.
type chance int

const (
	notDone chance = iota // it failed, or only a failure would have led to it
	perhaps               // it is in a branch that need not be taken
	done                  // it ran, as far as can be told
	sure                  // the other runs only if it succeeded
)

const (
	maxSequence   = 256 << 10 // bytes of a text whose structure is looked at
	maxSteps      = 400_000   // nodes that are looked at for one line
	maxSequenceIn = 8         // texts within texts
)

// happened tells whether e, which stands before c, has done its work when c runs.
func (c *Call) happened(e *Call) chance {
	line := c.Line()
	if line == nil || line != e.Line() || e.End == 0 || c.End == 0 || e.Pos == c.Pos || len(line.Source) > maxSequence {
		return done
	}
	s := c.run.sequence
	if s == nil || s.source != line.Source {
		s = &sequence{source: line.Source, texts: map[int]*text{}, steps: maxSteps}
		c.run.sequence = s
	}
	if s.steps <= 0 {
		return notDone
	}
	t := s.parse(0, len(line.Source))
	if t == nil {
		return done
	}
	return s.between(t, t.stmts, e.Pos, c.Pos, 0)
}

// A sequence is the structure of a line: lists, branches and operators.
type sequence struct {
	source string
	texts  map[int]*text // by where they begin; nil: does not parse
	steps  int           // left
}

// A text is the line, or a quoted word of it that a shell may run.
type text struct {
	off   int
	stmts []*syntax.Stmt
}

func (s *sequence) parse(from, to int) *text {
	if t, ok := s.texts[from]; ok {
		return t
	}
	var t *text
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s.source[from:to]), "")
	if err == nil {
		t = &text{from, f.Stmts}
	}
	s.texts[from] = t
	return t
}

func (t *text) holds(n syntax.Node, pos int) bool {
	return int(n.Pos().Offset())+t.off <= pos && pos < int(n.End().Offset())+t.off
}

// find is the index of the statement that holds pos, -1 if none does.
func (s *sequence) find(t *text, list []*syntax.Stmt, pos int) int {
	s.steps--
	i := sort.Search(len(list), func(i int) bool { return int(list[i].End().Offset())+t.off > pos })
	if i < len(list) && t.holds(list[i], pos) {
		return i
	}
	return -1
}

// between compares two positions of a list.
func (s *sequence) between(t *text, list []*syntax.Stmt, e, c, depth int) chance {
	i, j := s.find(t, list, e), s.find(t, list, c)
	switch {
	case i < 0 || j < 0 || i > j || s.steps <= 0:
		return done // of a function, or of a loop's last round
	case i < j:
		return s.ran(t, list[i], e, depth)
	}
	return s.within(t, list[i].Cmd, e, c, depth)
}

// within compares two positions of one command.
func (s *sequence) within(t *text, cmd syntax.Command, e, c, depth int) chance {
	if s.steps--; s.steps <= 0 {
		return notDone
	}
	switch x := cmd.(type) {
	case *syntax.BinaryCmd:
		inE, inC := t.holds(x.X, e), t.holds(x.X, c)
		switch {
		case inE && inC:
			return s.within(t, x.X.Cmd, e, c, depth)
		case !inE && !inC:
			return s.within(t, x.Y.Cmd, e, c, depth)
		case !inE:
			return done
		case x.Op == syntax.AndStmt:
			return s.succeeded(t, x.X, e, depth)
		case x.Op == syntax.OrStmt:
			return s.failed(t, x.X, e, depth)
		}
		return done // a pipe: both run
	case *syntax.IfClause:
		return s.withinIf(t, x, e, c, depth)
	case *syntax.WhileClause:
		if i := s.find(t, x.Cond, e); i >= 0 && s.find(t, x.Do, c) >= 0 {
			if i < len(x.Cond)-1 || x.Until {
				return s.ran(t, x.Cond[i], e, depth)
			}
			return s.succeeded(t, x.Cond[i], e, depth)
		}
		if s.find(t, x.Do, e) >= 0 {
			return s.between(t, x.Do, e, c, depth)
		}
		return s.between(t, x.Cond, e, c, depth)
	case *syntax.CaseClause:
		for _, item := range x.Items {
			if i, j := s.find(t, item.Stmts, e), s.find(t, item.Stmts, c); i >= 0 || j >= 0 {
				if i < 0 {
					return done // in the word
				}
				if j < 0 {
					return notDone
				}
				return s.between(t, item.Stmts, e, c, depth)
			}
		}
		return done
	case *syntax.CallExpr:
		if in := s.quoted(t, x, e, depth); in != nil && in == s.quoted(t, x, c, depth) {
			return s.between(in, in.stmts, e, c, depth+1)
		}
		return done
	}
	if list, ok := inner(cmd); ok {
		return s.between(t, list, e, c, depth)
	}
	return done
}

func (s *sequence) withinIf(t *text, x *syntax.IfClause, e, c, depth int) chance {
	for ; x != nil; x = x.Else {
		if s.steps--; s.steps <= 0 {
			return notDone
		}
		i, then := s.find(t, x.Cond, e), s.find(t, x.Then, e) >= 0
		switch {
		case i < 0 && !then:
			continue
		case then && s.find(t, x.Then, c) >= 0:
			return s.between(t, x.Then, e, c, depth)
		case then:
			return notDone
		case s.find(t, x.Cond, c) >= 0:
			return s.between(t, x.Cond, e, c, depth)
		case i < len(x.Cond)-1:
			return s.ran(t, x.Cond[i], e, depth)
		case s.find(t, x.Then, c) >= 0:
			return s.succeeded(t, x.Cond[i], e, depth)
		}
		return s.failed(t, x.Cond[i], e, depth)
	}
	return done
}

// inner is the list of a command that runs it once, or at least once.
func inner(cmd syntax.Command) ([]*syntax.Stmt, bool) {
	switch x := cmd.(type) {
	case *syntax.Block:
		return x.Stmts, true
	case *syntax.Subshell:
		return x.Stmts, true
	case *syntax.ForClause:
		return x.Do, true
	case *syntax.TimeClause:
		if x.Stmt != nil {
			return []*syntax.Stmt{x.Stmt}, true
		}
	case *syntax.CoprocClause:
		return []*syntax.Stmt{x.Stmt}, true
	case *syntax.FuncDecl:
		return []*syntax.Stmt{x.Body}, true
	}
	return nil, false
}

// quoted is the text of the quoted word of a call that holds pos.
func (s *sequence) quoted(t *text, call *syntax.CallExpr, pos, depth int) *text {
	if depth >= maxSequenceIn {
		return nil
	}
	for _, w := range call.Args {
		if !t.holds(w, pos) {
			continue
		}
		for _, p := range w.Parts {
			switch p.(type) {
			case *syntax.SglQuoted, *syntax.DblQuoted:
				from, to := int(p.Pos().Offset())+t.off+1, int(p.End().Offset())+t.off-1
				if from <= pos && pos < to && to <= len(s.source) {
					s.steps -= (to - from) / 16
					return s.parse(from, to)
				}
			}
		}
	}
	return nil
}

// ran tells whether e has done its work when the statement that holds it is over.
func (s *sequence) ran(t *text, st *syntax.Stmt, e, depth int) chance {
	if s.steps--; s.steps <= 0 || st.Background {
		return notDone
	}
	switch x := st.Cmd.(type) {
	case *syntax.BinaryCmd:
		if t.holds(x.X, e) {
			return s.ran(t, x.X, e, depth)
		}
		switch x.Op {
		case syntax.AndStmt:
			if s.condition(t, x.X) && !s.tellsChanges(t, x.X, true) {
				return perhaps
			}
		case syntax.OrStmt:
			if !s.tellsChanges(t, x.X, false) {
				return notDone
			}
		}
		return s.ran(t, x.Y, e, depth)
	case *syntax.IfClause:
		for ; x != nil; x = x.Else {
			if i := s.find(t, x.Cond, e); i >= 0 {
				return s.ran(t, x.Cond[i], e, depth)
			}
			if i := s.find(t, x.Then, e); i >= 0 {
				if len(x.Cond) > 0 && s.tellsChanges(t, x.Cond[len(x.Cond)-1], true) {
					return s.ran(t, x.Then[i], e, depth)
				}
				return perhaps
			}
		}
	case *syntax.WhileClause:
		if i := s.find(t, x.Cond, e); i >= 0 {
			return s.ran(t, x.Cond[i], e, depth)
		}
		return perhaps
	case *syntax.CaseClause:
		for _, item := range x.Items {
			if s.find(t, item.Stmts, e) >= 0 {
				return perhaps
			}
		}
	case *syntax.CallExpr:
		if in := s.quoted(t, x, e, depth); in != nil {
			if i := s.find(in, in.stmts, e); i >= 0 {
				return s.ran(in, in.stmts[i], e, depth+1)
			}
		}
	default:
		if list, ok := inner(st.Cmd); ok {
			if i := s.find(t, list, e); i >= 0 {
				return s.ran(t, list[i], e, depth)
			}
		}
	}
	return done
}

// succeeded is ran for a statement that is known to have succeeded.
func (s *sequence) succeeded(t *text, st *syntax.Stmt, e, depth int) chance {
	if s.steps--; s.steps <= 0 {
		return notDone
	}
	if st.Negated {
		return s.failed(t, &syntax.Stmt{Cmd: st.Cmd, Position: st.Position}, e, depth)
	}
	switch x := st.Cmd.(type) {
	case *syntax.CallExpr:
		if in := s.quoted(t, x, e, depth); in != nil {
			return s.ends(in, in.stmts, e, depth+1, s.succeeded)
		}
		if t.off+int(x.Pos().Offset()) == e {
			return sure
		}
		return done
	case *syntax.BinaryCmd:
		if x.Op == syntax.AndStmt {
			if t.holds(x.X, e) {
				return s.succeeded(t, x.X, e, depth)
			}
			return s.succeeded(t, x.Y, e, depth)
		}
	case *syntax.Block:
		return s.ends(t, x.Stmts, e, depth, s.succeeded)
	case *syntax.Subshell:
		return s.ends(t, x.Stmts, e, depth, s.succeeded)
	}
	return s.ran(t, st, e, depth)
}

// failed is ran for a statement that is known to have failed.
func (s *sequence) failed(t *text, st *syntax.Stmt, e, depth int) chance {
	if s.steps--; s.steps <= 0 {
		return notDone
	}
	if st.Negated {
		return s.succeeded(t, &syntax.Stmt{Cmd: st.Cmd, Position: st.Position}, e, depth)
	}
	switch x := st.Cmd.(type) {
	case *syntax.CallExpr:
		if in := s.quoted(t, x, e, depth); in != nil {
			return s.ends(in, in.stmts, e, depth+1, s.failed)
		}
		return notDone
	case *syntax.BinaryCmd:
		switch left := t.holds(x.X, e); {
		case x.Op == syntax.AndStmt && left:
			return min(s.succeeded(t, x.X, e, depth), done)
		case x.Op == syntax.AndStmt || x.Op == syntax.OrStmt:
			if left {
				return s.failed(t, x.X, e, depth)
			}
			return s.failed(t, x.Y, e, depth)
		}
		return notDone
	case *syntax.Block:
		return s.ends(t, x.Stmts, e, depth, s.failed)
	case *syntax.Subshell:
		return s.ends(t, x.Stmts, e, depth, s.failed)
	}
	return s.ran(t, st, e, depth)
}

// ends judges a list by how its last statement ended.
func (s *sequence) ends(t *text, list []*syntax.Stmt, e, depth int, last func(*text, *syntax.Stmt, int, int) chance) chance {
	i := s.find(t, list, e)
	switch {
	case i < 0:
		return done
	case i == len(list)-1:
		return last(t, list[i], e, depth)
	}
	return s.ran(t, list[i], e, depth)
}

// condition reports a statement that is there for its answer: what stands
// behind its && need not run.
func (s *sequence) condition(t *text, st *syntax.Stmt) bool {
	if s.steps--; s.steps <= 0 || st.Negated {
		return true
	}
	switch x := st.Cmd.(type) {
	case *syntax.BinaryCmd:
		if x.Op == syntax.Pipe || x.Op == syntax.PipeAll {
			return s.condition(t, x.Y)
		}
		return s.condition(t, x.X) || s.condition(t, x.Y)
	case *syntax.TestClause, *syntax.ArithmCmd:
		return true
	case *syntax.CallExpr:
		if len(x.Args) == 0 {
			return false
		}
		switch x.Args[0].Lit() {
		case "false", "test", "[", "grep", "egrep", "rg", "read", "diff", "cmp", "command", "which", "type", "pgrep":
			return true
		case "git":
			return s.quietDiff(t, x)
		}
	}
	return false
}

// quietDiff reports a git command that fails where there are changes.
func (s *sequence) quietDiff(t *text, x *syntax.CallExpr) bool {
	src := s.text(t, x)
	return strings.Contains(src, "diff") && (strings.Contains(src, "--quiet") || strings.Contains(src, "--exit-code"))
}

func (s *sequence) text(t *text, n syntax.Node) string {
	from, to := int(n.Pos().Offset())+t.off, int(n.End().Offset())+t.off
	return s.source[from:min(to, from+1000, len(s.source))]
}

// tellsChanges reports a statement whose success (or failure) says that there
// are changes to save: where it says that there are none, none are lost.
func (s *sequence) tellsChanges(t *text, st *syntax.Stmt, success bool) bool {
	if x, ok := st.Cmd.(*syntax.CallExpr); ok && len(x.Args) > 0 && x.Args[0].Lit() == "git" {
		return s.quietDiff(t, x) && success == st.Negated
	}
	src := s.text(t, st)
	return strings.Contains(src, "git status") || strings.Contains(src, "git diff") || strings.Contains(src, "git ls-files")
}
