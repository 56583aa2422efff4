package guards

import (
	"slices"
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
	word   *shellcmd.Word
	path   string // as text; below that of word where word is the directory of -C or -t
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
	flags    map[string][]*shellcmd.Word // the values by letter or long name
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

func (a *args) set(name string, value *shellcmd.Word) {
	if a.flags == nil {
		a.flags = map[string][]*shellcmd.Word{}
	}
	a.flags[name] = append(a.flags[name], value)
}

// bare records an option without a value.
func (a *args) bare(name string) {
	if !a.has(name) {
		a.set(name, &shellcmd.Word{Static: true})
	}
}

// values are those of an option under all its names.
func (a *args) values(names ...string) []*shellcmd.Word {
	var out []*shellcmd.Word
	for _, n := range names {
		out = append(out, a.flags[n]...)
	}
	return out
}

// value is the last value of an option, under the first of its names that is
// given.
func (a *args) value(names ...string) (value shellcmd.Word, given bool) {
	for _, n := range names {
		if v := a.flags[n]; len(v) > 0 {
			return *v[len(v)-1], true
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

// targets are the files that c changes, as far as its name and words tell.
func (c *Call) targets() []target {
	if c.changed == nil {
		if c.changed = c.findTargets(); c.changed == nil {
			c.changed = []target{}
		}
	}
	return c.changed
}

func (c *Call) findTargets() []target {
	var out []target
	for i := range c.Redirs {
		r := &c.Redirs[i]
		switch r.Op {
		case ">", ">|", "&>", "<>", ">&":
			if r.Op == ">&" && (strings.Trim(r.Target.Value, "0123456789-") == "") {
				continue
			}
			out = append(out, target{word: &r.Target, path: r.Target.Value, truncates: r.Op != "<>", how: r.Op})
		case ">>", "&>>":
			out = append(out, target{word: &r.Target, path: r.Target.Value, how: r.Op})
		}
	}
	if len(c.Args) == 0 {
		return out
	}
	add := func(how string, e effect, words ...shellcmd.Word) {
		out = slices.Grow(out, len(words))
		for i := range words {
			w := &words[i]
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
		dir, hasDir := a.value("t", "target-directory")
		if name == "rsync" {
			dir, hasDir = a.value("target-directory")
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
		out = slices.Grow(out, len(sources))
		into := strings.TrimRight(dir.Value, "/") + "/"
		for i := range sources {
			// Into a directory the file keeps its name.
			out = append(out, target{word: &dir, path: into + base(slashed(sources[i].Value)), effect: writes, how: name})
		}
		tree(n, name == "rsync" && rsyncDeletes(a))
		// A directory that is copied brings all that is in it; a copy that no
		// client reads is only a copy.
		whole := name == "mv" || a.has("r", "R", "a", "recursive", "archive")
		if whole {
			area := c.locate(dir).area
			whole = area != temporary && area != outside
		}
		for i := n + 1; i < len(out); i++ {
			out[i].tree = out[i].tree || whole && name != "rsync"
		}
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
		if name == "chattr" && len(c.Args) > 1 && strings.HasPrefix(c.Args[1].Value, "-") {
			ops = append([]shellcmd.Word{c.Args[1]}, ops...) // chattr -i file: the mode
		}
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
		scripts, ops := []shellcmd.Word{}, a.operands
		for i, w := range c.Args[1:] {
			if (w.Value == "-e" || w.Value == "--expression") && i+2 < len(c.Args) {
				scripts = append(scripts, c.Args[i+2])
			}
		}
		if !a.has("e", "f", "expression", "file") && len(ops) > 0 {
			scripts, ops = ops[:1], ops[1:]
		}
		if inPlace {
			add("sed -i", writes, ops...)
		}
		for _, s := range scripts {
			for _, file := range sedWrites(s.Value) {
				add("sed w", writes, shellcmd.NewWord(file))
			}
		}
	case "awk", "gawk", "mawk", "nawk":
		a := c.parse("vFfile", "assign", "field-separator", "file", "include", "source", "load")
		program, ops := shellcmd.Word{}, a.operands
		if !a.has("f", "file", "e", "source") && len(ops) > 0 {
			program, ops = ops[0], ops[1:]
		}
		if slices.ContainsFunc(a.values("i", "include"), func(w *shellcmd.Word) bool { return w.Value == "inplace" }) {
			add("awk -i inplace", writes, ops...)
		}
		for _, file := range awkWrites(program.Value) {
			add("awk >", writes, shellcmd.NewWord(file))
		}
	case "yq":
		if a := c.parse("poIsB", "prettyPrint", "output-format", "input-format", "indent"); (a.has("i", "inplace", "in-place")) && len(a.operands) > 0 {
			add("yq -i", writes, a.operands[len(a.operands)-1])
		}
	case "tar", "gtar", "bsdtar", "unzip":
		out = append(out, c.extracted(name)...)
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
				out = append(out, target{word: &v, path: v.Value, truncates: true, how: "dd of="})
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
		a := c.parse("bdDFginopBrYzVx", "input", "directory", "strip", "output")
		if d, ok := a.value("d"); ok {
			add(name, writes, d)
		}
		if len(a.operands) > 0 {
			add(name, writes, a.operands[0])
		}
		if w, ok := a.value("i", "input"); ok {
			text, _ := c.ReadFile(w)
			add(name, writes, patched(text)...)
		}
		if text, _ := c.input(); text != "" {
			add(name, writes, patched(text)...)
		}
	case "ed", "ex", "vi", "vim", "nvim", "nano", "emacs", "code":
		add(name, writes, c.parse("").operands...)
		scripts := []string{}
		for _, w := range c.Args[1:] {
			scripts = append(scripts, strings.TrimPrefix(w.Value, "+"))
		}
		if name == "ed" || name == "ex" {
			text, _ := c.input()
			scripts = append(scripts, text)
		}
		for _, s := range scripts {
			for _, file := range editorWrites(s) {
				add(name+" w", writes, shellcmd.NewWord(file))
			}
		}
	case "sd", "rename", "prename":
		if ops := c.parse("nf").operands; len(ops) > 1 {
			add(name, writes, ops[1:]...)
		}
	case "mount":
		if a := c.parse("toLU", "types", "options"); len(a.operands) > 1 {
			n := len(out)
			add(name, writes, a.operands[1])
			tree(n, true)
		}
	case "curl":
		a := c.parse("oODdHXuAeFbcTKmrwxyYzCQ", "output", "data", "header", "request", "user", "output-dir", "form", "data-binary", "data-raw")
		for _, w := range a.values("o", "output") {
			add("curl -o", writes, *w)
		}
		if d, ok := a.value("output-dir"); ok {
			for _, w := range c.Args[1:] {
				if strings.Contains(w.Value, "://") {
					out = append(out, below(d, base(w.Value), "curl --output-dir"))
				}
			}
		}
	case "wget":
		a := c.parse("OoPaiUtTwQlARDe", "output-document", "directory-prefix")
		for _, w := range a.values("O", "output-document") {
			add("wget -O", writes, *w)
		}
		if d, ok := a.value("P", "directory-prefix"); ok {
			for _, w := range a.operands {
				out = append(out, below(d, base(w.Value), "wget -P"))
			}
		}
	case "gh":
		if c.GH != nil && (c.GH.Is("release", "download") || c.GH.Is("run", "download")) {
			for _, w := range c.Args[1:] {
				if v, ok := w.After("--dir="); ok {
					out = append(out, target{word: &v, path: v.Value, tree: true, how: "gh download"})
				}
			}
			for i, w := range c.Args {
				if (w.Value == "-D" || w.Value == "--dir") && i+1 < len(c.Args) {
					out = append(out, target{word: &c.Args[i+1], path: c.Args[i+1].Value, tree: true, how: "gh download"})
				}
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
			n := len(out)
			add("git checkout", writes, c.Git.Operands[max(0, c.Git.Dashes):]...)
			tree(n, true)
		case "restore":
			if !c.Git.On("staged") || c.Git.On("worktree") {
				n := len(out)
				add("git restore", writes, c.Git.Operands...)
				tree(n, true)
			}
		case "clone":
			if ops := c.Git.Operands; len(ops) > 1 {
				n := len(out)
				add("git clone", writes, ops[1])
				tree(n, true)
			}
		case "apply":
			if c.Git.On("check") || c.Git.On("stat") || c.Git.On("numstat") || c.Git.On("summary") || c.Git.On("cached") {
				break
			}
			if text, _ := c.input(); text != "" && len(c.Git.Operands) == 0 {
				add("git apply", writes, patched(text)...)
			}
			for _, w := range c.Git.Operands {
				text, _ := c.ReadFile(w)
				add("git apply", writes, patched(text)...)
			}
		}
	}
	return out
}

// below is a file that a command writes into a directory.
func below(dir shellcmd.Word, name, how string) target {
	return target{word: &dir, path: strings.TrimRight(dir.Value, "/") + "/" + name, effect: writes, how: how}
}

// extracted are the files that an archiver writes: the members that it is
// given, and everything below the directory that it is sent to.
func (c *Call) extracted(name string) []target {
	var out []target
	var dirs []*shellcmd.Word
	var members []shellcmd.Word
	if name == "unzip" {
		a := c.parse("dxP")
		if a.has("l", "t", "v", "Z", "p", "z") {
			return nil
		}
		dirs = a.values("d")
		if len(a.operands) > 1 {
			members = a.operands[1:]
		}
	} else {
		if len(c.Args) < 2 {
			return nil
		}
		a := c.parse("CfIbTXgKNV", "directory", "file", "exclude", "files-from", "strip-components", "transform", "use-compress-program")
		first := c.Args[1].Value
		old := first != "" && first[0] != '-' // tar xf file
		if !a.has("x", "extract", "get") && !(old && strings.Contains(first, "x")) {
			return nil
		}
		dirs = a.values("C", "directory")
		slices.SortStableFunc(dirs, func(a, b *shellcmd.Word) int { return a.Pos - b.Pos })
		members = a.operands
		if old {
			members = members[1:]
			if strings.Contains(first, "f") && len(members) > 0 {
				members = members[1:]
			}
		}
	}
	for _, dir := range dirs {
		out = append(out, target{word: dir, path: dir.Value, effect: writes, tree: true, how: name})
	}
	behind := 0
	for i := range members {
		m := &members[i]
		// tar puts a member where the last -C before it leads.
		for behind < len(dirs) && dirs[behind].Pos <= m.Pos {
			behind++
		}
		t := target{word: m, path: m.Value, effect: writes, how: name}
		if len(dirs) > 0 {
			t = below(*dirs[max(behind-1, 0)], m.Value, name)
		}
		t.tree = true
		out = append(out, t)
	}
	return out
}

// maxPatched bounds the file names that are read from a patch.
const maxPatched = 500

// patched are the files that a patch changes, with and without the first
// directory of the name, which -p takes off.
func patched(text string) []shellcmd.Word {
	var out []shellcmd.Word
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(line, "+++ ")
		if !ok {
			if name, ok = strings.CutPrefix(line, "--- "); !ok {
				continue
			}
		}
		name, _, _ = strings.Cut(strings.TrimSpace(name), "\t")
		if name == "" || name == "/dev/null" {
			continue
		}
		out = append(out, shellcmd.NewWord(name))
		if _, rest, ok := strings.Cut(name, "/"); ok {
			out = append(out, shellcmd.NewWord(rest))
		}
		if len(out) >= maxPatched {
			break
		}
	}
	return out
}

// sedWrites are the files that the command w and the flag w of s name.
func sedWrites(script string) []string {
	var out []string
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		for i := strings.Index(line, "w "); i >= 0; {
			if before := strings.TrimRight(line[:i], "gpiIeM0123456789"); before == "" || strings.ContainsRune(";{}/|#,!$@_%: ", rune(before[len(before)-1])) {
				out = append(out, strings.TrimSpace(line[i+2:]))
				break
			}
			next := strings.Index(line[i+2:], "w ")
			if next < 0 {
				break
			}
			i += 2 + next
		}
		if len(out) >= maxPatched {
			break
		}
	}
	return out
}

// awkWrites are the files that print > "file" names.
func awkWrites(program string) []string {
	var out []string
	for len(out) < maxPatched {
		i := strings.IndexByte(program, '>')
		if i < 0 {
			break
		}
		program = strings.TrimLeft(program[i+1:], "> \t(")
		if !strings.HasPrefix(program, `"`) {
			continue
		}
		file, _, ok := strings.Cut(program[1:], `"`)
		if !ok {
			break
		}
		out = append(out, file)
	}
	return out
}

// editorWrites are the files that w, wq and saveas of ed and vi name.
func editorWrites(script string) []string {
	var out []string
	for line := range strings.Lines(script) {
		line = strings.TrimLeft(strings.TrimSpace(line), ":%0123456789,$")
		for _, verb := range [...]string{"write!", "write", "saveas!", "saveas", "sav!", "sav", "wq!", "wq", "w!", "w"} {
			if file, ok := strings.CutPrefix(line, verb+" "); ok {
				if file = strings.TrimSpace(file); file != "" && file[0] != '!' {
					out = append(out, strings.TrimLeft(file, "> "))
				}
				break
			}
		}
		if len(out) >= maxPatched {
			break
		}
	}
	return out
}

// rsyncDeletes reports --delete and its forms: --del, --delete-after, …
func rsyncDeletes(a *args) bool {
	if a.has("n", "dry-run", "list-only") {
		return false
	}
	for name := range a.flags {
		if name == "del" || strings.HasPrefix(name, "delete") && name != "delete-missing-args" {
			return true
		}
	}
	return false
}
