// Error-hint recognises the output of commands that the agent's sandbox made
// fail, and says what happened and how to fix it.
//
// It is a hook that runs after shell calls. It decides nothing, and on any
// mistake of its own or of its input it ends in silence with exit 0.
package main

import (
	"os"
	"runtime"

	"sallyport/internal/cli"
	"sallyport/internal/term"
)

const name = "error-hint"

const usage = `error-hint - says which failures of a command are the sandbox's doing

Usage:
  error-hint [--color WHEN]       hook: read an event on stdin, hint at most once
  error-hint --explain < FILE     say which entries looked at an output, and why
  error-hint --list               print the catalogue
  error-hint --show ID            print one entry whole
  error-hint --help | --version

A command that fails because of the sandbox rarely says so: it reports a socket,
a name that does not resolve, a read-only file. As a hook error-hint compares
what a shell call printed with a catalogue of such texts and prints a hint for
the first entry that matches:

  [sandbox-hint] <what happened>. <fix>. See docs/sandbox-troubleshooting.md#<id>
                 Run agent-setup doctor for a probe of all known failure modes.

The person gets it on stderr and as systemMessage, the model as additionalContext
together with the exact settings and what must not be widened. An entry is shown
once in ten minutes of a session. Calls that were allowed out of the sandbox get
no hint. The output of a successful cat, grep, git log and the like is a document
and is not searched.

Wire it to both events, for a command that fails sends only the second:

  "hooks": {
    "PostToolUse": [{"matcher": "Bash|PowerShell",
      "hooks": [{"type": "command", "command": "error-hint", "timeout": 5}]}],
    "PostToolUseFailure": [{"matcher": "Bash|PowerShell",
      "hooks": [{"type": "command", "command": "error-hint", "timeout": 5}]}]
  }

Options:
  --color WHEN   always (default), auto or never; NO_COLOR switches it off
  --explain      read an event, or any text such as a saved transcript, and print
                 what the hook would say and how far each entry got
  --list         entries in the order they are tried, and what is wrong with your own
  --show ID      cause, fix, settings, what to avoid, sources

Your own entries: *.toml in ~/.config/sallyport/hints.d, for example

  disable = ["dns-in-sandbox"]          # built-in entries that you do not want

  [[hint]]
  id = "vpn-down"
  order = 5                             # tried before 6; 90 and more: last resort
  title = "The build host is not reachable from the sandbox"
  platform = ["linux", "darwin"]
  confidence = "medium"                 # high, medium, low
  gate = "sandbox-on-or-unknown"        # none, sandbox-on-or-unknown, sandbox-on
  signatures = ['connect to build\.example\.com[^\n]*refused']   # RE2
  positives = ["connect to build.example.com port 8443: refused"]
  negatives = ["connect to build.example.com: timed out"]
  cause = "The host is only known inside the company network."
  never = ["allowedDomains [\"*\"]"]

  [hint.fix]
  scope = "user"              # user, project, project-local, command, host
  line = "add build.example.com to sandbox.network.allowedDomains"

  [hint.fix.settings.sandbox.network]
  allowedDomains = ["build.example.com"]

Optional fields: severity = "info", lookalikes, protected, probe, sources,
fix.steps, also_set. An entry with the id of a built-in one replaces it.

Exit codes:
  0   nothing to say, or the listing was printed
  1   a hint was printed; the client goes on either way. --list: a file of your
      own has a problem
  64  unknown option or id

Example:
  echo '{"tool_name":"Bash","tool_response":{"stdout":"","stderr":"Could not open a connection to your authentication agent."}}' | error-hint
`

func main() { os.Exit(run(cli.OS())) }

func run(p *cli.Process) int {
	fs := cli.NewFlags(name)
	colour := term.ColorAlways
	fs.Var(&colour, "color", "")
	explainInput := fs.Bool("explain", false, "")
	listEntries := fs.Bool("list", false, "")
	showID := fs.String("show", "", "")
	operands, err := cli.Parse(fs, p.Args)
	if err == nil && len(operands) > 0 {
		err = cli.Usagef("unexpected operand %q", term.Clean(operands[0], 80))
	}
	if err != nil {
		return p.Finish(name, usage, err)
	}
	w := newWorld(p, runtime.GOOS)
	switch {
	case *listEntries:
		err = w.list()
	case *showID != "":
		err = w.show(*showID)
	case *explainInput:
		err = w.explain()
	default:
		return p.Guarded(func() int { return w.hook(colour) })
	}
	return p.Finish(name, usage, err)
}
