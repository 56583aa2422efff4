package guards

import (
	"path"
	"slices"
	"strings"

	"sallyport/internal/shellcmd"
)

// An area says what a path belongs to.
type area int

const (
	inside    area = iota // the project's
	temporary             // a temporary directory's
	unknown               // cannot be told
	project               // the whole project, or the directory that the command stands in
	gitData               // a .git directory or something in it
	mount                 // the root of a file system
	outside               // anything else
	above                 // a directory that holds the project
	home                  // a home directory, whole
	system                // the system's
)

func (a area) String() string {
	return [...]string{"the project", "a temporary directory", "an unknown place", "the whole project", "git's own data", "a mounted file system", "a place outside the project", "the directory that holds the project", "a home directory", "the system"}[a]
}

// systemDirs are the directories of an operating system. Deleting one of them,
// or anything in those that end in "/", takes the system with it.
var systemDirs = []string{
	"/bin/", "/boot/", "/dev/", "/etc/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/proc/", "/sbin/", "/sys/", "/usr/",
	"/System/", "/Library/", "/nix/", "/run/",
	"/home", "/Users", "/root", "/opt", "/srv", "/var", "/mnt", "/media", "/Applications", "/private", "/Volumes", "/cores",
	"/var/lib", "/var/log", "/var/spool", "/var/mail", "/var/www", "/private/etc/", "/private/var", "/data",
}

// freeDirs lie in a system directory and are nobody's system.
var freeDirs = []string{"/usr/local/src", "/run/user", "/dev/shm", "/var/tmp", "/private/tmp", "/private/var/tmp", "/private/var/folders", "/var/folders"}

// located judges where a path of the command lies. glob is set when it is
// everything in that directory rather than the directory itself.
type located struct {
	path string // absolute where it could be told
	area area
	all  bool // "everything in": the word ends in a glob for all names
	// guess is set when a variable of unknown value stands in it.
	guess bool
}

// locate finds the area of a word.
func (c *Call) locate(w shellcmd.Word) located {
	text, guess, unsure := c.spelled(w)
	if unsure {
		return located{area: unknown, guess: true}
	}
	if guess && onlyUnknown(w) {
		return located{area: unknown, guess: true, all: true}
	}
	if text == "" {
		return located{area: inside}
	}
	loc := c.locateText(text)
	loc.guess = guess
	if !w.Static && len(w.Parts) > 1 && w.Parts[0].Kind == shellcmd.Substitution && !guess {
		// Where the substitution fails, the rest stands alone.
		if rest := c.locateText(w.Value); rest.all && rest.area == system {
			rest.guess = true
			return rest
		}
	}
	if w.Glob && (loc.area == inside || loc.area == project) && c.globsGit(text) {
		loc.area = gitData
	}
	return loc
}

// globsGit reports a pattern that stands for a .git directory that is there.
func (c *Call) globsGit(text string) bool {
	elems := strings.Split(slashed(text), "/")
	for i, elem := range elems[:min(len(elems), 50)] {
		if !strings.HasPrefix(elem, ".") || !strings.ContainsAny(elem, "*?[") || allNames(elem) {
			continue
		}
		if ok, err := path.Match(strings.ReplaceAll(elem, "[!", "[^"), ".git"); err != nil || !ok {
			continue
		}
		dir := strings.Join(elems[:i], "/")
		switch {
		case i == 0:
			dir = "."
		case dir == "":
			dir = "/"
		}
		if abs, ok := c.Path(dir); ok && !c.Remote && !c.Container && c.run.world.Stat(join(abs, ".git")).Exists {
			return true
		}
	}
	return false
}

// printedPath is the path that a command of a substitution prints, where its words
// tell.
func (c *Call) printedPath(from []*shellcmd.Command) (string, bool) {
	if len(from) != 1 || from[0].Dir.Unknown || from[0].Remote || from[0].Container {
		return "", false
	}
	e := &Call{Command: from[0], run: c.run}
	dir := clean(e.baseDir())
	operand := func() (string, bool) {
		w := shellcmd.Word{}
		for _, a := range e.Args[1:] {
			if a.Static && strings.HasPrefix(a.Value, "-") {
				continue
			}
			if w.Value != "" || !a.Static {
				return "", false
			}
			w = a
		}
		return w.Value, w.Value != ""
	}
	switch e.Command.Name() {
	case "git":
		return e.printedByGit(dir)
	case "dirname":
		if p, ok := operand(); ok {
			return parent(clean(p)), true
		}
	case "realpath", "readlink":
		if p, ok := operand(); ok && (isAbs(p) || isAbs(dir)) {
			p = join(dir, p)
			if real, ok := c.linkedOnLine(p); ok {
				p = real
			}
			return clean(c.run.world.Resolve(p)), true
		}
	}
	return "", false
}

func (c *Call) printedByGit(dir string) (string, bool) {
	rest := ""
	found := false
	for i, w := range c.Args {
		switch w.Value {
		case "-C":
			if i+1 < len(c.Args) && c.Args[i+1].Static {
				dir = join(dir, c.Args[i+1].Value)
			}
		case "--show-toplevel", "--show-cdup":
			found = true
		case "--git-dir", "--absolute-git-dir", "--git-common-dir":
			found, rest = true, "/.git"
		case "--git-path":
			if i+1 < len(c.Args) {
				found, rest = true, "/.git/"+c.Args[i+1].Value
			}
		}
	}
	if !found {
		return "", false
	}
	root, ok := c.run.world.Root(dir)
	if !ok {
		root = c.projectRoot()
	}
	return clean(root) + rest, true
}

// onlyUnknown reports a word like $A/$B: with both variables empty it is /.
func onlyUnknown(w shellcmd.Word) bool {
	variables := 0
	for _, p := range w.Parts {
		switch {
		case p.Kind == shellcmd.Variable:
			variables++
		case p.Kind != shellcmd.Literal || strings.Trim(p.Text, "/") != "":
			return false
		}
	}
	return variables > 1
}

// spelled is the text of a word with unknown variables taken for empty where it
// begins with one and as some name elsewhere. unsure is set when nothing can be
// said about it.
func (c *Call) spelled(w shellcmd.Word) (text string, guess, unsure bool) {
	if w.Static || len(w.Parts) == 0 {
		return w.Value, false, false
	}
	var b strings.Builder
	for i, p := range w.Parts {
		switch p.Kind {
		case shellcmd.Variable:
			guess = true
			if i == 0 {
				if c.requiresValue(w) {
					return "", true, true
				}
				continue
			}
			b.WriteString("unknown")
		case shellcmd.Substitution, shellcmd.Other:
			if i == 0 {
				if p, ok := c.printedPath(p.From); ok {
					b.WriteString(p)
					continue
				}
				for _, from := range p.From {
					if from.Name() == "mktemp" {
						return "", false, true
					}
				}
				if len(w.Parts) == 1 {
					return "", true, true
				}
				guess = true
				continue
			}
			if p.Text == "{}" && !strings.HasSuffix(b.String(), "/") {
				b.WriteByte('/') // find puts names below its roots
			}
			b.WriteString("unknown")
			guess = true
		case shellcmd.Tilde:
			if h := c.home(); h != "" && (p.Text == "~" || p.Text == "") {
				b.WriteString(h)
			} else {
				b.WriteString("/home/" + strings.TrimPrefix(p.Text, "~"))
			}
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String(), guess, false
}

// requiresValue reports ${NAME:?…}, which fails where the variable is empty.
func (c *Call) requiresValue(w shellcmd.Word) bool {
	line := c.Line()
	if line == nil || w.End <= w.Pos || w.End > len(line.Source) {
		return false
	}
	src := line.Source[w.Pos:w.End]
	return strings.Contains(src, ":?")
}

func (c *Call) home() string {
	if c.run.home == nil {
		h, _ := c.run.env("HOME")
		if h == "" {
			h, _ = c.run.env("USERPROFILE")
		}
		if h != "" {
			h = clean(h)
		}
		c.run.home = &h
	}
	return *c.run.home
}

// homes are the names of the home directory where the command runs: as it is
// given, and on this machine with links resolved.
func (c *Call) homes() []string {
	h := c.home()
	switch {
	case h == "":
		return nil
	case c.Remote || c.Container:
		return []string{h}
	case c.run.realHome == nil:
		c.run.realHome = []string{h, clean(c.run.world.Resolve(h))}
	}
	return c.run.realHome
}

// projectRoot is the root of the session's project.
func (c *Call) projectRoot() string {
	if c.run.root != "" {
		return c.run.root
	}
	in := c.run.in
	if in.Project == "" {
		if root, ok := c.run.world.Root(in.Dir); ok {
			in.Project = root
		} else {
			in.Project = in.Dir
		}
	}
	c.run.root = clean(in.Project)
	return c.run.root
}

// realRoot is the root of the project with links resolved.
func (c *Call) realRoot() string {
	if c.run.realRoot == "" {
		c.run.realRoot = c.run.world.Resolve(c.projectRoot())
	}
	return c.run.realRoot
}

// inDeepDir reports a plain name in the directory that the command runs in, where
// that is neither the root nor one that holds a home directory.
func (c *Call) inDeepDir(w shellcmd.Word) bool {
	if !w.Static || w.Value == "" || w.Value == "." || w.Value == ".." || strings.ContainsAny(w.Value, `/\~:`) || c.Dir.Unknown || c.Place.Dir == "" || c.Remote || c.Container {
		return false
	}
	if c.deep == 0 {
		dir := clean(c.run.world.Resolve(c.baseDir()))
		c.deep = 1
		if strings.Count(dir, "/") < 2 || slices.ContainsFunc(c.homes(), func(h string) bool { return parent(h) == dir }) {
			c.deep = -1
		}
	}
	return c.deep > 0
}

func (c *Call) tempDirs() []string {
	if c.run.temps != nil {
		return c.run.temps
	}
	dirs := []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm", "/var/folders", "/private/var/folders"}
	for _, name := range [...]string{"TMPDIR", "TEMP", "TMP"} {
		if d, ok := c.run.env(name); ok && isAbs(d) && len(d) > 1 {
			dirs = append(dirs, clean(d))
		}
	}
	c.run.temps = dirs
	return dirs
}

// allNames reports a last element that means everything in its directory.
func allNames(elem string) bool {
	switch elem {
	case "*", ".*", "**", "*.*", "{*,.*}", ".[!.]*", ".??*", "?*", "[!.]*", ".[^.]*":
		return true
	}
	return false
}

func (c *Call) locateText(text string) located {
	loc := located{}
	text = slashed(text)
	for {
		trimmed := strings.TrimRight(text, "/")
		dir, elem := path.Split(trimmed)
		if trimmed == "" || !allNames(elem) {
			break
		}
		loc.all = true
		text = dir
		if text == "" {
			text = "."
			break
		}
	}
	if strings.HasPrefix(text, "~") {
		user, rest, _ := strings.Cut(text[1:], "/")
		if user == "" && c.home() != "" {
			text = c.home() + "/" + rest
		} else {
			text = "/home/" + user + "/" + rest
		}
	}
	relative := !isAbs(text)
	if relative && c.Dir.Temporary && !strings.HasPrefix(clean(text), "..") {
		loc.area = temporary
		return loc
	}
	if plain := clean(text); !loc.all && (plain == "." || plain == ".." || strings.HasSuffix(plain, "/..")) {
		if abs, ok := c.Path(text); ok {
			loc.path = abs
			if loc.area = c.areaOf(abs, c.projectRoot(), relative); loc.area < project {
				loc.area = project
			}
			return loc
		}
		loc.area = unknown
		return loc
	}
	abs, ok := c.Path(text)
	if !ok {
		if clean(text) == "." || strings.HasPrefix(clean(text), "..") || loc.all {
			loc.area = project
			if c.Dir.Unknown {
				loc.area = unknown
			}
			return loc
		}
		loc.area = inside
		return loc
	}
	loc.path = abs
	root := ""
	if !c.Remote && !c.Container {
		// What counts is where the path leads; a link that is named itself is
		// only a name, unless a slash behind it follows it.
		follow := loc.all || strings.HasSuffix(text, "/")
		if real, ok := c.linkedOnLine(abs); ok && (follow || !c.isLineLink(abs)) {
			abs = real
		}
		abs = c.resolve(abs, follow)
		root = c.realRoot()
	}
	loc.area = c.areaOf(abs, root, relative)
	return loc
}

// isLineLink reports a symbolic link that the line makes.
func (c *Call) isLineLink(p string) bool {
	return slices.ContainsFunc(c.run.lineLinks(), func(l lineLink) bool { return l.link == p })
}

func (c *Call) resolve(p string, follow bool) string {
	if follow {
		return clean(c.run.world.Resolve(p))
	}
	return join(clean(c.run.world.Resolve(parent(p))), base(p))
}

// areaOf judges a clean absolute path.
func (c *Call) areaOf(p, root string, relative bool) area {
	homes := c.homes()
	if p == "/" || len(p) == 3 && p[1] == ':' || len(p) == 2 && p[1] == ':' {
		return system
	}
	for _, h := range homes {
		if p == h {
			return home
		}
	}
	if rest, ok := strings.CutPrefix(p, "/home/"); ok && !strings.Contains(rest, "/") && p != root {
		return home
	}
	if rest, ok := strings.CutPrefix(p, "/Users/"); ok && !strings.Contains(rest, "/") && p != root {
		return home
	}
	if p == "/root" {
		return home
	}
	inRoot := root != "" && root != "/" && within(p, root)
	if inRoot || root == "" {
		rel := strings.TrimPrefix(strings.TrimPrefix(p, root), "/")
		if strings.Contains("/"+rel+"/", "/.git/") {
			return gitData
		}
	}
	if root != "" && p == root {
		return project
	}
	if inRoot {
		if c.run.world.Stat(p).Mount {
			return mount
		}
		return inside
	}
	if root != "" && within(root, p) {
		if isSystem(p) {
			return system
		}
		return above
	}
	for _, t := range c.tempDirs() {
		if p == t {
			return outside
		}
		if within(p, t) {
			if slices.ContainsFunc(homes, func(h string) bool { return within(p, h) && within(h, t) }) {
				continue // a home that itself lies in a temporary directory
			}
			return temporary
		}
	}
	for _, h := range homes {
		if within(h, p) {
			return system
		}
	}
	if isSystem(p) {
		return system
	}
	if root == "" && relative {
		return inside
	}
	if !c.Remote && !c.Container && c.run.world.Stat(p).Mount {
		return mount
	}
	return outside
}

func isSystem(p string) bool {
	for _, d := range freeDirs {
		if within(p, d) && p != d {
			return false
		}
	}
	for _, d := range systemDirs {
		if deep, ok := strings.CutSuffix(d, "/"); ok && within(p, deep) || p == d {
			return true
		}
	}
	if len(p) > 3 && p[1] == ':' {
		rest := strings.ToLower(p[3:])
		for _, d := range [...]string{"windows", "program files", "program files (x86)", "users", "programdata"} {
			if rest == d || d != "users" && strings.HasPrefix(rest, d+"/") {
				return true
			}
		}
	}
	return false
}
