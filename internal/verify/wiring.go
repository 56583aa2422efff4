package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"sallyport/internal/childproc"
	"sallyport/internal/setup"
	"sallyport/internal/term"
	"sallyport/settings"
)

const installFix = "run agent-setup install"

func wiringChecks() []Check {
	return []Check{{
		ID: "V02", Title: "user wiring",
		Pass: "hooks that see every shell tool start bypass-warn, agent-guard and error-hint (after failures too), the status line is status-line, and nothing switches hooks off",
		Fail: "bypass-warn or the status line is missing, hooks are switched off, or the client cannot read the hooks of a file",
		Warn: "agent-guard or error-hint is missing, PowerShell or Monitor is not covered, the status line is another program, or another toolkit's equivalent is wired",
		run:  userWiring,
	}, {
		ID: "V03", Title: "programs",
		Pass: "every program that is wired or recorded as installed is there, starts, and is the file that was installed",
		Fail: "one is missing, not executable, or does not start",
		Warn: "one differs from what was installed; or the wiring stands in a file of the project, whose program is not started",
		NA:   "no program of the suite is wired or installed",
		run:  programs,
	}}
}

func statusLineChecks() []Check {
	return []Check{{
		ID: "V06", Title: "status line",
		Pass: "drawn for a session in the project, it starts with [sandbox] or [sandbox-auto]",
		Fail: "it starts with another tag, or draws nothing",
		Warn: "it shows a sandbox, and [no prompts] behind it",
		NA:   "the status line is not this suite's, or a file of the project sets it",
		run:  statusLineDraws,
	}}
}

func userWiring(m *Machine) []Finding {
	out := slices.Clone(m.bad)
	for _, reason := range m.HooksOff(m.Stack) {
		out = append(out, Finding{Status: Fail, Text: "hooks will not run: " + reason, Fix: "remove that, or ask whoever set it"})
	}
	plugin := ""
	for _, l := range m.Stack.Layers() {
		if p := setup.GuardPlugin(l.Doc.Root()); p != "" && plugin == "" {
			plugin = p
		}
	}
	for _, want := range setup.WantedHooks() {
		status := Warn
		if want.Component == "bypass-warn" {
			status = Fail
		}
		if want.Component == "agent-guard" && plugin != "" {
			out = append(out, Finding{Status: Pass, Text: "agent-guard comes with the plugin " + plugin})
			continue
		}
		covered := map[string]bool{}
		var first *fileHook
		for i := range m.hooks {
			h := &m.hooks[i]
			if h.Event != want.Event || h.Component != want.Component {
				continue
			}
			for _, tool := range want.Tools {
				covered[tool] = covered[tool] || h.Covers(tool)
			}
			// A hook for plain Bash is the one that counts.
			if first == nil || h.Covers("Bash") && !first.Covers("Bash") {
				first = h
			}
		}
		label := want.Event + " starts " + want.Component
		if first == nil || !covered["Bash"] {
			f := Finding{Status: status, Text: want.Event + " does not start " + want.Component, File: filepath.Join(m.ConfigDir(), "settings.json"), Pointer: "/hooks/" + want.Event, Fix: installFix}
			if first != nil {
				f.Text += " for Bash"
				f.Pointer, f.Line, f.Column = first.Pointer, first.Line, first.Column
			}
			out = append(out, f)
			continue
		}
		f := at(Finding{Status: Pass, Text: label, Pointer: first.Pointer}, first.Source)
		var open []string
		for _, tool := range want.Tools {
			if !covered[tool] {
				open = append(open, tool)
			}
		}
		switch {
		case first.Other:
			f.Status, f.Text, f.Fix = Warn, want.Event+" starts another toolkit's equivalent of "+want.Component, installFix+" --replace-seed to swap it"
		case len(open) > 0:
			f.Status, f.Text, f.Fix = Warn, label+", but not for "+strings.Join(open, " and "), installFix
		case first.Within:
			f.Status, f.Text = Warn, label+" as a part of a larger command, which is not looked into"
		}
		out = append(out, f)
	}
	h, ok := m.statusLine()
	switch f := at(Finding{Pointer: "/statusLine"}, h.Source); {
	case !ok:
		out = append(out, Finding{Status: Fail, Text: "there is no status line", File: filepath.Join(m.ConfigDir(), "settings.json"), Pointer: "/statusLine", Fix: installFix})
	case h.Component != "status-line" || h.Within:
		f.Status, f.Text, f.Fix = Warn, "the status line is another program: "+h.Command, "pipe the same input to status-line there, to show its tag"
		out = append(out, f)
	case h.Other:
		f.Status, f.Text, f.Fix = Warn, "the status line is another toolkit's equivalent", installFix+" --replace-seed to swap it"
		out = append(out, f)
	default:
		f.Status, f.Text = Pass, "the status line is status-line"
		out = append(out, f)
	}
	return out
}

func programs(m *Machine) []Finding {
	var out []Finding
	seen := map[string]bool{}
	look := func(name, file string, src settings.Source, record *setup.Installed) {
		if seen[file] {
			return
		}
		seen[file] = true
		f := Finding{Status: Fail, File: src.Path, Line: src.Line, Column: src.Column, Fix: installFix}
		if src.Path == "" {
			f.File = file
		}
		info, err := os.Stat(file)
		switch {
		case !filepath.IsAbs(file):
			f.Status, f.Text, f.Fix = Warn, name+" is wired as "+file+", which is found in another place for every session", "wire it by its absolute path: "+installFix
		case err != nil:
			f.Text = name + ": " + m.Short(file) + " is not there"
		case !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
			f.Text = name + ": " + m.Short(file) + " is not an executable file"
		case src.Path != "" && !trusted(src):
			f.Status, f.Text, f.Fix = Warn, name+": "+m.Short(file)+" is wired by the project, and is not started to look at it", "wire it in your own settings: "+installFix
		case record != nil && record.Link && record.Holds() && !isProgram(name):
			// Its arguments are those of the client that it starts.
			f.Status, f.Text, f.Fix = Pass, name+": links to "+linkTarget(file), ""
		default:
			r := m.start(childproc.Program{Path: file, Args: []string{"--version"}})
			f = r.on(f)
			switch {
			case !r.ok():
				f.Text = name + ": " + m.Short(file) + " does not start"
			case record != nil && !record.Holds():
				f.Status, f.Text = Warn, name+": "+m.Short(file)+" is not the file that was installed"
			default:
				f.Status, f.Text, f.Fix = Pass, name+": "+firstLine(r.out), ""
			}
		}
		out = append(out, f)
	}
	recorded := func(file string) *setup.Installed {
		if m.record != nil {
			for i := range m.record.Programs {
				if m.record.Programs[i].Path == file {
					return &m.record.Programs[i]
				}
			}
		}
		return nil
	}
	for _, h := range m.wired() {
		look(h.Component, h.Program, h.Source, recorded(h.Program))
	}
	if m.record != nil {
		for i := range m.record.Programs {
			p := &m.record.Programs[i]
			look(p.Name, p.Path, settings.Source{}, p)
		}
	}
	if m.recErr != nil {
		out = append(out, Finding{Status: Warn, Text: "the record of the installation cannot be read: " + m.recErr.Error(), Fix: installFix + " to write it anew"})
	}
	if len(out) == 0 {
		out = append(out, Finding{Text: "no program of the suite is wired or installed"})
	}
	return out
}

func statusLineDraws(m *Machine) []Finding {
	h, ok := m.statusLine()
	if !ok || h.Component != "status-line" || h.Other || h.Within {
		return []Finding{{Text: "the status line is not this suite's"}}
	}
	if !trusted(h.Source) {
		return []Finding{at(Finding{Text: "a file of the project sets the status line, so it is not started"}, h.Source)}
	}
	payload := fmt.Sprintf(`{"model":{"display_name":"Claude"},"version":%q,"workspace":{"current_dir":%s,"project_dir":%[2]s}}`, m.Version, jsonString(m.Project))
	r := m.start(childproc.Program{
		Path: h.Program, Args: h.Args, Dir: m.Project, Stdin: strings.NewReader(payload),
		// Its cache is not wanted from a look.
		Env: append(slices.Clone(m.Environ()), "NO_COLOR=1", "XDG_CACHE_HOME="+filepath.Join(os.DevNull, "none")),
	})
	line := term.Clean(firstLine(r.out), 200)
	f := r.on(at(Finding{Status: Fail, Text: "drawn: " + line, Fix: "run status-line --explain in the project to see why"}, h.Source))
	tag, rest, _ := strings.Cut(line, "]")
	switch {
	case !r.ok() || line == "":
		f.Text, f.Fix = "nothing was drawn", installFix
	case tag != "[sandbox" && tag != "[sandbox-auto":
	case strings.HasPrefix(strings.TrimSpace(rest), "[no prompts]"):
		f.Status, f.Fix = Warn, "start the session without --dangerously-skip-permissions, and set no bypassPermissions"
	default:
		f.Status, f.Fix = Pass, ""
	}
	return []Finding{f}
}

// isProgram reports a name that install puts in place as a program of its own.
func isProgram(name string) bool {
	return slices.Contains(setup.Programs(), name)
}

func linkTarget(file string) string {
	target, err := os.Readlink(file)
	if err != nil {
		return "nowhere"
	}
	return target
}
