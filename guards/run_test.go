package guards_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"sallyport/guards"
)

// nowhere is a world in which every answer is unknown.
type nowhere struct{}

func (nowhere) Git(guards.Place, ...string) (string, bool) { return "", false }
func (nowhere) GH(guards.Place, ...string) (string, bool)  { return "", false }
func (nowhere) GHAlias(string) (string, bool)              { return "", false }
func (nowhere) ReadFile(string, int) ([]byte, bool)        { return nil, false }
func (nowhere) Stat(string) guards.File                    { return guards.File{} }
func (nowhere) Resolve(p string) string                    { return p }
func (nowhere) Root(string) (string, bool)                 { return "", false }

func judge(command string) *guards.Report {
	return guards.Run(&guards.Input{Command: command, Dir: "/work/project", Getenv: func(name string) (string, bool) {
		if name == "HOME" {
			return "/home/dev", true
		}
		return "", false
	}}, guards.Bundled(), nowhere{})
}

func TestUnknownAnswers(t *testing.T) {
	tests := []struct {
		command string
		want    guards.Verdict
		why     string
	}{
		{"git push -f", guards.Pass, "empty-rebase without a base is silent"},
		{"git reset --hard", guards.Ask, "there may be something to lose"},
		{"git clean -fd", guards.Ask, "there may be something to lose"},
		{"git branch -D x", guards.Pass, "no such branch is known"},
		{"git push -f origin main", guards.Deny, "main is taken for the default branch"},
		{"gh pr comment 5 -b '@x'", guards.Deny, "author unknown"},
		{"gh pr edit 5 --add-label 'ready for maintainer review'", guards.Pass, "lookup fails: silent"},
		{"rm -rf build", guards.Pass, "relative, no repository: the directory is the project"},
		{"git commit -n", guards.Deny, "the text alone decides"},
	}
	for _, tt := range tests {
		if got := judge(tt.command); got.Verdict != tt.want {
			t.Errorf("%s: %v, want %v (%s) %s", tt.command, got.Verdict, tt.want, tt.why, got.Reason(got.Verdict))
		}
	}
}

func TestTextThatDoesNotParseOnlyAsks(t *testing.T) {
	rep := judge("git status ) ; git commit -n")
	if rep.Verdict != guards.Ask {
		t.Errorf("verdict %v, want ask: %s", rep.Verdict, rep.Reason(rep.Verdict))
	}
	if rep := judge("git commit -n\necho \"unterminated"); rep.Verdict != guards.Deny {
		t.Errorf("a line before the error: %v, want deny", rep.Verdict)
	}
}

func TestReasonIsBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, command := range []string{
		"git commit -n -m '" + long + "'", "rm -rf /opt/" + long, "git commit -m x -m 'Co-Authored-By: " + long + "'",
		"gh pr comment 5 -b '@" + long + "'", strings.Repeat("rm -rf /opt/a$RANDOM; git commit -n; ", 500),
		"rm -rf $'/opt/\\e[2J\\r\\u202e'",
	} {
		rep := judge(command)
		for _, v := range []guards.Verdict{guards.Ask, guards.Deny} {
			reason := rep.Reason(v)
			if len(reason) > 8000 || strings.ContainsAny(reason, "\x1b\r\u202e") {
				t.Errorf("%.60s: reason of %d bytes: %.200q", command, len(reason), reason)
			}
		}
	}
}

// TestCostIsLinear compares a line with one of four times its length.
func TestCostIsLinear(t *testing.T) {
	for _, unit := range []string{
		"git push -f origin a%; ", "rm -rf /opt/%; ", "echo x > f%; ", "env; ", "sh f%; ", "git reset --hard; ", "curl u > f%; sh f%; ",
		"gh pr comment % -b @a; ", "cp a b%; ", "git commit -m 'x% Co-Authored-By: y'; ", "true; ",
		"ln -s a% b; echo > b/x; ", "ls a% | xargs rm; ", "git interpret-trailers --trailer a:% < x; ", "docker run -v /a:/b% x rm -rf /b; ", "GIT_EDITOR='a%' git commit; ",
		"GIT_CONFIG_GLOBAL=/tmp/x% git commit; ", "git config alias.a% b; git a%; ", "gh alias set a% 'pr list'; gh a%; ", "sed 's/w w/w %/w x' a; ", "crontab - <<< '* * * * * ls %'; ",
	} {
		line := func(n int) string {
			var b strings.Builder
			for i := range n {
				b.WriteString(strings.ReplaceAll(unit, "%", strings.Repeat("z", i%7)))
			}
			return b.String()
		}
		measure := func(n int) time.Duration {
			best := time.Hour
			for range 3 {
				start := time.Now()
				judge(line(n))
				best = min(best, time.Since(start))
			}
			return best
		}
		measure(200)
		// Eight times the length; a quadratic cost would be 64 times.
		small, large := measure(500), measure(4000)
		if large > 32*small+100*time.Millisecond {
			t.Errorf("%q: 500 take %v, 4000 take %v", unit, small, large)
		}
	}
}

// TestLongTexts: one long word costs what it is long, also where guards look
// into it for names of files, trailers and calls.
func TestLongTexts(t *testing.T) {
	for _, shape := range []struct{ before, unit, after string }{
		{"sed '", "s/w w w /w w /w x;", "' a"},
		{"GIT_EDITOR='", "co-authored-by ", "' git commit"},
		{"awk '", `print > "x" `, "'"},
		{"emacs --eval '", `(shell-command "ls") `, "'"},
		{"patch -p1 <<'E'\n", "+++ b/x/y\n", "\nE"},
		{"crontab - <<'E'\n", "* * * * * ls\n", "\nE"},
		{"rm -rf /", "a/", "b"},
		{"gh pr comment 5 -b '", "<!-- a ", "'"},
	} {
		measure := func(n int) time.Duration {
			best := time.Hour
			for range 3 {
				start := time.Now()
				judge(shape.before + strings.Repeat(shape.unit, n) + shape.after)
				best = min(best, time.Since(start))
			}
			return best
		}
		small, large := measure(1000), measure(8000)
		if large > 32*small+100*time.Millisecond {
			t.Errorf("%q: 1000 take %v, 8000 take %v", shape.before+shape.unit, small, large)
		}
	}
}

// cost is the least time of a few looks at a line.
func cost(line string) time.Duration {
	best := time.Hour
	for range 3 {
		start := time.Now()
		judge(line)
		best = min(best, time.Since(start))
	}
	return best
}

// programs are command lines that guards look into.
func programs() []string {
	list := strings.Fields(`find rm cp mv ln tee dd chmod chown shred truncate tar unzip zip rsync scp ssh sed awk perl python3
		node ruby php xargs parallel env sudo nice timeout watch bash sh eval source docker podman kubectl make curl wget crontab patch install
		mkfs mount cat less grep base64 openssl gpg aws jq vim emacs git gh npm pip cargo go terraform systemctl kill osascript printf echo export
		unset alias trap set test cd pushd exec time`)
	list = append(list, "git commit", "git push", "git push origin", "git reset --hard", "git checkout", "git restore", "git clean", "git branch -D",
		"git stash", "git config", "git -c", "git add", "git rm", "git tag -d", "git worktree remove", "git rebase", "git am", "git notes add",
		"gh pr create", "gh pr comment 1", "gh api", "gh issue edit 1", "gh repo delete", "gh pr edit 1", "docker run", "docker run -v", "docker run -v /a:/b x rm -rf", "docker exec web rm -rf", "docker run x chmod -R 777", "chroot /x rm -rf", "find . -name", "find . -exec",
		"xargs -I{} sh -c", "sh -c", "env -S", "tar -cf x", "tar -xf x -C", "rsync -a --delete", "sed -i -e", "ssh host", "parallel -j4", "agent-guard", "claude")
	return list
}

// TestManyOperands gives programs that guards look into thousands of operands.
func TestManyOperands(t *testing.T) {
	for _, program := range programs() {
		for _, unit := range []string{"a% ", "-x% ", "--opt%=v ", "-f % ", "a%:/b% ", "$x% ", "$(a%) ", "'a b%' ", "> f% ", "| cat ", "a%* ", "{a,b}% ", "A%=b "} {
			line := func(size int) string {
				var b strings.Builder
				b.WriteString(program + " ")
				for i := 0; b.Len() < size; i++ {
					b.WriteString(strings.ReplaceAll(unit, "%", strconv.Itoa(i)))
				}
				return b.String()
			}
			once := func(size int) time.Duration {
				start := time.Now()
				judge(line(size))
				return time.Since(start)
			}
			small, large := once(1<<10), once(8<<10)
			if large > 32*small+10*time.Millisecond {
				small, large = cost(line(2<<10)), cost(line(16<<10)) // sure of it?
				if large > 32*small+20*time.Millisecond {
					t.Errorf("%s %s…: 2 KiB take %v, 16 KiB take %v", program, unit, small, large)
				}
			}
		}
	}
}

// FuzzCost repeats a piece of shell: eight times as many cost no more than some
// eight times as much. With "%" in it the pieces differ.
func FuzzCost(f *testing.F) {
	for _, g := range guards.Bundled() {
		for _, e := range g.Examples {
			if !strings.Contains(e.Command, "%") {
				f.Add("", e.Command+"; ", "")
			}
		}
	}
	f.Add("rm -rf ", "a% ", "")
	f.Add("", "find ", "r")
	f.Add("git commit -m '", "Co-Authored-By: a%\n", "'")
	f.Add("echo ", "$(a% ", strings.Repeat(")", 8))
	f.Add("f() { ", "a%() { b; }; ", "}; f")
	f.Fuzz(func(t *testing.T, before, unit, after string) {
		if len(unit) == 0 || len(before)+len(unit)+len(after) > 300 {
			return
		}
		line := func(size int) string {
			var b strings.Builder
			b.WriteString(before)
			for i := 0; b.Len() < size; i++ {
				b.WriteString(strings.ReplaceAll(unit, "%", strconv.Itoa(i)))
			}
			b.WriteString(after)
			return b.String()
		}
		const size = 4 << 10
		var small, large time.Duration
		for range 3 { // another program may have had the processor
			small, large = cost(line(size)), cost(line(8*size))
			if large < 32*small+50*time.Millisecond {
				return
			}
		}
		t.Errorf("%q, %q, %q: %d KiB take %v, %d KiB take %v", before, unit, after, size>>10, small, 8*size>>10, large)
	})
}

func FuzzRun(f *testing.F) {
	for _, g := range guards.Bundled() {
		for _, e := range g.Examples {
			f.Add(e.Command)
		}
	}
	f.Fuzz(func(t *testing.T, command string) {
		if len(command) > 1<<14 {
			return
		}
		rep := judge(command)
		for i := range rep.Results {
			if reason := rep.Results[i].Reason(guards.InlineAllow); strings.ContainsAny(reason, "\n\x1b") {
				t.Fatalf("%q: reason %q", command, reason)
			}
		}
	})
}

func TestFailedGuardHidesNothing(t *testing.T) {
	broken := &guards.Guard{Name: "broken", Default: guards.Deny, Check: func(*guards.Call) []guards.Finding { panic("index out of range") }}
	for _, all := range [][]*guards.Guard{append([]*guards.Guard{broken}, guards.Bundled()...), append(guards.Bundled(), broken)} {
		for command, want := range map[string]guards.Verdict{"git commit -n": guards.Deny, "git status": guards.Ask, "rm -rf /": guards.Deny} {
			rep := guards.Run(&guards.Input{Command: command, Dir: "/work/project", Getenv: func(string) (string, bool) { return "", false }}, all, nowhere{})
			if rep.Verdict != want || len(rep.Failures) == 0 {
				t.Errorf("%s: %v with failures %q, want %v", command, rep.Verdict, rep.Failures, want)
			}
		}
	}
}

// busy is a world that has refused answers.
type busy struct{ nowhere }

func (busy) Exhausted() bool { return true }

func TestUnseenIsAsked(t *testing.T) {
	getenv := func(string) (string, bool) { return "", false }
	rep := guards.Run(&guards.Input{Command: "git update-ref -d refs/heads/x", Dir: "/work/project", Getenv: getenv}, guards.Bundled(), busy{})
	if rep.Verdict != guards.Ask {
		t.Errorf("a world that refused answers: %v, want ask", rep.Verdict)
	}
	if rep := judge("docker run " + strings.Repeat("-v /a:/b ", 100) + "x rm -rf /c"); rep.Verdict != guards.Ask {
		t.Errorf("more mounts than are looked at: %v, want ask", rep.Verdict)
	}
	// One text that thousands of commands name.
	line := "cat > m <<'E'\n" + strings.Repeat("true\n", 20_000) + "E\n" + strings.Repeat("git commit -F m; ", 5_000)
	if rep := judge(line); rep.Verdict != guards.Ask {
		t.Errorf("a text named too often: %v, want ask", rep.Verdict)
	}
	if rep := judge("cat > m <<'E'\n" + strings.Repeat("true\n", 200_000) + "E\ngit commit -F m"); rep.Verdict != guards.Pass {
		t.Errorf("one long message: %v, want pass: %s", rep.Verdict, rep.Reason(rep.Verdict))
	}
}
