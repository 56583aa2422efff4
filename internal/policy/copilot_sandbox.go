package policy

// Copilot's own sandbox: sandbox.userPolicy in its settings file. Facts: Copilot
// CLI 1.0.102.

func (c *compiler) copilotSandbox(p *product) {
	p.needs = "targets.copilot_settings"
	o := &sharedOutput{}
	o.value(true, "sandbox", "enabled")
	o.value(false, "sandbox", "allowBypass")
	pl := c.place("")
	path := func(e pathEntry, list string, r rule) {
		switch {
		case e.Glob:
			c.warn("EXT-NOT-COMPILED", Lossy, CopilotSandbox, e.entry, "copilot-sandbox has no patterns: %s is not compiled", e)
			return
		case e.relative():
			c.warn("EXT-NOT-COMPILED", Lossy, CopilotSandbox, e.entry, "a user's settings have no working directory: %s is not compiled", e)
			return
		}
		at := pl.abs(e)
		o.element(at, "sandbox", "userPolicy", "filesystem", list)
		r.text, r.decision, r.layer, r.from, r.path = list+": "+at, "deny", "kernel", e.entry, &e
		p.match = append(p.match, r)
	}
	for _, e := range pl.unique(c.srt.DenyRead) {
		path(e, "deniedPaths", rule{read: true, write: true})
	}
	for _, e := range pl.unique(c.srt.DenyWrite) {
		path(e, "readonlyPaths", rule{write: true})
	}
	if len(c.srt.Allowed) == 0 {
		o.value(false, "sandbox", "userPolicy", "network", "allowOutbound")
		p.match = append(p.match, rule{text: "allowOutbound: false", decision: "deny", layer: "kernel", from: c.key("network.allowedDomains"), domain: &domainEntry{Host: "*"}})
	}
	for _, d := range c.srt.Denied {
		if d.Port != "" {
			c.warn("EXT-NOT-COMPILED", Lossy, CopilotSandbox, d.entry, "%q is denied on every port", d.Text)
		}
		o.element(d.Host, "sandbox", "userPolicy", "network", "deniedUrls")
		p.match = append(p.match, rule{text: "deniedUrls: " + d.Host, decision: "deny", layer: "kernel", from: d.entry, domain: &d})
	}
	for _, cmd := range append(append([]command{}, c.bash.Deny...), c.bash.Ask...) {
		c.warn("EXT-NOT-COMPILED", Lossy, CopilotSandbox, cmd.entry, "copilot-sandbox has no command rules: %q is not compiled; the copilot flags have them", cmd.Text)
	}
	c.extendedAllowances(CopilotSandbox)
	p.content = o.fresh()
	if c.cfg.CopilotSettings != "" {
		p.files = []*targetFile{o.file(c.cfg.CopilotSettings)}
	}
}
