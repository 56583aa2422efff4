package settings

import (
	"fmt"
	"path/filepath"
	"strings"
)

// SandboxState is what the sandbox tag shows.
type SandboxState int

// Sandbox states.
const (
	SandboxUnknown     SandboxState = iota // a file that may decide cannot be read
	SandboxOff                             // no sandbox
	SandboxOn                              // on
	SandboxOnAuto                          // on, sandboxed commands run without asking
	SandboxCannotStart                     // configured, but the OS cannot provide it
)

func (s SandboxState) String() string {
	return [...]string{"unknown", "off", "on", "on, commands run without asking", "configured but cannot start"}[s]
}

// Sandbox is the state of a session's sandbox and how it came to be.
type Sandbox struct {
	State SandboxState
	// Enabled is the deciding lookup of sandbox.enabled.
	Enabled Value[bool]
	// AutoAllow is the lookup of sandbox.autoAllowBashIfSandboxed.
	AutoAllow Value[bool]
	// BypassAllowed is false when the client ignores requests to leave the sandbox.
	BypassAllowed bool
	// Why is one sentence for --explain.
	Why string
}

const (
	enabledKey   = "sandbox.enabled"
	autoAllowKey = "sandbox.autoAllowBashIfSandboxed"
	bypassKey    = "sandbox.allowUnsandboxedCommands"
	failKey      = "sandbox.failIfUnavailable"
)

// Sandbox resolves the state for a status line: every state is possible.
func (s *Stack) Sandbox() Sandbox {
	box := Sandbox{
		Enabled:       s.Bool(enabledKey),
		AutoAllow:     s.Bool(autoAllowKey),
		BypassAllowed: true,
	}
	if v := s.Bool(bypassKey); v.Set {
		box.BypassAllowed = v.Value
	}
	if why := s.undecided(enabledKey); why != "" {
		box.Why = why
		return box
	}
	switch {
	case !box.Enabled.Set:
		box.State, box.Why = SandboxOff, "No settings file that the client reads sets sandbox.enabled, and its default is false."
		return box
	case !box.Enabled.Value:
		box.State, box.Why = SandboxOff, "sandbox.enabled is false in "+box.Enabled.Source.String()+"."
		return box
	}
	from := "sandbox.enabled is true in " + box.Enabled.Source.String()
	if why := s.cannotStart(); why != "" {
		if fail := s.Bool(failKey); !fail.Value {
			box.State, box.Why = SandboxCannotStart, from+", but "+why+"; commands run unsandboxed."
			return box
		}
		from += " (" + why + ", yet sandbox.failIfUnavailable is set and the client would not have started without a sandbox)"
	}
	box.State, box.Why = SandboxOn, from
	switch {
	case s.undecided(autoAllowKey) != "":
		box.Why += "; whether sandboxed commands run without asking is not known: " + s.undecided(autoAllowKey)
		return box
	case box.AutoAllow.Value:
		box.State = SandboxOnAuto
		box.Why += ", and sandbox.autoAllowBashIfSandboxed is true in " + box.AutoAllow.Source.String()
	case !box.AutoAllow.Set && !s.session.AtLeast("2.1.328"):
		box.Why += "; nothing sets sandbox.autoAllowBashIfSandboxed, whose default is uncertain before 2.1.328"
	}
	box.Why += "."
	return box
}

// undecided says why the answer to a boolean cannot be known: a file that the
// client may have read, and that would decide, could not be read here.
func (s *Stack) undecided(path string) string {
	v, from := s.bool(path)
	keys := strings.Split(path, ".")
	for rank := range s.files {
		f := &s.files[rank]
		if !f.undecided {
			continue
		}
		// What is weaker than the deciding file changes nothing, but a user
		// file can make a project's false count for nothing.
		weaker := from != nil && rank > from.rank
		holds := weaker && f.Scope == User && !v.Value && !from.Scope.trusted() && ruleFor(keys) == guardedFalse && s.guarded()
		if !weaker || holds {
			return f.Path + " cannot be read and may decide (" + f.Reason + ")."
		}
	}
	if s.server != nil {
		if b, ok := s.server.doc.Root().Get(keys...).Bool(); ok && b != v.Value {
			return fmt.Sprintf("%s says %t, which decides if this account has a policy kept on a server.", s.server.path, b)
		}
	}
	return ""
}

// cannotStart says what keeps the operating system from providing a sandbox,
// as far as files tell; empty if nothing is known to.
func (s *Stack) cannotStart() string {
	switch s.env.GOOS {
	case "darwin":
		return ""
	case "linux":
	case "windows":
		return "native Windows is not known to have a sandbox (the client's documents name none up to 2.1.240, later versions are not confirmed)"
	default:
		return "the client has no sandbox on " + s.env.GOOS
	}
	if version, err := s.env.KernelFile("/proc/version"); err == nil && isWSL1(string(version)) {
		return "WSL 1 cannot provide a sandbox"
	}
	for _, program := range []struct{ name, key string }{{"bwrap", "sandbox.bwrapPath"}, {"socat", "sandbox.socatPath"}} {
		if at := s.String(program.key); at.Set && filepath.IsAbs(at.Value) && isExecutable(at.Value) {
			continue
		}
		if !s.env.HasProgram(program.name) {
			return program.name + " is not installed"
		}
	}
	for _, knob := range []string{"/proc/sys/user/max_user_namespaces", "/proc/sys/kernel/unprivileged_userns_clone"} {
		if value, err := s.env.KernelFile(knob); err == nil && strings.TrimSpace(string(value)) == "0" {
			return "user namespaces are switched off (" + knob + " is 0)"
		}
	}
	return ""
}

// isWSL1 tells WSL 1 by its kernel: "…-Microsoft", where WSL 2 has
// "microsoft-standard-WSL2".
func isWSL1(version string) bool {
	return strings.Contains(version, "-Microsoft") && !strings.Contains(version, "WSL2")
}

// Sandboxed is the answer for a hook: on, off, or unknown. It is unknown when
// nothing sets the key and no client session is there, or when a file that may
// decide cannot be read.
func (s *Stack) Sandboxed() Answer {
	box := s.Sandbox()
	switch box.State {
	case SandboxOn, SandboxOnAuto:
		return Yes
	case SandboxOff:
		if box.Enabled.Set || s.session.InClient {
			return No
		}
	case SandboxCannotStart:
		if s.env.GOOS != "windows" {
			return No
		}
	}
	return Unknown
}

// PromptsOff reports that the session was started with permission prompts off,
// and how. A project or local file that asks for it does not count: the client
// does not honour it there, trusted or not (seen with 2.1.332), and takes the
// mode of the next file.
func (s *Stack) PromptsOff() (bool, string) {
	if s.String("permissions.disableBypassPermissionsMode").Value == "disable" {
		return false, ""
	}
	const bypass = "bypassPermissions"
	switch {
	case s.flags.skipPrompts:
		return true, "the session was started with --dangerously-skip-permissions"
	case s.flags.mode == bypass:
		return true, "the session was started with --permission-mode " + bypass
	case s.flags.mode != "":
		return false, ""
	}
	path := []string{"permissions", "defaultMode"}
	for i := range s.layers {
		l := &s.layers[i]
		text, n, ok := s.text(l, path)
		if !ok || !l.Scope.trusted() && text == bypass || s.ignored(l, path, n) != "" {
			continue
		}
		if text == bypass {
			return true, "permissions.defaultMode is " + bypass + " in " + l.source(n).String()
		}
		break
	}
	return false, ""
}
