package setup

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sallyport/internal/cli"
)

func pick(names ...string) (out []Component) {
	for _, c := range components() {
		if slices.Contains(names, c.Name) {
			out = append(out, c)
		}
	}
	return out
}

func testWiring(names ...string) *wiring {
	return &wiring{Components: pick(names...), Dir: "/h/.claude/scripts", Home: "/h", ConfigDir: "/h/.claude"}
}

func (e edit) String() string { return string(e.Op) + " " + pointer(e.Path) + " " + e.Value }

func yes() *bool { v := true; return &v }
func no() *bool  { v := false; return &v }

const bashTools = `"matcher":"Bash|PowerShell|Monitor"`

func guardEntry(rest string) string {
	return `{"type":"command","command":"/h/.claude/scripts/agent-guard","args":[],"timeout":30` + rest + `}`
}

func TestMerge(t *testing.T) {
	hooks := func(groups ...string) string { return `{"hooks":{"PreToolUse":[` + strings.Join(groups, ",") + `]}}` }
	group := func(head string, entries ...string) string {
		return "{" + head + `,"hooks":[` + strings.Join(entries, ",") + "]}"
	}
	foreign := `{"type":"command","command":"x"}`
	tests := []struct {
		why   string
		doc   string
		only  []string // components, agent-guard if none
		set   func(w *wiring)
		edits []string
		notes []string // substrings, in order
	}{
		{why: "nothing there", doc: `{}`, edits: []string{"append /hooks/PreToolUse " + group(bashTools, guardEntry(""))}},
		{why: "two programs share a new group", doc: `{}`, only: []string{"bypass-warn", "agent-guard"}, edits: []string{
			"append /hooks/PreToolUse " + group(bashTools, strings.NewReplacer("agent-guard", "bypass-warn", "30", "5").Replace(guardEntry("")), guardEntry("")),
		}},
		{why: "present and equal", doc: hooks(group(bashTools, guardEntry("")))},
		{why: "other members of an entry are a person's", doc: hooks(group(bashTools, guardEntry(`,"statusMessage":"…"`)))},
		{why: "same tools in another order and spelling", doc: hooks(group(`"matcher":"Monitor, Bash,PowerShell"`, foreign)), edits: []string{
			"append /hooks/PreToolUse/0/hooks " + guardEntry(""),
		}},
		{why: "a foreign Bash group is not enough", doc: hooks(group(`"matcher":"Bash"`, foreign)), edits: []string{
			"append /hooks/PreToolUse " + group(bashTools, guardEntry("")),
		}},
		{why: "ours for every tool sees enough", doc: hooks(group(`"matcher":"*"`, guardEntry("")))},
		{why: "no matcher is every tool", doc: `{"hooks":{"PreToolUse":[{"hooks":[` + guardEntry("") + `]}]}}`},
		{why: "the old path", doc: hooks(group(bashTools, strings.Replace(guardEntry(""), "/h/.claude/scripts", "/old", 1))), edits: []string{
			`set /hooks/PreToolUse/0/hooks/0/command "/h/.claude/scripts/agent-guard"`,
		}},
		{why: "another time limit", doc: hooks(group(bashTools, strings.Replace(guardEntry(""), "30", "3e2", 1))), edits: []string{
			`set /hooks/PreToolUse/0/hooks/0/timeout 30`,
		}},
		{why: "the same number spelt another way", doc: hooks(group(bashTools, strings.Replace(guardEntry(""), "30", "3.0e1", 1)))},
		{why: "shell form becomes exec form", doc: hooks(group(bashTools, `{"type":"command","command":"~/.claude/scripts/agent-guard --unattended","timeout":30}`)), edits: []string{
			`set /hooks/PreToolUse/0/hooks/0/command "/h/.claude/scripts/agent-guard"`,
			`set /hooks/PreToolUse/0/hooks/0/args ["--unattended"]`,
		}},
		{why: "and back", doc: hooks(group(bashTools, guardEntry(""))), set: func(w *wiring) { w.Shell = true }, edits: []string{
			`set /hooks/PreToolUse/0/hooks/0/command "~/.claude/scripts/agent-guard"`,
			`delete /hooks/PreToolUse/0/hooks/0/args `,
		}},
		{why: "a person's assignment needs a shell", doc: hooks(group(bashTools, `{"type":"command","command":"SALLYPORT_DEBUG='a b' /h/.claude/scripts/agent-guard","timeout":30}`)), edits: []string{
			`set /hooks/PreToolUse/0/hooks/0/command "SALLYPORT_DEBUG='a b' ~/.claude/scripts/agent-guard"`,
		}},
		{why: "ours for fewer tools moves and keeps its additions", doc: hooks(group(`"matcher":"Bash"`, guardEntry(`,"statusMessage":"…"`), foreign)), edits: []string{
			"append /hooks/PreToolUse " + group(bashTools, guardEntry(`,"statusMessage":"…"`)),
			"delete /hooks/PreToolUse/0/hooks/0 ",
		}},
		{why: "and its group goes when nothing is left", doc: hooks(group(`"matcher":"Bash"`, guardEntry("")), group(bashTools, foreign)), edits: []string{
			"append /hooks/PreToolUse/1/hooks " + guardEntry(""),
			"delete /hooks/PreToolUse/0 ",
		}},
		{why: "plain Bash everywhere", doc: hooks(group(`"matcher":"Bash"`, foreign)), set: func(w *wiring) { w.Seed, w.SeedAsked = true, true }, edits: []string{
			"append /hooks/PreToolUse/0/hooks " + guardEntry(""),
		}},
		{why: "plain Bash asked for anew", doc: hooks(group(bashTools, guardEntry(""))), set: func(w *wiring) { w.Seed, w.SeedAsked = true, true }, edits: []string{
			"append /hooks/PreToolUse " + group(`"matcher":"Bash"`, guardEntry("")),
			"delete /hooks/PreToolUse/0 ",
		}},
		{why: "self-protect is a group of its own", doc: hooks(group(bashTools, guardEntry(""))), set: func(w *wiring) { w.Options = []string{SelfProtect} }, edits: []string{
			"append /hooks/PreToolUse " + group(`"matcher":"Write|Edit|NotebookEdit"`, guardEntry("")),
		}},
		{why: "self-protect is not taken away by leaving it out", doc: hooks(group(bashTools, guardEntry("")), group(`"matcher":"Write|Edit|NotebookEdit"`, guardEntry("")))},
		{why: "a new enough client", doc: hooks(group(bashTools, guardEntry(""))), set: func(w *wiring) { w.Client = version{2, 1, 332} }, edits: []string{
			`append /hooks/PreSkillShellCommand {"hooks":[` + guardEntry("") + `]}`,
		}},
		{why: "one version short", doc: hooks(group(bashTools, guardEntry(""))), set: func(w *wiring) { w.Client = version{2, 1, 331} }},
		{why: "fail closed", doc: hooks(group(bashTools, guardEntry(""))), set: func(w *wiring) { w.FailClosed = yes() }, edits: []string{
			`set /hooks/PreToolUse/0/hooks/0/onFailure "block"`,
		}},
		{why: "fail closed stays until it is undone", doc: hooks(group(bashTools, guardEntry(`,"onFailure":"block"`)))},
		{why: "undone", doc: hooks(group(bashTools, guardEntry(`,"onFailure":"block"`))), set: func(w *wiring) { w.FailClosed = no() }, edits: []string{
			`delete /hooks/PreToolUse/0/hooks/0/onFailure `,
		}},
		{why: "fail closed is not for warnings", doc: `{}`, only: []string{"bypass-warn"}, set: func(w *wiring) { w.FailClosed = yes() }, edits: []string{
			"append /hooks/PreToolUse " + group(bashTools, strings.NewReplacer("agent-guard", "bypass-warn", "30", "5").Replace(guardEntry(""))),
		}},
		{why: "another toolkit's script serves", doc: hooks(group(bashTools, `{"type":"command","command":"python3 ~/x/agent-guard.py"}`)),
			notes: []string{"equivalent to agent-guard"}},
		{why: "it is swapped on request", doc: hooks(group(bashTools, `{"type":"command","command":"python3 ~/x/agent-guard.py --old"}`)), set: func(w *wiring) { w.ReplaceOthers = true }, edits: []string{
			`set /hooks/PreToolUse/0/hooks/0/command "/h/.claude/scripts/agent-guard"`,
			`set /hooks/PreToolUse/0/hooks/0/args []`,
			`set /hooks/PreToolUse/0/hooks/0/timeout 30`,
		}},
		{why: "ours is preferred, the other reported", doc: hooks(group(bashTools, `{"type":"command","command":"python3 ~/x/agent-guard.py"}`, guardEntry(""))),
			notes: []string{"/hooks/PreToolUse/0/hooks/0 repeats what /hooks/PreToolUse/0/hooks/1 does"}},
		{why: "within a larger command", doc: hooks(group(bashTools, `{"type":"command","command":"agent-guard | tee x"}`)),
			notes: []string{"within a larger command"}},
		{why: "a plugin brings it", doc: `{"enabledPlugins":{"agent-guard@m":true}}`, notes: []string{"plugin agent-guard@m"}},
		{why: "a plugin that is off does not", doc: `{"enabledPlugins":{"agent-guard@m":false}}`, edits: []string{"append /hooks/PreToolUse " + group(bashTools, guardEntry(""))}},
		{why: "keys with dots and stars are literal", doc: `{"hooks.PreToolUse":1,"h*":2,"hooks":{"PreToolUse":[` + group(bashTools, guardEntry("")) + `]}}`},
		{why: "no status line", doc: `{}`, only: []string{"status-line"}, edits: []string{`set /statusLine {"type":"command","command":"~/.claude/scripts/status-line"}`}},
		{why: "null is none", doc: `{"statusLine":null}`, only: []string{"status-line"}, edits: []string{`set /statusLine {"type":"command","command":"~/.claude/scripts/status-line"}`}},
		{why: "our status line elsewhere, with a person's flags", doc: `{"statusLine":{"type":"command","command":"/old/status-line --color=never","padding":1}}`, only: []string{"status-line"}, edits: []string{
			`set /statusLine/command "~/.claude/scripts/status-line --color=never"`,
		}},
		{why: "a foreign one stays", doc: `{"statusLine":{"type":"command","command":"npx x"}}`, only: []string{"status-line"}, notes: []string{"runs another program and stays"}},
		{why: "a foreign one that calls ours stays", doc: `{"statusLine":{"type":"command","command":"status-line | sed s/a/b/"}}`, only: []string{"status-line"}, notes: []string{"runs another program and stays"}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			w := testWiring("agent-guard")
			if tt.only != nil {
				w = testWiring(tt.only...)
			}
			if tt.set != nil {
				tt.set(w)
			}
			m, err := w.plan("settings.json", parse(t, tt.doc))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range m.Edits {
				got = append(got, e.String())
			}
			if !slices.Equal(got, tt.edits) {
				t.Errorf("plan for %s:\n%s\nwant\n%s", tt.doc, strings.Join(got, "\n"), strings.Join(tt.edits, "\n"))
			}
			if len(m.Notes) != len(tt.notes) {
				t.Fatalf("notes %v, want %d", m.Notes, len(tt.notes))
			}
			for i, n := range m.Notes {
				if !strings.Contains(n.Text, tt.notes[i]) {
					t.Errorf("note %q lacks %q", n.Text, tt.notes[i])
				}
			}
			// What was planned is there afterwards.
			after, err := editJSON("settings.json", []byte(tt.doc), m.Edits)
			if err != nil {
				t.Fatal(err)
			}
			w.SeedAsked = false
			again, err := w.plan("settings.json", parse(t, string(after)))
			if err != nil || len(again.Edits) > 0 {
				t.Errorf("a second plan after\n%s\nstill has %v, error %v", after, again.Edits, err)
			}
		})
	}
}

func TestMergeConflicts(t *testing.T) {
	for _, tt := range []struct{ doc, where string }{
		{`[]`, "settings.json:1:1: want a JSON object"},
		{`{"hooks":null}`, "at /hooks"},
		{`{"hooks":{"Stop":{}}}`, "at /hooks/Stop"},
		{`{"hooks":{"Stop":[1]}}`, "at /hooks/Stop/0"},
		{`{"hooks":{"Stop":[{}]}}`, "at /hooks/Stop/0/hooks"},
		{`{"hooks":{"a/b~c":[{"hooks":{}}]}}`, "at /hooks/a~1b~0c/0/hooks"},
		{`{"hooks":{"Stop":[{"hooks":[]},{"hooks":[{},[]]}]}}`, "at /hooks/Stop/1/hooks/1"},
		{`{"hooks":{"Stop":[{"matcher":null,"hooks":[]}]}}`, "at /hooks/Stop/0/matcher"},
		{"{\n \"statusLine\": []}", "settings.json:2:2 at /statusLine"},
	} {
		_, err := testWiring("agent-guard").plan("settings.json", parse(t, tt.doc))
		var exit *cli.ExitError
		if !errors.As(err, &exit) || exit.Code != cli.ExitInput || !strings.Contains(err.Error(), tt.where) {
			t.Errorf("plan(%s) error %v, want exit 2 naming %q", tt.doc, err, tt.where)
		}
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]string{
		"2.1.332 (Claude Code)\n": "2.1.332",
		"v2.1.0-beta.1":           "2.1.0",
		"":                        "unknown",
		"2.1":                     "unknown",
		"2.1.x":                   "unknown",
		"2.1.99999999999999999":   "unknown",
		"-1.0.0":                  "unknown",
	} {
		if v, _ := parseVersion(text); v.String() != want {
			t.Errorf("parseVersion(%q) = %s, want %s", text, v, want)
		}
	}
	if v, _ := parseVersion("2.1.99"); !v.before("2.1.139") || v.before("2.1.99") || v.before("2.0.400") {
		t.Error("2.1.99 does not order by number")
	}
}

func TestChoose(t *testing.T) {
	names := func(cs []Component) (out []string) {
		for _, c := range cs {
			out = append(out, c.Name)
		}
		return out
	}
	have := append(pick("agent-guard", "error-hint"), Component{Name: "extra", Off: true})
	for _, tt := range []struct {
		s       Selection
		want    string
		options string
	}{
		{Selection{}, "[agent-guard error-hint]", "[]"},
		{Selection{All: true}, "[agent-guard error-hint extra]", "[]"},
		{Selection{Only: []string{"extra"}}, "[extra]", "[]"},
		{Selection{With: []string{"extra", SelfProtect}}, "[agent-guard error-hint extra]", "[self-protect]"},
		{Selection{Only: []string{"extra"}, With: []string{SelfProtect}}, "[agent-guard extra]", "[self-protect]"},
		{Selection{All: true, Without: []string{"error-hint"}}, "[agent-guard extra]", "[]"},
	} {
		got, options, err := tt.s.choose(have)
		if err != nil || fmt.Sprint(names(got)) != tt.want || fmt.Sprint(options) != tt.options {
			t.Errorf("choose(%+v) = %v %v %v, want %s %s", tt.s, names(got), options, err, tt.want, tt.options)
		}
	}
	var usage *cli.UsageError
	if _, _, err := (Selection{Without: []string{"eror-hint"}}).choose(have); !errors.As(err, &usage) || !strings.Contains(err.Error(), `"error-hint"`) {
		t.Errorf("unknown component: %v", err)
	}
}
