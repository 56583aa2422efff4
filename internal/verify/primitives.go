package verify

import (
	"os"
	"strings"

	"sallyport/internal/childproc"
	"sallyport/internal/dirs"
	"sallyport/internal/pins"
	"sallyport/internal/setup"
	"sallyport/settings"
)

// wanted are the versions that the manifests ask for, by tool: the embedded one,
// the project's and the user's, as agent-setup tools reads them.
func (m *Machine) wanted() (map[string]pins.Tool, error) {
	// A file of the repository never lowers a floor here, whoever it belongs to.
	layers, err := pins.Layers(m.Project, dirs.Config(m.Getenv), func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	return byName(layers)
}

func byName(layers []pins.Layer) (map[string]pins.Tool, error) {
	tools, err := pins.Merge(layers)
	out := map[string]pins.Tool{}
	for _, t := range tools {
		out[t.Name] = t
	}
	return out, err
}

// embedded are the versions that come with the program.
func embedded() map[string]pins.Tool {
	tools, err := byName([]pins.Layer{{File: pins.EmbeddedName, Data: pins.Embedded()}})
	if err != nil {
		panic(err) // a test of package pins reads it
	}
	return tools
}

func primitiveChecks() []Check {
	return []Check{{
		ID: "V05a", Title: "sandbox programs",
		Pass: "bwrap and socat are there in the versions that agent-setup tools lists, and the kernel lets them",
		Fail: "one is not installed, or the kernel forbids what they need",
		Warn: "one is there in another version, or does not say its version, or a file of yours or the project's asks for that version",
		NA:   "not on Linux: the system's own sandbox is used",
		run:  primitives,
	}, {
		ID: "V05b", Title: "client version",
		Pass: "the client is at least the version that agent-setup tools lists (" + embedded()["claude-code"].MinVersion + " unless overridden), the first that hides environment variables from commands",
		Fail: "it is older. The report stops here, with exit code 4: what the other checks say would not hold",
		Warn: "its version cannot be told, or no oldest version is known",
		run:  clientFloor, stop: true,
	}}
}

func primitives(m *Machine) []Finding {
	if m.GOOS != "linux" {
		return []Finding{{Text: "the system's own sandbox is used"}}
	}
	var out []Finding
	missing := false
	tools, err := m.wanted()
	if err != nil {
		out = append(out, Finding{Status: Warn, Text: err.Error(), Fix: "repair the manifest; the embedded one counts here"})
		tools = embedded()
	}
	for _, p := range []struct{ name, pkg, key, flag, word string }{
		{"bwrap", "bubblewrap", "sandbox.bwrapPath", "--version", "bubblewrap"},
		{"socat", "socat", "sandbox.socatPath", "-V", "socat version"},
	} {
		file := m.LookPath(p.name)
		if v := m.Stack.String(p.key); v.Set && v.Source.Scope == settings.Managed {
			if info, err := os.Stat(v.Value); err == nil && info.Mode().IsRegular() {
				file = v.Value
			}
		}
		if file == "" {
			missing = true
			out = append(out, Finding{Status: Fail, Text: p.name + " is not on PATH: commands run without a sandbox", Fix: "install the package " + p.pkg})
			continue
		}
		r := m.start(childproc.Program{Path: file, Args: []string{p.flag}})
		version := ""
		for line := range strings.Lines(r.out) {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), p.word+" "); ok && version == "" {
				version, _, _ = strings.Cut(rest, " on ")
			}
		}
		f := r.on(Finding{Status: Pass, Text: p.name + " " + version})
		if !r.ok() || version == "" {
			f.Status, f.Text, f.Fix = Warn, p.name+" does not say its version", "reinstall the package "+p.pkg
		} else if want := tools[p.pkg]; want.Version != "" {
			switch {
			case !pins.Matches(want.Version, version):
				f.Status, f.Text, f.Fix = Warn, f.Text+", where "+want.Source()+" wants "+want.Version, "agent-setup tools install shows how; or accept it in ~/.config/sallyport/pinned-versions.local.toml"
			case want.Source() != pins.EmbeddedName:
				f.Status, f.Text, f.Fix = Warn, f.Text+", as "+want.Source()+" wants; the suite was tried with "+embedded()[p.pkg].Version, ""
				f.File = want.Source()
			}
		}
		out = append(out, f)
	}
	if box := m.Stack.Sandbox(); !missing && box.State == settings.SandboxCannotStart {
		out = append(out, Finding{Status: Fail, Text: box.Why, Fix: "docs/sandbox-troubleshooting.md says how to let the sandbox start"})
	}
	return out
}

func clientFloor(m *Machine) []Finding {
	if !m.ClientFound {
		return []Finding{{Status: Warn, Text: "claude is not on PATH, so its version cannot be told", Fix: "put it on PATH"}}
	}
	tools, err := m.wanted()
	if err != nil {
		tools = embedded()
	}
	floor := tools["claude-code"].MinVersion
	older, ok := setup.Older(m.Version, floor)
	f := Finding{Status: Pass, Text: "Claude Code " + m.Version, Command: "claude --version"}
	switch {
	case floor == "":
		f.Status, f.Text, f.Fix = Warn, f.Text+", and no oldest version is known", "look at agent-setup tools list"
	case !ok:
		f.Status, f.Text, f.Fix = Warn, "claude --version does not say a version", "run it by hand"
	case older:
		f.Status, f.Text, f.Fix = Fail, "Claude Code "+m.Version+" is older than "+floor, "update the client: claude update"
	}
	return []Finding{f}
}
