package shellcmd

import "strings"

// npm runs packages' programs, and text given by -c.
func (w *walker) npm(sh *shell, inv *invocation, name string, args []Word) {
	wr := wrapper{name: name, short: "pcwC", long: "package call workspace prefix filter dir cwd"}
	opts, rest := wr.options(args)
	exec := name == "npx" || name == "bunx"
	if !exec && len(rest) > 0 {
		switch rest[0].raw {
		case "exec", "x", "dlx":
			more, r := wr.options(rest[1:])
			opts, rest, exec = append(opts, more...), r, true
		default:
			return
		}
	}
	if !exec {
		return
	}
	n := nesting{layer: name}
	for _, o := range opts {
		if (o.name == "c" || o.name == "call") && o.has {
			w.nestString(sh, inv, o.value, n)
		}
	}
	w.nest(sh, inv, rest, n)
}

// make runs the recipes of a makefile that the line itself wrote.
func (w *walker) make(sh *shell, inv *invocation, args []Word) {
	wr := wrapper{name: "make", short: "CEfIjloW", long: "directory file makefile eval include-dir jobs load-average max-load old-file assume-old new-file"}
	opts, _ := wr.options(args)
	files := []string{}
	n := nesting{layer: "make"}
	for _, o := range opts {
		switch {
		case !o.has:
		case o.name == "C" || o.name == "directory":
			n.dir, n.hasDir = o.value.raw, true
		case o.name == "f" || o.name == "file" || o.name == "makefile":
			files = append(files, o.value.raw)
		case o.name == "eval":
			w.recipes(sh, inv, o.value.raw, n)
		}
	}
	if len(files) == 0 {
		files = []string{"GNUmakefile", "makefile", "Makefile"}
	}
	p := w.enter(sh, inv, n)
	for _, f := range files {
		if texts, _ := w.versionsOf(w.path(p, f), w.writes); len(texts) > 0 {
			w.recipes(sh, inv, texts[0], n)
		} else if (f == "-" || f == "/dev/stdin" || f == "/dev/fd/0" || f == "/proc/self/fd/0") && sh.in != nil {
			w.recipes(sh, inv, *sh.in, n)
		}
	}
}

// recipes runs the recipe lines of a makefile, each as text for a shell.
func (w *walker) recipes(sh *shell, inv *invocation, text string, n nesting) {
	n.maybe = true
	text = strings.ReplaceAll(text, "\\\n", "")
	lines := 0
	for line := range strings.SplitSeq(text, "\n") {
		rule, recipe, ok := strings.Cut(line, ";")
		if strings.HasPrefix(line, "\t") {
			recipe = strings.TrimLeft(line, "\t @-+")
		} else if !ok || !strings.Contains(rule, ":") {
			continue
		}
		if lines++; lines > 1000 {
			w.line.Limited = true
			return
		}
		w.nestString(sh, inv, w.word(strings.ReplaceAll(recipe, "$$", "$")), n)
	}
}

// vim runs what -c '!…' and +'!…' say.
func (w *walker) vim(sh *shell, inv *invocation, args []Word) {
	for i, a := range args {
		cmd, ok := Word{}, false
		switch {
		case (a.raw == "--cmd" || len(a.raw) > 1 && a.raw[0] == '-' && a.raw[1] != '-' && strings.HasSuffix(a.raw, "c")) && i+1 < len(args):
			cmd, ok = args[i+1], true // -c, and -sc of ex
		case strings.HasPrefix(a.raw, "+"):
			cmd, ok = a.After("+")
		}
		if !ok {
			continue
		}
		text := strings.TrimLeft(cmd.raw, ": \t")
		for _, prefix := range []string{"silent! ", "silent ", "sil "} {
			text = strings.TrimPrefix(text, prefix)
		}
		for _, verb := range []string{"r !", "read !", "%!", "w !", "!"} {
			if rest, is := strings.CutPrefix(text, verb); is {
				w.nestString(sh, inv, w.word(rest), nesting{layer: "vim " + verb})
				break
			}
		}
		if rest, is := strings.CutPrefix(text, "call system("); is {
			if s, _, good := stringLiteral(rest, false); good {
				w.nestString(sh, inv, w.word(s), nesting{layer: "vim system()"})
			}
		}
	}
}

// emacs runs what the Lisp text of --eval hands to a shell.
func (w *walker) emacs(sh *shell, inv *invocation, args []Word) {
	for i, a := range args {
		code, ok := Word{}, false
		switch a.raw {
		case "--eval", "-eval", "--execute", "-execute", "-e":
			if i+1 < len(args) {
				code, ok = args[i+1], true
			}
		default:
			if code, ok = a.After("--eval="); !ok {
				code, ok = a.After("--execute=")
			}
		}
		if !ok || !w.spend(len(code.raw)) {
			continue
		}
		text := w.literal(code.raw)
		for _, call := range []string{"(shell-command-to-string ", "(shell-command ", "(async-shell-command "} {
			for rest := text; ; {
				_, after, found := strings.Cut(rest, call)
				if !found {
					break
				}
				rest = after
				if s, _, good := stringLiteral(strings.TrimLeft(after, " \t\n"), false); good {
					w.nestString(sh, inv, w.word(s), nesting{layer: "emacs --eval"})
				}
			}
		}
	}
}

// nix runs text given by --run and --command, or words behind -c.
func (w *walker) nix(sh *shell, inv *invocation, args []Word) {
	n := nesting{layer: programName(inv.args[0].Value)}
	for i, a := range args {
		if i+1 >= len(args) {
			return
		}
		switch a.raw {
		case "--run":
			w.nestString(sh, inv, args[i+1], n)
		case "--command", "-c":
			if n.layer == "nix-shell" {
				w.nestString(sh, inv, args[i+1], n)
			} else {
				w.nest(sh, inv, args[i+1:], n)
				return
			}
		case "--":
			w.nest(sh, inv, args[i+1:], n)
			return
		}
	}
}

// tmux runs the text of new-session, new-window, split-window and send-keys.
func (w *walker) tmux(sh *shell, inv *invocation, name string, args []Word) {
	n := nesting{layer: name}
	if name == "screen" {
		wr := wrapper{name: name, short: "cehpSstTXx"}
		opts, rest := wr.options(args)
		for _, o := range opts {
			if o.name == "X" && o.value.raw == "stuff" && len(rest) > 0 {
				w.nestString(sh, inv, w.word(strings.NewReplacer(`\n`, "\n", "^M", "\n", `\015`, "\n", `\r`, "\n").Replace(rest[0].raw)), n)
				return
			}
		}
		w.nest(sh, inv, rest, n)
		return
	}
	wr := wrapper{name: name, short: "cfLSTeFnstxyE"}
	_, rest := wr.options(args)
	if len(rest) == 0 {
		return
	}
	sub := rest[0].raw
	opts, rest := wr.options(rest[1:])
	switch sub {
	case "new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane", "respawn-window", "display-popup", "popup", "run-shell", "run", "if-shell", "if":
		for _, o := range opts {
			if o.name == "c" && o.has {
				n.dir, n.hasDir = o.value.raw, true
			}
		}
		if len(rest) == 1 {
			w.nestString(sh, inv, rest[0], n)
		} else if len(rest) > 1 {
			w.nest(sh, inv, rest, n)
		}
	case "send-keys", "send":
		var b strings.Builder
		for _, r := range rest {
			switch r.raw {
			case "Enter", "C-m", "KPEnter":
				b.WriteByte('\n')
			case "Space":
				b.WriteByte(' ')
			default:
				b.WriteString(w.literal(r.raw))
			}
		}
		w.nestString(sh, inv, w.word(b.String()), n)
	}
}

// archiver runs the commands that options of tar and rsync name.
func (w *walker) archiver(sh *shell, inv *invocation, args []Word) {
	name := programName(inv.args[0].Value)
	for i, a := range args {
		for _, prefix := range []string{"--checkpoint-action=exec=", "--to-command=", "--use-compress-program=", "--info-script=", "--new-volume-script=", "--rsh=", "--rsync-path="} {
			if text, ok := a.After(prefix); ok {
				w.nestString(sh, inv, text, nesting{layer: name + " " + strings.TrimRight(prefix, "=")})
			}
		}
		if i+1 == len(args) {
			return
		}
		switch a.raw {
		case "--to-command", "--use-compress-program", "-I", "--rsh", "-F":
			w.nestString(sh, inv, args[i+1], nesting{layer: name + " " + a.raw})
		case "-e":
			if name == "rsync" {
				w.nestString(sh, inv, args[i+1], nesting{layer: "rsync -e"})
			}
		case "--checkpoint-action":
			if text, ok := args[i+1].After("exec="); ok {
				w.nestString(sh, inv, text, nesting{layer: name + " " + a.raw})
			}
		}
	}
}

// sedExec runs what GNU sed runs: the command e, and the flag e of s.
func (w *walker) sedExec(sh *shell, inv *invocation, args []Word) {
	wr := wrapper{name: "sed", short: "efl", long: "expression file line-length"}
	opts, rest := wr.options(args)
	var scripts []string
	for _, o := range opts {
		if o.has && (o.name == "e" || o.name == "expression") {
			scripts = append(scripts, o.value.raw)
		}
	}
	if len(scripts) == 0 && len(rest) > 0 {
		scripts = []string{rest[0].raw}
	}
	for _, script := range scripts {
		for line := range strings.SplitSeq(w.literal(script), "\n") {
			line = strings.TrimLeft(line, "0123456789$,!{ \t")
			if text, ok := strings.CutPrefix(line, "e "); ok {
				w.nestString(sh, inv, w.word(text), nesting{layer: "sed e"})
				continue
			}
			if len(line) < 4 || line[0] != 's' || isWordByte(line[1]) {
				continue
			}
			parts := strings.Split(line[2:], line[1:2])
			if len(parts) >= 3 && strings.Contains(strings.TrimRight(parts[2], "; }"), "e") {
				w.nestString(sh, inv, w.word(parts[1]), nesting{layer: "sed s///e"})
			}
		}
	}
}
