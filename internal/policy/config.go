package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/internal/levenshtein"
	"sallyport/internal/tomledit"
)

// A Config is policy.toml.
type Config struct {
	Path   string // of the file, whether it exists or not
	Exists bool

	SRT, BashRules string

	ClaudeSettings, ClaudeSettingsYolo string
	CopilotOutput, CopilotOutputYolo   string // empty: stdout
	CodexConfig, CodexRules            string // no rules: not generated
	CopilotSettings                    string
	GeminiPolicy                       string
	OpenCodeConfig                     string
	KiroAgent                          string

	Enabled []Agent

	Symlink       bool
	Scope         string // user, project, or empty: told from the target
	GlobAnchor    string // cwd or root
	RelativePaths string // drop or verbatim

	FlagStyle  string // documented or legacy
	WriteRules bool

	Profile          string
	OnCarveout       string // abort or skip
	GlobScanMaxDepth int    // 0: not set

	Probe   bool
	Backups int

	OverridesFull, OverridesYolo map[string]any
}

// A setting of the configuration: its key, the value a new file names, what it
// is for, and how a value gets into a Config.
type configKey struct {
	name    string
	example string // TOML
	doc     string
	set     func(c *Config, v any, dir func(string) string) error
}

func text(field func(*Config) *string, allowed ...string) func(*Config, any, func(string) string) error {
	return func(c *Config, v any, _ func(string) string) error {
		s, ok := v.(string)
		if !ok || len(allowed) > 0 && !slices.Contains(allowed, s) {
			if len(allowed) == 0 {
				return errors.New("want a string")
			}
			return fmt.Errorf("want %q", allowed)
		}
		*field(c) = s
		return nil
	}
}

func pathKey(field func(*Config) *string) func(*Config, any, func(string) string) error {
	return func(c *Config, v any, resolve func(string) string) error {
		s, ok := v.(string)
		if !ok || s == "" || strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 }) {
			return errors.New("want a path")
		}
		if strings.HasPrefix(s, "~") && s != "~" && !strings.HasPrefix(s, "~/") {
			return errors.New("another user's home directory is not supported; write the full path")
		}
		*field(c) = resolve(s)
		return nil
	}
}

func boolKey(field func(*Config) *bool) func(*Config, any, func(string) string) error {
	return func(c *Config, v any, _ func(string) string) error {
		b, ok := v.(bool)
		if !ok {
			return errors.New("want true or false")
		}
		*field(c) = b
		return nil
	}
}

func intKey(field func(*Config) *int, low, high int64) func(*Config, any, func(string) string) error {
	return func(c *Config, v any, _ func(string) string) error {
		n, ok := v.(int64)
		if !ok || n < low || n > high {
			return fmt.Errorf("want a number from %d to %d", low, high)
		}
		*field(c) = int(n)
		return nil
	}
}

// profileName reports a name that needs no quotes and is none of Codex's own.
func profileName(s string) bool {
	if s == "" || s[0] == '-' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func configKeys() []configKey {
	return []configKey{
		{"sources.srt", `"~/.srt-settings.json"`, "the sandbox runtime's settings: paths and domains", pathKey(func(c *Config) *string { return &c.SRT })},
		{"sources.bash_rules", `"bash-rules.json"`, "shell commands to deny and to ask about", pathKey(func(c *Config) *string { return &c.BashRules })},
		{"targets.claude_settings", `"~/.claude/settings.full.json"`, "", pathKey(func(c *Config) *string { return &c.ClaudeSettings })},
		{"targets.claude_settings_yolo", `"~/.claude/settings.yolo.json"`, "derived from claude_settings if not set", pathKey(func(c *Config) *string { return &c.ClaudeSettingsYolo })},
		{"targets.copilot_output", `"~/.copilot/flags.txt"`, "stdout if not set", pathKey(func(c *Config) *string { return &c.CopilotOutput })},
		{"targets.copilot_output_yolo", `"~/.copilot/flags.yolo.txt"`, "stdout if not set", pathKey(func(c *Config) *string { return &c.CopilotOutputYolo })},
		{"targets.codex_config", `"~/.codex/config.toml"`, "", pathKey(func(c *Config) *string { return &c.CodexConfig })},
		{"targets.codex_rules", `"~/.codex/rules/agent-policy.rules"`, "no rules are generated if not set", pathKey(func(c *Config) *string { return &c.CodexRules })},
		{"targets.copilot_settings", `"~/.copilot/settings.json"`, "needed by copilot-sandbox", pathKey(func(c *Config) *string { return &c.CopilotSettings })},
		{"targets.gemini_policy", `"~/.gemini/policies/agent-policy.toml"`, "", pathKey(func(c *Config) *string { return &c.GeminiPolicy })},
		{"targets.opencode_config", `"~/.config/opencode/opencode.json"`, "", pathKey(func(c *Config) *string { return &c.OpenCodeConfig })},
		{"targets.kiro_agent", `"~/.kiro/agents/default.json"`, "needed by kiro", pathKey(func(c *Config) *string { return &c.KiroAgent })},
		{"agents.enabled", `["claude", "copilot", "codex"]`, "what \"all\" means", func(c *Config, v any, _ func(string) string) error {
			list, ok := v.([]any)
			if !ok {
				return errors.New("want a list of agents")
			}
			c.Enabled = nil
			for _, item := range list {
				name, ok := item.(string)
				if !ok || !knownAgent(name) {
					return fmt.Errorf("unknown agent %q; there are %s", fmt.Sprint(item), agentList())
				}
				c.Enabled = append(c.Enabled, Agent(name))
			}
			return nil
		}},
		{"claude.symlink", "true", "keep settings.json as a link to the target", boolKey(func(c *Config) *bool { return &c.Symlink })},
		{"claude.scope", `"user"`, "user or project; told from the target if not set", text(func(c *Config) *string { return &c.Scope }, "user", "project")},
		{"claude.glob_anchor", `"cwd"`, "root renders a leading **/ as //**/", text(func(c *Config) *string { return &c.GlobAnchor }, "cwd", "root")},
		{"claude.relative_paths", `"drop"`, "verbatim keeps relative paths in a user file's sandbox lists", text(func(c *Config) *string { return &c.RelativePaths }, "drop", "verbatim")},
		{"copilot.flag_style", `"documented"`, "or legacy", text(func(c *Config) *string { return &c.FlagStyle }, "documented", "legacy")},
		{"copilot.write_rules", "true", "", boolKey(func(c *Config) *bool { return &c.WriteRules })},
		{"codex.profile", `"agent-policy"`, "", func(c *Config, v any, _ func(string) string) error {
			s, ok := v.(string)
			if !ok || !profileName(s) {
				return errors.New("want lower-case letters, digits and -, beginning with a letter or digit")
			}
			c.Profile = s
			return nil
		}},
		{"codex.on_carveout", `"abort"`, "or skip: leave out a denied region that allowRead opens again", text(func(c *Config) *string { return &c.OnCarveout }, "abort", "skip")},
		{"codex.glob_scan_max_depth", "8", "1 to 64; Codex's own default if not set", intKey(func(c *Config) *int { return &c.GlobScanMaxDepth }, 1, 64)},
		{"options.probe", `"auto"`, "never looks at no file system, so that every machine compiles the same", func(c *Config, v any, _ func(string) string) error {
			if v != "auto" && v != "never" {
				return errors.New(`want "auto" or "never"`)
			}
			c.Probe = v == "auto"
			return nil
		}},
		{"options.backups", "5", "how many to keep, 0 to 50", intKey(func(c *Config) *int { return &c.Backups }, 0, 50)},
	}
}

func agentList() string {
	var names []string
	for _, a := range Agents() {
		names = append(names, string(a))
	}
	return strings.Join(names, ", ")
}

// An Env is where a run takes place.
type Env struct {
	Home   string
	Dir    string // working directory
	Getenv func(string) string
}

func (e Env) expand(p, base string) string {
	switch {
	case p == "~":
		return e.Home
	case strings.HasPrefix(p, "~/"):
		return filepath.Join(e.Home, p[2:])
	case filepath.IsAbs(p):
		return filepath.Clean(p)
	}
	return filepath.Join(base, p)
}

// loadConfig reads the configuration at path. A file that is not there is the
// defaults, unless someone named it.
func loadConfig(env Env, path string, named bool) (*Config, error) {
	path = env.expand(path, env.Dir)
	dir := filepath.Dir(path)
	c := &Config{
		Path: path, SRT: env.expand("~/.srt-settings.json", dir), BashRules: filepath.Join(dir, "bash-rules.json"),
		ClaudeSettings: env.expand("~/.claude/settings.full.json", dir),
		CodexConfig:    env.expand("~/.codex/config.toml", dir),
		GeminiPolicy:   env.expand("~/.gemini/policies/agent-policy.toml", dir),
		OpenCodeConfig: env.expand("~/.config/opencode/opencode.json", dir),
		Enabled:        []Agent{Claude, Copilot, Codex},
		Symlink:        true, GlobAnchor: "cwd", RelativePaths: "drop",
		FlagStyle: "documented", WriteRules: true,
		Profile: "agent-policy", OnCarveout: "abort", Probe: true, Backups: 5,
	}
	data, err := readFile(path)
	switch {
	case err == nil:
		c.Exists = true
		if err := c.parse(data, func(p string) string { return env.expand(p, dir) }); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the configuration: %w", err)
	case named:
		return nil, fmt.Errorf("%s: %w; run agent-policy init --config %s, or name another file", path, fs.ErrNotExist, path)
	default:
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s: a link that leads nowhere; mend or remove it", path)
		}
	}
	if c.Symlink {
		for key, target := range map[string]string{"targets.claude_settings": c.ClaudeSettings, "targets.claude_settings_yolo": c.ClaudeSettingsYolo} {
			if filepath.Base(target) == "settings.json" && target != "" {
				return nil, fmt.Errorf("%s: %s may not be settings.json while claude.symlink is true: that name is the link to it; name another file or set claude.symlink = false", path, key)
			}
		}
	}
	return c, nil
}

// refusedOverrides name programs to run: no policy sets those.
var refusedOverrides = []string{"ripgrep", "bwrapPath", "socatPath", "seccomp"}

func (c *Config) parse(data []byte, resolve func(string) string) error {
	fail := func(line int, format string, args ...any) error {
		where := c.Path
		if line > 0 {
			where = fmt.Sprintf("%s:%d", c.Path, line)
		}
		return fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...))
	}
	var doc map[string]any
	if err := tomledit.Unmarshal(data, &doc); err != nil {
		var te *tomledit.Error
		if errors.As(err, &te) {
			return fmt.Errorf("%s:%d:%d: %s; mend the TOML", c.Path, te.Line, te.Column, te.Msg)
		}
		return fail(0, "%v", err)
	}
	items, err := tomledit.Scan([]byte(strings.TrimPrefix(string(data), "\ufeff")))
	if err != nil {
		return fail(0, "%v", err)
	}
	// lineOf is the first line that speaks of a key or something in it.
	lineOf := func(name string) int {
		for _, it := range items {
			if full := strings.Join(it.Path(), "."); full == name || strings.HasPrefix(full, name+".") || it.Inline && strings.HasPrefix(name, full+".") {
				return it.Line
			}
		}
		return 0
	}
	keys := configKeys()
	byName := map[string]configKey{}
	names := []string{"sandbox_overrides.full", "sandbox_overrides.yolo"}
	sections := []string{"sandbox_overrides"}
	for _, k := range keys {
		byName[k.name] = k
		names = append(names, k.name)
		if s, _, _ := strings.Cut(k.name, "."); !slices.Contains(sections, s) {
			sections = append(sections, s)
		}
	}
	for _, section := range sortedNames(doc) {
		value := doc[section]
		if !slices.Contains(sections, section) {
			return fail(lineOf(section), "unknown key %s%s", section, didYouMean(section, sections))
		}
		table, ok := value.(map[string]any)
		if !ok {
			return fail(lineOf(section), "%s is a table; write [%s]", section, section)
		}
		for _, inner := range sortedNames(table) {
			name, v := section+"."+inner, table[inner]
			if section == "sandbox_overrides" && (inner == "full" || inner == "yolo") {
				over, ok := v.(map[string]any)
				if !ok {
					return fail(lineOf(name), "%s is a table", name)
				}
				for _, key := range sortedNames(over) {
					if slices.Contains(refusedOverrides, key) {
						return fail(lineOf(name+"."+key), "%s.%s names a program to run, which a policy never sets; remove it", name, key)
					}
				}
				if err := plainTOML(over); err != nil {
					return fail(lineOf(name), "%s: %v", name, err)
				}
				if inner == "full" {
					c.OverridesFull = over
				} else {
					c.OverridesYolo = over
				}
				continue
			}
			key, ok := byName[name]
			if !ok {
				return fail(lineOf(name), "unknown key %s%s", name, didYouMean(name, names))
			}
			if err := key.set(c, v, resolve); err != nil {
				return fail(lineOf(name), "%s: %v", name, err)
			}
		}
	}
	return nil
}

// plainTOML refuses values that JSON does not have.
func plainTOML(v any) error {
	switch x := v.(type) {
	case string, bool, int64:
		return nil
	case float64:
		if x != x || x > 1e308 || x < -1e308 {
			return errors.New("a number that JSON does not have")
		}
		return nil
	case []any:
		for _, item := range x {
			if err := plainTOML(item); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		for _, name := range sortedNames(x) {
			if err := plainTOML(x[name]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	}
	return fmt.Errorf("%v is a date; write a string", v)
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// didYouMean names a known key that is at most two edits away.
func didYouMean(name string, known []string) string {
	best, distance := "", 3
	for _, k := range known {
		if d := levenshtein.Distance(name[:min(len(name), 64)], k); d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		return "; see agent-policy --help or docs/policy.md for the keys"
	}
	return "; did you mean " + best + "?"
}

// minimalConfig is what init writes: the keys that most people set, and every
// other one as a comment.
func minimalConfig() string {
	written := []string{"sources.srt", "sources.bash_rules", "targets.claude_settings", "targets.codex_config", "targets.codex_rules"}
	var b strings.Builder
	b.WriteString("# One policy for every coding agent. See agent-policy --help.\n# ~ is the home directory; other paths count from this file's directory.\n")
	section := ""
	for _, k := range configKeys() {
		s, name, _ := strings.Cut(k.name, ".")
		if s != section {
			section = s
			fmt.Fprintf(&b, "\n[%s]\n", s)
		}
		if k.doc != "" {
			fmt.Fprintf(&b, "# %s\n", k.doc)
		}
		if !slices.Contains(written, k.name) {
			b.WriteString("# ")
		}
		fmt.Fprintf(&b, "%s = %s\n", name, k.example)
	}
	b.WriteString("\n# Keys of Claude's sandbox section that only this agent and mode get.\n# [sandbox_overrides.full]\n# failIfUnavailable = true\n#\n# [sandbox_overrides.yolo]\n# enabled = true\n# allowUnsandboxedCommands = false\n")
	return b.String()
}
