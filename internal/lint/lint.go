// Package lint checks the permission and sandbox configuration of coding
// agents.
//
// A rule is a value: its id, severity and texts stand beside the function that
// checks it, and the manual, the SARIF metadata and --disable are made from the
// same values. [Rules] lists them all.
//
// The functions named after a mode, such as [Claude] and [Codex], read the
// files of that mode and return a [Report]. They run no agent, use no network
// and write nothing. Every file is hostile: its size, its nesting and the work
// spent on it are bounded, and what goes over a bound is a finding.
package lint

//go:generate go test -run TestManualIsGenerated . -update

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sallyport/settings"
)

// A Severity says how much a finding weighs.
type Severity int

// Severities, heaviest first.
const (
	Error Severity = iota
	Warning
	Info
)

func (s Severity) String() string { return [...]string{"error", "warning", "info"}[s] }

// A Rule describes what one id stands for.
type Rule struct {
	ID       string
	Severity Severity // a finding may carry another one where Summary says so
	// Hard rules cannot be disabled.
	Hard bool
	// Summary is what is wrong when the rule reports, in one line.
	Summary string
	// Why is what an agent, or whoever steers it, could do.
	Why string
	// Example is a text that the rule reports.
	Example string
	// Fix is what to write in its place.
	Fix string
	// Mends is set where --fix repairs what the rule reports.
	Mends bool
}

// A Finding is one thing wrong in one place.
type Finding struct {
	ID       string
	Severity Severity
	File     string
	// Line and Column are 1-based, of the value or, where something is missing,
	// of the nearest ancestor that exists. Columns count characters.
	Line, Column int
	Pointer      string // RFC 6901
	Path         string // the same, as people write it
	Message      string
	Help         string
	Related      []Related
	Baseline     bool    // the file is a baseline
	Origin       *Origin // in merged mode
	// More is how many findings of the same id, file and severity are not listed
	// but counted here, beyond the finding's own.
	More int

	value string // what the fingerprint is made of
	rank  int    // of the file, in reading order
}

// A Related place explains a finding.
type Related struct {
	File         string
	Line, Column int
	Pointer      string
}

// An Origin says which settings file a value of a merge comes from.
type Origin struct {
	Scope   settings.Scope
	File    string
	Pointer string
}

// Exit codes of a [Report].
const (
	ExitClean    = 0
	ExitFindings = 1
	ExitInput    = 2
)

// A Report is the outcome of a run.
type Report struct {
	Mode      string
	Files     []string // in reading order
	Findings  []Finding
	Effective []byte // the merged settings as JSON, where they were asked for
	// Considered lists, for people, the settings files that were looked for.
	Considered []string

	unusable bool
}

// Count is the number of findings of one severity, with those that are not
// listed.
func (r *Report) Count(s Severity) (n int) {
	for i := range r.Findings {
		if r.Findings[i].Severity == s {
			n += 1 + r.Findings[i].More
		}
	}
	return n
}

// Exit is the exit code: [ExitInput] if an input could not be used, else
// [ExitFindings] if there is an error, under strict also for a warning.
func (r *Report) Exit(strict bool) int {
	switch {
	case r.unusable:
		return ExitInput
	case r.Count(Error) > 0, strict && r.Count(Warning) > 0:
		return ExitFindings
	}
	return ExitClean
}

// Disable drops the findings of the given rules, but for hard ones and those
// that say why an input cannot be used.
func (r *Report) Disable(ids []string) {
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool {
		return slices.Contains(ids, f.ID) && Disables(f.ID)
	})
}

// Disables reports whether a rule can be disabled.
func Disables(id string) bool {
	rule, ok := Lookup(id)
	return ok && !rule.Hard && id != "P001" && id != "P002" && id != "P004"
}

// A Config holds what all modes share.
type Config struct {
	Dir      string // relative file names start here
	Home     string // empty if not known
	Platform string // linux, macos or wsl
	Policy   Policy
	Getenv   func(string) string
}

// maxAlike bounds the listed findings of one id, severity and file. Nobody reads
// more, and a file of a few MiB could ask for hundreds of thousands.
const maxAlike = 1000

// A kind of findings are those that maxAlike bounds together.
type kind struct {
	file, id string
	severity Severity
}

// A run collects the findings of one report.
type run struct {
	cfg    Config
	report *Report
	ranks  map[string]int
	rules  map[string]*Rule
	listed map[kind]int
	all    bool // list every finding

	nearest map[string]string // see nearestTool

	formsOf  map[string][]string // see forms
	compared int                 // spent on comparing rules, see maxCompare
}

func newRun(cfg Config, mode string) *run {
	if cfg.Getenv == nil {
		cfg.Getenv = func(string) string { return "" }
	}
	return &run{cfg: cfg, report: &Report{Mode: mode}, ranks: make(map[string]int), rules: byID(), listed: make(map[kind]int),
		nearest: make(map[string]string)}
}

// rank registers a file as read, the first time it is named.
func (r *run) rank(name string) int {
	rank, ok := r.ranks[name]
	if !ok {
		rank = len(r.report.Files)
		r.ranks[name] = rank
		r.report.Files = append(r.report.Files, name)
	}
	return rank
}

func (r *run) add(f Finding) {
	f.rank = r.rank(f.File)
	f.Line, f.Column = max(f.Line, 1), max(f.Column, 1)
	if f.ID == "P001" || f.ID == "P002" || f.ID == "P004" {
		r.report.unusable = true
	}
	if !r.full(kind{f.File, f.ID, f.Severity}) {
		r.report.Findings = append(r.report.Findings, f)
	}
}

// full counts a finding, and reports that it is not to be listed.
func (r *run) full(k kind) bool {
	r.listed[k]++
	return !r.all && r.listed[k] > maxAlike
}

// done sorts the findings: file, id, position. The last of too many alike says so.
func (r *run) done() *Report {
	last := make(map[kind]int)
	for i := range r.report.Findings {
		f := &r.report.Findings[i]
		last[kind{f.File, f.ID, f.Severity}] = i
	}
	for k, i := range last {
		if more := r.listed[k] - maxAlike; more > 0 && !r.all {
			f := &r.report.Findings[i]
			f.More = more
			f.Message += fmt.Sprintf(" (%d more like this are not listed)", more)
		}
	}
	slices.SortStableFunc(r.report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.ID, b.ID),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.report
}

// A check is a rule with the function that looks for it in a T.
type check[T any] struct {
	Rule
	run func(T, reporter)
}

func apply[T any](r *run, checks []check[T], subject T, adjust func(*Finding)) {
	for i := range checks {
		if checks[i].run != nil {
			checks[i].run(subject, reporter{r, &checks[i].Rule, adjust})
		}
	}
}

// A reporter makes findings of one rule.
type reporter struct {
	run    *run
	rule   *Rule
	adjust func(*Finding) // nil, or what every finding of the subject gets
}

func (r reporter) as(id string) reporter {
	r.rule = r.run.rules[id]
	return r
}

type option func(*Finding)

func severity(s Severity) option { return func(f *Finding) { f.Severity = s } }
func help(text string) option    { return func(f *Finding) { f.Help = text } }

func related(vs ...*value) option {
	return func(f *Finding) {
		for _, v := range vs {
			line, column := v.position()
			f.Related = append(f.Related, Related{v.file.name, line, column, v.pointer()})
		}
	}
}

// spare reports that a finding would not be listed, and counts it then, before
// its texts are made.
func (r reporter) spare(file string, opts []option) bool {
	f := Finding{Severity: r.rule.Severity}
	for _, o := range opts {
		o(&f)
	}
	k := kind{file, r.rule.ID, f.Severity}
	return !r.run.all && r.run.listed[k] >= maxAlike && r.run.full(k)
}

// at reports a value that is there.
func (r reporter) at(v *value, message string, opts ...option) {
	if r.spare(v.file.name, opts) {
		return
	}
	line, column := v.position()
	f := Finding{ID: r.rule.ID, Severity: r.rule.Severity, File: v.file.name, Line: line, Column: column,
		Pointer: v.pointer(), Path: v.path(), Message: message, Help: r.rule.Fix, value: v.compact()}
	r.emit(f, v, opts)
}

// under reports what is missing, or wrong, at a path below a value: the
// position is that of the deepest part that exists.
func (r reporter) under(v *value, path []string, message string, opts ...option) {
	at := v
	for _, name := range path {
		next := at.get(name)
		if next == nil {
			break
		}
		at = next
	}
	if r.spare(at.file.name, opts) {
		return
	}
	line, column := at.position()
	base := v.steps()
	f := Finding{ID: r.rule.ID, Severity: r.rule.Severity, File: at.file.name, Line: line, Column: column,
		Pointer: pointerOf(append(base, path...)), Path: joinPath(v.path(), path), Message: message, Help: r.rule.Fix}
	if target := v.get(path...); target != nil {
		f.value = target.compact()
	}
	r.emit(f, at, opts)
}

func (r reporter) emit(f Finding, v *value, opts []option) {
	if v.file.scoped {
		f.Origin = &Origin{v.file.scope, v.file.name, f.Pointer}
	}
	if r.adjust != nil {
		r.adjust(&f)
	}
	for _, o := range opts {
		o(&f)
	}
	r.run.add(f)
}

// in reports on a file as a whole.
func (r *run) in(id, file, message, help string, opts ...option) {
	rule := r.rules[id]
	f := Finding{ID: id, Severity: rule.Severity, File: file, Message: message, Help: cmp.Or(help, rule.Fix)}
	for _, o := range opts {
		o(&f)
	}
	r.add(f)
}

func quoteList(words []string) string { return strings.Join(words, ", ") }

// Invariants are the findings that stand in the way of a baseline: SL errors
// and what makes a file unusable or doubtful.
func (r *Report) Invariants() *Report {
	out := *r
	out.Findings = slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool {
		return f.Severity != Error || !strings.HasPrefix(f.ID, "SL") && f.ID[0] != 'P'
	})
	return &out
}
