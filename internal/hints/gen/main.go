// Gen makes Go values and the troubleshooting page from the catalogue.
//
// Usage, in internal/hints:
//
//	go run ./gen
//
// It reads catalog.toml and writes catalog_gen.go and
// ../../docs/sandbox-troubleshooting.md. It refuses a catalogue with any
// problem, a failing sample, or an entry out of order.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sallyport/internal/hints"
)

const source = "catalog.toml"

// outputs are the files made, by path relative to internal/hints.
var outputs = []struct {
	path   string
	render func([]hints.Spec) ([]byte, error)
}{
	{"catalog_gen.go", goSource},
	{"../../docs/sandbox-troubleshooting.md", markdown},
}

func main() {
	if err := generate("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func generate(dir string) error {
	specs, err := load(filepath.Join(dir, source))
	if err != nil {
		return err
	}
	for _, out := range outputs {
		text, err := out.render(specs)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(out.path)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// load reads the catalogue and proves its samples.
func load(path string) ([]hints.Spec, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, problems := hints.Parse(path, raw)
	if len(problems) > 0 {
		return nil, problems[0]
	}
	for i := range file.Specs {
		s := &file.Specs[i]
		if i > 0 && s.Order <= file.Specs[i-1].Order {
			return nil, fmt.Errorf("%s: entry %q is out of order", path, s.ID)
		}
		if errs := s.Check(); len(errs) > 0 {
			return nil, fmt.Errorf("%s: entry %q: %w", path, s.ID, errs[0])
		}
	}
	return file.Specs, nil
}
