"""Outdated turns: marks chunks that repeat a replaced memory with the time until which they were true."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import datetime

from agent_memory.errors import Conflict, NotFound
from agent_memory.models import Memory, iso
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import from_document
from agent_memory.text.figures import FIGURE


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
            and any(figure in row["content"] for figure in _figures(loser, winners.get(loser.superseded_by or "", "")))
        ]
        if ends:
            await _outdate(store, (*partition, row["id"]), min(ends))


async def outdate_chunks(store: Store, loser: Memory, winner: Memory, valid_to: datetime) -> None:
    """Marks the chunks that say a replaced memory: its sources, and chunks of its thread with the same figures."""
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
    """Up to five amounts, dates and times of the replaced memory that its winner does not have."""
    return sorted(set(FIGURE.findall(loser.content)) - set(FIGURE.findall(winner)))[:5]


async def _outdate(store: Store, chunk: tuple[str, str, str], valid_to: datetime) -> None:
    """Notes until when a chunk (user, thread, id) was true. The earliest known time wins, in whatever order."""
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
