"""The clock of deepening: when it last ran, who runs it now, and which users wait after a failure.

It is one document among the leases, changed only under its ETag. So all processes share one clock, even those that run
for minutes a day, and only one of them deepens at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta

from agent_memory.errors import Conflict, NotFound, QuotaExceeded
from agent_memory.models import iso, now
from agent_memory.processing.maintenance import recently_extracted
from agent_memory.settings import Cadence
from agent_memory.steps.prune import fading_users
from agent_memory.store.client import Store
from agent_memory.store.containers import LEASES
from agent_memory.store.documents import Document

DEEPENING_CLOCK = "clock_deepen"
CLAIM = timedelta(hours=1)
"""How long after its last sign of life a claim lapses. The process that made it may have been killed."""
RETRY = timedelta(minutes=10)
"""How long a user waits after a failure. The wait doubles with each further one, up to `LONGEST`."""
LONGEST = timedelta(hours=12)
MOST_WAITING = 1000
"""How many failed users are remembered, at some 80 bytes each. If more fail, a model or the store is unavailable."""


@dataclass(frozen=True, slots=True)
class Deepening:
    """A claim: the users to deepen, and the time that the clock will show once that is done."""

    users: list[str]
    at: datetime
    clock: Document
    since: datetime | None = None
    """If every user is due: since when they may have new memories."""


async def set_clock(store: Store, at: datetime) -> None:
    """Sets the clock as if deepening had run at this time."""
    await store.upsert(LEASES, {"id": DEEPENING_CLOCK, "at": iso(at)})


async def claim_deepening(store: Store, cadence: Cadence, *, listed: bool = True) -> Deepening | None:
    """Claims the users who are due for deepening; None if nobody is, or another process deepens.

    Every `deepen_hours`, every user is due who has new memories since the last run, or memories that have faded. In
    between, users who failed are due after their wait. Starts a missing clock.
    Costs one point read while nobody is due. If not `listed`, users are only those who waited; the caller finds the
    others (`since`).
    """
    if cadence.deepen <= 0 or cadence.deepen_hours <= 0:
        return None
    stored, clock = await store.read(LEASES, DEEPENING_CLOCK, (DEEPENING_CLOCK,)), now()
    if stored is None:
        await set_clock(store, clock)
        return None
    if "claimed_at" in stored and clock - _time(stored["claimed_at"]) < CLAIM:
        return None
    waiting: dict[str, Document] = stored.get("waiting", {})
    ready = {user_id for user_id, wait in waiting.items() if _time(wait["until"]) <= clock}
    last = _time(stored["at"])
    all_due = clock - last >= timedelta(hours=cadence.deepen_hours)
    if not (all_due or ready):
        return None
    claimed = await _put(store, stored | {"claimed_at": iso(clock)})
    if claimed is None:
        return None
    users = (
        {*await recently_extracted(store, last.timestamp()), *await fading_users(store, clock)}
        if all_due and listed
        else set()
    )
    due = sorted((users - waiting.keys()) | ready)
    return Deepening(due, clock if all_due else last, claimed, last if all_due else None)


async def note_deepened(store: Store, due: Deepening, outcomes: Mapping[str, Exception | None]) -> Deepening | None:
    """Notes the outcome for some users and renews the claim; None if another process has taken over.

    A user who failed waits: until tomorrow if a budget is spent, else longer each time.
    """
    clock = now()
    waiting: dict[str, Document] = dict(due.clock.get("waiting", {}))
    for user_id, error in outcomes.items():
        before = waiting.pop(user_id, {})
        if error is not None and len(waiting) <= MOST_WAITING:
            tries = int(before.get("tries", 0)) + 1
            waiting[user_id] = {"tries": tries, "until": iso(_next_try(clock, error, tries))}
    noted = await _put(store, due.clock | {"waiting": waiting, "claimed_at": iso(clock)})
    return None if noted is None else replace(due, clock=noted)


async def end_deepening(store: Store, due: Deepening, *, through: bool) -> None:
    """Gives up the claim. The clock moves if all users were reached (`through`), else another process goes on.

    If too many users failed to remember them all, the claim stays until it lapses, and then all are deepened again.
    That costs no model call for those who succeeded.
    """
    if len(due.clock.get("waiting", {})) > MOST_WAITING:
        return
    free = {name: value for name, value in due.clock.items() if name != "claimed_at"}
    await _put(store, free | ({"at": iso(due.at)} if through else {}))


async def _put(store: Store, clock: Document) -> Document | None:
    """Replaces the clock that was read; None if it has changed since."""
    try:
        return await store.replace(LEASES, clock, clock["_etag"])
    except (Conflict, NotFound):
        return None


def _next_try(clock: datetime, error: Exception, tries: int) -> datetime:
    if isinstance(error, QuotaExceeded):  # a budget is for one day (UTC)
        return datetime.combine(clock.date() + timedelta(days=1), time.min, clock.tzinfo)
    return clock + min(RETRY * (1 << min(tries - 1, 10)), LONGEST)


def _time(stored: str) -> datetime:
    return datetime.fromisoformat(stored)
