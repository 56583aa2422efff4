package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/internal/tomledit"
	"sallyport/settings"
)

// An Unimported is a part of a file that no source can say.
type Unimported struct {
	Value  string `json:"value"`
	Reason string `json:"reason"`
}

// An Import is a file turned into sources.
type Import struct {
	SRT, Bash  object
	Unimported []Unimported
}

// An importer collects the sources.
type importer struct {
	lists map[string][]string // by dotted name; a list that is there may be empty
	other map[string]json.RawMessage
	bash  map[string][]string
	left  []Unimported
	// complete writes the lists that srt wants even if the file had none.
	complete bool
}

func (im *importer) leave(value, reason string) { im.left = append(im.left, Unimported{value, reason}) }

func (im *importer) result() *Import {
	var top, filesystem, network object
	for _, name := range claudeTop {
		if raw, ok := im.other[name]; ok {
			top.set(name, raw)
		}
	}
	put := func(o *object, section, name string) {
		full := section + "." + name
		if raw, ok := im.other[full]; ok {
			o.set(name, raw)
		} else if list, ok := im.lists[full]; ok || im.complete && slices.Contains(srtRequired, full) {
			o.set(name, emptyList(list))
		}
	}
	for _, name := range claudeFilesystem {
		put(&filesystem, "filesystem", name)
	}
	for _, name := range claudeNetwork {
		put(&network, "network", name)
	}
	if filesystem == nil {
		filesystem = object{}
	}
	if network == nil {
		network = object{}
	}
	top.set("filesystem", filesystem)
	top.set("network", network)
	bash := object{}
	for _, tier := range []string{"deny", "ask", "allow"} {
		bash.set(tier, emptyList(im.bash[tier]))
	}
	left := im.left
	if left == nil {
		left = []Unimported{}
	}
	return &Import{SRT: top, Bash: bash, Unimported: left}
}

// ImportFile turns an agent's file into sources.
func ImportFile(env Env, cfg *Config, agent Agent, file string, data []byte) (*Import, error) {
	im := &importer{lists: map[string][]string{}, other: map[string]json.RawMessage{}, bash: map[string][]string{}}
	var err error
	switch agent {
	case Claude:
		err = im.claude(cfg, data)
	case Codex:
		if filepath.Ext(file) == ".rules" || bytes.HasPrefix(data, []byte(rulesHeader)) {
			err = im.rules(data)
		} else {
			err = im.codex(cfg, data)
		}
	case OpenCode:
		err = im.opencode(data)
	}
	if err != nil {
		return nil, inFile(file, err)
	}
	return im.result(), nil
}

// merge joins two lists that each have some elements of one original list, in
// its order. The spelling of the second wins; key tells equal elements.
func mergeOrder(rules, written []string, key func(string) string) []string {
	inWritten := map[string]bool{}
	for _, s := range written {
		inWritten[key(s)] = true
	}
	var out []string
	r := 0
	pass := func(until string, all bool) {
		for r < len(rules) && (all || key(rules[r]) != until) {
			if k := key(rules[r]); !inWritten[k] {
				out = append(out, rules[r])
			}
			r++
		}
	}
	ruleAt := func(k string) bool {
		return slices.ContainsFunc(rules[r:], func(s string) bool { return key(s) == k })
	}
	for _, s := range written {
		if ruleAt(key(s)) {
			pass(key(s), false)
			r++
		}
		out = append(out, s)
	}
	pass("", true)
	return out
}

func (im *importer) claude(cfg *Config, data []byte) error {
	doc, err := claudeDocument(data)
	if err != nil {
		return err
	}
	root := doc.Root()
	sandboxList := map[string][]string{}
	root.Get("sandbox").Each(func(name string, v settings.Node) bool {
		if name != "filesystem" && name != "network" {
			if slices.Contains(claudeTop, name) {
				im.raw(name, v)
			} else {
				im.leave("sandbox."+name, "an agent's own key; set it in sandbox_overrides")
			}
			return true
		}
		known := claudeFilesystem
		if name == "network" {
			known = claudeNetwork
		}
		v.Each(func(inner string, n settings.Node) bool {
			full := name + "." + inner
			switch text, _ := elements(n); {
			case !slices.Contains(known, inner):
				im.leave("sandbox."+full, "no source has it; set it in sandbox_overrides")
			case n.Kind() == settings.Array && len(text) == n.Len():
				sandboxList[full] = emptyList(text)
			default:
				im.raw(full, n)
			}
			return true
		})
		return true
	})
	_, generated := sandboxList["network.allowedDomains"]
	im.complete = !generated

	pathKey := func(s string) string {
		c := canonical(entry{Text: s})
		return c.Canon
	}
	unspell := func(p string) string {
		s := p
		inside := strings.HasSuffix(s, "/**") && !isGlob(strings.TrimSuffix(s, "/**"))
		if strings.HasPrefix(s, "//") {
			s = s[1:]
			if rest, ok := strings.CutPrefix(s, "/**/"); ok && cfg.GlobAnchor == "root" && !slices.Contains(sandboxList["filesystem.denyRead"], s) && !slices.Contains(sandboxList["filesystem.denyWrite"], s) {
				s = "**/" + rest
			}
		}
		if inside {
			if s = strings.TrimSuffix(s, "/**"); s == "" {
				s = "/"
			}
		}
		if rest, ok := strings.CutPrefix(s, "./"); ok && rest != "" && !strings.HasPrefix(rest, "~") {
			s = rest
		}
		return s
	}
	var read, write []string
	writeDirs := map[string]bool{}
	each := func(tier string, f func(tool, arg, whole string) bool) {
		text, _ := elements(root.Get("permissions", tier))
		for _, s := range text {
			tool, arg, ok := strings.Cut(s, "(")
			arg, closed := strings.CutSuffix(arg, ")")
			if !ok || !closed || !f(tool, arg, s) {
				im.leave("permissions."+tier+": "+s, "no source can say it")
			}
		}
	}
	bash := func(tier, arg string) bool {
		c := strings.TrimSuffix(strings.TrimSuffix(arg, " *"), ":*")
		var n notes
		if _, ok := parseCommand("", entry{Text: c}, &n); !ok || c == "*" {
			return false
		}
		if !slices.Contains(im.bash[tier], c) {
			im.bash[tier] = append(im.bash[tier], c)
		}
		return true
	}
	var allowed, denied []string
	fetch := func(list *[]string, arg string, deny bool) bool {
		host, ok := strings.CutPrefix(arg, "domain:")
		if _, why := parseDomain(entry{Text: host}, deny); !ok || why != "" {
			return false
		}
		*list = append(*list, host)
		return true
	}
	sound := func(arg string) bool {
		// "/x" counts from the settings file, which no source can say.
		if strings.HasPrefix(arg, "/") && !strings.HasPrefix(arg, "//") {
			return false
		}
		why, _ := malformed(entry{Text: unspell(arg)}, true)
		return why == ""
	}
	each("deny", func(tool, arg, _ string) bool {
		switch tool {
		case "Read":
			if !sound(arg) {
				return false
			}
			if s := unspell(arg); !slices.Contains(read, s) {
				read = append(read, s)
			}
			return true
		case "Edit", "Write", "MultiEdit", "NotebookEdit":
			if !sound(arg) {
				return false
			}
			s := unspell(arg)
			if strings.HasSuffix(arg, "/**") && s != arg {
				writeDirs[s] = true
			}
			if !slices.Contains(write, s) {
				write = append(write, s)
			}
			return true
		case "Bash":
			return bash("deny", arg)
		case "WebFetch":
			return fetch(&denied, arg, true)
		}
		return false
	})
	each("ask", func(tool, arg, _ string) bool { return tool == "Bash" && bash("ask", arg) })
	each("allow", func(tool, arg, _ string) bool {
		return tool == "Bash" && bash("allow", arg) || tool == "WebFetch" && fetch(&allowed, arg, false)
	})
	write = slices.DeleteFunc(write, func(s string) bool { return slices.Contains(read, s) })
	for i, s := range write {
		// A denied write of a directory needs to be told from one of a file.
		if writeDirs[s] && s != "." && s != "/" {
			write[i] = s + "/"
		}
	}
	put := func(name string, rules []string, key func(string) string) {
		list, there := sandboxList[name]
		merged := mergeOrder(rules, list, key)
		if there || len(merged) > 0 || im.complete {
			im.lists[name] = merged
		}
	}
	hostKey := func(s string) string {
		d, why := parseDomain(entry{Text: s}, true)
		if why != "" {
			return s
		}
		return d.Host
	}
	put("filesystem.denyRead", read, pathKey)
	put("filesystem.denyWrite", write, pathKey)
	put("network.allowedDomains", allowed, hostKey)
	put("network.deniedDomains", denied, hostKey)
	for name, list := range sandboxList {
		if _, done := im.lists[name]; !done {
			im.lists[name] = list
		}
	}
	root.Each(func(name string, v settings.Node) bool {
		if name != "permissions" && name != "sandbox" {
			im.leave(name, "not part of a policy")
		}
		return true
	})
	root.Get("permissions").Each(func(name string, v settings.Node) bool {
		if !slices.Contains([]string{"deny", "ask", "allow"}, name) {
			im.leave("permissions."+name, "not part of a policy")
		}
		return true
	})
	return nil
}

func (im *importer) raw(name string, v settings.Node) {
	var b bytes.Buffer
	if json.Compact(&b, v.Raw()) == nil {
		im.other[name] = b.Bytes()
	}
}

func (im *importer) codex(cfg *Config, data []byte) error {
	doc, err := codexDocument(data)
	if err != nil {
		return err
	}
	profile, _ := doc["default_permissions"].(string)
	if profile == "" || strings.HasPrefix(profile, ":") {
		profile = cfg.Profile
	}
	tree, _ := dig(doc, "permissions", profile)
	table, ok := tree.(map[string]any)
	if !ok {
		return fmt.Errorf("there is no [permissions.%s]; nothing to import", profile)
	}
	for _, name := range srtRequired {
		im.lists[name] = []string{}
	}
	add := func(list, s string) { im.lists[list] = append(im.lists[list], s) }
	reads := map[bool]bool{} // by whether paths are relative
	path := func(p string, v any, shown string) {
		if why, _ := malformed(entry{Text: p}, true); why != "" {
			im.leave(shown, "the path "+why)
			return
		}
		rel := canonical(entry{Text: p}).relative()
		switch v {
		case "deny", "none":
			// A pattern behind a read-only path came from denyWrite.
			if reads[rel] && isGlob(p) {
				add("filesystem.denyWrite", p)
			} else {
				add("filesystem.denyRead", p)
			}
		case "read":
			reads[rel] = true
			add("filesystem.denyWrite", p)
		default:
			im.leave(shown, fmt.Sprintf("no source says %v", v))
		}
	}
	items, err := tomledit.Scan(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err != nil {
		return err
	}
	order := func(m map[string]any, at ...string) []string {
		var names []string
		for _, it := range items {
			full := it.Path()
			if it.Kind == tomledit.KeyValue && len(full) > len(at) && slices.Equal(full[:len(at)], at) && !slices.Contains(names, full[len(at)]) {
				names = append(names, full[len(at)])
			}
		}
		for _, name := range sortedNames(m) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return names
	}
	base := []string{"permissions", profile}
	for _, name := range sortedNames(table) {
		switch inner, _ := table[name].(map[string]any); {
		case name == "extends" && table[name] == ":workspace":
		case name == "filesystem":
			for _, p := range order(inner, slices.Concat(base, []string{"filesystem"})...) {
				v, there := inner[p]
				sub, isTable := v.(map[string]any)
				switch {
				case !there:
				case p == ":workspace_roots" && isTable:
					for _, rel := range order(sub, slices.Concat(base, []string{"filesystem", p})...) {
						if v, ok := sub[rel]; ok {
							path(rel, v, "filesystem."+p+"."+rel)
						}
					}
				case strings.HasPrefix(p, ":") || isTable:
					im.leave("filesystem."+p, "no source can say it")
				case p == "glob_scan_max_depth":
					im.leave("filesystem."+p, "set codex.glob_scan_max_depth")
				default:
					path(p, v, "filesystem."+p)
				}
			}
		case name == "network":
			domains, _ := inner["domains"].(map[string]any)
			for _, d := range order(domains, slices.Concat(base, []string{"network", "domains"})...) {
				v, there := domains[d]
				host := d
				if strings.Contains(d, ":") && !strings.HasPrefix(d, "[") {
					host = "[" + d + "]"
				}
				_, why := parseDomain(entry{Text: host}, v == "deny")
				switch {
				case !there:
				case why != "":
					im.leave("network.domains."+d, why)
				case v == "allow":
					add("network.allowedDomains", host)
				case v == "deny":
					add("network.deniedDomains", host)
				default:
					im.leave("network.domains."+d, fmt.Sprintf("no source says %v", v))
				}
			}
			sockets, _ := inner["unix_sockets"].(map[string]any)
			for _, s := range order(sockets, slices.Concat(base, []string{"network", "unix_sockets"})...) {
				if sockets[s] == "allow" {
					add("network.allowUnixSockets", s)
				}
			}
			for _, key := range sortedNames(inner) {
				if !slices.Contains([]string{"enabled", "domains", "unix_sockets"}, key) {
					im.leave("network."+key, "no source can say it")
				}
			}
		default:
			im.leave(name, "no source can say it")
		}
	}
	for _, name := range sortedNames(doc) {
		if !slices.Contains(append([]string{"permissions", "features"}, codexTop...), name) {
			im.leave(name, "not part of a policy")
		}
	}
	return nil
}

func (im *importer) rules(data []byte) error {
	im.complete = true
	rules, err := parseRules(string(data))
	if err != nil {
		return err
	}
	for _, r := range rules {
		words := make([]string, len(r.pattern))
		for i, w := range r.pattern {
			words[i] = shellWord(w)
		}
		line := strings.Join(words, " ")
		switch r.decision {
		case "forbidden":
			im.bash["deny"] = append(im.bash["deny"], line)
		case "prompt":
			im.bash["ask"] = append(im.bash["ask"], line)
		default:
			im.leave(r.String(), "an allow rule runs the command outside the sandbox; no policy says that")
		}
	}
	return nil
}

// shellWord quotes a word if the shell would read it as something else.
func shellWord(s string) string {
	plain := s != ""
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:@%+,", r)) {
			plain = false
		}
	}
	if plain {
		return s
	}
	return quoteShell(s)
}

func (im *importer) opencode(data []byte) error {
	o := &openCodeOutput{}
	doc, err := o.document(data)
	if err != nil {
		return err
	}
	im.complete = true
	permission := doc.Root().Get("permission")
	members := func(tool string) []openMember {
		if permission.Kind() != settings.Object {
			return nil
		}
		return openMembers(permission.Get(tool))
	}
	patterns := func(tool, action string) (out []string) {
		for _, m := range members(tool) {
			if m.action() == action {
				out = append(out, m.name)
			}
		}
		return out
	}
	// paths folds the pairs that a path is compiled to.
	paths := func(list []string) (out []string) {
		for _, p := range list {
			base, isInside := strings.CutSuffix(p, "/*")
			tail, isAny := strings.CutPrefix(p, "*/")
			switch {
			case isInside && (slices.Contains(list, base) || base == ""), isAny && slices.Contains(list, tail):
			case slices.Contains(list, "*/"+p):
				out = append(out, "**/"+p)
			default:
				out = append(out, p)
			}
		}
		return out
	}
	im.lists["filesystem.denyRead"] = append(paths(patterns("external_directory", "deny")), paths(patterns("read", "deny"))...)
	for _, p := range paths(patterns("edit", "deny")) {
		if !slices.Contains(im.lists["filesystem.denyRead"], p) {
			im.lists["filesystem.denyWrite"] = append(im.lists["filesystem.denyWrite"], p)
		}
	}
	for _, p := range patterns("webfetch", "deny") {
		rest, ok := strings.CutPrefix(p, "*://")
		host := strings.TrimSuffix(rest, "/*")
		_, why := parseDomain(entry{Text: host}, true)
		switch {
		case p == "*":
		case !ok || why != "":
			im.leave("permission.webfetch: "+p, "no domain can be told from it")
		case !slices.Contains(im.lists["network.deniedDomains"], host):
			im.lists["network.deniedDomains"] = append(im.lists["network.deniedDomains"], host)
		}
	}
	if !slices.Contains(patterns("webfetch", "deny"), "*") {
		im.leave("permission.webfetch", "open but for the denied domains, which no source can say: list the domains to allow")
	}
	for _, tier := range []string{"deny", "ask", "allow"} {
		for _, p := range patterns("bash", tier) {
			c := strings.TrimSuffix(p, " *")
			var n notes
			if _, ok := parseCommand("", entry{Text: c}, &n); !ok || isGlob(c) {
				im.leave("permission.bash: "+p+" = "+tier, "a pattern that no shell rule can say")
			} else if !slices.Contains(im.bash[tier], c) {
				im.bash[tier] = append(im.bash[tier], c)
			}
		}
	}
	doc.Root().Each(func(name string, v settings.Node) bool {
		if name != "permission" {
			im.leave(name, "not part of a policy")
		}
		return true
	})
	permission.Each(func(name string, v settings.Node) bool {
		if permission.Kind() == settings.Object && !slices.Contains(openTools, name) {
			im.leave("permission."+name, "no source can say it")
		}
		return true
	})
	return nil
}
