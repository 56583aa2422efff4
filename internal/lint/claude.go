package lint

import (
	"path"
	"path/filepath"
	"strings"

	"sallyport/settings"
)

// claude is one Claude Code settings file, or the merge of several.
type claude struct {
	run   *run
	root  *value
	file  *file
	rules []permission // of this file, in file order, by list: deny, ask, allow
	// others are the rules of the other scopes.
	others []permission
	// sandboxOn is what the session gets; of one file, what the file says.
	sandboxOn bool
	// stops remembers the commands that a deny or ask rule decides.
	stops map[string]bool
	// normals remembers paths: the forbidden ones are compared with every entry.
	normals map[string]string
}

// claudeShapes are the keys that the checks look at.
var claudeShapes = []shape{
	{"sandbox", "object"},
	{"sandbox.enabled", "boolean"},
	{"sandbox.failIfUnavailable", "boolean"},
	{"sandbox.allowUnsandboxedCommands", "boolean"},
	{"sandbox.enableWeakerNestedSandbox", "boolean"},
	{"sandbox.enableWeakerNetworkIsolation", "boolean"},
	{"sandbox.excludedCommands", "strings"},
	{"sandbox.filesystem", "object"},
	{"sandbox.filesystem.disabled", "boolean"},
	{"sandbox.filesystem.denyRead", "strings"},
	{"sandbox.filesystem.allowRead", "strings"},
	{"sandbox.filesystem.allowWrite", "strings"},
	{"sandbox.filesystem.denyWrite", "strings"},
	{"sandbox.filesystem.allowManagedReadPathsOnly", "boolean"},
	{"sandbox.network", "object"},
	{"sandbox.network.allowedDomains", "strings"},
	{"sandbox.network.deniedDomains", "strings"},
	{"sandbox.network.allowUnixSockets", "strings"},
	{"sandbox.network.allowAllUnixSockets", "boolean"},
	{"sandbox.network.strictAllowlist", "boolean"},
	{"sandbox.network.tlsTerminate", "object"},
	{"sandbox.network.allowManagedDomainsOnly", "boolean"},
	{"sandbox.credentials", "object"},
	{"sandbox.credentials.envVars", "objects"},
	{"permissions", "object"},
	{"permissions.allow", "strings"},
	{"permissions.ask", "strings"},
	{"permissions.deny", "strings"},
	{"permissions.defaultMode", "string"},
	{"permissions.additionalDirectories", "strings"},
	{"allowManagedPermissionRulesOnly", "boolean"},
}

// Claude checks a settings file, by itself and against its baseline. Without a
// baseline it reports that there is none, unless baseline is false.
func Claude(cfg Config, settingsFile, expected string, baseline bool) *Report {
	r := newRun(cfg, "claude")
	subject, ok := r.claude(settingsFile, nil)
	if ok {
		apply(r, sandboxRules, subject, nil)
		apply(r, permissionRules, subject, nil)
	}
	if !baseline {
		return r.done()
	}
	if expected == "" {
		if expected = r.findBaseline(); expected == "" {
			r.in("BL205", settingsFile, "no baseline found: neither "+strings.Join(baselineFiles, " nor "), "")
			return r.done()
		}
	}
	unsafe := func(f *Finding) {
		f.Baseline = true
		f.Message += " (baseline " + expected + " is itself unsafe)"
	}
	want, wantOK := r.claude(expected, unsafe)
	if wantOK {
		apply(r, sandboxRules, want, unsafe)
	}
	if ok && wantOK {
		r.parity(subject.root, want.root)
	}
	return r.done()
}

// RulesOnly checks the permission rules of files that are scopes of one
// session, the strongest first.
func RulesOnly(cfg Config, files []string) *Report {
	r := newRun(cfg, "rules")
	var subjects []*claude
	for _, name := range files {
		if subject, ok := r.claude(name, nil); ok {
			subjects = append(subjects, subject)
		}
	}
	r.permissions(subjects)
	return r.done()
}

// permissions checks the rules of each file with those of the others in mind.
func (r *run) permissions(subjects []*claude) {
	for i, s := range subjects {
		for j, other := range subjects {
			if i != j {
				s.others = append(s.others, other.rules...)
			}
		}
		apply(r, permissionRules, s, nil)
	}
}

// claude reads and parses one settings file.
func (r *run) claude(name string, adjust func(*Finding)) (*claude, bool) {
	f, ok := r.load(name)
	if !ok {
		return nil, false
	}
	f.scope, f.scoped = r.guessScope(name), false
	root, ok := r.json(f, false)
	if !ok {
		return nil, false
	}
	r.shapes(root, claudeShapes, adjust)
	r.credentialShapes(root, adjust)
	return r.subject(root, f, r.cfg.Dir), true
}

func (r *run) credentialShapes(root *value, adjust func(*Finding)) {
	report := reporter{r, r.rules["P005"], adjust}
	for _, v := range root.get("sandbox", "credentials", "envVars").children() {
		for _, name := range []string{"name", "mode"} {
			if member := v.get(name); member != nil {
				report.shape(member, "string")
			}
		}
	}
}

func (r *run) subject(root *value, f *file, dir string) *claude {
	c := &claude{run: r, root: root, file: f}
	c.sandboxOn = root.get("sandbox", "enabled").isTrue()
	for _, list := range []string{"deny", "ask", "allow"} {
		for _, v := range root.get("permissions", list).strings() {
			c.rules = append(c.rules, parsePermission(v, list, r.anchorsOf(v.file, dir)))
		}
	}
	return c
}

// anchorsOf knows where the patterns of a file's rules start.
func (r *run) anchorsOf(f *file, dir string) anchors {
	a := anchors{home: r.cfg.Home, source: "?" + f.name, start: "?"}
	if dir != "" {
		a.start = dir
		switch f.scope {
		case settings.Project, settings.Local:
			a.source = dir
		case settings.User:
			a.source = path.Join(r.cfg.Home, ".claude")
		}
	}
	return a
}

// guessScope tells a file's scope by its place: a settings file that stands
// nowhere in particular is read as a project's.
func (r *run) guessScope(name string) settings.Scope {
	abs := r.resolve(name)
	base, dir := filepath.Base(abs), filepath.Dir(abs)
	userDir := r.cfg.Getenv("CLAUDE_CONFIG_DIR")
	if userDir == "" && r.cfg.Home != "" {
		userDir = filepath.Join(r.cfg.Home, ".claude")
	}
	switch {
	case base == "managed-settings.json", filepath.Base(dir) == "managed-settings.d":
		return settings.Managed
	case base == "settings.local.json":
		return settings.Local
	case base == "settings.json" && userDir != "" && dir == filepath.Clean(userDir):
		return settings.User
	}
	return settings.Project
}

func (c *claude) list(name string) (out []*permission) {
	for i := range c.rules {
		if c.rules[i].list == name {
			out = append(out, &c.rules[i])
		}
	}
	return out
}

// ofAllScopes are the rules of one list, of this file and of the others.
func (c *claude) ofAllScopes(name string) []*permission {
	out := c.list(name)
	for i := range c.others {
		if c.others[i].list == name {
			out = append(out, &c.others[i])
		}
	}
	return out
}

// normal is a path as invariants compare it.
func (c *claude) normal(p string) string {
	if n, ok := c.normals[p]; ok {
		return n
	}
	if c.normals == nil {
		c.normals = make(map[string]string)
	}
	n := c.normalize(p)
	c.normals[p] = n
	return n
}

func (c *claude) normalize(p string) string {
	n := normalPath(p, c.run.cfg.Home)
	if c.run.cfg.Platform == "macos" {
		n = normalPath(strings.ToLower(n), strings.ToLower(c.run.cfg.Home))
	}
	return n
}

// place is the normal path of an entry of a sandbox list. Relative ones start at
// ~/.claude in a user settings file.
func (c *claude) place(e *value) string {
	if text := e.text; e.file.scope == settings.User && text != "" && strings.IndexByte("/~$", text[0]) < 0 {
		return c.normal("~/.claude/" + text)
	}
	return c.normal(e.text)
}

// unknownHome stands for a home directory that is not known: "~/.." is above
// it, whatever it is.
const unknownHome = "/\x00/\x00"

func normalPath(p, home string) string {
	if home = strings.TrimRight(path.Clean("/"+home), "/"); home == "" {
		home = unknownHome
	}
	for _, variable := range []string{"$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(p, variable); ok && (rest == "" || rest[0] == '/') {
			p = "~" + rest
		}
	}
	if p == "~" || strings.HasPrefix(p, "~/") {
		p = home + p[1:]
	}
	for trimmed := ""; ; p = trimmed {
		trimmed = strings.TrimRight(p, "/")
		trimmed = strings.TrimSuffix(strings.TrimSuffix(trimmed, "/**"), "/*")
		if trimmed == p {
			break
		}
		if trimmed == "" {
			p = "/"
			break
		}
	}
	if p == "" {
		return ""
	}
	p = path.Clean(p)
	if strings.HasPrefix(p, "//") {
		p = p[1:]
	}
	switch {
	case p == home:
		return "~"
	case strings.HasPrefix(p, home+"/"):
		return "~" + p[len(home):]
	}
	return p
}

// aboveHome reports a directory that home lies in.
func (c *claude) aboveHome(normal string) bool {
	home := c.run.cfg.Home
	if home == "" {
		switch normal {
		case "/home", "/Users", "/users", "/root", path.Dir(unknownHome):
			return true
		}
		return normal == "/"
	}
	home = path.Clean(home)
	if c.run.cfg.Platform == "macos" {
		home = strings.ToLower(home)
	}
	return normal == "/" || strings.HasPrefix(home, normal+"/")
}

// hit is the first of the forbidden paths that an entry names, or matches with
// a glob; empty if there is none.
func (c *claude) hit(entry *value, forbidden []string) string {
	normal := c.place(entry)
	if normal == "" {
		return ""
	}
	if c.aboveHome(normal) {
		return "the home directory, which lies below it"
	}
	for _, f := range forbidden {
		if c.normal(f) == normal {
			return f
		}
	}
	if strings.ContainsAny(normal, "*?[") && (normal[0] == '/' || normal[0] == '~') {
		glob := c.absolute(normal)
		for _, f := range append(forbidden[:len(forbidden):len(forbidden)], "~") {
			if globMatches(glob, c.absolute(c.normal(f))) {
				return f
			}
		}
		for dir := path.Dir(c.absolute("~")); dir != "/"; dir = path.Dir(dir) {
			if globMatches(glob, dir) {
				return "the home directory, which lies below what it matches"
			}
		}
	}
	return ""
}

// absolute undoes the abbreviation of home.
func (c *claude) absolute(normal string) string {
	if rest, ok := strings.CutPrefix(normal, "~"); ok {
		home := c.run.cfg.Home
		if home == "" {
			home = unknownHome
		}
		if c.run.cfg.Platform == "macos" {
			home = strings.ToLower(home)
		}
		return path.Clean(home + rest)
	}
	return normal
}

// globMatches reports that a glob of the sandbox's lists matches a path.
func globMatches(glob, name string) bool {
	g, n := strings.Split(glob, "/"), strings.Split(name, "/")
	if len(g) > 256 {
		return false
	}
	// reach[j]: the parts of g so far match n[:j]
	reach := make([]bool, len(n)+1)
	reach[0] = true
	for _, part := range g {
		next := make([]bool, len(n)+1)
		open := false
		for j := range next {
			open = open || reach[j]
			switch {
			case part == "**":
				next[j] = open
			case j > 0 && reach[j-1]:
				ok, err := path.Match(part, n[j-1])
				next[j] = ok && err == nil
			}
		}
		reach = next
	}
	return reach[len(n)]
}
