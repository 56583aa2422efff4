package verify

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"sallyport/internal/setup"
	"sallyport/internal/term"
	"sallyport/settings"
)

// An Explanation is which value of a key counts in a session, and why.
type Explanation struct {
	Key     string     `json:"key"`
	Set     bool       `json:"set"`
	Value   string     `json:"value"` // JSON text, or the client's default; empty for lists and objects
	Source  string     `json:"source,omitempty"`
	Entries []Entry    `json:"entries,omitempty"`
	Files   []FileSays `json:"files"`
	Notes   []string   `json:"notes,omitempty"`
}

// An Entry is one element of a list that counts, or one file's part of an
// object.
type Entry struct {
	Value  string `json:"value"`
	Means  string `json:"means,omitempty"` // absolute path
	Scope  string `json:"scope"`
	Source string `json:"source"`
}

// FileSays is what one file has for the key.
type FileSays struct {
	Scope  string `json:"scope"`
	Path   string `json:"path"`
	Status string `json:"status"`
	Line   int    `json:"line,omitempty"`
	Value  string `json:"value,omitempty"` // JSON text, or the number of entries; empty if the file does not have the key
	Why    string `json:"why,omitempty"`   // it does not count
}

// defaults are the client's, where they are known.
func defaults() map[string]string {
	return map[string]string{
		"sandbox.enabled": "false", "sandbox.failIfUnavailable": "false", "sandbox.autoAllowBashIfSandboxed": "false",
		"sandbox.allowUnsandboxedCommands": "true", "sandbox.filesystem.disabled": "false", "disableAllHooks": "false",
		"sandbox.network.allowAllUnixSockets": "false", "sandbox.network.allowLocalBinding": "false", "sandbox.network.strictAllowlist": "false",
		"sandbox.enableWeakerNestedSandbox": "false", "sandbox.enableWeakerNetworkIsolation": "false", "permissions.defaultMode": `"default"`,
	}
}

// Explain looks a key up, as a dotted path or a JSON pointer.
func Explain(m *Machine, key string) (*Explanation, error) {
	keys := strings.Split(key, ".")
	if strings.HasPrefix(key, "/") {
		keys = settings.Pointer(key)
	}
	if slices.Contains(keys, "") {
		return nil, fmt.Errorf("%q is neither a dotted path nor a JSON pointer", key)
	}
	dotted := strings.Join(keys, ".")
	e := &Explanation{Key: dotted, Files: []FileSays{}}
	counts := map[string]bool{}
	kind := settings.Absent
	for _, v := range m.Stack.All(dotted) {
		counts[v.Source.Path] = true
		if kind == settings.Absent {
			kind = v.Value.Kind()
		}
	}
	decider := ""
	switch kind {
	case settings.Bool:
		v := m.Stack.Bool(dotted)
		e.value(v.Set, fmt.Sprint(v.Value), v.Source)
		decider = v.Source.Path
	case settings.String:
		v := m.Stack.String(dotted)
		e.value(v.Set, jsonString(v.Value), v.Source)
		decider = v.Source.Path
	case settings.Array:
		e.list(m, dotted)
	case settings.Absent:
	default:
		// Objects are merged member by member, so every file has its say; of
		// numbers the strongest counts.
		for _, v := range m.Stack.All(dotted) {
			if kind == settings.Number && !e.Set {
				e.value(true, string(v.Value.Raw()), v.Source)
				decider = v.Source.Path
			}
			if kind == settings.Object {
				e.Set = true
				e.Entries = append(e.Entries, Entry{Value: printable(dotted, v.Value), Scope: v.Source.Scope.String(), Source: v.Source.String()})
			}
		}
	}
	if !e.Set {
		e.Value = defaults()[dotted]
		e.unknown(keys)
	}
	e.files(m, keys, dotted, decider)
	return e, nil
}

func (e *Explanation) value(set bool, value string, src settings.Source) {
	if set {
		e.Set, e.Value, e.Source = true, setup.Printable(e.Key, value), src.String()
	}
}

func printable(key string, n settings.Node) string { return setup.Printable(key, string(n.Raw())) }

// list adds the entries of a list, weakest file first as the client joins them,
// with the path that each stands for: the same text in two files can mean two
// paths.
func (e *Explanation) list(m *Machine, key string) {
	ignored := map[settings.Source]bool{}
	for _, v := range m.Stack.Ignored(key) {
		ignored[v.Source] = true
	}
	type seen struct{ value, means string }
	have := map[seen]bool{}
	for _, v := range slices.Backward(m.Stack.All(key)) {
		e.Set = true
		v.Value.Each(func(_ string, n settings.Node) bool {
			src := v.Source
			src.Line, src.Column = n.Position()
			entry := Entry{Value: printable(key, n), Scope: src.Scope.String(), Source: src.String()}
			if text, ok := n.Text(); ok {
				entry.Means = means(m, key, text, src)
			}
			if id := (seen{entry.Value, entry.Means}); !ignored[src] && !have[id] {
				have[id] = true
				e.Entries = append(e.Entries, entry)
			}
			return true
		})
	}
}

// means is the absolute path that an entry of a list of paths or rules stands
// for, empty where it stands for none.
func means(m *Machine, key, text string, src settings.Source) string {
	switch {
	case strings.HasPrefix(key, "sandbox.filesystem."):
		if path, ok := m.Stack.SandboxPath(text, src); ok {
			return path
		}
		return "not known: where relative paths of this file start is not documented"
	case strings.HasPrefix(key, "permissions."):
		tool, spec, ok := strings.Cut(text, "(")
		if !ok || tool != "Read" && tool != "Edit" {
			return ""
		}
		spec = strings.TrimSuffix(spec, ")")
		path, ok := m.Stack.RulePath(spec, src)
		switch {
		case !ok:
			return "any depth below the working directory"
		case strings.HasSuffix(spec, "/**"):
			return path + " and all below it"
		}
		return path
	}
	return ""
}

// unknown tells a key that nothing sets from one that does not exist.
func (e *Explanation) unknown(keys []string) {
	if keys[0] != "sandbox" || len(keys) < 2 {
		return
	}
	rest, known := strings.Join(keys[1:], "."), sandboxKeys()
	if slices.ContainsFunc(known, func(k string) bool {
		k = strings.TrimSuffix(k, ".*")
		return k == rest || strings.HasPrefix(k, rest+".") || strings.HasPrefix(rest, k+".")
	}) {
		return
	}
	e.Notes = append(e.Notes, "the client does not know this key; the nearest is sandbox."+setup.Nearest(rest, known))
}

// files lists what every file considered says, strongest first.
func (e *Explanation) files(m *Machine, keys []string, dotted, decider string) {
	ignored := map[string]string{}
	for _, v := range m.Stack.Ignored(dotted) {
		if ignored[v.Source.Path] == "" {
			ignored[v.Source.Path] = v.Reason
		}
	}
	for _, f := range m.Stack.Files() {
		says := FileSays{Scope: f.Scope.String(), Path: f.Path, Status: f.Status.String()}
		if f.Status == settings.NotRead || f.Status == settings.Invalid || f.Status == settings.Unreadable {
			says.Why = f.Reason
		}
		n := settings.Node{}
		for _, l := range m.Stack.Layers() {
			if l.Path == f.Path && f.Status == settings.Read {
				n = l.Doc.Root().Get(keys...)
			}
		}
		if f.Status == settings.NotRead || f.Status == settings.Invalid {
			if doc, err := document(f.Path, maxSettings); err == nil {
				n = doc.Root().Get(keys...)
			}
		}
		if n.Kind() != settings.Absent {
			says.Line, _ = n.Position()
			says.Value = printable(dotted, n)
			if n.Kind() == settings.Array {
				says.Value = fmt.Sprintf("%d in the list", n.Len())
			}
			if why := ignored[f.Path]; why != "" {
				says.Why = why
			} else if says.Why == "" && decider != "" && f.Path != decider {
				says.Why = "another file decides"
			}
		}
		e.Files = append(e.Files, says)
	}
}

// WriteJSON prints the explanation as one document.
func (e *Explanation) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(e)
}

// WriteText prints the explanation for a person.
func (e *Explanation) WriteText(w io.Writer, color bool, short func(string) string) {
	line := func(format string, args ...any) { fmt.Fprintln(w, term.Clean(fmt.Sprintf(format, args...), 1000)) }
	fmt.Fprintf(w, "%s", term.Style(color, "1", term.Clean(e.Key, 200)))
	switch {
	case len(e.Entries) > 0:
		fmt.Fprintln(w)
		for _, v := range e.Entries {
			line("  %s", v.Value)
			if v.Means != "" {
				line("      = %s", short(v.Means))
			}
			line("      %s, %s", v.Scope, short(v.Source))
		}
	case e.Set && e.Value == "":
		fmt.Fprintln(w, " is set, and has no entry that counts")
	case e.Set:
		line(" = %s", e.Value)
		line("  from %s", short(e.Source))
	case e.Value != "":
		line(": nothing that counts sets it; the client's default is %s", e.Value)
	default:
		line(": nothing that counts sets it")
	}
	for _, n := range e.Notes {
		line("  %s", n)
	}
	line("files, strongest first:")
	for _, f := range e.Files {
		place := short(f.Path)
		if f.Line > 0 {
			place += fmt.Sprintf(":%d", f.Line)
		}
		says := ""
		switch {
		case f.Value != "":
			says = ": " + f.Value
		case f.Status == "read":
			says = ": not in it"
		default:
			says = ": " + f.Status
		}
		line("  %-12s %s%s", f.Scope, place, says)
		if f.Why != "" {
			line("  %-12s   %s", "", f.Why)
		}
	}
}
