package hints

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sallyport/internal/testenv"
)

// entry is a catalogue entry; each pair of edits replaces text in it.
func entry(edits ...string) string {
	return strings.NewReplacer(edits...).Replace(`
[[hint]]
id = "vpn-down"
order = 5
title = "The build host is not reachable"
platform = ["linux", "darwin"]
confidence = "medium"
gate = "none"
signatures = ['connect to build\.example\.com[^\n]*refused']
positives = ["connect to build.example.com port 8443: refused"]
negatives = ["connect to build.example.com: timed out"]
cause = "It is known inside the company network only."
never = ["allowedDomains [\"*\"]"]
[hint.fix]
scope = "user"
line = "allow the host."
steps = ["First.", "Second."]
[hint.fix.settings.sandbox.network]
allowedDomains = ["build.example.com"]
allowLocalBinding = true
`)
}

func TestLoadOwnEntries(t *testing.T) {
	dir := t.TempDir()
	testenv.Write(t, filepath.Join(dir, "team.toml"), `disable = ["dns-in-sandbox"]`+"\n"+entry())
	testenv.Write(t, filepath.Join(dir, "notes.txt"), "not a catalogue")
	testenv.Write(t, filepath.Join(dir, ".hidden.toml"), "not TOML")
	c := Load(dir)
	if len(c.Problems) > 0 || len(c.CheckSamples()) > 0 {
		t.Errorf("problems %v %v, want none", c.Problems, c.CheckSamples())
	}
	if len(c.Entries) != len(Builtin()) || Find(c.Entries, "dns-in-sandbox") != nil || !slices.Equal(c.Disabled, []string{"dns-in-sandbox"}) {
		t.Errorf("%d entries, disabled %q; want one more and one less than the built-in %d", len(c.Entries), c.Disabled, len(Builtin()))
	}
	if c.Entries[0].ID != "vpn-down" {
		t.Errorf("first entry is %s, want vpn-down, whose order is lowest", c.Entries[0].ID)
	}
	text := "connect to build.example.com port 1: refused\nbwrap: loopback: Failed RTM_NEWADDR"
	h := Select(text, Scan(text, c.Entries), func() Sandbox { return SandboxUnknown })
	if id(h) != "vpn-down" {
		t.Fatalf("%q selects %s, want vpn-down", text, id(h))
	}
	want := `[sandbox-hint] The build host is not reachable. In ~/.claude/settings.json: allow the host. See error-hint --show vpn-down
               Run agent-setup doctor for a probe of all known failure modes.
               Also seen: bwrap-loopback-denied.
`
	if got := h.Text("~/.claude/settings.json", false); got != want {
		t.Errorf("hint:\n%swant:\n%s", got, want)
	}
	if got := h.ModelText("x"); !strings.Contains(got, `{"sandbox":{"network":{"allowLocalBinding":true,"allowedDomains":["build.example.com"]}}}`) || !strings.Contains(got, `Never suggest: allowedDomains ["*"].`) {
		t.Errorf("the model is told %q, want the settings and the never-list", got)
	}
}

func TestOwnEntryTakesTheBuiltInPlace(t *testing.T) {
	dir := t.TempDir()
	testenv.Write(t, filepath.Join(dir, "a.toml"), entry("vpn-down", "container-socket-denied", "order = 5", "order = 44"))
	testenv.Write(t, filepath.Join(dir, "b.toml"), entry("vpn-down", "container-socket-denied"))
	c := Load(dir)
	e := Find(c.Entries, "container-socket-denied")
	if len(c.Entries) != len(Builtin()) || e.File == "" || e.Title != "The build host is not reachable" {
		t.Errorf("%d entries, %q from %q; want the own one in the place of the built-in one", len(c.Entries), e.Title, e.File)
	}
	for _, never := range append([]string{`allowedDomains ["*"]`}, Find(Builtin(), e.ID).Never...) {
		if !slices.Contains(e.Never, never) {
			t.Errorf("never-list %q lacks %q", e.Never, never)
		}
	}
	if len(c.Problems) != 1 || !strings.Contains(c.Problems[0].Error(), "already defined in "+filepath.Join(dir, "a.toml")) {
		t.Errorf("problems %v, want the second definition", c.Problems)
	}
}

func TestBrokenFiles(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"not TOML", "= nonsense", ":1: "},
		{"binary", "\x00\xff\xfe", "team.toml"},
		{"JSON", `[{"id": "x"}]`, "team.toml"},
		{"field of the wrong type", entry(`order = 5`, `order = "five"`), ":4: "},
		{"unknown field", entry(`order = 5`, `ordre = 5`), `:4: unknown field "hint.ordre"`},
		{"nested deep", "x = " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nested more than"},
		{"nested tables", "x = " + strings.Repeat("{a=", 5000), "nested more than"},
		{"no id", entry(`id = "vpn-down"`, ``), "id must be"},
		{"id with a path", entry(`vpn-down`, `../x`), "id must be"},
		{"no title", entry(`title = "The build host is not reachable"`, ``), "title is missing"},
		{"bad expression", entry(`connect to build`, `connect (to build`), "missing closing )"},
		{"look-ahead", entry(`connect to`, `(?=x)connect to`), "signature"},
		{"matches everything", entry(`connect to build\.example\.com[^\n]*refused`, `.*`), "matches the empty string"},
		{"unknown gate", entry(`"none"`, `"sometimes"`), `gate "sometimes": want`},
		{"unknown confidence", entry(`"medium"`, `"sure"`), `confidence "sure": want`},
		{"unknown scope", entry(`"user"`, `"moon"`), `fix.scope "moon": want`},
		{"unknown platform", entry(`"darwin"`, `"plan9"`), `platform "plan9": want`},
		{"no signatures", entry(`['connect to build\.example\.com[^\n]*refused']`, `[]`), "signatures are missing"},
		{"no fix", entry(`line = "allow the host."`, ``, `steps = ["First.", "Second."]`, ``, "[hint.fix.settings.sandbox.network]\nallowedDomains = [\"build.example.com\"]\nallowLocalBinding = true", ``), "fix says nothing"},
		{"twice the same id", entry() + entry(), "defined twice"},
		{"unknown id disabled", `disable = ["nonsense"]`, `no entry has the id "nonsense"`},
		{"too large", "# " + strings.Repeat("x", maxFileBytes), "larger than 512 KiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			testenv.Write(t, filepath.Join(dir, "team.toml"), tt.text)
			testenv.Write(t, filepath.Join(dir, "zz.toml"), entry("vpn-down", "whole-entry"))
			c := Load(dir)
			if len(c.Problems) == 0 || !strings.Contains(c.Problems[0].Error(), tt.want) {
				t.Errorf("problems %v, want one with %q", c.Problems, tt.want)
			}
			if Find(c.Entries, "whole-entry") == nil {
				t.Error("a broken file hides a whole one")
			}
			for _, e := range Builtin() {
				if Find(c.Entries, e.ID) == nil {
					t.Errorf("a broken file hides %s", e.ID)
				}
			}
		})
	}
}

func TestOwnEntriesAreBounded(t *testing.T) {
	dir := t.TempDir()
	for f := range 3 {
		var b strings.Builder
		for i := range 150 {
			b.WriteString(entry("vpn-down", fmt.Sprintf("own-%d-%d", f, i)))
		}
		testenv.Write(t, filepath.Join(dir, fmt.Sprintf("%d.toml", f)), b.String())
	}
	c := Load(dir)
	if own := len(c.Entries) - len(Builtin()); own != maxEntries || len(c.Problems) == 0 {
		t.Errorf("%d own entries, problems %v; want %d and a problem", own, c.Problems, maxEntries)
	}
}

func TestOwnTextIsCleaned(t *testing.T) {
	f, problems := Parse("x", []byte(entry(
		"The build host is not reachable", `Red \u001b[31m line\ntwo \u202e end`,
		"allow the host.", strings.Repeat("long ", 1000),
		"build.example.com", `\u001b]0;x\u0007\"quoted\"`,
		"connect to build\\.example\\.com", "connect to build")))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	h := Hint{Entry: &f.Specs[0].Entry}
	for _, text := range []string{h.Text("x", false), h.ModelText("x")} {
		if strings.ContainsAny(text, "\x1b\x07\u202e") || len(text) > maxModelText+10 {
			t.Errorf("hint %q holds controls or is long", text)
		}
	}
	if want := `["\"quoted\""]`; !strings.Contains(f.Specs[0].Fix.Settings, want) {
		t.Errorf("settings %s, want %s in it", f.Specs[0].Fix.Settings, want)
	}
}

func TestLoadOddDirectories(t *testing.T) {
	if c := Load(filepath.Join(t.TempDir(), "missing")); len(c.Problems) > 0 || len(c.Entries) != len(Builtin()) {
		t.Errorf("a missing directory: problems %v, %d entries", c.Problems, len(c.Entries))
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "dir.toml"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := 1
	if runtime.GOOS != "windows" {
		if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero.toml")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("nowhere", filepath.Join(dir, "dangling.toml")); err != nil {
			t.Fatal(err)
		}
		testenv.Write(t, filepath.Join(dir, "real", "x"), entry())
		if err := os.Symlink(filepath.Join("real", "x"), filepath.Join(dir, "link.toml")); err != nil {
			t.Fatal(err)
		}
		want = 3
	}
	c := Load(dir)
	if len(c.Problems) != want {
		t.Errorf("problems %v, want %d", c.Problems, want)
	}
	if want == 3 && Find(c.Entries, "vpn-down") == nil {
		t.Error("a link to a catalogue file is not followed")
	}
}

func TestCheckSamplesNamesWhatFails(t *testing.T) {
	dir := t.TempDir()
	testenv.Write(t, filepath.Join(dir, "team.toml"), entry("port 8443: refused", "port 8443: closed", ": timed out", ": refused"))
	problems := Load(dir).CheckSamples()
	if len(problems) != 2 {
		t.Errorf("problems %v, want a positive that does not match and a negative that does", problems)
	}
}

func TestNear(t *testing.T) {
	for id, want := range map[string]string{
		"git-config-lok": "git-config-lock",
		"ssh-agent":      "ssh-agent-unreachable",
		"docker socket":  "container-socket-denied",
	} {
		if got := Near(Builtin(), id); !slices.Contains(got, want) {
			t.Errorf("Near(%q) = %q, want %s among them", id, got, want)
		}
	}
	if got := Near(Builtin(), strings.Repeat("z", 1<<20)); len(got) > 0 {
		t.Errorf("Near of a long word = %q, want nothing", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(entry()))
	f.Add([]byte(`disable = ["x"]`))
	f.Add([]byte("[[hint]]\nsignatures = ['''x''', \"\"\"y\"\"\"]\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, problems := Parse("x", raw)
		for _, p := range problems {
			_ = p.Error()
		}
		for i := range file.Specs {
			h := Hint{Entry: &file.Specs[i].Entry}
			if text := h.Text("x", false) + h.ModelText("x"); strings.ContainsAny(text, "\x1b\r\u202e") {
				t.Errorf("a hint of %q holds a control: %q", raw, text)
			}
			file.Specs[i].Check()
		}
	})
}
