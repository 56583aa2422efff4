package main

const usage = `status-line shows what a coding session is: whether commands run in a sandbox,
the folder, the branch, the pull request and the model.

Usage:
  status-line [--color=always|auto|never]   draw the line of the session on stdin
  status-line --explain                     say why the sandbox tag is what it is
  status-line --preview [--svg FILE]        draw sample sessions
  status-line configure                     arrange the line on a screen
  status-line config                        check status-line.toml
  status-line config get [KEY]              print one setting, or all
  status-line config set KEY VALUE          change one, and keep the rest of the file
  status-line --help | --version

It reads one JSON object, the status line payload of Claude Code, and prints the
line. It always prints something and ends with 0, also without input: the client
blanks the line otherwise.

  [sandbox] magpie | feat/walkthrough * +2 | #1211 Add the step | Opus 5

The tag:
  [sandbox]          commands run in the sandbox
  [sandbox-auto]     the same, and they run without asking
  [NO SANDBOX]       no setting switches the sandbox on, or one switches it off
  [sandbox?]         switched on, but this machine cannot start it
  [sandbox unknown]  a settings file that may decide cannot be read
  [no prompts]       follows when the session was started without permission prompts

Behind the branch: * tracked files differ, +N and -N commits ahead of and behind
the upstream as of the last fetch, ~ when git was too slow or is missing and this
is the last known state.

Wiring, in ~/.claude/settings.json:
  {
    "statusLine": {"type": "command", "command": "~/.local/bin/status-line"}
  }

Configuration, ~/.config/sallyport/status-line.toml (all optional):
  segments  = ["sandbox", "folder", "git", "pr", "model", "context"]
  lines     = [["sandbox", "folder", "git"], ["pr", "model"]]   # in place of segments
  separator = " | "
  theme     = "default"     # mono, high-contrast
  symbols   = "ascii"       # unicode, nerd
  color     = "auto"        # 16, 256, true, never
  width     = 0             # columns; 0: as the client says
  links     = true
  budget    = "150ms"       # how long the line waits for git
  [colors]
  branch    = "bold #d78700"
  [exec]
  refresh   = "10s"         # how long the output of exec:COMMAND is current
  limit     = "2s"          # how long COMMAND may run

More segments: context, cost, limits, effort, style, agent, session, duration,
lines, version, clock, text:LITERAL, exec:COMMAND. A layout that has no "sandbox"
gets it in front.

A colour is any of: bold, dim, underline, reverse, hash (each text its own), a name
such as red or bright-red, a number from 0 to 255, #rrggbb, none. [colors] takes:
plain, sandbox-on, sandbox-auto, sandbox-off, sandbox-cannot-start,
sandbox-unknown, no-prompts, folder, branch, operation, dirty, ahead, behind,
stale, pr, pr-approved, pr-pending, pr-changes-requested, pr-draft, pr-title,
model, text, good, warn, bad, separator.

A file with a mistake counts as missing; config and --explain name the line.

Environment: COLUMNS is the terminal's width. NO_COLOR switches colour and links
off. SALLYPORT_DEBUG=1 logs to stderr, any other value to the file it names.

configure starts the program status-line-configure, which stands beside this one.
It and config set keep the file as it was in ~/.local/state/sallyport/status-line.

Exit codes: 0; 64 for an unknown flag. config: 1 when the file has problems,
2 when a value cannot be set. configure: 2 when the file has mistakes or there is
no terminal.

Example:
  echo '{"workspace":{"current_dir":"'"$PWD"'"}}' | status-line
`
