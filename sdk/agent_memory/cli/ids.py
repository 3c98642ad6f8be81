"""Ids as people type them: a memory is named by the last digits of its id, which differ more than the first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_memory.cli.failures import with_hint
from agent_memory.errors import InvalidInput

if TYPE_CHECKING:
    from agent_memory.sync import UserScope

_MADE = re.compile(
    r"[a-z_]+_[0-9a-f-]{24,28}(?P<end>[0-9a-f]{8})"
)  # of 1,000 memories, two end alike in one store of 8,000
_TYPED = re.compile(r"[0-9a-f]{4,31}")


def short_id(full: str) -> str:
    """What a table shows of an id: its last digits, or all of an id that somebody chose."""
    made = _MADE.fullmatch(full)
    return made["end"] if made else full


def full_id(scope: UserScope, typed: str) -> str:
    """The id of the memory that is meant. What looks like no end of one is given back as it is.

    Raises:
        InvalidInput: if several memories end so.
    """
    if not _TYPED.fullmatch(typed):
        return typed
    types = ["fact", "episodic", "procedural", "reflection"]
    found = [memory.id for memory in scope.memories(types=types, include_superseded=True) if memory.id.endswith(typed)]
    if len(found) > 1:
        several = InvalidInput(f"{len(found)} memories end with {typed}")
        raise with_hint(several, f"type more of it: {', '.join(found[:3])}")
    return found[0] if found else typed
