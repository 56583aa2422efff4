package guards

import (
	"slices"
	"strings"

	"sallyport/internal/shellcmd"
)

// args are the operands and options of a plain command, read with a list of
// the letters and long names that take a value in the next word.
type args struct {
	operands []shellcmd.Word
	flags    []flag    // with their values, in order
	letters  [4]uint64 // those without a value, a set of bytes
	dashes   bool
}

// A flag is an option by its letter or long name. value is nil if it has none.
type flag struct {
	name  string
	value *shellcmd.Word
}

func (a *args) has(names ...string) bool {
	for _, n := range names {
		if len(n) == 1 && a.letters[n[0]/64]&(1<<(n[0]%64)) != 0 || slices.ContainsFunc(a.flags, func(f flag) bool { return f.name == n }) {
			return true
		}
	}
	return false
}

// onlyHas reports that no option but those of some names is given.
func (a *args) onlyHas(names ...string) bool {
	letters := a.letters
	for _, n := range names {
		if len(n) == 1 {
			letters[n[0]/64] &^= 1 << (n[0] % 64)
		}
	}
	return letters == [4]uint64{} && !slices.ContainsFunc(a.flags, func(f flag) bool { return !slices.Contains(names, f.name) })
}

func (a *args) set(name string, value *shellcmd.Word) {
	a.flags = append(a.flags, flag{name, value})
}

// bare records an option without a value.
func (a *args) bare(name string) {
	if len(name) == 1 {
		a.letters[name[0]/64] |= 1 << (name[0] % 64)
	} else {
		a.set(name, nil)
	}
}

// noValue is the value of an option that has none.
var noValue = shellcmd.Word{Static: true}

// values are those of an option under all its names.
func (a *args) values(names ...string) []*shellcmd.Word {
	var out []*shellcmd.Word
	for _, f := range a.flags {
		if f.value != nil && slices.Contains(names, f.name) {
			out = append(out, f.value)
		}
	}
	return out
}

// value is the last value of an option, under the first of its names that is
// given.
func (a *args) value(names ...string) (value shellcmd.Word, given bool) {
	for _, n := range names {
		for _, f := range slices.Backward(a.flags) {
			if f.name == n && f.value != nil {
				return *f.value, true
			}
		}
		if a.has(n) {
			return noValue, true
		}
	}
	return shellcmd.Word{}, false
}

// parse reads c's words by the habits of getopt: clusters, attached values,
// "--". letters are those that take a value, longs the long names that do.
func (c *Call) parse(letters string, longs ...string) *args {
	a := &args{}
	rest := c.Args[1:]
	first := 0
	operand := func(i int) {
		if len(a.operands) == 0 {
			first = i
		}
		if len(a.operands) == i-first {
			// Those that stand together are a part of rest: a line can have a
			// hundred thousand of them.
			a.operands = rest[first : i+1 : i+1]
			return
		}
		a.operands = append(a.operands, rest[i])
	}
	for i := 0; i < len(rest); i++ {
		w := rest[i]
		s := w.Value
		switch {
		case !w.Static && len(w.Parts) > 0 && w.Parts[0].Kind != shellcmd.Literal:
			operand(i)
		case s == "--" && w.Static:
			for j := i + 1; j < len(rest); j++ {
				operand(j)
			}
			a.dashes = true
			return a
		case len(s) < 2 || s[0] != '-':
			operand(i)
		case s[1] == '-':
			name, _, attached := strings.Cut(s[2:], "=")
			switch {
			case attached:
				value, _ := w.After("--" + name + "=")
				a.set(name, &value)
			case slices.Contains(longs, name) && i+1 < len(rest):
				i++
				a.set(name, &rest[i])
			default:
				a.bare(name)
			}
		default:
			for j := 1; j < len(s); j++ {
				letter := s[j : j+1]
				if !strings.Contains(letters, letter) {
					a.bare(letter)
					continue
				}
				value, _ := w.After(s[:j+1])
				if value.Value == "" && value.Static && i+1 < len(rest) {
					i++
					value = rest[i]
				}
				a.set(letter, &value)
				break
			}
		}
	}
	return a
}
