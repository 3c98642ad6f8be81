"""Commits: what a step derived and how far it has come, written together or not at all (decision D5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_memory.models import iso, now
from agent_memory.store.client import Operation, Store
from agent_memory.store.cursors import Cursor
from agent_memory.store.documents import Document
from agent_memory.store.ids import cursor_id


@dataclass(frozen=True, slots=True)
class StoredCursor:
    """A cursor as it was read: with the ETag that its replacement must meet, and what the step keeps beside it."""

    cursor: Cursor
    etag: str | None
    extra: dict[str, Any]


async def read_cursor(store: Store, container: str, partition: Sequence[str], step: str) -> StoredCursor:
    """The cursor of a step in the partition that it commits to."""
    document = await store.read(container, cursor_id(step), partition)
    if document is None:
        return StoredCursor(Cursor(), None, {})
    return StoredCursor(Cursor.from_document(document), document["_etag"], document.get("extra", {}))


async def commit(
    store: Store,
    container: str,
    partition: Sequence[str],
    step: str,
    *,
    cursor: Cursor,
    etag: str | None,
    operations: Sequence[Operation] = (),
    extra: dict[str, Any] | None = None,
) -> None:
    """Writes documents and the cursor's next position in one transactional batch.

    Raises:
        Conflict: if the cursor has moved since it was read: another run committed first, and nothing was written.
    """
    document: Document = {
        "id": cursor_id(step),
        "user_id": partition[0],
        "thread_id": partition[1],
        "type": "cursor",
        "step": step,
        "updated_at": iso(now()),
        "extra": extra or {},
        **cursor.to_document(),
    }
    move: Operation = (
        ("create", (document,), {})
        if etag is None
        else ("replace", (document["id"], document), {"if_match_etag": etag})
    )
    await store.batch(container, partition, [*operations, move])


def create(document: Document) -> Operation:
    """The batch operation that writes a new document."""
    return ("create", (document,), {})


def upsert(document: Document) -> Operation:
    """The batch operation that writes a document, whatever was there."""
    return ("upsert", (document,), {})


def delete(item_id: str) -> Operation:
    """The batch operation that deletes a document."""
    return ("delete", (item_id,), {})
