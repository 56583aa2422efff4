package doctor

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/internal/hints"
	"sallyport/internal/setup"
	"sallyport/settings"
)

// fixIn is a change in the settings file of a scope; nil if the client reads
// no file there.
func fixIn(w *World, scope hints.FixScope, fragment string) *Fix {
	want := map[hints.FixScope]settings.Scope{
		hints.UserScope: settings.User, hints.ProjectScope: settings.Project, hints.ProjectLocalScope: settings.Local,
	}[scope]
	for _, f := range w.Settings.Files() {
		if f.Scope == want && f.Status != settings.NotRead && filepath.IsAbs(f.Path) {
			return &Fix{Scope: scope, File: f.Path, Settings: fragment}
		}
	}
	return nil
}

func userFix(w *World, fragment string) *Fix    { return fixIn(w, hints.UserScope, fragment) }
func projectFix(w *World, fragment string) *Fix { return fixIn(w, hints.ProjectScope, fragment) }
func localFix(w *World, fragment string) *Fix   { return fixIn(w, hints.ProjectLocalScope, fragment) }

// grant lets the sandbox read and write paths. The client ignores a project's
// grant of what the user denies, so the grant goes where the denial stands.
func grant(w *World, read, write []string) *Fix {
	paths := slices.Concat(read, write)
	for _, p := range paths {
		if !grantable(w, p) {
			return nil
		}
	}
	scope := hints.ProjectLocalScope
	for _, e := range w.Settings.List("sandbox.filesystem.denyRead") {
		dir, ok := w.Settings.SandboxPath(e.Value, e.Source)
		if ok && e.Source.Scope == settings.User && slices.ContainsFunc(paths, func(p string) bool { return within(p, dir) }) {
			scope = hints.UserScope
		}
	}
	lists := map[string][]string{}
	if len(read) > 0 {
		lists["allowRead"] = w.spell(scope, read)
	}
	if len(write) > 0 {
		lists["allowWrite"] = w.spell(scope, write)
	}
	return fixIn(w, scope, fragment(map[string]any{"sandbox": map[string]any{"filesystem": lists}}))
}

// spell writes paths as the scope's files do: the user's are often shared
// between machines.
func (w *World) spell(scope hints.FixScope, paths []string) (out []string) {
	for _, p := range paths {
		if scope == hints.UserScope {
			p = w.short(p)
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// grantable refuses what no fix may open: a home directory, credentials, and
// places whose content runs outside the sandbox.
func grantable(w *World, path string) bool {
	if within(w.Home, path) || strings.ContainsAny(path, "*?[\n\r") {
		return false
	}
	for _, never := range []string{".aws", ".netrc", ".kube", ".docker", ".gnupg/private-keys-v1.d", ".config/gcloud", ".azure"} {
		if within(path, filepath.Join(w.Home, never)) {
			return false
		}
	}
	ssh := filepath.Join(w.Home, ".ssh")
	return !within(path, ssh) || strings.HasSuffix(path, ".pub")
}

// grantSocket opens one unix socket, which only macOS can.
func grantSocket(w *World, path string) *Fix {
	return fixIn(w, hints.UserScope, fragment(map[string]any{"sandbox": map[string]any{
		"filesystem": map[string]any{"allowRead": []string{path}},
		"network":    map[string]any{"allowUnixSockets": []string{path}},
	}}))
}

func fragment(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // maps, slices and strings
	}
	return strings.TrimSpace(b.String())
}

// Wanted are the results of a snapshot from inside that fail there and pass
// here, outside, where their fixes can be made. The agent's session wrote that
// file: a fix counts only if it has the form of one that a probe makes, and the
// file it goes to is decided here.
func Wanted(w *World, now []Result, then Snapshot) (wanted []Result) {
	if w.Inside || !then.Inside {
		return nil
	}
	passes := map[string]bool{}
	for _, r := range now {
		passes[r.Key()] = r.Status == Pass
	}
	for _, r := range then.Results {
		if r.Status != Fail || r.Fix == nil || !passes[r.Key()] || !plainFix(w, r.Fix.Settings) {
			continue
		}
		if r.Fix = fixIn(w, r.Fix.Scope, r.Fix.Settings); r.Fix != nil {
			wanted = append(wanted, r)
		}
	}
	return wanted
}

// plainFix reports a fragment that some probe could have made.
func plainFix(w *World, text string) bool {
	switch text {
	case `{"sandbox":{"failIfUnavailable":true}}`, `{"sandbox":{"excludedCommands":["gh *"]}}`, `{"sandbox":{"network":{"allowLocalBinding":true}}}`:
		return true
	}
	doc, err := settings.ParseDocument([]byte(text))
	if err != nil {
		return false
	}
	if _, _, twice := doc.Repeated(); twice {
		return false
	}
	root := doc.Root()
	lists := root.Get("sandbox", "filesystem")
	ok := lists.Kind() == settings.Object && root.Len() == 1 && root.Get("sandbox").Len() == 1
	lists.Each(func(name string, list settings.Node) bool {
		ok = ok && (name == "allowRead" || name == "allowWrite") && list.Kind() == settings.Array
		list.Each(func(_ string, v settings.Node) bool {
			path, isText := v.Text()
			path = w.expand(path)
			ok = ok && isText && filepath.IsAbs(path) && filepath.Clean(path) == path && grantable(w, path)
			return ok
		})
		return ok
	})
	return ok
}

// Edits are the changes that the results suggest, for setup to plan.
func Edits(w *World, results []Result) (edits []setup.SettingsEdit) {
	for _, r := range results {
		if r.Fix == nil {
			continue
		}
		e := setup.SettingsEdit{File: r.Fix.File, Root: w.root(), Fragment: r.Fix.Settings, Reason: r.Catalog}
		if r.Fix.Scope == hints.ProjectLocalScope && w.InRepo && w.Repo.Main != "" {
			e.Root = w.Repo.Main // where the client reads the local file
		}
		if !slices.ContainsFunc(edits, func(have setup.SettingsEdit) bool { return have.File == e.File && have.Fragment == e.Fragment }) {
			edits = append(edits, e)
		}
	}
	return edits
}
