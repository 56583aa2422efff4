package iso

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sallyport/internal/cli"
	"sallyport/internal/iso/mode"
)

// A SandboxRequest is what a person asks of the sandbox of a CLI.
type SandboxRequest struct {
	Mode            mode.Mode
	Fallback        mode.Fallback // empty without a request
	Floor           mode.Mode     // of the command line
	AllowUnverified bool
	// Probe lets the CLI be asked for its version and its resolved rules, when
	// a mode is applied or there is to be a report.
	Probe, Report bool
}

// refuse is a start that must not happen. id is stable.
func refuse(id, format string, args ...any) error {
	return cli.Exitf(cli.ExitRefused, "%s: %w", id, fmt.Errorf(format, args...))
}

// usage is a mistake in a mode, wherever it stands.
func usageError(format string, args ...any) error {
	return cli.Exitf(cli.ExitUsage, "E-USAGE: %w", fmt.Errorf(format, args...))
}

// FloorVariable holds a floor for every start.
const FloorVariable = "AGENT_ISO_SANDBOX_FLOOR"

// floor is the strictest of the floors that hold, and where it stands.
func floor(req SandboxRequest, config Config, environ []string) (m mode.Mode, source string, err error) {
	raise := func(to mode.Mode, from string) {
		if to != mode.None && (m == mode.None || to.Rank() > m.Rank()) {
			m, source = to, from
		}
	}
	raise(req.Floor, "--sandbox-floor")
	if text := lookup(environ, FloorVariable); text != "" {
		v, err := mode.Parse(text)
		if err != nil {
			return mode.None, "", usageError("%s: %w", FloorVariable, err)
		}
		raise(v, FloorVariable)
	}
	raise(config.Floor, config.Path)
	return m, source, nil
}

// resolve turns the request into the mode to apply.
func (p *Plan) resolve(req SandboxRequest, config Config, environ []string) error {
	floorMode, source, err := floor(req, config, environ)
	if err != nil {
		return err
	}
	verified, unverified := p.entry.modes()
	supported := verified
	if req.AllowUnverified {
		supported |= unverified
	}
	p.report.Requested, p.report.Floor = req.Mode, floorMode
	if req.Mode != mode.None {
		p.report.Fallback = req.Fallback
		if p.report.Fallback == "" {
			p.report.Fallback = mode.Fail
		}
	}
	res, err := mode.Resolve(mode.Request{CLI: p.CLI, Requested: req.Mode, Fallback: p.report.Fallback, Floor: floorMode, Supported: supported})
	var unsupported *mode.UnsupportedError
	var below *mode.FloorError
	switch {
	case errors.As(err, &unsupported):
		if unverified.Has(req.Mode) {
			err = fmt.Errorf("%w; it exists unverified: --allow-unverified uses it", err)
		}
		return refuse("E-UNSUPPORTED", "%w", err)
	case errors.As(err, &below):
		hint := ""
		if unverified != 0 && !req.AllowUnverified {
			hint = "; unverified are " + unverified.String() + " (--allow-unverified)"
		}
		return refuse("E-FLOOR", "%w (the floor stands in %s)%s", err, source, hint)
	}
	p.mode = res.Mode
	p.report.Loosened = res.Loosened
	if res.Notice != "" {
		p.report.Notice = res.Notice
		p.notice("%s", res.Notice)
	}
	return nil
}

// held is what a mode makes of a start.
type held struct {
	mode    mode.Mode // may have become stricter through the person's own choice
	inject  [][]string
	set     map[string]string
	unset   []string
	caveats []string
}

// hold works out how the CLI is put into the mode, given the person's own
// arguments. It refuses what would loosen it.
func (p *Plan) hold(w *cli.Process, args []string) (held, error) {
	h := held{mode: p.mode, set: map[string]string{}}
	entry := p.entry.Modes[p.mode.String()]
	has := p.has
	if p.CLI == "claude" {
		// An administrator can put the tools elsewhere.
		has = func(name string) bool {
			return p.has(name) || p.claudeStack(w, nil).String("sandbox."+name+"Path").Value != ""
		}
	}
	for _, missing := range p.entry.missing(p.mode, has) {
		return h, refuse("E-PREREQ", "%s for %s needs %s: %s", p.mode, p.CLI, missing.Need, missing.get)
	}
	if err := p.conflicts(args); err != nil {
		return h, err
	}
	h.caveats = append(h.caveats, entry.Caveats...)
	h.caveats = append(h.caveats, entry.PlatformCaveat[runtime.GOOS]...)

	options := p.entry.grammar().options(args)
	add := func(in injection) {
		for _, o := range options {
			if stricter, ok := in.Yields[o.name]; ok {
				if m, ok := stricter[o.value]; ok && m.Rank() > h.mode.Rank() {
					h.mode = m
				}
				return
			}
		}
		h.inject = append(h.inject, in.Args)
	}
	for _, in := range entry.Inject {
		add(in)
	}
	if entry.Headless != nil && slices.ContainsFunc(options, func(o option) bool { return slices.Contains(entry.Headless.When, o.name) }) {
		add(*entry.Headless)
	}
	for name, value := range entry.Set {
		if m, ok := entry.Keep[name][lookup(w.Environ, name)]; ok {
			value = lookup(w.Environ, name)
			h.mode = m
		}
		h.set[name] = value
	}
	for _, name := range entry.Unset {
		if _, ok := lookupSet(w.Environ, name); ok {
			h.unset = append(h.unset, name)
		}
	}
	switch p.CLI {
	case "codex":
		return p.holdCodex(w, args, h)
	case "opencode":
		return p.holdOpenCode(w, args, h)
	}
	return h, nil
}

// has reports whether a program is on the PATH of the child.
func (p *Plan) has(name string) bool {
	_, err := p.search.Find(name)
	return err == nil
}

// conflicts refuses arguments that would loosen the mode.
func (p *Plan) conflicts(args []string) error {
	for _, rule := range p.entry.Conflicts {
		if len(rule.Modes) > 0 && !slices.Contains(rule.Modes, p.mode) {
			continue
		}
		if found, ok := p.entry.match(rule, args); ok {
			return refuse("E-CONFLICT", "%s contradicts --sandbox %s for %s; leave one of them out", found, p.mode, p.CLI)
		}
	}
	return nil
}

// match looks for an option that a rule picks, and returns it as it was given.
//
// Beside the options that the CLI's grammar finds, every long option counts
// wherever it stands before "--": if the grammar is wrong about another
// option's value, the mistake is a refusal.
func (c *agentCLI) match(rule argumentRule, args []string) (string, bool) {
	options := c.grammar().options(args)
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if strings.HasPrefix(arg, "--") {
			o := option{name: arg, at: i, end: i + 1}
			if name, value, ok := strings.Cut(arg, "="); ok {
				o.name, o.value, o.hasValue = name, value, true
			} else if i+1 < len(args) && args[i+1] != "--" {
				o.value, o.hasValue = args[i+1], true
			}
			options = append(options, o)
		}
	}
	for _, o := range options {
		if !slices.ContainsFunc(rule.Options, func(name string) bool { return sameOption(name, o.name) }) {
			continue
		}
		shown := o.name
		// The grammar may not know that the option takes a value.
		if !o.hasValue && o.end < len(args) && args[o.end] != "--" {
			o.value = args[o.end]
		}
		switch {
		case rule.Values != nil:
			if slices.ContainsFunc(rule.Values, func(v string) bool { return strings.EqualFold(v, o.value) }) {
				return shown + " " + o.value, true
			}
		case rule.Only != nil:
			if !slices.Contains(rule.Only, o.value) {
				return strings.TrimSpace(shown + " " + o.value), true
			}
		case rule.Tools != nil:
			for _, item := range o.list() {
				tool, _, _ := strings.Cut(item, "(")
				if slices.ContainsFunc(rule.Tools, func(pattern string) bool { return overlaps(pattern, tool) }) {
					return shown + " " + item, true
				}
			}
		case rule.Subset != nil:
			for _, item := range o.list() {
				if !slices.Contains(rule.Subset, item) {
					return shown + " " + item, true
				}
			}
		case strings.HasSuffix(args[o.at], "=false"):
		default:
			return shown, true
		}
	}
	return "", false
}

// sameOption compares options as the most forgiving of the CLIs' parsers do,
// which take --approvalMode for --approval-mode.
func sameOption(a, b string) bool {
	if a == b {
		return true
	}
	if !strings.HasPrefix(a, "--") || !strings.HasPrefix(b, "--") {
		return false
	}
	return strings.EqualFold(strings.ReplaceAll(a, "-", ""), strings.ReplaceAll(b, "-", ""))
}

// overlaps reports whether one of two tool patterns matches the other.
func overlaps(a, b string) bool {
	ok1, _ := path.Match(a, b)
	ok2, _ := path.Match(b, a)
	return ok1 || ok2
}

// place puts the injected words where the CLI expects them: behind its name, or
// behind the sub-command where that takes them. What is there already is not
// put in again.
func place(entry *agentCLI, args []string, inject [][]string) []string {
	at := 0
	if len(args) > 0 && slices.Contains(entry.Subcommands, args[0]) {
		at = 1
	}
	end := len(args)
	if i := slices.Index(args, "--"); i >= 0 {
		end = i
	}
	out := slices.Clone(args[:at])
	for _, words := range inject {
		if !hasRun(args[at:max(end, at)], words) {
			out = append(out, words...)
		}
	}
	return append(out, args[at:]...)
}

// hasRun reports whether words stand in args one after the other.
func hasRun(args, words []string) bool {
	for i := 0; i+len(words) <= len(args); i++ {
		if slices.Equal(args[i:i+len(words)], words) {
			return true
		}
	}
	return false
}

// applyVariables changes a CLI's environment as the mode wants it.
func (h held) applyVariables(env []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, ok := cutEntry(entry)
		_, set := h.set[name]
		return ok && (set || slices.Contains(h.unset, name))
	})
	for _, name := range slices.Sorted(maps.Keys(h.set)) {
		out = append(out, name+"="+h.set[name])
	}
	return out
}

// state is what holds without a mode of ours: the CLI's default, as far as the
// person's own arguments and variables do not change it.
func (p *Plan) state(w *cli.Process, args []string) pair {
	now := p.entry.Default
	env := p.Environment.Vars
	if p.CLI == "codex" && codexFull(w, args, env) {
		now.Native = mode.Full.String()
	}
	apply := func(other pair) {
		if other.Native != "" {
			now.Native = other.Native
		}
		if other.Approvals != "" {
			now.Approvals = other.Approvals
		}
	}
	for _, rule := range p.entry.Variables {
		if strings.EqualFold(lookup(env, rule.Name), rule.Value) {
			apply(rule.pair)
		}
	}
	for _, rule := range p.entry.Arguments {
		if _, ok := p.entry.match(rule, args); ok {
			apply(rule.pair)
		}
	}
	return now
}

// mergeSettings puts a mode's settings over a settings object. ours wins.
func mergeSettings(raw string, ours gjson.Result, at ...string) (string, error) {
	var err error
	ours.ForEach(func(k, v gjson.Result) bool {
		keys := append(slices.Clone(at), k.String())
		if v.IsObject() {
			raw, err = mergeSettings(raw, v, keys...)
		} else {
			raw, err = setIn(raw, keys, func(gjson.Result) (string, error) { return v.Raw, nil })
		}
		return err == nil
	})
	return raw, err
}
