package main

const usage = `Agent-guard stops commands of a coding agent that break a rule, whatever shell
form they take.

usage:
  agent-guard [--harness NAME] [--guards a,b] [--unattended] < event.json
  agent-guard --check [flags] COMMAND...
  agent-guard --exec [flags] COMMAND...
  agent-guard explain [--json] 'COMMAND LINE'
  agent-guard list [--json] [NAME...]
  agent-guard test [FILE...]
  agent-guard trust [--show | --revoke | --yes] [DIR]
  agent-guard new NAME [--toml | --star | --py] [--dir DIR]
  agent-guard log [--json] [FILE...]
  agent-guard replay [--examples N] [--json] [TRANSCRIPT...]
  agent-guard selftest [--harness NAME]

As a hook it reads one event and answers in the way of the harness: a reason
why the command must not run (deny), a question to the person (ask), or nothing.
It never says "allow". Every simple command of the line is judged, through
wrappers, nested shells, substitutions and aliases, and where it will really run.

  --harness NAME   claude (default), codex, opencode, kiro, gemini, cursor,
                   copilot or qwen; --opencode and --kiro are short for two
  --guards a,b     only these guards, with their own verdicts, also where the
                   configuration has them off
  --unattended     nobody can answer: every question becomes a refusal
  --check          judges a command: a command line in one word, or its words
  --exec           judges a command and becomes it; for wrappers on PATH

explain prints the commands that were found in a line, which guards looked, the
verdict, and where each rule comes from. list prints the guards and their state,
and names guard files that do not work; with names, their documentation. test
runs the guards' own examples, or those of guard files (.toml, .star, .py) and case
files (.jsonl), in repositories that it makes for them. trust shows the guards and
the guard.toml that a repository brings, asks, and lets them count until they
change. new writes a guard with its test. log prints the audit log. replay
judges the commands of past sessions (default: all transcripts below
~/.claude/projects), so that a rule can be tried before it is switched on.

selftest finds the hook in the configuration of the harness, starts it as the
harness would, and checks by the harness's rules that a refused command does not
run. In a session, ask the agent to run this, which is always refused and does
nothing: true agent-guard-selftest

Configuration: ~/.config/sallyport/guard.toml, then .sallyport/guard.toml in the
repository, which can only make rules stricter:

  on_error = "allow"          # or "ask", "deny": when an event cannot be read
  inline_override = "allow"   # or "ask", "ignore": an override in the command
  unattended = "ci"           # ask becomes deny where CI is set
  [guards]
  credentials = "ask"         # deny, ask, warn or off
  [mark-ready]
  label = "ready for maintainer review"
  [log]
  enabled = true              # JSON Lines, one object a decision

Guards from files stand in ~/.config/sallyport/guards.d, in .sallyport/guards.d of a
repository once it is trusted, in guards.d beside the program, and in the
directories of AGENT_GUARD_DIRS and MAGPIE_GUARD_DIRS.

One command passes with AGENT_GUARD_ALLOW=<guard>[,<guard>] or AGENT_GUARD_OFF=1
in front of it or in the environment of the hook. MAGPIE_ALLOW_MENTIONS,
MAGPIE_ALLOW_COAUTHOR, MAGPIE_ALLOW_MARK_READY, MAGPIE_ALLOW_SECURITY_LANG,
MAGPIE_ALLOW_EMPTY_PUSH, MAGPIE_ALLOW_NO_VERIFY and MAGPIE_GUARD_OFF mean the
same for trees that use them.

Wiring for Claude Code, in settings.json:

  {"hooks": {"PreToolUse": [{"matcher": "Bash|PowerShell|Monitor|Write|Edit|NotebookEdit",
    "hooks": [{"type": "command", "command": "agent-guard"}]}]}}

exit codes:
  as a hook   0, or what the harness takes as a refusal
  --check     0 nothing to say, 2 deny, 3 ask; the reason is on stdout
  --exec      the program's own; 2 stopped, 126 not executable, 127 not found
  others      0 done, 1 a case or check failed or something is not trusted,
              2 unusable input, 3 refused, 64 wrong usage

example:
  $ agent-guard --check 'git commit -anm wip'
  agent-guard[no-verify]: ` + "`-anm`" + ` on git commit skips the hooks — …
`
