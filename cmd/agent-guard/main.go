// Agent-guard stops commands of a coding agent that break a rule, whatever
// shell form they take.
//
// As a hook it fails open: input that it cannot read gets no answer, unless
// on_error in its configuration says otherwise. As a command it says what is
// wrong and ends with the exit codes of the usage text.
package main

import (
	"flag"
	"os"
	"strings"

	"sallyport/hookio"
	"sallyport/internal/agentguard"
	"sallyport/internal/cli"
	"sallyport/internal/selftest"
)

func main() { os.Exit(run(cli.OS())) }

func run(p *cli.Process) int {
	fs := cli.NewFlags("agent-guard")
	var o flags
	o.define(fs)
	words, err := cli.ParsePrefix(fs, p.Args)
	if err != nil {
		return p.Finish("agent-guard", usage, err)
	}
	command := ""
	if !o.check && !o.exec && len(words) > 0 {
		command = words[0]
		words, err = cli.Parse(fs, words[1:])
		if err != nil {
			return p.Finish("agent-guard", usage, err)
		}
	}
	opt, err := o.options()
	if err != nil {
		return p.Finish("agent-guard", usage, err)
	}
	switch {
	case o.check && o.exec:
		err = cli.Usagef("--check and --exec exclude each other")
	case o.check:
		err = agentguard.Check(p, opt, words)
	case o.exec:
		err = agentguard.Exec(p, opt, words)
	case command == "":
		return p.Guarded(func() int { return agentguard.Hook(p, opt) })
	default:
		err = subcommand(p, opt, &o, command, words)
	}
	return p.Finish("agent-guard", usage, err)
}

// flags are the flags of all modes: they may stand anywhere on the line.
type flags struct {
	harness, guards string
	opencode, kiro  bool
	check, exec     bool
	unattended      bool
	json            bool
	examples        int
	trust           agentguard.TrustOptions
	toml, star, py  bool
	dir             string
}

func (o *flags) define(fs *flag.FlagSet) {
	fs.StringVar(&o.harness, "harness", "claude", "")
	fs.StringVar(&o.guards, "guards", "", "")
	fs.BoolVar(&o.opencode, "opencode", false, "")
	fs.BoolVar(&o.kiro, "kiro", false, "")
	fs.BoolVar(&o.check, "check", false, "")
	fs.BoolVar(&o.exec, "exec", false, "")
	fs.BoolVar(&o.unattended, "unattended", false, "")
	fs.BoolVar(&o.json, "json", false, "")
	fs.IntVar(&o.examples, "examples", 3, "")
	fs.BoolVar(&o.trust.Show, "show", false, "")
	fs.BoolVar(&o.trust.Revoke, "revoke", false, "")
	fs.BoolVar(&o.trust.Yes, "yes", false, "")
	fs.BoolVar(&o.toml, "toml", false, "")
	fs.BoolVar(&o.star, "star", false, "")
	fs.BoolVar(&o.py, "py", false, "")
	fs.StringVar(&o.dir, "dir", "", "")
}

func (o *flags) options() (*agentguard.Options, error) {
	name := o.harness
	switch {
	case o.opencode && o.kiro:
		return nil, cli.Usagef("--opencode and --kiro exclude each other")
	case o.opencode:
		name = "opencode"
	case o.kiro:
		name = "kiro"
	}
	h, ok := hookio.Lookup(name)
	if !ok {
		return nil, cli.Usagef("no harness is named %q", name)
	}
	opt := &agentguard.Options{Harness: h, Unattended: o.unattended}
	if o.guards != "" {
		opt.Guards = strings.FieldsFunc(o.guards, func(r rune) bool { return r == ',' || r == ' ' })
	}
	return opt, nil
}

func subcommand(p *cli.Process, opt *agentguard.Options, o *flags, name string, words []string) error {
	switch name {
	case "explain":
		return agentguard.Explain(p, opt, words, o.json)
	case "list":
		return agentguard.List(p, opt, words, o.json)
	case "test":
		return agentguard.Test(p, opt, words)
	case "trust":
		return agentguard.Trust(p, o.trust, words)
	case "new":
		kind, err := o.kind()
		if err != nil {
			return err
		}
		return agentguard.New(p, words, kind, o.dir)
	case "log":
		return agentguard.Log(p, words, o.json)
	case "selftest":
		if len(words) > 0 {
			return cli.Usagef("selftest takes no operand")
		}
		return selftest.Run(p, opt.Harness)
	case "replay":
		return agentguard.Replay(p, opt, words, o.examples, o.json)
	}
	return cli.Usagef("unknown command %q", name)
}

// kind is the form of the guard that new writes.
func (o *flags) kind() (string, error) {
	kind := "toml"
	n := 0
	for name, set := range map[string]bool{"toml": o.toml, "star": o.star, "py": o.py} {
		if set {
			kind = name
			n++
		}
	}
	if n > 1 {
		return "", cli.Usagef("--toml, --star and --py exclude each other")
	}
	return kind, nil
}
