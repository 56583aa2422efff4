package guards

import (
	"path"
	"strings"

	"sallyport/internal/shellcmd"
)

// inlineWrite looks at short programs in other languages that write a protected
// file: one that they name, or one that they may mean by a name they compute.
func inlineWrite(c *Call, fix string) []Finding {
	kind, ok := interpreter(c.Name())
	if !ok || kind == "shell" || len(c.Args) < 2 && c.Stdin.Value == "" {
		return nil
	}
	texts, argv := c.programs()
	for _, text := range texts {
		if why, name := c.codeChanges(text, languageOf(c.Name()), argv, 0); why != "" {
			return []Finding{{
				Found: "a program for " + Quote(c.Name()) + " that writes " + Quote(name),
				Why:   why,
				Fix:   fix,
				Words: []string{name},
			}}
		}
	}
	return nil
}

// programs are the texts that an interpreter runs, and their arguments.
func (c *Call) programs() (texts, argv []string) {
	lang := languageOf(c.Name())
	code, valued := "e", ""
	switch lang {
	case python:
		code, valued = "c", "WXm"
	case perl:
		code, valued = "eE", "IMmxCDi0lFV"
	case ruby:
		valued = "rICEFKTWxi0"
	case javascript:
		code, valued = "ep", "rC"
	case php:
		code, valued = "rBRE", "dcfSTz"
	case lua:
		valued = "l"
	case otherLanguage:
		valued = "lsi"
	}
	known := func(w shellcmd.Word) string {
		if w.Static || len(w.Parts) == 0 {
			return w.Value
		}
		var b strings.Builder
		for _, part := range w.Parts {
			if part.Kind == shellcmd.Literal || part.Kind == shellcmd.Glob {
				b.WriteString(part.Text)
			} else {
				b.WriteString(anything)
			}
		}
		return b.String()
	}
	args := c.Args[1:]
	stdin, found := false, false
	i := 0
	next := func() {
		if i+1 < len(args) {
			i++
			texts = append(texts, known(args[i]))
		}
		found = true
	}
options:
	for ; i < len(args); i++ {
		s := args[i].Value
		switch {
		case s == "-" || s == "/dev/stdin":
			stdin = true
			i++
			break options
		case s == "--":
			i++
			break options
		case s == "eval" && lang == javascript && !found:
			next()
		case len(s) < 2 || s[0] != '-':
			break options
		case s[1] == '-':
			name, _, attached := strings.Cut(s, "=")
			switch {
			case name != "--eval" && name != "--print":
				if !attached && (name == "--require" || name == "--import") {
					i++
				}
			case attached:
				v, _ := args[i].After(name + "=")
				texts, found = append(texts, known(v)), true
			default:
				next()
			}
		case lang == javascript && strings.Trim(s[1:], "ep") == "":
			next()
		default:
			for j := 1; j < len(s); j++ {
				if strings.IndexByte(code, s[j]) >= 0 {
					if v, _ := args[i].After(s[:j+1]); v.Value != "" || !v.Static {
						texts, found = append(texts, known(v)), true
					} else {
						next()
					}
					if lang == python {
						i++
						break options // what follows is the program's
					}
					break
				}
				if strings.IndexByte(valued, s[j]) >= 0 {
					if j+1 == len(s) && (lang == python || strings.IndexByte("IrlWXC", s[j]) >= 0) {
						i++
					}
					if s[j] == 'm' && lang == python {
						return nil, nil
					}
					break
				}
			}
		}
	}
	rest := args[min(i, len(args)):]
	if !found && !stdin {
		if len(rest) > 0 {
			// A script: known if the line wrote it.
			if t, ok := c.File(rest[0]); ok && t.Known {
				texts = append(texts, t.Value)
			}
			rest = rest[1:]
		} else {
			stdin = true
		}
	}
	if stdin && c.Stdin.Value != "" {
		texts = append(texts, c.Stdin.Value)
	}
	for _, w := range rest[:min(len(rest), maxValues)] {
		argv = append(argv, known(w))
	}
	return texts, argv
}

// maxCodeDepth bounds programs that stand in strings of other ones.
const maxCodeDepth = 3

// codeChanges says which protected file a program changes.
func (c *Call) codeChanges(text string, lang language, argv []string, depth int) (why, name string) {
	if depth > maxCodeDepth || !mayWrite(text) {
		return "", ""
	}
	p, ok := newProgram(text, lang, argv, depth)
	var open []string // patterns that may mean anything
	if !ok {
		// What cannot be read is judged by the names in it.
		open = unknownValue
	}
	for _, w := range p.run() {
		for _, v := range w.values {
			if why := c.codeTarget(v, w.effect, w.tree); why != "" {
				return why, v
			}
			if strings.HasPrefix(v, anything) && len(open) < maxValues {
				open = append(open, v)
			}
		}
	}
	if lang == otherLanguage && writesFile(text) {
		open = unknownValue
	}
	if p.steps < 0 {
		open = append(open, anything)
	}
	for i := range p.toks {
		t := &p.toks[i]
		if t.kind != stringToken {
			continue
		}
		if p.runs(i) {
			if why, name := c.codeChanges(t.text, lang, argv, depth+1); why != "" {
				return why, name
			}
		}
		for _, piece := range t.pieces {
			if piece.code && strings.Contains(piece.text, "(") {
				if why, name := c.codeChanges(piece.text, lang, argv, depth+1); why != "" {
					return why, name
				}
			}
		}
		if len(open) == 0 || p.steps < -len(p.toks)*20 {
			continue
		}
		for _, v := range p.text(t) {
			if !mayName(v) {
				continue
			}
			if why := c.codeTarget(v, writes, true); why != "" && fits(open, v) && (!ok || p.loose(i, 2)) {
				return why, v
			}
		}
	}
	if !ok || lang == otherLanguage {
		for _, v := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`()[]{},;", r) }) {
			if strings.Contains(v, "/") && mayName(v) {
				if why := c.codeTarget(v, writes, true); why != "" {
					return why, v
				}
			}
		}
	}
	return "", ""
}

// mayWrite is a quick look for a word of a call that changes a file.
func mayWrite(text string) bool {
	low := strings.ToLower(text)
	for _, word := range [...]string{"open", "write", "dump", "unlink", "rm", "remove", "delete", "rename", "replace", "move", "mv", "copy", "cp", "link", "ln", "chmod", "chown",
		"truncate", "touch", "append", "spew", "output", "eval", "exec", "extract", "put", "stream", "'w", `"w`, "'a", `"a`, "create", "sink", "save", "retrieve", "unpack", "install", "ensure", "empty", "to_", "rimraf", "utime", "fileio", "zipfile", "inplace"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}

// mayName reports a text that can be the name of one file.
func mayName(s string) bool {
	return s != "" && len(s) < 300 && !strings.ContainsAny(s, " \t\n\r<>|;") && strings.ContainsAny(s, "./~")
}

// codeTarget says why a program must not change a file.
func (c *Call) codeTarget(v string, e effect, tree bool) string {
	if v = strings.TrimPrefix(strings.TrimSpace(v), "file://"); v == "" || v == anything || len(v) > maxPathLen || strings.ContainsAny(v, "\n\x00") {
		return ""
	}
	w := shellcmd.NewWord(v)
	why, _ := c.guarded(target{word: &w, path: v, effect: e, tree: tree, glob: strings.ContainsAny(v, "*?["), how: "program"})
	return why
}

// fits reports whether one of the patterns can mean a file, or one in it.
func fits(patterns []string, name string) bool {
	names := []string{base(name)}
	for _, below := range protectedBelow(clean(slashed(name))) {
		names = append(names, base(below))
	}
	for _, pattern := range patterns {
		for _, n := range names {
			if ok, err := path.Match(base(pattern), n); ok || err != nil {
				return true
			}
		}
	}
	return false
}

// runs reports a string that the program itself runs as code.
func (p *program) runs(i int) bool {
	open := p.toks[i].open
	if open < 1 || !p.is(open, "(") {
		return p.lang == perl && p.word(i-1, "eval")
	}
	return p.word(open-1, "exec", "eval", "compile", "Function", "instance_eval", "class_eval", "runInThisContext", "runInNewContext", "load", "loadstring")
}

// readers take the name of a file, or a text, and change no file.
var readers = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`print println puts p echo printf sprintf log info warn warning error debug write writelines say die raise exit Error Exception
		ValueError RuntimeError SystemExit AssertionError replace replaceAll sub gsub subn includes include startswith endswith startsWith endsWith start_with end_with
		indexOf lastIndexOf find index rindex count match matchAll search test exec fullmatch findall compile RegExp exists existsSync isfile is_file isdir is_dir stat statSync lstat lstatSync
		access accessSync getsize getmtime exist file readable readFile readFileSync read_text read_bytes readTextFile readTextFileSync read load loads parse safe_load
		dump dumps stringify format require import listdir readdir readdirSync glob iglob globSync scandir walk entries readlines readline createReadStream file_get_contents fgets
		file_exists filesize foreach assert assertEqual assertIn assertTrue equal deepEqual strictEqual ok len length ord hash sha256 md5 update lower upper toLowerCase toUpperCase
		split rsplit partition strip lstrip rstrip trim fnmatch minimatch contains has endsWith samefile lexists slurp readall run check_output check_call call Popen system spawn execSync spawnSync describe it`) {
		readers[name] = true
	}
}

// harmless reports a call whose arguments it only reads.
func (p *program) harmless(i int) bool {
	return i >= 0 && p.toks[i].kind == nameToken && readers[strings.TrimRight(p.toks[i].text, "?!")]
}

// loose reports whether a value at token i may become the name of a file that is
// written: it is not only read, compared, printed or put into a text.
func (p *program) loose(i, follow int) bool {
	if p.steps -= 10; p.steps < -len(p.toks)*20 {
		return true
	}
	for _, j := range [...]int{i - 1, i + 1} {
		if p.is(j, "==") || p.is(j, "!=") || p.is(j, "===") || p.is(j, "!==") || p.is(j, "=~") || p.word(j, "in", "not", "is", "eq", "ne") && !p.word(j-2, "for") {
			return false
		}
	}
	if p.member(i+1) && p.harmless(i+2) {
		return p.is(i+3, "(") && p.word(i+2, "split", "format", "strip", "trim")
	}
	for {
		open := p.toks[i].open
		if open < 0 {
			break
		}
		if p.is(open, "[") && open > 0 && (p.toks[open-1].kind == nameToken || p.is(open-1, ")") || p.is(open-1, "]")) && !p.word(open-1, "in", "of", "return") && !p.toks[open].line {
			return false // a key
		}
		if p.is(open, "(") && open > 0 && p.toks[open-1].kind == nameToken && !p.toks[open].line {
			call := open - 1
			if _, mine := p.funcs[p.toks[call].text]; mine {
				return true
			}
			switch w, writes := writers[p.toks[call].text]; {
			case p.word(call, "if", "while", "for", "foreach", "switch", "elif", "elsif", "unless", "return", "of", "in", "and", "or"):
			case p.harmless(call):
				return false
			case p.word(call, "open", "fopen", "openSync", "sysopen"):
				return len(p.writesAt(call)) > 0
			case writes && (!w.common || !p.member(call-1) || fileModules[p.toks[max(0, call-2)].text]):
				// Only the argument that is written counts.
				for k, a := range p.split(open+1, p.end(open)) {
					if a.from <= i && i < a.to {
						if w.args == nil {
							return true
						}
						for _, n := range w.args {
							if n == k {
								return true
							}
						}
					}
				}
				return false
			case p.word(call, "Path", "PosixPath", "PurePath", "join", "resolve", "normalize", "expanduser", "abspath", "realpath", "str", "String", "joinpath", "expand_path", "Pathname", "new", "file", "fspath", "expandvars", "URL"):
				// A path is built from it: what happens to that?
				if after := p.end(open) + 1; p.member(after) && p.harmless(after+1) {
					return false
				}
			default:
				return true
			}
			i = p.termStart(call + 1)
			continue
		}
		i = open
	}
	// At the level of statements.
	j := i
	for j > 0 && !p.toks[j].line && !p.is(j, ";") && !p.is(j, "=") && !p.is(j, ":=") && !p.is(j, "+=") && !p.is(j, ".=") && !p.word(j, "in", "of", "return", "yield") {
		j--
	}
	switch {
	case p.word(j, "return", "yield"):
		return true
	case p.is(j, "="), p.is(j, ":="):
		k := j - 1
		if k < 0 || p.toks[k].kind != nameToken || follow == 0 {
			return true
		}
		return p.used(p.toks[k].text, j-1, follow)
	case p.word(j, "in", "of"):
		return j == 0 || p.toks[j-1].kind != nameToken || follow == 0 || p.used(p.toks[j-1].text, j-1, follow)
	case p.is(j, "+="), p.is(j, ".="):
		return j == 0 || p.toks[j-1].kind != nameToken || follow == 0 || p.used(p.toks[j-1].text, j-1, follow)
	}
	return false
}

// maxUses bounds the places of a variable that are looked at.
const maxUses = 50

// used reports whether one of the places of a variable is loose.
func (p *program) used(name string, except, follow int) bool {
	uses := 0
	p.steps -= len(p.toks) / 2
	for i := range p.toks {
		if t := &p.toks[i]; t.kind != nameToken || t.text != name || i == except || p.member(i-1) || p.is(i+1, "=") && t.open < 0 {
			continue
		}
		if uses++; uses > maxUses || p.loose(i, follow-1) {
			return true
		}
	}
	return false
}

// writesFile reports a call that writes, moves or deletes in languages that are
// not read further.
func writesFile(text string) bool {
	for _, call := range [...]string{"write", "open", "file.remove", "unlink", "rename", "file delete", "file copy", "sink(", "save", "dump(", "cat(", "truncate", "chmod", "delete"} {
		if strings.Contains(text, call) {
			return true
		}
	}
	return false
}
