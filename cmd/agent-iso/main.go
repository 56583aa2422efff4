// Agent-iso starts an agent CLI without the parent shell's credentials: it
// replaces itself by the CLI, whose environment holds only what is on a list.
//
// It never starts a program with more than that: a configuration that cannot
// be read stops it before the start.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"sallyport/internal/cli"
	"sallyport/internal/iso"
	"sallyport/internal/iso/mode"
)

const name = iso.Launcher

const usage = `agent-iso starts an agent CLI without the credentials in your shell.

Usage:
  agent-iso [options] [--] CLI [ARGUMENTS...]
  agent-iso scan [--json] [--cli NAME[,NAME]] [--offline]
  agent-iso completion bash|zsh|fish
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
  --sandbox MODE           put the CLI into a sandbox mode: read-only,
                           restricted, workspace-write or full (its own default)
  --sandbox-fallback WHAT  when the CLI does not have the mode: fail (default),
                           strictest (the nearest it has) or run (its default)
  --sandbox-floor MODE     never go below this mode
  --allow-unverified       use modes that nobody has verified
  --wrap bwrap|srt         start the CLI inside that OS sandbox: it writes the
                           work tree, temporary directories and its own state;
                           what Claude Code's settings deny is denied
  --report FILE|-          write what really holds as a line of JSON
  --print-command          print the arguments and the changes to the
                           environment as JSON, and stop
  --explain                print what would be kept and dropped (names only), the
                           settings that are put in and the final arguments, and
                           stop
  --offline                do not ask the CLI for its version
  --print-config           print an iso.toml in which everything is commented out
  --help, --version

scan lists the CLIs on PATH with their versions and modes, unverified ones in
parentheses. completion prints a completion script for a shell.

Files:
  ~/.config/sallyport/iso.toml       pass, sandbox_floor, [wrap]
  ~/.config/sallyport/runtimes.json  adds CLIs and modes to the table

Variables:
  CLAUDE_ISO_ALLOW, AGENT_ISO_ALLOW  names to keep for one start
  AGENT_ISO_SANDBOX_FLOOR            a mode that no start goes below
  AGENT_ISO_NO_PROBE=1               as --offline, for every start

Exit codes:
  the program's own, once it is started
  1     no CLI given
  3     refused; the message has an id such as E-UNSUPPORTED or E-CONFLICT
  64    unknown option or mode, or a configuration file that cannot be used
  126   the program cannot be executed
  127   the program was not found

Example:
  CLAUDE_ISO_ALLOW=GH_TOKEN agent-iso claude --continue
  agent-iso --sandbox read-only --sandbox-fallback strictest codex exec "review this"
`

func main() { os.Exit(run(cli.OS())) }

func run(p *cli.Process) int {
	var code int
	var err error
	label := name
	if linked := iso.LinkedCLI(p.Name); linked != "" {
		label = p.Name
		code, err = start(p, iso.Request{Name: linked, Args: p.Args, Sandbox: iso.SandboxRequest{Probe: mayProbe(p)}})
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
	var req iso.Request
	var fallback string
	explain := fs.Bool("explain", false, "")
	printConfig := fs.Bool("print-config", false, "")
	printCommand := fs.Bool("print-command", false, "")
	offline := fs.Bool("offline", false, "")
	report := fs.String("report", "", "")
	fs.TextVar(&req.Sandbox.Mode, "sandbox", mode.None, "")
	fs.TextVar(&req.Sandbox.Floor, "sandbox-floor", mode.None, "")
	fs.StringVar(&fallback, "sandbox-fallback", "", "")
	fs.BoolVar(&req.Sandbox.AllowUnverified, "allow-unverified", false, "")
	fs.StringVar(&req.Wrap, "wrap", "", "")
	args, err := cli.ParsePrefix(fs, p.Args)
	if err != nil {
		return 0, usageID(err)
	}
	if err := check(fs, &req, fallback); err != nil {
		return 0, usageID(err)
	}
	if *printConfig {
		fmt.Fprint(p.Stdout, iso.DefaultConfig)
		return cli.ExitOK, nil
	}
	if len(args) == 0 {
		fmt.Fprint(p.Stderr, usage)
		return 1, nil
	}
	switch args[0] {
	case "scan":
		return scan(p, args[1:])
	case "completion":
		return completion(p, args[1:])
	}
	req.Name, req.Args = args[0], args[1:]
	quiet := *explain || *printCommand
	req.Sandbox.Probe = !quiet && !*offline && mayProbe(p)
	req.Sandbox.Report = *report != ""
	plan, err := iso.Prepare(p, req)
	if err != nil {
		return 0, err
	}
	if *explain {
		plan.Explain(p.Stdout)
		return cli.ExitOK, nil
	}
	plan.Notes(p, !quiet)
	if *report != "" {
		if err := plan.WriteReport(p, *report); err != nil {
			return 0, err
		}
	}
	if *printCommand {
		return cli.ExitOK, plan.Print(p.Stdout)
	}
	return plan.Start()
}

// check reads the options that have a few values only.
func check(fs *flag.FlagSet, req *iso.Request, fallback string) error {
	if asked(fs, "sandbox-fallback") {
		if !asked(fs, "sandbox") {
			return cli.Usagef("--sandbox-fallback %s without --sandbox: want --sandbox MODE, one of read-only, restricted, workspace-write, full", fallback)
		}
		f, err := mode.ParseFallback(fallback)
		if err != nil {
			return cli.Usagef("--sandbox-fallback: %v", err)
		}
		req.Sandbox.Fallback = f
	}
	if asked(fs, "wrap") && !slices.Contains(iso.Wrappers, req.Wrap) {
		return cli.Usagef("--wrap: %q is no wrapper: want %s", req.Wrap, strings.Join(iso.Wrappers, " or "))
	}
	return nil
}

func asked(fs *flag.FlagSet, name string) (found bool) {
	fs.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// mayProbe reports whether a CLI may be run to ask it something.
func mayProbe(p *cli.Process) bool {
	v := p.Getenv(iso.NoProbeVariable)
	return v == "" || v == "0"
}

// usageID puts the stable id of usage errors in front.
func usageID(err error) error {
	var usage *cli.UsageError
	if errors.As(err, &usage) {
		return cli.Usagef("E-USAGE: %s", usage.Msg)
	}
	return err
}

func scan(p *cli.Process, args []string) (int, error) {
	fs := cli.NewFlags(name + " scan")
	asJSON := fs.Bool("json", false, "")
	offline := fs.Bool("offline", false, "")
	names := fs.String("cli", "", "")
	operands, err := cli.Parse(fs, args)
	if err != nil {
		return 0, usageID(err)
	}
	if len(operands) > 0 {
		return 0, cli.Usagef("E-USAGE: scan: %q is not an option: want --json, --cli NAME[,NAME] or --offline", operands[0])
	}
	var chosen []string
	if asked(fs, "cli") {
		chosen = strings.FieldsFunc(*names, func(r rune) bool { return r == ',' || r == ' ' })
	}
	result, err := iso.NewScan(p, chosen, *offline || !mayProbe(p))
	if err != nil {
		return 0, err
	}
	if *asJSON {
		return cli.ExitOK, result.WriteJSON(p.Stdout)
	}
	return cli.ExitOK, result.WriteTable(p.Stdout)
}

func completion(p *cli.Process, args []string) (int, error) {
	operands, err := cli.Parse(cli.NewFlags(name+" completion"), args)
	if err != nil {
		return 0, usageID(err)
	}
	if len(operands) == 1 {
		if script, ok := completionScript(operands[0]); ok {
			fmt.Fprint(p.Stdout, script)
			return cli.ExitOK, nil
		}
	}
	return 0, cli.Usagef("E-USAGE: completion %s: want one of bash, zsh, fish", strings.Join(operands, " "))
}

func start(p *cli.Process, req iso.Request) (int, error) {
	plan, err := iso.Prepare(p, req)
	if err != nil {
		return 0, err
	}
	plan.Notes(p, true)
	return plan.Start()
}
