"""Memories: listed, found by id, by content and by vector, and walked through their history."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from agent_memory.errors import Conflict, NotFound
from agent_memory.models import Filter, Memory, MemoryType, Page, iso, now
from agent_memory.store import queries, search_queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, TURNS
from agent_memory.store.documents import Document, from_document
from agent_memory.store.filters import FilterConditions, types_and_kinds
from agent_memory.store.pages import Slice, newest, next_token

_TYPES = '"fact", "episodic", "procedural", "reflection", "document"'


async def list_memories(
    store: Store,
    user_id: str,
    thread_id: str | None = None,
    *,
    types: Sequence[str] | None = None,
    include_superseded: bool = False,
    as_of: datetime | None = None,
    before: datetime | None = None,
    limit: int | None = None,
    filters: Filter | None = None,
) -> Page[Memory]:
    """A user's memories (or those of one thread), newest first, without chunks."""
    conditions = None if filters is None else FilterConditions(filters)
    given: dict[str, Any] = {"as_of": iso(as_of)} if as_of else {}
    given |= {} if conditions is None else conditions.parameters
    if types is not None:
        given["types"], given["type_kinds"] = types_and_kinds(types)
    partition = (user_id,) if thread_id is None else (user_id, thread_id)

    async def fetch(part: Slice, bounds: dict[str, Any]) -> list[Document]:
        sql = queries.memories(
            types=types is not None,
            superseded=include_superseded,
            as_of=as_of is not None,
            condition="true" if conditions is None else conditions.text,
            part=part,
        )
        return await store.query(MEMORIES, sql, partition, **given, **bounds)

    found = [from_document(Memory, row) for row in await newest(fetch, before=before, limit=limit)]
    page = Page(memory for memory in found if not memory.is_expired)
    page.next = None if limit is None else next_token(found, limit, "created_at")
    return page


async def get_memory(store: Store, user_id: str, memory_id: str) -> tuple[Memory, str]:
    """One memory of a user, in any thread, with its ETag. Raises NotFound if the user has no such memory."""
    rows = await store.query(MEMORIES, queries.MEMORY_BY_ID.format(types=_TYPES), (user_id,), id=memory_id)
    memory = from_document(Memory, rows[0]) if rows else None
    if memory is None or memory.is_expired:
        raise NotFound(f"no memory {memory_id} in this scope")
    return memory, rows[0]["_etag"]


async def get_memories(store: Store, user_id: str, ids: Sequence[str]) -> list[Memory]:
    """The user's memories with these ids, in no order; missing ones are left out."""
    sql = queries.MEMORIES_BY_ID.format(types=_TYPES)
    rows = await store.query(MEMORIES, sql, (user_id,), ids=list(ids)) if ids else []
    return [memory for row in rows if not (memory := from_document(Memory, row)).is_expired]


async def made_from(store: Store, user_id: str, memory_id: str) -> list[Memory]:
    """The user's memories that were made from this one, in no order."""
    rows = await store.query(MEMORIES, queries.MADE_FROM.format(types=_TYPES), (user_id,), id=memory_id)
    return [from_document(Memory, row) for row in rows]


async def active_by_hash(store: Store, user_id: str, hashes: list[str]) -> dict[str, Memory]:
    """The active memories of a user that have one of these content hashes, by hash."""
    rows = await store.query(MEMORIES, queries.MEMORIES_BY_HASH, (user_id,), hashes=hashes) if hashes else []
    found = (from_document(Memory, row) for row in rows)
    return {memory.content_hash: memory for memory in found if not memory.is_expired}


async def reaffirm(store: Store, partition: Sequence[str], memory_id: str, at: datetime) -> None:
    """Notes that the user said an active memory again. A repetition older than the noted one changes nothing."""
    with contextlib.suppress(Conflict, NotFound):
        await store.patch(
            MEMORIES,
            memory_id,
            partition,
            {"reaffirmed_at": iso(at)},
            f'FROM c WHERE {queries.ACTIVE} AND c.created_at < "{iso(at)}"'
            f' AND (NOT IS_DEFINED(c.reaffirmed_at) OR c.reaffirmed_at < "{iso(at)}")',
        )


async def newest_facts(store: Store, user_id: str, limit: int) -> list[Memory]:
    """The most recent active facts of a user."""
    rows = await store.query(MEMORIES, queries.NEWEST_FACTS, (user_id,), limit=limit)
    return [from_document(Memory, row) for row in rows]


async def recorded_since(
    store: Store, user_id: str, since: str, embedding_model: str, limit: int
) -> list[tuple[Memory, Sequence[float]]]:
    """The active facts of a user that were recorded after a time, each with its vector."""
    rows = await store.query(
        MEMORIES, queries.RECORDED_SINCE, (user_id,), since=since, model=embedding_model, limit=limit
    )
    return [(from_document(Memory, row), row["embedding"]) for row in rows]


async def nearest_active(
    store: Store, user_id: str, kind: MemoryType, vector: Sequence[float], embedding_model: str, limit: int
) -> list[tuple[Memory, float]]:
    """The active memories of one type of a user that are nearest to a vector, each with its cosine."""
    rows = await store.query(
        MEMORIES,
        search_queries.nearest(f"c.type = @type AND {queries.USABLE} AND {queries.ACTIVE}"),
        (user_id,),
        type=kind,
        vector=list(vector),
        model=embedding_model,
        limit=limit,
    )
    return [(from_document(Memory, row), row["similarity"]) for row in rows]


async def amend(store: Store, memory: Memory, changes: Mapping[str, Any]) -> Memory:
    """Changes fields of an active memory other than its content, such as whether it is pinned.

    Raises:
        Conflict: if it was replaced meanwhile.
        NotFound: if it was forgotten.
    """
    partition = (memory.user_id, memory.thread_id)
    stamped = {**changes, "updated_at": iso(now())}
    document = await store.patch(MEMORIES, memory.id, partition, stamped, f"FROM c WHERE {queries.ACTIVE}")
    return from_document(Memory, document)


async def history(store: Store, user_id: str, memory_id: str) -> list[Memory]:
    """All versions connected with a memory, oldest first: what it replaced, and what replaced it.

    Raises:
        NotFound: if the user has no such memory.
    """
    first, _ = await get_memory(store, user_id, memory_id)
    found = {first.id: first}
    frontier = [first]
    while frontier:
        ids = [memory.id for memory in frontier]
        rows = await store.query(MEMORIES, queries.SUPERSEDED_BY, (user_id,), ids=ids)
        linked = [from_document(Memory, row) for row in rows]
        for memory in frontier:
            if memory.superseded_by and memory.superseded_by not in found:
                try:
                    linked.append((await get_memory(store, user_id, memory.superseded_by))[0])
                except NotFound:
                    continue
        frontier = [memory for memory in linked if memory.id not in found]
        found |= {memory.id: memory for memory in frontier}
    return sorted(found.values(), key=lambda memory: (memory.created_at, memory.recorded_at, memory.id))


async def has_talk_or_memories(store: Store, user_id: str) -> bool:
    """Whether a user has any turn or memory, or any state of processing. An erased user has none.

    Costs one query, and a second one for a user whose turns have expired.
    """
    for container in (TURNS, MEMORIES):
        if await store.query(container, queries.SOME_OF_ALL, (user_id,), limit=1):
            return True
    return False
