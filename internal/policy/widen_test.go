package policy

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// The evaluators here read targets the way the agents do, and share no code with
// the compilers: they answer whether something is closed, from the files alone.

const (
	open   = 0
	asked  = 1
	closed = 2
)

var regexps = map[string]*regexp.Regexp{}

func compiledRegexp(s string) *regexp.Regexp {
	re := regexps[s]
	if re == nil {
		re = regexp.MustCompile(s)
		regexps[s] = re
	}
	return re
}

// globbed matches a path with *, ?, [] inside a component and ** across them.
func globbed(pattern, name string) bool {
	var re strings.Builder
	re.WriteString("^")
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case strings.HasPrefix(pattern[i:], "**/"):
			re.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(pattern[i:], "/**") && i+3 == len(pattern):
			re.WriteString("(?:/.*)?")
			i += 2
		case c == '*':
			re.WriteString("[^/]*")
		case c == '?':
			re.WriteString("[^/]")
		case c == '[':
			end := strings.IndexByte(pattern[i:], ']')
			re.WriteString(pattern[i : i+end+1])
			i += end
		default:
			re.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return compiledRegexp(re.String() + "$").MatchString(name)
}

// reaches reports that an entry, as the sandbox runtime reads it, is about a path.
func reaches(entry, home, cwd, p string) bool {
	if rest, ok := strings.CutPrefix(entry, "~"); ok {
		entry = home + rest
	}
	if !strings.HasPrefix(entry, "/") {
		entry = cwd + "/" + strings.TrimPrefix(entry, "./")
	}
	for at := p; at != "/"; at = path.Dir(at) {
		if globbed(entry, at) {
			return true
		}
		if !strings.ContainsAny(entry, "*?[") && strings.TrimRight(entry, "/") == at {
			return true
		}
	}
	return false
}

func hostMatches(pattern, host string) bool {
	pattern = strings.ToLower(pattern)
	if i := strings.LastIndexByte(pattern, ':'); i > strings.LastIndexByte(pattern, ']') && !strings.HasSuffix(pattern, "]") && strings.Count(pattern, ":") == 1 || strings.Contains(pattern, "]:") {
		pattern = pattern[:i]
	}
	pattern = strings.TrimSuffix(pattern, ".")
	if rest, ok := strings.CutPrefix(pattern, "*."); ok {
		return strings.HasSuffix(host, "."+rest)
	}
	return pattern == "*" || pattern == host
}

// A probe is one thing an agent may try.
type probe struct{ path, op, domain, command string }

func (p probe) String() string { return strings.TrimSpace(p.op + " " + p.path + p.domain + p.command) }

func probes(home, cwd string) (out []probe) {
	for _, p := range []string{home + "/.ssh", home + "/.ssh/id", home + "/.aws/x/y", home + "/.kube/config", "/srv/keys/k", "/srv/a/key1", "/etc/app/z", home + "/work/secret/s", cwd + "/secrets", cwd + "/secrets/a",
		cwd + "/docs/d", cwd + "/build/o", cwd + "/.env", cwd + "/sub/.env", cwd + "/sub/x.pem", home + "/.config/gh/token", cwd + "/a.p12", cwd + "/logs/a.txt", home + "/a b", "/x/é\"q/r", cwd + "/free.txt", home + "/free"} {
		out = append(out, probe{path: p, op: "read"}, probe{path: p, op: "write"})
	}
	for _, d := range []string{"example.org", "www.example.org", "evil.example", "a.b.example", "localhost", "[::1]", "api.corp.example", "free.example"} {
		out = append(out, probe{domain: d})
	}
	for _, c := range []string{"sudo", "sudo x", "rm", "rm x", "rm -rf", "rm -rf x", "git push", "git push --force", "git push --force x", "gh pr", "git status", "npm publish", "terraform apply", "dd if=/dev/zero", "free", "free x"} {
		out = append(out, probe{command: c})
	}
	return out
}

// policy is what a policy says about a probe, by its text alone.
func (p probe) policy(srt, bash map[string]any, home, cwd string) (state int, pointers []string) {
	texts := func(m map[string]any, section, name string) []string {
		if section != "" {
			m, _ = m[section].(map[string]any)
		}
		l, _ := m[name].([]string)
		return l
	}
	switch {
	case p.path != "":
		for _, e := range texts(srt, "filesystem", "allowRead") {
			if reaches(e, home, cwd, p.path) || strings.HasPrefix(e, "~/work") && strings.HasPrefix(p.path, home) {
				return open, nil // opened again, or around something that is
			}
		}
		for _, name := range []string{"denyRead", "denyWrite"} {
			for i, e := range texts(srt, "filesystem", name) {
				if (name == "denyRead" || p.op == "write") && reaches(e, home, cwd, p.path) {
					state = closed
					pointers = append(pointers, fmt.Sprintf("/filesystem/%s/%d", name, i))
				}
			}
		}
	case p.domain != "":
		for i, e := range texts(srt, "network", "deniedDomains") {
			if hostMatches(e, p.domain) {
				state = closed
				pointers = append(pointers, fmt.Sprintf("/network/deniedDomains/%d", i))
			}
		}
	default:
		for tier, level := range map[string]int{"deny": closed, "ask": asked} {
			for i, e := range texts(bash, "", tier) {
				if p.command == e || strings.HasPrefix(p.command, e+" ") {
					state = max(state, level)
					pointers = append(pointers, fmt.Sprintf("/%s/%d", tier, i))
				}
			}
		}
	}
	return state, pointers
}

// stateIn is what a target makes of a probe.
func (b *bench) stateIn(t *testing.T, a Agent, p probe, cwd string) int {
	text, err := os.ReadFile(b.path(targetsOf[a]))
	if err != nil {
		return open
	}
	doc := map[string]any{}
	if a != Copilot && a != Codex && a != Gemini {
		if err := json.Unmarshal([]byte(strings.TrimPrefix(string(text), "\ufeff")), &doc); err != nil {
			t.Fatal(err)
		}
	}
	get := func(path ...string) []string { v, _ := dig(doc, path...); return toStrings(v) }
	switch a {
	case Claude:
		return b.claudeState(get, p, cwd)
	case Codex:
		if err := toml.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		return b.codexState(doc, p, cwd)
	case Copilot:
		for l := range strings.SplitSeq(string(text), "\n") {
			l = strings.ReplaceAll(strings.TrimSuffix(l, " \\"), `'\''`, "’")
			arg := strings.ReplaceAll(strings.Trim(l[strings.IndexByte(l+" ", ' '):], " '"), "’", "'")
			kind, inner, _ := strings.Cut(strings.TrimSuffix(arg, ")"), "(")
			switch {
			case !strings.HasPrefix(l, "--deny"):
			case p.op == "write" && kind == "write" && (inner == p.path || !strings.HasPrefix(inner, "/") && strings.HasSuffix(p.path, "/"+inner)):
				return closed
			case p.domain != "" && (arg == "url" || strings.HasPrefix(l, "--deny-url") && hostMatches(strings.TrimPrefix(arg, "http://"), p.domain)):
				return closed
			case p.command != "" && kind == "shell" && (inner == p.command || strings.HasPrefix(p.command, strings.TrimSuffix(inner, ":*")+" ")):
				return closed
			}
		}
		return open
	case CopilotSandbox:
		switch {
		case p.path != "":
			lists := get("sandbox", "userPolicy", "filesystem", "deniedPaths")
			if p.op == "write" {
				lists = append(lists, get("sandbox", "userPolicy", "filesystem", "readonlyPaths")...)
			}
			for _, l := range lists {
				if p.path == l || strings.HasPrefix(p.path, l+"/") {
					return closed
				}
			}
		case p.domain != "":
			if v, _ := dig(doc, "sandbox", "userPolicy", "network", "allowOutbound"); v == false {
				return closed
			}
			for _, u := range get("sandbox", "userPolicy", "network", "deniedUrls") {
				if hostMatches(u, p.domain) {
					return closed
				}
			}
		}
		return open
	case Kiro:
		switch {
		case p.path != "":
			for _, l := range get("toolsSettings", p.op, "deniedPaths") {
				if reaches(l, b.home, cwd, p.path) {
					return closed
				}
			}
		case p.domain != "":
			for _, re := range get("toolsSettings", "web_fetch", "blocked") {
				if compiledRegexp(`\A(?:` + re + `)\z`).MatchString("https://" + p.domain + "/x") {
					return closed
				}
			}
		default:
			for _, re := range get("toolsSettings", "shell", "deniedCommands") {
				if compiledRegexp(`\A(?:` + re + `)\z`).MatchString(p.command) {
					return closed
				}
			}
		}
		return open
	case Gemini:
		if err := toml.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		state, best := open, int64(-1)
		rules, _ := doc["rule"].([]any)
		for _, r := range rules {
			m := r.(map[string]any)
			tools := toStrings(m["toolName"])
			if s, ok := m["toolName"].(string); ok {
				tools = []string{s}
			}
			hit := false
			switch pattern, _ := m["argsPattern"].(string); {
			case p.path != "" && pattern != "":
				tool := map[string]string{"read": "read_file", "write": "write_file"}[p.op]
				args, _ := json.Marshal(map[string]string{"file_path": p.path})
				hit = slices.Contains(tools, tool) && compiledRegexp(pattern).Match(args)
			case p.domain != "":
				hit = slices.Contains(tools, "web_fetch")
			case p.command != "":
				for _, prefix := range toStrings(m["commandPrefix"]) {
					hit = hit || p.command == prefix || strings.HasPrefix(p.command, prefix+" ")
				}
			}
			if n := m["priority"].(int64); hit && n > best {
				best, state = n, map[any]int{"deny": closed, "ask_user": asked, "allow": open}[m["decision"]]
			}
		}
		return state
	}
	return openCodeState(t, text, p, b.home, cwd)
}

func (b *bench) claudeState(get func(...string) []string, p probe, cwd string) int {
	matches := func(rule string) bool {
		tool, arg, _ := strings.Cut(strings.TrimSuffix(rule, ")"), "(")
		switch {
		case p.path != "" && (tool == "Read" && p.op == "read" || tool == "Edit" && p.op == "write"):
			if rest, ok := strings.CutPrefix(arg, "//"); ok {
				arg = "/" + rest
			} else if strings.HasPrefix(arg, "/") {
				arg = b.home + "/.claude" + arg
			}
			return reaches(arg, b.home, cwd, p.path)
		case p.domain != "" && tool == "WebFetch":
			return hostMatches(strings.TrimPrefix(arg, "domain:"), p.domain)
		case p.command != "" && tool == "Bash":
			prefix, wide := strings.CutSuffix(arg, " *")
			return p.command == arg || wide && (p.command == prefix || strings.HasPrefix(p.command, prefix+" "))
		}
		return false
	}
	if slices.ContainsFunc(get("permissions", "deny"), matches) {
		return closed
	}
	if slices.ContainsFunc(get("permissions", "ask"), matches) {
		return asked
	}
	return open
}

func (b *bench) codexState(doc map[string]any, p probe, cwd string) int {
	name, _ := doc["default_permissions"].(string)
	v, _ := dig(doc, "permissions", name)
	profile, _ := v.(map[string]any)
	switch {
	case p.path != "":
		rules := func(m map[string]any, base string) int {
			for key, action := range m {
				if s, ok := action.(string); ok && (s == "deny" || s == "read" && p.op == "write") && !strings.HasPrefix(key, ":") && reaches(key, b.home, base, p.path) {
					return closed
				}
			}
			return open
		}
		fs, _ := profile["filesystem"].(map[string]any)
		roots, _ := fs[":workspace_roots"].(map[string]any)
		return max(rules(fs, cwd), rules(roots, cwd))
	case p.domain != "":
		on, _ := dig(profile, "network", "enabled")
		if on != true {
			return closed
		}
		if proxy, _ := dig(doc, "features", "network_proxy"); proxy != true {
			return open // the table is not enforced
		}
		v, _ := dig(profile, "network", "domains")
		domains, _ := v.(map[string]any)
		state := closed
		for d, action := range domains {
			host := strings.Trim(p.domain, "[]")
			if hit := d == host || strings.HasPrefix(d, "*.") && strings.HasSuffix(host, d[1:]); hit && action == "deny" {
				return closed
			} else if hit && action == "allow" {
				state = open
			}
		}
		return state
	}
	rules, err := os.ReadFile(b.path(".codex/rules/p.rules"))
	if err != nil {
		return open
	}
	for _, m := range regexp.MustCompile(`(?m)^    pattern = (\[.*\]),$`).FindAllSubmatch(rules, -1) {
		var words []string
		if json.Unmarshal(m[1], &words) == nil && (strings.Join(words, " ") == p.command || strings.HasPrefix(p.command, strings.Join(words, " ")+" ")) {
			return closed
		}
	}
	return open
}

// openCodeState flattens the permissions in the order of the file; the last rule
// that matches decides.
func openCodeState(t *testing.T, text []byte, p probe, home, cwd string) int {
	v, err := decodeOrdered(text)
	if err != nil {
		t.Fatal(err)
	}
	state := open
	level := map[any]int{"allow": open, "ask": asked, "deny": closed}
	wild := func(pattern, s string) bool {
		re := "^" + strings.ReplaceAll(strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*"), `\?`, ".") + "$"
		if strings.HasSuffix(pattern, " *") {
			re = strings.TrimSuffix(re, " .*$") + "(?: .*)?$"
		}
		return compiledRegexp("(?s)" + re).MatchString(s)
	}
	type call struct{ tool, arg string }
	var calls []call
	rel, inside := strings.CutPrefix(p.path, cwd+"/")
	switch {
	case p.path != "" && !inside:
		calls = []call{{"external_directory", p.path}}
	case p.path != "":
		calls = []call{{map[string]string{"read": "read", "write": "edit"}[p.op], rel}}
	case p.domain != "":
		calls = []call{{"webfetch", "https://" + p.domain + "/x"}}
	default:
		calls = []call{{"bash", p.command}}
	}
	permission := v.(*ordered).values["permission"]
	if s, ok := permission.(string); ok {
		return level[s]
	}
	tools, _ := permission.(*ordered)
	if tools == nil {
		return open
	}
	for _, c := range calls {
		for _, tool := range tools.names {
			if !wild(tool, c.tool) {
				continue
			}
			switch rules := tools.values[tool].(type) {
			case string:
				state = level[rules]
			case *ordered:
				for _, pattern := range rules.names {
					if wild(pattern, c.arg) {
						state = level[rules.values[pattern]]
					}
				}
			}
		}
	}
	return state
}

// TestNeverWider compiles random policies into random targets of someone else's.
// What the policy denies is closed afterwards, or a warning names the entry; what
// a part that is not ours closed stays closed; and no agent opens anything but
// what the policy allows.
func TestNeverWider(t *testing.T) {
	inMemory(t)
	b := newBench(t)
	cwd := b.path("proj")
	for seed := range uint64(200) {
		g := gen{rand.New(rand.NewPCG(seed, 9))}
		for _, dir := range []string{".claude", ".codex", ".copilot", ".gemini", ".config/opencode", ".kiro", ".local", "flags.txt"} {
			os.RemoveAll(b.path(dir))
		}
		b.random(g)
		srt, bash := plainSources(t, b)
		if g.IntN(4) > 0 {
			b.targets(g)
		}
		all := probes(b.home, cwd)
		before := map[Agent][]int{}
		for _, a := range Agents() {
			if a != Copilot && a != Gemini {
				for _, p := range all {
					before[a] = append(before[a], b.stateIn(t, a, p, cwd))
				}
			}
		}
		b.apply()
		warnings := Generate(b.request("")).Warnings
		for _, a := range Agents() {
			for i, p := range all {
				got := b.stateIn(t, a, p, cwd)
				// The lists of extended agents are someone else's too; in
				// Claude's and Codex's files ours are replaced by the policy.
				if a.extended() && before[a] != nil && got < before[a][i] {
					t.Fatalf("seed %d: %s: %s was %d and is %d\n%s", seed, a, p, before[a][i], got, b.read(targetsOf[a]))
				}
				want, pointers := p.policy(srt, bash, b.home, cwd)
				if got >= want || slices.ContainsFunc(warnings, func(w Warning) bool {
					return w.Agent == string(a) && covered(w, p, pointers)
				}) {
					continue
				}
				if a == Codex && want == asked || a == Kiro && want == asked {
					continue // asking is their default
				}
				t.Fatalf("seed %d: %s: %s is denied by %q but %d, and nothing warns\n%s\nsrt %v\nbash %v", seed, a, p, pointers, got, b.read(targetsOf[a]), srt, bash)
			}
		}
	}
}

// covered reports that a warning is about one of the entries, or about a kind of
// statement that the agent has no words for.
func covered(w Warning, p probe, pointers []string) bool {
	switch w.ID {
	case "COPILOT-READ-UNGUARDED":
		return p.op == "read"
	case "COPILOT-PATH":
		return p.path != ""
	case "COPILOT-PATH-UNKNOWN", "COPILOT-DEEP-COMMAND", "CODEX-RULE-SHAPE", "EXT-NOT-COMPILED", "CODEX-CARVEOUT", "CODEX-DOTDOT", "CLAUDE-CARVEOUT", "OPENCODE-PATH-ALL":
	default:
		return false
	}
	if w.Level == Info && w.ID != "COPILOT-PATH-UNKNOWN" {
		return false
	}
	return w.Pointer == "" || slices.Contains(pointers, w.Pointer)
}

// plainSources reads back the sources as plain lists.
func plainSources(t *testing.T, b *bench) (srt, bash map[string]any) {
	read := func(name string) map[string]any {
		var m map[string]any
		if err := json.Unmarshal([]byte(readText(t, b.dir+"/"+name)), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	lists := func(m map[string]any) {
		for name, v := range m {
			if l, ok := v.([]any); ok {
				m[name] = toStrings(l)
			}
		}
	}
	srt, bash = read("srt.json"), read("bash-rules.json")
	lists(bash)
	for _, v := range srt {
		if m, ok := v.(map[string]any); ok {
			lists(m)
		}
	}
	return srt, bash
}
