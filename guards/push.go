package guards

import (
	"strings"

	"sallyport/internal/shellcmd"
)

// A refspec is one source and destination of a push.
type refspec struct {
	force    bool
	src, dst string // dst is empty where the source names it
	dynamic  bool   // the source is not known
	deletes  bool
	matching bool // ":" alone
	text     string
}

func parseRefspec(w shellcmd.Word) refspec {
	r := refspec{text: w.String(), dynamic: !w.Static}
	s := w.Value
	r.force = strings.HasPrefix(s, "+")
	s = strings.TrimPrefix(s, "+")
	src, dst, colon := strings.Cut(s, ":")
	r.src, r.dst = src, dst
	switch {
	case colon && src == "" && dst == "" && !r.dynamic:
		r.matching = true
	case colon && src == "" && !r.dynamic:
		r.deletes = true
	}
	return r
}

// A push is what a git push sends.
type push struct {
	remote string
	forced bool // by an option
	leased bool // only by --force-with-lease
	refs   []refspec
	delete bool // --delete
	mirror bool
	dryRun bool
	option string // the words that force it
}

// push reads a git push: its options, its refspecs, and where it has none those
// of the configuration.
func (c *Call) push() (p push, ok bool) {
	g := c.Git
	if g == nil || g.Name != "push" && g.Name != "send-pack" || g.Help {
		return p, false
	}
	p.dryRun = g.On("dry-run")
	p.mirror = g.On("mirror")
	p.delete = g.On("delete")
	p.forced = g.On("force")
	if p.forced {
		o, _ := g.Opt("force")
		p.option = o.Text
	}
	if o, has := g.Opt("force-with-lease"); has && !o.Unset && !p.forced {
		p.forced, p.leased, p.option = true, true, o.Text
	}
	operands := g.Operands
	if o, has := g.Opt("repo"); has && len(operands) == 0 {
		p.remote = o.Value.Value
	}
	if len(operands) > 0 {
		p.remote = operands[0].Value
		operands = operands[1:]
	}
	for i := 0; i < len(operands); i++ {
		w := operands[i]
		if w.Value == "tag" && w.Static && i+1 < len(operands) {
			i++
			p.refs = append(p.refs, refspec{src: "refs/tags/" + operands[i].Value, dst: "refs/tags/" + operands[i].Value, text: "tag " + operands[i].Value})
			continue
		}
		r := parseRefspec(w)
		if p.delete {
			r = refspec{dst: strings.TrimPrefix(w.Value, "+"), deletes: true, text: w.String(), dynamic: !w.Static}
		}
		p.refs = append(p.refs, r)
	}
	if g.On("all") || g.On("branches") {
		p.refs = append(p.refs, c.allBranches()...)
		return p, true
	}
	if len(p.refs) > 0 || p.mirror || g.On("tags") || p.delete {
		return p, true
	}
	p.refs = c.defaultRefs(&p)
	return p, true
}

func (c *Call) allBranches() []refspec {
	var refs []refspec
	for _, name := range c.gitLines("for-each-ref", "--format=%(refname)", "refs/heads/") {
		refs = append(refs, refspec{src: name, dst: name, text: strings.TrimPrefix(name, "refs/heads/")})
	}
	return refs
}

// defaultRefs are what a push without refspecs sends: remote.<name>.push, else
// what push.default says.
func (c *Call) defaultRefs(p *push) []refspec {
	branch, onBranch := c.currentBranch()
	if p.remote == "" {
		p.remote = "origin"
		for _, key := range [...]string{"branch." + branch + ".pushremote", "remote.pushdefault", "branch." + branch + ".remote"} {
			if !onBranch && strings.HasPrefix(key, "branch.") {
				continue
			}
			if v, ok := c.setting(key); ok && v != "" {
				p.remote = v
				break
			}
		}
	}
	if specs := c.settings("remote." + p.remote + ".push"); len(specs) > 0 {
		var refs []refspec
		for _, w := range specs {
			refs = append(refs, parseRefspec(w))
		}
		return refs
	}
	if v, ok := c.setting("remote." + p.remote + ".mirror"); ok && Truthy(v) {
		p.mirror = true
		return nil
	}
	mode, _ := c.setting("push.default")
	switch mode {
	case "nothing":
		return nil
	case "matching":
		return []refspec{{matching: true, text: ":"}}
	}
	if !onBranch {
		return nil // git refuses a detached HEAD
	}
	dst := "refs/heads/" + branch
	if mode == "upstream" || mode == "tracking" {
		if v, ok := c.setting("branch." + branch + ".merge"); ok {
			dst = v
		}
	}
	return []refspec{{src: "refs/heads/" + branch, dst: dst, text: branch}}
}

// target is the full name of the remote ref that r updates.
func (c *Call) target(r refspec) string {
	dst := r.dst
	if dst == "" {
		dst = r.src
		if dst == "HEAD" || dst == "@" || r.dynamic && dst == "" {
			branch, ok := c.currentBranch()
			if !ok {
				return ""
			}
			dst = branch
		}
	}
	if strings.HasPrefix(dst, "refs/") {
		return dst
	}
	if _, ok := c.git("show-ref", "--verify", "--quiet", "refs/tags/"+dst); ok && r.dst == "" {
		if _, ok := c.git("show-ref", "--verify", "--quiet", "refs/heads/"+dst); !ok {
			return "refs/tags/" + dst
		}
	}
	return "refs/heads/" + strings.TrimPrefix(dst, "heads/")
}
