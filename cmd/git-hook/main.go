// Git-hook runs a repository's own hooks from the account's shared hook
// directory, and stands before programs that install hooks.
package main

import (
	"os"

	"sallyport/internal/cli"
	"sallyport/internal/githooks"
)

const usage = `git-hook keeps every repository's own hooks running although a global
core.hooksPath names one shared directory, and lists new worktrees in the local
settings of Claude Code.

Usage:
  (by git, through a link named after a hook in ~/.claude/git-hooks)

"agent-setup scope whole-user" sets it up, "agent-setup scope off" takes it away.

As a hook it becomes the repository's hook of the same name (hooks/NAME in the
git directory that all worktrees share) with the same arguments, input, output
and environment; exit status and signals are that hook's. Without one it exits
with 0. Before post-checkout of a new worktree or another branch it runs
add-project-root --quiet, for at most 2 seconds, if the worktree has a .claude
directory. A repository that sets core.hooksPath itself is not affected: git
then does not come here.

As ~/.claude/bin/prek it starts the real prek, and gives "install" the
repository's git directory, so that hooks are not written into the shared one.
As ~/.claude/bin/pre-commit and lefthook it hides core.hooksPath from "install",
which refuses to work otherwise.

Environment:
  SALLYPORT_HOOK_DEBUG  1 logs decisions and times to stderr, a path to that file
  SALLYPORT_HOOK_DEPTH  how many hooks started each other; at 5 it stops

Exit codes: those of the repository's hook, 0 without one, 1 if it cannot be
started; as a shim those of the real program, 127 if there is none.
`

func main() { os.Exit(run(cli.OS())) }

func run(p *cli.Process) int {
	switch {
	case githooks.IsShim(p):
		return githooks.Shim(p)
	case p.Name != githooks.Program:
		return githooks.Dispatch(p)
	}
	fs := cli.NewFlags(githooks.Program)
	operands, err := cli.Parse(fs, p.Args)
	if err == nil {
		err = cli.Usagef("started by hand")
		if len(operands) > 0 {
			err = cli.Usagef("unexpected operand %q", operands[0])
		}
	}
	return p.Finish(githooks.Program, usage, err)
}
