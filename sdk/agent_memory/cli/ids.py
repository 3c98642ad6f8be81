"""Ids as people type them: the last characters of a memory's id, which differ more than the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_memory.cli.failures import with_hint
from agent_memory.errors import InvalidInput, NotFound
from agent_memory.text.patterns import linear

if TYPE_CHECKING:
    from agent_memory.models import Memory
    from agent_memory.sync import UserScope

_MADE = linear(r"[a-z_]+_[0-9a-f-]{24,28}(?P<end>[0-9a-f]{8})")
"""With 1,000 memories, about one store in 8,000 has two ids with the same ending."""
_TYPED = linear(r"[0-9a-f-]{8,31}")
_TYPES = ["fact", "episodic", "procedural", "reflection"]


def short_id(memory: Memory) -> str:
    """What a table shows of an id: its last characters if `full_id` finds the memory by them, else all of it."""
    made = _MADE.fullmatch(memory.id)
    listed = memory.kind != "chunk" and (memory.status == "active" or memory.superseded_by is None)
    return made["end"] if made and listed else memory.id


def full_id(scope: UserScope, typed: str, look: Callable[[str], object] | None = None) -> str:
    """The full id: the one that was typed, or the one that ends with it, if eight characters or more were typed.

    Anything else is returned unchanged.

    Args:
        scope: Whose memory.
        typed: An id, or the end of one.
        look: Finds an item by its id, or raises NotFound; by default it looks for memories.

    Raises:
        InvalidInput: if several ids end with it.
    """
    if not _TYPED.fullmatch(typed):
        return typed
    try:
        (look or scope.get)(typed)
    except NotFound:
        listed = [*scope.memories(types=_TYPES, include_superseded=True), *scope.review()]
    else:
        return typed
    found = [memory.id for memory in listed if memory.id.endswith(typed)]
    if len(found) > 1:
        several = InvalidInput(f"{len(found)} memories end with {typed}")
        raise with_hint(several, f"type more of the id: {', '.join(found)}")
    return found[0] if found else typed
