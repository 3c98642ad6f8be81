"""Changes of a user's memories, read out of the memories themselves: nothing is stored for them.

Each document says when it changed last, and the store when it was written last (`_ts`, in whole seconds). A call
reports only the last change of each memory: one that was added and then replaced is reported as replaced. A forgetting
leaves hashes of the ids that it deleted for `FORGOTTEN_SECONDS`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from agent_memory.models import Changes, Memory, MemoryChange, hashed, iso
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import Document, from_document
from agent_memory.store.ids import derived_id
from agent_memory.store.pages import decoded, encoded

NOW = "now"
"""The cursor of a reader who wants only changes from now on."""
FORGOTTEN = "forgotten"
"""The type of the document that a forgetting leaves: hashes of ids."""
FORGOTTEN_SECONDS = 30 * 24 * 3600
"""How long it is kept, in seconds. A choice: longer than a reader of changes stays away."""
MOST_HASHES = 10_000
"""The most hashes in one such document: 0.8 MB."""
STORED_AT = "stored_at"
"""When a memory was imported; its other times are those of the store that it comes from."""
OPEN_SECONDS = 2
"""A page ends this long ago, because the current second may still get writes (as `cursors.OVERLAP_SECONDS`)."""
SKEW_SECONDS = 8
"""A page ends earlier by this much if the store is on a server, whose clock may differ from ours. A choice."""
_TYPES = ("fact", "episodic", "procedural", "reflection")
_LATEST = timedelta(hours=1)
"""The longest time from making a memory to writing it, with an outage of a model or of the store in between."""
_SOON = timedelta(minutes=1)
"""The usual time from making a memory to writing it."""


async def read_changes(store: Store, user_id: str, cursor: str | None, limit: int) -> Changes:
    """The changes behind a cursor, in the order of writing; from the oldest memory on without one. One query or two.

    The page has more than `limit` documents only if they were written in one second.

    Raises:
        InvalidInput: for a cursor that was not given by this method.
    """
    until = int(time.time()) - OPEN_SECONDS - (0 if store.in_process else SKEW_SECONDS)
    if cursor == NOW:
        return Changes(cursor=_token(until))
    since = 0 if cursor is None else decoded(cursor, "ts", _seconds)
    bounds = {"since": since, "until": until, "limit": limit + 1}
    rows = await store.query(MEMORIES, queries.CHANGES, (user_id,), **bounds)
    more = len(rows) > limit
    if more:
        last = rows[limit - 1]["_ts"]
        if rows[limit]["_ts"] == last:
            same = await store.query(MEMORIES, queries.CHANGES_AT, (user_id,), at=last)
            rows = [row for row in rows if row["_ts"] != last] + same
        else:
            rows = rows[:limit]
    end = rows[-1]["_ts"] if more else max(since, until)
    known = datetime.fromtimestamp(since, UTC) if cursor is not None else None
    told: list[MemoryChange] = []
    behind = since
    seconds = [row["_ts"] for row in rows]
    for place, row in enumerate(rows):
        if row["_ts"] not in seconds[place + 1 : place + 2]:  # the last of its second
            behind = row["_ts"]
        told += [one.model_copy(update={"cursor": _token(behind)}) for one in changes_in(row, known)]
    return Changes(changes=told, cursor=_token(end), more=more)


def changes_in(document: Mapping[str, Any], since: datetime | None) -> Iterator[MemoryChange]:
    """The changes in a document for a reader who has all changes up to `since`.

    Leaves out raw talk, documents, memories that wait for review, and changes that only reads or the index made.
    """
    if document.get("type") == FORGOTTEN:
        at = datetime.fromisoformat(document["at"])
        for named in document["memory_hashes"]:
            yield _change(FORGOTTEN, document["user_id"], named, at, None)
        return
    if document.get("type") not in _TYPES or document.get("kind") == "chunk":
        return
    memory = from_document(Memory, dict(document))
    if memory.status != "active" or memory.is_expired:
        return
    stored = document.get(STORED_AT)
    born = max([memory.recorded_at, *([datetime.fromisoformat(stored)] if stored else [])])
    at = max([born, *(one for one in (memory.updated_at, memory.superseded_at) if one is not None)])
    if since is not None and not _is_news(memory, at, since):
        return
    is_new = since is None or born > since or at == born
    kind = "superseded" if memory.superseded_by is not None else "added" if is_new else "updated"
    yield _change(kind, memory.user_id, memory.id, at, memory)


def left_by(job: Document) -> Iterator[Document]:
    """The record of a finished forgetting: hashes of the memories that it deleted, and of the id that it named.

    Readers of changes need the first, a repeated request needs the second.
    """
    hashes = sorted(hashed(memory_id) for memory_id in job["memories"] if not memory_id.startswith("chunk_"))
    named = {"named": job["named"]} if "named" in job else {}
    place = {"user_id": job["user_id"], "thread_id": job["thread_id"], "type": FORGOTTEN, "ttl": FORGOTTEN_SECONDS}
    at = iso(datetime.now(UTC))
    for start in range(0, len(hashes) or len(named), MOST_HASHES):
        key = [job["id"], *([str(start)] if start else [])]
        told = {"id": derived_id(FORGOTTEN, *key), "at": at, "memory_hashes": hashes[start : start + MOST_HASHES]}
        yield {**place, **told, **named}


def _is_news(memory: Memory, at: datetime, since: datetime) -> bool:
    """Whether a change at this time was written after `since`, as far as its document shows.

    A memory is written a little after its time. Counting uses writes it again, which is no change.
    """
    if at > since - _SOON:
        return True
    is_used = memory.last_accessed_at is not None and memory.last_accessed_at >= at
    return at > since - _LATEST and not is_used


def _change(kind: Any, user_id: str, memory_id: str, at: datetime, memory: Memory | None) -> MemoryChange:
    return MemoryChange(
        id=f"{memory_id}@{iso(at)}", type=kind, user_id=user_id, memory_id=memory_id, at=at, memory=memory
    )


def _token(seconds: int) -> str:
    return encoded({"ts": seconds})


def _seconds(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**40:
        raise ValueError("no time")
    return value
