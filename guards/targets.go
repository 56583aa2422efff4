package guards

import (
	"strings"

	"sallyport/internal/shellcmd"
)

// An effect is what a command does to a file.
type effect int

const (
	writes effect = iota // makes or changes it
	deletes
	modes // changes its mode or owner
	moves // takes it away to another name
)

// A target is a file that a command changes.
type target struct {
	word   shellcmd.Word
	path   string // as text; joined with the directory of -C or -t where there is one
	effect effect
	tree   bool // everything below it too
	// truncates is set when the old content is lost.
	truncates bool
	how       string // the word that does it: ">", "tee", "sed -i"
}

// args are the operands and options of a plain command, read with a list of
// the letters and long names that take a value in the next word.
type args struct {
	operands []shellcmd.Word
	flags    map[string]shellcmd.Word // by letter or long name, the last one
	dashes   bool
}

func (a *args) has(names ...string) bool {
	for _, n := range names {
		if _, ok := a.flags[n]; ok {
			return true
		}
	}
	return false
}

// parse reads c's words by the habits of getopt: clusters, attached values,
// "--". letters are those that take a value, longs the long names that do.
func (c *Call) parse(letters string, longs ...string) *args {
	a := &args{flags: map[string]shellcmd.Word{}}
	rest := c.Args[1:]
	for i := 0; i < len(rest); i++ {
		w := rest[i]
		s := w.Value
		switch {
		case !w.Static && len(w.Parts) > 0 && w.Parts[0].Kind != shellcmd.Literal:
			a.operands = append(a.operands, w)
		case s == "--" && w.Static:
			a.operands = append(a.operands, rest[i+1:]...)
			a.dashes = true
			return a
		case len(s) < 2 || s[0] != '-':
			a.operands = append(a.operands, w)
		case s[1] == '-':
			name, _, attached := strings.Cut(s[2:], "=")
			value := shellcmd.Word{Static: true}
			if attached {
				value, _ = w.After("--" + name + "=")
			} else {
				for _, l := range longs {
					if l == name && i+1 < len(rest) {
						i++
						value = rest[i]
						break
					}
				}
			}
			a.flags[name] = value
		default:
			for j := 1; j < len(s); j++ {
				letter := s[j : j+1]
				if !strings.Contains(letters, letter) {
					a.flags[letter] = shellcmd.Word{Static: true}
					continue
				}
				value, _ := w.After(s[:j+1])
				if value.Value == "" && value.Static && i+1 < len(rest) {
					i++
					value = rest[i]
				}
				a.flags[letter] = value
				break
			}
		}
	}
	return a
}

// targets are the files that c changes, as far as its name and words tell.
func (c *Call) targets() []target {
	var out []target
	for _, r := range c.Redirs {
		switch r.Op {
		case ">", ">|", "&>", "<>", ">&":
			if r.Op == ">&" && (strings.Trim(r.Target.Value, "0123456789-") == "") {
				continue
			}
			out = append(out, target{word: r.Target, path: r.Target.Value, truncates: r.Op != "<>", how: r.Op})
		case ">>", "&>>":
			out = append(out, target{word: r.Target, path: r.Target.Value, how: r.Op})
		}
	}
	if len(c.Args) == 0 {
		return out
	}
	add := func(how string, e effect, words ...shellcmd.Word) {
		for _, w := range words {
			out = append(out, target{word: w, path: w.Value, effect: e, how: how})
		}
	}
	tree := func(from int, on bool) {
		for i := from; i < len(out); i++ {
			out[i].tree = on
		}
	}
	switch name := c.Name(); name {
	case "tee", "sponge":
		a := c.parse("")
		n := len(out)
		add(name, writes, a.operands...)
		for i := n; i < len(out); i++ {
			out[i].truncates = !a.has("a", "append")
		}
	case "cp", "install", "ln", "mv", "rsync", "scp", "link":
		a := c.parse("tSmgob", "target-directory", "suffix", "mode", "owner", "group", "backup", "exclude", "include", "filter", "rsh")
		if name == "install" && a.has("d", "directory") {
			add(name, writes, a.operands...)
			return out
		}
		ops := a.operands
		dir, hasDir := a.flags["t"]
		if !hasDir || name == "rsync" {
			dir, hasDir = a.flags["target-directory"]
		}
		sources := ops
		if !hasDir {
			if len(ops) < 2 {
				return out
			}
			dir, sources = ops[len(ops)-1], ops[:len(ops)-1]
		}
		n := len(out)
		add(name, writes, dir)
		for _, s := range sources {
			// Into a directory the file keeps its name.
			out = append(out, target{word: dir, path: strings.TrimRight(dir.Value, "/") + "/" + base(slashed(s.Value)), effect: writes, how: name})
		}
		tree(n, name == "rsync" && (a.has("delete") || a.has("del")))
		for i := n; i < len(out); i++ {
			out[i].truncates = true
		}
		if name == "mv" {
			n := len(out)
			add(name, moves, sources...)
			tree(n, true)
		}
	case "rm", "unlink", "rmdir", "shred", "trash", "srm":
		a := c.parse("ns", "iterations", "size", "random-source")
		n := len(out)
		add(name, deletes, a.operands...)
		tree(n, a.has("r", "R", "recursive"))
	case "chmod", "chown", "chgrp", "setfacl", "chattr", "xattr":
		a := c.parse("", "reference", "from")
		ops := a.operands
		// The mode may begin with a hyphen (chmod -x file).
		if !a.has("reference") && len(ops) > 0 {
			mode := false
			if name == "chmod" {
				for _, w := range c.Args[1:] {
					if len(w.Value) > 1 && w.Value[0] == '-' && strings.Trim(w.Value[1:], "rwxXstugoa,+-=") == "" && !a.dashes && strings.Trim(w.Value[1:], "R") != "" && w.Value != "-R" {
						mode = true
					}
				}
			}
			if !mode {
				ops = ops[1:]
			}
		}
		n := len(out)
		add(name, modes, ops...)
		tree(n, a.has("R", "recursive"))
	case "sed", "gsed":
		a := c.parse("eflE", "expression", "file", "line-length")
		inPlace := a.has("in-place")
		for _, w := range c.Args[1:] {
			if len(w.Value) > 1 && w.Value[0] == '-' && w.Value[1] != '-' {
				// -i may stand in a cluster and takes the rest as its suffix.
				for _, b := range w.Value[1:] {
					if b == 'i' {
						inPlace = true
					}
					if b == 'e' || b == 'f' || b == 'i' {
						break
					}
				}
			}
		}
		if inPlace {
			ops := a.operands
			if !a.has("e", "f", "expression", "file") && len(ops) > 0 {
				ops = ops[1:]
			}
			add("sed -i", writes, ops...)
		}
	case "perl", "ruby":
		a := c.parse("eEI")
		for _, w := range c.Args[1:] {
			if len(w.Value) > 1 && w.Value[0] == '-' && w.Value[1] != '-' && strings.Contains(w.Value, "i") && !strings.HasPrefix(w.Value, "-e") && !strings.HasPrefix(w.Value, "-I") {
				add(name+" -i", writes, a.operands...)
				break
			}
		}
	case "dd":
		for _, w := range c.Args[1:] {
			if v, ok := w.After("of="); ok {
				out = append(out, target{word: v, path: v.Value, truncates: true, how: "dd of="})
			}
		}
	case "truncate", "touch", "fallocate":
		a := c.parse("srdtlo", "size", "reference", "date", "length", "offset")
		n := len(out)
		add(name, writes, a.operands...)
		for i := n; i < len(out); i++ {
			out[i].truncates = name == "truncate"
		}
	case "patch":
		a := c.parse("bdDFginopBrYzVx")
		if d, ok := a.flags["d"]; ok {
			add(name, writes, d)
		}
		if len(a.operands) > 0 {
			add(name, writes, a.operands[0])
		}
	case "ed", "ex", "vi", "vim", "nvim", "nano", "emacs", "code":
		add(name, writes, c.parse("").operands...)
	case "curl":
		a := c.parse("oODdHXuAeFbcTKmrwxyYzCQ", "output", "data", "header", "request", "user", "output-dir", "form", "data-binary", "data-raw")
		delete(a.flags, "O")
		for _, n := range [...]string{"o", "output"} {
			if w, ok := a.flags[n]; ok {
				add("curl -o", writes, w)
			}
		}
	case "wget":
		a := c.parse("OoPaiUtTwQlARDe", "output-document", "directory-prefix")
		for _, n := range [...]string{"O", "output-document"} {
			if w, ok := a.flags[n]; ok {
				add("wget -O", writes, w)
			}
		}
	case "git":
		if c.Git == nil {
			return out
		}
		switch c.Git.Name {
		case "mv":
			ops := c.Git.Operands
			if len(ops) > 1 {
				add("git mv", moves, ops[:len(ops)-1]...)
				add("git mv", writes, ops[len(ops)-1])
			}
		case "rm":
			if !c.Git.On("cached") && !c.Git.On("dry-run") {
				add("git rm", deletes, c.Git.Operands...)
			}
		case "checkout":
			if c.Git.Dashes >= 0 {
				add("git checkout", writes, c.Git.Operands[c.Git.Dashes:]...)
			}
		case "restore":
			if !c.Git.On("staged") || c.Git.On("worktree") {
				add("git restore", writes, c.Git.Operands...)
			}
		}
	}
	return out
}
