"""Import: writes the lines of an export into a store. You can repeat it, also after a crash.

- What exists already stays unchanged.
- What was forgotten here after it was said stays forgotten: its turns, the memories derived from them, and summaries
  that may mention it. These summaries are rebuilt from what is left.
- Turns that were processed in the other store are not processed again. They are indexed with this store's embedding
  model.
- Memories beyond the user's quota are left out in the order of the lines, and counted. Repeat the import when there is
  room.
- The settings that the user and the threads have here apply: what they forbid is left out and counted, and turns of a
  thread that is off are kept off the record. Settings in the file do not filter its other lines, which were stored
  under them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agent_memory.errors import Conflict, InvalidInput
from agent_memory.forgetting.tombstones import Said, forgotten_after, forgotten_turns, sent_again, turns_gone
from agent_memory.language.aside import aside
from agent_memory.language.current import for_writing
from agent_memory.language.tasks import ProfileView, SummaryView
from agent_memory.models import (
    ImportReceipt,
    Memory,
    Model,
    ScopeSettings,
    ThreadState,
    ThreadSummary,
    Turn,
    UserProfile,
    content_hash,
    iso,
    now,
)
from agent_memory.rules.keeping import check_categories, check_retention, room_left, with_retention
from agent_memory.rules.switches import Rules, read_rules
from agent_memory.screening.screen import MOST_ENTRIES, entries_of, is_clean, screen_aside
from agent_memory.steps.gather import Tools
from agent_memory.store import queries
from agent_memory.store.changes import STORED_AT
from agent_memory.store.containers import MEMORIES, SUMMARIES, TURNS
from agent_memory.store.cursors import cursor_move, read_cursor
from agent_memory.store.documents import in_batches, problem_of, to_document
from agent_memory.store.ids import (
    USER_SUMMARY_THREAD,
    check_id,
    check_new_ids,
    is_reserved,
    state_id,
    summary_id,
    user_summary_id,
)
from agent_memory.store.scope_documents import change_settings, read_document, says_something, scope_settings
from agent_memory.store.turns import write_turns
from agent_memory.store.updates import racing, until_written
from agent_memory.transfer.lines import Batch, check_header, check_memory
from agent_memory.transfer.live_view import begin_view, leave_view

M = TypeVar("M", bound=Model)
_SETTINGS = set(ScopeSettings.model_fields) - {"updated_at", "etag", "off_by"}


class Importer:
    """Brings the lines of an export into the store of one user, or of a group for one `member`."""

    def __init__(self, tools: Tools, user_id: str, rules: Rules, member: str | None = None) -> None:
        self._store = tools.store
        self._rules = rules
        self._policy = tools.policy
        self._embeddings = for_writing(tools.embeddings)
        self._state_seconds = tools.limits.state_ttl_seconds
        self._user_id = user_id
        self._member = member
        self._known_rules: dict[str | None, Rules] = {}
        self._brought: set[str | None] = set()
        self.receipt = ImportReceipt()
        self._takers = {
            "header": self._header,
            "settings": self._settings,
            "memory": self._memories,
            "turn": self._turns,
            "summary": self._summaries,
            "state": self._states,
            "user_summary": self._profile,
        }

    async def take(self, batch: Batch) -> None:
        """Writes a batch.

        Raises:
            InvalidInput: if a line is invalid. The batches before it are written.
            Conflict: if a turn with the same id has other content.
            ModelError: if the embedding model is unavailable. You can repeat the import.
        """
        try:
            await self._takers[batch.kind](batch)
        except ValidationError as error:
            raise InvalidInput(f"lines {batch.first} and following: {problem_of(error)}") from error

    async def _header(self, batch: Batch) -> None:
        for number, header in enumerate(batch.lines, batch.first):
            check_header(header, number)

    async def _settings(self, batch: Batch) -> None:
        for line in batch.lines:
            thread_id = line.get("thread_id")
            if thread_id is not None:
                check_id(thread_id, "thread_id")
            values = {name: value for name, value in line.items() if name in _SETTINGS}
            for name in {"deny_categories", "allow_categories"} & values.keys():
                values[name] = check_categories(name, values[name])
            settings = ScopeSettings.model_validate(values)
            known = await read_document(self._store, self._user_id, thread_id)
            # a repeated import meets the settings that it wrote itself
            if not says_something(known) or _same(scope_settings(known), settings):
                self._brought.add(thread_id)
            if says_something(known):
                _count(self.receipt.existing, "settings")
                continue
            check_retention(settings.retention_days)
            await change_settings(self._store, self._user_id, thread_id, settings.model_dump(include=set(values)))
            _count(self.receipt.created, "settings")

    async def _memories(self, batch: Batch) -> None:
        read = [self._read(Memory, line | {"type": line.get("memory_type")}) for line in batch.lines]
        for memory in read:
            check_memory(memory)
        ids = [memory.id for memory in read]
        there = set(await self._store.query(MEMORIES, queries.IDS_THAT_EXIST, (self._user_id,), ids=ids))
        new = [memory for memory in read if memory.id not in there and not memory.is_expired]
        _count(self.receipt.existing, "memory", sum(memory.id in there for memory in read))
        _count(self.receipt.unwanted, "memory", sum(memory.is_expired and memory.id not in there for memory in read))
        fresh = [kept for memory in new for kept in await self._allowed(memory)]
        if not fresh:
            return
        vectors = (await self._embeddings.embed([memory.content for memory in fresh])).vectors
        first = min(memory.created_at for memory in fresh)
        forgotten = await forgotten_after(self._store, self._user_id, first, self._embeddings.model_id)
        sources = {(memory.thread_id, turn_id) for memory in fresh for turn_id in memory.source_turn_ids}
        gone = await turns_gone(self._store, self._user_id, sources)
        room = await room_left(self._store, self._rules, self._user_id)
        kept: list[Memory] = []
        for memory, vector in zip(fresh, vectors, strict=True):
            said = Said(memory.content, memory.created_at, memory.thread_id, memory.project_id, vector=vector)
            lost = any((memory.thread_id, turn_id) in gone for turn_id in memory.source_turn_ids)
            if forgotten.covers(said) or lost or (forgotten and await self._missing(memory)):
                _count(self.receipt.forgotten, "memory")
                continue
            known = memory.model_copy(
                update={
                    "embedding_model": self._embeddings.model_id,
                    "content_hash": content_hash(memory.content),
                }
            )
            counts = memory.status == "active" and memory.superseded_by is None and memory.type != "document"
            if counts and room is not None and len(kept) >= room:
                _count(self.receipt.refused, "memory")
                continue
            [document] = with_retention([to_document(known, vector)], await self._rules_of(memory.thread_id))
            if await self._create("memory", MEMORIES, document | {STORED_AT: iso(now())}) and counts:
                kept.append(known)
        await self._undo_excess(kept)

    async def _allowed(self, memory: Memory) -> list[Memory]:
        """The screened memory; nothing if a category or a switch forbids it.

        A file may come from anybody, so its memories are trusted no more than talk.
        """
        rules = await self._rules_of(memory.thread_id)
        kept = (await screen_aside([memory], rules, self._policy)).memories if rules.recall else []
        if not kept:
            _count(self.receipt.unwanted, "memory")
        return [_waiting(one) if one.type == "procedural" and one.source != "user" else one for one in kept]

    async def _rules_of(self, thread_id: str) -> Rules:
        """What the settings of this store allow in a thread; in a reserved thread, what those of the user allow."""
        known = None if is_reserved(thread_id) else thread_id
        if known not in self._known_rules:
            self._known_rules[known] = await read_rules(
                self._store, self._policy, self._user_id, known, but=self._brought
            )
        return self._known_rules[known]

    async def _undo_excess(self, kept: list[Memory]) -> None:
        """Deletes the last memories again if another writer used up the quota at the same time."""
        room = await room_left(self._store, self._rules, self._user_id) if kept else None
        if room is None or room >= 0:
            return
        for memory in kept[room:]:
            if await self._store.delete(MEMORIES, memory.id, (self._user_id, memory.thread_id)):
                _count(self.receipt.created, "memory", -1)
                _count(self.receipt.refused, "memory")

    async def _turns(self, batch: Batch) -> None:
        thread_id = check_id(batch.thread.get("thread_id"), "thread_id")
        turns = [self._read(Turn, line) for line in batch.lines]
        if not turns:
            return
        if any(turn.thread_id != thread_id for turn in turns):
            raise InvalidInput(f"lines {batch.first} and following: a turn of another thread than {thread_id}")
        for turn in turns:
            check_id(turn.id, "a turn's id")
        gone = await sent_again(self._store, turns)
        gone |= await forgotten_turns(self._store, self._embeddings, self._user_id, turns)
        _count(self.receipt.forgotten, "turn", len(gone))
        waiting = batch.waiting
        rules = await self._rules_of(thread_id)
        kept = [turn for turn in turns if turn.id not in gone]
        if not rules.keep_turns:
            _count(self.receipt.unwanted, "turn", len(kept))
            return
        if not rules.derive:
            kept = [turn.model_copy(update={"off_record": True}) for turn in kept]
        partition = (self._user_id, thread_id)
        view = await begin_view(self._store, partition, batch.thread.get("view"))
        done = [turn for turn in kept if turn.id not in waiting]
        for part in (done, [turn for turn in kept if turn.id in waiting]):
            created = await write_turns(self._store, part, {turn.id for turn in part})
            _count(self.receipt.created, "turn", created)
            _count(self.receipt.existing, "turn", len(part) - created)
            if part is done:
                await self._cover(MEMORIES, "extract", thread_id, [turn.id for turn in part])
        if view is not None:
            await leave_view(self._store, partition, view, [turn.id for turn in kept])

    async def _summaries(self, batch: Batch) -> None:
        for line in batch.lines:
            summary = self._read(ThreadSummary, line)
            check_new_ids(thread_id=check_id(summary.thread_id, "thread_id"))
            summary = summary.model_copy(update={"id": summary_id(self._user_id, summary.thread_id)})
            if await self._create_embedded("summary", summary, SummaryView, summary.thread_id):
                waiting = batch.waiting
                rows = await self._store.query(TURNS, queries.EVERY_TURN, (self._user_id, summary.thread_id))
                done = [row["id"] for row in rows if row["id"] not in waiting]
                await self._cover(SUMMARIES, "summarize", summary.thread_id, done)

    async def _states(self, batch: Batch) -> None:
        for line in batch.lines:
            state = self._read(ThreadState, line)
            check_new_ids(thread_id=check_id(state.thread_id, "thread_id"))
            state = state.model_copy(update={"id": state_id(self._user_id, state.thread_id)})
            if await self._is_wanted("state", state.thread_id, state.updated_at, state.state):
                await self._create("state", SUMMARIES, to_document(state) | {"ttl": self._state_seconds})

    async def _profile(self, batch: Batch) -> None:
        for line in batch.lines:
            profile = self._read(UserProfile, line)
            profile = profile.model_copy(update={"id": user_summary_id(self._user_id)})
            await self._create_embedded("user_summary", profile, ProfileView, USER_SUMMARY_THREAD)

    async def _create_embedded(
        self, kind: str, item: ThreadSummary | UserProfile, view: type[BaseModel], thread_id: str
    ) -> bool:
        """Creates a summary or profile with its vector, if it is wanted. `view` has the fields with its words."""
        said = [item.content, *view.model_validate(item.model_dump()).model_dump().values()]
        if not await self._is_wanted(kind, thread_id, item.updated_at, said):
            return False
        vector = (await self._embeddings.embed([item.content])).vectors[0]
        origin = {"thread_id": thread_id, "embedding_model": self._embeddings.model_id}
        return await self._create(kind, SUMMARIES, to_document(item, vector) | origin)

    async def _is_wanted(self, kind: str, thread_id: str, made: datetime, said: Any) -> bool:
        """Whether a summary, state or profile may be imported. If not, this store rebuilds it if its settings allow.

        It is refused if anything was forgotten after it was made, because it may mention that. It is refused if it
        holds a secret, an order to a model or a forbidden topic, because nobody reviews it, or more entries than any
        that is made here. It is refused if a switch is off.
        """
        rules = await self._rules_of(thread_id)
        if not rules.derive:
            _count(self.receipt.unwanted, kind)
        elif await forgotten_after(self._store, self._user_id, made, self._embeddings.model_id):
            _count(self.receipt.forgotten, kind)
        elif entries_of(said)[0] > MOST_ENTRIES or not await aside(is_clean, said, rules, self._policy):
            _count(self.receipt.screened, kind)
        else:
            return True
        return False

    async def _missing(self, memory: Memory) -> bool:
        """Whether a source of a memory is missing here."""
        origins = {*memory.source_ids, *(memory.supersedes_ids if is_reserved(memory.thread_id) else ())}
        there = await self._store.query(MEMORIES, queries.IDS_THAT_EXIST, (self._user_id,), ids=sorted(origins))
        return not origins <= set(there)

    async def _cover(self, container: str, step: str, thread_id: str, turn_ids: list[str]) -> None:
        """Moves a step's cursor over these turns, so that it does not process them."""
        partition = (self._user_id, thread_id)

        async def attempt() -> None:
            stored = await read_cursor(self._store, container, partition, step)
            items: list[tuple[str, int]] = []
            for some in in_batches(turn_ids):
                rows = await self._store.query(TURNS, queries.TURNS_BY_ID, partition, ids=some)
                items += [(row["id"], int(row["_ts"])) for row in rows]
            fresh = [(turn_id, ts) for turn_id, ts in items if stored.cursor.is_new(turn_id, ts)]
            if not fresh:
                return
            move = cursor_move(partition, step, stored.cursor.advanced(fresh), stored.etag, stored.extra)
            with racing():
                await self._store.batch(container, partition, [move])

        await until_written(attempt, f"the cursor of {thread_id}")

    async def _create(self, kind: str, container: str, document: dict[str, Any]) -> bool:
        try:
            await self._store.create(container, document)
        except Conflict:
            _count(self.receipt.existing, kind)
            return False
        _count(self.receipt.created, kind)
        return True

    def _read(self, model: type[M], line: Mapping[str, Any]) -> M:
        fields = {name: value for name, value in line.items() if name in model.model_fields}
        if self._member is not None and fields.get("contributor_id") != self._member:
            fields.pop("contributor_id", None)  # a member of a group cannot say what another one said
        return model.model_validate(fields | {"user_id": self._user_id})


def _waiting(memory: Memory) -> Memory:
    """A procedure that no user said, as it comes from talk: it waits until a person approves it."""
    return memory if memory.status != "active" else memory.model_copy(update={"status": "candidate"})


def _same(ours: ScopeSettings, theirs: ScopeSettings) -> bool:
    return ours.model_dump(include=_SETTINGS) == theirs.model_dump(include=_SETTINGS)


def _count(counts: dict[str, int], kind: str, number: int = 1) -> None:
    if number:
        counts[kind] = counts.get(kind, 0) + number
