"""The listing of memories: its filters and pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from agent_memory.errors import InvalidInput
from agent_memory.models import Filter, Memory, Page
from agent_memory.runtime import Runtime
from agent_memory.scopes.shared import checked_filter, checked_time, memory_types
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
