"""Pages of a listing by time, newest first. Documents with the same time are on the same page.

The token of a page, its `cursor`, holds only a time. It grants no access and remembers no filters.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar

from agent_memory.errors import InvalidInput
from agent_memory.models import as_utc, iso
from agent_memory.store.documents import Document

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice of a listing by time. `@at` is the time compared with, `@limit` the most rows."""

    comparison: Literal["", "<", "="] = ""
    limited: bool = False

    @property
    def top(self) -> str:
        """The clause that limits the rows."""
        return "TOP @limit " if self.limited else ""

    @property
    def condition(self) -> str:
        """The condition on the time."""
        return f" AND c.created_at {self.comparison} @at" if self.comparison else ""


ALL = Slice()
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
    return encoded({"before": iso(before)})


def before_of(token: str) -> datetime:
    """The time in a token. Raises InvalidInput if the token does not come from this API."""
    return decoded(token, "before", _time)


def _time(value: Any) -> datetime:
    before = datetime.fromisoformat(value)
    if before.tzinfo is None:
        raise ValueError("a time without a zone")
    return as_utc(before)


def encoded(content: Mapping[str, Any]) -> str:
    """A cursor with this content. Readers must not look into it."""
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def decoded(cursor: str, field: str, read: Callable[[Any], T]) -> T:
    """A field of a cursor, as `read` returns it.

    Raises:
        InvalidInput: if the cursor was not issued by this API. `read` raises a ValueError or a TypeError then.
    """
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return read(json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))[field])
    except (binascii.Error, ValueError, TypeError, KeyError, RecursionError, AttributeError) as error:
        raise InvalidInput("this cursor was not issued by this API") from error
