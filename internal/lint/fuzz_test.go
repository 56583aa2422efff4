package lint

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"sallyport/settings"
)

// sound holds for every report: sorted findings of known rules with places, and
// formats that their readers can parse.
func sound(t *testing.T, r *Report) {
	t.Helper()
	rank := make(map[string]int)
	for i, f := range r.Files {
		rank[f] = i
	}
	for i, f := range r.Findings {
		if _, ok := Lookup(f.ID); !ok || f.Line < 1 || f.Column < 1 || f.Message == "" || f.Help == "" {
			t.Fatalf("finding %+v", f)
		}
		if i > 0 {
			if p := r.Findings[i-1]; rank[p.File] > rank[f.File] || p.File == f.File && p.ID > f.ID {
				t.Fatalf("%s of %s stands before %s of %s", p.ID, p.File, f.ID, f.File)
			}
		}
	}
	var b bytes.Buffer
	if err := r.JSON(&b, true); err != nil || !json.Valid(b.Bytes()) {
		t.Fatalf("JSON %v: %s", err, &b)
	}
	b.Reset()
	if err := r.SARIF(&b); err != nil || !json.Valid(b.Bytes()) {
		t.Fatalf("SARIF %v: %s", err, &b)
	}
	b.Reset()
	r.Human(&b, false)
	r.GitHub(&b)
	if !utf8.Valid(b.Bytes()) && utf8.ValidString(r.Files[0]) {
		t.Fatalf("text is not UTF-8: %q", &b)
	}
}

func FuzzClaude(f *testing.F) {
	f.Add([]byte(s0()))
	f.Add([]byte(rulesText("Bash(a:* b)|WebFetch(x)|Read(/etc)", "Write(x", "bash()|mcp__*")))
	f.Add([]byte(`{"sandbox":{"filesystem":{"allowRead":["~/..","/h*"],"allowWrite":"x"},"network":{"allowUnixSockets":["/run/[d]*"]},"excludedCommands":["env A=1 *"]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg := testConfig(t)
		write(t, cfg, "a.json", string(data))
		write(t, cfg, "b.json", s0())
		sound(t, Claude(cfg, "a.json", "b.json", true))
		sound(t, Claude(cfg, "b.json", "a.json", true))
		sound(t, RulesOnly(cfg, []string{"a.json", "b.json"}))
		a, b := "a.json", "b.json"
		sound(t, Merged(cfg, Scopes{Local: &a, Project: &b, User: &a}, true))
		mended, err := Mend(cfg, "a.json", data)
		if err != nil {
			return
		}
		if bytes.Equal(mended, data) {
			return
		}
		if _, err := settings.ParseDocument(mended); err != nil {
			t.Fatalf("mended %q is broken: %v", mended, err)
		}
		again, err := Mend(cfg, "a.json", mended)
		if err != nil || !bytes.Equal(again, mended) {
			t.Fatalf("mending twice: %q, then %q, %v", mended, again, err)
		}
	})
}

func FuzzOpenCode(f *testing.F) {
	f.Add([]byte(`{"permission":{"bash":{"git *":"allow",},},/* x */"agent":{"a":{"permission":"deny"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg := testConfig(t)
		write(t, cfg, "a", string(data))
		sound(t, OpenCode(cfg, "a"))
	})
}

func FuzzKiro(f *testing.F) {
	f.Add(`git (status|log) [a-z]*`, `rm( .*)?`)
	f.Add(`(?i)a{2,3}\b$`, `(?:x|y)+?`)
	f.Fuzz(func(t *testing.T, allowed, denied string) {
		text := `{"toolsSettings":{"shell":{"allowedCommands":[` + quote(allowed) + `],"deniedCommands":[` + quote(denied) + `]}}}`
		begin := time.Now()
		sound(t, lintKiro(t, text))
		if d := time.Since(begin); d > 20*time.Second {
			t.Fatalf("%q, %q took %v", allowed, denied, d)
		}
	})
}

func FuzzCodex(f *testing.F) {
	f.Add([]byte(cleanCodex), []byte(cleanRules))
	f.Add([]byte("[permissions.p.filesystem]\n\"a\" = [1, {b = 2}]\n[[x.y]]\nz = 1979-05-27"), []byte("x = [a for a in \"b\".split()]\nx += [\"c\"]\n"))
	f.Fuzz(func(t *testing.T, config, rules []byte) {
		cfg := testConfig(t)
		write(t, cfg, "config.toml", string(config))
		write(t, cfg, "rules/a.rules", string(rules))
		sound(t, Codex(cfg, "."))
	})
}
