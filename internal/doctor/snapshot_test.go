package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sallyport/internal/cli"
)

func TestSnapshotFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "s.json")
	exit := 3
	s := Snapshot{Taken: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Dir: "/p", Results: []Result{{Probe: "p", Status: Fail, Evidence: "e", Exit: &exit, Catalog: "c", Facts: map[string]string{"a": "b"}}}}
	if err := s.Write(file); err != nil {
		t.Fatal(err)
	}
	got, err := ReadSnapshot(file)
	if err != nil || len(got.Results) != 1 || got.Results[0].Facts["a"] != "b" || *got.Results[0].Exit != 3 || !got.Taken.Equal(s.Taken) {
		t.Errorf("read %+v, %v", got, err)
	}
	if err := s.Write(file); err != nil {
		t.Errorf("a snapshot is replaced: %v", err)
	}
	precious := filepath.Join(dir, "precious")
	if err := os.WriteFile(precious, []byte("precious\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(precious, link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{precious, link, dir} {
		if code := exitCode(s.Write(path)); code != cli.ExitRefused {
			t.Errorf("write to %s: exit %d", path, code)
		}
	}
	if text, _ := os.ReadFile(precious); string(text) != "precious\n" {
		t.Errorf("precious file holds %q", text)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"broken":  {"{\n\"kind\": }", ":2:9: "},
		"twice":   {"{\"kind\":\"x\",\n\"kind\":\"y\"}", ":2:1: "},
		"other":   {`{"kind":"x"}`, `kind is "x"`},
		"empty":   {``, ":1:1: "},
		"types":   {`{"kind":1}`, "kind"},
		"status":  {`{"kind":"` + snapshotKind + `","results":[{"status":"\u001b[31mfine"}]}`, "results/0"},
		"deep":    {strings.Repeat("[", 200000), "deep"},
		"escapes": {`{"kind":"\u001b]0;x\u0007"}`, "kind is"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadSnapshot(path)
		if err == nil || exitCode(err) != cli.ExitInput || !strings.Contains(err.Error(), tt.want) && name != "deep" || strings.ContainsAny(err.Error(), "\x1b\x07") {
			t.Errorf("%s: %v, want exit 2 and %q", name, err, tt.want)
		}
	}
	if _, err := ReadSnapshot(filepath.Join(dir, "none")); exitCode(err) != cli.ExitInput || !strings.Contains(err.Error(), "--snapshot") {
		t.Errorf("missing: %v", err)
	}
}

func exitCode(err error) int {
	var exit *cli.ExitError
	if errors.As(err, &exit) {
		return exit.Code
	}
	return 0
}

func TestCompare(t *testing.T) {
	r := func(s Status, cause Cause) Result {
		return Result{Probe: "p", Status: s, Cause: cause, Catalog: "x", Fix: &Fix{}}
	}
	for _, tt := range []struct {
		why                string
		now, then          Result
		inside, thenInside bool
		verdict            string // part of it; empty for no difference
		sandbox            bool
		fixKept            bool
	}{
		{"works on both sides", r(Pass, ""), r(Pass, ""), true, false, "", false, true},
		{"fails on both sides", r(Fail, Unclear), r(Warn, Other), true, false, "not caused by the sandbox", false, false},
		{"fails twice outside", r(Fail, Other), r(Fail, Other), false, false, "not caused by the sandbox", false, true},
		{"fails twice inside", r(Fail, Sandbox), r(Fail, Sandbox), true, true, "says nothing about the cause", false, true},
		{"fails inside only", r(Fail, Unclear), r(Pass, ""), true, false, "caused by the sandbox: it works outside", true, true},
		{"not there outside either", r(Fail, Unclear), r(None, ""), true, false, "", false, false},
		{"something to know inside", r(Warn, Other), r(Pass, ""), true, false, "inside only", false, true},
		{"nothing to probe inside", r(None, ""), r(Fail, Other), true, false, "not caused by the sandbox", false, true},
		{"nothing to probe outside", r(Fail, Sandbox), r(None, ""), true, false, "outside there was nothing to probe", false, true},
		{"the snapshot is from inside", r(Pass, ""), r(Fail, Sandbox), false, true, "works outside and failed inside", true, true},
		{"fails outside only", r(Warn, Other), r(Pass, ""), false, true, "fails outside only", false, true},
		{"changed over time", r(Fail, Sandbox), r(Pass, ""), true, true, "a change over time", false, true},
	} {
		now := []Result{tt.now}
		diffs, same := Compare(now, tt.inside, Snapshot{Inside: tt.thenInside, Results: []Result{tt.then}})
		switch {
		case tt.verdict == "" && (len(diffs) != 0 || same != 1):
			t.Errorf("%s: %+v", tt.why, diffs)
		case tt.verdict != "" && (len(diffs) != 1 || !strings.Contains(diffs[0].Verdict, tt.verdict) || diffs[0].Sandbox != tt.sandbox):
			t.Errorf("%s: %+v, want %q", tt.why, diffs, tt.verdict)
		}
		if now[0].Outside == nil || (now[0].Fix != nil) != tt.fixKept {
			t.Errorf("%s: outside %+v, fix %v, want a fix: %v", tt.why, now[0].Outside, now[0].Fix, tt.fixKept)
		}
	}
	diffs, _ := Compare(nil, true, Snapshot{Results: []Result{{Probe: "old", Status: Fail}}})
	if len(diffs) != 1 || !strings.Contains(diffs[0].Verdict, "not probed now") {
		t.Errorf("a probe that is gone: %+v", diffs)
	}
}

func FuzzReadSnapshot(f *testing.F) {
	f.Add([]byte(`{"kind":"` + snapshotKind + `","results":[{"probe":"p","status":"✓","facts":{"a":"\u001b"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "s")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := ReadSnapshot(file)
		if err == nil {
			Compare(s.Results, true, s)
			for _, r := range s.Results {
				if strings.ContainsAny(r.Evidence+r.Stderr+r.Advice+r.Key(), "\x1b\n\r\x07") {
					t.Errorf("%+v", r)
				}
			}
		}
	})
}
