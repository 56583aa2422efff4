package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"sallyport/internal/cli"
	"sallyport/settings"
)

// A SettingsEdit merges a JSON fragment into one settings file: members of
// objects join, elements that an array lacks are appended, a scalar is set only
// where the file has none.
type SettingsEdit struct {
	File     string // absolute
	Root     string // the project that File may lie in, besides the home directory
	Fragment string
	Reason   string
}

// An EditResult is what EditSettings did, or would do.
type EditResult struct {
	Plan    []EditedFile `json:"plan"`
	Notes   []string     `json:"notes,omitempty"`
	Applied bool         `json:"applied"`
}

// An EditedFile is one file of an [EditResult].
type EditedFile struct {
	Path   string `json:"path"`
	Action string `json:"action"` // new, changed, same
	Diff   string `json:"diff"`
	Reason string `json:"reason"`
}

// EditSettings shows what the edits would change, has it approved as install
// does, and makes all of the changes or none. Text goes to o.Stdout; o.JSON is
// ignored, the result is for the caller's document.
func EditSettings(o Options, edits []SettingsEdit) (EditResult, error) {
	return runEdits(o, func(r *runner) (*plan, error) { return r.planEdits(edits) })
}

// ReplaceFile shows a change of one text file, has it approved, and makes it.
// It is refused if the file does not hold before any more. file may lie in the
// home directory or in root.
func ReplaceFile(o Options, file, root string, before, after []byte) (EditResult, error) {
	return runEdits(o, func(r *runner) (*plan, error) {
		target, err := r.w.target(file, root)
		if err != nil {
			return nil, err
		}
		if err := writable(target); err != nil {
			return nil, err
		}
		c := change{Path: file, Action: "same", sum: sum(after)}
		if string(before) != string(after) {
			c.Action, c.backup, c.Diff = "changed", true, unified(r.w.short(file), before, after)
			c.stage = func(t *transaction) error {
				sweep(target)
				return t.edit(target, nonNil(before), after)
			}
		}
		return &plan{changes: []change{c}, done: "written"}, nil
	})
}

func runEdits(o Options, makePlan func(*runner) (*plan, error)) (EditResult, error) {
	o.JSON = false
	result := EditResult{Plan: []EditedFile{}}
	r, err := newRunner(o)
	if err != nil {
		return result, err
	}
	r.make = func() (*plan, error) {
		p, err := makePlan(r)
		if err != nil {
			return nil, err
		}
		result.Plan, result.Notes = result.Plan[:0], nil
		for _, c := range p.changes {
			result.Plan = append(result.Plan, EditedFile{c.Path, c.Action, c.Diff, c.Reason})
		}
		for _, n := range p.notes {
			result.Notes = append(result.Notes, n.Text)
		}
		result.Applied = p.pending()
		return p, nil
	}
	err = r.run()
	result.Applied = err == nil && result.Applied && !o.DryRun
	return result, err
}

// planEdits joins the edits of each file into one change.
func (r *runner) planEdits(edits []SettingsEdit) (*plan, error) {
	p := &plan{done: "applied; sessions that start now have it"}
	var files []string
	byFile := map[string][]SettingsEdit{}
	for _, e := range edits {
		if byFile[e.File] == nil {
			files = append(files, e.File)
		}
		byFile[e.File] = append(byFile[e.File], e)
	}
	for _, file := range files {
		group := byFile[file]
		doc, existed, target, err := r.readFileOf(file, group[0].Root)
		if err != nil {
			return nil, err
		}
		after, reason := doc, ""
		for _, e := range group {
			root, err := parseSettings(r.w.short(file), after)
			if err != nil {
				return nil, err
			}
			fragment, err := settings.ParseDocument([]byte(e.Fragment))
			if err != nil {
				return nil, fmt.Errorf("fragment for %s: %w", r.w.short(file), err)
			}
			changes, kept := mergeFragment(root, fragment.Root(), nil)
			for _, k := range kept {
				p.notes = append(p.notes, note{true, r.w.short(file) + k})
			}
			if after, err = settings.Apply(after, changes...); err != nil {
				return nil, conflict(r.w.short(file), "", "%v", err)
			}
			if len(changes) > 0 && e.Reason != "" {
				if reason != "" {
					reason += "; "
				}
				reason += e.Reason
			}
		}
		c := change{Path: file, Action: "same", sum: sum(after), Reason: reason}
		if string(after) != string(doc) || !existed && len(after) > 0 && reason != "" {
			c.Action = "changed"
			if !existed {
				c.Action = "new"
			}
			c.backup = true
			c.Diff = unified(r.w.short(file), maskJSON(doc), maskJSON(after))
			c.stage = func(t *transaction) error {
				if err := t.mkdir(filepath.Dir(target), 0o700); err != nil {
					return err
				}
				sweep(target)
				if !existed {
					return t.edit(target, nil, after)
				}
				return t.edit(target, nonNil(doc), after)
			}
		} else {
			c.sum = sum(doc)
		}
		p.changes = append(p.changes, c)
	}
	return p, nil
}

// readFileOf reads a settings file that lies in the home directory, the
// client's user directory or root; a missing one is empty. A file that cannot
// be written is refused only where it would be.
func (r *runner) readFileOf(file, root string) (doc []byte, existed bool, target string, err error) {
	if filepath.Dir(file) == r.w.configDir {
		root = ""
		if r.w.getenv("CLAUDE_CONFIG_DIR") != "" {
			root = r.w.configDir
		}
	}
	if target, err = r.w.target(file, root); err != nil {
		return nil, false, "", err
	}
	doc, err = readText(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, target, nil
	}
	if err == nil && !r.DryRun && r.refuse == nil {
		err = writable(target)
	}
	if err != nil && !errors.As(err, new(*cli.ExitError)) {
		err = cli.Exitf(cli.ExitRefused, "%v; nothing was changed", err)
	}
	return doc, err == nil, target, err
}

// mergeFragment is how a fragment is brought into what stands there. kept names
// scalars that a person set to something else, which stay.
func mergeFragment(have, want settings.Node, path []string) (changes []settings.Change, kept []string) {
	at := func(step string) []string { return append(path[:len(path):len(path)], step) }
	switch {
	case have.Kind() == settings.Absent:
		if len(path) > 0 {
			return []settings.Change{settings.Set(json.RawMessage(want.Raw()), path...)}, nil
		}
		want.Each(func(name string, v settings.Node) bool {
			changes = append(changes, settings.Set(json.RawMessage(v.Raw()), name))
			return true
		})
	case want.Kind() == settings.Object && have.Kind() == settings.Object:
		want.Each(func(name string, v settings.Node) bool {
			c, k := mergeFragment(have.Get(name), v, at(name))
			changes, kept = append(changes, c...), append(kept, k...)
			return true
		})
	case want.Kind() == settings.Array && have.Kind() == settings.Array:
		want.Each(func(_ string, v settings.Node) bool {
			there := false
			have.Each(func(_ string, h settings.Node) bool {
				there = sameNode(h, v)
				return !there
			})
			if !there {
				changes = append(changes, settings.Append(json.RawMessage(v.Raw()), path...))
			}
			return true
		})
	case !sameNode(have, want):
		line, column := have.Position()
		kept = append(kept, fmt.Sprintf(":%d:%d: %s is %s there and stays; change it to %s yourself if you want that",
			line, column, pointer(path), short(have.Raw()), short(want.Raw())))
	}
	return changes, kept
}

// sameNode compares two values; text by what it says, anything else as written.
func sameNode(a, b settings.Node) bool {
	if s, ok := a.Text(); ok {
		t, ok := b.Text()
		return ok && s == t
	}
	return string(a.Raw()) == string(b.Raw())
}

func short(raw []byte) string {
	if len(raw) > 40 {
		return string(raw[:40]) + "…"
	}
	return string(raw)
}
