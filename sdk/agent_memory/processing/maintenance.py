"""Maintenance: finds and finishes work that a crash left, by queries that cost little if there is none.

Every write is made so that the next run finishes what a crash left half done. These functions look for work that no
next run is planned for.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from agent_memory.forgetting.deletion import finish_forgettings
from agent_memory.forgetting.erasure import pending_erasures
from agent_memory.gathering import a_few
from agent_memory.processing.activities import Activity, run_workflow
from agent_memory.processing.intake import AT_ONCE, DAMAGED, count_batch
from agent_memory.steps.gather import Tools
from agent_memory.steps.step import finish
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.counted import ThreadCounter, UserCounter
from agent_memory.store.counters import Counters
from agent_memory.store.documents import Document

logger = logging.getLogger("agent_memory")


@dataclass(frozen=True, slots=True)
class Recount:
    """The counters of recently written threads, and how many of their turns the change feed had missed.

    `damaged` is how many threads were left out because their counters cannot be read. `users` has the counters of the
    users whose turns were missed.
    """

    counters: list[ThreadCounter]
    missed: int
    damaged: int = 0
    users: Mapping[str, UserCounter] = field(default_factory=dict)


async def finish_intents(store: Store) -> int:
    """Carries out the intents that a crash left undone; returns how many memories it superseded. Costs two queries."""
    done = 0
    for container in (MEMORIES, SUMMARIES):
        for cursor in await store.query(container, queries.UNFINISHED_CURSORS):
            done += await finish(store, container, (cursor["user_id"], cursor["thread_id"]), cursor["step"])
    return done


async def finish_deletions(store: Store, counters: Counters, activities: Mapping[str, Activity]) -> int:
    """Finishes deletions and erasures that a crash interrupted; returns how many. Two queries if there are none."""
    done = await finish_forgettings(store, counters)
    for user_id in await pending_erasures(store):
        await run_workflow("erase", {"user_id": user_id}, activities)
        done += 1
    if done:
        store.scrub_later()
    return done


async def recount(tools: Tools, counters: Counters, rows: Sequence[Document], at_once: int = AT_ONCE) -> Recount:
    """Compares the counters with turns that are stored (`sweeps`), and counts those that the change feed missed."""

    async def counter_of(user_id: str, thread_id: str) -> ThreadCounter | None:
        try:
            return await counters.get(user_id, thread_id)
        except DAMAGED:
            logger.exception("the counter of a thread of %s cannot be read", user_id)
            return None

    keys = sorted({(row["user_id"], row["thread_id"]) for row in rows})
    read = dict(zip(keys, await a_few((partial(counter_of, *key) for key in keys), at_once), strict=True))
    seen = {key: counter for key, counter in read.items() if counter is not None}

    def is_missed(row: Document) -> bool:
        counter = seen.get((row["user_id"], row["thread_id"]))
        return counter is not None and counter.cursor.is_new(row["id"], row["_ts"])

    missed = [row for row in rows if is_missed(row)]
    counted = await count_batch(tools, counters, missed, at_once)
    mended = {(one.user_id, one.thread_id): one for one in counted.threads}
    left_out = read.keys() - seen.keys() | {(row["user_id"], row["thread_id"]) for row in missed} - mended.keys()
    return Recount(list((seen | mended).values()), len(missed), len(left_out), counted.users)


async def recently_extracted(store: Store, since: float) -> list[str]:
    """The users for whom something was extracted since a time."""
    return sorted(await store.query(MEMORIES, queries.RECENTLY_EXTRACTED, since=int(since)))
