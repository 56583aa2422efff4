package verify

import (
	"os"
	"strings"

	"sallyport/internal/childproc"
	"sallyport/internal/setup"
	"sallyport/settings"
)

// Floor is the oldest client that the project template relies on: the first
// that hides environment variables from sandboxed commands.
const Floor = "2.1.187"

func primitiveChecks() []Check {
	return []Check{{
		ID: "V05a", Title: "sandbox programs",
		Pass: "bwrap and socat are there and start, and the kernel lets them",
		Fail: "one is not installed, or the kernel forbids what they need",
		Warn: "one is there and does not say its version",
		NA:   "not on Linux: the system's own sandbox is used",
		run:  primitives,
	}, {
		ID: "V05b", Title: "client version",
		Pass: "the client is " + Floor + " or newer, the first that hides environment variables from commands",
		Fail: "it is older. The report stops here, with exit code 4: what the other checks say would not hold",
		Warn: "its version cannot be told",
		run:  clientFloor, stop: true,
	}}
}

func primitives(m *Machine) []Finding {
	if m.GOOS != "linux" {
		return []Finding{{Text: "the system's own sandbox is used"}}
	}
	var out []Finding
	missing := false
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
	older, ok := setup.Older(m.Version, Floor)
	f := Finding{Status: Pass, Text: "Claude Code " + m.Version, Command: "claude --version"}
	switch {
	case !ok:
		f.Status, f.Text, f.Fix = Warn, "claude --version does not say a version", "run it by hand"
	case older:
		f.Status, f.Text, f.Fix = Fail, "Claude Code "+m.Version+" is older than "+Floor, "update the client: claude update"
	}
	return []Finding{f}
}
