package policy

import (
	"errors"
	"fmt"
	"slices"

	"sallyport/internal/regularfile"
)

// A Level says what a warning means for the exit status.
type Level string

// Levels. Lossy is a statement of a source that an agent cannot express: it was
// narrowed or left out.
const (
	Info  Level = "info"
	Warn  Level = "warn"
	Lossy Level = "lossy"
)

// A Warning is something a person should know about a run.
type Warning struct {
	ID      string `json:"id"`
	Level   Level  `json:"level"`
	Agent   string `json:"agent,omitempty"`
	Source  string `json:"source,omitempty"`  // srt, bash or config
	Pointer string `json:"pointer,omitempty"` // JSON pointer into the source
	Message string `json:"message"`
}

// A Problem ends a run before anything is written.
type Problem struct {
	ID      string `json:"id"`
	Message string `json:"message"`
}

func (p *Problem) Error() string { return p.ID + ": " + p.Message }

// Ids of problems that are no fail-safe abort.
const (
	errConfig = "CONFIG-INVALID"
	errSource = "SOURCE-INVALID"
	errTarget = "TARGET-UNREADABLE"
	errStrict = "STRICT"
	errWrite  = "WRITE-FAILED"
)

// A notes collects what a run has to say. It keeps the first of equals.
type notes struct {
	warnings []Warning
	problems []Problem
}

func (n *notes) add(w Warning) {
	if !slices.Contains(n.warnings, w) {
		n.warnings = append(n.warnings, w)
	}
}

func (n *notes) problem(id, format string, args ...any) {
	p := Problem{id, fmt.Sprintf(format, args...)}
	if !slices.Contains(n.problems, p) {
		n.problems = append(n.problems, p)
	}
}

// fail records an error, which may be a Problem already.
func (n *notes) fail(id string, err error) {
	var p *Problem
	if errors.As(err, &p) {
		n.problem(p.ID, "%s", p.Message)
		return
	}
	n.problem(id, "%s", err)
}

// maxFile bounds every file that is read.
const maxFile = 8 << 20

// readFile reads a regular file of bounded size. The error names the file.
func readFile(path string) ([]byte, error) {
	data, err := regularfile.Read(path, maxFile)
	var large *regularfile.TooLargeError
	switch {
	case errors.As(err, &large):
		return nil, fmt.Errorf("%s: larger than %d MiB; is it the right file?", path, maxFile>>20)
	case errors.Is(err, regularfile.ErrNotRegular):
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, err
}
