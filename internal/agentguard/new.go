package agentguard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sallyport/guards"
	"sallyport/guards/plugin"
	"sallyport/internal/cli"
	"sallyport/internal/dirs"
)

// New writes the skeleton of a guard with its test. kind is toml, star or py;
// dir is empty for the person's own directory.
func New(p *cli.Process, words []string, kind, dir string) error {
	if len(words) != 1 {
		return cli.Usagef("new takes the name of the guard")
	}
	name := words[0]
	if !plugin.ValidName(name) {
		return cli.Usagef("the name %q must be lower case letters and digits, with single hyphens between them", name)
	}
	for _, g := range guards.Bundled() {
		if g.Name == name {
			return cli.Usagef("a guard of the product is named %s already", name)
		}
	}
	switch {
	case dir == "":
		config := dirs.Config(p.Getenv)
		if config == "" {
			return cli.Exitf(cli.ExitInput, "there is no configuration directory: set HOME, or name a directory with --dir")
		}
		dir = filepath.Join(config, "guards.d")
	case !filepath.IsAbs(dir):
		dir = filepath.Join(p.Dir(), dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cli.Exitf(cli.ExitInput, "%v", err)
	}
	path := filepath.Join(dir, name+"."+kind)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return cli.Exitf(cli.ExitRefused, "%s exists; it was not touched", cleanLine(path))
	}
	if err != nil {
		return cli.Exitf(cli.ExitInput, "%v", err)
	}
	_, err = f.WriteString(plugin.Skeleton(name, kind))
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		os.Remove(path)
		return cli.Exitf(cli.ExitInput, "%v", err)
	}
	fmt.Fprintf(p.Stdout, "wrote %s\nnext: edit it, then run agent-guard test %s\n", cleanLine(path), cleanLine(quoteAll([]string{path})))
	return nil
}
