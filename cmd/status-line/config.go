package main

import (
	"sallyport/internal/cli"
	"sallyport/internal/statusline/config"
	"sallyport/internal/term"
)

// editConfig is the sub-command config.
func editConfig(p *cli.Process, args []string) error {
	path := config.Path(p.Getenv)
	if path == "" {
		return cli.Exitf(cli.ExitInput, "no home directory is known; set HOME or XDG_CONFIG_HOME")
	}
	if len(args) == 0 {
		_, errs := config.Load(path)
		for _, err := range errs {
			say(p.Stderr, "%s: %s", name, term.Clean(err.Error(), 4096))
		}
		if len(errs) > 0 {
			return &cli.ExitError{Code: cli.ExitFindings}
		}
		say(p.Stdout, "%s: no problems", term.Clean(path, 4096))
		return nil
	}
	verb, args := args[0], args[1:]
	switch {
	case verb == "get" && len(args) <= 1:
		conf, errs := config.Load(path)
		for _, err := range errs {
			if !err.Unknown {
				return cli.Exitf(cli.ExitInput, "%s", term.Clean(err.Error(), 4096))
			}
		}
		if len(args) == 1 {
			value, err := config.Get(conf, args[0])
			if err != nil {
				return cli.Exitf(cli.ExitInput, "%v", err)
			}
			say(p.Stdout, "%s", value)
			return nil
		}
		for _, line := range config.TOML(conf) {
			say(p.Stdout, "%s", line)
		}
		return nil
	case verb == "set" && len(args) == 2:
		if err := config.SetFile(path, args[0], args[1], config.Backups(p.Getenv)); err != nil {
			return cli.Exitf(cli.ExitInput, "%s", term.Clean(err.Error(), 4096))
		}
		return nil
	}
	return cli.Usagef("config: want no argument, get [KEY], or set KEY VALUE")
}
