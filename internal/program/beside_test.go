package program

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"sallyport/internal/testenv"
)

func TestBeside(t *testing.T) {
	dir := testenv.Dir(t)
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	self := filepath.Join(dir, "suite", "one"+suffix)
	other := filepath.Join(dir, "suite", "other"+suffix)
	testenv.Write(t, self, "")
	testenv.Write(t, other, "")
	testenv.Write(t, filepath.Join(dir, "bin", "readme"), "")
	link := filepath.Join(dir, "bin", "one"+suffix)
	if err := os.Symlink(self, link); err != nil {
		t.Skip(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "suite", "folder"+suffix), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ self, name, want string }{
		{self, "other", other},
		{link, "other", other},
		{self, "none", ""},
		{self, "folder", ""},
		{"", "other", ""},
	} {
		if got, ok := Beside(tt.self, tt.name); got != tt.want || ok != (tt.want != "") {
			t.Errorf("Beside(%q, %q) = %q %v, want %q", tt.self, tt.name, got, ok, tt.want)
		}
	}
}
