package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"sallyport/internal/bashrule"
	"sallyport/settings"
)

var (
	closedReads = []string{"~/.aws", "~/.ssh", "~/.netrc", "~/.docker", "~/.kube", "~/.azure", "~/.config/gcloud"}

	forbiddenReads  = append([]string{"~", "/"}, closedReads...)
	forbiddenWrites = []string{"~", "/", "~/.config", "~/.config/gh", "~/.gnupg", "~/.ssh", "~/.aws", "~/.docker", "~/.kube",
		"~/.claude", "~/.codex", "~/.config/opencode", "~/.kiro"}

	// requiredDeny must stand in permissions.deny word for word.
	requiredDeny = []string{
		"Read(~/.aws/**)", "Read(~/.ssh/**)", "Read(~/.netrc)", "Read(~/.docker/**)", "Read(~/.kube/**)", "Read(~/.config/gh/**)",
		"Read(~/.config/gcloud/**)", "Read(~/.azure/**)", "Read(//**/.env)", "Read(//**/.env.local)", "Read(//**/.env.*.local)",
		"Bash(curl *)", "Bash(wget *)", "Bash(aws *)", "Bash(gcloud *)", "Bash(az *)", "Bash(kubectl *)",
	}

	secretVariables = []string{"ANTHROPIC_API_KEY", "GH_TOKEN", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY"}

	gatewayDirs = []string{".sallyport-local/run", ".apache-magpie-local/run"}
)

func (c *claude) requiredDeny() []string {
	return append(requiredDeny[:len(requiredDeny):len(requiredDeny)], c.run.cfg.Policy.RequireDeny...)
}

// sandbox is the sandbox object; ok is false where SL101 says so.
func (c *claude) sandbox() (v *value, ok bool) {
	v = c.root.get("sandbox")
	return v, v.is(settings.Object)
}

// filesystem is sandbox.filesystem; ok is false where SL101 or SL103 say so.
func (c *claude) filesystem() (v *value, ok bool) {
	v = c.root.get("sandbox", "filesystem")
	return v, v.is(settings.Object)
}

// inSandbox runs a check only if there is a sandbox object.
func inSandbox(f func(*claude, *value, reporter)) func(*claude, reporter) {
	return func(c *claude, r reporter) {
		if v, ok := c.sandbox(); ok {
			f(c, v, r)
		}
	}
}

func inFilesystem(f func(*claude, *value, reporter)) func(*claude, reporter) {
	return func(c *claude, r reporter) {
		if v, ok := c.filesystem(); ok {
			f(c, v, r)
		}
	}
}

// forbid reports the entries of a sandbox list that open a forbidden path.
func forbid(list string, paths func(*claude) []string, what string) func(*claude, *value, reporter) {
	return func(c *claude, fs *value, r reporter) {
		for _, e := range fs.get(list).strings() {
			if hit := c.hit(e, paths(c)); hit != "" {
				r.at(e, fmt.Sprintf("%s %s %s", quote(e.text), what, hit))
			}
		}
	}
}

func isObject(path ...string) func(*claude, reporter) {
	return func(c *claude, r reporter) {
		if v := c.root.get(path...); !v.is(settings.Object) {
			if path[0] == "sandbox" && len(path) > 1 {
				if _, ok := c.sandbox(); !ok {
					return
				}
			}
			message := "must be an object, and is missing"
			if v != nil {
				message = "must be an object, not " + v.kind.String()
			}
			r.under(c.root, path, message)
		}
	}
}

func mustBe(want bool, path ...string) func(*claude, *value, reporter) {
	return func(c *claude, _ *value, r reporter) {
		v := c.root.get(path...)
		if b, ok := v.bool(); !ok || b != want {
			is := "it is not set"
			if v != nil {
				is = "it is " + clip(v.compact())
			}
			r.under(c.root, path, fmt.Sprintf("must be %v, %s", want, is))
		}
	}
}

func mustNotBe(bad bool, path ...string) func(*claude, *value, reporter) {
	return func(c *claude, _ *value, r reporter) {
		if v := c.root.get(path...); v != nil {
			if b, ok := v.bool(); ok && b == bad {
				r.at(v, fmt.Sprintf("must not be %v", bad))
			}
		}
	}
}

// clip bounds a text that goes into a message.
func clip(s string) string {
	const longest = 200
	if len(s) > longest {
		return strings.ToValidUTF8(s[:longest], "") + "…"
	}
	return s
}

var sandboxRules = []check[*claude]{
	{Rule{ID: "SL101", Severity: Error, Hard: true,
		Summary: "sandbox is not an object",
		Why:     "without it every command an agent runs has the reach of the person who started it",
		Example: `{"permissions": {}}`,
		Fix:     `add "sandbox": {"enabled": true, …}`}, isObject("sandbox")},
	{Rule{ID: "SL102", Severity: Error, Hard: true, Mends: true,
		Summary: "sandbox.enabled is not exactly true",
		Why:     `the client takes only the boolean: "true" and 1 leave the sandbox off`,
		Example: `{"sandbox": {"enabled": "true"}}`,
		Fix:     `write "enabled": true`}, inSandbox(mustBe(true, "sandbox", "enabled"))},
	{Rule{ID: "SL103", Severity: Error, Hard: true,
		Summary: "sandbox.filesystem is not an object",
		Why:     "the sandbox then lets commands read every file, credentials included",
		Example: `{"sandbox": {"enabled": true}}`,
		Fix:     `add "filesystem": {"denyRead": ["~/"], "allowRead": ["."], …}`}, isObject("sandbox", "filesystem")},
	{Rule{ID: "SL104", Severity: Error, Hard: true, Mends: true,
		Summary: "sandbox.filesystem.denyRead does not contain the home directory",
		Why:     "nothing is closed, so allowRead opens nothing and every credential in the home directory can be read",
		Example: `{"sandbox": {"filesystem": {"denyRead": ["~/.ssh"]}}}`,
		Fix:     `add "~/" to denyRead`},
		inFilesystem(func(c *claude, fs *value, r reporter) {
			for _, e := range fs.get("denyRead").strings() {
				if c.place(e) == "~" {
					return
				}
			}
			r.under(c.root, []string{"sandbox", "filesystem", "denyRead"}, `must contain "~/": nothing in the home directory is closed to commands`)
		})},
	{Rule{ID: "SL105", Severity: Error, Hard: true,
		Summary: "sandbox.filesystem.allowRead opens home, / or a directory of credentials",
		Why:     "any command can then read the keys and tokens in it and send them away",
		Example: `{"sandbox": {"filesystem": {"allowRead": ["~/.aws/"]}}}`,
		Fix:     "remove the entry; open the one file or directory that is needed"},
		inFilesystem(forbid("allowRead", func(c *claude) []string {
			return append(forbiddenReads[:len(forbiddenReads):len(forbiddenReads)], c.run.cfg.Policy.ForbidAllowRead...)
		}, "opens for reading"))},
	{Rule{ID: "SL106", Severity: Error, Hard: true,
		Summary: "sandbox.filesystem.allowWrite opens home, /, a directory of credentials or an agent's own configuration",
		Why:     "who can write there can leave code that runs later outside the sandbox, or loosen the sandbox itself",
		Example: `{"sandbox": {"filesystem": {"allowWrite": ["~/.config/"]}}}`,
		Fix:     "remove the entry; open the narrowest directory that is needed, such as ~/.cache/tool"},
		inFilesystem(forbid("allowWrite", func(c *claude) []string {
			return append(forbiddenWrites[:len(forbiddenWrites):len(forbiddenWrites)], c.run.cfg.Policy.ForbidAllowWrite...)
		}, "opens for writing"))},
	{Rule{ID: "SL107", Severity: Error, Hard: true,
		Summary: "an entry of sandbox.filesystem.allowWrite is not in allowRead",
		Why:     "with home closed, what cannot be read cannot be worked on either: commands fail half-way",
		Example: `{"sandbox": {"filesystem": {"allowRead": ["."], "allowWrite": ["~/.cache/"]}}}`,
		Fix:     "add the same path to allowRead"},
		inFilesystem(func(c *claude, fs *value, r reporter) {
			readable := make(map[string]bool)
			for _, e := range fs.get("allowRead").strings() {
				readable[c.place(e)] = true
			}
			for _, e := range fs.get("allowWrite").strings() {
				if !readable[c.place(e)] && !(e.derived && c.inside(c.place(e), readable)) {
					r.at(e, quote(e.text)+" is not in allowRead", help("add "+quote(e.text)+" to sandbox.filesystem.allowRead"))
				}
			}
		})},
	{Rule{ID: "SL108", Severity: Error, Hard: true,
		Summary: "permissions is not an object",
		Why:     "the agent's own tools, which no sandbox covers, are then open to every file",
		Example: `{"sandbox": {}}`,
		Fix:     `add "permissions": {"deny": […]}`}, isObject("permissions")},
	{Rule{ID: "SL109", Severity: Error, Hard: true, Mends: true,
		Summary: "permissions.deny lacks a required entry, and nothing covers it",
		Why:     "the sandbox does not cover the Read tool, and a denied command is friction where the sandbox is off",
		Example: `{"permissions": {"deny": []}}`,
		Fix:     "add the entry as it is written here"},
		func(c *claude, r reporter) {
			if !c.root.get("permissions").is(settings.Object) {
				return
			}
			deny := c.list("deny")
			for _, want := range c.requiredDeny() {
				if slices.ContainsFunc(deny, func(p *permission) bool { return p.value.text == want }) {
					continue
				}
				is := []string{"permissions", "deny"}
				asked := parsePermission(&value{kind: settings.String, text: want, file: c.file}, "deny", c.run.anchorsOf(c.file, c.run.cfg.Dir))
				i := slices.IndexFunc(deny, func(p *permission) bool { return c.covers(p, &asked) })
				if i < 0 {
					r.under(c.root, is, "lacks "+quote(want), help("add "+quote(want)+" to permissions.deny"), of(want))
					continue
				}
				r.as("SL110").under(c.root, is, fmt.Sprintf("lacks %s, though %s covers it", quote(want), quote(deny[i].value.text)), of(want), related(deny[i].value))
			}
		}},
	{Rule{ID: "SL110", Severity: Warning,
		Summary: "permissions.deny lacks a required entry that another one covers",
		Why:     "tools that compare texts do not see the protection, and the covering entry may be dropped without a word",
		Example: `{"permissions": {"deny": ["Bash(wget:*)"]}}`,
		Fix:     "add the required entry as well"}, nil},
	{Rule{ID: "SL111", Severity: Error, Hard: true,
		Summary: "sandbox.network.allowUnixSockets opens the socket of a container daemon",
		Why:     "who talks to the daemon is root on this machine",
		Example: `{"sandbox": {"network": {"allowUnixSockets": ["/var/run/docker.sock"]}}}`,
		Fix:     "name the socket of the filtering gateway, …/.sallyport-local/run/docker.sock"},
		inSandbox(func(c *claude, s *value, r reporter) {
			for _, e := range s.get("network", "allowUnixSockets").strings() {
				if why := c.daemonSocket(e.text); why != "" {
					r.at(e, quote(e.text)+" "+why)
				}
			}
		})},
	{Rule{ID: "SL112", Severity: Error, Mends: true,
		Summary: "sandbox.network.allowAllUnixSockets is true",
		Why:     "the sockets of container daemons, agents and desktops are all within reach",
		Example: `{"sandbox": {"network": {"allowAllUnixSockets": true}}}`,
		Fix:     "remove it, and name single sockets in allowUnixSockets"}, inSandbox(mustNotBe(true, "sandbox", "network", "allowAllUnixSockets"))},
	{Rule{ID: "SL113", Severity: Error, Mends: true,
		Summary: "sandbox.filesystem.disabled is true",
		Why:     "the file system is not confined at all; denyRead falls away with it",
		Example: `{"sandbox": {"filesystem": {"disabled": true}}}`,
		Fix:     "remove it"}, inSandbox(mustNotBe(true, "sandbox", "filesystem", "disabled"))},
	{Rule{ID: "SL114", Severity: Error, Mends: true,
		Summary: "permissions.defaultMode is bypassPermissions",
		Why:     "sessions start without any permission prompt",
		Example: `{"permissions": {"defaultMode": "bypassPermissions"}}`,
		Fix:     `write "default", or acceptEdits or plan`},
		func(c *claude, r reporter) {
			if v := c.root.get("permissions", "defaultMode"); v.is(settings.String) && v.text == "bypassPermissions" {
				r.at(v, "must not be bypassPermissions")
			}
		}},
	{Rule{ID: "SL115", Severity: Error,
		Summary: "every domain, or all of a top-level domain, is allowed",
		Why:     "the list of domains is what stops data from leaving",
		Example: `{"sandbox": {"network": {"allowedDomains": ["*"]}}}`,
		Fix:     "name the domains that are needed"},
		inSandbox(func(c *claude, s *value, r reporter) {
			for _, e := range s.get("network", "allowedDomains").strings() {
				if anyDomain(e.text) {
					r.at(e, quote(e.text)+" allows a whole part of the internet")
				}
			}
			for _, p := range c.list("allow") {
				domain, ok := strings.CutPrefix(p.spec, "domain:")
				if p.tool == "WebFetch" && !p.broken && (p.all() || ok && anyDomain(domain)) && !c.fromRule(p.value) {
					r.at(p.value, quote(p.value.text)+" lets the agent fetch from, and send to, any site", help("allow single sites: WebFetch(domain:example.com)"))
				}
			}
		})},
	{Rule{ID: "SL116", Severity: Error,
		Summary: "sandbox.excludedCommands takes an arbitrary program out of the sandbox",
		Why:     "excluded commands run outside the sandbox: the agent has only to go through the interpreter or wrapper",
		Example: `{"sandbox": {"excludedCommands": ["bash *"]}}`,
		Fix:     "name the one program that needs it, such as \"gh *\""},
		inSandbox(func(c *claude, s *value, r reporter) {
			for _, e := range s.get("excludedCommands").strings() {
				if arbitraryProgram(e.text) {
					r.at(e, quote(e.text)+" runs any program outside the sandbox")
				}
			}
		})},
	{Rule{ID: "SL117", Severity: Warning,
		Summary: "an entry of allowRead or allowWrite lies inside a directory of credentials",
		Why:     "what lies there is rarely harmless",
		Example: `{"sandbox": {"filesystem": {"allowRead": ["~/.aws/config"]}}}`,
		Fix:     "remove it unless the file holds no secret"},
		inSandbox(func(c *claude, s *value, r reporter) {
			for _, list := range []string{"allowRead", "allowWrite"} {
				for _, e := range s.get("filesystem", list).strings() {
					if dir := c.inCredentials(e); dir != "" {
						r.at(e, quote(e.text)+" lies inside "+dir)
					}
				}
			}
		})},
	{Rule{ID: "SL118", Severity: Warning, Mends: true,
		Summary: "sandbox.allowUnsandboxedCommands is not false",
		Why:     "the agent may ask to leave the sandbox, and a tired person says yes",
		Example: `{"sandbox": {"enabled": true}}`,
		Fix:     `write "allowUnsandboxedCommands": false`}, inSandbox(mustBe(false, "sandbox", "allowUnsandboxedCommands"))},
	{Rule{ID: "SL119", Severity: Warning, Mends: true,
		Summary: "sandbox.failIfUnavailable is not true",
		Why:     "where the sandbox cannot start, a missing bwrap for example, commands run without one",
		Example: `{"sandbox": {"enabled": true}}`,
		Fix:     `write "failIfUnavailable": true`}, inSandbox(mustBe(true, "sandbox", "failIfUnavailable"))},
	{Rule{ID: "SL120", Severity: Warning, Mends: true,
		Summary: "enableWeakerNestedSandbox or enableWeakerNetworkIsolation is true",
		Why:     "each opens a known way past the sandbox, for containers or for macOS's certificate service",
		Example: `{"sandbox": {"enableWeakerNestedSandbox": true}}`,
		Fix:     "remove it"},
		inSandbox(func(c *claude, s *value, r reporter) {
			mustNotBe(true, "sandbox", "enableWeakerNestedSandbox")(c, s, r)
			mustNotBe(true, "sandbox", "enableWeakerNetworkIsolation")(c, s, r)
			// Published settings have it here, where guides put it too.
			mustNotBe(true, "sandbox", "network", "enableWeakerNetworkIsolation")(c, s, r)
		})},
	{Rule{ID: "SL121", Severity: Warning, Mends: true,
		Summary: "sandbox.credentials.envVars does not take away the usual tokens",
		Why:     "commands inherit the environment; a token in it leaves with the first allowed request",
		Example: `{"sandbox": {"enabled": true}}`,
		Fix:     `add {"name": "GH_TOKEN", "mode": "deny"} and so on`},
		inSandbox(func(c *claude, s *value, r reporter) {
			if missing := c.openVariables(); len(missing) > 0 {
				r.under(c.root, []string{"sandbox", "credentials", "envVars"}, "no entry with mode deny or mask for "+quoteList(missing))
			}
		})},
}

func of(text string) option { return func(f *Finding) { f.value = text } }

// openVariables are the secret variables that commands can read.
func (c *claude) openVariables() (missing []string) {
	for _, name := range secretVariables {
		if !slices.ContainsFunc(c.root.get("sandbox", "credentials", "envVars").children(), func(v *value) bool {
			n, mode := v.get("name"), v.get("mode")
			return n.is(settings.String) && n.text == name && mode.is(settings.String) && (mode.text == "deny" || mode.text == "mask")
		}) {
			missing = append(missing, name)
		}
	}
	return missing
}

// fromRule reports a rule that a merge has also put into the sandbox's lists.
func (c *claude) fromRule(v *value) bool {
	return slices.ContainsFunc(c.root.get("sandbox", "network", "allowedDomains").strings(), func(e *value) bool {
		return e.file == v.file && e.offset == v.offset
	})
}

// anyDomain reports "*" and "*.<one label>", with a port or without.
func anyDomain(domain string) bool {
	if i := strings.LastIndexByte(domain, ':'); i >= 0 {
		domain = domain[:i]
	}
	domain = strings.TrimSuffix(domain, ".")
	if domain != "" && strings.Trim(domain, "*.") == "" {
		return true
	}
	label, ok := strings.CutPrefix(domain, "*.")
	return ok && label != "" && !strings.Contains(label, ".")
}

// arbitraryProgram reports an excluded command under which any program can run.
func arbitraryProgram(pattern string) bool {
	pattern = strings.TrimSpace(pattern)
	if prefix, ok := strings.CutSuffix(pattern, ":*"); ok {
		pattern = prefix + " *"
	}
	forms := bashrule.Forms(pattern)
	words := strings.Fields(forms[len(forms)-1])
	if len(words) == 0 {
		return false
	}
	if words[0][0] == '*' {
		return true
	}
	program, glued := strings.CutSuffix(strings.TrimLeft(words[0], `\`), "*")
	switch path.Base(program) {
	case "bash", "sh", "zsh", "fish", "env", "sudo", "xargs", "python", "python3", "node", "npx", "uvx":
	default:
		return false
	}
	if glued || len(words) == 1 {
		return true
	}
	// Options and assignments alone do not say what runs.
	for _, w := range words[1:] {
		switch {
		case w[0] == '*', w[0] == '-' && strings.HasSuffix(w, "*"):
			return true
		case w[0] != '-' && !(path.Base(program) == "env" && strings.Contains(w, "=")):
			return false
		}
	}
	return false
}

// inCredentials is the directory of credentials that an entry lies strictly
// inside, empty if there is none or the place is known to be harmless.
func (c *claude) inCredentials(entry *value) string {
	normal := c.place(entry)
	for _, dir := range closedReads {
		rest, ok := strings.CutPrefix(normal, c.normal(dir)+"/")
		if !ok {
			continue
		}
		first, _, deeper := strings.Cut(rest, "/")
		switch {
		case dir == "~/.docker" && (first == "bin" || first == "cli-plugins"),
			dir == "~/.ssh" && !deeper && (strings.HasSuffix(rest, ".pub") || rest == "known_hosts" || rest == "config"):
			return ""
		}
		return dir
	}
	return ""
}

// inside reports that a path lies in one of the readable ones, or in the
// working directory where that is one.
func (c *claude) inside(normal string, readable map[string]bool) bool {
	if dir := c.normal(c.run.cfg.Dir); readable["."] && (normal == dir || strings.HasPrefix(normal, dir+"/")) {
		return true
	}
	for ; normal != "/" && normal != "." && normal != "~"; normal = path.Dir(normal) {
		if readable[normal] {
			return true
		}
	}
	return false
}

var daemonNames = []string{"docker.sock", "podman.sock", "containerd.sock", "crio.sock"}

// daemonDirs hold daemon sockets on ordinary machines.
var daemonDirs = []string{
	"/var/run", "/run/podman", "/run/containerd", "/run/crio", "/run/docker", "/run/user", "/var/run/podman", "/var/run/containerd",
	"/var/run/crio", "/private/var/run", "~/.docker/run", "~/.docker/desktop", "~/.colima", "~/.colima/default", "~/.colima/docker", "~/.rd",
	"~/.orbstack/run", "~/.lima", "~/.local/share/containers/podman", "~/.local/share/containers/podman/machine",
}

// daemonSocket says why an entry opens a daemon's socket, empty if it does not.
func (c *claude) daemonSocket(entry string) string {
	entry = strings.TrimPrefix(entry, "unix://")
	normal := c.normal(entry)
	if normal == "" {
		return ""
	}
	// The last part of what is written decides about globs; what normal has
	// taken off may match a socket in the directory that is left.
	cleaned := strings.TrimRight(entry, "/")
	dir, last := path.Dir(normal), path.Base(normal)
	if strings.HasSuffix(cleaned, "/*") || strings.HasSuffix(cleaned, "/**") || cleaned == "*" || cleaned == "**" {
		dir, last = normal, "*"
	}
	if c.isGateway(dir) {
		return ""
	}
	isGlob := strings.ContainsAny(last, "*?[")
	for _, name := range daemonNames {
		if last == name || isGlob && globsMeet(last, name) {
			return "opens a container daemon's socket, which is root on this machine"
		}
	}
	if strings.HasSuffix(last, "-api.sock") || isGlob && globsMeet(last, "*-api.sock") {
		return "opens a daemon's API socket, which is root on this machine"
	}
	if isGlob {
		return ""
	}
	for _, d := range daemonDirs {
		if d = c.normal(d); normal == d || normal == "/" || strings.HasPrefix(d, normal+"/") || c.aboveHome(normal) {
			return "is a directory in which container daemons keep their sockets"
		}
	}
	if rest, ok := strings.CutPrefix(normal, "/run/user/"); ok && (!strings.Contains(rest, "/") || strings.HasSuffix(rest, "/podman") || strings.HasSuffix(rest, "/docker")) {
		return "is a directory in which container daemons keep their sockets"
	}
	return ""
}

// isGateway reports a directory of a filtering gateway, on whole components.
func (c *claude) isGateway(dir string) bool {
	for _, g := range append(gatewayDirs[:len(gatewayDirs):len(gatewayDirs)], c.run.cfg.Policy.GatewayDirs...) {
		g = strings.TrimPrefix(c.normal(g), "/")
		if g != "" && (dir == g || strings.HasSuffix(dir, "/"+g) || dir == "/"+g) {
			return true
		}
	}
	return false
}

// globsMeet reports whether some text matches both globs. A class in brackets
// counts as any one character.
func globsMeet(a, b string) bool {
	x, y := globTokens(a), globTokens(b)
	if len(x) > 1024 {
		return true
	}
	reach := make([][]bool, len(x)+1)
	for i := range reach {
		reach[i] = make([]bool, len(y)+1)
	}
	reach[0][0] = true
	for i := 0; i <= len(x); i++ {
		for j := 0; j <= len(y); j++ {
			if !reach[i][j] {
				continue
			}
			if i < len(x) && x[i] == '*' {
				reach[i+1][j] = true
				if j < len(y) {
					reach[i][j+1] = true
				}
			}
			if j < len(y) && y[j] == '*' {
				reach[i][j+1] = true
				if i < len(x) {
					reach[i+1][j] = true
				}
			}
			if i < len(x) && j < len(y) && x[i] != '*' && y[j] != '*' && (x[i] == y[j] || x[i] == '?' || y[j] == '?') {
				reach[i+1][j+1] = true
			}
		}
	}
	return reach[len(x)][len(y)]
}

func globTokens(glob string) (out []rune) {
	for i := 0; i < len(glob); i++ {
		if glob[i] == '[' {
			if end := strings.IndexByte(glob[i+1:], ']'); end > 0 {
				out = append(out, '?')
				i += end + 1
				continue
			}
		}
		out = append(out, rune(glob[i]))
	}
	return out
}
