package settings

import (
	"path/filepath"
	"strings"
)

// A keyRule says which files may not set a key.
type keyRule int

const (
	anyScope keyRule = iota
	// managedOnly keys count in managed settings alone.
	managedOnly
	// trustedOnly keys count in user, managed and --settings files.
	trustedOnly
	// trustedTrue: true counts in those files, false everywhere.
	trustedTrue
	// guardedTrue: true from a project is dropped in a guarded session.
	guardedTrue
	// guardedFalse: false from a project is dropped in a guarded session in
	// which a trusted file says true.
	guardedFalse
	// guardedValue: every value from a project is dropped in a guarded session.
	guardedValue
)

// ruleFor knows the keys whose file matters: the descriptions of the published
// settings schema of client 2.1.332. Everything else may stand anywhere.
func ruleFor(path []string) keyRule {
	if path[0] != "sandbox" {
		switch strings.Join(path, ".") {
		case "allowManagedHooksOnly", "allowManagedPermissionRulesOnly", "allowManagedMcpServersOnly",
			"strictPluginOnlyCustomization", "disableSideloadFlags", "managedSourcesBehavior",
			"wslInheritsWindowsSettings", "policyHelper", "parentSettingsBehavior":
			return managedOnly
		case "permissions.denyInsteadOfPrompting":
			return trustedOnly
		}
		return anyScope
	}
	switch strings.Join(path[1:], ".") {
	case "bwrapPath", "socatPath", "network.allowManagedDomainsOnly", "filesystem.allowManagedReadPathsOnly":
		return managedOnly
	case "allowAppleEvents", "ripgrep", "filesystem.disabled", "network.strictAllowlist", "network.tlsTerminate",
		"credentials.allowPlaintextInject", "credentials.awsPairs", "credentials.sigv4":
		return trustedOnly
	case "allowNestedUserNamespaces":
		return trustedTrue
	case "enableWeakerNestedSandbox", "enableWeakerNetworkIsolation", "network.allowAllUnixSockets",
		"network.allowLocalBinding":
		return guardedTrue
	case "enabled", "failIfUnavailable":
		return guardedFalse
	case "excludedCommands", "ignoreViolations", "network.allowedDomains", "network.allowUnixSockets",
		"network.allowMachLookup", "network.httpProxyPort", "network.socksProxyPort", "filesystem.allowWrite":
		return guardedValue
	}
	if len(path) > 2 {
		// A part of an object falls under the object's rule.
		return ruleFor(path[:len(path)-1])
	}
	return anyScope
}

// anyTrueWins lists the booleans that no stronger file can switch off again.
func anyTrueWins(key string) bool {
	switch key {
	case "permissions.blockReadsOutsideWorkingDirectories", "permissions.blockWritesOutsideWorkingDirectories",
		"permissions.denyInsteadOfPrompting", "sandbox.network.strictAllowlist",
		"disableClaudeAiConnectors", "isolatePeerMachines":
		return true
	}
	return false
}

// anyFalseWins lists the booleans whose false no stronger file can lift. For
// the last of them that holds for project and local files.
func anyFalseWins(key string, scope Scope) bool {
	switch key {
	case "useAutoModeDuringPlan", "syncClaudeAiSkills":
		return true
	case "remoteControlAtStartup":
		return scope == Project || scope == Local
	}
	return false
}

// admittedFromEverySource lists the keys that a managed source may set although
// a stronger one delivers policy.
func admittedFromEverySource(path []string) bool {
	switch strings.Join(path, ".") {
	case "sandbox.network.allowManagedDomainsOnly", "sandbox.network.allowedDomains",
		"sandbox.filesystem.allowManagedReadPathsOnly", "sandbox.filesystem.allowRead",
		"sandbox.filesystem.disabled", "sandbox.network.strictAllowlist",
		"sandbox.bwrapPath", "sandbox.socatPath", "sandbox.ripgrep":
		return true
	}
	return path[0] == "env" || len(path) > 2 && admittedFromEverySource(path[:len(path)-1])
}

var (
	strictKey      = []string{"sandbox", "allowUnsandboxedCommands"}
	domainsLockKey = []string{"sandbox", "network", "allowManagedDomainsOnly"}
	readsLockKey   = []string{"sandbox", "filesystem", "allowManagedReadPathsOnly"}
	rulesLockKey   = []string{"allowManagedPermissionRulesOnly"}
)

// strictBool is what the client puts in place of a boolean that managed settings
// get wrong: it closes rather than opens (seen with 2.1.332).
func strictBool(key string) (value, ok bool) {
	switch key {
	case enabledKey, "sandbox.network.strictAllowlist", "sandbox.network.allowManagedDomainsOnly",
		"sandbox.filesystem.allowManagedReadPathsOnly", "permissions.blockReadsOutsideWorkingDirectories",
		"permissions.blockWritesOutsideWorkingDirectories", "permissions.denyInsteadOfPrompting",
		"allowManagedHooksOnly", "allowManagedPermissionRulesOnly", "allowManagedMcpServersOnly",
		"strictPluginOnlyCustomization", "disableSideloadFlags", "disableCommandPluginSources",
		"disableClaudeAiConnectors", "isolatePeerMachines", "enforceAvailableModels", "disableSkillShellExecution":
		return true, true
	case autoAllowKey, bypassKey, "sandbox.network.allowAllUnixSockets", "sandbox.network.allowLocalBinding",
		"sandbox.filesystem.disabled", "sandbox.credentials.allowPlaintextInject", "sandbox.enableWeakerNestedSandbox",
		"sandbox.allowNestedUserNamespaces", "sandbox.enableWeakerNetworkIsolation", "sandbox.allowAppleEvents",
		"useAutoModeDuringPlan", "syncClaudeAiSkills", "remoteControlAtStartup", "enableAllProjectMcpServers",
		"skipDangerousModePermissionPrompt", "skipAutoPermissionPrompt":
		return false, true
	}
	return false, false
}

// strictText is the same for strings.
func strictText(key string) string {
	switch key {
	case "permissions.defaultMode":
		return "default"
	case "permissions.disableBypassPermissionsMode", "permissions.disableAutoMode":
		return "disable"
	}
	return ""
}

// wrong is what stands in the way of a value in managed settings: the value
// itself, or an object around it, of another type. whole is set for the latter.
func (l *layer) wrong(path []string, want Kind) (n Node, whole, is bool) {
	if l.Scope != Managed {
		return Node{}, false, false
	}
	for i := range path {
		n = l.doc.Root().Get(path[:i+1]...)
		last := i == len(path)-1
		switch k := n.Kind(); {
		case k == Absent || k == Null:
			return Node{}, false, false
		case last && k != want, !last && k != Object:
			return n, !last, true
		}
	}
	return Node{}, false, false
}

// bool is a layer's boolean at a path.
func (l *layer) bool(path []string) (value bool, n Node, ok bool) {
	n = l.doc.Root().Get(path...)
	if value, ok = n.Bool(); ok {
		return value, n, true
	}
	n, whole, wrong := l.wrong(path, Bool)
	key := strings.Join(path, ".")
	if !wrong || whole && key == enabledKey {
		return false, Node{}, false // a broken sandbox object does not switch it on
	}
	value, ok = strictBool(key)
	return value, n, ok
}

// text is a layer's string at a path.
func (s *Stack) text(l *layer, path []string) (value string, n Node, ok bool) {
	n = l.doc.Root().Get(path...)
	key := strings.Join(path, ".")
	strict := strictText(key)
	value, ok = n.Text()
	if strict != "" && l.Scope == Managed {
		if _, bad := check(n, schemaSpec(key), key, key); ok && bad {
			return strict, n, true
		}
		if ok && key == "permissions.defaultMode" && asksLess(value) && l.lostRules() {
			// A mode in another managed file stands in for the one that is lost.
			for i := range s.layers {
				o := &s.layers[i]
				mode, _ := o.doc.Root().Get(path...).Text()
				if o.Scope == Managed && mode != "" && !(asksLess(mode) && o.lostRules()) {
					return "", n, false
				}
			}
			return strict, n, true
		}
		// A wrong permissions object as a whole leaves the mode alone.
		if at, whole, wrong := l.wrong(path, String); wrong && !(whole && strict == "default") {
			return strict, at, true
		}
	}
	return value, n, ok
}

// says reports that a layer of one of the scopes has that boolean.
func (s *Stack) says(path []string, value bool, scopes ...Scope) bool {
	for i := range s.layers {
		l := &s.layers[i]
		for _, scope := range scopes {
			if l.Scope != scope || l.only != nil && !l.only(path) {
				continue
			}
			if v, _, ok := l.bool(path); ok && v == value {
				return true
			}
		}
	}
	return false
}

// managedTrue is the resolved value of a managed-only boolean.
func (s *Stack) managedTrue(path []string) bool {
	for i := range s.layers {
		l := &s.layers[i]
		if l.Scope == Managed && (l.only == nil || l.only(path)) {
			if v, _, ok := l.bool(path); ok {
				return v
			}
		}
	}
	return false
}

// guarded reports a session in which a project cannot loosen the sandbox: an
// administrator or the command line said so.
func (s *Stack) guarded() bool {
	return s.says(strictKey, false, Managed, CommandLine) || s.managedTrue(domainsLockKey)
}

// has reports that a layer of one of the scopes has anything at path.
func (s *Stack) has(path []string, scopes ...Scope) bool {
	for i := range s.layers {
		l := &s.layers[i]
		for _, scope := range scopes {
			if l.Scope != scope {
				continue
			}
			if n := l.doc.Root().Get(path...); n.Kind() != Absent && n.Kind() != Null && !(n.Kind() == Array && n.Len() == 0) {
				return true
			}
		}
	}
	return false
}

const (
	whyManagedOnly = "only managed settings may set it"
	whyTrustedOnly = "only user, managed and --settings files may set it"
	whyGuarded     = "project and local files cannot loosen the sandbox in this session: allowUnsandboxedCommands is false in managed settings or --settings, or managed settings allow only their own domains"
)

// ignored says why the client passes over a value in the file it stands in,
// empty if the value counts. Entries of lists have rules of their own, see
// ignoredEntry.
func (s *Stack) ignored(l *layer, path []string, n Node) string {
	if l.only != nil && !l.only(path) {
		return "a stronger managed source delivers policy"
	}
	key := strings.Join(path, ".")
	rule := ruleFor(path)
	if rule == managedOnly && l.Scope != Managed {
		return whyManagedOnly
	}
	if l.Scope != Managed {
		if why := s.locked(key, path); why != "" {
			return why
		}
	} else if key == "permissions.allow" && l.lostRules() {
		return "all deny or ask rules of the same managed file are malformed, so the client drops its allow rules too"
	}
	if l.Scope.trusted() {
		return ""
	}
	value, isBool := n.Bool()
	switch rule {
	case trustedOnly:
		return whyTrustedOnly
	case trustedTrue:
		if value {
			return whyTrustedOnly
		}
	case guardedTrue:
		if value && s.guarded() {
			return whyGuarded
		}
	case guardedFalse:
		if isBool && !value && s.guarded() && s.says(path, true, Managed, CommandLine, User) {
			return whyGuarded
		}
	case guardedValue:
		if s.guarded() {
			return whyGuarded
		}
	}
	switch key {
	case "sandbox.allowUnsandboxedCommands":
		if value && s.trustedSaysStrict() {
			return "a user, managed or --settings file says false, which holds against project and local files"
		}
	case "sandbox.network.allowedDomains":
		if s.says([]string{"sandbox", "network", "strictAllowlist"}, true, Managed, CommandLine, User) {
			return "network.strictAllowlist is on: only user, managed and --settings files name domains"
		}
	case "sandbox.network.httpProxyPort", "sandbox.network.socksProxyPort":
		if s.has([]string{"sandbox", "network", "deniedDomains"}, Managed, CommandLine) ||
			s.hasRule("deny", "WebFetch(domain:", Managed, CommandLine) ||
			s.says([]string{"sandbox", "network", "strictAllowlist"}, true, Managed, CommandLine, User) {
			return "the network is restricted from above: project and local files cannot name a proxy"
		}
	}
	return ""
}

// locked says why a key counts in managed settings alone, in this session.
func (s *Stack) locked(key string, path []string) string {
	switch key {
	case "sandbox.network.allowedDomains", "sandbox.network.httpProxyPort", "sandbox.network.socksProxyPort":
		if s.managedTrue(domainsLockKey) {
			return "managed settings allow only their own (network.allowManagedDomainsOnly)"
		}
	case "sandbox.filesystem.allowRead":
		if s.managedTrue(readsLockKey) {
			return "managed settings allow only their own (filesystem.allowManagedReadPathsOnly)"
		}
	case "sandbox.filesystem.disabled":
		if s.has([]string{"sandbox", "filesystem"}, Managed) || s.managedDeniesFile() {
			return "managed settings restrict the file system, so only they may set it"
		}
	}
	if path[0] == "permissions" && len(path) == 2 && (path[1] == "allow" || path[1] == "ask" || path[1] == "deny") && s.managedTrue(rulesLockKey) {
		return "managed settings allow only their own rules (allowManagedPermissionRulesOnly)"
	}
	return ""
}

// trustedSaysStrict resolves allowUnsandboxedCommands without the files that a
// repository can write.
func (s *Stack) trustedSaysStrict() bool {
	for i := range s.layers {
		l := &s.layers[i]
		if !l.Scope.trusted() || l.only != nil && !l.only(strictKey) {
			continue
		}
		if v, _, ok := l.bool(strictKey); ok {
			return !v
		}
	}
	return false
}

func (s *Stack) hasRule(list, prefix string, scopes ...Scope) (found bool) {
	for i := range s.layers {
		l := &s.layers[i]
		for _, scope := range scopes {
			if l.Scope != scope {
				continue
			}
			l.doc.Root().Get("permissions", list).Each(func(_ string, n Node) bool {
				text, _ := n.Text()
				found = found || strings.HasPrefix(text, prefix)
				return !found
			})
		}
	}
	return found
}

// asksLess reports the modes in which some calls need no approval.
func asksLess(mode string) bool {
	return mode == "acceptEdits" || mode == "auto" || mode == "bypassPermissions"
}

// lostRules reports a deny or ask list of which the client takes no rule. Where
// managed settings lose one like that, their allow rules do not count, and a
// default mode that asks less becomes "default" (seen with 2.1.332).
func (l *layer) lostRules() bool {
	for _, list := range []string{"deny", "ask"} {
		rules, taken := l.doc.Root().Get("permissions", list), 0
		rules.Each(func(_ string, n Node) bool {
			if text, ok := n.Text(); ok && ruleFault(text, list) == "" {
				taken++
			}
			return taken == 0
		})
		if rules.Kind() == Array && rules.Len() > 0 && taken == 0 {
			return true
		}
	}
	return false
}

func (s *Stack) managedDeniesFile() (found bool) {
	for i := range s.layers {
		if l := &s.layers[i]; l.Scope == Managed {
			l.doc.Root().Get("sandbox", "credentials", "files").Each(func(_ string, n Node) bool {
				mode, _ := n.Get("mode").Text()
				found = found || mode == "deny"
				return !found
			})
		}
	}
	return found
}

// ignoredEntry says why the client passes over one entry of a list.
func (s *Stack) ignoredEntry(l *layer, key, entry string) string {
	if list, ok := strings.CutPrefix(key, "permissions."); ok && (list == "allow" || list == "ask" || list == "deny") {
		return ruleFault(entry, list)
	}
	if l.Scope.trusted() {
		return ""
	}
	var scopes []Scope
	switch key {
	case "sandbox.filesystem.allowWrite":
		scopes = []Scope{Managed, CommandLine}
		if !s.deniesReading(scopes) {
			return ""
		}
	case "sandbox.filesystem.allowRead":
		if !s.guarded() && !s.deniesReading([]Scope{Managed, CommandLine}) {
			return ""
		}
		scopes = []Scope{Managed, CommandLine, User}
	default:
		return ""
	}
	if strings.ContainsAny(entry, "*?[") || strings.HasPrefix(entry, `\\`) || strings.HasPrefix(entry, "//") || strings.HasPrefix(entry, "/net/") {
		return "a glob or network path from a project counts no more once a stronger file denies reading"
	}
	path, ok := s.SandboxPath(entry, Source{Scope: l.Scope, Path: l.path})
	if !ok {
		return ""
	}
	for _, denied := range s.deniedPaths(scopes) {
		if within(path, denied) || key == "sandbox.filesystem.allowRead" && within(denied, path) {
			return "it would open " + denied + ", which a stronger file denies reading"
		}
	}
	return ""
}

// within reports that path is base or below it.
func within(path, base string) bool {
	rel, err := filepath.Rel(base, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func (s *Stack) deniesReading(scopes []Scope) bool {
	return s.has([]string{"sandbox", "filesystem", "denyRead"}, scopes...) ||
		s.has([]string{"sandbox", "credentials", "files"}, scopes...) ||
		s.hasRule("deny", "Read(", scopes...)
}

// deniedPaths are the paths that files of these scopes deny reading, as far as
// they can be told: denyRead, credentials.files and plain Read rules.
func (s *Stack) deniedPaths(scopes []Scope) (paths []string) {
	for i := range s.layers {
		l := &s.layers[i]
		matches := false
		for _, scope := range scopes {
			matches = matches || l.Scope == scope
		}
		if !matches {
			continue
		}
		src := Source{Scope: l.Scope, Path: l.path}
		add := func(path string, ok bool) {
			if ok && !strings.ContainsAny(path, "*?[") {
				paths = append(paths, path)
			}
		}
		root := l.doc.Root()
		root.Get("sandbox", "filesystem", "denyRead").Each(func(_ string, n Node) bool {
			text, _ := n.Text()
			add(s.SandboxPath(text, src))
			return true
		})
		root.Get("sandbox", "credentials", "files").Each(func(_ string, n Node) bool {
			text, _ := n.Get("path").Text()
			add(s.SandboxPath(text, src))
			return true
		})
		root.Get("permissions", "deny").Each(func(_ string, n Node) bool {
			text, _ := n.Text()
			if pattern, ok := strings.CutPrefix(text, "Read("); ok && strings.HasSuffix(pattern, ")") {
				add(s.RulePath(strings.TrimSuffix(pattern, ")"), src))
			}
			return true
		})
	}
	return paths
}

// SandboxPath turns an entry of a sandbox path list (sandbox.filesystem.*,
// credentials.files) into an absolute path, by the file it stands in: relative
// entries of a project or local file start at the directory the session was
// started in, those of the user file at ~/.claude. ok is false where that is not
// known: a relative entry of managed settings or --settings, or "~" without a
// home directory. Globs stay as they are.
func (s *Stack) SandboxPath(entry string, src Source) (path string, ok bool) {
	if entry == "" {
		return "", false
	}
	trimmed := strings.TrimSuffix(entry, "/**")
	if path, ok, done := s.anchored(trimmed); done {
		return path, ok
	}
	if filepath.IsAbs(trimmed) || strings.HasPrefix(trimmed, "/") || trimmed == "" {
		return filepath.Clean("/" + strings.TrimLeft(trimmed, "/")), true
	}
	base, ok := s.base(src.Scope)
	if !ok {
		return "", false
	}
	return filepath.Join(base, filepath.FromSlash(trimmed)), true
}

// RulePath turns the pattern of a Read or Edit rule into an absolute one:
// "//p" starts at the root, "~/p" at home, "/p" at the directory of the file
// that the rule stands in, and any other at the directory the session was
// started in. A trailing "/**" is dropped. ok is false where the anchor is not
// known, and for a bare name, which matches at any depth.
func (s *Stack) RulePath(pattern string, src Source) (path string, ok bool) {
	trimmed := strings.TrimSuffix(pattern, "/**")
	if path, ok, done := s.anchored(trimmed); done {
		return path, ok
	}
	if rest, ok := strings.CutPrefix(trimmed, "//"); ok {
		return filepath.Clean("/" + rest), true
	}
	if rest, isSource := strings.CutPrefix(trimmed, "/"); isSource {
		base, ok := s.base(src.Scope)
		if src.Scope == CommandLine {
			base, ok = s.start, true
			if src.Path != "--settings" {
				base = filepath.Dir(src.Path)
			}
		}
		return filepath.Join(base, filepath.FromSlash(rest)), ok
	}
	if !strings.Contains(pattern, "/") {
		return "", false
	}
	return filepath.Join(s.start, filepath.FromSlash(trimmed)), true
}

// anchored handles what means the same in both grammars: home.
func (s *Stack) anchored(entry string) (path string, ok, done bool) {
	rest, home := strings.CutPrefix(entry, "~")
	if !home || rest != "" && rest[0] != '/' {
		return "", false, false
	}
	return filepath.Join(s.env.Home, filepath.FromSlash(rest)), s.env.Home != "", true
}

// base is where relative paths of a scope's file start.
func (s *Stack) base(scope Scope) (string, bool) {
	switch scope {
	case Local, Project:
		return s.start, true
	case User:
		dir := s.UserDir()
		return dir, dir != ""
	}
	return "", false
}
