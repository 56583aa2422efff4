package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sallyport/internal/statusline"
)

func getenvOf(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

const everything = `# how I like it
lines     = [["sandbox", "folder", "git"], ["model", "exec:uptime -p"]]
separator = " · "
theme     = "mono"
symbols   = "unicode"
color     = "16"
width     = 90
links     = false
budget    = "90ms"

[colors]
branch = "bold #d78700" # amber
sandbox-on = "bright-green"

[exec]
refresh = "30s"
limit   = "1s"
`

func TestParse(t *testing.T) {
	c, errs := Parse("f", []byte(everything))
	if len(errs) > 0 {
		t.Fatalf("errors: %v", errs)
	}
	wants, commands := c.Segments()
	if !wants("git") || wants("pr") || !reflect.DeepEqual(commands, []string{"uptime -p"}) {
		t.Errorf("segments: git %v, pr %v, commands %q", wants("git"), wants("pr"), commands)
	}
	branch, _ := statusline.RoleNamed("branch")
	if got := c.Layout.Theme[branch].String(); got != "bold #d78700" {
		t.Errorf("branch is drawn %q", got)
	}
	if c.Budget != 90*time.Millisecond || c.CommandTTL != 30*time.Second || c.CommandLimit != time.Second ||
		c.Layout.Width != 90 || c.Layout.Links || c.Layout.Separator != " · " || c.Layout.Symbols.Dirty != "●" ||
		c.Depth(getenvOf(nil)) != statusline.Colors16 || len(c.Layout.Lines) != 2 {
		t.Errorf("Parse = %+v", c)
	}
}

func TestParseNamesTheLine(t *testing.T) {
	for _, tt := range []struct {
		in      string
		line    int
		msg     string
		unknown bool
	}{
		{"\nsegments = [", 2, "", false},
		{"theme = \"solarised\"", 1, `"solarised" is no theme; there are default, mono, high-contrast`, false},
		{"\n\nsymbols = \"emoji\"", 3, "no set of symbols", false},
		{"# x\nsegments = [\n  \"sandbox\",\n  \"gti\",\n]", 2, `"gti" is no segment`, false},
		{"segments = [\"text\"]", 1, "is no segment", false},
		{"segments = [\"git:x\"]", 1, "is no segment", false},
		{"segments = [\"git\"]\nlines = [[\"pr\"]]", 2, "not both", false},
		{"color = \"yes\"", 1, "want one of auto", false},
		{"width = -1", 1, "want 0", false},
		{"width = \"wide\"", 1, "", false},
		{"budget = \"150\"", 1, "want a duration", false},
		{"[exec]\n\nlimit = \"1h\"", 3, "at most 1m0s", false},
		{"[colors]\nbranch = \"reddish\"", 2, "no colour", false},
		{"colors = { branch = \"reddish\" }", 1, "no colour", false},
		{"colors.branch = \"reddish\"", 1, "no colour", false},
		{"\nsegmnets = [\"git\"]", 2, "segmnets: no such key", true},
		{"[colors]\nbrnch = \"red\"", 2, "colors.brnch: no such key", true},
		{"[extra]\nkey = 1", 2, "extra.key: no such key", true},
	} {
		c, errs := Parse("f.toml", []byte(tt.in))
		if len(errs) != 1 {
			t.Errorf("Parse(%q) has errors %v, want one", tt.in, errs)
			continue
		}
		e := errs[0]
		if e.Line != tt.line || !strings.Contains(e.Msg, tt.msg) || e.Unknown != tt.unknown {
			t.Errorf("Parse(%q) error = line %d, %q, unknown %v; want line %d, %q, %v", tt.in, e.Line, e.Msg, e.Unknown, tt.line, tt.msg, tt.unknown)
		}
		if !reflect.DeepEqual(c, Default()) {
			t.Errorf("Parse(%q) does not count as missing: %+v", tt.in, c)
		}
	}
}

func TestUnknownKeyIsPassedOver(t *testing.T) {
	c, errs := Parse("f", []byte("later = true\ntheme = \"mono\"\n"))
	if len(errs) != 1 || !errs[0].Unknown || c.Theme != "mono" {
		t.Errorf("Parse = theme %q, errors %v; want mono and one note", c.Theme, errs)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "status-line.toml")
	if c, errs := Load(path); len(errs) > 0 || !reflect.DeepEqual(c, Default()) {
		t.Errorf("Load of a missing file = %+v, %v", c, errs)
	}
	os.WriteFile(path, []byte(strings.Repeat("[", 60000)), 0o644)
	if c, errs := Load(path); len(errs) != 1 || !reflect.DeepEqual(c, Default()) {
		t.Errorf("Load of deep nesting: %v", errs)
	}
	os.WriteFile(path, []byte("a = "+strings.Repeat("[", 50000)), 0o644)
	if c, errs := Load(path); len(errs) != 1 || !reflect.DeepEqual(c, Default()) {
		t.Errorf("Load of deep nesting: %v", errs)
	}
	os.WriteFile(path, []byte(strings.Repeat("#", 100<<10)), 0o644)
	if c, errs := Load(path); len(errs) != 1 || !reflect.DeepEqual(c, Default()) {
		t.Errorf("Load of a large file: %v", errs)
	}
	if c, errs := Load(dir); len(errs) != 1 || !reflect.DeepEqual(c, Default()) {
		t.Errorf("Load of a directory: %v", errs)
	}
}

func TestDepth(t *testing.T) {
	for _, tt := range []struct {
		color string
		env   map[string]string
		want  statusline.Depth
	}{
		{"auto", nil, statusline.Colors256},
		{"auto", map[string]string{"COLORTERM": "truecolor"}, statusline.TrueColor},
		{"auto", map[string]string{"TERM": "linux"}, statusline.Colors16},
		{"auto", map[string]string{"TERM": "xterm-256color"}, statusline.Colors256},
		{"never", map[string]string{"COLORTERM": "truecolor"}, statusline.NoColors},
		{"true", nil, statusline.TrueColor},
		{"16", map[string]string{"COLORTERM": "truecolor"}, statusline.Colors16},
	} {
		if got := (Config{Color: tt.color}).Depth(getenvOf(tt.env)); got != tt.want {
			t.Errorf("color %s with %v = %d, want %d", tt.color, tt.env, got, tt.want)
		}
	}
}

func TestSetKeepsTheRest(t *testing.T) {
	for _, tt := range []struct {
		name, in, key, value, want string
	}{
		{"new file", "", "theme", "mono", "theme = \"mono\"\n"},
		{"replaced, comment kept", "# top\ntheme   =  \"mono\"   # why\nwidth=3\n", "theme", "default", "# top\ntheme   =  \"default\"   # why\nwidth=3\n"},
		{"appended to the top level", "width = 3\n\n# about colours\n[colors]\nbranch = \"red\"\n", "theme", "mono", "width = 3\ntheme = \"mono\"\n\n# about colours\n[colors]\nbranch = \"red\"\n"},
		{"first of the top level", "# about colours\n[colors]\nbranch = \"red\"\n", "theme", "mono", "theme = \"mono\"\n\n# about colours\n[colors]\nbranch = \"red\"\n"},
		{"in a table", "[colors]\nbranch = \"red\" # r\n[exec]\nlimit = \"1s\"\n", "colors.dirty", "208", "[colors]\nbranch = \"red\" # r\ndirty = \"208\"\n[exec]\nlimit = \"1s\"\n"},
		{"in an empty table", "[colors]\n[exec]\n", "colors.dirty", "208", "[colors]\ndirty = \"208\"\n[exec]\n"},
		{"new table", "width = 3", "exec.limit", "1s", "width = 3\n\n[exec]\nlimit = \"1s\"\n"},
		{"dotted key", "colors.branch = \"red\"\n", "colors.branch", "blue", "colors.branch = \"blue\"\n"},
		{"list over several lines", "segments = [\n  \"git\", # g\n]\nwidth = 1\n", "segments", "sandbox,folder", "segments = [\"sandbox\", \"folder\"]\nwidth = 1\n"},
		{"list as TOML", "", "segments", `["sandbox", "text:a, b"]`, "segments = [\"sandbox\", \"text:a, b\"]\n"},
		{"segments take the place of lines", "lines = [\n [\"git\"],\n]\nwidth = 1\n", "segments", "git", "width = 1\nsegments = [\"git\"]\n"},
		{"no newline at the end", "width = 3", "theme", "mono", "width = 3\ntheme = \"mono\"\n"},
		{"CRLF", "width = 3\r\n", "theme", "mono", "width = 3\r\ntheme = \"mono\"\r\n"},
		{"quotes", "", "separator", `"\|`, "separator = \"\\\"\\\\|\"\n"},
		{"value with a hash", "separator = \" # \" # sep\n", "separator", " = ", "separator = \" = \" # sep\n"},
		{"bool", "links = true\n", "links", "false", "links = false\n"},
		{"unknown keys stay", "later = 1\n", "width", "7", "later = 1\nwidth = 7\n"},
	} {
		got, err := Set("f", []byte(tt.in), tt.key, tt.value)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: Set(%q, %s, %q) = %q, %v; want %q", tt.name, tt.in, tt.key, tt.value, got, err, tt.want)
		}
	}
}

func TestSetRefuses(t *testing.T) {
	for _, tt := range []struct{ in, key, value, msg string }{
		{"", "colour", "red", "no such key"},
		{"", "colors.brnch", "red", "no such key"},
		{"", "theme", "solarised", "is no theme"},
		{"", "width", "wide", "no number"},
		{"", "width", "-2", "want 0"},
		{"", "links", "yes", "want true or false"},
		{"", "lines", "git", "list of lists"},
		{"", "segments", "[\"git\"\nwidth = 3", "array"},
		{"", "segments", "[]\nwidth = 3", "not one array"},
		{"", "segments", "[] # x", "not one array"},
		{"", "lines", "[[]", "lines: "},
		{"theme = ", "width", "3", "f:1"},
		{"colors = { branch = \"red\" }\n", "colors.branch", "blue", "inline table"},
		{"colors = { branch = \"red\" }\n", "colors.dirty", "blue", "inline table"},
	} {
		got, err := Set("f", []byte(tt.in), tt.key, tt.value)
		if err == nil || !strings.Contains(err.Error(), tt.msg) {
			t.Errorf("Set(%q, %s, %q) = %q, %v; want an error with %q", tt.in, tt.key, tt.value, got, err, tt.msg)
		}
	}
}

func TestGetReadsWhatSetWrites(t *testing.T) {
	for key, text := range map[string]string{
		"segments": `["sandbox", "git", "exec:date"]`, "lines": `[["sandbox"], ["git", "text:x"]]`, "separator": ` " \| `, "theme": "mono",
		"symbols": "nerd", "color": "true", "width": "80", "links": "false", "budget": "90ms",
		"exec.refresh": "1m0s", "exec.limit": "3s", "colors.branch": "bold underline #010203",
	} {
		data, err := Set("f", nil, key, text)
		if err != nil {
			t.Errorf("Set(%s, %s): %v", key, text, err)
			continue
		}
		c, errs := Parse("f", data)
		got, err := Get(c, key)
		if len(errs) > 0 || err != nil || got != text {
			t.Errorf("Get(%s) after Set = %q, %v, %v; want %q", key, got, err, errs, text)
		}
	}
	if _, err := Get(Default(), "nope"); !errors.Is(err, ErrNoKey) {
		t.Errorf("Get of an unknown key: %v", err)
	}
}

func TestTOMLIsTheDocument(t *testing.T) {
	c, _ := Parse("f", []byte(everything))
	for _, c := range []Config{Default(), c} {
		var lines []string
		for _, line := range TOML(c) {
			// One of the two says the same as the other.
			if len(c.Layout.Lines) == 1 && strings.HasPrefix(line, "lines = ") || len(c.Layout.Lines) > 1 && strings.HasPrefix(line, "segments = ") {
				continue
			}
			lines = append(lines, line)
		}
		again, errs := Parse("f", []byte(strings.Join(lines, "\n")))
		again.Layout.Theme = c.Layout.Theme // single colours are not listed
		if len(errs) > 0 || !reflect.DeepEqual(again, c) {
			t.Errorf("TOML reads back as %+v, %v; want %+v", again, errs, c)
		}
	}
}

func TestSetFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	path := filepath.Join(dir, "status-line.toml")
	backups := filepath.Join(t.TempDir(), "backups")
	if err := SetFile(path, "theme", "mono", backups); err != nil {
		t.Fatal(err)
	}
	if err := SetFile(path, "theme", "nope", backups); err == nil {
		t.Error("SetFile took a theme that does not exist")
	}
	if runtime.GOOS != "windows" {
		os.Chmod(path, 0o600)
	}
	// Writers at the same time: each succeeds or says that it did not.
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := make(map[string]bool)
	for _, role := range []string{"branch", "dirty", "ahead", "behind", "model", "pr"} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if SetFile(path, "colors."+role, "blue", backups) == nil {
				mu.Lock()
				done[role] = true
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	c, errs := Load(path)
	if len(errs) > 0 || c.Theme != "mono" {
		t.Fatalf("after parallel writes: %v, theme %q", errs, c.Theme)
	}
	for role := range done {
		if got, _ := Get(c, "colors."+role); got != "blue" {
			t.Errorf("the change of %s was lost: %s", role, got)
		}
	}
}

func FuzzSet(f *testing.F) {
	f.Add(everything, "theme", "default")
	f.Add("[colors]\n", "colors.branch", "red")
	f.Add("a=1\r\n#x", "separator", "\"\\\n\x00")
	f.Add("colors={branch='red'}", "colors.dirty", "1")
	f.Fuzz(func(t *testing.T, text, key, value string) {
		before, errs := Parse("f", []byte(text))
		out, err := Set("f", []byte(text), key, value)
		if err != nil {
			return
		}
		if hasBroken(errs) {
			t.Fatalf("Set(%q) edits a broken file", text)
		}
		after, errs := Parse("f", out)
		if hasBroken(errs) {
			t.Fatalf("Set(%q, %q, %q) = %q, which is broken: %v", text, key, value, out, errs)
		}
		for _, k := range Keys() {
			if k.Name == key || key == "segments" || key == "lines" {
				continue
			}
			b, _ := Get(before, k.Name)
			a, _ := Get(after, k.Name)
			if a != b && key != "theme" {
				t.Fatalf("Set(%q, %q, %q) = %q changes %s from %s to %s", text, key, value, out, k.Name, b, a)
			}
		}
	})
}

func TestManualListsEveryRole(t *testing.T) {
	seen := make(map[string]bool)
	for _, name := range statusline.RoleNames() {
		if name == "" || seen[name] {
			t.Errorf("role %q is unnamed or named twice", name)
		}
		seen[name] = true
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "not", "yet", "status-line.toml")
	backups := filepath.Join(dir, "backups")
	if backup, err := Write(path, nil, []byte("width = 1\n"), backups); err != nil || backup != "" {
		t.Fatalf("Write of a new file = %q, %v", backup, err)
	}
	backup, err := Write(path, []byte("width = 1\n"), []byte("width = 2\n"), backups)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(backup); string(kept) != "width = 1\n" {
		t.Errorf("the backup %s holds %q, %v; want the file as it was", backup, kept, err)
	}
	if _, err := Write(path, []byte("width = 1\n"), []byte("width = 3\n"), backups); !errors.Is(err, ErrChanged) {
		t.Errorf("Write over what somebody else wrote = %v, want ErrChanged", err)
	}
	// Nothing is replaced that cannot be kept.
	if _, err := Write(path, []byte("width = 2\n"), []byte("width = 3\n"), ""); err == nil {
		t.Error("Write without a place for the backup succeeded")
	}
	if data, _ := os.ReadFile(path); string(data) != "width = 2\n" {
		t.Errorf("after refused writes the file holds %q", data)
	}
	for i := range 2 * keepBackups {
		if err := SetFile(path, "width", strconv.Itoa(10+i), backups); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(backups)
	if err != nil || len(entries) != keepBackups {
		t.Fatalf("%d backups, %v; want %d", len(entries), err, keepBackups)
	}
	newest := filepath.Join(backups, entries[len(entries)-1].Name())
	if data, _ := os.ReadFile(newest); string(data) != fmt.Sprintf("width = %d\n", 10+2*keepBackups-2) {
		t.Errorf("the newest backup holds %q", data)
	}
}

func TestSetAll(t *testing.T) {
	in := "# c\ntheme = \"mono\" # why\n"
	out, err := SetAll("f", []byte(in), []Change{{"theme", "default"}, {"width", "9"}})
	if want := "# c\ntheme = \"default\" # why\nwidth = 9\n"; err != nil || string(out) != want {
		t.Errorf("SetAll = %q, %v; want %q", out, err, want)
	}
	if out, err := SetAll("f", []byte(in), []Change{{"theme", "default"}, {"width", "wide"}}); err == nil || out != nil {
		t.Errorf("SetAll with a bad change = %q, %v; want nothing", out, err)
	}
}
