"""Changing a document that others may change too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent_memory.errors import Conflict, NotFound, StoreUnavailable
from agent_memory.store.client import Store
from agent_memory.store.documents import Document

_RETRIES = 20


async def change_document(
    store: Store, container: str, item_id: str, partition: Sequence[str], change: Callable[[Document], Document]
) -> Document:
    """Reads, changes and writes a document under its ETag until nobody was in between; makes it if need be.

    Raises:
        StoreUnavailable: if others keep being faster. What `change` raises passes through.
    """
    for _ in range(_RETRIES):
        stored = await store.read(container, item_id, partition)
        changed = change(stored or {"id": item_id, "user_id": partition[0], "thread_id": partition[1]})
        try:
            if stored is None:
                return await store.create(container, changed)
            return await store.replace(container, changed, stored["_etag"])
        except (Conflict, NotFound):
            continue
    raise StoreUnavailable(f"{item_id} of {partition[0]} is written by too many at once")
