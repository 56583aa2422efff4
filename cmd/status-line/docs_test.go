package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sallyport/internal/cli"
	"sallyport/internal/statusline"
	"sallyport/internal/statusline/config"
	"sallyport/internal/testenv"
)

var update = flag.Bool("update", false, "rewrite the pictures and the generated parts of docs/status-line.md")

//go:generate go test sallyport/cmd/status-line sallyport/cmd/status-line-configure -run ^TestDocs -update

const docs = "../../docs"

// slash makes the line ends of a checkout the repository's.
func slash(data []byte) string { return strings.ReplaceAll(string(data), "\r\n", "\n") }

// The pictures are what --preview --svg draws: one for the line as it is, and
// one for each configuration beside them.
func TestDocsPictures(t *testing.T) {
	configs, err := filepath.Glob(filepath.Join(docs, "img", "status-line*.toml"))
	if err != nil || len(configs) == 0 {
		t.Fatalf("no configurations in docs/img: %v", err)
	}
	for _, conf := range append(configs, "") {
		picture := filepath.Join(docs, "img", "status-line.svg")
		home := testenv.Isolate(t)
		if conf != "" {
			picture = strings.TrimSuffix(conf, ".toml") + ".svg"
			data, err := os.ReadFile(conf)
			if err != nil {
				t.Fatal(err)
			}
			own := filepath.Join(home, ".config", "sallyport", "status-line.toml")
			if err := os.MkdirAll(filepath.Dir(own), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(own, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		drawn := filepath.Join(t.TempDir(), "drawn.svg")
		var stderr bytes.Buffer
		p := &cli.Process{
			Name: name, Args: []string{"--preview", "--svg", drawn}, Environ: []string{"HOME=" + home, "USERPROFILE=" + home},
			WorkDir: home, Stdin: strings.NewReader(""), Stdout: &stderr, Stderr: &stderr,
		}
		if code := run(p); code != 0 {
			t.Fatalf("%s: exit %d: %s", picture, code, &stderr)
		}
		got, err := os.ReadFile(drawn)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(picture, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(picture); err != nil || slash(want) != string(got) {
			t.Errorf("%s is not what the program draws (%v); run go generate ./cmd/status-line", picture, err)
		}
	}
}

// The lists in the documentation are those of the code.
func TestDocsLists(t *testing.T) {
	path := filepath.Join(docs, "status-line.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := slash(data)
	cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	lists := map[string]func(b *strings.Builder){
		"segments": func(b *strings.Builder) {
			b.WriteString("| segment | shows | on by default |\n|---|---|---|\n")
			on := make(map[string]bool)
			for _, e := range statusline.DefaultEntries() {
				on[e.Segment] = true
			}
			for i, seg := range statusline.Segments() {
				mark := ""
				if on[seg.Name] {
					mark = "yes"
				}
				fmt.Fprintf(b, "| `%s` | %s | %s |\n", config.SegmentNames()[i], cell(seg.Doc), mark)
			}
		},
		"keys": func(b *strings.Builder) {
			b.WriteString("| key | default | meaning |\n|---|---|---|\n")
			for _, k := range config.Keys() {
				value := "that of `segments`"
				if k.Name != "lines" {
					v, err := config.Get(config.Default(), k.Name)
					if err != nil {
						t.Fatal(err)
					}
					value = "`" + cell(v) + "`"
					if k.Name == "separator" {
						value = "`\"" + cell(v) + "\"`"
					}
				}
				fmt.Fprintf(b, "| `%s` | %s | %s |\n", k.Name, value, cell(k.Doc))
			}
			b.WriteString("| `colors.<name>` | the theme's | a style of one part, see below |\n")
		},
		"colors": func(b *strings.Builder) {
			b.WriteString("| name |")
			for _, theme := range statusline.ThemeNames() {
				b.WriteString(" `" + theme + "` |")
			}
			b.WriteString("\n|---|" + strings.Repeat("---|", len(statusline.ThemeNames())) + "\n")
			for i, role := range statusline.RoleNames() {
				fmt.Fprintf(b, "| `%s` |", role)
				for _, name := range statusline.ThemeNames() {
					theme, _ := statusline.ThemeNamed(name)
					fmt.Fprintf(b, " %s |", theme[i])
				}
				b.WriteByte('\n')
			}
		},
		"symbols": func(b *strings.Builder) {
			b.WriteString("| set | dirty | ahead | behind | last known | bar |\n|---|---|---|---|---|---|\n")
			for _, name := range statusline.SymbolNames() {
				s, _ := statusline.SymbolsNamed(name)
				if name == "nerd" {
					fmt.Fprintf(b, "| `%s` | icons of a Nerd Font, which the terminal has to use | | | | `%s%s` |\n", name, s.BarFull, s.BarEmpty)
					continue
				}
				fmt.Fprintf(b, "| `%s` | `%s` | `%s` | `%s` | `%s` | `%s%s` |\n", name, s.Dirty, s.Ahead, s.Behind, s.Stale, s.BarFull, s.BarEmpty)
			}
		},
	}
	for name, write := range lists {
		begin, end := "<!-- "+name+": go generate ./cmd/status-line -->\n", "<!-- end -->\n"
		before, rest, ok := strings.Cut(text, begin)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Errorf("%s has no place for the list of %s", path, name)
			continue
		}
		var b strings.Builder
		b.WriteString("\n")
		write(&b)
		b.WriteString("\n")
		text = before + begin + b.String() + end + after
	}
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != slash(data) {
		t.Errorf("the lists in %s are not those of the code; run go generate ./cmd/status-line", path)
	}
}

// Every example is a file that the program takes, every picture and file named
// is there, and every flag and sub-command is mentioned.
func TestDocsExamples(t *testing.T) {
	if *update {
		t.Skip("other packages make some of the pictures at the same time")
	}
	data, err := os.ReadFile(filepath.Join(docs, "status-line.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := slash(data)
	blocks := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(text, -1)
	if len(blocks) == 0 {
		t.Error("no examples")
	}
	for _, block := range blocks {
		if _, errs := config.Parse("example", []byte(block[1])); len(errs) > 0 {
			t.Errorf("example\n%s\nhas mistakes: %v", block[1], errs)
		}
	}
	for _, link := range regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(text, -1) {
		if strings.Contains(link[1], "://") {
			continue
		}
		if _, err := os.Stat(filepath.Join(docs, link[1])); err != nil {
			t.Errorf("link: %v", err)
		}
	}
	for _, line := range strings.Split(usage, "\n") {
		for _, word := range strings.Fields(line) {
			word = strings.TrimFunc(word, func(r rune) bool { return strings.ContainsRune("[],.;", r) })
			word, _, _ = strings.Cut(word, "=")
			if strings.HasPrefix(word, "--") && len(word) > 2 && !strings.Contains(text, word) {
				t.Errorf("docs/status-line.md does not mention %s", word)
			}
		}
	}
}
