package plugin

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/guards"
	"sallyport/internal/testenv"
)

func TestRuleMatches(t *testing.T) {
	tests := []struct {
		name  string
		match string
		hit   []string
		miss  []string
	}{
		{"nothing but the trigger", ``, []string{"git status", "gh pr list", "make x"}, []string{"ls"}},
		{"command", "[match]\ncommand = [\"m*\", \"g?\"]", []string{"make", "gh pr list"}, []string{"git status"}},
		{"subcommand of git, with aliases", "[match]\nsubcommand = \"commit\"", []string{"git commit -m x", "git -C d commit", "git -c alias.ci=commit ci"}, []string{"git log commit", "git push"}},
		{"subcommand of two words", "[match]\nsubcommand = [\"stash drop\", \"pr merge\"]", []string{"git stash drop", "gh pr merge 5", "gh -R a/b pr merge"}, []string{"git stash", "gh pr view"}},
		{"subcommand with a wildcard", "[match]\nsubcommand = \"pr *\"", []string{"gh pr merge", "gh pr new"}, []string{"gh issue list"}},
		{"subcommand as a regular expression", "[match]\nsubcommand = 're:^pr (merge|close)$'", []string{"gh pr merge 5"}, []string{"gh pr view"}},
		{"subcommand of another program", "[match]\nsubcommand = \"deploy prod\"", []string{"make deploy prod", "make -k deploy prod now"}, []string{"make deploy", "make prod deploy"}},
		{"a long flag, in git's other forms", "[match]\nflags = \"--force\"", []string{"git push --force", "git push -f", "git push -uf", "git push --no-force --force"}, []string{"git push", "git push --force-with-lease", "git push --force --no-force"}},
		{"a negated flag", "[match]\nflags = \"--no-verify\"", []string{"git commit --no-verify", "git commit -nm x", "git commit --no-veri"}, []string{"git commit", "git push -n"}},
		{"a flag of gh", "[match]\nflags = \"--body=*secret*\"", []string{"gh pr create --body 'a secret'", "gh pr create -b'a secret'"}, []string{"gh pr create --body x", "gh pr create --title secret"}},
		{"a flag of another program", "[match]\nflags = [\"-B\", \"--jobs=9*\"]", []string{"make -B", "make -kB", "make --jobs=99", "make --jobs 9"}, []string{"make -k", "make --jobs=1", "make -- -B"}},
		{"a flag with one dash and many letters", "[match]\nflags = \"-auto-approve\"", []string{"make -auto-approve", "make -auto-approve=true"}, []string{"make -auto"}},
		{"arguments", "[match]\narguments = \"prod-*\"", []string{"make prod-1", "make -e X=prod-2 --env=prod-2", "git push origin 'prod-x y'"}, []string{"make preprod-1"}},
		{"arguments as a regular expression", "[match]\narguments = 're:(?i)prod'", []string{"make preProd"}, []string{"make dev"}},
		{"a dynamic word is not guessed", "[match]\narguments = \"prod\"", nil, []string{"make $TARGET"}},
		{"cwd below the project", "[match]\ncwd = \"sub/**\"", []string{"cd sub && make", "cd sub/deeper && make", "git -C sub status"}, []string{"make", "cd \"$X\" && make"}},
		{"cwd below the home", "[match]\ncwd = \"~/work/**\"", []string{"cd ~/work/x && make"}, []string{"make"}},
		{"branch", "[match]\nsubcommand = \"push\"\nbranch = [\"main\", \"release/*\"]", []string{"git push", "git switch -c release/1 && git push"}, []string{"git switch -q -c topic && git push"}},
		{"all keys must hold", "[match]\nsubcommand = \"push\"\nflags = \"--force\"", []string{"git push -f"}, []string{"git push", "git fetch --force"}},
		{"one of several tables", "[[match]]\nsubcommand = \"push\"\n[[match]]\ncommand = \"make\"", []string{"git push", "make"}, []string{"git fetch"}},
		{"unless", "[match]\nsubcommand = \"push\"\n[unless]\nflags = \"--dry-run\"", []string{"git push"}, []string{"git push -n", "git push --dry-run"}},
		{"inline tables and dotted keys", "match = {subcommand = \"push\"}\nunless.flags = [\"--dry-run\"]", []string{"git push"}, []string{"git push -n", "git fetch"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			testenv.Write(t, filepath.Join(b.repo, "sub", "deeper", "x"), "")
			b.write("x.toml", "triggers = [\"git\", \"gh\", \"make\"]\nreason = \"r\"\n"+tt.match+"\n")
			for _, c := range tt.hit {
				b.verdict(c, guards.Deny, "— r")
			}
			for _, c := range tt.miss {
				b.verdict(c, guards.Pass, "")
			}
			if f := Failures(b.opts.StateDir); len(f) > 0 {
				t.Errorf("failures: %v", f)
			}
		})
	}
}

func TestRuleMistakesNameTheLine(t *testing.T) {
	const ok = "triggers = [\"git\"]\nreason = \"r\"\n"
	tests := []struct {
		name, src string
		line      int
		text      string
	}{
		{"no triggers", "reason = \"x\"\n", 1, "triggers is missing"},
		{"no reason", "triggers = [\"git\"]\n\n", 3, "reason is missing"},
		{"unknown key", ok + "resaon = \"x\"\n", 3, "unknown key resaon"},
		{"unknown dotted key", ok + "a.b.c = \"x\"\n", 3, "unknown key a.b.c"},
		{"unknown table", ok + "\n[matches]\n", 4, "unknown table [matches]"},
		{"unknown key of match", ok + "[match]\nargs = \"x\"\n", 4, "unknown key args"},
		{"unknown key of test", ok + "[[test]]\ncommand = \"x\"\nexpected = \"deny\"\n", 5, "unknown key expected"},
		{"wrong type", ok + "title = 5\n", 3, "must be a string"},
		{"wrong type of a list", ok + "override = [1]\n", 3, "strings only"},
		{"empty list", "triggers = []\nreason = \"x\"\n", 1, "not empty"},
		{"decision", ok + "decision = \"allow\"\n", 3, "must be deny, ask or warn"},
		{"name", ok + "name = \"No Spaces\"\n", 3, "lower case"},
		{"override", ok + "override = \"A-B\"\n", 3, "no name of a variable"},
		{"regular expression", ok + "[match]\narguments = [\"re:(\"]\n", 4, "missing closing"},
		{"flag without a dash", ok + "[match]\nflags = \"force\"\n", 4, "begin with -"},
		{"cwd pattern", ok + "[match]\ncwd = \"[\"\n", 4, "no valid pattern"},
		{"table twice", ok + "[match]\ncommand = \"a\"\n[match]\ncommand = \"b\"\n", 5, "a second time"},
		{"key twice", ok + "reason = \"y\"\n", 3, "set twice"},
		{"key twice in a table", ok + "[match]\ncommand = \"a\"\ncommand = \"b\"\n", 5, "set twice"},
		{"both forms of a table", ok + "match = {command = \"a\"}\n[match]\ncommand = \"b\"\n", 4, "a second time"},
		{"syntax", ok + "x = \n", 3, ""},
		{"unterminated", ok + "x = \"abc\n", 3, ""},
		{"test without expect", ok + "[[test]]\ncommand = \"x\"\n", 4, "needs expect"},
		{"test without command", ok + "[[test]]\nexpect = \"deny\"\n", 4, "needs a command"},
		{"test outside", ok + "[[test]]\ncommand = \"x\"\nexpect = \"pass\"\ncwd = \"../..\"\n", 6, "inside the repository"},
		{"a table of a match", ok + "[match.x]\n", 3, "unknown table"},
		{"files before a test", ok + "[test.files]\na = \"b\"\n", 3, "below no [[test]]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseRule([]byte(tt.src))
			var le *lineError
			if !errors.As(err, &le) || le.line != tt.line || !strings.Contains(le.text, tt.text) {
				t.Errorf("parseRule(%q) = %v, want line %d with %q", tt.src, err, tt.line, tt.text)
			}
		})
	}
}

func TestRuleCases(t *testing.T) {
	r, err := parseRule([]byte(`
triggers = ["git"]
reason = "r"
[[test]]
command = "git a"
expect = "pass"
env = {A = "1"}
[[test]]
command = "git b"
expect = "ask"
branch = "topic"
cwd = "sub"
setup = "true"
why = "w"
files."x/y" = "text"
[test.env]
B = "2"
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.cases) != 2 || r.cases[0].Env["A"] != "1" || r.cases[0].Expect != guards.Pass {
		t.Fatalf("cases %+v", r.cases)
	}
	c := r.cases[1]
	if c.Expect != guards.Ask || c.Branch != "topic" || c.Cwd != "sub" || c.Setup != "true" || c.Why != "w" || c.Files["x/y"] != "text" || c.Env["B"] != "2" {
		t.Errorf("case %+v", c)
	}
}

func TestScriptCases(t *testing.T) {
	tests := []struct{ raw, err string }{
		{`null`, ""},
		{`[["a","deny"],["b","pass","why"],{"command":"c","expect":"ask","files":{"a":"b"},"cwd":"x"}]`, ""},
		{`"x"`, "must be a list"},
		{`[["a"]]`, "test 1 must be"},
		{`[["a","allowed"]]`, "test 1 must be"},
		{`[{"command":"a","expect":"deny","nope":"x"}]`, "test 1: unknown key nope"},
		{`[{"command":"a"}]`, "test 1 must be"},
		{`[1]`, "test 1 must be"},
	}
	for _, tt := range tests {
		_, err := scriptCases([]byte(tt.raw))
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("scriptCases(%s) = %v, want %q", tt.raw, err, tt.err)
		}
	}
}

func FuzzRule(f *testing.F) {
	f.Add([]byte("name = \"a\"\ntriggers = [\"git\"]\nreason = \"r\"\n[match]\nsubcommand = 're:x'\nflags = [\"-f\", \"--a=b*\"]\ncwd = \"~/x/**\"\n[[unless]]\nbranch = \"b\"\n[[test]]\ncommand = \"c\"\nexpect = \"deny\"\n[test.env]\nA = \"b\"\n"))
	f.Add([]byte("match = {command = \"a\"}\nunless.flags = [\"-x\"]\ntriggers = \"*\"\nreason = '''x'''\n"))
	f.Add([]byte("[[match]]\n[[match]]\n"))
	f.Add([]byte("\ufefftriggers=[[[["))
	f.Fuzz(func(t *testing.T, data []byte) {
		name, triggers, _, headErr := ruleHead(data)
		r, err := parseRule(data)
		if err != nil {
			var le *lineError
			if !errors.As(err, &le) || le.line < 0 || le.line > strings.Count(string(data), "\n")+1 {
				t.Errorf("parseRule(%q): %v: no line of the file", data, err)
			}
			return
		}
		if headErr != nil || name != r.name || strings.Join(triggers, "\x00") != strings.Join(r.triggers, "\x00") {
			t.Errorf("head of %q: %q %q %v; whole: %q %q", data, name, triggers, headErr, r.name, r.triggers)
		}
		for _, p := range append(r.matches, r.unless...) {
			for i := range p.arguments {
				p.arguments[i].matches("some text")
			}
		}
	})
}

func TestDocTitle(t *testing.T) {
	for src, want := range map[string]string{
		"\"\"\"Stops it.\n\nMore.\"\"\"\n":    "Stops it",
		"'one line'\n":                        "one line",
		"# A comment: what it does.\nx = 1":   "A comment: what it does",
		"# \n\n\"\"\"Behind a licence.\"\"\"": "Behind a licence",
		"#!/usr/bin/python3\n":                "",
		"# ----\nx = 1":                       "",
		"x = 1":                               "",
		"":                                    "",
		"'\x1b[31mred'":                       "red",
	} {
		if got := docTitle(src); got != want {
			t.Errorf("docTitle(%q) = %q, want %q", src, got, want)
		}
	}
}
