"""How a scope lists memories in pages, and searches the memory of groups together with its own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from agent_memory.errors import InvalidInput
from agent_memory.models import Filter, Hit, Memory, Page, SearchFilters
from agent_memory.recall.groups import check_groups, merged
from agent_memory.rules.switches import Asked
from agent_memory.runtime import Runtime
from agent_memory.scopes.shared import bounded, checked_filter, checked_time, find, memory_types
from agent_memory.store.ids import group_owner
from agent_memory.store.memories import list_memories
from agent_memory.store.pages import before_of


class Start(NamedTuple):
    """Where a page of a listing begins, at a time or a cursor, and its size."""

    before: datetime | None
    cursor: str | None
    limit: int | None

    @property
    def time(self) -> datetime | None:
        """The time before which the page begins.

        Raises:
            InvalidInput: if the time or the cursor cannot be read, or both are given.
        """
        if self.cursor is None:
            return checked_time(self.before, "before")
        if self.before is not None:
            raise InvalidInput("a page begins at `before` or at `cursor`, not at both")
        return before_of(self.cursor)


async def listed(
    runtime: Runtime,
    partition: tuple[str, ...],
    start: Start,
    types: Sequence[str] | None,
    as_of: datetime | None,
    filters: Filter | Mapping[str, Any] | None,
    *,
    include_superseded: bool,
) -> Page[Memory]:
    """The memories of a user or one of their threads, newest first, without chunks.

    Raises:
        InvalidInput: for an unknown type, an invalid filter, time or cursor, or a limit below 1.
    """
    memory_types(types)
    return await list_memories(
        runtime.store,
        *partition,
        types=types,
        include_superseded=include_superseded,
        as_of=checked_time(as_of, "as_of"),
        before=start.time,
        limit=start.limit,
        filters=checked_filter(filters),
    )


async def find_too(
    runtime: Runtime,
    partition: tuple[str, ...],
    query: str,
    limit: int | None,
    given: SearchFilters,
    asked: Asked,
    groups: Sequence[str],
) -> list[Hit]:
    """Searches a partition of a user, and the memory of these groups by their own rules.

    The user's switches and limits apply to everything, those of a group to its part.

    Raises:
        InvalidInput: if an argument is invalid.
        StoreUnavailable: if every part of one of the searches failed.
    """
    named = check_groups(groups)
    own = await find(runtime, partition, query, limit, given, asked)
    if not named:
        return own
    most = await bounded(runtime, partition, limit, asked)
    if not most:
        return []
    found = await asyncio.gather(*(find(runtime, (group_owner(group),), query, most, given, asked) for group in named))
    return merged(own, dict(zip(named, found, strict=True)))[:most]
