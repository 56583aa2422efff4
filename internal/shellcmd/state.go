package shellcmd

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what a shell's state may hold.
const (
	maxAlternatives = 4  // values of one variable that are told apart
	maxExported     = 64 // exported variables that a command shows
	maxValue        = 1 << 20
)

// A shell is the state of one shell process. A subshell or a branch is a child
// that sees its parent's state and keeps its own changes, so that a fork costs
// nothing and a branch can be joined by looking at its changes alone.
type shell struct {
	w      *walker
	parent *shell

	vars    map[string]*variable
	funcs   map[string]*function
	aliases map[string]string

	dirs   []string // alternatives for the working directory, likeliest first
	oldDir string
	stack  []string // pushd

	params *params
	env    []Assign // exported variables, shared by the commands

	allExport bool // set -a
	noSplit   bool // zsh
	braces    bool
	last      string // $_

	locals map[string]*variable // what a function's local variables hide; nil outside

	exited bool // it has reached an exit or return: what follows does not run in it

	in  *string // standard input, nil if it is inherited
	out *sink   // nil if nobody looks
}

// params are the positional parameters; a nil list is not known.
type params struct {
	zero string
	list []string
}

type variable struct {
	vals     []string // alternatives as marked text; none: unset
	arr      []string // of an array
	isArray  bool
	assoc    bool // an array with names for its elements; see element
	exported bool
	ref      string // name of the variable that a nameref stands for
}

type function struct {
	body     *syntax.Stmt
	from     *origin
	maybe    bool        // defined in a branch
	others   []*function // what other branches define by this name
	exported bool        // to the shells that this one starts
	gone     bool        // unset
	calls    int
	active   int
	spawned  int // walker.spawned when it was called first
}

// fork returns a child whose changes the parent does not see until joined.
func (s *shell) fork() *shell {
	c := *s
	c.parent, c.vars, c.funcs, c.aliases = s, nil, nil, nil
	c.exited = false
	c.env = slices.Clip(c.env) // the parent's list may grow in place
	return &c
}

func (s *shell) lookup(name string) *variable {
	for c := s; c != nil; c = c.parent {
		if v, ok := c.vars[name]; ok {
			if v.ref != "" && v.ref != name {
				if t := s.direct(v.ref); t != nil {
					return t
				}
			}
			return v
		}
	}
	return nil
}

func (s *shell) direct(name string) *variable {
	for c := s; c != nil; c = c.parent {
		if v, ok := c.vars[name]; ok {
			return v
		}
	}
	return nil
}

// put stores v. The stored value is never changed in place: other shells may
// share it.
func (s *shell) put(name string, v *variable) {
	if s.vars == nil {
		s.vars = map[string]*variable{}
	}
	s.vars[name] = v
	i := slices.IndexFunc(s.env, func(a Assign) bool { return a.Name == name })
	if i < 0 && !v.exported {
		return
	}
	// Commands share the list, so what they see of it is not changed.
	env := s.env
	if i >= 0 {
		env = slices.Concat(env[:i], env[i+1:])
	} else if len(env) >= maxExported {
		env = env[1:]
		s.w.line.Limited = true
	}
	if v.exported && len(v.vals) > 0 {
		env = append(env, Assign{Name: name, Value: s.w.word(v.vals[0])})
	}
	s.env = env
}

func (s *shell) function(name string) *function {
	for c := s; c != nil; c = c.parent {
		if f, ok := c.funcs[name]; ok {
			if f.gone {
				return nil
			}
			return f
		}
	}
	return nil
}

func (s *shell) define(name string, f *function) {
	if s.funcs == nil {
		s.funcs = map[string]*function{}
	}
	s.funcs[name] = f
}

func (s *shell) alias(name string) (string, bool) {
	for c := s; c != nil; c = c.parent {
		if a, ok := c.aliases[name]; ok {
			return a, a != ""
		}
	}
	return "", false
}

func (s *shell) setAlias(name, value string) {
	if s.aliases == nil {
		s.aliases = map[string]string{}
	}
	s.aliases[name] = value
}

// commit takes over the changes of a child that ran for certain.
func (s *shell) commit(c *shell) {
	s.exited = s.exited || c.exited
	for name, v := range c.vars {
		s.put(name, v)
	}
	for name, f := range c.funcs {
		s.define(name, f)
	}
	for name, a := range c.aliases {
		s.setAlias(name, a)
	}
	s.takeScalars(c)
}

func (s *shell) takeScalars(c *shell) {
	s.dirs, s.oldDir, s.stack = c.dirs, c.oldDir, c.stack
	s.params, s.allExport, s.last = c.params, c.allExport, c.last
	s.noSplit, s.braces, s.env = c.noSplit, c.braces, c.env
	s.in = c.in // what it has read is gone
}

// join takes over the changes of branches of which one ran, or none if
// orNone is set. What differs between them becomes alternatives.
func (s *shell) join(orNone bool, branches ...*shell) {
	alive := make([]*shell, 0, len(branches)+1)
	for _, b := range branches {
		if !b.exited {
			alive = append(alive, b)
		}
	}
	switch {
	case len(alive) > 0:
		branches = alive
	case orNone:
		return // those that changed anything do not get here
	default:
		s.exited = true
	}
	names := map[string]bool{}
	funcs := map[string]bool{}
	for _, b := range branches {
		for n := range b.vars {
			names[n] = true
		}
		for n := range b.funcs {
			funcs[n] = true
		}
	}
	all := branches
	if orNone {
		base := s.fork()
		all = append(slices.Clone(branches), base)
	}
	sorted := slices.Sorted(maps.Keys(names))
	united := make([]*variable, len(sorted))
	for i, n := range sorted {
		united[i] = all[0].lookup(n)
		for _, b := range all[1:] {
			united[i] = unionVar(united[i], b.lookup(n))
		}
	}
	for n := range funcs {
		var last *function
		missing := false
		for _, b := range all {
			if f := b.function(n); f != nil {
				last = f
			} else {
				missing = true
			}
		}
		if last == nil {
			s.define(n, &function{gone: true})
			continue
		}
		f := *last
		f.maybe = f.maybe || missing
		for _, b := range all {
			if o := b.function(n); o != nil && o.body != f.body && len(f.others) < maxAlternatives {
				f.others = append(f.others[:len(f.others):len(f.others)], o)
			}
		}
		s.define(n, &f)
	}
	for _, b := range branches {
		for n, a := range b.aliases {
			if a != "" {
				s.setAlias(n, a)
			}
		}
	}
	var dirs []string
	for _, b := range all {
		for _, d := range b.dirs {
			if !slices.Contains(dirs, d) && len(dirs) < maxAlternatives {
				dirs = append(dirs, d)
			}
		}
	}
	first := branches[0]
	allExport := s.allExport
	for _, b := range branches {
		allExport = allExport || b.allExport
	}
	s.takeScalars(first)
	s.allExport = allExport
	s.dirs = dirs
	for i, n := range sorted {
		if united[i] == nil {
			united[i] = &variable{}
		}
		s.put(n, united[i])
	}
}

// unionVar joins the values that two branches gave a variable.
func unionVar(a, b *variable) *variable {
	if a == nil && b == nil {
		return &variable{vals: []string{""}}
	}
	if a == nil || b == nil {
		if a == nil {
			a, b = b, a
		}
		// Not set by one branch: empty, or what the environment holds.
		if a.isArray {
			return a
		}
		u := *a
		u.vals = addValue(slices.Clone(a.vals), "")
		return &u
	}
	u := *a
	u.exported = a.exported || b.exported
	if a.isArray || b.isArray {
		if a.isArray && b.isArray && slices.Equal(a.arr, b.arr) {
			return &u
		}
		// Two arrays: the longer list, which is the richer guess.
		if !a.isArray || (b.isArray && len(b.arr) > len(a.arr)) {
			u.arr = b.arr
		}
		u.isArray = true
		return &u
	}
	u.vals = slices.Clone(a.vals)
	for _, v := range b.vals {
		u.vals = addValue(u.vals, v)
	}
	return &u
}

func addValue(vals []string, v string) []string {
	if slices.Contains(vals, v) {
		return vals
	}
	if len(vals) >= maxAlternatives {
		vals[len(vals)-1] = otherMark
		return vals
	}
	return append(vals, v)
}
