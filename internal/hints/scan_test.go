package hints

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

var compiled = map[string]*regexp.Regexp{}

func compile(expr string) *regexp.Regexp {
	re := compiled[expr]
	if re == nil {
		re = regexp.MustCompile(expr)
		compiled[expr] = re
	}
	return re
}

// naive is what a scan must find: every expression on the whole text.
func naive(text string, entries []*Entry) map[string]bool {
	found := map[string]bool{}
	for _, e := range entries {
		for _, sig := range e.Signatures {
			if compile(sig.Expr).MatchString(text) {
				found[e.ID] = true
			}
		}
	}
	return found
}

func checkScan(t *testing.T, text string, entries []*Entry) {
	t.Helper()
	want := naive(text, entries)
	got := map[string]bool{}
	for _, m := range Scan(text, entries) {
		got[m.Entry.ID] = true
		if m.Start >= m.End || m.End > len(text) {
			t.Errorf("text %q: %s is said to match at %d:%d", text, m.Expr, m.Start, m.End)
		}
	}
	for id := range want {
		if !got[id] {
			t.Errorf("text %q: the scan misses %s", text, id)
		}
	}
	for id := range got {
		if !want[id] {
			t.Errorf("text %q: the scan finds %s, which does not match", text, id)
		}
	}
	looked := map[string]bool{}
	for _, look := range Inspect(text, entries) {
		if len(look.Matches) > 0 {
			looked[look.Entry.ID] = true
		}
	}
	if fmt.Sprint(looked) != fmt.Sprint(want) {
		t.Errorf("text %q: Inspect finds %v, want %v", text, looked, want)
	}
}

// odd are expressions of the kinds that people write and the catalogue does not.
var odd = []string{
	`(?i)task failed: skipped`, `ſtrange ſet`, `(?i)straße gesperrt`, `a{3,5}bcde`, `foo[\s\S]*bar`, `\Astart here`,
	`the end here\z`, `first\nsecond`, `first\r?\n+second line`, `(?s)begin.end`, `[abc]xyz[de]`, `x|yz`, `(?:abc|[d-z]{2})longword`,
	`\bword\b`, `(?m)^alone$`, `tail\s*$`, `(?m)tail here\s*$`, `(?m)^\s*indented\s*$`, `(?:one|two|three)?four five`, `^$x`, `not[^q]`,
	"repl\uFFFDaced", `[\x{FFFD}q]broken`, `(?i)[k]elvin`, `(?:(?:(?:deep)))er still`, `q+rstuv`, `(?:mn){2,}op`, `\d+ items left`,
}

func oddEntries(t testing.TB) []*Entry {
	var entries []*Entry
	for i, expr := range odd {
		sig, err := NewSignature(expr)
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		entries = append(entries, &Entry{ID: fmt.Sprintf("odd-%d", i), Signatures: []Signature{sig}})
	}
	return entries
}

var oddTexts = []string{
	"TASK FAILED: SKIPPED", "ta\u017fk failed: \u017f\u212aipped", "STRASSE GESPERRT STRAẞE GESPERRT straße gesperrt", "xaaaabcdey",
	"foo\n\n\nbar", "start here", "no\nstart here", "the end here", "the end here\n", "first\nsecond", "first\n\n\n\nsecond line",
	"first\r\nsecond line", "begin\nend", "axyzd", "x", "yz", "abclongword dzlongword", "a word b", "sword", "a\nalone\nb", "tail  \n\n", "tail\nx",
	"tail here \n \nx", "tail here", "\n  \n indented\n\n", "threefour five", "four five", "not\n", "notq", "repl\xffaced", "\xffbroken", "\u212aelvin",
	"deeper still", "qqqrstuv", "mnmnmnop", "12 items left",
}

func TestScanFindsWhatTheExpressionsMatch(t *testing.T) {
	entries := oddEntries(t)
	for _, text := range oddTexts {
		checkScan(t, text, entries)
		checkScan(t, "before\n"+text+"\nafter", entries)
		checkScan(t, text+text, entries)
	}
	for _, s := range specs(t) {
		for _, sample := range append(s.Positives, s.Negatives...) {
			checkScan(t, sample, Builtin())
			checkScan(t, strings.ToUpper(sample), Builtin())
			checkScan(t, strings.ReplaceAll(sample, " ", "\n"), Builtin())
			checkScan(t, sample+"\n\n"+sample[:len(sample)/2], Builtin())
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range specs(f) {
		for _, sample := range append(s.Positives, s.Negatives...) {
			f.Add(sample)
		}
	}
	for _, text := range oddTexts {
		f.Add(text)
	}
	entries := append(Builtin(), oddEntries(f)...)
	f.Fuzz(func(t *testing.T, text string) { checkScan(t, text, entries) })
}

// FuzzSignature checks that the words and the number of lines derived from any
// expression hide no match from it.
func FuzzSignature(f *testing.F) {
	for i, expr := range odd {
		f.Add(expr, oddTexts[i%len(oddTexts)])
		f.Add(expr, oddTexts[(i+1)%len(oddTexts)])
	}
	for _, s := range specs(f) {
		for _, sig := range s.Signatures {
			f.Add(sig.Expr, "x\n"+s.Positives[0]+"\ny")
		}
	}
	f.Fuzz(func(t *testing.T, expr, text string) {
		if len(expr) > 200 || len(text) > 2000 {
			return
		}
		sig, err := NewSignature(expr)
		if err != nil {
			return
		}
		checkScan(t, text, []*Entry{{ID: "fuzzed", Signatures: []Signature{sig}}})
	})
}

func TestNewSignatureRefuses(t *testing.T) {
	for _, expr := range []string{"", "x*", "(?:a|b?)", "^$", `\b`, "(", "a{2000}", "(?m)^", "()", "(?=x)", strings.Repeat("a", 5000)} {
		if sig, err := NewSignature(expr); err == nil {
			t.Errorf("NewSignature(%.40q) = %+v, want an error", expr, sig)
		}
	}
}

// ordinary is a build log in which nothing is the sandbox's doing.
func ordinary(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "[%d/900] CC src/module_%d.c -> build/module_%d.o (warning: unused variable 'tmp' at line %d)\n", i, i, i, i*7)
	}
	return b.String()[:size]
}

// nearMisses holds the words of many entries and matches none.
func nearMisses(size int) string {
	lines := `listen EPERM: operation not permitted
Could not resolve hos
EACCES: permission denied, mkdir '/srv/.npmrc'
command not found: uvicorn
dial tcp 10.0.0.5:5432: connect: connection refused
getaddrinfo: no
Read-only file system, said the page
`
	return strings.Repeat(lines, size/len(lines)+1)[:size]
}

// The cost of a scan grows with the text and not faster, whatever it holds.
func TestScanIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	for name, text := range map[string]func(int) string{
		"ordinary":    ordinary,
		"near misses": nearMisses,
		"one line":    func(n int) string { return strings.ReplaceAll(nearMisses(n), "\n", " ") },
	} {
		cost := func(size int) time.Duration {
			s := text(size)
			best := time.Hour
			for range 5 {
				start := time.Now()
				Scan(s, Builtin())
				best = min(best, time.Since(start))
			}
			return best
		}
		small, large := cost(128<<10), cost(1<<20)
		if ratio := float64(large) / float64(small); ratio > 8*4 {
			t.Errorf("%s: eight times the text costs %.1f times as much (%v, %v)", name, ratio, small, large)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10, 1 << 20} {
		for name, text := range map[string]func(int) string{"ordinary": ordinary, "near-misses": nearMisses} {
			b.Run(fmt.Sprintf("%s/%dKiB", name, size>>10), func(b *testing.B) {
				s := text(size)
				b.SetBytes(int64(size))
				for b.Loop() {
					Scan(s, Builtin())
				}
			})
		}
	}
}
