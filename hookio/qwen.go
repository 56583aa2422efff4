package hookio

// Qwen is Qwen Code, as seen in 0.24.4: Gemini CLI's tools behind Claude
// Code's hook protocol.
//
// A refusal is said twice, by Claude's JSON and by exit 2 with the reason on
// stderr, as everything that it does not understand lets the command run.
var Qwen = &Harness{
	Name:       "qwen",
	Title:      "Qwen Code",
	ShellTools: []ShellTool{{"run_shell_command", Posix}, {"Bash", Posix}},
	CanAsk:     true,
	writeTools: []string{"write_file", "edit", "replace", "Write", "Edit"},
	decode:     decodeQwen,
	encode:     encodeQwen,
}

func decodeQwen(h *Harness, raw []byte) (Event, error) {
	ev, err := decodeClaude(h, raw)
	if n, ok := lastNumber(ev.Output.Text, "Exit Code: ", ""); ok && ev.Shell != NotShell && !ev.Output.HasExitCode {
		ev.Output.ExitCode, ev.Output.HasExitCode = n, true
	}
	return ev, err
}

func encodeQwen(h *Harness, ev *Event, d Decision) Reply {
	if d.Verdict == Allow {
		d.Verdict = Pass // it has no effect there
	}
	d.UpdatedInput = nil // ignored there without a decision, untried with one
	r := encodeClaude(h, ev, d)
	if d.Verdict == Deny && r.Exit != ExitBlock && (ev.Name == "" || ev.Name == PreToolUse) {
		stderr := block(d.reason())
		r.Stderr, r.Exit = stderr.Stderr, stderr.Exit
	}
	return r
}
