"""What is remembered of a user, memory by memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from agent_memory.errors import Conflict, InvalidInput, MemoryDisabled, NotFound
from agent_memory.models import (
    FactKind,
    ForgetReceipt,
    Memory,
    Provenance,
    content_hash,
    now,
)
from agent_memory.recall.provenance import why
from agent_memory.rules.quotas import keep_within, require_room
from agent_memory.rules.retention import with_retention
from agent_memory.scopes.audited import audited
from agent_memory.scopes.forgetting import ForgetRequest, forget
from agent_memory.scopes.shared import listed, validated
from agent_memory.scopes.user_part import UserPart
from agent_memory.screening.review import approve, check_waits, set_aside, waiting
from agent_memory.screening.screen import FORBIDDEN, screen_memories
from agent_memory.store import untold
from agent_memory.store.commits import create
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import to_document
from agent_memory.store.ids import NOBODY, USER_THREAD, check_id, new_turn_id
from agent_memory.store.memories import active_by_hash, amend, get_memories, get_memory, history
from agent_memory.store.static import refuse_static
from agent_memory.store.uses import read_uses
from agent_memory.store.values import check_json
from agent_memory.text.folding import folded

RememberedType = Literal["fact", "procedural", "episodic"]
MOST_LINKS = 50
"""Memories that one can be linked with: what `why` reads at once, and little in a document."""


class UserMemories(UserPart):
    """The memories of one user: listed, given, read, corrected, reviewed."""

    @audited(changes=False)
    async def memories(
        self,
        *,
        types: Sequence[str] | None = None,
        include_superseded: bool = False,
        as_of: datetime | None = None,
        before: datetime | None = None,
        limit: int | None = None,
    ) -> list[Memory]:
        """The user's memories, newest first: what is believed now, unless asked otherwise.

        Args:
            types: Only these (fact, episodic, procedural, reflection, or another system's names for them).
            include_superseded: Also what was replaced since.
            as_of: What was true then, instead of now.
            before: Only memories of before this time: the last one of the page before, to page on.
            limit: How many; those of one time come together, so that a few more may come.

        Raises:
            InvalidInput: for a type that there is not, a time that cannot be read, or a limit below 1.
        """
        where = (self.user_id,)
        return await listed(
            self._runtime, where, types, as_of, before, include_superseded=include_superseded, limit=limit
        )

    @audited(changes=True)
    async def remember(
        self,
        content: str,
        *,
        kind: FactKind = "fact",
        type: RememberedType = "fact",
        confidence: float = 1.0,
        importance: float = 0.8,
        valid_from: datetime | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        project_id: str | None = None,
        related_ids: Sequence[str] = (),
    ) -> Memory:
        """Keeps a fact (or a procedure, or an event) that needs no extraction.

        What is remembered word for word already is returned as it is. `kind` is that of a fact; `related_ids` links it
        with other memories of the user, and `why` follows the links.

        Secrets are taken out of it, and what reads as an order to a model waits for review (its `status` says so),
        unless the policy of this memory is another.

        Raises:
            InvalidInput: if a value cannot be used.
            NotFound: if the user has no memory that it shall be linked with.
            MemoryDisabled: if a switch is off, or the settings want nothing of this remembered.
            QuotaExceeded: if the tier allows no more memories.
            ModelError: if the content could not be embedded.
        """
        if not isinstance(content, str) or not folded(content).strip():
            raise InvalidInput("there is nothing to remember: content is no text, or empty")
        check_json({"content": content, "tags": list(tags), "metadata": metadata or {}}, "what is to be remembered")
        rules = await self._rules()
        rules.require_enabled()
        links = await self._links(related_ids)
        clock = now()
        fields = {
            "id": f"{type}_{new_turn_id()}",
            "user_id": self.user_id,
            "thread_id": USER_THREAD,
            "type": type,
            "kind": kind if type == "fact" else None,
            "content": content.strip(),
            "confidence": confidence,
            "importance": importance,
            "tags": list(tags),
            "metadata": dict(metadata or {}),
            "related_ids": links,
            "project_id": None if project_id is None else check_id(project_id, "project_id"),
            "created_at": clock,
            "valid_from": valid_from or clock,
            "recorded_at": clock,
            "content_hash": content_hash(content),
            "embedding_model": self._runtime.tools.embeddings.model_id,
        }
        store, tools = self._runtime.store, self._runtime.tools
        screened = screen_memories([validated(Memory, fields)], rules, tools.policy)
        if not screened.memories:
            raise MemoryDisabled(f"this is {FORBIDDEN}")
        memory = screened.memories[0]
        known = await active_by_hash(store, self.user_id, [memory.content_hash])
        if known:
            return known[memory.content_hash]
        await require_room(store, rules, self.user_id)
        embedded = await tools.embeddings.embed([memory.content])
        documents = with_retention([to_document(memory, embedded.vectors[0])], rules)
        await store.create(MEMORIES, documents[0])
        partition = (self.user_id, USER_THREAD)
        await keep_within(store, rules, self.user_id, lambda: store.delete(MEMORIES, memory.id, partition))
        return memory

    @audited(changes=False)
    async def get(self, id: str) -> Memory:
        """One memory of this user, with how often it was recalled, where that is counted.

        Raises:
            NotFound: if the user has none with this id; another user's look the same.
        """
        memory = (await get_memory(self._runtime.store, self.user_id, check_id(id, "id")))[0]
        if not self._runtime.searcher.settings.count_uses:
            return memory
        return (await read_uses(self._runtime.store, self.user_id)).of(memory)

    @audited(changes=True)
    async def update(
        self,
        id: str,
        *,
        content: str | None = None,
        pinned: bool | None = None,
        related_ids: Sequence[str] | None = None,
        reason: str | None = None,
    ) -> Memory:
        """Corrects what a memory says, pins or links it. A new content makes a new version; the old stays on record.

        Args:
            id: Which memory.
            content: What it shall say.
            pinned: Whether it is kept however seldom it is used.
            related_ids: The memories that it is linked with, instead of those that it was. A new version keeps them.
            reason: Why it is corrected; kept in the new version's metadata.

        Raises:
            NotFound: if the user has no such memory, or none that it shall be linked with.
            StaticMemoryError: if it is static knowledge, which belongs to nobody.
            Conflict: if it was replaced already (update the newest version), or is being changed by another.
            MemoryDisabled: if the settings want nothing of the new content remembered.
            InvalidInput: if there is nothing to change, or the content is empty.
        """
        if content is None and pinned is None and related_ids is None:
            raise InvalidInput("nothing to change: give a content, pinned or related_ids")
        if content is not None and not folded(content).strip():
            raise InvalidInput("a memory needs content")
        check_json([content, reason], "the correction")
        try:
            old, etag = await get_memory(self._runtime.store, self.user_id, check_id(id, "id"))
        except NotFound:
            await refuse_static(self._runtime.store, id, "update")
            raise
        if old.superseded_by == NOBODY:
            raise Conflict(f"memory {id} was withdrawn ({old.supersede_reason})")
        if old.superseded_by is not None:
            raise Conflict(f"memory {id} was replaced by {old.superseded_by}; update that one")
        pin = old.pinned if pinned is None else pinned
        links = old.related_ids if related_ids is None else await self._links(related_ids)
        if content is None or old.content == folded(content).strip():
            same = (old.pinned, old.related_ids) == (pin, links)
            return old if same else await amend(self._runtime.store, old, {"pinned": pin, "related_ids": links})
        clock = now()
        new = old.model_copy(
            update={
                "id": f"{old.type}_{new_turn_id()}",
                "content": content.strip(),
                "content_hash": content_hash(content),
                "created_at": clock,
                "recorded_at": clock,
                "valid_from": clock,
                "valid_to": None,
                "confidence": 1.0,
                "pinned": pin,
                "related_ids": links,
                "model": None,
                "prompt_version": None,
                "supersedes_ids": [old.id],
                "embedding_model": self._runtime.tools.embeddings.model_id,
                "metadata": old.metadata | ({"edit_reason": reason} if reason else {}),
            }
        )
        rules = await self._rules()
        screened = screen_memories([new], rules, self._runtime.tools.policy)
        if not screened.memories:
            raise MemoryDisabled(f"this is {FORBIDDEN}")
        new = screened.memories[0]
        embedded = await self._runtime.tools.embeddings.embed([new.content])
        [document] = with_retention([to_document(new, embedded.vectors[0])], rules)
        partition = (old.user_id, old.thread_id)
        stored = await self._runtime.store.read(MEMORIES, old.id, partition)
        ended = (stored or {}) | {
            "superseded_by": new.id,
            "superseded_at": to_document(new)["recorded_at"],
            "supersede_reason": "update",
            "valid_to": to_document(new)["valid_from"],
            **untold.mark(old.thread_id),
        }
        await untold.mark_earlier(self._runtime.store, self.user_id, old.id, None)
        await self._runtime.store.batch(
            MEMORIES,
            partition,
            [
                create(document),
                ("replace", (old.id, ended), {"if_match_etag": etag}),
            ],
        )
        return new

    async def _links(self, ids: Sequence[str]) -> list[str]:
        """Ids of memories that the user has, each once."""
        asked = list(dict.fromkeys(check_id(id, "related_ids") for id in ids))
        if len(asked) > MOST_LINKS:
            raise InvalidInput(f"a memory is linked with {MOST_LINKS} others at most, not {len(asked)}")
        known = {memory.id for memory in await get_memories(self._runtime.store, self.user_id, asked)}
        if missing := [id for id in asked if id not in known]:
            raise NotFound(f"no memory {missing[0]} in this scope, to link with")
        return asked

    @audited(changes=False)
    async def history(self, id: str) -> list[Memory]:
        """All versions of a memory, oldest first: what it replaced and what replaced it.

        Raises:
            NotFound: if the user has no such memory.
        """
        return await history(self._runtime.store, self.user_id, check_id(id, "id"))

    @audited(changes=False)
    async def why(self, id: str) -> Provenance:
        """Why a memory is believed: its quote and the turns around it, who derived it, what it replaced.

        Raises:
            NotFound: if the user has no such memory.
        """
        return await why(self._runtime.store, self.user_id, check_id(id, "id"))

    @audited(changes=False)
    async def review(self) -> list[Memory]:
        """What waits for a word of the user, newest first: `review_reason` says why it was set aside.

        Nothing of it is recalled until it is approved.
        """
        return await waiting(self._runtime.store, self.user_id)

    @audited(changes=True)
    async def approve(self, id: str, *, content: str | None = None) -> Memory:
        """Lets a memory that waits be remembered, in other words if a content is given. Harmless when repeated.

        Raises:
            NotFound: if the user has no such memory.
            Conflict: if it was replaced or withdrawn.
            MemoryDisabled: if the settings want nothing of the new content remembered.
            QuotaExceeded: if the tier allows no more memories.
            InvalidInput: if the content is empty.
        """
        store = self._runtime.store
        memory = await self.get(id)
        if memory.status == "active" and content in (None, memory.content):
            return memory
        check_waits(memory)
        rules = await self._rules()
        await require_room(store, rules, self.user_id)
        approved = await approve(store, memory if content is None else await self.update(id, content=content))
        await keep_within(store, rules, self.user_id, lambda: set_aside(store, approved, memory))
        return approved

    @audited(changes=True)
    async def reject(self, id: str) -> ForgetReceipt:
        """Forgets a memory that waits. The turns that it came from stay, and do not bring it back.

        Raises:
            NotFound: if the user has no such memory.
            Conflict: if it is active (forget it, or correct it), or was replaced.
        """
        check_waits(await self.get(id))
        return await forget(self._runtime, ForgetRequest(self.user_id, id, include_sources=False), dry_run=False)
