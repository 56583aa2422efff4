"""A guard that looks at argv and raw itself, as simple files do."""

TRIGGERS = ("git:commit", "git:push")


def guard(ctx):
    if ctx.git_subcommand() == "push":
        head = ctx.run(["git", "log", "-1", "--format=%s"])
        return "agent-guard[wip]: the last commit is work in progress." if head and head.startswith("wip") else None
    if "wip" not in ctx.raw or ctx.seg.override("MAGPIE_ALLOW_WIP"):
        return None
    if any(tok in ("--amend", "--fixup") or tok.startswith("--fixup=") for tok in ctx.argv):
        return None
    return "agent-guard[wip]: finish it first"
