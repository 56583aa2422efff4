package guards

import (
	"path"
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
		if c.Container && (recursive || loc.area < system || c.throwaway()) {
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

// mounted judges a path in a container by the directory of the host that stands
// there.
func (c *Call) mounted(p string) (located, bool) {
	host, outer, ok := c.hostPath(p)
	if !ok {
		return located{}, false
	}
	return outer.locateText(host), true
}

// A bind is a directory of the host that a container sees.
type bind struct{ host, at string }

// container is the command that c's container is started or entered with, and
// what it mounts so that it can be written to.
func (c *Call) container() (e *Call, binds []bind) {
	earlier := c.Earlier()
	for i := len(earlier) - 1; i >= 0; i-- {
		switch earlier[i].name {
		case "docker", "podman", "nerdctl":
			e = earlier[i]
		default:
			continue
		}
		break
	}
	if e == nil {
		return nil, nil
	}
	for _, w := range e.Args[1:] {
		spec := strings.TrimPrefix(strings.TrimPrefix(w.Value, "--volume="), "-v")
		parts := strings.Split(spec, ":")
		if len(parts) < 2 || !isAbs(parts[1]) || len(parts) > 2 && strings.Contains(parts[2], "ro") {
			continue
		}
		binds = append(binds, bind{parts[0], clean(parts[1])})
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
		if isAbs(src) && isAbs(dst) {
			binds = append(binds, bind{src, clean(dst)})
		}
	}
	return e, binds
}

// hostPath is the path of the host that -v, --volume or --mount of the
// container's own command puts at p, and the command as if it ran there.
func (c *Call) hostPath(p string) (host string, at *Call, ok bool) {
	if p == "" {
		return "", nil, false
	}
	e, binds := c.container()
	for _, b := range binds {
		if within(p, b.at) {
			return b.host + strings.TrimPrefix(p, b.at), c.onHost(e), true
		}
	}
	return "", nil, false
}

// onHost is c as if it ran where its container is started.
func (c *Call) onHost(e *Call) *Call {
	cmd := *c.Command
	cmd.Container, cmd.Dir = false, e.Dir
	return &Call{Command: &cmd, run: c.run, Index: c.Index, name: c.name, Place: e.Place}
}

// throwaway reports a command in a container that is made for it: what the
// image holds is still in the image.
func (c *Call) throwaway() bool {
	started := false
	for _, l := range c.Via {
		switch l.Name {
		case "docker run", "podman run", "nerdctl run":
			started = true
		case "chroot", "nsenter":
			return false // into a mount, or out of the container
		}
	}
	e, _ := c.container()
	if !started || e == nil {
		return false
	}
	for _, w := range e.Args[1:] {
		switch name, _, _ := strings.Cut(w.Value, "="); name {
		case "compose", "--volumes-from":
			return false
		}
	}
	return true
}

// containerFinding judges what a command takes away in a container: what is
// mounted there is the host's, the rest at most the container's own.
func (c *Call) containerFinding(loc located, w shellcmd.Word, what string) []Finding {
	if host, ok := c.mounted(loc.path); ok {
		return c.placeFinding(host, w, what+" through a mount of")
	}
	e, binds := c.container()
	for _, b := range binds[:min(len(binds), 50)] {
		if loc.path != "" && within(b.at, loc.path) {
			if f := c.placeFinding(c.onHost(e).locateText(b.host), w, what+" through a mount below"); f != nil {
				return f
			}
		}
	}
	if loc.area < system || c.throwaway() {
		return nil
	}
	out := c.placeFinding(loc, w, what+" of")
	if !slices.ContainsFunc(c.Via, func(l shellcmd.Layer) bool { return l.Name == "chroot" || l.Name == "nsenter" }) {
		for i := range out {
			out[i].Verdict = Ask
		}
	}
	return out
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

// findWords are where a find starts, whether its tests choose some of what is
// there, and whether they choose .git.
func findWords(c *Call) (roots []shellcmd.Word, filtered, git bool) {
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
	if len(roots) == 0 {
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

// diskLoss looks at writes to block devices and at the tools that format them.
func diskLoss(c *Call) []Finding {
	deny := func(found, why string, w string) []Finding {
		return []Finding{{Verdict: Deny, Found: found, Why: why, Fix: "Work on an image file, and let a person touch the disk", Words: []string{w}}}
	}
	ask := func(found, w string) []Finding {
		return []Finding{{Found: found, Why: "it is not known which disk that is", Fix: "Write the name of the device or image out", Words: []string{w}}}
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
			if mayBeDevice(*w) {
				return ask(Quote(t.how)+" onto "+Quote(w.String()), w.String())
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
		if w, ok := unknownDevice(c, name); ok {
			return ask(Quote(name)+" of "+Quote(w), w)
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
	if !w.Static {
		_, sure := deviceName(strings.TrimPrefix(slashed(w.Leading()), "/dev/"))
		return strings.HasPrefix(w.Leading(), "/dev/") && sure
	}
	if !ok {
		if !w.Static || c.Remote || c.Container {
			return false
		}
		abs, ok := c.Path(w.Value)
		return ok && c.run.world.Stat(c.run.world.Resolve(abs)).Device
	}
	if rest, sure := deviceName(name); sure && rest != "" {
		return true
	}
	return !c.Remote && !c.Container && c.run.world.Stat(clean(p)).Device
}

// deviceName reports a name below /dev that begins as disks do, and what stands
// behind.
func deviceName(name string) (rest string, ok bool) {
	for _, prefix := range diskNames {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest, true
		}
	}
	return "", false
}

var diskNames = []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "dm-", "md", "loop", "nbd", "sr", "zd", "ada", "da", "vg", "by-", "disk/"}

// mayBeDevice reports a name below /dev whose beginning does not tell what it
// is, and one that a list of devices gives.
func mayBeDevice(w shellcmd.Word) bool {
	for _, from := range w.From() {
		for n := 0; from != nil && n < 20; from, n = from.Piped, n+1 {
			switch from.Name() {
			case "lsblk", "blkid", "findmnt":
				return true
			}
		}
	}
	name, ok := strings.CutPrefix(w.Leading(), "/dev/")
	return ok && !w.Static && !w.Glob && (name == "" || slices.ContainsFunc(diskNames, func(d string) bool { return strings.HasPrefix(d, name) }))
}

// unknownDevice is the operand of a disk tool that stands where the device does
// and whose text is not known.
func unknownDevice(c *Call, name string) (string, bool) {
	operands := c.parse("").operands
	switch name {
	case "parted", "cryptsetup", "nvme": // and the command, before or behind it
	default:
		operands = operands[max(0, len(operands)-1):]
	}
	for _, w := range operands {
		if w.Static {
			continue
		}
		if mayBeDevice(w) {
			return w.String(), true
		}
		file := w.Leading() != ""
		for _, p := range w.Parts {
			file = file || p.Kind == shellcmd.Literal && strings.ContainsAny(p.Text, "/.") || p.Kind == shellcmd.Glob || p.Kind == shellcmd.Tilde
			file = file || slices.ContainsFunc(p.From, func(e *shellcmd.Command) bool { return e.Name() == "mktemp" })
		}
		if !file {
			return w.String(), true
		}
	}
	return "", false
}
