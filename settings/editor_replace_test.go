package settings

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	if err := os.WriteFile(path, []byte(`{"a": 1}`), 0o640); err != nil {
		t.Fatal(err)
	}
	e := Editor{State: filepath.Join(dir, "state")}
	if _, err := e.Replace(path, []byte(`{"a": 0}`), []byte(`{}`)); !errors.Is(err, ErrChanged) {
		t.Errorf("text worked out from another: %v, want ErrChanged", err)
	}
	out, err := e.Replace(path, []byte(`{"a": 1}`), []byte(`{"a": 2}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != `{"a": 2}` {
		t.Errorf("file holds %s", got)
	}
	if got, _ := os.ReadFile(out.Backup); string(got) != `{"a": 1}` {
		t.Errorf("backup %q holds %s, want the old text", out.Backup, got)
	}
}
