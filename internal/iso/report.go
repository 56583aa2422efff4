package iso

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"sallyport/internal/cli"
	"sallyport/internal/iso/mode"
)

// reportSchema names the shape of a [Report].
const reportSchema = "agent-iso/sandbox/1"

// A Report says what really holds for a start, which may be less than what was
// asked for. It never claims more than the table of CLIs.
type Report struct {
	CLI, Path, Version string // Version is empty if the CLI was not asked
	Requested          mode.Mode
	Fallback           mode.Fallback
	Floor              mode.Mode
	Applied            mode.Mode
	Native             string // a mode, or "none"
	Approvals          string // "on", "off" or "n/a"
	Basis              string // what the claim rests on
	Loosened           bool
	Notice             string
	Injected           Injected
	Caveats            []string
}

// Injected is what a mode adds to a start.
type Injected struct {
	Args []string `json:"args"`
	Changes
}

// Changes are what a mode does to the environment.
type Changes struct {
	Set   map[string]string `json:"set"`
	Unset []string          `json:"unset"`
}

// MarshalJSON writes the report with every key, in its documented order.
func (r Report) MarshalJSON() ([]byte, error) {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	return marshal(struct {
		Schema    string   `json:"schema"`
		CLI       string   `json:"cli"`
		Path      string   `json:"path"`
		Version   *string  `json:"version"`
		Requested *string  `json:"requested"`
		Fallback  *string  `json:"fallback"`
		Floor     *string  `json:"floor"`
		Applied   *string  `json:"applied"`
		Native    string   `json:"native_sandbox"`
		Approvals string   `json:"approvals"`
		Basis     string   `json:"basis"`
		Loosened  bool     `json:"loosened"`
		Notice    *string  `json:"notice"`
		Injected  Injected `json:"injected"`
		Caveats   []string `json:"caveats"`
	}{
		reportSchema, r.CLI, r.Path, text(r.Version), text(r.Requested.String()), text(string(r.Fallback)), text(r.Floor.String()),
		text(r.Applied.String()), r.Native, r.Approvals, r.Basis, r.Loosened, text(r.Notice), r.Injected, orEmpty(r.Caveats),
	})
}

// orEmpty makes a list that JSON shows as [] when it has nothing.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// marshal is json.Marshal that leaves <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// compact is JSON without the blanks between its parts.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// WriteReport writes the report as one line of JSON to a file, or to stdout if
// the name is "-".
func (p *Plan) WriteReport(w *cli.Process, name string) error {
	line, err := marshal(p.report)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if name == "-" {
		_, err = w.Stdout.Write(line)
	} else {
		err = os.WriteFile(absolute(w.Dir(), name), line, 0o600)
	}
	if err != nil {
		return cli.Exitf(cli.ExitRefused, "write the report to %s: %s", name, reason(err))
	}
	return nil
}

// Print writes what would be executed: the arguments, then what the mode does
// to the environment, one JSON value a line.
func (p *Plan) Print(w io.Writer) error {
	argv, err := marshal(p.Argv)
	if err != nil {
		return err
	}
	changes, err := marshal(p.report.Injected.Changes)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n%s\n", argv, changes)
	return err
}

// fill completes the report from what was decided.
func (p *Plan) fill(w *cli.Process, h held, args []string) {
	r := &p.report
	r.CLI, r.Path = p.CLI, p.Path
	r.Injected = Injected{Args: []string{}, Changes: Changes{Set: map[string]string{}, Unset: []string{}}}
	r.Caveats = []string{}
	if !p.applies() {
		r.Applied = p.mode
		now := p.state(w, args)
		r.Native, r.Approvals, r.Basis = now.Native, now.Approvals, "assumed"
		return
	}
	r.Applied = h.mode
	r.Native = h.mode.String()
	r.Approvals = p.entry.Default.Approvals
	r.Basis = basis(p.entry.Modes[p.mode.String()].Level)
	if settings := p.entry.Modes[p.mode.String()].Settings; settings != nil {
		r.Injected.Args = append(r.Injected.Args, "--settings", compact(settings))
	}
	for _, words := range h.inject {
		r.Injected.Args = append(r.Injected.Args, words...)
	}
	r.Injected.Set = h.set
	r.Injected.Unset = orEmpty(h.unset)
	for _, c := range h.caveats {
		if !slices.Contains(r.Caveats, c) {
			r.Caveats = append(r.Caveats, c)
		}
	}
}

// applies reports whether a mode is in force that the launcher has to hold.
func (p *Plan) applies() bool { return p.mode.Rank() > 0 }
