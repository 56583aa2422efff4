package agentguard

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"sallyport/hookio"
	"sallyport/internal/cli"
)

func BenchmarkHook(b *testing.B) {
	dir, _ := os.Getwd()
	for name, command := range map[string]string{
		"pipe":    `cat x | grep y > z`,
		"git":     "git status --short",
		"100 KiB": strings.Repeat("true; ", 17_000),
		"1 MiB":   strings.Repeat("echo abc; ", 100_000),
	} {
		event := []byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"` + dir + `","tool_input":{"command":"` + command + `"}}`)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p := &cli.Process{Name: "agent-guard", Environ: os.Environ(), WorkDir: dir, Stdin: bytes.NewReader(event), Stdout: io.Discard, Stderr: io.Discard}
				if code := Hook(p, &Options{Harness: hookio.Claude}); code != 0 {
					b.Fatal(code)
				}
			}
		})
	}
}
