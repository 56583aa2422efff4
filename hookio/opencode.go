package hookio

// OpenCode is OpenCode V1, as seen in 1.18.33. It has no command hooks: a
// plugin of ours runs inside the client and asks the hook's program about each
// call, over this contract.
//
// The plugin writes one JSON object to stdin and closes it:
//
//	{"tool": "bash", "args": {"command": "…", "workdir": "…"},
//	 "directory": "<the session's folder>", "sessionID": "…", "callID": "…"}
//
// After the call it adds what the client gave it as "output", an object with
// "output" (text) and, for bash, "metadata" with "exit". The two arguments of a
// plugin function, written as {"input": …, "output": …}, are understood as
// well, and so are Claude's names (tool_name, tool_input, cwd, session_id).
//
// The program answers with nothing and exit 0, and the call goes on; or with
// exit 2, the reason on stderr, and on stdout
//
//	{"decision": "deny", "reason": "…"}
//
// and the plugin throws the reason. What else an exit means is the plugin's
// business; it must not throw while it loads, since the client then drops it
// and runs everything. There is no ask: it is a deny.
var OpenCode = &Harness{
	Name:       "opencode",
	Title:      "OpenCode",
	ShellTools: []ShellTool{{"bash", Posix}},
	writeTools: []string{"write", "edit", "patch", "multiedit"},
	decode:     decodeOpenCode,
	encode:     encodeOpenCode,
}

func decodeOpenCode(h *Harness, raw []byte) (Event, error) {
	ev, text, err := begin(h, raw)
	if err != nil {
		return ev, err
	}
	var c call
	var result []byte
	directory := ""
	member := func(name string, value []byte) {
		switch name {
		case "tool":
			ev.Tool = str(value)
		case "args":
			c.inputs = append(c.inputs, value)
		case "directory":
			directory = str(value)
		case "sessionID":
			ev.SessionID = str(value)
		case "callID":
			ev.ToolUseID = str(value)
		default:
			claudeMember(&ev, &c, name, value)
		}
	}
	eachMember(text, func(name string, value []byte) {
		switch name {
		case "input":
			eachMember(value, member)
		case "output":
			eachMember(value, func(name string, inner []byte) {
				switch name {
				case "args": // before the call
					c.inputs = append(c.inputs, inner)
				case "output":
					result = value
				}
			})
		default:
			member(name, value)
		}
	})
	if result != nil {
		c.response = result
	}
	claudeName(&ev, &c)
	if ev.RawName == "" && ev.Tool == "" && len(c.inputs) == 0 {
		ev.Name = "" // no tool call
	}
	c.finish(h, &ev)
	for _, input := range c.inputs {
		eachMember(input, func(name string, value []byte) {
			if name == "workdir" && ev.Shell != NotShell {
				directory = inDir(directory, str(value))
			}
		})
	}
	if ev.Dir == "" {
		ev.Dir = directory
	}
	eachMember(result, func(name string, metadata []byte) {
		if name == "metadata" {
			var ignored []string
			var out Output
			readOutput(&out, &ignored, metadata, 1)
			ev.Output.ExitCode, ev.Output.HasExitCode = out.ExitCode, out.HasExitCode
		}
	})
	return ev, nil
}

func encodeOpenCode(_ *Harness, _ *Event, d Decision) Reply {
	if !d.refuses() {
		return Reply{}
	}
	var out object
	out.text("decision", "deny")
	out.text("reason", d.reasonAndContext())
	r := out.reply(ExitBlock)
	r.Stderr = block(d.reasonAndContext()).Stderr
	return r
}
