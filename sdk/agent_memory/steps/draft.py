"""Drafts: what a step wants to write, as plain data, and the one way in which every step commits (decision D5).

A draft can be kept, sent and tried again: it holds no connection and no transcript, and a second commit of it, or
the commit of a rival over the same range, meets a cursor that has moved and writes nothing.
"""

from __future__ import annotations

import contextlib
from typing import Any

from pydantic import Field

from agent_memory.errors import Conflict, NotFound
from agent_memory.models import Memory, Model, ProcessResult, SupersedeReason, UtcTime
from agent_memory.remembering.outdated import outdate_new_chunks
from agent_memory.remembering.replacing import release, supersede, withdraw
from agent_memory.remembering.untold import Told, settle
from agent_memory.store import commits
from agent_memory.store.client import Store
from agent_memory.store.cursors import Cursor
from agent_memory.store.documents import Document
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
    """The intent to withdraw a memory that nothing takes the place of."""

    memory_id: str
    thread_id: str
    reason: SupersedeReason


class Release(Model):
    """The intent to let a memory stand again once the merge that it went into, at once or by others, is withdrawn."""

    memory_id: str
    thread_id: str
    winner_id: str
    merge_id: str


class Reaffirmation(Model):
    """That an active memory was said again, word for word."""

    memory_id: str
    thread_id: str
    at: UtcTime


class Intents(Model):
    """What is to be done in other partitions once a draft is committed."""

    supersede: list[Supersession] = Field(default_factory=list)
    retire: list[Retirement] = Field(default_factory=list)
    release: list[Release] = Field(default_factory=list)
    reaffirm: list[Reaffirmation] = Field(default_factory=list)
    new_chunks: list[str] = Field(default_factory=list, description="Raw talk that may say what was replaced.")
    told: list[Told] = Field(default_factory=list, description="Replacements that the summary knows now.")

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return any(getattr(self, name) for name in type(self).model_fields)


class Draft(Model):
    """What one run of a step wants to write, all in the partition `[user_id, thread_id]` of one container."""

    step: str
    container: str
    user_id: str
    thread_id: str
    cursor: dict[str, Any]
    etag: str
    extra: dict[str, Any] = Field(default_factory=dict, description="What the step keeps beside its cursor.")
    create: list[Document] = Field(default_factory=list)
    upsert: list[Document] = Field(default_factory=list)
    patch: dict[str, dict[str, Any]] = Field(default_factory=dict, description="Fields to set, by id.")
    delete: list[str] = Field(default_factory=list)
    supersede: list[Supersession] = Field(default_factory=list)
    retire: list[Retirement] = Field(default_factory=list)
    release: list[Release] = Field(default_factory=list)
    reaffirm: list[Reaffirmation] = Field(default_factory=list)
    new_chunks: list[str] = Field(default_factory=list)
    told: list[Told] = Field(default_factory=list)
    more: bool = Field(default=False, description="Whether the range was cut short: there is more to do.")
    result: ProcessResult

    @property
    def partition(self) -> tuple[str, str]:
        """Where it commits."""
        return (self.user_id, self.thread_id)

    @property
    def intents(self) -> Intents:
        """What follows the commit."""
        return Intents(**{name: getattr(self, name) for name in Intents.model_fields})


class Committed(Model):
    """What came of a commit. `raced`: another run had covered the range, so nothing of this one was written."""

    result: ProcessResult
    more: bool
    raced: bool = False


async def commit(store: Store, draft: Draft) -> Committed:
    """Writes a draft: documents, cursor and intents in one transactional batch, then the intents' effects.

    The effects lie in other partitions. They are idempotent, and stay recorded with the cursor until all are done,
    so that `finish` can complete them after a crash.
    """
    cursor = Cursor.from_document(draft.cursor)
    try:
        await commits.commit(
            store,
            draft.container,
            draft.partition,
            draft.step,
            cursor=cursor,
            etag=draft.etag,
            operations=[
                *(commits.create(document) for document in draft.create),
                *(commits.upsert(document) for document in draft.upsert),
                *(commits.patch(item_id, fields) for item_id, fields in draft.patch.items()),
                *(commits.delete(item_id) for item_id in draft.delete),
            ],
            extra=draft.extra | ({"intents": draft.intents.model_dump(mode="json")} if draft.intents else {}),
        )
    except Conflict:
        # The other run may have been this one, killed before it had applied its intents.
        await finish(store, draft.container, draft.partition, draft.step)
        return Committed(result=ProcessResult(step=draft.step), more=True, raced=True)
    superseded = await _apply(
        store, draft.container, draft.partition, draft.step, draft.intents, draft.extra, cursor.runs
    )
    return Committed(result=draft.result.model_copy(update={"superseded": superseded}), more=draft.more)


async def finish(store: Store, container: str, partition: tuple[str, str], step: str) -> int:
    """Completes intents that a crash left behind; how many memories it superseded."""
    stored = await commits.read_cursor(store, container, partition, step)
    if "intents" not in stored.extra:
        return 0
    intents = Intents.model_validate(stored.extra["intents"])
    extra = {name: value for name, value in stored.extra.items() if name != "intents"}
    return await _apply(store, container, partition, step, intents, extra, stored.cursor.runs)


async def _apply(
    store: Store,
    container: str,
    partition: tuple[str, str],
    step: str,
    intents: Intents,
    extra: dict[str, Any],
    runs: int,
) -> int:
    """Does what was intended, then clears it from the cursor, which keeps `extra`."""
    if not intents:
        return 0
    user_id = partition[0]
    for again in intents.reaffirm:
        await reaffirm(store, (user_id, again.thread_id), again.memory_id, again.at)
    done = 0
    for intent in intents.supersede:
        winner = await _still_active(store, user_id, intent.winner_id)
        if winner is not None:
            done += await supersede(
                store, user_id, intent.loser_thread_id, intent.loser_id, winner, intent.reason, intent.valid_to
            )
    for gone in intents.retire:
        done += await withdraw(store, user_id, gone.thread_id, gone.memory_id, gone.reason)
    for freed in intents.release:
        await release(store, user_id, (freed.thread_id, freed.memory_id), freed.winner_id, freed.merge_id)
    if intents.new_chunks:
        await outdate_new_chunks(store, partition, intents.new_chunks)
    for told in intents.told:
        await settle(store, partition, told)
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
