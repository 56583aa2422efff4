package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sallyport/internal/cli"
	"sallyport/internal/statusline"
	"sallyport/internal/statusline/config"
	"sallyport/internal/testenv"
)

// asProgram makes the test binary behave as the program, also where it starts
// itself in the background.
const asProgram = "STATUS_LINE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(run(cli.OS()))
	}
	testscript.Main(m, map[string]func(){
		"status-line": func() { os.Exit(run(cli.OS())) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("USERPROFILE", home)
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			// Found, so that the tag depends on the settings alone.
			for _, name := range []string{"bwrap", "socat"} {
				path := filepath.Join(env.WorkDir, "bin", name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return err
				}
				if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
					return err
				}
			}
			env.Setenv("PATH", filepath.Join(env.WorkDir, "bin")+string(filepath.ListSeparator)+env.Getenv("PATH"))
			// A busy machine must not change what is shown.
			config := filepath.Join(home, ".config", "sallyport", "status-line.toml")
			if err := os.MkdirAll(filepath.Dir(config), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(config, []byte("budget = \"10s\"\n"), 0o644); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n"), 0o644)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"payload":  writePayload,
			"waitfor":  waitFor,
			"makeexec": makeExecutable,
			"nogit":    hideGit,
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// writePayload is "payload dir [current=dir] [members…]": it makes stdin the
// payload of a session that was started in dir, with more JSON members as they
// stand.
func writePayload(ts *testscript.TestScript, _ bool, args []string) {
	start := filepath.ToSlash(ts.MkAbs(args[0]))
	current, members := start, args[1:]
	if len(members) > 0 {
		if dir, ok := strings.CutPrefix(members[0], "current="); ok {
			current, members = filepath.ToSlash(ts.MkAbs(dir)), members[1:]
		}
	}
	text := fmt.Sprintf(`{"workspace":{"current_dir":%q,"project_dir":%q}`, current, start)
	for _, member := range members {
		text += "," + member
	}
	ts.Check(os.WriteFile(ts.MkAbs("payload.json"), []byte(text+"}\n"), 0o644))
}

// waitFor waits for a file that a background process writes.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	for range 500 {
		if names, _ := filepath.Glob(ts.MkAbs(args[0])); len(names) > 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	ts.Fatalf("%s did not appear", args[0])
}

func makeExecutable(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		ts.Check(os.Chmod(ts.MkAbs(name), 0o755))
	}
}

// hideGit leaves on PATH only the directories that have no git.
func hideGit(ts *testscript.TestScript, _ bool, _ []string) {
	var kept []string
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, "git")); err != nil {
			kept = append(kept, dir)
		}
	}
	ts.Setenv("PATH", strings.Join(kept, string(filepath.ListSeparator)))
}

// program is the command as a process of its own.
func program(t testing.TB, stdin string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stdin = strings.NewReader(stdin)
	return cmd
}

func TestManualNamesEverything(t *testing.T) {
	words := make(map[string]bool)
	for _, word := range strings.FieldsFunc(usage, func(r rune) bool {
		return r != '-' && r != '.' && (r < 'a' || r > 'z')
	}) {
		words[strings.Trim(word, ".")] = true
	}
	var names []string
	for _, seg := range statusline.Segments() {
		names = append(names, seg.Name)
	}
	for _, key := range config.Keys() {
		_, last, ok := strings.Cut(key.Name, ".")
		if !ok {
			last = key.Name
		}
		names = append(names, last)
	}
	names = append(names, statusline.RoleNames()...)
	names = append(names, statusline.ThemeNames()...)
	names = append(names, statusline.SymbolNames()...)
	for _, name := range names {
		if !words[name] {
			t.Errorf("--help does not name %q", name)
		}
	}
}

func payloadFor(dir string) string {
	return fmt.Sprintf(`{"workspace":{"current_dir":%q,"project_dir":%[1]q},"model":{"display_name":"Opus"}}`, filepath.ToSlash(dir))
}

func oneLine(t *testing.T, out []byte, err error) string {
	t.Helper()
	text := string(out)
	if err != nil || len(text) < 2 || strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, " \n") {
		t.Fatalf("output %q, error %v; want one line and exit 0", text, err)
	}
	return strings.TrimSuffix(text, "\n")
}

func TestAnyInputGivesALine(t *testing.T) {
	testenv.Isolate(t)
	for _, in := range []string{
		"", "\n", "{oops", "{}", "[]", "null", "\x00\xff", `{"workspace":null}`, `{"workspace":{"current_dir":"/does/not/exist"}}`,
		`{"workspace":{"current_dir":"relative/../.."}}`, `{"workspace":{"current_dir":"` + strings.Repeat("/x", 5000) + `"}}`,
		`{"workspace":{"current_dir":"/\u0000"},"model":{"display_name":"\u001b[31m\n"}}`,
		`{"a":` + strings.Repeat("[", 1<<20),
	} {
		cmd := program(t, in, "--color=never")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if line := oneLine(t, out, err); !strings.HasPrefix(line, "[") || stderr.Len() > 0 {
			t.Errorf("input %.60q: line %q, stderr %q", in, line, &stderr)
		}
	}
}

func TestBareWorld(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not start programs without its variables")
	}
	testenv.Isolate(t)
	dir := filepath.Join(testenv.Dir(t), "gone")
	os.Mkdir(dir, 0o755)

	t.Run("no environment", func(t *testing.T) {
		cmd := program(t, payloadFor(dir), "--color=never")
		cmd.Env = []string{asProgram + "=1"}
		out, err := cmd.Output()
		oneLine(t, out, err)
	})
	t.Run("working directory deleted", func(t *testing.T) {
		cmd := program(t, "", "--color=never")
		sh := exec.Command("/bin/sh", "-c", `cd "$1" && rmdir "$1" && exec "$2" --color=never </dev/null`, "sh", dir, cmd.Path)
		sh.Env = cmd.Env
		out, err := sh.Output()
		oneLine(t, out, err)
	})
	t.Run("stdout closed", func(t *testing.T) {
		cmd := program(t, "{}")
		sh := exec.Command("/bin/sh", "-c", `exec "$1" >&-`, "sh", cmd.Path)
		sh.Env, sh.Stdin = cmd.Env, strings.NewReader("{}")
		if out, err := sh.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v, output %q", err, out)
		}
	})
	t.Run("nobody reads", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := program(t, "{}")
		cmd.Stdout = w
		r.Close()
		err = cmd.Run()
		w.Close()
		if err != nil {
			t.Errorf("with nobody reading: %v, want exit 0", err)
		}
	})
	t.Run("stdin closed", func(t *testing.T) {
		cmd := program(t, "")
		sh := exec.Command("/bin/sh", "-c", `exec "$1" --color=never <&-`, "sh", cmd.Path)
		sh.Env = cmd.Env
		out, err := sh.Output()
		oneLine(t, out, err)
	})
	t.Run("stdin stays open", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		io.WriteString(w, `{"model":{"display_name":"Still open"}}`)
		cmd := program(t, "", "--color=never")
		cmd.Stdin = r
		out, err := cmd.Output()
		if line := oneLine(t, out, err); !strings.Contains(line, "Still open") {
			t.Errorf("line %q", line)
		}
	})
}

// Many lines of one repository at the same time: the index stays as it is, no
// cache entry is torn, and gh is asked once.
func TestParallelRenders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake gh is a shell script")
	}
	home := testenv.Isolate(t)
	repo := testenv.Repo(t, filepath.Join(home, "repo"))
	testenv.Git(t, repo, "remote", "add", "origin", "https://example.com/x")
	testenv.Git(t, repo, "checkout", "-q", "-b", "topic")
	// Git would like to refresh the index for this file.
	old := time.Now().Add(-24 * time.Hour)
	os.Chtimes(filepath.Join(repo, "a.txt"), old, old)
	calls := filepath.Join(home, "calls")
	gh := filepath.Join(home, "bin", "gh")
	testenv.Write(t, gh, "#!/bin/sh\necho called >> "+calls+"\nsleep 0.3\necho '{\"number\":12,\"title\":\"Add a step\",\"url\":\"https://example.com/12\"}'\n")
	os.Chmod(gh, 0o755)
	t.Setenv("PATH", filepath.Dir(gh)+":"+os.Getenv("PATH"))
	cacheDir := filepath.Join(home, ".cache", "sallyport", "status-line")
	// The machine may be busy: this is about the answer, not the time.
	testenv.Write(t, filepath.Join(home, ".config", "sallyport", "status-line.toml"), "budget = \"10s\"\n")

	digest := func() string {
		data, err := os.ReadFile(filepath.Join(repo, ".git", "index"))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x", sha256.Sum256(data))
	}
	before := digest()
	render := func() (string, error) {
		out, err := program(t, payloadFor(repo), "--color=never").Output()
		return string(out), err
	}
	stop := make(chan struct{})
	var torn sync.WaitGroup
	torn.Add(1)
	go func() {
		defer torn.Done()
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			names, _ := filepath.Glob(filepath.Join(cacheDir, "*"))
			for _, name := range names {
				if filepath.Ext(name) == ".lock" || filepath.Ext(name) == ".tmp" {
					continue
				}
				if data, err := os.ReadFile(name); err == nil && (len(data) == 0 || data[len(data)-1] != '}') {
					t.Errorf("%s is torn: %q", name, data)
				}
			}
		}
	}()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 10)
	for range 50 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			out, err := render()
			if err != nil || !strings.Contains(out, " repo | topic") || strings.Contains(out, "*") || strings.Contains(out, "~") {
				t.Errorf("line %q, %v", out, err)
			}
		}()
	}
	wg.Wait()
	var line string
	for range 200 {
		if line, _ = render(); strings.Contains(line, "#12") {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	close(stop)
	torn.Wait()
	if !strings.Contains(line, "| #12 Add a step | Opus") {
		t.Errorf("line after the refresh = %q", line)
	}
	if data, _ := os.ReadFile(calls); string(data) != "called\n" {
		t.Errorf("gh was called %d times, want once", strings.Count(string(data), "\n"))
	}
	if after := digest(); after != before {
		t.Error("the index was rewritten")
	}
	for _, pattern := range []string{filepath.Join(repo, ".git", "*.lock"), filepath.Join(cacheDir, "*.tmp")} {
		if names, _ := filepath.Glob(pattern); len(names) > 0 {
			t.Errorf("left behind: %q", names)
		}
	}
}

// The client reads until its pipe is closed: a refresh must not hold it.
func TestRefreshDoesNotHoldThePipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake programs are shell scripts")
	}
	home := testenv.Isolate(t)
	repo := testenv.Repo(t, filepath.Join(home, "repo"))
	testenv.Git(t, repo, "remote", "add", "origin", "https://example.com/x")
	started := filepath.Join(home, "started")
	gh := filepath.Join(home, "bin", "gh")
	testenv.Write(t, gh, "#!/bin/sh\necho $$ > "+started+"\nsleep 30\n")
	os.Chmod(gh, 0o755)
	t.Setenv("PATH", filepath.Dir(gh)+":"+os.Getenv("PATH"))
	begin := time.Now()
	out, err := program(t, payloadFor(repo), "--color=never").CombinedOutput()
	took := time.Since(begin)
	oneLine(t, out, err)
	if took > 10*time.Second {
		t.Errorf("the pipe was open for %v", took)
	}
	// gh is killed by its own limit, and the miss is remembered.
	deadline := time.Now().Add(20 * time.Second)
	for {
		names, _ := filepath.Glob(filepath.Join(home, ".cache", "sallyport", "status-line", "pr-*"))
		done := false
		for _, name := range names {
			done = done || filepath.Ext(name) == ""
		}
		if done {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no answer was stored for a gh that hangs")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if data, err := os.ReadFile(started); err == nil && runtime.GOOS == "linux" {
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(data)) + "/stat")
		if err == nil && !strings.Contains(string(stat), ") Z ") {
			t.Errorf("gh still runs: %s", stat)
		}
	}
}

// A git that hangs costs the budget, and the last known state is shown.
func TestHangingGit(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake git is a shell script")
	}
	home := testenv.Isolate(t)
	repo := testenv.Repo(t, filepath.Join(home, "repo"))
	testenv.Git(t, repo, "checkout", "-q", "-b", "topic")
	testenv.Write(t, filepath.Join(repo, "a.txt"), "changed\n")
	config := filepath.Join(home, ".config", "sallyport", "status-line.toml")
	testenv.Write(t, config, "budget = \"10s\"\n")
	out, err := program(t, payloadFor(repo), "--color=never").Output()
	if line := oneLine(t, out, err); !strings.HasSuffix(line, " repo | topic * | Opus") {
		t.Fatalf("line with a working git = %q", line)
	}
	testenv.Write(t, config, "budget = \"2s\"\n")

	// The fake hangs for the line, and answers in the background once the file
	// "go" is there.
	realGit, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	fake := filepath.Join(home, "bin", "git")
	permit := filepath.Join(home, "go")
	testenv.Write(t, fake, "#!/bin/sh\nn=0\nwhile [ ! -e "+permit+" ] && [ $n -lt 600 ]; do sleep 0.05; n=$((n+1)); done\nexec "+realGit+" \"$@\"\n")
	os.Chmod(fake, 0o755)
	t.Setenv("PATH", filepath.Dir(fake)+":"+os.Getenv("PATH"))
	out, err = program(t, payloadFor(repo), "--color=never").Output()
	if line := oneLine(t, out, err); !strings.HasSuffix(line, " repo | topic * ~ | Opus") {
		t.Errorf("line with a git that hangs = %q, want the last known state", line)
	}
	// Another branch: what is known belongs to the old one.
	testenv.Write(t, filepath.Join(repo, ".git", "HEAD"), "ref: refs/heads/other\n")
	out, err = program(t, payloadFor(repo), "--color=never").Output()
	if line := oneLine(t, out, err); !strings.HasSuffix(line, " repo | other ~ | Opus") {
		t.Errorf("line on another branch = %q", line)
	}
	testenv.Write(t, filepath.Join(repo, ".git", "HEAD"), "ref: refs/heads/topic\n")
	testenv.Write(t, filepath.Join(repo, "a.txt"), "one\n")
	testenv.Write(t, permit, "")
	for range 200 {
		out, err = program(t, payloadFor(repo), "--color=never").Output()
		if strings.Contains(string(out), " repo | topic |") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("line after git answers again = %q, %v", out, err)
}

// A killed line takes its git with it.
func TestKilledLineLeavesNothingBehind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake git is a shell script")
	}
	home := testenv.Isolate(t)
	repo := testenv.Repo(t, filepath.Join(home, "repo"))
	testenv.Write(t, filepath.Join(home, ".config", "sallyport", "status-line.toml"), "budget = \"10s\"\n")
	pidFile := filepath.Join(home, "pid")
	fake := filepath.Join(home, "bin", "git")
	testenv.Write(t, fake, "#!/bin/sh\necho $$ > "+pidFile+".new\nmv "+pidFile+".new "+pidFile+"\nexec sleep 60\n")
	os.Chmod(fake, 0o755)
	t.Setenv("PATH", filepath.Dir(fake)+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := program(t, payloadFor(repo))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid string
	for ctx.Err() == nil {
		if data, err := os.ReadFile(pidFile); err == nil {
			pid = strings.TrimSpace(string(data))
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	for range 100 {
		out, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
		if err != nil || strings.HasPrefix(strings.TrimSpace(string(out)), "Z") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("git %s still runs after its line was ended", pid)
}
