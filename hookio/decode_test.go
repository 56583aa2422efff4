package hookio

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

type payload struct {
	name    string // below testdata/payloads
	harness *Harness
	raw     []byte
}

func payloads(t testing.TB) []payload {
	t.Helper()
	root := filepath.Join("testdata", "payloads")
	var list []payload
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		h := Claude
		if dir, _, ok := strings.Cut(rel, "/"); ok {
			if h, ok = Lookup(dir); !ok {
				return fmt.Errorf("%s: no such harness", rel)
			}
		}
		raw, err := os.ReadFile(path)
		list = append(list, payload{rel, h, raw})
		return err
	})
	if err != nil || len(list) < 100 {
		t.Fatalf("%d payloads: %v", len(list), err)
	}
	return list
}

// TestPayloads decodes every captured payload and compares all fields with
// testdata/decoded.golden.
func TestPayloads(t *testing.T) {
	var got strings.Builder
	for _, p := range payloads(t) {
		ev, err := p.harness.Decode(p.raw)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		if ev.Harness != p.harness.Name || !bytes.Equal(ev.Raw, p.raw) {
			t.Errorf("%s: harness %q, raw kept: %v", p.name, ev.Harness, bytes.Equal(ev.Raw, p.raw))
		}
		fmt.Fprintf(&got, "%s\n", p.name)
		field := func(name string, value any) {
			if s := fmt.Sprintf("%#v", value); s != `""` && s != "false" && s != "0" && s != "[]string(nil)" {
				fmt.Fprintf(&got, "\t%s %s\n", name, s)
			}
		}
		field("name", string(ev.Name))
		field("raw", ev.RawName)
		field("tool", ev.Tool)
		field("shell", int(ev.Shell))
		field("command", ev.Command)
		field("description", ev.Description)
		field("file", ev.FilePath)
		field("files", ev.Files)
		field("background", ev.Background)
		field("bypass", ev.DisableSandbox)
		field("dir", filepath.ToSlash(ev.Dir))
		field("session", ev.SessionID)
		field("call", ev.ToolUseID)
		field("mode", ev.PermissionMode)
		field("agent", ev.AgentID)
		field("transcript", ev.TranscriptPath)
		field("stdout", ev.Output.Stdout)
		field("stderr", ev.Output.Stderr)
		field("text", ev.Output.Text)
		field("error", ev.Output.Error)
		if ev.Output.HasExitCode {
			fmt.Fprintf(&got, "\texit %d\n", ev.Output.ExitCode)
		}
		field("interrupted", ev.Output.Interrupted)
	}
	golden(t, "decoded.golden", got.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(string(raw), "\r\n", "\n")
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s line %d:\n got %s\nwant %s", path, i+1, g[i], w[i])
		}
	}
	t.Fatalf("%s: got %d lines, want %d", path, len(g), len(w))
}

// TestShellPayloads pins what a guard depends on, apart from the golden file.
func TestShellPayloads(t *testing.T) {
	tests := []struct {
		file    string
		name    EventName
		command string
		dir     string
		exit    int // -1: not known
	}{
		{"PreToolUse-bash.json", PreToolUse, "echo out; echo err >&2", "/home/dev/project", -1},
		{"PreToolUse-bash-after-cd.json", PreToolUse, "pwd", "/home/dev/project/sub", -1},
		{"PostToolUseFailure-bash.json", PostToolUseFailure, "echo out; echo err >&2; exit 3", "/home/dev/project", 3},
		{"PermissionRequest-bash-bypass.json", PermissionRequest, "echo hi", "/home/dev/project", -1},
		{"codex/PreToolUse-bash-workdir.json", PreToolUse, "pwd", "/home/dev/project/sub", -1},
		{"codex/PermissionRequest-bash.json", PermissionRequest, "touch $HOME/x", "/home/dev/project", -1},
		{"codex/PostToolUse-bash-exit3.json", PostToolUse, "echo partial; exit 3", "/home/dev/project", -1},
		{"gemini/BeforeTool-shell-dir_path.json", PreToolUse, "pwd", "/home/dev/project/sub", -1},
		{"gemini/AfterTool-shell-exit3.json", PostToolUse, "echo partial; exit 3", "/home/dev/project", 3},
		{"qwen/PostToolUse-run_shell_command.json", PostToolUse, "echo hi > ran.txt; echo out", "/home/dev/project", 0},
		{"copilot/preToolUse-bash.json", PreToolUse, "echo hi > ran.txt; echo out", "/home/dev/project", -1},
		{"copilot/claude-PreToolUse-bash.json", PreToolUse, "echo hi > ran.txt; echo out", "/home/dev/project", -1},
		{"copilot/postToolUse-bash-exit1.json", PostToolUse, "false", "/home/dev/project", 1},
		{"copilot/claude-PostToolUse-bash-exit1.json", PostToolUse, "false", "/home/dev/project", 1},
		{"copilot/permissionRequest-bash.json", PermissionRequest, "echo hi > ran.txt; echo out", "/home/dev/project", -1},
		{"opencode/before-bash.json", PreToolUse, "echo hi > ran.txt; echo out", "/home/dev/project/sub", -1},
		{"opencode/after-bash-exit1.json", PostToolUse, "false", "", 1},
	}
	for _, tt := range tests {
		h := Claude
		if dir, _, ok := strings.Cut(tt.file, "/"); ok {
			h, _ = Lookup(dir)
		}
		raw, err := os.ReadFile(filepath.Join("testdata", "payloads", filepath.FromSlash(tt.file)))
		if err != nil {
			t.Fatal(err)
		}
		ev, err := h.Decode(raw)
		exit := -1
		if ev.Output.HasExitCode {
			exit = ev.Output.ExitCode
		}
		if err != nil || ev.Name != tt.name || ev.Shell != Posix || ev.Command != tt.command || filepath.ToSlash(ev.Dir) != tt.dir || exit != tt.exit {
			t.Errorf("%s: %s %q in %q, shell %d, exit %d (%v); want %s %q in %q, exit %d", tt.file, ev.Name, ev.Command, ev.Dir, ev.Shell, exit, err, tt.name, tt.command, tt.dir, tt.exit)
		}
	}
}

func TestDecodeShapes(t *testing.T) {
	type want struct {
		name    EventName
		shell   ShellKind
		command string
		bypass  bool
		file    string
		out     Output
	}
	tests := []struct {
		why, harness, in string
		want             want
	}{
		{"no names at all", "claude", `{"tool_input":{"command":"ls"}}`, want{name: PreToolUse, shell: Posix, command: "ls"}},
		{"a result makes it PostToolUse", "claude", `{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":"out"}`,
			want{name: PostToolUse, shell: Posix, command: "ls", out: Output{Text: "out"}}},
		{"an error makes it PostToolUseFailure", "claude", `{"tool_name":"Bash","tool_input":{"command":"ls"},"error":"Exit code 2\nno"}`,
			want{name: PostToolUseFailure, shell: Posix, command: "ls", out: Output{Error: "no", ExitCode: 2, HasExitCode: true}}},
		{"an error that is no string does not", "claude", `{"tool_name":"Bash","tool_input":{"command":"ls"},"error":5}`,
			want{name: PreToolUse, shell: Posix, command: "ls"}},
		{"an error without an exit code", "claude", `{"error":"bash: cannot start"}`,
			want{name: PostToolUseFailure, out: Output{Error: "bash: cannot start"}}},
		{"only the first line is the exit code", "claude", `{"error":"out\nExit code 3"}`,
			want{name: PostToolUseFailure, out: Output{Error: "out\nExit code 3"}}},
		{"wrong types are missing", "claude", `{"hook_event_name":1,"tool_name":"Bash","tool_input":{"command":["ls"],"dangerouslyDisableSandbox":"true"},"cwd":{}}`,
			want{name: PreToolUse, shell: Posix}},
		{"input that is no object", "claude", `{"tool_name":"Bash","tool_input":"ls"}`, want{name: PreToolUse, shell: Posix}},
		{"input null", "claude", `{"tool_name":"Bash","tool_input":null}`, want{name: PreToolUse, shell: Posix}},
		{"another tool's command is no shell text", "claude", `{"tool_name":"Read","tool_input":{"command":"ls","file_path":"x"}}`, want{name: PreToolUse}},
		{"PowerShell", "claude", `{"tool_name":"PowerShell","tool_input":{"command":"ls"}}`, want{name: PreToolUse, shell: PowerShell, command: "ls"}},
		{"Monitor", "claude", `{"tool_name":"Monitor","tool_input":{"command":"ls"}}`, want{name: PreToolUse, shell: Posix, command: "ls"}},
		{"tool names are case-sensitive", "claude", `{"tool_name":"bash","tool_input":{"command":"ls"}}`, want{name: PreToolUse}},
		{"a skill's line", "claude", `{"hook_event_name":"PreSkillShellCommand","tool_name":"Bash","tool_input":{"command":"ls"},"command_name":"x"}`,
			want{name: PreSkillShellCommand, shell: Posix, command: "ls"}},
		{"notebook", "claude", `{"tool_name":"NotebookEdit","tool_input":{"notebook_path":"/n.ipynb"}}`, want{name: PreToolUse, file: "/n.ipynb"}},
		{"byte order mark", "claude", "\xef\xbb\xbf \r\n" + `{"tool_input":{"command":"ls"}}`, want{name: PreToolUse, shell: Posix, command: "ls"}},
		{"not UTF-8", "claude", "{\"tool_input\":{\"command\":\"caf\xe9\"}}", want{name: PreToolUse, shell: Posix, command: "caf\xe9"}},
		{"raw line break in a string", "claude", "{\"tool_input\":{\"command\":\"a\nb\"}}", want{name: PreToolUse, shell: Posix, command: "a\nb"}},
		{"escaped names", "claude", `{"tool_inp\u0075t":{"comman\u0064":"ls","dangerouslyDisable\u0053andbox":true}}`,
			want{name: PreToolUse, shell: Posix, command: "ls", bypass: true}},
		{"duplicate command: the last one runs, all are seen", "claude", `{"tool_input":{"command":"rm -rf /","command":"ls"}}`,
			want{name: PreToolUse, shell: Posix, command: "ls\nrm -rf /"}},
		{"duplicate command of a wrong type hides nothing", "claude", `{"tool_input":{"command":"rm -rf /","command":1}}`,
			want{name: PreToolUse, shell: Posix, command: "rm -rf /"}},
		{"duplicate flag", "claude", `{"tool_input":{"command":"ls","dangerouslyDisableSandbox":true,"dangerouslyDisableSandbox":false}}`,
			want{name: PreToolUse, shell: Posix, command: "ls", bypass: true}},
		{"duplicate input", "claude", `{"tool_input":{"command":"rm x","dangerouslyDisableSandbox":true},"tool_input":{"command":"ls"}}`,
			want{name: PreToolUse, shell: Posix, command: "ls\nrm x", bypass: true}},
		{"content blocks", "claude", `{"tool_response":[{"type":"text","text":"a"},{"type":"image","data":"x"},{"type":"text","text":"b"}]}`,
			want{name: PostToolUse, out: Output{Text: "a\nb"}}},
		{"content blocks inside an object", "claude", `{"tool_response":{"content":[{"type":"text","text":"a"}],"isError":false}}`,
			want{name: PostToolUse, out: Output{Text: "a"}}},
		{"streams and exit code", "claude", `{"tool_response":{"stdout":"o","stderr":"e","exit_code":4,"interrupted":true}}`,
			want{name: PostToolUse, out: Output{Stdout: "o", Stderr: "e", ExitCode: 4, HasExitCode: true, Interrupted: true}}},
		{"a response of null", "claude", `{"tool_response":null}`, want{name: PostToolUse}},
		{"deep nesting", "claude", `{"x":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `,"tool_response":` + strings.Repeat(`[`, 1<<20) + strings.Repeat("]", 1<<20) + `,"tool_input":{"command":"ls"}}`,
			want{name: PostToolUse, shell: Posix, command: "ls"}},

		{"a patch is no shell text", "codex", `{"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a\n*** Move to: .claude/settings.json\n*** End Patch"}}`,
			want{name: PreToolUse, file: "a"}},
		{"Kiro 2 names", "kiro", `{"hook_event_name":"preToolUse","cwd":"/p","tool_name":"execute_bash","tool_input":{"command":"ls"}}`,
			want{name: PreToolUse, shell: Posix, command: "ls"}},
		{"Kiro 3 names", "kiro", `{"hook_event_name":"PreToolUse","tool_name":"shell","tool_input":{"command":"ls"}}`,
			want{name: PreToolUse, shell: Posix, command: "ls"}},
		{"Kiro's write has a command that is none", "kiro", `{"hook_event_name":"preToolUse","tool_name":"fs_write","tool_input":{"command":"create","path":"/p/x"}}`,
			want{name: PreToolUse, file: "/p/x"}},
		{"Kiro's result", "kiro", `{"hook_event_name":"postToolUse","tool_name":"execute_bash","tool_input":{"command":"ls"},"tool_response":{"success":true,"result":[{"exit_status":"1","stdout":"o","stderr":"e"}]}}`,
			want{name: PostToolUse, shell: Posix, command: "ls", out: Output{Stdout: "o", Stderr: "e", ExitCode: 1, HasExitCode: true}}},
		{"Cursor shell event", "cursor", `{"hook_event_name":"beforeShellExecution","conversation_id":"c","command":"ls","cwd":"/p"}`,
			want{name: PreToolUse, shell: Posix, command: "ls"}},
		{"Cursor after the shell", "cursor", `{"hook_event_name":"afterShellExecution","command":"ls","output":"x"}`,
			want{name: PostToolUse, shell: Posix, command: "ls", out: Output{Text: "x"}}},
		{"Cursor tool event", "cursor", `{"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":"ls","working_directory":"/w"}}`,
			want{name: PreToolUse, shell: Posix, command: "ls"}},
		{"Cursor MCP server command is no shell call", "cursor", `{"hook_event_name":"beforeMCPExecution","tool_name":"q","tool_input":"{}","command":"npx server"}`,
			want{name: PreToolUse}},
		{"Gemini", "gemini", `{"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"}}`,
			want{name: PreToolUse, shell: Posix, command: "ls"}},
		{"a forged exit line before the real one", "gemini", `{"hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_response":{"llmContent":"Exit Code: 0\nExit Code: 7\nend"}}`,
			want{name: PostToolUse, shell: Posix, out: Output{Text: "Exit Code: 0\nExit Code: 7\nend", ExitCode: 7, HasExitCode: true}}},
		{"OpenCode contract", "opencode", `{"tool":"bash","args":{"command":"ls"},"directory":"/p","sessionID":"s","callID":"c"}`,
			want{name: PreToolUse, shell: Posix, command: "ls"}},
		{"OpenCode contract after the call", "opencode", `{"tool":"bash","args":{"command":"ls"},"directory":"/p","output":{"output":"x","metadata":{"exit":2}}}`,
			want{name: PostToolUse, shell: Posix, command: "ls", out: Output{Text: "x", ExitCode: 2, HasExitCode: true}}},
		{"OpenCode under Claude's names", "opencode", `{"hook_event_name":"PreToolUse","tool_name":"bash","tool_input":{"command":"ls"},"cwd":"/p"}`,
			want{name: PreToolUse, shell: Posix, command: "ls"}},
	}
	for _, tt := range tests {
		h, ok := Lookup(tt.harness)
		if !ok {
			t.Fatalf("no harness %q", tt.harness)
		}
		ev, err := h.Decode([]byte(tt.in))
		got := want{ev.Name, ev.Shell, ev.Command, ev.DisableSandbox, ev.FilePath, ev.Output}
		if err != nil || got != tt.want {
			t.Errorf("%s: %s of %.200s\n got %+v (%v)\nwant %+v", tt.why, tt.harness, tt.in, got, err, tt.want)
		}
	}
}

func TestDecodeRefusesWhatIsNoObject(t *testing.T) {
	for _, in := range []string{"", " ", "null", "[]", `"x"`, "5", "{not json", `{"tool_input":{"command":"ls"}`, "{}{}", "\x00\x01\x02", strings.Repeat("[", MaxInput), strings.Repeat(`{"a":`, 1<<20)} {
		for _, h := range Harnesses() {
			if ev, err := h.Decode([]byte(in)); !errors.Is(err, ErrNotJSON) || ev.Name != "" || ev.Command != "" {
				t.Errorf("%s: Decode(%.40q) = %+v, %v; want ErrNotJSON", h.Name, in, ev.Name, err)
			}
		}
	}
}

func TestReadInput(t *testing.T) {
	if _, err := ReadInput(bytes.NewReader(make([]byte, MaxInput+1))); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error = %v, want ErrTooLarge", err)
	}
	if raw, err := ReadInput(bytes.NewReader(make([]byte, MaxInput))); err != nil || len(raw) != MaxInput {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, p := range payloads(f) {
		f.Add(p.raw)
	}
	f.Add([]byte(`{"tool_input":{"command":"a","command":"b"},"tool_input":{"command":1}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, h := range Harnesses() {
			ev, err := h.Decode(raw)
			if err != nil && ev.Name != "" {
				t.Fatalf("%s: Decode(%q) failed (%v) with an event %+v", h.Name, raw, err, ev)
			}
			for _, d := range decisions {
				checkReply(t, h, &ev, d, h.Encode(&ev, d))
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	ordinary, err := os.ReadFile(filepath.Join("testdata", "payloads", "PreToolUse-bash.json"))
	if err != nil {
		b.Fatal(err)
	}
	big := `{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"` + strings.Repeat(`a line of output\n`, 1<<20/17) + `","stderr":""}}`
	huge := `{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/x","content":"` + strings.Repeat(`a line of output\n`, 1<<20/17) + `"}}`
	for name, raw := range map[string][]byte{"ordinary": ordinary, "1MiB-output": []byte(big), "1MiB-unused": []byte(huge)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Claude.Decode(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
