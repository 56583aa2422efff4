package main

import (
	"fmt"
	"slices"

	"sallyport/internal/cli"
	"sallyport/internal/setup"
	"sallyport/internal/verify"
)

const verifyUsage = `agent-setup verify looks whether the suite is installed, and the sandbox of a
project configured, as they should be.

Usage:
  agent-setup verify [flags]

It writes nothing. Every check prints ✓, ✗, ⚠ or – (does not apply), what it
looked at (file, line and JSON pointer, or the program with its exit code), and
how to mend what is wrong. docs/verify.md describes each check.

  --check LIST      only these checks, by id, as in V01,V02
  --live            also try what must be refused; that says something only when
                    it runs inside the sandbox, as a command of the agent
  --warn-as-error   ⚠ counts as ✗ for the exit code
  --project DIR     the project (default: the repository around this directory)
  --json            one JSON document on stdout
  --quiet           only what is ✗ or ⚠

Also: --home DIR, --no-color.

Reads: the settings files of Claude Code that count for a session in the
project, $CLAUDE_CONFIG_DIR, $PATH, $SHELL, the record of the installation.
Starts: claude, bwrap, socat, the shell and the suite's programs, to ask their
versions and see that they start.

Exit codes: 0 no ✗; 1 a check failed; 2 the project cannot be looked at; 3 the
home directory is not usable; 4 the client is too old, and the rest was not
looked at; 64 usage.

Example:
  agent-setup verify
  agent-setup verify --check V01 --json
`

func verifyCommand(p *cli.Process, args []string) error {
	var g setup.Options
	var ids list
	fs := cli.NewFlags("verify")
	noColor := globals(fs, &g)
	fs.Var(&ids, "check", "")
	live := fs.Bool("live", false, "")
	strict := fs.Bool("warn-as-error", false, "")
	project := fs.String("project", "", "")
	if err := parse(fs, args); err != nil {
		return err
	}
	var known []string
	for _, c := range verify.Checks() {
		known = append(known, c.ID)
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return cli.Usagef("unknown check %q; did you mean %q?", id, setup.Nearest(id, known))
		}
	}
	fill(&g, p, *noColor)
	m, err := machine(p, g, *project)
	if err != nil {
		return err
	}
	m.Live = *live
	r := verify.Run(m, ids...)
	code := cli.ExitOK
	switch {
	case r.Stopped != "":
		code = cli.ExitHardStop
	case r.Count(verify.Fail) > 0, *strict && r.Count(verify.Warn) > 0:
		code = cli.ExitFindings
	}
	if g.JSON {
		err = r.WriteJSON(p.Stdout, code)
	} else {
		r.WriteText(p.Stdout, g.Color, g.Quiet, m.Short)
	}
	if err == nil && code != cli.ExitOK {
		return &cli.ExitError{Code: code}
	}
	return err
}

// machine finds the project and reads the settings that count there.
func machine(p *cli.Process, g setup.Options, project string) (*verify.Machine, error) {
	m, err := verify.NewMachine(verify.Options{Environ: p.Environ, Dir: p.Dir(), Home: g.Home, Project: project})
	if _, ok := err.(*cli.ExitError); err != nil && !ok {
		err = cli.Exitf(cli.ExitInput, "%v", err)
	}
	return m, err
}

const explainUsage = `agent-setup explain says which value of a Claude Code setting counts for a
session in a project, which file it comes from, and what every other file that
was considered says.

Usage:
  agent-setup explain [flags] KEY

KEY is a dotted path (sandbox.filesystem.allowRead) or a JSON pointer
(/sandbox/enabled). Entries of path lists, and Read and Edit rules, are shown
with the absolute path that they stand for: it depends on the file.

  --project DIR     where the session would start (default: the repository
                    around this directory)
  --json            one JSON document on stdout

Also: --home DIR, --no-color.

Exit codes: 0 said; 2 the project cannot be looked at; 3 the home directory is
not usable; 64 usage.

Example:
  agent-setup explain sandbox.enabled
  agent-setup explain permissions.deny
`

func explain(p *cli.Process, args []string) error {
	var g setup.Options
	fs := cli.NewFlags("explain")
	noColor := globals(fs, &g)
	project := fs.String("project", "", "")
	operands, err := cli.Parse(fs, args)
	if err != nil {
		return suggest(fs, err)
	}
	if len(operands) != 1 {
		return cli.Usagef("want one KEY, got %d", len(operands))
	}
	fill(&g, p, *noColor)
	m, err := machine(p, g, *project)
	if err != nil {
		return err
	}
	e, err := verify.Explain(m, operands[0])
	if err != nil {
		return cli.Usagef("%v", err)
	}
	if g.JSON {
		return e.WriteJSON(p.Stdout)
	}
	if g.Quiet {
		_, err := fmt.Fprintln(p.Stdout, e.Value)
		return err
	}
	e.WriteText(p.Stdout, g.Color, m.Short)
	return nil
}
