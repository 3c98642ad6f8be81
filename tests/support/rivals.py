"""Rivals: writers who come in between a read and the write that rests on it, at the very moment that a test names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from agent_memory.store.client import Store
from agent_memory.store.documents import Document


def after_reading(
    patch: pytest.MonkeyPatch, store: Store, item_id: str, write: Callable[[], Awaitable[object]], times: int = 1
) -> None:
    """Lets a rival write after each of the next `times` point reads of a document, before the reader can go on."""
    read, left = store.read, times

    async def reading(container: str, asked: str, partition: Sequence[str]) -> Document | None:
        nonlocal left
        found = await read(container, asked, partition)
        if asked == item_id and left:
            left -= 1
            await write()
        return found

    patch.setattr(store, "read", reading)


def after_query(
    patch: pytest.MonkeyPatch, store: Store, container: str, sql: str, write: Callable[[], Awaitable[bool]]
) -> None:
    """Lets a rival write after a query, before the asker can go on, until `write` says that it has written."""
    query, done = store.query, False

    async def querying(asked: str, text: str, *rest: Any, **parameters: Any) -> list[Any]:
        nonlocal done
        rows = await query(asked, text, *rest, **parameters)
        if (asked, text) == (container, sql) and not done:
            done = await write()
        return rows

    patch.setattr(store, "query", querying)
