"""The live view of a thread: how turns leave it, all together or as far as steps have covered them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent_memory.steps import summarize
from agent_memory.steps.table import steps
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.cursors import Cursor, StoredCursor, cursor_move, read_ahead, read_cursor
from agent_memory.store.documents import Document, delete
from agent_memory.store.ids import state_id, summary_id
from agent_memory.store.turns import LiveTurn, live_turns, new_turn_ids, position_of, put_window, read_window
from agent_memory.store.updates import racing, until_written


async def retire(store: Store, user_id: str, thread_id: str, through: str, covered_by: Sequence[str]) -> int:
    """Takes turns that the steps have covered out of the live view, up to `through`; returns how many.

    A step that gave a turn up (a dead letter) has not covered it. The system's turns stay.

    Raises:
        StoreUnavailable: if other writers keep moving the window.
    """

    async def attempt() -> int:
        window = await read_window(store, user_id, thread_id)
        live = await live_turns(store, user_id, thread_id, window)
        if through not in {one.turn.id for one in live}:
            return 0
        partition = (user_id, thread_id)
        cursors = [(await read_cursor(store, steps()[step].container, partition, step)).cursor for step in covered_by]
        given_up = {
            turn_id
            for container in {steps()[step].container for step in covered_by}
            for letter in await store.query(container, queries.DEAD_LETTERS, partition)
            if letter["step"] in covered_by
            for turn_id in letter["turn_ids"]
        }
        going: list[LiveTurn] = []
        for one in live:
            if one.turn.role != "system":
                if one.turn.id in given_up or any(cursor.is_new(one.turn.id, one.ts) for cursor in cursors):
                    break
                going.append(one)
            if one.turn.id == through:
                break
        if not going:
            return 0
        # A turn that was written late may be before the position that the window has already reached.
        reached = max(window.through, position_of(going[-1].turn))
        retired = window.retired + len(going)
        moved = replace(window, cursor=_advanced(window.cursor, going), through=reached, retired=retired)
        with racing():
            await store.batch(SUMMARIES, partition, [put_window(user_id, thread_id, moved)])
        return len(going)

    return await until_written(attempt, f"the live view of {thread_id}")


async def clear(store: Store, user_id: str, thread_id: str) -> int:
    """Empties the live view, and deletes summary and state; returns how many turns were in it. No step rebuilds them.

    One transactional batch: it happens as a whole, and a summary that is being made meanwhile cannot be committed.

    Raises:
        StoreUnavailable: if other writers keep moving the window or the summary.
    """
    partition = (user_id, thread_id)

    async def unsummarized(stored: StoredCursor) -> list[Document]:
        return await new_turn_ids(store, partition, stored.cursor)

    async def attempt() -> int:
        # Read the cursor first: if a summary is committed after this, our commit fails. So no summary of a live turn
        # is deleted.
        summarized, rows = await read_ahead(store, SUMMARIES, partition, summarize.NAME, unsummarized)
        window = await read_window(store, user_id, thread_id)
        live = await live_turns(store, user_id, thread_id, window)
        gone = [summary_id(user_id, thread_id), state_id(user_id, thread_id)]
        letters = await store.query(SUMMARIES, queries.DEAD_LETTERS, partition)
        stale = [item for item in gone if await store.read(SUMMARIES, item, partition) is not None]
        stale += [letter["id"] for letter in letters if letter["step"] == summarize.NAME]
        covered = {one.turn.id: one.ts for one in live if summarized.cursor.is_new(one.turn.id, one.ts)} | {
            row["id"]: int(row["_ts"])
            for row in rows
            if not window.shows_at((row["created_at"], row["id"]), row["role"], int(row["_ts"]))
        }
        if not (live or stale):
            return 0
        end = max([window.through, *(position_of(one.turn) for one in live)])
        cleared = replace(window, cursor=_advanced(window.cursor, live), through=end, cleared=end, retired=0)
        cursor = summarized.cursor.advanced(covered.items())
        move = cursor_move(partition, summarize.NAME, cursor, summarized.etag, summarized.extra)
        with racing():
            operations = [put_window(user_id, thread_id, cleared), *map(delete, stale), move]
            await store.batch(SUMMARIES, partition, operations)
        return len(live)

    return await until_written(attempt, f"the live view of {thread_id}")


def _advanced(cursor: Cursor, turns: Sequence[LiveTurn]) -> Cursor:
    return cursor.advanced((one.turn.id, one.ts) for one in turns)
