package setup

import (
	"path"
	"slices"
	"strings"

	"sallyport/settings"
)

// An invocation is what a hook entry or status line starts.
type invocation struct {
	env     []string // leading NAME=value words
	program string   // as written, quotes removed
	args    []string
	shell   bool // a shell reads it, so ~ and $HOME are expanded
	script  bool // run by an interpreter or named with a script's suffix
	// within is set when the program is only a part of a larger command line.
	within bool
}

// parseInvocation reads an entry of the client's hook settings, or its status
// line. ok is false if it is not a command or cannot be understood.
func parseInvocation(entry settings.Node) (inv invocation, ok bool) {
	if kind, _ := entry.Get("type").Text(); kind != "command" {
		return inv, false
	}
	command, ok := entry.Get("command").Text()
	if !ok {
		return inv, false
	}
	var words []string
	if args := entry.Get("args"); args.Kind() == settings.Array {
		list, ok := texts(args)
		if !ok {
			return inv, false
		}
		words = append([]string{command}, list...)
	} else {
		inv.shell = true
		words, inv.within, ok = splitShell(command)
		if !ok {
			return inv, false
		}
		for len(words) > 0 && isAssignment(words[0]) {
			inv.env = append(inv.env, words[0])
			words = words[1:]
		}
	}
	for len(words) > 0 && slices.Contains([]string{"env", "bash", "sh", "python3"}, baseName(words[0])) {
		isEnv := baseName(words[0]) == "env"
		inv.script = inv.script || !isEnv
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || isEnv && isAssignment(words[0])) {
			if words[0] == "-c" {
				return inv, false
			}
			if isAssignment(words[0]) {
				inv.env = append(inv.env, words[0])
			}
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return inv, false
	}
	inv.program, inv.args = words[0], words[1:]
	return inv, true
}

// texts reads an array of strings; ok is false if it is anything else.
func texts(list settings.Node) (all []string, ok bool) {
	ok = list.Kind() == settings.Array
	list.Each(func(_ string, v settings.Node) bool {
		var s string
		if s, ok = v.Text(); ok {
			all = append(all, s)
		}
		return ok
	})
	return all, ok
}

// name is the program's base name without the suffix of a script.
func (inv invocation) name() (name string, script bool) {
	name = strings.TrimSuffix(baseName(inv.program), ".exe")
	for _, suffix := range []string{".sh", ".py"} {
		if short, cut := strings.CutSuffix(name, suffix); cut {
			return short, true
		}
	}
	return name, inv.script
}

// runs reports whether the invocation calls a component with the sub-command
// words of a hook. Flags that a person added after them do not matter.
func (inv invocation) runs(component string, sub []string) (other, ok bool) {
	got, other, ok := identify(inv.name())
	if !ok || got != component || len(inv.args) < len(sub) || !slices.Equal(inv.args[:len(sub)], sub) {
		return false, false
	}
	if rest := inv.args[len(sub):]; len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return false, false
	}
	return other, true
}

// baseName takes both separators, because settings travel between systems.
func baseName(p string) string { return path.Base(strings.ReplaceAll(p, `\`, "/")) }

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

// splitShell splits a command line into words with their quotes removed. It
// stops at the first operator and then reports more. ok is false for an
// unclosed quote.
func splitShell(line string) (words []string, more, ok bool) {
	var word strings.Builder
	inWord := false
	end := func() {
		if inWord {
			words = append(words, word.String())
			word.Reset()
			inWord = false
		}
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t':
			end()
		case '\'':
			inWord = true
			n := strings.IndexByte(line[i+1:], '\'')
			if n < 0 {
				return nil, false, false
			}
			word.WriteString(line[i+1 : i+1+n])
			i += n + 1
		case '"':
			inWord = true
			closed := false
			for i++; i < len(line); i++ {
				if line[i] == '"' {
					closed = true
					break
				}
				if line[i] == '\\' && i+1 < len(line) && strings.IndexByte("\"\\$`", line[i+1]) >= 0 {
					i++
				}
				word.WriteByte(line[i])
			}
			if !closed {
				return nil, false, false
			}
		case '\\':
			if i+1 >= len(line) {
				return nil, false, false
			}
			inWord = true
			i++
			word.WriteByte(line[i])
		case '\n', ';', '&', '|', '<', '>', '(', ')', '`':
			end()
			return words, strings.TrimSpace(line[i:]) != "", true
		case '#':
			if !inWord {
				return words, false, true
			}
			word.WriteByte(c)
		default:
			inWord = true
			word.WriteByte(c)
		}
	}
	end()
	return words, false, true
}

// quote makes a word that a POSIX shell reads back as s.
func quote(s string) string {
	safe := s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("@%+=:,./_-", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
	if safe {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// homeWord is a file under the home directory as a shell expands it on every
// machine, and any other file whole.
func homeWord(file, home string) string {
	if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(home, "/")+"/"); ok {
		return "~/" + quote(rest)
	}
	return quote(file)
}

// expand is the file that a program word names for a person's shell.
func expand(word, home, configDir string) string {
	for prefix, dir := range map[string]string{"~/": home, "$HOME/": home, "${HOME}/": home, "$CLAUDE_CONFIG_DIR/": configDir, "${CLAUDE_CONFIG_DIR}/": configDir} {
		if rest, ok := strings.CutPrefix(word, prefix); ok {
			return dir + "/" + rest
		}
	}
	return word
}
