"""Untold: memories that another conversation replaced, while the summary of their own thread is not yet corrected.

The mark (`untold_since`) is on the replaced memory and is written in the same request as the replacement. Once the
summary is corrected, the mark becomes null and stays, for when the successor is replaced or the summary is rebuilt.
The summary's `told_ids` name the memories of other conversations that it has been corrected by.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection

from agent_memory.errors import Conflict, NotFound
from agent_memory.models import Memory, Model, iso, now
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.documents import Document, from_document, in_groups
from agent_memory.store.ids import is_reserved

FIELDS = ("untold_since",)
"""The fields of a replaced memory that this module writes."""

REPEATING = ("duplicate", "rederived")
"""Why a memory was replaced, if its successor says the same."""


class Told(Model):
    """A replacement that a summary now knows, or that does not concern it."""

    memory_id: str
    since: str


def mark(thread_id: str) -> dict[str, str]:
    """The fields that mark a replaced memory; none in a reserved thread, which has no summary."""
    return {} if is_reserved(thread_id) else {"untold_since": iso(now())}


async def mark_earlier(store: Store, user_id: str, memory_id: str, thread_id: str | None) -> None:
    """Marks the memories that a newly replaced memory had itself replaced, if a summary states it because of that.

    These are the memories that said the same, and those that were ever marked. Leaves out `thread_id`, whose own turns
    brought the replacement. Costs a query, and one more for each step back.
    """
    for row in await _said_by(store, user_id, [memory_id]):
        changes = mark(row["thread_id"])
        if changes and row["thread_id"] != thread_id:
            with contextlib.suppress(Conflict, NotFound):
                await store.patch(MEMORIES, row["id"], (user_id, row["thread_id"]), changes, "FROM c WHERE true")


async def mark_again(store: Store, user_id: str, thread_id: str) -> None:
    """Marks again every memory of a thread that ever was marked, because the thread's summary is made again."""
    if is_reserved(thread_id):
        return
    partition = (user_id, thread_id)
    for memory_id in await store.query(MEMORIES, queries.TOLD, partition):
        with contextlib.suppress(Conflict, NotFound):
            await store.patch(MEMORIES, memory_id, partition, mark(thread_id), "FROM c WHERE IS_NULL(c.untold_since)")


async def threads_that_say(store: Store, user_id: str, memory_ids: Collection[str]) -> set[str]:
    """The threads whose summaries say these memories of other threads, or soon will."""
    found: set[str] = set()
    for ids in in_groups(memory_ids):
        found.update(await store.query(SUMMARIES, queries.SUMMARIES_TOLD, (user_id,), ids=ids))
        rows = await _said_by(store, user_id, ids)
        found.update(row["thread_id"] for row in rows if row.get("untold_since"))
    return found


async def _said_by(store: Store, user_id: str, memory_ids: Collection[str]) -> list[Document]:
    """The replaced memories in whose place a thread's summary may state these: similar ones, and those ever marked.

    Includes memories of no conversation, because other summaries may know them.
    """
    found: list[Document] = []
    ids = list(memory_ids)
    while ids:
        rows = await store.query(MEMORIES, queries.REPLACED_BY, (user_id,), ids=ids)
        known = {row["id"] for row in found}
        fresh = [
            row
            for row in rows
            if row["id"] not in known
            and ("untold_since" in row or row["supersede_reason"] in REPEATING or is_reserved(row["thread_id"]))
        ]
        found += fresh
        ids = [row["id"] for row in fresh]
    return found


async def untold(store: Store, user_id: str, thread_id: str) -> list[tuple[Memory, str]]:
    """The replaced memories that a thread's summary does not know yet, each with its mark."""
    rows = await store.query(MEMORIES, queries.UNTOLD, (user_id, thread_id))
    return [(from_document(Memory, row), row["untold_since"]) for row in rows]


async def untold_threads(store: Store, user_id: str) -> list[str]:
    """The threads of a user whose summaries do not know a replacement yet. Costs one query if there are none."""
    threads = await store.query(MEMORIES, queries.UNTOLD_THREADS, (user_id,))
    if not threads:
        return []
    return sorted(await store.query(SUMMARIES, queries.SUMMARISED, (user_id,), threads=threads))


async def clear_mark(store: Store, partition: tuple[str, str], told: Told) -> None:
    """Clears the mark of a memory, unless it was marked again meanwhile."""
    unless_again = f'FROM c WHERE c.untold_since = "{told.since}"'
    with contextlib.suppress(Conflict, NotFound):
        await store.patch(MEMORIES, told.memory_id, partition, {"untold_since": None}, unless_again)
