package shellcmd

import "strings"

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "zsh", "dash", "ksh", "ksh93", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "yash", "osh", "nu", "elvish", "xonsh":
		return true
	}
	return false
}

// runShellProgram runs what a nested shell is given: -c text, a script, or
// its input.
func (w *walker) runShellProgram(sh *shell, inv *invocation, cmd *Command, name string) {
	args := inv.args[1:]
	command, stdin, noexec, interactive := false, false, false, false
	var init []Word
	i := 0
	for ; i < len(args); i++ {
		a := args[i].raw
		if unknownWord(args[i]) && i+1 < len(args) && strings.HasPrefix(args[i+1].raw, "-") {
			continue // bash $FLAGS -c …
		}
		if a == "--" || a == "-" {
			i++
			break
		}
		if len(a) < 2 || (a[0] != '-' && a[0] != '+') {
			break
		}
		if strings.HasPrefix(a, "--") {
			opt, _, attached := strings.Cut(a, "=")
			switch opt {
			case "--rcfile", "--init-file", "--emulate":
				if !attached {
					i++
				}
				if opt != "--emulate" && i < len(args) && !attached {
					init = append(init, args[i])
				}
			case "--command":
				if attached {
					text, _ := args[i].After("--command=")
					w.nestShell(sh, inv, name+" -c", text, nil)
					sh.out.unknown(cmd)
					return
				}
				command = true
			case "--init-command":
				if attached {
					text, _ := args[i].After("--init-command=")
					w.nestShell(sh, inv, name+" -C", text, nil)
				}
			case "--version", "--help":
				sh.out.unknown(cmd)
				return
			}
			continue
		}
		for j := 1; j < len(a); j++ {
			switch a[j] {
			case 'c':
				command = true
			case 's':
				stdin = true
			case 'n':
				noexec = a[0] == '-'
			case 'i':
				interactive = true // and then -n means nothing
			case 'o', 'O':
				if j == len(a)-1 {
					i++
				}
			case 'C':
				if name == "fish" && i+1 < len(args) {
					i++
					w.nestShell(sh, inv, name+" -C", args[i], nil)
				}
			}
		}
	}
	if noexec && !interactive {
		sh.out.unknown(cmd)
		return
	}
	rest := args[min(i, len(args)):]
	if name == "bash" {
		for _, a := range cmd.Assigns {
			if a.Name == "BASH_ENV" {
				init = append(init, a.Value)
			}
		}
	}
	for _, f := range init {
		for _, text := range w.scripts(sh, f.raw) {
			w.nestShell(sh, inv, name, w.word(text), nil)
		}
	}
	switch {
	case command:
		if len(rest) == 0 {
			return
		}
		zero, params := name, []Word{}
		if len(rest) > 1 {
			zero, params = rest[1].raw, rest[2:]
		}
		w.nestShellAs(sh, inv, name+" -c", rest[0], zero, params)
		if p := rest[0].Parts; len(p) == 1 {
			sh.out.unknown(cmd)
		}
	case stdin || len(rest) == 0:
		if sh.in == nil {
			sh.out.unknown(cmd)
			return
		}
		text := w.word(*sh.in)
		// What it runs reads on where the shell has stopped reading.
		in, left := sh.in, otherMark
		sh.in = &left
		w.nestShellAs(sh, inv, name, text, name, rest)
		sh.in = in
		if len(text.Parts) == 1 {
			sh.out.unknown(cmd)
		}
	default:
		texts := w.scripts(sh, rest[0].raw)
		for _, text := range texts {
			w.nestShellAs(sh, inv, name+" script", w.word(text), rest[0].raw, rest[1:])
		}
		if len(texts) == 0 {
			sh.out.unknown(cmd)
		}
	}
}

func (w *walker) nestShell(sh *shell, inv *invocation, layer string, text Word, args []Word) {
	w.nestShellAs(sh, inv, layer, text, "bash", args)
}

// nestShellAs runs text in a new shell with positional parameters.
func (w *walker) nestShellAs(sh *shell, inv *invocation, layer string, text Word, zero string, args []Word) {
	p := w.process(sh, inv.inline)
	p.params = &params{zero: zero, list: raws(w, args)}
	p.noSplit = strings.HasPrefix(layer, "zsh")
	w.inNesting(nesting{layer: layer}, func() {
		w.nestText(p, w.literal(text.raw), text.src)
	})
}

// runScriptFile runs a program given by path whose text is known: written
// earlier on the line, or a script that FS can read.
func (w *walker) runScriptFile(sh *shell, inv *invocation, cmd *Command) bool {
	texts := w.scripts(sh, inv.args[0].raw)
	ran := false
	for _, text := range texts {
		line, _, _ := strings.Cut(text, "\n")
		if strings.HasPrefix(line, "#!") {
			prog := strings.Fields(line[2:])
			if len(prog) == 0 {
				continue
			}
			name := programName(prog[0])
			if name == "env" && len(prog) > 1 {
				name = programName(prog[len(prog)-1])
			}
			if lang := interpreterFor(name); lang != nil {
				w.runCode(sh, inv, lang, text, "script")
				ran = true
				continue
			}
			if !isShell(name) {
				continue
			}
		}
		w.nestShellAs(sh, inv, "script", w.word(text), inv.args[0].raw, inv.args[1:])
		ran = true
	}
	return ran
}
