package lint

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sarif "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

var update = flag.Bool("update", false, "rewrite golden files and docs/lint-rules.md")

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) {
		t.Errorf("%s differs; go test ./internal/lint -update rewrites it.\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// sample is a report with findings of every severity, in two files, with
// related places and text that formats have to escape.
func sample(t *testing.T) *Report {
	cfg := testConfig(t)
	write(t, cfg, "s, 1:ä%.json", "{\n  \"sandbox\": {\"enabled\": \"true\",\n    \"filesystem\": {\"allowRead\": [\"ü\", \"~/.aws/\"]}},\n"+
		"  \"permissions\": {\n    \"allow\": [\"Bash(gh pr view *)\", \"Bash(curl https://x.example/\\n\\u001b[31m%,: *)\", \"Bash(git *)\"],\n    \"ask\": [\"Bash(gh *)\"]\n  }\n}\n")
	write(t, cfg, "base.json", `{"sandbox":{},"permissions":{"deny":[]}}`)
	return Claude(cfg, "s, 1:ä%.json", "base.json", true)
}

func TestFormats(t *testing.T) {
	r := sample(t)
	for name, format := range map[string]func(*bytes.Buffer) error{
		"human":  func(b *bytes.Buffer) error { r.Human(b, false); return nil },
		"json":   func(b *bytes.Buffer) error { return r.JSON(b, false) },
		"sarif":  func(b *bytes.Buffer) error { return r.SARIF(b) },
		"github": func(b *bytes.Buffer) error { r.GitHub(b); return nil },
	} {
		var b bytes.Buffer
		if err := format(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("testdata", "format", name+".golden"), b.Bytes())
		if name == "human" && bytes.ContainsAny(b.Bytes(), "\x1b\r") {
			t.Error("an escape of the file reaches the terminal")
		}
		if name == "github" && strings.Count(b.String(), "\n") != len(r.Findings) {
			t.Errorf("%d lines for %d findings", strings.Count(b.String(), "\n"), len(r.Findings))
		}
	}
}

// Every kind of report is valid by the published schema, which the module
// go-sarif embeds.
func TestSARIFIsValid(t *testing.T) {
	cfg := testConfig(t)
	write(t, cfg, "bad", "{")
	file := "s, 1:ä%.json"
	reports := map[string]*Report{"findings": sample(t), "missing": Claude(cfg, "none", "", true), "syntax": Kiro(cfg, []string{"bad"}),
		"harness": AnyHarness(cfg, ""), "clean": lintRules(t, "{}"), "codex": lintCodex(t, "sandbox_mode = 1", `prefix_rule(["gh"])`)}
	write(t, cfg, file, s0())
	reports["merged"] = Merged(cfg, Scopes{Project: &file}, true)
	for name, r := range reports {
		var b bytes.Buffer
		if err := r.SARIF(&b); err != nil {
			t.Fatal(err)
		}
		// The module's types have every member of the schema, and no other.
		strict := json.NewDecoder(bytes.NewReader(b.Bytes()))
		strict.DisallowUnknownFields()
		if err := strict.Decode(new(sarif.Report)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		report, err := sarif.FromBytes(b.Bytes())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := report.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		run := report.Runs[0]
		if len(run.Results) != len(r.Findings) || len(run.Tool.Driver.Rules) != len(Rules()) || *run.Tool.Driver.Name != "sandbox-lint" {
			t.Errorf("%s: %d results for %d findings, %d rules", name, len(run.Results), len(r.Findings), len(run.Tool.Driver.Rules))
		}
	}
}

func TestFingerprintsSurviveAMove(t *testing.T) {
	prints := func(text string) string {
		r := lintRules(t, text)
		var out []string
		for i := range r.Findings {
			out = append(out, r.Findings[i].fingerprint())
		}
		return strings.Join(out, " ")
	}
	a := prints(`{"permissions":{"allow":["Bash(docker *)"]}}`)
	if b := prints("\n\n{ \"model\":1,\n\"permissions\":{\"allow\":[ \"Bash(docker *)\"]}}"); a != b {
		t.Errorf("moved: %s, %s", a, b)
	}
	if b := prints(`{"permissions":{"allow":["Bash(docker:*)"]}}`); a == b {
		t.Error("another rule has the same fingerprint")
	}
}

func TestJSONAlwaysParses(t *testing.T) {
	cfg := testConfig(t)
	write(t, cfg, "x.json", `{"sandbox":{"network":{"allowedDomains":["*\u0000\"\\"]}},"permissions":{"deny":["Bash(\u2028</script>"]}}`)
	file := "x.json"
	for _, r := range []*Report{Claude(cfg, "x.json", "", true), Claude(cfg, "none", "", true), Merged(cfg, Scopes{Local: &file}, true)} {
		var b bytes.Buffer
		if err := r.JSON(&b, true); err != nil {
			t.Fatal(err)
		}
		var out struct {
			Schema   string
			Exit     int
			Findings []struct {
				ID           string
				Line, Column int
				Origin       *struct{ Scope string }
			}
			Effective map[string]any
		}
		if err := json.Unmarshal(b.Bytes(), &out); err != nil {
			t.Fatalf("%v\n%s", err, &b)
		}
		if out.Schema != "sandbox-lint/1" || len(out.Findings) != len(r.Findings) || out.Exit != r.Exit(true) {
			t.Errorf("%s", &b)
		}
		for _, f := range out.Findings {
			if f.Line < 1 || f.Column < 1 {
				t.Errorf("%s at %d:%d", f.ID, f.Line, f.Column)
			}
			if (f.Origin != nil) != (r.Mode == "merged") {
				t.Errorf("%s of mode %s: origin %v", f.ID, r.Mode, f.Origin)
			}
		}
		if (out.Effective != nil) != (r.Mode == "merged") {
			t.Errorf("mode %s: effective %v", r.Mode, out.Effective)
		}
	}
}

func TestPositions(t *testing.T) {
	at := func(t *testing.T, r *Report, id string, line, column int, pointer, path string) {
		t.Helper()
		for _, f := range r.Findings {
			if f.ID == id {
				if f.Line != line || f.Column != column || f.Pointer != pointer || f.Path != path {
					t.Errorf("%s at %d:%d %s %s, want %d:%d %s %s", id, f.Line, f.Column, f.Pointer, f.Path, line, column, pointer, path)
				}
				return
			}
		}
		t.Errorf("no %s in %q", id, ids(r))
	}
	r := lintClaude(t, testConfig(t), "{\n  \"sandbox\": {\n    \"enabled\": 1,\n    \"filesystem\": {\n      \"allowRead\": [\"é\", \"~/.ssh\"]\n    }\n  }\n}\n")
	at(t, r, "SL102", 3, 16, "/sandbox/enabled", "sandbox.enabled")
	at(t, r, "SL105", 5, 26, "/sandbox/filesystem/allowRead/1", "sandbox.filesystem.allowRead[1]")
	at(t, r, "SL104", 4, 19, "/sandbox/filesystem/denyRead", "sandbox.filesystem.denyRead")
	at(t, r, "SL108", 1, 1, "/permissions", "permissions")

	r = lintOpenCode(t, "// head\n{\n  /* ä */ \"permission\": {\"*\": \"ask\", \"bash\": {\n    \"a.b/c~ *\": \"never\", \"docker *\": \"allow\" } },\n}")
	at(t, r, "O504", 4, 17, "/permission/bash/a.b~1c~0 *", `permission.bash["a.b/c~ *"]`)
	at(t, r, "O506", 4, 38, "/permission/bash/docker *", "permission.bash.docker *")

	r = lintCodex(t, "# top\napproval_policy = \"never\"\n[sandbox_workspace_write]\nnetwork_access = true\n[permissions.p.filesystem]\n\"a/b\" = \"read\"\n", "\n  \nprefix_rule(\n  pattern = [\"docker\"])\n")
	at(t, r, "X702", 2, 19, "/approval_policy", "approval_policy")
	at(t, r, "X703", 4, 18, "/sandbox_workspace_write/network_access", "sandbox_workspace_write.network_access")
	at(t, r, "X716", 6, 9, "/permissions/p/filesystem/a~1b", "permissions.p.filesystem.a/b")
	at(t, r, "X713", 3, 1, "", "prefix_rule")

	r = lintRules(t, "{\n\"permissions\": {},\n\"permissions\": {}\n}")
	at(t, r, "P003", 3, 16, "/permissions", "permissions")
	r = lintRules(t, "{\n\"permissions\": {},\n}")
	at(t, r, "P002", 2, 18, "", "")
	r = lintCodex(t, "a = 1\nb = = 2\n", "")
	at(t, r, "P002", 2, 5, "", "")
}
