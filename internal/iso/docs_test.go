package iso

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"sallyport/internal/iso/mode"
)

var update = flag.Bool("update", false, "rewrite the generated parts of docs/sandbox-modes.md")

const docPath = "../../docs/sandbox-modes.md"

// section returns the text between a generated part's markers, and the
// document with another text there.
func section(t *testing.T, name, replacement string) (old, doc string) {
	t.Helper()
	data, err := os.ReadFile(docPath)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), "<!-- "+name+":")
	line, rest, ok2 := strings.Cut(rest, "\n")
	old, tail, ok3 := strings.Cut(rest, "<!-- /"+name+" -->")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%s has no part %s", docPath, name)
	}
	return old, head + "<!-- " + name + ":" + line + "\n" + replacement + "<!-- /" + name + " -->" + tail
}

// The table in the documentation is the table that is used.
func TestDocumentedTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("| CLI (checked with) | read-only | restricted | workspace-write | without a flag |\n|---|---|---|---|---|\n")
	var rest []string
	for _, c := range builtin() {
		if len(c.Modes) == 0 {
			rest = append(rest, c.Name)
			continue
		}
		name := "**" + c.Name + "**"
		if c.Checked != "" {
			name += " (" + c.Checked + ")"
		}
		cells := []string{name}
		for _, m := range []mode.Mode{mode.ReadOnly, mode.Restricted, mode.WorkspaceWrite} {
			cells = append(cells, cell(c.Modes[m.String()]))
		}
		fmt.Fprintf(&b, "| %s | %s / %s |\n", strings.Join(cells, " | "), c.Default.Native, c.Default.Approvals)
	}
	fmt.Fprintf(&b, "| %s | - | - | - | none / on |\n", strings.Join(rest, ", "))
	old, doc := section(t, "table", b.String())
	if *update {
		if err := os.WriteFile(docPath, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old != b.String() {
		t.Errorf("%s is not in step with the table; run go test ./internal/iso -run TestDocumentedTable -update\n got %s\nwant %s", docPath, old, b.String())
	}
}

func cell(m *modeEntry) string {
	if m == nil {
		return "-"
	}
	var parts []string
	if m.Settings != nil {
		parts = append(parts, "`--settings "+compact(m.Settings)+"`")
	}
	for _, in := range m.Inject {
		parts = append(parts, "`"+strings.Join(in.Args, " ")+"`")
	}
	if m.Headless != nil {
		parts = append(parts, "with `"+strings.Join(m.Headless.When, "`/`")+"` also `"+strings.Join(m.Headless.Args, " ")+"`")
	}
	for _, name := range slices.Sorted(maps.Keys(m.Set)) {
		parts = append(parts, "`"+name+"="+m.Set[name]+"`")
	}
	for _, name := range m.Unset {
		parts = append(parts, "`"+name+"` removed")
	}
	if len(parts) == 0 {
		parts = append(parts, "(nothing)")
	}
	return strings.Join(parts, ", ") + ". " + m.Level
}

// Every id, caveat and file that the documentation names is real, and every
// caveat of the table is explained.
func TestDocumentedWords(t *testing.T) {
	data, err := os.ReadFile(docPath)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	for _, c := range builtin() {
		for _, m := range c.Modes {
			for _, caveat := range slices.Concat(m.Caveats, m.PlatformCaveat["darwin"]) {
				if !strings.Contains(doc, "`"+caveat+"`") {
					t.Errorf("%s does not explain the caveat %s", docPath, caveat)
				}
			}
		}
	}
	for _, id := range []string{"E-USAGE", "E-UNSUPPORTED", "E-CONFLICT", "E-FLOOR", "E-PREREQ", codexProfile, codexProject, codexRules, openCodeLoosens, openCodeWidened} {
		if !strings.Contains(doc, "`"+id+"`") {
			t.Errorf("%s does not explain %s", docPath, id)
		}
	}
}
