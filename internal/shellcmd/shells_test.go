package shellcmd

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// stubs are the programs that record how they were started.
var stubs = []string{"git", "gh", "curl"}

const stubScript = `#!/bin/sh
printf '%s\0' "${0##*/}" "$PWD" "$#" "$@" >> "$REC"
`

type corpusEntry struct {
	line  int
	flags []string
	why   string
	src   string
}

func (e corpusEntry) has(flag string) bool { return slices.Contains(e.flags, flag) }

func readCorpus(t testing.TB) []corpusEntry {
	data, err := os.ReadFile(filepath.Join("testdata", "shell.corpus"))
	if err != nil {
		t.Fatal(err)
	}
	var out []corpusEntry
	var cur *corpusEntry
	var body []string
	flush := func() {
		if cur == nil {
			return
		}
		if cur.has("lines") {
			for i := 0; i < len(body); i++ {
				if body[i] == "" {
					continue
				}
				e := *cur
				e.line += i + 1
				e.src = body[i]
				// A line whose quotes or here-document go on takes the next ones.
				for i+1 < len(body) && body[i+1] != "" && !complete(e.src) {
					i++
					e.src += "\n" + body[i]
				}
				out = append(out, e)
			}
		} else {
			cur.src = strings.TrimRight(strings.Join(body, "\n"), "\n") + "\n"
			out = append(out, *cur)
		}
		body = nil
	}
	for i, l := range strings.Split(string(data), "\n") {
		if rest, ok := strings.CutPrefix(l, "#: "); ok {
			flush()
			flags, why, found := strings.Cut(rest, ": ")
			if !found {
				flags, why = "", rest
			}
			for _, f := range strings.Fields(flags) {
				if !slices.Contains([]string{"lines", "extra", "dynamic", "bash", "nozsh", "nodash"}, f) {
					flags, why = "", rest // a colon of the sentence
				}
			}
			cur = &corpusEntry{line: i + 1, flags: strings.Fields(flags), why: why}
			continue
		}
		body = append(body, l)
	}
	flush()
	return out
}

func complete(src string) bool {
	w := &walker{line: &Line{}}
	_, _, err := w.parseOnce(src+"\n", 1)
	return err == nil
}

type started struct {
	name, dir string
	args      []string
}

// runReal runs a line in a real shell and returns the programs it started.
func runReal(t *testing.T, shell, bin, src string) ([]started, string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, home, tmp := filepath.Join(root, "work"), filepath.Join(root, "home"), filepath.Join(root, "tmp")
	for _, d := range []string{filepath.Join(work, "sub", "deep"), home, tmp} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	rec := filepath.Join(root, "rec")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	args := []string{"-c", src}
	if shell == "zsh" {
		args = []string{"-f", "-c", src}
	}
	cmd := exec.CommandContext(ctx, shell, args...)
	cmd.Dir = work
	cmd.Env = []string{"PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "REC=" + rec, "TMPDIR=" + tmp, "LC_ALL=C.UTF-8", "PWD=" + work}
	cmd.WaitDelay = time.Second
	out, _ := cmd.CombinedOutput() // its exit status says nothing here
	if ctx.Err() != nil {
		t.Fatalf("%s did not end: %s", shell, out)
	}
	data, err := os.ReadFile(rec)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var list []started
	f := bytes.Split(data, []byte{0})
	for i := 0; i+2 < len(f); {
		n, err := strconv.Atoi(string(f[i+2]))
		if err != nil {
			t.Fatalf("record of a stub: %q", data)
		}
		s := started{name: string(f[i]), dir: string(f[i+1])}
		for _, a := range f[i+3 : i+3+n] {
			s.args = append(s.args, string(a))
		}
		list = append(list, s)
		i += 3 + n
	}
	return list, work
}

// fits reports whether a command that Parse saw is the one that was started.
func fits(c *Command, s started, dynamic bool) bool {
	if c.Name() != s.name && !(dynamic && c.Name() == "") {
		return false
	}
	if !c.Dir.Unknown && c.Dir.Path != s.dir {
		return false
	}
	return fitArgs(c.Args[1:], s.args, dynamic)
}

func fitArgs(words []Word, args []string, dynamic bool) bool {
	if len(words) == 0 {
		return len(args) == 0
	}
	w := words[0]
	if w.Static {
		return len(args) > 0 && args[0] == w.Value && fitArgs(words[1:], args[1:], dynamic)
	}
	if !dynamic {
		return false
	}
	if w.Quoted {
		return len(args) > 0 && fitArgs(words[1:], args[1:], dynamic)
	}
	for n := 0; n <= len(args); n++ {
		if fitArgs(words[1:], args[n:], dynamic) {
			return true
		}
	}
	return false
}

func TestAgainstShells(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some thousand processes")
	}
	if runtime.GOOS == "windows" {
		t.Skip("needs shells with Unix paths")
	}
	entries := readCorpus(t)
	if len(entries) < 250 {
		t.Errorf("corpus has %d entries, want at least 250", len(entries))
	}
	// Written before anything is started: a program whose file another process
	// still has open for writing cannot be started.
	bin := t.TempDir()
	for _, s := range stubs {
		if err := os.WriteFile(filepath.Join(bin, s), []byte(stubScript), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, sh := range []string{"bash", "dash", "zsh"} {
		if _, err := exec.LookPath(sh); err != nil {
			t.Logf("no %s here: its lines are not compared", sh)
			continue
		}
		if sh == "bash" {
			if out, _ := exec.Command(sh, "-c", "echo $BASH_VERSINFO").Output(); len(out) < 1 || out[0] < '5' {
				t.Logf("bash %s is too old to compare", out)
				continue
			}
		}
		t.Run(sh, func(t *testing.T) {
			for _, e := range entries {
				if sh != "bash" && e.has("bash") || e.has("no"+sh) {
					continue
				}
				t.Run(strconv.Itoa(e.line), func(t *testing.T) {
					t.Parallel()
					compareShell(t, sh, bin, e)
				})
			}
		})
	}
}

// dirsOnly is a file system of directories without files.
type dirsOnly []string

func (d dirsOnly) ReadFile(string, int) ([]byte, bool) { return nil, false }
func (d dirsOnly) IsDir(path string) bool              { return slices.Contains(d, path) }

// optional are programs that a system may lack.
var optional = []string{"perl", "awk", "xxd", "flock", "taskset", "chrt", "ionice", "setsid", "script", "stdbuf", "timeout", "nohup", "base64", "rev", "mktemp", "tac", "unshare"}

func compareShell(t *testing.T, sh, bin string, e corpusEntry) {
	for word := range strings.FieldsSeq(e.src) {
		if slices.Contains(optional, word) {
			if _, err := exec.LookPath(word); err != nil {
				t.Skipf("no %s here", word)
			}
		}
	}
	if runtime.GOOS != "linux" && strings.HasPrefix(e.why, "wrappers") {
		t.Skip("the options are those of the GNU and util-linux programs")
	}
	real, work := runReal(t, sh, bin, e.src)
	home := filepath.Join(filepath.Dir(work), "home")
	opt := Options{Dir: work, FS: dirsOnly{work, filepath.Join(work, "sub"), filepath.Join(work, "sub", "deep"), home, "/"}, Env: func(name string) (string, bool) {
		switch name {
		case "HOME":
			return home, true
		case "PATH":
			return "/bin", true
		}
		return "", false
	}}
	switch sh {
	case "zsh":
		opt.Dialect = Zsh
	case "dash":
		opt.Dialect = POSIX
	}
	line := Parse(e.src, opt)
	var saw []*Command
	for _, c := range line.Commands {
		if slices.Contains(stubs, c.Name()) || e.has("dynamic") && c.Name() == "" {
			saw = append(saw, c)
		}
	}
	matched := make([]bool, len(saw))
	for _, s := range real {
		found := false
		for i, c := range saw {
			if fits(c, s, e.has("dynamic")) {
				found, matched[i] = true, true
			}
		}
		if !found {
			t.Errorf("%s (%s)\n%s started %s %q in %s\nParse saw %s", e.why, e.src, sh, s.name, s.args, s.dir, describe(saw))
		}
	}
	if e.has("extra") {
		return
	}
	for i, c := range saw {
		if !matched[i] {
			t.Errorf("%s (%s)\nParse saw %s\n%s started %q", e.why, e.src, describe([]*Command{c}), sh, real)
		}
	}
}

func describe(list []*Command) string {
	var b strings.Builder
	for _, c := range list {
		for _, a := range c.Args {
			b.WriteString(strconv.Quote(a.Value))
			if !a.Static {
				b.WriteString("?")
			}
			b.WriteByte(' ')
		}
		b.WriteString("in " + c.Dir.Path + "; ")
	}
	return b.String()
}
