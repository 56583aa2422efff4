package agentguard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/guards"
	"sallyport/guards/plugin"
	"sallyport/internal/cli"
	"sallyport/internal/guardcases"
	"sallyport/internal/term"
)

// Test runs the examples that the guards carry, or the cases of files, and
// prints those that fail. A file can be a guard with inline cases.
func Test(p *cli.Process, opt *Options, files []string) error {
	s := newSession(p, opt, p.Dir())
	defer s.close()
	dir, err := os.MkdirTemp("", "agent-guard-test")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	lab, err := guardcases.NewLab(dir)
	if err != nil {
		return cli.Exitf(cli.ExitInput, "%v", err)
	}
	var cases []guardcases.Case
	var broken []string
	set := s.plugins
	var guardFiles []string
	files = slices.DeleteFunc(slices.Clone(files), func(f string) bool {
		if isGuardFile(f) {
			guardFiles = append(guardFiles, absolute(p, f))
			return true
		}
		return false
	})
	if len(guardFiles) > 0 {
		if set, err = plugin.LoadFiles(testOptions(p), guardFiles, guards.Bundled()); err != nil {
			return cli.Exitf(cli.ExitInput, "%v", err)
		}
		defer set.Close()
		s.all = append(slices.Clone(s.all), set.Guards...)
	}
	if len(guardFiles) > 0 || len(files) == 0 {
		cases, broken = pluginCases(set)
		if opt.Guards != nil && len(guardFiles) == 0 {
			cases = slices.DeleteFunc(cases, func(c guardcases.Case) bool { return !slices.Contains(opt.Guards, c.Guards[0]) })
		}
	}
	if len(files) == 0 && len(guardFiles) == 0 {
		for _, g := range s.all {
			for i, e := range g.Examples {
				expect := e.Verdict.String()
				if e.Verdict == guards.Pass {
					expect = "allow"
				}
				cases = append(cases, guardcases.Case{
					ID: fmt.Sprintf("%s-%02d", g.Name, i+1), Command: e.Command, Setup: e.Setup, Expect: expect, Why: e.Why, Guards: []string{g.Name},
				})
			}
		}
	}
	for _, f := range files {
		more, err := guardcases.Read(f)
		if err != nil {
			return cli.Exitf(cli.ExitInput, "%v", err)
		}
		cases = append(cases, more...)
	}
	failed, skipped := 0, 0
	for i := range cases {
		c := &cases[i]
		set.NextLine()
		rep, err := lab.Run(c, s.all)
		wrong := ""
		switch {
		case errors.Is(err, guardcases.ErrNoCommand):
			skipped++
			continue
		case err != nil:
			wrong = err.Error()
		default:
			wrong = guardcases.Judge(c.Expect, rep)
			for _, name := range c.Guards {
				if err := set.Failed(name); err != nil {
					wrong = err.Error()
				}
			}
		}
		if wrong == "" {
			continue
		}
		failed++
		fmt.Fprintf(p.Stdout, "FAIL %s: %s\n", term.Clean(c.ID, 60), term.Clean(c.Command, 120))
		for line := range strings.SplitSeq(wrong, "\n") {
			fmt.Fprintf(p.Stdout, "     %s\n", term.Clean(line, 400))
		}
		if c.Why != "" {
			fmt.Fprintf(p.Stdout, "     because: %s\n", term.Clean(c.Why, 200))
		}
	}
	for _, text := range broken {
		fmt.Fprintf(p.Stdout, "FAIL %s\n", term.Clean(text, 400))
	}
	failed += len(broken)
	fmt.Fprintf(p.Stdout, "%d passed, %d failed", len(cases)+len(broken)-failed-skipped, failed)
	if skipped > 0 {
		fmt.Fprintf(p.Stdout, ", %d without a shell command passed over", skipped)
	}
	fmt.Fprintln(p.Stdout)
	if failed > 0 {
		return &cli.ExitError{Code: cli.ExitFindings}
	}
	return nil
}

func absolute(p *cli.Process, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.Dir(), path)
}

// testOptions load guards without a trace: a test leaves no record of failures.
func testOptions(p *cli.Process) plugin.Options {
	o := pluginOptions(p, p.Dir())
	o.StateDir = ""
	return o
}
