"""The memory of one agent in one session, under the Agent Service's names (decision D13): thin, over the scopes."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import Field

from agent_memory.compat.agent_profile import AgentProfile, KnowledgeBaseResource
from agent_memory.compat.knowledge_base import (
    TOOLS,
    KnowledgeBase,
    KnowledgeDocument,
    SearchType,
    render,
    tool_arguments,
)
from agent_memory.errors import AgentMemoryError, InvalidInput
from agent_memory.language.tokens import TokenCounter
from agent_memory.memory import AsyncMemory
from agent_memory.models import Model, Turn, UtcTime
from agent_memory.scopes import AsyncThreadScope
from agent_memory.store.ids import check_id
from agent_memory.working import AsyncShortTermMemory, Summarize
from agent_memory.working.messages import from_turn

logger = logging.getLogger("agent_memory")

WEEK = 7 * 24 * 3600
"""Seconds that a message is kept, if nothing else is said (row S2-18)."""


class MemoryEntry(Model):
    """One message as the Agent Service keeps it (row S2-17). Nothing here is ever updated."""

    id: str
    user_id: str
    session_id: str
    agent_id: str
    content: dict[str, str] = Field(description="role and content")
    entry_metadata: dict[str, Any] = Field(default_factory=dict)
    created_at: UtcTime
    updated_at: UtcTime
    expires_at: UtcTime | None = None
    is_active: bool = Field(description="Whether it is in the live conversation: neither compressed nor cleared.")


class MemorySessionSummary(Model):
    """What stands for the messages that were compressed (row S2-20)."""

    id: str
    user_id: str
    session_id: str
    agent_id: str
    summary: str
    created_at: UtcTime
    updated_at: UtcTime


class Diagnosis(Model):
    """Why memory does what it does in a session; `reasons` says what keeps something from happening."""

    memory_active: bool
    tokens: int = 0
    threshold_tokens: int = 0
    should_compress: bool = False
    cross_session_active: bool = False
    archived_conversations: int = 0
    reasons: list[str] = Field(default_factory=list)


class AgentSession:
    """An agent's memory in one session of one user, as its profile says.

    Without `memory` among the profile's resources everything here does nothing; without `knowledge_base` nothing is
    found in other sessions. Reading never fails a conversation: `load_memory` logs an error and gives an empty list.

    Example:
        ```python
        profile = {"agent_id": "helper", "resources": ["memory"]}
        async with AgentSession(memory, profile, "user123", "session456") as agent:
            history = await agent.load_memory()
            await agent.save_memory("user", "My name is Alice")
        ```
    """

    def __init__(
        self,
        memory: AsyncMemory,
        profile: AgentProfile | Mapping[str, Any] | str | Path,
        user_id: str,
        session_id: str,
        *,
        agent_scoped: bool = False,
        message_ttl: int | None = WEEK,
        tokens: TokenCounter | None = None,
    ) -> None:
        """Reads and writes nothing yet.

        Args:
            memory: Brings the store and the models.
            profile: A mapping, JSON text or the path of a JSON file.
            user_id: Whose session.
            session_id: Which session.
            agent_scoped: Whether each agent has a conversation of its own in the session (conflict C38).
            message_ttl: Seconds that a message is kept; None: as the store has it.
            tokens: Counts tokens.

        Raises:
            InvalidInput: if the profile or an id cannot be used.
        """
        self.profile = AgentProfile.read(profile)
        self._memory = memory
        self._agent_id = check_id(self.profile.agent_id, "agent_id")
        self._session_id = session_id
        self._user = memory.user(user_id)
        self._thread_id = f"{session_id}_{self._agent_id}" if agent_scoped else session_id
        compression = self.profile.resource_config.memory.compression
        self._compression = compression
        self._chats = AsyncShortTermMemory(
            self._user,
            Summarize(threshold_tokens=compression.threshold_tokens, keep=compression.recent_messages_to_keep)
            if compression.enabled
            else None,
            agent_id=self._agent_id,
            resources=self.profile.resources,
            ttl=message_ttl,
            tokens=tokens,
        )
        settings = self.profile.resource_config.knowledge_base
        wanted = self.profile.wants_knowledge_base
        self.knowledge_base = KnowledgeBase(self._user, settings, _threshold(memory, settings)) if wanted else None

    async def initialize(self) -> None:
        """Opens the memory if it is not, and says in the log what of the profile it does not follow."""
        await self._memory.open()
        if self.knowledge_base is None:
            return
        health = await self._memory.health()
        for name, wanted, have in _differences(
            self.profile.resource_config.knowledge_base, health.embedding_model, health.store
        ):
            logger.warning("The profile of %s names the %s %s; the memory has %s", self._agent_id, name, wanted, have)

    async def cleanup(self) -> None:
        """Ends the session: archives what is not archived yet, if the profile says so. Never fails; the log tells."""
        if self.profile.wants_memory and self._compression.archive_conversations:
            await self._archive()

    async def __aenter__(self) -> Self:
        """Initializes it."""
        await self.initialize()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cleans up."""
        await self.cleanup()

    async def load_memory(self, user_message: str | None = None) -> list[dict[str, Any]]:
        """The conversation for the model: the summary of what was compressed first, then the newest messages.

        When the user's message asks for other sessions, what they say stands before the messages.

        Args:
            user_message: What is about to be answered; the newest message of the user, if not given.

        Returns:
            Messages with role and content; an empty list when there is nothing, or on any error, which is logged.
        """
        if not self.profile.wants_memory:
            return []
        try:
            content = await self._chats.get(self._thread_id)
            messages = content.messages
            asked = user_message or next((m["content"] for m in reversed(messages) if m["role"] == "user"), "")
            found = await self._cross_session(asked)
            ahead = sum(message.role == "system" for message in content.chat_messages)
            return messages[:ahead] + ([render(found).to_dict()] if found else []) + messages[ahead:]
        except Exception as error:
            logger.error("Error loading memory: %s", error)
            return []

    async def save_memory(self, role: str, content: str, metadata: Mapping[str, Any] | None = None) -> str | None:
        """Keeps one message, and compresses the conversation if it has outgrown its threshold; the message's id.

        None if nothing is kept: the profile has no memory, or a switch is off.

        Raises:
            InvalidInput: if it is no message.
            StoreUnavailable: if the store did not answer.
        """
        if not self.profile.wants_memory:
            return None
        message = {"role": role, "content": content, "metadata": dict(metadata or {})}
        updated = await self._chats.update(self._thread_id, message)
        if updated.retired and self._compression.archive_conversations:
            await self._archive()
        return updated.turn_id

    async def clear_conversation(self) -> int:
        """Empties the live conversation; how many messages were cleared. They stay on record until they expire."""
        return await self._chats.clear(self._thread_id) if self.profile.wants_memory else 0

    async def entries(self, *, include_inactive: bool = False) -> list[MemoryEntry]:
        """The messages of the session as entries, oldest first; also those that are not active, if asked for."""
        if not self.profile.wants_memory:
            return []
        live = (await self._thread.view()).turns
        active = {turn.id for turn in live}
        turns = await self._thread.turns() if include_inactive else live
        return [_entry(turn, self._session_id, self._agent_id, turn.id in active) for turn in turns]

    async def session_summary(self) -> MemorySessionSummary | None:
        """The summary of the session, once there is one."""
        summary = await self._thread.summary() if self.profile.wants_memory else None
        if summary is None:
            return None
        return MemorySessionSummary(
            id=summary.id,
            user_id=summary.user_id,
            session_id=self._session_id,
            agent_id=self._agent_id,
            summary=summary.content,
            created_at=summary.created_at,
            updated_at=summary.updated_at,
        )

    async def search_knowledge_base(
        self, query: str, search_type: SearchType = "conversations", limit: int = 5
    ) -> list[KnowledgeDocument]:
        """The archived conversations or documents that matter for a query; nothing without a knowledge base.

        Raises:
            InvalidInput: if an argument cannot be used.
            StoreUnavailable: if no part of the search could be made.
        """
        if self.knowledge_base is None:
            return []
        return await self.knowledge_base.search_knowledge_base(query, search_type, limit)

    async def list_documents(self, doc_type: SearchType = "conversations", limit: int = 10) -> list[KnowledgeDocument]:
        """The newest archived conversations or documents; nothing without a knowledge base.

        Raises:
            InvalidInput: if an argument cannot be used.
        """
        return [] if self.knowledge_base is None else await self.knowledge_base.list_documents(doc_type, limit)

    def tools(self) -> list[dict[str, Any]]:
        """The tools that the profile allows, as a chat API wants them: with the JSON schemas of their arguments."""
        if self.knowledge_base is None:
            return []
        allowed = [name for name in TOOLS if name in self.profile.allowed_regular_tools]
        return [{"type": "function", "function": {"name": name, **TOOLS[name]}} for name in allowed]

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | str) -> list[KnowledgeDocument]:
        """Runs a tool as a model called it.

        Raises:
            InvalidInput: if the profile does not allow the tool, or its arguments cannot be used.
            StoreUnavailable: if the store did not answer.
        """
        if name not in {tool["function"]["name"] for tool in self.tools()}:
            raise InvalidInput(f"there is no tool {name!r} for this agent")
        given = tool_arguments(name, arguments)
        if name == "list_documents":
            return await self.list_documents(**given)
        return await self.search_knowledge_base(**given)

    async def diagnose(self) -> Diagnosis:
        """What is active in this session, and why not what is not (rows S2-62 to S2-64)."""
        profile, compression = self.profile, self._compression
        settings = profile.resource_config.knowledge_base
        health = await self._memory.health()
        tokens = await self._chats.tokens(self._thread_id) if profile.wants_memory and health.ok else 0
        archived = len(await self.list_documents(limit=100)) if health.ok else 0
        needs = {
            'memory: "memory" is not among the resources': not profile.wants_memory,
            f"memory: {'; '.join(health.warnings)}": not health.ok,
            "compression: it is not enabled": not compression.enabled,
            f"compression: {tokens} tokens are not above {compression.threshold_tokens}": (
                tokens <= compression.threshold_tokens
            ),
            'cross-session: "knowledge_base" is not among the resources': not profile.wants_knowledge_base,
            "cross-session: enable_cross_session_context is off": not settings.enable_cross_session_context,
            "cross-session: archive_conversations is off": not compression.archive_conversations,
            "cross-session: no conversation has been archived yet": not archived,
        }
        reasons = [reason for reason, missing in needs.items() if missing]
        return Diagnosis(
            memory_active=profile.wants_memory and health.ok,
            tokens=tokens,
            threshold_tokens=compression.threshold_tokens,
            should_compress=compression.enabled and tokens > compression.threshold_tokens,
            cross_session_active=profile.wants_knowledge_base and settings.enable_cross_session_context,
            archived_conversations=archived,
            reasons=reasons,
        )

    @property
    def _thread(self) -> AsyncThreadScope:
        return self._user.thread(self._thread_id, agent_id=self._agent_id, resources=self.profile.resources)

    async def _cross_session(self, message: str) -> list[KnowledgeDocument]:
        if self.knowledge_base is None or not message:
            return []
        try:
            return await self.knowledge_base.cross_session_context(message, self._thread_id)
        except AgentMemoryError as error:
            logger.warning("Other sessions cannot be searched, going on without: %s", error)
            return []

    async def _archive(self) -> None:
        """Archives the conversation; what fails now is archived the next time."""
        try:
            await self._thread.process("archive")
        except AgentMemoryError as error:
            logger.warning("A conversation was not archived: %s", error)


def _threshold(memory: AsyncMemory, settings: KnowledgeBaseResource) -> float:
    """The profile's own threshold; else the one of the embedding model, whose cosines do not compare with others'."""
    if "relevance_threshold" in settings.model_fields_set:
        return settings.relevance_threshold
    searcher = memory.runtime.searcher
    return searcher.settings.archive_threshold(searcher.embeddings.model_id)


def _entry(turn: Turn, session_id: str, agent_id: str, active: bool) -> MemoryEntry:
    message = from_turn(turn)
    return MemoryEntry(
        id=turn.id,
        user_id=turn.user_id,
        session_id=session_id,
        agent_id=turn.agent_id or agent_id,
        content={"role": message.role, "content": message.content},
        entry_metadata=turn.metadata,
        created_at=turn.created_at,
        updated_at=turn.created_at,
        expires_at=_expiry(turn.created_at, turn.ttl),
        is_active=active,
    )


def _expiry(created_at: datetime, ttl: int | None) -> datetime | None:
    return None if ttl is None else created_at + timedelta(seconds=ttl)


def _differences(settings: KnowledgeBaseResource, embedding_model: str, store: str) -> list[tuple[str, str, str]]:
    """What a profile expects and the memory does not have: setting, expected, there is."""
    wanted = [
        ("embedding_model", settings.embedding_model, embedding_model),
        ("vector_provider", settings.vector_provider, f"Azure Cosmos DB, {store}"),
        ("rerank_provider", settings.rerank_provider, "none: results keep the order of their vectors"),
    ]
    return [(name, want, have) for name, want, have in wanted if want and not have.startswith(want)]
