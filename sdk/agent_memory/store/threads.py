"""The threads of a user in pages, the most recently written first; and the summary and state of a thread.

A page reads turns newest first, from where it begins, and leaves out the threads already seen. So its cost depends on
its size, not on the pages before it. Threads of earlier pages cost extra only for turns written since then.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.models import ThreadState, ThreadSummary, iso
from agent_memory.store import pages, queries
from agent_memory.store.client import Store
from agent_memory.store.containers import SUMMARIES, TURNS
from agent_memory.store.documents import Document, from_document
from agent_memory.store.ids import state_id, summary_id

READ_AHEAD = 100
"""How many turns one query reads to find the next threads."""
MOST_KNOWN = 500
"""How many of the last seen threads a query leaves out. An id has up to 255 characters, a query up to 512 KB."""


async def newest_threads(
    store: Store, user_id: str, *, before: datetime | None = None, limit: int | None = None
) -> list[tuple[str, str]]:
    """Ids of threads, each with the time of its last turn, newest first.

    With `before`, only threads whose last turn is older. The page exceeds `limit` only if several threads have the
    time of its last one, so that the next page can begin at a time.

    Raises:
        InvalidInput: for a limit below 1.
    """
    if limit is not None and limit < 1:
        raise InvalidInput(f"a page holds at least 1, not {limit}")
    last: dict[str, str] = {}
    met: dict[str, None] = {}

    async def fetch(part: pages.Slice, bounds: dict[str, Any]) -> list[Document]:
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
    """Which of these threads have a turn of this time or later."""
    if not thread_ids:
        return []
    return await store.query(TURNS, queries.THREADS_SINCE, (user_id,), at=iso(at), threads=thread_ids)


async def read_summary(store: Store, user_id: str, thread_id: str) -> ThreadSummary | None:
    """The current summary of a thread, if there is one."""
    document = await store.read(SUMMARIES, summary_id(user_id, thread_id), (user_id, thread_id))
    return from_document(ThreadSummary, document) if document else None


async def read_state(store: Store, user_id: str, thread_id: str) -> ThreadState | None:
    """The current state of a thread, until it expires."""
    document = await store.read(SUMMARIES, state_id(user_id, thread_id), (user_id, thread_id))
    return from_document(ThreadState, document) if document else None
