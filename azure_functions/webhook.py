"""The webhook: the change feed of memories posts to it. Registered if the environment names an address."""

from __future__ import annotations

import logging

import azure.durable_functions as df
import azure.functions as func

from agent_memory.processing.webhook import send_batch
from azure_functions.wiring import open_parts

blueprint = df.Blueprint()
logger = logging.getLogger("agent_memory")


@blueprint.function_name("on_memory_written")
@blueprint.cosmos_db_trigger(
    arg_name="documents",
    connection="COSMOS",
    database_name="%COSMOS_DB_DATABASE%",
    container_name="memories",
    lease_container_name="leases",
    lease_container_prefix="on_memory_written",
    create_lease_container_if_not_exists=False,  # An identity with data roles may not create containers.
    max_items_per_invocation=100,
)
# With a policy, the host delivers a batch again for half an hour, until the receiver confirms it.
@blueprint.retry(
    strategy="exponential_backoff", max_retry_count="10", minimum_interval="00:00:05", maximum_interval="00:05:00"
)
async def on_memory_written(documents: func.DocumentList) -> None:
    """Sends what changed in memories to the webhook."""
    webhook = (await open_parts()).environment.webhook
    if webhook is not None:
        sent = await send_batch(webhook, [dict(document) for document in documents])
        logger.info("%d changes sent to the webhook", sent)
