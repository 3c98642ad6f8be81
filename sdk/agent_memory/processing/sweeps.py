"""Sweeps: pending work in the whole store, listed in slices of time, so that nothing ever reads all of it.

A slice is listed by an indexed time, up to a number of rows. If it holds more, the caller halves it. A slice of one
second is listed whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent_memory.models import now
from agent_memory.steps.prune import fading_before
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, MEMORIES, SUMMARIES, TURNS
from agent_memory.store.documents import Document

PAGE = 500
"""Most rows that one slice handles. Each costs a few requests, so a slice takes seconds."""
_NO_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Listing:
    """A kind of pending rows, and the query that lists those of a slice (`@since`, `@until`, `@limit`)."""

    container: str
    sql: str
    parameters: Callable[[], dict[str, str]] = dict


LISTINGS: dict[str, Listing] = {
    "idle": Listing(COUNTER, queries.QUIET_THREADS),
    "backfill": Listing(COUNTER, queries.IMPORTED_THREADS),
    "recount": Listing(TURNS, queries.RECENT_TURNS),
    "extracted": Listing(MEMORIES, queries.EXTRACTING_USERS),
    "fading": Listing(MEMORIES, queries.FADING_OF_USERS, lambda: {"before": fading_before(now())}),
    "intents": Listing(MEMORIES, queries.INTENTS_LEFT),
    "intents of summaries": Listing(SUMMARIES, queries.INTENTS_LEFT),
    "forgettings": Listing(MEMORIES, queries.FORGETTINGS_LEFT),
    "erasures": Listing(COUNTER, queries.ERASURES_LEFT),
}
"""What can wait, by name."""


async def waiting(store: Store, of: str, since: int, until: int, most: int = PAGE) -> list[Document] | None:
    """The pending rows of a slice of time, from `since` up to, but not including, `until` (seconds since 1970).

    None if that is more than `most` and the slice can be halved.
    """
    listing, divisible = LISTINGS[of], until - since > 1
    limit = most + 1 if divisible else _NO_LIMIT
    given = {"since": since, "until": until, "limit": limit, **listing.parameters()}
    rows = await store.query(listing.container, listing.sql, None, **given)
    return None if divisible and len(rows) > most else rows
