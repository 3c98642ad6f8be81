"""`AsyncCosmosMemoryClient`: the methods of `azure-cosmos-agent-memory` 0.3 on this memory.

Every read and write names its user. Results are dicts, as there (`documents`). What differs is in
docs/systems/azure-cosmos-agent-memory.md.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from time import perf_counter
from typing import Any, Self

from agent_memory.compat.azure_cosmos.documents import (
    ProcessThreadResult,
    Record,
)
from agent_memory.compat.azure_cosmos.reading import Reading
from agent_memory.compat.azure_cosmos.writing import Writing
from agent_memory.models import Memory
from agent_memory.portal import Portal
from agent_memory.scopes import AsyncThreadScope


class AsyncCosmosMemoryClient(Reading, Writing):
    """The client. Give `memory`, or the arguments of that package, which lead to Cosmos DB and Foundry.

    Nothing is opened before `create_memory_store`, `connect_cosmos` or the first call.
    """

    async def extract_memories(self, user_id: str, thread_id: str, recent_k: int | None = None) -> dict[str, int]:
        """Extracts memories from the new turns of a thread. Returns counts."""
        thread = await self._thread(user_id, thread_id)
        result = await thread.process("extract", recent_k=recent_k)
        episodes = sum(1 for one in await self._made(thread, result.created) if one.type == "episodic")
        return {
            "fact_count": result.created - episodes,
            "episodic_count": episodes,
            "updated_count": result.superseded,
            "contradicted_count": result.superseded,
            "exact_dedup_skipped": result.exact_dedup_skipped,
            "dropped_episodic_count": 0,
            "deferred_turn_count": 0,
            "quarantined_turn_count": result.dead_letters,
        }

    async def _made(self, thread: AsyncThreadScope, number: int) -> list[Memory]:
        """The memories that a run has just created: the most recently recorded ones."""
        found = await thread.memories(types=["fact", "event", "procedural"]) if number else []
        return sorted(found, key=lambda one: one.recorded_at)[-number:] if number else []

    async def extract_episodes(self, user_id: str, thread_id: str, *, flush: bool = False) -> dict[str, int]:
        """With `flush`, ends the thread and archives the rest of it. Without, does nothing: the worker archives."""
        if not flush:
            return {"episodes": 0}
        result = await (await self._thread(user_id, thread_id)).process("archive")
        return {"episodes": result.created}

    async def synthesize_procedural(self, user_id: str, *, force: bool = False) -> dict[str, Any]:
        """Combines related procedures into one."""
        result = await (await self._user(user_id)).process("synthesize")
        return {"status": "synthesized" if result.created else "unchanged", "procedures_created": result.created}

    async def generate_thread_summary(
        self, user_id: str, thread_id: str, recent_k: int | None = None, **kwargs: Any
    ) -> Record:
        """Adds new turns to the summary of a thread, and returns it; empty for a thread without turns."""
        thread = await self._thread(user_id, thread_id)
        await thread.process("summarize", recent_k=recent_k)
        return next(iter(await self.get_thread_summary(user_id, thread_id)), {})

    async def generate_user_summary(
        self, user_id: str, thread_ids: list[str] | None = None, recent_k: int | None = None, **kwargs: Any
    ) -> Record:
        """Adds new memories to the summary of a user, and returns it; empty if nothing is known."""
        await (await self._user(user_id)).process("profile", recent_k=recent_k)
        return await self.get_user_summary(user_id) or {}

    async def reconcile(self, user_id: str, n: int | None = None) -> dict[str, int]:
        """Resolves duplicates and contradictions among the `n` newest facts: `kept`, `merged`, `contradicted`."""
        counts = (await (await self._user(user_id)).process("reconcile", n=n)).counts
        return {name: counts.get(name, 0) for name in ("kept", "merged", "contradicted")}

    async def process_now(self, *, user_id: str, thread_id: str) -> ProcessThreadResult:
        """Runs every step for a thread and its user now."""
        began = perf_counter()
        summary = await self.generate_thread_summary(user_id, thread_id)
        counts = await self.extract_memories(user_id, thread_id)
        reconciled = await self.reconcile(user_id)
        return ProcessThreadResult(
            thread_summary=summary or None,
            extracted_counts=counts,
            reconciled_count=reconciled["merged"] + reconciled["contradicted"],
            procedural=await self.synthesize_procedural(user_id),
            user_summary=await self.generate_user_summary(user_id) or None,
            elapsed_ms=round((perf_counter() - began) * 1000),
        )

    async def process_now_and_wait(self, *, user_id: str, thread_id: str, timeout: float = 30.0) -> bool:
        """The same; False if it took longer than `timeout` seconds. What was committed by then stays."""
        try:
            async with asyncio.timeout(timeout):
                await self.process_now(user_id=user_id, thread_id=thread_id)
        except TimeoutError:
            return False
        return True


class CosmosMemoryClient:
    """`AsyncCosmosMemoryClient` for code that does not await: the same arguments, methods and results."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._client = AsyncCosmosMemoryClient(*args, **kwargs)
        self._portal = Portal(self._client.close)

    @property
    def local_memory(self) -> list[dict[str, Any]]:
        """The list in the process."""
        return self._client.local_memory

    def close(self) -> None:
        """Stops background processing and disconnects. Harmless when it is closed."""
        self._portal.close()

    def __enter__(self) -> Self:
        """Opens nothing: the first call does."""
        return self

    def __exit__(self, *error: object) -> None:
        """Closes it."""
        self.close()


def _run(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: CosmosMemoryClient, *args: Any, **kwargs: Any) -> Any:
        bound = getattr(self._client, name)
        if inspect.iscoroutinefunction(method):
            return self._portal.run(bound(*args, **kwargs))
        return bound(*args, **kwargs)

    return call


for _name, _method in inspect.getmembers(AsyncCosmosMemoryClient, inspect.isfunction):
    if (not _name.startswith("_") or _name == "_get_pipeline") and not hasattr(CosmosMemoryClient, _name):
        setattr(CosmosMemoryClient, _name, _run(_name, _method))
