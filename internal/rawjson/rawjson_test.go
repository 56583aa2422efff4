package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheck(t *testing.T) {
	tests := []struct {
		in   string
		want Grade
	}{
		{`{}`, Strict}, {` [] `, Strict}, {`"x"`, Strict}, {`-0.5e+3`, Strict}, {`null`, Strict},
		{`{"a":[1,{"b":[]}],"c":"\u00e9\n"}`, Strict},
		{"{\"a\":\"caf\xe9\"}", Strict},
		{"{\"a\":\"x\ny\"}", Lenient},
		{``, Invalid}, {`{`, Invalid}, {`{"a"}`, Invalid}, {`{"a":}`, Invalid}, {`{"a":1,}`, Invalid},
		{`[1,]`, Invalid}, {`[1 2]`, Invalid}, {`[}`, Invalid}, {`{]`, Invalid}, {`01`, Invalid},
		{`1.`, Invalid}, {`-`, Invalid}, {`1e`, Invalid}, {`tru`, Invalid}, {`{} {}`, Invalid},
		{`"\x"`, Invalid}, {`"\u12g4"`, Invalid}, {`"abc`, Invalid}, {`{'a':1}`, Invalid}, {`{a:1}`, Invalid},
		{strings.Repeat("[", 1<<20), Invalid},
		{strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20), Strict},
		{strings.Repeat(`{"a":`, 1<<18) + "1" + strings.Repeat("}", 1<<18), Strict},
		{strings.Repeat("[", 65) + strings.Repeat("]", 64) + "}", Invalid},
	}
	for _, tt := range tests {
		if got := Check([]byte(tt.in)); got != tt.want {
			t.Errorf("Check(%.60q) = %d, want %d", tt.in, got, tt.want)
		}
	}
}

func TestEachSeesDuplicatesInOrder(t *testing.T) {
	var got []string
	Each([]byte(`{"a":1, "\u0061" : [{"x":"]}"}] ,"b":"\"c\""}`), func(name string, value []byte) bool {
		got = append(got, name+"="+string(value))
		return true
	})
	if want := `a=1|a=[{"x":"]}"}]|b="\"c\""`; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHasTrue(t *testing.T) {
	tests := []struct {
		name, in string
		want     bool
	}{
		{"member", `{"tool_input":{"off":true}}`, true},
		{"white space", "{\"off\"\t:\n true }", true},
		{"in an array", `{"a":[{"b":{"off":true}}]}`, true},
		{"escaped name", `{"\u006fff":true}`, true},
		{"false", `{"off":false}`, false},
		{"string", `{"off":"true"}`, false},
		{"number", `{"off":1}`, false},
		{"inside a string", `{"a":"\"off\": true"}`, false},
		{"inside a string behind an escaped backslash", `{"a":"\\\"off\": true"}`, false},
		{"a longer name", `{"a\"off":true}`, false},
		{"as a value", `{"a":"off","b":true}`, false},
		{"duplicate", `{"off":true,"off":false}`, true},
		{"broken", `{"command":"ls","off":true`, true},
		{"broken, cut after true", `{"off":true`, true},
		{"broken, stray quote before", `{"command":"a "b" c","off":true}`, true},
		{"broken, inside a string", `{"a":"\"off\": true`, false},
		{"broken, longer literal", `{x "off":trueish`, false},
		{"broken, an escaped backslash before the quote", `{x "\\"off":true`, true},
	}
	for _, tt := range tests {
		valid := Check([]byte(tt.in)) != Invalid
		if got := HasTrue([]byte(tt.in), "off", valid); got != tt.want {
			t.Errorf("%s: HasTrue(%s) = %v, want %v", tt.name, tt.in, got, tt.want)
		}
	}
}

func TestSetString(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{"a":1}`, `{"d":"new","a":1}`},
		{`{}`, `{"d":"new"}`},
		{` { "d" : "old" , "a":1.50 } `, ` { "d" : "new" , "a":1.50 } `},
		{`{"d":"x","d":"y","e":{"d":1}}`, `{"d":"x","d":"new","e":{"d":1}}`},
		{`{"\u0064":[1,{"d":2}]}`, `{"\u0064":"new"}`},
		{`[]`, ``},
	}
	for _, tt := range tests {
		if got := string(SetString([]byte(tt.in), "d", "new")); got != tt.want {
			t.Errorf("SetString(%s) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestString(t *testing.T) {
	for in, want := range map[string]string{
		`"plain"`: "plain", `"a\n\"\\\u00e9\ud83d\ude00"`: "a\n\"\\é😀", `""`: "", `"\ud800x"`: "\uFFFDx",
	} {
		if got, ok := String([]byte(in)); got != want || !ok {
			t.Errorf("String(%s) = %q, %v, want %q", in, got, ok, want)
		}
	}
	if _, ok := String([]byte(`5`)); ok {
		t.Error("String(5) is ok")
	}
}

// FuzzCheck compares with encoding/json, which knows the grammar and stops at
// a depth of 10,000.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2,{"b":null}]}`, `"\ud800"`, `{"a":-1.5e3}`, "{\"a\":\"\xff\"}", `[[],{}]`, "\"a\nb\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if bytes.Count(in, []byte("["))+bytes.Count(in, []byte("{")) > 5000 {
			return
		}
		got := Check(in)
		if want := json.Valid(in); (got == Strict) != want {
			t.Fatalf("Check(%q) = %d, encoding/json says %v", in, got, want)
		}
		if got == Invalid {
			return
		}
		Each(in, func(name string, value []byte) bool {
			if Check(value) == Invalid {
				t.Fatalf("member %q of %q has the value %q", name, in, value)
			}
			if s, ok := String(value); ok && utf8.Valid(value) && !utf8.ValidString(s) {
				t.Fatalf("String(%q) = %q", value, s)
			}
			return true
		})
		EachElement(in, func(value []byte) bool {
			if Check(value) == Invalid {
				t.Fatalf("element of %q has the value %q", in, value)
			}
			return true
		})
		if set := SetString(in, "k", "v"); set != nil && Check(set) != got {
			t.Fatalf("SetString(%q) = %q", in, set)
		}
		if quoted := AppendString(nil, string(in)); !json.Valid(quoted) || !utf8.Valid(quoted) {
			t.Fatalf("AppendString(%q) = %q", in, quoted)
		}
	})
}

func TestStringAgreesWithTheStandardLibrary(t *testing.T) {
	units := []string{"plain text ", `\n`, `\\`, `\\\\\"`, `\b\f\r\t\/`, `\u4e2d`, `\ud83d\ude00`, `\ud83d`, `\ude00`, `\ud83d\u0041`, `\ud83d\n`, `x\ude00\ud83d\ud83d\ude00`, `\\u0041\\\u0041`, "é中😀", `\u0000\uFFFF`}
	for _, a := range units {
		for _, b := range units {
			quoted := `"` + a + b + `x` + b + `"`
			var want string
			if err := json.Unmarshal([]byte(quoted), &want); err != nil {
				t.Fatal(err)
			}
			if got, ok := String([]byte(quoted)); !ok || got != want {
				t.Errorf("String(%s) = %q, want %q", quoted, got, want)
			}
		}
	}
	if got, _ := String([]byte("\"a\nb\\tc\x01d\"")); got != "a\nb\tc\x01d" {
		t.Errorf("raw control characters: %q, want all of the text", got)
	}
}
