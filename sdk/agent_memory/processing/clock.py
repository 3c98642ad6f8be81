"""The clock of deepening: when it was last done, who is at it now, and whom it waits for.

One document among the leases, of which each change is made under its ETag. So all processes, also those that are
opened for minutes a day, keep the same time, and only one of them deepens.
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
"""For how long nobody else deepens after the last sign of whoever claimed it; a process may have been killed."""
RETRY = timedelta(minutes=10)
"""How long a user waits after a failure; twice as long after each further one, up to `LONGEST`."""
LONGEST = timedelta(hours=12)
MOST_WAITING = 1000
"""Users that are remembered as having failed; some 80 bytes each. If more have, a model or the store is away."""


@dataclass(frozen=True, slots=True)
class Deepening:
    """The users who are to be deepened by whoever claimed it, and what the clock will say once that is done."""

    users: list[str]
    at: datetime
    clock: Document


async def set_clock(store: Store, at: datetime) -> None:
    """Starts the clock, as if deepening had been done then."""
    await store.upsert(LEASES, {"id": DEEPENING_CLOCK, "at": iso(at)})


async def claim_deepening(store: Store, cadence: Cadence) -> Deepening | None:
    """Claims to deepen those who are due; None if nobody is, or somebody else is at it.

    Due are, when the time has come, all of whom something was extracted since the last time or something has faded;
    before that those who failed, after a while. A clock that is not there yet is started. One point read until then.
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
        {*await recently_extracted(store, last.timestamp()), *await fading_users(store, clock)} if all_due else set()
    )
    return Deepening(sorted((users - waiting.keys()) | ready), clock if all_due else last, claimed)


async def note_deepened(store: Store, due: Deepening, outcomes: Mapping[str, Exception | None]) -> Deepening | None:
    """Notes what became of some users, and that the work goes on; None if somebody else has taken it over.

    Who failed waits: until tomorrow if a budget is spent, else longer each time.
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
    """Gives up the claim; the clock moves if the work got `through`, else others go on with it.

    Where too many failed to be remembered, the claim stays until it lapses, and then all are done again. That costs
    no model call for those who were through.
    """
    if len(due.clock.get("waiting", {})) > MOST_WAITING:
        return
    free = {name: value for name, value in due.clock.items() if name != "claimed_at"}
    await _put(store, free | ({"at": iso(due.at)} if through else {}))


async def _put(store: Store, clock: Document) -> Document | None:
    """Replaces the clock as it was read; None if it has changed since."""
    try:
        return await store.replace(LEASES, clock, clock["_etag"])
    except (Conflict, NotFound):
        return None


def _next_try(clock: datetime, error: Exception, tries: int) -> datetime:
    if isinstance(error, QuotaExceeded):  # budgets are of a day (UTC)
        return datetime.combine(clock.date() + timedelta(days=1), time.min, clock.tzinfo)
    return clock + min(RETRY * (1 << min(tries - 1, 10)), LONGEST)


def _time(stored: str) -> datetime:
    return datetime.fromisoformat(stored)
