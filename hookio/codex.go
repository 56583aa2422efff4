package hookio

import "strings"

// Codex is OpenAI's Codex CLI, as seen in 0.171.0.
//
// It refuses for exit 2 with a text on stderr; stdout is not read then. In a
// JSON answer any field it does not know, an "ask", or a blank reason makes the
// hook fail, and the command runs.
var Codex = &Harness{
	Name:       "codex",
	Title:      "Codex CLI",
	ShellTools: []ShellTool{{"Bash", Posix}},
	decode:     decodeCodex,
	encode:     encodeCodex,
}

// decodeCodex reads Claude's shape. apply_patch carries its patch where the
// shell carries its command, and it is no shell.
func decodeCodex(h *Harness, raw []byte) (Event, error) {
	ev, err := decodeClaude(h, raw)
	if err != nil || ev.Tool != "apply_patch" {
		return ev, err
	}
	patch := ""
	eachMember(ev.ToolInput, func(name string, value []byte) {
		if name == "command" {
			patch = str(value)
		}
	})
	ev.Files = patchFiles(patch)
	if len(ev.Files) > 0 {
		ev.FilePath = ev.Files[0]
	}
	return ev, nil
}

// patchFiles are the files that an apply_patch text touches, moves included.
func patchFiles(patch string) []string {
	var files []string
	for line := range strings.Lines(patch) {
		for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if file, ok := strings.CutPrefix(line, mark); ok {
				files = append(files, strings.TrimSpace(file))
			}
		}
	}
	return files
}

func encodeCodex(_ *Harness, ev *Event, d Decision) Reply {
	switch ev.Name {
	case PermissionRequest:
		if d.Verdict == Allow {
			d.Verdict = Pass
		}
		// A field that is not known here would lose the deny as well.
		d.Message = ""
		return permissionRequest(d)
	case "", PreToolUse, PostToolUse:
	default:
		d.Context = ""
	}
	if d.refuses() {
		return block(d.reasonAndContext())
	}
	var specific object
	// The one form of allow that Codex takes is the one with a new input.
	if input := d.updatedInput(); input != nil && d.Verdict == Allow && ev.Name == PreToolUse {
		specific.text("permissionDecision", "allow")
		specific.raw("updatedInput", input)
	}
	if ev.Name != "" {
		specific.text("additionalContext", d.Context)
	}
	return specificReply(ev.Name, specific, d.Message)
}
