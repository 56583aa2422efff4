package hints

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTextForAPerson(t *testing.T) {
	const user = "~/.claude/settings.json"
	tests := []struct{ name, text, goos, want string }{
		{"high confidence: two lines", "bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "linux",
			"[sandbox-hint] bubblewrap cannot mount /proc inside a container. In ~/.claude/settings.json: set sandbox.enableWeakerNestedSandbox, only where the container is itself the security boundary. See docs/sandbox-troubleshooting.md#bwrap-proc-mount\n" +
				"               Run agent-setup doctor for a probe of all known failure modes.\n"},
		{"low confidence: look-alikes", "Error: EROFS: read-only file system, mkdir '/srv/x'", "linux",
			"[sandbox-hint] Write outside the allowed paths. In .claude/settings.local.json: move the tool's state into the project or scratch tree, or add the most specific directory to filesystem.allowWrite. See docs/sandbox-troubleshooting.md#readonly-generic\n" +
				"               Run agent-setup doctor for a probe of all known failure modes.\n" +
				"               Other causes: Real read-only media, snap/flatpak mounts, a full or damaged disk remounted read-only. Suggest `touch` of the same path in a terminal.\n"},
		{"credentials: no widening", "cat: /Users/u/.aws/credentials: Operation not permitted", "darwin",
			"[sandbox-hint] A path in the home directory is outside the allowed reads. " + protectionLine + " See docs/sandbox-troubleshooting.md#home-read-denied\n" +
				"               Run agent-setup doctor for a probe of all known failure modes.\n"},
	}
	for _, tt := range tests {
		h := hint(tt.text, tt.goos, SandboxOn)
		if h == nil {
			t.Errorf("%s: %q is not hinted", tt.name, tt.text)
			continue
		}
		if got := h.Text(user, false); got != tt.want {
			t.Errorf("%s:\n%swant:\n%s", tt.name, got, tt.want)
		}
		if got := h.Text(user, true); got != strings.Replace(tt.want, Tag, "\x1b[1;33m"+Tag+"\x1b[0m", 1) {
			t.Errorf("%s in colour: %q, want the tag in yellow", tt.name, got)
		}
	}
	noise := hint("zsh:1: operation not permitted: /tmp/claude-501/cwd-6648", "darwin", SandboxOn)
	for line := range strings.Lines(noise.Text(user, true)) {
		if !strings.HasPrefix(line, "\x1b[2m") {
			t.Errorf("a line of noise is not dimmed: %q", line)
		}
	}
}

// Every hint of the catalogue has the promised form, in every state.
func TestEveryHintHasItsForm(t *testing.T) {
	for _, e := range Builtin() {
		for _, h := range []*Hint{{Entry: e}, {Entry: e, NotTheCause: true}, {Entry: e, Protection: true}, {Entry: e, Also: []*Entry{e, e}}} {
			text := h.Text("~/.claude/settings.json", false)
			lines := strings.Split(text, "\n")
			if !strings.HasPrefix(lines[0], Tag+" "+e.Title+". ") || !strings.HasSuffix(lines[0], ". See docs/sandbox-troubleshooting.md#"+e.ID) ||
				lines[1] != indent+"Run agent-setup doctor for a probe of all known failure modes." || strings.Contains(text, "..") && !strings.Contains(text, "…") {
				t.Errorf("%s: hint has another form:\n%s", e.ID, text)
			}
			model := h.ModelText("~/.claude/settings.json")
			if !strings.HasPrefix(model, strings.TrimSuffix(text, "\n")) || len(model) > maxModelText {
				t.Errorf("%s: the model's text does not begin with the person's, or is long:\n%s", e.ID, model)
			}
			for _, never := range e.Never {
				if strings.Contains(text, never) && len(never) > 8 {
					t.Errorf("%s: the person's hint names %q, which is for the model alone", e.ID, never)
				}
				if !h.NotTheCause && !strings.Contains(model, never) {
					t.Errorf("%s: the model is not told of %q", e.ID, never)
				}
			}
			if (h.NotTheCause || h.Protection) && e.Fix.Settings != "" && strings.Contains(model, e.Fix.Settings) {
				t.Errorf("%s: the model is offered settings that do not apply:\n%s", e.ID, model)
			}
		}
	}
	if len(indent) != len(Tag)+1 {
		t.Errorf("lines are indented by %d, the tag is %d wide", len(indent), len(Tag))
	}
}

func TestFragmentsAreJSON(t *testing.T) {
	for _, e := range Builtin() {
		for _, compact := range []string{e.Fix.Settings, e.AlsoSet} {
			if compact == "" {
				continue
			}
			var a, b any
			if err := json.Unmarshal([]byte(compact), &a); err != nil {
				t.Errorf("%s: %s: %v", e.ID, compact, err)
			}
			if err := json.Unmarshal([]byte(Indented(compact)), &b); err != nil {
				t.Errorf("%s: %s: %v", e.ID, Indented(compact), err)
			}
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			if string(x) != string(y) {
				t.Errorf("%s: Indented changes %s to %s", e.ID, x, y)
			}
		}
	}
	if got, want := Indented(`{"a":{"b":["x, {y}",true],"c":{}},"d":[]}`), "{\n  \"a\": {\n    \"b\": [\n      \"x, {y}\",\n      true\n    ],\n    \"c\": {}\n  },\n  \"d\": []\n}"; got != want {
		t.Errorf("Indented = %s, want %s", got, want)
	}
}
