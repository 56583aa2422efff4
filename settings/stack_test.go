package settings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/internal/testenv"
)

const (
	on  = `{"sandbox":{"enabled":true}}`
	off = `{"sandbox":{"enabled":false}}`
)

// A place is a machine made for one test: a home, a repository in one of the
// layouts, and settings files.
type place struct {
	t    *testing.T
	vars map[string]string
	env  Env
}

// newPlace makes the directories that a layout has. $HOME, $CFG (the user
// directory), $MANAGED, $WORK (holds everything), $REPO and, where there is
// one, $WT stand for them in paths.
func newPlace(t *testing.T, layout string) *place {
	t.Helper()
	home := testenv.Isolate(t)
	work := testenv.Dir(t)
	p := &place{t: t, vars: map[string]string{
		"HOME": home, "CFG": filepath.Join(home, ".claude"), "WORK": work,
		"MANAGED": filepath.Join(work, "etc"), "REPO": filepath.Join(work, "repo"), "WT": filepath.Join(work, "wt"),
	}}
	repo, wt := p.vars["REPO"], p.vars["WT"]
	git := func(dir string, args ...string) { testenv.Git(t, dir, args...) }
	switch layout {
	case "", "plain":
		p.mkdir("$REPO/sub")
	case "repo":
		testenv.Repo(t, repo)
	case "worktree":
		testenv.Repo(t, repo)
		git(repo, "worktree", "add", "-q", wt, "-b", "wt")
	case "nested worktree":
		testenv.Repo(t, repo)
		p.vars["WT"] = filepath.Join(repo, ".claude", "worktrees", "wt")
		git(repo, "worktree", "add", "-q", p.vars["WT"], "-b", "wt")
	case "bare":
		testenv.Repo(t, filepath.Join(work, "origin"))
		git(work, "clone", "-q", "--bare", "origin", "repo/r.git")
		git(filepath.Join(repo, "r.git"), "worktree", "add", "-q", wt, "-b", "wt")
	case "bare in .git":
		testenv.Repo(t, filepath.Join(work, "origin"))
		git(work, "clone", "-q", "--bare", "origin", "repo/.git")
		git(filepath.Join(repo, ".git"), "worktree", "add", "-q", wt, "-b", "wt")
	case "submodule":
		testenv.Repo(t, filepath.Join(work, "origin"))
		testenv.Repo(t, repo)
		git(repo, "submodule", "add", "-q", filepath.Join(work, "origin"), "mod")
		p.mkdir("$REPO/mod/sub")
	case "submodule worktree":
		testenv.Repo(t, filepath.Join(work, "origin"))
		testenv.Repo(t, repo)
		git(repo, "submodule", "add", "-q", filepath.Join(work, "origin"), "mod")
		git(filepath.Join(repo, "mod"), "worktree", "add", "-q", wt, "-b", "wt")
	case "separate git dir":
		testenv.Repo(t, filepath.Join(work, "origin"))
		git(work, "clone", "-q", "--separate-git-dir", filepath.Join(work, "sep.git"), "origin", "repo")
		git(repo, "worktree", "add", "-q", wt, "-b", "wt")
	case "home repo":
		testenv.Repo(t, home)
		p.mkdir("$HOME/sub")
	case "moved worktree":
		testenv.Repo(t, repo)
		git(repo, "worktree", "add", "-q", filepath.Join(work, "old"), "-b", "wt")
		if err := os.Rename(filepath.Join(work, "old"), wt); err != nil {
			t.Fatal(err)
		}
	case "empty .git", "broken .git":
		testenv.Repo(t, repo)
		p.mkdir("$REPO/inner/sub")
		if layout == "empty .git" {
			p.mkdir("$REPO/inner/.git")
		} else {
			p.write("$REPO/inner/.git", "gitdir: /nowhere/at/all\n")
		}
	default:
		t.Fatalf("no layout %q", layout)
	}
	for _, dir := range []string{repo, p.vars["WT"]} {
		if _, err := os.Stat(dir); err == nil {
			if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.env = Env{
		GOOS: "linux", Home: home, ManagedDir: p.vars["MANAGED"],
		Getenv:     func(string) string { return "" },
		HasProgram: func(string) bool { return true },
		KernelFile: func(string) ([]byte, error) { return nil, os.ErrNotExist },
		Owned:      func(string) bool { return true },
		Policies:   func() []Policy { return nil },
	}
	return p
}

func (p *place) path(s string) string {
	return os.Expand(s, func(name string) string {
		v, ok := p.vars[name]
		if !ok {
			p.t.Fatalf("no variable %s", name)
		}
		return v
	})
}

func (p *place) mkdir(dir string) {
	p.t.Helper()
	if err := os.MkdirAll(p.path(dir), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) write(path, content string) {
	p.t.Helper()
	path = p.path(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

type files map[string]string

const (
	managedJSON  = "$MANAGED/managed-settings.json"
	userJSON     = "$CFG/settings.json"
	repoProject  = "$REPO/.claude/settings.json"
	repoLocal    = "$REPO/.claude/settings.local.json"
	subProject   = "$REPO/sub/.claude/settings.json"
	subLocal     = "$REPO/sub/.claude/settings.local.json"
	wtProject    = "$WT/.claude/settings.json"
	wtLocal      = "$WT/.claude/settings.local.json"
	wtSubLocal   = "$WT/sub/.claude/settings.local.json"
	wtSubProject = "$WT/sub/.claude/settings.json"
)

// TestWhoWins names, for every layout and scope, the value of sandbox.enabled
// and the file that decides. Rows marked "seen" were observed with the real
// client 2.1.332 (a sandboxed command shows which value won).
func TestWhoWins(t *testing.T) {
	tests := []struct {
		name    string
		layout  string
		files   files
		start   string // default $REPO
		version string
		args    []string
		change  func(*place, *Env)
		want    bool
		from    string // the deciding file; empty: nothing sets the key
		line    int    // default 1
	}{
		{name: "nothing set"},
		{name: "seen: user", layout: "repo", files: files{userJSON: on}, want: true, from: userJSON},
		{name: "seen: project over user", layout: "repo", files: files{userJSON: on, repoProject: off}, from: repoProject},
		{name: "seen: local over project", layout: "repo", files: files{repoProject: off, repoLocal: on}, want: true, from: repoLocal},
		{name: "seen: flag over local", layout: "repo", files: files{repoLocal: off}, args: []string{"--settings", on}, want: true, from: "--settings"},
		{name: "managed over flag", layout: "repo", files: files{managedJSON: on}, args: []string{"--settings", off}, want: true, from: managedJSON},
		{name: "all five scopes", layout: "repo",
			files: files{managedJSON: on, repoLocal: off, repoProject: off, userJSON: off}, args: []string{"--settings", off}, want: true, from: managedJSON},

		// Managed sources.
		{name: "drop-in over base", files: files{managedJSON: on, "$MANAGED/managed-settings.d/10.json": off}, from: "$MANAGED/managed-settings.d/10.json"},
		{name: "later drop-in over earlier", files: files{"$MANAGED/managed-settings.d/20.json": on, "$MANAGED/managed-settings.d/10.json": off},
			want: true, from: "$MANAGED/managed-settings.d/20.json"},
		{name: "hidden drop-in ignored", files: files{managedJSON: on, "$MANAGED/managed-settings.d/.99.json": off}, want: true, from: managedJSON},
		{name: "drop-in with another suffix ignored", files: files{managedJSON: on, "$MANAGED/managed-settings.d/99.json.bak": off}, want: true, from: managedJSON},
		{name: "drop-in without a base", files: files{"$MANAGED/managed-settings.d/1.json": on, userJSON: off}, want: true, from: "$MANAGED/managed-settings.d/1.json"},
		{name: "system policy over managed file", files: files{managedJSON: off}, want: true, from: "HKLM",
			change: policies(Policy{Name: "HKLM", JSON: []byte(on)})},
		{name: "first source that delivers a policy key counts alone", files: files{managedJSON: off, userJSON: on}, want: true, from: userJSON,
			change: policies(Policy{Name: "HKLM", JSON: []byte(`{"model":"m"}`)})},
		{name: "a source without a policy key delivers none", files: files{managedJSON: on, userJSON: off}, want: true, from: managedJSON,
			change: policies(Policy{Name: "HKLM", JSON: []byte(`{"$schema":"x"}`)})},
		{name: "merged managed sources", files: files{managedJSON: on, userJSON: off}, want: true, from: managedJSON,
			change: policies(Policy{Name: "HKLM", JSON: []byte(`{"managedSourcesBehavior":"merge"}`)})},
		{name: "merge is not known to older clients", version: "2.1.240", files: files{managedJSON: on, userJSON: off}, from: userJSON,
			change: policies(Policy{Name: "HKLM", JSON: []byte(`{"managedSourcesBehavior":"merge"}`)})},
		{name: "user registry only without anything above", files: files{managedJSON: off}, from: managedJSON,
			change: policies(Policy{Name: "HKCU", Weak: true, JSON: []byte(on)})},
		{name: "user registry", files: files{userJSON: off}, want: true, from: "HKCU",
			change: policies(Policy{Name: "HKCU", Weak: true, JSON: []byte(on)})},

		// The start directory.
		{name: "seen: root's local file from a subdirectory", layout: "repo", start: "$REPO/sub",
			files: files{repoLocal: on, subLocal: off}, want: true, from: repoLocal},
		{name: "seen: left-over local file alone", layout: "repo", start: "$REPO/sub", files: files{subLocal: on}, want: true, from: subLocal},
		{name: "left-over fills what the root's leaves open", layout: "repo", start: "$REPO/sub",
			files: files{repoLocal: `{"model":"m"}`, subLocal: on}, want: true, from: subLocal},
		{name: "left-over over project", layout: "repo", start: "$REPO/sub", files: files{subProject: off, subLocal: on}, want: true, from: subLocal},
		{name: "seen: root's project file unread from a subdirectory", layout: "repo", start: "$REPO/sub", files: files{repoProject: on}},
		{name: "start's project file", layout: "repo", start: "$REPO/sub", files: files{repoProject: off, subProject: on}, want: true, from: subProject},
		{name: "outside git only the start directory", layout: "plain", start: "$REPO/sub", files: files{repoLocal: on, repoProject: on}},
		{name: "outside git the start's own", layout: "plain", start: "$REPO/sub", files: files{subLocal: on}, want: true, from: subLocal},
		{name: "seen: user's local file unread", layout: "repo", files: files{"$CFG/settings.local.json": on}},
		{name: "seen: started in the home directory", layout: "plain", start: "$HOME", files: files{"$CFG/settings.local.json": on},
			want: true, from: "$CFG/settings.local.json"},
		{name: "seen: start inside .git", layout: "repo", start: "$REPO/.git", files: files{repoLocal: on}, want: true, from: repoLocal},
		{name: "start deleted", layout: "repo", start: "$REPO/gone", files: files{userJSON: on}, want: true, from: userJSON},

		// Linked worktrees and other layouts.
		{name: "seen: worktree, main's local file wins", layout: "worktree", start: "$WT", files: files{repoLocal: off, wtLocal: on}, from: repoLocal},
		{name: "seen: worktree, its own local file", layout: "worktree", start: "$WT", files: files{wtLocal: on}, want: true, from: wtLocal},
		{name: "seen: below a worktree's root, the root's local file unread", layout: "worktree", start: "$WT/sub", files: files{wtLocal: on}},
		{name: "below a worktree's root", layout: "worktree", start: "$WT/sub", files: files{repoLocal: on, wtSubLocal: off}, want: true, from: repoLocal},
		{name: "worktree, main's project file unread", layout: "worktree", start: "$WT", files: files{repoProject: on}},
		{name: "worktree, its own project file", layout: "worktree", start: "$WT", files: files{repoProject: off, wtProject: on}, want: true, from: wtProject},
		{name: "worktree below the main checkout", layout: "nested worktree", start: "$WT", files: files{repoLocal: on}, want: true, from: repoLocal},
		{name: "seen: moved worktree is a root of its own", layout: "moved worktree", start: "$WT/sub", files: files{repoLocal: off, wtLocal: on}, want: true, from: wtLocal},
		{name: "seen: bare clone, worktree's root unread", layout: "bare", start: "$WT/sub", files: files{wtLocal: on}},
		{name: "seen: bare clone, its parent unread", layout: "bare", start: "$WT/sub", files: files{repoLocal: on, "$REPO/r.git/.claude/settings.local.json": on}},
		{name: "seen: bare clone, start's own", layout: "bare", start: "$WT", files: files{wtLocal: on}, want: true, from: wtLocal},
		{name: "bare clone, start's project file", layout: "bare", start: "$WT/sub", files: files{wtSubProject: on, repoProject: off}, want: true, from: wtSubProject},
		{name: "seen: bare repository named .git, its parent is the root", layout: "bare in .git", start: "$WT/sub", files: files{repoLocal: on}, want: true, from: repoLocal},
		{name: "seen: bare repository named .git, worktree's root unread", layout: "bare in .git", start: "$WT/sub", files: files{wtLocal: on}},
		{name: "seen: submodule is a root", layout: "submodule", start: "$REPO/mod/sub", files: files{"$REPO/mod/.claude/settings.local.json": on},
			want: true, from: "$REPO/mod/.claude/settings.local.json"},
		{name: "seen: submodule, superproject unread", layout: "submodule", start: "$REPO/mod/sub", files: files{repoLocal: on}},
		{name: "seen: worktree of a submodule, submodule unread", layout: "submodule worktree", start: "$WT/sub", files: files{"$REPO/mod/.claude/settings.local.json": on}},
		{name: "seen: worktree of a submodule, its root unread", layout: "submodule worktree", start: "$WT/sub", files: files{wtLocal: on}},
		{name: "seen: separate git dir", layout: "separate git dir", start: "$REPO/sub", files: files{repoLocal: on}, want: true, from: repoLocal},
		{name: "seen: worktree of a separate git dir", layout: "separate git dir", start: "$WT/sub", files: files{repoLocal: on, wtLocal: on}},
		{name: "seen: .git that git refuses is a root", layout: "broken .git", start: "$REPO/inner/sub",
			files: files{"$REPO/inner/.claude/settings.local.json": on}, want: true, from: "$REPO/inner/.claude/settings.local.json"},
		{name: "seen: .git that git refuses hides the outer root", layout: "broken .git", start: "$REPO/inner/sub", files: files{repoLocal: on}},
		{name: "seen: empty .git directory is a root", layout: "empty .git", start: "$REPO/inner/sub",
			files: files{"$REPO/inner/.claude/settings.local.json": on}, want: true, from: "$REPO/inner/.claude/settings.local.json"},
		{name: "seen: empty .git directory hides the outer root", layout: "empty .git", start: "$REPO/inner/sub", files: files{repoLocal: on}},
		{name: "seen: start through a link", layout: "repo", start: "$WORK/link", files: files{repoLocal: on}, want: true, from: repoLocal,
			change: link("$REPO/sub", "$WORK/link")},
		{name: "seen: .claude is a link", layout: "repo", start: "$REPO/sub", files: files{"$WORK/dot/settings.local.json": on}, want: true, from: repoLocal,
			change: link("$WORK/dot", "$REPO/.claude")},
		{name: "seen: GIT_DIR does not count", layout: "repo", start: "$REPO/sub", files: files{repoLocal: on, "$WORK/other/.claude/settings.local.json": off},
			want: true, from: repoLocal, change: func(p *place, e *Env) {
				testenv.Repo(p.t, p.path("$WORK/other"))
				p.t.Setenv("GIT_DIR", p.path("$WORK/other/.git"))
				p.t.Setenv("GIT_WORK_TREE", p.path("$WORK/other"))
				e.Getenv = os.Getenv
			}},
		{name: "seen: GIT_CEILING_DIRECTORIES does not count", layout: "repo", start: "$REPO/sub", files: files{repoLocal: on}, want: true, from: repoLocal,
			change: func(p *place, e *Env) {
				p.t.Setenv("GIT_CEILING_DIRECTORIES", p.path("$REPO"))
				e.Getenv = os.Getenv
			}},

		// What keeps the client in the start directory.
		{name: "seen: root is the home directory", layout: "home repo", start: "$HOME/sub", files: files{"$CFG/settings.local.json": on}},
		{name: "Windows", layout: "repo", start: "$REPO/sub", files: files{repoLocal: on}, change: func(_ *place, e *Env) { e.GOOS = "windows" }},
		{name: "Windows, start's own", layout: "worktree", start: "$WT", files: files{repoLocal: off, wtLocal: on}, want: true, from: wtLocal,
			change: func(_ *place, e *Env) { e.GOOS = "windows" }},
		{name: "seen: foreign root", layout: "repo", start: "$REPO/sub", files: files{repoLocal: on}, change: foreign("$REPO")},
		{name: "seen: foreign .git", layout: "repo", start: "$REPO/sub", files: files{repoLocal: on}, change: foreign("$REPO/.git")},
		{name: "seen: foreign .claude", layout: "repo", start: "$REPO/sub", files: files{repoLocal: on}, change: foreign("$REPO/.claude")},
		{name: "seen: foreign file in an own .claude", layout: "repo", start: "$REPO/sub", files: files{repoLocal: on}, want: true, from: repoLocal,
			change: foreign(repoLocal)},
		{name: "foreign main checkout of a worktree", layout: "worktree", start: "$WT", files: files{repoLocal: on, wtLocal: off}, from: wtLocal, change: foreign("$REPO/.git")},
		{name: "before 2.1.211, subdirectory", layout: "repo", version: "2.1.210", start: "$REPO/sub", files: files{repoLocal: on}},
		{name: "before 2.1.211, worktree", layout: "worktree", version: "2.1.197", start: "$WT", files: files{repoLocal: off, wtLocal: on}, want: true, from: wtLocal},
		{name: "since 2.1.211", layout: "worktree", version: "2.1.211", start: "$WT", files: files{repoLocal: off, wtLocal: on}, from: repoLocal},
		{name: "a version that cannot be read is the newest", layout: "worktree", version: "nightly", start: "$WT", files: files{repoLocal: off, wtLocal: on}, from: repoLocal},

		// The user directory.
		{name: "CLAUDE_CONFIG_DIR", files: files{userJSON: off, "$WORK/cfg/settings.json": on}, want: true, from: "$WORK/cfg/settings.json",
			change: func(p *place, e *Env) { e.ConfigDir = p.path("$WORK/cfg") }},
		{name: "CLAUDE_CONFIG_DIR without a file", files: files{userJSON: on}, change: func(p *place, e *Env) { e.ConfigDir = p.path("$WORK/cfg") }},
		{name: "relative CLAUDE_CONFIG_DIR", files: files{"$REPO/cfg/settings.json": on}, want: true, from: "$REPO/cfg/settings.json",
			change: func(_ *place, e *Env) { e.ConfigDir = "cfg" }},

		// The client's command line.
		{name: "seen: the last --settings counts", files: files{}, args: []string{"--settings", on, "--settings", off}, from: "--settings"},
		{name: "seen: the last --settings counts, other way", files: files{}, args: []string{"--settings", off, "--settings", on}, want: true, from: "--settings"},
		{name: "seen: an empty --settings is none", files: files{}, args: []string{"--settings", on, "--settings", ""}},
		{name: "seen: --settings=JSON", files: files{}, args: []string{"--settings=" + on}, want: true, from: "--settings"},
		{name: "seen: blanks around the JSON", files: files{}, args: []string{"--settings", " " + on + " "}, want: true, from: "--settings"},
		{name: "seen: --settings file", files: files{"$REPO/f.json": "{\n \"sandbox\": {\n  \"enabled\": true\n }\n}\n"}, args: []string{"--settings", "f.json"},
			want: true, from: "$REPO/f.json", line: 3},
		{name: "seen: --project-config-root, project file", layout: "repo", files: files{repoProject: off, "$WORK/o/.claude/settings.json": on},
			args: []string{"--project-config-root", "$WORK/o"}, want: true, from: "$WORK/o/.claude/settings.json"},
		{name: "seen: --project-config-root, local file", files: files{repoLocal: off, "$WORK/o/.claude/settings.local.json": on},
			args: []string{"--project-config-root", "$WORK/o"}, want: true, from: "$WORK/o/.claude/settings.local.json"},
		{name: "seen: --project-config-root, start's files unread", files: files{repoProject: on, repoLocal: on}, args: []string{"--project-config-root", "$WORK/o"}},
		{name: "seen: --project-config-root, its repository's root unread", layout: "repo", files: files{repoLocal: on}, args: []string{"--project-config-root", "$REPO/sub"}, start: "$WORK"},
		{name: "--settings is the value of another option", files: files{}, args: []string{"--append-system-prompt", "--settings", on}},
		{name: "--settings after --", files: files{}, args: []string{"--", "--settings", on}},
		{name: "--settings inside a prompt", files: files{}, args: []string{"-p", "use --settings " + on}},
		{name: "--settings after a list", files: files{}, args: []string{"--allowedTools", "Bash", "Edit", "--settings", on}, want: true, from: "--settings"},
		{name: "seen: --settings after an optional value", files: files{}, args: []string{"-d", "--settings", on}, want: true, from: "--settings"},
		{name: "seen: --setting-sources leaves the project out", files: files{repoProject: on}, args: []string{"--setting-sources", "user"}},
		{name: "seen: --setting-sources leaves the user out", files: files{userJSON: on}, args: []string{"--setting-sources", "project"}},
		{name: "seen: --setting-sources leaves local out", files: files{repoLocal: on}, args: []string{"--setting-sources", "project"}},
		{name: "seen: --setting-sources with a blank", files: files{repoProject: on}, args: []string{"--setting-sources", "user, project"}, want: true, from: repoProject},
		{name: "seen: --setting-sources=", files: files{repoProject: on}, args: []string{"--setting-sources=user,local"}},
		{name: "seen: empty --setting-sources", files: files{userJSON: on}, args: []string{"--setting-sources", ""}},
		{name: "--setting-sources leaves managed in", files: files{managedJSON: on}, args: []string{"--setting-sources", ""}, want: true, from: managedJSON},
		{name: "--restricted", layout: "repo", files: files{userJSON: on, repoProject: on, repoLocal: on}, args: []string{"--restricted"}},
		{name: "seen: --safe-mode keeps the settings", files: files{userJSON: on}, args: []string{"--safe-mode"}, want: true, from: userJSON},
		{name: "seen: --bare keeps the settings", files: files{repoProject: on}, args: []string{"--bare"}, want: true, from: repoProject},

		// What a file must look like.
		{name: "seen: null falls through", files: files{userJSON: on, repoLocal: `{"sandbox":{"enabled":null}}`}, want: true, from: userJSON},
		{name: "seen: trailing comma drops the file", files: files{userJSON: on, repoLocal: `{"sandbox":{"enabled":false},}`}, want: true, from: userJSON},
		{name: "seen: comment drops the file", files: files{userJSON: on, repoLocal: "// off\n" + off}, want: true, from: userJSON},
		{name: "seen: byte order mark is passed over", files: files{userJSON: off, repoLocal: "\ufeff" + on}, want: true, from: repoLocal},
		{name: "seen: the last of two members counts", files: files{repoLocal: `{"sandbox":{"enabled":true},"sandbox":{"enabled":false}}`}, from: repoLocal},
		{name: "seen: a repeated object replaces", files: files{userJSON: on, repoLocal: `{"sandbox":{"enabled":false},"sandbox":{}}`}, want: true, from: userJSON},
		{name: "seen: invalid UTF-8 does no harm", files: files{repoLocal: "{\"x\":\"\xff\",\"sandbox\":{\"enabled\":true}}"}, want: true, from: repoLocal},
		{name: "seen: deep nesting does no harm", files: files{repoLocal: `{"x":` + strings.Repeat("[", 3000) + strings.Repeat("]", 3000) + `,"sandbox":{"enabled":true}}`},
			want: true, from: repoLocal},
		{name: "seen: empty file", files: files{userJSON: on, repoLocal: ""}, want: true, from: userJSON},
		{name: "seen: blank file", files: files{userJSON: on, repoLocal: " \n"}, want: true, from: userJSON},
		{name: "seen: not an object", files: files{userJSON: on, repoLocal: "[1]"}, want: true, from: userJSON},
		{name: "seen: a directory is no file", files: files{userJSON: on, repoLocal + "/x": ""}, want: true, from: userJSON},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t, tt.layout)
			for path, content := range tt.files {
				p.write(path, content)
			}
			if tt.change != nil {
				tt.change(p, &p.env)
			}
			for i, arg := range tt.args {
				if strings.HasPrefix(arg, "$") {
					tt.args[i] = p.path(arg)
				}
			}
			s := Session{Start: p.path("$REPO"), Version: tt.version, Args: tt.args, ArgsSeen: tt.args != nil, InClient: true}
			if tt.start != "" {
				s.Start = p.path(tt.start)
			}
			st := Load(s, p.env)
			got := st.Bool("sandbox.enabled")
			want := Value[bool]{}
			if tt.from != "" {
				want.Value, want.Set = tt.want, true
				want.Source.Path = p.path(tt.from)
				want.Source.Line = max(tt.line, 1)
			}
			if got.Value != want.Value || got.Set != want.Set || got.Source.Path != want.Source.Path || got.Source.Line != want.Source.Line {
				t.Errorf("sandbox.enabled = %t (set %t) from %s, want %t (set %t) from %s:%d\nfiles:\n%s",
					got.Value, got.Set, got.Source, want.Value, want.Set, want.Source.Path, want.Source.Line, describe(st))
			}
			state := st.Sandbox().State
			if wantState := map[bool]SandboxState{true: SandboxOn, false: SandboxOff}[want.Value]; tt.change == nil && state != wantState {
				t.Errorf("state = %v, want %v", state, wantState)
			}
		})
	}
}

func describe(st *Stack) string {
	var b strings.Builder
	for _, f := range st.Files() {
		fmt.Fprintf(&b, "  %v %s: %v %s\n", f.Scope, f.Path, f.Status, f.Reason)
	}
	return b.String()
}

func policies(list ...Policy) func(*place, *Env) {
	return func(_ *place, e *Env) { e.Policies = func() []Policy { return list } }
}

func link(target, name string) func(*place, *Env) {
	return func(p *place, _ *Env) {
		if err := os.Symlink(p.path(target), p.path(name)); err != nil {
			p.t.Skip("no symbolic links here")
		}
	}
}

func foreign(path string) func(*place, *Env) {
	return func(p *place, e *Env) {
		e.Owned = func(name string) bool { return name != p.path(path) }
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
