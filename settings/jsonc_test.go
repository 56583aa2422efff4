package settings

import (
	"errors"
	"strings"
	"testing"
)

func TestParseJSONC(t *testing.T) {
	tests := []struct {
		in   string
		want string // of member a, as it is written; "!" and a part of the error
	}{
		{`{"a":1}`, "1"},
		{"// head\n{\"a\": /* one */ 1, // tail\n}", "1"},
		{`{"a":[1,2,],}`, "[1,2,]"},
		{`{"a":"// no /* comment */"}`, `"// no /* comment */"`},
		{"{/**/\"a\"/***/:/**//**/2/**/}/**/", "2"},
		{"{\"a\":1} // end", "1"},
		{"\xef\xbb\xbf{\"a\":1,}", "1"},
		{`{"a":1 /* open`, "!this comment never ends"},
		{`{"a":1,,}`, "!unexpected ','"},
		{`{,}`, "!unexpected ','"},
		{`[,]`, "!unexpected ','"},
		{`{"a":1 / 2}`, "!unexpected '/'"},
		{`{"a":1} # x`, "!comments are not allowed"},
		{`{a:1}`, "!unexpected 'a'"},
		{``, "!the file ends here"},
	}
	for _, tt := range tests {
		doc, err := ParseJSONC([]byte(tt.in))
		if part, fails := strings.CutPrefix(tt.want, "!"); fails {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || !strings.Contains(syntax.Message, part) {
				t.Errorf("%q: error %v, want %q", tt.in, err, part)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
			continue
		}
		n := doc.Root().Get("a")
		if got := string(n.Raw()); got != tt.want || !strings.HasPrefix(string(doc.Bytes()[n.Offset():]), tt.want) {
			t.Errorf("%q: a is %q, want %q", tt.in, got, tt.want)
		}
	}
	// The strict parser takes none of it.
	for _, in := range []string{"{} //", "{/**/}", `{"a":1,}`, `{"a":[1,]}`} {
		if _, err := ParseDocument([]byte(in)); err == nil {
			t.Errorf("%q is taken for JSON", in)
		}
	}
}

func TestEachRepeated(t *testing.T) {
	doc, err := ParseDocument([]byte(`{"a":1,"b":2,"a":3,"c":4,"a":5}`))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	doc.Root().EachRepeated(func(name string, value Node, repeated bool) bool {
		got += name + string(value.Raw())
		if repeated {
			got += "!"
		}
		return name != "c"
	})
	if want := "a1b2a3!c4"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if at := (Node{}).Offset(); at != -1 {
		t.Errorf("an absent node is at %d", at)
	}
}

func TestAssembleAndMisplaced(t *testing.T) {
	doc := func(text string) *Document {
		d, err := ParseDocument([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	stack := Assemble(Session{Start: t.TempDir()}, Env{GOOS: "linux", Home: "/home/ana"}, []Layer{
		{Managed, "m", doc(`{"sandbox":{"network":{"allowManagedDomainsOnly":true}}}`)},
		{Local, "l", doc(`{"sandbox":{"enabled":false,"network":{"allowedDomains":["x.example"]}}}`)},
		{User, "u", doc(`{"sandbox":{"enabled":true}}`)},
	})
	// The lock makes it a guarded session, in which a project cannot loosen.
	if v := stack.Bool("sandbox.enabled"); !v.Value || v.Source.Path != "u" {
		t.Errorf("sandbox.enabled %+v, want the user's true", v)
	}
	layers := stack.Layers()
	if len(layers) != 3 || layers[1].Scope != Local || layers[1].Path != "l" {
		t.Fatalf("layers %+v", layers)
	}
	path := []string{"sandbox", "network", "allowedDomains"}
	if why := stack.Passed(1, path, layers[1].Doc.Root().Get(path...)); why == "" {
		t.Error("a domain of the local file counts under allowManagedDomainsOnly")
	}
	if why := stack.Passed(2, []string{"sandbox", "enabled"}, layers[2].Doc.Root().Get("sandbox", "enabled")); why != "" {
		t.Errorf("the user's value is passed over: %s", why)
	}
	for _, tt := range []struct {
		scope Scope
		key   string
		want  bool
	}{
		{Project, "sandbox.filesystem.disabled", true},
		{User, "sandbox.filesystem.disabled", false},
		{User, "sandbox.network.allowManagedDomainsOnly", true},
		{Managed, "sandbox.network.allowManagedDomainsOnly", false},
		{Local, "sandbox.enabled", false},
		{Project, "sandbox.network.tlsTerminate", true},
	} {
		if got := Misplaced(tt.scope, strings.Split(tt.key, ".")) != ""; got != tt.want {
			t.Errorf("%s in a %s file: misplaced %v, want %v", tt.key, tt.scope, got, tt.want)
		}
	}
}
