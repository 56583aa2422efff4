package shellcmd

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const maxArithDepth = 500

// arithm evaluates an arithmetic expression, running what its substitutions
// run; false if the value is not known.
func (w *walker) arithm(sh *shell, x syntax.ArithmExpr) (int64, bool) {
	if x == nil {
		return 0, true
	}
	return w.arithmAt(sh, x, 0)
}

func (w *walker) arithmAt(sh *shell, x syntax.ArithmExpr, depth int) (int64, bool) {
	if depth > maxArithDepth {
		w.line.Limited = true
		return 0, false
	}
	switch x := x.(type) {
	case *syntax.Word:
		s := w.value(sh, x)
		if !isStatic(s) {
			return 0, false
		}
		return w.number(sh, s, 0)
	case *syntax.ParenArithm:
		return w.arithmAt(sh, x.X, depth+1)
	case *syntax.UnaryArithm:
		v, ok := w.arithmAt(sh, x.X, depth+1)
		switch x.Op {
		case syntax.Plus:
			return v, ok
		case syntax.Minus:
			return -v, ok
		case syntax.Not:
			return truth(v == 0), ok
		case syntax.BitNegation:
			return ^v, ok
		case syntax.Inc, syntax.Dec:
			n := v + 1
			if x.Op == syntax.Dec {
				n = v - 1
			}
			w.assignArithm(sh, x.X, n, ok)
			if x.Post {
				return v, ok
			}
			return n, ok
		}
		return 0, false
	case *syntax.BinaryArithm:
		return w.binaryArithm(sh, x, depth)
	}
	return 0, false
}

func (w *walker) binaryArithm(sh *shell, x *syntax.BinaryArithm, depth int) (int64, bool) {
	if x.Op == syntax.TernQuest {
		c, ok := w.arithmAt(sh, x.X, depth+1)
		alt, isAlt := x.Y.(*syntax.BinaryArithm)
		if !isAlt {
			return 0, false
		}
		a, okA := w.arithmAt(sh, alt.X, depth+1)
		b, okB := w.arithmAt(sh, alt.Y, depth+1)
		if c != 0 {
			return a, ok && okA
		}
		return b, ok && okB
	}
	assign := false
	op := x.Op
	switch x.Op {
	case syntax.Assgn:
		v, ok := w.arithmAt(sh, x.Y, depth+1)
		w.assignArithm(sh, x.X, v, ok)
		return v, ok
	case syntax.AddAssgn:
		op, assign = syntax.Add, true
	case syntax.SubAssgn:
		op, assign = syntax.Sub, true
	case syntax.MulAssgn:
		op, assign = syntax.Mul, true
	case syntax.QuoAssgn, syntax.RemAssgn, syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn,
		syntax.ShlAssgn, syntax.ShrAssgn, syntax.AndBoolAssgn, syntax.OrBoolAssgn, syntax.XorBoolAssgn, syntax.PowAssgn:
		w.arithmAt(sh, x.Y, depth+1)
		w.assignArithm(sh, x.X, 0, false)
		return 0, false
	}
	a, okA := w.arithmAt(sh, x.X, depth+1)
	b, okB := w.arithmAt(sh, x.Y, depth+1)
	v, ok := calculate(op, a, b)
	ok = ok && okA && okB
	if assign {
		w.assignArithm(sh, x.X, v, ok)
	}
	return v, ok
}

func calculate(op syntax.BinAritOperator, a, b int64) (int64, bool) {
	switch op {
	case syntax.Add:
		return a + b, true
	case syntax.Sub:
		return a - b, true
	case syntax.Mul:
		return a * b, true
	case syntax.Quo:
		if b == 0 || b == -1 {
			return -a, b == -1
		}
		return a / b, true
	case syntax.Rem:
		if b == 0 || b == -1 {
			return 0, b == -1
		}
		return a % b, true
	case syntax.Eql:
		return truth(a == b), true
	case syntax.Neq:
		return truth(a != b), true
	case syntax.Gtr:
		return truth(a > b), true
	case syntax.Lss:
		return truth(a < b), true
	case syntax.Leq:
		return truth(a <= b), true
	case syntax.Geq:
		return truth(a >= b), true
	case syntax.And:
		return a & b, true
	case syntax.Or:
		return a | b, true
	case syntax.Xor:
		return a ^ b, true
	case syntax.AndArit:
		return truth(a != 0 && b != 0), true
	case syntax.OrArit:
		return truth(a != 0 || b != 0), true
	case syntax.Comma:
		return b, true
	}
	return 0, false
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// number reads a number or the variable that holds one.
func (w *walker) number(sh *shell, s string, depth int) (int64, bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, true
	}
	if v, err := strconv.ParseInt(s, 0, 64); err == nil && !strings.ContainsAny(s, "_oObB") {
		return v, true
	}
	if depth > 8 || !syntax.ValidName(s) {
		return 0, false
	}
	r := w.read(sh, s)
	if !r.known || !isStatic(r.joined("")) {
		return 0, false
	}
	return w.number(sh, r.joined(""), depth+1)
}

func (w *walker) assignArithm(sh *shell, x syntax.ArithmExpr, v int64, ok bool) {
	word, isWord := x.(*syntax.Word)
	if !isWord || !syntax.ValidName(word.Lit()) {
		return
	}
	name := word.Lit()
	value := strconv.FormatInt(v, 10)
	if !ok {
		value = w.mark(Part{Text: name, Kind: Variable})
	}
	sh.put(name, &variable{vals: []string{value}})
}

// forgetArithm makes the variables that an expression assigns unknown.
func (w *walker) forgetArithm(sh *shell, x syntax.ArithmExpr) {
	for range maxArithDepth {
		switch y := x.(type) {
		case *syntax.UnaryArithm:
			if y.Op == syntax.Inc || y.Op == syntax.Dec {
				w.assignArithm(sh, y.X, 0, false)
			}
			return
		case *syntax.BinaryArithm:
			if y.Op != syntax.Comma {
				w.assignArithm(sh, y.X, 0, false)
				return
			}
			w.forgetArithm(sh, y.Y)
			x = y.X
		default:
			return
		}
	}
}
