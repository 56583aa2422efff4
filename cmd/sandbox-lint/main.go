// Sandbox-lint checks the permission and sandbox configuration of coding
// agents: Claude Code, OpenCode, Kiro and Codex.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"sallyport/internal/cli"
	"sallyport/internal/dirs"
	"sallyport/internal/lint"
)

const name = "sandbox-lint"

const usage = `sandbox-lint - checks agent permission and sandbox configuration

Usage:
  sandbox-lint [--settings FILE] [--expected FILE | --no-baseline]
  sandbox-lint --merged [--user F] [--project F] [--local F] [--managed F]
               [--flag-settings F] [--dump]
  sandbox-lint rules FILE...
  sandbox-lint --opencode FILE | --kiro FILE... | --codex DIR
  sandbox-lint --any-harness [ROOT]
  sandbox-lint baseline write [--settings FILE] [--expected FILE]
  sandbox-lint explain ID
  sandbox-lint --help | --version

It reads configuration files and nothing else: it runs no agent, uses no network,
and writes only where you ask for it (--fix, --output, baseline write).

Modes:
  (default)      a Claude Code settings file, .claude/settings.json unless --settings
                 names another: hard invariants of the sandbox (SL), permission
                 rules (R), and parity with the baseline (BL). The baseline is
                 --expected, else .claude/sandbox-baseline.json or
                 tools/sandbox-lint/expected.json; it has to hold the invariants too
  --merged       what a session gets from all scopes together. Without named files
                 they are those the client reads for the working directory; --dump
                 prints every file considered
  rules          permission rules only; several files are scopes, strongest first
  --opencode     an OpenCode configuration, comments allowed
  --kiro         agent files of Kiro
  --codex        a directory with config.toml and rules/*.rules
  --any-harness  the launcher and the guard that every harness needs are there

  baseline write copies the settings to the baseline, unless they break an
                 invariant
  explain        what a rule looks for, why, and what to write instead

Options:
  --home DIR           home directory that paths are compared with (default $HOME)
  --platform P         linux, macos or wsl (default: this machine)
  --format F           human (default), json, sarif or github
  --output FILE        write the report there
  --strict             warnings end with exit code 1 as well
  --disable ID[,ID]    leave findings out; hard invariants stay
  --policy FILE        JSON with more to require and forbid: require_deny,
                       forbid_allow_read, forbid_allow_write, socket_gateway_dirs
                       (lists of strings), dangerous_commands ([["cmd", "label"]])
  --quiet              no summary and no OK line
  --fix [--yes]        mend what is mechanical and cannot loosen, in one Claude
                       settings file: shows a diff, asks, writes

Findings in human form go to stderr:

  sandbox-lint: .claude/settings.json: error SL104 sandbox.filesystem.denyRead:
    must contain "~/": … (line 7, column 5)

In the other formats they go to stdout. docs/lint-rules.md lists every rule.
Of more than 1,000 findings of one rule in a file the last one says how many are not
listed (JSON: more; SARIF: occurrenceCount); counts and exit codes include them.

In continuous integration:

  sandbox-lint --format github

Exit codes:
  0   no error (with --strict, no warning either)
  1   at least one, drift from the baseline included
  2   an input is missing, unreadable or not parseable
  64  usage error
`

func main() {
	// Input is bounded and the program short-lived: collecting garbage often
	// costs a quarter of its time on a file of many findings.
	debug.SetGCPercent(400)
	os.Exit(run(cli.OS()))
}

// options are the flags as they were given.
type options struct {
	settings, expected       optional
	noBaseline               bool
	opencode, kiro, codex    optional
	anyHarness, merged, dump bool
	user, project, local     optional
	managed, flagSettings    optional
	home                     optional
	platform, format, output string
	disable, policy          string
	strict, quiet, fix, yes  bool
}

// An optional string knows whether it was given.
type optional struct{ value *string }

func (o *optional) String() string {
	if o == nil || o.value == nil {
		return ""
	}
	return *o.value
}

func (o *optional) Set(s string) error {
	if s == "" {
		return fmt.Errorf("must not be empty")
	}
	o.value = &s
	return nil
}

// or is the value, or what stands in for one that was not given.
func (o optional) or(fallback string) string {
	if o.value == nil {
		return fallback
	}
	return *o.value
}

func run(p *cli.Process) int { return p.Finish(name, usage, start(p)) }

func start(p *cli.Process) error {
	var o options
	fs := cli.NewFlags(name)
	for flag, v := range map[string]*optional{
		"settings": &o.settings, "expected": &o.expected, "opencode": &o.opencode, "kiro": &o.kiro, "codex": &o.codex,
		"user": &o.user, "project": &o.project, "local": &o.local, "managed": &o.managed, "flag-settings": &o.flagSettings, "home": &o.home,
	} {
		fs.Var(v, flag, "")
	}
	for flag, v := range map[string]*bool{
		"no-baseline": &o.noBaseline, "any-harness": &o.anyHarness, "merged": &o.merged, "dump": &o.dump,
		"strict": &o.strict, "quiet": &o.quiet, "fix": &o.fix, "yes": &o.yes,
	} {
		fs.BoolVar(v, flag, false, "")
	}
	fs.StringVar(&o.platform, "platform", platform(), "")
	fs.StringVar(&o.format, "format", "human", "")
	fs.StringVar(&o.output, "output", "", "")
	fs.StringVar(&o.disable, "disable", "", "")
	fs.StringVar(&o.policy, "policy", "", "")
	operands, err := cli.Parse(fs, p.Args)
	if err != nil {
		return err
	}
	mode, operands, err := o.mode(operands)
	if err != nil {
		return err
	}
	if mode == "explain" {
		return explain(p.Stdout, operands[0])
	}
	ids, err := o.disabled(p.Stderr)
	if err != nil {
		return err
	}
	cfg, err := o.config(p)
	if err != nil {
		return err
	}
	if mode == "baseline" {
		return baseline(p, cfg, &o)
	}
	if mode == "claude" && o.fix {
		if err := fix(p, cfg, &o); err != nil {
			return err
		}
	}
	report := o.check(cfg, mode, operands)
	report.Disable(ids)
	if err := o.print(p, cfg, report); err != nil {
		return cli.Exitf(cli.ExitInput, "%v", err)
	}
	if code := report.Exit(o.strict); code != cli.ExitOK {
		return &cli.ExitError{Code: code}
	}
	return nil
}

func platform() string {
	if runtime.GOOS == "darwin" {
		return "macos"
	}
	return "linux"
}

// mode decides what is asked for and refuses what contradicts it.
func (o *options) mode(operands []string) (mode string, rest []string, err error) {
	mode = "claude"
	var named []string
	for flag, given := range map[string]bool{"opencode": o.opencode.value != nil, "kiro": o.kiro.value != nil,
		"codex": o.codex.value != nil, "any-harness": o.anyHarness, "merged": o.merged} {
		if given {
			named = append(named, flag)
		}
	}
	slices.Sort(named)
	if len(named) > 1 {
		return "", nil, cli.Usagef("--%s exclude each other", strings.Join(named, " and --"))
	}
	if len(named) == 1 {
		mode = named[0]
	} else if len(operands) > 0 {
		switch word := operands[0]; word {
		case "rules", "explain":
			mode, operands = word, operands[1:]
		case "baseline":
			if len(operands) < 2 || operands[1] != "write" {
				return "", nil, cli.Usagef("baseline knows one command: baseline write")
			}
			mode, operands = word, operands[2:]
		}
	}
	usesFiles := o.settings.value != nil || o.expected.value != nil
	scopes := o.user.value != nil || o.project.value != nil || o.local.value != nil || o.managed.value != nil || o.flagSettings.value != nil
	switch {
	case mode == "rules" && len(operands) == 0:
		err = cli.Usagef("rules needs at least one file")
	case mode == "explain" && len(operands) != 1:
		err = cli.Usagef("explain needs one id")
	case mode == "any-harness" && len(operands) > 1:
		err = cli.Usagef("--any-harness takes one directory")
	case !slices.Contains([]string{"rules", "explain", "kiro", "any-harness"}, mode) && len(operands) > 0:
		err = cli.Usagef("unexpected operand %q", operands[0])
	case usesFiles && mode != "claude" && mode != "baseline":
		err = cli.Usagef("--settings and --expected belong to the default mode")
	case o.noBaseline && mode != "claude":
		err = cli.Usagef("--no-baseline belongs to the default mode")
	case o.noBaseline && o.expected.value != nil:
		err = cli.Usagef("--expected and --no-baseline exclude each other")
	case (scopes || o.dump) && mode != "merged":
		err = cli.Usagef("--user, --project, --local, --managed, --flag-settings and --dump belong to --merged")
	case o.fix && mode != "claude":
		err = cli.Usagef("--fix works on one Claude settings file")
	case o.yes && !o.fix:
		err = cli.Usagef("--yes belongs to --fix")
	case !slices.Contains([]string{"linux", "macos", "wsl"}, o.platform):
		err = cli.Usagef("--platform %q: want linux, macos or wsl", o.platform)
	case !slices.Contains([]string{"human", "json", "sarif", "github"}, o.format):
		err = cli.Usagef("--format %q: want human, json, sarif or github", o.format)
	}
	return mode, operands, err
}

// disabled is the list of --disable. A hard invariant in it is named on stderr
// and stays on.
func (o *options) disabled(stderr io.Writer) (ids []string, err error) {
	for _, id := range strings.FieldsFunc(o.disable, func(r rune) bool { return r == ',' || r == ' ' }) {
		if _, ok := lint.Lookup(id); !ok {
			return nil, cli.Usagef("--disable: no rule %q", id)
		}
		if !lint.Disables(id) {
			fmt.Fprintf(stderr, "%s: %s cannot be disabled\n", name, id)
			continue
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (o *options) config(p *cli.Process) (lint.Config, error) {
	cfg := lint.Config{Dir: p.Dir(), Home: o.home.or(dirs.Home(p.Getenv)), Platform: o.platform, Getenv: p.Getenv}
	if o.policy == "" {
		return cfg, nil
	}
	policy, err := lint.ReadPolicy(resolve(p, o.policy))
	if err != nil {
		return cfg, cli.Exitf(cli.ExitInput, "%v", err)
	}
	cfg.Policy = policy
	return cfg, nil
}

const defaultSettings = ".claude/settings.json"

func (o *options) check(cfg lint.Config, mode string, operands []string) *lint.Report {
	switch mode {
	case "rules":
		return lint.RulesOnly(cfg, operands)
	case "opencode":
		return lint.OpenCode(cfg, *o.opencode.value)
	case "kiro":
		return lint.Kiro(cfg, append([]string{*o.kiro.value}, operands...))
	case "codex":
		return lint.Codex(cfg, *o.codex.value)
	case "any-harness":
		root := ""
		if len(operands) > 0 {
			root = operands[0]
		}
		return lint.AnyHarness(cfg, root)
	case "merged":
		return lint.Merged(cfg, lint.Scopes{Managed: o.managed.value, Flag: o.flagSettings.value, Local: o.local.value,
			Project: o.project.value, User: o.user.value}, o.dump)
	}
	return lint.Claude(cfg, o.settings.or(defaultSettings), o.expected.or(""), !o.noBaseline)
}

// print writes the report. Findings for people go to stderr and the line that
// all is well to stdout; any other format is the only thing on stdout.
func (o *options) print(p *cli.Process, cfg lint.Config, report *lint.Report) error {
	out, human := p.Stdout, p.Stderr
	var file bytes.Buffer
	if o.output != "" {
		out, human = &file, &file
	}
	var err error
	switch o.format {
	case "json":
		err = report.JSON(out, o.strict)
	case "sarif":
		err = report.SARIF(out)
	case "github":
		report.GitHub(out)
	default:
		if o.dump {
			for _, line := range report.Considered {
				fmt.Fprintln(out, clean(line))
			}
			if report.Effective != nil {
				fmt.Fprintln(out, clean(string(report.Effective)))
			}
		}
		report.Human(human, o.quiet)
		if !o.quiet {
			report.OK(out)
		}
	}
	if err == nil && o.output != "" {
		err = writeFile(resolve(p, o.output), file.Bytes())
	}
	return err
}

func explain(w io.Writer, id string) error {
	rule, ok := lint.Lookup(strings.ToUpper(id))
	if !ok {
		return cli.Usagef("no rule %q; the rules are %s", id, strings.Join(lint.IDs(), " "))
	}
	_, err := io.WriteString(w, rule.Explain())
	return err
}
