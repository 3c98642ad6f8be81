"""Replacing: one memory supersedes another, a memory is withdrawn, or a merge is undone.

Chunks that repeat a replaced memory are marked with the time until which they were true. Contexts leave marked turns
out, so a mark must be sure. A short figure in common ("5", "12:30") shows nothing: many statements share it. A memory
that says several things ends no turn.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from agent_memory.calibration import CLAIM_OVERLAP
from agent_memory.errors import Conflict, NotFound
from agent_memory.models import Memory, SupersedeReason, iso, now
from agent_memory.remembering import untold
from agent_memory.store import queries, search_queries
from agent_memory.store.chunks import chunk_id, quote_of
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import Document, from_document
from agent_memory.store.ids import NOBODY, USER_THREAD
from agent_memory.store.memories import get_memories
from agent_memory.store.updates import change_existing
from agent_memory.text.figures import FIGURE
from agent_memory.text.likeness import LITTLE, stems
from agent_memory.text.patterns import linear

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

    A winner that waits for review replaces no active memory. Then it returns False, too.

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
    waits = "" if winner.status == "active" else f" AND NOT ({queries.USABLE})"
    try:
        loser = await store.patch(
            MEMORIES, loser_id, (user_id, thread_id), changes, f"FROM c WHERE {queries.ACTIVE}{waits}"
        )
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


_MOSTLY = 1 / 2
"""Minimum share of a turn's words in a memory for the turn to end with the memory. A choice."""
_ONE_CLAIM = 12
"""Maximum words of a replaced memory that its winner does not have. A memory with more says several things, of which
the winner replaces one at most. A choice."""
_LONG_FIGURE = 4
"""Minimum digits of a figure that shows by itself what is meant, unless it is a year or a time. A choice."""
_YEAR = linear(r"(?:19|20)\d\d")


async def outdate_new_chunks(store: Store, partition: tuple[str, str], chunk_ids: Sequence[str]) -> None:
    """Marks the new chunks that repeat a memory of their thread which was replaced before they were indexed.

    A later replacement finds the chunks itself. Both sides write first and then look, so the later one sees the other.
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
            and _repeats(_words(row), loser, winners.get(loser.superseded_by or "", ""))
        ]
        if ends:
            await _outdate(store, (*partition, row["id"]), min(ends))


async def outdate_chunks(store: Store, loser: Memory, winner: Memory, valid_to: datetime) -> None:
    """Marks the chunks that state a replaced memory: its sources, and repetitions in its thread.

    They are linked to the turn that replaced it, so that a question in the old words leads to the new value. After a
    correction by hand no turn did. Then a source stays if it does not say what was corrected, because the memory was
    wrong, not the talk.
    """
    if not _is_one_claim(loser, winner.content):
        return
    by_hand = winner.model is None and loser.id in winner.supersedes_ids
    wrong = stems(loser.content) - stems(winner.content) if by_hand else frozenset[str]()
    figures = _figures(loser, winner.content)
    rows = await store.query(
        MEMORIES,
        search_queries.chunks_that_tell(len(figures)),
        (loser.user_id,),
        turns=loser.source_turn_ids,
        thread=loser.thread_id,
        end=iso(valid_to),
        **{f"f{number}": figure for number, figure in enumerate(figures)},
    )
    replacing = [] if by_hand else winner.source_turn_ids[-1:]
    newer = [chunk_id(winner.user_id, winner.thread_id, turn_id) for turn_id in replacing]
    for row in rows:
        is_source = not set(loser.source_turn_ids).isdisjoint(row["source_turn_ids"])
        if by_hand:
            is_source = is_source and wrong <= stems(_words(row)) and _says_little_else(_words(row), loser)
        if is_source or _repeats(_words(row), loser, winner.content):
            links = {"near_ids": list(dict.fromkeys([*newer, *row.get("near_ids", [])]))}
            await _outdate(store, (loser.user_id, row["thread_id"], row["id"]), valid_to, links if newer else {})


def _words(chunk: dict[str, Any]) -> str:
    """What was said, without the day and the speaker."""
    return chunk.get("quote") or quote_of(chunk["content"], None)


def _is_one_claim(loser: Memory, winner: str) -> bool:
    """Whether a replaced memory says one thing, so that all of it is out of date."""
    return len(stems(loser.content) - stems(winner)) <= _ONE_CLAIM


def _says_little_else(said: str, loser: Memory) -> bool:
    """Whether a memory and its quote have most of the words of a turn."""
    words = stems(said)
    told = words & (stems(loser.content) | stems(loser.quote or ""))
    return len(words) - len(told) <= LITTLE or len(told) >= _MOSTLY * len(words)


def _repeats(said: str, loser: Memory, winner: str) -> bool:
    """Whether talk has a figure of what was replaced that the winner has not, and makes the same claim.

    A long figure shows that by itself: few things share it.
    """
    shared = set(FIGURE.findall(said)).intersection(_figures(loser, winner))
    if not shared or not _is_one_claim(loser, winner):
        return False
    if any(map(_is_long, shared)):
        return True
    claim = stems(loser.content)
    return _says_little_else(said, loser) and len(claim & stems(said)) >= CLAIM_OVERLAP * len(claim)


def _is_long(figure: str) -> bool:
    return sum(map(str.isdigit, figure)) >= _LONG_FIGURE and not _YEAR.fullmatch(figure) and ":" not in figure


def _figures(loser: Memory, winner: str) -> list[str]:
    """Up to five amounts, dates and times of the replaced memory that its winner does not have."""
    return sorted(set(FIGURE.findall(loser.content)) - set(FIGURE.findall(winner)))[:5]


async def _outdate(
    store: Store, chunk: tuple[str, str, str], valid_to: datetime, links: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Notes until when a chunk (user, thread, id) was true. The earliest known time wins, in whatever order."""
    *partition, memory_id = chunk
    end = iso(valid_to)
    with contextlib.suppress(Conflict, NotFound):
        await store.patch(
            MEMORIES,
            memory_id,
            partition,
            {"valid_to": end, **links},
            f'FROM c WHERE NOT IS_DEFINED(c.valid_to) OR c.valid_to > "{end}"',
        )
