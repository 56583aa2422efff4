package hookio

// Kiro is Kiro CLI, 2.x and 3, after its documents.
//
// It refuses for exit 2 and gives stderr to the model; no JSON answer is
// documented. Any other exit warns and lets the command run.
var Kiro = &Harness{
	Name:       "kiro",
	Title:      "Kiro CLI",
	ShellTools: []ShellTool{{"execute_bash", Posix}, {"shell", Posix}, {"execute_cmd", PowerShell}},
	writeTools: []string{"fs_write", "write"},
	decode:     decodeKiro,
	encode:     encodeKiro,
}

func decodeKiro(h *Harness, raw []byte) (Event, error) {
	ev, err := decodeClaude(h, raw)
	switch ev.RawName {
	case "preToolUse":
		ev.Name = PreToolUse
	case "postToolUse":
		ev.Name = PostToolUse
	}
	return ev, err
}

func encodeKiro(_ *Harness, _ *Event, d Decision) Reply {
	if d.refuses() {
		return block(d.reasonAndContext())
	}
	return Reply{}
}
