// Bypass-warn makes an agent's request to leave the sandbox impossible to miss.
package main

import (
	"flag"
	"fmt"
	"os"

	"sallyport/hookio"
	"sallyport/internal/bypass"
	"sallyport/internal/cli"
	"sallyport/internal/term"
	"sallyport/settings"
)

const usage = `bypass-warn makes an agent's request to leave the sandbox impossible to miss.

Usage:

	bypass-warn [flags] < event.json

It is a PreToolUse hook of Claude Code. It reads one event from stdin. When a
member "dangerouslyDisableSandbox" in it is true it prints, in bold red on
stderr,

	!!! SANDBOX BYPASS REQUESTED !!!
	Reason : <the call's description>
	Command: <the call's command>
	This call will run OUTSIDE the sandbox.

and exits 1, which blocks nothing. The client shows that only after the command
ran, so JSON on stdout goes with it. In a session that somebody attends and that
has a sandbox it asks, with the banner as the question, and puts the warning
into the call's description, the only text that the client's own dialog about a
bypass shows. In any other session it is a message: in print mode a question
would refuse the call. Where the session has no sandbox, or the settings refuse
the request, the last line says so. On a terminal no JSON is printed.

Any other event, and any input that cannot be read, ends in silence and exit 0.

Flags:

	--mode auto|warn|ask|block
	            auto: as above, the default; warn: never ask; ask: always
	            ask; block: refuse the call
	--channel both|stderr|json
	            print the banner on stderr, as JSON on stdout, or both
	--excluded  also announce a command that leaves the sandbox because
	            sandbox.excludedCommands has it, which no dialog ever shows
	--color always|auto|never
	            colour stderr and messages; NO_COLOR switches it off as well
	--help, --version

Settings, in ~/.claude/settings.json:

	{"hooks": {"PreToolUse": [{
	  "matcher": "Bash|PowerShell|Monitor",
	  "hooks": [{"type": "command", "timeout": 5,
	             "command": "~/.claude/scripts/bypass-warn"}]}]}}

Configuration, in ~/.config/sallyport/bypass-warn.toml; a flag overrides it, and
a file that cannot be read counts as missing:

	mode = "auto"
	channel = "both"
	excluded = false
	prompt_description = true

The client takes the changed input of one hook only, the last to finish. Set
prompt_description to false if another hook of yours changes the input of shell
calls.

Exit codes:

	0   no request
	1   a request, or an excluded command, was announced
	2   the call was refused (--mode block)
	64  unknown flag or operand

SALLYPORT_DEBUG=1 logs to stderr what went wrong, a path to that file.

Example:

	echo '{"tool_input":{"command":"ls","dangerouslyDisableSandbox":true}}' | bypass-warn
`

func main() { os.Exit(run(cli.OS())) }

func run(p *cli.Process) int {
	opts := bypass.Defaults()
	color := term.ColorAlways
	fs := cli.NewFlags("bypass-warn")
	fs.Var(&opts.Mode, "mode", "")
	fs.Var(&opts.Channel, "channel", "")
	fs.BoolVar(&opts.Excluded, "excluded", false, "")
	fs.Var(&color, "color", "")
	operands, err := cli.Parse(fs, p.Args)
	if err == nil && len(operands) > 0 {
		err = cli.Usagef("unexpected operand %q", operands[0])
	}
	if err != nil {
		return p.Finish("bypass-warn", usage, err)
	}
	return p.Guarded(func() int {
		cfg, err := bypass.LoadConfig(bypass.ConfigPath(p.Getenv))
		if err != nil {
			p.Debugf("configuration not used: %v", err)
		}
		fs.Visit(func(f *flag.Flag) {
			switch f.Name {
			case "mode":
				cfg.Mode = opts.Mode
			case "channel":
				cfg.Channel = opts.Channel
			case "excluded":
				cfg.Excluded = opts.Excluded
			}
		})
		return hook(p, cfg, color)
	})
}

// hook reads one event and announces it if there is something to announce.
func hook(p *cli.Process, cfg bypass.Config, color term.Color) int {
	raw, err := hookio.ReadInput(p.Stdin)
	if err != nil {
		p.Debugf("read stdin: %v", err)
		return hookio.ExitPass
	}
	requested := bypass.Requested(raw)
	if !requested && !cfg.Excluded {
		return hookio.ExitPass
	}
	ev, err := hookio.Claude.Decode(raw)
	if err != nil {
		p.Debugf("read event: %v", err)
		ev.Name = hookio.PreToolUse
	}
	env := settings.OSEnv(p.Getenv)
	dir := ev.Dir
	if dir == "" {
		dir = p.Dir()
	}
	session := settings.HookSession(env, "", dir, "")
	stack := settings.Load(session, env)
	sandbox := stack.Sandboxed()
	if requested {
		return announce(p, cfg, color, &ev, bypass.Answer(&ev, cfg, bypass.Session{
			Attended:      p.Getenv("CLAUDE_CODE_SESSION_ATTENDED") == "1",
			Sandbox:       sandbox,
			BypassAllowed: stack.Sandbox().BypassAllowed,
		}))
	}
	if sandbox != settings.Yes {
		return hookio.ExitPass
	}
	notice, ok := bypass.Excluded(&ev, stack.List("sandbox.excludedCommands"), session.Version)
	if !ok {
		return hookio.ExitPass
	}
	return announce(p, cfg, color, &ev, notice)
}

// announce prints a notice and returns its exit code. A terminal gets no JSON,
// and a refusal nothing but its reason on stderr.
func announce(p *cli.Process, cfg bypass.Config, color term.Color, ev *hookio.Event, n bypass.Notice) int {
	json := cfg.Channel != bypass.Stderr && n.Exit != hookio.ExitBlock && !term.IsTerminal(p.Stdout)
	if cfg.Channel != bypass.JSON || !json {
		fmt.Fprintln(p.Stderr, bypass.Colour(color.Enabled(p.Stderr, p.Getenv), n.Lines))
	}
	if json {
		if n.Decision.Message != "" {
			n.Decision.Message = bypass.Colour(color.Enabled(p.Stdout, p.Getenv), n.Lines)
		}
		p.Stdout.Write(hookio.Claude.Encode(ev, n.Decision).Stdout)
	}
	return n.Exit
}
