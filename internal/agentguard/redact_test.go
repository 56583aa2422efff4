package agentguard

import (
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	tests := []struct{ in, want string }{
		{"git push https://me:hunter2@example.com/x", "git push https://me:[redacted]@example.com/x"},
		{"git clone https://ghp_abcdefghijklmnop1234@github.com/o/r", "git clone https://[redacted]@github.com/o/r"},
		{"git clone https://me@example.com/x", "git clone https://me@example.com/x"},
		{"psql postgres://u:p@ss@h/db", "psql postgres://u:[redacted]@h/db"},
		{"GH_TOKEN=abc123 gh pr list", "GH_TOKEN=[redacted] gh pr list"},
		{"export AWS_SECRET_ACCESS_KEY='abc/def'", "export AWS_SECRET_ACCESS_KEY='[redacted]'"},
		{"x --password hunter2 --user me", "x --password [redacted] --user me"},
		{"x --api-key=abc y", "x --api-key=[redacted] y"},
		{`curl -H "Authorization: Bearer abc.def" u`, `curl -H "Authorization: Bearer [redacted]" u`},
		{"echo sk-abcdefghijklmnopqrstuv", "echo [redacted]"},
		{"echo AKIAABCDEFGHIJKLMNOP", "echo [redacted]"},
		{"TOKEN=$OTHER x", "TOKEN=$OTHER x"},
		{"git log --author=me", "git log --author=me"},
		{"echo password", "echo password"},
		{"task-list sk-1", "task-list sk-1"},
		{"http://example.com/a?b=c@d", "http://example.com/a?b=c@d"},
		{"", ""},
	}
	for _, tt := range tests {
		if got := Redact(tt.in); got != tt.want {
			t.Errorf("Redact(%q)\n got %q\nwant %q", tt.in, got, tt.want)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("https://a:b@c TOKEN='x' --password y Authorization: Bearer z")
	f.Fuzz(func(t *testing.T, s string) {
		got := Redact(s)
		if strings.Count(s, "\n") != strings.Count(got, "\n") && !strings.Contains(got, redacted) {
			t.Fatalf("Redact(%q) = %q changed lines", s, got)
		}
		if got == "" && s != "" {
			t.Fatalf("Redact(%q) is empty", s)
		}
	})
}
