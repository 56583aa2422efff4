package guards_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sallyport/guards"
	"sallyport/internal/guardcases"
	"sallyport/internal/term"
)

var update = flag.Bool("update", false, "rewrite generated files")

// lab is one for all tests of the package: making the repository takes longer
// than judging in it.
var lab = sync.OnceValues(func() (*guardcases.Lab, error) { return guardcases.NewLab(labDir) })

var labDir string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "guards")
	if err != nil {
		panic(err)
	}
	labDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func newLab(t *testing.T) *guardcases.Lab {
	t.Helper()
	l, err := lab()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// run judges a command with one guard, or with all of them.
func run(t *testing.T, c *guardcases.Case) *guards.Report {
	t.Helper()
	rep, err := newLab(t).Run(c, guards.Bundled())
	if err != nil {
		t.Fatalf("%s: %v", c.Command, err)
	}
	return rep
}

func TestExamples(t *testing.T) {
	for _, g := range guards.Bundled() {
		hits, misses := 0, 0
		for _, e := range g.Examples {
			if e.Verdict == guards.Pass {
				misses++
			} else {
				hits++
			}
			rep := run(t, &guardcases.Case{Command: e.Command, Setup: e.Setup, Guards: []string{g.Name}})
			if rep.Verdict != e.Verdict {
				t.Errorf("%s: %s\n(%s)\n%s", g.Name, e.Command, e.Why, guardcases.Judge(e.Verdict.String(), rep))
			}
		}
		if hits == 0 || misses == 0 {
			t.Errorf("%s has %d examples that are stopped and %d near misses, want some of each", g.Name, hits, misses)
		}
		for _, text := range []string{g.Title, g.Doc.What, g.Doc.Why, g.Doc.Instead, g.Doc.Limits} {
			if text == "" {
				t.Errorf("%s: a part of the documentation is missing", g.Name)
			}
		}
	}
}

func TestCaseFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no case files: %v", err)
	}
	total, hits := 0, 0
	rc := &reasonChecker{map[string]bool{}}
	for _, f := range files {
		cases, err := guardcases.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		for i := range cases {
			c := &cases[i]
			rep, err := newLab(t).Run(c, guards.Bundled())
			if err != nil {
				t.Errorf("%s: %v", c.ID, err)
				continue
			}
			total++
			rc.check(t, c, rep)
			if c.Expect != "allow" {
				hits++
			}
			if wrong := guardcases.Judge(c.Expect, rep); wrong != "" {
				t.Errorf("%s: %s\n  %s%s\n  why: %s", c.ID, wrong, c.Command, c.Input, c.Why)
			}
		}
	}
	t.Logf("%d cases, %d of them stopped", total, hits)
}

// A reasonChecker looks at the form of reasons, and asks the guards about every
// command that one suggests: the product never suggests what it would refuse.
type reasonChecker struct{ seen map[string]bool }

func (rc *reasonChecker) check(t *testing.T, c *guardcases.Case, rep *guards.Report) {
	command := c.Command
	for i := range rep.Results {
		res := &rep.Results[i]
		if line, ok := res.Overridden(); ok && res.Verdict != guards.Pass {
			with := *c
			with.Command = line
			for _, again := range run(t, &with).Results {
				if again.Guard == res.Guard && again.Finding.Found == res.Finding.Found && again.Verdict != guards.Pass {
					t.Errorf("%s: the override does not work: %s", command, line)
				}
			}
		}
		reason := res.Reason(guards.InlineAllow)
		if !strings.HasPrefix(reason, "agent-guard["+res.Guard.Name+"]: ") || !strings.Contains(reason, " — ") || !strings.Contains(reason, "Override") {
			t.Errorf("%s: the reason has not its form: %s", command, reason)
		}
		if term.Clean(reason, 10_000) != reason || len(reason) > 4000 {
			t.Errorf("%s: the reason is not one clean, bounded line: %q", command, reason)
		}
		if res.Finding.Fix == "" {
			t.Errorf("%s: %s has no fix", command, res.Guard.Name)
		}
		for j, part := range strings.Split(res.Finding.Fix, "`") {
			if j%2 == 0 || rc.seen[part] {
				continue
			}
			rc.seen[part] = true
			// In the worst state: changes, an untracked file, a stash.
			fix := run(t, &guardcases.Case{Command: part, Setup: "git stash -q\nprintf x > draft\necho y >> a.txt"})
			if fix.Verdict != guards.Pass {
				t.Errorf("%s: the fix %q is itself stopped: %s", command, part, fix.Results[0].Reason(guards.InlineAllow))
			}
		}
	}
}

func TestFixesPass(t *testing.T) {
	rc := &reasonChecker{map[string]bool{}}
	for _, g := range guards.Bundled() {
		for _, e := range g.Examples {
			c := &guardcases.Case{Command: e.Command, Setup: e.Setup, Guards: []string{g.Name}}
			rc.check(t, c, run(t, c))
		}
	}
	if len(rc.seen) < 5 {
		t.Errorf("only %d suggested commands were found", len(rc.seen))
	}
}

func TestDocumentation(t *testing.T) {
	const path = "../docs/guards.md"
	want := guards.Markdown(guards.Bundled())
	if *update {
		if err := os.MkdirAll("../docs", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s does not say what the guards say (%v); go test ./guards -run TestDocumentation -update writes it", path, err)
	}
}
