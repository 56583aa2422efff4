package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"sallyport/internal/atomicfile"
	"sallyport/internal/cli"
	"sallyport/internal/dirs"
	"sallyport/internal/lint"
	"sallyport/internal/term"
	"sallyport/settings"
)

func clean(s string) string { return term.Clean(s, 0) }

func resolve(p *cli.Process, file string) string {
	if !filepath.IsAbs(file) {
		return filepath.Join(p.Dir(), file)
	}
	return file
}

func writeFile(path string, data []byte) error { return atomicfile.Write(path, data, 0o644) }

// fix shows what can be mended in the settings file and writes it after a yes.
// What cannot be read or parsed is left to the report.
func fix(p *cli.Process, cfg lint.Config, o *options) error {
	file := o.settings.or(defaultSettings)
	path := resolve(p, file)
	if report := lint.RulesOnly(cfg, []string{file}); report.Exit(false) == lint.ExitInput {
		return nil
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	mended, err := lint.Mend(cfg, file, old)
	if err != nil {
		fmt.Fprintf(p.Stderr, "%s: %s: not mended: %v\n", name, clean(file), err)
		return nil
	}
	if bytes.Equal(old, mended) {
		return nil
	}
	p.Stderr.Write(unified(file, old, mended))
	if !o.yes {
		fmt.Fprintf(p.Stderr, "Write %s? [y/N] ", clean(file))
		answer, _ := bufio.NewReader(p.Stdin).ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
		default:
			fmt.Fprintf(p.Stderr, "%s: nothing was written\n", name)
			return nil
		}
	}
	editor := settings.Editor{State: dirs.State(p.Getenv), Mode: 0o644}
	edited, err := editor.Replace(path, old, mended)
	if err != nil {
		return cli.Exitf(cli.ExitInput, "%v", err)
	}
	fmt.Fprintf(p.Stderr, "%s: wrote %s; the file as it was: %s\n", name, clean(file), clean(edited.Backup))
	return nil
}

// unified is a diff that is safe to print.
func unified(file string, before, after []byte) []byte {
	_, text, _ := bytes.Cut(diff.Diff(file, before, file+" (mended)", after), []byte("\n"))
	var b bytes.Buffer
	for line := range strings.Lines(string(text)) {
		for i, part := range strings.Split(strings.TrimRight(line, "\r\n"), "\t") {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(clean(part))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// baseline copies the settings to the baseline if they hold the invariants.
func baseline(p *cli.Process, cfg lint.Config, o *options) error {
	file := o.settings.or(defaultSettings)
	expected := o.expected.or("")
	if expected == "" {
		expected = lint.FindBaseline(cfg)
	}
	report := lint.Claude(cfg, file, "", false)
	broken := report.Invariants()
	if broken.Exit(false) != lint.ExitClean {
		broken.Human(p.Stderr, true)
		return &cli.ExitError{Code: broken.Exit(false), Err: errors.New("the settings break an invariant, no baseline was written")}
	}
	data, err := os.ReadFile(resolve(p, file))
	if err != nil {
		return cli.Exitf(cli.ExitInput, "%v", err)
	}
	path := resolve(p, expected)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return cli.Exitf(cli.ExitInput, "%v", err)
	}
	if err := writeFile(path, data); err != nil {
		return cli.Exitf(cli.ExitInput, "%v", err)
	}
	if !o.quiet {
		fmt.Fprintf(p.Stdout, "%s: wrote %s\n", name, clean(expected))
	}
	return nil
}
