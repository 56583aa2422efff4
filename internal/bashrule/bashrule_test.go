package bashrule

import (
	"slices"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	tests := []struct {
		pattern, command string
		want             bool
	}{
		{"git status", "git status", true},
		{"git status", "git status -s", false},
		{"docker", "docker ps", false},
		{"ls *", "ls", true},
		{"ls *", "ls -la", true},
		{"ls *", "lsof", false},
		{"ls*", "lsof", true},
		{"ls:*", "ls", true},
		{"ls:*", "ls -la", true},
		{"ls:*", "lsof", false},
		{"a:* b", "a:x b", true},
		{"a:* b", "a b", false},
		{"*", "anything at all", true},
		{"* --version", "node --version", true},
		{"git * main", "git push origin main", true},
		{"git * main", "git push main-2", false},
		{"git * main *", "git push main", true},
		{"npm run *:test", "npm run a:test", true},
		{" git status ", "git status", true},
	}
	for _, tt := range tests {
		if got := Match(tt.pattern, tt.command); got != tt.want {
			t.Errorf("Match(%q, %q) = %v, want %v", tt.pattern, tt.command, got, tt.want)
		}
	}
}

func TestSplit(t *testing.T) {
	tests := []struct {
		in    string
		parts []string
		flags string // c: cd, s: substitution, r: redirection
		bad   bool
	}{
		{in: "ls -la", parts: []string{"ls -la"}},
		{in: "a && b || c; d | e |& f & g\nh", parts: []string{"a", "b", "c", "d", "e", "f", "g", "h"}},
		{in: `echo "a && b" 'c; d' e\;f`, parts: []string{`echo "a && b" 'c; d' e\;f`}},
		{in: "make 2>&1 | tee", parts: []string{"make 2>&1", "tee"}},
		{in: "make >&2", parts: []string{"make >&2"}},
		{in: "make 2>&-", parts: []string{"make 2>&-"}},
		{in: "make >& log", parts: []string{"make >& log"}, flags: "r"},
		{in: "make &> log", parts: []string{"make &> log"}, flags: "r"},
		{in: "make > log 2>&1", parts: []string{"make > log 2>&1"}, flags: "r"},
		{in: "cat < x", parts: []string{"cat < x"}, flags: "r"},
		{in: "cat <<< x", parts: []string{"cat <<< x"}, flags: "r"},
		{in: "echo a >| b", parts: []string{"echo a >| b"}, flags: "r"},
		{in: "echo $(a; b)", parts: []string{"echo $(a; b)"}, flags: "s"},
		{in: "echo \"$(a; \"b)\")\"; c", parts: []string{"echo \"$(a; \"b)\")\"", "c"}, flags: "s"},
		{in: "echo `a; b`", parts: []string{"echo `a; b`"}, flags: "s"},
		{in: "diff <(a) <(b)", parts: []string{"diff <(a) <(b)"}, flags: "s"},
		{in: "cd x && make", parts: []string{"cd x", "make"}, flags: "c"},
		{in: "A=1 cd x", parts: []string{"A=1 cd x"}, flags: "c"},
		{in: "make # && x\nls", parts: []string{"make", "ls"}},
		{in: "echo a#b", parts: []string{"echo a#b"}},
		{in: ";;", parts: nil},
		{in: "(a; b)", bad: true},
		{in: "{ a; }", bad: true},
		{in: "echo 'x", bad: true},
		{in: `echo "x`, bad: true},
		{in: "cat <<EOF\nx\nEOF", bad: true},
		{in: "echo $(x", bad: true},
		{in: strings.Repeat("x", 10_001), bad: true},
	}
	for _, tt := range tests {
		line, ok := Split(tt.in)
		flags := ""
		if line.Cd {
			flags += "c"
		}
		if line.Substitution {
			flags += "s"
		}
		if line.Redirect {
			flags += "r"
		}
		if ok == tt.bad || !slices.Equal(line.Parts, tt.parts) || flags != tt.flags {
			t.Errorf("Split(%.60q) = %q %q %v, want %q %q %v", tt.in, line.Parts, flags, ok, tt.parts, tt.flags, !tt.bad)
		}
	}
}

func TestExcluded(t *testing.T) {
	patterns := []string{"docker *", "make:*", "npm test"}
	tests := []struct {
		command     string
		every, some bool // leaves the sandbox under the newer rule, the older one
	}{
		{"docker ps", true, true},
		{"docker", true, true},
		{"dockerd", false, false},
		{"docker ps && make all", true, true},
		{"docker ps && curl x", false, true},
		{"docker ps 2>&1", true, true},
		{"docker ps > out", false, true},
		{"cd x && docker ps", false, true},
		{"docker run $(x)", false, true},
		{"DEBUG=1 docker ps", true, true},
		{"timeout -k 1 5s nice -n 5 docker ps", true, true},
		{"time -p make", true, true},
		{"stdbuf -oL docker ps", true, true},
		{"command -v docker", false, false},
		{"sudo docker ps", false, false},
		{"echo 'docker ps'", false, false},
		{"npm test -- x", false, false},
		{"", false, false},
	}
	for _, tt := range tests {
		if _, got := Excluded(patterns, tt.command, true); got != tt.every {
			t.Errorf("every part: Excluded(%q) = %v, want %v", tt.command, got, tt.every)
		}
		if _, got := Excluded(patterns, tt.command, false); got != tt.some {
			t.Errorf("one part: Excluded(%q) = %v, want %v", tt.command, got, tt.some)
		}
	}
	if i, _ := Excluded(patterns, "make x", true); i != 1 {
		t.Errorf("index %d, want 1", i)
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"a && b", `echo "$(x)"`, "a <<< b; c", "x >&2 &", "timeout 5 a", "a\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line, ok := Split(s)
		if !ok && len(line.Parts) > 0 {
			t.Fatalf("Split(%q) gave parts and no answer", s)
		}
		for _, part := range line.Parts {
			if !strings.Contains(s, part) || strings.TrimSpace(part) == "" {
				t.Fatalf("Split(%q) has the part %q", s, part)
			}
		}
		Excluded([]string{"a *", "*b*"}, s, true)
		Excluded([]string{"a *", "*b*"}, s, false)
	})
}
