package main

const usage = `status-line-configure is the screen on which a person arranges the status line:
what it shows, in which order and on how many lines, and its look, with a preview.

Usage:
  status-line configure [--color=always|auto|never]
  status-line-configure [--color=always|auto|never]
  status-line-configure --help | --version

It needs a terminal. It reads ~/.config/sallyport/status-line.toml, changes nothing
until the third page is confirmed, and then only the keys that were changed on the
screen: comments and everything else in the file stay. The file as it was is kept in
~/.local/state/sallyport/status-line.

Keys:
  up/down, j/k          go through the list; pgup, pgdown, home, end too
  space                 put a segment on the line, or take it off
  J/K, shift+up/down    move a segment
  n                     begin a new line at the segment
  e                     edit a text or command, or type a value
  left/right            choose a value
  tab, 1, 2, 3          pages: Segments, Look, Write
  p, P                  preview another sample session
  u                     undo everything
  w                     show what would be written; Enter there writes it
  q, Esc                leave without writing

Single colours are not on the screen: status-line config set colors.branch 'bold 208'.

Environment: NO_COLOR switches colour off.

Exit codes: 0, also without writing; 2 when the file has mistakes or there is no
terminal; 4 when the terminal failed; 64 for an unknown flag.

Example:
  status-line configure
`
