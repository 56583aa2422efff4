package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestUpdateDecidesUnderTheLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".claude", "settings.json")
	missing := func(entry string) func(Node) ([]Change, error) {
		return func(root Node) (changes []Change, err error) {
			found := false
			root.Get("list").Each(func(_ string, n Node) bool {
				text, _ := n.Text()
				found = found || text == entry
				return true
			})
			if !found {
				changes = append(changes, Append(entry, "list"))
			}
			return changes, nil
		}
	}
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			e := &Editor{State: filepath.Join(dir, "state")}
			if _, err := e.Update(path, missing(fmt.Sprint("e", i%4))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if n := strings.Count(string(data), fmt.Sprintf(`"e%d"`, i)); n != 1 {
			t.Errorf("e%d stands %d times in\n%s", i, n, data)
		}
	}
}

func TestUpdateRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	e := &Editor{}
	no := errors.New("no")
	refuse := func(root Node) ([]Change, error) {
		if root.Kind() != Absent {
			t.Errorf("the root of a missing file is %v", root.Kind())
		}
		return nil, no
	}
	for _, f := range []func(string, func(Node) ([]Change, error)) (Edited, error){e.Update, e.PreviewUpdate} {
		if _, err := f(path, refuse); !errors.Is(err, no) {
			t.Errorf("error %v, want %v", err, no)
		}
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the file was made")
	}
	for _, text := range []string{"{", `{"a": 1, "a": 2}`, "\xef\xbb\xbf{}"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := e.Update(path, func(Node) ([]Change, error) { return []Change{Set(1, "b")}, nil })
		var syntax *SyntaxError
		if got, _ := os.ReadFile(path); !errors.As(err, &syntax) || string(got) != text {
			t.Errorf("%q became %q, error %v", text, got, err)
		}
	}
}
