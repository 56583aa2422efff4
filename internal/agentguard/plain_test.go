package agentguard

import (
	"os"
	"strings"
	"testing"

	"sallyport/guards"
	"sallyport/internal/repostate"
)

// strict are the product's guards, each switched on.
func strict() []*guards.Guard {
	var all []*guards.Guard
	for _, g := range guards.Bundled() {
		on := *g
		on.Off = false
		all = append(all, &on)
	}
	return all
}

// holds fails when a line is plain although the guards object to it, or did not
// see all of it.
func holds(t *testing.T, line string) bool {
	t.Helper()
	if !plain(line) {
		return false
	}
	in := &guards.Input{Command: line, Dir: os.TempDir(), Getenv: func(string) (string, bool) { return "", false }}
	if rep := guards.Run(in, strict(), repostate.New(nil, nil)); rep.Verdict != guards.Pass || rep.Line.Limited || !rep.Line.Exact {
		t.Errorf("%q is plain, but the guards say %v: %s", line, rep.Verdict, rep.Reason(rep.Verdict))
	}
	return true
}

func TestPlain(t *testing.T) {
	for _, line := range []string{
		"ls", "ls -la /tmp", " pwd ", "cd src && go test ./... 2>&1 | tail -20", "ls; pwd", "ls || true", "ls >/dev/null",
		"ls nowhere 2> /dev/null && echo there", "git status -sb", "git diff --stat HEAD", "git log --oneline -5", "git log -n 5 | head -3",
		"go vet ./internal/... && go version", "du -s a | sort -rn | head", "seq 3 | wc -l", "echo done",
	} {
		if !holds(t, line) {
			t.Errorf("%q is not plain", line)
		}
	}
	for _, line := range []string{
		"", " ", ";", "ls;", "ls &&", "ls && ", "ls |", "| ls", "ls &", "ls & pwd", "ls && && pwd", "ls | | wc", "ls |& wc",
		"ls > x", "ls >x", "ls >/dev/sda", "ls >/dev/nullx", "ls >/dev/null x", "ls >>/dev/null", "ls 3>&1", "ls >&1x", "ls </etc/passwd", "ls>/dev/null",
		"ls $(id)", "ls `id`", "ls 'a'", "ls a\nrm b", "ls a#b", "ls ~", "ls *", "A=b ls", "ls\tx", "ls a=b",
		"rm a", "cat a", "head a", "head -n5x a", "tail .env", "sort -o a", "uniq - a", "type a", "sh a", "xargs ls", "/bin/ls", "ls2",
		"go build", "go run .", "go test -exec rm ./...", "go test -c -o x", "go test ../x", "go vet -vettool x", "go", "go env",
		"git", "git push", "git -C x status", "git log -p", "git diff a", "git diff --output x", "git status --help",
		strings.Repeat("ls ", 100),
	} {
		if plain(line) {
			t.Errorf("%q is plain", line)
		}
	}
	// Every pair of what the table knows.
	commands := []string{
		"ls -R /", "cd /etc", "cd .git", "echo rm -rf /", "date -s x", "hostname x", "wc -c .ssh/id_rsa", "which sh", "head -5", "tail -n 5", "sort -u",
		"uniq -c", "go test -race ./a", "git status", "git diff --cached", "git log --all", "sleep 5", "true 2>&1", "tree -a >/dev/null",
	}
	for _, a := range commands {
		for _, b := range commands {
			for _, by := range []string{" && ", " || ", "; ", " | "} {
				if line := a + by + b; !holds(t, line) {
					t.Errorf("%q is not plain", line)
				}
			}
		}
	}
	for _, g := range guards.Bundled() {
		for _, e := range g.Examples {
			holds(t, e.Command)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, s := range []string{"ls -la", "cd a && go test ./... 2>&1 | tail -20", "git log --oneline -5; echo x >/dev/null", "head -5 | sort -rn | uniq -c", "go vet ./x || true"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) { holds(t, line) })
}
