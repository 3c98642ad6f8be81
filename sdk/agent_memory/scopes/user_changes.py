"""What changes in the memories of a user."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from agent_memory.errors import InvalidInput
from agent_memory.models import Changes, MemoryChange
from agent_memory.scopes.user_part import UserPart
from agent_memory.store.changes import read_changes

MOST = 1000
LEAST_SECONDS = 0.1


class UserChanges(UserPart):
    """Tells what changed, page by page or as it happens."""

    async def changes(self, *, cursor: str | None = None, limit: int = 100) -> Changes:
        """What changed in the user's memories, the oldest change first.

        A memory is told in its present state: as `added`, as `updated` (pinned, linked, approved), as `superseded`
        (replaced or withdrawn; its `supersede_reason` says why), or, by the hash of its id alone, as `forgotten`.
        Changes come two seconds after they were written, ten from Azure. A change may be told twice, with the same
        `id`; several changes of one memory between two calls are told as one. Raw talk and what waits for review are
        not told.

        Args:
            cursor: Where to begin: the `cursor` of the page or the change before; `now` for what changes from now on.
                By default, with the oldest memory.
            limit: How many documents are read, 1 to 1,000. Those written in one second come together.

        Raises:
            InvalidInput: for another limit, or a cursor that cannot be read.
        """
        if not isinstance(limit, int) or not 1 <= limit <= MOST:
            raise InvalidInput(f"limit must be a number from 1 to {MOST}, not {limit!r:.60}")
        if cursor is not None and not isinstance(cursor, str):
            raise InvalidInput(f"a cursor is a text, not {cursor!r:.60}")
        page = await read_changes(self._runtime.store, self.user_id, cursor, limit)
        if page.changes:  # a page without any shows nothing, and is asked for all the time
            ids = [one.memory_id for one in page.changes]
            self._runtime.auditor.note(self.user_id, "changes", changes=False, thread_id=None, ids=ids)
        return page

    async def follow(self, *, cursor: str | None = None, every: float = 2.0) -> AsyncIterator[MemoryChange]:
        """Tells what changes in the user's memories as it happens, without end. See `changes`.

        Keep the `cursor` of the last change that you have dealt with, and give it to go on after a stop.

        Args:
            cursor: Where to begin; `now` for what changes from now on.
            every: Seconds between two looks at the store, at least 0.1. Each costs one query.

        Raises:
            InvalidInput: for a cursor that cannot be read, or a shorter time.
            StoreUnavailable: if the store does not answer; go on with the last cursor.
        """
        if not isinstance(every, int | float) or not every >= LEAST_SECONDS:
            raise InvalidInput(f"every is a number of seconds from {LEAST_SECONDS} on, not {every!r:.60}")
        while True:
            page = await self.changes(cursor=cursor)
            for change in page.changes:
                yield change
            cursor = page.cursor
            if not page.more:
                await asyncio.sleep(every)
