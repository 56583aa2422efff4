package verify

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/internal/projectroot"
	"sallyport/internal/template"
	"sallyport/settings"
)

const projectFix = "run agent-setup project"

// projectChecks look at what a session in the project gets.
func projectChecks() []Check {
	return []Check{{
		ID: "V01", Title: "project settings",
		Pass: "the project's settings file is there, turns the sandbox on, has entries in the lists that matter, denies edits of the settings and hooks, and breaks no invariant of docs/project-settings.md",
		Fail: "one of these is missing, an invariant is broken, or another file turns the sandbox off. Invariants 5 and 6 belong to V12c and V11",
		Warn: "a local or managed file has another value for a switch of the sandbox, or the list of allowed hosts is there and empty",
		NA:   "the directory is not in a git repository and has no .claude",
		run:  projectSettings, inside: true,
	}, {
		ID: "V11", Title: "gh in the sandbox",
		Pass: "gh runs outside the sandbox, and each of its writing commands asks",
		Fail: "one rule in permissions.ask covers all of gh, in any file; or, on macOS, gh is not excluded from the sandbox",
		Warn: "gh is not excluded on Linux, where it may still work; or some of its writing commands do not ask",
		NA:   "gh is not on PATH",
		run:  ghSplit,
	}, {
		ID: "V12c", Title: "no container daemon",
		Pass: "no settings file lets commands reach the socket of a container daemon",
		Fail: "one does: whoever can talk to the daemon is root on this machine",
		NA:   "no settings file names a Unix socket",
		run:  daemonSockets, inside: true,
	}, {
		ID: "V13", Title: "excluded programs",
		Pass: "every program below the client's directory that runs outside the sandbox is there, and the agent may not edit it",
		Fail: "it is not there or not executable, or no Edit rule denies changing it: the agent could put its own code outside the sandbox",
		NA:   "excludedCommands names no such program",
		run:  excludedPrograms,
	}, {
		ID: "V15", Title: "working directories",
		Pass: "reads outside the working directories ask, and the directories that tools need are listed by their literal paths in the local file",
		Warn: "a path is missing (it only asks more often), or is a pattern (listed, but never matched), or stands in a file that others share",
		NA:   "permissions.blockReadsOutsideWorkingDirectories is off everywhere",
		run:  workingDirectories,
	}}
}

func projectSettings(m *Machine) []Finding {
	file := m.projectFile()
	if _, err := os.Stat(filepath.Dir(file)); err != nil && !m.Repository {
		return []Finding{{Text: m.Project + " is not in a git repository and has no .claude"}}
	}
	i := slices.IndexFunc(m.Stack.Files(), func(f settings.File) bool { return f.Scope == settings.Project })
	if i < 0 {
		return []Finding{{Status: Fail, Text: "the client reads no project settings here", File: file, Fix: projectFix}}
	}
	switch f := m.Stack.Files()[i]; f.Status {
	case settings.Read:
	case settings.Missing:
		return []Finding{{Status: Fail, Text: "there is no project settings file", File: f.Path, Fix: projectFix}}
	default:
		out := []Finding{}
		for _, p := range m.Stack.Problems() {
			if p.Path == f.Path {
				out = append(out, at(Finding{Status: Fail, Text: p.Message, Fix: "repair the file; the client drops it whole"}, p.Source))
			}
		}
		if len(out) == 0 {
			out = append(out, Finding{Status: Fail, Text: strings.TrimSpace(f.Status.String() + ": " + f.Reason), File: f.Path, Fix: "repair the file or its mode"})
		}
		return out
	}
	l, ok := m.layer(settings.Project)
	if !ok {
		return []Finding{{Status: Fail, Text: "the project settings file is empty", File: file, Fix: projectFix}}
	}
	var out []Finding
	root := l.Doc.Root()
	broken := append(template.Check(m.lint(), l.Path), template.CheckStack(m.Stack)...)
	enabled := root.Get("sandbox", "enabled")
	if on, ok := enabled.Bool(); !ok || !on {
		if !slices.ContainsFunc(broken, func(b template.Broken) bool { return b.Number == 1 }) {
			out = append(out, Finding{Status: Fail, Text: "sandbox.enabled is not true", File: l.Path, Pointer: "/sandbox/enabled", Fix: projectFix})
		}
	}
	for _, list := range []string{"permissions.deny", "permissions.ask", "sandbox.network.allowedDomains", "sandbox.filesystem.allowRead", "sandbox.filesystem.allowWrite"} {
		keys := strings.Split(list, ".")
		n := root.Get(keys...)
		f := Finding{Status: Fail, Text: list + " is missing", File: l.Path, Pointer: "/" + strings.Join(keys, "/"), Fix: projectFix}
		f.Line, f.Column = n.Position()
		switch {
		case n.Kind() != settings.Array:
			out = append(out, f)
		case n.Len() == 0 && list == "sandbox.network.allowedDomains":
			f.Status, f.Text, f.Fix = Warn, list+" is empty: every host asks", "add the hosts that the project needs, or leave it so on purpose"
			out = append(out, f)
		case n.Len() == 0:
			f.Text = list + " is empty"
			out = append(out, f)
		}
	}
	var denied []string
	for _, v := range m.Stack.List("permissions.deny") {
		denied = append(denied, v.Value)
	}
	for _, rule := range template.Required() {
		if !slices.Contains(denied, rule) {
			out = append(out, Finding{Status: Fail, Text: "permissions.deny lacks " + rule, File: l.Path, Pointer: "/permissions/deny", Fix: projectFix + ", which adds it"})
		}
	}
	for _, b := range broken {
		if b.Number == 5 || b.Number == 6 {
			continue
		}
		text := b.Message
		if b.Number > 0 {
			text = fmt.Sprintf("invariant %d: %s", b.Number, text)
		}
		if b.Rule != "" {
			text += " (" + b.Rule + ")"
		}
		out = append(out, Finding{Status: Fail, Text: text, File: b.File, Line: b.Line, Column: b.Column, Pointer: b.Pointer, Fix: b.Fix})
	}
	for _, key := range []string{"sandbox.enabled", "sandbox.failIfUnavailable", "sandbox.autoAllowBashIfSandboxed", "sandbox.allowUnsandboxedCommands"} {
		here, ok := root.Get(strings.Split(key, ".")...).Bool()
		v := m.Stack.Bool(key)
		if !ok || !v.Set || v.Value == here {
			continue
		}
		f := at(Finding{Status: Warn, Text: fmt.Sprintf("%s is %t, where the project says %t", key, v.Value, here),
			Pointer: "/" + strings.ReplaceAll(key, ".", "/"), Fix: "look whether that is meant; agent-setup explain " + key + " shows every file"}, v.Source)
		if key == "sandbox.enabled" && !v.Value {
			f.Status = Fail
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		out = append(out, Finding{Status: Pass, Text: "sandbox on, lists filled, no invariant broken", File: l.Path})
	}
	return out
}

func ghSplit(m *Machine) []Finding {
	gh := m.LookPath("gh")
	if gh == "" {
		return []Finding{{Text: "gh is not on PATH"}}
	}
	var out []Finding
	for _, b := range template.CheckStack(m.Stack) {
		if b.Number != 6 {
			continue
		}
		out = append(out, Finding{Status: Fail, Text: fmt.Sprintf("invariant %d: %s", b.Number, b.Message), File: b.File, Line: b.Line, Column: b.Column, Fix: b.Fix})
	}
	excluded := false
	for _, v := range m.Stack.List("sandbox.excludedCommands") {
		if v.Value == "gh *" || v.Value == "gh:*" {
			excluded = true
			out = append(out, at(Finding{Status: Pass, Text: v.Value + " runs outside the sandbox"}, v.Source))
		}
	}
	if !excluded {
		status := Warn
		if m.GOOS == "darwin" {
			status = Fail
		}
		out = append(out, Finding{Status: status, Text: "sandbox.excludedCommands has no entry gh *: gh cannot reach the keyring", File: m.projectFile(), Pointer: "/sandbox/excludedCommands", Fix: projectFix + " --preset github"})
	}
	asks := map[string]bool{}
	for _, v := range m.Stack.List("permissions.ask") {
		asks[v.Value] = true
	}
	for _, v := range m.Stack.List("permissions.deny") {
		asks[v.Value] = true
	}
	var missing []string
	writes := template.GitHubWrites()
	for _, rule := range writes {
		if !asks[rule] {
			missing = append(missing, rule)
		}
	}
	if len(missing) > 0 {
		out = append(out, Finding{Status: Warn, Text: fmt.Sprintf("%d of %d writing commands of gh do not ask, such as %s", len(missing), len(writes), missing[0]),
			File: m.projectFile(), Pointer: "/permissions/ask", Fix: projectFix + " --preset github"})
	}
	return out
}

func daemonSockets(m *Machine) []Finding {
	var out []Finding
	any := false
	for _, l := range m.Stack.Layers() {
		if l.Doc.Root().Get("sandbox", "network", "allowUnixSockets").Len() == 0 {
			continue
		}
		any = true
		if _, err := os.Stat(l.Path); err != nil {
			continue // handed over on the command line, not in a file
		}
		for _, b := range template.Check(m.lint(), l.Path) {
			if b.Rule == "SL111" {
				out = append(out, Finding{Status: Fail, Text: "invariant 5: " + b.Message, File: b.File, Line: b.Line, Column: b.Column, Pointer: b.Pointer, Fix: "remove the entry"})
			}
		}
	}
	switch {
	case !any:
		out = append(out, Finding{Text: "no settings file names a Unix socket"})
	case len(out) == 0:
		out = append(out, Finding{Status: Pass, Text: "the sockets named are no container daemon's"})
	}
	return out
}

func excludedPrograms(m *Machine) []Finding {
	var out []Finding
	for _, v := range m.Stack.List("sandbox.excludedCommands") {
		word := ""
		for _, w := range strings.Fields(v.Value) {
			if file := m.Expand(w); strings.HasPrefix(file, m.ConfigDir()+"/") || strings.HasPrefix(file, m.Home()+"/.claude/") {
				word = file
				break
			}
		}
		if word == "" {
			continue
		}
		file := filepath.Clean(word)
		f := at(Finding{Status: Pass, Text: v.Value + " runs outside the sandbox: " + m.Short(file)}, v.Source)
		info, err := os.Stat(file)
		switch {
		case strings.ContainsAny(file, "*?["):
			f.Status, f.Text, f.Fix = Fail, v.Value+": a pattern in the path lets other programs match", "name the one program"
		case err != nil:
			f.Status, f.Text, f.Fix = Fail, v.Value+": "+m.Short(file)+" is not there", "put it back, or remove the entry"
		case !info.Mode().IsRegular() || m.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
			f.Status, f.Text, f.Fix = Fail, v.Value+": "+m.Short(file)+" is not an executable file", "make it one, or remove the entry"
		case !m.editDenied(file):
			f.Status, f.Text, f.Fix = Fail, v.Value+": no Edit rule in permissions.deny covers "+m.Short(file)+", and it runs outside the sandbox", "add Edit("+homeRule(m, path.Dir(filepath.ToSlash(file)))+"/**) to permissions.deny"
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		out = append(out, Finding{Text: "excludedCommands names no program below " + m.Short(m.ConfigDir())})
	}
	return out
}

func homeRule(m *Machine, dir string) string {
	if rest, ok := strings.CutPrefix(dir, m.Home()); ok {
		return "~" + rest
	}
	return "/" + dir
}

// editDenied reports that a deny rule keeps the agent from changing a file.
func (m *Machine) editDenied(file string) bool {
	for _, v := range m.Stack.List("permissions.deny") {
		if v.Value == "Edit" || v.Value == "Edit(*)" {
			return true
		}
		spec, ok := strings.CutPrefix(v.Value, "Edit(")
		if !ok {
			continue
		}
		pattern, ok := m.Stack.RulePath(strings.TrimSuffix(spec, ")"), v.Source)
		if !ok {
			continue
		}
		pattern = filepath.ToSlash(pattern)
		// RulePath drops a last "/**"; what is left covers all below it.
		for p := filepath.ToSlash(file); ; p = path.Dir(p) {
			if ok, err := path.Match(pattern, p); err == nil && ok {
				return true
			}
			if p == path.Dir(p) {
				break
			}
		}
	}
	return false
}

func workingDirectories(m *Machine) []Finding {
	const key = "permissions.blockReadsOutsideWorkingDirectories"
	on := m.Stack.Bool(key)
	if !on.Value {
		return []Finding{{Text: key + " is off"}}
	}
	want := projectroot.WorkingDirs(m.Getenv)
	var out []Finding
	have := map[string]bool{}
	for _, v := range m.Stack.List("permissions.additionalDirectories") {
		dir := strings.TrimSuffix(m.Expand(v.Value), "/")
		f := at(Finding{Status: Pass, Text: v.Value + " is listed"}, v.Source)
		switch {
		case strings.ContainsAny(v.Value, "*?["):
			f.Status, f.Text, f.Fix = Warn, v.Value+" is a pattern, which is listed but never matches", "write the literal path"
		case slices.Contains(want, dir) && v.Source.Scope != settings.Local && v.Source.Scope != settings.Managed:
			f.Status, f.Text, f.Fix = Warn, v.Value+" is a path of this machine in a file that others share", "move it to .claude/settings.local.json"
		}
		have[dir] = true
		if f.Status == Warn || slices.Contains(want, dir) {
			out = append(out, f)
		}
	}
	for _, dir := range want {
		if !have[dir] {
			out = append(out, at(Finding{Status: Warn, Text: dir + " is not listed, so reads there ask", Pointer: "/permissions/additionalDirectories",
				Fix: "add it to permissions.additionalDirectories in .claude/settings.local.json"}, on.Source))
		}
	}
	return out
}

func hookChecks() []Check {
	return []Check{{
		ID: "V18", Title: "the project's own hooks",
		Pass: "the project's settings file brings no hooks",
		Warn: "it does, and they run outside the sandbox on the machine of everybody who uses the repository; read them",
		NA:   "there is no project settings file",
		run:  projectHooks,
	}}
}

func projectHooks(m *Machine) []Finding {
	l, ok := m.layer(settings.Project)
	if !ok {
		return []Finding{{Text: "there is no project settings file that counts"}}
	}
	var out []Finding
	for _, h := range m.hooks {
		if h.Source.Path == l.Path {
			out = append(out, Finding{Status: Warn, Text: h.Event + " runs " + h.Command, File: l.Path, Line: h.Line, Column: h.Column, Pointer: h.Pointer,
				Fix: "read what it does before the first session here"})
		}
	}
	for _, b := range m.bad {
		if b.File == l.Path {
			out = append(out, Finding{Status: Warn, Text: "hooks that cannot be read: " + b.Text, File: l.Path})
		}
	}
	if len(out) == 0 {
		out = append(out, Finding{Status: Pass, Text: "no hooks", File: l.Path})
	}
	return out
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
