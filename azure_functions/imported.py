"""Imported threads: lists those that wait, and starts their work for the `backfill`, for as many users as may run."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict

import azure.durable_functions as df

from agent_memory.processing.sweeps import waiting
from azure_functions.backfill import BACKFILL, LIST, START, User
from azure_functions.starts import Start, idle_id, is_active, start_idle
from azure_functions.wiring import Parts, open_parts

blueprint = df.Blueprint()
logger = logging.getLogger("agent_memory")


def of_backfill(until: int) -> Start:
    """The start of the backfill of all that was imported before a time (seconds since 1970). There is one at a time."""
    return Start(BACKFILL, BACKFILL, {"slices": [[0, until]]})


@blueprint.function_name(LIST)
@blueprint.activity_trigger(input_name="piece")
async def backfill_list(piece: list) -> list | None:  # type: ignore[type-arg]  # the worker accepts plain types only
    """The users with imported threads in a slice of time; None if it holds too much and must be halved."""
    since, until = piece
    rows = await waiting((await open_parts()).runtime.store, BACKFILL, since, until)
    if rows is None:
        return None
    threads: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        threads[row["user_id"]][row["thread_id"]] = row["count"]
    return [list(one) for one in threads.items()]


@blueprint.function_name(START)
@blueprint.activity_trigger(input_name="given")
@blueprint.durable_client_input(client_name="client")
async def backfill_start(given: dict, client: df.DurableOrchestrationClient) -> dict:  # type: ignore[type-arg]
    """Starts the work of the next users, as many as there is room for; how many it took, and who is running."""
    parts = await open_parts()
    gate = asyncio.Semaphore(parts.environment.feed_concurrency)

    async def runs(instance: str) -> bool:
        async with gate:
            return await is_active(client, instance)

    before: list[str] = given["running"]
    active = await asyncio.gather(*(runs(instance) for instance in before))
    running = [instance for instance, is_running in zip(before, active, strict=True) if is_running]
    taken: list[User] = given["users"][: max(0, parts.environment.backfill_at_once - len(running))]
    await asyncio.gather(*(_start(parts, client, gate, *user) for user in taken))
    return {"taken": len(taken), "running": list(dict.fromkeys([*running, *(idle_id(user) for user, _ in taken)]))}


async def _start(
    parts: Parts, client: df.DurableOrchestrationClient, gate: asyncio.Semaphore, user_id: str, counts: dict[str, int]
) -> None:
    async with gate:
        try:
            await start_idle(parts, client, user_id, counts)
        except Exception:
            logger.exception("the import of a user could not be started and will be tried again")
