package main

import (
	"sallyport/internal/cli"
	"sallyport/internal/setup"
)

const uninstallUsage = `agent-setup uninstall takes away what install put in place, and only that.

Usage:
  agent-setup uninstall [--purge] [flags]

Settings and shell start file get back the bytes they had, if nobody changed
them since; otherwise the suite's entries are taken out and every other byte
stays. A status line that install replaced is put back. Programs that were
changed since are kept and named. Without a record of the installation, what
looks like the suite's is offered for removal one by one. The cache goes as well.

  --purge        also remove ~/.config/sallyport and ~/.local/state/sallyport,
                 except the backups; configuration is copied there first
  --prefix DIR   where the programs are, if there is no record

Also: --home DIR, --yes, --dry-run, --json, --quiet, --no-color.

Exit codes: 0 done or nothing to do; 1 you said no; 2 a file cannot be used as
it is; 3 refused for safety, nothing changed; 64 usage.

Example:
  agent-setup uninstall --dry-run
`

func uninstall(p *cli.Process, args []string) error {
	var o setup.UninstallOptions
	fs := cli.NewFlags("uninstall")
	noColor := globals(fs, &o.Options)
	fs.BoolVar(&o.Purge, "purge", false, "")
	fs.StringVar(&o.Prefix, "prefix", "", "")
	if err := parse(fs, args); err != nil {
		return err
	}
	fill(&o.Options, p, *noColor)
	return setup.Uninstall(o)
}
