// Agent-setup installs the suite on this account and takes it away again.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"sallyport/internal/cli"
	"sallyport/internal/setup"
)

const usage = `agent-setup puts the suite's programs in place and wires them into the settings
of Claude Code, for every session of this account.

Usage:
  agent-setup <command> [flags]

Commands:
  install     copy the programs, wire hooks and status line, check the result
  uninstall   take exactly that away again
  project     write the recommended settings of a repository
  verify      look whether all of it is as it should be
  explain     say which value of a setting counts, and which file says so
  project-root
              list this worktree in the client's local settings; the same as
              the program add-project-root
  scope       do that for new worktrees by a git hook
  doctor      probe what the sandbox breaks, and suggest the fix
  update      what differs from this build, and from what it was tried with
  tools       versions of other programs: wanted, installed, newer
  remind      suggest an update check once in a while

"agent-setup <command> --help" is the manual of a command.

Global flags:
  --home DIR   work on the account whose home directory is DIR
  --yes        do not ask before writing
  --dry-run    show what would change, write nothing
  --json       print one JSON document on stdout, everything else on stderr
  --quiet      print only what needs attention
  --no-color   no colour (NO_COLOR does the same)
  --version    print version, commit and Go release

Exit codes:
  0   done, or nothing to do
  1   a check failed, or you said no
  2   a file cannot be used as it is; the message says where
  3   refused for safety; nothing was changed
  4   the client, or another program, is too old for the rest to hold
  64  usage
`

// A command is one sub-command: its manual, and what runs it.
type command struct {
	usage string
	run   func(p *cli.Process, args []string) error
}

func commands() map[string]command {
	return map[string]command{
		"install":   {installUsage, install},
		"uninstall": {uninstallUsage, uninstall},

		"project":      {projectUsage, project},
		"verify":       {verifyUsage, verifyCommand},
		"explain":      {explainUsage, explain},
		"project-root": {projectRootUsage, projectRoot},
		"scope":        {scopeUsage, scope},
		"doctor":       {doctorUsage, runDoctor},
		"tools":        {toolsUsage, runTools},
		"remind":       {remindUsage, runRemind},
		"update":       {updateUsage, runUpdate},
	}
}

func main() { os.Exit(run(cli.OS())) }

func run(p *cli.Process) int {
	if p.Name == "add-project-root" {
		return p.Finish(p.Name, projectRootUsage, projectRoot(p, p.Args))
	}
	name, rest, err := split(p.Args)
	if err != nil {
		return p.Finish("agent-setup", usage, err)
	}
	all := commands()
	c, ok := all[name]
	if !ok {
		names := slices.Sorted(maps.Keys(all))
		return p.Finish("agent-setup", usage, cli.Usagef("unknown command %q; did you mean %q?", name, setup.Nearest(name, names)))
	}
	return p.Finish("agent-setup", c.usage, c.run(p, rest))
}

// split finds the sub-command, which global flags may precede; those are
// handed on to it.
func split(args []string) (name string, rest []string, err error) {
	fs := cli.NewFlags("agent-setup")
	globals(fs, &setup.Options{})
	operands, err := cli.ParsePrefix(fs, args)
	if err != nil {
		return "", nil, suggest(fs, err)
	}
	if len(operands) == 0 {
		return "", nil, cli.Usagef("no command given")
	}
	before := args[:len(args)-len(operands)]
	if n := len(before); n > 0 && before[n-1] == "--" {
		before = before[:n-1]
	}
	return operands[0], append(append([]string{}, before...), operands[1:]...), nil
}

// globals declares the flags that every command takes.
func globals(fs *flag.FlagSet, o *setup.Options) (noColor *bool) {
	fs.StringVar(&o.Home, "home", "", "")
	fs.BoolVar(&o.Yes, "yes", false, "")
	fs.BoolVar(&o.DryRun, "dry-run", false, "")
	fs.BoolVar(&o.JSON, "json", false, "")
	fs.BoolVar(&o.Quiet, "quiet", false, "")
	return fs.Bool("no-color", false, "")
}

// parse reads the flags of a command that takes no operands.
func parse(fs *flag.FlagSet, args []string) error {
	operands, err := cli.Parse(fs, args)
	if err != nil {
		return suggest(fs, err)
	}
	if len(operands) > 0 {
		return cli.Usagef("unexpected operand %q", operands[0])
	}
	return nil
}

// suggest adds the nearest flag to the error for one that does not exist.
func suggest(fs *flag.FlagSet, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !ok {
		return err
	}
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return cli.Usagef("unknown flag --%s; did you mean --%s?", name, setup.Nearest(name, names))
}

// A list is the value of a flag that takes names separated by commas and may
// be given several times.
type list []string

func (l *list) String() string { return "" }

func (l *list) Set(s string) error {
	for _, name := range strings.Split(s, ",") {
		if name = strings.TrimSpace(name); name != "" {
			*l = append(*l, name)
		}
	}
	if len(*l) == 0 {
		return fmt.Errorf("want names separated by commas")
	}
	return nil
}

// A choice is a flag that is on, off or not given.
type choice struct{ value **bool }

func (c choice) String() string   { return "" }
func (c choice) IsBoolFlag() bool { return true }

func (c choice) Set(s string) error {
	on := s == "true"
	if !on && s != "false" {
		return fmt.Errorf("want true or false")
	}
	*c.value = &on
	return nil
}
