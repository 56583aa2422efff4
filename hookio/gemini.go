package hookio

import (
	"strings"

	"sallyport/internal/rawjson"
)

// Gemini is Gemini CLI, as seen in 0.61.0.
//
// It reads stdout, or stderr when stdout is empty. JSON there decides whatever
// the exit status, and Claude's JSON lets the command run even with exit 2; a
// text refuses with any status but 0 and 1; no text at all never refuses. So a
// refusal is a text on stderr with exit 2 and nothing on stdout. An "ask" hangs
// a session that nobody attends: see [Harness.Attended].
var Gemini = &Harness{
	Name:         "gemini",
	Title:        "Gemini CLI",
	ShellTools:   []ShellTool{{"run_shell_command", Posix}},
	asksAttended: true,
	writeTools:   []string{"write_file", "replace"},
	decode:       decodeGemini,
	encode:       encodeGemini,
}

func decodeGemini(h *Harness, raw []byte) (Event, error) {
	ev, text, err := begin(h, raw)
	if err != nil {
		return ev, err
	}
	var c call
	eachMember(text, func(name string, value []byte) {
		claudeMember(&ev, &c, name, value)
	})
	claudeName(&ev, &c)
	switch ev.RawName {
	case "BeforeTool":
		ev.Name = PreToolUse
	case "AfterTool":
		ev.Name = PostToolUse
	}
	c.finish(h, &ev)
	// cwd stays the session's; the call names its own directory beside it.
	for _, input := range c.inputs {
		eachMember(input, func(name string, value []byte) {
			if name == "dir_path" && ev.Shell != NotShell {
				ev.Dir = inDir(ev.Dir, str(value))
			}
		})
	}
	if n, ok := lastNumber(ev.Output.Text, "Exit Code: ", ""); ok && ev.Shell != NotShell && !ev.Output.HasExitCode {
		ev.Output.ExitCode, ev.Output.HasExitCode = n, true
	}
	return ev, nil
}

func encodeGemini(h *Harness, ev *Event, d Decision) Reply {
	before := ev.Name == PreToolUse || ev.Name == ""
	if d.Verdict == Ask && h.CanAsk && before {
		var out object
		out.text("decision", "ask")
		out.text("reason", d.reason())
		// The dialog shows this text, not the reason.
		out.text("systemMessage", d.reason())
		return out.reply(ExitPass)
	}
	if d.refuses() {
		return block(plainText(d.reasonAndContext()))
	}
	var out, specific object
	out.text("systemMessage", d.Message)
	switch {
	case before && d.UpdatedInput != nil:
		specific.text("hookEventName", "BeforeTool")
		specific.raw("tool_input", d.updatedInput())
		out.object("hookSpecificOutput", specific)
	case ev.Name == PostToolUse && d.Context != "":
		specific.text("hookEventName", "AfterTool")
		specific.text("additionalContext", d.Context)
		out.object("hookSpecificOutput", specific)
	}
	return out.reply(ExitPass)
}

// plainText keeps a reason from being read as JSON, which would let the
// command run.
func plainText(s string) string {
	trimmed := trim(s)
	if strings.IndexByte("{[\"", trimmed[0]) >= 0 || rawjson.Check([]byte(trimmed)) != rawjson.Invalid {
		return "Refused: " + trimmed
	}
	return s
}
