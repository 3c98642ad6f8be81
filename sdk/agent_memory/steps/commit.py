"""Commit: how every step writes its results (docs/decisions/0005)."""

from __future__ import annotations

import contextlib
from typing import Any

from agent_memory.errors import Conflict, NotFound
from agent_memory.models import Memory, Model, ProcessResult
from agent_memory.remembering.outdated import outdate_new_chunks
from agent_memory.remembering.replacing import release, supersede, withdraw
from agent_memory.remembering.untold import clear_mark
from agent_memory.steps.effects import Draft, Intents
from agent_memory.store.client import Store
from agent_memory.store.cursors import Cursor, advance, read_cursor
from agent_memory.store.documents import create, delete, patch, upsert
from agent_memory.store.ids import cursor_id
from agent_memory.store.memories import get_memory, reaffirm


class Committed(Model):
    """What came of a commit. `raced`: another run had covered the range, so nothing of this one was written."""

    result: ProcessResult
    more: bool
    raced: bool = False


async def commit(store: Store, draft: Draft) -> Committed:
    """Writes a draft: documents, cursor and intents in one transactional batch; then carries out the intents.

    Intents change other partitions. They are idempotent, and stay recorded with the cursor until all are done, so that
    `finish` can complete them after a crash.
    """
    cursor = Cursor.from_document(draft.cursor)
    intents = draft.to_document()
    try:
        await advance(
            store,
            draft.container,
            draft.partition,
            draft.step,
            cursor=cursor,
            etag=draft.etag,
            operations=[
                *(create(document) for document in draft.create),
                *(upsert(document) for document in draft.upsert),
                *(patch(item_id, fields) for item_id, fields in draft.patch.items()),
                *(delete(item_id) for item_id in draft.delete),
            ],
            extra=draft.extra | ({"intents": intents} if intents else {}),
        )
    except Conflict:
        # The other run may have been this one, killed before it carried out its intents.
        await finish(store, draft.container, draft.partition, draft.step)
        return Committed(result=ProcessResult(step=draft.step), more=True, raced=True)
    done = 0
    if intents:
        done = await _carry_out(
            store, draft.container, draft.partition, draft.step, draft, draft.extra, runs=cursor.runs
        )
    return Committed(result=draft.result.model_copy(update={"superseded": done}), more=draft.more)


async def finish(store: Store, container: str, partition: tuple[str, str], step: str) -> int:
    """Completes intents that a crash left; returns how many memories it superseded."""
    stored = await read_cursor(store, container, partition, step)
    if "intents" not in stored.extra:
        return 0
    intents = Intents.model_validate(stored.extra["intents"])
    extra = {name: value for name, value in stored.extra.items() if name != "intents"}
    return await _carry_out(store, container, partition, step, intents, extra, runs=stored.cursor.runs)


async def _carry_out(
    store: Store,
    container: str,
    partition: tuple[str, str],
    step: str,
    intents: Intents,
    extra: dict[str, Any],
    *,
    runs: int,
) -> int:
    """Carries out the intents, then clears them from the cursor, which keeps `extra`."""
    user_id = partition[0]
    for again in intents.reaffirm:
        await reaffirm(store, (user_id, again.thread_id), again.memory_id, again.at)
    done = 0
    for one in intents.supersede:
        winner = await _still_active(store, user_id, one.winner_id)
        if winner is not None:
            done += await supersede(store, user_id, one.loser_thread_id, one.loser_id, winner, one.reason, one.valid_to)
    for gone in intents.retire:
        done += await withdraw(store, user_id, gone.thread_id, gone.memory_id, gone.reason)
    for freed in intents.release:
        await release(store, user_id, (freed.thread_id, freed.memory_id), freed.winner_id, freed.merge_id)
    if intents.new_chunks:
        await outdate_new_chunks(store, partition, intents.new_chunks)
    for told in intents.told:
        await clear_mark(store, partition, told)
    with contextlib.suppress(Conflict, NotFound):
        # Only if no later run has written its own intents there.
        await store.patch(container, cursor_id(step), partition, {"extra": extra}, f"FROM c WHERE c.runs = {runs}")
    return done


async def _still_active(store: Store, user_id: str, memory_id: str) -> Memory | None:
    """A winner, unless it waits for review, or was itself replaced or forgotten: then it must not take another down."""
    try:
        memory, _ = await get_memory(store, user_id, memory_id)
    except NotFound:
        return None
    return memory if memory.superseded_by is None and memory.status == "active" else None
