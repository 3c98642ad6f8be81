"""Activities: one for each activity of the library; those of sweeps and lanes; one that notes what is done.

The platform may run an activity twice. The cursors in the store prevent double results.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

import azure.durable_functions as df

from agent_memory.errors import AgentMemoryError
from agent_memory.processing import slices, sweeps
from agent_memory.processing.activities import activity_names
from agent_memory.processing.payloads import pack, unpack
from azure_functions.orchestrators import FINISH, function_name, workflow_name
from azure_functions.sweeps import END, LIST, SLICE, START
from azure_functions.wiring import open_parts

blueprint = df.Blueprint()
logger = logging.getLogger("agent_memory")

Json = dict[str, Any]

SHORTEST_PURGE = 60
"""A purge of so few seconds that fails is not halved."""
_Status = df.OrchestrationRuntimeStatus


async def run(activity: str, payload: Json) -> Json:
    """Runs an activity. The answer has its `value`, or a permanent `error`. A temporary error is raised."""
    perform = (await open_parts()).runtime.activities[activity]
    try:
        value = await perform(unpack(payload))
    except AgentMemoryError as error:
        if error.retryable:
            raise
        return {"error": {"code": error.code, "message": str(error)}}
    return {"value": None if value is None else pack(value)}


def _register(activity: str) -> None:
    @blueprint.function_name(function_name(activity))
    @blueprint.activity_trigger(input_name="payload")
    async def perform(payload: dict) -> dict:  # type: ignore[type-arg]  # the worker accepts plain types only
        return await run(activity, payload)


for _activity in activity_names():
    _register(_activity)


@blueprint.function_name(FINISH)
@blueprint.activity_trigger(input_name="done")
@blueprint.durable_client_input(client_name="client")
async def finish(done: dict, client: df.DurableOrchestrationClient) -> int:  # type: ignore[type-arg]
    """Notes that an orchestration has done its work. Returns how many orchestrations that started."""
    # Orchestrations of an earlier version name their orchestrator.
    return await (await open_parts()).starter(client).finish(workflow_name(done["workflow"]), done)


@blueprint.function_name(SLICE)
@blueprint.activity_trigger(input_name="piece")
@blueprint.durable_client_input(client_name="client")
async def sweep_slice(piece: list, client: df.DurableOrchestrationClient) -> dict:  # type: ignore[type-arg]
    """Handles one slice of a sweep (`slices.handle`)."""
    if piece[0] == slices.PURGE:
        return await _purge(client, *piece[1:3])
    return await slices.handle((await open_parts()).starter(client), piece)


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


@blueprint.function_name(END)
@blueprint.activity_trigger(input_name="claim")
async def sweep_end(claim: dict) -> int:  # type: ignore[type-arg]
    """Notes that a sweep or a lane has gone through everything (`slices.end`)."""
    await slices.end((await open_parts()).runtime.store, claim)
    return 0


@blueprint.function_name(LIST)
@blueprint.activity_trigger(input_name="piece")
async def lane_list(piece: list) -> list | dict | None:  # type: ignore[type-arg]
    """The users of a lane in a slice of time (`sweeps.users_in`)."""
    return await sweeps.users_in((await open_parts()).runtime.store, piece)


@blueprint.function_name(START)
@blueprint.activity_trigger(input_name="given")
@blueprint.durable_client_input(client_name="client")
async def lane_start(given: dict, client: df.DurableOrchestrationClient) -> dict:  # type: ignore[type-arg]
    """Starts work for the next users of a lane (`sweeps.start_next`)."""
    parts = await open_parts()
    most = parts.environment.backfill_at_once
    return await sweeps.start_next(parts.starter(client), given["users"], given["running"], most)
