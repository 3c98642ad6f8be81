"""How many extractions were committed for a user, over all threads: one document, whatever the number of threads.

Two partitions cannot be written at once. So an extraction is counted after its commit, as an intent that its cursor
keeps until it is carried out (`steps.step`). The intent may be carried out twice; the document remembers the last runs
that it counted.
"""

from __future__ import annotations

from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, MEMORIES
from agent_memory.store.documents import Document
from agent_memory.store.ids import COUNTERS_THREAD
from agent_memory.store.updates import racing, until_written

_ID = "extractions"
_KNOWN = 32
"""How many runs are remembered, at 40 bytes each. A run is counted again only if a process pauses between this count
and clearing its intent, another one clears it, and so many others are counted in between."""


async def count_extractions(store: Store, user_id: str) -> int:
    """How many extractions have been committed for a user. One point read once the first one was counted."""
    stored = await store.read(COUNTER, _ID, (user_id, COUNTERS_THREAD))
    document = stored or _begun(user_id, await _runs(store, user_id))
    return int(document["count"])


async def count_extraction(store: Store, user_id: str, run: str) -> None:
    """Counts a committed extraction, once however often it is called. Creates nothing for an erased user."""

    async def attempt() -> None:
        stored = await store.read(COUNTER, _ID, (user_id, COUNTERS_THREAD))
        if stored is not None:
            if run not in stored["known"]:
                with racing():
                    await store.replace(COUNTER, _with(stored, run), stored["_etag"])
            return
        runs = await _runs(store, user_id)  # of a new user, or of a store that an earlier version wrote
        if not runs:
            return
        begun = _begun(user_id, runs)
        with racing():
            await store.create(COUNTER, begun if run in begun["known"] else _with(begun, run))
        if not await _runs(store, user_id):  # erased at the same time
            await store.delete(COUNTER, _ID, (user_id, COUNTERS_THREAD))

    await until_written(attempt, f"the count of extractions of {user_id}")


async def _runs(store: Store, user_id: str) -> list[Document]:
    return await store.query(MEMORIES, queries.EXTRACTIONS, (user_id,))


def _begun(user_id: str, runs: list[Document]) -> Document:
    """The document from the cursors of all threads. It includes what these have committed and not counted yet."""
    return {
        "id": _ID,
        "user_id": user_id,
        "thread_id": COUNTERS_THREAD,
        "type": "extractions",
        "count": sum(row["runs"] for row in runs),
        "known": [row["counting"] for row in runs if row.get("counting")],
    }


def _with(document: Document, run: str) -> Document:
    return document | {"count": document["count"] + 1, "known": [*document["known"], run][-_KNOWN:]}
