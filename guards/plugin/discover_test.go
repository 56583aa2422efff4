package plugin

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sallyport/guards"
	"sallyport/internal/gitdir"
	"sallyport/internal/testenv"
	"sallyport/internal/trust"
)

func (b *bench) names() []string {
	var names []string
	for _, g := range b.load().Guards {
		names = append(names, g.Name)
	}
	return names
}

// trust records what stands in a directory, as a person would.
func (b *bench) trust(dir string) {
	b.t.Helper()
	files, problems, ok := ReadForeign(dir)
	repo, in := gitdir.Find(b.repo, nil)
	if !ok || !in || len(problems) > 0 {
		b.t.Fatalf("read %s: %v %v %v", dir, ok, in, problems)
	}
	if err := trust.In(b.opts.StateDir).Trust(trust.KeyOf(&repo, dir), files, time.Now()); err != nil {
		b.t.Fatal(err)
	}
}

func TestDirectoriesInOrder(t *testing.T) {
	b := newBench(t)
	beside := filepath.Join(b.home, "bin", "guards.d")
	env1, env2 := filepath.Join(b.home, "e1"), filepath.Join(b.home, "e2")
	own := ProjectGuards(b.repo)
	for dir, name := range map[string]string{b.guards: "a-user", own: "b-repo", beside: "c-beside", env1: "d-env", env2: "e-env"} {
		testenv.Write(t, filepath.Join(dir, name+".star"), neighbour)
		testenv.Write(t, filepath.Join(dir, "_"+name+".star"), neighbour)
		testenv.Write(t, filepath.Join(dir, "."+name+".star"), neighbour)
		testenv.Write(t, filepath.Join(dir, "README.md"), "no guard")
	}
	b.opts.Executable = filepath.Join(b.home, "bin", "agent-guard")
	testenv.Write(t, b.opts.Executable, "")
	b.opts.Environ = append(b.opts.Environ, "AGENT_GUARD_DIRS="+env1+string(os.PathListSeparator)+env1, "MAGPIE_GUARD_DIRS="+env2+string(os.PathListSeparator)+env1)
	if got, want := b.names(), []string{"a-user", "c-beside", "d-env", "e-env"}; !slices.Equal(got, want) {
		t.Errorf("before trust: %q, want %q", got, want)
	}
	b.trust(own)
	if got, want := b.names(), []string{"a-user", "b-repo", "c-beside", "d-env", "e-env"}; !slices.Equal(got, want) {
		t.Errorf("after trust: %q, want %q", got, want)
	}
	b.opts.Dir = filepath.Join(b.repo, "deep", "down")
	if err := os.MkdirAll(b.opts.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := b.names(); !slices.Contains(got, "b-repo") {
		t.Errorf("from a directory below: %q lacks b-repo", got)
	}
	link := filepath.Join(b.home, "link")
	if err := os.Symlink(b.opts.Dir, link); err == nil {
		b.opts.Dir = link
		if got := b.names(); !slices.Contains(got, "b-repo") {
			t.Errorf("through a symbolic link: %q lacks b-repo", got)
		}
	}
	if None(b.opts) {
		t.Error("None() with guards everywhere")
	}
	b.opts.Dir = b.home
	if got := b.names(); slices.Contains(got, "b-repo") {
		t.Errorf("outside the repository: %q has b-repo", got)
	}
	b.opts.Environ = append(b.opts.Environ, "CLAUDE_PROJECT_DIR="+b.repo)
	if got := b.names(); !slices.Contains(got, "b-repo") {
		t.Errorf("in a session that began in the repository: %q lacks b-repo", got)
	}
}

func TestNoneWithoutDirectories(t *testing.T) {
	b := newBench(t)
	if !None(b.opts) {
		t.Error("None() = false without a directory")
	}
	if s := b.load(); len(s.Guards)+len(s.Problems)+len(s.Untrusted) != 0 {
		t.Errorf("%+v", s)
	}
	testenv.Write(t, filepath.Join(ProjectGuards(b.repo), "x.toml"), "")
	if None(b.opts) {
		t.Error("None() = true beside a repository's guards")
	}
}

func TestARepositoryAddsNoCodeUntilItIsTrusted(t *testing.T) {
	b := newBench(t)
	own := ProjectGuards(b.repo)
	file := filepath.Join(own, "x.star")
	testenv.Write(t, file, neighbour)
	loaded := func(want bool, when string) {
		t.Helper()
		s := b.load()
		if got := len(s.Guards) == 1; got != want || (len(s.Untrusted) == 0) != want {
			t.Errorf("%s: %d guards, untrusted %v; want trusted %v", when, len(s.Guards), s.Untrusted, want)
		}
	}
	loaded(false, "cloned")
	b.trust(own)
	loaded(true, "trusted")
	testenv.Write(t, file, neighbour+"# more\n")
	loaded(false, "changed")
	testenv.Write(t, file, neighbour)
	loaded(true, "changed back")
	helper := filepath.Join(own, "_helper.py")
	testenv.Write(t, helper, "x = 1\n")
	loaded(false, "a file more, even one that is no guard")
	os.Remove(helper)
	loaded(true, "and away again")
	if err := os.Rename(file, filepath.Join(own, "y.star")); err != nil {
		t.Fatal(err)
	}
	loaded(false, "renamed")
	os.Rename(filepath.Join(own, "y.star"), file)
	if runtime.GOOS != "windows" {
		// The same content behind a link is not what was trusted.
		testenv.Write(t, filepath.Join(b.home, "x.star"), neighbour)
		os.Remove(file)
		if err := os.Symlink(filepath.Join(b.home, "x.star"), file); err != nil {
			t.Fatal(err)
		}
		loaded(false, "a link in place of the file")
		os.Remove(file)
		testenv.Write(t, file, neighbour)
		loaded(true, "the file again")
		os.Rename(own, own+".real")
		if err := os.Symlink(own+".real", own); err != nil {
			t.Fatal(err)
		}
		loaded(false, "a link in place of the directory")
		os.Remove(own)
		os.Rename(own+".real", own)
		loaded(true, "the directory again")
	}
	moved := b.repo + "-moved"
	if err := os.Rename(b.repo, moved); err != nil {
		t.Fatal(err)
	}
	b.repo, b.opts.Dir = moved, moved
	loaded(false, "moved to another place")
}

func TestLinkedWorktreesShareTrust(t *testing.T) {
	b := newBench(t)
	own := ProjectGuards(b.repo)
	testenv.Write(t, filepath.Join(own, "x.star"), neighbour)
	testenv.Git(t, b.repo, "add", ".")
	testenv.Git(t, b.repo, "commit", "-q", "-m", "guards")
	side := b.repo + "-side"
	testenv.Git(t, b.repo, "worktree", "add", "-q", "-b", "side", side)
	b.trust(own)
	b.opts.Dir = side
	if got := b.names(); len(got) != 1 {
		t.Errorf("in the linked worktree: %q, want x", got)
	}
	testenv.Write(t, filepath.Join(ProjectGuards(side), "x.star"), neighbour+"#\n")
	if got := b.names(); len(got) != 0 {
		t.Errorf("changed in the linked worktree: %q, want none", got)
	}
}

func TestVariablesCannotPointIntoTheProject(t *testing.T) {
	b := newBench(t)
	dir := filepath.Join(b.repo, "tools", "guards")
	testenv.Write(t, filepath.Join(dir, "x.star"), neighbour)
	b.opts.Environ = append(b.opts.Environ, "MAGPIE_GUARD_DIRS="+dir+string(os.PathListSeparator)+"tools/guards")
	s := b.load()
	if len(s.Guards) != 0 || !slices.Equal(s.Untrusted, []string{dir}) || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Text, "absolute") {
		t.Errorf("guards %d untrusted %q problems %v", len(s.Guards), s.Untrusted, s.Problems)
	}
	link := filepath.Join(b.home, "link")
	if err := os.Symlink(dir, link); err == nil {
		b.opts.Environ = append(b.opts.Environ, "MAGPIE_GUARD_DIRS="+link)
		if s := b.load(); len(s.Guards) != 0 || len(s.Untrusted) != 1 {
			t.Errorf("through a link: guards %d untrusted %q", len(s.Guards), s.Untrusted)
		}
	}
	b.opts.Environ = append(b.opts.Environ, "MAGPIE_GUARD_DIRS="+dir)
	b.trust(dir)
	if got := b.names(); !slices.Equal(got, []string{"x"}) {
		t.Errorf("trusted: %q, want x", got)
	}
}

func TestFilesThatDoNotCount(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions and pipes of Unix")
	}
	b := newBench(t).write("good.star", neighbour).write("big.star", strings.Repeat("#", maxFile+1)).write("open.star", neighbour)
	os.Chmod(filepath.Join(b.guards, "open.star"), 0o666)
	os.MkdirAll(filepath.Join(b.guards, "dir.star"), 0o755)
	os.Symlink("/dev/zero", filepath.Join(b.guards, "zero.star"))
	os.Symlink(filepath.Join(b.guards, "nowhere"), filepath.Join(b.guards, "dangling.star"))
	os.Symlink(filepath.Join(b.guards, "good.star"), filepath.Join(b.guards, "link.star"))
	makePipe(t, filepath.Join(b.guards, "pipe.star"))
	s := b.load()
	var problems []string
	for _, p := range s.Problems {
		problems = append(problems, filepath.Base(p.Path)+" "+p.Text)
	}
	want := []string{"big.star is larger than 256 KiB", "dangling.star cannot be read", "dir.star is no regular file", "open.star is writable by everyone; chmod o-w it", "pipe.star is no regular file", "zero.star is no regular file"}
	if !slices.Equal(problems, want) || len(s.Guards) != 2 {
		t.Errorf("problems\n got %q\nwant %q; %d guards, want good and link", problems, want, len(s.Guards))
	}
	os.Chmod(b.guards, 0o777)
	if s := b.load(); len(s.Guards) != 0 || len(s.Problems) != 1 {
		t.Errorf("in a directory for everyone: %d guards, %v", len(s.Guards), s.Problems)
	}
}

func TestNames(t *testing.T) {
	b := newBench(t)
	b.write("mention.py", neighbour).write("no_verify.star", neighbour).write("My Guard.star", neighbour).write("all.star", neighbour).
		write("a.toml", "name = \"mention\"\ntriggers = [\"git\"]\nreason = \"x\"\n").write("--.star", neighbour)
	want := []string{"guard", "my-guard", "mention-2", "all-2", "mention-3", "no-verify-2"}
	if got := b.names(); !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	// The bundled guard of that name still speaks, and so does the file.
	s := b.load()
	in := &guards.Input{Command: "git commit --no-verify -m x", Dir: b.repo, Getenv: b.opts.lookup, Levels: guards.Levels{User: map[string]guards.Level{"mention-2": guards.LevelOff}}}
	rep := guards.Run(in, append(guards.Bundled(), s.Guards...), nullWorld{})
	var spoke []string
	for i := range rep.Results {
		spoke = append(spoke, rep.Results[i].Guard.Name)
	}
	if !slices.Contains(spoke, "no-verify") || !slices.Contains(spoke, "no-verify-2") {
		t.Errorf("spoke: %q, want both no-verify and no-verify-2", spoke)
	}
	for in, want := range map[string]string{"A_b.c": "a-b-c", "": "", "--": "", "é": "", "x--y-": "x-y", strings.Repeat("a", 200): strings.Repeat("a", maxName)} {
		if got := guardName(in); got != want {
			t.Errorf("guardName(%q) = %q, want %q", in, got, want)
		}
	}
}

// nullWorld knows nothing.
type nullWorld struct{}

func (nullWorld) Git(guards.Place, ...string) (string, bool) { return "", false }
func (nullWorld) GH(guards.Place, ...string) (string, bool)  { return "", false }
func (nullWorld) GHAlias(string) (string, bool)              { return "", false }
func (nullWorld) ReadFile(string, int) ([]byte, bool)        { return nil, false }
func (nullWorld) Stat(string) guards.File                    { return guards.File{} }
func (nullWorld) Resolve(p string) string                    { return p }
func (nullWorld) Root(string) (string, bool)                 { return "", false }

func TestTriggers(t *testing.T) {
	rows := []struct {
		triggers, command string
		want              bool
	}{
		{`["git"]`, "git status", true},
		{`["git:commit"]`, "git -C x -c a=b commit -m m", true},
		{`["git:commit"]`, "git push", false},
		{`["git:commit"]`, "git -c alias.ci=commit ci -m m", true},
		{`["gh"]`, "gh api user", true},
		{`["gh:pr"]`, "gh -R o/r pr view 1", true},
		{`["gh:pr"]`, "gh issue view 1", false},
		{`["docker:run"]`, "docker --debug run x", true},
		{`["docker:run"]`, "docker ps", false},
		{`["make"]`, "sudo /usr/bin/make install", true},
		{`["*"]`, "whatever", true},
		{`[]`, "git status", true},
		{`[]`, "make", false},
		{`["git"] + []`, "git status", true},
		{`["make"] + []`, "git status", false},
		{`["git:push"] + []`, "git status", false},
		{`["git:push"] + []`, "git push", true},
	}
	for _, ext := range []string{"star", "py"} {
		if ext == "py" {
			needPython(t)
		}
		for _, row := range rows {
			b := newBench(t).write("x."+ext, "TRIGGERS = "+row.triggers+"\ndef guard(ctx):\n    return \"looked\"\n")
			want := guards.Pass
			if row.want {
				want = guards.Deny
			}
			if rep := b.judge(row.command); rep.Verdict != want {
				t.Errorf("%s: TRIGGERS = %s: %s = %v, want %v; %v", ext, row.triggers, row.command, rep.Verdict, want, Failures(b.opts.StateDir))
			}
		}
	}
}
