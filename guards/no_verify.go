package guards

import (
	"slices"
	"strings"

	"sallyport/internal/shellcmd"
)

// NoVerify refuses commands that skip the repository's hooks.
var NoVerify = Guard{
	Name:  "no-verify",
	Title: "skipping git hooks",
	Doc: Doc{
		What:    "git commit --no-verify (-n), and --no-verify of push, merge, rebase, am and pull; core.hooksPath set for one command, by -c or by GIT_CONFIG_* variables; the variables with which hook managers are switched off (HUSKY=0, SKIP=, PRE_COMMIT_ALLOW_NO_CONFIG, LEFTHOOK=0, OVERCOMMIT_DISABLE, …) on a command that runs hooks.",
		Why:     "The hooks are the project's own checks: what they would have stopped lands in the history or on the remote.",
		Instead: "Run the command with its hooks, read what they say and fix it. Where a hook itself is broken, say so and let a person decide.",
		Limits:  "Hooks that are removed or disabled in files are self-protect's. Plumbing such as git commit-tree runs no hooks and is not seen. git push -n is a dry run and git merge -n hides the diffstat: both pass.",
	},
	Default:   Deny,
	Overrides: []string{"MAGPIE_ALLOW_NO_VERIFY"},
	Programs:  []string{"git"},
	Examples: []Example{
		{Command: "git commit --no-verify -m wip", Verdict: Deny, Why: "the plain form"},
		{Command: "git commit -anm wip", Verdict: Deny, Why: "short options in one word: -a -n -m"},
		{Command: "git push --no-verify origin feature", Verdict: Deny, Why: "skips pre-push"},
		{Command: "git -c core.hooksPath=/dev/null commit -m wip", Verdict: Deny, Why: "no hooks are found there"},
		{Command: "HUSKY=0 git commit -m wip", Verdict: Deny, Why: "switches husky's hooks off"},
		{Command: "SKIP=flake8 git commit -m wip", Verdict: Deny, Why: "pre-commit leaves that hook out"},
		{Command: "git commit -m 'never pass --no-verify'", Why: "only in the message"},
		{Command: "git commit -mn", Why: "the message is n"},
		{Command: "git push -n origin feature", Why: "a dry run"},
		{Command: "git merge -n main", Why: "no diffstat"},
		{Command: "git commit --no-verify --verify -m ok", Why: "the last one counts"},
		{Command: "git -c core.hooksPath=/dev/null status", Why: "runs no hook that checks anything"},
		{Command: "SKIP=flake8 make lint", Why: "no git command"},
	},
	Check: checkNoVerify,
}

// runsHooks returns, for a command that runs checking hooks, the hook that shows
// whether a directory of hooks is meant.
func runsHooks(command string) (hook string, ok bool) {
	switch command {
	case "commit":
		return "pre-commit", true
	case "push":
		return "pre-push", true
	case "merge", "pull":
		return "pre-merge-commit", true
	case "rebase":
		return "pre-rebase", true
	case "am":
		return "applypatch-msg", true
	case "cherry-pick", "revert":
		return "commit-msg", true
	}
	return "", false
}

// switches are the variables that switch hook managers off, with what the
// manager takes as off.
var switches = []struct {
	name string
	off  func(value string) bool
	what string
}{
	{"HUSKY", func(v string) bool { return v == "0" }, "husky"},
	{"HUSKY_SKIP_HOOKS", Truthy, "husky"},
	{"SKIP", func(v string) bool { return strings.TrimSpace(v) != "" }, "pre-commit"},
	{"PRE_COMMIT_ALLOW_NO_CONFIG", func(v string) bool { return v != "" }, "pre-commit"},
	{"PREK_SKIP", func(v string) bool { return strings.TrimSpace(v) != "" }, "prek"},
	{"PREK_ALLOW_NO_CONFIG", func(v string) bool { return v != "" }, "prek"},
	{"LEFTHOOK", func(v string) bool { return v != "" && !Truthy(v) }, "lefthook"},
	{"LEFTHOOK_EXCLUDE", func(v string) bool { return v != "" }, "lefthook"},
	{"OVERCOMMIT_DISABLE", Truthy, "overcommit"},
	{"SKIP_SIMPLE_GIT_HOOKS", Truthy, "simple-git-hooks"},
}

func checkNoVerify(c *Call) []Finding {
	g := c.Git
	hook, ok := runsHooks(g.Name)
	if !ok || g.Help || g.On("dry-run") || g.On("abort") || g.On("quit") {
		return nil
	}
	if g.Name == "merge" && g.On("squash") {
		return nil
	}
	var found []Finding
	skip := func(words, how, fix string) {
		found = append(found, Finding{
			Found: Quote(words) + " on git " + g.Name + " " + how,
			Why:   "the project's checks would not run",
			Fix:   fix,
			Words: []string{words},
		})
	}
	const leaveOut = "Leave it out and fix what the hooks report"
	if o, has := g.Opt("no-verify"); has && !o.Unset {
		skip(o.Text, "skips the hooks", leaveOut)
	} else if o, has := g.Opt("verify"); has && o.Unset { // git pull's own spelling
		skip(o.Text, "skips the hooks", leaveOut)
	}
	for _, s := range g.Global.Config {
		switch {
		case s.Key == "core.hookspath":
			if !c.hookDirectory(s.Value, hook) {
				skip(s.From, "takes the hooks from elsewhere", leaveOut)
			}
		case strings.HasPrefix(s.Key, "hook.") && strings.HasSuffix(s.Key, ".enabled") && !Truthy(s.Value.Value) && s.Value.Static:
			skip(s.From, "switches a hook off", leaveOut)
		}
	}
	assigns := append(c.serviceAssigns(), c.Assigns...)
	for _, sw := range switches {
		// The last assignment of a name counts; the environment of the hook is
		// a person's choice and is not looked at.
		for i := len(assigns) - 1; i >= 0; i-- {
			a := assigns[i]
			if a.Name != sw.name {
				continue
			}
			if !a.Value.Static || sw.off(a.Value.Value) {
				skip(a.Name+"="+a.Value.String(), "switches hooks of "+sw.what+" off", leaveOut)
			}
			break
		}
	}
	return found
}

// serviceAssigns are the variables that systemd-run sets for c.
func (c *Call) serviceAssigns() (out []shellcmd.Assign) {
	if !slices.ContainsFunc(c.Via, func(l shellcmd.Layer) bool { return l.Name == "systemd-run" }) {
		return nil
	}
	earlier := c.Earlier()
	for i := len(earlier) - 1; i >= 0; i-- {
		o := earlier[i]
		if o.name != "systemd-run" || !leads(o, c) {
			continue
		}
		for j := 1; j < len(o.Args); j++ {
			w := o.Args[j]
			value, attached := w.After("--setenv=")
			if !attached {
				value, attached = w.After("-E")
			}
			if (w.Value == "-E" || w.Value == "--setenv") && j+1 < len(o.Args) {
				j++
				value, attached = o.Args[j], true
			}
			if name, v, ok := value.Cut("="); attached && ok {
				out = append(out, shellcmd.Assign{Name: name, Value: v})
			}
			if !strings.HasPrefix(w.Value, "-") {
				break
			}
		}
		return out
	}
	return nil
}

// hookDirectory reports whether a hooks path leads to a directory of the work
// tree that has the hook: then the checks run, only from there.
func (c *Call) hookDirectory(w shellcmd.Word, hook string) bool {
	if !w.Static || w.Value == "" || c.Place.Unknown {
		return false
	}
	root, ok := c.run.world.Root(c.Place.Dir)
	if !ok {
		return false
	}
	dir := join(root, w.Value)
	return within(dir, clean(root)) && c.run.world.Stat(join(dir, hook)).Exists
}
