package plugin

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"sallyport/guards"
	"sallyport/guards/plugin/starguard"
	"sallyport/internal/repostate"
	"sallyport/internal/testenv"
)

func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == starlarkProgram {
		os.Exit(starguard.Work(os.Stdin, os.Stdout))
	}
	os.Exit(testMain(m))
}

// suite is a program in a directory with the one that runs Starlark: the test
// binary under both names.
var suite string

func testMain(m *testing.M) int {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "suite-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	suite = filepath.Join(dir, "agent-guard"+suffix)
	for _, path := range []string{suite, filepath.Join(dir, starlarkProgram+suffix)} {
		if err := os.Symlink(self, path); err != nil {
			panic(err)
		}
	}
	return m.Run()
}

// A bench is a home, a repository and what a hook knows of them.
type bench struct {
	t                  testing.TB
	home, repo, guards string
	opts               Options
	inline             guards.InlineOverride
	levels             guards.Levels
}

func newBench(t testing.TB) *bench {
	home := testenv.Isolate(t)
	b := &bench{t: t, home: home, repo: testenv.Repo(t, filepath.Join(testenv.Dir(t), "repo"))}
	b.opts = Options{
		ConfigDir: filepath.Join(home, ".config", "sallyport"), StateDir: filepath.Join(home, ".local", "state", "sallyport"),
		Dir: b.repo, Executable: suite, Environ: os.Environ(),
	}
	b.guards = filepath.Join(b.opts.ConfigDir, "guards.d")
	return b
}

func (b *bench) write(name, text string) *bench {
	b.t.Helper()
	testenv.Write(b.t, filepath.Join(b.guards, name), text)
	return b
}

func (b *bench) load() *Set {
	s := Load(b.opts, guards.Bundled())
	b.t.Cleanup(s.Close)
	return s
}

// judge runs the plugins alone on a line.
func (b *bench) judge(command string) *guards.Report { return b.judgeWith(b.load(), command) }

func (b *bench) judgeWith(s *Set, command string) *guards.Report {
	b.t.Helper()
	in := &guards.Input{Command: command, Dir: b.opts.Dir, Project: b.repo, Getenv: b.opts.lookup, Inline: b.inline, Levels: b.levels}
	return guards.Run(in, s.Guards, repostate.New(b.opts.Environ, nil))
}

func (b *bench) verdict(command string, want guards.Verdict, text string) {
	b.t.Helper()
	rep := b.judge(command)
	if reason := rep.Reason(rep.Verdict); rep.Verdict != want || !strings.Contains(reason, text) {
		b.t.Errorf("%s\n got %v: %s\nwant %v with %q; failures %v", command, rep.Verdict, reason, want, text, Failures(b.opts.StateDir))
	}
}

// failed asserts what the failure record says of a file: one of the texts
// between "|".
func (b *bench) failed(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.guards, name)
	f, ok := Failures(b.opts.StateDir)[path]
	if !ok && strings.HasSuffix(name, ".toml") {
		for _, l := range b.load().Describe() {
			if l.Guard.Source == path && l.Err != nil {
				f, ok = Failure{Error: l.Err.Error()}, true
			}
		}
	}
	found := false
	for t := range strings.SplitSeq(text, "|") {
		found = found || strings.Contains(f.Error, t)
	}
	if !ok || !found {
		b.t.Errorf("failure of %s = %+v %v, want one with %q", name, f, ok, text)
	}
}

func shorten(t testing.TB, guard, total time.Duration) {
	g, tt := guardLimit, totalLimit
	guardLimit, totalLimit = guard, total
	t.Cleanup(func() { guardLimit, totalLimit = g, tt })
}

const starPush = `
TRIGGERS = ["git:push"]

def guard(ctx):
    if "--force" in ctx.argv and not ctx.override("ALLOW_IT"):
        return "no forced push here"
    return None
`

func TestStarlarkGuard(t *testing.T) {
	b := newBench(t).write("no_force.star", starPush)
	b.verdict("git push --force", guards.Deny, "agent-guard[no-force]: no forced push here. Override for one command: AGENT_GUARD_ALLOW=no-force git push --force")
	b.verdict("git push", guards.Pass, "")
	b.verdict("git commit --force", guards.Pass, "")
	b.verdict("ALLOW_IT=1 git push --force", guards.Pass, "")
	b.verdict("ALLOW_IT=0 git push --force", guards.Deny, "")
	b.verdict("AGENT_GUARD_ALLOW=no-force git push --force", guards.Pass, "")
	b.verdict("cd sub && sudo git -C x push --force", guards.Deny, "no forced push")
	b.inline = guards.InlineIgnore
	b.verdict("ALLOW_IT=1 git push --force", guards.Deny, "")
	b.inline = guards.InlineAsk
	b.verdict("ALLOW_IT=1 git push --force", guards.Ask, "")
	b.opts.Environ = append(b.opts.Environ, "ALLOW_IT=1")
	b.verdict("git push --force", guards.Pass, "")
}

func TestPythonGuard(t *testing.T) {
	needPython(t)
	b := newBench(t).write("no_force.py", starPush)
	b.verdict("git push --force", guards.Deny, "agent-guard[no-force]: no forced push here.")
	b.verdict("git push", guards.Pass, "")
	b.verdict("ALLOW_IT=1 git push --force", guards.Pass, "")
	b.inline = guards.InlineIgnore
	b.verdict("ALLOW_IT=1 git push --force", guards.Deny, "")
	b.inline = guards.InlineAsk
	b.verdict("ALLOW_IT=1 git push --force", guards.Ask, "")
}

func needPython(t testing.TB) {
	t.Helper()
	if _, ok := findPython(os.Getenv("PATH")); !ok {
		t.Skip("python3 is not installed")
	}
}

func TestDeclarativeGuard(t *testing.T) {
	b := newBench(t).write("prod.toml", `
name = "no-prod"
triggers = ["terraform"]
decision = "ask"
reason = "this changes production."
fix = "Run `+"`terraform plan`"+` first."
override = "ALLOW_PROD"

[match]
subcommand = ["apply", "destroy"]
flags = "-var-file=prod*"
`)
	b.verdict("terraform apply -var-file=prod.tfvars", guards.Ask, "agent-guard[no-prod]: `terraform apply -var-file=prod.tfvars` — this changes production. Run `terraform plan` first. Override for one command: ALLOW_PROD=1 terraform apply")
	b.verdict("terraform apply -var-file prod.tfvars", guards.Ask, "")
	b.verdict("terraform apply -var-file=dev.tfvars", guards.Pass, "")
	b.verdict("terraform plan -var-file=prod.tfvars", guards.Pass, "")
	b.verdict("ALLOW_PROD=1 terraform apply -var-file=prod.tfvars", guards.Pass, "")
	b.verdict("echo terraform apply -var-file=prod.tfvars", guards.Pass, "")
}
