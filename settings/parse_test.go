package settings

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sallyport/internal/testenv"
)

// same compares a node with what encoding/json makes of the same text.
func same(n Node, v any) bool {
	switch v := v.(type) {
	case nil:
		return n.Kind() == Null
	case bool:
		b, ok := n.Bool()
		return ok && b == v
	case string:
		s, ok := n.Text()
		return ok && s == v
	case json.Number:
		return n.Kind() == Number && string(n.Raw()) == v.String()
	case []any:
		if n.Kind() != Array || n.Len() != len(v) {
			return false
		}
		i, ok := 0, true
		n.Each(func(_ string, e Node) bool { ok = ok && same(e, v[i]); i++; return ok })
		return ok
	case map[string]any:
		if n.Kind() != Object {
			return false
		}
		seen, ok := 0, true
		n.Each(func(name string, e Node) bool {
			seen++
			want, there := v[name]
			ok = ok && there && same(e, want) && same(n.Get(name), want)
			return ok
		})
		return ok && seen == len(v)
	}
	return false
}

func TestParseAgreesWithEncodingJSON(t *testing.T) {
	for seed := range uint64(2000) {
		g := randomJSON{rand.New(rand.NewPCG(seed, 1))}
		in := g.blank() + g.value(6) + g.blank()
		doc, err := ParseDocument([]byte(in))
		if err != nil {
			t.Fatalf("seed %d: ParseDocument(%q): %v", seed, in, err)
		}
		if !same(doc.Root(), decode(t, []byte(in))) {
			t.Fatalf("seed %d: ParseDocument(%q) differs from encoding/json", seed, in)
		}
	}
}

// FuzzParse holds the reader to encoding/json: both take a text or both
// refuse it, and they understand the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "{}", on, `{"a":1,"a":{"b":[]}}`, "\ufeff{}", `["\ud83d\ude00\ud83d","\u0000"]`, `{"a":1e+5,"b":-0.0}`, "{\"a\" : \"\xff\"}", "// x\n{}", "[1,]", "nul", `"\u12g4"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		doc, err := ParseDocument(in)
		plain := bytes.TrimPrefix(in, byteOrderMark)
		if (err == nil) != json.Valid(plain) {
			t.Fatalf("ParseDocument(%q): %v, json.Valid says %t", in, err, json.Valid(plain))
		}
		if err != nil {
			e := err.(*SyntaxError)
			if e.Line < 1 || e.Line > bytes.Count(in, []byte("\n"))+1 || e.Column < 1 || e.Column > len(in)+1 {
				t.Fatalf("ParseDocument(%q): %v lies outside", in, err)
			}
			return
		}
		if !same(doc.Root(), decode(t, plain)) {
			t.Fatalf("ParseDocument(%q) differs from encoding/json", in)
		}
		if f, bad := validate(doc); bad && f.message == "" {
			t.Fatalf("validate(%q) gives no reason", in)
		}
	})
}

// FuzzLoad feeds the resolution with whatever stands in the files and on the
// command line.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(on), []byte(off), "--settings\x00"+on)
	f.Add([]byte(`{"permissions":{"deny":["Read(","Read(~/x)"]},"sandbox":{"filesystem":{"allowRead":["~","..","*"]}}}`), []byte("{"), "--setting-sources\x00user\x00-w")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, managed, project []byte, args string) {
		for path, data := range map[string][]byte{"etc/managed-settings.json": managed, "start/.claude/settings.json": project} {
			path = filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		env := Env{Home: filepath.Join(dir, "home"), ManagedDir: filepath.Join(dir, "etc"), Getenv: func(string) string { return "" }}
		st := Load(Session{Start: filepath.Join(dir, "start"), Args: strings.Split(args, "\x00"), ArgsSeen: true}, env)
		for _, r := range st.Explain().String() {
			if r != '\n' && r < 0x20 {
				t.Fatalf("the explanation holds %U", r)
			}
		}
		for _, list := range []string{"sandbox.filesystem.allowRead", "sandbox.filesystem.allowWrite", "permissions.deny"} {
			for _, v := range st.List(list) {
				st.SandboxPath(v.Value, v.Source)
				st.RulePath(v.Value, v.Source)
				st.Permission("Bash", v.Value)
			}
		}
	})
}

// schemaCases holds files with one mistake each: the ones that client 2.1.332
// drops whole, and the ones it keeps. The differential test asks the SDK again.
func schemaCases() (dropped, kept []string) {
	const command = `{"type":"command","command":"x"}`
	hook := func(event, hook string) string { return `{"hooks":{"` + event + `":[{"hooks":[` + hook + `]}]}}` }
	dropped = []string{
		`[1]`, `"x"`, `{"model":3}`, `{"$schema":3}`, `{"sandbox":3}`, `{"sandbox":{"enabled":null}}`, `{"sandbox":{"enabled":"true"}}`,
		`{"sandbox":{"excludedCommands":["a",3]}}`, `{"sandbox":{"excludedCommands":"a"}}`, `{"sandbox":{"network":null}}`,
		`{"sandbox":{"network":{"httpProxyPort":"1"}}}`, `{"sandbox":{"filesystem":{"denyRead":"x"}}}`, `{"sandbox":{"ripgrep":{}}}`,
		`{"sandbox":{"credentials":{"envVars":[{"name":"A B","mode":"deny"}]}}}`, `{"sandbox":{"credentials":{"envVars":[{"name":"A"}]}}}`,
		`{"sandbox":{"credentials":{"files":[{"path":"","mode":"deny"}]}}}`, `{"sandbox":{"ignoreViolations":{"*":"x"}}}`,
		`{"permissions":{"allow":"x"}}`, `{"permissions":{"defaultMode":"delegate"}}`, `{"permissions":{"additionalDirectories":[3]}}`,
		`{"cleanupPeriodDays":0}`, `{"cleanupPeriodDays":0.5}`, `{"cleanupPeriodDays":null}`, `{"statusLine":{"type":"command"}}`, `{"statusLine":{"type":"x","command":"x"}}`,
		`{"attribution":3}`, `{"feedbackSurveyRate":7}`, `{"skillOverrides":{"a":"maybe"}}`, `{"enabledPlugins":{"a":{}}}`, `{"strictKnownMarketplaces":[3]}`,
		`{"hooks":{"PreToolUse":"x"}}`, `{"hooks":{"PreToolUse":["x"]}}`, `{"hooks":{"PreToolUse":[{"matcher":["x"],"hooks":[]}]}}`, `{"hooks":{"PreToolUse":[{"matcher":"x"}]}}`,
		hook("PreToolUse", `{"command":"x"}`), hook("PreToolUse", `{"type":"zzz"}`), hook("PreToolUse", `{"type":"command"}`), hook("PermissionRequest", `null`),
		hook("PreToolUse", `{"type":"command","command":"x","timeout":0}`), hook("PreToolUse", `{"type":"command","command":"x","args":["a",3]}`),
		hook("PreSkillShellCommand", `{"type":"http","url":"zzz"}`), hook("PreToolUse", `{"type":"http","url":"https://x.y","headers":{"a":3}}`),
		hook("PreToolUse", `{"type":"mcp_tool","server":"a"}`), hook("PreToolUse", `{"type":"mcp_tool","server":"a","tool":"b","input":"x"}`),
		`{"hooks":[` + command + `]}`, `{"hooks":{"hooks":[` + command + `]}}`, `{"hooks":{"unknown":{"hooks":[{}]}}}`, `{"hooks":{"Stop":{"PreToolUse":"x"}}}`,
		`{"PreToolUse":3}`, `{"x":{"y":{"PermissionRequest":"x"}}}`, `{"x":[{"hooks":[{}]}]}`, `{"x":{"x":{"x":{"x":{"hooks":[{}]}}}}}`, `{"x":{"hooks":{"type":"x"}}}`,
		`{"x":{"hooks":["x"]}}`, `{"sandbox":{"hooks":[null]}}`, `{"sandbox":{"ignoreViolations":{"PreToolUse":["x"]}}}`, `{"modelOverrides":{"PreToolUse":"x"}}`,
	}
	kept = []string{
		`{}`, `{"$schema":"x"}`, `{"unknown":3}`, `{"sandbox":{"unknown":3}}`, `{"sandbox":{"bwrapPath":3}}`, `{"sandbox.enabled":3}`, `{"env":{"A":3}}`, `{"env":{"PreToolUse":"x"}}`,
		`{"permissions":{"allow":[3,"Bash("]}}`, `{"permissions":{"allow":[{"hooks":[{}]}]}}`, `{"permissions":{"defaultMode":"manual"}}`, `{"theme":3}`, `{"enableAllProjectMcpServers":null}`,
		`{"cleanupPeriodDays":1e12}`, `{"feedbackSurveyRate":0}`, `{"attribution":{"unknown":3}}`, `{"enabledPlugins":{"a":["x"]}}`, `{"extraKnownMarketplaces":{"a":3}}`,
		`{"hooks":null}`, `{"hooks":"x"}`, `{"hooks":[]}`, `{"hooks":` + command + `}`, `{"hooks":{"PreToolUse":null}}`, `{"hooks":{"Stop":"x"}}`, `{"hooks":{"Unknown":3}}`,
		hook("Stop", `{"type":"command"}`), hook("PreToolUse", command), hook("PreToolUse", `{"type":"command","command":"","unknown":3}`), hook("PreToolUse", `{"type":"prompt","prompt":"x","shell":"zz"}`),
		hook("PreToolUse", `{"type":"mcp_tool","server":"a","tool":"b","input":{"n":1}}`), hook("PreToolUse", `{"type":"command","command":"x","timeout":0.5}`), hook("Unknown", `3`),
		`{"PreToolUse":null}`, `{"PreToolUse":[]}`, `{"pretooluse":3}`, `{"PostToolUse":3}`, `{"x":{"hooks":[]}}`, `{"x":{"hooks":{"type":3}}}`, `{"x":{"x":{"x":{"x":{"x":{"hooks":[{}]}}}}}}`,
		`{"hooks":{"Stop":{"hooks":[{}]}}}`, `{"hooks":{"Stop":{"a":{"hooks":[{}]}}}}`,
		`{"hooks":["x",3]}`, `{"pluginConfigs":{"a":{"options":{"hooks":["x"]}}}}`, `{"pluginConfigs":{"a":{"options":{"PreToolUse":"x"}}}}`, `{"skillOverrides":{"PreToolUse":"on"}}`, `{"enabledPlugins":{"PreToolUse":true}}`,
	}
	return dropped, kept
}

func TestDropped(t *testing.T) {
	dropped, kept := schemaCases()
	for want, list := range map[bool][]string{true: dropped, false: kept} {
		for _, text := range list {
			doc, err := ParseDocument([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if f, bad := validate(doc); bad != want {
				t.Errorf("%s is dropped: %t (%s), want %t", text, bad, f.message, want)
			}
		}
	}
}

func TestPositions(t *testing.T) {
	doc, err := ParseDocument([]byte("\ufeff{\n  \"é\": 1, \"b\": [\n    true,\n\t2]\n}"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path         []string
		line, column int
	}{{nil, 1, 1}, {[]string{"é"}, 2, 3}, {[]string{"b"}, 2, 11}, {[]string{"x"}, 0, 0}, {[]string{"é", "x"}, 0, 0}} {
		if line, column := doc.Root().Get(tt.path...).Position(); line != tt.line || column != tt.column {
			t.Errorf("%q stands at %d:%d, want %d:%d", tt.path, line, column, tt.line, tt.column)
		}
	}
	var at []int
	doc.Root().Get("b").Each(func(_ string, n Node) bool {
		line, column := n.Position()
		at = append(at, line, column)
		return true
	})
	if !slices.Equal(at, []int{3, 5, 4, 2}) {
		t.Errorf("elements stand at %v, want 3:5 and 4:2", at)
	}
}

// TestParseIsLinear grows inputs that punish a careless parser. Time is
// compared at its best of several rounds, for a machine that is busy.
func TestParseIsLinear(t *testing.T) {
	for name, make := range map[string]func(n int) string{
		"members":  func(n int) string { return "{" + strings.Repeat(`"a":1,`, n) + `"a":1}` },
		"elements": func(n int) string { return "[" + strings.Repeat("{},", n) + "{}]" },
		"escapes":  func(n int) string { return `"` + strings.Repeat(`\u00e9`, n) + `"` },
	} {
		inputs := [2][]byte{[]byte(make(20_000)), []byte(make(160_000))}
		best := [2]time.Duration{time.Hour, time.Hour}
		linear := func() bool {
			for i, in := range inputs {
				start := time.Now()
				if _, err := ParseDocument(in); err != nil {
					t.Fatal(err)
				}
				best[i] = min(best[i], time.Since(start))
			}
			return best[1] <= 40*best[0]
		}
		for round := 0; !linear() || round < 3; round++ {
			if round == 60 {
				t.Errorf("%s: eight times the input takes %v, once %v", name, best[1], best[0])
				break
			}
		}
	}
}

func TestFlags(t *testing.T) {
	tests := []struct {
		args []string
		want flags
	}{
		{nil, flags{}},
		{[]string{"--settings", "a"}, flags{settings: "a"}},
		{[]string{"--settings=a=b"}, flags{settings: "a=b"}},
		{[]string{"--settings"}, flags{}},
		{[]string{"--settings", "--bare"}, flags{settings: "--bare"}},
		{[]string{"-n", "--bare", "--safe-mode"}, flags{safe: true}},
		{[]string{"--allowedTools", "a", "b", "--bare"}, flags{bare: true}},
		{[]string{"--allowedTools", "--safe-mode", "--bare"}, flags{bare: true}},
		{[]string{"--allowedTools=a", "--bare"}, flags{bare: true}},
		{[]string{"-r", "--bare"}, flags{bare: true}},
		{[]string{"-r", "id", "--bare"}, flags{bare: true}},
		{[]string{"-", "--bare"}, flags{bare: true}},
		{[]string{"prompt", "--restricted", "--", "--bare"}, flags{restricted: true}},
		{[]string{"--setting-sources", ""}, flags{sourcesSet: true}},
		{[]string{"--permission-mode", "plan", "--permission-mode=auto"}, flags{mode: "auto"}},
		{[]string{"--managed-settings", "{}"}, flags{hostPolicy: true}},
		{[]string{"--model", "--dangerously-skip-permissions"}, flags{}},
		{[]string{"--unknown", "--dangerously-skip-permissions"}, flags{skipPrompts: true}},
	}
	for _, tt := range tests {
		if got := parseFlags(tt.args); got != tt.want {
			t.Errorf("parseFlags(%q) = %+v, want %+v", tt.args, got, tt.want)
		}
	}
}

func FuzzFlags(f *testing.F) {
	f.Add("--settings\x00{}\x00--tools\x00a\x00b\x00-d\x00--\x00x")
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		got := parseFlags(args)
		// What follows "--" never counts, and neither does the program's own
		// second parse of the same words.
		if again := parseFlags(slices.Clone(args)); again != got {
			t.Fatalf("parseFlags(%q) = %+v, then %+v", args, got, again)
		}
		if got.settings != "" && !strings.Contains(line, got.settings) {
			t.Fatalf("parseFlags(%q) made up %q", args, got.settings)
		}
	})
}

func TestWithoutProgram(t *testing.T) {
	tests := []struct {
		argv []string
		args []string
		ok   bool
	}{
		{[]string{"/usr/bin/claude", "-p", "hi"}, []string{"-p", "hi"}, true},
		{[]string{"claude"}, []string{}, true},
		{[]string{"claude", ""}, []string{""}, true},
		{[]string{"claude", "", "", ""}, nil, false},
		{[]string{"/usr/bin/node", "--no-warnings", "/x/cli.js", "--bare"}, []string{"--bare"}, true},
		{[]string{"node"}, nil, false},
		{nil, nil, false},
	}
	for _, tt := range tests {
		args, ok := withoutProgram(tt.argv)
		if ok != tt.ok || ok && !slices.Equal(args, tt.args) {
			t.Errorf("withoutProgram(%q) = %q, %t, want %q, %t", tt.argv, args, ok, tt.args, tt.ok)
		}
	}
}

func TestParseProcargs(t *testing.T) {
	argc := func(n byte) string { return string([]byte{n, 0, 0, 0}) }
	tests := []struct {
		in   string
		want []string
	}{
		{argc(3) + "/bin/claude\x00\x00\x00\x00claude\x00--settings\x00{\"a\": 1}\x00PATH=/bin\x00", []string{"claude", "--settings", `{"a": 1}`}},
		{argc(2) + "/bin/claude\x00claude\x00\x00X=1\x00", []string{"claude", ""}},
		{argc(9) + "/bin/claude\x00claude\x00", nil},
		{argc(0) + "/bin/claude\x00claude\x00", nil},
		{"\xff\xff\xff\xff/bin/claude\x00claude\x00", nil},
		{"\xff\xff\xff\x7f/bin/claude\x00claude\x00", nil},
		{"ab", nil},
		{argc(1) + "unterminated", nil},
	}
	for _, tt := range tests {
		if got, ok := parseProcargs([]byte(tt.in)); ok != (tt.want != nil) || !slices.Equal(got, tt.want) {
			t.Errorf("parseProcargs(%q) = %q, %t, want %q", tt.in, got, ok, tt.want)
		}
	}
}

// TestMain lets the test program stand in for the client and for a hook.
func TestMain(m *testing.M) {
	if report := os.Getenv("SETTINGS_TEST_HOOK"); report != "" {
		if os.Getenv("CLAUDE_PID") == "" {
			// The client: starts a hook, through a shell.
			cmd := exec.Command("sh", "-c", `"$0"; exit 0`, os.Args[0])
			cmd.Env = append(os.Environ(), "CLAUDE_PID="+strconv.Itoa(os.Getpid()))
			if cmd.Run() != nil {
				os.Exit(1)
			}
			os.Exit(0)
		}
		s := HookSession(OSEnv(os.Getenv), "/start", "", "")
		data, err := json.Marshal(s)
		if err != nil || os.WriteFile(report, data, 0o600) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestSessionCommandLine reads the arguments of a real process that is our
// grandparent, and not those of one that is no ancestor.
func TestSessionCommandLine(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the arguments of other processes are not read here")
	}
	testenv.Isolate(t)
	report := filepath.Join(t.TempDir(), "report")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--settings", on, "", "--model=x y", "(prompt) 1 2"}
	run := func(env ...string) Session {
		t.Helper()
		cmd := exec.Command(self, args...)
		cmd.Env = append(append(os.Environ(), "SETTINGS_TEST_HOOK="+report), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var s Session
		data, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := Session{Start: "/start", Args: args, ArgsSeen: true, InClient: true}
	if got := run(); !reflect.DeepEqual(got, want) {
		t.Errorf("session = %+v, want %+v", got, want)
	}
	stranger := exec.Command("sleep", "60")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stranger.Process.Kill(); stranger.Wait() }()
	for _, pid := range []string{strconv.Itoa(stranger.Process.Pid), "1", "-1", "0", "x", "999999999999999999999"} {
		if got := run("CLAUDE_PID=" + pid); got.ArgsSeen || !got.InClient {
			t.Errorf("CLAUDE_PID=%s: session = %+v, want no arguments", pid, got)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	start := filepath.Join(dir, "repo", "sub")
	for path, text := range map[string]string{
		"home/.claude/settings.json": `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"x"}]}]},"sandbox":{"enabled":true}}`,
		"repo/.git/HEAD":             "ref: refs/heads/main\n", "repo/.claude/settings.local.json": `{"permissions":{"allow":["Bash(ls)"]}}`,
		"repo/sub/.claude/settings.json": `{"permissions":{"deny":["Read(//x)"]}}`,
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	env := Env{Home: filepath.Join(dir, "home"), ManagedDir: filepath.Join(dir, "etc"), Getenv: func(string) string { return "" }}
	b.ReportAllocs()
	for b.Loop() {
		if box := Load(Session{Start: start}, env).Sandbox(); !box.Enabled.Value {
			b.Fatal("not sandboxed")
		}
	}
}
