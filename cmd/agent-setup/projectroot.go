package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"sallyport/internal/cli"
	"sallyport/internal/projectroot"
	"sallyport/internal/setup"
	"sallyport/internal/term"
)

const projectRootUsage = `add-project-root lists a git worktree, as a literal absolute path, in the local
settings file of Claude Code (.claude/settings.local.json), so that sandboxed
commands can read and write it where the home directory is denied.
"agent-setup project-root" is the same command.

Usage:
  add-project-root [flags]

It adds the worktree's root to sandbox.filesystem.allowRead and allowWrite,
paths that tools need (~/.gitconfig, ~/.config/git, ~/.cache, ~/.local/bin,
~/.local/share/uv, if they exist), and two working directories to
permissions.additionalDirectories. It removes and reorders nothing; a second run
changes nothing and says nothing. Committed and user settings are never touched.

The file is written only if git ignores it, stands inside the worktree and is
valid JSON; else the worktree is left alone and the reason is printed. Paths
come from git alone: there is no flag for one.

  --all-worktrees      all worktrees of the repository, not only this one
  --local-file WHICH   main, worktree, both, or auto (default): clients from
                       2.1.211 read the main checkout's file in every linked
                       worktree, older ones the worktree's own; auto asks
                       "claude --version" and takes both if it gets no answer
  --git-common-dir     list the shared git directory of linked worktrees too
                       (needed by clients before 2.1.149)
  --no-tool-paths      leave the tool paths out
  --no-working-dirs    leave the working directories out
  --prune              also take out roots of other worktrees that are gone
  --remove             take out what was added for this worktree
  --check              change nothing; exit 1 and one line if something is missing
  --dry-run            show a diff, change nothing
  --strict             exit 1 if anything could not be done
  --json               print one JSON document on stdout
  --quiet              print only problems
  --no-color           no colour in the diff (NO_COLOR does the same)

Exit codes: 0 done, nothing to do, or not possible here (with a warning, so that
a git hook never breaks a checkout); 1 with --strict if not possible, with
--check if something is missing; 64 usage.

Example:
  add-project-root --all-worktrees
  add-project-root --check --quiet
`

func projectRoot(p *cli.Process, args []string) error {
	o := projectroot.Options{Dir: p.Dir(), Environ: p.Environ}
	var strict, quiet, asJSON, noColor bool
	var local string
	fs := cli.NewFlags("project-root")
	fs.BoolVar(&o.AllWorktrees, "all-worktrees", false, "")
	fs.StringVar(&local, "local-file", string(projectroot.Auto), "")
	fs.BoolVar(&o.GitCommonDir, "git-common-dir", false, "")
	fs.BoolVar(&o.NoToolPaths, "no-tool-paths", false, "")
	fs.BoolVar(&o.NoWorkingDirs, "no-working-dirs", false, "")
	fs.BoolVar(&o.Prune, "prune", false, "")
	fs.BoolVar(&o.Remove, "remove", false, "")
	fs.BoolVar(&o.Check, "check", false, "")
	fs.BoolVar(&o.DryRun, "dry-run", false, "")
	fs.BoolVar(&strict, "strict", false, "")
	fs.BoolVar(&asJSON, "json", false, "")
	fs.BoolVar(&quiet, "quiet", false, "")
	fs.BoolVar(&noColor, "no-color", false, "")
	operands, err := cli.Parse(fs, args)
	if err != nil {
		return suggest(fs, err)
	}
	if len(operands) > 0 {
		return cli.Usagef("unexpected operand %q: paths come from git only; run this in the worktree", operands[0])
	}
	o.LocalFile = projectroot.LocalFile(local)
	names := []string{string(projectroot.Auto), string(projectroot.Main), string(projectroot.Worktree), string(projectroot.Both)}
	switch {
	case !slices.Contains(names, local):
		return cli.Usagef("--local-file %q; did you mean %q?", local, setup.Nearest(local, names))
	case o.Check && (o.Remove || o.Prune || o.DryRun):
		return cli.Usagef("--check changes nothing and excludes --remove, --prune and --dry-run")
	case o.Remove && o.Prune:
		return cli.Usagef("--remove and --prune exclude each other")
	case o.Remove && o.GitCommonDir:
		return cli.Usagef("--remove takes the shared git directory out anyway; --git-common-dir only adds it")
	}
	o.ClientVersion = func() string { return setup.ClientVersion(p.Environ) }
	report := projectroot.Run(o)
	if asJSON {
		enc := json.NewEncoder(p.Stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(report); err != nil {
			return err
		}
	}
	say := reporter{w: p.Stderr, name: "add-project-root", quiet: quiet}
	say.report(report, o.DryRun, !noColor && term.ColorAuto.Enabled(p.Stdout, p.Getenv), func(diff string) {
		if !asJSON {
			fmt.Fprint(p.Stdout, diff)
		}
	})
	if strict && len(report.Problems) > 0 {
		return &cli.ExitError{Code: cli.ExitFindings}
	}
	if !o.Check {
		return nil
	}
	if !quiet {
		for _, f := range report.Files {
			if f.Action == projectroot.Same {
				say.line(f.Path + ": covers " + strings.Join(f.Worktrees, ", "))
			}
		}
	}
	for _, problem := range report.Problems {
		if problem.Path != "" { // a worktree that may not be covered
			return &cli.ExitError{Code: cli.ExitFindings}
		}
	}
	for _, f := range report.Files {
		if f.Action == projectroot.Missing {
			return &cli.ExitError{Code: cli.ExitFindings}
		}
	}
	return nil
}

// A reporter prints what became of local settings files, a line each.
type reporter struct {
	w     io.Writer
	name  string
	quiet bool
}

func (r reporter) line(text string) { fmt.Fprintf(r.w, "%s: %s\n", r.name, term.Clean(text, 4000)) }

func (r reporter) report(rep projectroot.Report, dryRun, color bool, diff func(string)) {
	for _, p := range rep.Problems {
		r.line(p.String())
	}
	for _, f := range rep.Files {
		switch f.Action {
		case projectroot.Same:
			continue
		case projectroot.Missing:
			r.line(f.Path + ": not covered, " + entries("missing", f.Added) + "; run add-project-root in a terminal")
			continue
		}
		if dryRun {
			diff(setup.Diff(f.Path, f.Old, f.New, color))
		}
		if r.quiet {
			continue
		}
		var parts []string
		if len(f.Added) > 0 {
			parts = append(parts, entries("added", f.Added))
		}
		if len(f.Removed) > 0 {
			parts = append(parts, entries("removed", f.Removed))
		}
		text := f.Path + ": " + strings.Join(parts, "; ")
		if f.Action == projectroot.Removed {
			text += "; nothing was left, so the file is gone"
		}
		if dryRun {
			text += " (dry run: nothing was changed)"
		}
		r.line(text)
	}
	if !r.quiet {
		for _, n := range rep.Notes {
			r.line(n)
		}
	}
}

// entries lists values by the list they stand in.
func entries(verb string, all []projectroot.Entry) string {
	var parts []string
	last := ""
	for _, list := range projectroot.Lists() {
		for _, e := range all {
			if e.List != list {
				continue
			}
			if list == last {
				parts[len(parts)-1] += ", " + e.Value
			} else {
				parts = append(parts, list[strings.LastIndexByte(list, '.')+1:]+" "+e.Value)
			}
			last = list
		}
	}
	return verb + " " + strings.Join(parts, "; ")
}
