package template

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sallyport/internal/lint"
	"sallyport/settings"
)

var update = flag.Bool("update", false, "rewrite docs/project-settings.md")

func TestDocs(t *testing.T) {
	const file = "../../docs/project-settings.md"
	if *update {
		if err := os.WriteFile(file, []byte(Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != Markdown() {
		t.Errorf("%s is not what the table says; run go test ./internal/template -update", file)
	}
}

func parse(t *testing.T, text string) settings.Node {
	t.Helper()
	if text == "" {
		return settings.Node{}
	}
	d, err := settings.ParseDocument([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d.Root()
}

func merged(t *testing.T, before string, rows []Row) (string, *Merge) {
	t.Helper()
	m, err := Plan(parse(t, before), rows)
	if err != nil {
		t.Fatal(err)
	}
	after, err := settings.Apply([]byte(before), m.Changes...)
	if err != nil {
		t.Fatal(err)
	}
	return string(after), m
}

// TestLevels: every choice gives a file that the linter has nothing against,
// that a second merge leaves alone, and that has no entry twice.
func TestLevels(t *testing.T) {
	for _, words := range [][]string{
		{"minimal"}, {"recommended"}, {"strict"},
		{"strict", "python", "node", "go", "rust", "java", "gpg", "ssh-sign", "container"},
	} {
		c, err := Choose(words)
		if err != nil {
			t.Fatal(err)
		}
		c = c.For(t.TempDir())
		rows := c.Rows()
		for i := range rows {
			if rows[i].Asked != "" {
				rows[i].Values = quoted("host.example")
			}
		}
		rows = slices.DeleteFunc(rows, func(r Row) bool { return r.Local })
		after, m := merged(t, "", rows)
		for i, e := range m.Added {
			if slices.ContainsFunc(m.Added[:i], func(o Entry) bool { return o.Key == e.Key && o.Value == e.Value }) {
				t.Errorf("%v: %s %s is added twice", words, e.Key, e.Value)
			}
			if e.Why == "" {
				t.Errorf("%v: %s %s has no reason", words, e.Key, e.Value)
			}
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "settings.json")
		if err := os.WriteFile(file, []byte(after), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, b := range Check(lint.Config{Dir: dir, Home: "/home/ana", Platform: "linux"}, file) {
			t.Errorf("%v: %s %s: %s", words, b.Rule, b.Pointer, b.Message)
		}
		again, m := merged(t, after, rows)
		if again != after || len(m.Added)+len(m.Yours)+len(m.Differs)+len(m.Left) > 0 {
			t.Errorf("%v: a second merge is not empty: added %v, yours %v, differs %v, left %v", words, m.Added, m.Yours, m.Differs, m.Left)
		}
	}
}

// TestUnion: nothing that stands in a file is lost, loosened or doubled.
func TestUnion(t *testing.T) {
	c, _ := Choose([]string{"strict", "python"})
	rows := c.For(t.TempDir()).Rows()
	for _, tt := range []struct {
		name, before string
		has, not     []string // in the text afterwards
		differs      string   // key
		left         string   // value
		yours        string   // key
	}{
		{name: "a value of the file stays", before: `{"sandbox":{"failIfUnavailable":false}}`, has: []string{`"failIfUnavailable":false`}, not: []string{`"failIfUnavailable":true`, `"failIfUnavailable": true`}, differs: "sandbox.failIfUnavailable"},
		{name: "null counts as not set", before: `{"sandbox":{"enabled":null}}`, has: []string{`"enabled":true`}, not: []string{"null"}},
		{name: "a stricter value stays", before: `{"sandbox":{"autoAllowBashIfSandboxed":true}}`, has: []string{`"autoAllowBashIfSandboxed":true`}, differs: "sandbox.autoAllowBashIfSandboxed"},
		{name: "a path with and without slash is the same", before: `{"sandbox":{"filesystem":{"denyRead":["~"],"allowRead":["~/.cache"]}}}`, has: []string{`"denyRead":["~"],"allowRead":["~/.cache",".","~/.gitconfig","~/.config/git/","~/.config/gh/",`}},
		{name: "what denyRead closes is not opened", before: `{"sandbox":{"filesystem":{"denyRead":["~/.config/git"]}}}`, left: `"~/.config/git/"`},
		{name: "nor anything above it", before: `{"sandbox":{"filesystem":{"denyRead":["~/.cache/keys/"]}}}`, left: `"~/.cache/"`},
		{name: "a Read rule closes too", before: `{"permissions":{"deny":["Read(~/.local/bin/**)"]}}`, left: `"~/.local/bin/"`},
		{name: "an Edit rule closes writing", before: `{"permissions":{"deny":["Edit(~/.cache/**)"]}}`, left: `"~/.cache/"`},
		{name: "a denied rule is not allowed", before: `{"permissions":{"deny":["Bash(gh pr view *)"]}}`, left: `"Bash(gh pr view *)"`},
		{name: "a rule that asks is not allowed", before: `{"permissions":{"ask":["Bash(gh pr view *)"]}}`, left: `"Bash(gh pr view *)"`},
		{name: "a denied host is not allowed", before: `{"sandbox":{"network":{"deniedDomains":["github.com"]}}}`, left: `"github.com"`},
		{name: "nor one under a denied domain", before: `{"sandbox":{"network":{"deniedDomains":["*.github.com"]}}}`, left: `"api.github.com"`},
		{name: "entries of the file are yours", before: `{"sandbox":{"network":{"allowedDomains":["intra.example"]}}}`, has: []string{"intra.example"}, yours: "sandbox.network.allowedDomains"},
		{name: "keys of the file are yours", before: `{"model":"x","sandbox":{"network":{"allowLocalBinding":true}}}`, has: []string{`"model":"x"`}, yours: "sandbox.network.allowLocalBinding"},
		{name: "a variable that is masked stays masked", before: `{"sandbox":{"credentials":{"envVars":[{"name":"GH_TOKEN","mode":"mask"}]}}}`, has: []string{`{"name":"GH_TOKEN","mode":"mask"}`}, not: []string{`"name":"GH_TOKEN","mode":"deny"`}},
	} {
		after, m := merged(t, tt.before, rows)
		for _, s := range tt.has {
			if !strings.Contains(after, s) {
				t.Errorf("%s: %s\ngot %s\nwant it to hold %s", tt.name, tt.before, after, s)
			}
		}
		for _, s := range tt.not {
			if strings.Contains(after, s) {
				t.Errorf("%s: %s\ngot %s\nwant it without %s", tt.name, tt.before, after, s)
			}
		}
		if got := func() bool {
			return tt.differs == "" || slices.ContainsFunc(m.Differs, func(e Entry) bool { return e.Key == tt.differs && e.Line > 0 })
		}(); !got {
			t.Errorf("%s: differs %v, want %s", tt.name, m.Differs, tt.differs)
		}
		if tt.left != "" && (!slices.ContainsFunc(m.Left, func(e Entry) bool { return e.Value == tt.left }) || slices.ContainsFunc(m.Added, func(e Entry) bool { return e.Value == tt.left && !strings.HasSuffix(e.Key, "allowRead") })) {
			t.Errorf("%s: left out %v, want %s", tt.name, m.Left, tt.left)
		}
		if tt.yours != "" && !slices.ContainsFunc(m.Yours, func(e Entry) bool { return e.Key == tt.yours }) {
			t.Errorf("%s: yours %v, want %s", tt.name, m.Yours, tt.yours)
		}
	}
}

func TestShapes(t *testing.T) {
	c, _ := Choose(nil)
	for _, before := range []string{`[]`, `{"sandbox":[]}`, `{"sandbox":{"filesystem":7}}`, `{"permissions":{"deny":"Bash"}}`, `{"permissions":{"ask":null}}`} {
		_, err := Plan(parse(t, before), c.Rows())
		var shape *ShapeError
		if !errors.As(err, &shape) || shape.Line != 1 {
			t.Errorf("Plan(%s) = %v, want a ShapeError with its line", before, err)
		}
	}
}

func TestChoose(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "package.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ words, want string }{
		{"", "recommended,github,node,go"},
		{"minimal", "minimal"},
		{"minimal,rust", "minimal,rust"},
		{"gpg,strict,gpg", "strict,github,node,go,gpg"},
		{"minimal,strict", "error"},
		{"vetted-ops", "error"},
		{"pyhton", "error"},
	} {
		var words []string
		if tt.words != "" {
			words = strings.Split(tt.words, ",")
		}
		c, err := Choose(words)
		got := c.For(dir).String()
		if err != nil {
			got = "error"
		}
		if got != tt.want {
			t.Errorf("Choose(%s) = %s (%v), want %s", tt.words, got, err, tt.want)
		}
	}
}

func TestHosts(t *testing.T) {
	for _, tt := range []struct{ out, want string }{
		{"https://mirror.example,direct\nsum.example\n", "mirror.example sum.example"},
		{"https://a.example|https://b.example:8443/x,off\noff\n", "a.example b.example:8443"},
		{"https://user:secret@m.example/go\nsum.example+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8 https://sum.mirror.example\n", "m.example sum.example sum.mirror.example"},
		{"off\n\n", ""},
		{"https://*.example\n*\n-x.example\n", ""},
		{"file:///srv/mirror\n", ""},
		{"https://xn--bcher-kva.example/\n", "xn--bcher-kva.example"},
		{"https://evil.example\x1b[2J/\n", ""},
	} {
		got, err := Hosts("tool a b", func(program string, args ...string) (string, error) {
			if program != "tool" || len(args) != 2 {
				t.Errorf("ran %s %v", program, args)
			}
			return tt.out, nil
		})
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("Hosts(%q) = %q, %v, want %s", tt.out, got, err, tt.want)
		}
	}
}

func TestCheckStack(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{`{"permissions":{"ask":["Bash(gh *)"]}}`, 6},
		{`{"permissions":{"ask":["Bash(gh:*)"]}}`, 6},
		{`{"permissions":{"ask":["Bash(gh pr create *)"]}}`, 0},
		{`{"sandbox":{"excludedCommands":["git *"]}}`, 7},
		{`{"sandbox":{"excludedCommands":["~/.claude/tool-*/run"]}}`, 7},
		{`{"sandbox":{"excludedCommands":["gh *"]}}`, 0},
	} {
		home := t.TempDir()
		dir := filepath.Join(home, "p", ".claude")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		stack := settings.Load(settings.Session{Start: filepath.Dir(dir)}, settings.Env{Home: home, Getenv: func(string) string { return "" }, ManagedDir: home})
		got := 0
		for _, b := range CheckStack(stack) {
			got = b.Number
		}
		if got != tt.want {
			t.Errorf("%s breaks invariant %d, want %d", tt.text, got, tt.want)
		}
	}
}

func FuzzPlan(f *testing.F) {
	f.Add(`{"sandbox":{"filesystem":{"allowRead":["."]}},"permissions":{"deny":["Read(~/x)"]}}`)
	f.Add(`{"sandbox":{"credentials":{"envVars":[1,{"name":2},{"name":"GH_TOKEN"}]}}}`)
	c, _ := Choose([]string{"strict", "python", "rust"})
	rows := c.Rows()
	f.Fuzz(func(t *testing.T, text string) {
		d, err := settings.ParseDocument([]byte(text))
		if err != nil {
			return
		}
		m, err := Plan(d.Root(), rows)
		if err != nil {
			return
		}
		after, err := settings.Apply([]byte(text), m.Changes...)
		if err != nil {
			return // a name that stands twice
		}
		d, err = settings.ParseDocument(after)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, after, err)
		}
		again, err := Plan(d.Root(), rows)
		if err != nil || len(again.Changes) > 0 {
			t.Fatalf("%q: a second merge has %d changes, %v", text, len(again.Changes), err)
		}
	})
}
