package guards

import (
	"slices"
	"strings"

	"sallyport/internal/shellcmd"
)

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
