package plugin

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/guards"
	"sallyport/internal/testenv"
)

// Every row is a command and expressions that must be true of ctx, written so
// that Starlark and Python both read them.
var contextRows = []struct {
	name, command string
	exprs         []string
}{
	{"words and assignments", `A=1 /usr/bin/git -C sub push "two words" $X`, []string{
		`ctx.argv == ["git", "-C", "sub", "push", "two words", "$X"]`,
		`ctx.raw == "A=1 git -C sub push 'two words' '$X'"`,
		`ctx.env == {"A": "1"}`,
		`ctx.cwd == "@REPO@/sub"`,
		`ctx.ready_label == "ready for maintainer review"`,
		`ctx.git_subcommand() == "push"`,
		`ctx.gh_subcommand() == None`,
		`ctx.positional_after("push") == "two words"`,
		`ctx.positional_after("pull") == None`,
		`ctx.repo_flag() == []`,
	}},
	{"gh flags in every form", `gh -R o/r pr comment 12 -b'hi @Maint-A and ` + "`@code`" + ` x@example.com' --body=second -t Title`, []string{
		`ctx.gh_subcommand() == ("pr", "comment")`,
		`ctx.git_subcommand() == None`,
		`ctx.opt("-b", "--body").startswith("hi @Maint-A")`,
		`len(ctx.opts("-b", "--body")) == 2`,
		`ctx.opts("-b", "--body")[1] == "second"`,
		`ctx.opt("-x", "--nope") == None`,
		`ctx.opts("-x", "--nope") == []`,
		`ctx.repo_flag() == ["--repo", "o/r"]`,
		`ctx.positional_after("comment") == "12"`,
		`ctx.target_repo_owner() == "o"`,
		`ctx.mentions(ctx.gh_body()) == ["maint-a"]`,
		`ctx.mentions("@a, @Org/team and mail@example.com") == ["a", "org/team"]`,
		`ctx.gh_body(include_title=True).startswith("hi @Maint-A")`,
		`ctx.gh_body(include_title=True).endswith("\nTitle")`,
		`"Title" not in ctx.gh_body()`,
	}},
	{"gh's own names", `gh pr new --title T --body B --label a --label b`, []string{
		`ctx.gh_subcommand() == ("pr", "create")`,
		`ctx.opt("", "--label") == "a"`,
		`ctx.opts("", "--label") == ["a", "b"]`,
		`ctx.gh_body(include_title=True, read_files=False) == "B\nT"`,
	}},
	{"a body that an earlier command wrote", `echo 'ping @maint' > b.md && gh issue comment 3 -F b.md`, []string{
		`ctx.mentions(ctx.gh_body(read_files=True)) == ["maint"]`,
		`ctx.gh_body(read_files=False) == ""`,
	}},
	{"a body in a file", `gh issue comment 3 --body-file body.md`, []string{`ctx.gh_body() == "from disk\n"`}},
	{"a body that is missing", `gh issue comment 3 --body-file nowhere.md`, []string{`"UNREADABLE_BODY_FILE" in ctx.gh_body()`}},
	{"a body in a here-document", "gh issue comment 3 -F - <<'E'\nhey @you\nE", []string{
		`ctx.mentions(ctx.gh_body()) == ["you"]`,
		`"hey @you" in ctx.raw`,
		`ctx.opt("-F", "--body-file") == "-"`,
	}},
	{"gh api", `gh api repos/o/r/issues/1/comments -f body='@x hi' -F n=@body.md`, []string{
		`ctx.gh_subcommand() == ("api", "repos/o/r/issues/1/comments")`,
		`ctx.gh_api_posted_text() == (["@x hi", "from disk\n"], True)`,
	}},
	{"gh api with a body", `gh api -X PATCH /x --input in.json`, []string{`ctx.gh_api_posted_text() == (["deep", "two"], True)`}},
	{"gh api with unknown text", `gh api /x -f body="$(date)"`, []string{`ctx.gh_api_posted_text()[1] == False`}},
	{"gh api that reads", `gh api repos/o/r`, []string{`ctx.gh_api_posted_text() == None`}},
	{"a message", `git commit -m one -m "Co-Authored-By: x <x@example.com>"`, []string{
		`ctx.message == "one\n\nCo-Authored-By: x <x@example.com>"`,
		`ctx.opts("-m", "--message") == ["one", "Co-Authored-By: x <x@example.com>"]`,
		`ctx.refspecs == []`,
		`ctx.branch == "main"`,
	}},
	{"refspecs", `git push -f origin +a:b :c HEAD`, []string{
		`[r["src"] for r in ctx.refspecs] == ["a", "", "HEAD"]`,
		`[r["dst"] for r in ctx.refspecs] == ["b", "c", ""]`,
		`ctx.refspecs[0]["force"]`,
		`ctx.refspecs[1]["delete"]`,
		`ctx.message == None`,
	}},
	{"the branch after a switch on the line", `git switch -c topic && git push`, []string{`ctx.branch == "topic"`}},
	{"a program is run where the command runs", `cd sub && git status`, []string{
		`ctx.run(["pwd"]) == "@REPO@/sub"`,
		`ctx.run(["git", "rev-parse", "--show-prefix"]) == "sub/"`,
		`ctx.run(["sh", "-c", "echo out; echo err >&2"]) == "out"`,
		`ctx.run(["false"]) == None`,
		`ctx.run(["no-such-program-here"]) == None`,
		`ctx.run(["./x"]) == None`,
		`ctx.run([]) == None`,
	}},
	{"nothing is run where the place is not known", `cd "$NOWHERE" && git status`, []string{
		`ctx.cwd == None`, `ctx.run(["pwd"]) == None`,
	}},
	{"overrides", `OK=1 NO=0 git status`, []string{
		`ctx.override("OK")`, `ctx.override("X", "OK")`, `not ctx.override("NO")`, `not ctx.override()`, `not ctx.override("HOME_UNSET")`,
	}},
}

func TestContextInBothLanguages(t *testing.T) {
	for _, ext := range []string{"star", "py"} {
		t.Run(ext, func(t *testing.T) {
			if ext == "py" {
				needPython(t)
			}
			for _, row := range contextRows {
				t.Run(row.name, func(t *testing.T) {
					b := newBench(t)
					testenv.Write(t, filepath.Join(b.repo, "sub", "x"), "")
					testenv.Write(t, filepath.Join(b.repo, "body.md"), "from disk\n")
					testenv.Write(t, filepath.Join(b.repo, "in.json"), `{"a": [{"b": "deep"}, 1, null], "c": "two"}`)
					var src strings.Builder
					src.WriteString("TRIGGERS = [\"*\"]\ndef guard(ctx):\n    if ctx.argv[0] not in (\"git\", \"gh\"):\n        return None\n    if ctx.git_subcommand() == \"switch\":\n        return None\n    wrong = []\n")
					for _, e := range row.exprs {
						e = strings.ReplaceAll(e, "@REPO@", b.repo)
						fmt.Fprintf(&src, "    if not (%s):\n        wrong.append(%q)\n", e, e)
					}
					src.WriteString("    return {\"decision\": \"deny\", \"reason\": \"wrong: \" + \", \".join(wrong)} if wrong else {\"decision\": \"warn\", \"reason\": \"all true\"}\n")
					b.write("x."+ext, src.String())
					b.verdict(row.command, guards.Warn, "all true")
				})
			}
		})
	}
}

func TestJSONStrings(t *testing.T) {
	tests := []struct {
		raw  string
		want string
		ok   bool
	}{
		{`{"a":"x","b":["y",{"c":"z"}]}`, "x y z", true},
		{`"alone"`, "alone", true},
		{`["a",{"k":{"l":"b"}},"c"]`, "a b c", true},
		{`{"a":{"b":1},"c":"d"}`, "d", true},
		{`{"a":`, "", false},
		{``, "", false},
		{strings.Repeat("[", 100_000), "", false},
	}
	for _, tt := range tests {
		got, ok := jsonStrings(tt.raw)
		if strings.Join(got, " ") != tt.want || ok != tt.ok {
			t.Errorf("jsonStrings(%.40s) = %q, %v; want %q, %v", tt.raw, got, ok, tt.want, tt.ok)
		}
	}
}
