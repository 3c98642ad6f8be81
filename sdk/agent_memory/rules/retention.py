"""Retention: after how many days the store deletes memories of a type. By default it never does.

The days count from the last write of a document. A memory that is said again is written again, so its time starts
again. A memory can also have its own expiry (`expires_at`). From then on nothing shows it. The store deletes it at that
time, or, if it was changed after it was written, within the same span after that change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil

from agent_memory.errors import InvalidInput
from agent_memory.models import iso, now
from agent_memory.rules.switches import Rules
from agent_memory.store.documents import Document

SECONDS_PER_DAY = 86_400
LONGEST = 2**31 - 1
"""Seconds of a time to live at most (Azure Cosmos DB, time to live)."""
TYPES = ("fact", "episodic", "procedural", "reflection")


def check_retention(days: Mapping[str, int]) -> dict[str, int]:
    """Checks a caller's days for each memory type, and returns them.

    Raises:
        InvalidInput: for an unknown type, or a number of days outside 1 to 36500.
    """
    for name, number in days.items():
        if name not in TYPES:
            raise InvalidInput(f"retention_days: no memory type {name!r}; there are {', '.join(TYPES)}")
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 36_500:
            raise InvalidInput(f"retention_days: {name} is a number of days from 1 to 36500, not {number!r:.60}")
    return dict(days)


def check_expiry(expires_at: datetime | None, ttl: int | None) -> datetime | None:
    """When a memory expires, from a time or a number of seconds; None if neither is given.

    Raises:
        InvalidInput: for both, for a time that has passed or has no date, or for seconds outside 1 to 2^31 - 1.
    """
    if ttl is not None:
        if expires_at is not None:
            raise InvalidInput("a memory expires at a time or after seconds: pass expires_at or ttl, not both")
        if isinstance(ttl, bool) or not isinstance(ttl, int) or not 1 <= ttl <= LONGEST:
            raise InvalidInput(f"ttl is a number of seconds from 1 to {LONGEST}, not {ttl!r:.60}")
        return now() + timedelta(seconds=ttl)
    if expires_at is None:
        return None
    if not isinstance(expires_at, datetime):
        raise InvalidInput(f"expires_at is a datetime, not {expires_at!r:.60}")
    at = expires_at.replace(tzinfo=UTC) if expires_at.tzinfo is None else expires_at.astimezone(UTC)
    if at <= now():
        raise InvalidInput(f"expires_at has passed: {iso(at)}")
    return at


def with_retention(documents: Sequence[Document], rules: Rules) -> list[Document]:
    """The documents, each with its time to live: the setting of its type, or less if it expires earlier.

    Chunks may have a shorter one (`talk_days`); what was derived from the turns stays.
    """
    return [
        document if (seconds := _seconds(document, rules)) is None else document | {"ttl": seconds}
        for document in documents
    ]


def _seconds(document: Document, rules: Rules) -> int | None:
    days = [rules.retention_days.get(str(document.get("type")))]
    if document.get("kind") == "chunk":
        days.append(rules.talk_days)
    ends = [number * SECONDS_PER_DAY for number in days if number is not None]
    if document.get("expires_at") is not None:
        left = (datetime.fromisoformat(document["expires_at"]) - now()).total_seconds()
        ends.append(max(1, min(LONGEST, ceil(left))))
    return min(ends, default=None)
