"""Activities: one for each activity of the library, and one that notes what an orchestration has done.

An activity may be run twice; the cursors of the store see to it that nothing is done twice.
"""

from __future__ import annotations

from typing import Any

import azure.durable_functions as df

from agent_memory.errors import AgentMemoryError
from agent_memory.processing.activities import activity_names
from azure_functions import starts
from azure_functions.names import function_name
from azure_functions.payloads import pack, unpack
from azure_functions.wiring import open_parts

blueprint = df.Blueprint()

Json = dict[str, Any]

FINISH = "finish"


async def run(activity: str, payload: Json) -> Json:
    """Runs an activity: `value` is what it gives, `error` a fault that will not pass. One that may pass is raised."""
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
    async def perform(payload: dict) -> dict:  # type: ignore[type-arg]  # the worker knows plain types only
        return await run(activity, payload)


for _activity in activity_names():
    _register(_activity)


@blueprint.function_name(FINISH)
@blueprint.activity_trigger(input_name="done")
@blueprint.durable_client_input(client_name="client")
async def finish(done: dict, client: df.DurableOrchestrationClient) -> int:  # type: ignore[type-arg]
    """Notes that an orchestration has done its work; how many orchestrations that started."""
    return await starts.finish(await open_parts(), client, done["workflow"], done)
