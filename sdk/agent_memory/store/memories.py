"""Memories: listed, found by id, superseded, and walked through their history."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_memory.errors import Conflict, NotFound
from agent_memory.models import Memory, MemoryType, SupersedeReason, iso, now
from agent_memory.store import queries, untold
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import Document, from_document
from agent_memory.store.filters import types_and_kinds
from agent_memory.store.ids import NOBODY, USER_THREAD
from agent_memory.store.pages import newest
from agent_memory.store.updates import change_existing
from agent_memory.text.patterns import linear

SUPERSESSION = ("superseded_by", "superseded_at", "supersede_reason", *untold.FIELDS)
"""What a memory that was replaced carries beside its own."""
_FIGURE = linear(r"\d[\d.,:]*\d|\d")
"""An amount, a date or a time: what an answer most often repeats of a statement."""
_TYPES = '"fact", "episodic", "procedural", "reflection", "document"'


@dataclass(frozen=True, slots=True)
class Part:
    """A memory that a merge replaced, and the merge in whose place it would stand again."""

    memory: Memory
    merge_id: str


async def list_memories(
    store: Store,
    user_id: str,
    thread_id: str | None = None,
    *,
    types: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    include_superseded: bool = False,
    as_of: datetime | None = None,
    chunks: bool = False,
    before: datetime | None = None,
    limit: int | None = None,
) -> list[Memory]:
    """A user's memories (or those of one thread), newest first. Chunks of raw talk only if asked for."""
    parameters: dict[str, Any] = {"kinds": kinds, "as_of": iso(as_of) if as_of else None}
    if types is not None:
        parameters["types"], parameters["type_kinds"] = types_and_kinds(types)
    partition = (user_id,) if thread_id is None else (user_id, thread_id)
    given = {name: value for name, value in parameters.items() if value is not None}

    async def fetch(part: queries.Part, bounds: dict[str, Any]) -> list[Document]:
        sql = queries.memories(
            types=types is not None,
            kinds=kinds is not None,
            superseded=include_superseded,
            as_of=as_of is not None,
            chunks=chunks,
            part=part,
        )
        return await store.query(MEMORIES, sql, partition, **given, **bounds)

    return [from_document(Memory, row) for row in await newest(fetch, before=before, limit=limit)]


async def get_memory(store: Store, user_id: str, memory_id: str) -> tuple[Memory, str]:
    """One memory of a user, whichever thread it lies in, with its ETag.

    Raises:
        NotFound: if the user has no such memory.
    """
    rows = await store.query(MEMORIES, queries.MEMORY_BY_ID.format(types=_TYPES), (user_id,), id=memory_id)
    if not rows:
        raise NotFound(f"no memory {memory_id} in this scope")
    return from_document(Memory, rows[0]), rows[0]["_etag"]


async def get_memories(store: Store, user_id: str, ids: Sequence[str]) -> list[Memory]:
    """Those of these memories that the user has, in no order."""
    sql = queries.MEMORIES_BY_ID.format(types=_TYPES)
    rows = await store.query(MEMORIES, sql, (user_id,), ids=list(ids)) if ids else []
    return [from_document(Memory, row) for row in rows]


async def active_by_hash(store: Store, user_id: str, hashes: list[str]) -> dict[str, Memory]:
    """The active memories of a user that have one of these content hashes, by hash (row S1-37)."""
    rows = await store.query(MEMORIES, queries.MEMORIES_BY_HASH, (user_id,), hashes=hashes) if hashes else []
    return {row["content_hash"]: from_document(Memory, row) for row in rows}


async def reaffirm(store: Store, partition: Sequence[str], memory_id: str, at: datetime) -> None:
    """Notes that an active memory was said again; an older repetition changes nothing."""
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
    """The most recent active facts of a user (row S1-29)."""
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
    """The active memories of a user and a type that are nearest to a vector, each with its cosine."""
    rows = await store.query(
        MEMORIES,
        queries.nearest(f"c.type = @type AND {queries.USABLE} AND {queries.ACTIVE}"),
        (user_id,),
        type=kind,
        vector=list(vector),
        model=embedding_model,
        limit=limit,
    )
    return [(from_document(Memory, row), row["similarity"]) for row in rows]


async def supersede(
    store: Store,
    user_id: str,
    thread_id: str,
    loser_id: str,
    winner: Memory,
    reason: SupersedeReason,
    valid_to: datetime | None,
) -> bool:
    """Marks a memory as replaced, keeping it for the record; False if it was replaced or forgotten already.

    If what it said is no longer true, the raw talk that says so too is marked as out of date, so that it does not tell
    the old value again beside the new one, and so is what the summaries of other threads rest on (`store.untold`).
    """
    changes: dict[str, Any] = {
        "superseded_by": winner.id,
        "superseded_at": iso(now()),
        "supersede_reason": reason,
        "updated_at": iso(now()),
    }
    if valid_to is not None:
        changes["valid_to"] = iso(valid_to)
        if winner.thread_id != thread_id:
            changes |= untold.mark(thread_id)
    try:
        loser = await store.patch(MEMORIES, loser_id, (user_id, thread_id), changes, f"FROM c WHERE {queries.ACTIVE}")
    except NotFound:
        return False
    except Conflict:
        # A process that was killed may have come as far as this, and not to the raw talk.
        known = await store.read(MEMORIES, loser_id, (user_id, thread_id))
        if known is None or known.get("superseded_by") != winner.id:
            return False
        loser = known
    if valid_to is not None:
        await _outdate_chunks(store, from_document(Memory, loser), winner, valid_to)
        await untold.mark_earlier(store, user_id, loser_id, winner.thread_id)
    return True


async def amend(store: Store, memory: Memory, changes: Mapping[str, Any]) -> Memory:
    """Changes fields of an active memory that are not what it says: whether it is pinned, what it is linked with.

    Raises:
        Conflict: if it was replaced meanwhile, NotFound if it was forgotten.
    """
    partition = (memory.user_id, memory.thread_id)
    stamped = {**changes, "updated_at": iso(now())}
    document = await store.patch(MEMORIES, memory.id, partition, stamped, f"FROM c WHERE {queries.ACTIVE}")
    return from_document(Memory, document)


async def retire(store: Store, user_id: str, thread_id: str, memory_id: str, reason: SupersedeReason) -> bool:
    """Withdraws a memory that nothing takes the place of; it is kept for the record.

    False if it is pinned, or was replaced, withdrawn or forgotten already.
    """
    changes = {
        "superseded_by": NOBODY,
        "superseded_at": iso(now()),
        "supersede_reason": reason,
        "updated_at": iso(now()),
    }
    condition = f"FROM c WHERE {queries.ACTIVE} AND (NOT IS_DEFINED(c.pinned) OR NOT c.pinned)"
    try:
        await store.patch(MEMORIES, memory_id, (user_id, thread_id), changes, condition)
    except (Conflict, NotFound):
        return False
    return True


async def release(store: Store, user_id: str, part: tuple[str, str], winner_id: str, merge_id: str) -> bool:
    """Lets a part (thread, id) of a merge which was withdrawn stand again.

    `winner_id` is what replaced it: the merge, or one that went into it. False if the merge stands or was itself
    replaced, or if the part was replaced by another since, stands already, or was forgotten.
    """
    merge = await store.read(MEMORIES, merge_id, (user_id, USER_THREAD))
    if merge is None or merge.get("supersede_reason") != "revoked":
        return False

    def standing(stored: Document) -> Document | None:
        replaced = stored.get("superseded_by") == winner_id
        return {name: value for name, value in stored.items() if name not in SUPERSESSION} if replaced else None

    thread_id, memory_id = part
    return await change_existing(store, MEMORIES, memory_id, (user_id, thread_id), standing)


async def outdate_new_chunks(store: Store, partition: tuple[str, str], chunk_ids: Sequence[str]) -> None:
    """Marks those of these chunks as out of date that repeat what had been replaced in their thread before they came.

    What is replaced after they came finds them itself. Each side writes first and looks then, so that whoever is
    later sees the other.
    """
    rows = await store.query(MEMORIES, queries.REPLACED_FACTS, partition)
    if not rows:
        return
    losers = [from_document(Memory, row) for row in rows]
    winner_ids = sorted({loser.superseded_by for loser in losers if loser.superseded_by})
    found = await store.query(MEMORIES, queries.CONTENTS, partition[:1], ids=winner_ids)
    winners = {row["id"]: row["content"] for row in found}
    for row in await store.query(MEMORIES, queries.CONTENTS, partition, ids=list(chunk_ids)):
        ends = [
            loser.valid_to
            for loser in losers
            if loser.valid_to is not None
            and row["created_at"] < iso(loser.valid_to)
            and any(figure in row["content"] for figure in _figures(loser, winners.get(loser.superseded_by or "", "")))
        ]
        if ends:
            await _outdate(store, (*partition, row["id"]), min(ends))


async def _outdate_chunks(store: Store, loser: Memory, winner: Memory, valid_to: datetime) -> None:
    figures = _figures(loser, winner.content)
    rows = await store.query(
        MEMORIES,
        queries.chunks_that_tell(len(figures)),
        (loser.user_id,),
        turns=loser.source_turn_ids,
        thread=loser.thread_id,
        end=iso(valid_to),
        **{f"f{number}": figure for number, figure in enumerate(figures)},
    )
    for row in rows:
        await _outdate(store, (loser.user_id, row["thread_id"], row["id"]), valid_to)


def _figures(loser: Memory, winner: str) -> list[str]:
    """The figures by which talk shows that it tells what a memory said and its winner does not."""
    return sorted(set(_FIGURE.findall(loser.content)) - set(_FIGURE.findall(winner)))[:5]


async def _outdate(store: Store, chunk: tuple[str, str, str], valid_to: datetime) -> None:
    """Notes until when a chunk (user, thread, id) was true: the earliest time that is known, in whatever order."""
    *partition, chunk_id = chunk
    end = iso(valid_to)
    with contextlib.suppress(Conflict, NotFound):
        await store.patch(
            MEMORIES,
            chunk_id,
            partition,
            {"valid_to": end},
            f'FROM c WHERE NOT IS_DEFINED(c.valid_to) OR c.valid_to > "{end}"',
        )


async def unmerged(store: Store, user_id: str, parts: Sequence[Memory]) -> tuple[list[Memory], list[Part]]:
    """What merges of these parts, which hold no more, are to be withdrawn, and the other parts, which then stand.

    Nothing where what came of a merge has been replaced by something else since, or is pinned. A merge names what it
    was made of; a memory that merely says the same, given by hand perhaps, does not, and stays. Costs two queries for
    each level of merging.
    """
    merges: dict[str, Memory] = {}
    level = list(parts)
    while level:
        into = {one.superseded_by for one in level if one.superseded_by and one.supersede_reason == "duplicate"}
        found = await get_memories(store, user_id, sorted(into - merges.keys()))
        known = {one.id for one in level}
        level = [one for one in found if one.thread_id == USER_THREAD and known.intersection(one.supersedes_ids)]
        merges |= {memory.id: memory for memory in level}
    standing = [memory for memory in merges.values() if memory.superseded_by is None and not memory.pinned]
    gone = {part.id for part in parts}
    members: dict[str, Part] = {}
    top = {memory.id: memory.id for memory in standing}
    level = standing
    while level:
        rows = await store.query(MEMORIES, queries.SUPERSEDED_BY, (user_id,), ids=[memory.id for memory in level])
        under = [from_document(Memory, row) for row in rows if row["supersede_reason"] == "duplicate"]
        top |= {memory.id: top[str(memory.superseded_by)] for memory in under}
        members |= {one.id: Part(one, top[one.id]) for one in under if one.id not in merges and one.id not in gone}
        level = [memory for memory in under if memory.id in merges]
    return standing, list(members.values())


async def history(store: Store, user_id: str, memory_id: str) -> list[Memory]:
    """All versions that a memory is connected with, oldest first: what it replaced, and what replaced it.

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
