"""Optimistic writes: read, decide, write under the ETag that was read; start again if somebody else wrote first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from agent_memory.errors import Conflict, NotFound, StoreUnavailable
from agent_memory.store.client import Store
from agent_memory.store.documents import Document

R = TypeVar("R")

ATTEMPTS = 20
"""How often a change is tried. Each round one of the rivals succeeds, so 20 can write at the same time."""


class LostRace(Exception):
    """Somebody else wrote first, so the attempt starts again. Never leaves `until_written`."""


@contextmanager
def racing() -> Iterator[None]:
    """Around the write of an attempt: a changed ETag, a taken id or a missing document ends only this attempt."""
    try:
        yield
    except (Conflict, NotFound) as error:
        raise LostRace(str(error)) from error


async def until_written(attempt: Callable[[], Awaitable[R]], what: str) -> R:
    """Repeats an attempt until it wins. It must read afresh each time, and write inside `racing`.

    Raises:
        StoreUnavailable: if others wrote first each time; the call may be repeated. The error names `what` is written.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return await attempt()
        except LostRace:
            continue
    try:
        return await attempt()
    except LostRace as error:
        raise StoreUnavailable(f"too many writers change {what} at the same time: try again") from error


async def change_document(
    store: Store,
    container: str,
    item_id: str,
    partition: Sequence[str],
    change: Callable[[Document], Document],
    may_begin: Callable[[], Awaitable[bool]] | None = None,
) -> Document:
    """Changes a document, and creates it if there is none. A change that changes nothing is not written.

    With `may_begin` the document is created only if that returns True, and deleted again if it then returns False: the
    user may be erased at the same time, and a document written after the erasure's last query would stay for ever.

    Raises:
        StoreUnavailable: if others keep writing first. What `change` raises passes through.
    """

    async def attempt() -> Document:
        stored = await store.read(container, item_id, partition)
        changed = change(stored or {"id": item_id, "user_id": partition[0], "thread_id": partition[1]})
        if stored is not None:
            with racing():
                same = _plain(stored) == _plain(changed)
                return stored if same else await store.replace(container, changed, stored["_etag"])
        if may_begin is not None and not await may_begin():
            return changed
        with racing():
            created = await store.create(container, changed)
        if may_begin is not None and not await may_begin():
            await store.delete(container, item_id, partition)
        return created

    return await until_written(attempt, f"{item_id} of {partition[0]}")


async def change_existing(
    store: Store,
    container: str,
    item_id: str,
    partition: Sequence[str],
    change: Callable[[Document], Document | None],
    *,
    known: Document | None = None,
) -> bool:
    """Changes a document; False if there is none, or if `change` returns None.

    The document gets a new ETag even if nothing in it differs. `known` is the document if it was read already.

    Raises:
        StoreUnavailable: if others keep writing first. What `change` raises passes through.
    """
    first = [known] if known is not None else []

    async def attempt() -> bool:
        stored = first.pop() if first else await store.read(container, item_id, partition)
        changed = None if stored is None else change(stored)
        if stored is None or changed is None:
            return False
        with racing():
            await store.replace(container, changed, stored["_etag"])
        return True

    return await until_written(attempt, f"{item_id} of {partition[0]}")


def _plain(document: Document) -> Document:
    return {name: value for name, value in document.items() if name[0] != "_"}
