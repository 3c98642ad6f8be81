"""Drafts: what a step wants to write, as plain data, and the one way in which every step commits (decision D5).

A draft can be kept, sent and tried again: it holds no connection and no transcript, and a second commit of it, or
the commit of a rival over the same range, meets a cursor that has moved and writes nothing.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from agent_memory.errors import Conflict, NotFound
from agent_memory.models import Memory, Model, ProcessResult, SupersedeReason, UtcTime
from agent_memory.store import commits
from agent_memory.store.client import Store
from agent_memory.store.cursors import Cursor
from agent_memory.store.documents import Document
from agent_memory.store.ids import cursor_id
from agent_memory.store.memories import get_memory, reaffirm, supersede


class Supersession(Model):
    """The intent to mark one memory as replaced by another, which may lie in other threads."""

    loser_id: str
    loser_thread_id: str
    winner_id: str
    reason: SupersedeReason
    valid_to: UtcTime | None = None


class Reaffirmation(Model):
    """That an active memory was said again, word for word."""

    memory_id: str
    thread_id: str
    at: UtcTime


class Draft(Model):
    """What one run of a step wants to write, all in the partition `[user_id, thread_id]` of one container."""

    step: str
    container: str
    user_id: str
    thread_id: str
    cursor: dict[str, Any]
    etag: str | None
    extra: dict[str, Any] = Field(default_factory=dict, description="What the step keeps beside its cursor.")
    create: list[Document] = Field(default_factory=list)
    upsert: list[Document] = Field(default_factory=list)
    delete: list[str] = Field(default_factory=list)
    supersede: list[Supersession] = Field(default_factory=list)
    reaffirm: list[Reaffirmation] = Field(default_factory=list)
    more: bool = Field(default=False, description="Whether the range was cut short: there is more to do.")
    result: ProcessResult

    @property
    def partition(self) -> tuple[str, str]:
        """Where it commits."""
        return (self.user_id, self.thread_id)


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
    intents = [intent.model_dump(mode="json") for intent in draft.supersede]
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
                *(commits.delete(item_id) for item_id in draft.delete),
            ],
            extra=draft.extra | ({"intents": intents} if intents else {}),
        )
    except Conflict:
        # The other run may have been this one, killed before it had applied its intents.
        await finish(store, draft.container, draft.partition, draft.step)
        return Committed(result=ProcessResult(step=draft.step), more=True, raced=True)
    for again in draft.reaffirm:
        await reaffirm(store, (draft.user_id, again.thread_id), again.memory_id, again.at)
    superseded = await _apply(store, draft, cursor.runs)
    return Committed(result=draft.result.model_copy(update={"superseded": superseded}), more=draft.more)


async def finish(store: Store, container: str, partition: tuple[str, str], step: str) -> int:
    """Completes intents that a crash left behind; how many memories it superseded."""
    stored = await commits.read_cursor(store, container, partition, step)
    intents = [Supersession.model_validate(intent) for intent in stored.extra.get("intents", [])]
    if not intents:
        return 0
    draft = Draft(
        step=step,
        container=container,
        user_id=partition[0],
        thread_id=partition[1],
        cursor={},
        etag=stored.etag,
        extra={name: value for name, value in stored.extra.items() if name != "intents"},
        supersede=intents,
        result=ProcessResult(step=step),
    )
    return await _apply(store, draft, stored.cursor.runs)


async def _apply(store: Store, draft: Draft, runs: int) -> int:
    done = 0
    for intent in draft.supersede:
        winner = await _still_active(store, draft.user_id, intent.winner_id)
        if winner is not None:
            done += await supersede(
                store,
                draft.user_id,
                intent.loser_thread_id,
                intent.loser_id,
                winner,
                intent.reason,
                intent.valid_to,
            )
    if draft.supersede:
        try:
            # Only if no later run has written its own intents there.
            condition = f"FROM c WHERE c.runs = {runs}"
            await store.patch(
                draft.container, cursor_id(draft.step), draft.partition, {"extra": draft.extra}, condition
            )
        except (Conflict, NotFound):
            pass
    return done


async def _still_active(store: Store, user_id: str, memory_id: str) -> Memory | None:
    """A winner, unless it was itself replaced or forgotten meanwhile: then it must not take another down with it."""
    try:
        memory, _ = await get_memory(store, user_id, memory_id)
    except NotFound:
        return None
    return memory if memory.superseded_by is None else None
