package gather

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sallyport/internal/pr"
	"sallyport/internal/statusline"
)

func TestRealPayloads(t *testing.T) {
	files, _ := filepath.Glob("testdata/statusLine-*.json")
	if len(files) == 0 {
		t.Fatal("no payloads in testdata")
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		p, ok := ReadPayload(f, time.Minute)
		f.Close()
		if !ok || p.Model != "Opus 5.5" || !strings.HasPrefix(p.CurrentDir, "/home/dev/project") || p.Version != "2.1.332" ||
			p.Effort != "medium" || p.Style != "default" || !p.Cost.Known {
			t.Errorf("%s read as %+v, %v", file, p, ok)
		}
		if want := !strings.Contains(file, "start") && !strings.Contains(file, "worktree"); p.Context.Known != want {
			t.Errorf("%s: context known = %v, want %v", file, p.Context.Known, want)
		}
		if strings.Contains(file, "after-cd") && (p.current("/x") != "/home/dev/project/sub" || p.Start() != "/home/dev/project" || p.RepoHost != "github.com") {
			t.Errorf("%s: current %q, start %q, host %q", file, p.current("/x"), p.Start(), p.RepoHost)
		}
	}
}

func TestReadPayload(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     Payload
		ok       bool
	}{
		{"empty", "", Payload{}, false},
		{"blank", " \n", Payload{}, false},
		{"broken", "{oops", Payload{}, false},
		{"closed but broken", "{oops}", Payload{}, false},
		{"array", "[1]", Payload{}, false},
		{"null", "null", Payload{}, false},
		{"empty object", "{}", Payload{}, true},
		{"only the first value", `{"cwd":"/a"}{"cwd":"/b"}`, Payload{CurrentDir: "/a"}, true},
		{"byte order mark", "\ufeff" + `{"cwd":"/a"}`, Payload{CurrentDir: "/a"}, true},
		{"braces and quotes in strings", `{"cwd":"/a}\"{","version":"1"}`, Payload{CurrentDir: `/a}"{`, Version: "1"}, true},
		{"workspace before cwd", `{"cwd":"/a","workspace":{"current_dir":"/b","project_dir":"/c"}}`, Payload{CurrentDir: "/b", ProjectDir: "/c"}, true},
		{"model id", `{"model":{"id":"m-1"}}`, Payload{Model: "m-1"}, true},
		{"model as text", `{"model":"m-1"}`, Payload{Model: "m-1"}, true},
		{"wrong types", `{"cwd":1,"workspace":[],"model":{"display_name":{}},"pr":{"number":"x","url":3},"cost":7,"context_window":{"used_percentage":"1"}}`, Payload{}, true},
		{"huge number", `{"pr":{"number":1e300}}`, Payload{}, true},
		{
			"pull request", `{"pr":{"number":7,"url":"https://x/7","review_state":"approved","kind":"mr"}}`,
			Payload{PR: pr.PR{Number: 7, URL: "https://x/7", Review: "approved", Kind: "mr"}}, true,
		},
		{
			"limits", `{"rate_limits":{"five_hour":{"used_percentage":12.5,"resets_at":100},"seven_day":null}}`,
			Payload{Limits: statusline.Limits{FiveHour: statusline.Limit{Known: true, Percent: 12.5, ResetsAt: time.Unix(100, 0)}}}, true,
		},
		{"nested too deep", `{"a":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + "}", Payload{}, false},
		{"deep, but not too deep", `{"cwd":"/a","a":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + "}", Payload{CurrentDir: "/a"}, true},
	} {
		p, ok := ReadPayload(strings.NewReader(tt.in), time.Minute)
		if p != tt.want || ok != tt.ok {
			t.Errorf("%s: ReadPayload = %+v, %v; want %+v, %v", tt.name, p, ok, tt.want, tt.ok)
		}
	}
}

// The client may keep its end of the pipe open.
func TestReadPayloadDoesNotWaitForTheEnd(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, `{"cwd":"/a"}`)
	if p, ok := ReadPayload(r, time.Minute); !ok || p.CurrentDir != "/a" {
		t.Errorf("ReadPayload of an open pipe = %+v, %v", p, ok)
	}
}

func TestReadPayloadGivesUp(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	if p, ok := ReadPayload(r, 10*time.Millisecond); ok || p != (Payload{}) {
		t.Errorf("ReadPayload of a silent pipe = %+v, %v", p, ok)
	}
}

func TestReadPayloadIsBounded(t *testing.T) {
	r := io.MultiReader(strings.NewReader(`{"a":"`), endless{})
	if _, ok := ReadPayload(r, time.Minute); ok {
		t.Error("ReadPayload took an endless value")
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func FuzzReadPayload(f *testing.F) {
	f.Add(`{"cwd":"/a","model":{"id":"m"}}`)
	f.Add(`{"pr":{"number":7}} trailing`)
	f.Add("\xef\xbb\xbf{}")
	f.Fuzz(func(t *testing.T, in string) {
		p, ok := ReadPayload(strings.NewReader(in), time.Minute)
		if !ok && p != (Payload{}) {
			t.Errorf("ReadPayload(%q) = %+v without ok", in, p)
		}
	})
}

func BenchmarkReadPayload(b *testing.B) {
	data, err := os.ReadFile("testdata/statusLine-after-turn.json")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		ReadPayload(strings.NewReader(string(data)), time.Minute)
	}
}
