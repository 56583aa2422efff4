package guards

import (
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
			if t.effect != moves {
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
	operands := a.operands
	var out []Finding
	for _, w := range operands {
		loc := c.locate(w)
		if c.Container {
			if host, ok := c.mounted(loc.path); ok && recursive {
				out = append(out, c.placeFinding(host, w, c.Name()+" -r through a mount of")...)
				continue
			}
			if loc.area < system {
				continue // another file system, thrown away with its container
			}
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
	if recursive && len(out) == 0 {
		out = append(out, fedByFind(c)...)
	}
	return out
}

// mounted judges a path in a container by the directory of the host that stands
// there.
func (c *Call) mounted(p string) (located, bool) {
	host, outer, ok := c.hostPath(p)
	if !ok {
		return located{}, false
	}
	return outer.locateText(host), true
}

// hostPath is the path of the host that -v, --volume or --mount of the
// container's own command puts at p, and the command as if it ran there.
func (c *Call) hostPath(p string) (host string, at *Call, ok bool) {
	outer := func(e *Call) *Call {
		cmd := *c.Command
		cmd.Container, cmd.Dir = false, e.Dir
		return &Call{Command: &cmd, run: c.run, Index: c.Index, name: c.name, Place: e.Place}
	}
	earlier := c.Earlier()
	for i := len(earlier) - 1; i >= 0 && p != ""; i-- {
		e := earlier[i]
		switch e.name {
		case "docker", "podman", "nerdctl":
		default:
			continue
		}
		for _, w := range e.Args[1:] {
			spec := strings.TrimPrefix(strings.TrimPrefix(w.Value, "--volume="), "-v")
			parts := strings.Split(spec, ":")
			if len(parts) < 2 || !isAbs(parts[1]) || len(parts) > 2 && strings.Contains(parts[2], "ro") || !within(p, clean(parts[1])) {
				continue
			}
			return parts[0] + strings.TrimPrefix(p, clean(parts[1])), outer(e), true
		}
		for i, w := range e.Args {
			spec, ok := w.After("--mount=")
			if !ok && w.Value == "--mount" && i+1 < len(e.Args) {
				spec, ok = e.Args[i+1], true
			}
			if !ok {
				continue
			}
			src, dst := "", ""
			for field := range strings.SplitSeq(spec.Value, ",") {
				key, value, _ := strings.Cut(field, "=")
				switch key {
				case "src", "source":
					src = value
				case "dst", "target", "destination":
					dst = value
				case "ro", "readonly":
					dst = ""
				}
			}
			if isAbs(src) && isAbs(dst) && within(p, clean(dst)) {
				return src + strings.TrimPrefix(p, clean(dst)), outer(e), true
			}
		}
		return "", nil, false
	}
	return "", nil, false
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

// fedByFind looks at the find whose names an xargs rm deletes.
func fedByFind(c *Call) []Finding {
	var sources []*shellcmd.Command
	for _, w := range c.Args[1:] {
		sources = append(sources, w.From()...)
	}
	sources = append(append(sources, c.Stdin.From...), c.Piped)
	for _, from := range sources {
		for n := 0; from != nil && n < 50; from, n = from.Piped, n+1 {
			if from.Name() == "find" || from.Name() == "gfind" {
				return findRoots(&Call{Command: from, Place: c.Place, run: c.run, Index: c.Index, name: from.Name()}, "rm -r of what find lists in")
			}
		}
	}
	return nil
}

// find looks at -delete and at -exec rm.
func find(c *Call) []Finding {
	deletes := false
	for i, w := range c.Args {
		switch w.Value {
		case "-delete":
			deletes = true
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch":
			if i+1 < len(c.Args) {
				switch base(c.Args[i+1].Value) {
				case "rm", "shred", "unlink", "srm":
					deletes = true
				}
			}
		}
	}
	if !deletes {
		return nil
	}
	return findRoots(c, "find that deletes in")
}

func findRoots(c *Call, what string) []Finding {
	var roots []shellcmd.Word
	filtered := false
	for _, w := range c.Args[1:] {
		if strings.HasPrefix(w.Value, "-") || w.Value == "(" || w.Value == "!" || w.Value == `\(` {
			switch w.Value {
			case "-H", "-L", "-P":
				continue
			}
			break
		}
		roots = append(roots, w)
	}
	for _, w := range c.Args[1:] {
		switch w.Value {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-mtime", "-mmin", "-ctime", "-cmin", "-atime", "-amin", "-size", "-empty", "-newer", "-user", "-group", "-perm", "-inum", "-samefile", "-lname", "-xtype", "-links":
			filtered = true
		}
	}
	if len(roots) == 0 {
		roots = []shellcmd.Word{shellcmd.NewWord(".")}
	}
	var out []Finding
	for _, w := range roots {
		loc := c.locate(w)
		if filtered && (loc.area == project || loc.area == inside || loc.area == unknown && !loc.guess) {
			continue
		}
		if !filtered && loc.area == outside && c.isTemp(loc.path) {
			loc.area = outside
		} else if filtered && c.isTemp(loc.path) {
			continue
		}
		if c.Container {
			if host, ok := c.mounted(loc.path); ok && !filtered {
				out = append(out, c.placeFinding(host, w, what+" a mount:")...)
				continue
			}
			if loc.area < system {
				continue
			}
		}
		out = append(out, c.placeFinding(loc, w, what)...)
	}
	return out
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
	size, ok := a.value("s", "size")
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
	for _, t := range c.targets() {
		if t.effect != modes || !t.tree {
			continue
		}
		loc := c.locate(*t.word)
		switch loc.area {
		case system, home, above:
			if c.Container && loc.path != "/" {
				continue
			}
			f := c.placeFinding(loc, *t.word, c.Name()+" -R of")
			for i := range f {
				f[i].Fix = "Change only the files of the project that need it"
			}
			return f
		}
	}
	return nil
}

// diskLoss looks at writes to block devices and at the tools that format them.
func diskLoss(c *Call) []Finding {
	deny := func(found, why string, w string) []Finding {
		return []Finding{{Verdict: Deny, Found: found, Why: why, Fix: "Work on an image file, and let a person touch the disk", Words: []string{w}}}
	}
	for _, t := range c.targets() {
		if t.effect != writes {
			continue
		}
		w := t.word
		if t.how == "dd of=" || t.path == w.Value {
			if t.how != "dd of=" && !strings.HasPrefix(t.path, "/dev/") && !strings.HasPrefix(t.path, `\\.\`) {
				continue
			}
			dev := *w
			dev.Value = t.path
			if isBlockDevice(c, dev) {
				return deny(Quote(t.how)+" onto "+Quote(t.path), "this overwrites a disk", t.path)
			}
		}
	}
	name := c.Name()
	device := func() (string, bool) {
		for _, w := range c.Args[1:] {
			if isBlockDevice(c, w) {
				return w.String(), true
			}
		}
		return "", false
	}
	switch {
	case name == "mkfs" || strings.HasPrefix(name, "mkfs.") || name == "mke2fs" || name == "mkswap" || name == "mkdosfs" || name == "newfs" || name == "pvcreate" || name == "badblocks" || name == "shred" || name == "blkdiscard" || name == "sgdisk" || name == "sfdisk" || name == "cfdisk" || name == "hdparm" || name == "nvme" || name == "cryptsetup" || name == "parted" || name == "fdisk" || name == "gdisk" || name == "wipefs":
		if !changesDisk(c, name) {
			return nil
		}
		if dev, ok := device(); ok {
			return deny(Quote(name)+" of "+Quote(dev), "this destroys what is on the disk", dev)
		}
	case name == "diskutil":
		for _, w := range c.Args[1:] {
			switch strings.ToLower(w.Value) {
			case "erasedisk", "erasevolume", "partitiondisk", "zerodisk", "randomdisk", "secureerase", "reformat":
				return deny(Quote("diskutil "+w.Value), "this destroys what is on the disk", w.Value)
			}
		}
	case name == "btrfs":
		if len(c.Args) > 2 && strings.HasPrefix("subvolume", c.Args[1].Value) && c.Args[1].Value != "" && (c.Args[2].Value == "delete" || c.Args[2].Value == "del") {
			return deny(Quote("btrfs subvolume delete"), "this destroys a volume", "delete")
		}
	case name == "zpool" || name == "zfs" || name == "lvremove" || name == "vgremove" || name == "pvremove":
		verb := ""
		if len(c.Args) > 1 {
			verb = c.Args[1].Value
		}
		if strings.HasPrefix(name, "z") && verb != "destroy" {
			return nil
		}
		return deny(Quote(name+" "+verb), "this destroys a volume", verb)
	case strings.EqualFold(name, "format") || strings.EqualFold(name, "Format-Volume") || strings.EqualFold(name, "Clear-Disk"):
		for _, w := range c.Args[1:] {
			if len(w.Value) == 2 && w.Value[1] == ':' && isLetter(w.Value[0]) {
				return deny(Quote(name+" "+w.Value), "this destroys what is on the disk", w.Value)
			}
		}
	}
	return nil
}

// changesDisk tells a use of a disk tool that only prints.
func changesDisk(c *Call, name string) bool {
	a := c.parse("")
	switch name {
	case "wipefs":
		return a.has("a", "all", "o", "offset") && !a.has("n", "no-act")
	case "fdisk", "gdisk", "cfdisk":
		return !a.has("l", "list", "s", "x")
	case "sfdisk":
		return !a.has("l", "list", "d", "dump", "n", "no-act", "J", "json", "V", "verify", "F")
	case "sgdisk":
		return !a.has("p", "print", "i", "info", "v", "verify") || a.has("Z", "z", "zap", "zap-all", "o", "clear", "d", "delete", "n", "new")
	case "parted":
		for _, w := range a.operands {
			switch w.Value {
			case "rm", "mklabel", "mktable", "mkpart", "resizepart", "rescue":
				return true
			}
		}
		return false
	case "hdparm":
		return a.has("security-erase", "security-erase-enhanced", "trim-sector-ranges", "make-bad-sector", "write-sector")
	case "nvme":
		return len(c.Args) > 1 && (c.Args[1].Value == "format" || c.Args[1].Value == "sanitize")
	case "cryptsetup":
		for _, w := range a.operands {
			switch w.Value {
			case "luksFormat", "luksErase", "erase", "reencrypt":
				return true
			}
		}
		return false
	case "badblocks":
		return a.has("w", "n")
	case "mkfs", "mke2fs", "mkfs.ext4", "mkfs.ext3", "mkfs.ext2":
		return !a.has("n", "V")
	}
	return true
}

// isBlockDevice knows the names of disks, and asks for the rest.
func isBlockDevice(c *Call, w shellcmd.Word) bool {
	p := slashed(w.Value)
	if strings.HasPrefix(w.Value, `\\.\PhysicalDrive`) {
		return true
	}
	name, ok := strings.CutPrefix(clean(p), "/dev/")
	if !ok {
		if !w.Static || c.Remote || c.Container {
			return false
		}
		abs, ok := c.Path(w.Value)
		return ok && c.run.world.Stat(c.run.world.Resolve(abs)).Device
	}
	for _, prefix := range [...]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "dm-", "md", "loop", "nbd", "sr", "zd", "ada", "da", "vg", "by-", "disk/"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			return true
		}
	}
	return w.Static && !c.Remote && !c.Container && c.run.world.Stat(clean(p)).Device
}
