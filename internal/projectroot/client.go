package projectroot

import (
	"path/filepath"
	"strings"

	"sallyport/settings"
)

// mainSince is the first client that reads the main checkout's local file in
// every linked worktree (package settings applies the rule; the number is for
// people).
const mainSince = "2.1.211"

// clientVersion is the installed client's version, "" if not known.
func (r *run) clientVersion() string {
	if r.version == nil {
		v := ""
		if r.ClientVersion != nil {
			v = r.ClientVersion()
		}
		r.version = &v
	}
	return *r.version
}

func (r *run) load(t tree, version string) *settings.Stack {
	env := settings.OSEnv(r.getenv)
	if r.Managed != "" {
		env.ManagedDir = r.Managed
	}
	return settings.Load(settings.Session{Start: t.root, Version: version}, env)
}

// bases are the directories whose local file is to list a worktree.
func (r *run) bases(t tree) []string {
	switch {
	case t.main == t.root:
		return []string{t.root}
	case t.main == "":
		if r.LocalFile == Main {
			r.problem(t.root, "the repository is a bare clone and has no main checkout; use --local-file worktree")
			return nil
		}
		return []string{t.root}
	case r.LocalFile == Main:
		return []string{t.main}
	case r.LocalFile == Worktree:
		return []string{t.root}
	case r.LocalFile == Both:
		return []string{t.main, t.root}
	}
	version := r.clientVersion()
	base := t.root
	for _, f := range r.load(t, version).Files() {
		if f.Scope == settings.Local && f.Status != settings.NotRead {
			base = resolved(filepath.Dir(filepath.Dir(f.Path)))
			break // the first is the one that the client writes
		}
	}
	if version == "" && base == t.main {
		return []string{t.main, t.root}
	}
	return []string{base}
}

// closed reports, as a problem, that a stronger file denies reading the
// worktree, so that a grant in a local file does nothing.
func (r *run) closed(t tree) bool {
	stack := r.load(t, "")
	for _, deny := range entries(stack, "sandbox.filesystem.denyRead") {
		path, ok := trusted(stack, deny)
		if !ok || !within(t.root, path) || reopened(stack, t, path) {
			continue
		}
		if v := r.clientVersion(); v != "" && !newRules(v) {
			continue
		}
		r.problem(t.root, "%s denies reading %s, and the client ignores what a local or project file allows below it, so nothing was written: "+
			"put the same grant, %q in sandbox.filesystem.allowRead, into the user settings, or start the session through agent-iso",
			deny.Source, deny.Value, t.root)
		return true
	}
	return false
}

// entries are the strings of a list in every file that counts. Unlike
// Stack.List it names each file that holds an entry.
func entries(stack *settings.Stack, list string) (out []settings.Value[string]) {
	for _, array := range stack.All(list) {
		array.Value.Each(func(_ string, n settings.Node) bool {
			if text, ok := n.Text(); ok && array.Value.Kind() == settings.Array {
				source := array.Source
				source.Line, source.Column = n.Position()
				out = append(out, settings.Value[string]{Value: text, Set: true, Source: source})
			}
			return true
		})
	}
	return out
}

// trusted is the path of an entry in a file that no repository can write.
func trusted(stack *settings.Stack, v settings.Value[string]) (string, bool) {
	if v.Source.Scope == settings.Local || v.Source.Scope == settings.Project || strings.ContainsAny(v.Value, "*?[") {
		return "", false
	}
	path, ok := stack.SandboxPath(v.Value, v.Source)
	return resolved(path), ok
}

// reopened reports a grant below a denied path in a file that counts.
func reopened(stack *settings.Stack, t tree, denied string) bool {
	for _, allow := range entries(stack, allowRead) {
		if path, ok := trusted(stack, allow); ok && within(t.root, path) && within(path, denied) {
			return true
		}
	}
	return false
}

// newRules reports a client with the rules of [mainSince].
func newRules(version string) bool { return settings.Session{Version: version}.AtLeast(mainSince) }
