"""Lanes: list the users whose imported threads or deepening wait, and start their work while there is room."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence

import azure.durable_functions as df

from agent_memory.models import iso
from agent_memory.processing.clock import Deepening
from agent_memory.processing.sweeps import waiting
from azure_functions.lane import LANE, LIST, START, User
from azure_functions.starts import Start, idle_id, is_active, of_deepening, start, start_idle
from azure_functions.wiring import Parts, open_parts

blueprint = df.Blueprint()
logger = logging.getLogger("agent_memory")

BACKFILL, DEEPEN = "backfill", "deepen"
DEEPENING = f"{LANE}-{DEEPEN}"
"""The id of the lane that deepens."""


def of_backfill(until: int) -> Start:
    """Starts the lane for all turns imported before a time (seconds since 1970). Only one runs at a time."""
    return Start(LANE, f"{LANE}-{BACKFILL}", {"slices": [[BACKFILL, 0, until]]})


def of_deepenings(due: Deepening, until: int) -> Start:
    """Starts the lane for all users who are due for deepening. When all are done, the next interval begins."""
    slices = [] if due.since is None else [["extracted", int(due.since.timestamp()), until], ["fading", 0, until]]
    users = [[DEEPEN, user_id, {}] for user_id in due.users]
    end = {"at": iso(due.at), "clock": due.clock}
    return Start(LANE, DEEPENING, {"slices": slices, "users": users, "end": end})


@blueprint.function_name(LIST)
@blueprint.activity_trigger(input_name="piece")
async def lane_list(piece: list) -> list | None:  # type: ignore[type-arg]  # the worker accepts plain types only
    """The users with such work in a slice of time; None if it holds too much and must be halved."""
    of, since, until = piece
    rows = await waiting((await open_parts()).runtime.store, of, since, until)
    if rows is None:
        return None
    threads: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        threads[row["user_id"]] |= {row["thread_id"]: row["count"]} if of == BACKFILL else {}
    return [[BACKFILL if of == BACKFILL else DEEPEN, user_id, counts] for user_id, counts in threads.items()]


@blueprint.function_name(START)
@blueprint.activity_trigger(input_name="given")
@blueprint.durable_client_input(client_name="client")
async def lane_start(given: dict, client: df.DurableOrchestrationClient) -> dict:  # type: ignore[type-arg]
    """Starts work for the next users up to the limit; returns how many it took, and which runs are active."""
    parts = await open_parts()
    gate = asyncio.Semaphore(parts.environment.feed_concurrency)

    async def runs(instance: str) -> bool:
        async with gate:
            return await is_active(client, instance)

    before: list[str] = given["running"]
    active = await asyncio.gather(*(runs(instance) for instance in before))
    running = [instance for instance, is_running in zip(before, active, strict=True) if is_running]
    taken: Sequence[User] = given["users"][: max(0, parts.environment.backfill_at_once - len(running))]
    started = await asyncio.gather(*(_start(parts, client, gate, *user) for user in taken))
    return {"taken": len(taken), "running": list(dict.fromkeys([*running, *started]))}


async def _start(
    parts: Parts,
    client: df.DurableOrchestrationClient,
    gate: asyncio.Semaphore,
    of: str,
    user_id: str,
    counts: dict[str, int],
) -> str:
    """Starts the work of a user; returns the id of its run."""
    deepening = of_deepening(user_id)
    async with gate:
        try:
            await (start(client, deepening) if of == DEEPEN else start_idle(parts, client, user_id, counts))
        except Exception:
            logger.exception("the %s of a user could not be started and will be tried again", of)
    return deepening.instance_id if of == DEEPEN else idle_id(user_id)
