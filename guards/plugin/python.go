package plugin

import (
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed shim.py
var shim string

var errNoPython = errors.New("python3 is not on PATH")

// pythonCommand starts the interpreter that all Python guards of a line share:
// without the user's site, environment, and working directory on its path, and
// without compiled files. It gets no variable that is not named here.
func (s *Set) pythonCommand() (*exec.Cmd, error) {
	python, ok := findPython(s.opts.getenv("PATH"))
	if !ok {
		return nil, errNoPython
	}
	cmd := exec.Command(python, "-I", "-S", "-B", "-c", shim)
	cmd.Dir = s.opts.Dir
	if fi, err := os.Stat(cmd.Dir); err != nil || !fi.IsDir() {
		cmd.Dir = ""
	}
	cmd.Env = pythonEnv(s.opts.Environ)
	return cmd, nil
}

// findPython is the first python3 on PATH that is a program; a script of that
// name (a version manager's) costs more than the guard and counts only where
// there is nothing else.
func findPython(path string) (string, bool) {
	script := ""
	for _, dir := range filepath.SplitList(path) {
		p, ok := lookPath("python3", dir)
		switch {
		case !ok:
		case !isScript(p):
			return p, true
		case script == "":
			script = p
		}
	}
	return script, script != ""
}

func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [2]byte
	n, _ := f.Read(magic[:])
	return string(magic[:n]) == "#!"
}

// pythonEnv keeps what a program needs to run and what guards are told through:
// no credential stands in it. What a guard runs with ctx.run has the hook's
// whole environment.
func pythonEnv(environ []string) []string {
	keep := []string{}
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP",
			"SYSTEMROOT", "SystemRoot", "USERPROFILE", "PATHEXT", "PYENV_ROOT":
			keep = append(keep, kv)
		default:
			if strings.HasPrefix(name, "MAGPIE_") || strings.HasPrefix(name, "AGENT_GUARD_") {
				keep = append(keep, kv)
			}
		}
	}
	return keep
}
