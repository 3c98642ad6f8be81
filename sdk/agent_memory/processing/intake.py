"""Intake: from a batch of the change feed to the work that is due. The worker and the cloud triggers share it.

A read may be answered by a replica that lags behind the change feed. What it did not show is then counted and not
covered, and must stay due (`covered`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent_memory.errors import InvalidInput
from agent_memory.gathering import together
from agent_memory.language.roles import is_off
from agent_memory.models import now
from agent_memory.processing.due import Work, crossed, enabled_steps, steps_of
from agent_memory.rules.switches import known_rules, read_rules
from agent_memory.settings import Cadence
from agent_memory.steps.dead_letters import make_unreadable
from agent_memory.steps.gather import Tools
from agent_memory.steps.table import steps, those
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import LEASES, MEMORIES, TURNS
from agent_memory.store.counted import USER, ThreadCounter, UserCounter
from agent_memory.store.counters import Counted, Counters, Turns, count_extractions
from agent_memory.store.cursors import read_cursor
from agent_memory.store.documents import Document, to_document
from agent_memory.store.ids import STORE_USER
from agent_memory.store.turns import new_turn_ids
from agent_memory.telemetry import change_feed_failures, change_feed_lag

logger = logging.getLogger("agent_memory")

FEED_LEASE = "feed_memories_turns"
PAGE = 200
"""How many turns one page of the change feed has at most."""
AT_ONCE = 16
"""How many requests are sent at the same time while a batch is counted, unless a setting says otherwise."""

DAMAGED = (AttributeError, KeyError, TypeError, ValueError)
"""The errors that reading a malformed document raises."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What a batch of the change feed has changed: the counters of threads, and those of their users."""

    threads: list[ThreadCounter]
    users: dict[str, UserCounter]


async def count_changes(tools: Tools, counters: Counters, seconds: float) -> tuple[list[ThreadCounter], bool]:
    """Advances the counters by the new turns of the change feed, for about `seconds`.

    Returns the counters that changed, and whether the time ended before the feed did.
    """
    store, loop = tools.store, asyncio.get_running_loop()
    end, more = loop.time() + seconds, False
    parts = await feed_parts(store)
    touched: dict[tuple[str, str], ThreadCounter] = {}
    for part in parts:
        changes = store.changes(part["range"], part.get("continuation"), PAGE)
        async with contextlib.aclosing(changes):
            async for page, continuation in changes:
                counted = await count_turns(tools, counters, page)
                touched |= {(counter.user_id, counter.thread_id): counter for counter in counted}
                part["continuation"] = continuation
                await store.upsert(LEASES, {"id": FEED_LEASE, "parts": parts})
                if loop.time() >= end:
                    more = True
                    break
    return list(touched.values()), more


async def count_turns(tools: Tools, counters: Counters, documents: Iterable[Document]) -> list[ThreadCounter]:
    """Counts the turns of a batch, as `count_batch`; the counters of their threads."""
    return (await count_batch(tools, counters, documents)).threads


async def count_batch(tools: Tools, counters: Counters, documents: Iterable[Document], at_once: int = AT_ONCE) -> Batch:
    """Advances the counters by a batch of the change feed; skips documents that are no turns.

    A turn that cannot be counted (another program may have written it without a thread) becomes a dead letter, so that
    it does not block the others. Users are counted at the same time. If the store does not answer for one, the others
    are counted, and the first error is raised after that. A user whose counter is damaged, or would be too large for a
    document, is left out and logged, because a repetition would fail, too.
    """
    by_user: dict[str, dict[str, list[tuple[str, int]]]] = defaultdict(lambda: defaultdict(list))
    live: set[tuple[str, str]] = set()
    oldest = now().timestamp()
    for document in documents:
        if document.get("type") != "turn":
            continue
        problem = _problem(document)
        if problem is None:
            by_user[document["user_id"]][document["thread_id"]].append((document["id"], document["_ts"]))
            if not document.get("backfill"):
                live.add((document["user_id"], document["thread_id"]))
            oldest = min(oldest, document["_ts"])
        else:
            logger.warning("a turn in the change feed cannot be counted: %s", problem)
            await _keep_unreadable(tools.store, document, problem)
    if by_user:
        change_feed_lag.record(max(0.0, now().timestamp() - oldest))
    gate = asyncio.Semaphore(at_once)

    async def of_user(user_id: str, threads: Mapping[str, Turns]) -> Counted | None:
        try:
            return await counters.count_user(user_id, threads, gate, [n for n in threads if (user_id, n) not in live])
        except (*DAMAGED, InvalidInput):
            logger.exception("the turns of %s cannot be counted", user_id)
            change_feed_failures.add(1)
            return None

    counted = [one for one in await together(of_user(*one) for one in by_user.items()) if one is not None]
    return Batch([thread for one in counted for thread in one.threads], {one.user.user_id: one.user for one in counted})


async def _keep_unreadable(store: Store, document: Document, problem: str) -> None:
    """Keeps a turn that cannot be counted as a dead letter, unless its user was erased since its delivery."""
    letter = make_unreadable(document, problem)
    await store.upsert(MEMORIES, to_document(letter))
    owner = (letter.user_id,)
    if letter.user_id != STORE_USER and not await store.query(
        TURNS, queries.IDS_THAT_EXIST, owner, ids=[document.get("id")]
    ):
        await store.delete(MEMORIES, letter.id, (letter.user_id, letter.thread_id))


def _problem(document: Document) -> str | None:
    for name in ("id", "user_id", "thread_id"):
        if not isinstance(document.get(name), str) or not document[name]:
            return f"{name} is missing or not a text"
    return None if isinstance(document.get("_ts"), int) else "_ts is missing"


async def feed_parts(store: Store) -> list[Document]:
    """The parts of the change feed of turns, with how far the worker has counted each."""
    lease = await store.read(LEASES, FEED_LEASE, (FEED_LEASE,))
    # An earlier version wrote leases without parts. Counting their turns again changes nothing.
    parts: list[Document] = (lease or {}).get("parts") or [{"range": part} for part in await store.feed_ranges()]
    return parts


async def uncounted_turns(store: Store, counters: Counters) -> int:
    """How many turns are stored that the worker has not counted yet."""
    found: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
    for part in await feed_parts(store):
        async for page, _ in store.changes(part["range"], part.get("continuation"), PAGE):
            for turn in page:
                if turn.get("type") == "turn" and _problem(turn) is None:
                    found[turn["user_id"], turn["thread_id"]].append((turn["id"], turn["_ts"]))
    total = 0
    for place, turns in found.items():
        counter = await counters.get(*place)
        total += counter.counted(turns).count - counter.count
    return total


async def user_total(counters: Counters, user_id: str) -> int:
    """How many turns of a user were counted."""
    return (await counters.user(user_id)).total


def due_by_turns(user: UserCounter, cadence: Cadence) -> list[Work]:
    """The per-user workflows that are due by the number of the user's turns."""
    due = [step for step in those("user", "counted") if step.next_run is None]
    return [
        Work(step.name, user.user_id, "", user.total, step.every(cadence))
        for step in due
        if crossed(user.total, user.done.get(step.name, 0), step.every(cadence))
    ]


async def due_user_work(tools: Tools, counters: Counters, cadence: Cadence, user_id: str) -> list[Work]:
    """The per-user workflows that are due. The profile counts turns; reconciliation and deepening count extractions."""
    user = await counters.user(user_id)
    by_turns = {work.workflow: work for work in due_by_turns(user, cadence)}
    counted = those("user", "counted")
    by_extractions = cadence.deepen or any(step.next_run is not None and step.every(cadence) > 0 for step in counted)
    extractions = await count_extractions(tools.store, user_id) if by_extractions else 0
    work = []
    for step in counted:
        if step.name in by_turns:
            work.append(by_turns[step.name])
        elif step.next_run is not None:
            run = await step.next_run(tools, user_id, step.every(cadence), extractions)
            work += [] if run is None else [Work(step.name, user_id, "", run, 1)]
    if cadence.deepen and crossed(extractions, user.done.get("deepen", 0), cadence.deepen):
        work.append(Work("deepen", user_id, "", extractions, cadence.deepen))
    return work


async def is_wanted(tools: Tools, counters: Counters, work: Work) -> bool:
    """Whether due work may run. If a switch is off, the work is noted as done, so that it is not due again at once.

    Its turns stay as they are. Turns written while memory was on stay pending, and are processed when the switch is
    on again.
    """
    place = (tools.store, tools.policy, work.user_id, work.thread_id or None)
    if (await known_rules(*place)).derive:  # the work itself reads them again
        return True
    rules = await read_rules(*place)
    if not rules.derive:
        logger.info("nothing is derived for %s: %s", work.user_id, rules.reason)
        await mark(counters, work)
    return rules.derive


async def mark(counters: Counters, work: Work) -> None:
    """Notes that work has run (or was durably started), so that it is no longer due."""
    if work.thread_id:
        for step in steps_of(work.workflow):
            await counters.ran(work.user_id, work.thread_id, step, work.count)
    elif not _reads_its_cursor(work.workflow):
        await counters.user_ran(work.user_id, work.workflow, work.count)


async def mark_settled(
    tools: Tools,
    counters: Counters,
    cadence: Cadence,
    user_id: str,
    counts: Mapping[str, int],
    total: int,
    *,
    gave_up: bool = False,
) -> None:
    """Notes that everything has run for these threads (with their counts) of a user with `total` turns."""
    for thread_id, count in counts.items():
        await mark_read(tools, counters, user_id, thread_id, enabled_steps(cadence), count, gave_up=gave_up)
    for step in those("user", "counted"):
        if not _reads_its_cursor(step.name):
            await counters.user_ran(user_id, step.name, total)


async def mark_read(
    tools: Tools,
    counters: Counters,
    user_id: str,
    thread_id: str,
    names: Sequence[str],
    count: int,
    *,
    gave_up: bool = False,
) -> None:
    """Notes that steps have run for a thread with so many turns, except for turns that they could not read yet.

    If they `gave_up`, for all: a model that returned nothing usable is not called again until there are new turns.
    """
    counter = await counters.get(user_id, thread_id)
    for name in names:
        read = count if gave_up or name == USER else await covered(tools, counter, name, count)
        if read < count:
            logger.warning("%s has read %d of the %d turns of a thread; the rest stays due", name, read, count)
        await counters.ran(user_id, thread_id, name, read)


def _reads_its_cursor(workflow: str) -> bool:
    """Whether a step's own cursor says when it is due, so that no counter notes its runs."""
    return workflow in steps() and steps()[workflow].next_run is not None


LAG_SECONDS = 300
"""How long a replica may hide a turn; an older one that cannot be read was deleted. A choice, far above the usual."""


async def covered(tools: Tools, counter: ThreadCounter, name: str, count: int) -> int:
    """The count up to which a step that ran for `count` turns is done: all, or those that its cursor covers.

    All as well if nothing is left to read: the step or the memory is switched off, or the turns are gone.
    """
    step, store = steps()[name], tools.store
    place = (counter.user_id, counter.thread_id)
    cursor = (await read_cursor(store, step.container, step.partition_of(*place), name)).cursor
    unread = any(cursor.is_new(turn_id, ts) for turn_id, ts in counter.cursor.seen.items())
    if not unread or cursor.count >= count:
        return count
    if step.task is not None and is_off(tools.chat, step.task):
        return count
    if not (await read_rules(store, tools.policy, *place)).derive:
        return count
    recent = now().timestamp() - counter.cursor.ts <= LAG_SECONDS
    if recent:
        return cursor.count
    late = await new_turn_ids(store, place, replace(cursor, ts=max(cursor.ts, counter.cursor.ts)))
    return cursor.count if any(not counter.cursor.is_new(row["id"], int(row["_ts"])) for row in late) else count
