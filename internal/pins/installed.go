package pins

import (
	"context"
	"slices"
	"strings"
	"time"

	"sallyport/internal/childproc"
)

// A State is what is known of a tool on this machine.
type State struct {
	Tool      Tool
	Installed string // empty if missing or not known
	Missing   bool
	Asked     bool // there is a way to ask for the version
	Status    Status
	Note      string
}

// A Status compares what is installed with what is wanted.
type Status string

// Statuses.
const (
	OK       Status = "ok"
	Mismatch Status = "mismatch" // another version than the pin, or none
	Below    Status = "below"    // lower than the floor
	Unknown  Status = "unknown"  // installed, and its version cannot be told
	Skipped  Status = "skipped"  // not for this platform
)

// asks are the programs whose version can be asked for: how, and how the answer
// begins.
var asks = map[string]struct {
	program string
	flag    string
	before  string // of the version, on one of the lines
	after   string
}{
	"bubblewrap":  {"bwrap", "--version", "bubblewrap ", ""},
	"socat":       {"socat", "-V", "socat version ", ""},
	"claude-code": {"claude", "--version", "", "(Claude Code)"},
}

const askLimit = 5 * time.Second

// Check looks at every tool. env is the environment to look in.
func Check(ctx context.Context, tools []Tool, goos string, environ []string, getenv func(string) string) []State {
	var all []State
	for _, t := range tools {
		s := State{Tool: t}
		if len(t.Platforms) > 0 && !slices.Contains(t.Platforms, goos) {
			s.Status, s.Note = Skipped, "only on "+strings.Join(t.Platforms, ", ")
			all = append(all, s)
			continue
		}
		if ask, ok := asks[t.Name]; ok {
			s.Asked = true
			path, found := childproc.LookPath(ask.program, getenv)
			s.Missing = !found
			if found {
				ctx, cancel := context.WithTimeout(ctx, askLimit)
				out, err := childproc.Program{Path: path, Args: []string{ask.flag}, Env: environ}.Output(ctx, 64<<10)
				if err == nil {
					s.Installed = findVersion(string(out), ask.before, ask.after)
				}
				cancel()
			}
		}
		s.judge()
		all = append(all, s)
	}
	return all
}

func (s *State) judge() {
	t := s.Tool
	switch {
	case !s.Asked:
		s.Status, s.Note = Unknown, "not known how to ask it for its version"
	case s.Missing && t.Version == "":
		s.Status, s.Note = Unknown, "not on PATH"
	case s.Missing:
		s.Status, s.Note = Mismatch, "not on PATH"
	case s.Installed == "":
		s.Status, s.Note = Unknown, "does not tell its version"
	case t.Version == "" && Compare(s.Installed, t.MinVersion) < 0:
		s.Status, s.Note = Below, "below the floor"
	case t.Version == "" || Matches(t.Version, s.Installed):
		s.Status = OK
		if t.AcceptRisk != "" {
			s.Note = "risk accepted: " + t.AcceptRisk
		}
	case Compare(s.Installed, t.Version) < 0:
		s.Status, s.Note = Mismatch, "older than the pin"
	default:
		s.Status, s.Note = Mismatch, "newer than the pin"
	}
}

// findVersion reads the word behind before on the first line that has it, and
// after if that is given.
func findVersion(out, before, after string) string {
	for line := range strings.Lines(out) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), before)
		if !ok || after != "" && !strings.Contains(rest, after) {
			continue
		}
		if words := strings.Fields(rest); len(words) > 0 && valid(words[0]) {
			return words[0]
		}
	}
	return ""
}
