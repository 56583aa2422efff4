package shellcmd

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// A read is what a parameter holds.
type read struct {
	list   []string
	isList bool // "$@" and "${a[@]}": each element is a word
	star   bool // "$*"
	set    bool
	known  bool // whether it is set is known
}

func (r read) joined(sep string) string { return strings.Join(r.list, sep) }

// lookupValue is the value of a variable of the line or the environment.
func (w *walker) lookupValue(sh *shell, name string) (string, bool) {
	if v := sh.lookup(name); v != nil {
		if v.isArray {
			if len(v.arr) > 0 {
				return v.arr[0], true
			}
			return "", false
		}
		if len(v.vals) == 0 {
			return "", false
		}
		return v.vals[w.ctx.pick.of(name, len(v.vals))], true
	}
	if w.opt.Env != nil && !w.ctx.remote && !w.ctx.container {
		if s, ok := w.opt.Env(name); ok {
			s, _ = escapeSource(s)
			return s, true
		}
	}
	return "", false
}

// positional are the words of "$@".
func (w *walker) positional(sh *shell) []Word {
	if sh.params == nil {
		return []Word{w.word(w.varMark("@"))}
	}
	words := make([]Word, len(sh.params.list))
	for i, p := range sh.params.list {
		words[i] = w.word(p)
	}
	return words
}

// read looks up a parameter by name.
func (w *walker) read(sh *shell, name string) read {
	one := func(s string) read { return read{list: []string{s}, set: true, known: true} }
	unknown := func() read { return read{list: []string{w.varMark(name)}, set: true} }
	if len(name) == 1 {
		switch name[0] {
		case '@', '*':
			if sh.params == nil {
				return unknown()
			}
			return read{list: sh.params.list, isList: true, star: name == "*", set: len(sh.params.list) > 0, known: true}
		case '#':
			if sh.params == nil {
				return unknown()
			}
			return one(strconv.Itoa(len(sh.params.list)))
		case '?', '$', '!', '-':
			return unknown()
		case '_':
			return one(sh.last)
		}
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		switch {
		case n == 0:
			return one(zero(sh.params))
		case sh.params == nil:
			return unknown()
		case n <= len(sh.params.list):
			return one(sh.params.list[n-1])
		}
		return read{known: true}
	}
	if v := sh.lookup(name); v != nil {
		if v.isArray {
			if len(v.arr) == 0 {
				return read{known: true}
			}
			return one(v.arr[0])
		}
		if len(v.vals) == 0 {
			return read{known: true}
		}
		return one(v.vals[w.ctx.pick.of(name, len(v.vals))])
	}
	switch name {
	case "PWD":
		return one(w.pwd(sh))
	case "OLDPWD":
		return one(w.oldPwd(sh))
	case "IFS":
		return one(" \t\n")
	case "RANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME", "SRANDOM", "BASHPID":
		return read{list: []string{w.mark(Part{Text: name, Kind: Variable})}, set: true, known: true}
	case "BASH", "BASH_VERSION", "UID", "EUID", "PPID", "HOSTNAME", "OSTYPE", "MACHTYPE", "HOSTTYPE", "SHLVL", "FUNCNAME", "BASH_SOURCE":
		return unknown()
	}
	if s, ok := w.lookupValue(sh, name); ok {
		return one(s)
	}
	return unknown()
}

// index reads ${a[i]} and ${a[@]}.
func (w *walker) index(sh *shell, name string, idx syntax.ArithmExpr) read {
	v := sh.lookup(name)
	word, _ := idx.(*syntax.Word)
	if word != nil {
		if s := word.Lit(); s == "@" || s == "*" {
			r := read{isList: true, star: s == "*"}
			switch {
			case v == nil:
				return read{list: []string{w.varMark(name)}, set: true}
			case v.isArray:
				r.list = v.arr
			case len(v.vals) > 0:
				r.list = v.vals[w.ctx.pick.of(name, len(v.vals)):][:1]
			}
			r.set, r.known = len(r.list) > 0, true
			return r
		}
	}
	if v != nil && v.assoc {
		key := w.elementKey(sh, v, idx)
		if s, ok := w.element(sh, v, name, key); ok {
			return read{list: []string{s}, set: true, known: true}
		}
		return read{list: []string{w.mark(Part{Text: name, Kind: Variable})}, set: true}
	}
	n, ok := w.arithm(sh, idx)
	if v == nil || !ok {
		return read{list: []string{w.mark(Part{Text: name, Kind: Variable})}, set: true}
	}
	list := v.arr
	if !v.isArray && len(v.vals) > 0 {
		list = v.vals[:1]
	}
	if n < 0 {
		n += int64(len(list))
	}
	if n < 0 || n >= int64(len(list)) {
		if s, ok := w.element(sh, v, name, strconv.FormatInt(n, 10)); ok {
			return read{list: []string{s}, set: true, known: true}
		}
		return read{known: true}
	}
	return read{list: list[n : n+1], set: true, known: true}
}

// param adds the expansion of a parameter.
func (e *expander) param(p *syntax.ParamExp, quoted bool) {
	w, sh := e.w, e.sh
	unknown := func(name string) { e.expansion(w.mark(Part{Text: name, Kind: Variable}), quoted) }
	if p.Param == nil || p.Flags != nil || p.IsSet || p.Width || len(p.Modifiers) > 0 {
		// zsh forms: what stands within may still run something.
		if p.NestedParam != nil {
			e2 := &expander{w: w, sh: sh}
			e2.part(p.NestedParam, true)
		}
		name := ""
		if p.Param != nil {
			name = p.Param.Value
		}
		unknown(name)
		return
	}
	name := p.Param.Value
	var r read
	switch {
	case p.Names != 0:
		unknown(name)
		return
	case p.Index != nil:
		r = w.index(sh, name, p.Index)
		if p.Excl {
			unknown(name) // the keys of an array
			return
		}
	default:
		r = w.read(sh, name)
	}
	if p.Excl {
		target := r.joined(" ")
		if !r.set || !isStatic(target) || !syntax.ValidName(target) {
			if _, err := strconv.Atoi(target); err != nil {
				unknown(name)
				return
			}
		}
		r = w.read(sh, target)
	}
	if p.Length {
		if r.isList && r.known {
			e.expansion(strconv.Itoa(len(r.list)), quoted)
		} else if s := r.joined(" "); isStatic(s) && !r.isList {
			e.expansion(strconv.Itoa(utf8.RuneCountInString(s)), quoted)
		} else {
			unknown(name)
		}
		return
	}
	if p.Slice != nil {
		r = w.slice(sh, name, r, p.Slice)
	}
	if p.Repl != nil {
		orig, with := w.pattern(sh, p.Repl.Orig), w.value(sh, p.Repl.With)
		r = r.each(func(s string) string {
			if !isStatic(s) {
				return w.mark(Part{Text: name, Kind: Variable})
			}
			out, ok := w.replacePattern(s, orig, with, p.Repl.All)
			if !ok {
				return w.mark(Part{Text: name, Kind: Variable})
			}
			return out
		})
	}
	if p.Exp != nil {
		var done bool
		if r, done = e.operator(name, r, p.Exp, quoted); done {
			return
		}
	}
	e.read(r, quoted)
}

// each maps the elements of a read.
func (r read) each(f func(string) string) read {
	list := make([]string, len(r.list))
	for i, s := range r.list {
		list[i] = f(s)
	}
	r.list = list
	return r
}

// read adds what a parameter holds.
func (e *expander) read(r read, quoted bool) {
	switch {
	case !r.isList:
		e.expansion(r.joined(" "), quoted)
	case r.star && quoted:
		sep := e.w.ifs(e.sh)
		if len(sep) > 1 {
			sep = sep[:1]
		}
		e.expansion(r.joined(sep), true)
	default:
		for i, s := range r.list {
			if i > 0 {
				if e.split {
					e.flush()
				} else {
					e.lit(" ")
				}
			}
			e.expansion(s, quoted)
			if quoted {
				e.quoted = true
			}
		}
	}
}

// operator applies ${a:-b} and the like. It reports true when it has added the
// expansion itself.
func (e *expander) operator(name string, r read, x *syntax.Expansion, quoted bool) (read, bool) {
	w, sh := e.w, e.sh
	empty := !r.set || r.joined("") == ""
	unknown := func() read { return read{list: []string{w.mark(Part{Text: name, Kind: Variable})}, set: true} }
	word := func() {
		if x.Word == nil {
			if quoted {
				e.lit("")
			}
			return
		}
		if quoted {
			e.quoted = true
			for _, p := range x.Word.Parts {
				e.part(p, true)
			}
			return
		}
		// Within an unquoted ${…} literal blanks split as well.
		for _, p := range x.Word.Parts {
			if lit, ok := p.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '\\') < 0 {
				e.expansion(lit.Value, false)
			} else {
				e.part(p, false)
			}
		}
	}
	switch x.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		orNull := x.Op == syntax.DefaultUnsetOrNull || x.Op == syntax.AssignUnsetOrNull || x.Op == syntax.ErrorUnsetOrNull
		// A variable that neither the line nor the environment sets is most
		// likely unset: then the default is what the command gets.
		use := !r.known || !r.set || (orNull && empty)
		if !use {
			return r, false
		}
		if x.Op == syntax.ErrorUnset || x.Op == syntax.ErrorUnsetOrNull {
			w.value(sh, x.Word)
			return r, false
		}
		if x.Op == syntax.AssignUnset || x.Op == syntax.AssignUnsetOrNull {
			if syntax.ValidName(name) {
				sh.put(name, &variable{vals: []string{w.value(sh, x.Word)}})
			}
		}
		word()
		return r, true
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if r.known && (!r.set || (x.Op == syntax.AlternateUnsetOrNull && empty)) {
			return read{}, false
		}
		// Whether it is set may not be known: the word is the richer guess.
		word()
		return r, true
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		pat := w.pattern(sh, x.Word)
		ok := true
		r = r.each(func(s string) string {
			out, fine := w.trimPattern(s, pat, x.Op)
			ok = ok && fine
			return out
		})
		if !ok {
			return unknown(), false
		}
		return r, false
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		if x.Word != nil || !isStatic(r.joined("")) {
			w.value(sh, x.Word)
			return unknown(), false
		}
		return r.each(func(s string) string {
			n := len(s)
			if x.Op == syntax.UpperFirst || x.Op == syntax.LowerFirst {
				_, n = utf8.DecodeRuneInString(s)
			}
			if x.Op == syntax.UpperFirst || x.Op == syntax.UpperAll {
				return strings.ToUpper(s[:n]) + s[n:]
			}
			return strings.ToLower(s[:n]) + s[n:]
		}), false
	case syntax.OtherParamOps:
		if !isStatic(r.joined("")) {
			return unknown(), false
		}
		switch x.Word.Lit() {
		case "U":
			return r.each(strings.ToUpper), false
		case "L":
			return r.each(strings.ToLower), false
		case "u":
			return r.each(func(s string) string {
				_, n := utf8.DecodeRuneInString(s)
				return strings.ToUpper(s[:n]) + s[n:]
			}), false
		case "Q":
			return r.each(func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }), false
		case "E":
			return r.each(ansiC), false
		case "P":
			return r.each(ansiC), false
		}
		return unknown(), false
	}
	w.value(sh, x.Word)
	return unknown(), false
}

// slice is ${a:offset:length}.
func (w *walker) slice(sh *shell, name string, r read, s *syntax.Slice) read {
	unknown := read{list: []string{w.mark(Part{Text: name, Kind: Variable})}, set: true}
	off, ok := int64(0), true
	if s.Offset != nil {
		off, ok = w.arithm(sh, s.Offset)
	}
	length, hasLength := int64(0), s.Length != nil
	ok2 := true
	if hasLength {
		length, ok2 = w.arithm(sh, s.Length)
	}
	if !ok || !ok2 || !r.known {
		return unknown
	}
	if r.isList {
		list := r.list
		if name == "@" || name == "*" {
			list = append([]string{zero(sh.params)}, list...)
		}
		lo, hi := bounds(off, length, hasLength, len(list))
		if (name == "@" || name == "*") && off == 0 && !hasLength {
			lo = 0
		}
		r.list = list[lo:hi]
		return r
	}
	v := r.joined("")
	if !isStatic(v) {
		return unknown
	}
	runes := []rune(v)
	lo, hi := bounds(off, length, hasLength, len(runes))
	return read{list: []string{string(runes[lo:hi])}, set: true, known: true}
}

func bounds(off, length int64, hasLength bool, n int) (int, int) {
	if off < 0 {
		off += int64(n)
	}
	if off < 0 || off > int64(n) {
		return n, n
	}
	hi := int64(n)
	if hasLength {
		if length < 0 {
			hi += length
		} else if length < hi-off {
			hi = off + length
		}
	}
	return int(off), int(max(hi, off))
}
