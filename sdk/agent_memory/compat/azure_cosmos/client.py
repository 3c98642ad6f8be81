"""`AsyncCosmosMemoryClient`: the methods of `azure-cosmos-agent-memory` 0.3 on this memory.

Every read and write names its user. Results are dicts, as there (`documents`). What differs is in
docs/systems/azure-cosmos-agent-memory.md.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from time import perf_counter
from typing import Any, Self

from azure.cosmos.aio import CosmosClient

from agent_memory.compat.azure_cosmos.documents import (
    ProcessThreadResult,
    Record,
    moment,
    no_expiry,
)
from agent_memory.compat.azure_cosmos.reading import Reading
from agent_memory.errors import InvalidInput, NotFound
from agent_memory.memory import AsyncMemory
from agent_memory.models import ImportReceipt, Memory
from agent_memory.portal import Portal
from agent_memory.scopes import AsyncThreadScope
from agent_memory.store.calls import translated
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.ids import USER_SUMMARY_THREAD, summary_id, user_summary_id
from agent_memory.transfer.formats import as_export

TURN_TAGS = "the tags of a turn are set when it is written; a turn never changes"


class AsyncCosmosMemoryClient(Reading):
    """The client. Give `memory`, or the arguments of that package, which lead to Cosmos DB and Foundry.

    Nothing is opened before `create_memory_store`, `connect_cosmos` or the first call.
    """

    async def upsert_memory(
        self,
        user_id: str,
        role: str,
        content: str,
        memory_type: str = "turn",
        metadata: dict[str, Any] | None = None,
        thread_id: str | None = None,
        tags: list[str] | None = None,
        ttl: int | None = None,
        salience: float | None = None,
        embedding: list[float] | None = None,
        embed: bool | None = None,
        created_at: str | datetime | None = None,
    ) -> str:
        """Writes a turn of a thread, or a fact. Returns its id. Turns are embedded in the background, always.

        Raises:
            InvalidInput: if a value is invalid, for other types, and for your own vector or ttl.
        """
        no_expiry(ttl)
        if embedding is not None:
            raise InvalidInput("embedding: leave it out; the store's own model makes the vectors")
        if memory_type == "turn":
            thread = await self._thread(user_id, thread_id)
            kept = dict(metadata or {}) | ({"tags": list(tags)} if tags else {})
            receipt = await thread.add(role, content, created_at=moment(created_at), metadata=kept)
            return receipt.ids[0]
        if memory_type != "fact":
            raise InvalidInput(f"memory_type: {memory_type!r:.60} is derived; turns and facts are written")
        given: dict[str, Any] = {} if salience is None else {"importance": salience}
        category = str((metadata or {}).get("category"))
        if category in ("preference", "context", "requirement", "decision"):
            given["kind"] = category
        user = await self._user(user_id)
        return (await user.remember(content, tags=tags or (), metadata=metadata, **given)).id

    async def push_to_cosmos(self, batch_size: int = 25) -> None:
        """Writes the local list, and removes what was written. Pushing again after a failure writes nothing twice."""
        while self.local_memory:
            one = self.local_memory[0]
            if one["type"] == "turn":
                thread = await self._thread(one["user_id"], one["thread_id"])
                metadata = one["metadata"] | ({"tags": one["tags"]} if one["tags"] else {})
                at = moment(one["created_at"])
                await thread.add(one["role"], one["content"], id=one["id"], created_at=at, metadata=metadata)
            else:
                names = ("user_id", "role", "content", "metadata", "thread_id", "tags", "salience")
                await self.upsert_memory(**{name: one[name] for name in names}, memory_type=one["type"])
            self.local_memory.remove(one)

    async def update_cosmos(
        self,
        memory_id: str,
        *,
        user_id: str,
        thread_id: str,
        memory_type: str,
        content: str | None = None,
        role: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Corrects the content or metadata of a memory. With new content, a new version with another id replaces it.

        Raises:
            InvalidInput: for a turn, which never changes, and for another role.
            NotFound: if there is no such memory.
        """
        if memory_type == "turn" or role is not None or (metadata is None and content is None):
            raise InvalidInput("only the content and metadata of a memory can be corrected; a turn never changes")
        await (await self._user(user_id)).update(memory_id, content=content, metadata=metadata)

    async def delete_memory(self, memory_id: str, *, user_id: str, thread_id: str, memory_type: str) -> None:
        """Deletes a memory and what was derived from it. Its source turns stay, and do not bring it back.

        Raises:
            NotFound: if there is none.
        """
        if memory_type == "turn":
            await self.delete_turn(memory_id, user_id=user_id, thread_id=thread_id)
        elif memory_type in ("thread_summary", "user_summary"):
            whole = memory_type == "user_summary"
            gone = await (
                self.delete_user_summary(user_id) if whole else self.delete_thread_summary(user_id, thread_id)
            )
            if not gone:
                raise NotFound(f"there is no {memory_type} to delete")
        else:
            await (await self._user(user_id)).forget(memory_id, include_sources=False)

    async def delete_turn(self, turn_id: str, *, user_id: str, thread_id: str) -> None:
        """Deletes a turn and everything derived from it.

        Raises:
            NotFound: if there is none.
        """
        await (await self._user(user_id)).forget(turn_id)

    async def delete_thread_summary(self, user_id: str, thread_id: str) -> bool:
        """Deletes the summary of a thread; False if there was none. New turns make another one."""
        await self._thread(user_id, thread_id)
        store = (await self._open()).runtime.store
        return await store.delete(SUMMARIES, summary_id(user_id, thread_id), (user_id, thread_id))

    async def delete_user_summary(self, user_id: str) -> bool:
        """Deletes the summary of a user; False if there was none."""
        await self._user(user_id)
        store = (await self._open()).runtime.store
        return await store.delete(SUMMARIES, user_summary_id(user_id), (user_id, USER_SUMMARY_THREAD))

    async def delete_thread(self, user_id: str, thread_id: str, *, include_summary: bool = True) -> int:
        """Deletes the turns of a thread with its summary; what was learned from it stays. Returns how many documents.

        Raises:
            InvalidInput: if the summary should stay: it would reveal what was deleted.
        """
        if not include_summary:
            raise InvalidInput("include_summary=False: a summary of deleted turns is not kept here")
        receipt = await (await self._thread(user_id, thread_id)).delete()
        return sum(len(receipt.deleted.get(kind, ())) for kind in ("turn", "summary"))

    async def add_tags(self, memory_id: str, user_id: str, thread_id: str, memory_type: str, tags: list[str]) -> None:
        """Adds tags to a memory.

        Raises:
            InvalidInput: for a turn, which never changes.
            NotFound: if there is no such memory.
        """
        if memory_type == "turn":
            raise InvalidInput(TURN_TAGS)
        user = await self._user(user_id)
        kept = (await user.get(memory_id)).tags
        await user.update(memory_id, tags=list(dict.fromkeys([*kept, *tags])))

    async def remove_tags(
        self, memory_id: str, user_id: str, thread_id: str, memory_type: str, tags: list[str]
    ) -> None:
        """Removes tags from a memory.

        Raises:
            InvalidInput: for a turn, which never changes.
            NotFound: if there is no such memory.
        """
        if memory_type == "turn":
            raise InvalidInput(TURN_TAGS)
        user = await self._user(user_id)
        await user.update(memory_id, tags=[tag for tag in (await user.get(memory_id)).tags if tag not in tags])

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


CONTAINERS = ("memories_turns", "memories")
"""Its containers with turns and memories. Summaries are created again from these."""
Progress = Callable[[str, int], None]
"""Receives each imported user, and how many documents they had."""


async def documents(client: CosmosClient, database: str) -> AsyncIterator[dict[str, Any]]:
    """The documents of a database, without their vectors.

    Raises:
        NotFound: if it has no such containers.
        StoreUnavailable: if it does not answer.
    """
    for name in CONTAINERS:
        try:
            with translated():
                async for row in client.get_database_client(database).get_container_client(name).read_all_items():
                    yield {key: value for key, value in row.items() if not key.startswith("_") and key != "embedding"}
        except NotFound as error:
            raise NotFound(f"the database {database} has no container {name}: another program wrote it") from error


async def migrate(
    memory: AsyncMemory, client: CosmosClient, database: str = "ai_memory", progress: Progress | None = None
) -> dict[str, ImportReceipt]:
    """Imports every user of a database that `azure-cosmos-agent-memory` wrote. Repeating it adds nothing.

    Turns keep their ids and times, memories their history; both are embedded by this memory's model. Turns count as
    processed. The database is only read.

    Returns:
        By user, what was new and what existed already.

    Raises:
        NotFound: if it is not such a database.
        InvalidInput: if it holds something else.
    """
    by_user: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    async for document in documents(client, database):
        by_user[str(document["user_id"])].append(document)
    receipts = {}
    for user_id, found in sorted(by_user.items()):
        lines = list(as_export("\n".join(json.dumps(one) for one in found)))
        receipts[user_id] = await memory.user(user_id).import_lines(lines)
        if progress is not None:
            progress(user_id, len(found))
    return receipts
