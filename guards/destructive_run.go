package guards

import (
	"slices"
	"strings"

	"sallyport/internal/ghcmd"
	"sallyport/internal/shellcmd"
)

// isDownloader reports a command whose output comes from the network.
func isDownloader(c *shellcmd.Command) bool {
	name := c.Name()
	if isDownloaderName(name) {
		return true
	}
	word := func(i int) string {
		if i < len(c.Args) {
			return c.Args[i].Value
		}
		return ""
	}
	last := word(len(c.Args) - 1)
	switch name {
	case "gh":
		switch g := ghcmd.Parse(c.Args, nil); {
		case g.Help:
			return false
		case g.Is("gist", "view"), g.Is("api"):
			return true
		case g.Is("release", "download"):
			for i, w := range c.Args {
				if w.Value == "-O-" || w.Value == "--output=-" || (w.Value == "-O" || w.Value == "--output") && word(i+1) == "-" {
					return true
				}
			}
		}
	case "nc", "ncat", "netcat", "socat":
		for _, w := range c.Args[1:] {
			s := w.Value
			if strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--") && strings.Contains(s, "l") || s == "--listen" {
				return false
			}
		}
		return true
	case "aws":
		return slices.ContainsFunc(c.Args, func(w shellcmd.Word) bool { return w.Value == "cp" }) && last == "-"
	case "gsutil":
		return slices.ContainsFunc(c.Args, func(w shellcmd.Word) bool { return w.Value == "cat" }) || last == "-"
	case "gcloud":
		return word(1) == "storage" && (word(2) == "cat" || last == "-")
	case "rclone":
		return word(1) == "cat"
	}
	return false
}

// isDownloaderName knows the programs that do nothing but fetch.
func isDownloaderName(name string) bool {
	switch name {
	case "curl", "wget", "wget2", "fetch", "http", "https", "xh", "aria2c", "lwp-request", "GET", "Invoke-WebRequest", "iwr", "irm", "Invoke-RestMethod", "ftp":
		return true
	}
	return false
}

// interprets says how a program reads code: from standard input when it has no
// operand, from a script, from an option.
func interpreter(name string) (kind string, ok bool) {
	switch name {
	case "sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "mksh", "rbash", "busybox", "pwsh", "powershell":
		return "shell", true
	case "python", "python2", "python3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "osascript", "Rscript", "tclsh":
		return "interpreter", true
	case "source", ".", "eval", "iex", "Invoke-Expression":
		return "shell", true
	}
	if rest, ok := strings.CutPrefix(name, "python3."); ok && strings.Trim(rest, "0123456789") == "" {
		return "interpreter", true
	}
	return "", false
}

// download looks for text from the network that a shell or interpreter runs,
// through a pipe, a substitution or a file.
func download(c *Call) []Finding {
	name := c.Name()
	_, ok := interpreter(name)
	finding := func(from *shellcmd.Command, how string) []Finding {
		source := "the network"
		if from != nil {
			source = strings.Join(Words(from), " ")
		}
		return []Finding{{
			Found: Quote(name) + " runs what " + Quote(source) + " downloads " + how,
			Why:   "nobody has read what the server sends, and it can send something else each time",
			Fix:   "Download to a file, read it, and run it as a second step",
			Words: []string{name, source},
		}}
	}
	if !ok {
		// ./file that an earlier command of the line downloaded.
		if strings.Contains(c.Args[0].Value, "/") {
			if from := c.downloaded(c.Args[0]); from != nil {
				return finding(from, "into "+Quote(c.Args[0].Value))
			}
		}
		return nil
	}
	operands, inline := scriptWords(c, name)
	for _, w := range inline {
		// A value within a program is common where a host's own tool prints it.
		if from := origin(w.From(), 0); from != nil && (len(w.Parts) == 1 || isDownloaderName(from.Name())) {
			return finding(from, "as its text")
		}
	}
	for i, w := range operands {
		if i > 0 && name != "eval" {
			break
		}
		if from := origin(w.From(), 0); from != nil && (name != "eval" || len(w.Parts) == 1 || isDownloaderName(from.Name())) {
			return finding(from, "as its script")
		}
		if name == "eval" {
			continue
		}
		if from := c.downloaded(w); from != nil {
			return finding(from, "into "+Quote(w.String()))
		}
	}
	stdin := len(operands) == 0 && len(inline) == 0
	if len(operands) > 0 {
		// The first operand is the program, the others are its own.
		switch w := operands[0].Value; {
		case w == "-", w == "/dev/stdin", strings.HasPrefix(w, "/dev/fd/"), strings.HasPrefix(w, "/proc/self/fd/"):
			stdin = true
		}
	}
	if name == "eval" || !stdin && !readsStdin(c, name) {
		return nil
	}
	if from := origin(c.Stdin.From, 0); from != nil {
		return finding(from, "through its standard input")
	}
	for from, n := c.Piped, 0; from != nil && n < 50; from, n = from.Piped, n+1 {
		if hit := origin([]*shellcmd.Command{from}, 0); hit != nil {
			return finding(hit, "through a pipe")
		}
	}
	for _, r := range c.Redirs {
		if r.Op == "<" || r.Op == "<<<" || r.Op == "<<" || r.Op == "<<-" {
			if from := origin(append(r.Target.From(), r.Body.From...), 0); from != nil {
				return finding(from, "through its standard input")
			}
			if from := c.downloaded(r.Target); from != nil && r.Op == "<" {
				return finding(from, "into "+Quote(r.Target.String()))
			}
		}
	}
	return nil
}

// scriptWords parts an interpreter's words into operands (a script and its
// arguments) and inline code.
func scriptWords(c *Call, name string) (operands, inline []shellcmd.Word) {
	if name == "eval" || name == "source" || name == "." || name == "iex" || name == "Invoke-Expression" {
		return c.Args[1:], nil
	}
	kind, _ := interpreter(name)
	args := c.Args[1:]
	if name == "busybox" && len(args) > 0 {
		args = args[1:]
	}
	if (name == "deno" || name == "bun") && len(args) > 1 {
		switch args[0].Value {
		case "eval":
			return nil, args[len(args)-1:]
		case "run":
			args = args[1:]
		}
	}
	for i := 0; i < len(args); i++ {
		s := args[i].Value
		if len(s) < 2 || s[0] != '-' && s[0] != '+' {
			if s == "-" && kind == "shell" {
				continue // the end of its options
			}
			return args[i:], inline
		}
		if s == "--" {
			return args[i+1:], inline
		}
		switch {
		case kind == "shell" && s[1] != '-' && strings.Contains(s[1:], "c"),
			kind == "interpreter" && (s == "-c" || s == "-e" || s == "-E" || s == "-p" || s == "-m" || s == "-r" || s == "--eval" || s == "--print" || strings.HasPrefix(s, "-") && s[1] != '-' && strings.HasSuffix(s, "e")):
			if i+1 < len(args) {
				inline = append(inline, args[i+1])
				if s == "-m" {
					inline = append(inline, shellcmd.Word{Static: true})
				}
			}
			return nil, inline
		case kind == "shell" && s[1] != '-' && strings.HasSuffix(s, "s"):
			return nil, inline // the rest are parameters of the code on standard input
		case s == "-o" || s == "+o" || s == "--rcfile" || s == "--init-file" || s == "-W" || s == "-X":
			i++
		}
	}
	return nil, inline
}

func readsStdin(c *Call, name string) bool {
	kind, _ := interpreter(name)
	if kind != "shell" {
		return false
	}
	for _, w := range c.Args[1:] {
		if len(w.Value) > 1 && w.Value[0] == '-' && w.Value[1] != '-' && strings.HasSuffix(w.Value, "s") && !strings.Contains(w.Value, "c") {
			return true
		}
	}
	return false
}

// origin follows the commands whose output is used back to a download.
func origin(from []*shellcmd.Command, depth int) *shellcmd.Command {
	if depth > 20 {
		return nil
	}
	for _, c := range from {
		if c == nil {
			continue
		}
		if isDownloader(c) && !toFile(c) {
			return c
		}
		for _, w := range c.Args {
			if hit := origin(w.From(), depth+1); hit != nil {
				return hit
			}
		}
		if hit := origin(c.Stdin.From, depth+1); hit != nil {
			return hit
		}
		if c.Piped != nil {
			if hit := origin([]*shellcmd.Command{c.Piped}, depth+1); hit != nil {
				return hit
			}
		}
	}
	return nil
}

// toFile reports a download that does not go to standard output.
func toFile(c *shellcmd.Command) bool {
	name := c.Name()
	wget := strings.HasPrefix(name, "wget")
	file := wget
	for i, w := range c.Args[1:] {
		s := w.Value
		next := ""
		if i+2 < len(c.Args) {
			next = c.Args[i+2].Value
		}
		switch {
		case wget && (s == "-O" || s == "--output-document"):
			return next != "-"
		case wget && (s == "-qO-" || s == "--output-document=-"):
			return false
		case wget && strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--") && strings.HasSuffix(s, "O-"):
			return false
		case wget && strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--") && strings.HasSuffix(s, "O"):
			return next != "-"
		case name == "curl" && (s == "-o" || s == "--output"):
			return next != "-"
		case name == "curl" && (s == "-O" || s == "--remote-name"):
			return true
		case name == "curl" && strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--") && strings.HasSuffix(s, "o"):
			return next != "-"
		}
	}
	for _, r := range c.Redirs {
		if (r.Op == ">" || r.Op == ">>" || r.Op == ">|" || r.Op == "&>") && (r.Fd == "" || r.Fd == "1") && !strings.HasPrefix(r.Target.Value, "/dev/fd") {
			return true
		}
	}
	return file
}

// intoDir reads wget's -P and curl's --output-dir at word i.
func intoDir(c *shellcmd.Command, i int) (string, bool) {
	w := c.Args[i].Value
	for _, prefix := range [...]string{"--directory-prefix=", "--output-dir="} {
		if v, ok := strings.CutPrefix(w, prefix); ok {
			return v, true
		}
	}
	switch w {
	case "-P", "--directory-prefix", "--output-dir":
		if i+1 < len(c.Args) {
			return c.Args[i+1].Value, true
		}
	}
	if v, ok := strings.CutPrefix(w, "-P"); ok && v != "" && strings.HasPrefix(c.Name(), "wget") {
		return v, true
	}
	return "", false
}

// downloaded is the earlier command of the line that fetched a file.
func (c *Call) downloaded(w shellcmd.Word) *shellcmd.Command {
	if w.Value == "" || !c.run.has(isDownloaderName) {
		return nil
	}
	want, ok := c.Path(w.Value)
	if !ok {
		want = clean(w.Value)
	}
	same := func(e *Call, name string) bool {
		got, ok := e.Path(name)
		if !ok {
			got = clean(name)
		}
		return name != "" && got == want
	}
	// Files pass from hand to hand: cp, mv and tee carry a download on.
	earlier := c.Earlier()
	for i := len(earlier) - 1; i >= 0; i-- {
		e := earlier[i]
		written := false
		for _, t := range e.targets() {
			if t.effect == writes && same(e, t.path) {
				written = true
			}
		}
		if isDownloader(e.Command) {
			for _, a := range e.Args[1:] {
				if strings.Contains(a.Value, "/") && a.Value[0] != '-' && same(e, base(strings.SplitN(a.Value, "?", 2)[0])) {
					written = true
				}
				for _, prefix := range [...]string{"-o", "-O", "--output=", "--output-document="} {
					if v, ok := strings.CutPrefix(a.Value, prefix); ok && v != "" && same(e, v) {
						written = true
					}
				}
			}
			for j, a := range e.Args[1:] {
				if dir, ok := intoDir(e.Command, j+1); ok {
					for _, u := range e.Args[1:] {
						if strings.Contains(u.Value, "/") && same(e, dir+"/"+base(strings.SplitN(u.Value, "?", 2)[0])) {
							written = true
						}
					}
				}
				if len(a.Value) > 1 && a.Value[0] == '-' && a.Value[1] != '-' && strings.HasSuffix(strings.ToLower(a.Value), "o") && j+2 < len(e.Args) && same(e, e.Args[j+2].Value) {
					written = true
				}
			}
			if written {
				return e.Command
			}
			continue
		}
		if !written {
			continue
		}
		if hit := origin([]*shellcmd.Command{e.Command}, 0); hit != nil {
			return hit
		}
		switch e.Name() {
		case "cp", "mv", "install", "ln", "cat", "base64", "gunzip", "gzip", "zcat", "xz", "sed", "tr":
			for _, a := range e.Args[1:] {
				if a.Value == w.Value || len(a.Value) > 0 && a.Value[0] == '-' {
					continue
				}
				if hit := e.downloaded(a); hit != nil {
					return hit
				}
			}
		}
	}
	return nil
}
