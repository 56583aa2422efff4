package setup

import (
	"bufio"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"sallyport/internal/cli"
	"sallyport/internal/dirs"
	"sallyport/internal/term"
)

// A world is the machine and account that a run works on.
type world struct {
	environ   []string
	home      string // absolute
	configDir string // the client's user directory
	twoHomes  bool   // CLAUDE_CONFIG_DIR names another one than ~/.claude
	config    string
	state     string
	now       time.Time
}

// newWorld resolves the directories. home replaces $HOME, and then nothing in
// the environment points anywhere else.
func newWorld(environ []string, home string) (*world, error) {
	if home != "" {
		abs, err := filepath.Abs(home)
		if err != nil {
			return nil, err
		}
		environ = WithHome(environ, abs)
	}
	w := &world{environ: environ}
	w.home = dirs.Home(w.getenv)
	switch info, err := os.Stat(w.home); {
	case w.home == "":
		return nil, cli.Exitf(cli.ExitRefused, "HOME is not set; set it or pass --home DIR")
	case !filepath.IsAbs(w.home):
		return nil, cli.Exitf(cli.ExitRefused, "HOME is %q, which is not an absolute path; set it or pass --home DIR", w.home)
	case err != nil:
		return nil, cli.Exitf(cli.ExitRefused, "home directory: %v", err)
	case !info.IsDir():
		return nil, cli.Exitf(cli.ExitRefused, "home directory %s: not a directory", w.home)
	case foreignOwner(info):
		return nil, cli.Exitf(cli.ExitRefused, "home directory %s belongs to another account; run as its owner, without sudo", w.home)
	}
	w.home = filepath.Clean(w.home)
	w.configDir = filepath.Join(w.home, ".claude")
	if dir := w.getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		if !filepath.IsAbs(dir) {
			return nil, cli.Exitf(cli.ExitRefused, "CLAUDE_CONFIG_DIR is %q, which is not an absolute path", dir)
		}
		w.twoHomes = filepath.Clean(dir) != w.configDir
		w.configDir = filepath.Clean(dir)
	}
	w.config, w.state = dirs.Config(w.getenv), dirs.State(w.getenv)
	w.now = time.Now()
	if text := w.getenv("SALLYPORT_NOW"); text != "" {
		now, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, cli.Exitf(cli.ExitInput, "SALLYPORT_NOW: %v", err)
		}
		w.now = now
	}
	w.now = w.now.UTC()
	return w, nil
}

// WithHome is an environment in which home is the home directory, and nothing
// points to another one.
func WithHome(environ []string, home string) []string {
	elsewhere := []string{"HOME=", "USERPROFILE=", "CLAUDE_CONFIG_DIR=", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=", "ZDOTDIR=", "GIT_CONFIG_GLOBAL="}
	environ = slices.DeleteFunc(slices.Clone(environ), func(e string) bool {
		return slices.ContainsFunc(elsewhere, func(p string) bool { return strings.HasPrefix(e, p) })
	})
	return append(environ, "HOME="+home, "USERPROFILE="+home)
}

func (w *world) getenv(name string) string {
	for _, e := range slices.Backward(w.environ) {
		if k, v, ok := strings.Cut(e, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// lookPath finds a program on the world's PATH, "" if it is not there.
// Relative entries of PATH do not count.
func (w *world) lookPath(name string) string {
	for _, dir := range filepath.SplitList(w.getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, executable(name))
		if found, err := exec.LookPath(file); err == nil {
			return found
		}
	}
	return ""
}

// short is a path as a person reads it, safe to print.
func (w *world) short(path string) string {
	if path == w.home {
		return "~"
	}
	if rest, ok := strings.CutPrefix(path, w.home+string(filepath.Separator)); ok {
		path = "~" + string(filepath.Separator) + rest
	}
	return term.Clean(path, 0)
}

// target is the file that a write to path would change. It follows links, but
// refuses one that leads out of the home directory, unless path itself was
// named from outside (root), and a file that belongs to somebody else.
func (w *world) target(path, root string) (string, error) {
	real, err := w.inside(path, root)
	if err != nil {
		return "", err
	}
	switch info, err := os.Lstat(real); {
	case err != nil:
	case info.IsDir() || !info.Mode().IsRegular():
		return "", cli.Exitf(cli.ExitRefused, "%s is not a regular file; nothing was changed", w.short(real))
	case foreignOwner(info):
		return "", cli.Exitf(cli.ExitRefused, "%s belongs to another account; nothing was changed", w.short(real))
	}
	return real, nil
}

// inside is path with its links resolved, refused if that is not in the home
// directory or in root.
func (w *world) inside(path, root string) (string, error) {
	real, err := resolve(path)
	if err != nil {
		return "", cli.Exitf(cli.ExitRefused, "%v", err)
	}
	inside := false
	for _, dir := range []string{w.home, root} {
		if dir == "" {
			continue
		}
		realDir, err := resolve(dir)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(realDir, real); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			inside = true
		}
	}
	if !inside {
		return "", cli.Exitf(cli.ExitRefused, "%s leads to %s, outside the home directory; nothing was changed", w.short(path), w.short(real))
	}
	return real, nil
}

// resolve follows every link in path; the last parts may not exist yet.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", err // a link that leads nowhere, or in circles
	}
	parent := filepath.Dir(path)
	if parent == path {
		return "", err
	}
	real, err = resolve(parent)
	return filepath.Join(real, filepath.Base(path)), err
}

// facts describes the environment for the head of the plan.
func (w *world) facts(client version, clientFound bool) []string {
	system := runtime.GOOS + "/" + runtime.GOARCH
	if name := distribution(); name != "" {
		system += ", " + name
	}
	facts := []string{"system: " + system, "home: " + term.Clean(w.home, 0)}
	if shell := w.getenv("SHELL"); shell != "" {
		facts = append(facts, "shell: "+term.Clean(shell, 200))
	}
	switch {
	case !clientFound:
		facts = append(facts, "Claude Code: not on PATH; wired for "+execFormSince+" and newer")
	case !client.known():
		facts = append(facts, "Claude Code: version unknown; wired for "+execFormSince+" and newer")
	default:
		facts = append(facts, "Claude Code: "+client.String())
	}
	if runtime.GOOS == "linux" {
		var deps []string
		for _, name := range []string{"bwrap", "socat", "rg"} {
			state := "found"
			if w.lookPath(name) == "" {
				state = "missing"
			}
			deps = append(deps, name+" "+state)
		}
		facts = append(facts, "sandbox programs: "+strings.Join(deps, ", "))
	}
	if w.twoHomes {
		facts = append(facts, "settings: "+w.short(w.configDir)+" (CLAUDE_CONFIG_DIR); "+w.short(filepath.Join(w.home, ".claude"))+" is not touched")
	}
	return facts
}

func distribution() string {
	f, err := os.Open("/etc/os-release")
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "PRETTY_NAME="); ok {
			return term.Clean(strings.Trim(name, `"'`), 80)
		}
	}
	return ""
}

// insideSandbox reports the evidence that this process runs in the client's
// sandbox; one sign alone is not enough.
func insideSandbox(getenv func(string) string, readFile func(string) ([]byte, error)) (evidence []string, inside bool) {
	add := func(ok bool, what string) {
		if ok {
			evidence = append(evidence, what)
		}
	}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		u, err := url.Parse(getenv(name))
		if err == nil && u.User != nil && u.User.Username() == "srt" && slices.Contains([]string{"127.0.0.1", "localhost", "::1"}, u.Hostname()) {
			add(true, name+" is the sandbox's proxy")
			break
		}
	}
	tmp := filepath.Clean(getenv("TMPDIR"))
	add(tmp == "/tmp/claude" || strings.HasPrefix(tmp, "/tmp/claude/") || strings.HasPrefix(tmp, "/tmp/claude-"), "TMPDIR is "+tmp)
	add(getenv("SANDBOX_RUNTIME") != "", "SANDBOX_RUNTIME is set")
	if status, err := readFile("/proc/self/status"); err == nil {
		has := func(line string) bool { return strings.Contains("\n"+string(status), "\n"+line+"\n") }
		filtered := has("Seccomp:\t2") && has("NoNewPrivs:\t1")
		init, _ := readFile("/proc/1/comm")
		add(filtered || strings.TrimSpace(string(init)) == "bwrap", "the system call filter or bubblewrap is active")
	}
	return evidence, len(evidence) >= 2
}
