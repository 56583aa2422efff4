package tomledit

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestSet(t *testing.T) {
	tests := []struct {
		name, in string
		path     []string
		value    string
		want     string
	}{
		{"empty", "", []string{"a"}, "1", "a = 1\n"},
		{"replace keeps the comment", "a   =  'x'   # why\nb = 2\n", []string{"a"}, `"y"`, "a   =  \"y\"   # why\nb = 2\n"},
		{"behind the last key", "# c\na = 1 # x\n\n[t]\nb = 1\n", []string{"n"}, "2", "# c\na = 1 # x\nn = 2\n\n[t]\nb = 1\n"},
		{"before the first table's comment", "# top\n\n# of t\n[t]\nb = 1\n", []string{"n"}, "2", "# top\n\nn = 2\n\n# of t\n[t]\nb = 1\n"},
		{"a value over several lines", "a = [\n  1, # one\n  2,\n]\n[t]\n", []string{"n"}, "2", "a = [\n  1, # one\n  2,\n]\nn = 2\n[t]\n"},
		{"in a table", "[t]\n# c\nb = 1\n[u]\nb = 2\n", []string{"t", "b"}, "9", "[t]\n# c\nb = 9\n[u]\nb = 2\n"},
		{"new in a table", "[t]\nb = 1 # c\n\n[u]\nb = 2", []string{"t", "n"}, "9", "[t]\nb = 1 # c\nn = 9\n\n[u]\nb = 2"},
		{"new in an empty table", "[t] # c\n[u]\n", []string{"t", "n"}, "9", "[t] # c\nn = 9\n[u]\n"},
		{"new table", "a = 1", []string{"t", "n"}, "9", "a = 1\n\n[t]\nn = 9\n"},
		{"CRLF", "a = 1\r\n[t]\r\nb = 1\r\n", []string{"c"}, "2", "a = 1\r\nc = 2\r\n[t]\r\nb = 1\r\n"},
		{"dotted", "f.a = true\nf.b = 1\n", []string{"f", "a"}, "false", "f.a = false\nf.b = 1\n"},
		{"new beside dotted", "f.b = 1\nx = 1\n", []string{"f", "a"}, "true", "f.b = 1\nf.a = true\nx = 1\n"},
		{"inline", "f = { a = 1, b = [1, 2] } # c\n", []string{"f", "b"}, "true", "f = { a = 1, b = true } # c\n"},
		{"new in inline", "f = { a = \"},\" }\n", []string{"f", "b"}, "true", "f = { a = \"},\", b = true }\n"},
		{"new in empty inline", "f = {}\n", []string{"f", "b"}, "true", "f = { b = true }\n"},
		{"quoted names", "['a.b']\n\"c d\" = 1\n", []string{"a.b", "c d"}, "2", "['a.b']\n\"c d\" = 2\n"},
		{"byte order mark", "\ufeffa = 1\n", []string{"a"}, "2", "\ufeffa = 2\n"},
		{"header inside a string is none", "a = '''\n[t]\n'''\n", []string{"b"}, "2", "a = '''\n[t]\n'''\nb = 2\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Set([]byte(tt.in), tt.path, tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("Set(%q, %q, %s)\n got %q\nwant %q", tt.in, tt.path, tt.value, got, tt.want)
			}
		})
	}
}

func TestReplaceTables(t *testing.T) {
	tests := []struct{ name, in, text, want string }{
		{"none yet", "a = 1\n", "[p]\nx = 1\n", "a = 1\n\n[p]\nx = 1\n"},
		{"no final newline", "a = 1", "[p]\n", "a = 1\n\n[p]\n"},
		{"empty", "", "[p]\n", "[p]\n"},
		{"in place", "[a]\n\n[p]\nx = 1\n[p.q]\ny = 1\n\n# of b\n[b]\n", "[p]\nz = 1\n", "[a]\n\n[p]\nz = 1\n\n# of b\n[b]\n"},
		{"scattered", "[p.q]\ny = 1\n[b]\nk = 1 # c\n[p]\nx = 1\n", "[p]\n", "[p]\n[b]\nk = 1 # c\n"},
		{"a longer name is another", "[pp]\nx = 1\n", "[p]\n", "[pp]\nx = 1\n\n[p]\n"},
		{"trailing comment", "[p]\nx = 1\n# bye\n", "[p]\n", "[p]\n# bye\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReplaceTables([]byte(tt.in), []string{"p"}, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("ReplaceTables(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestHostile(t *testing.T) {
	tests := []struct{ name, in string }{
		{"nested arrays", "a = " + strings.Repeat("[", 10<<20)},
		{"nested tables", "a = " + strings.Repeat("{a=", 1<<20)},
		{"dotted key", "a" + strings.Repeat(".a", 1<<20) + " = 1"},
		{"dotted header", "[a" + strings.Repeat(".a", 1<<20) + "]"},
		{"not UTF-8", "a = \"\xff\""},
		{"open string", "a = \"x"},
		{"twice", "a = 1\na = 2\n"},
		{"no value", "a ="},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v map[string]any
			err := Unmarshal([]byte(tt.in), &v)
			var te *Error
			if !errors.As(err, &te) || te.Line < 1 {
				t.Errorf("Unmarshal(%.30q): %v, want an Error with a line", tt.in, err)
			}
		})
	}
}

// FuzzSet changes one key of any document: it is refused, or the result decodes
// to the same with that key set.
func FuzzSet(f *testing.F) {
	for _, s := range []string{"", "a = 1 # c\n[t]\nb = {x = 1}\n", "t.k = 1\n", "t = { k = 2 }\r\n", "[[t]]\n", "a='''\n[t]\n'''", "[t.u]\nk=1\n\n# c\n[v]", "\ufeffa=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var before map[string]any
		if Unmarshal([]byte(s), &before) != nil {
			return
		}
		out, err := Set([]byte(s), []string{"t", "k"}, "42")
		if err != nil {
			return
		}
		var after map[string]any
		if err := Unmarshal(out, &after); err != nil {
			// A table that is an array, or was made by a dotted header, cannot
			// take the key; callers decode what they are about to write.
			return
		}
		table, _ := after["t"].(map[string]any)
		if list, ok := after["t"].([]any); ok && len(list) > 0 {
			table, _ = list[len(list)-1].(map[string]any)
		}
		if table["k"] != int64(42) {
			t.Fatalf("Set(%q) = %q: t.k is %v", s, out, table["k"])
		}
		delete(table, "k")
		if old, ok := before["t"].(map[string]any); ok {
			delete(old, "k")
		} else if list, ok := before["t"].([]any); ok && len(list) > 0 {
			if old, ok := list[len(list)-1].(map[string]any); ok {
				delete(old, "k")
			}
		} else {
			delete(after, "t")
		}
		if before == nil {
			before = map[string]any{}
		}
		if !equal(before, after) {
			t.Fatalf("Set(%q) = %q changed more than t.k", s, out)
		}
	})
}

// equal is reflect.DeepEqual for which NaN is equal to itself.
func equal(a, b any) bool {
	if x, ok := a.(float64); ok {
		if y, ok := b.(float64); ok {
			return x == y || x != x && y != y
		}
	}
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			w, ok := y[k]
			if !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}
