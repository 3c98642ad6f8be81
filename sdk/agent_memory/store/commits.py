"""Commits: what a step derived and how far it has come, written together or not at all (docs/decisions/0005)."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from agent_memory.errors import Conflict
from agent_memory.models import iso, now
from agent_memory.store.client import Operation, Store
from agent_memory.store.cursors import Cursor
from agent_memory.store.documents import Document
from agent_memory.store.ids import cursor_id

T = TypeVar("T")

BATCH_OPERATIONS = 100
BATCH_BYTES = 1_800_000
"""Operations, and bytes of JSON, in a transactional batch. It holds 100, and 2 MB with its own frame (Azure Cosmos DB
service limits)."""


@dataclass(frozen=True, slots=True)
class StoredCursor:
    """A cursor as it was read: with the ETag that its replacement must meet, and what the step keeps beside it.

    The ETag is empty if none is stored.
    """

    cursor: Cursor
    etag: str
    extra: dict[str, Any]


async def read_cursor(store: Store, container: str, partition: Sequence[str], step: str) -> StoredCursor:
    """The cursor of a step in the partition that it commits to."""
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
    """What a step is to cover next, and the cursor, which was there before any of it was read.

    So a draft always names a version of a stored cursor, and whoever takes something out of its range afterwards, to
    forget it, makes the draft fail by touching or deleting that cursor. Nothing to cover leaves no cursor behind.
    """
    stored = await read_cursor(store, container, partition, step)
    found = await read(stored)
    if found and not stored.etag:
        with contextlib.suppress(Conflict):
            await store.create(container, cursor_document(partition, step, Cursor()))
        stored = await read_cursor(store, container, partition, step)
        found = await read(stored)
        if not found and stored.etag and stored.cursor == Cursor():  # it was forgotten, or its user erased, in between
            with contextlib.suppress(Conflict):
                unused: Operation = ("delete", (cursor_id(step),), {"if_match_etag": stored.etag})
                await store.batch(container, partition, [unused])
            stored = await read_cursor(store, container, partition, step)
    return stored, found


async def advance(
    store: Store,
    container: str,
    partition: Sequence[str],
    step: str,
    *,
    cursor: Cursor,
    etag: str,
    operations: Sequence[Operation] = (),
    extra: dict[str, Any] | None = None,
) -> None:
    """Writes documents and the cursor's next position in one transactional batch.

    Raises:
        Conflict: if the cursor has moved since it was read: another run committed first, and nothing was written.
    """
    document = cursor_document(partition, step, cursor, extra)
    move = replace(document, etag) if etag else create(document)
    await store.batch(container, partition, [*operations, move])


def cursor_document(
    partition: Sequence[str], step: str, cursor: Cursor, extra: dict[str, Any] | None = None
) -> Document:
    """The stored form of a step's cursor in the partition that it commits to."""
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


def in_batches(items: Iterable[T], size: Callable[[T], int] = lambda item: 0) -> Iterator[list[T]]:
    """Items in groups for which a transactional batch has room: one operation for each, of `size` bytes of JSON."""
    group: list[T] = []
    room = BATCH_BYTES
    for item in items:
        needed = size(item)
        if group and (len(group) == BATCH_OPERATIONS or needed > room):
            yield group
            group, room = [], BATCH_BYTES
        group.append(item)
        room -= needed
    if group:
        yield group


def create(document: Document) -> Operation:
    """The batch operation that writes a new document."""
    return ("create", (document,), {})


def upsert(document: Document) -> Operation:
    """The batch operation that writes a document, whatever was there."""
    return ("upsert", (document,), {})


def replace(document: Document, etag: str) -> Operation:
    """The batch operation that writes a document in the place of the version that has this ETag."""
    return ("replace", (document["id"], document), {"if_match_etag": etag})


def patch(item_id: str, fields: Mapping[str, Any]) -> Operation:
    """The batch operation that sets fields of a document that is there."""
    return ("patch", (item_id, [{"op": "set", "path": f"/{name}", "value": fields[name]} for name in fields]), {})


def delete(item_id: str) -> Operation:
    """The batch operation that deletes a document."""
    return ("delete", (item_id,), {})
