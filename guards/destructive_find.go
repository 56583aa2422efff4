package guards

import (
	"path"
	"slices"
	"strings"

	"sallyport/internal/shellcmd"
)

// sources are the commands whose output gives c its operands.
func (c *Call) sources() []*shellcmd.Command {
	var out []*shellcmd.Command
	for _, w := range c.Args[1:] {
		out = append(out, w.From()...)
	}
	out = append(out, c.Stdin.From...)
	if c.Piped != nil {
		out = append(out, c.Piped)
	}
	return out
}

// fedByFind looks at the find whose names a command gets from xargs.
func fedByFind(c *Call, what string, tree bool) []Finding {
	for _, from := range c.sources() {
		for n := 0; from != nil && n < 50; from, n = from.Piped, n+1 {
			if from.Name() == "find" || from.Name() == "gfind" {
				return findRoots(&Call{Command: from, Place: c.Place, run: c.run, Index: c.Index, name: from.Name()}, what, tree)
			}
		}
	}
	return nil
}

// fedByList looks at an ls that lists the whole directory for rm.
func fedByList(c *Call) []Finding {
	for _, from := range c.sources() {
		if from == nil || from.Name() != "ls" && from.Name() != "gls" {
			continue
		}
		whole := true
		for _, w := range from.Args[1:] {
			if !strings.HasPrefix(w.Value, "-") && w.Value != "." && !allNames(strings.TrimSuffix(w.Value, "/")) {
				whole = false
			}
		}
		if whole {
			return c.placeFinding(c.locateText("./*"), shellcmd.NewWord(strings.Join(Words(from), " ")), c.Name()+" -r of what is listed by")
		}
	}
	return nil
}

// find looks at -delete, at -exec rm and at -exec chmod.
func find(c *Call) []Finding {
	deletes, tree, changes := false, false, ""
	for i, w := range c.Args {
		switch w.Value {
		case "-delete":
			deletes = true
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch":
			rest := c.Args[min(i+1, len(c.Args)):]
			for len(rest) > 0 && base(rest[0].Value) == "sudo" {
				rest = rest[1:]
			}
			if len(rest) == 0 {
				break
			}
			switch name := base(rest[0].Value); name {
			case "rm", "shred", "unlink", "srm":
				deletes = true
				for _, o := range rest[1:] {
					if !strings.HasPrefix(o.Value, "-") {
						break
					}
					tree = tree || !strings.HasPrefix(o.Value, "--") && strings.ContainsAny(o.Value, "rR") || len(o.Value) > 2 && strings.HasPrefix("--recursive", o.Value)
				}
			case "chmod", "chown", "chgrp":
				changes = name
			case "sh", "bash", "zsh", "dash":
				for _, o := range rest[1:] {
					if words := strings.FieldsFunc(o.Value, func(r rune) bool { return strings.ContainsRune(" \t\n;&|", r) }); slices.Contains(words, "rm") {
						deletes = true
					}
					if o.Value == ";" || o.Value == "+" {
						break
					}
				}
			}
		}
	}
	switch {
	case deletes:
		return findRoots(c, "find that deletes in", tree)
	case changes != "":
		return findModes(c, "find with "+changes+" in")
	}
	return nil
}

// findModes looks at modes and owners that find changes all over the system.
func findModes(c *Call, what string) []Finding {
	roots, filtered, _ := findWords(c)
	var out []Finding
	for _, w := range roots {
		loc := c.locate(w)
		if loc.area != system && (loc.area < above || filtered) {
			continue
		}
		f := c.placeFinding(loc, w, what)
		if c.Container {
			f = c.containerFinding(loc, w, what)
		}
		for i := range f {
			f[i].Fix = "Change only the files of the project that need it"
			if filtered {
				f[i].Verdict = Ask
			}
		}
		out = append(out, f...)
	}
	return out
}

// findStarts are the starting points that a find names.
func findStarts(c *Call) []shellcmd.Word {
	var starts []shellcmd.Word
	for _, w := range c.Args[1:] {
		if strings.HasPrefix(w.Value, "-") || w.Value == "(" || w.Value == "!" || w.Value == `\(` {
			switch w.Value {
			case "-H", "-L", "-P":
				continue
			}
			break
		}
		starts = append(starts, w)
	}
	return starts
}

// findWords are where a find starts, whether its tests choose some of what is
// there, and whether they choose .git.
func findWords(c *Call) (roots []shellcmd.Word, filtered, git bool) {
	if roots = findStarts(c); len(roots) == 0 {
		roots = []shellcmd.Word{shellcmd.NewWord(".")}
	}
	args := c.Args[1:]
	top := true
	for i, w := range args {
		value := ""
		if i+1 < len(args) {
			value = args[i+1].Value
		}
		switch w.Value {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex":
			// What is left out, and what every name matches, chooses nothing.
			if i > 0 && (args[i-1].Value == "!" || args[i-1].Value == "-not") || strings.Trim(value, "*./") == "" && value != "" {
				continue
			}
			filtered = true
			if strings.HasSuffix(w.Value, "name") && !strings.HasSuffix(w.Value, "wholename") {
				ok, _ := path.Match(strings.ToLower(value), ".git")
				git = git || ok
			} else {
				git = git || strings.HasSuffix(value, "/.git") || strings.Contains(value, "/.git/")
			}
		case "-mtime", "-mmin", "-ctime", "-cmin", "-atime", "-amin", "-size", "-empty", "-newer", "-user", "-group", "-perm", "-inum", "-samefile", "-lname", "-xtype", "-links":
			filtered = true
		case "-mindepth":
			top = value == "0" || value == "1"
		}
	}
	return roots, filtered, git && top
}

func findRoots(c *Call, what string, tree bool) []Finding {
	roots, filtered, git := findWords(c)
	var out []Finding
	for _, w := range roots {
		loc := c.locate(w)
		if git && tree && loc.area == project {
			loc.area = gitData
			out = append(out, c.placeFinding(loc, shellcmd.NewWord(".git"), what+" "+Quote(w.String())+":")...)
			continue
		}
		if filtered && (loc.area == project || loc.area == inside || loc.area == unknown && !loc.guess) {
			continue
		}
		if filtered && c.isTemp(loc.path) {
			continue
		}
		if c.Container {
			if !filtered || loc.area == system {
				out = append(out, c.containerFinding(loc, w, what)...)
			}
			continue
		}
		out = append(out, c.placeFinding(loc, w, what)...)
	}
	return out
}
