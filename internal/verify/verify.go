// Package verify answers whether the suite is installed and configured as it
// should be, for an account and a project.
//
// A check is a value: its id, title and what each of its marks means stand
// beside the function that looks. [Checks] lists them in order, and the manual
// page is made from the same values. Every check says what it looked at.
//
// Nothing is written, and no program is started that a repository could have
// put where it is found.
package verify

import "slices"

// A Status is the outcome of a check, or of one finding.
type Status int

// Statuses, the one that counts most last.
const (
	NotApplicable Status = iota
	Pass
	Warn
	Fail
)

// Mark is the status as a table shows it.
func (s Status) Mark() string { return [...]string{"–", "✓", "⚠", "✗"}[s] }

func (s Status) String() string { return [...]string{"n/a", "pass", "warn", "fail"}[s] }

// MarshalText writes the status in JSON.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Check looks at one thing.
type Check struct {
	ID    string
	Title string
	// What each mark means; empty where the check never gives it.
	Pass, Fail, Warn, NA string

	run func(m *Machine) []Finding
	// stop ends the report when the check fails.
	stop bool
	// inside is set where the answer holds inside the sandbox as well, which
	// hides files and programs from every other check.
	inside bool
}

// A Finding is one piece of evidence.
type Finding struct {
	Status Status `json:"status"`
	Text   string `json:"text"`
	// File and the rest say where it was found; zero where it is no file.
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Pointer string `json:"pointer,omitempty"` // RFC 6901
	// Command was run, ended with Exit, and first said Stderr.
	Command string `json:"command,omitempty"`
	Exit    *int   `json:"exit,omitempty"`
	Stderr  string `json:"stderr,omitempty"`
	Fix     string `json:"fix,omitempty"`
}

// A Result is what a check found. Its status is that of its weightiest finding.
type Result struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Status   Status    `json:"status"`
	Findings []Finding `json:"findings"`
}

// A Report is the outcome of a run.
type Report struct {
	Project string   `json:"project"`
	Home    string   `json:"home"`
	Client  string   `json:"client"` // version, empty if not known
	Results []Result `json:"checks"`
	// Stopped is the check that ended the report, empty if all ran.
	Stopped string `json:"stopped,omitempty"`
}

// Checks lists every check in the order of a report.
func Checks() []Check {
	return slices.Concat(projectChecks()[:1], wiringChecks(), launcherChecks(), primitiveChecks(),
		statusLineChecks(), denialChecks(), worktreeChecks(), projectChecks()[1:], machineChecks(), hookChecks(), fileChecks())
}

// Run does the checks with the given ids, all without any.
func Run(m *Machine, ids ...string) *Report {
	r := &Report{Project: m.Project, Home: m.Home(), Client: m.Version, Results: []Result{}}
	_, boxed := m.InsideSandbox()
	for _, c := range Checks() {
		if len(ids) > 0 && !slices.Contains(ids, c.ID) {
			continue
		}
		res := Result{ID: c.ID, Title: c.Title, Findings: c.run(m)}
		if boxed && !c.inside {
			res.Findings = inconclusive(res.Findings)
		}
		for _, f := range res.Findings {
			res.Status = max(res.Status, f.Status)
		}
		r.Results = append(r.Results, res)
		if c.stop && res.Status == Fail {
			r.Stopped = c.ID
			break
		}
	}
	return r
}

// Count is the number of checks with a status.
func (r *Report) Count(s Status) (n int) {
	for _, res := range r.Results {
		if res.Status == s {
			n++
		}
	}
	return n
}

// inconclusive is what findings are worth inside the sandbox: what is missing
// there may only be hidden.
func inconclusive(found []Finding) []Finding {
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.Status == Fail }) {
		return found
	}
	out := slices.Clone(found)
	for i := range out {
		if out[i].Status == Fail {
			out[i].Status, out[i].Fix = Warn, ""
		}
	}
	return append(out, Finding{Status: Warn, Text: "this runs inside the sandbox, which hides files and programs, so that a ✗ here says nothing",
		Fix: "run agent-setup verify in a terminal of your own"})
}
