package agentguard

import "strings"

// plain reports a line that no guard of the product can have an opinion on, so
// that the hook need not parse it: simple commands of plain words, joined by
// "&&", "||", ";" and "|", whose programs the table below knows with these
// words. Anything else is parsed. TestPlain and FuzzPlain hold it against the
// guards themselves.
func plain(line string) bool {
	if len(line) > 200 {
		return false
	}
	start := 0 // of the command
	for i := 0; i <= len(line); i++ {
		if i < len(line) && (line[i] == '&' || line[i] == '>') {
			// 2>&1 and what is thrown away; "&&" is an end.
			rest := line[i:]
			if n := harmlessRedirection(line[:i], rest); n > 0 {
				i += n - 1
				continue
			}
			if !strings.HasPrefix(rest, "&& ") {
				return false
			}
		}
		if i < len(line) && line[i] != '&' && line[i] != '|' && line[i] != ';' {
			if !plainByte(line[i]) {
				return false
			}
			continue
		}
		if !plainCommand(line[start:i]) {
			return false
		}
		if i+1 < len(line) && line[i] != ';' && line[i+1] == line[i] {
			i++
		}
		start = i + 1
		if i < len(line) && strings.Trim(line[start:], " ") == "" {
			return false // it ends open, or with a ";" that says nothing
		}
	}
	return true
}

// harmlessRedirection is the length of a redirection of standard error to
// standard output, or of either to /dev/null, that rest begins with, behind
// before. It is followed by the end of its command.
func harmlessRedirection(before, rest string) int {
	fd, separate := byte('1'), strings.HasSuffix(before, " ")
	if n := len(before); n >= 2 && before[n-2] == ' ' {
		fd, separate = before[n-1], true
	}
	if !separate || fd != '1' && fd != '2' {
		return 0
	}
	for _, target := range [...]string{">&1", ">/dev/null", "> /dev/null"} {
		after, ok := strings.CutPrefix(rest, target)
		if !ok || target == ">&1" && fd != '2' {
			continue
		}
		if after = strings.TrimLeft(after, " "); after == "" || after[0] == '|' || after[0] == ';' || strings.HasPrefix(after, "&& ") {
			return len(target)
		}
	}
	return 0
}

func plainByte(b byte) bool {
	switch {
	case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9':
		return true
	}
	return strings.IndexByte(" -_:,+./", b) >= 0
}

// plainCommand looks at one command, whose bytes are plain but for the
// redirections.
func plainCommand(text string) bool {
	if i := strings.IndexByte(text, '>'); i >= 0 {
		text = strings.TrimRight(text[:i], " ")
		if strings.HasSuffix(text, " 1") || strings.HasSuffix(text, " 2") {
			text = text[:len(text)-2]
		}
	}
	program, words, _ := strings.Cut(strings.Trim(text, " "), " ")
	switch program {
	case "ls", "pwd", "true", "false", "date", "whoami", "id", "uname", "hostname", "uptime", "ps", "which", "sleep",
		"wc", "du", "df", "tree", "basename", "dirname", "seq", "nproc", "echo", "cd":
		// They show no content of a file and change none, whatever the words are.
		return true
	case "head", "tail":
		return each(words, "-n", "-c")
	case "sort":
		return each(words, "-u", "-n", "-r", "-rn", "-nr", "-h", "-V")
	case "uniq":
		return each(words, "-c", "-d", "-u")
	case "go":
		return goCommand(words)
	case "git":
		return gitCommand(words)
	}
	return false
}

// each reports whether every word is a number, with or without a hyphen, or one
// of those that are known: what is no name of a file.
func each(words string, known ...string) bool {
	return all(words, func(w string) bool {
		for _, k := range known {
			if w == k {
				return true
			}
		}
		return w != "-" && strings.Trim(strings.TrimPrefix(w, "-"), "0123456789") == ""
	})
}

func all(words string, ok func(string) bool) bool {
	for w := range strings.SplitSeq(words, " ") {
		if w != "" && !ok(w) {
			return false
		}
	}
	return true
}

// goCommand knows the checks of a module: packages, and flags that name neither
// a program nor a file.
func goCommand(words string) bool {
	verb, rest, _ := strings.Cut(words, " ")
	switch verb {
	case "version":
		return rest == ""
	case "test", "vet":
		return all(rest, func(w string) bool {
			switch w {
			case "-v", "-race", "-short", "-cover", "./...", ".":
				return true
			}
			return strings.HasPrefix(w, "./") && !strings.Contains(strings.TrimSuffix(w, "..."), "..")
		})
	}
	return false
}

// gitCommand knows the looks at a repository that name nothing in it.
func gitCommand(words string) bool {
	verb, rest, _ := strings.Cut(words, " ")
	switch verb {
	case "status":
		return each(rest, "-s", "-b", "-sb", "--short", "--branch", "--porcelain")
	case "diff":
		return each(rest, "--stat", "--cached", "--staged", "--name-only", "HEAD")
	case "log":
		return each(rest, "--oneline", "--stat", "--graph", "--decorate", "--all", "-n", "HEAD")
	}
	return false
}
