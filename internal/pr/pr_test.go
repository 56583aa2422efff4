package pr

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"sallyport/internal/cache"
	"sallyport/internal/testenv"
)

func TestCached(t *testing.T) {
	store := cache.Store{Dir: t.TempDir()}
	now := time.Now()
	hit := Answer{Number: 12, Title: "Add a step", URL: "https://example.com/12"}
	for _, tt := range []struct {
		name   string
		answer *Answer
		age    time.Duration
		number int64 // known from elsewhere
		fresh  bool
	}{
		{"nothing stored", nil, 0, 0, false},
		{"hit", &hit, 4 * time.Minute, 0, true},
		{"hit, old", &hit, 6 * time.Minute, 0, false},
		{"miss", &Answer{}, 50 * time.Second, 0, true},
		{"miss, old", &Answer{}, 70 * time.Second, 0, false},
		{"hit about the number the client names", &hit, 4 * time.Minute, 12, true},
		{"hit about another number", &hit, 4 * time.Minute, 13, false},
		{"hit about another number, asked just now", &hit, 30 * time.Second, 13, true},
		{"written in the future", &hit, -time.Hour, 0, false},
	} {
		key := Key("/repo/.git", tt.name)
		if tt.answer != nil {
			if err := store.Put(key, tt.answer); err != nil {
				t.Fatal(err)
			}
			at := now.Add(-tt.age)
			if err := os.Chtimes(filepath.Join(store.Dir, key), at, at); err != nil {
				t.Fatal(err)
			}
		}
		got, fresh := Cached(store, key, tt.number, now)
		if fresh != tt.fresh || tt.answer != nil && got != *tt.answer {
			t.Errorf("%s: Cached = %+v, %v; want %+v, %v", tt.name, got, fresh, tt.answer, tt.fresh)
		}
	}
	if Key("/a", "b") == Key("/a", "c") || Key("/a", "b") == Key("/ab", "") {
		t.Error("two branches share a key")
	}
}

func TestCacheFileThatIsNone(t *testing.T) {
	store := cache.Store{Dir: t.TempDir()}
	for name, text := range map[string]string{
		"torn": `{"number": 12, "ti`, "empty": "", "array": "[1]", "deep": strings.Repeat("[", 50000),
		"text": "hello", "wrong type": `{"number": "x"}`, "large": `{"number":1,"title":"` + strings.Repeat("x", 100<<10) + `"}`,
	} {
		key := Key("/repo", name)
		testenv.Write(t, filepath.Join(store.Dir, key), text)
		if got, fresh := Cached(store, key, 0, time.Now()); fresh || got != (Answer{}) {
			t.Errorf("%s: Cached = %+v, %v; want nothing", name, got, fresh)
		}
	}
}

func fakeGH(t *testing.T, script string) (dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake gh is a shell script")
	}
	home := testenv.Isolate(t)
	gh := filepath.Join(home, "bin", "gh")
	testenv.Write(t, gh, "#!/bin/sh\n"+script)
	os.Chmod(gh, 0o755)
	t.Setenv("PATH", filepath.Dir(gh)+":"+os.Getenv("PATH"))
	return home
}

func ask(ctx context.Context, dir string) Answer { return Ask(ctx, dir, os.Environ(), os.Getenv) }

func TestAsk(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		want         Answer
	}{
		{
			"answer", `[ "$*" = "pr view --json number,title,url" ] || exit 9; echo '{"number":12,"title":"Add a step","url":"https://example.com/12"}'`,
			Answer{12, "Add a step", "https://example.com/12"},
		},
		{"no pull request", `echo 'no pull requests found for branch "x"' >&2; exit 1`, Answer{}},
		{"not JSON", `echo hello`, Answer{}},
		{"deep", `head -c 60000 /dev/zero | tr '\0' '['`, Answer{}},
		{"number is text", `echo '{"number":"12","title":"t"}'`, Answer{}},
		{"number is negative", `echo '{"number":-1}'`, Answer{}},
		{"title is an object", `echo '{"number":1,"title":{"a":1}}'`, Answer{Number: 1}},
		{"answer and failure", `echo '{"number":12,"title":"t"}'; exit 1`, Answer{}},
		{"the repository's fsmonitor is off for its git", `git config core.fsmonitor >/dev/null || exit 1; echo "{\"number\":1,\"title\":\"$(git config core.fsmonitor)\"}"`, Answer{Number: 1, Title: "false"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := fakeGH(t, tt.script)
			repo := testenv.Repo(t, filepath.Join(home, "repo"))
			testenv.Git(t, repo, "config", "core.fsmonitor", "/bin/false")
			if got := ask(context.Background(), repo); got != tt.want {
				t.Errorf("Ask = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	home := fakeGH(t, "sleep 60 & sleep 60")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	if got := ask(ctx, home); got != (Answer{}) {
		t.Errorf("Ask of a gh that hangs = %+v", got)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("Ask took %v", took)
	}
}

func TestNoGH(t *testing.T) {
	home := testenv.Isolate(t)
	t.Setenv("PATH", home)
	if got := ask(context.Background(), home); got != (Answer{}) {
		t.Errorf("Ask without gh = %+v", got)
	}
}

func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(`{"number":12,"title":"t","url":"https://example.com"}`))
	f.Add([]byte(`{"number":1e309}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		a, err := parseAnswer(in)
		if err == nil && a.Number < 1 {
			t.Errorf("parseAnswer(%q) = %+v", in, a)
		}
		if u := SafeURL(a.URL); u != "" && strings.ContainsAny(u, "\x1b\x07\n ") {
			t.Errorf("SafeURL lets %q through", u)
		}
	})
}
