package guards

import (
	"path"
	"strings"

	"sallyport/internal/scriptfiles"
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
		if why, name := c.codeChanges(text, scriptfiles.LanguageOf(c.Name()), argv, 0); why != "" {
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
	lang := scriptfiles.LanguageOf(c.Name())
	code, valued := "e", ""
	switch lang {
	case scriptfiles.Python:
		code, valued = "c", "WXm"
	case scriptfiles.Perl:
		code, valued = "eE", "IMmxCDi0lFV"
	case scriptfiles.Ruby:
		valued = "rICEFKTWxi0"
	case scriptfiles.JavaScript:
		code, valued = "ep", "rC"
	case scriptfiles.PHP:
		code, valued = "rBRE", "dcfSTz"
	case scriptfiles.Lua:
		valued = "l"
	case scriptfiles.Other:
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
				b.WriteString(scriptfiles.Anything)
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
		case s == "eval" && lang == scriptfiles.JavaScript && !found:
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
		case lang == scriptfiles.JavaScript && strings.Trim(s[1:], "ep") == "":
			next()
		default:
			for j := 1; j < len(s); j++ {
				if strings.IndexByte(code, s[j]) >= 0 {
					if v, _ := args[i].After(s[:j+1]); v.Value != "" || !v.Static {
						texts, found = append(texts, known(v)), true
					} else {
						next()
					}
					if lang == scriptfiles.Python {
						i++
						break options // what follows is the program's
					}
					break
				}
				if strings.IndexByte(valued, s[j]) >= 0 {
					if j+1 == len(s) && (lang == scriptfiles.Python || strings.IndexByte("IrlWXC", s[j]) >= 0) {
						i++
					}
					if s[j] == 'm' && lang == scriptfiles.Python {
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
	for _, w := range rest[:min(len(rest), maxArgv)] {
		argv = append(argv, known(w))
	}
	return texts, argv
}

const (
	maxArgv     = 16   // arguments of a program that are looked at
	maxPatterns = 16   // of files that it may change
	maxPathLen  = 1000 // of one
)

var effects = [...]effect{scriptfiles.Writes: writes, scriptfiles.Deletes: deletes, scriptfiles.Modes: modes, scriptfiles.Moves: moves}

// maxCodeDepth bounds programs that stand in strings of other ones.
const maxCodeDepth = 3

// codeChanges says which protected file a program changes.
func (c *Call) codeChanges(text string, lang scriptfiles.Language, argv []string, depth int) (why, name string) {
	if depth > maxCodeDepth || !mayWrite(text) {
		return "", ""
	}
	p, ok := scriptfiles.Parse(text, lang, argv, depth)
	var open []string // patterns that may mean scriptfiles.Anything
	if !ok {
		// What cannot be read is judged by the names in it.
		open = []string{scriptfiles.Anything}
	}
	for _, change := range p.Changes() {
		for _, v := range change.Names {
			if why := c.codeTarget(v, effects[change.Effect], change.Tree); why != "" {
				return why, v
			}
			if strings.HasPrefix(v, scriptfiles.Anything) && len(open) < maxPatterns {
				open = append(open, v)
			}
		}
	}
	if lang == scriptfiles.Other && scriptfiles.MayWrite(text) || p.Exhausted() {
		open = append(open, scriptfiles.Anything)
	}
	for t := range p.Texts() {
		if t.Runs() {
			if why, name := c.codeChanges(t.Value(), lang, argv, depth+1); why != "" {
				return why, name
			}
		}
		for _, code := range t.Embedded() {
			if why, name := c.codeChanges(code, lang, argv, depth+1); why != "" {
				return why, name
			}
		}
		if len(open) == 0 || p.Spent() {
			continue
		}
		for _, v := range t.Values() {
			if !mayName(v) {
				continue
			}
			if why := c.codeTarget(v, writes, true); why != "" && fits(open, v) && (!ok || t.Loose()) {
				return why, v
			}
		}
	}
	if !ok || lang == scriptfiles.Other {
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
	if v = strings.TrimPrefix(strings.TrimSpace(v), "file://"); v == "" || v == scriptfiles.Anything || len(v) > maxPathLen || strings.ContainsAny(v, "\n\x00") {
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
