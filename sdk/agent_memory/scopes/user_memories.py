"""The memories of a user: one by one, as they change, and the entities that they name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from agent_memory.errors import Conflict, InvalidInput, NotFound
from agent_memory.language.current import for_writing
from agent_memory.models import (
    Changes,
    Entity,
    EntityView,
    ForgetReceipt,
    Memory,
    MemoryChange,
    Provenance,
)
from agent_memory.recall.provenance import read_entities, read_entity, why
from agent_memory.remembering.by_hand import (
    EDIT_REASON,
    Desk,
    correct,
    corrected_before,
    current,
    kind_and_data,
    links,
    mark,
    remember,
)
from agent_memory.rules.keeping import check_expiry, keep_within, require_room
from agent_memory.scopes.forgetting import ForgetRequest, forget
from agent_memory.scopes.scope import Scope, audited
from agent_memory.screening.review import approve, check_waits, set_aside, waiting
from agent_memory.store.changes import read_changes
from agent_memory.store.documents import check_json
from agent_memory.store.ids import check_id
from agent_memory.store.memories import get_memory, history
from agent_memory.store.uses import read_uses
from agent_memory.text.folding import folded

MOST_CHANGES = 1000
"""The most documents of one page of changes."""
SHORTEST_POLL = 0.1
"""In seconds."""
RememberedType = Literal["fact", "procedural", "episodic"]


class UserMemories(Scope):
    """Lists, writes, reads, corrects, reviews and follows the memories of one user."""

    @audited(changes=True, operation="create_memory")
    async def remember(
        self,
        content: str,
        *,
        kind: str = "fact",
        data: Mapping[str, Any] | None = None,
        type: RememberedType = "fact",
        confidence: float = 1.0,
        importance: float = 0.8,
        valid_from: datetime | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        project_id: str | None = None,
        agent_id: str | None = None,
        related_ids: Sequence[str] = (),
        expires_at: datetime | None = None,
        ttl: int | None = None,
    ) -> Memory:
        """Writes a fact (or a procedure, or an event) that needs no extraction.

        If the same words are remembered already, returns that memory, with the expiry of this call, and with its
        kind and data if the kind is a custom one. `related_ids` links the memory to others of the user; `why` follows
        the links.

        A fact's `kind` is fact, preference, context, requirement, decision, or a custom kind of the store or the group
        (see `set_extraction`). `data` is for a custom kind with a schema, and must fit it.

        A memory with an expiry (`expires_at`, or `ttl` in seconds) is shown until then; the store deletes it.

        By default, secrets are redacted, and what looks like an instruction to a model waits for review (see its
        `status`). The operator's policy can change that.

        Raises:
            InvalidInput: if a value is invalid, the kind is unknown, or the data does not fit it.
            NotFound: if the user has no memory with one of `related_ids`.
            Conflict: if somebody else changes the memory with these words now.
            MemoryDisabled: if a switch is off, or the settings forbid this topic.
            QuotaExceeded: if the tier allows no more memories.
            ModelError: if the content could not be embedded.
        """
        if not isinstance(content, str) or not folded(content).strip():
            raise InvalidInput("there is nothing to remember: content is empty or not a text")
        _check_tags(tags)
        _check_metadata(metadata)
        check_json(
            {"content": content, "tags": list(tags), "metadata": metadata or {}, "data": data},
            "what is to be remembered",
        )
        asked = kind if type == "fact" else None
        kind_kept, data_kept = await kind_and_data(self._runtime.store, self.user_id, asked, data)
        given = {
            "type": type,
            "kind": kind_kept,
            "data": data_kept,
            "content": content,
            "confidence": confidence,
            "importance": importance,
            "valid_from": valid_from,
            "tags": list(tags),
            "metadata": dict(metadata or {}),
            "project_id": None if project_id is None else check_id(project_id, "project_id"),
            "agent_id": None if agent_id is None else check_id(agent_id, "agent_id"),
            "contributor_id": self.member,
            "expires_at": check_expiry(expires_at, ttl),
        }
        desk = await self._desk()
        desk.rules.require_enabled()
        return await remember(desk, given, related_ids)

    @audited(changes=False)
    async def get(self, id: str) -> Memory:
        """One memory of this user. It says how often it was recalled, if `count_uses` is on.

        Raises:
            NotFound: if the user has no memory with this id, even if another user has.
        """
        memory = (await get_memory(self._runtime.store, self.user_id, check_id(id, "id")))[0]
        if not self._runtime.searcher.settings.count_uses:
            return memory
        return (await read_uses(self._runtime.store, self.user_id)).of(memory)

    @audited(changes=True, operation="update_memory")
    async def update(
        self,
        id: str,
        *,
        content: str | None = None,
        data: Mapping[str, Any] | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        pinned: bool | None = None,
        related_ids: Sequence[str] | None = None,
        reason: str | None = None,
        expires_at: datetime | Literal["never"] | None = None,
        ttl: int | None = None,
    ) -> Memory:
        """Corrects, tags, pins or links a memory. New content or data makes a new version; the old one stays on record.

        A correction may be repeated, for instance after its answer was lost: it returns the version that it made.

        Args:
            id: The memory.
            content: The new content. Without new data, the new version has none: it described the earlier words.
            data: The new data of a fact of a custom kind; it must fit the schema of the kind.
            tags: The new tags, instead of the earlier ones. Without them, new content loses the tags that are words of
                the earlier content only.
            metadata: The new metadata, instead of the earlier.
            pinned: Whether the memory is kept even if it is never used.
            related_ids: The memories to link it to. Replaces the earlier links; new versions keep them.
            reason: Why it is corrected; stored in the new version's metadata.
            expires_at: When it is to expire; "never" takes that back.
            ttl: In how many seconds it is to expire.

        Raises:
            NotFound: if the user has no such memory, or no memory with one of `related_ids`.
            StaticMemoryError: if it is static knowledge.
            Conflict: if it was replaced already (update the newest version), or somebody else changes it now.
            MemoryDisabled: if the settings forbid to remember the new content, tags or metadata.
            InvalidInput: if there is nothing to change, the content is empty, or the data does not fit the kind.
            ModelError: if the new content could not be embedded; nothing was changed.
        """
        lasts = expires_at == "never"
        ends = check_expiry(None if expires_at == "never" else expires_at, ttl)
        if not lasts and all(given is None for given in (content, data, tags, metadata, pinned, related_ids, ends)):
            raise InvalidInput(
                "nothing to change: give a content, data, tags, metadata, pinned, related_ids, expires_at or ttl"
            )
        if content is not None and not folded(content).strip():
            raise InvalidInput("a memory needs content")
        if tags is not None:
            _check_tags(tags)
        _check_metadata(metadata)
        described: dict[str, Any] = {} if tags is None else {"tags": list(tags)}
        if metadata is not None:
            described["metadata"] = dict(metadata)
        check_json([content, data, reason, described], "the correction")
        store = self._runtime.store
        try:
            old, etag = await current(store, self.user_id, check_id(id, "id"))
        except Conflict:
            made = await corrected_before(await self._desk(), id, content, data, described, reason)
            if made is None:
                raise
            (old, etag), content, data, described = made, None, None, {}
        if "metadata" in described and content is None and data is None and EDIT_REASON in old.metadata:
            described["metadata"] |= {EDIT_REASON: old.metadata[EDIT_REASON]}
        marks = described | {
            "pinned": old.pinned if pinned is None else pinned,
            "related_ids": old.related_ids if related_ids is None else await links(store, self.user_id, related_ids),
            "expires_at": None if lasts else ends or old.expires_at,
        }
        content = old.content if content is None else content
        if data is not None:
            old_kind = old.kind if old.type == "fact" else None
            marks["data"] = (await kind_and_data(store, self.user_id, old_kind, data))[1]
        if old.content == folded(content).strip() and marks.get("data", old.data) == old.data:
            return await mark(await self._desk(), old, marks)
        if self.member is not None:
            marks["contributor_id"] = self.member
        corrected = await correct(await self._desk(), old, etag, content, marks, reason)
        self._runtime.corrected(self.user_id)
        return corrected

    async def _desk(self) -> Desk:
        tools = self._runtime.tools
        return Desk(tools.store, for_writing(tools.embeddings), tools.policy, await self._rules(), self.user_id)

    @audited(changes=False)
    async def history(self, id: str) -> list[Memory]:
        """All versions of a memory, oldest first: what it replaced and what replaced it.

        Raises:
            NotFound: if the user has no such memory.
        """
        return await history(self._runtime.store, self.user_id, check_id(id, "id"))

    @audited(changes=False)
    async def why(self, id: str) -> Provenance:
        """Why a memory is believed: its quote and turns, the model that derived it, and what it replaced.

        Raises:
            NotFound: if the user has no such memory.
        """
        return await why(self._runtime.store, self.user_id, check_id(id, "id"))

    @audited(changes=False)
    async def review(self) -> list[Memory]:
        """The memories that wait for the user's review, newest first; `review_reason` says why.

        They are not recalled until they are approved.
        """
        return await waiting(self._runtime.store, self.user_id)

    @audited(changes=True)
    async def approve(self, id: str, *, content: str | None = None) -> Memory:
        """Approves a memory that waits for review, with new content if given. Repeating it changes nothing.

        Raises:
            NotFound: if the user has no such memory.
            Conflict: if it was replaced or withdrawn.
            MemoryDisabled: if the settings forbid to remember the new content.
            QuotaExceeded: if the tier allows no more memories.
            InvalidInput: if the content is empty.
            ModelError: if the new content could not be embedded; nothing was changed.
        """
        store = self._runtime.store
        memory = await self.get(id)
        if memory.status == "active" and content in (None, memory.content):
            return memory
        if memory.superseded_by is not None and content is not None:
            made = await corrected_before(await self._desk(), id, content, None, {}, None)
            memory, content = (memory, content) if made is None else (made[0], None)
            if made is not None and memory.status == "active":
                return memory
        check_waits(memory)
        rules = await self._rules()
        await require_room(store, rules, self.user_id)
        approved = await approve(store, rules, memory if content is None else await self.update(id, content=content))
        await keep_within(store, rules, self.user_id, lambda: set_aside(store, approved, memory))
        return approved

    @audited(changes=True)
    async def reject(self, id: str) -> ForgetReceipt:
        """Forgets a memory that waits for review. Its turns stay, and do not bring it back.

        Other wordings of it are forgotten if they wait too. What is active or was approved stays.

        Raises:
            NotFound: if the user has no such memory.
            Conflict: if it is active (forget it, or correct it), or was replaced.
        """
        check_waits(await self.get(id))
        return await forget(
            self._runtime, ForgetRequest(self.user_id, id, include_sources=False, only_waiting=True), dry_run=False
        )

    async def changes(self, *, cursor: str | None = None, limit: int = 100) -> Changes:
        """The changes of the user's memories, oldest first.

        Each change has the memory as it is now. Its type is `added`, `updated` (pinned, linked or approved),
        `superseded` (replaced or withdrawn; `supersede_reason` says why) or `forgotten` (only a hash of the id is
        left). A change appears two seconds after it was written, with Azure ten seconds. It may appear twice, with the
        same `id`. Several changes of one memory between two calls appear as one. Raw talk and memories that wait for
        review do not appear.

        Args:
            cursor: Where to begin: the `cursor` of the previous page or change, or `now` for later changes only. By
                default, the oldest memory comes first.
            limit: The most documents to read, 1 to 1,000. Documents written in the same second come together.

        Raises:
            InvalidInput: if the limit is out of range, or the cursor cannot be read.
        """
        if not isinstance(limit, int) or not 1 <= limit <= MOST_CHANGES:
            raise InvalidInput(f"limit must be a number from 1 to {MOST_CHANGES}, not {limit!r:.60}")
        if cursor is not None and not isinstance(cursor, str):
            raise InvalidInput(f"a cursor is a text, not {cursor!r:.60}")
        page = await read_changes(self._runtime.store, self.user_id, cursor, limit)
        if page.changes:  # an empty page reveals nothing, and callers ask for one every few seconds
            ids = [one.memory_id for one in page.changes]
            self._runtime.auditor.note(self.user_id, "changes", changes=False, thread_id=None, ids=ids)
        return page

    async def follow(self, *, cursor: str | None = None, every: float = 2.0) -> AsyncIterator[MemoryChange]:
        """Yields the changes of the user's memories as they happen, without end. See `changes`.

        Store the `cursor` of the last change that you handled. Pass it to continue after a stop.

        Args:
            cursor: Where to begin. `now` yields only later changes.
            every: Seconds between two polls of the store, at least 0.1. Each poll costs one query.

        Raises:
            InvalidInput: if the cursor cannot be read, or the time is too short.
            StoreUnavailable: if the store does not answer. Continue with the last cursor.
        """
        if not isinstance(every, int | float) or not every >= SHORTEST_POLL:
            raise InvalidInput(f"every must be at least {SHORTEST_POLL} seconds, not {every!r:.60}")
        while True:
            page = await self.changes(cursor=cursor)
            for change in page.changes:
                yield change
            cursor = page.cursor
            if not page.more:
                await asyncio.sleep(every)

    @audited(changes=False)
    async def entities(self, *, kind: str | None = None, limit: int = 100) -> list[Entity]:
        """The people, places and things that the user's memories name, the most mentioned first.

        They are extracted from the newest 2,000 memories on each call: by capital letters, by the words around a name,
        and by what a model noted about finished conversations. The kind is a guess. Nothing is stored.

        Args:
            kind: Only `person`, `place` or `thing`.
            limit: The most entities, 1 to 1,000.

        Raises:
            InvalidInput: for another kind or limit.
        """
        if kind not in (None, "person", "place", "thing"):
            raise InvalidInput(f"kind is person, place or thing, not {kind!r:.60}")
        if not isinstance(limit, int) or not 1 <= limit <= 1000:
            raise InvalidInput(f"limit must be a number from 1 to 1000, not {limit!r:.60}")
        found = await read_entities(self._runtime.store, self.user_id)
        return [entity for entity in found if kind in (None, entity.kind)][:limit]

    @audited(changes=False)
    async def entity(self, name: str) -> EntityView:
        """One person, place or thing, with every memory that names it, oldest first, and the names that appear with it.

        Raises:
            InvalidInput: if the name is empty, or longer than 255 characters.
            NotFound: if no memory names it.
        """
        if not isinstance(name, str) or not 1 <= len(name.strip()) <= 255:
            raise InvalidInput(f"a name is a text of 1 to 255 characters, not {name!r:.60}")
        found = await read_entity(self._runtime.store, self.user_id, name)
        if found is None:
            raise NotFound("no memory names this")
        return found


def _check_tags(tags: object) -> None:
    if isinstance(tags, str) or not isinstance(tags, Collection) or not all(isinstance(tag, str) for tag in tags):
        raise InvalidInput(f"tags is a list of texts, like ['travel'], not {tags!r:.60}")


def _check_metadata(metadata: object) -> None:
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata is an object, like {{'city': 'Lisbon'}}, not {metadata!r:.60}")
