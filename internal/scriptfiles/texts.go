package scriptfiles

import (
	"iter"
	"strings"
	"sync"
)

// A Text is a string of a program.
type Text struct {
	p *Program
	i int
}

// Texts are the strings of the program, in order.
func (p *Program) Texts() iter.Seq[Text] {
	return func(yield func(Text) bool) {
		for i := range p.toks {
			if p.toks[i].kind == stringToken && !yield(Text{p, i}) {
				return
			}
		}
	}
}

// Value is the text as it is written.
func (t Text) Value() string { return t.p.toks[t.i].text }

// Values are the texts that it may have, as patterns.
func (t Text) Values() []string { return t.p.text(&t.p.toks[t.i]) }

// Runs reports a text that the program itself runs as code.
func (t Text) Runs() bool { return t.p.runs(t.i) }

// Embedded are the expressions in it that hold a call.
func (t Text) Embedded() []string {
	var out []string
	for _, piece := range t.p.toks[t.i].pieces {
		if piece.code && strings.Contains(piece.text, "(") {
			out = append(out, piece.text)
		}
	}
	return out
}

// Loose reports whether it may become the name of a file that is written: it is
// not only read, compared, printed or put into a text.
func (t Text) Loose() bool { return t.p.loose(t.i, 2) }

func (p *Program) runs(i int) bool {
	open := p.toks[i].open
	if open < 1 || !p.is(open, "(") {
		return p.lang == Perl && p.word(i-1, "eval")
	}
	return p.word(open-1, "exec", "eval", "compile", "Function", "instance_eval", "class_eval", "runInThisContext", "runInNewContext", "load", "loadstring")
}

// readers take the name of a file, or a text, and change no file.
var readers = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, name := range strings.Fields(`print println puts p echo printf sprintf log info warn warning error debug write writelines say die raise exit Error Exception
		ValueError RuntimeError SystemExit AssertionError replace replaceAll sub gsub subn includes include startswith endswith startsWith endsWith start_with end_with
		indexOf lastIndexOf find index rindex count match matchAll search test exec fullmatch findall compile RegExp exists existsSync isfile is_file isdir is_dir stat statSync lstat lstatSync
		access accessSync getsize getmtime exist file readable readFile readFileSync read_text read_bytes readTextFile readTextFileSync read load loads parse safe_load
		dump dumps stringify format require import listdir readdir readdirSync glob iglob globSync scandir walk entries readlines readline createReadStream file_get_contents fgets
		file_exists filesize foreach assert assertEqual assertIn assertTrue equal deepEqual strictEqual ok len length ord hash sha256 md5 update lower upper toLowerCase toUpperCase
		split rsplit partition strip lstrip rstrip trim fnmatch minimatch contains has endsWith samefile lexists slurp readall run check_output check_call call Popen system spawn execSync spawnSync describe it`) {
		names[name] = true
	}
	return names
})

// harmless reports a call whose arguments it only reads.
func (p *Program) harmless(i int) bool {
	return i >= 0 && i < len(p.toks) && p.toks[i].kind == nameToken && readers()[strings.TrimRight(p.toks[i].text, "?!")]
}

// loose reports whether a value at token i may become the name of a file that is
// written: it is not only read, compared, printed or put into a text.
func (p *Program) loose(i, follow int) bool {
	if p.steps -= 10; p.Spent() {
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
			switch w, writes := writers()[p.toks[call].text]; {
			case p.word(call, "if", "while", "for", "foreach", "switch", "elif", "elsif", "unless", "return", "of", "in", "and", "or"):
			case p.harmless(call):
				return false
			case p.word(call, "open", "fopen", "openSync", "sysopen"):
				return len(p.writesAt(call)) > 0
			case writes && (!w.common || !p.member(call-1) || fileModules()[p.toks[max(0, call-2)].text]):
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
		if p.steps--; p.Spent() {
			return true
		}
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
func (p *Program) used(name string, except, follow int) bool {
	uses := 0
	p.steps -= len(p.toks) / 2
	for i := range p.toks {
		if p.Spent() {
			return true
		}
		if t := &p.toks[i]; t.kind != nameToken || t.text != name || i == except || p.member(i-1) || p.is(i+1, "=") && t.open < 0 {
			continue
		}
		if uses++; uses > maxUses || p.loose(i, follow-1) {
			return true
		}
	}
	return false
}

// MayWrite reports a call that writes, moves or deletes in a language that is
// not read further.
func MayWrite(text string) bool {
	for _, call := range [...]string{"write", "open", "file.remove", "unlink", "rename", "file delete", "file copy", "sink(", "save", "dump(", "cat(", "truncate", "chmod", "delete"} {
		if strings.Contains(text, call) {
			return true
		}
	}
	return false
}
