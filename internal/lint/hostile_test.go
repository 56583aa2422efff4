package lint

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// hostile are texts that must end with a finding, whatever reads them.
func hostile() map[string]string {
	const mib = 1 << 20
	return map[string]string{
		"empty":              "",
		"blank":              " \n\t",
		"null bytes":         strings.Repeat("\x00", mib),
		"invalid UTF-8":      "{\"a\":\"\xff\xfe\"}",
		"deep arrays":        `{"a":` + strings.Repeat("[", mib) + strings.Repeat("]", mib) + `}`,
		"deep objects":       strings.Repeat(`{"sandbox":`, 200_000) + "1" + strings.Repeat("}", 200_000),
		"deep, open":         strings.Repeat("[", 3*mib),
		"deep within bounds": strings.Repeat(`{"sandbox":`, 9_000) + "1" + strings.Repeat("}", 9_000),
		"too large":          `{"a":"` + strings.Repeat("x", 10*mib) + `"}`,
		"too large, blank":   "{}" + strings.Repeat(" ", 10*mib),
		"many repeats":       `{` + strings.TrimSuffix(strings.Repeat(`"sandbox":{},`, 20_000), ",") + `}`,
		"many names":         `{"permissions":{` + numbered(20_000, `"k%d":1`) + `}}`,
		"many rules":         `{"permissions":{"allow":[` + numbered(20_000, `"Bash(cmd%d *)"`) + `]}}`,
		"many wild rules":    `{"permissions":{"allow":[` + numbered(3_000, `"Bash(*a*b*c*%d*)"`) + `],"ask":[` + numbered(900, `"Bash(*%d*x*y*z*)"`) + `]}}`,
		"many deep paths":    `{"permissions":{"deny":[` + numbered(3_000, `"Read(//**/a/**/b/**/c/**/d/**/%d)"`) + `]}}`,
		"one long rule":      `{"permissions":{"allow":["Bash(` + strings.Repeat("*a", mib/2) + `)","Bash(` + strings.Repeat("a", mib) + `b)"]}}`,
		"one long path":      `{"permissions":{"deny":["Read(//` + strings.Repeat("**/", 100_000) + `x)","Read(//` + strings.Repeat("a/", 100_000) + `y)"]}}`,
		"many parts":         `{"sandbox":{"filesystem":{"allowRead":["` + strings.Repeat("/*", mib/2) + `"],"allowWrite":["` + strings.Repeat("../", 300_000) + `"]}}}`,
		"wild sockets":       `{"sandbox":{"network":{"allowUnixSockets":["/x/` + strings.Repeat("*a", mib/2) + `"]}}}`,
		"many edits":         `{"permissions":{"allow":[` + numbered(5_000, `"Edit(~/%d/**)"`) + `]}}`,
		"many values":        `{"permissions":{"allow":[` + numbered(30_000, `1`) + `]}}`,
		"many lost names":    `{"permissions":{"deny":[` + numbered(3_000, `"Wirte%d(x)"`) + `]}}`,
		"many bad paths":     `{"sandbox":{"filesystem":{"allowRead":[` + numbered(20_000, `"~/.aws/%d"`) + `]}}}`,
	}
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// all renders a report in every format.
func render(r *Report) {
	r.Human(io.Discard, false)
	r.OK(io.Discard)
	r.JSON(io.Discard, true)
	r.SARIF(io.Discard)
	r.GitHub(io.Discard)
}

func TestHostileFiles(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(t)
			write(t, cfg, "f", text)
			r := Claude(cfg, "f", "f", true)
			if len(r.Findings) == 0 {
				t.Error("no finding of the default mode")
			}
			render(r)
			file := "f"
			Merged(cfg, Scopes{Project: &file, User: &file}, true)
			OpenCode(cfg, "f")
			Kiro(cfg, []string{"f"})
			if name != "many rules" && name != "many names" {
				Mend(cfg, "f", []byte(text))
			}
			write(t, cfg, "config.toml", text)
			write(t, cfg, "rules/a.rules", text)
			if r := Codex(cfg, "."); len(r.Findings) == 0 {
				t.Error("no finding of Codex mode")
			}
		})
	}
}

// What is not listed counts all the same.
func TestManyAlike(t *testing.T) {
	const n = maxAlike + 500
	cfg := testConfig(t)
	text := `{"permissions":{"deny":[` + numbered(n, `"Write(a%d)"`) + `],"allow":["Write(b)"]}}`
	write(t, cfg, "f", text)
	r := Claude(cfg, "f", "", false)
	listed, more := 0, 0
	for _, f := range r.Findings {
		if f.ID == "R301" {
			listed++
			more += f.More
			if f.More > 0 && (listed != maxAlike || !strings.Contains(f.Message, "(500 more like this are not listed)")) {
				t.Errorf("finding %d: %s", listed, f.Message)
			}
		}
	}
	// The one in allow has a severity of its own, and so is listed.
	if listed != maxAlike+1 || more != n-maxAlike {
		t.Errorf("%d listed and %d more, want %d and %d", listed, more, maxAlike+1, n-maxAlike)
	}
	before := r.Count(Error) + r.Count(Warning)
	r.Disable([]string{"R301"})
	if got := before - r.Count(Error) - r.Count(Warning); got != n+1 {
		t.Errorf("%d findings of R301 count, want %d", got, n+1)
	}
	r = Claude(cfg, "f", "", false)
	var b strings.Builder
	if err := r.JSON(&b, false); err != nil || strings.Count(b.String(), `"more": 500`) != 1 {
		t.Errorf("JSON: %v", err)
	}
	b.Reset()
	if err := r.SARIF(&b); err != nil || strings.Count(b.String(), `"occurrenceCount": 501`) != 1 {
		t.Errorf("SARIF: %v", err)
	}
	mended, err := Mend(cfg, "f", []byte(text))
	if err != nil || strings.Contains(string(mended), `"Write(a`) || strings.Count(string(mended), `"Edit(a`) != n || !strings.Contains(string(mended), `"Write(b)"`) {
		t.Errorf("Mend: %v", err)
	}
}

func TestHostileOpenCode(t *testing.T) {
	for name, text := range map[string]string{
		"many rules":     `{"permission":{"bash":{` + numbered(10_000, `"a%d *":"deny"`) + `,"*":"allow"}}}`,
		"many tools":     `{"permission":{` + numbered(2_000, `"*t%d*x*":"deny"`) + `}}`,
		"many agents":    `{"permission":"ask","agent":{` + numbered(2_000, `"a%d":{"permission":{"*":"allow"}}`) + `}}`,
		"open comment":   `{"a":1 /*` + strings.Repeat("*", 1<<20),
		"many comments":  strings.Repeat("/**/", 1<<19) + `{}`,
		"only a comment": "//",
	} {
		r := lintOpenCode(t, text)
		if len(r.Findings) == 0 {
			t.Errorf("%s: no finding", name)
		}
	}
}

func TestHostileKiro(t *testing.T) {
	nested := "a"
	for range 30 {
		nested = "(" + nested + ")*"
	}
	for name, text := range map[string]string{
		"nested stars":     quote(nested),
		"repetition":       `"(a{1000}){1000}"`,
		"repetitions":      numbered(500, `"(x%d|a{900}|b{900}|c{900}|d{900}){1,1}"`),
		"wide repetitions": `"((((a{0,30}){0,30}){0,1}b){0,1})+"`,
		"long":             quote(strings.Repeat("a?", 4000) + strings.Repeat("a", 4000)),
		"classes":          quote(strings.Repeat(`[\p{L}\p{N}]`, 100)),
		"many":             numbered(10_000, `"cmd%d .*"`),
		"alternatives":     quote(strings.Repeat("a|", 900) + "b"),
		"parentheses":      quote(strings.Repeat("(", 900) + strings.Repeat(")", 900)),
	} {
		shell := `{"allowedCommands":[` + text + `],"deniedCommands":[` + text + `]}`
		r := lintKiro(t, `{"toolsSettings":{"shell":`+shell+`,"web_fetch":{"trusted":[`+text+`]}}}`)
		if len(r.Findings) == 0 {
			t.Errorf("%s: no finding", name)
		}
	}
}

// TestStarlarkBombs: each of these would take the machine's memory or time.
func TestStarlarkBombs(t *testing.T) {
	for name, text := range map[string]string{
		"loop":              "x = [i for i in range(1000000000)]",
		"nested loops":      "def f():\n    for a in range(100000):\n        for b in range(100000):\n            pass\nf()",
		"list of a range":   "x = list(range(1000000000))",
		"sorted range":      "x = sorted(range(100000000))",
		"repeated text":     `x = "a" * 1000000000`,
		"repeated list":     `x = [0] * 100000000`,
		"reversed repeat":   `x = 100000000 * [0]`,
		"doubling":          "x = \"aaaaaaaa\"\n" + strings.Repeat("x = x + x\n", 60),
		"doubling in place": "x = \"aaaaaaaa\"\n" + strings.Repeat("x += x\n", 60),
		"in place in part":  "x = {\"a\": \"aaaa\"}\n" + strings.Repeat("x[\"a\"] += x[\"a\"]\n", 60),
		"doubling a list":   "x = [0]\n" + strings.Repeat("x.extend(x)\n", 60),
		"squaring":          "x = 99999999\n" + strings.Repeat("x = x * x\n", 60),
		"shift":             "x = 1 << 500\n" + strings.Repeat("x = x * x\n", 40),
		"nested lists":      "x = [0]\n" + strings.Repeat("x = [x, x]\n", 60) + "y = str(x)",
		"nested equal":      "x = [0]\ny = [0]\n" + strings.Repeat("x = [x, x]\ny = [y, y]\n", 60) + "z = x == y",
		"nested key":        "x = (0,)\n" + strings.Repeat("x = (x, x)\n", 60) + "z = {x: 1}",
		"join":              "x = \"a\" * 4000\ny = x.join([x] * 4000)\nz = y.join([y] * 1000)",
		"replace":           "x = \"a\" * 100000\ny = x.replace(\"a\", x)",
		"format":            "x = \"a\" * 100000\ny = (\"%s\" * 1000) % tuple([x] * 1000)",
		"recursion":         "def f():\n    f()\nf()",
		"recursive lambda":  "f = lambda g: g(g)\nf(f)",
		"brackets":          strings.Repeat("[", 400_000),
		"closed brackets":   "x = " + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		"minus":             "x = " + strings.Repeat("-", 400_000) + "1",
		"not":               "x = " + strings.Repeat("not ", 100_000) + "True",
		"lambda":            "x = " + strings.Repeat("lambda: ", 50_000) + "1",
		"conditions":        "x = " + strings.Repeat("1 if 1 else ", 30_000) + "1",
		"blocks":            blocks(600),
		"additions":         "x = 1" + strings.Repeat(" + 1", 100_000),
		"dots":              "x = a" + strings.Repeat(".b", 200_000),
		"calls":             "x = a" + strings.Repeat("()", 200_000),
		"indexes":           "x = a" + strings.Repeat("[0]", 150_000),
		"comparisons":       "x = 1" + strings.Repeat(" and 1", 60_000),
		"too large":         "#" + strings.Repeat("x", 1<<20),
		"invalid UTF-8":     "x = \"\xff\"",
		"open string":       "x = \"\"\"",
		"nulls":             "\x00\x00",
		"load":              "load(\"a\", \"b\")",
		"while":             "while True:\n    pass",
		"rules":             "[prefix_rule(pattern = [\"x\"]) for i in range(1000000)]",
	} {
		t.Run(name, func(t *testing.T) {
			if name == "additions" || name == "comparisons" || name == "blocks" || name == "nested lists" {
				// May well be evaluated; it only has to come back.
				lintCodex(t, cleanCodex, cleanRules+text)
				return
			}
			got := ids(lintCodex(t, cleanCodex, cleanRules+text))
			if !slices.Contains(got, "X718") {
				t.Errorf("%q, want X718", got)
			}
		})
	}
}

func blocks(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "if 1:\n")
	}
	b.WriteString(strings.Repeat(" ", n) + "pass\n")
	return b.String()
}
