package policy

import (
	"errors"
	"slices"
	"strings"
)

// Copilot CLI: permission flags. Facts: "copilot help permissions" and runs of
// version 1.0.102.

// copilotPath is the argument of a write rule, or "" if a flag cannot say it.
func (c *compiler) copilotPath(pl place, p pathEntry) (arg string, suffix bool) {
	switch {
	case p.Glob:
		if name, ok := strings.CutPrefix(p.Canon, "**/"); ok && !isGlob(name) && name != "" {
			return name, true
		}
		return "", false
	case pl.kind(p) == dir, p.relative() && p.dotted():
		return "", false
	case p.relative():
		return p.Canon, true
	}
	return pl.expand(p), false
}

// prefixForm reports a command whose bare rule does not cover its arguments.
func prefixForm(cmd command) bool {
	words := cmd.texts()
	return cmd.Text == "git" || cmd.Text == "gh" || len(words) > 1 && strings.HasPrefix(words[1], "-")
}

func (c *compiler) copilot(p *product) {
	var argv []string
	seen := map[string]bool{}
	add := func(flag, value string, r rule) {
		if seen[flag+value] {
			return
		}
		seen[flag+value] = true
		argv = append(argv, flag, value)
		r.text, r.layer = flag+" "+quoteShell(value), "app"
		p.match = append(p.match, r)
	}
	legacy := c.cfg.FlagStyle == "legacy"
	if c.srt.Enabled != nil && !*c.srt.Enabled {
		c.warn("SRT-DISABLED", Warn, Copilot, c.key("enabled"), "enabled is false: Copilot's flags are no sandbox, and there is none beside them")
	}
	if c.yolo {
		argv = append(argv, "--yolo")
		c.n.add(Warning{ID: "COPILOT-YOLO-NEEDS-WRAPPER", Level: Warn, Agent: string(Copilot),
			Message: "--yolo lets Copilot run everything that is not denied by a flag, and flags see no wrapped command: start it inside a sandbox"})
	} else if len(c.srt.AllowWrite) > 0 {
		kinds := []string{"shell", "write"}
		if legacy {
			kinds = []string{"shell(*)", "read", "edit", "write"}
		}
		for _, kind := range kinds {
			argv = append(argv, "--allow-tool", kind)
		}
		c.warn("COPILOT-ALLOW-NEEDS-WRAPPER", Warn, Copilot, c.key("filesystem.allowWrite"), "allowWrite becomes leave to run commands and to write anywhere: Copilot's flags know no directory; start it inside a sandbox")
	}
	shell := func(cmd command, decision string) {
		r := rule{decision: decision, from: cmd.entry, command: cmd.texts(), raw: cmd.Text}
		wide := prefixForm(cmd)
		r.exact = wide
		add("--deny-tool", "shell("+cmd.Text+")", r)
		if wide {
			r.exact = false
			add("--deny-tool", "shell("+cmd.Text+":*)", r)
		}
		if len(cmd.Words) >= 3 {
			c.warn("COPILOT-DEEP-COMMAND", Lossy, Copilot, cmd.entry, "%q has %d words: Copilot tells commands apart by their first subcommand, and the rule may not match", cmd.Text, len(cmd.Words))
		}
	}
	for _, cmd := range c.bash.Deny {
		shell(cmd, "deny")
	}
	if !c.yolo {
		for _, cmd := range c.bash.Ask {
			c.warn("COPILOT-ASK-AS-DENY", Lossy, Copilot, cmd.entry, "Copilot has no rule that asks: %q is denied", cmd.Text)
			shell(cmd, "deny")
		}
	}
	pl := c.place("")
	if c.cfg.WriteRules && !legacy {
		var left []string
		first := entry{}
		for _, e := range pl.unique(append(slices.Clone(c.srt.DenyRead), c.srt.DenyWrite...)) {
			arg, suffix := c.copilotPath(pl, e)
			if arg == "" {
				if left = append(left, e.Text); len(left) == 1 {
					first = e.entry
				}
				continue
			}
			if !e.Glob && pl.kind(e) == unknown {
				c.warn("COPILOT-PATH-UNKNOWN", Info, Copilot, e.entry, "%s is not there to be looked at; if it is a directory the flag does not cover what lies in it", e)
			}
			add("--deny-tool", "write("+arg+")", rule{decision: "deny", from: e.entry, path: &e, write: true, suffix: suffix, exact: true})
		}
		if len(left) > 0 {
			c.warn("COPILOT-PATH", Lossy, Copilot, first, "no flag for %s: a write rule names one file or a trailing part of a path, no directory or other pattern", strings.Join(left, ", "))
		}
	}
	if len(c.srt.DenyRead) > 0 {
		c.warn("COPILOT-READ-UNGUARDED", Warn, Copilot, c.key("filesystem.denyRead"), "no flag keeps Copilot from reading: denyRead is not enforced; start it inside a sandbox")
	}
	if !c.yolo {
		for _, d := range c.srt.Allowed {
			if d.Port != "" {
				c.warn("COPILOT-DOMAIN-PORT", Lossy, Copilot, d.entry, "a URL rule of a host allows every port: no flag for %q", d.Text)
				continue
			}
			add("--allow-url", d.Host, rule{decision: "allow", from: d.entry, domain: &d})
		}
	}
	for _, d := range c.srt.Denied {
		if d.Port != "" {
			c.warn("COPILOT-DOMAIN-PORT", Lossy, Copilot, d.entry, "%q is denied on every port", d.Text)
		}
		r := rule{decision: "deny", from: d.entry, domain: &d}
		if d.Host == "*" {
			add("--deny-tool", "url", r)
			continue
		}
		add("--deny-url", d.Host, r)
		if !legacy {
			add("--deny-url", "http://"+d.Host, r)
		}
	}
	p.argv = argv
	if p.argv == nil {
		p.argv = []string{}
	}
	p.text = copilotText(argv)
	target := c.cfg.CopilotOutput
	p.needs = "targets.copilot_output"
	if c.yolo {
		target = c.cfg.CopilotOutputYolo
		p.needs = "targets.copilot_output_yolo"
	}
	if target == "" {
		return
	}
	want := copilotLines([]byte(p.text))
	p.files = []*targetFile{{
		path: target, fresh: []byte(p.text),
		merge: func(old []byte, _ []ownedEntry) ([]byte, []ownedEntry, error) { return []byte(p.text), nil, nil },
		check: func(_, new []byte, _ []ownedEntry) error {
			if string(new) != p.text {
				return errors.New("the flags are not as compiled")
			}
			return nil
		},
		diff: func(old []byte, _ []ownedEntry) ([]difference, error) {
			return compareSets("flags", want, copilotLines(old)), nil
		},
	}}
}

// copilotText writes the flags one a line, each continued.
func copilotText(argv []string) string {
	var b strings.Builder
	for i := 0; i < len(argv); i++ {
		b.WriteString(argv[i])
		if argv[i] != "--yolo" {
			i++
			b.WriteString(" " + quoteShell(argv[i]))
		}
		b.WriteString(" \\\n")
	}
	return b.String()
}

func copilotLines(text []byte) (lines []string) {
	for line := range strings.SplitSeq(string(text), "\n") {
		line = strings.TrimSpace(strings.TrimSuffix(strings.TrimRight(line, " \t\r"), "\\"))
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
