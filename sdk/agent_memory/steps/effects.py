"""Effects: the changes that one run of a step wants, as plain data, and their commit (docs/decisions/0005).

Effects hold no connection and no transcript, so they can be kept, sent and tried again. `commit` writes them.
"""

from __future__ import annotations

import contextlib
from typing import Any

from pydantic import Field

from agent_memory.errors import Conflict, NotFound
from agent_memory.models import Memory, Model, ProcessResult, SupersedeReason, UtcTime
from agent_memory.remembering.outdated import outdate_new_chunks
from agent_memory.remembering.replacing import release, supersede, withdraw
from agent_memory.remembering.untold import Told, clear_mark
from agent_memory.store.client import Store
from agent_memory.store.cursors import Cursor, advance, read_cursor
from agent_memory.store.documents import Document, create, delete, patch, upsert
from agent_memory.store.ids import cursor_id
from agent_memory.store.memories import get_memory, reaffirm


class Supersession(Model):
    """The intent to mark one memory as replaced by another, which may lie in other threads."""

    loser_id: str
    loser_thread_id: str
    winner_id: str
    reason: SupersedeReason
    valid_to: UtcTime | None = None


class Retirement(Model):
    """The intent to withdraw a memory that nothing replaces."""

    memory_id: str
    thread_id: str
    reason: SupersedeReason


class Release(Model):
    """The intent to make a memory active again, because the merge that it went into is withdrawn.

    It may have gone into that merge through other merges.
    """

    memory_id: str
    thread_id: str
    winner_id: str
    merge_id: str


class Reaffirmation(Model):
    """The intent to note that an active memory was said again, word for word."""

    memory_id: str
    thread_id: str
    at: UtcTime


class Intents(Model):
    """What is to be done in other partitions, after the commit; it is kept with the cursor until all is done."""

    supersede: list[Supersession] = Field(default_factory=list)
    retire: list[Retirement] = Field(default_factory=list)
    release: list[Release] = Field(default_factory=list)
    reaffirm: list[Reaffirmation] = Field(default_factory=list)
    new_chunks: list[str] = Field(default_factory=list, description="Chunks that may say what was replaced.")
    told: list[Told] = Field(default_factory=list, description="Replacements that are now in the summary.")

    def to_document(self) -> Document:
        """The stored form; empty if there is nothing to do."""
        dumped = self.model_dump(mode="json", include=set(Intents.model_fields))
        return {name: items for name, items in dumped.items() if items}


class Effects(Intents):
    """Everything that one run of a step changes: documents next to its cursor, intents elsewhere; and a `result`."""

    result: ProcessResult
    create: list[Document] = Field(default_factory=list)
    upsert: list[Document] = Field(default_factory=list)
    patch: dict[str, dict[str, Any]] = Field(default_factory=dict, description="Fields to set, by id.")
    delete: list[str] = Field(default_factory=list)
    more: bool = Field(default=False, description="Whether the range was cut short: there is more to do.")


class Draft(Effects):
    """Effects ready to be committed: with their partition, and the cursor that they move.

    A second commit of a draft, or of a rival draft over the same range, finds that the cursor has moved, and writes
    nothing.
    """

    step: str
    container: str
    user_id: str
    thread_id: str
    cursor: dict[str, Any]
    etag: str
    extra: dict[str, Any] = Field(default_factory=dict, description="What the step stores with its cursor.")
    oldest: int | None = Field(default=None, description="The `_ts` of the oldest turn that it covers, if it is known.")

    @property
    def partition(self) -> tuple[str, str]:
        """Where it commits."""
        return (self.user_id, self.thread_id)


class Committed(Model):
    """The outcome of a commit. `raced`: another run had covered the range, so nothing of this one was written."""

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
    """The winner if it is active. One that waits for review, or was replaced or forgotten, must not replace another."""
    try:
        memory, _ = await get_memory(store, user_id, memory_id)
    except NotFound:
        return None
    return memory if memory.superseded_by is None and memory.status == "active" else None
