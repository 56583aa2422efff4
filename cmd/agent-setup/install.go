package main

import (
	"sallyport/internal/cli"
	"sallyport/internal/setup"
	"sallyport/internal/term"
)

const installUsage = `agent-setup install puts the programs in place and wires them into the user's
Claude Code settings, so that every session of the account has them.

Usage:
  agent-setup install [flags]

It shows what it would do first: the files, a diff of the settings and of the
shell's start file, and commands that only you can run. In a terminal it then
asks; elsewhere it writes only with --yes. A second run changes nothing. At the
end it starts each program, checks the wiring, and draws a status line.

Your settings are edited, not rewritten: every byte that is not the suite's
stays. A hook or status line of yours stays too. Copies of changed files go to
~/.local/state/sallyport/backups. A file that is not valid JSON is refused with
its line and column.

What is installed:
  --only LIST       only these components
  --with LIST       these as well; self-protect also wires agent-guard to the
                    client's own file tools
  --without LIST    not these
  --all             all of them
  --from DIR        take the programs from DIR (default: beside agent-setup)
  --prefix DIR      put them into DIR (default: the last one, else
                    ~/.claude/scripts); the wiring follows
  --link            link to the programs instead of copying them (and stay with
                    links until --link=false)

  Components: bypass-warn, agent-guard, error-hint, status-line, agent-iso,
  project-root (the command add-project-root), git-hooks, which does nothing
  until "agent-setup scope" puts it to work, remind, sandbox-lint and agent-policy.

How they are wired:
  --portable        commands as ~/.claude/scripts/NAME, for a settings file that
                    is shared between machines (default where it is a link);
                    otherwise the absolute path, started without a shell
  --matchers SET    "default", or "seed" for hooks on plain Bash only
  --fail-closed     agent-guard's hooks block the command when they cannot run
                    (clients from 2.1.295); --fail-closed=false undoes it
  --replace-seed    take over entries that another toolkit installed
  --fix-json        strip a byte order mark from the settings

Shell start file (holds a marked block that puts the programs on PATH):
  --rc FILE         use FILE (default: by $SHELL: ~/.bashrc, ~/.zshrc, fish's
                    conf.d/sallyport.fish)
  --no-rc           leave it alone, print the lines
  --alias-claude    make claude start claude-iso; --alias-claude=false undoes it

Also: --home DIR, --yes, --dry-run, --json, --quiet, --no-color.

Reads: $CLAUDE_CONFIG_DIR (in place of ~/.claude), $SHELL, $ZDOTDIR,
$XDG_CONFIG_HOME, $XDG_STATE_HOME, $NO_COLOR.

Exit codes: 0 done or nothing to do; 1 a check failed or you said no; 2 a file
cannot be used as it is; 3 refused for safety, nothing changed; 64 usage.

Example:
  agent-setup install --dry-run
  agent-setup install --without agent-iso --yes
`

func install(p *cli.Process, args []string) error {
	var o setup.InstallOptions
	fs := cli.NewFlags("install")
	noColor := globals(fs, &o.Options)
	fs.Var((*list)(&o.Only), "only", "")
	fs.Var((*list)(&o.With), "with", "")
	fs.Var((*list)(&o.Without), "without", "")
	fs.BoolVar(&o.All, "all", false, "")
	fs.StringVar(&o.Source, "from", "", "")
	fs.StringVar(&o.Prefix, "prefix", "", "")
	fs.Var(choice{&o.Link}, "link", "")
	fs.Var(choice{&o.Portable}, "portable", "")
	fs.StringVar(&o.Matchers, "matchers", "", "")
	fs.Var(choice{&o.FailClose}, "fail-closed", "")
	fs.BoolVar(&o.TakeOver, "replace-seed", false, "")
	fs.BoolVar(&o.FixJSON, "fix-json", false, "")
	fs.StringVar(&o.RC, "rc", "", "")
	fs.BoolVar(&o.NoRC, "no-rc", false, "")
	fs.Var(choice{&o.Alias}, "alias-claude", "")
	if err := parse(fs, args); err != nil {
		return err
	}
	if o.RC != "" && o.NoRC {
		return cli.Usagef("--rc and --no-rc exclude each other")
	}
	fill(&o.Options, p, *noColor)
	if err := setup.Install(o); err != nil || o.DryRun {
		return err
	}
	recordInstall(p, o.Home)
	return nil
}

// fill adds what every command takes from its process.
func fill(o *setup.Options, p *cli.Process, noColor bool) {
	o.Environ, o.Dir = p.Environ, p.Dir()
	o.Stdin, o.Stdout, o.Stderr = p.Stdin, p.Stdout, p.Stderr
	o.Version = cli.Version("agent-setup")
	text := p.Stdout
	if o.JSON {
		text = p.Stderr
	}
	o.Color = !noColor && term.ColorAuto.Enabled(text, p.Getenv)
}
