package template

import (
	"fmt"
	"strings"
)

// Markdown is the page that lists every row with its reason.
func Markdown() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Project settings\n")
	line("`agent-setup project` writes these keys to `.claude/settings.json` of a repository, or merges them into the")
	line("file that is there. It shows a diff and asks first. What stands in the file stays: a value of yours is never")
	line("overwritten, nothing that your file denies is allowed, and entries of yours are listed as yours.\n")
	line("This page is made from the table that the program uses (`internal/template/table.go`).\n")
	line("## Levels\n")
	line("| level | what it holds |\n|---|---|")
	for _, l := range Levels() {
		line("| `%s` | %s |", l.Name, l.Title)
	}
	line("\n## Additions\n")
	line("`--preset` takes one level and any number of additions, as in `--preset recommended,gpg`.\n")
	line("| addition | what it is for | added by itself for a project with |\n|---|---|---|")
	for _, a := range Additions() {
		files := "–"
		if len(a.Manifests) > 0 {
			files = "`" + strings.Join(a.Manifests, "`, `") + "`"
		}
		if a.Group == GitHub {
			files = "any, except at the level `minimal`"
		}
		line("| `%s` | %s | %s |", a.Group, a.Title, files)
	}
	section := ""
	for _, r := range Table() {
		if r.Key != section {
			section = r.Key
			line("\n## `%s`", section)
		}
		from := "base"
		if r.Group != Base {
			from = "with `" + string(r.Group) + "`"
		}
		if r.Strict {
			from = "strict"
		}
		if r.Local {
			from += ", in `.claude/settings.local.json`"
		}
		line("\n%s (%s)\n", r.Why, from)
		switch {
		case r.Asked != "":
			line("- what `%s` says at the time", r.Asked)
		case r.List && len(r.Values) == 0:
			line("- an empty list")
		}
		for _, v := range r.Values {
			line("- `%s`", v)
		}
	}
	line("\n## Invariants\n")
	line("`agent-setup project --check` and `agent-setup verify` look for these, with the rules of `sandbox-lint`. An entry that")
	line("breaks one is named, and never removed by itself.\n")
	for _, inv := range Invariants() {
		rules := ""
		if len(inv.rules) > 0 {
			rules = " (" + strings.Join(inv.rules, ", ") + ")"
		}
		line("%d. %s%s", inv.Number, inv.Title, rules)
	}
	line("\n## Not set\n")
	for _, n := range [][2]string{
		{"sandbox.enableWeakerNetworkIsolation", "It opens the macOS trust service to commands, a documented way out for data. `--weaker-tls` sets it, for Go programs behind a proxy that ends TLS. The client reads it under `sandbox`, not under `network`."},
		{"sandbox.network.allowLocalBinding", "A project that starts servers in its tests sets it in the local file."},
		{"sandbox.network.allowUnixSockets", "macOS only, and absolute paths of one machine, so it belongs in the local file; never the socket of a container daemon."},
		{"env", "Addresses of sockets are paths of one machine."},
	} {
		line("- `%s`: %s", n[0], n[1])
	}
	return b.String()
}
