"""Unsaid: what is kept about a popped turn, and whether anything was derived from it."""

from __future__ import annotations

from typing import NamedTuple

from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.counters import Counters
from agent_memory.store.cursors import Cursor, read_cursor
from agent_memory.store.ids import state_id, summary_id
from agent_memory.store.updates import change_existing


class Said(NamedTuple):
    """A turn: its id, when the store wrote it (`_ts`), and when it was said."""

    turn_id: str
    ts: int
    at: str


async def derived_from(store: Store, partition: tuple[str, str], said: Said) -> str | None:
    """What was derived from a turn, as a reason; None if nothing was.

    A step that has read the turn and made nothing of it does not count, nor does the index.
    """
    made = await store.query(MEMORIES, queries.RESTING_ON, partition, turn=said.turn_id)
    if made:
        return f"memory {made[0]} was derived from it"
    if await _covered(store, MEMORIES, partition, "extract", said):
        again = await store.query(MEMORIES, queries.REAFFIRMED_AT, partition[:1], at=said.at)
        if again:
            return f"memory {again[0]} was said again in it"
    if await _covered(store, SUMMARIES, partition, "summarize", said):
        ids = [summary_id(*partition), state_id(*partition)]
        if await store.query(SUMMARIES, queries.IDS_THAT_EXIST, partition, ids=ids):
            return "the summary of the conversation covers it"
    return None


async def uncount(store: Store, counters: Counters, partition: tuple[str, str], said: Said) -> None:
    """Removes a deleted turn from a step's pending work, and gives the cursors of its thread new ETags.

    A draft that has read the turn can then not be committed.
    """
    places = [
        (container, row["id"])
        for container in (MEMORIES, SUMMARIES)
        for row in await store.query(container, queries.CURSORS, partition)
    ]
    read = [await store.read(container, cursor, partition) for container, cursor in places]
    past = [one["step"] for one in read if one and not Cursor.from_document(one).is_new(said.turn_id, said.ts)]
    await counters.take_back(*partition, said.turn_id, said.ts, past)
    for container, cursor in places:
        await change_existing(store, container, cursor, partition, dict)


async def _covered(store: Store, container: str, partition: tuple[str, str], step: str, said: Said) -> bool:
    stored = await read_cursor(store, container, partition, step)
    return not stored.cursor.is_new(said.turn_id, said.ts)
