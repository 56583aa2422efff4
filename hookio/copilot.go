package hookio

import "strings"

// Copilot is GitHub Copilot CLI, as seen in 1.0.102.
//
// The spelling of the event's name in its configuration picks the payload: in
// camelCase an event does not name itself, in PascalCase it looks like
// Claude's, with other arguments. A decision at the top level is understood in
// both. Any exit but 0 blocks, and exit 2 alone keeps the JSON's reason. An
// "allow" would overrule the person's own deny rules and is never said.
var Copilot = &Harness{
	Name:       "copilot",
	Title:      "GitHub Copilot CLI",
	ShellTools: []ShellTool{{"bash", Posix}, {"powershell", PowerShell}, {"Bash", Posix}, {"PowerShell", PowerShell}},
	CanAsk:     true,
	writeTools: []string{"create", "edit", "Write", "Edit"},
	decode:     decodeCopilot,
	encode:     encodeCopilot,
}

func decodeCopilot(h *Harness, raw []byte) (Event, error) {
	ev, text, err := begin(h, raw)
	if err != nil {
		return ev, err
	}
	var c call
	hookName := ""
	eachMember(text, func(name string, value []byte) {
		switch name {
		case "hookName":
			hookName = str(value)
		case "sessionId":
			ev.SessionID = str(value)
		case "transcriptPath":
			ev.TranscriptPath = str(value)
		case "agentId":
			ev.AgentID = str(value)
		case "toolName":
			ev.Tool = str(value)
		case "toolArgs", "toolInput":
			c.inputs = append(c.inputs, value)
		case "toolResult", "tool_result":
			c.response = value
		default:
			claudeMember(&ev, &c, name, value)
		}
	})
	claudeName(&ev, &c)
	switch {
	case hookName == "permissionRequest":
		ev.RawName, ev.Name = hookName, PermissionRequest
	case ev.RawName == "" && ev.Tool == "" && len(c.inputs) == 0 && c.response == nil && c.failure == nil:
		ev.Name = "" // of a session or a prompt; it does not say which
	}
	c.finish(h, &ev)
	if n, ok := lastNumber(ev.Output.Text, " completed with exit code ", ">"); ok && ev.Shell != NotShell && !ev.Output.HasExitCode {
		ev.Output.ExitCode, ev.Output.HasExitCode = n, true
	}
	return ev, nil
}

func encodeCopilot(_ *Harness, ev *Event, d Decision) Reply {
	// PascalCase: the event named itself.
	pascal := ev.RawName != "" && strings.ToUpper(ev.RawName[:1]) == ev.RawName[:1]
	var out, specific object
	if ev.RawName != "" {
		specific.text("hookEventName", ev.RawName)
	}
	switch ev.Name {
	case PermissionRequest:
		if d.Verdict == Deny {
			out.text("behavior", "deny")
			out.text("message", d.reasonAndContext())
		}
		return out.reply(ExitPass)
	case PostToolUse:
		if d.refuses() {
			d.Context = d.reasonAndContext()
		}
		out.text("additionalContext", d.Context)
		if pascal && d.Context != "" {
			specific.text("additionalContext", d.Context)
			out.object("hookSpecificOutput", specific)
		}
		return out.reply(ExitPass)
	case "", PreToolUse:
	default:
		if d.refuses() {
			return block(d.reasonAndContext())
		}
		return Reply{}
	}
	if d.refuses() {
		out.text("permissionDecision", d.Verdict.String())
		out.text("permissionDecisionReason", d.reasonAndContext())
		if d.Verdict == Ask {
			return out.reply(ExitPass)
		}
		r := out.reply(ExitBlock)
		r.Stderr = block(d.reasonAndContext()).Stderr
		return r
	}
	if input := d.updatedInput(); input != nil && ev.Name == PreToolUse {
		if pascal {
			specific.raw("updatedInput", input)
			out.object("hookSpecificOutput", specific)
		} else {
			out.raw("modifiedArgs", input)
		}
	}
	out.text("systemMessage", d.Message)
	return out.reply(ExitPass)
}
