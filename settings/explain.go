package settings

import (
	"fmt"
	"strconv"
	"strings"

	"sallyport/internal/regularfile"
	"sallyport/internal/term"
)

// A Disagreement is a value in a file that the client does not read, or that it
// ignores where it stands, which differs from the answer: a person put it there
// and may believe in it.
type Disagreement struct {
	Source
	Key    string
	Value  string // as written in the file
	Answer string // what counts instead, as JSON, with its source
	Reason string
}

func (d Disagreement) String() string {
	return fmt.Sprintf("%s: %s is %s here, but %s: %s", d.Source, d.Key, d.Value, d.Answer, d.Reason)
}

// safetyKeys are the booleans that Explain looks for disagreements in.
func safetyKeys() []string {
	return []string{enabledKey, autoAllowKey, bypassKey, failKey}
}

// Disagreements looks at the values of boolean keys in files that the client
// does not read, or drops, and in the ones where it ignores them.
func (s *Stack) Disagreements(keys ...string) []Disagreement {
	var out []Disagreement
	add := func(l *layer, key, reason string, n Node) {
		value, ok := n.Bool()
		answer := s.Bool(key)
		if !answer.Set {
			answer.Value = key == bypassKey // the client's default
		}
		if !ok || answer.Value == value {
			return
		}
		what := "nothing sets it"
		if answer.Set {
			what = fmt.Sprintf("%t counts from %s", answer.Value, answer.Source)
		}
		out = append(out, Disagreement{l.source(n), key, strconv.FormatBool(value), what, reason})
	}
	for i := range s.files {
		f := &s.files[i]
		if f.Status != NotRead && f.Status != Invalid {
			continue
		}
		data, err := regularfile.Read(f.Path, maxFile)
		if err != nil {
			continue
		}
		doc, err := ParseDocument(data)
		if err != nil {
			continue
		}
		l := &layer{Scope: f.Scope, path: f.Path, doc: doc}
		for _, key := range keys {
			add(l, key, f.Reason, doc.Root().Get(strings.Split(key, ".")...))
		}
	}
	for _, key := range keys {
		s.each(strings.Split(key, "."), func(l *layer, n Node, why string) bool {
			if why != "" {
				add(l, key, why, n)
			}
			return true
		})
	}
	return out
}

// An Explanation is how a stack came to its answers, for a person.
type Explanation struct {
	Client        string // the client and its version
	Start         string
	UserDir       string
	Files         []File
	Sandbox       Sandbox
	PromptsOff    string // how the session came to have no prompts, empty if it has
	Problems      []Problem
	Disagreements []Disagreement
	Notes         []string
}

// Explain gathers what a person needs to see why the sandbox state is what it
// is: every file considered, in order of precedence, and what speaks against it.
func (s *Stack) Explain() Explanation {
	_, prompts := s.PromptsOff()
	return Explanation{
		Client:        s.session.client(),
		Start:         s.start,
		UserDir:       s.UserDir(),
		Files:         s.Files(),
		Sandbox:       s.Sandbox(),
		PromptsOff:    prompts,
		Problems:      s.Problems(),
		Disagreements: s.Disagreements(safetyKeys()...),
		Notes:         append([]string(nil), s.notes...),
	}
}

// String is the explanation as plain text, made safe for a terminal.
func (e Explanation) String() string {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(term.Clean(fmt.Sprintf(format, args...), maxLine))
		b.WriteByte('\n')
	}
	line("Sandbox: %s", e.Sandbox.State)
	line("  %s", e.Sandbox.Why)
	if !e.Sandbox.BypassAllowed {
		line("  Requests to leave the sandbox are ignored (sandbox.allowUnsandboxedCommands is false).")
	}
	if e.PromptsOff != "" {
		line("Permission prompts: off, %s.", e.PromptsOff)
	}
	line("Session: %s, started in %s", e.Client, e.Start)
	line("Files, strongest first:")
	for _, f := range e.Files {
		status := f.Status.String()
		if f.Status == NotRead {
			// The reason begins with the same words.
			line("  %-12s %s", f.Scope, f.Path)
		} else {
			line("  %-12s %s: %s", f.Scope, f.Path, status)
		}
		if f.Reason != "" {
			line("  %-12s   %s", "", f.Reason)
		}
	}
	for _, part := range []struct {
		title string
		lines []string
	}{
		{"Problems:", texts(e.Problems)},
		{"Values that do nothing where they stand:", texts(e.Disagreements)},
		{"Notes:", e.Notes},
	} {
		if len(part.lines) > 0 {
			line("%s", part.title)
			for _, text := range part.lines {
				line("  %s", text)
			}
		}
	}
	return b.String()
}

// maxLine bounds a line of an explanation, in characters.
const maxLine = 1000

func texts[T fmt.Stringer](list []T) []string {
	out := make([]string, len(list))
	for i, item := range list {
		out[i] = item.String()
	}
	return out
}
