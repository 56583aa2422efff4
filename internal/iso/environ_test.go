package iso

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// credentialNames are names under which people keep secrets, gathered from the
// documentation of the services they belong to.
var credentialNames = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ARM_CLIENT_SECRET", "ARTIFACTORY_PASSWORD", "AWS_ACCESS_KEY_ID",
	"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "AZURE_DEVOPS_EXT_PAT", "BITBUCKET_APP_PASSWORD",
	"BUILDKITE_AGENT_TOKEN", "CARGO_REGISTRY_TOKEN", "CIRCLE_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLOUDFLARE_API_KEY",
	"CLOUDFLARE_API_TOKEN", "CODECOV_TOKEN", "CONSUL_HTTP_TOKEN", "DATABASE_URL", "DATADOG_API_KEY", "DB_PASS", "DIGITALOCEAN_ACCESS_TOKEN",
	"DOCKER_AUTH_CONFIG", "DOCKER_PASSWORD", "ENCRYPTION_PASSPHRASE", "FASTLY_API_TOKEN", "GEM_HOST_API_KEY", "GEMINI_API_KEY",
	"GH_ENTERPRISE_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GITLAB_PRIVATE_TOKEN", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS",
	"HEROKU_API_KEY", "HF_TOKEN", "HOMEBREW_GITHUB_API_TOKEN", "HUGGING_FACE_HUB_TOKEN", "JIRA_API_TOKEN", "JWT_SECRET",
	"KUBECONFIG", "LINEAR_API_KEY", "MAILGUN_API_KEY", "MONGO_CONNECTION_STRING", "MYSQL_PWD", "NETLIFY_AUTH_TOKEN", "NODE_AUTH_TOKEN",
	"NPM_TOKEN", "OPENAI_API_KEY", "PGPASSWORD", "POSTGRES_PASSWORD", "PULUMI_ACCESS_TOKEN", "PYPI_TOKEN", "RABBITMQ_DEFAULT_PASS",
	"REDIS_PASSWORD", "RESTIC_PASSWORD", "SECRET_KEY_BASE", "SENTRY_AUTH_TOKEN", "SENTRY_DSN", "SLACK_BOT_TOKEN", "SLACK_WEBHOOK_URL",
	"SNYK_TOKEN", "SONAR_TOKEN", "STRIPE_SECRET_KEY", "TF_TOKEN_app_terraform_io", "TF_VAR_db_password", "TWILIO_AUTH_TOKEN", "TWINE_PASSWORD",
	"VAULT_TOKEN", "VERCEL_TOKEN", "npm_config__authToken",
}

func TestFilter(t *testing.T) {
	dir := t.TempDir()
	other := t.TempDir()
	link := filepath.Join(other, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	name := func(patterns ...string) (a []Allowed) {
		for _, p := range patterns {
			a = append(a, Allowed{Pattern: p, Source: "AGENT_ISO_ALLOW"})
		}
		return a
	}
	file := func(patterns ...string) (a []Allowed) {
		for _, p := range patterns {
			a = append(a, Allowed{Pattern: p, Source: "iso.toml", File: true})
		}
		return a
	}
	tests := []struct {
		about                string
		environ              []string
		allowed              []Allowed
		want                 []string
		unset, creds, userin string
	}{
		{about: "a listed name", environ: []string{"HOME=/h", "EDITOR=vi"}, want: []string{"HOME=/h"}},
		{about: "a listed name that is empty", environ: []string{"LANG=", "TERM=x"}, want: []string{"TERM=x"}},
		{about: "names are told by case", environ: []string{"home=/h", "Path=/p"}},
		{about: "a name that begins like a listed one", environ: []string{"HOMEBREW_X=1", "PATH_X=1", "LC_TIME=C"}},
		{about: "an allowed name", environ: []string{"A=1", "B=2"}, allowed: name("B"), want: []string{"B=2"}},
		{about: "an allowed name that is empty is passed as it is", environ: []string{"B="}, allowed: name("B"), want: []string{"B="}},
		{about: "an allowed name that is not set", allowed: name("B"), unset: "B"},
		{about: "a prefix", environ: []string{"LC_TIME=C", "LCX=1", "LC_=2"}, allowed: file("LC_*"), want: []string{"LC_TIME=C", "LC_=2"}},
		{about: "a prefix without a variable is not worth a word", allowed: file("LC_*")},
		{about: "the value is kept byte for byte", environ: []string{"A= \n\"'=\xff\x80=$x\t"}, allowed: name("A"), want: []string{"A= \n\"'=\xff\x80=$x\t"}},
		{about: "an entry that is no variable", environ: []string{"HOME", "", "=", "=x"}},
		{about: "a name that is set twice stays so", environ: []string{"TERM=a", "TERM=b"}, want: []string{"TERM=a", "TERM=b"}},
		{about: "an exported function", environ: []string{"BASH_FUNC_HOME%%=() { :; }"}},
		{about: "PWD that names the directory", environ: []string{"PWD=" + dir}, want: []string{"PWD=" + dir}},
		{about: "PWD through a link", environ: []string{"PWD=" + link}, want: []string{"PWD=" + link}},
		{about: "PWD of another directory", environ: []string{"PWD=" + other}},
		{about: "PWD of another directory, allowed", environ: []string{"PWD=" + other}, allowed: name("PWD")},
		{about: "PWD that does not exist", environ: []string{"PWD=" + dir + "/gone"}},
		{about: "a relative PWD", environ: []string{"PWD=."}},
		{about: "a credential in the file, set or not", allowed: file("GH_TOKEN"), unset: "GH_TOKEN", creds: "GH_TOKEN"},
		{about: "a credential for one start is the person's choice", environ: []string{"GH_TOKEN=x"}, allowed: name("GH_TOKEN"), want: []string{"GH_TOKEN=x"}},
		{about: "a credential behind a prefix", environ: []string{"MY_TOKEN=x", "MY_DIR=y"}, allowed: file("MY_*"), want: []string{"MY_TOKEN=x", "MY_DIR=y"}, creds: "MY_TOKEN"},
		{about: "a prefix that is a credential's", allowed: file("SECRET_*"), creds: "SECRET_*"},
		{about: "a password in an address", environ: []string{"HTTPS_PROXY=http://u:p@proxy:3128"}, allowed: file("HTTPS_PROXY"), want: []string{"HTTPS_PROXY=http://u:p@proxy:3128"}, userin: "HTTPS_PROXY"},
		{about: "an address without one", environ: []string{"HTTPS_PROXY=http://proxy:3128/a:b@c"}, allowed: file("HTTPS_PROXY"), want: []string{"HTTPS_PROXY=http://proxy:3128/a:b@c"}},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			got := filter(tt.environ, tt.allowed, dir)
			if !slices.Equal(got.Vars, tt.want) {
				t.Errorf("filter(%q) = %q, want %q", tt.environ, got.Vars, tt.want)
			}
			for label, pair := range map[string][2]string{
				"unset":       {strings.Join(got.Unset, " "), tt.unset},
				"credentials": {strings.Join(got.Credentials, " "), tt.creds},
				"userinfo":    {strings.Join(got.Userinfo, " "), tt.userin},
			} {
				if pair[0] != pair[1] {
					t.Errorf("filter(%q): %s %q, want %q", tt.environ, label, pair[0], pair[1])
				}
			}
		})
	}
}

func TestFilterKeepsTheWholeList(t *testing.T) {
	dir := t.TempDir()
	var environ []string
	for _, name := range []string{"HOME", "PATH", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "USER", "LOGNAME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "DISPLAY", "WAYLAND_DISPLAY", "SSH_AUTH_SOCK"} {
		environ = append(environ, name+"=x")
	}
	environ = append(environ, "PWD="+dir)
	if got := filter(environ, nil, dir).Vars; !slices.Equal(got, environ) {
		t.Errorf("filter dropped of the list: %q, want %q", got, environ)
	}
}

func TestNoCredentialPasses(t *testing.T) {
	values := []string{"plain", "two\nlines", `"quoted" 'twice'`, "a=b=c", "\xff\xfe", "$(id)", " "}
	var environ []string
	for i, name := range credentialNames {
		environ = append(environ, name+"="+values[i%len(values)])
	}
	if len(credentialNames) < 60 {
		t.Fatalf("only %d names", len(credentialNames))
	}
	if got := filter(environ, nil, t.TempDir()).Vars; len(got) != 0 {
		t.Errorf("filter kept %q", got)
	}
}

func TestLooksLikeCredential(t *testing.T) {
	for _, name := range credentialNames {
		if !looksLikeCredential(name) && !slices.Contains([]string{"TWINE_USERNAME"}, name) {
			t.Errorf("looksLikeCredential(%s) = false", name)
		}
	}
	for _, name := range []string{
		"COLORTERM", "TERM_PROGRAM", "TMPDIR", "TZ", "LC_TIME", "LC_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "https_proxy",
		"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
		"PWD", "OLDPWD", "SSH_AUTH_SOCK", "XDG_SESSION_TYPE", "EDITOR", "PAGER", "AWS_REGION", "CLAUDE_CODE_USE_BEDROCK",
		"MONKEY", "KEYBOARD_LAYOUT", "PINENTRY_PROGRAM", "COMPASS", "BYPASS", "AUTHOR", "GIT_AUTHOR_NAME", "PATH", "HOME",
	} {
		if looksLikeCredential(name) {
			t.Errorf("looksLikeCredential(%s) = true", name)
		}
	}
}

func TestAllowedByEnvironment(t *testing.T) {
	tests := []struct {
		environ   []string
		want, bad string
	}{
		{nil, "", ""},
		{[]string{"CLAUDE_ISO_ALLOW=A"}, "A", ""},
		{[]string{"CLAUDE_ISO_ALLOW= A  B,C , D\t\n"}, "A B C D", ""},
		{[]string{"CLAUDE_ISO_ALLOW=A", "AGENT_ISO_ALLOW=B"}, "A B", ""},
		{[]string{"AGENT_ISO_ALLOW=*"}, "", "*"},
		{[]string{"AGENT_ISO_ALLOW=AWS_* X"}, "X", "AWS_*"},
		{[]string{"AGENT_ISO_ALLOW=A=b 1A a-b _x é"}, "_x", "A=b 1A a-b é"},
		{[]string{"CLAUDE_ISO_ALLOW=old", "CLAUDE_ISO_ALLOW=new"}, "new", ""},
	}
	patterns := func(list []Allowed) string {
		var words []string
		for _, a := range list {
			words = append(words, a.Pattern)
		}
		return strings.Join(words, " ")
	}
	for _, tt := range tests {
		allowed, bad := allowedByEnvironment(tt.environ)
		if patterns(allowed) != tt.want || patterns(bad) != tt.bad {
			t.Errorf("allowedByEnvironment(%q) = %q, bad %q; want %q, bad %q", tt.environ, patterns(allowed), patterns(bad), tt.want, tt.bad)
		}
	}
}

func TestConfig(t *testing.T) {
	tests := []struct {
		text, want, err string
	}{
		{"", "", ""},
		{DefaultConfig, "", ""},
		{"pass = []", "", ""},
		{`pass = ["TZ", "LC_*"]`, "TZ LC_*", ""},
		{"pass = [\n  'TZ',\n  '*'\n]", "", `:3:3: "*" in pass would pass every variable`},
		{`pass = ["AWS*"]`, "", `:1:9: "AWS*" in pass is too wide`},
		{`pass = ["A B"]`, "", `"A B" in pass is not the name`},
		{`pass = ["A_*_B"]`, "", `is not the name`},
		{`pass = [""]`, "", `is not the name`},
		{"# x\npas = ['TZ']", "", `:2:1: unknown key "pas"`},
		{"pass = 'TZ'", "", ":1:"},
		{"pass = [1]", "", ":1:"},
		{"\npass = [", "", ":2:"},
		{"\xff", "", ":1:1: "},
		{"a = " + strings.Repeat("[", 100000), "", ""},
	}
	for _, tt := range tests {
		home := t.TempDir()
		dir := filepath.Join(home, ".config", "sallyport")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "iso.toml")
		if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := LoadConfig(func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] })
		var words []string
		for _, a := range c.Pass {
			words = append(words, a.Pattern)
		}
		broken := tt.err != "" || strings.Contains(tt.text, "[[[")
		if broken != (err != nil) || err != nil && !strings.Contains(err.Error(), path+tt.err) && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("LoadConfig of %.60q: error %v, want %q", tt.text, err, tt.err)
		}
		if err == nil && strings.Join(words, " ") != tt.want {
			t.Errorf("LoadConfig of %q passes %q, want %q", tt.text, words, tt.want)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), "; ")) {
			t.Errorf("LoadConfig of %.60q: %q does not begin with the file or has no fix", tt.text, err)
		}
	}
}

// The commented default must be a working configuration once uncommented.
func TestDefaultConfigUncommented(t *testing.T) {
	var b strings.Builder
	for line := range strings.Lines(DefaultConfig) {
		if code := strings.TrimPrefix(line, "# "); strings.HasPrefix(code, "pass = [") || strings.HasPrefix(code, "  ") || strings.HasPrefix(code, "]") {
			b.WriteString(code)
		}
	}
	c := Config{Path: "iso.toml"}
	if err := c.parse([]byte(b.String())); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	for _, name := range []string{"COLORTERM", "TERM_PROGRAM", "TMPDIR", "TZ", "LC_*", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS"} {
		if !slices.ContainsFunc(c.Pass, func(a Allowed) bool { return a.Pattern == name }) {
			t.Errorf("the default does not offer %s", name)
		}
		if looksLikeCredential(strings.TrimSuffix(name, "*")) {
			t.Errorf("%s would be warned about", name)
		}
	}
}

func TestConfigThatCannotBeRead(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".config", "sallyport", "iso.toml")
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := LoadConfig(func(string) string { return home + "/.config" })
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a directory in the file's place: %v, want an error that names %s", err, path)
	}
	if c, err := LoadConfig(func(string) string { return "" }); err != nil || len(c.Pass) != 0 {
		t.Errorf("no home: %v %v", c, err)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(DefaultConfig))
	f.Add([]byte("pass = ['A_*']\n[x]\ny = 1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := Config{Path: "iso.toml"}
		if c.parse(data) != nil {
			return
		}
		for _, a := range c.Pass {
			if a.Pattern == "" || a.Pattern == "*" || a.matches("") {
				t.Fatalf("pass holds %q", a.Pattern)
			}
		}
	})
}

func TestLinkedCLI(t *testing.T) {
	for name, want := range map[string]string{
		"agent-iso": "", "claude-iso": "claude", "opencode-iso": "opencode", "kiro-iso": "kiro-cli", "codex-iso": "codex",
		"gemini-iso": "gemini", "copilot-iso": "copilot", "mine-iso": "mine", "claude": "claude", "codex": "codex",
		"-iso": "", "iso": "", "agent-iso2": "", "sh": "", "": "",
	} {
		if got := LinkedCLI(name); got != want {
			t.Errorf("LinkedCLI(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestIdentify(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(name, target string) string {
		path := filepath.Join(dir, name)
		if err := os.Symlink(target, path); err != nil {
			t.Skip(err)
		}
		return path
	}
	npm := link("claude", file("lib/cli.js"))
	tests := []struct{ name, path, want string }{
		{"sh", file("sh"), "sh"},
		{"codex", file("codex"), "codex"},
		{"claude", npm, "claude"},
		{"claude-code", link("claude-code", "claude"), "claude"},
		{"ai", link("ai", "claude"), "claude"},
		{"gemini", link("gemini", filepath.Join(dir, "codex")), "codex"},
		{"loop", link("loop", "loop"), "loop"},
		{"/x/claude.exe", "/x/claude.exe", "claude"},
		{"Tool.CMD", "/x/Tool.CMD", "Tool"},
	}
	for _, tt := range tests {
		if got := identify(builtin(), tt.name, tt.path); got != tt.want {
			t.Errorf("identify(%q, %q) = %q, want %q", tt.name, tt.path, got, tt.want)
		}
	}
}
