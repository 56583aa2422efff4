package scriptfiles

import (
	"slices"
	"strings"
	"testing"
	"time"
)

var programs = []struct {
	lang Language
	code string
	want string // the first name of every change, by blanks
}{
	{Python, `open("a.txt", "w").write("x")`, "a.txt"},
	{Python, `print(open("a.txt").read())`, ""},
	{Python, "p = 'dir' + '/a.txt'\nwith open(p, mode='a') as f: f.write('x')", "dir/a.txt"},
	{Python, `import os; os.remove(os.path.join("d", "a"))`, "d/a"},
	{Python, `from pathlib import Path; (Path("d") / "a").write_text("x")`, "d/a"},
	{Python, `import shutil; shutil.copy("a", "b")`, "b/a b"},
	{Python, `text.replace("a.txt", "b.txt")`, ""},
	{Python, `# open("a", "w")`, ""},
	{JavaScript, `require("fs").writeFileSync("a.json", "{}")`, "a.json"},
	{JavaScript, `const fs = require("fs"); fs.readFileSync("a.json")`, ""},
	{JavaScript, "const d = 'x'; require('fs').rmSync(`${d}/y`)", "x/y"},
	{Perl, `open(my $f, ">", "a.txt"); print $f "x"`, "a.txt"},
	{Perl, `open(my $f, "<", "a.txt")`, ""},
	{Ruby, `File.write("a.txt", "x")`, "a.txt"},
	{Ruby, `puts File.read("a.txt")`, ""},
	{PHP, `file_put_contents("a.txt", "x");`, "a.txt"},
	{Lua, `io.open("a.txt", "w")`, "a.txt"},
}

func TestChanges(t *testing.T) {
	for _, c := range programs {
		p, ok := Parse(c.code, c.lang, nil, 0)
		if !ok {
			t.Errorf("%s: its strings do not end", c.code)
		}
		var names []string
		for _, change := range p.Changes() {
			if len(change.Names) > 0 && !slices.Contains(names, change.Names[0]) {
				names = append(names, change.Names[0])
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s changes %q, want %q", c.code, got, c.want)
		}
	}
}

// visit asks everything that can be asked of a program.
func visit(code string, lang Language) {
	p, _ := Parse(code, lang, []string{"arg"}, 0)
	p.Changes()
	for t := range p.Texts() {
		t.Runs()
		t.Embedded()
		if !p.Spent() {
			t.Values()
			t.Loose()
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range programs {
		f.Add(c.code, int(c.lang))
	}
	for _, code := range []string{"`", `"\`, `f"{x!r}{`, "s/a/b/e", "%w(a b", "q{a{b}c}", "<<EOF\nx\nEOF\n", "a[b]c(d){e}", "x = y = z", "for a in b: c(a)", "'''", "\x00\xff"} {
		f.Add(code, 0)
		f.Add(code, int(Perl))
		f.Add(code, int(Ruby))
	}
	f.Fuzz(func(t *testing.T, code string, lang int) {
		if len(code) > 1<<16 {
			return
		}
		start := time.Now()
		visit(code, Language(uint(lang)%uint(Other+1)))
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%d bytes took %v", len(code), d)
		}
	})
}

// A repeated piece costs what it is long: eight times the length may not take
// forty times as long.
func TestCost(t *testing.T) {
	for _, piece := range []string{
		"x = 'a'\n", "x = x + 'a'\n", "x.append('a')\n", "open(x, 'w')\n", "f('a', ", "'a' + ", "(", "[", "{", "a.b", "for a in ['b']: open(a, 'w')\n", "def f(a): open(a, 'w')\nf('b')\n",
		"f'{x}'", "`${x}`", "os.path.join('a', ", "s/a/b/; ", "q(", "%w(a b) ", "<<A\n", "open(a", "# x\n", "/* ", "x = y\n", "a, ", "import a as b\n", "Path('a') / ", "\"", "eval('open(1)')\n", "x == 'a.b'; ", "x = {'a.b': 'c.d'}\n",
	} {
		for lang := Python; lang <= Other; lang++ {
			slow := func() (short, long float64, yes bool) {
				short = seconds(strings.Repeat(piece, 4_000/len(piece)), lang)
				long = seconds(strings.Repeat(piece, 32_000/len(piece)), lang)
				return short, long, long > 40*short && long > 0.1
			}
			short, long, yes := slow()
			for range 3 { // a busy machine is slow now and then
				if yes {
					short, long, yes = slow()
				}
			}
			if yes {
				t.Errorf("language %d, %q: %.3f s, and %.3f s for eight times as much", lang, piece, short, long)
			}
		}
	}
}

func seconds(code string, lang Language) float64 {
	start := time.Now()
	visit(code, lang)
	return time.Since(start).Seconds()
}
