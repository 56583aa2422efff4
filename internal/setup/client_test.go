package setup

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// The client is started once, and again when its file or a day has passed.
func TestClientVersionIsKept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the client of this test is a shell script")
	}
	dir := t.TempDir()
	client, log := filepath.Join(dir, "bin", "claude"), filepath.Join(dir, "log")
	put := func(version string) {
		text := "#!/bin/sh\necho x >>'" + log + "'\necho '" + version + "'\n"
		if err := os.MkdirAll(filepath.Dir(client), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(client, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	environ := []string{"HOME=" + dir, "PATH=relative:" + filepath.Dir(client) + ":/usr/bin:/bin"}
	starts := func(want int, version string) {
		t.Helper()
		os.Remove(log)
		got := ClientVersion(environ)
		data, _ := os.ReadFile(log)
		if got != version || len(data)/2 != want {
			t.Errorf("version %q after %d starts, want %q after %d", got, len(data)/2, version, want)
		}
	}
	starts(0, "")
	put("2.1.210 (Claude Code)")
	starts(1, "2.1.210")
	starts(0, "2.1.210")
	put("2.1.3320 (Claude Code)") // another size
	starts(1, "2.1.3320")
	cache := filepath.Join(dir, ".cache/sallyport/client-version")
	old := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(cache, old, old); err != nil {
		t.Fatal(err)
	}
	starts(1, "2.1.3320")
	if err := os.WriteFile(cache, []byte("garbage \x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	starts(1, "2.1.3320")
	put("no version")
	starts(1, "")
	starts(1, "")
}
