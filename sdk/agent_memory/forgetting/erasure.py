"""Erasure: deletes everything of a user, piece by piece; it survives a crash, and a final scan verifies it.

One small document records that the erasure is in progress; it is deleted last. Without turns nothing can be derived,
and without cursors no draft can be committed. So nothing comes back after a scan that finds nothing.
"""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Sequence

from agent_memory.errors import Conflict
from agent_memory.forgetting.deletion import delete_items
from agent_memory.models import iso, now
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, MEMORIES, SUMMARIES, TURNS
from agent_memory.store.documents import Document
from agent_memory.store.ids import ERASURES_THREAD, STORE_USER, derived_id

CONTAINERS = (TURNS, MEMORIES, SUMMARIES, COUNTER)
"""The containers with documents of users, in the order of deletion."""
PIECE = 1000
"""How many documents one piece deletes at most."""
_PARTITION = (STORE_USER, ERASURES_THREAD)


async def count_documents(store: Store, user_id: str) -> dict[str, int]:
    """How many documents a user has, by type."""
    types: Counter[str] = Counter()
    for container in CONTAINERS:
        types.update(await store.query(container, queries.TYPES, (user_id,)))
    return dict(sorted(types.items()))


async def begin_erasure(store: Store, user_id: str) -> None:
    """Notes that a user is to be erased. From then on any process finishes it. Does nothing if it is noted already."""
    document: Document = {
        "id": derived_id("erasure", user_id),
        "user_id": STORE_USER,
        "thread_id": ERASURES_THREAD,
        "type": "erasure",
        "of": user_id,
        "at": iso(now()),
    }
    with contextlib.suppress(Conflict):
        await store.create(COUNTER, document)


async def erase_piece(store: Store, user_id: str) -> tuple[dict[str, int], bool]:
    """Deletes up to 1,000 documents of a user; returns how many, by type, and whether any may be left.

    When a scan of all containers finds none, deletes the note of the erasure too.
    """
    for container in CONTAINERS:
        rows = await store.query(container, queries.SOME_OF_ALL, (user_id,), limit=PIECE)
        if rows:
            await _delete(store, container, user_id, rows)
            return dict(Counter(str(row.get("type")) for row in rows)), True
    await store.delete(COUNTER, derived_id("erasure", user_id), _PARTITION)
    return {}, False


async def pending_erasures(store: Store) -> list[str]:
    """The users whose erasure is not finished; for the operator. Costs one query of one partition."""
    return sorted(await store.query(COUNTER, queries.ERASURES, _PARTITION))


async def _delete(store: Store, container: str, user_id: str, rows: Sequence[Document]) -> None:
    threads: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        threads[row["thread_id"]].append(row["id"])
    for thread_id, ids in threads.items():
        await delete_items(store, container, (user_id, thread_id), ids)
