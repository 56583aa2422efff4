package guards

import (
	"slices"
	"strings"
	"sync"

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
	shell     bool   // a redirection: relative to the shell's directory
	glob      bool   // the command itself expands a pattern in it, as git does
	how       string // the word that does it: ">", "tee", "sed -i"
}

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
			out = append(out, target{word: &r.Target, path: r.Target.Value, truncates: r.Op != "<>", shell: true, how: r.Op})
		case ">>", "&>>":
			out = append(out, target{word: &r.Target, path: r.Target.Value, shell: true, how: r.Op})
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
	case "yq", "tomlq", "xq", "jaq":
		if a := c.parse("poIsB", "prettyPrint", "output-format", "input-format", "indent"); (a.has("i", "inplace", "in-place")) && len(a.operands) > 0 {
			add(name+" -i", writes, a.operands[len(a.operands)-1])
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
	case "truncate", "touch", "fallocate", "mkfifo", "dos2unix", "unix2dos":
		a := c.parse("srdtlom", "size", "reference", "date", "length", "offset", "mode")
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
		if o, ok := a.value("o", "output"); ok {
			add(name+" -o", writes, o)
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
	case "ed", "ex", "vi", "vim", "nvim", "view", "nano", "emacs", "code":
		if a := c.parse("cSuUTiwWs"); !c.onlyViews(a) {
			add(name, writes, c.parse("").operands...)
		}
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
		a := c.parse("oDdHXuAeFbcTKmrwxyYzCQ", "output", "data", "header", "request", "user", "output-dir", "form", "data-binary", "data-raw",
			"dump-header", "cookie-jar", "stderr", "trace", "trace-ascii", "libcurl", "etag-save", "hsts", "alt-svc")
		for _, w := range a.values("o", "output", "D", "dump-header", "c", "cookie-jar", "stderr", "trace", "trace-ascii", "libcurl", "etag-save", "hsts", "alt-svc") {
			add("curl -o", writes, *w)
		}
		if a.has("O", "remote-name", "remote-name-all") && !a.has("output-dir") {
			add("curl -O", writes, c.fetched()...)
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
		for _, w := range a.values("O", "output-document", "o", "output-file", "a", "append-output") {
			add("wget -O", writes, *w)
		}
		if !a.has("O", "output-document", "P", "directory-prefix") {
			add("wget", writes, c.fetched()...)
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
			if c.GH.Is("release", "download") {
				for _, w := range c.parse("DOpRA", "dir", "output", "pattern", "repo", "archive").values("O", "output") {
					add("gh download", writes, *w)
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
		out = append(out, c.gitTargets()...)
	default:
		out = append(out, c.outputFiles(name)...)
	}
	return out
}

// gitTargets are the files of the work tree, and others, that git changes.
func (c *Call) gitTargets() []target {
	var out []target
	add := func(how string, e effect, tree bool, words ...shellcmd.Word) {
		for i := range words {
			out = append(out, target{word: &words[i], path: words[i].Value, effect: e, tree: tree, how: how})
		}
	}
	// specs are names that git matches by itself.
	specs := func(how string, e effect, tree bool, words []shellcmd.Word) {
		for _, w := range words {
			if w, glob, ok := c.pathspec(w); ok {
				out = append(out, target{word: &w, path: w.Value, effect: e, tree: tree, glob: glob, how: how})
			}
		}
	}
	g := c.Git
	if g.Help {
		return nil
	}
	ops := g.Operands
	switch g.Name {
	case "mv":
		if len(ops) > 1 && !g.On("dry-run") {
			add("git mv", moves, false, ops[:len(ops)-1]...)
			add("git mv", writes, false, ops[len(ops)-1])
		}
	case "rm":
		if !g.On("cached") && !g.On("dry-run") {
			specs("git rm", deletes, g.On("r"), ops)
		}
	case "clean":
		if !g.On("dry-run") {
			specs("git clean", deletes, true, ops)
		}
	case "checkout":
		specs("git checkout", writes, true, ops[max(0, g.Dashes):])
	case "restore":
		if !g.On("staged") || g.On("worktree") {
			specs("git restore", writes, true, ops)
		}
	case "stash":
		// Git refuses to put away a file that it does not know.
		if g.Sub == "push" && len(ops) > 0 && c.tracks(ops) {
			specs("git stash push", writes, true, ops)
		}
	case "checkout-index":
		if prefix, ok := g.Opt("prefix"); ok {
			for _, w := range ops {
				add("git checkout-index", writes, false, shellcmd.NewWord(prefix.Value.Value+w.Value))
			}
		} else if g.On("force") {
			add("git checkout-index", writes, false, ops...)
		}
	case "clone":
		if len(ops) > 1 {
			add("git clone", writes, true, ops[1])
		}
	case "bundle":
		if g.Sub == "create" && len(ops) > 0 {
			add("git bundle", writes, false, ops[0])
		}
	case "merge-file":
		if len(ops) > 0 && !g.On("stdout") && !g.On("p") {
			add("git merge-file", writes, false, ops[0])
		}
	case "mailinfo":
		add("git mailinfo", writes, false, ops[:min(2, len(ops))]...)
	case "config":
		if f, ok := g.Opt("file"); ok && f.Has && changesConfig(c) {
			add("git config -f", writes, false, f.Value)
		}
	case "apply":
		if g.On("check") || g.On("stat") || g.On("numstat") || g.On("summary") || g.On("cached") {
			break
		}
		dir := shellcmd.Word{}
		if o, ok := g.Opt("directory"); ok {
			dir = o.Value
		}
		files := func(text string) {
			words := patched(text)
			for i := range words {
				if dir.Value != "" {
					words[i] = shellcmd.NewWord(strings.TrimRight(dir.Value, "/") + "/" + words[i].Value)
				}
			}
			add("git apply", writes, false, words...)
		}
		if text, _ := c.input(); text != "" && len(ops) == 0 {
			files(text)
		}
		for _, w := range ops {
			text, _ := c.ReadFile(w)
			files(text)
		}
	case "archive", "diff", "log", "show", "diff-tree", "diff-index", "diff-files", "format-patch", "shortlog", "whatchanged", "range-diff":
		letters, longs := "", []string{"output"}
		if g.Name == "archive" || g.Name == "format-patch" {
			letters, longs = "o", append(longs, "output-directory")
		}
		a := c.parse(letters, longs...)
		for _, w := range a.values(append(longs, "o")...) {
			if w.Value != "" {
				add("git "+g.Name+" --output", writes, false, *w)
			}
		}
	}
	return out
}

// tracks reports that git knows a file that one of the pathspecs names.
func (c *Call) tracks(specs []shellcmd.Word) bool {
	args := []string{"ls-files", "--"}
	for _, w := range specs[:min(len(specs), maxPatched)] {
		args = append(args, w.Value)
	}
	out, ok := c.git(args...)
	return ok && out != ""
}

// pathspec is the file that a pathspec of git names, and whether it is a pattern.
// ok is false for one that takes files out.
func (c *Call) pathspec(w shellcmd.Word) (spec shellcmd.Word, glob, ok bool) {
	if !w.Static {
		return w, false, true
	}
	text, top, literal := w.Value, false, false
	switch {
	case strings.HasPrefix(text, ":("):
		magic, rest, closed := strings.Cut(text[2:], ")")
		if !closed {
			return w, false, true
		}
		text = rest
		for word := range strings.SplitSeq(magic, ",") {
			switch word {
			case "top":
				top = true
			case "literal":
				literal = true
			case "exclude":
				return w, false, false
			}
		}
	case len(text) > 1 && text[0] == ':':
		rest := strings.TrimLeft(text[1:], "/!^")
		signs := text[1 : len(text)-len(rest)]
		if strings.ContainsAny(signs, "!^") {
			return w, false, false
		}
		top, text = signs != "", rest
	}
	if top && !c.Place.Unknown {
		if root, ok := c.run.world.Root(c.Place.Dir); ok {
			text = join(root, text)
		}
	}
	glob = !literal && strings.ContainsAny(text, "*?[")
	if text == w.Value {
		return w, glob, true
	}
	return shellcmd.NewWord(text), glob, true
}

// changesConfig reports a git config that writes.
func changesConfig(c *Call) bool {
	g := c.Git
	switch g.Sub {
	case "get", "list", "edit":
		return false
	}
	for _, read := range [...]string{"get", "get-all", "get-regexp", "get-urlmatch", "list", "get-color", "get-colorbool", "edit"} {
		if g.On(read) {
			return false
		}
	}
	return len(g.Operands) > 1 || g.On("unset") || g.On("unset-all") || g.Sub == "unset" || g.Sub == "set" ||
		g.On("remove-section") || g.On("rename-section") || strings.HasSuffix(g.Sub, "-section")
}

// An outputOption says under which options a program takes the name of a file
// that it writes.
type outputOption struct {
	letters string   // that take a value
	longs   []string // that take a value
	out     []string // of these, those that name the file
}

var outputOptions = sync.OnceValue(func() map[string]outputOption {
	return map[string]outputOption{
		"sort":   {"koStT", []string{"key", "output", "buffer-size", "field-separator", "temporary-directory", "parallel", "batch-size"}, []string{"o", "output"}},
		"shuf":   {"ino", []string{"input-range", "head-count", "output", "random-source"}, []string{"o", "output"}},
		"gpg":    {"orRuN", []string{"output", "recipient", "local-user", "homedir", "passphrase", "passphrase-file"}, []string{"o", "output"}},
		"iconv":  {"fto", []string{"from-code", "to-code", "output"}, []string{"o", "output"}},
		"pandoc": {"ofrtMV", []string{"output", "from", "to", "template", "metadata"}, []string{"o", "output"}},
		"aria2c": {"odixsj", []string{"out", "dir"}, []string{"o", "out"}},
		"http":   {"oapsA", []string{"output", "auth"}, []string{"o", "output"}},
		"cc":     {"oIDLlxU", nil, []string{"o"}},
		"go":     {"opC", nil, []string{"o"}},
		"base64": {"oibw", []string{"output", "input", "wrap"}, []string{"o", "output"}},
		"strace": {"oepsuaEPSI", []string{"output"}, []string{"o", "output"}},
		"split":  {"abClnt", nil, nil},
	}
})

// sameOptions are programs that are called like another one.
var sameOptions = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"gsort": "sort", "gshuf": "shuf", "gpg2": "gpg", "https": "http", "xh": "http", "xhs": "http", "gcc": "cc", "clang": "cc", "g++": "cc", "clang++": "cc", "ld": "cc", "rustc": "cc", "ltrace": "strace",
	}
})

// outputFiles are the files that other programs write.
func (c *Call) outputFiles(name string) []target {
	var out []target
	add := func(how string, e effect, words ...shellcmd.Word) {
		for i := range words {
			out = append(out, target{word: &words[i], path: words[i].Value, effect: e, how: how})
		}
	}
	if other, ok := sameOptions()[name]; ok {
		name = other
	}
	if o, ok := outputOptions()[name]; ok {
		for _, w := range c.parse(o.letters, o.longs...).values(o.out...) {
			add(name+" -o", writes, *w)
		}
		return out
	}
	switch name {
	case "openssl", "keytool":
		for i, w := range c.Args[:len(c.Args)-1] {
			switch w.Value {
			case "-out", "-keyout", "-writerand", "-sigout":
				add(name+" "+w.Value, writes, c.Args[i+1])
			}
		}
	case "xxd":
		if ops := c.parse("clsogN").operands; len(ops) > 1 {
			add(name, writes, ops[1])
		}
	case "uniq", "guniq":
		if ops := c.parse("fsw", "skip-fields", "skip-chars", "check-chars").operands; len(ops) > 1 {
			add(name, writes, ops[1])
		}
	case "find", "gfind", "bfs":
		for i, w := range c.Args[:len(c.Args)-1] {
			switch w.Value {
			case "-fprint", "-fprint0", "-fls", "-fprintf":
				add(name+" "+w.Value, writes, c.Args[i+1])
			}
		}
	case "docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "incus":
		ops := c.parse("nc", "namespace", "container", "context", "host").operands
		if len(ops) > 0 && (ops[0].Value == "container" || ops[0].Value == "file") {
			ops = ops[1:]
		}
		if len(ops) == 3 && (ops[0].Value == "cp" || ops[0].Value == "pull") && !strings.Contains(ops[2].Value, ":") && ops[2].Value != "-" {
			add(name+" cp", writes, ops[2])
		}
	case "aws", "gsutil", "rclone", "gcloud":
		ops := c.parse("", "profile", "region", "config").operands
		for i, w := range ops {
			switch w.Value {
			case "cp", "mv", "sync", "copy", "copyto", "move", "moveto", "rsync":
				if rest := ops[i+1:]; len(rest) == 2 && !strings.Contains(rest[1].Value, ":") {
					add(name+" "+w.Value, writes, rest[1])
				}
				return out
			}
		}
	case "ditto":
		if ops := c.parse("").operands; len(ops) > 1 {
			add(name, writes, ops[len(ops)-1])
		}
	case "zip":
		if ops := c.parse("bnPtxi").operands; len(ops) > 0 {
			add(name, writes, ops[0])
		}
	case "json":
		if a := c.parse("feEcdo"); a.has("I") {
			for _, w := range a.values("f") {
				add("json -I", writes, *w)
			}
		}
	case "gzip", "bzip2", "xz", "lzma", "compress", "pigz", "pbzip2", "gunzip", "bunzip2", "unxz", "unlzma", "uncompress", "zstd", "unzstd", "lz4", "unlz4":
		out = append(out, c.packed(name)...)
	}
	return out
}

// packed are the files that a compressor replaces.
func (c *Call) packed(name string) []target {
	a := c.parse("SoMTDb", "suffix", "memory", "threads")
	if a.has("c", "stdout", "to-stdout", "l", "list", "t", "test", "h", "help", "version", "V") {
		return nil
	}
	var out []target
	for _, w := range a.values("o") {
		out = append(out, target{word: w, path: w.Value, how: name + " -o"})
	}
	keeps := strings.HasSuffix(name, "zstd") || strings.HasSuffix(name, "lz4")
	for i := range a.operands {
		w := &a.operands[i]
		if !a.has("k", "keep") && !keeps || a.has("rm") {
			out = append(out, target{word: w, path: w.Value, effect: deletes, tree: a.has("r", "recursive"), how: name})
		}
		// What is unpacked loses its suffix.
		if plain := strings.TrimSuffix(w.Value, pathExt(w.Value)); plain != w.Value && (strings.HasPrefix(name, "un") || strings.Contains(name, "gun") || strings.Contains(name, "bun") || a.has("d", "decompress", "uncompress")) {
			plain := shellcmd.NewWord(plain)
			out = append(out, target{word: &plain, path: plain.Value, how: name})
		}
	}
	return out
}

// pathExt is the suffix of a name, with the dot.
func pathExt(p string) string {
	b := base(p)
	if i := strings.LastIndexByte(b, '.'); i > 0 {
		return b[i:]
	}
	return ""
}

// fetched are the names that a download has in the current directory.
func (c *Call) fetched() []shellcmd.Word {
	var out []shellcmd.Word
	for _, w := range c.Args[1:] {
		if strings.Contains(w.Value, "://") {
			address, _, _ := strings.Cut(w.Value, "?")
			out = append(out, shellcmd.NewWord(base(address)))
		}
	}
	return out
}

// onlyViews reports an editor that is told not to write.
func (c *Call) onlyViews(a *args) bool {
	switch c.name {
	case "nano":
		return a.has("v", "view")
	case "ex", "vi", "vim", "nvim", "view":
	default:
		return false
	}
	if c.name != "view" && !a.has("R", "M") {
		return false
	}
	for _, w := range c.Args[1:] {
		// :w! writes all the same.
		switch script := strings.TrimLeft(w.Value, "+:%"); {
		case w.Value == script && !slices.ContainsFunc(a.values("c", "cmd"), func(v *shellcmd.Word) bool { return v.Value == w.Value }):
		case strings.HasPrefix(script, "w"), strings.HasPrefix(script, "x"), strings.HasPrefix(script, "up"), strings.HasPrefix(script, "sav"), strings.Contains(script, "ZZ"), strings.Contains(script, "|"):
			return false
		}
	}
	return !a.has("S", "s") && !c.Stdin.Known
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
			file, ok := a.value("f", "file")
			if old && strings.Contains(first, "f") && len(a.operands) > 1 {
				file, ok = a.operands[1], true
			}
			if makes := a.has("c", "r", "u", "A", "create", "append", "update") || old && strings.ContainsAny(first, "cruA"); ok && makes {
				out = append(out, target{word: &file, path: file.Value, how: name})
			}
			return out
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
	for _, f := range a.flags {
		name := f.name
		if name == "del" || strings.HasPrefix(name, "delete") && name != "delete-missing-args" {
			return true
		}
	}
	return false
}
