package setup

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sallyport/settings"
)

func parse(t *testing.T, text string) settings.Node {
	t.Helper()
	d, err := settings.ParseDocument([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d.Root()
}

func TestRecognition(t *testing.T) {
	command := func(c string) string { return `{"type":"command","command":` + jsonText(c) + `}` }
	tests := []struct {
		why       string
		entry     string
		component string // "" if it is nobody's
		other     bool
		within    bool
	}{
		{"exec form", `{"type":"command","command":"/h/.claude/scripts/agent-guard","args":[]}`, "agent-guard", false, false},
		{"exec form with flags of a person", `{"type":"command","command":"/x/agent-guard","args":["--unattended"]}`, "agent-guard", false, false},
		{"a sub-command is another thing", `{"type":"command","command":"/x/agent-guard","args":["log"]}`, "", false, false},
		{"shell form", command("~/.claude/scripts/bypass-warn"), "bypass-warn", false, false},
		{"quoted path", command(`"$HOME/my dir/bypass-warn"`), "bypass-warn", false, false},
		{"assignments before it", command(`SALLYPORT_DEBUG=1 A='b c' ~/x/error-hint`), "error-hint", false, false},
		{"through env", command("env A=b error-hint --color=never"), "error-hint", false, false},
		{"a script of another toolkit", command("bash ~/.claude/scripts/sandbox-error-hint.sh"), "error-hint", true, false},
		{"its name without a suffix", command("~/.claude/scripts/sandbox-bypass-warn"), "bypass-warn", true, false},
		{"our name with a suffix is a script of somebody", command("python3 ~/.claude/scripts/agent-guard.py"), "agent-guard", true, false},
		{"an interpreter's options", command("bash -e ~/x/sandbox-status-line.sh"), "status-line", true, false},
		{"a Windows path in exec form", `{"type":"command","command":"C:\\Users\\a\\agent-guard.exe","args":[]}`, "agent-guard", false, false},
		{"part of a larger line", command("~/x/agent-guard | tee log"), "agent-guard", false, true},
		{"first of two", command("~/x/agent-guard; other"), "agent-guard", false, true},
		{"a comment is no part", command("~/x/agent-guard # mine"), "agent-guard", false, false},
		{"text for an interpreter", command("bash -c 'agent-guard'"), "", false, false},
		{"only mentioned", command("echo agent-guard"), "", false, false},
		{"a longer name", command("my-agent-guard"), "", false, false},
		{"not a command", `{"type":"http","url":"http://x/agent-guard"}`, "", false, false},
		{"no command text", `{"type":"command","command":7}`, "", false, false},
		{"args of a wrong type", `{"type":"command","command":"agent-guard","args":[1]}`, "", false, false},
		{"open quote", command("'agent-guard"), "", false, false},
		{"nothing", command(""), "", false, false},
		{"only an interpreter", command("bash"), "", false, false},
	}
	for _, tt := range tests {
		inv, ok := parseInvocation(parse(t, tt.entry))
		got, other := "", false
		if ok {
			for _, c := range components() {
				if o, is := inv.runs(c.Name, nil); is {
					got, other = c.Name, o
				}
			}
		}
		if got != tt.component || other != tt.other || got != "" && inv.within != tt.within {
			t.Errorf("%s: %s is %q other %v within %v, want %q %v %v", tt.why, tt.entry, got, other, inv.within, tt.component, tt.other, tt.within)
		}
	}
}

func TestQuoteIsReadBackByAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	for _, s := range []string{"", "plain", "a b", "it's", `"$HOME"`, "`x`", `\`, "a\nb", "*?[", "~", "#x", "ä"} {
		out, err := exec.Command(sh, "-c", "printf '%s.' "+quote(s)).Output()
		if err != nil || string(out) != s+"." {
			t.Errorf("sh reads %s as %q, error %v; want %q", quote(s), out, err, s)
		}
		words, more, ok := splitShell("x " + quote(s) + " y")
		if !ok || more || !slices.Equal(words, []string{"x", s, "y"}) {
			t.Errorf("splitShell reads %s as %q", quote(s), words)
		}
	}
}

func TestHomeWord(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"/h/.claude/scripts/x", "~/.claude/scripts/x"},
		{"/h/my dir/x", "~/'my dir/x'"},
		{"/opt/x", "/opt/x"},
		{"/hh/x", "/hh/x"},
	} {
		if got := homeWord(tt.file, "/h"); got != tt.want {
			t.Errorf("homeWord(%q) = %q, want %q", tt.file, got, tt.want)
		}
		inv, ok := parseInvocation(parse(t, `{"type":"command","command":`+jsonText(tt.want)+`}`))
		if got := expand(inv.program, "/h", "/h/.claude"); !ok || got != tt.file {
			t.Errorf("%q expands to %q, want %q", tt.want, got, tt.file)
		}
	}
}

func FuzzSplitShell(f *testing.F) {
	for _, s := range []string{"a b", `'a' "b\"c" d\ e`, "A=b x; y", "x # y", "'open", `\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, _, ok := splitShell(line)
		if !ok {
			return
		}
		var quoted []string
		for _, w := range words {
			quoted = append(quoted, quote(w))
		}
		again, more, ok := splitShell(strings.Join(quoted, " "))
		if !ok || more || !slices.Equal(words, again) {
			t.Fatalf("splitShell(%q) = %q, quoted and read again %q", line, words, again)
		}
	})
}
