package hookio

// Cursor is Cursor's agent and CLI, after its documents.
//
// It takes "permission" with two messages, and exit 2 as a deny; both are sent.
// "ask" works before a shell command; in preToolUse its schema accepts the word
// and the call runs, so there an ask is a deny.
var Cursor = &Harness{
	Name:       "cursor",
	Title:      "Cursor",
	ShellTools: []ShellTool{{"Shell", Posix}},
	CanAsk:     true,
	writeTools: []string{"Write", "Edit", "Delete"},
	decode:     decodeCursor,
	encode:     encodeCursor,
}

func decodeCursor(h *Harness, raw []byte) (Event, error) {
	ev, text, err := begin(h, raw)
	if err != nil {
		return ev, err
	}
	var c call
	conversation, dir, root := "", "", ""
	command := false // the command stands in the event itself
	eachMember(text, func(name string, value []byte) {
		switch name {
		case "command":
			command = command || str(value) != ""
		case "conversation_id":
			conversation = str(value)
		case "workspace_roots":
			eachElement(value, func(element []byte) {
				if root == "" {
					root = str(element)
				}
			})
		case "output", "tool_output", "result_json":
			c.response = value
		case "error_message":
			c.failure = value
		case "tool_input":
			c.inputs = append(c.inputs, value)
			eachMember(value, func(name string, value []byte) {
				if name == "cwd" || name == "working_directory" {
					dir = str(value)
				}
			})
		default:
			claudeMember(&ev, &c, name, value)
		}
	})
	if ev.SessionID == "" {
		ev.SessionID = conversation
	}
	if ev.Dir == "" {
		ev.Dir = root
	}
	ev.Dir = inDir(ev.Dir, dir)
	claudeName(&ev, &c)
	switch ev.RawName {
	case "beforeShellExecution", "preToolUse", "beforeMCPExecution":
		ev.Name = PreToolUse
	case "afterShellExecution", "postToolUse", "afterMCPExecution":
		ev.Name = PostToolUse
	case "postToolUseFailure":
		ev.Name = PostToolUseFailure
	}
	// A local MCP server's start command is also called "command".
	if command && ev.RawName != "beforeMCPExecution" && ev.RawName != "afterMCPExecution" {
		if ev.Tool == "" {
			ev.Tool = "Shell"
		}
		c.inputs = append(c.inputs, text)
	}
	c.finish(h, &ev)
	if command {
		ev.ToolInput = nil
	}
	return ev, nil
}

func encodeCursor(_ *Harness, ev *Event, d Decision) Reply {
	var out object
	switch ev.Name {
	case "", PreToolUse:
	case PostToolUse:
		if d.refuses() {
			d.Context = d.reasonAndContext()
		}
		out.text("additional_context", d.Context)
		return out.reply(ExitPass)
	default:
		if d.refuses() {
			return block(d.reasonAndContext())
		}
		return Reply{}
	}
	preTool := ev.RawName != "beforeShellExecution"
	switch {
	case d.Verdict == Ask && !preTool:
		out.text("permission", "ask")
		out.text("user_message", d.reason())
		out.text("agent_message", d.reasonAndContext())
		return out.reply(ExitPass)
	case d.refuses():
		out.text("permission", "deny")
		out.text("user_message", d.reason())
		out.text("agent_message", d.reasonAndContext())
		r := out.reply(ExitBlock)
		r.Stderr = block(d.reasonAndContext()).Stderr
		return r
	case ev.RawName == "preToolUse":
		out.raw("updated_input", d.updatedInput())
		out.text("additional_context", d.Context)
	}
	return out.reply(ExitPass)
}
