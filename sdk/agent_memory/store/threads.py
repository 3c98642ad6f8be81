"""The threads of a user, the one that was written last first, in pages.

Turns are read newest first, from where the page begins, without those of threads that were met on the way. So a page
costs what it holds, however many pages come ahead of it; threads of other pages cost as far as they were talked in
meanwhile.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.models import iso
from agent_memory.store import pages, queries
from agent_memory.store.client import Store
from agent_memory.store.containers import TURNS
from agent_memory.store.documents import Document

READ_AHEAD = 100
"""Turns that are looked at to find the next threads."""
MOST_KNOWN = 500
"""Threads whose turns are left out, those met last: 255 characters each at most, where a query may hold 512 KB."""


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
    met: dict[str, None] = {}

    async def fetch(part: queries.Slice, bounds: dict[str, Any]) -> list[Document]:
        known = list(met)[-MOST_KNOWN:]
        return await store.query(TURNS, queries.turns_of_others(part), (user_id,), known=known, **bounds)

    end = before
    while limit is None or len(last) < limit:
        rows = await pages.newest(fetch, before=end, limit=READ_AHEAD)
        fresh = list(dict.fromkeys(row["thread_id"] for row in rows if row["thread_id"] not in met))
        later = [] if before is None else await _written_since(store, user_id, before, fresh)
        met |= dict.fromkeys(fresh)
        for row in rows:
            if row["thread_id"] in fresh and row["thread_id"] not in later:
                last.setdefault(row["thread_id"], row["created_at"])
        if len(rows) < READ_AHEAD:
            break
        end = datetime.fromisoformat(rows[-1]["created_at"])
    found = sorted(last.items(), key=lambda item: (item[1], item[0]), reverse=True)
    return found if limit is None else [item for item in found if item[1] >= found[min(limit, len(found)) - 1][1]]


async def _written_since(store: Store, user_id: str, at: datetime, thread_ids: list[str]) -> list[str]:
    """Those of these threads that were written at a time or after it."""
    if not thread_ids:
        return []
    return await store.query(TURNS, queries.THREADS_SINCE, (user_id,), at=iso(at), threads=thread_ids)
