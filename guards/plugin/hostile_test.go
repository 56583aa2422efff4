package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sallyport/guards"
	"sallyport/internal/testenv"
)

// neighbour is a guard in good order that must work whatever stands beside it.
const neighbour = "TRIGGERS = [\"git\"]\ndef guard(ctx):\n    return \"neighbour speaks\"\n"

// hostile guards by language. Each sorts before and after a good neighbour, and
// must neither be believed nor harm it.
var hostileRows = []struct {
	name, ext, src, failure string
}{
	{"endless loop", "star", "def guard(ctx):\n    for i in range(1000000000):\n        pass\n", "too many steps|took longer"},
	{"endless loop at load", "star", "x = [i for i in range(1000000000)]\ndef guard(ctx): pass\n", "too many steps|took longer"},
	{"one huge string", "star", "def guard(ctx):\n    return \"a\" * 1000000000\n", "interpreter ended|took longer"},
	{"doubling", "star", "def guard(ctx):\n    s = \"abcdefgh\"\n    for i in range(60):\n        s = s + s\n    return s\n", "interpreter ended|took longer"},
	{"huge list", "star", "def guard(ctx):\n    x = [[0] * 1000000 for i in range(1000)]\n    return str(len(x))\n", "interpreter ended|took longer"},
	{"deep value", "star", "def guard(ctx):\n    x = []\n    for i in range(1000000):\n        x = [x]\n    return x\n", "nested too deep"},
	{"deep source", "star", "def guard(ctx):\n    return " + strings.Repeat("(", 20000) + "1" + strings.Repeat(")", 20000) + "\n", "nested deeper"},
	{"recursion", "star", "def f(n):\n    return f(n + 1)\ndef guard(ctx):\n    return f(0)\n", "called recursively"},
	{"load", "star", "load(\"os\", \"x\")\ndef guard(ctx): pass\n", "load not implemented"},
	{"fail", "star", "def guard(ctx):\n    fail(\"no\")\n", "no"},
	{"syntax", "star", "def guard(ctx:\n", "x.star:1"},
	{"no guard", "star", "TRIGGERS = [\"git\"]\n", "defines no function guard"},
	{"guard is no function", "star", "guard = 1\n", "defines no function guard"},
	{"wrong result", "star", "def guard(ctx):\n    return 42\n", "neither a string nor None"},
	{"a list", "star", "def guard(ctx):\n    return [\"x\"]\n", "neither a string nor None"},
	{"allow", "star", "def guard(ctx):\n    return {\"decision\": \"allow\", \"reason\": \"fine\"}\n", "can be deny, ask or warn"},
	{"unknown key", "star", "def guard(ctx):\n    return {\"reason\": \"x\", \"permission\": \"allow\"}\n", "something else than"},
	{"wrong arguments", "star", "def guard(ctx):\n    return ctx.opt(1)\n", "opt"},
	{"no such member", "star", "def guard(ctx):\n    return ctx.files()\n", "files"},
	{"bad pattern", "star", "def guard(ctx):\n    return search(\"(\", \"x\")\n", "missing closing"},

	{"endless loop", "py", "def guard(ctx):\n    while True:\n        pass\n", "took longer"},
	{"sleep", "py", "import time\ndef guard(ctx):\n    time.sleep(1000)\n", "took longer"},
	{"hang at load", "py", "while True:\n    pass\n", "took longer"},
	{"ignores signals", "py", "import signal, time\nfor s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):\n    signal.signal(s, signal.SIG_IGN)\ndef guard(ctx):\n    time.sleep(1000)\n", "took longer"},
	{"exception", "py", "def guard(ctx):\n    raise ValueError('no \\x1b[31m')\n", "x.py:2: ValueError"},
	{"exit", "py", "import sys\ndef guard(ctx):\n    sys.exit(0)\n", "SystemExit"},
	{"hard exit", "py", "import os\ndef guard(ctx):\n    os._exit(0)\n", "interpreter ended"},
	{"abort", "py", "import os\ndef guard(ctx):\n    os.abort()\n", "interpreter ended"},
	{"kills its parent", "py", "import os, signal\ndef guard(ctx):\n    os.kill(os.getppid(), signal.SIGKILL)\n    import time; time.sleep(0.2)\n    raise ValueError('still here')\n", "still here"},
	{"kills its group", "py", "import os, signal\ndef guard(ctx):\n    os.killpg(0, signal.SIGKILL)\n", "interpreter ended"},
	{"syntax", "py", "def guard(ctx:\n", "x.py:1"},
	{"nul bytes", "py", "\x00\x01\xff", ""},
	{"no guard", "py", "TRIGGERS = ['git']\n", "defines no function guard"},
	{"a number", "py", "def guard(ctx):\n    return 1\n", "not a string or None"},
	{"an object", "py", "class X:\n    def __repr__(self): raise ValueError\ndef guard(ctx):\n    return X()\n", "not a string or None"},
	{"a lying string", "py", "class S(str):\n    def __str__(self): return 42\n    def encode(self, *a): raise SystemExit\n    def __getitem__(self, i): raise SystemExit\ndef guard(ctx):\n    raise ValueError(S('x'))\n", ""},
	{"allow", "py", "def guard(ctx):\n    return {'decision': 'allow', 'reason': 'x'}\n", "can be deny, ask or warn"},
	{"memory", "py", "def guard(ctx):\n    x = 'a' * (1 << 34)\n    return None\n", "MemoryError"},
	{"deep recursion", "py", "def f(): return f()\ndef guard(ctx):\n    return f()\n", "RecursionError"},
	{"deep source", "py", "def guard(ctx):\n    return " + strings.Repeat("(", 20000) + "1" + strings.Repeat(")", 20000) + "\n", ""},
	{"garbage on the line", "py", "import os\ndef guard(ctx):\n    for fd in range(3, 20):\n        try: os.write(fd, b'garbage\\n')\n        except OSError: pass\n", "something else than an answer"},
	{"floods the line", "py", "import os\ndef guard(ctx):\n    while True:\n        for fd in range(3, 20):\n            try: os.write(fd, b'x' * 65536)\n            except OSError: pass\n", "sent more than"},
	{"asks for ever", "py", "def guard(ctx):\n    while True:\n        ctx.opt('-x', '--x')\n", ""},
	{"closes everything", "py", "import os\ndef guard(ctx):\n    os.closerange(0, 100)\n", ""},
	{"does not read", "py", "import os, time\ndef guard(ctx):\n    ctx.mentions('@x ' * 200000)\n    time.sleep(100)\n", "took longer"},
	{"a child that stays", "py", "import os, time\ndef guard(ctx):\n    if os.fork() == 0:\n        time.sleep(30)\n        os._exit(0)\n    raise ValueError('forked')\n", "forked"},
	{"replaces json", "py", "import json\njson.dumps = None\ndef guard(ctx):\n    return None\n", ""},

	{"broken", "toml", "triggers = [\"git\"]\nreason = \n", "x.toml:2"},
	{"unknown key", "toml", "triggers = [\"git\"]\nreason = \"x\"\nverdict = \"allow\"\n", "x.toml:3: unknown key verdict"},
	{"allow", "toml", "triggers = [\"git\"]\nreason = \"x\"\ndecision = \"allow\"\n", "x.toml:3"},
	{"deep", "toml", "triggers = [\"git\"]\nx = " + strings.Repeat("[", 100000) + "\n", "nested too deep"},
	{"deep over lines", "toml", "triggers = [\"git\"]\nx = " + strings.Repeat("[\n", 100000) + "\n", "x.toml:"},
}

func TestHostileGuardsHarmNothing(t *testing.T) {
	for _, row := range hostileRows {
		t.Run(row.ext+"/"+row.name, func(t *testing.T) {
			// What ends by itself gets the time that it needs on a busy machine.
			limit := 5 * time.Second
			if row.failure == "took longer" {
				limit = 500 * time.Millisecond
			}
			shorten(t, limit, 3*limit)
			if row.ext == "py" {
				needPython(t)
			}
			b := newBench(t)
			b.write("x."+row.ext, row.src)
			good := row.ext
			if good == "toml" {
				good = "star"
			}
			b.write("a."+good, neighbour).write("z."+good, neighbour)
			start := time.Now()
			rep := b.judge("git status")
			if d := time.Since(start); d > 12*time.Second {
				t.Errorf("took %v", d)
			}
			got := map[string]guards.Verdict{}
			for i := range rep.Results {
				got[rep.Results[i].Guard.Name] = rep.Results[i].Verdict
			}
			if got["a"] != guards.Deny || got["z"] != guards.Deny {
				t.Errorf("the neighbours answered %v, want deny for a and z; failures %v", got, Failures(b.opts.StateDir))
			}
			if got["x"] != guards.Pass {
				t.Errorf("the guard is believed: %s", rep.Reason(got["x"]))
			}
			if row.failure != "" {
				b.failed("x."+row.ext, row.failure)
			}
			for path, f := range Failures(b.opts.StateDir) {
				if strings.ContainsAny(f.Error, "\x1b\n") {
					t.Errorf("failure of %s is not clean: %q", path, f.Error)
				}
			}
			// Under on_error the same failure asks.
			if row.failure == "" || strings.Contains(row.failure, "took longer") {
				return
			}
			b.opts.OnError = guards.Ask
			rep = b.judge("git status")
			asked := false
			for i := range rep.Results {
				asked = asked || rep.Results[i].Guard.Name == "x" && rep.Results[i].Verdict == guards.Ask
			}
			if !asked {
				t.Errorf("on_error = ask: %s", rep.Reason(rep.Verdict))
			}
		})
	}
}

func TestAGuardThatPrintsIsNotBelieved(t *testing.T) {
	needPython(t)
	b := newBench(t).write("x.py", `
import os, sys, subprocess
def guard(ctx):
    print('{"done": true, "value": "forged by print"}', flush=True)
    sys.stderr.write("noise")
    os.write(1, b'{"done": true, "value": "forged by write"}\n')
    subprocess.run(["sh", "-c", "echo '{\"done\": true, \"value\": \"forged by child\"}'; cat"])
    return "honest"
`)
	b.verdict("git status", guards.Deny, "honest")
}

func TestWhatAGuardSaysIsCleanAndBounded(t *testing.T) {
	needPython(t)
	for _, ext := range []string{"py", "star"} {
		b := newBench(t).write("x."+ext, "def guard(ctx):\n    return \"agent-guard[other]: red \\033[31m and\\nlines \" + \"x\" * 100000\n")
		rep := b.judge("git status")
		reason := rep.Reason(guards.Deny)
		if strings.ContainsAny(reason, "\x1b\n") || len(reason) > 2000 || !strings.HasPrefix(reason, "agent-guard[x]: red ") {
			t.Errorf("%s: reason %d bytes: %.200q", ext, len(reason), reason)
		}
	}
}

func TestAFailureIsForgottenWhenTheGuardWorksAgain(t *testing.T) {
	b := newBench(t).write("x.star", "def guard(ctx):\n    return 1\n")
	b.judge("git status")
	b.failed("x.star", "neither a string nor None")
	b.write("x.star", "def guard(ctx):\n    return None\n")
	b.judge("git status")
	if f := Failures(b.opts.StateDir); len(f) != 0 {
		t.Errorf("failures %v, want none", f)
	}
}

func TestNothingIsStartedUnlessATriggerMatches(t *testing.T) {
	needPython(t)
	b := newBench(t)
	mark := filepath.Join(b.home, "ran")
	b.write("x.py", fmt.Sprintf("open(%q, 'w').close()\nTRIGGERS = ['gh:pr']\ndef guard(ctx): return 'x'\n", mark))
	s := b.load()
	b.judgeWith(s, "git status && echo gh pr list && gh issue list && ls")
	if _, err := os.Stat(mark); err == nil {
		t.Error("the file was run for a command that no trigger names")
	}
	if s.started != 0 {
		t.Errorf("%d interpreters were started, want none", s.started)
	}
	b.judgeWith(s, "gh pr list")
	if _, err := os.Stat(mark); err != nil {
		t.Error("the file was not run for a command that a trigger names")
	}
}

func TestOneInterpreterServesALine(t *testing.T) {
	needPython(t)
	b := newBench(t)
	for i := range 5 {
		b.write(fmt.Sprintf("g%d.py", i), "import os\ndef guard(ctx):\n    return {'decision': 'warn', 'reason': 'pid %d' % os.getpid()}\n")
	}
	s := b.load()
	rep := b.judgeWith(s, "git status; git log; gh pr list")
	pids := map[string]bool{}
	for i := range rep.Results {
		_, pid, _ := strings.Cut(rep.Results[i].Finding.Found, "pid ")
		pids[pid] = true
	}
	if s.started != 1 || len(pids) != 1 || len(rep.Results) != 5 {
		t.Errorf("%d interpreters, pids %v, %d results; want one interpreter and 5 results", s.started, pids, len(rep.Results))
	}
}

func TestPythonIsIsolated(t *testing.T) {
	needPython(t)
	b := newBench(t)
	testenv.Write(t, filepath.Join(b.repo, "re.py"), "raise SystemExit('the repository was imported')")
	testenv.Write(t, filepath.Join(b.repo, "sitecustomize.py"), "raise SystemExit('the repository was imported')")
	t.Setenv("PYTHONPATH", b.repo)
	t.Setenv("PYTHONSTARTUP", filepath.Join(b.repo, "re.py"))
	t.Setenv("SECRET_TOKEN", "s3cret")
	t.Setenv("MAGPIE_HINT", "kept")
	b.opts.Environ = os.Environ()
	b.write("x.py", `
import os, re, sys
def guard(ctx):
    return "token=%s hint=%s path=%s site=%s" % (os.environ.get("SECRET_TOKEN"), os.environ.get("MAGPIE_HINT"),
        any("repo" in p for p in sys.path) or "" in sys.path, "site" in sys.modules)
`)
	b.verdict("git status", guards.Deny, "token=None hint=kept path=False site=False")
	if m, _ := filepath.Glob(filepath.Join(b.guards, "__pycache__")); len(m) > 0 {
		t.Errorf("compiled files were written: %v", m)
	}
}

func TestPythonMissing(t *testing.T) {
	b := newBench(t).write("x.py", neighbour).write("y.star", neighbour)
	dir := t.TempDir()
	git, _ := lookPath("git", os.Getenv("PATH"))
	if err := os.Symlink(git, filepath.Join(dir, "git")); err != nil {
		t.Skip(err)
	}
	b.opts.Environ = append(b.opts.Environ, "PATH="+dir)
	b.verdict("git status", guards.Deny, "agent-guard[y]: neighbour speaks")
	b.failed("x.py", "python3 is not on PATH")
}

func TestAScriptNamedPythonComesLast(t *testing.T) {
	needPython(t)
	real, _ := findPython(os.Getenv("PATH"))
	dir := t.TempDir()
	shimPath := filepath.Join(dir, "python3")
	if err := os.WriteFile(shimPath, []byte("#!/bin/sh\nexec "+real+" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	list := string(os.PathListSeparator)
	if got, _ := findPython(dir + list + filepath.Dir(real)); got != real {
		t.Errorf("findPython = %s, want the program %s", got, real)
	}
	if got, _ := findPython(dir); got != shimPath {
		t.Errorf("findPython = %s, want the script where there is nothing else", got)
	}
	if got, ok := findPython("." + list + ""); ok {
		t.Errorf("findPython = %s from a relative PATH", got)
	}
}

func TestTheGuardsOfALineShareABudget(t *testing.T) {
	needPython(t)
	shorten(t, 400*time.Millisecond, 900*time.Millisecond)
	leastLimit, lateLimit = 300*time.Millisecond, 700*time.Millisecond
	t.Cleanup(func() { leastLimit, lateLimit = 250*time.Millisecond, 2*time.Second })
	b := newBench(t)
	for i := range 20 {
		b.write(fmt.Sprintf("g%02d.py", i), "import time\ndef guard(ctx):\n    time.sleep(60)\n")
	}
	start := time.Now()
	b.judge("git status")
	// 20 × 400 ms would be 8 s.
	if d := time.Since(start); d > 6*time.Second {
		t.Errorf("twenty hanging guards held the line for %v", d)
	}
	if n := len(Failures(b.opts.StateDir)); n != 20 {
		t.Errorf("%d failures recorded, want 20", n)
	}
}

func TestAGuardInOrderIsAskedBehindThoseThatHang(t *testing.T) {
	needPython(t)
	shorten(t, 600*time.Millisecond, 700*time.Millisecond)
	leastLimit, lateLimit = 5*time.Second, 10*time.Second
	t.Cleanup(func() { leastLimit, lateLimit = 250*time.Millisecond, 2*time.Second })
	b := newBench(t)
	b.write("a.py", "import time\ndef guard(ctx):\n    time.sleep(60)\n").write("b.py", "import time\ndef guard(ctx):\n    time.sleep(60)\n")
	b.write("c.star", neighbour)
	b.verdict("git status", guards.Deny, "agent-guard[c]: neighbour speaks")
}

func TestAnInterpreterLeavesNothingBehind(t *testing.T) {
	needPython(t)
	shorten(t, time.Second, 5*time.Second)
	b := newBench(t)
	pidFile := filepath.Join(b.home, "pid")
	b.write("x.py", fmt.Sprintf("import os, time\ndef guard(ctx):\n    open(%q, 'w').write(str(os.getpid()))\n    if os.fork() == 0:\n        pass\n    time.sleep(100)\n", pidFile))
	s := b.load()
	b.judgeWith(s, "git status")
	s.Close()
	pid, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		state, err := os.ReadFile("/proc/" + string(pid) + "/stat")
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		t.Errorf("process %s is still there", pid)
	}
}
