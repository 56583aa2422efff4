package selftest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"sallyport/hookio"
	"sallyport/internal/childproc"
	"sallyport/internal/dirs"
	"sallyport/internal/tomltext"
	"sallyport/settings"
)

// A Hook is one entry of a client's configuration that starts agent-guard
// before a tool call.
type Hook struct {
	File    string
	Event   string
	Matcher *string // nil: the entry has none
	Command string
	Args    []string // with Direct
	Direct  bool     // started without a shell
	Off     string   // why the client does not start it, empty if nothing says so
	Foreign bool     // it comes with the directory, not from the account
	Only    string   // the rule that a command must match for it to be started

	// Limit is the time that the client gives it, 0 where the entry says none.
	Limit time.Duration
}

// A wiring is what the configuration of one client says.
type wiring struct {
	hooks    []Hook
	problems []string
	harness  string
	looked   []string // the files that could have held a hook
}

// maxFile is the most of a configuration file that is read.
const maxFile = 4 << 20

// A source is a file that may hold hooks. A foreign one comes with the directory
// and not from the account: what it starts is anybody's.
type source struct {
	file    string
	foreign bool
}

// sources are the account's files and then the directory's, each once: in the
// home directory they are the same.
func sources(account, directory []string) []source {
	var all []source
	for _, f := range account {
		all = append(all, source{f, false})
	}
	for _, f := range directory {
		if !slices.Contains(account, f) {
			all = append(all, source{f, true})
		}
	}
	return all
}

// find reads the configuration of a harness for a session started in dir.
func find(harness, dir string, getenv func(string) string) *wiring {
	w := &wiring{harness: harness}
	home := dirs.Home(getenv)
	at := func(variable, place string) string {
		if v := getenv(variable); filepath.IsAbs(v) {
			return v
		}
		return filepath.Join(home, place)
	}
	switch harness {
	case "claude":
		w.claude(dir, getenv)
	case "codex":
		w.codex(at("CODEX_HOME", ".codex"), filepath.Join(dir, ".codex"))
	case "gemini":
		files := sources([]string{filepath.Join(home, ".gemini", "settings.json")}, []string{filepath.Join(dir, ".gemini", "settings.json")})
		for _, f := range files {
			w.grouped(f, "BeforeTool")
		}
		w.geminiOff(files)
	case "qwen":
		files := sources([]string{filepath.Join(home, ".qwen", "settings.json")}, []string{filepath.Join(dir, ".qwen", "settings.json")})
		for _, f := range files {
			w.grouped(f, "PreToolUse")
		}
		w.allOff(files)
	case "copilot":
		user := at("COPILOT_HOME", ".copilot")
		account := append(list(filepath.Join(user, "hooks")), filepath.Join(user, "settings.json"))
		var repository []string
		for _, place := range []string{".github/copilot/settings.json", ".github/copilot/settings.local.json", ".claude/settings.json", ".claude/settings.local.json"} {
			repository = append(repository, filepath.Join(dir, filepath.FromSlash(place)))
		}
		w.looked = append(w.looked, filepath.Join(user, "hooks", "*.json"))
		for _, f := range sources(account, append(list(filepath.Join(dir, ".github", "hooks")), repository...)) {
			w.flat(f, "preToolUse", "PreToolUse")
		}
		w.allOff(sources(nil, repository))
	case "cursor":
		for _, f := range sources([]string{filepath.Join(home, ".cursor", "hooks.json")}, []string{filepath.Join(dir, ".cursor", "hooks.json")}) {
			w.flat(f, "beforeShellExecution", "preToolUse")
		}
	case "kiro":
		for _, base := range sources([]string{at("KIRO_HOME", ".kiro")}, []string{filepath.Join(dir, ".kiro")}) {
			w.looked = append(w.looked, filepath.Join(base.file, "agents", "*.json"), filepath.Join(base.file, "hooks", "*.json"))
			for _, f := range list(filepath.Join(base.file, "agents")) {
				w.flat(source{f, base.foreign}, "preToolUse")
			}
			for _, f := range list(filepath.Join(base.file, "hooks")) {
				w.kiro(source{f, base.foreign})
			}
		}
	}
	return w
}

// list returns the JSON files of a directory.
func list(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "*.json"))
	return files
}

// escapeGlob quotes what a directory's own name may hold of a pattern.
func escapeGlob(dir string) string {
	if filepath.Separator == '\\' {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// read is a configuration file, nil if there is none.
func (w *wiring) read(file string) []byte {
	f, err := os.Open(file)
	if err == nil {
		defer f.Close()
		info, statErr := f.Stat()
		switch {
		case statErr != nil:
			err = statErr
		case !info.Mode().IsRegular():
			err = errors.New("not a regular file")
		case info.Size() > maxFile:
			err = errors.New("larger than 4 MiB")
		default:
			data, readErr := os.ReadFile(file)
			if readErr == nil {
				return data
			}
			err = readErr
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		w.problems = append(w.problems, fmt.Sprintf("%s cannot be read: %v", file, err))
	}
	return nil
}

// document is a configuration file as JSON; absent without one.
func (w *wiring) document(file string) settings.Node {
	data := w.read(file)
	if data == nil {
		return settings.Node{}
	}
	doc, err := settings.ParseDocument(data)
	if err != nil {
		w.problems = append(w.problems, fmt.Sprintf("%s is not valid JSON (%v); hooks in it do not run", file, err))
		return settings.Node{}
	}
	return doc.Root()
}

// guard reports a hook's command that starts agent-guard.
func guard(command string) bool {
	for _, word := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n\"'/\\;|&()", r) }) {
		if word == "agent-guard" || word == "agent-guard.exe" {
			return true
		}
	}
	return false
}

func str(n settings.Node) string {
	s, _ := n.Text()
	return s
}

func matcher(n settings.Node) *string {
	s, ok := n.Get("matcher").Text()
	if !ok {
		return nil
	}
	return &s
}

// add notes an entry if it starts agent-guard, and reports whether it did.
func (w *wiring) add(from source, event string, match *string, entry settings.Node) bool {
	h := Hook{File: from.file, Foreign: from.foreign, Event: event, Matcher: match, Command: str(entry.Get("command"))}
	if h.Command == "" {
		h.Command = str(entry.Get("bash"))
	}
	if args := entry.Get("args"); args.Kind() == settings.Array {
		h.Direct = true
		args.Each(func(_ string, v settings.Node) bool {
			h.Args = append(h.Args, str(v))
			return true
		})
	}
	if !guard(h.Command) {
		return false
	}
	h.Limit = w.limit(entry)
	h.Only = str(entry.Get("if"))
	async, _ := entry.Get("async").Bool()
	rewake, _ := entry.Get("asyncRewake").Bool()
	if async || rewake {
		h.Off = "it is async, so its answer comes after the command"
	}
	w.hooks = append(w.hooks, h)
	return true
}

// groups reads event → groups with a matcher → hooks.
func (w *wiring) groups(from source, event string, list settings.Node) {
	list.Each(func(_ string, group settings.Node) bool {
		group.Get("hooks").Each(func(_ string, entry settings.Node) bool {
			w.add(from, event, matcher(group), entry)
			return true
		})
		return true
	})
}

// limit is the time limit of an entry, in the unit of its client; 0 without one.
func (w *wiring) limit(entry settings.Node) time.Duration {
	for _, l := range [...]struct {
		key  string
		unit time.Duration
	}{{"timeout", time.Second}, {"timeoutSec", time.Second}, {"timeout_ms", time.Millisecond}} {
		n, ok := entry.Get(l.key).Int()
		if !ok || n <= 0 || n > int64(24*time.Hour/l.unit) {
			continue
		}
		if l.key == "timeout" && (w.harness == "gemini" || w.harness == "qwen") {
			l.unit = time.Millisecond
		}
		return time.Duration(n) * l.unit
	}
	return 0
}

func (w *wiring) grouped(from source, event string) {
	w.looked = append(w.looked, from.file)
	w.groups(from, event, w.document(from.file).Get("hooks", event))
}

// flat reads event → hooks, each with its own matcher, and Claude's nesting
// beside it.
func (w *wiring) flat(from source, events ...string) {
	w.looked = append(w.looked, from.file)
	hooks := w.document(from.file).Get("hooks")
	for _, event := range events {
		hooks.Get(event).Each(func(_ string, entry settings.Node) bool {
			w.add(from, event, matcher(entry), entry)
			return true
		})
		w.groups(from, event, hooks.Get(event))
	}
}

func (w *wiring) kiro(from source) {
	w.document(from.file).Get("hooks").Each(func(_ string, entry settings.Node) bool {
		if str(entry.Get("trigger")) != "PreToolUse" {
			return true
		}
		if w.add(from, "PreToolUse", matcher(entry), entry.Get("action")) {
			w.hooks[len(w.hooks)-1].Limit = w.limit(entry)
			if on, ok := entry.Get("enabled").Bool(); ok && !on {
				w.hooks[len(w.hooks)-1].Off = "enabled is false"
			}
		}
		return true
	})
}

func (w *wiring) claude(dir string, getenv func(string) string) {
	env := settings.OSEnv(getenv)
	// Inside a session it is that session's own flags that count.
	stack := settings.Load(settings.HookSession(env, "", dir, ""), env)
	for _, f := range stack.Files() {
		if f.Status != settings.NotRead {
			w.looked = append(w.looked, f.Path)
		}
	}
	for _, v := range stack.All("hooks.PreToolUse") {
		own := v.Source.Scope == settings.User || v.Source.Scope == settings.Managed
		w.groups(source{v.Source.Path, !own}, "PreToolUse", v.Value)
	}
	for _, p := range stack.Problems() {
		w.problems = append(w.problems, p.String())
	}
	managed := map[string]bool{}
	for _, f := range stack.Files() {
		managed[f.Path] = managed[f.Path] || f.Scope == settings.Managed
	}
	// Managed hooks stay where somebody else than the administrator says no.
	off := func(why string, all bool) {
		for i := range w.hooks {
			if all || !managed[w.hooks[i].File] {
				w.hooks[i].Off = why
			}
		}
	}
	for _, v := range stack.All("allowManagedHooksOnly") {
		if on, ok := v.Value.Bool(); v.Source.Scope == settings.Managed && (on || !ok) {
			off("allowManagedHooksOnly is set in "+v.Source.Path, false)
		}
	}
	for _, v := range stack.List("strictPluginOnlyCustomization") {
		if v.Value == "hooks" {
			off("strictPluginOnlyCustomization names hooks in "+v.Source.Path, false)
		}
	}
	for _, arg := range stack.Session().Args {
		if arg == "--" {
			break
		}
		if arg == "--bare" || arg == "--safe-mode" {
			off("this session was started with "+arg, arg == "--bare")
		}
	}
	if v := stack.Bool("disableAllHooks"); v.Value {
		off("disableAllHooks is true in "+v.Source.Path, v.Source.Scope == settings.Managed)
	}
}

// allOff notes files whose disableAllHooks turns off the hooks of all.
func (w *wiring) allOff(files []source) {
	for _, f := range files {
		if off, _ := w.quiet(f.file).Get("disableAllHooks").Bool(); off {
			for i := range w.hooks {
				w.hooks[i].Off = "disableAllHooks is true in " + f.file
			}
		}
	}
}

// quiet is document for a file whose problems are known already.
func (w *wiring) quiet(file string) settings.Node {
	known := w.problems
	n := w.document(file)
	w.problems = known
	return n
}

// geminiOff: a project can switch hooks off, all or one by name or command.
func (w *wiring) geminiOff(files []source) {
	insisted, _ := w.quiet(geminiSystem()).Get("hooksConfig", "enabled").Bool()
	for _, f := range files {
		config := w.quiet(f.file).Get("hooksConfig")
		enabled, ok := config.Get("enabled").Bool()
		if insisted {
			ok = false
		}
		for i := range w.hooks {
			h := &w.hooks[i]
			if ok && !enabled {
				h.Off = "hooksConfig.enabled is false in " + f.file
			}
			config.Get("disabled").Each(func(_ string, v settings.Node) bool {
				if name := str(v); name == h.Command || name == "agent-guard" {
					h.Off = fmt.Sprintf("hooksConfig.disabled in %s names it", f.file)
				}
				return true
			})
		}
	}
}

// geminiSystem is the settings file that a project cannot overrule.
func geminiSystem() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/GeminiCli/settings.json"
	case "windows":
		return `C:\ProgramData\gemini-cli\settings.json`
	}
	return "/etc/gemini-cli/settings.json"
}

// codex reads hooks.json of the user and of the project, and what the user's
// config.toml says of their trust. Hooks written in config.toml are not read.
func (w *wiring) codex(user, project string) {
	config := filepath.Join(user, "config.toml")
	var c struct {
		Features struct{ Hooks *bool }
		Hooks    struct {
			State map[string]struct {
				TrustedHash string `toml:"trusted_hash"`
				Enabled     *bool
			}
		}
	}
	if data := w.read(config); data != nil {
		if err := tomltext.Check(config, data); err != nil {
			w.problems = append(w.problems, err.Error())
		} else if err := toml.Unmarshal(data, &c); err != nil {
			w.problems = append(w.problems, fmt.Sprintf("%s: %v", config, err))
		}
	}
	for _, from := range sources([]string{filepath.Join(user, "hooks.json")}, []string{filepath.Join(project, "hooks.json")}) {
		file := from.file
		w.looked = append(w.looked, file)
		g := -1
		w.document(file).Get("hooks", "PreToolUse").Each(func(_ string, group settings.Node) bool {
			g++
			n := -1
			group.Get("hooks").Each(func(_ string, entry settings.Node) bool {
				n++
				if !w.add(from, "PreToolUse", matcher(group), entry) {
					return true
				}
				h := &w.hooks[len(w.hooks)-1]
				key := fmt.Sprintf("%s:pre_tool_use:%d:%d", file, g, n)
				state, known := c.Hooks.State[key]
				switch hash := codexHash(matcher(group), entry); {
				case c.Features.Hooks != nil && !*c.Features.Hooks:
					h.Off = "hooks is false under [features] in " + config
				case known && state.Enabled != nil && !*state.Enabled:
					h.Off = fmt.Sprintf("enabled is false under [hooks.state.%q] in %s", key, config)
				case !known || state.TrustedHash == "":
					h.Off = fmt.Sprintf("not trusted: start codex and accept it, or add to %s\n[hooks.state.%q]\ntrusted_hash = %q", config, key, hash)
				case state.TrustedHash != hash:
					h.Off = fmt.Sprintf("changed since it was trusted: start codex and accept it again, or set under [hooks.state.%q] in %s\ntrusted_hash = %q", key, config, hash)
				}
				return true
			})
			return true
		})
	}
}

// codexHash is the hash under which Codex 0.171.0 trusts a command hook before
// tool calls: SHA-256 of its definition as compact JSON with sorted keys.
func codexHash(match *string, entry settings.Node) string {
	hook := map[string]any{"type": "command", "command": str(entry.Get("command")), "async": false, "timeout": int64(600)}
	if n, ok := entry.Get("timeout").Int(); ok {
		hook["timeout"] = n
	}
	if b, ok := entry.Get("async").Bool(); ok {
		hook["async"] = b
	}
	if s, ok := entry.Get("statusMessage").Text(); ok {
		hook["statusMessage"] = s
	}
	identity := map[string]any{"event_name": "pre_tool_use", "hooks": []any{hook}}
	if match != nil {
		identity["matcher"] = *match
	}
	var b strings.Builder
	enc := json.NewEncoder(&b) // sorts the keys of a map
	enc.SetEscapeHTML(false)
	if enc.Encode(identity) != nil {
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.TrimSuffix(b.String(), "\n"))))
}

// plugins are the places from which OpenCode loads plugins by itself.
func plugins(dir string, getenv func(string) string) []source {
	home := dirs.Home(getenv)
	config := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	bases := sources([]string{filepath.Join(config, "opencode"), filepath.Join(home, ".opencode")}, []string{filepath.Join(dir, ".opencode")})
	if v := getenv("OPENCODE_CONFIG_DIR"); filepath.IsAbs(v) {
		bases = append(bases, source{v, false})
	}
	var places []source
	for _, b := range bases {
		for _, name := range [...]string{"plugin", "plugins"} {
			places = append(places, source{filepath.Join(b.file, name, "agent-guard.js"), b.foreign})
		}
	}
	return places
}

// ours reports a command that starts this very program as a hook and nothing
// else, so that it can be started whoever wrote it.
func (h *Hook) ours(self, home string, getenv func(string) string) bool {
	words := h.Args
	program := h.Command
	if !h.Direct {
		fields := strings.Fields(h.Command)
		if len(fields) == 0 || strings.ContainsAny(h.Command, "\r\n") {
			return false
		}
		program, words = fields[0], fields[1:]
	}
	for _, prefix := range [...]string{"~/", "$HOME/"} {
		if rest, ok := strings.CutPrefix(program, prefix); ok && !h.Direct {
			program = filepath.Join(home, rest)
		}
	}
	if strings.ContainsAny(program, "$`\"'\\;|&<>(){}*?[]~#!=") && runtime.GOOS != "windows" {
		return false
	}
	if !strings.ContainsAny(program, `/\`) {
		program, _ = childproc.LookPath(program, getenv)
	}
	a, errA := os.Stat(self)
	b, errB := os.Stat(program)
	if !filepath.IsAbs(program) || errA != nil || errB != nil || !os.SameFile(a, b) {
		return false
	}
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "--opencode", "--kiro", "--unattended":
		case "--harness":
			i++
			if i == len(words) {
				return false
			}
			if _, ok := hookio.Lookup(words[i]); !ok {
				return false
			}
		default:
			return false
		}
	}
	return true
}
