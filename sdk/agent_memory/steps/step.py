"""Steps: what one run of a step changes, its commit, and what a step declares (docs/decisions/0005).

Effects are plain data. They hold no connection and no transcript, so they can be kept, sent and tried again. `commit`
writes them. `table.steps` has all steps.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar

from pydantic import Field

from agent_memory.errors import Conflict, NotFound
from agent_memory.language.tasks import Task
from agent_memory.models import Memory, Model, ProcessResult, SupersedeReason, UtcTime
from agent_memory.remembering.replacing import outdate_new_chunks, release, supersede, withdraw
from agent_memory.remembering.untold import Told, clear_mark
from agent_memory.settings import Cadence
from agent_memory.steps.gather import StepRequest, Tools
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.counters import count_extraction
from agent_memory.store.cursors import Cursor, StoredCursor, cursor_move, read_ahead, read_cursor
from agent_memory.store.documents import Document, Operation, create, delete, from_document, patch, replace, upsert
from agent_memory.store.ids import USER_THREAD, cursor_id
from agent_memory.store.memories import get_memory, reaffirm
from agent_memory.store.scope_documents import note_replaced


class Supersession(Model):
    """The intent to mark one memory as replaced by another, which may lie in other threads."""

    loser_id: str
    loser_thread_id: str
    winner_id: str
    reason: SupersedeReason
    valid_to: UtcTime | None = None

    @classmethod
    def of(
        cls, loser: Memory, winner_id: str, reason: SupersedeReason, valid_to: datetime | None = None
    ) -> Supersession:
        """The intent to replace this memory."""
        place = {"loser_id": loser.id, "loser_thread_id": loser.thread_id}
        return cls(**place, winner_id=winner_id, reason=reason, valid_to=valid_to)


class Retirement(Model):
    """The intent to withdraw a memory that nothing replaces."""

    memory_id: str
    thread_id: str
    reason: SupersedeReason

    @classmethod
    def of(cls, memory: Memory, reason: SupersedeReason) -> Retirement:
        """The intent to withdraw this memory."""
        return cls(memory_id=memory.id, thread_id=memory.thread_id, reason=reason)


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
    counting: str = Field(default="", description="The extraction to count for the user: the ETag that it replaced.")

    def to_document(self) -> Document:
        """The stored form; empty if there is nothing to do."""
        dumped = self.model_dump(mode="json", include=set(Intents.model_fields))
        return {name: items for name, items in dumped.items() if items}


class Effects(Intents):
    """Everything that one run of a step changes: documents next to its cursor, intents elsewhere; and a `result`."""

    result: ProcessResult
    create: list[Document] = Field(default_factory=list)
    upsert: list[Document] = Field(
        default_factory=list, description="Written; one with an `_etag` only in place of that version."
    )
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
        extra = draft.extra | ({"intents": intents} if intents else {})
        operations = [
            *(create(document) for document in draft.create),
            *(_write(document) for document in draft.upsert),
            *(patch(item_id, fields) for item_id, fields in draft.patch.items()),
            *(delete(item_id) for item_id in draft.delete),
            cursor_move(draft.partition, draft.step, cursor, draft.etag, extra),
        ]
        await store.batch(draft.container, draft.partition, operations)
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


def _write(document: Document) -> Operation:
    etag = document.get("_etag")
    return replace(document, etag) if etag else upsert(document)


async def finish(store: Store, container: str, partition: tuple[str, str], step: str) -> int:
    """Completes intents that a crash left; returns how many memories it superseded."""
    stored = await read_cursor(store, container, partition, step)
    if "intents" not in stored.extra:
        return 0
    intents = from_document(Intents, stored.extra["intents"])
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
    if intents.counting:
        await count_extraction(store, user_id, intents.counting)
    for again in intents.reaffirm:
        await reaffirm(store, (user_id, again.thread_id), again.memory_id, again.at)
    if intents.supersede or intents.retire:
        await note_replaced(store, user_id)
    done = 0
    for one in intents.supersede:
        winner = await _still_standing(store, user_id, one.winner_id)
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


async def _still_standing(store: Store, user_id: str, memory_id: str) -> Memory | None:
    """The winner. None if it was set aside by the screen, replaced or forgotten: then it must not replace another."""
    try:
        memory, _ = await get_memory(store, user_id, memory_id)
    except NotFound:
        return None
    return memory if memory.superseded_by is None and memory.status != "quarantined" else None


T = TypeVar("T")

Scope = Literal["thread", "user"]
"""Whose turns or memories a step goes over."""
Runs = Literal["counted", "at the end", "deepening", "asked for"]
"""What starts a step: new turns, the end of a conversation, the clock of deepening, or only a caller."""

Thinker = Callable[["Step", Tools, StepRequest], Awaitable[Draft | None]]
"""Gathers a range, calls a model if needed, and returns a draft; None if there was nothing to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the background work: its name, where it commits, when it is due, its options.

    Its name is that of its workflow, its cursor and its dead letters, all of which are stored: a name stays.
    """

    name: str
    scope: Scope
    think: Thinker
    container: str = MEMORIES
    """Where it commits, and keeps its cursor."""
    user_thread: str = USER_THREAD
    """The reserved thread that a step over a user's memories commits to."""
    runs: Runs = "asked for"
    """What starts it."""
    cadence: str = ""
    """The field of `Cadence` that sets how often it runs; 0 is never. Empty if it is not counted."""
    next_run: Callable[[Tools, str, int, int], Awaitable[int | None]] | None = None
    """For a step that counts the user's extractions by its own cursor. From the user's id, the cadence, and the number
    of extractions so far, it gives the number of the next due run, or None. Other user steps count turns."""
    task: Task[Any, Any] | None = None
    """Its task for a chat model, whose role can be switched off."""
    in_pieces: bool = True
    """Whether it covers a backlog in pieces, with a checkpoint after each; else it covers everything in one run."""
    files_talk: bool = False
    """Whether its drafts contain the turns themselves. No history may keep these, so it thinks and commits in one
    activity. It has no limit on the sentences of a turn, and its documents do not count as memories."""
    shares_call: bool = False
    """Whether one call of a model can answer it together with the others that share."""
    counts_runs: bool = False
    """Whether its runs are the extractions that other steps of the user wait for (`next_run`)."""
    first: tuple[str, ...] = ()
    """The steps that its workflow runs before it."""
    then: tuple[str, ...] = ()
    """The workflows that its own runs after it, for the user."""
    plan: Callable[[Tools, StepRequest], Awaitable[list[str]]] | None = None
    """Finds the user's threads that it must process although no new turn starts it."""
    kept_after_failure: Callable[[Tools, str], Awaitable[dict[str, Any]]] | None = None
    """What its cursor keeps also after an answer that cannot be used."""
    options: frozenset[str] = frozenset()
    """The fields of a `StepRequest` that it supports, besides those for its scope."""
    aliases: tuple[str, ...] = ()
    """Further names in URLs, those that other systems use."""
    makes: str = ""
    """What the log counts of its work."""
    expected: frozenset[str] = frozenset()
    """Reasons to reject an item that the log need not warn of."""

    @property
    def is_pass(self) -> bool:
        """Whether it calls a model about a user's memories: if it fails, all its work stays due."""
        return self.scope == "user" and self.task is not None

    def every(self, cadence: Cadence) -> int:
        """How many turns or extractions make it run; 0 for never."""
        return int(getattr(cadence, self.cadence)) if self.cadence else 0

    def partition(self, request: StepRequest) -> tuple[str, str]:
        """The partition that it commits to."""
        return self.partition_of(request.user_id, request.thread_id)

    def partition_of(self, user_id: str, thread_id: str = "") -> tuple[str, str]:
        """The partition that it commits to for a user, or for a thread of theirs."""
        return (user_id, thread_id if self.scope == "thread" else self.user_thread)

    async def read_ahead(
        self, tools: Tools, request: StepRequest, read: Callable[[StoredCursor], Awaitable[Sequence[T]]]
    ) -> tuple[StoredCursor, Sequence[T]]:
        """The next items to cover, which `read` finds, and the cursor. First finishes what a crash left undone."""
        partition = self.partition(request)
        found = await read_ahead(tools.store, self.container, partition, self.name, read)
        if "intents" not in found[0].extra:
            return found
        await finish(tools.store, self.container, partition, self.name)
        return await read_ahead(tools.store, self.container, partition, self.name, read)

    def draft(
        self,
        request: StepRequest,
        stored: StoredCursor,
        effects: Effects,
        *,
        cursor: Cursor | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Draft:
        """The draft of these effects. Without a `cursor` it counts one more run, and covers nothing."""
        user_id, thread_id = self.partition(request)
        moved = cursor or Cursor(runs=stored.cursor.runs + 1)
        counting = stored.etag if self.counts_runs and moved.runs > stored.cursor.runs else ""
        return Draft(
            **dict(effects) | {"counting": counting},
            step=self.name,
            container=self.container,
            user_id=user_id,
            thread_id=thread_id,
            cursor=moved.to_document(),
            etag=stored.etag,
            extra=dict(extra or {}),
        )
