package lint

import (
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

func TestManualIsGenerated(t *testing.T) {
	golden(t, filepath.Join("..", "..", "docs", "lint-rules.md"), []byte(Manual()))
}

func TestRulesAreComplete(t *testing.T) {
	seen := make(map[string]bool)
	id := regexp.MustCompile(`^(P|SL|BL|R|M|O|K|X|H)\d+$`)
	for _, r := range Rules() {
		if !id.MatchString(r.ID) || seen[r.ID] {
			t.Errorf("id %q is malformed or stands twice", r.ID)
		}
		seen[r.ID] = true
		for what, text := range map[string]string{"summary": r.Summary, "why": r.Why, "example": r.Example, "fix": r.Fix} {
			if text == "" {
				t.Errorf("%s has no %s", r.ID, what)
			}
		}
	}
	hard := []string{"P003", "SL101", "SL102", "SL103", "SL104", "SL105", "SL106", "SL107", "SL108", "SL109", "SL111", "O501", "O502", "O503", "O505", "O506", "O507", "O509",
		"K601", "K602", "K603", "K604", "K605", "X701", "X702", "X703", "X704", "X705", "X706", "X707", "X708", "X709", "X710", "X711", "X712", "X713", "X715", "H801", "H802", "H803"}
	for _, r := range Rules() {
		if want := slices.Contains(hard, r.ID); r.Hard != want {
			t.Errorf("%s: hard %v, want %v", r.ID, r.Hard, want)
		}
	}
}
