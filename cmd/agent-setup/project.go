package main

import (
	"sallyport/internal/cli"
	"sallyport/internal/setup"
)

const projectUsage = `agent-setup project writes the recommended Claude Code settings of a repository
to .claude/settings.json, or merges them into the file that is there.

Usage:
  agent-setup project [flags]

It shows a diff first. In a terminal it then asks; elsewhere it writes only with
--yes. A second run changes nothing. A merge is a union: a value of yours stays,
nothing that your file denies is allowed, and what the template does not know is
listed as yours. Why each key is there stands in docs/project-settings.md.

  --preset LIST     one level (minimal, recommended, strict) and any additions
                    (github, python, node, go, rust, java, gpg, ssh-sign,
                    container); default: recommended, which is github and the
                    languages whose manifest files stand in the project
  --strict          the same as the level strict: no session without a sandbox,
                    no request to leave it, more names of credentials
  --auto-allow      sandboxed commands run without a question;
                    --auto-allow=false asks (default: you are asked which)
  --weaker-tls      let macOS commands reach the system's trust service
  --no-local        leave the local settings alone; otherwise the worktrees are
                    listed in them, as add-project-root --all-worktrees does
  --local           only that
  --project DIR     the project (default: the repository around this directory)
  --print           print the template for this project, look at no settings
  --diff            print only what would change; exit 1 if something would
  --check           look only whether the file breaks an invariant of
                    docs/project-settings.md; exit 1 if it does
  --fix-json        strip a byte order mark from the file

The hosts of node and go packages are asked from npm and go at the time, so that
a private mirror works. Lines for .gitignore are part of the plan. What belongs
to one machine (the worktrees' absolute paths, ssh-sign) goes to
.claude/settings.local.json.

Also: --home DIR, --yes, --dry-run, --json, --quiet, --no-color.

Exit codes: 0 done or nothing to do; 1 you said no, an invariant is broken, or
--diff found a difference; 2 a file cannot be used as it is; 3 refused for safety, nothing
changed; 64 usage.

Example:
  agent-setup project --diff
  agent-setup project --preset strict,gpg
`

func project(p *cli.Process, args []string) error {
	var o setup.ProjectOptions
	fs := cli.NewFlags("project")
	noColor := globals(fs, &o.Options)
	fs.StringVar(&o.Project, "project", "", "")
	fs.Var((*list)(&o.Presets), "preset", "")
	fs.BoolVar(&o.Strict, "strict", false, "")
	fs.Var(choice{&o.AutoAllow}, "auto-allow", "")
	fs.BoolVar(&o.WeakerTLS, "weaker-tls", false, "")
	fs.BoolVar(&o.Print, "print", false, "")
	fs.BoolVar(&o.Diff, "diff", false, "")
	fs.BoolVar(&o.Check, "check", false, "")
	fs.BoolVar(&o.LocalOnly, "local", false, "")
	noLocal := fs.Bool("no-local", false, "")
	fs.BoolVar(&o.FixJSON, "fix-json", false, "")
	if err := parse(fs, args); err != nil {
		return err
	}
	if o.Print && o.Diff || o.Print && o.Check || o.Diff && o.Check {
		return cli.Usagef("--print, --diff and --check exclude each other")
	}
	if o.LocalOnly && (*noLocal || o.Print || o.Check) {
		return cli.Usagef("--local excludes --no-local, --print and --check")
	}
	fill(&o.Options, p, *noColor)
	if !*noLocal {
		o.Local = func(dir string, client func() string) ([]setup.LocalEdit, []string) {
			return preview(o.Options, []string{dir}, dir, client)
		}
	}
	return setup.Project(o)
}
