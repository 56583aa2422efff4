package lint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/settings"
)

// Scopes names the files of a merge. A nil name has the scope's own place.
type Scopes struct {
	Managed, Flag, Local, Project, User *string
}

func (s Scopes) named() bool {
	return s.Managed != nil || s.Flag != nil || s.Local != nil || s.Project != nil || s.User != nil
}

var mergedRules = []check[*merge]{
	{Rule{ID: "M401", Severity: Error,
		Summary: "a project or local file loosens what a user or managed file has set strictly",
		Why:     "a file that travels with a repository, or that the agent can write, takes the protection away",
		Example: `user: {"sandbox": {"enabled": true}}, local: {"sandbox": {"enabled": false}}`,
		Fix:     "remove the value from the project or local file"}, (*merge).loosened},
	{Rule{ID: "M402", Severity: Warning,
		Summary: "an allow rule of a project or local file is defeated by an ask or deny rule of another scope",
		Why:     "deny and ask hold across scopes: the rule does nothing",
		Example: `user: {"permissions": {"ask": ["Bash(gh *)"]}}, project: {"permissions": {"allow": ["Bash(gh pr view *)"]}}`,
		Fix:     "drop the allow rule, or narrow the other one"}, (*merge).defeated},
	{Rule{ID: "M403", Severity: Info,
		Summary: "what a session gets differs from what the project's file says",
		Why:     "who reviews the project's file alone does not see it",
		Example: `project: {}, user: {"sandbox": {"network": {"allowedDomains": ["example.com"]}}}`,
		Fix:     "look at the entries named; nothing is wrong with them by itself"}, (*merge).differs},
	{Rule{ID: "M404", Severity: Warning,
		Summary: "a local or user file adds to sandbox.excludedCommands",
		Why:     "excluded commands run outside the sandbox, and no managed setting locks this list",
		Example: `local: {"sandbox": {"excludedCommands": ["docker *"]}}`,
		Fix:     "move the entry into the reviewed project file, or do without it"}, (*merge).excluded},
}

// A merge is the settings of one session and the files they come from.
type merge struct {
	run    *run
	stack  *settings.Stack
	layers []*claude // strongest first
	root   *value    // what the session gets

	entries map[*value]map[string]bool // texts of the lists that addEntry has seen
}

// Merged checks what a session gets from all scopes together. Without named
// files they are the ones that the client would read for a session in the
// working directory.
func Merged(cfg Config, scopes Scopes, dump bool) *Report {
	r := newRun(cfg, "merged")
	m := &merge{run: r, entries: make(map[*value]map[string]bool)}
	env := settings.OSEnv(r.cfg.Getenv)
	env.Home = cfg.Home
	session := settings.Session{Start: cfg.Dir}
	var found []settings.Layer
	complaints := make(map[string]settings.Problem)
	if scopes.named() {
		found = r.namedLayers(scopes, env)
		m.stack = settings.Assemble(session, env, found)
	} else {
		m.stack = settings.Load(session, env)
		for _, p := range m.stack.Problems() {
			complaints[p.Path] = p
		}
		for _, f := range m.stack.Files() {
			line := fmt.Sprintf("%s: %s (%s)", f.Scope, f.Path, f.Status)
			if f.Reason != "" {
				line += ": " + f.Reason
			}
			r.report.Considered = append(r.report.Considered, line)
			if f.Status == settings.Invalid || f.Status == settings.Unreadable {
				r.dropped(f, complaints[f.Path])
			}
		}
		found = m.stack.Layers()
	}
	for i, l := range found {
		f := &file{name: l.Path, data: l.Doc.Bytes(), scope: l.Scope, scoped: true, layer: i}
		r.rank(f.name)
		root, ok := r.root(f, l.Doc)
		if !ok {
			continue
		}
		r.shapes(root, claudeShapes, nil)
		r.credentialShapes(root, nil)
		c := r.subject(root, f, cfg.Dir)
		c.rules = slices.DeleteFunc(c.rules, func(p permission) bool { return m.passed(i, []string{"permissions", p.list}, p.value) })
		m.layers = append(m.layers, c)
	}
	if len(m.layers) == 0 && !r.report.unusable {
		r.in("P001", "settings", "no settings file was found", "name one, or run where a session starts")
	}
	if len(m.layers) > 0 {
		m.root = m.merged()
		m.addRules()
		whole := &claude{run: r, root: m.root, file: m.layers[0].file, sandboxOn: m.root.get("sandbox", "enabled").isTrue()}
		for _, l := range m.layers {
			l.sandboxOn = whole.sandboxOn
			whole.rules = append(whole.rules, l.rules...)
		}
		apply(r, sandboxRules, whole, nil)
		r.permissions(m.layers)
		apply(r, mergedRules, m, nil)
	}
	if dump && m.root != nil {
		r.report.Effective = []byte(m.root.compact())
	}
	return r.done()
}

// namedLayers reads the files of the scopes, those that are not named from
// their usual places.
func (r *run) namedLayers(s Scopes, env settings.Env) (layers []settings.Layer) {
	user := ""
	if dir := r.cfg.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		user = filepath.Join(dir, "settings.json")
	} else if r.cfg.Home != "" {
		user = filepath.Join(r.cfg.Home, ".claude", "settings.json")
	}
	managed := filepath.Join(env.ManagedDir, "managed-settings.json")
	switch r.cfg.Platform {
	case "macos":
		managed = "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "linux", "wsl":
		managed = "/etc/claude-code/managed-settings.json"
	}
	for _, scope := range []struct {
		scope settings.Scope
		name  *string
		usual string
	}{
		{settings.Managed, s.Managed, managed},
		{settings.CommandLine, s.Flag, ""},
		{settings.Local, s.Local, ".claude/settings.local.json"},
		{settings.Project, s.Project, ".claude/settings.json"},
		{settings.User, s.User, user},
	} {
		name := scope.usual
		if scope.name != nil {
			name = *scope.name
		} else if name == "" {
			continue
		} else if _, err := os.Lstat(r.resolve(name)); errors.Is(err, os.ErrNotExist) {
			r.report.Considered = append(r.report.Considered, fmt.Sprintf("%s: %s (%s)", scope.scope, name, settings.Missing))
			continue
		}
		f, ok := r.load(name)
		if !ok {
			r.report.Considered = append(r.report.Considered, fmt.Sprintf("%s: %s (%s)", scope.scope, name, settings.Unreadable))
			continue
		}
		f.scope, f.scoped = scope.scope, true
		if doc, ok := r.document(f, false); ok {
			layers = append(layers, settings.Layer{Scope: scope.scope, Path: name, Doc: doc})
			r.report.Considered = append(r.report.Considered, fmt.Sprintf("%s: %s (%s)", scope.scope, name, settings.Read))
		} else {
			r.report.Considered = append(r.report.Considered, fmt.Sprintf("%s: %s (%s)", scope.scope, name, settings.Invalid))
		}
	}
	return layers
}

// dropped reports a file that the client reads and then does without.
func (r *run) dropped(f settings.File, p settings.Problem) {
	id := "P001"
	if f.Status == settings.Invalid {
		id = "P002"
		if data, err := readFile(f.Path); err == nil {
			if doc, err := settings.ParseDocument(data); err == nil {
				id = "P005"
				if doc.Root().Kind() != settings.Object {
					id = "P004"
				}
			}
		}
	}
	message := p.Message
	if message == "" {
		message = f.Reason
	}
	r.in(id, f.Path, message, "", place(p.Line, p.Column), func(fd *Finding) { fd.Origin = &Origin{Scope: f.Scope, File: f.Path} })
}

// passed reports a value that the client passes over in its layer.
func (m *merge) passed(layer int, path []string, v *value) bool {
	if m.stack.Passed(layer, path, v.node) != "" {
		return true
	}
	return v.kind == settings.String && v.parent.is(settings.Array) && m.passedEntry(layer, path, v.text)
}

// passedEntry leaves entries that only the linter calls malformed to the rules.
func (m *merge) passedEntry(layer int, path []string, text string) bool {
	return path[0] == "sandbox" && m.stack.PassedEntry(layer, path, text) != ""
}

// merged joins the layers as the client does: objects key by key, lists weakest
// scope first without repetitions, of everything else the strongest. Values
// keep their place in their file.
func (m *merge) merged() *value {
	roots := make([]*value, len(m.layers))
	for i, l := range m.layers {
		roots[i] = l.root
	}
	return m.join(nil, roots)
}

// join merges what stands at one path, strongest first. The values are there
// and count.
func (m *merge) join(path []string, vs []*value) *value {
	// No setting lies that deep, and the lookups below cost the depth squared.
	const deepest = 32
	if len(path) > deepest {
		return vs[0]
	}
	top := *vs[0]
	top.kids, top.opened = nil, true
	switch top.kind {
	case settings.Object:
		var names []string
		members := make(map[string][]*value)
		for _, v := range vs {
			if v.kind != settings.Object {
				continue
			}
			for _, kid := range v.children() {
				at := append(path[:len(path):len(path)], kid.name)
				if m.passed(kid.file.layer, at, kid) {
					continue
				}
				if members[kid.name] == nil {
					names = append(names, kid.name)
				}
				members[kid.name] = append(members[kid.name], kid)
			}
		}
		for _, name := range names {
			top.kids = append(top.kids, m.join(append(path[:len(path):len(path)], name), members[name]))
		}
	case settings.Array:
		seen := make(map[string]bool)
		for i := len(vs) - 1; i >= 0; i-- {
			if vs[i].kind != settings.Array {
				continue
			}
			for _, kid := range vs[i].children() {
				text := kid.compact()
				if seen[text] || kid.kind == settings.String && m.passedEntry(kid.file.layer, path, kid.text) {
					continue
				}
				seen[text] = true
				top.kids = append(top.kids, kid)
			}
		}
	case settings.Bool:
		// The stack knows the keys for which strict values win from below.
		if v := m.stack.Bool(strings.Join(path, ".")); v.Set && len(path) > 0 {
			for _, candidate := range vs {
				if candidate.kind == settings.Bool && candidate.isTrue() == v.Value {
					return candidate
				}
			}
		}
		return vs[0]
	default:
		return vs[0]
	}
	return &top
}

// addRules puts permission rules into the sandbox's lists, as the client does.
func (m *merge) addRules() {
	sandbox := m.root.get("sandbox")
	if !sandbox.is(settings.Object) {
		return
	}
	managedDomains := m.root.get("sandbox", "network", "allowManagedDomainsOnly").isTrue()
	for _, l := range m.layers {
		for i := range l.rules {
			p := &l.rules[i]
			if p.broken || !p.hasSpec || p.hasParameterSyntax() {
				continue
			}
			section, list, text := "", "", ""
			switch {
			case p.tool == "Edit" && p.list == "allow":
				section, list = "filesystem", "allowWrite"
			case p.tool == "Edit" && p.list == "deny":
				section, list = "filesystem", "denyWrite"
			case p.tool == "Read" && p.list == "deny":
				section, list = "filesystem", "denyRead"
			case p.tool == "WebFetch" && p.list == "allow" && strings.HasPrefix(p.spec, "domain:"):
				if managedDomains && l.file.scope != settings.Managed {
					continue
				}
				section, list, text = "network", "allowedDomains", strings.TrimPrefix(p.spec, "domain:")
			case p.tool == "WebFetch" && p.list == "deny" && strings.HasPrefix(p.spec, "domain:"):
				section, list, text = "network", "deniedDomains", strings.TrimPrefix(p.spec, "domain:")
			default:
				continue
			}
			if section == "filesystem" {
				path, ok := m.stack.RulePath(p.spec, settings.Source{Scope: l.file.scope, Path: l.file.name})
				if !ok {
					continue
				}
				text = path
			}
			m.addEntry(sandbox, section, list, text, p.value)
		}
	}
}

// addEntry appends to a list of the merge, which is made if it is not there.
func (m *merge) addEntry(sandbox *value, section, list, text string, from *value) {
	child := func(parent *value, name string, kind settings.Kind) *value {
		v := parent.get(name)
		if v == nil {
			v = &value{kind: kind, name: name, file: parent.file, offset: parent.offset, parent: parent, opened: true}
			parent.kids = append(parent.kids, v)
		}
		return v
	}
	at := child(child(sandbox, section, settings.Object), list, settings.Array)
	if !at.is(settings.Array) {
		return
	}
	texts := m.entries[at]
	if texts == nil {
		texts = make(map[string]bool, len(at.kids))
		for _, e := range at.kids {
			texts[e.text] = true
		}
		m.entries[at] = texts
	}
	if texts[text] {
		return
	}
	texts[text] = true
	entry := *from
	entry.text = text
	entry.node = settings.Node{}
	entry.derived = true
	at.kids = append(at.kids, &entry)
}

// strictKeys are the settings whose loosening M401 looks for, with the test
// that tells a strict value.
var strictKeys = []struct {
	path   string
	strict func(*value) bool
}{
	{"sandbox.enabled", (*value).isTrue},
	{"sandbox.network.allowAllUnixSockets", (*value).isFalse},
	{"sandbox.filesystem.disabled", (*value).isFalse},
	{"permissions.defaultMode", func(v *value) bool { return v.is(settings.String) && v.text != "bypassPermissions" }},
	{"sandbox.allowUnsandboxedCommands", (*value).isFalse},
}

func (m *merge) loosened(r reporter) {
	for _, key := range strictKeys {
		steps := strings.Split(key.path, ".")
		now := m.root.get(steps...)
		if now == nil || now.file.scope != settings.Local && now.file.scope != settings.Project || key.strict(now) {
			continue
		}
		for _, l := range m.layers {
			if l.file.scope != settings.User && l.file.scope != settings.Managed {
				continue
			}
			if v := l.root.get(steps...); v != nil && key.strict(v) {
				r.at(now, fmt.Sprintf("%s in the %s file %s loosens %s in the %s file %s",
					clip(now.compact()), now.file.scope, now.file.name, clip(v.compact()), v.file.scope, v.file.name), related(v))
				break
			}
		}
	}
}

func (m *merge) defeated(r reporter) {
	for _, l := range m.layers {
		if l.file.scope != settings.Local && l.file.scope != settings.Project || l.tooMany() {
			continue
		}
		for _, p := range l.list("allow") {
			for _, list := range []string{"deny", "ask"} {
				var others []*permission
				for i := range l.others {
					if l.others[i].list == list {
						others = append(others, &l.others[i])
					}
				}
				if by := l.coveredBy(p, others); by != nil {
					r.at(p.value, fmt.Sprintf("%s is defeated by the %s rule %s of the %s file %s", quote(p.value.text), list, quote(by.value.text), by.value.file.scope, by.value.file.name), related(by.value))
					break
				}
			}
		}
	}
}

func (m *merge) excluded(r reporter) {
	for _, l := range m.layers {
		if l.file.scope != settings.Local && l.file.scope != settings.User {
			continue
		}
		list := l.root.get("sandbox", "excludedCommands")
		if entries := list.strings(); len(entries) > 0 && !m.passed(l.file.layer, []string{"sandbox", "excludedCommands"}, list) {
			var texts []string
			for _, e := range entries {
				texts = append(texts, quote(e.text))
			}
			r.at(list, fmt.Sprintf("the %s file adds %s: no lock exists for this list", l.file.scope, clip(quoteList(texts))))
		}
	}
}

// differs names what the other scopes add to the project's file.
func (m *merge) differs(r reporter) {
	var project *claude
	for _, l := range m.layers {
		if l.file.scope == settings.Project {
			project = l
		}
	}
	var lines []string
	var first *value
	add := func(v *value, what string) {
		if first == nil {
			first = v
		}
		lines = append(lines, fmt.Sprintf("%s (%s, %s)", what, v.file.scope, v.file.name))
	}
	var walk func(v *value, own *value, path string)
	walk = func(v, own *value, path string) {
		if project != nil && v.file == project.file && v.kind != settings.Object && v.kind != settings.Array {
			return
		}
		switch v.kind {
		case settings.Object:
			members := byName(own)
			for _, kid := range v.children() {
				walk(kid, members[kid.name], joinPath(path, []string{kid.name}))
			}
		case settings.Array:
			for _, kid := range v.children() {
				if project == nil || kid.file != project.file {
					add(kid, path+" += "+clip(kid.compact()))
				}
			}
		default:
			if own == nil || !equal(v, own) {
				add(v, path+" = "+clip(v.compact()))
			}
		}
	}
	for _, section := range []string{"sandbox", "permissions"} {
		if v := m.root.get(section); v != nil {
			var own *value
			if project != nil {
				own = project.root.get(section)
			}
			walk(v, own, section)
		}
	}
	if len(lines) > 0 {
		const most = 50
		more := ""
		if len(lines) > most {
			lines, more = lines[:most], fmt.Sprintf("; and %d more", len(lines)-most)
		}
		r.at(first, "a session gets what the project's file alone does not say: "+strings.Join(lines, "; ")+more)
	}
}
