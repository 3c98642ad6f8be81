"""Untold: what was replaced in another conversation, so that the summary of its own does not know it yet.

The mark (`untold_since`) stands on the memory that was replaced and is written with the replacement, so nothing is
between the two. Once the summary has been told, it is null: so that it is known for later, when the successor is
replaced or the summary is made again. What the summary says now of other conversations stands in its `told_ids`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection

from agent_memory.errors import Conflict, NotFound
from agent_memory.models import Memory, Model, iso, now
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.documents import Document, from_document
from agent_memory.store.ids import is_reserved

FIELDS = ("untold_since",)
"""What a replaced memory carries of this beside its own."""


class Told(Model):
    """That a summary was told of a replacement, or says nothing that it concerns."""

    memory_id: str
    since: str


def mark(thread_id: str) -> dict[str, str]:
    """The fields that say of a replaced memory that the summary does not know it; none in a thread without one."""
    return {} if is_reserved(thread_id) else {"untold_since": iso(now())}


async def mark_earlier(store: Store, user_id: str, memory_id: str, thread_id: str | None) -> None:
    """Marks what a memory, which is replaced now, had replaced, where a summary says it because of that.

    Such are those that said the same, and those that were marked because of it; but not in `thread_id`, whose own
    talk brought the replacement. Costs a query, and one more for each step back.
    """
    for row in await _said_by(store, user_id, [memory_id]):
        changes = mark(row["thread_id"])
        if changes and row["thread_id"] != thread_id:
            with contextlib.suppress(Conflict, NotFound):
                await store.patch(MEMORIES, row["id"], (user_id, row["thread_id"]), changes, "FROM c WHERE true")


async def mark_again(store: Store, user_id: str, thread_id: str) -> None:
    """Marks all that ever was of a thread whose summary says again, or for the first time, what its turns said."""
    if is_reserved(thread_id):
        return
    partition = (user_id, thread_id)
    for memory_id in await store.query(MEMORIES, queries.TOLD, partition):
        with contextlib.suppress(Conflict, NotFound):
            await store.patch(MEMORIES, memory_id, partition, mark(thread_id), "FROM c WHERE IS_NULL(c.untold_since)")


async def threads_that_say(store: Store, user_id: str, memory_ids: Collection[str]) -> set[str]:
    """The threads whose summaries say these memories of other threads, or are about to."""
    ids = list(memory_ids)
    told = await store.query(SUMMARIES, queries.SUMMARIES_TOLD, (user_id,), ids=ids) if ids else []
    rows = await _said_by(store, user_id, ids)
    return {*told, *(row["thread_id"] for row in rows if row.get("untold_since"))}


async def _said_by(store: Store, user_id: str, memory_ids: Collection[str]) -> list[Document]:
    """What stands for these memories in the summary of its thread: replaced by them, and alike or ever marked.

    Also what was said in no conversation: others may have been told of it.
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
            and (
                "untold_since" in row
                or row["supersede_reason"] in ("duplicate", "rederived")
                or is_reserved(row["thread_id"])
            )
        ]
        found += fresh
        ids = [row["id"] for row in fresh]
    return found


async def untold(store: Store, user_id: str, thread_id: str) -> list[tuple[Memory, str]]:
    """The replaced memories of a thread that its summary does not know of, each with its mark."""
    rows = await store.query(MEMORIES, queries.UNTOLD, (user_id, thread_id))
    return [(from_document(Memory, row), row["untold_since"]) for row in rows]


async def untold_threads(store: Store, user_id: str) -> list[str]:
    """The threads of a user that have a summary which does not know of a replacement. One query if there are none."""
    threads = await store.query(MEMORIES, queries.UNTOLD_THREADS, (user_id,))
    if not threads:
        return []
    return sorted(await store.query(SUMMARIES, queries.SUMMARISED, (user_id,), threads=threads))


async def clear_mark(store: Store, partition: tuple[str, str], told: Told) -> None:
    """Takes the mark off a memory, unless it was marked again meanwhile."""
    unless_again = f'FROM c WHERE c.untold_since = "{told.since}"'
    with contextlib.suppress(Conflict, NotFound):
        await store.patch(MEMORIES, told.memory_id, partition, {"untold_since": None}, unless_again)
