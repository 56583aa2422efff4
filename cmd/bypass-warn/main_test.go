package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sallyport/hookio"
	"sallyport/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bypass-warn": main})
}

// TestScripts runs the program as the client does. Where a session has a
// sandbox, the condition [sandbox] asks whether this system could start one,
// which is what settings looks at.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			// The programs of the sandbox: they are looked for, never run.
			bin := filepath.Join(env.WorkDir, "bin")
			if err := os.MkdirAll(bin, 0o755); err != nil {
				return err
			}
			for _, name := range []string{"bwrap", "socat"} {
				if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
					return err
				}
			}
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("USERPROFILE", filepath.Join(env.WorkDir, "home"))
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			return cond == "sandbox" && canSandbox(), nil
		},
	})
}

func canSandbox() bool {
	switch runtime.GOOS {
	case "darwin":
		return true
	case "linux":
		version, _ := os.ReadFile("/proc/version")
		for _, knob := range []string{"/proc/sys/user/max_user_namespaces", "/proc/sys/kernel/unprivileged_userns_clone"} {
			if value, err := os.ReadFile(knob); err == nil && strings.TrimSpace(string(value)) == "0" {
				return false
			}
		}
		return !bytes.Contains(version, []byte("-Microsoft"))
	}
	return false
}

// TestHostileInput: silence and exit 0 for whatever cannot be a request, and
// the banner for a request that can still be read.
func TestHostileInput(t *testing.T) {
	const request = `"dangerouslyDisableSandbox":true`
	tests := []struct {
		name, in string
		exit     int
	}{
		{"empty", "", 0},
		{"blank", " \n", 0},
		{"truncated", `{"tool_input":{"command":"l`, 0},
		{"binary", "\x00\x01\x02\xff\xfe", 0},
		{"10 MiB of nothing", strings.Repeat("\x00", 10<<20), 0},
		{"10 MiB command", `{"tool_name":"Bash","tool_input":{"command":"` + strings.Repeat("true; ", 10<<20/6) + `"}}`, 0},
		{"32 MiB of brackets", strings.Repeat("[", hookio.MaxInput), 0},
		{"32 MiB of objects", `{"a":` + strings.Repeat(`{"a":`, hookio.MaxInput/5-1), 0},
		{"more than is read", "{" + strings.Repeat(" ", hookio.MaxInput) + request + "}", 0},
		{"wrong types", `{"hook_event_name":1,"tool_name":[],"tool_input":"x","cwd":{}}`, 0},
		{"input is a list", `{"tool_input":[1]}`, 0},
		{"request in a broken event", `{"tool_input":{` + request, 1},
		{"request among wrong types", `{"hook_event_name":1,"tool_name":[],"tool_input":{"command":5,"description":{},` + request + `},"cwd":7}`, 1},
		{"request behind deep nesting", `{"a":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `,"tool_input":{` + request + `}}`, 1},
		{"request in 10 MiB", `{"tool_name":"Bash","tool_input":{"command":"` + strings.Repeat("true; ", 10<<20/6) + `",` + request + `}}`, 1},
	}
	for _, tt := range tests {
		var stdout, stderr bytes.Buffer
		p := &cli.Process{
			Name: "bypass-warn", WorkDir: t.TempDir(), Stdin: strings.NewReader(tt.in), Stdout: &stdout, Stderr: &stderr,
			Environ: []string{"HOME=" + t.TempDir()}, Args: []string{"--excluded"},
		}
		code := run(p)
		shown := strings.Contains(stderr.String(), "SANDBOX BYPASS REQUESTED") && strings.Contains(stdout.String(), "systemMessage")
		if code != tt.exit || shown != (tt.exit == 1) || tt.exit == 0 && stdout.Len()+stderr.Len() > 0 || stdout.Len()+stderr.Len() > 20_000 {
			t.Errorf("%s: exit %d, want %d; stdout %.200q stderr %.200q", tt.name, code, tt.exit, &stdout, &stderr)
		}
	}
}
