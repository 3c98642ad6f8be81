"""Triggers: the change feed and three timers start orchestrations."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime, timedelta

import azure.durable_functions as df
import azure.functions as func

from agent_memory.forgetting.deletion import finish_forgettings
from agent_memory.forgetting.erasure import pending_erasures
from agent_memory.processing.clock import claim_deepening, end_deepening
from agent_memory.processing.due import idle, instance_id
from agent_memory.processing.intake import count_batch
from agent_memory.processing.maintenance import finish_intents, recently_extracted, recount
from agent_memory.telemetry import change_feed_failures
from azure_functions.starts import Start, of_erasure, of_reembedding, start, start_due, start_due_of_user, start_idle
from azure_functions.wiring import open_parts

blueprint = df.Blueprint()
logger = logging.getLogger("agent_memory")

LOOK_BACK = timedelta(hours=3)
"""How far back maintenance looks for missed turns. It is longer than the retries of the change feed."""
IN_FLIGHT = timedelta(minutes=5)
"""A turn that is younger than this may still be on its way to the counters."""
KEEP_HISTORIES = timedelta(days=7)
PURGE_WINDOW = timedelta(days=2)

_Status = df.OrchestrationRuntimeStatus


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
    parts = await open_parts()
    quiet = idle(await parts.runtime.counters.pending(), parts.cadence, time.time())
    await start_idle(parts, client, quiet)


@blueprint.function_name("maintain")
@blueprint.timer_trigger(arg_name="timer", schedule="0 17 * * * *")
@blueprint.durable_client_input(client_name="client")
async def maintain(timer: func.TimerRequest, client: df.DurableOrchestrationClient) -> None:
    """Finishes work that crashes left, counts missed turns, starts due work, and deletes old histories."""
    parts = await open_parts()
    runtime = parts.runtime
    since, settled = (time.time() - ago.total_seconds() for ago in (LOOK_BACK, IN_FLIGHT))
    superseded = await finish_intents(runtime.store)
    deletions = await finish_forgettings(runtime.store, runtime.counters)
    deletions += sum([await start(client, of_erasure(user_id)) for user_id in await pending_erasures(runtime.store)])
    moving = of_reembedding(parts)
    if moving is not None:
        await start(client, moving)
    recounted = await recount(runtime.tools, runtime.counters, since, settled)
    if recounted.missed:
        logger.warning("%d turns were not counted by the change feed; it may be behind", recounted.missed)
    started = await start_due(parts, client, recounted.counters)
    for user_id in await recently_extracted(runtime.store, since):
        started += await start_due_of_user(parts, client, user_id)
    purged = await _purge(client)
    logger.info(
        "maintenance: %d superseded, %d deletions finished or started, %d started, %d histories purged",
        superseded,
        deletions,
        started,
        purged,
    )


@blueprint.function_name("deepen_memories")
@blueprint.timer_trigger(arg_name="timer", schedule="0 43 * * * *")
@blueprint.durable_client_input(client_name="client")
async def deepen_memories(timer: func.TimerRequest, client: df.DurableOrchestrationClient) -> None:
    """Starts the deepening of memories (consolidate, synthesize, reflect, prune) when it is due.

    The clock moves when all runs are started. Each run is durable and repeats temporary failures itself.
    """
    parts = await open_parts()
    store, through = parts.runtime.store, False
    due = await claim_deepening(store, parts.cadence)
    if due is None:
        return
    try:
        for user_id in due.users:
            await start(client, Start("deepen", instance_id("deepen", user_id, "", "clock"), {"user_id": user_id}))
        through = True
    finally:
        await end_deepening(store, due, through=through)


async def _purge(client: df.DurableOrchestrationClient) -> int:
    """Deletes the histories of orchestrations that ended more than seven days ago."""
    until = datetime.now(UTC) - KEEP_HISTORIES
    ended = [_Status.Completed, _Status.Failed, _Status.Terminated]
    result = await client.purge_instance_history_by(until - PURGE_WINDOW, until, ended)
    return int(result.instances_deleted)
