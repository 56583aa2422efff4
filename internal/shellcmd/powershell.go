package shellcmd

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"
)

// runPowerShell splits PowerShell text: the backtick escapes, a doubled quote
// is one quote, & and . call what follows.
func (w *walker) runPowerShell(sh *shell, o *origin) {
	s := w.foreign(sh, o)
	s.powerShell(o.text)
	w.foreignDone(s)
}

// runCmd splits text of cmd.exe: the caret escapes, only " quotes.
func (w *walker) runCmd(sh *shell, o *origin) {
	s := w.foreign(sh, o)
	s.cmd(o.text)
	w.foreignDone(s)
}

type foreign struct {
	splitter
	old surroundings
}

func (w *walker) foreign(sh *shell, o *origin) *foreign {
	f := &foreign{splitter: splitter{w: w, sh: sh, o: o}, old: w.ctx}
	w.line.Exact = false
	w.ctx.inexact = true
	w.ctx.src = o
	return f
}

func (w *walker) foreignDone(f *foreign) { w.ctx = f.old }

func (s *foreign) powerShell(t string) {
	quote := byte(0)
	for i := 0; i < len(t); {
		c := t[i]
		switch {
		case quote == '\'':
			if c == '\'' {
				if i+1 < len(t) && t[i+1] == '\'' {
					s.cur = append(s.cur, c)
					i += 2
					continue
				}
				quote = 0
			} else {
				s.cur = append(s.cur, c)
			}
			i++
			continue
		case quote == '"':
			switch {
			case c == '"' && i+1 < len(t) && t[i+1] == '"':
				s.cur = append(s.cur, c)
				i += 2
			case c == '"':
				quote = 0
				i++
			case c == '`' && i+1 < len(t):
				s.cur = append(s.cur, powerShellEscape(t[i+1])...)
				i += 2
			case c == '$' && i+1 < len(t) && t[i+1] == '(':
				s.open(i+2, ')', true)
				quote = 0
				i += 2
			case c == '$':
				i = s.powerShellVariable(t, i)
			default:
				s.cur = append(s.cur, c)
				i++
			}
			continue
		}
		if s.close == c && len(s.stack) > 0 {
			if s.shutPS(i) {
				quote = '"'
			}
			i++
			continue
		}
		switch c {
		case ' ', '\t', '\r':
			s.word(i)
			i++
		case '\n', ';', '|', '(', ')', '{', '}':
			s.commandPS(i)
			i++
		case '&':
			s.commandPS(i)
			i++
		case ',':
			// Separates the elements of an array, each a word here.
			s.word(i)
			i++
		case '#':
			if s.started {
				s.cur = append(s.cur, c)
				i++
				continue
			}
			for i < len(t) && t[i] != '\n' {
				i++
			}
		case '<':
			if strings.HasPrefix(t[i:], "<#") {
				end := strings.Index(t[i:], "#>")
				if end < 0 {
					i = len(t)
				} else {
					i += end + 2
				}
				continue
			}
			s.word(i)
			s.redir = "<"
			i++
		case '>':
			s.word(i)
			s.redir = ">"
			i++
			if i < len(t) && t[i] == '>' {
				s.redir = ">>"
				i++
			}
		case '@':
			if i+2 < len(t) && (t[i+1] == '\'' || t[i+1] == '"') && (t[i+2] == '\n' || t[i+2] == '\r') {
				body := t[i+2:]
				end := strings.Index(body, "\n"+t[i+1:i+2]+"@")
				s.begin(i)
				s.quoted = true
				if end < 0 {
					s.cur = append(s.cur, body...)
					i = len(t)
					continue
				}
				s.cur = append(s.cur, strings.TrimLeft(body[:end], "\r\n")...)
				i += 2 + end + 3
				continue
			}
			if !s.started && i+1 < len(t) && t[i+1] == '(' {
				i += 2 // an array: its elements are words of this command
				continue
			}
			s.begin(i)
			s.cur = append(s.cur, c)
			i++
		case '\'', '"':
			s.begin(i)
			s.quoted = true
			quote = c
			i++
		case '`':
			if i+1 < len(t) && t[i+1] == '\n' {
				i += 2
				continue
			}
			if strings.HasPrefix(t[i:], "`\r\n") {
				i += 3
				continue
			}
			s.begin(i)
			if i+1 < len(t) {
				s.cur = append(s.cur, t[i+1])
			}
			i += 2
		case '$':
			if i+1 < len(t) && t[i+1] == '(' {
				s.begin(i)
				s.open(i+2, ')', false)
				i += 2
				continue
			}
			i = s.powerShellVariable(t, i)
		default:
			s.begin(i)
			s.cur = append(s.cur, c)
			i++
		}
	}
	for len(s.stack) > 0 {
		s.shutPS(len(t))
	}
	s.commandPS(len(t))
}

func (s *foreign) shutPS(i int) bool {
	s.commandPS(i)
	return s.shut(i)
}

func powerShellEscape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case '0':
		return ""
	case 'e':
		return "\x1b"
	case '\n':
		return ""
	}
	return string(rune(c))
}

// powerShellVariable adds $name or $env:NAME; an assignment sets it.
func (s *foreign) powerShellVariable(t string, i int) int {
	s.begin(i)
	j := i + 1
	braced := j < len(t) && t[j] == '{'
	if braced {
		j++
	}
	start := j
	for j < len(t) && (isWordByte(t[j]) || t[j] == ':') {
		j++
	}
	name := t[start:j]
	if braced && j < len(t) && t[j] == '}' {
		j++
	}
	if name == "" {
		s.cur = append(s.cur, '$')
		return i + 1
	}
	name = strings.TrimSuffix(name, ":")
	// $env:NAME = 'value' and $name = …
	k := j
	for k < len(t) && (t[k] == ' ' || t[k] == '\t') {
		k++
	}
	if len(s.words) == 0 && len(s.cur) == 0 && !s.quoted && k < len(t) && t[k] == '=' && (k+1 >= len(t) || t[k+1] != '=') {
		s.cur = append(s.cur, psName(name)+"="...)
		k++
		for k < len(t) && (t[k] == ' ' || t[k] == '\t') {
			k++
		}
		return k
	}
	s.value(psName(name))
	return j
}

// psName folds $env:X and $X into one name space; PowerShell ignores case.
func psName(name string) string {
	if len(name) > 4 && strings.EqualFold(name[:4], "env:") {
		return name[4:]
	}
	return name
}

// commandPS ends a command, after following what PowerShell itself runs.
func (s *foreign) commandPS(i int) {
	s.word(i)
	words := s.words
	for len(words) > 1 && words[0].raw == "." {
		words = words[1:]
	}
	s.words = words
	if len(words) == 0 {
		for _, a := range s.assigns {
			s.sh.put(a.Name, &variable{vals: []string{a.Value.raw}, exported: true})
		}
		s.assigns = nil
		s.command(i)
		return
	}
	name := strings.ToLower(programName(words[0].Value))
	inv := &invocation{args: words}
	sh, w := s.sh, s.w
	s.command(i)
	switch name {
	case "iex", "invoke-expression":
		if len(words) > 1 {
			text := words[len(words)-1]
			w.nestForeign(sh, inv, text, "Invoke-Expression", (*walker).runPowerShell)
		}
	case "start-process", "saps", "start":
		var rest []Word
		for _, a := range words[1:] {
			if len(a.raw) > 1 && a.raw[0] == '-' && !a.Quoted && len(rest) < 1 {
				continue
			}
			switch strings.ToLower(a.raw) {
			case "-argumentlist", "-args", "-filepath", "-wait", "-nonewwindow", "-verb", "-passthru":
				continue
			}
			if strings.Contains(a.raw, " ") && len(rest) > 0 {
				for f := range strings.FieldsSeq(a.raw) {
					rest = append(rest, w.word(f))
				}
				continue
			}
			rest = append(rest, a)
		}
		w.nest(sh, inv, rest, nesting{layer: "Start-Process"})
	case "set-location", "sl", "push-location":
		if len(words) > 1 {
			w.setDir(sh, w.target(sh, words[len(words)-1].raw))
		}
	}
}

// nestForeign splits text lexically that a command hands to another shell.
func (w *walker) nestForeign(sh *shell, inv *invocation, text Word, layer string, run func(*walker, *shell, *origin)) {
	if w.depth >= maxDepth || len(text.raw) > w.nested {
		w.line.Limited = true
		return
	}
	w.nested -= len(text.raw)
	w.depth++
	ctx := w.ctx
	w.layer(layer, func() { run(w, sh, &origin{text: text.raw, off: text.src}) })
	w.ctx = ctx
	w.depth--
}

// cmdProgram is cmd /c text.
func (w *walker) cmdProgram(sh *shell, inv *invocation, args []Word) {
	for i, a := range args {
		low := strings.ToLower(a.raw)
		if low != "/c" && low != "/k" && low != "//c" && low != "/r" {
			continue
		}
		if i+1 < len(args) {
			w.nestForeign(w.process(sh, inv.inline), inv, joinWords(w, args[i+1:]), "cmd /c", (*walker).runCmd)
		}
		return
	}
}

// powerShellProgram is powershell -Command text and -EncodedCommand base64;
// parameters may be shortened.
func (w *walker) powerShellProgram(sh *shell, inv *invocation, args []Word) {
	p := w.process(sh, inv.inline)
	for i := 0; i < len(args); i++ {
		a := strings.ToLower(args[i].raw)
		if len(a) < 2 || (a[0] != '-' && a[0] != '/') {
			w.nestForeign(p, inv, joinWords(w, args[i:]), "powershell", (*walker).runPowerShell)
			return
		}
		switch opt := a[1:]; {
		case opt == "ec" || (opt[0] == 'e' && strings.HasPrefix("encodedcommand", opt)):
			if i+1 < len(args) {
				if text, ok := decodeUTF16(args[i+1].Value); ok {
					w.nestForeign(p, inv, w.word(text), "powershell -EncodedCommand", (*walker).runPowerShell)
				}
			}
			return
		case strings.HasPrefix("command", opt) && opt != "co":
			if i+1 < len(args) {
				w.nestForeign(p, inv, joinWords(w, args[i+1:]), "powershell -Command", (*walker).runPowerShell)
			} else if sh.in != nil {
				w.nestForeign(p, inv, w.word(*sh.in), "powershell -Command", (*walker).runPowerShell)
			}
			return
		case opt == "f" || strings.HasPrefix("file", opt):
			if i+1 < len(args) {
				for _, text := range w.scripts(sh, args[i+1].raw) {
					w.nestForeign(p, inv, w.word(text), "powershell -File", (*walker).runPowerShell)
				}
			}
			return
		case opt == "ep" || opt == "ex" || strings.HasPrefix(opt, "exec") || strings.HasPrefix(opt, "w") || strings.HasPrefix(opt, "v") || strings.HasPrefix(opt, "in") || strings.HasPrefix(opt, "out") || strings.HasPrefix(opt, "conf") || opt == "wd":
			i++
		}
	}
	if sh.in != nil {
		w.nestForeign(p, inv, w.word(*sh.in), "powershell", (*walker).runPowerShell)
	}
}

func decodeUTF16(s string) (string, bool) {
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return "", false
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = uint16(data[2*i]) | uint16(data[2*i+1])<<8
	}
	text, _ := escapeSource(string(utf16.Decode(units)))
	return text, true
}

// cmd splits text of cmd.exe.
func (s *foreign) cmd(t string) {
	quote := false
	for i := 0; i < len(t); {
		c := t[i]
		switch {
		case c == '"':
			s.begin(i)
			s.quoted = true
			quote = !quote
			i++
		case c == '%':
			end := strings.IndexByte(t[i+1:min(len(t), i+256)], '%')
			if end > 0 {
				s.begin(i)
				s.value(t[i+1 : i+1+end])
				i += end + 2
				continue
			}
			s.begin(i)
			s.cur = append(s.cur, c)
			i++
		case quote:
			if c == '\n' {
				quote = false
				s.commandCmd(i)
			} else {
				s.cur = append(s.cur, c)
			}
			i++
		case c == '^' && i+1 < len(t):
			if t[i+1] == '\n' {
				i += 2
				continue
			}
			s.begin(i)
			s.cur = append(s.cur, t[i+1])
			i += 2
		case c == ' ' || c == '\t' || c == '\r' || c == ',' && !s.started:
			s.word(i)
			i++
		case c == '&' || c == '|' || c == '\n' || c == '(' || c == ')':
			s.commandCmd(i)
			i++
		case c == '>' || c == '<':
			s.word(i)
			s.redir = string(rune(c))
			i++
			if i < len(t) && t[i] == '>' {
				s.redir = ">>"
				i++
			}
		case c == '@' && !s.started && len(s.words) == 0:
			i++
		default:
			s.begin(i)
			s.cur = append(s.cur, c)
			i++
		}
	}
	s.commandCmd(len(t))
}

// commandCmd ends a command of cmd.exe.
func (s *foreign) commandCmd(i int) {
	s.word(i)
	words := s.words
	if len(words) > 0 {
		switch strings.ToLower(words[0].raw) {
		case "rem":
			s.words = nil
		case "set":
			if len(words) > 1 {
				if n, v, ok := strings.Cut(words[1].raw, "="); ok && n != "" {
					s.sh.put(n, &variable{vals: []string{v}, exported: true})
				}
			}
		case "cd", "chdir":
			if len(words) > 2 && strings.EqualFold(words[1].raw, "/d") {
				s.words = append(words[:1:1], words[2:]...)
			}
		case "call":
			s.words = words[1:]
		case "start":
			rest := words[1:]
			for len(rest) > 0 && (rest[0].Quoted || strings.HasPrefix(rest[0].raw, "/")) && len(rest) > 1 {
				rest = rest[1:]
			}
			s.words = rest
		case "if":
			// The condition's words stand before the command.
			for k, a := range words {
				if p := programName(a.raw); k > 1 && (p == "git" || p == "gh" || p == "del" || p == "rd" || p == "rmdir" || p == "rm" || p == "cmd" || p == "format") {
					s.words = words[k:]
					break
				}
			}
		}
		if strings.HasPrefix(words[0].raw, "::") {
			s.words = nil
		}
	}
	s.command(i)
}
