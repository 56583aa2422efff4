package hookio

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sallyport/internal/rawjson"
)

// begin starts the Event of a raw input and returns the text of its object.
func begin(h *Harness, raw []byte) (Event, []byte, error) {
	ev := Event{Harness: h.Name, Raw: raw}
	text := bytes.TrimLeft(rawjson.TrimBOM(raw), " \t\r\n")
	if len(text) == 0 || text[0] != '{' || rawjson.Check(text) == rawjson.Invalid {
		return ev, nil, ErrNotJSON
	}
	return ev, text, nil
}

// str is the value of a JSON string, empty for anything else.
func str(value []byte) string {
	s, _ := rawjson.String(value)
	return s
}

// A call is what an event says of a tool call before it is made sense of.
type call struct {
	inputs   [][]byte // every tool input, the one that counts last
	response []byte   // the tool's result, nil if there is none
	failure  []byte   // the error, nil if there is none
}

// claudeMember reads a member of the shape that Claude Code introduced and
// several harnesses took over.
func claudeMember(ev *Event, c *call, name string, value []byte) {
	switch name {
	case "hook_event_name":
		ev.RawName = str(value)
	case "session_id":
		ev.SessionID = str(value)
	case "transcript_path":
		ev.TranscriptPath = str(value)
	case "cwd":
		ev.Dir = str(value)
	case "permission_mode":
		ev.PermissionMode = str(value)
	case "agent_id":
		ev.AgentID = str(value)
	case "tool_name":
		ev.Tool = str(value)
	case "tool_use_id":
		ev.ToolUseID = str(value)
	case "tool_input":
		c.inputs = append(c.inputs, value)
	case "tool_response":
		c.response = value
	case "error":
		c.failure = value
	case "is_interrupt":
		ev.Output.Interrupted = string(value) == "true"
	}
}

// claudeName names an event of Claude's shape, by that shape if it does not
// name itself.
func claudeName(ev *Event, c *call) {
	failed := len(c.failure) > 1 && c.failure[0] == '"'
	switch {
	case ev.RawName != "":
		ev.Name = EventName(ev.RawName)
	case c.response != nil:
		ev.Name = PostToolUse
	case failed:
		ev.Name = PostToolUseFailure
	default:
		ev.Name = PreToolUse
	}
}

// finish makes sense of a call: its command or file, and its result.
func (c *call) finish(h *Harness, ev *Event) {
	var commands []string
	file := ""
	for _, input := range c.inputs {
		ev.ToolInput = input
		eachMember(input, func(name string, value []byte) {
			switch name {
			case "command":
				if s, ok := rawjson.String(value); ok {
					commands = append(commands, s)
				}
			case "description":
				ev.Description = str(value)
			case "dangerouslyDisableSandbox":
				ev.DisableSandbox = ev.DisableSandbox || string(value) == "true"
			case "run_in_background", "is_background":
				ev.Background = string(value) == "true"
			case "file_path", "filePath", "path", "notebook_path":
				file = str(value)
			}
		})
	}
	ev.Shell = h.Shell(ev.Tool)
	if ev.Tool == "" && len(commands) > 0 {
		ev.Shell = Posix
	}
	if ev.Shell != NotShell {
		ev.Command = joinCommands(commands)
	} else if slices.Contains(h.writeTools, ev.Tool) {
		ev.FilePath = file
	}
	if c.response != nil {
		var text []string
		readOutput(&ev.Output, &text, c.response, 4)
		ev.Output.Text = strings.Join(text, "\n")
	}
	if s, ok := rawjson.String(c.failure); ok {
		readError(&ev.Output, s)
	}
}

// joinCommands makes one text of the commands of an event that names several.
// A client runs the last one, so it stands first, where nothing before it can
// keep a parser from seeing it.
func joinCommands(commands []string) string {
	if len(commands) == 0 {
		return ""
	}
	last := len(commands) - 1
	if last == 0 {
		return commands[0]
	}
	lines := []string{commands[last]}
	for _, c := range commands[:last] {
		if c != commands[last] && c != lines[len(lines)-1] {
			lines = append(lines, c)
		}
	}
	return strings.Join(lines, "\n")
}

// readOutput reads a tool's result of any shape: text, a list of content
// blocks, or an object under the names that the harnesses give its fields.
// Texts without a stream of their own are added to text.
func readOutput(out *Output, text *[]string, value []byte, depth int) {
	if depth == 0 || len(value) == 0 {
		return
	}
	switch value[0] {
	case '"':
		*text = append(*text, str(value))
	case '[':
		rawjson.EachElement(value, func(element []byte) bool {
			readOutput(out, text, element, depth-1)
			return true
		})
	case '{':
		eachMember(value, func(name string, member []byte) {
			switch name {
			case "stdout":
				out.Stdout = str(member)
			case "stderr":
				out.Stderr = str(member)
			case "interrupted":
				out.Interrupted = string(member) == "true"
			case "exitCode", "exit_code", "exit_status", "exit", "returnCode":
				if n, err := strconv.Atoi(strings.Trim(string(member), `"`)); err == nil {
					out.ExitCode, out.HasExitCode = n, true
				}
			case "error":
				if member[0] == '"' {
					readError(out, str(member))
				} else {
					eachMember(member, func(name string, value []byte) {
						if name == "message" {
							readError(out, str(value))
						}
					})
				}
			case "text", "content", "output", "result", "llmContent", "textResultForLlm", "text_result_for_llm":
				readOutput(out, text, member, depth-1)
			}
		})
	}
}

// readError splits Claude Code's "Exit code N" line from the text of a failed
// call; other texts stay whole.
func readError(out *Output, s string) {
	first, rest, _ := strings.Cut(s, "\n")
	if digits, ok := strings.CutPrefix(strings.TrimSuffix(first, "\r"), "Exit code "); ok {
		if n, err := strconv.Atoi(digits); err == nil {
			out.ExitCode, out.HasExitCode, out.Error = n, true, rest
			return
		}
	}
	out.Error = s
}

// lastNumber finds the last line of text that is a number between before and
// after. Earlier ones may be the command's own output.
func lastNumber(text, before, after string) (int, bool) {
	for text != "" {
		i := strings.LastIndexByte(text, '\n')
		line := strings.TrimSuffix(text[i+1:], "\r")
		if at := strings.LastIndex(line, before); at >= 0 {
			if digits, ok := strings.CutSuffix(line[at+len(before):], after); ok {
				if n, err := strconv.Atoi(digits); err == nil {
					return n, true
				}
			}
		}
		text = text[:max(i, 0)]
	}
	return 0, false
}

// inDir is dir as seen from base.
func inDir(base, dir string) string {
	if dir == "" || base == "" || filepath.IsAbs(dir) {
		if dir == "" {
			return base
		}
		return dir
	}
	return filepath.Join(base, dir)
}

// eachMember calls f for every member of an object.
func eachMember(text []byte, f func(name string, value []byte)) {
	rawjson.Each(text, func(name string, value []byte) bool {
		f(name, value)
		return true
	})
}

// eachElement calls f for every element of an array.
func eachElement(text []byte, f func(value []byte)) {
	rawjson.EachElement(text, func(value []byte) bool {
		f(value)
		return true
	})
}
