"""Slices of a sweep: lists the pending rows of a slice, and starts or does their work. A failing row stops no other."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from agent_memory.forgetting.deletion import finish_forgetting
from agent_memory.gathering import a_few, together
from agent_memory.processing.clock import Deepening, end_deepening
from agent_memory.processing.maintenance import recount
from agent_memory.processing.starts import Start, Starter, of_correction, of_deepening, of_erasure, of_reembedding
from agent_memory.processing.sweeps import begin_of, note_swept, waiting
from agent_memory.processing.workflows import SWEEP, Slice
from agent_memory.steps.step import finish
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.documents import Document

logger = logging.getLogger("agent_memory")

Json = dict[str, Any]
Act = Callable[[Starter, Sequence[Document]], Awaitable[int]]
"""Handles rows; returns how many failed."""

IN_FLIGHT = timedelta(minutes=5)
"""A turn that is younger than this may still be on its way to the counters."""
KEEP_HISTORIES = timedelta(days=7)
PURGE = "purge"
"""The slices whose histories the platform deletes; all others are rows of the store."""
PURGED_AT_ONCE = 600
"""Seconds of ended histories that one purge deletes."""


def start_of(name: str, slices: Sequence[Slice], **more: Json) -> Start:
    """The start of a sweep, with its `end` and its `spread` if it has them. There is one of each name at a time."""
    return Start(SWEEP, f"{SWEEP}-{name}", {"slices": list(slices), **more})


async def start_of_new(store: Store, name: str, until: int) -> Start:
    """The start of a sweep through what came after the last one of this name, up to a time (seconds since 1970)."""
    begin = await begin_of(store, name, until)
    end, spread = {"swept": name, "until": until}, {"since": begin, "until": until}
    return start_of(name, [[name, begin, until]], end=end, spread=spread)


def purge_of(until: int) -> Start:
    """The start of the sweep that deletes histories that ended before a time: the last hour's in small slices."""
    recent = range(until - 6 * PURGED_AT_ONCE, until, PURGED_AT_ONCE)
    small = [[PURGE, begin, begin + PURGED_AT_ONCE] for begin in recent]
    return start_of(PURGE, [[PURGE, 0, recent.start], *small], spread={"since": recent.start, "until": until})


async def start_maintenance(starter: Starter, now: int) -> None:
    """Starts the hourly sweeps: what crashes left, missed turns, due work, old histories; and a move to a new model.

    Each is a separate sweep, so none waits for another. One that cannot be started does not stop the others.
    """
    moving = of_reembedding(starter.tools)
    settled, old = (now - int(ago.total_seconds()) for ago in (IN_FLIGHT, KEEP_HISTORIES))
    news = {"recount": settled, "extracted": now + 1} | ({"untold": settled} if starter.cadence.summarize > 0 else {})

    async def start_new(name: str, until: int) -> bool:
        return await starter.start(await start_of_new(starter.store, name, until))

    left = ("intents", "intents of summaries", "forgettings", "erasures")
    hour = {"since": now - 3600, "until": now + 1}
    await together(
        [
            *([] if moving is None else [starter.start(moving)]),
            *(starter.start(start_of(name.replace(" ", "-"), [[name, 0, now + 1]], spread=hour)) for name in left),
            *(start_new(*one) for one in news.items()),
            starter.start(purge_of(old)),
        ]
    )


async def handle(starter: Starter, piece: Slice) -> Json:
    """Handles one slice: `halve` if it holds too much, else how many rows it `handled` and how many `failed`.

    With `after`, its second has more rows, which are those of the users behind that one.
    """
    of, since, until, *after = piece
    listed, act = _ACTS[of]
    page = await waiting(starter.store, listed, since, until, after=next(iter(after), None))
    if page is None:
        return {"halve": True}
    failed = await act(starter, page.rows)
    if page.rows:
        logger.info("sweep: %s, %d rows, %d failed", of, len(page.rows), failed)
    more = {} if page.after is None else {"after": page.after}
    return {"halve": False, "handled": len(page.rows), "failed": failed, **more}


async def end(store: Store, claim: Json) -> None:
    """Notes up to when a sweep has handled everything, unless rows failed; or that all users' deepening was started.

    Each run of a deepening is durable and repeats temporary failures itself.
    """
    if "swept" in claim:
        if not claim["failed"]:
            await note_swept(store, claim["swept"], claim["until"])
    else:
        await end_deepening(store, Deepening([], datetime.fromisoformat(claim["at"]), claim["clock"]), through=True)


async def _each(starter: Starter, work: Iterable[Callable[[], Awaitable[object]]]) -> int:
    """Does all work, a few pieces at a time; returns how many failed. Logs these; the next sweep finds them again."""

    async def fails(piece: Callable[[], Awaitable[object]]) -> bool:
        try:
            await piece()
        except Exception:
            logger.exception("a row of a sweep failed and will be tried again")
            return True
        return False

    return sum(await a_few((partial(fails, piece) for piece in work), starter.at_once))


async def _settle(starter: Starter, rows: Sequence[Document]) -> int:
    threads: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        threads[row["user_id"]][row["thread_id"]] = row["count"]
    return await _each(starter, (partial(starter.start_settling, *one) for one in threads.items()))


async def _recount(starter: Starter, rows: Sequence[Document]) -> int:
    recounted = await recount(starter.tools, starter.counters, rows, starter.at_once)
    if recounted.missed:
        logger.warning("%d turns were not counted by the change feed; it may be behind", recounted.missed)
    await starter.start_due(recounted.counters, recounted.users)
    return recounted.damaged


async def _start_due(starter: Starter, rows: Sequence[Document]) -> int:
    return await _each(starter, (partial(starter.start_due_of_user, user) for user in _users(rows)))


def _starting(of: Callable[[str], Start]) -> Act:
    async def act(starter: Starter, rows: Sequence[Document]) -> int:
        return await _each(starter, (partial(starter.start, of(user)) for user in _users(rows)))

    return act


async def _forget(starter: Starter, rows: Sequence[Document]) -> int:
    return await _each(starter, (partial(finish_forgetting, starter.store, starter.counters, row) for row in rows))


def _finish(container: str) -> Act:
    async def act(starter: Starter, rows: Sequence[Document]) -> int:
        work = [(container, (row["user_id"], row["thread_id"]), row["step"]) for row in rows]
        return await _each(starter, (partial(finish, starter.store, *one) for one in work))

    return act


def _users(rows: Sequence[Document]) -> list[str]:
    return sorted({row["user_id"] for row in rows})


_ACTS: dict[str, tuple[str, Act]] = {
    "idle": ("idle", _settle),
    "recount": ("recount", _recount),
    "extracted": ("extracted", _start_due),
    "deepen extracted": ("extracted", _starting(of_deepening)),  # sweeps of an earlier version started these two
    "deepen fading": ("fading", _starting(of_deepening)),
    # A reconciliation corrects summaries itself, unless a replica hid the replacement from it, or a model failed.
    "untold": ("untold", _starting(of_correction)),
    "intents": ("intents", _finish(MEMORIES)),
    "intents of summaries": ("intents of summaries", _finish(SUMMARIES)),
    "forgettings": ("forgettings", _forget),
    "erasures": ("erasures", _starting(of_erasure)),
}
"""For each kind of slice, what it lists and how its rows are handled."""
