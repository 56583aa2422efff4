package guards

import (
	"slices"
	"strings"
	"testing"
)

func TestTrailers(t *testing.T) {
	tests := []struct {
		text string
		want []string // tokens
	}{
		{"subject\n\nSigned-off-by: A <a@x>\nCo-authored-by: B <b@x>\n", []string{"Signed-off-by", "Co-authored-by"}},
		{"subject\n\nToken: value\n continued\n", []string{"Token"}},
		{"Token: only a subject", nil},
		{"Co-authored-by: B <b@x>", []string{"Co-authored-by"}},
		{"subject\n\nprose\nToken: value\n", nil},
		{"subject\n\nprose\nSigned-off-by: A <a@x>\nToken: value\n", []string{"Signed-off-by", "Token"}},
		{"subject\n\nCo-authored-by: B <b@x>\n\nlast words\n", []string{"Co-authored-by"}},
		{"subject\n\nCo-authored-by: nobody\n\nlast words\n", nil},
		{"subject\n\nfix: a colon in prose is a token too\n", []string{"fix"}},
		{"subject\n\ntwo words: no\n", nil},
		{"", nil},
	}
	for _, tt := range tests {
		var got []string
		for _, tr := range trailers(tt.text) {
			got = append(got, tr.token)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("trailers(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestMentions(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"@a-b, (@c) @d/e.f. @g_h x@y", []string{"a-b", "c", "d/e.f"}},
		{"`@a` ``@b ` @c`` @d", []string{"d"}},
		{"`@a\n\n@b`", []string{"a", "b"}},
		{"```\n@a\n```\n@b", []string{"b"}},
		{"~~~~\n@a\n~~~\n@b\n~~~~\n@c", []string{"c"}},
		{"- item\n\n    @a in the item", []string{"a"}},
		{"text\n\n    @a", nil},
		{"text\n    @a", []string{"a"}},
		{"a <!-- @a --> @b", []string{"b"}},
		{"<!--\n@a\n\n@c -->\n@b", []string{"b"}},
		{"<!--> @a -->", []string{"a"}},
		{"<!-- x -- @a -->", []string{"a"}},
		{"<!-- @a", []string{"a"}},
		{"> <!--\n@a -->", []string{"a"}},
		{`\<!-- @a -->`, []string{"a"}},
		{"Thanks—@a 👋@b 、@c ❤️@d", []string{"a", "b", "c", "d"}},
		{"é@a ü@b 名@c e\u0301@d", nil},
		{"_@a_ __@b__ (_@c_) _@d and e_", []string{"a", "b", "c", "d"}},
		{"x_@a_ \\_@c\\_ ____@d____ _@b", nil},
		{"_@a_b _@c", nil},
		{"> ```\n> x\n@a", []string{"a"}},
		{"> ```\n> @a\n> ```\n> @b", []string{"b"}},
		{"> > ```\n> @a", []string{"a"}},
		{"```\n> ```\n@a\n```\n@b", []string{"b"}},
		{"x\n    ```\n@a", []string{"a"}},
		{"    ```\n@a", []string{"a"}},
		{"   ```\n@a\n   ```", nil},
		{"- x\n  ```\n  @a\n@b", []string{"b"}},
		{"- x\n  ```\n  @a\n\n  @b\n  ```", nil},
		{"- ```\n  @a\n  ```\n- @b", []string{"b"}},
		{"1. x\n\n   ```\n   @a\n   ```", nil},
		{"- a\nb\n\n    @c", []string{"c"}},
		{">     @a\n\n> @b", []string{"b"}},
		{"<code>@a</code> <pre>@b\n@c</pre> <tt>@d</tt> <CODE class=x>@e</CODE> @f", []string{"f"}},
		{"<code>@a", []string{"a"}},
		{"<code>`</code> @a `</code>`", nil},
		{"<code>``</code> @a `</code>`", []string{"a"}},
		{"<code>\n\n@a</code>", []string{"a"}},
		{`\<code>@a</code>`, []string{"a"}},
		{"<codex>@a</code>", []string{"a"}},
		{"@", nil},
		{"@-x", nil},
		{"@a @a @A", []string{"a", "A"}},
	}
	for _, tt := range tests {
		if got := mentions(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("mentions(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func FuzzTexts(f *testing.F) {
	f.Add("subject\n\nCo-Authored-By: B <b@x>\n ``` @a `` > - * CVE-2020-1234")
	f.Fuzz(func(t *testing.T, text string) {
		for _, tr := range trailers(text) {
			if tr.token == "" || strings.Contains(tr.line, "\n") {
				t.Fatalf("trailers(%q): %q", text, tr)
			}
		}
		for _, m := range mentions(text) {
			if !strings.Contains(text, m) {
				t.Fatalf("mentions(%q): %q", text, m)
			}
		}
		securityWord(text, "more, words here")
		graphqlStrings(text)
		for step, rest, ok := sedStep("s"+text+" ", true); ok && rest != ""; step, rest, ok = sedStep(rest, false) {
			step(text)
		}
		mails(text)
		mailBody(text)
		clean(text)
	})
}
