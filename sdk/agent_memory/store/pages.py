"""Pages of a listing by time, newest first. Documents with the same time are on the same page.

The token of a page, its `cursor`, holds only a time. It grants no access and remembers no filters.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.models import as_utc, iso
from agent_memory.store.documents import Document
from agent_memory.store.queries import Slice

Fetch = Callable[[Slice, dict[str, Any]], Awaitable[list[Document]]]
"""Runs a query for a slice of a listing, with the slice's parameters."""


async def newest(fetch: Fetch, *, before: datetime | None = None, limit: int | None = None) -> list[Document]:
    """The newest documents of a listing, or the newest before a time.

    The page exceeds `limit` only if several documents have the time of its last one. If it ended between them, its
    cursor could not say where the next page begins.

    Raises:
        InvalidInput: for a limit below 1.
    """
    if limit is not None and limit < 1:
        raise InvalidInput(f"a page holds at least 1, not {limit}")
    bound = {} if before is None else {"at": iso(before)}
    if limit is None:
        return await fetch(Slice("<" if bound else ""), bound)
    rows = await fetch(Slice("<" if bound else "", limited=True), {**bound, "limit": limit + 1})
    if len(rows) <= limit:
        return rows
    last = rows[limit - 1]["created_at"]
    if rows[limit]["created_at"] != last:
        return rows[:limit]
    return [row for row in rows if row["created_at"] != last] + await fetch(Slice("="), {"at": last})


def next_token(page: Sequence[Any], size: int, by: str) -> str | None:
    """The token of the next page, which holds items with an earlier time (the field `by`). None after the last page."""
    if len(page) < size:
        return None
    return token_of(min(getattr(item, by) for item in page))


def token_of(before: datetime) -> str:
    """The token of the page with items older than this."""
    return base64.urlsafe_b64encode(json.dumps({"before": iso(before)}).encode()).decode().rstrip("=")


def before_of(token: str) -> datetime:
    """The time in a token.

    Raises:
        InvalidInput: if the token does not come from this API.
    """
    try:
        padded = token + "=" * (-len(token) % 4)
        value = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        before = datetime.fromisoformat(value["before"])
        if before.tzinfo is None:
            raise ValueError("a time without a zone")
        before = as_utc(before)
    except (binascii.Error, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InvalidInput("this cursor was not issued by this API") from error
    return before
