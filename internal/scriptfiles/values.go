package scriptfiles

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"sallyport/internal/slashpath"
)

// A program is one in another Language, read for the names of the files that it
// changes. Values are texts in which * stands for what is not known.
type Program struct {
	lang  Language
	toks  []codeToken
	vars  map[string][]string
	funcs map[string][]string // the parameters of its own functions
	alias map[string]string   // names that it gives to modules and functions
	argv  []string            // its arguments
	steps int                 // left to spend
	nest  int                 // of eval
	depth int                 // of programs in strings
}

// Anything stands in a value for what is not known.
const Anything = "*"

const (
	maxValues  = 16 // of one expression
	maxNesting = 100
	maxPathLen = 1000
)

var unknownValue = []string{Anything}

func isUnknown(values []string) bool {
	return len(values) == 0 || len(values) == 1 && values[0] == Anything
}

// Parse reads a program that is given argv. depth is that of the programs whose
// strings it stands in. ok is false where its strings do not end, so that little
// can be said of it.
func Parse(src string, lang Language, argv []string, depth int) (p *Program, ok bool) {
	toks, ok := codeTokens(src, lang)
	p = &Program{
		lang: lang, toks: toks, argv: argv, depth: depth, steps: 40*len(toks) + 10_000,
		vars: map[string][]string{}, funcs: map[string][]string{}, alias: map[string]string{},
	}
	p.declare()
	return p, ok
}

func (p *Program) is(i int, text string) bool {
	return i >= 0 && i < len(p.toks) && p.toks[i].kind == signToken && p.toks[i].text == text
}

func (p *Program) word(i int, names ...string) bool {
	return i >= 0 && i < len(p.toks) && p.toks[i].kind == nameToken && slices.Contains(names, p.toks[i].text)
}

// end is the token behind the bracket at i.
func (p *Program) end(i int) int {
	if m := p.toks[i].match; m > i {
		return m
	}
	return len(p.toks)
}

// member reports the sign between an object and its member.
func (p *Program) member(i int) bool {
	if i < 0 || i >= len(p.toks) || p.toks[i].kind != signToken {
		return false
	}
	switch p.toks[i].text {
	case "->", "::", "?.", "&.":
		return true
	case ".":
		return p.lang != Perl && p.lang != PHP
	case ":":
		return p.lang == Lua && i > 0 && p.toks[i-1].kind != stringToken
	}
	return false
}

// declare finds the functions of the program, and the names that it gives to
// modules.
func (p *Program) declare() {
	for i, t := range p.toks {
		if t.kind != nameToken {
			continue
		}
		switch {
		case (t.text == "def" || t.text == "function") && i+2 < len(p.toks) && p.toks[i+1].kind == nameToken && p.is(i+2, "("):
			p.funcs[p.toks[i+1].text] = p.parameters(i + 2)
		case p.is(i+1, "=") && p.is(i+2, "(") && p.is(p.end(i+2)+1, "=>"):
			p.funcs[t.text] = p.parameters(i + 2)
		case p.is(i+1, "=") && p.word(i+2, "function") && p.is(i+3, "("):
			p.funcs[t.text] = p.parameters(i + 3)
		case t.text == "as" && i > 0 && i+1 < len(p.toks) && p.toks[i-1].kind == nameToken && p.toks[i+1].kind == nameToken:
			p.alias[p.toks[i+1].text] = p.toks[i-1].text
		case p.is(i+1, "=") && p.word(i+2, "require", "__import__", "import_module") && p.is(i+3, "("):
			p.alias[t.text] = "require"
			if m := p.end(i + 3); p.member(m+1) && m+2 < len(p.toks) {
				p.alias[t.text] = p.toks[m+2].text
			}
		case p.is(i+1, "=") && i+4 < len(p.toks) && p.isModule(p.toks[i+2]) && p.member(i+3) && !p.is(i+5, "("):
			p.alias[t.text] = p.toks[i+4].text
		case t.text == "import" && i+2 < len(p.toks) && p.word(i+2, "from"):
			p.alias[p.toks[i+1].text] = "require"
		}
	}
}

func (p *Program) isModule(t codeToken) bool { return t.kind == nameToken && fileModules()[t.text] }

func (p *Program) parameters(open int) []string {
	var out []string
	for _, a := range p.split(open+1, p.end(open)) {
		if a.from < a.to && p.toks[a.from].kind == nameToken {
			out = append(out, p.toks[a.from].text)
		}
	}
	return out
}

// An argument is one of a call, from one token to before another.
type argument struct {
	name     string // of a keyword
	from, to int
}

// split parts tokens at their commas.
func (p *Program) split(from, to int) []argument {
	var out []argument
	start := from
	to = min(to, len(p.toks))
	if p.steps -= (to - from) / 8; p.steps < 0 {
		return nil
	}
	add := func(end int) {
		if start >= end {
			return
		}
		a := argument{from: start, to: end}
		if p.toks[start].kind == nameToken && start+1 < end && (p.is(start+1, "=") || p.is(start+1, ":") && p.lang != JavaScript && p.lang != Lua) {
			a.name, a.from = p.toks[start].text, start+2
			if a.from >= end {
				return // a name without a value
			}
		}
		out = append(out, a)
	}
	for i := from; i < to; i++ {
		switch {
		case p.is(i, "("), p.is(i, "["), p.is(i, "{"):
			i = p.end(i)
		case p.is(i, ","):
			add(i)
			start = i + 1
		}
	}
	add(to)
	return out
}

// list is the values of several expressions.
func (p *Program) list(from, to int) []string {
	var out []string
	for _, a := range p.split(from, to) {
		out = union(out, p.eval(a.from, a.to))
	}
	return out
}

func union(a, b []string) []string {
	out := a[:len(a):len(a)]
	for _, v := range b {
		if len(out) >= maxValues {
			return append(out[:maxValues-1:maxValues-1], Anything)
		}
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// cross joins every value of a with every one of b.
func (p *Program) cross(a, b []string, with func(a, b string) string) []string {
	var out []string
	for _, x := range a {
		for _, y := range b {
			if p.steps -= 2 + (len(x)+len(y))/64; p.steps < 0 {
				return unknownValue
			}
			v := with(x, y)
			if len(v) > maxPathLen {
				v = Anything
			}
			out = union(out, []string{strings.ReplaceAll(v, "**", Anything)})
		}
	}
	return out
}

func concat(a, b string) string { return a + b }

func joined(a, b string) string {
	if slashpath.IsAbs(b) || strings.HasPrefix(b, "~") || a == "" {
		return b
	}
	return strings.TrimRight(a, "/") + "/" + b
}

// eval is the values that an expression can have, as far as it is a text or a
// path, or a list of them.
func (p *Program) eval(from, to int) []string {
	to = min(to, len(p.toks))
	if p.nest++; p.nest > maxNesting {
		p.steps = -1
	}
	defer func() { p.nest-- }()
	var all, acc []string
	var with func(a, b string) string
	for i := from; i < to; {
		if p.steps--; p.steps < 0 {
			return unknownValue
		}
		t := &p.toks[i]
		if t.kind == signToken && i > from {
			switch t.text {
			case "+", "..":
				with = concat
			case ".":
				with = concat // of Perl and PHP: elsewhere it is a member's
			case "/":
				with = joined
			case "%":
				// A format: what it puts in is not known.
				return union(all, each(acc, strings.NewReplacer("%s", Anything, "%d", Anything).Replace))
			case "||", "??", "?", ":", ",", "&&", "=>":
				all, acc, with = union(all, acc), nil, nil
			default:
				return unknownValue
			}
			i++
			continue
		}
		if t.kind == nameToken {
			switch t.text {
			case "await", "new", "my", "our", "const", "let", "var", "return", "async":
				if !p.member(i-1) && !p.member(i+1) {
					i++
					continue
				}
			case "or", "and", "if", "else", "unless":
				all, acc, with = union(all, acc), nil, nil
				i++
				continue
			case "for", "in", "not", "is":
				return union(all, acc)
			}
		}
		values, next := p.operand(i, to)
		if with != nil && acc != nil {
			acc = p.cross(acc, values, with)
		} else {
			acc = union(acc, values)
		}
		with = nil
		i = max(next, i+1)
	}
	if all = union(all, acc); len(all) == 0 {
		return unknownValue
	}
	return all
}

// operand is the values of one term with the members and calls behind it.
func (p *Program) operand(i, to int) (values []string, next int) {
	values = unknownValue
	t := &p.toks[i]
	name, receiver := "", ""
	literal := false
	switch {
	case t.kind == stringToken:
		values, literal = p.text(t), true
		for i+1 < to && p.toks[i+1].kind == stringToken && p.lang == Python {
			i++
			values = p.cross(values, p.text(&p.toks[i]), concat)
		}
	case t.kind == nameToken:
		name = t.text
		values = p.variable(name)
	case p.is(i, "("), p.is(i, "["):
		m := p.end(i)
		values = p.list(i+1, m)
		i = m
	case p.is(i, "{"):
		i = p.end(i)
	}
	i++
	for i < to {
		switch {
		case p.member(i) && i+1 < to && p.toks[i+1].kind == nameToken:
			if receiver, name = name, p.toks[i+1].text; receiver == "" {
				receiver = "." // a literal
			}
			if !p.is(i+2, "(") {
				values = p.property(name, receiver, values)
			}
			i += 2
		case p.is(i, "(") && (name != "" || literal) && !p.toks[i].line:
			m := p.end(i)
			values = p.call(name, receiver, values, p.split(i+1, m), literal)
			name, literal = "()", false
			i = m + 1
		case p.is(i, "[") && !p.toks[i].line, p.is(i, "{") && p.lang == Perl && name != "":
			m := p.end(i)
			values = p.index(name, values, i+1, m)
			i = m + 1
		default:
			return values, i
		}
	}
	return values, i
}

// text is the values of a string.
func (p *Program) text(t *codeToken) []string {
	if t.words {
		return union(nil, strings.Fields(t.text))
	}
	if t.pieces == nil {
		return []string{t.text}
	}
	values := []string{""}
	for _, piece := range t.pieces {
		v := []string{piece.text}
		if piece.code {
			v = p.inner(piece.text)
		}
		values = p.cross(values, v, concat)
	}
	return values
}

// inner is the values of an expression that stands in a string.
func (p *Program) inner(code string) []string {
	if p.depth > 2 || len(code) > maxPathLen {
		return unknownValue
	}
	toks, ok := codeTokens(code, p.lang)
	if !ok {
		return unknownValue
	}
	p.steps -= len(toks)
	q := *p
	q.toks, q.depth = toks, p.depth+1
	values := q.eval(0, len(toks))
	p.steps = q.steps
	return values
}

func (p *Program) variable(name string) []string {
	if v, ok := p.vars[name]; ok {
		return v
	}
	switch name {
	case "__dirname", "__DIR__":
		return []string{"."}
	case "ARGV", "argv":
		return p.arguments()
	}
	return unknownValue
}

func (p *Program) arguments() []string {
	if len(p.argv) == 0 {
		return unknownValue
	}
	return union(nil, p.argv)
}

func (p *Program) property(name, receiver string, values []string) []string {
	switch name {
	case "argv", "args":
		return p.arguments()
	case "HOME", "USERPROFILE", "home":
		return []string{"~"}
	case "parent":
		return each(values, path.Dir)
	case "name":
		return each(values, path.Base)
	case "cwd", "pwd":
		return []string{"."}
	}
	return unknownValue
}

func each(values []string, f func(string) string) []string {
	if isUnknown(values) {
		return values
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}

// index is one element of a list.
func (p *Program) index(name string, values []string, from, to int) []string {
	if to-from == 1 {
		switch t := p.toks[from]; {
		case t.text == "HOME" || t.text == "USERPROFILE":
			return []string{"~"}
		case t.kind == numberToken && (name == "argv" || name == "ARGV" || name == "args"):
			n, _ := strconv.Atoi(t.text)
			if p.lang == Python || p.lang == JavaScript && name == "argv" || p.lang == PHP {
				n--
			}
			if n >= 0 && n < len(p.argv) {
				return []string{p.argv[n]}
			}
			return unknownValue
		}
	}
	if name == "Dir" {
		return p.list(from, to)
	}
	return values
}

// call is the values that a call returns.
func (p *Program) call(name, receiver string, on []string, args []argument, literal bool) []string {
	arg := func(i int) []string {
		if i < len(args) {
			return p.eval(args[i].from, args[i].to)
		}
		return unknownValue
	}
	path1 := func(start []string) []string {
		for i := range args {
			if start == nil {
				start = arg(i)
			} else {
				start = p.cross(start, arg(i), joined)
			}
		}
		return start
	}
	if params, ok := p.funcs[name]; ok && receiver == "" {
		for i := range min(len(params), len(args)) {
			p.vars[params[i]] = union(p.vars[params[i]], arg(i))
		}
		return unknownValue
	}
	switch name {
	case "join":
		if receiver == "" || receiver == "path" || receiver == "posix" || receiver == "File" || receiver == "Path" || receiver == "os" {
			return path1(nil)
		}
		if literal && len(args) == 1 { // '/'.join([…])
			from := args[0].from
			if p.is(from, "[") || p.is(from, "(") {
				return p.chain(p.split(from+1, p.end(from)), on[0])
			}
			return unknownValue
		}
		if len(args) == 1 && !isUnknown(on) { // […].join('/')
			return []string{strings.Join(on, arg(0)[0])}
		}
	case "joinpath", "catfile", "catdir", "child":
		if receiver == "" || isUnknown(on) {
			return path1(nil)
		}
		return path1(on)
	case "resolve", "normalize", "format", "absolute", "expanduser", "strip", "trim", "chomp", "as_posix", "toString", "rstrip", "to_s", "expand_path", "realpath", "cleanpath", "slice", "encode":
		if len(args) > 0 && (isUnknown(on) || p.isPathModule(receiver)) {
			return path1(nil)
		}
		return on
	case "Path", "PosixPath", "PurePath", "str", "String", "fspath", "expandvars", "abspath", "normpath", "Pathname", "file", "path", "URL", "fileURLToPath", "pathToFileURL", "sorted", "list", "set", "tuple", "reversed", "enumerate", "new", "bytes", "iter", "Array":
		if len(args) > 0 {
			if name == "new" && receiver != "Pathname" {
				return unknownValue
			}
			return path1(nil)
		}
		return on
	case "with_name":
		return p.cross(each(on, path.Dir), arg(0), joined)
	case "with_suffix":
		return p.cross(each(on, func(v string) string { return strings.TrimSuffix(v, path.Ext(v)) }), arg(0), concat)
	case "concat":
		return p.cross(on, arg(0), concat)
	case "dirname":
		return each(arg(0), path.Dir)
	case "basename":
		return each(arg(0), path.Base)
	case "home", "homedir":
		return []string{"~"}
	case "cwd", "getcwd", "pwd":
		return []string{"."}
	case "getenv", "get":
		if v := arg(0); len(v) == 1 && (v[0] == "HOME" || v[0] == "USERPROFILE") {
			return []string{"~"}
		}
	case "replace", "sub", "replaceAll":
		if len(args) == 2 && !isUnknown(on) {
			if from, to := arg(0), arg(1); len(from) == 1 && len(to) == 1 && from[0] != Anything {
				return each(on, func(v string) string { return strings.ReplaceAll(v, from[0], to[0]) })
			}
		}
	case "split":
		if len(args) == 0 && !isUnknown(on) {
			return union(nil, strings.Fields(strings.Join(on, " ")))
		}
	case "glob", "iglob", "globSync", "rglob", "globstar":
		if receiver != "" && !isUnknown(on) {
			return path1(on)
		}
		return path1(nil)
	case "iterdir", "children", "each_child":
		return p.cross(on, unknownValue, joined)
	case "shift":
		if receiver == "" || receiver == "ARGV" {
			return p.arguments()
		}
	}
	return unknownValue
}

func (p *Program) isPathModule(name string) bool {
	return name == "path" || name == "posix" || name == "os" || name == "File" || fileModules()[name]
}

// chain joins the items of a list with a text between them.
func (p *Program) chain(items []argument, between string) []string {
	var out []string
	for _, a := range items {
		v := p.eval(a.from, a.to)
		if out == nil {
			out = v
			continue
		}
		out = p.cross(out, v, func(a, b string) string { return a + between + b })
	}
	return out
}
