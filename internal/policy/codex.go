package policy

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sallyport/internal/tomledit"
)

// Codex: a permission profile in config.toml, and rules. Facts: runs of codex-cli
// 0.171.0.

// A codexOutput is the compiled part of config.toml: an ordered list of values,
// each with its path.
type codexOutput struct {
	profile string
	values  []codexValue
	network bool
}

type codexValue struct {
	path  []string
	value any // string, bool or int64
	quote bool
}

func (v codexValue) text() string {
	switch x := v.value.(type) {
	case string:
		return tomledit.Quote(x)
	case bool:
		return strconv.FormatBool(x)
	}
	return fmt.Sprint(v.value)
}

var codexTop = []string{"default_permissions", "approval_policy", "approvals_reviewer", "allow_login_shell"}

func (o *codexOutput) add(value any, path ...string) {
	o.values = append(o.values, codexValue{path: path, value: value})
}

func (c *compiler) codex(p *product) {
	o := &codexOutput{profile: c.cfg.Profile}
	o.add(o.profile, "default_permissions")
	o.add("on-request", "approval_policy")
	o.add("user", "approvals_reviewer")
	o.add(false, "allow_login_shell")

	pl := c.place("")
	base := []string{"permissions", o.profile}
	at := func(more ...string) []string { return slices.Concat(base, more) }
	o.add(":workspace", at("extends")...)
	if c.cfg.GlobScanMaxDepth > 0 {
		o.add(int64(c.cfg.GlobScanMaxDepth), at("filesystem", "glob_scan_max_depth")...)
	}
	var absolute, relative []codexValue
	seen := map[string]bool{}
	filesystem := func(e pathEntry, value string, r rule) {
		if e.relative() && e.dotted() {
			c.warn("CODEX-DOTDOT", Lossy, Codex, e.entry, "a profile names only what lies below the workspace: nothing for %s", e)
			return
		}
		key := pl.abs(e)
		if e.Glob {
			key = "glob:" + pl.expand(e)
		}
		if seen[key] {
			return
		}
		seen[key] = true
		if e.relative() {
			relative = append(relative, codexValue{at("filesystem", ":workspace_roots", e.Canon), value, true})
		} else {
			absolute = append(absolute, codexValue{at("filesystem", e.Canon), value, true})
		}
		r.text = tomledit.Quote(e.Canon) + " = " + tomledit.Quote(value)
		r.decision, r.layer, r.from, r.path, r.write = "deny", "kernel", e.entry, &e, true
		p.match = append(p.match, r)
	}
	for _, e := range pl.unique(c.srt.DenyRead) {
		why := ""
		if pl.covers(e, c.env.Home) {
			why = "covers the home directory, where Codex's own helper lives"
		} else if open := c.opened(pl, e); open != "" {
			why = "is denied and " + open + " in it opened again, which a profile cannot say"
		}
		if why != "" {
			if c.cfg.OnCarveout == "abort" {
				c.n.problem("ABORT-CODEX-CARVEOUT", `%s:%d: %s: %s %s; deny the parts that matter one by one, or set codex.on_carveout = "skip" in %s`, c.srt.Path, e.Line, e.Pointer, e, why, c.cfg.Path)
			} else {
				c.warn("CODEX-CARVEOUT", Warn, Codex, e.entry, "%s %s: it is left out, and Codex may read it", e, why)
			}
			continue
		}
		filesystem(e, "deny", rule{read: true})
	}
	for _, e := range pl.unique(c.srt.DenyWrite) {
		if e.Glob {
			c.warn("CODEX-WRITEGLOB-AS-DENY", Lossy, Codex, e.entry, "a pattern can only deny: %s is closed for reading too", e)
			filesystem(e, "deny", rule{read: true})
			continue
		}
		filesystem(e, "read", rule{})
	}
	o.values = append(o.values, absolute...)
	o.values = append(o.values, relative...)
	if n := len(c.srt.AllowWrite); n > 0 {
		c.warn("CODEX-ALLOWWRITE", Lossy, Codex, c.key("filesystem.allowWrite"), "%d allowWrite entries are not compiled: the profile may write the workspace", n)
	}
	if n := len(c.srt.AllowRead); n > 0 {
		c.warn("CODEX-ALLOWREAD", Info, Codex, c.key("filesystem.allowRead"), "%d allowRead entries are not compiled: what is not denied is readable", n)
	}

	var domains []codexValue
	off := false
	domain := func(d domainEntry, value string) {
		host := strings.Trim(d.Host, "[]")
		path := at("network", "domains", host)
		text := tomledit.Quote(host) + " = " + tomledit.Quote(value)
		p.match = append(p.match, rule{text: text, decision: value, layer: "kernel", from: d.entry, domain: &d})
		if i := slices.IndexFunc(domains, func(v codexValue) bool { return slices.Equal(v.path, path) }); i >= 0 {
			if domains[i].value == value {
				return
			}
			domains = slices.Delete(domains, i, i+1) // what is denied is not allowed
		}
		domains = append(domains, codexValue{path, value, true})
	}
	for _, d := range c.srt.Allowed {
		if d.Port != "" {
			c.warn("CODEX-DOMAIN-PORT", Lossy, Codex, d.entry, "a profile has no ports and would allow every one: %q is left out", d.Text)
			continue
		}
		domain(d, "allow")
	}
	for _, d := range c.srt.Denied {
		if d.Port != "" {
			c.warn("CODEX-DOMAIN-PORT", Lossy, Codex, d.entry, "a profile has no ports: %q is denied on every one", d.Text)
		}
		if d.Host == "*" {
			off = true
			p.match = append(p.match, rule{text: "enabled = false", decision: "deny", layer: "kernel", from: d.entry, domain: &d})
			continue
		}
		domain(d, "deny")
	}
	if off {
		domains = slices.DeleteFunc(domains, func(v codexValue) bool { return v.value == "allow" })
	}
	o.network = slices.ContainsFunc(domains, func(v codexValue) bool { return v.value == "allow" })
	o.add(o.network, at("network", "enabled")...)
	o.values = append(o.values, domains...)
	sockets := map[string]bool{}
	for _, e := range c.srt.Sockets {
		path, why := c.codexSocket(e, o.network)
		if why != "" {
			c.warn("CODEX-SOCKET", Lossy, Codex, e, "socket %q is left out: %s", e.Text, why)
			continue
		}
		if !sockets[path] {
			sockets[path] = true
			o.values = append(o.values, codexValue{at("network", "unix_sockets", path), "allow", true})
		}
	}
	for _, name := range []string{"network.allowLocalBinding", "network.allowAllUnixSockets", "network.strictAllowlist", "network.allowMachLookup", "network.httpProxyPort", "network.socksProxyPort", "ignoreViolations", "enableWeakerNestedSandbox", "enableWeakerNetworkIsolation"} {
		switch string(c.srt.values[name]) {
		case "", "false", "[]", "{}":
		default:
			c.warn("CODEX-NOT-COMPILED", Lossy, Codex, c.key(name), "Codex has nothing like %s", name)
		}
	}
	if n := len(c.bash.Allow); n > 0 {
		c.warn("CODEX-BASH-ALLOW", Lossy, Codex, entry{Source: "bash", Pointer: "/allow"}, "%d allowed commands are not compiled: an allow rule would run them outside the sandbox without a prompt", n)
	}
	if n := len(c.bash.Ask); n > 0 {
		c.warn("CODEX-BASH-ASK", Lossy, Codex, entry{Source: "bash", Pointer: "/ask"}, "%d commands to ask about are not compiled: Codex asks before anything leaves the sandbox", n)
	}
	c.n.add(Warning{ID: "CODEX-REMINDER", Level: Info, Agent: string(Codex), Message: fmt.Sprintf("sandbox_mode in a -p file, on the command line or in a trusted project takes the profile away without a word; start Codex with agent-iso codex, or with -c 'default_permissions=%q'. Running sessions have to be restarted", o.profile)})
	c.codexLayers()

	p.toml = o.fresh()
	p.files = []*targetFile{{
		path: c.cfg.CodexConfig, fresh: []byte(p.toml),
		merge: func(old []byte, _ []ownedEntry) ([]byte, []ownedEntry, error) {
			text, err := o.merge(old, c.n)
			return text, nil, err
		},
		check: func(old, new []byte, _ []ownedEntry) error { return o.check(old, new) },
		diff:  func(old []byte, _ []ownedEntry) ([]difference, error) { return o.diff(old, c.n) },
	}}
	if c.cfg.CodexRules != "" {
		c.codexRules(p)
	}
}

// codexSocket is the absolute path of a socket, or why there is none.
func (c *compiler) codexSocket(e entry, network bool) (path, why string) {
	s := e.Text
	switch {
	case !network:
		return "", "the network is off"
	case strings.HasPrefix(s, "~/"):
		s = filepath.ToSlash(filepath.Join(c.env.Home, s[2:]))
	case !strings.HasPrefix(s, "/"):
		return "", "it is no absolute path, which stops Codex's proxy"
	}
	if isGlob(s) || strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 }) {
		return "", "a pattern is no socket"
	}
	if strings.HasSuffix(s, "/") {
		return "", "a directory is no socket"
	}
	if c.probe {
		if fi, err := os.Stat(s); err == nil && fi.IsDir() {
			return "", "it is a directory"
		}
	}
	return s, ""
}

// codexLayers warns about files that take the profile away.
func (c *compiler) codexLayers() {
	home := c.env.Getenv("CODEX_HOME")
	if home == "" {
		home = filepath.Join(c.env.Home, ".codex")
	}
	files, _ := filepath.Glob(filepath.Join(escapeGlob(home), "*.config.toml"))
	if c.env.Dir != "" {
		for dir := filepath.Clean(c.env.Dir); ; dir = filepath.Dir(dir) {
			files = append(files, filepath.Join(dir, ".codex", "config.toml"))
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	for _, file := range files {
		if file == c.cfg.CodexConfig || sameFile(file, c.cfg.CodexConfig) {
			continue
		}
		data, err := readFile(file)
		if err != nil {
			continue
		}
		var doc map[string]any
		if tomledit.Unmarshal(data, &doc) != nil {
			continue
		}
		if at := legacyKey(doc); at != "" {
			c.n.add(Warning{ID: "CODEX-LEGACY-LAYER", Level: Warn, Agent: string(Codex), Message: fmt.Sprintf("%s sets %s: where that file counts, the profile does not", file, at)})
		}
	}
}

func escapeGlob(s string) string {
	if filepath.Separator == '\\' {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// legacyKey names the key that turns permission profiles off, or "".
func legacyKey(doc map[string]any) string {
	if _, ok := doc["sandbox_mode"]; ok {
		return "sandbox_mode"
	}
	if profiles, ok := doc["profiles"].(map[string]any); ok {
		for _, name := range sortedNames(profiles) {
			if p, ok := profiles[name].(map[string]any); ok {
				if _, ok := p["sandbox_mode"]; ok {
					return "profiles." + name + ".sandbox_mode"
				}
			}
		}
	}
	return ""
}

// fresh is the content of a new file.
func (o *codexOutput) fresh() string {
	var b strings.Builder
	for _, v := range o.values {
		if len(v.path) == 1 {
			fmt.Fprintf(&b, "%s = %s\n", v.path[0], v.text())
		}
	}
	if o.network {
		b.WriteString("\n[features]\nnetwork_proxy = true\n")
	}
	b.WriteString("\n" + o.block("\n"))
	return b.String()
}

// block is the text of the profile's tables.
func (o *codexOutput) block(newline string) string {
	base := []string{"permissions", o.profile}
	tables := [][]string{base, {"filesystem"}, {"filesystem", ":workspace_roots"}, {"network"}, {"network", "domains"}, {"network", "unix_sockets"}}
	var b strings.Builder
	for i, table := range tables {
		if i > 0 {
			table = slices.Concat(base, table)
		}
		var lines []string
		for _, v := range o.values {
			if len(v.path) == len(table)+1 && slices.Equal(v.path[:len(table)], table) {
				key := tomledit.Key(v.path[len(table)])
				if v.quote {
					key = tomledit.Quote(v.path[len(table)])
				}
				lines = append(lines, key+" = "+v.text())
			}
		}
		if len(lines) == 0 && table[len(table)-1] != "domains" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(newline)
		}
		fmt.Fprintf(&b, "[%s]%s", tomledit.Dotted(table), newline)
		for _, line := range lines {
			b.WriteString(line + newline)
		}
	}
	return b.String()
}

func codexDocument(old []byte) (map[string]any, error) {
	var doc map[string]any
	if err := tomledit.Unmarshal(old, &doc); err != nil {
		return nil, &Problem{"ABORT-TARGET-TOML", fmt.Sprintf("%v; mend the file", err)}
	}
	if doc == nil {
		doc = map[string]any{}
	}
	return doc, nil
}

// usable refuses a file that cannot be merged into without a guess.
func (o *codexOutput) usable(old []byte) (map[string]any, error) {
	doc, err := codexDocument(old)
	if err != nil {
		return nil, err
	}
	if at := legacyKey(doc); at != "" {
		return nil, &Problem{"ABORT-CODEX-LEGACY", fmt.Sprintf("%s selects Codex's old sandbox; remove it, the profile replaces it", at)}
	}
	items, err := tomledit.Scan(bytes.TrimPrefix(old, []byte("\ufeff")))
	if err != nil {
		return nil, &Problem{"ABORT-TARGET-TOML", fmt.Sprintf("%v; mend the file", err)}
	}
	base := []string{"permissions", o.profile}
	inline := func(line int) error {
		return &Problem{"ABORT-CODEX-INLINE", fmt.Sprintf("line %d: the profile %s is written with dotted keys or inline tables; write it as [permissions.%s] tables or remove it", line, o.profile, tomledit.Key(o.profile))}
	}
	for _, it := range items {
		full := it.Path()
		under := len(full) >= len(base) && slices.Equal(full[:len(base)], base)
		switch {
		case it.Kind == tomledit.ArrayTable && under:
			return nil, inline(it.Line)
		case it.Kind == tomledit.ArrayTable && len(full) == 1 && full[0] == "permissions":
			return nil, inline(it.Line)
		case it.Kind != tomledit.KeyValue:
		case under && (len(it.Table) < len(base) || len(it.Key) > 1 || it.Inline):
			return nil, inline(it.Line)
		case len(full) == 1 && full[0] == "permissions":
			return nil, inline(it.Line)
		}
	}
	return doc, nil
}

// pinned is the value of a top-level key in a file: ours, but for an approval
// policy that is stricter.
func (o *codexOutput) pinned(doc map[string]any, v codexValue, n *notes) any {
	if v.path[0] == "approval_policy" && doc["approval_policy"] == "untrusted" {
		n.add(Warning{ID: "CODEX-KEEP-STRICTER", Level: Info, Agent: string(Codex), Message: `approval_policy = "untrusted" is stricter and kept`})
		return "untrusted"
	}
	if v.path[0] == "default_permissions" && doc["default_permissions"] == ":read-only" {
		n.add(Warning{ID: "CODEX-READONLY-REPLACED", Level: Warn, Agent: string(Codex), Message: fmt.Sprintf("default_permissions is \":read-only\" and becomes %q, which may write the workspace; for a session that only reads, start Codex with -c 'permissions.%s.extends=\":read-only\"'", o.profile, o.profile)})
	}
	return v.value
}

func (o *codexOutput) merge(old []byte, n *notes) ([]byte, error) {
	doc, err := o.usable(old)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(old, []byte("\ufeff")))) == 0 {
		return append(bytes.Clone(old), o.fresh()...), nil
	}
	out := old
	set := func(path []string, value string) error {
		next, err := tomledit.Set(out, path, value)
		if err != nil {
			return &Problem{"ABORT-TARGET-TOML", fmt.Sprintf("%v; mend the file", err)}
		}
		out = next
		return nil
	}
	// Those that are there first, so that new ones stand behind them.
	for _, there := range []bool{true, false} {
		for _, v := range o.values {
			if len(v.path) != 1 {
				continue
			}
			have, ok := doc[v.path[0]]
			want := o.pinned(doc, v, n)
			if ok != there || ok && have == want {
				continue
			}
			if err := set(v.path, codexValue{value: want}.text()); err != nil {
				return nil, err
			}
		}
	}
	newline := tomledit.Newline(old)
	block := o.block(newline)
	if o.network {
		switch on, there := dig(doc, "features", "network_proxy"); {
		case there && on == true:
		case doc["features"] == nil:
			block = "[features]" + newline + "network_proxy = true" + newline + newline + block
		default:
			if err := set([]string{"features", "network_proxy"}, "true"); err != nil {
				return nil, err
			}
		}
	}
	have, _ := dig(doc, "permissions", o.profile)
	if m, ok := have.(map[string]any); !ok || !reflect.DeepEqual(m, o.tree()) {
		base := []string{"permissions", o.profile}
		if out, err = tomledit.ReplaceTables(out, base, block); err != nil {
			return nil, err
		}
	} else if strings.HasPrefix(block, "[features]") {
		if err := set([]string{"features", "network_proxy"}, "true"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// tree is the profile as a decoder shows it.
func (o *codexOutput) tree() map[string]any {
	root := map[string]any{}
	at := func(path []string) map[string]any {
		m := root
		for _, step := range path {
			next, ok := m[step].(map[string]any)
			if !ok {
				next = map[string]any{}
				m[step] = next
			}
			m = next
		}
		return m
	}
	at([]string{"network", "domains"})
	for _, v := range o.values {
		if len(v.path) > 2 {
			inner := v.path[2:]
			at(inner[:len(inner)-1])[inner[len(inner)-1]] = v.value
		}
	}
	return root
}

func (o *codexOutput) check(old, new []byte) error {
	before, err := codexDocument(old)
	if err != nil {
		return err
	}
	after, err := codexDocument(new)
	if err != nil {
		return err
	}
	var quiet notes
	for _, v := range o.values {
		if len(v.path) == 1 && after[v.path[0]] != o.pinned(before, v, &quiet) {
			return fmt.Errorf("%s is not as compiled", v.path[0])
		}
	}
	if have, _ := dig(after, "permissions", o.profile); !reflect.DeepEqual(have, any(o.tree())) {
		return fmt.Errorf("permissions.%s is not as compiled", o.profile)
	}
	if o.network {
		if on, _ := dig(after, "features", "network_proxy"); on != true {
			return errors.New("features.network_proxy is not on")
		}
	}
	for _, doc := range []map[string]any{before, after} {
		for _, name := range codexTop {
			delete(doc, name)
		}
		undig(doc, "permissions", o.profile)
		if o.network {
			undig(doc, "features", "network_proxy")
		}
		for _, name := range []string{"permissions", "features"} {
			if m, ok := doc[name].(map[string]any); ok && len(m) == 0 {
				delete(doc, name)
			}
		}
	}
	// Printed, maps are sorted and a number that is none equals itself.
	if fmt.Sprintf("%#v", before) != fmt.Sprintf("%#v", after) {
		return errors.New("a part that is not ours changed")
	}
	return nil
}

func (o *codexOutput) diff(old []byte, n *notes) (out []difference, err error) {
	doc, err := o.usable(old)
	if err != nil {
		return nil, err
	}
	compare := func(section string, want any, have any, there bool) {
		switch {
		case !there:
			out = append(out, difference{class: missing, section: section, value: want})
		case !reflect.DeepEqual(want, have):
			out = append(out, difference{class: changed, section: section, want: want, have: plainTree(have)})
		}
	}
	for _, v := range o.values {
		if len(v.path) == 1 {
			have, there := doc[v.path[0]]
			compare(v.path[0], o.pinned(doc, v, n), have, there)
		}
	}
	if o.network {
		have, there := dig(doc, "features", "network_proxy")
		compare("features.network_proxy", true, have, there)
	}
	wanted := map[string]bool{}
	for _, v := range o.values {
		if len(v.path) > 1 {
			key := tomledit.Dotted(v.path)
			wanted[key] = true
			have, there := dig(doc, v.path...)
			compare(key, v.value, have, there)
		}
	}
	// What else stands in the profile.
	var walk func(path []string, v any)
	walk = func(path []string, v any) {
		if m, ok := v.(map[string]any); ok {
			for _, name := range sortedNames(m) {
				walk(append(slices.Clone(path), name), m[name])
			}
			return
		}
		if key := tomledit.Dotted(path); !wanted[key] {
			out = append(out, difference{class: extra, section: key, value: plainTree(v)})
		}
	}
	base := []string{"permissions", o.profile}
	if v, ok := dig(doc, base...); ok {
		walk(base, v)
	}
	return out, nil
}

// plainTree makes a decoded TOML value fit for JSON.
func plainTree(v any) any {
	switch x := v.(type) {
	case string, bool, int64, nil:
		return x
	case map[string]any:
		o := map[string]any{}
		for name, inner := range x {
			o[name] = plainTree(inner)
		}
		return o
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = plainTree(x[i])
		}
		return list
	}
	return fmt.Sprint(v)
}
