package iso

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"sallyport/internal/atomicfile"
	"sallyport/internal/cli"
	"sallyport/internal/dirs"
	"sallyport/internal/gitdir"
	"sallyport/internal/regularfile"
	"sallyport/internal/term"
	"sallyport/settings"
)

// temporary are the directories that everyone may write.
var temporary = []string{"/tmp"}

// Wrappers are the tools that --wrap knows.
var Wrappers = []string{"bwrap", "srt"}

// An access is what the wrapped program may do with a path.
type access int

const (
	denied access = iota
	readable
	writable
)

// A rule is an access to a path and what is below it, but for more specific rules.
type rule struct {
	path   string
	access access
}

// A policy is what the wrapped program may reach.
type policy struct {
	rules   []rule // by path, shortest first
	network bool
	domains []string // that Claude Code's settings and the table name
	barred  []string // domains that the settings deny

	allowWrite, denyRead, allowRead, denyWrite []string
}

// wrap turns the start into one inside an OS sandbox.
func (p *Plan) wrap(w *cli.Process, tool string, config WrapConfig) error {
	get := map[string]string{"bwrap": "install the package bubblewrap", "srt": "npm install -g @anthropic-ai/sandbox-runtime"}[tool]
	if get == "" {
		return usageError("%q is no wrapper: want %s", tool, strings.Join(Wrappers, " or "))
	}
	if tool == "bwrap" && runtime.GOOS != "linux" {
		return refuse("E-PREREQ", "--wrap bwrap needs Linux: use --wrap srt")
	}
	path, err := p.search.Find(tool)
	if err != nil {
		return refuse("E-PREREQ", "--wrap %s needs %s: %s", tool, tool, get)
	}
	pol, err := p.policy(w, config)
	if err != nil {
		return err
	}
	var argv []string
	if tool == "bwrap" {
		argv = append([]string{"bwrap"}, pol.bwrap(w)...)
	} else {
		file, err := pol.srtFile(w)
		if err != nil {
			return err
		}
		argv = []string{"srt", "--settings", file}
	}
	argv = append(argv, "--", absolute(w.Dir(), p.Path))
	p.Argv = append(argv, p.Argv[1:]...)
	p.Path = path
	p.say("wrapped in %s (%s)", tool, path)
	return nil
}

// policy makes the default policy: the work tree, temporary directories and the
// CLI's own state can be written, everything can be read but what Claude Code's
// settings or the configuration deny.
func (p *Plan) policy(w *cli.Process, config WrapConfig) (policy, error) {
	getenv := func(name string) string { return lookup(p.Environment.Vars, name) }
	work, gitDirs := w.Dir(), []string(nil)
	if repo, ok := gitdir.Find(w.Dir(), getenv); ok && repo.Root != "" {
		work = repo.Root
		gitDirs = append(gitDirs, repo.CommonDir, repo.GitDir)
	}
	home := dirs.Home(getenv)
	if work == "" || within(home, work) || work == string(filepath.Separator) {
		return policy{}, refuse("E-CONFLICT", "--wrap would make all of %s writable; start in a project's directory", work)
	}

	var args []string
	if p.CLI == "claude" {
		args = p.Argv[1:]
	}
	stack := p.claudeStack(w, args)
	list := func(key string) (paths []string) {
		for _, v := range stack.List("sandbox.filesystem." + key) {
			path, ok := stack.SandboxPath(v.Value, v.Source)
			if !ok {
				p.warn("--wrap passes over %s of %s: it cannot be told where it points", v.Value, v.Source)
				continue
			}
			paths = append(paths, p.expand(path)...)
		}
		return paths
	}
	pol := policy{network: true}
	pol.allowWrite, pol.denyRead, pol.allowRead, pol.denyWrite = list("allowWrite"), list("denyRead"), list("allowRead"), list("denyWrite")
	for _, v := range stack.All("sandbox.credentials.files") {
		v.Value.Each(func(_ string, file settings.Node) bool {
			if entry, ok := file.Get("path").Text(); ok {
				if path, ok := stack.SandboxPath(entry, v.Source); ok {
					pol.denyRead = append(pol.denyRead, p.expand(path)...)
				}
			}
			return true
		})
	}
	for _, path := range config.AllowWrite {
		pol.allowWrite = append(pol.allowWrite, p.expand(expandHome(home, path))...)
	}
	for _, path := range config.DenyRead {
		pol.denyRead = append(pol.denyRead, p.expand(expandHome(home, path))...)
	}

	// What the CLI itself cannot do without.
	need := append([]string{work}, temporary...)
	if tmp := getenv("TMPDIR"); tmp != "" {
		need = append(need, tmp)
	}
	need = append(need, gitDirs...)
	for _, state := range p.entry.State {
		if name, ok := strings.CutPrefix(state, "$"); ok {
			state = getenv(name)
		}
		if state = expandHome(home, state); state != "" && exists(state) {
			need = append(need, state)
		}
	}
	program := absolute(w.Dir(), p.Path)
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	if i := strings.Index(filepath.ToSlash(program), "/node_modules/"); i >= 0 {
		program = program[:i]
	} else {
		program = filepath.Dir(program)
	}

	for _, v := range stack.List("sandbox.network.allowedDomains") {
		pol.domains = append(pol.domains, v.Value)
	}
	for _, v := range stack.List("sandbox.network.deniedDomains") {
		pol.barred = append(pol.barred, v.Value)
	}
	if strict := stack.Bool("sandbox.network.strictAllowlist"); strict.Value && len(pol.domains) == 0 {
		pol.network = false
	}
	if config.Network != nil {
		pol.network = *config.Network
	}
	for _, host := range slices.Concat(p.entry.Hosts, config.Domains) {
		if !slices.Contains(pol.domains, host) {
			pol.domains = append(pol.domains, host)
		}
	}

	// Hooks and configuration of the repository run programs outside.
	for _, d := range gitDirs {
		pol.denyWrite = append(pol.denyWrite, filepath.Join(d, "hooks"), filepath.Join(d, "config"))
	}
	pol.compose(need, program)
	return pol, nil
}

// compose turns the lists into rules. On one path the later kind wins: what
// may be written, what may not be read, what may be read after all, what may
// not be written, and at last what the CLI needs.
func (pol *policy) compose(need []string, program string) {
	byPath := map[string]access{}
	set := func(paths []string, f func(path string) (access, bool)) {
		for _, path := range paths {
			// A mount follows no link, and needs something to stand on.
			real, err := filepath.EvalSymlinks(path)
			if err != nil {
				continue
			}
			if a, ok := f(real); ok {
				byPath[real] = a
			}
		}
	}
	real := func(paths []string) (list []string) {
		for _, path := range paths {
			if r, err := filepath.EvalSymlinks(path); err == nil {
				list = append(list, r)
			}
		}
		return list
	}
	write := real(slices.Concat(pol.allowWrite, need))
	deny, open := real(pol.denyRead), real(pol.allowRead)
	set(pol.allowWrite, func(path string) (access, bool) {
		return writable, longest(deny, path) <= longest(open, path)
	})
	set(pol.denyRead, func(string) (access, bool) { return denied, true })
	set(pol.allowRead, func(path string) (access, bool) {
		if longest(write, path) > 0 {
			return writable, true
		}
		return readable, true
	})
	if real, err := filepath.EvalSymlinks(program); err == nil && longest(deny, real) > longest(open, real) {
		byPath[real] = readable
	}
	set(need, func(string) (access, bool) { return writable, true })
	set(pol.denyWrite, func(path string) (access, bool) {
		return readable, longest(deny, path) <= longest(slices.Concat(open, write), path)
	})
	for path, a := range byPath {
		pol.rules = append(pol.rules, rule{path, a})
	}
	slices.SortFunc(pol.rules, func(a, b rule) int {
		return cmp.Or(cmp.Compare(strings.Count(a.path, string(filepath.Separator)), strings.Count(b.path, string(filepath.Separator))), cmp.Compare(a.path, b.path))
	})
}

// longest is the length of the longest path in the list that is path or holds
// it, 0 if none does.
func longest(list []string, path string) int {
	n := 0
	for _, l := range list {
		if within(path, l) {
			n = max(n, len(l))
		}
	}
	return n
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	if path == "" || dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// bwrap is the policy as arguments of bubblewrap.
func (pol policy) bwrap(w *cli.Process) []string {
	args := []string{"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid", "--unshare-ipc", "--die-with-parent"}
	if !pol.network {
		args = append(args, "--unshare-net")
	}
	// A program on the person's terminal could otherwise type into it.
	if tiocsti, err := regularfile.Read("/proc/sys/dev/tty/legacy_tiocsti", 16); term.IsTerminal(w.Stdin) && (err != nil || strings.TrimSpace(string(tiocsti)) != "0") {
		args = append(args, "--new-session")
	}
	var masks []string
	for _, r := range pol.rules {
		switch r.access {
		case writable:
			args = append(args, "--bind", r.path, r.path)
		case readable:
			args = append(args, "--ro-bind", r.path, r.path)
		default:
			if info, err := os.Stat(r.path); err == nil && info.IsDir() {
				args = append(args, "--tmpfs", r.path)
				masks = append(masks, r.path)
			} else {
				args = append(args, "--ro-bind", os.DevNull, r.path)
			}
		}
	}
	// What is written to a mask would be lost; it takes nothing once the mounts
	// below it stand.
	for _, path := range masks {
		args = append(args, "--remount-ro", path)
	}
	if w.Dir() != "" {
		args = append(args, "--chdir", w.Dir())
	}
	return args
}

// srtFile writes the policy as a settings file of the sandbox runtime, which
// takes it from nowhere else, and returns its name. The name is made from the
// contents, so that a policy that was printed stays what it was.
func (pol policy) srtFile(w *cli.Process) (string, error) {
	type lists struct {
		DenyRead   []string `json:"denyRead"`
		AllowRead  []string `json:"allowRead"`
		AllowWrite []string `json:"allowWrite"`
		DenyWrite  []string `json:"denyWrite"`
	}
	var fs lists
	for _, r := range pol.rules {
		switch r.access {
		case denied:
			fs.DenyRead = append(fs.DenyRead, r.path)
		case readable:
			fs.AllowRead = append(fs.AllowRead, r.path)
			fs.DenyWrite = append(fs.DenyWrite, r.path)
		case writable:
			fs.AllowRead = append(fs.AllowRead, r.path)
			fs.AllowWrite = append(fs.AllowWrite, r.path)
		}
	}
	domains := pol.domains
	if !pol.network {
		domains = nil
	}
	data, err := marshal(map[string]any{
		"network":    map[string]any{"allowedDomains": orEmpty(domains), "deniedDomains": orEmpty(pol.barred)},
		"filesystem": lists{orEmpty(fs.DenyRead), orEmpty(fs.AllowRead), orEmpty(fs.AllowWrite), orEmpty(fs.DenyWrite)},
	})
	if err != nil {
		return "", err
	}
	dir := dirs.Cache(w.Getenv)
	if dir == "" {
		return "", refuse("E-PREREQ", "--wrap srt needs a home directory for its settings file: set HOME")
	}
	sum := sha256.Sum256(data)
	file := filepath.Join(dir, "srt-"+hex.EncodeToString(sum[:8])+".json")
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, data) {
		return file, nil
	}
	err = os.MkdirAll(dir, 0o700)
	if err == nil {
		err = atomicfile.Write(file, data, 0o600)
	}
	if err != nil {
		return "", cli.Exitf(cli.ExitRefused, "write the policy for srt: %w", err)
	}
	return file, nil
}

// expand resolves a pattern of the settings to the paths that it matches now.
func (p *Plan) expand(path string) []string {
	if !strings.ContainsAny(path, "*?[") {
		return []string{path}
	}
	if strings.Contains(path, "**") {
		p.warn("--wrap passes over %s: it matches at any depth, which a mount cannot", path)
		return nil
	}
	found, err := filepath.Glob(path)
	if err != nil {
		p.warn("--wrap passes over %s: %v", path, err)
	}
	return found
}

func expandHome(home, path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		if home == "" {
			return ""
		}
		return filepath.Join(home, filepath.FromSlash(rest))
	}
	return path
}
