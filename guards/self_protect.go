package guards

import (
	"strings"

	"sallyport/internal/shellcmd"
)

// SelfProtect refuses changes to the configuration that governs the agent.
var SelfProtect = Guard{
	Name:  "self-protect",
	Title: "changes to the agent's own settings, hooks and guards",
	Doc: Doc{
		What:    "Writing, moving, deleting or changing the mode of the files that bind the agent: .claude/settings*.json and .claude/hooks, the client's directory in the home but for what the client keeps there for a session, the managed settings, the same files of other clients, this product's configuration and programs, and installed git hooks; git config of core.hooksPath. By redirection, tee, cp, mv, rm, ln, sed -i, chmod, dd, git and the like, by an archive or a patch whose files are named, through a link that the line makes or a mount of a container, by a short program in another language, by agent-guard trust, by the checks' own uninstall commands, and by the client's own Write and Edit tools where the hook is wired for them.",
		Why:     "An agent that edits its own rules has none.",
		Instead: "Tell the person which setting should change and why, and let them change it.",
		Limits:  "A new git hook where none was may be installed. Reading is never stopped. A settings file below a temporary directory that holds neither the project nor the home binds nobody and may be written. A program that computes the name of the file is not seen.",
	},
	Default: Deny,
	Examples: []Example{
		{Command: "echo '{}' > .claude/settings.json", Verdict: Deny, Why: "the project's settings"},
		{Command: "sed -i s/deny/allow/ .claude/settings.local.json", Verdict: Deny, Why: "in place"},
		{Command: "jq '.hooks={}' ~/.claude/settings.json > /tmp/s && mv /tmp/s ~/.claude/settings.json", Verdict: Deny, Why: "by way of a temporary file"},
		{Command: "cp evil.json ~/.claude/", Verdict: Deny, Why: "into the client's directory"},
		{Command: "rm -rf ~/.claude", Verdict: Deny, Why: "all of it"},
		{Command: "tee ~/.config/sallyport/guard.toml < /dev/null", Verdict: Deny, Why: "the guards' own configuration"},
		{Command: "git config --global core.hooksPath /dev/null", Verdict: Deny, Why: "no hooks for any repository"},
		{Command: "chmod -x .git/hooks/pre-commit", Verdict: Deny, Why: "the hook does not run any more"},
		{Command: "python3 -c \"open('.claude/settings.json','w').write('{}')\"", Verdict: Deny, Why: "another language"},
		{Command: "yes | agent-guard trust --yes", Verdict: Deny, Why: "trust is a person's word"},
		{Command: "agent-guard trust --show", Why: "looks only"},
		{Command: "cat .claude/settings.json", Why: "reads"},
		{Command: "cp ~/.claude/settings.json /tmp/copy.json", Why: "a copy elsewhere"},
		{Command: "echo note > ~/.claude/plans/today.md", Why: "the client keeps plans there"},
		{Command: "git config --get core.hooksPath", Why: "reads"},
		{Command: "git config user.name Dev", Why: "another key"},
		{Command: "echo 'edit .claude/settings.json by hand' >> README.md", Why: "only the name"},
		{Command: "mkdir -p src/.claude-notes && touch src/.claude-notes/settings.json.md", Why: "another directory"},
	},
	Check:      checkSelfProtect,
	CheckWrite: checkSelfWrite,
}

func checkSelfProtect(c *Call) []Finding {
	const fix = "Tell the person what should change and let them change it"
	switch {
	case c.Remote:
		return nil
	case c.Container:
		return c.throughMount(fix)
	}
	if c.Git != nil {
		if f := hooksPathConfig(c); f != nil {
			return f
		}
	}
	for _, t := range c.targets() {
		if why, name := c.guarded(t); why != "" {
			return []Finding{{
				Found: Quote(t.how+" "+name) + " changes " + Quote(base(name)),
				Why:   why,
				Fix:   fix,
				Words: []string{t.how, name},
			}}
		}
	}
	if c.lists() && deletesFound(c) {
		if f := foundAndDeleted(c, fix); f != nil {
			return f
		}
	}
	if f := trustsRepository(c, fix); f != nil {
		return f
	}
	if f := takesAway(c, fix); f != nil {
		return f
	}
	if f := hooksPathText(c, fix); f != nil {
		return f
	}
	return inlineWrite(c, fix)
}

// trustsRepository finds the command with which a person lets a repository add
// guards or loosen them. Looking and revoking change nothing for the worse.
func trustsRepository(c *Call, fix string) []Finding {
	if c.Name() != "agent-guard" {
		return nil
	}
	for i := 1; i < len(c.Args); i++ {
		switch w := c.Args[i].Value; w {
		case "--harness", "--guards", "--examples", "--dir":
			i++
		case "--check", "--exec", "--show", "--revoke", "--help", "-h":
			return nil
		case "trust":
			for _, later := range c.Args[i:] {
				switch later.Value {
				case "--show", "--revoke", "--help", "-h":
					return nil
				}
			}
			return []Finding{{
				Found: Quote("agent-guard trust"), Why: "it lets a repository's files judge and loosen, which is a person's word to give",
				Fix: fix, Words: []string{"agent-guard", "trust"},
			}}
		default:
			if !strings.HasPrefix(w, "-") {
				return nil
			}
		}
	}
	return nil
}

// throughMount looks at what a command in a container changes of the host.
func (c *Call) throughMount(fix string) []Finding {
	for _, t := range c.targets() {
		p, ok := c.Path(tildeless(c, *t.word))
		if !ok {
			continue
		}
		host, outer, ok := c.hostPath(p)
		if !ok {
			continue
		}
		abs, ok := outer.Path(tildeless(outer, shellcmd.NewWord(host)))
		if !ok {
			continue
		}
		if why := c.run.protected(abs, t.tree || t.effect == moves || t.effect == deletes); why != "" {
			return []Finding{{Found: Quote(t.how+" "+t.word.String()) + " changes " + Quote(host) + " through a mount", Why: why, Fix: fix, Words: []string{t.how, t.word.String()}}}
		}
	}
	return nil
}

// takesAway finds commands by which the checks uninstall themselves.
func takesAway(c *Call, fix string) []Finding {
	words := make([]string, 0, 4)
	dry := false
	for _, w := range c.Args[1:] {
		if s := w.Value; s == "--uninstall" || s != "" && s[0] != '-' {
			words = append(words, s)
		} else if s == "--help" || s == "-h" {
			return nil
		} else if c.Name() == "agent-setup" && strings.HasPrefix(s, "--dry-run") {
			dry = s == "--dry-run" || s == "--dry-run=true" // the last one counts
		}
	}
	at := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	what := ""
	switch name := c.Name(); name {
	case "agent-setup", "pre-commit", "prek", "lefthook", "husky":
		if at(0) == "uninstall" {
			what = name + " uninstall"
		}
	case "overcommit":
		if at(0) == "--uninstall" {
			what = name + " --uninstall"
		}
	case "claude":
		if verb := at(1); (at(0) == "plugin" || at(0) == "plugins") && (verb == "uninstall" || verb == "remove" || verb == "rm" || verb == "disable") && strings.HasPrefix(at(2), "agent-guard") {
			what = "claude plugin " + verb
		}
	}
	if what == "" || dry {
		return nil
	}
	return []Finding{{Found: Quote(what), Why: "it takes the checks away", Fix: fix, Words: strings.Fields(what)}}
}

// hooksPathText finds core.hooksPath in text that is written into a file of
// git's configuration.
func hooksPathText(c *Call, fix string) []Finding {
	for _, t := range c.targets() {
		if t.effect != writes {
			continue
		}
		p := strings.ToLower(slashed(tildeless(c, *t.word)))
		if b := base(p); b != ".gitconfig" && !strings.HasSuffix(p, ".git/config") && !strings.HasSuffix(p, "git/config") && b != "gitconfig" {
			continue
		}
		texts := append(Words(c.Command), c.Stdin.Value)
		for _, text := range texts {
			if strings.Contains(strings.ToLower(text), "hookspath") {
				return []Finding{{Found: Quote("hooksPath") + " written into " + Quote(t.word.String()), Why: "every later commit would go without the checks", Fix: fix, Words: []string{"hooksPath", t.word.String()}}}
			}
		}
	}
	return nil
}

// hooksPathConfig looks at git config of core.hooksPath.
func hooksPathConfig(c *Call) []Finding {
	g := c.Git
	if g.Name != "config" || g.Help {
		return nil
	}
	if !changesConfig(c) {
		return nil
	}
	if len(g.Operands) == 0 {
		return nil
	}
	key := strings.ToLower(g.Operands[0].Value)
	section := g.On("remove-section") || g.On("rename-section") || strings.HasSuffix(g.Sub, "-section")
	hooks := key == "core.hookspath" || section && key == "core" || strings.HasPrefix(key, "hook.") && !section
	if !hooks {
		return nil
	}
	return []Finding{{
		Found: Quote("git config "+g.Operands[0].Value) + " changes which hooks run",
		Why:   "every later commit would go without the checks",
		Fix:   "See what is set with `git config --get core.hooksPath`, and let a person change it",
		Words: []string{g.Operands[0].Value},
	}}
}

func checkSelfWrite(w *Write) []Finding {
	p := w.Path
	if !isAbs(p) {
		p = join(w.run.in.Dir, p)
	}
	why := w.run.protected(clean(p), false)
	if why == "" {
		hook := parent(clean(p))
		if base(hook) == "hooks" && base(parent(hook)) == ".git" && w.run.world.Stat(clean(p)).Exists {
			why = "it is a hook that checks the project's commits"
		}
	}
	if why == "" {
		return nil
	}
	return []Finding{{
		Found: Quote(w.Tool) + " changes " + Quote(w.Path),
		Why:   why,
		Fix:   "Tell the person what should change and let them change it",
		Words: []string{w.Path},
	}}
}

// programs are the product's own binaries, and the links to them.
var programs = []string{
	"agent-guard", "agent-guard-starlark", "bypass-warn", "error-hint", "status-line", "status-line-configure",
	"agent-iso", "claude-iso", "codex-iso", "opencode-iso", "kiro-iso", "gemini-iso", "copilot-iso",
	"agent-setup", "add-project-root", "sandbox-lint", "agent-policy", "git-hook",
}

// Programs are the names of the product's own binaries.
func Programs() []string { return append([]string{}, programs...) }
