package verify

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sallyport/internal/childproc"
	"sallyport/internal/setup"
)

func launcherChecks() []Check {
	return []Check{{
		ID: "V04", Title: "launcher",
		Pass: "the shell's start file has the block, and new shells, login or not, find agent-iso",
		Fail: "the start file has neither the block nor another toolkit's launcher, or no new shell finds agent-iso",
		Warn: "only login shells find it, or only others; or the shell is not known",
		NA:   "agent-iso is not installed, or was installed with --no-rc",
		run:  launcher,
	}}
}

func launcher(m *Machine) []Finding {
	switch {
	case m.GOOS == "windows":
		return []Finding{{Text: "there are no start files on this system"}}
	case m.record == nil || !slices.ContainsFunc(m.record.Programs, func(p setup.Installed) bool { return p.Name == "agent-iso" }):
		return []Finding{{Text: "agent-iso is not installed"}}
	case len(m.record.RC) == 0:
		return []Finding{{Text: "it was installed without a block in a start file"}}
	}
	var out []Finding
	found := false
	for _, file := range m.record.RC {
		block, other, err := m.HasBlock(file)
		switch {
		case err != nil:
			out = append(out, Finding{Status: Fail, Text: err.Error(), File: file, Fix: "repair the block by hand"})
		case block:
			found = true
			out = append(out, Finding{Status: Pass, Text: "the block is in " + m.Short(file), File: file})
		case other > 0:
			found = true
			out = append(out, Finding{Status: Pass, Text: m.Short(file) + " reads another toolkit's launcher", File: file, Line: other})
		}
	}
	if !found {
		return append(out, Finding{Status: Fail, Text: "no start file has the block", File: m.record.RC[0], Fix: installFix})
	}
	shell := m.Getenv("SHELL")
	name := filepath.Base(shell)
	if !filepath.IsAbs(shell) || !slices.Contains([]string{"bash", "zsh", "fish"}, name) {
		return append(out, Finding{Status: Warn, Text: "the shell is not known, so none was started (SHELL is " + strconv.Quote(shell) + ")", Fix: "run: command -v agent-iso in a new shell"})
	}
	var missed []string
	var last ran
	for _, kind := range []struct{ name, flag string }{{"interactive", "-ic"}, {"login", "-lc"}} {
		flag := kind.flag
		if kind.name == "login" {
			flag = "-lic" // a terminal that starts login shells starts interactive ones
		}
		r := m.start(childproc.Program{Path: shell, Args: []string{flag, "command -v agent-iso"}, Session: true, Env: bare(m.Environ(), m.record.Prefix)})
		if !strings.Contains(r.out, "agent-iso") {
			missed = append(missed, kind.name)
			last = r
		} else {
			out = append(out, r.on(Finding{Status: Pass, Text: "a new " + kind.name + " shell finds " + m.Short(firstLine(r.out))}))
		}
	}
	switch len(missed) {
	case 1:
		out = append(out, last.on(Finding{Status: Warn, Text: "a new " + missed[0] + " shell does not find agent-iso", Fix: "let that shell's start file read " + m.Short(m.record.RC[0])}))
	case 2:
		out = append(out, last.on(Finding{Status: Fail, Text: "no new shell finds agent-iso", Fix: "look what ends " + m.Short(m.record.RC[0]) + " before the block; " + installFix}))
	}
	return out
}

// bare is the environment without the directory on PATH that the block adds.
func bare(environ []string, prefix string) []string {
	out := slices.Clone(environ)
	for i, e := range out {
		if list, ok := strings.CutPrefix(e, "PATH="); ok {
			dirs := slices.DeleteFunc(filepath.SplitList(list), func(d string) bool { return filepath.Clean(d) == prefix })
			out[i] = "PATH=" + strings.Join(dirs, string(filepath.ListSeparator))
		}
	}
	return out
}
