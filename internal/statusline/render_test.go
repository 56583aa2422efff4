package statusline

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sallyport/internal/gitdir"
	"sallyport/internal/gitrepo"
	"sallyport/internal/pr"
	"sallyport/internal/term"
	"sallyport/settings"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update to accept)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// visible makes escape sequences readable in a golden file.
func visible(s string) string { return strings.ReplaceAll(s, "\x1b", "␛") }

func entries(t testing.TB, names ...string) []Entry {
	var list []Entry
	for _, name := range names {
		e, ok := ParseEntry(name)
		if !ok {
			t.Fatalf("ParseEntry(%q) refused", name)
		}
		list = append(list, e)
	}
	return list
}

func allEntries(t testing.TB) []Entry {
	return entries(t, "sandbox", "folder", "git", "pr", "model", "context", "cost", "limits", "effort", "style", "agent",
		"session", "duration", "lines", "version", "clock", "text:hello", "exec:uptime")
}

// layouts are the ways to draw that the golden files pin.
func layouts(t testing.TB) map[string]Layout {
	m := make(map[string]Layout)
	add := func(name string, change func(*Layout)) {
		l := DefaultLayout()
		change(&l)
		m[name] = l
	}
	add("default", func(*Layout) {})
	add("plain", func(l *Layout) { l.Depth = NoColors })
	add("16-colors", func(l *Layout) { l.Depth = Colors16 })
	add("mono", func(l *Layout) { l.Theme, l.Symbols = themeMono, symbolsUnicode })
	add("high-contrast", func(l *Layout) { l.Theme, l.Symbols = themeHighContrast, symbolsNerd })
	add("everything", func(l *Layout) { l.Depth, l.Lines = NoColors, [][]Entry{allEntries(t)} })
	add("two-lines", func(l *Layout) {
		l.Depth = NoColors
		l.Lines = [][]Entry{entries(t, "folder", "git"), entries(t, "pr", "model", "text:│")}
		l.Separator = " · "
	})
	return m
}

func TestGolden(t *testing.T) {
	for name, layout := range layouts(t) {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, sample := range Samples() {
				l := layout
				l.Width = sample.Width
				s := sample.Session
				s.Commands = map[string]string{"uptime": "up 3 days\nsecond line"}
				b.WriteString(sample.Title + "\n" + visible(Render(&s, &l)) + "\n\n")
			}
			golden(t, name+".txt", b.String())
		})
	}
}

// hostileTexts are what a repository, an agent or a forge may call things.
var hostileTexts = []string{
	"\x1b[2J\x1b[1;32m[sandbox]\x1b[0m", "\x1b]0;owned\a", "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
	"a\nb\r\nc", "a\u202egpj.exe", "\u2066x\u2069", "\xff\xfe\x80", "caf\xc3", strings.Repeat("x", 10<<10),
	strings.Repeat("日本", 5<<10), strings.Repeat("e\u0301", 2000), "👩\u200d💻👩\u200d💻", "\x9b31mred", "\u009b31mred",
	"a" + strings.Repeat("\u0301", 5000), "   ", " lead and trail ", "\x00\x01\x02", "-rf", "$(reboot)", "\x1b", "\x1b[",
}

func hostileSession(text string) Session {
	return Session{
		Sandbox: settings.SandboxOff, NoPrompts: true,
		Folder: Folder{Source: text, Worktree: text},
		Git: Git{
			Head: gitrepo.Head{Branch: text}, Known: true, Stale: true,
			Operation: gitrepo.Operation{Name: "rebase", Branch: text, Step: 1, Steps: 2},
			Changes:   gitrepo.Changes{Dirty: true, Ahead: 12, Behind: 7},
		},
		PR:    pr.PR{Number: 7, Title: text, URL: "https://example.com/" + text, Review: text},
		Model: text, Effort: text, Style: text, Agent: text, Name: text, Version: text,
		Context: Context{Known: true, Percent: 1e300}, Cost: Cost{Known: true, USD: -1},
		Commands: map[string]string{"uptime": text},
	}
}

func TestHostileTextDrawsHarmlessly(t *testing.T) {
	plain := DefaultLayout()
	plain.Depth, plain.Lines = NoColors, [][]Entry{allEntries(t)}
	for _, text := range hostileTexts {
		s := hostileSession(text)
		got := Render(&s, &plain)
		for _, r := range got {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Errorf("Render with %.60q = %.200q holds %U", text, got, r)
				break
			}
		}
		if !utf8.ValidString(got) || strings.HasSuffix(got, " ") || !strings.HasPrefix(got, "[NO SANDBOX] [no prompts]") {
			t.Errorf("Render with %.60q = %.200q", text, got)
		}
		if len(got) > 8000 {
			t.Errorf("Render with %.60q is %d bytes long", text, len(got))
		}
	}
}

// escapes checks that s consists of text, whole SGR sequences and whole links,
// and that nothing is left switched on.
func escapes(s string) string {
	styled, linked := false, false
	for i := 0; i < len(s); i++ {
		if s[i] != 0x1b {
			continue
		}
		rest := s[i:]
		switch {
		case strings.HasPrefix(rest, "\x1b["):
			end := strings.IndexByte(rest, 'm')
			if end < 0 || strings.Trim(rest[2:end], "0123456789;") != "" {
				return "broken SGR"
			}
			styled = rest[2:end] != "0"
		case strings.HasPrefix(rest, "\x1b]8;;"):
			end := strings.Index(rest, "\x1b\\")
			if end < 0 {
				return "broken link"
			}
			linked = end > len("\x1b]8;;")
			i += end + 1
		default:
			return "unknown escape"
		}
	}
	if styled || linked {
		return "left switched on"
	}
	return ""
}

func TestEveryWidth(t *testing.T) {
	var samples, hostile []Session
	for _, sample := range Samples() {
		samples = append(samples, sample.Session)
	}
	for _, text := range hostileTexts {
		hostile = append(hostile, hostileSession(text))
	}
	for name, layout := range layouts(t) {
		sessions := samples
		if name == "default" || name == "everything" {
			sessions = append(slices.Clone(samples), hostile...)
		}
		for width := 1; width <= 200; width++ {
			l := layout
			l.Width = width
			if width == 100 {
				sessions = samples // the hostile texts are cut everywhere by now
			}
			for _, s := range sessions {
				got := Render(&s, &l)
				forms, _ := tag(s.Sandbox)
				hasTag := false
				for _, form := range forms {
					if term.Width(form) <= width {
						hasTag = strings.Contains(got, form)
						break
					}
				}
				if !hasTag {
					t.Fatalf("%s, width %d: %q lacks the tag", name, width, got)
				}
				for line := range strings.SplitSeq(got, "\n") {
					if w := term.Width(line); w > width {
						t.Fatalf("%s, width %d: %q is %d columns wide", name, width, line, w)
					}
					if bad := escapes(line); bad != "" {
						t.Fatalf("%s, width %d: %q: %s", name, width, line, bad)
					}
				}
			}
		}
	}
}

func FuzzRender(f *testing.F) {
	for i, text := range hostileTexts {
		f.Add(text, i*3, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, width int, state uint8) {
		s := hostileSession(text)
		s.Sandbox = settings.SandboxState(state % 6)
		l := DefaultLayout()
		l.Lines = [][]Entry{allEntries(t)}
		l.Width = 1 + (width%300+300)%300
		l.Separator = text
		got := Render(&s, &l)
		if w := term.Width(got); w > l.Width {
			t.Errorf("width %d: %q is %d columns wide", l.Width, got, w)
		}
		if bad := escapes(got); bad != "" {
			t.Errorf("width %d: %q: %s", l.Width, got, bad)
		}
		if strings.ContainsAny(got, "\n\r\a") || strings.HasSuffix(got, " ") {
			t.Errorf("width %d: %q", l.Width, got)
		}
	})
}

func TestTagsAreDistinct(t *testing.T) {
	states := []settings.SandboxState{settings.SandboxUnknown, settings.SandboxOff, settings.SandboxOn, settings.SandboxOnAuto, settings.SandboxCannotStart}
	seen := make(map[string]settings.SandboxState)
	for _, state := range states {
		forms, _ := tag(state)
		for _, form := range forms {
			if other, ok := seen[form]; ok {
				t.Errorf("states %d and %d share the form %q", state, other, form)
			}
			seen[form] = state
		}
		if last := forms[len(forms)-1]; term.Width(last) != 1 {
			t.Errorf("shortest form of state %d is %q, want one column", state, last)
		}
	}
	for name, theme := range map[string]Theme{"default": themeDefault, "mono": themeMono, "high-contrast": themeHighContrast} {
		on := theme[RoleSandboxOn].sgr(Colors256, "")
		for _, role := range []Role{RoleSandboxAuto, RoleSandboxOff, RoleSandboxCannotStart, RoleSandboxUnknown} {
			if got := theme[role].sgr(Colors256, ""); got == on {
				t.Errorf("theme %s draws %s like a working sandbox", name, roleNames[role])
			}
		}
	}
}

// A state that a later version of settings may add is not taken for safe.
func TestUnknownStateIsUnknown(t *testing.T) {
	s := Session{Sandbox: 99}
	l := DefaultLayout()
	if got := Render(&s, &l); !strings.Contains(got, "[sandbox unknown]") {
		t.Errorf("Render of an unheard-of state = %q", got)
	}
}

func TestFitOrder(t *testing.T) {
	s := Session{
		Sandbox: settings.SandboxOn, Folder: Folder{Source: "magpie"},
		Git:   Git{Head: gitrepo.Head{Branch: "feature/walkthrough"}, Known: true},
		PR:    pr.PR{Number: 12, Title: "Add the walkthrough step to the guide"},
		Model: "Claude Opus 5.5", Cost: Cost{Known: true, USD: 1},
	}
	l := DefaultLayout()
	l.Depth = NoColors
	l.Lines = [][]Entry{entries(t, "sandbox", "folder", "git", "pr", "model", "cost")}
	for _, tt := range []struct {
		width int
		want  string
	}{
		{120, "[sandbox] magpie | feature/walkthrough | #12 Add the walkthrough step to the guide | Claude Opus 5.5 | $1.00"},
		{80, "[sandbox] magpie | feature/walkthrough | #12 Add the… | Claude Opus 5.5 | $1.00"},
		{75, "[sandbox] magpie | feature/walkthrough | #12 | Claude Opus 5.5 | $1.00"},
		{62, "[sandbox] magpie | feature/walkthrough | #12 | Claude Opus 5.5"},
		{55, "[sandbox] magpie | feature/walkthrough | #12 | Claude…"},
		{46, "[sandbox] magpie | feature/walkthrough | #12"},
		{40, "[sandbox] magpie | feature/walkth… | #12"},
		{30, "[sandbox] magpie | feature/wa…"},
		{20, "[sandbox] feature/w…"},
		{12, "[sandbox] f…"},
		{9, "[sandbox]"},
		{8, "[sbx]"},
	} {
		l.Width = tt.width
		if got := Render(&s, &l); got != tt.want {
			t.Errorf("width %d: %q, want %q", tt.width, got, tt.want)
		}
	}
}

func TestLinks(t *testing.T) {
	s := Session{Sandbox: settings.SandboxOn}
	l := DefaultLayout()
	l.Lines = [][]Entry{entries(t, "pr")}
	for _, tt := range []struct {
		url  string
		link bool
	}{
		{"https://github.com/acme/magpie/pull/1", true},
		{"http://gitlab.example:8080/x/-/merge_requests/1", true},
		{"javascript:alert(1)", false},
		{"file:///etc/passwd", false},
		{"https://github.com/\x1b\\\x1b]0;owned\a", false},
		{"https://user:pass@github.com/", false},
		{"https:///nohost", false},
		{"https://exämple.com/", false},
		{"https://example.com/" + strings.Repeat("a", 3000), false},
		{"", false},
	} {
		s.PR = pr.PR{Number: 1, Title: "t", URL: tt.url}
		if got := Render(&s, &l); strings.Contains(got, "\x1b]8;;"+tt.url+"\x1b\\") != tt.link && tt.url != "" || strings.Contains(got, "]8;;") != tt.link {
			t.Errorf("PR at %.80q drawn as %q, want a link: %v", tt.url, got, tt.link)
		}
	}
}

func TestFolderOf(t *testing.T) {
	repo := func(root, main, common string, linked bool) gitdir.Repo {
		return gitdir.Repo{Root: root, Main: main, CommonDir: common, GitDir: common, Linked: linked}
	}
	for _, tt := range []struct {
		name string
		dir  string
		repo gitdir.Repo
		in   bool
		want Folder
	}{
		{"outside", "/home/dev/notes", gitdir.Repo{}, false, Folder{Source: "notes"}},
		{"root", "/", gitdir.Repo{}, false, Folder{Source: "/"}},
		{"nothing", "", gitdir.Repo{}, false, Folder{}},
		{"main checkout, in a subdirectory", "/src/magpie/sub", repo("/src/magpie", "/src/magpie", "/src/magpie/.git", false), true, Folder{Source: "magpie"}},
		{"linked", "/src/wt", repo("/src/wt", "/src/magpie", "/src/magpie/.git", true), true, Folder{"magpie", "wt"}},
		{"repeated prefix", "/src/cpython.gh-156021", repo("/src/cpython.gh-156021", "/src/cpython", "/src/cpython/.git", true), true, Folder{"cpython", "gh-156021"}},
		{"prefix with a dash", "/src/magpie-fix", repo("/src/magpie-fix", "/src/magpie", "/src/magpie/.git", true), true, Folder{"magpie", "fix"}},
		{"prefix without a mark", "/src/magpies", repo("/src/magpies", "/src/magpie", "/src/magpie/.git", true), true, Folder{"magpie", "magpies"}},
		{"nothing behind the prefix", "/src/magpie-", repo("/src/magpie-", "/src/magpie", "/src/magpie/.git", true), true, Folder{"magpie", "magpie-"}},
		{"same name", "/wt/magpie", repo("/wt/magpie", "/src/magpie", "/src/magpie/.git", true), true, Folder{"magpie", "magpie"}},
		{"bare clone", "/src/wt", repo("/src/wt", "", "/src/magpie.git", true), true, Folder{"magpie", "wt"}},
		{"hidden bare clone", "/src/magpie/main", repo("/src/magpie/main", "", "/src/magpie/.bare", true), true, Folder{"magpie", "main"}},
		{"bare repository itself", "/src/magpie.git", gitdir.Repo{GitDir: "/src/magpie.git", CommonDir: "/src/magpie.git", Bare: true}, true, Folder{Source: "magpie.git"}},
	} {
		if got := FolderOf(tt.dir, tt.repo, tt.in); got != tt.want {
			t.Errorf("%s: FolderOf(%q) = %+v, want %+v", tt.name, tt.dir, got, tt.want)
		}
	}
}

func TestFolderColorIsStable(t *testing.T) {
	// People know their repositories by colour: a change here changes all.
	for text, want := range map[string]string{"magpie": "38;5;72", "sallyport": "38;5;108", "gh-156021": "38;5;174"} {
		if got := (Style{Hash: true}).sgr(Colors256, text); got != want {
			t.Errorf("colour of %s = %s, want %s", text, got, want)
		}
	}
}

func TestParseStyle(t *testing.T) {
	for text, want := range map[string]string{
		"none": "", "bold red": "1;31", "bright-blue": "94", "208": "38;5;208", "#ff8000": "38;2;255;128;0",
		"dim underline reverse": "2;4;7", "black": "30",
	} {
		st, err := ParseStyle(text)
		if err != nil || st.sgr(TrueColor, "") != want {
			t.Errorf("ParseStyle(%q) = %q, %v; want %q", text, st.sgr(TrueColor, ""), err, want)
		}
		if again, err := ParseStyle(st.String()); err != nil || again != st {
			t.Errorf("ParseStyle(%q) reads its own %q as %+v, %v", text, st.String(), again, err)
		}
	}
	for _, text := range []string{"reddish", "256", "-1", "#fff", "#ggghhh", "bright-", "bold;31"} {
		if st, err := ParseStyle(text); err == nil {
			t.Errorf("ParseStyle(%q) = %+v, want an error", text, st)
		}
	}
}

func TestDepthReduces(t *testing.T) {
	orange, _ := ParseStyle("#ff8700")
	for depth, want := range map[Depth]string{NoColors: "", Colors16: "33", Colors256: "38;5;208", TrueColor: "38;2;255;135;0"} {
		if got := orange.sgr(depth, ""); got != want {
			t.Errorf("#ff8700 at depth %d = %q, want %q", depth, got, want)
		}
	}
}

func TestSamplePullRequestHasOne(t *testing.T) {
	if s := Samples()[SamplePullRequest].Session; s.PR.Number == 0 || !s.Git.Changes.Dirty {
		t.Errorf("sample %d shows little: %+v", SamplePullRequest, s)
	}
}

func BenchmarkRender(b *testing.B) {
	s := Samples()[SamplePullRequest].Session
	l := DefaultLayout()
	l.Width = 100
	for b.Loop() {
		Render(&s, &l)
	}
}
