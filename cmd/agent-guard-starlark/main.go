// Agent-guard-starlark runs Starlark guards for agent-guard; see usage.
package main

import (
	"os"

	"sallyport/guards/plugin/starguard"
	"sallyport/internal/cli"
	"sallyport/internal/term"
)

const name = "agent-guard-starlark"

func main() { os.Exit(run(cli.OS())) }

func run(p *cli.Process) int {
	operands, err := cli.Parse(cli.NewFlags(name), p.Args)
	switch {
	case err != nil:
	case len(operands) > 0:
		err = cli.Usagef("unexpected argument %q", operands[0])
	case term.IsTerminal(p.Stdin):
		err = cli.Usagef("agent-guard starts this program; there is nothing here to type")
	default:
		return starguard.Work(p.Stdin, p.Stdout)
	}
	return p.Finish(name, usage, err)
}
