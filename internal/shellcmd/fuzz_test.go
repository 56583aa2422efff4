package shellcmd

import (
	"os"
	"strings"
	"testing"
	"time"
)

// FuzzParse checks what holds for every text: Parse ends, soon, without a
// panic; positions lie in the source; words are well formed; the same text
// gives the same commands.
func FuzzParse(f *testing.F) {
	for _, e := range readCorpus(f) {
		f.Add(e.src, uint8(0))
		f.Add(e.src, uint8(3))
	}
	for _, gen := range hostile {
		f.Add(gen(300), uint8(0))
	}
	if data, err := os.ReadFile("testdata/evasions.txt"); err == nil {
		for l := range strings.SplitSeq(string(data), "\n") {
			f.Add(l, uint8(0))
		}
	}
	f.Fuzz(func(t *testing.T, src string, dialect uint8) {
		opt := Options{Dir: "/w", Dialect: Dialect(dialect % 5)}
		start := time.Now()
		l := Parse(src, opt)
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%q took %v", src, d)
		}
		check(t, l)
		again := Parse(src, opt)
		if len(again.Commands) != len(l.Commands) || again.Exact != l.Exact || again.Limited != l.Limited {
			t.Errorf("%q: a second Parse differs", src)
		}
		if len(l.Commands) > 0 {
			c := l.Commands[0]
			l.ParseNested(c, NewWord(src), c.Args, "again")
			l.RunNested(c, c.Args, "again")
			check(t, l)
			c.File(c.Args[0])
			c.MayName("git")
			for _, a := range c.Args[:min(len(c.Args), 10)] {
				if len(a.raw) > 10_000 {
					continue
				}
				for i := range a.raw[:min(len(a.raw), 100)] {
					rest, ok := a.After(a.raw[:i])
					if !ok || rest.raw != a.raw[i:] {
						t.Fatalf("%q: %q without its first %d bytes is %q", src, a.raw, i, rest.raw)
					}
					checkWord(t, l, rest)
				}
			}
		}
	})
}

func checkWord(t *testing.T, l *Line, a Word) {
	t.Helper()
	if a.Static == (len(a.Parts) > 0) || a.Static && a.Glob {
		t.Errorf("%q: word %+v", l.Source, a)
	}
	if a.src >= 0 && a.Static && (a.src+len(a.Value) > len(l.Source) || l.Source[a.src:a.src+len(a.Value)] != a.Value) {
		t.Errorf("%q: %q does not stand at %d", l.Source, a.Value, a.src)
	}
	var b strings.Builder
	b.WriteString(a.Value)
	for _, p := range a.Parts {
		b.WriteString(p.Text)
	}
	shown := b.String()
	ours := func(r rune) bool { return r >= markFirst }
	if strings.IndexByte(l.Source, markLead) < 0 && strings.ContainsFunc(shown, ours) {
		t.Errorf("%q: a mark shows in %q", l.Source, shown)
	}
}

func check(t *testing.T, l *Line) {
	t.Helper()
	span := func(what string, pos, end int) {
		if pos < 0 || end < pos || end > len(l.Source) {
			t.Errorf("%q: %s at %d–%d, the source has %d bytes", l.Source, what, pos, end, len(l.Source))
		}
	}
	for _, c := range l.Commands {
		if len(c.Args) == 0 {
			t.Fatalf("%q: a command without a program", l.Source)
		}
		span("command", c.Pos, c.End)
		for _, a := range c.Args {
			span("word", a.Pos, a.End)
			checkWord(t, l, a)
		}
		if c.Dir.Unknown && c.Dir.Path != "" {
			t.Errorf("%q: unknown directory %q", l.Source, c.Dir.Path)
		}
	}
	if !l.Exact {
		return
	}
	for _, c := range l.Commands {
		if c.Inexact {
			t.Errorf("%q: exact, but %q is not", l.Source, c.Args[0].Value)
		}
	}
}
