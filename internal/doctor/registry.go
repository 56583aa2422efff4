package doctor

// Probes lists every probe, in the order of reports.
func Probes() []Probe {
	return []Probe{
		sandboxActive, bwrapUserns, sandboxDeps, seccompFilter, pipes,
		projectRoot, gitWorktree, projectScratch, homeView, phantomFiles,
		gitHooks, workingDirs, tmpdirSetting, excludedCommands,
		sshAgent, signingKey, gitWrappers, ghSandbox,
		localhostBind, egress, sshTransport, containerSocket,
		devTools, pkgCaches,
		hooksLive,
	}
}

// A SilentFailure is one that prints nothing which could be recognised, so that
// only a probe sees it.
type SilentFailure struct {
	ID    string
	Title string
	Fix   string // the whole advice in one line
}

// Silent lists the failures with no text to match.
func Silent() []SilentFailure {
	return []SilentFailure{
		{"git-hooks-skipped", "git silently skips the hooks of a shared hook directory",
			"in the user settings, add the directory of core.hooksPath, and the directory that its links lead to, to sandbox.filesystem.allowRead; then start a new session"},
		{"sandbox-silently-off", "The settings ask for a sandbox and commands run without one",
			"install what the sandbox needs (bubblewrap and socat on Linux) and set sandbox.failIfUnavailable to true, so that a session without a sandbox does not start"},
		{"allowlist-not-enforced", "Hosts outside the list can be reached",
			"update the client; until then treat the network as open, and keep secrets out of the session's reach"},
		{"excluded-leak", "One excluded part takes a whole compound command out of the sandbox",
			"update the client to 2.1.315 or newer, or empty sandbox.excludedCommands"},
		{"linux-enoent-denial", "A denied read looks like a missing file",
			"add the one path that is needed to sandbox.filesystem.allowRead; never a whole home directory"},
		{"settings-env-tmpdir", "env.TMPDIR in the settings has no effect",
			"remove it: the client sets TMPDIR itself in the sandbox"},
		{"pipes-empty", "Pipes lose their data in the sandbox",
			"update the client; some versions 2.0 and 2.1 on Linux lose what goes through a pipe, without an error"},
	}
}

func silent(id string) (SilentFailure, bool) {
	for _, s := range Silent() {
		if s.ID == id {
			return s, true
		}
	}
	return SilentFailure{}, false
}
