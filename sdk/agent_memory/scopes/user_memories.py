"""What is remembered of a user, memory by memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from agent_memory.errors import InvalidInput
from agent_memory.models import FactKind, ForgetReceipt, Memory, Provenance
from agent_memory.recall.provenance import why
from agent_memory.remembering.by_hand import Desk, correct, current, links, mark, remember
from agent_memory.rules.quotas import keep_within, require_room
from agent_memory.scopes.audited import audited
from agent_memory.scopes.forgetting import ForgetRequest, forget
from agent_memory.scopes.shared import listed
from agent_memory.scopes.user_part import UserPart
from agent_memory.screening.review import approve, check_waits, set_aside, waiting
from agent_memory.store.ids import check_id
from agent_memory.store.memories import get_memory, history
from agent_memory.store.uses import read_uses
from agent_memory.store.values import check_json
from agent_memory.text.folding import folded

RememberedType = Literal["fact", "procedural", "episodic"]


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
        given = {
            "type": type,
            "kind": kind if type == "fact" else None,
            "content": content,
            "confidence": confidence,
            "importance": importance,
            "valid_from": valid_from,
            "tags": list(tags),
            "metadata": dict(metadata or {}),
            "project_id": None if project_id is None else check_id(project_id, "project_id"),
        }
        desk = await self._desk()
        desk.rules.require_enabled()
        return await remember(desk, given, related_ids)

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
            ModelError: if the new content could not be embedded; nothing was changed.
        """
        if content is None and pinned is None and related_ids is None:
            raise InvalidInput("nothing to change: give a content, pinned or related_ids")
        if content is not None and not folded(content).strip():
            raise InvalidInput("a memory needs content")
        check_json([content, reason], "the correction")
        store = self._runtime.store
        old, etag = await current(store, self.user_id, check_id(id, "id"))
        marks = {
            "pinned": old.pinned if pinned is None else pinned,
            "related_ids": old.related_ids if related_ids is None else await links(store, self.user_id, related_ids),
        }
        if content is None or old.content == folded(content).strip():
            return await mark(store, old, marks)
        return await correct(await self._desk(), old, etag, content, marks, reason)

    async def _desk(self) -> Desk:
        tools = self._runtime.tools
        return Desk(tools.store, tools.embeddings, tools.policy, await self._rules(), self.user_id)

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
            ModelError: if the new content could not be embedded; nothing was changed.
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
