package settings

import "strings"

// flags are the parts of the client's command line that decide about settings.
type flags struct {
	settings    string // the last --settings: the client takes only one
	sources     string
	sourcesSet  bool
	mode        string
	skipPrompts bool
	safe        bool
	bare        bool
	restricted  bool
	configRoot  string // where project and local files stand instead of in the start directory
	hostPolicy  bool   // --managed-settings: a host application's own policy
}

// parseFlags reads the client's arguments as its parser does: an option with a
// required value takes the next word whatever it looks like, one with an
// optional value or a list stops at the next word that begins with "-", and a
// repeated option counts once, the last time. (Seen with 2.1.332: of two
// --settings the last one decides, and an empty one stands for none.)
func parseFlags(args []string) (f flags) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return f
		}
		if !isOption(arg) {
			continue
		}
		name, value, attached := arg, "", false
		if strings.HasPrefix(arg, "--") {
			name, value, attached = strings.Cut(arg, "=")
		}
		switch optionKind(name) {
		case requiredValue:
			if !attached && i+1 < len(args) {
				i++
				value = args[i]
			}
		case valueList:
			if attached {
				break
			}
			if i+1 < len(args) {
				i++
			}
			for i+1 < len(args) && !isOption(args[i+1]) {
				i++
			}
		case optionalValue:
			if !attached && i+1 < len(args) && !isOption(args[i+1]) {
				i++
			}
		}
		switch name {
		case "--settings":
			f.settings = value
		case "--setting-sources":
			f.sources, f.sourcesSet = value, true
		case "--project-config-root":
			f.configRoot = value
		case "--permission-mode":
			f.mode = value
		case "--dangerously-skip-permissions":
			f.skipPrompts = true
		case "--safe-mode":
			f.safe = true
		case "--bare":
			f.bare = true
		case "--restricted":
			f.restricted = true
		case "--managed-settings":
			f.hostPolicy = true
		}
	}
	return f
}

// isOption is the parser's own test; a lone "-" is an operand.
func isOption(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// loads reports whether --setting-sources and --restricted leave a scope in.
func (f flags) loads(s Scope) (bool, string) {
	if s.trusted() && s != User {
		return true, ""
	}
	if f.restricted {
		return false, "the session was started with --restricted"
	}
	if !f.sourcesSet {
		return true, ""
	}
	for name := range strings.SplitSeq(f.sources, ",") {
		if strings.TrimSpace(name) == s.String() {
			return true, ""
		}
	}
	return false, "the session was started with --setting-sources " + f.sources
}

type valueKind int

const (
	noValue valueKind = iota
	requiredValue
	optionalValue
	valueList
)

// optionKind knows the options of client 2.1.332 that take values, the ones
// that its --help leaves out too.
func optionKind(name string) valueKind {
	switch name {
	case "--ablation", "--advisor", "--agent", "--agent-color", "--agent-id", "--agent-name", "--agent-type",
		"--agents", "--append-subagent-system-prompt", "--append-subagent-system-prompt-file",
		"--append-system-prompt", "--append-system-prompt-file", "--autocompact", "--client-data-url",
		"--debug-file", "--deep-link-last-fetch", "--deep-link-repo", "--effort", "--environment",
		"--fallback-model", "--fast-mode", "--forward-home-settings", "--inherit-permission-mode",
		"--initialize-fields", "--input-format", "--json-schema", "--lead-verify-key", "--managed-settings",
		"--max-budget-usd", "--max-thinking-tokens", "--max-turns", "--messaging-socket-path", "--model",
		"--name", "-n", "--output-format", "--parent-session-id", "--permission-mode",
		"--permission-prompt-tool", "--permission-prompts", "--plan-mode-instructions", "--plugin-dir",
		"--plugin-dir-no-mcp", "--plugin-url", "--prefill", "--proactivity", "--project-config-root",
		"--remote-control-session-name-prefix", "--resume-session-at", "--rewind-files", "--runner-declares",
		"--sdk-url", "--session-began-as-copy", "--session-id", "--setting-sources", "--settings",
		"--system-prompt", "--system-prompt-file", "--system-prompt-snapshot", "--task-budget", "--team-name",
		"--teammate-mode", "--thinking", "--thinking-display", "--trusted-folder", "--watch-artifact",
		"--watch-artifact-no-autoreact", "--workload":
		return requiredValue
	case "--cloud", "--debug", "-d", "--from-pr", "--prompt-suggestions", "--rc", "--remote", "--remote-control",
		"--resume", "-r", "--teleport", "--worktree", "-w":
		return optionalValue
	case "--add-dir", "--allowedTools", "--allowed-tools", "--betas", "--channels",
		"--dangerously-load-development-channels", "--disallowedTools", "--disallowed-tools", "--file",
		"--mcp-config", "--tools":
		return valueList
	}
	return noValue
}
