package configure

import (
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"sallyport/internal/statusline/config"
	"sallyport/internal/term"
)

var update = flag.Bool("update", false, "rewrite the golden screens in testdata")

const commented = `# my line
theme = "mono" # calm
segments = ["folder", "git", "text:hi there", "sandbox"]

[colors]
branch = "bold 208"
`

// A disk takes what a screen writes.
type disk struct {
	data []byte
	err  error
	n    int
}

func (d *disk) write(data []byte) (string, error) {
	d.n++
	if d.err != nil {
		return "", d.err
	}
	d.data = data
	return "/backup", nil
}

func newScreen(t *testing.T, text string, color bool) (*Screen, *disk) {
	t.Helper()
	d := &disk{data: []byte(text)}
	s, errs := New(Options{
		Path: "/home/me/.config/sallyport/status-line.toml", Data: d.data, Color: color,
		Getenv: func(string) string { return "" }, Write: d.write,
	})
	if s == nil {
		t.Fatalf("New(%q): %v", text, errs)
	}
	return s, d
}

// press sends keys by name; a word that is no name is typed.
func press(s *Screen, keys string) {
	for key := range strings.FieldsSeq(keys) {
		named := map[string]tea.KeyPressMsg{
			"space": {Code: tea.KeySpace, Text: " "}, "enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape},
			"tab": {Code: tea.KeyTab}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift},
			"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
			"shift+up": {Code: tea.KeyUp, Mod: tea.ModShift}, "shift+down": {Code: tea.KeyDown, Mod: tea.ModShift},
			"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp},
			"backspace": {Code: tea.KeyBackspace}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
		}
		if msg, ok := named[key]; ok {
			s.Update(msg)
			continue
		}
		for _, r := range key {
			s.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

func TestScreens(t *testing.T) {
	tests := []struct {
		name, file, keys string
		width, height    int
		color            bool
	}{
		{name: "fresh", width: 80, height: 24},
		{name: "fresh-color", width: 80, height: 24, color: true},
		{name: "own-file", file: commented, width: 80, height: 24},
		{name: "own-file-color", file: commented, width: 80, height: 24, color: true, keys: "2"},
		{name: "arranged", keys: "end up up space K K n p p", width: 80, height: 24},
		{name: "list-end", keys: "end", width: 80, height: 24},
		{name: "typing", keys: "end up space on call", width: 80, height: 24},
		{name: "refused", keys: "2 down down down down down enter ctrl+u wide enter", width: 80, height: 24},
		{name: "write", file: commented, keys: "space 2 right 3", width: 80, height: 24},
		{name: "write-color", file: commented, keys: "space 2 right 3", width: 80, height: 24, color: true},
		{name: "write-nothing", keys: "w enter", width: 80, height: 24},
		{name: "wide", file: commented, width: 132, height: 30},
		{name: "narrow", file: commented, width: 40, height: 16},
		{name: "low", file: commented, keys: "down down", width: 60, height: 10},
		{name: "tiny", width: 20, height: 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := newScreen(t, tt.file, tt.color)
			s.Update(tea.WindowSizeMsg{Width: tt.width, Height: tt.height})
			press(s, tt.keys)
			got := s.Draw() + "\n"
			golden := filepath.Join("testdata", tt.name+".screen")
			if *update {
				if err := os.WriteFile(golden, []byte(strings.ReplaceAll(got, "\x1b", "\\e")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.ReplaceAll(string(want), "\r\n", "\n"); strings.ReplaceAll(got, "\x1b", "\\e") != text {
				t.Errorf("keys %q on %d x %d draw\n%swant\n%s", tt.keys, tt.width, tt.height, got, text)
			}
			if !tt.color && strings.Contains(got, "\x1b") {
				t.Errorf("an escape sequence without colour: %q", got)
			}
		})
	}
}

func TestWhatIsWritten(t *testing.T) {
	tests := []struct{ name, file, keys, want string }{
		{"a first file", "", "down down space w enter", "segments = [\"sandbox\", \"folder\", \"pr\", \"model\"]\n"},
		{"only what changed; comments and colours stay", commented, "2 right w y",
			strings.Replace(commented, `"mono"`, `"high-contrast"`, 1)},
		{"order", "", "down shift+down w enter", "segments = [\"sandbox\", \"git\", \"folder\", \"pr\", \"model\"]\n"},
		{"a second line", "", "down down n w enter", "lines = [[\"sandbox\", \"folder\"], [\"git\", \"pr\", \"model\"]]\n"},
		{"back to one line", "lines = [[\"sandbox\"], [\"git\"]] # two\n", "down space w enter", "segments = [\"sandbox\", \"git\"]\n"},
		{"a text", "segments = [\"sandbox\"]\n", "end up space one space two enter w enter", "segments = [\"sandbox\", \"text:one two\"]\n"},
		{"another text", commented, "down down e backspace backspace X enter w enter",
			strings.Replace(commented, "hi there", "hi theX", 1)},
		{"a command with quotes", "", "end enter echo space 'a\"b\\' enter w enter",
			"segments = [\"sandbox\", \"folder\", \"git\", \"pr\", \"model\", \"exec:echo 'a\\\"b\\\\'\"]\n"},
		{"a typed width", "", "2 down down down down down enter ctrl+u 97 enter w enter", "width = 97\n"},
		{"the tag cannot be switched off", "segments = [\"sandbox\", \"git\"]\n", "space x 2 right w enter", "segments = [\"sandbox\", \"git\"]\ntheme = \"mono\"\n"},
		{"a separator of one's own", "", "2 down down e ctrl+u :: enter w enter", "separator = \"::\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, d := newScreen(t, tt.file, false)
			press(s, tt.keys)
			if string(d.data) != tt.want || d.n != 1 {
				t.Errorf("keys %q write %d times\n%s\nwant\n%s\nscreen:\n%s", tt.keys, d.n, d.data, tt.want, s.Draw())
			}
			if _, ok := s.Written(); !ok || s.Draw() != "" {
				t.Errorf("after writing: Written %v, screen %q", ok, s.Draw())
			}
			if _, errs := config.Parse("f", d.data); len(errs) > 0 {
				t.Errorf("the written file has mistakes: %v", errs)
			}
		})
	}
}

func TestLeavingWritesNothing(t *testing.T) {
	for _, keys := range []string{"q", "esc", "ctrl+c", "2 right q", "down space w q", "down space w esc", "end space typed ctrl+c",
		"2 right u w enter q", "n down n q"} {
		s, d := newScreen(t, commented, false)
		press(s, keys)
		if _, written := s.Written(); written || d.n != 0 || !s.done {
			t.Errorf("keys %q: written %v, writes %d, left %v", keys, written, d.n, s.done)
		}
	}
	// Esc in an input gives up the input alone.
	s, _ := newScreen(t, "", false)
	press(s, "end space x esc")
	if s.done || len(s.Changes()) != 0 {
		t.Errorf("Esc in an input: left %v, changes %v", s.done, s.Changes())
	}
}

func TestCommandsMakeTheChanges(t *testing.T) {
	s, _ := newScreen(t, "", false)
	press(s, "down shift+down 2 right down down right q")
	want := []string{
		`status-line config set segments '["sandbox", "git", "folder", "pr", "model"]'`,
		`status-line config set theme mono`,
		`status-line config set separator ' · '`,
	}
	if got := s.Commands(); !slices.Equal(got, want) {
		t.Errorf("Commands = %q, want %q", got, want)
	}
}

func TestAFailedWriteStays(t *testing.T) {
	s, d := newScreen(t, commented, false)
	d.err = errors.New("disk \x1b[31mfull")
	press(s, "2 right w enter")
	if s.done || !strings.Contains(s.Draw(), "disk full") {
		t.Errorf("after a failed write: left %v, screen\n%s", s.done, s.Draw())
	}
	d.err = nil
	press(s, "enter")
	if _, ok := s.Written(); !ok {
		t.Error("the second attempt wrote nothing")
	}
}

func TestBrokenFile(t *testing.T) {
	s, errs := New(Options{Path: "f", Data: []byte("theme = \"mono\"\nsymbols = 3\n"), Getenv: os.Getenv})
	if s != nil || len(errs) != 1 || errs[0].Line != 2 {
		t.Errorf("New on a broken file = %v, %v; want the error of line 2", s, errs)
	}
}

// A key that cannot be edited where it stands says so before the last step.
func TestInlineTable(t *testing.T) {
	s, d := newScreen(t, "exec = { refresh = \"1s\" }\n", false)
	press(s, "2 end right w")
	if !strings.Contains(s.Draw(), "inline table") {
		t.Errorf("screen does not say why:\n%s", s.Draw())
	}
	press(s, "enter")
	if d.n != 0 {
		t.Error("it was written all the same")
	}
}

func TestPaste(t *testing.T) {
	s, _ := newScreen(t, "", false)
	s.Update(tea.PasteMsg{Content: "ignored"})
	press(s, "end up space")
	s.Update(tea.PasteMsg{Content: "a\x1b[2Jb\nc\n"})
	press(s, "enter")
	want := config.Change{Key: "segments", Text: `["sandbox", "folder", "git", "pr", "model", "text:ab c"]`}
	if got := s.Changes(); len(got) != 1 || got[0] != want {
		t.Errorf("Changes = %v, want %v", got, want)
	}
}

// Whatever is pressed at whatever size: no panic, nothing beyond the edge, and
// the file that would be written is one that can be read.
func TestAnyKeys(t *testing.T) {
	keys := []string{"space", "enter", "tab", "shift+tab", "up", "down", "left", "right", "shift+up", "shift+down",
		"home", "end", "pgup", "pgdown", "backspace", "ctrl+u", "x", "n", "e", "u", "w", "p", "P", "1", "2", "3", "J", "K", "日", "g", "G"}
	files := []string{"", commented, "segments = []\n", "lines = [[\"sandbox\"], [], [\"sandbox\", \"exec:true\"]]\n", "width = 7\nseparator = \"\\u001b[31m\"\n"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		file := files[r.IntN(len(files))]
		s, d := newScreen(t, file, r.IntN(2) == 0)
		var pressed []string
		for range 60 {
			if r.IntN(8) == 0 {
				s.Update(tea.WindowSizeMsg{Width: r.IntN(140), Height: r.IntN(40)})
			}
			key := keys[r.IntN(len(keys))]
			pressed = append(pressed, key)
			press(s, key)
			if s.done {
				break
			}
			lines := strings.Split(s.Draw(), "\n")
			if len(lines) > max(s.height, 1) {
				t.Fatalf("%d lines on a height of %d after %q", len(lines), s.height, pressed)
			}
			for _, line := range lines {
				if term.Width(line) > max(s.width, 1) {
					t.Fatalf("line %q is wider than %d after %q", line, s.width, pressed)
				}
			}
			if s.err != nil {
				t.Fatalf("file %q cannot be changed after %q: %v", file, pressed, s.err)
			}
		}
		if _, errs := config.Parse("f", d.data); len(errs) > 0 {
			t.Fatalf("file %q became %q after %q: %v", file, d.data, pressed, errs)
		}
	}
}
