package hookio

// Claude is Claude Code, as seen in 2.1.332.
//
// Its answer is one JSON object on stdout with exit 0. An object without the
// right hookEventName fails its schema, is dropped, and the call runs.
var Claude = &Harness{
	Name:       "claude",
	Title:      "Claude Code",
	ShellTools: []ShellTool{{"Bash", Posix}, {"PowerShell", PowerShell}, {"Monitor", Posix}},
	CanAsk:     true,
	writeTools: []string{"Write", "Edit", "MultiEdit", "NotebookEdit"},
	decode:     decodeClaude,
	encode:     encodeClaude,
}

func decodeClaude(h *Harness, raw []byte) (Event, error) {
	ev, text, err := begin(h, raw)
	if err != nil {
		return ev, err
	}
	var c call
	eachMember(text, func(name string, value []byte) {
		claudeMember(&ev, &c, name, value)
	})
	claudeName(&ev, &c)
	c.finish(h, &ev)
	return ev, nil
}

func encodeClaude(_ *Harness, ev *Event, d Decision) Reply {
	switch ev.Name {
	case "":
		// Input that could not be read may be of any event. Exit 2 refuses in
		// all of them; a question can only be put before a tool call.
		if d.Verdict == Deny {
			return block(d.reasonAndContext())
		}
		return permission(PreToolUse, d)
	case PreToolUse, PreSkillShellCommand:
		return permission(ev.Name, d)
	case PermissionRequest:
		return permissionRequest(d)
	case PostToolUse, PostToolUseFailure, "PostToolBatch", "UserPromptSubmit", "UserPromptExpansion", "Stop", "SubagentStop":
		return feedback(ev.Name, d)
	case "SessionStart", "Setup", "SubagentStart", "PostModelSwitch":
		if !d.refuses() {
			return feedback(ev.Name, d)
		}
	}
	if d.refuses() {
		return block(d.reasonAndContext())
	}
	var out object
	out.text("systemMessage", d.Message)
	return out.reply(ExitPass)
}

// permission answers before a tool call. PreSkillShellCommand has the same
// shape without additionalContext, and any updatedInput refuses there.
func permission(name EventName, d Decision) Reply {
	var specific object
	switch d.Verdict {
	case Allow:
		specific.text("permissionDecision", "allow")
		specific.text("permissionDecisionReason", d.Reason)
	case Ask, Deny:
		specific.text("permissionDecision", d.Verdict.String())
		if name == PreSkillShellCommand {
			specific.text("permissionDecisionReason", d.reasonAndContext())
		} else {
			specific.text("permissionDecisionReason", d.reason())
		}
	}
	if name != PreSkillShellCommand {
		if d.Verdict != Deny {
			specific.raw("updatedInput", d.updatedInput())
		}
		specific.text("additionalContext", d.Context)
	}
	return specificReply(name, specific, d.Message)
}

// permissionRequest answers when a dialog is about to open: silence is the ask.
func permissionRequest(d Decision) Reply {
	var decision object
	switch d.Verdict {
	case Allow:
		decision.text("behavior", "allow")
		decision.raw("updatedInput", d.updatedInput())
	case Deny:
		decision.text("behavior", "deny")
		decision.text("message", d.reasonAndContext())
	}
	var specific object
	specific.object("decision", decision)
	return specificReply(PermissionRequest, specific, d.Message)
}

// feedback answers an event that takes a top-level decision and context.
func feedback(name EventName, d Decision) Reply {
	var out, specific object
	if d.refuses() {
		out.text("decision", "block")
		out.text("reason", d.reason())
	}
	out.text("systemMessage", d.Message)
	if d.Context != "" {
		specific.text("hookEventName", string(name))
		specific.text("additionalContext", d.Context)
		out.object("hookSpecificOutput", specific)
	}
	return out.reply(ExitPass)
}

// specificReply is an answer whose members are specific to the event.
func specificReply(name EventName, specific object, message string) Reply {
	var out object
	out.text("systemMessage", message)
	if len(specific) > 0 {
		var named object
		named.text("hookEventName", string(name))
		out.object("hookSpecificOutput", append(append(named, ','), specific[1:]...))
	}
	return out.reply(ExitPass)
}
