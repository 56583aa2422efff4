package main

const usage = `agent-policy compiles one policy (paths, domains, shell commands) into the
configuration of every coding agent, and tells when they have drifted apart.

Usage:
  agent-policy [flags] <command>

Commands:
  init                      make policy.toml and empty shell rules
    --force                 replace existing files, after a backup
    --dir DIR               where (default: the directory of --config)
    --from claude=FILE      take the shell rules of a Claude settings file
  generate [AGENT|all]      show what is compiled; with -w write it
    -w, --write             write the targets; one line on stdout for each action
    -n, --dry-run           show what -w would do, write nothing
    --yolo                  the variant without asking
    --prune                 remove managed keys that the policy no longer has
    --no-probe              look at no file system: every machine compiles the same
    --force                 replace a rules file that agent-policy did not make
  diff [AGENT|all]          compare the targets with a fresh compilation
    --yolo, --no-probe      as above
    --ignore-missing        skip targets that do not exist
    --ci[=github|plain]     output for a CI job
  edit [srt|bash|config]    open a source in $VISUAL or $EDITOR; without, list them
  explain                   which rule covers this, for each agent?
    --path P [--op read|write], --command STR or --domain HOST
    --agent AGENT           this agent alone
    --yolo                  the variant without asking
  import AGENT FILE         turn a claude, codex or opencode file into sources
    --write                 write them if they do not exist
  revert [AGENT|all]        put back what stood in the targets before
    --list                  show the backups
    --yolo                  the targets of that variant
  agents                    list the agents and their targets

Agents: claude, copilot, codex; with restrictions alone copilot-sandbox, gemini,
opencode, kiro. "all" is what [agents] enabled names.

Flags:
  --config FILE   the configuration (default: $AGENT_POLICY_CONFIG, then
                  ~/.config/sallyport/policy.toml)
  --home DIR      the home directory that ~ stands for
  --json          one JSON object on stdout, nothing on stderr
  --quiet         no infos
  --strict        a warning is a failure: exit 1, nothing written
  --no-color      no colour (NO_COLOR does the same)
  --version       print version, commit and Go release

It reads two sources: the settings of Anthropic's sandbox runtime (paths and
domains) and bash-rules.json (deny, ask, allow). It changes only the parts of a
target that it compiles; every other byte stays. A policy that an agent cannot
express is narrowed or left out, with a warning; where it could open what was
meant to be closed, nothing is written for any agent.

Exit codes:
  0   done; for diff: no drift
  1   failed, nothing was written; for diff: drift
  2   diff alone: a target could not be compared
  64  usage
  edit passes on the editor's own code.

Example:
  agent-policy init
  agent-policy generate            # look
  agent-policy generate -w         # write
  agent-policy diff --ci           # in a CI job
`
