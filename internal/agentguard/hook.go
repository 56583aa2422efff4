package agentguard

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"

	"sallyport/guards"
	"sallyport/guards/plugin"
	"sallyport/hookio"
	"sallyport/internal/cli"
	"sallyport/internal/selftest"
	"sallyport/internal/shellcmd"
)

// longEvent is more than nearly every event has.
const longEvent = 64 << 10

// Hook answers one event on standard input, in the way of the harness, and
// returns the exit code. Input that cannot be read gets no answer, unless
// on_error in the configuration asks for one.
func Hook(p *cli.Process, opt *Options) int {
	raw, err := hookio.ReadInput(p.Stdin)
	if err != nil {
		p.Debugf("input: %v", err)
		return reply(p, opt.Harness, nil, failure(p, opt, "the event could not be read"))
	}
	if len(raw) > longEvent {
		debug.SetGCPercent(400) // the process ends before memory matters
	}
	ev, err := opt.Harness.Decode(raw)
	if err != nil {
		p.Debugf("input: %v", err)
		if len(raw) == 0 {
			return 0
		}
		return reply(p, opt.Harness, nil, failure(p, opt, "the event could not be read"))
	}
	d, ok := judge(p, opt, &ev)
	if !ok {
		d = failure(p, opt, "the guards failed")
	}
	return reply(p, opt.Harness, &ev, d)
}

func reply(p *cli.Process, h *hookio.Harness, ev *hookio.Event, d hookio.Decision) int {
	r := h.Encode(ev, d)
	p.Stdout.Write(r.Stdout)
	p.Stderr.Write(r.Stderr)
	return r.Exit
}

// failure is the answer of on_error.
func failure(p *cli.Process, opt *Options, what string) hookio.Decision {
	c := LoadConfig(p.Getenv, "", nil, nil)
	d := hookio.Decision{Reason: "agent-guard: " + what + ", and on_error in its configuration stops commands that were not checked"}
	switch {
	case c.OnError == ErrorDeny, c.OnError == ErrorAsk && (opt.Unattended || c.Unattended):
		d.Verdict = hookio.Deny
	case c.OnError == ErrorAsk:
		d.Verdict = hookio.Ask
	default:
		return hookio.Decision{}
	}
	return d
}

// judge asks the guards about an event. ok is false when one of them failed.
func judge(p *cli.Process, opt *Options, ev *hookio.Event) (d hookio.Decision, ok bool) {
	switch ev.Name {
	case hookio.PreToolUse, hookio.PermissionRequest, hookio.PreSkillShellCommand, "":
	default:
		return d, true // nothing is about to run
	}
	if ev.Command == "" && ev.FilePath == "" && len(ev.Files) == 0 {
		return d, true
	}
	if ev.Command == selftest.Canary && !switchedOff(p) {
		return hookio.Decision{Verdict: hookio.Deny, Reason: selftest.Refusal}, true
	}
	if ev.Command != "" && ev.Shell != hookio.PowerShell && plain(ev.Command) && opt.Load == nil && ev.FilePath == "" &&
		plugin.None(pluginOptions(p, ev.Dir)) && !logsPasses(p, ev.Dir) {
		return d, true
	}
	defer func() {
		if r := recover(); r != nil {
			p.Debugf("guards: panic: %v", r)
			d, ok = hookio.Decision{}, false
		}
	}()
	s := newSession(p, opt, ev.Dir)
	defer s.close()
	dialect := shellcmd.Bash
	if ev.Shell == hookio.PowerShell {
		dialect = shellcmd.PowerShell
	}
	in := s.input(ev.Command, dialect)
	files := ev.Files
	if len(files) == 0 && ev.FilePath != "" {
		files = []string{ev.FilePath}
	}
	for _, f := range files {
		in.Writes = append(in.Writes, guards.Write{Path: f, Tool: ev.Tool})
	}
	rep := guards.Run(in, s.all, s.world)
	for _, f := range rep.Failures {
		p.Debugf("guard failed: %s", f)
	}
	s.log(ev, rep)
	d = decision(rep)
	if rep.Line != nil && rep.Line.Limited && d.Verdict == hookio.Pass {
		// Not all of it was seen: that is for on_error to decide.
		return failure(p, opt, "the command is too large or too deep to be checked whole"), true
	}
	return d, true
}

// logsPasses reports a configuration that wants to have every command written
// down.
func logsPasses(p *cli.Process, dir string) bool {
	log := LoadConfig(p.Getenv, configRoot(dir, p.Getenv), nil, trusted(p)).Log
	return log.Path != "" && log.Passes
}

// switchedOff reports that the environment of the hook lets every command pass.
func switchedOff(p *cli.Process) bool {
	return guards.Truthy(p.Getenv("AGENT_GUARD_OFF")) || guards.Truthy(p.Getenv("MAGPIE_GUARD_OFF"))
}

// decision turns a report into what the harness is told.
func decision(rep *guards.Report) hookio.Decision {
	var d hookio.Decision
	switch rep.Verdict {
	case guards.Deny:
		d.Verdict, d.Reason = hookio.Deny, rep.Reason(guards.Deny)
		if asks := rep.Reason(guards.Ask); asks != "" {
			d.Reason += "\n" + asks
		}
	case guards.Ask:
		d.Verdict, d.Reason = hookio.Ask, rep.Reason(guards.Ask)
	}
	d.Message = rep.Reason(guards.Warn)
	return d
}

// ownPath is the running program, "" if that cannot be told.
var ownPath = sync.OnceValue(func() string {
	path, _ := os.Executable()
	return path
})

// ownPrograms are the paths of the program and of those installed beside it.
func ownPrograms() []string {
	self := ownPath()
	if self == "" {
		return nil
	}
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	names := guards.Programs()
	paths := make([]string, 0, len(names)+1)
	paths = append(paths, self)
	for _, name := range names {
		paths = append(paths, filepath.Dir(self)+string(filepath.Separator)+name+suffix)
	}
	return paths
}
