"""Slices of a sweep: lists the pending rows of a slice, and starts or does their work. A failing row stops no other."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import azure.durable_functions as df

from agent_memory.forgetting.deletion import carry_out
from agent_memory.processing.clock import Deepening, end_deepening
from agent_memory.processing.maintenance import recount
from agent_memory.processing.sweeps import begin_of, note_swept, waiting
from agent_memory.steps.step import finish
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.documents import Document
from azure_functions.starts import (
    Start,
    of_correction,
    of_deepening,
    of_erasure,
    start,
    start_due,
    start_due_of_user,
    start_settling,
)
from azure_functions.sweeps import END, SLICE, SWEEP, Slice
from azure_functions.wiring import Parts, open_parts

blueprint = df.Blueprint()
logger = logging.getLogger("agent_memory")

Json = dict[str, Any]
Act = Callable[[Parts, df.DurableOrchestrationClient, Sequence[Document]], Awaitable[int]]
"""Handles rows; returns how many failed."""

PURGED_AT_ONCE = 600
"""Seconds of ended histories that one purge deletes."""
SHORTEST_PURGE = 60
"""A purge of so few seconds that fails is not halved."""
_Status = df.OrchestrationRuntimeStatus


def start_of(name: str, slices: Sequence[Slice], **more: Json) -> Start:
    """The start of a sweep, with its `end` and its `spread` if it has them. There is one of each name at a time."""
    return Start(SWEEP, f"{SWEEP}-{name}", {"slices": list(slices), **more})


async def start_of_new(parts: Parts, name: str, until: int) -> Start:
    """The start of a sweep through what came after the last one of this name, up to a time (seconds since 1970)."""
    begin = await begin_of(parts.runtime.store, name, until)
    end, spread = {"swept": name, "until": until}, {"since": begin, "until": until}
    return start_of(name, [[name, begin, until]], end=end, spread=spread)


def purge_of(until: int) -> Start:
    """The start of the sweep that deletes histories that ended before a time: the last hour's in small slices."""
    recent = range(until - 6 * PURGED_AT_ONCE, until, PURGED_AT_ONCE)
    small = [["purge", begin, begin + PURGED_AT_ONCE] for begin in recent]
    return start_of("purge", [["purge", 0, recent.start], *small], spread={"since": recent.start, "until": until})


@blueprint.function_name(SLICE)
@blueprint.activity_trigger(input_name="piece")
@blueprint.durable_client_input(client_name="client")
async def sweep_slice(piece: list, client: df.DurableOrchestrationClient) -> dict:  # type: ignore[type-arg]
    """Handles one slice: `halve` if it holds too much, else how many rows it `handled` and how many `failed`.

    With `after`, its second has more rows, which are those of the users behind that one.
    """
    of, since, until, *after = piece
    if of == "purge":
        return await _purge(client, since, until)
    parts = await open_parts()
    listed, act = _ACTS[of]
    page = await waiting(parts.runtime.store, listed, since, until, after=next(iter(after), None))
    if page is None:
        return {"halve": True}
    failed = await act(parts, client, page.rows)
    if page.rows:
        logger.info("sweep: %s, %d rows, %d failed", of, len(page.rows), failed)
    more = {} if page.after is None else {"after": page.after}
    return {"halve": False, "handled": len(page.rows), "failed": failed, **more}


@blueprint.function_name(END)
@blueprint.activity_trigger(input_name="claim")
async def sweep_end(claim: dict) -> int:  # type: ignore[type-arg]
    """Notes up to when a sweep has handled everything, unless rows failed; or that all users' deepening was started.

    Each run of a deepening is durable and repeats temporary failures itself.
    """
    store = (await open_parts()).runtime.store
    if "swept" in claim:
        if not claim["failed"]:
            await note_swept(store, claim["swept"], claim["until"])
    else:
        await end_deepening(store, Deepening([], datetime.fromisoformat(claim["at"]), claim["clock"]), through=True)
    return 0


async def _each(parts: Parts, work: Iterable[Callable[[], Awaitable[object]]]) -> int:
    """Does all work, a few pieces at a time; returns how many failed. Logs these; the next sweep finds them again."""
    gate = asyncio.Semaphore(parts.environment.feed_concurrency)

    async def one(piece: Callable[[], Awaitable[object]]) -> int:
        async with gate:
            try:
                await piece()
            except Exception:
                logger.exception("a row of a sweep failed and will be tried again")
                return 1
            return 0

    return sum(await asyncio.gather(*(one(piece) for piece in work)))


async def _settle(parts: Parts, client: df.DurableOrchestrationClient, rows: Sequence[Document]) -> int:
    threads: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        threads[row["user_id"]][row["thread_id"]] = row["count"]
    return await _each(parts, (partial(start_settling, parts, client, *one) for one in threads.items()))


async def _recount(parts: Parts, client: df.DurableOrchestrationClient, rows: Sequence[Document]) -> int:
    runtime, at_once = parts.runtime, parts.environment.feed_concurrency
    recounted = await recount(runtime.tools, runtime.counters, rows, at_once)
    if recounted.missed:
        logger.warning("%d turns were not counted by the change feed; it may be behind", recounted.missed)
    await start_due(parts, client, recounted.counters, recounted.users)
    return recounted.damaged


async def _start_due(parts: Parts, client: df.DurableOrchestrationClient, rows: Sequence[Document]) -> int:
    users = sorted({row["user_id"] for row in rows})
    return await _each(parts, (partial(start_due_of_user, parts, client, user) for user in users))


async def _deepen(parts: Parts, client: df.DurableOrchestrationClient, rows: Sequence[Document]) -> int:
    starts = [of_deepening(user) for user in sorted({row["user_id"] for row in rows})]
    return await _each(parts, (partial(start, client, one) for one in starts))


async def _correct(parts: Parts, client: df.DurableOrchestrationClient, rows: Sequence[Document]) -> int:
    """A reconciliation corrects summaries itself, unless a replica hid the replacement from it, or a model failed."""
    starts = [of_correction(user) for user in sorted({row["user_id"] for row in rows})]
    return await _each(parts, (partial(start, client, one) for one in starts))


async def _erase(parts: Parts, client: df.DurableOrchestrationClient, rows: Sequence[Document]) -> int:
    return await _each(parts, (partial(start, client, of_erasure(row["user_id"])) for row in rows))


async def _forget(parts: Parts, client: df.DurableOrchestrationClient, rows: Sequence[Document]) -> int:
    store, counters = parts.runtime.store, parts.runtime.counters
    return await _each(parts, (partial(carry_out, store, counters, row) for row in rows))


def _finish(container: str) -> Act:
    async def act(parts: Parts, client: df.DurableOrchestrationClient, rows: Sequence[Document]) -> int:
        store = parts.runtime.store
        work = [(container, (row["user_id"], row["thread_id"]), row["step"]) for row in rows]
        return await _each(parts, (partial(finish, store, *one) for one in work))

    return act


async def _purge(client: df.DurableOrchestrationClient, since: int, until: int) -> Json:
    begin, end = (datetime.fromtimestamp(at, UTC) for at in (since, until))
    ended = [_Status.Completed, _Status.Failed, _Status.Terminated]
    try:
        result = await client.purge_instance_history_by(begin, end, ended)
    except Exception:  # the client waits for four minutes at most
        if until - since <= SHORTEST_PURGE:
            raise
        logger.info("purging the histories of %s to %s takes too long; it is halved", begin, end)
        return {"halve": True}
    return {"halve": False, "handled": int(result.instances_deleted), "failed": 0}


_ACTS: dict[str, tuple[str, Act]] = {
    "idle": ("idle", _settle),
    "recount": ("recount", _recount),
    "extracted": ("extracted", _start_due),
    "deepen extracted": ("extracted", _deepen),  # these two belong to sweeps that an earlier version started
    "deepen fading": ("fading", _deepen),
    "untold": ("untold", _correct),
    "intents": ("intents", _finish(MEMORIES)),
    "intents of summaries": ("intents of summaries", _finish(SUMMARIES)),
    "forgettings": ("forgettings", _forget),
    "erasures": ("erasures", _erase),
}
"""For each kind of slice, what it lists and how its rows are handled."""
