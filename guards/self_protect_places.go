package guards

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// sessionFiles are what the client itself keeps below its directory for a
// session or as a cache: not configuration.
var sessionFiles = []string{
	"projects", "plans", "todos", "tasks", "session-env", "sessions", "shell-snapshots", "statsig", "file-history", "debug", "ide",
	"cache", "logs", "history.jsonl", "paste-cache", "image-cache", "telemetry", "backups", "downloads", "usage-data", "stats-cache.json", "teams",
}

// clientFiles are files and directories (ending in "/") that bind an agent,
// below a project or a home.
var clientFiles = []string{
	".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/", ".claude/managed-settings.json", ".claude/managed-settings.d/",
	".sallyport/",
	".codex/config.toml", ".codex/hooks.json", ".codex/rules/", ".codex/requirements.toml",
	".gemini/settings.json", ".gemini/policies/", ".gemini/hooks/", ".qwen/settings.json", ".qwen/hooks/",
	".cursor/hooks.json", ".cursor/hooks/", ".cursor/cli.json", ".cursor/cli-config.json", ".cursor/permissions.json",
	".github/hooks/", ".github/copilot/settings.json", ".github/copilot/settings.local.json", ".copilot/config.json", ".copilot/settings.json", ".copilot/hooks/",
	".opencode/plugin/", ".opencode/plugins/", ".opencode/opencode.json", ".opencode/opencode.jsonc", "opencode.json", "opencode.jsonc",
	".config/opencode/", ".kiro/hooks/", ".kiro/agents/", ".kiro/settings/",
}

// clientDirs hold clientFiles: with one of them its configuration goes.
var clientDirs = []string{".claude", ".sallyport", ".codex", ".gemini", ".cursor", ".qwen", ".opencode", ".kiro", ".copilot"}

// homeFiles stand only in a home directory.
var homeFiles = []string{".claude/", ".claude.json", ".config/sallyport/", ".local/state/sallyport/"}

// machineFiles are absolute.
var machineFiles = []string{
	"/etc/claude-code/", "/Library/Application Support/ClaudeCode/", "C:/ProgramData/ClaudeCode/", "C:/Program Files/ClaudeCode/",
	"/etc/codex/", "/etc/gemini-cli/", "/Library/Application Support/Cursor/", "/etc/cursor/",
}

// protected says why a path must not be changed; empty if it may. tree is set
// when everything below it changes too.
func (r *run) protected(p string, tree bool) string {
	if p == "" {
		return ""
	}
	plain := r.plainName(p)
	key := protectedPath{p, tree}
	why := ""
	if !plain {
		known, seen := r.protects[key]
		if seen {
			return known
		}
		why = r.protectedName(p, tree)
	}
	if why == "" {
		if real := r.world.Resolve(p); real != p {
			if real = clean(real); real != p {
				why = r.protectedName(real, tree)
			}
		}
	}
	if plain {
		return why
	}
	if r.protects == nil {
		r.protects = map[protectedPath]string{}
	}
	if len(p) < 1000 && len(r.protects) < 4096 {
		r.protects[key] = why
	}
	return why
}

// maxFar bounds the directories that plainName remembers.
const maxFar = 4096

// plainName reports a path that is none of the protected ones, and holds none, by
// its spelling alone: no element begins with a dot or names a client, and its
// directory lies apart from all absolute places. A line can have some hundred
// thousand of them in a few directories.
func (r *run) plainName(p string) bool {
	i := strings.LastIndexByte(p, '/')
	if i < 0 || i+1 == len(p) || p[i+1] == '.' || namesClient(p[i+1:]) {
		return false
	}
	dir := p[:i]
	far, seen := r.far[dir]
	if !seen {
		far = dir != "" && !strings.HasPrefix(dir, ".") && !strings.Contains(dir, "/.") && !namesClient(dir) && r.farFromAll(strings.ToLower(dir))
		if r.far == nil {
			r.far = map[string]bool{}
		}
		if len(r.far) < maxFar {
			r.far[dir] = far
		}
	}
	return far
}

// namesClient reports the one name among clientFiles that has no dot in front.
func namesClient(s string) bool {
	const name = "opencode"
	for i := 0; i+len(name) <= len(s); i++ {
		if s[i]|0x20 == 'o' && strings.EqualFold(s[i:i+len(name)], name) {
			return true
		}
	}
	return false
}

// farFromAll reports a directory that neither holds a protected place nor lies in
// one.
func (r *run) farFromAll(low string) bool {
	apart := func(place string) bool { return !within(place, low) && !within(low, place) }
	b := r.protectedPlaces()
	for _, h := range b.homes {
		if !apart(h.config) || !slicesAll(h.dirs, apart) || !slicesAll(h.files, apart) {
			return false
		}
	}
	for place := range b.programs {
		if !apart(place) {
			return false
		}
	}
	return (b.client == "" || apart(b.client)) && slicesAll(b.own, apart) && slicesAll(b.machine, apart)
}

func slicesAll(list []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !ok(s) })
}

func (r *run) protectedName(p string, tree bool) string {
	low := strings.ToLower(p)
	if strings.Contains(low, "/.") || strings.HasPrefix(low, ".") || strings.Contains(low, "opencode") {
		for _, f := range clientFiles {
			if hasTail(low, f) && !r.bindsNobody(low) {
				return "it binds the agent"
			}
		}
	}
	b := r.protectedPlaces()
	for _, h := range b.homes {
		if !within(low, h.dir) && !within(h.dir, low) {
			continue
		}
		for _, dir := range h.dirs {
			if within(low, dir) && !sessionFile(low, dir) {
				return "it is the configuration that binds the agent"
			}
		}
		if slices.Contains(h.files, low) {
			return "it is the configuration that binds the agent"
		}
		if tree && low == h.dir && low != "/" {
			return "" // a whole home is the destructive guard's
		}
	}
	if within(low, b.client) && !sessionFile(low, b.client) {
		return "it is the configuration that binds the agent"
	}
	for _, dir := range b.own {
		if within(low, dir) {
			return "it is this product's own configuration"
		}
	}
	for _, dir := range b.machine {
		if within(low, dir) {
			return "it is the configuration of this machine"
		}
	}
	if b.programs[low] {
		return "it is a program of this product"
	}
	if tree && slices.Contains(clientDirs, base(low)) && !r.bindsNobody(low) {
		return "it holds the configuration that binds the agent"
	}
	return ""
}

// bindsNobody reports a path below a temporary directory that holds neither the
// session's project nor its home: no client reads its configuration there.
func (r *run) bindsNobody(low string) bool {
	if r.scratch == nil {
		r.scratch = []string{}
		any := &Call{run: r}
		root := any.projectRoot()
		bound := []string{r.in.Dir, root, clean(r.world.Resolve(root)), clean(r.world.Resolve(r.in.Dir))}
		for _, h := range r.protectedPlaces().homes {
			bound = append(bound, h.dir)
		}
		for _, t := range any.tempDirs() {
			t = strings.ToLower(t)
			if slicesAll(bound, func(dir string) bool { return !within(strings.ToLower(clean(dir)), t) }) {
				r.scratch = append(r.scratch, t)
			}
		}
	}
	return slices.ContainsFunc(r.scratch, func(t string) bool { return low != t && within(low, t) })
}

// protectedPlaces are the absolute names that protectedName looks for, in lower
// case: a line can have some hundred thousand targets to compare with them.
type protectedPlaces struct {
	homes    []protectedHome
	client   string // the directory that CLAUDE_CONFIG_DIR names
	own      []string
	machine  []string
	programs map[string]bool
}

type protectedHome struct {
	dir         string
	config      string // this product's directory in it
	dirs, files []string
}

func (r *run) protectedPlaces() *protectedPlaces {
	if r.places != nil {
		return r.places
	}
	b := &protectedPlaces{programs: map[string]bool{}}
	for _, h := range r.homeDirs() {
		home := protectedHome{dir: h, config: h + "/.config/sallyport"}
		for _, f := range homeFiles {
			if dir, isDir := strings.CutSuffix(h+"/"+f, "/"); isDir {
				home.dirs = append(home.dirs, dir)
			} else {
				home.files = append(home.files, dir)
			}
		}
		b.homes = append(b.homes, home)
	}
	if dir, ok := r.env("CLAUDE_CONFIG_DIR"); ok && isAbs(dir) {
		b.client = strings.ToLower(clean(dir))
	}
	for _, v := range [...]string{"XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		if dir, ok := r.env(v); ok && isAbs(dir) {
			b.own = append(b.own, strings.ToLower(clean(dir+"/sallyport")))
		}
	}
	for _, f := range machineFiles {
		b.machine = append(b.machine, strings.ToLower(strings.TrimSuffix(f, "/")))
	}
	for _, self := range r.in.Self {
		b.programs[strings.ToLower(clean(self))] = true
	}
	r.places = b
	return b
}

// sessionFile reports that what stands below dir is what the client itself keeps
// there for a session.
func sessionFile(low, dir string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(low, dir), "/"), "/")
	return slices.Contains(sessionFiles, first)
}

// homeDirs are the home directories, as given and with links resolved, in lower
// case.
func (r *run) homeDirs() []string {
	if r.homes == nil {
		r.homes = []string{}
		for _, name := range [...]string{"HOME", "USERPROFILE"} {
			if h, ok := r.env(name); ok && h != "" {
				for _, dir := range [...]string{clean(h), clean(r.world.Resolve(clean(h)))} {
					if dir = strings.ToLower(dir); !slices.Contains(r.homes, dir) {
						r.homes = append(r.homes, dir)
					}
				}
			}
		}
	}
	return r.homes
}

// hasTail reports whether path p is f, or for a directory f lies in it,
// wherever it stands.
func hasTail(p, f string) bool {
	if dir, isDir := strings.CutSuffix(f, "/"); isDir {
		return strings.Contains(p+"/", "/"+dir+"/") || strings.HasPrefix(p+"/", dir+"/")
	}
	return p == f || strings.HasSuffix(p, "/"+f)
}

// maxExpanded bounds the names that one pattern stands for.
const (
	maxExpanded = 200
	maxElems    = 24
)

// expanded are the names that a pattern can stand for in a directory, as far as
// they are protected ones; any other name is "unknown".
func expanded(dir, pattern string) []string {
	elems := strings.Split(pattern, "/")
	if n := len(elems) - maxElems; n > 0 {
		dir, elems = join(dir, "unknown"), elems[n:] // none of the places is so deep
	}
	out := []string{}
	var walk func(done string, i int)
	walk = func(done string, i int) {
		switch {
		case len(out) >= maxExpanded:
		case i == len(elems):
			out = append(out, clean(done))
		case !strings.ContainsAny(elems[i], "*?["):
			walk(join(done, elems[i]), i+1)
		default:
			for _, name := range matchingNames(base(done), elems[i]) {
				walk(join(done, name), i+1)
			}
		}
	}
	walk(dir, 0)
	return out
}

// matchingNames are the elements of protected paths that can stand behind one
// named last and match a pattern, and "unknown" for others. Like the shell's, its *
// takes no leading dot.
func matchingNames(last, pattern string) []string {
	var out []string
	low, last := strings.ToLower(pattern), strings.ToLower(last)
	try := func(name string) {
		if name[0] == '.' && low[0] != '.' {
			return
		}
		if ok, err := path.Match(low, name); (ok || err != nil) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, elems := range placeElems() {
		try(elems[0])
		for k := 1; k < len(elems); k++ {
			if elems[k-1] == last {
				try(elems[k])
			}
		}
	}
	if last == ".claude" && len(out) == 0 {
		for _, f := range sessionFiles {
			try(f)
		}
		if len(out) > 0 {
			return out
		}
	}
	return append(out, "unknown")
}

// placeElems are the elements of the protected paths.
var placeElems = sync.OnceValue(func() [][]string {
	var out [][]string
	for _, list := range [...][]string{clientFiles, homeFiles, gitHookFiles} {
		for _, f := range list {
			out = append(out, strings.Split(strings.TrimSuffix(f, "/"), "/"))
		}
	}
	return out
})

// gitHookFiles are hooks that git runs before it takes work.
var gitHookFiles = []string{".git/hooks/pre-commit", ".git/hooks/pre-push", ".git/hooks/commit-msg", ".git/hooks/prepare-commit-msg"}
