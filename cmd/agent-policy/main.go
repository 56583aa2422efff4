// Agent-policy compiles one policy for every coding agent.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/internal/atomicfile"
	"sallyport/internal/cli"
	"sallyport/internal/dirs"
	"sallyport/internal/policy"
	"sallyport/internal/term"
)

func main() { os.Exit(run(cli.OS())) }

// options are all flags of all commands.
type options struct {
	config, home, dir, from, agent, path, op, command, domain string
	json, quiet, noColor, strict                              bool
	force, write, dryRun, yolo, prune, noProbe, ignoreMissing bool
	list                                                      bool
	ci                                                        ciFlag
}

// ciFlag is a flag whose value may be left out.
type ciFlag string

func (c *ciFlag) String() string   { return string(*c) }
func (c *ciFlag) IsBoolFlag() bool { return true }

func (c *ciFlag) Set(s string) error {
	switch s {
	case "true":
		*c = "auto"
	case "github", "plain":
		*c = ciFlag(s)
	default:
		return errors.New("want github or plain")
	}
	return nil
}

// A command is one sub-command: the flags it knows besides the global ones, how
// many operands it takes, and what runs it.
type command struct {
	flags    []string
	operands int
	run      func(*session, []string) (int, error)
}

var globals = []string{"config", "home", "json", "quiet", "no-color", "strict", "version"}

func commands() map[string]command {
	return map[string]command{
		"init":     {[]string{"force", "dir", "from"}, 0, (*session).init},
		"generate": {[]string{"w", "write", "n", "dry-run", "yolo", "prune", "no-probe", "force"}, 1, (*session).generate},
		"diff":     {[]string{"yolo", "no-probe", "ignore-missing", "ci"}, 1, (*session).diff},
		"edit":     {nil, 1, (*session).edit},
		"explain":  {[]string{"agent", "path", "op", "command", "domain", "yolo", "no-probe"}, 0, (*session).explain},
		"import":   {[]string{"w", "write"}, 2, (*session).imports},
		"revert":   {[]string{"list", "yolo"}, 1, (*session).revert},
		"agents":   {nil, 0, (*session).agents},
	}
}

func (o *options) flags() *flag.FlagSet {
	fs := cli.NewFlags("agent-policy")
	for name, at := range map[string]*string{"config": &o.config, "home": &o.home, "dir": &o.dir, "from": &o.from, "agent": &o.agent, "path": &o.path, "op": &o.op, "command": &o.command, "domain": &o.domain} {
		fs.StringVar(at, name, "", "")
	}
	for name, at := range map[string]*bool{"json": &o.json, "quiet": &o.quiet, "no-color": &o.noColor, "strict": &o.strict, "force": &o.force, "write": &o.write, "w": &o.write,
		"dry-run": &o.dryRun, "n": &o.dryRun, "yolo": &o.yolo, "prune": &o.prune, "no-probe": &o.noProbe, "ignore-missing": &o.ignoreMissing, "list": &o.list} {
		fs.BoolVar(at, name, false, "")
	}
	fs.Var(&o.ci, "ci", "")
	return fs
}

// A session is one run of the program.
type session struct {
	p   *cli.Process
	o   options
	req policy.Request
	out *policy.Printer
	set map[string]bool
}

func run(p *cli.Process) int {
	s := &session{p: p, set: map[string]bool{}}
	code, err := s.main()
	var usageErr *cli.UsageError
	if errors.As(err, &usageErr) && slices.Contains(p.Args, "--json") {
		s.printer().Simple("error", nil, nil, []policy.Problem{{ID: "USAGE", Message: usageErr.Error()}})
		return cli.ExitUsage
	}
	if err != nil {
		return p.Finish("agent-policy", usage, err)
	}
	return code
}

func (s *session) main() (int, error) {
	fs := s.o.flags()
	operands, err := cli.Parse(fs, s.p.Args)
	if err != nil {
		return 0, err
	}
	fs.Visit(func(f *flag.Flag) { s.set[f.Name] = true })
	all := commands()
	if len(operands) == 0 {
		return 0, cli.Usagef("no command given")
	}
	name, rest := operands[0], operands[1:]
	c, ok := all[name]
	if !ok {
		return 0, cli.Usagef("unknown command %q", name)
	}
	for flagName := range s.set {
		if !slices.Contains(globals, flagName) && !slices.Contains(c.flags, flagName) {
			return 0, cli.Usagef("%s has no flag --%s", name, flagName)
		}
	}
	if len(rest) > c.operands {
		return 0, cli.Usagef("unexpected operand %q", rest[c.operands])
	}
	if err := s.request(); err != nil {
		return 0, err
	}
	s.out = s.printer()
	return c.run(s, rest)
}

func (s *session) printer() *policy.Printer {
	color := term.ColorAuto
	if s.o.noColor || s.o.ci != "" {
		color = term.ColorNever
	}
	ci := string(s.o.ci)
	if ci == "auto" {
		ci = "plain"
		if s.p.Getenv("GITHUB_ACTIONS") == "true" {
			ci = "github"
		}
	}
	return &policy.Printer{Out: s.p.Stdout, Err: s.p.Stderr, JSON: s.o.json || s.out == nil && slices.Contains(s.p.Args, "--json"), Quiet: s.o.quiet, Color: color.Enabled(s.p.Stdout, s.p.Getenv), CI: ci}
}

// request turns flags and environment into what the commands share.
func (s *session) request() error {
	home := s.o.home
	if home == "" {
		home = dirs.Home(s.p.Getenv)
	}
	if home == "" {
		return cli.Exitf(cli.ExitFindings, "no home directory is known; set HOME or give --home")
	}
	if !filepath.IsAbs(home) {
		home = filepath.Join(s.p.Dir(), home)
	}
	env := policy.Env{Home: filepath.Clean(home), Dir: s.p.Dir(), Getenv: s.p.Getenv}
	config, named := s.o.config, s.o.config != ""
	if s.set["config"] && config == "" {
		return cli.Usagef("--config needs a file")
	}
	if config == "" {
		config = s.p.Getenv("AGENT_POLICY_CONFIG")
		named = config != ""
	}
	if config == "" {
		config = filepath.Join(dirs.Config(func(name string) string {
			if name == "HOME" || name == "USERPROFILE" {
				return env.Home
			}
			return s.p.Getenv(name)
		}), "policy.toml")
	}
	if config == "~" || strings.HasPrefix(config, "~/") {
		config = filepath.Join(env.Home, config[1:])
	}
	if !filepath.IsAbs(config) {
		config = filepath.Join(s.p.Dir(), config)
	}
	s.req = policy.Request{
		Env: env, Config: config, Named: named, Yolo: s.o.yolo, Prune: s.o.prune, NoLook: s.o.noProbe, Force: s.o.force, Strict: s.o.strict,
		Write: s.o.write, DryRun: s.o.dryRun, IgnoreMissing: s.o.ignoreMissing,
	}
	return nil
}

// chooseAgent reads the operand that names one agent or all.
func (s *session) chooseAgent(operands []string) error {
	if len(operands) == 0 || operands[0] == "all" {
		return nil
	}
	return s.setAgent(operands[0], policy.Agents())
}

func (s *session) setAgent(name string, known []policy.Agent) error {
	if !slices.Contains(known, policy.Agent(name)) {
		var names []string
		for _, a := range known {
			names = append(names, string(a))
		}
		return cli.Usagef("unknown agent %q; there are %s", name, strings.Join(names, ", "))
	}
	s.req.Agent = policy.Agent(name)
	return nil
}

func (s *session) generate(operands []string) (int, error) {
	if err := s.chooseAgent(operands); err != nil {
		return 0, err
	}
	r := policy.Generate(&s.req)
	s.out.Generate(r)
	return r.Exit, nil
}

func (s *session) diff(operands []string) (int, error) {
	if err := s.chooseAgent(operands); err != nil {
		return 0, err
	}
	r := policy.Diff(&s.req)
	s.out.Diff(r)
	return r.Exit, nil
}

// fail ends a command with one problem.
func (s *session) fail(name, id string, err error) (int, error) {
	s.out.Simple(name, nil, nil, []policy.Problem{{ID: id, Message: err.Error()}})
	return cli.ExitFindings, nil
}

func (s *session) init(_ []string) (int, error) {
	if s.o.dir != "" {
		dir := s.o.dir
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.p.Dir(), dir)
		}
		s.req.Config = filepath.Join(dir, filepath.Base(s.req.Config))
	}
	var rules []byte
	if s.o.from != "" {
		agent, file, ok := strings.Cut(s.o.from, "=")
		if !ok || agent != "claude" || file == "" {
			return 0, cli.Usagef("--from %q; want claude=FILE", s.o.from)
		}
		cfg, err := policy.LoadConfig(&policy.Request{Env: s.req.Env, Config: s.req.Config})
		if err != nil {
			return s.fail("init", "CONFIG-INVALID", err)
		}
		im, err := s.importFile(cfg, policy.Claude, file)
		if err != nil {
			return s.fail("init", "IMPORT-FAILED", err)
		}
		_, rules = im.Files()
	}
	lines, err := policy.Init(&s.req, rules)
	if err != nil {
		s.out.Simple("init", map[string]any{"actions": lines}, lines, []policy.Problem{{ID: "WRITE-FAILED", Message: err.Error()}})
		return cli.ExitFindings, nil
	}
	s.out.Simple("init", map[string]any{"actions": lines}, lines, nil)
	return cli.ExitOK, nil
}

func (s *session) abs(file string) string {
	switch {
	case file == "~" || strings.HasPrefix(file, "~/"):
		return filepath.Join(s.req.Env.Home, file[1:])
	case filepath.IsAbs(file):
		return file
	}
	return filepath.Join(s.p.Dir(), file)
}

func (s *session) importFile(cfg *policy.Config, agent policy.Agent, file string) (*policy.Import, error) {
	data, err := policy.ReadFile(s.abs(file))
	if err != nil {
		return nil, err
	}
	return policy.ImportFile(s.req.Env, cfg, agent, file, data)
}

func (s *session) imports(operands []string) (int, error) {
	if len(operands) < 2 {
		return 0, cli.Usagef("import needs an agent and a file")
	}
	if err := s.setAgent(operands[0], []policy.Agent{policy.Claude, policy.Codex, policy.OpenCode}); err != nil {
		return 0, err
	}
	cfg, err := policy.LoadConfig(&s.req)
	if err != nil {
		return s.fail("import", "CONFIG-INVALID", err)
	}
	im, err := s.importFile(cfg, s.req.Agent, operands[1])
	if err != nil {
		return s.fail("import", "IMPORT-FAILED", err)
	}
	var written []string
	if s.o.write {
		written = []string{}
		srt, bash := im.Files()
		for _, f := range []struct {
			path string
			text []byte
		}{{cfg.SRT, srt}, {cfg.BashRules, bash}} {
			if _, err := os.Lstat(f.path); !errors.Is(err, fs.ErrNotExist) {
				written = append(written, "Exists, skipping: "+f.path)
				continue
			}
			if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
				return s.fail("import", "WRITE-FAILED", err)
			}
			if err := atomicfile.Write(f.path, f.text, 0o600); err != nil {
				return s.fail("import", "WRITE-FAILED", err)
			}
			written = append(written, "Created: "+f.path)
		}
	}
	s.out.Import(im, cfg, written)
	return cli.ExitOK, nil
}

func (s *session) explain(_ []string) (int, error) {
	if s.o.agent != "" && s.o.agent != "all" {
		if err := s.setAgent(s.o.agent, policy.Agents()); err != nil {
			return 0, err
		}
	}
	var q policy.Query
	given := 0
	for kind, value := range map[string]string{"path": s.o.path, "command": s.o.command, "domain": s.o.domain} {
		if s.set[kind] {
			given++
			q = policy.Query{Kind: kind, Value: value}
		}
	}
	if given != 1 || q.Value == "" {
		return 0, cli.Usagef("explain needs one of --path, --command and --domain")
	}
	switch {
	case q.Kind != "path" && s.set["op"]:
		return 0, cli.Usagef("--op goes with --path")
	case s.set["op"] && s.o.op != "read" && s.o.op != "write":
		return 0, cli.Usagef("--op %q; want read or write", s.o.op)
	case q.Kind == "path":
		if q.Op = s.o.op; q.Op == "" {
			q.Op = "read"
		}
	}
	e := policy.Explain(&s.req, q)
	s.out.Explain(e)
	if len(e.Problems) > 0 {
		return cli.ExitFindings, nil
	}
	return cli.ExitOK, nil
}

func (s *session) revert(operands []string) (int, error) {
	if err := s.chooseAgent(operands); err != nil {
		return 0, err
	}
	steps, problems := policy.Revert(&s.req, s.o.list)
	var lines []string
	for _, st := range steps {
		if st.Saved != "" {
			lines = append(lines, "Saved: "+st.Saved)
		}
		switch {
		case s.o.list && len(st.Backups) == 0 && st.Action == "none":
			lines = append(lines, fmt.Sprintf("%s: %s: no backup", st.Agent, st.Target))
		case s.o.list && st.Action == "removed":
			lines = append(lines, fmt.Sprintf("%s: %s: made from nothing, revert removes it", st.Agent, st.Target))
		case s.o.list:
			for _, b := range st.Backups {
				lines = append(lines, fmt.Sprintf("%s: %s", st.Agent, b))
			}
		case st.Action == "restored":
			lines = append(lines, fmt.Sprintf("Restored: %s from %s", st.Target, st.Backup))
		case st.Action == "removed":
			lines = append(lines, "Removed: "+st.Target)
		default:
			lines = append(lines, "Unchanged: "+st.Target)
		}
	}
	if steps == nil {
		steps = []policy.Reverted{}
	}
	s.out.Simple("revert", map[string]any{"files": steps}, lines, problems)
	if len(problems) > 0 {
		return cli.ExitFindings, nil
	}
	return cli.ExitOK, nil
}

func (s *session) agents(_ []string) (int, error) {
	list, err := policy.ListAgents(&s.req)
	if err != nil {
		return s.fail("agents", "CONFIG-INVALID", err)
	}
	var lines []string
	for _, a := range list {
		state := "off"
		if a.Enabled {
			state = "on"
		}
		target := a.Target
		if target == "" {
			target = "(" + a.Note + ")"
		}
		lines = append(lines, fmt.Sprintf("%-16s %-4s %s", a.Agent, state, target))
	}
	s.out.Simple("agents", map[string]any{"agents": list}, lines, nil)
	return cli.ExitOK, nil
}

func (s *session) edit(operands []string) (int, error) {
	sources, err := policy.Sources(&s.req)
	if len(operands) == 0 {
		if err != nil {
			return s.fail("edit", "CONFIG-INVALID", err)
		}
		var lines []string
		for _, src := range sources {
			lines = append(lines, fmt.Sprintf("%-7s %s", src.Name, src.Path))
		}
		s.out.Simple("edit", map[string]any{"sources": sources}, lines, nil)
		return cli.ExitOK, nil
	}
	i := slices.IndexFunc(sources, func(src policy.SourceFile) bool { return src.Name == operands[0] })
	if i < 0 {
		if err == nil {
			err = fmt.Errorf("unknown source %q; there are srt, bash and config", operands[0])
		}
		return s.fail("edit", "SOURCE-UNKNOWN", err)
	}
	file := sources[i].Path
	if _, err := os.Stat(file); err != nil {
		return s.fail("edit", "SOURCE-MISSING", fmt.Errorf("%w; run agent-policy init", err))
	}
	argv, err := policy.Editor(s.p.Getenv)
	if err != nil {
		return s.fail("edit", "EDITOR", err)
	}
	cmd := exec.Command(argv[0], append(argv[1:], file)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env, cmd.Dir = s.p.Stdin, s.p.Stdout, s.p.Stderr, s.p.Environ, s.p.Dir()
	if s.o.json {
		cmd.Stdout, cmd.Stderr = nil, nil
	}
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode(), nil
	case err != nil:
		return s.fail("edit", "EDITOR", fmt.Errorf("%s: %w; set VISUAL or EDITOR", argv[0], err))
	}
	problems := policy.Validate(&s.req)
	if s.o.json {
		s.out.Simple("edit", map[string]any{"path": file}, nil, problems)
		return cli.ExitOK, nil
	}
	for _, e := range problems {
		fmt.Fprintln(s.p.Stderr, term.Clean("warn: "+e.ID+": "+e.Message, 0))
	}
	fmt.Fprintln(s.p.Stderr, "info: run agent-policy diff to see what the targets lack")
	return cli.ExitOK, nil
}
