package regularfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	exact, over, empty := write("exact", strings.Repeat("x", 2048)), write("over", strings.Repeat("x", 2049)), write("empty", "")
	if got, err := Read(exact, 2048); err != nil || len(got) != 2048 {
		t.Errorf("file of the bound: %d bytes, %v", len(got), err)
	}
	if got, err := Read(empty, 2048); err != nil || len(got) != 0 {
		t.Errorf("empty file: %d bytes, %v", len(got), err)
	}
	var large *TooLargeError
	if _, err := Read(over, 2048); !errors.As(err, &large) || err.Error() != "larger than 2 KiB" {
		t.Errorf("file over the bound: %v, want larger than 2 KiB", err)
	}
	if _, err := Read(filepath.Join(dir, "none"), 2048); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v, want ErrNotExist", err)
	}
	if _, err := Read(dir, 2048); !errors.Is(err, ErrNotRegular) {
		t.Errorf("directory: %v, want ErrNotRegular", err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(exact, link); err == nil {
		if got, err := Read(link, 2048); err != nil || len(got) != 2048 {
			t.Errorf("link to a file: %d bytes, %v", len(got), err)
		}
	}
}
