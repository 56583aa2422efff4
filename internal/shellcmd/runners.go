package shellcmd

import "strings"

// runner runs what programs run whose arguments follow a pattern of their own;
// false if the program is none of them.
func (w *walker) runner(sh *shell, inv *invocation, cmd *Command, name string) bool {
	args := inv.args[1:]
	switch name {
	case "xargs", "gxargs":
		w.xargs(sh, inv, cmd, args)
	case "parallel":
		w.parallel(sh, inv, args)
	case "find", "gfind", "fd", "fdfind", "bfs":
		w.find(sh, inv, name, args)
		sh.out.unknown(cmd)
	case "busybox", "toybox":
		for len(args) > 0 && strings.HasPrefix(args[0].raw, "--") {
			args = args[1:]
		}
		w.nest(sh, inv, args, nesting{layer: name})
	case "ssh", "slogin", "autossh", "dbclient":
		w.ssh(sh, inv, args)
		sh.out.unknown(cmd)
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose", "buildah":
		w.docker(sh, inv, name, args)
		sh.out.unknown(cmd)
	case "kubectl", "oc", "k3s", "microk8s":
		w.kubectl(sh, inv, args)
		sh.out.unknown(cmd)
	case "lxc", "incus", "machinectl", "toolbox", "distrobox", "distrobox-enter", "flatpak-spawn", "wsl", "wsl.exe", "vagrant", "devcontainer":
		w.container(sh, inv, name, args)
		sh.out.unknown(cmd)
	case "npx", "npm", "pnpm", "yarn", "bunx", "bun":
		if name == "bun" && len(args) > 0 && (strings.HasPrefix(args[0].raw, "-") || strings.HasSuffix(args[0].raw, ".js") || strings.HasSuffix(args[0].raw, ".ts") || args[0].raw == "run") {
			return false // an interpreter
		}
		w.npm(sh, inv, name, args)
		sh.out.unknown(cmd)
	case "make", "gmake":
		w.make(sh, inv, args)
		sh.out.unknown(cmd)
	case "vim", "vi", "nvim", "ex", "view", "gvim":
		w.vim(sh, inv, args)
		sh.out.unknown(cmd)
	case "less", "more":
		for _, a := range args {
			if text, ok := a.After("+!"); ok {
				w.nestString(sh, inv, text, nesting{layer: name})
			}
		}
		return false
	case "man":
		wr := wrapper{name: name, short: "PCMLmSsERprHTXZ", long: "pager config-file manpath locale systems sections extension recode preprocessor prompt"}
		opts, _ := wr.options(args)
		for _, o := range opts {
			if o.has && (o.name == "P" || o.name == "pager") {
				w.nestString(sh, inv, o.value, nesting{layer: "man -P"})
			}
		}
		sh.out.unknown(cmd)
	case "zip":
		for i, a := range args[:max(len(args)-1, 0)] {
			if a.raw == "-TT" || a.raw == "--unzip-command" {
				w.nestString(sh, inv, args[i+1], nesting{layer: "zip " + a.raw})
			} else if text, ok := a.After("--unzip-command="); ok {
				w.nestString(sh, inv, text, nesting{layer: "zip --unzip-command"})
			}
		}
		return false
	case "emacs", "emacsclient":
		w.emacs(sh, inv, args)
		sh.out.unknown(cmd)
	case "crontab":
		return w.crontab(sh, inv, args)
	case "nix-shell", "nix", "guix":
		w.nix(sh, inv, args)
		sh.out.unknown(cmd)
	case "tmux", "screen":
		w.tmux(sh, inv, name, args)
		sh.out.unknown(cmd)
	case "cmd":
		w.cmdProgram(sh, inv, args)
		sh.out.unknown(cmd)
	case "powershell", "pwsh":
		w.powerShellProgram(sh, inv, args)
		sh.out.unknown(cmd)
	case "sg":
		for i, a := range args {
			if a.raw == "-c" && i+1 < len(args) {
				w.nestString(sh, inv, args[i+1], nesting{layer: "sg -c"})
				return true
			}
		}
		if len(args) > 1 {
			w.nestString(sh, inv, args[1], nesting{layer: "sg"})
		}
	case "tar", "gtar", "bsdtar", "rsync":
		w.archiver(sh, inv, args)
		return false
	case "sed", "gsed":
		w.sedExec(sh, inv, args)
		return false
	case "at", "batch":
		if sh.in != nil {
			w.nestString(sh, inv, w.word(*sh.in), nesting{layer: name})
		}
	default:
		c := w.program(name).console
		if c == nil {
			return false
		}
		w.runConsole(sh, inv, c)
		sh.out.unknown(cmd)
	}
	return true
}

// crontab runs the commands of a table that it is given: on standard input, or
// in a file. What stands in a table runs at a later time, and then without the
// hook that reads this.
func (w *walker) crontab(sh *shell, inv *invocation, args []Word) bool {
	wr := wrapper{name: "crontab", short: "uc"}
	opts, rest := wr.options(args)
	for _, o := range opts {
		switch o.name {
		case "l", "e", "r", "V", "h":
			return true
		}
	}
	var texts []string
	switch {
	case len(rest) > 0:
		texts = w.scripts(sh, rest[0].raw)
	case sh.in != nil:
		texts = []string{*sh.in}
	}
	for _, text := range texts {
		lines := 0
		for line := range strings.Lines(text) {
			if lines++; lines > 1000 {
				w.line.Limited = true
				break
			}
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			fields := 5
			if line[0] == '@' {
				fields = 1
			}
			if command := lastFields(line, fields); command != "" {
				// "%" ends the command and begins its input.
				command, _, _ = strings.Cut(strings.ReplaceAll(command, `\%`, "\x01"), "%")
				w.nestString(sh, inv, w.word(strings.ReplaceAll(command, "\x01", "%")), nesting{layer: "crontab", maybe: true})
			}
		}
	}
	return true
}

// xargs appends the words of its input to a command.
func (w *walker) xargs(sh *shell, inv *invocation, cmd *Command, args []Word) {
	wr := wrapper{name: "xargs", short: "adEILnPsJRS", long: "arg-file delimiter max-lines max-args max-procs max-chars process-slot-var"}
	opts, rest := wr.options(args)
	replace, file, byLine, delim := "", "", false, ""
	perWord := 0
	for _, o := range opts {
		switch o.name {
		case "I", "J":
			replace, byLine = o.value.raw, true
		case "i", "replace":
			replace, byLine = "{}", true
			if o.has && o.value.raw != "" {
				replace = o.value.raw
			}
		case "a", "arg-file":
			file = o.value.raw
		case "0", "null":
			delim = "\x00"
		case "d", "delimiter":
			delim = o.value.raw
			if n, text := 0, ""; len(delim) > 1 && delim[0] == '\\' {
				if n, text = escape(delim[1:], false); n > 0 {
					delim = text
				}
			}
		case "n", "max-args", "L", "max-lines", "l":
			perWord = smallNumber(o.value.raw, 1)
		}
	}
	if len(rest) == 0 {
		rest = []Word{w.word("echo")}
	}
	input, known := "", sh.in != nil
	if known {
		input = *sh.in
	}
	if file != "" {
		input, known = w.fileText(sh, file)
	}
	n := nesting{layer: "xargs", hasIn: true}
	none := ""
	n.in = &none
	if !known {
		more := w.mark(Part{Kind: Substitution})
		if replace != "" {
			w.nest(sh, inv, substitute(w, rest, replace, more), n)
			return
		}
		words := append(rest[:len(rest):len(rest)], w.word(more))
		w.nest(sh, inv, words, n)
		return
	}
	items := w.xargsItems(input, delim, byLine)
	if replace != "" {
		for i, it := range items {
			if i >= maxIterations {
				w.line.Limited = true
				it = otherMark
			}
			w.nest(sh, inv, substitute(w, rest, replace, it), n)
			if i >= maxIterations {
				break
			}
		}
		return
	}
	if perWord <= 0 {
		perWord = len(items)
	}
	for i := 0; i == 0 || i < len(items); i += max(perWord, 1) {
		words := rest[:len(rest):len(rest)]
		for _, it := range items[i:min(i+perWord, len(items))] {
			words = append(words, w.word(it))
		}
		w.nest(sh, inv, words, n)
		if i/max(perWord, 1) >= maxIterations {
			w.line.Limited = true
			break
		}
	}
}

// substitute puts an item in the place of {} in each word.
func substitute(w *walker, words []Word, replace, item string) []Word {
	out := make([]Word, len(words))
	for i, a := range words {
		out[i] = a
		if replace != "" && strings.Contains(a.raw, replace) {
			text := otherMark
			size := len(a.raw) + strings.Count(a.raw, replace)*len(item)
			if w.made -= size; size < maxValue && w.made > 0 {
				text = strings.ReplaceAll(a.raw, replace, item)
			} else {
				w.line.Limited = true
			}
			out[i] = w.word(text)
			out[i].Pos, out[i].End, out[i].Quoted = a.Pos, a.End, a.Quoted
		}
	}
	return out
}

// xargsItems splits input as xargs does: blanks separate, quotes and
// backslashes protect, unless a delimiter is given.
func (w *walker) xargsItems(s, delim string, byLine bool) []string {
	var items []string
	if delim != "" {
		for it := range strings.SplitSeq(strings.TrimSuffix(s, delim), delim) {
			items = append(items, it)
			if len(items) >= maxFields {
				w.line.Limited = true
				break
			}
		}
		return items
	}
	var b strings.Builder
	started := false
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				b.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, started = c, true
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
			started = true
		case c == '\n' || (!byLine && (c == ' ' || c == '\t')):
			if started {
				items = append(items, b.String())
				b.Reset()
				started = false
			}
		case byLine && !started && (c == ' ' || c == '\t'):
		default:
			b.WriteByte(c)
			started = true
		}
		if len(items) >= maxFields {
			w.line.Limited = true
			return items
		}
	}
	if started {
		items = append(items, b.String())
	}
	return items
}

// parallel runs its words, joined, in a shell: for each argument behind :::,
// or each line of the input.
func (w *walker) parallel(sh *shell, inv *invocation, args []Word) {
	wr := wrapper{name: "parallel", short: "jINnLlPSaCdEirsX", long: "jobs max-args max-lines colsep delimiter arg-file joblog results retries timeout workdir wd sshlogin sshloginfile env tmpdir basefile return delay load memfree nice shuf halt tagstring rpl profile block recstart recend max-replace-args arg-sep arg-file-sep"}
	opts, rest := wr.options(args)
	replace := "{}"
	for _, o := range opts {
		if o.name == "I" && o.has {
			replace = o.value.raw
		}
	}
	n := nesting{layer: "parallel"}
	var command, items []Word
	known := false
	for i, a := range rest {
		if a.raw == ":::" || a.raw == ":::+" || a.raw == "--" && len(command) == 0 {
			command, items, known = rest[:i], rest[i+1:], true
			break
		}
		if a.raw == "::::" {
			command, known = rest[:i], true
			items = []Word{w.word(w.mark(Part{Kind: Substitution}))}
			break
		}
	}
	if !known {
		command = rest
		if sh.in != nil {
			for _, l := range w.xargsItems(*sh.in, "\n", true) {
				items = append(items, w.word(l))
			}
		} else {
			items = []Word{w.word(w.mark(Part{Kind: Substitution}))}
		}
	}
	if len(command) == 0 {
		// Without a command each argument is one.
		for i, it := range items {
			if i >= maxIterations {
				w.line.Limited = true
				break
			}
			w.nestString(sh, inv, it, n)
		}
		return
	}
	text := joinWords(w, command)
	for i, it := range items {
		if i >= maxIterations {
			w.line.Limited = true
			break
		}
		var line Word
		if strings.Contains(text.raw, replace) {
			line = substitute(w, []Word{text}, replace, it.raw)[0]
		} else {
			line = w.word(text.raw + " " + quoteItem(it.raw))
		}
		w.nestString(sh, inv, line, n)
	}
}

func quoteItem(s string) string {
	if !isStatic(s) {
		return s
	}
	return quoteShell(s)
}

// find runs the commands of -exec and its kin.
func (w *walker) find(sh *shell, inv *invocation, name string, args []Word) {
	for i := 0; i < len(args); i++ {
		a := args[i].raw
		switch a {
		case "-exec", "-ok", "-execdir", "-okdir":
		case "-x", "--exec", "-X", "--exec-batch":
			if name != "fd" && name != "fdfind" {
				continue
			}
		default:
			continue
		}
		end := i + 1
		for end < len(args) && args[end].raw != ";" && !(args[end].raw == "+" && args[end-1].raw == "{}") {
			end++
		}
		command := args[i+1 : min(end, len(args))]
		found := w.mark(Part{Text: "{}", Kind: Substitution})
		n := nesting{layer: name + " " + a}
		if strings.HasSuffix(a, "dir") {
			n.dir, n.hasDir = w.mark(Part{Text: "{}", Kind: Substitution}), true
		}
		w.nest(sh, inv, substitute(w, command, "{}", w.findItem(args, found)), n)
		i = end
	}
}

// findItem is what {} stands for: something below the first starting point.
func (w *walker) findItem(args []Word, found string) string {
	if len(args) > 0 && !strings.HasPrefix(args[0].raw, "-") && args[0].raw != "." && args[0].raw != "(" && args[0].raw != "!" {
		return args[0].raw + found
	}
	return found
}
