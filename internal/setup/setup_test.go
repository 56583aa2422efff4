package setup

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"sallyport/guards"
	"sallyport/internal/atomicfile"
	"sallyport/internal/cli"
)

var update = flag.Bool("update", false, "rewrite golden files")

// An account is a home directory and a directory of programs to install.
type account struct {
	home, source, managed string
	out                   bytes.Buffer
}

func newAccount(t *testing.T) *account {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are shell scripts")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := &account{home: filepath.Join(root, "home"), source: filepath.Join(root, "source"), managed: filepath.Join(root, "managed")}
	for _, dir := range []string{a.home, a.source, a.managed} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{manager}
	for _, c := range components() {
		names = append(names, c.programs()...)
	}
	for _, name := range names {
		script := "#!/bin/sh\n# " + name + "\necho \"[sandbox] ${0##*/} 1.0\"\n"
		if err := os.WriteFile(filepath.Join(a.source, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func (a *account) options() Options {
	return Options{
		Environ:    []string{"HOME=" + a.home, "SHELL=/bin/bash", "PATH=/nowhere", "SALLYPORT_NOW=2026-10-01T12:00:00Z"},
		Dir:        a.home,
		Version:    "agent-setup test",
		Stdin:      strings.NewReader(""),
		Stdout:     &a.out,
		Stderr:     &a.out,
		Yes:        true,
		managedDir: a.managed,
	}
}

func (a *account) install(change ...func(*InstallOptions)) error {
	o := InstallOptions{Options: a.options(), Source: a.source}
	for _, f := range change {
		f(&o)
	}
	a.out.Reset()
	return Install(o)
}

func (a *account) uninstall(change ...func(*UninstallOptions)) error {
	o := UninstallOptions{Options: a.options()}
	for _, f := range change {
		f(&o)
	}
	a.out.Reset()
	return Uninstall(o)
}

func (a *account) settings() string { return filepath.Join(a.home, ".claude", "settings.json") }

func (a *account) write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
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

func exitCode(err error) int {
	var exit *cli.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.Code
	}
	return 1
}

// tree lists what is below a directory, contents included.
func tree(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v", path, info.Mode())
		if info.Mode().IsRegular() {
			fmt.Fprintf(&b, " %s", sum([]byte(read(t, path))))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPreview(t *testing.T) {
	a := newAccount(t)
	a.write(t, a.settings(), "{\n  \"env\": {\n    \"A\": \"hidden\"\n  },\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"x\\u001b[31m\"}]}\n    ]\n  },\n  \"authToken\": \"hidden\",\n  \"statusLine\": {\"type\": \"command\", \"command\": \"mine\"}\n}\n")
	a.write(t, filepath.Join(a.home, ".bashrc"), "export API_KEY=hidden\nalias ll='ls -l'")
	r, err := newRunner(a.options())
	if err != nil {
		t.Fatal(err)
	}
	i := &installer{runner: r, o: InstallOptions{Options: a.options(), Source: a.source}, client: version{2, 1, 332}, clientFound: true}
	p, err := i.plan()
	if err != nil {
		t.Fatal(err)
	}
	p.facts, p.manual = []string{"system: test"}, nil // of this machine
	r.show(p)
	got := strings.ReplaceAll(a.out.String(), a.home, "/home/me")
	for _, c := range p.changes {
		if c.Path == a.settings() { // holds the absolute path of the test's home
			got = strings.ReplaceAll(got, c.sum[:8], "????????")
		}
	}
	golden := filepath.Join("testdata", "preview.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, golden); got != want {
		t.Errorf("preview differs from %s (-update rewrites it):\n%s", golden, got)
	}
	if strings.Contains(got, "hidden") || strings.Contains(got, "\x1b") {
		t.Errorf("preview shows a secret or an escape:\n%s", got)
	}
}

// foreign makes settings that somebody else may have written.
type foreign struct {
	*rand.Rand
	unit, newline, colon, comma string
	multi                       bool
}

func (f foreign) pick(s ...string) string { return s[f.IntN(len(s))] }

func (f foreign) list(open, end string, items []string, depth int) string {
	if len(items) == 0 {
		return open + end
	}
	if !f.multi || f.IntN(6) == 0 {
		return open + strings.Join(items, f.comma) + end
	}
	pad := f.newline + strings.Repeat(f.unit, depth+1)
	return open + pad + strings.Join(items, ","+pad) + f.newline + strings.Repeat(f.unit, depth) + end
}

func (f foreign) value(depth int) string {
	if depth > 3 || f.IntN(3) > 0 {
		return f.pick("1e3", "-0", "1.50", "12345678901234567890", `"a\/b\u00e9"`, `"{"`, "true", "null", `""`, "{}", "[]")
	}
	var items []string
	if f.IntN(2) == 0 {
		for range f.IntN(4) {
			items = append(items, f.value(depth+1))
		}
		return f.list("[", "]", items, depth)
	}
	for i := range f.IntN(4) {
		items = append(items, `"`+f.pick("k", "a.b", "*", "ключ", "")+itoa(i)+`"`+f.colon+f.value(depth+1))
	}
	return f.list("{", "}", items, depth)
}

func (f foreign) settings() string {
	entry := func() string {
		return f.list("{", "}", []string{`"type"` + f.colon + `"command"`, `"command"` + f.colon + f.pick(`"mine"`, `"~/x y | z"`, `"bash -c 'agent-guard'"`), `"x"` + f.colon + f.value(5)}, 5)
	}
	group := func() string {
		var members, entries []string
		if f.IntN(4) > 0 {
			members = append(members, `"matcher"`+f.colon+f.pick(`"Bash"`, `"*"`, `""`, `"Monitor|Bash, PowerShell"`, `"PowerShell,Bash"`, `"mcp__.*"`))
		}
		for range f.IntN(3) {
			entries = append(entries, entry())
		}
		return f.list("{", "}", append(members, `"hooks"`+f.colon+f.list("[", "]", entries, 4)), 3)
	}
	var members, events []string
	for i := range f.IntN(4) {
		members = append(members, `"other`+itoa(i)+`"`+f.colon+f.value(1))
	}
	for _, e := range []string{"PreToolUse", "Stop", "PostToolUse", "PostToolUseFailure"} {
		if f.IntN(3) == 0 {
			continue
		}
		var groups []string
		for range f.IntN(3) {
			groups = append(groups, group())
		}
		events = append(events, `"`+e+`"`+f.colon+f.list("[", "]", groups, 2))
	}
	if f.IntN(4) > 0 {
		members = append(members, `"hooks"`+f.colon+f.list("{", "}", events, 1))
	}
	if f.IntN(3) == 0 {
		members = append(members, `"statusLine"`+f.colon+`{"type":"command","command":"mine"}`)
	}
	f.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return f.list("{", "}", members, 0) + f.pick("", f.newline, f.newline+f.newline)
}

func newForeign(seed uint64) foreign {
	f := foreign{Rand: rand.New(rand.NewPCG(seed, 1))}
	f.unit, f.newline = f.pick("  ", "\t", "    ", " "), f.pick("\n", "\n", "\r\n")
	f.colon, f.comma, f.multi = f.pick(":", ": "), f.pick(",", ", "), f.IntN(4) > 0
	return f
}

// What install adds, uninstall takes away to the byte, without a look at the
// original: the case of a file that changed in between.
func TestWiringIsUndone(t *testing.T) {
	for seed := range uint64(2000) {
		f := newForeign(seed)
		doc := f.settings()
		w := testWiring("bypass-warn", "agent-guard", "error-hint", "status-line")
		w.Shell = f.IntN(2) == 0
		w.Client = version{2, 1, 300 + f.IntN(50)}
		m, err := w.plan("x", parse(t, doc))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, doc)
		}
		wired, err := editJSON("x", []byte(doc), m.Edits)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, doc)
		}
		if again, err := w.plan("x", parse(t, string(wired))); err != nil || len(again.Edits) > 0 {
			t.Fatalf("seed %d: a second plan has %v, error %v\n%s", seed, again, err, wired)
		}
		created := m.Created
		if created == nil {
			created = []string{}
		}
		u := &unwiring{Created: created, Ours: func(inv invocation) bool {
			return strings.HasPrefix(expand(inv.program, "/h", ""), "/h/.claude/scripts/")
		}}
		back, err := u.plan("x", parse(t, string(wired)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := editJSON("x", wired, back.Edits)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != doc {
			t.Fatalf("seed %d: after install and uninstall\n%q\nwant\n%q\nwired\n%s\nedits %v", seed, got, doc, wired, back.Edits)
		}
	}
}

// The same with files, where nobody touched them in between.
func TestInstallIsUndone(t *testing.T) {
	for seed := range uint64(12) {
		a := newAccount(t)
		f := newForeign(1000 + seed)
		if seed > 0 {
			a.write(t, a.settings(), f.settings())
			a.write(t, filepath.Join(a.home, ".bashrc"), f.pick("", "x", "x\n", "x\r\ny"))
		}
		before := tree(t, a.home)
		if err := a.install(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, &a.out)
		}
		installed := tree(t, a.home)
		if err := a.install(); err != nil || !strings.Contains(a.out.String(), "nothing to do") {
			t.Fatalf("seed %d: a second install: %v\n%s", seed, err, &a.out)
		}
		if again := tree(t, a.home); again != installed {
			t.Fatalf("seed %d: a second install changed\n%s\nto\n%s", seed, installed, again)
		}
		if err := a.uninstall(); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(a.home, ".local")); err != nil {
			t.Fatal(err)
		}
		if after := tree(t, a.home); after != before {
			t.Fatalf("seed %d: before\n%s\nafter\n%s", seed, before, after)
		}
	}
}

func TestStepsInBetween(t *testing.T) {
	a := newAccount(t)
	original := "{\n\t\"a\": 1.0\n}\n"
	a.write(t, a.settings(), original)
	steps := []func(o *InstallOptions){
		func(o *InstallOptions) { o.Only = []string{"bypass-warn"} },
		func(o *InstallOptions) { o.With = []string{SelfProtect} },
		func(o *InstallOptions) { o.FailClose = yes() },
		func(o *InstallOptions) { o.Prefix = filepath.Join(a.home, "elsewhere") },
		func(o *InstallOptions) { o.Matchers = "seed" },
	}
	for i, step := range steps {
		if err := a.install(step); err != nil {
			t.Fatalf("step %d: %v\n%s", i, err, &a.out)
		}
	}
	if text := read(t, a.settings()); strings.Contains(text, ".claude/scripts") || strings.Count(text, "agent-guard") != 2 {
		t.Errorf("not everything moved along:\n%s", text)
	}
	if err := a.uninstall(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, a.settings()); got != original {
		t.Errorf("after several installs and one uninstall %q, want %q", got, original)
	}
	if left, _ := filepath.Glob(filepath.Join(a.home, "elsewhere", "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestOneAtATime(t *testing.T) {
	a := newAccount(t)
	state := filepath.Join(a.home, ".local", "state", "sallyport")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := atomicfile.TryLock(filepath.Join(state, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	lock.File().WriteString("4711\n")
	err = a.install()
	if exitCode(err) != cli.ExitRefused || !strings.Contains(err.Error(), "process 4711") {
		t.Errorf("install beside a holder of the lock: %v, want exit 3 and its pid", err)
	}
	if _, err := os.Stat(filepath.Join(a.home, ".claude")); err == nil {
		t.Error("it wrote all the same")
	}
	lock.Unlock()

	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			o := InstallOptions{Options: a.options(), Source: a.source}
			o.Stdout, o.Stderr = io.Discard, io.Discard
			if code := exitCode(Install(o)); code != 0 && code != cli.ExitRefused {
				t.Errorf("exit %d, want 0 or %d", code, cli.ExitRefused)
			}
		})
	}
	wg.Wait()
	if err := a.install(); err != nil || !strings.Contains(a.out.String(), "nothing to do") {
		t.Errorf("after six at once: %v\n%s", err, &a.out)
	}
	if text := read(t, a.settings()); strings.Count(text, "scripts/bypass-warn") != 1 {
		t.Errorf("wired more than once:\n%s", text)
	}
}

// A run that is killed between writing and renaming leaves the old files, and
// the next one clears up.
func TestKilledInBetween(t *testing.T) {
	a := newAccount(t)
	original := `{"a": 1}`
	a.write(t, a.settings(), original)
	r, err := newRunner(a.options())
	if err != nil {
		t.Fatal(err)
	}
	i := &installer{runner: r, o: InstallOptions{Options: a.options(), Source: a.source}}
	p, err := i.plan()
	if err != nil {
		t.Fatal(err)
	}
	tx := &transaction{}
	for _, c := range p.changes {
		if c.stage != nil {
			if err := c.stage(tx); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Here the process dies: no commit, no rollback.
	if got := read(t, a.settings()); got != original {
		t.Errorf("settings %q, want them as they were", got)
	}
	stray := func() (found []string) {
		filepath.WalkDir(a.home, func(path string, d fs.DirEntry, err error) error {
			if strings.Contains(path, tempMark) {
				found = append(found, path)
			}
			return nil
		})
		return found
	}
	if len(stray()) == 0 {
		t.Fatal("the test staged nothing")
	}
	// Its pid is another one by then.
	for _, path := range stray() {
		if err := os.Rename(path, path[:strings.LastIndex(path, tempMark)]+tempMark+"1"); err != nil {
			t.Fatal(err)
		}
	}
	a.write(t, a.settings()+tempMark+"mine", "x")
	if err := a.install(); err != nil {
		t.Fatalf("%v\n%s", err, &a.out)
	}
	if got := stray(); !slices.Equal(got, []string{a.settings() + tempMark + "mine"}) {
		t.Errorf("temporary files left: %q", got)
	}
}

// A change that is refused at the last moment undoes those before it.
func TestAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		return path
	}
	changed, removed, link := put("changed", "old"), put("removed", "old"), filepath.Join(dir, "link")
	if err := os.Symlink("old-target", link); err != nil {
		t.Skip("no symbolic links here")
	}
	blocked := filepath.Join(dir, "blocked")
	before := tree(t, dir)
	tx := &transaction{}
	err := errors.Join(
		tx.write(changed, []byte("new"), 0),
		tx.write(filepath.Join(dir, "new"), []byte("new"), 0o600),
		tx.link(link, "new-target"),
		tx.mkdir(filepath.Join(dir, "a", "b"), 0o700),
		tx.write(filepath.Join(dir, "a", "b", "c"), []byte("new"), 0o600),
	)
	tx.remove(removed)
	err = errors.Join(err, tx.write(blocked, []byte("new"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(blocked, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := tx.commit(); err == nil {
		t.Fatal("commit over a directory succeeded")
	}
	tx.rollback()
	os.Remove(blocked)
	if after := tree(t, dir); after != before {
		t.Errorf("before\n%s\nafter a failed commit\n%s", before, after)
	}
}

// Whichever change fails, before or after it wrote, everything is as it was.
func TestFailureAtEachStep(t *testing.T) {
	a := newAccount(t)
	a.write(t, a.settings(), "{\n\t\"a\": 1.0\n}")
	a.write(t, filepath.Join(a.home, ".bashrc"), "x")
	a.write(t, filepath.Join(a.home, ".claude", "scripts", "agent-guard"), "somebody's")
	before := tree(t, a.home)
	broken := errors.New("broken")
	for step := 0; ; step++ {
		r, err := newRunner(a.options())
		if err != nil {
			t.Fatal(err)
		}
		i := &installer{runner: r, o: InstallOptions{Options: a.options(), Source: a.source}}
		p, err := i.plan()
		if err != nil {
			t.Fatal(err)
		}
		if step/2 >= len(p.changes) {
			break
		}
		c := &p.changes[step/2]
		stage := c.stage
		c.stage = func(tx *transaction) error {
			if step%2 == 1 && stage != nil {
				if err := stage(tx); err != nil {
					return err
				}
			}
			return broken
		}
		if err := r.apply(p); !errors.Is(err, broken) {
			t.Fatalf("step %d: apply = %v", step, err)
		}
		if after := tree(t, a.home); after != before {
			t.Fatalf("step %d (%s): before\n%s\nafter\n%s", step, c.Path, before, after)
		}
	}
}

func TestBackupsAreBounded(t *testing.T) {
	a := newAccount(t)
	backups := filepath.Join(a.home, ".local", "state", "sallyport", "backups")
	for n := range 30 {
		a.write(t, filepath.Join(backups, fmt.Sprintf("202601%02dT000000.000000Z", n+1), "f"), "x")
	}
	a.write(t, filepath.Join(backups, "mine", "f"), "x")
	a.write(t, a.settings(), "{}")
	if err := a.install(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(backups)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) != backupsKept+1 || !slices.Contains(names, "mine") || !slices.Contains(names, "20261001T120000.000000Z") || slices.Contains(names, "20260105T000000.000000Z") {
		t.Errorf("backups %q, want the last %d and what is not ours", names, backupsKept)
	}
}

func TestManagedSettingsForbidHooks(t *testing.T) {
	for _, text := range []string{`{"allowManagedHooksOnly": true}`, `{"disableAllHooks": true}`} {
		a := newAccount(t)
		a.write(t, filepath.Join(a.managed, "managed-settings.json"), text)
		err := a.install()
		if exitCode(err) != cli.ExitFindings || !strings.Contains(a.out.String(), "wired but will not run") || !strings.Contains(a.out.String(), "managed-settings.json") {
			t.Errorf("%s: %v\n%s", text, err, &a.out)
		}
		if !strings.Contains(read(t, a.settings()), "agent-guard") {
			t.Errorf("%s: not wired", text)
		}
	}
}

func TestNoexec(t *testing.T) {
	if os.Geteuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("needs to mount a file system")
	}
	a := newAccount(t)
	dir := filepath.Join(a.home, "noexec")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "noexec,size=1m", "none", dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount here: %s", out)
	}
	defer exec.Command("umount", dir).Run()
	err := a.install(func(o *InstallOptions) { o.Prefix = dir })
	if exitCode(err) != cli.ExitRefused || !strings.Contains(err.Error(), "noexec") {
		t.Errorf("install on a noexec mount: %v\n%s", err, &a.out)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if _, err := os.Stat(a.settings()); err == nil {
		t.Error("the settings were written")
	}
}

func TestInsideSandbox(t *testing.T) {
	filtered := "Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\n"
	for _, tt := range []struct {
		why    string
		env    map[string]string
		status string
		comm   string
		inside bool
	}{
		{"a terminal", map[string]string{"TMPDIR": "/tmp"}, "Seccomp:\t0\n", "systemd", false},
		{"a container alone", nil, filtered, "sh", false},
		{"a proxy of the company", map[string]string{"HTTPS_PROXY": "http://me@proxy:3128"}, filtered, "sh", false},
		{"proxy and filter", map[string]string{"HTTPS_PROXY": "http://srt:x@localhost:3128"}, filtered, "sh", true},
		{"directory and bubblewrap", map[string]string{"TMPDIR": "/tmp/claude/s1"}, "", "bwrap", true},
		{"a name that only begins alike", map[string]string{"TMPDIR": "/tmp/claudette", "SANDBOX_RUNTIME": "1"}, "", "sh", false},
		{"two signs", map[string]string{"TMPDIR": "/tmp/claude-1000", "SANDBOX_RUNTIME": "1"}, "", "sh", true},
	} {
		_, inside := insideSandbox(func(k string) string { return tt.env[k] }, func(path string) ([]byte, error) {
			if path == "/proc/1/comm" {
				return []byte(tt.comm + "\n"), nil
			}
			return []byte(tt.status), nil
		})
		if inside != tt.inside {
			t.Errorf("%s: inside %v, want %v", tt.why, inside, tt.inside)
		}
	}
}

func TestMask(t *testing.T) {
	for in, want := range map[string]string{
		`{"env":{"A":"x","B":1},"c":"y"}`:                          `{"env":{"A":"***","B":"***"},"c":"y"}`,
		`{"a":[{"apiKey" : "x" , "b":[{"Token":{"c":["x",2]}}]}]}`: `{"a":[{"apiKey" : "***" , "b":[{"Token":{"c":["***","***"]}}]}]}`,
		"{\r\n\t\"PASSWORD\":\r\n\"a\\\"b\"\r\n}":                  "{\r\n\t\"PASSWORD\":\r\n\"***\"\r\n}",
		`{"s":"\"token\":\"x\""}`:                                  `{"s":"\"token\":\"x\""}`,
	} {
		if got := string(maskJSON([]byte(in))); got != want {
			t.Errorf("maskJSON(%s) = %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"export GH_TOKEN='a b' X=1\nls\n": "export GH_TOKEN=***\nls\n",
		"MY_KEY=x":                        "MY_KEY=***",
		"A=b\n":                           "A=b\n",
		"set -gx API_KEY x y\n":           "set -gx API_KEY ***\n",
		"echo token\n":                    "echo token\n",
	} {
		if got := string(maskShell([]byte(in))); got != want {
			t.Errorf("maskShell(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestBlock(t *testing.T) {
	text := block(shellPOSIX, "/h/a \"$b`", "", "/h", false)
	for _, shell := range []string{"bash", "dash", "zsh"} {
		program, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		cmd := exec.Command(program, "-c", text+text+`printf '%s' "$PATH"`)
		cmd.Env = []string{"HOME=/h", "PATH=/bin"}
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "/bin:/h/a \"$b`" {
			t.Errorf("%s: %v, PATH %q", shell, err, out)
		}
	}
	if fish, err := exec.LookPath("fish"); err == nil {
		cmd := exec.Command(fish, "--no-config", "-c", block(shellFish, "/h/a \"$b", "", "/h", false)+`string join : $PATH`)
		cmd.Env = []string{"HOME=/h", "PATH=/bin"}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), ":/h/a \"$b") {
			t.Errorf("fish: %v, PATH %q", err, out)
		}
	}
	for _, broken := range []string{blockBegin + "\n", blockEnd + "\n", blockBegin + "\n" + blockBegin + "\n" + blockEnd + "\n", blockBegin + "\n" + blockEnd + "\n" + blockBegin + "\n" + blockEnd} {
		if _, err := putBlock("rc", broken, text); exitCode(err) != cli.ExitInput {
			t.Errorf("putBlock over %q: %v, want exit 2", broken, err)
		}
	}
}

func FuzzBlock(f *testing.F) {
	f.Add("a\nb")
	f.Add(blockBegin + "\r\nx\n" + blockEnd)
	f.Fuzz(func(t *testing.T, text string) {
		with, err := putBlock("rc", text, block(shellPOSIX, "/h/x", "", "/h", false))
		if err != nil {
			return
		}
		again, err := putBlock("rc", with, block(shellPOSIX, "/h/x", "", "/h", false))
		if err != nil || again != with {
			t.Fatalf("a second time: %v\n%q\n%q", err, with, again)
		}
		_, had, _ := findBlock("rc", text)
		without, err := dropBlock("rc", with)
		if err != nil || !had && without != text && without != text+"\n" {
			t.Fatalf("%v: %q without the block is %q", err, text, without)
		}
	})
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{"dryrun": "dry-run", "YES": "yes", "with-out": "without", "": "yes"} {
		if got := Nearest(name, []string{"yes", "dry-run", "without"}); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

// The client writes its settings without taking a lock.
func TestChangedInThisMoment(t *testing.T) {
	for _, tt := range []struct {
		why    string
		before *string
		change func(path string) error
	}{
		{"edited", ptr("old"), func(path string) error { return os.WriteFile(path, []byte("theirs"), 0o600) }},
		{"removed", ptr("old"), os.Remove},
		{"made", nil, func(path string) error { return os.WriteFile(path, []byte("theirs"), 0o600) }},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "settings.json")
		var was []byte
		if tt.before != nil {
			was = []byte(*tt.before)
			if err := os.WriteFile(path, was, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tx := &transaction{}
		if err := tx.edit(path, was, []byte("ours")); err != nil {
			t.Fatal(err)
		}
		if err := tt.change(path); err != nil {
			t.Fatal(err)
		}
		theirs := tree(t, dir)
		if err := tx.commit(); exitCode(err) != cli.ExitRefused {
			t.Errorf("%s: commit = %v, want exit 3", tt.why, err)
		}
		tx.rollback()
		if after, _ := os.ReadFile(path); string(after) == "ours" || !strings.Contains(theirs, tempMark) || strings.Contains(tree(t, dir), tempMark) {
			t.Errorf("%s: %q after rollback\n%s", tt.why, after, tree(t, dir))
		}
	}
}

func ptr(s string) *string { return &s }

// A component whose second program is missing would install half a feature.
func TestAvailableNeedsEveryProgram(t *testing.T) {
	a := newAccount(t)
	has := func() bool {
		return slices.ContainsFunc(available(a.source), func(c Component) bool { return c.Name == "status-line" })
	}
	if !has() {
		t.Fatal("status-line is not available with both programs there")
	}
	if err := os.Remove(filepath.Join(a.source, executable("status-line-configure"))); err != nil {
		t.Fatal(err)
	}
	if has() {
		t.Error("status-line is available without the program of its screen")
	}
}

// What is installed is what self-protect keeps an agent from changing.
func TestGuardsKnowWhatIsInstalled(t *testing.T) {
	known := guards.Programs()
	for _, c := range components() {
		for _, name := range append(c.programs(), c.Links...) {
			if !slices.Contains(known, name) {
				t.Errorf("%s of %s is not among the programs that self-protect covers", name, c.Name)
			}
		}
	}
}
