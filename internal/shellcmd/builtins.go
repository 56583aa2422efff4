package shellcmd

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// dispatch follows what a recorded command runs or changes.
func (w *walker) dispatch(sh *shell, inv *invocation, cmd *Command) {
	name := cmd.Name()
	if name == "" {
		// $SHELL -c '…' is a shell whichever it is.
		if p := inv.args[0].Parts; len(p) == 1 && p[0].Kind == Variable && (p[0].Text == "SHELL" || p[0].Text == "BASH") {
			w.runShellProgram(sh, inv, cmd, "sh")
			return
		}
		w.alternativesOfGlob(sh, inv, cmd)
		if w.located(sh, inv) {
			return
		}
		w.vanishing(sh, inv)
		sh.out.unknown(cmd)
		return
	}
	if w.files != nil && strings.IndexByte(inv.args[0].Value, '/') >= 0 {
		if target, ok := w.copiedFrom(w.path(sh, inv.args[0].raw)); ok && programName(target) != name {
			next := *inv
			next.args = append([]Word{w.word(target)}, inv.args[1:]...)
			next.args[0].Pos, next.args[0].End, next.external = inv.args[0].Pos, inv.args[0].End, true
			w.inNesting(nesting{layer: inv.args[0].Value}, func() { w.run(sh, &next) })
		}
	}
	if w.builtin(sh, inv, cmd, name) {
		return
	}
	known := w.program(name)
	if known.wrapper != nil {
		w.runWrapper(sh, inv, cmd, known.wrapper)
		return
	}
	if isShell(name) {
		w.runShellProgram(sh, inv, cmd, name)
		return
	}
	if w.runner(sh, inv, cmd, name) {
		return
	}
	if known.language != nil {
		w.runInterpreter(sh, inv, cmd, known.language)
		return
	}
	if strings.ContainsAny(inv.args[0].Value, `/`) && w.runScriptFile(sh, inv, cmd) {
		return
	}
	w.output(sh, inv, cmd, name)
}

// A program is what the tables say of a name.
type program struct {
	wrapper  *wrapper
	language *language
	console  *console
}

// maxPrograms bounds the names that are remembered.
const maxPrograms = 256

// program looks a name up once: a line can call it a hundred thousand times.
func (w *walker) program(name string) *program {
	if p, ok := w.programs[name]; ok {
		return p
	}
	p := &program{wrapperFor(name), interpreterFor(name), consoleFor(name)}
	if w.programs == nil {
		w.programs = map[string]*program{}
	}
	if len(w.programs) < maxPrograms {
		w.programs[name] = p
	}
	return p
}

// located runs $(which git) and $(command -v git) as the program they find.
func (w *walker) located(sh *shell, inv *invocation) bool {
	first := inv.args[0]
	if len(first.Parts) != 1 || len(first.Parts[0].From) != 1 {
		return false
	}
	by := first.Parts[0].From[0]
	switch by.Name() {
	case "which", "command", "type", "whence", "where":
	default:
		return false
	}
	name := by.Args[len(by.Args)-1]
	if len(by.Args) < 2 || !name.Static || strings.HasPrefix(name.Value, "-") {
		return false
	}
	args := append([]Word{name}, inv.args[1:]...)
	args[0].Pos, args[0].End, args[0].src = first.Pos, first.End, -1
	next := *inv
	next.args, next.external = args, true
	w.inNesting(nesting{layer: "$(" + by.Name() + ")"}, func() { w.run(sh, &next) })
	return true
}

// vanishing runs what remains when the unknown first word is empty, as in
// $SUDO git push.
func (w *walker) vanishing(sh *shell, inv *invocation) {
	first := inv.args[0]
	if !unknownWord(first) || len(inv.args) < 2 {
		return
	}
	next := &invocation{args: inv.args[1:], inline: inv.inline, redirs: inv.redirs}
	next.pos, next.end = inv.from(inv.args[1])
	w.inNesting(nesting{layer: "$" + first.Parts[0].Text, maybe: true}, func() { w.run(sh, next) })
}

// alternativesOfGlob treats a program written with globs as the shells and
// wrappers that it may be.
func (w *walker) alternativesOfGlob(sh *shell, inv *invocation, cmd *Command) {
	if !inv.args[0].Glob {
		return
	}
	for _, name := range []string{"bash", "sh", "zsh", "dash"} {
		if cmd.MayName(name) {
			w.runShellProgram(sh, inv, cmd, name)
			return
		}
	}
	if cmd.MayName("xargs") {
		w.runner(sh, inv, cmd, "xargs")
		return
	}
	for i := range wrappers {
		if cmd.MayName(wrappers[i].name) {
			w.runWrapper(sh, inv, cmd, &wrappers[i])
			return
		}
	}
}

// builtin runs a builtin of the shell, if name is one that matters here.
func (w *walker) builtin(sh *shell, inv *invocation, cmd *Command, name string) bool {
	args := inv.args[1:]
	switch name {
	case "hash":
		if len(args) == 3 && args[0].raw == "-p" {
			sh.setAlias(args[2].raw, quoteShell(args[1].raw))
		}
	case "exit", "return", "logout":
		sh.exited = true
	case ":", "true", "false", "test", "[", "shopt", "break", "continue", "wait", "ulimit", "umask", "bg", "fg", "history", "disown", "setopt", "unsetopt", "emulate", "zmodload", "autoload":
		if name == "setopt" && len(args) > 0 && strings.EqualFold(strings.ReplaceAll(args[0].Value, "_", ""), "shwordsplit") {
			sh.noSplit = false
		}
	case "cd", "chdir":
		w.changeDir(sh, args)
	case "pushd":
		w.pushDir(sh, args)
		sh.out.unknown(cmd)
	case "popd":
		w.popDir(sh, args)
		sh.out.unknown(cmd)
	case "pwd":
		sh.out.add(w.pwd(sh) + "\n")
	case "set":
		w.set(sh, args)
	case "shift":
		n := 1
		if len(args) > 0 {
			n = smallNumber(args[0].Value, 1)
		}
		if sh.params != nil && n <= len(sh.params.list) {
			sh.params = &params{sh.params.zero, sh.params.list[n:]}
		}
	case "unset":
		w.unset(sh, args)
	case "alias":
		for _, a := range args {
			if n, v, ok := strings.Cut(a.raw, "="); ok && n != "" {
				sh.setAlias(n, v)
			}
		}
	case "unalias":
		for _, a := range args {
			sh.setAlias(a.raw, "")
		}
	case "eval":
		w.eval(sh, inv)
	case "source", ".":
		w.source(sh, inv, cmd)
	case "trap":
		if len(args) > 0 && args[0].raw == "--" {
			args = args[1:]
		}
		if len(args) > 1 && args[0].raw != "-" && args[0].raw != "" && !strings.HasPrefix(args[0].raw, "-") {
			a := args[0]
			w.maybe(func() {
				w.layer("trap", func() { w.nestText(sh.fork(), w.literal(a.raw), a.src) })
			})
		}
	case "command", "builtin", "exec":
		w.inShellWrapper(sh, inv, cmd, name)
	case "read":
		w.readBuiltin(sh, args)
	case "mapfile", "readarray":
		w.mapfile(sh, args)
	case "printf":
		w.printf(sh, inv, cmd, args)
	case "getopts":
		if len(args) > 1 {
			sh.put(args[1].raw, &variable{vals: []string{w.mark(Part{Text: args[1].raw, Kind: Variable})}})
		}
	case "let":
		return true
	case "export", "declare", "typeset", "local", "readonly":
		// Reached through a wrapper (command export A=b) or from dash text.
		w.declareArgs(sh, name, args)
	case "coproc", "noglob", "nocorrect", "repeat", "-":
		if name == "repeat" && len(args) > 0 {
			args = args[1:] // zsh: the count
		}
		if len(args) > 0 {
			next := &invocation{args: args, inline: inv.inline, redirs: inv.redirs, pos: inv.pos, end: inv.end}
			w.layer(name, func() { w.run(sh, next) })
		}
	default:
		return false
	}
	return true
}

// inShellWrapper is command, builtin and exec: they run in the shell itself.
func (w *walker) inShellWrapper(sh *shell, inv *invocation, cmd *Command, name string) {
	args := inv.args[1:]
	i := 0
	for i < len(args) {
		a := args[i].raw
		if a == "--" {
			i++
			break
		}
		if len(a) < 2 || a[0] != '-' {
			break
		}
		switch name {
		case "command":
			if strings.ContainsAny(a, "vV") {
				sh.out.unknown(cmd)
				return // only asks where the command is
			}
		case "exec":
			if strings.HasSuffix(a, "a") {
				i++
			}
		}
		i++
	}
	if i >= len(args) {
		return
	}
	next := &invocation{args: args[i:], inline: inv.inline, redirs: inv.redirs, pos: inv.pos, end: inv.end, external: true}
	w.layer(name, func() { w.run(sh, next) })
}

func smallNumber(s string, def int) int {
	if !isDigits(s) || len(s) > 6 {
		return def
	}
	n := 0
	for _, c := range []byte(s) {
		n = n*10 + int(c-'0')
	}
	return n
}

func (w *walker) set(sh *shell, args []Word) {
	for i := 0; i < len(args); i++ {
		a := args[i].raw
		switch {
		case a == "--":
			sh.params = &params{zero: zero(sh.params), list: raws(w, args[i+1:])}
			return
		case a == "-o" || a == "+o":
			if i+1 < len(args) && args[i+1].raw == "allexport" {
				sh.allExport = a == "-o"
			}
			i++
		case len(a) > 1 && (a[0] == '-' || a[0] == '+'):
			if strings.IndexByte(a[1:], 'a') >= 0 {
				sh.allExport = a[0] == '-'
			}
			if a[len(a)-1] == 'o' {
				if i+1 < len(args) && args[i+1].raw == "allexport" {
					sh.allExport = a[0] == '-'
				}
				i++
			}
		default:
			sh.params = &params{zero: zero(sh.params), list: raws(w, args[i:])}
			return
		}
	}
}

func raws(w *walker, words []Word) []string {
	list := make([]string, len(words))
	for i, a := range words {
		list[i] = w.literal(a.raw)
	}
	return list
}

func (w *walker) unset(sh *shell, args []Word) {
	funcs := false
	for _, a := range args {
		switch a.raw {
		case "-f":
			funcs = true
			continue
		case "-v", "-n":
			continue
		}
		if !funcs {
			if sh.lookup(a.raw) != nil || !sh.definesFunction(a.raw) {
				sh.put(a.raw, &variable{})
				continue
			}
		}
		sh.define(a.raw, &function{gone: true})
	}
}

func (s *shell) definesFunction(name string) bool { return s.function(name) != nil }

func (w *walker) eval(sh *shell, inv *invocation) {
	args := inv.args[1:]
	if len(args) > 0 && args[0].raw == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	src := -1
	if len(args) == 1 {
		src = args[0].src
	}
	text := strings.Join(raws(w, args), " ")
	restore := w.inlineVars(sh, inv.inline)
	w.layer("eval", func() { w.nestText(sh, text, src) })
	restore()
}

// source is . and source: the text runs in this shell.
func (w *walker) source(sh *shell, inv *invocation, cmd *Command) {
	args := inv.args[1:]
	for len(args) > 1 && (args[0].raw == "--" || args[0].raw == "-p") {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	old := sh.params
	if len(args) > 1 {
		sh.params = &params{zero: zero(old), list: raws(w, args[1:])}
	}
	texts := w.scripts(sh, args[0].raw)
	w.layer("source", func() {
		for i, text := range texts {
			if i == 0 {
				w.nestText(sh, text, -1)
			} else {
				w.maybe(func() { w.nestText(sh.fork(), text, -1) })
			}
		}
	})
	sh.params = old
	if len(texts) == 0 {
		sh.out.unknown(cmd)
	}
}

// readBuiltin sets the variables of read from what is known of the input.
func (w *walker) readBuiltin(sh *shell, args []Word) {
	array := ""
	raw := false
	delim, whole := "\n", false // whole: read -d '' takes all of the input
	var names []string
	for i := 0; i < len(args); i++ {
		a := args[i].raw
		if len(names) == 0 && len(a) > 1 && a[0] == '-' {
			if a == "--" {
				continue
			}
			if at := strings.IndexByte(a, 'd'); at > 0 && strings.Trim(a[1:at], "rse") == "" {
				value := a[at+1:]
				if value == "" && i+1 < len(args) {
					i++
					value = args[i].raw
				}
				raw = raw || strings.Contains(a[:at], "r")
				delim, whole = value[:min(1, len(value))], value == ""
				continue
			}
			raw = raw || strings.Contains(a, "r")
			switch last := a[len(a)-1]; last {
			case 'a', 'A':
				if i+1 < len(args) {
					array = args[i+1].raw
				}
				i++
			case 'p', 'n', 'N', 't', 'u', 'i':
				i++
			}
			continue
		}
		// zsh: read name?prompt
		n, _, _ := strings.Cut(a, "?")
		names = append(names, n)
	}
	if sh.in == nil {
		for _, n := range names {
			sh.put(n, &variable{vals: []string{w.mark(Part{Text: n, Kind: Variable})}})
		}
		return
	}
	line, rest := *sh.in, ""
	if !whole {
		line, rest, _ = strings.Cut(*sh.in, delim)
	}
	// The next read of a loop gets the next line.
	sh.in = &rest
	if !raw {
		line = strings.ReplaceAll(line, `\`, "")
	}
	fields := splitBlank(line)
	if array != "" {
		sh.put(array, &variable{isArray: true, arr: fields})
		return
	}
	if len(names) == 0 {
		sh.put("REPLY", &variable{vals: []string{line}})
		return
	}
	for i, n := range names {
		v := ""
		if i < len(fields) {
			v = fields[i]
		}
		if i == len(names)-1 && i < len(fields) {
			v = lastFields(line, i)
		}
		if !syntax.ValidName(n) {
			continue
		}
		sh.put(n, &variable{vals: []string{v}})
	}
}

func splitBlank(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' })
}

// lastFields is the rest of a line after n fields.
func lastFields(s string, n int) string {
	s = strings.Trim(s, " \t")
	for range n {
		i := strings.IndexAny(s, " \t")
		if i < 0 {
			return ""
		}
		s = strings.TrimLeft(s[i:], " \t")
	}
	return s
}

func (w *walker) mapfile(sh *shell, args []Word) {
	name := "MAPFILE"
	trim := false
	for i := 0; i < len(args); i++ {
		a := args[i].raw
		if len(a) > 1 && a[0] == '-' {
			trim = trim || strings.Contains(a, "t")
			if strings.ContainsAny(a[len(a)-1:], "dnOsuCc") {
				i++
			}
			continue
		}
		name = a
	}
	v := &variable{isArray: true}
	if sh.in == nil {
		v.arr = []string{w.mark(Part{Text: name, Kind: Variable})}
	} else {
		for _, l := range strings.SplitAfter(*sh.in, "\n") {
			if l == "" {
				continue
			}
			if trim {
				l = strings.TrimSuffix(l, "\n")
			}
			v.arr = append(v.arr, l)
			if len(v.arr) >= maxFields {
				w.line.Limited = true
				break
			}
		}
	}
	sh.put(name, v)
}

// declare runs export, declare, local, readonly and typeset.
func (w *walker) declare(sh *shell, s *syntax.Stmt, c *syntax.DeclClause) {
	name := c.Variant.Value
	r := w.redirects(sh, s.Redirs)
	args := []Word{w.word(name)}
	args[0].Pos, args[0].End = w.span(c.Variant.Pos(), c.Variant.End())
	d := declaration{name: name}
	for _, a := range c.Args {
		if a.Name == nil {
			// An option, or a word that expands to one or to an assignment.
			for _, f := range w.fields(sh, a.Value) {
				args = append(args, f)
				w.declareWord(sh, &d, f.raw)
			}
			continue
		}
		pos, end := w.span(a.Pos(), a.End())
		if a.Naked {
			word := w.word(a.Name.Value)
			word.Pos, word.End = pos, end
			args = append(args, word)
			w.declareWord(sh, &d, a.Name.Value)
			continue
		}
		d.before(sh, a.Name.Value)
		if old := sh.direct(a.Name.Value); d.assoc && (old == nil || !old.assoc) {
			sh.put(a.Name.Value, &variable{isArray: true, assoc: true})
		}
		w.assign(sh, a, d.export())
		if d.nameref {
			if v := sh.direct(a.Name.Value); v != nil && len(v.vals) > 0 && syntax.ValidName(v.vals[0]) {
				sh.put(a.Name.Value, &variable{ref: v.vals[0]})
			}
		}
		text := a.Name.Value + "="
		if v := sh.lookup(a.Name.Value); v != nil && !v.isArray && len(v.vals) > 0 {
			text += v.vals[0]
		}
		word := w.word(text)
		word.Pos, word.End = pos, end
		args = append(args, word)
	}
	inv := &invocation{args: args, redirs: r.list}
	inv.pos, inv.end = w.span(c.Pos(), c.End())
	cmd := w.emit(sh, inv)
	r.done(w, sh, cmd)
}

// A declaration is the state of reading one export or declare.
type declaration struct {
	name               string
	exported, unexport bool
	functions, nameref bool
	global, assoc      bool
}

func (d *declaration) export() bool {
	return (d.name == "export" || d.exported) && !d.unexport
}

// before keeps what a local variable hides.
func (d *declaration) before(sh *shell, name string) {
	if sh.locals == nil || d.global || d.name == "export" || d.name == "readonly" {
		return
	}
	if _, ok := sh.locals[name]; !ok {
		sh.locals[name] = sh.direct(name)
	}
}

// declareWord takes an option, a bare name, or an assignment made by an
// expansion.
func (w *walker) declareWord(sh *shell, d *declaration, s string) {
	if len(s) > 1 && (s[0] == '-' || s[0] == '+') && s != "--" {
		on := s[0] == '-'
		for _, c := range s[1:] {
			switch c {
			case 'x':
				d.exported = on
			case 'n':
				d.unexport = d.name == "export"
				d.nameref = d.name != "export"
			case 'f', 'F':
				d.functions = true
			case 'g':
				d.global = true
			case 'A':
				d.assoc = on
			}
		}
		return
	}
	if d.functions {
		if f := sh.function(s); f != nil && d.export() {
			w.exported = true
			g := *f
			g.exported = true
			sh.define(s, &g)
		}
		return
	}
	name, value, has := strings.Cut(s, "=")
	if !syntax.ValidName(name) {
		return
	}
	d.before(sh, name)
	if has {
		sh.put(name, &variable{vals: []string{value}, exported: d.export() || sh.allExport})
		return
	}
	old := sh.lookup(name)
	switch {
	case d.assoc && (old == nil || !old.assoc):
		sh.put(name, &variable{isArray: true, assoc: true, exported: d.export()})
	case old != nil:
		v := *old
		v.vals = slices.Clone(old.vals)
		v.exported = (v.exported || d.export()) && !d.unexport
		sh.put(name, &v)
	case sh.locals != nil && d.name != "export" && d.name != "readonly":
		sh.put(name, &variable{})
	}
}

func (w *walker) declareArgs(sh *shell, name string, args []Word) {
	d := declaration{name: name}
	for _, a := range args {
		w.declareWord(sh, &d, w.literal(a.raw))
	}
}
