package iso

import "strings"

// A grammar is how a CLI reads its options, as far as it must be known to tell
// an option from the value of another. Options that it does not name take no
// value of their own.
type grammar struct {
	required []string // options whose value is the next word, whatever that looks like
	optional []string // options whose value is the next word unless it begins with "-"
	variadic []string // required ones that go on up to the next option
}

func (g grammar) takes(name string) (required, optional bool) {
	return contains(g.required, name), contains(g.optional, name)
}

// An option is one option on a command line.
type option struct {
	name     string // with its dashes, such as "--settings" or "-w"
	value    string
	hasValue bool
	at, end  int // the words args[at:end]
	// more are the words that a variadic option takes in addition.
	more []string
}

// list is the option's value as a list: words, and what commas separate.
func (o option) list() []string {
	var items []string
	for _, word := range append([]string{o.value}, o.more...) {
		depth, start := 0, 0
		for i := 0; i <= len(word); i++ {
			switch {
			case i == len(word) || depth == 0 && (word[i] == ',' || word[i] == ' '):
				if item := strings.TrimSpace(word[start:i]); item != "" {
					items = append(items, item)
				}
				start = i + 1
			case word[i] == '(':
				depth++
			case word[i] == ')' && depth > 0:
				depth--
			}
		}
	}
	return items
}

// options finds the options on a command line, up to "--". Values that are
// words of their own are told by the grammar.
func (g grammar) options(args []string) []option {
	var found []option
	for i := 0; i < len(args); {
		arg := args[i]
		if arg == "--" {
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			i++
			continue
		}
		o := option{name: arg, at: i, end: i + 1}
		if strings.HasPrefix(arg, "--") {
			if name, value, ok := strings.Cut(arg, "="); ok {
				o.name, o.value, o.hasValue = name, value, true
			}
		} else if len(arg) > 2 {
			found, o = g.shorts(found, arg, i)
		}
		if !o.hasValue && i+1 < len(args) {
			required, optional := g.takes(o.name)
			next := args[i+1]
			if required || optional && !strings.HasPrefix(next, "-") {
				o.value, o.hasValue, o.end = next, true, i+2
			}
		}
		if o.end == i+2 && contains(g.variadic, o.name) {
			for o.end < len(args) && !strings.HasPrefix(args[o.end], "-") {
				o.more = append(o.more, args[o.end])
				o.end++
			}
		}
		found = append(found, o)
		i = o.end
	}
	return found
}

// shorts takes a word of short options apart: "-cw" is -c and -w, "-wname" is
// -w with a value. It returns the last of them apart from the others, because
// its value may be the next word.
func (g grammar) shorts(found []option, arg string, at int) ([]option, option) {
	letters := arg[1:]
	for {
		o := option{name: "-" + letters[:1], at: at, end: at + 1}
		letters = letters[1:]
		if letters == "" {
			return found, o
		}
		required, optional := g.takes(o.name)
		if required || optional || letters[0] == '=' {
			o.value, o.hasValue = strings.TrimPrefix(letters, "="), true
			return found, o
		}
		found = append(found, o)
	}
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}
