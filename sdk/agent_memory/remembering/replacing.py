"""Replacing: one memory supersedes another, a memory is withdrawn, or a merge is undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_memory.errors import Conflict, NotFound
from agent_memory.models import Memory, SupersedeReason, iso, now
from agent_memory.remembering import untold
from agent_memory.remembering.outdated import outdate_chunks
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import Document, from_document
from agent_memory.store.ids import NOBODY, USER_THREAD
from agent_memory.store.memories import get_memories
from agent_memory.store.updates import change_existing

SUPERSESSION = ("superseded_by", "superseded_at", "supersede_reason", *untold.FIELDS)
"""The fields that only a replaced memory has."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A memory that a merge replaced, and the topmost merge; without that, the memory becomes active again."""

    memory: Memory
    merge_id: str


async def supersede(
    store: Store,
    user_id: str,
    thread_id: str,
    loser_id: str,
    winner: Memory,
    reason: SupersedeReason,
    valid_to: datetime | None,
) -> bool:
    """Marks a memory as replaced; it stays on record. False if it was replaced or forgotten already.

    With `valid_to`, the memory is no longer true. Then the chunks that say it are marked as outdated, so that the old
    value is not shown next to the new one, and so are the memories that summaries of other threads use (`untold`).
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
        # A killed process may have replaced it already, but not have marked the chunks.
        known = await store.read(MEMORIES, loser_id, (user_id, thread_id))
        if known is None or known.get("superseded_by") != winner.id:
            return False
        loser = known
    if valid_to is not None:
        await outdate_chunks(store, from_document(Memory, loser), winner, valid_to)
        await untold.mark_earlier(store, user_id, loser_id, winner.thread_id)
    return True


async def withdraw(store: Store, user_id: str, thread_id: str, memory_id: str, reason: SupersedeReason) -> bool:
    """Withdraws a memory without a successor; it stays on record.

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
    """Makes a part (thread, id) of a withdrawn merge active again.

    `winner_id` is what replaced the part: the merge, or another merge that went into it. False if the merge is active
    or was itself replaced, or if the part is active already, was replaced by another since, or was forgotten.
    """
    merge = await store.read(MEMORIES, merge_id, (user_id, USER_THREAD))
    if merge is None or merge.get("supersede_reason") != "revoked":
        return False

    def standing(stored: Document) -> Document | None:
        replaced = stored.get("superseded_by") == winner_id
        kept = {name: value for name, value in stored.items() if name not in SUPERSESSION}
        return kept | {"updated_at": iso(now())} if replaced else None

    thread_id, memory_id = part
    return await change_existing(store, MEMORIES, memory_id, (user_id, thread_id), standing)


async def unmerged(store: Store, user_id: str, parts: Sequence[Memory]) -> tuple[list[Memory], list[Merged]]:
    """The merges to withdraw because these parts of them are no longer valid, and the other parts to make active again.

    Leaves out a merge that is pinned or was itself replaced. A merge names its parts; a memory that merely says the
    same does not, and stays. Costs two queries for each level of merging.
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
    members: dict[str, Merged] = {}
    top = {memory.id: memory.id for memory in standing}
    level = standing
    while level:
        rows = await store.query(MEMORIES, queries.SUPERSEDED_BY, (user_id,), ids=[memory.id for memory in level])
        under = [from_document(Memory, row) for row in rows if row["supersede_reason"] == "duplicate"]
        top |= {memory.id: top[str(memory.superseded_by)] for memory in under}
        members |= {one.id: Merged(one, top[one.id]) for one in under if one.id not in merges and one.id not in gone}
        level = [memory for memory in under if memory.id in merges]
    return standing, list(members.values())
