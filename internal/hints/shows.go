package hints

import "strings"

// ShowsText reports whether a command line is there to show a text: its first
// command that does more than set the scene is one such as cat, grep or git
// log. What such a call prints is a document about something, not something
// that happened to the call.
//
// The line is read word by word and not parsed. Passed over in front are
// directory changes, echo and the like, assignments, keywords, and wrappers such
// as sudo and command. A cat whose output goes to a file shows nothing and is
// passed over too.
func ShowsText(line string) bool {
	return showsText(line, 0)
}

// ShowsTextPowerShell is [ShowsText] for a PowerShell command line.
func ShowsTextPowerShell(line string) bool {
	line = strings.TrimLeft(line, " \t\r\n;(&")
	for {
		name, rest := line, ""
		if i := strings.IndexAny(line, " \t\r\n;|"); i >= 0 {
			name, rest = line[:i], line[i:]
		}
		switch program(strings.ToLower(name)) {
		case "cd", "set-location", "sl", "chdir", "push-location", "pushd", "write-host", "write-output", "echo":
			i := strings.IndexAny(rest, ";\n|")
			if i < 0 {
				return false
			}
			line = strings.TrimLeft(rest[i:], " \t\r\n;|&(")
			continue
		case "get-content", "gc", "type", "select-string", "sls", "get-help", "format-hex":
			return true
		}
		return showsText(line, 0)
	}
}

const (
	maxNesting      = 4        // shells within shells that are followed
	maxCommandBytes = 64 << 10 // of a line whose first commands only set the scene
)

func showsText(line string, depth int) bool {
	if depth > maxNesting {
		return false
	}
	l := lexer{rest: line[:min(len(line), maxCommandBytes)]}
	for {
		stages, toFile, more := l.pipeline()
		switch verdict(stages, toFile, depth) {
		case shows:
			return true
		case acts:
			return false
		}
		if !more {
			return false
		}
	}
}

type kind int

const (
	scenery kind = iota // neither shows a text nor can fail in a telling way
	shows
	acts
)

// verdict judges a pipeline by its first command, or by what a later xargs runs.
func verdict(stages [][]string, toFile bool, depth int) kind {
	if len(stages) == 0 {
		return scenery
	}
	for _, stage := range stages[1:] {
		if stage = unwrap(stage); len(stage) > 0 && program(stage[0]) == "xargs" {
			args := skipOptions(stage[1:], "a", "d", "E", "I", "L", "n", "P", "s")
			return command(unwrap(args), toFile, depth)
		}
	}
	return command(unwrap(stages[0]), toFile, depth)
}

func command(args []string, toFile bool, depth int) kind {
	if len(args) == 0 {
		return scenery
	}
	switch program(args[0]) {
	case "cd", "pushd", "popd", "echo", "printf", "pwd", "true", ":", "set", "shopt", "export", "unset", "umask",
		"sleep", "exit", "clear", "date", "read", "ls", "tree", "wc", "stat", "file", "which", "test", "[", "[[", "for", "case", "select", "function", "local", "declare":
		return scenery
	case "cat", "bat", "batcat", "less", "more", "head", "tail", "tac", "nl", "zcat", "zless", "bzcat", "xzcat",
		"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "awk", "gawk", "mawk",
		"jq", "yq", "fx", "diff", "strings", "xxd", "hexdump", "od", "man":
		if toFile {
			return scenery
		}
		return shows
	case "find", "fd":
		for i, a := range args {
			if a == "-exec" || a == "-execdir" || a == "-x" || a == "-X" {
				return command(unwrap(args[i+1:]), toFile, depth)
			}
		}
		return scenery
	case "sed":
		for _, a := range args[1:] {
			if strings.HasPrefix(a, "--in-place") || isShort(a, 'i') {
				return acts
			}
		}
		if toFile {
			return scenery
		}
		return shows
	case "git":
		switch subcommand(args[1:], "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path") {
		case "log", "show", "diff", "grep", "blame", "annotate", "shortlog", "whatchanged", "cat-file", "reflog", "help":
			return shows
		}
	case "gh":
		rest := args[1:]
		first := subcommand(rest, "-R", "--repo", "--hostname")
		second := ""
		for i, a := range rest {
			if a == first {
				second = subcommand(rest[i+1:], "-R", "--repo", "--hostname")
				break
			}
		}
		switch first + " " + second {
		case "issue view", "issue list", "pr view", "pr diff", "pr list", "run view", "release view",
			"search issues", "search prs", "search code", "search commits", "gist view":
			return shows
		}
	case "sh", "bash", "zsh", "dash", "ksh":
		for i, a := range args[1:] {
			if isShort(a, 'c') && i+2 < len(args) {
				if showsText(args[i+2], depth+1) {
					return shows
				}
				return acts
			}
		}
	}
	return acts
}

// isShort reports whether a is a cluster of short options that holds c.
func isShort(a string, c byte) bool {
	return len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.IndexByte(a, c) > 0
}

// program is the name of a program without its directory, the backslash that
// keeps an alias away, and the suffix of Windows.
func program(word string) string {
	word = word[strings.LastIndexAny(word, `/\`)+1:]
	return strings.TrimSuffix(word, ".exe")
}

// subcommand is the first operand of args; the options named take a value.
func subcommand(args []string, valued ...string) string {
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i], "-") {
			return args[i]
		}
		for _, v := range valued {
			if args[i] == v {
				i++
				break
			}
		}
	}
	return ""
}

// unwrap removes what stands before the program: assignments, keywords, and
// programs that run the one they are given.
func unwrap(args []string) []string {
	for len(args) > 0 {
		if isAssignment(args[0]) {
			args = args[1:]
			continue
		}
		switch program(args[0]) {
		case "!", "{", "}", "fi", "done", "esac", "if", "then", "elif", "else", "while", "until", "do", "builtin", "exec", "nohup", "noglob", "nocorrect":
			args = args[1:]
		case "time":
			args = skipOptions(args[1:], "f", "o")
		case "command":
			args = skipOptions(args[1:])
		case "sudo", "doas":
			args = skipOptions(args[1:], "u", "g", "h", "p", "C", "D", "R", "r", "t", "T", "U")
		case "env":
			args = skipOptions(args[1:], "u", "C", "S")
		case "nice", "ionice":
			args = skipOptions(args[1:], "n", "c", "p")
		case "stdbuf":
			args = skipOptions(args[1:], "i", "o", "e")
		case "timeout", "gtimeout":
			args = skipOptions(args[1:], "k", "s")
			if len(args) > 0 {
				args = args[1:] // the duration
			}
		default:
			return args
		}
	}
	return nil
}

// skipOptions removes leading options; the short ones named take a value.
func skipOptions(args []string, valued ...string) []string {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		option := args[0]
		args = args[1:]
		if option == "--" {
			break
		}
		for _, v := range valued {
			if option == "-"+v && len(args) > 0 {
				args = args[1:]
				break
			}
		}
	}
	return args
}

func isAssignment(word string) bool {
	name, _, found := strings.Cut(word, "=")
	if !found || name == "" {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// A lexer splits shell text into the words of one command after the other.
type lexer struct {
	rest string
	docs []heredoc // here-documents whose text begins after this line
}

type heredoc struct {
	end  string
	tabs bool // leading tabs are stripped: <<-
}

// pipeline reads one pipeline: the words of each command, whether the output of
// the last one goes to a file, and whether another pipeline follows.
func (l *lexer) pipeline() (stages [][]string, toFile, more bool) {
	var args []string
	defer func() {
		if len(args) > 0 || len(stages) > 0 {
			stages = append(stages, args)
		}
	}()
	for {
		l.rest = strings.TrimLeft(l.rest, " \t\r")
		if l.rest == "" {
			return stages, toFile, false
		}
		switch c := l.rest[0]; {
		case c == '\n':
			l.rest = l.rest[1:]
			l.skipDocs()
			return stages, toFile, true
		case c == '#':
			i := strings.IndexByte(l.rest, '\n')
			if i < 0 {
				return stages, toFile, false
			}
			l.rest = l.rest[i:]
		case c == ';', c == '(', c == ')':
			l.rest = l.rest[1:]
			return stages, toFile, true
		case strings.HasPrefix(l.rest, "||"), strings.HasPrefix(l.rest, "&&"):
			l.rest = l.rest[2:]
			return stages, toFile, true
		case strings.HasPrefix(l.rest, "&>"):
			l.rest = strings.TrimPrefix(l.rest[2:], ">")
			toFile = realFile(l.word()) || toFile
		case c == '&':
			l.rest = l.rest[1:]
			return stages, toFile, true
		case c == '|':
			l.rest = strings.TrimPrefix(l.rest[1:], "&")
			l.rest = strings.TrimLeft(l.rest, " \t\r\n")
			stages, args, toFile = append(stages, args), nil, false
		case c == '<':
			l.input()
		case c == '>':
			toFile = l.output() || toFile
		default:
			word := l.word()
			if fd := strings.Trim(word, "0123456789") == ""; fd && l.rest != "" && (l.rest[0] == '>' || l.rest[0] == '<') {
				if l.rest[0] == '<' {
					l.input()
				} else if out := l.output(); word == "1" {
					toFile = out || toFile
				}
				continue
			}
			args = append(args, word)
		}
	}
}

// input reads a redirection of the input.
func (l *lexer) input() {
	switch {
	case strings.HasPrefix(l.rest, "<<<"):
		l.rest = l.rest[3:]
		l.word()
	case strings.HasPrefix(l.rest, "<<"):
		l.rest = l.rest[2:]
		tabs := strings.HasPrefix(l.rest, "-")
		l.rest = strings.TrimPrefix(l.rest, "-")
		l.docs = append(l.docs, heredoc{l.word(), tabs})
	default:
		l.rest = strings.TrimLeft(l.rest[1:], "&>(")
		l.word()
	}
}

// output reads a redirection of the output and reports whether a file gets it.
func (l *lexer) output() bool {
	l.rest = l.rest[1:]
	if strings.HasPrefix(l.rest, "&") {
		l.rest = l.rest[1:]
		return strings.Trim(l.word(), "0123456789-") != ""
	}
	l.rest = strings.TrimLeft(l.rest, ">|")
	return realFile(l.word())
}

func realFile(name string) bool {
	return name != "/dev/stdout" && name != "/dev/stderr" && name != "/dev/tty"
}

// skipDocs steps over the here-documents that were announced.
func (l *lexer) skipDocs() {
	for _, doc := range l.docs {
		for l.rest != "" {
			line, rest, _ := strings.Cut(l.rest, "\n")
			l.rest = rest
			if doc.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if strings.TrimSuffix(line, "\r") == doc.end {
				break
			}
		}
	}
	l.docs = nil
}

// word reads one word and removes its quotes. Expansions stay as written.
func (l *lexer) word() string {
	l.rest = strings.TrimLeft(l.rest, " \t")
	var b strings.Builder
	s := l.rest
	i := 0
	depth := 0 // of $( … ), whose blanks belong to the word
	for i < len(s) {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			if s[i+1] != '\n' {
				b.WriteByte(s[i+1])
			}
			i += 2
			continue
		case c == '\'':
			n := strings.IndexByte(s[i+1:], '\'')
			if n < 0 {
				n = len(s) - i - 1
			}
			b.WriteString(s[i+1 : i+1+n])
			i = min(i+n+2, len(s))
			continue
		case c == '"':
			i++
			for i < len(s) && s[i] != '"' {
				if s[i] == '\\' && i+1 < len(s) {
					i++
				}
				b.WriteByte(s[i])
				i++
			}
			i = min(i+1, len(s))
			continue
		case c == '$' && i+1 < len(s) && s[i+1] == '(':
			depth++
			b.WriteString("$(")
			i += 2
			continue
		case c == '(' && depth > 0:
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth == 0 && strings.IndexByte(" \t\r\n;&|<>()", c) >= 0:
			l.rest = s[i:]
			return b.String()
		}
		b.WriteByte(c)
		i++
	}
	l.rest = ""
	return b.String()
}
