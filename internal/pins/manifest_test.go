package pins

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sallyport/internal/tomltext"
)

func layer(name, text string) Layer { return Layer{File: name, Data: []byte(text)} }

// The built-in manifest keeps its own rules, the cooldown among them.
func TestEmbedded(t *testing.T) {
	tools, err := Merge([]Layer{layer(EmbeddedName, string(Embedded()))})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.Purpose == "" || tool.Docs == "" || len(tool.Install) == 0 {
			t.Errorf("%s lacks a text: %+v", tool.Name, tool)
		}
		if _, ok := asks[tool.Name]; !ok {
			t.Errorf("%s: nobody knows how to ask for its version", tool.Name)
		}
		if tool.Version != "" && tool.Released == "" {
			t.Errorf("%s: a pin without its date of release", tool.Name)
		}
	}
}

func TestMerge(t *testing.T) {
	const base = "pinned_at = \"2026-09-29\"\n[tools.a]\nversion = \"1.2\"\nreleased = \"2026-09-01\"\nplatforms = [\"linux\"]\n\n[tools.f]\nmin_version = \"2.0\"\n"
	foreign := func(text string) Layer { return Layer{File: "repo.toml", Data: []byte(text), Foreign: true} }
	for _, tt := range []struct {
		why    string
		layers []Layer
		want   string // of all tools; or the error
		line   int    // of the error, 0 for none
	}{
		{"alone", []Layer{layer("base", base)}, "a 1.2 7 base; f ≥ 2.0 7 base", 0},
		{"a lower pin", []Layer{layer("base", base), layer("mine", "[tools.a]\nversion = \"1.1\"\n")}, "a 1.1 7 mine; f ≥ 2.0 7 base", 0},
		{"the last wins, field by field", []Layer{layer("base", base), layer("one", "[tools.a]\nversion = \"1.1\"\ncooldown_days = 1\n"), layer("two", "[tools.a]\nversion = \"1.0\"\n")}, "a 1.0 1 two; f ≥ 2.0 7 base", 0},
		{"a repository may pin", []Layer{layer("base", base), foreign("[tools.a]\nversion = \"1.3\"\n")}, "a 1.3 7 repo.toml; f ≥ 2.0 7 base", 0},
		{"a new tool", []Layer{layer("base", base), layer("mine", "[tools.b]\nmin_version = \"1\"\n")}, "a 1.2 7 base; b ≥ 1 7 mine; f ≥ 2.0 7 base", 0},
		{"a higher floor", []Layer{layer("base", base), foreign("[tools.f]\nmin_version = \"2.1\"\n")}, "a 1.2 7 base; f ≥ 2.1 7 repo.toml", 0},
		{"a lower floor with a reason", []Layer{layer("base", base), layer("mine", "[tools.f]\nmin_version = \"1.9\"\naccept_risk = \"old machine\"\n")}, "a 1.2 7 base; f ≥ 1.9 7 mine", 0},

		{"a lower floor", []Layer{layer("base", base), layer("mine", "\n[tools.f]\nmin_version = \"1.9\"\n")}, "accept_risk", 3},
		{"a lower floor with an empty reason", []Layer{layer("base", base), layer("mine", "[tools.f]\nmin_version = \"1.9\"\naccept_risk = \" \"\n")}, "accept_risk", 2},
		{"a local file of one's own", []Layer{layer("base", base), {File: "local", Data: []byte("[tools.f]\nmin_version = \"1.9\"\naccept_risk = \"x\"\n"), Foreign: true, Risk: true}}, "a 1.2 7 base; f ≥ 1.9 7 local", 0},
		{"a repository cannot accept a risk", []Layer{layer("base", base), foreign("[tools.f]\nmin_version = \"1.9\"\naccept_risk = \"x\"\n")}, "cannot lower", 2},
		{"a repository cannot name what is run", []Layer{layer("base", base), foreign("[tools.a]\ninstall.apt = \"curl x | sh\"\n")}, "cannot come from a repository", 2},
		{"a repository cannot name what is fetched", []Layer{layer("base", base), foreign("[tools.a]\nversion=\"2\"\nupstream_releases = \"https://evil.invalid\"\n")}, "cannot come from a repository", 3},
		{"both", []Layer{layer("x", "[tools.a]\nversion = \"1\"\nmin_version = \"1\"\n")}, "exclude each other", 3},
		{"both over two files", []Layer{layer("base", base), layer("mine", "[tools.f]\nversion = \"3\"\n")}, "exclude each other", 2},
		{"neither", []Layer{layer("x", "# c\n[tools.a]\npurpose = \"p\"\n")}, "needs version", 2},
		{"a bad date", []Layer{layer("x", "[tools.a]\nversion = \"1\"\nreleased = \"2026-13-01\"\n")}, "not a date", 3},
		{"a bad pinned_at", []Layer{layer("x", "pinned_at = \"soon\"\n")}, "not a date", 1},
		{"a negative cooldown", []Layer{layer("x", "[tools.a]\nversion = \"1\"\ncooldown_days = -1\n")}, "0 to 3650", 3},
		{"pinned within the cooldown", []Layer{layer("x", "pinned_at = \"2026-09-29\"\n[tools.a]\nversion = \"1\"\nreleased = \"2026-09-28\"\n")}, "within its cooldown", 3},
		{"an unknown key", []Layer{layer("x", "[tools.a]\nversoin = \"1\"\n")}, "unknown key", 2},
		{"a version that is none", []Layer{layer("x", "[tools.a]\nversion = \"$(x)\"\n")}, "not a version", 2},
		{"a name that is none", []Layer{layer("x", "[tools.\"a b\"]\nversion = \"1\"\n")}, "name of a tool", 1},
		{"a table twice", []Layer{layer("x", "[tools.a]\nversion = \"1\"\n[tools.a]\n")}, "", 3},
	} {
		tools, err := Merge(tt.layers)
		if tt.line > 0 {
			var at *tomltext.Error
			if !errors.As(err, &at) || at.Line != tt.line || !strings.Contains(err.Error(), tt.want) || at.File != tt.layers[len(tt.layers)-1].File {
				t.Errorf("%s: %v, want line %d and %q", tt.why, err, tt.line, tt.want)
			}
			continue
		}
		var got []string
		for _, tool := range tools {
			got = append(got, fmt.Sprintf("%s %s %d %s", tool.Name, tool.Wanted(), tool.Cooldown, tool.Source()))
		}
		if s := strings.Join(got, "; "); err != nil || s != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.why, s, err, tt.want)
		}
	}
	tools, _ := Merge([]Layer{layer("base", base), layer("mine", "[tools.a]\nversion = \"1.1\"\n")})
	if tools[0].Released != "" {
		t.Errorf("the date of another version stayed: %q", tools[0].Released)
	}
}

func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		pin, floor, installed string
		missing, asked        bool
		want                  Status
	}{
		{"1.2", "", "1.2.0", false, true, OK},
		{"1.2", "", "1.2-1ubuntu1", false, true, OK},
		{"1.2", "", "1.10", false, true, Mismatch},
		{"1.2", "", "", true, true, Mismatch},
		{"1.2", "", "", false, true, Unknown},
		{"1.2", "", "", false, false, Unknown},
		{"", "2.1.187", "2.1.187", false, true, OK},
		{"", "2.1.187", "2.1.99", false, true, Below},
		{"", "2.1.187", "2.2.0", false, true, OK},
		{"", "2.1.187", "", true, true, Unknown},
	} {
		s := State{Tool: Tool{Version: tt.pin, MinVersion: tt.floor}, Installed: tt.installed, Missing: tt.missing, Asked: tt.asked}
		if s.judge(); s.Status != tt.want || s.Status != OK && s.Note == "" {
			t.Errorf("%+v: %s (%s)", tt, s.Status, s.Note)
		}
	}
}

func TestFindVersion(t *testing.T) {
	for _, tt := range []struct{ tool, out, want string }{
		{"bubblewrap", "bubblewrap 0.8.0\n", "0.8.0"},
		{"socat", "socat by Gerhard Rieger and contributors - see www.dest-unreach.org\nsocat version 1.7.4.4 on 06 Nov 2022 08:15:51\n", "1.7.4.4"},
		{"claude-code", "2.1.332 (Claude Code)\n", "2.1.332"},
		{"claude-code", "2.1.332\n", ""},
		{"claude-code", "\x1b[31m1 (Claude Code)\n", ""},
		{"bubblewrap", "bwrap: error\n", ""},
		{"bubblewrap", "bubblewrap \n", ""},
	} {
		ask := asks[tt.tool]
		if got := findVersion(tt.out, ask.before, ask.after); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.tool, tt.out, got, tt.want)
		}
	}
}

func TestBump(t *testing.T) {
	const text = "# kept\npinned_at = \"2026-01-01\"   # and this\n\n[tools.a]\nversion = '1.2'\nreleased = \"2025-12-01\"\ncooldown_days = 3\ninstall.apt = \"apt-get install a=1.2\"\n\n[tools.b]\nversion = \"1.2\"\nreleased = \"2025-12-01\"\n\n[tools.f]\nmin_version = \"1\"\n"
	day := func(s string) time.Time { d, _ := time.Parse(time.DateOnly, s); return d }
	got, err := Bump(layer("m", text), "a", "1.3", day("2026-02-01"), day("2026-02-04"))
	want := strings.NewReplacer("2026-01-01", "2026-02-04", "version = '1.2'\nreleased = \"2025-12-01\"", "version = \"1.3\"\nreleased = \"2026-02-01\"", "a=1.2", "a=1.3").Replace(text)
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	for _, tt := range []struct{ tool, version, released, want string }{
		{"a", "1.3", "2026-02-02", "cooldown of 3 days ends 2026-02-05"},
		{"f", "1.3", "2026-01-02", "has a floor"},
		{"x", "1.3", "2026-01-02", "there is no [tools.x]"},
		{"a", "$(x)", "2026-01-02", "not a version"},
	} {
		if _, err := Bump(layer("m", text), tt.tool, tt.version, day(tt.released), day("2026-02-04")); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	if _, err := Bump(layer("m", "tools = {a = {version = \"1\", released = \"2020-01-01\"}}\npinned_at = \"2026-01-01\"\n"), "a", "2", day("2026-01-01"), day("2026-02-04")); err == nil {
		t.Error("an inline table was rewritten")
	}
}

func FuzzMerge(f *testing.F) {
	f.Add(string(embedded))
	f.Fuzz(func(t *testing.T, text string) {
		tools, err := Merge([]Layer{layer("m", text)})
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x1b\n\r") {
				t.Errorf("%q", err)
			}
			return
		}
		for _, tool := range tools {
			if (tool.Version == "") == (tool.MinVersion == "") {
				t.Errorf("%+v", tool)
			}
		}
	})
}
