// Agent-iso starts an agent CLI without the parent shell's credentials: it
// replaces itself by the CLI, whose environment holds only what is on a list.
//
// It never starts a program with more than that: a configuration that cannot
// be read stops it before the start.
package main

import (
	"fmt"
	"os"

	"sallyport/internal/cli"
	"sallyport/internal/iso"
)

const name = iso.Launcher

const usage = `agent-iso starts an agent CLI without the credentials in your shell.

Usage:
  agent-iso [options] CLI [ARGUMENTS...]
  claude-iso [ARGUMENTS...]

agent-iso replaces itself by CLI, a program on PATH or a path. The program gets
an environment that holds only these variables, when they are set:

  HOME PATH SHELL TERM LANG LC_ALL LC_CTYPE USER LOGNAME PWD XDG_RUNTIME_DIR
  XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME DISPLAY WAYLAND_DISPLAY
  SSH_AUTH_SOCK

and those that are allowed:

  CLAUDE_ISO_ALLOW="NAME NAME"   for one start; AGENT_ISO_ALLOW is the same
  pass = ["NAME", "PREFIX_*"]    on every start, in iso.toml

Exit code, signals, terminal and job control are the program's own. Entries of
PATH that are agent-iso itself are passed over, so it can stand there as a link
with the program's name.

Claude Code is given the root of the git work tree as a readable path of its
sandbox, through --settings; with -w or --worktree the main checkout too. A
--settings of your own is merged into it. From the arguments of other CLIs the
words -w, --worktree, -w=... and --worktree=... are removed.

A link to agent-iso named after a CLI (claude-iso, codex-iso, copilot-iso,
gemini-iso, kiro-iso, opencode-iso, or any NAME-iso) starts that CLI, and every
argument is the CLI's.

Options, before the name of the CLI:
  --explain        print what would be kept and dropped (names only), the
                   settings that are put in and the final arguments, and stop
  --print-config   print an iso.toml in which everything is commented out
  --help, --version

Files:
  ~/.config/sallyport/iso.toml

Exit codes:
  the program's own, once it is started
  1     no CLI given
  64    unknown option, or an iso.toml that cannot be used
  126   the program cannot be executed
  127   the program was not found

Example:
  CLAUDE_ISO_ALLOW=GH_TOKEN agent-iso claude --continue
`

func main() { os.Exit(run(cli.OS())) }

func run(p *cli.Process) int {
	var code int
	var err error
	label := name
	if linked := iso.LinkedCLI(p.Name); linked != "" {
		label = p.Name
		code, err = start(p, iso.Request{Name: linked, Args: p.Args})
	} else {
		code, err = command(p)
	}
	if err != nil {
		return p.Finish(label, usage, err)
	}
	return code
}

func command(p *cli.Process) (int, error) {
	fs := cli.NewFlags(name)
	explain := fs.Bool("explain", false, "")
	printConfig := fs.Bool("print-config", false, "")
	args, err := cli.ParsePrefix(fs, p.Args)
	if err != nil {
		return 0, err
	}
	if *printConfig {
		fmt.Fprint(p.Stdout, iso.DefaultConfig)
		return cli.ExitOK, nil
	}
	if len(args) == 0 {
		fmt.Fprint(p.Stderr, usage)
		return 1, nil
	}
	req := iso.Request{Name: args[0], Args: args[1:]}
	if *explain {
		plan, err := iso.Prepare(p, req)
		if err != nil {
			return 0, err
		}
		plan.Explain(p.Stdout)
		return cli.ExitOK, nil
	}
	return start(p, req)
}

func start(p *cli.Process, req iso.Request) (int, error) {
	plan, err := iso.Prepare(p, req)
	if err != nil {
		return 0, err
	}
	plan.Notes(p)
	return plan.Start()
}
