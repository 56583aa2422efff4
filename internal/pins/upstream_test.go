package pins

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sallyport/internal/testenv"
)

func TestUpstream(t *testing.T) {
	const list = `[
		{"tag_name":"v2.0","published_at":"2026-09-28T00:00:00Z","html_url":"https://x.invalid/2.0"},
		{"tag_name":"v1.10","published_at":"2026-09-01T00:00:00Z","html_url":"https://x.invalid/1.10"},
		{"tag_name":"v1.9","published_at":"2026-08-01T00:00:00Z"},
		{"tag_name":"v1.1","published_at":"2026-08-01T00:00:00Z"},
		{"tag_name":"v1.11-rc1","published_at":"2026-09-01T00:00:00Z"},
		{"tag_name":"v1.12","published_at":"2026-09-01T00:00:00Z","prerelease":true},
		{"tag_name":"v1.13","published_at":"2026-09-01T00:00:00Z","draft":true},
		{"tag_name":"v1.14"},
		{"tag_name":"nightly","published_at":"2026-09-01T00:00:00Z"},
		{"tag_name":"$(touch x)","published_at":"2026-09-01T00:00:00Z"}]`
	asked, status, body := 0, 200, list
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://192.0.2.1/list", http.StatusFound)
			return
		}
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("If-None-Match") == `"v1"` && status == 200 {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	defer server.Close()
	c := Client{Cache: t.TempDir()}
	now := time.Date(2026, 9, 30, 0, 0, 0, 0, time.UTC)
	tool := Tool{Version: "1.2", Cooldown: 7}
	for range 2 { // the second answer is "not modified"
		releases, err := c.Releases(t.Context(), server.URL+"/list")
		if err != nil {
			t.Fatal(err)
		}
		best, ok := tool.Candidate(releases, now)
		if !ok || best.Version != "1.10" || best.Page != "https://x.invalid/1.10" {
			t.Errorf("candidate %+v, %v; want 1.10: 2.0 is too young", best, ok)
		}
		if _, ok := (Tool{Version: "1.10", Cooldown: 7}).Candidate(releases, now); ok {
			t.Error("an older release was proposed, or a young one")
		}
		if best, _ := (Tool{Version: "1.10", Cooldown: 1}).Candidate(releases, now); best.Version != "2.0" {
			t.Errorf("with a day of cooldown %+v", best)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
	files, _ := filepath.Glob(filepath.Join(c.Cache, "tools", "*.json"))
	if len(files) != 1 {
		t.Fatalf("cache %v", files)
	}
	if err := os.WriteFile(files[0], []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Releases(t.Context(), server.URL+"/list"); err != nil {
		t.Errorf("a broken cache: %v", err)
	}
	for _, tt := range []struct {
		status     int
		body, want string
	}{
		{403, "", "rate limit"},
		{429, "", "rate limit"},
		{500, "", "status 500"},
		{200, "<html>", "not a list"},
		{200, `{"message":"x"}`, "not a list"},
		{200, strings.Repeat("[", 100000), "not a list"},
		{200, "[" + strings.Repeat(" ", maxAnswer), "too long"},
	} {
		status, body = tt.status, tt.body
		_, err := Client{}.Releases(t.Context(), server.URL+"/list")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%d %.20q: %v, want %q", tt.status, tt.body, err, tt.want)
		}
	}
	for _, address := range []string{"http://192.0.2.1/x", "ftp://x", "file:///etc/passwd", "https://u:p@x.invalid/", "://", ""} {
		if _, err := c.Releases(t.Context(), address); err == nil || !strings.Contains(err.Error(), "not an https") {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := c.Releases(t.Context(), server.URL+"/away"); err == nil {
		t.Error("followed a redirect to plain http elsewhere")
	}
	server.Close()
	if _, err := c.Releases(t.Context(), server.URL+"/list"); err == nil || !strings.Contains(err.Error(), "no connection") {
		t.Errorf("nobody there: %v", err)
	}
}

func TestCheckouts(t *testing.T) {
	home := testenv.Isolate(t)
	up := testenv.Repo(t, filepath.Join(home, "up"))
	testenv.Git(t, home, "clone", "-q", up, "mine")
	testenv.Write(t, filepath.Join(up, "b.txt"), "b\n")
	testenv.Git(t, up, "add", "b.txt")
	testenv.Git(t, up, "commit", "-q", "-m", "second\x1b[31m")
	text := "[checkouts.mine]\npath = \"~/mine\"\nremote = \"" + up + "\"\nbranch = \"main\"\n[checkouts.other]\npath = \"~/mine\"\nremote = \"https://x.invalid/\"\nbranch = \"main\"\n[checkouts.none]\npath = \"~/none\"\nbranch = \"main\"\n"
	list, err := Checkouts([]Layer{layer("mine", text)})
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	look := func(c Checkout, offline bool) CheckoutState {
		return c.Look(t.Context(), home, offline, os.Environ(), os.Getenv)
	}
	if s := look(list[0], true); s.Behind != 0 || !strings.Contains(s.Note, "offline") {
		t.Errorf("offline: %+v", s)
	}
	if s := look(list[0], false); s.Behind != 1 || len(s.New) != 1 || !strings.HasPrefix(s.New[0], "second") {
		t.Errorf("%+v", s)
	}
	if _, err := os.Stat(filepath.Join(home, "mine/b.txt")); err == nil {
		t.Error("the working tree changed")
	}
	if s := look(list[1], false); s.Behind != -1 || !strings.Contains(s.Note, "not a repository") {
		t.Errorf("no repository: %+v", s)
	}
	if s := look(list[2], false); s.Behind != -1 || !strings.Contains(s.Note, "expected https://x.invalid/") {
		t.Errorf("another remote: %+v", s)
	}
	if _, err := Checkouts([]Layer{{File: "r", Data: []byte(text), Foreign: true}}); err == nil {
		t.Error("a repository's file had git run somewhere")
	}
	if _, err := Checkouts([]Layer{layer("m", "[checkouts.a]\npath = \"x\"\nbranch = \"--upload-pack=x\"\n")}); err == nil {
		t.Error("a branch that git takes for an option")
	}
}
