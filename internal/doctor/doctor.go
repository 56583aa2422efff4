// Package doctor tries out what agents do all day and tells why it fails: the
// sandbox, or something else.
//
// A [Probe] is one such attempt. Every probe is harmless, removes what it made,
// is bounded in time and output, and touches no network but what its own
// description names. All run, whatever the others found.
//
// A probe alone can often not tell a file that the sandbox hides from one that
// does not exist. A [Snapshot] of the other side of the sandbox's wall can:
// [Compare] joins the two.
package doctor

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"sallyport/internal/hints"
	"sallyport/internal/term"
)

// A Status is the outcome of a probe, as reports draw it.
type Status string

// Outcomes. Fail is a failure that the catalogue knows; Warn one with an
// ordinary cause, or something to know; None that there is nothing to probe.
const (
	Pass Status = "✓"
	Fail Status = "✗"
	Warn Status = "⚠"
	None Status = "–"
)

// A Cause is who is to blame.
type Cause string

// Causes. Unclear is a failure that looks the same with and without a sandbox:
// a comparison with a snapshot decides.
const (
	Sandbox Cause = "sandbox"
	Other   Cause = "other"
	Unclear Cause = "unclear"
)

// A Result is what one probe found about one subject.
type Result struct {
	Probe    string `json:"probe"`
	Subject  string `json:"subject,omitempty"` // where a probe has several
	Status   Status `json:"status"`
	Evidence string `json:"evidence"`
	Exit     *int   `json:"exit"`   // of the program that was run, null if none was
	Stderr   string `json:"stderr"` // its first line there
	// Catalog is the id of the failure, in the error catalogue or in Silent.
	Catalog string `json:"catalog"`
	Cause   Cause  `json:"cause,omitempty"`
	// Advice is for ordinary causes; the catalogue has it for the others.
	Advice string `json:"advice,omitempty"`
	// Outside is what the snapshot says of the same, null without one.
	Outside *Outside `json:"outside"`
	// Facts are observations that only a comparison can judge.
	Facts map[string]string `json:"facts,omitempty"`
	Fix   *Fix              `json:"fix,omitempty"`
}

// Key names what the result is about: the probe, and its subject.
func (r Result) Key() string {
	if r.Subject == "" {
		return r.Probe
	}
	return r.Probe + "(" + r.Subject + ")"
}

// An Outside is the other side's result.
type Outside struct {
	Status   Status `json:"status"`
	Evidence string `json:"evidence"`
	Stderr   string `json:"stderr"`
	Inside   bool   `json:"inside"` // the snapshot was taken inside a sandbox
}

// A Fix is a change of settings that lets the probe pass, ready to be made.
type Fix struct {
	Scope    hints.FixScope `json:"scope"`
	File     string         `json:"file"`
	Settings string         `json:"settings"` // JSON fragment to merge
}

// A Probe is one attempt. Its texts make the documentation.
type Probe struct {
	Name    string
	Title   string
	Does    string // what is done, with what it touches
	Sandbox string // when the sandbox is to blame
	Other   string // other causes
	// Failures are ids of the catalogue and of Silent that it can report.
	Failures  []string
	Platforms []string // GOOS values; none means all
	Run       func(ctx context.Context, w *World) []Result
}

// limit is what a probe may take, and workers how many run at a time.
const (
	limit   = 15 * time.Second
	workers = 4
)

// Run runs probes and returns their results in the probes' order.
func Run(ctx context.Context, w *World, probes []Probe) []Result {
	found := make([][]Result, len(probes))
	var wait sync.WaitGroup
	slots := make(chan struct{}, workers)
	for i, p := range probes {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found[i] = runOne(ctx, w, p, limit)
		})
	}
	wait.Wait()
	return slices.Concat(found...)
}

// runOne bounds a probe's time even where it hangs in a system call that no
// context ends; its answer is not waited for then.
func runOne(ctx context.Context, w *World, p Probe, limit time.Duration) []Result {
	if len(p.Platforms) > 0 && !slices.Contains(p.Platforms, runtime.GOOS) {
		return finish(p, []Result{none("only on %s", strings.Join(p.Platforms, " and "))})
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan []Result, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				w.debugf("probe %s: panic: %v\n%s", p.Name, r, debug.Stack())
				done <- []Result{warn("internal error: %v; please report it", r)}
			}
		}()
		done <- p.Run(ctx, w)
	}()
	// A probe that heeds its context has a moment to say what hung.
	grace := time.NewTimer(limit + time.Second)
	defer grace.Stop()
	select {
	case results := <-done:
		return finish(p, results)
	case <-grace.C:
		return finish(p, []Result{warn("no answer in %v", limit)})
	}
}

// finish names the results, and makes their text safe and short.
func finish(p Probe, results []Result) []Result {
	const longest = 400
	for i := range results {
		r := &results[i]
		r.Probe = p.Name
		r.Evidence = term.Clean(r.Evidence, longest)
		r.Stderr = term.Clean(r.Stderr, longest)
		r.Advice = term.Clean(r.Advice, longest)
		for name, fact := range r.Facts {
			r.Facts[name] = term.Clean(fact, longest)
		}
	}
	return results
}

func pass(format string, args ...any) Result {
	return Result{Status: Pass, Evidence: fmt.Sprintf(format, args...)}
}

func none(format string, args ...any) Result {
	return Result{Status: None, Evidence: fmt.Sprintf(format, args...)}
}

// warn is a failure that the sandbox did not cause, or something to know.
func warn(format string, args ...any) Result {
	return Result{Status: Warn, Cause: Other, Evidence: fmt.Sprintf(format, args...)}
}

// fail is a failure with an id.
func fail(id string, cause Cause, format string, args ...any) Result {
	return Result{Status: Fail, Catalog: id, Cause: cause, Evidence: fmt.Sprintf(format, args...)}
}

func (r Result) of(subject string) Result {
	r.Subject = subject
	return r
}

func (r Result) advise(format string, args ...any) Result {
	r.Advice = fmt.Sprintf(format, args...)
	return r
}

func (r Result) ran(o outcome) Result {
	r.Exit, r.Stderr = o.exit, firstLine(o.stderr)
	return r
}

func (r Result) with(facts map[string]string) Result {
	r.Facts = facts
	return r
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
