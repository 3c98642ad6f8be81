"""Sweeps: pending work in the whole store, listed in slices of time, so that nothing ever reads all of it.

A slice is listed by an indexed time, up to a number of rows. If it holds more, the caller halves it. A slice of one
second is listed in pages instead, in the order of the users.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from agent_memory.models import now
from agent_memory.steps.prune import fading_before
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, LEASES, MEMORIES, SUMMARIES, TURNS
from agent_memory.store.documents import Document

PAGE = 500
"""Most rows that one slice handles. Each costs a few requests, so a slice takes seconds."""
LOOK_BACK = timedelta(hours=3)
"""How far back a sweep looks if none has ended in that time. It is longer than the retries of the change feed."""
OVERLAP = timedelta(minutes=5)
"""How far a sweep looks behind the end of the last one. A choice, longer than a write may take to become visible."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A kind of pending rows, and the query that lists those of a slice (`@since`, `@until`, `@limit`)."""

    container: str
    sql: str
    parameters: Callable[[], dict[str, str]] = dict
    owner: str = "c.user_id"
    """The path of the user whose work waits."""


@dataclass(frozen=True, slots=True)
class Page:
    """The rows of a slice. If its second has more, those of the users behind `after` are still to be listed."""

    rows: list[Document]
    after: str | None = None


LISTINGS: dict[str, Listing] = {
    "idle": Listing(COUNTER, queries.QUIET_THREADS),
    "backfill": Listing(COUNTER, queries.IMPORTED_THREADS),
    "recount": Listing(TURNS, queries.RECENT_TURNS),
    "extracted": Listing(MEMORIES, queries.EXTRACTING_USERS),
    "fading": Listing(MEMORIES, queries.FADING_OF_USERS, lambda: {"before": fading_before(now())}),
    "untold": Listing(MEMORIES, queries.UNTOLD_OF_USERS),
    "intents": Listing(MEMORIES, queries.INTENTS_LEFT),
    "intents of summaries": Listing(SUMMARIES, queries.INTENTS_LEFT),
    "forgettings": Listing(MEMORIES, queries.FORGETTINGS_LEFT),
    "erasures": Listing(COUNTER, queries.ERASURES_LEFT, owner="c.of"),
}
"""What can wait, by name."""


async def waiting(
    store: Store, of: str, since: int, until: int, most: int = PAGE, after: str | None = None
) -> Page | None:
    """The pending rows of a slice of time, from `since` up to, but not including, `until` (seconds since 1970).

    None if that is more than `most` and the slice can be halved. `after` is that of the page before, in the same
    second.
    """
    listing = LISTINGS[of]
    given = {"since": since, "until": until, "limit": most + 1, **listing.parameters()}
    if after is None:
        rows = await store.query(listing.container, listing.sql, None, **given)
        if len(rows) <= most:
            return Page(rows)
        if until - since > 1:
            return None
    return await _in_turn(store, listing, most, after or "", given)


async def _in_turn(store: Store, listing: Listing, most: int, after: str, given: dict[str, object]) -> Page:
    """The next rows of a second, at most so many unless they are all of one user. No user is split between pages."""
    by_user = f"{listing.sql} AND {listing.owner} > @after ORDER BY {listing.owner}"
    rows = await store.query(listing.container, by_user, None, after=after, **given)
    if len(rows) <= most:
        return Page(rows)
    last = rows[-1]["user_id"]
    whole = [row for row in rows if row["user_id"] != last]
    if whole:
        return Page(whole, whole[-1]["user_id"])
    alone = f"{listing.sql.replace('TOP @limit ', '')} AND {listing.owner} = @after"
    del given["limit"]
    return Page(await store.query(listing.container, alone, None, after=last, **given), last)


async def begin_of(store: Store, name: str, moment: int) -> int:
    """From when on a sweep must look (seconds since 1970): a little before where the last one ended, hours at most."""
    stored = await store.read(LEASES, _place(name), (_place(name),))
    earliest = moment - int(LOOK_BACK.total_seconds())
    return earliest if stored is None else max(earliest, stored["until"] - int(OVERLAP.total_seconds()))


async def note_swept(store: Store, name: str, until: int) -> None:
    """Notes that a sweep has handled everything before a time."""
    await store.upsert(LEASES, {"id": _place(name), "until": until})


def _place(name: str) -> str:
    return f"swept_{name}"
