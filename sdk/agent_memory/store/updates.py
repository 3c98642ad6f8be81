"""Changing a document that others may change too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from agent_memory.errors import Conflict, NotFound, StoreUnavailable
from agent_memory.store.client import Store
from agent_memory.store.documents import Document

_RETRIES = 20


async def change_document(
    store: Store,
    container: str,
    item_id: str,
    partition: Sequence[str],
    change: Callable[[Document], Document],
    may_begin: Callable[[], Awaitable[bool]] | None = None,
) -> Document:
    """Reads, changes and writes a document under its ETag until nobody was in between; makes it if need be.

    With `may_begin` it is made only where that says so, and taken back where it no longer does: the user may be erased
    at the same time, and what is written behind the erasure's last look would stay for ever.

    Raises:
        StoreUnavailable: if others keep being faster. What `change` raises passes through.
    """
    for _ in range(_RETRIES):
        stored = await store.read(container, item_id, partition)
        changed = change(stored or {"id": item_id, "user_id": partition[0], "thread_id": partition[1]})
        try:
            if stored is not None:
                same = _plain(stored) == _plain(changed)
                return stored if same else await store.replace(container, changed, stored["_etag"])
            if may_begin is not None and not await may_begin():
                return changed
            created = await store.create(container, changed)
        except (Conflict, NotFound):
            continue
        if may_begin is not None and not await may_begin():
            await store.delete(container, item_id, partition)
        return created
    raise StoreUnavailable(f"{item_id} of {partition[0]} is written by too many at once")


def _plain(document: Document) -> Document:
    return {name: value for name, value in document.items() if name[0] != "_"}
