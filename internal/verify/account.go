package verify

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/internal/dirs"
	"sallyport/internal/setup"
	"sallyport/settings"
)

// machineChecks look at the account as a whole.
func machineChecks() []Check {
	return []Check{{
		ID: "V16", Title: "managed settings",
		Pass: "no managed value stands against one of yours",
		Fail: "a managed file turns the sandbox off",
		Warn: "a managed value takes the place of one of yours, or locks a list that you add to",
		NA:   "there are no managed settings",
		run:  managedConflicts,
	}, {
		ID: "V17", Title: "file modes",
		Pass: "settings, programs and the suite's own files belong to you, and nobody else may write them",
		Fail: "one belongs to another account, or every account may write it",
		Warn: "a group may write one",
		NA:   "on Windows, whose access lists are not looked at; or none of them is there",
		run:  fileModes,
	}}
}

func jsonString(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(data)
}

func managedConflicts(m *Machine) []Finding {
	var managed, others []settings.Layer
	for _, l := range m.Stack.Layers() {
		if l.Scope == settings.Managed {
			managed = append(managed, l)
		} else {
			others = append(others, l)
		}
	}
	if len(managed) == 0 {
		return []Finding{{Text: "there are no managed settings"}}
	}
	var out []Finding
	for _, l := range managed {
		leaves(l.Doc.Root(), "", func(key string, v settings.Node) {
			f := Finding{Status: Warn, File: l.Path, Pointer: "/" + strings.ReplaceAll(key, ".", "/"), Fix: "ask whoever manages this machine"}
			f.Line, f.Column = v.Position()
			if on, ok := v.Bool(); key == "sandbox.enabled" && ok && !on {
				f.Status, f.Text = Fail, "the sandbox is turned off for every session of this machine"
				out = append(out, f)
				return
			}
			if on, ok := v.Bool(); ok && on && strings.HasPrefix(key[strings.LastIndexByte(key, '.')+1:], "allowManaged") {
				f.Text = key + " is true: what your files add to that list does not count"
				out = append(out, f)
				return
			}
			if v.Kind() == settings.Array || v.Kind() == settings.Object {
				return
			}
			for _, o := range others {
				mine := o.Doc.Root().Get(strings.Split(key, ".")...)
				if mine.Kind() == settings.Absent || string(mine.Raw()) == string(v.Raw()) {
					continue
				}
				line, _ := mine.Position()
				g := f
				g.Text = fmt.Sprintf("%s is %s, and %s in %s:%d does not count", key, setup.Printable(key, string(v.Raw())), setup.Printable(key, string(mine.Raw())), m.Short(o.Path), line)
				out = append(out, g)
			}
		})
	}
	if len(out) == 0 {
		for _, l := range managed {
			out = append(out, Finding{Status: Pass, Text: "no conflict", File: l.Path})
		}
	}
	return out
}

func fileModes(m *Machine) []Finding {
	if m.GOOS == "windows" {
		return []Finding{{Text: "access lists are not looked at"}}
	}
	var files []string
	add := func(path string) {
		if path != "" && exists(path) && !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	for _, f := range m.Stack.Files() {
		if f.Scope != settings.Managed && f.Status != settings.NotRead && filepath.IsAbs(f.Path) {
			add(f.Path)
			add(filepath.Dir(f.Path))
		}
	}
	for _, h := range m.wired() {
		add(h.Program)
		add(filepath.Dir(h.Program))
	}
	if m.record != nil {
		for _, p := range m.record.Programs {
			add(p.Path)
		}
	}
	for _, dir := range []string{dirs.Config(m.Getenv), dirs.State(m.Getenv)} {
		add(dir)
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			add(filepath.Join(dir, e.Name()))
		}
	}
	var out []Finding
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		f := Finding{File: file}
		mode := info.Mode().Perm()
		switch {
		case setup.Foreign(file):
			f.Status, f.Text, f.Fix = Fail, "belongs to another account", "find out who put it there"
		case mode&0o002 != 0 && info.Mode()&fs.ModeSticky == 0:
			f.Status, f.Text, f.Fix = Fail, fmt.Sprintf("mode %04o: every account may write it", mode), "chmod o-w "+m.Short(file)
		case mode&0o020 != 0:
			f.Status, f.Text, f.Fix = Warn, fmt.Sprintf("mode %04o: a group may write it", mode), "chmod g-w "+m.Short(file)
		default:
			continue
		}
		out = append(out, f)
	}
	switch {
	case len(files) == 0:
		out = append(out, Finding{Text: "none of them is there"})
	case len(out) == 0:
		out = append(out, Finding{Status: Pass, Text: fmt.Sprintf("%d files and directories", len(files))})
	}
	return out
}
