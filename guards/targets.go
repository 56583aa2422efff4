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
	shell     bool   // a redirection: relative to the shell's directory
	glob      bool   // the command itself expands a pattern in it, as git does
	how       string // the word that does it: ">", "tee", "sed -i"
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

// below is a file that a command writes into a directory.
func below(dir shellcmd.Word, name, how string) target {
	return target{word: &dir, path: strings.TrimRight(dir.Value, "/") + "/" + name, effect: writes, how: how}
}
