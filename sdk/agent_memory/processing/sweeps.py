"""Sweeps: pending work in the whole store, listed in slices of time, so that nothing ever reads all of it.

A slice is listed by an indexed time, up to a number of rows. If it holds more, the caller halves it. A slice of one
second is listed in pages instead, in the order of the users.

A lane lists the users whose imported threads or deepening wait, and starts their work while there is room.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from agent_memory.gathering import a_few
from agent_memory.models import iso, now
from agent_memory.processing.clock import Deepening, claim_deepening, end_deepening
from agent_memory.processing.starts import IMPORT, Start, Starter, of_deepening, settling_id
from agent_memory.processing.workflows import LANE, Slice, User
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


logger = logging.getLogger("agent_memory")

Json = dict[str, Any]
BACKFILL, DEEPEN = "backfill", "deepen"
DEEPENING = f"{LANE}-{DEEPEN}"
"""The id of the lane that deepens."""
MOST_TRIES = 20
"""How often the lane tries to start the work of a user, every few seconds. An import is then found by the next sweep,
deepening waits for the next interval."""


def of_backfill(until: int) -> Start:
    """Starts the lane for all turns imported before a time (seconds since 1970). Only one runs at a time."""
    return Start(LANE, f"{LANE}-{BACKFILL}", {"slices": [[BACKFILL, 0, until]]})


def of_deepenings(due: Deepening, until: int) -> Start:
    """Starts the lane for all users who are due for deepening. When all are done, the next interval begins."""
    slices = [] if due.since is None else [["extracted", int(due.since.timestamp()), until], ["fading", 0, until]]
    users = [[DEEPEN, user_id, {}] for user_id in due.users]
    end = {"at": iso(due.at), "clock": due.clock}
    return Start(LANE, DEEPENING, {"slices": slices, "users": users, "end": end})


async def start_deepenings(starter: Starter) -> None:
    """Starts the lane that deepens when the clock says so. The lane takes over the claim on the clock."""
    if await starter.is_active(DEEPENING):
        return
    due = await claim_deepening(starter.store, starter.cadence, listed=False)
    if due is None:
        return
    try:
        await starter.start(of_deepenings(due, int(now().timestamp()) + 1))
    except BaseException:
        await end_deepening(starter.store, due, through=False)
        raise


async def users_in(store: Store, piece: Slice) -> list[User] | Json | None:
    """The users with such work in a slice of time; None if it holds too much and must be halved.

    If a second holds too much, the first `users` in it, and `after` which one the others are to be listed.
    """
    of, since, until, *after = piece
    page = await waiting(store, of, since, until, after=next(iter(after), None))
    if page is None:
        return None
    threads: dict[str, dict[str, int]] = defaultdict(dict)
    for row in page.rows:
        threads[row["user_id"]] |= {row["thread_id"]: row["count"]} if of == BACKFILL else {}
    users = [[BACKFILL if of == BACKFILL else DEEPEN, user_id, counts] for user_id, counts in threads.items()]
    return users if page.after is None else {"users": users, "after": page.after}


async def start_next(starter: Starter, users: Sequence[User], before: Sequence[str], most: int) -> Json:
    """Starts work for the next users, up to `most` at the same time with the runs that began `before`.

    Returns how many it took, for how many it started work, who failed and is to be tried again, and which runs are
    active.
    """
    active = await a_few((partial(starter.is_active, instance) for instance in before), starter.at_once)
    running = [instance for instance, is_running in zip(before, active, strict=True) if is_running]
    taken = users[: max(0, most - len(running))]

    async def starts(of: str, user_id: str, counts: Mapping[str, int], tries: int = 0) -> User | None:
        try:
            if of == DEEPEN:
                await starter.start(of_deepening(user_id))
            else:
                await starter.start_settling(user_id, counts, IMPORT)
        except Exception:
            logger.exception("the %s of a user could not be started, for the %d. time", of, tries + 1)
            return [of, user_id, counts, tries + 1]
        return None

    outcomes = await a_few((partial(starts, *user) for user in taken), starter.at_once)
    begun = [_run_of(*user[:2]) for user, failure in zip(taken, outcomes, strict=True) if failure is None]
    failed = [failure for failure in outcomes if failure is not None and failure[3] < MOST_TRIES]
    active_now = list(dict.fromkeys([*running, *begun]))
    return {"taken": len(taken), "started": len(begun), "failed": failed, "running": active_now}


def _run_of(of: str, user_id: str) -> str:
    return of_deepening(user_id).instance_id if of == DEEPEN else settling_id(user_id, IMPORT)
