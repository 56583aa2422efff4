package setup

import (
	"path/filepath"
	"slices"
	"time"

	"sallyport/internal/dirs"
	"sallyport/settings"
)

// A WiredHook is an entry of a settings file that the client starts.
type WiredHook struct {
	Event     string // "statusLine" for that
	Component string // the suite's component; empty for anything else
	Pointer   string // JSON pointer of the entry
	Program   string // absolute file; empty where it cannot be told
	Args      []string
	Timeout   time.Duration
}

// WiredHooks lists the hook entries and the status line of a user settings
// file, the suite's and others.
func WiredHooks(file string, doc []byte, getenv func(string) string) ([]WiredHook, error) {
	root, err := parseSettings(file, doc)
	if err != nil {
		return nil, err
	}
	events, err := readHooks(file, root)
	if err != nil {
		return nil, err
	}
	home := dirs.Home(getenv)
	configDir := filepath.Dir(file)
	wired := func(event, where string, inv invocation, ok bool, raw settings.Node) WiredHook {
		h := WiredHook{Event: event, Pointer: where, Timeout: 60 * time.Second}
		if seconds, ok := raw.Get("timeout").Int(); ok && seconds > 0 {
			h.Timeout = time.Duration(min(seconds, 3600)) * time.Second
		}
		if !ok || inv.within || len(inv.env) > 0 || inv.script {
			return h
		}
		name, other, known := identify(inv.name())
		if !known || other {
			return h
		}
		program := inv.program
		if inv.shell {
			program = expand(filepath.ToSlash(program), home, configDir)
		}
		if filepath.IsAbs(program) {
			h.Component, h.Program, h.Args = name, filepath.FromSlash(program), inv.args
		}
		return h
	}
	var all []WiredHook
	for _, event := range sortedKeys(events) {
		for _, g := range events[event] {
			for _, e := range g.entries {
				all = append(all, wired(event, pointer(e.path), e.inv, e.ok, e.raw))
			}
		}
	}
	if line := root.Get("statusLine"); line.Kind() == settings.Object {
		inv, ok := parseInvocation(line)
		all = append(all, wired("statusLine", "/statusLine", inv, ok, line))
	}
	return slices.Clip(all), nil
}
