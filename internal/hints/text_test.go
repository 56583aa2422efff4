package hints

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	tests := []struct {
		name    string
		streams []string
		want    string
	}{
		{"nothing", nil, ""},
		{"empty streams", []string{"", ""}, ""},
		{"one", []string{"", "a", ""}, "a"},
		{"joined in order", []string{"out", "err", "text"}, "out\nerr\ntext"},
		{"CRLF", []string{"a\r\nb\r\n"}, "a\nb\n"},
		{"lone carriage return", []string{"10%\r20%\rdone"}, "10%\n20%\ndone"},
		{"colour inside a word", []string{"agent \x1b[1mre\x1b[0mfused"}, "agent refused"},
		{"private and intermediate parameters", []string{"a\x1b[?25lb\x1b[>0qc"}, "abc"},
		{"window title", []string{"\x1b]0;title\x07agent"}, "agent"},
		{"link around a path", []string{"\x1b]8;;file:///x\x1b\\/tmp/x\x1b]8;;\x1b\\: denied"}, "/tmp/x: denied"},
		{"C1 introducer", []string{"a\u009b31mb"}, "ab"},
		{"C1 string", []string{"a\u009d0;t\u009cb"}, "ab"},
		{"charset", []string{"a\x1b(Bb\x1b7c"}, "abc"},
		{"unterminated string hides nothing", []string{"\x1b]0;agent refused"}, "0;agent refused"},
		{"string ends with its line", []string{"\x1b]0;x\nagent"}, "0;x\nagent"},
		{"escape at the end", []string{"a\x1b"}, "a"},
		{"invalid UTF-8 and NUL stay", []string{"a\xff\x00b\xc2"}, "a\xff\x00b\xc2"},
	}
	for _, tt := range tests {
		if got := Text(tt.streams...); got != tt.want {
			t.Errorf("%s: Text(%q) = %q, want %q", tt.name, tt.streams, got, tt.want)
		}
	}
}

func TestTextKeepsBothEndsOfALongStream(t *testing.T) {
	long := "first line\n" + strings.Repeat("x", 5<<20) + "\nlast line"
	got := Text(long, "err")
	if !strings.HasPrefix(got, "first line\n") || !strings.HasSuffix(got, "\nlast line\nerr") || len(got) > 2*maxStream+10 {
		t.Errorf("Text of %d bytes keeps %d, begins %q, ends %q", len(long), len(got), got[:20], got[len(got)-20:])
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\r\n\x1b[31mb\x1b]0;t\x07", "\u009b1m\x1b(0")
	f.Add("\x1b\x1b[\x1b]\x1b\\", "\xc2\x9d\xc2")
	f.Fuzz(func(t *testing.T, out, err string) {
		got := Text(out, err)
		if strings.Contains(got, "\r") {
			t.Errorf("Text(%q, %q) = %q keeps a carriage return", out, err, got)
		}
		if len(got) > len(out)+len(err)+1 {
			t.Errorf("Text(%q, %q) = %q is longer than what went in", out, err, got)
		}
		if !strings.ContainsAny(out, "\x1b\r\u009b\u009d") && len(out) < maxStream && !strings.Contains(got, out) {
			t.Errorf("Text(%q, %q) = %q loses plain text", out, err, got)
		}
		Select(got, Scan(got, Builtin()), func() Sandbox { return SandboxOn })
	})
}
