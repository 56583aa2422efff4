package main

const usage = `agent-guard-starlark runs guards written in Starlark. agent-guard starts it, from its
own directory or else from PATH, when a command is one that such a guard wants to see;
there is no need to start it by hand.

Usage:
  agent-guard-starlark
  agent-guard-starlark --help | --version

It reads requests from standard input, one JSON object a line, and answers on standard
output until the input ends. A guard has no file, no network and no clock; memory and
steps are bounded.

Exit codes: 0 when the input ended; 3 when a guard wanted too much memory; 4 after a
minute; 64 for an unknown flag.

Example, which runs the tests that the guard brings:
  agent-guard test ~/.config/sallyport/guards.d/no-force.star
`
