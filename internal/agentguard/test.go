package agentguard

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"sallyport/guards"
	"sallyport/internal/cli"
	"sallyport/internal/guardcases"
	"sallyport/internal/term"
)

// Test runs the examples that the guards carry, or the cases of files, and
// prints those that fail.
func Test(p *cli.Process, opt *Options, files []string) error {
	s := newSession(p, opt, p.Dir)
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
	if len(files) == 0 {
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
		}
		if wrong == "" {
			continue
		}
		failed++
		fmt.Fprintf(p.Stdout, "FAIL %s: %s\n", term.Clean(c.ID, 60), term.Clean(c.Command, 120))
		for line := range strings.SplitSeq(wrong, "\n") {
			fmt.Fprintf(p.Stdout, "     %s\n", term.Clean(line, 400))
		}
		fmt.Fprintf(p.Stdout, "     because: %s\n", term.Clean(c.Why, 200))
	}
	fmt.Fprintf(p.Stdout, "%d passed, %d failed", len(cases)-failed-skipped, failed)
	if skipped > 0 {
		fmt.Fprintf(p.Stdout, ", %d without a shell command passed over", skipped)
	}
	fmt.Fprintln(p.Stdout)
	if failed > 0 {
		return &cli.ExitError{Code: cli.ExitFindings}
	}
	return nil
}
