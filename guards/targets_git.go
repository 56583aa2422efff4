package guards

import (
	"strings"

	"sallyport/internal/shellcmd"
)

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
