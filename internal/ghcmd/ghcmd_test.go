package ghcmd

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sallyport/internal/shellcmd"
)

func words(argv ...string) []shellcmd.Word {
	var out []shellcmd.Word
	for _, a := range argv {
		if strings.HasPrefix(a, "$") {
			if c := shellcmd.Parse("x "+a, shellcmd.Options{}).Commands; len(c) == 1 && len(c[0].Args) == 2 {
				out = append(out, c[0].Args[1])
				continue
			}
		}
		out = append(out, shellcmd.NewWord(strings.ReplaceAll(a, "_", " ")))
	}
	return out
}

func show(c *Call) string {
	var b strings.Builder
	b.WriteString(strings.Join(c.Command, " "))
	for _, f := range c.Flags {
		fmt.Fprintf(&b, " %s=%s", f.Name, f.Value.Value)
	}
	for _, w := range c.Operands {
		fmt.Fprintf(&b, " <%s>", w.Value)
	}
	if c.Shell != "" {
		b.WriteString(" sh:" + c.Shell)
	}
	if c.Help {
		b.WriteString(" help")
	}
	return b.String()
}

func TestParse(t *testing.T) {
	aliases := map[string]string{
		"say": "pr comment $1 --body", "prc": "pr create", "both": `pr comment "$2" -b $1`, "sh": "!gh pr comment $1 -b x", "pr": "issue list",
	}
	tests := []struct{ line, want string }{
		{"gh pr comment 5 --body hi", "pr comment body=hi <5>"},
		{"gh pr comment 5 -bhi", "pr comment body=hi <5>"},
		{"gh pr comment 5 -b=hi", "pr comment body=hi <5>"},
		{"gh pr comment 5 -b hi -F -", "pr comment body=hi body-file=- <5>"},
		{"gh pr comment -wb hi 5", "pr comment web=true body=hi <5>"},
		{"gh pr --repo o/r comment 5 --body hi", "pr comment repo=o/r body=hi <5>"},
		{"gh -R o/r pr comment 5", "pr comment repo=o/r <5>"},
		{"gh pr -Ro/r comment 5", "pr comment repo=o/r <5>"},
		{"gh pr -R=o/r comment 5", "pr comment repo=o/r <5>"},
		{"gh pr comment --repo=o/r 5", "pr comment repo=o/r <5>"},
		{"gh --repo pr pr comment", "pr comment repo=pr"},
		{"gh pr --body hi comment 5", "pr comment body=hi <5>"},
		{"gh pr new -t x", "pr create title=x"},
		{"gh pr ls", "pr list"},
		{"gh issue new -t x -b y", "issue create title=x body=y"},
		{"gh pr create -d -f -t x", "pr create draft=true fill=true title=x"},
		{"gh pr create -dft x", "pr create draft=true fill=true title=x"},
		{"gh pr create --draft=false", "pr create draft=false"},
		{"gh pr comment 5 -- --body", "pr comment <5> <--body>"},
		{"gh pr comment --help", "pr comment help=true help"},
		{"gh pr comment -h", "pr comment help"},
		{"gh pr nonsense 5", "pr <nonsense> <5>"},
		{"gh nonsense", " <nonsense>"},
		{"gh say 5 hi", "pr comment body=hi <5>"},
		{"gh prc -t x", "pr create title=x"},
		{"gh both a_b 5", "pr comment body=a b <5>"},
		{"gh sh 5", " sh:set -- '5'\ngh pr comment $1 -b x"},
		{"gh pr list", "pr list"},
		{"gh api repos/o/r/issues/5/comments -f body=hi", "api raw-field=body=hi <repos/o/r/issues/5/comments>"},
		{"gh pr edit 5 --add-label a,b --add-label c", "pr edit add-label=a,b add-label=c <5>"},
		{"gh pr comment $N -b hi", "pr comment body=hi <>"},
		{"gh $X comment", " <> <comment>"},
		{"gh", ""},
		{"gh.exe pr view", "pr view"},
	}
	for _, tt := range tests {
		got := show(Parse(words(strings.Fields(tt.line)...), func(name string) (string, bool) {
			v, ok := aliases[name]
			return v, ok
		}))
		if got != tt.want {
			t.Errorf("Parse(%s)\n got %s\nwant %s", tt.line, got, tt.want)
		}
	}
}

func TestList(t *testing.T) {
	c := Parse(words("gh", "pr", "edit", "5", "--add-label", `a,"b,c"`, "--add-label=d_e", "--remove-label", "x"), nil)
	if got, want := c.List("add-label"), []string{"a", "b,c", "d e"}; !slices.Equal(got, want) {
		t.Errorf("labels %q, want %q", got, want)
	}
}

func TestAPI(t *testing.T) {
	tests := []struct {
		line     string
		method   string
		endpoint string
		write    bool
		fields   string
	}{
		{"gh api user", "GET", "user", false, ""},
		{"gh api /repos/o/r/issues/5/comments -f body=hi", "POST", "repos/o/r/issues/5/comments", true, "body=hi"},
		{"gh api repos/o/r/pulls/5 -X PATCH -F title=x", "PATCH", "repos/o/r/pulls/5", true, "title=x"},
		{"gh api repos/o/r/pulls/5 -Xpatch", "PATCH", "repos/o/r/pulls/5", true, ""},
		{"gh api -X GET search/issues -f q=is:pr", "GET", "search/issues", false, "q=is:pr"},
		{"gh api --method=get search/issues -fq=x", "GET", "search/issues", false, "q=x"},
		{"gh api https://api.github.com/repos/o/r/labels?name=x", "GET", "repos/o/r/labels", false, "name=x"},
		{"gh api repos/o/r/issues?labels=%72eady+now&x=%zz", "GET", "repos/o/r/issues", false, "labels=ready now x=%zz"},
		{"gh api graph%71l -f query=query{viewer{login}}", "POST", "graph%71l", false, "query=query{viewer{login}}"},
		{"gh api https://ghe.example/api/v3/repos/o/r -X DELETE", "DELETE", "repos/o/r", true, ""},
		{"gh api graphql -f query=query{viewer{login}}", "POST", "graphql", false, "query=query{viewer{login}}"},
		{"gh api graphql -f query=mutation{x}", "POST", "graphql", true, "query=mutation{x}"},
		{"gh api graphql -F query=@q.graphql", "POST", "graphql", true, "query=@q.graphql"},
		{"gh api repos/o/r/issues --input body.json", "POST", "repos/o/r/issues", true, ""},
	}
	for _, tt := range tests {
		r, ok := Parse(words(strings.Fields(tt.line)...), nil).API()
		if !ok {
			t.Errorf("%s: no request", tt.line)
			continue
		}
		var fields []string
		for _, f := range r.Fields {
			fields = append(fields, f.Key+"="+f.Value.Value)
		}
		if r.Method != tt.method || r.Endpoint != tt.endpoint || r.Write() != tt.write || strings.Join(fields, " ") != tt.fields {
			t.Errorf("%s: got %s %s write %v fields %q, want %s %s %v %q", tt.line, r.Method, r.Endpoint, r.Write(), fields, tt.method, tt.endpoint, tt.write, tt.fields)
		}
	}
	if _, ok := Parse(words("gh", "pr", "view"), nil).API(); ok {
		t.Error("gh pr view is no api call")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("gh pr --repo o/r comment 5 -wbtext --body=x --")
	f.Add("gh api graphql -f query=$X -F a=@b")
	f.Fuzz(func(t *testing.T, line string) {
		c := Parse(words(strings.Fields(line)...), func(name string) (string, bool) { return name + " $1 '$2", len(name) < 40 })
		if n := len(strings.Fields(line)); len(c.Operands) > 8*(n+64) {
			t.Fatalf("%q: %d operands", line, len(c.Operands))
		}
		c.API()
		c.List("add-label")
	})
}
