package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"sallyport/internal/cli"
	"sallyport/internal/gitdir"
	"sallyport/internal/projectroot"
	"sallyport/internal/setup"
	"sallyport/internal/term"
)

const scopeUsage = `agent-setup scope decides how new git worktrees get their entries in the local
settings of Claude Code (see add-project-root --help).

Usage:
  agent-setup scope per-project [flags]   this repository
  agent-setup scope whole-user [flags]    every repository of the account
  agent-setup scope status [--json]       what is in force
  agent-setup scope off [flags]           undo either

per-project lists all worktrees of this repository and gives it a post-checkout
hook for those to come. A hook of its own stays; the line to add is printed.
  --no-hook           no hook

whole-user makes ~/.claude/git-hooks the hook directory of all repositories
(git config --global core.hooksPath) and opens it to sandboxed commands, because
git skips hooks that it cannot read. You have to type yes.
  --flavour WHICH     dispatcher (default): every repository's own hooks keep
                      running, with all they see and return; simple: post-checkout
                      alone, and every other hook on the account falls silent
  --all-hooks         also reference-transaction and post-index-change, which git
                      starts several times in one command
  --chain-previous    run the hooks of the core.hooksPath there is now before
                      each repository's own; without it such a one is refused
  --walk DIR          list the worktrees of repositories below DIR that have a
                      .claude directory, four levels deep; may be repeated
  --no-rc             leave the shell's start file alone, print the lines that
                      put ~/.claude/bin first on PATH (there prek, pre-commit
                      and lefthook learn to install into the repository)

off puts git's configuration, settings and start file back, byte for byte if
nobody changed them since, and removes the hooks. Local settings stay.

Also: --home DIR, --yes, --dry-run, --json, --quiet, --no-color.

Exit codes: 0 done or nothing to do; 1 a check failed or you said no; 2 a file
cannot be used as it is; 3 refused for safety, nothing changed; 64 usage.

Example:
  agent-setup scope whole-user --walk ~/src --dry-run
`

func scope(p *cli.Process, args []string) error {
	var o setup.ScopeOptions
	var noHook bool
	var walk dirList
	fs := cli.NewFlags("scope")
	noColor := globals(fs, &o.Options)
	fs.StringVar(&o.Flavour, "flavour", "", "")
	fs.BoolVar(&o.AllHooks, "all-hooks", false, "")
	fs.BoolVar(&o.ChainPrevious, "chain-previous", false, "")
	fs.BoolVar(&o.NoRC, "no-rc", false, "")
	fs.BoolVar(&noHook, "no-hook", false, "")
	fs.Var(&walk, "walk", "")
	operands, err := cli.Parse(fs, args)
	if err != nil {
		return suggest(fs, err)
	}
	fill(&o.Options, p, *noColor)
	names := []string{"per-project", "whole-user", "status", "off"}
	if len(operands) == 0 {
		return cli.Usagef("scope of what? One of %s", strings.Join(names, ", "))
	}
	if len(operands) > 1 {
		return cli.Usagef("unexpected operand %q", operands[1])
	}
	if o.Flavour+fmt.Sprint(o.AllHooks, o.ChainPrevious, o.NoRC, len(walk)) != "false false false 0" && operands[0] != "whole-user" {
		return cli.Usagef("--flavour, --all-hooks, --chain-previous, --no-rc and --walk belong to whole-user")
	}
	if noHook && operands[0] != "per-project" {
		return cli.Usagef("--no-hook belongs to per-project")
	}
	common := ""
	if repo, ok := gitdir.Find(p.Dir(), nil); ok {
		common = repo.CommonDir
	}
	switch operands[0] {
	case "status":
		return scopeStatus(p, o.Options, common)
	case "off":
		return setup.ScopeOff(o.Options, common)
	case "whole-user":
		if err := setup.WholeUser(o); err != nil {
			return err
		}
		if len(walk) == 0 {
			return nil
		}
		return populate(p, o.Options, walk)
	case "per-project":
		if common == "" {
			return cli.Exitf(cli.ExitInput, "this is no git repository; run it in one")
		}
		return setup.PerProject(o.Options, common, !noHook, func() ([]setup.LocalEdit, []string) {
			return preview(o.Options, []string{p.Dir()}, "", client(o.Options))
		})
	}
	return cli.Usagef("unknown scope %q; did you mean %q?", operands[0], setup.Nearest(operands[0], names))
}

// dirList is a flag that may be given several times.
type dirList []string

func (d *dirList) String() string     { return "" }
func (d *dirList) Set(s string) error { *d = append(*d, s); return nil }

// client asks for the client's version when it matters, once.
func client(o setup.Options) func() string {
	return sync.OnceValue(func() string { return setup.ClientVersion(setup.Environ(o)) })
}

// preview decides what the local settings of repositories are to hold. ignored
// is a directory whose local file git is about to ignore.
func preview(o setup.Options, repos []string, ignored string, client func() string) (edits []setup.LocalEdit, warnings []string) {
	environ := setup.Environ(o)
	for _, dir := range repos {
		report := projectroot.Run(projectroot.Options{
			Dir: dir, Environ: environ, AllWorktrees: true, DryRun: true, Ignored: ignored,
			ClientVersion: client,
		})
		for _, problem := range report.Problems {
			warnings = append(warnings, problem.String())
		}
		for _, f := range report.Files {
			edits = append(edits, setup.LocalEdit{Path: f.Target, Existed: f.Existed, Old: f.Old, New: f.New})
		}
	}
	return edits, warnings
}

// populate lists the worktrees of all repositories below some directories.
func populate(p *cli.Process, o setup.Options, walk []string) error {
	var roots []string
	for _, dir := range walk {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.Dir(), dir)
		}
		found, err := projectroot.Walk(dir)
		if err != nil {
			return cli.Exitf(cli.ExitInput, "--walk: %v", err)
		}
		roots = append(roots, found...)
	}
	return setup.Populate(o, roots, func() ([]setup.LocalEdit, []string) { return preview(o, roots, "", client(o)) })
}

func scopeStatus(p *cli.Process, o setup.Options, common string) error {
	st, err := setup.Scope(o, common)
	if err != nil {
		return err
	}
	if o.JSON {
		enc := json.NewEncoder(p.Stdout)
		enc.SetEscapeHTML(false)
		return enc.Encode(st)
	}
	say := func(format string, args ...any) {
		fmt.Fprintln(p.Stdout, term.Clean(fmt.Sprintf(format, args...), 0))
	}
	switch {
	case st.Scope == "whole-user":
		say("scope: whole-user, flavour %s (%s)", st.Flavour, st.Path)
	case st.Path != "":
		say("scope: %s; core.hooksPath is %s (%s), which is not this suite's", st.Scope, st.Path, st.Origin)
	default:
		say("scope: %s", st.Scope)
	}
	if st.Chain != "" {
		say("the hooks in %s run first", st.Chain)
	}
	if st.Repo != "" {
		say("this repository has its own core.hooksPath, %s", st.Repo)
	}
	if len(st.Shadowed) > 0 {
		say("hooks of this repository that git does not run: %s", strings.Join(st.Shadowed, ", "))
	}
	switch {
	case st.Scope != "whole-user":
		say("to cover every repository: agent-setup scope whole-user")
	case common != "":
		say("for this repository's worktrees as they are now: agent-setup scope per-project")
	}
	return nil
}
