"""Triggers: the change feed starts orchestrations of due work, three timers start sweeps, and memories go to a webhook.

The webhook has a blueprint of its own: it is registered if the environment names an address.
"""

from __future__ import annotations

import logging
import time
from typing import Any

import azure.durable_functions as df
import azure.functions as func

from agent_memory.gathering import together
from agent_memory.processing.intake import count_batch
from agent_memory.processing.slices import start_maintenance, start_of
from agent_memory.processing.sweeps import of_backfill, start_deepenings
from agent_memory.processing.webhook import send_batch
from agent_memory.telemetry import change_feed_failures
from azure_functions.wiring import open_parts

blueprint = df.Blueprint()
webhook_blueprint = df.Blueprint()
logger = logging.getLogger("agent_memory")

FEED: dict[str, Any] = {
    "arg_name": "documents",
    "connection": "COSMOS",
    "database_name": "%COSMOS_DB_DATABASE%",
    "lease_container_name": "leases",
    "create_lease_container_if_not_exists": False,  # An identity with data roles may not create containers.
    "max_items_per_invocation": 100,
}
"""How a trigger reads a change feed."""
AGAIN = {
    "strategy": "exponential_backoff",
    "max_retry_count": "10",
    "minimum_interval": "00:00:05",
    "maximum_interval": "00:05:00",
}
"""The host delivers a failed batch again for half an hour. Without a policy, the batch is lost."""


@blueprint.function_name("on_memory_change")
@blueprint.cosmos_db_trigger(
    **FEED, container_name="memories_turns", lease_container_prefix="on_memory_change", start_from_beginning=True
)
@blueprint.retry(**AGAIN)  # After an outage of more than half an hour, maintenance counts.
@blueprint.durable_client_input(client_name="client")
async def on_memory_change(documents: func.DocumentList, client: df.DurableOrchestrationClient) -> None:
    """Counts new turns and starts the work that is due. A turn that cannot be counted does not stop the others."""
    try:
        starter = (await open_parts()).starter(client)
        given = [dict(document) for document in documents]
        batch = await count_batch(starter.tools, starter.counters, given, starter.at_once)
        started = await starter.start_due(batch.threads, batch.users)
    except Exception:
        change_feed_failures.add(1)  # The platform records failed runs only with some telemetry settings.
        raise
    logger.info("%d documents, %d threads, %d orchestrations", len(documents), len(batch.threads), started)


@blueprint.function_name("settle_idle_threads")
@blueprint.timer_trigger(arg_name="timer", schedule="0 */5 * * * *")
@blueprint.durable_client_input(client_name="client")
async def settle_idle_threads(timer: func.TimerRequest, client: df.DurableOrchestrationClient) -> None:
    """Starts all steps for threads that went quiet below a threshold, or whose work has failed."""
    starter = (await open_parts()).starter(client)
    quiet = starter.cadence.idle_seconds
    if quiet > 0:
        until = int(time.time() - quiet) + 1
        await together(map(starter.start, [start_of("idle", [["idle", 0, until]]), of_backfill(until)]))


@blueprint.function_name("maintain")
@blueprint.timer_trigger(arg_name="timer", schedule="0 17 * * * *")
@blueprint.durable_client_input(client_name="client")
async def maintain(timer: func.TimerRequest, client: df.DurableOrchestrationClient) -> None:
    """Finishes work that crashes left, counts missed turns, starts due work, and deletes old histories."""
    await start_maintenance((await open_parts()).starter(client), int(time.time()))
    logger.info("maintenance has started its sweeps")  # an alert misses this line


@blueprint.function_name("deepen_memories")
@blueprint.timer_trigger(arg_name="timer", schedule="0 43 * * * *")
@blueprint.durable_client_input(client_name="client")
async def deepen_memories(timer: func.TimerRequest, client: df.DurableOrchestrationClient) -> None:
    """Starts the deepening of memories (consolidate, synthesize, reflect, prune) when it is due.

    The lane runs them for a limited number of users at the same time. When all are done, the next interval begins.
    """
    await start_deepenings((await open_parts()).starter(client))


@webhook_blueprint.function_name("on_memory_written")
@webhook_blueprint.cosmos_db_trigger(**FEED, container_name="memories", lease_container_prefix="on_memory_written")
@webhook_blueprint.retry(**AGAIN)  # Until the receiver confirms the batch.
async def on_memory_written(documents: func.DocumentList) -> None:
    """Sends what changed in memories to the webhook."""
    webhook = (await open_parts()).environment.webhook
    if webhook is not None:
        sent = await send_batch(webhook, [dict(document) for document in documents])
        logger.info("%d changes sent to the webhook", sent)
