package integrations

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"sallyport/hookio"
	"sallyport/internal/selftest"
	"sallyport/internal/testenv"
)

// A hook is one entry of a wiring file.
type hook struct {
	event, command string
	matcher        *string // nil: not given
	seconds        float64 // time limit, 0 if not given
}

// wirings lists every file that a user copies, with the harness it is for and
// how it is read. Each reader knows only the fields that the client knows.
var wirings = []struct {
	file, harness string
	read          func([]byte) ([]hook, error)
}{
	{"claude/settings.json", "claude", claudeShape(1)},
	{"codex/hooks.json", "codex", claudeShape(1)},
	{"codex/hooks-fail-closed.json", "codex", claudeShape(1)},
	{"gemini/settings.json", "gemini", claudeShape(1000)},
	{"qwen/settings.json", "qwen", claudeShape(1000)},
	{"qwen/settings-fail-closed.json", "qwen", claudeShape(1000)},
	{"copilot/agent-guard.json", "copilot", readCopilot},
	{"cursor/hooks.json", "cursor", readCursor},
	{"kiro/guarded.json", "kiro", readKiroAgent},
	{"kiro/agent-guard.json", "kiro", readKiro},
}

func strict(raw []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// claudeShape reads event → groups → hooks; unit is how much of the timeout is
// a second.
func claudeShape(unit float64) func([]byte) ([]hook, error) {
	return func(raw []byte) ([]hook, error) {
		var f struct {
			Hooks map[string][]struct {
				Matcher *string
				Hooks   []struct {
					Type, Name, Command string
					Timeout             float64
				}
			}
		}
		if err := strict(raw, &f); err != nil {
			return nil, err
		}
		var all []hook
		for event, groups := range f.Hooks {
			for _, g := range groups {
				for _, h := range g.Hooks {
					if h.Type != "command" {
						return nil, fmt.Errorf("type %q", h.Type)
					}
					all = append(all, hook{event, h.Command, g.Matcher, h.Timeout / unit})
				}
			}
		}
		return all, nil
	}
}

func readCopilot(raw []byte) ([]hook, error) {
	var f struct {
		Version int
		Hooks   map[string][]struct {
			Type, Bash string
			Matcher    *string
			TimeoutSec float64
		}
	}
	if err := strict(raw, &f); err != nil || f.Version != 1 {
		return nil, errors.Join(err, fmt.Errorf("version %d", f.Version))
	}
	var all []hook
	for event, hooks := range f.Hooks {
		for _, h := range hooks {
			all = append(all, hook{event, h.Bash, h.Matcher, h.TimeoutSec})
		}
	}
	return all, nil
}

func readCursor(raw []byte) ([]hook, error) {
	var f struct {
		Version int
		Hooks   map[string][]struct {
			Command    string
			Matcher    *string
			FailClosed bool
		}
	}
	if err := strict(raw, &f); err != nil || f.Version != 1 {
		return nil, errors.Join(err, fmt.Errorf("version %d", f.Version))
	}
	var all []hook
	for event, hooks := range f.Hooks {
		for _, h := range hooks {
			if !h.FailClosed {
				return nil, fmt.Errorf("%s without failClosed", event)
			}
			all = append(all, hook{event, h.Command, h.Matcher, 0})
		}
	}
	return all, nil
}

func readKiroAgent(raw []byte) ([]hook, error) {
	var f struct {
		Name, Description string
		Tools             []string
		Hooks             map[string][]struct {
			Matcher   *string
			Command   string
			TimeoutMS float64 `json:"timeout_ms"`
		}
	}
	if err := strict(raw, &f); err != nil {
		return nil, err
	}
	if len(f.Tools) == 0 {
		return nil, errors.New("an agent without tools has none")
	}
	var all []hook
	for event, hooks := range f.Hooks {
		for _, h := range hooks {
			all = append(all, hook{event, h.Command, h.Matcher, h.TimeoutMS / 1000})
		}
	}
	return all, nil
}

func readKiro(raw []byte) ([]hook, error) {
	var f struct {
		Version string
		Hooks   []struct {
			Name, Trigger string
			Matcher       *string
			Action        struct{ Type, Command string }
			Timeout       float64
			Enabled       bool
		}
	}
	if err := strict(raw, &f); err != nil || f.Version != "v1" {
		return nil, errors.Join(err, fmt.Errorf("version %q", f.Version))
	}
	var all []hook
	for _, h := range f.Hooks {
		if h.Enabled && h.Action.Type == "command" {
			all = append(all, hook{h.Trigger, h.Action.Command, h.Matcher, h.Timeout})
		}
	}
	return all, nil
}

func hooksOf(t *testing.T, file string) []hook {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wirings {
		if w.file == file {
			hooks, err := w.read(raw)
			if err != nil || len(hooks) == 0 {
				t.Fatalf("%s: %d hooks, %v", file, len(hooks), err)
			}
			return hooks
		}
	}
	t.Fatalf("%s is not listed", file)
	return nil
}

var guardProgram = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "agent-guard-")
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "agent-guard")
	cmd := exec.Command("go", "build", "-o", out, "sallyport/cmd/agent-guard")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %v\n%s", err, text)
	}
	return out, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if out, err := guardProgram(); err == nil {
		os.RemoveAll(filepath.Dir(out))
	}
	os.Exit(code)
}

// A place is a home with the program installed, and a project in it whose work
// tree has a change that a reset would lose.
type place struct{ home, project string }

func newPlace(t *testing.T) place {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands of the wiring files are written for a POSIX shell")
	}
	program, err := guardProgram()
	if err != nil {
		t.Fatal(err)
	}
	home := testenv.Isolate(t)
	p := place{home, filepath.Join(home, "project")}
	scripts := filepath.Join(home, ".claude", "scripts")
	if err := os.MkdirAll(scripts, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(scripts, "agent-guard")); err != nil {
		t.Fatal(err)
	}
	testenv.Repo(t, p.project)
	testenv.Write(t, filepath.Join(p.project, "a.txt"), "changed\n")
	testenv.Write(t, filepath.Join(p.project, "sub", "b.txt"), "b\n")
	return p
}

// run starts a hook as the clients do: through a shell, in the project.
func (p place) run(t *testing.T, command string, event []byte) selftest.Result {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = p.project
	cmd.Stdin = bytes.NewReader(event)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return selftest.Result{Stdout: stdout.String(), Stderr: stderr.String(), Exit: cmd.ProcessState.ExitCode()}
}

// A payload is a captured event before a tool call.
type payload struct {
	name, event, tool string
	raw               []byte
	command, file     string // gjson paths of what can be replaced, empty if there is none
}

func (p payload) with(t *testing.T, path, value string) []byte {
	t.Helper()
	old := gjson.GetBytes(p.raw, path)
	if old.Index == 0 {
		t.Fatalf("%s has no %s", p.name, path)
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(p.raw[:old.Index], text, p.raw[old.Index+len(old.Raw):])
}

// documented are events of the clients that were not run, after their documents.
var documented = map[string][]string{
	"kiro": {
		`{"hook_event_name":"preToolUse","cwd":"/home/dev/project","tool_name":"execute_bash","tool_input":{"command":"ls"}}`,
		`{"hook_event_name":"PreToolUse","cwd":"/home/dev/project","tool_name":"shell","tool_input":{"command":"ls"}}`,
		`{"hook_event_name":"preToolUse","cwd":"/home/dev/project","tool_name":"fs_write","tool_input":{"command":"create","path":"/home/dev/project/x","file_text":"x"}}`,
		`{"hook_event_name":"preToolUse","cwd":"/home/dev/project","tool_name":"fs_read","tool_input":{"operations":[{"mode":"Line","path":"/home/dev/project/x"}]}}`,
	},
	"cursor": {
		`{"conversation_id":"c","generation_id":"g","hook_event_name":"beforeShellExecution","workspace_roots":["/home/dev/project"],"command":"ls","cwd":"/home/dev/project"}`,
		`{"conversation_id":"c","generation_id":"g","hook_event_name":"preToolUse","workspace_roots":["/home/dev/project"],"tool_name":"Write","tool_input":{"file_path":"/home/dev/project/x","content":"x"}}`,
	},
}

// payloads are the events before a tool call that the harness is known to send,
// moved into the place.
func (p place) payloads(t *testing.T, harness string) []payload {
	t.Helper()
	texts := map[string][]byte{}
	dir := filepath.Join("..", "hookio", "testdata", "payloads", harness)
	if harness == "claude" {
		dir = filepath.Dir(dir)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	before := regexp.MustCompile(`^(claude-)?(PreToolUse|preToolUse|BeforeTool)-|^before-`)
	for _, f := range files {
		if before.MatchString(filepath.Base(f)) {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			texts[filepath.Base(f)] = raw
		}
	}
	for i, text := range documented[harness] {
		texts[fmt.Sprintf("documented-%d", i)] = []byte(text)
	}
	if len(texts) == 0 {
		t.Fatalf("no payloads of %s in %s", harness, dir)
	}
	var all []payload
	for name, raw := range texts {
		raw = bytes.ReplaceAll(raw, []byte("/home/dev/project"), []byte(p.project))
		raw = bytes.ReplaceAll(raw, []byte("/home/dev"), []byte(p.home))
		e := payload{name: name, raw: raw}
		for _, path := range []string{"tool_name", "toolName", "input.tool"} {
			if v := gjson.GetBytes(raw, path); v.Exists() {
				e.tool = v.String()
			}
		}
		e.event = gjson.GetBytes(raw, "hook_event_name").String()
		if e.event == "" {
			e.event = "preToolUse" // Copilot's camelCase does not say
		}
		h, _ := hookio.Lookup(harness)
		shell := h.Shell(e.tool) != hookio.NotShell
		shell = shell || e.event == "beforeShellExecution"
		for _, path := range []string{"tool_input.command", "toolArgs.command", "output.args.command", "command"} {
			if gjson.GetBytes(raw, path).Exists() && shell {
				e.command = path
			}
		}
		ev, err := h.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []string{"tool_input.", "toolArgs.", "output.args."} {
			for _, path := range []string{"file_path", "path", "filePath"} {
				if gjson.GetBytes(raw, in+path).Exists() && ev.FilePath != "" {
					e.file = in + path
				}
			}
		}
		if e.tool == "apply_patch" {
			e.file = "tool_input.command"
		}
		all = append(all, e)
	}
	return all
}

// settingsOf is what a call's file field must hold to change a file that
// governs the agent.
func (p place) settingsOf(tool string) string {
	file := filepath.Join(p.home, ".claude", "settings.json")
	if tool == "apply_patch" {
		return "*** Begin Patch\n*** Add File: " + file + "\n+{}\n*** End Patch\n"
	}
	return file
}

const (
	denied   = "git commit --no-verify -m x"
	question = "git reset --hard" // in a tree with changes
	harmless = "printf hello"
)

func TestWiring(t *testing.T) {
	p := newPlace(t)
	for _, w := range wirings {
		t.Run(w.file, func(t *testing.T) {
			c, _ := selftest.Rules(w.harness)
			hooks := hooksOf(t, w.file)
			for _, h := range hooks {
				if h.seconds != 0 && h.seconds != 30 {
					t.Errorf("%s: a limit of %v seconds; is the unit right?", h.event, h.seconds)
				}
			}
			seen := map[string]bool{}
			for _, e := range p.payloads(t, w.harness) {
				for _, h := range hooks {
					if !strings.EqualFold(h.event, e.event) || !c.Matches(h.matcher, e.tool) {
						continue
					}
					try := func(what string, event []byte, want selftest.Outcome, word string) {
						t.Helper()
						r := p.run(t, h.command, event)
						got, reason := c.Judge(r, e.event)
						if got != want || !strings.Contains(reason, word) {
							t.Errorf("%s, %s: %s %q, want %s with %q\nhook: %s\nstdin: %s\nstdout: %s\nstderr: %s\nexit: %d",
								e.name, what, got, reason, want, word, h.command, compact(event), r.Stdout, r.Stderr, r.Exit)
						}
						if want == selftest.Runs && (r.Stdout != "" || r.Stderr != "" || r.Exit != 0) {
							t.Errorf("%s, %s: no opinion, but not silent: %+v", e.name, what, r)
						}
						seen[what] = true
					}
					switch {
					case e.command != "":
						canAsk := map[string]bool{"claude": true, "copilot": true, "qwen": true, "cursor": true}[w.harness]
						want := selftest.Blocked
						if canAsk {
							want = selftest.Asks
						}
						try("denied", e.with(t, e.command, denied), selftest.Blocked, "agent-guard[no-verify]")
						try("asked", e.with(t, e.command, question), want, "agent-guard[destructive]")
						try("harmless", e.with(t, e.command, harmless), selftest.Runs, "")
					case e.file != "":
						try("settings", e.with(t, e.file, p.settingsOf(e.tool)), selftest.Blocked, "agent-guard[self-protect]")
						try("file", e.raw, selftest.Runs, "")
					default:
						try("other tool", e.raw, selftest.Runs, "")
					}
				}
			}
			for _, what := range []string{"denied", "asked", "harmless", "settings", "file"} {
				if !seen[what] {
					t.Errorf("no payload reached the hook with a %s call", what)
				}
			}
		})
	}
}

// Every payload of a shell or file tool is selected by the wiring's matchers.
func TestMatchersReachEveryCall(t *testing.T) {
	p := newPlace(t)
	for _, w := range wirings {
		hooks := hooksOf(t, w.file)
		for _, e := range p.payloads(t, w.harness) {
			if e.command == "" && e.file == "" {
				continue
			}
			reached := false
			for _, h := range hooks {
				reached = reached || strings.EqualFold(h.event, e.event) && rules(t, w.harness).Matches(h.matcher, e.tool)
			}
			if !reached {
				t.Errorf("%s: nothing matches %s (%s)", w.file, e.tool, e.name)
			}
		}
	}
}

// What the wiring files call exists, and is what the manual describes.
func TestCommandsAreInTheManual(t *testing.T) {
	p := newPlace(t)
	manual := p.run(t, "~/.claude/scripts/agent-guard --help", nil)
	if manual.Exit != 0 {
		t.Fatalf("--help: %+v", manual)
	}
	check := func(file, command string) {
		words := strings.Fields(command)
		if words[0] != "~/.claude/scripts/agent-guard" {
			t.Errorf("%s starts %s", file, words[0])
		}
		for i, w := range words[1:] {
			if w == "||" {
				break
			}
			if !strings.Contains(manual.Stdout, w) {
				t.Errorf("%s: %s is not in the manual", file, w)
			}
			if w == "--harness" {
				if _, ok := hookio.Lookup(words[i+2]); !ok {
					t.Errorf("%s: no harness %s", file, words[i+2])
				}
			}
		}
		if r := p.run(t, command, nil); r != (selftest.Result{}) {
			t.Errorf("%s: %s with nothing to read: %+v", file, command, r)
		}
	}
	for _, w := range wirings {
		for _, h := range hooksOf(t, w.file) {
			check(w.file, h.command)
		}
	}
}

// Every wiring file of the directory is tested.
func TestEveryFileIsListed(t *testing.T) {
	files, err := filepath.Glob("*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(wirings) {
		t.Errorf("%d files %v, %d listed", len(files), files, len(wirings))
	}
	for _, h := range hookio.Harnesses() {
		if _, err := os.Stat(filepath.Join(h.Name, "README.md")); err != nil {
			t.Error(err)
		}
	}
}

// The line with which a README checks the program does what it says.
func TestReadmeChecks(t *testing.T) {
	p := newPlace(t)
	line := regexp.MustCompile(`(?m)^printf '%s' '(.*)' \| (~/\.claude/scripts/agent-guard.*)$`)
	for _, h := range hookio.Harnesses() {
		readme, err := os.ReadFile(filepath.Join(h.Name, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		m := line.FindSubmatch(readme)
		if m == nil {
			t.Errorf("%s/README.md has no line that checks the program", h.Name)
			continue
		}
		r := p.run(t, string(m[2]), m[1])
		if want := fmt.Sprintf("exits with %d", r.Exit); !strings.Contains(string(readme), want) {
			t.Errorf("%s/README.md lacks %q: %+v", h.Name, want, r)
		}
		c, ok := selftest.Rules(h.Name)
		if !ok { // OpenCode: the plugin's tests judge
			if !strings.Contains(r.Stdout, `"decision":"deny"`) {
				t.Errorf("%s: %+v", h.Name, r)
			}
			continue
		}
		event := gjson.GetBytes(m[1], "hook_event_name").String()
		if event == "" {
			event = "preToolUse"
		}
		if got, reason := c.Judge(r, event); got != selftest.Blocked || !strings.Contains(reason, "agent-guard[no-verify]") {
			t.Errorf("%s: %s %q", h.Name, got, reason)
		}
	}
}

// What the READMEs say to do makes agent-guard selftest content, and what takes
// the hook out is noticed.
func TestSelftest(t *testing.T) {
	const run = "~/.claude/scripts/agent-guard selftest --harness "
	p := newPlace(t)
	places := map[string]string{ // where the README of the file says it goes
		"claude/settings.json":           ".claude/settings.json",
		"codex/hooks.json":               ".codex/hooks.json",
		"codex/hooks-fail-closed.json":   ".codex/hooks.json",
		"gemini/settings.json":           ".gemini/settings.json",
		"qwen/settings.json":             ".qwen/settings.json",
		"qwen/settings-fail-closed.json": ".qwen/settings.json",
		"copilot/agent-guard.json":       ".copilot/hooks/agent-guard.json",
		"cursor/hooks.json":              ".cursor/hooks.json",
		"kiro/guarded.json":              ".kiro/agents/guarded.json",
		"kiro/agent-guard.json":          ".kiro/hooks/agent-guard.json",
		"opencode/agent-guard.js":        ".config/opencode/plugin/agent-guard.js",
	}
	for file, place := range places {
		t.Run(file, func(t *testing.T) {
			harness := filepath.Dir(file)
			target := filepath.Join(p.home, filepath.FromSlash(place))
			check := func(what string, exit int, words ...string) {
				t.Helper()
				r := p.run(t, run+harness, nil)
				if r.Exit != exit {
					t.Errorf("%s: exit %d, want %d", what, r.Exit, exit)
				}
				for _, w := range words {
					if !strings.Contains(r.Stdout, w) {
						t.Errorf("%s: no %q", what, w)
					}
				}
				if t.Failed() {
					t.Fatalf("%s printed\n%s%s", what, r.Stdout, r.Stderr)
				}
			}
			check("before", 1, filepath.Dir(target), "integrations/"+harness+"/README.md")
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			testenv.Write(t, target, string(raw))
			defer os.Remove(target)
			if harness == "codex" {
				check("untrusted", 1, "not trusted")
				state := fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = %q\n", target+":pre_tool_use:0:0", codexHash(t, hooksOf(t, file)[0]))
				testenv.Write(t, filepath.Join(p.home, ".codex", "config.toml"), state)
				defer os.Remove(filepath.Join(p.home, ".codex", "config.toml"))
			}
			check("wired", 0, "ok", "a refusal reaches")
			off := map[string][2]string{
				"claude":  {".claude/settings.json", `{"disableAllHooks": true}`},
				"copilot": {".claude/settings.json", `{"disableAllHooks": true}`},
				"qwen":    {".qwen/settings.json", `{"disableAllHooks": true}`},
				"gemini":  {".gemini/settings.json", `{"hooksConfig": {"disabled": ["agent-guard"]}}`},
				"codex":   {"../.codex/config.toml", "[features]\nhooks = false\n"},
			}
			if o, ok := off[harness]; ok {
				place := filepath.Join(p.project, filepath.FromSlash(o[0]))
				old, err := os.ReadFile(place)
				testenv.Write(t, place, o[1])
				check("switched off", 1, "off ", filepath.Base(place))
				os.Remove(place)
				if err == nil {
					testenv.Write(t, place, string(old))
				}
			}
			// Another program in its place: what it answers is no refusal of ours.
			program := filepath.Join(p.home, ".claude", "scripts", "agent-guard")
			real, err := os.Readlink(program)
			if err != nil {
				t.Fatal(err)
			}
			os.Remove(program)
			defer func() {
				os.Remove(program)
				os.Symlink(real, program)
			}()
			for what, script := range map[string]string{"silent": "exit 0", "breaks": "exit 3", "blocks by itself": "echo no >&2; exit 2"} {
				os.Remove(program)
				if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command(real, "selftest", "--harness", harness)
				cmd.Dir = p.project
				if out, err := cmd.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("FAIL")) {
					t.Errorf("%s: %v\n%s", what, err, out)
				}
			}
		})
	}
}

// The fail-closed wirings block where the program is gone or dies.
func TestFailClosed(t *testing.T) {
	p := newPlace(t)
	program := filepath.Join(p.home, ".claude", "scripts", "agent-guard")
	for _, broken := range []struct{ name, script string }{
		{"missing", ""},
		{"exit 1", "#!/bin/sh\nexit 1\n"},
		{"exit 64", "#!/bin/sh\nexit 64\n"},
		{"signal", "#!/bin/sh\nkill -9 $$\n"},
		{"exit 2 with a reason", "#!/bin/sh\necho 'could not check' >&2\nexit 2\n"},
	} {
		os.Remove(program)
		if broken.script != "" {
			if err := os.WriteFile(program, []byte(broken.script), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, file := range []string{"codex/hooks-fail-closed.json", "qwen/settings-fail-closed.json"} {
			for _, h := range hooksOf(t, file) {
				r := p.run(t, h.command, []byte(`{}`))
				got, reason := rules(t, filepath.Dir(file)).Judge(r, h.event)
				if got != selftest.Blocked || !strings.Contains(reason, "could not check") {
					t.Errorf("%s, %s: %s %q (%+v)", file, broken.name, got, reason, r)
				}
			}
		}
	}
}

// The README of Codex gives the hashes under which the client trusts the files.
func TestCodexTrustHashes(t *testing.T) {
	readme, err := os.ReadFile("codex/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"codex/hooks.json", "codex/hooks-fail-closed.json"} {
		for _, h := range hooksOf(t, file) {
			if !strings.Contains(string(readme), codexHash(t, h)) {
				t.Errorf("codex/README.md lacks the hash of %s: %s", file, codexHash(t, h))
			}
		}
	}
	// The formula, by an example that Codex itself accepted.
	if h := codexHash(t, hook{event: "PreToolUse", command: "x", seconds: 600}); !strings.HasPrefix(h, "sha256:") || len(h) != 71 {
		t.Errorf("hash %q", h)
	}
}

// codexHash is SHA-256 of the definition as compact JSON with sorted keys.
func codexHash(t *testing.T, h hook) string {
	t.Helper()
	identity := map[string]any{
		"event_name": "pre_tool_use",
		"hooks":      []any{map[string]any{"async": false, "command": h.command, "timeout": int(h.seconds), "type": "command"}},
	}
	if h.matcher != nil {
		identity["matcher"] = *h.matcher
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(identity); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(bytes.TrimSpace(b.Bytes())))
}

func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node on this machine")
	}
	var major, minor int
	if _, err := fmt.Sscanf(output(t, path, "--version"), "v%d.%d", &major, &minor); err != nil || major < 20 || major == 20 && minor < 19 {
		t.Skip("node is older than 20.19, the first that tells a module by its text")
	}
	return path
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func TestOpenCodePlugin(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake programs of the test are shell scripts")
	}
	cmd := exec.Command(node(t), "--test", "agent-guard.test.mjs")
	cmd.Dir = "opencode"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("node --test: %v\n%s", err, out)
	}
}

// The plugin with the real program.
func TestOpenCodePayloads(t *testing.T) {
	path := node(t)
	p := newPlace(t)
	asked := 0
	for _, e := range p.payloads(t, "opencode") {
		try := func(what string, event []byte, want selftest.Outcome, word string) {
			t.Helper()
			cmd := exec.Command(path, "opencode/testdata/call.mjs", p.project)
			cmd.Stdin = bytes.NewReader(event)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %v", e.name, err)
			}
			var got struct {
				Blocked *string
				Args    json.RawMessage
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%s: %v\n%s", e.name, err, out)
			}
			switch {
			case want == selftest.Runs && got.Blocked != nil:
				t.Errorf("%s, %s: blocked: %s", e.name, what, *got.Blocked)
			case want == selftest.Blocked && (got.Blocked == nil || !strings.Contains(*got.Blocked, word)):
				t.Errorf("%s, %s: %s, want it blocked with %q", e.name, what, out, word)
			}
			if before := compact([]byte(gjson.GetBytes(event, "output.args").Raw)); compact(got.Args) != before {
				t.Errorf("%s, %s: arguments %s, were %s", e.name, what, got.Args, before)
			}
		}
		switch {
		case e.command != "":
			asked++
			try("denied", e.with(t, e.command, denied), selftest.Blocked, "agent-guard[no-verify]")
			try("asked", e.with(t, e.command, question), selftest.Blocked, "agent-guard[destructive]")
			try("harmless", e.with(t, e.command, harmless), selftest.Runs, "")
		case e.file != "":
			asked++
			try("settings", e.with(t, e.file, p.settingsOf(e.tool)), selftest.Blocked, "agent-guard[self-protect]")
			try("file", e.raw, selftest.Runs, "")
		default:
			try("other tool", e.raw, selftest.Runs, "")
		}
	}
	if asked < 3 {
		t.Errorf("only %d payloads of a shell or file tool", asked)
	}
}

func rules(t *testing.T, harness string) selftest.Client {
	t.Helper()
	c, ok := selftest.Rules(harness)
	if !ok {
		t.Fatalf("no rules of %s", harness)
	}
	return c
}

// compact is for failure messages.
func compact(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
