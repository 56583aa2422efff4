package plugin

import "strings"

// ValidName reports whether a guard can have this name as it is.
func ValidName(s string) bool { return s != "" && guardName(s) == s && s != "all" }

// Skeleton is a working guard with its tests, to be edited. kind is toml, star
// or py.
func Skeleton(name, kind string) string {
	text := map[string]string{"toml": skeletonTOML, "star": skeletonStar, "py": skeletonPy}[kind]
	return strings.NewReplacer("@NAME@", name, "@OVERRIDE@", "ALLOW_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))).Replace(text)
}

const skeletonTOML = `# A guard of agent-guard. It stops a command for which everything under [match]
# holds. Edit, then run: agent-guard test <this file>
name = "@NAME@"
title = "tags are pushed by the release job"
triggers = ["git"]            # the programs to look at; "git:push" for one command
decision = "deny"             # or "ask", "warn"
reason = "tags are pushed by the release job"
fix = "Push the branch alone"
override = "@OVERRIDE@"

[match]
subcommand = "push"
flags = ["--tags", "--follow-tags"]

[[test]]
command = "git push --tags origin main"
expect = "deny"

[[test]]
command = "git push origin main"
expect = "pass"
`

const skeletonStar = `# A guard of agent-guard in Starlark. guard(ctx) returns the reason why the
# command must not run, or None. Edit, then run: agent-guard test <this file>

TRIGGERS = ["git:push"]

def guard(ctx):
    if ctx.override("@OVERRIDE@"):
        return None
    for ref in ctx.refspecs:
        if (ref["dst"] or ref["src"]).startswith("release/"):
            return "release branches are pushed by the release job"
    return None

TESTS = [
    ("git push origin HEAD:release/1.0", "deny"),
    ("@OVERRIDE@=1 git push origin HEAD:release/1.0", "pass"),
    ("git push origin feature", "pass"),
]
`

const skeletonPy = `"""A guard of agent-guard in Python. guard(ctx) returns the reason why the command
must not run, or None. Edit, then run: agent-guard test <this file>"""

TRIGGERS = ["gh"]


def guard(ctx):
    if ctx.gh_subcommand() != ("pr", "merge") or "--admin" not in ctx.argv:
        return None
    if ctx.override("@OVERRIDE@"):
        return None
    return "--admin merges past the checks; wait for them, then merge without it"


TESTS = [
    ("gh pr merge 5 --admin", "deny"),
    ("@OVERRIDE@=1 gh pr merge 5 --admin", "pass"),
    ("gh pr merge 5", "pass"),
]
`
