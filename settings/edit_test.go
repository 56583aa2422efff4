package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sallyport/internal/testenv"
)

func TestApply(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	tests := []struct {
		name, in string
		changes  []Change
		want     string
	}{
		{"empty text", "", []Change{Set(true, "sandbox", "enabled")}, "{\n  \"sandbox\": {\n    \"enabled\": true\n  }\n}\n"},
		{"empty object", "{}", []Change{Set(1, "a")}, "{\n  \"a\": 1\n}"},
		{"replace", "{\"a\": 1.0, \"b\": [1 ,2]}\n", []Change{Set(2, "a")}, "{\"a\": 2, \"b\": [1 ,2]}\n"},
		{"equal value stays as it is written", `{"a": { "x" : 1 }}`, []Change{Set(map[string]int{"x": 1}, "a")}, `{"a": { "x" : 1 }}`},
		{"member at the end", "{\n  \"a\": 1\n}\n", []Change{Set("x", "b")}, "{\n  \"a\": 1,\n  \"b\": \"x\"\n}\n"},
		{"tabs", "{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}", []Change{Set([]string{"x"}, "a", "c")},
			"{\n\t\"a\": {\n\t\t\"b\": 1,\n\t\t\"c\": [\n\t\t\t\"x\"\n\t\t]\n\t}\n}"},
		{"four blanks and CRLF", "{\r\n    \"a\": 1\r\n}\r\n", []Change{Set(raw(`{"c":1}`), "b")},
			"{\r\n    \"a\": 1,\r\n    \"b\": {\r\n        \"c\": 1\r\n    }\r\n}\r\n"},
		{"one line with blanks", `{"a": 1}`, []Change{Set(raw(`{"c":[1,2]}`), "b")}, `{"a": 1, "b": {"c": [1, 2]}}`},
		{"one line without blanks", `{"a":1}`, []Change{Set(raw(`{"c": [1, 2]}`), "b")}, `{"a":1,"b":{"c":[1,2]}}`},
		{"array on one line inside lines", "{\n  \"a\": [\"x\", \"y\"]\n}", []Change{Append("z", "a")}, "{\n  \"a\": [\"x\", \"y\", \"z\"]\n}"},
		{"array on lines", "{\n  \"a\": [\n    \"x\"\n  ]\n}", []Change{Append("z", "a")}, "{\n  \"a\": [\n    \"x\",\n    \"z\"\n  ]\n}"},
		{"array is made", "{\n  \"b\": 1\n}", []Change{Append("z", "p", "allow")}, "{\n  \"b\": 1,\n  \"p\": {\n    \"allow\": [\n      \"z\"\n    ]\n  }\n}"},
		{"empty object inside lines", "{\n  \"a\": {}\n}", []Change{Set(1, "a", "b")}, "{\n  \"a\": {\n    \"b\": 1\n  }\n}"},
		{"empty array inside lines", "{\n  \"a\": [ ]\n}", []Change{Append(1, "a")}, "{\n  \"a\": [\n    1\n  ]\n}"},
		{"comma first", "{ \"a\": 1\n, \"b\": 2\n}", []Change{Set(3, "c")}, "{ \"a\": 1\n, \"b\": 2,\n\"c\": 3\n}"},
		{"element by index", `{"a": [1, {"b": 2}]}`, []Change{Set(3, "a", "1", "b")}, `{"a": [1, {"b": 3}]}`},
		{"delete the first", "{\n  \"a\": 1,\n  \"b\": 2\n}", []Change{Delete("a")}, "{\n  \"b\": 2\n}"},
		{"delete the last", "{\n  \"a\": 1,\n  \"b\": 2\n}", []Change{Delete("b")}, "{\n  \"a\": 1\n}"},
		{"delete the only one", "{\n  \"a\": [\n    1\n  ]\n}", []Change{Delete("a", "0")}, "{\n  \"a\": []\n}"},
		{"delete what is not there", `{"a": 1}`, []Change{Delete("b"), Delete("a", "x"), Delete("b", "0")}, `{"a": 1}`},
		{"add and delete", "{\n\t\"a\": 1\n}", []Change{Set(1, "b"), Delete("b")}, "{\n\t\"a\": 1\n}"},
		{"names with escapes", `{"a\u002fb": 1, "<": 2}`, []Change{Set(3, "a/b"), Set("<>&", "<")}, `{"a\u002fb": 3, "<": "<>&"}`},
		{"number spelling", `{"a": 1e2, "b": 1.50}`, []Change{Set(raw("2.500"), "a")}, `{"a": 2.500, "b": 1.50}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Apply([]byte(tt.in), tt.changes...)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("Apply(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestPatch(t *testing.T) {
	tests := []struct {
		name, in string
		change   Change
		want     string // empty: refused
	}{
		{"byte order mark stays", "\ufeff{\"a\": 1}", Set(2, "a"), "\ufeff{\"a\": 2}"},
		{"names that stand twice elsewhere", `{"x": 1, "x": 2, "a": {"y": 1}}`, Set(2, "a", "y"), `{"x": 1, "x": 2, "a": {"y": 2}}`},
		{"deeper elsewhere", `{"b": {"x": 1, "x": 2}, "a": 1}`, Delete("a"), `{"b": {"x": 1, "x": 2}}`},
		{"twice at the end of the way", `{"a": {"x": 1, "x": 2}}`, Set(3, "a", "x"), ""},
		{"twice on the way", `{"a": {"x": 1}, "a": {}}`, Set(3, "a", "x"), ""},
		{"empty", "", Set(1, "a"), "{\n  \"a\": 1\n}\n"},
		{"not JSON", "{", Set(1, "a"), ""},
	}
	for _, tt := range tests {
		got, err := Patch([]byte(tt.in), tt.change)
		var se *SyntaxError
		if string(got) != tt.want || (err == nil) != (tt.want != "") || err != nil && !errors.As(err, &se) {
			t.Errorf("%s: Patch(%q) = %q, %v, want %q", tt.name, tt.in, got, err, tt.want)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	syntax := func(line, column int, message string) error { return &SyntaxError{line, column, message} }
	tests := []struct {
		in     string
		change Change
		want   error
	}{
		{"{\n  // no\n}", Set(1, "a"), syntax(2, 3, "comments are not allowed in JSON")},
		{"{\n  \"a\": 1, # no\n}", Set(1, "a"), syntax(2, 11, "comments are not allowed in JSON")},
		{"{\"a\": 1,\n}", Set(1, "a"), syntax(1, 8, "trailing comma")},
		{"[1,]", Set(1, "a"), syntax(1, 3, "trailing comma")},
		{"\ufeff{}", Set(1, "a"), syntax(1, 1, "the file begins with a byte order mark")},
		{"{\n\"é\": {\"x\":1, \"x\":2}}", Set(1, "a"), syntax(2, 14, "a member of this name stands here twice")},
		{`{"a": tru}`, Set(1, "a"), syntax(1, 7, "unexpected 't', expected a value")},
		{`{"a": 1`, Set(1, "a"), syntax(1, 8, "the file ends here, expected a comma or }")},
		{`{"a": 01}`, Set(1, "a"), syntax(1, 8, "unexpected '1', expected a comma or }")},
		{`{} x`, Set(1, "a"), syntax(1, 4, "unexpected 'x', expected the end of the file")},
		{`{"a": "x`, Set(1, "a"), syntax(1, 7, "this string never ends")},
		{"{\"a\": \"x\ty\"}", Set(1, "a"), syntax(1, 9, "control character 0x09 in a string, write it as an escape")},
		{`{"a": "\x"}`, Set(1, "a"), syntax(1, 8, "not a JSON escape")},
		{strings.Repeat("[", maxDepth+1), Set(1, "a"), syntax(1, maxDepth+1, "nested more than 10000 levels deep")},
		{`{"a": 1}`, Set(1, "a", "b"), &PathError{"/a", "is a number and has no members"}},
		{`{"a": [1]}`, Set(1, "a", "2"), &PathError{"/a/2", "no such element"}},
		{`{"a": [1]}`, Set(1, "a", "x/y"), &PathError{"/a/x~1y", "no such element"}},
	}
	for _, tt := range tests {
		got, err := Apply([]byte(tt.in), tt.change)
		if got != nil || !reflect.DeepEqual(err, tt.want) {
			t.Errorf("Apply(%.40q) = %q, %v, want error %v", tt.in, got, err, tt.want)
		}
	}
	if _, err := Apply([]byte("{}"), Set(json.RawMessage("{x}"), "a")); err == nil {
		t.Error("a raw value that is not JSON was taken")
	}
	if _, err := Apply([]byte("{}"), Set(func() {}, "a")); err == nil {
		t.Error("a function was taken for a value")
	}
}

// randomJSON writes a random document in a random style, so that its bytes
// are not what any encoder would write.
type randomJSON struct{ r *rand.Rand }

func (g randomJSON) blank() string {
	return [...]string{"", "", "", " ", "\n", "\r\n", "\t", "  \n\t "}[g.r.IntN(8)]
}

func (g randomJSON) name(i int) string {
	return fmt.Sprintf([...]string{"k%d", "a/%d", "a~%d", `q\"%d`, `\u00e9%d`, "é%d", ".%d"}[g.r.IntN(7)], i)
}

func (g randomJSON) value(depth int) string {
	kind := g.r.IntN(9)
	if depth <= 0 {
		kind = g.r.IntN(6)
	}
	var b strings.Builder
	switch kind {
	case 0:
		return "null"
	case 1:
		return "true"
	case 2:
		return [...]string{"1", "-0", "1.50", "1E3", "1e-7", "123456789012345678901234567890"}[g.r.IntN(6)]
	case 3:
		return [...]string{`""`, `"x"`, `"\n\"{[,"`, `"\ud83d\ude00"`, `"}]"`}[g.r.IntN(5)]
	case 4:
		return "[" + g.blank() + "]"
	case 5:
		return "{" + g.blank() + "}"
	case 6:
		b.WriteByte('[')
		for i := range g.r.IntN(4) + 1 {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(g.blank() + g.value(depth-1) + g.blank())
		}
		b.WriteByte(']')
	default:
		b.WriteByte('{')
		for i := range g.r.IntN(4) + 1 {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(g.blank() + `"` + g.name(i) + `"` + g.blank() + ":" + g.blank() + g.value(depth-1) + g.blank())
		}
		b.WriteByte('}')
	}
	return b.String()
}

// path picks a random place of a decoded document, sometimes one that is not
// there.
func (g randomJSON) path(v any) []string {
	var path []string
	for {
		switch x := v.(type) {
		case map[string]any:
			if len(x) == 0 || g.r.IntN(5) == 0 {
				return append(path, fmt.Sprintf("new%d", g.r.IntN(3)))
			}
			names := sortedKeys(x)
			name := names[g.r.IntN(len(names))]
			path, v = append(path, name), x[name]
		case []any:
			if len(x) == 0 || g.r.IntN(5) == 0 {
				return append(path, "-")
			}
			i := g.r.IntN(len(x))
			path, v = append(path, fmt.Sprint(i)), x[i]
		default:
			return path
		}
		if g.r.IntN(3) == 0 {
			return path
		}
	}
}

func sortedKeys(m map[string]any) []string {
	var names []string
	for k := range m {
		names = append(names, k)
	}
	for i := range names {
		for j := range i {
			if names[i] < names[j] {
				names[i], names[j] = names[j], names[i]
			}
		}
	}
	return names
}

func decode(t testing.TB, data []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, data)
	}
	return v
}

// model is the edit on decoded values; ok is false where it does not fit.
func model(v any, path []string, value any, del bool) (any, bool) {
	if len(path) == 0 {
		return value, !del
	}
	step := path[0]
	switch x := v.(type) {
	case map[string]any:
		old, there := x[step]
		if len(path) == 1 && del {
			delete(x, step)
			return x, true
		}
		if !there {
			if del {
				return x, true
			}
			made := value
			for i := len(path) - 1; i > 0; i-- {
				if path[i] == "-" {
					made = []any{made}
				} else {
					made = map[string]any{path[i]: made}
				}
			}
			x[step] = made
			return x, true
		}
		sub, ok := model(old, path[1:], value, del)
		x[step] = sub
		return x, ok
	case []any:
		if step == "-" || step == fmt.Sprint(len(x)) {
			if del {
				return x, true
			}
			return append(x, value), len(path) == 1
		}
		var i int
		if _, err := fmt.Sscan(step, &i); err != nil || i < 0 || i >= len(x) {
			return x, del
		}
		if len(path) == 1 && del {
			return append(x[:i:i], x[i+1:]...), true
		}
		sub, ok := model(x[i], path[1:], value, del)
		x[i] = sub
		return x, ok
	}
	return v, del
}

// TestEveryOtherByteStays edits random documents at random places: the result
// has the value that the edit asks for, and apart from one stretch, which begins
// and ends inside the container that was edited, it has the same bytes.
func TestEveryOtherByteStays(t *testing.T) {
	for seed := range uint64(4000) {
		g := randomJSON{rand.New(rand.NewPCG(seed, 7))}
		in := g.blank() + "{" + g.blank() + `"first"` + g.blank() + ":" + g.blank() + g.value(4) + g.blank() + "," + `"second":` + g.value(3) + g.blank() + "}" + g.blank()
		before := decode(t, []byte(in))
		path := g.path(before)
		if len(path) == 0 {
			continue
		}
		text := g.value(2)
		del := g.r.IntN(3) == 0
		change := Set(json.RawMessage(text), path...)
		if del {
			change = Delete(path...)
		}
		got, err := Apply([]byte(in), change)
		want, fits := model(decode(t, []byte(in)), path, decode(t, []byte(text)), del)
		if !fits {
			var pe *PathError
			if !errors.As(err, &pe) {
				t.Fatalf("seed %d: Apply(%q, %q): error %v, want a PathError", seed, in, path, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: Apply(%q, %q): %v", seed, in, path, err)
		}
		if after := decode(t, got); !reflect.DeepEqual(after, want) {
			t.Fatalf("seed %d: Apply(%q, %q, delete %t, %s)\n got %q\n i.e. %v\nwant %v", seed, in, path, del, text, got, after, want)
		}
		// The part that differs lies inside the container.
		doc, err := ParseDocument([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		container := doc.Root()
		for _, step := range path[:len(path)-1] {
			i := container.n.child(step)
			if i < 0 {
				break
			}
			container = Node{doc, &container.n.kids[i].value, 0}
		}
		if !strings.HasPrefix(string(got), in[:container.n.start+1]) || !strings.HasSuffix(string(got), in[container.n.end-1:]) {
			t.Fatalf("seed %d: Apply(%q, %q) = %q changes bytes outside the container %q", seed, in, path, got, in[container.n.start:container.n.end])
		}
		// And every sibling is written as before.
		checkSiblings(t, seed, doc, container, got, path)
	}
}

func checkSiblings(t *testing.T, seed uint64, doc *Document, container Node, got []byte, path []string) {
	t.Helper()
	edited := path[len(path)-1]
	for i := range container.n.kids {
		k := &container.n.kids[i]
		name := k.name
		if container.Kind() == Array {
			name = fmt.Sprint(i)
		}
		if name == edited {
			continue
		}
		if written := doc.data[k.nameAt:k.value.end]; !bytes.Contains(got, written) {
			t.Fatalf("seed %d: %q was rewritten in %q", seed, written, got)
		}
	}
}

// TestIndentationIsTakenOver adds to documents of every usual style and finds
// what an encoder of that style would have written.
func TestIndentationIsTakenOver(t *testing.T) {
	value := map[string]any{"hooks": map[string]any{"Stop": []any{map[string]any{"hooks": []any{"x"}}}}, "model": "m"}
	for _, indent := range []string{" ", "  ", "    ", "\t", "\t\t"} {
		full, err := json.MarshalIndent(value, "", indent)
		if err != nil {
			t.Fatal(err)
		}
		for _, eol := range []string{"\n", "\r\n"} {
			want := strings.ReplaceAll(string(full), "\n", eol) + eol
			start := strings.ReplaceAll("{\n"+indent+"\"hooks\": {}\n}", "\n", eol) + eol
			got, err := Apply([]byte(start), Append(map[string]any{"hooks": []any{"x"}}, "hooks", "Stop"), Set("m", "model"))
			if err != nil || string(got) != want {
				t.Errorf("indent %q: got %q, %v, want %q", indent, got, err, want)
			}
		}
	}
}

func FuzzApply(f *testing.F) {
	f.Add("{\n  \"a\": [1, {\"b\": null}]\n}", "/a/1/b", `{"x":[]}`)
	f.Add("\t{}", "/x/-", "1")
	f.Add("{\"a\":1,\"a\":2}", "/a", "true")
	f.Fuzz(func(t *testing.T, in, at, value string) {
		changes := []Change{Set(json.RawMessage(value), Pointer(at)...), Append(at, "list"), Delete(Pointer(at)...)}
		for _, c := range changes {
			out, err := Apply([]byte(in), c)
			if err != nil {
				continue
			}
			if doc, err := ParseDocument(out); err != nil || doc.dup >= 0 && !strings.Contains(value, ":") {
				t.Fatalf("Apply(%q, %q, %q) = %q: %v", in, at, value, out, err)
			}
		}
	})
}

// oneByOne is what Apply promises for several changes.
func oneByOne(data []byte, changes ...Change) ([]byte, error) {
	for _, c := range changes {
		var err error
		if data, err = Apply(data, c); err != nil {
			return nil, err
		}
	}
	return Apply(data)
}

// FuzzApplyBatch: several changes at once make what they make one by one.
func FuzzApplyBatch(f *testing.F) {
	f.Add(`{"a": [1, "x", {"b": null}, [2], 5], "c": 1}`, "s/a/0=2 s/a/1=\"y\" s/c=true s/a/0=3 d/a/4 d/a/3 d/a/1")
	f.Add("{\n\t\"a\": [\n\t\t1,\n\t\t2,\n\t\t3\n\t]\n}", "d/a/2 d/a/1 d/a/0")
	f.Add(`[1,2,3,4]`, "d/3 d/1 d/0 d/0 s/0=[1] s/0=1")
	f.Add(`{"a":{"b":1,"c":2}}`, "s/a/b=3 s/a/c={} s/a/c=1 s/a=1 s/a/b=2")
	f.Add(`{"a":[1 , 2 ,3 ]}`, "d/a/2 d/a/1 d/a/0 s/a/-=1")
	f.Fuzz(func(t *testing.T, in, script string) {
		var changes []Change
		for word := range strings.SplitSeq(script, " ") {
			if at, value, ok := strings.Cut(word, "="); ok {
				changes = append(changes, Set(json.RawMessage(value), Pointer(strings.TrimPrefix(at, "s"))...))
			} else {
				changes = append(changes, Delete(Pointer(strings.TrimPrefix(word, "d"))...))
			}
		}
		want, wantErr := oneByOne([]byte(in), changes...)
		got, err := Apply([]byte(in), changes...)
		if (err == nil) != (wantErr == nil) || !bytes.Equal(got, want) {
			t.Errorf("Apply(%q, %q) = %q, %v\nwant %q, %v", in, script, got, err, want, wantErr)
		}
	})
}

// Apply parses once for many changes of one kind.
func TestApplyIsLinear(t *testing.T) {
	measure := func(n int) time.Duration {
		text := `{"a":["` + strings.Repeat(`x","`, n) + `x"]}`
		var changes []Change
		for i := range n {
			changes = append(changes, Set("y", "a", strconv.Itoa(i)))
		}
		for i := n - 1; i > 0; i-- {
			changes = append(changes, Delete("a", strconv.Itoa(i)))
		}
		best := time.Hour
		for range 3 {
			start := time.Now()
			if _, err := Apply([]byte(text), changes...); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	if small, large := measure(500), measure(4000); large > 32*small+50*time.Millisecond {
		t.Errorf("500 elements take %v, 4000 take %v", small, large)
	}
}

func newEditor(t *testing.T) (*Editor, string) {
	dir := testenv.Dir(t)
	return &Editor{Roots: []string{dir}, State: filepath.Join(dir, "state"), Now: func() time.Time {
		return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	}}, dir
}

func TestEditorWrites(t *testing.T) {
	e, dir := newEditor(t)
	path := filepath.Join(dir, "dot", "settings.json")
	if _, err := e.Edit(path, Delete("a")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Fatal("deleting from a missing file made one")
	}
	out, err := e.Edit(path, Set(true, "sandbox", "enabled"))
	if err != nil || out.Existed || out.Backup != "" {
		t.Fatalf("Edit = %+v, %v", out, err)
	}
	if fi, _ := os.Stat(path); runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Errorf("mode of a new file = %v, want 0600", fi.Mode())
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	first, _ := os.ReadFile(path)
	preview, err := e.Preview(path, Set("m", "model"))
	if err != nil || !preview.Changed() {
		t.Fatalf("Preview = %+v, %v", preview, err)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, first) {
		t.Error("Preview wrote the file")
	}
	out, err = e.Edit(path, Set("m", "model"))
	if err != nil || !bytes.Equal(out.New, preview.New) || !bytes.Equal(out.Old, first) {
		t.Fatalf("Edit = %+v, %v, want the preview's bytes", out, err)
	}
	want := filepath.Join(dir, "state", "backups", "20261130T120000.000000Z", strings.NewReplacer("/", "%2F", ":", "%3A", `\`, "%5C").Replace(path))
	if out.Backup != want {
		t.Errorf("backup %s, want %s", out.Backup, want)
	}
	if fi, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o640 {
		t.Errorf("mode = %v, want it kept", fi.Mode())
	}
	if _, err := e.Edit(path, Set("n", "model")); err != nil {
		t.Fatal(err)
	}
	if kept, _ := os.ReadFile(want); !bytes.Equal(kept, first) {
		t.Errorf("the backup holds %q, want the file as it was before the run, %q", kept, first)
	}
	before, _ := os.Stat(path)
	out, err = e.Edit(path, Set("n", "model"), Set(true, "sandbox", "enabled"))
	after, _ := os.Stat(path)
	if err != nil || out.Changed() || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("an edit that changes nothing wrote the file: %+v, %v", out, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "dot", "*")); len(left) != 1 {
		t.Errorf("files left behind: %q", left)
	}
}

func TestEditorRefuses(t *testing.T) {
	e, dir := newEditor(t)
	outside := filepath.Join(testenv.Dir(t), "settings.json")
	write := func(path, text string) string {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write(outside, "{}")
	link := filepath.Join(dir, "link.json")
	dangling := filepath.Join(dir, "dangling.json")
	if os.Symlink(outside, link) != nil || os.Symlink(filepath.Join(dir, "nowhere"), dangling) != nil {
		t.Skip("no symbolic links here")
	}
	linkedDir := filepath.Join(dir, "linked")
	if err := os.Symlink(filepath.Dir(outside), linkedDir); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{outside, link, dangling, dir, filepath.Join(linkedDir, "new.json"), filepath.Join(dir, "x", "..", "..", "y.json")} {
		if _, err := e.Edit(path, Set(1, "a")); !errors.Is(err, ErrRefused) {
			t.Errorf("Edit(%s): %v, want ErrRefused", path, err)
		}
		if _, err := e.Preview(path, Set(1, "a")); !errors.Is(err, ErrRefused) {
			t.Errorf("Preview(%s): %v, want ErrRefused", path, err)
		}
	}
	bad := write(filepath.Join(dir, "bad.json"), "{\n  \"a\": 1,\n}\n")
	var syntax *SyntaxError
	if _, err := e.Edit(bad, Set(1, "a")); !errors.As(err, &syntax) || syntax.Line != 2 || !strings.Contains(err.Error(), bad) {
		t.Errorf("Edit of a broken file: %v, want its name, line and column", err)
	}
	if now, _ := os.ReadFile(bad); string(now) != "{\n  \"a\": 1,\n}\n" {
		t.Errorf("the broken file was changed: %q", now)
	}
}

func TestEditorFollowsALink(t *testing.T) {
	e, dir := newEditor(t)
	real := filepath.Join(dir, "dotfiles", "claude.json")
	if err := os.MkdirAll(filepath.Dir(real), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(real, []byte("{\n\t\"a\": 1\n}"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "settings.json")
	if err := os.Symlink(filepath.Join("dotfiles", "claude.json"), link); err != nil {
		t.Skip("no symbolic links here")
	}
	out, err := e.Edit(link, Set(2, "b"))
	if err != nil || out.Target != real {
		t.Fatalf("Edit = %+v, %v, want target %s", out, err, real)
	}
	if fi, _ := os.Lstat(link); fi.Mode()&os.ModeSymlink == 0 {
		t.Error("the link became a file")
	}
	if got, _ := os.ReadFile(real); string(got) != "{\n\t\"a\": 1,\n\t\"b\": 2\n}" {
		t.Errorf("content = %q", got)
	}
}

// TestWritersLoseNothing has several editors, each its own, append to one file.
func TestWritersLoseNothing(t *testing.T) {
	_, dir := newEditor(t)
	path := filepath.Join(dir, "settings.json")
	const writers, rounds = 8, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range rounds {
				e := &Editor{State: filepath.Join(dir, "state"), Wait: time.Minute}
				if _, err := e.Edit(path, Append(fmt.Sprintf("%d-%d", w, i), "permissions", "allow")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rules := decode(t, data).(map[string]any)["permissions"].(map[string]any)["allow"].([]any)
	seen := map[any]bool{}
	for _, r := range rules {
		seen[r] = true
	}
	if len(seen) != writers*rounds || len(rules) != writers*rounds {
		t.Errorf("%d of %d entries survived", len(seen), writers*rounds)
	}
	if runs, _ := os.ReadDir(filepath.Join(dir, "state", "backups")); len(runs) > keepRuns {
		t.Errorf("%d runs of backups are kept, want at most %d", len(runs), keepRuns)
	}
}

func TestEditorGivesUpOnAHeldLock(t *testing.T) {
	e, dir := newEditor(t)
	e.Wait = 20 * time.Millisecond
	path := filepath.Join(dir, "settings.json")
	unlock, err := e.lock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	other := &Editor{State: e.State, Wait: e.Wait}
	if _, err := other.Edit(path, Set(1, "a")); !errors.Is(err, ErrBusy) {
		t.Errorf("Edit under a held lock: %v, want ErrBusy", err)
	}
}
