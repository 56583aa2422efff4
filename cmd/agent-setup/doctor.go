package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"sallyport/internal/cli"
	"sallyport/internal/doctor"
	"sallyport/internal/setup"
	"sallyport/internal/term"
)

const doctorUsage = `agent-setup doctor tries out what agents do all day, and tells failures that the
sandbox causes from others.

Usage:
  agent-setup doctor [flags]

It runs every probe in the current directory, each at most 15 seconds, and
prints one line for each, with the fix where one is known. Probes are harmless
and remove what they made; docs/doctor.md says what each does.

What it finds inside the sandbox and outside differs, and the difference is
what the sandbox does. To see it, take a snapshot in a terminal of your own:

  agent-setup doctor --snapshot outside.json

and in the agent's session, in the same directory:

  agent-setup doctor --compare outside.json

The other way round makes the fix possible, which settings do not allow inside:
a snapshot from the agent's session, and in a terminal of your own

  agent-setup doctor --compare inside.json --fix

  --probe LIST      only these probes
  --list            print the probes and what each does
  --snapshot FILE   keep the results in FILE, to compare with
  --compare FILE    print only what differs from FILE, and what fails in both
  --fix             show the change of settings that the failures need, and make
                    it after you said yes (outside the sandbox only; with a
                    snapshot from inside, what failed there counts too, and
                    --yes does not)
  --project DIR     the directory to probe
  --offline         no probe may leave this machine (SALLYPORT_OFFLINE=1 too)

Marks: ✓ works; ✗ a failure of the catalogue; ⚠ fails for an ordinary reason, or
something to know; – nothing to probe.

Also: --home DIR, --yes, --dry-run, --json, --quiet, --no-color.

Reads: the settings files, git's configuration, $SSH_AUTH_SOCK, $TMPDIR,
$HTTPS_PROXY, $DOCKER_HOST, $CONTAINER_HOST, $CLAUDE_PID.
--json prints {"inside","evidence","agent","results":[{"probe","status",
"evidence","exit","stderr","catalog","outside",...}],"differences","fix"}.

Exit codes: 0 nothing fails; 1 a probe shows ✗, or a change was not made; 2 a
snapshot or settings file cannot be used; 3 refused for safety; 64 usage.
`

func runDoctor(p *cli.Process, args []string) error {
	var o setup.Options
	fs := cli.NewFlags("doctor")
	noColor := globals(fs, &o)
	var only list
	fs.Var(&only, "probe", "")
	listThem := fs.Bool("list", false, "")
	snapshot := fs.String("snapshot", "", "")
	compare := fs.String("compare", "", "")
	fix := fs.Bool("fix", false, "")
	project := fs.String("project", "", "")
	offline := fs.Bool("offline", false, "")
	if err := parse(fs, args); err != nil {
		return err
	}
	if *fix && *snapshot != "" {
		return cli.Usagef("--fix and --snapshot exclude each other")
	}
	fill(&o, p, *noColor)
	probes, err := chooseProbes(only)
	if err != nil {
		return err
	}
	text := p.Stdout
	if o.JSON {
		text = p.Stderr
	}
	if *listThem {
		if o.JSON {
			type row struct {
				Name     string   `json:"name"`
				Title    string   `json:"title"`
				Does     string   `json:"does"`
				Failures []string `json:"failures"`
			}
			rows := []row{}
			for _, probe := range probes {
				rows = append(rows, row{probe.Name, probe.Title, probe.Does, nonNil(probe.Failures)})
			}
			enc := json.NewEncoder(p.Stdout)
			enc.SetEscapeHTML(false)
			return enc.Encode(map[string]any{"probes": rows})
		}
		for _, probe := range probes {
			fmt.Fprintf(text, "%s  %s\n    %s\n", probe.Name, probe.Title, probe.Does)
		}
		return nil
	}
	p, err = elsewhere(p, o.Home, *project)
	if err != nil {
		return err
	}
	o.Environ, o.Dir = p.Environ, p.Dir()
	w, err := doctor.NewWorld(p.Environ, p.Dir(), p.Debugf)
	if err != nil {
		return cli.Exitf(cli.ExitRefused, "%v", err)
	}
	w.Offline = w.Offline || *offline
	var then doctor.Snapshot
	if *compare != "" { // before the probes, which take their time
		if then, err = doctor.ReadSnapshot(abs(p.Dir(), *compare)); err != nil {
			return err
		}
	}
	doc := doctorDocument{Inside: w.Inside, Evidence: nonNil(w.Evidence), Agent: w.Agent}
	doc.Results = doctor.Run(context.Background(), w, probes)
	report := doctor.Report{Out: text, Color: o.Color, Quiet: o.Quiet, World: w}
	report.Where()
	if *compare != "" {
		if len(only) > 0 {
			then.Results = slices.DeleteFunc(then.Results, func(r doctor.Result) bool { return !slices.Contains(only, r.Probe) })
		}
		diffs, same := doctor.Compare(doc.Results, w.Inside, then)
		report.Differences(diffs, same, then)
		doc.Differences = &diffs
	} else {
		report.Results(doc.Results)
	}
	if *snapshot != "" {
		now := time.Now().UTC()
		if err := (doctor.Snapshot{Taken: now, Inside: w.Inside, Dir: w.Start, Results: doc.Results}).Write(abs(p.Dir(), *snapshot)); err != nil {
			return errors.Join(doc.print(p, o.JSON), err)
		}
		fmt.Fprintf(text, "written: %s\n", term.Clean(*snapshot, 0))
	}
	fixErr := doctorFix(w, o, &doc, *fix, doctor.Wanted(w, doc.Results, then))
	err = errors.Join(doc.print(p, o.JSON), fixErr)
	if err == nil && slices.ContainsFunc(doc.Results, func(r doctor.Result) bool { return r.Status == doctor.Fail }) {
		err = &cli.ExitError{Code: cli.ExitFindings}
	}
	return err
}

type doctorDocument struct {
	Inside      bool                 `json:"inside"`
	Evidence    []string             `json:"evidence"`
	Agent       bool                 `json:"agent"`
	Results     []doctor.Result      `json:"results"`
	Differences *[]doctor.Difference `json:"differences,omitempty"`
	Fix         *setup.EditResult    `json:"fix,omitempty"`
}

func (d *doctorDocument) print(p *cli.Process, wanted bool) error {
	if !wanted {
		return nil
	}
	enc := json.NewEncoder(p.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(d)
}

// doctorFix shows the change of settings, and makes it if that is wanted.
// fromInside is what a snapshot of the agent's session asks for.
func doctorFix(w *doctor.World, o setup.Options, doc *doctorDocument, apply bool, fromInside []doctor.Result) error {
	edits := doctor.Edits(w, slices.Concat(doc.Results, fromInside))
	text := o.Stdout
	if o.JSON {
		text = o.Stderr
	}
	if len(edits) == 0 {
		if apply {
			fmt.Fprintln(text, "no setting would help; nothing to do")
		}
		return nil
	}
	if len(fromInside) > 0 {
		fmt.Fprintln(text, "\nwhat fails inside is from the snapshot, which the agent's session wrote: read the change before you say yes")
		if apply && o.Yes {
			fmt.Fprintln(text, "--yes does not count for that; answer in a terminal")
			o.Yes = false
		}
	}
	o.Stdout = text
	if !apply {
		fmt.Fprintln(text, "\nsettings that would help:")
		o.DryRun = true
	}
	result, err := setup.EditSettings(o, edits)
	doc.Fix = &result
	switch {
	case apply:
	case w.Inside:
		fmt.Fprintln(text, "to make this change, keep what was found here:  agent-setup doctor --snapshot inside.json")
		fmt.Fprintln(text, "and in a terminal of your own:  agent-setup doctor --compare inside.json --fix")
	case len(fromInside) > 0:
		fmt.Fprintln(text, "--fix, with the same snapshot, makes this change after you said yes")
	default:
		fmt.Fprintln(text, "agent-setup doctor --fix makes this change after you said yes")
	}
	return err
}

// chooseProbes returns the probes of a list, all without one.
func chooseProbes(only []string) ([]doctor.Probe, error) {
	all := doctor.Probes()
	if len(only) == 0 {
		return all, nil
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	for _, name := range only {
		if !slices.Contains(names, name) {
			return nil, cli.Usagef("unknown probe %q; did you mean %q?", name, setup.Nearest(name, names))
		}
	}
	return slices.DeleteFunc(all, func(p doctor.Probe) bool { return !slices.Contains(only, p.Name) }), nil
}

// elsewhere is the process in another home directory or project.
func elsewhere(p *cli.Process, home, project string) (*cli.Process, error) {
	q := *p
	if home != "" {
		q.Environ = setup.WithHome(p.Environ, abs(p.Dir(), home))
	}
	if project != "" {
		q.WorkDir = abs(p.Dir(), project)
	} else if p.Dir() == "" {
		return nil, cli.Exitf(cli.ExitRefused, "the working directory cannot be told; pass --project DIR")
	}
	return &q, nil
}

func abs(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
