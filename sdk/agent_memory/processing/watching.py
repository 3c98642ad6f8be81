"""Watching which embedding model a shared store has: another process may move it to a new one."""

from __future__ import annotations

import asyncio
import logging

from agent_memory.errors import AgentMemoryError
from agent_memory.language.current import CurrentEmbeddings
from agent_memory.processing.reembed import follow
from agent_memory.store.client import Store
from agent_memory.store.embedding_model import read_identity

logger = logging.getLogger("agent_memory")

WATCH_SECONDS = 30.0
"""Seconds between two checks of the store. Each costs one point read. `reembed.SETTLING_SECONDS` is longer."""


async def catch_up(store: Store, current: CurrentEmbeddings) -> None:
    """Does once what `watch` does: switches to the next model if the store has, or helps to fill its vectors."""
    identity = await read_identity(store)
    if identity is None:
        return
    known = follow(store, identity, current, current.next or current.asked)
    if not known:
        logger.error(
            "The store has moved to the embedding model %s, and this process has %s: set AGENT_MEMORY_EMBEDDINGS and"
            " restart it. Until then it finds memories only by their words.",
            identity["embedding_model"],
            current.model_id,
        )


async def watch(store: Store, current: CurrentEmbeddings) -> None:
    """Catches up again and again, until it is cancelled."""
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        try:
            await catch_up(store, current)
        except AgentMemoryError as error:
            logger.warning("The store's embedding model could not be read: %s", error)
