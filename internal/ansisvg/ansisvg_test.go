package ansisvg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// texts decodes the picture and returns its texts; it must be well-formed.
func texts(t *testing.T, svg []byte) []string {
	t.Helper()
	var list []string
	dec := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, svg)
		}
		if c, ok := tok.(xml.CharData); ok && strings.TrimSpace(string(c)) != "" {
			list = append(list, string(c))
		}
	}
}

func TestDraw(t *testing.T) {
	svg := Draw("status-line", []Line{
		{"sandboxed", "\x1b[1;32m[sandbox]\x1b[0m \x1b[38;5;72mmagpie\x1b[0m <&> \x1b[7;38;2;1;2;3mx\x1b[0m\nsecond \x1b]8;;https://example.com\x1b\\#1\x1b]8;;\x1b\\"},
	})
	got := strings.Join(texts(t, svg), "|")
	want := "status-line|sandboxed|[sandbox]|magpie| <&> |x|second #1"
	if got != want {
		t.Errorf("texts = %q, want %q", got, want)
	}
	for _, part := range []string{
		`fill="` + palette(2) + `"`, `font-weight="bold"`, `fill="#5faf87"`, `fill="#010203"`,
		`textLength="75.6"`, // nine cells
	} {
		if !strings.Contains(string(svg), part) {
			t.Errorf("the picture lacks %s:\n%s", part, svg)
		}
	}
	for _, foreign := range []string{"href", "url(", "@import", "<script", "<style", "example.com"} {
		if strings.Contains(string(svg), foreign) {
			t.Errorf("the picture refers to something outside: %s", foreign)
		}
	}
}

func FuzzDraw(f *testing.F) {
	f.Add("\x1b[38;5m\x1b[38;2;1;2m\x1b[999mx\x1b[")
	f.Add("\x1b[1;日m</text>\xff\x00")
	f.Fuzz(func(t *testing.T, text string) {
		texts(t, Draw(text, []Line{{text, text}}))
	})
}
