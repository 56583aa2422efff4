package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"sallyport/internal/childproc"
	"sallyport/internal/cli"
	"sallyport/internal/dirs"
	"sallyport/internal/gitdir"
	"sallyport/internal/pins"
	"sallyport/internal/setup"
	"sallyport/internal/term"
	"sallyport/internal/tomltext"
)

const toolsUsage = `agent-setup tools compares the programs that the suite needs with the versions
it was tried with.

Usage:
  agent-setup tools list               each tool, what is wanted and installed
  agent-setup tools check              the same, and an exit code
  agent-setup tools upstream [NAME…]   newer releases that are old enough
  agent-setup tools install [NAME…]    the commands that install them, for you
  agent-setup tools bump NAME VERSION --released DATE
                                       set a pin in a manifest, for maintainers

A tool has a pin (version, exactly this one) or a floor (min_version, this one
or newer). Versions compare as versions: 0.13.0 is newer than 0.9.0-1ubuntu0.3.
A release is proposed only when it is greater than the pin and has been out for
its cooldown (default 7 days). Nothing is ever installed or edited by this.

What counts is put together field by field, the last one wins:
  the manifest in this program
  .sallyport/pinned-versions.toml of the repository (versions only)
  ~/.config/sallyport/pinned-versions.local.toml
  .sallyport-local/pinned-versions.local.toml of the repository (versions only)

  # A distribution's older bubblewrap is fine here:
  [tools.bubblewrap]
  version = "0.9.0"

Any of them may lower a pin; a floor only one of yours, with accept_risk =
"reason". What is run or fetched is named by the first and third only.

  --offline        ask nobody (SALLYPORT_OFFLINE=1 too); upstream is then "?"
  --file FILE      the manifest to bump (default: .sallyport/pinned-versions.toml)
  --released DATE  when the version was released, YYYY-MM-DD
  --project DIR    the repository

Also: --home DIR, --yes, --dry-run, --json, --quiet, --no-color. Reads
$HTTPS_PROXY and its kin. Answers of upstreams are kept in
~/.cache/sallyport/tools.

Exit codes: 0 as wanted; 1 another version than the pin, or a pin is not
installed; 2 a manifest cannot be used, the message says file and line; 4 below
a floor; 64 usage. An upstream that does not answer is never a failure.
`

func runTools(p *cli.Process, args []string) error {
	var o setup.Options
	fs := cli.NewFlags("tools")
	noColor := globals(fs, &o)
	project := fs.String("project", "", "")
	offline := fs.Bool("offline", false, "")
	file := fs.String("file", "", "")
	released := fs.String("released", "", "")
	operands, err := cli.Parse(fs, args)
	if err != nil {
		return suggest(fs, err)
	}
	fill(&o, p, *noColor)
	if p, err = elsewhere(p, o.Home, *project); err != nil {
		return err
	}
	o.Environ, o.Dir = p.Environ, p.Dir()
	what := "list"
	if len(operands) > 0 {
		what, operands = operands[0], operands[1:]
	}
	if what == "bump" {
		return bump(p, o, operands, *file, *released)
	}
	valid := []string{"list", "check", "upstream", "install", "bump"}
	if !slices.Contains(valid, what) {
		return cli.Usagef("unknown command %q; did you mean %q?", what, setup.Nearest(what, valid))
	}
	tools, err := loadTools(p)
	if err != nil {
		return err
	}
	if tools, err = onlyTools(tools, operands); err != nil {
		return err
	}
	states := pins.Check(context.Background(), tools, runtime.GOOS, p.Environ, p.Getenv)
	c := toolsReport{p: p, o: o, states: states, offline: *offline || p.Getenv("SALLYPORT_OFFLINE") == "1"}
	switch what {
	case "list":
		c.table()
		return c.document(nil)
	case "install":
		c.install()
		return c.document(nil)
	case "upstream":
		c.upstream()
	default:
		c.table()
	}
	return c.document(verdict(states))
}

// loadTools reads the manifests that count in a directory.
func loadTools(p *cli.Process) ([]pins.Tool, error) {
	_, tools, err := loadManifests(p)
	return tools, err
}

func loadManifests(p *cli.Process) ([]pins.Layer, []pins.Tool, error) {
	root := p.Dir()
	repo, inRepo := gitdir.Find(p.Dir(), p.Getenv)
	if inRepo && repo.Root != "" {
		root = repo.Root
	}
	tracked := func(file string) bool {
		git, ok := childproc.LookPath("git", p.Getenv)
		if !inRepo || !ok {
			return inRepo // without git nobody can tell
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		prog := childproc.Program{Path: git, Args: []string{"--literal-pathspecs", "-c", "core.fsmonitor=false", "-C", root, "ls-files", "-z", "--", file}, Env: p.Environ}
		out, err := prog.Output(ctx, 4096)
		return err != nil || len(out) > 0
	}
	layers, err := pins.Layers(root, dirs.Config(p.Getenv), tracked)
	if err != nil {
		return nil, nil, unusable(err)
	}
	tools, err := pins.Merge(layers)
	return layers, tools, unusable(err)
}

// unusable gives an error of a manifest its exit code.
func unusable(err error) error {
	var at *tomltext.Error
	if errors.As(err, &at) {
		return &cli.ExitError{Code: cli.ExitInput, Err: err}
	}
	return err
}

func onlyTools(tools []pins.Tool, names []string) ([]pins.Tool, error) {
	if len(names) == 0 {
		return tools, nil
	}
	var known []string
	for _, t := range tools {
		known = append(known, t.Name)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, cli.Usagef("unknown tool %q; did you mean %q?", n, setup.Nearest(n, known))
		}
	}
	return slices.DeleteFunc(tools, func(t pins.Tool) bool { return !slices.Contains(names, t.Name) }), nil
}

// verdict is the exit of a check.
func verdict(states []pins.State) error {
	code := 0
	for _, s := range states {
		switch s.Status {
		case pins.Below:
			code = cli.ExitHardStop
		case pins.Mismatch:
			code = max(code, cli.ExitFindings)
		}
	}
	if code == 0 {
		return nil
	}
	return &cli.ExitError{Code: code}
}

type toolsReport struct {
	p       *cli.Process
	o       setup.Options
	states  []pins.State
	offline bool
	indent  string
	newer   map[string]string // by tool: a version, "" for none, "?" for unknown
	pages   map[string]string
}

// say prints one line, or several, with the report's indentation.
func (c *toolsReport) say(format string, args ...any) {
	out := c.p.Stdout
	if c.o.JSON {
		out = c.p.Stderr
	}
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		fmt.Fprint(out, c.indent+line)
	}
}

var toolMarks = map[pins.Status][2]string{
	pins.OK: {"✓", "32"}, pins.Mismatch: {"✗", "1;31"}, pins.Below: {"✗", "1;31"}, pins.Unknown: {"⚠", "33"}, pins.Skipped: {"–", "2"},
}

func (c *toolsReport) table() {
	for _, s := range c.states {
		if c.o.Quiet && (s.Status == pins.OK || s.Status == pins.Skipped) {
			continue
		}
		mark := toolMarks[s.Status]
		installed := s.Installed
		if installed == "" {
			installed = "?"
		}
		if s.Missing {
			installed = "missing"
		}
		note := s.Note
		if note != "" {
			note = "  " + note
		}
		c.say("%s %-12s wanted %-10s installed %-12s (%s)%s\n", term.Style(c.o.Color, mark[1], mark[0]), s.Tool.Name,
			s.Tool.Wanted(), installed, c.short(s.Tool.Source()), term.Clean(note, 200))
	}
}

func (c *toolsReport) short(file string) string {
	home := dirs.Home(c.p.Getenv)
	if rest, ok := strings.CutPrefix(file, home+string(filepath.Separator)); ok && home != "" {
		file = "~/" + rest
	}
	return term.Clean(file, 0)
}

func (c *toolsReport) upstream() {
	c.newer, c.pages = map[string]string{}, map[string]string{}
	client := pins.Client{Cache: dirs.Cache(c.p.Getenv)}
	for _, s := range c.states {
		t := s.Tool
		name := fmt.Sprintf("%-12s %-10s", t.Name, t.Wanted())
		switch {
		case t.Version == "":
			c.say("%s a floor, nothing to compare\n", name)
			continue
		case t.Upstream == "":
			c.newer[t.Name] = "?"
			c.say("%s ?  no list of releases is known; see %s\n", name, term.Clean(t.Docs, 200))
			continue
		case c.offline:
			c.newer[t.Name] = "?"
			c.say("%s ?  offline\n", name)
			continue
		}
		releases, err := client.Releases(context.Background(), t.Upstream)
		if err != nil {
			c.newer[t.Name] = "?"
			c.say("%s ?  %s\n", name, term.Clean(err.Error(), 200))
			continue
		}
		best, ok := t.Candidate(releases, clock(c.p))
		if !ok {
			c.newer[t.Name] = ""
			c.say("%s nothing newer past its cooldown of %d days\n", name, t.Cooldown)
			continue
		}
		c.newer[t.Name], c.pages[t.Name] = best.Version, best.Page
		c.say("%s upgrade candidate %s (aged past %d-day cooldown)  %s\n", name, term.Clean(best.Version, 64), t.Cooldown, term.Clean(webAddress(best.Page), 300))
	}
}

// webAddress shows an address only if it is one that a browser opens.
func webAddress(s string) string {
	if u, err := url.Parse(s); err == nil && u.Scheme == "https" {
		return s
	}
	return ""
}

// install prints commands; a person runs them.
func (c *toolsReport) install() {
	manager := ""
	for _, m := range []struct{ program, key string }{{"apt-get", "apt"}, {"dnf", "dnf"}, {"pacman", "pacman"}, {"zypper", "zypper"}, {"apk", "apk"}, {"brew", "brew"}} {
		if _, ok := childproc.LookPath(m.program, c.p.Getenv); ok && manager == "" {
			manager = m.key
		}
	}
	ships := shipped(readOSRelease())
	for _, s := range c.states {
		t := s.Tool
		if s.Status == pins.OK || s.Status == pins.Skipped {
			c.say("%s: nothing to do (%s)\n", t.Name, s.Status)
			continue
		}
		cmd, root := t.Install[manager], true
		if cmd == "" {
			cmd, root = t.Install["npm"], false
		}
		c.say("%s %s:\n", t.Name, t.Wanted())
		switch {
		case cmd == "" && t.Install["from_source"] == "":
			c.say("  see %s\n", term.Clean(t.Docs, 200))
		case cmd == "":
			c.say("  build it from %s\n", term.Clean(t.Install["from_source"], 200))
		case root:
			c.say("  sudo %s\n", term.Clean(cmd, 300))
		default:
			c.say("  %s\n", term.Clean(cmd, 300))
		}
		if has := ships[t.Name]; has != "" && cmd != "" && root && t.Version != "" && !pins.Matches(t.Version, has) {
			c.say("  ⚠ this distribution has %s, so that fails. To be content with it:\n    [tools.%s]\n    version = %q\n  in ~/.config/sallyport/pinned-versions.local.toml\n", has, t.Name, has)
		}
	}
}

func readOSRelease() map[string]string {
	values := map[string]string{}
	f, err := os.Open("/etc/os-release")
	if err != nil {
		return values
	}
	defer f.Close()
	for lines := bufio.NewScanner(io.LimitReader(f, 64<<10)); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), "="); ok {
			values[name] = strings.Trim(value, `"'`)
		}
	}
	return values
}

// shipped is what distributions are known to have.
func shipped(release map[string]string) map[string]string {
	switch id, version := release["ID"], release["VERSION_ID"]; {
	case id == "ubuntu" && version == "24.04", id == "linuxmint" && strings.HasPrefix(version, "22"):
		return map[string]string{"bubblewrap": "0.9.0-1ubuntu0.3", "socat": "1.8.0.0-4build3"}
	case id == "debian" && version == "12":
		return map[string]string{"bubblewrap": "0.8.0", "socat": "1.7.4.4"}
	}
	return nil
}

func (c *toolsReport) document(err error) error {
	if !c.o.JSON {
		return err
	}
	type row struct {
		Tool      string  `json:"tool"`
		Pin       string  `json:"pin,omitempty"`
		Floor     string  `json:"floor,omitempty"`
		Installed *string `json:"installed"` // null if missing or not known
		Missing   bool    `json:"missing"`
		Status    string  `json:"status"`
		Note      string  `json:"note,omitempty"`
		Source    string  `json:"source"`
		Upstream  string  `json:"upstream,omitempty"`
		Page      string  `json:"page,omitempty"`
	}
	rows := []row{}
	for _, s := range c.states {
		r := row{Tool: s.Tool.Name, Pin: s.Tool.Version, Floor: s.Tool.MinVersion, Missing: s.Missing, Status: string(s.Status), Note: s.Note,
			Source: s.Tool.Source(), Upstream: c.newer[s.Tool.Name], Page: webAddress(c.pages[s.Tool.Name])}
		if s.Installed != "" {
			r.Installed = &s.Installed
		}
		rows = append(rows, r)
	}
	enc := json.NewEncoder(c.p.Stdout)
	enc.SetEscapeHTML(false)
	return errors.Join(enc.Encode(map[string]any{"tools": rows}), err)
}

func bump(p *cli.Process, o setup.Options, operands []string, file, released string) error {
	if len(operands) != 2 {
		return cli.Usagef("bump takes a tool and a version")
	}
	if released == "" {
		return cli.Usagef("bump needs --released DATE, the day the version came out")
	}
	day, err := time.Parse(time.DateOnly, released)
	if err != nil {
		return cli.Usagef("--released %q is not a date (YYYY-MM-DD)", released)
	}
	root := p.Dir()
	if repo, ok := gitdir.Find(p.Dir(), p.Getenv); ok && repo.Root != "" {
		root = repo.Root
	}
	if file == "" {
		file = filepath.Join(root, ".sallyport", "pinned-versions.toml")
	} else {
		file = abs(p.Dir(), file)
		root = filepath.Dir(file)
	}
	data, err := tomltext.Read(file)
	if err != nil {
		return cli.Exitf(cli.ExitInput, "%v", err)
	}
	after, err := pins.Bump(pins.Layer{File: file, Data: data}, operands[0], operands[1], day, clock(p))
	if err != nil {
		var at *tomltext.Error
		if errors.As(err, &at) {
			return unusable(err)
		}
		return cli.Exitf(cli.ExitFindings, "%v; nothing was changed", err)
	}
	if o.JSON {
		o.Stdout = o.Stderr
	}
	result, err := setup.ReplaceFile(o, file, root, data, after)
	if o.JSON {
		enc := json.NewEncoder(p.Stdout)
		enc.SetEscapeHTML(false)
		err = errors.Join(enc.Encode(result), err)
	}
	return err
}
