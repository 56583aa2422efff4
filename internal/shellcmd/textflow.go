package shellcmd

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// output adds what a program prints, where that follows from text that is
// known, and records what it does to files whose content is known.
func (w *walker) output(sh *shell, inv *invocation, cmd *Command, name string) {
	args := inv.args[1:]
	switch name {
	case "echo":
		w.echo(sh, args)
		return
	case "cat", "tac", "head", "tail", "sort", "uniq":
		if w.cat(sh, name, args) {
			return
		}
	case "tee":
		w.tee(sh, args)
		return
	case "base64", "gbase64":
		if w.base64(sh, args) {
			return
		}
	case "xxd":
		if w.xxd(sh, args) {
			return
		}
	case "rev":
		if len(args) == 0 && sh.in != nil && isStatic(*sh.in) {
			lines := strings.SplitAfter(*sh.in, "\n")
			for i, l := range lines {
				body := strings.TrimSuffix(l, "\n")
				lines[i] = reverse(body) + l[len(body):]
			}
			sh.out.add(strings.Join(lines, ""))
			return
		}
	case "tr":
		if w.tr(sh, args) {
			return
		}
	case "sed":
		if w.sed(sh, args) {
			return
		}
	case "basename", "dirname":
		// Their text matters rarely; not knowing it is safe.
	case "seq":
		if w.seq(sh, args) {
			return
		}
	case "cp", "mv", "install", "ln":
		w.copyFile(sh, name, args)
		return
	case "rm", "unlink":
		for _, a := range args {
			if !strings.HasPrefix(a.raw, "-") {
				w.remove(w.path(sh, a.raw))
			}
		}
		return
	case "curl", "wget", "aria2c", "fetch", "http", "xh":
		w.download(sh, cmd, name, args)
	case "dd":
		w.dd(sh, cmd, args)
		return
	case "mkdir":
		w.makeDirs(sh, args)
		return
	case "touch", "chmod", "chown", "sleep", "rmdir", "kill":
		return
	case "yes":
		if len(args) > 0 {
			sh.out.add(strings.Join(raws(w, args), " ") + "\n")
		}
	}
	sh.out.unknown(cmd)
}

func reverse(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		_, n := utf8.DecodeLastRuneInString(s)
		b.WriteString(s[len(s)-n:])
		s = s[:len(s)-n]
	}
	return b.String()
}

// outputText is a word as a program prints it. A glob may become file names.
func (w *walker) outputText(words []Word) string {
	var b strings.Builder
	for i, a := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.raw)
	}
	return b.String()
}

func (w *walker) echo(sh *shell, args []Word) {
	if sh.out == nil {
		return
	}
	newline, escapes := "\n", w.opt.Dialect == Zsh || w.opt.Dialect == POSIX
	for len(args) > 0 {
		a := args[0].raw
		if len(a) < 2 || a[0] != '-' || strings.Trim(a[1:], "neE") != "" {
			break
		}
		for _, c := range a[1:] {
			switch c {
			case 'n':
				newline = ""
			case 'e':
				escapes = true
			case 'E':
				escapes = false
			}
		}
		args = args[1:]
	}
	text := w.outputText(args)
	if escapes {
		var stop bool
		if text, stop = unescapeEcho(text); stop {
			newline = ""
		}
	}
	sh.out.add(text + newline)
}

// unescapeEcho resolves the escapes of echo -e and printf %b; true after \c.
func unescapeEcho(s string) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, false
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if s[i] == 'c' {
			return b.String(), true
		}
		n, text := escape(s[i:], true)
		if n == 0 {
			b.WriteByte('\\')
			b.WriteByte(s[i])
			continue
		}
		b.WriteString(text)
		i += n - 1
	}
	return b.String(), false
}

// octalZero writes \nnn as \0nnn: %b takes both, echo -e the second only.
func octalZero(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		b.WriteByte(s[i])
		if s[i] == '\\' && i+1 < len(s) {
			if c := s[i+1]; '1' <= c && c <= '7' {
				b.WriteByte('0')
			}
			i++
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// printf is the builtin: with -v it sets a variable.
func (w *walker) printf(sh *shell, inv *invocation, cmd *Command, args []Word) {
	to := ""
	if len(args) > 1 && args[0].raw == "-v" {
		to = args[1].raw
		args = args[2:]
	} else if len(args) > 0 && strings.HasPrefix(args[0].raw, "-v") && len(args[0].raw) > 2 {
		to = args[0].raw[2:]
		args = args[1:]
	}
	if len(args) > 0 && args[0].raw == "--" {
		args = args[1:]
	}
	if to == "" && sh.out == nil || len(args) == 0 {
		return
	}
	text, ok := w.format(w.literal(args[0].raw), raws(w, args[1:]))
	if !ok {
		text = w.mark(Part{Kind: Substitution, From: []*Command{cmd}})
	}
	if to != "" {
		sh.put(to, &variable{vals: []string{text}})
		return
	}
	sh.out.add(text)
}

// format applies a printf format, again and again while arguments are left.
func (w *walker) format(f string, args []string) (string, bool) {
	var b strings.Builder
	for round := 0; ; round++ {
		used := 0
		next := func() string {
			if used < len(args) {
				used++
				return args[used-1]
			}
			return ""
		}
		for i := 0; i < len(f); i++ {
			if b.Len() > maxValue || !w.spend(1) {
				return "", false
			}
			switch {
			case f[i] == '\\' && i+1 < len(f):
				i++
				if f[i] == 'c' {
					return b.String(), true
				}
				n, text := escape(f[i:], false)
				if f[i] == '"' || f[i] == '\'' {
					n, text = 1, f[i:i+1]
				}
				if n == 0 {
					b.WriteString(f[i-1 : i+1])
					continue
				}
				b.WriteString(text)
				i += n - 1
			case f[i] == '%' && i+1 < len(f):
				i++
				if f[i] == '%' {
					b.WriteByte('%')
					continue
				}
				start := i
				for i < len(f) && strings.IndexByte("-+ #0123456789.'*", f[i]) >= 0 {
					i++
				}
				if i >= len(f) {
					return b.String(), true
				}
				spec := f[start:i]
				switch f[i] {
				case 's':
					text, ok := pad(next(), spec)
					if !ok {
						return "", false
					}
					b.WriteString(text)
				case 'b':
					text, stop := unescapeEcho(octalZero(next()))
					b.WriteString(text)
					if stop {
						return b.String(), true
					}
				case 'q':
					b.WriteString(quoteShell(next()))
				case 'd', 'i', 'u':
					a := next()
					if spec != "" || !isDigits(strings.TrimPrefix(a, "-")) {
						b.WriteString(w.mark(Part{Kind: Other}))
						continue
					}
					b.WriteString(a)
				case 'c':
					if a := next(); a != "" {
						b.WriteString(a[:1])
					}
				default:
					next()
					b.WriteString(w.mark(Part{Kind: Other}))
				}
			default:
				b.WriteByte(f[i])
			}
		}
		args = args[used:]
		if len(args) == 0 || used == 0 {
			return b.String(), true
		}
	}
}

// pad applies a width and precision of %s; false if it needs an argument.
func pad(s, spec string) (string, bool) {
	if spec == "" {
		return s, true
	}
	left := strings.HasPrefix(spec, "-")
	width, prec, hasPrec := strings.Cut(strings.TrimLeft(spec, "-"), ".")
	if strings.ContainsAny(spec, "*'# +") || !isStatic(s) {
		return "", false
	}
	if hasPrec {
		if n := smallNumber(prec, 0); n < len(s) {
			s = s[:n]
		}
	}
	n := smallNumber(width, 0)
	if n > 4096 {
		return "", false
	}
	if n > len(s) {
		if left {
			s += strings.Repeat(" ", n-len(s))
		} else {
			s = strings.Repeat(" ", n-len(s)) + s
		}
	}
	return s, true
}

// quoteShell quotes text so that a shell reads it back.
func quoteShell(s string) string {
	if s == "" {
		return "''"
	}
	for i := 0; i < len(s); i++ {
		if !isWordByte(s[i]) && strings.IndexByte("-./:,+=@%", s[i]) < 0 && s[i] < utf8.RuneSelf {
			return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
	}
	return s
}

// inputs are the texts of the files that a filter reads, or its input; false
// if one is not known.
func (w *walker) inputs(sh *shell, files []Word) (string, bool) {
	if len(files) == 0 {
		if sh.in == nil {
			return "", false
		}
		return *sh.in, true
	}
	var b strings.Builder
	for _, f := range files {
		var text string
		ok := true
		if f.raw == "-" {
			if ok = sh.in != nil; ok {
				text = *sh.in
			}
		} else {
			text, ok = w.fileText(sh, f.raw)
		}
		if !ok {
			return "", false
		}
		b.WriteString(text)
	}
	return b.String(), true
}

// cat passes text on; head, tail, sort and the like pass on some of it, and
// all of it is what may come.
func (w *walker) cat(sh *shell, name string, args []Word) bool {
	var files []Word
	options := false
	for i := 0; i < len(args); i++ {
		a := args[i].raw
		if len(a) > 1 && a[0] == '-' {
			if name != "cat" {
				options = true
				if len(a) == 2 && strings.IndexByte("ncktoSTs", a[1]) >= 0 {
					i++
				}
			} else if strings.ContainsAny(a, "nbAEevtT") && a != "--" {
				return false
			}
			continue
		}
		files = append(files, args[i])
	}
	text, ok := w.inputs(sh, files)
	if !ok {
		return false
	}
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if name == "cat" || (len(lines) < 2 && !options) {
		sh.out.add(text)
		return true
	}
	if name == "tac" && !options {
		for i := len(lines) - 1; i >= 0; i-- {
			sh.out.add(lines[i])
		}
		return true
	}
	return false
}

func (w *walker) tee(sh *shell, args []Word) {
	text := otherMark
	if sh.in != nil {
		text = *sh.in
	}
	add := false
	for _, a := range args {
		if len(a.raw) > 1 && a.raw[0] == '-' {
			add = add || a.raw == "--append" || (a.raw[1] != '-' && strings.Contains(a.raw, "a"))
			continue
		}
		w.write(w.path(sh, a.raw), text, add)
	}
	sh.out.add(text)
}

func (w *walker) base64(sh *shell, args []Word) bool {
	decode := false
	var files []Word
	for i := 0; i < len(args); i++ {
		switch a := args[i].raw; {
		case a == "-d" || a == "-D" || (strings.HasPrefix(a, "--d") && strings.HasPrefix("--decode", a)) || a == "-di" || a == "-id":
			decode = true
		case a == "-w" || a == "--wrap" || a == "-b":
			i++
		case len(a) > 1 && a[0] == '-':
		default:
			files = append(files, args[i])
		}
	}
	text, ok := w.inputs(sh, files)
	if !ok || !isStatic(text) {
		return false
	}
	if !decode {
		out := base64.StdEncoding.EncodeToString([]byte(unescapeRaw(text)))
		if len(args) == 0 {
			for len(out) > 76 {
				sh.out.add(out[:76] + "\n")
				out = out[76:]
			}
		} else if len(args) != 2 || args[1].raw != "0" {
			return false
		}
		sh.out.add(out + "\n")
		return true
	}
	clean := strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == ' ' || r == '\t' || r == '=' {
			return -1
		}
		return r
	}, text)
	data, err := base64.RawStdEncoding.DecodeString(clean)
	if err != nil && len(data) == 0 {
		return false
	}
	out, _ := escapeSource(string(data))
	sh.out.add(out)
	return true
}

// xxd is xxd -r -p.
func (w *walker) xxd(sh *shell, args []Word) bool {
	reverse, plain := false, false
	var files []Word
	for _, a := range args {
		switch {
		case len(a.raw) > 1 && a.raw[0] == '-':
			reverse = reverse || strings.Contains(a.raw, "r")
			plain = plain || strings.Contains(a.raw, "p")
		default:
			files = append(files, a)
		}
	}
	text, ok := w.inputs(sh, files)
	if !ok || !reverse || !plain || !isStatic(text) {
		return false
	}
	clean := strings.Join(strings.Fields(text), "")
	data, err := hex.DecodeString(clean[:len(clean)&^1])
	if err != nil {
		return false
	}
	out, _ := escapeSource(string(data))
	sh.out.add(out)
	return true
}

func (w *walker) seq(sh *shell, args []Word) bool {
	if len(args) == 0 || len(args) > 2 || sh.out == nil {
		return false
	}
	from, to := 1, smallNumber(args[len(args)-1].raw, -1)
	if len(args) == 2 {
		from = smallNumber(args[0].raw, -1)
	}
	if from < 0 || to < 0 || to-from > 100 {
		return false
	}
	for i := from; i <= to; i++ {
		sh.out.add(itoa(i) + "\n")
	}
	return true
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// copyFile follows cp, mv, install and ln: the target has the source's text.
func (w *walker) copyFile(sh *shell, name string, args []Word) {
	var operands []*Word
	target := ""
	for i := 0; i < len(args); i++ {
		a := args[i].raw
		if len(a) > 1 && a[0] == '-' {
			switch {
			case a == "-t" && i+1 < len(args):
				i++
				target = args[i].raw
			case strings.HasPrefix(a, "--target-directory="):
				target = a[len("--target-directory="):]
			case name == "install" && len(a) == 2 && strings.IndexByte("mogS", a[1]) >= 0:
				i++
			}
			continue
		}
		if operands == nil {
			operands = make([]*Word, 0, len(args)-i)
		}
		operands = append(operands, &args[i])
	}
	if target == "" {
		if len(operands) < 2 {
			return
		}
		target = operands[len(operands)-1].raw
		operands = operands[:len(operands)-1]
	}
	to := w.path(sh, target)
	if w.files == nil {
		w.files = make(map[string][]version, len(operands))
	}
	for _, o := range operands {
		from := w.path(sh, o.raw)
		texts, complete := w.versionsOf(from, w.writes)
		text, program := "", ""
		if len(texts) > 0 {
			text = texts[0]
		} else {
			if data, ok := w.readFS(from); ok && !complete {
				text = data
			} else {
				text = w.mark(Part{Text: o.Value, Kind: Other})
			}
			if isStatic(from) && w.spend(16) {
				program = from
			}
		}
		// The target may be a directory: then the file has its own name there.
		if len(operands) == 1 && !strings.HasSuffix(target, "/") {
			w.put(to, version{text: text, from: program})
		}
		w.put(joinPath(to, from[strings.LastIndexByte(from, '/')+1:]), version{text: text, from: program})
		if name == "mv" && len(texts) > 0 {
			w.remove(from)
		}
	}
}

// download records the file that a download writes, as the program's output.
func (w *walker) download(sh *shell, cmd *Command, name string, args []Word) {
	text := w.mark(Part{Kind: Substitution, From: []*Command{cmd}})
	byURL := name == "wget"
	var urls []string
	written := false
	for i := 0; i < len(args); i++ {
		a := args[i].raw
		to := ""
		switch {
		case name == "curl" && (a == "-o" || a == "--output"), name == "wget" && (a == "-O" || a == "--output-document"), name == "aria2c" && (a == "-o" || a == "--out"):
			if i+1 < len(args) {
				i++
				to = args[i].raw
			}
		case strings.HasPrefix(a, "--output="), strings.HasPrefix(a, "--output-document="), strings.HasPrefix(a, "--out="):
			_, to, _ = strings.Cut(a, "=")
		case len(a) > 2 && a[0] == '-' && a[1] != '-' && name == "curl" && strings.IndexByte(a, 'o') > 0:
			// A cluster such as -fsSLo file.
			if at := strings.IndexByte(a, 'o'); at == len(a)-1 && i+1 < len(args) {
				i++
				to = args[i].raw
			} else {
				to = a[at+1:]
			}
		case len(a) > 2 && a[0] == '-' && a[1] != '-' && name == "wget" && strings.IndexByte(a, 'O') > 0:
			if at := strings.IndexByte(a, 'O'); at == len(a)-1 && i+1 < len(args) {
				i++
				to = args[i].raw
			} else {
				to = a[at+1:]
			}
		case len(a) > 1 && a[0] == '-' && a[1] != '-' && name == "curl" && strings.IndexByte(a, 'O') > 0, a == "--remote-name":
			byURL = true
		case !strings.HasPrefix(a, "-"):
			urls = append(urls, a)
		}
		if to != "" && to != "-" {
			w.write(w.path(sh, to), text, false)
			written = true
		}
		written = written || to == "-"
	}
	if byURL && !written {
		for _, u := range urls {
			u, _, _ = strings.Cut(u, "?")
			w.write(w.path(sh, u[strings.LastIndexByte(u, '/')+1:]), text, false)
		}
	}
}

func (w *walker) dd(sh *shell, cmd *Command, args []Word) {
	text, ok := "", false
	to := ""
	if sh.in != nil {
		text, ok = *sh.in, true
	}
	for _, a := range args {
		if f, is := strings.CutPrefix(a.raw, "if="); is {
			text, ok = w.fileText(sh, f)
		}
		if f, is := strings.CutPrefix(a.raw, "of="); is {
			to = f
		}
	}
	if !ok {
		text = w.mark(Part{Kind: Substitution, From: []*Command{cmd}})
	}
	if to != "" {
		w.write(w.path(sh, to), text, false)
		return
	}
	sh.out.add(text)
}
