package tomltext

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		why, text string
		strict    bool
		line      int // 0 for no error, -1 for one without a line
		want      string
	}{
		{"good", "a = 1\n", true, 0, ""},
		{"unknown key", "a = 1\n[b]\nc = 2\n", true, 2, "unknown key b"},
		{"unknown key, lenient", "a = 1\nb = 2\n", false, 0, ""},
		{"syntax", "a = 1\nb = \n", false, 2, ""},
		{"twice", "a = 1\na = 2\n", false, 2, ""},
		{"type", "a = 'x'\n", false, 1, ""},
		{"arrays without end", "a = " + strings.Repeat("[", 100000), false, 1, "nested"},
		{"tables without end", "\nb = " + strings.Repeat("{x=", 100000), false, 2, "nested"},
		{"a key without end", "b" + strings.Repeat(".x", 100000) + " = 1", false, 1, "nested"},
		{"keys without end", "a = 1\n[b]\n" + numbered("k%d = 1\n"), false, -1, "5000 keys"},
		{"keys of one line", "a = 1\nb = {" + strings.TrimSuffix(numbered("k%d=1,"), ",") + "}", false, -1, "5000 keys"},
		{"empty tables", "a = 1\n" + numbered("[t%d]\n"), false, -1, "5000 keys"},
		{"a banner", "a = 1\n" + strings.Repeat("# "+strings.Repeat("=", 80)+"\n", 100), false, 0, ""},
		{"escapes", "a = 1\n\"\x1b[31mb\" = 1\n", true, 2, ""},
	} {
		var v struct{ A int }
		err := Decode("f.toml", []byte(tt.text), &v, tt.strict)
		var at *Error
		if (err != nil) != (tt.line != 0) || err != nil && (!errors.As(err, &at) || at.Line != max(tt.line, 0) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\x1b")) {
			t.Errorf("%s: %v, want line %d and %q", tt.why, err, tt.line, tt.want)
		}
	}
}

func numbered(format string) string {
	var b strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := Read(dir); err == nil {
		t.Error("a directory was read")
	}
	big := filepath.Join(dir, "big")
	if err := os.WriteFile(big, make([]byte, MaxSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(big); err == nil {
		t.Error("a huge file was read")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("a = [[1], {b.c = 2}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v map[string]any
		if err := Decode("f", data, &v, false); err != nil && strings.ContainsAny(err.Error(), "\x1b\r\n") {
			t.Errorf("%q", err)
		}
	})
}
