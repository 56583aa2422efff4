//go:build unix

package iso

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sallyport/internal/cli"
	"sallyport/internal/iso/mode"
)

// A world is a home, a working directory and a PATH with a stub of each CLI.
type world struct {
	*cli.Process
	home, work, bin string
	out, err        bytes.Buffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{home: dir + "/home", work: dir + "/work", bin: dir + "/bin"}
	w.Process = &cli.Process{Name: "agent-iso", WorkDir: w.work, Stdin: strings.NewReader(""), Stdout: &w.out, Stderr: &w.err,
		Environ: []string{"HOME=" + w.home, "PATH=" + w.bin}}
	for _, d := range []string{w.home, w.work, w.bin} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range append(CLINames(), "bwrap", "socat", "docker", "srt", "mystery") {
		w.write(t, w.bin+"/"+name, "#!/bin/sh\necho "+name+" 999.0.0\n")
		if err := os.Chmod(w.bin+"/"+name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) write(t *testing.T, path, text string) {
	t.Helper()
	path = strings.Replace(path, "~", w.home, 1)
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.work, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// refusal is the id of a refused start, empty if it is none.
func refusal(err error) string {
	var exit *cli.ExitError
	if !errors.As(err, &exit) {
		return ""
	}
	id, _, _ := strings.Cut(exit.Error(), ":")
	return id
}

func TestEveryModeOfEveryCLI(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the prerequisites are other ones")
	}
	const (
		openCodeRO = `{"*":"deny","edit":"deny","bash":"deny","task":"deny","webfetch":"deny","external_directory":"deny","read":"allow","grep":"allow","glob":"allow","list":"allow"}`
		openCodeRS = `{"edit":"ask","bash":"ask","task":"ask","external_directory":"ask"}`
	)
	const none = "-" // not supported
	type row struct {
		cli        string
		ro, rs, ww string // injected words and variables, "none" for nothing
		unverified bool
		def        string // what holds without a mode
	}
	rows := []row{
		{cli: "claude", ro: "--disallowedTools=Bash,PowerShell,Monitor,Edit,Write,NotebookEdit,mcp__*", rs: "--permission-mode dontAsk",
			ww: `--settings {"sandbox":{"enabled":true,"failIfUnavailable":true,"allowUnsandboxedCommands":false}}`, def: "none/on"},
		{cli: "codex", ro: "--sandbox read-only", rs: none, ww: "--sandbox workspace-write", def: "workspace-write/on"},
		{cli: "copilot", ro: "--available-tools=view,grep,glob --deny-tool=write --deny-tool=shell", rs: "", ww: "--allow-tool=write --deny-tool=shell", def: "none/on"},
		{cli: "opencode", ro: `--agent build OPENCODE_CONFIG_CONTENT={"agent":{"build":{"permission":` + openCodeRO + `}}} OPENCODE_PERMISSION=` + openCodeRO,
			rs: "OPENCODE_PERMISSION=" + openCodeRS, ww: none, def: "none/on"},
		{cli: "gemini", ro: "--approval-mode plan", rs: "--approval-mode default", ww: none, def: "none/on"},
		{cli: "grok", ro: "--sandbox read-only", rs: "--permission-mode dontAsk", ww: "--sandbox workspace", def: "full/on"},
		{cli: "pi", ro: "--tools read,grep,find,ls", rs: none, ww: none, def: "none/n/a"},
		{cli: "agy", ro: none, rs: "", ww: none, def: "none/on"},
		{cli: "dsh", ro: "DSH_PERMISSION_MODE=read-only", rs: none, ww: "DSH_PERMISSION_MODE=workspace-write", def: "workspace-write/on"},
		{cli: "gemini", ro: "--approval-mode plan", rs: "--approval-mode default", ww: "--sandbox", unverified: true, def: "none/on"},
		{cli: "kiro-cli", ro: "--trust-tools=fs_read", rs: "--trust-tools=", ww: none, unverified: true, def: "none/on"},
		{cli: "cursor-agent", ro: "--mode ask", rs: "", ww: "--sandbox enabled", unverified: true, def: "none/on"},
		{cli: "agent", ro: "--mode ask", rs: "", ww: "--sandbox enabled", unverified: true, def: "none/on"},
	}
	for _, name := range []string{"kiro-cli", "cursor-agent", "agent", "qwen", "kimi", "cline", "aider", "crush", "hermes", "amp", "mystery"} {
		rows = append(rows, row{cli: name, ro: none, rs: none, ww: none, def: "none/on"})
	}
	w := newWorld(t)
	for _, r := range rows {
		for m, want := range map[mode.Mode]string{mode.ReadOnly: r.ro, mode.Restricted: r.rs, mode.WorkspaceWrite: r.ww, mode.Full: "", mode.None: ""} {
			p, err := Prepare(w.Process, Request{Name: r.cli, Args: []string{"hi"}, Sandbox: SandboxRequest{Mode: m, AllowUnverified: r.unverified}})
			if want == none {
				if refusal(err) != "E-UNSUPPORTED" {
					t.Errorf("%s %v: %v, want E-UNSUPPORTED", r.cli, m, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s %v: %v", r.cli, m, err)
				continue
			}
			words := p.Argv[1 : len(p.Argv)-1]
			for _, name := range []string{"DSH_PERMISSION_MODE", "OPENCODE_CONFIG_CONTENT", "OPENCODE_PERMISSION"} {
				if v, ok := lookupSet(p.Environment.Vars, name); ok {
					words = append(slices.Clone(words), name+"="+v)
				}
			}
			if got := strings.Join(words, " "); got != want {
				t.Errorf("%s %v injects %q, want %q", r.cli, m, got, want)
			}
			got := p.report.Native + "/" + p.report.Approvals
			_, approvals, _ := strings.Cut(r.def, "/")
			wantPair := m.String() + "/" + approvals
			if m.Rank() == 0 {
				wantPair = r.def
			}
			if got != wantPair || p.report.Applied != m {
				t.Errorf("%s %v reports %s, applied %v; want %s", r.cli, m, got, p.report.Applied, wantPair)
			}
			if (m.Rank() == 0 || r.unverified && r.ww != none && m == mode.WorkspaceWrite) && p.report.Basis != "assumed" {
				t.Errorf("%s %v: basis %s, want assumed", r.cli, m, p.report.Basis)
			}
		}
	}
}

func TestBasis(t *testing.T) {
	w := newWorld(t)
	for key, want := range map[string]string{
		"claude read-only": "documented", "claude restricted": "documented", "codex read-only": "observed", "codex workspace-write": "observed",
		"copilot read-only": "observed", "copilot restricted": "help", "copilot workspace-write": "observed", "opencode read-only": "observed",
		"opencode restricted": "reported", "gemini read-only": "help", "gemini restricted": "help", "grok read-only": "help", "pi read-only": "reported",
		"agy restricted": "reported", "dsh read-only": "reported",
	} {
		name, m, _ := strings.Cut(key, " ")
		wanted, _ := mode.Parse(m)
		p, err := Prepare(w.Process, Request{Name: name, Sandbox: SandboxRequest{Mode: wanted}})
		if err != nil || p.report.Basis != want {
			t.Errorf("%s: basis %q, %v; want %q", key, p.report.Basis, err, want)
		}
	}
}

// What contradicts a mode is refused; what is as strict or stricter stays.
func TestArguments(t *testing.T) {
	const ro, rs, ww = "read-only", "restricted", "workspace-write"
	sandboxed := `{"sandbox":{"enabled":true,"failIfUnavailable":true,"allowUnsandboxedCommands":false}}`
	tests := []struct {
		cli, mode, args string
		conflict        string // the argument that the refusal names
		want            string // the final arguments
		applied         string // if another mode than asked for
		unverified      bool
	}{
		{cli: "claude", mode: ro, args: "--dangerously-skip-permissions", conflict: "--dangerously-skip-permissions"},
		{cli: "claude", mode: rs, args: "--allow-dangerously-skip-permissions", conflict: "--allow-dangerously-skip-permissions"},
		{cli: "claude", mode: ww, args: "-p x --permission-mode bypassPermissions", conflict: "--permission-mode bypassPermissions"},
		{cli: "claude", mode: ww, args: "--permission-mode=auto", conflict: "--permission-mode auto"},
		{cli: "claude", mode: rs, args: "--permission-mode acceptEdits", conflict: "--permission-mode acceptEdits"},
		{cli: "claude", mode: ro, args: "--permission-mode acceptEdits", conflict: "--permission-mode acceptEdits"},
		{cli: "claude", mode: ww, args: "--permission-mode acceptEdits", want: "--settings " + sandboxed + " --permission-mode acceptEdits"},
		{cli: "claude", mode: ww, args: "-p x", want: "--settings " + sandboxed + " --permission-mode acceptEdits -p x"},
		{cli: "claude", mode: ww, args: "-cp x", want: "--settings " + sandboxed + " --permission-mode acceptEdits -cp x"},
		{cli: "claude", mode: ww, args: "-p x --permission-mode plan", want: "--settings " + sandboxed + " -p x --permission-mode plan"},
		{cli: "claude", mode: ww, args: "-- -p", want: "--settings " + sandboxed + " -- -p"},
		{cli: "claude", mode: rs, args: "--permission-mode plan", want: "--permission-mode plan"},
		{cli: "claude", mode: rs, args: "--permission-mode dontAsk", want: "--permission-mode dontAsk"},
		{cli: "claude", mode: ro, args: "--permission-mode plan", want: "--disallowedTools=Bash,PowerShell,Monitor,Edit,Write,NotebookEdit,mcp__* --permission-mode plan"},
		{cli: "claude", mode: ro, args: "--allowedTools Read Bash(ls)", conflict: "--allowedTools Bash(ls)"},
		{cli: "claude", mode: ro, args: "--allowed-tools=Read,Edit", conflict: "--allowed-tools Edit"},
		{cli: "claude", mode: ro, args: "--allowedTools *", conflict: "--allowedTools *"},
		{cli: "claude", mode: ro, args: "--allowedTools mcp__srv__tool", conflict: "--allowedTools mcp__srv__tool"},
		{cli: "claude", mode: ro, args: "--allowedTools Read,Grep --disallowedTools WebFetch", want: "--disallowedTools=Bash,PowerShell,Monitor,Edit,Write,NotebookEdit,mcp__* --allowedTools Read,Grep --disallowedTools WebFetch"},
		{cli: "claude", mode: rs, args: "--allowedTools Bash", want: "--permission-mode dontAsk --allowedTools Bash"},
		{cli: "claude", mode: ww, args: "-- --dangerously-skip-permissions", want: "--settings " + sandboxed + " -- --dangerously-skip-permissions"},
		{cli: "claude", mode: ww, args: `--settings {"sandbox":{"enabled":false,"network":{}},"model":"x"} hi`, want: `--settings {"sandbox":{"enabled":true,"network":{},"failIfUnavailable":true,"allowUnsandboxedCommands":false},"model":"x"} hi`},
		{cli: "claude", mode: ww, args: "--settings model.json", want: `--settings {"model":"x","sandbox":{"enabled":true,"failIfUnavailable":true,"allowUnsandboxedCommands":false}}`},
		{cli: "claude", mode: ww, args: "--settings sandbox.json", conflict: "--settings sandbox.json"},
		{cli: "claude", mode: ww, args: "--settings nope.json", conflict: "--settings nope.json"},
		{cli: "claude", mode: ww, args: `--settings {"sandbox":1}`, conflict: "--settings JSON"},

		{cli: "codex", mode: ro, args: "exec hi", want: "exec --sandbox read-only hi"},
		{cli: "codex", mode: ww, args: "e hi", want: "e --sandbox workspace-write hi"},
		{cli: "codex", mode: ww, args: "resume --last", want: "resume --sandbox workspace-write --last"},
		{cli: "codex", mode: ww, args: "review", want: `review -c sandbox_mode="workspace-write"`},
		{cli: "codex", mode: ww, args: "fork", want: "fork --sandbox workspace-write"},
		{cli: "codex", mode: ww, args: "-m x exec", want: "--sandbox workspace-write -m x exec"},
		{cli: "codex", mode: ww, args: "exec -- --yolo", want: "exec --sandbox workspace-write -- --yolo"},
		{cli: "codex", mode: ww, args: "--yolo", conflict: "--yolo"},
		{cli: "codex", mode: ro, args: "exec --dangerously-bypass-approvals-and-sandbox", conflict: "--dangerously-bypass-approvals-and-sandbox"},
		{cli: "codex", mode: ro, args: "-s workspace-write", conflict: "-s workspace-write"},
		{cli: "codex", mode: ro, args: "--sandbox=danger-full-access", conflict: "--sandbox danger-full-access"},
		{cli: "codex", mode: ww, args: "-sdanger-full-access", conflict: "-s danger-full-access"},
		{cli: "codex", mode: ww, args: "-s read-only", want: "-s read-only", applied: ro},
		{cli: "codex", mode: ww, args: "exec --sandbox workspace-write", want: "exec --sandbox workspace-write"},
		{cli: "codex", mode: ro, args: "-c sandbox_mode=\"danger-full-access\"", conflict: "-c sandbox_mode"},
		{cli: "codex", mode: ww, args: "--config=default_permissions=\":danger-full-access\"", conflict: "--config default_permissions"},
		{cli: "codex", mode: ww, args: "-c permissions.x.extends=\":workspace\"", conflict: "-c permissions.x"},
		{cli: "codex", mode: ww, args: "-c sandbox_workspace_write.writable_roots=[\"/\"]", conflict: "-c sandbox_workspace_write"},
		{cli: "codex", mode: ww, args: "-c model=\"o\"", want: "--sandbox workspace-write -c model=\"o\""},
		{cli: "codex", mode: ro, args: "--add-dir /x", conflict: "--add-dir"},
		{cli: "codex", mode: ww, args: "--add-dir /x", want: "--sandbox workspace-write --add-dir /x"},
		{cli: "codex", mode: ro, args: "exec --approve-for-me", conflict: "--approve-for-me"},

		{cli: "copilot", mode: rs, args: "--allow-all", conflict: "--allow-all"},
		{cli: "copilot", mode: ro, args: "--yolo", conflict: "--yolo"},
		{cli: "copilot", mode: ww, args: "--allow-all-tools", conflict: "--allow-all-tools"},
		{cli: "copilot", mode: ww, args: "--allow-all-paths", conflict: "--allow-all-paths"},
		{cli: "copilot", mode: rs, args: "--allow-all-paths", want: "--allow-all-paths"},
		{cli: "copilot", mode: ww, args: "--autopilot", conflict: "--autopilot"},
		{cli: "copilot", mode: rs, args: "--mode autopilot", conflict: "--mode autopilot"},
		{cli: "copilot", mode: rs, args: "--allow-tool shell(git:*)", conflict: "--allow-tool shell(git:*)"},
		{cli: "copilot", mode: rs, args: "--allow-tool=url(x),write", conflict: "--allow-tool write"},
		{cli: "copilot", mode: rs, args: "--allow-tool url(x) --plan", want: "--allow-tool url(x) --plan"},
		{cli: "copilot", mode: ro, args: "--available-tools=bash", conflict: "--available-tools bash"},
		{cli: "copilot", mode: ro, args: "--deny-tool=write", want: "--available-tools=view,grep,glob --deny-tool=shell --deny-tool=write"},

		{cli: "opencode", mode: rs, args: "run --auto hi", conflict: "--auto"},
		{cli: "opencode", mode: ro, args: "run hi", want: "run --agent build hi"},
		{cli: "opencode", mode: ro, args: "run --agent build hi", want: "run --agent build hi"},
		{cli: "opencode", mode: ro, args: "run --agent plan hi", conflict: "--agent plan"},
		{cli: "opencode", mode: ro, args: "--agent=mine", conflict: "--agent mine"},
		{cli: "opencode", mode: rs, args: "--agent plan", want: "--agent plan"},
		{cli: "opencode", mode: ro, args: "serve", conflict: "opencode serve"},
		{cli: "opencode", mode: ro, args: "models", want: "models"},

		{cli: "gemini", mode: ro, args: "-y", conflict: "-y"},
		{cli: "gemini", mode: rs, args: "--yolo", conflict: "--yolo"},
		{cli: "gemini", mode: rs, args: "-dy", conflict: "-y"},
		{cli: "gemini", mode: rs, args: "--approval-mode yolo", conflict: "--approval-mode yolo"},
		{cli: "gemini", mode: rs, args: "--approvalMode=auto_edit", conflict: "--approvalMode auto_edit"},
		{cli: "gemini", mode: ro, args: "--approval-mode default", conflict: "--approval-mode default"},
		{cli: "gemini", mode: ro, args: "--approval-mode plan", want: "--approval-mode plan"},
		{cli: "gemini", mode: rs, args: "--approval-mode plan", want: "--approval-mode plan", applied: ro},
		{cli: "gemini", mode: rs, args: "--allowed-tools x", conflict: "--allowed-tools"},
		{cli: "gemini", mode: ro, args: "--skip-trust", conflict: "--skip-trust"},
		{cli: "gemini", mode: ro, args: "--policy p", conflict: "--policy"},
		{cli: "gemini", mode: ro, args: "--admin-policy p", conflict: "--admin-policy"},
		{cli: "gemini", mode: ro, args: "--yolo=false", want: "--approval-mode plan --yolo=false"},
		{cli: "gemini", mode: ww, args: "-s", want: "-s", unverified: true},

		{cli: "grok", mode: rs, args: "--always-approve", conflict: "--always-approve"},
		{cli: "grok", mode: ro, args: "--permission-mode acceptEdits", conflict: "--permission-mode acceptEdits"},
		{cli: "grok", mode: ww, args: "--sandbox off", conflict: "--sandbox off"},
		{cli: "grok", mode: ww, args: "--sandbox devbox", conflict: "--sandbox devbox"},
		{cli: "grok", mode: ww, args: "--sandbox strict", want: "--sandbox strict"},
		{cli: "grok", mode: ww, args: "--sandbox=read-only", want: "--sandbox=read-only", applied: ro},
		{cli: "grok", mode: ro, args: "--sandbox strict", conflict: "--sandbox strict"},
		{cli: "grok", mode: ro, args: "--sandbox workspace", conflict: "--sandbox workspace"},

		{cli: "agy", mode: rs, args: "--dangerously-skip-permissions", conflict: "--dangerously-skip-permissions"},
		{cli: "pi", mode: ro, args: "--tools read,bash", conflict: "--tools bash"},
		{cli: "kiro-cli", mode: ro, args: "--trust-all-tools", conflict: "--trust-all-tools", unverified: true},
		{cli: "cursor-agent", mode: ww, args: "--sandbox disabled", conflict: "--sandbox disabled", unverified: true},
		{cli: "cursor-agent", mode: ro, args: "-f", conflict: "-f", unverified: true},
		{cli: "cursor-agent", mode: ro, args: "--mode plan", want: "--mode plan", unverified: true},
	}
	w := newWorld(t)
	w.write(t, "model.json", `{"model":"x"}`)
	w.write(t, "sandbox.json", `{"sandbox":{"enabled":true}}`)
	for _, tt := range tests {
		t.Run(tt.cli+" "+tt.mode+" "+tt.args, func(t *testing.T) {
			if tt.cli == "claude" && tt.mode == ww && runtime.GOOS != "linux" {
				t.Skip("the prerequisites are other ones")
			}
			m, _ := mode.Parse(tt.mode)
			p, err := Prepare(w.Process, Request{Name: tt.cli, Args: strings.Fields(tt.args), Sandbox: SandboxRequest{Mode: m, AllowUnverified: tt.unverified}})
			if tt.conflict != "" {
				if refusal(err) != "E-CONFLICT" || !strings.Contains(err.Error(), tt.conflict) || !strings.Contains(err.Error(), tt.mode) {
					t.Errorf("%v, want E-CONFLICT that names %q and the mode", err, tt.conflict)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(p.Argv[1:], " "); got != tt.want {
				t.Errorf("arguments %s\nwant      %s", got, tt.want)
			}
			want := tt.applied
			if want == "" {
				want = tt.mode
			}
			if p.report.Applied.String() != want || p.report.Native != want {
				t.Errorf("applied %v, reports %s; want %s", p.report.Applied, p.report.Native, want)
			}
			// Putting the mode on again changes nothing.
			again, err := Prepare(w.Process, Request{Name: tt.cli, Args: p.Argv[1:], Sandbox: SandboxRequest{Mode: m, AllowUnverified: tt.unverified}})
			if err != nil {
				t.Fatalf("a second time: %v", err)
			}
			if !slices.Equal(again.Argv, p.Argv) {
				t.Errorf("a second time: %q, want %q", again.Argv, p.Argv)
			}
		})
	}
}

// Without a mode nothing is refused, and the report follows the arguments.
func TestReportOfOwnChoice(t *testing.T) {
	tests := []struct{ cli, args, environ, want string }{
		{"codex", "", "", "workspace-write/on"},
		{"codex", "--yolo", "", "full/off"},
		{"codex", "exec -s danger-full-access", "", "full/on"},
		{"codex", "-c sandbox_mode=\"danger-full-access\"", "", "full/on"},
		{"codex", "-c default_permissions=\":danger-full-access\"", "", "full/on"},
		{"claude", "--dangerously-skip-permissions", "", "none/off"},
		{"claude", "--permission-mode bypassPermissions", "", "none/off"},
		{"claude", "-- --dangerously-skip-permissions", "", "none/on"},
		{"copilot", "--allow-all", "", "none/off"},
		{"copilot", "--yolo", "", "none/off"},
		{"copilot", "", "COPILOT_ALLOW_ALL=true", "none/off"},
		{"opencode", "run --auto", "", "none/off"},
		{"gemini", "-y", "", "none/off"},
		{"gemini", "--approval-mode yolo", "", "none/off"},
		{"grok", "", "", "full/on"},
		{"grok", "--always-approve", "", "full/off"},
		{"grok", "--sandbox workspace", "", "workspace-write/on"},
		{"grok", "--sandbox read-only", "", "read-only/on"},
		{"pi", "", "", "none/n/a"},
		{"dsh", "", "", "workspace-write/on"},
		{"mystery", "--yolo", "", "none/on"},
	}
	for _, tt := range tests {
		for _, m := range []mode.Mode{mode.None, mode.Full} {
			w := newWorld(t)
			if name, _, ok := strings.Cut(tt.environ, "="); ok {
				w.Environ = append(w.Environ, tt.environ, "AGENT_ISO_ALLOW="+name)
			}
			p, err := Prepare(w.Process, Request{Name: tt.cli, Args: strings.Fields(tt.args), Sandbox: SandboxRequest{Mode: m}})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.report.Native + "/" + p.report.Approvals; got != tt.want || p.report.Basis != "assumed" {
				t.Errorf("%s %s %s with %v reports %s (%s), want %s (assumed)", tt.environ, tt.cli, tt.args, m, got, p.report.Basis, tt.want)
			}
			if got := strings.Join(p.Argv[1:], " "); got != tt.args {
				t.Errorf("%s %s: arguments %q", tt.cli, tt.args, got)
			}
		}
	}
}

func TestVariables(t *testing.T) {
	tests := []struct {
		about, cli, mode, environ string
		set, unset, applied, id   string
		unverified                bool
	}{
		{about: "a variable of the same effect goes", cli: "copilot", mode: "restricted", environ: "COPILOT_ALLOW_ALL=true", unset: "COPILOT_ALLOW_ALL"},
		{about: "also grok's", cli: "grok", mode: "read-only", environ: "GROK_SANDBOX=off", unset: "GROK_SANDBOX"},
		{about: "where nothing of the kind is injected it stays", cli: "grok", mode: "restricted", environ: "GROK_SANDBOX=workspace"},
		{about: "gemini's", cli: "gemini", mode: "workspace-write", environ: "GEMINI_SANDBOX=false", unset: "GEMINI_SANDBOX", unverified: true},
		{about: "dsh's is replaced", cli: "dsh", mode: "read-only", environ: "DSH_PERMISSION_MODE=full", set: "DSH_PERMISSION_MODE=read-only"},
		{about: "unless it is stricter", cli: "dsh", mode: "workspace-write", environ: "DSH_PERMISSION_MODE=read-only", set: "DSH_PERMISSION_MODE=read-only", applied: "read-only"},
		{about: "opencode's content is merged into", cli: "opencode", mode: "read-only", environ: `OPENCODE_CONFIG_CONTENT={"model":"x","agent":{"build":{"prompt":"p","permission":{"bash":"allow"}},"b":{}}}`,
			set: `OPENCODE_CONFIG_CONTENT={"model":"x","agent":{"build":{"prompt":"p","permission":` + openCodeP(t) + `},"b":{}}} OPENCODE_PERMISSION=` + openCodeP(t)},
		{about: "or refused", cli: "opencode", mode: "read-only", environ: `OPENCODE_CONFIG_CONTENT={broken`, id: "E-CONFLICT"},
		{about: "a denial that ask would replace", cli: "opencode", mode: "restricted", environ: `OPENCODE_PERMISSION={"bash":"deny"}`, id: "E-OPENCODE-LOOSENS"},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			w := newWorld(t)
			name, _, _ := strings.Cut(tt.environ, "=")
			w.Environ = append(w.Environ, tt.environ, "AGENT_ISO_ALLOW="+name)
			m, _ := mode.Parse(tt.mode)
			p, err := Prepare(w.Process, Request{Name: tt.cli, Sandbox: SandboxRequest{Mode: m, AllowUnverified: tt.unverified}})
			if tt.id != "" {
				if refusal(err) != tt.id || !strings.Contains(err.Error(), name) {
					t.Errorf("%v, want %s that names %s", err, tt.id, name)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var set []string
			for k, v := range p.report.Injected.Set {
				set = append(set, k+"="+v)
				if got := lookup(p.Environment.Vars, k); got != v {
					t.Errorf("the child gets %s=%s, the report says %s", k, got, v)
				}
			}
			slices.Sort(set)
			if got := strings.Join(set, " "); got != tt.set {
				t.Errorf("sets %s\nwant %s", got, tt.set)
			}
			if got := strings.Join(p.report.Injected.Unset, " "); got != tt.unset {
				t.Errorf("unsets %q, want %q", got, tt.unset)
			}
			if _, ok := lookupSet(p.Environment.Vars, tt.unset); ok {
				t.Errorf("the child still gets %s", tt.unset)
			}
			if tt.applied != "" && p.report.Applied.String() != tt.applied {
				t.Errorf("applied %v, want %s", p.report.Applied, tt.applied)
			}
		})
	}
}

func openCodeP(t *testing.T) string {
	return findCLI(builtin(), "opencode").Modes["read-only"].Set["OPENCODE_PERMISSION"]
}

func TestOpenCodeLoosens(t *testing.T) {
	tests := []struct {
		about, file, text string
		refused           bool
	}{
		{"nothing configured", "x", "", false},
		{"a key that is denied", "~/.config/opencode/opencode.json", `{"permission":{"bash":"deny"}}`, true},
		{"a pattern that is denied", "~/.config/opencode/opencode.json", `{"permission":{"bash":{"*":"allow","rm *":"deny"}}}`, true},
		{"everything", "opencode.json", `{"permission":"deny"}`, true},
		{"everything by a wildcard", "opencode.jsonc", "{\n// no\n\"permission\": {\"*\": \"deny\",},\n}", true},
		{"a tool that is off", ".opencode/opencode.json", `{"tools":{"bash":false}}`, true},
		{"another key", "opencode.json", `{"permission":{"webfetch":"deny","bash":"allow"}}`, false},
		{"a word that is no denial", "opencode.json", `{"permission":{"bash":{"deny":"ask"}}}`, false},
		{"a file that cannot be understood", "opencode.json", `{"permission":`, true},
	}
	for _, tt := range tests {
		w := newWorld(t)
		w.write(t, tt.file, tt.text)
		_, err := Prepare(w.Process, Request{Name: "opencode", Sandbox: SandboxRequest{Mode: mode.Restricted}})
		if (refusal(err) == openCodeLoosens) != tt.refused || !tt.refused && err != nil {
			t.Errorf("%s: %v, want a refusal: %v", tt.about, err, tt.refused)
		}
	}
}

func TestOpenCodeWidened(t *testing.T) {
	deny := `{"permission":"*","pattern":"*","action":"deny"}`
	tests := []struct{ about, rules, want string }{
		{"as it should be", `{"permission":"*","action":"allow","pattern":"*"},` + deny + `,{"permission":"read","action":"allow","pattern":"*"},{"permission":"bash","action":"deny","pattern":"*"}`, ""},
		{"a tool of the person's own", deny + `,{"permission":"mine","action":"allow","pattern":"*"}`, "mine *: allow"},
		{"a pattern", deny + `,{"permission":"bash","action":"allow","pattern":"echo *"}`, "bash echo *: allow"},
		{"a person could say yes", deny + `,{"permission":"bash","action":"ask","pattern":"*"}`, "bash *: ask"},
		{"denied later", deny + `,{"permission":"bash","action":"allow","pattern":"*"},{"permission":"bash","action":"deny","pattern":"*"}`, ""},
		{"before the denial", `{"permission":"bash","action":"allow","pattern":"*"},` + deny, ""},
		{"opencode's own folder", deny + `,{"permission":"external_directory","action":"allow","pattern":"/home/x/.local/share/opencode/tool-output/*"}`, ""},
		{"no denial", `{"permission":"read","action":"allow","pattern":"*"}`, "no rule that denies what is not named"},
	}
	for _, tt := range tests {
		if got := widened([]byte(`warning: x` + "\n" + `{"name":"build","permission":[` + tt.rules + `]}`)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.about, got, tt.want)
		}
	}
	for _, answer := range []string{"", "opencode 1.0", `{"x":1}`, "{"} {
		if got := widened([]byte(answer)); got != "" {
			t.Errorf("an answer of another kind, %q: %q", answer, got)
		}
	}

	w := newWorld(t)
	w.write(t, w.bin+"/opencode", `#!/bin/sh
test "$1" = debug && echo '{"permission":[{"permission":"*","pattern":"*","action":"deny"},{"permission":"mine","pattern":"*","action":"allow"}]}'
`)
	req := Request{Name: "opencode", Sandbox: SandboxRequest{Mode: mode.ReadOnly, Probe: true}}
	if _, err := Prepare(w.Process, req); refusal(err) != openCodeWidened || !strings.Contains(err.Error(), "mine") {
		t.Errorf("a program that answers: %v, want %s", err, openCodeWidened)
	}
	w.write(t, w.bin+"/opencode", "#!/bin/sh\nexit 1\n")
	p, err := Prepare(w.Process, req)
	if err != nil || !slices.ContainsFunc(p.notes, func(n note) bool { return strings.Contains(n.text, "not checked") }) {
		t.Errorf("a program that does not answer: %v %v", p, err)
	}
	req.Sandbox.Probe = false
	if _, err := Prepare(w.Process, req); err != nil {
		t.Errorf("without asking: %v", err)
	}
}

func TestCodexConfiguration(t *testing.T) {
	const custom = "default_permissions = \"work\"\n[permissions.work]\nextends = \":workspace\"\n[permissions.work.filesystem]\n\"/secret\" = \"deny\"\n"
	const user = "~/.codex/config.toml"
	type files map[string]string
	tests := []struct {
		about, mode, args string
		files             files
		want              string // arguments
		id                string
		names             string // what the refusal names
		applied           string
		caveat            string
	}{
		{about: "nothing configured", mode: "read-only", want: "--sandbox read-only"},
		{about: "the older system", mode: "read-only", files: files{user: `sandbox_mode = "danger-full-access"`}, want: "--sandbox read-only"},
		{about: "a built-in profile", mode: "read-only", files: files{user: `default_permissions = ":workspace"`}, want: `-c default_permissions=":read-only"`},
		{about: "a built-in profile", mode: "workspace-write", files: files{user: `default_permissions = ":danger-full-access"`}, want: `-c default_permissions=":workspace"`},
		{about: "a profile keeps what it denies", mode: "read-only", files: files{user: custom}, want: `-c default_permissions="work" -c permissions.work.extends=":read-only"`},
		{about: "behind exec", mode: "read-only", args: "exec hi", files: files{user: custom}, want: `exec -c default_permissions="work" -c permissions.work.extends=":read-only" hi`},
		{about: "a profile for workspace-write", mode: "workspace-write", files: files{user: custom}, want: `-c default_permissions="work"`},
		{about: "a profile that writes the workspace", mode: "workspace-write", files: files{user: custom + "\":workspace_roots\" = \"write\"\n\":tmpdir\" = \"write\"\n\":slash_tmp\" = \"write\"\n"}, want: `-c default_permissions="work"`},
		{about: "a profile that writes elsewhere", mode: "workspace-write", files: files{user: custom + "\"/opt\" = \"write\"\n"}, id: codexProfile, names: "/opt"},
		{about: "a profile that writes above the workspace", mode: "workspace-write", files: files{user: custom + "[permissions.work.filesystem.\":workspace_roots\"]\n\"../x\" = \"write\"\n"}, id: codexProfile, names: "../x"},
		{about: "a profile that writes, for read-only", mode: "read-only", files: files{user: custom + "\":tmpdir\" = \"write\"\n"}, id: codexProfile, names: ":tmpdir"},
		{about: "all of it", mode: "read-only", files: files{user: "default_permissions='work'\n[permissions.work]\nfilesystem = 'write'\n"}, id: codexProfile, names: "filesystem"},
		{about: "a read-only profile", mode: "workspace-write", files: files{user: "default_permissions='work'\n[permissions.work]\nextends=':read-only'\n"}, want: `-c default_permissions="work"`, applied: "read-only"},
		{about: "a read-only profile that writes the workspace", mode: "workspace-write", files: files{user: "default_permissions='work'\n[permissions.work]\nextends=':read-only'\nfilesystem={':workspace_roots'='write'}\n"}, want: `-c default_permissions="work"`},
		{about: "a profile without a base", mode: "workspace-write", files: files{user: "default_permissions='work'\n[permissions.work]\n"}, id: codexProfile, names: "extends nothing"},
		{about: "a profile with full access", mode: "workspace-write", files: files{user: "default_permissions='work'\n[permissions.work]\nextends=':danger-full-access'\n"}, id: codexProfile, names: ":danger-full-access"},
		{about: "a chain keeps what all of it denies", mode: "read-only", files: files{user: custom + "[permissions.base]\nextends=':workspace'\n[permissions.top]\nextends='base'\n[x]\n", "~/.codex/top.config.toml": "default_permissions='top'"}, args: "-p top",
			want: `-c default_permissions="top" -c permissions.base.extends=":read-only" -p top`},
		{about: "a chain that writes below", mode: "workspace-write", files: files{user: "default_permissions='top'\n[permissions.top]\nextends='base'\n[permissions.base]\nextends=':workspace'\nfilesystem={'/opt'='write'}\n"}, id: codexProfile, names: "permissions.base"},
		{about: "a circle", mode: "read-only", files: files{user: "default_permissions='a'\n[permissions.a]\nextends='b'\n[permissions.b]\nextends='a'\n"}, id: codexProfile, names: "circle"},
		{about: "a profile that is not there", mode: "read-only", files: files{user: "default_permissions='gone'\n"}, id: codexProfile, names: "[permissions.gone]"},
		{about: "a name that cannot be quoted", mode: "read-only", files: files{user: "default_permissions='a\"b'\n[permissions.'a\"b']\n"}, id: codexProfile, names: `a\"b`},
		{about: "a name that is none", mode: "read-only", files: files{user: "default_permissions=1\n"}, id: codexProfile, names: "default_permissions"},
		{about: "a broken file", mode: "read-only", files: files{user: "x = \n"}, id: codexProfile, names: "config.toml"},
		{about: "a flag would drop the profile", mode: "workspace-write", args: "-s read-only", files: files{user: custom}, id: "E-CONFLICT", names: "profile work"},
		{about: "an open network", mode: "read-only", files: files{user: custom + "[permissions.work.network]\nenabled=true\n"}, want: `-c default_permissions="work" -c permissions.work.extends=":read-only"`, caveat: "network-unfiltered"},
		{about: "a filtered network", mode: "read-only", files: files{user: custom + "[permissions.work.network]\nenabled=true\n[features]\nnetwork_proxy=true\n"}, want: `-c default_permissions="work" -c permissions.work.extends=":read-only"`, caveat: "!network-unfiltered"},

		{about: "a project with the profile", mode: "read-only", files: files{user: custom, ".codex/config.toml": "[permissions.work]\n"}, id: codexProject, names: "[permissions.work]"},
		{about: "a project that writes", mode: "read-only", files: files{".codex/config.toml": "[permissions.x.filesystem]\n'/'='write'\n"}, id: codexProject, names: "permissions.x"},
		{about: "the same for workspace-write", mode: "workspace-write", files: files{".codex/config.toml": "[permissions.x.filesystem]\n'/'='write'\n"}, want: "--sandbox workspace-write", caveat: "project-profile"},
		{about: "more roots", mode: "workspace-write", files: files{".codex/config.toml": "[sandbox_workspace_write]\nwritable_roots=['/']\n"}, want: "--sandbox workspace-write", caveat: "project-profile"},
		{about: "a harmless project", mode: "read-only", files: files{".codex/config.toml": "model='x'\nsandbox_mode='danger-full-access'\n"}, want: "--sandbox read-only", caveat: "!project-profile"},
		{about: "a broken project", mode: "read-only", files: files{".codex/config.toml": "x"}, id: codexProject, names: ".codex/config.toml"},
		{about: "a hostile project", mode: "read-only", files: files{".codex/config.toml": "x=" + strings.Repeat("[", 200000)}, id: codexProject, names: ".codex/config.toml"},
		{about: "another directory", mode: "read-only", args: "-C other", files: files{"other/.codex/config.toml": "x"}, id: codexProject, names: "other/.codex"},

		{about: "an allow rule, interactive", mode: "read-only", files: files{"~/.codex/rules/a.rules": `prefix_rule(pattern=["git"])`}, id: codexRules, names: "a.rules"},
		{about: "an allow rule, exec", mode: "read-only", args: "exec hi", files: files{"~/.codex/rules/a.rules": `prefix_rule(pattern=["git"], decision="allow")`}, want: "exec --sandbox read-only --ignore-rules hi", caveat: "rules-ignored"},
		{about: "an allow rule, review", mode: "read-only", args: "review", files: files{".codex/rules/a.rules": `prefix_rule(pattern=["git"])`}, id: codexRules, names: "a.rules"},
		{about: "an allow rule, workspace-write", mode: "workspace-write", files: files{".codex/rules/a.rules": `prefix_rule(pattern=["git"])`}, want: "--sandbox workspace-write", caveat: "rules-allow-escape"},
		{about: "other rules", mode: "read-only", files: files{"~/.codex/rules/a.rules": "# prefix_rule(pattern=['x'])\nprefix_rule(pattern = ['git'], decision = 'forbidden')\nprefix_rule(decision=\"prompt\", pattern=[\"a)\", \"decision\"])", "~/.codex/rules/readme.txt": "prefix_rule()"}, want: "--sandbox read-only", caveat: "!rules-ignored"},
		{about: "a decision that is computed", mode: "read-only", files: files{".codex/rules/a.rules": `prefix_rule(pattern=["git"], decision="forbidden" if False else "allow")`}, id: codexRules, names: "a.rules"},
		{about: "a rule by another name", mode: "read-only", files: files{".codex/rules/a.rules": "r = prefix_rule\nr(pattern=['git'])"}, id: codexRules, names: "a.rules"},
	}
	requirements := codexRequirements
	codexRequirements = filepath.Join(t.TempDir(), "requirements.toml")
	t.Cleanup(func() { codexRequirements = requirements })
	for _, tt := range tests {
		t.Run(tt.mode+", "+tt.about, func(t *testing.T) {
			w := newWorld(t)
			for name, text := range tt.files {
				w.write(t, name, text)
			}
			m, _ := mode.Parse(tt.mode)
			p, err := Prepare(w.Process, Request{Name: "codex", Args: strings.Fields(tt.args), Sandbox: SandboxRequest{Mode: m}})
			if tt.id != "" {
				if refusal(err) != tt.id || !strings.Contains(err.Error(), tt.names) {
					t.Errorf("%v, want %s that names %s", err, tt.id, tt.names)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(p.Argv[1:], " "); got != tt.want {
				t.Errorf("arguments %s\nwant      %s", got, tt.want)
			}
			if tt.applied != "" && p.report.Applied.String() != tt.applied {
				t.Errorf("applied %v, want %s", p.report.Applied, tt.applied)
			}
			caveat, absent := strings.CutPrefix(tt.caveat, "!")
			if caveat != "" && slices.Contains(p.report.Caveats, caveat) == absent {
				t.Errorf("caveats %q, want %s", p.report.Caveats, tt.caveat)
			}
		})
	}

	if err := os.WriteFile(codexRequirements, []byte("allowed_permission_profiles = ['x']\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	if _, err := Prepare(w.Process, Request{Name: "codex", Sandbox: SandboxRequest{Mode: mode.ReadOnly}}); refusal(err) != codexProfile || !strings.Contains(err.Error(), "allowed_permission_profiles") {
		t.Errorf("an administrator's list: %v", err)
	}
	if _, err := Prepare(w.Process, Request{Name: "codex", Sandbox: SandboxRequest{Mode: mode.Full}}); err != nil {
		t.Errorf("full with an administrator's list: %v", err)
	}
}

func TestCodexHomeThatIsNotPassedOn(t *testing.T) {
	const custom = "default_permissions='work'\n[permissions.work]\nextends=':workspace'\n"
	w := newWorld(t)
	w.write(t, "~/cx/config.toml", custom)
	w.Environ = append(w.Environ, "CODEX_HOME="+w.home+"/cx")
	p, err := Prepare(w.Process, Request{Name: "codex", Sandbox: SandboxRequest{Mode: mode.WorkspaceWrite}})
	if err != nil || !slices.Contains(p.Argv, `default_permissions="work"`) {
		t.Fatalf("%v %v", p, err)
	}
	if !slices.ContainsFunc(p.notes, func(n note) bool {
		return n.kind == noteNotice && strings.Contains(n.text, "CODEX_HOME is not passed on")
	}) {
		t.Errorf("no notice of the dropped CODEX_HOME: %v", p.notes)
	}
	// The configuration that Codex will really read must not be left looser.
	w.write(t, "~/cx/config.toml", "")
	w.write(t, "~/.codex/config.toml", custom)
	if _, err := Prepare(w.Process, Request{Name: "codex", Sandbox: SandboxRequest{Mode: mode.WorkspaceWrite}}); refusal(err) != codexProfile || !strings.Contains(err.Error(), "AGENT_ISO_ALLOW=CODEX_HOME") {
		t.Errorf("a profile in the home that Codex will read: %v", err)
	}
	w.Environ = append(w.Environ, "AGENT_ISO_ALLOW=CODEX_HOME")
	if _, err := Prepare(w.Process, Request{Name: "codex", Sandbox: SandboxRequest{Mode: mode.WorkspaceWrite}}); err != nil {
		t.Errorf("passed on: %v", err)
	}
}

func TestFloorSources(t *testing.T) {
	tests := []struct {
		flag, env, file string
		ask             string
		want            string // mode, or an id
		source          string
	}{
		{file: "workspace-write", want: "workspace-write"},
		{env: "read-only", file: "workspace-write", want: "read-only"},
		{flag: "read-only", env: "workspace-write", want: "read-only"},
		{flag: "workspace-write", env: "read-only", ask: "workspace-write", want: "E-FLOOR", source: FloorVariable},
		{flag: "read-only", ask: "full", want: "E-FLOOR", source: "--sandbox-floor"},
		{file: "read-only", ask: "workspace-write", want: "E-FLOOR", source: ConfigName},
		{env: "tight", want: "E-USAGE", source: FloorVariable},
		{flag: "full", want: ""},
	}
	for _, tt := range tests {
		w := newWorld(t)
		if tt.file != "" {
			w.write(t, "~/.config/sallyport/iso.toml", "sandbox_floor = '"+tt.file+"'\n")
		}
		w.Environ = append(w.Environ, FloorVariable+"="+tt.env)
		req := Request{Name: "codex"}
		req.Sandbox.Floor, _ = mode.Parse(tt.flag)
		req.Sandbox.Mode, _ = mode.Parse(tt.ask)
		p, err := Prepare(w.Process, req)
		if strings.HasPrefix(tt.want, "E-") {
			if refusal(err) != tt.want || !strings.Contains(err.Error(), tt.source) {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		if err != nil || p.report.Applied.String() != tt.want {
			t.Errorf("%+v: %v %v", tt, p, err)
		}
	}
}

func TestPrerequisites(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the prerequisites are other ones")
	}
	for _, program := range []string{"bwrap", "socat"} {
		w := newWorld(t)
		if err := os.Remove(w.bin + "/" + program); err != nil {
			t.Fatal(err)
		}
		_, err := Prepare(w.Process, Request{Name: "claude", Sandbox: SandboxRequest{Mode: mode.WorkspaceWrite}})
		if refusal(err) != "E-PREREQ" || !strings.Contains(err.Error(), program) || !strings.Contains(err.Error(), "install") {
			t.Errorf("without %s: %v", program, err)
		}
		if _, err := Prepare(w.Process, Request{Name: "claude", Sandbox: SandboxRequest{Mode: mode.ReadOnly}}); err != nil {
			t.Errorf("read-only without %s: %v", program, err)
		}
	}
}

// Settings that the mode's own cannot override.
func TestClaudeSettingsThatLoosen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the prerequisites are other ones")
	}
	tests := []struct {
		about, user, args string
		names             string // what the refusal names
		caveat            string
	}{
		{about: "nothing"},
		{about: "a sandbox that is off", user: `{"sandbox":{"enabled":false,"allowUnsandboxedCommands":true}}`},
		{about: "no file system isolation", user: `{"sandbox":{"filesystem":{"disabled":true}}}`, names: "sandbox.filesystem.disabled"},
		{about: "in the arguments", args: `--settings {"sandbox":{"filesystem":{"disabled":true}}}`, names: "sandbox.filesystem.disabled"},
		{about: "no prompts", user: `{"permissions":{"defaultMode":"bypassPermissions"}}`, names: "bypassPermissions"},
		{about: "no prompts, with another mode", user: `{"permissions":{"defaultMode":"bypassPermissions"}}`, args: "--permission-mode plan"},
		{about: "no prompts, headless", user: `{"permissions":{"defaultMode":"bypassPermissions"}}`, args: "-p hi"},
		{about: "commands outside", user: `{"sandbox":{"excludedCommands":["docker *"]}}`, caveat: "excluded-commands"},
	}
	for _, tt := range tests {
		w := newWorld(t)
		if tt.user != "" {
			w.write(t, "~/.claude/settings.json", tt.user)
		}
		p, err := Prepare(w.Process, Request{Name: "claude", Args: strings.Fields(tt.args), Sandbox: SandboxRequest{Mode: mode.WorkspaceWrite}})
		if tt.names != "" {
			if refusal(err) != "E-CONFLICT" || !strings.Contains(err.Error(), tt.names) {
				t.Errorf("%s: %v, want E-CONFLICT that names %s", tt.about, err, tt.names)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.about, err)
			continue
		}
		if got := slices.Contains(p.report.Caveats, "excluded-commands"); got != (tt.caveat != "") {
			t.Errorf("%s: caveats %q", tt.about, p.report.Caveats)
		}
	}
}

func TestReportHasEveryKey(t *testing.T) {
	w := newWorld(t)
	p, err := Prepare(w.Process, Request{Name: "agy", Sandbox: SandboxRequest{Mode: mode.ReadOnly, Fallback: mode.Strictest, Probe: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.WriteReport(w.Process, "-"); err != nil {
		t.Fatal(err)
	}
	want := `{"schema":"agent-iso/sandbox/1","cli":"agy","path":"` + w.bin + `/agy","version":"999.0.0","requested":"read-only","fallback":"strictest","floor":null,` +
		`"applied":"restricted","native_sandbox":"restricted","approvals":"on","basis":"reported","loosened":true,` +
		`"notice":"LOOSER THAN REQUESTED: read-only is not available for agy; using restricted","injected":{"args":[],"set":{},"unset":[]},"caveats":["user-allow-rules-widen"]}` + "\n"
	if got := w.out.String(); got != want {
		t.Errorf("report %s\nwant   %s", got, want)
	}
	w.out.Reset()
	p, err = Prepare(w.Process, Request{Name: "mystery"})
	if err != nil {
		t.Fatal(err)
	}
	_ = p.WriteReport(w.Process, "-")
	var report map[string]any
	if err := json.Unmarshal(w.out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"version", "requested", "fallback", "floor", "applied", "notice"} {
		if v, ok := report[key]; !ok || v != nil {
			t.Errorf("%s is %v (there: %v), want null", key, v, ok)
		}
	}
	if report["loosened"] != false || report["native_sandbox"] != "none" || report["basis"] != "assumed" {
		t.Errorf("report of an unknown CLI: %v", report)
	}
	if err := p.WriteReport(w.Process, "no/such/dir/x"); err == nil {
		t.Error("a report that cannot be written is not an error")
	}
}

func TestRuntimesFile(t *testing.T) {
	tests := []struct{ text, err, cli, verified, unverified string }{
		{`{"clis":[{"cli":"mine","modes":{"read-only":{"level":"U","inject":[{"args":["--ro"]}]}}}]}`, "", "mine", "full", "read-only"},
		{`{"clis":[{"cli":"aider","modes":{"workspace-write":{"level":"U"}}}]}`, "", "aider", "full", "workspace-write"},
		{`{"clis":[{"cli":"copilot","modes":{"restricted":null}}]}`, "", "copilot", "read-only, workspace-write, full", ""},
		{`{"clis":[{"cli":"claude-code","modes":{"read-only":null}}]}`, "", "claude", "restricted, workspace-write, full", ""},
		{`{"clis":[{"cli":"claude","modes":{"read-only":{"level":"U"}}}]}`, "can be removed, not changed", "", "", ""},
		{`{"clis":[{"cli":"mine","modes":{"read-only":{"level":"R"}}}]}`, "only U can be added", "", "", ""},
		{`{"clis":[{"cli":"mine","modes":{"full":{"level":"U"}}}]}`, "full cannot be changed", "", "", ""},
		{`{"clis":[{"cli":"mine","modes":{"tight":{"level":"U"}}}]}`, "tight", "", "", ""},
		{`{"clis":[{}]}`, "without a cli name", "", "", ""},
		{`{"clis":[null]}`, "without a cli name", "", "", ""},
		{"{\n\"clis\": [}", "runtimes.json:2:", "", "", ""},
		{`{"clys":[]}`, `unknown field "clys"`, "", "", ""},
		{`{"clis":1}`, "runtimes.json:1:", "", "", ""},
		{`{} {}`, "more than one", "", "", ""},
		{strings.Repeat("[", 100000), "runtimes.json:1:", "", "", ""},
	}
	for _, tt := range tests {
		table, err := mergeRuntimes("/c/runtimes.json", []byte(tt.text))
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.HasPrefix(err.Error(), "/c/runtimes.json") || !strings.Contains(err.Error(), "; ") {
				t.Errorf("%.80s: %v, want %q, file and fix", tt.text, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		verified, unverified := findCLI(table, tt.cli).modes()
		if verified.String() != tt.verified || unverified.String() != tt.unverified {
			t.Errorf("%s: %v, unverified %v; want %s, unverified %s", tt.text, verified, unverified, tt.verified, tt.unverified)
		}
	}
	if len(findCLI(builtin(), "copilot").Modes) != 3 {
		t.Error("a person's file changed the built-in table")
	}
	w := newWorld(t)
	w.write(t, "~/.config/sallyport/runtimes.json", "{")
	_, err := Prepare(w.Process, Request{Name: "claude"})
	var exit *cli.ExitError
	if !errors.As(err, &exit) || exit.Code != cli.ExitUsage {
		t.Errorf("a broken file: %v, want exit 64", err)
	}
}

// The table is well-formed, and says of every CLI what is needed to judge it.
func TestBuiltinTable(t *testing.T) {
	caveats := []string{"excluded-commands", "hooks-and-mcp-run", "user-allow-rules-widen", "agent-permission-overrides", "hook-allow-overrides", "command-templates",
		"project-profile", "rules-ignored", "rules-allow-escape", "stdin-unseen", "temp-writable", "state-writable", "child-network-open", "prerelease-flag", "network-unfiltered"}
	var names []string
	for _, c := range builtin() {
		names = append(names, c.Name)
		if c.Default.Native == "" || c.Default.Approvals == "" || len(c.State) == 0 {
			t.Errorf("%s: no default or no state", c.Name)
		}
		for name, m := range c.Modes {
			if _, err := mode.Parse(name); err != nil || !strings.Contains("RHDTU", m.Level) || len(m.Level) != 1 {
				t.Errorf("%s %s: %v, level %q", c.Name, name, err, m.Level)
			}
			if m.Level == "R" && c.Checked == "" {
				t.Errorf("%s %s is said to be seen, and no version says with what", c.Name, name)
			}
			for _, caveat := range slices.Concat(m.Caveats, slices.Concat(m.PlatformCaveat["darwin"], m.PlatformCaveat["linux"])) {
				if !slices.Contains(caveats, caveat) {
					t.Errorf("%s %s: caveat %q is not in the vocabulary", c.Name, name, caveat)
				}
			}
			if name == "restricted" && !slices.Contains(m.Caveats, "user-allow-rules-widen") {
				t.Errorf("%s restricted without user-allow-rules-widen", c.Name)
			}
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("the table is not in order: %q", names)
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]string{
		"2.1.332 (Claude Code)": "2.1.332", "codex-cli 0.171.0\n": "0.171.0", "v1.2": "1.2", "GitHub Copilot CLI 1.0.102.\nRun": "1.0.102",
		"opencode version: 1.18.33-beta.1": "1.18.33-beta.1", "no version here": "", "": "", "see http://1.example": "",
	} {
		if got := findVersion(text); got != want {
			t.Errorf("findVersion(%q) = %q, want %q", text, got, want)
		}
	}
	for _, tt := range []struct {
		a, b string
		want bool
	}{{"1.2.3", "1.2.4", true}, {"1.2.4", "1.2.3", false}, {"1.10", "1.9", false}, {"1.2", "1.2.0", false}, {"0.171.0", "0.171.0", false}, {"2.1.9-beta", "2.1.10", true}} {
		if got := older(tt.a, tt.b); got != tt.want {
			t.Errorf("older(%s, %s) = %v", tt.a, tt.b, got)
		}
	}
}

func TestVersionNotice(t *testing.T) {
	w := newWorld(t)
	w.write(t, w.bin+"/codex", "#!/bin/sh\necho HOME=$HOME $TOKEN > "+w.work+"/seen\necho codex-cli 0.100.0\n")
	w.Environ = append(w.Environ, "AGENT_ISO_ALLOW=TOKEN", "TOKEN=x")
	p, err := Prepare(w.Process, Request{Name: "codex", Sandbox: SandboxRequest{Mode: mode.ReadOnly, Probe: true}})
	if err != nil || p.report.Version != "0.100.0" {
		t.Fatalf("%v %v", p, err)
	}
	if !slices.ContainsFunc(p.notes, func(n note) bool { return strings.Contains(n.text, "checked with 0.171.0, found 0.100.0") }) {
		t.Errorf("notes %v, want that an older version was found", p.notes)
	}
	seen, _ := os.ReadFile(w.work + "/seen")
	if strings.Contains(string(seen), "HOME="+w.home) || !strings.Contains(string(seen), "HOME=") {
		t.Errorf("asked with the person's own home:\n%s", seen)
	}
}

func TestScan(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"grok", "claude"} {
		if err := os.Remove(w.bin + "/" + name); err != nil {
			t.Fatal(err)
		}
	}
	w.write(t, w.bin+"/amp", "#!/bin/sh\necho ran > "+w.work+"/ran\n")
	if _, err := NewScan(w.Process, nil, true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(w.work + "/ran"); err == nil {
		t.Error("an offline scan ran a program")
	}
	scan, err := NewScan(w.Process, []string{"codex", "kiro", "grok", "amp"}, false)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := scan.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	want := `{"schema":"agent-iso/scan/1","platform":"` + runtime.GOOS + `","clis":[` +
		`{"cli":"amp","found":true,"path":"` + w.bin + `/amp","version":null,"checked_version":null,"sandbox_modes":["full"],"unverified_modes":[],"sandbox_mode_reports":{"full":{"native_sandbox":"none","approvals":"on","basis":"assumed"}},"missing_prerequisites":[],"notices":["it did not tell its version"]},` +
		`{"cli":"codex","found":true,"path":"` + w.bin + `/codex","version":"999.0.0","checked_version":"0.171.0","sandbox_modes":["read-only","workspace-write","full"],"unverified_modes":[],"sandbox_mode_reports":{"full":{"native_sandbox":"workspace-write","approvals":"on","basis":"assumed"},"read-only":{"native_sandbox":"read-only","approvals":"on","basis":"observed"},"workspace-write":{"native_sandbox":"workspace-write","approvals":"on","basis":"observed"}},"missing_prerequisites":[],"notices":[]},` +
		`{"cli":"grok","found":false,"path":null,"version":null,"checked_version":"1.0.41","sandbox_modes":["read-only","restricted","workspace-write","full"],"unverified_modes":[],"sandbox_mode_reports":{"full":{"native_sandbox":"full","approvals":"on","basis":"assumed"},"read-only":{"native_sandbox":"read-only","approvals":"on","basis":"help"},"restricted":{"native_sandbox":"restricted","approvals":"on","basis":"help"},"workspace-write":{"native_sandbox":"workspace-write","approvals":"on","basis":"help"}},"missing_prerequisites":[],"notices":[]},` +
		`{"cli":"kiro-cli","found":true,"path":"` + w.bin + `/kiro-cli","version":"999.0.0","checked_version":null,"sandbox_modes":["full"],"unverified_modes":["read-only","restricted"],"sandbox_mode_reports":{"full":{"native_sandbox":"none","approvals":"on","basis":"assumed"}},"missing_prerequisites":[],"notices":[]}]}` + "\n"
	if b.String() != want {
		t.Errorf("scan %s\nwant %s", b.String(), want)
	}
	b.Reset()
	if err := scan.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"codex     999.0.0  read-only workspace-write full\n", "kiro-cli  999.0.0  (read-only) (restricted) full\n"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("table\n%slacks %q", b.String(), line)
		}
	}
	if strings.Contains(b.String(), "grok") {
		t.Errorf("table\n%sshows what was not found", b.String())
	}
	if _, err := NewScan(w.Process, []string{"nope"}, true); refusal(err) != "E-USAGE" || !strings.Contains(err.Error(), "nope") {
		t.Errorf("a CLI that is not known: %v", err)
	}
}
