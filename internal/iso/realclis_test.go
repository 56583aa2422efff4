//go:build unix

package iso

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sallyport/internal/iso/mode"
)

// clientsVariable names a directory into which npm installed the real CLIs;
// scripts/check-sandbox-flags sets it.
const clientsVariable = "SALLYPORT_CLIENTS"

// The options that are injected exist in the help of the real CLIs.
func TestRealCLIs(t *testing.T) {
	dir := os.Getenv(clientsVariable)
	if dir == "" {
		t.Skip("opt-in: scripts/check-sandbox-flags")
	}
	var rows []string
	for _, name := range []string{"claude", "codex", "copilot", "gemini", "opencode"} {
		path := realCLI(dir, name)
		if path == "" {
			t.Errorf("%s is not installed in %s", name, dir)
			continue
		}
		found := version(path, []string{"PATH=" + os.Getenv("PATH")})
		if found == "" {
			t.Errorf("%s does not tell its version", path)
			continue
		}
		c := findCLI(builtin(), name)
		contexts := append([]string{""}, c.Subcommands...)
		checked := map[string]bool{}
		for _, sub := range contexts {
			help := realHelp(t, path, sub)
			for modeName, entry := range c.Modes {
				m, _ := mode.Parse(modeName)
				groups := [][]string{}
				for _, in := range entry.Inject {
					groups = append(groups, in.Args)
				}
				if entry.Headless != nil {
					groups = append(groups, entry.Headless.Args)
				}
				if entry.Settings != nil {
					groups = append(groups, []string{"--settings"})
				}
				if name == "codex" {
					groups = append(groups, []string{"-c"})
					if sub == "exec" && m == mode.ReadOnly {
						groups = append(groups, []string{"--ignore-rules"})
					}
					if sub == "review" {
						groups = [][]string{{"-c"}}
					}
				}
				for _, words := range groups {
					option, _, _ := strings.Cut(words[0], "=")
					if !regexp.MustCompile(`(^|[\s,])` + regexp.QuoteMeta(option) + `($|[\s,=<\[])`).MatchString(help) {
						t.Errorf("%s %s %s: its help does not know %s", name, found, sub, option)
						continue
					}
					checked[option] = true
					// OpenCode's help does not list the agents, the others' list the values.
					if len(words) > 1 && name != "opencode" && !strings.Contains(help, words[1]) {
						t.Errorf("%s %s %s: its help does not know %s %s", name, found, sub, option, words[1])
					}
				}
			}
		}
		options := make([]string, 0, len(checked))
		for option := range checked {
			options = append(options, "`"+option+"`")
		}
		slices.Sort(options)
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |\n", name, found, strings.Join(options, " ")))
	}
	text := "| CLI | version | options found in its help |\n|---|---|---|\n" + strings.Join(rows, "")
	if _, doc := section(t, "checked", text); *update && !t.Failed() {
		if err := os.WriteFile(docPath, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Log("\n" + text)
}

// realCLI finds a CLI that npm installed, also where its install script did
// not run and only the package with the binary is there.
func realCLI(dir, name string) string {
	for _, pattern := range []string{
		"node_modules/@anthropic-ai/claude-code-*/" + name, "node_modules/opencode-*/bin/" + name, "node_modules/.bin/" + name,
	} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, path := range found {
			if exec.Command(path, "--version").Run() == nil {
				return path
			}
		}
	}
	return ""
}

func realHelp(t *testing.T, path, sub string) string {
	t.Helper()
	args := []string{"--help"}
	if sub != "" {
		args = []string{sub, "--help"}
	}
	home := t.TempDir()
	cmd := exec.Command(path, args...)
	cmd.Dir = home
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "COLUMNS=200", "NO_COLOR=1", "COPILOT_AUTO_UPDATE=false", "DISABLE_AUTOUPDATER=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v", path, args, err)
	}
	return string(out)
}
