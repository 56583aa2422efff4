package shellcmd

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// hostile are texts of n bytes or so, made to be expensive.
var hostile = map[string]func(n int) string{
	"list":                 func(n int) string { return strings.Repeat("true; ", n/6) },
	"and list":             func(n int) string { return strings.Repeat("a && ", n/5) + "a" },
	"or list":              func(n int) string { return strings.Repeat("a || ", n/5) + "a" },
	"and assignments":      func(n int) string { return strings.Repeat("A=1 && ", n/7) + "a" },
	"mixed list":           func(n int) string { return strings.Repeat("a || cd b && ", n/13) + "a" },
	"pipe":                 func(n int) string { return strings.Repeat("a | ", n/4) + "a" },
	"echo pipe":            func(n int) string { return "echo x" + strings.Repeat(" | cat", n/6) },
	"subshells":            func(n int) string { return strings.Repeat("(", n/2) + "a" + strings.Repeat(")", n/2) },
	"spaced subshells":     func(n int) string { return strings.Repeat("( ", n/4) + "a" + strings.Repeat(") ", n/4) },
	"open parens":          func(n int) string { return strings.Repeat("(", n) },
	"quoted parens":        func(n int) string { return strings.Repeat("( ')' ", n/6) },
	"open braces":          func(n int) string { return strings.Repeat("{ ", n/2) },
	"brace word":           func(n int) string { return "echo " + strings.Repeat("{", n) },
	"brace bomb":           func(n int) string { return "echo " + strings.Repeat("{a,b}", n/5) },
	"brace ranges":         func(n int) string { return strings.Repeat("echo {1..99999999};", n/19) },
	"nested braces":        func(n int) string { return "echo " + strings.Repeat("{a,", n/4) + strings.Repeat("}", n/4) },
	"substitutions":        func(n int) string { return "echo " + strings.Repeat("$(a ", n/5) + strings.Repeat(")", n/5) },
	"quoted substitutions": func(n int) string { return "echo " + strings.Repeat("\"$(", n/6) + strings.Repeat(")\"", n/6) },
	"open substitutions":   func(n int) string { return strings.Repeat("$(", n/2) },
	"backquotes":           func(n int) string { return strings.Repeat("`", n) },
	"arithmetic":           func(n int) string { return "echo $((" + strings.Repeat("1+", n/2) + "1))" },
	"arithmetic parens": func(n int) string {
		return "echo $((" + strings.Repeat("(", n/2) + "1" + strings.Repeat(")", n/2) + "))"
	},
	"test parens": func(n int) string { return "[[ " + strings.Repeat("( ", n/4) + "a" + strings.Repeat(" )", n/4) + " ]]" },
	"test and":    func(n int) string { return "[[ " + strings.Repeat("a && ", n/5) + "a ]]" },
	"bangs":       func(n int) string { return strings.Repeat("! ", n/2) + "a" },
	"times":       func(n int) string { return strings.Repeat("time ", n/5) + "a" },
	"ifs":         func(n int) string { return strings.Repeat("if a; then ", n/11) },
	"elifs":       func(n int) string { return "if a; then b; " + strings.Repeat("elif a; then X=b; ", n/18) + "fi" },
	"whiles": func(n int) string {
		return strings.Repeat("while a; do ", n/20) + "X=1;" + strings.Repeat("done; ", n/20)
	},
	"for bomb": func(n int) string {
		return strings.Repeat("for a in 1 2 3 4 5; do ", n/30) + "X=1;" + strings.Repeat("done; ", n/30)
	},
	"fors":      func(n int) string { return strings.Repeat("for a in {1..100}; do b $a; done;", n/33) },
	"cases":     func(n int) string { return "case x in " + strings.Repeat("a) X=1;; ", n/9) + "esac" },
	"recursion": func(n int) string { return "f() { f; f; }; f;" + strings.Repeat("f;", n/2) },
	"call bomb": func(n int) string {
		var b strings.Builder
		for i := range n / 20 {
			fmt.Fprintf(&b, "f%d() { f%d; f%d; }; ", i+1, i, i)
		}
		fmt.Fprintf(&b, "f%d", n/20)
		return b.String()
	},
	"eval loop":  func(n int) string { return strings.Repeat("f() { eval f; }; f;", n/19) },
	"eval nest":  func(n int) string { return strings.Repeat("eval ", n/5) + "a" },
	"alias loop": func(n int) string { return "alias a=b b=a;\n" + strings.Repeat("a;", n/2) },
	"doubling":   func(n int) string { return "X=aaaaaaaa;" + strings.Repeat("X=$X$X;", n/7) },
	"big value":  func(n int) string { return "X=" + strings.Repeat("a", n/2) + ";" + strings.Repeat("a $X;", n/10) },
	"patterns": func(n int) string {
		return "X=" + strings.Repeat("a", min(n/2, 2000)) + ";" + strings.Repeat("a ${X%*a*a*b};", n/28)
	},
	"exports": func(n int) string { return strings.Repeat("export A$B=1;a;", n/15) },
	"many exports": func(n int) string {
		var b strings.Builder
		for i := range n / 20 {
			fmt.Fprintf(&b, "export V%d=1; a;", i)
		}
		return b.String()
	},
	"many variables": func(n int) string {
		var b strings.Builder
		for i := range n / 20 {
			fmt.Fprintf(&b, "V%d=1; (A=1);", i)
		}
		return b.String()
	},
	"alternatives": func(n int) string { return strings.Repeat("a && X=$RANDOM; b $X;", n/21) },
	"many alternatives": func(n int) string {
		var b strings.Builder
		for i := range n / 40 {
			fmt.Fprintf(&b, "a && V%d=%d; b $V%d $V%d;", i, i, i, i/2)
		}
		return b.String()
	},
	"dir alternatives": func(n int) string { return strings.Repeat("a && cd b; c;", n/13) },
	"cds":              func(n int) string { return strings.Repeat("cd b;", n/5) },
	"cds unknown":      func(n int) string { return strings.Repeat("cd $X;", n/6) },
	"appends":          func(n int) string { return strings.Repeat("echo a >> f;", n/12) },
	"array appends":    func(n int) string { return strings.Repeat("a+=(1);", n/7) + "x \"${a[@]}\"" },
	"heredocs":         func(n int) string { return strings.Repeat("sh <<E\ntrue\nE\n", n/14) },
	"open heredocs":    func(n int) string { return strings.Repeat("a <<E; ", n/7) },
	"lexical heredocs": func(n int) string { return ") ;" + strings.Repeat("a <<E\n", n/6) },
	"sudo":             func(n int) string { return strings.Repeat("sudo ", n/5) + "a" },
	"find":             func(n int) string { return "find / " + strings.Repeat("-exec ", n/6) },
	"xargs":            func(n int) string { return "echo " + strings.Repeat("a ", n/2) + "| xargs -n1 echo" },
	"xargs replace": func(n int) string {
		return "echo " + strings.Repeat("a", n/2) + "| xargs -I{} echo " + strings.Repeat("{}", n/4)
	},
	"globs":         func(n int) string { return "a " + strings.Repeat("[", n) },
	"long word":     func(n int) string { return "echo '" + strings.Repeat("a", n) + "'" },
	"long line":     func(n int) string { return strings.Repeat("a ", n/2) },
	"words":         func(n int) string { return "a " + strings.Repeat("$X", n/2) },
	"fields":        func(n int) string { return "X='" + strings.Repeat("a ", n/4) + "';" + strings.Repeat("b $X;", n/10) },
	"parameters":    func(n int) string { return "echo " + strings.Repeat("${a:-", n/6) + strings.Repeat("}", n/6) },
	"invalid utf-8": func(n int) string { return strings.Repeat("\xff ", n/2) },
	"marks":         func(n int) string { return strings.Repeat("\U00100000", n/4) },
	"nuls":          func(n int) string { return strings.Repeat("a\x00b;", n/4) },
	"python":        func(n int) string { return "python -c '" + strings.Repeat("os.system(\"a\");", n/15) + "'" },
	"python open":   func(n int) string { return "python -c '" + strings.Repeat("os.system(", n/10) + "'" },
	"printf":        func(n int) string { return "printf '%s' " + strings.Repeat("a ", n/2) + " | sh" },
	"tees":          func(n int) string { return "echo a" + strings.Repeat(" | tee f", n/8) },
	"stdin text":    func(n int) string { return "echo '" + strings.Repeat("a;", n/4) + "' | while read x; do b; done" },
	"read lines":    func(n int) string { return "while read x; do $x; done <<E\n" + strings.Repeat("true\n", n/5) + "E" },
	"via":           func(n int) string { return strings.Repeat("env ", n/4) + "a" },
	"functions":     func(n int) string { return strings.Repeat("f() { a; }; f;", n/14) },
	"process":       func(n int) string { return strings.Repeat("a <(b) ", n/7) },
	"bash -c": func(n int) string {
		s := "true"
		for range 12 {
			s = "bash -c " + quoteShell(s)
		}
		return strings.Repeat(s+";", n/(len(s)+1)+1)
	},
}

// TestHostileCost compares eight times the text: the cost must not grow much
// more than that, as it would if it were quadratic. Times on a busy machine
// vary, so a doubtful case is measured again.
func TestHostileCost(t *testing.T) {
	if testing.Short() {
		t.Skip("measures times")
	}
	const n = 12 << 10
	measure := func(src string, opt Options, rounds int) time.Duration {
		best := time.Duration(1 << 62)
		for range rounds {
			start := time.Now()
			Parse(src, opt)
			best = min(best, time.Since(start))
		}
		return best
	}
	plain := measure(strings.Repeat("true; ", 8*n/6), Options{}, 3)
	for name, gen := range hostile {
		for _, d := range []Dialect{Bash, PowerShell, Cmd} {
			opt := Options{Dialect: d}
			small, big := gen(n), gen(8*n)
			var a, b time.Duration
			fine := false
			for rounds := 1; rounds <= 9 && !fine; rounds *= 3 {
				a, b = measure(small, opt, rounds), measure(big, opt, rounds)
				fine = (b < 32*a || b < 20*plain) && b < 150*plain
			}
			if testing.Verbose() {
				t.Logf("%-22s %d %8s %8s", name, d, a.Round(10*time.Microsecond), b.Round(10*time.Microsecond))
			}
			if !fine {
				t.Errorf("%s (dialect %d): %v for %d KiB, %v for %d KiB; plain text takes %v", name, d, a, n>>10, b, 8*n>>10, plain)
			}
		}
	}
}

// TestHostileSeen hides a command behind each expensive text: a bound may set
// Limited, but what stands behind must still be found.
func TestHostileSeen(t *testing.T) {
	for name, gen := range hostile {
		src := gen(24<<10) + "\ngit commit -n\n"
		l := Parse(src, Options{})
		found := false
		for _, c := range l.Commands {
			found = found || c.Name() == "git" && len(c.Args) == 3 && c.Args[2].Value == "-n"
		}
		if !found && !l.Limited {
			t.Errorf("%s: the command behind it is not seen, and the line is not limited", name)
		}
		if !found {
			t.Logf("%s: limited", name)
		}
	}
}
