"""Kortix's memory service under its own names: extract, retrieve and format.

An account is a user here. `agent_memory.api` serves its nine HTTP routes under `/api/memory`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from pydantic import Field

from agent_memory.errors import ConfigurationError, InvalidInput
from agent_memory.memory import AsyncMemory
from agent_memory.models import Memory, Model
from agent_memory.recall.render import quoted
from agent_memory.screening.injected import HEADER
from agent_memory.settings import TIERS, Tier
from agent_memory.working.messages import read_message, to_turn

SHORTEST = 20
"""Shortest conversation from which memories are extracted, in characters."""


class MemoryType(StrEnum):
    """The type of a memory."""

    FACT = "fact"
    PREFERENCE = "preference"
    CONTEXT = "context"
    CONVERSATION_SUMMARY = "conversation_summary"


_TITLES = {
    MemoryType.FACT: "Personal Facts",
    MemoryType.PREFERENCE: "Preferences",
    MemoryType.CONTEXT: "Context",
    MemoryType.CONVERSATION_SUMMARY: "Past Conversations",
}


class MemoryItem(Model):
    """One memory of an account."""

    memory_id: str
    account_id: str
    content: str
    memory_type: MemoryType
    confidence_score: float
    metadata: dict[str, Any] = Field(default_factory=dict)


class MemoryService:
    """Does the work of that system's extraction, retrieval and prompt services.

    Example:
        ```python
        service = MemoryService(memory)
        await service.extract_memories(messages, account_id="acme", thread_id="thread_xyz789")
        items = await service.retrieve_memories("acme", "Which language do I like?", tier_name="pro")
        prompt = service.format_memories_for_prompt(items)
        ```
    """

    def __init__(self, memory: AsyncMemory) -> None:
        """Uses the store and the models of `memory`. The caller opens and closes it."""
        self._memory = memory

    async def extract_memories(
        self, messages: Sequence[Mapping[str, Any]], account_id: str, thread_id: str
    ) -> list[MemoryItem]:
        """Stores messages of a conversation, and extracts memories from them. Returns the memories.

        Calling it again with the same messages stores nothing twice and returns the same memories. Nothing is extracted
        if memory is switched off, or from less than 20 characters.

        Raises:
            InvalidInput: if a message is invalid.
            ModelError: if the model is unavailable. The messages are stored, and you can repeat the call.
        """
        given = [read_message(message) for message in messages]
        if len(" ".join(message.content for message in given).strip()) < SHORTEST:
            return []
        turns = [to_turn(message) | {"id": message.id or _id(thread_id, n, message)} for n, message in enumerate(given)]
        thread = self._memory.user(account_id).thread(thread_id)
        receipt = await thread.add_many(turns)
        if (await thread.process("extract")).skipped_reason is not None:
            return []
        ours = set(receipt.ids)
        return [_item(one) for one in await thread.memories() if not ours.isdisjoint(one.source_turn_ids)]

    async def process_memory_extraction_job(self, thread_id: str, agent_run_id: str, account_id: str) -> int:
        """Extracts memories from the new turns of a stored conversation. Returns how many come from this agent run.

        Raises:
            ModelError: if the model is unavailable. You can repeat the call.
        """
        thread = self._memory.user(account_id).thread(thread_id)
        await thread.process("extract")
        return sum(one.run_id == agent_run_id for one in await thread.memories())

    async def retrieve_memories(
        self, account_id: str, query_text: str, tier_name: str, similarity_threshold: float = 0.1
    ) -> list[MemoryItem]:
        """The memories of an account that are similar to a text, best first, as many as the tier allows.

        There are none if memory is switched off, or if the tier has no memory.

        Raises:
            InvalidInput: if the tier does not exist.
            StoreUnavailable: if every part of the search failed.
        """
        tiers = self._tiers()
        if tier_name not in tiers:
            raise InvalidInput(f"there is no tier {tier_name!r}; known tiers are {', '.join(sorted(tiers))}")
        tier = tiers[tier_name]
        if not tier.enabled:
            return []
        hits = await self._memory.user(account_id).search(
            query_text,
            limit=tier.retrieval_limit,
            types=[*MemoryType, "event", "procedural"],
            threshold=similarity_threshold,
        )
        return [_item(hit.memory) for hit in hits]

    def format_memories_for_prompt(self, memories: Iterable[MemoryItem]) -> str:
        """Formats memories for a prompt, by type, one a line. Returns an empty text if there are none.

        The form is that system's, word for word. So it lacks the line that marks a context as quoted data.
        """
        by_type: dict[MemoryType, list[str]] = {kind: [] for kind in _TITLES}
        for memory in memories:
            by_type[memory.memory_type].append(f"- {quoted(memory.content)}")
        sections = ["\n".join([f"{_TITLES[kind]}:", *lines]) for kind, lines in by_type.items() if lines]
        return "\n\n".join([HEADER, *sections]) if sections else ""

    def _tiers(self) -> Mapping[str, Tier]:
        try:
            return self._memory.runtime.tools.policy.tiers
        except ConfigurationError:  # the memory is on a server, which applies the account's own tier, too
            return TIERS


def _id(thread_id: str, position: int, message: Model) -> str:
    """An id for a message without one: the same for the same message at the same position."""
    said = message.model_dump_json(exclude={"id"})
    return hashlib.sha256(f"{thread_id}\0{position}\0{said}".encode()).hexdigest()[:32]


def _item(memory: Memory) -> MemoryItem:
    return MemoryItem(
        memory_id=memory.id,
        account_id=memory.user_id,
        content=memory.content,
        memory_type=_type(memory),
        confidence_score=memory.confidence,
        metadata=memory.metadata,
    )


def _type(memory: Memory) -> MemoryType:
    if memory.type == "episodic":
        return MemoryType.CONVERSATION_SUMMARY
    return MemoryType(memory.kind) if memory.kind in ("preference", "context") else MemoryType.FACT
