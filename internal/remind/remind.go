// Package remind suggests, once in a while, to look whether the suite is up to
// date. It keeps two small files, one of the account and one of a project, and
// never starts anything or asks the network.
package remind

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sallyport/internal/atomicfile"
	"sallyport/internal/cli"
	"sallyport/internal/regularfile"
	"sallyport/internal/term"
	"sallyport/internal/tomltext"
	"sallyport/settings"
)

// A State is what one file remembers. Dates are YYYY-MM-DD.
type State struct {
	Fingerprint  string `json:"fingerprint,omitempty"` // of the suite at the last update
	UpdatedAt    string `json:"updated_at,omitempty"`
	RemindedAt   string `json:"reminded_at,omitempty"`
	Acknowledged string `json:"acknowledged,omitempty"` // a fingerprint that was spoken of
	Enabled      *bool  `json:"enabled,omitempty"`      // false silences everything
	SnoozedUntil string `json:"snoozed_until,omitempty"`
	// Canaries are what update saw refused, to notice when that ends.
	Canaries map[string]string `json:"canaries,omitempty"`
}

// MachineFile and ProjectFile are where the states stand.
func MachineFile(state string) string { return filepath.Join(state, "remind.json") }

// ProjectFile is [MachineFile] for a project.
func ProjectFile(root string) string {
	return filepath.Join(root, ".sallyport-local", "remind.json")
}

const maxState = 256 << 10

// Read reads a state; a missing file is an empty one. The error names file and
// line.
func Read(file string) (s State, err error) {
	data, err := readFile(file)
	if err != nil || data == nil {
		return s, err
	}
	doc, err := settings.ParseDocument(data)
	var syntax *settings.SyntaxError
	if errors.As(err, &syntax) {
		return s, broken(file, syntax.Line, syntax.Column, syntax.Message)
	}
	if err == nil {
		if line, column, ok := doc.Repeated(); ok {
			return s, broken(file, line, column, "the name stands twice in its object")
		}
		if doc.Root().Kind() != settings.Object {
			return s, broken(file, 1, 1, "not an object")
		}
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return State{}, broken(file, 1, 1, err.Error())
	}
	return s, nil
}

func readFile(file string) ([]byte, error) {
	data, err := regularfile.Read(file, maxState)
	var large *regularfile.TooLargeError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, regularfile.ErrNotRegular), errors.As(err, &large):
		return nil, broken(file, 0, 0, "not a state file: "+err.Error())
	case err != nil:
		return nil, cli.Exitf(cli.ExitRefused, "%v", err)
	}
	return data, nil
}

func broken(file string, line, column int, what string) error {
	at := term.Clean(file, 0)
	if line > 0 {
		at += fmt.Sprintf(":%d:%d", line, column)
	}
	return cli.Exitf(cli.ExitInput, "%s: %s; repair the file or delete it", at, term.Clean(what, 200))
}

// Write sets members of a state and keeps all others. Members with a nil value
// are removed. Only one process writes at a time; ErrBusy says that it was
// another.
func Write(file string, members map[string]any) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return cli.Exitf(cli.ExitRefused, "%v; nothing was changed", err)
	}
	lock, err := atomicfile.TryLock(filepath.Join(filepath.Dir(file), ".remind.lock"))
	for tries := 0; errors.Is(err, atomicfile.ErrLocked) && tries < 20; tries++ {
		time.Sleep(25 * time.Millisecond)
		lock, err = atomicfile.TryLock(filepath.Join(filepath.Dir(file), ".remind.lock"))
	}
	if err != nil {
		return cli.Exitf(cli.ExitRefused, "%s: %v; nothing was changed", term.Clean(file, 0), err)
	}
	defer lock.Unlock()
	if _, err := Read(file); err != nil {
		return err
	}
	data, err := readFile(file)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(file); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return cli.Exitf(cli.ExitRefused, "%s is a symbolic link; nothing was changed", term.Clean(file, 0))
	}
	var changes []settings.Change
	for _, name := range []string{"fingerprint", "updated_at", "reminded_at", "acknowledged", "enabled", "snoozed_until", "canaries"} {
		if v, ok := members[name]; ok && v == nil {
			changes = append(changes, settings.Delete(name))
		} else if ok {
			changes = append(changes, settings.Set(v, name))
		}
	}
	after, err := settings.Apply(data, changes...)
	if err != nil {
		return cli.Exitf(cli.ExitInput, "%s: %v", term.Clean(file, 0), err)
	}
	if string(after) == string(data) {
		return nil
	}
	if err := atomicfile.Write(file, after, 0o600); err != nil {
		return cli.Exitf(cli.ExitRefused, "%v; nothing was changed", err)
	}
	return nil
}

// A Reason is why there is something to say.
type Reason string

// Reasons. Changed comes first.
const (
	Changed Reason = "changed" // this suite is not the one of the last update
	Due     Reason = "due"     // the last update is long ago
)

// A Look is all that a decision needs.
type Look struct {
	Now              time.Time
	Fingerprint      string // of this program
	Machine, Project State
	Interval         int // days; 0 switches Due off
	// Used says that the suite is used here: it was installed, or the project
	// asks for a sandbox.
	Used bool
}

// Decide says whether to remind, and why. days is since the last time, -1 if
// there was none.
func Decide(l Look) (reason Reason, days int) {
	off := func(s State) bool { return s.Enabled != nil && !*s.Enabled }
	today := l.Now.UTC().Format(time.DateOnly)
	if !l.Used || off(l.Machine) || off(l.Project) || l.Machine.SnoozedUntil > today || l.Project.SnoozedUntil > today {
		return "", 0
	}
	recorded := l.Machine.Fingerprint
	if recorded == "" {
		recorded = l.Project.Fingerprint
	}
	if recorded != "" && l.Fingerprint != recorded && l.Fingerprint != l.Machine.Acknowledged && l.Fingerprint != l.Project.Acknowledged {
		return Changed, 0
	}
	if l.Interval <= 0 {
		return "", 0
	}
	last := max(l.Machine.UpdatedAt, l.Machine.RemindedAt, l.Project.UpdatedAt, l.Project.RemindedAt)
	then, err := time.Parse(time.DateOnly, last)
	if err != nil {
		return Due, -1
	}
	now, _ := time.Parse(time.DateOnly, today)
	if days = int(now.Sub(then).Hours() / 24); days >= l.Interval {
		return Due, days
	}
	return "", 0
}

// Message is what a person reads: at most two lines.
func Message(r Reason, days int) string {
	what := ""
	switch {
	case r == Changed:
		what = "sallyport is not the version of the last update check."
	case days < 0:
		what = "sallyport was never checked for updates here."
	default:
		what = fmt.Sprintf("sallyport was last looked at %d days ago.", days)
	}
	return what + " agent-setup update shows what differs.\nLater: agent-setup remind snooze 30d. Never: agent-setup remind off."
}

// DefaultInterval is in days.
const DefaultInterval = 7

// Interval reads how often a project wants to be reminded. A value that cannot
// be used counts as the default and is returned as a problem.
func Interval(root string) (days int, problem error) {
	for _, dir := range []string{".sallyport-local", ".sallyport"} {
		file := filepath.Join(root, dir, "config.toml")
		data, err := tomltext.Read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var config struct {
			Interval any `toml:"update_interval_days"`
		}
		if err == nil {
			err = tomltext.Decode(file, data, &config, false)
		}
		if err != nil {
			return DefaultInterval, err
		}
		switch v := config.Interval.(type) {
		case nil:
			continue
		case int64:
			if v >= 0 && v <= 36500 {
				return int(v), nil
			}
		}
		line := 1
		for n, text := range strings.Split(string(data), "\n") {
			if name, _, _ := strings.Cut(text, "="); strings.TrimSpace(name) == "update_interval_days" {
				line = n + 1
			}
		}
		return DefaultInterval, &tomltext.Error{File: file, Line: line, Message: "update_interval_days is not a number of days; it counts as " + fmt.Sprint(DefaultInterval)}
	}
	return DefaultInterval, nil
}
