"""Cursors: how far a step has come in a partition, in the server's order (docs/decisions/0004).

A cursor holds the highest `_ts` covered, and the ids of the items in a short window before it. An item is new if its
`_ts` is not older than the window and its id is not among those. (Turns never change. For documents that do, the ETag
is used instead of the id.) So turns with an old `created_at`, turns of the same second, and turns that become visible
late are neither skipped nor processed twice. A step's results and its cursor are written together
(docs/decisions/0005).
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agent_memory.errors import Conflict
from agent_memory.models import iso, now
from agent_memory.store.client import Store
from agent_memory.store.documents import Document, Operation, create, replace
from agent_memory.store.ids import cursor_id

T = TypeVar("T")

OVERLAP_SECONDS = 2
"""How far behind the highest `_ts` an item may still turn up. The server sets `_ts` in whole seconds and replicates
the writes of one partition in order, so only the current second is still open."""

_LONGEST = 64
"""The longest id, in bytes, that a cursor holds as it is. The window of a thread that gets 2,500 turns with the longest
ids within a second would take 2.4 MB, and a document may have 2 MB. The ids that services and SHA-256 make are shorter:
a query must return the turns with longer ones again, and each of its runs would read all turns of the window."""
_DIGEST = "~"


def _key(item_id: str) -> str:
    """How a cursor names an item: by its id, or by a digest of a long one."""
    name = item_id.encode()
    return item_id if len(name) <= _LONGEST else _DIGEST + hashlib.sha256(name).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a step has read. `count` is the number of items covered so far, `runs` the number of commits."""

    ts: int = 0
    seen: Mapping[str, int] = field(default_factory=dict)
    count: int = 0
    runs: int = 0

    @property
    def since(self) -> int:
        """The lowest `_ts` that a new item may have."""
        return max(0, self.ts - OVERLAP_SECONDS)

    def is_new(self, item_id: str, ts: int) -> bool:
        """Whether an item has not been covered."""
        return ts >= self.since and _key(item_id) not in self.seen

    @property
    def named(self) -> list[str]:
        """The ids that it has seen, without the long ones: a query leaves them out, `is_new` tells all."""
        return [key for key in self.seen if not key.startswith(_DIGEST)]

    def advanced(self, items: Iterable[tuple[str, int]]) -> Cursor:
        """The cursor after these items (id and `_ts`), each of which was new."""
        fresh = {_key(item_id): ts for item_id, ts in items}
        ts = max([self.ts, *fresh.values()])
        window = {i: t for i, t in {**self.seen, **fresh}.items() if t >= ts - OVERLAP_SECONDS}
        return Cursor(ts, window, self.count + len(fresh), self.runs + 1)

    def without(self, item_ids: Iterable[str]) -> Cursor:
        """The cursor without the ids of deleted items. Their count stays."""
        gone = set(map(_key, item_ids))
        return dataclasses.replace(self, seen={key: ts for key, ts in self.seen.items() if key not in gone})

    def to_document(self) -> dict[str, Any]:
        """The fields that a stored cursor holds."""
        return {"ts": self.ts, "seen": dict(self.seen), "count": self.count, "runs": self.runs}

    @classmethod
    def from_document(cls, document: Mapping[str, Any] | None) -> Cursor:
        """Reads a stored cursor; nothing stored is the beginning."""
        if document is None:
            return cls()
        seen = {_key(item_id): ts for item_id, ts in document["seen"].items()}  # earlier versions kept long ids
        return cls(document["ts"], seen, document["count"], document["runs"])


@dataclass(frozen=True, slots=True)
class StoredCursor:
    """A cursor as read, with its ETag (empty if none is stored) and what the step stores with it."""

    cursor: Cursor
    etag: str
    extra: dict[str, Any]


async def read_cursor(store: Store, container: str, partition: Sequence[str], step: str) -> StoredCursor:
    """Reads the cursor of a step in the partition that the step commits to."""
    document = await store.read(container, cursor_id(step), partition)
    if document is None:
        return StoredCursor(Cursor(), "", {})
    return StoredCursor(Cursor.from_document(document), document["_etag"], document.get("extra", {}))


async def read_ahead(
    store: Store,
    container: str,
    partition: Sequence[str],
    step: str,
    read: Callable[[StoredCursor], Awaitable[Sequence[T]]],
) -> tuple[StoredCursor, Sequence[T]]:
    """Reads the next items for a step, and the cursor, which is stored before any of them is read.

    So a draft always has a version of a stored cursor. Deleting something in the draft's range touches or deletes that
    cursor, and the draft fails. If there is nothing to cover, no cursor is stored.
    """
    stored = await read_cursor(store, container, partition, step)
    found = await read(stored)
    if found and not stored.etag:
        with contextlib.suppress(Conflict):
            await store.create(container, cursor_document(partition, step, Cursor()))
        stored = await read_cursor(store, container, partition, step)
        found = await read(stored)
        if not found and stored.etag and stored.cursor == Cursor():  # forgotten in between, or its user erased
            with contextlib.suppress(Conflict):
                unused: Operation = ("delete", (cursor_id(step),), {"if_match_etag": stored.etag})
                await store.batch(container, partition, [unused])
            stored = await read_cursor(store, container, partition, step)
    return stored, found


def cursor_move(
    partition: Sequence[str], step: str, cursor: Cursor, etag: str, extra: dict[str, Any] | None = None
) -> Operation:
    """Moves a step's cursor on, in the transactional batch that writes what the step has made.

    The batch raises `Conflict` if another run moved the cursor first. It then writes nothing.
    """
    document = cursor_document(partition, step, cursor, extra)
    return replace(document, etag) if etag else create(document)


def cursor_document(
    partition: Sequence[str], step: str, cursor: Cursor, extra: dict[str, Any] | None = None
) -> Document:
    """The stored form of a step's cursor."""
    return {
        "id": cursor_id(step),
        "user_id": partition[0],
        "thread_id": partition[1],
        "type": "cursor",
        "step": step,
        "updated_at": iso(now()),
        "extra": extra or {},
        **cursor.to_document(),
    }
