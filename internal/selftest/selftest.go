// Package selftest proves that a refusal of agent-guard reaches a client: it
// finds the hook in the client's configuration, starts it as the client would
// with a call in the client's shape, and judges the answer by the client's rules.
//
// A hook that comes with the directory is anybody's command: it is started only
// if it is nothing but this program.
//
// It reads the files in which a hook is usually wired, and no more: a hook that
// comes from a plugin, an extension or a flag is not found. It cannot see a
// folder's trust, nor flags of a session that leave hooks out.
package selftest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"sallyport/guards"
	"sallyport/hookio"
	"sallyport/internal/childproc"
	"sallyport/internal/cli"
	"sallyport/internal/dirs"
	"sallyport/internal/term"
)

// Canary is the command that agent-guard refuses whatever its configuration
// says. It does nothing if it runs.
const Canary = "true agent-guard-selftest"

// Refusal is the reason for which the canary is refused.
const Refusal = "agent-guard[selftest]: the canary was stopped — this refusal is the proof that the hook works, nothing else is wrong."

// limit is how long a hook without a time limit of its own may take here. Each
// client gives it at least as long.
const limit = 30 * time.Second

// Run checks the wiring of h for a session started in p.Dir(), and prints what it
// found. It ends with exit code 1 when a refusal would not reach the client.
func Run(p *cli.Process, h *hookio.Harness) error {
	r := &report{p: p}
	for _, name := range []string{"AGENT_GUARD_OFF", "MAGPIE_GUARD_OFF"} {
		if guards.Truthy(p.Getenv(name)) {
			r.fail("%s is set here: a hook with that environment lets every command pass", name)
		}
	}
	if h == hookio.OpenCode {
		r.openCode()
	} else {
		r.hooks(h)
	}
	if r.failed {
		return cli.Exitf(1, "a refusal would not reach %s", h.Title)
	}
	r.line("a refusal reaches %s", h.Title)
	return nil
}

type report struct {
	p      *cli.Process
	failed bool
}

func (r *report) line(format string, args ...any) {
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		fmt.Fprintln(r.p.Stdout, term.Clean(line, 2000))
	}
}

func (r *report) ok(format string, args ...any) {
	r.line("  ok    %s", fmt.Sprintf(format, args...))
}

func (r *report) fail(format string, args ...any) {
	r.failed = true
	r.line("  FAIL  %s", fmt.Sprintf(format, args...))
}

// call is a call of the harness's shell that carries the canary.
func call(h *hookio.Harness, event, dir string) (tool string, input []byte) {
	tool = map[string]string{
		"claude": "Bash", "codex": "Bash", "gemini": "run_shell_command", "qwen": "run_shell_command",
		"copilot": "bash", "kiro": "execute_bash", "cursor": "Shell", "opencode": "bash",
	}[h.Name]
	command := map[string]any{"command": Canary}
	var e map[string]any
	switch {
	case h == hookio.Copilot && event == "preToolUse":
		e = map[string]any{"sessionId": "selftest", "cwd": dir, "toolName": tool, "toolArgs": command}
	case h == hookio.Copilot:
		tool = "Bash"
		e = map[string]any{"hook_event_name": event, "session_id": "selftest", "cwd": dir, "tool_name": tool, "tool_input": command}
	case event == "beforeShellExecution":
		e = map[string]any{"hook_event_name": event, "conversation_id": "selftest", "workspace_roots": []string{dir}, "command": Canary, "cwd": dir}
	case h == hookio.OpenCode:
		e = map[string]any{"tool": tool, "args": command, "directory": dir, "sessionID": "selftest", "callID": "selftest"}
	default:
		e = map[string]any{"hook_event_name": event, "session_id": "selftest", "cwd": dir, "permission_mode": "default", "tool_name": tool, "tool_input": command}
	}
	input, _ = json.Marshal(e)
	return tool, input
}

func (r *report) hooks(h *hookio.Harness) {
	rules, _ := Rules(h.Name)
	w := find(h.Name, r.p.Dir(), r.p.Getenv)
	for _, problem := range w.problems {
		r.line("note: %s", problem)
	}
	// One hook that refuses is enough, and each is looked at: one that is
	// switched off beside it is no harm.
	works := false
	file := ""
	for _, hook := range w.hooks {
		event := hook.Event
		tool, input := call(h, event, r.p.Dir())
		if !rules.Matches(hook.Matcher, tool) {
			continue
		}
		if hook.File != file {
			file = hook.File
			r.line("%s", file)
		}
		words := strings.Join(append([]string{hook.Command}, hook.Args...), " ")
		if hook.Off != "" {
			r.line("  off   %s: %s", words, hook.Off)
			continue
		}
		if self, err := os.Executable(); hook.Foreign && (err != nil || !hook.ours(self, dirs.Home(r.p.Getenv), r.p.Getenv)) {
			r.line("  skip  %s: it comes with this directory and is more than a plain start of this program, so it is not tried", words)
			continue
		}
		got, err := r.start(hook, input)
		if err != nil {
			r.line("  FAIL  %s: %v", words, err)
			continue
		}
		outcome, reason := rules.Judge(got, event)
		switch {
		case outcome == Blocked && strings.Contains(reason, "agent-guard[selftest]"):
			works = true
			if hook.Only != "" {
				r.line("  note  the client starts it only for commands that match %s", hook.Only)
			}
			r.ok("%s: a refused command does not run, and the model reads why", words)
		case outcome == Blocked:
			r.line("  FAIL  %s: blocks, but not by an answer of agent-guard%s", words, said(got))
		default:
			r.line("  FAIL  %s: the command %s%s", words, outcome, said(got))
		}
	}
	if works {
		return
	}
	r.failed = true
	if file == "" {
		r.line("no hook for commands that starts agent-guard in\n  %s\nintegrations/%s/README.md says how to wire it", strings.Join(w.looked, "\n  "), h.Name)
	}
}

// said is what a hook did, for a message.
func said(r Result) string {
	s := fmt.Sprintf(" (exit %d", r.Exit)
	for _, text := range []string{r.Stdout, r.Stderr} {
		if text = strings.TrimSpace(text); text != "" {
			s += ", " + term.Clean(text, 200)
		}
	}
	return s + ")"
}

// start runs a hook as the client does.
func (r *report) start(hook Hook, input []byte) (Result, error) {
	limit := limit
	if hook.Limit > 0 {
		limit = hook.Limit
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var cmd *exec.Cmd
	switch {
	case hook.Direct:
		cmd = exec.CommandContext(ctx, hook.Command, hook.Args...)
	case runtime.GOOS == "windows":
		cmd = exec.CommandContext(ctx, "cmd", "/c", hook.Command)
	default:
		cmd = exec.CommandContext(ctx, "sh", "-c", hook.Command)
	}
	return r.run(ctx, cmd, input)
}

func (r *report) run(ctx context.Context, cmd *exec.Cmd, input []byte) (Result, error) {
	cmd.Dir, cmd.Env = r.p.Dir(), r.p.Environ
	cmd.Stdin = bytes.NewReader(input)
	cmd.WaitDelay = time.Second // for a child that keeps the pipes
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Result{}, errors.New("gave no answer within its time limit")
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		return Result{}, err
	}
	code := cmd.ProcessState.ExitCode()
	if code < 0 {
		code = 128 + 9 // ended by some signal
	}
	return Result{Stdout: stdout.String(), Stderr: stderr.String(), Exit: code}, nil
}

// driver loads the plugin as OpenCode does and makes one call.
const driver = `
const [file, directory, command] = process.argv.slice(1)
const { AgentGuard } = await import(file)
const hooks = await AgentGuard({ directory })
let blocked = null
try {
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "selftest", callID: "selftest" }, { args: { command } })
} catch (error) {
  blocked = String(error?.message ?? error)
}
console.log(JSON.stringify({ blocked }))
`

func (r *report) openCode() {
	var found, looked []string
	for _, place := range plugins(r.p.Dir(), r.p.Getenv) {
		looked = append(looked, place.file)
		if info, err := os.Stat(place.file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if place.foreign {
			r.line("%s\n  skip  it comes with this directory, so it is not loaded here", place.file)
			continue
		}
		found = append(found, place.file)
	}
	if len(found) == 0 {
		r.failed = true
		r.line("no plugin agent-guard.js of this account in\n  %s\nintegrations/opencode/README.md says where it goes", strings.Join(looked, "\n  "))
		return
	}
	if v, ok := r.p.LookupEnv("OPENCODE_PURE"); ok && v != "" && v != "0" {
		r.fail("OPENCODE_PURE is set: OpenCode loads no plugin")
	}
	node, haveNode := childproc.LookPath("node", r.p.Getenv)
	for _, file := range found {
		r.line("%s", file)
		ctx, cancel := context.WithTimeout(context.Background(), limit+5*time.Second)
		if !haveNode {
			r.program(ctx)
			cancel()
			continue
		}
		url := "file://" + filepath.ToSlash(file)
		got, err := r.run(ctx, exec.CommandContext(ctx, node, "--input-type=module", "-e", driver, url, r.p.Dir(), Canary), nil)
		cancel()
		var answer struct{ Blocked *string }
		switch {
		case err != nil:
			r.fail("%v", err)
		case got.Exit != 0 || json.Unmarshal([]byte(got.Stdout), &answer) != nil:
			r.fail("the plugin does not load, so OpenCode drops it without a word%s", said(got))
		case answer.Blocked == nil:
			r.fail("the command runs")
		case !strings.Contains(*answer.Blocked, "agent-guard[selftest]"):
			r.fail("blocks, but not by an answer of agent-guard: %s", *answer.Blocked)
		default:
			r.ok("a refused command does not run, and the model reads why")
		}
	}
}

// program asks the program that the plugin would start, where there is no node
// to load the plugin.
func (r *report) program(ctx context.Context) {
	name := "agent-guard"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(dirs.Home(r.p.Getenv), ".claude", "scripts", name)
	if _, err := os.Stat(path); err != nil {
		found, ok := childproc.LookPath("agent-guard", r.p.Getenv)
		if !ok {
			r.fail("agent-guard is neither at %s nor on PATH: the plugin blocks every call", path)
			return
		}
		path = found
	}
	_, input := call(hookio.OpenCode, "", r.p.Dir())
	got, err := r.run(ctx, exec.CommandContext(ctx, path, "--opencode"), input)
	switch {
	case err != nil:
		r.fail("%v", err)
	case got.Exit != 2 || !strings.Contains(got.Stdout, "agent-guard[selftest]"):
		r.fail("%s did not refuse%s", path, said(got))
	default:
		r.ok("%s refuses; there is no node here to load the plugin with", path)
	}
}
