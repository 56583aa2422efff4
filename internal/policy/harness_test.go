package policy

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sallyport/internal/testenv"
)

// A bench is a home directory with sources, for tests.
type bench struct {
	t    testing.TB
	dir  string // where configuration and sources lie
	home string
	env  map[string]string
	cwd  string
}

// newBench makes a home with valid and empty sources.
func newBench(t testing.TB) *bench {
	t.Helper()
	home := testenv.Dir(t)
	b := &bench{t: t, dir: filepath.Join(home, ".config", "sallyport"), home: home, env: map[string]string{}, cwd: home}
	b.config("")
	b.srt(`{}`)
	b.bash(`{}`)
	return b
}

// inMemory puts the test's directories into memory where the system has such a
// place: tests that write thousands of small files wait for a disk otherwise.
func inMemory(t *testing.T) {
	const shm = "/dev/shm"
	if dir, err := os.MkdirTemp(shm, "probe-"); err == nil {
		os.Remove(dir)
		t.Setenv("TMPDIR", shm)
	}
}

func (b *bench) config(text string) {
	b.write(filepath.Join(b.dir, "policy.toml"), "[sources]\nsrt = \"srt.json\"\n"+text)
}
func (b *bench) srt(text string)  { b.write(filepath.Join(b.dir, "srt.json"), text) }
func (b *bench) bash(text string) { b.write(filepath.Join(b.dir, "bash-rules.json"), text) }

func (b *bench) write(path, text string) {
	b.t.Helper()
	testenv.Write(b.t, path, text)
}

func (b *bench) path(rel string) string { return filepath.Join(b.home, rel) }

func (b *bench) read(rel string) string {
	b.t.Helper()
	data, err := os.ReadFile(b.path(rel))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

func (b *bench) request(agent Agent, change ...func(*Request)) *Request {
	r := &Request{
		Env:    Env{Home: b.home, Dir: b.cwd, Getenv: func(name string) string { return b.env[name] }},
		Config: filepath.Join(b.dir, "policy.toml"), Named: true, Agent: agent,
	}
	for _, f := range change {
		f(r)
	}
	return r
}

func write(r *Request)   { r.Write = true }
func yolo(r *Request)    { r.Yolo = true }
func prune(r *Request)   { r.Prune = true }
func noProbe(r *Request) { r.NoLook = true }
func strict(r *Request)  { r.Strict = true }

// generate runs and fails the test on a problem.
func (b *bench) generate(agent Agent, change ...func(*Request)) *Result {
	b.t.Helper()
	res := Generate(b.request(agent, change...))
	if res.Exit != 0 || len(res.Problems) > 0 {
		b.t.Fatalf("generate %s: exit %d, %v", agent, res.Exit, res.Problems)
	}
	return res
}

func (b *bench) preview(agent Agent, change ...func(*Request)) (string, []string) {
	b.t.Helper()
	res := b.generate(agent, change...)
	return res.Outcomes[0].product.preview(), ids(res.Warnings)
}

func ids(list []Warning) (out []string) {
	for _, w := range list {
		out = append(out, w.ID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func problemIDs(list []Problem) (out []string) {
	for _, p := range list {
		out = append(out, p.ID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func findings(r *Result) (out []string) {
	for _, o := range r.Outcomes {
		for _, d := range o.diffs {
			out = append(out, fmt.Sprintf("%s %s %s", d.class, d.section, d.show()))
		}
	}
	return out
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s\n got:\n%s\nwant:\n%s", what, got, want)
	}
}

func sameList(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n got: %s\nwant: %s", what, strings.Join(got, "\n      "), strings.Join(want, "\n      "))
	}
}

// print is a result as a person or, with asJSON, a program sees it.
func printed(r *Result, asJSON bool, show func(*Printer, *Result)) string {
	var out bytes.Buffer
	show(&Printer{Out: &out, Err: &out, JSON: asJSON}, r)
	return out.String()
}
