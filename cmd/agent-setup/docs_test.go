package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"sallyport/internal/doctor"
)

var update = flag.Bool("update", false, "rewrite the generated pages in docs")

// TestDocs keeps the pages in step with the values they are made from.
func TestDocs(t *testing.T) {
	for file, want := range map[string]string{
		"doctor.md":  doctor.Markdown(doctorUsage),
		"updates.md": updatesPage(),
	} {
		path := filepath.Join("../../docs", file)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || strings.ReplaceAll(string(got), "\r\n", "\n") != want {
			t.Errorf("docs/%s is not what the program says (error %v): go test ./cmd/agent-setup -run TestDocs -update", file, err)
		}
	}
}

func updatesPage() string {
	var b strings.Builder
	b.WriteString("<!-- Made from the manuals by a test of cmd/agent-setup; do not edit. -->\n\n# Updates, tools and reminders\n\n" +
		"A recorded session of these commands stands in [transcripts/updates.txt](transcripts/updates.txt).\n")
	for _, page := range []struct{ title, text string }{{"agent-setup update", updateUsage}, {"agent-setup tools", toolsUsage}, {"agent-setup remind", remindUsage}} {
		b.WriteString("\n## " + page.title + "\n\n```text\n" + page.text + "```\n")
	}
	return b.String()
}

// The reminder is a hook of every session: linking all of agent-setup must not
// make it slow. Both programs run on this machine, in this run.
func TestReminderStartsFast(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("builds two programs")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
	dir := t.TempDir()
	build := func(name, pkg string) string {
		out := filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return out
	}
	fastest := func(program string, args ...string) time.Duration {
		best := time.Hour
		for range 30 {
			cmd := exec.Command(program, args...)
			cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "CLAUDE_PROJECT_DIR=" + dir}
			start := time.Now()
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	floor := fastest(build("stub", "./testdata/stub"), "--version")
	hook := fastest(build("agent-setup", "."), "remind", "--hook")
	const ratio = 5 // measured: 2.0
	if hook > ratio*floor {
		t.Errorf("the reminder takes %v, a program that does nothing %v", hook, floor)
	}
	t.Logf("reminder %v, floor %v", hook, floor)
}
