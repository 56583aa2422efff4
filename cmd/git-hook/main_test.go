package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sallyport/internal/githooks"
	"sallyport/internal/testenv"
)

// program is the real thing, built once.
var program = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "git-hook-test")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "git-hook")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return os.ReadFile(file)
})

// need builds the program before the test gets a home of its own, which would
// hide Go's caches.
func need(t *testing.T) []byte {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the hooks of these tests are shell scripts")
	}
	for _, tool := range []string{"go", "git", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	data, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// share installs the shared directory in a home directory, and names it in the
// global configuration.
func share(t *testing.T, home string, binary []byte) (dir string) {
	t.Helper()
	dir = filepath.Join(home, ".claude", "git-hooks")
	testenv.Write(t, filepath.Join(dir, githooks.Program), string(binary))
	if err := os.Chmod(filepath.Join(dir, githooks.Program), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(githooks.Names, githooks.FrequentNames) {
		if err := os.Symlink(githooks.Program, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	testenv.Git(t, home, "config", "--global", "core.hooksPath", dir)
	return dir
}

func script(t *testing.T, path, text string) string {
	t.Helper()
	testenv.Write(t, path, text)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// recorder notes everything that a hook can see, and fails if it is told to.
const recorder = `#!/bin/sh
name=${0##*/}
{
	printf 'hook %s in %s\n' "$name" "$(pwd)"
	for arg in "$@"; do printf ' arg <%s>\n' "$arg"; done
	env | grep '^GIT_' | grep -v -e '^GIT_EXEC_PATH=' -e '^GIT_CONFIG_NOSYSTEM=' -e _DATE= | LC_ALL=C sort | sed 's/^/ env /'
	case $name in
	pre-push | pre-receive | post-receive | post-rewrite | reference-transaction) sed 's/^/ in  /' ;;
	esac
	# The hook is in the place that git's own commands see.
	printf ' repo %s\n' "$(git rev-parse --absolute-git-dir)"
} >>"$HOOK_LOG"
case $name in commit-msg) echo "Checked-by: hook" >>"$1" ;; esac
if [ "$name" = "$FAIL" ]; then echo "$name says no" >&2; exit 3; fi
exit 0
`

// story uses git in every way that runs a hook.
const story = `
exec 2>&1
step() { echo "\$ $*"; "$@"; echo "= $?"; }
git config --global init.templateDir "$BASE/template"
step git init -q main; cd main
echo one >a; git add a; step git commit -q -m first
step git commit -q --amend -m again
step git checkout -q -b side; echo side >b; git add b; step git commit -q -m side
step git checkout -q main; echo two >>a; step git commit -q -a -m two
step git merge -q --no-edit side
step git checkout -q -b topic HEAD~1; echo t >t; git add t; step git commit -q -m topic
step git rebase -q side
step git switch -q main; step git checkout -q -- a
mkdir sub; (cd sub; echo s >s; git add s; step git commit -q -m sub)
git format-patch -q -1 side --stdout >../patch; step git checkout -q -b apply side~1; step git am -q ../patch
step git checkout -q main
step git worktree add -q ../linked -b linked; (cd ../linked; echo l >l; git add l; step git commit -q -m linked; step git checkout -q -b other)
cd ..; step git init -q --bare bare.git; cd main; step git push -q ../bare.git main side; step git push -q ../bare.git :side
cd ../bare.git; step git worktree add -q ../ofbare main; cd ../ofbare; echo o >o; git add o; step git commit -q -m ofbare
cd ..; step git clone -q bare.git clone; cd clone
git config receive.denyCurrentBranch updateInstead; cd ../main; step git push -q ../clone linked:main; cat ../clone/l
cd ../main; step git -c protocol.file.allow=always submodule --quiet add ../bare.git mod; cd mod; echo m >m; git add m; step git commit -q -m mod
cd ..; step git commit -q -m "add mod"
git repack -q; step git commit -q --allow-empty -m more; git repack -q; git config gc.autoPackLimit 1; step git gc -q --auto
step git hook run --ignore-missing sendemail-validate -- "x y" ''
cd ..; step git --git-dir=main/.git --work-tree=main commit -q --allow-empty -m outside
cd main; step git for-each-ref; git -C ../bare.git for-each-ref; git log --format=%B
exit 0
`

// opening sets a scene without any hook: two branches and a remote.
const opening = `
exec 2>&1
step() { echo "\$ $*"; "$@"; echo "= $?"; }
still() { git -c core.hooksPath=/dev/null "$@"; }
git config --global init.templateDir "$BASE/template"
still init -q main; cd main
echo one >a; still add a; still commit -q -m first
still checkout -q -b side; echo side >b; still add b; still commit -q -m side; still checkout -q main
echo two >>a; still commit -q -a -m two; still format-patch -q -1 side --stdout >../patch; still init -q --bare ../bare.git
`

const closing = `
git status --porcelain; git log --all --format='%H %B'; git -C ../bare.git for-each-ref; exit 0
`

// refusals say what to do for a hook to be started.
var refusals = []struct{ hooks, steps string }{
	{"applypatch-msg pre-applypatch post-applypatch", "step git am -q ../patch"},
	{"pre-commit prepare-commit-msg commit-msg post-commit", "step git commit -q --allow-empty -m x"},
	{"pre-merge-commit post-merge", "step git merge -q --no-edit side"},
	{"pre-rebase", "step git rebase -q side"},
	{"post-rewrite", "step git commit -q --amend -m y"},
	{"post-checkout", "step git checkout -q side; step git worktree add -q ../w; step git checkout -q -- b; step git clone -q . ../clone"},
	{"pre-push pre-receive update post-receive post-update", "step git push -q ../bare.git main side"},
	{"pre-auto-gc", "still repack -q; still commit -q --allow-empty -m more; still repack -q; git config gc.autoPackLimit 1; step git gc -q --auto; ls .git/objects/pack | wc -l"},
	{"sendemail-validate", "step git hook run sendemail-validate -- 'x y' ''"},
	{"reference-transaction", "step git branch new"},
	{"post-index-change", "echo z >z; step git add z"},
}

// told runs the story and returns what was printed and what hooks recorded.
func told(t *testing.T, binary []byte, story, fail string) string {
	home := testenv.Isolate(t)
	base := filepath.Join(home, "work")
	// A collection in the background would end sooner or later.
	testenv.Git(t, home, "config", "--global", "gc.autoDetach", "false")
	testenv.Git(t, home, "config", "--global", "maintenance.autoDetach", "false")
	for _, name := range slices.Concat(githooks.Names, githooks.FrequentNames) {
		script(t, filepath.Join(base, "template", "hooks", name), recorder)
	}
	if binary != nil {
		share(t, home, binary)
	}
	log := filepath.Join(home, "log")
	cmd := exec.Command("sh", "-c", story)
	cmd.Dir = base
	cmd.Env = append(os.Environ(), "BASE="+base, "HOOK_LOG="+log, "FAIL="+fail, "LC_ALL=C",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	noted, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	text := string(out) + "-- hooks\n" + string(noted)
	text = strings.ReplaceAll(text, home, "@HOME")
	// Whether git refreshes the index on the way depends on the clock.
	text = regexp.MustCompile(`(?m)^hook post-index-change in .*\n arg <0>\n arg <0>\n( env .*\n)* repo .*\n`).ReplaceAllString(text, "")
	return regexp.MustCompile(`(incoming-|GIT_AUTHOR_DATE=).*`).ReplaceAllString(text, "$1")
}

// With the shared directory every hook sees what it sees without it.
func TestLikeWithoutIt(t *testing.T) {
	binary := need(t)
	want, got := told(t, nil, story, ""), told(t, binary, story, "")
	if want != got {
		t.Errorf("with the shared directory:\n%s", firstDifference(want, got))
	}
	for _, name := range slices.Concat(githooks.Names, githooks.FrequentNames) {
		if !strings.Contains(want, "hook "+name+" in ") {
			t.Errorf("the story does not run %s", name)
		}
	}
	if took := strings.Count(got, "= 0\n"); took < 30 {
		t.Errorf("only %d steps of the story succeed", took)
	}
}

// Whichever hook refuses, git ends as it does without the shared directory.
func TestRefusals(t *testing.T) {
	binary := need(t)
	var tested []string
	for _, r := range refusals {
		for _, fail := range strings.Fields(r.hooks) {
			tested = append(tested, fail)
			t.Run(fail, func(t *testing.T) {
				text := opening + r.steps + closing
				want, got := told(t, nil, text, fail), told(t, binary, text, fail)
				if want != got {
					t.Errorf("with the shared directory:\n%s", firstDifference(want, got))
				}
				if !strings.Contains(want, fail+" says no") && !strings.Contains(want, "hook "+fail+" in ") {
					t.Errorf("%s was not started:\n%s", fail, want)
				}
			})
		}
	}
	slices.Sort(tested)
	if all := slices.Sorted(slices.Values(slices.Concat(githooks.Names, githooks.FrequentNames))); !slices.Equal(tested, all) {
		t.Errorf("tested %q, want %q", tested, all)
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < len(w) && i < len(g) && w[i] == g[i] {
		i++
	}
	around := func(s []string) string { return strings.Join(s[max(0, min(i-8, len(s))):min(i+4, len(s))], "\n") }
	return fmt.Sprintf("line %d\nwant\n%s\ngot\n%s", i+1, around(w), around(g))
}

// attempt runs a command that may fail.
func attempt(t *testing.T, dir string, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, msg bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), env...), &out, &msg
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), msg.String()
}

func TestWhichHookRuns(t *testing.T) {
	binary := need(t)
	tests := []struct {
		why     string
		prepare func(t *testing.T, repo, shared string)
		code    int    // of git commit
		say     string // on stderr, with SALLYPORT_HOOK_DEBUG=1
		same    bool   // git without the shared directory ends with the same code
	}{
		{"no hook", func(*testing.T, string, string) {}, 0, "nothing to run", true},
		{"a script that refuses", func(t *testing.T, repo, _ string) {
			script(t, filepath.Join(repo, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 3\n")
		}, 1, "run ", true},
		{"a hook without an interpreter line", func(t *testing.T, repo, _ string) {
			script(t, filepath.Join(repo, ".git/hooks/pre-commit"), "echo plain \"$0\" >&2; exit 5\n")
		}, 1, "plain ", true},
		{"not executable", func(t *testing.T, repo, _ string) {
			testenv.Write(t, filepath.Join(repo, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 3\n")
		}, 0, "is not executable, ignored", true},
		{"a sample", func(t *testing.T, repo, _ string) {
			script(t, filepath.Join(repo, ".git/hooks/pre-commit.sample"), "#!/bin/sh\nexit 3\n")
		}, 0, "nothing to run", true},
		{"a Windows name", func(t *testing.T, repo, _ string) {
			script(t, filepath.Join(repo, ".git/hooks/pre-commit.exe"), "#!/bin/sh\nexit 3\n")
		}, 0, "nothing to run", true},
		{"a link to the program itself", func(t *testing.T, repo, shared string) {
			os.MkdirAll(filepath.Join(repo, ".git/hooks"), 0o755)
			if err := os.Symlink(filepath.Join(shared, "pre-commit"), filepath.Join(repo, ".git/hooks/pre-commit")); err != nil {
				t.Fatal(err)
			}
		}, 0, "leads back here, ignored", false},
		{"the whole directory is a link to the shared one", func(t *testing.T, repo, shared string) {
			os.RemoveAll(filepath.Join(repo, ".git/hooks"))
			if err := os.Symlink(shared, filepath.Join(repo, ".git/hooks")); err != nil {
				t.Fatal(err)
			}
		}, 0, "leads back here, ignored", false},
		{"a copy of the program", func(t *testing.T, repo, shared string) {
			script(t, filepath.Join(repo, ".git/hooks/pre-commit"), string(binary))
		}, 0, "leads back here, ignored", false},
		{"a hook that calls the shared one", func(t *testing.T, repo, shared string) {
			script(t, filepath.Join(repo, ".git/hooks/pre-commit"), "#!/bin/sh\nexec '"+shared+"/pre-commit' \"$@\"\n")
		}, 0, "hooks started each other 5 times", false},
		{"a link to a hook", func(t *testing.T, repo, _ string) {
			script(t, filepath.Join(repo, "tool"), "#!/bin/sh\nexit 3\n")
			os.MkdirAll(filepath.Join(repo, ".git/hooks"), 0o755)
			if err := os.Symlink("../../tool", filepath.Join(repo, ".git/hooks/pre-commit")); err != nil {
				t.Fatal(err)
			}
		}, 1, "run ", true},
		{"a link that leads nowhere", func(t *testing.T, repo, _ string) {
			os.MkdirAll(filepath.Join(repo, ".git/hooks"), 0o755)
			if err := os.Symlink("nowhere", filepath.Join(repo, ".git/hooks/pre-commit")); err != nil {
				t.Fatal(err)
			}
		}, 0, "nothing to run", true},
		{"an interpreter that is not there", func(t *testing.T, repo, _ string) {
			script(t, filepath.Join(repo, ".git/hooks/pre-commit"), "#!/no/such/interpreter\n")
		}, 1, "cannot run ", true},
		{"killed by a signal", func(t *testing.T, repo, _ string) {
			script(t, filepath.Join(repo, ".git/hooks/pre-commit"), "#!/bin/sh\nkill -KILL $$\n")
		}, 1, "run ", true},
		{"the repository's own core.hooksPath, as husky sets it", func(t *testing.T, repo, _ string) {
			script(t, filepath.Join(repo, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n")
			script(t, filepath.Join(repo, ".husky/_/pre-commit"), "#!/bin/sh\necho husky >&2\nexit 3\n")
			testenv.Git(t, repo, "config", "core.hooksPath", ".husky/_")
		}, 1, "husky", true},
		{"hooks installed by a manager", func(t *testing.T, repo, _ string) {
			script(t, filepath.Join(repo, ".git/hooks/pre-commit"), "#!/bin/sh\n# File generated by prek\nHERE=\"$(cd \"$(dirname \"$0\")\" && pwd)\"\necho \"here=$HERE\" >&2\nexit 3\n")
		}, 1, "/.git/hooks\n", true},
		{"a file in the work tree is no hook", func(t *testing.T, repo, _ string) {
			script(t, filepath.Join(repo, "hooks/pre-commit"), "#!/bin/sh\nexit 3\n")
			script(t, filepath.Join(repo, "pre-commit"), "#!/bin/sh\nexit 3\n")
			testenv.Write(t, filepath.Join(repo, ".chain"), repo+"/hooks\n")
			testenv.Write(t, filepath.Join(repo, ".git/hooks/.chain"), repo+"/hooks\n")
		}, 0, "nothing to run", true},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			home := testenv.Isolate(t)
			repo := testenv.Repo(t, filepath.Join(home, "repo"))
			shared := share(t, home, binary)
			tt.prepare(t, repo, shared)
			commit := []string{"git", "commit", "--allow-empty", "-m", "x"}
			code, _, stderr := attempt(t, repo, []string{"SALLYPORT_HOOK_DEBUG=1"}, commit...)
			if code != tt.code || !strings.Contains(stderr, tt.say) {
				t.Errorf("git commit: exit %d, want %d; stderr wants %q:\n%s", code, tt.code, tt.say, stderr)
			}
			if !tt.same {
				return
			}
			testenv.Git(t, home, "config", "--global", "--unset", "core.hooksPath")
			if code, _, stderr := attempt(t, repo, nil, commit...); code != tt.code {
				t.Errorf("without the shared directory: exit %d, want %d as well\n%s", code, tt.code, stderr)
			}
		})
	}
}

// A hook's exit status and standard streams are passed through untouched.
func TestPrePushSeesEverything(t *testing.T) {
	binary := need(t)
	home := testenv.Isolate(t)
	repo := testenv.Repo(t, filepath.Join(home, "repo"))
	testenv.Git(t, home, "init", "-q", "--bare", "b r.git")
	share(t, home, binary)
	script(t, filepath.Join(repo, ".git/hooks/pre-push"), "#!/bin/sh\ncat >'"+home+"/stdin'\nprintf '%s\\n' \"$@\" >'"+home+"/argv'\nexit 7\n")
	testenv.Git(t, repo, "remote", "add", "there", "../b r.git")
	code, _, stderr := attempt(t, repo, nil, "git", "push", "there", "main")
	head := testenv.Git(t, repo, "rev-parse", "HEAD")
	wantIn := "refs/heads/main " + head + " refs/heads/main " + strings.Repeat("0", len(head)) + "\n"
	if got := read(t, home+"/stdin"); code != 1 || got != wantIn {
		t.Errorf("exit %d, stdin %q; want 1, %q\n%s", code, got, wantIn, stderr)
	}
	if got, want := read(t, home+"/argv"), "there\n../b r.git\n"; got != want {
		t.Errorf("argv %q, want %q", got, want)
	}
	if refs := testenv.Git(t, home+"/b r.git", "for-each-ref"); refs != "" {
		t.Errorf("the remote has %q", refs)
	}
	if code, _, _ := attempt(t, repo, nil, home+"/.claude/git-hooks/pre-push"); code != 7 {
		t.Errorf("the hook's own exit code arrives as %d, want 7", code)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestChain(t *testing.T) {
	binary := need(t)
	home := testenv.Isolate(t)
	repo := testenv.Repo(t, filepath.Join(home, "repo"))
	testenv.Git(t, home, "init", "-q", "--bare", "bare.git")
	shared := share(t, home, binary)
	log := filepath.Join(home, "log")
	note := func(who string, code int) string {
		return fmt.Sprintf("#!/bin/sh\necho %s \"$@\" \"$(cat)\" >>'%s'\nexit %d\n", who, log, code)
	}
	testenv.Write(t, filepath.Join(shared, githooks.ChainFile), filepath.Join(home, "old")+"\n")
	pushes := 0
	push := func() int {
		os.Remove(log)
		pushes++
		testenv.Git(t, repo, "commit", "-q", "--amend", "-m", fmt.Sprint(pushes))
		code, _, _ := attempt(t, repo, nil, "git", "push", "-q", "--force", "../bare.git", "HEAD:x", "HEAD:y")
		return code
	}
	old, own := filepath.Join(home, "old/pre-push"), filepath.Join(repo, ".git/hooks/pre-push")
	for _, tt := range []struct {
		why      string
		old, own int // exit codes, -1 without the hook
		want     int
		ran      []string
	}{
		{"neither", -1, -1, 0, nil},
		{"the old directory's alone", 0, -1, 0, []string{"old"}},
		{"the repository's alone", -1, 0, 0, []string{"own"}},
		{"both get the whole input", 0, 0, 0, []string{"old", "own"}},
		{"the old one refuses", 1, 0, 1, []string{"old"}},
		{"the repository's refuses", 0, 1, 1, []string{"old", "own"}},
		{"the old one alone refuses", 1, -1, 1, []string{"old"}},
	} {
		os.Remove(old)
		os.Remove(own)
		if tt.old >= 0 {
			script(t, old, note("old", tt.old))
		}
		if tt.own >= 0 {
			script(t, own, note("own", tt.own))
		}
		code := push()
		data, _ := os.ReadFile(log)
		var ran []string
		inputs := regexp.MustCompile(`(?m)^(old|own) `).Split(string(data), -1)[1:]
		for _, m := range regexp.MustCompile(`(?m)^(old|own) `).FindAllStringSubmatch(string(data), -1) {
			ran = append(ran, m[1])
		}
		if code != tt.want || !slices.Equal(ran, tt.ran) {
			t.Errorf("%s: exit %d, ran %q; want %d, %q", tt.why, code, ran, tt.want, tt.ran)
		}
		for _, in := range inputs {
			if in != inputs[0] || strings.Count(in, "HEAD ") != 2 {
				t.Errorf("%s: a hook was given %q", tt.why, in)
			}
		}
	}
	// No input is waited for where git gives none.
	script(t, filepath.Join(home, "old/post-checkout"), "#!/bin/sh\necho old\n")
	script(t, filepath.Join(repo, ".git/hooks/post-checkout"), "#!/bin/sh\necho own\nexit 5\n")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cmd := exec.Command(filepath.Join(shared, "post-checkout"), "a", "b", "0")
	cmd.Dir, cmd.Stdin = repo, r
	out, err := cmd.Output()
	if string(out) != "old\nown\n" || cmd.ProcessState.ExitCode() != 5 {
		t.Errorf("post-checkout printed %q, %v", out, err)
	}
	// A relative directory starts where git runs the hook, as git has it.
	testenv.Write(t, filepath.Join(shared, githooks.ChainFile), ".githooks\n")
	script(t, filepath.Join(repo, ".githooks/pre-commit"), "#!/bin/sh\nexit 4\n")
	if code, _, _ := attempt(t, filepath.Join(repo, ".git", ".."), nil, "git", "commit", "--allow-empty", "-m", "x"); code != 1 {
		t.Errorf("a relative chained directory: exit %d, want 1", code)
	}
}

// A new worktree, a clone and a switch are recorded; files and repositories
// without .claude are not; nothing of it can break a checkout.
func TestPostCheckoutRecords(t *testing.T) {
	binary := need(t)
	home := testenv.Isolate(t)
	repo := testenv.Repo(t, filepath.Join(home, "repo"))
	shared := share(t, home, binary)
	log := filepath.Join(home, "log")
	script(t, filepath.Join(shared, githooks.Recorder), "#!/bin/sh\necho \"$(pwd) $*\" >>'"+log+"'; echo noise; echo noise >&2; exit 9\n")
	ran := func() string {
		data, _ := os.ReadFile(log)
		os.Remove(log)
		return strings.ReplaceAll(string(data), home, "@")
	}
	git := func(dir string, args ...string) (int, string) {
		code, out, msg := attempt(t, dir, nil, append([]string{"git"}, args...)...)
		return code, out + msg
	}
	git(repo, "checkout", "-q", "-b", "early")
	if got := ran(); got != "" {
		t.Errorf("without .claude it ran: %q", got)
	}
	testenv.Write(t, filepath.Join(repo, ".claude/settings.json"), "{}\n")
	testenv.Git(t, repo, "add", ".claude")
	testenv.Git(t, repo, "commit", "-q", "-m", "claude")
	for _, tt := range []struct {
		dir  string
		args []string
		want string
	}{
		{repo, []string{"checkout", "-q", "--", "a.txt"}, ""},
		{repo, []string{"switch", "-q", "-c", "next"}, "@/repo --quiet\n"},
		{repo, []string{"worktree", "add", "-q", "../w"}, "@/w --quiet\n"},
		{home, []string{"clone", "-q", "repo", "clone"}, "@/clone --quiet\n"},
		{home, []string{"clone", "-q", "--no-checkout", "repo", "empty"}, ""},
		{filepath.Join(repo, ".claude"), []string{"switch", "-q", "early"}, "@/repo --quiet\n"},
	} {
		code, out := git(tt.dir, tt.args...)
		if got := ran(); code != 0 || got != tt.want || strings.Contains(out, "noise") {
			t.Errorf("git %q: exit %d, recorded %q, want %q; output %q", tt.args, code, got, tt.want, out)
		}
	}
	// A recorder that hangs is ended, with what it started.
	script(t, filepath.Join(shared, githooks.Recorder), "#!/bin/sh\nsleep 60 & echo $! >'"+log+"'; wait\n")
	start := time.Now()
	if code, out := git(repo, "switch", "-q", "next"); code != 0 {
		t.Errorf("exit %d\n%s", code, out)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("a recorder that hangs held the checkout up for %v", took)
	}
	pid := strings.TrimSpace(ran())
	if pid == "" {
		t.Fatal("the recorder did not start")
	}
	for deadline := time.Now().Add(10 * time.Second); exec.Command("kill", "-0", pid).Run() == nil && !zombie(pid); {
		if time.Now().After(deadline) {
			t.Fatalf("process %s of the recorder still runs", pid)
		}
		time.Sleep(20 * time.Millisecond)
	}
	// The local hook decides about the checkout's exit code.
	script(t, filepath.Join(shared, githooks.Recorder), "#!/bin/sh\n")
	script(t, filepath.Join(repo, ".git/hooks/post-checkout"), "#!/bin/sh\nexit 5\n")
	if code, _ := git(repo, "checkout", "-q", "early"); code == 0 {
		t.Error("a failing post-checkout did not fail the checkout")
	}
}

func zombie(pid string) bool {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && strings.Contains(string(data), ") Z ")
}

func TestShims(t *testing.T) {
	binary := need(t)
	home := testenv.Isolate(t)
	repo := testenv.Repo(t, filepath.Join(home, "repo"))
	shared := share(t, home, binary)
	testenv.Git(t, repo, "worktree", "add", "-q", "../linked")
	shimDir, real := filepath.Join(home, ".claude/bin"), filepath.Join(home, "real")
	os.MkdirAll(shimDir, 0o755)
	for _, name := range githooks.ShimNames() {
		if err := os.Symlink("../git-hooks/"+githooks.Program, filepath.Join(shimDir, name)); err != nil {
			t.Fatal(err)
		}
		script(t, filepath.Join(real, name), "#!/bin/sh\nfor a; do printf '<%s>' \"$a\"; done\necho \" hooksPath=$(git config core.hooksPath)\"\nexit 4\n")
	}
	// Not one that leads back, nor one that cannot run.
	decoy := filepath.Join(home, "decoy")
	os.MkdirAll(decoy, 0o755)
	os.Symlink(filepath.Join(shimDir, "prek"), filepath.Join(decoy, "prek"))
	testenv.Write(t, filepath.Join(decoy, "pre-commit"), "text")
	path := os.Getenv("PATH")
	t.Setenv("PATH", strings.Join([]string{shimDir, decoy, real, path}, string(filepath.ListSeparator)))
	git := filepath.Join(repo, ".git")
	for _, tt := range []struct {
		dir  string
		args []string
		want string
	}{
		{repo, []string{"prek", "install"}, "<install><--git-dir><" + git + "> hooksPath=" + shared},
		{home + "/linked", []string{"prek", "install", "-t", "pre push"}, "<install><--git-dir><" + git + "><-t><pre push> hooksPath=" + shared},
		{repo, []string{"prek", "install", "--git-dir", "x"}, "<install><--git-dir><x> hooksPath=" + shared},
		{repo, []string{"prek", "install", "--git-dir=x"}, "<install><--git-dir=x> hooksPath=" + shared},
		{repo, []string{"prek", "install", "--help"}, "<install><--help> hooksPath=" + shared},
		{repo, []string{"prek", "run", "install"}, "<run><install> hooksPath=" + shared},
		{repo, []string{"prek"}, " hooksPath=" + shared},
		{repo, []string{"prek", ""}, "<> hooksPath=" + shared},
		{home, []string{"prek", "install"}, "<install> hooksPath=" + shared},
		{repo, []string{"pre-commit", "install"}, "<install> hooksPath="},
		{repo, []string{"pre-commit", "run", "-a"}, "<run><-a> hooksPath=" + shared},
		{repo, []string{"lefthook", "install", "pre-push"}, "<install><--force><pre-push> hooksPath=" + git + "/hooks"},
		{home + "/linked", []string{"lefthook", "install", "-f"}, "<install><-f> hooksPath=" + git + "/hooks"},
		{repo, []string{"lefthook", "install", "-r"}, "<install><-r> hooksPath=" + shared},
		{repo, []string{"lefthook", "run", "pre-commit"}, "<run><pre-commit> hooksPath=" + shared},
		{repo, []string{filepath.Join(shimDir, "pre-commit"), "install"}, "<install> hooksPath="},
	} {
		code, stdout, stderr := attempt(t, tt.dir, nil, append([]string{"sh", "-c", `exec "$@"`, "sh"}, tt.args...)...)
		if code != 4 || stdout != tt.want+"\n" {
			t.Errorf("%q in %s: exit %d, %q, want 4, %q\n%s", tt.args, tt.dir, code, stdout, tt.want, stderr)
		}
	}
	// Configuration that the environment carries already stays.
	env := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=Env"}
	script(t, filepath.Join(real, "pre-commit"), "#!/bin/sh\ngit config user.name; git config core.hooksPath\n")
	if _, stdout, _ := attempt(t, repo, env, filepath.Join(shimDir, "pre-commit"), "install"); stdout != "Env\n\n" {
		t.Errorf("git's configuration from the environment: %q", stdout)
	}
	// Under its name as a hook it stays a hook.
	if code, stdout, stderr := attempt(t, repo, nil, filepath.Join(shared, "pre-commit")); code != 0 || stdout != "" {
		t.Errorf("the hook pre-commit: exit %d, %q\n%s", code, stdout, stderr)
	}
	t.Setenv("PATH", shimDir+string(filepath.ListSeparator)+decoy)
	code, _, stderr := attempt(t, repo, nil, filepath.Join(shimDir, "prek"), "install")
	if code != 127 || stderr != "prek-shim: could not locate the real 'prek' binary on PATH\n" {
		t.Errorf("without a real prek: exit %d, %q", code, stderr)
	}
	// Two copies of the program do not start each other for ever.
	script(t, filepath.Join(home, "copy", "prek"), string(binary))
	t.Setenv("PATH", shimDir+string(filepath.ListSeparator)+filepath.Join(home, "copy"))
	if code, _, _ := attempt(t, repo, nil, filepath.Join(shimDir, "prek"), "run"); code != 127 {
		t.Errorf("two shims: exit %d, want 127", code)
	}
}

// Reading git's files to find the hook is not slower than asking git would be,
// and much of what an empty hook costs is starting a process at all.
func TestCost(t *testing.T) {
	binary := need(t)
	if testing.Short() {
		t.Skip("measures time")
	}
	home := testenv.Isolate(t)
	repo := testenv.Repo(t, filepath.Join(home, "repo"))
	shared := share(t, home, binary)
	best := func(args ...string) time.Duration {
		least := time.Hour
		for range 40 {
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Dir = repo
			start := time.Now()
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			least = min(least, time.Since(start))
		}
		return least
	}
	hook, git := best(filepath.Join(shared, "reference-transaction"), "committed"), best("git", "rev-parse", "--git-common-dir")
	t.Logf("a hook without anything to run: %v; git rev-parse: %v", hook, git)
	if hook > 5*git {
		t.Errorf("a hook without anything to run takes %v, more than five times git rev-parse (%v)", hook, git)
	}
}

// In a sandbox that opens the shared directory and nothing else of the home
// directory, hooks run; without that git skips them in silence.
func TestSandbox(t *testing.T) {
	binary := need(t)
	home := testenv.Isolate(t)
	repo := testenv.Repo(t, filepath.Join(home, "repo"))
	shared := share(t, home, binary)
	script(t, filepath.Join(repo, ".git/hooks/pre-commit"), "#!/bin/sh\necho \"it ran\"\nexit 1\n")
	sandbox := func(open ...string) []string {
		args := []string{"bwrap", "--dev-bind", "/", "/", "--tmpfs", home, "--bind", repo, repo, "--ro-bind", home + "/.gitconfig", home + "/.gitconfig"}
		for _, dir := range open {
			args = append(args, "--ro-bind", dir, dir)
		}
		return append(args, "--chdir", repo)
	}
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bwrap is not installed")
	}
	if code, _, stderr := attempt(t, repo, nil, append(sandbox(), "true")...); code != 0 {
		t.Skipf("bwrap does not work here: %s", stderr)
	}
	commit := []string{"git", "commit", "--allow-empty", "-m", "x"}
	if code, _, stderr := attempt(t, repo, nil, append(sandbox(shared), commit...)...); code != 1 || !strings.Contains(stderr, "it ran") {
		t.Errorf("with the directory: exit %d\n%s", code, stderr)
	}
	if code, _, stderr := attempt(t, repo, nil, append(sandbox(), commit...)...); code != 0 || strings.Contains(stderr, "it ran") {
		t.Errorf("without the directory: exit %d\n%s", code, stderr)
	}
}

func TestByHand(t *testing.T) {
	binary := need(t)
	home := testenv.Isolate(t)
	shared := share(t, home, binary)
	os.Symlink(githooks.Program, filepath.Join(shared, "no-such-hook"))
	for _, tt := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{githooks.Program, "--help"}, 0, "agent-setup scope whole-user", ""},
		{[]string{githooks.Program, "--version"}, 0, "git-hook ", ""},
		{[]string{githooks.Program}, 64, "", "started by hand"},
		{[]string{githooks.Program, "x"}, 64, "", `unexpected operand "x"`},
		{[]string{"no-such-hook", "--help"}, 0, "", ""},
		{[]string{"pre-commit"}, 0, "", ""}, // outside a repository
	} {
		code, stdout, stderr := attempt(t, home, nil, append([]string{filepath.Join(shared, tt.args[0])}, tt.args[1:]...)...)
		if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) || tt.stdout+tt.stderr == "" && stdout+stderr != "" {
			t.Errorf("%q: exit %d, %q, %q; want %d, %q, %q", tt.args, code, stdout, stderr, tt.code, tt.stdout, tt.stderr)
		}
	}
}
