"""Misses: counts, for a share of the searches, relevant memories that they did not return.

A memory is relevant if its cosine to the query exceeds the threshold. A search leaves out what exceeds its limit and
what an approximate index does not find; this compares all of the user's vectors, after the answer. Chunks do not count:
what was derived from them does. Neither texts nor ids of users are recorded.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Collection, Mapping, Sequence
from contextvars import Context
from typing import Any

from agent_memory.models import SearchMisses
from agent_memory.store import search_queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.telemetry import relevant_not_retrieved, relevant_retrieved

logger = logging.getLogger("agent_memory")

_MOST = 1000
"""Relevant memories that are counted for one search."""


class MissMeter:
    """Looks again at a share of the searches of this process, one at a time.

    Args:
        store: Where the memories are.
        share: Of the searches, 0 to 1. A search that ends while another is checked is not sampled.
    """

    def __init__(self, store: Store, share: float) -> None:
        self._store = store
        self._share = share
        self._running: asyncio.Task[None] | None = None
        self.counted = SearchMisses()

    def sample(
        self,
        partition: Sequence[str],
        where: str,
        parameters: Mapping[str, Any],
        threshold: float,
        given: Collection[str],
    ) -> None:
        """Perhaps checks what a search over `where` should have returned besides the ids `given`. Does not wait."""
        if self._running is not None or random.random() >= self._share:
            return
        looking = self._look(tuple(partition), where, parameters, threshold, frozenset(given))
        # A separate context: the caller's costs and trace end with the answer.
        self._running = asyncio.create_task(looking, name="agent-memory-misses", context=Context())

    async def close(self) -> None:
        """Ends what runs."""
        running, self._running = self._running, None
        if running is not None:
            running.cancel()
            await asyncio.wait([running])

    async def _look(
        self,
        partition: tuple[str, ...],
        where: str,
        parameters: Mapping[str, Any],
        threshold: float,
        given: frozenset[str],
    ) -> None:
        try:
            rows = await self._store.query(
                MEMORIES, search_queries.nearest_ids(where), partition, limit=_MOST, **parameters
            )
            relevant = {row["id"] for row in rows if row["similarity"] > threshold}
        except Exception as error:
            self.counted.failed += 1
            logger.warning("A sampled search could not be looked at again: %s", type(error).__name__)
        else:
            missed, found = len(relevant - given), len(relevant & given)
            self.counted.measured += 1
            self.counted.relevant_not_retrieved += missed
            self.counted.relevant_retrieved += found
            relevant_not_retrieved.record(missed)
            relevant_retrieved.add(found)
        finally:
            self._running = None
