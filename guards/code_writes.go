package guards

import (
	"slices"
	"strings"
)

// A codeWrite is a file that a program changes.
type codeWrite struct {
	values []string // patterns
	effect effect
	tree   bool
}

// fileModules are the objects whose functions work on files by their name; a
// method of the same name on another object is its own.
var fileModules = map[string]bool{
	"os": true, "io": true, "shutil": true, "codecs": true, "gzip": true, "bz2": true, "lzma": true, "tarfile": true, "zipfile": true, "path": true,
	"fs": true, "fsp": true, "fse": true, "fsPromises": true, "fsExtra": true, "promises": true, "File": true, "IO": true, "FileUtils": true,
	"Deno": true, "Bun": true, "file": true, "POSIX": true, "require": true, "Dir": true, "builtins": true,
}

// A writer is a function that changes files.
type writer struct {
	args   []int // the arguments that name them; nil: all
	effect effect
	tree   bool
	into   bool // the last may be a directory, in which the file keeps its name
	// common names are functions of a module, or stand alone; other objects have
	// methods of that name.
	common bool
}

var writers = map[string]writer{}

func init() {
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
	add(writer{args: first, effect: deletes}, "unlinkSync")
	add(writer{effect: deletes}, "unlink")
	add(writer{args: first, effect: deletes, tree: true}, "rmSync", "rmdirSync", "rmtree", "removeSync", "emptyDirSync", "emptyDir", "rimraf", "removedirs")
	add(writer{effect: deletes, tree: true}, "remove_tree", "rm_rf", "rm_r", "rm_f", "remove_entry", "remove_dir")
	add(writer{effect: deletes, tree: true, common: true}, "remove", "rm", "delete", "rmdir", "removeRecursive")
	add(writer{effect: modes}, "chmodSync", "chownSync", "lchmod", "chmod_R", "chown_R", "setxattr")
	add(writer{effect: modes, common: true}, "chmod", "chown")
	add(writer{args: second, into: true}, "copyfile", "copy2", "copyFile", "copyFileSync", "copySync")
	add(writer{args: second, tree: true}, "copytree", "cpSync", "dircopy", "rcopy")
	add(writer{args: second, into: true, tree: true}, "cp_r")
	add(writer{args: second, tree: true}, "symlinkSync", "linkSync", "ln_s", "ln_sf")
	add(writer{args: second, into: true, common: true}, "copy", "cp", "install")
	add(writer{args: second, tree: true, common: true}, "symlink", "link", "ln")
	add(writer{args: []int{0, 1}, effect: moves, into: true, tree: true}, "renameSync", "renames", "moveSync")
	add(writer{args: []int{0, 1}, effect: moves, into: true, tree: true, common: true}, "rename", "move", "mv")
	add(writer{args: []int{0, 1}, effect: moves, tree: true, common: true}, "replace")
}

// pathMethods change the file whose path they are called on.
var pathMethods = map[string]writer{
	"write_text": {}, "write_bytes": {}, "spew": {}, "spurt": {}, "spew_utf8": {}, "hardlink_to": {tree: true}, "symlink_to": {tree: true},
	"write": {common: true}, "writer": {common: true}, "binwrite": {common: true}, "touch": {common: true}, "truncate": {common: true},
	"unlink": {effect: deletes}, "rmtree": {effect: deletes, tree: true}, "rmdir": {effect: deletes, tree: true, common: true},
	"delete": {effect: deletes, common: true}, "remove_tree": {effect: deletes, tree: true},
	"chmod":  {effect: modes, common: true},
	"rename": {effect: moves, tree: true, common: true}, "replace": {effect: moves, tree: true, common: true}, "move": {effect: moves, tree: true, common: true},
}

// run reads the program from its first token to its last.
func (p *program) run() []codeWrite {
	var out []codeWrite
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
func (p *program) assigns(i int, early bool) {
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
	for p.is(at-1, ",") && at >= 2 && p.toks[at-2].kind == nameToken {
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
		case len(right) > 0 && p.lang == javascript:
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
			values = cross(p.variable(name), values, concat)
		case known && (early || p.toks[first].open >= 0 || p.toks[first].line && p.toks[first].indent || t.text[0] != '='):
			values = union(old, values) // in a branch: the other one counts too
		}
		p.vars[name] = values
	}
}

// statementEnd is the token behind an expression that begins at from.
func (p *program) statementEnd(from int) int {
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
func (p *program) loop(i int) {
	j := i + 1
	to := p.statementEnd(j)
	if p.is(j, "(") && p.lang == javascript {
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
	case p.lang != perl:
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
func (p *program) block(i int) {
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
func (p *program) termStart(i int) int {
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
func (p *program) callArgs(i int) ([]argument, bool) {
	if p.is(i+1, "(") {
		return p.split(i+2, p.end(i+1)), true
	}
	if p.lang != ruby && p.lang != perl && p.lang != lua || i+1 >= len(p.toks) || p.toks[i+1].line || p.toks[i+1].kind == signToken {
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
func (p *program) writesAt(i int) []codeWrite {
	t := &p.toks[i]
	if t.kind != nameToken || p.word(i-1, "def", "function", "sub") {
		return nil
	}
	name := t.text
	method := p.member(i - 1)
	if other, ok := p.alias[name]; ok && !method {
		name = other
	}
	w, known := writers[name]
	_, on := pathMethods[name]
	if !known && !on && !p.is(i+1, "(") && name != "open" && name != "sysopen" && name != "new" {
		return nil
	}
	args, called := p.callArgs(i)
	if !called {
		if known && !w.common && name != "unlink" && !method && !p.is(i+1, "=") {
			return []codeWrite{{values: unknownValue, effect: w.effect}} // handed on under another name
		}
		return nil
	}
	receiver := ""
	if method {
		switch j := i - 2; {
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
	module := !method || fileModules[receiver]
	if name == "open" || name == "fopen" || name == "openSync" || name == "sysopen" || module && name == "new" && receiver == "File" || name == "ZipFile" || name == "gzopen" || name == "FileIO" {
		return p.opens(i, name, module, method, args)
	}
	if name == "input" && receiver == "fileinput" {
		for _, a := range args {
			if a.name == "inplace" && len(args) > 0 {
				return []codeWrite{{values: p.eval(args[0].from, args[0].to)}}
			}
		}
	}
	if m, ok := pathMethods[name]; ok && !module {
		on := p.eval(p.termStart(i-1), i-1)
		positional := slices.DeleteFunc(slices.Clone(args), func(a argument) bool { return a.name != "" })
		switch {
		case m.effect == moves && (len(positional) != 1 || isUnknown(on)):
			if !known || w.common {
				return nil
			}
		case m.common && isUnknown(on):
			return nil
		case name == "unlink" && len(positional) > 0:
		default:
			out := []codeWrite{{on, m.effect, m.tree}}
			if m.effect == moves {
				out = append(out, codeWrite{p.eval(positional[0].from, positional[0].to), writes, true})
			}
			return out
		}
	}
	if !known || w.common && !module {
		if len(args) > 1 && !p.harmless(i) {
			// Another name for open: its second argument says so.
			if a := args[1]; a.to == a.from+1 && p.toks[a.from].kind == stringToken && writeMode(p.toks[a.from].text) {
				return []codeWrite{{values: p.eval(args[0].from, args[0].to)}}
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
	var out []codeWrite
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
		if e == moves && k > 0 {
			e = writes
		}
		if w.effect == modes && isUnknown(values) {
			continue // the mode
		}
		if w.into && n == 1 {
			if from, ok := value(0); ok && !isUnknown(from) {
				out = append(out, codeWrite{values: cross(values, each(from, base), joined)})
			}
		}
		out = append(out, codeWrite{values, e, w.tree})
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
func (p *program) opens(i int, name string, module, method bool, args []argument) []codeWrite {
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
	case p.lang == perl && !method:
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
		return []codeWrite{{values: on}}
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
	return []codeWrite{{values: p.eval(file.from, file.to)}}
}

// opensToWrite reports a mode that is not one for reading only.
func (p *program) opensToWrite(a *argument) bool {
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
func (p *program) perlOpens(name string, args []*argument) []codeWrite {
	if len(args) < 2 {
		return nil
	}
	if name == "sysopen" {
		if len(args) > 2 && p.opensToWrite(args[2]) {
			return []codeWrite{{values: p.eval(args[1].from, args[1].to)}}
		}
		return nil
	}
	var out []codeWrite
	for _, mode := range p.eval(args[1].from, args[1].to) {
		sign := strings.TrimLeft(mode, " ")
		if len(args) > 2 {
			if strings.ContainsAny(sign, ">+") || sign == anything {
				out = append(out, codeWrite{values: p.eval(args[2].from, args[2].to)})
			}
			continue
		}
		if rest := strings.TrimLeft(sign, "+<> "); strings.ContainsAny(sign[:len(sign)-len(rest)], ">+") {
			out = append(out, codeWrite{values: []string{rest}})
		}
	}
	return out
}
