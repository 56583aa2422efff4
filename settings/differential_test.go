//go:build differential

package settings

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sallyport/internal/testenv"
)

type oracleCase struct {
	Start   string          `json:"start"`
	Home    string          `json:"home"`
	Config  string          `json:"config"`
	Sources []string        `json:"sources,omitempty"`
	Managed json.RawMessage `json:"managed,omitempty"`
	// ManagedFiles are those of /etc/claude-code, by name.
	ManagedFiles map[string]string `json:"managedFiles,omitempty"`

	layout string
	files  map[string]string
}

type oracleAnswer struct {
	Effective map[string]any
	Sources   []struct{ Source, Path string }
}

// explained is the list of differences that are no mistake: resolveSettings
// reports the raw cascade of files, read in the start directory, before the
// client applies the rules about who may set what.
func explained(st *Stack, c oracleCase, path string) string {
	keys := strings.Split(path, ".")
	switch {
	case len(st.Ignored(path)) > 0 && ruleFor(keys) != anyScope:
		return "the client ignores the value in the file it stands in"
	case len(st.Ignored(path)) > 0 && path == "sandbox.allowUnsandboxedCommands":
		return "a trusted false holds against a project's true"
	case len(st.Ignored(path)) > 0 && strings.HasPrefix(path, "sandbox.filesystem.allow"):
		return "a project's entry that opens what a stronger file denies is dropped"
	case len(st.Ignored(path)) > 0 && strings.HasPrefix(path, "permissions.") && st.managedTrue(rulesLockKey):
		return "managed settings allow only their own rules"
	case anyTrueWins(path) || anyFalseWins(path, Project):
		return "the stricter value wins, whichever file has it"
	case managedFault(st) && (keys[0] != "sandbox" && keys[0] != "permissions" || strings.HasPrefix(path, "sandbox.credentials") || strings.HasPrefix(path, "sandbox.windows") || path == "sandbox.ripgrep"):
		return "the strictest value in place of a wrong managed one, for a key that is not modelled"
	case keys[0] == "env":
		return "the SDK turns the values into text"
	case path == "sandbox.bwrapPath" || path == "sandbox.socatPath":
		return "the SDK leaves out a program that is no absolute path"
	case schemaSpec(path) == "" && schemaSpec(keys[0]+".*") == "" && !known(path):
		return "the SDK leaves out a value of the wrong type, or a member it does not know"
	}
	return ""
}

// TestDifferential generates stacks of files and compares which files count and
// what every key of them is with resolveSettings.
func TestDifferential(t *testing.T) {
	dir := os.Getenv("SETTINGS_ORACLE_DIR")
	if dir == "" {
		t.Skip("run scripts/differential-settings")
	}
	number := func(name string, fallback int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return fallback
	}
	count, seed := number("SETTINGS_ORACLE_CASES", 400), uint64(number("SETTINGS_ORACLE_SEED", 1))
	cases := make([]oracleCase, count)
	for i := range cases {
		cases[i] = generate(t, rand.New(rand.NewPCG(seed, uint64(i))))
	}
	dropped, kept := schemaCases()
	for _, text := range append(dropped, kept...) {
		c := oracleCase{Start: testenv.Dir(t), layout: "plain", files: map[string]string{}}
		c.Home, c.Config = c.Start, c.Start
		if text[0] == '{' && text != "{}" {
			text = `{"verbose":true,` + text[1:] // a sign that the file counts
		}
		path := filepath.Join(c.Config, "settings.json")
		c.files[path] = text
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	in, out := filepath.Join(dir, "cases.json"), filepath.Join(dir, "answers.json")
	if err := os.WriteFile(in, []byte(mustJSON(t, cases)), 0o600); err != nil {
		t.Fatal(err)
	}
	node := exec.Command("node", "resolve.mjs", in, out)
	if etc := os.Getenv("SETTINGS_ORACLE_ETC"); etc != "" {
		node = exec.Command("unshare", "-m", "sh", "-c",
			`mount --make-rprivate / && mount --bind "$1" /etc && exec node resolve.mjs "$2" "$3"`, "sh", etc, in, out)
	}
	node.Dir = dir
	if text, err := node.CombinedOutput(); err != nil {
		t.Fatalf("node: %v\n%s", err, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var answers []oracleAnswer
	if err := json.Unmarshal(data, &answers); err != nil {
		t.Fatal(err)
	}
	tolerated := map[string]int{}
	compared := 0
	for i := range cases {
		compared += compare(t, cases[i], answers[i], tolerated)
	}
	t.Logf("%d stacks, %d values compared", count, compared)
	for why, n := range tolerated {
		t.Logf("tolerated %d times: %s", n, why)
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

func compare(t *testing.T, c oracleCase, answer oracleAnswer, tolerated map[string]int) (compared int) {
	t.Helper()
	env := Env{GOOS: "linux", Home: c.Home, ConfigDir: c.Config, Getenv: func(string) string { return "" }, Owned: func(string) bool { return true }}
	if c.ManagedFiles != nil {
		env.ManagedDir = testenv.Dir(t)
		for name, text := range c.ManagedFiles {
			path := filepath.Join(env.ManagedDir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c.Managed != nil {
		env.Policies = func() []Policy { return []Policy{{Name: "server", JSON: c.Managed}} }
	}
	s := Session{Start: c.Start}
	if c.Sources != nil {
		s.Args, s.ArgsSeen = []string{"--setting-sources", strings.Join(c.Sources, ",")}, true
	}
	if c.layout != "plain" {
		// resolveSettings always reads the local file in the start directory.
		s.Version = "2.1.210"
		tolerated["(stacks) the local file is looked for in the start directory only"]++
	}
	st := Load(s, env)
	fail := func(format string, args ...any) {
		t.Errorf("%s\n%s", fmt.Sprintf(format, args...), dump(c))
	}

	want := map[string]bool{}
	for _, source := range answer.Sources {
		if source.Path != "" {
			want[source.Path] = true
		}
	}
	for _, f := range st.Files() {
		if f.Scope == Managed || f.Status == NotRead {
			continue
		}
		// A file that holds nothing is no source for the SDK.
		counts := f.Status == Read
		if counts && !want[f.Path] && holdsNothing(c.files[f.Path]) {
			counts = false
		}
		if counts != want[f.Path] {
			fail("%s: %v (%s), the SDK counts it: %t", f.Path, f.Status, f.Reason, want[f.Path])
			return compared
		}
	}

	leaves := map[string]any{}
	flatten(answer.Effective, "", leaves)
	paths := map[string]bool{}
	for path := range leaves {
		paths[path] = true
	}
	for i := range st.layers {
		ours := map[string]any{}
		var v any
		if err := json.Unmarshal(st.layers[i].doc.data[len(bom(st.layers[i].doc.data)):], &v); err == nil {
			flatten(v, "", ours)
		}
		for path := range ours {
			paths[path] = true
		}
	}
	for path := range paths {
		keys := strings.Split(path, ".")
		if keys[0] == "hooks" {
			continue // compared as a reason to drop the file
		}
		theirs, there := leaves[path]
		var mine any
		has := false
		switch list := theirs.(type) {
		case []any:
			if holdsObjects(list) {
				continue // lists of strings are compared
			}
			if ours := st.List(path); len(ours) > 0 {
				mine, has = values(ours), true
			}
			list = unique(list)
			theirs, there = list, len(list) > 0
		case bool:
			v := st.Bool(path)
			mine, has = v.Value, v.Set
		case string:
			v := st.String(path)
			mine, has = v.Value, v.Set
		case float64:
			if all := st.All(path); len(all) > 0 {
				var f float64
				if json.Unmarshal(all[0].Value.Raw(), &f) == nil {
					mine, has = f, true
				}
			}
		case nil:
			if there {
				continue // null is no value for us
			}
			if ours := st.List(path); len(ours) > 0 {
				mine, has = values(ours), true
			} else if all := st.All(path); len(all) > 0 && all[0].Value.Kind() != Null && all[0].Value.Kind() != Array && all[0].Value.Kind() != Object {
				mine, has = string(all[0].Value.Raw()), true
			}
		default:
			continue
		}
		compared++
		if has == there && (!has || mustJSON(t, mine) == mustJSON(t, theirs)) {
			continue
		}
		if mine == "manual" && theirs == "default" {
			continue // two names of one mode
		}
		if why := explained(st, c, path); why != "" {
			tolerated[why]++
			continue
		}
		fail("%s = %v (%t), the SDK says %v (%t)", path, mine, has, theirs, there)
	}
	return compared
}

func managedFault(st *Stack) bool {
	return slices.ContainsFunc(st.Problems(), func(p Problem) bool { return p.Scope == Managed })
}

// known reports the keys without a schema entry that the generator uses well.
func known(path string) bool { return strings.HasPrefix(path, "unknown") }

func bom(data []byte) []byte {
	if len(data) >= 3 && string(data[:3]) == string(byteOrderMark) {
		return data[:3]
	}
	return nil
}

func holdsNothing(text string) bool {
	text = strings.TrimPrefix(text, "\ufeff")
	var v map[string]any
	if strings.TrimSpace(text) == "" {
		return true
	}
	if json.Unmarshal([]byte(text), &v) != nil {
		return false
	}
	leaves := map[string]any{}
	flatten(v, "", leaves)
	return len(leaves) == 0
}

func holdsObjects(list []any) bool {
	return slices.ContainsFunc(list, func(v any) bool { _, isString := v.(string); return !isString })
}

func unique(list []any) []any {
	out := []any{}
	for _, v := range list {
		if !slices.ContainsFunc(out, func(o any) bool { return reflect.DeepEqual(o, v) }) {
			out = append(out, v)
		}
	}
	return out
}

func flatten(v any, at string, out map[string]any) {
	m, ok := v.(map[string]any)
	if !ok {
		out[at] = v
		return
	}
	for k, sub := range m {
		if strings.Contains(k, ".") {
			continue
		}
		path := k
		if at != "" {
			path = at + "." + k
		}
		flatten(sub, path, out)
	}
}

func dump(c oracleCase) string {
	var b strings.Builder
	fmt.Fprintf(&b, "start %s, sources %q, managed %s %q\n", c.Start, c.Sources, c.Managed, c.ManagedFiles)
	for path, text := range c.files {
		fmt.Fprintf(&b, "%s: %s\n", path, text)
	}
	return b.String()
}

func generate(t *testing.T, r *rand.Rand) oracleCase {
	dir := testenv.Dir(t)
	c := oracleCase{Home: filepath.Join(dir, "home"), Config: filepath.Join(dir, "user"), files: map[string]string{}}
	repo := filepath.Join(dir, "repo")
	c.layout = [...]string{"plain", "plain", "repo", "sub", "worktree"}[r.IntN(5)]
	c.Start = repo
	switch c.layout {
	case "repo", "sub":
		if err := os.MkdirAll(filepath.Join(repo, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
		if c.layout == "sub" {
			c.Start = filepath.Join(repo, "sub")
		}
	case "worktree":
		testenv.Isolate(t)
		testenv.Repo(t, repo)
		c.Start = filepath.Join(dir, "wt")
		testenv.Git(t, repo, "worktree", "add", "-q", c.Start, "-b", "wt")
	}
	for _, path := range []string{
		filepath.Join(c.Config, "settings.json"), filepath.Join(c.Config, "settings.local.json"),
		inClaude(c.Start, projectName), inClaude(c.Start, localName),
		inClaude(repo, projectName), inClaude(repo, localName),
	} {
		if r.IntN(4) == 0 {
			continue
		}
		text := document(r)
		c.files[path] = text
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{c.Home, c.Config, c.Start} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if r.IntN(4) == 0 {
		c.Sources = [][]string{{}, {"user"}, {"project"}, {"local"}, {"user", "local"}}[r.IntN(5)]
		if len(c.Sources) == 0 {
			c.Sources = []string{"user", "project", "local"}
		}
	}
	if r.IntN(3) == 0 {
		if os.Getenv("SETTINGS_ORACLE_ETC") != "" && r.IntN(3) > 0 {
			c.ManagedFiles = map[string]string{}
			for _, name := range []string{"managed-settings.json", "managed-settings.d/10.json", "managed-settings.d/9.json", "managed-settings.d/.hidden.json", "managed-settings.d/x.txt"} {
				if r.IntN(2) == 0 {
					c.ManagedFiles[name] = document(r)
				}
			}
		}
		for c.ManagedFiles == nil {
			// A server's settings lose bad values one by one, which only the client
			// can say; here they are well formed.
			text := members(r, 0)
			if doc, err := ParseDocument([]byte(text)); err == nil && !hasFault(doc) {
				c.Managed = json.RawMessage(text)
				break
			}
		}
	}
	return c
}

func hasFault(doc *Document) bool {
	_, bad := validate(doc)
	return bad
}

// document is the text of one file, now and then not JSON.
func document(r *rand.Rand) string {
	switch r.IntN(30) {
	case 0:
		return ""
	case 1:
		return " \n"
	case 2:
		return "[1]"
	case 3:
		return "\ufeff" + members(r, 0)
	case 4:
		return strings.TrimSuffix(members(r, 0), "}") + ",}"
	case 5:
		return "// comment\n" + members(r, 0)
	case 6:
		return "{" + member(r, 0) + "," + member(r, 0) + "," + member(r, 0) + "}" // may repeat a name
	}
	// A wrong value costs the whole file: most files have none.
	wrong := 0
	if r.IntN(4) == 0 {
		wrong = 1
	}
	return members(r, wrong)
}

// members is an object with several keys; each name once, so that they merge.
func members(r *rand.Rand, wrong int) string {
	out := "{}"
	for range 1 + r.IntN(7) {
		path, value := setting(r, false)
		if next, err := Apply([]byte(out), Set(json.RawMessage(value), strings.Split(path, ".")...)); err == nil {
			out = string(next)
		}
	}
	if wrong > 0 {
		path, value := setting(r, true)
		if next, err := Apply([]byte(out), Set(json.RawMessage(value), strings.Split(path, ".")...)); err == nil {
			out = string(next)
		}
	}
	return out
}

func member(r *rand.Rand, _ int) string {
	path, value := setting(r, false)
	name, rest, nested := strings.Cut(path, ".")
	if nested {
		value = nest(rest, value)
	}
	return mustQuote(name) + ":" + value
}

func mustQuote(s string) string { return strconv.Quote(s) }

func setting(r *rand.Rand, wrong bool) (path, value string) {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	array := func(list ...string) string {
		var out []string
		for range 1 + r.IntN(3) {
			out = append(out, strconv.Quote(pick(list...)))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	if wrong {
		path = pick("sandbox.enabled", "sandbox.excludedCommands", "sandbox.network", "sandbox.filesystem.allowRead", "model", "permissions.defaultMode",
			"permissions.allow", "cleanupPeriodDays", "statusLine", "hooks", "env", "disableAllHooks", "syncClaudeAiSkills", "sandbox.credentials.envVars",
			"sandbox.network.httpProxyPort", "unknown", "skillOverrides.k", "tui", "worktree", "enabledPlugins.p", "feedbackSurveyRate", "theme", "viewMode",
			"hooks.PreToolUse", "hooks.Nonsense", "hooks.Stop", "sandbox.ripgrep", "spinnerVerbs", "modelOverrides.m", "forceLoginOrgUUID", "companyAnnouncements")
		value = pick("null", "true", "3", "-1", "0", "0.5", `"zzz"`, `""`, "[]", "{}", "[3]", `["x"]`, `{"k":3}`, `{"k":"v"}`,
			`[{"hooks":[{"type":"command","command":"x"}]}]`, `[{"hooks":[{"type":"command"}]}]`, `[{"matcher":["x"],"hooks":[]}]`, `[{"matcher":"x"}]`,
			`[{"hooks":[{"type":"prompt","prompt":"p","timeout":0}]}]`, `[{"hooks":[{"type":"http","url":"zzz"}]}]`, `[{"hooks":[{"type":"mcp_tool","server":"a","tool":"b","input":{"n":1}}]}]`,
			`[{"hooks":[{"type":"command","command":"x","args":["a",1]}]}]`, `[{"name":"A","mode":"deny"}]`, `[{"name":"A B","mode":"deny"}]`, `[{"name":"A"}]`,
			`{"type":"command","command":"x"}`, `{"type":"command"}`, `{"command":"x"}`, `{"mode":"append","verbs":["x"]}`)
		return path, value
	}
	switch r.IntN(12) {
	case 0, 1:
		return pick("sandbox.enabled", "sandbox.autoAllowBashIfSandboxed", "sandbox.allowUnsandboxedCommands", "sandbox.failIfUnavailable",
			"sandbox.enableWeakerNestedSandbox", "sandbox.allowNestedUserNamespaces", "sandbox.network.strictAllowlist", "sandbox.network.allowAllUnixSockets",
			"sandbox.filesystem.disabled", "sandbox.network.allowManagedDomainsOnly", "sandbox.filesystem.allowManagedReadPathsOnly",
			"permissions.blockReadsOutsideWorkingDirectories", "disableAllHooks", "includeCoAuthoredBy", "useAutoModeDuringPlan",
			"disableClaudeAiConnectors", "remoteControlAtStartup", "allowManagedPermissionRulesOnly", "verbose"), pick("true", "false")
	case 2, 3:
		return pick("sandbox.filesystem.allowRead", "sandbox.filesystem.allowWrite", "sandbox.filesystem.denyRead", "sandbox.filesystem.denyWrite"),
			array(".", "~/", "/a", "/a/b", "./x", "~/.ssh", "*.key", "//net")
	case 4:
		return pick("sandbox.network.allowedDomains", "sandbox.network.deniedDomains"), array("a.com", "*.b.com", "c.com:443")
	case 5:
		if r.IntN(3) == 0 {
			return pick("fallbackModel", "availableModels"), array("a", "b", "c")
		}
		return "sandbox.excludedCommands", array("gh *", "git *", "docker:*")
	case 6, 7:
		return "permissions." + pick("allow", "ask", "deny"), array("Bash(ls)", "Bash(git *)", "bash(x)", "Bash(", "Bash()", "Read(//a/**)", "Read(a:*)", "mcp__a__*",
			"mcp__*", "*", "WebFetch(x)", "WebFetch(domain:a.com)", "Edit", "foo", "", "Bash(:*)", "mcp__a__b(x)", "Bash)")
	case 8:
		return pick("model", "outputStyle", "language", "unknownKey", "plansDirectory"), strconv.Quote(pick("a", "b", ""))
	case 9:
		return pick("cleanupPeriodDays", "sandbox.network.httpProxyPort", "unknownNumber"), pick("1", "30", "7e1")
	case 10:
		return "permissions.defaultMode", strconv.Quote(pick("default", "plan", "acceptEdits", "bypassPermissions"))
	}
	return pick("attribution.commit", "worktree.baseRef", "env.A", "sandbox.bwrapPath"), pick(`"head"`, `"fresh"`)
}
