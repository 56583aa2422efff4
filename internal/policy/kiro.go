package policy

import (
	"regexp"
	"strings"
)

// Kiro: toolsSettings of an agent file.

func (c *compiler) kiro(p *product) {
	p.needs = "targets.kiro_agent"
	o := &sharedOutput{}
	pl := c.place("")
	path := func(e pathEntry, tools ...string) {
		spelled := pl.expand(e)
		if e.Glob {
			spelled = e.Canon
		}
		for _, tool := range tools {
			o.element(spelled, "toolsSettings", tool, "deniedPaths")
			p.match = append(p.match, rule{text: tool + ".deniedPaths: " + spelled, decision: "deny", layer: "app", from: e.entry, path: &e, read: tool == "read", write: tool == "write"})
		}
	}
	for _, e := range pl.unique(c.srt.DenyRead) {
		path(e, "read", "write")
	}
	for _, e := range pl.unique(c.srt.DenyWrite) {
		path(e, "write")
	}
	blocked := func(pattern string, from entry, d *domainEntry) {
		o.element(pattern, "toolsSettings", "web_fetch", "blocked")
		p.match = append(p.match, rule{text: "web_fetch.blocked: " + pattern, decision: "deny", layer: "app", from: from, domain: d})
	}
	if len(c.srt.Allowed) == 0 {
		blocked(".*", c.key("network.allowedDomains"), &domainEntry{Host: "*"})
	}
	for _, d := range c.srt.Denied {
		if d.Port != "" {
			c.warn("EXT-NOT-COMPILED", Lossy, Kiro, d.entry, "%q is denied on every port", d.Text)
		}
		blocked(urlPattern(d), d.entry, &d)
	}
	for _, cmd := range c.bash.Deny {
		pattern := "(?s)" + regexp.QuoteMeta(cmd.Text) + `(\s.*)?`
		o.element(pattern, "toolsSettings", "shell", "deniedCommands")
		p.match = append(p.match, rule{text: "shell.deniedCommands: " + pattern, decision: "deny", layer: "app", from: cmd.entry, command: cmd.texts(), raw: cmd.Text})
	}
	if !c.yolo {
		for _, cmd := range c.bash.Ask {
			c.warn("EXT-NOT-COMPILED", Info, Kiro, cmd.entry, "Kiro asks before every command that is not allowed: %q needs no rule", cmd.Text)
		}
	}
	c.extendedAllowances(Kiro)
	p.content = o.fresh()
	if c.cfg.KiroAgent != "" {
		p.files = []*targetFile{o.file(c.cfg.KiroAgent)}
	}
}

// urlPattern is a regular expression for every URL of a host.
func urlPattern(d domainEntry) string {
	if d.Host == "*" {
		return ".*"
	}
	host := regexp.QuoteMeta(d.Host)
	if rest, ok := strings.CutPrefix(d.Host, "*."); ok {
		host = `[^/]+\.` + regexp.QuoteMeta(rest)
	}
	return `(?i)[a-z]+://([^/@]*@)?` + host + `\.?(:[0-9]+)?([/?#].*)?`
}
