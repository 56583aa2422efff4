package projectroot

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"sallyport/internal/testenv"
	"sallyport/settings"
)

// A place is an account with a repository that ignores its local file.
type place struct {
	t       *testing.T
	home    string
	repo    string
	version string // of the client, "" if not known
	asked   int
}

func newPlace(t *testing.T) *place {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("paths and the choice of the file are those of Unix")
	}
	p := &place{t: t, home: testenv.Isolate(t)}
	for _, dir := range []string{".cache", ".local/bin"} {
		if err := os.MkdirAll(filepath.Join(p.home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.repo = testenv.Repo(t, filepath.Join(p.home, "src", "repo"))
	testenv.Write(t, filepath.Join(p.repo, ".gitignore"), "/.claude/settings.local.json\n")
	testenv.Git(t, p.repo, "add", ".gitignore")
	testenv.Git(t, p.repo, "commit", "-q", "-m", "ignore")
	return p
}

func (p *place) worktree(name string) string {
	dir := filepath.Join(p.home, "src", name)
	testenv.Git(p.t, p.repo, "worktree", "add", "-q", "--detach", dir)
	return dir
}

func (p *place) run(dir string, change ...func(*Options)) Report {
	o := Options{Dir: dir, Environ: os.Environ(), Managed: filepath.Join(p.home, "managed"),
		ClientVersion: func() string { p.asked++; return p.version }}
	for _, f := range change {
		f(&o)
	}
	return Run(o)
}

func all(o *Options)  { o.AllWorktrees = true }
func take(o *Options) { o.Remove = true }
func dry(o *Options)  { o.DryRun = true }
func look(o *Options) { o.Check = true }
func bare(o *Options) { o.NoToolPaths, o.NoWorkingDirs = true, true }

func file(l LocalFile) func(*Options) { return func(o *Options) { o.LocalFile = l } }

func localOf(root string) string { return filepath.Join(root, ".claude", "settings.local.json") }

// lists decodes the three lists of a local file.
func lists3(t *testing.T, root string) (readable, writable, working []string) {
	t.Helper()
	var doc struct {
		Sandbox struct {
			Filesystem struct{ AllowRead, AllowWrite []string }
		}
		Permissions struct{ AdditionalDirectories []string }
	}
	data, err := os.ReadFile(localOf(root))
	if os.IsNotExist(err) {
		return nil, nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", localOf(root), err, data)
	}
	return doc.Sandbox.Filesystem.AllowRead, doc.Sandbox.Filesystem.AllowWrite, doc.Permissions.AdditionalDirectories
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// actions says in one line what a report did and refused.
func (p *place) actions(r Report) string {
	var parts []string
	for _, f := range r.Files {
		rel, _ := filepath.Rel(filepath.Join(p.home, "src"), filepath.Dir(filepath.Dir(f.Path)))
		parts = append(parts, rel+" "+string(f.Action))
	}
	for _, problem := range r.Problems {
		rel, _ := filepath.Rel(filepath.Join(p.home, "src"), strings.TrimSuffix(problem.Path, "/.claude/settings.local.json"))
		parts = append(parts, "!"+rel)
	}
	return strings.Join(parts, ", ")
}

func (p *place) expect(r Report, want string, messages ...string) {
	p.t.Helper()
	if got := p.actions(r); got != want {
		p.t.Errorf("got %q, want %q\n%+v", got, want, r.Problems)
	}
	for _, m := range messages {
		if !strings.Contains(fmt.Sprint(r.Problems, r.Notes), m) {
			p.t.Errorf("problems and notes lack %q: %v", m, append(r.Notes, fmt.Sprint(r.Problems)))
		}
	}
}

func TestFirstAndSecondRun(t *testing.T) {
	p := newPlace(t)
	p.expect(p.run(filepath.Join(p.repo)), "repo new")
	readable, writable, working := lists3(t, p.repo)
	if want := []string{p.repo, p.home + "/.gitconfig", p.home + "/.cache", p.home + "/.local/bin"}; !slices.Equal(readable, want) {
		t.Errorf("allowRead %q, want %q", readable, want)
	}
	if want := []string{p.repo, p.home + "/.cache"}; !slices.Equal(writable, want) {
		t.Errorf("allowWrite %q, want %q", writable, want)
	}
	if want := []string{p.home + "/.config/sallyport", fmt.Sprintf("/tmp/claude-%d", os.Getuid())}; !slices.Equal(working, want) {
		t.Errorf("additionalDirectories %q, want %q", working, want)
	}
	if info, err := os.Stat(localOf(p.repo)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	before := text(t, localOf(p.repo))
	p.expect(p.run(p.repo), "repo same")
	if after := text(t, localOf(p.repo)); after != before {
		t.Errorf("a second run made\n%s\nof\n%s", after, before)
	}
	// From a directory below, and through a link.
	os.MkdirAll(filepath.Join(p.repo, "sub"), 0o755)
	os.Symlink(p.repo, filepath.Join(p.home, "link"))
	p.expect(p.run(filepath.Join(p.repo, "sub")), "repo same")
	p.expect(p.run(filepath.Join(p.home, "link", "sub")), "repo same")
	if p.asked != 0 {
		t.Errorf("the client was asked %d times for its version, where the answer does not matter", p.asked)
	}
}

// The case of the field: twice over a file with a rule of its own.
func TestAddRootTwice(t *testing.T) {
	p := newPlace(t)
	testenv.Write(t, localOf(p.repo), `{"permissions": {"allow": ["Bash(ls)"]}}`)
	p.run(p.repo)
	p.run(p.repo)
	readable, _, _ := lists3(t, p.repo)
	n := 0
	for _, path := range readable {
		if path == p.repo {
			n++
		}
	}
	if got := text(t, localOf(p.repo)); n != 1 || !strings.HasPrefix(got, `{"permissions": {"allow": ["Bash(ls)"], `) {
		t.Errorf("the root stands %d times in allowRead of\n%s", n, got)
	}
}

// Five worktrees, one with a broken file, one with a tracked one, twice.
func TestAllWorktrees(t *testing.T) {
	for _, which := range []LocalFile{Worktree, Main, Both} {
		t.Run(string(which), func(t *testing.T) {
			p := newPlace(t)
			var roots []string
			for _, name := range []string{"w1", "w2", "w3", "w4"} {
				roots = append(roots, p.worktree(name))
			}
			broken := "{\n  // mine\n}\n"
			testenv.Write(t, localOf(roots[1]), broken)
			tracked := "{\"tracked\": true}\n"
			testenv.Write(t, localOf(roots[2]), tracked)
			testenv.Git(t, roots[2], "add", "-f", ".claude/settings.local.json")
			for run := range 2 {
				action := []string{"new", "same"}[run]
				var want string
				switch which {
				case Worktree:
					want = "repo X, w1 X, w4 X, !w2, !w3"
				case Main:
					want = "repo X"
				case Both:
					want = "repo X, w1 X, w4 X, !w2, !w3"
				}
				r := p.run(roots[0], all, bare, file(which))
				p.expect(r, strings.ReplaceAll(want, "X", action))
				if which != Main {
					p.expect(r, p.actions(r), "line 2, column 3", "it is tracked by git")
				}
				if got := text(t, localOf(roots[1])); got != broken {
					t.Errorf("the broken file became %q", got)
				}
				if got := text(t, localOf(roots[2])); got != tracked {
					t.Errorf("the tracked file became %q", got)
				}
				everything := append([]string{p.repo}, roots...)
				mainWants, ownWants := everything, func(root string) []string { return []string{root} }
				if which == Worktree {
					mainWants = []string{p.repo}
				}
				if which == Main {
					ownWants = func(string) []string { return nil }
				}
				for _, root := range []string{p.repo, roots[0], roots[3]} {
					want := ownWants(root)
					if root == p.repo {
						want = mainWants
					}
					readable, writable, _ := lists3(t, root)
					if !slices.Equal(readable, want) || !slices.Equal(writable, want) {
						t.Errorf("run %d: %s lists %q and %q, want %q", run, root, readable, writable, want)
					}
				}
			}
		})
	}
}

func TestWorktreeIsGone(t *testing.T) {
	p := newPlace(t)
	p.worktree("w1")
	if err := os.RemoveAll(p.worktree("w2")); err != nil {
		t.Fatal(err)
	}
	p.expect(p.run(p.repo, all, file(Worktree)), "repo new, w1 new", "src/w2: git says it can be pruned")
}

func TestWhichFile(t *testing.T) {
	for version, want := range map[string]string{
		"2.1.210": "w1 new",
		"2.1.211": "repo new",
		"2.1.332": "repo new",
		"":        "repo new, w1 new",
	} {
		t.Run("client "+version, func(t *testing.T) {
			p := newPlace(t)
			p.version = version
			w := p.worktree("w1")
			r := p.run(w)
			p.expect(r, want)
			// What was written is what that client reads.
			if version != "" {
				stack := settings.Load(settings.Session{Start: w, Version: version}, settings.OSEnv(os.Getenv))
				for _, v := range stack.List(allowRead) {
					if v.Value == w && v.Source.Path == r.Files[0].Path {
						return
					}
				}
				t.Errorf("client %s does not read the root: %v", version, stack.List(allowRead))
			}
		})
	}
	t.Run("bare clone", func(t *testing.T) {
		p := newPlace(t)
		testenv.Git(t, p.home, "clone", "-q", "--bare", p.repo, "src/bare.git")
		w := filepath.Join(p.home, "src", "wb")
		testenv.Git(t, filepath.Join(p.home, "src/bare.git"), "worktree", "add", "-q", w, "main")
		p.version = "2.1.332"
		p.expect(p.run(w), "wb new")
		p.expect(p.run(filepath.Join(p.home, "src/bare.git"), all), "wb same")
		p.expect(p.run(w, file(Main)), "!wb", "no main checkout")
		p.expect(p.run(filepath.Join(p.home, "src/bare.git")), "!", "must be run in a work tree")
	})
	t.Run("bare repository named .git", func(t *testing.T) {
		p := newPlace(t)
		testenv.Git(t, p.home, "clone", "-q", "--bare", p.repo, "src/hub/.git")
		w := filepath.Join(p.home, "src/hub/wt")
		testenv.Git(t, filepath.Join(p.home, "src/hub"), "worktree", "add", "-q", w, "main")
		p.version = "2.1.332"
		p.expect(p.run(w), "hub new")
	})
	t.Run("submodule", func(t *testing.T) {
		p := newPlace(t)
		testenv.Git(t, p.repo, "submodule", "--quiet", "add", p.repo, "mod")
		p.expect(p.run(filepath.Join(p.repo, "mod")), "repo/mod new")
	})
}

func TestGitCommonDir(t *testing.T) {
	p := newPlace(t)
	w := p.worktree("w1")
	common := func(o *Options) { o.GitCommonDir, o.AllWorktrees, o.LocalFile = true, true, Worktree }
	p.expect(p.run(w, common, bare), "repo new, w1 new")
	readable, writable, _ := lists3(t, w)
	if want := []string{w, p.repo + "/.git"}; !slices.Equal(readable, want) || !slices.Equal(writable, want) {
		t.Errorf("the linked worktree lists %q, %q, want %q", readable, writable, want)
	}
	if readable, _, _ := lists3(t, p.repo); !slices.Equal(readable, []string{p.repo}) {
		t.Errorf("the main checkout lists %q", readable)
	}
	p.expect(p.run(w, take, file(Worktree)), "w1 removed")
}

// In a hook git exports the repository it works on.
func TestInsideAHook(t *testing.T) {
	p := newPlace(t)
	w := p.worktree("w1")
	other := testenv.Repo(t, filepath.Join(p.home, "src", "other"))
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_WORK_TREE", other)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other, ".git/index"))
	t.Setenv("GIT_PREFIX", "sub/")
	p.expect(p.run(w, file(Worktree)), "w1 new")
}

func TestStrangeNames(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{"with blank", "ünïcode", "new\nline", `quo"te\`, "-dash", "worktree x\n\nbare"} {
		w := p.worktree(name)
		if r := p.run(p.repo, all, bare, file(Worktree)); len(r.Problems) > 0 {
			t.Errorf("%q: %v", name, r.Problems)
		}
		if readable, _, _ := lists3(t, w); !slices.Equal(readable, []string{w}) {
			t.Errorf("%q lists %q", w, readable)
		}
	}
	star := p.worktree("st*r")
	r := p.run(star, file(Worktree))
	p.expect(r, "!st*r", "pattern")
	invalid := filepath.Join(p.home, "src", "\xff\xfe")
	if exec.Command("git", "-C", p.repo, "worktree", "add", "-q", "--detach", invalid).Run() == nil {
		if _, err := os.Stat(invalid); err == nil { // file systems differ
			p.expect(p.run(invalid, file(Worktree)), "!\xff\xfe", "not valid UTF-8")
		}
	}
}

// No repository can get a directory listed that is not its own.
func TestHostileRepository(t *testing.T) {
	p := newPlace(t)
	secret := filepath.Join(p.home, "secret")
	testenv.Write(t, filepath.Join(secret, "key"), "x")
	other := testenv.Repo(t, filepath.Join(p.home, "src", "other"))
	listed := func() (found []string) {
		filepath.WalkDir(p.home, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Name() == "settings.local.json" {
				found = append(found, path)
			}
			return nil
		})
		return found
	}
	for name, tree := range map[string]string{"a directory": secret, "another repository": other, "home": p.home, "the root": "/"} {
		t.Run("core.worktree is "+name, func(t *testing.T) {
			testenv.Git(t, p.repo, "config", "core.worktree", tree)
			defer testenv.Git(t, p.repo, "config", "--unset", "core.worktree")
			r := p.run(p.repo, bare, file(Both))
			if len(r.Files) > 0 || len(r.Problems) == 0 || len(listed()) > 0 {
				t.Errorf("files %v, problems %v", listed(), r.Problems)
			}
			// In git's list it is the directory that holds .git, and that is fine.
			p.run(p.repo, all, bare, file(Both))
			for _, path := range listed() {
				if path != localOf(p.repo) {
					t.Errorf("%s was written", path)
				}
				if readable, _, _ := lists3(t, p.repo); !slices.Equal(readable, []string{p.repo}) {
					t.Errorf("listed %q", readable)
				}
				os.Remove(path)
			}
		})
	}
	t.Run("a planted worktree", func(t *testing.T) {
		for i, tree := range []string{secret, other} {
			dir := filepath.Join(p.repo, ".git/worktrees", fmt.Sprint("x", i))
			testenv.Write(t, filepath.Join(dir, "gitdir"), tree+"/.git\n")
			testenv.Write(t, filepath.Join(dir, "commondir"), "../..\n")
			testenv.Write(t, filepath.Join(dir, "HEAD"), testenv.Git(t, p.repo, "rev-parse", "HEAD")+"\n")
		}
		testenv.Write(t, filepath.Join(secret, ".git"), "gitdir: "+other+"/.git\n")
		r := p.run(p.repo, all, bare, file(Both))
		p.expect(r, "repo new, !../secret, !other", "does not lead to this repository")
		if readable, _, _ := lists3(t, p.repo); !slices.Equal(readable, []string{p.repo}) {
			t.Errorf("lists %q", readable)
		}
	})
	t.Run("home is a repository", func(t *testing.T) {
		testenv.Git(t, p.home, "init", "-q")
		testenv.Write(t, filepath.Join(p.home, ".gitignore"), "*\n")
		p.expect(p.run(p.home), "!..", "whole home directory")
	})
	t.Run("configuration that runs programs", func(t *testing.T) {
		testenv.Git(t, p.repo, "config", "core.fsmonitor", "touch '"+p.home+"/pwned'; false")
		testenv.Git(t, p.repo, "config", "core.hooksPath", filepath.Join(p.home, "evil"))
		for _, hook := range []string{"post-index-change", "reference-transaction"} {
			testenv.Write(t, filepath.Join(p.home, "evil", hook), "#!/bin/sh\ntouch '"+p.home+"/pwned'\n")
			os.Chmod(filepath.Join(p.home, "evil", hook), 0o755)
		}
		p.run(p.repo, all)
		if _, err := os.Stat(filepath.Join(p.home, "pwned")); err == nil {
			t.Error("a program of the repository ran")
		}
	})
}

func TestRefusals(t *testing.T) {
	outside := func(p *place) string {
		dir := filepath.Join(p.home, "outside")
		os.MkdirAll(dir, 0o755)
		return dir
	}
	for _, tt := range []struct {
		why     string
		prepare func(p *place)
		want    string
		say     string
	}{
		{"not ignored", func(p *place) { os.Remove(filepath.Join(p.repo, ".gitignore")) }, "!repo", "add the line /.claude/settings.local.json to .gitignore"},
		{"tracked", func(p *place) {
			testenv.Write(p.t, localOf(p.repo), "{}\n")
			testenv.Git(p.t, p.repo, "add", "-f", ".claude/settings.local.json")
		}, "!repo", "git rm --cached"},
		{".claude is a link that leaves", func(p *place) { os.Symlink(outside(p), filepath.Join(p.repo, ".claude")) }, "!repo", "outside the worktree"},
		{"the file is a link that leaves", func(p *place) {
			testenv.Write(p.t, filepath.Join(outside(p), "x.json"), "{}\n")
			os.MkdirAll(filepath.Join(p.repo, ".claude"), 0o755)
			os.Symlink(filepath.Join(outside(p), "x.json"), localOf(p.repo))
		}, "!repo", "outside the worktree"},
		{"a link to a file that is tracked", func(p *place) {
			testenv.Write(p.t, filepath.Join(p.repo, "shared.json"), "{}\n")
			testenv.Git(p.t, p.repo, "add", "shared.json")
			os.MkdirAll(filepath.Join(p.repo, ".claude"), 0o755)
			os.Symlink("../shared.json", localOf(p.repo))
		}, "!repo", "tracked by git"},
		{"a link to a file that is not ignored", func(p *place) {
			testenv.Write(p.t, filepath.Join(p.repo, "shared.json"), "{}\n")
			os.MkdirAll(filepath.Join(p.repo, ".claude"), 0o755)
			os.Symlink("../shared.json", localOf(p.repo))
		}, "!repo", "add the line /shared.json"},
		{"a link into git's directory", func(p *place) {
			testenv.Write(p.t, filepath.Join(p.repo, ".git/x.json"), "{}\n")
			os.MkdirAll(filepath.Join(p.repo, ".claude"), 0o755)
			os.Symlink("../.git/x.json", localOf(p.repo))
		}, "!repo", "git's own directory"},
		{"a link that leads nowhere", func(p *place) {
			os.MkdirAll(filepath.Join(p.repo, ".claude"), 0o755)
			os.Symlink("nowhere", localOf(p.repo))
		}, "!repo", "leads nowhere"},
		{"a link to an ignored file inside", func(p *place) {
			testenv.Write(p.t, filepath.Join(p.repo, "mine.json"), "{}\n")
			testenv.Write(p.t, filepath.Join(p.repo, ".git/info/exclude"), "mine.json\n")
			os.MkdirAll(filepath.Join(p.repo, ".claude"), 0o755)
			os.Symlink("../mine.json", localOf(p.repo))
		}, "repo changed", ""},
		{".claude is a link to an ignored directory inside", func(p *place) {
			testenv.Write(p.t, filepath.Join(p.repo, ".git/info/exclude"), "/mine/\n")
			os.MkdirAll(filepath.Join(p.repo, "mine"), 0o755)
			os.Symlink("mine", filepath.Join(p.repo, ".claude"))
		}, "repo new", ""},
		{".claude is a file", func(p *place) { testenv.Write(p.t, filepath.Join(p.repo, ".claude"), "x") }, "!repo", "not a directory"},
		{"the file is a directory", func(p *place) { os.MkdirAll(localOf(p.repo), 0o755) }, "!repo", "not a regular file"},
		{"a comment", func(p *place) { testenv.Write(p.t, localOf(p.repo), "{\n// x\n}") }, "!repo", "line 2, column 1"},
		{"half a file", func(p *place) { testenv.Write(p.t, localOf(p.repo), `{"a": [`) }, "!repo", "line 1"},
		{"a byte order mark", func(p *place) { testenv.Write(p.t, localOf(p.repo), "\xef\xbb\xbf{}") }, "!repo", "byte order mark"},
		{"a name twice", func(p *place) { testenv.Write(p.t, localOf(p.repo), `{"sandbox": {}, "sandbox": {}}`) }, "!repo", "twice"},
		{"an array", func(p *place) { testenv.Write(p.t, localOf(p.repo), `[]`) }, "!repo", "an array"},
		{"deep", func(p *place) { testenv.Write(p.t, localOf(p.repo), strings.Repeat("[", 1<<20)) }, "!repo", "column"},
		{"allowRead is a string", func(p *place) {
			testenv.Write(p.t, localOf(p.repo), `{"sandbox": {"filesystem": {"allowRead": "x"}}}`)
		}, "!repo", "/sandbox/filesystem/allowRead is a string"},
		{"allowWrite is an object", func(p *place) {
			testenv.Write(p.t, localOf(p.repo), `{"sandbox": {"filesystem": {"allowWrite": {"-": 1}}}}`)
		}, "!repo", "/sandbox/filesystem/allowWrite is an object"},
		{"sandbox is null", func(p *place) { testenv.Write(p.t, localOf(p.repo), `{"sandbox": null}`) }, "!repo", "/sandbox is null"},
		{"an empty file", func(p *place) { testenv.Write(p.t, localOf(p.repo), "") }, "repo changed", ""},
		{"permissions is no object, and not needed", func(p *place) { testenv.Write(p.t, localOf(p.repo), `{"permissions": 1}`) }, "!repo", "/permissions is a number"},
		{"no repository", func(p *place) { os.RemoveAll(filepath.Join(p.repo, ".git")) }, "!", "not a git repository"},
		{"no git", func(p *place) { p.t.Setenv("PATH", "/nowhere") }, "!", "git is not on PATH"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p := newPlace(t)
			tt.prepare(p)
			snapshot := func() string {
				var b strings.Builder
				filepath.WalkDir(filepath.Join(p.home, "src"), func(path string, d os.DirEntry, err error) error {
					if err == nil && d.Type().IsRegular() && !strings.Contains(path, "/.git/index") {
						fmt.Fprintf(&b, "%s %q\n", path, text(t, path))
					} else if err == nil {
						fmt.Fprintln(&b, path)
					}
					return nil
				})
				return b.String()
			}
			before := snapshot()
			r := p.run(p.repo)
			p.expect(r, tt.want, tt.say)
			if strings.HasPrefix(tt.want, "!") && snapshot() != before {
				t.Errorf("something was written:\n%s\nbefore\n%s", snapshot(), before)
			}
		})
	}
}

func TestForeignAndReadOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Run("owned by somebody else", func(t *testing.T) {
			p := newPlace(t)
			if err := os.Chown(filepath.Join(p.repo, ".git"), 12345, 12345); err != nil {
				t.Skip(err)
			}
			os.Chown(p.repo, 12345, 12345)
			r := p.run(p.repo)
			p.expect(r, "!", "dubious ownership")
		})
		t.Run("the file is somebody else's", func(t *testing.T) {
			p := newPlace(t)
			testenv.Write(t, localOf(p.repo), "{}")
			if err := os.Chown(localOf(p.repo), 12345, 12345); err != nil {
				t.Skip(err)
			}
			p.expect(p.run(p.repo), "!repo", "belongs to another user")
		})
		return
	}
	t.Run("a directory that cannot be written", func(t *testing.T) {
		p := newPlace(t)
		if err := os.Chmod(p.repo, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(p.repo, 0o755)
		p.expect(p.run(p.repo), "!repo", "in a terminal of your own")
	})
}

// A grant that the client would ignore is not written.
func TestUserFileDeniesReading(t *testing.T) {
	user := func(p *place) string { return filepath.Join(p.home, ".claude", "settings.json") }
	for _, tt := range []struct {
		why, user, managed, project, version string
		want                                 string
	}{
		{"the user denies home", `{"sandbox": {"filesystem": {"denyRead": ["~/"]}}}`, "", "", "", "!repo"},
		{"and the client is new", `{"sandbox": {"filesystem": {"denyRead": ["~/"]}}}`, "", "", "2.1.332", "!repo"},
		{"and the client is old", `{"sandbox": {"filesystem": {"denyRead": ["~/"]}}}`, "", "", "2.1.210", "repo new"},
		{"and grants the place", `{"sandbox": {"filesystem": {"denyRead": ["~/"], "allowRead": ["~/src"]}}}`, "", "", "", "repo new"},
		{"and grants another", `{"sandbox": {"filesystem": {"denyRead": ["~/"], "allowRead": ["~/other", "~/src/repo2", "/"]}}}`, "", "", "", "!repo"},
		{"the user denies another place", `{"sandbox": {"filesystem": {"denyRead": ["~/.ssh", "~/src/repo/secret"]}}}`, "", "", "", "repo new"},
		{"the administrator denies home", "", `{"sandbox": {"filesystem": {"denyRead": ["~/"]}}}`, "", "", "!repo"},
		{"both, the project too", `{"sandbox": {"filesystem": {"denyRead": ["~/"]}}}`, "", `{"sandbox": {"filesystem": {"denyRead": ["~/"]}}}`, "", "!repo"},
		{"the project denies home", "", "", `{"sandbox": {"filesystem": {"denyRead": ["~/"]}}}`, "", "repo new"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p := newPlace(t)
			p.version = tt.version
			for path, text := range map[string]string{
				user(p): tt.user,
				filepath.Join(p.home, "managed", "managed-settings.json"): tt.managed,
				filepath.Join(p.repo, ".claude", "settings.json"):         tt.project,
			} {
				if text != "" {
					testenv.Write(t, path, text)
				}
			}
			r := p.run(p.repo)
			p.expect(r, tt.want)
			if strings.HasPrefix(tt.want, "!") {
				p.expect(r, tt.want, "denies reading ~/", fmt.Sprintf("%q in sandbox.filesystem.allowRead", p.repo), "agent-iso")
			}
		})
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	p := newPlace(t)
	r := p.run(p.repo, dry)
	p.expect(r, "repo new")
	if _, err := os.Lstat(filepath.Join(p.repo, ".claude")); err == nil {
		t.Error(".claude was made")
	}
	if _, err := os.Lstat(filepath.Join(p.home, ".local/state")); err == nil {
		t.Error("state was written")
	}
	if len(r.Files[0].New) == 0 || len(r.Files[0].Old) != 0 {
		t.Errorf("old %q, new %q", r.Files[0].Old, r.Files[0].New)
	}
}

func TestCheck(t *testing.T) {
	p := newPlace(t)
	r := p.run(p.repo, look)
	p.expect(r, "repo missing")
	if len(r.Files[0].Added) != 8 {
		t.Errorf("missing %v, want 8 entries", r.Files[0].Added)
	}
	p.run(p.repo)
	p.expect(p.run(p.repo, look), "repo same")
	w := p.worktree("w1")
	p.version = "2.1.332"
	p.expect(p.run(w, look), "repo missing")
	p.run(w)
	p.expect(p.run(w, look), "repo same")
}

// What a removal leaves is what there was.
func TestRemove(t *testing.T) {
	for _, before := range []string{
		"",
		"{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls)\"]\n  }\n}\n",
		"{\"sandbox\":{\"enabled\":true,\"filesystem\":{\"allowRead\":[\"/mine\"],\"denyRead\":[]}},\"n\":1.0}",
		"{\n\t\"sandbox\": {\n\t\t\"filesystem\": {\n\t\t\t\"allowRead\": [\n\t\t\t\t\"/mine\"\n\t\t\t]\n\t\t}\n\t}\n}",
	} {
		p := newPlace(t)
		if before != "" {
			testenv.Write(t, localOf(p.repo), before)
		}
		p.run(p.repo)
		r := p.run(p.repo, take)
		if before == "" {
			p.expect(r, "repo removed")
			if _, err := os.Lstat(filepath.Join(p.repo, ".claude")); err == nil {
				t.Error(".claude is left")
			}
		} else if got := text(t, localOf(p.repo)); got != before {
			t.Errorf("after adding and removing\n%s\nwant\n%s", got, before)
		}
		r = p.run(p.repo, take)
		p.expect(r, p.actions(r))
		if len(r.Files) != 1 || r.Files[0].Action != Same {
			t.Errorf("a second removal: %v", r.Files)
		}
	}
	t.Run("what others share stays", func(t *testing.T) {
		p := newPlace(t)
		p.version = "2.1.332"
		w := p.worktree("w1")
		p.run(p.repo, all)
		p.expect(p.run(w, take), "repo changed")
		readable, writable, working := lists3(t, p.repo)
		if !slices.Contains(readable, p.home+"/.cache") || slices.Contains(readable, w) || !slices.Contains(readable, p.repo) || slices.Contains(writable, w) || len(working) != 2 {
			t.Errorf("left: %q, %q, %q", readable, writable, working)
		}
		p.expect(p.run(p.repo, take, all), "repo removed")
	})
}

func TestPrune(t *testing.T) {
	p := newPlace(t)
	testenv.Write(t, localOf(p.repo), fmt.Sprintf(`{"sandbox": {"filesystem": {
  "allowRead": ["/gone/one", %[1]q, "/gone/read-only", "~/.cache", "relative", "/gone/glob*", %[2]q],
  "allowWrite": ["/gone/one/", %[1]q, "/gone/glob*", "relative", %[2]q]
}}}`, p.home, filepath.Join(p.home, ".local/share/uv")))
	p.expect(p.run(p.repo, bare, func(o *Options) { o.Prune = true }), "repo changed")
	readable, writable, _ := lists3(t, p.repo)
	if want := []string{p.home, "/gone/read-only", "~/.cache", "relative", "/gone/glob*", p.home + "/.local/share/uv", p.repo}; !slices.Equal(readable, want) {
		t.Errorf("allowRead %q, want %q", readable, want)
	}
	if want := []string{p.home, "/gone/glob*", "relative", p.home + "/.local/share/uv", p.repo}; !slices.Equal(writable, want) {
		t.Errorf("allowWrite %q, want %q", writable, want)
	}
	t.Run("a locked worktree may be on a drive that is not there", func(t *testing.T) {
		p := newPlace(t)
		w := p.worktree("w1")
		p.run(p.repo, all, bare, file(Main))
		testenv.Git(t, p.repo, "worktree", "lock", w)
		if err := os.RemoveAll(w); err != nil {
			t.Fatal(err)
		}
		p.expect(p.run(p.repo, bare, func(o *Options) { o.Prune = true }), "repo same")
	})
}

func TestUselessPattern(t *testing.T) {
	p := newPlace(t)
	testenv.Write(t, localOf(p.repo), `{"permissions": {"additionalDirectories": ["/tmp/claude-*"]}}`)
	p.expect(p.run(p.repo), "repo changed", `"/tmp/claude-*"`)
}

func TestSlashAtTheEnd(t *testing.T) {
	p := newPlace(t)
	testenv.Write(t, localOf(p.repo), fmt.Sprintf(`{"sandbox": {"filesystem": {"allowRead": [%q], "allowWrite": [%q]}}}`, p.repo+"/", p.repo))
	p.expect(p.run(p.repo, bare), "repo same")
}

func TestWithoutHome(t *testing.T) {
	p := newPlace(t)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(p.home, ".gitconfig"))
	t.Setenv("HOME", "")
	p.expect(p.run(p.repo), "repo new", "HOME is not set")
	readable, _, working := lists3(t, p.repo)
	if !slices.Equal(readable, []string{p.repo}) || len(working) > 0 {
		t.Errorf("lists %q, %q", readable, working)
	}
}

// Many at once, as hooks of parallel agents are: every root is there, once.
func TestConcurrent(t *testing.T) {
	p := newPlace(t)
	var roots []string
	for i := range 6 {
		roots = append(roots, p.worktree(fmt.Sprint("w", i)))
	}
	var wg sync.WaitGroup
	for _, root := range append(roots, roots...) {
		wg.Go(func() {
			o := Options{Dir: root, Environ: os.Environ(), LocalFile: Main, Managed: p.home, NoToolPaths: true, NoWorkingDirs: true}
			if r := Run(o); len(r.Problems) > 0 {
				t.Errorf("%s: %v", root, r.Problems)
			}
		})
	}
	wg.Wait()
	readable, writable, _ := lists3(t, p.repo)
	slices.Sort(readable)
	slices.Sort(writable)
	if !slices.Equal(readable, roots) || !slices.Equal(writable, roots) {
		t.Errorf("listed %q and %q, want %q", readable, writable, roots)
	}
}

func TestParseWorktrees(t *testing.T) {
	out := "worktree /a b\nHEAD 1\nbranch refs/heads/main\n\nworktree /bare\nbare\n\nworktree /gone\nHEAD 2\ndetached\nprunable gitdir file points to non-existent location\nlocked why\n\n"
	want := []record{{path: "/a b"}, {path: "/bare", bare: true}, {path: "/gone", prunable: true, locked: true}}
	for _, end := range []byte{'\n', 0} {
		text := strings.ReplaceAll(out, "\n", string(end))
		if got := parseWorktrees([]byte(text), end); runtime.GOOS != "windows" && !slices.Equal(got, want) {
			t.Errorf("parseWorktrees(%q) = %+v, want %+v", text, got, want)
		}
	}
}

func FuzzParseWorktrees(f *testing.F) {
	f.Add([]byte("worktree /a\x00HEAD 1\x00\x00worktree /b\x00bare\x00\x00"), byte(0))
	f.Add([]byte("bare\n\nworktree \nworktree /x\n"), byte('\n'))
	f.Fuzz(func(t *testing.T, out []byte, end byte) {
		for _, r := range parseWorktrees(out, end) {
			if r.path == "" || strings.Contains(filepath.ToSlash(r.path), string(rune(end))) && end < 0x80 && end != '/' && end != '\\' {
				t.Errorf("a record with the path %q", r.path)
			}
		}
	})
}
