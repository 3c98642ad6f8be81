"""Uses: how often a memory was recalled, and when last.

They are kept in one document per user next to the counters, not in the memories. A rewritten memory would look changed
to readers of the change feed, and a write for each hit would cost more than the search. Searches do not wait for the
write. Memories appear there under keyed hashes, so a forgotten one leaves no id behind.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent_memory.errors import AgentMemoryError
from agent_memory.models import Memory, iso, now
from agent_memory.store import queries
from agent_memory.store.calls import WriteBehind
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, MEMORIES
from agent_memory.store.documents import Document
from agent_memory.store.ids import COUNTERS_THREAD, derived_id
from agent_memory.store.updates import change_document

logger = logging.getLogger("agent_memory")

USES_ID = "uses"
MOST_KEPT = 1000
"""How many memories' uses are kept, the last recalled first: about 60 KB."""
DELAY = 30.0
"""Seconds between a use and its writing."""


@dataclass(frozen=True, slots=True)
class Uses:
    """The uses of a user's memories: for each hash of an id, how often it was recalled and when last."""

    user_id: str
    entries: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    def of(self, memory: Memory) -> Memory:
        """The memory with its uses filled in."""
        entry = self.entries.get(_keyed(self.user_id, memory.id))
        if entry is None:
            return memory
        count, last = entry[0], datetime.fromisoformat(entry[1])
        known = memory.last_accessed_at
        changes: dict[str, Any] = {
            "access_count": memory.access_count + count,
            "last_accessed_at": last if known is None else max(last, known),
        }
        return memory.model_copy(update=changes)


async def read_uses(store: Store, user_id: str) -> Uses:
    """How often a user's memories were recalled. Costs one point read."""
    document = await store.read(COUNTER, USES_ID, (user_id, COUNTERS_THREAD)) or {}
    return Uses(user_id, {key: (int(count), str(last)) for key, (count, last) in document.get("of", {}).items()})


class UseCounter:
    """Counts the memories that searches and contexts return, if `enabled`. A killed process loses what waits."""

    def __init__(self, store: Store, *, enabled: bool, delay: float = DELAY) -> None:
        self._store = store
        self._enabled = enabled
        self._waiting: dict[str, dict[str, tuple[int, datetime]]] = defaultdict(dict)
        self._writing = asyncio.Lock()
        self._behind = WriteBehind(self.flush, lambda: bool(self._waiting), delay, "agent-memory-uses")

    def note(self, user_id: str, memory_ids: Iterable[str]) -> None:
        """Notes that these memories were returned. Costs no request."""
        if not self._enabled:
            return
        at = now()
        for memory_id in memory_ids:
            count, _ = self._waiting[user_id].get(memory_id, (0, at))
            self._waiting[user_id][memory_id] = (count + 1, at)
        if self._waiting:
            self._behind.soon()

    async def flush(self) -> None:
        """Writes what waits: one read and one write for each user. What cannot be written is dropped."""
        async with self._writing:
            waiting, self._waiting = self._waiting, defaultdict(dict)
            for user_id, counted in waiting.items():
                try:
                    await self._add(user_id, counted)
                except AgentMemoryError as error:
                    logger.warning("the uses of %d memories are not counted: %s", len(counted), error)

    async def close(self) -> None:
        """Writes what waits, and ends."""
        await self._behind.close()

    async def _add(self, user_id: str, counted: Mapping[str, tuple[int, datetime]]) -> None:
        async def recalled() -> list[str]:
            return await self._store.query(MEMORIES, queries.IDS_THAT_EXIST, (user_id,), ids=list(counted))

        async def still_there() -> bool:
            return bool(await recalled())

        there = await recalled()  # an erased user must not come back
        if not there:
            return

        def change(document: Document) -> Document:
            entries = dict(document.get("of", {}))
            for memory_id in there:
                count, at = counted[memory_id]
                key = _keyed(user_id, memory_id)
                entries[key] = [entries.get(key, [0, ""])[0] + count, iso(at)]
            newest = sorted(entries.items(), key=lambda entry: entry[1][1], reverse=True)[:MOST_KEPT]
            return document | {"type": USES_ID, "of": dict(newest)}

        await change_document(self._store, COUNTER, USES_ID, (user_id, COUNTERS_THREAD), change, still_there)


def _keyed(user_id: str, memory_id: str) -> str:
    return derived_id("u", user_id, memory_id)
