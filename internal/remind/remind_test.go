package remind

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestDecide(t *testing.T) {
	no := false
	for _, tt := range []struct {
		why      string
		machine  State
		project  State
		interval int
		unused   bool
		want     Reason
		days     int
	}{
		{"just updated", State{Fingerprint: "f", UpdatedAt: "2026-10-01"}, State{}, 7, false, "", 0},
		{"six days", State{Fingerprint: "f", UpdatedAt: "2026-09-25"}, State{}, 7, false, "", 0},
		{"seven days", State{Fingerprint: "f", UpdatedAt: "2026-09-24"}, State{}, 7, false, Due, 7},
		{"reminded since", State{Fingerprint: "f", UpdatedAt: "2026-09-01", RemindedAt: "2026-09-30"}, State{}, 7, false, "", 0},
		{"reminded long ago", State{Fingerprint: "f", UpdatedAt: "2026-08-01", RemindedAt: "2026-09-01"}, State{}, 7, false, Due, 30},
		{"updated in the project", State{Fingerprint: "f", UpdatedAt: "2026-08-01"}, State{UpdatedAt: "2026-09-30"}, 7, false, "", 0},
		{"another build", State{Fingerprint: "old", UpdatedAt: "2026-10-01"}, State{}, 7, false, Changed, 0},
		{"another build, spoken of", State{Fingerprint: "old", UpdatedAt: "2026-10-01", Acknowledged: "f"}, State{}, 7, false, "", 0},
		{"yet another build", State{Fingerprint: "old", UpdatedAt: "2026-10-01", Acknowledged: "g"}, State{}, 7, false, Changed, 0},
		{"changed comes first", State{Fingerprint: "old", UpdatedAt: "2026-01-01"}, State{}, 7, false, Changed, 0},
		{"no timer, another build", State{Fingerprint: "old", UpdatedAt: "2026-01-01"}, State{}, 0, false, Changed, 0},
		{"no timer", State{Fingerprint: "f", UpdatedAt: "2026-01-01"}, State{}, 0, false, "", 0},
		{"off", State{Fingerprint: "old", Enabled: &no}, State{}, 7, false, "", 0},
		{"off in the project", State{Fingerprint: "old"}, State{Enabled: &no}, 7, false, "", 0},
		{"snoozed", State{Fingerprint: "old", SnoozedUntil: "2026-10-02"}, State{}, 7, false, "", 0},
		{"snooze is over", State{Fingerprint: "old", SnoozedUntil: "2026-10-01"}, State{}, 7, false, Changed, 0},
		{"never looked at", State{}, State{}, 7, false, Due, -1},
		{"a clock that went back", State{Fingerprint: "f", UpdatedAt: "2027-01-01"}, State{}, 7, false, "", 0},
		{"not used here", State{Fingerprint: "old"}, State{}, 7, true, "", 0},
	} {
		reason, days := Decide(Look{Now: time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC), Fingerprint: "f", Machine: tt.machine, Project: tt.project, Interval: tt.interval, Used: !tt.unused})
		if reason != tt.want || days != tt.days && reason != "" {
			t.Errorf("%s: %q %d, want %q %d", tt.why, reason, days, tt.want, tt.days)
		}
	}
	for _, m := range []string{Message(Changed, 0), Message(Due, 9), Message(Due, -1)} {
		if n := strings.Count(m, "\n"); n > 1 || strings.HasSuffix(m, "\n") {
			t.Errorf("more than two lines: %q", m)
		}
	}
}

func TestStateFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "state", "remind.json")
	if s, err := Read(file); err != nil || s.UpdatedAt != "" {
		t.Errorf("missing: %+v, %v", s, err)
	}
	if err := Write(file, map[string]any{"updated_at": "2026-10-01", "enabled": false}); err != nil {
		t.Fatal(err)
	}
	// What a newer version keeps there stays.
	if err := os.WriteFile(file, []byte("{\n\t\"future\": 1.50,\n\t\"updated_at\": \"2026-10-01\"\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(file, map[string]any{"updated_at": "2026-10-02", "acknowledged": "f"}); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(file)
	if want := "{\n\t\"future\": 1.50,\n\t\"updated_at\": \"2026-10-02\",\n\t\"acknowledged\": \"f\"\n}\n"; string(data) != want {
		t.Errorf("%s\nwant\n%s", data, want)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"broken": {"{\n\"a\": }", ":2:6: "},
		"twice":  {"{\"enabled\":true,\n\"enabled\":false}", ":2:1: "},
		"array":  {"[]", "not an object"},
		"types":  {`{"enabled":"no"}`, "enabled"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if err := Write(path, map[string]any{"updated_at": "2026-10-02"}); err == nil {
			t.Errorf("%s: written", name)
		}
		if now, _ := os.ReadFile(path); string(now) != tt.text {
			t.Errorf("%s: holds %q", name, now)
		}
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(file, link); err == nil {
		if err := Write(link, map[string]any{"updated_at": "2026-10-03"}); err == nil {
			t.Error("written through a link")
		}
	}
}

func TestParallelWritesLoseNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "remind.json")
	var wait sync.WaitGroup
	for i, name := range []string{"fingerprint", "updated_at", "reminded_at", "acknowledged", "snoozed_until"} {
		wait.Go(func() {
			if err := Write(file, map[string]any{name: fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	s, err := Read(file)
	if err != nil || s.Fingerprint != "0" || s.UpdatedAt != "1" || s.RemindedAt != "2" || s.Acknowledged != "3" || s.SnoozedUntil != "4" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestInterval(t *testing.T) {
	for _, tt := range []struct {
		why, local, shared string
		want               int
		problem            string
	}{
		{"none", "", "", 7, ""},
		{"shared", "", "update_interval_days = 30\n", 30, ""},
		{"local wins", "update_interval_days = 0\n", "update_interval_days = 30\n", 0, ""},
		{"local is about something else", "x = 1\n", "update_interval_days = 30\n", 30, ""},
		{"negative", "\nupdate_interval_days = -1\n", "", 7, "config.toml:2: "},
		{"text", "", "update_interval_days = \"often\"\n", 7, "config.toml:1: "},
		{"broken", "update_interval_days =\n", "", 7, "config.toml:1:"},
		{"deep", "x = " + strings.Repeat("[", 100000), "", 7, "nested"},
	} {
		root := t.TempDir()
		for dir, text := range map[string]string{".sallyport-local": tt.local, ".sallyport": tt.shared} {
			os.Mkdir(filepath.Join(root, dir), 0o755)
			if text != "" {
				if err := os.WriteFile(filepath.Join(root, dir, "config.toml"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		days, err := Interval(root)
		if days != tt.want || (err != nil) != (tt.problem != "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s: %d, %v; want %d, %q", tt.why, days, err, tt.want, tt.problem)
		}
	}
}
