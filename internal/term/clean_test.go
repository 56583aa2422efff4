package term

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain text", "git status", "git status"},
		{"colour", "\x1b[1;32mall fine\x1b[0m", "all fine"},
		{"erase display", "a\x1b[2Jb", "ab"},
		{"window title ended by BEL", "\x1b]0;owned\x07x", "x"},
		{"hyperlink ended by ST", "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\", "click"},
		{"C1 control sequence introducer", "a\u009b2Jb", "ab"},
		{"charset switch", "\x1b(0x", "x"},
		{"unterminated control string swallows nothing", "a\x1b]0;tail", "a0;tail"},
		{"lone escape at the end", "a\x1b", "a"},
		{"line break", "one\ntwo", "one⏎two"},
		{"carriage return cannot overwrite", "safe\rrm -rf", "safe⏎rm -rf"},
		{"CRLF is one break", "a\r\nb", "a⏎b"},
		{"Unicode line separator", "a\u2028b", "a⏎b"},
		{"tab", "a\tb", "a b"},
		{"bidi override", "abc\u202edcba", "abcdcba"},
		{"bidi isolate", "a\u2066b\u2069", "ab"},
		{"zero width space", "rm\u200b -rf", "rm -rf"},
		{"tag characters", "a\U000e0041b", "ab"},
		{"emoji with a joiner stays", "👩\u200d💻", "👩\u200d💻"},
		{"Latin-1 byte", "caf\xe9", "caf\uFFFD"},
	}
	for _, tt := range tests {
		if got := Clean(tt.in, 0); got != tt.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func TestCleanBound(t *testing.T) {
	for _, tt := range []struct {
		in   string
		max  int
		want string
	}{
		{"abcdef", 6, "abcdef"},
		{"abcdef", 4, "abc…"},
		{"äöüß", 3, "äö…"},
		{"a\x1b[31m", 1, "a"},
	} {
		if got := Clean(tt.in, tt.max); got != tt.want {
			t.Errorf("Clean(%q, %d) = %q, want %q", tt.in, tt.max, got, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mx\x1b]0;t\x07", 10)
	f.Add("a\u202eb\u009bmc\xff", 2)
	f.Fuzz(func(t *testing.T, in string, max int) {
		got := Clean(in, max)
		if !utf8.ValidString(got) {
			t.Fatalf("Clean(%q) = %q is not UTF-8", in, got)
		}
		for _, r := range got {
			if r < 0x20 || r == 0x7f || hidden(r) {
				t.Fatalf("Clean(%q) = %q keeps %U", in, got, r)
			}
		}
		if n := utf8.RuneCountInString(got); max > 0 && n > max {
			t.Fatalf("Clean(%q, %d) has %d runes", in, max, n)
		}
		if again := Clean(got, max); again != got {
			t.Fatalf("Clean is not idempotent: %q, then %q", got, again)
		}
		if strings.ContainsRune(in, 0x1b) && strings.ContainsRune(got, 0x1b) {
			t.Fatal("an escape survived")
		}
	})
}
