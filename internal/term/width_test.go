package term

import (
	"strings"
	"testing"
)

func TestWidth(t *testing.T) {
	tests := []struct {
		name, in string
		want     int
	}{
		{"empty", "", 0},
		{"ASCII", "main *", 6},
		{"colour takes no column", "\x1b[1;32m[sandbox]\x1b[0m", 9},
		{"link takes no column", "\x1b]8;;https://example.com\x1b\\#12\x1b]8;;\x1b\\", 3},
		{"CJK is two columns each", "日本", 4},
		{"combining mark joins its base", "e\u0301", 1},
		{"emoji", "🚀", 2},
		{"emoji joined to one", "👩\u200d💻", 2},
		{"flag", "🇩🇪", 2},
		{"escape between base and mark", "a\x1b[0mb", 2},
		{"control character", "a\ab", 2},
	}
	for _, tt := range tests {
		if got := Width(tt.in); got != tt.want {
			t.Errorf("%s: Width(%q) = %d, want %d", tt.name, tt.in, got, tt.want)
		}
	}
}

func TestTruncate(t *testing.T) {
	tests := []struct {
		name, in string
		max      int
		want     string
	}{
		{"short enough", "main", 4, "main"},
		{"cut", "feature", 4, "fea…"},
		{"wide rune does not fit half", "日本語", 4, "日…"},
		{"room for the tail alone", "abc", 1, "…"},
		{"no room", "abc", 0, ""},
		{"cluster stays whole", "👩\u200d💻👩\u200d💻", 3, "👩\u200d💻…"},
		{"colour is closed behind the cut", "\x1b[31mabcdef\x1b[0m", 3, "\x1b[31mab…\x1b[0m"},
		{"link is closed behind the cut", "\x1b]8;;http://x\x1b\\abcdef\x1b]8;;\x1b\\", 2, "\x1b]8;;http://x\x1b\\a…\x1b]8;;\x1b\\"},
	}
	for _, tt := range tests {
		if got := Truncate(tt.in, tt.max, "…"); got != tt.want {
			t.Errorf("%s: Truncate(%q, %d) = %q, want %q", tt.name, tt.in, tt.max, got, tt.want)
		}
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("\x1b[31mab日c\x1b[0m", 3)
	f.Add("e\u0301\u200d\x1b", 1)
	f.Add("🇩🇪🇫", 2)
	f.Fuzz(func(t *testing.T, in string, max int) {
		max = max % 300
		if max < 0 {
			max = -max
		}
		got := Truncate(in, max, "…")
		if w := Width(got); w > max && w > 0 {
			t.Errorf("Truncate(%q, %d) = %q, %d columns wide", in, max, got, w)
		}
		if g, w := strings.Count(got, "\x1b"), strings.Count(in, "\x1b"); g != w {
			t.Errorf("Truncate(%q, %d) = %q has %d escapes, want all %d", in, max, got, g, w)
		}
	})
}
