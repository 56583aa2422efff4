package scriptfiles

import (
	"slices"
	"strings"
	"sync"

	"sallyport/internal/slashpath"
)

// An Effect is what a program does to a file.
type Effect int

// The effects.
const (
	Writes Effect = iota // makes or changes it
	Deletes
	Modes // changes its mode or owner
	Moves // takes it away to another name
)

// A Change is one of a file, or of the files that its name may stand for.
type Change struct {
	Names  []string // patterns: * is what is not known
	Effect Effect
	Tree   bool // everything below it too
}

// fileModules are the objects whose functions work on files by their name; a
// method of the same name on another object is its own.
var fileModules = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"os": true, "io": true, "shutil": true, "codecs": true, "gzip": true, "bz2": true, "lzma": true, "tarfile": true, "zipfile": true, "path": true,
		"fs": true, "fsp": true, "fse": true, "fsPromises": true, "fsExtra": true, "promises": true, "File": true, "IO": true, "FileUtils": true,
		"Deno": true, "Bun": true, "file": true, "POSIX": true, "require": true, "Dir": true, "builtins": true,
	}
})

// A writer is a function that changes files.
type writer struct {
	args   []int // the arguments that name them; nil: all
	effect Effect
	tree   bool
	into   bool // the last may be a directory, in which the file keeps its name
	// common names are functions of a module, or stand alone; other objects have
	// methods of that name.
	common bool
}

var writers = sync.OnceValue(func() map[string]writer {
	writers := map[string]writer{}
	add := func(w writer, names ...string) {
		for _, name := range names {
			writers[name] = w
		}
	}
	first, second := []int{0}, []int{1}
	add(writer{args: first}, "writeFile", "writeFileSync", "appendFile", "appendFileSync", "createWriteStream", "truncateSync", "writeTextFile",
		"writeTextFileSync", "file_put_contents", "write_file", "append_file", "outputFile", "outputFileSync", "outputJson", "outputJsonSync", "writeJson", "writeJsonSync",
		"writeJSON", "utimesSync", "mkfifo", "binwrite", "ensureFile")
	add(writer{args: first, common: true}, "truncate", "write", "touch", "create", "utime", "sink")
	add(writer{args: first, tree: true}, "extractall")
	add(writer{args: second}, "writeLines", "saveRDS", "write_json", "urlretrieve", "unpack_archive")
	add(writer{args: first, effect: Deletes}, "unlinkSync")
	add(writer{effect: Deletes}, "unlink")
	add(writer{args: first, effect: Deletes, tree: true}, "rmSync", "rmdirSync", "rmtree", "removeSync", "emptyDirSync", "emptyDir", "rimraf", "removedirs")
	add(writer{effect: Deletes, tree: true}, "remove_tree", "rm_rf", "rm_r", "rm_f", "remove_entry", "remove_dir")
	add(writer{effect: Deletes, tree: true, common: true}, "remove", "rm", "delete", "rmdir", "removeRecursive")
	add(writer{effect: Modes}, "chmodSync", "chownSync", "lchmod", "chmod_R", "chown_R", "setxattr")
	add(writer{effect: Modes, common: true}, "chmod", "chown")
	add(writer{args: second, into: true}, "copyfile", "copy2", "copyFile", "copyFileSync", "copySync")
	add(writer{args: second, tree: true}, "copytree", "cpSync", "dircopy", "rcopy")
	add(writer{args: second, into: true, tree: true}, "cp_r")
	add(writer{args: second, tree: true}, "symlinkSync", "linkSync", "ln_s", "ln_sf")
	add(writer{args: second, into: true, common: true}, "copy", "cp", "install")
	add(writer{args: second, tree: true, common: true}, "symlink", "link", "ln")
	add(writer{args: []int{0, 1}, effect: Moves, into: true, tree: true}, "renameSync", "renames", "moveSync")
	add(writer{args: []int{0, 1}, effect: Moves, into: true, tree: true, common: true}, "rename", "move", "mv")
	add(writer{args: []int{0, 1}, effect: Moves, tree: true, common: true}, "replace")
	return writers
})

// pathMethods change the file whose path they are called on.
var pathMethods = sync.OnceValue(func() map[string]writer {
	return map[string]writer{
		"write_text": {}, "write_bytes": {}, "spew": {}, "spurt": {}, "spew_utf8": {}, "hardlink_to": {tree: true}, "symlink_to": {tree: true},
		"write": {common: true}, "writer": {common: true}, "binwrite": {common: true}, "touch": {common: true}, "truncate": {common: true},
		"unlink": {effect: Deletes}, "rmtree": {effect: Deletes, tree: true}, "rmdir": {effect: Deletes, tree: true, common: true},
		"delete": {effect: Deletes, common: true}, "remove_tree": {effect: Deletes, tree: true},
		"chmod":  {effect: Modes, common: true},
		"rename": {effect: Moves, tree: true, common: true}, "replace": {effect: Moves, tree: true, common: true}, "move": {effect: Moves, tree: true, common: true},
	}
})

// Changes are the files that the program changes, as far as it names them.
func (p *Program) Changes() []Change {
	var out []Change
	for pass := range 2 {
		out = nil
		for i := range p.toks {
			p.assigns(i, pass == 0)
			out = append(out, p.writesAt(i)...)
		}
	}
	return out
}

// assigns follows an assignment, a loop or a block that gets its values.
func (p *Program) assigns(i int, early bool) {
	t := &p.toks[i]
	if t.kind == nameToken && t.text == "for" || t.text == "foreach" && t.kind == nameToken {
		p.loop(i)
		return
	}
	if t.kind == nameToken && p.is(i+1, "(") && (p.member(i - 1)) {
		switch t.text {
		case "each", "forEach", "map", "flatMap", "filter", "find", "some", "every":
			p.block(i)
		}
		return
	}
	if t.kind == nameToken && p.member(i-1) && t.text == "each" {
		p.block(i)
		return
	}
	if t.kind != signToken || i == 0 || p.toks[i-1].kind != nameToken || p.member(i-2) {
		return
	}
	switch t.text {
	case "=", ":=", "||=", "??=", "+=", ".=":
	default:
		return
	}
	if t.text == "=" && t.open >= 0 && p.is(t.open, "(") && t.open > 0 && p.toks[t.open-1].kind == nameToken && !p.word(t.open-1, "if", "while", "my", "for") {
		return // a keyword argument
	}
	to := p.statementEnd(i + 1)
	names := []string{p.toks[i-1].text}
	at := i - 1
	for p.is(at-1, ",") && at >= 2 && p.toks[at-2].kind == nameToken && len(names) < maxValues {
		names = append([]string{p.toks[at-2].text}, names...)
		at -= 2
	}
	right := p.split(i+1, to)
	for k, name := range names {
		var values []string
		switch {
		case len(names) > 1 && len(right) == len(names):
			values = p.eval(right[k].from, right[k].to)
		case len(names) > 1:
			values = unknownValue
		case len(right) > 0 && p.lang == JavaScript:
			values = p.eval(right[0].from, right[0].to)
		default:
			values = p.list(i+1, to)
		}
		first := at
		for first > 0 && !p.toks[first].line && p.word(first-1, "const", "let", "var", "my", "our", "local") {
			first--
		}
		switch old, known := p.vars[name]; {
		case t.text == "+=" || t.text == ".=":
			values = p.cross(p.variable(name), values, concat)
		case known && (early || p.toks[first].open >= 0 || p.toks[first].line && p.toks[first].indent || t.text[0] != '='):
			values = union(old, values) // in a branch: the other one counts too
		}
		p.vars[name] = values
	}
}

// statementEnd is the token behind an expression that begins at from.
func (p *Program) statementEnd(from int) int {
	for i := from; i < len(p.toks); i++ {
		if p.steps--; p.steps < 0 {
			return i
		}
		t := &p.toks[i]
		if i > from && t.line && !(t.kind == signToken && strings.ContainsAny(t.text[:1], ".+/|&?:-)]}")) && !(p.toks[i-1].kind == signToken && strings.ContainsAny(p.toks[i-1].text, "=+.,(|&?:\\/")) {
			return i
		}
		if t.kind != signToken {
			continue
		}
		switch t.text {
		case "(", "[", "{":
			i = p.end(i)
		case ")", "]", "}", ";":
			return i
		}
	}
	return len(p.toks)
}

// loop binds the variable of a for to the elements of its list.
func (p *Program) loop(i int) {
	j := i + 1
	to := p.statementEnd(j)
	if p.is(j, "(") && p.lang == JavaScript {
		j, to = j+1, p.end(j)
	}
	for p.word(j, "const", "let", "var", "my", "our") {
		j++
	}
	var names []string
	for ; j < to && (p.toks[j].kind == nameToken && !p.word(j, "in", "of") || p.is(j, ",") || p.is(j, "[")); j++ {
		if p.toks[j].kind == nameToken {
			names = append(names, p.toks[j].text)
		}
	}
	switch {
	case len(names) == 0:
		return
	case p.word(j, "in", "of"):
		j++
	case p.lang != Perl:
		return
	}
	for end := j; end < to; end++ {
		if p.is(end, ":") || p.is(end, "{") && end > j || p.word(end, "do") {
			to = end
			break
		}
		if p.is(end, "(") || p.is(end, "[") {
			end = p.end(end)
		}
	}
	p.vars[names[len(names)-1]] = p.eval(j, to)
}

// block binds the parameter of a function that is called with each element.
func (p *Program) block(i int) {
	values := p.eval(p.termStart(i-1), i-1)
	j := i + 1
	for j < len(p.toks) && j < i+5 {
		if p.toks[j].kind == nameToken && !p.word(j, "do", "function", "async") {
			p.vars[p.toks[j].text] = union(nil, values)
			return
		}
		j++
	}
}

// termStart is the first token of the term that ends before the token at i.
func (p *Program) termStart(i int) int {
	for i > 0 && p.steps > 0 {
		p.steps--
		j := i - 1
		switch t := p.toks[j]; {
		case t.kind == signToken && (t.text == ")" || t.text == "]"):
			if t.match < 0 {
				return i
			}
			i = t.match
			if i > 0 && p.toks[i-1].kind == nameToken && !p.toks[i].line {
				i--
			} else if i > 0 && p.is(i-1, ")") {
				continue
			}
		case t.kind == nameToken || t.kind == stringToken:
			i = j
		default:
			return i
		}
		if !p.member(i - 1) {
			return i
		}
		i--
	}
	return i
}

// arguments of the call whose name stands at i, with or without parentheses.
func (p *Program) callArgs(i int) ([]argument, bool) {
	if p.is(i+1, "(") {
		return p.split(i+2, p.end(i+1)), true
	}
	if p.lang != Ruby && p.lang != Perl && p.lang != Lua || i+1 >= len(p.toks) || p.toks[i+1].line || p.toks[i+1].kind == signToken {
		return nil, false
	}
	to := p.statementEnd(i + 1)
	for j := i + 1; j < to; j++ {
		if p.word(j, "or", "and", "if", "unless", "do", "for", "foreach") || p.is(j, "||") || p.is(j, "{") {
			to = j
		} else if p.is(j, "(") {
			j = p.end(j)
		}
	}
	return p.split(i+1, to), true
}

// writesAt are the files that the call at token i changes.
func (p *Program) writesAt(i int) []Change {
	t := &p.toks[i]
	if t.kind != nameToken || p.word(i-1, "def", "function", "sub") {
		return nil
	}
	name := t.text
	method := p.member(i - 1)
	if other, ok := p.alias[name]; ok && !method {
		name = other
	}
	w, known := writers()[name]
	_, on := pathMethods()[name]
	if !known && !on && !p.is(i+1, "(") && name != "open" && name != "sysopen" && name != "new" {
		return nil
	}
	args, called := p.callArgs(i)
	if !called {
		if known && !w.common && name != "unlink" && !method && !p.is(i+1, "=") {
			return []Change{{Names: unknownValue, Effect: w.effect}} // handed on under another name
		}
		return nil
	}
	receiver := ""
	if method {
		switch j := i - 2; {
		case j < 0:
		case p.toks[j].kind == nameToken:
			receiver = p.toks[j].text
		case p.is(j, ")") && p.toks[j].match > 0 && p.toks[p.toks[j].match-1].kind == nameToken:
			receiver = p.toks[p.toks[j].match-1].text
		}
		if other, ok := p.alias[receiver]; ok {
			receiver = other
		}
		if receiver == "__import__" || receiver == "import_module" {
			receiver = "require"
		}
	}
	module := !method || fileModules()[receiver]
	if name == "open" || name == "fopen" || name == "openSync" || name == "sysopen" || module && name == "new" && receiver == "File" || name == "ZipFile" || name == "gzopen" || name == "FileIO" {
		return p.opens(i, name, module, method, args)
	}
	if name == "input" && receiver == "fileinput" {
		for _, a := range args {
			if a.name == "inplace" && len(args) > 0 {
				return []Change{{Names: p.eval(args[0].from, args[0].to)}}
			}
		}
	}
	if m, ok := pathMethods()[name]; ok && !module {
		on := p.eval(p.termStart(i-1), i-1)
		positional := slices.DeleteFunc(slices.Clone(args), func(a argument) bool { return a.name != "" })
		switch {
		case m.effect == Moves && (len(positional) != 1 || isUnknown(on)):
			if !known || w.common {
				return nil
			}
		case m.common && isUnknown(on):
			return nil
		case name == "unlink" && len(positional) > 0:
		default:
			out := []Change{{on, m.effect, m.tree}}
			if m.effect == Moves {
				out = append(out, Change{p.eval(positional[0].from, positional[0].to), Writes, true})
			}
			return out
		}
	}
	if !known || w.common && !module {
		if len(args) > 1 && !p.harmless(i) && !p.isPathModule(receiver) {
			// Another name for open: its second argument says so.
			if a := args[1]; a.to == a.from+1 && p.toks[a.from].kind == stringToken && writeMode(p.toks[a.from].text) {
				return []Change{{Names: p.eval(args[0].from, args[0].to)}}
			}
		}
		return nil
	}
	value := func(k int) ([]string, bool) {
		at := 0
		for _, a := range args {
			if a.name != "" {
				if k == 0 && (a.name == "src" || a.name == "path" || a.name == "file") || k == 1 && (a.name == "dst" || a.name == "dest" || a.name == "con" || a.name == "filename") {
					return p.eval(a.from, a.to), true
				}
				continue
			}
			if at == k {
				return p.eval(a.from, a.to), true
			}
			at++
		}
		return nil, false
	}
	var out []Change
	indices := w.args
	if indices == nil {
		for k := range args {
			indices = append(indices, k)
		}
	}
	for k, n := range indices {
		values, ok := value(n)
		if !ok {
			continue
		}
		e := w.effect
		if e == Moves && k > 0 {
			e = Writes
		}
		if w.effect == Modes && isUnknown(values) {
			continue // the mode
		}
		if w.into && n == 1 {
			if from, ok := value(0); ok && !isUnknown(from) {
				out = append(out, Change{Names: p.cross(values, each(from, slashpath.Base), joined)})
			}
		}
		out = append(out, Change{values, e, w.tree})
	}
	return out
}

// writeMode reports a mode with which a file is opened for writing.
func writeMode(s string) bool {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 12 {
		return false
	}
	mode, _, _ := strings.Cut(s, ":")
	return mode != "" && strings.Trim(mode, "rwaxbtU+c><s") == "" && strings.ContainsAny(mode, "wax+>c")
}

// opens is the file that a call opens for writing.
func (p *Program) opens(i int, name string, module, method bool, args []argument) []Change {
	var file, mode *argument
	var positional []*argument
	for k := range args {
		switch a := &args[k]; a.name {
		case "":
			positional = append(positional, a)
		case "mode", "flags", "open":
			mode = a
		case "file", "path", "name":
			file = a
		}
	}
	at := func(k int) *argument {
		if k < len(positional) {
			return positional[k]
		}
		return nil
	}
	switch {
	case p.lang == Perl && !method:
		return p.perlOpens(name, positional)
	case method && !module:
		// A path's own open takes the mode alone.
		if mode == nil {
			mode = at(0)
		}
		if mode == nil || !p.opensToWrite(mode) {
			return nil
		}
		on := p.eval(p.termStart(i-1), i-1)
		if isUnknown(on) && at(1) != nil {
			on = p.eval(at(0).from, at(0).to)
		}
		return []Change{{Names: on}}
	}
	if file == nil {
		file = at(0)
	}
	if mode == nil {
		mode = at(1)
	}
	if file == nil || mode == nil || !p.opensToWrite(mode) {
		return nil
	}
	return []Change{{Names: p.eval(file.from, file.to)}}
}

// opensToWrite reports a mode that is not one for reading only.
func (p *Program) opensToWrite(a *argument) bool {
	reads := false
	for j := a.from; j < a.to; j++ {
		switch t := p.toks[j]; t.kind {
		case stringToken:
			if writeMode(t.text) || t.text == "write" || t.text == "append" {
				return true
			}
			reads = true
		case nameToken:
			switch {
			case strings.Contains(t.text, "WRONLY"), strings.Contains(t.text, "RDWR"), strings.Contains(t.text, "CREAT"), strings.Contains(t.text, "TRUNC"), strings.Contains(t.text, "APPEND"):
				return true
			case strings.Contains(t.text, "RDONLY"), t.text == "encoding", t.text == "read":
				reads = true
			case (t.text == "write" || t.text == "append" || t.text == "truncate" || t.text == "create") && p.word(j+2, "true"):
				return true
			}
		}
	}
	if reads {
		return false
	}
	values := p.eval(a.from, a.to)
	return isUnknown(values) && p.toks[a.from].kind == nameToken && !p.is(a.from+1, "=>") && !p.is(a.from, "{") || slices.ContainsFunc(values, writeMode)
}

// perlOpens reads Perl's open: with the mode before the name, or in front of it.
func (p *Program) perlOpens(name string, args []*argument) []Change {
	if len(args) < 2 {
		return nil
	}
	if name == "sysopen" {
		if len(args) > 2 && p.opensToWrite(args[2]) {
			return []Change{{Names: p.eval(args[1].from, args[1].to)}}
		}
		return nil
	}
	var out []Change
	for _, mode := range p.eval(args[1].from, args[1].to) {
		sign := strings.TrimLeft(mode, " ")
		if len(args) > 2 {
			if strings.ContainsAny(sign, ">+") || sign == Anything {
				out = append(out, Change{Names: p.eval(args[2].from, args[2].to)})
			}
			continue
		}
		if rest := strings.TrimLeft(sign, "+<> "); strings.ContainsAny(sign[:len(sign)-len(rest)], ">+") {
			out = append(out, Change{Names: []string{rest}})
		}
	}
	return out
}
