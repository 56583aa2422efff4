package iso

import (
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"sallyport/internal/cli"
	"sallyport/internal/iso/mode"
	"sallyport/internal/program"
	"sallyport/internal/term"
)

// A Scan is what is known of the agent CLIs on a machine.
type Scan struct {
	Schema   string    `json:"schema"`
	Platform string    `json:"platform"`
	CLIs     []Scanned `json:"clis"`
}

// A Scanned is one CLI, found or not.
type Scanned struct {
	CLI        string                `json:"cli"`
	Found      bool                  `json:"found"`
	Path       *string               `json:"path"`
	Version    *string               `json:"version"`
	Checked    *string               `json:"checked_version"`
	Modes      []mode.Mode           `json:"sandbox_modes"`
	Unverified []mode.Mode           `json:"unverified_modes"`
	Reports    map[string]modeReport `json:"sandbox_mode_reports"`
	Missing    []missingNeed         `json:"missing_prerequisites"`
	Notices    []string              `json:"notices"`
}

// A modeReport is what a CLI would report in a mode.
type modeReport struct {
	Native    string `json:"native_sandbox"`
	Approvals string `json:"approvals"`
	Basis     string `json:"basis"`
}

const scanSchema = "agent-iso/scan/1"

// NewScan looks every CLI of the table up on PATH, or those named. Unless
// offline, the ones found are asked for their version.
func NewScan(w *cli.Process, names []string, offline bool) (Scan, error) {
	table, err := loadRuntimes(w.Getenv)
	if err != nil {
		return Scan{}, cli.Exitf(cli.ExitUsage, "%w", err)
	}
	if len(names) > 0 {
		var chosen []*agentCLI
		for _, name := range names {
			c := findCLI(table, name)
			if c == nil {
				return Scan{}, usageError("%q is no CLI of the table: want %s", name, strings.Join(cliNames(table), ", "))
			}
			if !slices.Contains(chosen, c) {
				chosen = append(chosen, c)
			}
		}
		table = chosen
	} else {
		table = slices.Clone(table)
	}
	slices.SortFunc(table, func(a, b *agentCLI) int { return strings.Compare(a.Name, b.Name) })

	self := program.NewSelf(mainPackage)
	search := program.Search{Path: defaultPath, PathExt: lookup(w.Environ, "PATHEXT"), Dir: w.Dir(), Skip: func(path string, info fs.FileInfo) bool {
		return self.Is(path, info) || startsLauncher(path)
	}}
	if path, ok := lookupSet(w.Environ, "PATH"); ok {
		search.Path = path
	}
	has := func(name string) bool { _, err := search.Find(name); return err == nil }
	env := filter(w.Environ, nil, w.Dir()).Vars
	scan := Scan{Schema: scanSchema, Platform: runtime.GOOS, CLIs: make([]Scanned, len(table))}
	var wait sync.WaitGroup
	for i, c := range table {
		scan.CLIs[i] = scanned(c, has)
		entry := &scan.CLIs[i]
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			if path, err := search.Find(name); err == nil {
				entry.Found, entry.Path = true, &path
				break
			}
		}
		if !entry.Found || offline {
			continue
		}
		wait.Go(func() {
			v := version(absolute(w.Dir(), *entry.Path), env)
			if v == "" {
				entry.Notices = append(entry.Notices, "it did not tell its version")
				return
			}
			entry.Version = &v
			if c.Checked != "" && older(v, c.Checked) {
				entry.Notices = append(entry.Notices, fmt.Sprintf("checked with %s, found %s", c.Checked, v))
			}
		})
	}
	wait.Wait()
	return scan, nil
}

// scanned is what the table says of a CLI.
func scanned(c *agentCLI, has func(string) bool) Scanned {
	verified, unverified := c.modes()
	s := Scanned{
		CLI: c.Name, Modes: verified.Modes(), Unverified: unverified.Modes(),
		Reports: map[string]modeReport{}, Missing: []missingNeed{}, Notices: []string{},
	}
	if c.Checked != "" {
		s.Checked = &c.Checked
	}
	for _, m := range s.Modes {
		if m == mode.Full {
			s.Reports[m.String()] = modeReport{c.Default.Native, c.Default.Approvals, "assumed"}
		} else {
			s.Reports[m.String()] = modeReport{m.String(), c.Default.Approvals, basis(c.Modes[m.String()].Level)}
		}
	}
	for _, m := range append(slices.Clone(s.Modes), s.Unverified...) {
		s.Missing = append(s.Missing, c.missing(m, has)...)
	}
	return s
}

// WriteJSON writes the scan as one line of JSON.
func (s Scan) WriteJSON(w io.Writer) error {
	line, err := marshal(s)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

// WriteTable writes a row for each CLI that was found, its unverified modes in
// parentheses.
func (s Scan) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	found := false
	for _, c := range s.CLIs {
		if !c.Found {
			continue
		}
		found = true
		var words []string
		for _, m := range mode.All {
			switch {
			case slices.Contains(c.Modes, m):
				words = append(words, m.String())
			case slices.Contains(c.Unverified, m):
				words = append(words, "("+m.String()+")")
			}
		}
		version := "-"
		if c.Version != nil {
			version = *c.Version
		}
		notes := slices.Clone(c.Notices)
		for _, m := range c.Missing {
			notes = append(notes, fmt.Sprintf("%s needs %s", m.Mode, m.Need))
		}
		row := []string{c.CLI, term.Clean(version, 64), strings.Join(words, " ")}
		if len(notes) > 0 {
			row = append(row, term.Clean(strings.Join(notes, "; "), 0))
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	if !found {
		fmt.Fprintln(t, "no agent CLI found on PATH")
	}
	return t.Flush()
}

func cliNames(table []*agentCLI) []string {
	var names []string
	for _, c := range table {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names
}

// CLINames are the CLIs of the built-in table.
func CLINames() []string { return cliNames(builtin()) }
