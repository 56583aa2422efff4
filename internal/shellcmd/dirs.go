package shellcmd

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"sallyport/internal/slashpath"
)

const maxPath = 2048

// Directories are kept as marked text: a cd to an unknown place appends a mark,
// and Dir.Unknown says so to the outside.

// dir is the working directory; with alternatives, the one that is being tried.
func (w *walker) dir(sh *shell) string {
	return sh.dirs[w.ctx.pick.of("\x00dir", len(sh.dirs))]
}

func (w *walker) pwd(sh *shell) string {
	if d := w.dir(sh); isAbs(d) || startsMarked(d) {
		return d
	}
	// Relative to a start that is not known.
	start := w.varMark("PWD")
	if d := w.dir(sh); d != "" {
		return start + "/" + d
	}
	return start
}

func (w *walker) oldPwd(sh *shell) string {
	if sh.oldDir != "" {
		return sh.oldDir
	}
	return w.varMark("OLDPWD")
}

// publicDir makes the exported form of a directory.
func (w *walker) publicDir(d string) Dir {
	if w.hasMark(d) {
		return Dir{Unknown: true, Temporary: w.madeByMktemp(d)}
	}
	return Dir{Path: unescapeRaw(d)}
}

// madeByMktemp reports a directory that mktemp printed the name of, or one in
// it.
func (w *walker) madeByMktemp(d string) bool {
	first, size := utf8.DecodeRuneInString(d)
	if !startsMarked(d) || w.hasMark(d[size:]) || strings.Contains(d[size:], "..") {
		return false
	}
	i := int(first) - markFirst
	if i < 0 || i >= len(w.marks) || w.marks[i].Kind != Substitution {
		return false
	}
	from := w.marks[i].From
	return len(from) == 1 && from[0].Name() == "mktemp"
}

// changeDir is cd: it looks up what the shell would go to.
func (w *walker) changeDir(sh *shell, args []Word) {
	for len(args) > 0 {
		a := args[0].raw
		if a == "--" {
			args = args[1:]
			break
		}
		if len(a) < 2 || a[0] != '-' || strings.Trim(a[1:], "LPe@qs") != "" {
			break
		}
		args = args[1:]
	}
	var to string
	switch {
	case len(args) == 0:
		home, ok := w.lookupValue(sh, "HOME")
		if !ok {
			home = w.tildeMark("~")
		}
		to = home
	case args[0].raw == "-":
		to = w.oldPwd(sh)
	case len(args) == 2 && w.opt.Dialect == Zsh:
		// zsh: cd old new replaces in the name of the directory.
		to = strings.Replace(w.dir(sh), args[0].raw, args[1].raw, 1)
	default:
		to = w.target(sh, args[0].raw)
	}
	w.setDir(sh, to)
	if old := sh.oldDir; w.mayFail(to) && old != to {
		sh.dirs = append(sh.dirs, w.startDir(old))
		w.altered = true
	}
}

// mayFail reports whether a cd goes to a directory that is not there.
func (w *walker) mayFail(to string) bool {
	fs, ok := w.opt.FS.(DirFS)
	if !ok || w.ctx.remote || w.ctx.container || !isAbs(to) || w.hasMark(to) {
		return false
	}
	if w.madeDirs[to] {
		return false
	}
	return !fs.IsDir(unescapeRaw(to))
}

// startDir undoes what pwd does for a line whose directory is not known.
func (w *walker) startDir(pwd string) string {
	if pwd == w.varMarks["PWD"] {
		return ""
	}
	return pwd
}

// makeDirs records directories that the line makes.
func (w *walker) makeDirs(sh *shell, args []Word) {
	for _, a := range args {
		if strings.HasPrefix(a.raw, "-") {
			continue
		}
		if w.madeDirs == nil {
			w.madeDirs = map[string]bool{}
		}
		w.madeDirs[w.path(sh, a.raw)] = true
	}
}

// target resolves a relative directory. CDPATH can send it anywhere.
func (w *walker) target(sh *shell, to string) string {
	if to == "" {
		return w.dir(sh)
	}
	if !isAbs(to) && !startsMarked(to) && !strings.HasPrefix(to, ".") {
		if v := sh.lookup("CDPATH"); v != nil && len(v.vals) > 0 && v.vals[0] != "" {
			return w.mark(Part{Text: "CDPATH", Kind: Variable})
		}
	}
	return w.resolve(w.dir(sh), to)
}

// resolve joins a directory and a name as cd does, without symbolic links.
func (w *walker) resolve(dir, to string) string {
	if strings.IndexByte(to, '\\') >= 0 && isAbs(to) {
		return to // a Windows path stays as it is
	}
	if isAbs(to) {
		return slashpath.Clean(to)
	}
	if startsMarked(to) {
		// ".." after an unknown piece cannot be resolved by name.
		return to
	}
	if dir == "" {
		return slashpath.Clean(to)
	}
	if strings.IndexByte(dir, '\\') >= 0 {
		return dir + `\` + to
	}
	if strings.Contains(to, "..") && !isStatic(dir) {
		return dir + "/" + to
	}
	return slashpath.Clean(dir + "/" + to)
}

func (w *walker) setDir(sh *shell, to string) {
	old := w.pwd(sh)
	if len(to) > maxPath {
		to = otherMark // longer than a person would write
	}
	sh.oldDir = old
	sh.dirs = []string{to}
}

// pushDir and popDir are pushd and popd.
func (w *walker) pushDir(sh *shell, args []Word) {
	here := w.dir(sh)
	if len(args) > 0 && args[0].raw == "-n" {
		return
	}
	if len(args) == 0 || isRotation(args[0].raw) {
		n := 1
		if len(args) > 0 {
			n = rotation(args[0].raw, len(sh.stack)+1)
		}
		all := append([]string{here}, sh.stack...)
		if len(all) < 2 {
			return
		}
		if len(args) == 0 {
			all[0], all[1] = all[1], all[0]
		} else {
			n %= len(all)
			all = append(append([]string(nil), all[n:]...), all[:n]...)
		}
		w.setDir(sh, all[0])
		sh.stack = all[1:]
		return
	}
	to := w.target(sh, args[len(args)-1].raw)
	stack := append([]string{here}, sh.stack...)
	if len(stack) > 64 {
		stack = stack[:64]
	}
	w.setDir(sh, to)
	sh.stack = stack
}

func (w *walker) popDir(sh *shell, args []Word) {
	if len(args) > 0 && args[0].raw == "-n" {
		return
	}
	if len(sh.stack) == 0 {
		return
	}
	if len(args) > 0 && isRotation(args[0].raw) {
		if n := rotation(args[0].raw, len(sh.stack)+1); n > 0 && n <= len(sh.stack) {
			stack := append([]string(nil), sh.stack[:n-1]...)
			sh.stack = append(stack, sh.stack[n:]...)
			return
		}
	}
	to := sh.stack[0]
	stack := sh.stack[1:]
	w.setDir(sh, to)
	sh.stack = stack
}

func isRotation(s string) bool {
	return len(s) > 1 && (s[0] == '+' || s[0] == '-') && isDigits(s[1:])
}

func rotation(s string, size int) int {
	n, err := strconv.Atoi(s[1:])
	if err != nil || n > size {
		return 0
	}
	if s[0] == '-' {
		return size - 1 - n
	}
	return n
}
