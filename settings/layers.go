package settings

import "strings"

// A Layer is one file that counts in a [Stack].
type Layer struct {
	Scope Scope
	Path  string
	Doc   *Document
}

// Layers are the files that count, strongest scope first.
func (s *Stack) Layers() []Layer {
	out := make([]Layer, len(s.layers))
	for i, l := range s.layers {
		out[i] = Layer{l.Scope, l.path, l.doc}
	}
	return out
}

// Assemble is [Load] for files that the caller has found and parsed itself,
// strongest scope first. What the client does with a value of the wrong type is
// left to the caller.
func Assemble(session Session, env Env, layers []Layer) *Stack {
	st := &Stack{session: session, env: env.withDefaults(), start: session.Start}
	for i, l := range layers {
		st.layers = append(st.layers, layer{Scope: l.Scope, path: l.Path, doc: l.Doc, rank: i})
		st.files = append(st.files, File{Scope: l.Scope, Path: l.Path, Status: Read})
	}
	return st
}

// Passed says why the client passes over the value at path in a layer, by its
// index in [Stack.Layers]; empty if it counts. Entries of arrays have reasons
// of their own, see [Stack.PassedEntry].
func (s *Stack) Passed(layer int, path []string, value Node) string {
	if len(path) == 0 {
		return ""
	}
	return s.ignored(&s.layers[layer], path, value)
}

// PassedEntry says why the client passes over one string of an array that
// itself counts.
func (s *Stack) PassedEntry(layer int, path []string, entry string) string {
	return s.ignoredEntry(&s.layers[layer], strings.Join(path, "."), entry)
}

// Misplaced says why a key never counts in a file of the scope, whatever else
// is set; empty if it may.
func Misplaced(scope Scope, path []string) string {
	switch rule := ruleFor(path); {
	case rule == managedOnly && scope != Managed:
		return whyManagedOnly
	case (rule == trustedOnly || rule == trustedTrue) && !scope.trusted():
		return whyTrustedOnly
	}
	return ""
}
