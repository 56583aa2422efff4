package lint

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// lintClaude checks a text without a baseline.
func lintClaude(t testing.TB, cfg Config, text string) *Report {
	t.Helper()
	write(t, cfg, "s.json", text)
	return Claude(cfg, "s.json", "", false)
}

// only counts the findings of some rules.
func only(r *Report, prefixes ...string) (out []string) {
	for _, id := range ids(r) {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(id, p) }) {
			out = append(out, id)
		}
	}
	return out
}

// TestSandboxPaths tries one entry in both lists and says which of SL105, SL106
// and SL117 report it.
func TestSandboxPaths(t *testing.T) {
	tests := []struct {
		entry string
		home  string
		mac   bool
		read  string // rules that report it in allowRead
		write string // and in allowWrite
	}{
		{entry: "~", read: "SL105", write: "SL106"},
		{entry: "~/", read: "SL105", write: "SL106"},
		{entry: "~//", read: "SL105", write: "SL106"},
		{entry: "~/**", read: "SL105", write: "SL106"},
		{entry: "~/*", read: "SL105", write: "SL106"},
		{entry: "$HOME", read: "SL105", write: "SL106"},
		{entry: "$HOME/.ssh/", read: "SL105", write: "SL106"},
		{entry: "/", read: "SL105", write: "SL106"},
		{entry: "//", read: "SL105", write: "SL106"},
		{entry: "/**", read: "SL105", write: "SL106"},
		{entry: "/*", read: "SL105", write: "SL106"},
		{entry: "/home", read: "SL105", write: "SL106"},
		{entry: "/home/*", read: "SL105", write: "SL106"},
		{entry: "/home/ana/", read: "SL105", write: "SL106"},
		{entry: "//home/ana", read: "SL105", write: "SL106"},
		{entry: "/home/./ana", read: "SL105", write: "SL106"},
		{entry: "/tmp/../home/ana", read: "SL105", write: "SL106"},
		{entry: "~/..", read: "SL105", write: "SL106"},
		{entry: "~/x/../.aws", read: "SL105", write: "SL106"},
		{entry: "~/.ss[h]", read: "SL105", write: "SL106"},
		{entry: "/home/a*", read: "SL105", write: "SL106"},
		{entry: "/h*", read: "SL105", write: "SL106"},
		{entry: "/home/*/.kube", read: "SL105", write: "SL106"},
		{entry: "~/.aws/**", read: "SL105", write: "SL106"},
		{entry: "~/.docker", read: "SL105", write: "SL106"},
		{entry: "~/.kube", read: "SL105", write: "SL106"},
		{entry: "~/.azure", read: "SL105"},
		{entry: "~/.netrc", read: "SL105"},
		{entry: "~/.config/gcloud/", read: "SL105"},
		{entry: "~/.config", write: "SL106"},
		{entry: "~/.config/gh", write: "SL106"},
		{entry: "~/.gnupg", write: "SL106"},
		{entry: "~/.claude/", write: "SL106"},
		{entry: "~/.codex", write: "SL106"},
		{entry: "~/.config/opencode", write: "SL106"},
		{entry: "~/.kiro/**", write: "SL106"},
		{entry: "~/.SSH"},
		{entry: "~/.SSH", mac: true, read: "SL105", write: "SL106"},
		{entry: "/HOME/ANA", mac: true, read: "SL105", write: "SL106"},
		{entry: "/root", home: "/root", read: "SL105", write: "SL106"},
		{entry: "/root", home: "/root/work", read: "SL105", write: "SL106"},
		{entry: "/Users", home: "/Users/ana", read: "SL105", write: "SL106"},
		// Inside a directory of credentials.
		{entry: "~/.aws/config", read: "SL117:warning", write: "SL117:warning"},
		{entry: "~/.ssh/id_rsa", read: "SL117:warning", write: "SL117:warning"},
		{entry: "~/.ssh/keys/a.pub", read: "SL117:warning", write: "SL117:warning"},
		{entry: "~/.config/gcloud/logs", read: "SL117:warning", write: "SL117:warning"},
		{entry: "~/.ssh/id.pub"},
		{entry: "~/.ssh/known_hosts"},
		{entry: "~/.ssh/config"},
		{entry: "~/.docker/bin"},
		{entry: "~/.docker/cli-plugins/"},
		{entry: "~/.docker/config.json", read: "SL117:warning", write: "SL117:warning"},
		// Near misses.
		{entry: "."},
		{entry: "./"},
		{entry: "**/*.go"},
		{entry: "src/**"},
		{entry: "~/.cache"},
		{entry: "~/.cache/*/tool"},
		{entry: "~/.awsome"},
		{entry: "~/.aws-cli"},
		{entry: "~/work/.ssh"},
		{entry: "~/.configs"},
		{entry: "/home/anabel"},
		{entry: "/home/bob"},
		{entry: "/Users"},
		{entry: "/root"},
		{entry: "/tmp"},
		{entry: "/opt/home"},
		{entry: "/home/*/.cache"},
	}
	for _, tt := range tests {
		for list, want := range map[string]string{"allowRead": tt.read, "allowWrite": tt.write} {
			cfg := testConfig(t)
			if tt.home != "" {
				cfg.Home = tt.home
			}
			if tt.mac {
				cfg.Platform = "macos"
			}
			r := lintClaude(t, cfg, edit(t, s0(), add(tt.entry, "/sandbox/filesystem/"+list)))
			if got := strings.Join(only(r, "SL105", "SL106", "SL117"), " "); got != want {
				t.Errorf("%s += %q (home %s, %s): %q, want %q", list, tt.entry, cfg.Home, cfg.Platform, got, want)
			}
		}
	}
}

func TestUnknownHome(t *testing.T) {
	for entry, want := range map[string]string{"~": "SL105", "~/..": "SL105", "/home": "SL105", "/Users": "SL105", "/root/": "SL105", "~/.ssh": "SL105", "/srv": ""} {
		cfg := testConfig(t)
		cfg.Home = ""
		r := lintClaude(t, cfg, edit(t, s0(), add(entry, "/sandbox/filesystem/allowRead")))
		if got := strings.Join(only(r, "SL1"), " "); got != want {
			t.Errorf("allowRead += %q without a home: %q, want %q", entry, got, want)
		}
	}
}

func TestDaemonSockets(t *testing.T) {
	bad := []string{
		"/var/run/docker.sock", "/run/docker.sock/", "//var/run/docker.sock", "/tmp/podman.sock", "~/.docker/run/docker.sock",
		"/run/containerd/containerd.sock", "/var/run/crio.sock", "/x/machine-api.sock", "/p/.sallyport-local/run/../../docker.sock",
		"/p/.sallyport-local/run/sub/docker.sock", "/p/sallyport-local/run/docker.sock", "/p/.sallyport-local/runs/docker.sock",
		"/var/run/*", "/run/**", "/tmp/*", "/tmp/*.sock", "/tmp/d*.sock", "/tmp/docker.soc?", "/tmp/[a-z]ocker.sock", "/tmp/*-api.sock",
		"/tmp/x-*.sock", "/var/run", "/run", "/run/user/1000", "/run/user/1000/podman", "/var", "/", "/private/var/run", "unix:///var/run/docker.sock", "docker.sock",
	}
	good := []string{
		"/p/.sallyport-local/run/docker.sock", "/p/.apache-magpie-local/run/podman.sock", ".sallyport-local/run/docker.sock",
		"/p/.sallyport-local/run", "/p/.sallyport-local/run/*", "/p/.sallyport-local/run/**", "/p/.sallyport-local/run/x-api.sock",
		"/p/q/../.sallyport-local/run/docker.sock", "/my/gate/docker.sock",
		"/tmp/ssh-agent.sock", "/tmp/docker.sock.d/x", "/tmp/mydocker.sock", "/tmp/docker.socket", "/run/postgresql/.s.PGSQL.5432",
		"/tmp/p*.socket", "/run/user/1000/gnupg/S.gpg-agent", "/tmp/api.sock", "/srv/run",
	}
	check := func(entry string, want bool) {
		cfg := testConfig(t)
		cfg.Policy.GatewayDirs = []string{"/my/gate"}
		r := lintClaude(t, cfg, edit(t, s0(), set([]string{entry}, "/sandbox/network/allowUnixSockets")))
		if got := slices.Contains(ids(r), "SL111"); got != want {
			t.Errorf("allowUnixSockets [%q]: SL111 %v, want %v", entry, got, want)
		}
	}
	for _, e := range bad {
		check(e, true)
	}
	for _, e := range good {
		check(e, false)
	}
}

func TestSandboxSwitches(t *testing.T) {
	tests := []struct {
		pointer string
		value   any
		want    []string
	}{
		{"/sandbox/enabled", 1, []string{"P005", "SL102"}},
		{"/sandbox/enabled", nil, []string{"P005", "SL102"}},
		{"/sandbox/enabled", false, []string{"SL102"}},
		{"/sandbox", true, []string{"P005", "SL101"}},
		{"/sandbox", []string{}, []string{"P005", "SL101"}},
		{"/sandbox/filesystem", "x", []string{"P005", "SL103"}},
		{"/sandbox/filesystem/denyRead", "~/", []string{"P005", "SL104"}},
		{"/sandbox/filesystem/denyRead", []string{}, []string{"SL104"}},
		{"/sandbox/filesystem/denyRead", []string{"~/.ssh", "/home"}, []string{"SL104"}},
		{"/sandbox/filesystem/denyRead", []string{"$HOME"}, nil},
		{"/sandbox/filesystem/denyRead", []string{"/home/ana/**"}, nil},
		{"/sandbox/filesystem/denyRead", []any{"~/", 5}, []string{"P005"}},
		{"/sandbox/filesystem/allowRead", []string{"~/.cache/**"}, nil},
		{"/sandbox/filesystem/allowRead", []string{"~/.cach"}, []string{"SL107"}},
		{"/sandbox/filesystem/allowWrite", []string{"./", "~/.cache", "/home/ana/.cache/"}, nil},
		{"/sandbox/filesystem/allowWrite", []string{"~/a", "~/b"}, []string{"SL107", "SL107"}},
		{"/sandbox/network/allowAllUnixSockets", true, []string{"SL112"}},
		{"/sandbox/network/allowAllUnixSockets", false, nil},
		{"/sandbox/network/allowAllUnixSockets", "true", []string{"P005"}},
		{"/sandbox/filesystem/disabled", true, []string{"R321:warning", "SL113"}},
		{"/permissions/defaultMode", "bypassPermissions", []string{"SL114"}},
		{"/permissions/defaultMode", "acceptEdits", nil},
		{"/permissions/defaultMode", 3, []string{"P005"}},
		{"/sandbox/network/allowedDomains", []string{"*"}, []string{"SL115"}},
		{"/sandbox/network/allowedDomains", []string{"*.com", "*.io:443", "a.*.com"}, []string{"SL115", "SL115"}},
		{"/sandbox/network/allowedDomains", []string{"*.example.com", "example.com", "localhost"}, nil},
		{"/sandbox/allowUnsandboxedCommands", true, []string{"SL118:warning"}},
		{"/sandbox/allowUnsandboxedCommands", "false", []string{"P005", "SL118:warning"}},
		{"/sandbox/failIfUnavailable", false, []string{"SL119:warning"}},
		{"/sandbox/enableWeakerNestedSandbox", true, []string{"SL120:warning"}},
		{"/sandbox/enableWeakerNetworkIsolation", true, []string{"SL120:warning"}},
		{"/sandbox/enableWeakerNestedSandbox", false, nil},
		{"/sandbox/network/enableWeakerNetworkIsolation", true, []string{"SL120:warning"}},
		{"/sandbox/credentials/envVars", []string{}, []string{"SL121:warning"}},
		{"/sandbox/credentials/envVars/0/mode", "mask", nil},
		{"/sandbox/credentials/envVars/0/mode", "allow", []string{"SL121:warning"}},
		{"/sandbox/credentials/envVars/0/mode", true, []string{"P005", "SL121:warning"}},
		{"/permissions", "x", []string{"P005", "SL108"}},
		{"/permissions/allow", []string{"WebFetch"}, []string{"SL115"}},
		{"/permissions/allow", []string{"WebFetch(domain:*)"}, []string{"SL115"}},
		{"/permissions/allow", []string{"WebFetch(*)"}, []string{"SL115"}},
		{"/permissions/allow", []string{"WebFetch(domain:*.example.com)", "WebSearch"}, nil},
	}
	for _, tt := range tests {
		r := lintClaude(t, testConfig(t), edit(t, s0(), set(tt.value, tt.pointer)))
		got := ids(r)
		if !slices.Equal(got, append([]string{}, tt.want...)) {
			t.Errorf("%s = %v: %q, want %q\n%s", tt.pointer, tt.value, got, tt.want, details(r))
		}
	}
}

func TestMissingSandboxHidesWhatDependsOnIt(t *testing.T) {
	r := lintClaude(t, testConfig(t), `{"permissions":{"defaultMode":"bypassPermissions","allow":["WebFetch"]}}`)
	want := append([]string{"SL101"}, slices.Repeat([]string{"SL109"}, 17)...)
	want = append(want, "SL114")
	if got := ids(r); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	r = lintClaude(t, testConfig(t), `{}`)
	if got := ids(r); !slices.Equal(got, []string{"SL101", "SL108"}) {
		t.Errorf("{}: %q, want SL101 and SL108", got)
	}
}

func TestExcludedCommands(t *testing.T) {
	bad := []string{"*", "bash", "bash *", "bash:*", "bash*", "sh -c *", "/bin/bash *", "sudo *", "sudo -E *", "env *", "env A=1 *", "python3 *",
		"python -m *", "node *", "npx *", "npx -y *", "uvx *", "xargs *", "* foo", "timeout 5 bash *", "FOO=1 bash *", "fish", "zsh -lc *"}
	good := []string{"gh *", "gh:*", "docker *", "bashful *", "python -m pytest *", "node build.js *", "npx prettier *", "sudo systemctl restart x",
		"git *", "./bash-it *", "env A=1 make *", ""}
	for _, e := range bad {
		if !arbitraryProgram(e) {
			t.Errorf("%q is not seen to run anything", e)
		}
	}
	for _, e := range good {
		if arbitraryProgram(e) {
			t.Errorf("%q is said to run anything", e)
		}
	}
}

func TestRequiredDenyCover(t *testing.T) {
	tests := []struct {
		instead string // of Read(~/.ssh/**)
		want    string
	}{
		{"Read", "SL110:warning"},
		{"Read(~/**)", "SL110:warning"},
		{"Read(//home/ana/**)", "SL110:warning"},
		{"Read(//home/**)", "SL110:warning"},
		{"Read(//**)", "SL110:warning"},
		{"*", "SL110:warning"},
		{"Read(~/.ss*/**)", "SL110:warning"},
		{"Read(~/.ssh)", "SL109"},
		{"Read(~/.ssh/*)", "SL109"},
		{"Read(/.ssh/**)", "SL109"},
		{"Read(.ssh/**)", "SL109"},
		{"Edit(~/.ssh/**)", "SL109"},
		{"Read(~/.ssh/**", "SL109"},
		{"Read(~/.ssh/[a-z]**)", "SL109"},
		{"Read()", "SL109"},
	}
	for _, tt := range tests {
		r := lintClaude(t, testConfig(t), strings.Replace(s0(), "Read(~/.ssh/**)", tt.instead, 1))
		if got := strings.Join(only(r, "SL109", "SL110"), " "); got != tt.want {
			t.Errorf("%q in place of Read(~/.ssh/**): %q, want %q", tt.instead, got, tt.want)
		}
	}
}

func TestPolicyAdds(t *testing.T) {
	cfg := testConfig(t)
	write(t, cfg, "policy.json", `{"require_deny":["Read(~/.config/apache-magpie/**)"],"forbid_allow_read":["~/.cache"],
		"forbid_allow_write":["~/.cache/"],"dangerous_commands":[["terraform apply","infrastructure"]]}`)
	policy, err := ReadPolicy(cfg.Dir + "/policy.json")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Policy = policy
	r := lintClaude(t, cfg, edit(t, s0(), add("Bash(terraform *)", "/permissions/allow")))
	expectAll(t, r, "R309", "SL105", "SL106", "SL109")
	for _, bad := range []string{`[]`, `{"require_deny":"x"}`, `{"require_deny":[1]}`, `{"dangerous_commands":[["a"]]}`, `{"dangerous_commands":{}}`, `{"allow":[]}`, `{`} {
		write(t, cfg, "bad.json", bad)
		if _, err := ReadPolicy(cfg.Dir + "/bad.json"); err == nil || !strings.Contains(err.Error(), "bad.json") {
			t.Errorf("policy %s: error %v, want one that names the file", bad, err)
		}
	}
}

func TestParity(t *testing.T) {
	tests := []struct {
		got, want string
		findings  []string // id and message
	}{
		{`{"a":1}`, `{"a":1.0}`, nil},
		{`{"a":100}`, `{"a":1e2}`, nil},
		{`{"a":-0}`, `{"a":0}`, nil},
		{`{"a":1e999999999999999999}`, `{"a":2}`, []string{"BL203 $.a: settings=1e999999999999999999 expected=2"}},
		{`{"a":1}`, `{"a":true}`, []string{"BL204 $.a: type mismatch (settings has number, expected has boolean)"}},
		{`{"a":"1"}`, `{"a":1}`, []string{"BL204 $.a: type mismatch (settings has string, expected has number)"}},
		{`{"a":null}`, `{}`, []string{"BL202 $.a: extra in settings"}},
		{`{}`, `{"a":{"b":1}}`, []string{"BL202 $.a: missing in settings"}},
		{`{"x":{"a.b":1}}`, `{"x":{"a.b":2}}`, []string{`BL203 $.x["a.b"]: settings=1 expected=2`}},
		{`{"deny":["a","b","a"]}`, `{"deny":["b","a"]}`, nil},
		{`{"x":{"deny":["c","a"]}}`, `{"x":{"deny":["b"]}}`, []string{`BL201 $.x.deny: missing entry "b"`, `BL201 $.x.deny: extra entry "c"`, `BL201 $.x.deny: extra entry "a"`}},
		{`{"deny":["a",1]}`, `{"deny":[1,"a"]}`, []string{`BL203 $.deny: settings=["a",1] expected=[1,"a"]`}},
		{`{"list":["a","b"]}`, `{"list":["b","a"]}`, []string{`BL203 $.list: settings=["a","b"] expected=["b","a"]`}},
		{`{"l":[{"a":1,"b":2}]}`, `{"l":[{"b":2,"a":1.0}]}`, nil},
		{`{"$schema":"x","_note":1,"//":2,"a":{"_n":1}}`, `{"a":{"_n":2}}`, []string{"BL203 $.a._n: settings=1 expected=2"}},
		{`{"env":{"GITHUB_TOKEN":"ghp_abcdefghijklmnopqrstuvwxyz"}}`, `{"env":{"GITHUB_TOKEN":"x"}}`, []string{`BL203 $.env.GITHUB_TOKEN: settings="<redacted>" expected="x"`}},
		{`{"env":{"NOTE":"abcdefghijklmnopqrstuvwxyz"}}`, `{"env":{"NOTE":"x"}}`, []string{`BL203 $.env.NOTE: settings="abcdefghijklmnopqrstuvwxyz" expected="x"`}},
		{`{"a":[{"key":"abcdefghijklmnopqrstuvwxyz"}]}`, `{"a":[]}`, []string{`BL203 $.a: settings=[{"key":"<redacted>"}] expected=[]`}},
	}
	for _, tt := range tests {
		cfg := testConfig(t)
		write(t, cfg, "s.json", tt.got)
		write(t, cfg, "b.json", tt.want)
		r := Claude(cfg, "s.json", "b.json", true)
		var got []string
		for _, f := range r.Findings {
			if strings.HasPrefix(f.ID, "BL") {
				got = append(got, f.ID+" "+f.Message)
				if f.File != "s.json" {
					t.Errorf("%s belongs to %s, want the settings file", f.ID, f.File)
				}
			}
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(tt.findings))
		if !slices.Equal(got, want) {
			t.Errorf("settings %s, baseline %s: %q, want %q", tt.got, tt.want, got, want)
		}
	}
}

func TestBaselineIsLookedFor(t *testing.T) {
	cfg := testConfig(t)
	write(t, cfg, "s.json", s0())
	expectAll(t, Claude(cfg, "s.json", "", true), "BL205")
	write(t, cfg, "tools/sandbox-lint/expected.json", s0())
	expectAll(t, Claude(cfg, "s.json", "", true))
	write(t, cfg, ".claude/sandbox-baseline.json", `{}`)
	r := Claude(cfg, "s.json", "", true)
	if got := errorsOf(ids(r)); !slices.Equal(got, []string{"BL202", "BL202", "SL101@baseline", "SL108@baseline"}) {
		t.Errorf("%q", got)
	}
	for _, f := range r.Findings {
		if f.Baseline && !strings.HasSuffix(f.Message, "(baseline .claude/sandbox-baseline.json is itself unsafe)") {
			t.Errorf("%s says %q", f.ID, f.Message)
		}
	}
	if r := Claude(cfg, "s.json", "none.json", true); r.Exit(false) != ExitInput {
		t.Errorf("a baseline that is not there: exit %d\n%s", r.Exit(false), details(r))
	}
}

// Mending is checked by its result: nothing mendable is left, what was there is
// still there, and nothing got looser.
func TestMend(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"sound", s0(), s0()},
		{"switches", edit(t, s0(), set("true", "/sandbox/enabled"), set(true, "/sandbox/network/allowAllUnixSockets"), set("bypassPermissions", "/permissions/defaultMode")),
			edit(t, s0(), set(false, "/sandbox/network/allowAllUnixSockets"), set("default", "/permissions/defaultMode"))},
		{"deny rules", `{"permissions":{"deny":["Write(a/**)","Read(/etc/x)","Edit(a/**)"],"allow":["Write(b)","Read(/etc/y)"]}}`, ""},
		{"variables", edit(t, s0(), set("allow", "/sandbox/credentials/envVars/0/mode")), s0()},
		{"redundant", rulesText("Bash(ls *)|Bash(ls:*)|Bash(ls -l)|Bash(cd *)", "", ""), ""},
	}
	for _, tt := range tests {
		cfg := testConfig(t)
		out, err := Mend(cfg, "s.json", []byte(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if tt.want != "" && string(out) != tt.want {
			t.Errorf("%s: mended\n%s\nwant\n%s", tt.name, out, tt.want)
		}
		again, err := Mend(cfg, "s.json", out)
		if err != nil || string(again) != string(out) {
			t.Errorf("%s: mending twice differs: %s, %v", tt.name, again, err)
		}
		switch tt.name {
		case "deny rules":
			var got struct{ Permissions map[string][]string }
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			want := append([]string{"Edit(a/**)", "Read(//etc/x)"}, requiredDeny...)
			if !slices.Equal(got.Permissions["deny"], want) || !slices.Equal(got.Permissions["allow"], []string{"Write(b)", "Read(/etc/y)"}) {
				t.Errorf("%s: %s", tt.name, out)
			}
		case "redundant":
			if !strings.Contains(string(out), `"allow":["Bash(ls *)","Bash(cd *)"]`) {
				t.Errorf("%s: %s", tt.name, out)
			}
		}
	}
	if _, err := Mend(testConfig(t), "s.json", []byte(`{"sandbox":{"enabled":false},"sandbox":{}}`)); err == nil {
		t.Error("a file with a name twice was mended")
	}
	for _, unusable := range []string{``, `[1]`, `{`, `{} x`} {
		if out, err := Mend(testConfig(t), "s.json", []byte(unusable)); err != nil || string(out) != unusable {
			t.Errorf("%q: %q, %v", unusable, out, err)
		}
	}
}
