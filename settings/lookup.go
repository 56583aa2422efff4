package settings

import (
	"slices"
	"strings"
)

// each visits every layer that has something at path, strongest first. why is
// the reason for which the client passes over it, empty if it counts.
func (s *Stack) each(path []string, f func(l *layer, n Node, why string) bool) {
	for i := range s.layers {
		l := &s.layers[i]
		if n := l.doc.Root().Get(path...); n.Kind() != Absent {
			why := s.ignored(l, path, n)
			if why == "" && l.Scope == Managed && wrongKind(n, path) {
				why = "it is of the wrong type"
			}
			if !f(l, n, why) {
				return
			}
		}
	}
}

func (l *layer) source(n Node) Source {
	line, column := n.Position()
	return Source{l.Scope, l.path, line, column}
}

// strongest finds the first layer with a value at a path that counts.
func strongest[T any](s *Stack, path []string, get func(*layer, []string) (T, Node, bool)) (v Value[T], from *layer) {
	for i := range s.layers {
		l := &s.layers[i]
		if got, n, ok := get(l, path); ok && s.ignored(l, path, n) == "" {
			return Value[T]{got, true, l.source(n)}, l
		}
	}
	return Value[T]{}, nil
}

// Bool looks a boolean up by its dotted path, such as "sandbox.enabled". Only
// true and false count; in managed settings another value stands for the
// stricter of the two where the client takes it so.
func (s *Stack) Bool(path string) Value[bool] {
	v, _ := s.bool(path)
	return v
}

func (s *Stack) bool(path string) (v Value[bool], from *layer) {
	keys := strings.Split(path, ".")
	for i := range s.layers {
		l := &s.layers[i]
		b, n, ok := l.bool(keys)
		if !ok || !(b && anyTrueWins(path) || !b && anyFalseWins(path, l.Scope)) {
			continue
		}
		if s.ignored(l, keys, n) == "" {
			return Value[bool]{b, true, l.source(n)}, l
		}
	}
	return strongest(s, keys, (*layer).bool)
}

// String looks a string up.
func (s *Stack) String(path string) Value[string] {
	v, _ := strongest(s, strings.Split(path, "."), s.text)
	return v
}

// Int looks an integer up. A number with a fraction does not count.
func (s *Stack) Int(path string) Value[int64] {
	v, _ := strongest(s, strings.Split(path, "."), func(l *layer, path []string) (int64, Node, bool) {
		n := l.doc.Root().Get(path...)
		i, ok := n.Int()
		return i, n, ok
	})
	return v
}

// List returns an array as the client joins it: all scopes, weakest first,
// without duplicates, each entry with its source. Entries that the client
// ignores in the file they stand in are left out; [Stack.Ignored] has them. An
// entry that several files hold is listed once, for the weakest of them.
func (s *Stack) List(path string) []Value[string] {
	var out []Value[string]
	seen := make(map[string]bool)
	s.entries(path, func(l *layer, n Node, text, why string) {
		if why == "" && !seen[text] {
			seen[text] = true
			out = append(out, Value[string]{text, true, l.source(n)})
		}
	})
	return out
}

// entries visits the strings of every array at path, weakest scope first.
func (s *Stack) entries(path string, f func(l *layer, n Node, text, why string)) {
	keys := strings.Split(path, ".")
	// Two keys are not joined: the first is whole, of the second an administrator's
	// files stand alone.
	top := len(s.layers) - 1
	switch path {
	case "fallbackModel":
		if i := slices.IndexFunc(s.layers, func(l layer) bool { return l.doc.Root().Get(keys...).Kind() == Array }); i >= 0 {
			top = i
		}
	case "availableModels":
		for top >= 0 && s.has(keys, Managed) && s.layers[top].Scope != Managed {
			top--
		}
	}
	for i := top; i >= 0; i-- {
		l := &s.layers[i]
		array := l.doc.Root().Get(keys...)
		if array.Kind() != Array || l.Scope == Managed && wrongKind(array, keys) {
			continue
		}
		whyAll := s.ignored(l, keys, array)
		array.Each(func(_ string, n Node) bool {
			if text, ok := n.Text(); ok {
				why := whyAll
				if why == "" {
					why = s.ignoredEntry(l, path, text)
				}
				f(l, n, text, why)
			}
			return true
		})
	}
}

// All returns what every file that counts holds at path, strongest first, as
// it is written there: the raw material of objects and of arrays of objects,
// which the client merges key by key and joins.
func (s *Stack) All(path string) []Value[Node] {
	var out []Value[Node]
	s.each(strings.Split(path, "."), func(l *layer, n Node, why string) bool {
		if why == "" {
			out = append(out, Value[Node]{n, true, l.source(n)})
		}
		return true
	})
	return out
}

// An Ignored value stands in a file that the client reads, and does nothing.
type Ignored struct {
	Source
	Value  string // as written in the file
	Reason string
}

// Ignored lists the values at path, and the entries of lists, that the client
// passes over in the file they stand in.
func (s *Stack) Ignored(path string) []Ignored {
	var out []Ignored
	s.each(strings.Split(path, "."), func(l *layer, n Node, why string) bool {
		if why != "" {
			out = append(out, Ignored{l.source(n), string(n.Raw()), why})
			return true
		}
		if n.Kind() == Array {
			n.Each(func(_ string, e Node) bool {
				if text, ok := e.Text(); ok {
					if why := s.ignoredEntry(l, path, text); why != "" {
						out = append(out, Ignored{l.source(e), string(e.Raw()), why})
					}
				}
				return true
			})
		}
		return true
	})
	return out
}
