"""A guard with what files of the published contract use of Python: imports of the
standard library, annotations, dataclasses, module state, keyword-only arguments."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

TRIGGERS: list[str] = ["gh"]

WORDS = re.compile(r"\b(secret|embargo)\b", re.IGNORECASE)
_SEEN: dict[str, int] = {}


@dataclass
class Found:
    where: str
    words: list[str] = field(default_factory=list)


def _scan(where: str, text: str) -> Found:
    _SEEN[where] = _SEEN.get(where, 0) + 1
    return Found(where, sorted({m.group(0).lower() for m in WORDS.finditer(text)}))


def guard(ctx) -> str | None:
    api = ctx.gh_api_posted_text()
    if api is not None:
        texts, readable = api
        if not readable:
            return "contributed[release-notes]: the text cannot be inspected"
        found = _scan("api", " ".join(texts))
    elif ctx.gh_subcommand() in (("pr", "create"), ("pr", "edit"), ("release", "create")):
        found = _scan("body", ctx.gh_body(include_title=True, read_files=True))
    else:
        return None
    if not found.words:
        return None
    if ctx.override("MAGPIE_ALLOW_NOTES"):
        return None
    allowed = ctx.committed_config_value("notes.md", "allowed_word")
    if allowed in found.words:
        return None
    payload = ctx.gh_input_json()
    assert payload is None or isinstance(payload, dict), json.dumps(payload)
    assert ctx.cwd and Path(ctx.cwd).is_dir()
    owner = ctx.target_repo_owner() or "?"
    return f"contributed[release-notes]: {found.where} for {owner} names {found.words}. Leave it out."
