// Package policy compiles one canonical policy, a sandbox-runtime settings file
// and a list of shell rules, into what each coding agent understands.
//
// The sources are the only truth, and only the parts of a target that are ours
// change. What an agent cannot express is narrowed or left out, always with a
// warning; where a translation could open what was meant to be closed, nothing
// is written for any agent.
//
// Facts about the agents are those of docs/policy.md, with the versions they
// were seen with.
package policy

import "slices"

// An Agent is the id of a coding agent.
type Agent string

// Agents.
const (
	Claude         Agent = "claude"
	Copilot        Agent = "copilot"
	Codex          Agent = "codex"
	CopilotSandbox Agent = "copilot-sandbox"
	Gemini         Agent = "gemini"
	OpenCode       Agent = "opencode"
	Kiro           Agent = "kiro"
)

// Agents is every agent, in the order in which they are compiled and shown.
func Agents() []Agent {
	return []Agent{Claude, Copilot, Codex, CopilotSandbox, Gemini, OpenCode, Kiro}
}

func knownAgent(name string) bool { return slices.Contains(Agents(), Agent(name)) }

// extended agents get restrictions only.
func (a Agent) extended() bool { return !slices.Contains([]Agent{Claude, Copilot, Codex}, a) }
