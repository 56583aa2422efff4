// Package guardcases runs the cases of guards: the examples that guards carry,
// and case files in JSON Lines. Each case is judged in a throw-away repository
// with real git; gh is answered by a stand-in.
//
// The repository of a case is on branch feature, which was reset to main and so
// has no commit over it while its upstream has one. It has a bare remote
// ../origin.git, a pre-commit hook, and a staged change of a.txt.
package guardcases

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"sallyport/guards"
	"sallyport/internal/repostate"
	"sallyport/internal/shellcmd"
)

// base makes the repository. It runs in an empty directory.
const base = `set -e
git config --global user.email dev@example.com; git config --global user.name Dev
git config --global init.defaultBranch main; git config --global advice.detachedHead false
git config --global protocol.file.allow always
git init -q --bare origin.git
git -C origin.git config receive.denyDeleteCurrent ignore
git -C origin.git symbolic-ref HEAD refs/heads/main
git init -q repo; cd repo
echo one > a.txt; git add a.txt; git commit -qm first; echo two >> a.txt; git commit -qam second
git remote add origin ../origin.git; git push -q origin main; git remote set-head origin main
git checkout -q -b feature; echo pr > pr.txt; git add pr.txt; git commit -qm "pr work"; git push -q -u origin feature
git reset -q --hard main
printf '#!/bin/sh\nexit 0\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
echo three >> a.txt; git add a.txt
`

// A Lab makes worlds. It keeps one made repository to copy from.
type Lab struct {
	dir    string
	shared *World
	n      int
}

// NewLab makes the repository to copy from, below dir.
func NewLab(dir string) (*Lab, error) {
	for _, tool := range []string{"git", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("cases need %s: %w", tool, err)
		}
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	l := &Lab{dir: dir}
	w, err := l.empty("template")
	if err != nil {
		return nil, err
	}
	if err := w.shell(base, w.Dir); err != nil {
		return nil, err
	}
	l.shared = w
	return l, nil
}

// A World is the state that a case is judged in.
type World struct {
	Dir, Home, Repo string
	Environ         []string
	gh              map[string]string
}

func (l *Lab) empty(name string) (*World, error) {
	dir := filepath.Join(l.dir, name)
	w := &World{Dir: dir, Home: filepath.Join(dir, "home"), Repo: filepath.Join(dir, "repo"), gh: map[string]string{}}
	if err := os.MkdirAll(w.Home, 0o755); err != nil {
		return nil, err
	}
	w.Environ = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.Home, "USER=dev", "LANG=C.UTF-8", "TERM=dumb",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true", "CASE_DIR=" + dir,
	}
	return w, nil
}

// World returns a world in the state of setup: shell lines that are run in the
// repository, and lines "gh:key=value" and "env:NAME=value". Without shell
// lines the world is shared: guards change nothing.
func (l *Lab) World(setup string) (*World, error) {
	gh, env, script := map[string]string{}, []string(nil), []string{}
	for line := range strings.SplitSeq(setup, "\n") {
		if rest, ok := strings.CutPrefix(line, "gh:"); ok {
			key, value, _ := strings.Cut(rest, "=")
			gh[key] = value
		} else if rest, ok := strings.CutPrefix(line, "env:"); ok {
			env = append(env, rest)
		} else if strings.TrimSpace(line) != "" {
			script = append(script, line)
		}
	}
	w := l.shared
	if len(script) > 0 {
		l.n++
		fresh, err := l.empty("case" + strconv.Itoa(l.n))
		if err != nil {
			return nil, err
		}
		if err := os.CopyFS(fresh.Dir, os.DirFS(l.shared.Dir)); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		if err := fresh.shell("set -e\n"+strings.Join(script, "\n"), fresh.Repo); err != nil {
			return nil, err
		}
		w = fresh
	}
	own := *w
	own.gh = gh
	own.Environ = append(append([]string{}, w.Environ...), env...)
	return &own, nil
}

func (w *World) shell(script, dir string) error {
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Env = dir, w.Environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("setup: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Getenv is the environment of the hook in w.
func (w *World) Getenv(name string) (string, bool) {
	for i := len(w.Environ) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(w.Environ[i], "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// Machine answers the questions of guards in w.
func (w *World) Machine() guards.World {
	return &machine{repostate.New(w.Environ, nil), w.gh}
}

// machine is the real one but for gh.
type machine struct {
	*repostate.World
	gh map[string]string
}

func (m *machine) GH(_ guards.Place, args ...string) (string, bool) {
	if m.gh["fail"] != "" {
		return "", false
	}
	get := func(key, fallback string) string {
		if v, ok := m.gh[key]; ok {
			return v
		}
		return fallback
	}
	joined := strings.Join(args, " ")
	switch {
	case strings.HasPrefix(joined, "api user"):
		return get("viewer", "operator-bot"), true
	case args[0] == "api" && strings.Contains(joined, "actions/runs"):
		return get("pending_runs", "0"), true
	case strings.Contains(joined, "author"):
		return get("pr_author", "octo-author"), true
	case strings.Contains(joined, "headRefOid"):
		return strings.Repeat("deadbeef", 5), true
	case strings.Contains(joined, "nameWithOwner"):
		return "example/widgets", true
	case strings.Contains(joined, "visibility"):
		return get("visibility", "PUBLIC"), true
	}
	return "", false
}

// A Case is one line of a case file. Case files may hold more fields and cases
// of other programs; those are passed over.
type Case struct {
	ID      string          `json:"id"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
	Command string          `json:"command"` // short form for input
	Dir     string          `json:"-"`       // where Command runs, relative to the repository
	Setup   string          `json:"setup"`
	Expect  string          `json:"expect"`
	Why     string          `json:"why"`
	Guards  []string        `json:"guards"` // only these; none: all
}

// Read reads a case file.
func Read(path string) ([]Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var cases []Case
	for i, line := range strings.Split(string(data), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var c Case
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		if c.ID == "" {
			c.ID = fmt.Sprintf("%s:%d", filepath.Base(path), i+1)
		}
		if c.Tool != "" && c.Tool != "agent-guard" || c.Expect == "debatable" {
			continue
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// event is the part of a hook's event that a case of a shell command has.
type event struct {
	ToolName  string `json:"tool_name"`
	Dir       string `json:"cwd"`
	ToolInput struct {
		Command  string `json:"command"`
		FilePath string `json:"file_path"`
	} `json:"tool_input"`
}

// ErrNoCommand is returned for a case whose input is no shell command.
var ErrNoCommand = errors.New("the case has no shell command")

// Run judges a case and returns what the guards say.
func (l *Lab) Run(c *Case, all []*guards.Guard) (*guards.Report, error) {
	w, err := l.World(c.Setup)
	if err != nil {
		return nil, err
	}
	in := &guards.Input{Command: c.Command, Dir: filepath.Join(w.Repo, c.Dir), Getenv: w.Getenv}
	if c.Command == "" {
		var ev event
		if err := json.Unmarshal(c.Input, &ev); err != nil || ev.ToolInput.Command == "" && ev.ToolInput.FilePath == "" {
			return nil, ErrNoCommand
		}
		in.Command = ev.ToolInput.Command
		if ev.ToolInput.FilePath != "" {
			in.Command = ""
			in.Writes = []guards.Write{{Path: strings.ReplaceAll(ev.ToolInput.FilePath, "@REPO@", w.Repo), Tool: ev.ToolName}}
		}
		if dir := strings.ReplaceAll(ev.Dir, "@REPO@", w.Repo); dir != "" {
			in.Dir = dir
		}
		if ev.ToolName == "PowerShell" {
			in.Dialect = shellcmd.PowerShell
		}
	}
	in.Command = strings.NewReplacer("@REPO@", w.Repo, "@HOME@", w.Home).Replace(Expand(in.Command))
	return guards.Run(in, choose(all, c), w.Machine()), nil
}

// choose leaves the guards that a case is about, switched on.
func choose(all []*guards.Guard, c *Case) []*guards.Guard {
	if len(c.Guards) == 0 {
		return all
	}
	var out []*guards.Guard
	for _, g := range all {
		for _, name := range c.Guards {
			if g.Name == name {
				on := *g
				on.Off = false
				out = append(out, &on)
			}
		}
	}
	return out
}

// Expand replaces @FILL:n@ by harmless commands of at least n bytes, and
// @NEST:n@ … @/NEST@ by n parentheses around.
func Expand(text string) string {
	for {
		i := strings.Index(text, "@FILL:")
		if i < 0 {
			break
		}
		number, rest, ok := strings.Cut(text[i+len("@FILL:"):], "@")
		n, err := strconv.Atoi(number)
		if !ok || err != nil {
			break
		}
		text = text[:i] + strings.Repeat("true; ", n/6+1) + rest
	}
	if i := strings.Index(text, "@NEST:"); i >= 0 {
		number, rest, _ := strings.Cut(text[i+len("@NEST:"):], "@")
		inner, after, ok := strings.Cut(rest, "@/NEST@")
		if n, err := strconv.Atoi(number); err == nil && ok {
			text = text[:i] + strings.Repeat("( ", n) + inner + strings.Repeat(" )", n) + after
		}
	}
	return text
}

// Judge compares a report with what a case expects: "allow", "ask", "deny",
// "stop" or "warn", a guard's name after a colon. It returns what is wrong,
// empty if nothing is.
func Judge(expect string, rep *guards.Report) string {
	got := rep.Verdict.String()
	name := ""
	if len(rep.Results) > 0 && rep.Verdict > guards.Pass {
		name = rep.Results[0].Guard.Name
		got += ":" + name
	}
	want, guard, _ := strings.Cut(expect, ":")
	ok := false
	switch want {
	case "allow", "pass":
		ok = rep.Verdict <= guards.Warn && rep.Verdict != guards.Warn
	case "stop":
		ok = rep.Verdict >= guards.Ask
		guard = ""
	default:
		ok = want == rep.Verdict.String()
	}
	if ok && (guard == "" || guard == name || rep.Verdict == guards.Pass) {
		return ""
	}
	text := fmt.Sprintf("got %s, want %s", got, expect)
	for i := range rep.Results {
		text += "\n  " + rep.Results[i].Reason(guards.InlineAllow)
	}
	return text
}
