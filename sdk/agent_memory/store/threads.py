"""The threads of a user, the one that was written last first, in pages.

A page costs what it holds: turns are read newest first, without those of threads that are known already.
"""

from __future__ import annotations

from datetime import datetime

from agent_memory.errors import InvalidInput
from agent_memory.models import iso
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import TURNS

READ_AHEAD = 100
"""Turns that are looked at to find the next threads."""


async def newest_threads(
    store: Store, user_id: str, *, before: datetime | None = None, limit: int | None = None
) -> list[tuple[str, str]]:
    """Ids of threads, each with the time of its last turn; those that were last written ahead of a time, if given.

    They are `limit` at most, unless more have the time of the last one, so that a page can end at a time.

    Raises:
        InvalidInput: for a limit below 1.
    """
    if limit is not None and limit < 1:
        raise InvalidInput(f"a page holds at least 1, not {limit}")
    last: dict[str, str] = {}
    later: list[str] = []
    bound = {} if before is None else {"at": iso(before)}
    if before is not None:
        later = await store.query(TURNS, queries.THREADS_SINCE, (user_id,), at=iso(before))
    sql = queries.turns_of_others(bounded=bool(bound))
    while limit is None or len(last) < limit:
        rows = await store.query(TURNS, sql, (user_id,), known=[*later, *last], limit=READ_AHEAD, **bound)
        for row in rows:
            if limit is None or len(last) < limit:
                last.setdefault(row["thread_id"], row["created_at"])
        if len(rows) < READ_AHEAD:
            break
    if limit is not None and len(last) >= limit:
        end = min(last.values())
        same = await store.query(TURNS, queries.THREADS_AT, (user_id,), at=end, known=[*later, *last])
        last |= dict.fromkeys(same, end)
    return sorted(last.items(), key=lambda item: (item[1], item[0]), reverse=True)
