package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sallyport/hookio"
	"sallyport/internal/cli"
	"sallyport/internal/testenv"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){name: main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			if err := os.MkdirAll(home, 0o700); err != nil {
				return err
			}
			env.Setenv("HOME", home)
			env.Setenv("USERPROFILE", home)
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			env.Setenv("SALLYPORT_DEBUG", "")
			return nil
		},
	})
}

// A result is what one run left.
type result struct {
	code           int
	stdout, stderr string
}

// hookIn runs the hook for an operating system in a home and directory.
func hookIn(goos, home, dir string, stdin io.Reader, environ ...string) result {
	var stdout, stderr bytes.Buffer
	p := &cli.Process{
		Name: name, WorkDir: dir, Stdin: stdin, Stdout: &stdout, Stderr: &stderr,
		Environ: append([]string{"HOME=" + home, "USERPROFILE=" + home, "NO_COLOR=1", "CLAUDE_PROJECT_DIR=" + dir}, environ...),
	}
	w := newWorld(p, goos)
	code := p.Guarded(func() int { return w.hook("always") })
	return result{code, stdout.String(), stderr.String()}
}

func (r result) silent() bool { return r == result{} }

// failure is the event of a failed call.
func failure(command, output string) map[string]any {
	return map[string]any{
		"hook_event_name": "PostToolUseFailure",
		"tool_name":       "Bash",
		"tool_input":      map[string]any{"command": command},
		"error":           "Exit code 1\n" + output,
	}
}

// success is the event of a call that exited 0.
func success(command, stdout, stderr string) map[string]any {
	return map[string]any{
		"hook_event_name": "PostToolUse",
		"tool_name":       "Bash",
		"tool_input":      map[string]any{"command": command},
		"tool_response":   map[string]any{"stdout": stdout, "stderr": stderr, "interrupted": false, "isImage": false},
	}
}

func encode(t testing.TB, event any) *bytes.Reader {
	t.Helper()
	raw, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(raw)
}

const (
	dockerText = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
	agentText  = "Could not open a connection to your authentication agent."
)

func TestHookSearchesTheRightText(t *testing.T) {
	with := func(event map[string]any, key string, value any) map[string]any {
		event[key] = value
		return event
	}
	input := func(event map[string]any, key string, value any) map[string]any {
		event["tool_input"].(map[string]any)[key] = value
		return event
	}
	tests := []struct {
		name  string
		event any
		want  string // id, or empty for silence
	}{
		{"failed call", failure("docker ps", dockerText), "container-socket-denied"},
		{"failed call of a command that shows text", failure("cat /var/run/docker.sock", dockerText), "container-socket-denied"},
		{"stderr of a success", success("make", "", dockerText), "container-socket-denied"},
		{"stdout of a success", success("make", dockerText, ""), "container-socket-denied"},
		{"a document that was shown", success("cat notes.md", dockerText, ""), ""},
		{"through a pipe", success("cat notes.md | head -5", dockerText, ""), ""},
		{"behind a cd", success("cd docs && LANG=C sudo grep -n docker x.md", dockerText, ""), ""},
		{"shown by git", success("git -C /srv log -p", dockerText, ""), ""},
		{"stderr while a document is shown", success("cat notes.md", "", dockerText), "container-socket-denied"},
		{"a pipe into head is no document", success("docker ps 2>&1 | head", dockerText, ""), "container-socket-denied"},
		{"a commit repeats its message", success(`git commit -m "Explain: agent refused operation"`, "[main 1f0c2aa] Explain: agent refused operation\n 1 file changed", ""), ""},
		{"a commit repeats its message and something else happens", success(`git commit -m "Explain: agent refused operation"`, "Explain: agent refused operation\n"+dockerText, ""), "container-socket-denied"},
		{"an echo", success("echo '"+dockerText+"'", dockerText, ""), ""},
		{"an echo to stderr", success("echo '"+dockerText+"' >&2", "", dockerText), "container-socket-denied"},
		{"an echo that fails", failure("echo '"+dockerText+"'; exit 1", dockerText), "container-socket-denied"},
		{"response is a text", with(success("make", "", ""), "tool_response", dockerText), "container-socket-denied"},
		{"response is the text of a document", with(success("cat x", "", ""), "tool_response", dockerText), ""},
		{"response is a list of blocks", with(success("make", "", ""), "tool_response", map[string]any{"content": []any{map[string]any{"type": "text", "text": dockerText}}}), "container-socket-denied"},
		{"no event name", with(success("make", dockerText, ""), "hook_event_name", nil), "container-socket-denied"},
		{"before the call", with(failure("docker ps", dockerText), "hook_event_name", "PreToolUse"), ""},
		{"another tool", with(failure("docker ps", dockerText), "tool_name", "Read"), ""},
		{"PowerShell", with(failure("docker ps", dockerText), "tool_name", "PowerShell"), "container-socket-denied"},
		{"PowerShell shows a document", with(success("Get-Content x.md", dockerText, ""), "tool_name", "PowerShell"), ""},
		{"outside the sandbox", input(failure("docker ps", dockerText), "dangerouslyDisableSandbox", true), ""},
		{"not outside the sandbox", input(failure("docker ps", dockerText), "dangerouslyDisableSandbox", false), "container-socket-denied"},
		{"outside the sandbox, whatever the gate", input(failure("x", "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"), "dangerouslyDisableSandbox", true), ""},
		{"coloured", failure("docker ps", "\x1b[31mCannot connect to the \x1b[1mDocker\x1b[0m daemon at unix:///x\x1b[0m\r\n"), "container-socket-denied"},
		{"nothing of the kind", failure("make", "main.c:5: error: expected ';'"), ""},
		{"no output", success("true", "", ""), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := testenv.Dir(t)
			r := hookIn("linux", dir, dir, encode(t, tt.event))
			if tt.want == "" {
				if !r.silent() {
					t.Errorf("%v: %+v, want silence", tt.event, r)
				}
				return
			}
			if r.code != hookio.ExitShow || !strings.HasPrefix(r.stderr, "[sandbox-hint] ") || !strings.Contains(r.stderr, "#"+tt.want+"\n") {
				t.Errorf("%v: %+v, want the hint %s and exit 1", tt.event, r, tt.want)
			}
		})
	}
}

func TestHookAnswers(t *testing.T) {
	for _, event := range []map[string]any{failure("docker ps", dockerText), success("make", dockerText, "")} {
		dir := testenv.Dir(t)
		r := hookIn("linux", dir, dir, encode(t, event))
		var out struct {
			SystemMessage      string
			HookSpecificOutput struct{ HookEventName, AdditionalContext string }
		}
		d := json.NewDecoder(strings.NewReader(r.stdout))
		d.DisallowUnknownFields()
		if err := d.Decode(&out); err != nil {
			t.Fatalf("stdout %q: %v", r.stdout, err)
		}
		if out.SystemMessage+"\n" != r.stderr {
			t.Errorf("systemMessage %q, want what stderr says: %q", out.SystemMessage, r.stderr)
		}
		specific := out.HookSpecificOutput
		if specific.HookEventName != event["hook_event_name"] {
			t.Errorf("hookEventName %q, want %q", specific.HookEventName, event["hook_event_name"])
		}
		if !strings.HasPrefix(specific.AdditionalContext, out.SystemMessage) || !strings.Contains(specific.AdditionalContext, "Never suggest: ") || strings.Contains(out.SystemMessage, "Never suggest") {
			t.Errorf("the model is told %q, want the person's text and the never-list", specific.AdditionalContext)
		}
	}
}

func TestHookKnowsTheSandbox(t *testing.T) {
	const dns = "curl: (6) Could not resolve host: example.com"
	tests := []struct {
		name, settings, text string
		environ              []string
		want                 string
		off                  bool
	}{
		{"on", `{"sandbox":{"enabled":true,"failIfUnavailable":true}}`, dns, nil, "dns-in-sandbox", false},
		{"off", `{"sandbox":{"enabled":false}}`, dns, nil, "", false},
		{"unknown", `{}`, dns, nil, "", false},
		{"on, open gate", `{"sandbox":{"enabled":true,"failIfUnavailable":true}}`, agentText, nil, "ssh-agent-unreachable", false},
		{"off, said so", `{"sandbox":{"enabled":false}}`, agentText, nil, "ssh-agent-unreachable", true},
		{"unset in a session is off", `{}`, agentText, []string{"CLAUDE_PID=1"}, "ssh-agent-unreachable", true},
		{"unset and no session is unknown", `{}`, agentText, nil, "ssh-agent-unreachable", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home, project := testenv.Dir(t), testenv.Dir(t)
			testenv.Write(t, filepath.Join(project, ".claude", "settings.json"), tt.settings)
			event := failure("x", tt.text)
			event["cwd"] = project
			r := hookIn("linux", home, project, encode(t, event), tt.environ...)
			if tt.want == "" {
				if !r.silent() {
					t.Errorf("settings %s: %+v, want silence", tt.settings, r)
				}
				return
			}
			if off := strings.Contains(r.stderr, "The sandbox is off in this session, so it is not the cause."); !strings.Contains(r.stderr, "#"+tt.want+"\n") || off != tt.off {
				t.Errorf("settings %s: %+v, want %s, off %v", tt.settings, r, tt.want, tt.off)
			}
			if tt.off && strings.Contains(r.stdout, "allowUnixSockets") {
				t.Errorf("settings %s: the model is offered a setting: %s", tt.settings, r.stdout)
			}
		})
	}
}

func TestHookRepeatsNothing(t *testing.T) {
	home := testenv.Dir(t)
	run := func(session, text string) result {
		event := failure("x", text)
		if session != "" {
			event["session_id"] = session
		}
		return hookIn("linux", home, home, encode(t, event))
	}
	for i, step := range []struct {
		session, text string
		want          bool
	}{
		{"a", dockerText, true}, {"a", dockerText, false}, {"a", agentText, true}, {"a", agentText, false},
		{"b", dockerText, true}, {"", dockerText, true}, {"", dockerText, true}, {"../../../etc/x", dockerText, true},
	} {
		if got := run(step.session, step.text); got.silent() == step.want {
			t.Errorf("step %d, session %q: %+v, want a hint %v", i, step.session, got, step.want)
		}
	}
	files, _ := filepath.Glob(filepath.Join(home, ".cache", "sallyport", "hints", "*.seen"))
	if len(files) != 3 {
		t.Errorf("state files %q, want one for each of three sessions", files)
	}
}

// Whatever stands on stdin, a hook with nothing to say says nothing.
func TestHookIsSilentOnBadInput(t *testing.T) {
	big := strings.Repeat(dockerText+"\n", 10<<20/len(dockerText))
	whole, err := io.ReadAll(encode(t, failure("docker ps", dockerText)))
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]string{
		"empty":              "",
		"blank":              " \n",
		"not JSON":           dockerText,
		"big and not JSON":   big,
		"array":              `["` + dockerText + `"]`,
		"string":             `"` + dockerText + `"`,
		"number":             "5",
		"null":               "null",
		"binary":             "\x00\x01\xff\xfe{",
		"deep":               `{"a":` + strings.Repeat(`[`, 1<<20),
		"deep and closed":    `{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":` + strings.Repeat(`[`, 1<<20) + strings.Repeat(`]`, 1<<20) + `}`,
		"deep objects":       `{"tool_name":"Bash","tool_response":` + strings.Repeat(`{"content":`, 1<<19) + `1` + strings.Repeat(`}`, 1<<19) + `}`,
		"response a number":  `{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":5}`,
		"response null":      `{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":null}`,
		"stdout a number":    `{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":{"stdout":5,"stderr":[]}}`,
		"error an object":    `{"hook_event_name":"PostToolUseFailure","tool_name":"Bash","error":{"a":"` + dockerText + `"}}`,
		"names of no string": `{"hook_event_name":5,"tool_name":[],"error":"` + dockerText + `"}`,
		"input a string":     `{"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":"x","error":7}`,
		"too large":          string(whole[:len(whole)-1]) + strings.Repeat(" ", hookio.MaxInput) + "}",
	}
	for i := range whole {
		inputs[fmt.Sprintf("cut at %d", i)] = string(whole[:i])
	}
	home := testenv.Dir(t)
	for what, input := range inputs {
		if r := hookIn("linux", home, home, strings.NewReader(input)); !r.silent() {
			t.Errorf("%s: %.200v, want silence and exit 0", what, r)
		}
	}
	if r := hookIn("linux", home, home, io.MultiReader(strings.NewReader("{"), brokenReader{})); !r.silent() {
		t.Errorf("a read error: %+v, want silence and exit 0", r)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestHookFindsTheEndOfALargeEvent(t *testing.T) {
	home := testenv.Dir(t)
	filler := strings.Repeat(strings.Repeat("x", 99)+"\n", 300_000)
	r := hookIn("linux", home, home, encode(t, failure("make", filler+"curl: (56) CONNECT tunnel failed, response 403")))
	if !strings.Contains(r.stderr, "#proxy-host-blocked\n") {
		t.Errorf("a signature in the last line of 30 MiB: %+v, want proxy-host-blocked", r)
	}
}

// What the hook prints never holds what the agent or a file wrote raw.
func TestOwnEntriesCannotPrintControls(t *testing.T) {
	home := testenv.Dir(t)
	testenv.Write(t, filepath.Join(home, ".config", "sallyport", "hints.d", "a.toml"), `[[hint]]
id = "own"
order = 1
title = "evil \u001b[2J\u202e title"
platform = ["linux"]
confidence = "low"
gate = "none"
signatures = ["own trouble"]
lookalikes = "a\nb\u0007"
fix = {scope = "host", line = "do \u009b31m this"}
`)
	r := hookIn("linux", home, home, encode(t, failure("x", "own trouble")))
	if r.code != 1 || strings.ContainsAny(r.stderr+r.stdout, "\x1b\x07\u202e\u009b") || !strings.Contains(r.stderr, "evil  title. On this machine: do  this. See error-hint --show own\n") {
		t.Errorf("%+v, want a clean hint of the own entry", r)
	}
}

// TestCases runs the field's cases: real failures, and texts that only look
// like them. topics says which entries answer a topic.
func TestCases(t *testing.T) {
	topics := map[string][]string{
		"ssh-agent":     {"ssh-agent-unreachable", "ssh-signing-key-unreadable", "gpg-agent-unreachable"},
		"dns":           {"dns-in-sandbox", "ssh-transport-blocked"},
		"docker-socket": {"container-socket-denied", "container-gateway-down", "container-gateway-socket-not-allowed"},
		"tls-trustd":    {"gh-in-sandbox", "tls-osstatus", "tls-intercepted"},
		"proxy-blocked": {"proxy-host-blocked", "proxy-unstable"},
		"heredoc-tmp":   {"zsh-heredoc-tmpprefix", "tmp-readonly"},
		"unix-socket":   {"unix-listen-denied"},
		"loopback-bind": {"loopback-bind-denied"},
		"bwrap-setup":   {"bwrap-mountpoint", "bwrap-loopback-denied", "bwrap-proc-mount", "userns-disabled", "apply-seccomp-setgroups"},
		"read-only-fs":  {"readonly-generic", "pkg-cache-denied", "tmp-readonly"},
		"ssh-network":   {"ssh-transport-blocked", "dns-in-sandbox"},
	}
	f, err := os.Open(filepath.Join("testdata", "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	anchor := regexp.MustCompile(`troubleshooting\.md#([a-z-]+)`)
	lines := bufio.NewScanner(f)
	n := 0
	for lines.Scan() {
		var c struct {
			ID, Settings, Expect, Why string
			Input                     json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		n++
		t.Run(c.ID, func(t *testing.T) {
			home, project := testenv.Dir(t), testenv.Dir(t)
			if c.Settings != "" {
				testenv.Write(t, filepath.Join(project, ".claude", "settings.json"), c.Settings)
			}
			r := hookIn("linux", home, project, bytes.NewReader(c.Input))
			topic, hinted := strings.CutPrefix(c.Expect, "hint:")
			if !hinted {
				if !r.silent() {
					t.Errorf("%s\n%+v, want silence: %s", c.Input, r, c.Why)
				}
				return
			}
			m := anchor.FindStringSubmatch(r.stderr)
			if m == nil || !slices.Contains(topics[topic], m[1]) {
				t.Errorf("%s\n%+v, want one of %v: %s", c.Input, r, topics[topic], c.Why)
			}
		})
	}
	if n == 0 {
		t.Error("no cases")
	}
}

func FuzzHook(f *testing.F) {
	for _, event := range []any{failure("docker ps", dockerText), success("cat x", agentText, dockerText)} {
		raw, err := json.Marshal(event)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	home := testenv.Dir(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := hookIn("linux", home, home, bytes.NewReader(raw))
		switch {
		case r.silent():
		case r.code == 1 && json.Valid([]byte(r.stdout)) && strings.HasPrefix(r.stderr, "[sandbox-hint] "):
		default:
			t.Errorf("%q: %+v, want silence or one hint", raw, r)
		}
	})
}
