"""Triggers: the change feed starts orchestrations of due work, three timers start sweeps."""

from __future__ import annotations

import logging
import time
from datetime import timedelta

import azure.durable_functions as df
import azure.functions as func

from agent_memory.processing.clock import claim_deepening, end_deepening
from agent_memory.processing.intake import count_batch, together
from agent_memory.telemetry import change_feed_failures
from azure_functions.lanes import DEEPENING, of_backfill, of_deepenings
from azure_functions.slices import purge_of, start_of, start_of_new
from azure_functions.starts import is_active, of_reembedding, start, start_due
from azure_functions.wiring import open_parts

blueprint = df.Blueprint()
logger = logging.getLogger("agent_memory")

IN_FLIGHT = timedelta(minutes=5)
"""A turn that is younger than this may still be on its way to the counters."""
KEEP_HISTORIES = timedelta(days=7)


@blueprint.function_name("on_memory_change")
@blueprint.cosmos_db_trigger(
    arg_name="documents",
    connection="COSMOS",
    database_name="%COSMOS_DB_DATABASE%",
    container_name="memories_turns",
    lease_container_name="leases",
    lease_container_prefix="on_memory_change",
    create_lease_container_if_not_exists=False,  # An identity with data roles may not create containers.
    max_items_per_invocation=100,
    start_from_beginning=True,
)
# Without a policy, a failed batch is lost. With it, an outage may last half an hour. After that, maintenance counts.
@blueprint.retry(
    strategy="exponential_backoff", max_retry_count="10", minimum_interval="00:00:05", maximum_interval="00:05:00"
)
@blueprint.durable_client_input(client_name="client")
async def on_memory_change(documents: func.DocumentList, client: df.DurableOrchestrationClient) -> None:
    """Counts new turns and starts the work that is due. A turn that cannot be counted does not stop the others."""
    try:
        parts = await open_parts()
        runtime = parts.runtime
        given, at_once = [dict(document) for document in documents], parts.environment.feed_concurrency
        batch = await count_batch(runtime.tools, runtime.counters, given, at_once)
        started = await start_due(parts, client, batch.threads, batch.users)
    except Exception:
        change_feed_failures.add(1)  # The platform records failed runs only with some telemetry settings.
        raise
    logger.info("%d documents, %d threads, %d orchestrations", len(documents), len(batch.threads), started)


@blueprint.function_name("settle_idle_threads")
@blueprint.timer_trigger(arg_name="timer", schedule="0 */5 * * * *")
@blueprint.durable_client_input(client_name="client")
async def settle_idle_threads(timer: func.TimerRequest, client: df.DurableOrchestrationClient) -> None:
    """Starts all steps for threads that went quiet below a threshold, or whose work has failed."""
    quiet = (await open_parts()).cadence.idle_seconds
    if quiet > 0:
        until = int(time.time() - quiet) + 1
        await together([start(client, start_of("idle", [["idle", 0, until]])), start(client, of_backfill(until))])


@blueprint.function_name("maintain")
@blueprint.timer_trigger(arg_name="timer", schedule="0 17 * * * *")
@blueprint.durable_client_input(client_name="client")
async def maintain(timer: func.TimerRequest, client: df.DurableOrchestrationClient) -> None:
    """Finishes work that crashes left, counts missed turns, starts due work, and deletes old histories.

    Each is a separate sweep, so none waits for another. One that cannot be started does not stop the others.
    """
    parts = await open_parts()
    moving = of_reembedding(parts)
    now = int(time.time())
    settled, old = (now - int(ago.total_seconds()) for ago in (IN_FLIGHT, KEEP_HISTORIES))
    news = {"recount": settled, "extracted": now + 1} | ({"untold": settled} if parts.cadence.summarize > 0 else {})

    async def start_new(name: str, until: int) -> bool:
        return await start(client, await start_of_new(parts, name, until))

    left = ("intents", "intents of summaries", "forgettings", "erasures")
    hour = {"since": now - 3600, "until": now + 1}
    await together(
        [
            *([] if moving is None else [start(client, moving)]),
            *(start(client, start_of(name.replace(" ", "-"), [[name, 0, now + 1]], spread=hour)) for name in left),
            *(start_new(*one) for one in news.items()),
            start(client, purge_of(old)),
        ]
    )
    logger.info("maintenance has started its sweeps")  # an alert misses this line


@blueprint.function_name("deepen_memories")
@blueprint.timer_trigger(arg_name="timer", schedule="0 43 * * * *")
@blueprint.durable_client_input(client_name="client")
async def deepen_memories(timer: func.TimerRequest, client: df.DurableOrchestrationClient) -> None:
    """Starts the deepening of memories (consolidate, synthesize, reflect, prune) when it is due.

    The lane runs them for a limited number of users at the same time. When all are done, the next interval begins.
    """
    parts = await open_parts()
    store = parts.runtime.store
    if await is_active(client, DEEPENING):
        return  # the lane takes the claim
    due = await claim_deepening(store, parts.cadence, listed=False)
    if due is None:
        return
    try:
        await start(client, of_deepenings(due, int(time.time()) + 1))
    except BaseException:
        await end_deepening(store, due, through=False)
        raise
