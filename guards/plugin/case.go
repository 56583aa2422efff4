package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"unicode"

	"sallyport/guards"
	"sallyport/guards/plugin/script"
	"sallyport/guards/plugin/wire"
	"sallyport/internal/term"
)

// A Case is one inline test of a guard.
type Case struct {
	Command string
	Expect  guards.Verdict
	Why     string
	// Branch is checked out in the repository of the case; empty: main.
	Branch string
	// Cwd is where the command runs, relative to the repository.
	Cwd string
	// Env is added to the environment of the hook.
	Env map[string]string
	// Files are written into the repository first.
	Files map[string]string
	// Setup is shell text that is run in the repository last.
	Setup string

	line    int
	expects bool
}

func parseExpect(s string) (guards.Verdict, bool) {
	if s == "pass" || s == "allow" {
		return guards.Pass, true
	}
	if s == "" {
		return guards.Pass, false
	}
	return parseDecision(s)
}

func (c *Case) set(s setting) error {
	if s.key == "env" || s.key == "files" {
		m, ok := s.value.(map[string]string)
		if !ok {
			return lineErrorf(s.line, "%s must be a table of strings", s.key)
		}
		into := &c.Env
		if s.key == "files" {
			into = &c.Files
		}
		if *into == nil {
			*into = map[string]string{}
		}
		for k, v := range m {
			(*into)[k] = v
		}
		return nil
	}
	text, ok := s.value.(string)
	if !ok {
		return lineErrorf(s.line, "%s must be a string", s.key)
	}
	switch s.key {
	case "command":
		c.Command = text
	case "expect":
		if c.Expect, c.expects = parseExpect(text); !c.expects {
			return lineErrorf(s.line, "expect %q must be deny, ask, warn or pass", text)
		}
	case "why":
		c.Why = text
	case "branch":
		c.Branch = text
	case "cwd":
		if !filepath.IsLocal(text) {
			return lineErrorf(s.line, "cwd %q must stay inside the repository of the test", text)
		}
		c.Cwd = text
	case "setup":
		c.Setup = text
	default:
		return lineErrorf(s.line, "unknown key %s; a test has command, expect, why, branch, cwd, env, files and setup", s.key)
	}
	return nil
}

// scriptCases reads TESTS of a script: pairs of command and expectation, or
// dictionaries with the keys of a [[test]].
func scriptCases(raw json.RawMessage) ([]Case, error) {
	var list []json.RawMessage
	if s := strings.TrimSpace(string(raw)); s == "" || s == "null" {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("TESTS must be a list")
	}
	var out []Case
	for i, item := range list {
		var c Case
		var pair []string
		var table map[string]any
		switch {
		case json.Unmarshal(item, &pair) == nil && (len(pair) == 2 || len(pair) == 3):
			c.Command = pair[0]
			c.Expect, c.expects = parseExpect(pair[1])
			if len(pair) == 3 {
				c.Why = pair[2]
			}
		case json.Unmarshal(item, &table) == nil && table != nil:
			keys := make([]string, 0, len(table))
			for k := range table {
				keys = append(keys, k)
			}
			sort.Strings(keys)
			for _, k := range keys {
				v := table[k]
				if m, ok := v.(map[string]any); ok {
					texts := map[string]string{}
					for name, value := range m {
						texts[name] = fmt.Sprint(value)
					}
					v = texts
				}
				if err := c.set(setting{key: k, value: v}); err != nil {
					var le *lineError
					if errors.As(err, &le) {
						err = errors.New(le.text)
					}
					return nil, fmt.Errorf("test %d: %w", i+1, err)
				}
			}
		}
		if c.Command == "" || !c.expects {
			return nil, fmt.Errorf(`test %d must be ("command", "deny|ask|warn|pass") or a dictionary with command and expect`, i+1)
		}
		out = append(out, c)
	}
	return out, nil
}

// A Loaded is a guard file that was loaded whole.
type Loaded struct {
	Guard *guards.Guard
	Kind  string
	// Triggers are the ones it looks at.
	Triggers []string
	Cases    []Case
	// Err is why it does not work; its file and, where it is known, the line
	// stand in it.
	Err error
}

// Describe loads every guard of the set whole, in order: the declarative ones
// are parsed, the others loaded by their interpreter. Nothing is judged.
func (s *Set) Describe() []Loaded {
	var out []Loaded
	for _, f := range s.files {
		l := Loaded{Guard: f.guard, Kind: f.kind.String(), Triggers: f.triggers}
		l.Cases, l.Err = s.load(f)
		out = append(out, l)
	}
	return out
}

func (s *Set) load(f *file) ([]Case, error) {
	if f.kind == declarative {
		r, err := parseRule(f.data)
		if err != nil {
			return nil, located(f, err)
		}
		f.rule = r
		r.describe(f.guard)
		return r.cases, nil
	}
	if title := docTitle(string(f.data)); title != "" {
		f.guard.Title = title
	}
	value, err := s.ask(f, wire.Request{Op: "cases"}, nil)
	if err == nil {
		var cases []Case
		if cases, err = scriptCases(value); err == nil {
			return cases, nil
		}
	}
	return nil, located(f, err)
}

// docTitle is the first line of the string or comment that a script begins with.
func docTitle(src string) string {
	text := sentence(firstLine(script.Title(src)))
	if !strings.ContainsFunc(text, unicode.IsLetter) {
		return ""
	}
	return term.Clean(text, maxName)
}

// located puts the file in front of an error that does not name it.
func located(f *file, err error) error {
	var le *lineError
	switch {
	case errors.As(err, &le):
		return fmt.Errorf("%s:%d: %s", f.path, le.line, le.text)
	case strings.HasPrefix(err.Error(), f.path+":"):
		return err
	}
	return fmt.Errorf("%s: %w", f.path, err)
}

// Failed is why a guard of the set could not judge a command of this line, nil
// if it could.
func (s *Set) Failed(name string) error {
	for _, f := range s.files {
		if f.guard.Name == name && f.failed != nil {
			return located(f, f.failed)
		}
	}
	return nil
}

// LoadFiles makes a set of files that a person names, whatever directory they
// stand in.
func LoadFiles(o Options, paths []string, bundled []*guards.Guard) (*Set, error) {
	s := &Set{opts: o}
	for _, p := range paths {
		k, ok := kindOf(filepath.Base(p))
		if !ok {
			return nil, fmt.Errorf("%s: a guard file ends in .toml, .star or .py and begins with a letter or digit", p)
		}
		data, problem := readFile(p, false)
		if problem != "" {
			return nil, fmt.Errorf("%s: %s", p, problem)
		}
		f := &file{path: p, kind: k, data: data}
		f.head()
		s.files = append(s.files, f)
	}
	s.name(bundled)
	for _, f := range s.files {
		s.Guards = append(s.Guards, f.guard)
	}
	return s, nil
}
