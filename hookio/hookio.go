// Package hookio speaks the hook protocols of coding-agent clients.
//
// A client starts a hook, writes one JSON event to its stdin and reads a
// decision from its stdout, stderr and exit code. Each client ("harness") does
// this in its own way; a deny for one lets the command run in another. Every
// harness is one file of this package that turns its input into an [Event] and
// a [Decision] into what that harness understands. Nothing else in the product
// knows a wire format.
//
// Most callers need [Lookup] or [Claude], [ReadInput], [Harness.Decode] and
// [Harness.Encode].
package hookio

import (
	"errors"
	"io"
)

// Exit codes as Claude Code reads them. Other harnesses differ; their files
// say how.
const (
	ExitPass  = 0 // go on; JSON on stdout may decide
	ExitShow  = 1 // go on, and show the person the first line of stderr
	ExitBlock = 2 // block, and give stderr to the model
)

// MaxInput is the most of an event that is read.
const MaxInput = 32 << 20

// ErrTooLarge is returned for an event of more than [MaxInput] bytes.
var ErrTooLarge = errors.New("hook input exceeds 32 MiB")

// ordinaryInput is more than almost every event has. What is read beyond it goes
// to one buffer of the full size, whose untouched pages cost nothing: growing it
// step by step would need twice the memory.
const ordinaryInput = 256 << 10

// ReadInput reads one event. An event that is too large is an error and none
// of it is returned.
func ReadInput(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, ordinaryInput))
	if err != nil {
		return nil, err
	}
	if len(raw) < ordinaryInput {
		return raw, nil
	}
	all := make([]byte, MaxInput+1)
	n := copy(all, raw)
	m, err := io.ReadFull(r, all[n:])
	switch {
	case err == nil:
		return nil, ErrTooLarge
	case err != io.EOF && err != io.ErrUnexpectedEOF:
		return nil, err
	}
	return all[:n+m], nil
}

// An EventName is the moment at which a hook runs, under the name that Claude
// Code gives it whatever the harness calls it. Events that the product does
// not use keep the harness's own name.
type EventName string

// The events that the product answers.
const (
	PreToolUse           EventName = "PreToolUse"
	PostToolUse          EventName = "PostToolUse"
	PostToolUseFailure   EventName = "PostToolUseFailure"
	PreSkillShellCommand EventName = "PreSkillShellCommand"
	PermissionRequest    EventName = "PermissionRequest"
)

// An Event is what a harness told a hook. Every field may be empty: clients
// leave fields out, and people try hooks by hand.
type Event struct {
	Harness string
	Name    EventName
	RawName string // the name as the harness spelled it; empty if it gave none

	Tool        string // the harness's own tool name
	Shell       ShellKind
	Command     string // the shell text, for a shell tool
	Description string // what the agent says the command is for
	FilePath    string // the file, for a tool that writes one
	// Files are all files of a call that writes several; FilePath is the first.
	Files      []string
	Background bool // the command was started in the background

	// DisableSandbox is set when the call asks to run outside the sandbox.
	DisableSandbox bool

	Dir            string // working directory of the call
	SessionID      string
	ToolUseID      string
	PermissionMode string
	AgentID        string // set only inside a subagent
	TranscriptPath string

	Output Output // after the call

	ToolInput []byte // the tool's input as it stands in Raw, nil if there is none
	Raw       []byte // the event as read
}

// A ShellKind says which language a command is written in.
type ShellKind int

// Shell kinds. NotShell is a tool that runs no command.
const (
	NotShell ShellKind = iota
	Posix
	PowerShell
)

// Output is what a tool call printed, whatever shape the harness gave it.
type Output struct {
	Stdout string // may hold both streams merged
	Stderr string
	Text   string // a result that is one text: a plain string, content blocks
	Error  string // the text of a failed call, without its "Exit code N" line
	// ExitCode is the command's exit status; meaningful only if HasExitCode.
	ExitCode    int
	HasExitCode bool
	Interrupted bool
}

// A Verdict is how much a hook objects to a call.
type Verdict int

// Verdicts, weakest first. No harness is ever told "allow" for Pass: silence
// leaves the client's own permission flow in charge.
const (
	Pass Verdict = iota
	Allow
	Ask
	Deny
)

func (v Verdict) String() string {
	switch v {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	case Deny:
		return "deny"
	}
	return "pass"
}

// A Decision is what a hook has to say about an [Event].
type Decision struct {
	Verdict Verdict
	Reason  string // why, for the model on a deny and for the person on an ask
	Context string // facts for the model that decide nothing
	Message string // shown to the person; decides nothing

	// UpdatedInput, if not nil, replaces the whole tool input (JSON object).
	UpdatedInput []byte
}

// A Reply is what the hook's process does: what it prints and how it exits.
// Stdout is empty or one JSON object and a newline.
type Reply struct {
	Stdout []byte
	Stderr []byte
	Exit   int
}

// A ShellTool is a tool whose calls carry a command line.
type ShellTool struct {
	Name string
	Kind ShellKind
}

// A Harness is one client's protocol. The package's values must not be changed.
type Harness struct {
	Name  string // as given to --harness: "claude", "codex", …
	Title string // as its vendor writes it

	// ShellTools and the other lists are slices, not maps, because a map is
	// filled at every start of every hook.
	ShellTools []ShellTool

	// CanAsk reports whether the harness can put a question to a person. Where
	// it cannot, Encode answers an ask as a deny.
	CanAsk bool

	// asksAttended: it can ask, but hangs when there is nobody to answer.
	asksAttended bool

	writeTools []string // the tools that write the file they name

	decode func(h *Harness, raw []byte) (Event, error)
	encode func(h *Harness, ev *Event, d Decision) Reply
}

// Harnesses lists every harness that is known, Claude Code first.
func Harnesses() []*Harness {
	return []*Harness{Claude, Codex, OpenCode, Kiro, Gemini, Cursor, Copilot, Qwen}
}

// Lookup finds a harness by its name.
func Lookup(name string) (h *Harness, ok bool) {
	for _, h := range Harnesses() {
		if h.Name == name {
			return h, true
		}
	}
	return nil, false
}

// Shell is the language in which a tool takes a command; [NotShell] if it takes
// none.
func (h *Harness) Shell(tool string) ShellKind {
	for _, t := range h.ShellTools {
		if t.Name == tool {
			return t.Kind
		}
	}
	return NotShell
}

// Attended returns the harness as it is when a person is known to watch the
// session. It differs for Gemini CLI, whose question waits for ever in a
// session without one.
func (h *Harness) Attended() *Harness {
	if !h.asksAttended {
		return h
	}
	attended := *h
	attended.CanAsk = true
	return &attended
}

// Decode reads an event. It fails only for input that is not a JSON object,
// with [ErrNotJSON]; a field of the wrong type counts as missing. Of duplicate
// members the last one counts, as it does for the clients, but for two: a
// command is joined from all of them, the last one first, and DisableSandbox
// is set if any of them asks for it.
func (h *Harness) Decode(raw []byte) (Event, error) { return h.decode(h, raw) }

// Encode answers ev. A Decision that says nothing is an empty Reply: no
// output, exit 0. An answer that the harness does not understand for this
// event is left out, but a deny always refuses, also for the zero Event of an
// input that could not be decoded. A deny or ask without a reason is given one,
// because some harnesses run the command without it.
func (h *Harness) Encode(ev *Event, d Decision) Reply {
	if ev == nil {
		ev = &Event{}
	}
	return h.encode(h, ev, d)
}

// ErrNotJSON is returned by [Harness.Decode] for anything but a JSON object.
var ErrNotJSON = errors.New("hook input is not a JSON object")
