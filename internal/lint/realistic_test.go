package lint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRealisticSettings lints settings of the shapes that projects publish. The
// files are written for this test; the findings are what their maintainers
// should hear, and nothing else.
func TestRealisticSettings(t *testing.T) {
	noSandbox := []string{"SL101"}
	tests := []struct {
		file     string
		rules    []string // what rules says
		sandbox  []string // SL findings but for SL109
		required int      // SL109
	}{
		{"web-app", nil, noSandbox, 17},
		{"broad-allow", []string{"R309 Bash(git:*)", "R309 Bash(gh:*)", "R309 Bash(docker:*)", "R309 Bash(curl:*)"}, noSandbox, 17},
		{"go-service", nil, noSandbox, 16},
		{"sandboxed-oss", nil, []string{"SL111 /var/run/docker.sock", "SL118", "SL119", "SL121"}, 0},
		{"yolo", []string{"R308 mcp__*", "R309 Bash"}, []string{"SL101", "SL114 bypassPermissions"}, 17},
		{"old-syntax", []string{"R301 Write(src/**)", "R301 MultiEdit(src/**)", "R301 Write(.github/**)", "R305 Read(/tmp/build/**)", "R305 Read(/etc/**)",
			"R306 ../common/*", "R307", "R312 WebFetch(https://docs.rs/*)", "R313 bash(ls)", "R319 Bash(sudo"}, noSandbox, 17},
		{"monorepo-ask", []string{"R302 Bash(gh pr view *)", "R302 Bash(gh pr diff *)", "R304 Bash(gh auth token *)"}, noSandbox, 17},
		{"infra", []string{"R309 Bash(kubectl get *)"}, noSandbox, 17},
		{"agent-toolkit", []string{"R304 Bash(git push --force *)"}, []string{"SL118", "SL119", "SL120 true"}, 0},
		{"hooks-only", nil, []string{"SL101", "SL108"}, 0},
		{"sandbox-minimal", nil, []string{"SL103", "SL115 *", "SL119", "SL121"}, 17},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", "settings", tt.file+".json"))
			if err != nil {
				t.Fatal(err)
			}
			cfg := testConfig(t)
			write(t, cfg, ".claude/settings.json", string(data))
			r := Claude(cfg, ".claude/settings.json", "", false)
			var rules, sandbox []string
			required := 0
			for _, f := range r.Findings {
				text := strings.Trim(f.value, `"`)
				if strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") {
					text = ""
				}
				line := strings.TrimSpace(f.ID + " " + text)
				switch {
				case f.Severity == Info:
				case f.ID == "SL109":
					required++
				case f.ID[0] == 'R':
					rules = append(rules, line)
				default:
					sandbox = append(sandbox, line)
				}
			}
			// In one id the file's order is that of the lists.
			sorted := func(s []string) []string { return slices.Sorted(slices.Values(s)) }
			if !slices.Equal(sorted(rules), sorted(tt.rules)) {
				t.Errorf("rules %q, want %q", rules, tt.rules)
			}
			if !slices.Equal(sorted(sandbox), sorted(tt.sandbox)) || required != tt.required {
				t.Errorf("sandbox %q and %d required denies, want %q and %d", sandbox, required, tt.sandbox, tt.required)
			}
		})
	}
}
