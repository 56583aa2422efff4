package iso

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestSettingsInjection(t *testing.T) {
	dir := t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("s.json", "\ufeff {\"model\": \"opus\",\n \"n\": 1.50}\n")
	write("broken.json", "{\n  \"a\": }")
	write("list.json", "[]")
	write("huge.json", `{"x":"`+strings.Repeat("x", 140<<10)+`"}`)
	write("conf/p.json", `{"permissions":{"deny":["Read(/x)","Read(//y)","Read(~/z)","Edit(/e/**)","Bash(/bin/x)","Read",7],"ask":"odd"},`+
		`"sandbox":{"filesystem":{"allowWrite":[".","a/b","/c","~/d","./e"],"denyRead":7},"credentials":{"files":[{"path":"k","mode":"deny"},{"mode":"deny"},3]}}}`)

	const ours = `{"sandbox":{"filesystem":{"allowRead":["/r"]}}}`
	tests := []struct {
		about    string
		args     []string
		want     []string // nil: as they are
		problem  string
		noInject bool
	}{
		{about: "no settings", args: []string{"-p", "hi"}, want: []string{"--settings", ours, "-p", "hi"}},
		{about: "no arguments", want: []string{"--settings", ours}},
		{about: "inline", args: []string{"-p", "--settings", `{"model":"x"}`, "hi"}, want: []string{"--settings", `{"model":"x","sandbox":{"filesystem":{"allowRead":["/r"]}}}`, "-p", "hi"}},
		{about: "inline with =", args: []string{`--settings={"model":"x"}`, "hi"}, want: []string{"--settings", `{"model":"x","sandbox":{"filesystem":{"allowRead":["/r"]}}}`, "hi"}},
		{about: "a file", args: []string{"--settings", "s.json"}, want: []string{"--settings", `{"model":"opus","n":1.50,"sandbox":{"filesystem":{"allowRead":["/r"]}}}`}},
		{about: "a file with =", args: []string{"--settings=" + filepath.Join(dir, "s.json")}, want: []string{"--settings", `{"model":"opus","n":1.50,"sandbox":{"filesystem":{"allowRead":["/r"]}}}`}},
		{about: "the last one counts", args: []string{"--settings", "{bad", "x", "--settings", "{}"}, want: []string{"--settings", ours, "x"}},
		{about: "none by name only", args: []string{"--settings", ""}, want: []string{"--settings", ours}},
		{about: "the other parts of the sandbox stay", args: []string{"--settings", `{"sandbox":{"enabled":true,"filesystem":{"denyRead":["~/"],"allowRead":["/a"]}}}`},
			want: []string{"--settings", `{"sandbox":{"enabled":true,"filesystem":{"denyRead":["~/"],"allowRead":["/a","/r"]}}}`}},
		{about: "there already", args: []string{"--settings", `{"sandbox":{"filesystem":{"allowRead":["/r"]}}}`}, noInject: true},
		{about: "a key that stands twice counts where it stands last", args: []string{"--settings", `{"sandbox":1,"a":2,"sandb\u006fx":{"enabled":true}}`},
			want: []string{"--settings", `{"a":2,"sandb\u006fx":{"enabled":true,"filesystem":{"allowRead":["/r"]}}}`}},
		{about: "paths of a file point where they did", args: []string{"--settings", "conf/p.json"}, want: []string{"--settings",
			`{"permissions":{"deny":["Read(/` + dir + `/conf/x)","Read(//y)","Read(~/z)","Edit(/` + dir + `/conf/e/**)","Bash(/bin/x)","Read",7],"ask":"odd"},` +
				`"sandbox":{"filesystem":{"allowWrite":["` + dir + `/conf","` + dir + `/conf/a/b","/c","~/d","` + dir + `/conf/e"],"denyRead":7,"allowRead":["/r"]},"credentials":{"files":[{"path":"` + dir + `/conf/k","mode":"deny"},{"mode":"deny"},3]}}}`}},
		{about: "inline has no place of its own", args: []string{"--settings", `{"permissions":{"deny":["Read(/x)"]}}`}, want: []string{"--settings", `{"permissions":{"deny":["Read(/x)"]},"sandbox":{"filesystem":{"allowRead":["/r"]}}}`}},
		{about: "after --", args: []string{"--", "--settings", "x"}, want: []string{"--settings", ours, "--", "--settings", "x"}},
		{about: "the value of another option", args: []string{"--append-system-prompt", "--settings", "hi"}, want: []string{"--settings", ours, "--append-system-prompt", "--settings", "hi"}},
		{about: "the option without a value is the client's to refuse", args: []string{"-p", "--settings"}, want: []string{"--settings", ours, "-p", "--settings"}},

		{about: "broken JSON inline", args: []string{"--settings", `{"a":}`}, problem: "not valid JSON"},
		{about: "broken JSON in a file", args: []string{"--settings", "broken.json"}, problem: "broken.json: not valid JSON at line 2, column 8"},
		{about: "a missing file", args: []string{"--settings", "nope.json"}, problem: "nope.json: no such file"},
		{about: "a directory", args: []string{"--settings", "conf"}, problem: "conf: not a regular file"},
		{about: "not an object", args: []string{"--settings", "list.json"}, problem: "not a JSON object"},
		{about: "a sandbox of another type", args: []string{"--settings", `{"sandbox":true}`}, problem: "sandbox is not an object"},
		{about: "a list of another type", args: []string{"--settings", `{"sandbox":{"filesystem":{"allowRead":"/a"}}}`}, problem: "sandbox.filesystem.allowRead is not a list"},
		{about: "nesting without end", args: []string{"--settings", "{" + strings.Repeat(`"a":[`, 200000) + "}"}, problem: "not valid JSON"},
	}
	if runtime.GOOS == "linux" {
		tests = append(tests, struct {
			about    string
			args     []string
			want     []string
			problem  string
			noInject bool
		}{about: "more than one argument can hold", args: []string{"--settings", "huge.json"}, problem: "more than one argument can hold"})
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			got := settingsInjection{paths: []string{"/r"}}.into(tt.args, dir)
			want := tt.want
			if tt.problem != "" || tt.noInject {
				want = tt.args
			}
			if !slices.Equal(got.args, want) {
				t.Errorf("arguments %.300q\n got %.300q\nwant %.300q", tt.args, got.args, want)
			}
			if (got.problem != "") != (tt.problem != "") || !strings.Contains(got.problem, tt.problem) {
				t.Errorf("arguments %.300q: problem %q, want %q", tt.args, got.problem, tt.problem)
			}
			if injected := got.settings != ""; injected == (tt.problem != "" || tt.noInject) {
				t.Errorf("arguments %.300q: injected %q", tt.args, got.settings)
			}
		})
	}
}

func TestSettingsInjectionOddNames(t *testing.T) {
	paths := []string{`/a "quoted" \ <dir>`, "/line\nbreak", "/ü"}
	got := settingsInjection{paths: append(paths, "/\xff")}.into(nil, t.TempDir())
	var settings struct {
		Sandbox struct {
			Filesystem struct{ AllowRead []string }
		}
	}
	if err := json.Unmarshal([]byte(got.settings), &settings); err != nil || !slices.Equal(settings.Sandbox.Filesystem.AllowRead, paths) {
		t.Errorf("settings %q hold %q (%v), want %q", got.settings, settings.Sandbox.Filesystem.AllowRead, err, paths)
	}
	if !strings.Contains(got.problem, "UTF-8") {
		t.Errorf("problem %q does not tell of the name that cannot stand in JSON", got.problem)
	}
	if got := (settingsInjection{}).into([]string{"x"}, ""); len(got.args) != 1 || got.settings != "" {
		t.Errorf("nothing to add: %+v", got)
	}
}

func TestDropWorktree(t *testing.T) {
	tests := []struct{ in, want, removed string }{
		{"", "", ""},
		{"-w", "", "-w"},
		{"-w name x", "name x", "-w"},
		{"--worktree --worktree=a -w=b x", "x", "--worktree --worktree=a -w=b"},
		{"-wname --worktrees -W x", "-wname --worktrees -W x", ""},
		{"-w -- -w --worktree", "-- -w --worktree", "-w"},
	}
	for _, tt := range tests {
		rest, removed := dropWorktree(strings.Fields(tt.in))
		if strings.Join(rest, " ") != tt.want || strings.Join(removed, " ") != tt.removed {
			t.Errorf("dropWorktree(%q) = %q, removed %q; want %q, removed %q", tt.in, rest, removed, tt.want, tt.removed)
		}
	}
}

func TestOptions(t *testing.T) {
	g := grammar{required: []string{"--value", "-v"}, optional: []string{"--maybe", "-m"}}
	tests := []struct{ in, want string }{
		{"a -b c", "-b"},
		{"--value --x y", "--value=--x"},
		{"--value=1 --maybe --x", "--value=1 --maybe --x"},
		{"--maybe x --y", "--maybe=x --y"},
		{"-abv1 -mx -m y", "-a -b -v=1 -m=x -m=y"},
		{"-v -- --x", "-v=-- --x"},
		{"-a=1 - -- -b", "-a=1"},
		{"--value", "--value"},
	}
	for _, tt := range tests {
		var words []string
		for _, o := range g.options(strings.Fields(tt.in)) {
			if o.hasValue {
				words = append(words, o.name+"="+o.value)
			} else {
				words = append(words, o.name)
			}
		}
		if got := strings.Join(words, " "); got != tt.want {
			t.Errorf("options(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// Merging keeps what is not ours, whatever the object holds.
func FuzzAddAllowRead(f *testing.F) {
	f.Add(`{"sandbox":{"filesystem":{"allowRead":["/a"]}},"x":[1,2.0,{"y":null}]}`)
	f.Add(`{"a":1,"a":2,"sandbox":{}}`)
	f.Add(`{"permissions":{"deny":["Read(/x)"]},"sandbox":{"credentials":{"files":[{"path":"a"}]}}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		if checkObject([]byte(raw)) != nil {
			return
		}
		anchored := anchor(raw, "/base")
		if !json.Valid([]byte(anchored)) {
			t.Fatalf("anchor(%q) = %q is not JSON", raw, anchored)
		}
		merged, _, err := addAllowRead(raw, []string{"/r"})
		if err != nil {
			return
		}
		var before, after map[string]any
		if json.Unmarshal([]byte(raw), &before) != nil {
			return
		}
		if err := json.Unmarshal([]byte(merged), &after); err != nil {
			t.Fatalf("addAllowRead(%q) = %q: %v", raw, merged, err)
		}
		list := after["sandbox"].(map[string]any)["filesystem"].(map[string]any)["allowRead"].([]any)
		if !slices.Contains(list, any("/r")) {
			t.Fatalf("addAllowRead(%q) = %q lacks /r", raw, merged)
		}
		delete(before, "sandbox")
		delete(after, "sandbox")
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("addAllowRead(%q) = %q changed the rest", raw, merged)
		}
	})
}
