package guards

import (
	"path"
	"slices"
	"strings"

	"sallyport/internal/shellcmd"
)

// SelfProtect refuses changes to the configuration that governs the agent.
var SelfProtect = Guard{
	Name:  "self-protect",
	Title: "changes to the agent's own settings, hooks and guards",
	Doc: Doc{
		What:    "Writing, moving, deleting or changing the mode of the files that bind the agent: .claude/settings*.json and .claude/hooks, the client's directory in the home but for what the client keeps there for a session, the managed settings, the same files of other clients, this product's configuration and programs, and installed git hooks; git config of core.hooksPath. By redirection, tee, cp, mv, rm, ln, sed -i, chmod, dd, git and the like, by an archive or a patch whose files are named, through a link that the line makes or a mount of a container, by a short program in another language, by agent-guard trust, by the checks' own uninstall commands, and by the client's own Write and Edit tools where the hook is wired for them.",
		Why:     "An agent that edits its own rules has none.",
		Instead: "Tell the person which setting should change and why, and let them change it.",
		Limits:  "A new git hook where none was may be installed. Reading is never stopped. A program that computes the name of the file is not seen.",
	},
	Default: Deny,
	Examples: []Example{
		{Command: "echo '{}' > .claude/settings.json", Verdict: Deny, Why: "the project's settings"},
		{Command: "sed -i s/deny/allow/ .claude/settings.local.json", Verdict: Deny, Why: "in place"},
		{Command: "jq '.hooks={}' ~/.claude/settings.json > /tmp/s && mv /tmp/s ~/.claude/settings.json", Verdict: Deny, Why: "by way of a temporary file"},
		{Command: "cp evil.json ~/.claude/", Verdict: Deny, Why: "into the client's directory"},
		{Command: "rm -rf ~/.claude", Verdict: Deny, Why: "all of it"},
		{Command: "tee ~/.config/sallyport/guard.toml < /dev/null", Verdict: Deny, Why: "the guards' own configuration"},
		{Command: "git config --global core.hooksPath /dev/null", Verdict: Deny, Why: "no hooks for any repository"},
		{Command: "chmod -x .git/hooks/pre-commit", Verdict: Deny, Why: "the hook does not run any more"},
		{Command: "python3 -c \"open('.claude/settings.json','w').write('{}')\"", Verdict: Deny, Why: "another language"},
		{Command: "yes | agent-guard trust --yes", Verdict: Deny, Why: "trust is a person's word"},
		{Command: "agent-guard trust --show", Why: "looks only"},
		{Command: "cat .claude/settings.json", Why: "reads"},
		{Command: "cp ~/.claude/settings.json /tmp/copy.json", Why: "a copy elsewhere"},
		{Command: "echo note > ~/.claude/plans/today.md", Why: "the client keeps plans there"},
		{Command: "git config --get core.hooksPath", Why: "reads"},
		{Command: "git config user.name Dev", Why: "another key"},
		{Command: "echo 'edit .claude/settings.json by hand' >> README.md", Why: "only the name"},
		{Command: "mkdir -p src/.claude-notes && touch src/.claude-notes/settings.json.md", Why: "another directory"},
	},
	Check:      checkSelfProtect,
	CheckWrite: checkSelfWrite,
}

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

// homeFiles stand only in a home directory.
var homeFiles = []string{".claude/", ".claude.json", ".config/sallyport/", ".local/state/sallyport/"}

// machineFiles are absolute.
var machineFiles = []string{
	"/etc/claude-code/", "/Library/Application Support/ClaudeCode/", "C:/ProgramData/ClaudeCode/", "C:/Program Files/ClaudeCode/",
	"/etc/codex/", "/etc/gemini-cli/", "/Library/Application Support/Cursor/", "/etc/cursor/",
}

// programs are the product's own binaries, and the links to them.
var programs = []string{
	"agent-guard", "agent-guard-starlark", "bypass-warn", "error-hint", "status-line", "status-line-configure",
	"agent-iso", "claude-iso", "codex-iso", "opencode-iso", "kiro-iso", "gemini-iso", "copilot-iso",
	"agent-setup", "add-project-root", "sandbox-lint", "agent-policy", "git-hook",
}

// protected says why a path must not be changed; empty if it may. tree is set
// when everything below it changes too.
func (r *run) protected(p string, tree bool) string {
	if p == "" {
		return ""
	}
	key := protectedPath{p, tree}
	why, seen := r.protects[key]
	if seen {
		return why
	}
	why = r.protectedName(p, tree)
	if real := clean(r.world.Resolve(p)); why == "" && real != p {
		why = r.protectedName(real, tree)
	}
	if r.protects == nil {
		r.protects = map[protectedPath]string{}
	}
	if len(p) < 1000 && len(r.protects) < 4096 {
		r.protects[key] = why
	}
	return why
}

func (r *run) protectedName(p string, tree bool) string {
	low := strings.ToLower(p)
	if strings.Contains(low, "/.") || strings.HasPrefix(low, ".") || strings.Contains(low, "opencode") {
		for _, f := range clientFiles {
			if hasTail(low, f) {
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
	if tree {
		for _, dir := range [...]string{".claude", ".sallyport", ".codex", ".gemini", ".cursor", ".qwen", ".opencode", ".kiro", ".copilot"} {
			if base(low) == dir {
				return "it holds the configuration that binds the agent"
			}
		}
	}
	return ""
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

func checkSelfProtect(c *Call) []Finding {
	const fix = "Tell the person what should change and let them change it"
	switch {
	case c.Remote:
		return nil
	case c.Container:
		return c.throughMount(fix)
	}
	if c.Git != nil {
		if f := hooksPathConfig(c); f != nil {
			return f
		}
	}
	for _, t := range c.targets() {
		if why, name := c.guarded(t); why != "" {
			return []Finding{{
				Found: Quote(t.how+" "+name) + " changes " + Quote(base(name)),
				Why:   why,
				Fix:   fix,
				Words: []string{t.how, name},
			}}
		}
	}
	if c.Name() == "find" && deletesFound(c) {
		if f := foundAndDeleted(c, fix); f != nil {
			return f
		}
	}
	if f := trustsRepository(c, fix); f != nil {
		return f
	}
	if f := takesAway(c, fix); f != nil {
		return f
	}
	if f := hooksPathText(c, fix); f != nil {
		return f
	}
	return inlineWrite(c, fix)
}

// foundAndDeleted looks at a find with -delete: the names that it looks for, and
// where it looks if the guard against loss has nothing to say.
func foundAndDeleted(c *Call, fix string) []Finding {
	var roots []shellcmd.Word
	for _, w := range c.Args[1:] {
		if strings.HasPrefix(w.Value, "-") {
			break
		}
		roots = append(roots, w)
	}
	switch {
	case namesProtected(c):
		return []Finding{{Found: Quote("find") + " that deletes the agent's settings by their name", Why: "they bind the agent", Fix: fix, Words: []string{"-delete"}}}
	case len(find(c)) > 0:
		return nil
	}
	for _, w := range roots {
		if p, ok := c.Path(tildeless(c, w)); ok {
			if why := c.run.protected(p, true); why != "" {
				return []Finding{{Found: Quote("find "+w.String()) + " with -delete", Why: why, Fix: fix, Words: []string{w.String()}}}
			}
		}
	}
	return nil
}

// trustsRepository finds the command with which a person lets a repository add
// guards or loosen them. Looking and revoking change nothing for the worse.
func trustsRepository(c *Call, fix string) []Finding {
	if c.Name() != "agent-guard" {
		return nil
	}
	for i := 1; i < len(c.Args); i++ {
		switch w := c.Args[i].Value; w {
		case "--harness", "--guards", "--examples", "--dir":
			i++
		case "--check", "--exec", "--show", "--revoke", "--help", "-h":
			return nil
		case "trust":
			for _, later := range c.Args[i:] {
				switch later.Value {
				case "--show", "--revoke", "--help", "-h":
					return nil
				}
			}
			return []Finding{{
				Found: Quote("agent-guard trust"), Why: "it lets a repository's files judge and loosen, which is a person's word to give",
				Fix: fix, Words: []string{"agent-guard", "trust"},
			}}
		default:
			if !strings.HasPrefix(w, "-") {
				return nil
			}
		}
	}
	return nil
}

// throughMount looks at what a command in a container changes of the host.
func (c *Call) throughMount(fix string) []Finding {
	for _, t := range c.targets() {
		p, ok := c.Path(tildeless(c, *t.word))
		if !ok {
			continue
		}
		host, outer, ok := c.hostPath(p)
		if !ok {
			continue
		}
		abs, ok := outer.Path(tildeless(outer, shellcmd.NewWord(host)))
		if !ok {
			continue
		}
		if why := c.run.protected(abs, t.tree || t.effect == moves || t.effect == deletes); why != "" {
			return []Finding{{Found: Quote(t.how+" "+t.word.String()) + " changes " + Quote(host) + " through a mount", Why: why, Fix: fix, Words: []string{t.how, t.word.String()}}}
		}
	}
	return nil
}

// takesAway finds commands by which the checks uninstall themselves.
func takesAway(c *Call, fix string) []Finding {
	words := make([]string, 0, 4)
	for _, w := range c.Args[1:] {
		if s := w.Value; s == "--uninstall" || s != "" && s[0] != '-' {
			words = append(words, s)
		} else if s == "--help" || s == "-h" {
			return nil
		}
	}
	at := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	what := ""
	switch name := c.Name(); name {
	case "agent-setup", "pre-commit", "prek", "lefthook", "husky":
		if at(0) == "uninstall" {
			what = name + " uninstall"
		}
	case "overcommit":
		if at(0) == "--uninstall" {
			what = name + " --uninstall"
		}
	case "claude":
		if verb := at(1); (at(0) == "plugin" || at(0) == "plugins") && (verb == "uninstall" || verb == "remove" || verb == "rm" || verb == "disable") && strings.HasPrefix(at(2), "agent-guard") {
			what = "claude plugin " + verb
		}
	}
	if what == "" {
		return nil
	}
	return []Finding{{Found: Quote(what), Why: "it takes the checks away", Fix: fix, Words: strings.Fields(what)}}
}

// hooksPathText finds core.hooksPath in text that is written into a file of
// git's configuration.
func hooksPathText(c *Call, fix string) []Finding {
	for _, t := range c.targets() {
		if t.effect != writes {
			continue
		}
		p := strings.ToLower(slashed(tildeless(c, *t.word)))
		if b := base(p); b != ".gitconfig" && !strings.HasSuffix(p, ".git/config") && !strings.HasSuffix(p, "git/config") && b != "gitconfig" {
			continue
		}
		texts := append(Words(c.Command), c.Stdin.Value)
		for _, text := range texts {
			if strings.Contains(strings.ToLower(text), "hookspath") {
				return []Finding{{Found: Quote("hooksPath") + " written into " + Quote(t.word.String()), Why: "every later commit would go without the checks", Fix: fix, Words: []string{"hooksPath", t.word.String()}}}
			}
		}
	}
	return nil
}

// namesProtected reports a pattern of find that can only mean protected files.
func namesProtected(c *Call) bool {
	for i, w := range c.Args[:len(c.Args)-1] {
		switch w.Value {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex":
			p := strings.ToLower(c.Args[i+1].Value)
			for _, part := range [...]string{".claude", "settings.local.json", "sallyport"} {
				if strings.Contains(p, part) && (i == 0 || c.Args[i-1].Value != "!" && c.Args[i-1].Value != "-not") {
					return true
				}
			}
		}
	}
	return false
}

func deletesFound(c *Call) bool {
	for _, w := range c.Args {
		if w.Value == "-delete" {
			return true
		}
	}
	return false
}

func tildeless(c *Call, w shellcmd.Word) string {
	text, _, unsure := c.spelled(w)
	if unsure {
		return ""
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok && c.home() != "" {
		return c.home() + "/" + rest
	}
	if text == "~" {
		return c.home()
	}
	return text
}

// guarded says why a target must not be changed, with its name.
func (c *Call) guarded(t target) (why, name string) {
	w := *t.word
	text := tildeless(c, w)
	if t.path != w.Value {
		// A file below the named directory.
		text = strings.TrimRight(text, "/") + t.path[len(strings.TrimRight(w.Value, "/")):]
	}
	if text == "" {
		return c.listed(w, t)
	}
	if w.Glob {
		return c.guardedGlob(text, t)
	}
	p, ok := c.Path(text)
	if !ok {
		p = clean(text) // the directory is not known; the name may tell
	}
	whole := t.tree || t.effect == moves || t.effect == deletes && t.how == "rm"
	// What is copied, moved or linked to a name that is not there yet makes the
	// whole directory.
	whole = whole || t.effect == writes && t.path == w.Value && (c.replacesLink(t) || (t.how == "cp" || t.how == "mv" || t.how == "ln") && !c.run.world.Stat(p).Exists)
	// "dir/" as a source stands for what is in it.
	whole = whole || t.how == "rsync" && c.namesContents(w)
	if t.effect == moves || t.effect == deletes && whole {
		// What holds the product's own files goes with them.
		low := strings.ToLower(p)
		for _, h := range c.run.protectedPlaces().homes {
			if low != h.dir && within(h.config, low) && within(low, h.dir) {
				return "it holds this product's own configuration", text
			}
		}
	}
	if why := c.run.protected(p, whole); why != "" {
		if (t.effect == writes && !t.tree && t.how != ">" && !c.replacesLink(t) && c.run.world.Stat(p).Dir) && base(p) == ".claude" && !hasTail(strings.ToLower(p), ".claude/settings.json") {
			return "", "" // into the directory: the name of the file decides
		}
		return why, text
	}
	if why := c.gitHook(p, t); why != "" {
		return why, text
	}
	if real, ok := c.linkedOnLine(p); ok {
		if why := c.run.protected(real, t.tree || t.effect == moves || t.effect == deletes); why != "" {
			return why, text
		}
	}
	return "", ""
}

// namesContents reports that a word other than w ends with a slash.
func (c *Call) namesContents(w shellcmd.Word) bool {
	if c.contents == nil {
		c.contents = []int{}
		for _, a := range c.Args[1:] {
			if strings.HasSuffix(a.Value, "/") && (len(c.contents) == 0 || c.contents[0] != a.Pos) {
				if c.contents = append(c.contents, a.Pos); len(c.contents) == 2 {
					break
				}
			}
		}
	}
	return slices.ContainsFunc(c.contents, func(pos int) bool { return pos != w.Pos })
}

// listed looks at names that a listing of the line hands on, as in
// ls FILE | xargs rm.
func (c *Call) listed(w shellcmd.Word, t target) (why, name string) {
	for _, from := range w.From() {
		switch {
		case from == nil:
			continue
		case from.Name() == "ls", from.Name() == "realpath", from.Name() == "readlink":
		default:
			continue
		}
		other := &Call{Command: from, run: c.run, Index: c.Index, name: from.Name()}
		other.Place = c.run.place(other)
		for _, operand := range other.parse("IwT").operands {
			p, ok := other.Path(tildeless(other, operand))
			if !ok {
				continue
			}
			if why := c.run.protected(p, t.tree); why != "" {
				return why, operand.String()
			}
		}
	}
	return "", ""
}

// linkedOnLine is where a path leads by a symbolic link that an earlier command
// of the line makes.
func (c *Call) linkedOnLine(p string) (string, bool) {
	for _, l := range c.run.lineLinks() {
		if l.at < c.Index && within(p, l.link) {
			return clean(l.to + strings.TrimPrefix(p, l.link)), true
		}
	}
	return "", false
}

// A lineLink is a symbolic link that a command of the line makes.
type lineLink struct {
	link, to string // absolute
	at       int    // Index of the command
}

// maxLinks bounds the links of a line that are followed.
const maxLinks = 64

func (r *run) lineLinks() []lineLink {
	if r.linked {
		return r.links
	}
	r.linked = true
	for _, e := range r.calls {
		if e.name != "ln" || len(r.links) >= maxLinks {
			continue
		}
		a := e.parse("tS", "target-directory", "suffix")
		if len(a.operands) != 2 || !a.has("s", "symbolic") {
			continue
		}
		link, ok := e.Path(tildeless(e, a.operands[1]))
		to := tildeless(e, a.operands[0])
		if !ok || to == "" {
			continue
		}
		if !isAbs(to) {
			to = join(parent(link), to)
		}
		r.links = append(r.links, lineLink{link, to, e.Index})
	}
	return r.links
}

// guardedGlob looks whether a pattern can match a protected name.
func (c *Call) guardedGlob(text string, t target) (why, name string) {
	dir, pattern := path.Split(text)
	for _, candidate := range [...]string{"settings.json", "settings.local.json", "guard.toml", "hooks", "config.toml", "hooks.json", "pre-commit", "pre-push", "commit-msg"} {
		if ok, err := path.Match(pattern, candidate); err != nil || !ok {
			continue
		}
		p, ok := c.Path(dir + candidate)
		if !ok {
			p = clean(dir + candidate)
		}
		if why := c.run.protected(p, t.tree); why != "" {
			return why, text
		}
		if why := c.gitHook(p, t); why != "" {
			return why, text
		}
	}
	return "", ""
}

// replacesLink reports ln -n and -T, which put a link in the place of a
// directory's name.
func (c *Call) replacesLink(t target) bool {
	return t.how == "ln" && c.parse("tS", "target-directory", "suffix").has("n", "T", "no-dereference", "no-target-directory")
}

// gitHook says why a change to a git hook is one that disables it. A hook that
// is not there yet can be made.
func (c *Call) gitHook(p string, t target) string {
	dir := parent(p)
	hook := base(dir) == "hooks" && (base(parent(dir)) == ".git" || strings.Contains(dir, "/.git/"))
	if !hook && !(base(p) == "hooks" && base(dir) == ".git") {
		return ""
	}
	if t.effect == writes && !c.run.world.Stat(p).Exists {
		return ""
	}
	if t.effect == writes && base(p) == "hooks" {
		return ""
	}
	if strings.HasSuffix(p, ".sample") {
		return ""
	}
	if t.effect == modes {
		// Making a hook executable switches it on.
		for _, w := range c.Args[1:] {
			if strings.Contains(w.Value, "+x") || len(w.Value) >= 3 && strings.Trim(w.Value, "01234567") == "" && strings.ContainsAny(w.Value, "1357") {
				return ""
			}
		}
	}
	return "it is a hook that checks the project's commits"
}

// hooksPathConfig looks at git config of core.hooksPath.
func hooksPathConfig(c *Call) []Finding {
	g := c.Git
	if g.Name != "config" || g.Help {
		return nil
	}
	switch g.Sub {
	case "get", "list":
		return nil
	}
	for _, read := range [...]string{"get", "get-all", "get-regexp", "get-urlmatch", "list", "get-color", "get-colorbool", "edit"} {
		if g.On(read) {
			return nil
		}
	}
	if len(g.Operands) == 0 {
		return nil
	}
	key := strings.ToLower(g.Operands[0].Value)
	section := g.On("remove-section") || g.On("rename-section") || strings.HasSuffix(g.Sub, "-section")
	hooks := key == "core.hookspath" || section && key == "core" || strings.HasPrefix(key, "hook.") && !section
	if !hooks {
		return nil
	}
	writes := len(g.Operands) > 1 || g.On("unset") || g.On("unset-all") || g.Sub == "unset" || g.Sub == "set" || section
	if !writes {
		return nil
	}
	return []Finding{{
		Found: Quote("git config "+g.Operands[0].Value) + " changes which hooks run",
		Why:   "every later commit would go without the checks",
		Fix:   "See what is set with `git config --get core.hooksPath`, and let a person change it",
		Words: []string{g.Operands[0].Value},
	}}
}

// inlineWrite looks at short programs in other languages that name a protected
// file and write.
func inlineWrite(c *Call, fix string) []Finding {
	kind, ok := interpreter(c.Name())
	if !ok || kind == "shell" || len(c.Args) < 2 {
		return nil
	}
	_, inline := scriptWords(c, c.Name())
	texts := []string{}
	for _, w := range inline {
		texts = append(texts, w.Value)
	}
	if c.Stdin.Value != "" {
		texts = append(texts, c.Stdin.Value)
	}
	for _, text := range texts {
		if !writesFile(text) {
			continue
		}
		low := strings.NewReplacer(`', '`, "/", `','`, "/", `", "`, "/", `","`, "/", `' / '`, "/", `" / "`, "/", `'/'`, "/", `"/"`, "/").Replace(strings.ToLower(slashed(text)))
		for _, name := range append(append([]string{}, clientFiles...), ".claude/", ".config/sallyport/") {
			if strings.Contains(low, name) && !strings.HasPrefix(name, "opencode.json") {
				return []Finding{{
					Found: "a program for " + Quote(c.Name()) + " that writes " + Quote(name),
					Why:   "it binds the agent",
					Fix:   fix,
					Words: []string{name},
				}}
			}
		}
	}
	return nil
}

// writesFile reports a call that writes, moves or deletes in the languages of
// [interpreter].
func writesFile(text string) bool {
	for _, call := range [...]string{
		"'w'", `"w"`, "'a'", `"a"`, "'w+'", `"w+"`, "'r+'", `"r+"`, "'wb'", `"wb"`, "write_text", "write_bytes", "writeFile", "appendFile", "createWriteStream",
		".write(", "json.dump(", "os.remove", "os.unlink", "unlink", "shutil.", "os.rename", "os.replace", "rename", "File.write", "File.open", "FileUtils",
		"fs.rm", "copyFile", "truncate", "chmod", "'>", `">`, "file_put_contents", "Deno.write", "Bun.write",
	} {
		if strings.Contains(text, call) {
			return true
		}
	}
	return false
}

func checkSelfWrite(w *Write) []Finding {
	p := w.Path
	if !isAbs(p) {
		p = join(w.run.in.Dir, p)
	}
	why := w.run.protected(clean(p), false)
	if why == "" {
		hook := parent(clean(p))
		if base(hook) == "hooks" && base(parent(hook)) == ".git" && w.run.world.Stat(clean(p)).Exists {
			why = "it is a hook that checks the project's commits"
		}
	}
	if why == "" {
		return nil
	}
	return []Finding{{
		Found: Quote(w.Tool) + " changes " + Quote(w.Path),
		Why:   why,
		Fix:   "Tell the person what should change and let them change it",
		Words: []string{w.Path},
	}}
}

// Programs are the names of the product's own binaries.
func Programs() []string { return append([]string{}, programs...) }
