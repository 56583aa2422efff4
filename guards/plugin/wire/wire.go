// Package wire is what the engine and the interpreter of script guards say to
// each other: JSON, one object a line.
//
// The engine sends a [Request]. While it is served the interpreter may ask for
// members of ctx, each answered with a [MemberAnswer], and it ends with a
// [Reply] that has Done set.
package wire

import (
	"encoding/json"
	"io"
)

// Write writes a message.
func Write(w io.Writer, message any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// A Request is one call of an interpreter.
type Request struct {
	Op string `json:"op"` // load, call, cases
	// ID names the guard within the session.
	ID     int      `json:"id"`
	Path   string   `json:"path,omitempty"`
	Source []byte   `json:"source,omitempty"`
	Ctx    *Context `json:"ctx,omitempty"`
}

// A Reply is a question about ctx, or the end of a request.
type Reply struct {
	Ask   string            `json:"ask"`
	Args  []json.RawMessage `json:"args"`
	Done  bool              `json:"done"`
	Value json.RawMessage   `json:"value"`
	Error string            `json:"error"`
}

// A MemberAnswer is the value of a member of ctx.
type MemberAnswer struct {
	Value any    `json:"value"`
	Error string `json:"error,omitempty"`
}

// A Context is the part of ctx that every call carries.
type Context struct {
	Argv       []string          `json:"argv"`
	Raw        string            `json:"raw"`
	Env        map[string]string `json:"env"`
	Cwd        *string           `json:"cwd"` // null: not known
	ReadyLabel string            `json:"ready_label"`
	// Kinds are the triggers that name the command, for a guard whose list is
	// computed.
	Kinds []string `json:"kinds"`
	// Computed reports that the guard's list of triggers could not be read from
	// its text.
	Computed bool `json:"computed"`
}
