package guards

import (
	"regexp"
	"strings"

	"sallyport/internal/rawjson"
	"sallyport/internal/shellcmd"
)

// What common filters make of a text that the line reads from a file or from a
// command. The answers are close, not exact: known is false for all of them, so
// that a guard judges the text and relies on nothing else.

// filtered is the output of a filter that changes lines or leaves some out, and
// of one that makes a text of others.
func (c *Call) filtered(depth int) (text string, ok bool) {
	switch c.name {
	case "tr", "fold", "fmt", "expand", "unexpand", "dos2unix", "iconv", "envsubst", "sort", "uniq":
		text, _ = c.inputFrom(depth - 1)
		if c.name == "tr" {
			return c.simulated(text)
		}
		return text, text != ""
	case "sed", "gsed":
		return c.sed(depth)
	case "grep", "egrep", "fgrep":
		return c.grep(depth)
	case "jq":
		return c.jq(depth)
	case "git":
		return c.gitPrints(depth)
	}
	return "", false
}

// files is the text of the named files, or of standard input for none.
func (c *Call) files(names []shellcmd.Word, depth int) string {
	if len(names) == 0 {
		text, _ := c.inputFrom(depth - 1)
		return text
	}
	var b strings.Builder
	for _, w := range names {
		text, _ := c.content(w, depth/len(names))
		b.WriteString(text)
	}
	return b.String()
}

// simulated is what the parser of lines takes the output of c to be for a text
// on its standard input.
func (c *Call) simulated(text string) (string, bool) {
	const end = "agent-guard-end-of-text"
	if len(text) > maxText || strings.Contains(text, end) {
		return "", false
	}
	var b strings.Builder
	for _, w := range c.Args {
		if !w.Static {
			return "", false
		}
		b.WriteString(w.Quote() + " ")
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	line := shellcmd.Parse(b.String()+"<<'"+end+"' | cat\n"+text+end+"\n", shellcmd.Options{})
	last := line.Commands[len(line.Commands)-1]
	return last.Stdin.Value, last.Stdin.Known
}

// mapLines changes the lines of a text, or leaves them out.
func mapLines(text string, f func(line string) (string, bool)) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		if out, keep := f(bare); keep {
			b.WriteString(out + line[len(bare):])
		}
	}
	return b.String()
}

// sed follows scripts of substitutions and deletions by pattern.
func (c *Call) sed(depth int) (string, bool) {
	a := c.parse("ef", "expression", "file")
	scripts, ops := deref(a.values("e", "expression")), a.operands
	if len(scripts) == 0 && len(ops) > 0 {
		scripts, ops = ops[:1], ops[1:]
	}
	if !a.onlyHas("e", "expression", "E", "r", "regexp-extended", "u", "unbuffered") {
		return "", false
	}
	extended := a.has("E", "r", "regexp-extended")
	text := c.files(ops, depth)
	for _, s := range scripts {
		if !s.Static {
			return "", false
		}
		for rest := strings.TrimLeft(s.Value, "; \t\n"); rest != ""; rest = strings.TrimLeft(rest, "; \t\n") {
			step, more, ok := sedStep(rest, extended)
			if !ok {
				return "", false
			}
			text, rest = mapLines(text, step), more
		}
	}
	return text, true
}

func sedStep(s string, extended bool) (step func(string) (string, bool), rest string, ok bool) {
	switch {
	case s[0] == '/':
		pattern, rest, ok := strings.Cut(s[1:], "/")
		fold := strings.HasPrefix(rest, "I")
		rest, isDelete := strings.CutPrefix(strings.TrimPrefix(rest, "I"), "d")
		re, err := posixPattern(pattern, extended, fold)
		if !ok || !isDelete || err != nil || strings.HasSuffix(pattern, `\`) {
			return nil, "", false
		}
		return func(line string) (string, bool) { return line, !re.MatchString(line) }, rest, true
	case s[0] == 's' && len(s) > 3 && !isLoginByte(s[1]) && s[1] < 0x80 && s[1] != '\\':
		parts := strings.SplitN(s[2:], s[1:2], 3)
		if len(parts) < 3 || strings.HasSuffix(parts[0], `\`) || strings.HasSuffix(parts[1], `\`) {
			return nil, "", false
		}
		flags := parts[2][:len(parts[2])-len(strings.TrimLeft(parts[2], "gI"))]
		re, err := posixPattern(parts[0], extended, strings.Contains(flags, "I"))
		if err != nil || strings.ContainsAny(parts[1], `\&`) {
			return nil, "", false
		}
		return func(line string) (string, bool) {
			if strings.Contains(flags, "g") {
				return re.ReplaceAllLiteralString(line, parts[1]), true
			}
			if at := re.FindStringIndex(line); at != nil {
				line = line[:at[0]] + parts[1] + line[at[1]:]
			}
			return line, true
		}, parts[2][len(flags):], true
	}
	return nil, "", false
}

// posixPattern compiles a basic or extended regular expression.
func posixPattern(pattern string, extended, fold bool) (*regexp.Regexp, error) {
	if !extended {
		var b strings.Builder
		for i := 0; i < len(pattern); i++ {
			switch ch := pattern[i]; {
			case ch == '\\' && i+1 < len(pattern):
				i++
				if strings.IndexByte("(){}+?|", pattern[i]) < 0 {
					b.WriteByte('\\')
				}
				b.WriteByte(pattern[i])
			case strings.IndexByte("(){}+?|", ch) >= 0:
				b.WriteString(`\` + string(ch))
			default:
				b.WriteByte(ch)
			}
		}
		pattern = b.String()
	}
	if fold {
		pattern = "(?i)" + pattern
	}
	return regexp.Compile(pattern)
}

func (c *Call) grep(depth int) (string, bool) {
	a := c.parse("ef", "regexp", "file")
	patterns, ops := deref(a.values("e", "regexp")), a.operands
	if len(patterns) == 0 && len(ops) > 0 {
		patterns, ops = ops[:1], ops[1:]
	}
	if !a.onlyHas("e", "regexp", "v", "invert-match", "i", "ignore-case", "E", "F", "G", "h", "a", "extended-regexp", "fixed-strings", "no-filename", "text") {
		return "", false
	}
	fixed, extended := c.name == "fgrep" || a.has("F", "fixed-strings"), c.name == "egrep" || a.has("E", "extended-regexp")
	var all []*regexp.Regexp
	for _, p := range patterns {
		pattern := p.Value
		if fixed {
			pattern = regexp.QuoteMeta(pattern)
		}
		re, err := posixPattern(pattern, extended || fixed, a.has("i", "ignore-case"))
		if err != nil || !p.Static {
			return "", false
		}
		all = append(all, re)
	}
	text := mapLines(c.files(ops, depth), func(line string) (string, bool) {
		for _, re := range all {
			if re.MatchString(line) {
				return line, !a.has("v", "invert-match")
			}
		}
		return line, a.has("v", "invert-match")
	})
	return text, true
}

// jq follows programs that put named texts, or the raw input, into an object:
// jq -n --arg b "$text" '{body: $b}'.
func (c *Call) jq(depth int) (string, bool) {
	values := map[string]string{}
	program, raw, slurp := "", false, false
	for i := 1; i < len(c.Args); i++ {
		w := c.Args[i]
		switch s := w.Value; {
		case (s == "--arg" || s == "--rawfile") && i+2 < len(c.Args):
			text, _ := c.text(c.Args[i+2])
			if s == "--rawfile" {
				text, _ = c.content(c.Args[i+2], depth)
			}
			values["$"+c.Args[i+1].Value] = text
			i += 2
		case s == "--raw-input" || s == "--slurp" || s == "--null-input" || s == "--compact-output":
			raw, slurp = raw || s == "--raw-input", slurp || s == "--slurp"
		case len(s) > 1 && s[0] == '-':
			if strings.Trim(s[1:], "nRscMrj") != "" {
				return "", false
			}
			raw, slurp = raw || strings.Contains(s, "R"), slurp || strings.Contains(s, "s")
		case program == "" && w.Static:
			program = strings.TrimSpace(s)
		case raw && slurp:
			values["."], _ = c.content(w, depth)
		default:
			return "", false
		}
	}
	if _, named := values["."]; raw && slurp && !named {
		values["."], _ = c.inputFrom(depth - 1)
	}
	if len(program) < 2 || program[0] != '{' || program[len(program)-1] != '}' {
		return "", false
	}
	body := program[1 : len(program)-1]
	out := []byte("{}")
	for entry := range strings.SplitSeq(body, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(entry), ":")
		key, value = strings.Trim(strings.TrimSpace(key), `"`), strings.TrimSpace(value)
		if value == "" && strings.HasPrefix(key, "$") {
			key, value = key[1:], key
		}
		text, ok := values[value]
		if !ok {
			if text, ok = rawjson.String([]byte(value)); !ok {
				continue
			}
		}
		if len(out) > 2 {
			out = append(out[:len(out)-1], ',')
		} else {
			out = out[:1]
		}
		out = append(rawjson.AppendString(out, key), ':')
		out = append(rawjson.AppendString(out, text), '}')
	}
	return string(out), len(out) > 2
}

// gitPrints is the message that git log or git show prints, and what git
// interpret-trailers adds to its input.
func (c *Call) gitPrints(depth int) (string, bool) {
	if len(c.Args) < 2 || !c.Args[1].Static {
		return "", false
	}
	switch c.Args[1].Value {
	case "interpret-trailers":
		text, _ := c.inputFrom(depth - 1)
		text = strings.TrimRight(text, "\n") + "\n\n"
		for i := 2; i < len(c.Args); i++ {
			w := c.Args[i]
			value, attached := w.After("--trailer=")
			if !attached {
				if w.Value != "--trailer" || i+1 == len(c.Args) {
					continue
				}
				i++
				value = c.Args[i]
			}
			line, _ := c.text(value)
			if k := strings.IndexAny(line, "=:"); k > 0 && line[k] == '=' {
				line = line[:k] + ": " + line[k+1:]
			}
			text += line + "\n"
		}
		return text, true
	case "log", "show":
	default:
		return "", false
	}
	format, rev, one := "", "HEAD", c.Args[1].Value == "show"
	for i := 2; i < len(c.Args); i++ {
		s := c.Args[i].Value
		switch {
		case !c.Args[i].Static:
			return "", false
		case s == "-1", s == "-n1", s == "--max-count=1":
			one = true
		case s == "-n" && i+1 < len(c.Args) && c.Args[i+1].Value == "1":
			one = true
			i++
		case s == "-s", s == "--no-patch", s == "--no-show-signature":
		case strings.HasPrefix(s, "--format="), strings.HasPrefix(s, "--pretty="):
			format = strings.TrimPrefix(s[strings.IndexByte(s, '=')+1:], "format:")
		case s == "" || s[0] == '-' || rev != "HEAD":
			return "", false
		default:
			rev = s
		}
	}
	plain := strings.NewReplacer("%B", "", "%s", "", "%b", "", "%n", "").Replace(format)
	if !one || format == "" || strings.Contains(plain, "%") {
		return "", false
	}
	return c.git("log", "-1", "--format="+format, "--end-of-options", rev, "--")
}
