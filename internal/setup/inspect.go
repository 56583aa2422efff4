package setup

import (
	"os"
	"time"

	"sallyport/settings"
)

// An Account is what somebody who only looks sees of the machine: the same
// places that [Install] works on.
type Account struct {
	w *world
}

// Look resolves the places of an account; home replaces $HOME if not empty.
func Look(environ []string, home string) (*Account, error) {
	w, err := newWorld(environ, home)
	if err != nil {
		return nil, err
	}
	return &Account{w}, nil
}

// Environ is the environment that the account's programs start with.
func (a *Account) Environ() []string { return a.w.environ }

// Getenv looks a variable of that environment up.
func (a *Account) Getenv(name string) string { return a.w.getenv(name) }

// Home is the home directory, absolute.
func (a *Account) Home() string { return a.w.home }

// Now is the time that counts for this run.
func (a *Account) Now() time.Time { return a.w.now }

// ConfigDir is the client's user directory.
func (a *Account) ConfigDir() string { return a.w.configDir }

// Short is a path as a person reads it, safe to print.
func (a *Account) Short(path string) string { return a.w.short(path) }

// Expand is the file that a word names for a person's shell.
func (a *Account) Expand(word string) string { return expand(word, a.w.home, a.w.configDir) }

// InsideSandbox reports the evidence that this process runs in the client's
// sandbox.
func (a *Account) InsideSandbox() (evidence []string, inside bool) {
	return insideSandbox(a.w.getenv, os.ReadFile)
}

// A Record is what the last installation wrote down.
type Record struct {
	Version  string
	Prefix   string
	Programs []Installed // sorted by name
	RC       []string    // start files that hold the block
}

// An Installed program or link.
type Installed struct {
	Name   string
	Path   string
	SHA256 string // empty for links
	Link   bool
	holds  func() bool
}

// Holds reports that the file is still what was installed.
func (i Installed) Holds() bool { return i.holds() }

// Record is nil without an error if nothing was installed.
func (a *Account) Record() (*Record, error) {
	m, err := readManifest(a.w.state)
	if m == nil || err != nil {
		return nil, err
	}
	r := &Record{Version: m.Version, Prefix: m.Prefix, RC: m.RC}
	for _, name := range sortedKeys(m.Binaries) {
		b := m.Binaries[name]
		r.Programs = append(r.Programs, Installed{name, b.Path, b.SHA256, b.Link, b.holds})
	}
	return r, nil
}

// StartFile is the start file of the account's shell, "" if the shell is not
// known.
func (a *Account) StartFile() string {
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	file, _, _ := startFile(a.w.getenv, a.w.home, exists)
	return file
}

// HasBlock reports that a start file holds the suite's block, or reads another
// toolkit's launcher, with its line. The error is that of a damaged block.
func (a *Account) HasBlock(file string) (block bool, otherLine int, err error) {
	text, rerr := readText(file)
	if rerr != nil {
		return false, 0, nil
	}
	_, block, err = findBlock(a.w.short(file), string(text))
	return block, otherLauncher(string(text)), err
}

// A HookEntry is one entry of a client's hook settings.
type HookEntry struct {
	Event, Matcher string
	Pointer        string // of the entry
	Line, Column   int
	Component      string // of the suite, empty for anything else
	Other          bool   // another toolkit's equivalent of the component
	Within         bool   // only a part of a larger command line
	Program        string // file that it starts, as far as it can be told
	Args           []string
	Command        string // as written
}

// Covers reports that the hook sees a tool.
func (h HookEntry) Covers(tool string) bool { return coversTools(h.Matcher, tool) }

// Hooks lists the hook entries of a settings file. The error says where the
// file has another shape than the client reads.
func (a *Account) Hooks(file string, root settings.Node) ([]HookEntry, error) {
	events, err := readHooks(file, root)
	if err != nil {
		return nil, err
	}
	var out []HookEntry
	for _, event := range sortedKeys(events) {
		for _, g := range events[event] {
			for _, e := range g.entries {
				h := a.wired(e.raw)
				h.Event, h.Matcher, h.Pointer = event, g.matcher, pointer(e.path)
				out = append(out, h)
			}
		}
	}
	return out, nil
}

// StatusLine reads the value of statusLine; ok is false if it is no command.
func (a *Account) StatusLine(line settings.Node) (h HookEntry, ok bool) {
	if _, ok = parseInvocation(line); !ok {
		return h, false
	}
	h = a.wired(line)
	h.Pointer = "/statusLine"
	return h, true
}

func (a *Account) wired(entry settings.Node) HookEntry {
	h := HookEntry{}
	h.Line, h.Column = entry.Position()
	h.Command, _ = entry.Get("command").Text()
	inv, ok := parseInvocation(entry)
	if !ok {
		return h
	}
	h.Within, h.Args = inv.within, inv.args
	h.Program = inv.program
	if inv.shell {
		h.Program = expand(inv.program, a.w.home, a.w.configDir)
	}
	if name, other, found := identify(inv.name()); found {
		h.Component, h.Other = name, other
	}
	return h
}

// HooksOff lists what keeps the client from running hooks of the user's file.
func (a *Account) HooksOff(stack *settings.Stack) []string { return hooksOff(stack) }

// LookPath finds a program on the account's PATH, "" if it is not there.
func (a *Account) LookPath(name string) string { return a.w.lookPath(name) }

// Client is the version of the installed client, "" if it does not say; found
// is false if there is none.
func (a *Account) Client() (version string, found bool) {
	v, found := clientVersion(a.w.lookPath, a.w.environ, 5*time.Second)
	if !v.known() {
		return "", found
	}
	return v.String(), found
}

// Older compares two dotted versions; ok is false if one cannot be read.
func Older(version, than string) (older, ok bool) {
	v, ok := parseVersion(version)
	if _, known := parseVersion(than); !ok || !known {
		return false, false
	}
	return v.before(than), true
}

// A WantedHook is an entry about tool calls that every installation wires.
type WantedHook struct {
	Component, Event string
	Tools            []string
}

// WantedHooks lists what install wires without being asked for more, so that
// no tool call goes unseen.
func WantedHooks() []WantedHook {
	var out []WantedHook
	for _, c := range components() {
		for _, h := range c.Hooks {
			if !c.Off && h.Option == "" && h.Since == "" && len(h.Tools) > 0 {
				out = append(out, WantedHook{c.Name, h.Event, h.Tools})
			}
		}
	}
	return out
}

// Programs lists the names of the suite's programs.
func Programs() []string { return programs(components()) }

// GuardPlugin is the name of an enabled plugin that brings agent-guard along.
func GuardPlugin(root settings.Node) string { return guardPlugin(root) }

// Foreign reports that a file belongs neither to the account nor to root.
func Foreign(path string) bool {
	info, err := os.Stat(path)
	return err == nil && foreignOwner(info) && !rootOwned(info)
}

// Printable is a value of a settings file for a person: short, and hidden where
// its key says so.
func Printable(key, value string) string { return shown(key, value) }
