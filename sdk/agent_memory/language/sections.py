"""Answers in sections: `## SUMMARY` and the other headings of an account that is not JSON."""

from __future__ import annotations

import re
from typing import Any

from agent_memory.language.tasks import ArchiveOutput
from agent_memory.text.patterns import linear

_HEADING = linear(r"^\s*#+\s*(\w+)\s*:?\s*$", re.MULTILINE)
_BULLET = linear(r"^\s*(?:[-*•]|\d+[.)])\s+")
_COMMA_LISTS = {"topics", "entities"}


def read_sections(text: str) -> dict[str, Any] | None:
    """The fields of an account in sections; None if the text has no summary under its heading.

    Topics and entities are listed with commas, decisions and questions line by line; "None" is nothing, and so is a
    section that is missing.
    """
    parts = _HEADING.split(text)
    sections = {name.lower(): body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}
    if not sections.get("summary"):
        return None
    lists = {
        name: _entries(sections.get(name, ""), commas=name in _COMMA_LISTS)
        for name in ArchiveOutput.model_fields
        if name != "summary"
    }
    return {"summary": sections["summary"], **lists}


def _entries(body: str, *, commas: bool) -> list[str]:
    pieces = body.replace(",", "\n").split("\n") if commas else body.splitlines()
    entries = [_BULLET.sub("", piece).strip() for piece in pieces]
    return [entry for entry in entries if entry and entry.rstrip(".").lower() not in ("none", "[none]", "n/a")]
