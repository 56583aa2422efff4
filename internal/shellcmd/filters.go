package shellcmd

import (
	"strings"
	"unicode/utf8"
)

// tr translates known text where the sets are plain characters and ranges.
func (w *walker) tr(sh *shell, args []Word) bool {
	if sh.in == nil || !isStatic(*sh.in) || len(args) == 0 {
		return false
	}
	del, complement := false, false
	for len(args) > 0 && len(args[0].raw) > 1 && args[0].raw[0] == '-' {
		switch args[0].raw {
		case "-d", "--delete":
			del = true
		case "--":
		default:
			complement = true
		}
		args = args[1:]
	}
	if complement || len(args) == 0 || len(args) > 2 {
		return false
	}
	from, ok := trSet(args[0].raw)
	if !ok {
		return false
	}
	if del {
		if len(args) != 1 {
			return false
		}
		sh.out.add(strings.Map(func(r rune) rune {
			if strings.ContainsRune(from, r) {
				return -1
			}
			return r
		}, *sh.in))
		return true
	}
	if len(args) != 2 {
		return false
	}
	to, ok := trSet(args[1].raw)
	if !ok || to == "" {
		return false
	}
	f, t := []rune(from), []rune(to)
	table := make(map[rune]rune, len(f))
	for i, r := range f {
		// The last character of the second set stands for all further ones.
		table[r] = t[min(i, len(t)-1)]
	}
	sh.out.add(strings.Map(func(r rune) rune {
		if n, ok := table[r]; ok {
			return n
		}
		return r
	}, *sh.in))
	return true
}

// trSet expands ranges, classes and escapes of a set; false if it holds more.
func trSet(s string) (string, bool) {
	if !isStatic(s) || len(s) > 1024 {
		return "", false
	}
	switch s {
	case "[:upper:]":
		s = "A-Z"
	case "[:lower:]":
		s = "a-z"
	case "[:digit:]":
		s = "0-9"
	case "[:space:]":
		return " \t\n\v\f\r", true
	case "[:blank:]":
		return " \t", true
	}
	if strings.Contains(s, "[:") || strings.Contains(s, "[=") || strings.Contains(s, "*]") {
		return "", false
	}
	var out []rune
	var literal []bool
	for i := 0; i < len(s); {
		if s[i] == '\\' && i+1 < len(s) {
			n, text := escape(s[i+1:], false)
			if n == 0 {
				_, n = utf8.DecodeRuneInString(s[i+1:])
				text = s[i+1 : i+1+n]
			}
			r, _ := utf8.DecodeRuneInString(text)
			out, literal = append(out, r), append(literal, true)
			i += 1 + n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		out, literal = append(out, r), append(literal, false)
		i += n
	}
	var b strings.Builder
	for i := 0; i < len(out); i++ {
		if i+2 < len(out) && out[i+1] == '-' && !literal[i+1] {
			lo, hi := out[i], out[i+2]
			if hi < lo || hi-lo > 512 {
				return "", false
			}
			for r := lo; r <= hi; r++ {
				b.WriteRune(r)
			}
			i += 2
			continue
		}
		b.WriteRune(out[i])
	}
	return b.String(), true
}

// sed is exact for s/plain/plain/[g] on known text, the script given plainly;
// ^ and $ may stand at the ends.
func (w *walker) sed(sh *shell, args []Word) bool {
	script, has := "", false
	var files []Word
	for i := 0; i < len(args); i++ {
		a := args[i].raw
		switch {
		case a == "-e" && i+1 < len(args) && !has:
			i++
			script, has = args[i].raw, true
		case a == "-E" || a == "-r" || a == "--":
		case len(a) > 1 && a[0] == '-':
			return false
		case !has:
			script, has = a, true
		default:
			files = append(files, args[i])
		}
	}
	if !has || len(script) < 4 || script[0] != 's' {
		return false
	}
	sep := script[1:2]
	parts := strings.Split(script[2:], sep)
	if len(parts) != 3 || (parts[2] != "" && parts[2] != "g") {
		return false
	}
	from, start := strings.CutPrefix(parts[0], "^")
	from, end := strings.CutSuffix(from, "$")
	blanks := false
	switch from {
	case " *", `\s*`, "[ ]*", "[ \t]*", `[ \t]*`, "[[:space:]]*", "[[:blank:]]*":
		from, blanks = "", start && !end
	}
	to := parts[1]
	if from == "" && !start && !end || start && end || strings.ContainsAny(from, `\.*[]^$+?(){}|`) || strings.ContainsAny(to, `\&`) {
		return false
	}
	text, ok := w.inputs(sh, files)
	if !ok && from == "" && start && !blanks {
		// Each line of what is not known.
		sh.out.add(to + w.mark(Part{Kind: Other}) + "\n")
		return true
	}
	if !ok || !isStatic(text) && (from != "" || !start || blanks) || !w.spend(len(text)) {
		return false
	}
	n := 1
	if parts[2] == "g" {
		n = -1
	}
	for _, l := range strings.SplitAfter(text, "\n") {
		body := strings.TrimSuffix(l, "\n")
		newline := l[len(body):]
		switch {
		case l == "":
		case blanks:
			body = to + strings.TrimLeft(body, " \t")
		case start:
			if rest, ok := strings.CutPrefix(body, from); ok {
				body = to + rest
			}
		case end:
			if rest, ok := strings.CutSuffix(body, from); ok {
				body = rest + to
			}
		default:
			body = strings.Replace(body, from, to, n)
		}
		sh.out.add(body + newline)
	}
	return true
}
