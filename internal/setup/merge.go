package setup

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sallyport/settings"
)

// An edit is one change to a JSON document. Path names members, and elements
// of arrays by their index. Edits are applied in order.
type edit struct {
	Op    editOp
	Path  []string
	Value string // JSON text, not of opDelete
}

type editOp string

const (
	opSet    editOp = "set"    // give a member or element a value, making parents
	opAppend editOp = "append" // add an element to an array, making it and its parents
	opDelete editOp = "delete" // take a member or element away
)

// pointer renders a path as a JSON pointer (RFC 6901).
func pointer(path []string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, p := range path {
		b.WriteString("/" + escape.Replace(p))
	}
	return b.String()
}

// A note is something that a person should know about the plan.
type note struct {
	Warn bool   `json:"warn"` // counts as ⚠ in the verify table
	Text string `json:"text"`
}

// A wiring says what the settings should hold.
type wiring struct {
	Components []Component
	Options    []string
	Dir        string // where the programs are
	Home       string
	ConfigDir  string
	Client     version // zero if unknown
	Shell      bool    // shell form for every hook
	// Seed uses plain Bash as the matcher; SeedAsked says that a person chose.
	Seed, SeedAsked bool
	ReplaceOthers   bool  // take over what another toolkit installed
	FailClosed      *bool // nil leaves an existing entry's value
}

// A row is one hook entry that the settings should hold.
type row struct {
	Hook
	Component string
	Program   string
}

// rows lists the entries that are wanted. One that waits for an option or for a
// newer client is wanted as well if it is there already: it has to follow when
// the programs move.
func (w *wiring) rows(skip map[string]bool, events map[string][]hookGroup) []row {
	var rows []row
	for _, c := range w.Components {
		if skip[c.Name] {
			continue
		}
		for _, h := range c.Hooks {
			r := row{h, c.Name, c.Program}
			waits := h.Option != "" && !slices.Contains(w.Options, h.Option) ||
				h.Since != "" && (!w.Client.known() || w.Client.before(h.Since))
			if waits {
				found, other, _ := w.find(events[h.Event], r, r.matcher(w.Seed), map[string]takenEntry{})
				if found == nil || other || !sameTools(found.group.matcher, r.matcher(w.Seed)) {
					continue
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// path is the program's file with forward slashes, which every shell and the
// client understand on every system.
func (w *wiring) path(program string) string {
	return strings.ReplaceAll(w.Dir, `\`, "/") + "/" + executable(program)
}

// command is how an entry starts a program: env and flags are a person's own
// additions, which stay. args is nil for the shell form.
func (w *wiring) command(program string, env, args []string, shell bool) (command string, execArgs []string) {
	if !shell && len(env) == 0 {
		return w.path(program), append([]string{}, args...)
	}
	var words []string
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		words = append(words, name+"="+quote(value))
	}
	words = append(words, homeWord(w.path(program), strings.ReplaceAll(w.Home, `\`, "/")))
	for _, a := range args {
		words = append(words, quote(a))
	}
	return strings.Join(words, " "), nil
}

// entry renders a new hook entry.
func (w *wiring) entry(r row) string {
	command, args := w.command(r.Program, nil, r.Args, w.Shell)
	var b strings.Builder
	b.WriteString(`{"type":"command","command":` + jsonText(command))
	if args != nil {
		b.WriteString(`,"args":` + jsonText(args))
	}
	fmt.Fprintf(&b, `,"timeout":%d`, r.Timeout)
	if r.Guards && w.FailClosed != nil && *w.FailClosed {
		b.WriteString(`,"onFailure":"block"`)
	}
	b.WriteString("}")
	return b.String()
}

func jsonText(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // strings and slices of strings always encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// A hookGroup and its entries are what a settings file holds for an event.
type hookGroup struct {
	path    []string
	matcher string
	entries []hookEntry
}

type hookEntry struct {
	path []string
	raw  settings.Node
	inv  invocation
	ok   bool // inv could be read
}

// tools is the set of tool names a matcher selects, sorted; all is true for a
// matcher that selects every tool. A regular expression is its own only name.
func tools(matcher string) (names []string, all bool) {
	if matcher == "" || matcher == "*" {
		return nil, true
	}
	for _, n := range strings.FieldsFunc(matcher, func(r rune) bool { return r == '|' || r == ',' }) {
		names = append(names, strings.TrimSpace(n))
	}
	slices.Sort(names)
	return slices.Compact(names), false
}

func sameTools(a, b string) bool {
	x, allX := tools(a)
	y, allY := tools(b)
	return allX == allY && slices.Equal(x, y)
}

func coversTools(have, want string) bool {
	x, all := tools(have)
	if all {
		return true
	}
	y, all := tools(want)
	if all {
		return false
	}
	return !slices.ContainsFunc(y, func(n string) bool { return !slices.Contains(x, n) })
}

func shareTools(a, b string) bool {
	x, allX := tools(a)
	y, allY := tools(b)
	return allX || allY || slices.ContainsFunc(x, func(n string) bool { return slices.Contains(y, n) })
}

// readHooks returns the groups of every event. A shape that the client would
// not read is an error, because an edit next to it could make things worse.
func readHooks(file string, root settings.Node) (map[string][]hookGroup, error) {
	var err error
	// want is false, and err set, for a node of another kind.
	want := func(n settings.Node, kind settings.Kind, what string, path ...string) bool {
		if n.Kind() == kind {
			return true
		}
		at := file
		if line, column := n.Position(); line > 0 {
			at += ":" + itoa(line) + ":" + itoa(column)
		}
		err = conflict(at, pointer(path), "want %s, found %s", what, n.Kind())
		return false
	}
	events := map[string][]hookGroup{}
	if root.Kind() == settings.Absent {
		return events, nil
	}
	if !want(root, settings.Object, "a JSON object") {
		return nil, err
	}
	if line := root.Get("statusLine"); line.Kind() != settings.Absent && line.Kind() != settings.Null {
		if !want(line, settings.Object, "an object", "statusLine") {
			return nil, err
		}
	}
	hooks := root.Get("hooks")
	if hooks.Kind() == settings.Absent {
		return events, nil
	}
	if !want(hooks, settings.Object, "an object of events", "hooks") {
		return nil, err
	}
	hooks.Each(func(event string, groups settings.Node) bool {
		if !want(groups, settings.Array, "an array of {matcher, hooks} groups", "hooks", event) {
			return false
		}
		i := 0
		groups.Each(func(_ string, g settings.Node) bool {
			group := hookGroup{path: []string{"hooks", event, itoa(i)}}
			i++
			list := g.Get("hooks")
			if !want(g, settings.Object, "an object with a hooks array", group.path...) ||
				!want(list, settings.Array, "an array of hooks", append(group.path, "hooks")...) {
				return false
			}
			if m := g.Get("matcher"); m.Kind() != settings.Absent {
				if !want(m, settings.String, `a string such as "Bash|PowerShell" (the client drops the whole file otherwise)`, append(group.path, "matcher")...) {
					return false
				}
				group.matcher, _ = m.Text()
			}
			list.Each(func(_ string, h settings.Node) bool {
				e := hookEntry{path: append(slices.Clone(group.path), "hooks", itoa(len(group.entries))), raw: h}
				e.inv, e.ok = parseInvocation(h)
				group.entries = append(group.entries, e)
				return want(h, settings.Object, "an object", e.path...)
			})
			events[event] = append(events[event], group)
			return err == nil
		})
		return err == nil
	})
	return events, err
}

// A merge is what has to happen to a settings file.
type merge struct {
	Edits []edit
	Notes []note
	// Created lists what the edits make besides entries, as pointers; groups
	// by event and matcher, since their index can change.
	Created []string
	// StatusLine is the value that the edits replace, as JSON, or empty.
	StatusLine string
}

func (m *merge) add(op editOp, value string, path ...string) {
	m.Edits = append(m.Edits, edit{op, path, value})
}

func (m *merge) note(warn bool, format string, args ...any) {
	m.Notes = append(m.Notes, note{warn, fmt.Sprintf(format, args...)})
}

// plan compares a settings file with what it should hold.
func (w *wiring) plan(file string, root settings.Node) (*merge, error) {
	events, err := readHooks(file, root)
	if err != nil {
		return nil, err
	}
	m := &merge{}
	skip := map[string]bool{}
	if plugin := guardPlugin(root); plugin != "" && slices.ContainsFunc(w.Components, func(c Component) bool { return c.Name == "agent-guard" }) {
		skip["agent-guard"] = true
		m.note(false, "agent-guard is not wired: the enabled plugin %s provides it already", plugin)
	}
	type newGroup struct {
		matcher string
		entries []string
	}
	var order []string
	fresh := map[string][]*newGroup{}
	taken := map[string]takenEntry{} // by pointer
	emptied := map[string]int{}
	var removals [][]string
	for _, r := range w.rows(skip, events) {
		want := r.matcher(w.Seed)
		found, other, within := w.find(events[r.Event], r, want, taken)
		if within != "" {
			m.note(true, "%s runs within a larger command at %s; left as it is", r.Component, within)
			continue
		}
		if found != nil && other && !w.ReplaceOthers {
			name, _ := found.entry.inv.name()
			m.note(false, "%s at %s is equivalent to %s, installed by another toolkit; --replace-seed swaps it", name, pointer(found.entry.path), r.Component)
			if !coversTools(found.group.matcher, want) {
				m.note(true, "that entry sees %s only, not all of %s", found.group.matcher, want)
			}
			continue
		}
		fits := found != nil && (sameTools(found.group.matcher, want) || !w.SeedAsked && coversTools(found.group.matcher, want))
		if fits {
			w.update(m, r, found.entry)
			continue
		}
		value := w.entry(r)
		if found != nil {
			// A narrower or wider group: the entry moves, with a person's additions.
			value = w.moved(r, found.entry)
			removals = append(removals, found.entry.path)
			emptied[pointer(found.group.path)]++
		}
		if i := slices.IndexFunc(events[r.Event], func(g hookGroup) bool { return sameTools(g.matcher, want) }); i >= 0 {
			m.add(opAppend, value, append(slices.Clone(events[r.Event][i].path), "hooks")...)
			continue
		}
		if fresh[r.Event] == nil {
			order = append(order, r.Event)
		}
		i := slices.IndexFunc(fresh[r.Event], func(g *newGroup) bool { return sameTools(g.matcher, want) })
		if i < 0 {
			fresh[r.Event] = append(fresh[r.Event], &newGroup{matcher: want})
			i = len(fresh[r.Event]) - 1
		}
		g := fresh[r.Event][i]
		g.entries = append(g.entries, value)
	}
	if len(order) > 0 && root.Get("hooks").Kind() == settings.Absent {
		m.Created = append(m.Created, "/hooks")
	}
	for _, event := range order {
		if root.Get("hooks", event).Kind() == settings.Absent {
			m.Created = append(m.Created, pointer([]string{"hooks", event}))
		}
		for _, g := range fresh[event] {
			text := "{"
			if g.matcher != "" {
				text += `"matcher":` + jsonText(g.matcher) + ","
			}
			m.add(opAppend, text+`"hooks":[`+strings.Join(g.entries, ",")+"]}", "hooks", event)
			m.Created = append(m.Created, groupKey(event, g.matcher))
		}
	}
	// Deletions come last and from the end, so that no index above moves.
	m.remove(events, removals, func(g hookGroup) bool { return emptied[pointer(g.path)] == len(g.entries) })
	w.planStatusLine(m, root)
	m.duplicates(events, taken)
	return m, nil
}

func groupKey(event, matcher string) string { return event + " " + matcher }

type foundEntry struct {
	group hookGroup
	entry hookEntry
}

// find looks for the entry of a row: in a group of the same tools, else in one
// that shares a tool; the suite's own entry is preferred to another toolkit's.
func (w *wiring) find(groups []hookGroup, r row, want string, taken map[string]takenEntry) (found *foundEntry, other bool, within string) {
	best := 0
	for _, g := range groups {
		if !shareTools(g.matcher, want) {
			continue
		}
		for _, e := range g.entries {
			if _, used := taken[pointer(e.path)]; used || !e.ok {
				continue
			}
			isOther, ok := e.inv.runs(r.Component, r.Args)
			if !ok {
				continue
			}
			if e.inv.within {
				within = pointer(e.path)
				continue
			}
			score := 1
			if !isOther {
				score += 2
			}
			if sameTools(g.matcher, want) {
				score++
			}
			if score > best {
				best, found, other = score, &foundEntry{g, e}, isOther
			}
		}
	}
	if found == nil {
		return nil, false, within
	}
	taken[pointer(found.entry.path)] = takenEntry{r, found.group.matcher}
	return found, other, ""
}

// extras are a person's additions to an entry of ours: assignments before the
// program and flags after the sub-command. Those of another toolkit's program
// mean nothing to ours.
func extras(r row, inv invocation) (env, args []string) {
	if other, _ := inv.runs(r.Component, r.Args); other {
		return nil, r.Args
	}
	return inv.env, inv.args
}

// update brings an entry up to date member by member; members that the suite
// does not know stay.
func (w *wiring) update(m *merge, r row, e hookEntry) {
	env, args := extras(r, e.inv)
	command, execArgs := w.command(r.Program, env, args, w.Shell)
	set := func(key, value string) { m.add(opSet, value, append(slices.Clone(e.path), key)...) }
	drop := func(key string) { m.add(opDelete, "", append(slices.Clone(e.path), key)...) }
	if have, _ := e.raw.Get("command").Text(); have != command {
		set("command", jsonText(command))
	}
	have, isList := texts(e.raw.Get("args"))
	switch {
	case execArgs == nil && e.raw.Get("args").Kind() != settings.Absent:
		drop("args")
	case execArgs != nil && (!isList || !slices.Equal(have, execArgs)):
		set("args", jsonText(execArgs))
	}
	if t, err := strconv.ParseFloat(string(e.raw.Get("timeout").Raw()), 64); err != nil || t != float64(r.Timeout) {
		set("timeout", strconv.Itoa(r.Timeout))
	}
	if r.Guards && w.FailClosed != nil {
		switch have, _ := e.raw.Get("onFailure").Text(); {
		case *w.FailClosed && have != "block":
			set("onFailure", `"block"`)
		case !*w.FailClosed && have == "block":
			drop("onFailure")
		}
	}
}

// moved renders an existing entry for another group.
func (w *wiring) moved(r row, e hookEntry) string {
	env, args := extras(r, e.inv)
	command, execArgs := w.command(r.Program, env, args, w.Shell)
	var parts []string
	put := func(key, value string) { parts = append(parts, jsonText(key)+":"+value) }
	put("type", `"command"`)
	put("command", jsonText(command))
	if execArgs != nil {
		put("args", jsonText(execArgs))
	}
	put("timeout", strconv.Itoa(r.Timeout))
	closed := r.Guards && w.FailClosed != nil
	if closed && *w.FailClosed {
		put("onFailure", `"block"`)
	}
	e.raw.Each(func(key string, v settings.Node) bool {
		switch key {
		case "type", "command", "args", "timeout":
		case "onFailure":
			if !closed {
				put("onFailure", string(v.Raw()))
			}
		default:
			put(key, string(v.Raw()))
		}
		return true
	})
	return "{" + strings.Join(parts, ",") + "}"
}

// remove deletes entries, and whole groups where drop says that nothing would
// be left of them, from the end of each event to its start.
func (m *merge) remove(events map[string][]hookGroup, entries [][]string, drop func(hookGroup) bool) {
	gone := map[string]bool{}
	for _, path := range entries {
		gone[pointer(path)] = true
	}
	for _, event := range sortedKeys(events) {
		for _, g := range slices.Backward(events[event]) {
			hit := slices.ContainsFunc(g.entries, func(e hookEntry) bool { return gone[pointer(e.path)] })
			if !hit {
				continue
			}
			if drop(g) {
				m.add(opDelete, "", g.path...)
				continue
			}
			for _, e := range slices.Backward(g.entries) {
				if gone[pointer(e.path)] {
					m.add(opDelete, "", e.path...)
				}
			}
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// duplicates reports entries that repeat what a row has found already.
func (m *merge) duplicates(events map[string][]hookGroup, taken map[string]takenEntry) {
	for _, event := range sortedKeys(events) {
		for _, g := range events[event] {
			for _, e := range g.entries {
				at := pointer(e.path)
				if _, found := taken[at]; found || !e.ok {
					continue
				}
				for _, first := range sortedKeys(taken) {
					t := taken[first]
					if _, ok := e.inv.runs(t.row.Component, t.row.Args); ok && t.row.Event == event && shareTools(g.matcher, t.matcher) {
						m.note(true, "%s at %s repeats what %s does; left as it is", e.inv.program, at, first)
						break
					}
				}
			}
		}
	}
}

// A takenEntry is an existing entry that serves a row.
type takenEntry struct {
	row     row
	matcher string
}

// planStatusLine sets the status line where none is, and updates ours.
func (w *wiring) planStatusLine(m *merge, root settings.Node) {
	i := slices.IndexFunc(w.Components, func(c Component) bool { return c.StatusLine })
	if i < 0 {
		return
	}
	c := w.Components[i]
	line := root.Get("statusLine")
	command, _ := w.command(c.Program, nil, nil, true)
	if line.Kind() != settings.Object {
		m.add(opSet, `{"type":"command","command":`+jsonText(command)+`}`, "statusLine")
		m.StatusLine = string(line.Raw())
		return
	}
	inv, ok := parseInvocation(line)
	other, ours := inv.runs(c.Name, nil)
	switch {
	case !ok || !ours || inv.within:
		m.note(true, "statusLine runs another program and stays; to show this suite's line as a part of it, pipe the same input to %s", command)
	case other && !w.ReplaceOthers:
		m.note(false, "statusLine is equivalent, installed by another toolkit; --replace-seed swaps it")
	default:
		if other {
			m.StatusLine = string(line.Raw())
		}
		env, args := extras(row{Component: c.Name, Program: c.Program}, inv)
		command, _ := w.command(c.Program, env, args, true)
		if have, _ := line.Get("command").Text(); have != command {
			m.add(opSet, jsonText(command), "statusLine", "command")
		}
		if line.Get("args").Kind() != settings.Absent {
			m.add(opDelete, "", "statusLine", "args")
		}
	}
}

// guardPlugin is the name of an enabled plugin that brings agent-guard along.
func guardPlugin(root settings.Node) (name string) {
	root.Get("enabledPlugins").Each(func(key string, v settings.Node) bool {
		plugin, _, _ := strings.Cut(key, "@")
		if on, ok := v.Bool(); plugin == "agent-guard" && v.Kind() != settings.Null && (on || !ok) {
			name = key
		}
		return name == ""
	})
	return name
}

// An unwiring says what to take out of a settings file.
type unwiring struct {
	// Ours tells whether an invocation starts an installed program.
	Ours func(inv invocation) bool
	// Created is what install made; nil means that nothing is known of it, and
	// then whatever is left empty goes.
	Created []string
	// StatusLine is put back in place of ours, if not empty.
	StatusLine string
}

// plan lists the edits that take exactly ours away.
func (u *unwiring) plan(file string, root settings.Node) (*merge, error) {
	events, err := readHooks(file, root)
	if err != nil {
		return nil, err
	}
	created := func(key string) bool { return u.Created == nil || slices.Contains(u.Created, key) }
	m := &merge{}
	if inv, ok := parseInvocation(root.Get("statusLine")); ok && u.Ours(inv) && !inv.within {
		if u.StatusLine != "" {
			m.add(opSet, u.StatusLine, "statusLine")
		} else {
			m.add(opDelete, "", "statusLine")
		}
	}
	left := 0
	root.Get("hooks").Each(func(string, settings.Node) bool { left++; return true })
	before := left
	for _, event := range sortedKeys(events) {
		var paths [][]string
		dropped := 0
		drop := func(g hookGroup) bool {
			return created(groupKey(event, g.matcher)) && !slices.ContainsFunc(g.entries, func(e hookEntry) bool { return !u.ours(e) })
		}
		for _, g := range events[event] {
			for _, e := range g.entries {
				switch {
				case u.ours(e):
					paths = append(paths, e.path)
				case e.ok && e.inv.within && u.Ours(e.inv):
					m.note(true, "%s still starts a program of the suite within a larger command; it is yours and stays", pointer(e.path))
				}
			}
			if len(g.entries) > 0 && drop(g) {
				dropped++
			}
		}
		if len(paths) == 0 {
			continue
		}
		if dropped == len(events[event]) && created(pointer([]string{"hooks", event})) {
			m.add(opDelete, "", "hooks", event)
			left--
			continue
		}
		m.remove(map[string][]hookGroup{event: events[event]}, paths, drop)
	}
	if left == 0 && before > 0 && created("/hooks") {
		m.Edits = slices.DeleteFunc(m.Edits, func(e edit) bool { return e.Path[0] == "hooks" })
		m.add(opDelete, "", "hooks")
	}
	return m, nil
}

func (u *unwiring) ours(e hookEntry) bool { return e.ok && !e.inv.within && u.Ours(e.inv) }
