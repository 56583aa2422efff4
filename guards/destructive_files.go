package guards

import (
	"slices"
	"strings"

	"sallyport/internal/shellcmd"
)

// placeFinding says what it means that a command takes away what is at loc.
func (c *Call) placeFinding(loc located, w shellcmd.Word, what string) []Finding {
	words := w.String()
	f := Finding{Found: what + " " + Quote(words), Words: []string{words}, Verdict: Ask}
	const name = "Name exactly what is to be deleted, inside the project"
	switch loc.area {
	case inside, temporary:
		return nil
	case outside:
		if loc.guess && startsUnknown(w) {
			return nil // $DIR/name is a named directory of an unknown place
		}
		f.Why = "it is " + loc.area.String()
		if loc.guess {
			f.Why = "it is outside the project, and a part of it is not known"
		}
		f.Fix = name
	case unknown:
		if !loc.all && loc.guess {
			return nil // a variable alone: nothing can be said
		}
		if loc.guess && onlyUnknown(w) {
			f.Why = "with empty variables this is the system"
			f.Fix = "Write \"${NAME:?}\" so that the command stops where a variable is empty"
			return []Finding{f}
		}
		f.Why = "it is not known in which directory this runs"
		f.Fix = "Use an absolute path, or cd to a known directory in the same line"
		return []Finding{f}
	case system, home:
		f.Verdict = Deny
		f.Why = "this is " + loc.area.String()
		if loc.guess {
			f.Why = "with an empty variable this is " + loc.area.String()
			f.Fix = "Write \"${NAME:?}\" so that the command stops where the variable is empty"
			return []Finding{f}
		}
		f.Fix = name
	case gitData:
		f.Why = "it holds the history, the branches and the stashes"
		f.Fix = "Use git's own commands to remove branches or worktrees"
	case project:
		f.Why = "it is the whole project, or the directory that the command stands in"
		f.Fix = "Name the files or directories that are to go; `git clean -nd` lists what git does not know"
	default:
		f.Why = "it is " + loc.area.String()
		f.Fix = name
	}
	return []Finding{f}
}

// deletion looks at rm -r, find -delete and their kin.
func deletion(c *Call) []Finding {
	switch name := c.Name(); name {
	case "rm", "srm", "trash", "gio", "rimraf", "del-cli", "del", "erase", "rd", "Remove-Item", "ri":
		return rm(c)
	case "rmdir": // of cmd with /s; that of POSIX takes empty directories only
		if slices.ContainsFunc(c.Args, func(w shellcmd.Word) bool { return strings.EqualFold(w.Value, "/s") }) {
			return rm(c)
		}
	case "find", "gfind", "fd", "fdfind":
		return find(c)
	case "rsync":
		if !rsyncDeletes(c.parse("e", "rsh", "exclude", "include", "filter")) {
			return nil
		}
		for _, t := range c.targets() {
			if t.tree {
				if f := c.placeFinding(c.locate(*t.word), *t.word, "rsync --delete into"); f != nil {
					return f
				}
			}
		}
	case "mv":
		// mv ~ /elsewhere takes a whole home away.
		for _, t := range c.targets() {
			if t.effect != moves || c.inDeepDir(*t.word) {
				continue
			}
			if loc := c.locate(*t.word); loc.area == system && (loc.all || !strings.Contains(strings.TrimPrefix(loc.path, "/"), "/")) || loc.area == home {
				return c.placeFinding(loc, *t.word, "mv of")
			}
		}
	case "shred":
		a := c.parse("ns", "iterations", "size", "random-source")
		if a.has("help", "version") {
			return nil
		}
		for _, w := range a.operands {
			if loc := c.locate(w); loc.area == temporary || isBlockDevice(c, w) {
				continue
			}
			return []Finding{{Found: "shred of " + Quote(w.String()), Why: "its content cannot be recovered", Fix: "Move the file away instead, or let a person do this", Words: []string{w.String()}}}
		}
	case "truncate":
		return truncate(c)
	case "crontab":
		if a := c.parse("uc"); a.has("r") {
			return []Finding{{Found: Quote("crontab -r"), Why: "it deletes every job of the table, and there is no copy", Fix: "Keep a copy with `crontab -l > crontab.bak`, and let a person edit the table", Words: []string{"crontab", "-r"}}}
		}
	}
	return nil
}

func rm(c *Call) []Finding {
	a := c.parse("")
	recursive := a.has("r", "R", "recursive", "Recurse", "s", "S") || c.Name() == "rimraf" || c.Name() == "del-cli"
	for _, w := range c.Args[1:] {
		switch {
		case strings.EqualFold(w.Value, "-recurse"), c.Name() != "rm" && strings.EqualFold(w.Value, "/s"):
			recursive = true
		case len(w.Value) > 2 && strings.HasPrefix(w.Value, "--") && strings.HasPrefix("--recursive", w.Value):
			recursive = true
		}
	}
	if a.has("help", "version") {
		return nil
	}
	var out []Finding
	for _, w := range a.operands {
		if isCmdSwitch(c.Name(), w.Value) {
			continue
		}
		loc := c.locate(w)
		if c.Container && (recursive || loc.area < system || c.container().throwaway) {
			if recursive {
				out = append(out, c.containerFinding(loc, w, c.Name()+" -r")...)
			}
			continue
		}
		if !recursive {
			// One file of the system's is no tree, and yet no project's.
			if loc.area == system && loc.path != "" && !loc.guess && deepSystem(loc.path) {
				f := c.placeFinding(loc, w, c.Name()+" of")
				f[0].Verdict = Ask
				out = append(out, f...)
			}
			continue
		}
		out = append(out, c.placeFinding(loc, w, c.Name()+" -r of")...)
	}
	if len(out) == 0 {
		how := c.Name() + " of"
		if recursive {
			how = c.Name() + " -r of"
			out = append(out, fedByList(c)...)
		}
		out = append(out, fedByFind(c, how+" what find lists in", recursive)...)
	}
	return out
}

// isCmdSwitch reports /s, /q and their kin, options of cmd's own commands.
func isCmdSwitch(name, word string) bool {
	switch name {
	case "rd", "rmdir", "del", "erase":
		return len(word) > 1 && word[0] == '/' && isLetter(word[1]) && (len(word) == 2 || word[2] == ':')
	}
	return false
}

// deepSystem reports directories of which every file belongs to the system.
func deepSystem(p string) bool {
	for _, d := range systemDirs {
		if deep, ok := strings.CutSuffix(d, "/"); ok && within(p, deep) && deep != "/dev" && deep != "/run" {
			return true
		}
	}
	return false
}

func startsUnknown(w shellcmd.Word) bool {
	return len(w.Parts) > 0 && (w.Parts[0].Kind == shellcmd.Substitution || w.Parts[0].Kind == shellcmd.Variable)
}

func (c *Call) isTemp(p string) bool {
	for _, t := range c.tempDirs() {
		if p == t {
			return true
		}
	}
	return false
}

func truncate(c *Call) []Finding {
	a := c.parse("sr", "size", "reference")
	size, ok := a.value("s", "size", "siz", "si")
	if !ok {
		return nil
	}
	if strings.Trim(size.Value, "0KMGTBkib") != "" || !strings.HasPrefix(size.Value, "0") {
		return nil
	}
	for _, w := range a.operands {
		loc := c.locate(w)
		if loc.area == temporary {
			continue
		}
		if loc.path != "" && w.Static && !c.Remote && !c.Container {
			if st := c.run.world.Stat(loc.path); !st.Exists || st.Size == 0 {
				continue
			}
		}
		return []Finding{{Found: "truncate to nothing of " + Quote(w.String()), Why: "its content is lost", Fix: "Move the file away instead", Words: []string{w.String()}}}
	}
	return nil
}

// treeModes looks at chmod, chown and chgrp of whole trees.
func treeModes(c *Call) []Finding {
	switch c.Name() {
	case "chmod", "chown", "chgrp", "setfacl", "chattr", "icacls", "takeown":
	default:
		return nil
	}
	all := recursiveWord(c)
	for _, t := range c.targets() {
		if t.effect != modes || !t.tree && !all {
			continue
		}
		loc := c.locate(*t.word)
		switch loc.area {
		case system, home, above:
			f := c.placeFinding(loc, *t.word, c.Name()+" -R of")
			if c.Container {
				if loc.path != "/" {
					continue
				}
				f = c.containerFinding(loc, *t.word, c.Name()+" -R")
			}
			for i := range f {
				f[i].Fix = "Change only the files of the project that need it"
			}
			return f
		}
	}
	for _, from := range c.sources() {
		for n := 0; from != nil && n < 50; from, n = from.Piped, n+1 {
			if from.Name() == "find" || from.Name() == "gfind" {
				return findModes(&Call{Command: from, Place: c.Place, run: c.run, Index: c.Index, name: from.Name()}, c.Name()+" of what find lists in")
			}
		}
	}
	return nil
}

// recursiveWord reports --recursive, cut short as GNU tools allow.
func recursiveWord(c *Call) bool {
	return slices.ContainsFunc(c.Args, func(w shellcmd.Word) bool {
		return len(w.Value) >= len("--rec") && strings.HasPrefix("--recursive", w.Value)
	})
}
