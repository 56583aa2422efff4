package agentguard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/guards"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestConfigTightensOnly(t *testing.T) {
	tests := []struct {
		name, user, repo string
		guard            string
		found            guards.Verdict // the guard's own
		want             guards.Verdict
		enabled          bool
	}{
		{"nothing set", "", "", "no-verify", guards.Deny, guards.Deny, true},
		{"user weakens", "no-verify = 'warn'", "", "no-verify", guards.Deny, guards.Warn, true},
		{"user switches off", "no-verify = 'off'", "", "no-verify", guards.Deny, guards.Deny, false},
		{"repository cannot weaken", "", "no-verify = 'warn'", "no-verify", guards.Deny, guards.Deny, true},
		{"repository cannot switch off", "", "no-verify = 'off'", "no-verify", guards.Deny, guards.Deny, true},
		{"repository strengthens", "no-verify = 'warn'", "no-verify = 'ask'", "no-verify", guards.Deny, guards.Ask, true},
		{"repository cannot undo the user's deny", "destructive = 'deny'", "destructive = 'ask'", "destructive", guards.Ask, guards.Deny, true},
		{"repository switches on", "", "credentials = 'ask'", "credentials", guards.Deny, guards.Deny, true},
		{"repository switches on what the user has off", "destructive = 'off'", "destructive = 'warn'", "destructive", guards.Ask, guards.Ask, true},
		{"off by default", "", "", "credentials", guards.Deny, guards.Deny, false},
		{"user switches on", "credentials = 'deny'", "", "credentials", guards.Deny, guards.Deny, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home, root := t.TempDir(), t.TempDir()
			if tt.user != "" {
				writeFile(t, filepath.Join(home, ".config/sallyport/guard.toml"), "[guards]\n"+tt.user+"\n")
			}
			if tt.repo != "" {
				writeFile(t, filepath.Join(root, ".sallyport/guard.toml"), "[guards]\n"+tt.repo+"\n")
			}
			c := LoadConfig(homeEnv(home), root, guards.Bundled(), nil)
			for _, g := range guards.Bundled() {
				if g.Name != tt.guard {
					continue
				}
				if got := c.Levels.Enabled(g); got != tt.enabled {
					t.Errorf("enabled %v, want %v", got, tt.enabled)
				}
				if got := c.Levels.Apply(g, tt.found); got != tt.want && tt.enabled {
					t.Errorf("verdict %v, want %v", got, tt.want)
				}
			}
		})
	}
}

func homeEnv(home string) func(string) string {
	return func(name string) string {
		if name == "HOME" || name == "USERPROFILE" {
			return home
		}
		return ""
	}
}

func TestConfigProblemsNameFileAndPlace(t *testing.T) {
	tests := []struct{ text, want string }{
		{"on_error = \"later\"", `on_error is "later", want allow, ask or deny`},
		{"[guards]\nno-verify = \"maybe\"", `guards.no-verify is "maybe"`},
		{"[guards]\nno-verfy = \"deny\"", "there is no such guard"},
		{"[mark-ready]\nlable = \"x\"", "mark-ready.lable is not an option"},
		{"[mark-ready]\nlabel = 7.5", "want a string"},
		{"nonsense = true", "nonsense is not known"},
		{"a = ", "line 1, column"},
		{"a = " + strings.Repeat("[", 200), "nested more than"},
		{strings.Repeat("# x\n", 100_000), "larger than 256 KiB"},
	}
	for _, tt := range tests {
		home := t.TempDir()
		path := filepath.Join(home, ".config/sallyport/guard.toml")
		writeFile(t, path, tt.text)
		c := LoadConfig(homeEnv(home), "", guards.Bundled(), nil)
		var all []string
		for _, p := range c.Problems {
			all = append(all, p.Error())
		}
		if got := strings.Join(all, "\n"); !strings.Contains(got, tt.want) || !strings.Contains(got, path) {
			t.Errorf("%.40q: problems %q, want %q and the file's name", tt.text, got, tt.want)
		}
	}
}

func TestTrustedRepositoryMayLoosen(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(root, ".sallyport/guard.toml"), "inline_override = \"ignore\"\n[guards]\nno-verify = \"off\"\n[commit-trailer]\nconvention = \"co-authored-by\"\n[mark-ready]\nlabel = \"mine\"\n")
	for _, trusted := range []bool{false, true} {
		c := LoadConfig(homeEnv(home), root, guards.Bundled(), func(string, []byte) bool { return trusted })
		if got := c.Levels.Enabled(&guards.NoVerify); got == trusted {
			t.Errorf("trusted %v: no-verify enabled %v", trusted, got)
		}
		if got := c.Options["commit-trailer.convention"]; (got != "") != trusted {
			t.Errorf("trusted %v: convention %q", trusted, got)
		}
		want := "ready for maintainer review,mine"
		if trusted {
			want = "mine"
		}
		if got := c.Options["mark-ready.label"]; got != want {
			t.Errorf("trusted %v: label %q, want %q", trusted, got, want)
		}
		if c.Inline != guards.InlineIgnore {
			t.Errorf("trusted %v: a repository cannot make overrides stricter", trusted)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("on_error = 'ask'\n[guards]\nx = 'deny'\n[log]\nenabled = true\n")
	f.Fuzz(func(t *testing.T, text string) {
		c := &Config{Levels: guards.Levels{User: map[string]guards.Level{}, Repository: map[string]guards.Level{}}, Options: map[string]string{}, Sources: map[string]string{}}
		if len(text) > maxConfig {
			return
		}
		c.apply("/repo/.sallyport/guard.toml", []byte(text), guards.Bundled(), false, homeEnv("/home/x"))
		for name, level := range c.Levels.User {
			t.Fatalf("an untrusted file set %s to %v", name, level)
		}
	})
}
