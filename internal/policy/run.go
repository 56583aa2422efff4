package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sallyport/internal/dirs"
)

// A Request is what a person asked for, for the commands that compile.
type Request struct {
	Env    Env
	Config string // path of policy.toml
	Named  bool   // somebody named that path, so it has to exist

	Agent  Agent // empty: all that are enabled
	Yolo   bool
	Prune  bool
	NoLook bool // do not probe the file system
	Force  bool
	Strict bool
	Write  bool
	DryRun bool

	IgnoreMissing bool

	Now func() time.Time
}

func (r *Request) mode() string {
	if r.Yolo {
		return "yolo"
	}
	return "full"
}

func (r *Request) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

func (r *Request) statePath() string {
	env := func(name string) string {
		if name == "HOME" || name == "USERPROFILE" {
			return r.Env.Home
		}
		return r.Env.Getenv(name)
	}
	dir := dirs.State(env)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "policy-state.json")
}

// A job is a request whose configuration and sources were read.
type job struct {
	*Request
	n      notes
	cfg    *Config
	c      *compiler
	agents []Agent
	state  *stateFile
}

// load reads configuration and sources. Everything wrong with them is in the
// job's notes; c is nil if there was something.
func (r *Request) load() *job {
	j := &job{Request: r}
	cfg, err := loadConfig(r.Env, r.Config, r.Named)
	if err != nil {
		j.n.fail(errConfig, err)
		return j
	}
	j.cfg = cfg
	if r.Agent != "" {
		j.agents = []Agent{r.Agent}
	} else {
		for _, a := range Agents() {
			if slices.Contains(cfg.Enabled, a) {
				j.agents = append(j.agents, a)
			}
		}
	}
	var srt *SRT
	if data, ok := j.source(cfg.SRT, "sources.srt", "write one for srt, or name yours"); ok {
		srt = parseSRT(cfg.SRT, data, &j.n)
	}
	var bash *BashRules
	if data, ok := j.source(cfg.BashRules, "sources.bash_rules", "agent-policy init makes an empty one"); ok {
		bash = parseBash(cfg.BashRules, data, &j.n)
	}
	if srt == nil || bash == nil {
		return j
	}
	j.state = loadState(r.statePath())
	j.c = &compiler{cfg: cfg, srt: srt, bash: bash, env: r.Env, yolo: r.Yolo, prune: r.Prune, probe: cfg.Probe && !r.NoLook, force: r.Force, n: &j.n}
	return j
}

func (j *job) source(path, key, fix string) ([]byte, bool) {
	data, err := readFile(path)
	switch {
	case err == nil:
		return data, true
	case errors.Is(err, fs.ErrNotExist):
		j.n.problem("SOURCE-MISSING", "%s: no such file (%s); %s", path, key, fix)
	default:
		j.n.problem(errSource, "read %s: %v", path, err)
	}
	return nil, false
}

// An Outcome is one agent's share of a result.
type Outcome struct {
	agent   Agent
	product *product
	plans   []*plan
	status  string // of diff
	action  action
	diffs   []difference
}

func (o *Outcome) target() string {
	if len(o.product.files) == 0 {
		return ""
	}
	return o.product.files[0].path
}

// A Result is what a command that compiles has to show.
type Result struct {
	Mode     string
	Outcomes []*Outcome
	Warnings []Warning
	Problems []Problem
	Written  bool
	Exit     int
	dry      bool
	write    bool
}

func (j *job) result() *Result {
	return &Result{Mode: j.mode(), Warnings: j.n.warnings, Problems: j.n.problems, dry: j.DryRun, write: j.Write && !j.DryRun}
}

// compileAll compiles every requested agent and plans its files. A problem does
// not stop the others: all are listed in one run.
func (j *job) compileAll(plan bool) (out []*Outcome) {
	if j.c == nil {
		return nil
	}
	for _, a := range j.agents {
		p := j.c.compile(a)
		o := &Outcome{agent: a, product: p, action: actNone}
		out = append(out, o)
		if p.blocked || !plan {
			continue
		}
		if len(p.files) == 0 && a != Copilot && j.Write {
			j.n.problem(errConfig, "%s: %s has no target; set %s", j.cfg.Path, a, p.needs)
			continue
		}
		o.plans = j.planFiles(o)
	}
	j.oneOwner(out)
	return out
}

func (j *job) planFiles(o *Outcome) (plans []*plan) {
	for i, f := range o.product.files {
		var a *anchor
		if o.agent == Claude && i == 0 && j.cfg.Symlink {
			var err error
			if a, err = newAnchor(f.path); err != nil {
				j.n.fail(errTarget, err)
				continue
			}
		}
		p, err := newPlan(f, a, j.state)
		if err != nil {
			j.n.fail(errTarget, err)
			continue
		}
		if p.seededFrom != "" {
			j.n.add(Warning{ID: "CLAUDE-SEEDED", Level: Info, Agent: string(o.agent), Message: fmt.Sprintf("%s is new and starts with what %s holds besides the policy", f.path, p.seededFrom)})
		}
		plans = append(plans, p)
	}
	return plans
}

// oneOwner refuses targets that are the same file, or one of the sources.
func (j *job) oneOwner(out []*Outcome) {
	taken := map[string]string{}
	for name, path := range map[string]string{"the configuration": j.cfg.Path, "sources.srt": j.cfg.SRT, "sources.bash_rules": j.cfg.BashRules} {
		if real, _, err := resolve(path); err == nil {
			taken[real] = name
		}
	}
	for _, o := range out {
		for _, p := range o.plans {
			if by, ok := taken[p.real]; ok {
				j.n.problem(errConfig, "%s: %s is a target of %s and also %s; name another file", j.cfg.Path, p.file.path, o.agent, by)
			}
			taken[p.real] = "a target of " + string(o.agent)
		}
	}
}

func (j *job) strictly() {
	if !j.Strict {
		return
	}
	for _, w := range j.n.warnings {
		if w.Level != Info {
			j.n.problem(errStrict, "%s is a failure under --strict: %s", w.ID, w.Message)
		}
	}
}

// Generate compiles, and writes if asked to.
func Generate(r *Request) *Result {
	j := r.load()
	outcomes := j.compileAll(true)
	j.removals(outcomes)
	j.strictly()
	write := r.Write && !r.DryRun
	for _, o := range outcomes {
		o.action = planned(o.plans, r.DryRun)
	}
	if len(j.n.problems) == 0 && write {
		var plans []*plan
		for _, o := range outcomes {
			plans = append(plans, o.plans...)
		}
		if err := commit(plans, j.state, j.cfg.Backups, r.now()); err != nil {
			j.n.fail(errWrite, err)
		} else {
			for _, o := range outcomes {
				o.action = done(o.plans)
			}
			j.remember(plans)
		}
	}
	res := j.result()
	res.Outcomes = outcomes
	res.Written = write && len(j.n.problems) == 0
	if len(j.n.problems) > 0 {
		res.Exit = 1
		for _, o := range outcomes {
			o.action = actNone
		}
	}
	return res
}

// removals says which hand-written denials a write takes away, since the sources
// alone decide.
func (j *job) removals(outcomes []*Outcome) {
	for _, o := range outcomes {
		if o.agent != Claude || !j.Write && !j.DryRun {
			continue
		}
		for _, p := range o.plans {
			if !p.existed || p.file.diff == nil || ours(j.state, p) {
				continue
			}
			diffs, err := p.file.diff(p.old, nil)
			if err != nil {
				continue
			}
			for _, d := range diffs {
				if d.class == extra && d.section == "permissions.deny" {
					j.n.add(Warning{ID: "CLAUDE-DENY-REMOVED", Level: Info, Agent: string(Claude), Message: fmt.Sprintf("%s: %s is not in the policy and goes away; add it to the sources to keep it", p.file.path, showValue(d.value))})
				}
			}
		}
	}
}

func planned(plans []*plan, dry bool) action {
	if !dry || len(plans) == 0 {
		return actNone
	}
	act := actUnchanged
	for _, p := range plans {
		switch {
		case p.file == plans[0].file && !p.existed:
			return actWouldCreate
		case p.changes() || p.anchor != nil && !p.anchor.is:
			act = actWouldUpdate
		}
	}
	return act
}

func done(plans []*plan) action {
	if len(plans) == 0 {
		return actNone
	}
	act := actUnchanged
	for _, p := range plans {
		switch {
		case p.file == plans[0].file && p.wrote && !p.existed:
			return actCreated
		case p.wrote:
			act = actUpdated
		}
	}
	return act
}

// remember keeps what was written. The state is a help: that it could not be
// written is no failure of the run.
func (j *job) remember(plans []*plan) {
	if j.state.path != "" && os.MkdirAll(filepath.Dir(j.state.path), 0o700) == nil {
		// Another run may have written other targets meanwhile.
		if unlock, err := lockFiles([]string{j.state.path}); err == nil {
			defer unlock()
			j.state = loadState(j.state.path)
		}
	}
	for _, p := range plans {
		before := j.state.Files[p.real]
		if !p.wrote && before == nil && p.record == nil {
			continue
		}
		f := &fileState{SHA256: hash(p.new), Owned: p.record}
		if !p.wrote && before != nil {
			f.SHA256 = before.SHA256
		} else if !p.wrote {
			f.SHA256 = ""
		}
		f.Created = before != nil && before.Created || p.wrote && !p.existed
		j.state.Files[p.real] = f
		if p.anchor != nil && p.anchor.copied {
			j.n.add(Warning{ID: "ANCHOR-COPIED", Level: Warn, Agent: string(Claude), Message: fmt.Sprintf("%s is a copy: links are not supported here; it is not updated on its own", p.anchor.path)})
		}
	}
	if err := j.state.save(); err != nil {
		j.n.add(Warning{ID: "STATE-NOT-SAVED", Level: Info, Message: fmt.Sprintf("%s: %v; the next run will make a backup that it would not need", j.state.path, err)})
	}
}

// Diff compares the targets with a fresh compilation.
func Diff(r *Request) *Result {
	j := r.load()
	outcomes := j.compileAll(false)
	broken := len(j.n.problems) > 0
	exit := 0
	for _, o := range outcomes {
		o.status = j.compare(o)
		switch o.status {
		case "drift":
			exit = max(exit, 1)
		case "missing", "error":
			exit = 2
		}
	}
	if broken || j.c == nil || len(j.n.problems) > 0 {
		exit = 2
	}
	if j.strictly(); exit == 0 && len(j.n.problems) > 0 {
		exit = 1
	}
	res := j.result()
	res.Outcomes, res.Exit = outcomes, exit
	return res
}

func (j *job) compare(o *Outcome) string {
	p := o.product
	switch {
	case p.blocked:
		return "error"
	case len(p.files) == 0 && j.Agent != "":
		j.n.problem("TARGET-NOT-SET", "%s: %s has no file to compare with; set %s", j.cfg.Path, o.agent, p.needs)
		return "error"
	case len(p.files) == 0:
		return "skipped"
	}
	before := len(j.n.problems)
	missingFile := false
	for i, f := range p.files {
		if o.agent == Claude && i == 0 && j.cfg.Symlink {
			a, err := newAnchor(f.path)
			switch {
			case err != nil:
				j.n.fail(errTarget, err)
				continue
			case a.old == "" && !a.migrate:
				j.n.add(Warning{ID: "ANCHOR-ABSENT", Level: Info, Agent: string(Claude), Message: fmt.Sprintf("%s does not exist: Claude reads none of this; generate -w makes the link", a.path)})
			case a.old != "" && !a.is:
				j.n.add(Warning{ID: "ANCHOR-ELSEWHERE", Level: Info, Agent: string(Claude), Message: fmt.Sprintf("%s leads to %s, not to %s", a.path, a.old, f.path)})
			}
		}
		real, exists, err := resolve(f.path)
		if err != nil {
			j.n.fail(errTarget, err)
			continue
		}
		if !exists {
			missingFile = true
			if !j.IgnoreMissing {
				j.n.add(Warning{ID: "TARGET-MISSING", Level: Info, Agent: string(o.agent), Message: fmt.Sprintf("%s does not exist; generate -w makes it", f.path)})
			}
			continue
		}
		data, err := readFile(real)
		if err != nil {
			j.n.fail(errTarget, err)
			continue
		}
		diffs, err := f.diff(data, ownedIn(j.state, real))
		if err != nil {
			j.n.fail(errTarget, inFile(f.path, err))
			continue
		}
		sortDifferences(diffs)
		o.diffs = append(o.diffs, diffs...)
	}
	switch {
	case len(j.n.problems) > before:
		return "error"
	case missingFile && !j.IgnoreMissing:
		return "missing"
	case missingFile && len(o.diffs) == 0:
		return "skipped"
	case len(o.diffs) > 0:
		return "drift"
	}
	return "clean"
}
