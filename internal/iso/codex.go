package iso

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"sallyport/internal/cli"
	"sallyport/internal/gitdir"
	"sallyport/internal/iso/mode"
	"sallyport/internal/regularfile"
	"sallyport/internal/tomltext"
)

// Codex has two systems of configuration for its sandbox. A flag, a -c
// sandbox_mode or a project's file that uses the older one (sandbox_mode) drops
// a permission profile of the newer one, and with it the paths that the profile
// denies. So a mode must be put on through the system that the person uses, and
// on the command line, which is above every file.

const (
	codexProfile = "E-CODEX-PROFILE"
	codexProject = "E-CODEX-PROJECT"
	codexRules   = "E-CODEX-RULES"
)

// codexRequirements is the administrator's file.
var codexRequirements = "/etc/codex/requirements.toml"

// codexConfig is the person's configuration of Codex and a project's.
type codexConfig struct {
	home    string
	user    map[string]any // the user's file with the one of -p over it
	project []codexFile
	rules   string // a rule file that lets a command out of the sandbox, empty if none
}

type codexFile struct {
	path string
	data map[string]any
}

func (p *Plan) holdCodex(w *cli.Process, args []string, h held) (held, error) {
	childHome := lookup(p.Environment.Vars, "CODEX_HOME")
	if childHome == "" {
		childHome = homePath(w, "~/.codex")
	}
	home := lookup(w.Environ, "CODEX_HOME")
	if home == "" {
		home = childHome
	}
	if err := requirementsAllow(p.mode); err != nil {
		return h, err
	}
	config, err := loadCodex(home, codexDir(w.Dir(), args), args)
	if err != nil {
		return h, err
	}
	own := h
	h, err = p.codexMode(args, h, config)
	if err != nil {
		return h, err
	}
	if absolute(w.Dir(), home) == absolute(w.Dir(), childHome) || !exists(filepath.Join(childHome, "config.toml")) && !exists(filepath.Join(childHome, "rules")) {
		return h, nil
	}
	// CODEX_HOME is not passed on: Codex will read another configuration than
	// the person's, which must not be left looser.
	config, err = loadCodex(childHome, codexDir(w.Dir(), args), args)
	if err == nil {
		var other held
		if other, err = p.codexMode(args, own, config); err == nil && !slices.EqualFunc(other.inject, h.inject, slices.Equal) {
			err = errors.New("it is configured differently")
		}
	}
	if err != nil {
		return h, refuse(codexProfile, "CODEX_HOME is not passed on, so codex would read %s: %w; pass it on with AGENT_ISO_ALLOW=CODEX_HOME", childHome, err)
	}
	return h, nil
}

// codexMode decides what is injected for one configuration.
func (p *Plan) codexMode(args []string, h held, config codexConfig) (held, error) {
	name, isSet := config.user["default_permissions"].(string)
	if _, ok := config.user["default_permissions"]; ok && !isSet {
		return h, refuse(codexProfile, "default_permissions in %s is not a name", config.home)
	}
	custom := isSet && !strings.HasPrefix(name, ":")
	h.inject = nil
	switch {
	case custom:
		if err := config.custom(&h, name, p.mode); err != nil {
			return h, err
		}
	case isSet:
		h.inject = [][]string{{"-c", `default_permissions="` + builtinProfile(p.mode) + `"`}}
	case len(args) > 0 && args[0] == "review":
		// Seen with 0.171.0: review knows -c and no --sandbox.
		h.inject = [][]string{{"-c", `sandbox_mode="` + p.mode.String() + `"`}}
	default:
		h.inject = [][]string{{"--sandbox", p.mode.String()}}
	}
	if err := p.codexArguments(args, &h, custom, name); err != nil {
		return h, err
	}
	for _, file := range config.project {
		if entry := projectGrants(file.data, name, p.mode); entry != "" {
			if p.mode == mode.ReadOnly {
				return h, refuse(codexProject, "%s has %s, which read-only does not allow; remove it", file.path, entry)
			}
			h.caveats = append(h.caveats, "project-profile")
		}
	}
	if config.rules != "" {
		switch {
		case p.mode != mode.ReadOnly:
			h.caveats = append(h.caveats, "rules-allow-escape")
		case len(args) > 0 && (args[0] == "exec" || args[0] == "e"):
			h.inject = append(h.inject, []string{"--ignore-rules"})
			h.caveats = append(h.caveats, "rules-ignored")
		default:
			return h, refuse(codexRules, "an allow rule in %s runs its commands outside the sandbox, also read-only; use codex exec, where the rules can be ignored, or remove the rule", config.rules)
		}
	}
	return h, nil
}

func builtinProfile(m mode.Mode) string {
	if m == mode.ReadOnly {
		return ":read-only"
	}
	return ":workspace"
}

// custom injects for a profile of the person's own, so that what it denies
// stays denied.
func (c codexConfig) custom(h *held, name string, m mode.Mode) error {
	if strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	}) || name == "" {
		return refuse(codexProfile, "the profile's name %q cannot be put on a command line; use letters, digits, _ and -", name)
	}
	h.inject = [][]string{{"-c", `default_permissions="` + name + `"`}}
	profiles, _ := c.user["permissions"].(map[string]any)
	var chain []string
	base, grants := name, false
	for !strings.HasPrefix(base, ":") {
		if slices.Contains(chain, base) {
			return refuse(codexProfile, "profile %s: extends runs in a circle at %s", name, base)
		}
		profile, ok := profiles[base].(map[string]any)
		if !ok {
			return refuse(codexProfile, "profile %s: there is no [permissions.%s] in %s", name, base, c.home)
		}
		chain = append(chain, base)
		for _, entry := range writes(profile["filesystem"]) {
			grants = true
			switch root := entry[0]; {
			case m == mode.ReadOnly:
				return refuse(codexProfile, "profile %s: [permissions.%s.filesystem] %s = \"write\", which read-only does not allow; ask for workspace-write or remove it", name, base, strings.Join(entry, "."))
			case root != ":workspace_roots" && root != ":tmpdir" && root != ":slash_tmp" || slices.ContainsFunc(entry[1:], leaves):
				return refuse(codexProfile, "profile %s: [permissions.%s.filesystem] %s = \"write\" is outside the workspace; remove it", name, base, strings.Join(entry, "."))
			}
		}
		if networkOpen(profile) && !networkProxy(c.user) {
			h.caveats = append(h.caveats, "network-unfiltered")
		}
		switch parent := profile["extends"].(type) {
		case nil:
			base = ":"
		case string:
			base = parent
		default:
			return refuse(codexProfile, "profile %s: extends of [permissions.%s] is not a name", name, base)
		}
	}
	if m == mode.ReadOnly {
		// The last profile of the chain carries what all of them stand on;
		// changing an earlier one would cut off what the later ones deny.
		last := chain[len(chain)-1]
		h.inject = append(h.inject, []string{"-c", "permissions." + last + `.extends=":read-only"`})
		return nil
	}
	switch base {
	case ":workspace":
	case ":read-only":
		if !grants {
			h.mode = mode.ReadOnly
		}
	default:
		return refuse(codexProfile, "profile %s: it extends %s, not :workspace or :read-only", name, orNothing(base))
	}
	return nil
}

func orNothing(base string) string {
	if base == ":" {
		return "nothing"
	}
	return base
}

// codexArguments refuses arguments that loosen the mode or drop the profile,
// and gives way to those that are at least as strict.
func (p *Plan) codexArguments(args []string, h *held, custom bool, profile string) error {
	conflict := func(what, why string) error {
		return refuse("E-CONFLICT", "%s contradicts --sandbox %s for codex%s; leave one of them out", what, p.mode, why)
	}
	for _, o := range p.entry.grammar().options(args) {
		switch o.name {
		case "-s", "--sandbox":
			switch {
			case custom:
				return conflict(o.name+" "+o.value, ", because it drops the profile "+profile+" and what that denies")
			case o.value == p.mode.String():
			case o.value == "read-only":
				h.mode = mode.ReadOnly
			default:
				return conflict(o.name+" "+o.value, "")
			}
			h.inject = nil
		case "-c", "--config":
			key, _, _ := strings.Cut(o.value, "=")
			key, _, _ = strings.Cut(strings.Trim(key, " \t\"'"), ".")
			switch strings.Trim(key, " \t\"'") {
			case "sandbox_mode", "default_permissions", "permissions", "sandbox_workspace_write":
				if !slices.ContainsFunc(h.inject, func(words []string) bool { return words[0] == "-c" && words[1] == o.value }) {
					return conflict(o.name+" "+o.value, "")
				}
			}
		}
	}
	return nil
}

// codexFull reports whether Codex would run without its sandbox, by its
// arguments or else by any of its files.
func codexFull(w *cli.Process, args, env []string) bool {
	const full = "danger-full-access"
	said, answer := false, false
	for _, o := range findCLI(builtin(), "codex").grammar().options(args) {
		switch key, value, _ := strings.Cut(o.value, "="); {
		case o.name == "-s" || o.name == "--sandbox":
			said, answer = true, o.value == full
		case o.name != "-c" && o.name != "--config":
		case strings.TrimSpace(key) == "sandbox_mode" || strings.TrimSpace(key) == "default_permissions":
			said, answer = true, strings.Trim(value, " \t\"':") == full
		}
	}
	if said {
		return answer
	}
	home := lookup(env, "CODEX_HOME")
	if home == "" {
		home = homePath(w, "~/.codex")
	}
	config, err := loadCodex(home, codexDir(w.Dir(), args), args)
	if err != nil {
		return true // not known: claim nothing
	}
	for _, data := range append([]codexFile{{data: config.user}}, config.project...) {
		if permissions, ok := data.data["default_permissions"].(string); ok {
			answer = answer || permissions == ":"+full
		} else {
			answer = answer || data.data["sandbox_mode"] == full
		}
	}
	return answer
}

// codexDir is where Codex works.
func codexDir(dir string, args []string) string {
	for _, o := range findCLI(builtin(), "codex").grammar().options(args) {
		if (o.name == "-C" || o.name == "--cd") && o.hasValue {
			return absolute(dir, o.value)
		}
	}
	return dir
}

// loadCodex reads the configuration that decides about the sandbox.
func loadCodex(home, dir string, args []string) (codexConfig, error) {
	c := codexConfig{home: home, user: map[string]any{}}
	var files []string
	if home != "" {
		files = append(files, filepath.Join(home, "config.toml"))
	}
	for _, o := range findCLI(builtin(), "codex").grammar().options(args) {
		if (o.name == "-p" || o.name == "--profile") && o.hasValue && home != "" {
			if o.value != filepath.Base(o.value) {
				return c, refuse(codexProfile, "%s %s is not the name of a profile", o.name, o.value)
			}
			files = append(files, filepath.Join(home, o.value+".config.toml"))
		}
	}
	for _, path := range files {
		data, err := readTOML(path)
		if err != nil {
			return c, refuse(codexProfile, "%s: %w; correct it", path, err)
		}
		overlay(c.user, data)
	}

	rules := []string{filepath.Join(home, "rules")}
	for _, d := range upwards(dir) {
		config := filepath.Join(d, ".codex", "config.toml")
		if filepath.Join(d, ".codex") == filepath.Clean(home) {
			continue
		}
		data, err := readTOML(config)
		if err != nil {
			return c, refuse(codexProject, "%s: %w; correct or remove it", config, err)
		}
		if data != nil {
			c.project = append(c.project, codexFile{config, data})
		}
		rules = append(rules, filepath.Join(d, ".codex", "rules"))
	}
	for _, d := range rules {
		names, err := os.ReadDir(d)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.rules = d
		}
		for _, name := range names {
			path := filepath.Join(d, name.Name())
			if c.rules == "" && strings.HasSuffix(path, ".rules") {
				if text, err := regularfile.Read(path, maxSettings); err != nil || hasAllowRule(string(text)) {
					c.rules = path
				}
			}
		}
	}
	return c, nil
}

// upwards lists dir and the directories above it up to the repository's root;
// outside a repository dir alone.
func upwards(dir string) []string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	list := []string{dir}
	repo, ok := gitdir.Find(dir, nil)
	if !ok || repo.Root == "" {
		return list
	}
	for dir != repo.Root && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
		list = append(list, dir)
	}
	return list
}

// readTOML reads a TOML file; a missing one is nil.
func readTOML(path string) (map[string]any, error) {
	text, err := regularfile.Read(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) || isNotDirectory(err) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.New(reason(err))
	}
	var bad *tomltext.Error
	if errors.As(tomltext.Check(path, text), &bad) {
		return nil, errors.New(bad.Message)
	}
	data := map[string]any{}
	if err := toml.Unmarshal(text, &data); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "toml: "))
	}
	return data, nil
}

// overlay puts the values of over on top of base, table by table.
func overlay(base, over map[string]any) {
	for k, v := range over {
		table, ok := v.(map[string]any)
		old, isTable := base[k].(map[string]any)
		if ok && isTable {
			overlay(old, table)
		} else {
			base[k] = v
		}
	}
}

// writes lists the paths, key by key, at which a value grants writing.
func writes(v any, at ...string) (found [][]string) {
	switch v := v.(type) {
	case string:
		if strings.EqualFold(v, "write") {
			if len(at) == 0 {
				at = []string{"filesystem"}
			}
			return [][]string{slices.Clone(at)}
		}
	case map[string]any:
		for k, e := range v {
			found = append(found, writes(e, append(slices.Clone(at), k)...)...)
		}
	case []any:
		for _, e := range v {
			found = append(found, writes(e, append(slices.Clone(at), "[]")...)...)
		}
	}
	slices.SortFunc(found, slices.Compare)
	return found
}

// leaves reports a path below a root that points out of it.
func leaves(p string) bool {
	return filepath.IsAbs(p) || strings.HasPrefix(p, "~") || slices.Contains(strings.Split(filepath.ToSlash(p), "/"), "..")
}

func networkOpen(profile map[string]any) bool {
	network, _ := profile["network"].(map[string]any)
	return network["enabled"] == true
}

func networkProxy(user map[string]any) bool {
	features, _ := user["features"].(map[string]any)
	return features["network_proxy"] == true
}

// projectGrants names what in a project's file can widen the mode.
func projectGrants(data map[string]any, profile string, m mode.Mode) string {
	permissions, _ := data["permissions"].(map[string]any)
	if _, ok := permissions[profile]; ok && profile != "" {
		return "[permissions." + profile + "]"
	}
	for _, name := range slices.Sorted(maps.Keys(permissions)) {
		table, _ := permissions[name].(map[string]any)
		if found := writes(table["filesystem"]); len(found) > 0 {
			return fmt.Sprintf("[permissions.%s.filesystem] %s = \"write\"", name, strings.Join(found[0], "."))
		}
	}
	workspace, _ := data["sandbox_workspace_write"].(map[string]any)
	if roots, ok := workspace["writable_roots"].([]any); ok && len(roots) > 0 && m == mode.WorkspaceWrite {
		return "sandbox_workspace_write.writable_roots"
	}
	return ""
}

// requirementsAllow refuses where the administrator's file makes Codex ignore
// what is asked for on the command line.
func requirementsAllow(m mode.Mode) error {
	data, err := readTOML(codexRequirements)
	if err != nil {
		return refuse(codexProfile, "%s cannot be read (%w), so it cannot be told whether codex would keep to %s", codexRequirements, err, m)
	}
	if _, ok := data["allowed_permission_profiles"]; ok {
		return refuse(codexProfile, "%s has allowed_permission_profiles, with which codex ignores the sandbox asked for; ask its administrator for a profile, or start without --sandbox", codexRequirements)
	}
	return nil
}

// hasAllowRule reports whether a rule file has a prefix_rule whose decision is
// not plainly another than allow, which is the default.
func hasAllowRule(text string) bool {
	code := stripStarlark(text)
	for {
		i := strings.Index(code, "prefix_rule")
		if i < 0 {
			return false
		}
		code = code[i+len("prefix_rule"):]
		rest := strings.TrimLeft(code, " \t\r\n")
		if !strings.HasPrefix(rest, "(") {
			return true // passed around as a value
		}
		depth, end := 0, len(rest)
		for j := range len(rest) {
			switch rest[j] {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			}
			if depth == 0 {
				end = j + 1
				break
			}
		}
		call := strings.Join(strings.Fields(rest[:end]), "")
		plain := false
		for _, decision := range []string{`decision="forbidden"`, `decision="prompt"`} {
			// More text would make it an expression.
			plain = plain || strings.Contains(call, decision+",") || strings.Contains(call, decision+")")
		}
		if !plain {
			return true
		}
		code = rest[end:]
	}
}

// stripStarlark drops comments and the contents of strings, but for those that
// are a decision.
func stripStarlark(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case '"', '\'':
			quote := text[i : i+1]
			if strings.HasPrefix(text[i:], strings.Repeat(quote, 3)) {
				quote = strings.Repeat(quote, 3)
			}
			start := i + len(quote)
			j := start
			for j < len(text) && !strings.HasPrefix(text[j:], quote) {
				if text[j] == '\\' {
					j++
				}
				j++
			}
			j = min(j, len(text))
			switch content := text[start:j]; content {
			case "forbidden", "prompt":
				b.WriteString(`"` + content + `"`)
			default:
				b.WriteString(`""`)
			}
			i = min(j+len(quote), len(text))
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}
