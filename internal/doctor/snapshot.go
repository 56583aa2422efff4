package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sallyport/internal/atomicfile"
	"sallyport/internal/cli"
	"sallyport/internal/regularfile"
	"sallyport/internal/term"
	"sallyport/settings"
)

// A Snapshot is what the probes found at one time on one side of the wall.
type Snapshot struct {
	Kind    string    `json:"kind"` // snapshotKind
	Taken   time.Time `json:"taken"`
	Inside  bool      `json:"inside"`
	Dir     string    `json:"dir"`
	Results []Result  `json:"results"`
}

const (
	snapshotKind = "sallyport doctor snapshot 1"
	maxSnapshot  = 4 << 20
)

// Write keeps the snapshot in a file. An existing file is replaced only if it
// is a snapshot too.
func (s Snapshot) Write(path string) error {
	s.Kind = snapshotKind
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return cli.Exitf(cli.ExitRefused, "%v; nothing was written", err)
	case !info.Mode().IsRegular():
		return cli.Exitf(cli.ExitRefused, "%s is not a regular file; nothing was written, choose another name", term.Clean(path, 0))
	default:
		if _, err := ReadSnapshot(path); err != nil {
			return cli.Exitf(cli.ExitRefused, "%s exists and is not a snapshot; nothing was written, choose another name", term.Clean(path, 0))
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return err
	}
	if err := atomicfile.Write(path, b.Bytes(), 0o600); err != nil {
		return cli.Exitf(cli.ExitRefused, "write %s: %v; nothing was changed", term.Clean(path, 0), err)
	}
	return nil
}

// ReadSnapshot reads a file that [Snapshot.Write] made. The error names the
// place where it stops being one.
func ReadSnapshot(path string) (s Snapshot, err error) {
	name := term.Clean(path, 0)
	data, err := regularfile.Read(path, maxSnapshot)
	if err != nil {
		return s, cli.Exitf(cli.ExitInput, "snapshot %s: %s; make one with agent-setup doctor --snapshot FILE", name, reason(err))
	}
	again := "make it anew with agent-setup doctor --snapshot " + filepath.Base(name)
	doc, err := settings.ParseDocument(data)
	var syntax *settings.SyntaxError
	if errors.As(err, &syntax) {
		return s, cli.Exitf(cli.ExitInput, "%s:%d:%d: %s; %s", name, syntax.Line, syntax.Column, term.Clean(syntax.Message, 200), again)
	}
	if err == nil {
		if line, column, ok := doc.Repeated(); ok {
			return s, cli.Exitf(cli.ExitInput, "%s:%d:%d: the name stands twice in its object; %s", name, line, column, again)
		}
		err = json.Unmarshal(data, &s)
	}
	if err == nil && s.Kind != snapshotKind {
		err = fmt.Errorf("kind is %q, want %q", s.Kind, snapshotKind)
	}
	if err != nil {
		return s, cli.Exitf(cli.ExitInput, "%s: %s; %s", name, term.Clean(err.Error(), 300), again)
	}
	for i := range s.Results {
		// The file is data from outside like any other.
		r := &s.Results[i]
		r.Probe, r.Subject = term.Clean(r.Probe, 100), term.Clean(r.Subject, 200)
		switch r.Status {
		case Pass, Fail, Warn, None:
		default:
			return s, cli.Exitf(cli.ExitInput, "%s: results/%d: status %q is not one; %s", name, i, term.Clean(string(r.Status), 20), again)
		}
		s.Results[i] = finish(Probe{Name: r.Probe}, s.Results[i:i+1])[0]
	}
	s.Dir = term.Clean(s.Dir, 0)
	return s, nil
}

// A Difference explains one subject in the light of a snapshot.
type Difference struct {
	Result
	Verdict string `json:"verdict"` // one sentence
	// Sandbox says that the wall is to blame.
	Sandbox bool `json:"sandbox_caused"`
}

// Compare fills in Outside in the results of now, decides their causes, and
// returns what differs, and what fails on both sides.
func Compare(now []Result, inside bool, then Snapshot) (diffs []Difference, same int) {
	before := map[string]Result{}
	for _, r := range then.Results {
		before[r.Key()] = r
	}
	seen := map[string]bool{}
	for i := range now {
		r := &now[i]
		seen[r.Key()] = true
		old, ok := before[r.Key()]
		if ok {
			r.Outside = &Outside{old.Status, old.Evidence, old.Stderr, then.Inside}
		}
		var facts []Difference
		for _, name := range slices.Sorted(maps.Keys(r.Facts)) {
			if was, known := old.Facts[name]; ok && known && was != r.Facts[name] {
				d := Difference{Result: *r}
				d.Sandbox = inside != then.Inside
				d.Verdict = fmt.Sprintf("%s: %s %s, %s %s", name, was, side(then.Inside, "then"), r.Facts[name], side(inside, "now"))
				if gone := r.Facts[name]; inside && !then.Inside && (gone == "missing" || gone == "denied" || gone == "an empty directory") {
					d.Verdict += ": the sandbox hides it"
					if d.Status == Pass {
						d.Catalog = "linux-enoent-denial"
					}
				}
				facts = append(facts, d)
			}
		}
		if d, ok := judgeDifference(r, ok, old, inside, then.Inside); ok {
			diffs = append(diffs, d)
		} else if len(facts) == 0 {
			same++
		}
		diffs = append(diffs, facts...)
	}
	for _, old := range then.Results {
		if !seen[old.Key()] && (old.Status == Fail || old.Status == Warn) {
			d := Difference{Result: old}
			d.Verdict = "was " + string(old.Status) + " " + side(then.Inside, "then") + " and is not probed now"
			diffs = append(diffs, d)
		}
	}
	return diffs, same
}

func bad(s Status) bool { return s == Fail || s == Warn }

func judgeDifference(r *Result, known bool, old Result, inside, wasInside bool) (d Difference, ok bool) {
	switch {
	case !known:
		if r.Status != Fail {
			return d, false
		}
		d.Verdict = "fails, and the snapshot does not know it"
	case bad(r.Status) && bad(old.Status) && inside && wasInside:
		d.Verdict = "fails as it did: both times inside the sandbox, so this says nothing about the cause; take the snapshot in a terminal of your own"
	case bad(r.Status) && bad(old.Status):
		// The wall is on one side only, or on neither: it cannot be the cause.
		d.Verdict = "not caused by the sandbox: it fails outside as well"
		if r.Cause == Sandbox || r.Cause == Unclear {
			r.Fix = nil
		}
		r.Cause = Other
		if r.Advice == "" || inside {
			r.Advice = old.Advice
		}
	case bad(old.Status) && !wasInside && r.Status == None:
		d.Verdict = "not caused by the sandbox: it fails outside, and cannot be probed here"
	case bad(r.Status) && inside && !wasInside && old.Status == Pass && r.Cause == Other:
		d.Verdict = "inside only; outside: " + old.Evidence
	case bad(r.Status) && inside && !wasInside && old.Status == Pass:
		d.Verdict, d.Sandbox = "caused by the sandbox: it works outside", true
		if r.Cause == Unclear {
			r.Advice = "" // that was the advice to compare
		}
		r.Cause = Sandbox
	case r.Cause == Unclear && inside && !wasInside && old.Status == None:
		// It is not there outside either, so nothing is hidden.
		r.Status, r.Cause, r.Catalog, r.Advice, r.Fix = None, "", "", "", nil
		r.Evidence = old.Evidence
		return d, false
	case bad(r.Status) && inside && !wasInside:
		d.Verdict = "fails inside; outside there was nothing to probe"
	case bad(old.Status) && !inside && wasInside:
		d.Verdict, d.Sandbox = "works outside and failed inside: caused by the sandbox", r.Status == Pass
		if r.Status == None {
			d.Verdict = "failed inside; outside there is nothing to probe"
		}
	case bad(r.Status) && !inside && wasInside:
		d.Verdict = "fails outside only"
	case bad(r.Status) != bad(old.Status):
		d.Verdict = "was " + string(old.Status) + " and is " + string(r.Status) + ", both times " + side(inside, "") + ": a change over time"
	default:
		return d, false
	}
	d.Result = *r
	return d, true
}

func side(inside bool, when string) string {
	word := "outside"
	if inside {
		word = "inside"
	}
	if when == "" {
		return word
	}
	return word + " (" + when + ")"
}
