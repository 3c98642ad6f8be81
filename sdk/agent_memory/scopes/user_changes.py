"""The changes of a user's memories."""

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
    """Lists the changes of a user's memories, page by page or as they happen."""

    async def changes(self, *, cursor: str | None = None, limit: int = 100) -> Changes:
        """The changes of the user's memories, oldest first.

        Each change has the memory as it is now. Its type is `added`, `updated` (pinned, linked or approved),
        `superseded` (replaced or withdrawn; `supersede_reason` says why) or `forgotten` (only a hash of the id is
        left). A change appears two seconds after it was written, with Azure ten seconds. It may appear twice, with the
        same `id`. Several changes of one memory between two calls appear as one. Raw talk and memories that wait for
        review do not appear.

        Args:
            cursor: Where to begin: the `cursor` of the previous page or change, or `now` for later changes only. By
                default, the oldest memory comes first.
            limit: The most documents to read, 1 to 1,000. Documents written in the same second come together.

        Raises:
            InvalidInput: if the limit is out of range, or the cursor cannot be read.
        """
        if not isinstance(limit, int) or not 1 <= limit <= MOST:
            raise InvalidInput(f"limit must be a number from 1 to {MOST}, not {limit!r:.60}")
        if cursor is not None and not isinstance(cursor, str):
            raise InvalidInput(f"a cursor is a text, not {cursor!r:.60}")
        page = await read_changes(self._runtime.store, self.user_id, cursor, limit)
        if page.changes:  # an empty page reveals nothing, and callers ask for one every few seconds
            ids = [one.memory_id for one in page.changes]
            self._runtime.auditor.note(self.user_id, "changes", changes=False, thread_id=None, ids=ids)
        return page

    async def follow(self, *, cursor: str | None = None, every: float = 2.0) -> AsyncIterator[MemoryChange]:
        """Yields the changes of the user's memories as they happen, without end. See `changes`.

        Store the `cursor` of the last change that you handled. Pass it to continue after a stop.

        Args:
            cursor: Where to begin. `now` yields only later changes.
            every: Seconds between two polls of the store, at least 0.1. Each poll costs one query.

        Raises:
            InvalidInput: if the cursor cannot be read, or the time is too short.
            StoreUnavailable: if the store does not answer. Continue with the last cursor.
        """
        if not isinstance(every, int | float) or not every >= LEAST_SECONDS:
            raise InvalidInput(f"every must be at least {LEAST_SECONDS} seconds, not {every!r:.60}")
        while True:
            page = await self.changes(cursor=cursor)
            for change in page.changes:
                yield change
            cursor = page.cursor
            if not page.more:
                await asyncio.sleep(every)
